//! Passes of the graphics adapter in the last frames. The renderer measures them, and their times
//! arrive some frames later. Knows no renderer.

use crate::panic;
use std::collections::VecDeque;
use std::sync::Mutex;

/// Maximum number of frames whose passes are kept.
pub const GPU_FRAMES_KEPT: usize = 600;
/// Maximum number of passes of a frame; further passes are left out.
pub const GPU_PASSES_MAX: usize = 32;

/// A pass on the graphics adapter.
#[derive(Clone, PartialEq, Debug)]
pub struct GpuSpan {
    pub name: String,
    /// Seconds from the beginning of the frame's first pass. The adapter's clock cannot be compared
    /// with that of the scopes.
    pub began: f64,
    pub seconds: f64,
}

/// The passes of one frame.
#[derive(Clone, PartialEq, Debug)]
pub struct GpuFrame {
    pub index: u64,
    pub passes: Vec<GpuSpan>,
}

/// The frames in the order in which their times arrived.
static FRAMES: Mutex<VecDeque<GpuFrame>> = Mutex::new(VecDeque::new());

/// Stores the passes of a frame. Does nothing if that frame's passes are the newest ones already.
pub fn set_gpu_passes(index: u64, passes: impl ExactSizeIterator<Item = GpuSpan>) {
    if passes.len() == 0 {
        return;
    }
    crate::owner!("profiler");
    let mut frames = panic::lock(&FRAMES);
    if frames.back().is_some_and(|frame| frame.index == index) {
        return;
    }
    if frames.len() == GPU_FRAMES_KEPT {
        frames.pop_front();
    }
    frames.push_back(GpuFrame { index, passes: passes.take(GPU_PASSES_MAX).collect() });
}

/// Returns the newest frames with passes, oldest first: at most `count` frames after the frame with
/// index `after`.
pub fn gpu_frames(after: u64, count: usize) -> Vec<GpuFrame> {
    let frames = panic::lock(&FRAMES);
    let wanted: Vec<_> = frames.iter().filter(|frame| frame.index > after).collect();
    let skipped = wanted.len().saturating_sub(count);
    wanted.into_iter().skip(skipped).cloned().collect()
}

/// Removes everything, before another game starts in this process.
pub(super) fn clear() {
    panic::lock(&FRAMES).clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_of_a_frame_are_kept_once_and_limited() {
        let _alone = super::super::exclusive();
        clear();
        let pass = |name: &str| GpuSpan { name: name.to_string(), began: 0.0, seconds: 0.001 };
        set_gpu_passes(1, Vec::new().into_iter());
        for index in [2, 2, 3] {
            set_gpu_passes(index, vec![pass("gui")].into_iter());
        }
        let indices = |after, count| -> Vec<u64> {
            gpu_frames(after, count).iter().map(|frame| frame.index).collect()
        };
        assert_eq!((indices(0, 8), indices(2, 8), indices(0, 1)), (vec![2, 3], vec![3], vec![3]));
        set_gpu_passes(4, vec![pass("gui"); GPU_PASSES_MAX + 1].into_iter());
        assert_eq!(gpu_frames(3, 1)[0].passes.len(), GPU_PASSES_MAX);
        for index in 5..=GPU_FRAMES_KEPT as u64 + 5 {
            set_gpu_passes(index, vec![pass("gui")].into_iter());
        }
        assert_eq!(indices(0, usize::MAX).len(), GPU_FRAMES_KEPT);
        clear();
    }
}
