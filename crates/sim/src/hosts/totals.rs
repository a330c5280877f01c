//! Totals of the hosts at the end of a run.

use aqm::Time;
use headgate_measure::{TransferRow, TransportCounts};

use super::Hosts;
use crate::segment::SimPacket;
use crate::traffic::TransferRequest;

impl Hosts {
    /// Packets sent by the transports, warm-up included. A datagram source counts its next datagram early: see
    /// [`is_unsent`](Hosts::is_unsent).
    pub fn sent_packets(&self) -> u64 {
        let data: u64 = self.tcp.iter().map(|flow| flow.segments_sent()).sum();
        let datagrams: u64 = self.udp.iter().map(|flow| flow.sent).sum();
        data + self.replies.sent + datagrams + self.controlled.sent_packets()
    }

    /// Whether `packet` is a datagram that its source sends only at `now` or later.
    pub fn is_unsent(&self, packet: &SimPacket, now: Time) -> bool {
        packet.handle.is_datagram() && self.udp[packet.flow.0 as usize - self.tcp.len()].is_unsent(now)
    }

    /// All transfers, warm-up included: completed ones in order of completion, then the others.
    pub fn transfers(&self) -> Vec<TransferRow> {
        let mut rows = self.transfers.clone();
        for (flow, tcp) in self.tcp.iter().enumerate() {
            let (flow, group) = (flow as u32, u32::from(tcp.group));
            let row = |TransferRequest { start, bytes }| TransferRow { flow, group, start, bytes, end: None };
            rows.extend(tcp.open_transfers().map(row));
        }
        rows
    }

    /// Transport statistics of each flow since the warm-up.
    pub fn transport_counts(&self, now: Time) -> impl Iterator<Item = TransportCounts> {
        let tcp = (0..).zip(&self.tcp).zip(&self.warmup_counts).map(move |((id, flow), before)| {
            let after = flow.counts(now);
            TransportCounts {
                group: u32::from(flow.group),
                retransmits: u64::from(after.retransmits - before.retransmits),
                timeouts: u64::from(after.timeouts - before.timeouts),
                cwnd_area: Some(after.cwnd_area - before.cwnd_area),
                held: Some(self.held(id, now)),
            }
        });
        let udp = self.udp.iter().zip(self.controlled.timeouts()).map(|(flow, timeouts)| TransportCounts {
            group: (self.tcp_settings.len() + flow.group as usize) as u32,
            retransmits: 0,
            timeouts: timeouts.into(),
            cwnd_area: None,
            held: None,
        });
        tcp.chain(udp)
    }
}
