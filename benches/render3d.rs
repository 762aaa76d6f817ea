//! Render benchmarks: the cost of drawing many meshes on the render thread. The packets are built
//! directly, without scripts and scene graph.
//!
//!     cargo bench -- render3d
//!
//! Times are CPU time of the drawing thread, from taking a packet over to passing it to the
//! adapter, the median over 120 frames after 30 frames of warm-up. The adapter is the software
//! adapter, which draws on its own threads, onto a target of 64 x 36 pixels.

#[path = "../tests/golden/meshes.rs"]
#[expect(dead_code, reason = "the pictures draw more of them")]
mod meshes;

use crate::run::Run;
use crate::table::{Group, Row, median, named};
use engine::foundation::{Mat4, Vec3, projections, views};
use engine::frame_packet::mesh::{MeshChange, MeshSlot, SurfaceChange, SurfaceFrame, SurfaceSlot};
use engine::frame_packet::scene::{
    DrawChange, DrawMesh, DrawSlot, DrawTransform, LightFrame, LightKind, SceneFrame,
};
use engine::frame_packet::texture::{
    SamplerSettings, TexelFormat, TextureChange, TextureSlot, TextureTexels, WrapMode,
};
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use engine::platform::ThreadClock;
use engine::system::render::{
    AdapterChoice, DrawRecorder, RenderQuality, Renderer, RendererOptions, SurfaceTarget, Vsync,
};
use std::sync::Arc;

const WARM: usize = 30;
const FRAMES: usize = 120;
const MESHES: u32 = 50;
const MATERIALS: u32 = 20;
/// Render target of the benchmark. A screen without a window is only drawn if it is captured.
const TARGET: TextureSlot = TextureSlot(100);

/// The workload of one row.
struct Case {
    label: &'static str,
    draws: u32,
    /// True if each material has its own texture. Otherwise materials differ only in numbers.
    textured: bool,
    /// True if all meshes move in each frame.
    moved: bool,
    /// True if a sun casts shadows.
    shadows: bool,
    most: Option<f64>,
}

const CASES: &[Case] = &[
    Case {
        label: "10,000 still, materials differ in numbers",
        draws: 10_000,
        textured: false,
        moved: false,
        shadows: false,
        most: Some(2.0),
    },
    Case {
        label: "10,000 still, each material has a texture",
        draws: 10_000,
        textured: true,
        moved: false,
        shadows: false,
        most: Some(2.0),
    },
    Case {
        label: "10,000 moved, each material has a texture",
        draws: 10_000,
        textured: true,
        moved: true,
        shadows: false,
        most: None,
    },
    Case {
        label: "10,000 still, textures, a sun with 3 shadow maps",
        draws: 10_000,
        textured: true,
        moved: false,
        shadows: true,
        most: None,
    },
    Case {
        label: "100,000 still, materials differ in numbers",
        draws: 100_000,
        textured: false,
        moved: false,
        shadows: false,
        most: None,
    },
];

pub fn run(run: &mut Run) {
    run.part("meshes", || Group {
        name: "render3d",
        title: "the cost of drawing a world",
        workload: "Boxes in a square grid, all in view, of 50 meshes with 20 materials in turn, so \
                   that every mesh has every material.",
        rows: CASES.iter().flat_map(measure).collect(),
    });
}

fn pose_of(i: u32, side: u32, shift: f32) -> DrawTransform {
    let at = Vec3::new((i % side) as f32 + shift, (i / side) as f32, 0.0);
    DrawTransform::of(&(Mat4::from_translation(at) * Mat4::from_scale(Vec3::splat(0.3))))
}

/// Returns the first packet, which creates all resources.
fn world(case: &Case) -> FramePacket {
    let side = f64::from(case.draws).sqrt().ceil() as u32;
    let mut packet = FramePacket { scale: 1.0, ..FramePacket::default() };
    let cube = Arc::new(meshes::cube());
    let mesh = |i| MeshChange::Set { slot: MeshSlot(i), mesh: Arc::clone(&cube) };
    packet.meshes = (0..MESHES).map(mesh).collect();
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Repeat };
    for i in 0..MATERIALS {
        let slot = TextureSlot(i + 1);
        if case.textured {
            let bytes = vec![255; 4 * 4 * 4].into();
            let (format, start) = (TexelFormat::Rgba8Srgb, 0);
            let texels =
                TextureTexels { width: 4, height: 4, levels: 1, format, sampling, bytes, start };
            packet.textures.push(TextureChange::Set { slot, texels });
        }
        let surface = SurfaceFrame {
            roughness: 0.2 + 0.03 * i as f32,
            base_color_texture: case.textured.then_some((slot, sampling)),
            ..SurfaceFrame::DEFAULT
        };
        packet.surfaces.push(SurfaceChange::Set { slot: SurfaceSlot(i + 1), surface });
    }
    let mut frame = SceneFrame { scene: 1, lights_changed: true, ..SceneFrame::default() };
    frame.surfaces = (1..=MATERIALS).map(SurfaceSlot).collect();
    for i in 0..case.draws {
        let draw = DrawMesh {
            slot: DrawSlot(i),
            mesh: MeshSlot(i % MESHES),
            surfaces: (i / MESHES % MATERIALS, 1),
            pose: pose_of(i, side, 0.0),
            ..DrawMesh::DEFAULT
        };
        frame.changes.push(DrawChange::Set(draw));
    }
    let direction = Vec3::new(0.3, 0.4, -0.9).normalize();
    let kind = LightKind::Sun { direction, casts_shadows: case.shadows };
    frame.lights.push(LightFrame { kind, color: [2.0; 3], ..LightFrame::DEFAULT });
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let target = TextureChange::Target { slot: TARGET, width: 64, height: 36, sampling };
    packet.textures.push(target);
    packet.scenes.push(frame);
    packet.views.push(above(side));
    packet
}

/// Returns a view from above the middle, in which all meshes are visible.
fn above(side: u32) -> View {
    let half = side as f32 * 0.5;
    let position = Vec3::new(half, half - 0.1, side as f32 * 1.2);
    let camera = CameraFrame {
        view: views::look_at_mat4(position, Vec3::new(half, half, 0.0), Vec3::Y),
        projection: projections::perspective(1.0, 1.0, 0.5, side as f32 * 3.0),
        position,
        near: 0.5,
        far: side as f32 * 3.0,
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

fn measure(case: &Case) -> Vec<Row> {
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
    let side = f64::from(case.draws).sqrt().ceil() as u32;
    let first = world(case);
    recorder.apply(&first);
    let mut packet = renderer.submit(first);
    let (mut times, mut plans) = (Vec::new(), Vec::new());
    let clock = ThreadClock::of_this_thread();
    for i in 0..WARM + FRAMES {
        packet.views.push(above(side));
        if case.moved {
            let mut frame = packet.spare_scenes.pop().unwrap_or_default();
            frame.scene = 1;
            let shift = (i % 10) as f32 * 0.01;
            frame.moved.extend((0..case.draws).map(DrawSlot));
            frame.poses.extend((0..case.draws).map(|draw| pose_of(draw, side, shift)));
            packet.scenes.push(frame);
        }
        let before = clock.seconds();
        recorder.apply(&packet);
        let planned = clock.seconds();
        packet = renderer.submit(packet);
        let done = clock.seconds();
        if i >= WARM {
            plans.push((planned - before) * 1e3);
            times.push((done - planned) * 1e3);
        }
    }
    let events = renderer.events();
    assert!(events.is_empty(), "{events:?}");
    let scene = renderer.statistics().scene;
    assert_eq!(scene.visible, case.draws, "all of it is in view");
    let calls = f64::from(scene.draw_calls + scene.shadow_draw_calls);
    vec![
        named(case.label.to_string(), median(times), "ms", case.most),
        named(format!("{}: only planning", case.label), median(plans), "ms", None),
        named(format!("{}: draw calls", case.label), calls, "calls", None),
    ]
}
