//! Framing of a link: the bytes that a packet takes on it.
//!
//! A link adds headers to each packet, has a shortest frame, and may cut frames into cells. The link of a scenario, a
//! live link and CAKE's shaper all charge a packet with [`Framing::wire_bytes`].
//!
//! Source: `cake_calc_overhead` in Linux 5.5's `sch_cake.c`; the names of framings are the keywords of tc-cake(8).

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::RangeInclusive;

use crate::names::nearest;

crate::choice! {
    /// Cells or frames below the link that make packets longer.
    pub enum CellFraming {
        /// None.
        Noatm = "noatm",
        /// ATM: cells of 53 bytes with 48 bytes of payload.
        Atm = "atm",
        /// PTM (VDSL2): one byte for each 64.
        Ptm = "ptm",
    }
}

/// Overhead and framing of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Bytes added to each packet. Negative if the packet's size includes headers that the link does not carry.
    pub overhead: i32,
    /// Bytes that a packet takes at least, overhead included.
    pub mpu: u32,
    /// Cells below the link.
    pub cells: CellFraming,
}

const fn framing(overhead: i32, mpu: u32, cells: CellFraming) -> Framing {
    Framing { overhead, mpu, cells }
}

const fn atm(overhead: i32) -> Framing {
    framing(overhead, 0, CellFraming::Atm)
}

impl Framing {
    /// No framing: a packet takes its own bytes.
    pub const RAW: Framing = framing(0, 0, CellFraming::Noatm);

    /// Overheads in bytes that a link may have. The shortest IP packet has 20 bytes (RFC 791, section 3.1), and no packet
    /// may cost nothing.
    pub const OVERHEADS: RangeInclusive<i32> = -19..=1000;

    /// The framings with a name: the keywords of tc-cake(8). An Ethernet frame has 38 bytes beyond its IP packet:
    /// preamble 8, addresses and type 14, FCS 4, gap 12. DOCSIS counts 18 of them.
    pub const NAMED: &[(&str, Framing)] = &[
        ("raw", Framing::RAW),
        ("ethernet", framing(38, 84, CellFraming::Noatm)),
        ("docsis", framing(18, 64, CellFraming::Noatm)),
        ("bridged-ptm", framing(22, 0, CellFraming::Ptm)),
        ("pppoe-ptm", framing(30, 0, CellFraming::Ptm)),
        ("ipoa-vcmux", atm(8)),
        ("ipoa-llcsnap", atm(16)),
        ("bridged-vcmux", atm(24)),
        ("bridged-llcsnap", atm(32)),
        ("pppoa-vcmux", atm(10)),
        ("pppoa-llc", atm(14)),
        ("pppoe-vcmux", atm(32)),
        ("pppoe-llcsnap", atm(40)),
        ("conservative", atm(48)),
    ];

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

    /// The framing for packets whose sizes include `header` bytes of the link's own header. A plain number of bytes counts from
    /// the packet as it is; all others count from the IP packet.
    #[must_use]
    pub fn beyond_header(self, header: u32) -> Framing {
        let plain = self.mpu == 0 && self.cells == CellFraming::Noatm;
        if plain { self } else { Framing { overhead: self.overhead.saturating_sub_unsigned(header), ..self } }
    }

    /// Parses a name, or a number of bytes that each packet has more: `"ethernet"`, `"38"`, `"38B"`, `"-14B"`.
    ///
    /// # Errors
    /// The expected form with the nearest name, or the range of the overhead.
    pub fn parse(text: &str) -> Result<Framing, String> {
        let text = text.trim();
        if let Some((_, framing)) = Framing::NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*framing);
        }
        let Ok(overhead) = text.strip_suffix('B').unwrap_or(text).trim().parse::<i32>() else {
            let names = || Framing::NAMED.iter().map(|(name, _)| *name);
            let near = nearest(text, names()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let known = names().collect::<alloc::vec::Vec<_>>().join(", ");
            return Err(format!(
                "expected bytes per packet, such as \"38B\", or a framing ({known}), found {text:?}{near}"
            ));
        };
        if !Framing::OVERHEADS.contains(&overhead) {
            let (least, most) = Framing::OVERHEADS.into_inner();
            let why = "the shortest IP packet has 20 bytes";
            return Err(format!("must be from {least}B ({why}) to {most}B, not {overhead}B"));
        }
        Ok(Framing { overhead, ..Framing::RAW })
    }
}

/// The name, or the bytes per packet.
impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Framing::NAMED.iter().find(|(_, framing)| framing == self) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}B", self.overhead),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn packets_are_charged_with_overhead_least_size_and_cells() {
        let wire = |overhead, mpu, cells, bytes| Framing { overhead, mpu, cells }.wire_bytes(bytes);
        assert_eq!(wire(0, 0, CellFraming::Noatm, 1500), 1500);
        assert_eq!(wire(18, 64, CellFraming::Noatm, 40), 64);
        assert_eq!(wire(-20, 0, CellFraming::Noatm, 10), 0);
        // PPPoE over ADSL: 40 bytes more, then whole cells.
        assert_eq!(wire(40, 0, CellFraming::Atm, 1500), 33 * 53);
        assert_eq!(wire(40, 0, CellFraming::Atm, 8), 53);
        assert_eq!(wire(22, 0, CellFraming::Ptm, 1514), 1536 + 24);
        assert_eq!(wire(256, 0, CellFraming::Atm, u32::MAX), u32::MAX);
    }

    #[test]
    fn a_header_that_a_size_includes_is_not_counted_twice() {
        let ethernet = Framing::parse("ethernet").unwrap();
        assert_eq!(ethernet.beyond_header(14).wire_bytes(1514), ethernet.wire_bytes(1500));
        assert_eq!(ethernet.beyond_header(14).wire_bytes(54), 84);
        assert_eq!(Framing::parse("24B").unwrap().beyond_header(14).wire_bytes(1514), 1538);
        assert_eq!(Framing::RAW.beyond_header(14), Framing::RAW);
    }

    #[test]
    fn a_framing_survives_a_round_trip_through_text() {
        // "bridged-llcsnap" and "pppoe-vcmux" are one framing: tc-cake(8) has two names for it.
        for (name, framing) in Framing::NAMED {
            assert_eq!(Framing::parse(name).as_ref(), Ok(framing));
            assert_eq!(Framing::parse(&framing.to_string()).as_ref(), Ok(framing), "{name}");
        }
        for (text, shown) in
            [("38", "38B"), ("38 B", "38B"), ("-14B", "-14B"), ("0", "raw"), ("-19", "-19B"), ("1000B", "1000B")]
        {
            assert_eq!(Framing::parse(text).unwrap().to_string(), shown);
        }
        assert!(Framing::parse("etherne").unwrap_err().ends_with("did you mean `ethernet`?"));
        for text in ["-20", "1001B"] {
            assert!(Framing::parse(text).unwrap_err().starts_with("must be from -19B (the shortest"), "{text}");
        }
        assert!(Framing::parse("38KB").is_err());
    }
}
