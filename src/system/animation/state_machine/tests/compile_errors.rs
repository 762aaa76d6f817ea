//! Tests of files with several errors, which are reported together.

use super::*;

#[test]
fn all_errors_of_a_file_are_reported_at_once() {
    let text = "skeleton = 5
variables = { speed = { value = 9 max = 6 } lean = 0 }
masks = { top = { } }
constraints = { look = { type = \"aim\" bones = [\"a\" \"b\"] } }
groups = {
  g = { states = { x = { clip = \"x\" spede = 1 } y = { clip = \"y\" on = { go = \"z\" } } } }
  unused = { states = { x = { clp = \"x\" } } }
}
layers = [
  { mask = \"topp\" weight = \"speeed\"
    states = {
      a = { clip = \"a\" speed = \"spd\"
        constraints = [\"lok\"]
        enter = 5
        on = { go = \"bb\"
          stop = { to = \"b\" mode = \"at_once\" } } }
      b = { clp = \"b\" on = { go = \"a\" } }
      c = { group = \"g\" }
      d = { group = \"g\" on = { go = \"b\" stop = \"c/x\" more = \"d/x\" }
        constraints = [\"look\"] }
    } }
  { mask = \"top\" states = { } }
]";
    let error = compile_state_machine("orc.state_machine", text).unwrap_err();
    let found = engine_foundation::error::messages(&error.message);
    let wanted = [
        (1, "'skeleton' must be"),
        (2, "variable 'speed': 'value' must be"),
        (3, "mask 'top': it names 0 bones"),
        (4, "constraint 'look': it names 2 bones"),
        (10, "expression 'speeed' of 'weight'"),
        (10, "there is no mask 'topp', did you mean 'top'?"),
        (12, "expression 'spd' of 'speed'"),
        (13, "there is no constraint 'lok', did you mean 'look'?"),
        (14, "'enter'"),
        (16, "'at_once'"),
        (17, "state 'b': its kind is missing"),
        (6, "state 'c/x' has no 'spede', did you mean 'speed'?"),
        (22, "it has no states"),
        (7, "state 'x': its kind is missing"),
        (15, "there is no state 'bb', did you mean 'b'?"),
        (6, "there is no state 'z'"),
    ];
    assert_eq!(found.len(), wanted.len(), "{}", error.message);
    for (message, (line, text)) in found.iter().zip(wanted) {
        let location = format!("orc.state_machine:{line}: ");
        assert!(
            message.starts_with(&location) && message.contains(text),
            "{line} {text}: {message}"
        );
    }
}

/// Fails unless a file has these errors, in this order, and no others.
fn check_errors(text: &str, wanted: &[(usize, &str)]) {
    let error = compile_state_machine("orc.state_machine", text).unwrap_err();
    let found = engine_foundation::error::messages(&error.message);
    assert_eq!(found.len(), wanted.len(), "{}", error.message);
    for (message, (line, text)) in found.iter().zip(wanted) {
        let start = format!("orc.state_machine:{line}: ");
        assert!(message.starts_with(&start) && message.contains(text), "{text}: {message}");
    }
}

#[test]
fn errors_of_layers_groups_and_lists_hide_no_others() {
    let text = "skeleton = \"b\" skelton = 1
layers = [
  { name = 5 wieght = 1 maks = \"top\"
    states = {
      g = { group = { intial = \"x\" states = { x = { clip = 1 } } }
        spd = 2 speed = \"fast\" enter = 5
        constraints = [\"look\" \"aim\"]
        on = { go = { to = \"nowhere\" blend = -1 curve = \"round\" priority = 0.5 } } }
      m = { blend = [ { clip = \"a\" weight = \"one\" }
          { weight = 1 }
          { clip = \"c\" wait = 2 } ]
        additive = 1 loop = 2
        events = [ { name = \"e\" } { at = 0.5 }
          { name = \"f\" at = 2 } ]
        on = { go = [ { to = 3 } { blend = 1 }
          \"none\" ] } }
      k = { on = { go = \"nobody\" } }
    } }
  { states = 5 any = { go = { to = \"x\" mode = \"now\" } } }
]";
    check_errors(
        text,
        &[
            (1, "a state machine has no 'skelton', did you mean 'skeleton'?"),
            (3, "layer 1 has no 'wieght', did you mean 'weight'?"),
            (3, "layer 1 has no 'maks', did you mean 'mask'?"),
            (3, "'name' must be text"),
            (6, "state 'g' has no 'spd'"),
            (6, "expression 'fast' of 'speed'"),
            (7, "there is no constraint 'look'"),
            (7, "there is no constraint 'aim'"),
            (6, "'enter' must be text"),
            (8, "'blend' must be 0 to"),
            (8, "'curve' cannot be 'round'"),
            (8, "'priority' must be a whole number"),
            (5, "group 'g' has no 'intial', did you mean 'initial'?"),
            (5, "'clip' must be text"),
            (12, "'additive' must be true or false"),
            (9, "expression 'one' of 'weight'"),
            (10, "'clip' is missing"),
            (11, "'blend' of state 'm' has no 'wait'"),
            (13, "it needs 'time' in seconds, or 'at'"),
            (13, "'name' is missing"),
            (14, "'at' must be 0 to 1"),
            (12, "'loop' must be true or false"),
            (15, "'to' must be text"),
            (15, "'to' is missing"),
            (17, "state 'k': its kind is missing"),
            (19, "'states' of layer 'layer_2' must be a block"),
            (19, "'mode' cannot be 'now'"),
            (8, "there is no state 'nowhere'"),
            (16, "there is no state 'none'"),
            (17, "there is no state 'nobody'"),
        ],
    );
}

#[test]
fn errors_of_a_variable_or_a_constraint_hide_no_others_of_it() {
    let text = "skeleton = \"b\"
variables = {
  speed = { min = \"a\" max = 1e30 vlaue = 1
    value = \"fast\" }
  lean = { min = 3 max = 1 value = 2 }
  turn = { max = \"x\" min = 4
    value = 3 }
  \"a b\" = { value = false }
}
constraints = {
  look = { type = \"aim\" bones = [\"a\" 3 \"b\"] yaw = 200 ptich = 1
    axis = [0 \"up\" 1e9] target = 7 }
  reach = { type = \"two_bone\" bone = \"a\" bones = [\"a\"] pole = [1 2] weight = 3 }
  copy = { type = \"copy\" bones = 5 position = 1
    rotation = 2 }
  none = { weight = 2 yaww = 1 yaw = \"any\" bone = 1 }
  other = { type = \"amm\" softness = 3
    bones = [ ] target = [ ] }
  flat = 3
}
layers = [ { states = { a = { clip = \"a\" speed = \"speed + lean\"
  constraints = [\"flat\"] } } } ]";
    check_errors(
        text,
        &[
            (3, "variable 'speed' has no 'vlaue', did you mean 'value'?"),
            (3, "variable 'speed': 'min' must be a number, got"),
            (3, "variable 'speed': 'max' must be"),
            (4, "variable 'speed': 'value' must be a number, got"),
            (5, "variable 'lean': 'min' is 3, above 'max' 1"),
            (6, "variable 'turn': 'max' must be a number, got"),
            (7, "variable 'turn': 'value' must be 4 to"),
            (8, "the name of a variable has only letters, digits and '_'"),
            (8, "variable 'a b': 'value' must be a number, got"),
            (11, "constraint 'look' has no 'ptich', did you mean 'pitch'?"),
            (11, "constraint 'look': it names 3 bones: name the bone that turns"),
            (11, "constraint 'look': 'bones' must be text in quotes, got"),
            (11, "constraint 'look': 'yaw' must be 0 to 180, got 200"),
            (12, "constraint 'look': 'axis' must be a number, got"),
            (12, "constraint 'look': 'axis' must be -5000 to 5000, got"),
            (12, "constraint 'look': 'target' must be text in quotes, got"),
            (13, "constraint 'reach': it has both 'bone' and 'bones'"),
            (13, "constraint 'reach': 'weight' must be 0 to 1, got 3"),
            (13, "constraint 'reach': 'pole' must be a list of 3 numbers"),
            (14, "constraint 'copy': it names 1 bones: name the bone, and"),
            (14, "constraint 'copy': 'bones' must be text in quotes, got"),
            (14, "constraint 'copy': 'position' must be true or false"),
            (15, "constraint 'copy': 'rotation' must be true or false"),
            (16, "constraint 'none': 'type' is missing (known: aim, two_bone, "),
            (16, "constraint 'none' has no 'yaww', did you mean 'yaw'?"),
            (16, "constraint 'none': 'bone' must be text in quotes, got"),
            (16, "constraint 'none': 'weight' must be 0 to 1, got 2"),
            (17, "constraint 'other': 'type' cannot be 'amm', did you mean 'aim'?"),
            (18, "constraint 'other': 'target' must be text in quotes, got"),
            (19, "constraint 'flat' must be a block"),
        ],
    );
}

#[test]
fn blocks_with_errors_cause_no_errors_elsewhere() {
    let layers =
        "layers = [ { mask = \"top\" weight = \"speed\" constraints = [\"look\"] states = {
        a = { blend_space = { x = \"speed\" points = [ { clip = \"a\" at = 1 } ] }
            on = { go = \"b\" } }
        b = { group = \"g\" } } } ]";
    let known = "masks = { top = { Head = 1 } } variables = { speed = 1 }
        constraints = { look = { type = \"aim\" bone = \"Head\" } } events = [\"go\"]
        groups = { g = { states = { x = { clip = \"x\" } } } }";
    let check = |from: &str, to: &str, wanted: &[(usize, &str)]| {
        let known = known.replace('\n', " ").replace(from, to);
        assert!(known.contains(to));
        check_errors(&format!("skeleton = \"b\"\n{known}\n{layers}"), wanted);
    };
    let block = "must be a block";
    check("masks = { top = { Head = 1 } }", "masks = 1", &[(2, block)]);
    check("variables = { speed = 1 }", "variables = 1", &[(2, block)]);
    let look = "constraints = { look = { type = \"aim\" bone = \"Head\" } }";
    check(look, "constraints = [1]", &[(2, block)]);
    check("events = [\"go\"]", "events = { go = 1 }", &[(2, "'events' must be a list")]);
    check("events = [\"go\"]", "events = [\"stop\" 1]", &[(2, "'events' must be text")]);
    let group = "groups = { g = { states = { x = { clip = \"x\" } } } }";
    check(group, "groups = 1", &[(2, block)]);
    check("speed = 1 }", "\"a/b\" = 1 }", &[(2, "has the name 'a/b'")]);
    check("g = { states", "\"g/h\" = { states", &[(2, "has the name 'g/h'")]);
    // An error about the names that are known is reported.
    check(
        "speed = 1 }",
        "sped = 1 }",
        &[(3, "'speed', did you mean"), (4, "'speed', did you mean")],
    );
}

#[test]
fn files_with_very_many_errors_end_early() {
    // Each group has the previous one eight times: 8^7 states, all of them wrong.
    let mut groups = "g0 = { states = { s = { clip = 5 } } } ".to_string();
    for level in 1..8 {
        let member = |number: usize| format!("m{number} = {{ group = \"g{}\" }} ", level - 1);
        let members: String = (0..8).map(member).collect();
        groups += &format!("g{level} = {{ states = {{ {members} }} }} ");
    }
    let layers = "layers = [ { states = { all = { group = \"g7\" } } } ]";
    let error = compile_state_machine(
        "a.state_machine",
        &format!("skeleton = \"b\" groups = {{ {groups} }} {layers}"),
    );
    assert_eq!(engine_foundation::error::messages(&error.unwrap_err().message).len(), 1);
    let states: String = (0..200).map(|state| format!("s{state} = {{ clip = 5 }}\n")).collect();
    let text = format!("skeleton = \"b\" layers = [ {{ states = {{ {states} }} }} ]");
    let error = compile_state_machine("a.state_machine", &text).unwrap_err();
    assert_eq!(engine_foundation::error::messages(&error.message).len(), 33, "{}", error.message);
}

#[test]
fn names_with_a_meaning_in_expressions_are_no_variables() {
    for name in ["and", "false", "not", "or", "true"] {
        let text = format!("variables = {{ {name} = 1 }} layers = [ {{ states = {{ }} }} ]");
        let error = compile_state_machine("orc.state_machine", &text).unwrap_err().message;
        let wanted = format!("variable '{name}': expressions have another meaning for this name");
        assert!(error.contains(&wanted), "{error}");
    }
}

#[test]
fn errors_of_blend_spaces_quote_the_text_of_the_file() {
    let text = "skeleton = \"b\" variables = { speed = 1 }
layers = [ { states = {
  a = { blend_space = {
    x = \"speed + sped\"

    y = \"speed, 2) * max(1\"
    points = [ { clip = \"a\" at = [0 0] } { clip = \"b\" at = [1 0] } ] } }
  b = { blend_space = { points = [ { clip = \"a\" at = 1 } ]
    x = \"speed, 2) * max(1\" } }
  c = { blend_space = { points = [ { clip = \"a\" at = 1 } ]
    x = 5 } }
} } ]";
    check_errors(
        text,
        &[
            (4, "expression 'speed + sped' of 'x': column 9: there is no variable 'sped'"),
            (6, "expression 'speed, 2) * max(1' of 'y': column 6: unexpected ','"),
            (9, "expression 'speed, 2) * max(1' of 'x': column 6: unexpected ','"),
            (11, "'x' must be an expression in quotes"),
        ],
    );
    // Expressions of both axes are parts of the size of a weight.
    let long = format!("speed{}", " + speed".repeat(40));
    let text = format!(
        "skeleton = \"b\" variables = {{ speed = 1 }} layers = [ {{ states = {{ a = {{
        blend_space = {{ x = \"{long}\" y = \"{long}\" points = [ {{ clip = \"a\" at = [0 0] }} ] }}
        }} }} }} ]"
    );
    check_errors(&text, &[(2, "it has 163 operations: at most")]);
}
