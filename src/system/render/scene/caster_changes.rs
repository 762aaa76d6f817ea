//! The record of what has changed among the draws of a scene that cast shadows, since the newest
//! frame. Decides nothing.

use super::clusters::LightSphere;
use engine_foundation::Vec3;

/// Above this number of changes, everything counts as changed.
const CHANGES_MAX: usize = 1024;

/// The spheres around all draws that changed, where they were and where they are.
#[derive(Default)]
pub struct CasterChanges {
    spheres: Vec<LightSphere>,
    is_full: bool,
}

impl CasterChanges {
    /// Adds the sphere of a draw. A sphere without a radius of at least 0 shows nothing.
    pub fn add(&mut self, (center, radius): (Vec3, f32)) {
        if radius < 0.0 || self.is_full {
            return;
        }
        self.is_full = self.spheres.len() >= CHANGES_MAX;
        self.spheres.push(LightSphere { center, radius });
    }

    pub fn clear(&mut self) {
        self.spheres.clear();
        self.is_full = false;
    }

    pub fn is_empty(&self) -> bool {
        self.spheres.is_empty()
    }

    /// Returns the spheres; `None`: everything has changed.
    pub fn spheres(&self) -> Option<&[LightSphere]> {
        (!self.is_full).then_some(&self.spheres)
    }
}
