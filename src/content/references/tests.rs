//! Tests of parsers, resolution and questions, in small games.

use super::*;
use crate::game_for_tests::{TestGame, kinds};
use std::fs;

fn graph(files: &[(&str, &str)]) -> (TestGame, ContentGraph) {
    let game = TestGame::new(files);
    let graph = game.graph();
    (game, graph)
}

/// Returns the references from a file as `name@line certainty -> targets`.
fn references(graph: &ContentGraph, path: &str) -> Vec<String> {
    let file = graph.files.iter().find(|file| file.path == path).unwrap();
    let target = match &file.resource {
        Some(resource) => Target::Resource(resource.clone()),
        None => Target::File(path.to_string()),
    };
    let uses = graph.uses(&target);
    let row = |(to, at): &(&Target, ReferenceUse)| {
        let reference = graph.reference(*at);
        format!("{}@{} {} -> {to}", reference.name, reference.line, reference.certainty.name())
    };
    uses.iter().filter(|(_, at)| graph.files[at.file].path == path).map(row).collect()
}

#[test]
fn values_of_sjson_name_resources_with_locations() {
    let (game, graph) = graph(&[
        ("main.lua", ""),
        (
            "units/a.unit",
            "// x\nmodel = \"models/a\"\ncomponents = {\n  mesh = { material = \"m\" }\n  \
             lid = { look = \"models/a\" }\n}\n",
        ),
        ("models/a.glb", "glTF"),
        ("m.material", "textures = { color = \"t\" }"),
        ("t.png", ""),
        ("components/lid.lua", ""),
        ("l.level", "units = { x = { unit = \"units/a\" } y = { unit = \"gone\" } }"),
    ]);
    assert_eq!(
        references(&graph, "units/a.unit"),
        [
            "m@4 certain -> m.material",
            "lid@5 certain -> components/lid.lua",
            "models/a@5 likely -> models/a.model",
            "models/a@2 certain -> models/a.model",
        ]
    );
    assert_eq!(references(&graph, "m.material"), ["t@1 certain -> t.texture"]);
    let missing = graph.missing();
    assert_eq!(missing.len(), 1);
    assert_eq!(
        format!("{}: {}", missing[0].location, missing[0].message()),
        "l.level:1: there is no model or unit 'gone'"
    );
    let at = missing[0].at;
    let text = fs::read_to_string(game.root.join("l.level")).unwrap();
    let span = graph.reference(at).span;
    assert_eq!(&text[span.start..span.end], "gone");
    // The GLB file is broken: it is reported, and the others are read.
    assert_eq!(graph.problems, ["models/a.glb: it is not a GLB file of version 2"]);
}

#[test]
fn scripts_name_modules_arguments_and_texts() {
    let (_game, graph) = graph(&[
        (
            "main.lua",
            "local e = require \"game.enemy\"\nrequire('game/init')\nfunction init()\n  \
             World.spawn_unit(w, \"u\")\n  local name = \"u\"\n  Application.data(\"config\", \
             \"c\")\n  load(\"tiles/\" .. n) -- \"u\"\n  World.spawn_unit(w, \"u\" .. n)\nend\n",
        ),
        ("game/enemy.lua", ""),
        ("game/init.lua", ""),
        ("u.unit", ""),
        ("c.config", "x = \"u\""),
        ("tiles/a.png", ""),
    ]);
    assert_eq!(
        references(&graph, "main.lua"),
        [
            "game.enemy@1 certain -> game/enemy.lua",
            "game/init@2 certain -> game/init.lua",
            "u@4 certain -> u.unit",
            "u@5 likely -> u.unit",
            "c@6 certain -> c.config",
            "tiles/@7 computed -> tiles/a.texture",
        ]
    );
    assert_eq!(references(&graph, "c.config"), ["u@1 likely -> u.unit"]);
}

#[test]
fn exported_files_name_files_next_to_them() {
    let gltf = "{\"buffers\": [{\"uri\": \"a%20b.bin\"}], \"images\": [{\"uri\": \"../t.png\"}]}";
    let (_game, graph) = graph(&[
        ("m/a.gltf", gltf),
        ("m/a b.bin", ""),
        ("t.png", ""),
        ("f/x.fnt", "info\npage id=0 file=\"x_0.png\"\n"),
        ("f/x_0.png", ""),
        ("maps/a.tmx", "<map>\n<tileset source=\"../sets/s.tsx\"/>\n</map>"),
        ("sets/s.tsx", "<tileset><image source = 'tiles.png'/></tileset>"),
        ("sets/tiles.png", ""),
        ("maps/b.tmj", "{\"tilesets\": [{\"image\": \"../sets/tiles.png\"}]}"),
    ]);
    assert_eq!(
        references(&graph, "m/a.gltf"),
        ["a%20b.bin@1 certain -> m/a b.binary", "../t.png@1 certain -> t.texture",]
    );
    assert_eq!(references(&graph, "f/x.fnt"), ["x_0.png@2 certain -> f/x_0.texture"]);
    assert_eq!(references(&graph, "maps/a.tmx"), ["../sets/s.tsx@2 certain -> sets/s.tsx"]);
    assert_eq!(references(&graph, "sets/s.tsx"), ["tiles.png@1 certain -> sets/tiles.texture"]);
    assert_eq!(
        references(&graph, "maps/b.tmj"),
        ["../sets/tiles.png@1 certain -> sets/tiles.texture"]
    );
    assert_eq!(graph.missing(), []);
}

#[test]
fn sounds_packages_and_clips_have_forms_of_their_own() {
    let (_game, graph) = graph(&[
        ("s.sound", "play = { random = [\"w/a.wav\", { file = \"w/b\" }] }\n"),
        ("w/a.wav", ""),
        ("w/b.ogg", ""),
        ("p.package", "sound = [\"w/*\"]\ntexture = [\"no\"]\n"),
        (
            "k.state_machine",
            "layers = [{ states = { s = { clip = \"run\" } t = { clip = \"own\" } } }]",
        ),
        ("run.animation", "source = \"m#run\""),
        ("m.glb", ""),
    ]);
    assert_eq!(
        references(&graph, "s.sound"),
        ["w/a.wav@1 certain -> w/a.sound", "w/b@1 certain -> w/b.sound",]
    );
    assert_eq!(
        references(&graph, "p.package"),
        ["w/*@1 certain -> w/a.sound", "w/*@1 certain -> w/b.sound",]
    );
    assert_eq!(references(&graph, "k.state_machine"), ["run@1 certain -> run.animation"]);
    assert_eq!(references(&graph, "run.animation"), ["m#run@1 certain -> m.model"]);
    let missing: Vec<String> = graph.missing().iter().map(Problem::message).collect();
    assert_eq!(missing, ["there is no texture 'no'"]);
}

#[test]
fn unused_resources_are_those_that_no_root_reaches() {
    let (_game, graph) = graph(&[
        ("main.lua", "require \"a\""),
        ("a.lua", "x = \"t\""),
        ("t.png", ""),
        ("dead.lua", "x = \"d\""),
        ("d.png", ""),
        ("x_test.lua", "y = \"s\""),
        ("s.png", ""),
        ("kept/k.png", ""),
    ]);
    let declared = [engine_resource::glob::Glob::new("kept/**").unwrap()];
    let names: Vec<String> =
        graph.dangling(&declared, "main").iter().map(|it| it.to_string()).collect();
    assert_eq!(names, ["dead.lua", "d.texture"]);
    let used_by = graph.used_by(&graph.find("t").unwrap());
    assert_eq!(used_by.len(), 1);
    assert_eq!(graph.location(used_by[0].1), "a.lua:1");
}

#[test]
fn cycles_are_found_once() {
    let (_game, graph) = graph(&[
        ("a.lua", "require \"b\""),
        ("b.lua", "require \"c\""),
        ("c.lua", "require \"a\" require \"d\""),
        ("d.lua", ""),
        ("e.lua", "require \"e\""),
    ]);
    let cycles: Vec<Vec<String>> = graph
        .cycles()
        .into_iter()
        .map(|cycle| cycle.iter().map(|it| it.to_string()).collect())
        .collect();
    assert_eq!(cycles, [vec!["a.lua", "b.lua", "c.lua"], vec!["e.lua"]]);
    assert!(graph.to_dot().contains("\"a.lua\" -> \"b.lua\""), "{}", graph.to_dot());
}

#[test]
fn an_unknown_resource_gets_the_nearest_name() {
    let (_game, graph) = graph(&[("textures/wall.png", ""), ("x.png", ""), ("x.unit", "")]);
    let message = |text: &str| graph.find(text).unwrap_err();
    assert_eq!(
        message("textures/wal"),
        "there is no resource or file 'textures/wal', did you mean 'textures/wall'?"
    );
    assert_eq!(message("x"), "'x' is the name of several resources: x.texture, x.unit");
    assert_eq!(graph.find("x.unit").unwrap().to_string(), "x.unit");
    assert_eq!(graph.find("textures/wall.png").unwrap().to_string(), "textures/wall.texture");
}

#[test]
fn a_warm_start_reads_only_changed_files() {
    let game = TestGame::new(&[("a.lua", "require \"b\""), ("b.lua", ""), ("c.lua", "")]);
    let cache = game.root.join(".engine/references");
    fs::create_dir_all(game.root.join(".engine")).unwrap();
    let uses = |wanted: &[&str]| {
        let graph = game.graph_with(Some(&cache));
        assert_eq!(references(&graph, "a.lua"), wanted);
    };
    uses(&["b@1 certain -> b.lua"]);
    uses(&["b@1 certain -> b.lua"]);
    fs::write(game.root.join("a.lua"), "\nrequire \"c\"").unwrap();
    uses(&["c@2 certain -> c.lua"]);
    // A damaged cache is no cache.
    fs::write(&cache, "EREF damaged").unwrap();
    uses(&["c@2 certain -> c.lua"]);
    assert!(fs::metadata(&cache).unwrap().len() > 20, "it is written again");
}

#[test]
fn patched_glb_files_keep_their_chunks() {
    let json = b"{\"images\":[{\"uri\":\"a.png\"}]} ";
    let mut glb = Vec::new();
    glb.extend_from_slice(b"glTF");
    glb.extend_from_slice(&2u32.to_le_bytes());
    glb.extend_from_slice(&((20 + json.len() + 12) as u32).to_le_bytes());
    glb.extend_from_slice(&(json.len() as u32).to_le_bytes());
    glb.extend_from_slice(b"JSON");
    glb.extend_from_slice(json);
    glb.extend_from_slice(&4u32.to_le_bytes());
    glb.extend_from_slice(b"BIN\0abcd");
    let found = other_parsers::references("glb", &glb, kinds()).unwrap();
    let span = found[0].span;
    assert_eq!(&glb[span.start..span.end], b"a.png");
    let new = patched("m.glb", &glb, vec![(span, "textures/long.png".to_string())]).unwrap();
    let again = other_parsers::references("glb", &new, kinds()).unwrap();
    assert_eq!(again[0].name, "textures/long.png");
    assert_eq!(new.len() % 4, 0);
    assert_eq!(u32::from_le_bytes(new[8..12].try_into().unwrap()) as usize, new.len());
    assert!(new.ends_with(b"BIN\0abcd"));
}

#[test]
fn every_kind_of_the_engine_has_a_row() {
    for kind in KINDS_WITH_RULES {
        assert!(has_rules(kind), "{kind}");
    }
    assert!(!has_rules("textur") && !has_rules("textures") && !has_rules(""));
}

#[test]
fn hostile_files_are_problems_of_their_own() {
    let deep = "[".repeat(200_000);
    let (_game, graph) = graph(&[
        ("a.config", &deep),
        ("b.config", "x = \"t\""),
        ("c.lua", "local s = \"unclosed\nrequire(\"t\" .. [==[ never ends"),
        ("d.gltf", "{"),
        ("t.png", ""),
    ]);
    assert_eq!(graph.problems.len(), 2, "{:?}", graph.problems);
    assert_eq!(references(&graph, "b.config"), ["t@1 likely -> t.texture"]);
}

const SKELETON: &str = "sheet = \"a\"
slots = { x = { texture = \"t\" } y = { parts = { p = \"t\" q = { frame = \"1\" } } } }
skins = { i = { x = \"t\" y = { p = { texture = \"t\" } q = \"t\" } z = { frame = \"2\" } } }
";

#[test]
fn skeletons_name_sheets_and_textures_of_parts_and_skins() {
    let (_game, graph) = graph(&[("s.skeleton", SKELETON), ("a.sheet", ""), ("t.png", "")]);
    assert_eq!(
        references(&graph, "s.skeleton"),
        [
            "a@1 certain -> a.sheet",
            "t@2 certain -> t.texture",
            "t@2 certain -> t.texture",
            "t@3 certain -> t.texture",
            "t@3 certain -> t.texture",
            "t@3 certain -> t.texture",
        ]
    );
    assert_eq!(graph.missing(), []);
}

#[test]
fn units_name_the_models_and_materials_of_skeletons() {
    let unit = "components = { skeleton = { model = \"s\" material = \"m\" layer = 2 } }";
    let (_game, graph) = graph(&[("u.unit", unit), ("s.skeleton", ""), ("m.material", "")]);
    assert_eq!(
        references(&graph, "u.unit"),
        ["s@1 certain -> s.model", "m@1 certain -> m.material"]
    );
    assert_eq!(graph.missing(), []);
}

#[test]
fn arguments_after_brackets_are_found_and_unclosed_calls_end() {
    let calls = "World.spawn_unit(f({ 1, 2 }, g(3)), \"u\")\n";
    let unclosed = format!("{calls}{}", "World.spawn_unit(".repeat(100_000));
    // Quadratic time would be minutes.
    let (_game, graph) = graph(&[("main.lua", &unclosed), ("u.unit", "")]);
    assert_eq!(references(&graph, "main.lua"), ["u@1 certain -> u.unit"]);
}

#[test]
fn inputs_of_graphs_name_resources() {
    let nodes = "nodes = {\n  a = { type = \"unit.spawn\" inputs = { resource = \"u\" node = \
                 \"u\" } }\n  \
                 b = { type = \"unit.effect\" inputs = { effect = \"gone\" } }\n  \
                 c = { type = \"doors.open\" inputs = { resource = \"u\" } }\n}\n";
    let (_game, graph) = graph(&[
        ("main.lua", ""),
        ("u.unit", &format!("flow = {{ {nodes} }}")),
        ("l.level", &format!("flow = {{ {nodes} }}")),
    ]);
    for file in ["u.unit", "l.level"] {
        assert_eq!(
            references(&graph, file),
            ["u@2 certain -> u.unit", "u@2 likely -> u.unit", "u@4 likely -> u.unit",],
            "{file}"
        );
    }
}

#[test]
fn types_of_nodes_name_the_scripts_that_define_them() {
    let (_game, graph) = graph(&[
        (
            "g.flow",
            "nodes = {\n a = { type = \"doors.open\" }\n b = { type = \"a.b.c\" }\n \
             c = { type = \"a.x\" }\n d = { type = \"graph\" graph = \"h\" }\n \
             e = { type = \"door.open\" }\n}\n",
        ),
        ("h.flow", "nodes = {}"),
        ("u.unit", "flow = { nodes = { a = { type = \"doors.shut\" } } }"),
        ("broken.level", "flow = { nodes = { a = { type = \"doors.open\" } ="),
        ("nodes/doors.lua", ""),
        ("nodes/a.lua", ""),
        ("nodes/a/b.lua", ""),
        ("doors/open.lua", ""),
    ]);
    assert_eq!(
        references(&graph, "g.flow"),
        [
            "doors.open@2 certain -> nodes/doors.lua",
            "a.b.c@3 certain -> nodes/a/b.lua",
            "a.x@4 certain -> nodes/a.lua",
            "h@5 certain -> h.flow",
        ]
    );
    assert_eq!(references(&graph, "u.unit"), ["doors.shut@1 certain -> nodes/doors.lua"]);
    assert!(
        references(&graph, "broken.level")
            .contains(&"doors.open@1 likely -> nodes/doors.lua".to_string())
    );
    let missing = graph.missing();
    assert_eq!(missing.len(), 1);
    assert_eq!(
        missing[0].message(),
        "there is no node type 'door.open', did you mean 'doors.open'?"
    );
}
