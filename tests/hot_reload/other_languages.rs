//! Tests of hot reload of modules that a searcher of the game found: files of other languages.

use super::{MAIN, Scratch};
use std::fs;

/// A searcher of modules in another language, as `main.lua` of the manual has for Fennel. The
/// language is Lua with `fn` in place of `function`.
const SEARCHER: &str = "local function search(name)
  local path = name:gsub('%.', '/')
  if not Application.can_get('text', path) then return 'there is no ' .. path .. '.fnl' end
  local code = Application.data('text', path):gsub('%f[%w]fn%f[%W]', 'function')
  return assert(load(code, '@' .. path .. '.fnl')), path .. '.fnl'
end
table.insert(package.searchers, search)
";

#[test]
fn module_of_another_language_is_reloaded_by_its_searcher() {
    let source = "local M, hits = {}, 0
fn M.words(frames)
  hits = hits + 1
  return 'one, ' .. (hits == frames and 'nothing is lost' or 'the count is lost')
end
return M
";
    let main = SEARCHER.to_string() + &MAIN.replace("'ship'", "'parts/ship'");
    let scratch = Scratch::new("searched", &[("main.lua", &main), ("parts/ship.fnl", source)]);
    let mut game = scratch.play();
    game.wait_for_line("one, nothing is lost");
    scratch.save("parts/ship.fnl", source.replace("one", "two"));
    game.wait_for_lines(&["reloaded parts/ship.fnl: 1 function", "two, nothing is lost"]);
    scratch.save("parts/ship.fnl", source.replace("return M", "return return M"));
    game.wait_for_line("parts/ship.fnl:6: ");
    scratch.save("parts/ship.fnl", source.replace("one", "three"));
    game.wait_for_line("three, nothing is lost");
    scratch.save("parts/hull.fnl", "return { name = fn() return 'a hull' end }");
    let with_hull = source.replace("'one, '", "require('parts.hull').name() .. ', '");
    scratch.save("parts/ship.fnl", with_hull);
    game.wait_for_line("a hull, nothing is lost");
    scratch.save("parts/hull.fnl", "return { name = fn() return 'a deck' end }");
    game.wait_for_line("a deck, nothing is lost");
    game.check_running();
}

#[test]
fn deleted_broken_file_of_another_language_is_not_waited_for() {
    let source = "return { words = fn() return 'one' end }\n";
    let main = SEARCHER.to_string()
        + "package.loaded.hull = nil require 'hull' ship = require 'ship'
local last
function update()
  if ship.words() ~= last then last = ship.words() print(last) end
end
";
    let files = [("main.lua", &main[..]), ("ship.fnl", source), ("hull.fnl", "return {}")];
    let scratch = Scratch::new("searched_deleted", &files);
    let mut game = scratch.play();
    game.wait_for_line("one");
    scratch.save("hull.fnl", "return {");
    game.wait_for_line("hull.fnl:1: ");
    // It waits together with the broken file.
    scratch.save("ship.fnl", source.replace("one", "two"));
    game.wait_for_line("hull.fnl:1: ");
    fs::remove_file(scratch.path("hull.fnl")).expect("it is there");
    game.wait_for_lines(&["reloaded ship.fnl: 1 function", "two"]);
    game.check_running();
}
