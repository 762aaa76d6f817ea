//! Tests of the normals of textures, of frames of sheets, and of their pages.

use super::*;

const GREEN: [u8; 4] = [0, 255, 0, 255];
const SLOPE: [u8; 4] = [200, 100, 220, 255];

/// Returns where a change puts texels, and their format and first texel.
fn set(change: &TextureChange) -> Option<(TextureSlot, TexelFormat, [u8; 4])> {
    let TextureChange::Set { slot, texels } = change else { return None };
    let first = texels.bytes[texels.start..][..4].try_into().unwrap();
    Some((*slot, texels.format, first))
}

fn shown(game: &mut Game, name: &str, is_lit: bool) -> SceneTexture {
    let number = game.find(name);
    game.textures.scene_texture(&mut game.store, number, is_lit).unwrap()
}

#[test]
fn normals_of_a_texture_follow_its_file_and_load_for_light() {
    let files: [(&str, &[u8]); 3] = [
        ("ship.png", &picture(8, 8, RED)),
        ("slopes/ship.png", &picture(16, 16, SLOPE)),
        ("ship.texture", b"normal_image = \"slopes/ship.png\""),
    ];
    let mut game = Game::new("normals", &files);
    assert_eq!(game.problems, [""; 0]);
    let plain = shown(&mut game, "ship", false);
    assert_eq!(plain.normals, None);
    assert!(
        game.changes().iter().filter_map(set).all(|(_, format, _)| format != TexelFormat::Rgba8)
    );
    let lit = shown(&mut game, "ship", true);
    let (slot, sampling) = lit.normals.expect("it has normals");
    assert_eq!((lit.slot, lit.sampling, lit.part), (plain.slot, sampling, plain.part));
    let sent = |game: &mut Game| -> Vec<_> { game.changes().iter().filter_map(set).collect() };
    assert_eq!(sent(&mut game), [(slot, TexelFormat::Rgba8, SLOPE)]);
    assert_eq!(shown(&mut game, "ship", true), lit);
    assert_eq!(sent(&mut game), [], "they are loaded once");
    // A picture with a transparent color has the same normals, in a slot of its own.
    let keyed = shown(&mut game, "ship#ff0000", true).normals.expect("it has normals");
    assert!(sent(&mut game).contains(&(keyed.0, TexelFormat::Rgba8, SLOPE)));
    game.save("slopes/ship.png", &picture(16, 16, [10, 20, 230, 255]));
    game.compile();
    assert!(sent(&mut game).contains(&(slot, TexelFormat::Rgba8, [10, 20, 230, 255])));
    game.save("ship.texture", b"filter = \"nearest\"");
    game.compile();
    let ended =
        |change: &TextureChange| matches!(change, TextureChange::End { slot: it } if *it == slot);
    assert!(game.changes().iter().any(ended), "there are none any more");
    assert_eq!(shown(&mut game, "ship", true).normals, None);
    game.save("ship.texture", b"normal_image = \"slopes/ship.png\"");
    game.compile();
    let (slot, _) = shown(&mut game, "ship", true).normals.expect("they are back");
    let number = game.find("ship");
    game.changes();
    game.textures.unload(number);
    let ended =
        |change: &TextureChange| matches!(change, TextureChange::End { slot: it } if *it == slot);
    assert!(game.changes().iter().any(ended), "they end with their texture");
}

/// Two frames of 8 x 8 texels, red and green, and their normals.
fn sheet_files<'a>(hero: &'a [u8], slopes: &'a [u8]) -> [(&'static str, &'a [u8]); 3] {
    let grid = b"image = \"hero.png\"\nframe = [8, 8]\nnormal_image = \"hero_n.png\"";
    [("hero.sheet", grid), ("hero.png", hero), ("hero_n.png", slopes)]
}

/// Two normals of 8 x 8 texels next to each other.
fn two_normals(second: [u8; 4]) -> Vec<u8> {
    encode_png(16, 8, &[SLOPE.repeat(8), second.repeat(8)].concat().repeat(8))
}

#[test]
fn normals_of_a_sheet_share_a_page_with_the_same_parts() {
    let other = [90, 120, 240, 255];
    let (hero, slopes) = (two_frames(), two_normals(other));
    let mut game = Game::new("normal_page", &sheet_files(&hero, &slopes));
    assert_eq!(game.problems, [""; 0]);
    let plain = shown(&mut game, "hero/1", false);
    assert_eq!(plain.normals, None);
    let [one, two] = ["hero/1", "hero/2"].map(|name| shown(&mut game, name, true));
    assert_eq!((one.slot, one.part, one.normals), (plain.slot, plain.part, two.normals));
    let (slot, _) = one.normals.expect("the sheet has normals");
    assert_eq!(shown(&mut game, "hero/1", false), plain, "no light needs them");
    let middles = |game: &mut Game| {
        let changes = game.changes();
        let mut page = changes.iter().filter_map(|change| match change {
            TextureChange::Set { slot: it, texels } if *it == slot => Some(texels.clone()),
            _ => None,
        });
        let texels = page.next_back().expect("the page is filled");
        assert_eq!((texels.format, texels.levels), (TexelFormat::Rgba8, ATLAS_LEVELS));
        [&one, &two].map(|found| {
            let [left, top, width, height] = found.part;
            let x = ((left + width * 0.5) * texels.width as f32) as usize;
            let y = ((top + height * 0.5) * texels.height as f32) as usize;
            let at = texels.start + (y * texels.width as usize + x) * 4;
            <[u8; 4]>::try_from(&texels.bytes[at..at + 4]).unwrap()
        })
    };
    assert_eq!(middles(&mut game), [SLOPE, other]);
    game.save("hero_n.png", &two_normals(GREEN));
    game.compile();
    assert_eq!(middles(&mut game), [SLOPE, GREEN], "saved ones are filled again in their place");
    let number = game.find("hero/1");
    game.textures.unload(number);
    let ended =
        |change: &TextureChange| matches!(change, TextureChange::End { slot: it } if *it == slot);
    assert!(game.changes().iter().any(ended));
}

#[test]
fn large_frames_have_normals_in_slots_of_their_own() {
    let large = |color: [u8; 4]| picture(300, 300, color);
    let files: [(&str, &[u8]); 3] = [
        ("wall.sheet", b"image = \"wall.png\"\nframe = [300, 300]\nnormal_image = \"wall_n.png\""),
        ("wall.png", &large(RED)),
        ("wall_n.png", &large(SLOPE)),
    ];
    let mut game = Game::new("large_normals", &files);
    let wall = shown(&mut game, "wall/1", true);
    let (slot, _) = wall.normals.expect("the sheet has normals");
    let sent: Vec<_> = game.changes().iter().filter_map(set).collect();
    assert!(sent.contains(&(slot, TexelFormat::Rgba8, SLOPE)), "{sent:?}");
    game.save("wall_n.png", &large(GREEN));
    game.compile();
    let sent: Vec<_> = game.changes().iter().filter_map(set).collect();
    assert!(sent.contains(&(slot, TexelFormat::Rgba8, GREEN)), "{sent:?}");
}

#[test]
fn normals_that_do_not_fit_are_refused_with_the_reason() {
    let refused = |files: &[(&str, &[u8])]| Game::new("wrong_normals", files).problems.clone();
    let (hero, ship) = (two_frames(), picture(8, 8, RED));
    let of_texture: [(&str, &str); 4] = [
        ("normal_image = 1", "ship.texture:1: 'normal_image' must be text in quotes, got number"),
        ("normal_image = \"gone.png\"", "ship.texture: 'gone.png' cannot be read: "),
        (
            "normal_image = \"hero.png\" data = true",
            "ship.texture: only a picture has normals, and it holds data: take 'normal_image' out",
        ),
        (
            "normal_imge = \"hero.png\"",
            "ship.texture:1: unknown setting 'normal_imge', did you mean \
          'normal_image'?",
        ),
    ];
    for (text, message) in of_texture {
        let files =
            [("ship.png", &ship[..]), ("hero.png", &hero), ("ship.texture", text.as_bytes())];
        let problems = refused(&files);
        assert!(problems.len() == 1 && problems[0].starts_with(message), "{problems:?}");
    }
    let small = picture(8, 8, SLOPE);
    assert_eq!(
        refused(&sheet_files(&hero, &small)),
        ["hero_n.png: the normals are 8 x 8 texels, and the sheet's picture is 16 x 8: save \
             both in one size"]
    );
    let aseprite = engine_test_support::aseprite::aseprite(32);
    let text = b"source = \"hero.aseprite\" normal_image = \"hero.aseprite\"";
    let files: [(&str, &[u8]); 2] = [("walk.sheet", text), ("hero.aseprite", &aseprite)];
    let mut game = Game::new("aseprite_normals", &files);
    assert_eq!(game.problems, [""; 0]);
    assert!(shown(&mut game, "walk/2", true).normals.is_some());
    let text = b"source = \"hero.aseprite\" normal_image = \"hero.png\"";
    let files: [(&str, &[u8]); 3] =
        [("walk.sheet", text), ("hero.aseprite", &aseprite), ("hero.png", &hero)];
    let problems = refused(&files);
    assert!(problems.len() == 1 && problems[0].starts_with("hero.png: "), "{problems:?}");
}
