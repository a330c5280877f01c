//! Kinds of frames that are not plain IP packets, their counts, and whether they are forwarded.

/// Declares the oddities with their names in tables and results.
macro_rules! oddities {
    ($($(#[$about:meta])* $oddity:ident = $name:literal,)*) => {
        /// What is odd about a frame. Those that a router must discard are dropped, all others go on as a bridge would send
        /// them ([`forwarded`](FrameAnomaly::forwarded)); none is passed over in silence.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FrameAnomaly {
            $($(#[$about])* $oddity,)*
        }

        impl FrameAnomaly {
            /// All, in the order in which counts are kept.
            pub const ALL: [FrameAnomaly; [$($name),*].len()] = [$(FrameAnomaly::$oddity),*];

            /// Its name in tables and results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(FrameAnomaly::$oddity => $name,)*
                }
            }
        }
    };
}

oddities! {
    /// It has no bytes.
    Empty = "empty",
    /// It is shorter than an Ethernet header.
    ShortLink = "short_link",
    /// It ends within a VLAN tag.
    ShortTag = "short_tag",
    /// It is said to be IP and has another version.
    BadVersion = "bad_version",
    /// It ends within its IP header.
    ShortHeader = "short_header",
    /// Its IPv4 header says that it is shorter than five words.
    BadHeaderLength = "bad_header_length",
    /// Its IP header says that it is longer than the frame, or shorter than the header.
    BadLength = "bad_length",
    /// Its IPv4 header's checksum is wrong.
    BadChecksum = "bad_checksum",
    /// It is longer than a slot: a jumbo frame, or several segments that a card or the kernel has merged.
    Oversize = "oversize",
    /// It carries something else than IP: ARP, LLDP, PPPoE.
    NonIp = "non_ip",
    /// It is an 802.3 frame, with a length where others have a type: spanning tree, IS-IS.
    Llc = "llc",
    /// It has more VLAN tags than are looked behind.
    DeepTags = "deep_tags",
    /// It has IPv4 options.
    Options = "options",
    /// It is a fragment.
    Fragment = "fragment",
    /// It has IPv6 extension headers.
    Extensions = "extensions",
    /// Its IPv6 extension headers are cut off, or more than are looked behind.
    OpaqueChain = "opaque_chain",
    /// It ends before its ports.
    NoPorts = "no_ports",
}

impl FrameAnomaly {
    /// Whether such a frame goes on.
    pub const fn forwarded(self) -> bool {
        self as usize >= FrameAnomaly::NonIp as usize
    }
}

/// How many frames were odd, and in what way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnomalyCounts([u64; FrameAnomaly::ALL.len()]);

impl AnomalyCounts {
    /// Adds one.
    #[inline]
    pub fn count(&mut self, oddity: FrameAnomaly) {
        self.add(oddity, 1);
    }

    /// Adds `n`.
    pub fn add(&mut self, oddity: FrameAnomaly, n: u64) {
        self.0[oddity as usize] += n;
    }

    /// Number of frames. A forwarded frame counts for each of its oddities, a dropped one for only one.
    pub fn of(&self, oddity: FrameAnomaly) -> u64 {
        self.0[oddity as usize]
    }

    /// Frames dropped for an oddity.
    pub fn dropped(&self) -> u64 {
        FrameAnomaly::ALL.iter().filter(|oddity| !oddity.forwarded()).map(|oddity| self.of(*oddity)).sum()
    }

    /// The oddities with nonzero counts.
    pub fn iter(&self) -> impl Iterator<Item = (FrameAnomaly, u64)> {
        FrameAnomaly::ALL.into_iter().map(|oddity| (oddity, self.of(oddity))).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_oddity_has_its_place_and_a_name_of_its_own() {
        let mut names: Vec<&str> = FrameAnomaly::ALL.iter().map(|oddity| oddity.name()).collect();
        assert!(FrameAnomaly::ALL.iter().enumerate().all(|(index, oddity)| *oddity as usize == index));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FrameAnomaly::ALL.len());
    }

    #[test]
    fn only_what_is_dropped_counts_as_dropped() {
        let mut oddities = AnomalyCounts::default();
        FrameAnomaly::ALL.iter().for_each(|oddity| oddities.count(*oddity));
        assert_eq!(oddities.dropped(), 9);
        assert_eq!(oddities.iter().count(), 17);
    }
}
