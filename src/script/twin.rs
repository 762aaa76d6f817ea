//! The fast forms of hot functions: Lua text that checks its arguments and calls through FFI, and
//! falls to the checked form (which words the error) when a check fails. Also the wrappers that
//! make vectors of the numbers that checked forms return. Installed only while the JIT is on, for
//! FFI is slower than Lua's C interface in the interpreter.

use super::cx::{GIVEN, GIVEN_FLOATS, Registered};
use super::types::{Floats, Shape, Type};
use crate::system::input::names::Class;
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
         local given = cast('float *', scratch_address)\n\
         local fault = cast('const uint32_t *', fault_address)\n\
         local count = cast('double *', count_address)\n\
         ",
    );
    for kind in Floats::ALL {
        let name = kind.name();
        writeln!(text, "local {name} = core.ctypes.{name}").expect("a string can be written to");
    }
    if jit {
        names(&mut text);
        text.push_str("local types = {}\n");
    }
    let mut signatures = Vec::new();
    for (index, row) in registered.iter().enumerate() {
        let returns = |has: fn(Shape) -> bool| row.func.returns.iter().any(|one| has(one.shape));
        if returns(|shape| matches!(shape, Shape::Value(_))) {
            wrapper(&mut text, row);
        }
        if returns(|shape| shape == Shape::Packed) {
            restoring(&mut text, row);
        }
        if jit && row.func.fast.is_some() {
            let signature = signature(row);
            let known = signatures.iter().position(|known| *known == signature);
            let kind = known.unwrap_or_else(|| {
                // LuaJIT takes its time over a declaration, and most rows share theirs.
                writeln!(text, "types[{}] = ffi.typeof('{signature}')", signatures.len())
                    .expect("a string can be written to");
                signatures.push(signature);
                signatures.len() - 1
            });
            twin(&mut text, row, Places { index, kind }, counted);
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
        Shape::Number | Shape::Handle(_) | Shape::Button(_) | Shape::Axis(_) => {
            (format!("type({a}) ~= 'number'"), a.clone(), "double")
        }
        Shape::Boolean => (format!("type({a}) ~= 'boolean'"), a.clone(), "bool"),
        Shape::Text => (format!("type({a}) ~= 'string'"), a.clone(), "const char *"),
        Shape::Value(kind) => {
            let passed = if kind.fields().is_empty() { a.clone() } else { format!("given{index}") };
            (format!("not istype({}, {a})", kind.name()), passed, "const void *")
        }
        Shape::Nothing | Shape::Packed | Shape::Boxed => {
            unreachable!("not an argument of a hot row")
        }
    };
    let zero = if c == "double" { "0" } else { "nil" };
    if kind.optional {
        let test = format!("{a} ~= nil and {test}");
        let value = match kind.shape {
            Shape::Value(_) => format!("{value}, {a} ~= nil and 1 or 0"),
            _ => format!("{a} or {zero}, {a} ~= nil and 1 or 0"),
        };
        return (test, value, c);
    }
    let extra = if kind.shape == Shape::Text { format!("#{a}") } else { "0".to_string() };
    (test, format!("{value}, {extra}"), c)
}

/// Where the floats of argument `index` are handed over, and the statements that put them there. A
/// pointer to the value itself would have every vector allocated; that of a matrix is passed, for
/// its sixteen floats are seldom made for the call.
fn given(index: usize, kind: &Type) -> Option<(String, String)> {
    let Shape::Value(floats) = kind.shape else { return None };
    if floats.fields().is_empty() {
        return None;
    }
    let place = GIVEN + GIVEN_FLOATS * index;
    let name = format!("given{index}");
    let puts: Vec<_> = floats.fields().iter().enumerate().collect();
    let puts: String = puts.iter().map(|(i, f)| format!("{name}[{i}] = a{index}.{f} ")).collect();
    let puts = match kind.optional {
        true => format!("if a{index} ~= nil then {puts}end\n"),
        false => format!("{puts}\n"),
    };
    Some((format!("local {name} = given + {place}\n"), puts))
}

/// The table of names that stands for numbers where an argument has this shape.
fn table_of_names(shape: Shape) -> Option<String> {
    match shape {
        Shape::Button(class) => Some(format!("{}_buttons", class.name())),
        Shape::Axis(class) => Some(format!("{}_axes", class.name())),
        _ => None,
    }
}

/// `names.keyboard_buttons = { ['a'] = 1, … }` for every class of devices.
fn names(text: &mut String) {
    text.push_str("local names = {}\n");
    for class in Class::ALL {
        for (shape, all) in
            [(Shape::Button(class), class.buttons()), (Shape::Axis(class), class.axes())]
        {
            let table = table_of_names(shape).expect("both have one");
            write!(text, "names.{table} = {{").expect("a string can be written to");
            for (at, name) in all.iter().enumerate() {
                for word in name.words() {
                    // Rust's escapes are Lua's for the words that there are.
                    write!(text, "[{word:?}]={},", at + 1).expect("a string can be written to");
                }
            }
            text.push_str("}\n");
        }
    }
}

/// The C type of a row's fast form: `double (*)(void *, double, uint32_t)`.
fn signature(row: &Registered) -> String {
    let arguments = row.func.types.iter().enumerate().map(|(i, kind)| argument("a", i, kind));
    let taken: String = arguments.map(|(.., c)| format!(", {c}, uint32_t")).collect();
    let result = match row.func.returns.first().map(|result| result.shape) {
        None | Some(Shape::Value(_)) => "void",
        Some(Shape::Boolean) => "bool",
        Some(_) => "double",
    };
    format!("{result} (*)(void *{taken})")
}

/// Where things of a row are in the chunk's tables.
struct Places {
    /// Its address, counted from 0, and its count.
    index: usize,
    /// Its C type.
    kind: usize,
}

fn twin(text: &mut String, row: &Registered, places: Places, counted: bool) {
    let Places { index, kind } = places;
    let name = row.func.name;
    let arguments: Vec<_> =
        row.func.types.iter().enumerate().map(|(i, kind)| argument("a", i, kind)).collect();
    let names: Vec<String> = (0..arguments.len()).map(|i| format!("a{i}")).collect();
    let with_rest = [&names[..], &["...".to_string()]].concat().join(", ");
    let mut tests: Vec<String> = arguments.iter().map(|(test, ..)| test.clone()).collect();
    tests.push("select('#', ...) ~= 0".to_string());
    let passed: String = arguments.iter().map(|(_, value, _)| format!(", {value}")).collect();
    let made = |kind: Floats| {
        let floats: Vec<_> = (0..kind.count()).map(|i| format!("scratch[{i}]")).collect();
        format!("{}({})", kind.name(), floats.join(", "))
    };
    let (keep, result) = match row.func.returns.first().map(|result| result.shape) {
        None => ("", String::new()),
        Some(Shape::Value(kind)) => ("", made(kind)),
        Some(_) => ("local r = ", "r".to_string()),
    };
    let counting = match counted {
        true => format!("count[{index}] = count[{index}] + 1\n"),
        false => String::new(),
    };
    let module = row.module;
    // A name becomes its number; one that is not known stays, and the checked form says so.
    let (mut tables, mut lookups) = (String::new(), String::new());
    let mut puts = String::new();
    for (i, kind) in row.func.types.iter().enumerate() {
        if let Some((place, put)) = given(i, kind) {
            tables += &place;
            puts += &put;
        }
        if let Some(table) = table_of_names(kind.shape) {
            tables += &format!("local names{i} = names.{table}\n");
            lookups +=
                &format!("if type(a{i}) == 'string' then a{i} = names{i}[a{i}] or a{i} end\n");
        }
    }
    write!(
        text,
        "do local M = core.module('{module}')\n\
         local slow = M.{name}\n\
         {tables}\
         local fast = cast(types[{kind}], addresses[{slot}])\n\
         M.{name} = function({with_rest})\n\
         {lookups}\
         if {tests} then return slow({with_rest}) end\n\
         {counting}\
         {puts}\
         {keep}fast(cx{passed})\n\
         if fault[0] ~= 0 then return slow({names}) end\n\
         return {result} end end\n",
        slot = index + 1,
        tests = tests.join(" or "),
        names = names.join(", "),
    )
    .expect("a string can be written to");
}
