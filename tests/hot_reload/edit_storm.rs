//! Test with a storm of real edits: valid and broken, in place, by renaming and by removing, faster
//! than the game's frames. The state of all files survives, and memory use stays constant.
//! `ENGINE_STORM_EDITS=10000 cargo test --test all hot_reload::edit_storm` sets the number of
//! edits.

use super::Scratch;
use std::fs;
use std::time::Duration;

const FILES: usize = 12;
const EDITS: usize = 600;
/// Number of edits after which all files are fixed and awaited.
const ROUND: usize = 50;

/// Pseudorandom number generator with the same sequence in every run (Knuth's MMIX generator).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % limit
    }
}

const BREAKS: [&str; 4] =
    ["end end", "error('broken')", "local x = nil x.y = 1", "require 'nowhere'"];

/// Returns one version of a file. The game counts its state.
fn text(version: usize, random: &mut Random) -> String {
    let extra = ["", "local unused = { 1, 2, 3 }\n", "-- a remark\n\n"][random.below(3)];
    format!(
        "local M = {{}}
        local count, names = 0, {{}}
        {extra}local function tell() return {version} end
        local Thing = {{}}
        Thing.__index = Thing
        function Thing:tell() return self.n + {version} end
        function M.new(n) return setmetatable({{ n = n }}, Thing) end
        function M.hit(name) count = count + 1 names[name] = true return count, names end
        function M.version() return tell() end
        return M
        "
    )
}

/// Returns a script that checks the state of all files in each frame, and prints when all of them
/// have the same version.
fn main_text() -> String {
    format!(
        "local hits, reported, instances, held = 0, 0, {{}}, {{}}
        function init()
          for i = 1, {FILES} do
            local m = require('f' .. i)
            instances[i], held[i] = m.new(i), m.version
          end
          print('ready')
        end
        function update()
          hits = hits + 1
          local least, most = math.huge, 0
          for i = 1, {FILES} do
            local m = require('f' .. i)
            local count, names = m.hit('n' .. hits % 5)
            assert(count == hits and names['n' .. hits % 5], 'the state is lost')
            local version = held[i]()
            assert(m.version() == version and instances[i]:tell() == i + version)
            least, most = math.min(least, version), math.max(most, version)
          end
          if least == most and least > reported then
            reported = least
            collectgarbage() collectgarbage()
            print('all ' .. reported .. ' hold ' .. math.floor(collectgarbage('count')) .. ' KiB')
          end
        end"
    )
}

#[test]
fn edit_storm_keeps_state_and_memory() {
    let edits = std::env::var("ENGINE_STORM_EDITS").ok().map(|n| n.parse().expect("a number"));
    let edits: usize = edits.unwrap_or(EDITS);
    let mut random = Random(11);
    let names: Vec<String> = (1..=FILES).map(|i| format!("f{i}.lua")).collect();
    let scratch = Scratch::new("storm", &[("main.lua", &main_text())]);
    names.iter().for_each(|name| scratch.save(name, text(0, &mut random)));
    let mut playing = scratch.play();
    playing.wait_for_line("ready");
    let mut first = 0;
    for edit in 1..=edits {
        let name = &names[random.below(FILES)];
        let mut new = text(edit, &mut random);
        if random.below(3) == 0 {
            new.insert_str(random.below(2) * new.len(), BREAKS[random.below(BREAKS.len())]);
        }
        match random.below(4) {
            0 | 1 => scratch.save(name, &new),
            2 => fs::write(scratch.path(name), &new).unwrap(),
            _ => {
                fs::remove_file(scratch.path(name)).unwrap();
                fs::write(scratch.path(name), &new).unwrap();
            }
        }
        // Bursts of all lengths, at all points of a frame.
        if random.below(4) == 0 {
            std::thread::sleep(Duration::from_millis(random.below(8) as u64));
        }
        if edit % ROUND != 0 {
            continue;
        }
        names.iter().for_each(|name| scratch.save(name, text(edit, &mut random)));
        let line = playing.wait_for_line(&format!("all {edit} hold "));
        let held = line.split(' ').rev().nth(1).and_then(|word| word.parse::<usize>().ok());
        let held = held.expect("the game tells what Lua holds");
        if edit == ROUND {
            first = held;
        }
        assert!(held < first + first / 10, "{held} KiB after {edit} edits, {first} after {ROUND}");
    }
    assert!(first > 0, "fewer than {ROUND} edits are no storm");
}
