//! A discipline written in Python behind the same trait as all others.
//!
//! The adaptor holds the packets; Python sees numbered descriptions. Python can therefore neither lose nor invent a
//! packet: it can only send, drop or mark a queued one. The first exception ends the discipline. It is kept for the
//! caller, and nothing leaves afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aqm::{Backlog, Cx, Discipline, Ecn, Limit, LinkInfo, Packet, Qdisc, Rng, Time, Why};
use headgate_measure::{declare_reason, reasons};
use headgate_sim::ExternalDisciplines;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::packet::packet_row;

/// The first exception of a discipline, kept for the caller.
#[derive(Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Keeps `error` if it is the first.
    fn keep_first(&self, error: PyErr) {
        locked(&self.0).get_or_insert(error);
    }

    /// Whether there was an exception.
    pub fn any(&self) -> bool {
        locked(&self.0).is_some()
    }

    /// A copy of the exception, which stays for later callers.
    pub fn take(&self, py: Python<'_>) -> Option<PyErr> {
        locked(&self.0).as_ref().map(|error| error.clone_ref(py))
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State of one call into Python: random stream, queued packets, requested actions.
struct Call {
    rng: Rng,
    /// ECN field of the queued packets, by number.
    waiting: BTreeMap<u64, Ecn>,
    /// Requested actions in order: packet, reason, and whether it is a drop.
    requests: Vec<(u64, Why, bool)>,
}

/// The actions that a call of a discipline written in Python may take.
#[pyclass(frozen, module = "headgate._core")]
pub struct PacketActions(Mutex<Call>);

#[pymethods]
impl PacketActions {
    /// A uniform number in [0, 1) from the port's random stream.
    fn random(&self) -> f64 {
        locked(&self.0).rng.unit()
    }

    /// Drops the packet of this number.
    fn drop(&self, number: u64, why: &str) -> PyResult<()> {
        let why = reason(why)?;
        let mut call = locked(&self.0);
        call.waiting.remove(&number).ok_or_else(|| not_queued(number))?;
        call.requests.push((number, why, true));
        Ok(())
    }

    /// Marks the packet if `ecn` is true and it can carry a mark, else drops it. Returns whether it stays.
    fn signal(&self, number: u64, why: &str, ecn: bool) -> PyResult<bool> {
        let named = reason(why)?;
        let mut call = locked(&self.0);
        let field = call.waiting.get_mut(&number).ok_or_else(|| not_queued(number))?;
        if !(ecn && field.is_capable()) {
            std::mem::drop(call);
            return self.drop(number, why).map(|()| false);
        }
        *field = Ecn::Ce;
        call.requests.push((number, named, false));
        Ok(true)
    }
}

fn reason(word: &str) -> PyResult<Why> {
    let names = || reasons().iter().map(|why| why.name()).collect::<Vec<_>>().join(", ");
    let unknown = || PyValueError::new_err(format!("no reason is called {word:?} (known: {})", names()));
    reasons().into_iter().find(|why| why.name() == word).ok_or_else(unknown)
}

fn not_queued(number: u64) -> PyErr {
    PyValueError::new_err(format!("packet {number} does not wait here: it was sent or dropped before"))
}

/// A discipline written in Python.
pub struct Prototype<T> {
    /// The Python object; none if making it failed.
    object: Option<Py<PyAny>>,
    actions: Option<Py<PacketActions>>,
    held: BTreeMap<u64, Packet<T>>,
    bytes: u64,
    next: u64,
    gauges: Vec<&'static str>,
    failure: Failure,
}

impl<T> Prototype<T> {
    /// Makes the discipline by `maker(limit_packets, limit_bytes, rate_bps, mean_packet, key)`. An exception is kept in
    /// `failure`.
    pub fn new(maker: &Py<PyAny>, limit: Limit, link_info: &LinkInfo<'_>, failure: &Failure) -> Prototype<T> {
        let made = Python::attach(|py| {
            let object = maker.call1(py, link_arguments(limit, link_info))?;
            let call = Call { rng: Rng::new(0), waiting: BTreeMap::new(), requests: Vec::new() };
            let gauges: Vec<String> = object.call_method0(py, "gauge_names")?.extract(py)?;
            let declared: Vec<(String, String)> = object.call_method0(py, "reasons")?.extract(py)?;
            declared.into_iter().for_each(|(name, about)| declare_reason(name, about));
            Ok((object, Py::new(py, PacketActions(Mutex::new(call)))?, gauges))
        });
        let (object, actions, gauges) = match made {
            Ok((object, actions, gauges)) => (Some(object), Some(actions), gauges),
            Err(error) => {
                failure.keep_first(error);
                (None, None, Vec::new())
            }
        };
        let gauges = gauges.into_iter().map(interned).collect();
        Prototype { object, actions, held: BTreeMap::new(), bytes: 0, next: 0, gauges, failure: failure.clone() }
    }

    /// Calls a method of the Python object and performs the drops and marks that it requests. Returns the method's
    /// result, or `None` after a failure.
    fn call(
        &mut self,
        cx: &mut Cx<'_, T>,
        arguments: impl FnOnce(Python<'_>, &Py<PyAny>, &Py<PacketActions>) -> PyResult<Option<u64>>,
    ) -> Option<u64> {
        if self.failure.any() {
            return None;
        }
        let (Some(object), Some(actions)) = (&self.object, &self.actions) else { return None };
        let (returned, requests) = Python::attach(|py| {
            let of = actions.get();
            std::mem::swap(&mut locked(&of.0).rng, cx.rng);
            let returned = arguments(py, object, actions);
            let mut call = locked(&of.0);
            std::mem::swap(&mut call.rng, cx.rng);
            (returned, std::mem::take(&mut call.requests))
        });
        for (number, why, dropped) in requests {
            self.act(cx, number, why, dropped);
        }
        returned.unwrap_or_else(|error| {
            self.failure.keep_first(error);
            None
        })
    }

    /// Drops or marks a queued packet.
    fn act(&mut self, cx: &mut Cx<'_, T>, number: u64, why: Why, dropped: bool) {
        let Some(packet) = self.held.remove(&number) else { return };
        self.bytes -= u64::from(packet.bytes);
        if dropped {
            cx.drop(packet, why);
        } else if let Some(packet) = cx.signal(packet, why, true) {
            self.bytes += u64::from(packet.bytes);
            self.held.insert(number, packet);
        }
    }

    /// Removes and returns packet `number`, which Python has dequeued.
    fn sent(&mut self, number: u64) -> Option<Packet<T>> {
        let packet = self.held.remove(&number);
        match &packet {
            Some(packet) => {
                self.bytes -= u64::from(packet.bytes);
                if let Some(actions) = &self.actions {
                    locked(&actions.get().0).waiting.remove(&number);
                }
            }
            None => self.failure.keep_first(not_queued(number)),
        }
        packet
    }

    fn fail(&self, why: &str) {
        self.failure.keep_first(PyRuntimeError::new_err(why.to_string()));
    }

    /// Time in nanoseconds at which the discipline may send next; `None` if it gives no time.
    fn call_ready_at(&self, now: Time) -> PyResult<Option<u64>> {
        let Some(object) = &self.object else { return Ok(None) };
        Python::attach(|py| object.call_method1(py, "ready_ns", (now.as_nanos(),))?.extract(py))
    }
}

impl<T> Discipline<T> for Prototype<T> {
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let (number, now) = (self.next, cx.now.as_nanos());
        self.next += 1;
        let packet_row = packet_row(&packet, number);
        if let Some(actions) = &self.actions {
            locked(&actions.get().0).waiting.insert(number, packet.ecn);
        }
        self.bytes += u64::from(packet.bytes);
        self.held.insert(number, packet);
        self.call(cx, |py, object, actions| {
            object.call_method1(py, "on_enqueue", (packet_row, now, actions)).map(|_| None)
        });
    }

    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let now = cx.now;
        let number = self.call(cx, |py, object, actions| {
            let returned = object.call_method1(py, "on_dequeue", (now.as_nanos(), actions))?;
            returned.extract(py).map_err(|_| PyTypeError::new_err("dequeue gives a packet or None"))
        });
        if let Some(number) = number {
            return self.sent(number);
        }
        // Without a packet and without a later time, the link would call the discipline again at once, without end.
        if !self.held.is_empty() && !self.failure.any() {
            match self.call_ready_at(now) {
                Ok(Some(ready)) if ready > now.as_nanos() => {}
                Ok(_) => self.fail(&format!(
                    "dequeue gave nothing, though it holds {} (the first is packet {}): a discipline that holds packets \
                     back says with ready_at when the next may leave, and one that gives a packet up drops it",
                    if self.held.len() == 1 { "1 packet".into() } else { format!("{} packets", self.held.len()) },
                    self.held.keys().next().copied().unwrap_or_default()
                )),
                Err(error) => self.failure.keep_first(error),
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.held.len() as u32, bytes: self.bytes }
    }

    fn ready_at(&self, now: Time) -> Option<Time> {
        if self.held.is_empty() || self.failure.any() {
            return None;
        }
        match self.call_ready_at(now) {
            Ok(ready) => Some(ready.map_or(now, Time::from_nanos)),
            Err(error) => {
                self.failure.keep_first(error);
                None
            }
        }
    }

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        let (before, now) = (self.held.len(), cx.now.as_nanos());
        self.call(cx, |py, object, actions| object.call_method1(py, "on_shed", (now, actions)).map(|_| None));
        if before > 0 && self.held.len() >= before && !self.failure.any() {
            self.fail("shed dropped no packet, though some wait");
        }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let Some(object) = &self.object else { return };
        let values: PyResult<Vec<f64>> = Python::attach(|py| object.call_method0(py, "gauge_values")?.extract(py));
        match values {
            Ok(values) if values.len() == self.gauges.len() => {
                self.gauges.iter().zip(values).for_each(|(name, value)| gauge(name, value));
            }
            Ok(_) => self.fail("observe names the same gauges every time"),
            Err(error) => self.failure.keep_first(error),
        }
    }
}

/// The link and its queue as arguments of a maker.
fn link_arguments(limit: Limit, link_info: &LinkInfo<'_>) -> (Option<u32>, Option<u64>, u64, u32, u64) {
    let (packets, bytes) = match limit {
        Limit::Packets(most) => (Some(most), None),
        Limit::Bytes(most) => (None, Some(most)),
    };
    (packets, bytes, link_info.rate.as_bits(), link_info.mean_packet, link_info.key)
}

/// Leaks a gauge's name, since gauges need static names. Each distinct name is leaked once, so memory is bounded by the
/// names in the programs.
fn interned(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = locked(&NAMES);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let kept: &'static str = name.leak();
    names.insert(kept);
    kept
}

/// A discipline written in Python that a scenario names.
pub struct NamedPrototype {
    /// The class's name, which the scenario uses as the discipline's name.
    pub name: String,
    /// The class.
    pub class: Py<PyAny>,
    /// The callable that makes a discipline for a link.
    pub maker: Py<PyAny>,
}

impl NamedPrototype {
    /// The same discipline for another scenario.
    pub fn copied(&self, py: Python<'_>) -> NamedPrototype {
        let NamedPrototype { name, class, maker } = self;
        NamedPrototype { name: name.clone(), class: class.clone_ref(py), maker: maker.clone_ref(py) }
    }
}

/// The disciplines written in Python that a scenario names, during a run.
pub struct Prototypes<'a> {
    /// The disciplines.
    pub known: &'a [NamedPrototype],
    /// The first exception among the disciplines.
    pub failure: Failure,
}

impl ExternalDisciplines for Prototypes<'_> {
    fn boxed<T: Copy + 'static>(
        &self,
        qdisc: &Qdisc,
        limit: Limit,
        link_info: &LinkInfo<'_>,
    ) -> Option<Box<dyn Discipline<T>>> {
        let found = self.known.iter().find(|prototyped| prototyped.name == qdisc.name)?;
        Some(Box::new(Prototype::new(&found.maker, limit, link_info, &self.failure)))
    }

    /// Makes the discipline once and asks Python for the memory that it took. Zero if that fails: the run will say why.
    fn table_bytes(&self, qdisc: &Qdisc, limit: Limit, link_info: &LinkInfo<'_>) -> Option<usize> {
        let found = self.known.iter().find(|prototyped| prototyped.name == qdisc.name)?;
        let asked = Python::attach(|py| {
            found.maker.call_method1(py, "table_bytes", link_arguments(limit, link_info))?.extract(py)
        });
        Some(asked.unwrap_or(0))
    }
}
