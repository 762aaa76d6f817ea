//! Names of resources in scripts: the resources that scripts create, and names that are written out
//! where a function takes a resource, and that no resource has.

use super::MissingResource;
use super::aliases::{self, KnownGlobals};
use super::parser::{self, CallArgument, ParsedScript, UseEnding, VariableUse};
use crate::docgen::model::ApiModel;
use crate::resource::string_literals;
use crate::resource_arguments::ResourceArguments;
use crate::source_scanner::{SourceToken, SourceTokenKind, tokens};
use engine_resource::resource_name::ResourceName;
use std::collections::{BTreeSet, HashSet};

/// Function that tests whether a resource exists: the name is its second argument.
const TEST: [&str; 2] = ["Application", "can_get"];

/// Ends of the paths of suites, which may name resources that do not exist.
const SUITES: [&str; 4] = ["_test.lua", "_spec.lua", "_case.lua", "_tests.lua"];

/// The resources that the scripts of a game create.
#[derive(Debug, Default)]
pub struct CreatedResources {
    names: HashSet<ResourceName>,
    /// Kinds and beginnings of names that are computed: `"tiles/" .. number`.
    prefixes: Vec<(&'static str, String)>,
}

impl CreatedResources {
    /// Returns true if a script creates the resource, or may create it.
    pub fn contains(&self, resource: &ResourceName) -> bool {
        let is_of = |(kind, prefix): &(&'static str, String)| {
            resource.kind == *kind && resource.name.starts_with(prefix)
        };
        self.names.contains(resource) || self.prefixes.iter().any(is_of)
    }

    fn add_literals(&mut self, kind: &str, text: &str) {
        let names = string_literals(text).into_iter();
        self.names.extend(names.map(|name| ResourceName::new(kind, name)));
    }
}

/// The functions of the API that create resources, such as textures that a Gui is drawn into.
pub struct ResourceCreators(ResourceArguments);

impl ResourceCreators {
    /// Reads the functions of the API.
    pub fn of_api() -> ResourceCreators {
        ResourceCreators(ResourceArguments::new(&ApiModel::new()))
    }

    /// Returns the resources that scripts create. A computed name can be any literal of the
    /// scripts, or any name with the literal at its beginning.
    pub fn created_by(&self, texts: &[&str]) -> CreatedResources {
        let mut created = CreatedResources::default();
        let mut computed = BTreeSet::new();
        for text in texts {
            let Some(found) = self.names(text) else {
                // A script that is not understood can create a resource of any of its literals.
                let kinds = self.0.created.values().flatten().flat_map(|it| it.kinds);
                kinds.for_each(|kind| created.add_literals(kind, text));
                continue;
            };
            for (kind, name) in found {
                match name {
                    CallArgument::Text(name) => {
                        created.names.insert(ResourceName::new(kind, name));
                    }
                    CallArgument::Prefixed(prefix) if !prefix.is_empty() => {
                        created.prefixes.push((kind, prefix.to_string()));
                    }
                    _ => {
                        computed.insert(kind);
                    }
                }
            }
        }
        for kind in computed {
            texts.iter().for_each(|text| created.add_literals(kind, text));
        }
        created
    }

    /// Returns the kinds and names of the resources that a script creates, or `None` if it is not
    /// understood.
    fn names<'a>(&self, text: &'a str) -> Option<Vec<(&'static str, CallArgument<'a>)>> {
        let mut script = parser::parse(text)?;
        let is_module = |name: &str| {
            let mut paths = self.0.created.keys();
            paths.any(|path| path.split_once('.').is_some_and(|(module, _)| module == name))
        };
        let known =
            KnownGlobals { is_module: &is_module, assigned: &HashSet::new(), has_layer: true };
        aliases::resolve(&mut script, &known);
        let mut names = Vec::new();
        for use_ in &script.uses {
            let mut creators = self.0.created.iter().filter(|(path, _)| is_path_end(use_, path));
            let Some((_, positions)) = creators.next() else { continue };
            for position in positions {
                let name = match &use_.ending {
                    UseEnding::Called(values) => values.get(position.index).copied(),
                    // The function is passed on, and called elsewhere.
                    _ => Some(CallArgument::Other),
                };
                names.extend(name.into_iter().flat_map(|name| of_kinds(position.kinds, name)));
            }
        }
        let tokens = tokens(text)?;
        for (path, positions) in &self.0.created {
            let method = path.split_once('.').map_or("", |(_, name)| name);
            for position in positions.iter().filter(|position| position.index == 1) {
                let found = arguments_of_method(&tokens, method);
                names.extend(found.flat_map(|name| of_kinds(position.kinds, name)));
            }
        }
        Some(names)
    }
}

/// Returns a name with each of its kinds. A name with an escape is not what is written.
fn of_kinds<'a>(
    kinds: &'static [&'static str],
    name: CallArgument<'a>,
) -> impl Iterator<Item = (&'static str, CallArgument<'a>)> {
    let is_written_out = match name {
        CallArgument::Text(text) | CallArgument::Prefixed(text) => !text.contains('\\'),
        CallArgument::Other => true,
    };
    let name = if is_written_out { name } else { CallArgument::Other };
    kinds.iter().map(move |kind| (*kind, name))
}

/// Returns the first arguments of the calls of a method: `image:to_texture("tiles/rock")`.
fn arguments_of_method<'t, 'a>(
    tokens: &'t [SourceToken<'a>],
    method: &'t str,
) -> impl Iterator<Item = CallArgument<'a>> + use<'t, 'a> {
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let is_call = move |at: &usize| text_at(at - 1) == ":" && text_at(*at) == method;
    (1..tokens.len()).filter(is_call).map(move |at| {
        let first = if text_at(at + 1) == "(" { at + 2 } else { at + 1 };
        let literal = tokens.get(first).filter(|token| token.kind == SourceTokenKind::Text);
        match literal {
            Some(token) if text_at(first + 1) == ".." => {
                CallArgument::Prefixed(parser::unquoted(token.text))
            }
            Some(token) if first == at + 1 || [",", ")"].contains(&text_at(first + 1)) => {
                CallArgument::Text(parser::unquoted(token.text))
            }
            _ => CallArgument::Other,
        }
    })
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
                    tested.extend(values.get(1).and_then(|name| name.text()));
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
            let name = values.get(position.index)?.text()?;
            // A name with an escape is not what is written.
            if name.contains('\\') || self.tested.contains(name) {
                return None;
            }
            (self.missing)(position.kinds, name)
        })
    }
}
