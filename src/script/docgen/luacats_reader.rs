//! Reads the documentation from the prelude's Lua files: comments of three dashes above a function,
//! and blocks of `---@module` and `---@class`. `---@node query` says what a function is in graphs,
//! or all functions of a module that say nothing else. It works line by line and relies on the
//! conventions of lua/; it is not a Lua parser.

use super::model::{ClassDoc, FieldDoc, FunctionDoc, FunctionSource, ParamDoc, ReturnDoc};
use crate::api_row::NodeFlag;

/// One piece of documentation.
pub enum DocBlock {
    Module {
        name: String,
        doc: String,
        example: String,
        node: NodeFlag,
    },
    Class {
        name: String,
        class: ClassDoc,
    },
    /// A function, with its own flag.
    Function {
        function: FunctionDoc,
        node: Option<NodeFlag>,
    },
}

/// Reads a file. Returns its blocks in order, and the errors in them, with file and line.
///
/// A function of a module is included even if it has no comment, so that a test can require one. A
/// global function without a comment is considered internal.
pub fn read(file: &str, text: &str) -> (Vec<DocBlock>, Vec<String>) {
    let mut reader = DocReader { file, blocks: Vec::new(), problems: Vec::new() };
    let mut comment: Vec<&str> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if let Some(text) = line.strip_prefix("---").filter(|text| !text.starts_with('-')) {
            comment.push(text);
            continue;
        }
        let block = std::mem::take(&mut comment);
        let mut head = line.to_string();
        while head.starts_with("function ") && !head.contains(')') {
            let Some((_, more)) = lines.next() else { break };
            head = format!("{head} {}", more.trim());
        }
        reader.block(index + 1, &block, &head);
    }
    (reader.blocks, reader.problems)
}

struct DocReader<'a> {
    file: &'a str,
    blocks: Vec<DocBlock>,
    problems: Vec<String>,
}

impl DocReader<'_> {
    fn problem(&mut self, line: usize, message: &str) {
        self.problems.push(format!("{}:{line}: {message}", self.file));
    }

    /// Parses the comment that ends above `line`, whose text is `head`.
    fn block(&mut self, line: usize, comment: &[&str], head: &str) {
        if let Some(name) = comment.first().and_then(|first| first.strip_prefix("@module ")) {
            self.module(line, name, &comment[1..]);
        } else if comment.iter().any(|text| text.starts_with("@class")) {
            self.class(line, comment);
        } else if let Some((path, arguments)) = function_head(head) {
            self.function(line, comment, path, arguments);
        } else if !comment.is_empty() && !comment.iter().any(|text| is_for_editors(text)) {
            self.problem(line, "a comment of three dashes is above no function: use two");
        }
    }

    /// Returns the flag of `---@node query`.
    fn node(&mut self, line: usize, name: &str) -> Option<NodeFlag> {
        let found = NodeFlag::ALL.into_iter().find(|flag| flag.name() == name);
        if found.is_none() {
            self.problem(line, &format!("@node is action, query or hidden, not {name:?}"));
        }
        found
    }

    fn module(&mut self, line: usize, name: &str, comment: &[&str]) {
        let node = comment.first().and_then(|first| first.strip_prefix("@node "));
        let comment = &comment[usize::from(node.is_some())..];
        let node = node.and_then(|flag| self.node(line, flag)).unwrap_or(NodeFlag::Action);
        let split = comment.iter().position(|text| *text == "@example").unwrap_or(comment.len());
        let (doc, example) = comment.split_at(split);
        if doc.is_empty() || example.len() < 2 {
            self.problem(line, "a module needs a sentence, then ---@example and its lines");
        }
        if doc.iter().chain(example.iter().skip(1)).any(|text| text.starts_with('@')) {
            self.problem(
                line,
                "only ---@node and ---@example are allowed in the comment of a module",
            );
        }
        let code = example.iter().skip(1).map(|text| text.strip_prefix("   ").unwrap_or(text));
        let example = code.collect::<Vec<_>>().join("\n");
        let name = name.trim().to_string();
        self.blocks.push(DocBlock::Module { name, doc: doc.join("\n"), example, node });
    }

    fn class(&mut self, line: usize, comment: &[&str]) {
        let (mut class, mut name) = (ClassDoc::default(), String::new());
        for text in comment {
            let (tag, rest) = text.split_once(' ').unwrap_or((text, ""));
            match tag {
                "@class" => {
                    class.exact = rest.starts_with("(exact) ");
                    name = rest.trim_start_matches("(exact) ").trim().to_string();
                }
                "@overload" => class.calls.push(rest.to_string()),
                "@operator" => class.operators.push(rest.to_string()),
                "@field" => {
                    let (field, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                    let (kind, doc) = split_type_and_text(rest);
                    let name = field.to_string();
                    class.fields.push(FieldDoc { name, kind, doc });
                }
                _ if !tag.starts_with('@') => {}
                _ => self.problem(line, &format!("{text:?} is not allowed in a class")),
            }
        }
        self.blocks.push(DocBlock::Class { name, class });
    }

    fn function(&mut self, line: usize, comment: &[&str], path: &str, arguments: &str) {
        let (module, name) = path.split_once('.').unwrap_or(("", path));
        let inner = module.is_empty() || !module.starts_with(char::is_uppercase);
        if inner && comment.is_empty() {
            return;
        }
        let mut doc = Vec::new();
        let (mut params, mut returns, mut node) = (Vec::new(), Vec::new(), None);
        for text in comment {
            let (tag, rest) = text.split_once(' ').unwrap_or((text, ""));
            match tag {
                "@param" => params.push(param(rest)),
                "@return" => returns.push(result(rest)),
                "@node" => node = self.node(line, rest),
                _ if tag.starts_with('@') => {
                    self.problem(
                        line,
                        &format!("{tag} is not read: use @param, @return and @node"),
                    );
                }
                _ if params.is_empty() && returns.is_empty() => doc.push(*text),
                _ => self.problem(line, "sentences must be before @param and @return"),
            }
        }
        let names = arguments.split(',').map(str::trim).filter(|name| !name.is_empty());
        let function = FunctionDoc {
            module: module.to_string(),
            name: name.to_string(),
            doc: doc.join("\n"),
            params,
            returns,
            hot: false,
            node: node.unwrap_or(NodeFlag::Action),
            source: FunctionSource::Lua(self.file.to_string(), line),
            declared: names.map(str::to_string).collect(),
        };
        self.blocks.push(DocBlock::Function { function, node });
    }
}

/// Returns true if a line is only for editors: the mark of a definition file, or the type of a
/// value.
fn is_for_editors(text: &str) -> bool {
    text == "@meta" || text.starts_with("@type ")
}

/// Returns the path and the arguments of a line such as `function Vector3.length(v)`.
fn function_head(line: &str) -> Option<(&str, &str)> {
    let (path, rest) = line.strip_prefix("function ")?.split_once('(')?;
    Some((path.trim(), rest.split_once(')')?.0))
}

/// Parses a parameter such as `seconds? number how long`.
fn param(text: &str) -> ParamDoc {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (kind, doc) = split_type_and_text(rest);
    let optional = name.ends_with('?') || (kind.ends_with('?') && !kind.contains(' '));
    ParamDoc {
        name: name.trim_end_matches('?').to_string(),
        kind: kind.trim_end_matches('?').to_string(),
        optional,
        doc,
    }
}

/// Parses a result such as `number how far`, or `any ... what there is` for any number of results.
/// If there is a `#`, editors read the text after it.
fn result(text: &str) -> ReturnDoc {
    let (kind, doc) = split_type_and_text(text);
    let rest = doc.strip_prefix("...");
    let kind = match kind.strip_suffix('?') {
        Some(kind) => format!("{kind}|nil"),
        None => kind,
    };
    match rest.or_else(|| doc.strip_prefix('#')) {
        Some(text) => {
            let doc = text.trim_start_matches(['#', ' ']).trim().to_string();
            ReturnDoc { name: String::new(), kind, rest: rest.is_some(), doc }
        }
        None => ReturnDoc::of(kind, false, &doc),
    }
}

/// Splits a LuaCATS type from the text after it. The type ends at the first space that is not in
/// parentheses and does not follow `:`, `,` or `|`.
pub fn split_type_and_text(text: &str) -> (String, String) {
    let (mut depth, mut before) = (0, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '(' | '<' | '{' | '[' => depth += 1,
            ')' | '>' | '}' | ']' => depth -= 1,
            ' ' if depth == 0 && !":,|".contains(before) && !text[at..].starts_with(" |") => {
                return (text[..at].to_string(), text[at..].trim().to_string());
            }
            _ => {}
        }
        before = c;
    }
    (text.to_string(), String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> FunctionDoc {
        let (mut blocks, problems) = read("x.lua", text);
        assert_eq!(problems, Vec::<String>::new(), "{text}");
        match blocks.pop() {
            Some(DocBlock::Function { function, .. }) if blocks.is_empty() => function,
            _ => panic!("not one function: {text}"),
        }
    }

    #[test]
    fn a_comment_above_a_function_is_its_documentation() {
        let text = "---Waits.\n---Or not.\n---@param seconds? number how long\n\
                    ---@param ... any arguments\n---@return fun(a: number): string? what then\n\
                    ---@return any ... the rest\nfunction Timer.after(seconds,\n    ...)\n";
        let function = one(text);
        assert_eq!(function.doc, "Waits.\nOr not.");
        assert_eq!(function.declared, ["seconds", "..."]);
        assert_eq!(function.source, FunctionSource::Lua("x.lua".to_string(), 7));
        assert_eq!((&*function.returns[0].name, &*function.returns[0].doc), ("what", "then"));
        assert_eq!(
            function.signature(),
            "Timer.after(seconds?: number, ...: any): fun(a: number): string|nil, any..."
        );
    }

    #[test]
    fn a_function_name_decides_its_visibility_to_games() {
        assert_eq!(one("function Timer.count()\n").doc, "");
        assert_eq!(one("---Waits.\nfunction wait()\n").path(), "wait");
        assert!(read("x.lua", "function core.raise(m)\nfunction read(m)\n").0.is_empty());
    }

    #[test]
    fn a_type_ends_where_its_description_begins() {
        let check = |text: &str, kind: &str, doc: &str| {
            assert_eq!(split_type_and_text(text), (kind.to_string(), doc.to_string()), "{text}");
        };
        check("number how far", "number", "how far");
        check("fun(a: number, b: any): boolean when", "fun(a: number, b: any): boolean", "when");
        check("table<string, number> counts", "table<string, number>", "counts");
        check("string|nil why", "string|nil", "why");
        check("string | nil why", "string | nil", "why");
        check("any", "any", "");
    }

    #[test]
    fn parse_errors_have_file_and_line() {
        let check = |text: &str, wanted: &str| {
            assert_eq!(read("x.lua", text).1, [wanted], "{text}");
        };
        check(
            "---Waits.\nlocal x\n",
            "x.lua:2: a comment of three dashes is above no function: use two",
        );
        check(
            "---@see y\nfunction M.f()\n",
            "x.lua:2: @see is not read: use @param, @return and @node",
        );
        check(
            "---@node maybe\nfunction M.f()\n",
            "x.lua:2: @node is action, query or hidden, not \"maybe\"",
        );
        check(
            "---@module M\n---Words.\n\n",
            "x.lua:3: a module needs a sentence, then ---@example and its lines",
        );
        check(
            "---@return number x\n---Words.\nfunction M.f()\n",
            "x.lua:3: sentences must be before @param and @return",
        );
    }
}
