//! What a run tells while it goes, as Arrow tables: events and traces.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use headgate_core::Span;
use headgate_measure::{EventBatch, Happening, SenderState, TcpState, TfrcState, TraceRow};

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
        let tcp = || rows.iter().map(|row| row.state.tcp());
        let tfrc = || rows.iter().map(|row| row.state.tfrc());
        let mut columns = self.columns(rows.len());
        columns.u64("time_ns", rows.iter().map(|row| row.time.as_nanos()));
        columns.u32("flow", rows.iter().map(|row| row.flow));
        let ssthresh = |state: &TcpState| Some(state.ssthresh).filter(|packets| packets.is_finite());
        let rtt = |row: &TraceRow| match &row.state {
            SenderState::Tcp { state, .. } => state.srtt.map(|(srtt, _)| srtt),
            SenderState::Tfrc(state) => state.rtt,
        };
        let told = |row: &TraceRow| match &row.state {
            SenderState::Tcp { state, .. } => (state.phase, state.retransmits, state.timeouts),
            SenderState::Tfrc(state) => (state.phase, 0, state.timeouts),
        };
        columns.f64_or_null("cwnd", tcp().map(|tcp| tcp.map(|(state, _)| state.cwnd)));
        columns.f64_or_null("ssthresh", tcp().map(|tcp| tcp.and_then(|(state, _)| ssthresh(state))));
        columns.f64_or_null("srtt_ms", rows.iter().map(|row| rtt(row).map(milliseconds)));
        let rttvar = |state: &TcpState| state.srtt.map(|(_, rttvar)| milliseconds(rttvar));
        columns.f64_or_null("rttvar_ms", tcp().map(|tcp| tcp.and_then(|(state, _)| rttvar(state))));
        columns.f64_or_null("rto_ms", tcp().map(|tcp| tcp.map(|(state, _)| milliseconds(state.rto))));
        columns.u32_or_null("flight", tcp().map(|tcp| tcp.map(|(state, _)| state.flight)));
        columns.u64_or_null("acked_bytes", tcp().map(|tcp| tcp.map(|(_, acked_bytes)| acked_bytes)));
        columns.text("phase", rows.iter().map(|row| told(row).0));
        columns.u32("retransmits", rows.iter().map(|row| told(row).1));
        columns.u32("timeouts", rows.iter().map(|row| told(row).2));
        columns.f64_or_null("rate_bps", tfrc().map(|tfrc| tfrc.map(|state| 8.0 * state.rate)));
        let received = |state: &TfrcState| state.receive_rate.map(|rate| 8.0 * rate);
        columns.f64_or_null("receive_rate_bps", tfrc().map(|tfrc| tfrc.and_then(received)));
        columns.f64_or_null("loss_event_rate", tfrc().map(|tfrc| tfrc.map(|state| state.loss)));
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
