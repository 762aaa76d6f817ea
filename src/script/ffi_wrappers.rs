//! Fast forms of hot functions: generated Lua code that checks its arguments and calls Rust through
//! FFI. When a check fails, it calls the checked form, which reports the error. Also generates the
//! wrappers that build vectors from the numbers that checked forms return. Fast forms are installed
//! only while the JIT is on, because FFI is slower than Lua's C interface in the interpreter.

use super::context::{ARGUMENT_FLOATS, FLOATS_PER_ARGUMENT, RegisteredFunction};
use super::types::{ApiType, ValueShape, VectorType};
use engine_input::button_names::DeviceClass;
use std::fmt::Write;

/// Returns the Lua chunk that installs the forms of `registered`. The chunk is called with `core`,
/// a table of addresses by index, and the context's address. If `counted` is set, every fast call
/// is counted.
pub fn chunk(registered: &[RegisteredFunction], jit: bool, counted: bool) -> String {
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
    for kind in VectorType::ALL {
        let name = kind.name();
        writeln!(text, "local {name} = core.ctypes.{name}").expect("a string can be written to");
    }
    if jit {
        names(&mut text);
        text.push_str("local types = {}\n");
    }
    let mut signatures = Vec::new();
    for (index, row) in registered.iter().enumerate() {
        let returns =
            |has: fn(ValueShape) -> bool| row.func.returns.iter().any(|one| has(one.shape));
        if returns(|shape| matches!(shape, ValueShape::Value(_))) {
            wrapper(&mut text, row);
        }
        if returns(|shape| shape == ValueShape::Packed) {
            restoring(&mut text, row);
        }
        if jit && row.func.fast.is_some() {
            let signature = signature(row);
            let known = signatures.iter().position(|known| *known == signature);
            let kind = known.unwrap_or_else(|| {
                // LuaJIT needs time for each declaration, and most rows share a signature.
                writeln!(text, "types[{}] = ffi.typeof('{signature}')", signatures.len())
                    .expect("a string can be written to");
                signatures.push(signature);
                signatures.len() - 1
            });
            fast_form(&mut text, row, ChunkTables { index, kind }, counted);
        }
    }
    text
}

/// Returns the expression for the table of a module. The prelude's own table is no global.
fn module_table(module: &str) -> String {
    match module {
        "core" => module.to_string(),
        module => format!("core.module('{module}')"),
    }
}

/// Writes `local function name(...) return Vector3(slow(...)) end`. The last one of several
/// optional results is left out if it is nil, as the checked form does.
fn wrapper(text: &mut String, row: &RegisteredFunction) {
    let name = row.func.name;
    let (mut numbers, mut results) = (Vec::new(), Vec::new());
    for (i, result) in row.func.returns.iter().enumerate() {
        if let ValueShape::Value(kind) = result.shape {
            let parts: Vec<String> = (0..kind.count()).map(|part| format!("r{i}_{part}")).collect();
            let value = format!("{}({})", kind.name(), parts.join(", "));
            let nothing = format!("r{i}_0 and {value} or nil");
            results.push(if result.optional { nothing } else { value });
            numbers.extend(parts);
        } else {
            results.push(format!("r{i}"));
            numbers.push(format!("r{i}"));
        }
    }
    let mut shorter = String::new();
    if let [before @ .., last] = row.func.returns
        && !before.is_empty()
        && row.func.returns.iter().all(|one| one.optional)
    {
        let part = if matches!(last.shape, ValueShape::Value(_)) { "_0" } else { "" };
        let (at, before) = (before.len(), results[..before.len()].join(", "));
        shorter = format!("if r{at}{part} == nil then return {before} end ");
    }
    let (numbers, results) = (numbers.join(", "), results.join(", "));
    let module = module_table(row.module);
    write!(
        text,
        "do local M = {module}\n\
         local slow = M.{name}\n\
         M.{name} = function(...) local {numbers} = slow(...) {shorter}return {results} end end\n"
    )
    .expect("a string can be written to");
}

/// Writes `local function name(...) return core.restore(slow(...)) end`, for a row whose first
/// result is packed.
fn restoring(text: &mut String, row: &RegisteredFunction) {
    let (module, name) = (module_table(row.module), row.func.name);
    write!(
        text,
        "do local M, restore = {module}, core.restore\n\
         local slow = M.{name}\n\
         M.{name} = function(...) return restore(slow(...)) end end\n"
    )
    .expect("a string can be written to");
}

/// Returns the test, the call argument and the C type of one argument.
fn argument(name: &str, index: usize, kind: &ApiType) -> (String, String, &'static str) {
    let a = format!("{name}{index}");
    let (test, value, c) = match kind.shape {
        ValueShape::Number
        | ValueShape::Handle(_)
        | ValueShape::Button(_)
        | ValueShape::Axis(_) => (format!("type({a}) ~= 'number'"), a.clone(), "double"),
        ValueShape::Boolean => (format!("type({a}) ~= 'boolean'"), a.clone(), "bool"),
        ValueShape::Text => (format!("type({a}) ~= 'string'"), a.clone(), "const char *"),
        ValueShape::Value(kind) => {
            let passed = if kind.fields().is_empty() { a.clone() } else { format!("given{index}") };
            (format!("not istype({}, {a})", kind.name()), passed, "const void *")
        }
        ValueShape::Nothing | ValueShape::Packed | ValueShape::Unpacked | ValueShape::Boxed => {
            unreachable!("not an argument of a hot row")
        }
    };
    let zero = if c == "double" { "0" } else { "nil" };
    if kind.optional {
        let test = format!("{a} ~= nil and {test}");
        let value = match kind.shape {
            ValueShape::Value(_) => format!("{value}, {a} ~= nil and 1 or 0"),
            _ => format!("{a} or {zero}, {a} ~= nil and 1 or 0"),
        };
        return (test, value, c);
    }
    let extra = if kind.shape == ValueShape::Text { format!("#{a}") } else { "0".to_string() };
    (test, format!("{value}, {extra}"), c)
}

/// Returns the declaration of the buffer for the floats of argument `index`, and the statements
/// that fill it. A pointer to the value itself would cause an allocation of every vector. For a
/// matrix the pointer is passed, because its sixteen floats are seldom created for the call.
fn float_locals(index: usize, kind: &ApiType) -> Option<(String, String)> {
    let ValueShape::Value(floats) = kind.shape else { return None };
    if floats.fields().is_empty() {
        return None;
    }
    let offset = ARGUMENT_FLOATS + FLOATS_PER_ARGUMENT * index;
    let name = format!("given{index}");
    let puts: Vec<_> = floats.fields().iter().enumerate().collect();
    let puts: String = puts.iter().map(|(i, f)| format!("{name}[{i}] = a{index}.{f} ")).collect();
    let puts = match kind.optional {
        true => format!("if a{index} ~= nil then {puts}end\n"),
        false => format!("{puts}\n"),
    };
    Some((format!("local {name} = given + {offset}\n"), puts))
}

/// Returns the table that maps names to numbers for arguments of this shape.
fn table_of_names(shape: ValueShape) -> Option<String> {
    match shape {
        ValueShape::Button(class) => Some(format!("{}_buttons", class.name())),
        ValueShape::Axis(class) => Some(format!("{}_axes", class.name())),
        _ => None,
    }
}

/// Writes `names.keyboard_buttons = { ['a'] = 1, … }` for every class of devices.
fn names(text: &mut String) {
    text.push_str("local names = {}\n");
    for class in DeviceClass::ALL {
        for (shape, all) in
            [(ValueShape::Button(class), class.buttons()), (ValueShape::Axis(class), class.axes())]
        {
            let table = table_of_names(shape).expect("both have one");
            write!(text, "names.{table} = {{").expect("a string can be written to");
            for (at, name) in all.iter().enumerate() {
                for word in name.accepted_names() {
                    // For these names, Rust's escapes are the same as Lua's.
                    write!(text, "[{word:?}]={},", at + 1).expect("a string can be written to");
                }
            }
            text.push_str("}\n");
        }
    }
}

/// Returns the C type of a row's fast form: `double (*)(void *, double, uint32_t)`.
fn signature(row: &RegisteredFunction) -> String {
    let arguments = row.func.types.iter().enumerate().map(|(i, kind)| argument("a", i, kind));
    let taken: String = arguments.map(|(.., c)| format!(", {c}, uint32_t")).collect();
    let result = match row.func.returns.first().map(|result| result.shape) {
        None | Some(ValueShape::Value(_)) => "void",
        Some(ValueShape::Boolean) => "bool",
        Some(_) => "double",
    };
    format!("{result} (*)(void *{taken})")
}

/// Indices of a row in the chunk's tables.
struct ChunkTables {
    /// Index of the function's address and of its call count, from 0.
    index: usize,
    /// Index of the function's C type.
    kind: usize,
}

fn fast_form(text: &mut String, row: &RegisteredFunction, tables: ChunkTables, counted: bool) {
    let ChunkTables { index, kind } = tables;
    let name = row.func.name;
    let arguments: Vec<_> =
        row.func.types.iter().enumerate().map(|(i, kind)| argument("a", i, kind)).collect();
    let names: Vec<String> = (0..arguments.len()).map(|i| format!("a{i}")).collect();
    let with_rest = [&names[..], &["...".to_string()]].concat().join(", ");
    let mut tests: Vec<String> = arguments.iter().map(|(test, ..)| test.clone()).collect();
    tests.push("select('#', ...) ~= 0".to_string());
    let passed: String = arguments.iter().map(|(_, value, _)| format!(", {value}")).collect();
    let vector = |kind: VectorType| {
        let floats: Vec<_> = (0..kind.count()).map(|i| format!("scratch[{i}]")).collect();
        format!("{}({})", kind.name(), floats.join(", "))
    };
    let (keep, result) = match row.func.returns.first().map(|result| result.shape) {
        None => ("", String::new()),
        Some(ValueShape::Value(kind)) => ("", vector(kind)),
        Some(_) => ("local r = ", "r".to_string()),
    };
    let counting = match counted {
        true => format!("count[{index}] = count[{index}] + 1\n"),
        false => String::new(),
    };
    let module = module_table(row.module);
    // A name is replaced by its number. An unknown name is kept, and the checked form reports it.
    let (mut tables, mut lookups) = (String::new(), String::new());
    let mut puts = String::new();
    for (i, kind) in row.func.types.iter().enumerate() {
        if let Some((declaration, statements)) = float_locals(i, kind) {
            tables += &declaration;
            puts += &statements;
        }
        if let Some(table) = table_of_names(kind.shape) {
            tables += &format!("local names{i} = names.{table}\n");
            lookups +=
                &format!("if type(a{i}) == 'string' then a{i} = names{i}[a{i}] or a{i} end\n");
        }
    }
    write!(
        text,
        "do local M = {module}\n\
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
