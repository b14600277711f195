//! Paths that need no token, and those of programs.

/// Health checks. They name whatever host they like.
pub(super) const CHECKS: [&str; 2] = ["/healthz", "/readyz"];

pub(super) const LOGIN: &str = "/login";

/// The path to which a POST request reloads the policy.
pub(crate) const RELOAD: &str = "/reload";

pub(super) const ASSETS: &str = "/assets/";

/// The beginning of paths for programs, whose refusals are [problems](super::problem).
pub(super) const PROGRAMS: &str = "/api/";
