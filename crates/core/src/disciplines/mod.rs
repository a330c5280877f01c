//! The disciplines, one file each.

mod blue;
mod choke;
mod droptail;
mod faba;
mod fred;
mod red;
mod sfb;

pub use blue::{Blue, BlueConfig};
pub use choke::{Choke, ChokeConfig};
pub use droptail::{Droptail, DroptailConfig};
pub use faba::{Faba, FabaConfig};
pub use fred::{Fred, FredConfig, FredFlow};
pub use red::{Red, RedConfig};
pub use sfb::{Penalty, Sfb, SfbConfig, misclassification, unresponsive};
