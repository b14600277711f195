//! The state in force, and how it changes: at this node, and at all nodes of a fleet.
//!
//! Look here for reloads, files of origins, when an edition is in force, and what nodes tell each other.
//!
//! ```text
//! publication, fleet ─▶ exchange
//! ```

pub mod exchange; // messages and registers that this node writes and reads at the server of its fleet
pub mod fleet; // what nodes tell each other, as values: who is there, whose clock is off, what is missing
pub mod publication; // the state in force, swapped whole: policy, files and health of origins, editions
