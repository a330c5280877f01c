//! The tests of disciplines in one program: each program of tests compiles every discipline again.

#[path = "conform/main.rs"]
mod conform;
mod maintain;
#[path = "oracle/main.rs"]
mod oracle;
mod pages;
mod support;
#[path = "verify/main.rs"]
mod verify;
