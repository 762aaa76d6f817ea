//! Reads the documentation off the prelude's Lua: comments of three dashes above a function, blocks
//! of `---@module` and of `---@class`. By lines, after the conventions of lua/; it is no Lua
//! parser.

use super::model::{ClassDoc, FieldDoc, FunctionDoc, ParamDoc, ReturnDoc, Source};

/// One piece of documentation.
pub enum Block {
    Module { name: String, doc: String, example: String },
    Class { name: String, class: ClassDoc },
    Function(FunctionDoc),
}

/// Reads a file: its blocks in order, and what is wrong with them, with file and line.
///
/// A function of a module counts also where it has no comment, so that a test can ask for one; a
/// function that stands alone is the engine's own unless it has a comment.
pub fn read(file: &str, text: &str) -> (Vec<Block>, Vec<String>) {
    let mut reader = Reader { file, blocks: Vec::new(), problems: Vec::new() };
    let mut comment: Vec<&str> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if let Some(words) = line.strip_prefix("---").filter(|words| !words.starts_with('-')) {
            comment.push(words);
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

struct Reader<'a> {
    file: &'a str,
    blocks: Vec<Block>,
    problems: Vec<String>,
}

impl Reader<'_> {
    fn problem(&mut self, line: usize, words: &str) {
        self.problems.push(format!("{}:{line}: {words}", self.file));
    }

    /// Takes the comment that ends above `line`, whose text is `head`.
    fn block(&mut self, line: usize, comment: &[&str], head: &str) {
        if let Some(name) = comment.first().and_then(|first| first.strip_prefix("@module ")) {
            self.module(line, name, &comment[1..]);
        } else if comment.iter().any(|words| words.starts_with("@class")) {
            self.class(line, comment);
        } else if let Some((path, arguments)) = function_head(head) {
            self.function(line, comment, path, arguments);
        } else if !comment.is_empty() && !comment.iter().any(|words| is_of_editors(words)) {
            self.problem(line, "a comment of three dashes stands above no function: use two");
        }
    }

    fn module(&mut self, line: usize, name: &str, comment: &[&str]) {
        let split = comment.iter().position(|words| *words == "@example").unwrap_or(comment.len());
        let (doc, example) = comment.split_at(split);
        if doc.is_empty() || example.len() < 2 {
            self.problem(line, "a module needs a sentence, then ---@example and its lines");
        }
        if doc.iter().chain(example.iter().skip(1)).any(|words| words.starts_with('@')) {
            self.problem(line, "only ---@example can stand in the comment of a module");
        }
        let code = example.iter().skip(1).map(|words| words.strip_prefix("   ").unwrap_or(words));
        let example = code.collect::<Vec<_>>().join("\n");
        let name = name.trim().to_string();
        self.blocks.push(Block::Module { name, doc: doc.join("\n"), example });
    }

    fn class(&mut self, line: usize, comment: &[&str]) {
        let (mut class, mut name) = (ClassDoc::default(), String::new());
        for words in comment {
            let (tag, rest) = words.split_once(' ').unwrap_or((words, ""));
            match tag {
                "@class" => {
                    class.exact = rest.starts_with("(exact) ");
                    name = rest.trim_start_matches("(exact) ").trim().to_string();
                }
                "@overload" => class.calls.push(rest.to_string()),
                "@operator" => class.operators.push(rest.to_string()),
                "@field" => {
                    let (field, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                    let (kind, doc) = type_and_words(rest);
                    let name = field.to_string();
                    class.fields.push(FieldDoc { name, kind, doc });
                }
                _ if !tag.starts_with('@') => {}
                _ => self.problem(line, &format!("{words:?} cannot stand in a class")),
            }
        }
        self.blocks.push(Block::Class { name, class });
    }

    fn function(&mut self, line: usize, comment: &[&str], path: &str, arguments: &str) {
        let (module, name) = path.split_once('.').unwrap_or(("", path));
        let inner = module.is_empty() || !module.starts_with(char::is_uppercase);
        if inner && comment.is_empty() {
            return;
        }
        let mut doc = Vec::new();
        let (mut params, mut returns) = (Vec::new(), Vec::new());
        for words in comment {
            let (tag, rest) = words.split_once(' ').unwrap_or((words, ""));
            match tag {
                "@param" => params.push(param(rest)),
                "@return" => returns.push(result(rest)),
                _ if tag.starts_with('@') => {
                    self.problem(line, &format!("{tag} is not read: use @param and @return"));
                }
                _ if params.is_empty() && returns.is_empty() => doc.push(*words),
                _ => self.problem(line, "sentences stand before @param and @return"),
            }
        }
        let names = arguments.split(',').map(str::trim).filter(|name| !name.is_empty());
        self.blocks.push(Block::Function(FunctionDoc {
            module: module.to_string(),
            name: name.to_string(),
            doc: doc.join("\n"),
            params,
            returns,
            hot: false,
            source: Source::Lua(self.file.to_string(), line),
            declared: names.map(str::to_string).collect(),
        }));
    }
}

/// Whether a line is for editors alone: a whole file's mark, the type of a value.
fn is_of_editors(words: &str) -> bool {
    words == "@meta" || words.starts_with("@type ")
}

/// Path and arguments of `function Vector3.length(v)`.
fn function_head(line: &str) -> Option<(&str, &str)> {
    let (path, rest) = line.strip_prefix("function ")?.split_once('(')?;
    Some((path.trim(), rest.split_once(')')?.0))
}

/// `seconds? number how long`
fn param(text: &str) -> ParamDoc {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (kind, doc) = type_and_words(rest);
    let optional = name.ends_with('?') || (kind.ends_with('?') && !kind.contains(' '));
    ParamDoc {
        name: name.trim_end_matches('?').to_string(),
        kind: kind.trim_end_matches('?').to_string(),
        optional,
        doc,
    }
}

/// `number how far`, or `any ... what there is` for any number of results. Editors read the words
/// after a `#`, if there is one.
fn result(text: &str) -> ReturnDoc {
    let (kind, words) = type_and_words(text);
    let rest = words.strip_prefix("...");
    let kind = match kind.strip_suffix('?') {
        Some(kind) => format!("{kind}|nil"),
        None => kind,
    };
    let doc = rest.unwrap_or(&words).trim_start_matches(['#', ' ']).trim().to_string();
    ReturnDoc { kind, rest: rest.is_some(), doc }
}

/// Splits a LuaCATS type from the words after it: the type ends at the first space that is in no
/// parentheses and follows no `:`, `,` or `|`.
pub fn type_and_words(text: &str) -> (String, String) {
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
            Some(Block::Function(function)) if blocks.is_empty() => function,
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
        assert_eq!(function.source, Source::Lua("x.lua".to_string(), 7));
        assert_eq!(function.returns[0].doc, "what then");
        assert_eq!(
            function.signature(),
            "Timer.after(seconds?: number, ...: any): fun(a: number): string|nil, any..."
        );
    }

    #[test]
    fn a_functions_name_says_whether_games_see_it() {
        assert_eq!(one("function Timer.count()\n").doc, "");
        assert_eq!(one("---Waits.\nfunction wait()\n").path(), "wait");
        assert!(read("x.lua", "function core.raise(m)\nfunction read(m)\n").0.is_empty());
    }

    #[test]
    fn a_type_ends_where_its_words_begin() {
        let check = |text: &str, kind: &str, words: &str| {
            assert_eq!(type_and_words(text), (kind.to_string(), words.to_string()), "{text}");
        };
        check("number how far", "number", "how far");
        check("fun(a: number, b: any): boolean when", "fun(a: number, b: any): boolean", "when");
        check("table<string, number> counts", "table<string, number>", "counts");
        check("string|nil why", "string|nil", "why");
        check("string | nil why", "string | nil", "why");
        check("any", "any", "");
    }

    #[test]
    fn what_cannot_be_read_is_said_with_file_and_line() {
        let check = |text: &str, wanted: &str| {
            assert_eq!(read("x.lua", text).1, [wanted], "{text}");
        };
        check(
            "---Waits.\nlocal x\n",
            "x.lua:2: a comment of three dashes stands above no function: use two",
        );
        check("---@see y\nfunction M.f()\n", "x.lua:2: @see is not read: use @param and @return");
        check(
            "---@module M\n---Words.\n\n",
            "x.lua:3: a module needs a sentence, then ---@example and its lines",
        );
        check(
            "---@return number x\n---Words.\nfunction M.f()\n",
            "x.lua:3: sentences stand before @param and @return",
        );
    }
}
