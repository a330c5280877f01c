//! What a sender does about loss and marks: fast recovery by Reno (RFC 5681), NewReno (RFC 6582) and SACK (RFC 6675),
//! limited transmit (RFC 3042), and ECN's echo (RFC 3168).

use headgate_core::Time;

use super::{Ack, Config, Control, Controller, Data, Loss, Phase, Recovery, Sender, Window};
use crate::tcp::scoreboard::DUP_THRESH;

impl Sender {
    /// How many of `una..next` have left the network by all we know, and may be replaced.
    #[inline]
    pub(super) fn known_gone(&self, config: &Config) -> u32 {
        if self.dup_acks == 0 && self.next == self.max {
            return 0;
        }
        match &self.board {
            // After a timeout, or with limited transmit (RFC 6675, section 5, step 3.3): what SACK told of.
            Some(board) if self.next < self.max || config.limited_transmit => {
                (self.una..self.next).filter(|&seq| board.has(seq)).count() as u32
            }
            // RFC 3042: one segment for each of the first two duplicates.
            None if self.next == self.max && self.phase == Phase::Open && config.limited_transmit => {
                u32::from(self.dup_acks).min(DUP_THRESH - 1)
            }
            _ => 0,
        }
    }

    /// RFC 6675, section 5, step C: while the pipe has room, the segment NextSeg names.
    pub(super) fn poll_recovery(&mut self, config: &Config, now: Time) -> Option<Data> {
        let board = self.board.as_mut()?;
        if board.pipe(self.max) >= self.window.whole() {
            return None;
        }
        let fresh = self.max - self.una < config.window && self.max < self.end;
        let hole = match board.next_lost() {
            Some(seq) => Some(seq),
            None if fresh => None,
            None => board.next_hole(),
        };
        if let Some(seq) = hole {
            board.resend(seq);
            return Some(self.send(seq, now));
        }
        if fresh {
            let seq = self.max;
            return Some(self.send(seq, now));
        }
        let last = board.rescue(self.max, self.recover)?;
        Some(self.send(last, now))
    }

    /// RFC 6582, section 3.2, step 3, and RFC 6675, which keeps the window as it is.
    pub(super) fn on_partial_ack(&mut self, acked: u32, earlier: bool, now: Time) {
        self.phase = Phase::Recovery { partial: true };
        if self.board.is_some() {
            return self.restart_timer(now);
        }
        self.resend = true;
        // Deflate by what was acknowledged, and add back one segment, since at least one was.
        self.window.set_cwnd((self.window.cwnd() - f64::from(acked) + 1.0).max(1.0), now);
        if !earlier {
            self.restart_timer(now);
        }
    }

    pub(super) fn leave_recovery(&mut self, config: &Config, now: Time) {
        self.phase = Phase::Open;
        (self.dup_acks, self.limited) = (0, 0);
        let cwnd = match Recovery::of(config.cc) {
            // RFC 6582, step 3, option 1: no burst when little is left in flight.
            Recovery::NewReno => self.window.ssthresh.min(f64::from(self.flight().max(1)) + 1.0),
            Recovery::Tahoe | Recovery::Reno | Recovery::Sack => self.window.ssthresh,
        };
        self.window.set_cwnd(cwnd, now);
        self.restart_timer(now);
    }

    pub(super) fn on_dup_ack(&mut self, config: &Config, now: Time) {
        self.dup_acks = self.dup_acks.saturating_add(1);
        match self.phase {
            // RFC 5681, section 3.2, step 4: a segment has left the network.
            Phase::Recovery { .. } if self.board.is_none() => {
                self.window.set_cwnd(self.window.cwnd() + 1.0, now);
            }
            Phase::Recovery { .. } => {}
            Phase::Open if self.loss_is_certain(config) => self.enter_recovery(config, now),
            Phase::Open => {}
        }
    }

    /// Three duplicates, or the scoreboard's word; but not twice for one window (RFC 6582, step 2; RFC 6675, 5.1).
    fn loss_is_certain(&self, config: &Config) -> bool {
        let known = self.board.as_ref().is_some_and(|board| board.is_lost(self.una));
        let lost = known || u32::from(self.dup_acks) >= DUP_THRESH;
        let anew = match Recovery::of(config.cc) {
            Recovery::Reno => true,
            Recovery::Tahoe | Recovery::NewReno => self.recover == 0 || self.una > self.recover,
            Recovery::Sack => self.una >= self.recover,
        };
        lost && anew
    }

    fn enter_recovery(&mut self, config: &Config, now: Time) {
        // RFC 5681, section 3.2, step 2: what limited transmit sent does not count.
        let flight = self.flight() - u32::from(self.limited);
        if Recovery::of(config.cc) == Recovery::Tahoe {
            self.answer_loss(flight, config, now);
            self.deadline = Time::NEVER; // sending restarts it
            return self.go_back(config, now);
        }
        self.begin_recovery(flight, config, now);
        match &mut self.board {
            Some(board) => {
                board.begin();
                self.window.set_cwnd(self.window.ssthresh, now);
            }
            None => self.window.set_cwnd(self.window.ssthresh + f64::from(DUP_THRESH), now),
        }
    }

    /// Lowers `ssthresh` for a loss with `flight` segments outstanding.
    fn answer_loss(&mut self, flight: u32, config: &Config, now: Time) {
        // RFC 3168, section 6.1.2: a window of data is not reduced for a loss if it was for a mark; but where marks lower it
        // by little, losses do so nevertheless (RFC 9331, section 4.3; `dctcp_react_to_loss` in Linux).
        // A model of the path answers to each on its own.
        let once = !config.cc.is_scalable() && !config.models();
        let reduced = once && self.ecn_recover > self.recover && self.una < self.ecn_recover;
        if !reduced {
            let loss = Loss { now, flight, max: self.max };
            self.lower_ssthresh(|cc, window| cc.on_loss(&loss, window, config));
            self.announce(config);
        }
    }

    /// Answers a loss with `flight` segments outstanding; what is lost goes again at once.
    pub(super) fn begin_recovery(&mut self, flight: u32, config: &Config, now: Time) {
        self.answer_loss(flight, config, now);
        self.recover = self.max;
        self.ecn_recover = self.max;
        self.phase = Phase::Recovery { partial: false };
        self.resend = true;
    }

    /// Lets the controller lower `ssthresh`, as RFC 5681's equation 4 says how high it may be at most. In a window whose
    /// loss was acted upon already it does not rise: there FlightSize counts much that has arrived out of order, more
    /// than the path ever held, and half of that would send slow start over the path's capacity again, and so on for
    /// ever.
    pub(super) fn lower_ssthresh(&mut self, lower: impl FnOnce(&mut Control, &mut Window)) {
        let most = if self.una < self.recover { self.window.ssthresh } else { f64::INFINITY };
        lower(&mut self.cc, &mut self.window);
        self.window.ssthresh = self.window.ssthresh.min(most);
        self.max_flight = 0;
    }

    pub(super) fn file(&mut self, ack: &Ack) -> bool {
        let (Some(board), Some(blocks)) = (&mut self.board, ack.blocks) else { return false };
        let mut news = false;
        for block in blocks {
            news |= board.file(block, self.max);
        }
        board.judge();
        news
    }

    /// After a timeout, segments that have arrived are not sent again (RFC 6675, section 5.1).
    pub(super) fn skip_arrived(&mut self) {
        if let Some(board) = &self.board {
            while self.next < self.max && board.has(self.next) {
                self.next += 1;
            }
        }
    }
}
