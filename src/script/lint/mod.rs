//! Lint of a game's scripts: names that do not exist, and conditions that are always true; and the
//! names of the textures that scripts create. It
//! reports only what is certain: a name that a script tests, assigns or passes on is left alone.

mod expressions;
mod parser;
#[cfg(test)]
mod tests;

use crate::docgen::model::ApiModel;
use crate::docgen::standard_library;
use crate::familiar_names;
use engine_foundation::suggest;
use parser::{InitialValue, ParsedScript, UseContext, UseEnding, VariableUse};
use std::collections::{HashMap, HashSet};

/// A script of a game.
pub struct LintScript<'a> {
    /// Path in the game's folder: `actors/hero.lua`.
    pub path: &'a str,
    pub text: &'a str,
}

/// A finding.
#[derive(Debug, PartialEq)]
pub struct LintFinding {
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    pub message: String,
}

/// Functions that tell how far a button is down: their result is a number, and 0 is true in Lua.
const NUMBERS_LIKE_CONDITIONS: [&str; 1] = ["button"];
/// Modules of devices.
const DEVICES: [&str; 3] = ["Keyboard", "Mouse", "TouchPanel"];
/// Functions that test whether their argument exists.
const TESTS: [&str; 6] = ["type", "rawget", "assert", "tostring", "print", "pcall"];

/// Names of Lua's libraries in other versions of Lua, which libraries use where they exist.
const OTHER_LUA: [(&str, &str); 3] = [
    ("string", "dump pack packsize unpack gfind"),
    ("table", "unpack pack new clear setn"),
    ("math", "type tointeger ult mod maxinteger mininteger"),
];
/// Libraries and globals that games have in part or not at all: their use fails where it runs, and
/// a library may never run it.
const PARTIAL: [&str; 5] = ["os", "debug", "package", "coroutine", "bit"];

/// The names that scripts of a game know.
struct Names<'a> {
    /// Functions and fields by module.
    modules: HashMap<String, HashSet<String>>,
    globals: HashSet<String>,
    /// Globals that some script of the game assigns.
    assigned: HashSet<&'a str>,
    /// Fields of modules of the API that some script assigns: `Math.half`.
    added: HashSet<(&'a str, &'a str)>,
    /// True if a script may give names to the game in a way that is not seen, such as
    /// `setmetatable(_G, …)`.
    is_open: bool,
}

/// Returns the findings of all scripts of a game, in the order of the scripts and lines.
pub fn lint(scripts: &[LintScript]) -> Vec<LintFinding> {
    let parsed: Vec<Option<ParsedScript>> =
        scripts.iter().map(|script| parser::parse(script.text)).collect();
    let mut names = Names::of_api();
    for script in parsed.iter().flatten() {
        names.add_script(script);
    }
    // A script that is not understood may assign anything.
    names.is_open |= parsed.iter().any(Option::is_none);
    let modules = own_modules(scripts, &parsed);
    let mut findings = Vec::new();
    for (source, script) in scripts.iter().zip(&parsed) {
        let Some(script) = script else { continue };
        let mut found: Vec<(usize, String)> = Vec::new();
        let tested = tested_globals(script);
        for use_ in &script.uses {
            let message = names
                .unknown_member(use_)
                .or_else(|| names.unknown_global(use_, &tested))
                .or_else(|| always_true(use_))
                .or_else(|| unknown_export(use_, script, &modules));
            found.extend(message.map(|message| (use_.at, message)));
        }
        found.sort();
        let finding = |(at, message): (usize, String)| LintFinding {
            path: source.path.to_string(),
            line: 1 + source.text[..at].matches('\n').count(),
            message,
        };
        findings.extend(found.into_iter().map(finding));
    }
    findings
}

/// Functions that create textures, and the position of the name among their arguments.
const TEXTURE_CREATORS: [(&[&str], usize); 2] =
    [(&["World", "create_texture_gui"], 1), (&["Application", "create_viewport"], 0)];

/// Returns the names of the textures that a script creates. Returns `None` if a name is computed,
/// or if the script is not understood.
pub fn created_textures(text: &str) -> Option<Vec<String>> {
    let script = parser::parse(text)?;
    let mut names = Vec::new();
    for use_ in &script.uses {
        let creator = TEXTURE_CREATORS.iter().find(|(path, _)| use_.path.ends_with(path));
        let Some((_, index)) = creator else { continue };
        match &use_.ending {
            UseEnding::Called(arguments) => {
                if let Some(name) = arguments.get(*index) {
                    names.push(name.as_ref()?.to_string());
                }
            }
            // The function is passed on, and called elsewhere.
            _ => return None,
        }
    }
    Some(names)
}

impl<'a> Names<'a> {
    fn of_api() -> Names<'a> {
        let api = ApiModel::new();
        let mut modules: HashMap<String, HashSet<String>> = HashMap::new();
        let mut globals: HashSet<String> = HashSet::new();
        for module in &api.modules {
            let members = modules.entry(module.name.clone()).or_default();
            members.extend(module.functions.iter().map(|function| function.name.clone()));
            members.extend(module.class.fields.iter().map(|field| field.name.clone()));
        }
        for library in standard_library::LIBRARIES {
            let members = modules.entry(library.name.to_string()).or_default();
            members.extend(library.names.iter().map(|name| name.to_string()));
        }
        for (library, names) in OTHER_LUA {
            let members = modules.entry(library.to_string()).or_default();
            members.extend(names.split(' ').map(str::to_string));
        }
        let absent = standard_library::ABSENT.iter().map(|(name, _)| name);
        globals.extend(absent.filter(|name| !name.contains('.')).map(|name| name.to_string()));
        globals.extend(modules.remove("").unwrap_or_default());
        globals.extend(modules.keys().cloned());
        globals.extend(api.globals.iter().map(|function| function.name.clone()));
        let suites = api.testing.iter().map(|function| {
            let name = function.path();
            name.split('.').next().unwrap_or_default().to_string()
        });
        globals.extend(suites);
        globals.extend(api.callbacks.iter().map(|callback| callback.name.clone()));
        // Suites replace Lua's assert by a table that can be called.
        modules.remove("assert");
        modules.retain(|name, _| !PARTIAL.contains(&name.as_str()));
        Names { modules, globals, assigned: HashSet::new(), added: HashSet::new(), is_open: false }
    }

    fn add_script(&mut self, script: &ParsedScript<'a>) {
        for use_ in script.uses.iter().filter(|use_| use_.local.is_none()) {
            match (use_.path.as_slice(), &use_.ending) {
                (["_G", name, ..], UseEnding::Assigned) => {
                    self.assigned.insert(name);
                }
                (["_G"], ending) => {
                    // `_G[name] = value`, or passed on as a table.
                    self.is_open |= *ending == UseEnding::Indexed || *ending == UseEnding::Read;
                }
                (["setfenv" | "getfenv"], UseEnding::Called(_)) => self.is_open = true,
                ([name], UseEnding::Assigned) => {
                    self.assigned.insert(name);
                }
                ([module, name, ..], UseEnding::Assigned) => {
                    self.added.insert((module, name));
                }
                ([module], UseEnding::Indexed | UseEnding::Read) => {
                    // `Math[name] = value`, or passed on: any name may be added.
                    self.added.insert((module, ""));
                }
                _ => {}
            }
        }
    }

    /// Returns the message for a function of the API that does not exist.
    fn unknown_member(&self, use_: &VariableUse) -> Option<String> {
        let [module, name, ..] = use_.path.as_slice() else { return None };
        let is_tested = matches!(use_.context, UseContext::Condition | UseContext::Compared)
            && use_.ending == UseEnding::Read;
        let members = self.modules.get(*module).filter(|_| use_.local.is_none())?;
        let is_added = |name: &str| self.added.contains(&(*module, name));
        let is_known = members.contains(*name) || is_added(name) || is_added("");
        let is_assigned = use_.ending == UseEnding::Assigned && use_.path.len() == 2;
        if is_known || is_tested || is_assigned || self.assigned.contains(module) {
            return None;
        }
        let hint = match familiar_names::equivalent(module, name) {
            Some(other) => format!(", did you mean {other}?"),
            None => {
                let members = members.iter().map(String::as_str);
                suggest::hint_of_functions(name, members)
            }
        };
        Some(format!("{module} has no function '{name}'{hint}"))
    }

    /// Returns the message for a global that nothing assigns and no script tests.
    fn unknown_global(&self, use_: &VariableUse, tested: &HashSet<&str>) -> Option<String> {
        let name = use_.path[0];
        let is_used = match use_.ending {
            UseEnding::Called(_) | UseEnding::Method(_) | UseEnding::Indexed => true,
            UseEnding::Read => {
                let is_value = matches!(use_.context, UseContext::Argument | UseContext::Operand);
                use_.path.len() > 1 || is_value
            }
            UseEnding::Assigned => use_.path.len() > 1,
        };
        let is_known = self.globals.contains(name) || self.assigned.contains(name);
        if use_.local.is_some() || !is_used || is_known || self.is_open || tested.contains(name) {
            return None;
        }
        if name == "love" {
            return Some(format!("there is no global 'love': {}", standard_library::NO_LOVE));
        }
        let known = self.globals.iter().map(String::as_str);
        let hint = suggest::hint(name, known.chain(self.assigned.iter().copied()));
        let meaning = || familiar_names::meaning(name).map(|meaning| format!(", {meaning}"));
        let hint = if hint.is_empty() { meaning().unwrap_or_default() } else { hint };
        Some(format!("there is no global '{name}'{hint}"))
    }
}

/// Returns the globals that a script tests or keeps in a variable, which libraries do with names
/// that exist only in some versions of Lua.
fn tested_globals<'a>(script: &ParsedScript<'a>) -> HashSet<&'a str> {
    let mut tested: HashSet<&str> = HashSet::new();
    let mut in_test = false;
    for use_ in &script.uses {
        let is_test = match use_.context {
            UseContext::Condition | UseContext::Compared | UseContext::Stored => true,
            UseContext::Argument => in_test,
            UseContext::Operand => false,
        };
        if use_.local.is_none() && use_.ending == UseEnding::Read && is_test {
            tested.insert(use_.path[0]);
        }
        // The arguments of a call follow its function.
        let calls_test = use_.path.len() == 1 && TESTS.contains(&use_.path[0]);
        in_test = match use_.ending {
            UseEnding::Called(_) => calls_test,
            _ => in_test && use_.context == UseContext::Argument,
        };
    }
    tested
}

/// Returns the message for a number that is used as a condition.
fn always_true(use_: &VariableUse) -> Option<String> {
    let [device, function] = use_.path.as_slice() else { return None };
    let is_device = DEVICES.contains(device)
        || device.strip_prefix("Pad").is_some_and(|number| number.parse::<u8>().is_ok());
    let is_number = is_device && NUMBERS_LIKE_CONDITIONS.contains(function);
    let is_call = matches!(use_.ending, UseEnding::Called(_));
    let is_condition = use_.context == UseContext::Condition;
    (is_number && is_call && is_condition && use_.local.is_none()).then(|| {
        format!(
            "{device}.{function} returns a number, and 0 is true in Lua: write \
             {device}.{function}(…) > 0"
        )
    })
}

/// The fields of the game's modules that return a table of their own, by module name. A module is
/// left out if its table may get fields in a way that is not seen.
fn own_modules<'a>(
    scripts: &[LintScript<'a>],
    parsed: &[Option<ParsedScript<'a>>],
) -> HashMap<String, HashSet<&'a str>> {
    let mut modules = HashMap::new();
    for (source, script) in scripts.iter().zip(parsed) {
        let Some(fields) = script.as_ref().and_then(exported_fields) else { continue };
        let path = source.path.strip_suffix(".lua").unwrap_or(source.path);
        let name = path.strip_suffix("/init").unwrap_or(path);
        modules.insert(name.replace('/', "."), fields);
    }
    // Fields that other scripts add.
    for script in parsed.iter().flatten() {
        for use_ in &script.uses {
            let Some(name) = module_of(use_, script) else { continue };
            let is_escape =
                use_.path.len() == 1 && matches!(use_.ending, UseEnding::Read | UseEnding::Indexed);
            match (&use_.ending, modules.get_mut(&name)) {
                (_, Some(_)) if is_escape => drop(modules.remove(&name)),
                (UseEnding::Assigned, Some(fields)) if use_.path.len() > 1 => {
                    fields.insert(use_.path[1]);
                }
                _ => {}
            }
        }
    }
    modules
}

/// Returns the fields of the table that a script returns, if all of them are seen.
fn exported_fields<'a>(script: &ParsedScript<'a>) -> Option<HashSet<&'a str>> {
    let returned = script.returned?;
    let InitialValue::Table(first) = &script.locals[returned] else { return None };
    let mut fields: HashSet<&str> = first.iter().copied().collect();
    let mut reads = 0;
    for use_ in script.uses.iter().filter(|use_| use_.local == Some(returned)) {
        match (use_.path.as_slice(), &use_.ending) {
            // One read is the `return`.
            ([_], UseEnding::Read) => reads += 1,
            ([_], _) => return None,
            ([_, field, ..], UseEnding::Assigned) => {
                fields.insert(field);
            }
            _ => {}
        }
    }
    (reads == 1).then_some(fields)
}

/// Returns the name of the module that a local variable of a script holds: `actors.hero`.
fn module_of(use_: &VariableUse, script: &ParsedScript) -> Option<String> {
    match &script.locals[use_.local?] {
        InitialValue::Module(name) => Some(name.replace('/', ".")),
        _ => None,
    }
}

/// Returns the message for a field of the game's own module that does not exist.
fn unknown_export(
    use_: &VariableUse,
    script: &ParsedScript,
    modules: &HashMap<String, HashSet<&str>>,
) -> Option<String> {
    let name = module_of(use_, script)?;
    let fields = modules.get(&name)?;
    // A field that is only read may be nil.
    let field = match (use_.path.as_slice(), &use_.ending) {
        ([_], UseEnding::Method(field)) => field,
        ([_, field], UseEnding::Called(_) | UseEnding::Method(_) | UseEnding::Indexed) => field,
        ([_, field, _, ..], _) => field,
        _ => return None,
    };
    if fields.contains(field) {
        return None;
    }
    let hint = suggest::hint(field, fields.iter().copied());
    Some(format!("the module '{name}' has no '{field}'{hint}"))
}
