//! Step-by-step conformance: every discipline beside a plain transcription of its publication, over the same traffic
//! and the same random draws. One file a discipline.

mod afd;
mod ared;
mod blue;
mod breathe;
mod choke;
mod cobalt;
mod codel;
mod csfq;
mod droptail;
mod drr;
mod dualpi2;
mod faba;
mod faba_classes;
mod feng_red;
mod flow_scheduler;
mod fq;
mod fq_codel;
mod fq_pie;
mod fred;
mod harness;
mod hhf;
mod lengths;
mod pie;
mod red;
mod red_pd;
mod red_penalty;
mod sac;
mod sfb;
mod sfb_linux;
mod sfed;
mod sfq;
mod sfq_red;
mod sfred;
mod sred;
mod tokens;
