//! Tests of the compiler: valid files, messages of errors, and the compiled form.

use super::*;
use crate::clip_events::EventCue;
use engine_foundation::random::Random;

const EXAMPLE: &str = r#"
variables = { speed = { value = 0 min = 0 max = 6 } lean = 0.5 }
masks = { upper = { spine = 1 hip = 0.25 } }
constraints = { look = { type = "aim" bone = "head" yaw = 50 }
    foot = { type = "two_bone" bones = ["thigh" "shin" "foot"] target = "ground" } }
groups = { combat = { initial = "ready" states = {
    ready = { clip = "ready" on = { swing = "swing" } }
    swing = { clip = "swing" on_end = "ready" events = [ { name = "hit" time = 0.3 } ] } } } }
layers = [ { name = "body" initial = "move"
    any = { die = { to = "fallen" priority = 5 interrupt = "never" } }
    states = {
        move = { blend = [ { clip = "walk" weight = "match(speed, 2)" }
                           { clip = "run" weight = "match(speed, 5)" } ]
            speed = "speed / 2" constraints = ["look"]
            on = { jump = { to = "jump" blend = 0.2 mode = "sync_beat_closest" }
                   fight = [ { to = "combat/swing" if = "speed > 3" } { to = "combat" } ] } }
        jump = { clip = "jump" loop = false on_end = { to = "move" curve = "linear" } }
        combat = { group = "combat" on = { peace = "move" } enter = "drawn" exit = ["sheathed"] }
        fallen = { ragdoll = { mask = "upper" } on = { get_up = "pick" } }
        pick = { random = [ { to = "move" weight = 2 } { to = "jump" } ] }
        strafe = { blend_space = { x = "speed" y = "lean"
            points = [ { clip = "left" at = [-1 0] } { clip = "right" at = [1 0] } ] } }
        idle = { random = [ { clip = "a" } { clip = "b" weight = 3 } ] } } }
    { name = "arms" mask = "upper" weight = "lean" states = {
        none = { empty = true on = { wave = "wave" } }
        wave = { clip = "wave" additive = true weight = "lean" on_end = "none" }
        aim = { clip = "aim" time = "lean" } } } ]
"#;

/// Compiles the inside of a file, and checks that the error has a text.
fn check(text: &str, wanted: &str) {
    let text = format!("skeleton = \"units/orc\"\n{text}");
    match compile_state_machine("orc.state_machine", &text) {
        Ok(_) => panic!("{text} is accepted"),
        Err(error) => assert!(error.message.contains(wanted), "{}\n{text}", error.message),
    }
}

/// Checks the error of a state in line 2.
fn check_state(state: &str, wanted: &str) {
    let text = format!(
        "variables = {{ speed = 0 }} \
         layers = [ {{ states = {{ other = {{ clip = \"o\" }} s = {{ {state} }} }} }} ]"
    );
    check(&text, "orc.state_machine:2");
    check(&text, wanted);
}

#[test]
fn the_example_of_the_manual_compiles() {
    let machine = compiled(EXAMPLE);
    assert_eq!(machine.skeleton(), "units/orc");
    assert_eq!(machine.events(), ["jump", "fight", "peace", "swing", "get_up", "die", "wave"]);
    let sent: Vec<&str> = machine.sent_events().iter().map(|event| event.name.as_str()).collect();
    assert_eq!(sent, ["drawn", "sheathed", "hit"]);
    let clips: Vec<&str> = machine.clips().iter().map(|clip| clip.name.as_str()).collect();
    assert!(clips.starts_with(&["walk", "run", "jump", "ready", "swing"]), "{clips:?}");
    assert_eq!(machine.find_variable("lean"), Some(1));
    assert_eq!(machine.find_state(0, "combat/swing"), Some(3));
    let look = &machine.constraints()[0];
    assert_eq!((look.kind, look.target.as_deref()), (ConstraintKind::Aim, Some("look")));
    assert_eq!(look.parameter("yaw"), [50.0, 0.0, 0.0]);
    assert_eq!(machine.constraints()[1].target.as_deref(), Some("ground"));
    assert_eq!(machine.states()[0].constraints, [0]);
}

#[test]
fn compiled_machines_read_back_and_damaged_ones_are_refused() {
    let machine = compiled(EXAMPLE);
    let bytes = machine.write();
    assert_eq!(read_state_machine(&bytes).unwrap(), machine);
    assert!(read_state_machine(&bytes[..bytes.len() - 3]).is_err());
    let mut random = Random::seed(3);
    let body = bytes.len() - 24;
    let mut accepted = 0;
    for _ in 0..3000 {
        let mut changed = bytes[24..].to_vec();
        let at = random.range_i64(0, body as i64 - 1) as usize;
        changed[at] ^= 1 << random.range_i64(0, 7);
        // In a valid frame, so that the checks of the content are tested.
        let mut framed = Vec::new();
        let version = crate::STATE_MACHINE_VERSION;
        engine_foundation::blob::append_frame(&mut framed, *b"ASMC", version, |writer| {
            changed.iter().for_each(|byte| writer.u8(*byte));
        });
        let Ok(machine) = read_state_machine(&framed) else { continue };
        accepted += 1;
        let mut state = StateMachineState::new(&machine, 1);
        let (mut sent, mut output) = (vec![], StateMachineOutput::default());
        for event in 0..machine.events().len() as u16 {
            state.send_event(&machine, event, &mut sent);
            state.update(&machine, &[], 0.3, &mut sent, &mut output);
            assert!(output.samples.iter().all(|sample| sample.weight.is_finite()));
        }
        machine.summary();
    }
    assert!(accepted > 100, "a changed letter of a name is still valid: {accepted}");
}

#[test]
fn unknown_keys_and_names_suggest_the_nearest() {
    check(
        "layer = 1",
        "orc.state_machine:2: a state machine has no 'layer', did you mean 'layers'?",
    );
    check_state(
        "clp = \"o\"",
        "its kind is missing: write one of blend, blend_space, choice, clip",
    );
    check_state("clip = \"o\" spede = 1", "state 's' has no 'spede', did you mean 'speed'?");
    check_state(
        "clip = \"o\" on = { go = \"othr\" }",
        "there is no state 'othr', did you mean 'other'?",
    );
    check_state(
        "clip = \"o\" on = { go = { to = \"other\" mode = \"at_once\" } }",
        "'mode' cannot be 'at_once' (known: immediate, wait_until_end",
    );
    check_state(
        "clip = \"o\" on = { go = { to = \"other\" curve = \"smoth\" } }",
        "'curve' cannot be 'smoth', did you mean 'smooth'?",
    );
    check_state("clip = \"o\" on = { go = { blend = 1 } }", "'to' is missing");
    check_state("clip = \"o\" constraints = \"look\"", "there is no constraint 'look'");
    check_state(
        "clip = \"o\" speed = \"sped\"",
        "expression 'sped' of 'speed': column 1: there is no variable 'sped', did you mean",
    );
    check_state("group = \"combat\"", "there is no group 'combat'");
    check_state("ragdoll = { mask = \"upper\" }", "there is no mask 'upper'");
    check(
        "masks = { upper = { spine = 1 } }
         layers = [ { mask = \"uper\" states = { a = { empty = true } } } ]",
        "layer 'layer_1': there is no mask 'uper', did you mean 'upper'?",
    );
    check(
        "layers = [ { initial = \"b\" states = { bb = { empty = true } } } ]",
        "there is no state 'b', did you mean 'bb'?",
    );
    check(
        "events = [\"jump\"]
         layers = [ { states = { a = { empty = true on = { jmp = \"a\" } } } } ]",
        "the list 'events' has no 'jmp', did you mean 'jump'?",
    );
}

#[test]
fn states_that_contradict_themselves_are_refused() {
    check_state("", "its kind is missing");
    check_state("clip = \"o\" empty = true", "it has 'clip' and 'empty'");
    check_state("empty = false", "'empty' must be true");
    check_state("ragdoll = 1", "'ragdoll' must be \"full\"");
    check_state("clip = \"\"", "'clip' must have 1 to 256 bytes");
    check_state("blend = []", "'blend' has no clips");
    check_state("random = []", "'random' has no entries");
    check_state(
        "random = [ { clip = \"o\" } { to = \"other\" } ]",
        "each entry of 'random' has a 'clip'",
    );
    check_state("choice = [ { to = \"other\" } ] on = { go = \"other\" }", "state 's' has no 'on'");
    check_state("random = [ { to = \"s\" } ]", "the choice leads back to itself");
    check_state("clip = \"o\" loop = true on_end = \"other\"", "never ends");
    check_state("clip = \"o\" weight = 0.5", "'weight' needs 'additive = true'");
    let reason = "because it has 'time', which chooses what is shown: remove one of them";
    for key in ["loop", "speed", "on_end"] {
        let wanted = format!("state 's' has no '{key}' {reason}");
        check_state(&format!("clip = \"o\" time = \"speed\" {key} = \"other\""), &wanted);
    }
    check_state(
        "clip = \"o\" root_motion = \"xy\"",
        "state 's' has no 'root_motion' because that is a setting of an .animation file, which \
         'clip' can name",
    );
    check_state("empty = true on_end = \"other\"", "state 's' has no 'on_end'");
    check_state(
        "clip = \"o\" on = { go = { to = \"other\" blend = -1 } }",
        "'blend' must be 0 to 60",
    );
    check_state(
        "clip = \"o\" on = { go = { to = \"other\" priority = 1.5 } }",
        "must be a whole number",
    );
    check_state(
        "clip = \"o\" events = [ { name = \"e\" } ]",
        "it needs 'time' in seconds, or 'at'",
    );
    check_state(
        "blend = [ { clip = \"o\" } { clip = \"p\" } ] events = [ { name = \"e\" time = 1 } ]",
        "has no fixed length: write 'at'",
    );
    check_state(
        "blend_space = { x = \"speed\" \
         points = [ { clip = \"a\" at = 1 } { clip = \"b\" at = 1 } ] }",
        "an earlier point has the same position",
    );
    check_state("blend_space = { points = [ { clip = \"a\" at = 1 } ] }", "'x' is missing");
    check_state(
        "blend_space = { x = \"speed\" y = \"speed\" points = [ { clip = \"a\" at = 1 } ] }",
        "'at' must be a list of 2 numbers",
    );
}

#[test]
fn variables_masks_and_constraints_are_checked() {
    check("variables = { speed = { min = 2 max = 1 } }", "'min' is 2, above 'max' 1");
    check("variables = { speed = { value = 9 max = 1 } }", "'value' must be");
    check("variables = { \"my speed\" = 1 }", "only letters, digits and '_'");
    check("variables = { speed = \"fast\" }", "variable 'speed' must be a block");
    check("masks = { upper = { } }", "mask 'upper': it names 0 bones");
    check("masks = { upper = { spine = 2 } }", "'spine' must be 0 to 1, got 2");
    check(
        "constraints = { look = { bone = \"head\" } }",
        "'type' is missing (known: aim, two_bone",
    );
    check(
        "constraints = { look = { type = \"am\" } }",
        "'type' cannot be 'am', did you mean 'aim'?",
    );
    check("constraints = { look = { type = \"aim\" } }", "it names 0 bones: name the bone that");
    check(
        "constraints = { f = { type = \"foot_placement\" bones = [\"hip\" \"a\" \"b\"] } }",
        "it names 3 bones: name the pelvis, and then thigh, shin and foot",
    );
    check(
        "constraints = { c = { type = \"copy\" bones = [\"a\" \"b\"] rotation = 1 } }",
        "'rotation' must be true or false",
    );
    check(
        "constraints = { look = { type = \"aim\" bone = \"a\" stiffness = 1 } }",
        "has no 'stiffness'",
    );
    check(
        "constraints = { c = { type = \"copy\" bone = \"a\" } }",
        "name the bone, and the bone whose",
    );
    check(
        "constraints = { c = { type = \"aim\" bone = \"a\" bones = [\"b\"] } }",
        "write one of them",
    );
    check(
        "constraints = { c = { type = \"aim\" bone = \"a\" axis = [1 2] } }",
        "a list of 3 numbers",
    );
    check("events = [\"a\" \"a\"]", "it lists the event 'a' twice");
    check("layers = []", "it has no layers");
    check("layers = [ { states = {} } ]", "it has no states");
    check(
        "layers = [ { name = \"a\" states = { s = { empty = true } } } { name = \"a\" } ]",
        "an earlier layer is named 'a', too",
    );
    let error = compile_state_machine("a.state_machine", "layers = [").unwrap_err();
    assert!(error.message.starts_with("a.state_machine:1:"), "{}", error.message);
    let error = compile_state_machine("a.state_machine", "").unwrap_err();
    assert!(error.message.contains("'skeleton' is missing"), "{}", error.message);
}

#[test]
fn events_have_cues() {
    let machine = compiled(
        "layers = [ { states = { s = { clip = \"o\"
            enter = { name = \"step\" sound = \"sounds/land\" }
            events = [
                { name = \"step\" time = 0.1 sound = \"sounds/step\" effect = \"fx/dust\"
                  bone = \"foot_l\" link = true }
                { name = \"step\" at = 0.5 }
            ] } } } ]",
    );
    let text = |text: &str| Some(text.to_string());
    let cues: Vec<EventCue> = machine.sent_events().iter().map(|it| it.cue.clone()).collect();
    let (sound, effect, bone) = (text("sounds/step"), text("fx/dust"), text("foot_l"));
    let wanted = [
        EventCue { sound: text("sounds/land"), ..EventCue::default() },
        EventCue { sound, effect, bone, link: true },
        EventCue::default(),
    ];
    assert_eq!(cues, wanted);
    assert_eq!(read_state_machine(&machine.write()).unwrap(), machine);
    check_state(
        "clip = \"o\" events = [ { name = \"e\" at = 1 bone = \"foot\" } ]",
        "'events' of state 's': 'bone' of an event needs a 'sound' or an 'effect'",
    );
    check_state(
        "clip = \"o\" enter = { name = \"e\" link = true }",
        "'link' of an event needs a 'sound' or an 'effect'",
    );
    check_state("clip = \"o\" exit = { sound = \"s\" }", "'exit' of state 's': 'name' is missing");
    check_state(
        "clip = \"o\" events = [ { name = \"e\" at = 1 sond = \"s\" } ]",
        "has no 'sond', did you mean 'sound'?",
    );
    check_state(
        "clip = \"o\" enter = { name = \"e\" sound = 5 }",
        "'sound' must be text in quotes",
    );
}

#[test]
fn groups_that_contain_each_other_are_refused() {
    let groups = "groups = { a = { states = { x = { group = \"b\" } } }
        b = { states = { y = { group = \"a\" } } } }";
    let layers = "layers = [ { states = { s = { group = \"a\" } } } ]";
    check(&format!("{groups} {layers}"), "groups contain each other: a → b → a");
    // A group that no layer uses is checked, too.
    let layers = "layers = [ { states = { s = { empty = true } } } ]";
    check(&format!("{groups} {layers}"), "groups contain each other: a → b → a");
    let unused = "groups = { a = { states = { x = { clp = \"b\" } } } }";
    check(&format!("{unused} {layers}"), "state 'x': its kind is missing");
    let mut deep = "{ empty = true }".to_string();
    for _ in 0..9 {
        deep = format!("{{ group = {{ states = {{ s = {deep} }} }} }}");
    }
    check(&format!("layers = [ {{ states = {{ s = {deep} }} }} ]"), "(GROUP_DEPTH_MAX)");
}

#[test]
fn the_number_of_states_has_a_limit() {
    // Each group has the previous one eight times: 8^5 states.
    let mut groups = "g0 = { states = { s = { empty = true } } } ".to_string();
    for level in 1..6 {
        let member = |number: usize| format!("m{number} = {{ group = \"g{}\" }} ", level - 1);
        let members: String = (0..8).map(member).collect();
        groups += &format!("g{level} = {{ states = {{ {members} }} }} ");
    }
    let layers = "layers = [ { states = { all = { group = \"g5\" } } } ]";
    check(&format!("groups = {{ {groups} }} {layers}"), "(STATES_MAX)");
}

#[test]
fn texts_of_expressions_are_those_of_the_file() {
    let machine = |weight: &str| {
        compiled(&format!(
            "variables = {{ a = 0 b = 0 c = 0 }}
             layers = [ {{ weight = \"{weight}\" states = {{ s = {{ clip = \"s\" }} }} }} ]"
        ))
    };
    for text in [
        "a",
        "2",
        "-2",
        "a + b + c",
        "a - (b - c)",
        "a - b - c",
        "(a + b) * c / 2",
        "a / (b * c)",
        "-a * -(b + c)",
        "a - -2",
        "not a and b",
        "not (a and b) or c",
        "a and (b or not c > 2)",
        "not a < b",
        "(a < b) == (b < c)",
        "a <= b and b >= c or a != 3",
        "min(a + 1, max(b, clamp(c, -1, 1.5)))",
        "lerp(a, b, abs(c - 1))",
        "match(a + b, 3) * match_range(c, -1, 2)",
        "match_2d(a, b - c, 1, -2)",
    ] {
        let first = machine(text);
        let weight = |machine: &StateMachine| machine.layers()[0].weight.unwrap();
        let shown = first.expression_text(weight(&first));
        assert_eq!(shown, text);
        let again = machine(&shown);
        assert_eq!(again.table.ops(weight(&again)), first.table.ops(weight(&first)), "{text}");
    }
}

#[test]
fn missing_clips_are_reported_with_their_line() {
    let machine = compiled("\n\nlayers = [ { states = { a = {\n clip = \"wlk\" } } } ]");
    machine.check_clips(["wlk", "run"]).unwrap();
    let error = machine.check_clips(["walk", "run"]).unwrap_err();
    let wanted = "orc.state_machine:4: there is no clip 'wlk', did you mean 'walk'?";
    assert_eq!(error.message, wanted);
}
