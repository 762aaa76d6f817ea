//! Tests of graphs from their source to their events.

use super::*;
use engine_foundation::hash::StateHash;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Handle, HandleKind, Slots};
use std::collections::HashMap;
use std::sync::Arc;

/// A host that counts, and knows one unit of a level.
#[derive(Default)]
pub(super) struct TestHost {
    time: f64,
    random: f64,
    unit: Option<Handle>,
    calls: u32,
    /// Nodes whose lines were asked for; without them, no node has a line.
    pub(super) lines: Option<Vec<NodeLocation>>,
}

impl FlowHost for TestHost {
    fn random(&mut self) -> f64 {
        self.random
    }
    fn exists(&mut self, _: Handle) -> bool {
        true
    }
    fn level_unit(&mut self, _: Handle, name: &str) -> Option<Handle> {
        self.unit.filter(|_| name == "gate")
    }
    fn time(&mut self, _: Handle) -> f64 {
        self.time
    }
    fn line_of(&mut self, node: &NodeLocation) -> Option<String> {
        self.lines.as_mut()?.push(node.clone());
        Some(format!("{}:7", node.graph))
    }
    fn call(
        &mut self,
        _: u32,
        inputs: &[Slot],
        outputs: &mut [Slot],
        _: &mut FlowHeap,
    ) -> CallResult {
        self.calls += 1;
        if inputs[0].as_number() < 0.0 {
            return Err("must not be negative".into());
        }
        outputs[0] = Slot::number(inputs[0].as_number() * 2.0);
        Ok(())
    }
}

fn function(name: &str, kind: NodeKind, inputs: Vec<Pin>, outputs: Vec<Pin>) -> NodeType {
    let (mut all_inputs, mut all_outputs) = (inputs, outputs);
    if kind == NodeKind::Action {
        all_inputs.insert(0, Pin::new("in", FlowType::Event));
        all_outputs.insert(0, Pin::new("out", FlowType::Event));
    }
    NodeType {
        name: name.to_string(),
        title: name.to_string(),
        category: "Tests".to_string(),
        doc: String::new(),
        kind,
        origin: NodeOrigin::Function,
        op: Op::Call,
        inputs: all_inputs,
        outputs: all_outputs,
        settings: Vec::new(),
        latent: false,
        dynamic: false,
    }
}

pub(super) fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::built_in();
    let number = |name: &str| Pin::new(name, FlowType::Number);
    let value = Pin::new("value", FlowType::Any).or(PinDefault::Nil);
    catalogue.set(function("test.double", NodeKind::Query, vec![number("a")], vec![number("b")]));
    catalogue.set(function("test.native", NodeKind::Action, vec![number("a")], vec![number("b")]));
    let unit = vec![Pin::new("unit", FlowType::Unit)];
    catalogue.set(function("unit.test", NodeKind::Action, unit, Vec::new()));
    catalogue.set(function("test.log", NodeKind::Action, vec![value.clone()], vec![value]));
    catalogue
}

pub(super) fn tree(text: &str) -> SjsonTree {
    sjson::parse(text).unwrap().to_tree()
}

/// Compiles a graph; `graphs` are the others, by name.
pub(super) fn compiled(text: &str, graphs: &[(&str, &str)]) -> Result<Program, String> {
    let sources: HashMap<&str, &str> = graphs.iter().copied().collect();
    let mut load = |name: &str| {
        let text = sources.get(name).ok_or_else(|| format!("there is no graph '{name}'"))?;
        Ok(Arc::new(GraphSource::read(&tree(text)).0))
    };
    let (source, problems) = GraphSource::read(&tree(text));
    if let Some(problem) = problems.first() {
        return Err(problem.text());
    }
    let compiled =
        compile("test.flow", Arc::new(source), &catalogue(), GraphOwner::Unit, &mut load);
    compiled.map(|compiled| compiled.program).map_err(|problems| {
        let errors = problems.iter().filter(|one| one.severity == Severity::Error);
        errors.map(Problem::text).collect::<Vec<_>>().join("\n")
    })
}

/// A world with one instance, and the values that its nodes of type `test.log` got.
pub(super) struct Game {
    pub(super) flow: Flow,
    pub(super) host: TestHost,
    pub(super) id: InstanceId,
    world: Handle,
    unit: Handle,
    pub(super) program: u32,
    units: Slots<()>,
    logged: Vec<String>,
    pub(super) fails: bool,
}

pub(super) fn native(name: &str) -> Option<u32> {
    (name == "test.native").then_some(0)
}

impl Game {
    pub(super) fn new(text: &str) -> Game {
        Game::with(text, &[])
    }

    pub(super) fn with(text: &str, graphs: &[(&str, &str)]) -> Game {
        let mut worlds = Slots::new(HandleKind::World, 4);
        let mut units = Slots::new(HandleKind::Unit, 100_000);
        let (world, unit) = (worlds.add(()).unwrap(), units.add(()).unwrap());
        let mut flow = Flow { catalogue: catalogue(), ..Flow::default() };
        let program = flow.add_program(compiled(text, graphs).unwrap(), &native);
        let owner = FlowOwner { unit: Some(unit), level: None, world };
        let id = flow.create(program, owner).unwrap();
        let (host, logged) = (TestHost::default(), Vec::new());
        let mut game = Game { flow, host, id, world, unit, program, units, logged, fails: false };
        game.flow.start(id);
        game.run();
        game
    }

    /// Adds another instance of the graph.
    pub(super) fn spawn(&mut self) -> InstanceId {
        let unit = self.units.add(()).unwrap();
        let owner = FlowOwner { unit: Some(unit), level: None, world: self.world };
        self.flow.create(self.program, owner).unwrap()
    }

    pub(super) fn run(&mut self) {
        loop {
            match self.flow.run(&mut self.host) {
                RunState::Idle | RunState::Stopped => return,
                RunState::Call(FlowCall::Callback(event)) => {
                    let value = event.value.describe(&self.flow.heap);
                    self.logged.push(format!("{}: {value}", event.name));
                    self.flow.complete_call(&[], 1);
                }
                RunState::Call(FlowCall::Function(index)) => {
                    let name = self.flow.catalogue.types()[index as usize].name.clone();
                    let mut inputs = Vec::new();
                    self.flow.call_inputs(&mut inputs);
                    if self.fails {
                        self.flow.fail_call("the function failed");
                    } else if name == "test.double" {
                        let double = Slot::number(inputs[0].as_number() * 2.0);
                        self.flow.complete_call(&[double], 1);
                    } else {
                        self.logged.push(inputs[0].describe(&self.flow.heap));
                        self.flow.complete_call(&inputs, 1);
                    }
                }
            }
        }
    }

    pub(super) fn event(&mut self, name: &str) -> bool {
        let taken = self.flow.raise(self.id, EventKind::Custom, name, &[], 0);
        self.run();
        taken
    }

    pub(super) fn update(&mut self, dt: f64) {
        self.host.time += dt;
        self.flow.update(self.world, self.host.time, dt);
        self.run();
    }

    pub(super) fn taken(&mut self) -> String {
        std::mem::take(&mut self.logged).join(" ")
    }

    pub(super) fn hash(&self) -> u64 {
        let mut hash = StateHash::new(0);
        self.flow.write_state(&mut hash);
        hash.finish()
    }
}

/// Checks what a graph logs when the event `go` arrives.
fn check(nodes: &str, events: &str, logged: &str) {
    let text = format!(
        "variables = {{ x = {{ type = \"number\" value = 5 }} t = {{ type = \"text\" }} }}\n\
         nodes = {{ go = {{ type = \"event.custom\" name = \"go\" }} {nodes} }}\n\
         events = {{ {events} }}"
    );
    let mut game = Game::new(&text);
    game.event("go");
    assert_eq!(game.taken(), logged, "{text}\n{}", game.flow.last_error());
}

#[test]
fn events_run_depth_first_in_the_order_of_ids() {
    check(
        "a1 = { type = \"test.log\" inputs = { value = 1 } } \
         a2 = { type = \"test.log\" inputs = { value = 2 } } \
         a10 = { type = \"test.log\" inputs = { value = 10 } } \
         b = { type = \"test.log\" inputs = { value = \"b\" } }",
        "\"go.out > a10.in\" = true \"go.out > a2.in\" = true \"go.out > a1.in\" = true \
         \"a1.out > b.in\" = true",
        "1 b 2 10",
    );
}

#[test]
fn queries_are_pulled_through_wires_and_conversions() {
    check(
        "v = { type = \"variable.value\" variable = \"x\" } \
         d = { type = \"test.double\" inputs = { a = { wire = \"v.value\" } } } \
         s = { type = \"number.add\" inputs = { a = { wire = \"d.b\" } b = 1 } } \
         j = { type = \"text.join\" inputs = { a = \"x is \" b = { wire = \"s.result\" } } } \
         l = { type = \"test.log\" inputs = { value = { wire = \"j.result\" } } }",
        "\"go.out > l.in\" = true",
        "x is 11",
    );
}

#[test]
fn control_nodes_choose_their_outputs() {
    let log =
        |id: &str| format!("{id} = {{ type = \"test.log\" inputs = {{ value = \"{id}\" }} }} ");
    let logs: String = ["a", "b", "c"].iter().map(|id| log(id)).collect();
    let wires = |from: [&str; 3]| {
        format!(
            "\"go.out > n.in\" = true \"n.{} > a.in\" = true \"n.{} > b.in\" = true \
             \"n.{} > c.in\" = true",
            from[0], from[1], from[2]
        )
    };
    let sequence = format!("n = {{ type = \"flow.sequence\" count = 3 }} {logs}");
    check(&sequence, &wires(["out3", "out1", "out2"]), "b c a");
    let switch = |value: &str| {
        format!(
            "n = {{ type = \"flow.switch_text\" cases = {{ red = true blue = true }} inputs = {{ \
             value = \"{value}\" }} }} {logs}"
        )
    };
    check(&switch("red"), &wires(["red", "blue", "other"]), "a");
    check(&switch("pink"), &wires(["red", "blue", "other"]), "c");
    let number = format!(
        "n = {{ type = \"flow.switch_number\" cases = {{ 5 = true 6 = true }} inputs = {{ value \
         = 6 }} }} {logs}"
    );
    check(&number, &wires(["5", "6", "other"]), "b");
}

#[test]
fn loops_run_their_bodies_without_native_recursion() {
    check(
        "n = { type = \"flow.for\" inputs = { first = 1 last = 3 } } \
         l = { type = \"test.log\" inputs = { value = { wire = \"n.index\" } } } \
         e = { type = \"test.log\" inputs = { value = \"end\" } }",
        "\"go.out > n.in\" = true \"n.body > l.in\" = true \"n.done > e.in\" = true",
        "1 2 3 end",
    );
    check(
        "v = { type = \"variable.value\" variable = \"x\" } \
         c = { type = \"number.greater\" inputs = { a = { wire = \"v.value\" } b = 2 } } \
         n = { type = \"flow.while\" inputs = { condition = { wire = \"c.result\" } } } \
         s = { type = \"variable.add\" variable = \"x\" inputs = { amount = -1 } } \
         l = { type = \"test.log\" inputs = { value = { wire = \"v.value\" } } }",
        "\"go.out > n.in\" = true \"n.body > s.in\" = true \"n.done > l.in\" = true",
        "2",
    );
}

#[test]
fn an_endless_loop_ends_with_an_error_that_names_its_wires() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         w = { type = \"flow.while\" inputs = { condition = true } } \
         b = { type = \"variable.add\" variable = \"x\" } }\n\
         variables = { x = { type = \"number\" } }\n\
         events = { \"go.out > w.in\" = true \"w.body > b.in\" = true }",
    );
    game.event("go");
    assert_eq!(
        game.flow.last_error(),
        "graph test.flow, node b (variable.add): 10000 nodes ran for one event, which is the \
         limit (limits.flow_nodes in settings.sjson): is this loop endless? The last \
         wires: w.body > b.in"
    );
    assert!(game.flow.is_idle());
}

#[test]
fn memory_nodes_keep_their_state() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         reset = { type = \"event.custom\" name = \"reset\" } \
         shut = { type = \"event.custom\" name = \"shut\" } \
         once = { type = \"flow.once\" } gate = { type = \"flow.gate\" } \
         n = { type = \"flow.do_n\" inputs = { count = 2 } } \
         latch = { type = \"flow.latch\" } count = { type = \"flow.counter\" inputs = { count \
         = 2 } } \
         l1 = { type = \"test.log\" inputs = { value = \"once\" } } \
         l2 = { type = \"test.log\" inputs = { value = \"gate\" } } \
         l3 = { type = \"test.log\" inputs = { value = { wire = \"n.number\" } } } \
         l4 = { type = \"test.log\" inputs = { value = { wire = \"latch.state\" } } } \
         l5 = { type = \"test.log\" inputs = { value = \"reached\" } } }\n\
         events = { \"go.out > once.in\" = true \"reset.out > once.reset\" = true \
         \"once.out > l1.in\" = true \"go.out > gate.in\" = true \"gate.out > l2.in\" = true \
         \"shut.out > gate.close\" = true \"go.out > n.in\" = true \"n.out > l3.in\" = true \
         \"go.out > latch.in\" = true \"latch.on > l4.in\" = true \"latch.off > l4.in\" = true \
         \"go.out > count.in\" = true \"count.reached > l5.in\" = true }",
    );
    game.event("go");
    assert_eq!(game.taken(), "gate true 1 once");
    game.event("go");
    assert_eq!(game.taken(), "reached gate false 2");
    game.event("shut");
    game.event("reset");
    game.event("go");
    assert_eq!(game.taken(), "true once");
}

#[test]
fn delays_and_timers_wait_without_visits() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         stop = { type = \"event.custom\" name = \"stop\" } \
         d = { type = \"flow.delay\" inputs = { seconds = 0.5 } } \
         t = { type = \"event.timer\" inputs = { seconds = 1 loop = false } } \
         l = { type = \"test.log\" inputs = { value = \"delay\" } } \
         m = { type = \"test.log\" inputs = { value = \"timer\" } } }\n\
         events = { \"go.out > d.in\" = true \"d.out > l.in\" = true \"t.out > m.in\" = true \
         \"stop.out > d.cancel\" = true }",
    );
    assert_eq!((game.flow.active_count(), game.flow.timer_count()), (0, 1));
    game.event("go");
    game.update(0.25);
    assert_eq!(game.taken(), "");
    game.update(0.25);
    assert_eq!(game.taken(), "delay");
    game.event("go");
    game.event("stop");
    game.update(1.0);
    assert_eq!(game.taken(), "timer");
    assert_eq!(game.flow.timer_count(), 0);
}

#[test]
fn timelines_play_curves_and_are_visited_only_then() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         t = { type = \"flow.timeline\" curves = { angle = [[0, 0], [1, 90]] } } \
         l = { type = \"test.log\" inputs = { value = { wire = \"t.angle\" } } } \
         e = { type = \"test.log\" inputs = { value = \"end\" } } }\n\
         events = { \"go.out > t.play\" = true \"t.update > l.in\" = true \"t.done > e.in\" = \
         true }",
    );
    game.event("go");
    assert_eq!(game.flow.active_count(), 1);
    game.update(0.5);
    game.update(0.75);
    game.update(0.5);
    assert_eq!(game.taken(), "45 90 end");
    assert_eq!(game.flow.active_count(), 0);
}

const COUNTER: &str = "inputs = { hit = { type = \"event\" } step = { type = \"number\" value \
= 1 } }\n\
    outputs = { changed = { type = \"event\" } total = { type = \"number\" } }\n\
    variables = { sum = { type = \"number\" } }\n\
    nodes = { i = { type = \"graph.inputs\" } o = { type = \"graph.outputs\" inputs = { total = { \
    wire = \"v.value\" } } } v = { type = \"variable.value\" variable = \"sum\" } \
    a = { type = \"variable.add\" variable = \"sum\" inputs = { amount = { wire = \"i.step\" } \
    } } }\n\
    events = { \"i.hit > a.in\" = true \"a.out > o.changed\" = true }";

#[test]
fn each_use_of_a_subgraph_has_variables_of_its_own() {
    let mut game = Game::with(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         other = { type = \"event.custom\" name = \"other\" } \
         c1 = { type = \"graph\" graph = \"counter\" } \
         c2 = { type = \"graph\" graph = \"counter\" inputs = { step = 10 } } \
         l1 = { type = \"test.log\" inputs = { value = { wire = \"c1.total\" } } } \
         l2 = { type = \"test.log\" inputs = { value = { wire = \"c2.total\" } } } }\n\
         events = { \"go.out > c1.hit\" = true \"other.out > c2.hit\" = true \
         \"c1.changed > l1.in\" = true \"c2.changed > l2.in\" = true }",
        &[("counter", COUNTER)],
    );
    ["go", "go", "other", "go"].iter().for_each(|name| assert!(game.event(name)));
    assert_eq!(game.taken(), "1 2 10 3");
    let program = game.flow.program(game.program);
    assert_eq!(program.graphs, ["counter"]);
    let names: Vec<&str> = program.variables.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["c1/sum", "c2/sum"]);
}

#[test]
fn instances_share_the_program_and_copy_the_template() {
    let mut game = Game::new(
        "variables = { x = { type = \"number\" value = 5 } }\n\
         nodes = { go = { type = \"event.custom\" name = \"go\" } \
         a = { type = \"variable.add\" variable = \"x\" } }\n\
         events = { \"go.out > a.in\" = true }",
    );
    let unit = game.units.add(()).unwrap();
    let owner = FlowOwner { unit: Some(unit), level: None, world: game.world };
    let other = game.flow.create(game.program, owner).unwrap();
    game.event("go");
    assert_eq!(game.flow.variable(game.id, "x").unwrap().as_number(), 6.0);
    assert_eq!(game.flow.variable(other, "x").unwrap().as_number(), 5.0);
    assert_eq!(Arc::strong_count(game.flow.program(game.program)), 1);
    assert_eq!(game.flow.instance_of(unit), Some(other));
    assert!(instance_bytes() <= 64, "{}", instance_bytes());
    let size = game.flow.program(game.program).size();
    assert_eq!(size.instance, size_of_val(game.flow.slots(game.id)));
    game.flow.destroy(other);
    assert_eq!((game.flow.instance_of(unit), game.flow.instance_count()), (None, 1));
    assert!(game.flow.instance_of(game.unit).is_some());
}

#[test]
fn the_order_of_entries_does_not_change_the_program() {
    let forward = "variables = { a = { type = \"number\" } b = { type = \"text\" } }\n\
        nodes = { n1 = { type = \"event.spawned\" } n2 = { type = \"debug.print\" inputs = { value \
        = \"x\" } } n3 = { type = \"variable.set\" variable = \"a\" inputs = { value = 1 } } }\n\
        events = { \"n1.out > n2.in\" = true \"n1.out > n3.in\" = true }";
    let backward = "events = { \"n1.out > n3.in\" = true \"n1.out > n2.in\" = true }\n\
        nodes = { n3 = { inputs = { value = 1 } variable = \"a\" type = \"variable.set\" } n2 = { \
        inputs = { value = \"x\" } type = \"debug.print\" } n1 = { type = \"event.spawned\" } }\n\
        variables = { b = { type = \"text\" } a = { type = \"number\" } }";
    assert_eq!(compiled(forward, &[]), compiled(backward, &[]));
    assert_eq!(compiled(forward, &[]), compiled(forward, &[]));
}

#[test]
fn a_native_function_runs_without_the_caller() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         n = { type = \"test.native\" inputs = { a = 4 } } \
         l = { type = \"test.log\" inputs = { value = { wire = \"n.b\" } } } }\n\
         events = { \"go.out > n.in\" = true \"n.out > l.in\" = true }",
    );
    game.event("go");
    assert_eq!((game.taken().as_str(), game.host.calls), ("8", 1));
}

#[test]
fn an_instance_that_ends_in_its_own_event_ends_the_event() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } l = { type = \"test.log\" } \
         m = { type = \"test.log\" } }\n\
         events = { \"go.out > l.in\" = true \"l.out > m.in\" = true }",
    );
    game.flow.raise(game.id, EventKind::Custom, "go", &[], 0);
    assert!(matches!(game.flow.run(&mut game.host), RunState::Call(_)));
    game.flow.destroy(game.id);
    game.flow.complete_call(&[], 1);
    assert_eq!(game.flow.run(&mut game.host), RunState::Idle);
    assert!(game.flow.is_idle());
}

#[test]
fn breakpoints_stop_before_a_node_and_step_over_it() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } \
         l = { type = \"test.log\" inputs = { value = 1 } } \
         m = { type = \"test.log\" inputs = { value = 2 } } }\n\
         events = { \"go.out > l.in\" = true \"l.out > m.in\" = true }",
    );
    assert_eq!(game.flow.set_breakpoint("test.flow", "l", true), Ok(vec!["l".to_string()]));
    assert!(game.flow.set_breakpoint("test.flow", "x", true).is_err());
    game.event("go");
    assert_eq!(game.taken(), "");
    assert_eq!(game.flow.stopped_node().unwrap().node, "l");
    game.flow.resume(true);
    game.run();
    assert_eq!(game.taken(), "1");
    assert_eq!(game.flow.stopped_node().unwrap().node, "m");
    game.flow.resume(false);
    game.run();
    assert_eq!((game.taken().as_str(), game.flow.stopped_node()), ("2", None));
}

#[test]
fn traces_record_events_wires_and_counts() {
    let mut game = Game::new(
        "nodes = { go = { type = \"event.custom\" name = \"go\" } l = { type = \"test.log\" } }\n\
         events = { \"go.out > l.in\" = true }",
    );
    game.flow.trace(game.id, 1.0).unwrap();
    game.event("go");
    let trace = game.flow.trace(game.id, 1.0).unwrap();
    assert_eq!((trace.sequence, trace.events.len(), trace.counts.clone()), (2, 2, vec![1, 1]));
    assert!(!trace.events[0].has_wire() && trace.events[1].has_wire());
    game.flow.end_old_traces(4.0, 2.0);
    game.event("go");
    assert_eq!(game.flow.trace(game.id, 4.0).unwrap().sequence, 0);
}

#[test]
fn a_reload_keeps_state_by_node_and_reports_the_rest() {
    let before = "variables = { x = { type = \"number\" } old = { type = \"text\" } }\n\
        nodes = { go = { type = \"event.custom\" name = \"go\" } \
        a = { type = \"variable.add\" variable = \"x\" } d = { type = \"flow.delay\" } \
        c = { type = \"flow.counter\" } }\n\
        events = { \"go.out > a.in\" = true \"a.out > d.in\" = true \"go.out > c.in\" = true }";
    let after = "variables = { y = { type = \"number\" value = 7 } x = { type = \"number\" } }\n\
        nodes = { go = { type = \"event.custom\" name = \"go\" } \
        a = { type = \"variable.add\" variable = \"x\" } d = { type = \"flow.delay\" } \
        l = { type = \"test.log\" inputs = { value = \"later\" } } }\n\
        events = { \"go.out > a.in\" = true \"a.out > d.in\" = true \"d.out > l.in\" = true }";
    let mut game = Game::new(before);
    game.event("go");
    game.event("go");
    let program = compiled(after, &[]).unwrap();
    let dropped = game.flow.replace_program(game.program, program, &native);
    assert_eq!(dropped, ["variable old", "node c (flow.counter)"]);
    assert_eq!(game.flow.variable(game.id, "x").unwrap().as_number(), 2.0);
    assert_eq!(game.flow.variable(game.id, "y").unwrap().as_number(), 7.0);
    game.update(1.0);
    assert_eq!(game.taken(), "later later");
}

#[test]
fn state_hashes_follow_values_and_not_the_heap() {
    let text = "variables = { t = { type = \"text\" } x = { type = \"number\" } }\n\
        nodes = { go = { type = \"event.custom\" name = \"go\" } \
        v = { type = \"variable.value\" variable = \"x\" } \
        a = { type = \"variable.add\" variable = \"x\" } \
        j = { type = \"text.join\" inputs = { a = \"n\" b = { wire = \"v.value\" } } } \
        s = { type = \"variable.set\" variable = \"t\" inputs = { value = { wire = \
        \"j.result\" } } } }\n\
        events = { \"go.out > a.in\" = true \"a.out > s.in\" = true }";
    let (mut one, mut two) = (Game::new(text), Game::new(text));
    assert_eq!(one.hash(), two.hash());
    one.event("go");
    assert_ne!(one.hash(), two.hash());
    (0..20).for_each(|_| {
        two.flow.heap.add_constant("other");
    });
    two.event("go");
    assert_eq!(one.hash(), two.hash());
}

#[test]
fn texts_that_nothing_uses_are_freed() {
    let mut game = Game::new(
        "variables = { t = { type = \"text\" } x = { type = \"number\" } }\n\
         nodes = { u = { type = \"event.update\" } \
         v = { type = \"variable.value\" variable = \"x\" } \
         a = { type = \"variable.add\" variable = \"x\" } \
         j = { type = \"text.join\" inputs = { a = \"n\" b = { wire = \"v.value\" } } } \
         s = { type = \"variable.set\" variable = \"t\" inputs = { value = { wire = \
         \"j.result\" } } } }\n\
         events = { \"u.out > a.in\" = true \"a.out > s.in\" = true }",
    );
    (0..20_000).for_each(|_| game.update(0.01));
    assert!(game.flow.heap.len() < 10_000, "{}", game.flow.heap.len());
    let text = game.flow.variable(game.id, "t").unwrap();
    assert_eq!(game.flow.heap.text(text), "n20000");
}
