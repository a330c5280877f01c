//! TFRC over a path that loses what a script says, without the simulator.

mod feedback;
mod path;
mod rate;
