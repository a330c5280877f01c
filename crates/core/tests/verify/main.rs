//! The claims of papers and RFCs about single disciplines, at one queue.
//!
//! One program holds them all: each program of tests compiles every discipline again.

mod adaptive_red;
mod avq;
mod closed_loop;
mod dualpi2;
mod fairness;
mod fred;
mod heavy;
mod link;
mod modern;
mod one_queue;
mod pi;
mod red_family;
mod red_pd;
mod red_penalty;
mod rem;
mod sac;
mod schedulers;
mod shapers;
mod sred;
mod step;
mod tokens;
mod watched;
