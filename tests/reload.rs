//! Hot reload of Lua, row by row: what an edit keeps, what it changes, what it cannot change. Every
//! line of the table in docs/hot_reload.md is the name of a row here.

#[path = "reload/failing.rs"]
mod failing;
#[path = "reload/game.rs"]
mod game;
#[path = "reload/rows.rs"]
mod rows;
#[path = "reload/storm.rs"]
mod storm;

use game::Game;
use rows::{CHANGES, KEEPS, Row};

/// The words of what does not hold.
fn fault(row: &Row) -> Result<(), String> {
    let mut game = Game::start(&[("m.lua", row.old), ("other.lua", row.other)]);
    game.step(&format!("m = require 'm' {}", row.before))?;
    let answer = game.try_reload(&[("m.lua", row.new)]);
    if !answer.ok() {
        return Err(answer.text("report").to_string());
    }
    game.step(row.after)?;
    // The same text again changes nothing.
    let again = game.try_reload(&[("m.lua", row.new)]);
    if !again.ok() {
        return Err(again.text("report").to_string());
    }
    let counts = ["added", "removed", "updated"].map(|name| again.number(name));
    match counts == [0.0; 3] {
        true => Ok(()),
        false => Err(format!("the second time: {:?}", again.0)),
    }
}

fn check(rows: &[Row]) {
    let faults: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{}\n{}\n", row.name, fault(row).err()?)))
        .collect();
    assert!(faults.is_empty(), "{} rows do not hold:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn what_an_edit_keeps() {
    check(KEEPS);
}

#[test]
fn what_an_edit_changes() {
    check(CHANGES);
}
