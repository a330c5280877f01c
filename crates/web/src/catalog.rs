//! The registry of disciplines, for a page's menus and knobs.

use aqm::registry::{self, DisciplineEntry};
use aqm::{ParameterInfo, Preset};
use serde_json::{Value, json};

/// Every discipline as JSON, sorted by name: what it is, its gauges, parameters and presets.
pub fn disciplines() -> String {
    Value::from_iter(registry::ENTRIES.iter().map(entry)).to_string()
}

/// Every reason for drops and marks as JSON: its name, and the words after "because".
pub fn reasons() -> String {
    registry::reasons().iter().map(|why| (why.name(), why.about())).collect::<Value>().to_string()
}

fn entry(entry: &DisciplineEntry) -> Value {
    let gauge = |gauge: &aqm::Gauge| json!({"name": gauge.name, "unit": gauge.unit, "about": gauge.about});
    json!({
        "name": entry.name,
        "title": entry.display_name,
        "family": entry.family.name(),
        "group": entry.group.name(),
        "summary": entry.summary,
        "citation": entry.citation,
        "protects": entry.abilities.protects,
        "per_flow": entry.abilities.per_flow,
        "ecn": entry.abilities.ecn,
        "schedules": entry.abilities.schedules,
        "gauges": entry.gauges().iter().map(gauge).collect::<Vec<_>>(),
        "parameters": entry.fields().iter().map(parameter).collect::<Vec<_>>(),
        "presets": entry.presets().iter().map(preset).collect::<Vec<_>>(),
    })
}

fn parameter(ParameterInfo { name, doc, kind, default, range, .. }: &ParameterInfo) -> Value {
    json!({"name": name, "doc": doc, "kind": kind, "default": default, "range": range})
}

fn preset(Preset { name, about, settings }: &Preset) -> Value {
    let settings: Value = settings.iter().map(|(name, value)| (*name, *value)).collect();
    json!({"name": name, "about": about, "settings": settings})
}
