//! The plan of pre-skinning: which draws are drawn in so many passes of the frame that their
//! vertices are skinned once beforehand, and where these vertices are. Creates no resources on an
//! adapter.

use super::draw_plan::{DrawPlans, TransparentGroup};
use super::draw_resources::DrawResources;
use super::pipeline_class::PipelineClass;
use super::retained_scene::RetainedScene;
use super::{Deformations, RetainedScenes};
use std::ops::Range;

/// Bytes of the pre-skinned vertices of a scene, at most. Further draws are skinned in each pass.
pub const PRE_SKINNED_BYTES_MAX: u64 = 64 << 20;
/// Rows of a pre-skinned vertex.
pub const VERTEX_ROWS: u32 = 3;
/// Vertices of a chunk: those of a workgroup in skinning.wgsl.
pub const CHUNK_VERTICES: u32 = 64;
/// Chunks of a frame, at most: every adapter takes as many workgroups.
const CHUNKS_MAX: usize = 65_535;
/// Chunks of a job begin at multiples of this number, because of the alignment of bindings.
const CHUNK_ALIGNMENT: usize = 16;
const ROW_BYTES: u64 = size_of::<[f32; 4]>() as u64;

// Locations are exact as f32.
const _: () = assert!(
    Deformations::ROWS_MAX as u64 + PRE_SKINNED_BYTES_MAX / ROW_BYTES + 1
        < 1 << f32::MANTISSA_DIGITS
);

/// A pass that draws a scene: ranges in [`DrawPlans::groups`] and [`DrawPlans::transparent`].
#[derive(Clone, PartialEq, Debug)]
pub struct ScenePass {
    pub scene: u64,
    pub groups: Range<usize>,
    pub transparent: Range<usize>,
}

/// The location of a mesh in the pages of vertices.
#[derive(Clone, Copy)]
pub struct MeshLocation {
    pub page: u32,
    pub first_vertex: u32,
    pub vertices: u32,
}

/// When draws are pre-skinned.
#[derive(Clone, Copy)]
pub struct PreSkinningRule {
    /// Number of passes from which on a draw is pre-skinned; 0: never.
    pub passes_min: u32,
    /// Bytes that a shader can read of one buffer.
    pub binding_bytes_max: u64,
}

impl PreSkinningRule {
    /// Returns the number of rows of vertices that have room behind the rows of poses.
    fn room(&self, rows: usize) -> u32 {
        // Buffers grow to powers of two.
        let bytes = (self.binding_bytes_max.min(1 << 32) + 1).next_power_of_two() / 2;
        let all = bytes / ROW_BYTES;
        let most = PRE_SKINNED_BYTES_MAX / ROW_BYTES;
        all.saturating_sub(rows as u64).min(most) as u32
    }
}

/// The chunks of the draws of a scene whose meshes are in one page.
#[derive(Clone, PartialEq, Debug)]
pub struct SkinningJob {
    pub scene: u64,
    pub page: u32,
    /// Range in [`PreSkinningPlan::chunks`].
    pub chunks: Range<usize>,
}

/// The passes of a draw.
#[derive(Clone, Copy, Default)]
struct DrawPasses {
    count: u32,
    /// Number of the last one, from 1.
    last: u32,
    mesh: u32,
}

/// The plan of all scenes.
#[derive(Default)]
pub struct PreSkinningPlan {
    pub jobs: Vec<SkinningJob>,
    /// Index of the draw, first vertex and number of vertices, and the first row, as in
    /// skinning.wgsl.
    pub chunks: Vec<[u32; 4]>,
    passes: Vec<DrawPasses>,
    slots: Vec<u32>,
    locations: Vec<(u32, f32)>,
    /// The chunks of a scene, with their pages.
    parts: Vec<(u32, [u32; 4])>,
}

impl PreSkinningPlan {
    /// Plans the pre-skinning of a frame, and stores the locations of the vertices with the poses.
    /// `locate` returns the location of a mesh; `None`: it cannot be pre-skinned.
    pub fn plan(
        &mut self,
        scenes: &mut RetainedScenes,
        passes: &[ScenePass],
        rule: PreSkinningRule,
        locate: impl Fn(u32) -> Option<MeshLocation>,
    ) {
        self.jobs.clear();
        self.chunks.clear();
        let RetainedScenes { scenes, plans, library, .. } = scenes;
        for (number, scene) in scenes {
            self.slots.clear();
            self.locations.clear();
            self.parts.clear();
            let own = || passes.iter().filter(|pass| pass.scene == *number);
            let is_repeated = rule.passes_min > 0 && own().count() >= rule.passes_min as usize;
            if is_repeated && scene.deformations.count() > 0 {
                self.count(plans, library, scene.data.len(), own());
                self.choose(scene, rule, &locate);
            }
            let rows = self.parts.iter().map(|(_, chunk)| chunk[3] + chunk[2] * VERTEX_ROWS).max();
            let spare = rows.map_or(0, |end| end - scene.deformations.rows.len() as u32);
            scene.deformations.set_pre_skinned(&self.locations, spare);
            self.add_jobs(*number);
        }
    }

    /// Counts the passes of each draw with a deformation.
    fn count<'a>(
        &mut self,
        plans: &DrawPlans,
        library: &DrawResources,
        slots: usize,
        passes: impl Iterator<Item = &'a ScenePass>,
    ) {
        self.passes.clear();
        self.passes.resize(slots, DrawPasses::default());
        for (pass, number) in passes.zip(1..) {
            let transparent = plans.transparent[pass.transparent.clone()].iter();
            let transparent = transparent.filter_map(|it| match it {
                TransparentGroup::Group(group) => Some(group),
                TransparentGroup::Particles { .. } => None,
            });
            for group in plans.groups[pass.groups.clone()].iter().chain(transparent) {
                let key = library.batch(group.batch);
                if !key.class.has(PipelineClass::DEFORMED) {
                    continue;
                }
                let instances = &plans.instances[group.first as usize..][..group.count as usize];
                for [slot, _] in instances {
                    let known = &mut self.passes[*slot as usize];
                    if known.last != number {
                        let count = known.count + 1;
                        *known = DrawPasses { count, last: number, mesh: key.mesh };
                    }
                }
            }
        }
    }

    /// Chooses the draws of a scene that are pre-skinned, and places their vertices.
    fn choose(
        &mut self,
        scene: &RetainedScene,
        rule: PreSkinningRule,
        locate: &impl Fn(u32) -> Option<MeshLocation>,
    ) {
        let passes = &self.passes;
        let is_repeated = |slot: &u32| {
            passes.get(*slot as usize).is_some_and(|known| known.count >= rule.passes_min)
        };
        self.slots.extend(scene.deformations.slots().filter(is_repeated));
        self.slots.sort_unstable();
        let begin = scene.deformations.rows.len();
        let (room, begin) = (rule.room(begin), begin as u32);
        let mut used = 0;
        for slot in &self.slots {
            let Some(mesh) = locate(passes[*slot as usize].mesh) else { continue };
            let (shift, rows) = (mesh.first_vertex * VERTEX_ROWS, mesh.vertices * VERTEX_ROWS);
            // The location 0 is none.
            let first = begin + used + u32::from(begin + used == shift);
            let end = first - begin + rows;
            let chunks = mesh.vertices.div_ceil(CHUNK_VERTICES);
            let all_chunks = self.chunks.len() + self.parts.len() + chunks as usize;
            if end > room || all_chunks > CHUNKS_MAX {
                continue;
            }
            used = end;
            self.locations.push((*slot, first as f32 - shift as f32));
            let part = |chunk: u32| {
                let done = chunk * CHUNK_VERTICES;
                let count = (mesh.vertices - done).min(CHUNK_VERTICES);
                let row = first + done * VERTEX_ROWS;
                (mesh.page, [*slot, mesh.first_vertex + done, count, row])
            };
            self.parts.extend((0..chunks).map(part));
        }
    }

    /// Appends the chunks of a scene, ordered by their pages.
    fn add_jobs(&mut self, scene: u64) {
        self.parts.sort_by_key(|(page, _)| *page);
        for parts in self.parts.chunk_by(|one, next| one.0 == next.0) {
            let first = self.chunks.len().next_multiple_of(CHUNK_ALIGNMENT);
            self.chunks.resize(first, [0; 4]);
            self.chunks.extend(parts.iter().map(|(_, chunk)| chunk));
            let chunks = first..self.chunks.len();
            self.jobs.push(SkinningJob { scene, page: parts[0].0, chunks });
        }
    }
}
