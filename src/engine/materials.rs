//! Integration of materials with the textures that they refer to, and with the Guis that draw with
//! them. The systems themselves are independent of each other.

use super::frame_builder::{STALE, SourceOrigin};
use super::render_targets::RenderTargets;
use super::{Assets, Drawing, Engine};
use engine_foundation::error;
use engine_foundation::{Error, log};
use engine_frame_packet::texture::{SamplerSettings, TextureSlot};
use engine_gui::{SourceNumber, TextureSource};
use engine_materials::{Material, MaterialId};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use engine_textures::{TextureNumber, Textures};

/// Resolves a texture name for a material; `targets` are the render targets.
fn resolve(
    targets: &RenderTargets,
    textures: &mut Textures,
    store: &mut ResourceStore,
    name: &str,
) -> Result<(TextureSlot, SamplerSettings), Error> {
    let number = match targets.find(name) {
        Some(number) => number,
        None => textures.find(store, name)?,
    };
    let slot = textures.slot(store, number)?;
    Ok((slot, textures.entry(number).sampling))
}

impl Assets {
    /// Returns the material that all objects share that draw by its name. If it does not exist, a
    /// texture of that name is used instead.
    pub fn find_material(&mut self, name: &str) -> Result<MaterialId, Error> {
        if let Some(material) = self.of_model(name)? {
            return Ok(material);
        }
        let Assets { materials, textures, store, targets, .. } = self;
        materials.find(store, name, &mut |store, name| resolve(targets, textures, store, name))
    }

    /// Returns the texture with a name: a render target, or a texture of the game.
    pub fn find_drawable_texture(&mut self, name: &str) -> Result<TextureNumber, Error> {
        match self.targets.find(name) {
            Some(number) => Ok(number),
            None => self.textures.find(&mut self.store, name),
        }
    }

    /// Creates a separate material with its own variables and textures.
    pub fn new_material(&mut self, name: &str) -> Result<MaterialId, Error> {
        if self.of_model(name)?.is_some()
            && let Some(copy) = self.materials.copy_surface(name)
        {
            return copy;
        }
        let Assets { materials, textures, store, targets, .. } = self;
        materials.create_instance(store, name, &mut |store, name| {
            resolve(targets, textures, store, name)
        })
    }

    /// Returns a material that belongs to a model. Names with a material file or a texture are
    /// excluded.
    fn of_model(&mut self, name: &str) -> Result<Option<MaterialId>, Error> {
        let own =
            [kind_names::MATERIAL, kind_names::TEXTURE].map(|kind| ResourceName::new(kind, name));
        match own.iter().any(|own| self.store.has(own)) {
            true => Ok(None),
            false => self.model_material(name),
        }
    }

    /// Sets one of a material's textures.
    pub fn set_material_texture(
        &mut self,
        material: MaterialId,
        name: &str,
        texture: &str,
    ) -> Result<(), Error> {
        let Assets { materials, textures, store, targets, .. } = self;
        let resolve =
            &mut |store: &mut ResourceStore, name: &str| resolve(targets, textures, store, name);
        materials.set_texture(store, material, name, texture, resolve)
    }
}

impl Engine {
    /// Applies changed textures, shaders, materials and models (hot reload).
    pub fn reload_textures_and_materials(&mut self, changed: &ChangedResources) {
        let Assets { materials, textures, store, targets, .. } = &mut self.assets;
        textures.reload(store, changed);
        materials
            .reload(store, changed, &mut |store, name| resolve(targets, textures, store, name));
        self.assets.reload_models(&mut self.worlds, changed);
        self.drawing.switch_to_new_materials(&mut self.assets, changed);
        self.drawing.refresh_sources(&mut self.assets);
    }
}

impl Drawing {
    /// Switches names that were drawn as textures to new materials of the same name.
    fn switch_to_new_materials(&mut self, assets: &mut Assets, changed: &ChangedResources) {
        for resource in changed.of(ReloadStep::Materials) {
            let known = self.builder.sources.get(&resource.name).map(|known| known.0 as usize - 1);
            let of_texture =
                |index| matches!(self.builder.origins[index], SourceOrigin::Texture(_));
            let Some(index) = known.filter(|index| of_texture(*index)) else { continue };
            if !assets.store.has(resource) {
                continue;
            }
            match assets.find_material(&resource.name) {
                Ok(material) => {
                    self.builder.origins[index] = SourceOrigin::Material(material);
                    self.builder.origins_version = STALE;
                }
                Err(error) => log::error(&error.to_string()),
            }
        }
    }
}

impl Assets {
    /// Updates the texture slots of all materials. Textures that are not loaded are replaced by the
    /// checkerboard.
    pub(super) fn follow_textures(&mut self) {
        let Assets { materials, textures, store, targets, .. } = self;
        materials.follow_textures(store, &mut |store, name| {
            let known = targets.find(name).or_else(|| textures.get_loaded(name));
            let there = known.filter(|number| textures.entry(*number).loaded);
            let number = there.unwrap_or(TextureNumber::MISSING);
            Ok((textures.slot(store, number)?, textures.entry(number).sampling))
        });
    }

    /// Returns the Gui source of a material.
    pub(super) fn source_of_material(&mut self, material: MaterialId) -> TextureSource {
        let Some(known) = self.materials.slots().get(material.0) else {
            return TextureSource::PLAIN;
        };
        let Material { name, slot, texture, .. } = known;
        let (name, slot, texture) = (name.clone(), *slot, texture.clone());
        let Some(texture) = texture else {
            return TextureSource { name, material: slot, ..TextureSource::PLAIN };
        };
        // An unloaded texture stays unloaded. A name that was valid when the material was created
        // may be missing by now, or the file may name another texture.
        let known = self.targets.find(&texture).or_else(|| self.textures.get_loaded(&texture));
        let found = known.map_or_else(|| self.textures.find(&mut self.store, &texture), Ok);
        let found = found.unwrap_or_else(|error| {
            log::warn(&format!("material '{name}'"), &error.message);
            TextureNumber::MISSING
        });
        let entry = *self.textures.entry(found);
        TextureSource {
            name,
            material: slot,
            texture: entry.slot,
            paint: entry.paint,
            uv: entry.uv,
            size: [entry.width as f32, entry.height as f32],
        }
    }
}

impl Drawing {
    /// Returns the source number by which Guis draw with a material. The source is created on the
    /// first request.
    pub fn material_source(
        &mut self,
        assets: &mut Assets,
        material: MaterialId,
    ) -> Result<SourceNumber, Error> {
        if let Some(known) = self.builder.materials.get(&material) {
            return Ok(*known);
        }
        let named = assets.materials.slots().get(material.0);
        let named = named.and_then(|known| Some((known.name.clone(), known.texture.clone()?)));
        if let Some((name, texture)) = named {
            let found = assets.find_drawable_texture(&texture);
            found.map_err(|error| error!("the material '{name}': {}", error.message))?;
        }
        let source = assets.source_of_material(material);
        let number = self.add_source(assets, source, SourceOrigin::Material(material))?;
        self.builder.materials.insert(material, number);
        Ok(number)
    }

    /// Releases the source numbers of a destroyed material: its own, and those of font pages drawn
    /// with it.
    pub fn end_material_source(&mut self, material: MaterialId) {
        let Some(own) = self.builder.materials.remove(&material) else { return };
        let mut ended = vec![own];
        self.builder.pages.retain(|(_, with), number| {
            let stays = *with != own;
            ended.extend((!stays).then_some(*number));
            stays
        });
        ended[1..].sort_unstable_by_key(|number| number.0);
        for number in &ended {
            self.builder.origins[number.0 as usize - 1] = SourceOrigin::Ended;
        }
        self.guis.end_sources(&ended);
    }
}
