//! Tests of the reload of modules that a searcher of the game found.

use super::harness::Game;

#[test]
fn a_loader_that_compiles_when_it_is_called_is_reloaded() {
    let mut game = Game::start(&[]);
    game.step(
        "code = 'function hit() return 1 end return { hit = hit }'
         table.insert(package.searchers, function(name)
           if name ~= 'x' then return end
           return function(...) return load(code, '@x.fnl')(...) end, 'x.fnl'
         end)
         x = require 'x' old = hit
         assert(hit() == 1)",
    )
    .unwrap();
    for n in 2..4 {
        game.step(&format!("code = code:gsub('return %d', 'return {n}')")).unwrap();
        game.reload(&[("x.fnl", "")]);
        game.step(&format!("assert(hit and hit() == {n} and x.hit == hit and getfenv(hit) == _G)"))
            .unwrap_or_else(|report| panic!("{report}"));
    }
}

#[test]
fn effects_of_a_searcher_last_only_if_the_reload_succeeds() {
    let mut game = Game::start(&[("m.lua", "return 1")]);
    game.step(
        "asked, cache = 0, {}
         table.insert(package.searchers, function(name)
           if name ~= 'y' and name ~= 'x' then return end
           asked = asked + 1
           cache[name] = true
           return load('return { name = ... }', '@' .. name .. '.fnl'), name .. '.fnl'
         end)
         require 'm' require 'x' asked = 0",
    )
    .unwrap();
    let failed = game.try_reload(&[("m.lua", "local y = require 'y' error('late ' .. y.name)")]);
    assert!(failed.text("message").contains("late y"), "{failed:?}");
    game.step("assert(asked == 0 and not cache.y, asked)").unwrap();
    game.reload(&[("m.lua", "return require 'y'.name"), ("x.fnl", "")]);
    game.step("assert(cache.y and require 'y'.name == 'y' and asked > 0, asked)").unwrap();
}

#[test]
fn the_environment_of_a_file_in_a_dry_run_is_its_g() {
    let mut game = Game::start(&[("m.lua", "return 1")]);
    game.step("require 'm'").unwrap();
    let new = "assert(getfenv(1) == _G and getfenv() == _G and getfenv(0) == _G)
        local function read() return kept end
        setfenv(read, getfenv(1))
        for name in pairs(getfenv(1)) do found = found or name == 'print' end
        kept = 5
        return { read = read, env = getfenv(read) }";
    game.reload(&[("m.lua", new)]);
    game.step("local m = require 'm' assert(found and m.env == _G and m.read() == 5)").unwrap();
}

#[test]
fn requires_of_searched_modules_keep_false_and_give_reasons() {
    let mut game = Game::start(&[]);
    game.step(
        "package.preload.none = function() return false end
         assert(require 'none' == false)
         local searchers = package.searchers
         searchers[1], searchers[2] = function() end, nil
         local ok, problem = pcall(require, 'other')
         assert(not ok and problem:find(\"no function of package.searchers finds it\", 1, true),
           problem)
         searchers[1] = nil
         ok, problem = pcall(require, 'other')
         assert(problem:find('package.searchers is empty', 1, true), problem)",
    )
    .unwrap_or_else(|report| panic!("{report}"));
}
