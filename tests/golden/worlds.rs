//! Scenes of several views: worlds, render targets, retained Guis, game shaders.

use super::scenes::{KEY, SMOOTH, Shape, chessboard, packet, quad, solid, view};
use engine::foundation::{Mat4, Vec3, Vec4};
use engine::frame_packet::gui::{
    GuiBatchKey, GuiFrame, GuiSpace, ObjectChange, QuadBatch, QuadInstance, paint,
};
use engine::frame_packet::material::{
    BlendMode, MaterialChange, MaterialFrame, MaterialSlot, ShaderFrame,
};
use engine::frame_packet::texture::{SamplerSettings, TextureChange, TextureSlot, WrapMode};
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

/// Returns a camera two metres above the ground that looks along y, slightly down.
fn camera(aspect: f32) -> CameraFrame {
    let position = Vec3::new(0.0, -4.0, 2.0);
    // The camera looks at a point half a metre above the origin; its own axes are right, up and
    // back.
    let back = (position - Vec3::new(0.0, 0.0, 0.5)).normalize();
    let up = back.cross(Vec3::X);
    let axes = Mat4::from_cols(Vec3::X.extend(0.0), up.extend(0.0), back.extend(0.0), Vec4::W);
    let look = (Mat4::from_translation(position) * axes).inverse();
    let (near, far, steep) = (0.1, 100.0, 1.0 / 0.5f32.tan());
    let projection = Mat4::from_cols(
        Vec4::new(steep / aspect, 0.0, 0.0, 0.0),
        Vec4::new(0.0, steep, 0.0, 0.0),
        Vec4::new(0.0, 0.0, far / (near - far), -1.0),
        Vec4::new(0.0, 0.0, near * far / (near - far), 0.0),
    );
    CameraFrame { view: look, projection, position, near, far }
}

/// Returns a world's Gui seen by two cameras next to each other, with a Gui of the screen over
/// both.
pub fn worlds() -> FramePacket {
    // The ground, with corners in metres, and a sign that stands upright on it.
    let ground = QuadInstance {
        corners: [-2.0, -1.5, 2.0, -1.5, 2.0, 1.5, -2.0, 1.5],
        color: [90, 120, 90, 255],
        paint: QuadInstance::paint(paint::SOLID, 0, 0),
        ..QuadInstance::default()
    };
    let mut sign = Shape {
        half: [0.8, 0.4],
        radius: 0.2,
        outline: 0.05,
        color: [255, 200, 90, 255],
        ..Shape::BOX
    }
    .instance();
    sign.corners = [-0.9, -0.5, 0.9, -0.5, 0.9, 0.5, -0.9, 0.5];
    sign.extra = [0.1, 0.0];
    sign.paint = QuadInstance::paint(paint::BOX, 0, 2);
    let upright =
        Mat4::from_translation(Vec3::new(0.3, 0.5, 0.8)) * Mat4::from_rotation_x(FRAC_PI_2);
    let world = GuiFrame {
        gui: 2,
        space: GuiSpace::World,
        pose: Mat4::from_rotation_z(0.2),
        transforms: vec![Mat4::IDENTITY, upright],
        batches: vec![QuadBatch { key: KEY, instances: vec![ground, sign] }],
        ..GuiFrame::default()
    };
    let mut packet = packet(vec![QuadBatch {
        key: KEY,
        instances: vec![solid(150.0, 10.0, [20.0, 160.0], [255, 255, 255, 60])],
    }]);
    packet.guis.push(world);
    let left = View {
        rectangle: [0.0, 0.0, 0.5, 1.0],
        clear: Some([0.5, 0.7, 0.9, 1.0]),
        camera: camera(160.0 / 180.0),
        ..view(&[2])
    };
    let right = View {
        rectangle: [0.55, 0.1, 0.4, 0.8],
        clear: Some([0.2, 0.1, 0.3, 1.0]),
        camera: camera(128.0 / 144.0),
        ..view(&[2, 1])
    };
    packet.views = vec![left, right];
    packet
}

/// Returns a Gui rendered into a texture, which is drawn twice. Its background is half transparent.
pub fn render_target() -> FramePacket {
    let target = TextureSlot(5);
    let inner = GuiFrame {
        gui: 2,
        batches: vec![QuadBatch {
            key: KEY,
            instances: vec![
                Shape { at: [32.0, 32.0], half: [20.0, 20.0], radius: 8.0, ..Shape::BOX }
                    .instance(),
                solid(0.0, 0.0, [16.0, 8.0], [255, 60, 60, 255]),
            ],
        }],
        ..GuiFrame::default()
    };
    let key = GuiBatchKey { texture: target, ..KEY };
    let texture = QuadInstance::paint(paint::TEXTURE, 0, 0);
    let mut packet = packet(vec![
        QuadBatch {
            key: KEY,
            instances: vec![solid(0.0, 80.0, [320.0, 20.0], [255, 200, 0, 255])],
        },
        QuadBatch {
            key,
            instances: vec![
                quad(20.0, 20.0, [128.0, 128.0], texture),
                quad(180.0, 60.0, [64.0, 64.0], texture),
            ],
        },
    ]);
    packet.textures =
        vec![TextureChange::Target { slot: target, width: 64, height: 64, sampling: SMOOTH }];
    packet.guis.push(inner);
    packet.views.insert(
        0,
        View {
            target: ViewTarget::Texture(target),
            clear: Some([0.2, 0.4, 1.0, 0.5]),
            ..view(&[2])
        },
    );
    packet
}

fn put_object(
    object: u64,
    key: GuiBatchKey,
    instance: QuadInstance,
) -> (ObjectChange, QuadInstance) {
    (ObjectChange::Set { object, key, source: 0, first: 0, count: 1 }, instance)
}

fn retained(changes: Vec<(ObjectChange, QuadInstance)>) -> FramePacket {
    let mut frame = GuiFrame { gui: 1, ..GuiFrame::default() };
    for (mut change, instance) in changes {
        if let ObjectChange::Set { first, .. } = &mut change {
            *first = frame.instances.len() as u32;
            frame.instances.push(instance);
        }
        frame.changes.push(change);
    }
    let mut packet = packet(Vec::new());
    packet.guis = vec![frame];
    packet
}

/// Returns five frames of retained objects: created, moved, moved to another layer, ended,
/// unchanged.
pub fn retained_frames() -> Vec<FramePacket> {
    let square =
        |i: u64, y: f32, color: [u8; 4]| solid(20.0 + 50.0 * i as f32, y, [60.0, 60.0], color);
    let colors = [[255, 90, 90, 255], [90, 255, 90, 255], [90, 90, 255, 255], [255, 255, 0, 255]];
    let first =
        (0..4u64).map(|i| put_object(i, KEY, square(i, 60.0, colors[i as usize]))).collect();
    let upper = GuiBatchKey { layer: 1, ..KEY };
    let none = QuadInstance::default();
    vec![
        retained(first),
        retained(vec![put_object(1, KEY, square(1, 80.0, colors[1]))]),
        retained(vec![put_object(0, upper, square(0, 40.0, colors[0]))]),
        retained(vec![(ObjectChange::End { object: 3 }, none)]),
        retained(Vec::new()),
    ]
}

const PRELUDE: &str = include_str!("../../src/system/render/gui.wgsl");

/// Returns a shader as the data compiler would output it.
pub fn shader(name: &str, own: &str, textures: u32, variables: u32) -> Arc<ShaderFrame> {
    let source = [PRELUDE, own].join("\n");
    Arc::new(ShaderFrame { name: name.to_string(), source, surface: None, textures, variables })
}

pub fn material(shader: &Arc<ShaderFrame>, variables: Vec<u8>) -> MaterialChange {
    let repeat = SamplerSettings { nearest: true, wrap: WrapMode::Repeat };
    let textures = vec![(TextureSlot(1), repeat); shader.textures as usize];
    let material = MaterialFrame {
        name: "waves".to_string(),
        shader: Some(Arc::clone(shader)),
        blend: BlendMode::Alpha,
        textures,
        variables,
    };
    let slot = MaterialSlot(MaterialSlot::FIRST_FREE);
    MaterialChange::Set { slot, material: Arc::new(material) }
}

pub const WAVES: &str = "
struct Variables { tint: vec4f, repeat: f32 }
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var board: texture_2d<f32>;
@group(2) @binding(2) var board_sampler: sampler;

fn paint(in: Paint) -> vec4f {
    let at = in.uv * variables.repeat + vec2f(0.05 * sin(20.0 * in.uv.y + frame.seconds), 0.0);
    return in.base * variables.tint * textureSample(board, board_sampler, at);
}
";

/// Returns the bytes of the variables in WGSL's memory layout.
pub fn variables(tint: [f32; 4], repeat: f32) -> Vec<u8> {
    let all = [tint[0], tint[1], tint[2], tint[3], repeat, 0.0, 0.0, 0.0];
    all.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Returns a game's shader on a box with round corners. It samples its own texture instead of the
/// atlas.
pub fn custom_shader() -> FramePacket {
    let key = GuiBatchKey { material: MaterialSlot(MaterialSlot::FIRST_FREE), ..KEY };
    let shape = |x: f32, color| {
        Shape { at: [x, 90.0], half: [60.0, 60.0], radius: 20.0, color, ..Shape::BOX }.instance()
    };
    let instances = vec![shape(85.0, [255; 4]), shape(235.0, [255, 255, 255, 128])];
    let mut packet = packet(vec![QuadBatch { key, instances }]);
    packet.seconds = 1.0;
    packet.textures =
        vec![TextureChange::Set { slot: TextureSlot(1), texels: chessboard(16, 1, SMOOTH) }];
    let waves = shader("waves", WAVES, 1, 32);
    packet.materials = vec![material(&waves, variables([1.0, 0.8, 0.6, 1.0], 2.0))];
    packet
}
