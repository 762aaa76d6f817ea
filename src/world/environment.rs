//! The surroundings of a world: its sky, and the default sun. Stores settings only: the transfer
//! to the renderer is in src/engine/render_scene.rs.

use super::WorldFlags;
use engine_foundation::Vec3;
use engine_frame_packet::scene::{LightFrame, LightKind, SkyFrame, SkyVisibility};

/// Surroundings of a world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Environment {
    pub sky: SkyFrame,
    /// True if the default sun lights the world while no unit has a directional light.
    pub sun: bool,
}

impl Environment {
    /// A clear day: the surroundings of new worlds.
    pub const DAY: Environment = Environment {
        sky: SkyFrame {
            top: [0.12, 0.23, 0.46],
            horizon: [0.42, 0.51, 0.62],
            ground: [0.17, 0.15, 0.12],
            shown: SkyVisibility::Perspective,
            ..SkyFrame::DEFAULT
        },
        sun: true,
    };
    /// Dim light from all sides, without a sun.
    pub const PLAIN: Environment = Environment { sky: SkyFrame::DEFAULT, sun: false };

    /// Returns the surroundings of a new world.
    pub fn of(flags: WorldFlags) -> Environment {
        if flags.flat || flags.no_sky { Environment::PLAIN } else { Environment::DAY }
    }
}

/// Direction of the default sun's light, before normalization: from the left, behind a camera that
/// looks along y.
const SUN_DIRECTION: Vec3 = Vec3::new(0.6, 0.6, -0.8);

/// Returns the default sun. It casts shadows.
pub fn default_sun() -> LightFrame {
    let direction = SUN_DIRECTION.normalize();
    LightFrame {
        kind: LightKind::Sun { direction, casts_shadows: true },
        color: [1.6, 1.45, 1.18],
        ..LightFrame::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_worlds_and_worlds_without_a_sky_have_no_day() {
        let flat = WorldFlags { flat: true, ..WorldFlags::default() };
        let bare = WorldFlags { no_sky: true, ..WorldFlags::default() };
        assert_eq!([flat, bare].map(Environment::of), [Environment::PLAIN; 2]);
        assert_eq!(Environment::of(WorldFlags::default()), Environment::DAY);
    }

    #[test]
    fn the_default_sun_is_slanted_and_casts_shadows() {
        let LightKind::Sun { direction, casts_shadows } = default_sun().kind else {
            panic!("a sun")
        };
        assert!(casts_shadows && (direction.length() - 1.0).abs() < 1e-6);
        assert!((-0.9..-0.4).contains(&direction.z), "{direction}");
    }
}
