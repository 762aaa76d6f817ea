//! Tests of sources: wrong graphs, limits, merges, explanations.

use super::tests::{Game, compiled, tree};
use super::*;
use engine_foundation::sjson::SjsonTree;

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

/// Returns the warnings of the check of a graph without errors.
fn warnings_of(text: &str) -> Vec<String> {
    let graph = GraphSource::read(&tree(text)).0;
    let checked =
        check(&graph, &Catalogue::built_in(), GraphOwner::Unit, &mut |_| Err(String::new()));
    assert!(checked.problems.iter().all(|one| one.severity == Severity::Warning));
    checked.problems.iter().map(Problem::text).collect()
}

#[test]
fn a_text_that_names_an_output_gets_a_hint() {
    let count = "count = { type = \"flow.counter\" }";
    refused(
        &format!(
            "nodes = {{ {count} a = {{ type = \"number.add\" inputs = {{ a = \"count.number\" \
             b = \"count.numbr\" }} }} }}"
        ),
        "node a, pin 'a': must be a number; for the value of this output, write { wire = \
         \"count.number\" }\n\
         node a, pin 'b': must be a number",
    );
    let warnings = |value: &str| {
        let text = format!(
            "nodes = {{ {count} go = {{ type = \"event.spawned\" }} a = {{ type = \
             \"debug.print\" inputs = {{ value = \"{value}\" }} }} }} events = {{ \
             \"go.out > count.in\" = true \"go.out > a.in\" = true }}"
        );
        warnings_of(&text).join("\n")
    };
    assert_eq!(
        warnings("count.number"),
        "node a, pin 'value': is a text; for the value of this output, write { wire = \
         \"count.number\" }"
    );
    assert_eq!(
        warnings("count.reached"),
        "node a, pin 'value': is a text; 'count.reached' is an event: connect it in 'events'"
    );
    // Texts that are no outputs are only texts.
    for text in ["count.x", "other.number", "count", "3.5", "count."] {
        assert_eq!(warnings(text), "", "{text}");
    }
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
fn explanations_name_settings_and_subgraphs() {
    let inner = "inputs = { go = { type = \"event\" } } nodes = { i = { type = \"graph.inputs\" } \
                 r = { type = \"event.raise\" name = \"say \\\"hi\\\"\" } } \
                 events = { \"i.go > r.in\" = true }";
    let program = compiled(
        "variables = { hits = { type = \"number\" } }\n\
         nodes = { a = { type = \"event.custom\" name = \"hit\" } \
         b = { type = \"variable.add\" variable = \"hits\" } \
         c = { type = \"flow.switch_number\" cases = { 1 = true 2 = true } \
         inputs = { value = { wire = \"b.value\" } } } \
         d = { type = \"flow.timeline\" curves = { angle = [[0, 0], [1, 90]] } } \
         e = { type = \"graph\" graph = \"inner\" } }\n\
         events = { \"a.out > b.in\" = true \"b.out > c.in\" = true \"c.2 > d.play\" = true \
         \"c.1 > e.go\" = true }",
        &[("inner", inner)],
    )
    .unwrap();
    let text = explain(&program);
    for line in [
        "e: graph(graph = \"inner\")",
        "a: event.custom(name = \"hit\")",
        "b: variable.add(variable = \"hits\", amount = 1)",
        "c: flow.switch_number(cases = { 1 = true, 2 = true }, value = b.value)",
        "  1 > e/r.in",
        "d: flow.timeline(curves = { angle = [[0, 0], [1, 90]] }, speed = 1)",
        "e/r: event.raise(name = \"say \\\"hi\\\"\", value = nothing)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn requests_send_raise_and_print() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         got = { type = \"event.custom\" name = \"got\" } \
         s = { type = \"event.send\" name = \"got\" inputs = { value = 3 } } \
         r = { type = \"event.raise\" name = \"broken\" inputs = { value = \"x\" } } \
         l = { type = \"test.log\" inputs = { value = { wire = \"got.value\" } } } \
         m = { type = \"test.log\" inputs = { value = \"after\" } } }\n\
         events = { \"go.out > s.in\" = true \"s.out > r.in\" = true \"r.out > m.in\" = true \
         \"got.out > l.in\" = true }",
    );
    game.event("go");
    assert_eq!(game.taken(), "broken: x after 3");
}

#[test]
fn renamed_pins_of_a_shared_graph_are_suggested() {
    let inner = "inputs = { impact = { type = \"event\" } strength = { type = \"number\" value = 1 \
                 } } outputs = { changed = { type = \"event\" } } nodes = { i = { type = \
                 \"graph.inputs\" } o = { type = \"graph.outputs\" } }";
    let outer = |inputs: &str, wires: &str| {
        let text = format!(
            "nodes = {{ go = {{ type = \"event.custom\" name = \"go\" }} \
             door = {{ type = \"graph\" graph = \"door\" inputs = {{ {inputs} }} }} \
             l = {{ type = \"test.log\" }} }} events = {{ {wires} }}"
        );
        compiled(&text, &[("door", inner)]).unwrap_err()
    };
    assert_eq!(
        outer("strength = 2", "\"go.out > door.hit\" = true \"door.changed > l.in\" = true"),
        "node go: leads to 'door.hit', and this node has no such input for events: was it renamed \
         to 'impact'?"
    );
    assert_eq!(
        outer("power = 2", "\"go.out > door.impact\" = true"),
        "node door, pin 'power': there is no such input: was it renamed to 'strength'?"
    );
    assert_eq!(
        outer("strength = 2", "\"go.out > door.impact\" = true \"door.done > l.in\" = true"),
        "node door: comes from 'door.done', and the node 'door' has no such output: was it \
         renamed to 'changed'?"
    );
}

#[test]
fn a_node_without_a_type_has_one_problem() {
    refused(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } r = { type = \"rotor.spin\" } \
         l = { type = \"test.log\" inputs = { value = { wire = \"r.speed\" } } } } \
         events = { \"go.out > r.in\" = true \"r.out > l.in\" = true }",
        "node r: there is no node type 'rotor.spin'",
    );
}

#[test]
fn problems_are_listed_up_to_a_limit() {
    let nodes: String =
        (0..60_000).map(|at| format!("n{at} = {{ type = \"wrong.one\" }} ")).collect();
    let error = compiled(&format!("nodes = {{ {nodes} }}"), &[]).unwrap_err();
    assert_eq!(error.lines().count(), 201);
    assert!(error.ends_with("the first 200 problems are listed (PROBLEMS_MAX): repair these"));
}

#[test]
fn merges_of_many_nodes_take_little_time() {
    let graph = |nodes: std::ops::Range<usize>| {
        let nodes: String =
            nodes.map(|at| format!("n{at} = {{ type = \"event.spawned\" }}\n")).collect();
        format!("nodes = {{\n{nodes}}}\n")
    };
    let (base, mine, disk) = (graph(0..60_000), graph(5..60_003), graph(0..60_000));
    let (merged, conflicts) = merge(&tree(&base), &tree(&mine), &tree(&disk), false);
    assert!(conflicts.is_empty());
    assert_eq!(merged, tree(&mine));
    let (merged, _) =
        merge(&tree(""), &tree(&graph(0..30_000)), &tree(&graph(30_000..60_000)), false);
    assert!(matches!(merged.get("nodes"), Some(SjsonTree::Object(nodes)) if nodes.len() == 60_000));
    let edited = edit_text(&base, "", &tree(&mine)).unwrap();
    assert_eq!(tree(&edited), tree(&mine));
}

#[test]
fn numbers_in_names_are_compared_as_numbers() {
    let mut names = ["n10", "n9", "n010", "a", "n", "n1b", "n99999999999999999999", "n0"];
    names.sort_by(|a, b| super::source::natural_order(a, b));
    assert_eq!(names, ["a", "n", "n0", "n9", "n010", "n10", "n99999999999999999999", "n1b"]);
}

#[test]
fn wires_after_the_end_of_the_own_unit_are_warned_of() {
    let warnings = |node: &str, owner: GraphOwner| {
        let text = format!(
            "nodes = {{ go = {{ type = \"event.custom\" name = \"go\" }} \
             me = {{ type = \"self.unit\" }} \
             n = {{ type = \"unit.destroy\" {node} }} l = {{ type = \"test.log\" }} }} \
             events = {{ \"go.out > n.in\" = true \"n.out > l.in\" = true }}"
        );
        let (source, _) = GraphSource::read(&tree(&text));
        let mut catalogue = super::tests::catalogue();
        let unit = Pin::new("unit", FlowType::Unit).or(PinDefault::Owner);
        let known = catalogue.find("unit.test").unwrap().clone();
        let inputs = vec![known.inputs[0].clone(), unit];
        catalogue.set(NodeType { name: "unit.destroy".to_string(), inputs, ..known });
        let mut load = |_: &str| Err("there is no graph".to_string());
        let found = check(&source, &catalogue, owner, &mut load).problems;
        found.iter().map(Problem::text).collect::<Vec<_>>().join("\n")
    };
    let own = "'l.in' never runs: this node ends the unit of the graph, and the graph with it. \
               Put it before 'n'";
    for node in ["", "inputs = { unit = { wire = \"me.unit\" } }"] {
        let found = warnings(node, GraphOwner::Unit);
        assert!(found.contains(own), "{node}: {found}");
    }
    let other = "inputs = { unit = { wire = \"go.sender\" } }";
    assert_eq!(warnings(other, GraphOwner::Unit), "");
    let units = ["gate".to_string()];
    assert_eq!(warnings("inputs = { unit = \"gate\" }", GraphOwner::Level(&units)), "");
}

#[test]
fn values_with_which_loops_never_end_get_a_warning() {
    let warnings = |text: &str| {
        let all = warnings_of(text).into_iter();
        all.filter(|text| !text.contains("no event reaches")).collect::<Vec<_>>()
    };
    let timer = |inputs: &str| {
        warnings(&format!("nodes = {{ t = {{ type = \"event.timer\" inputs = {{ {inputs} }} }} }}"))
    };
    let wanted = "node t, pin 'seconds': is not more than 0, so that the timer runs in each \
                  update: use event.update";
    assert_eq!(timer("seconds = -1"), [wanted]);
    assert_eq!(timer("seconds = 0"), [wanted]);
    assert!(timer("seconds = 0 loop = false").is_empty() && timer("seconds = 0.1").is_empty());
    let count = |step: &str| {
        warnings(&format!(
            "nodes = {{ f = {{ type = \"flow.for\" inputs = {{ last = 3 step = {step} }} }} }}"
        ))
    };
    let wanted = "node f, pin 'step': is 0, so that the loop never ends: write 1, or -1 to count \
                  down";
    assert_eq!(count("0"), [wanted]);
    assert!(count("-1").is_empty());
}

#[test]
fn a_switch_on_numbers_has_an_example_with_numbers() {
    refused(
        "nodes = { a = { type = \"flow.switch_number\" cases = { red = true } } }",
        "node a: the case 'red' must be a number: cases = { 1 = true 2 = true }",
    );
    let catalogue = Catalogue::built_in();
    let text = |name: &str| node_text(catalogue.find(name).unwrap());
    assert!(text("flow.switch_number").contains("cases = { 1 = true 2 = true }"));
    assert!(text("flow.switch_text").contains("cases = { red = true blue = true }"));
}
