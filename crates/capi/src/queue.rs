//! The queue in a handle.

use core::ffi::c_void;
use std::collections::BTreeMap;
use std::ffi::CString;

use aqm::parts::keyed;
use aqm::{
    ClassId, Discipline, Ecn, FlowId, Limit, LinkInfo, Packet, Port, Qdisc, Rate, Rng, Sink, Time, Why, registry,
};

use crate::types::{aqm_link, aqm_on_packet, aqm_packet};

type Held = *mut c_void;

pub(crate) struct Queue {
    pub port: Port<Held, Box<dyn Discipline<Held>>>,
    pub now: Time,
    pub host: Host,
    key: u64,
}

/// Gives drops and marks to the program's callbacks.
#[derive(Default)]
pub(crate) struct Host {
    pub on_drop: Callback,
    pub on_mark: Callback,
    /// Reasons as C's strings, made when a reason is first told.
    names: BTreeMap<&'static str, CString>,
}

#[derive(Clone, Copy)]
pub(crate) struct Callback {
    pub function: aqm_on_packet,
    pub context: *mut c_void,
}

impl Default for Callback {
    fn default() -> Self {
        Callback { function: None, context: core::ptr::null_mut() }
    }
}

impl Host {
    pub fn tell(&mut self, to: Callback, packet: &aqm_packet, reason: &'static str, now: Time) {
        let Some(function) = to.function else { return };
        let name =
            self.names.entry(reason).or_insert_with(|| CString::new(reason).expect("a reason has no zero bytes"));
        // SAFETY: the program gave a function of this type with its context. The packet and the name outlive the call.
        unsafe { function(to.context, packet, name.as_ptr(), now.as_nanos()) };
    }
}

impl Sink<Held> for Host {
    fn dropped(&mut self, packet: Packet<Held>, why: Why, now: Time) {
        self.tell(self.on_drop, &described(&packet), why.name(), now);
    }
    fn marked(&mut self, packet: &Packet<Held>, why: Why, now: Time) {
        self.tell(self.on_mark, &described(packet), why.name(), now);
    }
}

impl Queue {
    /// The queue that `text` describes, such as `faba:limit=780p`; an error in words.
    pub fn new(text: &str, link: &aqm_link) -> Result<Queue, String> {
        let qdisc: Qdisc = text.parse()?;
        let settings = qdisc.settings_with(Limit::Packets(DEFAULT_LIMIT));
        let pairs: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        // Two streams of the seed: one for hash keys, one for the discipline's draws.
        let key = Rng::named(link.seed, "key").bits();
        let info = LinkInfo::new(Rate::from_bits(link.rate), link.mean_packet, key);
        let discipline = registry::boxed(&qdisc.name, &pairs, &info).map_err(|error| error.to_string())?;
        let port = Port::new(discipline, Rng::named(link.seed, "queue"));
        Ok(Queue { port, now: Time::ZERO, host: Host::default(), key })
    }

    /// A keyed hash of the bytes that identify a flow, eight at a time.
    pub fn flow(&self, bytes: &[u8]) -> u64 {
        bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            keyed(self.key ^ hash, FlowId(u64::from_le_bytes(word)))
        })
    }
}

/// The limit of a discipline that has none of its own, in packets: that of Linux's `pfifo` on most interfaces.
const DEFAULT_LIMIT: u32 = 1000;

pub(crate) fn stored(packet: &aqm_packet) -> Packet<Held> {
    Packet {
        class: ClassId(packet.traffic_class),
        ecn: Ecn::from_bits(packet.ecn),
        ..Packet::new(FlowId(packet.flow), packet.bytes, packet.user)
    }
}

pub(crate) fn described(packet: &Packet<Held>) -> aqm_packet {
    aqm_packet {
        flow: packet.flow.0,
        user: packet.handle,
        bytes: packet.bytes,
        traffic_class: packet.class.0,
        ecn: packet.ecn.bits(),
    }
}
