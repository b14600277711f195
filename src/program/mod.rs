//! The program: its verbs, and the server as a whole, and what it does beside requests.
//!
//! Look here for what a command line does.
//!
//! ```text
//! console ─▶ service ─▶ cli
//! ```

pub mod cli; // one file for each verb: arguments, work, what is printed
mod console; // what several verbs read, write and ask for
mod service; // the server as a whole
