//! The tests of the simulator in one program: each program of tests compiles every discipline again.

mod common;
mod instructions;
#[path = "network/main.rs"]
mod network;
#[path = "ns2/main.rs"]
mod ns2;
#[path = "packetdrill/main.rs"]
mod packetdrill;
#[path = "../../core/tests/support/mod.rs"]
mod support;
mod tcp_closed_forms;
#[path = "tcp_script/main.rs"]
mod tcp_script;
#[path = "tfrc/main.rs"]
mod tfrc;
#[path = "transport/main.rs"]
mod transport;
