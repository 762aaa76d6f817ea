//! The poses that the draws of a scene had before the newest packet moved them, for motion vectors.
//! Nothing is kept for scenes whose views use none.

use super::super::numeric_map::NumberMap;
use engine_frame_packet::scene::DrawTransform;

/// The previous pose of one draw.
struct PreviousPose {
    pose: DrawTransform,
    /// Range of its deformation in [`PreviousPoses::rows`]; empty: the bind pose.
    first: usize,
    count: usize,
}

/// The previous poses of the draws that the newest packet has moved.
#[derive(Default)]
pub struct PreviousPoses {
    is_kept: bool,
    draws: NumberMap<u32, PreviousPose>,
    /// Rows of deformations, as in [`super::Deformations`].
    rows: Vec<[f32; 4]>,
}

impl PreviousPoses {
    /// Begins a packet. `is_kept`: a view of the packet needs the poses.
    pub fn begin(&mut self, is_kept: bool) {
        self.is_kept = is_kept;
        if is_kept {
            self.draws.clear();
            self.rows.clear();
        } else if self.draws.capacity() > 0 {
            (self.draws, self.rows) = Default::default();
        }
    }

    /// Keeps the pose of a draw that is about to change. Of several changes in a packet, the first
    /// counts. `deformation` returns the rows of the draw's deformation in two parts.
    pub fn keep<'a>(
        &mut self,
        slot: u32,
        pose: &DrawTransform,
        deformation: impl FnOnce() -> [&'a [[f32; 4]]; 2],
    ) {
        if !self.is_kept || self.draws.contains_key(&slot) {
            return;
        }
        let first = self.rows.len();
        deformation().iter().for_each(|part| self.rows.extend_from_slice(part));
        let count = self.rows.len() - first;
        self.draws.insert(slot, PreviousPose { pose: *pose, first, count });
    }

    /// Forgets the pose of a draw, because it has ended or shows another mesh.
    pub fn forget(&mut self, slot: u32) {
        self.draws.remove(&slot);
    }

    pub fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }

    /// Returns the previous pose of a draw and the rows of its previous deformation. `None`: the
    /// draw has not moved.
    pub fn get(&self, slot: u32) -> Option<(&DrawTransform, &[[f32; 4]])> {
        let draw = self.draws.get(&slot)?;
        Some((&draw.pose, &self.rows[draw.first..draw.first + draw.count]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Vec3;

    const NONE: [&[[f32; 4]]; 2] = [&[]; 2];

    #[test]
    fn the_first_pose_of_a_packet_is_kept_if_needed() {
        let (one, two) = (DrawTransform::at(Vec3::X), DrawTransform::at(Vec3::Y));
        let mut poses = PreviousPoses::default();
        poses.begin(false);
        poses.keep(3, &one, || NONE);
        assert!(poses.is_empty());
        poses.begin(true);
        poses.keep(3, &one, || [&[[1.0; 4]], &[[3.0; 4]]]);
        poses.keep(3, &two, || [&[[2.0; 4]], &[]]);
        poses.keep(4, &two, || NONE);
        assert_eq!(poses.get(3), Some((&one, &[[1.0; 4], [3.0; 4]][..])));
        assert_eq!(poses.get(4), Some((&two, &[][..])));
        poses.forget(3);
        assert_eq!(poses.get(3), None);
        poses.begin(true);
        assert!(poses.is_empty());
    }
}
