//! The API as definition files for editors, in the annotations of LuaCATS (lua-language-server and
//! others read them). One file for each module; nothing in them runs in a game.
//!
//! A handle is a number when the game runs. To editors each kind is a class of its own, made of
//! `integer`: a vector, or a handle of another kind, is marked as wrong, while a handle may still
//! stand where any number may (`World.alive`, a `%d`). An alias of `integer` would let all of that
//! pass.
//!
//! Where a type's values have no methods (`v:length()` does not work), the type and the table of
//! its functions are two classes, so that editors offer only what works.

use super::File;
use super::model::{Api, ClassDoc, FunctionDoc, ModuleDoc};
use super::standard::LIBRARIES;

/// The definitions, by file name.
pub fn files(api: &Api) -> Vec<File> {
    let mut files: Vec<File> = api.modules.iter().map(module_file).collect();
    files.push(file("globals", "Functions that stand in no module.", &api.globals));
    files.push(file("callbacks", "What a game may define, and the engine calls.", &api.callbacks));
    files.push(library_file());
    files.push(File { name: "tests.lua".to_string(), text: SUITES.1.to_string() });
    files
}

fn head(words: &str) -> String {
    format!("---@meta\n-- {words} Made by the engine: `engine docs --luacats`.\n")
}

fn file(name: &str, words: &str, functions: &[FunctionDoc]) -> File {
    let mut text = head(words);
    for item in functions {
        function(&mut text, item);
    }
    File { name: format!("{name}.lua"), text }
}

fn module_file(module: &ModuleDoc) -> File {
    let name = &module.name;
    let mut text = head(&format!("{name}."));
    let split = module.handle || module.class.exact;
    if module.handle {
        text +=
            &format!("\n---A handle. A number when the game runs.\n---@class {name}: integer\n");
    } else if split {
        text += &format!("\n---@class (exact) {name}\n");
        members(&mut text, &module.class);
    }
    text.push('\n');
    comment(&mut text, &module.doc);
    let table = if split { format!("{name}.Module") } else { name.clone() };
    text += &format!("---@class {table}\n");
    if !split {
        members(&mut text, &module.class);
    }
    for call in &module.class.calls {
        text += &format!("---@overload {call}\n");
    }
    text += &format!("{name} = {{}}\n");
    for item in &module.functions {
        function(&mut text, item);
    }
    File { name: format!("{name}.lua"), text }
}

fn members(text: &mut String, class: &ClassDoc) {
    for field in &class.fields {
        *text += &format!("---@field {} {} {}\n", field.name, field.kind, field.doc);
    }
    for operator in &class.operators {
        *text += &format!("---@operator {operator}\n");
    }
}

fn comment(text: &mut String, words: &str) {
    for line in words.lines() {
        *text += &format!("---{line}\n");
    }
}

fn function(text: &mut String, function: &FunctionDoc) {
    text.push('\n');
    comment(text, &function.doc);
    for param in &function.params {
        let mark = if param.optional { "?" } else { "" };
        *text += &format!("---@param {}{mark} {} {}\n", param.name, param.kind, param.doc);
    }
    for result in &function.returns {
        let rest = if result.rest { " ..." } else { "" };
        let doc = if result.doc.is_empty() { String::new() } else { format!(" # {}", result.doc) };
        *text += &format!("---@return {}{rest}{doc}\n", result.kind);
    }
    let names: Vec<&str> = function.params.iter().map(|param| param.name.as_str()).collect();
    *text += &format!("function {}({}) end\n", function.path(), names.join(", "));
}

/// The words of test suites, written down by hand, for the test library makes them as it runs.
pub const SUITES: (&str, &str) =
    ("lua/test/definitions.lua", include_str!("../../../lua/test/definitions.lua"));

/// `require`, and the parts of `os`, `debug` and `package` that games have. A game's settings for
/// editors switch off the editor's own definitions of these, which have the rest as well.
const LIBRARY: &str = "
---{.require}
---@param name string the module, with dots between folders
---@return any # what its file returned
function require(name) end

---@class os
os = {}

---{os.clock}
---@return number # seconds
function os.clock() end

---{os.date}
---@param format? string what to write, as in C's strftime; `*t` gives a table
---@param time? integer seconds, as from `os.time`; now, if left out
---@return string|table # the date
function os.date(format, time) end

---Seconds from one time to another.
---@param later integer as from `os.time`
---@param earlier integer as from `os.time`
---@return number # seconds
function os.difftime(later, earlier) end

---{os.time}
---@param date? table year, month, day, and hour, min, sec; now, if left out
---@return integer # seconds since 1970
function os.time(date) end

---@class debug
debug = {}

---The functions that are running, as text. See `Script.callstack`, too.
---@param message? string stands before it
---@param level? integer where it begins
---@return string # lines
function debug.traceback(message, level) end

---@class package
---@field loaded table<string, any> what modules returned, by name
---@field preload table<string, function> functions that make a module, by name
---@field path string {package.path}
---@field config string separators
package = {}
";

fn library_file() -> File {
    let mut text = LIBRARY.to_string();
    for library in LIBRARIES {
        for (name, words) in library.differs {
            text = text.replace(&format!("{{{}.{name}}}", library.name), words);
        }
    }
    let words = "What games have of Lua's require, os, debug and package.";
    File { name: "library.lua".to_string(), text: head(words) + &text }
}
