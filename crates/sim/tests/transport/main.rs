//! Laws of transport: what every congestion control obeys with every recovery, feedback and option, over whole paths.
//! The rows of the registries are combined by a covering array, so a new row is tried with every other choice.

mod alone;
mod combinations;
mod marks;
mod repair;
mod report;
mod script;
mod shares;
