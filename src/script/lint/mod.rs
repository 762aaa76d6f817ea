//! Lint of a game's scripts: names that do not exist, names that nothing reads, and conditions that
//! are always true. It reports only what is certain: a name that a script tests, assigns or passes
//! on is left alone.

mod aliases;
pub mod debug_names;
mod expressions;
mod own_modules;
mod parser;
mod resource_names;
#[cfg(test)]
mod tests;

use crate::docgen::model::ApiModel;
use crate::docgen::standard_library;
use crate::{familiar_names, porting_layer, porting_table};
use aliases::KnownGlobals;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::suggest;
use own_modules::{own_modules, unknown_export};
use parser::{ParsedScript, UseContext, UseEnding, VariableUse};
use resource_names::ResourceNames;
use std::collections::{HashMap, HashSet};

pub use resource_names::{CreatedResources, ResourceCreators};

/// Returns the byte offsets of the statements of a script, in the order of the text and without
/// labels. Returns `None` for a script that the parser does not understand.
pub fn statements(text: &str) -> Option<Vec<usize>> {
    parser::parse(text).map(|script| script.statements)
}

/// A script of a game.
pub struct LintScript<'a> {
    /// Path in the game's folder: `actors/hero.lua`.
    pub path: &'a str,
    pub text: &'a str,
}

/// Returns the message for a resource of one of these kinds that does not exist, or `None` if it
/// exists.
pub type MissingResource<'a> = dyn Fn(&[&str], &str) -> Option<String> + 'a;

/// A game to check.
pub struct LintGame<'a> {
    pub scripts: &'a [LintScript<'a>],
    /// True if the game has scripts in other languages, which can assign any global.
    pub has_other_languages: bool,
    pub missing: &'a MissingResource<'a>,
}

/// A finding.
#[derive(Debug, PartialEq)]
pub struct LintFinding {
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    pub message: String,
    /// True if the script works in spite of it.
    pub is_warning: bool,
}

/// Endings of scripts in languages that compile to Lua while the game runs.
pub const OTHER_LANGUAGES: [&str; 4] = ["fnl", "moon", "tl", "yue"];

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
    /// Globals that some script of the game uses in another way.
    read: HashSet<&'a str>,
    /// Fields of modules of the API that some script assigns: `Math.half`.
    added: HashSet<(&'a str, &'a str)>,
    /// True if a script may give names to the game in a way that is not seen, such as
    /// `setmetatable(_G, …)`.
    is_open: bool,
}

/// Returns the findings of all scripts of a game, in the order of the scripts and lines.
pub fn lint(game: &LintGame) -> Vec<LintFinding> {
    let scripts = game.scripts;
    let mut parsed: Vec<Option<ParsedScript>> =
        scripts.iter().map(|script| parser::parse(script.text)).collect();
    let api = ApiModel::new();
    let mut names = Names::of_api(&api);
    let has_layer = may_require_layer(game, &parsed);
    if has_layer {
        names.add_layer();
    }
    let assigned = aliases::assigned_globals(&parsed);
    // In games without the layer, its modules are followed too, and then reported.
    let is_module =
        |name: &str| names.modules.contains_key(name) || porting_layer::module(name).is_some();
    let known = KnownGlobals { is_module: &is_module, assigned: &assigned, has_layer };
    parsed.iter_mut().flatten().for_each(|script| aliases::resolve(script, &known));
    for script in parsed.iter().flatten() {
        names.add_script(script);
    }
    // A script that is not understood may assign and read anything.
    names.is_open |= game.has_other_languages || parsed.iter().any(Option::is_none);
    let modules = own_modules(scripts, &parsed);
    let resources = ResourceNames::new(&api, &parsed, game.missing);
    let mut findings = Vec::new();
    for (source, script) in scripts.iter().zip(&parsed) {
        let Some(script) = script else { continue };
        let mut found: Vec<(usize, String, bool)> = Vec::new();
        let tested = tested_globals(script);
        for use_ in &script.uses {
            let message = names
                .unknown_member(use_)
                .or_else(|| names.unknown_global(use_, &tested))
                .or_else(|| always_true(use_))
                .or_else(|| unknown_export(use_, script, &modules))
                .or_else(|| resources.missing_name(use_, source.path));
            found.extend(message.map(|message| (use_.at, message, false)));
            found.extend(names.unused_global(use_).map(|message| (use_.at, message, true)));
        }
        found.sort_compact();
        let finding = |(at, message, is_warning): (usize, String, bool)| LintFinding {
            path: source.path.to_string(),
            line: 1 + source.text[..at].matches('\n').count(),
            message,
            is_warning,
        };
        findings.extend(found.into_iter().map(finding));
    }
    findings
}

/// Returns true if a script requires the porting layer, or if one that is not understood may do so.
/// A module of the game with that name takes its place.
fn may_require_layer(game: &LintGame, parsed: &[Option<ParsedScript>]) -> bool {
    let is_own = |script: &LintScript| ["stingray.lua", "stingray/init.lua"].contains(&script.path);
    !game.scripts.iter().any(is_own)
        && (game.has_other_languages
            || parsed.iter().any(|script| script.as_ref().is_none_or(aliases::requires_layer)))
}

impl<'a> Names<'a> {
    fn of_api(api: &ApiModel) -> Names<'a> {
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
        let (assigned, read, added) = (HashSet::new(), HashSet::new(), HashSet::new());
        Names { modules, globals, assigned, read, added, is_open: false }
    }

    /// Adds the names of the porting layer.
    fn add_layer(&mut self) {
        for module in porting_layer::LAYER {
            self.globals.insert(module.name.to_string());
            if module.name == porting_layer::GLOBALS {
                continue;
            }
            let inherited = self.modules.get(module.inherits).cloned().unwrap_or_default();
            let members = self.modules.entry(module.name.to_string()).or_default();
            members.extend(inherited);
            members.extend(module.names.iter().map(|name| name.to_string()));
        }
    }

    fn add_script(&mut self, script: &ParsedScript<'a>) {
        for use_ in script.uses.iter().filter(|use_| use_.local.is_none()) {
            let is_assignment = use_.path.len() == 1 && use_.ending == UseEnding::Assigned;
            if !is_assignment {
                // `_G.score` reads `score`.
                self.read.extend(use_.path.iter().take(2));
            }
            // The uses of the local are those of the module.
            if use_.context == UseContext::Alias {
                continue;
            }
            match (use_.path.as_slice(), &use_.ending) {
                (["_G", name, ..], UseEnding::Assigned) => {
                    self.assigned.insert(name);
                }
                (["_G"], ending) => {
                    // `_G[name] = value`, or passed on as a table.
                    self.is_open |= matches!(
                        ending,
                        UseEnding::Indexed | UseEnding::ElementAssigned | UseEnding::Read
                    );
                }
                (["setfenv" | "getfenv"], UseEnding::Called(_)) => self.is_open = true,
                ([name], UseEnding::Assigned) => {
                    self.assigned.insert(name);
                }
                ([module, name, ..], UseEnding::Assigned) => {
                    self.added.insert((module, name));
                }
                ([module], UseEnding::Indexed | UseEnding::ElementAssigned | UseEnding::Read) => {
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
        let familiar = || {
            let other = familiar_names::equivalent(module, name);
            other.map(|other| format!(", did you mean {other}?"))
        };
        let hint = porting_table::missing(module, Some(name)).or_else(familiar);
        let hint = hint.unwrap_or_else(|| {
            suggest::hint_of_functions(name, members.iter().map(String::as_str))
        });
        Some(format!("{module} has no function '{name}'{hint}"))
    }

    /// Returns the message for a global that nothing assigns and no script tests.
    fn unknown_global(&self, use_: &VariableUse, tested: &HashSet<&str>) -> Option<String> {
        // A field of `_G` may be nil: it is used where it has a field, or is called.
        let is_field = use_.path[0] == aliases::GLOBALS && use_.path.len() > 1;
        let path = &use_.path[usize::from(is_field)..];
        let name = path[0];
        let is_used = match use_.ending {
            UseEnding::Called(_) | UseEnding::Method(_) => true,
            UseEnding::Indexed | UseEnding::ElementAssigned => true,
            UseEnding::Read => {
                let is_value = matches!(use_.context, UseContext::Argument | UseContext::Operand);
                path.len() > 1 || (is_value && !is_field)
            }
            UseEnding::Assigned => path.len() > 1,
        };
        let is_known = self.globals.contains(name) || self.assigned.contains(name);
        if use_.local.is_some() || !is_used || is_known || self.is_open || tested.contains(name) {
            return None;
        }
        if name == "love" {
            return Some(format!("there is no global 'love': {}", standard_library::NO_LOVE));
        }
        if let Some(hint) = porting_table::missing(name, None) {
            return Some(format!("there is no global '{name}'{hint}"));
        }
        let known = self.globals.iter().map(String::as_str);
        let hint = suggest::hint(name, known.chain(self.assigned.iter().copied()));
        let meaning = || familiar_names::meaning(name).map(|meaning| format!(", {meaning}"));
        let hint = if hint.is_empty() { meaning().unwrap_or_default() } else { hint };
        Some(format!("there is no global '{name}'{hint}"))
    }
}

impl Names<'_> {
    /// Returns the message for a global that is assigned here, and that no script reads.
    fn unused_global(&self, use_: &VariableUse) -> Option<String> {
        let [name] = use_.path.as_slice() else { return None };
        let is_assigned = use_.ending == UseEnding::Assigned && use_.local.is_none();
        // A name with an underscore at its start is meant to be unused.
        let is_known = self.globals.contains(*name) || name.starts_with('_');
        if !is_assigned || is_known || self.is_open || self.read.contains(name) {
            return None;
        }
        let hint = suggest::hint(name, self.read.iter().copied());
        Some(format!("no script reads the global '{name}'{hint}"))
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
            UseContext::Operand | UseContext::Alias => false,
        };
        if use_.local.is_none() && use_.ending == UseEnding::Read && is_test {
            let is_field = use_.path[0] == aliases::GLOBALS && use_.path.len() > 1;
            tested.insert(use_.path[usize::from(is_field)]);
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

/// Returns the lines of a script in which a number is used as a condition, with messages. Returns
/// none for a script that is not understood.
pub fn always_true_conditions(text: &str) -> Vec<(usize, String)> {
    let uses = parser::parse(text).map_or_else(Vec::new, |script| script.uses);
    let line = |at: usize| 1 + text[..at].matches('\n').count();
    uses.iter().filter_map(|use_| Some((line(use_.at), always_true(use_)?))).collect()
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
            "{device}.{function} returns a number, and 0 is true in Lua: write {device}.held(…)"
        )
    })
}
