//! Golden image of game materials in a world: every blend mode, a mask with its shadow, the
//! engine's own `paint`, in fog and in front of a lit box.

use super::forward::{SceneBuilder, sun, view};
use super::meshes::{CUBE, plane};
use super::scenes::{SMOOTH, chessboard};
use super::worlds::{WAVES, shader, variables};
use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::FramePacket;
use engine::frame_packet::material::{
    BlendMode, MaterialChange, MaterialFrame, MaterialSlot, ShaderFrame,
};
use engine::frame_packet::mesh::{MeshChange, MeshSlot, SurfaceAlphaMode, SurfaceFrame};
use engine::frame_packet::scene::SkyFrame;
use engine::frame_packet::texture::{SamplerSettings, TextureChange, TextureSlot, WrapMode};
use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

/// A square that its texture covers once.
const SQUARE: MeshSlot = MeshSlot(9);

/// A shader that cuts a disc out of the surface, darker towards its edge.
pub const DISC: &str = "
fn paint(in: Paint) -> vec4f {
    let far = length(in.uv - 0.5) * 2.0;
    return in.base * (1.0 - 0.5 * far) * step(far, 0.9);
}
";

pub fn material(slot: u32, shader: Option<&Arc<ShaderFrame>>, blend: BlendMode) -> MaterialChange {
    let repeat = SamplerSettings { nearest: true, wrap: WrapMode::Repeat };
    let textures = shader.map_or(0, |shader| shader.textures) as usize;
    let material = MaterialFrame {
        name: "paint".to_string(),
        shader: shader.cloned(),
        blend,
        textures: vec![(TextureSlot(1), repeat); textures],
        variables: variables([1.0, 0.8, 0.5, 1.0], 1.0),
    };
    MaterialChange::Set { slot: MaterialSlot(slot), material: Arc::new(material) }
}

pub fn custom_shaders() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.packet.seconds = 1.0;
    builder.packet.meshes.push(MeshChange::Set { slot: SQUARE, mesh: Arc::new(plane(1.0)) });
    let texels = chessboard(16, 1, SMOOTH);
    builder.packet.textures = vec![TextureChange::Set { slot: TextureSlot(1), texels }];
    let (waves, disc) = (shader("waves", WAVES, 1, 32), shader("disc", DISC, 0, 0));
    builder.packet.materials = vec![
        material(8, None, BlendMode::Alpha),
        material(9, Some(&waves), BlendMode::Alpha),
        material(10, None, BlendMode::Add),
        material(11, None, BlendMode::Multiply),
        material(12, Some(&disc), BlendMode::Alpha),
    ];
    builder.sky(SkyFrame { fog_density: 0.02, fog_color: [0.5, 0.55, 0.6], ..SkyFrame::DEFAULT });
    builder.ground();
    builder.light(sun(Vec3::new(0.4, 0.5, -0.8), 1.25));
    let red = builder.matte([0.7, 0.2, 0.15]);
    builder.add_at(CUBE, red, Vec3::new(0.0, 1.5, 0.4), Vec3::new(2.6, 0.3, 0.4));
    for (at, slot) in [8, 9, 10, 11, 12, 12].into_iter().enumerate() {
        let painted = builder.surface(SurfaceFrame {
            base_color_texture: Some((TextureSlot(1), SMOOTH)),
            alpha: if at == 4 { SurfaceAlphaMode::Mask(0.5) } else { SurfaceAlphaMode::Blend },
            double_sided: true,
            custom_material: Some(MaterialSlot(slot)),
            ..SurfaceFrame::DEFAULT
        });
        let x = (at as f32 - 2.5) * 0.95;
        let upright = Mat4::from_translation(Vec3::new(x, 0.0, 0.55))
            * Mat4::from_rotation_x(FRAC_PI_2)
            * Mat4::from_scale(Vec3::new(0.42, 0.5, 1.0));
        builder.add_draw(SQUARE, painted, upright);
    }
    builder.build(vec![view(Vec3::new(0.2, -4.8, 1.7), Vec3::new(0.0, 0.2, 0.5))])
}
