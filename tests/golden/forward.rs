//! Golden scenes in three dimensions: light on metallic and matte surfaces, shadows, transparency,
//! masks, several cameras, particles.

use super::meshes::{self, CUBE, PLANE, SPHERE};
use super::scenes::{KEY, Shape, chessboard, view as gui_view};
use engine::foundation::{Mat4, Vec3, projections, views};
use engine::frame_packet::gui::{GuiBatchKey, GuiFrame, GuiSpace, QuadBatch, QuadInstance, paint};
use engine::frame_packet::material::BlendMode;
use engine::frame_packet::mesh::{
    MeshSlot, SurfaceAlphaMode, SurfaceChange, SurfaceFrame, SurfaceSlot,
};
use engine::frame_packet::scene::{
    DrawChange, DrawMesh, DrawSlot, DrawTransform, LightFrame, LightKind, ParticleBatch,
    ParticleQuad, SceneFrame, SkyFrame, SkyVisibility,
};
use engine::frame_packet::texture::{
    SamplerSettings, TexelFormat, TextureChange, TextureSlot, TextureTexels, WrapMode,
};
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use std::f32::consts::FRAC_PI_2;

/// A scene under construction.
pub struct SceneBuilder {
    pub packet: FramePacket,
    pub frame: SceneFrame,
    draws: u32,
}

const SMOOTH: SamplerSettings = SamplerSettings { nearest: false, wrap: WrapMode::Repeat };

/// The sky of a clear afternoon.
const SKY: SkyFrame = SkyFrame {
    top: [0.12, 0.22, 0.45],
    horizon: [0.4, 0.46, 0.52],
    ground: [0.17, 0.18, 0.15],
    shown: SkyVisibility::Shown,
    ..SkyFrame::DEFAULT
};

pub fn look_camera(from: Vec3, at: Vec3, aspect: f32) -> CameraFrame {
    CameraFrame {
        view: views::look_at_mat4(from, at, Vec3::Z),
        projection: projections::perspective(0.7, aspect, 0.1, 200.0),
        position: from,
        near: 0.1,
        far: 200.0,
    }
}

pub fn view(from: Vec3, at: Vec3) -> View {
    View { scene: Some(1), camera: look_camera(from, at, 320.0 / 180.0), ..gui_view(&[]) }
}

pub fn sun(direction: Vec3, strength: f32) -> LightFrame {
    let kind = LightKind::Sun { direction: direction.normalize(), casts_shadows: true };
    let color = [strength, strength * 0.95, strength * 0.85];
    LightFrame { kind, color, ..LightFrame::DEFAULT }
}

impl SceneBuilder {
    pub fn new() -> SceneBuilder {
        let packet = FramePacket { scale: 1.0, meshes: meshes::all(), ..FramePacket::default() };
        let frame = SceneFrame { scene: 1, sky: Some(SKY), ..SceneFrame::default() };
        SceneBuilder { packet, frame, draws: 0 }
    }

    pub fn sky(&mut self, sky: SkyFrame) {
        self.frame.sky = Some(sky);
    }

    pub fn light(&mut self, light: LightFrame) {
        self.frame.lights_changed = true;
        self.frame.lights.push(light);
    }

    pub fn surface(&mut self, surface: SurfaceFrame) -> SurfaceSlot {
        let slot = SurfaceSlot(SurfaceSlot::FIRST_FREE + self.packet.surfaces.len() as u32);
        self.packet.surfaces.push(SurfaceChange::Set { slot, surface });
        slot
    }

    pub fn matte(&mut self, [r, g, b]: [f32; 3]) -> SurfaceSlot {
        self.surface(SurfaceFrame {
            base_color: [r, g, b, 1.0],
            roughness: 0.9,
            ..SurfaceFrame::DEFAULT
        })
    }

    pub fn add_draw(&mut self, mesh: MeshSlot, surface: SurfaceSlot, pose: Mat4) -> DrawSlot {
        let first = self.frame.surfaces.len() as u32;
        self.frame.surfaces.push(surface);
        let (slot, pose) = (DrawSlot(self.draws), DrawTransform::of(&pose));
        let draw = DrawMesh { slot, mesh, surfaces: (first, 1), pose, ..DrawMesh::DEFAULT };
        self.frame.changes.push(DrawChange::Set(draw));
        self.draws += 1;
        slot
    }

    pub fn add_at(&mut self, mesh: MeshSlot, surface: SurfaceSlot, at: Vec3, size: Vec3) {
        self.add_draw(mesh, surface, Mat4::from_translation(at) * Mat4::from_scale(size));
    }

    /// Adds the ground: sixty metres to each side.
    pub fn ground(&mut self) {
        let surface = self.matte([0.2, 0.22, 0.17]);
        self.add_at(PLANE, surface, Vec3::ZERO, Vec3::new(60.0, 60.0, 1.0));
    }

    pub fn build(mut self, views: Vec<View>) -> FramePacket {
        self.packet.scenes.push(self.frame);
        self.packet.views = views;
        self.packet
    }
}

/// Returns spheres from rough to smooth, of plastic and of gold.
pub fn spheres() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.ground();
    builder.light(sun(Vec3::new(0.5, 0.6, -0.8), 1.25));
    for row in 0..2 {
        for column in 0..6 {
            let (metallic, color) = match row {
                0 => (0.0, [0.5, 0.05, 0.04, 1.0]),
                _ => (1.0, [1.0, 0.77, 0.34, 1.0]),
            };
            let roughness = column as f32 / 5.0;
            let surface =
                SurfaceFrame { base_color: color, metallic, roughness, ..SurfaceFrame::DEFAULT };
            let surface = builder.surface(surface);
            let at = Vec3::new(column as f32 * 1.0 - 2.5, row as f32 * 1.5, 0.45);
            builder.add_at(SPHERE, surface, at, Vec3::splat(0.45));
        }
    }
    builder.build(vec![view(Vec3::new(0.0, -5.6, 3.6), Vec3::new(0.0, 0.6, 0.25))])
}

/// Returns a box, a sphere and a pillar in sunlight, with their shadows.
pub fn shadows() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.ground();
    builder.light(sun(Vec3::new(0.8, 0.5, -0.7), 1.3));
    let red = builder.matte([0.7, 0.2, 0.15]);
    let blue = builder.matte([0.15, 0.3, 0.7]);
    let white = builder.matte([0.8, 0.8, 0.8]);
    let turned = Mat4::from_translation(Vec3::new(-0.9, 0.2, 0.5)) * Mat4::from_rotation_z(0.5);
    builder.add_draw(CUBE, red, turned * Mat4::from_scale(Vec3::splat(0.5)));
    builder.add_at(SPHERE, blue, Vec3::new(0.9, -0.4, 0.5), Vec3::splat(0.5));
    builder.add_at(CUBE, white, Vec3::new(0.4, 2.0, 1.2), Vec3::new(0.15, 0.15, 1.2));
    builder.build(vec![view(Vec3::new(0.5, -6.0, 3.0), Vec3::new(0.3, 0.2, 0.5))])
}

/// Returns a dark scene with two point lights and a spot light that casts a shadow.
pub fn lights() -> FramePacket {
    let mut builder = SceneBuilder::new();
    let dim = [0.01, 0.012, 0.02];
    builder.sky(SkyFrame {
        top: dim,
        horizon: dim,
        ground: dim,
        shown: SkyVisibility::Hidden,
        ..SkyFrame::DEFAULT
    });
    builder.ground();
    let white = builder.matte([0.8, 0.8, 0.8]);
    builder.add_at(SPHERE, white, Vec3::new(0.0, 0.6, 0.5), Vec3::splat(0.5));
    builder.add_at(CUBE, white, Vec3::new(-1.4, 0.2, 0.4), Vec3::splat(0.4));
    builder.add_at(CUBE, white, Vec3::new(1.6, 0.9, 0.9), Vec3::new(0.2, 0.2, 0.9));
    let omni = |x: f32, color: [f32; 3]| LightFrame {
        kind: LightKind::Omni {
            position: Vec3::new(x, -0.6, 0.8),
            range: 4.0,
            casts_shadows: false,
        },
        color,
        ..LightFrame::DEFAULT
    };
    builder.light(omni(-2.2, [1.6, 0.4, 0.1]));
    builder.light(omni(2.6, [0.1, 0.4, 1.6]));
    let position = Vec3::new(1.2, -1.8, 3.2);
    let kind = LightKind::Spot {
        position,
        direction: (Vec3::new(0.1, 0.6, 0.3) - position).normalize(),
        range: 9.0,
        inner: 0.25,
        outer: 0.34,
        casts_shadows: true,
    };
    builder.light(LightFrame { kind, color: [14.0, 13.0, 11.0], ..LightFrame::DEFAULT });
    let mut main_view = view(Vec3::new(0.0, -6.0, 3.4), Vec3::new(0.0, 0.3, 0.4));
    main_view.clear = Some([0.02, 0.02, 0.05, 1.0]);
    builder.build(vec![main_view])
}

/// Returns three translucent panes in front of a white box, added in an order that is not by depth.
pub fn transparency() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.ground();
    builder.light(sun(Vec3::new(0.3, 0.8, -0.9), 1.25));
    let white = builder.matte([0.8, 0.8, 0.8]);
    builder.add_at(CUBE, white, Vec3::new(0.0, 1.6, 0.6), Vec3::splat(0.6));
    for (i, color) in
        [[0.9, 0.1, 0.1, 0.5], [0.1, 0.8, 0.1, 0.5], [0.1, 0.2, 0.9, 0.5]].into_iter().enumerate()
    {
        let surface = builder.surface(SurfaceFrame {
            base_color: color,
            roughness: 0.2,
            alpha: SurfaceAlphaMode::Blend,
            double_sided: true,
            ..SurfaceFrame::DEFAULT
        });
        let at = Vec3::new(i as f32 * 0.55 - 0.55, [-0.6, 0.5, 0.0][i], 0.6);
        let upright = Mat4::from_translation(at) * Mat4::from_rotation_x(1.4);
        builder.add_draw(PLANE, surface, upright * Mat4::from_scale(Vec3::new(0.55, 0.6, 1.0)));
    }
    builder.build(vec![view(Vec3::new(0.6, -5.0, 1.9), Vec3::new(0.0, 0.3, 0.55))])
}

/// Returns a texture of leaves: green disks on a transparent background.
fn leaves() -> TextureTexels {
    let side = 64u32;
    let mut bytes = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let cell = |at: u32| (at % 16) as f32 - 7.5;
            let inside = cell(x).hypot(cell(y)) < 6.0;
            bytes.extend(if inside { [70, 140, 50, 255] } else { [0; 4] });
        }
    }
    let (format, bytes) = (TexelFormat::Rgba8Srgb, bytes.into());
    TextureTexels {
        width: side,
        height: side,
        levels: 1,
        format,
        sampling: SMOOTH,
        bytes,
        start: 0,
    }
}

/// Returns a normal map of round bumps.
fn bumps() -> TextureTexels {
    let side = 64u32;
    let mut bytes = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let at = |at: u32| ((at % 32) as f32 - 15.5) / 15.5;
            let (u, v) = (at(x), -at(y));
            let inside = u.hypot(v) < 0.9;
            let (u, v) = if inside { (u * 0.7, v * 0.7) } else { (0.0, 0.0) };
            let up = (1.0 - u * u - v * v).max(0.0).sqrt();
            let byte = |value: f32| ((value * 0.5 + 0.5) * 255.0).round() as u8;
            bytes.extend([byte(u), byte(v), byte(up), 255]);
        }
    }
    let (format, bytes) = (TexelFormat::Rgba8, bytes.into());
    TextureTexels {
        width: side,
        height: side,
        levels: 1,
        format,
        sampling: SMOOTH,
        bytes,
        start: 0,
    }
}

/// Returns masked leaves with their shadow, a normal map, a chessboard, an emissive and an unlit
/// object, and a box turned inside out by a negative scale.
pub fn surfaces() -> FramePacket {
    let mut builder = SceneBuilder::new();
    let texture = |slot, texels| TextureChange::Set { slot: TextureSlot(slot), texels };
    builder.packet.textures =
        vec![texture(1, leaves()), texture(2, bumps()), texture(3, chessboard(16, 1, SMOOTH))];
    let picture = |slot| Some((TextureSlot(slot), SMOOTH));
    let board =
        SurfaceFrame { base_color_texture: picture(3), roughness: 0.8, ..SurfaceFrame::DEFAULT };
    let board = builder.surface(board);
    builder.add_at(PLANE, board, Vec3::ZERO, Vec3::new(10.0, 10.0, 1.0));
    builder.light(sun(Vec3::new(0.4, 0.7, -0.8), 1.25));
    let leaf = builder.surface(SurfaceFrame {
        base_color_texture: picture(1),
        alpha: SurfaceAlphaMode::Mask(0.5),
        double_sided: true,
        ..SurfaceFrame::DEFAULT
    });
    builder.add_at(CUBE, leaf, Vec3::new(-1.6, 0.0, 0.8), Vec3::new(0.7, 0.01, 0.7));
    let bumpy = SurfaceFrame {
        base_color: [0.6, 0.6, 0.65, 1.0],
        roughness: 0.35,
        normal_texture: picture(2),
        ..SurfaceFrame::DEFAULT
    };
    let bumpy = builder.surface(bumpy);
    builder.add_at(CUBE, bumpy, Vec3::new(0.0, 0.3, 0.6), Vec3::splat(0.6));
    let glowing = SurfaceFrame {
        base_color: [0.0, 0.0, 0.0, 1.0],
        emissive: [2.0, 0.9, 0.1],
        ..SurfaceFrame::DEFAULT
    };
    let glowing = builder.surface(glowing);
    builder.add_at(SPHERE, glowing, Vec3::new(1.3, -0.6, 0.35), Vec3::splat(0.35));
    let unlit = builder.surface(SurfaceFrame {
        base_color: [0.2, 0.5, 0.8, 1.0],
        unlit: true,
        ..SurfaceFrame::DEFAULT
    });
    builder.add_at(CUBE, unlit, Vec3::new(2.2, 0.2, 0.4), Vec3::splat(0.4));
    let red = builder.matte([0.7, 0.2, 0.15]);
    let inside_out = Vec3::new(-0.35, 0.35, 0.35);
    builder.add_at(CUBE, red, Vec3::new(1.4, 1.2, 0.35), inside_out);
    builder.build(vec![view(Vec3::new(0.3, -5.5, 2.6), Vec3::new(0.2, 0.2, 0.5))])
}

/// Returns one scene through three cameras: into a texture on a box in the scene, in perspective,
/// and with an orthographic projection.
pub fn cameras() -> FramePacket {
    let mut builder = SceneBuilder::new();
    let screen = TextureSlot(7);
    builder.packet.textures.push(TextureChange::Target {
        slot: screen,
        width: 96,
        height: 96,
        sampling: SMOOTH,
    });
    builder.ground();
    builder.light(sun(Vec3::new(0.6, 0.5, -0.8), 1.25));
    let red = builder.matte([0.7, 0.2, 0.15]);
    builder.add_at(SPHERE, red, Vec3::new(-0.8, 0.0, 0.5), Vec3::splat(0.5));
    let plain = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let picture = SurfaceFrame {
        base_color_texture: Some((screen, plain)),
        unlit: true,
        ..SurfaceFrame::DEFAULT
    };
    let picture = builder.surface(picture);
    builder.add_at(CUBE, picture, Vec3::new(0.8, 0.3, 0.6), Vec3::splat(0.6));
    let from = Vec3::new(0.3, -4.5, 2.2);
    let at = Vec3::new(0.0, 0.2, 0.5);
    let inner = View {
        target: ViewTarget::Texture(screen),
        camera: look_camera(Vec3::new(-3.0, -2.5, 1.5), Vec3::new(-0.8, 0.0, 0.5), 1.0),
        clear: Some([0.0, 0.0, 0.0, 1.0]),
        ..view(from, at)
    };
    let aspect = 160.0 / 180.0;
    let left = View {
        rectangle: [0.0, 0.0, 0.5, 1.0],
        camera: look_camera(from, at, aspect),
        ..view(from, at)
    };
    let mut flat = look_camera(from, at, aspect);
    flat.projection = projections::orthographic(-1.6, 1.6, -1.8, 1.8, 0.1, 50.0);
    flat.far = 50.0;
    let right =
        View { rectangle: [0.5, 0.0, 0.5, 1.0], camera: flat, clear: None, ..view(from, at) };
    builder.build(vec![inner, left, right])
}

/// Returns a world's Gui among meshes, fog, and soft particles that fade at a wall.
pub fn gui_and_particles() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(SkyFrame { fog_density: 0.03, fog_color: [0.4, 0.46, 0.52], ..SKY });
    builder.ground();
    builder.light(sun(Vec3::new(0.5, 0.6, -0.8), 1.25));
    let stone = builder.matte([0.5, 0.48, 0.45]);
    for i in 0..6 {
        let y = i as f32 * 3.0;
        builder.add_at(CUBE, stone, Vec3::new(-2.0, y, 1.0), Vec3::new(0.3, 0.3, 1.0));
        builder.add_at(CUBE, stone, Vec3::new(2.2, y, 1.0), Vec3::new(0.3, 0.3, 1.0));
    }
    builder.add_at(CUBE, stone, Vec3::new(0.6, 1.0, 0.4), Vec3::splat(0.4));
    let puff = |x: f32, z: f32, size: f32| ParticleQuad {
        position: [x, 0.75, z],
        rotation: 0.0,
        size: [size, size],
        color: [230, 225, 215, 150],
        glow: 1.0,
        uv: [0.0, 0.0, 1.0, 1.0],
        stretch: [0.0; 3],
        reserved: 0,
    };
    let spark = |i: f32| ParticleQuad {
        color: [255, 190, 90, 255],
        glow: 4.0,
        size: [0.02, 0.02],
        stretch: [0.12 * (i - 2.0), 0.0, 0.22],
        ..puff(-0.9 + 0.2 * (i - 2.0), 0.5 + 0.05 * i, 0.02)
    };
    builder.frame.particles = vec![puff(0.3, 0.2, 0.5), puff(0.9, 0.35, 0.6), puff(0.6, 0.8, 0.5)];
    builder.frame.particles.extend((0..5).map(|i| spark(i as f32)));
    let smoke = ParticleBatch {
        first: 0,
        count: 3,
        texture: TextureSlot::SHARED,
        blend: BlendMode::Alpha,
        softness: 0.5,
        lit: 0.0,
        distortion: 0.0,
        center: Vec3::new(0.6, 0.75, 0.5),
        radius: 1.5,
        layers: u32::MAX,
        order: 0,
    };
    let sparks = ParticleBatch {
        first: 3,
        count: 5,
        blend: BlendMode::Add,
        softness: 0.0,
        lit: 0.0,
        distortion: 0.0,
        center: Vec3::new(-0.9, 0.7, 0.6),
        ..smoke
    };
    builder.frame.particle_batches = vec![smoke, sparks];
    let mut sign =
        Shape { half: [0.8, 0.3], radius: 0.1, color: [255, 220, 120, 255], ..Shape::BOX }
            .instance();
    sign.corners = [-0.9, -0.4, 0.9, -0.4, 0.9, 0.4, -0.9, 0.4];
    sign.extra = [0.1, 0.0];
    sign.paint = QuadInstance::paint(paint::BOX, 0, 0);
    let pose = Mat4::from_translation(Vec3::new(-1.6, 2.0, 0.9)) * Mat4::from_rotation_x(FRAC_PI_2);
    let batches = vec![QuadBatch { key: GuiBatchKey { ..KEY }, instances: vec![sign] }];
    let gui = GuiFrame { gui: 3, space: GuiSpace::World, pose, batches, ..GuiFrame::default() };
    builder.packet.guis.push(gui);
    let mut main_view = view(Vec3::new(0.0, -5.0, 1.9), Vec3::new(0.0, 1.0, 0.8));
    main_view.guis = vec![3];
    builder.build(vec![main_view])
}
