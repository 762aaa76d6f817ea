//! Tests of the content tools: references, renames, merges with git, and their commands.

#[path = "content/bundles.rs"]
mod bundles;
#[path = "content/differences.rs"]
mod differences;
#[path = "content/faults.rs"]
mod faults;
#[path = "content/git.rs"]
mod git;
#[path = "content/hostile_git.rs"]
mod hostile_git;
#[path = "content/index.rs"]
mod index;
#[path = "content/merge_page.rs"]
mod merge_page;
#[path = "content/redirects.rs"]
mod redirects;
#[path = "content/reload.rs"]
mod reload;
#[path = "content/scripts.rs"]
mod scripts;

use crate::game_folder::GameFolder;

/// Creates a small game: a level with a unit, whose model has a material with a texture.
fn game(name: &str) -> GameFolder {
    let game = GameFolder::new("content", name);
    game.write("main.lua", "local enemy = require \"game.enemy\"\nlocal sound = \"sounds/hit\"\n");
    game.write("game/enemy.lua", "return {}\n");
    game.write("units/box.unit", "// A box.\nmodel = \"core/models/cube\"\ncomponents = {\n  mesh = { model = \"core/models/cube\" material = \"materials/wood\" }\n}\n");
    game.write("materials/wood.material", "surface = { base_color_texture = \"textures/wood\" }\n");
    game.write("textures/wood.png", PICTURE);
    game.write(
        "levels/yard.level",
        "units = {\n  box = { unit = \"units/box\" position = [0, 0, 0] }   // the first\n}\n",
    );
    game
}

/// A small picture.
const PICTURE: &[u8] = include_bytes!("lua/pictures/hero.png");
