//! What a load did, at its end.

use headgate_core::parts::Histogram;
use headgate_core::{Span, Time};
use headgate_measure::{TraceRow, TransferRow};

use super::deliveries::Delivery;
use super::receiver::Received;
use super::sender::Sent;
use super::shared::Shared;
use super::tally::SenderCounts;

/// What was sent and received. Times count from the beginning.
#[derive(Clone, Debug, Default)]
pub struct LoadReport {
    /// One row a flow, by its number.
    pub flows: Vec<FlowReport>,
    /// Useful bytes as they came to their receivers, in order of time.
    pub deliveries: Vec<Delivery>,
    /// Every transfer that began: those that came whole in the order in which they did, then the others.
    pub transfers: Vec<TransferRow>,
    /// The rows of traced senders that nobody took before.
    pub traces: Vec<TraceRow>,
    /// Packets that came to receivers with a CE mark, by their hosts' own count, warm-up included.
    pub marked: u64,
    /// How much later than their sources wrote them datagrams were sent, in nanoseconds: the error of the senders.
    pub late: Histogram,
    /// What went wrong with a flow, or what the kernel does otherwise than the scenario says: a sentence each.
    pub notes: Vec<String>,
}

/// One flow. Its counts are of the time after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct FlowReport {
    /// Its group: an index into the scenario's groups, TCP before UDP.
    pub group: u32,
    /// When it started, or would have.
    pub start: Time,
    /// When it had nothing more to send and nothing under way.
    pub ended: Option<Time>,
    /// What its sender did.
    pub counts: SenderCounts,
    /// The integral of `cwnd` in packets x nanoseconds, from samples; `None` for UDP.
    pub cwnd_area: Option<f64>,
    /// The mean of TCP's smoothed round-trip times.
    pub srtt: Option<Span>,
    /// The least round-trip time that TCP saw, warm-up included.
    pub min_rtt: Option<Span>,
    /// From sending to receiving each datagram, in nanoseconds; empty for TCP.
    pub delay: Histogram,
    /// Datagrams sent, and those of them that the sender's own host had no room for, warm-up included.
    pub datagrams: [u64; 2],
}

impl LoadReport {
    /// Adds what a host sent.
    pub(super) fn take_sent(&mut self, sent: Sent) {
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
                self.notes.push(format!("flow {number}: its own host had no room for {refused} of {sent} datagrams"));
            }
        }
        self.late.merge(&sent.late);
    }

    /// Adds what a host received.
    pub(super) fn take_received(&mut self, received: Received) {
        for receiver in received.flows {
            let flow = &mut self.flows[receiver.number as usize];
            // Of TCP the sender was told.
            flow.counts.marked += receiver.marked;
            flow.delay = receiver.delay;
        }
        self.transfers.extend(received.completed);
        self.marked += received.marked;
        if received.without_room > 0 {
            self.notes.push(format!("{} datagrams came and were not read in time", received.without_room));
        }
        self.deliveries.extend(received.deliveries.into_rows());
    }

    /// Adds the transfers that are under way, behind those that came, and the traces that nobody took.
    pub(super) fn finish(&mut self, shared: &Shared) {
        self.deliveries.sort_by_key(|delivery| delivery.at);
        self.transfers.sort_by_key(|transfer| transfer.end.unwrap_or(Time::NEVER));
        self.transfers.extend(shared.transfers().iter().flatten().map(|transfer| transfer.row));
        self.traces = shared.traces.take();
    }
}
