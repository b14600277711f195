//! Documents made of stored facts.
//!
//! [`bundle`] is the evidence of violations that an operator of a site sends to the operator of a
//! crawler, and its verification.
//!
//! May use: violations, robots, crawlers, enforce, policy, escape. Must not know: clocks, files, the
//! network, the place that a document goes to.

pub mod bundle; // the evidence of violations, as files that verify alone
