//! PRIO: serve classes in strict priority; any discipline inside each.
//!
//! On arrival, the packet passes to the child of its class: class 1 to the first child, class 2 to the second. The last
//! child also takes unclassified packets. On departure, the first child that has a packet sends it, as in tc's prio. A
//! busy child therefore starves all later ones.
//!
//! If the common limit is exceeded, the last child that holds packets drops one, by its own rules.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, Packet};
use crate::params::BuildError;
use crate::parts::Children;
use crate::qdisc::Qdisc;
use crate::reason::Why;
use crate::time::Time;
use crate::units::Limit;

crate::params! {
    /// Settings of [`Prio`].
    pub struct PrioConfig {
        /// Buffer size of all children together. When it is exceeded, the last child that holds packets drops.
        limit: Limit = Limit::Packets(1000);
        /// Disciplines in order of priority, such as `[droptail; fq_codel]`; 1 to 16. A child without a limit of its
        /// own may fill all of `limit`.
        children: Vec<Qdisc> = vec![Qdisc::named("droptail"); 3], also "bands";
    }
    presets {
        "linux" "three bands of plain FIFOs, as tc's prio without parameters (the defaults)" {}
    }
    reasons { Overflow }
    gauges {
        Gauge::new("band_N_packets", "packets", "Packets queued in the child of each band, counted from 1.");
    }
}

/// Children in order of priority.
pub struct Prio<T> {
    limit: Limit,
    children: Children<T>,
}

/// Gauge names must be known at compile time.
macro_rules! bands {
    ($($band:literal)+) => { [$(concat!("band_", $band, "_packets")),+] };
}

const BAND_GAUGES: [&str; 16] = bands!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);

impl<T: 'static> Prio<T> {
    /// Empty children.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] unless there are 1 to 16 children, [`BuildError::Nested`] if one cannot be built.
    pub fn new(config: PrioConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let count = config.children.len();
        if !(1..=BAND_GAUGES.len()).contains(&count) {
            return Err(BuildError::Conflict(format!("children: 1 to {} disciplines, not {count}", BAND_GAUGES.len())));
        }
        let children = Children::new("children", &config.children, config.limit, link)?;
        Ok(Prio { limit: config.limit, children })
    }
}

impl<T> Discipline<T> for Prio<T> {
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        // A packet larger than the limit would make the children drop all others and still not fit.
        if !self.limit.admits(Backlog::default(), packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        self.children.enqueue(self.children.of_class(packet.class), packet, cx);
        while !self.limit.holds(self.children.backlog()) {
            self.shed(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        (0..self.children.len()).find_map(|child| self.children.dequeue(child, cx))
    }

    fn backlog(&self) -> Backlog {
        self.children.backlog()
    }

    fn ready_at(&self, now: Time) -> Option<Time> {
        self.children.ready_at(now)
    }

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        let holds = |child: &usize| self.children.backlog_of(*child).packets > 0;
        if let Some(child) = (0..self.children.len()).rev().find(holds) {
            self.children.shed(child, cx);
        }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        for (child, name) in BAND_GAUGES.iter().enumerate().take(self.children.len()) {
            gauge(name, self.children.backlog_of(child).packets.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{ClassId, FlowId, Port, Rate, Rng, Span};

    fn port(settings: &[(&str, &str)]) -> Port<u32, Prio<u32>> {
        let link = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
        Port::new(Prio::new(PrioConfig::from_settings(settings).unwrap(), &link).unwrap(), Rng::new(1))
    }

    fn offer(port: &mut Port<u32, Prio<u32>>, class: u16, number: u32) {
        let packet = Packet { class: ClassId(class), ..Packet::new(FlowId(class.into()), 1000, number) };
        port.enqueue(packet, Time::ZERO, &mut ());
    }

    fn sent(port: &mut Port<u32, Prio<u32>>, now: Time) -> Vec<u32> {
        core::iter::from_fn(|| port.dequeue(now, &mut ())).map(|packet| packet.handle).collect()
    }

    #[test]
    fn the_first_child_with_a_packet_sends_and_unclassified_packets_are_last() {
        let mut port = port(&[]);
        for (number, class) in [0, 3, 2, 1, 2, 1, 0].into_iter().enumerate() {
            offer(&mut port, class, number as u32);
        }
        assert_eq!(sent(&mut port, Time::ZERO), [3, 5, 2, 4, 0, 1, 6]);
    }

    #[test]
    fn overflow_drops_packets_of_the_last_child() {
        let mut port = port(&[("limit", "3p"), ("children", "[droptail; droptail]")]);
        for (number, class) in [2, 2, 2, 1, 1].into_iter().enumerate() {
            offer(&mut port, class, number as u32);
        }
        assert_eq!(port.totals().counts().drops(Why::Overload), 2);
        // DropTail sheds its head.
        assert_eq!(sent(&mut port, Time::ZERO), [3, 4, 2]);
    }

    #[test]
    fn a_child_that_may_not_send_yet_lets_the_next_one() {
        let mut port = port(&[("children", "[tbf:rate=8kbit/s,burst=1000B; droptail]")]);
        [1, 1, 2].into_iter().enumerate().for_each(|(number, class)| offer(&mut port, class, number as u32));
        assert_eq!(sent(&mut port, Time::ZERO), [0, 2]);
        let ready = Time::ZERO + Span::from_secs(1);
        assert_eq!(port.ready_at(Time::ZERO), Some(ready));
        assert_eq!(sent(&mut port, ready), [1]);
    }

    #[test]
    fn it_takes_1_to_16_children() {
        let link = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
        for children in ["[]".into(), alloc::format!("[droptail{}]", "; droptail".repeat(16))] {
            let config = PrioConfig::from_settings(&[("bands", children.as_str())]).unwrap();
            assert!(matches!(Prio::<()>::new(config, &link), Err(BuildError::Conflict(_))), "{children}");
        }
    }
}
