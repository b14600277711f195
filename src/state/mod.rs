//! The state in force, and how it changes: at this node, and at all nodes of a fleet.
//!
//! Look here for reloads, files of origins, editions in time, and what nodes tell each other.
//!
//! ```text
//! publication, fleet ─▶ exchange
//! ```

pub mod exchange; // the exchange with the other nodes of a fleet
pub mod fleet; // what the nodes of a fleet tell each other
pub mod publication; // the state in force, swapped whole: policy, files of the origins, editions
