//! Materials of meshes: surfaces, by the names of what can be set of them. Textures are looked up
//! by whoever calls.

use super::{Material, MaterialId, Materials, Resolve};
use crate::error;
use crate::foundation::Error;
use crate::foundation::suggest::hint;
use crate::packet::material::MaterialSlot;
use crate::packet::mesh::{Alpha, SLOTS_MAX, Surface, SurfaceChange, SurfaceSlot};
use crate::packet::texture::{Sampling, TextureSlot, Wrap};
use crate::resource::shading::MaterialData;
use crate::resource::store::Store;
use crate::resource::surface::{SurfaceFile, TEXTURES};

/// What can be set by numbers, and how many each has.
const VARIABLES: [(&str, usize); 8] = [
    ("base_color", 4),
    ("metallic", 1),
    ("roughness", 1),
    ("emissive", 3),
    ("emissive_strength", 1),
    ("normal_scale", 1),
    ("occlusion_strength", 1),
    ("alpha_cutoff", 1),
];

/// A material of meshes.
#[derive(Clone)]
pub struct State {
    pub slot: SurfaceSlot,
    surface: Surface,
    /// What `surface.emissive` is without its strength.
    emissive: [f32; 3],
    emissive_strength: f32,
    /// Names of its textures; empty for those that a model brought.
    names: [Option<String>; 5],
    /// How all textures are sampled, as far as the file says.
    nearest: Option<bool>,
    wrap: Wrap,
}

/// Places in the renderer's table of surfaces, and what it has to do about them.
#[derive(Default)]
pub struct Slots {
    free: Vec<SurfaceSlot>,
    used: u32,
    queue: Vec<SurfaceChange>,
}

impl Slots {
    fn take(&mut self) -> SurfaceSlot {
        self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            let slot = SurfaceSlot(SurfaceSlot::FIRST_FREE + self.used - 1);
            assert!(slot.0 < SLOTS_MAX, "there are fewer materials than slots");
            slot
        })
    }

    pub fn put(&mut self, state: &State) {
        let (slot, surface) = (state.slot, state.surface.clone());
        self.queue.push(SurfaceChange::Put { slot, surface });
    }

    pub fn end(&mut self, slot: SurfaceSlot) {
        self.queue.push(SurfaceChange::End { slot });
        self.free.push(slot);
    }
}

impl State {
    /// A surface as a model brings it.
    pub fn of_model(surface: Surface) -> State {
        State {
            slot: SurfaceSlot::DEFAULT,
            emissive: surface.emissive,
            emissive_strength: 1.0,
            names: [const { None }; 5],
            nearest: None,
            wrap: Wrap::Repeat,
            surface,
        }
    }

    /// A surface as a material's file says it.
    pub fn of_file(
        name: &str,
        file: &SurfaceFile,
        store: &mut Store,
        resolve: Resolve,
    ) -> Result<State, Error> {
        let mut state = State::of_model(Surface {
            name: name.to_string(),
            base_color: file.base_color,
            metallic: file.metallic,
            roughness: file.roughness,
            normal_scale: file.normal_scale,
            occlusion_strength: file.occlusion_strength,
            alpha: match file.alpha {
                0 => Alpha::Opaque,
                1 => Alpha::Mask(file.alpha_cutoff),
                _ => Alpha::Blend,
            },
            double_sided: file.double_sided,
            unlit: file.unlit,
            ..Surface::DEFAULT
        });
        (state.emissive, state.emissive_strength) = (file.emissive, file.emissive_strength);
        state.nearest = file.filter.map(|filter| filter == 1);
        state.wrap = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror][usize::from(file.wrap)];
        state.light();
        for (place, texture) in file.textures.iter().enumerate() {
            let Some(texture) = texture else { continue };
            let found = resolve(store, texture)
                .map_err(|fault| error!("the material '{name}': {}", fault.message))?;
            state.put_texture(place, Some(texture.clone()), found);
        }
        Ok(state)
    }

    fn light(&mut self) {
        self.surface.emissive = self.emissive.map(|part| part * self.emissive_strength);
    }

    fn texture_mut(&mut self, place: usize) -> &mut Option<(TextureSlot, Sampling)> {
        let surface = &mut self.surface;
        match place {
            0 => &mut surface.base_color_texture,
            1 => &mut surface.metal_rough_texture,
            2 => &mut surface.normal_texture,
            3 => &mut surface.occlusion_texture,
            _ => &mut surface.emissive_texture,
        }
    }

    fn put_texture(
        &mut self,
        place: usize,
        name: Option<String>,
        (slot, own): (TextureSlot, Sampling),
    ) {
        let sampling = Sampling { nearest: self.nearest.unwrap_or(own.nearest), wrap: self.wrap };
        *self.texture_mut(place) = Some((slot, sampling));
        self.names[place] = name;
    }

    /// Names of its textures.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flatten().map(String::as_str)
    }

    /// Puts those textures into other slots for which `moved` gives one; whether there were any.
    /// What a model brought is none of them.
    pub fn follow_textures(
        &mut self,
        mut moved: impl FnMut(&str, TextureSlot) -> Option<TextureSlot>,
    ) -> bool {
        let mut any = false;
        for place in 0..self.names.len() {
            let Some(name) = self.names[place].take() else { continue };
            if let Some((slot, _)) = self.texture_mut(place)
                && let Some(now) = moved(&name, *slot)
            {
                *slot = now;
                any = true;
            }
            self.names[place] = Some(name);
        }
        any
    }

    /// Sets what a name means.
    pub fn set(
        &mut self,
        material: &str,
        name: &str,
        numbers: &[f32],
        kind_words: &str,
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
        // A colour has four parts, and light has none to see through.
        let fits = numbers.len() == *count
            || name == "base_color" && numbers.len() == 3
            || name == "emissive" && numbers.len() == 4;
        if !fits {
            return Err(error!(
                "the variable '{name}' of the material '{material}' has {count} numbers, and was \
                 given {kind_words}"
            ));
        }
        let surface = &mut self.surface;
        match name {
            "base_color" => surface.base_color[..numbers.len()].copy_from_slice(numbers),
            "metallic" => surface.metallic = numbers[0].clamp(0.0, 1.0),
            "roughness" => surface.roughness = numbers[0].clamp(0.0, 1.0),
            "emissive" => self.emissive.copy_from_slice(&numbers[..3]),
            "emissive_strength" => self.emissive_strength = numbers[0],
            "normal_scale" => surface.normal_scale = numbers[0],
            "occlusion_strength" => surface.occlusion_strength = numbers[0].clamp(0.0, 1.0),
            _ => {
                if !matches!(surface.alpha, Alpha::Mask(_)) {
                    return Err(error!(
                        "the variable 'alpha_cutoff' of the material '{material}' does nothing, \
                         for its alpha is not \"mask\""
                    ));
                }
                surface.alpha = Alpha::Mask(numbers[0]);
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
        found: (TextureSlot, Sampling),
    ) -> Result<(), Error> {
        let place = TEXTURES.iter().position(|known| *known == name).ok_or_else(|| {
            let near = match hint(name, TEXTURES) {
                near if near.is_empty() => format!(": it has {}", TEXTURES.join(", ")),
                near => near,
            };
            error!("the material '{material}' has no texture '{name}'{near}")
        })?;
        self.put_texture(place, Some(texture.to_string()), found);
        Ok(())
    }
}

impl Material {
    /// Where the renderer has it, if it is for meshes.
    #[inline(always)]
    pub fn surface(&self) -> Option<SurfaceSlot> {
        self.surface.as_ref().map(|surface| surface.slot)
    }
}

impl Materials {
    /// Takes in a surface of a model, or what it is now, under a name that all can draw by.
    pub fn put_model_surface(&mut self, name: &str, surface: Surface) -> Result<MaterialId, Error> {
        let state = State::of_model(surface);
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
        mut state: State,
        data: MaterialData,
        shared: bool,
    ) -> Result<MaterialId, Error> {
        if self.slots.len() >= super::MATERIALS_MAX {
            return Err(error!(
                "{} materials are there already (MATERIALS_MAX): destroy one first",
                super::MATERIALS_MAX
            ));
        }
        state.slot = self.surfaces.take();
        self.surfaces.put(&state);
        let material = Material {
            name: name.to_string(),
            slot: MaterialSlot::BUILT_IN,
            texture: None,
            data,
            shader: None,
            block: Vec::new(),
            textures: Vec::new(),
            set_variables: Vec::new(),
            set_textures: Vec::new(),
            changed: false,
            shared,
            surface: Some(Box::new(state)),
        };
        let added = self.slots.add(material);
        Ok(MaterialId(added.ok_or_else(|| error!("all slots of materials have been used up"))?))
    }

    /// A surface for what is no material of a game's: it stays.
    pub fn add_plain_surface(&mut self, surface: Surface) -> SurfaceSlot {
        let state = State { slot: self.surfaces.take(), ..State::of_model(surface) };
        self.surfaces.put(&state);
        state.slot
    }

    /// A material of its own with a surface that all share by a name: what of it is set is set
    /// alone. None where there is none of that name.
    pub fn copy_surface(&mut self, name: &str) -> Option<Result<MaterialId, Error>> {
        let known = self.by_name.get(name)?;
        let material = self.slots.get(known.0)?;
        let (state, data) = ((**material.surface.as_ref()?).clone(), material.data.clone());
        Some(self.add_surface(name, state, data, false))
    }

    /// The material that all share under a name, if it is there already.
    pub fn known(&self, name: &str) -> Option<MaterialId> {
        self.by_name.get(name).copied()
    }

    /// Puts another surface in the place of a material's; what the game has set stays set.
    fn replace_surface(&mut self, id: MaterialId, mut state: State) {
        let material = self.slots.get_mut(id.0).expect("the caller looked");
        let Some(old) = &material.surface else { return };
        state.slot = old.slot;
        for (name, numbers) in &material.set_variables {
            // What the new one does not have any more is forgotten.
            let _ = state.set(&material.name, name, numbers, "");
        }
        for (place, name) in TEXTURES.iter().enumerate() {
            let set = material.set_textures.iter().find(|(known, _)| known == name);
            if let Some((_, texture)) = set
                && let Some(found) = old.clone().texture_mut(place)
            {
                state.put_texture(place, Some(texture.clone()), *found);
            }
        }
        self.surfaces.put(&state);
        material.surface = Some(Box::new(state));
        self.version += 1;
    }

    /// Makes a material of meshes anew from its file.
    pub(super) fn refill_surface(
        &mut self,
        store: &mut Store,
        id: MaterialId,
        data: MaterialData,
        resolve: Resolve,
    ) -> Result<(), Error> {
        let material = self.slots.get(id.0).expect("the caller looked");
        let name = material.name.clone();
        if material.surface.is_some() && data == MaterialData::default() {
            // A model brought it, and the model brings it again.
            return Ok(());
        }
        let (Some(file), true) = (&data.surface, material.surface.is_some()) else {
            return Err(error!(
                "the material '{name}' was for pictures and is for meshes now, or the other way \
                 round: that takes a new start"
            ));
        };
        let mut state = State::of_file(&name, file, store, resolve)?;
        let mut textures = Vec::new();
        for (place, texture) in &material.set_textures {
            textures.push((place.clone(), texture.clone(), resolve(store, texture)?));
        }
        for (place, texture, found) in textures {
            state.set_texture(&name, &place, &texture, found)?;
        }
        self.replace_surface(id, state);
        self.slots.get_mut(id.0).expect("the caller looked").data = data;
        Ok(())
    }

    /// Takes what the renderer has to do about surfaces since the last call; after `flush`.
    pub fn flush_surfaces(&mut self, out: &mut Vec<SurfaceChange>) {
        out.append(&mut self.surfaces.queue);
    }
}
