//! What a run tells while it goes, as Arrow tables: events and traces.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use headgate_core::Span;
use headgate_sim::{EventBatch, Happening, TraceRow};

use crate::outcome::Run;

impl Run {
    /// A batch of events where disciplines are compared, with a column for each gauge that is told with them.
    ///
    /// # Errors
    /// None that a correct conversion gives.
    pub fn events(&self, batch: &EventBatch) -> Result<RecordBatch, ArrowError> {
        let EventBatch { rows, gauges, values } = batch;
        let mut columns = self.columns(rows.len());
        self.link_columns(&mut columns, rows.iter().map(|row| Some(row.link)));
        columns.u64("time_ns", rows.iter().map(|row| row.time.as_nanos()));
        columns.text("event", rows.iter().map(|row| happening(row.happening).0));
        columns.text_or_null("reason", rows.iter().map(|row| happening(row.happening).1));
        columns.u32("flow", rows.iter().map(|row| row.flow));
        columns.u32("bytes", rows.iter().map(|row| row.bytes));
        columns.u32("queue_packets", rows.iter().map(|row| row.queue.packets));
        columns.u64("queue_bytes", rows.iter().map(|row| row.queue.bytes));
        for (place, gauge) in gauges.iter().enumerate() {
            let of = if gauge.of_flow { "flow" } else { "gauge" };
            let told = values.iter().skip(place).step_by(gauges.len()).copied();
            columns.f64_or_null(&format!("{of}:{}", gauge.name), told.map(|value| Some(value).filter(|v| !v.is_nan())));
        }
        columns.finish()
    }

    /// A batch of traces.
    ///
    /// # Errors
    /// None that a correct conversion gives.
    pub fn traces(&self, rows: &[TraceRow]) -> Result<RecordBatch, ArrowError> {
        let states = || rows.iter().map(|row| &row.state);
        let mut columns = self.columns(rows.len());
        columns.u64("time_ns", rows.iter().map(|row| row.time.as_nanos()));
        columns.u32("flow", rows.iter().map(|row| row.flow));
        columns.f64("cwnd", states().map(|state| state.cwnd));
        columns
            .f64_or_null("ssthresh", states().map(|state| Some(state.ssthresh).filter(|packets| packets.is_finite())));
        columns.f64_or_null("srtt_ms", states().map(|state| state.srtt.map(|(srtt, _)| milliseconds(srtt))));
        columns.f64_or_null("rttvar_ms", states().map(|state| state.srtt.map(|(_, rttvar)| milliseconds(rttvar))));
        columns.f64("rto_ms", states().map(|state| milliseconds(state.rto)));
        columns.u32("flight", states().map(|state| state.flight));
        columns.u64("acked_bytes", rows.iter().map(|row| row.acked_bytes));
        columns.text("phase", states().map(|state| state.phase));
        columns.u32("retransmits", states().map(|state| state.retransmits));
        columns.u32("timeouts", states().map(|state| state.timeouts));
        columns.finish()
    }
}

fn happening(what: Happening) -> (&'static str, Option<&'static str>) {
    match what {
        Happening::Arrived => ("arrived", None),
        Happening::Sent => ("sent", None),
        Happening::Dropped(why) => ("dropped", Some(why.name())),
        Happening::Marked(why) => ("marked", Some(why.name())),
        Happening::Lost => ("lost", Some("link_loss")),
    }
}

fn milliseconds(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e6
}
