//! Scenes of the golden images: packets that are built as simply as possible.

use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::gui::{GuiBatchKey, GuiFrame, QuadBatch, QuadInstance, paint};
use engine::frame_packet::material::{BlendMode, MaterialChange, MaterialFrame, MaterialSlot};
use engine::frame_packet::shading_environment::{EnvironmentTextures, ShadingEnvironment};
use engine::frame_packet::texture::{
    ATLAS_LEVELS, ATLAS_SIDE, GLYPH_SPREAD, SamplerSettings, TexelFormat, TextureChange,
    TextureSlot, TextureTexels, WrapMode,
};
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use std::f32::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

pub const KEY: GuiBatchKey = GuiBatchKey::PLAIN;

/// Returns the corners of a quadrilateral around a center, rotated by an angle in radians.
pub fn corners(x: f32, y: f32, half: [f32; 2], turn: f32) -> [f32; 8] {
    let (s, c) = turn.sin_cos();
    let at = |dx: f32, dy: f32| [x + c * dx - s * dy, y + s * dx + c * dy];
    let [w, h] = half;
    let all = [at(-w, -h), at(w, -h), at(w, h), at(-w, h)];
    std::array::from_fn(|i| all[i / 2][i % 2])
}

/// A rectangle around a center, with smooth edges.
pub struct Shape {
    pub paint: u32,
    pub at: [f32; 2],
    pub half: [f32; 2],
    pub radius: f32,
    pub outline: f32,
    pub turn: f32,
    pub color: [u8; 4],
}

impl Shape {
    pub const BOX: Shape = Shape {
        paint: paint::BOX,
        at: [0.0, 0.0],
        half: [20.0, 15.0],
        radius: 0.0,
        outline: 0.0,
        turn: 0.0,
        color: [255; 4],
    };

    pub fn instance(&self) -> QuadInstance {
        let beyond = 1.0;
        let reach = [self.half[0] + beyond, self.half[1] + beyond];
        QuadInstance {
            corners: corners(self.at[0], self.at[1], reach, self.turn),
            uv: [self.half[0], self.half[1], self.radius, self.outline],
            color: self.color,
            paint: QuadInstance::paint(self.paint, 0, 0),
            extra: [beyond, 0.0],
        }
    }
}

pub fn camera() -> CameraFrame {
    CameraFrame {
        view: Mat4::IDENTITY,
        projection: Mat4::IDENTITY,
        position: Vec3::ZERO,
        near: 0.1,
        far: 100.0,
    }
}

pub fn view(guis: &[u64]) -> View {
    View {
        target: ViewTarget::Screen,
        rectangle: [0.0, 0.0, 1.0, 1.0],
        clear: Some([0.1, 0.12, 0.15, 1.0]),
        camera: camera(),
        scene: None,
        layers: u32::MAX,
        sky: None,
        environment: ShadingEnvironment::DEFAULT,
        environment_textures: EnvironmentTextures::default(),
        viewport: None,
        guis: guis.to_vec(),
    }
}

/// Returns a packet of one immediate Gui with these batches, on a dark background.
pub fn packet(batches: Vec<QuadBatch>) -> FramePacket {
    FramePacket {
        scale: 1.0,
        guis: vec![GuiFrame { gui: 1, batches, ..GuiFrame::default() }],
        views: vec![view(&[1])],
        ..FramePacket::default()
    }
}

pub fn boxes() -> FramePacket {
    let mut instances = Vec::new();
    for (row, (radius, outline)) in
        [(0.0, 0.0), (6.0, 0.0), (0.0, 1.0), (9.0, 3.0)].into_iter().enumerate()
    {
        for (column, turn) in [0.0, 0.0, 0.3, 0.8].into_iter().enumerate() {
            // The second column is offset by half a pixel.
            let half = if column == 1 { 0.5 } else { 0.0 };
            instances.push(
                Shape {
                    at: [40.0 + 60.0 * column as f32 + half, 155.0 - 43.0 * row as f32 + half],
                    radius,
                    outline,
                    turn,
                    color: [255, 200 - 40 * row as u8, 80 + 50 * column as u8, 255],
                    ..Shape::BOX
                }
                .instance(),
            );
        }
    }
    // Lines from two pixels down to a quarter of one.
    for i in 0..8 {
        let thickness = 2.0 / (1.0 + i as f32);
        instances.push(
            Shape {
                at: [285.0, 10.0 + 20.0 * i as f32],
                half: [25.0, thickness / 2.0],
                turn: 0.1 * i as f32,
                ..Shape::BOX
            }
            .instance(),
        );
    }
    packet(vec![QuadBatch { key: KEY, instances }])
}

/// Returns a quadrilateral from its left bottom corner, its size and its `paint` word.
pub fn quad(left: f32, bottom: f32, size: [f32; 2], word: u32) -> QuadInstance {
    let [w, h] = size;
    QuadInstance {
        corners: corners(left + w / 2.0, bottom + h / 2.0, [w / 2.0, h / 2.0], 0.0),
        uv: [0.0, 1.0, 1.0, 0.0],
        color: [255; 4],
        paint: word,
        extra: [0.0; 2],
    }
}

pub fn solid(left: f32, bottom: f32, size: [f32; 2], color: [u8; 4]) -> QuadInstance {
    QuadInstance { color, ..quad(left, bottom, size, QuadInstance::paint(paint::SOLID, 0, 0)) }
}

pub fn round_shapes() -> FramePacket {
    let mut instances = Vec::new();
    let ellipse = |x: f32, y: f32, half: [f32; 2], outline: f32, turn: f32| {
        let color = [120, 220, 255, 255];
        Shape { paint: paint::ELLIPSE, at: [x, y], half, outline, turn, color, ..Shape::BOX }
            .instance()
    };
    instances.push(ellipse(35.0, 145.0, [25.0, 25.0], 0.0, 0.0));
    instances.push(ellipse(95.0, 145.0, [25.0, 25.0], 1.0, 0.0));
    instances.push(ellipse(155.0, 145.0, [28.0, 14.0], 0.0, 0.5));
    instances.push(ellipse(215.0, 145.0, [28.0, 14.0], 4.0, -0.5));
    for i in 0..8 {
        let radius = 4.0 / (1.0 + i as f32);
        instances.push(ellipse(260.0 + 7.0 * i as f32, 145.0, [radius, radius], 0.0, 0.0));
    }
    let arc = |x: f32, y: f32, [radius, half]: [f32; 2], [middle, part]: [f32; 2]| {
        let reach = radius + half + 1.0;
        QuadInstance {
            corners: corners(x, y, [reach, reach], 0.0),
            uv: [radius, half, middle, part],
            color: [255, 190, 90, 255],
            paint: QuadInstance::paint(paint::ARC, 0, 0),
            extra: [1.0, 0.0],
        }
    };
    // Parts of rings around the direction of their middle: right, up, left, and nearly complete
    // ones.
    for (i, [middle, part]) in
        [[0.0, 0.5], [FRAC_PI_2, 0.9], [PI, 1.8], [0.8, 2.9], [0.0, 4.0]].into_iter().enumerate()
    {
        instances.push(arc(35.0 + 60.0 * i as f32, 85.0, [20.0, 4.0], [middle, part]));
        // The same part as a circle sector.
        instances.push(arc(35.0 + 60.0 * i as f32, 30.0, [12.0, 12.0], [middle, part]));
    }
    packet(vec![QuadBatch { key: KEY, instances }])
}

/// Returns two overlapping translucent squares for each blend mode, on a light and a dark
/// background.
pub fn blends() -> FramePacket {
    let ground = vec![
        solid(0.0, 90.0, [320.0, 90.0], [230, 230, 220, 255]),
        solid(0.0, 0.0, [320.0, 90.0], [40, 50, 80, 255]),
    ];
    let mut batches = vec![QuadBatch { key: KEY, instances: ground }];
    let materials = [
        MaterialSlot::BUILT_IN,
        MaterialSlot::BUILT_IN_ADD,
        MaterialSlot::BUILT_IN_MULTIPLY,
        MaterialSlot(MaterialSlot::FIRST_FREE),
    ];
    for (i, material) in materials.into_iter().enumerate() {
        let x = 10.0 + 78.0 * i as f32;
        let instances = vec![
            solid(x, 20.0, [45.0, 140.0], [255, 60, 40, 128]),
            solid(x + 20.0, 40.0, [45.0, 100.0], [60, 160, 255, 128]),
        ];
        batches.push(QuadBatch { key: GuiBatchKey { layer: 1, material, ..KEY }, instances });
    }
    let replace = MaterialFrame {
        name: "replace".to_string(),
        shader: None,
        blend: BlendMode::Replace,
        textures: Vec::new(),
        variables: Vec::new(),
    };
    let slot = MaterialSlot(MaterialSlot::FIRST_FREE);
    let mut packet = packet(batches);
    packet.materials = vec![MaterialChange::Set { slot, material: Arc::new(replace) }];
    packet
}

/// Returns a texture with all of its mip levels: a chessboard of two colors with a red corner at
/// the top left, half transparent at the right.
pub fn chessboard(side: u32, levels: u32, sampling: SamplerSettings) -> TextureTexels {
    let mut bytes = Vec::new();
    for level in 0..levels {
        let side = side >> level;
        for y in 0..side {
            for x in 0..side {
                let (column, row) = (x * 8 / side, y * 8 / side);
                let mut texel = match (column + row) % 2 {
                    0 => [240, 240, 240, 255],
                    _ => [40, 90, 60, 255],
                };
                if column < 2 && row < 2 {
                    texel = [220, 40, 30, 255];
                }
                if column >= 6 {
                    // Alpha is premultiplied: in linear light, half of white is 188.
                    texel = [188, 188, 188, 128];
                }
                bytes.extend_from_slice(&texel);
            }
        }
    }
    let format = TexelFormat::Rgba8Srgb;
    TextureTexels {
        width: side,
        height: side,
        levels,
        format,
        sampling,
        bytes: bytes.into(),
        start: 0,
    }
}

pub const SMOOTH: SamplerSettings = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };

/// Returns images in two layers of the atlas and in separate textures, with nearest sampling, with
/// repetition, and in a triangle.
pub fn textures() -> FramePacket {
    let own = TextureSlot(1);
    let repeat = SamplerSettings { nearest: false, wrap: WrapMode::Repeat };
    let atlas = |layer, x| TextureChange::Atlas {
        layer,
        x,
        y: 16,
        texels: chessboard(64, ATLAS_LEVELS, SMOOTH),
        picture: None,
    };
    let side = ATLAS_SIDE as f32;
    let part = |x: f32| [x / side, (16.0 + 64.0) / side, (x + 64.0) / side, 16.0 / side];
    let in_atlas = |left: f32, bottom: f32, size: f32, word: u32, x: f32| QuadInstance {
        uv: part(x),
        ..quad(left, bottom, [size, size], word)
    };
    let near = QuadInstance::NEAREST;
    let atlas_instances = vec![
        in_atlas(10.0, 100.0, 64.0, QuadInstance::paint(paint::ATLAS, 0, 0), 32.0),
        in_atlas(90.0, 100.0, 16.0, QuadInstance::paint(paint::ATLAS, 0, 0), 32.0),
        in_atlas(120.0, 100.0, 70.0, QuadInstance::paint(paint::ATLAS, 1, 0), 8.0),
        QuadInstance {
            color: [255, 160, 60, 200],
            ..in_atlas(200.0, 100.0, 70.0, QuadInstance::paint(paint::ATLAS, 1, 0) | near, 8.0)
        },
        solid(0.0, 90.0, [320.0, 2.0], [255; 4]),
    ];
    let texture = QuadInstance::paint(paint::TEXTURE, 0, 0);
    let mut triangle = quad(240.0, 10.0, [70.0, 70.0], texture);
    triangle.corners = [240.0, 10.0, 310.0, 10.0, 275.0, 80.0, 275.0, 80.0];
    let own_instances = vec![
        quad(10.0, 10.0, [64.0, 64.0], texture),
        quad(90.0, 10.0, [64.0, 64.0], texture | near),
        QuadInstance { uv: [-0.5, 2.5, 2.5, -0.5], ..quad(165.0, 10.0, [64.0, 64.0], texture) },
        triangle,
    ];
    let missing = vec![quad(280.0, 110.0, [30.0, 30.0], texture)];
    let mut packet = packet(vec![
        QuadBatch { key: KEY, instances: atlas_instances },
        QuadBatch { key: GuiBatchKey { texture: own, ..KEY }, instances: own_instances },
        QuadBatch { key: GuiBatchKey { texture: TextureSlot(99), ..KEY }, instances: missing },
    ]);
    packet.textures = vec![
        TextureChange::Set { slot: own, texels: chessboard(16, 5, repeat) },
        atlas(0, 32),
        atlas(1, 8),
    ];
    packet
}

/// Returns a letter as a distance field: an upright bar and a slanted one. All channels hold the
/// distance to the nearer bar.
fn letter(side: u32) -> TextureTexels {
    let mut bytes = Vec::new();
    let bar = |x: f32, y: f32, middle: [f32; 2], half: [f32; 2], turn: f32| {
        let (s, c) = turn.sin_cos();
        let (dx, dy) = (x - middle[0], y - middle[1]);
        let q = [(c * dx + s * dy).abs() - half[0], (c * dy - s * dx).abs() - half[1]];
        let outside = q[0].max(0.0).hypot(q[1].max(0.0));
        -(outside + q[0].max(q[1]).min(0.0))
    };
    for y in 0..side {
        for x in 0..side {
            let (x, y) = (x as f32 + 0.5, (side - y) as f32 - 0.5);
            let one = bar(x, y, [12.0, 20.0], [3.0, 12.0], 0.0);
            let other = bar(x, y, [21.0, 20.0], [3.0, 12.0], -0.6);
            let distance = one.max(other);
            let byte =
                |d: f32| ((d / (2.0 * GLYPH_SPREAD) + 0.5).clamp(0.0, 1.0) * 255.0).round() as u8;
            bytes.extend_from_slice(&[byte(distance); 4]);
        }
    }
    TextureTexels {
        width: side,
        height: side,
        levels: 1,
        format: TexelFormat::Rgba8,
        sampling: SMOOTH,
        bytes: bytes.into(),
        start: 0,
    }
}

/// Returns a distance field at large and small sizes, with outline and glow, and one in a separate
/// texture.
pub fn glyphs() -> FramePacket {
    let side = ATLAS_SIDE as f32;
    let glyph = |left: f32, bottom: f32, size: f32, color: [u8; 4], extra: [f32; 2]| QuadInstance {
        uv: [64.0 / side, (8.0 + 40.0) / side, (64.0 + 40.0) / side, 8.0 / side],
        color,
        extra,
        ..quad(left, bottom, [size, size], QuadInstance::paint(paint::GLYPH, 0, 0))
    };
    let white = [255; 4];
    let mut instances = vec![
        glyph(0.0, 20.0, 150.0, white, [0.0, 0.0]),
        glyph(120.0, 100.0, 80.0, [20, 20, 20, 255], [2.5, 0.0]),
        glyph(120.0, 100.0, 80.0, [255, 220, 120, 255], [0.0, 0.0]),
        glyph(190.0, 100.0, 80.0, [80, 200, 255, 255], [1.0, 6.0]),
        glyph(190.0, 100.0, 80.0, white, [0.0, 0.0]),
    ];
    for (i, size) in [8.0, 10.0, 12.0, 16.0, 24.0, 40.0].into_iter().enumerate() {
        instances.push(glyph(130.0 + 28.0 * i as f32, 50.0, size, white, [0.0, 0.0]));
    }
    let own = TextureSlot(1);
    let spread = (GLYPH_SPREAD * 8.0) as u32;
    let word = QuadInstance::paint(paint::TEXTURE_FIELD, spread, 0);
    let field = |left: f32, size: f32, extra: [f32; 2], color: [u8; 4]| QuadInstance {
        extra,
        color,
        ..quad(left, 0.0, [size, size], word)
    };
    let fields = vec![
        field(150.0, 45.0, [0.0, 0.0], white),
        field(200.0, 45.0, [1.5, 0.0], [255, 60, 60, 255]),
        field(200.0, 45.0, [0.0, 0.0], white),
    ];
    let mut packet = packet(vec![
        QuadBatch { key: KEY, instances },
        QuadBatch { key: GuiBatchKey { texture: own, ..KEY }, instances: fields },
    ]);
    packet.textures = vec![
        TextureChange::Glyph { layer: 0, x: 64, y: 8, texels: letter(40) },
        TextureChange::Set { slot: own, texels: letter(40) },
    ];
    packet
}

/// Returns layers that contradict the order of batches, clipping, and Guis that are moved and
/// turned.
pub fn clips_and_layers() -> Vec<FramePacket> {
    let square = |x: f32, color: [u8; 4]| solid(x, 30.0, [40.0, 40.0], color);
    let layer = |layer: i32, x: f32, color: [u8; 4]| QuadBatch {
        key: GuiBatchKey { layer, ..KEY },
        instances: vec![square(x, color)],
    };
    let clipped = QuadBatch {
        key: GuiBatchKey { clip: Some([90, 20, 130, 60]), ..KEY },
        instances: vec![
            Shape { at: [110.0, 40.0], half: [30.0, 30.0], radius: 12.0, ..Shape::BOX }.instance(),
            square(120.0, [255, 0, 0, 128]),
        ],
    };
    let outside = QuadBatch {
        key: GuiBatchKey { clip: Some([400, 20, 500, 60]), ..KEY },
        instances: vec![solid(0.0, 0.0, [320.0, 180.0], [255, 0, 255, 255])],
    };
    let mut packet = packet(vec![
        layer(5, 10.0, [255, 80, 80, 255]),
        layer(-1, 20.0, [80, 255, 80, 255]),
        layer(2, 30.0, [80, 80, 255, 255]),
        clipped.clone(),
        outside,
    ]);
    packet.scale = 1.0;
    // The same clip rectangle in a moved Gui and in a rotated one.
    let moved = GuiFrame {
        gui: 2,
        pose: Mat4::from_translation(Vec3::new(70.0, 80.0, 0.0)),
        batches: vec![clipped.clone()],
        ..GuiFrame::default()
    };
    let turned = GuiFrame {
        gui: 3,
        pose: Mat4::from_translation(Vec3::new(200.0, 20.0, 0.0)) * Mat4::from_rotation_z(0.4),
        batches: vec![clipped],
        ..GuiFrame::default()
    };
    packet.guis.extend([moved, turned]);
    packet.views[0].guis = vec![1, 2, 3];
    vec![packet]
}
