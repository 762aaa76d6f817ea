//! Models of a running game: what was read of glTF files and the engine's own shapes, and the
//! meshes in them and of the game's own making. What the renderer has to do about meshes is queued
//! as `MeshChange` and taken by `flush`. Knows no scripts, no units and no graphics interface;
//! textures and materials are put together with it above (src/engine/models.rs).
//!
//! A mesh has a name: `models/barrel/Lid` is the mesh `Lid` of the model `models/barrel`, and
//! `models/barrel` its only one.

mod check;
pub mod data;
pub mod geometry;
mod gltf;
mod names;
pub mod ray;
mod registry;
pub mod shapes;

use crate::foundation::Handle;
use crate::packet::mesh::{Bounds, Mesh, MeshSlot};
use data::ModelData;
use std::sync::Arc;

pub use self::gltf::import;
pub use registry::{Models, Shape};

/// The most meshes, of models and of the game's own, that can be there at once.
pub const MESHES_MAX: usize = 1 << 16;

/// A mesh's place in the table of [`Models`], below [`MESHES_MAX`]. It stays the same when its
/// model is loaded again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MeshNumber(pub u16);

const _: () = assert!(MESHES_MAX <= 1 << u16::BITS);

/// What a picture is for: how its texels are made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Use {
    /// Colours; where they are opaque, their alpha means nothing.
    Color { opaque: bool },
    /// Numbers.
    Data,
}

/// A picture as a model brings it.
#[derive(Clone, Debug)]
pub struct Picture {
    pub bytes: Vec<u8>,
    /// What the name of such a file ends with: `png`.
    pub ending: String,
    pub usage: Use,
}

/// A loaded model.
#[derive(Debug)]
pub struct Model {
    pub name: String,
    /// Without its triangles, which are in the entries of its meshes.
    pub data: ModelData,
    /// By the data's meshes.
    pub meshes: Vec<MeshNumber>,
    /// By the data's surfaces: handles of materials.
    pub materials: Vec<Handle>,
}

/// What is known of a mesh.
#[derive(Clone, Debug)]
pub struct MeshEntry {
    pub name: String,
    pub slot: MeshSlot,
    pub bounds: Bounds,
    /// The materials of its places, and what the file calls them.
    pub materials: Vec<Option<Handle>>,
    pub material_names: Vec<String>,
    pub triangles: u32,
    pub vertices: u32,
    /// Its triangles, the same that the renderer has.
    pub shape: Arc<Mesh>,
}
