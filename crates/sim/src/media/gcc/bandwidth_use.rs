//! What the trend of delays says of the network.

/// The network as the delay shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BandwidthUse {
    #[default]
    Normal,
    /// Delays grow: packets are sent faster than they leave the bottleneck.
    Over,
    /// Delays shrink: a queue drains.
    Under,
}
