//! Verdicts on flows: responsive and unresponsive senders over a link whose clock the test advances.

use std::cell::RefCell;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use crate::support::{SteppedClock, TestDirection, packet};
use aqm::{Ecn, Span, Time};
use headgate_live::io::{BATCH, LinkEnd, ReceiveResult};
use headgate_live::verdict::Responsiveness;
use headgate_live::{FlowView, Forwarder, FrameId, Layer, Pool};

const BYTES: usize = 1000;
/// Round-trip time of the path: 40 ms, and as much in a full queue.
const ROUND_TRIP: Span = Span::from_millis(80);

/// Sends packets at a rate. A responsive sender halves its rate for losses, once per round trip, and otherwise adds a
/// packet per round trip (RFC 5681, section 3.1, without slow start).
struct TestSender {
    responsive: bool,
    per_second: f64,
    next: Time,
    number: u32,
    /// The next number that its receiver expects.
    expected: u32,
    /// When it learns of losses that occurred.
    loss_known_at: Option<Time>,
    /// When it last reduced its rate.
    reduced_at: Time,
}

impl TestSender {
    fn new(responsive: bool, mbit: f64) -> TestSender {
        let per_second = mbit * 1e6 / 8.0 / BYTES as f64;
        let (next, reduced_at) = (Time::ZERO, Time::ZERO);
        TestSender { responsive, per_second, next, number: 0, expected: 0, loss_known_at: None, reduced_at }
    }

    fn send(&mut self, now: Time) -> Option<u32> {
        if self.responsive && self.loss_known_at.is_some_and(|at| at <= now) {
            self.loss_known_at = None;
            if now - self.reduced_at > ROUND_TRIP {
                self.reduced_at = now;
                self.per_second = (self.per_second / 2.0).max(10.0);
            }
        }
        if self.next > now {
            return None;
        }
        let gap = 1.0 / self.per_second;
        if self.responsive {
            self.per_second += gap / ROUND_TRIP.as_secs_f64() / ROUND_TRIP.as_secs_f64();
        }
        self.next += Span::from_secs_f64(gap);
        self.number += 1;
        Some(self.number - 1)
    }

    fn receive(&mut self, number: u32, now: Time) {
        if number > self.expected && self.loss_known_at.is_none() {
            self.loss_known_at = Some(now + Span::from_millis(60));
        }
        self.expected = number + 1;
    }
}

/// The end of all senders: sender `n` has UDP port 5000 + `n`.
#[derive(Clone)]
struct FlowsEnd {
    clock: SteppedClock,
    senders: Rc<RefCell<Vec<TestSender>>>,
    sends: bool,
}

impl LinkEnd for FlowsEnd {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        let now = self.clock.now();
        let mut senders = self.senders.borrow_mut();
        for (port, sender) in (5000..).zip(senders.iter_mut()).filter(|_| self.sends) {
            while batch.len() < BATCH
                && let Some(number) = sender.send(now)
            {
                let frame = pool.take().expect("there are more slots than packets that wait");
                pool.slot_mut(&frame)[..BYTES].copy_from_slice(&packet(port, BYTES, Ecn::NotEct, number));
                pool.set_len(&frame, BYTES);
                batch.push(frame);
            }
        }
        Ok(ReceiveResult::default())
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        let now = self.clock.now();
        for frame in batch {
            let bytes = pool.frame(frame);
            let port = u16::from_be_bytes([bytes[20], bytes[21]]);
            let number = u32::from_be_bytes(bytes[28..32].try_into().unwrap());
            self.senders.borrow_mut()[usize::from(port - 5000)].receive(number, now);
        }
        Ok(0)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn layer(&self) -> Layer {
        Layer::Ip
    }

    fn mtu(&self) -> usize {
        1500
    }
}

/// The verdicts on `senders`, in their order, after so many seconds on 10 Mbit/s.
fn found(qdisc: &str, senders: Vec<TestSender>, seconds: u64) -> Vec<FlowView> {
    let direction = TestDirection::new(10, 1, 50, qdisc);
    let clock = SteppedClock::of(Span::from_micros(500));
    let a = FlowsEnd { clock: clock.clone(), senders: Rc::new(RefCell::new(senders)), sends: true };
    let b = FlowsEnd { sends: false, ..a.clone() };
    let lanes = direction.lanes(Layer::Ip);
    let mut forwarder = Forwarder::new(a, b, lanes, clock.clone());
    let shared = forwarder.shared_view();
    let end = Time::ZERO + Span::from_secs(seconds);
    while clock.now() < end {
        forwarder.turn(end).unwrap();
    }
    let mut flows = shared.latest().lanes[0].top.clone();
    flows.sort_by_key(|flow| flow.header.unwrap().source_port);
    flows
}

fn verdicts(flows: &[FlowView]) -> Vec<Responsiveness> {
    flows.iter().map(|flow| flow.verdict.responsiveness).collect()
}

fn explanations(flows: &[FlowView]) -> String {
    flows.iter().map(|flow| format!("{:?}: {}\n", flow.verdict.responsiveness, flow.verdict)).collect()
}

/// Nine responsive senders, one unresponsive at five times its fair share, and one with little data.
fn mixed() -> Vec<TestSender> {
    let mut senders: Vec<TestSender> = (0..9).map(|n| TestSender::new(true, 0.2 + 0.05 * f64::from(n))).collect();
    senders.push(TestSender::new(false, 5.0));
    senders.push(TestSender::new(false, 0.3));
    senders
}

#[test]
fn unresponsive_senders_are_identified_and_slow_ones_are_judged_friendly() {
    for qdisc in ["droptail", "red"] {
        let flows = found(qdisc, mixed(), 15);
        let (responsive, others) = flows.split_at(9);
        assert!(
            responsive.iter().all(|flow| flow.verdict.responsiveness != Responsiveness::Unresponsive),
            "{qdisc}\n{}",
            explanations(&flows)
        );
        assert!(
            responsive.iter().any(|flow| flow.verdict.responsiveness == Responsiveness::Responsive),
            "{qdisc}\n{}",
            explanations(&flows)
        );
        assert_eq!(
            verdicts(others),
            [Responsiveness::Unresponsive, Responsiveness::Friendly],
            "{qdisc}\n{}",
            explanations(&flows)
        );
        // The explanation has the numbers: 5 Mbit/s, and its multiple of the fair share.
        let evidence = others[0].verdict.to_string();
        assert!(
            evidence.starts_with("sends 5.0 Mbit/s, ")
                && evidence.contains(" times its fair share, did not reduce its rate")
        );
        assert!(others[0].verdict.arrival_rate / others[0].verdict.fair_rate.unwrap() > 3.0, "{evidence}");
        // A friendly flow too: its rate, its share or a TCP's rate, and that no reaction was measured.
        let evidence = others[1].verdict.to_string();
        assert!(
            evidence.starts_with("sends 0.30 Mbit/s, ")
                && (evidence.contains(" times its fair share, which counts as fair up to 1.25 times; ")
                    || evidence.contains(" of a TCP flow with a round-trip time of 40 ms; "))
                && evidence.contains("; no reduction of its rate was measured after ")
                && evidence.ends_with(" s"),
            "{evidence}"
        );
    }
}

#[test]
fn a_sender_that_halves_its_rate_is_responsive_when_alone() {
    let flows = found("droptail", vec![TestSender::new(true, 9.0)], 15);
    assert_eq!(verdicts(&flows), [Responsiveness::Responsive], "{}", explanations(&flows));
    assert!(
        flows[0].verdict.to_string().contains(" % less after many drops or marks than after few: "),
        "{}",
        explanations(&flows)
    );
}

#[test]
fn a_constant_rate_above_the_links_rate_is_unresponsive_when_alone() {
    let flows = found("droptail", vec![TestSender::new(false, 14.0)], 12);
    assert_eq!(verdicts(&flows), [Responsiveness::Unresponsive], "{}", explanations(&flows));
}

#[test]
fn too_few_drops_or_too_little_time_give_no_verdict() {
    let flows = found("droptail", vec![TestSender::new(false, 5.0)], 12);
    assert_eq!(verdicts(&flows), [Responsiveness::Unknown]);
    assert_eq!(flows[0].verdict.to_string(), "no drops or marks in 10 s, too few for a verdict");
    let flows = found("droptail", vec![TestSender::new(false, 50.0)], 1);
    assert_eq!(verdicts(&flows), [Responsiveness::Unknown]);
    assert!(flows[0].verdict.to_string().ends_with("too short for a verdict"), "{}", explanations(&flows));
}

#[test]
fn a_flow_that_a_discipline_limits_is_monitored() {
    for qdisc in ["red_pd", "breathe"] {
        let flows = found(qdisc, mixed(), 15);
        assert_eq!(flows[9].verdict.responsiveness, Responsiveness::Monitored, "{qdisc}\n{}", explanations(&flows));
        assert!(
            flows[9].verdict.to_string().ends_with("; it does not reduce its rate"),
            "{qdisc}\n{}",
            explanations(&flows)
        );
        assert_ne!(flows[10].verdict.responsiveness, Responsiveness::Unresponsive, "{qdisc}\n{}", explanations(&flows));
    }
}
