//! scratch
use headgate_scenario::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&a[1]).unwrap();
    let mut ch = Changes::default();
    ch.qdiscs = a[2].split(';').map(String::from).collect();
    ch.set = a[3..].to_vec();
    let s = Scenario::read(&text, &a[1], &ch).unwrap_or_else(|e| panic!("{e}"));
    for q in &s.qdiscs {
        #[expect(clippy::disallowed_methods, reason = "measures")]
        let t = std::time::Instant::now();
        let o = headgate_sim::run(&s, q, 1, &mut ()).unwrap();
        let d = t.elapsed().as_secs_f64();
        let tcp: f64 = o.flows.iter().filter(|f| f.cwnd_mean.is_some()).map(|f| f.goodput_bps).sum();
        let udp: f64 = o.flows.iter().filter(|f| f.cwnd_mean.is_none()).map(|f| f.goodput_bps).sum();
        let to: u64 = o.flows.iter().map(|f| f.timeouts).sum();
        let rx: u64 = o.flows.iter().map(|f| f.retransmits).sum();
        println!("{q:20} tcp {:.3} udp {:.3} util {:.4} q {:.1} p50 {:.2}ms drops {} to {to} rx {rx} ns/pkt {:.1} ev/pkt {:.2} {:.1} ns/ev", tcp/1e6, udp/1e6, o.forward.utilisation, o.forward.queue_packets_mean, o.forward.delay.quantile(0.5).unwrap_or(0.0)/1e6, o.forward.counts.dropped(), d*1e9/o.packets as f64, o.events as f64/o.packets as f64, d*1e9/o.events as f64);
    }
}
