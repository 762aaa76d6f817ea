//! A game of 2,000 files: from its bundle to the first frame, and its compiler.

use super::child::{self, Argument, Used};
use super::table::{Group, median, row};
use super::{Dice, Folder};
use engine::resource::image::encode_png;
use std::path::Path;

const SCRIPTS: usize = 500;
const PICTURES: usize = 1_000;
const TEXTS: usize = 500;
/// Texels of a picture's side, and of the blocks of one colour in it.
const SIDE: usize = 32;
const BLOCK: usize = 8;
const TEXT_BYTES: usize = 1024;
const RUNS: usize = 15;

/// A script of about 60 lines: six functions, a table of numbers.
fn script(i: usize, dice: &mut Dice) -> String {
    let mut text = format!("local M = {{}}\nM.name = \"unit{i}\"\n");
    let (hp, speed) = (dice.below(999), dice.below(90));
    text += &format!("local config = {{ hp = {hp}, speed = {speed}, tags = {{ \"a{i}\" }} }}\n");
    for k in 1..=6 {
        let (rate, limit, less) = (dice.below(1000), 10 + dice.below(90), 1 + dice.below(8));
        text += &format!(
            "function M.step{k}(self, dt)\n  local v = (self.v{k} or 0) + dt * 0.{rate:03}\n  \
             if v > {limit} then\n    v = v - {less}\n    \
             self.count{k} = (self.count{k} or 0) + 1\n  end\n  self.v{k} = v\n  return v\nend\n"
        );
    }
    text + "M.config = config\nreturn M\n"
}

/// A picture of four colours in blocks, every tenth texel another one.
fn picture(dice: &mut Dice) -> Vec<u8> {
    let mut color = || [0; 3].map(|_: u8| dice.below(256) as u8);
    let palette = [color(), color(), color(), color()];
    let blocks: Vec<usize> = (0..16).map(|_| dice.below(4) as usize).collect();
    let mut texels = Vec::new();
    for y in 0..SIDE {
        for x in 0..SIDE {
            let block = blocks[y / BLOCK * (SIDE / BLOCK) + x / BLOCK];
            let [r, g, b] = match dice.below(10) {
                0 => palette[dice.below(4) as usize],
                _ => palette[block],
            };
            texels.extend([r, g, b, 255]);
        }
    }
    encode_png(SIDE as u32, SIDE as u32, &texels)
}

fn text(dice: &mut Dice) -> String {
    const WORDS: [&str; 8] = ["quick", "brown", "fox", "lazy", "dog", "rain", "roof", "town"];
    let mut text = String::new();
    while text.len() < TEXT_BYTES {
        text += WORDS[dice.below(8) as usize];
        text.push(' ');
    }
    text.truncate(TEXT_BYTES);
    text
}

fn main_script() -> String {
    format!(
        "local scripts, texts, bytes = {{}}, {{}}, 0
function init()
  for i = 1, {SCRIPTS} do scripts[i] = require('scripts.s' .. i) end
  for i = 1, {PICTURES} do Texture.load('images/i' .. i) end
  for i = 1, {TEXTS} do
    texts[i] = Application.data('text', 'text/t' .. i)
    bytes = bytes + #texts[i]
  end
  assert(bytes == {TEXTS} * {TEXT_BYTES} and scripts[7].name == 'unit7')
end
"
    )
}

fn game(folder: &Folder) {
    let mut dice = Dice(1);
    for i in 1..=SCRIPTS {
        folder.write(&format!("scripts/s{i}.lua"), script(i, &mut dice).as_bytes());
    }
    for i in 1..=PICTURES {
        folder.write(&format!("images/i{i}.png"), &picture(&mut dice));
    }
    for i in 1..=TEXTS {
        folder.write(&format!("text/t{i}.txt"), text(&mut dice).as_bytes());
    }
    folder.write("main.lua", main_script().as_bytes());
}

fn compile(folder: &Folder, out: &Path, bundle: bool) -> Used {
    let path = folder.path();
    let mut arguments: Vec<Argument> = vec![&"compile", &path, &"--out", &out];
    if bundle {
        arguments.push(&"--bundle");
    }
    child::run(&arguments, folder.saves())
}

/// The median CPU time of a bundle's start, first frame and end.
fn first_frame(folder: &Folder) -> f64 {
    let bundle = folder.saves().join("game.bundle");
    compile(folder, &bundle, true);
    let arguments: [Argument; 5] = [&"run", &bundle, &"--headless", &"--frames", &"1"];
    let once = || child::run(&arguments, folder.saves()).cpu;
    once();
    median((0..RUNS).map(|_| once()).collect())
}

pub fn measure() -> Group {
    let (folder, empty) = (Folder::new("assets"), Folder::new("empty"));
    game(&folder);
    empty.write("main.lua", b"function init() end\n");
    let (full, nothing) = (first_frame(&folder), first_frame(&empty));
    let out = folder.saves().join("data");
    let clean = compile(&folder, &out, false);
    let unchanged = compile(&folder, &out, false);
    let mut dice = Dice(2);
    let edits: Vec<Used> = (0..RUNS)
        .map(|i| {
            folder.write(&format!("scripts/s{}.lua", i + 1), script(i + 1, &mut dice).as_bytes());
            compile(&folder, &out, false)
        })
        .collect();
    let of = |get: fn(&Used) -> f64| median(edits.iter().map(get).collect());
    Group {
        name: "assets",
        title: "A game of 2,000 files",
        workload: "500 scripts of about 60 lines, 1,000 PNG files of 32 x 32 texels (4 \
                   colours in blocks, a tenth of them noise), 500 texts of 1 KiB; `init` \
                   requires every script, loads every texture and reads every text. \
                   Loading: CPU time of `engine run game.bundle --headless --frames 1`, \
                   less that of a bundle whose `init` is empty. The compiler: `engine \
                   compile`, the process from start to exit; one clean, and the median of \
                   15 after an edit of one script each. Files cached.",
        rows: vec![
            row("bundle to first frame: CPU for loading", full - nothing, "ms", Some(20.0)),
            row("  the whole process", full, "ms", None),
            row("  the process with nothing to load", nothing, "ms", None),
            row("compile after one edit", of(|used| used.wall), "ms", Some(30.0)),
            row("  its CPU time", of(|used| used.cpu), "ms", None),
            row("  compile after no edit", unchanged.wall, "ms", None),
            row("  clean compile", clean.wall, "ms", None),
            row("  its CPU time, clean", clean.cpu, "ms", None),
        ],
    }
}
