//! Tests of values: wrong types end with a message, and nothing is cut.

use super::tests::{Game, compiled, native};
use super::value::{FlowHeap, LIST_ITEMS_MAX};
use super::*;
use engine_foundation::hash::StateHash;

fn hash_of(slot: Slot) -> u64 {
    let mut hash = StateHash::new(0);
    slot.write_state(&FlowHeap::default(), &mut hash);
    hash.finish()
}

#[test]
fn items_of_lists_are_checked() {
    let list = |node: &str, wires: &str| {
        let mut game = Game::new(&format!(
            "variables = {{ items = {{ type = \"list\" }} }}\n\
             nodes = {{ go = {{ type = \"event.custom\" name = \"go\" }} \
             v = {{ type = \"variable.value\" variable = \"items\" }} {node} \
             l = {{ type = \"test.log\" inputs = {{ value = {{ wire = \"n.item\" }} }} }} }}\n\
             events = {{ {wires} }}"
        ));
        let text = game.flow.heap.add_text("seven").unwrap();
        let list = game.flow.heap.add_list(&[Slot::number(7.0), text]).unwrap();
        game.flow.set_variable(game.id, "items", list).unwrap();
        game.event("go");
        let error = game.flow.last_error().replace("graph test.flow, ", "");
        (game.taken(), error)
    };
    for kind in ["number", "any"] {
        let each = format!(
            "n = {{ type = \"flow.for_each\" item_type = \"{kind}\" inputs = {{ list = {{ wire = \
             \"v.value\" }} }} }}"
        );
        let (logged, error) = list(&each, "\"go.out > n.in\" = true \"n.body > l.in\" = true");
        match kind {
            "any" => assert_eq!((&logged[..], &error[..]), ("7 seven", "")),
            _ => assert_eq!(
                (&logged[..], &error[..]),
                ("7", "node n (flow.for_each): the item 2 must be of type number, got a text")
            ),
        }
    }
    let item = |index: u32| {
        let node = format!(
            "n = {{ type = \"list.item\" item_type = \"number\" inputs = {{ list = {{ wire = \
             \"v.value\" }} index = {index} }} }}"
        );
        list(&node, "\"go.out > l.in\" = true")
    };
    assert_eq!(item(1).0, "7");
    assert_eq!(item(2).1, "node n (list.item): the item 2 must be of type number, got a text");
    assert_eq!(item(3).0, "nothing");
}

#[test]
fn long_texts_and_lists_are_errors() {
    let mut game = Game::new(
        "variables = { t = { type = \"text\" value = \"ab\" } }\n\
         nodes = { go = { type = \"event.custom\" name = \"go\" } \
         v = { type = \"variable.value\" variable = \"t\" } \
         j = { type = \"text.join\" inputs = { a = { wire = \"v.value\" } b = { wire = \
         \"v.value\" } } } \
         s = { type = \"variable.set\" variable = \"t\" inputs = { value = { wire = \"j.result\" } \
         } } }\n\
         events = { \"go.out > s.in\" = true }",
    );
    (0..11).for_each(|_| {
        game.event("go");
    });
    assert_eq!(game.flow.last_error(), "");
    game.event("go");
    assert_eq!(
        game.flow.last_error(),
        "graph test.flow, node j (text.join): a text of a graph has at most 4096 bytes \
         (TEXT_BYTES_MAX), and this one has 8192"
    );
    let long = "x".repeat(4097);
    let error = compiled(
        &format!(
            "nodes = {{ p = {{ type = \"debug.print\" inputs = {{ value = \"{long}\" }} }} }}"
        ),
        &[],
    );
    assert_eq!(
        error.unwrap_err(),
        "node p, pin 'value': has 4097 bytes, and a text of a graph has at most 4096 \
         (TEXT_BYTES_MAX)"
    );
    let mut heap = FlowHeap::default();
    let error = heap.add_list(&vec![Slot::NIL; LIST_ITEMS_MAX + 1]).unwrap_err();
    assert!(error.contains("at most 65536 items (LIST_ITEMS_MAX), and this one has 65537"));
}

#[test]
fn results_that_are_no_numbers_have_one_hash() {
    let (plus, minus) = (f64::NAN, -f64::NAN);
    assert_ne!(plus.to_bits(), minus.to_bits());
    assert_eq!(hash_of(Slot::number(plus)), hash_of(Slot::number(minus)));
    assert_ne!(hash_of(Slot::number(1.0)), hash_of(Slot::boolean(true)));
    let vector = |x: f32| Slot::vector(engine_foundation::Vec3::new(x, 0.0, 1.0));
    assert_eq!(hash_of(vector(f32::NAN)), hash_of(vector(-f32::NAN)));
    assert_ne!(hash_of(vector(2.0)), hash_of(vector(3.0)));
    assert_eq!(Slot::NIL.as_color(), [0.0, 0.0, 0.0, 255.0]);
}

#[test]
fn events_that_wait_are_part_of_the_hash() {
    let text = "nodes = { go = { type = \"event.custom\" name = \"go\" } \
                l = { type = \"test.log\" inputs = { value = { wire = \"go.value\" } } } }\n\
                events = { \"go.out > l.in\" = true }";
    let (mut one, mut two) = (Game::new(text), Game::new(text));
    assert_eq!(one.hash(), two.hash());
    one.flow.raise(one.id, EventKind::Custom, "go", &[Slot::number(1.0)], 0);
    two.flow.raise(two.id, EventKind::Custom, "go", &[Slot::number(2.0)], 0);
    assert_ne!(one.hash(), two.hash());
}

#[test]
fn an_event_of_a_script_has_no_sender() {
    let mut game = Game::new(
        "nodes = { e = { type = \"event.custom\" name = \"go\" } \
         same = { type = \"object.same\" inputs = { a = { wire = \"e.sender\" } b = { wire = \
         \"me.unit\" } } } me = { type = \"self.unit\" } \
         l = { type = \"test.log\" inputs = { value = { wire = \"same.result\" } } } \
         k = { type = \"unit.test\" inputs = { unit = { wire = \"e.sender\" } } } }\n\
         events = { \"e.out > l.in\" = true \"l.out > k.in\" = true }",
    );
    // An event of a script has no sender.
    game.event("go");
    assert_eq!(game.taken(), "false");
    assert!(game.flow.last_error().contains("must be of type unit, got nothing"));
}

#[test]
fn the_names_of_input_actions_change_with_their_graphs() {
    let text = "nodes = { i = { type = \"event.input\" name = \"jump\" } \
                l = { type = \"test.log\" } }\nevents = { \"i.pressed > l.in\" = true }";
    let mut game = Game::new(text);
    let (names, changes) = game.flow.action_names();
    assert_eq!((names.join(" "), changes), ("jump".to_string(), 1));
    let other = game.spawn();
    assert_eq!(game.flow.actions_changes(), 1);
    game.flow.destroy(other);
    let changed = compiled(&text.replace("jump", "duck"), &[]).unwrap();
    game.flow.replace_program(game.program, changed, &native);
    assert_eq!(game.flow.action_names().0.join(" "), "duck");
    game.flow.destroy(game.id);
    assert!(game.flow.action_names().0.is_empty());
}
