//! Registry of models and meshes: maps names to models and meshes, and meshes to slots. Also
//! reloads models and releases meshes.

use super::data::{MeshData, ModelData};
use super::primitives;
use super::{MESHES_MAX, MeshEntry, MeshNumber, Model};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Handle, Vec3};
use engine_frame_packet::deformation::{MeshMorph, MeshSkin};
use engine_frame_packet::mesh::{MeshBounds, MeshChange, MeshFrame, MeshSlot};
use engine_resource::panic_report::contain;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::collections::HashMap;
use std::sync::Arc;

/// Registry of the models and meshes of a game.
pub struct Models {
    loaded: HashMap<String, Arc<Model>>,
    entries: Vec<MeshEntry>,
    by_name: HashMap<String, MeshNumber>,
    /// Triangles of meshes that the game created.
    game_meshes: HashMap<MeshNumber, Arc<MeshFrame>>,
    /// Free numbers of destroyed meshes of the game.
    free: Vec<MeshNumber>,
    queue: Vec<MeshChange>,
    /// Empty mesh for numbers that have no mesh.
    empty_mesh: Arc<MeshFrame>,
}

impl Default for Models {
    fn default() -> Models {
        let empty_mesh = MeshFrame {
            name: String::new(),
            vertices: Vec::new(),
            indices: Vec::new(),
            parts: Vec::new(),
            bounds: MeshBounds::of(&[]),
            skin: None,
            morph: None,
        };
        Models {
            loaded: HashMap::new(),
            entries: Vec::new(),
            by_name: HashMap::new(),
            game_meshes: HashMap::new(),
            free: Vec::new(),
            queue: Vec::new(),
            empty_mesh: Arc::new(empty_mesh),
        }
    }
}

/// Points and triangles of a mesh, for systems other than rendering.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MeshTriangles {
    pub points: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Models {
    /// Returns a loaded model.
    pub fn get_loaded(&self, name: &str) -> Option<&Arc<Model>> {
        self.loaded.get(name)
    }

    /// Returns the sorted names of all loaded models.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.loaded.keys().cloned().collect();
        names.sort_compact();
        names
    }

    /// Adds a model, or replaces it after its file changed. Meshes with the same names keep their
    /// numbers. `materials` are the materials of the model's surfaces.
    pub fn insert_model(
        &mut self,
        name: &str,
        mut data: ModelData,
        materials: Vec<Handle>,
    ) -> Result<Arc<Model>, Error> {
        let mut meshes = Vec::new();
        for mesh in &mut data.meshes {
            let full = format!("{name}/{}", mesh.name);
            let of = |surface: &Option<u32>| surface.map(|surface| materials[surface as usize]);
            let surfaces: Vec<_> = mesh.surfaces.iter().map(of).collect();
            let names = mesh.surfaces.iter().map(|surface| match surface {
                Some(surface) => data.surfaces[*surface as usize].name.clone(),
                None => String::new(),
            });
            let names = names.collect();
            meshes.push(self.set_mesh(full, mesh, (surfaces, names))?);
        }
        let model = Arc::new(Model { name: name.to_string(), data, meshes, materials });
        self.loaded.insert(name.to_string(), model.clone());
        Ok(model)
    }

    fn set_mesh(
        &mut self,
        name: String,
        mesh: &mut MeshData,
        (materials, material_names): (Vec<Option<Handle>>, Vec<String>),
    ) -> Result<MeshNumber, Error> {
        let packet = Arc::new(mesh_frame(name.clone(), mesh)?);
        let number = match self.by_name.get(&name) {
            Some(number) => *number,
            None => {
                let number = self.take_number()?;
                self.by_name.insert(name.clone(), number);
                number
            }
        };
        self.fill(number, name, &packet, (materials, material_names));
        Ok(number)
    }

    fn take_number(&mut self) -> Result<MeshNumber, Error> {
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        if self.entries.len() >= MESHES_MAX {
            return Err(error!(
                "{MESHES_MAX} meshes already exist (MESHES_MAX): create fewer of your own, or \
                 larger ones"
            ));
        }
        let number = MeshNumber(self.entries.len() as u16);
        self.entries.push(MeshEntry {
            name: String::new(),
            slot: MeshSlot(number.0.into()),
            bounds: MeshBounds::of(&[]),
            materials: Vec::new(),
            material_names: Vec::new(),
            triangles: 0,
            vertices: 0,
            shape: self.empty_mesh.clone(),
        });
        Ok(number)
    }

    fn fill(
        &mut self,
        number: MeshNumber,
        name: String,
        mesh: &Arc<MeshFrame>,
        (materials, material_names): (Vec<Option<Handle>>, Vec<String>),
    ) {
        let slot = MeshSlot(number.0.into());
        self.entries[usize::from(number.0)] = MeshEntry {
            name,
            slot,
            bounds: mesh.bounds,
            materials,
            material_names,
            triangles: (mesh.indices.len() / 3) as u32,
            vertices: mesh.vertices.len() as u32,
            shape: mesh.clone(),
        };
        self.queue.push(MeshChange::Set { slot, mesh: mesh.clone() });
    }

    /// Creates a mesh that belongs to the game.
    pub fn add_game_mesh(&mut self, mesh: MeshFrame) -> Result<MeshNumber, Error> {
        let number = self.take_number()?;
        self.update_game_mesh(number, mesh);
        Ok(number)
    }

    /// Replaces the triangles of a mesh that belongs to the game.
    pub fn update_game_mesh(&mut self, number: MeshNumber, mesh: MeshFrame) {
        let mesh = Arc::new(mesh);
        let surface_count =
            mesh.parts.iter().map(|part| part.surface as usize + 1).max().unwrap_or(0);
        let mut materials = std::mem::take(&mut self.entries[usize::from(number.0)].materials);
        materials.resize(surface_count, None);
        let names = vec![String::new(); surface_count];
        self.fill(number, mesh.name.clone(), &mesh, (materials, names));
        self.game_meshes.insert(number, mesh);
    }

    /// Destroys a mesh that belongs to the game.
    pub fn remove_game_mesh(&mut self, number: MeshNumber) {
        if self.game_meshes.remove(&number).is_some() {
            self.entries[usize::from(number.0)].shape = self.empty_mesh.clone();
            self.queue.push(MeshChange::End { slot: MeshSlot(number.0.into()) });
            self.free.push(number);
        }
    }

    /// Returns the triangles of a mesh that belongs to the game.
    pub fn game_mesh(&self, number: MeshNumber) -> Option<&Arc<MeshFrame>> {
        self.game_meshes.get(&number)
    }

    /// Returns the registry entry of a mesh.
    #[inline(always)]
    pub fn entry(&self, number: MeshNumber) -> &MeshEntry {
        &self.entries[usize::from(number.0)]
    }

    /// Returns the mesh of a model by its name, such as `Lid`. Without a name, returns the model's
    /// only mesh.
    pub fn mesh_of(&self, model: &Model, mesh: Option<&str>) -> Result<MeshNumber, Error> {
        let names = || model.data.meshes.iter().map(|mesh| mesh.name.as_str());
        match mesh {
            Some(mesh) => match names().position(|known| known == mesh) {
                Some(at) => Ok(model.meshes[at]),
                None => {
                    // Accepts a node's name for its mesh, because most programs show nodes.
                    let node = model.data.nodes.iter().find(|node| node.name == mesh);
                    if let Some(at) = node.and_then(|node| node.mesh) {
                        return Ok(model.meshes[at as usize]);
                    }
                    let near = hint(mesh, names());
                    Err(error!("the model '{}' has no mesh '{mesh}'{near}", model.name))
                }
            },
            None => match model.meshes[..] {
                [only] => Ok(only),
                [] => Err(error!("the model '{}' has no meshes", model.name)),
                _ => {
                    let names: Vec<_> = names().take(8).collect();
                    Err(error!(
                        "the model '{}' has {} meshes: name one of them, as '{}/{}' (it has {})",
                        model.name,
                        model.meshes.len(),
                        model.name,
                        names[0],
                        names.join(", ")
                    ))
                }
            },
        }
    }

    /// Takes the changes for the renderer since the last call.
    pub fn flush(&mut self, out: &mut Vec<MeshChange>) {
        out.append(&mut self.queue);
    }

    /// Reads the points and triangles of a mesh from the model's data, in the model's space, for
    /// physics, navigation and picking. `name` is the name of a mesh or of a model. For a model,
    /// the result contains all meshes as its nodes place them.
    ///
    /// # Errors
    /// Returns an error if the model or mesh does not exist, or its data is damaged.
    pub fn shape(store: &mut ResourceStore, name: &str) -> Result<MeshTriangles, Error> {
        let (model, mesh) = Models::split(store, name)?;
        let data = Models::data(store, &model)?;
        let mut shape = MeshTriangles::default();
        match mesh {
            Some(wanted) => {
                let found = data.meshes.iter().find(|mesh| mesh.name == wanted).or_else(|| {
                    let node = data.nodes.iter().find(|node| node.name == wanted)?;
                    data.meshes.get(node.mesh? as usize)
                });
                let mesh = found.ok_or_else(|| {
                    let near = hint(&wanted, data.meshes.iter().map(|mesh| mesh.name.as_str()));
                    error!("the model '{model}' has no mesh '{wanted}'{near}")
                })?;
                shape.add(mesh, |point| point);
            }
            None => {
                for node in &data.nodes {
                    let Some(mesh) = node.mesh else { continue };
                    let matrix = data.world(node);
                    shape.add(&data.meshes[mesh as usize], |point| matrix.transform_point3(point));
                }
            }
        }
        Ok(shape)
    }

    /// Splits a mesh's name into the names of its model and of the mesh in the model.
    pub fn split(store: &ResourceStore, name: &str) -> Result<(String, Option<String>), Error> {
        let is_there = |model: &str| {
            primitives::NAMES.contains(&model)
                || store.has(&ResourceName::new(kind_names::MODEL, model))
        };
        if is_there(name) {
            return Ok((name.to_string(), None));
        }
        for (at, _) in name.rmatch_indices('/') {
            if is_there(&name[..at]) {
                return Ok((name[..at].to_string(), Some(name[at + 1..].to_string())));
            }
        }
        Err(error!("{}", store.missing_message(&ResourceName::new(kind_names::MODEL, name))))
    }

    /// Reads the data of a model, including its triangles.
    pub fn data(store: &mut ResourceStore, name: &str) -> Result<ModelData, Error> {
        let resource = ResourceName::new(kind_names::MODEL, name);
        store.record_request(&resource);
        if !store.has(&resource)
            && let Some(data) = primitives::model(name)
        {
            return Ok(data);
        }
        let bytes = store.read(&resource)?;
        store.evict(std::iter::once(resource.id()));
        contain(&resource, || {
            ModelData::read(&bytes).map_err(|fault| error!("model '{name}': {}", fault.message))
        })
    }
}

/// Converts a mesh for the renderer. Its vertices, indices, joints and morph targets are moved out;
/// the number of morph targets stays.
fn mesh_frame(name: String, mesh: &mut MeshData) -> Result<MeshFrame, Error> {
    let vertices = std::mem::take(&mut mesh.vertices);
    let indices = std::mem::take(&mut mesh.indices);
    let joints = std::mem::take(&mut mesh.joints);
    let weights = std::mem::take(&mut mesh.weights);
    let targets = std::mem::take(&mut mesh.targets);
    mesh.targets.resize(targets.len(), Vec::new());
    let skin = (!joints.is_empty()).then(|| MeshSkin::new(&vertices, &joints, &weights));
    let morph = match targets.is_empty() {
        true => None,
        false => Some(
            MeshMorph::new(&vertices, &indices, &targets)
                .map_err(|fault| error!("mesh '{name}': {}", fault.message))?,
        ),
    };
    Ok(MeshFrame {
        name,
        vertices,
        indices,
        parts: std::mem::take(&mut mesh.parts),
        bounds: mesh.bounds,
        skin: skin.map(Arc::new),
        morph: morph.map(Arc::new),
    })
}

impl MeshTriangles {
    fn add(&mut self, mesh: &MeshData, to_world: impl Fn(Vec3) -> Vec3) {
        let base = self.points.len() as u32;
        let points = mesh.vertices.iter().map(|vertex| to_world(Vec3::from_array(vertex.position)));
        self.points.extend(points);
        let triangles = mesh.indices.chunks_exact(3);
        self.triangles.extend(triangles.map(|three| [0, 1, 2].map(|corner| three[corner] + base)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_keeps_its_joints_and_morph_targets_for_the_renderer() {
        let mut data = primitives::model("core/models/cube").expect("the engine has it");
        let count = data.meshes[0].vertices.len();
        data.meshes[0].joints = vec![[1, 0, 0, 0]; count];
        data.meshes[0].weights = vec![[3.0, 1.0, 0.0, 0.0]; count];
        data.meshes[0].targets = vec![vec![[0.0, 0.0, 0.5]; count]; 2];
        let mut models = Models::default();
        let model = models.insert_model("box", data.clone(), Vec::new()).unwrap();
        let shape = &models.entry(model.meshes[0]).shape;
        let (skin, morph) = (shape.skin.as_ref().unwrap(), shape.morph.as_ref().unwrap());
        assert_eq!((skin.joint_count(), skin.weights[0]), (2, [49151, 16384, 0, 0]));
        assert_eq!(morph.reaches, [0.5, 0.5]);
        assert_eq!(model.data.meshes[0].targets, [Vec::<[f32; 3]>::new(), Vec::new()]);
        data.meshes[0].targets = vec![vec![[0.0; 3]; count]; 300];
        let message = models.insert_model("box", data, Vec::new()).unwrap_err().message;
        assert!(message.starts_with("mesh 'box/"), "{message}");
        assert!(message.contains("it has 300 morph targets, and 256 is the most"), "{message}");
    }
}
