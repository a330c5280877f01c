//! The report of a load.

use aqm::parts::Histogram;
use aqm::{Span, Time};
use headgate_measure::{TraceRow, TransferRow};

use super::deliveries::Delivery;
use super::receiver::ReceiverResults;
use super::sender::SenderResults;
use super::shared::LoadState;
use super::tally::SenderCounts;

/// Data sent and received by the flows. Times count from the start of the run.
#[derive(Clone, Debug, Default)]
pub struct LoadReport {
    /// The flows, by number.
    pub flows: Vec<FlowReport>,
    /// Deliveries of useful bytes, in order of time.
    pub deliveries: Vec<Delivery>,
    /// All transfers: completed ones in order of completion, then open ones.
    pub transfers: Vec<TransferRow>,
    /// Rows of traced senders that were not taken earlier.
    pub traces: Vec<TraceRow>,
    /// Packets received with CE, as counted by the hosts, warm-up included.
    pub marked: u64,
    /// Lateness of datagrams against their source's schedule, in nanoseconds: the senders' timing error.
    pub late: Histogram,
    /// Failures of flows, and differences between the kernel and the scenario, a sentence each.
    pub notes: Vec<String>,
}

/// A flow. Counts start after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct FlowReport {
    /// Index into the scenario's groups, TCP before UDP.
    pub group: u32,
    /// Scheduled start.
    pub start: Time,
    /// When it had nothing left to send and nothing unacknowledged.
    pub ended: Option<Time>,
    /// The sender's counts.
    pub counts: SenderCounts,
    /// Integral of `cwnd` in packets x nanoseconds, from samples; `None` for UDP.
    pub cwnd_area: Option<f64>,
    /// Mean of TCP's smoothed round-trip times.
    pub srtt: Option<Span>,
    /// Least round-trip time of TCP, warm-up included.
    pub min_rtt: Option<Span>,
    /// One-way delay of datagrams, in nanoseconds; empty for TCP.
    pub delay: Histogram,
    /// Datagrams sent, and datagrams that the sender's host refused, warm-up included.
    pub datagrams: [u64; 2],
}

impl LoadReport {
    pub(super) fn take_sent(&mut self, sent: SenderResults) {
        for sender in sent.tcp {
            let flow = &mut self.flows[sender.number as usize];
            (flow.counts, flow.cwnd_area) = (sender.tally.counts(), Some(sender.tally.cwnd_area()));
            (flow.srtt, flow.min_rtt) = sender.tally.round_trips();
            flow.ended = sender.ended;
            self.notes.extend(sender.failed.map(|why| format!("flow {}: {why}", sender.number)));
        }
        for sender in sent.udp {
            let flow = &mut self.flows[sender.number as usize];
            flow.datagrams = [sender.sent, sender.refused];
            flow.ended = sender.ended;
            if sender.refused > 0 {
                let (number, refused, sent) = (sender.number, sender.refused, sender.sent);
                self.notes
                    .push(format!("flow {number}: the sending socket was full for {refused} of {sent} datagrams"));
            }
        }
        self.late.merge(&sent.late);
    }

    pub(super) fn take_received(&mut self, received: ReceiverResults) {
        for receiver in received.flows {
            let flow = &mut self.flows[receiver.number as usize];
            // For TCP the receiver counts none: the sender's echoes are counted.
            flow.counts.marked += receiver.marked;
            flow.delay = receiver.delay;
        }
        self.transfers.extend(received.completed);
        self.marked += received.marked;
        if received.buffer_drops > 0 {
            self.notes.push(format!(
                "{} datagrams were dropped at full receiving sockets: the receiving thread was late",
                received.buffer_drops
            ));
        }
        self.deliveries.extend(received.deliveries.into_rows());
    }

    /// Appends the open transfers and the remaining traces.
    pub(super) fn finish(&mut self, shared: &LoadState) {
        self.deliveries.sort_by_key(|delivery| delivery.at);
        self.transfers.sort_by_key(|transfer| transfer.end.unwrap_or(Time::NEVER));
        self.transfers.extend(shared.transfers().iter().flatten().map(|transfer| transfer.row));
        self.traces = shared.traces.take();
    }
}
