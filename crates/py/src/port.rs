//! A discipline driven by hand: the port of a link, with time as an argument of every call.

use std::cell::RefCell;

use aqm::{
    ClassId, Discipline, FlowId, Limit, LinkInfo, Packet, Port as CorePort, Qdisc, Rate, Rng, Sink, Time, Why, registry,
};
use headgate_measure::reasons;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::packet::{ECN, PacketRow, packet_row};
use crate::prototype::{Failure, Prototype};

/// A drop or mark: `dropped` or `marked`, the reason, the packet.
type SignalRow = (&'static str, &'static str, PacketRow);

/// The drops and marks of one call.
#[derive(Default)]
struct SignalLog(Vec<SignalRow>);

impl Sink<u64> for SignalLog {
    fn dropped(&mut self, packet: Packet<u64>, why: Why, _: Time) {
        self.0.push(("dropped", why.name(), packet_row(&packet, packet.handle)));
    }
    fn marked(&mut self, packet: &Packet<u64>, why: Why, _: Time) {
        self.0.push(("marked", why.name(), packet_row(packet, packet.handle)));
    }
}

/// A port with one discipline. It stays in its thread.
#[pyclass(unsendable, module = "headgate._core")]
pub struct Port {
    port: RefCell<CorePort<u64>>,
    /// Reasons for drops and marks of the discipline.
    reasons: Vec<Why>,
    failure: Failure,
}

impl Port {
    /// Returns `value`, or the exception of a discipline written in Python.
    fn or_failure<R>(&self, py: Python<'_>, value: R) -> PyResult<R> {
        self.failure.take(py).map_or(Ok(value), Err)
    }
}

#[pymethods]
impl Port {
    /// A port at a link of `rate` with a queue of `limit`. `prototype` makes a discipline written in Python. Random
    /// streams are those of a dumbbell's bottleneck.
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
            move |form: &str| refused(what, &format!("expected {form}, found {found:?}"))
        };
        let rate = Rate::parse(rate).map_err(expected("rate", rate.to_string()))?;
        let limit = Limit::parse(limit).map_err(expected("limit", limit.to_string()))?;
        let link_info = LinkInfo::new(rate, mean_packet, Rng::named(seed, "key forward").bits());
        let failure = Failure::default();
        let (discipline, reasons): (Box<dyn Discipline<u64>>, Vec<Why>) = match prototype {
            Some(maker) => (Box::new(Prototype::new(&maker, limit, &link_info, &failure)), reasons()),
            None => {
                let qdisc: Qdisc = qdisc.parse().map_err(|why: String| PyValueError::new_err(why))?;
                let settings = qdisc.settings_with(limit);
                let settings: Vec<(&str, &str)> =
                    settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let built = registry::find(&qdisc.name).and_then(|entry| {
                    Ok((registry::boxed(&qdisc.name, &settings, &link_info)?, entry.reasons(&settings)?))
                });
                built.map_err(|error| refused(&qdisc.name, &error))?
            }
        };
        let port = RefCell::new(CorePort::new(discipline, Rng::named(seed, "port forward")));
        failure.take(py).map_or(Ok(Port { port, reasons, failure }), Err)
    }

    /// Enqueues a packet. Returns drops and marks.
    fn enqueue(&self, py: Python<'_>, now: u64, packet: (u64, u64, u32, u16, String)) -> PyResult<Vec<SignalRow>> {
        let (number, flow, bytes, class, ecn) = packet;
        let known = || ECN.map(|(word, _)| word).join(", ");
        let field = ECN.iter().find(|(word, _)| *word == ecn);
        let (_, ecn) =
            *field.ok_or_else(|| PyValueError::new_err(format!("ecn: expected one of {}, found {ecn:?}", known())))?;
        let packet = Packet { class: ClassId(class), ecn, ..Packet::new(FlowId(flow), bytes, number) };
        let mut signals = SignalLog::default();
        self.port.borrow_mut().enqueue(packet, Time::from_nanos(now), &mut signals);
        self.or_failure(py, signals.0)
    }

    /// Dequeues the next packet, if any. Returns it with drops and marks.
    fn dequeue(&self, py: Python<'_>, now: u64) -> PyResult<(Option<PacketRow>, Vec<SignalRow>)> {
        let mut signals = SignalLog::default();
        let packet = self.port.borrow_mut().dequeue(Time::from_nanos(now), &mut signals);
        self.or_failure(py, (packet.map(|packet| packet_row(&packet, packet.handle)), signals.0))
    }

    /// Packets and bytes in the queue.
    #[getter]
    fn backlog(&self) -> (u32, u64) {
        let held = self.port.borrow().backlog();
        (held.packets, held.bytes)
    }

    /// Time at which a packet may leave, in nanoseconds; None for an empty queue.
    fn ready_at(&self, py: Python<'_>, now: u64) -> PyResult<Option<u64>> {
        let ready = self.port.borrow().ready_at(Time::from_nanos(now)).map(Time::as_nanos);
        self.or_failure(py, ready)
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

    /// The discipline's gauges, or the gauges of `flow`.
    #[pyo3(signature = (flow=None))]
    fn gauges(&self, py: Python<'_>, flow: Option<u64>) -> PyResult<Vec<(&'static str, f64)>> {
        let mut gauges = Vec::new();
        let port = self.port.borrow();
        match flow {
            None => port.discipline().observe(&mut |name, value| gauges.push((name, value))),
            Some(flow) => port.discipline().observe_flow(FlowId(flow), &mut |name, value| gauges.push((name, value))),
        }
        self.or_failure(py, gauges)
    }

    /// Quantile of the queueing delay of sent packets, in ms; None without one.
    fn waited_ms(&self, share: f64) -> Option<f64> {
        self.port.borrow().totals().queue_delay().quantile(share).map(|nanos| nanos / 1e6)
    }
}
