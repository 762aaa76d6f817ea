//! Level of detail of characters: those that are far away from the camera evaluate their poses in
//! some of the updates only. State machines, events and root motion go on in every update.

use engine_foundation::hash::StateHash;

/// Maximum level: the pose is evaluated in every eighth update.
pub const LEVEL_MAX: u8 = 3;

/// Level of detail of a character.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LevelOfDetail {
    /// Distance to the camera in metres up to which the pose is evaluated in every update. Twice,
    /// four times and eight times as far, updates are left out. 0 evaluates in all of them.
    pub near: f32,
    /// Level that a script has set; `None` is that of the distance.
    pub level: Option<u8>,
    /// Number of updates until the next evaluation.
    wait: u8,
    /// Seconds since the last evaluation.
    skipped: f32,
}

impl LevelOfDetail {
    /// Returns true if the level depends on the distance to the camera.
    pub fn needs_distance(&self) -> bool {
        self.level.is_none() && self.near > 0.0
    }

    /// Returns the level at a distance: the pose is evaluated in each 2^level-th update.
    fn level_at(&self, distance: Option<f32>) -> u8 {
        match (self.level, distance) {
            (Some(level), _) => level.min(LEVEL_MAX),
            (None, Some(distance)) if self.near > 0.0 && distance > self.near => {
                let far = distance / self.near;
                1 + u8::from(far > 2.0) + u8::from(far > 4.0)
            }
            _ => 0,
        }
    }

    /// Counts an update, and returns true if it evaluates the pose. `is_new` is true for a
    /// character without a pose; `row` spreads characters over the updates.
    pub fn take_turn(
        &mut self,
        distance: Option<f32>,
        is_new: bool,
        row: u32,
        seconds: f32,
    ) -> bool {
        let interval = 1 << self.level_at(distance);
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
        let level = self.level.map_or(u64::from(u8::MAX), u64::from);
        hash.write_u64(level << 8 | u64::from(self.wait));
        hash.write_f32(self.skipped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the updates of 24 in which the pose is evaluated, and the seconds of each.
    fn turns(mut lod: LevelOfDetail, distance: Option<f32>) -> (Vec<usize>, f32) {
        assert!(lod.take_turn(distance, true, 5, 0.5));
        let mut seconds = lod.take_seconds(0.0);
        let turn = |_: &usize| {
            let taken = lod.take_turn(distance, false, 5, 0.5);
            if taken {
                seconds += lod.take_seconds(0.5);
            }
            taken
        };
        ((0..24).filter(turn).collect(), seconds)
    }

    #[test]
    fn distant_characters_evaluate_fewer_poses() {
        let near = LevelOfDetail { near: 10.0, ..LevelOfDetail::default() };
        let count = |lod, distance| turns(lod, distance).0.len();
        for (distance, wanted) in [(0.0, 24), (10.0, 24), (15.0, 12), (30.0, 6), (1e9, 3)] {
            assert_eq!(count(near, Some(distance)), wanted, "{distance} m");
        }
        assert_eq!(count(near, Some(f32::NAN)), 24);
        assert_eq!(count(near, None), 24, "without a camera");
        assert_eq!(count(LevelOfDetail::default(), Some(1e9)), 24);
        let fixed = LevelOfDetail { level: Some(2), ..near };
        assert_eq!(turns(fixed, Some(0.0)), (vec![1, 5, 9, 13, 17, 21], 11.0));
        assert_eq!(count(LevelOfDetail { level: Some(99), ..near }, None), 3);
    }
}
