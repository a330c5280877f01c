//! Events of single packets at a queue. Drops and marks come with the discipline's gauges.

use aqm::{Backlog, Discipline, FlowId, Packet, Time, Why};
use headgate_scenario::Events;

use crate::core_columns::BacklogColumns;
use crate::has_flow::HasFlow;
use crate::packet_numbers::PacketNumbers;
use crate::table::{Column, FieldColumns, LINK, NoColumns, Unit, rows};

/// An event of a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// It arrived.
    Arrived,
    /// It left the queue to be sent.
    Sent,
    /// It was dropped.
    Dropped(Why),
    /// It was marked.
    Marked(Why),
    /// It was sent, and the emulated medium will lose it.
    Lost,
}

rows! {
    /// One event at a queue with a compared discipline.
    pub struct EventRow derives Clone Copy Debug PartialEq Eq {
        /// The link.
        link: u16 as LINK,
        /// When the event happened.
        time: Time as Unit::Nanoseconds,
        /// The event: `arrived`, `sent`, `dropped`, `marked` or `lost` (by the emulated medium).
        kind: PacketEvent as EventColumns,
        /// The packet's number: that of its arrival at this direction of the link, from 0.
        packet: u64 as Unit::None,
        /// The packet's flow.
        flow: u32 as Unit::None,
        /// The packet's size.
        bytes: u32 as Unit::Bytes,
        /// Packets in the queue just after the event.
        queue: Backlog as BacklogColumns,
        /// When the packet arrived at the queue.
        arrived: Time as NoColumns,
    }
}

/// A gauge of a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaugeColumn {
    /// Its name.
    pub name: &'static str,
    /// Whether it describes the packet's flow instead of the queue.
    pub of_flow: bool,
}

/// Events in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventBatch {
    /// The events.
    pub rows: Vec<EventRow>,
    /// The gauges recorded with each event; empty unless the scenario records decisions.
    pub gauges: Vec<GaugeColumn>,
    /// Gauge values just after each event, event by event; NaN where the discipline gave none or was not involved.
    pub values: Vec<f64>,
}

/// The events of one queue in order, until the observer takes them.
#[derive(Clone, Debug)]
pub struct EventLog {
    link: u16,
    wanted: Events,
    backlog: Backlog,
    numbers: PacketNumbers,
    batch: EventBatch,
}

impl EventLog {
    /// The log of `link`, if `wanted` asks for one. `discipline` is the link's.
    pub fn new<T>(link: u16, wanted: Events, discipline: &impl Discipline<T>) -> Option<EventLog> {
        let mut batch = EventBatch::default();
        if wanted == Events::Decisions {
            discipline.observe(&mut |name, _| batch.gauges.push(GaugeColumn { name, of_flow: false }));
            discipline.observe_flow(FlowId(0), &mut |name, _| batch.gauges.push(GaugeColumn { name, of_flow: true }));
        }
        let (backlog, numbers) = (Backlog::default(), PacketNumbers::default());
        (wanted != Events::Off).then_some(EventLog { link, wanted, backlog, numbers, batch })
    }

    /// Records an event of a packet. Events of packets that arrived before the log began are left out.
    #[inline(never)]
    pub fn record<T: HasFlow>(&mut self, packet: &Packet<T>, kind: PacketEvent, time: Time) {
        let number = match kind {
            PacketEvent::Arrived => Some(self.numbers.arrive(packet)),
            PacketEvent::Sent => self.numbers.send(packet),
            PacketEvent::Dropped(_) => self.numbers.drop(packet),
            PacketEvent::Marked(_) => self.numbers.of_queued(packet),
            PacketEvent::Lost => self.numbers.of_sent(packet),
        };
        let Some(number) = number else { return };
        let Backlog { packets, bytes } = &mut self.backlog;
        match kind {
            PacketEvent::Arrived => (*packets, *bytes) = (*packets + 1, *bytes + u64::from(packet.bytes)),
            PacketEvent::Sent | PacketEvent::Dropped(_) => {
                (*packets, *bytes) = (*packets - 1, *bytes - u64::from(packet.bytes));
            }
            PacketEvent::Marked(_) | PacketEvent::Lost => {}
        }
        let routine = matches!(kind, PacketEvent::Arrived | PacketEvent::Sent);
        if self.wanted == Events::All || !routine {
            self.batch.rows.push(EventRow {
                time,
                link: self.link,
                kind,
                packet: number,
                flow: T::flow(packet),
                bytes: packet.bytes,
                queue: self.backlog,
                arrived: packet.arrived,
            });
        }
    }

    /// Records a packet that the link loses after the discipline has sent it: gauges do not apply.
    pub fn record_link_loss<T: HasFlow>(&mut self, packet: &Packet<T>, time: Time) {
        self.record(packet, PacketEvent::Lost, time);
        let gauges = self.batch.gauges.len();
        self.batch.values.resize(self.batch.values.len() + gauges, f64::NAN);
    }

    /// Whether drops or marks still lack their gauges. Call after every call of the discipline.
    #[inline]
    pub fn lacks_gauges(&self) -> bool {
        self.batch.values.len() < self.batch.rows.len() * self.batch.gauges.len()
    }

    /// Fills in the gauges of the latest drops and marks. `name` maps a flow number to the discipline's flow.
    pub fn record_gauges<T>(&mut self, discipline: &impl Discipline<T>, name: impl Fn(u32) -> FlowId) {
        let EventBatch { rows, gauges, values } = &mut self.batch;
        for row in &rows[values.len() / gauges.len()..] {
            let start = values.len();
            values.resize(start + gauges.len(), f64::NAN);
            let mut write = |name, of_flow, value| {
                let gauge_column = GaugeColumn { name, of_flow };
                if let Some(column) = gauges.iter().position(|gauge| *gauge == gauge_column) {
                    values[start + column] = value;
                }
            };
            discipline.observe(&mut |name, value| write(name, false, value));
            discipline.observe_flow(name(row.flow), &mut |name, value| write(name, true, value));
        }
    }

    /// Moves the recorded events to the end of `batch`.
    pub fn take(&mut self, batch: &mut EventBatch) {
        let mine = &mut self.batch;
        batch.gauges.clone_from(&mine.gauges);
        batch.rows.append(&mut mine.rows);
        batch.values.append(&mut mine.values);
    }
}

impl EventBatch {
    /// Removes all events.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
    }

    /// Sorts events of several queues by time; equal times keep their order.
    pub fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|index| self.rows[*index].time);
        let width = self.gauges.len();
        self.values =
            order.iter().flat_map(|index| &self.values[index * width..(index + 1) * width]).copied().collect();
        self.rows = order.iter().map(|index| self.rows[*index]).collect();
    }
}

struct EventColumns;

impl FieldColumns<PacketEvent> for EventColumns {
    fn columns<R: 'static>(&self, _: &str, meaning: &str, get: fn(&R) -> &PacketEvent) -> Vec<Column<R>> {
        let reason = "Reason of a drop or mark; `link_loss` for a packet that the emulated medium loses.";
        vec![
            Column::new("event", Unit::None, meaning, move |row| event_and_reason(*get(row)).0),
            Column::new("reason", Unit::None, reason, move |row| event_and_reason(*get(row)).1),
        ]
    }
}

fn event_and_reason(what: PacketEvent) -> (&'static str, Option<&'static str>) {
    match what {
        PacketEvent::Arrived => ("arrived", None),
        PacketEvent::Sent => ("sent", None),
        PacketEvent::Dropped(why) => ("dropped", Some(why.name())),
        PacketEvent::Marked(why) => ("marked", Some(why.name())),
        PacketEvent::Lost => ("lost", Some("link_loss")),
    }
}
