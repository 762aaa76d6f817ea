//! The characters whose skeletons are drawn over their world, as a help for developers. It is no
//! state of the game.

use super::{Animations, Character};
use crate::WorldId;
use crate::debug_lines::DebugLine;
use crate::unit::{UnitId, Units};
use engine_foundation::{Mat4, Vec3};

/// Color of the bones of skeletons.
const BONE_COLOR: [u8; 4] = [255, 214, 64, 255];
/// Color of the line from the unit's first node to a bone without a parent.
const ROOT_COLOR: [u8; 4] = [120, 200, 255, 255];

/// The characters whose skeletons are drawn.
#[derive(Default)]
pub struct SkeletonView {
    /// True for all characters.
    pub all: bool,
    units: Vec<UnitId>,
}

impl SkeletonView {
    /// Returns true if no skeleton is drawn.
    pub fn is_empty(&self) -> bool {
        !self.all && self.units.is_empty()
    }

    /// Returns true if the skeleton of a unit is drawn.
    pub fn has(&self, unit: UnitId) -> bool {
        self.all || self.units.contains(&unit)
    }

    /// Draws the skeleton of a unit, or no longer.
    pub fn set(&mut self, unit: UnitId, enabled: bool) {
        self.remove(unit);
        if enabled {
            self.units.push(unit);
        }
    }

    pub(super) fn remove(&mut self, unit: UnitId) {
        self.units.retain(|it| *it != unit);
    }
}

/// Calls a function for each bone of a character, with a line from its parent.
fn each_bone(character: &Character, world: Mat4, mut draw: impl FnMut(DebugLine)) {
    let position = |bone: usize| {
        let matrix = character.matrices().get(bone)?;
        Some(world.transform_point3(Vec3::from_array(matrix.transform_point([0.0; 3]))))
    };
    let root = world.transform_point3(Vec3::ZERO);
    for (bone, parent) in character.model.skeleton.parents().iter().enumerate() {
        let Some(to) = position(bone) else { continue };
        let (from, color) = match parent {
            Some(parent) => (position(usize::from(*parent)).unwrap_or(root), BONE_COLOR),
            None => (root, ROOT_COLOR),
        };
        draw(DebugLine { from, to, color });
    }
}

impl Animations {
    /// Returns the lines of the skeletons that are drawn in a world, at most as many as `room`, and
    /// the number of lines that were left out.
    pub fn skeleton_lines(
        &self,
        world: WorldId,
        units: &mut Units,
        room: usize,
    ) -> (Vec<DebugLine>, usize) {
        let (mut lines, mut left_out) = (Vec::new(), 0);
        for character in self.characters.iter().filter(|it| self.skeletons.has(it.unit)) {
            let row = character.unit.row();
            if !units.is_in(row, world) {
                continue;
            }
            let pose = units.scene.world(row, 0);
            each_bone(character, pose, |line| match lines.len() < room {
                true => lines.push(line),
                false => left_out += 1,
            });
        }
        (lines, left_out)
    }
}
