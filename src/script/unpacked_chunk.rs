//! Generates the Lua functions of unpacked rows (unpacked_row.rs). Each function has up to two
//! parts, which both call Rust through FFI and which the JIT compiles: the fast form for the most
//! common arguments, and below it a form for all legal ones. Only a wrong argument leaves them.
//!
//! The checks are written out for each function. LuaJIT would compile a loop over them as a trace
//! of its own, and a trace of the game that reaches the loop would end there and allocate the
//! vectors of the call.

use super::api_row::{FunctionRow, ModuleRows};
use super::unpacked_row::{LuaForm, UnpackedForm};
use std::fmt::Write;

/// Name of the generated chunk.
pub const CHUNK: &str = "=[engine] gui/rows";

/// Returns the unpacked rows of these modules, with their modules.
pub fn rows(
    modules: &'static [&'static ModuleRows],
) -> impl Iterator<Item = (&'static str, &'static FunctionRow, &'static UnpackedForm)> {
    let rows = modules.iter().flat_map(|module| module.funcs.iter().map(|row| (module.name, row)));
    rows.filter_map(|(module, row)| Some((module, row, row.unpacked.as_ref()?)))
}

/// Returns the Lua chunk that declares the functions of the unpacked rows. It is called with
/// `core`, the values and functions that the forms of arguments name (lua/gui/drawing.lua), the
/// addresses of the context and of its scratch array, and a list of the addresses of the functions.
pub fn chunk(modules: &'static [&'static ModuleRows]) -> String {
    let mut text = String::from(
        "local core, shared, cx_address, scratch_address, addresses = ...\n\
         local ffi, type = core.ffi, type\n\
         local cast, istype, min = ffi.cast, ffi.istype, core.math.min\n\
         local cx = cast('void *', cx_address)\n\
         local scratch = cast('const float *', scratch_address)\n\
         local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color\n\
         local M, WHITE = core.ctypes.Matrix4x4, shared.white\n\
         local no_reload, bad_argument = core.no_reload, core.bad_argument\n\
         local sources, fonts, refused = shared.sources, shared.fonts, shared.refused\n\
         local source_of, font_of = shared.source_of, shared.font_of\n\
         local style_of, borders_of = shared.style_of, shared.borders_of\n\
         local take_points, points_buffer = shared.take_points, shared.points_buffer\n\
         local below_zero = shared.below_zero\n",
    );
    for (index, (module, row, form)) in rows(modules).enumerate() {
        function(&mut text, module, row, (form, index + 1));
    }
    text
}

/// The texts of one argument's form in one function.
struct ArgumentText<'a> {
    form: &'a LuaForm,
    /// The argument's variable.
    variable: String,
    /// The name of the function, the index and the name of the argument, for messages.
    location: String,
}

impl ArgumentText<'_> {
    fn fill(&self, template: &str) -> String {
        template.replace('$', &self.variable).replace('@', &self.location)
    }

    /// Returns a statement in its own line, or nothing.
    fn statement(&self, template: &str) -> String {
        if template.is_empty() { String::new() } else { self.fill(template) + "\n" }
    }

    fn values(&self, templates: &[&str]) -> String {
        templates.iter().map(|template| format!(", {}", self.fill(template))).collect()
    }
}

/// Writes the function of a row, whose address is at `index` of the list.
fn function(
    text: &mut String,
    module: &str,
    row: &FunctionRow,
    (form, index): (&UnpackedForm, usize),
) {
    let path = format!("'{module}.{}'", row.name);
    let arguments: Vec<ArgumentText> = form
        .arguments
        .iter()
        .zip(row.params)
        .enumerate()
        .map(|(i, (form, (name, _)))| {
            let (variable, location) =
                (format!("a{}", i + 1), format!("{path}, {}, '{name}'", i + 1));
            ArgumentText { form, variable, location }
        })
        .collect();
    let all =
        |part: &dyn Fn(&ArgumentText) -> String| arguments.iter().map(part).collect::<String>();
    let conditions = |part: &dyn Fn(&LuaForm) -> &'static str| {
        let each = arguments.iter().map(|one| format!("({})", one.fill(part(one.form))));
        each.collect::<Vec<_>>().join(" and ")
    };
    let variables: Vec<&str> = arguments.iter().map(|one| one.variable.as_str()).collect();
    let variables = variables.join(", ");
    let result = form.result.replace('@', &path);
    let tests = all(&|one| {
        let (legal, expected) = (one.fill(one.form.legal), one.form.expected);
        let (at, variable) = (&one.location, &one.variable);
        format!("if not ({legal}) then bad_argument({at}, '{expected}', {variable}) end\n")
    });
    let has_usual = form.arguments.iter().all(|form| !form.usual.is_empty());
    let fast = match has_usual {
        true => format!(
            "if {} then\nlocal r = native(cx{})\n{result}end\n",
            conditions(&|form| form.usual),
            all(&|one| one.values(one.form.usual_values)),
        ),
        false => String::new(),
    };
    // A fast form for all legal values needs no other form below it.
    let covered = form.arguments.iter().all(|form| form.usual == form.legal);
    let general = match covered {
        true => format!("refuse({variables})\n"),
        false => format!(
            "if not ({}) then refuse({variables}) end\n{}local r = native(cx{})\n{result}",
            conditions(&|form| form.legal),
            all(&|one| one.statement(one.form.convert)),
            all(&|one| one.values(one.form.values)),
        ),
    };
    write!(
        text,
        "do local functions = core.module('{module}')\n\
         local native = cast('double (*)(void *{c_types})', addresses[{index}])\n\
         local function refuse({variables})\n\
         no_reload({path})\n\
         {tests}\
         end\n\
         functions.{name} = function({variables})\n\
         {lookups}{fast}{general}end end\n",
        c_types = form.c_types.iter().map(|c| format!(", {c}")).collect::<String>(),
        name = row.name,
        lookups = all(&|one| one.statement(one.form.lookup)),
    )
    .expect("a string can be written to");
}
