//! Models brought together with their textures and materials, and with the units that are made of
//! them. The systems themselves know nothing of each other.

use super::Engine;
use crate::doing;
use crate::error;
use crate::foundation::{Error, Handle, log};
use crate::packet::mesh::Surface;
use crate::packet::texture::{Sampling, TextureSlot};
use crate::resource::containment::contain;
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use crate::system::materials::{MaterialId, Materials};
use crate::system::models::data::{ModelData, SurfaceData};
use crate::system::models::{MeshNumber, Model, Models, shapes};
use crate::system::textures::{TextureNumber, Textures};
use crate::world::mesh_part::{self, Lookup};
use crate::world::sprite::SequenceNumber;
use crate::world::unit_resource::UnitResource;
use std::sync::Arc;

/// What a model is loaded into.
struct Loader<'a> {
    models: &'a mut Models,
    materials: &'a mut Materials,
    textures: &'a mut Textures,
}

impl Loader<'_> {
    /// The model of that name, loaded when it is first asked for.
    fn load(&mut self, store: &mut Store, name: &str) -> Result<Arc<Model>, Error> {
        match self.models.known(name) {
            Some(known) => Ok(known.clone()),
            None => {
                crate::owner!("resources/models");
                self.load_again(store, name)
            }
        }
    }

    fn load_again(&mut self, store: &mut Store, name: &str) -> Result<Arc<Model>, Error> {
        doing!("When loading model:", name);
        let resource = ResourceName::new("model", name);
        if !store.has(&resource)
            && let Some(data) = shapes::model(name)
        {
            return self.models.put(name, data, Vec::new());
        }
        let bytes = store.read(&resource)?;
        // The renderer has it from here on; it is read again when it is needed again.
        store.forget(std::iter::once(resource.id()));
        let data = contain(&resource, || {
            ModelData::read(&bytes).map_err(|fault| error!("model '{name}': {}", fault.message))
        })?;
        for words in &data.warnings {
            log::warning(&format!("model '{name}': {words}"));
        }
        let mut slots = Vec::new();
        for (index, range) in data.pictures.iter().enumerate() {
            let own = format!("{name}:{index}");
            slots.push(self.textures.put_inside(&own, &resource, &bytes, range.clone())?);
        }
        let mut materials: Vec<Handle> = Vec::new();
        for surface in &data.surfaces {
            let full = format!("{name}/{}", surface.name);
            let surface = packed(&full, surface, &slots);
            materials.push(self.materials.put_model_surface(&full, surface)?.0);
        }
        self.models.put(name, data, materials)
    }
}

/// A surface for the renderer.
fn packed(name: &str, data: &SurfaceData, slots: &[TextureSlot]) -> Surface {
    let of = |place: usize| -> Option<(TextureSlot, Sampling)> {
        data.pictures[place].map(|(picture, sampling)| (slots[picture as usize], sampling))
    };
    Surface {
        name: name.to_string(),
        base_color: data.base_color,
        metallic: data.metallic,
        roughness: data.roughness,
        emissive: data.emissive,
        normal_scale: data.normal_scale,
        occlusion_strength: data.occlusion_strength,
        base_color_texture: of(0),
        metal_rough_texture: of(1),
        normal_texture: of(2),
        occlusion_texture: of(3),
        emissive_texture: of(4),
        alpha: data.alpha,
        double_sided: data.double_sided,
        unlit: data.unlit,
        painter: None,
    }
}

impl Lookup for Engine {
    fn mesh(&mut self, model: &str, mesh: Option<&str>) -> Result<(MeshNumber, usize), Error> {
        let model = self.model(model)?;
        let number = self.models.mesh_of(&model, mesh)?;
        Ok((number, self.models.entry(number).materials.len()))
    }

    fn material(&mut self, name: &str) -> Result<Handle, Error> {
        let material = self.find_mesh_material(name)?;
        Ok(material.0)
    }

    fn picture_material(&mut self, name: &str) -> Result<Handle, Error> {
        let material = self.find_material(name)?;
        self.check_picture_material(material)?;
        Ok(material.0)
    }

    fn picture(&mut self, name: &str) -> Result<TextureNumber, Error> {
        self.textures.find(&mut self.store, name)
    }

    fn sequence(&mut self, sheet: &str, tag: Option<&str>) -> Result<SequenceNumber, Error> {
        Engine::sequence(self, sheet, tag)
    }

    fn tilemap(&mut self, name: &str, level: Option<&str>) -> Result<(), Error> {
        self.tilemaps.find_map(&mut self.store, name, level).map(|_| ())
    }
}

impl Engine {
    /// The model of that name, loaded when it is first asked for.
    pub fn model(&mut self, name: &str) -> Result<Arc<Model>, Error> {
        let Engine { models, materials, textures, store, .. } = self;
        Loader { models, materials, textures }.load(store, name)
    }

    /// The mesh that a name means: of a model, or its only one.
    pub fn find_mesh(&mut self, name: &str) -> Result<MeshNumber, Error> {
        let (model, mesh) = Models::split(&self.store, name)?;
        let model = self.model(&model)?;
        self.models.mesh_of(&model, mesh.as_deref())
    }

    /// The material of a model that a name means, its model loaded if it is not yet; none where the
    /// name leads to no model.
    pub(super) fn model_material(&mut self, name: &str) -> Result<Option<MaterialId>, Error> {
        if let Some(known) = self.materials.known(name) {
            return Ok(Some(known));
        }
        match Models::split(&self.store, name) {
            Ok((model, Some(wanted))) => {
                let model = self.model(&model)?;
                if let Some(known) = self.materials.known(name) {
                    return Ok(Some(known));
                }
                let names: Vec<_> =
                    model.data.surfaces.iter().map(|surface| surface.name.as_str()).collect();
                let near = crate::foundation::suggest::hint(&wanted, names);
                Err(error!("the model '{}' has no material '{wanted}'{near}", model.name))
            }
            _ => Ok(None),
        }
    }

    /// A material that meshes can be drawn with.
    pub fn find_mesh_material(&mut self, name: &str) -> Result<MaterialId, Error> {
        let material = self.find_material(name)?;
        self.check_mesh_material(material)?;
        Ok(material)
    }

    /// Refuses a material that is for pictures.
    pub fn check_mesh_material(&self, material: MaterialId) -> Result<(), Error> {
        let found = self.materials.slots().get(material.0).expect("the caller looked");
        match found.surface() {
            Some(_) => Ok(()),
            None => Err(error!(
                "the material '{}' is for pictures: meshes take one with a block surface = {{ }}",
                found.name
            )),
        }
    }

    /// Refuses a material that is for meshes.
    pub fn check_picture_material(&self, material: MaterialId) -> Result<(), Error> {
        let found = self.materials.slots().get(material.0).expect("the caller looked");
        match found.surface() {
            None => Ok(()),
            Some(_) => Err(error!(
                "the material '{}' is for meshes: sprites and tile maps take one for pictures, \
                 with a shader or a blend",
                found.name
            )),
        }
    }

    /// What units of that name are made of, read when it is first asked for.
    pub fn unit_resource(&mut self, name: &str) -> Result<Arc<UnitResource>, Error> {
        if let Some(known) = self.units.resources.get(name) {
            return Ok(known.clone());
        }
        doing!("When reading unit:", name);
        let Engine { models, materials, textures, store, .. } = self;
        let mut loader = Loader { models, materials, textures };
        let mut resource =
            UnitResource::read(store, name, &mut |store, model| loader.load(store, model))?;
        resource.seen = mesh_part::seen(&resource, self)?;
        let resource = Arc::new(resource);
        self.units.resources.insert(name.to_string(), resource.clone());
        Ok(resource)
    }

    /// Takes in models that were made anew: meshes and materials of the same names change where
    /// they are shown. What cannot be used stays as it was, and so does what is gone.
    pub fn reload_models(&mut self, changed: &[ResourceName]) {
        let mut reloaded = false;
        for name in changed.iter().filter(|name| name.kind == "model") {
            reloaded = true;
            if self.models.known(&name.name).is_none() {
                continue;
            }
            if !self.store.has(name) && !shapes::NAMES.contains(&name.name.as_str()) {
                log::error(&format!(
                    "the model '{}' is gone: what is made of it stays until it is destroyed",
                    name.name
                ));
                continue;
            }
            let Engine { models, materials, textures, store, .. } = self;
            match (Loader { models, materials, textures }).load_again(store, &name.name) {
                Ok(model) => {
                    let meshes = model.meshes.clone();
                    self.scenes.note_meshes(&meshes);
                }
                Err(fault) => log::error(&format!("{fault}: what was made of it before stays")),
            }
        }
        if reloaded {
            self.units.resources.clear();
        }
    }
}
