//! The whole API as one list, for people: what the rows say (api/) and what the prelude's comments
//! say (prelude_docs.rs), put together. The emitters beside this file only write it down.

use super::prelude_docs::{self, Block};
use super::{luacats, standard};
use crate::foundation::Kind;
use crate::script::row::{Func, Module};
use crate::script::types::Type;
use crate::script::{api, prelude};

/// Everything that a game can call, and everything of a game's that the engine calls.
pub struct Api {
    /// By name.
    pub modules: Vec<ModuleDoc>,
    /// Functions that stand in no module, in the order of the prelude.
    pub globals: Vec<FunctionDoc>,
    /// Functions that a game may define and the engine calls.
    pub callbacks: Vec<FunctionDoc>,
    /// The words of test suites, in the order of their definitions.
    pub testing: Vec<FunctionDoc>,
    /// What is wrong with the comments of the prelude, as `lua/timer.lua:12: words`. Empty unless
    /// somebody is in the middle of an edit; a test holds that.
    pub problems: Vec<String>,
}

/// A global table of functions.
#[derive(Default)]
pub struct ModuleDoc {
    pub name: String,
    /// Lines, the first sentence of which can stand alone.
    pub doc: String,
    /// Lua that runs as it stands.
    pub example: String,
    pub class: ClassDoc,
    /// Whether it is the name of a kind of handles, too.
    pub handle: bool,
    /// By name.
    pub functions: Vec<FunctionDoc>,
}

/// What a value of the module's own type has, or the module itself where there is no such type.
#[derive(Default, Clone)]
pub struct ClassDoc {
    /// The type has a value's fields and operators only: `v:length()` does not work.
    pub exact: bool,
    pub fields: Vec<FieldDoc>,
    /// As LuaCATS has them: `add(Vector3): Vector3`.
    pub operators: Vec<String>,
    /// What calling the module takes and gives: `fun(x?: number): Vector3`.
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
    /// The name of its module; empty for one that stands alone.
    pub module: String,
    pub name: String,
    /// Lines. For a row of Rust's they say what comes back, too.
    pub doc: String,
    pub params: Vec<ParamDoc>,
    pub returns: Vec<ReturnDoc>,
    /// Whether compiled Lua calls it without a detour.
    pub hot: bool,
    pub source: Source,
    /// The names between the parentheses of a Lua function, as they stand in the file.
    pub declared: Vec<String>,
}

/// Where a function is written.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    Rust,
    /// The prelude's file and the line of the function.
    Lua(String, usize),
    /// Declared for people alone: a game writes it, or the test library has it.
    Declared,
}

/// One argument. The name of all that are left is `...`.
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
    pub kind: String,
    /// Whether it stands for any number of results.
    pub rest: bool,
    pub doc: String,
}

impl FunctionDoc {
    /// Its name as one writes it: `Vector3.length`, `wait`.
    pub fn path(&self) -> String {
        match self.module.is_empty() {
            true => self.name.clone(),
            false => format!("{}.{}", self.module, self.name),
        }
    }

    /// `Math.random(min?: integer, max?: integer): number`
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
    /// Whether there are values of the type that the module's name is.
    pub fn is_type(&self) -> bool {
        let makes_itself =
            |call: &String| call.rsplit(": ").next().is_some_and(|result| result == self.name);
        self.handle || self.class.exact || self.class.calls.iter().any(makes_itself)
    }
}

impl Api {
    /// Reads the rows and the prelude.
    pub fn new() -> Api {
        let mut api = Api {
            modules: Vec::new(),
            globals: Vec::new(),
            callbacks: standard::CALLBACKS.iter().map(standard::Declared::doc).collect(),
            testing: Vec::new(),
            problems: Vec::new(),
        };
        for module in api::MODULES {
            let rows = of_rows(module);
            let known = api.module(module.name);
            known.functions.extend(rows.functions);
            join(&mut known.doc, &rows.doc, "\n");
            join(&mut known.example, &rows.example, "\n\n");
        }
        api.take_suites();
        for kind in Kind::ALL {
            let module = api.module(kind.name());
            module.handle = true;
            // `World.alive` and its kin take any number: that of a world, above all.
            let firsts = module.functions.iter_mut().filter_map(|item| item.params.first_mut());
            for first in firsts.filter(|first| first.kind == "number") {
                first.kind = format!("{}|number", kind.name());
            }
        }
        for file in prelude::FILES.iter().chain([&prelude::LAST]) {
            let name = format!("lua/{}.lua", file.name);
            let (blocks, problems) = prelude_docs::read(&name, file.text);
            api.problems.extend(problems);
            for block in blocks {
                api.take(block);
            }
        }
        api.modules.sort_by(|a, b| a.name.cmp(&b.name));
        for module in &mut api.modules {
            module.functions.sort_by(|a, b| a.name.cmp(&b.name));
        }
        api
    }

    fn take_suites(&mut self) {
        let (blocks, problems) = prelude_docs::read(luacats::SUITES.0, luacats::SUITES.1);
        self.problems.extend(problems);
        for block in blocks {
            if let Block::Function(mut function) = block {
                function.source = Source::Declared;
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

    fn take(&mut self, block: Block) {
        match block {
            Block::Module { name, doc, example } => {
                let module = self.module(&name);
                join(&mut module.doc, &doc, "\n");
                join(&mut module.example, &example, "\n\n");
            }
            Block::Class { name, class } => self.module(&name).class = class,
            Block::Function(function) if function.module.is_empty() => self.globals.push(function),
            Block::Function(function) => {
                self.module(&function.module.clone()).functions.push(function);
            }
        }
    }

    /// Every function of every module, then those that stand alone. Neither the callbacks nor the
    /// words of suites, which a game cannot call.
    pub fn functions(&self) -> impl Iterator<Item = &FunctionDoc> {
        self.modules.iter().flat_map(|module| &module.functions).chain(&self.globals)
    }
}

impl Default for Api {
    fn default() -> Api {
        Api::new()
    }
}

fn join(text: &mut String, more: &str, with: &str) {
    if !text.is_empty() && !more.is_empty() {
        *text += with;
    }
    *text += more;
}

fn of_rows(module: &Module) -> ModuleDoc {
    ModuleDoc {
        name: module.name.to_string(),
        doc: module.doc.to_string(),
        example: module.example.to_string(),
        functions: module.funcs.iter().map(|func| of_row(module, func)).collect(),
        ..ModuleDoc::default()
    }
}

fn of_row(module: &Module, func: &Func) -> FunctionDoc {
    let param = |((name, words), kind): (&(&str, &str), &Type)| ParamDoc {
        name: if kind.rest { "...".to_string() } else { name.to_string() },
        kind: kind.lua.to_string(),
        optional: kind.optional,
        doc: words.to_string(),
    };
    let result = |kind: &Type| ReturnDoc {
        kind: if kind.optional { format!("{}|nil", kind.lua) } else { kind.lua.to_string() },
        rest: kind.rest,
        doc: String::new(),
    };
    FunctionDoc {
        module: module.name.to_string(),
        name: func.name.to_string(),
        doc: func.doc.to_string(),
        params: func.params.iter().zip(func.types).map(param).collect(),
        returns: func.returns.iter().map(result).collect(),
        hot: func.fast.is_some(),
        source: Source::Rust,
        declared: Vec::new(),
    }
}

/// The first sentence of a documentation, in one line.
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
