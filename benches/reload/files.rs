//! The files of a game of 2,000 files, without its main.lua.

use super::folder::{Folder, Random};
use engine::resource::image::encode_png;

pub const SCRIPTS: usize = 500;
pub const PICTURES: usize = 1_000;
pub const TEXTS: usize = 500;
/// Side length of an image, in texels.
const SIDE: usize = 32;
/// Side length of the image's blocks of one color, in texels.
const BLOCK: usize = 8;
pub const TEXT_BYTES: usize = 1024;

/// Returns a script of about 60 lines: six functions, a table of numbers.
pub fn script(i: usize, random: &mut Random) -> String {
    let mut text = format!("local M = {{}}\nM.name = \"unit{i}\"\n");
    let (hp, speed) = (random.below(999), random.below(90));
    text += &format!("local config = {{ hp = {hp}, speed = {speed}, tags = {{ \"a{i}\" }} }}\n");
    for k in 1..=6 {
        let (rate, limit, less) = (random.below(1000), 10 + random.below(90), 1 + random.below(8));
        text += &format!(
            "function M.step{k}(self, dt)\n  local v = (self.v{k} or 0) + dt * 0.{rate:03}\n  \
             if v > {limit} then\n    v = v - {less}\n    \
             self.count{k} = (self.count{k} or 0) + 1\n  end\n  self.v{k} = v\n  return v\nend\n"
        );
    }
    text + "M.config = config\nreturn M\n"
}

/// Returns an image of blocks in four colors, in which every tenth texel has another color.
fn picture(random: &mut Random) -> Vec<u8> {
    let mut color = || [0; 3].map(|_: u8| random.below(256) as u8);
    let palette = [color(), color(), color(), color()];
    let blocks: Vec<usize> = (0..16).map(|_| random.below(4) as usize).collect();
    let mut texels = Vec::new();
    for y in 0..SIDE {
        for x in 0..SIDE {
            let block = blocks[y / BLOCK * (SIDE / BLOCK) + x / BLOCK];
            let [r, g, b] = match random.below(10) {
                0 => palette[random.below(4) as usize],
                _ => palette[block],
            };
            texels.extend([r, g, b, 255]);
        }
    }
    encode_png(SIDE as u32, SIDE as u32, &texels)
}

fn text(random: &mut Random) -> String {
    const WORDS: [&str; 8] = ["quick", "brown", "fox", "lazy", "dog", "rain", "roof", "town"];
    let mut text = String::new();
    while text.len() < TEXT_BYTES {
        text += WORDS[random.below(8) as usize];
        text.push(' ');
    }
    text.truncate(TEXT_BYTES);
    text
}

/// Writes the files: `scripts/s1.lua`, `images/i1.png`, `text/t1.txt` and so on.
pub fn write(folder: &Folder) {
    let mut random = Random(1);
    for i in 1..=SCRIPTS {
        folder.write(&format!("scripts/s{i}.lua"), script(i, &mut random).as_bytes());
    }
    for i in 1..=PICTURES {
        folder.write(&format!("images/i{i}.png"), &picture(&mut random));
    }
    for i in 1..=TEXTS {
        folder.write(&format!("text/t{i}.txt"), text(&mut random).as_bytes());
    }
}
