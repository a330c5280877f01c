//! A discipline driven by hand: the same port that links have, with every call an argument.

use std::cell::RefCell;

use headgate_core::{
    ClassId, Discipline, FlowId, Limit, LinkInfo, Packet, Port as CorePort, Qdisc, Rate, Rng, Sink, Time, Why, registry,
};
use headgate_measure::reasons;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::packet::{ECN, PacketRow, row};
use crate::prototype::{Failure, Prototype};

/// What was done to a packet: `dropped` or `marked`, and the reason.
type SignalRow = (&'static str, &'static str, PacketRow);

/// Keeps what a call drops and marks.
#[derive(Default)]
struct Told(Vec<SignalRow>);

impl Sink<u64> for Told {
    fn dropped(&mut self, packet: Packet<u64>, why: Why, _: Time) {
        self.0.push(("dropped", why.name(), row(&packet, packet.handle)));
    }
    fn marked(&mut self, packet: &Packet<u64>, why: Why, _: Time) {
        self.0.push(("marked", why.name(), row(packet, packet.handle)));
    }
}

/// A port with one discipline. It stays in the thread that made it.
#[pyclass(unsendable, module = "headgate._core")]
pub struct Port {
    port: RefCell<CorePort<u64>>,
    /// The reasons for drops and marks that its discipline can give.
    reasons: Vec<Why>,
    failure: Failure,
}

impl Port {
    /// What a call gave, unless a discipline written in Python failed in it.
    fn done<R>(&self, py: Python<'_>, given: R) -> PyResult<R> {
        self.failure.take(py).map_or(Ok(given), Err)
    }
}

#[pymethods]
impl Port {
    /// A port at a link of `rate` whose queue has room for `limit`; with `prototype`, which makes it, the discipline is one
    /// written in Python. Random streams are those of a dumbbell's bottleneck.
    #[new]
    #[pyo3(signature = (qdisc, rate, limit, *, mean_packet, seed, prototype=None))]
    fn new(
        py: Python<'_>,
        qdisc: &str,
        rate: &str,
        limit: &str,
        mean_packet: u32,
        seed: u64,
        prototype: Option<Py<PyAny>>,
    ) -> PyResult<Port> {
        let refused = |what: &str, why: &dyn std::fmt::Display| PyValueError::new_err(format!("{what}: {why}"));
        let expected = |what: &'static str, found: String| {
            move |kind: &str| refused(what, &format!("expected {kind}, found {found:?}"))
        };
        let rate = Rate::parse(rate).map_err(expected("rate", rate.to_string()))?;
        let limit = Limit::parse(limit).map_err(expected("limit", limit.to_string()))?;
        let place = LinkInfo::new(rate, mean_packet, Rng::named(seed, "key forward").bits());
        let failure = Failure::default();
        let (discipline, reasons): (Box<dyn Discipline<u64>>, Vec<Why>) = match prototype {
            Some(maker) => (Box::new(Prototype::new(&maker, limit, &place, &failure)), reasons()),
            None => {
                let qdisc: Qdisc = qdisc.parse().map_err(|why: String| PyValueError::new_err(why))?;
                let settings = qdisc.settings_with(limit);
                let settings: Vec<(&str, &str)> =
                    settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let built = registry::find(&qdisc.name).and_then(|entry| {
                    Ok((registry::boxed(&qdisc.name, &settings, &place)?, entry.reasons(&settings)?))
                });
                built.map_err(|error| refused(&qdisc.name, &error))?
            }
        };
        let port = RefCell::new(CorePort::new(discipline, Rng::named(seed, "port forward")));
        failure.take(py).map_or(Ok(Port { port, reasons, failure }), Err)
    }

    /// Gives a packet to the discipline; what it dropped and marked.
    fn enqueue(&self, py: Python<'_>, now: u64, packet: (u64, u64, u32, u16, String)) -> PyResult<Vec<SignalRow>> {
        let (number, flow, bytes, class, ecn) = packet;
        let known = || ECN.map(|(word, _)| word).join(", ");
        let field = ECN.iter().find(|(word, _)| *word == ecn);
        let (_, ecn) =
            *field.ok_or_else(|| PyValueError::new_err(format!("ecn: expected one of {}, found {ecn:?}", known())))?;
        let packet = Packet { class: ClassId(class), ecn, ..Packet::new(FlowId(flow), bytes, number) };
        let mut told = Told::default();
        self.port.borrow_mut().enqueue(packet, Time::from_nanos(now), &mut told);
        self.done(py, told.0)
    }

    /// Asks for the next packet; it, if there is one, and what was dropped and marked.
    fn dequeue(&self, py: Python<'_>, now: u64) -> PyResult<(Option<PacketRow>, Vec<SignalRow>)> {
        let mut told = Told::default();
        let packet = self.port.borrow_mut().dequeue(Time::from_nanos(now), &mut told);
        self.done(py, (packet.map(|packet| row(&packet, packet.handle)), told.0))
    }

    /// Packets and bytes that wait.
    #[getter]
    fn backlog(&self) -> (u32, u64) {
        let held = self.port.borrow().backlog();
        (held.packets, held.bytes)
    }

    /// When a packet may leave, in nanoseconds; None while nothing waits.
    fn ready_at(&self, py: Python<'_>, now: u64) -> PyResult<Option<u64>> {
        let ready = self.port.borrow().ready_at(Time::from_nanos(now)).map(Time::as_nanos);
        self.done(py, ready)
    }

    /// Every count by name.
    #[getter]
    fn counts(&self) -> Vec<(String, u64)> {
        let port = self.port.borrow();
        let counts = port.totals().counts();
        let whole = [
            ("arrived", counts.arrived),
            ("sent", counts.sent),
            ("sent_bytes", counts.sent_bytes),
            ("dropped", counts.dropped()),
            ("marked", counts.marked()),
        ];
        let drops = self.reasons.iter().map(|why| (format!("dropped_{why}"), counts.drops(*why)));
        let marks = self.reasons.iter().map(|why| (format!("marked_{why}"), counts.marks(*why)));
        whole.map(|(name, count)| (name.to_string(), count)).into_iter().chain(drops).chain(marks).collect()
    }

    /// The discipline's gauges, and with `flow` those that it keeps of it.
    #[pyo3(signature = (flow=None))]
    fn gauges(&self, py: Python<'_>, flow: Option<u64>) -> PyResult<Vec<(&'static str, f64)>> {
        let mut gauges = Vec::new();
        let port = self.port.borrow();
        match flow {
            None => port.discipline().observe(&mut |name, value| gauges.push((name, value))),
            Some(flow) => port.discipline().observe_flow(FlowId(flow), &mut |name, value| gauges.push((name, value))),
        }
        self.done(py, gauges)
    }

    /// The time in ms below which this share of the packets that were sent had waited; None if none was.
    fn waited_ms(&self, share: f64) -> Option<f64> {
        self.port.borrow().totals().sojourn().quantile(share).map(|nanos| nanos / 1e6)
    }
}
