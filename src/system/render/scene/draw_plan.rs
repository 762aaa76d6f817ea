//! The draw plan of a packet's views: lists of instances, grouped into draw calls, and the shadow
//! maps that are drawn before. Creates no resources on an adapter.

use super::clusters::ClusterBuilder;
use super::culling::{cull, intersects_planes, planes};
use super::decals::FrameDecals;
use super::draw_resources::{DrawPart, DrawResources, NONE};
use super::lamp_shadows::ShadowViewer;
use super::lights::{self, FrameLights, SceneUniform, ViewLights, is_perspective};
use super::outlines::{self, OutlinePlan};
use super::pipeline_class::PipelineClass;
use super::retained_scene::{DrawOrder, RetainedScene, state};
use super::shadow_atlas::{ShadowAtlas, ShadowRequest};
use super::shadow_depth_range;
use super::shadows::{CascadeInputs, SunCascades};
use super::{SceneStatistics, first_particle};
use crate::RenderQuality;
use engine_foundation::{Mat4, Vec3, Vec4};
use engine_frame_packet::scene::{LIGHT_ENTRIES_MAX, VIEW_LIGHTS_MAX, is_in_range};
use engine_frame_packet::shading_environment::celestial::main_light;
use engine_frame_packet::{FramePacket, View};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// One draw call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstancedDraw {
    pub batch: u32,
    /// First instance in [`DrawPlans::instances`].
    pub first: u32,
    pub count: u32,
}

/// One draw call of transparent objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransparentGroup {
    Group(InstancedDraw),
    /// Particles: the scene's batch, and its first particle among those of all scenes.
    Particles {
        batch: u32,
        first: u32,
        count: u32,
    },
}

/// The image that a shadow is drawn into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShadowMap {
    /// A layer of the suns' maps.
    Sun(u32),
    /// A tile of the shadow atlas: its left, top and side in texels.
    Spot([u32; 3]),
    /// The same, with the number of the omni light's side.
    Omni([u32; 3], u32),
}

/// One shadow map.
#[derive(Clone, Debug)]
pub struct ShadowPlan {
    pub map: ShadowMap,
    /// The scene whose draws it shows, and the index of the packet's view that needs it.
    pub scene: u64,
    pub view: usize,
    pub to_clip: Mat4,
    /// Range in [`DrawPlans::groups`].
    pub groups: Range<usize>,
}

/// The plan of a view with a scene.
#[derive(Clone, Debug)]
pub struct ViewPlan {
    /// Index of the packet's view.
    pub view: usize,
    pub scene: u64,
    pub uniform: SceneUniform,
    /// Range in [`DrawPlans::shadows`], without those of the atlas.
    pub shadows: Range<usize>,
    /// Range in [`DrawPlans::groups`].
    pub solid: Range<usize>,
    /// Range in [`DrawPlans::transparent`], the farthest first.
    pub blended: Range<usize>,
    /// The outlines of its draws, if there are any.
    pub outlines: Option<OutlinePlan>,
    /// True if there are particles among them.
    pub particles: bool,
    /// True if there are surfaces among them that let light through.
    pub transmission: bool,
    /// Number of visible draws.
    pub count: u32,
}

/// The plans of all views with a scene.
#[derive(Default)]
pub struct DrawPlans {
    pub views: Vec<ViewPlan>,
    pub shadows: Vec<ShadowPlan>,
    pub groups: Vec<InstancedDraw>,
    pub transparent: Vec<TransparentGroup>,
    /// The slot of a draw and of a surface, for each instance.
    pub instances: Vec<[u32; 2]>,
    /// Lights of all views, by cluster.
    pub lights: FrameLights,
    pub decals: FrameDecals,
    pub atlas: ShadowAtlas,
    /// Range in `shadows` of those that are drawn into the atlas.
    pub atlas_draws: Range<usize>,
    /// Maximum side of the adapter's textures; 0: unknown.
    pub atlas_side_max: u32,
    pub(super) requests: Vec<ShadowRequest>,
    pub(super) viewers: BTreeMap<(u64, u32), ShadowViewer>,
    clusters: ClusterBuilder,
    visible: Vec<u32>,
    counts: Vec<u32>,
    far: Vec<TransparentDraw>,
    /// The lights of each view with a scene.
    chosen: Vec<ViewLights>,
    /// A message if a view shows only some of its lights.
    pub light_limit_message: Option<String>,
    /// A message if a view shows only some of its decals.
    pub decal_limit_message: Option<String>,
}

/// Rounding steps per metre of the distance, for draws with an explicit order.
const STEPS_PER_METRE: f32 = 1024.0;

/// Rounds a distance, so that draws in one plane have the same distance. A plane through the camera
/// has the distance 0 without a sign, which would otherwise decide the order.
pub(super) fn rounded_distance(ahead: f32) -> f32 {
    (ahead * STEPS_PER_METRE).round() / STEPS_PER_METRE + 0.0
}

/// A transparent draw, with its distance ahead of the camera.
#[derive(Clone, Copy)]
struct TransparentDraw {
    order: i32,
    ahead: f32,
    /// Sequence of the draw, and the index of the part in its mesh.
    sequence: (u32, u32),
    kind: TransparentKind,
}

impl TransparentDraw {
    fn batch(&self) -> u32 {
        match self.kind {
            TransparentKind::Item { item, .. } => item.batch,
            TransparentKind::Particles { .. } => NONE,
        }
    }

    /// Compares by drawing order: lower order first, then the farther one, then the lower sequence,
    /// then the lower batch.
    fn compare(&self, other: &TransparentDraw) -> Ordering {
        let far = || other.ahead.total_cmp(&self.ahead);
        let batch = || self.batch().cmp(&other.batch());
        let sequence = || self.sequence.cmp(&other.sequence);
        self.order.cmp(&other.order).then_with(far).then_with(sequence).then_with(batch)
    }
}

#[derive(Clone, Copy)]
enum TransparentKind {
    Item { slot: u32, item: DrawPart },
    Particles { batch: u32 },
}

/// Returns the parts of a draw.
pub(super) fn items(scene: &RetainedScene, slot: u32) -> impl Iterator<Item = DrawPart> {
    let extra: &[DrawPart] = match scene.extra_parts.is_empty() {
        true => &[],
        false => scene.extra_parts.get(&slot).map_or(&[], |parts| &parts[..]),
    };
    std::iter::once(scene.items[slot as usize]).chain(extra.iter().copied())
}

/// Returns the quality for a view: a viewport without the pass of shadows has none.
pub(super) fn quality_of(
    packet: &FramePacket,
    view: &View,
    quality: &RenderQuality,
) -> RenderQuality {
    match packet.viewport_of(view) {
        Some((_, viewport)) if !viewport.has_pass("shadows") => {
            RenderQuality { shadow_texels: 0, spot_texels: 0, ..*quality }
        }
        _ => *quality,
    }
}

/// Returns a message if a view shows only some of its lights. `dropped` lights have no room in its
/// clusters.
fn light_limit_message(chosen: &ViewLights, dropped: usize) -> Option<String> {
    if chosen.found > VIEW_LIGHTS_MAX {
        return Some(format!(
            "{} lamps and spots reach into a view, and the {VIEW_LIGHTS_MAX} nearest of them shine \
             (VIEW_LIGHTS_MAX): give lights a shorter falloff_end, or switch some off",
            chosen.found
        ));
    }
    if dropped > 0 {
        return Some(format!(
            "{} lamps and spots reach into a view, and {dropped} of them do not shine, because \
             their ranges fill too much of it (LIGHT_ENTRIES_MAX is {LIGHT_ENTRIES_MAX}): give \
             lights a shorter falloff_end, or switch some off",
            chosen.found
        ));
    }
    None
}

impl DrawPlans {
    /// Plans a packet whose changes were applied.
    pub fn plan(
        &mut self,
        library: &mut DrawResources,
        scenes: &BTreeMap<u64, RetainedScene>,
        packet: &FramePacket,
        quality: &RenderQuality,
    ) {
        self.clear();
        let has_scene = |(index, view): (usize, &View)| {
            let scene = view.scene.filter(|number| scenes.contains_key(number))?;
            Some((index, scene))
        };
        let views: Vec<_> = packet.views.iter().enumerate().filter_map(has_scene).collect();
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.resize_with(views.len(), ViewLights::default);
        for (chosen, (index, number)) in chosen.iter_mut().zip(&views) {
            let camera = &packet.views[*index].camera;
            let sides = planes(&(camera.projection * camera.view));
            chosen.choose(*number, &scenes[number].lights, camera, &sides);
        }
        self.lamp_shadows(library, scenes, packet, quality, (&views, &mut chosen));
        for (chosen, (index, number)) in chosen.iter_mut().zip(views) {
            let (scene, view) = (&scenes[&number], (index, number, &packet.views[index]));
            let begin = first_particle(scenes, number);
            let quality = &quality_of(packet, view.2, quality);
            let plan = self.view(library, scene, view, packet.seconds, quality, (begin, chosen));
            self.views.push(plan);
        }
        self.chosen = chosen;
    }

    /// Forgets the shadow maps that this frame would have drawn into the atlas, because no view is
    /// drawn.
    pub fn undo_atlas(&mut self) {
        self.atlas.undo();
        self.atlas_draws = 0..0;
    }

    /// Removes all plans.
    pub fn clear(&mut self) {
        self.views.clear();
        self.shadows.clear();
        self.groups.clear();
        self.transparent.clear();
        self.instances.clear();
        self.lights.clear();
        self.decals.clear();
        self.atlas_draws = 0..0;
        self.light_limit_message = None;
        self.decal_limit_message = None;
    }

    /// Plans the view with an index, of the scene with a number.
    fn view(
        &mut self,
        library: &mut DrawResources,
        scene: &RetainedScene,
        (index, number, view): (usize, u64, &View),
        seconds: f64,
        quality: &RenderQuality,
        (first_particle, chosen): (u32, &mut ViewLights),
    ) -> ViewPlan {
        let camera = &view.camera;
        let to_clip = camera.projection * camera.view;
        let sides = planes(&to_clip);
        if view.environment.sky.sun_from_time > 0.5 {
            let (towards, color) = main_light(&view.environment);
            chosen.replace_sun(towards, color);
        }
        let shadows = quality.shadow_texels > 0;
        let sun_size = chosen.soft_sun_size(quality.shadow_filter);
        let cascades = chosen.shadow_sun.filter(|_| shadows).map(|sun| {
            let wanted = CascadeInputs {
                count: quality.cascades as usize,
                texels: quality.shadow_texels,
                distance: quality.shadow_distance,
                between: self.depths(scene, library, view, &sides),
                is_soft: sun_size > 0.0,
            };
            SunCascades::new(camera, sun, wanted)
        });
        let first_shadow = self.shadows.len();
        for (layer, matrix) in cascades.iter().flat_map(|it| &it.to_clip[..it.count]).enumerate() {
            // Objects between the sun and the map's volume cast shadows into it too, so the near
            // plane is left out.
            let sides = planes(matrix);
            let around = &sides[..5];
            let view = (index, number, view);
            self.shadow(library, scene, view, ShadowMap::Sun(layer as u32), matrix, around);
        }
        let texels = (quality.shadow_texels.max(1), self.atlas.side().max(1));
        let sky = view.sky.as_ref().unwrap_or(&scene.sky);
        let inputs = lights::ViewInputs { camera, sky, seconds: seconds as f32, texels, sun_size };
        let mut uniform = lights::uniform(&inputs, chosen, cascades.as_ref());
        let dropped = self.lights.add(&mut self.clusters, camera, chosen, &mut uniform);
        self.light_limit_message =
            self.light_limit_message.take().or_else(|| light_limit_message(chosen, dropped));
        let decals = (number, &scene.decals, camera, &sides[..], seconds);
        let to = (&mut self.lights.grid, &mut uniform);
        let message = self.decals.add(self.views.len(), &mut self.clusters, decals, to);
        self.decal_limit_message = self.decal_limit_message.take().or(message);
        self.find(scene, view, &sides, state::VISIBLE);
        let count = self.visible.len() as u32;
        let ahead = Vec3::new(uniform.ahead[0], uniform.ahead[1], uniform.ahead[2]);
        let solid = self.group_opaque(library, scene, camera.position, ahead);
        let (blended, particles) = self.blended(scene, view, &sides, first_particle, ahead);
        let (instances, groups) = (&mut self.instances, &mut self.groups);
        let outlines = outlines::plan(scene, &self.visible, &to_clip, instances, groups);
        let transmission =
            self.transparent[blended.clone()].iter().any(|transparent| match transparent {
                TransparentGroup::Group(group) => {
                    library.batch(group.batch).class.has(PipelineClass::TRANSMISSION)
                }
                TransparentGroup::Particles { batch, .. } => {
                    scene.particle_batches[*batch as usize].distortion != 0.0
                }
            });
        ViewPlan {
            view: index,
            scene: number,
            uniform,
            shadows: first_shadow..self.shadows.len(),
            solid,
            blended,
            outlines,
            particles,
            transmission,
            count,
        }
    }

    /// Collects the visible draws: those within the planes, with the state bits, in groups that the
    /// view shows, and within their range of distances.
    fn find(&mut self, scene: &RetainedScene, view: &View, sides: &[Vec4], wanted: u8) {
        self.visible.clear();
        cull(&scene.spheres, sides, &mut self.visible);
        let (eye, perspective) = (view.camera.position, is_perspective(&view.camera));
        self.visible.retain(|slot| {
            let index = *slot as usize;
            let bits = scene.states[index];
            if bits & wanted == 0 || scene.layers[index] & view.layers == 0 {
                return false;
            }
            if bits & state::RANGED == 0 {
                return true;
            }
            let distance = || scene.spheres.center(index).distance_squared(eye);
            is_in_range(scene.ranges[index], perspective.then(distance))
        });
    }

    /// Returns the depth range of the visible objects for an orthographic camera.
    fn depths(
        &mut self,
        scene: &RetainedScene,
        library: &DrawResources,
        view: &View,
        sides: &[Vec4],
    ) -> Option<[f32; 2]> {
        let camera = &view.camera;
        if is_perspective(camera) {
            return None;
        }
        self.find(scene, view, sides, state::VISIBLE);
        let found =
            shadow_depth_range::span(scene, library, &self.visible, &camera.view, &sides[..4]);
        Some(found.unwrap_or([camera.near; 2]))
    }

    /// Plans a shadow map of the view with an index, and of the scene with a number.
    pub(super) fn shadow(
        &mut self,
        library: &mut DrawResources,
        scene: &RetainedScene,
        (index, number, view): (usize, u64, &View),
        map: ShadowMap,
        to_clip: &Mat4,
        sides: &[Vec4],
    ) {
        self.find(scene, view, sides, state::CASTS_SHADOW);
        self.begin_count(library);
        for slot in &self.visible {
            for item in items(scene, *slot).filter(|item| item.shadow != NONE) {
                self.counts[item.shadow as usize] += 1;
            }
        }
        let groups = self.end_count(library);
        for slot in &self.visible {
            for item in items(scene, *slot).filter(|item| item.shadow != NONE) {
                let at = &mut self.counts[item.shadow as usize];
                self.instances[*at as usize] = [*slot, item.surface];
                *at += 1;
            }
        }
        let (view, scene, to_clip) = (index, number, *to_clip);
        self.shadows.push(ShadowPlan { map, scene, view, to_clip, groups });
    }

    /// Groups the visible opaque draws into draw calls; transparent draws go into `far`.
    fn group_opaque(
        &mut self,
        library: &mut DrawResources,
        scene: &RetainedScene,
        eye: Vec3,
        ahead: Vec3,
    ) -> Range<usize> {
        self.begin_count(library);
        self.far.clear();
        for slot in &self.visible {
            for (part, item) in (0..).zip(items(scene, *slot)) {
                if item.batch == NONE {
                    continue;
                }
                if library.batch(item.batch).class.has(PipelineClass::BLEND) {
                    let distance =
                        |slot: u32| (scene.spheres.center(slot as usize) - eye).dot(ahead);
                    let kind = TransparentKind::Item { slot: *slot, item };
                    self.far.push(match scene.orders.get(slot) {
                        None => {
                            let ahead = distance(*slot);
                            TransparentDraw { order: 0, ahead, sequence: (0, 0), kind }
                        }
                        Some(DrawOrder { order, sequence, sorted_with }) => {
                            let exists = scene.exists(*sorted_with);
                            let other = if exists { *sorted_with } else { *slot };
                            let ahead = rounded_distance(distance(other));
                            let sequence = (*sequence, part);
                            TransparentDraw { order: *order, ahead, sequence, kind }
                        }
                    });
                } else {
                    self.counts[item.batch as usize] += 1;
                }
            }
        }
        let groups = self.end_count(library);
        for slot in &self.visible {
            for item in items(scene, *slot).filter(|item| item.batch != NONE) {
                if !library.batch(item.batch).class.has(PipelineClass::BLEND) {
                    let at = &mut self.counts[item.batch as usize];
                    self.instances[*at as usize] = [*slot, item.surface];
                    *at += 1;
                }
            }
        }
        groups
    }

    fn begin_count(&mut self, library: &DrawResources) {
        self.counts.clear();
        self.counts.resize(library.batches(), 0);
    }

    /// Turns the counts into draw calls; each count becomes the index of its batch's first
    /// instance.
    fn end_count(&mut self, library: &mut DrawResources) -> Range<usize> {
        let begin = self.groups.len();
        let mut first = self.instances.len() as u32;
        for batch in library.order() {
            let count = &mut self.counts[*batch as usize];
            if *count > 0 {
                self.groups.push(InstancedDraw { batch: *batch, first, count: *count });
                first += std::mem::replace(count, first);
            }
        }
        self.instances.resize(first as usize, [0; 2]);
        begin..self.groups.len()
    }

    /// Sorts transparent draws by order, then the farthest first; neighbours of the same batch
    /// become one draw call.
    fn blended(
        &mut self,
        scene: &RetainedScene,
        view: &View,
        sides: &[Vec4],
        first_particle: u32,
        ahead: Vec3,
    ) -> (Range<usize>, bool) {
        let mut particles = false;
        for (i, batch) in scene.particle_batches.iter().enumerate() {
            let end = u64::from(batch.first) + u64::from(batch.count);
            assert!(end <= u64::from(scene.particles), "a batch of particles that exist");
            let visible = batch.layers & view.layers != 0 && batch.count > 0;
            if visible && intersects_planes(batch.center, batch.radius, sides) {
                let kind = TransparentKind::Particles { batch: i as u32 };
                let ahead = (batch.center - view.camera.position).dot(ahead);
                let order = batch.order;
                self.far.push(TransparentDraw { order, ahead, sequence: (0, 0), kind });
                particles = true;
            }
        }
        self.far.sort_by(TransparentDraw::compare);
        let begin = self.transparent.len();
        for TransparentDraw { kind, .. } in &self.far {
            match kind {
                TransparentKind::Item { slot, item } => {
                    let first = self.instances.len() as u32;
                    self.instances.push([*slot, item.surface]);
                    let last = self.transparent[begin..].last_mut();
                    if let Some(TransparentGroup::Group(group)) = last
                        && group.batch == item.batch
                    {
                        group.count += 1;
                    } else {
                        self.transparent.push(TransparentGroup::Group(InstancedDraw {
                            batch: item.batch,
                            first,
                            count: 1,
                        }));
                    }
                }
                TransparentKind::Particles { batch } => {
                    let known = &scene.particle_batches[*batch as usize];
                    let first = first_particle + known.first;
                    self.transparent.push(TransparentGroup::Particles {
                        batch: *batch,
                        first,
                        count: known.count,
                    });
                }
            }
        }
        (begin..self.transparent.len(), particles)
    }

    /// Returns the statistics of the plan.
    pub fn statistics(&self) -> SceneStatistics {
        let mut all =
            SceneStatistics { shadow_maps: self.shadows.len() as u32, ..Default::default() };
        for view in &self.views {
            all.visible += view.count;
            all.draw_calls += (view.solid.len() + view.blended.len()) as u32;
            all.lights += view.uniform.counts[1];
        }
        all.shadow_draw_calls = self.shadows.iter().map(|it| it.groups.len() as u32).sum();
        for transparent in &self.transparent {
            if let TransparentGroup::Particles { count, .. } = transparent {
                all.particles += count;
            }
        }
        all.instances = self.instances.len() as u32 + all.particles;
        all
    }
}
