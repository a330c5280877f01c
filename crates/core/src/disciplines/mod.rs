//! The disciplines, one file each.

mod droptail;
mod faba;
mod red;

pub use droptail::{Droptail, DroptailConfig};
pub use faba::{Faba, FabaConfig};
pub use red::{Red, RedConfig};
