//! The matrices of the skins of a frame.

use super::scene::DrawTransform;
use std::sync::Arc;

/// Maximum number of matrices for which a cleared list always keeps memory.
const MATRICES_KEPT: usize = 4096;
/// Number of frames whose largest number of matrices decides how much memory is kept, so that
/// frames without changed poses free nothing.
const FRAMES_KEPT: u32 = 60;

/// The matrices of a frame's palettes. Their memory is used again without being cleared.
#[derive(Clone, Debug, Default)]
pub struct Palettes {
    /// Those beyond `count` are of earlier frames.
    matrices: Arc<Vec<DrawTransform>>,
    /// Memory of an earlier frame, which a renderer may still hold.
    spare: Arc<Vec<DrawTransform>>,
    count: usize,
    /// Largest `count` of the last `frames` frames.
    peak: usize,
    frames: u32,
}

impl Palettes {
    /// Returns the matrices of the frame.
    pub fn matrices(&self) -> &[DrawTransform] {
        &self.matrices[..self.count]
    }

    /// Returns the memory of the frame's matrices, which begin with it. They stay as they are while
    /// it is held: later frames use other memory.
    pub fn hold(&self) -> Arc<Vec<DrawTransform>> {
        Arc::clone(&self.matrices)
    }

    /// Adds matrices with any numbers. Returns the index of the first, and all of them.
    pub(super) fn reserve(&mut self, count: usize) -> (usize, &mut [DrawTransform]) {
        let first = self.count;
        self.count += count;
        // A copy only if a frame with palettes was cloned.
        let matrices = Arc::make_mut(&mut self.matrices);
        if matrices.len() < self.count {
            matrices.resize(self.count, DrawTransform::IDENTITY);
        }
        (first, &mut matrices[first..self.count])
    }

    /// Removes all matrices. After some frames, memory for twice the largest number of them stays.
    pub(super) fn clear(&mut self) {
        self.peak = self.peak.max(self.count);
        self.count = 0;
        if Arc::get_mut(&mut self.matrices).is_none() {
            std::mem::swap(&mut self.matrices, &mut self.spare);
            if Arc::get_mut(&mut self.matrices).is_none() {
                self.matrices = Arc::default();
            }
        }
        self.frames += 1;
        if self.frames >= FRAMES_KEPT {
            let kept = (2 * self.peak).max(MATRICES_KEPT);
            trim(&mut self.matrices, kept);
            trim(&mut self.spare, kept);
            (self.peak, self.frames) = (0, 0);
        }
    }
}

/// Frees the memory beyond a number of matrices, or all of it if a renderer holds it.
fn trim(matrices: &mut Arc<Vec<DrawTransform>>, kept: usize) {
    if matrices.capacity() <= kept {
        return;
    }
    match Arc::get_mut(matrices) {
        Some(matrices) => {
            matrices.truncate(kept);
            matrices.shrink_to(kept);
        }
        None => *matrices = Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Vec3;

    fn frame(palettes: &mut Palettes, count: usize) {
        assert_eq!(palettes.reserve(count).0, 0);
        assert_eq!(palettes.matrices().len(), count);
        palettes.clear();
    }

    #[test]
    fn frames_without_palettes_free_no_memory() {
        let mut palettes = Palettes::default();
        frame(&mut palettes, 50_000);
        let memory = palettes.matrices.as_ptr();
        for round in 0..5 * FRAMES_KEPT {
            frame(&mut palettes, if round % 20 == 0 { 50_000 } else { 0 });
            assert_eq!((palettes.matrices.as_ptr(), palettes.matrices.len()), (memory, 50_000));
        }
    }

    #[test]
    fn memory_of_earlier_peaks_is_freed() {
        let mut palettes = Palettes::default();
        for count in [100_000, 20_000, 10] {
            (0..2 * FRAMES_KEPT).for_each(|_| frame(&mut palettes, count));
            let kept = palettes.matrices.capacity();
            assert!(kept <= (2 * count).max(MATRICES_KEPT) && kept >= count, "{count}: {kept}");
        }
    }

    #[test]
    fn matrices_that_a_renderer_holds_stay() {
        let mut palettes = Palettes::default();
        let mut memories = Vec::new();
        let mut held = None;
        for step in 0..4 * FRAMES_KEPT {
            palettes.reserve(5000).1.fill(DrawTransform::at(Vec3::splat(step as f32)));
            let before = held.replace(palettes.hold());
            if let Some(before) = before {
                assert_eq!(before[4999], DrawTransform::at(Vec3::splat(step as f32 - 1.0)));
            }
            memories.push(palettes.matrices().as_ptr());
            palettes.clear();
        }
        // Two memories in turn, which are not created again.
        memories.sort_unstable();
        memories.dedup();
        assert_eq!(memories.len(), 2);
        // A longer peak is freed in both.
        palettes.reserve(100_000);
        held = Some(palettes.hold());
        palettes.clear();
        (0..2 * FRAMES_KEPT).for_each(|_| palettes.clear());
        drop(held);
        assert!(palettes.matrices.capacity() <= 10_000 && palettes.spare.capacity() <= 10_000);
    }

    #[test]
    fn clones_have_matrices_of_their_own() {
        let mut palettes = Palettes::default();
        palettes.reserve(2).1.fill(DrawTransform::IDENTITY);
        let copy = palettes.clone();
        palettes.reserve(1).1.fill(DrawTransform::at(Vec3::X));
        assert_eq!((palettes.matrices().len(), copy.matrices().len()), (3, 2));
        assert_eq!(copy.matrices(), [DrawTransform::IDENTITY; 2]);
    }
}
