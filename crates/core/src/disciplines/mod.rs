//! The disciplines, one file each.

mod droptail;
mod faba;

pub use droptail::{Droptail, DroptailConfig};
pub use faba::{Faba, FabaConfig};
