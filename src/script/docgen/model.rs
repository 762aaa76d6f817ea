//! The documentation model: the whole API as one list, combined from the rows (api/) and the
//! prelude's comments (docgen/luacats_reader.rs). The emitters in this folder only format it.

use super::luacats;
use super::luacats_reader::{self, DocBlock};
use crate::api_row::{FunctionRow, ModuleRows, NodeFlag};
use crate::callbacks::{CALLBACKS, Callback};
use crate::types::ApiType;
use crate::{api, prelude};
use engine_foundation::HandleKind;
use engine_foundation::compact_sort::CompactSort;
use std::collections::HashMap;

/// All functions that a game can call, and all functions of a game that the engine calls.
pub struct ApiModel {
    /// Modules, sorted by name.
    pub modules: Vec<ModuleDoc>,
    /// Global functions outside of modules, in the order of the prelude.
    pub globals: Vec<FunctionDoc>,
    /// Functions that a game may define and the engine calls.
    pub callbacks: Vec<FunctionDoc>,
    /// The functions of test suites, in the order of their definitions.
    pub testing: Vec<FunctionDoc>,
    /// Errors in the comments of the prelude, as `lua/time/timer.lua:12: message`. Empty except in
    /// the middle of an edit; a test checks this.
    pub problems: Vec<String>,
}

/// A global table of functions.
#[derive(Default)]
pub struct ModuleDoc {
    pub name: String,
    /// Documentation lines. The first sentence can be used alone.
    pub doc: String,
    /// Lua code that runs without changes.
    pub example: String,
    pub class: ClassDoc,
    /// True if the name is also the name of a handle kind.
    pub handle: bool,
    /// Functions, sorted by name.
    pub functions: Vec<FunctionDoc>,
}

/// The members of a value of the module's type, or of the module itself if there is no such type.
#[derive(Default, Clone)]
pub struct ClassDoc {
    /// True if the type has only fields and operators: `v:length()` does not work.
    pub exact: bool,
    pub fields: Vec<FieldDoc>,
    /// Operators in LuaCATS notation: `add(Vector3): Vector3`.
    pub operators: Vec<String>,
    /// Signatures of calls of the module itself: `fun(x?: number): Vector3`.
    pub calls: Vec<String>,
}

/// A field of a value or of a module.
#[derive(Clone)]
pub struct FieldDoc {
    pub name: String,
    pub kind: String,
    pub doc: String,
}

/// One function.
#[derive(Clone)]
pub struct FunctionDoc {
    /// Name of the module; empty for a global function.
    pub module: String,
    pub name: String,
    /// Documentation lines. For a Rust row they also describe the results.
    pub doc: String,
    pub params: Vec<ParamDoc>,
    pub returns: Vec<ReturnDoc>,
    /// True if compiled Lua calls the function directly.
    pub hot: bool,
    /// Role in graphs of visual scripting.
    pub node: NodeFlag,
    pub source: FunctionSource,
    /// Parameter names of a Lua function, as written in its file.
    pub declared: Vec<String>,
}

/// Location of a function's implementation.
#[derive(Clone, PartialEq, Debug)]
pub enum FunctionSource {
    Rust,
    /// The prelude's file and the line of the function.
    Lua(String, usize),
    /// Declared for documentation only: a game or the test library implements it.
    Declared,
}

/// One parameter. The name of the rest parameter is `...`.
#[derive(Clone)]
pub struct ParamDoc {
    pub name: String,
    pub kind: String,
    pub optional: bool,
    pub doc: String,
}

/// One result.
#[derive(Clone)]
pub struct ReturnDoc {
    /// Name of the result; empty if it has none.
    pub name: String,
    pub kind: String,
    /// True if it represents any number of results.
    pub rest: bool,
    pub doc: String,
}

impl ReturnDoc {
    /// Creates a result from its description, which begins with the name: `width in texels`.
    pub fn of(kind: String, is_rest: bool, text: &str) -> ReturnDoc {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (name, rest) = text.split_at(end.unwrap_or(text.len()));
        let is_word = name.starts_with(|c: char| c.is_ascii_lowercase());
        // `yaw, from -pi to pi` has a name; `value, or nil` and `x, y and z` have none.
        let is_named = match rest.strip_prefix(", ") {
            Some(rest) => {
                let is_range = rest.starts_with(|c: char| c.is_ascii_digit());
                is_range || rest.starts_with("from ") || rest.starts_with("not ")
            }
            None => rest.is_empty() || rest.starts_with(' '),
        };
        let is_phrase = !rest.is_empty() && NO_NAMES.contains(&name);
        let (name, doc) = match is_word && is_named && !is_phrase {
            true => (name, rest.trim_start_matches([',', ' '])),
            false => ("", text),
        };
        ReturnDoc { name: name.to_string(), kind, rest: is_rest, doc: doc.to_string() }
    }
}

/// First words of descriptions without a name.
const NO_NAMES: [&str; 11] =
    ["true", "false", "nil", "the", "a", "an", "its", "one", "for", "also", "from"];

impl FunctionDoc {
    /// Returns the function's name as it is written in code: `Vector3.length`, `wait`.
    pub fn path(&self) -> String {
        match self.module.is_empty() {
            true => self.name.clone(),
            false => format!("{}.{}", self.module, self.name),
        }
    }

    /// Returns the signature: `Math.random(min?: integer, max?: integer): number`.
    pub fn signature(&self) -> String {
        let param = |param: &ParamDoc| {
            let mark = if param.optional { "?" } else { "" };
            format!("{}{mark}: {}", param.name, param.kind)
        };
        let result = |result: &ReturnDoc| {
            let rest = if result.rest { "..." } else { "" };
            format!("{}{rest}", result.kind)
        };
        let params: Vec<String> = self.params.iter().map(param).collect();
        let returns: Vec<String> = self.returns.iter().map(result).collect();
        let colon = if returns.is_empty() { "" } else { ": " };
        format!("{}({}){colon}{}", self.path(), params.join(", "), returns.join(", "))
    }
}

impl ModuleDoc {
    /// Returns true if the module's name is also a type that values can have.
    pub fn is_type(&self) -> bool {
        let makes_itself =
            |call: &String| call.rsplit(": ").next().is_some_and(|result| result == self.name);
        self.handle || self.class.exact || self.class.calls.iter().any(makes_itself)
    }
}

impl ApiModel {
    /// Builds the model from the rows and the prelude.
    pub fn new() -> ApiModel {
        let mut api = ApiModel {
            modules: Vec::new(),
            globals: Vec::new(),
            callbacks: CALLBACKS.iter().map(Callback::doc).collect(),
            testing: Vec::new(),
            problems: Vec::new(),
        };
        for module in api::MODULES {
            let rows = module_doc(module);
            let known = api.module(module.name);
            known.functions.extend(rows.functions);
            join(&mut known.doc, &rows.doc, "\n");
            join(&mut known.example, &rows.example, "\n\n");
        }
        api.take_suites();
        for kind in HandleKind::ALL {
            let module = api.module(kind.name());
            module.handle = true;
            // `World.alive` and similar functions take any number, usually a handle of their own
            // module's kind.
            let firsts = module.functions.iter_mut().filter_map(|item| item.params.first_mut());
            for first in firsts {
                if let "number" | "number|false" = first.kind.as_str() {
                    first.kind = format!("{}|{}", kind.name(), first.kind);
                }
            }
        }
        let mut all = Vec::new();
        for file in prelude::FILES.iter().chain([&prelude::LAST]) {
            let name = format!("lua/{}.lua", file.name);
            let (blocks, problems) = luacats_reader::read(&name, file.text);
            api.problems.extend(problems);
            all.extend(blocks);
        }
        let flag = |block: &DocBlock| match block {
            DocBlock::Module { name, node, .. } => Some((name.clone(), *node)),
            _ => None,
        };
        let flags: HashMap<String, NodeFlag> = all.iter().filter_map(flag).collect();
        for block in all {
            api.take(block, &flags);
        }
        api.modules.sort_compact_by(|a, b| a.name.cmp(&b.name));
        for module in &mut api.modules {
            module.functions.sort_compact_by(|a, b| a.name.cmp(&b.name));
        }
        api
    }

    fn take_suites(&mut self) {
        let (blocks, problems) = luacats_reader::read(luacats::SUITES.0, luacats::SUITES.1);
        self.problems.extend(problems);
        for block in blocks {
            if let DocBlock::Function { mut function, .. } = block {
                function.source = FunctionSource::Declared;
                self.testing.push(function);
            }
        }
    }

    fn module(&mut self, name: &str) -> &mut ModuleDoc {
        let at = self.modules.iter().position(|module| module.name == name).unwrap_or_else(|| {
            self.modules.push(ModuleDoc { name: name.to_string(), ..ModuleDoc::default() });
            self.modules.len() - 1
        });
        &mut self.modules[at]
    }

    /// Adds a block of the prelude. A function without a flag has that of its module.
    fn take(&mut self, block: DocBlock, flags: &HashMap<String, NodeFlag>) {
        match block {
            DocBlock::Module { name, doc, example, .. } => {
                let module = self.module(&name);
                join(&mut module.doc, &doc, "\n");
                join(&mut module.example, &example, "\n\n");
            }
            DocBlock::Class { name, class } => self.module(&name).class = class,
            DocBlock::Function { mut function, node } if function.module.is_empty() => {
                function.node = node.unwrap_or(NodeFlag::Hidden);
                self.globals.push(function);
            }
            DocBlock::Function { mut function, node } => {
                let of_module = flags.get(&function.module).copied();
                function.node = node.or(of_module).unwrap_or(NodeFlag::Action);
                self.module(&function.module.clone()).functions.push(function);
            }
        }
    }

    /// Returns every function of every module, then the global functions. Callbacks and the
    /// functions of test suites are left out, because a game cannot call them.
    pub fn functions(&self) -> impl Iterator<Item = &FunctionDoc> {
        self.modules.iter().flat_map(|module| &module.functions).chain(&self.globals)
    }
}

impl Default for ApiModel {
    fn default() -> ApiModel {
        ApiModel::new()
    }
}

fn join(text: &mut String, more: &str, with: &str) {
    if !text.is_empty() && !more.is_empty() {
        *text += with;
    }
    *text += more;
}

fn module_doc(module: &ModuleRows) -> ModuleDoc {
    ModuleDoc {
        name: module.name.to_string(),
        doc: module.doc.to_string(),
        example: module.example.to_string(),
        functions: module.funcs.iter().map(|func| function_doc(module, func)).collect(),
        ..ModuleDoc::default()
    }
}

fn function_doc(module: &ModuleRows, func: &FunctionRow) -> FunctionDoc {
    let param = |((name, doc), kind): (&(&str, &str), &ApiType)| ParamDoc {
        name: if kind.rest { "...".to_string() } else { name.to_string() },
        kind: kind.lua.to_string(),
        optional: kind.optional,
        doc: doc.to_string(),
    };
    let result = |(kind, doc): (&ApiType, &str)| {
        let lua = if kind.optional { format!("{}|nil", kind.lua) } else { kind.lua.to_string() };
        ReturnDoc::of(lua, kind.rest, doc)
    };
    let return_docs = func.return_docs.iter().copied().chain(std::iter::repeat(""));
    FunctionDoc {
        module: module.name.to_string(),
        name: func.name.to_string(),
        doc: func.doc.to_string(),
        params: func.params.iter().zip(func.types).map(param).collect(),
        returns: func.returns.iter().zip(return_docs).map(result).collect(),
        hot: func.is_hot(),
        node: func.node,
        source: FunctionSource::Rust,
        declared: Vec::new(),
    }
}

/// Returns the first sentence of a documentation text, in one line.
pub fn first_sentence(doc: &str) -> String {
    let text = doc.replace('\n', " ");
    let mut from = 0;
    while let Some(at) = text[from..].find(". ") {
        let end = from + at + 1;
        let next = text[end + 1..].chars().next();
        if next.is_some_and(|c| c.is_uppercase() || c == '`') {
            return text[..end].to_string();
        }
        from = end;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::ReturnDoc;

    #[test]
    fn results_are_named_by_the_first_word() {
        let check = |text: &str, name: &str, doc: &str| {
            let result = ReturnDoc::of("number".to_string(), false, text);
            assert_eq!((&*result.name, &*result.doc), (name, doc), "{text}");
        };
        check("width in texels", "width", "in texels");
        check("yaw, from -pi to pi", "yaw", "from -pi to pi");
        check("saturation, 0 to 1", "saturation", "0 to 1");
        check("a", "a", "");
        check("value, or nil", "", "value, or nil");
        check("x, y, z and w", "", "x, y, z and w");
        check("true if it fits", "", "true if it fits");
        check("3t² - 2t³ of the position", "", "3t² - 2t³ of the position");
        check("", "", "");
    }
}
