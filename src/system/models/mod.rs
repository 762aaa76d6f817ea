//! Models of a running game: loaded glTF files, the engine's built-in shapes, and the meshes that
//! belong to models or are created by the game. Changes for the renderer are queued as `MeshChange`
//! and taken by `flush`. Knows no scripts, no units and no graphics API; src/engine/models.rs
//! connects models with textures and materials.
//!
//! A mesh has a name: `models/barrel/Lid` is the mesh `Lid` of the model `models/barrel`. If a
//! model has one mesh, the model's name `models/barrel` means that mesh.

pub mod data;
pub mod geometry;
mod gltf;
pub mod primitives;
pub mod raycast;
mod registry;
pub mod sprite_skeleton;
mod unique_names;
mod validate;

use data::ModelData;
use engine_foundation::Handle;
use engine_frame_packet::mesh::{MeshBounds, MeshFrame, MeshSlot};
use std::sync::Arc;

pub use self::gltf::{import, import_animations};
pub use registry::{MeshTriangles, Models};

/// Maximum number of meshes that exist at once, of models and of the game.
pub const MESHES_MAX: usize = 1 << 16;

/// Index of a mesh in the table of [`Models`], below [`MESHES_MAX`]. The index stays the same when
/// the model is reloaded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MeshNumber(pub u16);

const _: () = assert!(MESHES_MAX <= 1 << u16::BITS);

/// Purpose of an image, which selects how its texture is built.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageUse {
    /// Colors. If they are opaque, their alpha is ignored.
    Color { opaque: bool },
    /// Data that is not color, such as normals.
    Data,
}

/// Encoded image that a model contains.
#[derive(Clone, Debug)]
pub struct ModelImage {
    pub bytes: Vec<u8>,
    /// File extension of the image format: `png`.
    pub ending: String,
    pub usage: ImageUse,
}

/// Loaded model.
#[derive(Debug)]
pub struct Model {
    pub name: String,
    /// Data without triangles, joints, weights and the offsets of morph targets: those are in the
    /// entries of the model's meshes.
    pub data: ModelData,
    /// Mesh numbers, indexed like the data's meshes.
    pub meshes: Vec<MeshNumber>,
    /// Material handles, indexed like the data's surfaces.
    pub materials: Vec<Handle>,
}

/// Registry entry of a mesh.
#[derive(Clone, Debug)]
pub struct MeshEntry {
    pub name: String,
    pub slot: MeshSlot,
    pub bounds: MeshBounds,
    /// Materials of the mesh's material slots, and their names in the file.
    pub materials: Vec<Option<Handle>>,
    pub material_names: Vec<String>,
    pub triangles: u32,
    pub vertices: u32,
    /// Triangles, joints and morph targets of the mesh, shared with the renderer.
    pub shape: Arc<MeshFrame>,
}
