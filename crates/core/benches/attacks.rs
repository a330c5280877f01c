//! The effect of attacks on each discipline: cost and memory under invented and colliding flows, and the throughput of
//! honest flows under senders that evade detection.
//!
//! Ten honest flows demand 5 % of the link each, half of it together. The attacker sends ten times the link's rate.
//! Columns: CPU nanoseconds per packet, the maximum memory, the honest flows' share of their demand, and the attacker's
//! share of the sent packets.

use std::alloc::System;
use std::fmt;

use aqm::registry::{self, DisciplineEntry, DisciplineVisitor, ENTRIES};
use aqm::{Cx, Discipline, FlowId, LinkInfo, Packet, Rate, Rng, Span, Time};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const LIMIT: &str = "200p";
const BYTES: u32 = 1000;
const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(100_000_000), BYTES, 0x5eed);
/// Flows 0 to 9.
const HONEST: u64 = 10;

/// The attacker's traffic.
#[derive(Clone, Copy, PartialEq)]
enum Attack {
    /// One flow, for comparison.
    Flood,
    /// Every packet is of a new flow.
    Invented,
    /// A thousand flows whose identifiers have the same low 32 bits. They share one bucket of any table that takes the
    /// remainder by a power of two without a keyed hash.
    Colliding,
    /// One flow, on for 150 ms and silent for 600 ms. It has drops in at most two of RED-PD's last five lists.
    Bursts,
    /// One flow that sends four packets at once, and the next four when all have left. Its state is freed before a
    /// discipline can use it.
    Clearing,
}

const ATTACKS: [(Attack, u64); 5] = [
    (Attack::Flood, 2_000_000),
    (Attack::Invented, 10_000_000),
    (Attack::Colliding, 2_000_000),
    (Attack::Bursts, 2_000_000),
    (Attack::Clearing, 2_000_000),
];

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Attack::Flood => "one flow",
            Attack::Invented => "invented flows",
            Attack::Colliding => "colliding flows",
            Attack::Bursts => "bursts",
            Attack::Clearing => "clearing",
        })
    }
}

/// One discipline under one attack.
struct AttackRun {
    attack: Attack,
    /// Number of packets that the attacker sends.
    packets: u64,
    region: Region<'static, System>,
}

/// The result.
struct AttackResult {
    nanos: f64,
    bytes: usize,
    /// Sent share of the honest flows' demand.
    honest: f64,
    /// The attacker's share of the sent packets.
    attacker: f64,
}

/// The attacker: time and flow of its next packet.
struct Attacker {
    attack: Attack,
    sent: u64,
    next: Time,
    /// Its queued packets.
    queued: u32,
    names: Rng,
}

impl Attacker {
    fn flow(&mut self) -> FlowId {
        FlowId(match self.attack {
            Attack::Invented => self.names.bits(),
            Attack::Colliding => 0x0bad + (u64::from(self.names.below(1000)) << 32),
            _ => HONEST,
        })
    }

    /// Schedules the next packet: on average ten times the link's rate while on.
    fn schedule(&mut self) {
        let gap = Span::from_nanos(LINK.rate.transmit(BYTES).as_nanos() / 10);
        self.next += gap;
        if self.attack == Attack::Bursts && (self.next - Time::ZERO).as_nanos() % 750_000_000 > 150_000_000 {
            self.next += Span::from_millis(600);
        }
    }

    /// Whether it may send without waiting for its packets to leave.
    fn is_ready(&self) -> bool {
        self.attack != Attack::Clearing || self.queued == 0 || !self.sent.is_multiple_of(4)
    }
}

impl DisciplineVisitor<()> for AttackRun {
    type Output = AttackResult;

    fn visit<D: Discipline<()> + 'static>(self, mut discipline: D) -> AttackResult {
        let gap = LINK.rate.transmit(BYTES);
        let (mut rng, mut pace) = (Rng::named(1, "port"), Rng::named(1, "honest"));
        let mut attacker =
            Attacker { attack: self.attack, sent: 0, next: Time::ZERO, queued: 0, names: Rng::named(1, "names") };
        let (mut honest_next, mut free, mut clock) = (Time::ZERO, Time::ZERO, Time::ZERO);
        let (mut asked, mut kept, mut taken, mut bytes, mut calls) = (0_u64, 0_u64, 0_u64, 0, 0_u64);
        let start = cpu_nanos();
        while attacker.sent < self.packets {
            calls += 1;
            let held = attacker.queued;
            // The attacker was waiting for a departure, so it sends now, not at its scheduled time.
            let attack_at = if attacker.is_ready() { attacker.next.max(clock) } else { Time::NEVER };
            let now = free.min(honest_next).min(attack_at);
            clock = now;
            let mut lost = 0_u32;
            let mut sink = AttackerDrops(&mut lost);
            let cx = &mut Cx::new(now, &mut rng, &mut sink);
            if free == now {
                match discipline.dequeue(cx) {
                    Some(packet) if packet.flow.0 < HONEST => kept += 1,
                    Some(_) => {
                        taken += 1;
                        attacker.queued = held - 1;
                    }
                    None => {}
                }
                free += gap;
            } else if honest_next == now {
                asked += 1;
                let flow = FlowId(u64::from(pace.below(HONEST as u32)));
                discipline.enqueue(Packet { arrived: now, ..Packet::new(flow, BYTES, ()) }, cx);
                // Half of the link's rate for all honest flows together.
                honest_next += Span::from_secs_f64(gap.as_secs_f64() * pace.between(0.0, 4.0));
            } else {
                let flow = attacker.flow();
                discipline.enqueue(Packet { arrived: now, ..Packet::new(flow, BYTES, ()) }, cx);
                attacker.queued += 1;
                attacker.sent += 1;
                attacker.next = attacker.next.max(now);
                attacker.schedule();
            }
            attacker.queued -= lost.min(attacker.queued);
            if calls.is_multiple_of(4096) {
                bytes = bytes.max(in_use(&self.region));
            }
        }
        let nanos = (cpu_nanos() - start) / (asked + attacker.sent) as f64;
        let honest = kept as f64 / asked as f64;
        AttackResult { nanos, bytes, honest, attacker: taken as f64 / (taken + kept) as f64 }
    }
}

/// Counts the attacker's drops.
struct AttackerDrops<'a>(&'a mut u32);

impl aqm::Sink<()> for AttackerDrops<'_> {
    fn dropped(&mut self, packet: Packet<()>, _: aqm::Why, _: Time) {
        *self.0 += u32::from(packet.flow.0 >= HONEST);
    }
    fn marked(&mut self, _: &Packet<()>, _: aqm::Why, _: Time) {}
}

/// Bytes allocated since `region` began and not freed.
fn in_use(region: &Region<'_, System>) -> usize {
    let change = region.change();
    change.bytes_allocated.saturating_add_signed(change.bytes_reallocated) - change.bytes_deallocated
}

/// CPU time of this thread on Linux, else wall-clock time.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn cpu_nanos() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let told = stat.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok());
    told.unwrap_or_else(|| START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64() * 1e9)
}

fn besieged(entry: &DisciplineEntry, (attack, packets): (Attack, u64)) -> AttackResult {
    let region = Region::new(ALLOCATOR);
    let siege = AttackRun { attack, packets, region };
    registry::with(entry.name, &[("limit", LIMIT)], &LINK, siege).unwrap_or_else(|error| panic!("{error}"))
}

fn main() {
    // cargo passes `--bench`, and whatever the user wrote after `--`: parts of the names of disciplines.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!("Ten honest flows ask for half of 100 Mbit/s, an attacker sends ten times the link; limit {LIMIT}.");
    println!(
        "honest: of what they ask, what is sent; taken: the attacker's part of what is sent; KB: the most held.\n"
    );
    let heads: String = ATTACKS.iter().map(|(attack, _)| format!(" | {:<27}", attack.to_string())).collect();
    println!("{:12}{heads}", "");
    println!("{:12}{}", "", " |  ns/pkt    KB honest  taken".repeat(ATTACKS.len()));
    for entry in ENTRIES {
        if wanted.is_empty() || wanted.iter().any(|want| entry.name.contains(want.as_str())) {
            let tolls = ATTACKS.map(|attack| besieged(entry, attack));
            let cells = tolls.map(|AttackResult { nanos, bytes, honest, attacker }| {
                format!(" |{nanos:8.1}{:6.0}{:6.1}%{:6.1}%", bytes as f64 / 1e3, 100.0 * honest, 100.0 * attacker)
            });
            println!("{:12}{}", entry.name, cells.concat());
        }
    }
}
