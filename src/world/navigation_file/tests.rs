//! Tests of navigation files: what they contain, and messages about mistakes.

use super::*;
use engine_navigation::jump_links::JumpRules;

fn compiled(text: &str) -> Result<NavigationFile, String> {
    let read = |_: &str| Err(engine_foundation::error!("no other file"));
    let (name, bytes) = (ResourceName::new("navigation", "x"), text.as_bytes().to_vec());
    let path = "x.navigation".to_string();
    let mut compiling = CompileContext::new(name, path, SourceForm::Own, bytes, false, &read);
    let data = compile(&mut compiling).map_err(|error| error.message)?;
    assert_eq!((NAVIGATION.validate)(&data), Ok(()));
    NavigationFile::read_data(&data).map_err(|error| error.message)
}

const FILE: &str = "agents = {\n\
    walker = { radius = 0.4 height = 1.8 step = 0.4 slope = 40 tile_cells = 32 \
               costs = { water = 8 } }\n\
    giant = { radius = 1.5 height = 4 cell_size = 0.4 dispersion = 2.5 }\n}\n\
    areas = { water = { cost = 4 } lava = { cost = 0 } road = {} }\n\
    volumes = {\n\
    pond = { area = \"water\" shape = \"box\" size = [4, 4, 2] position = [1, 2, 3] }\n\
    pit = { area = \"lava\" volume = \"pit\" agents = [\"giant\"] }\n}\n\
    blockers = { hole = { shape = \"cylinder\" radius = 2 height = 3 } }\n\
    links = {\n\
    gap = { from = [0, 0, 0] to = [4, 0, 0] cost = 3 one_way = true manual = true }\n\
    ladder = { spline = \"ladder\" name = \"climb\" }\n}\n\
    seeds = [[1, 1, 0]]\n\
    source = \"world\"\n";

#[test]
fn a_file_lists_classes_areas_edits_and_seeds() {
    let file = compiled(FILE).unwrap();
    let [walker, giant] = &file.classes[..] else { panic!("two classes") };
    assert_eq!((walker.settings.radius, walker.settings.tile_cells), (0.4, 32));
    assert_eq!((giant.settings.height, giant.settings.cell_size), (4.0, 0.4));
    assert_eq!(walker.costs, [("water".to_string(), 8.0)]);
    assert_eq!((walker.dispersion, giant.dispersion), (0.0, 2.5));
    let areas = [("water", 4.0), ("lava", 0.0), ("road", 1.0)];
    assert_eq!(file.areas, areas.map(|(name, cost)| (name.to_string(), cost)));
    let [pond, pit, hole] = &file.volumes[..] else { panic!("three volumes") };
    assert_eq!(pond.area.as_deref(), Some("water"));
    assert!(matches!(&pond.shape, EditShape::Own(volume) if volume.position.y == 2.0));
    assert_eq!(pit.shape, EditShape::OfLevel("pit".to_string()));
    assert_eq!((&pit.classes[..], hole.area.as_ref()), (&["giant".to_string()][..], None));
    let [gap, ladder] = &file.links[..] else { panic!("two links") };
    assert_eq!((gap.cost, gap.is_two_way, gap.is_manual), (Some(3.0), false, true));
    assert_eq!((&gap.link_name[..], &ladder.link_name[..]), ("gap", "climb"));
    assert_eq!(ladder.ends, LinkEnds::OfSpline("ladder".to_string()));
    assert_eq!((file.seeds.len(), file.is_of_world), (1, true));
    let empty = compiled("").unwrap();
    assert_eq!(empty.classes[0].name, DEFAULT_CLASS);
    assert_eq!(empty.classes[0].settings, BakeSettings::DEFAULT);
}

#[test]
fn a_file_lists_platforms_with_their_stops() {
    let text = "agents = { walker = {} }\n\
        platforms = {\n\
        lift = { unit = \"lift\" capacity = 6 cost = 5 agents = [\"walker\"]\n\
        stops = { hall = { ashore = [1, 2, 3] aboard = [0, 1, 0] distance = 1.5 }\n\
        roof = { ashore = [1, 2, 9] aboard = [0, -1, 0] } } }\n}\n";
    let file = compiled(text).unwrap();
    let [lift] = &file.platforms[..] else { panic!("one platform") };
    assert_eq!((&lift.name[..], &lift.unit[..]), ("lift", "lift"));
    assert_eq!((lift.capacity, lift.cost), (Some(6), 5.0));
    assert_eq!(lift.classes, ["walker"]);
    let [hall, roof] = &lift.stops[..] else { panic!("two stops") };
    assert_eq!((&hall.name[..], hall.distance), ("hall", 1.5));
    assert_eq!((hall.ashore.z, roof.aboard.y), (3.0, -1.0));
}

#[test]
fn mistakes_in_platforms_are_errors() {
    let stops = "stops = { a = { ashore = [0, 0, 0] aboard = [0, 0, 0] } }";
    let of = |fields: &str| format!("platforms = {{ lift = {{ {fields} }} }}");
    check("platforms = []", "1: 'platforms' must be a block: platforms = { … }");
    check(&of(stops), "1: platform 'lift' needs 'unit': unit = \"lift\"");
    check(&of("unit = \"l\""), "1: platform 'lift' needs 'stops': stops = { hall = { … } }");
    let wrong = [
        ("capacity = 0", "'capacity' of platform 'lift' must be a whole number, 1 to 1024"),
        ("capacity = 1.5", "'capacity' of platform 'lift' must be a whole number"),
        ("cost = -1", "'cost' of platform 'lift' must be a number, 0 to 1000000"),
        ("agents = [\"x\"]", "'agents' of 'lift' names 'x', which is not in 'agents'"),
        ("speed = 1", "platform 'lift' has the unknown field 'speed'"),
    ];
    for (field, message) in wrong {
        let error = compiled(&of(&format!("unit = \"l\" {stops} {field}"))).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let wrong = [
        ("{}", "'stops' of platform 'lift' must be a block of 1 to 16 stops (STOPS_MAX)"),
        ("{ a = {} }", "stop 'a' of platform 'lift' needs 'ashore', three numbers in metres"),
        ("{ a = { ashore = [0, 0, 0] aboard = [0, 0] } }", "needs 'aboard', three numbers"),
        (
            "{ a = { ashore = [0, 0, 0] aboard = [0, 0, 0] distance = 101 } }",
            "'distance' of stop 'a' must be 0 to 100 metres",
        ),
        (
            "{ a = { ashore = [0, 0, 0] aboard = [0, 0, 0] distanc = 1 } }",
            "stop 'a' has the unknown field 'distanc', did you mean 'distance'",
        ),
    ];
    for (stops, message) in wrong {
        let error = compiled(&of(&format!("unit = \"l\" stops = {stops}"))).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

/// Checks the message about a mistake, with its line.
fn check(text: &str, message: &str) {
    let error = compiled(text).unwrap_err();
    assert_eq!(error, format!("x.navigation:{message}"));
    // Compiled data follows the same rules.
    let data = write_tree(&sjson::parse(text).unwrap().to_tree());
    let of_data = (NAVIGATION.validate)(&data).unwrap_err().message;
    assert!(error.ends_with(&of_data), "{of_data}");
}

#[test]
fn mistakes_in_classes_and_areas_are_refused() {
    check("agent = {}", "1: unknown key 'agent', did you mean 'agents'?");
    check("agents = 3", "1: 'agents' must be a block: agents = { … }");
    check("agents = { a = 3 }", "1: 'a' must be a block: a = { … }");
    check(
        "agents = { a = { radus = 1 } }",
        "1: 'a' has the unknown field 'radus', did you mean 'radius'?",
    );
    check("agents = { a = { radius = \"1\" } }", "1: 'radius' of 'a' must be a number");
    check(
        "agents = { a = { tile_cells = 20.5 } }",
        "1: 'tile_cells' of 'a' must be a whole number",
    );
    for metres in ["-1", "1001"] {
        check(
            &format!("agents = {{ a = {{ dispersion = {metres} }} }}"),
            "1: 'dispersion' of 'a' must be 0 to 1000",
        );
    }
    check(
        "agents = {\n a = { step = 3 } }",
        "2: agent 'a': 'step' must be below 'height', 2, got 3",
    );
    check(
        "agents = { a = { costs = { water = 2 } } }",
        "1: 'costs' of 'a' names 'water', which is not in 'areas'",
    );
    check(
        "areas = { water = { cost = -1 } }",
        "1: 'cost' of area 'water' must be 0, or 0.01 to 1000",
    );
}

#[test]
fn mistakes_in_edits_are_refused() {
    check(
        "areas = { water = {} }\nvolumes = { p = { area = \"watr\" volume = \"p\" } }",
        "2: 'area' of volume 'p' names 'watr', which is not in 'areas', did you mean 'water'?",
    );
    check(
        "volumes = { p = { volume = \"p\" } }",
        "1: volume 'p' must say which area its ground has: area = \"water\"; for an obstacle, move \
         it to 'blockers'",
    );
    check(
        "blockers = { p = { volume = \"p\" shape = \"box\" } }",
        "1: 'p' has 'shape' and 'volume': with 'volume', its shape is that of the level's volume",
    );
    check("blockers = { p = { shape = \"box\" } }", "1: 'p' needs the field 'size'");
    check(
        "blockers = { p = { shape = \"sphere\" radius = 1 area = \"a\" } }",
        "1: volume 'p' has the unknown field 'area'",
    );
    check(
        "links = { l = { from = [0, 0, 0] } }",
        "1: link 'l' needs 'from' and 'to', two points, or 'spline', a spline of the level, and \
         not both",
    );
    check(
        "links = { l = { spline = \"s\" agents = [\"a\"] } }",
        "1: 'agents' of 'l' names 'a', which is not in 'agents'",
    );
    check(
        "links = { l = { spline = \"s\" cost = -1 } }",
        "1: 'cost' of link 'l' must be a number, 0 to 1000000",
    );
    check("seeds = [[0, 0]]", "1: a point in 'seeds' must be three numbers");
    check("source = \"levels\"", "1: 'source' must be level or world");
    let many = (0..9).map(|at| format!("a{at} = {{}}")).collect::<Vec<_>>().join(" ");
    check(
        &format!("agents = {{ {many} }}"),
        "1: 'agents' has 9 entries, and 8 are the most (AGENT_CLASSES_MAX)",
    );
    let seeds = vec!["[0, 0, 0]"; SEEDS_MAX + 1].join(" ");
    check(
        &format!("seeds = [{seeds}]"),
        "1: 'seeds' must be a list of at most 1024 points (SEEDS_MAX): [[0, 0, 0]]",
    );
}

#[test]
fn rules_of_jumps_have_defaults_and_ranges() {
    let text = "agents = { a = {} }\njumps = { hop = {} fall = { distance = 1.5 up = 0 down = 6 \
                name = \"drop\" cost = 9 manual = true agents = [\"a\"] } }";
    let file = compiled(text).unwrap();
    let [hop, fall] = &file.jumps[..] else { panic!("two rules") };
    assert_eq!(hop.rules, JumpRules { name: "hop".to_string(), ..JumpRules::DEFAULT });
    assert!(hop.classes.is_empty());
    let JumpRules { distance, up, down, spacing, cost, .. } = fall.rules;
    assert_eq!((distance, up, down, spacing, cost), (1.5, 0.0, 6.0, 3.0, Some(9.0)));
    assert_eq!((&fall.rules.name[..], fall.rules.is_manual), ("drop", true));
    assert_eq!(fall.classes, ["a"]);
    check(
        "jumps = { hop = { distance = 30 } }",
        "1: 'distance' of jumps 'hop' must be 0.1 to 20 metres",
    );
    check("jumps = { hop = { up = \"1\" } }", "1: 'up' of jumps 'hop' must be 0 to 50 metres");
    check("jumps = { hop = { hight = 3 } }", "1: jumps 'hop' has the unknown field 'hight'");
    check(
        "jumps = { hop = { agents = [\"b\"] } }",
        "1: 'agents' of 'hop' names 'b', which is not in 'agents'",
    );
    check("jumps = { hop = { manual = 1 } }", "1: 'manual' of jumps 'hop' must be true or false");
    let many = (0..17).map(|at| format!("a{at} = {{}}")).collect::<Vec<_>>().join(" ");
    check(
        &format!("jumps = {{ {many} }}"),
        "1: 'jumps' has 17 entries, and 16 are the most (JUMP_RULES_MAX)",
    );
}
