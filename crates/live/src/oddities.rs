//! Frames that are not plain IP packets: what is odd about them, how many there were, and what becomes of them.

use std::fmt;

/// What is odd about a frame. Those that a router must discard are dropped, all others go on as a bridge would send
/// them ([`forwarded`](Oddity::forwarded)); none is passed over in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Oddity {
    /// It has no bytes.
    Empty,
    /// It is shorter than an Ethernet header.
    ShortLink,
    /// It ends within a VLAN tag.
    ShortTag,
    /// It is said to be IP and has another version.
    BadVersion,
    /// It ends within its IP header.
    ShortHeader,
    /// Its IPv4 header says that it is shorter than five words.
    BadHeaderLength,
    /// Its IP header says that it is longer than the frame, or shorter than the header.
    BadLength,
    /// Its IPv4 header's checksum is wrong.
    BadChecksum,
    /// It is longer than a slot: a jumbo frame, or several segments that a card or the kernel has merged.
    Oversize,
    /// It carries something else than IP: ARP, LLDP, PPPoE.
    NonIp,
    /// It is an 802.3 frame, with a length where others have a type: spanning tree, IS-IS.
    Llc,
    /// It has more VLAN tags than are looked behind.
    DeepTags,
    /// It has IPv4 options.
    Options,
    /// It is a fragment.
    Fragment,
    /// It has IPv6 extension headers.
    Extensions,
    /// Its IPv6 extension headers are cut off, or more than are looked behind.
    OpaqueChain,
    /// It ends before its ports.
    NoPorts,
}

impl Oddity {
    /// All, in the order in which counts are kept.
    pub const ALL: [Oddity; 17] = [
        Oddity::Empty,
        Oddity::ShortLink,
        Oddity::ShortTag,
        Oddity::BadVersion,
        Oddity::ShortHeader,
        Oddity::BadHeaderLength,
        Oddity::BadLength,
        Oddity::BadChecksum,
        Oddity::Oversize,
        Oddity::NonIp,
        Oddity::Llc,
        Oddity::DeepTags,
        Oddity::Options,
        Oddity::Fragment,
        Oddity::Extensions,
        Oddity::OpaqueChain,
        Oddity::NoPorts,
    ];

    /// Whether such a frame goes on.
    pub const fn forwarded(self) -> bool {
        self as usize >= Oddity::NonIp as usize
    }

    /// Its name in tables and results.
    pub const fn name(self) -> &'static str {
        match self {
            Oddity::Empty => "empty",
            Oddity::ShortLink => "short_link",
            Oddity::ShortTag => "short_tag",
            Oddity::BadVersion => "bad_version",
            Oddity::ShortHeader => "short_header",
            Oddity::BadHeaderLength => "bad_header_length",
            Oddity::BadLength => "bad_length",
            Oddity::BadChecksum => "bad_checksum",
            Oddity::Oversize => "oversize",
            Oddity::NonIp => "non_ip",
            Oddity::Llc => "llc",
            Oddity::DeepTags => "deep_tags",
            Oddity::Options => "options",
            Oddity::Fragment => "fragment",
            Oddity::Extensions => "extensions",
            Oddity::OpaqueChain => "opaque_chain",
            Oddity::NoPorts => "no_ports",
        }
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many frames were odd, and in what way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities([u64; Oddity::ALL.len()]);

impl Oddities {
    /// One more.
    #[inline]
    pub fn count(&mut self, oddity: Oddity) {
        self.add(oddity, 1);
    }

    /// `n` more.
    pub fn add(&mut self, oddity: Oddity, n: u64) {
        self.0[oddity as usize] += n;
    }

    /// How many there were. A frame that goes on counts for each of its oddities, one that is dropped for one alone.
    pub fn of(&self, oddity: Oddity) -> u64 {
        self.0[oddity as usize]
    }

    /// How many frames were dropped for what they were.
    pub fn dropped(&self) -> u64 {
        Oddity::ALL.iter().filter(|oddity| !oddity.forwarded()).map(|oddity| self.of(*oddity)).sum()
    }

    /// Those that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Oddity, u64)> {
        Oddity::ALL.into_iter().map(|oddity| (oddity, self.of(oddity))).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_oddity_has_its_place_and_a_name_of_its_own() {
        let mut names: Vec<&str> = Oddity::ALL.iter().map(|oddity| oddity.name()).collect();
        assert!(Oddity::ALL.iter().enumerate().all(|(index, oddity)| *oddity as usize == index));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Oddity::ALL.len());
    }

    #[test]
    fn only_what_is_dropped_counts_as_dropped() {
        let mut oddities = Oddities::default();
        Oddity::ALL.iter().for_each(|oddity| oddities.count(*oddity));
        assert_eq!(oddities.dropped(), 9);
        assert_eq!(oddities.iter().count(), 17);
    }
}
