//! The tests of links on real packets in one program: each program of tests compiles every discipline again. Tests that
//! count the allocations or the memory of their process have programs of their own.
#![cfg(target_os = "linux")]

mod controllers;
mod frames;
mod kernel;
mod kernel_queue;
mod link;
mod load;
mod offloads;
mod refit;
mod run;
mod support;
mod verdict;
