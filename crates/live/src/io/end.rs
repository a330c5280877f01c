//! One end of a link: where frames come from and go to.

use std::io;
use std::os::fd::BorrowedFd;

use super::frame::Layer;
use super::pool::{FrameId, Pool};

/// Frames that are handled at a time. Their vector has room for as many, so it never grows.
pub const BATCH: usize = 64;

/// What an [`Io`] found when it was asked for frames, besides those it put into the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Frames that no slot was free for. They were read and are gone.
    pub no_slot: u64,
    /// Frames longer than the end's MTU allows, or than a slot. They were read and are gone.
    pub oversize: u64,
    /// There may be more than were taken.
    pub more: bool,
}

/// What the kernel says of an [`Io`], where it says anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Frames that the kernel had no room for, so that they were never seen here.
    pub dropped: u64,
    /// Frames whose transport checksum was left to a card, and was filled in here.
    pub no_checksum: u64,
}

/// One end of a link: frames can be taken from it and given to it. It never waits.
pub trait Io {
    /// Takes frames that have come, until `batch` has [`BATCH`] of them, into slots of `pool`. An error means that no more will come.
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<Received>;

    /// Sends `batch`, and says how many of it were refused. Those are gone. An error means that none will ever be sent.
    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize>;

    /// What becomes readable when frames come; `None` if nothing does.
    fn fd(&self) -> Option<BorrowedFd<'_>>;

    /// What its frames begin with.
    fn layer(&self) -> Layer;

    /// The longest IP packet it takes, in bytes.
    fn mtu(&self) -> usize;

    /// What the kernel counted since the beginning.
    fn kernel(&mut self) -> KernelCounts {
        KernelCounts::default()
    }
}
