//! Random Exponential Marking (REM): a price that rises with the queue and the arrival rate gives the drop
//! probability.
//!
//! REM separates the measure of congestion from the queue length. The measure is a price. It rises while packets arrive
//! faster than the link sends them or while the queue is longer than `bstar`. In equilibrium the arrival rate equals the
//! link's rate and the queue has the length `bstar`, whatever the price that the load needs.
//!
//! Every `tupdate`, the price p becomes max(0, p + gamma (alpha (b - bstar) + x - c)). b is the queue length, x the
//! number of packets accepted since the last update, and c the number that the link can send in this time. On arrival, a
//! packet that does not fit is dropped. Any other packet is dropped or marked with probability 1 - phi^-p. Over several
//! links these probabilities multiply so that the sender sees the sum of the prices. No timer is needed: the next arrival
//! or departure makes the updates that are due.
//!
//! Source: S. Athuraliya, S. Low, V. Li, Q. Yin, "REM: active queue management", IEEE Network 15(3), 2001. Deviations
//! are listed in docs/disciplines/rem.md.
//!
//! | paper | here |
//! | --- | --- |
//! | p_l(t), m_l(t) | [`Rem::price`], [`Rem::probability`] |
//! | x_l(t), c_l(t) | [`Rem::input`], the link's rate in mean packets per `tupdate` |
//! | gamma, alpha_l, phi, b* | `gamma`, `alpha`, `phi`, `bstar` |

use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::{BuildError, Bytes};
use crate::parts::{Fifo, PolledTimer};
use crate::reason::Why;
use crate::time::{Span, Time};
use crate::units::{Level, Limit};

crate::params! {
    /// Settings of [`Rem`].
    pub struct RemConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Change of the price per update for each packet of mismatch. `auto`: 0.016 over the packets that the link can
        /// send in `tupdate`.
        gamma: Option<f64> = None, in 0.0..=1000.0, also "gamma_";
        /// Weight of the queue's distance from `bstar`, against the mismatch of rates. A larger weight keeps the queue
        /// closer to `bstar`, a smaller one uses more of the link.
        alpha: f64 = 0.1, in 0.0..=1000.0;
        /// Base of the probability 1 - phi^-price.
        phi: f64 = 1.001, in (Bound::Excluded(1.0), Bound::Included(1e6)), also "phi_";
        /// Target queue length b*. With a target in bytes, REM measures queue and arrivals in bytes over the mean size.
        bstar: Level = Level::Packets(20.0), also "b*" "pbo_";
        /// Time between two updates of the price.
        tupdate: Span = Span::from_millis(2), in Span::from_micros(1).., also "pupdtime_";
        /// Weight of a new arrival rate in the average that the price takes. 1: no average.
        inw: f64 = 1.0, in (Bound::Excluded(0.0), Bound::Included(1.0)), also "inw_";
        /// Measures queue and arrivals in bytes over the mean size, and scales the probability with the packet's size.
        byte_mode: bool = false, also "qib_";
        /// Counts dropped packets as arrivals, too. An unresponsive flood then raises the price without bound, and every
        /// packet is dropped.
        count_drops: bool = false;
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true, also "markpkts_";
        /// Size of a typical packet: the link's rate is counted in these. `auto`: the host's value.
        mean_packet: Option<Bytes> = None, in Bytes(1).., also "mean_pktsize_";
    }
    presets {
        "paper" "the REM paper, with gamma in proportion to its 16 packets per update (the defaults)" {}
        "athuraliya2001" "the REM paper's simulations, at 64 Mbit/s" { "gamma" = "0.001", "count_drops" = "on" }
        "ns2" "ns-2 2.35, ns-default.tcl" {
            "gamma" = "0.001", "count_drops" = "on", "ecn" = "off", "mean_packet" = "1000B",
        }
    }
    reasons { Overflow, Early }
    gauges {
        Gauge::new("price", "price", "Price of the link: its measure of congestion.");
        Gauge::new("probability", "probability", "Drop or mark probability, 1 - phi^-price.");
    }
}

/// gamma c of the paper's simulations: 0.001 times 16 packets per update.
const GAMMA_C: f64 = 0.016;

/// A FIFO that charges a price at its entrance.
pub struct Rem<T> {
    config: RemConfig,
    fifo: Fifo<T>,
    /// Size of a typical packet in bytes.
    mean: f64,
    /// `bstar` in packets.
    target: f64,
    /// Measures queue and arrivals in bytes.
    counts_bytes: bool,
    gamma: f64,
    /// c: packets that the link can send in `tupdate`.
    capacity: f64,
    log_phi: f64,
    timer: PolledTimer,
    /// Counted arrivals since the last update, in packets.
    arrived: f64,
    /// x: arrivals per update, averaged with `inw`, in packets.
    pub input: f64,
    /// The price after the last update.
    pub price: f64,
    /// The drop or mark probability of this price.
    pub probability: f64,
}

impl<T> Rem<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: RemConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let own = config.mean_packet.map(|size| u32::try_from(size.0).unwrap_or(u32::MAX));
        let mean_packet = own.unwrap_or(link.mean_packet).max(1);
        let mean = f64::from(mean_packet);
        let capacity = link.rate.as_bits() as f64 / (8.0 * mean) * config.tupdate.as_secs_f64();
        Ok(Rem {
            fifo: Fifo::new(config.limit),
            mean,
            target: config.bstar.packets(config.limit, mean_packet),
            counts_bytes: config.byte_mode || config.bstar.is_of_bytes(),
            gamma: config.gamma.unwrap_or((GAMMA_C / capacity).min(1000.0)),
            capacity,
            log_phi: libm::log(config.phi),
            timer: PolledTimer::new(config.tupdate, Time::ZERO),
            arrived: 0.0,
            input: 0.0,
            price: 0.0,
            probability: 0.0,
            config,
        })
    }

    /// Makes the updates that are due.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        let due = self.timer.advance(now);
        if due > 0 {
            self.update(due);
        }
    }

    /// Makes `due` updates. All arrivals count at the first. The queue has been constant since the last call.
    fn update(&mut self, due: u64) {
        let gamma = self.gamma;
        let RemConfig { alpha, inw, .. } = self.config;
        let held = self.fifo.backlog();
        let queue = if self.counts_bytes { held.bytes as f64 / self.mean } else { f64::from(held.packets) };
        let excess = alpha * (queue - self.target) - self.capacity;
        self.input += inw * (core::mem::take(&mut self.arrived) - self.input);
        self.price = (self.price + gamma * (excess + self.input)).max(0.0);
        if due > 1 {
            self.silent_updates(due - 1, gamma * excess);
        }
        self.probability = -libm::expm1(-self.price * self.log_phi);
    }

    /// Makes `updates` without arrivals, in closed form. The input falls by the factor 1 - inw each time, so the changes
    /// of the price fall too. The price therefore rises before it falls, and only its end can be below 0.
    #[cold]
    fn silent_updates(&mut self, updates: u64, change: f64) {
        let (gamma, inw, updates) = (self.gamma, self.config.inw, updates as f64);
        let kept = libm::pow(1.0 - inw, updates);
        let sum_of_inputs = self.input * (1.0 - inw) * (1.0 - kept) / inw;
        self.price = (self.price + updates * change + gamma * sum_of_inputs).max(0.0);
        self.input *= kept;
    }
}

impl<T> Discipline<T> for Rem<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.catch_up(cx.now);
        let size = if self.counts_bytes { f64::from(packet.bytes) / self.mean } else { 1.0 };
        let mut admitted = None;
        if self.fifo.admits(packet.bytes) {
            let scale = if self.config.byte_mode { size } else { 1.0 };
            let hit = cx.rng.chance(self.probability * scale);
            admitted = cx.signal_if(hit, packet, Why::Early, self.config.ecn);
        } else {
            cx.drop(packet, Why::Overflow);
        }
        if admitted.is_some() || self.config.count_drops {
            self.arrived += size;
        }
        if let Some(packet) = admitted {
            self.fifo.put(packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.catch_up(cx.now);
        self.fifo.pop()
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("price", self.price);
        gauge("probability", self.probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate, Rng};

    /// Sends a packet of 1000 bytes per millisecond, so two per update.
    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    // Powers of two, so that sums are exact.
    const BY_HAND: &[(&str, &str)] = &[("bstar", "4p"), ("gamma", "0.5"), ("alpha", "0.25"), ("phi", "2")];

    fn port(settings: &[(&str, &str)]) -> Port<(), Rem<()>> {
        Port::new(Rem::new(RemConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(3))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn arrive(port: &mut Port<(), Rem<()>>, bytes: u32, packets: u32, ms: u64) {
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(1), bytes, ()) };
        (0..packets).for_each(|_| port.enqueue(packet, at(ms), &mut ()));
    }

    /// The price after all updates up to `ms`, which a dequeue makes.
    fn price(port: &mut Port<(), Rem<()>>, ms: u64) -> f64 {
        port.dequeue(at(ms), &mut ());
        port.discipline().price
    }

    #[test]
    fn the_price_follows_the_paper_update_by_update_and_gives_the_probability() {
        let mut port = port(BY_HAND);
        arrive(&mut port, 1000, 12, 0);
        // By hand, 12 arrived and are queued: (12 - 4)/4 + 12 - 2 = 12, half of it is 6.
        assert_eq!(price(&mut port, 1), 0.0);
        // The dequeue at 1 ms left 11 packets: (11 - 4)/4 + 12 - 2 = 11.75.
        assert_eq!(price(&mut port, 2), 5.875);
        assert!((port.discipline().probability - (1.0 - 2.0_f64.powf(-5.875))).abs() < 1e-15);
        // 10 packets, no arrivals: 6/4 - 2 = -0.5. Then 9 packets: 5/4 - 2.
        assert_eq!([price(&mut port, 4), price(&mut port, 6)], [5.625, 5.25]);
        // An empty queue: -1 - 2 each 2 ms. The price ends at 0.
        while port.dequeue(at(6), &mut ()).is_some() {}
        assert_eq!([8, 10, 12, 14].map(|ms| price(&mut port, ms)), [3.75, 2.25, 0.75, 0.0]);
    }

    #[test]
    fn missed_updates_are_made_up_exactly() {
        // A queue above, at and far below what keeps the price constant, with and without an average of the input.
        for (inw, packets) in [("1", 30), ("1", 12), ("1", 1), ("0.25", 30), ("0.25", 13), ("0.25", 1)] {
            let config = RemConfig::from_settings(&[BY_HAND, &[("inw", inw)]].concat()).unwrap();
            let [mut often, mut rarely] = [0, 1].map(|_| Rem::<()>::new(config.clone(), &LINK).unwrap());
            for rem in [&mut often, &mut rarely] {
                let (mut rng, mut sink) = (Rng::new(3), ());
                let cx = &mut Cx::new(at(1), &mut rng, &mut sink);
                (0..30).for_each(|_| rem.enqueue(Packet::new(FlowId(1), 1000, ()), cx));
                (packets..30).for_each(|_| assert!(rem.dequeue(cx).is_some()));
            }
            (1..=50).for_each(|tick| often.catch_up(at(2 * tick)));
            rarely.catch_up(at(100));
            assert!((often.price - rarely.price).abs() < 1e-9, "{inw}, {packets}: {} {}", often.price, rarely.price);
            assert!((often.input - rarely.input).abs() < 1e-9, "{inw}, {packets}");
        }
    }

    #[test]
    fn in_byte_mode_queue_arrivals_and_probability_count_bytes() {
        let by_bytes = || port(&[BY_HAND, &[("byte_mode", "on")]].concat());
        let mut small = by_bytes();
        arrive(&mut small, 250, 24, 0);
        small.dequeue(at(1), &mut ());
        // 6000 bytes arrived, and 5750 are queued: (5.75 - 4)/4 + 6 - 2, and half of it.
        assert_eq!(price(&mut small, 2), 0.5 * (1.75 / 4.0 + 4.0));
        // A price of (20/4 + 24 - 2)/2 = 13.5 has a probability of nearly 1. A quarter of the size has a quarter of it.
        let mut mixed = by_bytes();
        arrive(&mut mixed, 1000, 24, 0);
        arrive(&mut mixed, 250, 10_000, 2);
        let marks = mixed.totals().counts().marks(Why::Early);
        // 976 fit. Tolerance: five standard deviations of 13.5.
        assert!(marks.abs_diff(976 / 4) < 68, "{marks}");
    }

    #[test]
    fn gamma_is_the_papers_at_its_rate_and_grows_as_the_rate_falls() {
        // 64 Mbit/s send 16 packets of 1000 bytes in 2 ms, and 8 Mbit/s two.
        let gamma = |mbit: u64| {
            let link = LinkInfo::new(Rate::from_bits(mbit * 1_000_000), 1000, 7);
            Rem::<()>::new(RemConfig::default(), &link).unwrap().gamma
        };
        assert!((gamma(64) - 0.001).abs() < 1e-12 && (gamma(8) - 0.008).abs() < 1e-12);
        assert_eq!(gamma(0), 1000.0, "a link that stands still");
    }

    #[test]
    fn against_a_flood_the_probability_drops_the_excess_unless_drops_count() {
        // 3000 packets a second at a link of 1000, dropped because they cannot be marked: two thirds. With drops counted
        // the price rises by 0.008 (-2 + 6 - 2) or more each 2 ms, 8 a second.
        let prices = ["off", "on"].map(|counts| {
            let mut port = port(&[("count_drops", counts)]);
            for third in 0..900_000_u64 {
                let now = Time::ZERO + Span::from_nanos(333_333) * third;
                port.enqueue(Packet::new(FlowId(1), 1000, ()), now, &mut ());
                if third % 3 == 0 {
                    port.dequeue(now, &mut ());
                }
            }
            port.discipline().price
        });
        let probability = 1.0 - 1.001_f64.powf(-prices[0]);
        assert!((probability - 2.0 / 3.0).abs() < 0.05, "{probability}");
        assert!(prices[1] > 8.0 * 250.0, "{prices:?}");
    }

    #[test]
    fn the_names_of_ns2_work_and_a_full_queue_drops_for_overflow() {
        let ns2 = [("gamma_", "0.001"), ("phi_", "1.001"), ("inw_", "1"), ("mean_pktsize_", "1000B"), ("qib_", "off")];
        let more = [("count_drops", "on"), ("pupdtime_", "2ms"), ("pbo_", "20"), ("markpkts_", "off")];
        assert_eq!(
            RemConfig::from_settings(&[&ns2[..], &more].concat()),
            RemConfig::from_settings(&[("preset", "ns2")])
        );
        let mut port = port(&[("limit", "3p")]);
        arrive(&mut port, 1000, 5, 0);
        assert_eq!(port.totals().counts().drops(Why::Overflow), 2);
    }
}
