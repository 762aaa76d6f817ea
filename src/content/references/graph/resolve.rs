//! Resolution of names: from a reference to the resources or files that it can mean.

use super::{
    ContentGraph, IsExternal, NODE_TYPE, NODES_FOLDER, NameForm, PARTS, Reference, Target,
    is_inside,
};
use engine_foundation::compact_sort::CompactSort;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Finds the targets of references.
pub struct Resolver<'g> {
    graph: &'g ContentGraph,
    /// Ranges of `sorted` by the name of their resource.
    by_name: HashMap<&'g str, Range<u32>>,
    /// Nodes of files by path.
    by_path: HashMap<&'g str, u32>,
    /// Names of resources with their nodes, sorted, for patterns and beginnings.
    sorted: Vec<NamedNode<'g>>,
}

/// Name and kind of a resource, and its node.
type NamedNode<'g> = (&'g str, &'g str, u32);

/// Returns the range of each name in a sorted list.
fn ranges<'g>(sorted: &[NamedNode<'g>]) -> HashMap<&'g str, Range<u32>> {
    let mut ranges = HashMap::with_capacity(sorted.len());
    let mut start = 0;
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        let end = start + same.len() as u32;
        ranges.insert(same[0].0, start..end);
        start = end;
    }
    ranges
}

impl<'g> Resolver<'g> {
    pub fn new(graph: &'g ContentGraph) -> Resolver<'g> {
        let mut by_path = HashMap::with_capacity(graph.files.len());
        let mut sorted = Vec::with_capacity(graph.nodes.len());
        for (id, node) in graph.nodes.iter().enumerate() {
            if let Target::Resource(resource) = &node.target {
                sorted.push((&resource.name[..], &resource.kind[..], id as u32));
            }
            for file in &node.files {
                by_path.insert(&graph.files[*file].path[..], id as u32);
            }
        }
        sorted.sort_compact();
        let by_name = ranges(&sorted);
        Resolver { graph, by_name, by_path, sorted }
    }

    /// Creates a resolver that knows only old names. It finds their entries in place of nodes.
    pub fn of_old_names(graph: &'g ContentGraph, olds: &[(&'g ResourceName, u32)]) -> Resolver<'g> {
        let row = |(old, entry): &(&'g ResourceName, u32)| (&old.name[..], &old.kind[..], *entry);
        let mut sorted: Vec<_> = olds.iter().map(row).collect();
        sorted.sort_compact();
        let by_name = ranges(&sorted);
        Resolver { graph, by_name, by_path: HashMap::new(), sorted }
    }

    /// Returns the resources with a name.
    fn named(&self, name: &str) -> &[NamedNode<'g>] {
        let range = self.by_name.get(name);
        range.map_or(&[], |range| &self.sorted[range.start as usize..range.end as usize])
    }

    fn find(&self, kind: &str, name: &str) -> Option<u32> {
        self.named(name).iter().find(|row| row.1 == kind).map(|row| row.2)
    }

    /// Returns the first resource of one of the kinds, or the container of a part.
    fn find_of_kinds(&self, reference: &Reference, name: &str) -> Option<u32> {
        let kinds = || {
            let all = self.graph.kinds.0.iter().enumerate();
            all.filter(|(at, _)| reference.kinds & (1 << at) != 0).map(|(_, kind)| kind.name)
        };
        let found = kinds().find_map(|kind| self.find(kind, name));
        found.or_else(|| kinds().find_map(|kind| self.find_part(kind, name)))
    }

    /// Returns the container of a part such as `sheets/hero/run_01`.
    fn find_part(&self, kind: &str, name: &str) -> Option<u32> {
        let (_, container) = PARTS.iter().find(|(part, _)| *part == kind)?;
        let slashes = name.match_indices('/').map(|(at, _)| at);
        slashes.rev().find_map(|at| self.find(container, &name[..at]))
    }

    /// Collects the nodes that a reference means. Several are possible for texts and patterns.
    pub fn resolve(&self, file: usize, reference: &Reference, targets: &mut Vec<u32>) {
        targets.clear();
        let name = reference.name.as_str();
        match reference.form {
            NameForm::Name => targets.extend(self.find_of_kinds(reference, name)),
            NameForm::Module => targets.extend(self.module(name)),
            NameForm::Component | NameForm::ComponentOrMesh => {
                targets.extend(self.find(kind_names::LUA, &format!("components/{name}")))
            }
            NameForm::NodeType => targets.extend(self.node_type(name)),
            NameForm::Path => targets.extend(self.by_path.get(name)),
            NameForm::Relative | NameForm::Uri => {
                let path = relative_path(&self.graph.files[file].path, reference);
                targets.extend(path.and_then(|path| self.by_path.get(&path[..]).copied()));
            }
            NameForm::Clip => targets.extend(match name.split_once('#') {
                Some((model, _)) => self.find(kind_names::MODEL, model),
                None => self.find(kind_names::ANIMATION, name),
            }),
            NameForm::ModelFile => {
                let name = name.split_once('#').map_or(name, |(model, _)| model);
                let found = self.by_path.get(name).copied();
                targets.extend(found.or_else(|| self.find(kind_names::MODEL, name)));
            }
            NameForm::WithEnding => {
                let stem = self.without_ending(name);
                let found = self.find_of_kinds(reference, stem);
                targets.extend(found.or_else(|| self.find_of_kinds(reference, name)));
            }
            NameForm::Pattern => self.matching(reference, targets),
            NameForm::Text => self.text(name, targets),
            NameForm::Prefix => {
                let from = self.sorted.partition_point(|(known, ..)| *known < name);
                let same = self.sorted[from..].iter().take_while(|row| row.0.starts_with(name));
                targets.extend(same.map(|row| row.2));
            }
        }
    }

    fn module(&self, name: &str) -> Option<u32> {
        let path = match name.contains('.') {
            true => Cow::Owned(name.replace('.', "/")),
            false => Cow::Borrowed(name),
        };
        let found = self.find(kind_names::LUA, &path);
        found.or_else(|| self.find(kind_names::LUA, &format!("{path}/init")))
    }

    /// Returns the script of a type of nodes. The name of the node in it can have dots itself.
    fn node_type(&self, name: &str) -> Option<u32> {
        let mut dots = name.match_indices('.').map(|(at, _)| at).rev();
        dots.find_map(|at| {
            let script = format!("{NODES_FOLDER}{}", name[..at].replace('.', "/"));
            self.find(kind_names::LUA, &script)
        })
    }

    /// Returns the name without the ending of a file, if it has one.
    fn without_ending<'n>(&self, name: &'n str) -> &'n str {
        match name.rsplit_once('.') {
            Some((stem, ending)) if self.graph.kinds.by_extension(ending).is_some() => stem,
            _ => name,
        }
    }

    fn text(&self, name: &str, targets: &mut Vec<u32>) {
        targets.extend(self.named(name).iter().map(|row| row.2));
        if let Some((name, kind)) = name.rsplit_once('.') {
            targets.extend(self.find(kind, name));
        }
        if let Some(model) = name.split_once('#').map(|(model, _)| model) {
            targets.extend(self.find(kind_names::MODEL, model));
        }
        targets.extend(self.by_path.get(name).copied());
        if targets.is_empty() {
            targets.extend(PARTS.iter().find_map(|(part, _)| self.find_part(part, name)));
        }
        if targets.is_empty() && name.contains(['.', '/']) {
            targets.extend(self.module(name));
        }
        targets.sort_compact();
        targets.dedup();
    }

    /// Collects the resources that a pattern of a package means.
    fn matching(&self, reference: &Reference, targets: &mut Vec<u32>) {
        let (before, after) = reference.name.split_once('*').unwrap_or((&reference.name, ""));
        let is_exact = !reference.name.contains('*');
        let from = self.sorted.partition_point(|(known, ..)| *known < before);
        for (name, kind, id) in &self.sorted[from..] {
            let Some(rest) = name.strip_prefix(before) else { break };
            let is_named = match is_exact {
                true => rest.is_empty(),
                false => rest.ends_with(after),
            };
            let is_of_kind = reference.kinds == 0
                || self.graph.kinds.index_of(kind).is_some_and(|at| reference.kinds & 1 << at != 0);
            if is_named && is_of_kind {
                targets.push(*id);
            }
        }
    }

    /// Returns true if a reference without targets names nothing that is missing.
    pub fn is_external(&self, reference: &Reference, is_external: &IsExternal) -> bool {
        let name = reference.name.as_str();
        match reference.form {
            // Clips of the unit's own model, and a pattern without matches.
            NameForm::Clip => !name.contains('#'),
            NameForm::Pattern | NameForm::Text | NameForm::Prefix => true,
            NameForm::Module => {
                is_external(&ResourceName::new(kind_names::LUA, &name.replace('.', "/")))
            }
            NameForm::Component | NameForm::ComponentOrMesh => {
                is_external(&ResourceName::new(kind_names::LUA, &format!("components/{name}")))
            }
            NameForm::NodeType => is_external(&ResourceName::new(NODE_TYPE, name)),
            NameForm::Name | NameForm::WithEnding => {
                let kinds = self.graph.kinds.0.iter().enumerate();
                let mut kinds = kinds.filter(|(at, _)| reference.kinds & (1 << at) != 0);
                kinds.any(|(_, kind)| is_external(&ResourceName::new(kind.name, name)))
            }
            NameForm::Path | NameForm::Relative | NameForm::Uri | NameForm::ModelFile => false,
        }
    }
}

impl ContentGraph {
    /// Returns the path from the game's folder that a relative path of a file names, if it is a
    /// file of the target.
    pub fn relative_target(
        &self,
        file: &super::FileNode,
        reference: &Reference,
        target: &Target,
    ) -> Option<String> {
        let path = self.relative_path(file, reference)?;
        let is_path = |at: &usize| self.files[*at].path == path;
        self.files_of(target).iter().any(is_path).then_some(path)
    }

    /// Returns the path from the game's folder that a relative path of a file names.
    pub fn relative_path(&self, file: &super::FileNode, reference: &Reference) -> Option<String> {
        relative_path(&file.path, reference)
    }
}

/// Returns the path from the game's folder that a relative reference names.
fn relative_path(file: &str, reference: &Reference) -> Option<String> {
    let name = match reference.form {
        NameForm::Uri => percent_decoded(&reference.name)?,
        _ => reference.name.clone(),
    };
    joined(file, &name)
}

/// Returns the path from the game's folder of a path relative to a file's folder, or `None` if it
/// leads out of the game's folder.
pub fn joined(file: &str, named: &str) -> Option<String> {
    let named = named.replace('\\', "/");
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in named.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    (!named.starts_with('/') && is_inside(&path)).then_some(path)
}

/// Decodes `%20` and similar escapes.
fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let digits = text.get(at + 1..at + 3)?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}
