//! The tests of scenario files.

mod access_delays;
mod classify;
mod errors;
mod files;
mod guide;
mod media;
mod networks;
mod one_row;
mod pages;
mod properties;
mod quantities;
mod traffic;
