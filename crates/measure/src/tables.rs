//! All result tables and the meaning of their columns, for readers and documentation.

use crate::distributions::{DelayRow, LossRow};
use crate::events::EventRow;
use crate::flows::FlowRow;
use crate::links::LinkRow;
use crate::metrics::FairnessRow;
use crate::outcome::TransferRow;
use crate::over_time::IntervalRow;
use crate::sender_state::TraceRow;
use crate::table::{ColumnInfo, Row};

/// A table of a result.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The subject of a row.
    pub about: &'static str,
    /// Its columns, after discipline and seed.
    pub columns: Vec<ColumnInfo>,
}

/// All tables in documentation order. The last two exist on request only.
pub fn tables() -> [Table; 9] {
    [
        table::<FlowRow>("flows"),
        table::<IntervalRow>("intervals"),
        table::<LinkRow>("links"),
        table::<DelayRow>("delays"),
        table::<LossRow>("losses"),
        table::<FairnessRow>("fairness"),
        table::<TransferRow>("transfers"),
        table::<EventRow>("events"),
        table::<TraceRow>("traces"),
    ]
}

fn table<R: Row>(name: &'static str) -> Table {
    Table { name, about: R::ABOUT.trim(), columns: R::columns().into_iter().map(|column| column.about).collect() }
}
