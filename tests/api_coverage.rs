//! Checks that a Lua suite calls every API function: in its checked form, in its fast form if it
//! has one, and with an error if it takes arguments.

use engine::foundation::sjson::{self, SjsonTree};
use std::process::Command;

/// Functions that accept any value and so cannot raise an error.
const TAKES_ANYTHING: [&str; 2] = ["Script.type_name", "class.of"];

struct Function {
    name: String,
    row: bool,
    hot: bool,
    parameters: f64,
    calls: f64,
    fast_calls: f64,
    errors: f64,
}

fn field<'a>(tree: &'a SjsonTree, name: &str) -> &'a SjsonTree {
    let SjsonTree::Object(entries) = tree else { panic!("no object: {tree:?}") };
    let found = entries.iter().find(|(key, _)| key == name);
    &found.unwrap_or_else(|| panic!("no field '{name}' in {tree:?}")).1
}

fn function(tree: &SjsonTree) -> Function {
    let text = |name: &str| match field(tree, name) {
        SjsonTree::String(text) => text.clone(),
        other => panic!("'{name}' is {other:?}"),
    };
    let number = |name: &str| match field(tree, name) {
        SjsonTree::Number(number) => *number,
        other => panic!("'{name}' is {other:?}"),
    };
    Function {
        name: text("name"),
        row: text("kind") == "row",
        hot: *field(tree, "hot") == SjsonTree::Bool(true),
        parameters: number("parameters"),
        calls: number("calls"),
        fast_calls: number("fast_calls"),
        errors: number("errors"),
    }
}

fn functions() -> Vec<Function> {
    let file = std::env::temp_dir().join(format!("engine-coverage-{}.json", std::process::id()));
    let suites = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lua");
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["test", suites, "--api-coverage"])
        .arg(&file)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{out}");
    let text = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let tree = sjson::parse_bytes(&text).unwrap().to_tree();
    let SjsonTree::Array(functions) = field(&tree, "functions") else {
        panic!("no list: {tree:?}")
    };
    functions.iter().map(function).collect()
}

/// Returns the names of the functions for which `missing` is true.
fn names(all: &[Function], missing: impl Fn(&Function) -> bool) -> Vec<&str> {
    all.iter().filter(|f| missing(f)).map(|f| f.name.as_str()).collect()
}

#[test]
fn every_function_is_covered_by_a_suite() {
    let all = functions();
    // The functions of unpacked rows are Lua functions when calls are counted.
    let rows = engine::script::api::MODULES.iter().flat_map(|module| module.funcs);
    let rows = rows.filter(|row| row.unpacked.is_none()).count();
    assert_eq!(all.iter().filter(|f| f.row).count(), rows, "rows and figures are not the same");
    let none: Vec<&str> = Vec::new();
    let never_called = names(&all, |f| f.calls + f.fast_calls == 0.0);
    assert_eq!(never_called, none, "no suite in tests/lua calls these");
    let slow_only = names(&all, |f| f.hot && f.fast_calls == 0.0);
    assert_eq!(slow_only, none, "no suite calls the fast form of these");
    let never_raised = names(&all, |f| f.parameters > 0.0 && f.errors == 0.0);
    assert_eq!(never_raised, TAKES_ANYTHING, "no suite has these raise an error");
}
