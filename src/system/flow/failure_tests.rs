//! Tests of the errors of nodes that run.

use super::tests::Game;
use super::*;

#[test]
fn a_failing_node_ends_its_event_with_graph_and_node() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         l = { type = \"test.log\" } }\nevents = { \"go.out > l.in\" = true }",
    );
    game.fails = true;
    game.event("go");
    assert_eq!(game.flow.last_error(), "graph test.flow, node l (test.log): the function failed");
    game.fails = false;
    game.event("go");
    assert_eq!((game.taken().as_str(), game.flow.errors), ("nothing", 1));
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         n = { type = \"test.native\" inputs = { a = { wire = \"go.value\" } } } }\n\
         events = { \"go.out > n.in\" = true }",
    );
    game.event("go");
    assert_eq!(
        game.flow.last_error(),
        "graph test.flow, wire into n.a: must be of type number, got nothing"
    );
}

#[test]
fn an_error_names_the_line_of_its_node_once_it_is_known() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         l = { type = \"test.log\" inputs = { value = 1 } } } \
         events = { \"go.out > l.in\" = true }",
    );
    game.fails = true;
    game.host.lines = Some(Vec::new());
    let error = "test.flow:7: graph test.flow, node l (test.log): the function failed";
    for _ in 0..3 {
        game.event("go");
        assert_eq!(game.flow.last_error(), error);
    }
    // The source is read once, however often the node fails.
    let graph = "test.flow".to_string();
    let line = NodeLocation { graph, node: "l".to_string(), pin: String::new() };
    assert_eq!(game.host.lines, Some(vec![line]));
}

#[test]
fn the_location_of_a_node_is_in_its_own_graph() {
    let door = "inputs = { open = { type = \"event\" } } \
                nodes = { enter = { type = \"graph.inputs\" } \
                n = { type = \"test.native\" inputs = { a = -1 } } } \
                events = { \"enter.open > n.in\" = true }";
    let mut game = Game::with(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         d = { type = \"graph\" graph = \"graphs/door\" } } \
         events = { \"go.out > d.open\" = true }",
        &[("graphs/door", door)],
    );
    game.host.lines = Some(Vec::new());
    game.event("go");
    let error = "graphs/door.flow:7: graph test.flow, node d/n (test.native): must not be negative";
    assert_eq!(game.flow.last_error(), error);
}

#[test]
fn the_location_of_a_conversion_is_the_input_of_its_node() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         n = { type = \"test.native\" inputs = { a = { wire = \"go.value\" } } } }\n\
         events = { \"go.out > n.in\" = true }",
    );
    game.host.lines = Some(Vec::new());
    game.event("go");
    let (graph, node) = ("test.flow".to_string(), "n".to_string());
    assert_eq!(game.host.lines, Some(vec![NodeLocation { graph, node, pin: "a".to_string() }]));
}
