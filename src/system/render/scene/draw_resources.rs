//! The registry of the resources that scenes refer to: meshes, surfaces, the texture sets that
//! surfaces share, and the batches of draws. Knows no scene, and creates no resources on an
//! adapter.
//!
//! A batch is what one draw call can draw: one part of one mesh, with one class and one texture
//! set. Surfaces that differ only in numbers share a batch: each instance looks its numbers up.
//! Draws get their batches when they are put, so a frame only has to count.

use super::super::RendererEvent;
use super::super::numeric_map::{DirtyRanges, NumberMap};
use super::mesh_checks::refusal;
use super::pipeline_class::PipelineClass;
use bytemuck::{Pod, Zeroable};
use engine_frame_packet::mesh::{
    MeshChange, MeshFrame, MeshSlot, SLOTS_MAX, SurfaceAlphaMode, SurfaceChange, SurfaceFrame,
    SurfaceSlot, SurfaceTexture,
};
use engine_resource::material_data::SurfaceFunctions;
use std::sync::Arc;

/// Stands for no batch.
pub const NONE: u32 = u32::MAX;

/// The properties that the draws of a batch share, in the sort order of batches: the most expensive
/// state change comes first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SceneBatchKey {
    pub class: PipelineClass,
    /// Slot of the material that paints the batch, or whose surface functions it has
    /// ([`PipelineClass::FUNCTIONS`]); 0: it has the engine's own surface.
    pub material: u32,
    /// Index of the texture set.
    pub set: u32,
    pub mesh: u32,
    pub part: u32,
}

/// One part of a draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrawPart {
    pub batch: u32,
    /// The batch in shadow maps.
    pub shadow: u32,
    /// Index of the surface; above [`SURFACE_INDEX_BITS`], the light layers that do not light it.
    pub surface: u32,
}

/// Bits of the index in [`DrawPart::surface`]. The same as in forward/mesh_draw.wgsl.
pub const SURFACE_INDEX_BITS: u32 = 24;

impl DrawPart {
    pub const NONE: DrawPart = DrawPart { batch: NONE, shadow: NONE, surface: 0 };
}

/// The numbers of a surface, with the layout of `Surface` in forward/mesh.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct SurfaceUniform {
    pub base_color: [f32; 4],
    pub emissive: [f32; 3],
    pub normal_scale: f32,
    pub metallic: f32,
    pub roughness: f32,
    pub occlusion_strength: f32,
    pub cutoff: f32,
    /// Bit 0: it has a normal texture; bit 1: unlit; bit 2: transparent.
    pub flags: u32,
    /// Maximum length of a vertex's offset.
    pub offset_max: f32,
    pub spare: [u32; 2],
    /// Clear coat and its roughness, roughness of the sheen, transmission.
    pub coat: [f32; 4],
    /// Color of the sheen, and index of refraction.
    pub sheen: [f32; 4],
    /// Color and strength of the reflection.
    pub specular: [f32; 4],
    /// Strength and angle of anisotropy, thickness.
    pub anisotropy: [f32; 4],
}

/// The textures of a surface: color, metallic and roughness, normal, occlusion, emissive.
pub type TextureSet = [SurfaceTexture; 5];

#[derive(Clone, Copy)]
struct KnownSurface {
    class: PipelineClass,
    material: u32,
    set: u32,
    functions: SurfaceFunctions,
    offset_max: f32,
    /// [`PipelineClass::BACK_SHADOW`], or 0.
    back_shadow: u16,
}

impl KnownSurface {
    /// Returns true if its shadow follows the functions of its material.
    fn changes_outline(&self) -> bool {
        let shadow = self.shadow(0);
        shadow.is_some_and(|(class, ..)| PipelineClass(class).has(PipelineClass::FUNCTIONS))
    }

    /// Returns the class, the material and the texture set of the batch in shadow maps; `None`: the
    /// surface casts no shadow.
    fn shadow(&self, deformed: u16) -> Option<(u16, u32, u32)> {
        let class = PipelineClass(self.class.0 | deformed).in_shadow_maps(self.functions)?;
        let class = PipelineClass(class.0 | self.back_shadow);
        Some(match class.has(PipelineClass::FUNCTIONS) {
            true => (class.0, self.material, self.set),
            false if class.has(PipelineClass::MASK) => (class.0, 0, self.set),
            false => (class.0, 0, 0),
        })
    }
}

/// A table that assigns a number to each key, and counts its uses. Numbers without uses are reused.
struct RefCounts<K> {
    keys: Vec<K>,
    uses: Vec<u32>,
    free: Vec<u32>,
    ids: NumberMap<K, u32>,
}

impl<K> Default for RefCounts<K> {
    fn default() -> RefCounts<K> {
        RefCounts {
            keys: Vec::new(),
            uses: Vec::new(),
            free: Vec::new(),
            ids: NumberMap::default(),
        }
    }
}

impl<K: Copy + Eq + std::hash::Hash> RefCounts<K> {
    /// Returns the number of a key and counts one more use; the flag is true if the key is new.
    fn take(&mut self, key: K) -> (u32, bool) {
        if let Some(id) = self.ids.get(&key) {
            self.uses[*id as usize] += 1;
            return (*id, false);
        }
        let id = self.free.pop().unwrap_or(self.keys.len() as u32);
        if id as usize == self.keys.len() {
            self.keys.push(key);
            self.uses.push(1);
        } else {
            self.keys[id as usize] = key;
            self.uses[id as usize] = 1;
        }
        self.ids.insert(key, id);
        (id, true)
    }

    /// Releases one use. Returns true if it was the last.
    fn release(&mut self, id: u32) -> bool {
        let uses = &mut self.uses[id as usize];
        *uses -= 1;
        if *uses > 0 {
            return false;
        }
        self.ids.remove(&self.keys[id as usize]);
        self.free.push(id);
        true
    }
}

/// All resources that draws refer to.
pub struct DrawResources {
    meshes: Vec<Option<Arc<MeshFrame>>>,
    surfaces: Vec<Option<KnownSurface>>,
    /// The numbers of every surface by its slot; a missing surface has the default.
    pub data: Vec<SurfaceUniform>,
    /// Ranges of `data` that have changed since they were copied.
    pub data_changed: DirtyRanges,
    sets: RefCounts<TextureSet>,
    batches: RefCounts<SceneBatchKey>,
    /// The used batches, in drawing order.
    order: Vec<u32>,
    order_stale: bool,
    /// Number of surfaces that move vertices.
    with_offsets: u32,
    /// Number of surfaces with functions that change the outline of their shadow.
    with_outlines: u32,
}

/// Slots of the meshes and surfaces that a packet changed.
#[derive(Default)]
pub struct ResourceChanges {
    pub meshes: Vec<bool>,
    pub surfaces: Vec<bool>,
}

impl ResourceChanges {
    fn mark(list: &mut Vec<bool>, slot: u32) {
        if list.len() <= slot as usize {
            list.resize(slot as usize + 1, false);
        }
        list[slot as usize] = true;
    }

    pub fn is_empty(&self) -> bool {
        self.meshes.is_empty() && self.surfaces.is_empty()
    }
}

fn data_of(surface: &SurfaceFrame) -> SurfaceUniform {
    let blend = matches!(surface.alpha, SurfaceAlphaMode::Blend);
    let lobes = &surface.lobes;
    let with = |[r, g, b]: [f32; 3], fourth: f32| [r, g, b, fourth];
    SurfaceUniform {
        base_color: surface.base_color,
        emissive: surface.emissive,
        normal_scale: surface.normal_scale,
        metallic: surface.metallic,
        roughness: surface.roughness,
        occlusion_strength: surface.occlusion_strength,
        cutoff: if let SurfaceAlphaMode::Mask(cutoff) = surface.alpha { cutoff } else { 0.0 },
        flags: u32::from(surface.normal_texture.is_some())
            | u32::from(surface.unlit) << 1
            | u32::from(blend) << 2,
        offset_max: offset_max(surface),
        spare: [0; 2],
        coat: [
            lobes.clear_coat,
            lobes.clear_coat_roughness,
            lobes.sheen_roughness,
            lobes.transmission,
        ],
        sheen: with(lobes.sheen_color, lobes.ior),
        specular: with(lobes.specular_color, lobes.specular),
        anisotropy: [lobes.anisotropy, lobes.anisotropy_rotation, lobes.thickness, 0.0],
    }
}

/// Returns the distance by which a surface may move vertices.
fn offset_max(surface: &SurfaceFrame) -> f32 {
    match surface.shader.filter(|shader| shader.functions.vertex_offset) {
        Some(shader) if shader.offset_max.is_finite() => shader.offset_max.max(0.0),
        _ => 0.0,
    }
}

impl DrawResources {
    pub fn new() -> DrawResources {
        let mut library = DrawResources {
            meshes: Vec::new(),
            surfaces: Vec::new(),
            data: Vec::new(),
            data_changed: DirtyRanges::default(),
            sets: RefCounts::default(),
            batches: RefCounts::default(),
            order: Vec::new(),
            order_stale: false,
            with_offsets: 0,
            with_outlines: 0,
        };
        library.set_surface(SurfaceSlot::DEFAULT, &SurfaceFrame::DEFAULT);
        library
    }

    /// Applies a packet's changes, in order.
    pub fn apply(
        &mut self,
        meshes: &[MeshChange],
        surfaces: &[SurfaceChange],
        events: &mut Vec<RendererEvent>,
    ) -> ResourceChanges {
        let mut changed = ResourceChanges::default();
        for change in meshes {
            let (slot, mesh) = match change {
                MeshChange::Set { slot, mesh } => (*slot, Some(mesh)),
                MeshChange::End { slot } => (*slot, None),
            };
            let message = match mesh {
                _ if slot.0 >= SLOTS_MAX => Some(format!("its slot is {} (SLOTS_MAX)", slot.0)),
                Some(mesh) => refusal(mesh),
                None => None,
            };
            if message.is_none() || slot.0 < SLOTS_MAX {
                self.set_mesh(slot, mesh.filter(|_| message.is_none()));
                ResourceChanges::mark(&mut changed.meshes, slot.0);
            }
            if let Some(message) = message {
                let name = mesh.map_or_else(String::new, |mesh| mesh.name.clone());
                events.push(RendererEvent::MeshRefused { slot, name, message });
            }
        }
        for change in surfaces {
            let slot = match change {
                SurfaceChange::Set { slot, surface } => {
                    assert!(slot.0 < SLOTS_MAX, "surface slot {} (SLOTS_MAX)", slot.0);
                    self.set_surface(*slot, surface);
                    *slot
                }
                SurfaceChange::End { slot } => {
                    self.end_surface(*slot);
                    *slot
                }
            };
            ResourceChanges::mark(&mut changed.surfaces, slot.0);
        }
        changed
    }

    fn set_mesh(&mut self, slot: MeshSlot, mesh: Option<&Arc<MeshFrame>>) {
        let index = slot.0 as usize;
        if self.meshes.len() <= index {
            self.meshes.resize(index + 1, None);
        }
        self.meshes[index] = mesh.cloned();
    }

    fn set_surface(&mut self, slot: SurfaceSlot, surface: &SurfaceFrame) {
        let index = slot.0 as usize;
        let set = [
            surface.base_color_texture,
            surface.metal_rough_texture,
            surface.normal_texture,
            surface.occlusion_texture,
            surface.emissive_texture,
        ];
        // The new set is taken before the old one is released, so that a set that both have is
        // kept.
        let (set, _) = self.sets.take(set);
        if self.surfaces.len() <= index {
            self.surfaces.resize(index + 1, None);
            self.data.resize(index + 1, data_of(&SurfaceFrame::DEFAULT));
        }
        let of_functions = surface.shader.map(|shader| shader.material);
        let material = of_functions.or(surface.custom_material).map_or(0, |slot| slot.0);
        let known = KnownSurface {
            class: PipelineClass::of_surface(surface),
            material,
            set,
            functions: surface.shader.map(|shader| shader.functions).unwrap_or_default(),
            offset_max: offset_max(surface),
            back_shadow: if surface.back_shadow { PipelineClass::BACK_SHADOW } else { 0 },
        };
        self.with_offsets += u32::from(known.offset_max > 0.0);
        self.with_outlines += u32::from(known.changes_outline());
        if let Some(old) = self.surfaces[index].replace(known) {
            self.with_offsets -= u32::from(old.offset_max > 0.0);
            self.with_outlines -= u32::from(old.changes_outline());
            self.sets.release(old.set);
        }
        self.data[index] = data_of(surface);
        self.data_changed.add(slot.0..slot.0 + 1);
    }

    fn end_surface(&mut self, slot: SurfaceSlot) {
        if slot == SurfaceSlot::DEFAULT {
            return self.set_surface(slot, &SurfaceFrame::DEFAULT);
        }
        if let Some(old) = self.surfaces.get_mut(slot.0 as usize).and_then(Option::take) {
            self.with_offsets -= u32::from(old.offset_max > 0.0);
            self.with_outlines -= u32::from(old.changes_outline());
            self.sets.release(old.set);
        }
    }

    /// Returns true if functions of surfaces change the outline of shadows.
    pub fn has_changing_outlines(&self) -> bool {
        self.with_outlines > 0
    }

    /// Returns the distance by which surfaces may move vertices.
    pub fn offset_max(&self, surfaces: &[u32]) -> f32 {
        if self.with_offsets == 0 {
            return 0.0;
        }
        let known = surfaces.iter().filter_map(|slot| self.surfaces.get(*slot as usize)?.as_ref());
        known.map(|surface| surface.offset_max).fold(0.0, f32::max)
    }

    /// Returns the keys of the batches that a surface with functions may need, for meshes with and
    /// without joints and morph targets.
    pub fn function_batches(&self) -> impl Iterator<Item = SceneBatchKey> {
        let known = self.surfaces.iter().flatten();
        known.filter(|known| known.class.has(PipelineClass::FUNCTIONS)).flat_map(|known| {
            [0, PipelineClass::DEFORMED].into_iter().flat_map(move |deformed| {
                let key = |class, material| SceneBatchKey {
                    class: PipelineClass(class),
                    material,
                    set: known.set,
                    mesh: 0,
                    part: 0,
                };
                let shadow =
                    known.shadow(deformed).map(|(class, material, _)| key(class, material));
                [Some(key(known.class.0 | deformed, known.material)), shadow].into_iter().flatten()
            })
        })
    }

    /// Returns the mesh in a slot.
    pub fn mesh(&self, slot: u32) -> Option<&Arc<MeshFrame>> {
        self.meshes.get(slot as usize)?.as_ref()
    }

    /// Returns every mesh with its slot.
    pub fn meshes(&self) -> impl Iterator<Item = (u32, &Arc<MeshFrame>)> {
        self.meshes.iter().enumerate().filter_map(|(i, mesh)| Some((i as u32, mesh.as_ref()?)))
    }

    /// Marks every surface as changed.
    pub fn mark_all_changed(&mut self) {
        self.data_changed.add(0..self.data.len() as u32);
    }

    /// Returns the number of meshes and of surfaces.
    pub fn mesh_and_surface_counts(&self) -> (u32, u32) {
        let surfaces = self.surfaces.iter().flatten().count() as u32;
        (self.meshes().count() as u32, surfaces)
    }

    pub fn set(&self, set: u32) -> &TextureSet {
        &self.sets.keys[set as usize]
    }

    pub fn batch(&self, batch: u32) -> &SceneBatchKey {
        &self.batches.keys[batch as usize]
    }

    /// Returns the size of the batch table, including unused numbers.
    pub fn batches(&self) -> usize {
        self.batches.keys.len()
    }

    /// Returns the used batches in drawing order.
    pub fn order(&mut self) -> &[u32] {
        if std::mem::take(&mut self.order_stale) {
            let RefCounts { keys, ids, .. } = &self.batches;
            self.order.clear();
            self.order.extend(ids.values());
            self.order.sort_unstable_by_key(|id| keys[*id as usize]);
        }
        &self.order
    }

    fn take_batch(&mut self, key: SceneBatchKey) -> u32 {
        let (id, new) = self.batches.take(key);
        self.order_stale |= new;
        id
    }

    /// Takes the batches of a draw, and appends its parts. `surfaces` has one item for each part of
    /// the mesh.
    pub fn take_items(
        &mut self,
        mesh: u32,
        surfaces: &[u32],
        (mirrored, layers): (bool, u32),
        to: &mut Vec<DrawPart>,
    ) {
        let Some(shape) = self.mesh(mesh).cloned() else { return };
        let is_deformed = shape.skin.is_some() || shape.morph.is_some();
        let deformed = if is_deformed { PipelineClass::DEFORMED } else { 0 };
        for (number, part) in shape.parts.iter().enumerate().filter(|(_, part)| part.count > 0) {
            let wanted = surfaces.get(part.surface as usize).copied().unwrap_or(0);
            let known = self.surfaces.get(wanted as usize).copied().flatten();
            let (surface, known) = match known {
                Some(known) => (wanted, known),
                None => (0, self.surfaces[0].expect("the default always exists")),
            };
            let part = number as u32;
            let mirror = if mirrored { PipelineClass::MIRRORED } else { 0 };
            let class = PipelineClass(known.class.0 | mirror | deformed);
            let KnownSurface { material, set, .. } = known;
            let batch = self.take_batch(SceneBatchKey { class, material, set, mesh, part });
            let shadow = known.shadow(deformed).map_or(NONE, |(class, material, set)| {
                let class = PipelineClass(class);
                self.take_batch(SceneBatchKey { class, material, set, mesh, part })
            });
            let excluded = !layers << SURFACE_INDEX_BITS;
            to.push(DrawPart { batch, shadow, surface: surface | excluded });
        }
    }

    /// Releases the batches of a part.
    pub fn release(&mut self, item: DrawPart) {
        for batch in [item.batch, item.shadow] {
            if batch != NONE {
                self.order_stale |= self.batches.release(batch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Vec3;
    use engine_frame_packet::mesh::{MeshBounds, MeshPart, MeshVertex};
    use engine_frame_packet::texture::{SamplerSettings, TextureSlot, WrapMode};

    fn mesh(indices: &[u32], parts: &[[u32; 3]]) -> MeshFrame {
        let vertices = vec![MeshVertex::default(); 3];
        let part = |it: &[u32; 3]| MeshPart { first: it[0], count: it[1], surface: it[2] };
        MeshFrame {
            name: "cliff".to_string(),
            bounds: MeshBounds { min: Vec3::ZERO, max: Vec3::ONE, center: Vec3::ZERO, radius: 1.0 },
            vertices,
            indices: indices.to_vec(),
            parts: parts.iter().map(part).collect(),
            skin: None,
            morph: None,
        }
    }

    fn set_mesh(library: &mut DrawResources, mesh: MeshFrame) -> Vec<RendererEvent> {
        let mut events = Vec::new();
        let change = MeshChange::Set { slot: MeshSlot(2), mesh: Arc::new(mesh) };
        library.apply(&[change], &[], &mut events);
        events
    }

    #[test]
    fn surfaces_with_equal_textures_share_a_batch() {
        let mut library = DrawResources::new();
        set_mesh(&mut library, mesh(&[0, 1, 2], &[[0, 3, 0]]));
        let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Repeat };
        let red = SurfaceFrame { base_color: [1.0, 0.0, 0.0, 1.0], ..SurfaceFrame::DEFAULT };
        let textured = SurfaceFrame {
            base_color_texture: Some((TextureSlot(9), sampling)),
            ..SurfaceFrame::DEFAULT
        };
        let glass = SurfaceFrame { alpha: SurfaceAlphaMode::Blend, ..SurfaceFrame::DEFAULT };
        for (slot, surface) in [(1, red), (2, textured), (3, glass)] {
            let change = SurfaceChange::Set { slot: SurfaceSlot(slot), surface };
            library.apply(&[], &[change], &mut Vec::new());
        }
        let mut items = Vec::new();
        for slot in [0, 1, 2, 3, 77] {
            library.take_items(2, &[slot], (false, u32::MAX), &mut items);
        }
        assert_eq!(items[0].batch, items[1].batch);
        assert_ne!(items[0].batch, items[2].batch);
        assert_eq!(items[0].shadow, items[2].shadow);
        assert_eq!(items[3].shadow, NONE);
        assert_eq!((items[4].batch, items[4].surface), (items[0].batch, 0));
        assert_eq!(library.order().len(), 4);
        items.drain(..).for_each(|item| library.release(item));
        assert!(library.order().is_empty());
        library.take_items(2, &[3], (true, u32::MAX), &mut items);
        assert!(items[0].batch < 4, "numbers are used again");
    }

    #[test]
    fn back_faces_of_a_surface_can_cast_its_shadow() {
        let mut library = DrawResources::new();
        set_mesh(&mut library, mesh(&[0, 1, 2], &[[0, 3, 0]]));
        let surface = SurfaceFrame { back_shadow: true, ..SurfaceFrame::DEFAULT };
        let change = SurfaceChange::Set { slot: SurfaceSlot(1), surface };
        library.apply(&[], &[change], &mut Vec::new());
        let mut items = Vec::new();
        for slot in [0, 1] {
            library.take_items(2, &[slot], (false, u32::MAX), &mut items);
        }
        assert_eq!(items[0].batch, items[1].batch, "visible faces are the same");
        let [usual, back] = [&items[0], &items[1]].map(|item| library.batch(item.shadow).class);
        assert_eq!(PipelineClass(usual.0 | PipelineClass::BACK_SHADOW), back);
    }
}
