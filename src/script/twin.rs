//! The fast forms of hot functions: Lua text that checks its arguments and calls through FFI, and
//! falls to the checked form (which words the error) when a check fails. Also the wrappers that
//! make vectors of the numbers that checked forms return. Installed only while the JIT is on, for
//! FFI is slower than Lua's C interface in the interpreter.

use super::cx::Registered;
use super::types::{Floats, Shape, Type};
use std::fmt::Write;

/// The Lua chunk that installs the forms of `registered`. It is called with `core`, a table of
/// addresses by index, and the context's address; `counted` has every fast call counted.
pub fn chunk(registered: &[Registered], jit: bool, counted: bool) -> String {
    let mut text = String::from(
        "local core, addresses, cx_address, scratch_address, fault_address, count_address = ...\n\
         local ffi, type, select = core.ffi, type, select\n\
         local cast, istype = ffi.cast, ffi.istype\n\
         local cx = cast('void *', cx_address)\n\
         local scratch = cast('const float *', scratch_address)\n\
         local fault = cast('const uint32_t *', fault_address)\n\
         local count = cast('double *', count_address)\n\
         ",
    );
    for kind in Floats::ALL {
        let name = kind.name();
        writeln!(text, "local {name} = core.ctypes.{name}").expect("a string can be written to");
    }
    for (index, row) in registered.iter().enumerate() {
        let returns = |has: fn(Shape) -> bool| row.func.returns.iter().any(|one| has(one.shape));
        if returns(|shape| matches!(shape, Shape::Value(_))) {
            wrapper(&mut text, row);
        }
        if returns(|shape| shape == Shape::Packed) {
            restoring(&mut text, row);
        }
        if jit && row.func.fast.is_some() {
            twin(&mut text, row, index, counted);
        }
    }
    text
}

/// `local function name(...) return Vector3(slow(...)) end`
fn wrapper(text: &mut String, row: &Registered) {
    let name = row.func.name;
    let (mut numbers, mut results) = (Vec::new(), Vec::new());
    for (i, result) in row.func.returns.iter().enumerate() {
        if let Shape::Value(kind) = result.shape {
            let parts: Vec<String> = (0..kind.count()).map(|part| format!("r{i}_{part}")).collect();
            let made = format!("{}({})", kind.name(), parts.join(", "));
            let nothing = format!("r{i}_0 and {made} or nil");
            results.push(if result.optional { nothing } else { made });
            numbers.extend(parts);
        } else {
            results.push(format!("r{i}"));
            numbers.push(format!("r{i}"));
        }
    }
    let (numbers, results) = (numbers.join(", "), results.join(", "));
    let module = row.module;
    write!(
        text,
        "do local M = core.module('{module}')\n\
         local slow = M.{name}\n\
         M.{name} = function(...) local {numbers} = slow(...) return {results} end end\n"
    )
    .expect("a string can be written to");
}

/// `local function name(...) return core.restore(slow(...)) end`, for a row whose first result is
/// packed.
fn restoring(text: &mut String, row: &Registered) {
    let (module, name) = (row.module, row.func.name);
    write!(
        text,
        "do local M, restore = core.module('{module}'), core.restore\n\
         local slow = M.{name}\n\
         M.{name} = function(...) return restore(slow(...)) end end\n"
    )
    .expect("a string can be written to");
}

/// What stands in the test, the call, and the C type, for one argument.
fn argument(name: &str, index: usize, kind: &Type) -> (String, String, &'static str) {
    let a = format!("{name}{index}");
    let (test, value, c) = match kind.shape {
        Shape::Number | Shape::Handle(_) => (format!("type({a}) ~= 'number'"), a.clone(), "double"),
        Shape::Boolean => (format!("type({a}) ~= 'boolean'"), a.clone(), "bool"),
        Shape::Text => (format!("type({a}) ~= 'string'"), a.clone(), "const char *"),
        Shape::Value(kind) => {
            (format!("not istype({}, {a})", kind.name()), a.clone(), "const void *")
        }
        Shape::Nothing | Shape::Packed | Shape::Boxed => {
            unreachable!("not an argument of a hot row")
        }
    };
    let zero = if c == "double" { "0" } else { "nil" };
    if kind.optional {
        let test = format!("{a} ~= nil and {test}");
        let value = format!("{a} or {zero}, {a} ~= nil and 1 or 0");
        return (test, value, c);
    }
    let extra = if kind.shape == Shape::Text { format!("#{a}") } else { "0".to_string() };
    (test, format!("{value}, {extra}"), c)
}

fn twin(text: &mut String, row: &Registered, index: usize, counted: bool) {
    let name = row.func.name;
    let arguments: Vec<_> =
        row.func.types.iter().enumerate().map(|(i, kind)| argument("a", i, kind)).collect();
    let names: Vec<String> = (0..arguments.len()).map(|i| format!("a{i}")).collect();
    let with_rest = [&names[..], &["...".to_string()]].concat().join(", ");
    let mut tests: Vec<String> = arguments.iter().map(|(test, ..)| test.clone()).collect();
    tests.push("select('#', ...) ~= 0".to_string());
    let passed: String = arguments.iter().map(|(_, value, _)| format!(", {value}")).collect();
    let taken: String = arguments.iter().map(|(.., c)| format!(", {c}, uint32_t")).collect();
    let made = |kind: Floats| {
        let floats: Vec<_> = (0..kind.count()).map(|i| format!("scratch[{i}]")).collect();
        format!("{}({})", kind.name(), floats.join(", "))
    };
    let (c, result) = match row.func.returns.first().map(|result| result.shape) {
        None => ("void", String::new()),
        Some(Shape::Boolean) => ("bool", "r".to_string()),
        Some(Shape::Value(kind)) => ("void", made(kind)),
        Some(_) => ("double", "r".to_string()),
    };
    let keep = if c == "void" { "" } else { "local r = " };
    let counting = match counted {
        true => format!("count[{index}] = count[{index}] + 1\n"),
        false => String::new(),
    };
    let module = row.module;
    write!(
        text,
        "do local M = core.module('{module}')\n\
         local slow = M.{name}\n\
         local fast = cast('{c} (*)(void *{taken})', addresses[{slot}])\n\
         M.{name} = function({with_rest})\n\
         if {tests} then return slow({with_rest}) end\n\
         {counting}\
         {keep}fast(cx{passed})\n\
         if fault[0] ~= 0 then return slow({names}) end\n\
         return {result} end end\n",
        slot = index + 1,
        tests = tests.join(" or "),
        names = names.join(", "),
    )
    .expect("a string can be written to");
}
