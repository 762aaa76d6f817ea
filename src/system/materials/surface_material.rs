//! Materials of meshes: surfaces with named variables and textures. Callers look textures up.

use super::registry::changed_kind;
use super::{Material, MaterialId, Materials, ResolveTexture};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::suggest::hint;
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::mesh::{
    SLOTS_MAX, SurfaceAlphaMode, SurfaceChange, SurfaceFrame, SurfaceShader, SurfaceSlot,
};
use engine_frame_packet::texture::{SamplerSettings, TextureSlot, WrapMode};
use engine_resource::material_data::MaterialData;
use engine_resource::store::ResourceStore;
use engine_resource::surface_source::{SurfaceSource, TEXTURES};

/// Numeric variables and their number of components.
const VARIABLES: [(&str, usize); 19] = [
    ("base_color", 4),
    ("metallic", 1),
    ("roughness", 1),
    ("emissive", 3),
    ("emissive_strength", 1),
    ("normal_scale", 1),
    ("occlusion_strength", 1),
    ("alpha_cutoff", 1),
    ("clear_coat", 1),
    ("clear_coat_roughness", 1),
    ("sheen_color", 3),
    ("sheen_roughness", 1),
    ("anisotropy", 1),
    ("anisotropy_rotation", 1),
    ("ior", 1),
    ("specular", 1),
    ("specular_color", 3),
    ("transmission", 1),
    ("thickness", 1),
];

/// Material of meshes.
#[derive(Clone)]
pub struct SurfaceMaterial {
    pub slot: SurfaceSlot,
    surface: SurfaceFrame,
    /// Emissive color without its strength; `surface.emissive` is the product of both.
    emissive: [f32; 3],
    emissive_strength: f32,
    /// Names of the textures; `None` for textures that a model contains.
    names: [Option<String>; 5],
    /// Sampler settings of all textures, as far as the file sets them.
    nearest: Option<bool>,
    wrap: WrapMode,
}

/// Allocator of slots in the renderer's table of surfaces, with the queued changes.
#[derive(Default)]
pub struct SurfaceSlots {
    free: Vec<SurfaceSlot>,
    used: u32,
    queue: Vec<SurfaceChange>,
}

impl SurfaceSlots {
    pub fn take(&mut self) -> SurfaceSlot {
        self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            let slot = SurfaceSlot(SurfaceSlot::FIRST_FREE + self.used - 1);
            assert!(slot.0 < SLOTS_MAX, "there are fewer materials than slots");
            slot
        })
    }

    pub fn queue_surface(&mut self, state: &SurfaceMaterial) {
        let (slot, surface) = (state.slot, state.surface.clone());
        self.queue.push(SurfaceChange::Set { slot, surface });
    }

    pub fn end(&mut self, slot: SurfaceSlot) {
        self.queue.push(SurfaceChange::End { slot });
        self.free.push(slot);
    }
}

impl SurfaceMaterial {
    /// Creates the material for a surface of a model.
    pub fn of_model(surface: SurfaceFrame) -> SurfaceMaterial {
        SurfaceMaterial {
            slot: SurfaceSlot::DEFAULT,
            emissive: surface.emissive,
            emissive_strength: 1.0,
            names: [const { None }; 5],
            nearest: None,
            wrap: WrapMode::Repeat,
            surface,
        }
    }

    /// Creates the material that a material file describes.
    pub fn of_file(
        name: &str,
        file: &SurfaceSource,
        store: &mut ResourceStore,
        resolve: ResolveTexture,
    ) -> Result<SurfaceMaterial, Error> {
        let mut state = SurfaceMaterial::of_model(SurfaceFrame {
            name: name.to_string(),
            base_color: file.base_color,
            metallic: file.metallic,
            roughness: file.roughness,
            normal_scale: file.normal_scale,
            occlusion_strength: file.occlusion_strength,
            alpha: match file.alpha {
                0 => SurfaceAlphaMode::Opaque,
                1 => SurfaceAlphaMode::Mask(file.alpha_cutoff),
                _ => SurfaceAlphaMode::Blend,
            },
            double_sided: file.double_sided,
            unlit: file.unlit,
            lobes: file.lobes,
            ..SurfaceFrame::DEFAULT
        });
        (state.emissive, state.emissive_strength) = (file.emissive, file.emissive_strength);
        state.nearest = file.filter.map(|filter| filter == 1);
        state.wrap = [WrapMode::Clamp, WrapMode::Repeat, WrapMode::Mirror][usize::from(file.wrap)];
        state.light();
        for (index, texture) in file.textures.iter().enumerate() {
            let Some(texture) = texture else { continue };
            let found = resolve(store, texture)
                .map_err(|error| error!("the material '{name}': {}", error.message))?;
            state.set_texture_slot(index, Some(texture.clone()), found);
        }
        Ok(state)
    }

    /// Sets the game's functions that the surface is drawn with.
    pub fn set_shader(&mut self, shader: Option<SurfaceShader>) {
        self.surface.shader = shader;
    }

    fn light(&mut self) {
        self.surface.emissive = self.emissive.map(|part| part * self.emissive_strength);
    }

    fn texture_mut(&mut self, index: usize) -> &mut Option<(TextureSlot, SamplerSettings)> {
        let surface = &mut self.surface;
        match index {
            0 => &mut surface.base_color_texture,
            1 => &mut surface.metal_rough_texture,
            2 => &mut surface.normal_texture,
            3 => &mut surface.occlusion_texture,
            _ => &mut surface.emissive_texture,
        }
    }

    fn set_texture_slot(
        &mut self,
        index: usize,
        name: Option<String>,
        (slot, texture_sampling): (TextureSlot, SamplerSettings),
    ) {
        let sampling = SamplerSettings {
            nearest: self.nearest.unwrap_or(texture_sampling.nearest),
            wrap: self.wrap,
        };
        *self.texture_mut(index) = Some((slot, sampling));
        self.names[index] = name;
    }

    /// Returns the names of the textures.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flatten().map(String::as_str)
    }

    /// Updates the slot of each texture for which `moved` returns a new one. Returns true if there
    /// were any. Textures that a model contains are skipped.
    pub fn follow_textures(
        &mut self,
        mut moved: impl FnMut(&str, TextureSlot) -> Option<TextureSlot>,
    ) -> bool {
        let mut any = false;
        for index in 0..self.names.len() {
            let Some(name) = self.names[index].take() else { continue };
            if let Some((slot, _)) = self.texture_mut(index)
                && let Some(now) = moved(&name, *slot)
            {
                *slot = now;
                any = true;
            }
            self.names[index] = Some(name);
        }
        any
    }

    /// Sets a variable by its name.
    pub fn set(
        &mut self,
        material: &str,
        name: &str,
        numbers: &[f32],
        value_type: &str,
    ) -> Result<(), Error> {
        let known = VARIABLES.iter().find(|(known, _)| *known == name);
        let Some((_, count)) = known else {
            let near = hint(name, VARIABLES.iter().map(|(known, _)| *known));
            let near = if near.is_empty() {
                let all: Vec<_> = VARIABLES.iter().map(|(known, _)| *known).collect();
                format!(": it has {}", all.join(", "))
            } else {
                near
            };
            return Err(error!("the material '{material}' has no variable '{name}'{near}"));
        };
        // Colors have four components, but emitted light has no alpha.
        let fits = numbers.len() == *count
            || name == "base_color" && numbers.len() == 3
            || *count == 3 && numbers.len() == 4;
        if !fits {
            return Err(error!(
                "the variable '{name}' of the material '{material}' has {count} numbers, got \
                 {value_type}"
            ));
        }
        let surface = &mut self.surface;
        if let Some((field, (least, most))) = surface.lobes.number_mut(name) {
            // A number that is none has no effect.
            *field = if numbers[0].is_nan() { *field } else { numbers[0].clamp(least, most) };
            return Ok(());
        }
        match name {
            "sheen_color" => surface.lobes.sheen_color.copy_from_slice(&numbers[..3]),
            "specular_color" => surface.lobes.specular_color.copy_from_slice(&numbers[..3]),
            "base_color" => surface.base_color[..numbers.len()].copy_from_slice(numbers),
            "metallic" => surface.metallic = numbers[0].clamp(0.0, 1.0),
            "roughness" => surface.roughness = numbers[0].clamp(0.0, 1.0),
            "emissive" => self.emissive.copy_from_slice(&numbers[..3]),
            "emissive_strength" => self.emissive_strength = numbers[0],
            "normal_scale" => surface.normal_scale = numbers[0],
            "occlusion_strength" => surface.occlusion_strength = numbers[0].clamp(0.0, 1.0),
            _ => {
                if !matches!(surface.alpha, SurfaceAlphaMode::Mask(_)) {
                    return Err(error!(
                        "the variable 'alpha_cutoff' of the material '{material}' has no effect, \
                         because its alpha is not \"mask\""
                    ));
                }
                surface.alpha = SurfaceAlphaMode::Mask(numbers[0]);
            }
        }
        self.light();
        Ok(())
    }

    pub fn set_texture(
        &mut self,
        material: &str,
        name: &str,
        texture: &str,
        found: (TextureSlot, SamplerSettings),
    ) -> Result<(), Error> {
        let index = TEXTURES.iter().position(|known| *known == name).ok_or_else(|| {
            let near = match hint(name, TEXTURES) {
                near if near.is_empty() => format!(": it has {}", TEXTURES.join(", ")),
                near => near,
            };
            error!("the material '{material}' has no texture '{name}'{near}")
        })?;
        self.set_texture_slot(index, Some(texture.to_string()), found);
        Ok(())
    }
}

impl Material {
    /// Returns the slot in the renderer's table, if the material is for meshes.
    #[inline(always)]
    pub fn surface(&self) -> Option<SurfaceSlot> {
        self.surface.as_ref().map(|surface| surface.slot)
    }
}

impl Materials {
    /// Adds or replaces a surface of a model as a shared material with this name.
    pub fn set_model_surface(
        &mut self,
        name: &str,
        surface: SurfaceFrame,
    ) -> Result<MaterialId, Error> {
        let state = SurfaceMaterial::of_model(surface);
        if let Some(known) = self.by_name.get(name).copied() {
            self.replace_surface(known, state);
            return Ok(known);
        }
        let id = self.add_surface(name, state, MaterialData::default(), true)?;
        self.by_name.insert(name.to_string(), id);
        Ok(id)
    }

    pub(super) fn add_surface(
        &mut self,
        name: &str,
        mut state: SurfaceMaterial,
        data: MaterialData,
        shared: bool,
    ) -> Result<MaterialId, Error> {
        if self.slots.len() >= super::MATERIALS_MAX {
            return Err(error!(
                "{} materials already exist (MATERIALS_MAX): destroy one first",
                super::MATERIALS_MAX
            ));
        }
        state.slot = self.surfaces.take();
        self.surfaces.queue_surface(&state);
        let mut material = Material::new(name, MaterialSlot::BUILT_IN, data, shared);
        material.surface = Some(Box::new(state));
        let added = self.slots.add(material);
        Ok(MaterialId(added.ok_or_else(|| error!("all slots of materials have been used up"))?))
    }

    /// Adds a permanent surface that does not belong to a material of the game.
    pub fn add_plain_surface(&mut self, surface: SurfaceFrame) -> SurfaceSlot {
        let state =
            SurfaceMaterial { slot: self.surfaces.take(), ..SurfaceMaterial::of_model(surface) };
        self.surfaces.queue_surface(&state);
        state.slot
    }

    /// Creates a separate copy of a shared surface material. Changes to the copy do not affect the
    /// original. Returns `None` if there is no shared surface material with this name.
    pub fn copy_surface(&mut self, name: &str) -> Option<Result<MaterialId, Error>> {
        let known = self.by_name.get(name)?;
        let material = self.slots.get(known.0)?;
        let (state, data) = ((**material.surface.as_ref()?).clone(), material.data.clone());
        Some(self.add_surface(name, state, data, false))
    }

    /// Returns the shared material with this name if it is already loaded.
    pub fn get_loaded(&self, name: &str) -> Option<MaterialId> {
        self.by_name.get(name).copied()
    }

    /// Takes over the slot of a material and the values that the game has set.
    fn with_set_values(&self, id: MaterialId, mut state: SurfaceMaterial) -> SurfaceMaterial {
        let material = self.slots.get(id.0).expect("the caller checked");
        let Some(old) = &material.surface else { return state };
        state.slot = old.slot;
        for (name, numbers) in &material.set_variables {
            // A value that the new surface does not support is dropped, and so is one of the
            // shader's.
            let _ = state.set(&material.name, name, numbers, "");
        }
        for (index, name) in TEXTURES.iter().enumerate() {
            let set = material.set_textures.iter().find(|(known, _)| known == name);
            if let Some((_, texture)) = set
                && let Some(found) = old.clone().texture_mut(index)
            {
                state.set_texture_slot(index, Some(texture.clone()), *found);
            }
        }
        state
    }

    /// Replaces the surface of a material. Values set by the game are kept.
    fn replace_surface(&mut self, id: MaterialId, state: SurfaceMaterial) {
        let state = self.with_set_values(id, state);
        let material = self.slots.get_mut(id.0).expect("the caller checked");
        if material.surface.is_some() {
            self.surfaces.queue_surface(&state);
            material.surface = Some(Box::new(state));
            self.version += 1;
        }
    }

    /// Returns the surface that a file describes for an existing material, with the values that the
    /// game has set.
    pub(super) fn refilled_surface(
        &mut self,
        store: &mut ResourceStore,
        id: MaterialId,
        file: &SurfaceSource,
        resolve: ResolveTexture,
    ) -> Result<SurfaceMaterial, Error> {
        let material = self.slots.get(id.0).expect("the caller checked");
        let name = material.name.clone();
        let mut state = SurfaceMaterial::of_file(&name, file, store, resolve)?;
        for (texture_name, texture) in &material.set_textures {
            // Other names are those of the shader's textures.
            if TEXTURES.contains(&&texture_name[..]) {
                let found = resolve(store, texture)?;
                state.set_texture(&name, texture_name, texture, found)?;
            }
        }
        Ok(self.with_set_values(id, state))
    }

    /// Rebuilds a material of meshes without a shader from its file.
    pub(super) fn refill_surface(
        &mut self,
        store: &mut ResourceStore,
        id: MaterialId,
        data: MaterialData,
        resolve: ResolveTexture,
    ) -> Result<(), Error> {
        let material = self.slots.get(id.0).expect("the caller checked");
        if material.surface.is_some() && data == MaterialData::default() {
            // The surface belongs to a model; reloading the model replaces it.
            return Ok(());
        }
        let has_slot = material.slot != MaterialSlot::BUILT_IN;
        let (Some(file), true) = (&data.surface, material.surface.is_some()) else {
            return Err(changed_kind(&material.name));
        };
        if has_slot || data.shader.is_some() {
            return Err(changed_kind(&material.name));
        }
        let state = self.refilled_surface(store, id, &file.clone(), resolve)?;
        self.replace_surface(id, state);
        self.slots.get_mut(id.0).expect("the caller checked").data = data;
        Ok(())
    }

    /// Takes the surface changes for the renderer since the last call. Call it after `flush`.
    pub fn flush_surfaces(&mut self, out: &mut Vec<SurfaceChange>) {
        out.append(&mut self.surfaces.queue);
    }
}
