//! What the forwarder costs, beside a bare loop over the same ends; then how true the link's rate is, and how late packets
//! leave. It needs root, for namespaces of its own.

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
