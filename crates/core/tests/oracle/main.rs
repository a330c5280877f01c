//! Step-by-step conformance: every discipline beside a plain transcription of its publication, over the same traffic
//! and the same random draws. One file a discipline.

mod blue;
mod choke;
mod codel;
mod breathe;
mod droptail;
mod fred;
mod harness;
mod red;
mod pie;
mod sfb;
mod sfq;
