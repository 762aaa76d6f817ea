//! Assembly of materials from their data, their shader and the values that the game has set.

use super::surface_material::SurfaceMaterial;
use super::*;
use engine_frame_packet::material as packet;
use engine_frame_packet::mesh::SurfaceShader;
use engine_frame_packet::texture::WrapMode;
use engine_resource::panic_report::contain;
use engine_resource::resource_kind::kind_names;

impl Materials {
    pub(super) fn add(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        resolve: ResolveTexture,
        shared: bool,
    ) -> Result<MaterialId, Error> {
        let data = self.read(store, name)?;
        let file = data.surface.clone();
        let state = match &file {
            Some(file) => Some(SurfaceMaterial::of_file(name, file, store, resolve)?),
            None => None,
        };
        let state = match (state, data.shader.is_some()) {
            (Some(state), false) => return self.add_surface(name, state, data, shared),
            (state, _) => state,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            MaterialSlot(self.next - 1)
        });
        let mut material = Material::new(name, slot, MaterialData::default(), shared);
        if let Err(error) = self.fill(store, &mut material, data, resolve) {
            self.free.push(slot);
            return Err(error);
        }
        if state.is_some() && !material.has_functions() {
            self.free.push(slot);
            return Err(material.not_for_meshes());
        }
        let change = material.to_change();
        let full = self.slots.len() >= MATERIALS_MAX;
        material.surface = state.filter(|_| !full).map(|mut state| {
            state.slot = self.surfaces.take();
            material.bind_functions(&mut state);
            self.surfaces.queue_surface(&state);
            Box::new(state)
        });
        let Some(handle) = self.slots.add(material) else {
            self.free.push(slot);
            return Err(error!(
                "{MATERIALS_MAX} materials already exist (MATERIALS_MAX): destroy one first"
            ));
        };
        self.queue.push(change);
        Ok(MaterialId(handle))
    }

    /// Reads a material's data. If no such material exists, a texture with its name is used.
    fn read(&mut self, store: &mut ResourceStore, name: &str) -> Result<MaterialData, Error> {
        let resource = ResourceName::new(kind_names::MATERIAL, name);
        if store.has(&resource) {
            let bytes = store.read(&resource)?;
            return contain(&resource, || {
                MaterialData::read(&bytes)
                    .map_err(|error| error!("material '{name}': {}", error.message))
            });
        }
        if store.has(&ResourceName::new(kind_names::TEXTURE, name)) {
            let texture = Some(name.to_string());
            return Ok(MaterialData { texture, ..MaterialData::default() });
        }
        if let Some(bytes) = (self.built_in)(&resource) {
            return MaterialData::read(&bytes?);
        }
        Err(error!("{}", store.missing_message(&resource)))
    }

    pub(super) fn load_shader(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
    ) -> Result<Arc<LoadedShader>, Error> {
        let resource = ResourceName::new(kind_names::SHADER, name);
        let built_in = match store.has(&resource) {
            true => None,
            false => (self.built_in)(&resource),
        };
        let data = match built_in {
            Some(bytes) => ShaderData::read(&bytes?)?,
            None => {
                let bytes = store.read(&resource)?;
                contain(&resource, || {
                    ShaderData::read(&bytes)
                        .map_err(|error| error!("shader '{name}': {}", error.message))
                })?
            }
        };
        let packet = Arc::new(packet::ShaderFrame {
            name: name.to_string(),
            source: data.source.clone(),
            surface: data.surface,
            textures: data.textures.len() as u32,
            variables: data.variable_bytes,
        });
        let loaded = Arc::new(LoadedShader { data, packet });
        self.shaders.insert(name.to_string(), loaded.clone());
        Ok(loaded)
    }

    /// Assembles a material from new data, or leaves it unchanged on error.
    fn fill(
        &mut self,
        store: &mut ResourceStore,
        material: &mut Material,
        data: MaterialData,
        resolve: ResolveTexture,
    ) -> Result<(), Error> {
        let shader = match &data.shader {
            None => None,
            Some(name) => Some(match self.shaders.get(name) {
                Some(known) => known.clone(),
                None => self.load_shader(store, name)?,
            }),
        };
        let (mut block, mut textures) = (Vec::new(), Vec::new());
        if let Some(shader) = &shader {
            block = vec![0; shader.data.variable_bytes as usize];
            for (name, numbers) in data.variables.iter().chain(&material.set_variables) {
                let known = shader.data.variables.iter().find(|known| known.name == *name);
                // The compiler checked the names, but a variable that the game set may no longer
                // exist.
                if let Some(known) = known.filter(|known| known.kind.numbers() == numbers.len()) {
                    known.kind.write(&mut block, known.offset, numbers);
                }
            }
            for name in &shader.data.textures {
                let set = material.set_textures.iter().find(|(known, _)| known == name);
                let texture_settings = data.textures.iter().find(|known| known.name == *name);
                let texture = set
                    .map(|(_, texture)| texture)
                    .or(texture_settings.map(|texture_settings| &texture_settings.texture));
                let texture = texture.ok_or_else(|| {
                    error!(
                        "the material '{}' names no texture for '{name}', which its shader has",
                        material.name
                    )
                })?;
                let (slot, sampling) = resolve(store, texture).map_err(|error| {
                    error!("the material '{}': {}", material.name, error.message)
                })?;
                let sampling = sampling_of(&data, name, sampling);
                textures.push((texture.clone(), slot, sampling));
            }
        }
        let set = material.set_textures.iter().find(|(known, _)| known == "texture");
        material.texture = set.map(|(_, texture)| texture.clone()).or(data.texture.clone());
        (material.data, material.shader) = (data, shader);
        (material.block, material.textures) = (block, textures);
        Ok(())
    }

    /// Rebuilds a material; `own_file_changed` is true if its own file has changed.
    pub(super) fn refill(
        &mut self,
        store: &mut ResourceStore,
        id: MaterialId,
        own_file_changed: bool,
        resolve: ResolveTexture,
    ) -> Result<(), Error> {
        let material = self.slots.get(id.0).expect("the caller checked");
        let (name, was_surface) = (material.name.clone(), material.surface.is_some());
        let has_slot = material.slot != MaterialSlot::BUILT_IN;
        let data = match own_file_changed {
            true => self.read(store, &name)?,
            false => material.data.clone(),
        };
        if (was_surface || data.surface.is_some()) && !(has_slot && data.shader.is_some()) {
            return self.refill_surface(store, id, data, resolve);
        }
        let surface = match (&data.surface, was_surface) {
            (Some(file), true) => Some(self.refilled_surface(store, id, &file.clone(), resolve)?),
            (None, false) => None,
            _ => return Err(changed_kind(&name)),
        };
        // Works on a copy, so that the material stays unchanged on error.
        let mut copy = self.slots.get(id.0).expect("the caller checked").clone();
        self.fill(store, &mut copy, data, resolve)?;
        if was_surface != copy.has_functions() {
            return Err(copy.not_for_meshes());
        }
        self.queue.push(copy.to_change());
        if let Some(mut state) = surface {
            copy.bind_functions(&mut state);
            self.surfaces.queue_surface(&state);
            copy.surface = Some(Box::new(state));
        }
        *self.slots.get_mut(id.0).expect("the caller checked") = copy;
        self.version += 1;
        Ok(())
    }
}

/// Returns the error for a material that is for another kind of object than before.
pub(super) fn changed_kind(name: &str) -> Error {
    error!(
        "the material '{name}' was for pictures and is for meshes now, or got its first shader or \
         lost it: restart the game"
    )
}

/// Returns the sampler settings of a texture: those of the material, or by default those of the
/// texture.
fn sampling_of(data: &MaterialData, name: &str, default: SamplerSettings) -> SamplerSettings {
    let texture_settings = data.textures.iter().find(|texture| texture.name == name);
    let filter = texture_settings.and_then(|texture_settings| texture_settings.filter);
    let wrap = texture_settings.and_then(|texture_settings| texture_settings.wrap);
    SamplerSettings {
        nearest: filter.map_or(default.nearest, |filter| filter == 1),
        wrap: wrap.map_or(default.wrap, |wrap| {
            [WrapMode::Clamp, WrapMode::Repeat, WrapMode::Mirror][usize::from(wrap)]
        }),
    }
}

impl Material {
    /// Returns true if the shader has functions for the surfaces of meshes.
    fn has_functions(&self) -> bool {
        self.shader.as_ref().is_some_and(|shader| shader.data.surface.is_some())
    }

    fn not_for_meshes(&self) -> Error {
        let shader = self.data.shader.as_deref().unwrap_or_default();
        match self.has_functions() {
            true => error!(
                "the shader '{shader}' of the material '{}' is for meshes, and the material is for \
                 pictures",
                self.name
            ),
            false => error!(
                "the shader '{shader}' of the material '{}' is for pictures, and the material is \
                 for meshes",
                self.name
            ),
        }
    }

    /// Connects a surface with the functions of the shader.
    fn bind_functions(&self, state: &mut SurfaceMaterial) {
        let functions = self.shader.as_ref().and_then(|shader| shader.data.surface);
        let file = self.data.surface.as_ref();
        let offset_max = file.map_or(0.0, |file| file.offset_max);
        state.set_shader(functions.map(|functions| SurfaceShader {
            material: self.slot,
            functions,
            offset_max,
        }));
    }

    pub(super) fn sampling(&self, name: &str, default: SamplerSettings) -> SamplerSettings {
        sampling_of(&self.data, name, default)
    }

    /// Returns the change that sends the whole material to the renderer.
    pub(super) fn to_change(&self) -> MaterialChange {
        let material = packet::MaterialFrame {
            name: self.name.clone(),
            shader: self.shader.as_ref().map(|shader| shader.packet.clone()),
            blend: BlendMode::ALL[usize::from(self.data.blend)],
            textures: self.textures.iter().map(|(_, slot, sampling)| (*slot, *sampling)).collect(),
            variables: self.block.clone(),
        };
        MaterialChange::Set { slot: self.slot, material: Arc::new(material) }
    }
}
