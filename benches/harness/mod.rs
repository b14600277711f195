//! What the benchmarks of running servers share: programs and processors, processes, rounds, tables.

use std::error::Error;

pub(crate) mod figures; // the figures of a load generator
pub(crate) mod machine; // the machine and its programs
pub(crate) mod nginx; // nginx as the origin, and others
pub(crate) mod process; // child processes, their CPU time and memory
pub(crate) mod program; // Beadle with a policy
pub(crate) mod rounds; // servers in turn, under the same load
pub(crate) mod table; // medians and ratios
pub(crate) mod wrk; // wrk with a script

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;
