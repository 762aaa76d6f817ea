//! Materials in a packet: the drawing parameters of a batch besides its texture. Knows no files.

use super::texture::{SamplerSettings, TextureSlot};
use engine_resource::material_data::{BLENDS, SurfaceFunctions};
use std::sync::Arc;

/// A material's slot in the renderer's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MaterialSlot(pub u32);

impl MaterialSlot {
    /// The engine's default material, which supports every paint.
    pub const BUILT_IN: MaterialSlot = MaterialSlot(0);
    /// The engine's material for additive blending.
    pub const BUILT_IN_ADD: MaterialSlot = MaterialSlot(1);
    /// The engine's material for multiplicative blending, which darkens the background.
    pub const BUILT_IN_MULTIPLY: MaterialSlot = MaterialSlot(2);
    /// The first slot for games' own materials.
    pub const FIRST_FREE: u32 = 8;
}

/// The blend mode of colors with the background. Colors have premultiplied alpha.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlendMode {
    /// Blends over the background by alpha.
    Alpha,
    /// Adds to the background.
    Add,
    /// Multiplies with the background.
    Multiply,
    /// Replaces the background.
    Replace,
    /// As `Alpha`, but drawn colors are premultiplied already: one with an alpha of 0 adds to the
    /// background.
    Premultiplied,
}

impl BlendMode {
    /// All blend modes, in the order of their names in [`BLENDS`].
    pub const ALL: [BlendMode; BLENDS.len()] = [
        BlendMode::Alpha,
        BlendMode::Add,
        BlendMode::Multiply,
        BlendMode::Replace,
        BlendMode::Premultiplied,
    ];
}

/// A change to the renderer's table of materials. Changes are applied in order.
#[derive(Clone, Debug)]
pub enum MaterialChange {
    /// Creates or replaces a material.
    Set { slot: MaterialSlot, material: Arc<MaterialFrame> },
    /// Replaces the bytes of a material's uniform block.
    Variables { slot: MaterialSlot, bytes: Vec<u8> },
    /// Replaces the texture at one of a material's texture indices.
    Texture { slot: MaterialSlot, index: u32, texture: TextureSlot },
    /// Removes a material.
    End { slot: MaterialSlot },
}

/// A material as data.
#[derive(Clone, Debug)]
pub struct MaterialFrame {
    /// Name of the resource, for messages.
    pub name: String,
    /// The shader of the material: its name and its own WGSL, which declares `fn paint(…)`. The
    /// renderer combines it with the engine's part (src/system/render).
    pub shader: Option<Arc<ShaderFrame>>,
    pub blend: BlendMode,
    /// Textures with their sampler settings, in the order of the shader's texture indices. Without
    /// a shader, the first is used for batches that have no texture of their own.
    pub textures: Vec<(TextureSlot, SamplerSettings)>,
    /// The shader's uniform block, in WGSL's uniform layout.
    pub variables: Vec<u8>,
}

/// A shader as data: WGSL that passed every check of the data compiler.
#[derive(Clone, Debug)]
pub struct ShaderFrame {
    pub name: String,
    /// The complete WGSL module, including the engine's part; for a shader of meshes the game's
    /// part alone.
    pub source: String,
    /// Functions of a shader for meshes; `None` for a shader for pictures.
    pub surface: Option<SurfaceFunctions>,
    /// Number of textures that the shader declares; `variables` is the number of bytes of its
    /// uniform block.
    pub textures: u32,
    pub variables: u32,
}
