//! Light benchmarks: the cost of choosing and clustering the lights of a view, and of planning
//! their shadow maps, on the render thread. The packets are built directly, and nothing is drawn.
//!
//!     cargo bench -- lights
//!
//! Times are CPU time of one thread for a packet of the null renderer: the median over 200 frames
//! after 30 frames of warm-up.

use crate::run::Run;
use crate::table::{Group, Row, median, named};
use engine::foundation::random::Random;
use engine::foundation::{Vec3, projections, views};
use engine::frame_packet::mesh::{MeshChange, MeshFrame, MeshSlot, MeshVertex};
use engine::frame_packet::scene::{
    DrawChange, DrawMesh, DrawSlot, DrawTransform, LightFrame, LightKind, SceneFrame,
};
use engine::frame_packet::shading_environment::ShadingEnvironment;
use engine::frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use engine::platform::ThreadClock;
use engine::system::render::DrawRecorder;
use std::sync::Arc;

const WARM: usize = 30;
const FRAMES: usize = 200;
/// Boxes on the ground, and half of the side of the square that they stand in, in metres.
const DRAWS: u32 = 1000;
const HALF: f32 = 100.0;

/// The workload of one row.
struct Case {
    label: &'static str,
    lights: usize,
    range: f32,
    shadows: bool,
    /// True if the camera turns a little in each frame.
    camera_moves: bool,
    /// Number of lights that move in each frame.
    moving: usize,
    most: Option<f64>,
}

const CASES: &[Case] = &[
    Case {
        label: "10,000 lights, the camera moves",
        lights: 10_000,
        range: 4.0,
        shadows: false,
        camera_moves: true,
        moving: 0,
        most: Some(1.0),
    },
    Case {
        label: "10,000 lights, all of them move",
        lights: 10_000,
        range: 4.0,
        shadows: false,
        camera_moves: false,
        moving: 10_000,
        most: None,
    },
    Case {
        label: "65,536 lights, the camera moves",
        lights: 65_536,
        range: 4.0,
        shadows: false,
        camera_moves: true,
        moving: 0,
        most: None,
    },
    Case {
        label: "64 shadowed lamps, nothing moves",
        lights: 64,
        range: 12.0,
        shadows: true,
        camera_moves: false,
        moving: 0,
        most: Some(0.1),
    },
    Case {
        label: "64 shadowed lamps, the camera moves",
        lights: 64,
        range: 12.0,
        shadows: true,
        camera_moves: true,
        moving: 0,
        most: None,
    },
    Case {
        label: "64 shadowed lamps, 8 move",
        lights: 64,
        range: 12.0,
        shadows: true,
        camera_moves: false,
        moving: 8,
        most: Some(1.5),
    },
];

pub fn run(run: &mut Run) {
    run.part("lights", || Group {
        name: "lights",
        title: "the cost of planning lights and their shadow maps",
        workload: "Lamps in random places of 900 by 200 metres, among 1,000 boxes; about a tenth \
                   of them is in view. 64 lamps are all in view. A frame without lights is \
                   subtracted.",
        rows: CASES.iter().flat_map(measure).collect(),
    });
}

fn cube() -> MeshFrame {
    let corner = |i: u32| MeshVertex {
        position: [0, 1, 2].map(|axis| (i >> axis & 1) as f32 - 0.5),
        ..MeshVertex::default()
    };
    MeshFrame::of_one_part("cube".to_string(), (0..8).map(corner).collect(), vec![0, 1, 2])
}

fn camera(turn: f32) -> View {
    let position = Vec3::new(0.0, -HALF, 6.0);
    let direction = Vec3::new(turn, 1.0, -0.15).normalize();
    let camera = CameraFrame {
        view: views::look_to_mat4(position, direction, Vec3::Z),
        projection: projections::perspective(0.6, 1.78, 0.1, 500.0),
        position,
        near: 0.1,
        far: 500.0,
    };
    View {
        target: ViewTarget::Screen,
        rectangle: [0.0, 0.0, 1.0, 1.0],
        clear: None,
        camera,
        scene: Some(1),
        layers: u32::MAX,
        sky: None,
        environment: ShadingEnvironment::DEFAULT,
        environment_textures: Default::default(),
        viewport: None,
        guis: Vec::new(),
    }
}

fn lights(case: &Case, shift: f32) -> Vec<LightFrame> {
    let mut random = Random::seed(5);
    let mut number = |least: f32, most: f32| least + (most - least) * random.next_f64() as f32;
    let few = case.lights < 1000;
    let lamp = |i: usize| {
        let depth = if few { number(0.1, 0.4) } else { number(0.0, 1.0) };
        let side = if few { depth * 0.4 } else { 4.5 };
        let (x, y) = (number(-HALF, HALF) * side, depth * 2.0 * HALF - HALF);
        let x = if i < case.moving { x + shift } else { x };
        let position = Vec3::new(x, y, number(0.5, 4.0));
        let kind = LightKind::Omni { position, range: case.range, casts_shadows: case.shadows };
        LightFrame { id: i as u64 + 1, kind, ..LightFrame::DEFAULT }
    };
    (0..case.lights).map(lamp).collect()
}

/// Returns the first packet: the boxes and the lights.
fn world(lights: Vec<LightFrame>) -> FramePacket {
    let mut frame = SceneFrame { scene: 1, lights_changed: true, lights, ..SceneFrame::default() };
    for i in 0..DRAWS {
        let at = |number: u32| (number as f32 / 31.0 - 0.5) * 2.0 * HALF;
        let pose = DrawTransform::at(Vec3::new(at(i % 32), at(i / 32), 0.5));
        let draw = DrawMesh { slot: DrawSlot(i), pose, ..DrawMesh::DEFAULT };
        frame.changes.push(DrawChange::Set(draw));
    }
    let mesh = MeshChange::Set { slot: MeshSlot(0), mesh: Arc::new(cube()) };
    FramePacket {
        meshes: vec![mesh],
        scenes: vec![frame],
        views: vec![camera(0.0)],
        ..FramePacket::default()
    }
}

/// Returns the median of a frame in milliseconds, and the number of lights in view.
fn frames(case: &Case, has_lights: bool) -> (f64, u32) {
    let of = |shift: f32| if has_lights { lights(case, shift) } else { Vec::new() };
    let mut recorder = DrawRecorder::default();
    recorder.apply(&world(of(0.0)));
    let clock = ThreadClock::of_this_thread();
    let (mut times, mut count) = (Vec::new(), 0);
    for i in 0..WARM + FRAMES {
        let part = (i % 20) as f32 * 0.001;
        let mut packet = FramePacket::default();
        packet.views.push(camera(if case.camera_moves { part } else { 0.0 }));
        if case.moving > 0 && has_lights {
            let lights = of(part);
            let frame = SceneFrame { scene: 1, lights_changed: true, lights, ..Default::default() };
            packet.scenes.push(frame);
        }
        let before = clock.seconds();
        recorder.apply(&packet);
        if i >= WARM {
            times.push((clock.seconds() - before) * 1e3);
        }
        count = count.max(recorder.scene_statistics().lights);
    }
    (median(times), count)
}

fn measure(case: &Case) -> Vec<Row> {
    let (bare, _) = frames(case, false);
    let (whole, count) = frames(case, true);
    vec![
        named(case.label.to_string(), (whole - bare).max(0.0), "ms", case.most),
        named(format!("{}: lights in view", case.label), f64::from(count), "lights", None),
    ]
}
