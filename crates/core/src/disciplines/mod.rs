//! The disciplines, one file each.

mod droptail;

pub use droptail::{Droptail, DroptailConfig};
