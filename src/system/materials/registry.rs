//! The inside of the registry: materials put together from their data, their shader and what the
//! game has set.

use super::*;
use crate::packet::material as packet;
use crate::packet::texture::Wrap;
use crate::resource::containment::contain;

impl Materials {
    pub(super) fn add(
        &mut self,
        store: &mut Store,
        name: &str,
        resolve: Resolve,
        shared: bool,
    ) -> Result<MaterialId, Error> {
        let data = self.read(store, name)?;
        if let Some(file) = &data.surface {
            let state = surface::State::of_file(name, file, store, resolve)?;
            return self.add_surface(name, state, data, shared);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            MaterialSlot(self.next - 1)
        });
        let mut material = Material {
            name: name.to_string(),
            slot,
            texture: None,
            data: MaterialData::default(),
            shader: None,
            block: Vec::new(),
            textures: Vec::new(),
            set_variables: Vec::new(),
            set_textures: Vec::new(),
            changed: false,
            shared,
            surface: None,
        };
        if let Err(fault) = self.fill(store, &mut material, data, resolve) {
            self.free.push(slot);
            return Err(fault);
        }
        let change = material.put();
        let Some(handle) = self.slots.add(material) else {
            self.free.push(slot);
            return Err(error!(
                "{MATERIALS_MAX} materials are there already (MATERIALS_MAX): destroy one first"
            ));
        };
        self.queue.push(change);
        Ok(MaterialId(handle))
    }

    /// A material's data; a texture of that name stands in for one that does not exist.
    fn read(&mut self, store: &mut Store, name: &str) -> Result<MaterialData, Error> {
        let resource = ResourceName::new("material", name);
        if store.has(&resource) {
            let bytes = store.read(&resource)?;
            return contain(&resource, || {
                MaterialData::read(&bytes)
                    .map_err(|fault| error!("material '{name}': {}", fault.message))
            });
        }
        if store.has(&ResourceName::new("texture", name)) {
            let texture = Some(name.to_string());
            return Ok(MaterialData { texture, ..MaterialData::default() });
        }
        Err(error!("{}", store.missing_words(&resource)))
    }

    pub(super) fn load_shader(
        &mut self,
        store: &mut Store,
        name: &str,
    ) -> Result<Arc<Loaded>, Error> {
        let resource = ResourceName::new("shader", name);
        let bytes = store.read(&resource)?;
        let data = contain(&resource, || {
            ShaderData::read(&bytes).map_err(|fault| error!("shader '{name}': {}", fault.message))
        })?;
        let packet = Arc::new(packet::Shader {
            name: name.to_string(),
            source: data.source.clone(),
            textures: data.textures.len() as u32,
            variables: data.variable_bytes,
        });
        let loaded = Arc::new(Loaded { data, packet });
        self.shaders.insert(name.to_string(), loaded.clone());
        Ok(loaded)
    }

    /// Puts a material together from new data, or leaves it as it is.
    fn fill(
        &mut self,
        store: &mut Store,
        material: &mut Material,
        data: MaterialData,
        resolve: Resolve,
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
                // The compiler compared the names; one that the game set may be gone by now.
                if let Some(known) = known.filter(|known| known.kind.numbers() == numbers.len()) {
                    known.kind.put(&mut block, known.offset, numbers);
                }
            }
            for name in &shader.data.textures {
                let set = material.set_textures.iter().find(|(known, _)| known == name);
                let said = data.textures.iter().find(|known| known.name == *name);
                let texture = set.map(|(_, texture)| texture).or(said.map(|said| &said.texture));
                let texture = texture.ok_or_else(|| {
                    error!(
                        "the material '{}' names no texture for '{name}', which its shader has",
                        material.name
                    )
                })?;
                let (slot, sampling) = resolve(store, texture).map_err(|fault| {
                    error!("the material '{}': {}", material.name, fault.message)
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

    /// Puts a material together anew; `own`: its own file has changed.
    pub(super) fn refill(
        &mut self,
        store: &mut Store,
        id: MaterialId,
        own: bool,
        resolve: Resolve,
    ) -> Result<(), Error> {
        let material = self.slots.get(id.0).expect("the caller looked");
        let (name, was_surface) = (material.name.clone(), material.surface.is_some());
        let data = match own {
            true => self.read(store, &name)?,
            false => material.data.clone(),
        };
        if was_surface || data.surface.is_some() {
            return self.refill_surface(store, id, data, resolve);
        }
        // Taken apart for the time, so that a fault leaves the one that is there as it is.
        let mut copy = self.slots.get(id.0).expect("the caller looked").clone();
        self.fill(store, &mut copy, data, resolve)?;
        self.queue.push(copy.put());
        *self.slots.get_mut(id.0).expect("the caller looked") = copy;
        self.version += 1;
        Ok(())
    }
}

/// How a texture is sampled: as the material says, or else as the texture does.
fn sampling_of(data: &MaterialData, name: &str, usual: Sampling) -> Sampling {
    let said = data.textures.iter().find(|texture| texture.name == name);
    let filter = said.and_then(|said| said.filter);
    let wrap = said.and_then(|said| said.wrap);
    Sampling {
        nearest: filter.map_or(usual.nearest, |filter| filter == 1),
        wrap: wrap.map_or(usual.wrap, |wrap| {
            [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror][usize::from(wrap)]
        }),
    }
}

impl Material {
    pub(super) fn sampling(&self, name: &str, usual: Sampling) -> Sampling {
        sampling_of(&self.data, name, usual)
    }

    /// The change that gives the renderer all of it.
    pub(super) fn put(&self) -> MaterialChange {
        let material = packet::Material {
            name: self.name.clone(),
            shader: self.shader.as_ref().map(|shader| shader.packet.clone()),
            blend: blend_of(self.data.blend),
            textures: self.textures.iter().map(|(_, slot, sampling)| (*slot, *sampling)).collect(),
            variables: self.block.clone(),
        };
        MaterialChange::Put { slot: self.slot, material: Arc::new(material) }
    }
}
