//! Materials in a packet: how a batch is drawn beyond its texture. Knows no files.

use super::texture::{Sampling, TextureSlot};
use std::sync::Arc;

/// A material's place in the renderer's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MaterialSlot(pub u32);

impl MaterialSlot {
    /// The engine's own, which every paint works with.
    pub const BUILT_IN: MaterialSlot = MaterialSlot(0);
    /// The engine's own, with light added to what is behind.
    pub const BUILT_IN_ADD: MaterialSlot = MaterialSlot(1);
    /// The engine's own, darkening what is behind.
    pub const BUILT_IN_MULTIPLY: MaterialSlot = MaterialSlot(2);
    /// The first that games' own materials are given.
    pub const FIRST_FREE: u32 = 8;
}

/// How colours meet what is behind them. Colours have their alpha multiplied in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Blend {
    /// Over what is behind.
    Alpha,
    /// Added.
    Add,
    /// What is behind, times the colour.
    Multiply,
    /// Instead of what is behind.
    Replace,
}

/// One thing to do, in order.
#[derive(Clone, Debug)]
pub enum MaterialChange {
    /// Makes or replaces a material.
    Put { slot: MaterialSlot, material: Arc<Material> },
    /// New bytes of a material's block of variables.
    Variables { slot: MaterialSlot, bytes: Vec<u8> },
    /// Another texture in one of a material's places.
    Texture { slot: MaterialSlot, place: u32, texture: TextureSlot },
    /// Ends a material.
    End { slot: MaterialSlot },
}

/// A material as data.
#[derive(Clone, Debug)]
pub struct Material {
    /// The resource's name, for messages.
    pub name: String,
    /// The name of its shader and that shader's own WGSL, which declares `fn paint(…)`; how it is
    /// put together with the engine's part is the renderer's affair (src/system/render).
    pub shader: Option<Arc<Shader>>,
    pub blend: Blend,
    /// Its textures, in the order of the shader's places, each with how it is sampled. Without a
    /// shader, the first stands for the texture of batches that have none of their own.
    pub textures: Vec<(TextureSlot, Sampling)>,
    /// The shader's block of variables, laid out as WGSL lays out a uniform.
    pub variables: Vec<u8>,
}

/// A shader as data: WGSL that passed every check of the data compiler.
#[derive(Clone, Debug)]
pub struct Shader {
    pub name: String,
    /// The whole module, the engine's part included.
    pub source: String,
    /// How many textures and how many bytes of variables it declares.
    pub textures: u32,
    pub variables: u32,
}
