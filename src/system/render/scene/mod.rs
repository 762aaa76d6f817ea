//! Scenes: the retained content of the packets' worlds, and the draw plan of each view. Pure
//! arithmetic on arrays, the same with and without an adapter; creates no resources on one
//! (src/system/render/forward does).
//!
//! A scene is retained as packets change it. For each view its spheres are culled, and the visible
//! draws are counted by batch and written as one list of instances. Only transparent draws are
//! sorted.

mod area_light_table;
mod caster_changes;
mod clusters;
mod culling;
mod decal_textures;
mod decals;
mod deformations;
mod draw_plan;
mod draw_resources;
mod lamp_shadows;
mod light_textures;
mod lights;
mod mesh_checks;
mod outlines;
mod pipeline_class;
mod pre_skinning;
mod previous_poses;
mod retained_scene;
mod scene_lights;
mod shadow_atlas;
mod shadow_depth_range;
mod shadow_tiles;
mod shadows;
#[cfg(test)]
mod tests;

pub use clusters::{COLUMNS as CLUSTER_COLUMNS, ROWS as CLUSTER_ROWS};
#[cfg(test)]
pub use clusters::{COUNT_BITS as CLUSTER_COUNT_BITS, SLICES as CLUSTER_SLICES};
pub use decal_textures::{DecalLayerTable, LEVELS as DECAL_LEVELS, SIDE as DECAL_SIDE};
pub use deformations::Deformations;
pub use draw_plan::{DrawPlans, InstancedDraw, ShadowMap, ShadowPlan, TransparentGroup, ViewPlan};
pub use draw_resources::SURFACE_INDEX_BITS;
pub use draw_resources::{DrawResources, SceneBatchKey, SurfaceUniform, TextureSet};
pub use lights::{FrameLights, ProbeUniform, SceneUniform};
pub use outlines::{OutlinePlan, pixel_width};
pub use pipeline_class::PipelineClass;
pub use pre_skinning::{CHUNK_VERTICES, MeshLocation, PreSkinningPlan, PreSkinningRule, ScenePass};
pub use retained_scene::{DrawData, RetainedScene};
#[cfg(test)]
pub use shadows::CASCADES_MAX;

use super::textures::TextureTable;
use super::{RenderQuality, RendererEvent};
use engine_foundation::Vec3;
use engine_frame_packet::FramePacket;
use engine_frame_packet::mesh::{SLOTS_MAX, SurfaceSlot};
use engine_frame_packet::outline::OUTLINE_STYLES_MAX;
use engine_frame_packet::scene::DrawSlot;
use engine_frame_packet::texture::TextureChange;
use std::collections::BTreeMap;

// The bits above the index of a surface are the light layers of its draw.
const _: () = assert!(SLOTS_MAX <= 1 << SURFACE_INDEX_BITS);

/// All scenes.
pub struct RetainedScenes {
    pub library: DrawResources,
    pub scenes: BTreeMap<u64, RetainedScene>,
    pub plans: DrawPlans,
    /// True if it was reported that a view shows only some of its lights.
    light_limit_reported: bool,
    decal_limit_reported: bool,
    outline_limit_reported: bool,
    /// True if it was reported that a draw is shown in its bind pose.
    refusal_reported: bool,
}

/// A draw call of a scene, for tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SceneDraw {
    /// Index of the packet's view.
    pub view: usize,
    pub kind: SceneDrawKind,
    /// The mesh's slot and the part's number; for particles the batch's number and 0.
    pub mesh: u32,
    pub part: u32,
    pub instances: u32,
}

/// The target and type of a scene's draw call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SceneDrawKind {
    /// A sun's cascade.
    SunShadow(u32),
    /// A spot's shadow map.
    SpotShadow,
    /// The shadow map of one side of an omni light.
    OmniShadow(u32),
    Solid,
    Blended,
    Particles,
}

/// A draw call of a scene with its objects, for tests.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedSceneDraw {
    pub draw: SceneDraw,
    pub scene: u64,
    /// Name of the mesh, and its objects; particles have no name, and one object for all that are
    /// drawn at once.
    pub mesh: String,
    pub objects: Vec<RecordedObject>,
}

/// One object of a draw call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecordedObject {
    pub slot: DrawSlot,
    pub surface: SurfaceSlot,
    pub position: Vec3,
    pub tint: [u8; 4],
}

/// Statistics of the scenes in the newest frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SceneStatistics {
    /// Number of existing meshes, surfaces and draws.
    pub meshes: u32,
    pub surfaces: u32,
    pub draws: u32,
    /// Draws with a palette or with weights of morph targets, and bytes of those that the newest
    /// packet has changed.
    pub skinned_draws: u32,
    pub palette_bytes: u64,
    /// Draws of these that are skinned once, before all passes.
    pub pre_skinned_draws: u32,
    /// Visible draws, in all views.
    pub visible: u32,
    /// Draw calls into views and into shadow maps.
    pub draw_calls: u32,
    pub shadow_draw_calls: u32,
    /// Instances of both.
    pub instances: u32,
    pub particles: u32,
    /// Lights that were used, except suns, and shadow maps that were drawn in this frame.
    pub lights: u32,
    pub shadow_maps: u32,
}

impl SceneStatistics {
    /// Returns the number of all draw calls.
    pub fn draw_call_count(&self) -> u32 {
        self.draw_calls + self.shadow_draw_calls
    }
}

impl Default for RetainedScenes {
    fn default() -> RetainedScenes {
        RetainedScenes {
            library: DrawResources::new(),
            scenes: BTreeMap::new(),
            plans: DrawPlans::default(),
            light_limit_reported: false,
            decal_limit_reported: false,
            outline_limit_reported: false,
            refusal_reported: false,
        }
    }
}

impl RetainedScenes {
    /// Applies a packet. Particles last until the next one.
    pub fn apply(&mut self, packet: &FramePacket, events: &mut Vec<RendererEvent>) {
        let library = &mut self.library;
        let changed = library.apply(&packet.meshes, &packet.surfaces, events);
        if !changed.is_empty() {
            for scene in self.scenes.values_mut() {
                scene.refresh(library, &changed);
            }
        }
        for number in &packet.ended_scenes {
            if let Some(mut scene) = self.scenes.remove(number) {
                scene.reset(library);
            }
        }
        for (number, scene) in &mut self.scenes {
            let uses_motion = |view: &engine_frame_packet::View| {
                view.scene == Some(*number) && view.environment.screen_space.has_motion()
            };
            scene.previous.begin(packet.views.iter().any(uses_motion));
            scene.particle_batches.clear();
            scene.particles = 0;
            scene.deformations.begin();
        }
        for frame in &packet.scenes {
            let scene = self.scenes.entry(frame.scene).or_insert_with(RetainedScene::new);
            scene.apply(library, frame);
            if let Some(message) = scene.deformations.refused.take()
                && !std::mem::replace(&mut self.refusal_reported, true)
            {
                events.push(RendererEvent::PoseRefused { message });
            }
        }
    }

    /// Returns the index of a scene's first particle among those of all scenes.
    pub fn first_particle(&self, number: u64) -> u32 {
        first_particle(&self.scenes, number)
    }

    /// Plans the draws of a packet's views.
    pub fn plan(
        &mut self,
        packet: &FramePacket,
        quality: &RenderQuality,
        events: &mut Vec<RendererEvent>,
    ) {
        let is_set = |change: &TextureChange| {
            matches!(change, TextureChange::Set { .. } | TextureChange::End { .. })
        };
        if packet.textures.iter().any(is_set) {
            // Shadows of masked surfaces depend on textures.
            self.scenes.keys().for_each(|scene| self.plans.atlas.mark_stale(*scene, None, None));
        }
        if self.library.has_changing_outlines() {
            let scenes = self.scenes.values_mut();
            scenes.for_each(|scene| scene.note_changing_outlines(&self.library));
        }
        self.plans.plan(&mut self.library, &self.scenes, packet, quality);
        self.report_light_textures(events);
        self.report_decals(events);
        self.scenes.values_mut().for_each(|scene| scene.caster_changes.clear());
        if let Some(message) = self.plans.light_limit_message.take()
            && !std::mem::replace(&mut self.light_limit_reported, true)
        {
            events.push(RendererEvent::Crowded { message });
        }
    }

    /// Reports decals and outlines that are not shown, once, and textures that decals cannot have.
    fn report_decals(&mut self, events: &mut Vec<RendererEvent>) {
        for (slot, message) in self.plans.decals.layers.messages.drain(..) {
            events.push(RendererEvent::TextureRefused { slot, message });
        }
        if let Some(message) = self.plans.decal_limit_message.take()
            && !std::mem::replace(&mut self.decal_limit_reported, true)
        {
            events.push(RendererEvent::Crowded { message });
        }
        let dropped = |view: &ViewPlan| view.outlines.as_ref().map_or(0, |it| it.dropped);
        let dropped = self.plans.views.iter().map(dropped).max().unwrap_or(0);
        if dropped > 0 && !std::mem::replace(&mut self.outline_limit_reported, true) {
            let message = format!(
                "{dropped} meshes of a view have no outline, because there are more than \
                 {OUTLINE_STYLES_MAX} different ones (OUTLINE_STYLES_MAX): use fewer colours and \
                 widths"
            );
            events.push(RendererEvent::Crowded { message });
        }
    }

    /// Prepares the textures of decals for the next plan.
    pub fn prepare_decal_textures(&mut self, textures: &TextureTable) {
        let used = self.scenes.values().flat_map(|scene| &scene.decals.textures);
        self.plans.decals.layers.prepare(textures, used.copied());
    }

    /// Prepares the textures of lights for the next plan.
    pub fn prepare_light_textures(&mut self, textures: &TextureTable) {
        let lights = &mut self.plans.lights.textures;
        let of_scene = |scene: &RetainedScene| scene.lights.has_textures;
        let scenes = self.scenes.values().filter(|scene| of_scene(scene));
        lights.prepare(textures, scenes.flat_map(|scene| &scene.lights.all));
    }

    fn report_light_textures(&mut self, events: &mut Vec<RendererEvent>) {
        for (slot, message) in self.plans.lights.textures.messages.drain(..) {
            events.push(RendererEvent::TextureRefused { slot, message });
        }
    }

    /// Marks everything as changed, to be copied to another adapter.
    pub fn mark_all_changed(&mut self) {
        self.library.mark_all_changed();
        self.scenes.values_mut().for_each(RetainedScene::mark_all_changed);
    }

    /// Forgets the shadow maps that are kept, because the adapter has lost them. `side_max` is the
    /// maximum side of its textures.
    pub fn forget_shadow_maps(&mut self, side_max: u32) {
        self.plans.atlas.reset();
        self.plans.atlas_side_max = side_max;
    }

    /// Discards the record of changes, which are copied nowhere.
    pub fn discard_changes(&mut self) {
        self.library.data_changed.clear();
        for scene in self.scenes.values_mut() {
            scene.changed.clear();
            scene.deformations.changed.clear();
        }
    }

    pub fn statistics(&self) -> SceneStatistics {
        let (meshes, surfaces) = self.library.mesh_and_surface_counts();
        SceneStatistics {
            meshes,
            surfaces,
            draws: self.scenes.values().map(|scene| scene.live).sum(),
            skinned_draws: self.scenes.values().map(|scene| scene.deformations.count()).sum(),
            pre_skinned_draws: self
                .scenes
                .values()
                .map(|scene| scene.deformations.pre_skinned_count)
                .sum(),
            palette_bytes: self.scenes.values().map(|it| it.deformations.changed_bytes).sum(),
            ..self.plans.statistics()
        }
    }

    /// Returns the planned draw calls, in order.
    pub fn draws(&self) -> Vec<SceneDraw> {
        let mut all = Vec::new();
        self.visit(|_, draw, _| all.push(draw));
        all
    }

    /// Returns the planned draw calls, in order, with every object.
    pub fn recorded_draws(&self) -> Vec<RecordedSceneDraw> {
        let mut all = Vec::new();
        self.visit(|number, draw, first| {
            let scene = &self.scenes[&number];
            if draw.kind == SceneDrawKind::Particles {
                let position = scene.particle_batches[draw.mesh as usize].center;
                let (slot, surface) = (DrawSlot(draw.mesh), SurfaceSlot::DEFAULT);
                let objects = vec![RecordedObject { slot, surface, position, tint: [255; 4] }];
                all.push(RecordedSceneDraw { draw, scene: number, mesh: String::new(), objects });
                return;
            }
            let instances = &self.plans.instances[first as usize..][..draw.instances as usize];
            let recorded_object = |[slot, surface]: &[u32; 2]| {
                let data = &scene.data[*slot as usize];
                let position = Vec3::from_array(data.pose.0.map(|row| row[3]));
                let (slot, surface) =
                    (DrawSlot(*slot), SurfaceSlot(*surface & ((1 << SURFACE_INDEX_BITS) - 1)));
                RecordedObject { slot, surface, position, tint: data.tint }
            };
            let objects = instances.iter().map(recorded_object).collect();
            let mesh = self.library.mesh(draw.mesh).map_or("", |mesh| &mesh.name).to_string();
            all.push(RecordedSceneDraw { draw, scene: number, mesh, objects });
        });
        all
    }

    /// Passes each draw call to `visitor`, with its scene and its first instance.
    fn visit(&self, mut visitor: impl FnMut(u64, SceneDraw, u32)) {
        let plans = &self.plans;
        for view in &plans.views {
            let of_group = |kind, group: &InstancedDraw| {
                let key = self.library.batch(group.batch);
                let (mesh, part) = (key.mesh, key.part);
                SceneDraw { view: view.view, kind, mesh, part, instances: group.count }
            };
            let of_lamps = plans.shadows[plans.atlas_draws.clone()].iter();
            let of_lamps = of_lamps.filter(|shadow| shadow.view == view.view);
            for shadow in of_lamps.chain(&plans.shadows[view.shadows.clone()]) {
                let kind = match shadow.map {
                    ShadowMap::Sun(layer) => SceneDrawKind::SunShadow(layer),
                    ShadowMap::Spot(_) => SceneDrawKind::SpotShadow,
                    ShadowMap::Omni(_, face) => SceneDrawKind::OmniShadow(face),
                };
                for group in &plans.groups[shadow.groups.clone()] {
                    visitor(view.scene, of_group(kind, group), group.first);
                }
            }
            for group in &plans.groups[view.solid.clone()] {
                visitor(view.scene, of_group(SceneDrawKind::Solid, group), group.first);
            }
            for transparent in &plans.transparent[view.blended.clone()] {
                match transparent {
                    TransparentGroup::Group(group) => {
                        let draw = of_group(SceneDrawKind::Blended, group);
                        visitor(view.scene, draw, group.first);
                    }
                    TransparentGroup::Particles { batch, first, count } => {
                        let (kind, mesh) = (SceneDrawKind::Particles, *batch);
                        let instances = *count;
                        let draw = SceneDraw { view: view.view, kind, mesh, part: 0, instances };
                        visitor(view.scene, draw, *first);
                    }
                }
            }
        }
    }
}

fn first_particle(scenes: &BTreeMap<u64, RetainedScene>, number: u64) -> u32 {
    scenes.range(..number).map(|(_, scene)| scene.particles).sum()
}
