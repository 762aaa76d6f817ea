//! Characters of a game: the update of their world with levels of detail, merging and threads,
//! calls from Lua, and 2D skeletons. The Lua code is in benches/animation/main.lua.

use super::rigs::{SourceRig, source_rigs};
use crate::run::{launch, start};
use crate::table::{Row, median, named, row};
use engine::app::GameLaunch;
use engine::frame_packet::FramePacket;
use engine::platform::ThreadClock;
use engine::script::ScriptValue;
use engine::system::animation::{SourceTrack, TrackProperty};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

const WARM: usize = 80;
const FRAMES: usize = 120;
const CHARACTERS: usize = 1000;
/// Calls for each character in a frame, as in main.lua.
const CALLS: usize = 100;
/// Bones of a character of 60 at its first level of detail, in the units that have sets of bones.
const BONES_IN_SET: usize = 20;
const CLIP_NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A folder with a game, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!("engine-bench-animation-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        std::fs::create_dir_all(folder.0.join("units")).expect("there is room for a game");
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(source.join("benches/animation/main.lua"), folder.0.join("main.lua"))
            .expect("benches/animation/main.lua is there");
        folder
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(path), content).expect("there is room for files");
    }

    /// Copies a folder of the game in examples/puppet.
    fn copy_of_puppet(&self, part: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/puppet").join(part);
        std::fs::create_dir_all(self.0.join(part)).expect("there is room for a folder");
        for entry in std::fs::read_dir(from).expect("the example is there") {
            let entry = entry.expect("the folder can be read");
            if entry.path().is_file() {
                let to = self.0.join(part).join(entry.file_name());
                std::fs::copy(entry.path(), to).expect("there is room for a file");
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("the folder of the run can be removed");
    }
}

/// Writes the ten rigs as models with five animations each, their state machines, and three units
/// for each: without levels of detail, with them, and with a set of bones.
fn people() -> Folder {
    let folder = Folder::new();
    for (index, rig) in source_rigs().iter().enumerate() {
        let name = format!("units/rig{index}");
        let (document, buffer) = model(rig, &format!("rig{index}.bin"));
        folder.write(&format!("{name}.gltf"), document);
        folder.write(&format!("{name}.bin"), buffer);
        let machine = super::MACHINE.replace("units/orc", &name);
        folder.write(&format!("{name}.state_machine"), machine);
        let bones: Vec<String> =
            rig.skeleton.names()[..BONES_IN_SET].iter().map(|name| format!("\"{name}\"")).collect();
        let few = format!(" lod_bones = [[{}]]", bones.join(" "));
        for (kind, detail) in [("near", ""), ("far", " lod_distance = 5"), ("few", &few)] {
            let unit = format!(
                "model = \"{name}\"\ncomponents = {{ animation = {{ state_machine = \
                 \"{name}\"{detail} }} }}\n"
            );
            folder.write(&format!("units/{kind}{index}.unit"), unit);
        }
    }
    folder
}

/// Appends numbers to a buffer, and their view and accessor to lists. Returns the accessor.
fn accessor(
    (buffer, views, accessors): (&mut Vec<u8>, &mut Vec<String>, &mut Vec<String>),
    numbers: &[f32],
    components: usize,
) -> usize {
    let (offset, count) = (buffer.len(), numbers.len() / components);
    numbers.iter().for_each(|number| buffer.extend(number.to_le_bytes()));
    let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][components - 1];
    let mut limits = String::new();
    if components == 1 {
        let last = numbers.last().expect("there are keys");
        write!(limits, r#","min":[{}],"max":[{last}]"#, numbers[0]).expect("it is a string");
    }
    let bytes = numbers.len() * 4;
    views.push(format!(r#"{{"buffer":0,"byteOffset":{offset},"byteLength":{bytes}}}"#));
    accessors.push(format!(
        r#"{{"bufferView":{},"componentType":5126,"count":{count},"type":"{kind}"{limits}}}"#,
        views.len() - 1
    ));
    accessors.len() - 1
}

/// Returns a glTF file with the bones and the motions of a rig, and its buffer.
fn model(rig: &SourceRig, buffer_name: &str) -> (String, Vec<u8>) {
    let (mut buffer, mut views, mut accessors) = (Vec::new(), Vec::new(), Vec::new());
    let mut animations = Vec::new();
    for (motion, name) in rig.motions.iter().zip(CLIP_NAMES) {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for SourceTrack { bone, property, times, values, .. } in &motion.tracks {
            let (path, components) = match property {
                TrackProperty::Rotation => ("rotation", 4),
                _ => ("translation", 3),
            };
            let numbers: Vec<f32> =
                values.iter().flat_map(|value| value[..components].to_vec()).collect();
            let input = accessor((&mut buffer, &mut views, &mut accessors), times, 1);
            let output = accessor((&mut buffer, &mut views, &mut accessors), &numbers, components);
            channels.push(format!(
                r#"{{"sampler":{},"target":{{"node":{bone},"path":"{path}"}}}}"#,
                samplers.len()
            ));
            samplers.push(format!(r#"{{"input":{input},"output":{output}}}"#));
        }
        animations.push(format!(
            r#"{{"name":"{name}","samplers":[{}],"channels":[{}]}}"#,
            samplers.join(","),
            channels.join(",")
        ));
    }
    let document = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{}],
        "animations":[{}],"bufferViews":[{}],"accessors":[{}],
        "buffers":[{{"uri":"{buffer_name}","byteLength":{}}}]}}"#,
        nodes(rig).join(","),
        animations.join(","),
        views.join(","),
        accessors.join(","),
        buffer.len()
    );
    (document, buffer)
}

/// Returns the nodes of the bones of a rig.
fn nodes(rig: &SourceRig) -> Vec<String> {
    let skeleton = &rig.skeleton;
    let node = |bone: usize| {
        let rest = &skeleton.rest()[bone];
        let is_child = |other: &usize| skeleton.parents()[*other] == Some(bone as u16);
        let children: Vec<String> =
            (0..skeleton.bone_count()).filter(is_child).map(|child| child.to_string()).collect();
        let children = match children.is_empty() {
            true => String::new(),
            false => format!(r#","children":[{}]"#, children.join(",")),
        };
        format!(
            r#"{{"name":"{}","translation":{:?},"rotation":{:?}{children}}}"#,
            skeleton.names()[bone],
            rest.position.to_array(),
            rest.rotation.to_array()
        )
    };
    (0..skeleton.bone_count()).map(node).collect()
}

/// Milliseconds of an update: CPU time of the game's thread, and by the clock.
struct Times {
    cpu: f64,
    clock: f64,
}

/// Plays the game of a folder, and returns the medians of the time that `update` takes.
fn play(folder: &Folder, (mode, kind): (&str, &str), count: usize, threads: usize) -> Times {
    let mut app = start(GameLaunch {
        arguments: vec![mode.to_string(), count.to_string(), kind.to_string()],
        deterministic: false,
        threads: Some(threads),
        ..launch(&folder.0)
    });
    let clock = ThreadClock::of_this_thread();
    let (mut cpu, mut by_clock) = (Vec::new(), Vec::new());
    let mut packet = FramePacket::default();
    for frame in 0..WARM + FRAMES {
        let (start, instant) = (clock.seconds(), Instant::now());
        let updated = app.vm().call_core("update", &[ScriptValue::Number(1.0 / 60.0)], 600.0);
        if frame >= WARM {
            cpu.push((clock.seconds() - start) * 1e3);
            by_clock.push(instant.elapsed().as_secs_f64() * 1e3);
        }
        updated.unwrap_or_else(|report| panic!("{report}"));
        let rendered = app.vm().call_core("render", &[], 600.0);
        rendered.unwrap_or_else(|report| panic!("{report}"));
        packet = app.vm().engine().take_packet(packet);
        packet.clear();
        app.vm().engine().frame.index += 1;
        app.vm().collect();
    }
    Times { cpu: median(cpu), clock: median(by_clock) }
}

/// Measures a world of characters: in all detail, with levels of detail and merging, and on two
/// threads.
pub fn worlds() -> Vec<Row> {
    let folder = people();
    let all = play(&folder, ("all", "units/near"), CHARACTERS, 1);
    let two = play(&folder, ("all", "units/near"), CHARACTERS, 2);
    let levels = play(&folder, ("all", "units/far"), CHARACTERS, 1);
    let halved = play(&folder, ("level", "units/near"), CHARACTERS, 1);
    let few = play(&folder, ("level", "units/few"), CHARACTERS, 1);
    let merged = play(&folder, ("merged", "units/far"), CHARACTERS, 1);
    let mut rows = vec![
        row("1,000 characters", all.cpu, "ms", None),
        row("1,000 characters, one thread, by the clock", all.clock, "ms", None),
        row("1,000 characters, two threads, by the clock", two.clock, "ms", Some(1.1)),
        row("with levels of detail", levels.cpu, "ms", None),
        row("with levels of detail and merging", merged.cpu, "ms", Some(0.7)),
        row("all at level 1", halved.cpu, "ms", None),
        row("all at level 1, which has 20 of 60 bones", few.cpu, "ms", None),
    ];
    for count in [100, 10_000] {
        let time = play(&folder, ("all", "units/near"), count, 1).cpu;
        let each = time * 1e3 / count as f64;
        rows.push(named(format!("{count} characters: each"), each, "µs", None));
    }
    rows
}

/// Measures calls from Lua. The same loops without a call are subtracted.
pub fn calls() -> Vec<Row> {
    let folder = people();
    let each = |mode: &str| {
        let time = play(&folder, (mode, "units/near"), CHARACTERS, 1).cpu;
        time * 1e6 / (CHARACTERS * CALLS) as f64
    };
    let nothing = each("nothing");
    vec![
        row("Unit.animation_event", each("event") - nothing, "ns", Some(35.0)),
        row("Unit.animation_set_variable", each("variable") - nothing, "ns", Some(5.0)),
    ]
}

/// Measures 2D skeletons: those of examples/puppet.
pub fn skeletons() -> Vec<Row> {
    let folder = Folder::new();
    ["units", "sheets"].iter().for_each(|part| folder.copy_of_puppet(part));
    let time = play(&folder, ("skeletons", "units/puppet"), CHARACTERS, 1).cpu;
    vec![
        row("1,000 skeletons", time, "ms", None),
        row("a skeleton", time * 1e3 / CHARACTERS as f64, "µs", None),
    ]
}
