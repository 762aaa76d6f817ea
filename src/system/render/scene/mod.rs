//! Scenes: what the packets' worlds consist of, and what of it each view draws. Pure arithmetic on
//! arrays, the same with and without an adapter; makes nothing on one (src/system/render/lit does).
//!
//! A scene is kept as it was told. For each view its spheres are culled, what is left is counted by
//! batch and written as one list of instances: no sorting, but for what is seen through.

mod cull;
mod depths;
mod library;
mod lights;
mod plan;
mod shadows;
mod store;
#[cfg(test)]
mod tests;

pub use library::{BatchKey, Class, Library, SurfaceData, TextureSet};
pub use lights::SceneUniform;
pub use plan::{Group, Plans, Seen, ShadowMap, ViewPlan};
#[cfg(test)]
pub use shadows::CASCADES_MAX;
pub use store::{DrawData, Scene};

use super::{Event, Quality};
use crate::foundation::Vec3;
use crate::packet::Packet;
use crate::packet::mesh::SurfaceSlot;
use crate::packet::scene::DrawSlot;
use std::collections::BTreeMap;

/// Every scene.
pub struct Scenes {
    pub library: Library,
    pub scenes: BTreeMap<u64, Scene>,
    pub plans: Plans,
    /// Whether it was told that a view shows less light than there is.
    crowded: bool,
}

/// A draw call of a scene, as tests see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SceneDraw {
    /// Which of the packet's views.
    pub view: usize,
    pub kind: SceneDrawKind,
    /// The mesh's slot and the part's number; of particles the batch's number and 0.
    pub mesh: u32,
    pub part: u32,
    pub instances: u32,
}

/// What a draw call of a scene draws into, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SceneDrawKind {
    /// A sun's cascade.
    SunShadow(u32),
    /// A spot's map.
    SpotShadow(u32),
    Solid,
    Blended,
    Particles,
}

/// A draw call of a scene with what it draws, for tests.
#[derive(Clone, PartialEq, Debug)]
pub struct SceneSeen {
    pub draw: SceneDraw,
    pub scene: u64,
    /// The mesh's own name; of particles none, and one thing for all that are drawn at once.
    pub mesh: String,
    pub things: Vec<SceneThing>,
}

/// One thing of a draw call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SceneThing {
    pub slot: DrawSlot,
    pub surface: SurfaceSlot,
    pub place: Vec3,
    pub tint: [u8; 4],
}

/// Figures of the scenes in the newest frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SceneStatistics {
    /// Meshes, surfaces and draws that are there.
    pub meshes: u32,
    pub surfaces: u32,
    pub draws: u32,
    /// Draws that were seen, in all views.
    pub seen: u32,
    /// Draw calls into views and into shadow maps.
    pub draw_calls: u32,
    pub shadow_draw_calls: u32,
    /// Instances in both.
    pub instances: u32,
    pub particles: u32,
    /// Lights with a place that shone, and shadow maps that were drawn.
    pub lights: u32,
    pub shadow_maps: u32,
}

impl SceneStatistics {
    /// All draw calls.
    pub fn calls(&self) -> u32 {
        self.draw_calls + self.shadow_draw_calls
    }
}

impl Default for Scenes {
    fn default() -> Scenes {
        Scenes {
            library: Library::new(),
            scenes: BTreeMap::new(),
            plans: Plans::default(),
            crowded: false,
        }
    }
}

impl Scenes {
    /// Takes over what a packet says. Particles last until the next one.
    pub fn apply(&mut self, packet: &Packet, events: &mut Vec<Event>) {
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
        for scene in self.scenes.values_mut() {
            scene.particle_batches.clear();
            scene.particles = 0;
        }
        for frame in &packet.scenes {
            self.scenes.entry(frame.scene).or_insert_with(Scene::new).apply(library, frame);
        }
    }

    /// Where a scene's particles begin among those of all scenes.
    pub fn first_particle(&self, number: u64) -> u32 {
        first_particle(&self.scenes, number)
    }

    /// Plans what a packet's views draw of their scenes.
    pub fn plan(&mut self, packet: &Packet, quality: &Quality, events: &mut Vec<Event>) {
        self.plans.make(&mut self.library, &self.scenes, packet, quality);
        if let Some(words) = self.plans.crowded.take()
            && !std::mem::replace(&mut self.crowded, true)
        {
            events.push(Event::Crowded { words });
        }
    }

    /// Everything must be copied again, to another adapter.
    pub fn all_changed(&mut self) {
        self.library.all_changed();
        self.scenes.values_mut().for_each(Scene::all_changed);
    }

    /// Nothing of what has changed is copied anywhere.
    pub fn none_changed(&mut self) {
        self.library.data_changed.clear();
        self.scenes.values_mut().for_each(|scene| scene.changed.clear());
    }

    pub fn statistics(&self) -> SceneStatistics {
        let (meshes, surfaces) = self.library.counts();
        SceneStatistics {
            meshes,
            surfaces,
            draws: self.scenes.values().map(|scene| scene.live).sum(),
            ..self.plans.statistics()
        }
    }

    /// What the plan draws, in order.
    pub fn draws(&self) -> Vec<SceneDraw> {
        let mut all = Vec::new();
        self.visit(|_, draw, _| all.push(draw));
        all
    }

    /// What the plan draws, in order, with every single thing.
    pub fn seen(&self) -> Vec<SceneSeen> {
        let mut all = Vec::new();
        self.visit(|number, draw, first| {
            let scene = &self.scenes[&number];
            if draw.kind == SceneDrawKind::Particles {
                let place = scene.particle_batches[draw.mesh as usize].center;
                let (slot, surface) = (DrawSlot(draw.mesh), SurfaceSlot::DEFAULT);
                let things = vec![SceneThing { slot, surface, place, tint: [255; 4] }];
                all.push(SceneSeen { draw, scene: number, mesh: String::new(), things });
                return;
            }
            let instances = &self.plans.instances[first as usize..][..draw.instances as usize];
            let thing = |[slot, surface]: &[u32; 2]| {
                let data = &scene.data[*slot as usize];
                let place = Vec3::from_array(data.pose.0.map(|row| row[3]));
                let (slot, surface) = (DrawSlot(*slot), SurfaceSlot(*surface));
                SceneThing { slot, surface, place, tint: data.tint }
            };
            let things = instances.iter().map(thing).collect();
            let mesh = self.library.mesh(draw.mesh).map_or("", |mesh| &mesh.name).to_string();
            all.push(SceneSeen { draw, scene: number, mesh, things });
        });
        all
    }

    /// Tells each draw call with its scene and the first of its instances.
    fn visit(&self, mut tell: impl FnMut(u64, SceneDraw, u32)) {
        let plans = &self.plans;
        for view in &plans.views {
            let of_group = |kind, group: &Group| {
                let key = self.library.batch(group.batch);
                let (mesh, part) = (key.mesh, key.part);
                SceneDraw { view: view.view, kind, mesh, part, instances: group.count }
            };
            for shadow in &plans.shadows[view.shadows.clone()] {
                let kind = match shadow.map {
                    ShadowMap::Sun => SceneDrawKind::SunShadow(shadow.layer),
                    ShadowMap::Spot => SceneDrawKind::SpotShadow(shadow.layer),
                };
                for group in &plans.groups[shadow.groups.clone()] {
                    tell(view.scene, of_group(kind, group), group.first);
                }
            }
            for group in &plans.groups[view.solid.clone()] {
                tell(view.scene, of_group(SceneDrawKind::Solid, group), group.first);
            }
            for seen in &plans.seen[view.blended.clone()] {
                match seen {
                    Seen::Group(group) => {
                        let draw = of_group(SceneDrawKind::Blended, group);
                        tell(view.scene, draw, group.first);
                    }
                    Seen::Particles { batch, first, count } => {
                        let (kind, mesh) = (SceneDrawKind::Particles, *batch);
                        let instances = *count;
                        let draw = SceneDraw { view: view.view, kind, mesh, part: 0, instances };
                        tell(view.scene, draw, *first);
                    }
                }
            }
        }
    }
}

fn first_particle(scenes: &BTreeMap<u64, Scene>, number: u64) -> u32 {
    scenes.range(..number).map(|(_, scene)| scene.particles).sum()
}
