//! Gui benchmarks: sprites, strings and widgets drawn one by one from Lua, as games do. The
//! renderer's work is left out. The Lua code is in benches/gui.
//!
//!     cargo bench -- gui
//!
//! Times are CPU time of the game's thread for `render` and for creating the packet, the median
//! over 120 frames after 60 frames of warm-up. Draw calls are those of the null renderer.

pub mod textures;

use crate::run::{Run, launch, start};
use crate::table::{Group, Row, median, named};
use engine::app::GameLaunch;
use engine::frame_packet::FramePacket;
use engine::platform::ThreadClock;
use engine::system::render::DrawRecorder;
use std::path::{Path, PathBuf};

const WARM: usize = 60;
const FRAMES: usize = 120;

/// Mode, count, description, maximum milliseconds, maximum draw calls.
type Case = (&'static str, usize, &'static str, Option<f64>, Option<f64>);

const CASES: &[Case] = &[
    ("one", 10_000, "10,000 sprites, one texture", Some(0.4), Some(1.0)),
    ("colors", 10_000, "the same, a colour created for each", None, None),
    ("plain", 10_000, "the same, no colour, positions without a layer", None, None),
    ("parts", 10_000, "the same, a part of the picture, no colour", None, None),
    ("eight", 10_000, "10,000 sprites, 8 textures in turn", Some(0.5), Some(8.0)),
    ("eight", 50_000, "50,000 sprites, 8 textures in turn", Some(2.5), Some(8.0)),
    ("kept", 10_000, "10,000 retained, unchanged", Some(0.002), None),
    ("moved", 10_000, "10,000 retained, all moved", Some(0.5), None),
    ("strings", 2_000, "2,000 strings, changing each frame", Some(0.4), None),
    ("same_strings", 2_000, "2,000 strings, the same in each frame", None, None),
    ("long_strings", 300, "300 strings of 95 letters, new in each frame", Some(0.7), None),
    ("rects", 5_000, "5,000 filled rectangles", None, None),
    ("widgets", 5_000, "5,000 widgets: fill, outline, label", Some(1.2), Some(8.0)),
];

pub fn run(run: &mut Run) {
    let folder = folder();
    let mut rows = Vec::new();
    for case in CASES {
        if run.wants(case.0) {
            rows.extend(measure(&folder, case));
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder of the run can be removed");
    let group = Group {
        name: "gui",
        title: "the cost of drawing",
        workload: "Sprites of 16 x 16 at whole positions, strings of 12 units in a grid of 40 x 6, \
                   widgets of 14 x 5 in a grid of 16 x 6. Every position, and where stated every \
                   colour, is created in the loop.",
        rows,
    };
    run.add(group);
}

/// Creates a folder with the game and its eight textures.
fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("engine-bench-gui-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room for a game");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gui/main.lua");
    std::fs::copy(script, folder.join("main.lua")).expect("benches/gui/main.lua is there");
    textures::write(&folder);
    folder
}

fn measure(folder: &Path, (mode, count, label, most, calls): &Case) -> Vec<Row> {
    let mut app = start(GameLaunch {
        arguments: vec![mode.to_string(), count.to_string()],
        deterministic: false,
        ..launch(folder)
    });
    let mut recorder = DrawRecorder::default();
    let mut packet = FramePacket::default();
    let mut times = Vec::new();
    let clock = ThreadClock::of_this_thread();
    for frame in 0..WARM + FRAMES {
        let before = clock.seconds();
        let called = app.vm().call_core("render", &[], 600.0);
        packet = app.vm().engine().take_packet(packet);
        let seconds = clock.seconds() - before;
        called.unwrap_or_else(|report| panic!("{report}"));
        recorder.apply(&packet);
        packet.clear();
        app.vm().engine().frame.index += 1;
        app.vm().collect();
        if frame >= WARM {
            times.push(seconds * 1e3);
        }
    }
    let drawn = recorder.draws().len() as f64;
    vec![
        named(label.to_string(), median(times), "ms", *most),
        named(format!("{label}: draw calls"), drawn, "calls", *calls),
    ]
}
