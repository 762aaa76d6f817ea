//! The decals of a scene, the choice of those that a view shows, and their part of the grid of
//! clusters. Draws nothing.
//!
//! A view's decals are a block of numbers in [`super::FrameLights::grid`]: a header, a number for
//! each cluster, the entries of the clusters, and a record for each decal. So the shaders of meshes
//! need no further buffer, and the decals are clustered as lights are.

use super::clusters::{CLUSTERS, ClusterBuilder, LightSphere};
use super::culling::{Spheres, cull};
use super::decal_textures::{DecalLayerTable, DecalLayers, TextureKey, keys_of_all};
use super::lights::{SceneUniform, is_perspective};
use engine_foundation::{Mat4, Vec3, Vec4};
use engine_frame_packet::CameraFrame;
use engine_frame_packet::decal::{
    DECAL_ENTRIES_MAX, DecalFrame, FRAME_DECAL_ENTRIES_MAX, VIEW_DECALS_MAX,
};
use engine_frame_packet::scene::DrawTransform;

/// Numbers of the header: factor and offset from the depth to the slice, as bits of an f32; where
/// the records begin. The same as in forward/decals.wgsl.
const HEADER_NUMBERS: usize = 4;
/// Numbers of a record.
const RECORD_NUMBERS: usize = 28;
/// Smallest difference of the cosines of the angles between which a decal fades.
const FADE_MIN: f32 = 1e-3;
/// Greatest light that a decal emits, which half floats can store.
const LIGHT_MAX: f32 = 60_000.0;
/// Greatest factor for the slopes of a normal texture.
const SLOPE_MAX: f32 = 100.0;
/// Smallest determinant of the pose of a decal: a flat one is not visible.
const DETERMINANT_MIN: f32 = 1e-12;

/// The decals of one scene.
#[derive(Default)]
pub struct SceneDecals {
    pub all: Vec<DecalFrame>,
    spheres: Spheres,
    /// The different textures of all decals, in ascending order.
    pub textures: Vec<TextureKey>,
    /// The begin and the end of each fade by time, in seconds.
    fades: Vec<[f64; 2]>,
    /// Number of the newest change.
    version: u64,
}

impl SceneDecals {
    /// Replaces all decals. Those with numbers that are not finite are not visible.
    pub fn set(&mut self, decals: &[DecalFrame]) {
        self.version += 1;
        self.all.clear();
        self.all.extend_from_slice(decals);
        self.textures = keys_of_all(decals.iter());
        self.fades.clear();
        self.fades.extend(decals.iter().filter_map(|decal| decal.life));
        self.spheres = Spheres::default();
        self.spheres.resize(decals.len());
        for (index, decal) in decals.iter().enumerate() {
            if !is_shown(decal) {
                continue;
            }
            // Through all corners of the box.
            let DecalTransformParts { center, axes } = parts(&decal.pose);
            let radius = axes.iter().map(|axis| axis.length_squared()).sum::<f32>().sqrt();
            self.spheres.set(index, center, radius);
        }
    }

    /// Returns a state of the fades by time that differs between two times at which the decals look
    /// different.
    fn fade_state(&self, seconds: f64) -> FadeState {
        if self.fades.iter().any(|[begin, end]| *begin < seconds && seconds < *end) {
            return FadeState::Changing(seconds.to_bits());
        }
        FadeState::Constant { ended: self.fades.iter().filter(|[_, end]| *end <= seconds).count() }
    }
}

/// A state of the fades by time of a scene's decals.
#[derive(Clone, Copy, PartialEq, Debug)]
enum FadeState {
    /// A decal fades, at a time.
    Changing(u64),
    /// No decal fades, and a number of them have ended.
    Constant { ended: usize },
}

/// The centre of a box, and its half axes.
struct DecalTransformParts {
    center: Vec3,
    axes: [Vec3; 3],
}

fn parts(pose: &DrawTransform) -> DecalTransformParts {
    let DrawTransform(rows) = pose;
    let column = |number: usize| Vec3::from_array(rows.map(|row| row[number]));
    DecalTransformParts { center: column(3), axes: [0, 1, 2].map(column) }
}

/// Returns the matrix from the world to the cube between -1 and 1.
fn to_cube(pose: &DrawTransform) -> Mat4 {
    let DecalTransformParts { center, axes: [x, y, z] } = parts(pose);
    Mat4::from_cols(x.extend(0.0), y.extend(0.0), z.extend(0.0), center.extend(1.0)).inverse()
}

/// Returns true if a box has a volume, and if shaders can compute with its size: directions have a
/// length, and a sphere around the box has a radius.
fn has_volume(pose: &DrawTransform) -> bool {
    let DecalTransformParts { center, axes: [x, y, z] } = parts(pose);
    let volume = x.cross(y).dot(z).abs();
    let radius_squared = x.length_squared() + y.length_squared() + z.length_squared();
    let is_measured = volume.is_finite() && volume > DETERMINANT_MIN && radius_squared.is_finite();
    if !is_measured || !center.is_finite() {
        return false;
    }
    let to_cube = to_cube(pose);
    let has_direction = |row: Vec4| row.truncate().length_squared().is_normal();
    to_cube.is_finite() && [0, 1, 2].into_iter().all(|row| has_direction(to_cube.row(row)))
}

/// Returns true if a decal can be visible: all its numbers are finite, and its box has a volume.
fn is_shown(decal: &DecalFrame) -> bool {
    let numbers = [
        decal.opacity,
        decal.color_strength,
        decal.normal_strength,
        decal.emissive,
        decal.roughness.unwrap_or(0.0),
    ];
    let fades = decal.angle_fade.iter().chain(&decal.distance_fade);
    let is_finite = numbers.iter().chain(&decal.color).chain(fades).all(|it| it.is_finite());
    is_finite && decal.opacity > 0.0 && has_volume(&decal.pose)
}

/// Returns the part of a decal that is left between the begin and the end of a fade.
fn faded(at: f64, [begin, end]: [f64; 2]) -> f32 {
    match at < end {
        true if at <= begin => 1.0,
        true => ((end - at) / (end - begin)) as f32,
        false => 0.0,
    }
}

/// The decals of a view, with the memory of the newest choice.
#[derive(Default)]
pub struct ViewDecals {
    /// Number of decals that reach into the view, and of those without room in its clusters.
    pub found: usize,
    pub dropped: usize,
    /// The block of the view.
    block: Vec<u32>,
    entries: usize,
    ranked: Vec<(f32, u32)>,
    reaching: Vec<u32>,
    spheres: Vec<LightSphere>,
    /// Inputs of the block: the scene, the versions of its decals and of their textures,
    /// the camera, the room for entries, and the fades by time.
    block_inputs: Option<(u64, [u64; 2], CameraFrame, usize, FadeState)>,
}

/// Inputs of a view's choice.
pub struct DecalInputs<'a> {
    /// Number of the scene.
    pub scene: u64,
    pub decals: &'a SceneDecals,
    pub layers: &'a DecalLayerTable,
    pub camera: &'a CameraFrame,
    pub planes: &'a [Vec4],
    /// Seconds of game time.
    pub seconds: f64,
}

/// The decals of all views of a frame.
#[derive(Default)]
pub struct FrameDecals {
    pub layers: DecalLayerTable,
    pub views: Vec<ViewDecals>,
    entries: usize,
}

impl FrameDecals {
    /// Begins a frame.
    pub fn clear(&mut self) {
        self.entries = 0;
    }

    /// Adds the decals of the view with an index to the grid, and notes them in its uniform.
    /// Returns a message if not all of them are shown.
    pub fn add(
        &mut self,
        index: usize,
        builder: &mut ClusterBuilder,
        inputs: (u64, &SceneDecals, &CameraFrame, &[Vec4], f64),
        to: (&mut Vec<u32>, &mut SceneUniform),
    ) -> Option<String> {
        let (scene, decals, camera, planes, seconds) = inputs;
        if decals.all.is_empty() {
            return None;
        }
        if self.views.len() <= index {
            self.views.resize_with(index + 1, ViewDecals::default);
        }
        let view = &mut self.views[index];
        let layers = &self.layers;
        let inputs = DecalInputs { scene, decals, layers, camera, planes, seconds };
        let room = DECAL_ENTRIES_MAX.min(FRAME_DECAL_ENTRIES_MAX - self.entries);
        view.choose(&inputs, builder, room);
        self.entries += view.entries;
        let (grid, uniform) = to;
        if !view.spheres.is_empty() {
            // Counted from 1: 0 is a view without decals.
            uniform.cluster_begin[3] = grid.len() as u32 + 1;
            grid.extend_from_slice(&view.block);
        }
        view.message()
    }
}

impl ViewDecals {
    fn choose(&mut self, inputs: &DecalInputs, builder: &mut ClusterBuilder, room: usize) {
        let DecalInputs { scene, decals, layers, camera, .. } = *inputs;
        let fades = decals.fade_state(inputs.seconds);
        let wanted = Some((scene, [decals.version, layers.version()], *camera, room, fades));
        if self.block_inputs == wanted {
            return;
        }
        self.block_inputs = wanted;
        self.block.clear();
        self.spheres.clear();
        self.reaching.clear();
        self.ranked.clear();
        self.entries = 0;
        cull(&decals.spheres, inputs.planes, &mut self.reaching);
        for index in &self.reaching {
            let (center, radius) = decals.spheres.get(*index as usize);
            let rank = center.distance(camera.position) - radius;
            let is_ready = layers.is_ready(&decals.all[*index as usize].textures);
            if is_ready && remaining(inputs, *index) > 0.0 {
                self.ranked.push((rank, *index));
            }
        }
        self.found = self.ranked.len();
        if self.found > VIEW_DECALS_MAX {
            self.ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            self.ranked.truncate(VIEW_DECALS_MAX);
        }
        // Entries of a cluster are in this order, so later decals cover earlier ones.
        self.ranked.sort_unstable_by_key(|(_, index)| (decals.all[*index as usize].order, *index));
        for (_, index) in &self.ranked {
            let (center, radius) = decals.spheres.get(*index as usize);
            self.spheres.push(LightSphere { center, radius });
        }
        if self.spheres.is_empty() {
            self.dropped = 0;
            return;
        }
        self.block.resize(HEADER_NUMBERS, 0);
        let done = builder.build(camera, &self.spheres, room, &mut self.block);
        (self.entries, self.dropped) = (done.entries, done.dropped);
        let records = HEADER_NUMBERS + CLUSTERS + done.entries;
        debug_assert_eq!(self.block.len(), records);
        let [factor, offset] = done.slices.map(f32::to_bits);
        self.block[..3].copy_from_slice(&[factor, offset, records as u32]);
        for (_, index) in &self.ranked {
            let decal = &decals.all[*index as usize];
            let record = record(decal, remaining(inputs, *index), layers.of(&decal.textures));
            self.block.extend_from_slice(&record);
        }
    }

    /// Returns a message if not all decals are shown.
    fn message(&self) -> Option<String> {
        let shorter = "make decals smaller, give them a distance_fade_end, or destroy some";
        if self.found > VIEW_DECALS_MAX {
            return Some(format!(
                "{} decals reach into a view, and the {VIEW_DECALS_MAX} nearest of them are shown \
                 (VIEW_DECALS_MAX): {shorter}",
                self.found
            ));
        }
        (self.dropped > 0).then(|| {
            format!(
                "{} decals reach into a view, and {} of them are not shown, because they fill too \
                 much of it (DECAL_ENTRIES_MAX is {DECAL_ENTRIES_MAX}): {shorter}",
                self.found, self.dropped
            )
        })
    }
}

/// Returns the part of a decal that its fades by time and by distance leave.
fn remaining(inputs: &DecalInputs, index: u32) -> f32 {
    let decal = &inputs.decals.all[index as usize];
    let by_time = decal.life.map_or(1.0, |life| faded(inputs.seconds, life));
    let distances = decal.distance_fade.map(f64::from);
    if distances[1] <= 0.0 || !is_perspective(inputs.camera) {
        return by_time;
    }
    let center = inputs.decals.spheres.center(index as usize);
    by_time * faded(center.distance(inputs.camera.position).into(), distances)
}

/// Returns the record of a decal, as forward/decals.wgsl reads it.
fn record(decal: &DecalFrame, remaining: f32, layers: DecalLayers) -> [u32; RECORD_NUMBERS] {
    let to_cube = to_cube(&decal.pose);
    let mut values = [0u32; RECORD_NUMBERS];
    for (number, row) in [0, 1, 2].map(|row| to_cube.row(row)).into_iter().enumerate() {
        values[number * 4..][..4].copy_from_slice(&row.to_array().map(f32::to_bits));
    }
    let [begin, end] = decal.angle_fade.map(f32::cos);
    let scale = 1.0 / (begin - end).max(FADE_MIN);
    let [red, green, blue] = decal.color.map(|part| part.clamp(0.0, 1.0));
    let numbers = [
        red,
        green,
        blue,
        decal.opacity.clamp(0.0, 1.0) * remaining,
        scale,
        -end * scale,
        decal.roughness.map_or(-1.0, |roughness| roughness.clamp(0.0, 1.0)),
        decal.emissive.clamp(0.0, LIGHT_MAX),
        decal.color_strength.clamp(0.0, 1.0),
        decal.normal_strength.clamp(0.0, SLOPE_MAX),
    ];
    values[12..22].copy_from_slice(&numbers.map(f32::to_bits));
    values[22] = u32::from_le_bytes(layers);
    values[23] = decal.layers.into();
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::culling::planes;
    use bytemuck::Zeroable;
    use engine_foundation::projections::perspective;
    use engine_foundation::views::look_to_mat4;
    use engine_frame_packet::decal::DecalTextures;
    use engine_frame_packet::texture::TextureSlot;

    fn camera() -> CameraFrame {
        CameraFrame {
            view: look_to_mat4(Vec3::ZERO, Vec3::Y, Vec3::Z),
            projection: perspective(1.0, 1.6, 0.1, 300.0),
            position: Vec3::ZERO,
            near: 0.1,
            far: 300.0,
        }
    }

    fn decal(position: Vec3, order: i32) -> DecalFrame {
        DecalFrame { pose: DrawTransform::at(position), order, ..DecalFrame::DEFAULT }
    }

    /// Returns the block of a view, and the message.
    fn block(decals: &[DecalFrame], seconds: f64) -> (Vec<u32>, Option<String>) {
        let (mut frame, mut scene) = (FrameDecals::default(), SceneDecals::default());
        scene.set(decals);
        let camera = camera();
        let sides = planes(&(camera.projection * camera.view));
        let (mut grid, mut uniform) = (vec![7u32; 5], SceneUniform::zeroed());
        let mut builder = ClusterBuilder::default();
        let inputs = (1, &scene, &camera, &sides[..], seconds);
        let message = frame.add(0, &mut builder, inputs, (&mut grid, &mut uniform));
        let begin = uniform.cluster_begin[3] as usize;
        (if begin == 0 { Vec::new() } else { grid[begin - 1..].to_vec() }, message)
    }

    /// Returns the opacities of the records of a block.
    fn opacities(block: &[u32]) -> Vec<f32> {
        let Some(records) = block.get(2) else { return Vec::new() };
        let records = block[*records as usize..].chunks(RECORD_NUMBERS);
        records.map(|record| f32::from_bits(record[15])).collect()
    }

    #[test]
    fn decals_of_a_higher_order_are_later_in_each_cluster() {
        let at = Vec3::new(0.0, 10.0, 0.0);
        let all = [decal(at, 5), decal(at, -1), decal(at, 2)]
            .map(|decal| DecalFrame { opacity: 0.1 * (decal.order + 2) as f32, ..decal });
        let (block, message) = block(&all, 0.0);
        assert_eq!(message, None);
        let expected: Vec<f32> = [-1, 2, 5].map(|order| 0.1 * (order + 2) as f32).to_vec();
        assert_eq!(opacities(&block), expected);
        let values = &block[HEADER_NUMBERS..HEADER_NUMBERS + CLUSTERS];
        let full =
            values.iter().find(|value| *value & 0x1fff == 3).expect("all are in one cluster");
        let first = HEADER_NUMBERS + CLUSTERS + (full >> 13) as usize;
        assert_eq!(block[first..first + 3], [0, 1, 2]);
    }

    #[test]
    fn decals_that_cannot_be_visible_are_left_out() {
        let near = Vec3::new(0.0, 10.0, 0.0);
        let flat = DrawTransform([[1.0, 0.0, 0.0, 0.0], [0.0; 4], [0.0, 0.0, 1.0, 0.0]]);
        let far = [2.0, 5.0];
        let sized = |x, y, z| DrawTransform::of(&Mat4::from_scale(Vec3::new(x, y, z)));
        for hidden in [
            decal(Vec3::NAN, 0),
            decal(Vec3::new(0.0, -10.0, 0.0), 0),
            DecalFrame { pose: flat, ..DecalFrame::DEFAULT },
            DecalFrame { pose: sized(1e14, 1e14, 1e14), ..DecalFrame::DEFAULT },
            DecalFrame { pose: sized(1e30, 1e-10, 1e-10), ..DecalFrame::DEFAULT },
            DecalFrame { pose: sized(1e-10, f32::INFINITY, 1.0), ..DecalFrame::DEFAULT },
            DecalFrame { opacity: 0.0, ..decal(near, 0) },
            DecalFrame { emissive: f32::INFINITY, ..decal(near, 0) },
            DecalFrame { color: [f32::NAN; 3], ..decal(near, 0) },
            DecalFrame { distance_fade: far, ..decal(near, 0) },
            DecalFrame { life: Some([0.0, 1.0]), ..decal(near, 0) },
        ] {
            assert_eq!(block(&[hidden], 1.0), (Vec::new(), None), "{hidden:?}");
        }
    }

    #[test]
    fn decals_without_the_layer_of_their_color_are_left_out() {
        let near = decal(Vec3::new(0.0, 10.0, 0.0), 0);
        let slot = Some(TextureSlot(3));
        let none = DecalTextures::default();
        for textures in
            [DecalTextures { color: slot, ..none }, DecalTextures { emissive: slot, ..none }]
        {
            assert_eq!(block(&[DecalFrame { textures, ..near }], 0.0), (Vec::new(), None));
        }
        let textures = DecalTextures { normal: slot, ..none };
        assert_eq!(opacities(&block(&[DecalFrame { textures, ..near }], 0.0).0), [1.0]);
    }

    #[test]
    fn decals_fade_by_distance_and_by_time() {
        let near = Vec3::new(0.0, 10.0, 0.0);
        let by_distance = DecalFrame { distance_fade: [5.0, 15.0], ..decal(near, 0) };
        let by_time = DecalFrame { life: Some([1.0, 5.0]), ..decal(near, 1) };
        assert_eq!(opacities(&block(&[by_distance, by_time], 2.0).0), [0.5, 0.75]);
        assert_eq!(opacities(&block(&[by_distance, by_time], 1.0).0), [0.5, 1.0]);
    }

    #[test]
    fn decals_are_chosen_again_only_while_one_fades_or_ends() {
        let mut scene = SceneDecals::default();
        let life = |life| DecalFrame { life, ..decal(Vec3::Y, 0) };
        scene.set(&[life(None), life(Some([1.0, 2.0])), life(Some([4.0, 4.0]))]);
        let same = |a: f64, b: f64| scene.fade_state(a) == scene.fade_state(b);
        assert!(same(0.0, 1.0) && same(2.0, 3.9) && same(4.0, 9.0), "nothing changes");
        assert!(!same(1.2, 1.3) && !same(1.0, 2.0) && !same(3.0, 4.0), "one fades, or ends");
    }

    #[test]
    fn a_view_shows_and_reports_the_nearest_decals() {
        let all: Vec<DecalFrame> =
            (0..2000).map(|at| decal(Vec3::new(0.0, 200.0 - at as f32 * 0.09, 0.0), 0)).collect();
        let (block, message) = block(&all, 0.0);
        assert_eq!(opacities(&block).len(), VIEW_DECALS_MAX);
        assert!(message.unwrap().contains("VIEW_DECALS_MAX"));
    }

    #[test]
    fn decals_that_fill_the_view_have_limited_entries() {
        let pose = DrawTransform::of(&Mat4::from_scale(Vec3::splat(200.0)));
        let all = vec![DecalFrame { pose, ..DecalFrame::DEFAULT }; 100];
        let (block, message) = block(&all, 0.0);
        assert!(
            block.len() <= HEADER_NUMBERS + CLUSTERS + DECAL_ENTRIES_MAX + 100 * RECORD_NUMBERS
        );
        assert!(message.unwrap().contains("DECAL_ENTRIES_MAX"));
    }

    #[test]
    fn the_shader_knows_the_sizes_of_a_block() {
        let shader = include_str!("../forward/decals.wgsl");
        let has =
            |name: &str, value: usize| shader.contains(&format!("const {name}: u32 = {value}u;"));
        assert!(has("DECAL_HEADER_WORDS", HEADER_NUMBERS));
        assert!(has("DECAL_RECORD_WORDS", RECORD_NUMBERS));
    }

    #[test]
    fn the_record_maps_the_box_to_the_cube() {
        let pose = Mat4::from_rotation_translation(
            engine_foundation::Quat::from_rotation_z(0.7),
            Vec3::new(3.0, 4.0, 5.0),
        ) * Mat4::from_scale(Vec3::new(0.5, 2.0, 3.0));
        let decal = DecalFrame { pose: DrawTransform::of(&pose), ..DecalFrame::DEFAULT };
        let values = record(&decal, 1.0, [1, 2, 3, 4]);
        let corner = pose.transform_point3(Vec3::new(1.0, -1.0, 1.0)).extend(1.0);
        for (row, expected) in [1.0, -1.0, 1.0].into_iter().enumerate() {
            let numbers: [f32; 4] =
                std::array::from_fn(|column| f32::from_bits(values[row * 4 + column]));
            assert!((Vec4::from_array(numbers).dot(corner) - expected).abs() < 1e-4);
        }
        assert_eq!(values[22], 0x0403_0201);
    }
}
