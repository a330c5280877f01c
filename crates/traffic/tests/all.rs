//! The tests of traffic sources.

mod arrivals;
mod laws;
mod pages;
mod sources;
mod support;
mod trace;
