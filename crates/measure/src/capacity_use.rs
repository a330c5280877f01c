//! The use of a link whose rate varies.

/// The amount of data that a link of varying rate sent from its start to a moment, and the amount that it could have sent,
/// in bits x 10^9: what a rate in bit/s carries in nanoseconds is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapacityUse {
    /// The amount sent; a packet in transmission counts in part.
    pub sent: u128,
    /// The amount that could have been sent.
    pub capacity: u128,
}

impl CapacityUse {
    /// The use since `earlier`.
    #[must_use]
    pub fn since(self, earlier: CapacityUse) -> CapacityUse {
        CapacityUse { sent: self.sent - earlier.sent, capacity: self.capacity - earlier.capacity }
    }

    /// The use of two periods together.
    #[must_use]
    pub fn plus(self, other: CapacityUse) -> CapacityUse {
        CapacityUse { sent: self.sent + other.sent, capacity: self.capacity + other.capacity }
    }

    /// The used share of the capacity; `None` without capacity.
    pub(crate) fn share(self) -> Option<f64> {
        (self.capacity > 0).then(|| self.sent as f64 / self.capacity as f64)
    }
}
