//! Locals that stand for a module of the API for their whole life: `local World = stingray.World`.
//! Their uses are rewritten as uses of the module, so that the lint finds the same in both.

use super::parser::{InitialValue, LocalIndex, ParsedScript, UseContext, UseEnding, VariableUse};
use crate::porting_layer;
use std::collections::HashSet;

/// The table of all globals.
pub const GLOBALS: &str = "_G";

/// The value of a local that is assigned once.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AliasTarget<'a> {
    /// The table of all globals: `_G`, or `stingray`.
    Globals,
    Module(&'a str),
}

/// The globals of a game, as far as they are known.
pub struct KnownGlobals<'a, 'b> {
    pub is_module: &'b dyn Fn(&str) -> bool,
    /// Globals that some script assigns.
    pub assigned: &'b HashSet<&'a str>,
    /// True if the game requires the porting layer, or if it may do so in a way that is not seen.
    pub has_layer: bool,
}

/// Returns the globals that scripts assign by their names.
pub fn assigned_globals<'a>(scripts: &[Option<ParsedScript<'a>>]) -> HashSet<&'a str> {
    let uses = scripts.iter().flatten().flat_map(|script| &script.uses);
    let assigned = uses.filter(|use_| use_.local.is_none() && use_.ending == UseEnding::Assigned);
    assigned
        .filter_map(|use_| match use_.path.as_slice() {
            [name] | [GLOBALS, name] => Some(*name),
            _ => None,
        })
        .collect()
}

/// Rewrites the uses of such locals in a script, and paths that begin with `_G` or `stingray`.
pub fn resolve<'a>(script: &mut ParsedScript<'a>, known: &KnownGlobals<'a, '_>) {
    let targets = targets(script, known);
    for (value, _) in script.locals.iter().zip(&targets).filter(|(_, target)| target.is_some()) {
        let InitialValue::Variables(uses) = value else { continue };
        for index in uses {
            script.uses[*index].context = UseContext::Alias;
        }
    }
    for use_ in &mut script.uses {
        rewrite(use_, &targets, known);
    }
}

/// Returns the target of each local.
fn targets<'a>(
    script: &ParsedScript<'a>,
    known: &KnownGlobals<'a, '_>,
) -> Vec<Option<AliasTarget<'a>>> {
    let is_assigned = |use_: &&VariableUse| use_.path.len() == 1 && use_.is_assigned();
    let assigned: HashSet<LocalIndex> =
        script.uses.iter().filter(is_assigned).filter_map(|use_| use_.local).collect();
    let mut targets: Vec<Option<AliasTarget>> = Vec::with_capacity(script.locals.len());
    for (local, value) in script.locals.iter().enumerate() {
        let target = match value {
            InitialValue::Variables(uses) if !assigned.contains(&local) => {
                // `a or b` is known if both are the same.
                let mut values =
                    uses.iter().map(|index| target_of(&script.uses[*index], &targets, known));
                let first = values.next().flatten();
                first.filter(|first| values.all(|value| value == Some(*first)))
            }
            _ => None,
        };
        targets.push(target);
    }
    targets
}

/// Returns the value that a use reads, if it is a module or the table of all globals.
fn target_of<'a>(
    use_: &VariableUse<'a>,
    targets: &[Option<AliasTarget<'a>>],
    known: &KnownGlobals<'a, '_>,
) -> Option<AliasTarget<'a>> {
    let path = use_.path.as_slice();
    let (start, fields) = match use_.local {
        Some(local) => (*targets.get(local)?, &path[1..]),
        // In games without the layer, `stingray or _G` is `_G`.
        None if [GLOBALS, porting_layer::GLOBALS].contains(&path[0]) => {
            let is_kept = !known.assigned.contains(path[0]);
            (is_kept.then_some(AliasTarget::Globals), &path[1..])
        }
        None => (Some(AliasTarget::Globals), path),
    };
    match (start?, fields) {
        (start, []) => Some(start),
        (AliasTarget::Globals, [name]) if known.is_kept_module(name) => {
            Some(AliasTarget::Module(name))
        }
        _ => None,
    }
}

fn rewrite<'a>(
    use_: &mut VariableUse<'a>,
    targets: &[Option<AliasTarget<'a>>],
    known: &KnownGlobals<'a, '_>,
) {
    match use_.local {
        Some(local) => {
            let Some(target) = targets[local] else { return };
            use_.local = None;
            use_.path[0] = match target {
                AliasTarget::Globals => GLOBALS,
                AliasTarget::Module(name) => name,
            };
        }
        None => {
            let is_layer = use_.path[0] == porting_layer::GLOBALS && known.has_layer;
            if is_layer && !known.assigned.contains(porting_layer::GLOBALS) {
                use_.path[0] = GLOBALS;
            }
        }
    }
    if let [GLOBALS, name, ..] = use_.path.as_slice()
        && known.is_kept_module(name)
    {
        use_.path.remove(0);
    }
}

impl KnownGlobals<'_, '_> {
    /// Returns true if a global is a module of the API that no script replaces.
    fn is_kept_module(&self, name: &str) -> bool {
        (self.is_module)(name) && !self.assigned.contains(name)
    }
}

/// Returns true if a script requires the porting layer.
pub fn requires_layer(script: &ParsedScript) -> bool {
    script.uses.iter().any(|use_| {
        let is_require = use_.local.is_none() && matches!(*use_.path, ["require" | "pcall"]);
        let UseEnding::Called(values) = &use_.ending else { return false };
        let mut names = values.iter().filter_map(|value| value.text());
        is_require && names.any(|name| porting_layer::MODULES.contains(&name))
    })
}
