//! Tests of sources: wrong graphs, limits, merges, explanations.

use super::tests::{Game, compiled, tree};
use super::*;

fn refused(text: &str, message: &str) {
    assert_eq!(compiled(text, &[]).unwrap_err(), message);
}

#[test]
fn wrong_graphs_are_refused_with_node_pin_and_hint() {
    refused("node = {}", "unknown key 'node' in a graph, did you mean 'nodes'?");
    refused(
        "nodes = { 1a = {} }",
        "node 1a: '1a' is not the id of a node: use letters, digits and \
        '_', at most 32, beginning with a letter",
    );
    refused(
        "nodes = { a = { type = \"flow.brnch\" } }",
        "node a: there is no node type 'flow.brnch', did you mean 'flow.branch'?",
    );
    refused(
        "nodes = { a = { type = \"flow.branch\" inputs = { conditon = true } } }",
        "node a, pin 'conditon': there is no such input, did you mean 'condition'?\n\
         node a, pin 'condition': has no value: connect a wire, or set a value",
    );
    refused(
        "nodes = { a = { type = \"flow.branch\" inputs = { condition = 3 } } }",
        "node a, pin 'condition': must be a boolean",
    );
    refused(
        "nodes = { a = { type = \"flow.delay\" inputs = { seconds = { wire = \"other.x\" } } } }",
        "node a, pin 'seconds': comes from the node 'other', which does not exist",
    );
    refused(
        "nodes = { a = { type = \"debug.print\" inputs = { value = \"x\" } } } \
        events = { \"a.out > other.in\" = true }",
        "node a: leads to the node 'other', which does not exist",
    );
    refused(
        "nodes = { a = { type = \"variable.value\" variable = \"hit\" } } \
        variables = { hits = { type = \"number\" } }",
        "node a: the graph has no variable 'hit', did you mean 'hits'?",
    );
    refused(
        "nodes = { a = { type = \"vector.length\" inputs = { value = { wire = \"b.result\" } } } \
        b = { type = \"number.add\" } }",
        "node a, pin 'value': is of type vector, and 'b.result' is of type number: connect another \
         output, or convert it with a node",
    );
    refused(
        "nodes = { a = { type = \"object.exists\" inputs = { value = { wire = 3 } } } }",
        "node a, pin 'value': a value is a literal, or { wire = \"NODE.PIN\" }",
    );
}

#[test]
fn cycles_are_refused_unless_a_delay_is_in_them() {
    refused(
        "nodes = { a = { type = \"number.add\" inputs = { a = { wire = \"b.result\" } } } \
        b = { type = \"number.add\" inputs = { a = { wire = \"a.result\" } } } }",
        "node b: its value depends on itself: b > a > b: keep one of the values in a variable",
    );
    let cycle = |middle: &str| {
        format!(
            "nodes = {{ a = {{ type = \"debug.print\" inputs = {{ value = \"\" }} }} {middle} }} \
             events = {{ \"a.out > b.in\" = true \"b.out > a.in\" = true }}"
        )
    };
    refused(
        &cycle("b = { type = \"debug.print\" inputs = { value = \"\" } }"),
        "node a: its events form a cycle without a delay, which would never end: a > b > a: put \
         'flow.delay' into it, or use 'flow.while'",
    );
    assert!(compiled(&cycle("b = { type = \"flow.delay\" }"), &[]).is_ok());
}

#[test]
fn depths_and_sizes_have_limits() {
    let own = "nodes = { a = { type = \"graph\" graph = \"own\" } }";
    let message = compiled(own, &[("own", own)]).unwrap_err();
    assert_eq!(message, "node a/a: the graph 'own' contains itself");
    let names: Vec<String> = (0..1000).map(|at| format!("g{at}")).collect();
    let texts: Vec<String> = (0..1000)
        .map(|at| format!("nodes = {{ a = {{ type = \"graph\" graph = \"g{}\" }} }}", at + 1))
        .collect();
    let graphs: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let message = compiled("nodes = { a = { type = \"graph\" graph = \"g0\" } }", &graphs);
    assert!(message.unwrap_err().contains("(GRAPH_DEPTH_MAX)"));
    let nodes: String =
        (0..100_000).map(|at| format!("n{at} = {{ type = \"number.add\" }} ")).collect();
    let message = compiled(&format!("nodes = {{ {nodes} }}"), &[]).unwrap_err();
    assert!(message.contains("(NODES_MAX)"), "{message}");
}

#[test]
fn deep_chains_use_no_native_stack() {
    let count = 50_000;
    let mut nodes = "go = { type = \"event.custom\" name = \"go\" } ".to_string();
    let mut events = "\"go.out > n0.in\" = true ".to_string();
    for at in 0..count {
        nodes += &format!("n{at} = {{ type = \"variable.add\" variable = \"x\" }} ");
        if at + 1 < count {
            events += &format!("\"n{at}.out > n{}.in\" = true ", at + 1);
        }
    }
    let mut game = Game::new(&format!(
        "variables = {{ x = {{ type = \"number\" }} }} nodes = {{ {nodes} }} events = {{ \
        {events} }}"
    ));
    game.flow.nodes_max = 100_000;
    game.event("go");
    assert_eq!(game.flow.variable(game.id, "x").unwrap().as_number(), f64::from(count));
}

#[test]
fn edits_of_different_nodes_merge_and_keep_bytes() {
    let text = "// Barrel\nnodes = {\n  n1 = { type = \"a\" } // first\n  n2 = { type = \"b\" \
    x = 1 \
        y = 2 }\n}\n";
    let base = tree(text);
    let mine = tree(
        "nodes = { n1 = { type = \"a\" } n2 = { type = \"b\" x = 5 y = 2 } n3 = { type \
        = \"c\" } }",
    );
    let disk_text = text.replace("y = 2", "y = 3");
    let (merged, conflicts) = merge(&base, &mine, &tree(&disk_text), false);
    assert!(conflicts.is_empty());
    let edited = edit_text(&disk_text, "", &merged).unwrap();
    assert_eq!(
        edited,
        "// Barrel\nnodes = {\n  n1 = { type = \"a\" } // first\n  n2 = { type = \
        \"b\" x = 5 y = 3 }\n  n3 = {\n    type = \"c\"\n  }\n}\n"
    );
    let theirs = tree(&text.replace("x = 1", "x = 9"));
    let (_, conflicts) = merge(&base, &mine, &theirs, false);
    assert_eq!(conflicts[0].path, "nodes.n2.x");
    let unit = edit_text("model = \"m\"\nflow = { nodes = {} }\n", "flow", &mine).unwrap();
    assert!(unit.starts_with("model = \"m\"\nflow = {"), "{unit}");
}

#[test]
fn explanations_name_sizes_inputs_and_wires() {
    let program = compiled(
        "variables = { hits = { type = \"number\" value = 2 } }\n\
         nodes = { n1 = { type = \"event.spawned\" } n2 = { type = \"debug.print\" inputs = { \
         value = { wire = \"n3.value\" } } } n3 = { type = \"variable.value\" variable = \
         \"hits\" } }\n\
         events = { \"n1.out > n2.in\" = true }",
        &[],
    )
    .unwrap();
    let text = explain(&program);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[1..],
        [
            "variable hits: number = 2",
            "n1: event.spawned()",
            "  out > n2.in",
            "n2: debug.print(value = variable hits)",
        ]
    );
    assert!(lines[0].starts_with("test.flow: 2 nodes, "), "{}", lines[0]);
}

#[test]
fn the_manual_lists_all_nodes() {
    const MARK: &str = "\n<!-- nodes -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/flow.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, listed) = text.split_once(MARK).unwrap();
    let wanted = node_markdown(&Catalogue::built_in());
    if std::env::var_os("ENGINE_ROWS_UPDATE").is_some() {
        std::fs::write(path, format!("{before}{MARK}{wanted}")).unwrap();
        return;
    }
    assert!(listed == wanted, "docs/flow.md: ENGINE_ROWS_UPDATE=1 cargo test -p engine_flow");
}

#[test]
fn requests_send_raise_and_print() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         got = { type = \"event.custom\" name = \"got\" } \
         s = { type = \"event.send\" name = \"got\" inputs = { value = 3 } } \
         r = { type = \"event.raise\" name = \"told\" inputs = { value = \"x\" } } \
         l = { type = \"test.log\" inputs = { value = { wire = \"got.value\" } } } \
         m = { type = \"test.log\" inputs = { value = \"after\" } } }\n\
         events = { \"go.out > s.in\" = true \"s.out > r.in\" = true \"r.out > m.in\" = true \
         \"got.out > l.in\" = true }",
    );
    game.event("go");
    assert_eq!(game.taken(), "told: x after 3");
}
