//! Tests of `engine check` from outside: a game with valid units and levels, and one with an error
//! in each, which are all reported at once.

mod animation;
mod earlier_versions;
mod models;

use std::path::PathBuf;
use std::process::Command;

/// Runs the command on a scratch game of these files. Returns the exit code and all output.
fn run_check(name: &str, files: &[(&str, &str)]) -> (Option<i32>, String) {
    let (code, out, err) = run_engine(name, files, &["check", "game"]);
    (code, out + &err)
}

/// Runs a command in a scratch folder with a game of these files in `game`. Returns the exit code,
/// the output and the errors.
fn run_engine(
    name: &str,
    files: &[(&str, &str)],
    arguments: &[&str],
) -> (Option<i32>, String, String) {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("engine-check-{}-{name}", std::process::id()));
    for (file, text) in files {
        let file = folder.join("game").join(file);
        std::fs::create_dir_all(file.parent().expect("it has one")).expect("it can be made");
        std::fs::write(file, text).expect("a scratch file can be written");
    }
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(arguments)
        .current_dir(&folder)
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .output()
        .expect("the engine starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    std::fs::remove_dir_all(&folder).expect("the scratch folder can be removed");
    (run.status.code(), text(&run.stdout), text(&run.stderr))
}

const MAIN: (&str, &str) = ("main.lua", "error('a check does not run the game')");

#[test]
fn valid_game_passes_check() {
    let (code, output) = run_check(
        "right",
        &[
            MAIN,
            ("units/barrel.unit", "nodes = { lid = { position = [0, 0, 1] } }"),
            ("levels/yard.level", "units = { one = { unit = \"units/barrel\" } }"),
        ],
    );
    assert_eq!(code, Some(0), "{output}");
    let last = "1 script, 1 unit, 0 models and 1 level checked\nno errors\n";
    assert!(output.contains(last), "{output}");
}

#[test]
fn all_errors_are_reported_at_once() {
    let (code, output) = run_check(
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
            ("scripts/loose.lua", "function nobody_requires( end"),
            (
                "levels/gone.level",
                "units = { one = { unit = \"units/gone\" } two = { unit = \"good\" } \
                 three = { unit = \"units/lost\" } four = { unit = \"units/lost\" } }",
            ),
            (
                "models/cage.gltf",
                "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":\
                 [{\"name\":\"bar\",\"extras\":{\"physics\":\"dynamik\"}}]}",
            ),
        ],
    );
    assert_eq!(code, Some(1), "{output}");
    for expected in [
        "units/broken.unit:1: unknown key 'nodees', did you mean 'nodes'?",
        "units/orphan.unit: spawning it:",
        "units/alive.unit: its first frame: components/faulty.lua:1: the update fails",
        "levels/gone.level: spawning it:",
        "levels/gone.level: spawning its unit 'two': there is no unit 'good', did you mean \
         'units/good'?",
        "levels/gone.level: spawning its unit 'three': there is no unit 'units/lost'",
        "component 'sprite': there is no texture 'shp'",
        "component 'tilemap': there is no tilemap 'cave'",
        "models/cage.model: spawning it: component 'bar': 'type' of actor 'bar' must be one of \
         static, dynamic, kinematic, trigger, got 'dynamik', did you mean 'dynamic'?",
        "3 scripts, 5 units, 1 model and 1 level checked\n",
        "scripts/loose.lua:1: <name> or '...' expected near 'end'",
        "error: units/orphan.unit:1: there is no unit 'units/nobody'",
        "error: units/flat.unit:1: there is no texture 'shp'",
        "error: units/map.unit:1: there is no tilemap 'cave'",
        "error: levels/gone.level:1: there is no unit 'units/gone'",
        "error: levels/gone.level:1: there is no unit 'good', did you mean 'units/good'?",
        "error: levels/gone.level:1: there is no unit 'units/lost'",
        "16 errors: 2 compile errors, 6 missing references, 8 spawn errors\n",
    ] {
        assert!(output.contains(expected), "'{expected}' is not in:\n{output}");
    }
}

#[test]
fn misspelled_component_function_is_an_error() {
    let (code, output) = run_check(
        "misspelt",
        &[
            MAIN,
            (
                "components/health.lua",
                "return { spwaned = function() end, updat = function() end, heal = print, \
                 upgrade = print }",
            ),
            ("units/ill.unit", "components = { health = {} }"),
            ("units/worse.unit", "components = { health = {} }"),
        ],
    );
    assert_eq!(code, Some(1), "{output}");
    for message in [
        "components/health.lua: the function 'spwaned' is never called by the engine: did you \
         mean 'spawned'?",
        "components/health.lua: the function 'updat' is never called by the engine: did you mean \
         'update'?",
    ] {
        assert_eq!(output.matches(message).count(), 1, "'{message}' is not once in:\n{output}");
    }
    assert!(!output.contains("heal'") && !output.contains("upgrade"), "{output}");
    let last = "2 scripts, 2 units, 0 models and 0 levels checked\n2 errors\n";
    assert!(output.contains(last), "{output}");
}

#[test]
fn duplicate_errors_are_reported_once() {
    let (code, output) = run_check(
        "once",
        &[
            MAIN,
            ("components/broken.lua", "retrn {"),
            ("components/ends.lua", "return { unspawned = function() error('no end') end }"),
            ("units/ends.unit", "components = { ends = {} }"),
            ("compiled.lua", "\u{1b}LJ"),
            ("odd.lua", "\u{1b}odd"),
            (
                "levels/a.level",
                "units = { one = { unit = \"units/broken\" } two = { unit = \"units/ends\" } }",
            ),
            ("units/broken.unit", "components = { broken = {} }"),
            (
                "levels/b.level",
                "units = { one = { unit = \"units/ends\" } two = { unit = \"units/ends\" } }",
            ),
        ],
    );
    assert_eq!(code, Some(1), "{output}");
    for message in [
        "levels/a.level: spawning it: components/broken.lua:1:",
        "levels/a.level: ending its world: components/ends.lua:1: no end",
        "levels/b.level: ending it: components/ends.lua:1: no end",
        "error: compiled.lua:1: this is a compiled chunk: games are text",
        "error: odd.lua:1: this is a compiled chunk: games are text",
        "5 scripts, 2 units, 0 models and 2 levels checked\n",
        "8 errors: 3 compile errors, 5 spawn errors\n",
    ] {
        assert!(output.contains(message), "'{message}' is not in:\n{output}");
    }
    assert!(!output.contains("error: attempt"), "{output}");
    for once in ["levels/a.level: spawning", "levels/b.level: "] {
        assert_eq!(output.matches(once).count(), 1, "{once}: {output}");
    }
}

#[test]
fn unknown_names_in_scripts_are_errors() {
    let (code, output) = run_check(
        "lint",
        &[
            ("main.lua", "local Hero = require \"hero\"\nfunction update() Hero.jmp() end"),
            ("hero.lua", "local Hero = {}\nfunction Hero.jump() World.updte() end\nreturn Hero"),
            ("view.lua", "if Keyboard.button(\"x\") then end\n-- World.updte()"),
        ],
    );
    assert_eq!(code, Some(1), "{output}");
    for line in [
        "error: hero.lua:2: World has no function 'updte', did you mean 'update'?",
        "error: main.lua:2: the module 'hero' has no 'jmp', did you mean 'jump'?",
        "error: view.lua:1: Keyboard.button returns a number, and 0 is true in Lua: write \
         Keyboard.held(…)",
        "3 scripts, 0 units, 0 models and 0 levels checked\n",
        "\n3 script errors\n",
    ] {
        assert!(output.contains(line), "{line}:\n{output}");
    }
}

#[test]
fn folder_without_game_is_refused() {
    let (code, output) = run_check("none", &[("readme.txt", "nothing")]);
    assert_ne!(code, Some(0), "{output}");
    assert!(output.contains("main.lua"), "{output}");
}

#[test]
fn invalid_camera_numbers_are_reported() {
    for (fields, expected) in [
        ("near = 1e-40", "'near' must be above 0 in perspective (at least 0.000001)"),
        ("far = 1e30", "both at most 1000000000 metres"),
        ("vertical_fov = 1e-38", "'vertical_fov' must be above 0 and below 180 degrees"),
        ("projection = \"orthographic\" height = 1e-45", "'height' must be"),
    ] {
        let unit = format!("components = {{ eye = {{ component = \"camera\" {fields} }} }}");
        let (code, output) = run_check("eye", &[MAIN, ("units/eye.unit", &unit)]);
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains("0 levels checked\n1 spawn error\n"), "{output}");
        assert!(output.contains(expected), "'{expected}' is not in:\n{output}");
    }
}

/// Files whose kinds refer to resources that do not exist: path, text, and the message.
const REFERENCES: [(&str, &str, &str); 9] = [
    (
        "maps/cave.tmj",
        "{ \"type\": \"map\", \"version\": \"1.10\", \"orientation\": \"orthogonal\",\n\
         \"width\": 1, \"height\": 1, \"tilewidth\": 8, \"tileheight\": 8, \"layers\": [],\n\
         \"tilesets\": [{ \"firstgid\": 1, \"name\": \"rock\", \"tilecount\": 1, \"columns\": 1,\n\
         \"tilewidth\": 8, \"tileheight\": 8, \"imagewidth\": 8, \"imageheight\": 8,\n\
         \"image\": \"../tiles/rock.png\" }] }",
        "maps/cave.tmj:5: there is no texture 'tiles/rock'",
    ),
    (
        "maps/hall.tmx",
        "<?xml version=\"1.0\"?>\n<map version=\"1.10\" orientation=\"orthogonal\" width=\"1\" \
         height=\"1\" tilewidth=\"8\" tileheight=\"8\">\n<tileset firstgid=\"1\" name=\"hall\" \
         tilewidth=\"8\" tileheight=\"8\" tilecount=\"1\" columns=\"1\">\n\
         <image source=\"hall.png\" width=\"8\" height=\"8\"/>\n</tileset>\n</map>",
        "maps/hall.tmx:4: there is no texture 'maps/hall'",
    ),
    (
        "sounds/step.sound",
        "bus = \"effects\"\nplay = { random = [\"sounds/step_1\"\n\"sounds/step_2\"] }",
        "sounds/step.sound:3: there is no sound 'sounds/step_2'",
    ),
    (
        "fx/fire.particles",
        "// texture = \"textures/flame\"\nemitters = { flame = { rate = 9 lifetime = 1\n\
         texture = \"textures/flame\" } }",
        "fx/fire.particles:3: there is no texture 'textures/flame'",
    ),
    (
        "materials/rust.material",
        "surface = {\n  roughness = 1\n  emissive_texture = \"textures/glow\"\n}",
        "materials/rust.material:3: there is no texture 'textures/glow'",
    ),
    (
        "materials/flag.material",
        "texture = \"textures/flag\"",
        "materials/flag.material:1: there is no texture 'textures/flag'",
    ),
    (
        "units/cart.unit",
        "model = \"models/cart\"\ncomponents = {\n  wheel = { component = \"rolls\" }\n}",
        "units/cart.unit:1: there is no model 'models/cart'",
    ),
    (
        "units/crate.unit",
        "model = \"core/models/cube\"\ncomponents = {\n  box = { component = \"mesh\" \
         model = \"core/models/cube\"\n    material = \"materials/wood\" }\n}",
        "units/crate.unit:4: there is no material 'materials/wood'",
    ),
    (
        "all.package",
        "texture = [\"textures/*\"]\nsound = [\n\"sounds/lost\"]",
        "all.package:3: there is no sound 'sounds/lost'",
    ),
];

#[test]
fn missing_references_of_every_kind_are_errors() {
    let files = REFERENCES.iter().map(|(file, text, _)| (*file, *text));
    let files: Vec<_> = [MAIN].into_iter().chain(files).collect();
    let (code, output) = run_check("references", &files);
    assert_eq!(code, Some(1), "{output}");
    for (_, _, message) in &REFERENCES {
        assert!(output.contains(&format!("error: {message}")), "'{message}' is not in:\n{output}");
    }
    let script = "error: units/cart.unit:3: there is no script 'components/rolls.lua'";
    assert!(output.contains(script), "{output}");
    // Two recordings of the sound, and one script.
    let last = ": 11 missing references, ";
    assert!(output.contains(last), "{output}");
    // Each alone is enough.
    for (file, text, message) in &REFERENCES[..4] {
        let (code, output) = run_check("reference", &[MAIN, (file, text)]);
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains(message), "'{message}' is not in:\n{output}");
    }
}

#[test]
fn each_missing_name_of_a_source_has_its_line() {
    let names: Vec<String> = (2..500).map(|line| format!("\"sounds/lost_{line}\"\n")).collect();
    let package = format!("sound = [\n{}]", names.concat());
    let (code, output) = run_check("many_references", &[MAIN, ("all.package", &package)]);
    assert_eq!(code, Some(1), "{output}");
    for line in 2..500 {
        let message = format!("all.package:{line}: there is no sound 'sounds/lost_{line}'");
        assert!(output.contains(&message), "'{message}' is not in:\n{output}");
    }
}

#[test]
fn missing_mixer_of_the_settings_is_an_error() {
    let settings = "name = \"refs\"\nsound = { mixer = \"loud\" }";
    let (code, output) = run_check("mixer", &[MAIN, ("settings.sjson", settings)]);
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("error: settings.sjson:2: there is no mixer 'loud'"), "{output}");
    let last = "2 errors: 1 missing reference, 1 other error\n";
    assert!(output.contains(last), "{output}");
    let files = [MAIN, ("settings.sjson", settings), ("loud.mixer", "")];
    let (code, output) = run_check("mixed", &files);
    assert_eq!(code, Some(0), "{output}");
}

#[test]
fn unknown_tiles_are_warnings_and_missing_files_name_the_map() {
    let map = |set: &str| {
        format!(
            "<map orientation=\"orthogonal\" width=\"2\" height=\"1\" tilewidth=\"8\" \
             tileheight=\"8\">{set}<layer name=\"ground\" width=\"2\" height=\"1\">\
             <data encoding=\"csv\">7,7</data></layer></map>"
        )
    };
    let (unknown, missing) = (map(""), map("<tileset firstgid=\"1\" source=\"walls.tsx\"/>"));
    let files = [MAIN, ("maps/cave.tmx", &unknown[..]), ("maps/hall.tmx", &missing)];
    let (code, output) = run_check("tiles", &files);
    assert_eq!(code, Some(1), "{output}");
    let warning = "warning: maps/cave.tmx: layer 'ground' has tile 7 in 2 cells, and no tile set \
                   has it: nothing is shown there";
    assert!(output.contains(warning), "{output}");
    let error = "maps/hall.tmx: 'maps/walls.tsx' cannot be read: there is no such file";
    assert!(output.contains(&format!("error: {error}\n")), "{output}");
    assert!(output.contains("1 compile error, 1 warning\n"), "{output}");
    let (_, json, _) = run_engine("tiles", &files, &["check", "game", "--output", "json"]);
    for part in ["\"rule\": \"tilemap\"", "\"file\": \"maps/hall.tmx\""] {
        assert!(json.contains(part), "{json}");
    }
}

#[test]
fn references_that_game_or_engine_provide_are_no_errors() {
    let sheet = "image = \"sheets/hero.tga\"\nframe = [1, 1]";
    let model = "{\"asset\":{\"version\":\"2.0\"},\"materials\":[{\"name\":\"Wood\"}],\
                 \"nodes\":[{\"name\":\"bar\"}]}";
    // A picture of one texel.
    let tga = "\0\0\x02\0\0\0\0\0\0\0\0\0\x01\0\x01\0\x18\0abc";
    let (code, output) = run_check(
        "provided",
        &[
            (
                "start.lua",
                "local world = Application.main_world()\n\
                 local gui = World.create_texture_gui(world, \"map\", 8, 8)",
            ),
            ("settings.sjson", "boot_script = \"start\""),
            ("sheets/hero.tga", tga),
            ("sheets/hero.sheet", sheet),
            ("models/cage.gltf", model),
            ("materials/screen.material", "texture = \"map\""),
            ("materials/hero.material", "texture = \"sheets/hero/1\""),
            (
                "fx/soft.particles",
                "emitters = { a = { rate = 9 lifetime = 1 \
              texture = \"core/particles/smoke\" } }",
            ),
            ("units/barrel.unit", "inherit = \"core/units/cube\""),
            (
                "units/cage.unit",
                "components = { a = { component = \"mesh\" \
              model = \"core/models/cube\" material = \"models/cage/Wood\" } \
              turns = {} }",
            ),
            ("levels/yard.level", "units = { one = { unit = \"models/cage\" } }"),
            ("components/turns/init.lua", "return {}"),
        ],
    );
    assert_eq!(code, Some(0), "{output}");
    let last = "\nno errors\n";
    assert!(output.contains(last), "{output}");
}

/// The platform that the test does not run on, and its word in file names.
const OTHER: &str = if cfg!(windows) { "linux" } else { "windows" };

#[test]
fn variants_of_all_sets_and_platforms_are_checked() {
    let other = |name: &str| name.replace("OTHER", OTHER);
    let (broken, lost) = (other("units/c.OTHER.unit"), other("units/w.OTHER.unit"));
    let dies = "return { spawned = function() error('it dies') end }";
    let (code, output) = run_check(
        "variants",
        &[
            MAIN,
            ("units/a.unit", ""),
            ("units/a.fr.unit", "nodees = {}"),
            ("units/b.unit", ""),
            ("units/b.fr.unit", "components = { dies = {} }"),
            ("components/dies.lua", dies),
            ("units/c.unit", ""),
            (&broken, "nodees = {}"),
            ("units/w.unit", ""),
            (&lost, "components = { it = { component = \"sprite\" texture = \"none\" } }"),
            ("units/user.unit", "inherit = \"units/b\""),
        ],
    );
    assert_eq!(code, Some(1), "{output}");
    for line in [
        "error: units/a.fr.unit:1: unknown key 'nodees', did you mean 'nodes'?",
        &format!("error: {broken}:1: unknown key 'nodees', did you mean 'nodes'?"),
        &format!("error: {lost}:1: there is no texture 'none'"),
        &format!("error: units/w.unit: spawning it on {OTHER}: "),
        "units/b.unit: spawning it with the variants [fr]: components/dies.lua:1: it dies",
        "units/user.unit: spawning it with the variants [fr]: components/dies.lua:1: it dies",
    ] {
        assert_eq!(output.matches(line).count(), 1, "'{line}' is not once in:\n{output}");
    }
    assert!(!output.contains("units/a.unit: spawning"), "{output}");
}

#[test]
fn references_between_variants_are_checked() {
    let tga = "\0\0\x02\0\0\0\0\0\0\0\0\0\x01\0\x01\0\x18\0abc";
    let sprite = "components = { it = { component = \"sprite\" texture = \"flag\" } }";
    let files = [MAIN, ("flag.fr.tga", tga), ("units/a.fr.unit", sprite), ("units/a.unit", "")];
    let (code, output) = run_check("fitting", &files);
    assert_eq!(code, Some(0), "{output}");
    let warning = "warning: flag.fr.tga: the texture 'flag' has only the variants \"fr\": it is \
                   missing until the game prefers one of them: add a file without properties";
    assert!(output.contains(warning), "{output}");
    assert!(output.contains("no errors, 1 warning\n"), "{output}");
    let files = [MAIN, ("flag.fr.tga", tga), ("units/a.de.unit", sprite), ("units/a.unit", "")];
    let (code, output) = run_check("other_variant", &files);
    assert_eq!(code, Some(1), "{output}");
    let error = "error: units/a.de.unit:1: texture 'flag' has only the variants \"fr\", and none \
                 of them serves the preferences [de]: add a file without properties";
    assert!(output.contains(error), "{output}");
}

#[test]
fn confusable_names_and_missing_buses_are_found() {
    let (code, output) = run_check(
        "names",
        &[
            MAIN,
            ("units/a.unit", "nodes = { Lid = {} lid = {} }"),
            ("loud.mixer", "buses = { Guns = {} guns = {} }"),
            ("settings.sjson", "sound = { mixer = \"loud\" }"),
            ("shot.sound", "play = \"shot_1\"\nbus = \"gun\""),
            ("shot_1.wav", ""),
            ("Rat.text", ""),
            ("rat.txt", ""),
        ],
    );
    assert_eq!(code, Some(1), "{output}");
    for line in [
        "warning: units/a.unit: the nodes 'Lid' and 'lid' differ in upper and lower case alone",
        "warning: loud.mixer: the buses 'Guns' and 'guns' differ in upper and lower case alone",
        "error: shot.sound:2: there is no bus 'gun', did you mean",
        "error: 'Rat.text' and 'rat.text' differ in upper and lower case alone",
    ] {
        assert_eq!(output.matches(line).count(), 1, "'{line}' is not once in:\n{output}");
    }
}

#[test]
fn scripts_with_missing_resources_are_errors() {
    let (code, output) = run_check(
        "resource_names",
        &[
            (
                "main.lua",
                "local parts = require \"parts\"\nfunction init()\n  local world = \
                 Application.new_world()\n  World.spawn_unit(world, \"units/brrel\")\n  \
                 World.spawn_unit(world, \"core/units/cube\")\n  parts.fly()\n  lost = 1\nend",
            ),
            ("parts.lua", "return { jump = print }"),
            ("units/barrel.unit", ""),
        ],
    );
    assert_eq!(code, Some(1), "{output}");
    for line in [
        "error: main.lua:4: there is no unit 'units/brrel', did you mean 'units/barrel'?",
        "error: main.lua:6: the module 'parts' has no 'fly'",
        "warning: main.lua:7: no script reads the global 'lost'",
        "2 script errors, 1 warning\n",
    ] {
        assert_eq!(output.matches(line).count(), 1, "'{line}' is not once in:\n{output}");
    }
    assert!(!output.contains("core/units/cube"), "{output}");
    let files = [("main.lua", "lost = 1\nmade_elsewhere()"), ("view.fnl", "(global made 1)")];
    let (code, output) = run_check("other_language", &files);
    assert_eq!(code, Some(0), "{output}");
}

#[test]
fn outputs_for_programs_are_alone_on_the_standard_output() {
    let files = [
        MAIN,
        ("units/a.unit", "nodees = {}"),
        ("units/b.unit", "components = { talks = {} }"),
        ("components/talks.lua", "print('loaded') return {}"),
    ];
    let run =
        |name: &str, format: &str| run_engine(name, &files, &["check", "game", "--output", format]);
    let (code, out, err) = run("json", "json");
    assert_eq!(code, Some(1), "{out}{err}");
    let tree = engine::foundation::json::read(&out).expect("it is JSON");
    assert_eq!(tree.get("errors"), Some(&engine::foundation::json::count(1)));
    assert!(!err.contains("nodees") && !out.contains("loaded"), "{out}{err}");
    let (code, out, _) = run("junit", "junit");
    assert_eq!(code, Some(1), "{out}");
    assert!(out.starts_with("<?xml") && out.contains("name=\"units/a.unit:1\""), "{out}");
    let (code, out, _) = run("github", "github");
    assert_eq!(code, Some(1), "{out}");
    let line = "::error title=engine check (compile),file=game/units/a.unit,line=1::unknown key \
                'nodees', did you mean 'nodes'?\n";
    assert!(out.starts_with(line), "{out}");
    let (code, _, err) = run("yaml", "yaml");
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn bundle_is_refused_with_the_findings_of_the_check() {
    let files = [
        ("main.lua", "World.updte()"),
        ("a_test.lua", "World.updte()"),
        ("lost.material", "texture = \"none\""),
    ];
    let bundle = ["compile", "game", "--bundle", "--out", "it.bundle"];
    let (code, out, err) = run_engine("bundle", &files, &bundle);
    assert_eq!(code, Some(1), "{out}{err}");
    for line in [
        "error: main.lua:1: World has no function 'updte', did you mean 'update'?",
        "error: lost.material:1: there is no texture 'none'",
        "the check found 2 errors; no bundle was made (--skip-check makes it)",
    ] {
        assert!(err.contains(line), "'{line}' is not in:\n{err}");
    }
    assert!(!err.contains("a_test.lua"), "excluded files do not count: {err}");
    let skipped = [&bundle[..], &["--skip-check"]].concat();
    let (code, out, err) = run_engine("unchecked", &files, &skipped);
    assert_eq!(code, Some(0), "{out}{err}");
    let warned = [("main.lua", "lost = 1")];
    let (code, out, err) = run_engine("warned", &warned, &bundle);
    assert_eq!(code, Some(0), "warnings do not refuse: {out}{err}");
    assert!(err.contains("warning: main.lua:1: no script reads the global 'lost'"), "{err}");
}

#[test]
fn collision_names_that_a_map_does_not_have_are_reported() {
    let map = "<map orientation='orthogonal' width='1' height='1' tilewidth='8' tileheight='8'>\
               <objectgroup id='1' name='o'><object id='1' name='a' type='walls' x='0' y='8' \
               width='8' height='8'/></objectgroup></map>";
    let unit = |names: &str| {
        format!(
            "components = {{ ground = {{ component = \"tilemap\" map = \"cave\" collision = \
             {names} }} }}"
        )
    };
    let (wrong, right, default) =
        (unit("{ solid = [\"wall\"] }"), unit("{ solid = [\"walls\"] }"), unit("true"));
    let files = [
        MAIN,
        ("cave.tmx", map),
        ("units/wrong.unit", &wrong),
        ("units/right.unit", &right),
        ("units/default.unit", &default),
    ];
    let (code, output) = run_check("collision_names", &files);
    assert_eq!(code, Some(0), "warnings: {output}");
    for line in [
        "warning: unit \"units/wrong\", component 'ground': 'collision' names 'wall', and nothing \
         in the map \"cave\" has that class, tag or true property, did you mean 'walls'? (it has \
         'walls')",
        "unit \"units/default\", component 'ground': 'collision' names 'solid', 'one_way'",
    ] {
        assert!(output.contains(line), "'{line}' is not in:\n{output}");
    }
    assert!(!output.contains("units/right"), "{output}");
}
