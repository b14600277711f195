//! Frames of bytes that wait on the disk until someone takes them.
//!
//! [`Spool::append`] writes frames durably, all of one call or none. They stand in segments: files that
//! are sealed at a size or when asked, and removed by who took them. After a crash at any byte, the spool
//! has every frame of each call that had ended. A sealed segment has its totals in its name, so that
//! damage is found and counted; what is whole in it can still be read. The bytes of all segments have a
//! limit.
//!
//! May use: record. Must not know: what a frame means, who takes it, any clock.

pub use self::{
    contents::{Contents, Totals},
    folder::{Recovery, Spool},
    frame::Frame,
    segment::{SEGMENT, Sealed},
};

mod contents; // the frames of a segment, read back
mod folder; // the segments of a folder
mod frame; // a frame as bytes
mod segment; // a segment that is written, and its name

#[cfg(test)]
mod tests;
