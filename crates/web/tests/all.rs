//! The tests of the lab's engine.

mod changes;
mod lab;
