//! Names of resources in scripts: the resources that scripts create, and names that are written out
//! where a function takes a resource, and that no resource has.

use super::MissingResource;
use super::parser::{self, ParsedScript, UseEnding, VariableUse};
use crate::docgen::model::ApiModel;
use crate::resource::string_literals;
use crate::resource_arguments::ResourceArguments;
use engine_resource::resource_name::ResourceName;
use std::collections::{BTreeSet, HashSet};

/// Function that tests whether a resource exists: the name is its second argument.
const TEST: [&str; 2] = ["Application", "can_get"];

/// Ends of the paths of suites, which may name resources that do not exist.
const SUITES: [&str; 4] = ["_test.lua", "_spec.lua", "_case.lua", "_tests.lua"];

/// The resources that scripts create, such as textures that a Gui is drawn into.
pub struct ResourceCreators(ResourceArguments);

impl ResourceCreators {
    /// Reads the functions of the API that create resources.
    pub fn of_api() -> ResourceCreators {
        ResourceCreators(ResourceArguments::new(&ApiModel::new()))
    }

    /// Returns the resources that a script creates. If a name is computed, or if the script is not
    /// understood, the name can be made of any text of the script.
    pub fn created_by(&self, text: &str) -> Vec<ResourceName> {
        if let Some(names) = self.written_out(text) {
            return names;
        }
        let positions = self.0.created.values().flatten();
        let kinds: BTreeSet<&str> = positions.flat_map(|it| it.kinds).copied().collect();
        let literals = string_literals(text);
        let of_kind = |kind: &str| {
            literals.iter().map(|name| ResourceName::new(kind, name)).collect::<Vec<_>>()
        };
        kinds.into_iter().flat_map(of_kind).collect()
    }

    /// Returns the resources that a script creates, or `None` if not all names are written out.
    pub(super) fn written_out(&self, text: &str) -> Option<Vec<ResourceName>> {
        let script = parser::parse(text)?;
        let mut names = Vec::new();
        for use_ in &script.uses {
            let mut creators = self.0.created.iter().filter(|(path, _)| is_path_end(use_, path));
            let Some((_, positions)) = creators.next() else { continue };
            // Otherwise the function is passed on, and called elsewhere.
            let UseEnding::Called(values) = &use_.ending else { return None };
            for position in positions {
                if let Some(name) = values.get(position.index) {
                    let name = name.as_ref()?;
                    names.extend(position.kinds.iter().map(|kind| ResourceName::new(kind, name)));
                }
            }
        }
        Some(names)
    }
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
