//! The uniforms of batches of particles. Draws nothing.

use bytemuck::{Pod, Zeroable};
use engine_frame_packet::material::BlendMode;
use engine_frame_packet::scene::ParticleBatch;
use engine_frame_packet::texture::TextureSlot;

/// The uniform `batch` of particles.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct BatchUniform {
    softness: f32,
    /// 1 for the engine's built-in round spot.
    spot: f32,
    lit: f32,
    /// Added (1), multiplied (2), or blended by alpha.
    blending: f32,
    distortion: f32,
    reads_depth: f32,
    spare: [f32; 2],
}

impl BatchUniform {
    /// `depth_reads`: the adapter can read the depth that it is tested against.
    pub fn new(batch: &ParticleBatch, depth_reads: bool) -> BatchUniform {
        BatchUniform {
            softness: if depth_reads { batch.softness } else { 0.0 },
            spot: f32::from(u8::from(batch.texture == TextureSlot::SHARED)),
            lit: batch.lit,
            blending: match batch.blend {
                BlendMode::Add => 1.0,
                BlendMode::Multiply => 2.0,
                BlendMode::Alpha | BlendMode::Replace | BlendMode::Premultiplied => 0.0,
            },
            distortion: batch.distortion,
            reads_depth: f32::from(u8::from(depth_reads)),
            spare: [0.0; 2],
        }
    }
}
