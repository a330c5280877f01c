//! TCP against the RFCs, packet by packet. Every expectation is derived by hand from the RFC named beside it, and the
//! comments show the derivation. `8 1r 9c` means: segment 8 for the first time, 1 retransmitted, 9 with CWR.

mod abc;
mod accurate;
mod any_path;
mod bbr;
mod cubic;
mod ecn;
mod hystart;
mod linux;
mod linux_growth;

mod pacing;
mod pairs;
mod prr;
mod rack;
mod receiving;
mod recovery;
mod sack;
mod scalable;
mod supply;
mod tahoe;
mod timeouts;
mod undo;
mod vegas;
mod windows;
