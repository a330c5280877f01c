//! The packets in the compared queue, followed from event to event.

use std::collections::VecDeque;

use aqm::{Span, Time};
use headgate_measure::{EventBatch, EventRow, PacketEvent, RunObserver};

/// The newest events that wait for the next snapshot: more than a page can draw.
const MOST_EVENTS: usize = 20_000;

/// A packet in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueuedPacket {
    pub number: u64,
    pub flow: u32,
    pub bytes: u32,
    pub arrived: Time,
}

/// The queue of one link direction, and the events that the page has not seen yet.
#[derive(Debug)]
pub(crate) struct QueuePicture {
    link: u16,
    /// In order of arrival.
    pub queued: VecDeque<QueuedPacket>,
    pub events: VecDeque<EventRow>,
    /// Events that were not kept.
    pub forgotten: u64,
    /// Whether events are kept.
    pub keeps_events: bool,
    /// Sum of the queueing delays of the packets sent since [`take_delay`](QueuePicture::take_delay), and their number.
    delays: (Span, u64),
}

impl QueuePicture {
    pub fn new(link: u16) -> QueuePicture {
        let (queued, events) = (VecDeque::new(), VecDeque::new());
        QueuePicture { link, queued, events, forgotten: 0, keeps_events: true, delays: (Span::ZERO, 0) }
    }

    /// Mean queueing delay of the packets sent since the last call; `None` if none was sent.
    pub fn take_delay(&mut self) -> Option<Span> {
        let (sum, packets) = std::mem::replace(&mut self.delays, (Span::ZERO, 0));
        sum.as_nanos().checked_div(packets).map(Span::from_nanos)
    }

    /// Events since the last snapshot, kept or not.
    pub fn recorded(&self) -> u64 {
        self.events.len() as u64 + self.forgotten
    }

    fn record(&mut self, row: &EventRow) {
        match row.kind {
            PacketEvent::Arrived => {
                let EventRow { packet: number, flow, bytes, arrived, .. } = *row;
                self.queued.push_back(QueuedPacket { number, flow, bytes, arrived });
            }
            PacketEvent::Sent => {
                self.remove(row);
                self.delays = (self.delays.0 + (row.time - row.arrived), self.delays.1 + 1);
            }
            PacketEvent::Dropped(_) => self.remove(row),
            PacketEvent::Marked(_) | PacketEvent::Lost => {}
        }
        if self.keeps_events {
            self.events.push_back(*row);
        }
        if !self.keeps_events || self.events.len() > MOST_EVENTS {
            self.events.pop_front();
            self.forgotten += 1;
        }
    }

    /// Removes the packet of an event.
    fn remove(&mut self, row: &EventRow) {
        if let Ok(place) = self.queued.binary_search_by_key(&row.packet, |packet| packet.number) {
            self.queued.remove(place);
        }
    }
}

impl RunObserver for QueuePicture {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }

    fn events(&mut self, batch: &EventBatch) {
        for row in &batch.rows {
            if row.link == self.link {
                self.record(row);
            }
        }
    }
}
