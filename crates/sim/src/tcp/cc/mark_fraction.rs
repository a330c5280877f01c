//! The average fraction of a flow's segments that were marked (DCTCP's alpha; RFC 8257, section 3.3).
//!
//! Each window of data gives one sample: marked over delivered segments. It enters the average with weight 1/16.

use super::AckInfo;

/// RFC 8257, section 4.2: the weight g of a new window in the average.
pub const GAIN: f64 = 1.0 / 16.0;

/// DCTCP's alpha and the current window of data.
#[derive(Clone, Debug)]
pub struct MarkFraction {
    alpha: f64,
    /// DCTCP.BytesAcked and DCTCP.BytesMarked, in segments.
    delivered: u32,
    marked: u32,
    /// DCTCP.WindowEnd: the window ends when this segment is acknowledged.
    window_end: u32,
}

impl MarkFraction {
    pub fn new(alpha: f64) -> MarkFraction {
        MarkFraction { alpha, delivered: 0, marked: 0, window_end: 0 }
    }

    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Counts the segments of `ack` (steps 1 to 4); returns whether a window of data has ended.
    pub fn on_ack(&mut self, ack: &AckInfo) -> bool {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        ack.ack > self.window_end && self.delivered > 0
    }

    /// Adds the window to the average and begins the next one (steps 5 to 8).
    pub fn end_window(&mut self, ack: &AckInfo) {
        let fraction = f64::from(self.marked) / f64::from(self.delivered);
        self.alpha += GAIN * (fraction.min(1.0) - self.alpha);
        (self.delivered, self.marked, self.window_end) = (0, 0, ack.next_new);
    }
}
