//! Tests of storms of edits, valid and broken: no state is lost, and memory use stays constant.

use super::harness::Game;

/// Pseudorandom number generator with the same sequence in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}

const FILES: u64 = 12;
const EDITS: u64 = 10_000;

/// Returns one version of a file: its state never appears in the source, its `version` always does.
fn text(file: u64, version: u64, random: &mut Random) -> String {
    let mut text = String::from("local M = {}\nlocal count, names = 0, {}\n");
    if random.below(2) == 0 {
        text += "local unused = { 1, 2, 3 }\n";
    }
    if random.below(3) == 0 && file > 0 {
        text += &format!("local other = require 'f{}'\n", random.below(file));
        text += "function M.other() return other.version() end\n";
    }
    text += &format!("local function tell() return {version} end\n");
    text += "local Thing = {} Thing.__index = Thing\n";
    text += &format!("function Thing:tell() return self.n + {version} end\n");
    text += "function M.new(n) return setmetatable({ n = n }, Thing) end\n";
    text += "function M.hit(name) count = count + 1 names[name] = true return count end\n";
    text += "function M.state() return count, names end\n";
    text += "function M.version() return tell() end\n";
    if random.below(2) == 0 {
        text += &format!("function M.extra{}() return count end\n", random.below(5));
    }
    text += &format!("M.constant = {version}\nreturn M\n");
    text
}

const BREAKS: [&str; 6] = [
    "end end",
    "error('broken')",
    "local x = nil x.y = 1",
    "Timer.after(1, print)",
    "require 'nowhere'",
    "f0, g = 1, 2 require('f0').state = nil error('late')",
];

#[test]
fn thousands_of_edits_keep_state_and_memory() {
    let mut random = Random(7);
    let names: Vec<String> = (0..FILES).map(|i| format!("f{i}.lua")).collect();
    let texts: Vec<String> = (0..FILES).map(|i| text(i, 0, &mut random)).collect();
    let files: Vec<_> = names.iter().zip(&texts).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let main = format!(
        "version, hits, instances, expected = {{}}, {{}}, {{}}, {{}}
        for i = 0, {FILES} - 1 do
          local m = require('f' .. i)
          instances[i], hits[i] = m.new(i), 0
        end
        local held = {{}}
        for i = 0, {FILES} - 1 do held[i] = require('f' .. i).version end
        function update()
          for i = 0, {FILES} - 1 do
            local m = require('f' .. i)
            hits[i] = hits[i] + 1
            assert(m.hit('n' .. hits[i] % 5) == hits[i])
            local count, names = m.state()
            assert(count == hits[i] and names['n' .. hits[i] % 5])
            assert(m.version() == held[i]() and instances[i]:tell() == i + held[i]())
            assert(m.constant == held[i]())
          end
          total = 0
          for i = 0, {FILES} - 1 do total = total + held[i]() end
        end
        function on_total() return total end"
    );
    let mut game = Game::start(&[&files[..], &[("main.lua", main.as_str())]].concat());
    let mut peak = 0;
    for edit in 1..=EDITS {
        let file = random.below(FILES) as usize;
        let new = text(file as u64, edit, &mut random);
        let broken = random.below(3) == 0;
        let new = match broken {
            true => format!("{} {new}", BREAKS[random.below(6) as usize]),
            false => new,
        };
        let result = game.try_reload(&[(&names[file], &new)]);
        assert_eq!(
            result.ok(),
            !broken,
            "edit {edit}: {}",
            if broken { &new } else { result.text("report") }
        );
        if edit % 7 == 0 {
            game.frame();
        }
        if edit % 500 == 0 {
            game.app().vm().collect_all();
            let (used, _) = game.app().vm().memory();
            println!("after {edit} edits Lua holds {used} bytes");
            if edit == 500 {
                peak = used;
            }
            assert!(used < peak + peak / 20, "{used} bytes after {edit} edits, {peak} after 500");
        }
    }
}
