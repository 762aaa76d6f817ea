//! The motion of objects since the previous frame: the visible draws that the newest packet has
//! moved are drawn again, with their previous poses, onto the motion vectors of their view. Draws
//! nothing for views without motion vectors.

use super::super::device::GpuDevice;
use super::super::numeric_map::NumberMap;
use super::super::scene::{InstancedDraw, RetainedScene, RetainedScenes};
use super::super::screen_space::ScreenSpace;
use super::growing_buffer::GrowingBuffer;
use bytemuck::{Pod, Zeroable};

/// Rows of the previous pose, and one with the locations of the deformations.
const HEADER_ROWS: usize = 4;

/// The uniform `motion` of object_motion.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct ObjectMotionUniform {
    /// With the jitter of the picture.
    pub to_clip: [[f32; 4]; 4],
    /// Without jitter, in this frame and in the previous one.
    pub now: [[f32; 4]; 4],
    pub before: [[f32; 4]; 4],
    /// The first is the time in seconds.
    pub options: [f32; 4],
}

/// One instance: slots of a draw and of a surface, and its first row.
type MovedInstance = [u32; 3];
pub const INSTANCE_BYTES: u64 = size_of::<MovedInstance>() as u64;

/// The moved draws of all views.
pub struct ObjectMotion {
    pub rows: GrowingBuffer,
    pub instances: GrowingBuffer,
    pub uniforms: GrowingBuffer,
    /// The draw calls of each view with moved draws, by the index of the view.
    pub draws: NumberMap<usize, Vec<InstancedDraw>>,
    /// Bind group 0 of each of these views, and the offset of its uniform.
    pub groups: NumberMap<usize, wgpu::BindGroup>,
    pub offsets: NumberMap<usize, u32>,
    row_data: Vec<[f32; 4]>,
    instance_data: Vec<MovedInstance>,
    /// First row of a scene's draw.
    known: NumberMap<(u64, u32), u32>,
}

/// Appends the rows of a moved draw. Locations count from 1, as in [`super::super::scene`].
fn push_rows(to: &mut Vec<[f32; 4]>, scene: &RetainedScene, slot: u32) -> Option<u32> {
    let (pose, before) = scene.previous.get(slot)?;
    let now = scene.deformations.rows_of(slot);
    let first = to.len();
    let location = |rows: &[[f32; 4]], at: usize| if rows.is_empty() { 0 } else { at + 1 };
    let start = first + HEADER_ROWS;
    let locations = [location(before, start), location(now[0], start + before.len())];
    to.extend_from_slice(&pose.0);
    to.push([locations[0] as f32, locations[1] as f32, 0.0, 0.0]);
    to.extend_from_slice(before);
    now.iter().for_each(|part| to.extend_from_slice(part));
    Some(first as u32)
}

impl ObjectMotion {
    pub fn new(device: &GpuDevice) -> ObjectMotion {
        use wgpu::BufferUsages as Usage;
        ObjectMotion {
            rows: GrowingBuffer::new(device, Usage::STORAGE, 0),
            instances: GrowingBuffer::new(device, Usage::VERTEX, 0),
            uniforms: GrowingBuffer::new(device, Usage::UNIFORM, 0),
            draws: NumberMap::default(),
            groups: NumberMap::default(),
            offsets: NumberMap::default(),
            row_data: Vec::new(),
            instance_data: Vec::new(),
            known: NumberMap::default(),
        }
    }

    /// Finds the moved draws of all views, and copies their data. `view_of` returns the matrix of
    /// one of the plan's views, with jitter, and its time. Returns the number of copied bytes.
    pub fn copy(
        &mut self,
        device: &GpuDevice,
        scenes: &RetainedScenes,
        screen: &ScreenSpace,
        view_of: impl Fn(usize) -> ([[f32; 4]; 4], f32),
        stride: u64,
    ) -> u64 {
        self.draws.clear();
        self.groups.clear();
        self.offsets.clear();
        self.row_data.clear();
        self.instance_data.clear();
        self.known.clear();
        let mut uniforms: Vec<u8> = Vec::new();
        for (index, view) in scenes.plans.views.iter().enumerate() {
            let scene = &scenes.scenes[&view.scene];
            let Some([now, before]) = screen.motion_matrices(index) else { continue };
            if scene.previous.is_empty() {
                continue;
            }
            let draws = self.find(scenes, (view.scene, scene), view.solid.clone());
            if draws.is_empty() {
                continue;
            }
            let (to_clip, seconds) = view_of(index);
            let uniform = ObjectMotionUniform {
                to_clip,
                now: now.to_cols_array_2d(),
                before: before.to_cols_array_2d(),
                options: [seconds, 0.0, 0.0, 0.0],
            };
            self.offsets.insert(index, uniforms.len() as u32);
            uniforms.extend_from_slice(bytemuck::bytes_of(&uniform));
            uniforms.resize((self.draws.len() + 1) * stride as usize, 0);
            self.draws.insert(index, draws);
        }
        if self.draws.is_empty() {
            return 0;
        }
        self.rows.write(device, bytemuck::cast_slice(&self.row_data));
        self.instances.write(device, bytemuck::cast_slice(&self.instance_data));
        self.uniforms.write(device, &uniforms);
        (size_of_val(&self.row_data[..]) + size_of_val(&self.instance_data[..]) + uniforms.len())
            as u64
    }

    /// Returns the draw calls of the moved draws among those of a view.
    fn find(
        &mut self,
        scenes: &RetainedScenes,
        (number, scene): (u64, &RetainedScene),
        solid: std::ops::Range<usize>,
    ) -> Vec<InstancedDraw> {
        let mut draws = Vec::new();
        for group in &scenes.plans.groups[solid] {
            let first = self.instance_data.len() as u32;
            let all = &scenes.plans.instances[group.first as usize..][..group.count as usize];
            for [slot, surface] in all {
                let known = self.known.get(&(number, *slot)).copied();
                let row = known.or_else(|| push_rows(&mut self.row_data, scene, *slot));
                if let Some(row) = row {
                    self.known.insert((number, *slot), row);
                    self.instance_data.push([*slot, *surface, row]);
                }
            }
            let count = self.instance_data.len() as u32 - first;
            if count > 0 {
                draws.push(InstancedDraw { batch: group.batch, first, count });
            }
        }
        draws
    }
}
