//! The tests of the library for C.

mod c_programs;
mod header;
