//! Paths that need no token.

/// Health checks. They name whatever host they like.
pub(super) const CHECKS: [&str; 2] = ["/healthz", "/readyz"];

/// The form in which a person enters the token.
pub(super) const LOGIN: &str = "/login";

/// The beginning of style sheets.
pub(super) const ASSETS: &str = "/assets/";
