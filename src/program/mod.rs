//! The program: its verbs, and the server as a whole, and what it does beside requests.
//!
//! Look here for what a command line does and prints.
//!
//! ```text
//! console ─▶ service ─▶ cli
//! ```

pub mod cli; // one file for each verb: arguments, work, the table or lines that it prints
mod console; // what verbs share: the policy's file and database opened, input, output, exit codes
mod service; // the server as a whole: what starts, watches and ends
