//! Tests of the flags that choose variants and platforms, for the commands that play games, and of
//! a game's own platforms.

use crate::game_folder::{GameFolder, combined_output};

const MAIN: &str = "function init()
  print(Application.data('text', 'words'), Application.settings().window.width)
  Application.quit()
end";

const SETTINGS: &str = "platforms = [\"handheld\"]
window = { width = 1000 }
handheld = { window = { width = 640 } }
web = { window = { width = 320 } }";

/// Creates a game with variants of a text for languages and platforms.
fn game(name: &str) -> GameFolder {
    let folder = GameFolder::new("variants", name);
    folder.write("game/main.lua", MAIN);
    folder.write("game/settings.sjson", SETTINGS);
    for (variant, text) in [
        ("", "plain"),
        (".fr", "french"),
        (".web", "web"),
        (".handheld", "hand"),
        (".fr.web", "toile"),
    ] {
        folder.write(&format!("game/words{variant}.txt"), text);
    }
    folder
}

fn engine(folder: &GameFolder, arguments: &str) -> (Option<i32>, String) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    combined_output(&mut folder.command(&arguments))
}

#[test]
fn a_run_uses_the_chosen_variants_and_settings() {
    let folder = game("run");
    let check = |flags: &str, wanted: &str| {
        let arguments = format!("run game --headless --quiet{flags}");
        assert_eq!(engine(&folder, &arguments), (Some(0), format!("{wanted}\n")), "{flags}");
    };
    check("", "plain\t1000");
    check(" --prefer fr", "french\t1000");
    check(" --source-platform web", "web\t320");
    check(" --source-platform web --prefer fr,noblood", "toile\t320");
    check(" --source-platform handheld", "hand\t640");
    check("", "plain\t1000");
}

#[test]
fn invalid_choices_are_refused() {
    let folder = game("refused");
    let check = |arguments: &str, wanted: &str| {
        let (code, output) = engine(&folder, arguments);
        assert!(code != Some(0) && output.contains(wanted), "{arguments}: {output}");
    };
    for command in ["run game --headless", "check game", "test game"] {
        check(
            &format!("{command} --source-platform handheldd"),
            "--source-platform: there is no platform 'handheldd', did you mean 'handheld'?",
        );
        check(
            &format!("{command} --prefer handheld"),
            "--prefer: 'handheld' is a platform, which is chosen when data is compiled",
        );
        check(&format!("{command} --prefer a.b"), "--prefer: 'a.b' is not a property");
    }
    check("compile game --out x --source-platform nintendo", "there is no platform 'nintendo'");
    check("explain game words --platform handhel", "did you mean 'handheld'?");
}

#[test]
fn suites_and_checks_use_the_chosen_variants() {
    let folder = game("suites");
    folder.write(
        "game/words_test.lua",
        "it('reads the words', function()
           assert.equal('toile', Application.data('text', 'words'))
           assert.equal(320, Application.settings().window.width)
         end)",
    );
    for jobs in ["1", "2"] {
        folder.write("game/other_test.lua", "it('is another file', function() end)");
        let flags = format!("--jobs {jobs} --source-platform web --prefer fr");
        let (code, output) = engine(&folder, &format!("test game {flags}"));
        assert_eq!(code, Some(0), "{output}");
        assert_eq!(engine(&folder, &format!("test game --jobs {jobs}")).0, Some(1));
    }
    // Only the variant of that platform is broken.
    folder.write("game/thing.web.unit", "nodes = 5");
    folder.write("game/thing.unit", "");
    let (code, output) = engine(&folder, "check game --source-platform handheld --prefer fr");
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = engine(&folder, "check game --source-platform web");
    assert!(code == Some(1) && output.contains("thing.web.unit"), "{output}");
}

#[test]
fn a_bundle_has_the_variants_of_its_platform() {
    let folder = game("bundle");
    let (code, output) =
        engine(&folder, "compile game --bundle --out hand.bundle --source-platform handheld");
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = engine(&folder, "run hand.bundle --headless --quiet");
    assert!(code == Some(0) && output.starts_with("hand\t"), "{output}");
    let (_, output) = engine(&folder, "run hand.bundle --headless --source-platform web");
    assert!(output.contains("--source-platform is for a game's folder"), "{output}");
}

#[test]
fn invalid_platforms_in_the_settings_are_refused() {
    let folder = game("settings");
    let check = |settings: &str, wanted: &str| {
        folder.write("game/settings.sjson", settings);
        let (code, output) = engine(&folder, "run game --headless");
        assert!(code == Some(1) && output.contains(wanted), "{settings}: {output}");
    };
    check(
        "platforms = [\"window\"]",
        "settings.sjson:1: 'platforms': 'window' is the name of settings",
    );
    check("platforms = [\"web\"]", "'web' is a platform of every game: leave it out");
    check("platforms = [5]", "settings.sjson:1: 'platforms' can contain only texts");
    check("platforms = [\"a b\"]", "'a b' is not a platform's name");
    check("handheld = { window = { width = 5 } }", "unknown setting 'handheld'");
    check("platforms = [\"hand\"]\nhand = { windw = {} }", "unknown setting 'windw'");
}
