//! The treatment of a damaged database.

/// What happens to a damaged database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// It stays as it is, and records wait in memory until the operator repairs or moves it.
    #[default]
    Keep,
    /// It is moved aside, and a new one is started.
    Rotate,
}
