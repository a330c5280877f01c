//! Builds Arrow record batches column by column.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use headgate_core::{Counts, Why};

/// A table under construction: `rows` rows, the columns so far.
pub struct Columns {
    rows: usize,
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// A table of one run's rows: the discipline and the seed come first in every row.
    pub fn of_run(rows: usize, qdisc: &str, seed: u64) -> Columns {
        let mut columns = Columns { rows, fields: Vec::new(), arrays: Vec::new() };
        columns.text("qdisc", (0..rows).map(|_| qdisc));
        columns.u64("seed", (0..rows).map(|_| seed));
        columns
    }

    /// A column of words, stored once each.
    pub fn text<S: AsRef<str>>(&mut self, name: &str, values: impl Iterator<Item = S>) {
        self.add(name, words(values.map(Some)), false);
    }

    /// A column of words, some missing.
    pub fn text_or_null<S: AsRef<str>>(&mut self, name: &str, values: impl Iterator<Item = Option<S>>) {
        self.add(name, words(values), true);
    }

    /// A column of yes and no.
    pub fn bool(&mut self, name: &str, values: impl Iterator<Item = bool>) {
        self.add(name, Arc::new(values.map(Some).collect::<BooleanArray>()), false);
    }

    /// A column of counts.
    pub fn u64(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.add(name, Arc::new(UInt64Array::from_iter_values(values)), false);
    }

    /// A column of counts, some missing.
    pub fn u64_or_null(&mut self, name: &str, values: impl Iterator<Item = Option<u64>>) {
        self.add(name, Arc::new(values.collect::<UInt64Array>()), true);
    }

    /// A column of small numbers.
    pub fn u32(&mut self, name: &str, values: impl Iterator<Item = u32>) {
        self.add(name, Arc::new(UInt32Array::from_iter_values(values)), false);
    }

    /// A column of small numbers, some missing.
    pub fn u32_or_null(&mut self, name: &str, values: impl Iterator<Item = Option<u32>>) {
        self.add(name, Arc::new(values.collect::<UInt32Array>()), true);
    }

    /// A column of measures.
    pub fn f64(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.add(name, Arc::new(Float64Array::from_iter_values(values)), false);
    }

    /// A column of measures, some missing.
    pub fn f64_or_null(&mut self, name: &str, values: impl Iterator<Item = Option<f64>>) {
        self.add(name, Arc::new(values.collect::<Float64Array>()), true);
    }

    /// What happened to packets: totals, then drops and marks by reason.
    pub fn counts<'a>(&mut self, rows: impl Iterator<Item = &'a Counts> + Clone) {
        self.u64("arrived", rows.clone().map(|c| c.arrived));
        self.u64("sent", rows.clone().map(|c| c.sent));
        self.u64("sent_bytes", rows.clone().map(|c| c.sent_bytes));
        self.u64("dropped", rows.clone().map(Counts::dropped));
        self.u64("marked", rows.clone().map(Counts::marked));
        for why in Why::ALL {
            self.u64(&format!("dropped_{why}"), rows.clone().map(|c| c.drops[why as usize]));
        }
        for why in Why::ALL {
            self.u64(&format!("marked_{why}"), rows.clone().map(|c| c.marks[why as usize]));
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
