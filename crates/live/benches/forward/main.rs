//! The forwarder's CPU time per packet, relative to a bare loop over the same ends; then the accuracy of the link's
//! rate and the lateness of packets. Needs root to create namespaces.

mod pacing;
#[path = "../../tests/support/mod.rs"]
mod support;
mod throughput;

use support::namespace::in_namespace;

fn main() {
    let done = in_namespace(|| {
        throughput::table();
        pacing::table();
    });
    if done.is_none() {
        println!("nothing was measured");
    }
}
