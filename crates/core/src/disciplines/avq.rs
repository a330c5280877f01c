//! Adaptive Virtual Queue (AVQ): drop or mark when a simulated queue of a slower link overflows.
//!
//! AVQ acts on the arrival rate instead of the queue. A virtual queue has the same arrivals as the real one and its own
//! service rate, the virtual capacity. A packet that would overflow the virtual queue is dropped or marked. The virtual
//! capacity falls while packets arrive faster than `gamma` times the link's rate, and rises while they arrive slower.
//! The utilization therefore settles at `gamma`, and the real queue stays short.
//!
//! On arrival, the virtual queue VQ loses C~ times the time since the last arrival, where C~ is the virtual capacity. A
//! packet of b bytes with VQ + b above the virtual buffer B is dropped or marked. Otherwise VQ grows by b. Then C~ grows
//! by alpha gamma C for each second since the last arrival, up to the link's rate C, and falls by alpha b. A packet that
//! does not fit into the real buffer is dropped. Departures change nothing.
//!
//! Source: S. Kunniyur, R. Srikant, "Analysis and design of an adaptive virtual queue (AVQ) algorithm for active queue
//! management", ACM SIGCOMM 2001. Deviations are listed in docs/disciplines/avq.md.
//!
//! | paper | here |
//! | --- | --- |
//! | VQ, C~, s | [`Avq::virtual_queue`], [`Avq::virtual_capacity`], [`Avq::last`] |
//! | B, alpha, gamma | `virtual_limit`, `alpha`, `gamma` |
//! | C | the link's rate, in bytes per second |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::Fifo;
use crate::reason::Why;
use crate::time::Time;
use crate::units::{Level, Limit};

crate::reasons! {
    /// The packet would have overflowed the virtual queue.
    VirtualOverflow = "virtual_overflow", "the virtual queue was full";
}

crate::params! {
    /// Settings of [`Avq`].
    pub struct AvqConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Target utilization of the link.
        gamma: f64 = 0.98, in 0.0..=1.0, also "gamma_";
        /// Speed of adaptation: the share of the rates' mismatch by which the virtual capacity changes in a second.
        alpha: f64 = 0.15, in 0.0..=1e6;
        /// Size of the virtual buffer, counted in bytes. `auto`: as the buffer, with packets of the mean size.
        virtual_limit: Option<Level> = None, also "B";
        /// Virtual capacity at the start, as a share of the link's rate.
        initial_capacity: f64 = 0.8, in 0.0..=1.0, also "ecnlim_";
        /// Counts dropped packets as arrivals, too. Unresponsive flows above the target rate then lower the virtual
        /// capacity to 0, and every packet is dropped.
        count_drops: bool = false;
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true, also "markpkts_";
    }
    presets {
        "paper" "the AVQ paper, and its authors' initial capacity and count of drops in ns-2 (the defaults)" {}
        "ns2" "ns-2 2.35, vq.cc and ns-default.tcl" { "ecn" = "off" }
    }
    reasons { Overflow, VirtualOverflow }
    gauges {
        Gauge::new("virtual_capacity_bps", "bit/s", "Virtual capacity: the service rate of the virtual queue.");
        Gauge::new("virtual_queue_bytes", "bytes", "Length of the virtual queue at the last arrival.");
    }
}

/// A FIFO with an adaptive virtual queue at its entrance.
pub struct Avq<T> {
    config: AvqConfig,
    fifo: Fifo<T>,
    /// The link's rate in bytes per second.
    capacity: f64,
    /// The virtual buffer in bytes.
    virtual_limit: f64,
    /// Length of the virtual queue in bytes, at the last arrival.
    pub virtual_queue: f64,
    /// Service rate of the virtual queue in bytes per second.
    pub virtual_capacity: f64,
    /// Time of the last arrival.
    pub last: Option<Time>,
}

impl<T> Avq<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: AvqConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let capacity = link.rate.as_bits() as f64 / 8.0;
        Ok(Avq {
            fifo: Fifo::new(config.limit),
            capacity,
            virtual_limit: config.virtual_limit.unwrap_or(Level::Share(1.0)).bytes(config.limit, link.mean_packet),
            virtual_queue: 0.0,
            virtual_capacity: config.initial_capacity * capacity,
            last: None,
            config,
        })
    }

    /// Serves the virtual queue until `now`, and lets the virtual capacity grow for this time.
    #[inline]
    fn advance(&mut self, now: Time) {
        let since = self.last.map_or(0.0, |last| (now - last).as_secs_f64());
        self.last = Some(now);
        self.virtual_queue = (self.virtual_queue - self.virtual_capacity * since).max(0.0);
        let growth = self.config.alpha * self.config.gamma * self.capacity * since;
        self.virtual_capacity = (self.virtual_capacity + growth).min(self.capacity);
    }

    /// Lowers the virtual capacity for an arrival.
    #[inline]
    fn count_arrival(&mut self, bytes: f64) {
        self.virtual_capacity = (self.virtual_capacity - self.config.alpha * bytes).max(0.0);
    }
}

impl<T> Discipline<T> for Avq<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.advance(cx.now);
        let (bytes, fits) = (f64::from(packet.bytes), self.fifo.admits(packet.bytes));
        let full = self.virtual_queue + bytes > self.virtual_limit;
        let mut admitted = None;
        if !fits {
            cx.drop(packet, Why::Overflow);
        } else if full {
            admitted = cx.signal(packet, Why::VirtualOverflow, self.config.ecn);
        } else {
            self.virtual_queue += bytes;
            admitted = Some(packet);
        }
        if admitted.is_some() || self.config.count_drops {
            self.count_arrival(bytes);
        }
        if let Some(packet) = admitted {
            self.fifo.put(packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.fifo.pop()
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("virtual_capacity_bps", 8.0 * self.virtual_capacity);
        gauge("virtual_queue_bytes", self.virtual_queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate, Rng, Span};

    /// Sends 1000 bytes per millisecond.
    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    const BY_HAND: &[(&str, &str)] = &[("limit", "4p"), ("alpha", "32"), ("gamma", "0.5"), ("initial_capacity", "0.5")];

    fn port(settings: &[(&str, &str)]) -> Port<(), Avq<()>> {
        Port::new(Avq::new(AvqConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(3))
    }

    /// A packet arrives at `ms`. Returns the virtual queue in bytes and the virtual capacity in bytes per second.
    fn arrive(port: &mut Port<(), Avq<()>>, ecn: Ecn, ms: u64) -> (f64, f64) {
        let packet = Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) };
        port.enqueue(packet, Time::ZERO + Span::from_millis(ms), &mut ());
        let gauge = |name| port.gauges().into_iter().find(|(gauge, _)| *gauge == name).unwrap().1;
        (gauge("virtual_queue_bytes"), gauge("virtual_capacity_bps") / 8.0)
    }

    #[test]
    fn virtual_queue_and_capacity_follow_the_papers_code_packet_by_packet() {
        let mut port = port(BY_HAND);
        // By hand. Time before the first packet does not count: 1000 bytes, and 500 000 - 32 x 1000.
        assert_eq!(arrive(&mut port, Ecn::NotEct, 100), (1000.0, 468_000.0));
        assert_eq!(arrive(&mut port, Ecn::NotEct, 100), (2000.0, 436_000.0));
        // A millisecond serves 436 bytes, and adds 32 x 0.5 x 1 000 000 / 1000 = 16 000.
        assert_eq!(arrive(&mut port, Ecn::NotEct, 101), (2564.0, 420_000.0));
        while port.dequeue(Time::ZERO + Span::from_millis(101), &mut ()).is_some() {}
        // 100 ms serve all, and raise the capacity to the link's rate.
        assert_eq!(arrive(&mut port, Ecn::NotEct, 201), (1000.0, 968_000.0));
    }

    #[test]
    fn a_packet_that_overflows_the_virtual_queue_is_marked_and_counts_or_is_dropped_and_does_not() {
        for (ecn, counts, capacity) in
            [(Ecn::Ect0, "off", 340_000.0), (Ecn::NotEct, "off", 372_000.0), (Ecn::NotEct, "on", 340_000.0)]
        {
            let mut port = port(&[BY_HAND, &[("limit", "9p"), ("B", "4500B"), ("count_drops", counts)]].concat());
            (0..4).for_each(|_| assert!(arrive(&mut port, ecn, 0).0 > 0.0));
            // Four packets fit into the virtual buffer of 4500 bytes; the fifth does not, and leaves it as it is.
            assert_eq!(arrive(&mut port, ecn, 0), (4000.0, capacity), "{ecn:?} {counts}");
            let (told, marked) = (port.totals().counts(), ecn.is_capable());
            let why = Why::VirtualOverflow;
            assert_eq!((told.marks(why), told.drops(why)), (u64::from(marked), u64::from(!marked)));
        }
    }

    #[test]
    fn a_full_buffer_drops_for_overflow_and_leaves_the_virtual_queue() {
        let mut port = port(&[BY_HAND, &[("B", "2p")]].concat());
        // Two fill the virtual buffer, two more are marked. The fifth does not fit.
        (0..4).for_each(|_| assert!(arrive(&mut port, Ecn::Ect0, 0).0 > 0.0));
        assert_eq!(arrive(&mut port, Ecn::Ect0, 0), (2000.0, 500_000.0 - 4.0 * 32_000.0));
        let counts = port.totals().counts();
        assert_eq!((counts.marks(Why::VirtualOverflow), counts.drops(Why::Overflow)), (2, 1));
    }

    #[test]
    fn against_a_flood_the_accepted_rate_is_gamma_unless_drops_count() {
        // 2000 packets a second at a link of 1000, dropped because they cannot be marked.
        for (counts, least, most) in [("off", 0.97, 0.99), ("on", 0.0, 0.01)] {
            let mut port = port(&[("limit", "100p"), ("count_drops", counts)]);
            let mut sent = 0;
            for half in 0..200_000_u64 {
                let now = Time::ZERO + Span::from_micros(500) * half;
                port.enqueue(Packet::new(FlowId(1), 1000, ()), now, &mut ());
                let packet = if half % 2 == 0 { port.dequeue(now, &mut ()) } else { None };
                sent += u64::from(packet.is_some() && half >= 100_000);
            }
            // The last 50 s: 50 000 packets at the full rate.
            let utilization = sent as f64 / 50_000.0;
            assert!((least..=most).contains(&utilization), "{counts}: {utilization}");
        }
    }
}
