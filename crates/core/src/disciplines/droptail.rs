//! DropTail: drop arriving packets when the buffer is full.
//!
//! A FIFO with a limit, the baseline of all papers. It drops only when it must, so senders learn of congestion late and
//! the queue stays long.

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::Fifo;
use crate::units::Limit;

crate::params! {
    /// Settings of [`Droptail`].
    pub struct DroptailConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
    }
    presets {
        "paper" "the defaults" {}
    }
    reasons { Overflow }
}

/// First in, first out, with a limit in packets or bytes.
pub struct Droptail<T> {
    fifo: Fifo<T>,
}

impl<T> Droptail<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: DroptailConfig, _link: &LinkInfo) -> Result<Self, BuildError> {
        Ok(Droptail { fifo: Fifo::new(config.limit) })
    }
}

impl<T> Discipline<T> for Droptail<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.fifo.push(packet, cx);
    }

    #[inline(always)]
    fn dequeue(&mut self, _cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.fifo.pop()
    }

    #[inline(always)]
    fn fifo(&mut self) -> Option<&mut Fifo<T>> {
        Some(&mut self.fifo)
    }

    crate::discipline::backlog_of!(fifo);
}
