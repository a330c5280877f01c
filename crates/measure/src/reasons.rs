//! Reasons for drops and marks that a scenario's disciplines can give.

use std::sync::{Mutex, PoisonError};

use aqm::{Qdisc, Reason, Why, registry};
use headgate_scenario::Scenario;

/// Reasons of disciplines outside the registry; they live as long as the process.
static DECLARED: Mutex<Vec<Why>> = Mutex::new(Vec::new());

/// All reasons: the registry's, then the declared ones.
pub fn reasons() -> Vec<Why> {
    let declared = DECLARED.lock().unwrap_or_else(PoisonError::into_inner);
    registry::reasons().into_iter().chain(declared.iter().copied()).collect()
}

/// Declares a reason of a discipline outside the registry, unless its name is known. The text is never freed, as there
/// are only a few reasons.
pub fn declare_reason(name: String, about: String) {
    if reasons().iter().all(|why| why.name() != name) {
        let reason = Reason { name: name.leak(), about: about.leak(), targets_identified_flow: false };
        let mut declared = DECLARED.lock().unwrap_or_else(PoisonError::into_inner);
        declared.push(Why::of(Box::leak(Box::new(reason))));
    }
}

/// The reasons that disciplines of `scenario` can give; `None` for all reasons, if a discipline is not in the registry.
pub fn reasons_in(scenario: &Scenario) -> Option<Vec<Why>> {
    let fixed = scenario.hops().filter_map(|hop| scenario.direction_settings(hop).qdisc.as_ref());
    let each: Option<Vec<Vec<Why>>> = scenario.qdiscs.iter().chain(fixed).map(reasons_of).collect();
    each.map(|each| each.concat())
}

fn reasons_of(qdisc: &Qdisc) -> Option<Vec<Why>> {
    let settings: Vec<(&str, &str)> = qdisc.settings.iter().map(|(name, value)| (&**name, &**value)).collect();
    registry::find(&qdisc.name).and_then(|entry| entry.reasons(&settings)).ok()
}
