//! The cameras that show a world. Drawing records them, and levels of detail in the next update of
//! the world use them.

use crate::camera::CameraId;

/// Cameras that showed a world in the newest frame that drew it.
#[derive(Clone, Debug, Default)]
pub struct ViewingCameras {
    /// Number of that frame.
    frame: u64,
    /// In the order of the views, each of them once.
    cameras: Vec<CameraId>,
}

impl ViewingCameras {
    /// Records that a camera shows the world in a frame.
    pub fn record(&mut self, camera: CameraId, frame: u64) {
        if self.frame != frame {
            self.frame = frame;
            self.cameras.clear();
        }
        if !self.cameras.contains(&camera) {
            self.cameras.push(camera);
        }
    }

    /// Returns the cameras. Some of them may have been destroyed since.
    pub fn cameras(&self) -> &[CameraId] {
        &self.cameras
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::{HandleKind, Slots};

    #[test]
    fn cameras_of_the_newest_frame_replace_those_before() {
        let mut slots = Slots::new(HandleKind::Camera, 2);
        let [one, other] = [0, 1].map(|_| CameraId(slots.add(()).unwrap()));
        let mut viewing = ViewingCameras::default();
        for (camera, frame) in [(one, 0), (other, 0), (one, 0)] {
            viewing.record(camera, frame);
        }
        assert_eq!(viewing.cameras(), [one, other]);
        viewing.record(other, 7);
        assert_eq!(viewing.cameras(), [other]);
    }
}
