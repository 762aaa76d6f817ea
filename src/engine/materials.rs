//! Materials brought together with the textures that they name, and with the Guis that draw with
//! them. The systems themselves know nothing of each other.

use super::Engine;
use super::picture::{Origin, STALE};
use super::targets::Targets;
use crate::error;
use crate::foundation::{Error, log};
use crate::packet::texture::{Sampling, TextureSlot};
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use crate::system::gui::{Source, SourceNumber};
use crate::system::materials::{Material, MaterialId};
use crate::system::textures::{TextureNumber, Textures};

/// A texture as a material takes it; `targets` are those that are drawn into.
fn resolve(
    targets: &Targets,
    textures: &mut Textures,
    store: &mut Store,
    name: &str,
) -> Result<(TextureSlot, Sampling), Error> {
    let number = match targets.find(name) {
        Some(number) => number,
        None => textures.find(store, name)?,
    };
    let slot = textures.slot(store, number)?;
    Ok((slot, textures.entry(number).sampling))
}

impl Engine {
    /// The material that all share who draw by its name. A texture stands in for one that does not
    /// exist.
    pub fn find_material(&mut self, name: &str) -> Result<MaterialId, Error> {
        if let Some(material) = self.of_model(name)? {
            return Ok(material);
        }
        let Engine { materials, textures, store, picture, .. } = self;
        materials
            .find(store, name, &mut |store, name| resolve(&picture.targets, textures, store, name))
    }

    /// The texture that a name means: one that is drawn into, or one of the game's.
    pub fn find_picture(&mut self, name: &str) -> Result<TextureNumber, Error> {
        match self.picture.targets.find(name) {
            Some(number) => Ok(number),
            None => self.textures.find(&mut self.store, name),
        }
    }

    /// The name by which a texture is found.
    pub fn picture_name(&self, number: TextureNumber) -> &str {
        self.picture.targets.name(number).unwrap_or_else(|| self.textures.name(number))
    }

    /// A material of its own, whose variables and textures are set apart.
    pub fn new_material(&mut self, name: &str) -> Result<MaterialId, Error> {
        if self.of_model(name)?.is_some()
            && let Some(made) = self.materials.copy_surface(name)
        {
            return made;
        }
        let Engine { materials, textures, store, picture, .. } = self;
        materials
            .make(store, name, &mut |store, name| resolve(&picture.targets, textures, store, name))
    }

    /// A material that a model brought; what has a file of its own, or a picture, is none.
    fn of_model(&mut self, name: &str) -> Result<Option<MaterialId>, Error> {
        let own = ["material", "texture"].map(|kind| ResourceName::new(kind, name));
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
        let Engine { materials, textures, store, picture, .. } = self;
        let resolve =
            &mut |store: &mut Store, name: &str| resolve(&picture.targets, textures, store, name);
        materials.set_texture(store, material, name, texture, resolve)
    }

    /// Takes in textures, shaders and materials that were made anew.
    pub fn reload_pictures(&mut self, changed: &[ResourceName]) {
        let Engine { materials, textures, store, picture, .. } = self;
        textures.reload(store, changed);
        materials.reload(store, changed, &mut |store, name| {
            resolve(&picture.targets, textures, store, name)
        });
        self.reload_models(changed);
        self.take_over_names(changed);
        self.refresh_sources();
    }

    /// Materials that are new take the names that textures were drawn by.
    fn take_over_names(&mut self, changed: &[ResourceName]) {
        for resource in changed.iter().filter(|resource| resource.kind == "material") {
            let known = self.picture.sources.get(&resource.name).map(|known| known.0 as usize - 1);
            let of_texture = |place| matches!(self.picture.origins[place], Origin::Texture(_));
            let Some(place) = known.filter(|place| of_texture(*place)) else { continue };
            if !self.store.has(resource) {
                continue;
            }
            match self.find_material(&resource.name) {
                Ok(material) => {
                    self.picture.origins[place] = Origin::Material(material);
                    self.picture.origins_version = STALE;
                }
                Err(fault) => log::error(&fault.to_string()),
            }
        }
    }

    /// Has materials find their textures where they are now. What is not loaded is the
    /// checkerboard.
    pub(super) fn follow_textures(&mut self) {
        let Engine { materials, textures, store, picture, .. } = self;
        materials.follow_textures(store, &mut |store, name| {
            let known = picture.targets.find(name).or_else(|| textures.known(name));
            let there = known.filter(|number| textures.entry(*number).loaded);
            let number = there.unwrap_or(TextureNumber::MISSING);
            Ok((textures.slot(store, number)?, textures.entry(number).sampling))
        });
    }

    /// What a Gui draws with, of a material.
    pub(super) fn source_of_material(&mut self, material: MaterialId) -> Source {
        let Some(known) = self.materials.slots().get(material.0) else { return Source::PLAIN };
        let Material { name, slot, texture, .. } = known;
        let (name, slot, texture) = (name.clone(), *slot, texture.clone());
        let Some(texture) = texture else {
            return Source { name, material: slot, ..Source::PLAIN };
        };
        // One that is unloaded stays so. A name that was good when the material was made can be
        // gone by now, or another one be named in its file.
        let known = self.picture.targets.find(&texture).or_else(|| self.textures.known(&texture));
        let found = known.map_or_else(|| self.textures.find(&mut self.store, &texture), Ok);
        let found = found.unwrap_or_else(|fault| {
            log::warn(&format!("material '{name}'"), &fault.message);
            TextureNumber::MISSING
        });
        let entry = *self.textures.entry(found);
        Source {
            name,
            material: slot,
            texture: entry.slot,
            paint: entry.paint,
            uv: entry.uv,
            size: [entry.width as f32, entry.height as f32],
        }
    }

    /// The number by which Guis draw with a material: a source, made when first asked for.
    pub fn material_source(&mut self, material: MaterialId) -> Result<SourceNumber, Error> {
        if let Some(known) = self.picture.materials.get(&material) {
            return Ok(*known);
        }
        let named = self.materials.slots().get(material.0);
        let named = named.and_then(|known| Some((known.name.clone(), known.texture.clone()?)));
        if let Some((name, texture)) = named {
            let found = self.find_picture(&texture);
            found.map_err(|fault| error!("the material '{name}': {}", fault.message))?;
        }
        let source = self.source_of_material(material);
        let number = self.add_source(source, Origin::Material(material))?;
        self.picture.materials.insert(material, number);
        Ok(number)
    }

    /// Gives back the numbers by which Guis drew with a material that has ended: its own, and those
    /// of fonts' pages with it.
    pub fn end_material_source(&mut self, material: MaterialId) {
        let Some(own) = self.picture.materials.remove(&material) else { return };
        let mut ended = vec![own];
        self.picture.pages.retain(|(_, with), number| {
            let stays = *with != own;
            ended.extend((!stays).then_some(*number));
            stays
        });
        ended[1..].sort_unstable_by_key(|number| number.0);
        for number in &ended {
            self.picture.origins[number.0 as usize - 1] = Origin::Ended;
        }
        self.guis.end_sources(&ended);
    }
}
