//! Tests of streamed animations in a folder and in a bundle: equal poses, damaged chunks, and the
//! description of the chunks.

use super::Scratch;
use std::fs;

const MAIN: &str = r#"
local world, unit, hip
function init()
  world = Application.new_world()
  unit = World.spawn_unit(world, "units/column")
  hip = Unit.node(unit, "Hip")
  Unit.crossfade_animation(unit, "units/rise")
end
function update()
  World.update(world, 0.1)
  print(Unit.local_position(unit, hip).z)
end
"#;
const COLUMN: &str = include_str!("../lua/models/column.gltf");
const RISE: &str = "source = \"units/column#Rise\" stream = 0.25";

fn scratch(name: &str) -> Scratch {
    let files = [("main.lua", MAIN), ("units/column.gltf", COLUMN), ("units/rise.animation", RISE)];
    Scratch::new(name, &files)
}

/// Returns the heights that a run printed.
#[track_caller]
fn heights(text: &str) -> Vec<f32> {
    let heights: Vec<f32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    assert_eq!(heights.len(), 9, "{text}");
    heights
}

#[test]
fn streamed_animations_play_from_folder_and_bundle() {
    let scratch = scratch("streams");
    scratch.bundle();
    let folder = scratch.engine("run game --headless --frames 9");
    let heights = heights(&folder.out);
    for (frame, height) in (1..).zip(heights) {
        assert!((height - frame as f32 * 0.1).abs() < 1e-3, "{height} in frame {frame}");
    }
    let bundle = scratch.engine("run game.bundle --headless --frames 9");
    bundle.check(0, &folder.out, &folder.err);
    let explained = scratch.engine("explain game units/rise.animation").out;
    assert!(explained.contains("streamed: 4 chunks of up to 0.25 s"), "{explained}");
}

#[test]
fn a_damaged_chunk_in_a_bundle_holds_the_pose() {
    let scratch = scratch("damaged-streams");
    let mut bytes = fs::read(scratch.bundle()).unwrap();
    let find = |bytes: &[u8], text: &[u8], from: usize| {
        let found = bytes[from..].windows(text.len()).position(|part| part == text);
        from + found.expect("the bundle has it")
    };
    // The head has a clip without tracks; then the chunks follow.
    let mut at = find(&bytes, b"ANIM", 0);
    for _ in 0..3 {
        at = find(&bytes, b"CLIP", at + 4);
    }
    bytes[at + 40] ^= 0x20;
    fs::write(scratch.path("game.bundle"), bytes).unwrap();
    let run = scratch.engine("run game.bundle --headless --frames 9");
    let message = "animation 'units/rise': the data of units/rise.animation: it is damaged";
    assert_eq!(run.err.matches(message).count(), 1, "{}", run.err);
    assert!(run.err.contains("poses hold from second 0.2 to 0.5"), "{}", run.err);
    let heights = heights(&run.out);
    assert!(heights[2..4].iter().all(|height| *height == heights[1]), "{heights:?}");
    assert!((heights[4] - 0.5).abs() < 1e-3, "{heights:?}");
}
