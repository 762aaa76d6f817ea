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
    assert_eq!(
        error.lines().next(),
        Some(
            "node door, pin 'velocity': there is no such input: 'velocity' is 'speed' now, which \
             has a value, too: remove one"
        )
    );
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
    assert_eq!(read_was("a", Some(&SjsonTree::Array(Vec::new()))), Ok(Vec::new()));
    assert!(pin("\"a\"").ends_with("'was' has the name that the pin has now: remove it"));
    for wrong in ["\"\"", "\"a\\u0007\"", "\"x y\"", &format!("\"{}\"", "x".repeat(33))] {
        let found = pin(wrong);
        assert!(found.contains("is no name of a pin"), "{wrong}: {found}");
    }
}

#[test]
fn an_old_name_of_two_pins_is_ambiguous() {
    let door = DOOR.replace("speed =", "force = { type = \"number\" was = \"velocity\" } speed =");
    let (two, problems) = GraphSource::read(&tree(&door));
    assert_eq!(
        problems.iter().map(Problem::text).collect::<Vec<_>>(),
        ["two pins in 'inputs' had the name 'velocity': remove it from one 'was'"]
    );
    let mut load = |_: &str| Ok(Arc::new(two.clone()));
    let names = OldNames::of(&source(USER), &catalogue(), &mut load);
    let new = names.in_tree(&tree(USER)).unwrap();
    assert!(format!("{new:?}").contains("velocity"), "{new:?}");
}

#[test]
fn renamed_pins_keep_their_order_and_comments() {
    let text = "// the door\nnodes = {\n  door = {\n    type = \"graph\"\n    graph = \"door\"\n\
                inputs = {\n      velocity = 3 // metres a second\n    }\n  }\n}\n";
    let mut load = |_: &str| Ok(source(DOOR));
    let names = OldNames::of(&source(text), &catalogue(), &mut load);
    let new = names.in_text(text, "", &tree(text)).unwrap().unwrap();
    assert_eq!(new, text.replace("velocity", "speed"));
    let unit = format!("flow = {{\n{text}}}\n");
    let new = names.in_text(&unit, "flow", &tree(text)).unwrap().unwrap();
    assert_eq!(new, unit.replace("velocity", "speed"));
    assert_eq!(names.in_text(&new, "flow", &tree(&text.replace("velocity", "speed"))), Ok(None));
}

/// Returns a graph with many nodes of the subgraph `door`, each with one input.
fn many(count: usize, input: &str) -> String {
    let node = |at: usize| {
        format!("  n{at} = {{ type = \"graph\" graph = \"door\" inputs = {{ {input} = {at} }} }}\n")
    };
    format!("nodes = {{\n{}}}\n", (0..count).map(node).collect::<String>())
}

#[test]
fn nodes_of_one_subgraph_share_their_old_names() {
    let text = many(500, "velocity");
    let graph = source(&text);
    let mut loads = 0;
    let mut load = |_: &str| {
        loads += 1;
        Ok(source(DOOR))
    };
    let names = OldNames::of(&graph, &catalogue(), &mut load);
    assert_eq!(names.tables(), 1);
    let checked = check(&graph, &catalogue(), GraphOwner::Unit, &mut load);
    assert!(checked.pins.iter().all(|pins| Arc::ptr_eq(pins, &checked.pins[0])));
    assert_eq!(loads, 2);
}

#[test]
fn renames_and_edits_of_thousands_of_nodes_are_few_passes() {
    let text = many(3000, "velocity");
    let mut load = |_: &str| Ok(source(DOOR));
    let names = OldNames::of(&source(&text), &catalogue(), &mut load);
    let start = std::time::Instant::now();
    let new = names.in_text(&text, "", &tree(&text)).unwrap().unwrap();
    assert_eq!(new, many(3000, "speed"));
    // The same without the names: entries are removed and added.
    assert_eq!(edit_text(&text, "", &tree(&new)).unwrap(), new);
    assert_eq!(tree(&edit_text(&text, "", &tree("")).unwrap()), tree(""));
    // A parse for each entry took 25 seconds with optimization.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
