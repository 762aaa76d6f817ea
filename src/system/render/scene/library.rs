//! What scenes are made of: meshes, surfaces, the sets of textures that surfaces share, and the
//! batches that draws fall into. Knows no scene, and makes nothing on an adapter.
//!
//! A batch is what one draw call can draw: one part of one mesh, in one class and with one set of
//! textures. Surfaces that differ in numbers alone share a batch: the numbers are looked up by each
//! instance. Draws are given their batches when they are put, so a frame only has to count.

use super::super::Event;
use super::super::table::{Map, RangeList};
use crate::packet::mesh::{
    Alpha, INDICES_MAX, Mesh, MeshChange, MeshSlot, PARTS_MAX, SLOTS_MAX, Surface, SurfaceChange,
    SurfaceSlot, SurfaceTexture, VERTICES_MAX,
};
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;

/// No batch.
pub const NONE: u32 = u32::MAX;

/// How a batch is drawn, as bits: what a pipeline is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Class(pub u8);

impl Class {
    /// What has too little alpha is not there.
    pub const MASK: u8 = 1;
    /// Both sides are seen.
    pub const DOUBLE: u8 = 2;
    /// Turned inside out by its pose: the other side is the front.
    pub const MIRRORED: u8 = 4;
    /// Into a shadow map.
    pub const SHADOW: u8 = 8;
    /// Seen through.
    pub const BLEND: u8 = 16;

    pub fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// What draws in one batch have in common, in the order in which batches are drawn: what is dear to
/// change comes first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BatchKey {
    pub class: Class,
    /// The slot of the material that paints it; 0: it takes light.
    pub painter: u32,
    /// Which set of textures.
    pub set: u32,
    pub mesh: u32,
    pub part: u32,
}

/// One part of a draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    pub batch: u32,
    /// The batch in shadow maps.
    pub shadow: u32,
    pub surface: u32,
}

impl Item {
    pub const NONE: Item = Item { batch: NONE, shadow: NONE, surface: 0 };
}

/// Numbers of a surface, as scene.wgsl's `Surface` has them.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct SurfaceData {
    pub base_color: [f32; 4],
    pub emissive: [f32; 3],
    pub normal_scale: f32,
    pub metallic: f32,
    pub roughness: f32,
    pub occlusion_strength: f32,
    pub cutoff: f32,
    /// Bit 0: it has a normal texture; bit 1: unlit; bit 2: seen through.
    pub flags: u32,
    pub spare: [u32; 3],
}

/// The textures of a surface: colour, metal and rough, normal, occlusion, emissive.
pub type TextureSet = [SurfaceTexture; 5];

#[derive(Clone, Copy)]
struct Known {
    class: Class,
    painter: u32,
    set: u32,
}

/// Ends and reuse of numbers by counting uses.
struct Counted<K> {
    keys: Vec<K>,
    uses: Vec<u32>,
    free: Vec<u32>,
    ids: Map<K, u32>,
}

impl<K> Default for Counted<K> {
    fn default() -> Counted<K> {
        Counted { keys: Vec::new(), uses: Vec::new(), free: Vec::new(), ids: Map::default() }
    }
}

impl<K: Copy + Eq + std::hash::Hash> Counted<K> {
    /// The number of a key, used once more; and whether it is new.
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

    /// One use less; true when it was the last.
    fn give_back(&mut self, id: u32) -> bool {
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

/// Everything that draws refer to.
pub struct Library {
    meshes: Vec<Option<Arc<Mesh>>>,
    surfaces: Vec<Option<Known>>,
    /// The numbers of every surface by its slot; what is not there looks like the default.
    pub data: Vec<SurfaceData>,
    /// Which of them have changed since they were copied.
    pub data_changed: RangeList,
    sets: Counted<TextureSet>,
    batches: Counted<BatchKey>,
    /// The batches that are used, in their order.
    order: Vec<u32>,
    order_stale: bool,
}

/// What became of meshes and surfaces in a packet.
#[derive(Default)]
pub struct Changed {
    pub meshes: Vec<bool>,
    pub surfaces: Vec<bool>,
}

impl Changed {
    fn note(list: &mut Vec<bool>, slot: u32) {
        if list.len() <= slot as usize {
            list.resize(slot as usize + 1, false);
        }
        list[slot as usize] = true;
    }

    pub fn is_empty(&self) -> bool {
        self.meshes.is_empty() && self.surfaces.is_empty()
    }
}

fn data_of(surface: &Surface) -> SurfaceData {
    let blend = matches!(surface.alpha, Alpha::Blend);
    SurfaceData {
        base_color: surface.base_color,
        emissive: surface.emissive,
        normal_scale: surface.normal_scale,
        metallic: surface.metallic,
        roughness: surface.roughness,
        occlusion_strength: surface.occlusion_strength,
        cutoff: if let Alpha::Mask(cutoff) = surface.alpha { cutoff } else { 0.0 },
        flags: u32::from(surface.normal_texture.is_some())
            | u32::from(surface.unlit) << 1
            | u32::from(blend) << 2,
        spare: [0; 3],
    }
}

fn class_of(surface: &Surface) -> Class {
    let double = if surface.double_sided { Class::DOUBLE } else { 0 };
    Class(match surface.alpha {
        Alpha::Mask(_) => double | Class::MASK,
        // What a material paints may be seen through wherever it likes.
        Alpha::Opaque if surface.painter.is_none() => double,
        Alpha::Opaque | Alpha::Blend => double | Class::BLEND,
    })
}

/// Why a mesh cannot be drawn, if it cannot.
fn refusal(mesh: &Mesh) -> Option<String> {
    let (vertices, indices) = (mesh.vertices.len(), mesh.indices.len());
    if vertices > VERTICES_MAX || indices > INDICES_MAX || mesh.parts.len() > PARTS_MAX {
        return Some(format!(
            "it has {vertices} vertices, {indices} indices and {} parts; at most {VERTICES_MAX}, \
             {INDICES_MAX} and {PARTS_MAX} can be drawn (VERTICES_MAX, INDICES_MAX, PARTS_MAX): \
             split it",
            mesh.parts.len()
        ));
    }
    for (i, part) in mesh.parts.iter().enumerate() {
        let end = u64::from(part.first) + u64::from(part.count);
        if end > indices as u64 || part.count % 3 != 0 {
            return Some(format!(
                "its part {} has the indices {} to {end} of {indices}: export it anew",
                i + 1,
                part.first
            ));
        }
    }
    let wrong = mesh.indices.iter().find(|index| **index as usize >= vertices)?;
    Some(format!("an index is {wrong}, and there are {vertices} vertices: export it anew"))
}

impl Library {
    pub fn new() -> Library {
        let mut library = Library {
            meshes: Vec::new(),
            surfaces: Vec::new(),
            data: Vec::new(),
            data_changed: RangeList::default(),
            sets: Counted::default(),
            batches: Counted::default(),
            order: Vec::new(),
            order_stale: false,
        };
        library.put_surface(SurfaceSlot::DEFAULT, &Surface::DEFAULT);
        library
    }

    /// Does what a packet says, in order.
    pub fn apply(
        &mut self,
        meshes: &[MeshChange],
        surfaces: &[SurfaceChange],
        events: &mut Vec<Event>,
    ) -> Changed {
        let mut changed = Changed::default();
        for change in meshes {
            let (slot, mesh) = match change {
                MeshChange::Put { slot, mesh } => (*slot, Some(mesh)),
                MeshChange::End { slot } => (*slot, None),
            };
            let words = match mesh {
                _ if slot.0 >= SLOTS_MAX => Some(format!("its slot is {} (SLOTS_MAX)", slot.0)),
                Some(mesh) => refusal(mesh),
                None => None,
            };
            if words.is_none() || slot.0 < SLOTS_MAX {
                self.put_mesh(slot, mesh.filter(|_| words.is_none()));
                Changed::note(&mut changed.meshes, slot.0);
            }
            if let Some(words) = words {
                let name = mesh.map_or_else(String::new, |mesh| mesh.name.clone());
                events.push(Event::MeshRefused { slot, name, words });
            }
        }
        for change in surfaces {
            let slot = match change {
                SurfaceChange::Put { slot, surface } => {
                    assert!(slot.0 < SLOTS_MAX, "surface slot {} (SLOTS_MAX)", slot.0);
                    self.put_surface(*slot, surface);
                    *slot
                }
                SurfaceChange::End { slot } => {
                    self.end_surface(*slot);
                    *slot
                }
            };
            Changed::note(&mut changed.surfaces, slot.0);
        }
        changed
    }

    fn put_mesh(&mut self, slot: MeshSlot, mesh: Option<&Arc<Mesh>>) {
        let index = slot.0 as usize;
        if self.meshes.len() <= index {
            self.meshes.resize(index + 1, None);
        }
        self.meshes[index] = mesh.cloned();
    }

    fn put_surface(&mut self, slot: SurfaceSlot, surface: &Surface) {
        let index = slot.0 as usize;
        let set = [
            surface.base_color_texture,
            surface.metal_rough_texture,
            surface.normal_texture,
            surface.occlusion_texture,
            surface.emissive_texture,
        ];
        // The new one is taken first: a set that both have stays.
        let (set, _) = self.sets.take(set);
        if self.surfaces.len() <= index {
            self.surfaces.resize(index + 1, None);
            self.data.resize(index + 1, data_of(&Surface::DEFAULT));
        }
        let painter = surface.painter.map_or(0, |slot| slot.0);
        let known = Known { class: class_of(surface), painter, set };
        if let Some(old) = self.surfaces[index].replace(known) {
            self.sets.give_back(old.set);
        }
        self.data[index] = data_of(surface);
        self.data_changed.add(slot.0..slot.0 + 1);
    }

    fn end_surface(&mut self, slot: SurfaceSlot) {
        if slot == SurfaceSlot::DEFAULT {
            return self.put_surface(slot, &Surface::DEFAULT);
        }
        if let Some(old) = self.surfaces.get_mut(slot.0 as usize).and_then(Option::take) {
            self.sets.give_back(old.set);
        }
    }

    /// The mesh in a slot.
    pub fn mesh(&self, slot: u32) -> Option<&Arc<Mesh>> {
        self.meshes.get(slot as usize)?.as_ref()
    }

    /// Every mesh that is there, with its slot.
    pub fn meshes(&self) -> impl Iterator<Item = (u32, &Arc<Mesh>)> {
        self.meshes.iter().enumerate().filter_map(|(i, mesh)| Some((i as u32, mesh.as_ref()?)))
    }

    /// Every surface must be copied again.
    pub fn all_changed(&mut self) {
        self.data_changed.add(0..self.data.len() as u32);
    }

    /// How many meshes and surfaces there are.
    pub fn counts(&self) -> (u32, u32) {
        let surfaces = self.surfaces.iter().flatten().count() as u32;
        (self.meshes().count() as u32, surfaces)
    }

    pub fn set(&self, set: u32) -> &TextureSet {
        &self.sets.keys[set as usize]
    }

    pub fn batch(&self, batch: u32) -> &BatchKey {
        &self.batches.keys[batch as usize]
    }

    /// How many numbers of batches there are, the unused included.
    pub fn batches(&self) -> usize {
        self.batches.keys.len()
    }

    /// The batches in the order in which they are drawn.
    pub fn order(&mut self) -> &[u32] {
        if std::mem::take(&mut self.order_stale) {
            let Counted { keys, ids, .. } = &self.batches;
            self.order.clear();
            self.order.extend(ids.values());
            self.order.sort_unstable_by_key(|id| keys[*id as usize]);
        }
        &self.order
    }

    fn take_batch(&mut self, key: BatchKey) -> u32 {
        let (id, new) = self.batches.take(key);
        self.order_stale |= new;
        id
    }

    /// Gives the items of a draw their batches. `surfaces`: for the places of the mesh's parts.
    pub fn take_items(&mut self, mesh: u32, surfaces: &[u32], mirrored: bool, to: &mut Vec<Item>) {
        let Some(shape) = self.mesh(mesh).cloned() else { return };
        for (number, part) in shape.parts.iter().enumerate().filter(|(_, part)| part.count > 0) {
            let wanted = surfaces.get(part.place as usize).copied().unwrap_or(0);
            let known = self.surfaces.get(wanted as usize).copied().flatten();
            let (surface, known) = match known {
                Some(known) => (wanted, known),
                None => (0, self.surfaces[0].expect("the default is always there")),
            };
            let part = number as u32;
            let mirror = if mirrored { Class::MIRRORED } else { 0 };
            let class = Class(known.class.0 | mirror);
            let Known { painter, set, .. } = known;
            let batch = self.take_batch(BatchKey { class, painter, set, mesh, part });
            let shadow = if known.class.has(Class::BLEND) {
                NONE
            } else {
                // Only what is masked needs its textures to cast a shadow.
                let mask = known.class.0 & Class::MASK;
                let set = if mask != 0 { known.set } else { 0 };
                let class = Class(Class::SHADOW | mask);
                self.take_batch(BatchKey { class, painter: 0, set, mesh, part })
            };
            to.push(Item { batch, shadow, surface });
        }
    }

    /// Takes batches back from an item.
    pub fn give_back(&mut self, item: Item) {
        for batch in [item.batch, item.shadow] {
            if batch != NONE {
                self.order_stale |= self.batches.give_back(batch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::Vec3;
    use crate::packet::mesh::{Bounds, Part, Vertex};
    use crate::packet::texture::{Sampling, TextureSlot, Wrap};

    fn mesh(indices: &[u32], parts: &[[u32; 3]]) -> Mesh {
        let vertices = vec![Vertex::default(); 3];
        let part = |it: &[u32; 3]| Part { first: it[0], count: it[1], place: it[2] };
        Mesh {
            name: "cliff".to_string(),
            bounds: Bounds { min: Vec3::ZERO, max: Vec3::ONE, center: Vec3::ZERO, radius: 1.0 },
            vertices,
            indices: indices.to_vec(),
            parts: parts.iter().map(part).collect(),
        }
    }

    fn put(library: &mut Library, mesh: Mesh) -> Vec<Event> {
        let mut events = Vec::new();
        let put = MeshChange::Put { slot: MeshSlot(2), mesh: Arc::new(mesh) };
        library.apply(&[put], &[], &mut events);
        events
    }

    #[test]
    fn a_mesh_that_names_what_it_has_not_is_refused_with_words() {
        let check = |mesh: Mesh, wanted: &str| {
            let mut library = Library::new();
            let events = put(&mut library, mesh);
            let [Event::MeshRefused { words, name, .. }] = &events[..] else {
                panic!("{events:?}")
            };
            assert_eq!((words.as_str(), name.as_str()), (wanted, "cliff"));
            assert!(library.mesh(2).is_none());
        };
        check(
            mesh(&[0, 1, 3], &[[0, 3, 0]]),
            "an index is 3, and there are 3 vertices: export it anew",
        );
        check(
            mesh(&[0, 1, 2], &[[0, 3, 0], [2, 3, 0]]),
            "its part 2 has the indices 2 to 5 of 3: export it anew",
        );
    }

    #[test]
    fn surfaces_that_differ_in_numbers_share_a_batch_and_others_do_not() {
        let mut library = Library::new();
        put(&mut library, mesh(&[0, 1, 2], &[[0, 3, 0]]));
        let sampling = Sampling { nearest: false, wrap: Wrap::Repeat };
        let red = Surface { base_color: [1.0, 0.0, 0.0, 1.0], ..Surface::DEFAULT };
        let textured =
            Surface { base_color_texture: Some((TextureSlot(9), sampling)), ..Surface::DEFAULT };
        let glass = Surface { alpha: Alpha::Blend, ..Surface::DEFAULT };
        for (slot, surface) in [(1, red), (2, textured), (3, glass)] {
            let put = SurfaceChange::Put { slot: SurfaceSlot(slot), surface };
            library.apply(&[], &[put], &mut Vec::new());
        }
        let mut items = Vec::new();
        for slot in [0, 1, 2, 3, 77] {
            library.take_items(2, &[slot], false, &mut items);
        }
        assert_eq!(items[0].batch, items[1].batch);
        assert_ne!(items[0].batch, items[2].batch);
        assert_eq!(items[0].shadow, items[2].shadow);
        assert_eq!(items[3].shadow, NONE);
        assert_eq!((items[4].batch, items[4].surface), (items[0].batch, 0));
        assert_eq!(library.order().len(), 4);
        items.drain(..).for_each(|item| library.give_back(item));
        assert!(library.order().is_empty());
        library.take_items(2, &[3], true, &mut items);
        assert!(items[0].batch < 4, "numbers are used again");
    }
}
