//! Ends of a link: where a lane receives frames and delivers them.

use std::io;
use std::os::fd::BorrowedFd;

use super::frame::Layer;
use super::pool::{FrameId, Pool};

/// Frames per batch. Vectors of batches are allocated with this capacity and never grow.
pub const BATCH: usize = 64;

/// Result of [`LinkEnd::recv`], besides the frames in the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveResult {
    /// Frames discarded because no slot was free.
    pub no_slot: u64,
    /// Frames discarded because they exceed the MTU or a slot, or cannot be segmented.
    pub oversize: u64,
    /// Whether more frames may be waiting.
    pub more: bool,
}

/// The kernel's counts at a [`LinkEnd`], zero if it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Frames that the kernel dropped for lack of space.
    pub dropped: u64,
    /// Frames received without a transport checksum (left to a card by checksum offload), which this end filled in.
    pub no_checksum: u64,
    /// Super-packets received, which this end segmented.
    pub super_packets: u64,
}

/// One end of a link. No method blocks.
pub trait LinkEnd {
    /// Receives frames into slots of `pool` until `batch` has [`BATCH`] frames. After an error no more arrive.
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult>;

    /// Sends `batch` and returns the number of frames refused, which are lost. After an error none can be sent.
    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize>;

    /// A descriptor that becomes readable when frames arrive, if there is one.
    fn fd(&self) -> Option<BorrowedFd<'_>>;

    /// First header of its frames.
    fn layer(&self) -> Layer;

    /// Longest IP packet it accepts, in bytes.
    fn mtu(&self) -> usize;

    /// The kernel's counts since the start.
    fn kernel(&mut self) -> KernelCounts {
        KernelCounts::default()
    }
}
