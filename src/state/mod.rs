//! The state in force, and how it changes: at this node, and at all nodes of a fleet.
//!
//! Look here for reloads, files of origins, editions in time, and what nodes tell each other.
//!
//! ```text
//! publication, fleet ─▶ exchange
//! ```

pub mod exchange; // what this node sends and receives over the server of its fleet
pub mod fleet; // what nodes tell each other, as values, and what follows from it
pub mod publication; // the state in force, swapped whole: policy, files and health of origins, editions
