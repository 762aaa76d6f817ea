//! The matrices of the skins of a frame.

use super::scene::DrawTransform;

/// Maximum number of matrices for which a cleared list always keeps memory.
const MATRICES_KEPT: usize = 4096;

/// The matrices of a frame's palettes. Their memory is used again without being cleared.
#[derive(Clone, Debug, Default)]
pub struct Palettes {
    /// Those beyond `count` are of earlier frames.
    matrices: Vec<DrawTransform>,
    count: usize,
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

    /// Removes all matrices, and keeps memory for twice as many as there were.
    pub(super) fn clear(&mut self) {
        let kept = (2 * self.count).max(MATRICES_KEPT);
        self.matrices.truncate(kept);
        self.matrices.shrink_to(kept);
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn palettes_keep_memory_for_twice_as_many_matrices() {
        let mut palettes = Palettes::default();
        for count in [100_000, 100_000, 20_000, 10] {
            assert_eq!(palettes.reserve(count).0, 0);
            assert_eq!(palettes.matrices().len(), count);
            palettes.clear();
            let kept = palettes.matrices.capacity();
            assert!(kept <= (2 * count).max(MATRICES_KEPT) && kept >= count, "{count}: {kept}");
        }
    }
}
