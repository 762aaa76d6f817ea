//! Benchmarks of worlds on the game's thread: many still or moving units with meshes, units spawned
//! and destroyed, the memory of a unit. The renderer's work is left out. The Lua code is in
//! benches/scene.
//!
//!     cargo bench -- scene
//!
//! Times are CPU time of the game's thread, the median over 120 frames after 30 frames of warm-up.
//! `update` with the script's work and the creation of the packet are measured separately.

use crate::run::{Run, launch, start};
use crate::table::{Group, Row, median, named};
use engine::app::{App, GameLaunch};
use engine::frame_packet::FramePacket;
use engine::platform::ThreadClock;
use engine::script::ScriptValue;
use std::path::{Path, PathBuf};

const WARM: usize = 30;
const FRAMES: usize = 120;
const MESHES: usize = 50;
const MATERIALS: usize = 20;
/// Nodes of the unit that is spawned and destroyed a thousand times.
const NODES: usize = 20;

pub fn run(run: &mut Run) {
    let folder = folder();
    let mut rows = Vec::new();
    for (mode, count, most) in
        [("still", 1_000, None), ("still", 10_000, Some(1.0)), ("still", 100_000, None)]
    {
        if run.wants(mode) {
            rows.extend(frames(&folder, mode, count, most));
        }
    }
    if run.wants("moved") {
        rows.extend(frames(&folder, "moved", 10_000, None));
    }
    if run.wants("sprites") {
        rows.extend(frames(&folder, "sprites", 10_000, None));
    }
    if run.wants("spawn") {
        rows.extend(spawns(&folder));
    }
    if run.wants("memory") {
        rows.extend(memory(&folder));
    }
    std::fs::remove_dir_all(&folder).expect("the folder of the run can be removed");
    let group = Group {
        name: "scene",
        title: "the cost of worlds on the game's thread",
        workload: "Units of one node more than their root with a mesh, of 50 meshes and 20 \
                   materials, in a grid. Moved: position read, added to and written from Lua. \
                   Sprites: a sheet of 8 frames at about 10 a second, at 41 speeds. Spawned: 1,000 \
                   units of 20 nodes, and destroyed again.",
        rows,
    };
    run.add(group);
}

/// Creates a folder with the game, its units, models and materials.
fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("engine-bench-scene-{}", std::process::id()));
    for part in ["units", "materials"] {
        std::fs::create_dir_all(folder.join(part)).expect("there is room for a game");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/scene/main.lua");
    std::fs::copy(script, folder.join("main.lua")).expect("benches/scene/main.lua is there");
    let write = |path: String, text: String| {
        std::fs::write(folder.join(path), text).expect("there is room for files");
    };
    for i in 0..MATERIALS {
        let text = format!("surface = {{ roughness = {} }}", i as f32 / MATERIALS as f32);
        write(format!("materials/m{i}.material"), text);
    }
    let shapes = ["cube", "sphere", "cylinder", "cone", "torus"];
    for i in 0..MESHES {
        let (shape, material) = (shapes[i % shapes.len()], i % MATERIALS);
        let model = format!("units/model{i}");
        write(format!("{model}.gltf"), triangle(i));
        let text = format!(
            "components = {{ {shape} = {{ component = \"mesh\", model = \"{model}\", material = \
             \"materials/m{material}\" }} }}"
        );
        write(format!("units/mesh{i}.unit"), text);
    }
    let nodes: Vec<String> =
        (1..NODES).map(|i| format!("n{i} = {{ position = [0, 0, {i}] }}")).collect();
    write("units/tree.unit".into(), format!("nodes = {{ {} }}", nodes.join(" ")));
    // An image of 127 x 16 texels as text: a header of 18 bytes, then blue, green and red.
    let head: [u8; 18] = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 127, 0, 16, 0, 24, 0];
    let head: String = head.iter().map(|byte| char::from(*byte)).collect();
    write("units/runner.tga".into(), head + &" a~".repeat(127 * 16));
    write("units/runner.sheet".into(), "image = \"units/runner.tga\" frame = [15, 16]".into());
    let sprite = "components = { body = { component = \"sprite\", sheet = \"units/runner\" } }";
    write("units/sprite.unit".into(), sprite.into());
    folder
}

/// Returns a model of one triangle.
fn triangle(i: usize) -> String {
    let mut bytes = Vec::new();
    for number in [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 + i as f32 * 0.01, 0.0] {
        bytes.extend(f32::to_le_bytes(number));
    }
    let data: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let data = base64(&data);
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}}],
        "buffers":[{{"byteLength":36,"uri":"data:;base64,{data}"}}]}}"#
    )
}

/// Returns the base64 of bytes in hexadecimal digits, three at a time. 36 bytes need no padding.
fn base64(hex: &str) -> String {
    let letters: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let mut out = String::new();
    for at in (0..hex.len()).step_by(6) {
        let three = u32::from_str_radix(&hex[at..at + 6], 16).expect("they are digits");
        out.extend([18, 12, 6, 0].map(|shift| letters[(three >> shift & 63) as usize]));
    }
    out
}

fn open(folder: &Path, mode: &str, count: usize) -> App {
    start(GameLaunch {
        arguments: vec![mode.to_string(), count.to_string()],
        deterministic: false,
        ..launch(folder)
    })
}

/// Plays a frame. Returns the seconds of `update`, those of creating the packet, and the packet.
fn frame(app: &mut App, packet: FramePacket, clock: &ThreadClock) -> (f64, f64, FramePacket) {
    let start = clock.seconds();
    let updated = app.vm().call_core("update", &[ScriptValue::Number(1.0 / 60.0)], 600.0);
    let middle = clock.seconds();
    updated.unwrap_or_else(|report| panic!("{report}"));
    let rendered = app.vm().call_core("render", &[], 600.0);
    rendered.unwrap_or_else(|report| panic!("{report}"));
    let mut packet = app.vm().engine().take_packet(packet);
    let end = clock.seconds();
    packet.clear();
    app.vm().engine().frame.index += 1;
    app.vm().collect();
    (middle - start, end - middle, packet)
}

fn frames(folder: &Path, mode: &str, count: usize, most: Option<f64>) -> Vec<Row> {
    let mut app = open(folder, mode, count);
    let clock = ThreadClock::of_this_thread();
    let (mut packet, mut updates, mut packets) = (FramePacket::default(), Vec::new(), Vec::new());
    for at in 0..WARM + FRAMES {
        let (update, taken, next) = frame(&mut app, packet, &clock);
        packet = next;
        if at >= WARM {
            updates.push(update * 1e3);
            packets.push(taken * 1e3);
        }
    }
    let both: Vec<f64> = updates.iter().zip(&packets).map(|(a, b)| a + b).collect();
    vec![
        named(format!("{count} {mode}: update and packet"), median(both), "ms", most),
        named(format!("{count} {mode}: only the packet"), median(packets), "ms", None),
    ]
}

fn spawns(folder: &Path) -> Vec<Row> {
    let mut app = open(folder, "spawn", 1_000);
    let clock = ThreadClock::of_this_thread();
    let (mut packet, mut created, mut ended) = (FramePacket::default(), Vec::new(), Vec::new());
    for at in 0..WARM + FRAMES {
        let (update, _, next) = frame(&mut app, packet, &clock);
        packet = next;
        if at >= WARM {
            if at % 2 == 0 { created.push(update * 1e3) } else { ended.push(update * 1e3) }
        }
    }
    vec![
        named("1,000 units of 20 nodes created".into(), median(created), "ms", Some(3.0)),
        named("the same destroyed".into(), median(ended), "ms", Some(3.0)),
    ]
}

/// Returns the bytes of resident memory of the process, or 0 if the system does not report them.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
    pages.unwrap_or(0.0) * 4096.0
}

fn memory(folder: &Path) -> Vec<Row> {
    const COUNT: usize = 100_000;
    let mut app = open(folder, "memory", COUNT);
    let before = resident();
    let clock = ThreadClock::of_this_thread();
    let mut packet = FramePacket::default();
    // Garbage of the spawning is collected within these frames.
    for _ in 0..200 {
        (_, _, packet) = frame(&mut app, packet, &clock);
        // The frame's data about all units is dropped.
        packet = FramePacket { views: std::mem::take(&mut packet.views), ..FramePacket::default() };
    }
    let each = (resident() - before) / COUNT as f64;
    vec![named(
        "a unit with a mesh, its entry in a Lua list included".into(),
        each,
        "bytes",
        Some(400.0),
    )]
}
