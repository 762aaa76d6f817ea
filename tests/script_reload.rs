//! Tests of hot reload of Lua, row by row: what an edit keeps, changes, and cannot change. Every
//! line of the table in docs/hot_reload.md is the name of a row here.

mod attacks;
mod edit_storm;
mod failures;
mod garbage_collection;
mod harness;
mod measurements;
mod reload_table;
mod respawn;
mod searchers;

use failures::{FAILS, LIMITS};
use harness::Game;
use reload_table::{CHANGES, KEEPS, Row};

/// Returns a message if a row does not hold.
fn row_error(row: &Row) -> Result<(), String> {
    let mut game = Game::start(&[("m.lua", row.old), ("other.lua", row.other)]);
    game.step(&format!("m = require 'm' {}", row.before))?;
    let result = game.try_reload(&[("m.lua", row.new)]);
    if !result.ok() {
        return Err(result.text("report").to_string());
    }
    game.step(row.after)?;
    // Saving the same text again changes nothing.
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
    let errors: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{}\n{}\n", row.name, row_error(row).err()?)))
        .collect();
    assert!(errors.is_empty(), "{} rows do not hold:\n{}", errors.len(), errors.join("\n"));
}

#[test]
fn edits_keep_state_as_documented() {
    check(KEEPS);
}

#[test]
fn edits_change_code_as_documented() {
    check(CHANGES);
}

/// Returns the list under a heading of the document, one line per item even if the item is wrapped.
fn list<'a>(document: &'a str, heading: &str) -> Vec<String> {
    let section = document.split("\n## ").find(|section| section.starts_with(heading));
    let section: &'a str = section.unwrap_or_else(|| panic!("no heading '{heading}'"));
    let items = section.split("\n- ").skip(1);
    let text = |item: &str| item.split("\n\n").next().unwrap_or_default().to_string();
    items.map(|item| text(item).split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn documented_rules_match_the_tests() {
    let document = include_str!("../docs/hot_reload.md");
    let names = |rows: &[Row]| rows.iter().map(|row| row.name.to_string()).collect::<Vec<_>>();
    assert_eq!(list(document, "What an edit keeps"), names(KEEPS));
    assert_eq!(list(document, "What an edit changes"), names(CHANGES));
    let fails: Vec<String> = FAILS.iter().map(|(name, ..)| name.to_string()).collect();
    assert_eq!(list(document, "What is refused"), fails);
    let limits: Vec<String> = LIMITS.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(list(document, "How far it goes"), limits);
}
