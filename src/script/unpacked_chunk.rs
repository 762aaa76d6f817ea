//! Generates the Lua functions of unpacked rows (unpacked_row.rs): lua/gui/rows.lua. Each function
//! has up to two parts, which both call Rust through FFI and which the JIT compiles: the fast form
//! for the most common arguments, and below it a form for all legal ones. Only a wrong argument
//! leaves them; the function that finds it and raises the error is compiled then.
//!
//! The checks are written out for each function. LuaJIT would compile a loop over them as a trace
//! of its own, and a trace of the game that reaches the loop would end there and allocate the
//! vectors of the call.
//!
//! The file is part of the source tree, and not generated when a VM boots, because the start of a
//! game would then take a tenth longer. A test compares it with the rows.

use super::api_row::{FunctionRow, ModuleRows};
use super::unpacked_row::{LuaForm, UnpackedForm};
use std::ffi::CStr;
use std::fmt::Write;

/// Chunk name of the functions that find a wrong argument.
pub const CHECK_CHUNK: &CStr = c"=[engine] gui/rows";

/// Maximum number of characters in a line of the file.
const COLUMNS_MAX: usize = 100;

/// Returns the unpacked rows of these modules, with their modules.
pub fn rows(
    modules: &'static [&'static ModuleRows],
) -> impl Iterator<Item = (&'static str, &'static FunctionRow, &'static UnpackedForm)> {
    let rows = modules.iter().flat_map(|module| module.funcs.iter().map(|row| (module.name, row)));
    rows.filter_map(|(module, row)| Some((module, row, row.unpacked.as_ref()?)))
}

/// Locals that the forms of arguments and results name, for the file and for each check.
const LOCALS: &str = "\
local core = ...
local ffi, type, shared = core.ffi, type, core.drawing
local cast, istype, min = ffi.cast, ffi.istype, core.math.min
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color
local M, WHITE = core.ctypes.Matrix4x4, shared.white
local sources, fonts = shared.sources, shared.fonts
local source_of, font_of = shared.source_of, shared.font_of
local style_of, borders_of = shared.style_of, shared.borders_of
local take_points, points_buffer = shared.take_points, shared.points_buffer
local take_uvs, uvs_buffer = shared.take_uvs, shared.uvs_buffer
local take_colors, colors_buffer = shared.take_colors, shared.colors_buffer
local stroke_of, text_by_name = shared.stroke_of, shared.text_by_name
local flips, blends = shared.flips, shared.blends
local below_zero, raise_refusal = shared.below_zero, shared.raise_refusal
local raise_argument_error = shared.raise_argument_error
local num_arguments, refuse_extra = core.select, core.refuse_extra
";

/// Returns the text of lua/gui/rows.lua, which declares the functions of the unpacked rows.
pub fn file(modules: &'static [&'static ModuleRows]) -> String {
    let mut text = format!(
        "-- The functions of the unpacked rows (src/script/unpacked_row.rs). Do not edit: after a\n\
         -- change of a row, `ENGINE_ROWS_UPDATE=1 cargo test --test all -- reference` writes it.\n\
         {LOCALS}\
         local cx, scratch, types, addresses = core.unpacked_rows()\n\
         cx, scratch = cast('void *', cx), cast('const float *', scratch)\n\n",
    );
    for (index, (module, row, form)) in rows(modules).enumerate() {
        function(&mut text, module, row, (form, index + 1));
    }
    text
}

/// Returns the C type of a row's function.
pub fn c_type(form: &UnpackedForm) -> String {
    let scalars = form.c_types.iter().map(|c| format!(", {c}")).collect::<String>();
    format!("double (*)(void *{scalars})")
}

/// Returns the chunk that finds the wrong argument of a call and raises the error. It is called
/// with `core` and the arguments of the call.
pub fn check(module: &str, row: &FunctionRow, form: &UnpackedForm) -> String {
    let arguments = arguments(module, row, form);
    let variables = variables(&arguments);
    let mut text = format!("{LOCALS}local _, {variables} = ...\n");
    writeln!(text, "core.no_reload('{module}.{}')", row.name).expect("a string can be written to");
    for one in &arguments {
        let (legal, expected) = (one.fill(one.form.legal), one.form.expected);
        let (at, variable) = (&one.location, &one.variable);
        writeln!(
            text,
            "if not ({legal}) then core.bad_argument({at}, '{expected}', {variable}) end"
        )
        .expect("a string can be written to");
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

fn arguments<'a>(module: &str, row: &FunctionRow, form: &'a UnpackedForm) -> Vec<ArgumentText<'a>> {
    let of_row = form.arguments.iter().zip(row.params).enumerate();
    of_row
        .map(|(i, (form, (name, _)))| ArgumentText {
            form,
            variable: format!("a{}", i + 1),
            location: format!("'{module}.{}', {}, '{name}'", row.name, i + 1),
        })
        .collect()
}

fn variables(arguments: &[ArgumentText]) -> String {
    let names: Vec<&str> = arguments.iter().map(|one| one.variable.as_str()).collect();
    names.join(", ")
}

/// Writes the function of a row, whose address is at `index` of the list.
fn function(
    text: &mut String,
    module: &str,
    row: &FunctionRow,
    (form, index): (&UnpackedForm, usize),
) {
    let arguments = arguments(module, row, form);
    let variables = variables(&arguments);
    let all =
        |part: &dyn Fn(&ArgumentText) -> String| arguments.iter().map(part).collect::<String>();
    let conditions = |part: &dyn Fn(&LuaForm) -> &'static str| {
        let condition = |one: &ArgumentText| {
            let text = one.fill(part(one.form));
            if text.contains(" or ") { format!("({text})") } else { text }
        };
        arguments.iter().map(condition).collect::<Vec<_>>().join(" and ")
    };
    let result = form.result.replace('@', &format!("'{module}.{}'", row.name));
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
        true => format!("raise_argument_error({index}, {variables})\n"),
        false => format!(
            "{}if not ({}) then raise_argument_error({index}, {variables}) end\n\
             {}local r = native(cx{})\n{result}",
            form.named_form,
            conditions(&|form| form.legal),
            all(&|one| one.statement(one.form.convert)),
            all(&|one| one.values(one.form.values)),
        ),
    };
    let lines = format!(
        "do local functions = core.module('{module}')\n\
         local native = cast(types[{index}], addresses[{index}])\n\
         functions.{} = function({variables}, ...)\n\
         if num_arguments('#', ...) > 0 then\n\
         raise_argument_error({index}, {variables}) refuse_extra('{module}.{}', {}, ...) end\n\
         {}{fast}{general}end end\n",
        row.name,
        row.name,
        arguments.len(),
        all(&|one| one.statement(one.form.lookup)),
    );
    for line in lines.lines() {
        wrapped(text, line);
    }
}

/// Writes a line, broken at spaces where it is too long.
fn wrapped(text: &mut String, line: &str) {
    let mut rest = line;
    while rest.len() > COLUMNS_MAX {
        let at = rest[..=COLUMNS_MAX].rfind(' ').expect("no word is as long as a line");
        *text += &rest[..at];
        *text += "\n";
        rest = &rest[at + 1..];
    }
    *text += rest;
    *text += "\n";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::MODULES;

    #[test]
    fn all_functions_but_those_of_points_have_a_fast_form() {
        let general_only: Vec<&str> = rows(MODULES)
            .filter(|(_, _, form)| form.arguments.iter().any(|form| form.usual.is_empty()))
            .map(|(_, row, _)| row.name)
            .collect();
        let of_points = [
            "polyline",
            "update_polyline",
            "polygon",
            "update_polygon",
            "polygon_uv",
            "update_polygon_uv",
        ];
        assert_eq!(general_only, of_points);
    }

    #[test]
    fn long_lines_are_broken_at_spaces() {
        let mut text = String::new();
        wrapped(&mut text, &"seven77 ".repeat(15));
        let lengths: Vec<usize> = text.lines().map(str::len).collect();
        assert_eq!(lengths, [95, 24]);
    }
}
