//! Root motion of characters: the movement that clips take out of their poses, which moves the unit
//! or its mover, or which a script applies.

use super::Character;
use crate::physics::PhysicsTables;
use crate::unit::Units;
use engine_animation::RigidTransform;
use engine_foundation::log;

/// Maximum duration of one movement of a mover in seconds.
const MOVE_SECONDS_MAX: f32 = 10.0;

/// Effect of root motion on a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RootMode {
    /// The unit does not move. Scripts read the movement.
    #[default]
    Ignore,
    /// The unit moves, and keeps its rotation.
    Position,
    /// The unit moves and turns.
    PositionAndRotation,
}

impl RootMode {
    /// All modes, by their names in scripts.
    pub const ALL: [(&'static str, RootMode); 3] = [
        ("ignore", RootMode::Ignore),
        ("position", RootMode::Position),
        ("position_and_rotation", RootMode::PositionAndRotation),
    ];

    pub fn name(self) -> &'static str {
        let found = RootMode::ALL.iter().find(|(_, mode)| *mode == self);
        found.expect("all modes are in the list").0
    }
}

/// Moves the unit of a character by the root motion of the last update. A unit with a mover moves
/// as the mover does, with collisions. If the mover cannot move, for example because it would leave
/// the allowed range, root motion has no effect on the unit any more, and the error is logged.
pub(super) fn drive(
    character: &mut Character,
    units: &mut Units,
    bodies: &mut PhysicsTables,
    seconds: f32,
) {
    let (delta, unit) = (character.root_delta, character.unit);
    if character.root_mode == RootMode::Ignore || delta == RigidTransform::IDENTITY {
        return;
    }
    let row = unit.row();
    let mut pose = units.scene.local(row, 0);
    let mut displacement = pose.rotation * (pose.scale * delta.position);
    if let Some(mover) = bodies.unit_mover(unit)
        && units.scene.parent(row, 0).is_none()
        && seconds > 0.0
    {
        let before = bodies.mover(mover).position;
        let moved = bodies.move_mover(mover, displacement, seconds.min(MOVE_SECONDS_MAX));
        if let Err(error) = moved {
            character.root_mode = RootMode::Ignore;
            let name = &units.of(unit).resource.name;
            log::error(&format!(
                "unit \"{name}\", root motion: {}: its root mode is 'ignore' from now on",
                error.message
            ));
            return;
        }
        displacement = bodies.mover(mover).position - before;
    }
    pose.position += displacement;
    if character.root_mode == RootMode::PositionAndRotation {
        pose.rotation = (pose.rotation * delta.rotation).normalize();
    }
    if pose.is_finite() {
        units.scene.set_local(row, 0, &pose);
    }
}
