//! Tests of edits while the garbage collector runs: at any point of its cycle, no live object is
//! freed, and its list of objects stays intact.

use super::harness::Game;

const FILES: usize = 40;
const EDITS: usize = 400;

/// Returns one version of a file. Its functions have one upvalue each, and one function and one
/// local are adjacent in memory, so that a write beyond a function's end hits the collector's list.
fn text(version: usize) -> String {
    format!(
        "local M = {{}}
        local count, names = 0, {{}}
        local Thing = {{}} Thing.__index = Thing
        local function tell() return {version} end
        function Thing:tell() return self.n + {version} end
        function M.new(n) return setmetatable({{ n = n }}, Thing) end
        function M.count() count = count + 1 return count end
        function M.note(name) names[name] = true return names end
        function M.version() return tell() end
        M.constant = {version}
        return M"
    )
}

/// Script that uses all files in every frame, and advances the collector by some steps; in every
/// tenth frame to the end of its cycle.
const MAIN: &str = "
    held, instances, frames = {}, {}, 0
    for i = 0, FILES - 1 do
      local m = require('f' .. i)
      held[i], instances[i] = m.version, m.new(i)
    end
    BIG = {}
    for i = 1, 4000 do BIG[i] = { x = i, next = { i } } end
    local function play(i)
      local m = require('f' .. i)
      assert(m.count() == frames)
      assert(m.note('n' .. frames % 5)['n' .. frames % 5])
      assert(m.version() == held[i]() and instances[i]:tell() == i + held[i]())
      assert(m.constant == held[i]())
    end
    function update()
      frames = frames + 1
      for i = 0, FILES - 1 do play(i) end
      for i = 1, frames * 37 % 211 do collectgarbage('step', 0) end
      if frames % 10 == 0 then
        local ended = false
        for i = 1, 200000 do
          if collectgarbage('step', 0) then ended = true break end
        end
        assert(ended, 'the collector does not come to the end of its list')
      end
    end";

#[test]
fn edits_at_any_point_of_the_gc_cycle_are_safe() {
    let names: Vec<String> = (0..FILES).map(|i| format!("f{i}.lua")).collect();
    let first = text(0);
    let main = MAIN.replace("FILES", &FILES.to_string());
    let files = names.iter().map(|name| (name.as_str(), first.as_str()));
    let files: Vec<_> = files.chain([("main.lua", main.as_str())]).collect();
    let mut game = Game::start(&files);
    for edit in 1..=EDITS {
        game.reload(&[(&names[edit * 17 % FILES], &text(edit))]);
        game.frame();
    }
}
