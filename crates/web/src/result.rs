//! The result of a finished run: the rows of the command line's tables.

use headgate_measure::{Cells, Names, Outcome, Row};
use serde_json::{Map, Value, json};

use crate::Message;
use crate::lab::{Lab, millis};

impl Lab {
    /// Runs to the end, and returns the tables' rows of all flows and of the shown link as JSON. Every column has the name
    /// that it has in the tables.
    pub fn result(&mut self) -> String {
        let link = usize::from(self.hop.number());
        let names = Names::new(&self.scenario);
        match self.outcome() {
            Ok(outcome) => json!({
                "flows": outcome.flows.iter().map(|row| columns(row, &names)).collect::<Vec<_>>(),
                "link": columns(&outcome.links[link], &names),
                "packets": outcome.packets,
            })
            .to_string(),
            Err(message) => json!({"error": message}).to_string(),
        }
    }

    /// Runs to the end, and returns the outcome.
    ///
    /// # Errors
    /// A message if the run was stopped.
    pub fn outcome(&mut self) -> Result<&Outcome, Message> {
        self.skip(millis(self.end()));
        if self.world.is_some() {
            self.final_state = self.state();
        }
        if let Some(world) = self.world.take() {
            let outcome = world.finish(&self.scenario, &mut self.picture).map_err(|error| error.to_string())?;
            self.outcome = Some(outcome);
        }
        self.outcome.as_ref().ok_or_else(|| "the run has no result".to_string())
    }
}

/// A row's columns by name.
fn columns<R: Row>(row: &R, names: &Names) -> Map<String, Value> {
    let given = R::columns().into_iter().filter(|column| names.has_column(column));
    given.map(|column| (column.about.name, cell(&column.cells, row, names))).collect()
}

/// A cell; a number that is not finite becomes null.
fn cell<R>(cells: &Cells<R>, row: &R, names: &Names) -> Value {
    match cells {
        Cells::Words(read) => read(row).map(|word| word.into_owned()).into(),
        Cells::Names(read) => read(row, names).into(),
        Cells::Bools(read) => read(row).into(),
        Cells::U32s(read) => read(row).into(),
        Cells::U64s(read) => read(row).into(),
        Cells::F64s(read) => read(row).into(),
    }
}
