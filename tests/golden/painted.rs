//! The golden picture of what materials of games paint in a world: every blend, a mask with its
//! shadow, the engine's own paint, in fog and before a lit box.

use super::lit::{Stage, sun, view};
use super::meshes::{CUBE, plane};
use super::scenes::{SMOOTH, chessboard};
use super::worlds::{WAVES, shader, variables};
use engine::foundation::{Mat4, Vec3};
use engine::packet::Packet;
use engine::packet::material::{Blend, Material, MaterialChange, MaterialSlot, Shader};
use engine::packet::mesh::{Alpha, MeshChange, MeshSlot, Surface};
use engine::packet::scene::Sky;
use engine::packet::texture::{Sampling, TextureChange, TextureSlot, Wrap};
use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

/// A square with a texture over it once.
const SQUARE: MeshSlot = MeshSlot(9);

/// A disc that a shader cuts out of what is painted, darker towards its edge.
const DISC: &str = "
fn paint(in: Paint) -> vec4f {
    let far = length(in.uv - 0.5) * 2.0;
    return in.base * (1.0 - 0.5 * far) * step(far, 0.9);
}
";

fn material(slot: u32, shader: Option<&Arc<Shader>>, blend: Blend) -> MaterialChange {
    let repeat = Sampling { nearest: true, wrap: Wrap::Repeat };
    let textures = shader.map_or(0, |shader| shader.textures) as usize;
    let material = Material {
        name: "paint".to_string(),
        shader: shader.cloned(),
        blend,
        textures: vec![(TextureSlot(1), repeat); textures],
        variables: variables([1.0, 0.8, 0.5, 1.0], 1.0),
    };
    MaterialChange::Put { slot: MaterialSlot(slot), material: Arc::new(material) }
}

pub fn pictures() -> Packet {
    let mut stage = Stage::new();
    stage.packet.seconds = 1.0;
    stage.packet.meshes.push(MeshChange::Put { slot: SQUARE, mesh: Arc::new(plane(1.0)) });
    let texels = chessboard(16, 1, SMOOTH);
    stage.packet.textures = vec![TextureChange::Put { slot: TextureSlot(1), texels }];
    let (waves, disc) = (shader("waves", WAVES, 1, 32), shader("disc", DISC, 0, 0));
    stage.packet.materials = vec![
        material(8, None, Blend::Alpha),
        material(9, Some(&waves), Blend::Alpha),
        material(10, None, Blend::Add),
        material(11, None, Blend::Multiply),
        material(12, Some(&disc), Blend::Alpha),
    ];
    stage.sky(Sky { fog_density: 0.02, fog_color: [0.5, 0.55, 0.6], ..Sky::DEFAULT });
    stage.ground();
    stage.light(sun(Vec3::new(0.4, 0.5, -0.8), 1.25));
    let red = stage.matte([0.7, 0.2, 0.15]);
    stage.at(CUBE, red, Vec3::new(0.0, 1.5, 0.4), Vec3::new(2.6, 0.3, 0.4));
    for (at, slot) in [8, 9, 10, 11, 12, 12].into_iter().enumerate() {
        let painted = stage.surface(Surface {
            base_color_texture: Some((TextureSlot(1), SMOOTH)),
            alpha: if at == 4 { Alpha::Mask(0.5) } else { Alpha::Blend },
            double_sided: true,
            painter: Some(MaterialSlot(slot)),
            ..Surface::DEFAULT
        });
        let x = (at as f32 - 2.5) * 0.95;
        let upright = Mat4::from_translation(Vec3::new(x, 0.0, 0.55))
            * Mat4::from_rotation_x(FRAC_PI_2)
            * Mat4::from_scale(Vec3::new(0.42, 0.5, 1.0));
        stage.put(SQUARE, painted, upright);
    }
    stage.done(vec![view(Vec3::new(0.2, -4.8, 1.7), Vec3::new(0.0, 0.2, 0.5))])
}
