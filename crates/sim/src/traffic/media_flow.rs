//! The state of a call: its source, the frames that wait, its packets, and its wires.

use std::collections::VecDeque;

use aqm::{Ecn, Rng, Span, Time};
use headgate_link::{DrawnDelays, Wire, WireProperties};
use headgate_scenario::UdpGroup;
use headgate_traffic::{FlowSource, WriteAmount, WriteStart};

use super::{ecn_codepoint, first_link, first_reverse_link, stop_time};
use crate::media::{Frames, PacketHistory, RateBounds, RateController, new_controller};
use crate::send_clock::SendClock;

/// If the window has kept the sender from sending for this long, everything in flight is given up (SCReAM's
/// `isOkToTransmit`).
pub const STALLED: Span = Span::from_millis(500);

/// Settings shared by the calls of a group.
pub struct MediaFlowSettings {
    /// Data in a full packet, and the headers of any packet, in bytes.
    pub payload: u32,
    pub header: u32,
    pub ecn: Ecn,
    pub report_interval: Span,
    pub stop: Time,
    pub clock: SendClock,
    /// The first links of the forward and the reverse route.
    pub link: u16,
    pub reverse_link: u16,
    pub data_from_sender: WireProperties,
    pub data_to_receiver: WireProperties,
    pub report_from_receiver: WireProperties,
    pub report_to_sender: WireProperties,
    pub drawn_delays: DrawnDelays,
}

pub struct MediaFlow {
    /// Index into the UDP groups.
    pub group: u16,
    pub controller: Box<dyn RateController>,
    pub source: FlowSource,
    pub rng: Rng,
    pub start: Time,
    /// The next frame: when the camera takes it, and its bytes.
    pub frame_at: Time,
    pub frame_bytes: u64,
    /// Data of frames not sent, oldest first, and all of it with headers.
    pub unsent_frames: VecDeque<u64>,
    pub unsent_bytes: u64,
    pub history: PacketHistory,
    pub frames: Frames,
    pub rtt: Option<Span>,
    /// When the pacer releases the next packet, and when the last was sent.
    pub next_send: Time,
    pub last_sent: Time,
    /// When the receiver makes its next report; [`Time::NEVER`] while nothing arrives. And when it made the last.
    pub report_due: Time,
    pub reported_at: Option<Time>,
    pub reports_sent: u64,
    /// The earliest scheduled timer events; later deadlines are scheduled when they fire.
    pub sender_timer: Time,
    pub receiver_timer: Time,
    /// The wires between the hosts and their routers.
    pub data_from_sender: Wire,
    pub data_to_receiver: Wire,
    pub report_from_receiver: Wire,
    pub report_to_sender: Wire,
}

impl MediaFlowSettings {
    pub fn new(group: &UdpGroup, clock: SendClock, drawn_delays: DrawnDelays) -> MediaFlowSettings {
        MediaFlowSettings {
            payload: group.packet - group.header,
            header: group.header,
            ecn: ecn_codepoint(group.ecn, group.cc.traits().ect1),
            report_interval: group.report_interval,
            stop: stop_time(group.stop),
            clock,
            link: first_link(&group.route),
            reverse_link: first_reverse_link(&group.route),
            data_from_sender: WireProperties::new(&group.sender, group.packet),
            data_to_receiver: WireProperties::new(&group.receiver, group.packet),
            report_from_receiver: WireProperties::new(&group.receiver, group.packet),
            report_to_sender: WireProperties::new(&group.sender, group.packet),
            drawn_delays,
        }
    }
}

impl MediaFlow {
    pub fn new(group: &UdpGroup, (index, number): (u16, u32), start: Time, rng: Rng) -> MediaFlow {
        let [least, most] = [group.least(), group.most()].map(|rate| rate.as_bits() as f64 / 8.0);
        let l4s = group.ecn && group.cc.traits().ect1;
        MediaFlow {
            group: index,
            controller: new_controller(group.cc, RateBounds { least, most }, l4s),
            source: group.source.start(number),
            rng,
            start,
            frame_at: start,
            frame_bytes: 0,
            unsent_frames: VecDeque::new(),
            unsent_bytes: 0,
            history: PacketHistory::default(),
            frames: Frames::default(),
            rtt: None,
            next_send: start,
            last_sent: start,
            report_due: Time::NEVER,
            reported_at: None,
            reports_sent: 0,
            sender_timer: Time::NEVER,
            receiver_timer: Time::NEVER,
            data_from_sender: Wire::default(),
            data_to_receiver: Wire::default(),
            report_from_receiver: Wire::default(),
            report_to_sender: Wire::default(),
        }
    }

    /// Asks the encoder for the controller's rate, which counts headers.
    pub fn request_rate(&mut self, settings: &MediaFlowSettings, now: Time) {
        let data = f64::from(settings.payload) / f64::from(settings.payload + settings.header);
        self.source.follow(self.controller.target() * data, now - self.start);
    }

    /// Draws the next frame.
    pub fn draw_frame(&mut self) {
        match self.source.next(&mut self.rng) {
            Some(write) => {
                let (WriteStart::AfterStart(gap) | WriteStart::AfterDelivery(gap)) = write.after;
                self.frame_at += gap;
                self.frame_bytes = if let WriteAmount::Bytes(bytes) = write.data { bytes } else { 0 };
            }
            None => self.frame_at = Time::NEVER,
        }
    }

    /// Whether the window has room for a packet of `bytes`.
    pub fn fits_window(&self, bytes: u32) -> bool {
        let in_flight = self.history.in_flight();
        in_flight == 0 || self.controller.window().is_none_or(|window| in_flight + u64::from(bytes) <= window)
    }

    /// Bytes of the next packet, data and whole; `None` if no data waits.
    pub fn next_packet(&self, settings: &MediaFlowSettings) -> Option<(u32, u32)> {
        let data = (*self.unsent_frames.front()?).min(settings.payload.into()) as u32;
        Some((data, data + settings.header))
    }

    /// When the sender acts next.
    pub fn due(&self, settings: &MediaFlowSettings) -> Time {
        let Some((_, bytes)) = self.next_packet(settings) else { return self.frame_at };
        let send = if self.fits_window(bytes) { self.next_send } else { self.last_sent + STALLED };
        self.frame_at.min(send)
    }

    /// Removes the data of a packet from the oldest frame.
    pub fn take(&mut self, data: u32, bytes: u32) {
        self.unsent_bytes -= u64::from(bytes);
        if let Some(frame) = self.unsent_frames.front_mut() {
            *frame -= u64::from(data);
            if *frame == 0 {
                self.unsent_frames.pop_front();
            }
        }
    }
}
