//! Result tables. A row type states each field once; its name, type, unit and meaning become the column's.
//!
//! `rows!` makes the struct and its columns; writers iterate over [`Row::columns`].

use std::borrow::Cow;

use aqm::parts::Histogram;
use aqm::{Span, Time, Why, registry};
use headgate_scenario::{Direction, Hop, Scenario};

use crate::reasons::reasons_in;

/// Declares units: documentation, name in Rust, name in tables.
macro_rules! units {
    ($($(#[$doc:meta])+ $unit:ident = $name:literal,)+) => {
        /// The unit of a column.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Unit { $($(#[$doc])+ $unit,)+ }

        impl Unit {
            /// The name in tables.
            pub const fn name(self) -> &'static str {
                match self { $(Unit::$unit => $name,)+ }
            }
        }
    };
}

units! {
    /// Words, flow numbers and booleans.
    None = "",
    /// Bits per second.
    BitsPerSecond = "bit/s",
    /// Bytes.
    Bytes = "bytes",
    /// A count; the column's name says of what.
    Count = "count",
    /// Milliseconds.
    Milliseconds = "ms",
    /// Nanoseconds.
    Nanoseconds = "ns",
    /// Packets.
    Packets = "packets",
    /// Quotient of two values of one unit.
    Ratio = "ratio",
    /// Seconds.
    Seconds = "s",
    /// Part of a whole, from 0 to 1.
    Share = "share",
}

/// Names of a scenario's groups and links, by number.
#[derive(Clone, Debug)]
pub struct Names {
    /// Name and kind of every group, TCP before UDP.
    pub groups: Vec<(String, &'static str)>,
    /// Name and direction of every direction of a link.
    pub links: Vec<(String, &'static str)>,
    /// Reasons that the scenario's disciplines can give; `None` for all.
    reasons: Option<Vec<Why>>,
}

impl Names {
    /// The names in `scenario`.
    pub fn new(scenario: &Scenario) -> Names {
        let groups = scenario.groups().map(|group| (group.name.to_string(), group.kind.name())).collect();
        let link = |hop: Hop| (scenario.links[usize::from(hop.link)].name.clone(), hop.direction.name());
        Names { groups, links: scenario.hops().map(link).collect(), reasons: reasons_in(scenario) }
    }

    /// Names of links alone, for tables without groups.
    pub fn of_links(links: Vec<(String, &'static str)>) -> Names {
        Names { groups: Vec::new(), links, reasons: None }
    }

    /// The same names, for tables with a column for every reason of the registry.
    #[must_use]
    pub fn with_every_reason(self) -> Names {
        Names { reasons: Some(registry::reasons()), ..self }
    }

    /// Whether the scenario's tables have this column.
    pub fn has_column<R>(&self, column: &Column<R>) -> bool {
        let given = |why| self.reasons.as_ref().is_none_or(|reasons| reasons.contains(&why));
        column.reason.is_none_or(given)
    }
}

type Getter<R, T> = Box<dyn Fn(&R) -> Option<T>>;
type NameGetter<R> = Box<dyn for<'a> Fn(&R, &'a Names) -> Option<&'a str>>;

/// Reads a column's cells from rows; `None` is null.
pub enum Cells<R> {
    /// Words; a table stores each distinct word once.
    Words(Getter<R, Cow<'static, str>>),
    /// Names of groups and links, each stored once.
    Names(NameGetter<R>),
    /// Yes and no.
    Bools(Getter<R, bool>),
    /// Small whole numbers.
    U32s(Getter<R, u32>),
    /// Whole numbers.
    U64s(Getter<R, u64>),
    /// Numbers.
    F64s(Getter<R, f64>),
}

impl<R> Cells<R> {
    fn kind(&self) -> &'static str {
        match self {
            Cells::Words(_) | Cells::Names(_) => "words",
            Cells::Bools(_) => "bool",
            Cells::U32s(_) => "u32",
            Cells::U64s(_) => "u64",
            Cells::F64s(_) => "f64",
        }
    }
}

/// Documentation of a column.
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// The type of its values: `words`, `bool`, `u32`, `u64` or `f64`.
    pub kind: &'static str,
    /// Whether cells may be null.
    pub nullable: bool,
    /// The unit of its values.
    pub unit: Unit,
    /// What it means, in a sentence.
    pub meaning: String,
}

/// A column of rows of type `R`.
pub struct Column<R> {
    /// Its documentation.
    pub about: ColumnInfo,
    /// Its values.
    pub cells: Cells<R>,
    /// The only reason that the column counts, if any. Tables have such a column if a discipline of the scenario can
    /// give the reason.
    reason: Option<Why>,
}

impl<R: 'static> Column<R> {
    /// A column of values that `get` reads or computes.
    pub fn new<T: Value>(name: &str, unit: Unit, meaning: &str, get: impl Fn(&R) -> T + 'static) -> Column<R> {
        Column::of_cells(&format!("{name}{}", T::SUFFIX), unit, meaning, T::NULLABLE, T::cells(get))
    }

    fn of_cells(name: &str, unit: Unit, meaning: &str, nullable: bool, cells: Cells<R>) -> Column<R> {
        let (name, meaning) = (name.to_string(), meaning.trim().to_string());
        Column { about: ColumnInfo { name, kind: cells.kind(), nullable, unit, meaning }, cells, reason: None }
    }

    /// Restricts the column to the reason `why`.
    pub fn only_for(self, why: Why) -> Column<R> {
        Column { reason: Some(why), ..self }
    }

    /// The column for outer rows, which contain this row.
    fn within<O: 'static>(self, get: fn(&O) -> &R) -> Column<O> {
        let cells = match self.cells {
            Cells::Words(read) => Cells::Words(Box::new(move |row| read(get(row)))),
            Cells::Names(read) => Cells::Names(Box::new(move |row, names| read(get(row), names))),
            Cells::Bools(read) => Cells::Bools(Box::new(move |row| read(get(row)))),
            Cells::U32s(read) => Cells::U32s(Box::new(move |row| read(get(row)))),
            Cells::U64s(read) => Cells::U64s(Box::new(move |row| read(get(row)))),
            Cells::F64s(read) => Cells::F64s(Box::new(move |row| read(get(row)))),
        };
        Column { about: self.about, cells, reason: self.reason }
    }
}

/// A row of a table.
pub trait Row: Sized + 'static {
    /// Description of a row.
    const ABOUT: &'static str;

    /// The columns in order.
    fn columns() -> Vec<Column<Self>>;
}

/// A type of column values.
pub trait Value: Sized + 'static {
    /// Whether values may be null.
    const NULLABLE: bool;
    /// Suffix of the column's name: the unit, if the type in tables carries none.
    const SUFFIX: &'static str;

    /// Cells of the values that `get` returns.
    fn cells<R: 'static>(get: impl Fn(&R) -> Self + 'static) -> Cells<R>;
}

/// Value types: cell type, suffix and conversion.
macro_rules! values {
    ($($type:ty: $cells:ident $suffix:literal $shown:expr;)*) => {$(
        impl Value for $type {
            const NULLABLE: bool = false;
            const SUFFIX: &'static str = $suffix;
            fn cells<R: 'static>(get: impl Fn(&R) -> $type + 'static) -> Cells<R> {
                Cells::$cells(Box::new(move |row| Some($shown(get(row)))))
            }
        }
        impl Value for Option<$type> {
            const NULLABLE: bool = true;
            const SUFFIX: &'static str = $suffix;
            fn cells<R: 'static>(get: impl Fn(&R) -> Option<$type> + 'static) -> Cells<R> {
                Cells::$cells(Box::new(move |row| get(row).map($shown)))
            }
        }
    )*};
}

values! {
    bool: Bools "" std::convert::identity;
    u32: U32s "" std::convert::identity;
    u64: U64s "" std::convert::identity;
    f64: F64s "" std::convert::identity;
    Span: F64s "_ms" milliseconds;
    Time: U64s "_ns" Time::as_nanos;
    String: Words "" Cow::Owned;
    &'static str: Words "" Cow::Borrowed;
    Direction: Words "" |direction: Direction| direction.name().into();
}

/// A span in milliseconds, as tables have it.
pub fn milliseconds(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e6
}

/// Columns of a histogram stored in millionths of `unit`, one for each of `parts`: the quantile at its share, or the
/// mean if it has no share.
pub fn quantiles<R: 'static>(
    name: (&str, Unit, &str),
    parts: &[(&str, Option<f64>)],
    get: fn(&R) -> &Histogram,
) -> Vec<Column<R>> {
    statistics(name, parts, move |row, share| {
        let histogram = get(row);
        share.map_or(histogram.mean(), |share| histogram.quantile(share)).map(|value| value / 1e6)
    })
}

/// Columns of a distribution (name, unit, meaning), one for each of `parts`. `value` is the quantile at a share, or the
/// mean without one.
pub fn statistics<R: 'static>(
    (name, unit, meaning): (&str, Unit, &str),
    parts: &[(&str, Option<f64>)],
    value: impl Fn(&R, Option<f64>) -> Option<f64> + Copy + Send + Sync + 'static,
) -> Vec<Column<R>> {
    let column = |&(part, share): &(&str, Option<f64>)| {
        let words = match part {
            "mean" => "mean".to_string(),
            "min" => "least".to_string(),
            "max" => "greatest".to_string(),
            "p50" => "median".to_string(),
            percentile => format!("{}th percentile", percentile.trim_start_matches(['p', '0'])),
        };
        Column::new(&format!("{name}_{part}"), unit, &format!("{meaning}: {words}; null without one."), move |row| {
            value(row, share)
        })
    };
    parts.iter().map(column).collect()
}

/// How a field of type `T` becomes columns.
pub trait FieldColumns<T> {
    /// The columns of a field called `name`.
    fn columns<R: 'static>(&self, name: &str, meaning: &str, get: fn(&R) -> &T) -> Vec<Column<R>>;
}

/// A single column in this unit.
impl<T: Value + Clone> FieldColumns<T> for Unit {
    fn columns<R: 'static>(&self, name: &str, meaning: &str, get: fn(&R) -> &T) -> Vec<Column<R>> {
        vec![Column::new(name, *self, meaning, move |row| get(row).clone())]
    }
}

/// A single column under another name.
pub struct NamedColumn(pub &'static str, pub Unit);

impl<T: Value + Clone> FieldColumns<T> for NamedColumn {
    fn columns<R: 'static>(&self, _: &str, meaning: &str, get: fn(&R) -> &T) -> Vec<Column<R>> {
        self.1.columns(self.0, meaning, get)
    }
}

/// No columns: the field is for the run's own use.
pub struct NoColumns;

impl<T> FieldColumns<T> for NoColumns {
    fn columns<R: 'static>(&self, _: &str, _: &str, _: fn(&R) -> &T) -> Vec<Column<R>> {
        Vec::new()
    }
}

/// The columns of a nested row.
pub struct RowColumns;

impl<T: Row> FieldColumns<T> for RowColumns {
    fn columns<R: 'static>(&self, _: &str, _: &str, get: fn(&R) -> &T) -> Vec<Column<R>> {
        T::columns().into_iter().map(|column| column.within(get)).collect()
    }
}

/// Columns for a group or a direction of a link, given its number: its name, and a second word (kind or direction).
pub struct NameColumns {
    columns: &'static [(&'static str, &'static str)],
    words: fn(&Names) -> &[(String, &'static str)],
    nullable: Option<bool>,
}

/// A group: its name and its kind.
pub const GROUP: NameColumns = NameColumns {
    columns: &[("group", ""), ("kind", "The kind of the group: `tcp` or `udp`.")],
    words: |names| &names.groups,
    nullable: None,
};

/// A group: its name only.
pub const GROUP_NAME: NameColumns = NameColumns { columns: &[("group", "")], ..GROUP };

/// A link direction: link name and direction. Nullable in all tables alike.
pub const LINK: NameColumns = NameColumns {
    columns: &[("link", ""), ("direction", "Direction of the link: `forward` or `reverse`.")],
    words: |names| &names.links,
    nullable: Some(true),
};

/// An optional number of a group or link.
pub trait Number: Copy + 'static {
    /// Whether it may be absent.
    const NULLABLE: bool;

    /// The number as an index.
    fn index(self) -> Option<usize>;
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            const NULLABLE: bool = false;
            fn index(self) -> Option<usize> {
                Some(self as usize)
            }
        }
        impl Number for Option<$type> {
            const NULLABLE: bool = true;
            fn index(self) -> Option<usize> {
                self.map(|number| number as usize)
            }
        }
    )*};
}
numbers! { u16 u32 }

impl<T: Number> FieldColumns<T> for NameColumns {
    fn columns<R: 'static>(&self, _: &str, meaning: &str, get: fn(&R) -> &T) -> Vec<Column<R>> {
        let (words, nullable) = (self.words, self.nullable.unwrap_or(T::NULLABLE));
        let column = |(word, &(name, about)): (usize, &(&str, &str))| {
            let cells = Cells::Names(Box::new(move |row, names| {
                let (name, second) = &words(names)[get(row).index()?];
                Some([name.as_str(), second][word])
            }));
            let meaning = if about.is_empty() { meaning } else { about };
            Column::of_cells(name, Unit::None, meaning, nullable, cells)
        };
        self.columns.iter().enumerate().map(column).collect()
    }
}

/// Declares a row type and its [`Row`]: fields with meaning, type and columns. `also` adds computed columns.
macro_rules! rows {
    ($(#[doc = $about:literal])+ pub struct $row:ident derives $($derived:ident)+ {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty as $shown:expr,)*
    } $(also {
        $($(#[doc = $meaning:literal])+ $name:ident as $unit:expr, after $before:literal: $value:expr;)*
    })?) => {
        $(#[doc = $about])+
        #[derive($($derived),+)]
        pub struct $row { $($(#[doc = $doc])+ pub $field: $type,)* }

        impl $crate::table::Row for $row {
            const ABOUT: &'static str = concat!($($about),+);

            fn columns() -> Vec<$crate::table::Column<$row>> {
                use $crate::table::{Column, FieldColumns};
                let mut all: Vec<Column<$row>> = Vec::new();
                $(all.extend(FieldColumns::<$type>::columns(
                    &$shown, stringify!($field), concat!($($doc),+), |row: &$row| &row.$field,
                ));)*
                $($(
                    let place = 1 + all.iter().position(|column| column.about.name == $before).expect($before);
                    all.insert(place, Column::new(stringify!($name), $unit, concat!($($meaning),+), $value));
                )*)?
                all
            }
        }
    };
}
pub(crate) use rows;
