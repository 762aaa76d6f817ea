//! What a packet's views draw of their scenes: lists of instances, grouped into draw calls, and the
//! shadow maps that come before. Makes nothing on an adapter.

use super::cull::{cull, planes, reaches};
use super::depths;
use super::library::{Class, Item, Library, NONE};
use super::lights::{self, Chosen, SceneUniform, is_perspective};
use super::shadows::{Cascades, Wanted};
use super::store::{Scene, state};
use super::{SceneStatistics, first_particle};
use crate::foundation::{Mat4, Vec3, Vec4};
use crate::packet::scene::{SPOT_SHADOWS_MAX, VIEW_LIGHTS_MAX, is_in_range};
use crate::packet::{Packet, View};
use crate::system::render::Quality;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// One draw call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    pub batch: u32,
    /// Its instances in [`Plans::instances`].
    pub first: u32,
    pub count: u32,
}

/// One draw call of what is seen through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    Group(Group),
    /// Particles: the scene's batch; where they begin among the particles of all scenes.
    Particles {
        batch: u32,
        first: u32,
        count: u32,
    },
}

/// Which array of maps a shadow is drawn into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShadowMap {
    Sun,
    Spot,
}

/// One shadow map.
#[derive(Clone, Debug)]
pub struct ShadowPlan {
    pub map: ShadowMap,
    pub layer: u32,
    pub to_clip: Mat4,
    /// In [`Plans::groups`].
    pub groups: Range<usize>,
}

/// A view with a scene.
#[derive(Clone, Debug)]
pub struct ViewPlan {
    /// Which of the packet's views.
    pub view: usize,
    pub scene: u64,
    pub uniform: SceneUniform,
    /// In [`Plans::shadows`].
    pub shadows: Range<usize>,
    /// In [`Plans::groups`].
    pub solid: Range<usize>,
    /// In [`Plans::seen`], the farthest first.
    pub blended: Range<usize>,
    /// Whether there are particles among them.
    pub particles: bool,
    /// How many draws are seen.
    pub count: u32,
}

/// Every view with a scene.
#[derive(Default)]
pub struct Plans {
    pub views: Vec<ViewPlan>,
    pub shadows: Vec<ShadowPlan>,
    pub groups: Vec<Group>,
    pub seen: Vec<Seen>,
    /// A draw's slot and a surface for each instance.
    pub instances: Vec<[u32; 2]>,
    visible: Vec<u32>,
    counts: Vec<u32>,
    far: Vec<Far>,
    chosen: Chosen,
    /// Why a view shows less light than there is, if one does.
    pub crowded: Option<String>,
}

/// How many steps of distance a metre has, for what has an order of its own.
const STEPS_EACH_METRE: f32 = 1024.0;

/// Something that is seen through, with its distance ahead.
#[derive(Clone, Copy)]
struct Far {
    order: i32,
    ahead: f32,
    what: FarWhat,
}

impl Far {
    fn batch(&self) -> u32 {
        match self.what {
            FarWhat::Item { item, .. } => item.batch,
            FarWhat::Particles { .. } => NONE,
        }
    }

    /// What is drawn earlier: of a lower order, farther, of a lower batch.
    fn compare(&self, other: &Far) -> Ordering {
        let far = || other.ahead.total_cmp(&self.ahead);
        let batch = || self.batch().cmp(&other.batch());
        self.order.cmp(&other.order).then_with(far).then_with(batch)
    }
}

#[derive(Clone, Copy)]
enum FarWhat {
    Item { slot: u32, item: Item },
    Particles { batch: u32 },
}

/// The items of a draw.
fn items(scene: &Scene, slot: u32) -> impl Iterator<Item = Item> {
    let more: &[Item] = match scene.more.is_empty() {
        true => &[],
        false => scene.more.get(&slot).map_or(&[], |more| &more[..]),
    };
    std::iter::once(scene.items[slot as usize]).chain(more.iter().copied())
}

/// Why a view shows less light than there is, if it does.
fn crowded(chosen: &Chosen) -> Option<String> {
    if chosen.found > VIEW_LIGHTS_MAX {
        return Some(format!(
            "{} lamps and spots reach into a view, and the {VIEW_LIGHTS_MAX} nearest of them shine \
             (VIEW_LIGHTS_MAX): give lights a shorter falloff_end, or switch some off",
            chosen.found
        ));
    }
    (chosen.unshadowed > 0).then(|| {
        format!(
            "{} spots with shadows reach into a view, and the {SPOT_SHADOWS_MAX} nearest of them \
             cast some (SPOT_SHADOWS_MAX): take casts_shadows off others",
            chosen.spots.len() + chosen.unshadowed
        )
    })
}

impl Plans {
    /// Plans a packet whose changes were taken over.
    pub fn make(
        &mut self,
        library: &mut Library,
        scenes: &BTreeMap<u64, Scene>,
        packet: &Packet,
        quality: &Quality,
    ) {
        self.clear();
        for (index, view) in packet.views.iter().enumerate() {
            let Some(number) = view.scene else { continue };
            let Some(scene) = scenes.get(&number) else { continue };
            let begin = first_particle(scenes, number);
            let mut plan = self.view(library, scene, view, packet.seconds as f32, quality, begin);
            (plan.view, plan.scene) = (index, number);
            self.views.push(plan);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.views.clear();
        self.shadows.clear();
        self.groups.clear();
        self.seen.clear();
        self.instances.clear();
        self.crowded = None;
    }

    fn view(
        &mut self,
        library: &mut Library,
        scene: &Scene,
        view: &View,
        seconds: f32,
        quality: &Quality,
        first_particle: u32,
    ) -> ViewPlan {
        let camera = &view.camera;
        let to_clip = camera.projection * camera.view;
        let sides = planes(&to_clip);
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.choose(scene, camera.position, &sides, quality.spot_texels);
        let shadows = quality.shadow_texels > 0;
        let cascades = chosen.shadow_sun.filter(|_| shadows).map(|sun| {
            let wanted = Wanted {
                count: quality.cascades as usize,
                texels: quality.shadow_texels,
                distance: quality.shadow_distance,
                between: self.depths(scene, library, view, &sides),
            };
            Cascades::new(camera, sun, wanted)
        });
        let first_shadow = self.shadows.len();
        for (layer, matrix) in cascades.iter().flat_map(|it| &it.to_clip[..it.count]).enumerate() {
            // What is nearer to the sun than the map casts into it all the same.
            let sides = planes(matrix);
            let around = &sides[..5];
            self.shadow(library, scene, view, (ShadowMap::Sun, layer as u32), matrix, around);
        }
        for (layer, spot) in chosen.spots.iter().enumerate() {
            let around = planes(&spot.to_clip);
            let map = (ShadowMap::Spot, layer as u32);
            self.shadow(library, scene, view, map, &spot.to_clip, &around);
        }
        let texels = (quality.shadow_texels.max(1), quality.spot_texels.max(1));
        let seen = lights::Seen { camera, sky: &scene.sky, seconds, texels };
        let uniform = lights::uniform(&seen, &chosen, cascades.as_ref());
        self.crowded = self.crowded.take().or_else(|| crowded(&chosen));
        self.chosen = chosen;
        self.find(scene, view, &sides, state::SEEN);
        let count = self.visible.len() as u32;
        let ahead = Vec3::new(uniform.ahead[0], uniform.ahead[1], uniform.ahead[2]);
        let solid = self.solid(library, scene, camera.position, ahead);
        let (blended, particles) = self.blended(scene, view, &sides, first_particle, ahead);
        ViewPlan {
            view: 0,
            scene: 0,
            uniform,
            shadows: first_shadow..self.shadows.len(),
            solid,
            blended,
            particles,
            count,
        }
    }

    /// Finds what is within planes, of a state, in groups that the view shows, and in its range of
    /// distances.
    fn find(&mut self, scene: &Scene, view: &View, sides: &[Vec4], wanted: u8) {
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

    /// Between which distances ahead of a camera without perspective something is seen.
    fn depths(
        &mut self,
        scene: &Scene,
        library: &Library,
        view: &View,
        sides: &[Vec4],
    ) -> Option<[f32; 2]> {
        let camera = &view.camera;
        if is_perspective(camera) {
            return None;
        }
        self.find(scene, view, sides, state::SEEN);
        let found = depths::span(scene, library, &self.visible, &camera.view, &sides[..4]);
        Some(found.unwrap_or([camera.near; 2]))
    }

    fn shadow(
        &mut self,
        library: &mut Library,
        scene: &Scene,
        view: &View,
        (map, layer): (ShadowMap, u32),
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
        self.shadows.push(ShadowPlan { map, layer, to_clip: *to_clip, groups });
    }

    /// Groups what is visible and opaque; the rest goes into `far`.
    fn solid(
        &mut self,
        library: &mut Library,
        scene: &Scene,
        eye: Vec3,
        ahead: Vec3,
    ) -> Range<usize> {
        self.begin_count(library);
        self.far.clear();
        for slot in &self.visible {
            for item in items(scene, *slot).filter(|item| item.batch != NONE) {
                if library.batch(item.batch).class.has(Class::BLEND) {
                    let ahead = (scene.spheres.center(*slot as usize) - eye).dot(ahead);
                    let what = FarWhat::Item { slot: *slot, item };
                    self.far.push(match scene.orders.get(slot) {
                        None => Far { order: 0, ahead, what },
                        Some(order) => {
                            let ahead = (ahead * STEPS_EACH_METRE).round();
                            Far { order: *order, ahead: ahead / STEPS_EACH_METRE, what }
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
                if !library.batch(item.batch).class.has(Class::BLEND) {
                    let at = &mut self.counts[item.batch as usize];
                    self.instances[*at as usize] = [*slot, item.surface];
                    *at += 1;
                }
            }
        }
        groups
    }

    fn begin_count(&mut self, library: &Library) {
        self.counts.clear();
        self.counts.resize(library.batches(), 0);
    }

    /// Makes groups of what was counted; each count becomes the place of its first instance.
    fn end_count(&mut self, library: &mut Library) -> Range<usize> {
        let begin = self.groups.len();
        let mut first = self.instances.len() as u32;
        for batch in library.order() {
            let count = &mut self.counts[*batch as usize];
            if *count > 0 {
                self.groups.push(Group { batch: *batch, first, count: *count });
                first += std::mem::replace(count, first);
            }
        }
        self.instances.resize(first as usize, [0; 2]);
        begin..self.groups.len()
    }

    /// Sorts what is seen through, by order and then the farthest first; neighbours that fit become
    /// one draw call.
    fn blended(
        &mut self,
        scene: &Scene,
        view: &View,
        sides: &[Vec4],
        first_particle: u32,
        ahead: Vec3,
    ) -> (Range<usize>, bool) {
        let mut particles = false;
        for (i, batch) in scene.particle_batches.iter().enumerate() {
            let end = u64::from(batch.first) + u64::from(batch.count);
            assert!(end <= u64::from(scene.particles), "a batch of particles that are there");
            let seen = batch.layers & view.layers != 0 && batch.count > 0;
            if seen && reaches(batch.center, batch.radius, sides) {
                let what = FarWhat::Particles { batch: i as u32 };
                let ahead = (batch.center - view.camera.position).dot(ahead);
                self.far.push(Far { order: 0, ahead, what });
                particles = true;
            }
        }
        self.far.sort_by(Far::compare);
        let begin = self.seen.len();
        for Far { what, .. } in &self.far {
            match what {
                FarWhat::Item { slot, item } => {
                    let first = self.instances.len() as u32;
                    self.instances.push([*slot, item.surface]);
                    let last = self.seen[begin..].last_mut();
                    if let Some(Seen::Group(group)) = last
                        && group.batch == item.batch
                    {
                        group.count += 1;
                    } else {
                        self.seen.push(Seen::Group(Group { batch: item.batch, first, count: 1 }));
                    }
                }
                FarWhat::Particles { batch } => {
                    let known = &scene.particle_batches[*batch as usize];
                    let first = first_particle + known.first;
                    self.seen.push(Seen::Particles { batch: *batch, first, count: known.count });
                }
            }
        }
        (begin..self.seen.len(), particles)
    }

    /// What can be counted from the plan.
    pub fn statistics(&self) -> SceneStatistics {
        let mut all =
            SceneStatistics { shadow_maps: self.shadows.len() as u32, ..Default::default() };
        for view in &self.views {
            all.seen += view.count;
            all.draw_calls += (view.solid.len() + view.blended.len()) as u32;
            all.lights += view.uniform.counts[1];
        }
        all.shadow_draw_calls = self.shadows.iter().map(|it| it.groups.len() as u32).sum();
        for seen in &self.seen {
            if let Seen::Particles { count, .. } = seen {
                all.particles += count;
            }
        }
        all.instances = self.instances.len() as u32 + all.particles;
        all
    }
}
