//! Tests of the limits of graphs: whatever a graph does, it ends with a message.

use super::source::{GRAPHS_MAX, WIRES_MAX};
use super::tests::{Game, compiled};
use super::value::{FlowHeap, LIST_ITEMS_MAX};
use super::*;

#[test]
fn events_wait_for_the_next_update_after_many_nodes() {
    let mut game = Game::new(
        "nodes = { e = { type = \"event.custom\" name = \"go\" } \
         f = { type = \"flow.for\" inputs = { last = 4000 } } \
         o = { type = \"flow.once\" } }\n\
         events = { \"e.out > f.in\" = true \"f.body > o.in\" = true }",
    );
    for _ in 0..300 {
        assert!(game.flow.raise(game.id, EventKind::Custom, "go", &[], 0));
    }
    game.run();
    let ran = game.flow.nodes_run;
    let limit = runtime::NODES_PER_UPDATE_MAX;
    assert!((limit..limit + 10_000).contains(&ran), "{ran}");
    assert!(!game.flow.queue.is_empty());
    game.event("go");
    assert_eq!(game.flow.nodes_run, ran);
    game.update(0.1);
    assert!(game.flow.nodes_run >= limit);
    // Also in a game that updates no world.
    while !game.flow.queue.is_empty() {
        let waiting = game.flow.queue.len();
        game.flow.begin_frame(game.flow.frame + 1);
        game.run();
        assert!(game.flow.queue.len() < waiting);
    }
}

#[test]
fn an_event_that_sends_itself_ends_with_an_error() {
    let mut game = Game::new(
        "nodes = { e = { type = \"event.custom\" name = \"go\" } l = { type = \"test.log\" } \
         a = { type = \"event.send\" name = \"go\" } }\n\
         events = { \"e.out > l.in\" = true \"l.out > a.in\" = true }",
    );
    assert!(game.event("go"));
    assert_eq!(
        game.flow.last_error(),
        "graph test.flow, node e (event.custom): 1000 events came in one update because of each \
         other, which is the limit (limits.flow_events in settings.sjson), and further ones are \
         dropped: does it send itself? The last one came after the wires e.out > l.in, l.out > \
         a.in of test.flow"
    );
    assert!(game.flow.queue.is_empty() && game.flow.is_idle());
    let once = game.taken().split(' ').count();
    assert!((1000..1010).contains(&once), "{once}");
    // The next update counts from 0.
    game.update(0.1);
    game.event("go");
    assert_eq!(game.taken().split(' ').count(), once);
}

#[test]
fn events_that_multiply_end_with_an_error() {
    let mut game = Game::new(
        "nodes = { e = { type = \"event.custom\" name = \"go\" } \
         a = { type = \"event.send\" name = \"go\" } \
         b = { type = \"event.send\" name = \"go\" } }\n\
         events = { \"e.out > a.in\" = true \"e.out > b.in\" = true }",
    );
    game.event("go");
    assert!(game.flow.last_error().contains("node e (event.custom): 1000 events came"));
    assert!(game.flow.nodes_run < 5000 && game.flow.queue.is_empty(), "{}", game.flow.nodes_run);
}

#[test]
fn many_events_from_outside_are_no_loop() {
    let mut game = Game::new(
        "nodes = { e = { type = \"event.custom\" name = \"go\" } \
         a = { type = \"event.send\" name = \"second\" } \
         s = { type = \"event.custom\" name = \"second\" } l = { type = \"test.log\" } }\n\
         events = { \"e.out > a.in\" = true \"s.out > l.in\" = true }",
    );
    for _ in 0..5000 {
        game.event("go");
    }
    assert_eq!((game.taken().split(' ').count(), game.flow.last_error()), (5000, ""));
}

#[test]
fn queries_count_in_the_work_of_an_event() {
    let joins: String = (1..=100)
        .map(|at| {
            let inputs = match at {
                1 => "a = \"x\" b = \"y\"".to_string(),
                _ => format!("a = \"x\" b = {{ wire = \"j{}.result\" }}", at - 1),
            };
            format!("j{at} = {{ type = \"text.join\" inputs = {{ {inputs} }} }} ")
        })
        .collect();
    let mut game = Game::new(&format!(
        "variables = {{ t = {{ type = \"text\" }} }}\n\
         nodes = {{ e = {{ type = \"event.custom\" name = \"go\" }} \
         f = {{ type = \"flow.for\" inputs = {{ last = 1000000 }} }} {joins} \
         s = {{ type = \"variable.set\" variable = \"t\" inputs = {{ value = {{ wire = \
         \"j100.result\" }} }} }} }}\n\
         events = {{ \"e.out > f.in\" = true \"f.body > s.in\" = true }}"
    ));
    game.event("go");
    let error = game.flow.last_error();
    assert!(
        error
            .contains("320000 nodes and queries ran for one event: 32 for each of the 10000 nodes"),
        "{error}"
    );
}

#[test]
fn subgraphs_that_multiply_are_refused() {
    let nodes = |inner: &str| {
        let uses: String = (0..16)
            .map(|at| format!("n{at} = {{ type = \"graph\" graph = \"{inner}\" }} "))
            .collect();
        format!("nodes = {{ {uses} }}")
    };
    let texts: Vec<(String, String)> = (0..6)
        .map(|at| (format!("g{at}"), nodes(&format!("g{}", at + 1))))
        .chain([("g6".to_string(), String::new())])
        .collect();
    let graphs: Vec<(&str, &str)> = texts.iter().map(|(a, b)| (&a[..], &b[..])).collect();
    let error = compiled(&nodes("g0"), &graphs).unwrap_err();
    assert!(error.contains(&format!("more than {GRAPHS_MAX} subgraphs")), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn too_many_subgraphs_are_refused_before_any_is_read() {
    let uses = (0..=GRAPHS_MAX).map(|at| format!("n{at} = {{ type = \"graph\" graph = \"g\" }} "));
    let text = format!("nodes = {{ {} }}", uses.collect::<String>());
    let error = compiled(&text, &[]).unwrap_err();
    assert_eq!(error, format!("more than {GRAPHS_MAX} subgraphs (GRAPHS_MAX): divide the graph"));
}

#[test]
fn event_wires_through_subgraphs_are_limited() {
    let count = 600;
    let ends: String = (0..count).map(|at| format!("e{at} = {{ type = \"test.log\" }} ")).collect();
    let wires: String = (0..count).map(|at| format!("\"i.go > e{at}.in\" = true ")).collect();
    let inner = format!(
        "inputs = {{ go = {{ type = \"event\" }} }} nodes = {{ i = {{ type = \"graph.inputs\" }} \
         {ends} }} events = {{ {wires} }}"
    );
    let starts: String = (0..count)
        .map(|at| format!("s{at} = {{ type = \"event.custom\" name = \"n{at}\" }} "))
        .collect();
    let wires: String = (0..count).map(|at| format!("\"s{at}.out > g.go\" = true ")).collect();
    let outer = format!(
        "nodes = {{ g = {{ type = \"graph\" graph = \"inner\" }} {starts} }} events = {{ {wires} }}"
    );
    let error = compiled(&outer, &[("inner", &inner)]).unwrap_err();
    assert!(error.contains(&format!("more than {WIRES_MAX} wires")), "{error}");
}

#[test]
fn values_beyond_the_outputs_of_an_event_are_dropped() {
    let mut game = Game::new(
        "variables = { x = { type = \"number\" value = 7 } }\n\
         nodes = { e = { type = \"event.custom\" name = \"go\" } \
         l = { type = \"test.log\" inputs = { value = { wire = \"e.value\" } } } }\n\
         events = { \"e.out > l.in\" = true }",
    );
    let values: Vec<Slot> = (1..=6).map(|at| Slot::number(f64::from(at))).collect();
    let before = game.flow.slots(game.id).len();
    game.flow.raise(game.id, EventKind::Custom, "go", &values, 0);
    game.event("none");
    assert_eq!(game.taken(), "1");
    assert_eq!(game.flow.slots(game.id).len(), before);
    // The value of an earlier event does not stay.
    game.event("go");
    assert_eq!(game.taken(), "nothing");
    assert_eq!(game.flow.variable(game.id, "x"), Ok(Slot::number(7.0)));
}

#[test]
fn texts_and_lists_have_a_limit() {
    let mut heap = FlowHeap::default();
    let items = vec![Slot::NIL; LIST_ITEMS_MAX];
    while heap.check_room().is_ok() {
        heap.add_list(&items).unwrap();
        assert!(heap.len() < 1000);
    }
    assert!(heap.is_sweep_due());
    heap.sweep([].iter());
    assert_eq!(heap.check_room(), Ok(()));
    assert!(heap.is_empty());
}
