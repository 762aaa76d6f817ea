//! Names for the debugger: the functions of a script by name, the names in the condition of a
//! breakpoint, and the variables that these names mean at the breakpoint.

use super::parser::{ParsedScript, UseEnding, VisibleNames, parse, parse_with};
use std::collections::HashMap;

/// A function of a script that has a name.
#[derive(Debug, PartialEq)]
pub struct NamedFunction {
    /// As it is declared or assigned: `add`, `M.clamp`, `Orc:hit`.
    pub name: String,
    /// Byte offset of the first statement, or after the list of parameters if there is none.
    pub body: usize,
}

/// Returns the functions of a script that have names, in the order of the text; `None` if the
/// parser does not understand the script.
pub fn named_functions(text: &str) -> Option<Vec<NamedFunction>> {
    let functions = parse(text)?.functions.into_iter().filter(|function| !function.name.is_empty());
    Some(
        functions
            .map(|function| NamedFunction { name: function.name, body: function.body })
            .collect(),
    )
}

/// The names in a condition.
#[derive(Debug, PartialEq)]
pub struct ConditionNames {
    /// The variables that it reads, in the order of their first use.
    pub names: Vec<String>,
    pub calls: ConditionCalls,
}

/// The functions that a condition calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConditionCalls {
    None,
    /// Functions of Lua's library that return soon.
    Library,
    /// Functions that may never return, or yield.
    Any,
}

/// Functions of Lua's library that return soon: modules, and globals.
const LIBRARY_MODULES: [&str; 2] = ["math", "bit"];
const LIBRARY_FUNCTIONS: [&str; 5] = ["type", "rawget", "rawequal", "tonumber", "select"];

fn is_library(path: &[&str]) -> bool {
    match path {
        [name] => LIBRARY_FUNCTIONS.contains(name),
        [module, _] => LIBRARY_MODULES.contains(module),
        _ => false,
    }
}

/// Returns the names in an expression; `None` if the text is no single expression, or has
/// functions of its own.
pub fn condition_names(expression: &str) -> Option<ConditionNames> {
    let text = format!("return {expression}\n");
    let script = parse(&text)?;
    if script.statements.len() != 1 || !script.functions.is_empty() {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for name in script.uses.iter().filter_map(|it| it.path.first()) {
        if !names.iter().any(|known| known == name) {
            names.push((*name).to_string());
        }
    }
    let known = script.uses.iter().filter(|it| {
        matches!(it.ending, UseEnding::Called(_)) && it.local.is_none() && is_library(&it.path)
    });
    let calls = match (script.calls, known.count()) {
        (0, _) => ConditionCalls::None,
        (calls, known) if calls == known => ConditionCalls::Library,
        _ => ConditionCalls::Any,
    };
    Some(ConditionNames { names, calls })
}

/// The meaning of a name at a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NameKind {
    /// A local of the function.
    Local,
    /// A local of an outer function, which the function uses.
    Upvalue,
    /// A local of an outer function, which the function does not use: it has no access to it.
    Hidden,
    Global,
}

/// Returns the meaning of names at beginnings of statements and of functions' bodies, by their
/// byte offsets. A position that is neither is left out. Returns `None` if the parser does not
/// understand the script.
pub fn kinds_of(
    text: &str,
    wanted: &HashMap<usize, Vec<String>>,
) -> Option<HashMap<usize, Vec<NameKind>>> {
    let script = parse_with(text, wanted)?;
    let kinds = |names: &VisibleNames| {
        names.locals.iter().map(|local| kind_of(&script, names.function, *local)).collect()
    };
    Some(script.visible.iter().map(|names| (names.at, kinds(names))).collect())
}

fn kind_of(script: &ParsedScript, function: usize, local: Option<usize>) -> NameKind {
    let Some(local) = local else { return NameKind::Global };
    if script.owners[local] == function {
        return NameKind::Local;
    }
    // The main function has no outer one.
    let Some(range) = function.checked_sub(1).map(|index| &script.functions[index]) else {
        return NameKind::Hidden;
    };
    let is_inside = |at: usize| range.body <= at && at < range.end;
    match script.uses.iter().any(|it| it.local == Some(local) && is_inside(it.at)) {
        true => NameKind::Upvalue,
        false => NameKind::Hidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "local count, other, spare = 0, 1, 2\n\
        local function add(amount)\n  local before = count\n  return function(x)\n    \
        return x + other\n  end\nend\nlocal M = {}\nfunction M.clamp(v) end\n\
        M.half = function(v) return v / 2 end\nfunction M.Orc:hit() end\ncall(function() end)\n";

    #[test]
    fn functions_have_the_names_of_their_declarations() {
        let found = named_functions(SCRIPT).unwrap();
        let names: Vec<&str> = found.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["add", "M.clamp", "M.half", "M.Orc:hit"]);
        assert!(SCRIPT[found[2].body..].starts_with("return v / 2"));
        assert_eq!(named_functions("local = 1"), None);
    }

    #[test]
    fn conditions_are_single_expressions_with_names() {
        let names = |text| condition_names(text).map(|it| (it.names.join(" "), it.calls));
        use ConditionCalls::{Any, Library, None as NoCalls};
        assert_eq!(names("unit == boss and hp.x < 10"), Some(("unit boss hp".into(), NoCalls)));
        assert_eq!(names("i % 2 == 0 or i > i"), Some(("i".into(), NoCalls)));
        assert_eq!(names("math.floor(x) == 1"), Some(("math x".into(), Library)));
        assert_eq!(names("type(f(x)) == 'nil'"), Some(("type f x".into(), Any)));
        assert_eq!(names("math.floor(x)()"), Some(("math x".into(), Any)));
        assert_eq!(names("is_dead(unit)"), Some(("is_dead unit".into(), Any)));
        assert_eq!(names("name:find 'x'"), Some(("name".into(), Any)));
        assert_eq!(names("true"), Some((String::new(), NoCalls)));
        for text in ["x = 1", "1 end if", "x return y", "(function() end)()", "x -- y"] {
            let expected = text.starts_with("x --").then(|| ("x".to_string(), NoCalls));
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_known_where_a_breakpoint_is() {
        let names: Vec<String> =
            ["amount", "before", "count", "other", "spare", "print"].map(String::from).to_vec();
        let at = |text: &str| SCRIPT.find(text).unwrap();
        let (outer, inner) = (at("return function"), at("return x"));
        let wanted = HashMap::from([(outer, names.clone()), (inner, names.clone()), (3, names)]);
        let kinds = kinds_of(SCRIPT, &wanted).unwrap();
        use NameKind::*;
        assert_eq!(kinds[&outer], [Local, Local, Upvalue, Upvalue, Hidden, Global]);
        assert_eq!(kinds[&inner], [Hidden, Hidden, Hidden, Upvalue, Hidden, Global]);
        assert_eq!(kinds.len(), 2);
    }
}
