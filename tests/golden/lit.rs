//! Scenes of the golden pictures in three dimensions: light on metal and matte, shadows, what is
//! seen through, masks, several cameras, particles.

use super::meshes::{self, CUBE, PLANE, SPHERE};
use super::scenes::{KEY, Shape, chessboard, view as gui_view};
use engine::foundation::{Mat4, Vec3, projections, views};
use engine::packet::gui::{Batch, BatchKey, GuiFrame, Instance, Space, paint};
use engine::packet::material::Blend;
use engine::packet::mesh::{Alpha, MeshSlot, Surface, SurfaceChange, SurfaceSlot};
use engine::packet::scene::{
    DrawChange, DrawSlot, Light, LightKind, Particle, ParticleBatch, Pose, Put, SceneFrame, Sky,
};
use engine::packet::texture::{Format, Sampling, Texels, TextureChange, TextureSlot, Wrap};
use engine::packet::{CameraFrame, Packet, Target, View};
use std::f32::consts::FRAC_PI_2;

/// A scene under construction.
pub struct Stage {
    pub packet: Packet,
    frame: SceneFrame,
    draws: u32,
}

const SMOOTH: Sampling = Sampling { nearest: false, wrap: Wrap::Repeat };

/// A clear afternoon.
const SKY: Sky = Sky {
    top: [0.12, 0.22, 0.45],
    horizon: [0.4, 0.46, 0.52],
    ground: [0.17, 0.18, 0.15],
    shown: true,
    ..Sky::DEFAULT
};

pub fn looking(from: Vec3, at: Vec3, aspect: f32) -> CameraFrame {
    CameraFrame {
        view: views::look_at_mat4(from, at, Vec3::Z),
        projection: projections::perspective(0.7, aspect, 0.1, 200.0),
        position: from,
        near: 0.1,
        far: 200.0,
    }
}

pub fn view(from: Vec3, at: Vec3) -> View {
    View { scene: Some(1), camera: looking(from, at, 320.0 / 180.0), ..gui_view(&[]) }
}

pub fn sun(direction: Vec3, strength: f32) -> Light {
    let kind = LightKind::Sun { direction: direction.normalize(), casts_shadows: true };
    let color = [strength, strength * 0.95, strength * 0.85];
    Light { kind, color, shadow_bias: 1.0 }
}

impl Stage {
    pub fn new() -> Stage {
        let packet = Packet { scale: 1.0, meshes: meshes::all(), ..Packet::default() };
        let frame = SceneFrame { scene: 1, sky: Some(SKY), ..SceneFrame::default() };
        Stage { packet, frame, draws: 0 }
    }

    pub fn sky(&mut self, sky: Sky) {
        self.frame.sky = Some(sky);
    }

    pub fn light(&mut self, light: Light) {
        self.frame.lights_changed = true;
        self.frame.lights.push(light);
    }

    pub fn surface(&mut self, surface: Surface) -> SurfaceSlot {
        let slot = SurfaceSlot(SurfaceSlot::FIRST_FREE + self.packet.surfaces.len() as u32);
        self.packet.surfaces.push(SurfaceChange::Put { slot, surface });
        slot
    }

    pub fn matte(&mut self, [r, g, b]: [f32; 3]) -> SurfaceSlot {
        self.surface(Surface { base_color: [r, g, b, 1.0], roughness: 0.9, ..Surface::DEFAULT })
    }

    pub fn put(&mut self, mesh: MeshSlot, surface: SurfaceSlot, pose: Mat4) {
        let first = self.frame.surfaces.len() as u32;
        self.frame.surfaces.push(surface);
        let (slot, pose) = (DrawSlot(self.draws), Pose::of(&pose));
        let put = Put { slot, mesh, surfaces: (first, 1), pose, ..Put::DEFAULT };
        self.frame.changes.push(DrawChange::Put(put));
        self.draws += 1;
    }

    pub fn at(&mut self, mesh: MeshSlot, surface: SurfaceSlot, at: Vec3, size: Vec3) {
        self.put(mesh, surface, Mat4::from_translation(at) * Mat4::from_scale(size));
    }

    /// The ground: sixty metres to each side.
    pub fn ground(&mut self) {
        let surface = self.matte([0.2, 0.22, 0.17]);
        self.at(PLANE, surface, Vec3::ZERO, Vec3::new(60.0, 60.0, 1.0));
    }

    pub fn done(mut self, views: Vec<View>) -> Packet {
        self.packet.scenes.push(self.frame);
        self.packet.views = views;
        self.packet
    }
}

/// Spheres from rough to smooth, of plastic and of gold.
pub fn spheres() -> Packet {
    let mut stage = Stage::new();
    stage.ground();
    stage.light(sun(Vec3::new(0.5, 0.6, -0.8), 1.25));
    for row in 0..2 {
        for column in 0..6 {
            let (metallic, color) = match row {
                0 => (0.0, [0.5, 0.05, 0.04, 1.0]),
                _ => (1.0, [1.0, 0.77, 0.34, 1.0]),
            };
            let roughness = column as f32 / 5.0;
            let surface = Surface { base_color: color, metallic, roughness, ..Surface::DEFAULT };
            let surface = stage.surface(surface);
            let at = Vec3::new(column as f32 * 1.0 - 2.5, row as f32 * 1.5, 0.45);
            stage.at(SPHERE, surface, at, Vec3::splat(0.45));
        }
    }
    stage.done(vec![view(Vec3::new(0.0, -5.6, 3.6), Vec3::new(0.0, 0.6, 0.25))])
}

/// A box, a sphere and a pillar in the sun, with their shadows.
pub fn shadows() -> Packet {
    let mut stage = Stage::new();
    stage.ground();
    stage.light(sun(Vec3::new(0.8, 0.5, -0.7), 1.3));
    let red = stage.matte([0.7, 0.2, 0.15]);
    let blue = stage.matte([0.15, 0.3, 0.7]);
    let white = stage.matte([0.8, 0.8, 0.8]);
    let turned = Mat4::from_translation(Vec3::new(-0.9, 0.2, 0.5)) * Mat4::from_rotation_z(0.5);
    stage.put(CUBE, red, turned * Mat4::from_scale(Vec3::splat(0.5)));
    stage.at(SPHERE, blue, Vec3::new(0.9, -0.4, 0.5), Vec3::splat(0.5));
    stage.at(CUBE, white, Vec3::new(0.4, 2.0, 1.2), Vec3::new(0.15, 0.15, 1.2));
    stage.done(vec![view(Vec3::new(0.5, -6.0, 3.0), Vec3::new(0.3, 0.2, 0.5))])
}

/// A dark place with two lamps and a spot that casts a shadow.
pub fn lamps() -> Packet {
    let mut stage = Stage::new();
    let dim = [0.01, 0.012, 0.02];
    stage.sky(Sky { top: dim, horizon: dim, ground: dim, shown: false, ..Sky::DEFAULT });
    stage.ground();
    let white = stage.matte([0.8, 0.8, 0.8]);
    stage.at(SPHERE, white, Vec3::new(0.0, 0.6, 0.5), Vec3::splat(0.5));
    stage.at(CUBE, white, Vec3::new(-1.4, 0.2, 0.4), Vec3::splat(0.4));
    stage.at(CUBE, white, Vec3::new(1.6, 0.9, 0.9), Vec3::new(0.2, 0.2, 0.9));
    let omni = |x: f32, color: [f32; 3]| Light {
        kind: LightKind::Omni { position: Vec3::new(x, -0.6, 0.8), range: 4.0 },
        color,
        shadow_bias: 1.0,
    };
    stage.light(omni(-2.2, [1.6, 0.4, 0.1]));
    stage.light(omni(2.6, [0.1, 0.4, 1.6]));
    let position = Vec3::new(1.2, -1.8, 3.2);
    let kind = LightKind::Spot {
        position,
        direction: (Vec3::new(0.1, 0.6, 0.3) - position).normalize(),
        range: 9.0,
        inner: 0.25,
        outer: 0.34,
        casts_shadows: true,
    };
    stage.light(Light { kind, color: [14.0, 13.0, 11.0], shadow_bias: 1.0 });
    let mut seen = view(Vec3::new(0.0, -6.0, 3.4), Vec3::new(0.0, 0.3, 0.4));
    seen.clear = Some([0.02, 0.02, 0.05, 1.0]);
    stage.done(vec![seen])
}

/// Three panes, put in the wrong order, before a white box.
pub fn panes() -> Packet {
    let mut stage = Stage::new();
    stage.ground();
    stage.light(sun(Vec3::new(0.3, 0.8, -0.9), 1.25));
    let white = stage.matte([0.8, 0.8, 0.8]);
    stage.at(CUBE, white, Vec3::new(0.0, 1.6, 0.6), Vec3::splat(0.6));
    for (i, color) in
        [[0.9, 0.1, 0.1, 0.5], [0.1, 0.8, 0.1, 0.5], [0.1, 0.2, 0.9, 0.5]].into_iter().enumerate()
    {
        let surface = stage.surface(Surface {
            base_color: color,
            roughness: 0.2,
            alpha: Alpha::Blend,
            double_sided: true,
            ..Surface::DEFAULT
        });
        let at = Vec3::new(i as f32 * 0.55 - 0.55, [-0.6, 0.5, 0.0][i], 0.6);
        let upright = Mat4::from_translation(at) * Mat4::from_rotation_x(1.4);
        stage.put(PLANE, surface, upright * Mat4::from_scale(Vec3::new(0.55, 0.6, 1.0)));
    }
    stage.done(vec![view(Vec3::new(0.6, -5.0, 1.9), Vec3::new(0.0, 0.3, 0.55))])
}

/// A texture of leaves: green disks, nothing between them.
fn leaves() -> Texels {
    let side = 64u32;
    let mut bytes = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let cell = |at: u32| (at % 16) as f32 - 7.5;
            let inside = cell(x).hypot(cell(y)) < 6.0;
            bytes.extend(if inside { [70, 140, 50, 255] } else { [0; 4] });
        }
    }
    let (format, bytes) = (Format::Rgba8Srgb, bytes.into());
    Texels { width: side, height: side, levels: 1, format, sampling: SMOOTH, bytes, start: 0 }
}

/// A normal texture: round bumps.
fn bumps() -> Texels {
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
    let (format, bytes) = (Format::Rgba8, bytes.into());
    Texels { width: side, height: side, levels: 1, format, sampling: SMOOTH, bytes, start: 0 }
}

/// Masked leaves with their shadow, bumps, a chessboard, what gives light and what is unlit, and a
/// box turned inside out by its scale.
pub fn surfaces() -> Packet {
    let mut stage = Stage::new();
    let texture = |slot, texels| TextureChange::Put { slot: TextureSlot(slot), texels };
    stage.packet.textures =
        vec![texture(1, leaves()), texture(2, bumps()), texture(3, chessboard(16, 1, SMOOTH))];
    let picture = |slot| Some((TextureSlot(slot), SMOOTH));
    let board = Surface { base_color_texture: picture(3), roughness: 0.8, ..Surface::DEFAULT };
    let board = stage.surface(board);
    stage.at(PLANE, board, Vec3::ZERO, Vec3::new(10.0, 10.0, 1.0));
    stage.light(sun(Vec3::new(0.4, 0.7, -0.8), 1.25));
    let leaf = stage.surface(Surface {
        base_color_texture: picture(1),
        alpha: Alpha::Mask(0.5),
        double_sided: true,
        ..Surface::DEFAULT
    });
    stage.at(CUBE, leaf, Vec3::new(-1.6, 0.0, 0.8), Vec3::new(0.7, 0.01, 0.7));
    let bumpy = Surface {
        base_color: [0.6, 0.6, 0.65, 1.0],
        roughness: 0.35,
        normal_texture: picture(2),
        ..Surface::DEFAULT
    };
    let bumpy = stage.surface(bumpy);
    stage.at(CUBE, bumpy, Vec3::new(0.0, 0.3, 0.6), Vec3::splat(0.6));
    let glowing =
        Surface { base_color: [0.0, 0.0, 0.0, 1.0], emissive: [2.0, 0.9, 0.1], ..Surface::DEFAULT };
    let glowing = stage.surface(glowing);
    stage.at(SPHERE, glowing, Vec3::new(1.3, -0.6, 0.35), Vec3::splat(0.35));
    let unlit = stage.surface(Surface {
        base_color: [0.2, 0.5, 0.8, 1.0],
        unlit: true,
        ..Surface::DEFAULT
    });
    stage.at(CUBE, unlit, Vec3::new(2.2, 0.2, 0.4), Vec3::splat(0.4));
    let red = stage.matte([0.7, 0.2, 0.15]);
    let inside_out = Vec3::new(-0.35, 0.35, 0.35);
    stage.at(CUBE, red, Vec3::new(1.4, 1.2, 0.35), inside_out);
    stage.done(vec![view(Vec3::new(0.3, -5.5, 2.6), Vec3::new(0.2, 0.2, 0.5))])
}

/// One scene by four cameras: with perspective, without, into a texture that is on a box in it, and
/// with another group of draws.
pub fn cameras() -> Packet {
    let mut stage = Stage::new();
    let screen = TextureSlot(7);
    stage.packet.textures.push(TextureChange::Target { slot: screen, width: 96, height: 96 });
    stage.ground();
    stage.light(sun(Vec3::new(0.6, 0.5, -0.8), 1.25));
    let red = stage.matte([0.7, 0.2, 0.15]);
    stage.at(SPHERE, red, Vec3::new(-0.8, 0.0, 0.5), Vec3::splat(0.5));
    let plain = Sampling { nearest: false, wrap: Wrap::Clamp };
    let picture =
        Surface { base_color_texture: Some((screen, plain)), unlit: true, ..Surface::DEFAULT };
    let picture = stage.surface(picture);
    stage.at(CUBE, picture, Vec3::new(0.8, 0.3, 0.6), Vec3::splat(0.6));
    let from = Vec3::new(0.3, -4.5, 2.2);
    let at = Vec3::new(0.0, 0.2, 0.5);
    let inner = View {
        target: Target::Texture(screen),
        camera: looking(Vec3::new(-3.0, -2.5, 1.5), Vec3::new(-0.8, 0.0, 0.5), 1.0),
        clear: Some([0.0, 0.0, 0.0, 1.0]),
        ..view(from, at)
    };
    let aspect = 160.0 / 180.0;
    let left = View {
        rectangle: [0.0, 0.0, 0.5, 1.0],
        camera: looking(from, at, aspect),
        ..view(from, at)
    };
    let mut flat = looking(from, at, aspect);
    flat.projection = projections::orthographic(-1.6, 1.6, -1.8, 1.8, 0.1, 50.0);
    flat.far = 50.0;
    let right =
        View { rectangle: [0.5, 0.0, 0.5, 1.0], camera: flat, clear: None, ..view(from, at) };
    stage.done(vec![inner, left, right])
}

/// A world's Gui among meshes, fog, and particles that fade before a wall.
pub fn mixture() -> Packet {
    let mut stage = Stage::new();
    stage.sky(Sky { fog_density: 0.03, fog_color: [0.4, 0.46, 0.52], ..SKY });
    stage.ground();
    stage.light(sun(Vec3::new(0.5, 0.6, -0.8), 1.25));
    let stone = stage.matte([0.5, 0.48, 0.45]);
    for i in 0..6 {
        let y = i as f32 * 3.0;
        stage.at(CUBE, stone, Vec3::new(-2.0, y, 1.0), Vec3::new(0.3, 0.3, 1.0));
        stage.at(CUBE, stone, Vec3::new(2.2, y, 1.0), Vec3::new(0.3, 0.3, 1.0));
    }
    stage.at(CUBE, stone, Vec3::new(0.6, 1.0, 0.4), Vec3::splat(0.4));
    let puff = |x: f32, z: f32, size: f32| Particle {
        position: [x, 0.75, z],
        rotation: 0.0,
        size: [size, size],
        color: [230, 225, 215, 150],
        glow: 1.0,
        uv: [0.0, 0.0, 1.0, 1.0],
        stretch: [0.0; 3],
        reserved: 0,
    };
    let spark = |i: f32| Particle {
        color: [255, 190, 90, 255],
        glow: 4.0,
        size: [0.02, 0.02],
        stretch: [0.12 * (i - 2.0), 0.0, 0.22],
        ..puff(-0.9 + 0.2 * (i - 2.0), 0.5 + 0.05 * i, 0.02)
    };
    stage.frame.particles = vec![puff(0.3, 0.2, 0.5), puff(0.9, 0.35, 0.6), puff(0.6, 0.8, 0.5)];
    stage.frame.particles.extend((0..5).map(|i| spark(i as f32)));
    let smoke = ParticleBatch {
        first: 0,
        count: 3,
        texture: TextureSlot::SHARED,
        blend: Blend::Alpha,
        softness: 0.5,
        center: Vec3::new(0.6, 0.75, 0.5),
        radius: 1.5,
        layers: u32::MAX,
    };
    let sparks = ParticleBatch {
        first: 3,
        count: 5,
        blend: Blend::Add,
        softness: 0.0,
        center: Vec3::new(-0.9, 0.7, 0.6),
        ..smoke
    };
    stage.frame.particle_batches = vec![smoke, sparks];
    let mut sign =
        Shape { half: [0.8, 0.3], radius: 0.1, color: [255, 220, 120, 255], ..Shape::BOX }
            .instance();
    sign.corners = [-0.9, -0.4, 0.9, -0.4, 0.9, 0.4, -0.9, 0.4];
    sign.extra = [0.1, 0.0];
    sign.paint = Instance::paint(paint::BOX, 0, 0);
    let pose = Mat4::from_translation(Vec3::new(-1.6, 2.0, 0.9)) * Mat4::from_rotation_x(FRAC_PI_2);
    let batches = vec![Batch { key: BatchKey { ..KEY }, instances: vec![sign] }];
    let gui = GuiFrame { gui: 3, space: Space::World, pose, batches, ..GuiFrame::default() };
    stage.packet.guis.push(gui);
    let mut seen = view(Vec3::new(0.0, -5.0, 1.9), Vec3::new(0.0, 1.0, 0.8));
    seen.guis = vec![3];
    stage.done(vec![seen])
}
