//! Kinds of frames that are not plain IP packets, their counts, and whether they are forwarded.

/// Declares the anomalies with their names in tables and results.
macro_rules! anomalies {
    ($($(#[$about:meta])* $anomaly:ident = $name:literal,)*) => {
        /// A way in which a frame differs from a plain IP packet. Frames that a router must discard are dropped. All
        /// others are forwarded unchanged, as by a bridge ([`forwarded`](FrameAnomaly::forwarded)). All are counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FrameAnomaly {
            $($(#[$about])* $anomaly,)*
        }

        impl FrameAnomaly {
            /// All, in the order in which counts are kept.
            pub const ALL: [FrameAnomaly; [$($name),*].len()] = [$(FrameAnomaly::$anomaly),*];

            /// Its name in tables and results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(FrameAnomaly::$anomaly => $name,)*
                }
            }
        }
    };
}

anomalies! {
    /// No bytes.
    Empty = "empty",
    /// Shorter than an Ethernet header.
    ShortLink = "short_link",
    /// Ends within a VLAN tag.
    ShortTag = "short_tag",
    /// The type is IP, but not the version.
    BadVersion = "bad_version",
    /// Ends within its IP header.
    ShortHeader = "short_header",
    /// The length of the IPv4 header is less than five words.
    BadHeaderLength = "bad_header_length",
    /// The length in the IP header exceeds the frame, or is less than the header.
    BadLength = "bad_length",
    /// Wrong checksum of the IPv4 header.
    BadChecksum = "bad_checksum",
    /// Longer than the MTU: a jumbo frame, or a super-packet that cannot be segmented, such as a tunnel's.
    Oversize = "oversize",
    /// Another protocol than IP, such as ARP, LLDP or PPPoE.
    NonIp = "non_ip",
    /// An 802.3 frame, with a length in place of a type, such as spanning tree and IS-IS.
    Llc = "llc",
    /// More VLAN tags than the parser skips.
    DeepTags = "deep_tags",
    /// IPv4 options.
    Options = "options",
    /// A fragment.
    Fragment = "fragment",
    /// IPv6 extension headers.
    Extensions = "extensions",
    /// IPv6 extension headers that are cut off, or more of them than the parser skips.
    OpaqueChain = "opaque_chain",
    /// Ends before its ports.
    NoPorts = "no_ports",
}

impl FrameAnomaly {
    /// Whether such frames are forwarded.
    pub const fn forwarded(self) -> bool {
        self as usize >= FrameAnomaly::NonIp as usize
    }
}

/// Counts of frames by anomaly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnomalyCounts([u64; FrameAnomaly::ALL.len()]);

impl AnomalyCounts {
    /// Adds one.
    #[inline]
    pub fn count(&mut self, anomaly: FrameAnomaly) {
        self.add(anomaly, 1);
    }

    /// Adds `n`.
    pub fn add(&mut self, anomaly: FrameAnomaly, n: u64) {
        self.0[anomaly as usize] += n;
    }

    /// Number of frames. A forwarded frame counts once for each of its anomalies. A dropped frame counts once.
    pub fn of(&self, anomaly: FrameAnomaly) -> u64 {
        self.0[anomaly as usize]
    }

    /// Frames dropped for an anomaly.
    pub fn dropped(&self) -> u64 {
        FrameAnomaly::ALL.iter().filter(|anomaly| !anomaly.forwarded()).map(|anomaly| self.of(*anomaly)).sum()
    }

    /// The anomalies with nonzero counts.
    pub fn iter(&self) -> impl Iterator<Item = (FrameAnomaly, u64)> {
        FrameAnomaly::ALL.into_iter().map(|anomaly| (anomaly, self.of(anomaly))).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_anomaly_has_its_own_index_and_name() {
        let mut names: Vec<&str> = FrameAnomaly::ALL.iter().map(|anomaly| anomaly.name()).collect();
        assert!(FrameAnomaly::ALL.iter().enumerate().all(|(index, anomaly)| *anomaly as usize == index));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FrameAnomaly::ALL.len());
    }

    #[test]
    fn only_anomalies_that_are_not_forwarded_count_as_dropped() {
        let mut anomalies = AnomalyCounts::default();
        FrameAnomaly::ALL.iter().for_each(|anomaly| anomalies.count(*anomaly));
        assert_eq!(anomalies.dropped(), 9);
        assert_eq!(anomalies.iter().count(), 17);
    }
}
