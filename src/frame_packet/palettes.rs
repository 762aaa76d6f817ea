//! The matrices of the skins of a frame.

use super::scene::DrawTransform;

/// Maximum number of matrices for which a cleared list always keeps memory.
const MATRICES_KEPT: usize = 4096;
/// Number of frames whose largest number of matrices decides how much memory is kept, so that
/// frames without changed poses free nothing.
const FRAMES_KEPT: u32 = 60;

/// The matrices of a frame's palettes. Their memory is used again without being cleared.
#[derive(Clone, Debug, Default)]
pub struct Palettes {
    /// Those beyond `count` are of earlier frames.
    matrices: Vec<DrawTransform>,
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

    /// Adds matrices with any numbers. Returns the index of the first, and all of them.
    pub(super) fn reserve(&mut self, count: usize) -> (usize, &mut [DrawTransform]) {
        let first = self.count;
        self.count += count;
        if self.matrices.len() < self.count {
            self.matrices.resize(self.count, DrawTransform::IDENTITY);
        }
        (first, &mut self.matrices[first..self.count])
    }

    /// Removes all matrices. After some frames, memory for twice the largest number of them stays.
    pub(super) fn clear(&mut self) {
        self.peak = self.peak.max(self.count);
        self.count = 0;
        self.frames += 1;
        if self.frames >= FRAMES_KEPT {
            let kept = (2 * self.peak).max(MATRICES_KEPT);
            self.matrices.truncate(kept);
            self.matrices.shrink_to(kept);
            (self.peak, self.frames) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
