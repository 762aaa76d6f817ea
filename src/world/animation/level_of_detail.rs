//! Level of detail of characters: those that are far away from the camera, or small in its picture,
//! evaluate their poses in some of the updates only. State machines, events and root motion go on
//! in every update. The bones of a level are in bone_sets.rs.

use engine_foundation::Vec3;
use engine_foundation::hash::StateHash;

/// Maximum level: the pose is evaluated in every eighth update.
pub const LEVEL_MAX: u8 = 3;
/// Factor of a limit between two levels beyond which the level changes, so that it does not flicker
/// while a character stays near the limit.
const HYSTERESIS: f32 = 1.1;

/// Returns the level at a multiple of the distance at which level 0 ends.
fn level_of(relative_distance: f32) -> u8 {
    [1.0, 2.0, 4.0].iter().filter(|limit| relative_distance > **limit).count() as u8
}

/// Lens of a camera.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lens {
    /// Half of the height of the picture at the distance 1.
    Perspective(f32),
    /// Half of the height of the picture.
    Orthographic(f32),
}

/// A camera that shows a world.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Viewer {
    pub position: Vec3,
    pub lens: Lens,
}

/// Level of detail of a character.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LevelOfDetail {
    /// Distance to the camera in metres up to which the level is 0. Level 1 ends at twice, and
    /// level 2 at four times that distance. 0: the distance does not matter.
    pub near: f32,
    /// Part of the height of the picture down to which the level is 0. Level 1 ends at a half, and
    /// level 2 at a quarter of it. 0: the size does not matter.
    pub size: f32,
    /// Level that a script has set; `None` is that of the distance or the size.
    pub level: Option<u8>,
    /// Level of the last update.
    current: u8,
    /// Number of updates until the next evaluation.
    wait: u8,
    /// Seconds since the last evaluation.
    skipped: f32,
}

impl LevelOfDetail {
    /// Returns true if the level depends on the camera.
    pub fn needs_viewers(&self) -> bool {
        self.level.is_none() && (self.near > 0.0 || self.size > 0.0)
    }

    /// Returns the level of the last update.
    pub fn current(&self) -> u8 {
        self.current
    }

    /// Returns the distance of a character to the nearest viewer, as a multiple of the distance at
    /// which level 0 ends. `extent` is the size of the character in metres.
    pub fn relative_distance(
        &self,
        viewers: &[Viewer],
        position: Vec3,
        extent: f32,
    ) -> Option<f32> {
        let of = |viewer: &Viewer| {
            let distance = viewer.position.distance(position);
            let by_distance = if self.near > 0.0 { distance / self.near } else { 0.0 };
            let height = match viewer.lens {
                Lens::Perspective(half) => 2.0 * half * distance,
                Lens::Orthographic(half) => 2.0 * half,
            };
            // Without a size, a character is as small as can be.
            let by_size = if self.size > 0.0 { height * self.size / extent } else { 0.0 };
            by_distance.max(by_size)
        };
        let nearest = viewers.iter().map(of).fold(f32::INFINITY, f32::min);
        (!viewers.is_empty()).then_some(nearest)
    }

    /// Returns the next level at a relative distance: the pose is evaluated in each 2^level-th
    /// update.
    fn level_at(&self, relative_distance: Option<f32>) -> u8 {
        match (self.level, relative_distance) {
            (Some(level), _) => level.min(LEVEL_MAX),
            (None, Some(far)) => {
                self.current.clamp(level_of(far / HYSTERESIS), level_of(far * HYSTERESIS))
            }
            (None, None) => 0,
        }
    }

    /// Counts an update, and returns true if it evaluates the pose. `is_new` is true for a
    /// character without a pose; `row` spreads characters over the updates.
    pub fn take_turn(
        &mut self,
        relative_distance: Option<f32>,
        is_new: bool,
        row: u32,
        seconds: f32,
    ) -> bool {
        self.current = self.level_at(relative_distance);
        let interval = 1 << self.current;
        if is_new {
            self.wait = (row % interval) as u8;
            return true;
        }
        self.wait = self.wait.min(interval as u8 - 1);
        if self.wait == 0 {
            self.wait = interval as u8 - 1;
            return true;
        }
        self.wait -= 1;
        self.skipped += seconds;
        false
    }

    /// Returns the seconds since the last evaluation, of which the current update has `seconds`.
    pub fn take_seconds(&mut self, seconds: f32) -> f32 {
        seconds + std::mem::take(&mut self.skipped)
    }

    pub fn write_state(&self, hash: &mut StateHash) {
        hash.write_f32(self.near);
        hash.write_f32(self.size);
        let level = self.level.map_or(u64::from(u8::MAX), u64::from);
        hash.write_u64(u64::from(self.current) << 16 | level << 8 | u64::from(self.wait));
        hash.write_f32(self.skipped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENS: Lens = Lens::Perspective(0.5);

    /// Returns the updates of 24 in which the pose is evaluated, and the seconds of each. The
    /// character is 2 metres tall.
    fn turns(mut lod: LevelOfDetail, viewers: &[Viewer]) -> (Vec<usize>, f32) {
        let far =
            lod.needs_viewers().then(|| lod.relative_distance(viewers, Vec3::ZERO, 2.0)).flatten();
        assert!(lod.take_turn(far, true, 5, 0.5));
        let mut seconds = lod.take_seconds(0.0);
        let turn = |_: &usize| {
            let taken = lod.take_turn(far, false, 5, 0.5);
            if taken {
                seconds += lod.take_seconds(0.5);
            }
            taken
        };
        ((0..24).filter(turn).collect(), seconds)
    }

    fn at(distance: f32, lens: Lens) -> Vec<Viewer> {
        let viewer = |x: f32| Viewer { position: Vec3::new(x, 0.0, 0.0), lens };
        // The nearest one counts.
        vec![viewer(2.0 * distance), viewer(distance)]
    }

    #[test]
    fn distant_characters_evaluate_fewer_poses() {
        let near = LevelOfDetail { near: 10.0, ..LevelOfDetail::default() };
        let count = |lod, viewers: &[Viewer]| turns(lod, viewers).0.len();
        for (distance, wanted) in [(0.0, 24), (10.0, 24), (15.0, 12), (30.0, 6), (1e9, 3)] {
            assert_eq!(count(near, &at(distance, LENS)), wanted, "{distance} m");
        }
        assert_eq!(count(near, &at(f32::NAN, LENS)), 24);
        assert_eq!(count(near, &[]), 24, "without a camera");
        assert_eq!(count(LevelOfDetail::default(), &at(1e9, LENS)), 24);
        let fixed = LevelOfDetail { level: Some(2), ..near };
        assert_eq!(turns(fixed, &at(0.0, LENS)), (vec![1, 5, 9, 13, 17, 21], 11.0));
        assert_eq!(count(LevelOfDetail { level: Some(99), ..near }, &[]), 3);
    }

    #[test]
    fn small_characters_evaluate_fewer_poses() {
        // Two metres are a fifth of the picture's height at 10 m, and a tenth at 20 m.
        let small = LevelOfDetail { size: 0.2, ..LevelOfDetail::default() };
        let count = |lod, viewers: &[Viewer]| turns(lod, viewers).0.len();
        for (distance, wanted) in [(9.9, 24), (15.0, 12), (30.0, 6), (50.0, 3)] {
            assert_eq!(count(small, &at(distance, LENS)), wanted, "{distance} m");
        }
        // A tele lens shows them four times as large.
        assert_eq!(count(small, &at(30.0, Lens::Perspective(0.125))), 24);
        for (half, wanted) in [(4.9, 24), (7.5, 12), (15.0, 6), (1e6, 3)] {
            let viewers = at(1e6, Lens::Orthographic(half));
            assert_eq!(count(small, &viewers), wanted, "{half} m");
        }
        let both = LevelOfDetail { near: 10.0, ..small };
        assert_eq!(count(both, &at(30.0, Lens::Perspective(0.01))), 6, "the higher level");
        assert_eq!(small.relative_distance(&at(1.0, LENS), Vec3::ZERO, 0.0), Some(f32::INFINITY));
    }

    #[test]
    fn levels_change_only_beyond_their_limits() {
        let mut lod = LevelOfDetail { near: 10.0, ..LevelOfDetail::default() };
        let mut level = |distance: f32| {
            let far = lod.relative_distance(&at(distance, LENS), Vec3::ZERO, 2.0);
            lod.take_turn(far, false, 0, 0.0);
            lod.current()
        };
        for (distance, wanted) in [
            (10.9, 0),
            (11.1, 1),
            (9.2, 1),
            (10.5, 1),
            (9.0, 0),
            (10.9, 0),
            (21.9, 1),
            (22.1, 2),
            (18.3, 2),
            (18.1, 1),
            (f32::INFINITY, 3),
            (36.5, 3),
            (0.0, 0),
            (f32::NAN, 0),
        ] {
            assert_eq!(level(distance), wanted, "{distance} m");
        }
    }

    #[test]
    fn the_level_is_part_of_the_state_hash() {
        let near = LevelOfDetail { near: 10.0, ..LevelOfDetail::default() };
        let state = |distance: f32| {
            let mut lod = near;
            let far = lod.relative_distance(&at(distance, LENS), Vec3::ZERO, 2.0);
            assert!(lod.take_turn(far, true, 0, 0.0));
            let mut hash = StateHash::new(0);
            lod.write_state(&mut hash);
            (hash.finish(), lod.current(), lod.wait)
        };
        let (first, second) = (state(5.0), state(15.0));
        assert_eq!((first.1, second.1, first.2, second.2), (0, 1, 0, 0));
        assert_ne!(first.0, second.0, "only the level differs");
    }
}
