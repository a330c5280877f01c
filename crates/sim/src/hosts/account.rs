//! What the hosts did, told at the end of a run.

use headgate_core::Time;
use headgate_measure::TransferRow;

use super::Hosts;
use crate::segment::SimPacket;
use crate::traffic::Transfer;

/// What a flow did after the warm-up.
pub struct Deeds {
    /// The flow's group, TCP before UDP.
    pub group: u32,
    /// Useful bytes delivered.
    pub bytes: u64,
    /// Packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts; of TFRC, how often the nofeedback timer expired.
    pub timeouts: u64,
    /// The integral of `cwnd` in packets x nanoseconds; `None` for UDP.
    pub cwnd_area: Option<f64>,
}

impl Hosts {
    /// Packets that the hosts have given to their access links, warm-up included: the transports' own counts. A source
    /// of datagrams tells of the next one ahead of its time: see [`is_to_come`](Hosts::is_to_come).
    pub fn sent_packets(&self) -> u64 {
        let data: u64 = self.tcp.iter().map(|flow| flow.segments_sent()).sum();
        let datagrams: u64 = self.udp.iter().map(|flow| flow.sent).sum();
        data + self.replies.sent + datagrams + self.tfrc.sent_packets()
    }

    /// The packet under way is a datagram whose source sends it only at `now` or later.
    pub fn is_to_come(&self, packet: &SimPacket, now: Time) -> bool {
        packet.handle.is_datagram() && self.udp[packet.flow.0 as usize - self.tcp.len()].is_ahead(now)
    }

    /// Every transfer that began, warm-up included: those that arrived in the order in which they did, then the others.
    pub fn transfers(&self) -> Vec<TransferRow> {
        let mut rows = self.transfers.clone();
        for (flow, tcp) in self.tcp.iter().enumerate() {
            let row = |Transfer { start, bytes }| TransferRow { flow: flow as u32, start, bytes, end: None };
            rows.extend(tcp.unfinished().map(row));
        }
        rows
    }

    /// What each flow did since the warm-up.
    pub fn deeds(&self, now: Time) -> impl Iterator<Item = Deeds> {
        let tcp = self.tcp.iter().zip(&self.before).map(move |(flow, before)| {
            let after = flow.counts(now);
            let payload = self.tcp_kinds[flow.group as usize].payload;
            Deeds {
                group: u32::from(flow.group),
                bytes: u64::from(after.delivered - before.delivered) * u64::from(payload),
                retransmits: u64::from(after.retransmits - before.retransmits),
                timeouts: u64::from(after.timeouts - before.timeouts),
                cwnd_area: Some(after.cwnd_area - before.cwnd_area),
            }
        });
        let udp = self.udp.iter().zip(self.tfrc.timeouts()).map(|(flow, timeouts)| Deeds {
            group: (self.tcp_kinds.len() + flow.group as usize) as u32,
            bytes: flow.delivered,
            retransmits: 0,
            timeouts: timeouts.into(),
            cwnd_area: None,
        });
        tcp.chain(udp)
    }
}
