//! What a packet takes on the link below, for the shaper.
//!
//! Source: `cake_calc_overhead` in Linux 5.5's `sch_cake.c`.

use super::settings::{CakeConfig, CellFraming};

/// Overhead and framing of the link.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    overhead: i32,
    mpu: u32,
    cells: CellFraming,
}

impl Framing {
    pub fn new(config: &CakeConfig) -> Framing {
        // Lossless: the range ends at 256.
        Framing { overhead: config.overhead, mpu: config.mpu.0 as u32, cells: config.framing }
    }

    /// Bytes that a packet of `bytes` takes on the link.
    #[inline]
    pub fn wire_bytes(&self, bytes: u32) -> u32 {
        let framed = bytes.saturating_add_signed(self.overhead).max(self.mpu);
        match self.cells {
            CellFraming::Noatm => framed,
            CellFraming::Atm => framed.div_ceil(48).saturating_mul(53),
            CellFraming::Ptm => framed.saturating_add(framed.div_ceil(64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Bytes;

    #[test]
    fn packets_are_charged_with_overhead_least_size_and_cells() {
        let wire = |overhead, mpu, framing, bytes| {
            let config = CakeConfig { overhead, mpu: Bytes(mpu), framing, ..CakeConfig::default() };
            Framing::new(&config).wire_bytes(bytes)
        };
        assert_eq!(wire(0, 0, CellFraming::Noatm, 1500), 1500);
        assert_eq!(wire(18, 64, CellFraming::Noatm, 40), 64);
        assert_eq!(wire(-20, 0, CellFraming::Noatm, 10), 0);
        // PPPoE over ADSL: 40 bytes more, then whole cells.
        assert_eq!(wire(40, 0, CellFraming::Atm, 1500), 33 * 53);
        assert_eq!(wire(40, 0, CellFraming::Atm, 8), 53);
        assert_eq!(wire(22, 0, CellFraming::Ptm, 1514), 1536 + 24);
        assert_eq!(wire(256, 0, CellFraming::Atm, u32::MAX), u32::MAX);
    }
}
