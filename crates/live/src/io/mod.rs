//! Frame input and output: the ends of a link, the slots that hold frames, and the parser.
//!
//! This is the only module with `unsafe`, and the only one that reads clocks.

pub(crate) mod anomalies;
pub(crate) mod bridge;
pub(crate) mod capture;
pub(crate) mod claim;
pub mod clock;
pub mod ecn;
mod end;
pub(crate) mod filter;
pub(crate) mod frame;
mod header_cache;
pub(crate) mod headers;
pub mod inspect;
pub mod interface;
pub mod interface_counters;
mod keeper;
mod kernel_queue;
mod link_row;
mod long_frames;
mod mapping;
mod nat;
mod netlink;
pub mod offload;
mod packet;
pub(crate) mod pool;
mod qdisc_drops;
pub mod recorded_end;
pub(crate) mod request;
mod ring;
mod sys;
pub(crate) mod tcp;
mod tun;
pub(crate) mod watched_interfaces;
mod xdp;

pub use end::{BATCH, KernelCounts, LinkEnd, ReceiveResult};
pub use keeper::CommandUser;
pub(crate) use keeper::{end_command, start_with_keeper};
pub(crate) use kernel_queue::{KernelQueue, ReleasedPacket};
pub(crate) use nat::Nat;
pub use packet::{PacketReceiver, PacketSender, PacketSocket, SendMethod};
pub use sys::{offloads, switch_offloads_off};
pub(crate) use sys::{packet_socket, set_realtime_priority};
pub use tun::Tun;
