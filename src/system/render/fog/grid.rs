//! The grid of a view's froxel fog, and the uniform of its shaders. Pure arithmetic.

use super::volumes::FogVolumeUniform;
use bytemuck::{Pod, Zeroable};
use engine_foundation::{Mat4, Vec3};
use engine_frame_packet::CameraFrame;
use engine_frame_packet::fog_volume::VIEW_FOG_VOLUMES_MAX;
use engine_frame_packet::shading_environment::FogValues;

/// The most columns and rows of a grid.
pub const COLUMNS_MAX: u32 = 256;
/// The fewest and the most slices.
const SLICES_MIN: u32 = 16;
const SLICES_MAX: u32 = 64;
/// Exponents by which slices grow with the distance, with and without perspective.
const GROWTH: [f32; 2] = [2.0, 1.0];
/// Number of offsets of the points in their slices, which then repeat.
const OFFSETS: u32 = 8;

/// The size of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FogGrid {
    pub columns: u32,
    pub rows: u32,
    pub slices: u32,
    /// Slices in a row of the texture.
    pub tiles: u32,
}

impl FogGrid {
    /// Returns the grid of a view's image. `columns`: the wanted number.
    pub fn new(columns: u32, (width, height): (u32, u32)) -> FogGrid {
        let columns = columns.clamp(1, COLUMNS_MAX);
        let rows = (columns * height).div_ceil(width.max(1)).clamp(1, COLUMNS_MAX);
        let slices = (columns / 2).clamp(SLICES_MIN, SLICES_MAX);
        let tiles = (slices as f32).sqrt().ceil() as u32;
        FogGrid { columns, rows, slices, tiles }
    }

    /// Returns the width and height of its texture.
    pub fn texels(&self) -> (u32, u32) {
        (self.columns * self.tiles, self.rows * self.slices.div_ceil(self.tiles))
    }

    /// Returns the vector `fog_grid` of the shaders.
    pub fn numbers(&self) -> [f32; 4] {
        [self.columns, self.rows, self.slices, self.tiles].map(|number| number as f32)
    }
}

/// Returns the vector `fog_reach` of the shaders.
pub fn reach(values: &FogValues, camera: &CameraFrame) -> [f32; 4] {
    let is_flat = camera.projection.w_axis.w.abs() >= 0.5;
    let begin = if is_flat { camera.near } else { 0.0 };
    [values.volumetric_fog_distance, begin, GROWTH[usize::from(is_flat)], 1.0]
}

/// The camera and the reach of the previous frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PreviousFog {
    pub to_clip: Mat4,
    pub eye: Vec3,
    pub ahead: Vec3,
    pub reach: [f32; 4],
    /// Number of frames since the fog began or the camera was cut.
    pub frames: u32,
}

/// The uniform `fog` of fog_inputs.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct FogUniform {
    color: [f32; 4],
    emission: [f32; 4],
    shape: [f32; 4],
    history_to_clip: [[f32; 4]; 4],
    history_eye: [f32; 4],
    history_ahead: [f32; 4],
    history_reach: [f32; 4],
    volumes: [FogVolumeUniform; VIEW_FOG_VOLUMES_MAX],
}

/// Returns the offset of the points in their slices in a frame, from -0.5 to 0.5: the sequence of
/// van der Corput in base 2.
fn offset(frames: u32) -> f32 {
    let index = frames % OFFSETS;
    index.reverse_bits() as f32 / 4294967296.0 + 0.5 / OFFSETS as f32 - 0.5
}

impl FogUniform {
    pub fn new(
        values: &FogValues,
        volumes: &[FogVolumeUniform],
        previous: Option<&PreviousFog>,
    ) -> FogUniform {
        let with = |[red, green, blue]: [f32; 3], last: f32| [red, green, blue, last];
        let mut uniform = FogUniform {
            color: with(values.volumetric_fog_color, values.volumetric_fog_density),
            emission: with(values.volumetric_fog_emission, values.volumetric_fog_anisotropy),
            shape: [
                values.volumetric_fog_height,
                values.volumetric_fog_height_falloff,
                values.volumetric_fog_sky,
                0.0,
            ],
            ..FogUniform::zeroed()
        };
        uniform.history_ahead[3] = values.volumetric_fog_lights;
        uniform.history_reach[3] = volumes.len() as f32;
        uniform.volumes[..volumes.len()].copy_from_slice(volumes);
        let smoothing = values.volumetric_fog_smoothing;
        let Some(previous) = previous.filter(|_| smoothing > 0.0) else { return uniform };
        // The first frames count equally, later ones less and less.
        let frames = previous.frames as f32;
        let kept = (frames / (frames + 1.0)).min(smoothing);
        uniform.shape[3] = offset(previous.frames);
        uniform.history_to_clip = previous.to_clip.to_cols_array_2d();
        uniform.history_eye = previous.eye.extend(kept).to_array();
        uniform.history_ahead = previous.ahead.extend(values.volumetric_fog_lights).to_array();
        uniform.history_reach[..3].copy_from_slice(&previous.reach[..3]);
        uniform
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::projections;

    #[test]
    fn the_uniform_has_the_layout_of_the_shader() {
        assert_eq!(size_of::<FogUniform>(), 6 * 16 + 64 + VIEW_FOG_VOLUMES_MAX * 96);
        assert!(size_of::<FogUniform>() <= 16384, "the least that adapters must take");
    }

    #[test]
    fn grids_follow_the_shape_of_the_view_within_limits() {
        let grid = FogGrid::new(128, (1920, 1080));
        assert_eq!((grid.columns, grid.rows, grid.slices, grid.tiles), (128, 72, 64, 8));
        assert_eq!(grid.texels(), (1024, 576));
        let tall = FogGrid::new(9999, (1, 16384));
        assert_eq!((tall.columns, tall.rows), (256, 256));
        assert_eq!(tall.texels(), (2048, 2048));
        let least = FogGrid::new(0, (16384, 1));
        assert_eq!((least.columns, least.rows, least.slices), (1, 1, SLICES_MIN));
        for columns in 1..=COLUMNS_MAX {
            let grid = FogGrid::new(columns, (320, 180));
            assert!(grid.tiles * grid.slices.div_ceil(grid.tiles) >= grid.slices);
        }
    }

    #[test]
    fn offsets_cover_a_slice_evenly() {
        let mut all: Vec<f32> = (0..OFFSETS).map(offset).collect();
        assert!(all.iter().sum::<f32>().abs() < 1e-5, "{all:?}");
        all.sort_by(f32::total_cmp);
        assert_eq!((all[0], all[7]), (-0.4375, 0.4375));
        assert_eq!(offset(3), offset(3 + OFFSETS));
    }

    #[test]
    fn fog_of_orthographic_cameras_begins_at_the_near_plane() {
        let camera = |projection: Mat4| CameraFrame {
            view: Mat4::IDENTITY,
            projection,
            position: Vec3::ZERO,
            near: 0.5,
            far: 100.0,
        };
        let values = FogValues::DEFAULT;
        let near = reach(&values, &camera(projections::perspective(1.0, 1.0, 0.5, 100.0)));
        let flat = projections::orthographic(-1.0, 1.0, -1.0, 1.0, 0.5, 100.0);
        let flat = reach(&values, &camera(flat));
        assert_eq!((near, flat), ([64.0, 0.0, 2.0, 1.0], [64.0, 0.5, 1.0, 1.0]));
    }

    #[test]
    fn the_first_frames_of_the_history_count_equally() {
        let (eye, ahead) = (Vec3::ZERO, Vec3::Y);
        let mut previous = PreviousFog {
            to_clip: Mat4::IDENTITY,
            eye,
            ahead,
            reach: [64.0, 0.0, 2.0, 1.0],
            frames: 1,
        };
        let kept = |previous: &PreviousFog, smoothing: f32| {
            let values = FogValues { volumetric_fog_smoothing: smoothing, ..FogValues::DEFAULT };
            FogUniform::new(&values, &[], Some(previous)).history_eye[3]
        };
        assert_eq!(kept(&previous, 0.9), 0.5);
        previous.frames = 1000;
        assert_eq!((kept(&previous, 0.9), kept(&previous, 0.0)), (0.9, 0.0));
        let alone = FogUniform::new(&FogValues::DEFAULT, &[], None);
        assert_eq!((alone.history_eye[3], alone.shape[3]), (0.0, 0.0));
    }
}
