//! Every table of a result, and what its columns mean, for whoever reads or documents them.

use crate::distributions::{DelayRow, LossRow};
use crate::events::EventRow;
use crate::flows::FlowRow;
use crate::links::LinkRow;
use crate::metrics::FairnessRow;
use crate::outcome::TransferRow;
use crate::over_time::IntervalRow;
use crate::senders::TraceRow;
use crate::table::{About, Row};

/// A table of a result.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row is of.
    pub about: &'static str,
    /// Its columns, after the discipline and the seed that every row begins with.
    pub columns: Vec<About>,
}

/// Every table, in the order in which they are documented. The last two are there on request.
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
