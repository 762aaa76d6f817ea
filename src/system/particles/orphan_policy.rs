//! The fate of an effect that is linked to a unit when the unit is destroyed.

/// Behavior of a linked effect when its unit is destroyed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrphanPolicy {
    /// The effect is destroyed, too.
    Destroy,
    /// The effect stops spawning, and ends with its last particle.
    Stop,
    /// The effect stays at its position and continues.
    Unlink,
}

impl OrphanPolicy {
    /// All policies with their names in scripts.
    pub const ALL: [(&str, OrphanPolicy); 3] = [
        ("destroy", OrphanPolicy::Destroy),
        ("stop", OrphanPolicy::Stop),
        ("unlink", OrphanPolicy::Unlink),
    ];
}
