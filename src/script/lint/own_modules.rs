//! Fields of the game's own modules: those that a module returns, if its script writes all of them
//! out, and uses of others.

use super::LintScript;
use super::parser::{InitialValue, ParsedScript, UseEnding, VariableUse};
use engine_foundation::suggest;
use std::collections::{HashMap, HashSet};

/// The fields of the game's modules that return a table of their own, by module name. A module is
/// left out if its table may get fields in a way that is not seen.
pub fn own_modules<'a>(
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
