//! Materials of a running game, by name: a shader, textures and variables. Changes for the renderer
//! are queued as [`MaterialChange`] and taken by `flush`. Knows no scripts, no files and no
//! graphics API. The data compiler checks shaders and materials (src/system/render/shader),
//! and callers look textures up.
//!
//! `find` returns the material shared by everything that draws by its name. `create_instance`
//! creates a separate instance with its own variables and textures.

mod registry;
mod surface_material;
#[cfg(test)]
mod tests;

use engine_foundation::error;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Handle, HandleKind, Slots, log};
use engine_frame_packet::material::{BlendMode, MaterialChange, MaterialSlot};
use engine_frame_packet::texture::{SamplerSettings, TextureSlot};
use engine_resource::material_data::{MaterialData, ShaderData, ShaderVariable};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of materials that exist at once.
pub const MATERIALS_MAX: usize = 4096;

/// Handle of a material.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MaterialId(pub Handle);

/// Function that looks a texture up by its name. Returns a slot with the whole texture, and its
/// sampler settings.
pub type ResolveTexture<'a> =
    &'a mut dyn FnMut(&mut ResourceStore, &str) -> Result<(TextureSlot, SamplerSettings), Error>;

/// Loaded shader.
struct LoadedShader {
    data: ShaderData,
    packet: Arc<engine_frame_packet::material::ShaderFrame>,
}

/// Material instance, shared or separate.
#[derive(Clone)]
pub struct Material {
    /// Name of the material's resource.
    pub name: String,
    pub slot: MaterialSlot,
    /// Name of the texture that bitmaps show, if the material has one.
    pub texture: Option<String>,
    data: MaterialData,
    shader: Option<Arc<LoadedShader>>,
    /// Uniform block of the variables.
    block: Vec<u8>,
    /// Textures by binding index: name, slot in the renderer's table, and sampler settings.
    textures: Vec<(String, TextureSlot, SamplerSettings)>,
    /// Variables and textures that the game has set. They are kept when the resource is reloaded.
    set_variables: Vec<(String, Vec<f32>)>,
    set_textures: Vec<(String, String)>,
    /// True if the block has changed since the last flush.
    changed: bool,
    shared: bool,
    /// Surface, if the material is for meshes.
    surface: Option<Box<surface_material::SurfaceMaterial>>,
}

impl Material {
    /// Creates a material that has no shader, no textures and no variables yet.
    fn new(name: &str, slot: MaterialSlot, data: MaterialData, shared: bool) -> Material {
        Material {
            name: name.to_string(),
            slot,
            texture: None,
            data,
            shader: None,
            block: Vec::new(),
            textures: Vec::new(),
            set_variables: Vec::new(),
            set_textures: Vec::new(),
            changed: false,
            shared,
            surface: None,
        }
    }
}

/// Function that returns the compiled form of an embedded resource; `None`: there is none.
pub type BuiltInResource = fn(&ResourceName) -> Option<Result<Vec<u8>, Error>>;

/// Registry of the materials of a game.
pub struct Materials {
    slots: Slots<Material>,
    by_name: HashMap<String, MaterialId>,
    shaders: HashMap<String, Arc<LoadedShader>>,
    free: Vec<MaterialSlot>,
    next: u32,
    queue: Vec<MaterialChange>,
    /// Materials with a changed block, each once.
    changed: Vec<MaterialId>,
    version: u64,
    surfaces: surface_material::SurfaceSlots,
    built_in: BuiltInResource,
}

impl Default for Materials {
    fn default() -> Materials {
        Materials {
            slots: Slots::new(HandleKind::Material, MATERIALS_MAX),
            by_name: HashMap::new(),
            shaders: HashMap::new(),
            free: Vec::new(),
            next: MaterialSlot::FIRST_FREE,
            queue: Vec::new(),
            changed: Vec::new(),
            version: 0,
            surfaces: surface_material::SurfaceSlots::default(),
            built_in: |_| None,
        }
    }
}

impl Materials {
    /// Creates a registry that also finds resources that are embedded in the engine.
    pub fn with_built_in(built_in: BuiltInResource) -> Materials {
        Materials { built_in, ..Materials::default() }
    }

    /// Returns all existing materials.
    pub fn slots(&self) -> &Slots<Material> {
        &self.slots
    }

    /// Returns a number that changes whenever the slot or texture of a material changes.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the material shared by everything that draws by this name, and loads it on first
    /// use.
    pub fn find(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        resolve: ResolveTexture,
    ) -> Result<MaterialId, Error> {
        if let Some(known) = self.by_name.get(name) {
            return Ok(*known);
        }
        engine_foundation::owner!("resources/materials");
        let id = self.add(store, name, resolve, true)?;
        self.by_name.insert(name.to_string(), id);
        Ok(id)
    }

    /// Creates a separate instance of a material.
    pub fn create_instance(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        resolve: ResolveTexture,
    ) -> Result<MaterialId, Error> {
        self.add(store, name, resolve, false)
    }

    /// Destroys a material that `create_instance` created. For a shared material, returns an error
    /// instead.
    pub fn destroy(&mut self, id: MaterialId, frame: u64, location: &str) -> Result<(), Error> {
        let material = self.slots.get(id.0).expect("the handle was checked where it came in");
        let (name, slot) = (material.name.clone(), material.slot);
        if material.shared {
            return Err(error!(
                "the material '{name}' is shared by everything that draws by its name: only \
                 materials from Material.new can be destroyed"
            ));
        }
        let ended = self.slots.remove(id.0, &name, frame, location).expect("it was there");
        if slot != MaterialSlot::BUILT_IN {
            self.queue.push(MaterialChange::End { slot });
            self.free.push(slot);
        }
        if let Some(surface) = ended.surface {
            self.surfaces.end(surface.slot);
        }
        self.version += 1;
        Ok(())
    }

    /// Sets a variable. `value_type` describes the passed value in the error message.
    pub fn set(
        &mut self,
        id: MaterialId,
        name: &str,
        numbers: &[f32],
        value_type: &str,
    ) -> Result<(), Error> {
        let material = self.slots.get_mut(id.0).expect("the handle was checked where it came in");
        let of_shader = material.has_variable(name);
        if let Some(surface) = material.surface.as_mut().filter(|_| !of_shader) {
            surface.set(&material.name, name, numbers, value_type)?;
            self.record_set(id, name, numbers);
            return Ok(());
        }
        let ShaderVariable { kind, offset, .. } = *material.variable(name)?;
        if kind.numbers() != numbers.len() {
            return Err(error!(
                "the variable '{name}' of the material '{}' is a {}, got {value_type}",
                material.name,
                kind.wgsl()
            ));
        }
        kind.write(&mut material.block, offset, numbers);
        self.record_set(id, name, numbers);
        Ok(())
    }

    /// Records a value set by the game, and marks the material as changed for the renderer.
    fn record_set(&mut self, id: MaterialId, name: &str, numbers: &[f32]) {
        let material = self.slots.get_mut(id.0).expect("the caller checked");
        match material.set_variables.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => numbers.clone_into(known),
            None => material.set_variables.push((name.to_string(), numbers.to_vec())),
        }
        if !material.changed {
            material.changed = true;
            self.changed.push(id);
        }
    }

    /// Sets one of the shader's textures by the name of its binding; "texture" is the texture that
    /// bitmaps show.
    pub fn set_texture(
        &mut self,
        store: &mut ResourceStore,
        id: MaterialId,
        name: &str,
        texture: &str,
        resolve: ResolveTexture,
    ) -> Result<(), Error> {
        let (slot, sampling) = resolve(store, texture)?;
        let material = self.slots.get_mut(id.0).expect("the handle was checked where it came in");
        let of_shader = material.texture_index(name).is_some();
        if let Some(surface) = material.surface.as_mut().filter(|_| !of_shader) {
            surface.set_texture(&material.name, name, texture, (slot, sampling))?;
            if !std::mem::replace(&mut material.changed, true) {
                self.changed.push(id);
            }
        } else if name == "texture" && material.texture_index(name).is_none() {
            material.texture = Some(texture.to_string());
        } else {
            let index = material.texture_index(name).ok_or_else(|| material.no_texture(name))?;
            // The sampler settings in the material's file take precedence.
            let sampling = material.sampling(name, sampling);
            let known = &mut material.textures[index];
            let sampler_changed = sampling != known.2;
            *known = (texture.to_string(), slot, sampling);
            let (slot, index) = (material.slot, index as u32);
            match sampler_changed {
                true => self.queue.push(material.to_change()),
                false => {
                    let texture = known.1;
                    self.queue.push(MaterialChange::Texture { slot, index, texture });
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

    /// Applies recompiled resources. If a new version cannot be used, the old one stays and the
    /// error is logged.
    pub fn reload(
        &mut self,
        store: &mut ResourceStore,
        changed: &ChangedResources,
        resolve: ResolveTexture,
    ) {
        let shaders: Vec<&str> =
            changed.of(ReloadStep::Shaders).map(|name| &name.name[..]).collect();
        for name in &shaders {
            if !self.shaders.contains_key(*name) {
                continue;
            }
            if let Err(error) = self.load_shader(store, name) {
                log::error(&format!("{error}: existing objects keep the previous version"));
            }
        }
        let ids: Vec<MaterialId> =
            self.slots.iter().map(|(handle, _)| MaterialId(handle)).collect();
        for id in ids {
            let material = self.slots.get(id.0).expect("it was there");
            let own_file_changed = changed.has(ReloadStep::Materials, &material.name);
            let shader = material.data.shader.as_deref();
            let of_shader = shader.is_some_and(|name| shaders.contains(&name));
            let textures = [ReloadStep::Sheets, ReloadStep::Textures].map(|step| changed.of(step));
            let of_texture =
                textures.into_iter().flatten().any(|changed| material.uses_texture(&changed.name));
            if (own_file_changed || of_shader || of_texture)
                && let Err(error) = self.refill(store, id, own_file_changed, resolve)
            {
                log::error(&format!("{error}: existing objects keep the previous version"));
            }
        }
    }

    /// Looks all textures up again, because their slots may have been reassigned. `resolve` must
    /// find every name; for a missing texture it returns the checkerboard.
    pub fn follow_textures(&mut self, store: &mut ResourceStore, resolve: ResolveTexture) {
        for (_, material) in self.slots.iter_mut() {
            for (index, (name, known, _)) in material.textures.iter_mut().enumerate() {
                let Some(texture) = moved(store, name, *known, resolve) else { continue };
                *known = texture;
                let (slot, index) = (material.slot, index as u32);
                self.queue.push(MaterialChange::Texture { slot, index, texture });
            }
            if let Some(surface) = &mut material.surface
                && surface.follow_textures(|name, known| moved(store, name, known, resolve))
            {
                self.surfaces.queue_surface(surface);
            }
        }
    }

    /// Takes the changes for the renderer since the last call.
    pub fn flush(&mut self, out: &mut Vec<MaterialChange>) {
        out.append(&mut self.queue);
        for id in std::mem::take(&mut self.changed) {
            let Some(material) = self.slots.get_mut(id.0) else { continue };
            material.changed = false;
            if let Some(surface) = &material.surface {
                self.surfaces.queue_surface(surface);
            }
            if material.slot == MaterialSlot::BUILT_IN {
                continue;
            }
            let (slot, bytes) = (material.slot, material.block.clone());
            out.push(MaterialChange::Variables { slot, bytes });
        }
    }
}

/// Returns the slot of a texture if it differs from the known one.
fn moved(
    store: &mut ResourceStore,
    name: &str,
    known: TextureSlot,
    resolve: ResolveTexture,
) -> Option<TextureSlot> {
    match resolve(store, name) {
        Ok((now, _)) => (now != known).then_some(now),
        Err(error) => {
            log::error(&error.to_string());
            None
        }
    }
}

impl Material {
    fn variable(&self, name: &str) -> Result<&ShaderVariable, Error> {
        let known = self.shader.as_ref().map_or(&[][..], |shader| &shader.data.variables[..]);
        known.iter().find(|variable| variable.name == name).ok_or_else(|| {
            let all: Vec<&str> = known.iter().map(|variable| &variable.name[..]).collect();
            let hint_text = match all.len() {
                0 => ": its shader has none".to_string(),
                _ => match hint(name, all.iter().copied()) {
                    near if near.is_empty() => format!(": it has {}", all.join(", ")),
                    near => near,
                },
            };
            error!("the material '{}' has no variable '{name}'{hint_text}", self.name)
        })
    }

    fn has_variable(&self, name: &str) -> bool {
        let mut known = self.shader.iter().flat_map(|shader| &shader.data.variables);
        known.any(|variable| variable.name == name)
    }

    fn texture_index(&self, name: &str) -> Option<usize> {
        let shader = self.shader.as_ref()?;
        shader.data.textures.iter().position(|known| known == name)
    }

    fn no_texture(&self, name: &str) -> Error {
        let known = self.shader.as_ref().map_or(&[][..], |shader| &shader.data.textures[..]);
        let all = known.iter().map(|known| &known[..]).chain(["texture"]);
        error!("the material '{}' has no texture '{name}'{}", self.name, hint(name, all))
    }

    /// Returns true if the material uses a texture or sheet with this name.
    fn uses_texture(&self, name: &str) -> bool {
        let of = |known: &str| {
            known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        };
        let surface = self.surface.iter().flat_map(|surface| surface.names());
        self.textures.iter().any(|(known, ..)| of(known))
            || self.texture.as_deref().is_some_and(of)
            || surface.into_iter().any(of)
    }
}
