//! The engine's functions for JavaScript. Errors are thrown with their message.

use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::SetOutcome;

/// Every discipline, as JSON.
#[wasm_bindgen]
pub fn disciplines() -> String {
    crate::disciplines()
}

/// Every reason for drops and marks, as JSON.
#[wasm_bindgen]
pub fn reasons() -> String {
    crate::reasons()
}

/// The text of a scenario after changes.
///
/// # Errors
/// The message of [`changed`](crate::changed).
#[wasm_bindgen]
pub fn changed(toml: &str, changes: Vec<String>) -> Result<String, JsValue> {
    crate::changed(toml, &changes).map_err(thrown)
}

/// One run; see [`crate::Lab`].
#[wasm_bindgen(js_name = Lab)]
pub struct LabHandle(crate::Lab);

#[wasm_bindgen(js_class = Lab)]
impl LabHandle {
    /// A run before its first event.
    ///
    /// # Errors
    /// The message of [`crate::Lab::new`].
    #[wasm_bindgen(constructor)]
    pub fn new(toml: &str, qdisc: &str, seed: u32) -> Result<LabHandle, JsValue> {
        crate::Lab::new(toml, qdisc, seed.into()).map(LabHandle).map_err(thrown)
    }

    /// What stays the same during the run.
    pub fn about(&self) -> String {
        self.0.about()
    }

    /// Advances, and keeps the events.
    pub fn advance(&mut self, until_ms: f64) {
        self.0.advance(until_ms);
    }

    /// Advances without keeping events.
    pub fn skip(&mut self, until_ms: f64) {
        self.0.skip(until_ms);
    }

    /// Advances to the next event at the queue.
    pub fn step(&mut self) -> f64 {
        self.0.step()
    }

    /// The run at this moment.
    pub fn snapshot(&mut self) -> String {
        self.0.snapshot()
    }

    /// The run at this moment, without queue and events.
    pub fn sample(&mut self) -> String {
        self.0.sample()
    }

    /// Changes a key: `applied` or `restart`.
    ///
    /// # Errors
    /// The message of [`crate::Lab::set`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<String, JsValue> {
        let word = |outcome| if outcome == SetOutcome::Applied { "applied" } else { "restart" };
        self.0.set(key, value).map(|outcome| word(outcome).to_string()).map_err(thrown)
    }

    /// Runs to the end: the rows of the tables.
    pub fn result(&mut self) -> String {
        self.0.result()
    }
}

fn thrown(message: String) -> JsValue {
    JsError::new(&message).into()
}
