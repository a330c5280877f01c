//! The way of packets from the loop into the kernel's queue and back.

use std::cell::RefCell;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use etherparse::Ipv4HeaderSlice;

use super::mirror::{Mirror, MirrorState, OfferedPacket};
use crate::error::{LiveError, LiveResult};
use crate::forward::settings::FrameDiscipline;
use crate::io::KernelQueue;

/// The kernel's queue of one direction.
pub(crate) struct KernelPath {
    queue: KernelQueue,
    state: Rc<RefCell<MirrorState>>,
    /// Number of the direction.
    pub(crate) direction: u16,
    /// The first error, which ends the run.
    failed: Option<LiveError>,
}

impl KernelPath {
    /// The path through `queue` in direction number `direction`.
    pub(crate) fn new(queue: KernelQueue, direction: u16) -> KernelPath {
        KernelPath { queue, state: Rc::default(), direction, failed: None }
    }

    /// The discipline of the direction's queue.
    pub(crate) fn discipline(&self) -> FrameDiscipline {
        Box::new(Mirror(Rc::clone(&self.state)))
    }

    /// Gives a packet to the kernel. The discipline gets it next.
    pub(crate) fn offer(&mut self, bytes: &[u8]) {
        let number = self.state.borrow().next_number();
        let kept = self.queue.offer(bytes, number).unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            false
        });
        self.state.borrow_mut().offered = Some(OfferedPacket { connection: connection(bytes), kept });
    }

    /// Takes a packet that the kernel has released, which departs at the discipline's next call. False if there is none.
    ///
    /// # Errors
    /// The error of this call, or of an earlier [`offer`](KernelPath::offer).
    pub(crate) fn take_release(&mut self) -> LiveResult<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let released = self.queue.next_release()?;
        self.state.borrow_mut().released = released;
        Ok(released.is_some())
    }

    /// Released packets that had been counted as dropped: the qdisc reordered a connection.
    pub(crate) fn strays(&self) -> u64 {
        self.state.borrow().strays
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.queue.fd()
    }
}

/// Protocol and ports of a packet. All packets of a direction have the same addresses.
fn connection(bytes: &[u8]) -> u64 {
    let Ok(header) = Ipv4HeaderSlice::from_slice(bytes) else { return 0 };
    let ports = bytes.get(header.slice().len()..).and_then(|payload| payload.first_chunk::<4>());
    u64::from(header.protocol().0) << 32 | u64::from(ports.map_or(0, |ports| u32::from_be_bytes(*ports)))
}
