//! Hot reload of Lua, row by row: what an edit keeps, what it changes, what it cannot change. Every
//! line of the table in docs/hot_reload.md is the name of a row here.

#[path = "reload/game.rs"]
mod game;

use game::Game;

/// A module `m` is loaded, `before` runs, its file is edited, `after` runs.
#[track_caller]
fn check(name: &str, old: &str, before: &str, new: &str, after: &str) {
    let mut game = Game::start(&[("m.lua", old)]);
    let told = |report: String| panic!("{name}: {report}");
    game.step(&format!("m = require 'm' {before}")).unwrap_or_else(told);
    let answer = game.try_reload(&[("m.lua", new)]);
    assert!(answer.ok(), "{name}: {}", answer.text("report"));
    game.step(after).unwrap_or_else(told);
}

#[test]
fn a() {
    check(
        "A module's table keeps its identity",
        "local M = {} function M.f() return 1 end return M",
        "t = m f = m.f",
        "local M = {} function M.f() return 2 end return M",
        "assert(require 'm' == t and t.f() == 2 and f() == 2)",
    );
}
