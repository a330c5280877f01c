//! Disciplines nested in a discipline, one per class, with a common limit.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::hash::keyed;
use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, ClassId, FlowId, Packet};
use crate::params::BuildError;
use crate::qdisc::Qdisc;
use crate::registry;
use crate::time::Time;
use crate::units::Limit;

/// Nested disciplines and their total backlog. Each call compares the child's backlog before and after it, so that the
/// child's drops are subtracted too.
pub struct Children<T> {
    all: Vec<Box<dyn Discipline<T>>>,
    held: Backlog,
}

impl<T: 'static> Children<T> {
    /// Builds `qdiscs`, the value of `parameter`. Each child has its own hash key, and `limit` if it sets no limit
    /// itself.
    ///
    /// # Errors
    /// [`BuildError::Nested`] for the first child that cannot be built, [`BuildError::Memory`].
    pub fn new(
        parameter: &'static str,
        qdiscs: &[Qdisc],
        limit: Limit,
        link: &LinkInfo,
    ) -> Result<Children<T>, BuildError> {
        let mut all = link.tables.reserved(qdiscs.len())?;
        for (index, qdisc) in qdiscs.iter().enumerate() {
            let link = LinkInfo { key: keyed(link.key, FlowId(index as u64)), ..*link };
            let settings = qdisc.settings_with(limit);
            let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let nested = |error| BuildError::Nested { parameter, qdisc: qdisc.to_string(), error: Box::new(error) };
            all.push(registry::boxed_child(&qdisc.name, &settings, &link).map_err(nested)?);
        }
        Ok(Children { all, held: Backlog::default() })
    }
}

impl<T> Children<T> {
    /// The number of children.
    #[inline]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no children.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The child for a class: the first for class 1, the second for class 2, the last for class 0 and all others.
    #[inline]
    pub fn of_class(&self, class: ClassId) -> usize {
        (usize::from(class.0).wrapping_sub(1)).min(self.all.len() - 1)
    }

    /// Passes `packet` to a child.
    pub fn enqueue(&mut self, child: usize, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.with(child, |child| child.enqueue(packet, cx));
    }

    /// Takes a child's next packet. A call on an empty child marks the start of its idle period.
    pub fn dequeue(&mut self, child: usize, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.with(child, |child| child.dequeue(cx))
    }

    /// Makes a child drop one packet.
    pub fn shed(&mut self, child: usize, cx: &mut Cx<'_, T>) {
        self.with(child, |child| child.shed(cx));
    }

    /// The backlog of a child.
    #[inline]
    pub fn backlog_of(&self, child: usize) -> Backlog {
        self.all[child].backlog()
    }

    /// The backlog of all children.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.held
    }

    /// The earliest time at which a child has a packet ready.
    pub fn ready_at(&self, now: Time) -> Option<Time> {
        self.all.iter().filter_map(|child| child.ready_at(now)).min()
    }

    /// A child, for reading.
    pub fn child(&self, child: usize) -> &dyn Discipline<T> {
        &*self.all[child]
    }

    fn with<R>(&mut self, child: usize, call: impl FnOnce(&mut dyn Discipline<T>) -> R) -> R {
        let child = &mut *self.all[child];
        let before = child.backlog();
        let result = call(child);
        let after = child.backlog();
        // Wrapping: the difference may be negative.
        self.held.packets = self.held.packets.wrapping_add(after.packets.wrapping_sub(before.packets));
        self.held.bytes = self.held.bytes.wrapping_add(after.bytes.wrapping_sub(before.bytes));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rate, Rng};

    fn children(qdiscs: &str) -> Result<Children<()>, BuildError> {
        let qdiscs = <Vec<Qdisc> as crate::params::ParameterValue>::read(qdiscs).unwrap();
        Children::new("children", &qdiscs, Limit::Packets(3), &LinkInfo::new(Rate::from_bits(8_000_000), 1000, 1))
    }

    #[test]
    fn a_class_goes_to_the_child_of_its_number_and_all_other_packets_to_the_last() {
        let three = children("[droptail; droptail; droptail]").unwrap();
        assert_eq!([1, 2, 3, 4, 0, 65_535].map(|class| three.of_class(ClassId(class))), [0, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn the_sum_equals_the_backlog_of_all_children() {
        let mut two = children("[droptail; droptail:limit=1p]").unwrap();
        let mut rng = Rng::new(1);
        let mut sink = ();
        let mut cx = Cx::new(Time::ZERO, &mut rng, &mut sink);
        for _ in 0..5 {
            (0..2).for_each(|child| two.enqueue(child, Packet::new(FlowId(1), 100, ()), &mut cx));
        }
        assert_eq!(two.backlog(), Backlog { packets: 4, bytes: 400 });
        two.shed(0, &mut cx);
        assert!(two.dequeue(1, &mut cx).is_some() && two.dequeue(1, &mut cx).is_none());
        assert_eq!((two.backlog().packets, two.backlog_of(0).packets), (2, 2));
    }

    #[test]
    fn an_error_names_the_child_and_its_parameter() {
        let error = children("[droptail; red:minth=9p,maxth=3p]").err().unwrap();
        assert!(error.to_string().starts_with("in `children`, \"red:minth=9p,maxth=3p\": minth"), "{error}");
    }
}
