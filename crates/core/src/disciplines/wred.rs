//! WRED: mark or drop with a probability that grows with the present queue length, as switches do.
//!
//! RED's average and spacing suit slow links. At 100 Gbit/s an average is out of date within a round trip, and a switch
//! decides on each packet in hardware. WRED therefore compares the queue length itself with two thresholds, and draws for
//! each packet anew. Senders such as DCTCP and DCQCN average the marks instead.
//!
//! A packet that does not fit is dropped. For the others the probability is 0 up to `minth` and grows linearly to `maxp`
//! at `maxth`. Above `maxth` it is 1. A packet that is not ECN-capable is dropped with it on arrival. An ECN-capable
//! packet is marked with it, on arrival or on departure (`at`). A packet on arrival is judged by the queue that it finds;
//! on departure, by the queue that it leaves behind.
//!
//! "Weighted" stands for profiles: a switch has one for each queue. Headgate has one for each class with
//! `prio:children=[wred; wred]`.
//!
//! Source: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron, J. Padhye, S. Raindel, M. H. Yahia, M. Zhang,
//! "Congestion Control for Large-Scale RDMA Deployments", ACM SIGCOMM 2015, section 3.1 and figure 5 (marks on arrival).
//! Y. Li et al., "HPCC: High Precision Congestion Control", ACM SIGCOMM 2019, with its simulator's `ShouldSendCN` in
//! `switch-mmu.cc` (marks on departure).
//!
//! | source | here |
//! | --- | --- |
//! | Kmin, Kmax, Pmax | `minth`, `maxth`, `maxp` |

use alloc::format;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, Packet};
use crate::params::BuildError;
use crate::parts::Fifo;
use crate::reason::Why;
use crate::rng::Rng;
use crate::units::{Level, Limit};

crate::choice! {
    /// When an ECN-capable packet is judged.
    pub enum MarkAt {
        /// On arrival, by the queue that the packet finds.
        Arrival = "arrival",
        /// On departure, by the queue that the packet leaves behind.
        Departure = "departure",
    }
}

crate::params! {
    /// Settings of [`Wred`].
    pub struct WredConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Queue length up to which no packet is dropped or marked.
        minth: Level = Level::Bytes(5_000.0), also "min" "kmin" "Kmin";
        /// Queue length above which every packet is dropped or marked. In the unit of `minth`.
        maxth: Level = Level::Bytes(200_000.0), also "max" "kmax" "Kmax";
        /// Drop or mark probability at `maxth`.
        maxp: f64 = 0.01, in 0.0..=1.0, also "max_p" "probability" "pmax" "Pmax";
        /// When ECN-capable packets are judged: on arrival or on departure. Others are judged on arrival.
        at: MarkAt = MarkAt::Arrival;
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true;
    }
    presets {
        "paper" "the DCQCN paper at 40 Gbit/s, section 5.2 (the defaults)" {}
        "hpcc" "the HPCC paper at 25 Gbit/s, section 5.1, and its simulator: marks on departure" {
            "minth" = "100KB", "maxth" = "400KB", "maxp" = "0.2", "at" = "departure"
        }
        "sonic" "the profile AZURE_LOSSLESS of SONiC" {
            "minth" = "1MiB", "maxth" = "2MiB", "maxp" = "0.05"
        }
    }
    reasons { Overflow, Early, Forced }
    gauges {
        Gauge::PROBABILITY;
    }
}

/// The probability as a function of the queue length.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    min: f64,
    max: f64,
    maxp: f64,
    /// Whether lengths are in bytes; otherwise in packets.
    in_bytes: bool,
}

impl Ramp {
    /// # Errors
    /// [`BuildError::Conflict`] if the thresholds have different units, or minth is not below maxth.
    fn new(config: &WredConfig) -> Result<Ramp, BuildError> {
        let [(min, in_bytes), (max, max_in_bytes)] =
            [config.minth, config.maxth].map(|level| resolve(level, config.limit));
        if in_bytes != max_in_bytes {
            let why =
                format!("minth ({}) and maxth ({}) have different units: give both in one", config.minth, config.maxth);
            return Err(BuildError::Conflict(why));
        }
        if min >= max {
            let why = format!("minth ({}) must be below maxth ({})", config.minth, config.maxth);
            return Err(BuildError::Conflict(why));
        }
        Ok(Ramp { min, max, maxp: config.maxp, in_bytes })
    }

    #[inline]
    fn probability(&self, queue: Backlog) -> f64 {
        let length = if self.in_bytes { queue.bytes as f64 } else { f64::from(queue.packets) };
        if length <= self.min {
            0.0
        } else if length <= self.max {
            self.maxp * (length - self.min) / (self.max - self.min)
        } else {
            1.0
        }
    }

    /// Draws for one packet: the reason to mark or drop it, if any.
    #[inline]
    fn judge(&self, queue: Backlog, rng: &mut Rng) -> Option<Why> {
        let probability = self.probability(queue);
        let above = probability >= 1.0;
        rng.chance(probability).then_some(if above { Why::Forced } else { Why::Early })
    }
}

/// A level as a number, and whether it is in bytes. A share counts in the limit's unit.
fn resolve(level: Level, limit: Limit) -> (f64, bool) {
    match (level, limit) {
        (Level::Packets(packets), _) => (packets, false),
        (Level::Bytes(bytes), _) => (bytes, true),
        (Level::Share(share), Limit::Packets(most)) => (share * f64::from(most), false),
        (Level::Share(share), Limit::Bytes(most)) => (share * most as f64, true),
    }
}

/// A FIFO that marks or drops by its present length.
pub struct Wred<T> {
    config: WredConfig,
    ramp: Ramp,
    fifo: Fifo<T>,
}

impl<T> Wred<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if the thresholds have different units, or minth is not below maxth.
    pub fn new(config: WredConfig, _link: &LinkInfo) -> Result<Self, BuildError> {
        Ok(Wred { ramp: Ramp::new(&config)?, fifo: Fifo::new(config.limit), config })
    }

    /// Whether the packet is judged on departure. A switch drops on arrival only, so this needs a packet that can be
    /// marked.
    #[inline]
    fn waits_for_departure(&self, packet: &Packet<T>) -> bool {
        self.config.at == MarkAt::Departure && self.config.ecn && packet.ecn.is_capable()
    }
}

impl<T> Discipline<T> for Wred<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        if !self.fifo.admits(packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        if self.waits_for_departure(&packet) {
            return self.fifo.put(packet);
        }
        let kept = match self.ramp.judge(self.fifo.backlog(), cx.rng) {
            Some(why) => cx.signal(packet, why, self.config.ecn),
            None => Some(packet),
        };
        if let Some(packet) = kept {
            self.fifo.put(packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let packet = self.fifo.pop()?;
        if !self.waits_for_departure(&packet) {
            return Some(packet);
        }
        match self.ramp.judge(self.fifo.backlog(), cx.rng) {
            Some(why) => cx.signal(packet, why, true),
            None => Some(packet),
        }
    }

    crate::discipline::backlog_of!(fifo);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.fifo.pop() {
            cx.drop(packet, Why::Overload);
        }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("probability", self.ramp.probability(self.fifo.backlog()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate, Time};
    use alloc::string::ToString;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn port(settings: &[(&str, &str)]) -> Result<Port<(), Wred<()>>, BuildError> {
        Ok(Port::new(Wred::new(WredConfig::from_settings(settings)?, &LINK)?, Rng::new(5)))
    }

    fn packet(ecn: Ecn) -> Packet<()> {
        Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) }
    }

    /// Share of packets marked or dropped while the queue has `held` packets of 1000 bytes, of 100 000 packets.
    fn signaled(held: u32, ecn: Ecn, at: &str) -> f64 {
        const PACKETS: u32 = 100_000;
        let mut port =
            port(&[("limit", "1GB"), ("minth", "500KB"), ("maxth", "2MB"), ("maxp", "0.05"), ("at", at)]).unwrap();
        // The queue is filled before it is judged: no packet of it counts.
        (0..held).for_each(|_| port.enqueue(packet(Ecn::Ce), Time::ZERO, &mut ()));
        let all = |port: &Port<(), Wred<()>>| {
            let counts = port.totals().counts();
            if ecn.is_capable() { counts.marked() } else { counts.dropped() }
        };
        let before = all(&port);
        for _ in 0..PACKETS {
            port.enqueue(packet(ecn), Time::ZERO, &mut ());
            // A dropped packet leaves the queue as it was.
            if port.backlog().packets > held {
                port.dequeue(Time::ZERO, &mut ());
            }
        }
        (all(&port) - before) as f64 / f64::from(PACKETS)
    }

    #[test]
    fn the_probability_follows_the_queue_length_without_average_or_spacing() {
        // 1000 KB lie a third of the way from 500 KB to 2000 KB: 5 % / 3. The standard deviation of a share of 100 000 is
        // 0.04 %, the tolerance four of them. RED's spacing would give 3.33 %, an average next to nothing.
        for at in ["arrival", "departure"] {
            for ecn in [Ecn::Ect0, Ecn::NotEct] {
                let share = signaled(1000, ecn, at);
                assert!((share - 0.05 / 3.0).abs() < 0.0016, "{at}, {ecn:?}: {share}");
                assert_eq!([500, 2001].map(|held| signaled(held, ecn, at)), [0.0, 1.0], "{at}, {ecn:?}");
            }
        }
    }

    #[test]
    fn a_packet_that_can_only_be_dropped_is_judged_on_arrival_even_if_marks_come_on_departure() {
        let always = [("limit", "9p"), ("minth", "0p"), ("maxth", "1p"), ("maxp", "1"), ("at", "departure")];
        for (ecn, setting, on_arrival) in
            [(Ecn::NotEct, "on", true), (Ecn::Ect0, "on", false), (Ecn::Ect0, "off", true)]
        {
            let mut port = port(&[&always[..], &[("ecn", setting)]].concat()).unwrap();
            (0..3).for_each(|_| port.enqueue(packet(ecn), Time::ZERO, &mut ()));
            assert_eq!(port.totals().counts().dropped(), if on_arrival { 2 } else { 0 }, "{ecn:?}, {setting}");
            let left: alloc::vec::Vec<Ecn> =
                (0..3).map_while(|_| port.dequeue(Time::ZERO, &mut ())).map(|p| p.ecn).collect();
            // The last packet leaves an empty queue behind.
            let (kept, marked) = ([ecn], [Ecn::Ce, Ecn::Ce, Ecn::Ect0]);
            assert_eq!(left, if on_arrival { &kept[..] } else { &marked }, "{ecn:?}, {setting}");
        }
    }

    #[test]
    fn thresholds_that_cannot_be_compared_are_refused() {
        let why = |settings: &[(&str, &str)]| port(settings).err().map(|error| error.to_string()).unwrap_or_default();
        let mixed = why(&[("minth", "5p"), ("maxth", "200KB")]);
        assert!(mixed.contains("minth (5p) and maxth (200KB) have different units"), "{mixed}");
        assert!(why(&[("minth", "10%"), ("maxth", "200KB"), ("limit", "100p")]).contains("different units"));
        assert_eq!(why(&[("minth", "10%"), ("maxth", "200KB"), ("limit", "1MB")]), "");
        assert!(why(&[("minth", "200KB")]).contains("minth (200KB) must be below maxth (200KB)"));
    }
}
