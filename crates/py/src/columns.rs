//! Builds Arrow record batches column by column.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use headgate_measure::{Cells, Column, Names, Row};

/// A table under construction: `rows` rows, the columns so far.
pub struct Columns {
    rows: usize,
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// An empty table for `rows` rows.
    pub fn new(rows: usize) -> Columns {
        Columns { rows, fields: Vec::new(), arrays: Vec::new() }
    }

    /// A table of one run's rows. Discipline and seed are the first columns.
    pub fn of_run(rows: usize, qdisc: &str, seed: u64) -> Columns {
        let mut columns = Columns::new(rows);
        columns.text("qdisc", (0..rows).map(|_| qdisc));
        columns.u64("seed", (0..rows).map(|_| seed));
        columns
    }

    /// Adds a column of strings, each stored by itself.
    pub fn plain_text<'a>(&mut self, name: &str, values: impl Iterator<Item = &'a str>) {
        self.add(name, Arc::new(values.map(Some).collect::<StringArray>()), false);
    }

    /// Adds a column of strings, each distinct string stored once.
    pub fn text<S: AsRef<str>>(&mut self, name: &str, values: impl Iterator<Item = S>) {
        self.add(name, words(values.map(Some)), false);
    }

    /// Adds a column of counts.
    pub fn u64(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.add(name, Arc::new(UInt64Array::from_iter_values(values)), false);
    }

    /// Adds a column of numbers; `None` becomes null.
    pub fn f64_or_null(&mut self, name: &str, values: impl Iterator<Item = Option<f64>>) {
        self.add(name, Arc::new(values.collect::<Float64Array>()), true);
    }

    /// Adds the columns of this row type that `names` has. Each row comes with the names of its run.
    pub fn of<'a, R: Row>(&mut self, names: &Names, rows: impl Iterator<Item = (&'a Names, &'a R)> + Clone) {
        let columns = R::columns().into_iter().filter(|column| names.has_column(column));
        for Column { about, cells, .. } in columns {
            let named = rows.clone();
            let rows = rows.clone().map(|(_, row)| row);
            let array: ArrayRef = match cells {
                Cells::Words(read) => words(rows.map(read)),
                Cells::Names(read) => words(named.map(|(names, row)| read(row, names))),
                Cells::Bools(read) => Arc::new(rows.map(read).collect::<BooleanArray>()),
                Cells::U32s(read) => Arc::new(rows.map(read).collect::<UInt32Array>()),
                Cells::U64s(read) => Arc::new(rows.map(read).collect::<UInt64Array>()),
                Cells::F64s(read) => Arc::new(rows.map(read).collect::<Float64Array>()),
            };
            self.add(&about.name, array, about.nullable);
        }
    }

    /// The finished table.
    ///
    /// # Errors
    /// Columns that differ in length.
    pub fn finish(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)
    }

    fn add(&mut self, name: &str, array: ArrayRef, nullable: bool) {
        debug_assert_eq!(array.len(), self.rows, "column {name}");
        self.fields.push(Field::new(name, array.data_type().clone(), nullable));
        self.arrays.push(array);
    }
}

fn words<S: AsRef<str>>(values: impl Iterator<Item = Option<S>>) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    values.for_each(|value| builder.append_option(value));
    Arc::new(builder.finish())
}
