//! The disciplines, one file each.

mod blue;
mod droptail;
mod faba;
mod red;

pub use blue::{Blue, BlueConfig};
pub use droptail::{Droptail, DroptailConfig};
pub use faba::{Faba, FabaConfig};
pub use red::{Red, RedConfig};
