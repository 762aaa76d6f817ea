//! Flow benchmarks: nodes of a chain, instances that wait, creation, compilation, recording.
//!
//!     cargo bench -- flow
//!
//! Times are CPU time of one thread, the median of 60 rounds after 20 rounds of warm-up.

use crate::run::{Run, launch, start};
use crate::table::{Group, Row, median, row};
use engine::foundation::json;
use engine::foundation::sjson::{SjsonTree, parse};
use engine::foundation::{Handle, HandleKind, Slots};
use engine::platform::ThreadClock;
use engine::system::flow::{
    CallResult, Catalogue, EventKind, Flow, FlowHeap, FlowHost, FlowOwner, GraphOwner, GraphSource,
    InstanceId, LiveKnown, NodeLocation, Slot, compile, instance_bytes,
};
use std::hint::black_box;
use std::sync::Arc;

const WARM: usize = 20;
const ROUNDS: usize = 60;
/// Nodes of the chain; an event runs all of them.
const CHAIN: usize = 1000;
const IDLE: usize = 10_000;
/// Updates in a round.
const UPDATES: usize = 1000;
/// Instances that are created and destroyed in a round.
const CREATED: usize = 1000;

pub fn run(run: &mut Run) {
    run.part("nodes", || Group {
        name: "flow nodes",
        title: "an event that runs a chain of 1,000 nodes",
        workload: "Each node adds the sum of two variables to a third one: one action and one \
                   query whose values come from wires.",
        rows: nodes(),
    });
    run.part("functions", || Group {
        name: "flow functions",
        title: "an event that runs a chain of 1,000 functions",
        workload: "Nodes in Lua: each gets a number from the node before it, and returns another \
                   one; then the same with nodes that have neither inputs nor outputs. Native \
                   functions: each sets the position of a unit to the value of a variable; then \
                   the node for units that does so.",
        rows: functions(),
    });
    run.part("instances", || Group {
        name: "flow instances",
        title: "instances of a graph of 50 nodes",
        workload: "10,000 instances that wait for an event, in one world; 1,000 are created and \
                   destroyed.",
        rows: instances(),
    });
    run.part("compile", || Group {
        name: "flow compile",
        title: "the compilation of a graph of 1,000 nodes",
        workload: "From the tree of the source to the program, with all checks.",
        rows: compiled(),
    });
}

/// Returns the median of the CPU seconds that a round takes.
fn measure(mut round: impl FnMut()) -> f64 {
    let clock = ThreadClock::of_this_thread();
    let mut times = Vec::with_capacity(ROUNDS);
    for step in 0..WARM + ROUNDS {
        let before = clock.seconds();
        round();
        if step >= WARM {
            times.push(clock.seconds() - before);
        }
    }
    median(times)
}

struct NoHost;

impl FlowHost for NoHost {
    fn random(&mut self) -> f64 {
        0.5
    }

    fn exists(&mut self, _: Handle) -> bool {
        true
    }

    fn level_unit(&mut self, _: Handle, _: &str) -> Option<Handle> {
        None
    }

    fn time(&mut self, _: Handle) -> f64 {
        0.0
    }

    fn line_of(&mut self, _: &NodeLocation) -> Option<String> {
        None
    }

    fn call(&mut self, _: u32, _: &[Slot], _: &mut [Slot], _: &mut FlowHeap) -> CallResult {
        Ok(())
    }
}

/// Returns the source of a chain: `count` actions, with a query for each.
fn chain(count: usize) -> String {
    let mut nodes = String::from(
        "go = { type = \"event.custom\" name = \"go\" } \
         a = { type = \"variable.value\" variable = \"a\" } \
         b = { type = \"variable.value\" variable = \"b\" } ",
    );
    let mut events = String::from("\"go.out > n0.in\" = true ");
    for at in 0..count {
        nodes += &format!(
            "q{at} = {{ type = \"number.add\" inputs = {{ a = {{ wire = \"a.value\" }} b = {{ wire \
             = \"b.value\" }} }} }} n{at} = {{ type = \"variable.add\" variable = \"c\" inputs \
             = {{ \
             amount = {{ wire = \"q{at}.result\" }} }} }} "
        );
        if at + 1 < count {
            events += &format!("\"n{at}.out > n{}.in\" = true ", at + 1);
        }
    }
    let number = "{ type = \"number\" value = 1 }";
    format!(
        "variables = {{ a = {number} b = {number} c = {number} }} nodes = {{ {nodes} }} events = \
         {{ {events} }}"
    )
}

fn program(text: &str, catalogue: &Catalogue) -> engine::system::flow::Program {
    let tree = parse(text).expect("the source of a benchmark").to_tree();
    let (source, problems) = GraphSource::read(&tree);
    assert!(problems.is_empty(), "{problems:?}");
    let mut load = |_: &str| Err("there is no other graph".to_string());
    let compiled = compile("bench.flow", Arc::new(source), catalogue, GraphOwner::Unit, &mut load);
    compiled.unwrap_or_else(|problems| panic!("{problems:?}")).program
}

/// A world with a graph for units.
struct Graphs {
    flow: Flow,
    program: u32,
    world: Handle,
    units: Slots<()>,
}

impl Graphs {
    fn new(text: &str) -> Graphs {
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = worlds.add(()).expect("there is room");
        let mut flow = Flow::default();
        flow.catalogue = Catalogue::built_in();
        let compiled = program(text, &flow.catalogue);
        let program = flow.add_program(compiled, &|_| None);
        Graphs { flow, program, world, units: Slots::new(HandleKind::Unit, 1 << 17) }
    }

    fn owner(&mut self) -> FlowOwner {
        let unit = self.units.add(()).expect("there is room");
        FlowOwner { unit: Some(unit), level: None, world: self.world }
    }
}

fn nodes() -> Vec<Row> {
    let mut graphs = Graphs::new(&chain(CHAIN));
    let owner = graphs.owner();
    let id = graphs.flow.create(graphs.program, owner).expect("there is room");
    let event = |graphs: &mut Graphs| {
        graphs.flow.raise(id, EventKind::Custom, "go", &[], 0);
        black_box(graphs.flow.run(&mut NoHost));
    };
    let plain = measure(|| event(&mut graphs));
    graphs.flow.trace(id, 0.0);
    let recorded = measure(|| event(&mut graphs));
    let mut known = LiveKnown::default();
    let answered = measure(|| {
        event(&mut graphs);
        known = answer(&mut graphs.flow, id, known);
    });
    let nanoseconds = |seconds: f64| seconds * 1e9 / CHAIN as f64;
    vec![
        row("an action with its query", nanoseconds(plain), "ns", Some(20.0)),
        row("the same while a tool records", nanoseconds(recorded), "ns", None),
        row("100 events a frame, recorded", (recorded - plain) / 10.0 * 1e3, "ms", Some(0.33)),
        row("the same, with answers to a tool", (answered - plain) / 10.0 * 1e3, "ms", Some(0.33)),
    ]
}

/// Writes the answer to a tool that watches an instance, and returns what the tool has then.
fn answer(flow: &mut Flow, id: InstanceId, known: LiveKnown) -> LiveKnown {
    let answer = SjsonTree::Object(flow.live(id, known, 0.0).expect("it runs"));
    black_box(json::write(&answer));
    let number = |name: &str| match answer.get(name) {
        Some(SjsonTree::Number(number)) => *number as u64,
        _ => panic!("no number '{name}'"),
    };
    LiveKnown { event: number("sequence"), values: number("revision") }
}

/// Returns the source of a chain of nodes in Lua. With values, each gets the result of the one
/// before it.
fn function_chain(kind: &str, values: bool) -> String {
    let mut nodes = String::from("go = { type = \"event.custom\" name = \"go\" } ");
    let mut events = String::from("\"go.out > n0.in\" = true ");
    for at in 0..CHAIN {
        let inputs = match at.checked_sub(1).filter(|_| values) {
            Some(before) => format!("inputs = {{ a = {{ wire = \"n{before}.result\" }} }}"),
            None => String::new(),
        };
        nodes += &format!("n{at} = {{ type = \"{kind}\" {inputs} }} ");
        if at + 1 < CHAIN {
            events += &format!("\"n{at}.out > n{}.in\" = true ", at + 1);
        }
    }
    format!("flow = {{ nodes = {{ {nodes} }} events = {{ {events} }} }}")
}

/// Returns the source of a chain of native functions with values from wires.
fn native_chain(kind: &str) -> String {
    let text = function_chain(kind, false);
    let position = "inputs = { position = { wire = \"v.value\" } }";
    let text = text.replace(&format!("\"{kind}\" "), &format!("\"{kind}\" {position}"));
    text.replace(
        "flow = { nodes = {",
        "flow = { variables = { v = { type = \"vector\" value = [1, 2, 3] } } nodes = { v = { type \
         = \"variable.value\" variable = \"v\" }",
    )
}

fn functions() -> Vec<Row> {
    const MAIN: &str = "function init()\n  local world = Application.main_world()\n  \
        for _, name in ipairs({ \"values\", \"empty\", \"native\", \"special\" }) do\n    \
        World.spawn_unit(world, \"units/\" .. name)\n  end\nend\n";
    const NODES: &str = "return {\n  values = {\n    \
        inputs = { { name = \"a\", type = \"number\", default = 1 } },\n    \
        outputs = { { name = \"result\", type = \"number\" } },\n    \
        run = function(a) return a + 1 end,\n  },\n  empty = { run = function() end },\n}\n";
    let folder = std::env::temp_dir().join(format!("engine-bench-flow-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder"))
            .expect("there is room");
        std::fs::write(path, text).expect("there is room");
    };
    write("main.lua", MAIN);
    write("nodes/bench.lua", NODES);
    write("units/values.unit", &function_chain("bench.values", true));
    write("units/empty.unit", &function_chain("bench.empty", false));
    write("units/native.unit", &native_chain("Unit.set_local_position"));
    write("units/special.unit", &native_chain("unit.set_position"));
    let mut app = start(launch(&folder));
    let mut rows = Vec::new();
    for (unit, title, most) in [
        ("values", "a node in Lua with an input and an output", Some(150.0)),
        ("empty", "a node in Lua without values", Some(150.0)),
        ("native", "a native function with values from wires", Some(20.0)),
        ("special", "a node for units with values from wires", None),
    ] {
        let flow = app.vm().engine().worlds.flow.get();
        let program = flow.find_program(&format!("units/{unit}.unit")).expect("it runs");
        let id = flow.instances_of(program)[0];
        let seconds = measure(|| {
            let flow = app.vm().engine().worlds.flow.get_mut();
            flow.raise(id, EventKind::Custom, "go", &[], 0);
            let ran = app.vm().call_core("run_flow_events", &[], 10.0);
            ran.unwrap_or_else(|report| panic!("{report}"));
        });
        assert_eq!(app.vm().engine().worlds.flow.get().last_error(), "");
        rows.push(row(title, seconds * 1e9 / CHAIN as f64, "ns", most));
    }
    drop(app);
    std::fs::remove_dir_all(&folder).expect("the folder of the run can be removed");
    rows
}

fn instances() -> Vec<Row> {
    let mut graphs = Graphs::new(&chain(25));
    let size = graphs.flow.program(graphs.program).size();
    for _ in 0..IDLE {
        let owner = graphs.owner();
        graphs.flow.create(graphs.program, owner).expect("there is room");
    }
    let world = graphs.world;
    // Many updates, because reading the clock takes longer than one of them.
    let idle = measure(|| {
        (0..UPDATES).for_each(|_| graphs.flow.update(black_box(world), 1.0, 0.016));
    });
    let owners: Vec<FlowOwner> = (0..CREATED).map(|_| graphs.owner()).collect();
    let created = measure(|| {
        for owner in &owners {
            let id = graphs.flow.create(graphs.program, *owner).expect("there is room");
            graphs.flow.destroy(black_box(id));
        }
    });
    vec![
        row("an update with 10,000 that wait", idle * 1e9 / UPDATES as f64, "ns", Some(100.0)),
        row("create and destroy one", created * 1e9 / CREATED as f64, "ns", Some(200.0)),
        row("bytes of one, without its data", instance_bytes() as f64, "bytes", Some(64.0)),
        row("its data", size.instance as f64, "bytes", None),
        row("shared data", size.program as f64, "bytes", None),
    ]
}

fn compiled() -> Vec<Row> {
    let catalogue = Catalogue::built_in();
    let tree = parse(&chain(CHAIN / 2)).expect("the source of a benchmark").to_tree();
    let seconds = measure(|| {
        let (source, _) = GraphSource::read(&tree);
        let mut load = |_: &str| Err("there is no other graph".to_string());
        let name = "bench.flow";
        let found = compile(name, Arc::new(source), &catalogue, GraphOwner::Unit, &mut load);
        black_box(found.is_ok());
    });
    vec![row("a graph of 1,000 nodes", seconds * 1e3, "ms", Some(5.0))]
}
