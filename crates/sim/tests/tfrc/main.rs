//! TFRC over a path with scripted losses, without the simulator.

mod feedback;
mod path;
mod rate;
