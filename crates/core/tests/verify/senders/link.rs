//! One queue before a link of 1000 packets a second, and senders of constant demand with random gaps. Measures each
//! sender's rate after a warm-up.

use aqm::{
    Class, ClassId, Counts, Discipline, FlowId, LinkInfo, Packet, Port, Rate, Rng, Sink, Span, Time, Why, registry,
};

/// Sends 1000 bytes per millisecond.
pub const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
/// Packets of 1000 bytes the link sends in a second.
pub const CAPACITY: f64 = 1000.0;
pub const WARMUP: Time = Time::from_nanos(20_000_000_000);
pub const END: Time = Time::from_nanos(100_000_000_000);

/// A flow of `rate` packets of `bytes` a second, with gaps uniform in 0 to 2 times the mean.
#[derive(Clone, Copy)]
pub struct LinkFlow {
    pub rate: f64,
    pub bytes: u32,
}

/// A flow of `rate` packets of 1000 bytes a second.
pub fn flow(rate: f64) -> LinkFlow {
    LinkFlow { rate, bytes: 1000 }
}

/// `flows` flows that demand their fair share when `flows + 1` share the link, and one that demands `times` as much.
pub fn against(times: f64, flows: usize) -> Vec<LinkFlow> {
    let share = CAPACITY / (flows + 1) as f64;
    let mut all = vec![flow(share); flows];
    all.push(flow(times * share));
    all
}

/// Measurements after the warm-up.
pub struct LinkTotals {
    /// Bytes sent a second, by flow.
    pub rates: Vec<f64>,
    /// Greatest number of packets each flow had queued.
    pub queued: Vec<u32>,
    pub counts: Counts,
    gauges: Vec<(&'static str, f64)>,
}

impl LinkTotals {
    /// In packets of 1000 bytes a second.
    pub fn rate(&self, flow: usize) -> f64 {
        self.rates[flow] / 1000.0
    }

    /// The gauge of this name, at the end.
    pub fn gauge(&self, name: &str) -> f64 {
        self.gauges.iter().find(|(gauge, _)| *gauge == name).expect("a gauge of this name").1
    }
}

/// Subtracts dropped packets from each flow's queued packets.
struct QueuedCounts<'a>(&'a mut [u32]);

impl Sink<()> for QueuedCounts<'_> {
    fn dropped(&mut self, packet: Packet<()>, _: Why, _: Time) {
        self.0[packet.flow.0 as usize] -= 1;
    }
    fn marked(&mut self, _: &Packet<()>, _: Why, _: Time) {}
}

/// Runs `flows` through `qdisc`, written like `faba:limit=100p,alpha=1`.
pub fn run(qdisc: &str, flows: &[LinkFlow]) -> LinkTotals {
    run_classed(qdisc, flows, &vec![0; flows.len()], &[])
}

/// Like [`run`], with flow i in class `of[i]` of `classes`.
pub fn run_classed(qdisc: &str, flows: &[LinkFlow], of: &[u16], classes: &[Class]) -> LinkTotals {
    run_observed(qdisc, flows, of, classes, |_, _, _| {})
}

/// The same. After each arrival `observe` gets the discipline, the arrival's flow and the time.
pub fn run_observed(
    qdisc: &str,
    flows: &[LinkFlow],
    of: &[u16],
    classes: &[Class],
    mut observe: impl FnMut(&dyn Discipline<()>, usize, Time),
) -> LinkTotals {
    let link = LinkInfo { classes, ..LINK };
    let (name, settings) = qdisc.split_once(':').unwrap_or((qdisc, ""));
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let mut port = Port::new(registry::boxed::<()>(name, &settings, &link).unwrap(), Rng::named(1, "port"));
    let mut rng = Rng::named(1, "senders");
    let mut next: Vec<Time> = flows.iter().map(|_| Time::ZERO + Span::from_micros(rng.bits() % 10_000)).collect();
    let (mut held, mut queued, mut rates) = (vec![0u32; flows.len()], vec![0; flows.len()], vec![0.0; flows.len()]);
    let (mut free, mut start) = (Time::ZERO, Counts::default());
    loop {
        let sender = (0..flows.len()).min_by_key(|sender| next[*sender]).unwrap();
        let now = next[sender];
        // The link is served first: it sends whenever it is free, until the queue is empty or its time reaches the
        // arrival.
        while free <= now {
            let Some(packet) = port.dequeue(free, &mut QueuedCounts(&mut held)) else { break };
            let sent = packet.flow.0 as usize;
            held[sent] -= 1;
            rates[sent] += if free >= WARMUP { f64::from(packet.bytes) } else { 0.0 };
            free += LINK.rate.transmit(packet.bytes);
        }
        free = free.max(now);
        if now >= END {
            break;
        }
        if start.arrived == 0 && now >= WARMUP {
            start = port.totals().counts().clone();
            queued.fill(0);
        }
        held[sender] += 1;
        // The dropped packet need not be the arriving one.
        let packet = Packet::new(FlowId(sender as u64), flows[sender].bytes, ());
        port.enqueue(Packet { class: ClassId(of[sender]), ..packet }, now, &mut QueuedCounts(&mut held));
        observe(port.discipline(), sender, now);
        queued[sender] = held[sender].max(queued[sender]);
        next[sender] += Span::from_secs_f64(rng.between(0.0, 2.0) / flows[sender].rate);
    }
    rates.iter_mut().for_each(|rate| *rate /= (END - WARMUP).as_secs_f64());
    let mut counts = port.totals().counts().clone();
    start.signals.iter().for_each(|(why, before)| counts.signals.entry(why).drops -= before.drops);
    LinkTotals { rates, queued, counts, gauges: port.gauges() }
}

/// `flows` flows that together demand 1.05 times the link's rate, and one that demands `rate` packets a second.
pub fn crowd(flows: usize, rate: f64) -> Vec<LinkFlow> {
    let mut all = vec![flow(1.05 * CAPACITY / flows as f64); flows];
    all.push(flow(rate));
    all
}
