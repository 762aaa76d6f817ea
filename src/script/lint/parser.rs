//! Parser of Lua scripts for the lint: every use of a variable, with its scope and what the script
//! does with it. It reads LuaJIT's language (lj_parse.c) with its extensions. A script that it does
//! not understand has no result, because a lint must not guess.

use crate::source_scanner::{KEYWORDS, SourceToken, SourceTokenKind, tokens};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Maximum depth of nested expressions and blocks, that of LuaJIT.
const DEPTH_MAX: usize = 200;

/// A local variable: its index in [`ParsedScript::locals`].
pub type LocalIndex = usize;

/// A parsed script.
#[derive(Debug, Default)]
pub struct ParsedScript<'a> {
    pub uses: Vec<VariableUse<'a>>,
    /// The values that the locals, parameters and loop variables are declared with.
    pub locals: Vec<InitialValue<'a>>,
    /// The local that the top level returns at its end, if it returns one alone.
    pub returned: Option<LocalIndex>,
    /// The fields of the table constructor that the top level returns at its end, if it returns one
    /// alone.
    pub returned_table: Option<Vec<&'a str>>,
    /// True if the top level can also return before its end.
    pub returns_early: bool,
    /// Byte offsets of the statements, in the order of the text. Labels are left out.
    pub statements: Vec<usize>,
    /// The functions with a body of statements, in the order of the text.
    pub functions: Vec<FunctionRange>,
    /// The function that declares each local: its index in `functions` plus one, or 0 at the top.
    pub owners: Vec<usize>,
    /// Number of calls.
    pub calls: usize,
    /// The names that [`parse_with`] was asked for, at each of its positions.
    pub visible: Vec<VisibleNames>,
}

/// A function in a script.
#[derive(Debug, Default)]
pub struct FunctionRange {
    /// As it is declared or assigned: `add`, `M.clamp`, `Orc:hit`; empty without a name.
    pub name: String,
    /// Byte offset of the first statement, or after the list of parameters if there is none.
    pub body: usize,
    /// Byte offset of its `end`.
    pub end: usize,
}

/// The locals that names mean at one position.
#[derive(Debug)]
pub struct VisibleNames {
    pub at: usize,
    /// The innermost function, as in [`ParsedScript::owners`].
    pub function: usize,
    pub locals: Vec<Option<LocalIndex>>,
}

/// The value that a local is declared with.
#[derive(Debug, PartialEq)]
pub enum InitialValue<'a> {
    /// A table constructor with named fields only, which may be empty.
    Table(Vec<&'a str>),
    /// `require "name"`
    Module(&'a str),
    /// `self` in `function table:method()`: the local `table`.
    SelfOf(LocalIndex),
    /// The first parameter of a function that is no method.
    FirstParameter,
    /// The value of a variable or of its field, by the index of its use: `a.b`; or the first of
    /// several that is not nil: `a or b`.
    Variables(Vec<usize>),
    Other,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CallArgument<'a> {
    /// A string literal.
    Text(&'a str),
    /// Text that begins with a string literal: `"tiles/" .. number`.
    Prefixed(&'a str),
    Other,
}

impl<'a> CallArgument<'a> {
    /// Returns the argument, if it is a string literal.
    pub fn text(self) -> Option<&'a str> {
        match self {
            CallArgument::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// One use of a variable: its name, the fields after it, and how it ends.
#[derive(Debug)]
pub struct VariableUse<'a> {
    /// The name, and the fields of `name.field.field`.
    pub path: Vec<&'a str>,
    /// The local variable; `None` for a global.
    pub local: Option<LocalIndex>,
    /// Byte offset of the name.
    pub at: usize,
    pub ending: UseEnding<'a>,
    pub context: UseContext,
}

impl VariableUse<'_> {
    pub fn is_assigned(&self) -> bool {
        self.ending == UseEnding::Assigned
    }
}

/// The part that follows the path.
#[derive(Debug, PartialEq)]
pub enum UseEnding<'a> {
    /// The value is read.
    Read,
    /// It is assigned, also by `function a.b()`.
    Assigned,
    /// It is called with these arguments.
    Called(Vec<CallArgument<'a>>),
    /// A method is called.
    Method(&'a str),
    /// It is indexed by an expression.
    Indexed,
    /// It is indexed by an expression, and the element is assigned.
    ElementAssigned,
}

/// The use of the value of the whole expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UseContext {
    /// It is stored, returned or listed.
    Stored,
    /// It is an argument of a call.
    Argument,
    /// It is an operand of arithmetic, `..`, `<` or `#`.
    Operand,
    /// It is compared by `==` or `~=`.
    Compared,
    /// It decides as a condition: after `if` or `not`, before `and`, `or` or `?`.
    Condition,
    /// It is the value of a local that stands for a module (aliases.rs).
    Alias,
}

/// The state of the parser. Statements are parsed here, expressions in expressions.rs.
pub struct Parser<'a> {
    pub tokens: Vec<SourceToken<'a>>,
    pub at: usize,
    depth: usize,
    pub script: ParsedScript<'a>,
    /// Visible locals by name, innermost last.
    scopes: HashMap<&'a str, Vec<LocalIndex>>,
    /// Names in the order of declaration, to end scopes.
    declared: Vec<&'a str>,
    /// Number of functions around the current position.
    pub functions: usize,
    /// The innermost function, as in [`ParsedScript::owners`].
    pub function: usize,
    /// Names that are looked up at positions.
    wanted: &'a HashMap<usize, Vec<String>>,
}

/// Parses a script. Returns `None` for what it does not understand.
pub fn parse(text: &str) -> Option<ParsedScript<'_>> {
    static NONE: LazyLock<HashMap<usize, Vec<String>>> = LazyLock::new(HashMap::new);
    parse_with(text, &NONE)
}

/// Parses a script, and looks names up at the beginnings of statements and of functions' bodies.
pub fn parse_with<'a>(
    text: &'a str,
    wanted: &'a HashMap<usize, Vec<String>>,
) -> Option<ParsedScript<'a>> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        script: ParsedScript::default(),
        scopes: HashMap::new(),
        declared: Vec::new(),
        functions: 0,
        function: 0,
        wanted,
    };
    parser.block()?;
    (parser.at == parser.tokens.len()).then_some(parser.script)
}

/// An operand of an expression.
pub enum Operand<'a> {
    /// A variable: the index of its use.
    Variable(usize),
    /// Variables joined by `or`.
    Either(Vec<usize>),
    Text(&'a str),
    Table(Option<Vec<&'a str>>),
    Other,
}

impl<'a> Parser<'a> {
    pub fn text(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| match token.kind {
            SourceTokenKind::Text | SourceTokenKind::Number => "",
            _ => token.text,
        })
    }

    pub fn is(&self, text: &str) -> bool {
        self.text(0) == text
    }

    pub fn take(&mut self, text: &str) -> bool {
        let taken = self.is(text);
        self.at += usize::from(taken);
        taken
    }

    pub fn expect(&mut self, text: &str) -> Option<()> {
        self.take(text).then_some(())
    }

    /// Returns true if a name is ahead. `continue` and `const` are names, and so is `goto`.
    pub fn is_name(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| {
            token.kind == SourceTokenKind::Word
                && (token.text == "goto" || !KEYWORDS.contains(&token.text))
        })
    }

    pub fn name(&mut self) -> Option<&'a str> {
        let name = self.is_name(0).then(|| self.text(0))?;
        self.at += 1;
        Some(name)
    }

    /// Runs a part that may nest.
    pub fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let result = (self.depth <= DEPTH_MAX).then(|| part(self)).flatten();
        self.depth -= 1;
        result
    }

    pub fn declare(&mut self, name: &'a str, value: InitialValue<'a>) -> LocalIndex {
        let index = self.script.locals.len();
        self.script.locals.push(value);
        self.script.owners.push(self.function);
        self.scopes.entry(name).or_default().push(index);
        self.declared.push(name);
        index
    }

    fn end_scope(&mut self, start: usize) {
        for name in self.declared.drain(start..) {
            self.scopes.get_mut(name).and_then(Vec::pop);
        }
    }

    pub fn scope<T>(&mut self, part: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.declared.len();
        let result = self.nested(part);
        self.end_scope(start);
        result
    }

    pub fn is_block_end(&self) -> bool {
        self.at >= self.tokens.len() || ["else", "elseif", "end", "until"].contains(&self.text(0))
    }

    pub fn block(&mut self) -> Option<()> {
        while !self.is_block_end() {
            self.statement()?;
            self.take(";");
        }
        Some(())
    }

    fn closed_block(&mut self) -> Option<()> {
        self.scope(Self::block)?;
        self.expect("end")
    }

    fn statement(&mut self) -> Option<()> {
        if !self.is("::") {
            let start = self.tokens.get(self.at)?.start;
            self.script.statements.push(start);
            self.look_up(start);
        }
        let is_statement = match self.text(0) {
            "continue" => {
                self.tokens.get(self.at + 1).is_none()
                    || ["else", "elseif", "end", "until", ";"].contains(&self.text(1))
            }
            "const" => self.is_name(1) || self.text(1) == "function",
            "goto" => self.is_name(1),
            _ => true,
        };
        if !is_statement {
            return self.assignment();
        }
        match self.text(0) {
            "if" => self.if_statement(),
            "while" => {
                self.at += 1;
                self.condition()?;
                self.expect("do")?;
                self.closed_block()
            }
            "do" => {
                self.at += 1;
                self.closed_block()
            }
            "for" => self.scope(Self::for_statement),
            "repeat" => {
                self.at += 1;
                self.scope(|parser| {
                    parser.block()?;
                    parser.expect("until")?;
                    parser.condition()
                })
            }
            "function" => self.function_statement(),
            "local" | "const" => self.local_statement(),
            "return" => self.return_statement(),
            "break" | "continue" => {
                self.at += 1;
                Some(())
            }
            "goto" => {
                self.at += 1;
                self.name().map(drop)
            }
            "::" => {
                self.at += 1;
                self.name()?;
                self.expect("::")
            }
            _ => self.assignment(),
        }
    }

    /// Notes the locals that names mean here, if they are wanted.
    pub fn look_up(&mut self, at: usize) {
        let Some(names) = self.wanted.get(&at) else { return };
        let locals = names.iter().map(|name| self.find(name)).collect();
        self.script.visible.push(VisibleNames { at, function: self.function, locals });
    }

    /// Returns the name of the function whose parameters are ahead: that of its declaration, or of
    /// the assignment before it.
    pub fn function_name(&self) -> String {
        let before = |at: usize| self.tokens.get(at).map_or("", |token| token.text);
        let mut last = self.at;
        if last >= 2 && before(last - 1) == "function" && before(last - 2) == "=" {
            last -= 2;
        }
        let mut first = last;
        while first >= 1
            && (self.is_name_at(first - 1)
                || (first < last && [".", ":"].contains(&before(first - 1))))
        {
            let joins = first == last || [".", ":"].contains(&before(first));
            if !joins && self.is_name_at(first - 1) {
                break;
            }
            first -= 1;
        }
        self.tokens[first..last].iter().map(|token| token.text).collect()
    }

    fn is_name_at(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| {
            token.kind == SourceTokenKind::Word && !KEYWORDS.contains(&token.text)
        })
    }

    fn if_statement(&mut self) -> Option<()> {
        loop {
            self.at += 1;
            self.condition()?;
            self.expect("then")?;
            self.scope(Self::block)?;
            if !self.is("elseif") {
                break;
            }
        }
        if self.take("else") {
            self.scope(Self::block)?;
        }
        self.expect("end")
    }

    fn for_statement(&mut self) -> Option<()> {
        self.at += 1;
        let mut names = vec![self.name()?];
        if self.take("=") {
            self.values(UseContext::Operand)?;
        } else {
            while self.take(",") {
                names.push(self.name()?);
            }
            self.expect("in")?;
            self.values(UseContext::Stored)?;
        }
        self.expect("do")?;
        for name in names {
            self.declare(name, InitialValue::Other);
        }
        self.closed_block()
    }

    fn function_statement(&mut self) -> Option<()> {
        self.at += 1;
        let at = self.tokens.get(self.at)?.start;
        let mut path = vec![self.name()?];
        while self.take(".") {
            path.push(self.name()?);
        }
        let is_method = self.take(":");
        if is_method {
            path.push(self.name()?);
        }
        let local = self.find(path[0]);
        let path_length = path.len();
        let (ending, context) = (UseEnding::Assigned, UseContext::Stored);
        self.script.uses.push(VariableUse { path, local, at, ending, context });
        let this = match (local, path_length) {
            (Some(table), 2) => InitialValue::SelfOf(table),
            _ => InitialValue::Other,
        };
        self.function_body(is_method.then_some(this))
    }

    fn local_statement(&mut self) -> Option<()> {
        self.at += 1;
        if self.take("function") {
            let name = self.name()?;
            self.declare(name, InitialValue::Other);
            return self.function_body(None);
        }
        let mut names = vec![self.name()?];
        while self.take(",") {
            names.push(self.name()?);
        }
        let operands = if self.take("=") { self.values(UseContext::Stored)? } else { Vec::new() };
        let value = |operand: &Option<Operand<'a>>| {
            operand.as_ref().map_or(InitialValue::Other, |operand| self.initial_value(operand))
        };
        let values: Vec<InitialValue> = operands.iter().map(value).collect();
        let others = std::iter::repeat_with(|| InitialValue::Other);
        for (name, value) in names.into_iter().zip(values.into_iter().chain(others)) {
            self.declare(name, value);
        }
        Some(())
    }

    fn initial_value(&self, operand: &Operand<'a>) -> InitialValue<'a> {
        match operand {
            Operand::Table(Some(fields)) => InitialValue::Table(fields.clone()),
            Operand::Variable(index) => {
                let use_ = &self.script.uses[*index];
                match &use_.ending {
                    UseEnding::Called(arguments)
                        if use_.path == ["require"] && use_.local.is_none() =>
                    {
                        let name = arguments.first().and_then(|first| first.text());
                        name.map_or(InitialValue::Other, InitialValue::Module)
                    }
                    UseEnding::Read => InitialValue::Variables(vec![*index]),
                    _ => InitialValue::Other,
                }
            }
            Operand::Either(uses) => InitialValue::Variables(uses.clone()),
            _ => InitialValue::Other,
        }
    }

    fn return_statement(&mut self) -> Option<()> {
        self.at += 1;
        let is_last = self.functions == 0 && self.depth == 0;
        self.script.returns_early |= self.functions == 0 && !is_last;
        if self.is_block_end() || self.is(";") {
            return Some(());
        }
        let operands = self.values(UseContext::Stored)?;
        match operands.as_slice() {
            [Some(Operand::Variable(index))] if is_last => {
                let use_ = &self.script.uses[*index];
                if use_.path.len() == 1 && use_.ending == UseEnding::Read {
                    self.script.returned = use_.local;
                }
            }
            [Some(Operand::Table(Some(fields)))] if is_last => {
                self.script.returned_table = Some(fields.clone());
            }
            _ => {}
        }
        Some(())
    }

    /// Parses a call or an assignment.
    fn assignment(&mut self) -> Option<()> {
        let mut targets = vec![self.variable(true)?];
        while self.take(",") {
            targets.push(self.variable(true)?);
        }
        let compound = ["+", "-", "*", "/", "%", "..", "&", "|", "~", "<<", ">>", "~>>"];
        let is_compound = compound.contains(&self.text(0)) && self.text(1) == "=";
        if is_compound || self.is("~=") {
            self.at += 1 + usize::from(is_compound);
            return self.expression(UseContext::Operand).map(drop);
        }
        if self.take("=") {
            for index in targets.into_iter().flatten() {
                let use_ = &mut self.script.uses[index];
                match use_.ending {
                    UseEnding::Read => use_.ending = UseEnding::Assigned,
                    UseEnding::Indexed => use_.ending = UseEnding::ElementAssigned,
                    _ => {}
                }
            }
            return self.values(UseContext::Stored).map(drop);
        }
        Some(())
    }

    pub fn find(&self, name: &str) -> Option<LocalIndex> {
        self.scopes.get(name)?.last().copied()
    }
}

/// Returns the content of a string literal, as it is written.
pub fn unquoted(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('[') else { return &text[1..text.len() - 1] };
    let level = inner.bytes().take_while(|byte| *byte == b'=').count();
    &text[level + 2..text.len() - level - 2]
}
