//! Names of resources in scripts: the textures that scripts create, and names that are written out
//! where a function takes a resource, and that no resource has.

use super::MissingResource;
use super::parser::{self, ParsedScript, UseEnding, VariableUse};
use crate::docgen::model::ApiModel;
use crate::resource_arguments::ResourceArguments;
use std::collections::HashSet;

/// Function that tests whether a resource exists: the name is its second argument.
const TEST: [&str; 2] = ["Application", "can_get"];

/// Ends of the paths of suites, which may name resources that do not exist.
const SUITES: [&str; 4] = ["_test.lua", "_spec.lua", "_case.lua", "_tests.lua"];

/// Returns the names of the textures that a script creates. Returns `None` if a name is computed,
/// or if the script is not understood.
pub fn created_textures(text: &str) -> Option<Vec<String>> {
    let script = parser::parse(text)?;
    let arguments = ResourceArguments::new(&ApiModel::new());
    let mut names = Vec::new();
    for use_ in &script.uses {
        let creators = arguments.created.iter();
        let mut creators = creators.filter(|(path, _)| is_path_end(use_, path));
        let Some((_, positions)) = creators.next() else { continue };
        match &use_.ending {
            UseEnding::Called(values) => {
                for position in positions {
                    if let Some(name) = values.get(position.index) {
                        names.push(name.as_ref()?.to_string());
                    }
                }
            }
            // The function is passed on, and called elsewhere.
            _ => return None,
        }
    }
    Some(names)
}

/// Returns true if the last parts of a variable's path are those of a function.
fn is_path_end(use_: &VariableUse, function: &str) -> bool {
    let Some((module, name)) = function.split_once('.') else { return false };
    use_.path.ends_with(&[module, name])
}

/// The positions of resource names, and the names that a game tests.
pub struct ResourceNames<'a> {
    arguments: ResourceArguments,
    /// Names that a script tests, so that they may be missing.
    tested: HashSet<&'a str>,
    /// True if a name is tested that is computed.
    tests_any: bool,
    missing: &'a MissingResource<'a>,
}

impl<'a> ResourceNames<'a> {
    pub fn new(
        api: &ApiModel,
        scripts: &[Option<ParsedScript<'a>>],
        missing: &'a MissingResource<'a>,
    ) -> ResourceNames<'a> {
        let arguments = ResourceArguments::new(api);
        let (mut tested, mut tests_any) = (HashSet::new(), false);
        let uses = scripts.iter().flatten().flat_map(|script| &script.uses);
        for use_ in uses.filter(|use_| use_.path.ends_with(&TEST)) {
            match &use_.ending {
                UseEnding::Called(values) => {
                    tested.extend(values.get(1).copied().flatten());
                }
                _ => tests_any = true,
            }
        }
        ResourceNames { arguments, tested, tests_any, missing }
    }

    /// Returns the message for a call with the name of a resource that does not exist.
    pub fn missing_name(&self, use_: &VariableUse, path: &str) -> Option<String> {
        let ([module, function], UseEnding::Called(values)) = (use_.path.as_slice(), &use_.ending)
        else {
            return None;
        };
        if use_.local.is_some() || self.tests_any || SUITES.iter().any(|end| path.ends_with(end)) {
            return None;
        }
        let positions = self.arguments.named.get(&format!("{module}.{function}"))?;
        positions.iter().find_map(|position| {
            let name = values.get(position.index).copied().flatten()?;
            // A name with an escape is not what is written.
            if name.contains('\\') || self.tested.contains(name) {
                return None;
            }
            (self.missing)(position.kinds, name)
        })
    }
}
