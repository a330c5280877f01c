//! TCP against what the RFCs say, packet by packet. Every expectation was derived by hand from the RFC named beside it;
//! the derivation stands in the comments. `8 1r 9c` reads: segment 8 for the first time, 1 again, 9 with CWR.

#[path = "../common/mod.rs"]
mod common;

mod abc;
mod any_path;
mod bbr;
mod cubic;
mod ecn;
mod hystart;
mod pacing;
mod prr;
mod rack;
mod receiving;
mod recovery;
mod sack;
mod scalable;
mod supply;
mod tahoe;
mod timeouts;
mod windows;
