//! Skinning benchmarks: what 1,000 characters with new poses cost on both threads, beyond their
//! animation. The packets are built directly, without scripts and skeletons.
//!
//!     cargo bench -- skins
//!
//! Times are CPU time of one thread, the median over 120 frames after 30 frames of warm-up. The
//! adapter is the software adapter, which draws on its own threads, onto a target of 64 x 36
//! pixels.

use crate::run::Run;
use crate::table::{Group, Row, median, named};
use engine::foundation::{Mat4, Vec3, projections, views};
use engine::frame_packet::deformation::MeshSkin;
use engine::frame_packet::mesh::{MeshChange, MeshFrame, MeshSlot, MeshVertex};
use engine::frame_packet::scene::{
    DrawChange, DrawMesh, DrawSlot, DrawTransform, LightFrame, LightKind, SceneFrame,
};
use engine::frame_packet::texture::{SamplerSettings, TextureChange, TextureSlot, WrapMode};
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use engine::platform::ThreadClock;
use engine::system::render::{
    AdapterChoice, DrawRecorder, RenderQuality, Renderer, RendererOptions, SurfaceTarget, Vsync,
};
use std::sync::Arc;

const WARM: usize = 30;
const FRAMES: usize = 120;
const CHARACTERS: u32 = 1000;
const MESHES: u32 = 10;
const JOINTS: u32 = 60;
/// Poses that the characters have in turn, so that not all of them are in the cache.
const POSES: u32 = 500;
/// Side of the square in which the characters stand.
const SIDE: u32 = 32;
const TARGET: TextureSlot = TextureSlot(100);

pub fn run(run: &mut Run) {
    run.part("characters", || Group {
        name: "skins",
        title: "the cost of drawing skinned characters",
        workload: "1,000 characters of 60 joints and 10 meshes in a square grid, all in view. In \
                   each frame, all of them have another one of 500 poses.",
        rows: [false, true].into_iter().flat_map(measure).collect(),
    });
}

/// Returns an upright strip with a joint every three centimetres.
fn strip() -> MeshFrame {
    let (mut vertices, mut joints, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for joint in 0..JOINTS {
        for x in [-0.2, 0.2] {
            let position = [x, 0.0, joint as f32 * 0.03];
            let normal = MeshVertex::packed(Vec3::NEG_Y, 0.0);
            vertices.push(MeshVertex { position, normal, ..MeshVertex::default() });
            let other = (joint + 1).min(JOINTS - 1) as u16;
            joints.push([joint as u16, other, 0, 0]);
            weights.push([0.75, 0.25, 0.0, 0.0]);
        }
    }
    let quad = |joint: u32| [0, 1, 3, 0, 3, 2].map(|corner| joint * 2 + corner);
    let indices: Vec<u32> = (0..JOINTS - 1).flat_map(quad).collect();
    let skin = MeshSkin::new(&vertices, &joints, &weights);
    let mesh = MeshFrame::of_one_part("strip".to_string(), vertices, indices);
    MeshFrame { skin: Some(Arc::new(skin)), ..mesh }
}

/// Returns the palette of a strip that bends to one side.
fn palette(bend: f32) -> Vec<DrawTransform> {
    let mut matrix = Mat4::IDENTITY;
    let next = |joint: u32| {
        let at = Vec3::new(0.0, 0.0, joint as f32 * 0.03);
        matrix *= Mat4::from_translation(at)
            * Mat4::from_rotation_y(bend / JOINTS as f32)
            * Mat4::from_translation(-at);
        DrawTransform::of(&matrix)
    };
    (0..JOINTS).map(next).collect()
}

/// Returns the first packet, which creates all resources.
fn world(mesh: &Arc<MeshFrame>, shadows: bool) -> FramePacket {
    let mut packet = FramePacket { scale: 1.0, ..FramePacket::default() };
    let set = |slot| MeshChange::Set { slot: MeshSlot(slot), mesh: Arc::clone(mesh) };
    packet.meshes = (0..MESHES).map(set).collect();
    let mut frame = SceneFrame { scene: 1, lights_changed: true, ..SceneFrame::default() };
    for slot in 0..CHARACTERS {
        let at = Vec3::new((slot % SIDE) as f32, (slot / SIDE) as f32, 0.0);
        let (mesh, pose) = (MeshSlot(slot % MESHES), DrawTransform::at(at));
        let draw = DrawMesh { slot: DrawSlot(slot), mesh, pose, ..DrawMesh::DEFAULT };
        frame.changes.push(DrawChange::Set(draw));
    }
    let direction = Vec3::new(0.3, 0.4, -0.9).normalize();
    let kind = LightKind::Sun { direction, casts_shadows: shadows };
    frame.lights.push(LightFrame { kind, color: [2.0; 3], ..LightFrame::DEFAULT });
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    packet.textures.push(TextureChange::Target { slot: TARGET, width: 64, height: 36, sampling });
    packet.scenes.push(frame);
    packet.views.push(above());
    packet
}

/// Returns a view from above the middle, in which all characters are visible.
fn above() -> View {
    let half = SIDE as f32 * 0.5;
    let position = Vec3::new(half, half - 0.1, SIDE as f32 * 1.3);
    let camera = CameraFrame {
        view: views::look_at_mat4(position, Vec3::new(half, half, 0.0), Vec3::Y),
        projection: projections::perspective(1.0, 1.0, 0.5, SIDE as f32 * 3.0),
        position,
        near: 0.5,
        far: SIDE as f32 * 3.0,
    };
    View {
        target: ViewTarget::Texture(TARGET),
        rectangle: [0.0, 0.0, 1.0, 1.0],
        clear: None,
        camera,
        scene: Some(1),
        layers: u32::MAX,
        sky: None,
        environment: Default::default(),
        environment_textures: Default::default(),
        viewport: None,
        guis: Vec::new(),
    }
}

/// Adds a new pose of every character to a packet.
fn add_poses(packet: &mut FramePacket, skin: &MeshSkin, poses: &[Vec<DrawTransform>], step: u32) {
    let mut frame = packet.spare_scenes.pop().unwrap_or_default();
    frame.scene = 1;
    for slot in 0..CHARACTERS {
        let palette = &poses[((slot * 7 + step) % POSES) as usize];
        frame.add_palette(DrawSlot(slot), skin, palette.len(), |all| {
            all.iter_mut().zip(palette).for_each(|(to, from)| *to = from.0);
        });
    }
    packet.scenes.push(frame);
}

fn measure(shadows: bool) -> Vec<Row> {
    let options = RendererOptions {
        choice: AdapterChoice::Software,
        output: SurfaceTarget::Offscreen { width: 64, height: 36 },
        threaded: false,
        vsync: Vsync::Off,
        timing: false,
        quality: RenderQuality { shadow_texels: 256, samples: 1, ..RenderQuality::DEFAULT },
        clock: || 0.0,
    };
    let mut renderer = Renderer::start(options).unwrap_or_else(|error| panic!("{error}"));
    let mut recorder = DrawRecorder::default();
    let mesh = Arc::new(strip());
    let skin = mesh.skin.as_ref().expect("the strip has joints");
    let poses: Vec<_> = (0..POSES).map(|at| palette(at as f32 * 0.004)).collect();
    let first = world(&mesh, shadows);
    recorder.apply(&first);
    let mut packet = renderer.submit(first);
    let (mut fills, mut plans, mut draws) = (Vec::new(), Vec::new(), Vec::new());
    let clock = ThreadClock::of_this_thread();
    for step in 0..WARM + FRAMES {
        packet.views.push(above());
        let before = clock.seconds();
        add_poses(&mut packet, skin, &poses, step as u32);
        let filled = clock.seconds();
        recorder.apply(&packet);
        let planned = clock.seconds();
        packet = renderer.submit(packet);
        let done = clock.seconds();
        if step >= WARM {
            fills.push((filled - before) * 1e3);
            plans.push((planned - filled) * 1e3);
            draws.push((done - planned) * 1e3);
        }
    }
    let events = renderer.events();
    assert!(events.is_empty(), "{events:?}");
    let scene = renderer.statistics().scene;
    assert_eq!((scene.visible, scene.skinned_draws), (CHARACTERS, CHARACTERS));
    let calls = f64::from(scene.draw_calls + scene.shadow_draw_calls);
    let both = fills.iter().zip(&draws).map(|(fill, draw)| fill + draw).collect();
    let light = if shadows { "a sun with 3 shadow maps" } else { "no shadows" };
    let most = (!shadows).then_some(1.0);
    vec![
        named(format!("{light}: both threads"), median(both), "ms", most),
        named(format!("{light}: bounds and packet, the game's thread"), median(fills), "ms", None),
        named(format!("{light}: the render thread"), median(draws), "ms", None),
        named(format!("{light}: of this, applied and planned"), median(plans), "ms", None),
        named(format!("{light}: draw calls"), calls, "calls", None),
        named(format!("{light}: bytes of palettes"), scene.palette_bytes as f64, "bytes", None),
    ]
}
