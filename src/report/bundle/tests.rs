//! Bundles made and verified in memory.
