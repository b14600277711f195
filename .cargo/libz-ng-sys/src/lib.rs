//! zlib under the name that flate2's zlib-ng backend links against.
pub use libz_sys::*;
