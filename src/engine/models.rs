//! Integration of models with their textures and materials, and with the units built from them. The
//! systems themselves are independent of each other.

use super::{Assets, Worlds};
use engine_foundation::doing;
use engine_foundation::error;
use engine_foundation::{Error, Handle, log};
use engine_frame_packet::mesh::SurfaceFrame;
use engine_frame_packet::texture::{SamplerSettings, TextureSlot};
use engine_materials::{MaterialId, Materials};
use engine_models::data::{ModelData, SurfaceData};
use engine_models::{MeshNumber, Model, Models, primitives};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use engine_textures::Textures;
use std::sync::Arc;

/// Tables that a model is loaded into.
struct ModelLoader<'a> {
    models: &'a mut Models,
    materials: &'a mut Materials,
    textures: &'a mut Textures,
}

impl ModelLoader<'_> {
    /// Returns the model with that name. It is loaded on the first request.
    fn load(&mut self, store: &mut ResourceStore, name: &str) -> Result<Arc<Model>, Error> {
        match self.models.get_loaded(name) {
            Some(known) => Ok(known.clone()),
            None => {
                engine_foundation::owner!("resources/models");
                self.reload_model(store, name)
            }
        }
    }

    fn reload_model(&mut self, store: &mut ResourceStore, name: &str) -> Result<Arc<Model>, Error> {
        doing!("When loading model:", name);
        let resource = ResourceName::new(kind_names::MODEL, name);
        if !store.has(&resource)
            && let Some(data) = primitives::model(name)
        {
            return self.models.insert_model(name, data, Vec::new());
        }
        let bytes = store.read(&resource)?;
        // From here on the renderer has the data; it is read again if it is needed again.
        store.evict(std::iter::once(resource.id()));
        let data = contain(&resource, || {
            ModelData::read(&bytes).map_err(|error| error!("model '{name}': {}", error.message))
        })?;
        // The checks of a game read the warnings from the data of all models.
        for warning in data.warnings.iter().filter(|_| !log::holds_data_warnings()) {
            log::warning(&format!("model '{name}': {warning}"));
        }
        let mut slots = Vec::new();
        for (index, range) in data.pictures.iter().enumerate() {
            let own = format!("{name}:{index}");
            slots.push(self.textures.add_embedded(&own, &resource, &bytes, range.clone())?);
        }
        let mut materials: Vec<Handle> = Vec::new();
        for surface in &data.surfaces {
            let full = format!("{name}/{}", surface.name);
            let surface = packed(&full, surface, &slots);
            materials.push(self.materials.set_model_surface(&full, surface)?.0);
        }
        self.models.insert_model(name, data, materials)
    }
}

/// Converts a surface for the renderer.
fn packed(name: &str, data: &SurfaceData, slots: &[TextureSlot]) -> SurfaceFrame {
    let of = |index: usize| -> Option<(TextureSlot, SamplerSettings)> {
        data.pictures[index].map(|(picture, sampling)| (slots[picture as usize], sampling))
    };
    SurfaceFrame {
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
        custom_material: None,
        lobes: data.lobes,
        shader: None,
        back_shadow: false,
    }
}

impl Assets {
    /// Returns the model with that name. It is loaded on the first request.
    pub fn model(&mut self, name: &str) -> Result<Arc<Model>, Error> {
        let (models, materials, textures, store) =
            (&mut self.models, &mut self.materials, &mut self.textures, &mut self.store);
        ModelLoader { models, materials, textures }.load(store, name)
    }

    /// Returns the mesh with a name: a named mesh of a model, or the only mesh of a model.
    pub fn find_mesh(&mut self, name: &str) -> Result<MeshNumber, Error> {
        let (model, mesh) = Models::split(&self.store, name)?;
        let model = self.model(&model)?;
        self.models.mesh_of(&model, mesh.as_deref())
    }

    /// Returns the material of a model with a name, and loads the model if necessary. Returns
    /// `None` if the name does not lead to a model.
    pub(super) fn model_material(&mut self, name: &str) -> Result<Option<MaterialId>, Error> {
        if let Some(known) = self.materials.get_loaded(name) {
            return Ok(Some(known));
        }
        match Models::split(&self.store, name) {
            Ok((model, Some(wanted))) => {
                let model = self.model(&model)?;
                if let Some(known) = self.materials.get_loaded(name) {
                    return Ok(Some(known));
                }
                let names: Vec<_> =
                    model.data.surfaces.iter().map(|surface| surface.name.as_str()).collect();
                let near = engine_foundation::suggest::hint(&wanted, names);
                Err(error!("the model '{}' has no material '{wanted}'{near}", model.name))
            }
            _ => Ok(None),
        }
    }

    /// Returns a material that meshes can be drawn with.
    pub fn find_mesh_material(&mut self, name: &str) -> Result<MaterialId, Error> {
        let material = self.find_material(name)?;
        self.check_mesh_material(material)?;
        Ok(material)
    }

    /// Refuses a 2D material.
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

    /// Refuses a material for meshes.
    pub fn check_image_material(&self, material: MaterialId) -> Result<(), Error> {
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

    /// Applies changed models (hot reload): meshes and materials of the same names change wherever
    /// they are shown. If a model is invalid or was removed, its previous version stays.
    pub(super) fn reload_models(&mut self, worlds: &mut Worlds, changed: &ChangedResources) {
        for name in changed.of(ReloadStep::Models) {
            if self.models.get_loaded(&name.name).is_none() {
                continue;
            }
            if !self.store.has(name) && !primitives::NAMES.contains(&name.name.as_str()) {
                log::error(&format!(
                    "the model '{}' was removed: existing objects keep the previous version",
                    name.name
                ));
                continue;
            }
            let Assets { models, materials, textures, store, .. } = self;
            match (ModelLoader { models, materials, textures }).reload_model(store, &name.name) {
                Ok(model) => {
                    let meshes = model.meshes.clone();
                    worlds.scenes.mark_meshes_changed(&meshes);
                }
                Err(error) => {
                    log::error(&format!("{error}: existing objects keep the previous version"))
                }
            }
        }
    }
}
