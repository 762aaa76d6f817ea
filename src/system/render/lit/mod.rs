//! Lit scenes on the adapter: what was planned for each view is drawn as light, with shadows, and
//! then shown as a picture on the view's target. Decides nothing about what is drawn: that is
//! planned in src/system/render/scene.
//!
//! For each view: its shadow maps; a pass into a target of half floats with a depth buffer (opaque,
//! the sky, what is seen through); a second one for what is seen through where there are particles,
//! which read the depth. The picture is shown by the first pass of the view's Guis. Nothing of this
//! is made before the first view with a scene.

mod buffers;
mod encode;
mod layouts;
mod meshes;
mod painted;
mod pipelines;
mod targets;

use super::device::Device;
use super::materials::Materials;
use super::passes::{FrameUniform, Rectangle};
use super::scene::{Group, SceneUniform, Scenes, Seen, ShadowMap, ViewPlan};
use super::textures::Textures;
use super::{Event, Quality};
use crate::packet::Packet;
use crate::packet::mesh::MeshSlot;
use buffers::Buffers;
use layouts::Layouts;
use meshes::Meshes;
use pipelines::{Key, Pipelines};
use targets::Targets;

pub use encode::Frame;

/// How light is stored before it is shown.
const LIGHT_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
const PARTICLE_BYTES: u64 = size_of::<crate::packet::scene::Particle>() as u64;

/// Where on its target a view is shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    pub rectangle: Rectangle,
    pub format: wgpu::TextureFormat,
    /// World Guis follow: they want the depth.
    pub deep: bool,
    /// Pixels for each logical pixel.
    pub scale: f32,
}

/// What scenes are drawn with that is not theirs.
pub struct Supplies<'a> {
    pub textures: &'a mut Textures,
    pub materials: &'a mut Materials,
    pub events: &'a mut Vec<Event>,
}

/// Everything that draws scenes.
pub struct Lit {
    layouts: Layouts,
    pipelines: Pipelines,
    painted: painted::Programs,
    samples: u32,
    targets: Targets,
    meshes: Meshes,
    buffers: Buffers,
    /// For each of the plan's views, where it is shown; `None`: nowhere.
    places: Vec<Option<Place>>,
    uniforms: Vec<SceneUniform>,
    frames: Vec<FrameUniform>,
}

fn refused(events: &mut Vec<Event>, scenes: &Scenes, all: Vec<(u32, String)>) {
    for (slot, words) in all {
        let name = scenes.library.mesh(slot).map_or_else(String::new, |mesh| mesh.name.clone());
        events.push(Event::MeshRefused { slot: MeshSlot(slot), name, words });
    }
}

impl Lit {
    /// Begins with everything that the scenes have so far. Fails with words where an adapter cannot
    /// draw them.
    pub fn start(
        device: &Device,
        textures: &Textures,
        scenes: &mut Scenes,
        quality: &Quality,
        events: &mut Vec<Event>,
    ) -> Result<Lit, String> {
        let storage = device.limits.max_storage_buffers_per_shader_stage;
        if !device.draws_onto(LIGHT_FORMAT, 1) || storage < 1 {
            let name = &device.about.name;
            return Err(format!(
                "the adapter {name} cannot draw worlds: it has no pictures of half floats. Run \
                 with --renderer software"
            ));
        }
        let samples =
            if device.draws_onto(LIGHT_FORMAT, quality.samples) { quality.samples } else { 1 };
        scenes.all_changed();
        let mut meshes = Meshes::default();
        refused(events, scenes, meshes.put_all(device, &scenes.library));
        Ok(Lit {
            layouts: Layouts::new(device, textures, samples),
            pipelines: Pipelines::new(device, samples),
            painted: painted::Programs::default(),
            samples,
            targets: Targets::new(device, samples, quality.shadow_texels, quality.spot_texels),
            meshes,
            buffers: Buffers::new(device),
            places: Vec::new(),
            uniforms: Vec::new(),
            frames: Vec::new(),
        })
    }

    /// Follows what a packet says of meshes and surfaces.
    pub fn apply(
        &mut self,
        device: &Device,
        scenes: &Scenes,
        packet: &Packet,
        events: &mut Vec<Event>,
    ) {
        let done = self.meshes.change(device, &scenes.library, &packet.meshes);
        refused(events, scenes, done);
    }

    /// Copies and makes all that the plan's views need; returns how many bytes were copied.
    /// `places`: one for each of them.
    pub fn prepare(
        &mut self,
        device: &Device,
        supplies: &mut Supplies,
        scenes: &mut Scenes,
        packet: &Packet,
        places: Vec<Option<Place>>,
    ) -> u64 {
        self.places = places;
        self.uniforms.clear();
        self.frames.clear();
        for (view, place) in scenes.plans.views.iter().zip(&self.places) {
            let mut uniform = view.uniform;
            if let Some(place) = place {
                uniform.counts[3] = u32::from(!place.format.is_srgb());
                uniform.shadow[2] = place.rectangle[0] as f32;
                uniform.shadow[3] = place.rectangle[1] as f32;
            }
            self.uniforms.push(uniform);
            let frame = place.as_ref().map(|place| painted::frame(place, packet));
            self.frames.push(frame.unwrap_or_default());
        }
        let sizes =
            self.places.iter().flatten().map(|place| (place.rectangle[2], place.rectangle[3]));
        self.targets.need(device, &self.layouts, &sizes.collect::<Vec<_>>());
        let layers = |map: ShadowMap| {
            let of_map = scenes.plans.shadows.iter().filter(|shadow| shadow.map == map);
            of_map.map(|shadow| shadow.layer + 1).max().unwrap_or(0)
        };
        let sun_grown = self.targets.sun.need(device, layers(ShadowMap::Sun));
        if self.targets.spots.need(device, layers(ShadowMap::Spot)) || sun_grown {
            self.buffers.renew();
        }
        let told = (&self.uniforms[..], &self.frames[..]);
        let copied = self.buffers.copy(device, scenes, packet, told);
        self.buffers.make_groups(device, &self.layouts, &self.targets, scenes);
        self.buffers.follow_textures(supplies.textures, !packet.surfaces.is_empty());
        for (index, view) in scenes.plans.views.iter().enumerate() {
            if let Some(place) = self.places[index] {
                self.need(device, supplies, scenes, view, place);
            }
        }
        copied
    }

    /// Makes the pipelines and texture groups of a view.
    fn need(
        &mut self,
        device: &Device,
        supplies: &mut Supplies,
        scenes: &Scenes,
        view: &ViewPlan,
        place: Place,
    ) {
        let plans = &scenes.plans;
        let shadows = plans.shadows[view.shadows.clone()].iter();
        let groups = shadows.flat_map(|shadow| &plans.groups[shadow.groups.clone()]);
        let groups = groups.chain(&plans.groups[view.solid.clone()]);
        let seen = &plans.seen[view.blended.clone()];
        let through = seen.iter().filter_map(|seen| match seen {
            Seen::Group(group) => Some(group),
            Seen::Particles { .. } => None,
        });
        let mut last = None;
        for Group { batch, .. } in groups.chain(through) {
            let key = scenes.library.batch(*batch);
            let alike = (key.class, key.painter, key.set);
            if last.replace(alike) != Some(alike) {
                match painted::slot(key) {
                    None => self.pipelines.need(device, &self.layouts, Key::Mesh(key.class)),
                    Some(slot) => {
                        let Supplies { textures, materials, events } = supplies;
                        materials.prepare_group(device, textures, slot);
                        let (layouts, samples) = (&self.layouts, self.samples);
                        let painter = materials.painter(slot);
                        self.painted.need(device, layouts, samples, key, &painter, events);
                    }
                }
                let library = &scenes.library;
                self.buffers.need_set(device, &self.layouts, supplies.textures, library, key.set);
            }
        }
        for seen in seen {
            if let Seen::Particles { batch, .. } = seen {
                let batch = &scenes.scenes[&view.scene].particle_batches[*batch as usize];
                self.pipelines.need(device, &self.layouts, Key::Particles(batch.blend));
            }
        }
        self.pipelines.need(device, &self.layouts, Key::Sky);
        let Place { format, deep, .. } = place;
        self.pipelines.need(device, &self.layouts, Key::Show { format, deep });
    }
}
