//! Materials of a running game: by name, with which shader, textures and variables something is
//! drawn. What the renderer has to do about them is queued as [`MaterialChange`] and taken by
//! `flush`. Knows no scripts, no files and no graphics interface; shaders and materials are checked
//! by the data compiler (src/system/render/shader), and textures are looked up by whoever calls.
//!
//! `find` gives the material that everybody shares who draws by its name; `make` gives one of its
//! own, whose variables and textures are set apart.

mod registry;
mod surface;
#[cfg(test)]
mod tests;

use crate::error;
use crate::foundation::suggest::hint;
use crate::foundation::{Error, Handle, Kind, Slots, log};
use crate::packet::material::{Blend, MaterialChange, MaterialSlot};
use crate::packet::texture::{Sampling, TextureSlot};
use crate::resource::name::ResourceName;
use crate::resource::shading::{MaterialData, ShaderData, Variable};
use crate::resource::store::Store;
use std::collections::HashMap;
use std::sync::Arc;

/// The most materials that can be there at once.
pub const MATERIALS_MAX: usize = 4096;

/// The handle of a material.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MaterialId(pub Handle);

/// Looks a texture up by its name: a slot with all of it, and how it is sampled.
pub type Resolve<'a> =
    &'a mut dyn FnMut(&mut Store, &str) -> Result<(TextureSlot, Sampling), Error>;

/// A shader in use.
struct Loaded {
    data: ShaderData,
    packet: Arc<crate::packet::material::Shader>,
}

/// One material.
#[derive(Clone)]
pub struct Material {
    /// Of its resource.
    pub name: String,
    pub slot: MaterialSlot,
    /// The name of the texture that bitmaps show, where it has one.
    pub texture: Option<String>,
    data: MaterialData,
    shader: Option<Arc<Loaded>>,
    /// The block of variables.
    block: Vec<u8>,
    /// By place: names of textures, in the renderer's table.
    textures: Vec<(String, TextureSlot, Sampling)>,
    /// What the game has set, kept when the resource is made anew.
    set_variables: Vec<(String, Vec<f32>)>,
    set_textures: Vec<(String, String)>,
    /// Whether the block has changed since the last flush.
    changed: bool,
    shared: bool,
    /// What meshes are drawn with, where it is for them.
    surface: Option<Box<surface::State>>,
}

/// The materials of a game.
pub struct Materials {
    slots: Slots<Material>,
    by_name: HashMap<String, MaterialId>,
    shaders: HashMap<String, Arc<Loaded>>,
    free: Vec<MaterialSlot>,
    next: u32,
    queue: Vec<MaterialChange>,
    /// Those whose block has changed, each once.
    changed: Vec<MaterialId>,
    version: u64,
    surfaces: surface::Slots,
}

impl Default for Materials {
    fn default() -> Materials {
        Materials {
            slots: Slots::new(Kind::Material, MATERIALS_MAX),
            by_name: HashMap::new(),
            shaders: HashMap::new(),
            free: Vec::new(),
            next: MaterialSlot::FIRST_FREE,
            queue: Vec::new(),
            changed: Vec::new(),
            version: 0,
            surfaces: surface::Slots::default(),
        }
    }
}

impl Materials {
    /// All that are there.
    pub fn slots(&self) -> &Slots<Material> {
        &self.slots
    }

    /// Changes whenever a material's slot or texture is not what it was.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The material that all share who draw by its name.
    pub fn find(
        &mut self,
        store: &mut Store,
        name: &str,
        resolve: Resolve,
    ) -> Result<MaterialId, Error> {
        if let Some(known) = self.by_name.get(name) {
            return Ok(*known);
        }
        crate::owner!("resources/materials");
        let id = self.add(store, name, resolve, true)?;
        self.by_name.insert(name.to_string(), id);
        Ok(id)
    }

    /// A material of its own.
    pub fn make(
        &mut self,
        store: &mut Store,
        name: &str,
        resolve: Resolve,
    ) -> Result<MaterialId, Error> {
        self.add(store, name, resolve, false)
    }

    /// Ends a material that `make` made. A shared one is everybody's: it stays, and says so.
    pub fn destroy(&mut self, id: MaterialId, frame: u64, place: &str) -> Result<(), Error> {
        let material = self.slots.get(id.0).expect("the handle was checked where it came in");
        let (name, slot) = (material.name.clone(), material.slot);
        if material.shared {
            return Err(error!(
                "the material '{name}' is shared by all who draw by its name: only what \
                 Material.new made can be destroyed"
            ));
        }
        let ended = self.slots.remove(id.0, &name, frame, place).expect("it was there");
        match ended.surface {
            Some(surface) => self.surfaces.end(surface.slot),
            None => {
                self.queue.push(MaterialChange::End { slot });
                self.free.push(slot);
            }
        }
        self.version += 1;
        Ok(())
    }

    /// Sets a variable. `kind_words`: what was given, for the words of an error.
    pub fn set(
        &mut self,
        id: MaterialId,
        name: &str,
        numbers: &[f32],
        kind_words: &str,
    ) -> Result<(), Error> {
        let material = self.slots.get_mut(id.0).expect("the handle was checked where it came in");
        if let Some(surface) = &mut material.surface {
            surface.set(&material.name, name, numbers, kind_words)?;
            self.note_set(id, name, numbers);
            return Ok(());
        }
        let Variable { kind, offset, .. } = *material.variable(name)?;
        if kind.numbers() != numbers.len() {
            return Err(error!(
                "the variable '{name}' of the material '{}' is a {}, and was given {kind_words}",
                material.name,
                kind.wgsl()
            ));
        }
        kind.put(&mut material.block, offset, numbers);
        self.note_set(id, name, numbers);
        Ok(())
    }

    /// Remembers what a game has set, and that the renderer is to hear of it.
    fn note_set(&mut self, id: MaterialId, name: &str, numbers: &[f32]) {
        let material = self.slots.get_mut(id.0).expect("the caller looked");
        match material.set_variables.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => numbers.clone_into(known),
            None => material.set_variables.push((name.to_string(), numbers.to_vec())),
        }
        if !material.changed {
            material.changed = true;
            self.changed.push(id);
        }
    }

    /// Sets the texture in one of the shader's places, by the place's name; "texture" is the one
    /// that bitmaps show.
    pub fn set_texture(
        &mut self,
        store: &mut Store,
        id: MaterialId,
        name: &str,
        texture: &str,
        resolve: Resolve,
    ) -> Result<(), Error> {
        let (slot, sampling) = resolve(store, texture)?;
        let material = self.slots.get_mut(id.0).expect("the handle was checked where it came in");
        if let Some(surface) = &mut material.surface {
            surface.set_texture(&material.name, name, texture, (slot, sampling))?;
            if !std::mem::replace(&mut material.changed, true) {
                self.changed.push(id);
            }
        } else if name == "texture" && material.place(name).is_none() {
            material.texture = Some(texture.to_string());
        } else {
            let place = material.place(name).ok_or_else(|| material.no_texture(name))?;
            // What the material's file says of the sampler stays.
            let sampling = material.sampling(name, sampling);
            let known = &mut material.textures[place];
            let again = sampling != known.2;
            *known = (texture.to_string(), slot, sampling);
            let (slot, place) = (material.slot, place as u32);
            match again {
                true => self.queue.push(material.put()),
                false => {
                    let texture = known.1;
                    self.queue.push(MaterialChange::Texture { slot, place, texture });
                }
            }
        }
        match material.set_textures.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = texture.to_string(),
            None => material.set_textures.push((name.to_string(), texture.to_string())),
        }
        self.version += 1;
        Ok(())
    }

    /// Takes in what the data compiler made anew. What cannot be used stays as it was, and is told.
    pub fn reload(&mut self, store: &mut Store, changed: &[ResourceName], resolve: Resolve) {
        let kind = |kind: &'static str| changed.iter().filter(move |name| name.kind == kind);
        let shaders: Vec<&str> = kind("shader").map(|name| &name.name[..]).collect();
        for name in &shaders {
            if !self.shaders.contains_key(*name) {
                continue;
            }
            if let Err(fault) = self.load_shader(store, name) {
                log::error(&format!("{fault}: what was made of it before stays"));
            }
        }
        let ids: Vec<MaterialId> =
            self.slots.iter().map(|(handle, _)| MaterialId(handle)).collect();
        for id in ids {
            let material = self.slots.get(id.0).expect("it was there");
            let own = kind("material").any(|name| name.name == material.name);
            let shader = material.data.shader.as_deref();
            let of_shader = shader.is_some_and(|name| shaders.contains(&name));
            let textures = kind("texture").chain(kind("sheet"));
            let of_texture = textures.into_iter().any(|changed| material.shows(&changed.name));
            if (own || of_shader || of_texture)
                && let Err(fault) = self.refill(store, id, own, resolve)
            {
                log::error(&format!("{fault}: what was made of it before stays"));
            }
        }
    }

    /// Looks all textures up again, for they may be in other slots than before, and others in
    /// theirs. `resolve` finds every name, if only the checkerboard that stands for what is gone.
    pub fn follow_textures(&mut self, store: &mut Store, resolve: Resolve) {
        for (_, material) in self.slots.iter_mut() {
            for (place, (name, known, _)) in material.textures.iter_mut().enumerate() {
                let Some(texture) = moved(store, name, *known, resolve) else { continue };
                *known = texture;
                let (slot, place) = (material.slot, place as u32);
                self.queue.push(MaterialChange::Texture { slot, place, texture });
            }
            if let Some(surface) = &mut material.surface
                && surface.follow_textures(|name, known| moved(store, name, known, resolve))
            {
                self.surfaces.put(surface);
            }
        }
    }

    /// Takes what is to be done by the renderer since the last call.
    pub fn flush(&mut self, out: &mut Vec<MaterialChange>) {
        out.append(&mut self.queue);
        for id in std::mem::take(&mut self.changed) {
            let Some(material) = self.slots.get_mut(id.0) else { continue };
            material.changed = false;
            if let Some(surface) = &material.surface {
                self.surfaces.put(surface);
                continue;
            }
            let (slot, bytes) = (material.slot, material.block.clone());
            out.push(MaterialChange::Variables { slot, bytes });
        }
    }
}

/// The slot of a texture, where it is another one than was known.
fn moved(
    store: &mut Store,
    name: &str,
    known: TextureSlot,
    resolve: Resolve,
) -> Option<TextureSlot> {
    match resolve(store, name) {
        Ok((now, _)) => (now != known).then_some(now),
        Err(fault) => {
            log::error(&fault.to_string());
            None
        }
    }
}

/// How colours meet what is behind them, by the index in `shading::BLENDS`.
fn blend_of(index: u8) -> Blend {
    [Blend::Alpha, Blend::Add, Blend::Multiply, Blend::Replace][usize::from(index)]
}

impl Material {
    fn variable(&self, name: &str) -> Result<&Variable, Error> {
        let known = self.shader.as_ref().map_or(&[][..], |shader| &shader.data.variables[..]);
        known.iter().find(|variable| variable.name == name).ok_or_else(|| {
            let all: Vec<&str> = known.iter().map(|variable| &variable.name[..]).collect();
            let all_words = match all.len() {
                0 => ": its shader has none".to_string(),
                _ => match hint(name, all.iter().copied()) {
                    near if near.is_empty() => format!(": it has {}", all.join(", ")),
                    near => near,
                },
            };
            error!("the material '{}' has no variable '{name}'{all_words}", self.name)
        })
    }

    fn place(&self, name: &str) -> Option<usize> {
        let shader = self.shader.as_ref()?;
        shader.data.textures.iter().position(|known| known == name)
    }

    fn no_texture(&self, name: &str) -> Error {
        let known = self.shader.as_ref().map_or(&[][..], |shader| &shader.data.textures[..]);
        let all = known.iter().map(|known| &known[..]).chain(["texture"]);
        error!("the material '{}' has no texture '{name}'{}", self.name, hint(name, all))
    }

    /// Whether a texture or a sheet of that name is among its textures.
    fn shows(&self, name: &str) -> bool {
        let of = |known: &str| {
            known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        };
        let surface = self.surface.iter().flat_map(|surface| surface.names());
        self.textures.iter().any(|(known, ..)| of(known))
            || self.texture.as_deref().is_some_and(of)
            || surface.into_iter().any(of)
    }
}
