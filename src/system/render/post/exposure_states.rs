//! The states of automatic exposure, which views keep from frame to frame. Computes no exposure:
//! exposure.wgsl does.

use super::super::device::GpuDevice;
use super::images::{EXPOSURE_FORMAT, ImageMaker, LIGHT_FORMAT, PostImage};
use engine_frame_packet::ViewTarget;

/// Side length of the metering grid, and number of bins, as in exposure.wgsl.
const CELLS: u32 = 32;
const BINS: u32 = 64;
/// States that no view has needed for this number of frames are dropped.
const UNUSED_FRAMES_MAX: u64 = 120;
/// At most this number of states is kept for views that are not drawn.
const STATES_MAX: usize = 64;
/// The longest step in seconds by which an exposure adapts, after a pause for example.
const STEP_MAX: f64 = 1.0;

/// The identity of a view from frame to frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewKey {
    pub target: ViewTarget,
    pub scene: u64,
    /// Number of views before it with the same target and scene.
    pub number: usize,
}

struct ExposureState {
    key: ViewKey,
    /// The exposures of this frame and of the one before, in turns.
    images: [PostImage; 2],
    newest: usize,
    seconds: f64,
    /// The frame that needed it last.
    used: u64,
}

/// The images with which a view's exposure is computed in a frame.
pub struct FrameExposure {
    pub cells: PostImage,
    pub histogram: PostImage,
    pub before: PostImage,
    pub now: PostImage,
    /// Seconds since the frame before; `None` in the first frame.
    pub step: Option<f32>,
}

/// All states. Views share the images of metering, one after the other.
#[derive(Default)]
pub struct ExposureStates {
    states: Vec<ExposureState>,
    metering: Option<[PostImage; 2]>,
}

impl ExposureStates {
    /// Moves a view's state on to a frame, at a game time in seconds.
    pub fn advance(
        &mut self,
        device: &GpuDevice,
        maker: &mut ImageMaker,
        key: &ViewKey,
        (frame, seconds): (u64, f64),
    ) -> FrameExposure {
        let metering = self.metering.get_or_insert_with(|| {
            [("metering", (CELLS, CELLS)), ("histogram", (BINS, 1))]
                .map(|(label, size)| maker.make(device, label, size, LIGHT_FORMAT))
        });
        let [cells, histogram] = metering.clone();
        let found = self.states.iter().position(|state| state.key == *key);
        let index = found.unwrap_or_else(|| {
            let mut make = || maker.make(device, "exposure", (1, 1), EXPOSURE_FORMAT);
            let images = [make(), make()];
            self.states.push(ExposureState { key: *key, images, newest: 0, seconds, used: frame });
            self.states.len() - 1
        });
        let state = &mut self.states[index];
        let step = found.map(|_| (seconds - state.seconds).clamp(0.0, STEP_MAX) as f32);
        let before = state.images[state.newest].clone();
        state.newest = 1 - state.newest;
        let now = state.images[state.newest].clone();
        (state.seconds, state.used) = (seconds, frame);
        FrameExposure { cells, histogram, before, now, step: step.filter(|step| !step.is_nan()) }
    }

    /// Drops states that no view needs, and returns true if there were any.
    pub fn drop_unused(&mut self, frame: u64) -> bool {
        let before = self.states.len();
        self.states.retain(|state| frame - state.used <= UNUSED_FRAMES_MAX);
        if self.states.len() > STATES_MAX {
            self.states.retain(|state| state.used == frame);
        }
        if self.states.is_empty() {
            self.metering = None;
        }
        self.states.len() < before
    }

    pub fn bytes(&self) -> u64 {
        let states = self.states.iter().flat_map(|state| &state.images);
        states.chain(self.metering.iter().flatten()).map(PostImage::bytes).sum()
    }
}
