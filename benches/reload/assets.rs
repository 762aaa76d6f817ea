//! Benchmark of a game of 2,000 files: from its bundle to the first frame, and its compilation.

use super::files::{self, PICTURES, SCRIPTS, TEXT_BYTES, TEXTS};
use super::{Folder, Random};
use crate::child_process::{self, Argument, ResourceUsage};
use crate::table::{Group, median, row};
use std::path::Path;

const RUNS: usize = 15;

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

fn compile(folder: &Folder, out: &Path, bundle: bool) -> ResourceUsage {
    let path = folder.path();
    let mut arguments: Vec<Argument> = vec![&"compile", &path, &"--out", &out];
    if bundle {
        arguments.push(&"--bundle");
    }
    child_process::run(&arguments, folder.saves())
}

/// Returns the median CPU time of a bundle's start, first frame and end.
fn first_frame(folder: &Folder) -> f64 {
    let bundle = folder.saves().join("game.bundle");
    compile(folder, &bundle, true);
    let arguments: [Argument; 5] = [&"run", &bundle, &"--headless", &"--frames", &"1"];
    let once = || child_process::run(&arguments, folder.saves()).cpu;
    once();
    median((0..RUNS).map(|_| once()).collect())
}

pub fn measure() -> Group {
    let (folder, empty) = (Folder::new("assets"), Folder::new("empty"));
    files::write(&folder);
    folder.write("main.lua", main_script().as_bytes());
    empty.write("main.lua", b"function init() end\n");
    let (full, nothing) = (first_frame(&folder), first_frame(&empty));
    let out = folder.saves().join("data");
    let clean = compile(&folder, &out, false);
    let unchanged = compile(&folder, &out, false);
    let mut random = Random(2);
    let edits: Vec<ResourceUsage> = (0..RUNS)
        .map(|i| {
            folder.write(
                &format!("scripts/s{}.lua", i + 1),
                files::script(i + 1, &mut random).as_bytes(),
            );
            compile(&folder, &out, false)
        })
        .collect();
    let of = |get: fn(&ResourceUsage) -> f64| median(edits.iter().map(get).collect());
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
