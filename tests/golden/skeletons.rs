//! Golden image of two-dimensional skeletons: the puppet of examples/puppet in several poses.

use super::compare;
use super::games::RenderedGame;
use std::fs;
use std::path::Path;

/// Files of the example that the scene shows.
const FILES: [&str; 9] = [
    "sheets/flame.png",
    "sheets/flame.sheet",
    "sheets/puppet.png",
    "sheets/puppet.sheet",
    "units/flame.skeleton",
    "units/puppet.state_machine",
    "units/puppet.unit",
    "units/puppet_body.skeleton",
    "units/torch.unit",
];

#[test]
fn skeletons_of_pictures_follow_their_bones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read(root.join(path)).expect("it is in the repository");
    let settings = b"name = \"Golden\" window = { width = 960, height = 540 }".to_vec();
    let mut files =
        vec![("settings.sjson", settings), ("main.lua", read("tests/golden/game/skeletons.lua"))];
    files.extend(FILES.map(|path| (path, read(&format!("examples/puppet/{path}")))));
    let Some(mut game) = RenderedGame::game("skeletons", &files) else { return };
    for _ in 0..44 {
        game.frame();
    }
    compare("skeletons", &game.frame());
}
