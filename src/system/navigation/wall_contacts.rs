//! Agents that a wall has stopped although their way leads on: at the tip of a corner, and at full
//! speed against a wall.

use super::agent::Agent;
use super::mesh::{NavigationMesh, NearestPolygon};
use engine_foundation::Vec2;
use engine_foundation::deterministic_math::sin_cos;

/// Part of the way of a step below which a wall has stopped an agent, after so many seconds without
/// progress.
const STOPPED_PART: f32 = 0.5;
pub(super) const STOPPED_SECONDS: f32 = 0.2;
/// Angle to both sides at which it tries to pass the tip of a corner then, in radians.
const TIP_ANGLE: f32 = 0.35;

impl Agent {
    /// Moves an agent that a wall has stopped past the tip of a corner: less than a millimetre
    /// before it, the way along the wall behind the tip can meet the wall before it by rounding.
    pub(super) fn pass_tip(&mut self, mesh: &NavigationMesh, start: NearestPolygon, by: Vec2) {
        let gain = |at: NearestPolygon| {
            (at.position - start.position).truncate().dot(by) / by.length_squared()
        };
        if gain(self.at) >= STOPPED_PART {
            return;
        }
        let (sin, cos) = sin_cos(TIP_ANGLE);
        for side in [sin, -sin] {
            let at = mesh.slide(start, Vec2::new(cos, side).rotate(by));
            if gain(at) > gain(self.at) {
                self.at = at;
            }
        }
    }

    /// Takes the speed from an agent that a wall has stopped, of whose way a part was left: it
    /// could not turn away from a corner that it walks against at full speed.
    pub(super) fn stop_at_wall(&mut self, part: f32) {
        if part < STOPPED_PART {
            self.velocity *= part;
        }
    }
}
