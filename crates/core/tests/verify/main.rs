//! The claims of papers and RFCs about single disciplines, at one queue.
//!
//! One program holds them all: each program of tests compiles every discipline again.

mod adaptive_red;
mod avq;
mod dualpi2;
mod fairness;
mod fred;
mod heavy;
mod modern;
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
mod wred;

// Queues with senders, which the claims share.
#[path = "senders/closed_loop.rs"]
mod closed_loop;
#[path = "senders/link.rs"]
mod link;
#[path = "senders/one_queue.rs"]
mod one_queue;
#[path = "senders/watched.rs"]
mod watched;
