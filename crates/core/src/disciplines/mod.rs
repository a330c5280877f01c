//! The disciplines, one file each.

mod ared;
mod blue;
mod breathe;
mod choke;
mod cobalt;
mod codel;
mod droptail;
mod faba;
mod feng_red;
mod fred;
mod pie;
mod prio;
mod red;
mod red_pd;
mod sfb;
mod sfq;
mod sfred;
mod tbf;

pub use ared::{Adapts, Ared, AredConfig};
pub use blue::{Blue, BlueConfig};
pub use breathe::{Breathe, BreatheConfig};
pub use choke::{Choke, ChokeConfig};
pub use cobalt::{Cobalt, CobaltConfig};
pub use codel::{Codel, CodelConfig};
pub use droptail::{Droptail, DroptailConfig};
pub use faba::{Faba, FabaConfig};
pub use feng_red::{FengRed, FengRedConfig, Side};
pub use fred::{Fred, FredConfig, FredFlow};
pub use pie::{Pie, PieConfig};
pub use prio::{Prio, PrioConfig};
pub use red::{Red, RedConfig};
pub use red_pd::{DynamicR, RedPd, RedPdConfig};
pub use sfb::{Penalty, Sfb, SfbConfig, misclassification, unresponsive};
pub use sfq::{Sfq, SfqConfig, Sharing};
pub use sfred::{RedBinState, Sfred, SfredConfig};
pub use tbf::{Tbf, TbfConfig};
