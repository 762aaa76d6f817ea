//! Tests of pins that had other names: graphs that still use these follow.

use super::tests::{catalogue, compiled, tree};
use super::*;
use engine_foundation::sjson::SjsonTree;
use std::sync::Arc;

/// A graph whose pins had other names.
const DOOR: &str = "inputs = { open = { type = \"event\" was = \"go\" } \
     speed = { type = \"number\" value = 1 was = [\"velocity\", \"rate\"] } }\n\
     outputs = { opened = { type = \"event\" was = \"done\" } \
     angle = { type = \"number\" was = \"turn\" } }\n\
     nodes = { i = { type = \"graph.inputs\" } o = { type = \"graph.outputs\" \
     inputs = { turn = { wire = \"i.rate\" } } } }\n\
     events = { \"i.go > o.done\" = true }";

/// A graph that uses old names.
const USER: &str = "nodes = { go = { type = \"event.custom\" name = \"go\" } \
     door = { type = \"graph\" graph = \"door\" inputs = { velocity = 3 } } \
     l = { type = \"test.log\" inputs = { value = { wire = \"door.turn\" } } } }\n\
     events = { \"go.out > door.go\" = true \"door.done > l.in\" = true }";

fn source(text: &str) -> Arc<GraphSource> {
    let (source, problems) = GraphSource::read(&tree(text));
    assert!(problems.is_empty(), "{problems:?}");
    Arc::new(source)
}

#[test]
fn graphs_follow_old_names_of_pins_with_notes() {
    let program = compiled(USER, &[("door", DOOR)]).unwrap();
    assert_eq!(explain(&program).lines().last(), Some("l: test.log(value = 3)"));
    assert!(program.wires.iter().any(|wire| wire.to_pin == "in"), "{:?}", program.wires);
    let mut load = |_: &str| Ok(source(DOOR));
    let (_, notes) = follow(source(USER), &catalogue(), &mut load);
    let notes: Vec<String> = notes.iter().map(Problem::text).collect();
    assert_eq!(
        notes,
        [
            "node door, pin 'velocity': its name is 'speed' now",
            "node l, pin 'value': comes from 'door.turn', which is 'door.angle' now",
            "wire 'door.done > l.in': its pins have other names now: \"door.opened > l.in\"",
            "wire 'go.out > door.go': its pins have other names now: \"go.out > door.open\"",
        ]
    );
}

#[test]
fn sources_get_the_new_names_of_pins() {
    let mut load = |_: &str| Ok(source(DOOR));
    let names = OldNames::of(&source(USER), &catalogue(), &mut load);
    // After a merge, an old and the new wire can both be there.
    let merged = USER.replace("events = {", "events = { \"go.out > door.open\" = true");
    let new = names.in_tree(&tree(&merged)).unwrap();
    let text = edit_text(&merged, "", &new).unwrap();
    for part in ["speed = 3", "\"door.angle\"", "\"door.opened > l.in\"", "\"go.out > door.open\""]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    for part in ["velocity", "turn", "door.done", "door.go"] {
        assert!(!text.contains(part), "{part} in {text}");
    }
    assert_eq!(names.in_tree(&new), None);
    // The changes of an inherited graph lack the types of nodes.
    let heir = tree("nodes = { door = { inputs = { rate = 9 } } }");
    let new = names.in_tree(&heir).unwrap();
    assert_eq!(new, tree("nodes = { door = { inputs = { speed = 9 } } }"));
}

#[test]
fn a_name_that_a_pin_has_now_is_not_an_old_one() {
    let door = DOOR.replace("speed =", "velocity = { type = \"number\" value = 5 } speed =");
    let program = compiled(USER, &[("door", &door)]).unwrap();
    assert_eq!(explain(&program).lines().last(), Some("l: test.log(value = 1)"));
    // Two values for one input: the old name stays an error.
    let both = USER.replace("velocity = 3", "velocity = 3 speed = 4");
    let error = compiled(&both, &[("door", DOOR)]).unwrap_err();
    assert!(error.starts_with("node door, pin 'velocity': there is no such input"), "{error}");
}

#[test]
fn old_names_are_names_or_short_lists() {
    let pin = |was: &str| {
        let text = format!("inputs = {{ a = {{ type = \"number\" was = {was} }} }}");
        let (_, problems) = GraphSource::read(&tree(&text));
        problems.first().map(Problem::text).unwrap_or_default()
    };
    assert_eq!(pin("\"b\""), "");
    let many = format!("[{}]", "\"x\", ".repeat(17));
    for wrong in ["3", "[1]", "{}", &many] {
        assert_eq!(
            pin(wrong),
            "'a' in 'inputs': 'was' must be an old name of the pin, or a list of at most 16 \
             (OLD_NAMES_MAX)"
        );
    }
    assert_eq!(read_was(Some(&SjsonTree::Array(Vec::new()))), Ok(Vec::new()));
}
