//! The picture of the crates in ARCHITECTURE.md, drawn from the manifests: a box for each crate, in
//! rows by layer, with the crates that it uses.

use super::crates::{LAYERS, manifests, read};
use super::source::root;
use std::collections::BTreeMap;
use std::fmt::Write;

const DIAGRAM: &str = "docs/pictures/crates.svg";

/// Sizes in pixels.
const WIDTH: usize = 1000;
const MARGIN: usize = 10;
const GAP: usize = 8;
const LINE: usize = 14;
const BOXES_PER_ROW: usize = 5;
/// Characters of 11 pixels that fit into a pixel of width, as a fraction.
const CHARACTERS: (usize, usize) = (10, 62);

/// Breaks a list into lines of at most `most` characters.
fn lines(names: &[String], most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (i, name) in names.iter().enumerate() {
        let comma = if i + 1 < names.len() { "," } else { "" };
        let last = lines.last_mut().expect("it has one line");
        if !last.is_empty() && last.len() + name.len() + 2 > most {
            lines.push(format!("{name}{comma}"));
        } else {
            let space = if last.is_empty() { "" } else { " " };
            write!(last, "{space}{name}{comma}").expect("strings take everything");
        }
    }
    lines
}

/// Returns the crates of the engine that each crate uses outside of tests. Runs of all systems are
/// one word.
fn uses() -> BTreeMap<String, Vec<String>> {
    let systems = LAYERS.iter().max_by_key(|row| row.len()).expect("there are layers");
    let mut all = BTreeMap::new();
    for file in manifests() {
        let (package, dependencies) = read(&file.text);
        let names = dependencies.iter().filter(|dependency| !dependency.for_tests);
        let mut names: Vec<_> =
            names.filter_map(|dependency| dependency.own().map(String::from)).collect();
        if systems.iter().all(|system| names.iter().any(|name| name == system)) {
            names.retain(|name| !systems.contains(&name.as_str()));
            names.push("all systems".into());
        }
        all.insert(package, names);
    }
    all
}

fn draw() -> String {
    let uses = uses();
    let (mut boxes, mut y) = (String::new(), MARGIN);
    for row in LAYERS.iter().rev().flat_map(|row| row.chunks(BOXES_PER_ROW)) {
        let width = (WIDTH - 2 * MARGIN - (row.len() - 1) * GAP) / row.len();
        let most = (width - 2 * GAP) * CHARACTERS.0 / CHARACTERS.1;
        let texts = row.iter().map(|name| (name, lines(&uses[*name], most)));
        let texts: Vec<_> = texts.collect();
        let longest = texts.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        let height = (longest + 2) * LINE;
        for (i, (name, lines)) in texts.iter().enumerate() {
            let x = MARGIN + i * (width + GAP);
            writeln!(
                boxes,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>\n\
                 <text class=\"name\" x=\"{}\" y=\"{}\">{name}</text>",
                x + GAP,
                y + LINE + 3
            )
            .expect("strings take everything");
            for (k, line) in lines.iter().enumerate() {
                let (x, y) = (x + GAP, y + (k + 2) * LINE + 4);
                writeln!(boxes, "<text x=\"{x}\" y=\"{y}\">{line}</text>")
                    .expect("strings take everything");
            }
        }
        y += height + GAP;
    }
    let height = y - GAP + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\">\n<style>rect {{ fill: #f4f6f8; stroke: #8a97a5 }} \
         text {{ font: 11px sans-serif; fill: #445 }} .name {{ font: bold 14px sans-serif; \
         fill: #112 }}</style>\n<rect width=\"{WIDTH}\" height=\"{height}\" \
         style=\"fill: white; stroke: none\"/>\n{boxes}</svg>\n"
    )
}

#[test]
fn crate_diagram_is_current() {
    let (path, drawn) = (root().join(DIAGRAM), draw());
    if std::env::var_os("ENGINE_GOLDEN_UPDATE").is_some() {
        std::fs::write(&path, &drawn).expect("the picture can be written");
    }
    let existing = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        existing == drawn,
        "{DIAGRAM} is not the one of the manifests: draw it again with \
         `ENGINE_GOLDEN_UPDATE=1 cargo test --test gate crate_diagram`"
    );
}
