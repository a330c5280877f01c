//! Web sessions: pages of objects, with pauses to read.
//!
//! ns-2 requests a page's objects in parallel, `gap` apart and each on its own connection. Here a flow is one
//! connection at a time, so objects come in sequence, and the gap begins at the end of the previous object. With one
//! object per page, as in ns-2's large example, there is no difference.

use aqm::{BuildError, Rng, Span};

use crate::distribution::{Distribution, DistributionKind};
use crate::model::{FileLoader, SenderInfo, SourceModel};
use crate::values::{RandomCount, RandomSize, RandomTime};
use crate::write::{SourceWrite, WriteAmount};

aqm::params! {
    /// Settings of [`Web`].
    pub struct WebConfig {
        /// Pages per session. `auto`: unlimited.
        pages: Option<RandomCount> = Some(RandomCount::always(250.0));
        /// Time from the last byte of a page to the request for the next.
        think: RandomTime = RandomTime::exponential(Span::from_secs(15));
        /// Objects per page.
        objects: RandomCount = RandomCount::always(1.0);
        /// Size of an object.
        size: RandomSize = lomax_12_kb();
        /// Time from the end of an object of a page to the request for the next.
        gap: RandomTime = RandomTime::exponential(Span::from_millis(10));
        /// Whether the objects of a page share one connection (RFC 9112, section 9.3).
        persistent: bool = false;
    }
    presets {
        "ns2" "ns-2.35's `tcl/ex/large-scale-web-traffic.tcl`, its 12 packets taken for 12 KB (the defaults)" {}
    }
}

/// As in ns-2: 12 packets of 1000 bytes on average, shape 1.2.
fn lomax_12_kb() -> RandomSize {
    RandomSize::by(Distribution::new(DistributionKind::Lomax, 12_000.0, 1.2).expect("a mean above 0, a shape above 1"))
}

/// A session.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    config: WebConfig,
}

/// A session's remaining work.
#[derive(Clone, Debug, Default)]
pub struct WebState {
    begun: bool,
    /// Pages after the current one.
    pages: u32,
    /// Objects left on this page.
    objects: u32,
}

impl SourceModel for Web {
    type Config = WebConfig;
    type State = WebState;

    fn new(config: WebConfig, _: &SenderInfo, _: &mut FileLoader<'_>) -> Result<Web, BuildError> {
        Ok(Web { config })
    }

    fn start(&self, _: u32) -> WebState {
        WebState::default()
    }

    fn next(&self, flow: &mut WebState, rng: &mut Rng) -> Option<SourceWrite> {
        let config = &self.config;
        if flow.objects > 0 {
            flow.objects -= 1;
            let data = WriteAmount::Bytes(config.size.draw(rng));
            return Some(
                SourceWrite::after_delivery(config.gap.draw(rng), data).on_new_connection(!config.persistent).awaited(),
            );
        }
        let first = !std::mem::replace(&mut flow.begun, true);
        if first {
            flow.pages = config.pages.map_or(u32::MAX, |pages| pages.draw(rng));
        }
        if flow.pages == 0 {
            return None;
        }
        // An endless session has no count of pages.
        flow.pages -= u32::from(config.pages.is_some());
        flow.objects = config.objects.draw(rng) - 1;
        let data = WriteAmount::Bytes(config.size.draw(rng));
        let write = if first {
            SourceWrite::after_start(Span::ZERO, data)
        } else {
            SourceWrite::after_delivery(config.think.draw(rng), data)
        };
        Some(write.on_new_connection(true).awaited())
    }

    /// A page's bytes over the time until the next page.
    fn nominal_rate(&self) -> Option<f64> {
        let WebConfig { think, objects, size, gap, .. } = &self.config;
        let objects = objects.distribution().mean();
        let page = think.distribution().mean() + (objects - 1.0).max(0.0) * gap.distribution().mean();
        (page > 0.0).then(|| 1e9 * objects * size.distribution().mean() / page)
    }

    /// Counts are rounded up to integers, so only constant ones keep the requested mean.
    fn mean_bytes(&self) -> Option<f64> {
        let whole = |count: RandomCount| {
            (count.distribution().form() == DistributionKind::Constant)
                .then(|| count.distribution().mean().ceil().max(1.0))
        };
        Some(whole(self.config.pages?)? * whole(self.config.objects)? * self.config.size.distribution().mean())
    }
}
