//! `engine check`, from outside: a game whose units and levels are right, and one with a slip in
//! each, which are told all at once.

use std::path::PathBuf;
use std::process::Command;

/// A scratch game of these files, and what the command says of it: exit code and all words.
fn checked(name: &str, files: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("engine-check-{}-{name}", std::process::id()));
    for (file, text) in files {
        let file = folder.join("game").join(file);
        std::fs::create_dir_all(file.parent().expect("it has one")).expect("it can be made");
        std::fs::write(file, text).expect("a scratch file can be written");
    }
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .arg("check")
        .arg(folder.join("game"))
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .output()
        .expect("the engine starts");
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let words = format!("{out}{err}");
    std::fs::remove_dir_all(&folder).expect("the scratch folder can be removed");
    (run.status.code(), words)
}

const MAIN: (&str, &str) = ("main.lua", "error('a check does not run the game')");

#[test]
fn a_game_that_is_right_is_said_to_be() {
    let (code, words) = checked(
        "right",
        &[
            MAIN,
            ("units/barrel.unit", "nodes = { lid = { position = [0, 0, 1] } }"),
            ("levels/yard.level", "units = { one = { unit = \"units/barrel\" } }"),
        ],
    );
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("1 units, 0 models and 1 levels checked, 0 problems"), "{words}");
}

#[test]
fn every_slip_is_told_at_once() {
    let (code, words) = checked(
        "slips",
        &[
            MAIN,
            ("units/good.unit", "data = { a = 1 }"),
            ("units/broken.unit", "nodees = {}"),
            ("units/orphan.unit", "inherit = \"units/nobody\""),
            ("units/alive.unit", "components = { faulty = {} }"),
            ("units/flat.unit", "components = { sprite = { texture = \"shp\" } }"),
            ("units/map.unit", "components = { tilemap = { map = \"cave\" } }"),
            (
                "components/faulty.lua",
                "return { update = function() error('the update fails') end }",
            ),
            ("levels/gone.level", "units = { one = { unit = \"units/gone\" } }"),
            (
                "models/cage.gltf",
                "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":\
                 [{\"name\":\"bar\",\"extras\":{\"physics\":\"dynamik\"}}]}",
            ),
        ],
    );
    assert_eq!(code, Some(1), "{words}");
    for wanted in [
        "units/broken.unit:1: unknown key 'nodees', did you mean 'nodes'?",
        "units/orphan.unit: spawning it:",
        "units/alive.unit: its first frame: components/faulty.lua:1: the update fails",
        "levels/gone.level: spawning it:",
        "component 'sprite': there is no texture 'shp'",
        "component 'tilemap': there is no tilemap 'cave'",
        "models/cage.model: spawning it: unit \"models/cage\": 'type' of actor 'bar' must be one \
         of static, dynamic, kinematic, trigger, got 'dynamik', did you mean 'dynamic'?",
        "5 units, 1 models and 1 levels checked, 6 problems",
        "1 errors besides, of sources that do not compile and the like: above",
    ] {
        assert!(words.contains(wanted), "'{wanted}' is not in:\n{words}");
    }
}

#[test]
fn a_folder_without_a_game_is_refused() {
    let (code, words) = checked("none", &[("readme.txt", "nothing")]);
    assert_ne!(code, Some(0), "{words}");
    assert!(words.contains("main.lua"), "{words}");
}

#[test]
fn cameras_that_show_nothing_in_numbers_are_told() {
    for (fields, wanted) in [
        ("near = 1e-40", "'near' must be above 0 in perspective (at least 0.000001)"),
        ("far = 1e30", "both at most 1000000000 metres"),
        ("vertical_fov = 1e-38", "'vertical_fov' must be above 0 and below 180 degrees"),
        ("projection = \"orthographic\" height = 1e-45", "'height' must be"),
    ] {
        let unit = format!("components = {{ eye = {{ component = \"camera\" {fields} }} }}");
        let (code, words) = checked("eye", &[MAIN, ("units/eye.unit", &unit)]);
        assert_eq!(code, Some(1), "{words}");
        assert!(words.contains(wanted), "'{wanted}' is not in:\n{words}");
    }
}
