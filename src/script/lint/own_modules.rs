//! Fields of the game's own modules: those that a module returns, if its script writes all of them
//! out, and uses of others.

use super::LintScript;
use super::parser::{InitialValue, LocalIndex, ParsedScript, UseContext, UseEnding, VariableUse};
use engine_foundation::suggest;
use std::collections::{HashMap, HashSet};

/// The fields of a module.
struct Exports<'a> {
    fields: HashSet<&'a str>,
    /// True if a function of its script gives fields to its first parameter, which can be the
    /// module.
    fills_parameter: bool,
}

/// The fields of the game's modules that return a table of their own, by module name. A module is
/// left out if its table may get fields in a way that is not seen.
pub fn own_modules<'a>(
    scripts: &[LintScript<'a>],
    parsed: &[Option<ParsedScript<'a>>],
) -> HashMap<String, HashSet<&'a str>> {
    let mut modules = HashMap::new();
    for (source, script) in scripts.iter().zip(parsed) {
        let Some(script) = script else { continue };
        let Some(fields) = exported_fields(script) else { continue };
        let path = source.path.strip_suffix(".lua").unwrap_or(source.path);
        let name = path.strip_suffix("/init").unwrap_or(path);
        let exports = Exports { fields, fills_parameter: fills_parameter(script) };
        modules.insert(name.replace('/', "."), exports);
    }
    for script in parsed.iter().flatten() {
        add_from_other_script(script, &mut modules);
    }
    modules.into_iter().map(|(name, exports)| (name, exports.fields)).collect()
}

/// Adds the fields that a script gives to the modules that it requires, and removes modules that
/// may get others.
fn add_from_other_script<'a>(
    script: &ParsedScript<'a>,
    modules: &mut HashMap<String, Exports<'a>>,
) {
    for use_ in &script.uses {
        let Some(name) = module_of(use_, script) else { continue };
        let Some(exports) = modules.get_mut(&name) else { continue };
        let is_open = use_.path.len() == 1
            && match use_.ending {
                UseEnding::Read | UseEnding::Indexed | UseEnding::ElementAssigned => true,
                // The method gets the module as its first parameter.
                UseEnding::Method(_) => exports.fills_parameter,
                _ => false,
            };
        if is_open {
            modules.remove(&name);
        } else if use_.ending == UseEnding::Assigned && use_.path.len() > 1 {
            exports.fields.insert(use_.path[1]);
        }
    }
    for (local, value) in script.locals.iter().enumerate() {
        let InitialValue::Module(name) = value else { continue };
        let name = name.replace('/', ".");
        if let Some(exports) = modules.get_mut(&name)
            && add_fields_of_self(script, local, &mut exports.fields).is_none()
        {
            modules.remove(&name);
        }
    }
}

/// Returns true if a function of a script gives fields to its first parameter.
fn fills_parameter(script: &ParsedScript) -> bool {
    script.uses.iter().any(|use_| {
        let is_first = |local| script.locals[local] == InitialValue::FirstParameter;
        let is_filled = match use_.ending {
            UseEnding::Assigned => use_.path.len() > 1,
            UseEnding::ElementAssigned => use_.path.len() == 1,
            _ => false,
        };
        is_filled && use_.local.is_some_and(is_first)
    })
}

/// Adds the fields that methods of a table set through `self`. Returns `None` if they may set
/// others.
fn add_fields_of_self<'a>(
    script: &ParsedScript<'a>,
    table: LocalIndex,
    fields: &mut HashSet<&'a str>,
) -> Option<()> {
    // True among the arguments of `setmetatable`, for which `self` is the class of the object.
    let mut is_class = false;
    for use_ in &script.uses {
        let is_self = |local| script.locals[local] == InitialValue::SelfOf(table);
        if use_.local.is_some_and(is_self) {
            match (use_.path.as_slice(), &use_.ending) {
                ([_, field, ..], UseEnding::Assigned) => {
                    fields.insert(field);
                }
                ([_], UseEnding::ElementAssigned) => return None,
                // The function that gets it can set any field.
                ([_], UseEnding::Read) if use_.context == UseContext::Argument && !is_class => {
                    return None;
                }
                _ => {}
            }
        }
        if matches!(use_.ending, UseEnding::Called(_) | UseEnding::Method(_)) {
            is_class = use_.local.is_none() && use_.path == ["setmetatable"];
        }
    }
    Some(())
}

/// Returns the fields of the table that a script returns, if all of them are seen.
fn exported_fields<'a>(script: &ParsedScript<'a>) -> Option<HashSet<&'a str>> {
    if script.returns_early {
        return None;
    }
    if let Some(fields) = &script.returned_table {
        return Some(fields.iter().copied().collect());
    }
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
    add_fields_of_self(script, returned, &mut fields)?;
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
pub fn unknown_export(
    use_: &VariableUse,
    script: &ParsedScript,
    modules: &HashMap<String, HashSet<&str>>,
) -> Option<String> {
    let name = module_of(use_, script)?;
    let fields = modules.get(&name)?;
    // A field that is only read may be nil.
    let field = match (use_.path.as_slice(), &use_.ending) {
        ([_], UseEnding::Method(field)) => field,
        ([_, field], UseEnding::Called(_) | UseEnding::Method(_)) => field,
        ([_, field], UseEnding::Indexed | UseEnding::ElementAssigned) => field,
        ([_, field, _, ..], _) => field,
        _ => return None,
    };
    if fields.contains(field) {
        return None;
    }
    let hint = suggest::hint(field, fields.iter().copied());
    Some(format!("the module '{name}' has no '{field}'{hint}"))
}
