//! The version of the program, the commit of its sources and its build profile, once.
//!
//! `build.rs` in this folder finds commit and profile, and writes the catalogue. It reads no clock and no
//! path into the program, so two builds of one commit have the same bytes.
//!
//! May use: nothing. Must not know: any room.

/// The version, `0.1.0`.
pub const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// The first digits of the commit, or what `BEADLE_COMMIT` said at the build; `unknown` for sources
/// without either. Changes that were not committed do not show.
pub const COMMIT: &str = env!("BEADLE_BUILD_COMMIT");

/// `config/crawlers.yaml` as JSON, which every command reads.
pub const CATALOGUE: &str = include_str!(concat!(env!("OUT_DIR"), "/crawlers.json"));

/// The name of cargo's profile: `dist`, `release` or `debug`.
pub const PROFILE: &str = env!("BEADLE_BUILD_PROFILE");

/// All three, `0.1.0 (3a6aa04a5962, dist)`.
pub const WHOLE: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("BEADLE_BUILD_COMMIT"),
    ", ",
    env!("BEADLE_BUILD_PROFILE"),
    ")"
);

/// Name and version, as a `User-Agent` begins with them.
pub const PRODUCT: &str = concat!("beadle/", env!("CARGO_PKG_VERSION"));
