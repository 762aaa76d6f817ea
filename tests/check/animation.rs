//! Tests of `engine check` and `engine explain` for state machines: sounds, effects and bones of
//! events.

use super::{MAIN, run_check, run_engine};

const COLUMN: &str = include_str!("../lua/models/column.gltf");
const UNIT: &str = "model = \"column\" components = { animation = { state_machine = \"hero\" } }";

/// Checks a game with a state machine whose only state has this event.
fn check_event(name: &str, cue: &str) -> (Option<i32>, String) {
    let machine = format!(
        "skeleton = \"column\"\nlayers = [ {{ states = {{ walk = {{ clip = \"Bow\"\n  \
         events = [ {{ name = \"step\" at = 0.5 {cue} }} ] }} }} }} ]"
    );
    let effect = "emitters = { a = { rate = 1 lifetime = 1 } }";
    let files = [
        MAIN,
        ("column.gltf", COLUMN),
        ("hero.unit", UNIT),
        ("dust.particles", effect),
        ("hero.state_machine", machine.as_str()),
    ];
    run_check(name, &files)
}

#[test]
fn resources_and_bones_of_events_are_checked() {
    let (code, output) = check_event("cue", "effect = \"dust\" bone = \"Head\"");
    assert_eq!(code, Some(0), "{output}");
    let check = |name: &str, cue: &str, wanted: &str| {
        let (code, output) = check_event(name, cue);
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains(wanted), "{output}");
    };
    let missing = "hero.state_machine:3: there is no sound 'step'";
    check("cue-sound", "sound = \"step\"", missing);
    let missing = "hero.state_machine:3: there is no effect 'dst', did you mean 'dust'?";
    check("cue-effect", "effect = \"dst\"", missing);
    let missing = "hero.state_machine:3: event 'step': the model 'column' has no bone 'Hed', did \
                   you mean 'Head'?";
    check("cue-bone", "effect = \"dust\" bone = \"Hed\"", missing);
    let useless = "hero.state_machine:3: 'events' of state 'walk': 'bone' of an event needs a";
    check("cue-empty", "bone = \"Head\"", useless);
}

/// Checks a game with a state machine that no unit has, and an animation.
fn check_unused(name: &str, machine: &str, animation: &str) -> (Option<i32>, String) {
    let files = [
        MAIN,
        ("column.gltf", COLUMN),
        ("dust.particles", "emitters = { a = { rate = 1 lifetime = 1 } }"),
        ("nod.animation", animation),
        ("hero.state_machine", machine),
    ];
    run_check(name, &files)
}

#[test]
fn machines_that_no_unit_has_are_checked() {
    let nod = "source = \"column#Nod\"";
    let machine = |skeleton: &str, clip: &str| {
        format!(
            "skeleton = \"{skeleton}\"\nlayers = [ {{ states = {{\n\
             walk = {{ clip = \"{clip}\" }} }} }} ]"
        )
    };
    for skeleton in ["column", "column.gltf"] {
        let (code, output) = check_unused("unused", &machine(skeleton, "nod"), nod);
        assert_eq!(code, Some(0), "{output}");
    }
    let check = |name: &str, machine: &str, animation: &str, wanted: &str| {
        let (code, output) = check_unused(name, machine, animation);
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains(wanted), "{output}");
        assert_eq!(output.matches("error: ").count(), 1, "reported once: {output}");
    };
    let missing = "hero.state_machine:1: there is no model 'colunm', did you mean 'column'?";
    check("unused-skeleton", &machine("colunm", "nod"), nod, missing);
    let missing = "hero.state_machine:3: the model 'column' has no";
    check("unused-clip", &machine("column", "Bwo"), nod, missing);
    let event = "events = [{ name = \"step\" time = 0.5 effect = \"dust\" bone = \"Hed\" }]";
    let missing = "nod.animation:2: event 'step' at 0.5 s: the model 'column' has no bone 'Hed'";
    check("unused-bone", &machine("column", "nod"), &format!("{nod}\n{event}"), missing);
    // All events of a file are checked.
    let events = "events = [{ name = \"a\" time = 0.1 effect = \"dust\" bone = \"Hed\" }\n\
                  { name = \"b\" time = 0.2 effect = \"dust\" bone = \"Hpi\" }]";
    let files = format!("{nod}\n{events}");
    let (_, output) = check_unused("unused-bones", &machine("column", "nod"), &files);
    for wanted in ["nod.animation:2: event 'a' at 0.1 s: the", "nod.animation:3: event 'b' at 0.2"]
    {
        assert!(output.contains(&format!("error: {wanted}")), "{output}");
    }
}

#[test]
fn fault_of_a_machine_of_many_units_is_merged() {
    let machine = "skeleton = \"column\"\nlayers = [ { states = {\n\
                   walk = { clip = \"Bow\" on = { go = \"wlk\" } } } } ]";
    let mut files = vec![MAIN, ("column.gltf", COLUMN), ("hero.state_machine", machine)];
    files.extend(["a.unit", "b.unit", "c.unit", "d.unit", "e.unit"].map(|unit| {
        (unit, "model = \"column\" components = { animation = { state_machine = \"hero\" } }")
    }));
    let (code, output) = run_check("merged", &files);
    assert_eq!(code, Some(1), "{output}");
    assert_eq!(output.matches("hero.state_machine:3: ").count(), 1, "{output}");
    assert!(output.contains("\n1 compile error\n"), "{output}");
    // An error that depends on the model is found by spawning.
    let machine = "skeleton = \"column\"\nlayers = [ { states = {\n\
                   walk = { clip = \"Bwo\" } } } ]";
    files[2] = ("hero.state_machine", machine);
    let (code, output) = run_check("merged-model", &files);
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("(the same for 4 other files: "), "{output}");
    assert!(output.contains("\n1 spawn error\n"), "{output}");
}

#[test]
fn animations_name_times_and_bones_that_exist() {
    let machine = "skeleton = \"column\" layers = [ { states = { a = { clip = \"nod\" } } } ]";
    let check = |name: &str, settings: &str, wanted: Option<&str>| {
        let animation = format!("source = \"column#Nod\"\n{settings}");
        let (code, output) = check_unused(name, machine, &animation);
        assert_eq!(code, Some(i32::from(wanted.is_some())), "{output}");
        assert!(output.contains(wanted.unwrap_or("")), "{output}");
    };
    check("additive-time", "additive = { clip = \"Bow\" time = 1 }", None);
    let late = "nod.animation:2: 'additive' has the time 99, and the animation of the reference \
                pose ends at 1 seconds";
    check("additive-late", "additive = { time = 99 }", Some(late));
    check("additive-late-clip", "additive = { clip = \"Bow\" time = 99 }", Some(late));
    check("retarget-own", "skeleton = \"column\" retarget = { Head = \"Chest\" }", None);
    let missing = "nod.animation:2: 'retarget' names the bone 'Hed', which the skeleton of the \
                   clip does not have, did you mean 'Head'?";
    check("retarget-bone", "skeleton = \"column\" retarget = { Head = \"Hed\" }", Some(missing));
}

#[test]
fn root_motion_that_moves_nothing_is_a_warning() {
    // The hip of "Bow" does not move.
    let files = [
        MAIN,
        ("column.gltf", COLUMN),
        ("bow.animation", "source = \"column#Bow\"\nroot_motion = \"xy\""),
        ("rise.animation", "source = \"column#Rise\" root_motion = \"all\""),
    ];
    let (code, output) = run_check("root-motion", &files);
    assert_eq!(code, Some(0), "{output}");
    let wanted =
        "bow.animation:2: it has 'root_motion', and its root bone stays in place, or sways";
    assert!(output.contains(wanted), "{output}");
    assert!(!output.contains("rise.animation"), "{output}");
}

#[test]
fn explain_describes_a_state_machine() {
    let machine = "skeleton = \"column\" variables = { spare = 1 }\n\
                   layers = [ { name = \"body\" states = {\n  \
                   a = { clip = \"Bow\" on = { go = \"b\" } } b = { clip = \"Nod\" } } } ]";
    let files = [MAIN, ("column.gltf", COLUMN), ("hero.state_machine", machine)];
    let arguments = ["explain", "game", "hero.state_machine", "--platform", "linux"];
    let (code, out, err) = run_engine("explain-machine", &files, &arguments);
    assert_eq!(code, Some(0), "{err}");
    for wanted in [
        "state machine hero of column\n1 layer, 2 states, 1 transition, 1 event, 1 variable\n",
        "  a: clip Bow (line 3)\n    on go -> b, 0.2 s smooth, immediate\n",
        "Without effect:\n  state 'b' of layer 'body' has no transition out of it\n  \
         variable 'spare': no expression reads it\n",
        "hero.state_machine  <- serves",
    ] {
        assert!(out.contains(wanted), "{out}");
    }
}

#[test]
fn explain_describes_a_clip_by_the_name_that_it_prints() {
    let files = [MAIN, ("column.gltf", COLUMN)];
    let explain = |name: &str, resource: &str| {
        run_engine(name, &files, &["explain", "game", resource, "--platform", "linux"])
    };
    let (code, whole, err) = explain("explain-clips", "column.model");
    assert_eq!(code, Some(0), "{err}");
    for (name, resource) in [("explain-clip", "column#Bow"), ("explain-file", "column.gltf#Bow")] {
        let (code, out, err) = explain(name, resource);
        assert_eq!(code, Some(0), "{err}");
        assert!(out.starts_with("clip column#Bow\n  length: "), "{out}");
        assert!(whole.contains(&out) && !out.contains("Nod"), "{out}");
    }
    let (code, out, err) = explain("explain-rise", "column#Rise");
    assert_eq!(code, Some(0), "{err}");
    for line in [
        "  tracks: 1 (1 positions), of 1 of the 4 nodes of the model\n",
        "  of these, 0 are constant, and 1 have keys in 11 regular keyframes\n",
        "  keys: 11, from 2 of the source, 13 bytes in the stream, 3 points for jumps\n",
        "  size: 84 bytes, 21.0 for each bone and second\n",
        "  error: 0.0797 mm\n",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let (code, _, err) = explain("explain-no-clip", "column#Bwo");
    assert_eq!(code, Some(1));
    let wanted = "the model 'column' has no animation 'Bwo', did you mean 'Bow'?";
    assert!(err.contains(wanted), "{err}");
}

#[test]
fn states_without_length_or_weights_are_reported() {
    let unit = ("hero.unit", UNIT);
    let check = |name: &str, machine: &str| {
        let files = [MAIN, ("column.gltf", COLUMN), unit, ("hero.state_machine", machine)];
        run_check(
            name,
            &[&files[..], &[("pose.animation", "source = \"column#Bow\" range = [0, 0]")]].concat(),
        )
    };
    let machine = "skeleton = \"column\"\nlayers = [ { states = {\n\
                   a = { clip = \"pose\" on_end = \"b\" }\n b = { clip = \"Nod\" } } } ]";
    let (code, output) = check("no-length", machine);
    assert_eq!(code, Some(0), "{output}");
    let wanted = "hero.state_machine:3: state 'a': 'pose' is 0 seconds long: 'on_end' leaves it";
    assert!(output.contains(wanted), "{output}");
    let machine = "skeleton = \"column\"\nlayers = [ { states = {\n\
                   a = { blend = [ { clip = \"Bow\" weight = 0 }\n\
                   { clip = \"Nod\" weight = \"1 - 1\" } ] } } } ]";
    let (code, output) = check("no-weights", machine);
    assert_eq!(code, Some(1), "{output}");
    let wanted = "hero.state_machine:3: state 'a': its weights are all 0 or less: give one of them \
                  a weight above 0";
    assert!(output.contains(wanted), "{output}");
    let machine = "skeleton = \"column\"\nlayers = [ { states = {\n\
                   a = { clip = \"Bow\" speed = \"2 / 0\" } } } ]";
    let (code, output) = check("no-divisor", machine);
    assert_eq!(code, Some(1), "{output}");
    let wanted = "hero.state_machine:3: state 'a': expression '2 / 0' of 'speed': column 3: \
                  unexpected '/': it divides by 0";
    assert!(output.contains(wanted), "{output}");
}

#[test]
fn a_clip_and_a_state_machine_of_a_unit_are_refused() {
    let machine = "skeleton = \"column\"\nlayers = [ { states = { a = { clip = \"Bow\" } } } ]";
    let unit = UNIT.replace("state_machine =", "clip = \"Bow\" state_machine =");
    let files = [("column.gltf", COLUMN), ("hero.state_machine", machine), ("hero.unit", &unit)];
    let (code, output) = run_check("clip-machine", &[&[MAIN], &files[..]].concat());
    assert_eq!(code, Some(1), "{output}");
    let wanted = "'clip' would hide the animations of its 'state_machine'";
    assert!(output.contains(wanted), "{output}");
}

#[test]
fn bones_of_levels_of_detail_are_checked() {
    let check = |name: &str, fields: &str| {
        let unit = format!("model = \"column\" components = {{ animation = {{ {fields} }} }}");
        run_check(name, &[MAIN, ("column.gltf", COLUMN), ("hero.unit", &unit)])
    };
    let (code, output) = check("lod-bones", "lod_size = 0.1 lod_bones = [[\"Chest\"] [\"Hip\"]]");
    assert_eq!(code, Some(0), "{output}");
    for (name, fields, wanted) in [
        ("lod-name", "lod_bones = [[\"Chst\"]]", "no bone 'Chst', did you mean 'Chest'?"),
        ("lod-list", "lod_bones = [\"Chest\"]", "'lod_bones' must be 1 to 3 lists of names"),
        ("lod-size", "lod_size = -1", "'lod_size' is -1"),
    ] {
        let (code, output) = check(name, fields);
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains(wanted), "{output}");
    }
    let dot =
        r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"name":"A"}]}"#;
    let unit = "components = { animation = { model = \"dot\" lod_size = 0.1 } }";
    let (code, output) = run_check("lod-dot", &[MAIN, ("dot.gltf", dot), ("hero.unit", unit)]);
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("'lod_size' needs a model with a size, and 'dot' has"), "{output}");
}

#[test]
fn all_errors_of_a_machine_are_reported() {
    let files = |machine: &'static str| {
        [MAIN, ("column.gltf", COLUMN), ("hero.unit", UNIT), ("hero.state_machine", machine)]
    };
    // Of the file alone.
    let machine = "skeleton = \"column\"
variables = { speed = { min = 3 max = 1 } }
layers = [ { states = {
  a = { clip = \"Bow\" spede = 1 on = { go = \"bb\" } }
  b = { clip = \"Nod\" speed = \"spd\" } } } ]";
    let (code, output) = run_check("all-compile", &files(machine));
    assert_eq!(code, Some(1), "{output}");
    for wanted in [
        "error: hero.state_machine:2: variable 'speed': 'min' is 3, above 'max' 1",
        "error: hero.state_machine:4: state 'a' has no 'spede', did you mean 'speed'?",
        "error: hero.state_machine:4: 'on.go' of state 'a': there is no state 'bb', did you mean 'b'?",
        "error: hero.state_machine:5: state 'b': expression 'spd' of 'speed'",
        "\n4 compile errors\n",
    ] {
        assert!(output.contains(wanted), "{wanted}: {output}");
    }
}

#[test]
fn all_errors_of_a_variable_and_a_constraint_are_reported() {
    let files = |machine: &'static str| {
        [MAIN, ("column.gltf", COLUMN), ("hero.unit", UNIT), ("hero.state_machine", machine)]
    };
    let machine = "skeleton = \"column\"
variables = { speed = { min = \"low\" value = \"fast\" } }
constraints = { look = { type = \"aim\" bone = 5 yaw = 400
  axis = [0 \"up\" 0] ptich = 3 } }
layers = [ { constraints = \"look\" states = { a = { clip = \"Bow\" speed = \"speed\" } } } ]";
    let (code, output) = run_check("all-fields", &files(machine));
    assert_eq!(code, Some(1), "{output}");
    for wanted in [
        "error: hero.state_machine:2: variable 'speed': 'min' must be a number",
        "error: hero.state_machine:2: variable 'speed': 'value' must be a number",
        "error: hero.state_machine:3: constraint 'look': 'bone' must be text in quotes",
        "error: hero.state_machine:3: constraint 'look': 'yaw' must be 0 to 180, got 400",
        "error: hero.state_machine:4: constraint 'look': 'axis' must be a number",
        "error: hero.state_machine:4: constraint 'look' has no 'ptich', did you mean 'pitch'?",
        "\n6 compile errors\n",
    ] {
        assert!(output.contains(wanted), "{wanted}: {output}");
    }
}

#[test]
fn errors_of_layers_and_groups_do_not_hide_those_within() {
    let files = |machine: &'static str| {
        [MAIN, ("column.gltf", COLUMN), ("hero.unit", UNIT), ("hero.state_machine", machine)]
    };
    // Settings of a layer and of a group do not hide what is within; a list does not cause more.
    let machine = "skeleton = \"column\"
events = [\"go\" 5]
layers = [ { wieght = 1 states = {
  a = { group = { intial = \"x\" states = { x = { clip = \"Bow\" loop = 2 } } } speed = \"fast\" }
  b = { clip = \"Nod\" on = { stop = \"a\" } } } } ]";
    let (code, output) = run_check("all-within", &files(machine));
    assert_eq!(code, Some(1), "{output}");
    for wanted in [
        "error: hero.state_machine:2: a state machine: 'events' must be text in quotes",
        "error: hero.state_machine:3: layer 1 has no 'wieght', did you mean 'weight'?",
        "error: hero.state_machine:4: group 'a' has no 'intial', did you mean 'initial'?",
        "error: hero.state_machine:4: state 'a/x': 'loop' must be true or false",
        "error: hero.state_machine:4: state 'a': expression 'fast' of 'speed'",
        "\n5 compile errors\n",
    ] {
        assert!(output.contains(wanted), "{wanted}: {output}");
    }
    // With the model of a unit.
    let machine = "skeleton = \"column\"
masks = { top = { Hed = 1 } }
constraints = { look = { type = \"aim\" bone = \"Hedd\" } }
layers = [ { mask = \"top\" constraints = \"look\" states = {
  a = { clip = \"Bwo\" }
  b = { clip = \"Nodd\" events = [ { name = \"step\" at = 0.5 effect = \"dust\" bone = \"Hat\" } ] }
} } ]";
    let effect = ("dust.particles", "emitters = { a = { rate = 1 lifetime = 1 } }");
    let (code, output) = run_check("all-spawn", &[&files(machine)[..], &[effect]].concat());
    assert_eq!(code, Some(1), "{output}");
    for wanted in [
        "hero.state_machine:5: the model 'column' has no animation 'Bwo', did you mean 'Bow'?",
        "error: hero.state_machine:6: the model 'column' has no animation 'Nodd'",
        "error: hero.state_machine:2: mask 'top': the skeleton has no bone 'Hed'",
        "error: hero.state_machine:3: constraint 'look': the skeleton has no bone 'Hedd'",
        "error: hero.state_machine:6: event 'step': the model 'column' has no bone 'Hat'",
        "warning: hero.state_machine:6: state 'b' cannot be reached: no transition leads to it",
        "\n5 spawn errors, 1 warning\n",
    ] {
        assert!(output.contains(wanted), "{wanted}: {output}");
    }
}

#[test]
fn components_of_models_that_nothing_can_move_name_the_model() {
    let still = COLUMN.replace(", \"skin\": 0", "");
    let start = still.find("  \"skins\"").expect("it has a skin");
    let end = still.find("  \"accessors\"").expect("it has accessors");
    let still = format!("{}{}", &still[..start], &still[end..]);
    let check = |name: &str, unit: &str| {
        let machine = "skeleton = \"block\" layers = [ { states = { a = { empty = true } } } ]";
        let files = [
            MAIN,
            ("block.gltf", still.as_str()),
            ("block.state_machine", machine),
            ("hero.unit", unit),
        ];
        run_check(name, &files)
    };
    for fields in ["state_machine = \"block\"", "clip = \"Bow\"", "ragdoll = true"] {
        let unit = format!("model = \"block\" components = {{ animation = {{ {fields} }} }}");
        let (code, output) = check("still-model", &unit);
        assert_eq!(code, Some(1), "{output}");
        let wanted = "the unit's model 'block' has neither animations nor skins";
        assert!(output.contains(wanted), "{fields}: {output}");
    }
    let none = "components = { animation = { state_machine = \"block\" } }";
    let (_, output) = check("no-model", none);
    let wanted = "it names no model, and the unit has none with animations or skins";
    assert!(output.contains(wanted), "{output}");
    let named = "components = { animation = { model = \"block\" state_machine = \"block\" } }";
    let (_, output) = check("moves-nothing", named);
    let wanted = "state machine 'block' moves nothing: it has no clips and no constraints, and the \
                  model 'block' has neither animations nor skins";
    assert!(output.contains(wanted), "{output}");
}

#[test]
fn clips_for_other_skeletons_list_the_bones_that_are_missing() {
    let both = "\"node\": 1, \"path\": \"rotation\" } },\n      \
                { \"sampler\": 0, \"target\": { \"node\": 2, \"path\": \"rotation\" } } ],";
    let source = COLUMN.replacen("\"node\": 1, \"path\": \"rotation\" } } ],", both, 1);
    let far = COLUMN.replace("\"Chest\"", "\"Ribs\"");
    let files = [
        MAIN,
        ("column.gltf", source.as_str()),
        ("far.gltf", far.as_str()),
        ("half.animation", "source = \"column#Bow\" skeleton = \"far\""),
    ];
    let (code, output) = run_check("half-skeleton", &files);
    assert_eq!(code, Some(0), "{output}");
    assert!(!output.contains("animated bones"), "{output}");
    let explain = ["explain", "game", "half.animation", "--platform", "linux"];
    let (_, out, _) = run_engine("explain-half", &files, &explain);
    assert!(out.contains("bones that the skeleton lacks, left out: Chest"), "{out}");
    // A near name is rarely meant as another bone.
    let near = COLUMN.replace("\"Chest\"", "\"Chesst\"");
    let near_files = [
        MAIN,
        ("column.gltf", source.as_str()),
        ("near.gltf", near.as_str()),
        ("near.animation", "source = \"column#Bow\" skeleton = \"near\""),
    ];
    let (code, output) = run_check("near-skeleton", &near_files);
    assert_eq!(code, Some(0), "{output}");
    let wanted = "warning: near.animation: the skeleton lacks 1 of the 2 animated bones: 'Chest', \
                  did you mean 'Chesst'?";
    assert_eq!(output.matches(wanted).count(), 1, "{output}");
    assert!(output.contains("no errors, 1 warning"), "{output}");
}

#[test]
fn explain_lists_the_errors_of_a_machine_with_its_model() {
    let explain = |name: &str, machine: &str, wanted: i32| {
        let files = [
            MAIN,
            ("column.gltf", COLUMN),
            ("hero.state_machine", machine),
            ("nod.animation", "source = \"column#Nod\""),
        ];
        let arguments = ["explain", "game", "hero.state_machine", "--platform", "linux"];
        let (code, out, err) = run_engine(name, &files, &arguments);
        assert_eq!(code, Some(wanted), "{err}");
        out
    };
    let machine = "skeleton = \"column\"
masks = { top = { Hed = 1 } }
constraints = { look = { type = \"aim\" bone = \"Hedd\" } }
layers = [ { mask = \"top\" constraints = \"look\" states = {
  a = { clip = \"Bwo\" }
  b = { clip = \"animations/nod\" } } } ]";
    let out = explain("explain-faults", machine, 1);
    let wanted = "Errors with the model 'column':
  hero.state_machine:5: the model 'column' has no animation 'Bwo', did you mean 'Bow'?
  hero.state_machine:6: the model 'column' has no animation 'animations/nod', and there is no file \
                  animations/nod.animation
  hero.state_machine:2: mask 'top': the skeleton has no bone 'Hed', did you mean 'Head'?
  hero.state_machine:3: constraint 'look': the skeleton has no bone 'Hedd', did you mean 'Head'?
";
    assert!(out.contains(wanted), "{out}");
    let machine = "skeleton = \"column\" layers = [ { states = { a = { clip = \"nod\" } } } ]";
    assert!(!explain("explain-sound", machine, 0).contains("Errors"));
}

#[test]
fn explain_fails_if_the_resource_has_errors() {
    let good = "skeleton = \"column\" layers = [ { states = { a = { clip = \"Bow\" } } } ]";
    let files = [
        MAIN,
        ("column.gltf", COLUMN),
        ("hero.state_machine", good),
        ("lost.state_machine", "skeleton = \"column\" layers = [ { states = {} } ]"),
    ];
    let explain = |resource: &str| {
        let arguments = ["explain", "game", resource, "--platform", "linux"];
        let (code, _, err) = run_engine("explain-code", &files, &arguments);
        (code, err)
    };
    let (code, err) = explain("hero.state_machine");
    assert_eq!(code, Some(0), "errors of other files do not count: {err}");
    assert!(err.contains("the game has 1 other error"), "{err}");
    assert_eq!(explain("lost.state_machine").0, Some(1));
}

#[test]
fn dead_parts_of_a_machine_are_warnings() {
    let machine = "skeleton = \"column\" variables = { speed = 1 ragdoll_face_up = 0 }
layers = [ { states = {
  a = { clip = \"Bow\" on = { go = [
    { to = \"b\" if = \"speed\" }
    { to = \"c\" if = \"speed\" }
    { to = \"c\" if = \"0\" } ] } }
  b = { clip = \"Nod\" speed = 0 on_end = \"a\" }
  c = { clip = \"Rise\" } } } ]";
    let (code, output) = check_unused("dead-parts", machine, "source = \"column#Nod\"");
    assert_eq!(code, Some(0), "{output}");
    for wanted in [
        "hero.state_machine:5: the transition on 'go' to 'c' is never taken: the one to 'b' (line \
         4) has the same 'if', and is taken before it",
        "hero.state_machine:6: the transition on 'go' to 'c' is never taken: its 'if' is always 0",
        "hero.state_machine:7: the transition at the end to 'a' is never taken: the speed of",
        "no errors, 3 warnings",
    ] {
        assert!(output.contains(wanted), "{wanted}: {output}");
    }
    assert!(!output.contains("ragdoll_face_up"), "{output}");
    let machine = "skeleton = \"column\" layers = [ { states = {\n\
                   a = { clip = \"Bow\" }\nb = { clip = \"Nod\" on = { go = \"a\" } } } } ]";
    let (code, output) = check_unused("dead-state", machine, "source = \"column#Nod\"");
    assert_eq!(code, Some(0), "{output}");
    let wanted = "hero.state_machine:3: state 'b' cannot be reached: no transition leads to it";
    assert!(output.contains(wanted), "{output}");
}

#[test]
fn errors_of_fields_that_depend_on_the_model_have_their_line() {
    let check = |name: &str, fields: &str, wanted: &str| {
        let unit = format!("model = \"column\"\ncomponents = {{\n  animation = {{\n{fields} }} }}");
        let (code, output) =
            run_check(name, &[MAIN, ("column.gltf", COLUMN), ("hero.unit", &unit)]);
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains(wanted), "{output}");
    };
    let limits = "ragdoll = {\nmass = 3\nlimits = {\nHed = { swing = 1 } } }";
    let wanted = "hero.unit:7: spawning it: component 'animation': 'limits' of the ragdoll names \
                  the bone 'Hed', which the model 'column' does not have, did you mean 'Head'?";
    check("limits", limits, wanted);
    let wanted = "hero.unit:5: spawning it: component 'animation': 'bones' of the ragdoll names \
                  the bone 'Hpi', which the model 'column' does not have, did you mean 'Hip'?";
    check("bones", "ragdoll = {\nbones = [\"Hpi\"] }", wanted);
    let wanted = "hero.unit:4: spawning it: component 'animation': 'lod_bones': the model has no \
                  bone 'Chst', did you mean 'Chest'?";
    check("lod", "lod_bones = [[\"Chst\"]]", wanted);
}

#[test]
fn a_misspelt_model_of_an_animation_is_suggested() {
    let machine = "skeleton = \"column\" layers = [ { states = { a = { clip = \"Bow\" } } } ]";
    let check = |name: &str, animation: &str, wanted: &str| {
        let (code, output) = check_unused(name, machine, animation);
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains(wanted), "{output}");
    };
    let wanted = "nod.animation:2: there is no model 'colunm', did you mean 'column'?";
    check("near-model", "loop = true\nsource = \"colunm#Nod\"", wanted);
    let wanted = "nod.animation:2: skeleton: there is no model 'colum', did you mean 'column'?";
    check("near-skeleton", "source = \"column#Nod\"\nskeleton = \"colum\"", wanted);
    let wanted = "nod.animation:1: there is no model 'walrus': its file would be walrus.glb";
    check("no-model", "source = \"walrus#Nod\"", wanted);
}
