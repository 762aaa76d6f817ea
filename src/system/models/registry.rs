//! The registry: names to models and meshes, meshes to slots; loading again, giving back.

use super::data::{MeshData, ModelData};
use super::shapes;
use super::{MESHES_MAX, MeshEntry, MeshNumber, Model};
use crate::error;
use crate::foundation::suggest::hint;
use crate::foundation::{Error, Handle, Vec3};
use crate::packet::mesh::{Bounds, Mesh, MeshChange, MeshSlot};
use crate::resource::containment::contain;
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use std::collections::HashMap;
use std::sync::Arc;

/// The models and meshes of a game.
pub struct Models {
    loaded: HashMap<String, Arc<Model>>,
    entries: Vec<MeshEntry>,
    by_name: HashMap<String, MeshNumber>,
    /// The triangles of meshes that the game made itself.
    own: HashMap<MeshNumber, Arc<Mesh>>,
    /// Numbers of meshes of the game's that have ended.
    free: Vec<MeshNumber>,
    queue: Vec<MeshChange>,
    /// What a number has before it has a mesh, and after it.
    nothing: Arc<Mesh>,
}

impl Default for Models {
    fn default() -> Models {
        let nothing = Mesh {
            name: String::new(),
            vertices: Vec::new(),
            indices: Vec::new(),
            parts: Vec::new(),
            bounds: Bounds::of(&[]),
        };
        Models {
            loaded: HashMap::new(),
            entries: Vec::new(),
            by_name: HashMap::new(),
            own: HashMap::new(),
            free: Vec::new(),
            queue: Vec::new(),
            nothing: Arc::new(nothing),
        }
    }
}

/// Corners and triangles of a mesh, for whoever needs its shape.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shape {
    pub points: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Models {
    /// A model that was loaded.
    pub fn known(&self, name: &str) -> Option<&Arc<Model>> {
        self.loaded.get(name)
    }

    /// The names of all models that were loaded, in order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.loaded.keys().cloned().collect();
        names.sort();
        names
    }

    /// Takes a model in, or what a file that changed is now: meshes of the same names keep their
    /// numbers. `materials` are those of its surfaces.
    pub fn put(
        &mut self,
        name: &str,
        mut data: ModelData,
        materials: Vec<Handle>,
    ) -> Result<Arc<Model>, Error> {
        let mut meshes = Vec::new();
        for mesh in &mut data.meshes {
            let full = format!("{name}/{}", mesh.name);
            let of = |place: &Option<u32>| place.map(|place| materials[place as usize]);
            let surfaces: Vec<_> = mesh.surfaces.iter().map(of).collect();
            let names = mesh.surfaces.iter().map(|place| match place {
                Some(place) => data.surfaces[*place as usize].name.clone(),
                None => String::new(),
            });
            let names = names.collect();
            meshes.push(self.put_mesh(full, mesh, (surfaces, names))?);
        }
        let model = Arc::new(Model { name: name.to_string(), data, meshes, materials });
        self.loaded.insert(name.to_string(), model.clone());
        Ok(model)
    }

    fn put_mesh(
        &mut self,
        name: String,
        mesh: &mut MeshData,
        (materials, material_names): (Vec<Option<Handle>>, Vec<String>),
    ) -> Result<MeshNumber, Error> {
        let packet = Arc::new(Mesh {
            name: name.clone(),
            vertices: std::mem::take(&mut mesh.vertices),
            indices: std::mem::take(&mut mesh.indices),
            parts: std::mem::take(&mut mesh.parts),
            bounds: mesh.bounds,
        });
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
                "{MESHES_MAX} meshes are there already (MESHES_MAX): make fewer of your own, or \
                 larger ones"
            ));
        }
        let number = MeshNumber(self.entries.len() as u16);
        self.entries.push(MeshEntry {
            name: String::new(),
            slot: MeshSlot(number.0.into()),
            bounds: Bounds::of(&[]),
            materials: Vec::new(),
            material_names: Vec::new(),
            triangles: 0,
            vertices: 0,
            shape: self.nothing.clone(),
        });
        Ok(number)
    }

    fn fill(
        &mut self,
        number: MeshNumber,
        name: String,
        mesh: &Arc<Mesh>,
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
        self.queue.push(MeshChange::Put { slot, mesh: mesh.clone() });
    }

    /// Makes a mesh of the game's own.
    pub fn add_own(&mut self, mesh: Mesh) -> Result<MeshNumber, Error> {
        let number = self.take_number()?;
        self.set_own(number, mesh);
        Ok(number)
    }

    /// Gives a mesh of the game's own other triangles.
    pub fn set_own(&mut self, number: MeshNumber, mesh: Mesh) {
        let mesh = Arc::new(mesh);
        let places = mesh.parts.iter().map(|part| part.place as usize + 1).max().unwrap_or(0);
        let mut materials = std::mem::take(&mut self.entries[usize::from(number.0)].materials);
        materials.resize(places, None);
        let names = vec![String::new(); places];
        self.fill(number, mesh.name.clone(), &mesh, (materials, names));
        self.own.insert(number, mesh);
    }

    /// Ends a mesh of the game's own.
    pub fn end_own(&mut self, number: MeshNumber) {
        if self.own.remove(&number).is_some() {
            self.entries[usize::from(number.0)].shape = self.nothing.clone();
            self.queue.push(MeshChange::End { slot: MeshSlot(number.0.into()) });
            self.free.push(number);
        }
    }

    /// The triangles of a mesh of the game's own.
    pub fn own(&self, number: MeshNumber) -> Option<&Arc<Mesh>> {
        self.own.get(&number)
    }

    /// What is known of a mesh.
    #[inline(always)]
    pub fn entry(&self, number: MeshNumber) -> &MeshEntry {
        &self.entries[usize::from(number.0)]
    }

    /// The mesh of a model that a name means: `Lid`; without one, its only mesh.
    pub fn mesh_of(&self, model: &Model, mesh: Option<&str>) -> Result<MeshNumber, Error> {
        let names = || model.data.meshes.iter().map(|mesh| mesh.name.as_str());
        match mesh {
            Some(mesh) => match names().position(|known| known == mesh) {
                Some(at) => Ok(model.meshes[at]),
                None => {
                    // A node stands for its mesh: that is how most programs show it.
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

    /// Takes what is to be done by the renderer since the last call.
    pub fn flush(&mut self, out: &mut Vec<MeshChange>) {
        out.append(&mut self.queue);
    }

    /// Corners and triangles of a mesh of a model, in the model's space, read anew: for physics,
    /// navigation, picking. The name is that of a mesh, or of a model with one mesh; of a model
    /// with more, all of them as its nodes place them.
    ///
    /// # Errors
    /// There is no such model or mesh, or its data is damaged.
    pub fn shape(store: &mut Store, name: &str) -> Result<Shape, Error> {
        let (model, mesh) = Models::split(store, name)?;
        let data = Models::data(store, &model)?;
        let mut shape = Shape::default();
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

    /// The model and the mesh that a mesh's name means.
    pub fn split(store: &Store, name: &str) -> Result<(String, Option<String>), Error> {
        let is_there = |model: &str| {
            shapes::NAMES.contains(&model) || store.has(&ResourceName::new("model", model))
        };
        if is_there(name) {
            return Ok((name.to_string(), None));
        }
        for (at, _) in name.rmatch_indices('/') {
            if is_there(&name[..at]) {
                return Ok((name[..at].to_string(), Some(name[at + 1..].to_string())));
            }
        }
        Err(error!("{}", store.missing_words(&ResourceName::new("model", name))))
    }

    /// The data of a model, with its triangles.
    pub fn data(store: &mut Store, name: &str) -> Result<ModelData, Error> {
        let resource = ResourceName::new("model", name);
        if !store.has(&resource)
            && let Some(data) = shapes::model(name)
        {
            return Ok(data);
        }
        let bytes = store.read(&resource)?;
        store.forget(std::iter::once(resource.id()));
        contain(&resource, || {
            ModelData::read(&bytes).map_err(|fault| error!("model '{name}': {}", fault.message))
        })
    }
}

impl Shape {
    fn add(&mut self, mesh: &MeshData, place: impl Fn(Vec3) -> Vec3) {
        let base = self.points.len() as u32;
        let points = mesh.vertices.iter().map(|vertex| place(Vec3::from_array(vertex.position)));
        self.points.extend(points);
        let triangles = mesh.indices.chunks_exact(3);
        self.triangles.extend(triangles.map(|three| [0, 1, 2].map(|corner| three[corner] + base)));
    }
}
