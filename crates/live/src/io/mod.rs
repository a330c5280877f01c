//! Frame input and output: the ends of a link, the slots that hold frames, and the parser.
//!
//! This is the only module with `unsafe`, and the only one that reads clocks.

pub(crate) mod capture;
pub mod clock;
pub mod ecn;
mod end;
pub(crate) mod frame;
pub mod inspect;
pub mod interface;
mod keeper;
pub(crate) mod links;
mod mapping;
mod nat;
mod netlink;
pub(crate) mod oddities;
mod packet;
pub(crate) mod pool;
mod recent;
mod ring;
mod sys;
pub mod tap;
pub(crate) mod tcp;
mod tun;
mod xdp;

pub use end::{BATCH, Io, KernelCounts, Received};
pub use keeper::end;
pub(crate) use keeper::keep;
pub(crate) use nat::Nat;
pub use packet::{PacketSocket, Sending};
pub(crate) use sys::{come_first, explained};
pub use sys::{offloads, switch_offloads_off};
pub use tun::Tun;
