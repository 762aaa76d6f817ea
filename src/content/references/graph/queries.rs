//! Questions to the graph: what is missing, what is unused, who uses whom, cycles.

use super::{
    ContentGraph, Edge, Glob, NODE_TYPE, NODES_FOLDER, NameForm, Reference, ReferenceUse, Target,
    kind_names,
};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::suggest;
use engine_resource::resource_name::ResourceName;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Ends of the paths of suites, which tests run.
const SUITES: [&str; 2] = ["_test.lua", "_spec.lua"];
/// Maximum number of names in the answer about an unknown resource.
const NEAR_MAX: usize = 5;

/// A name that no resource or file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub at: ReferenceUse,
    /// `path:line` of the name.
    pub location: String,
    pub kind: String,
    pub name: String,
    /// The nearest existing name.
    pub near: Option<String>,
}

impl Problem {
    /// Returns the message for people, without the location.
    pub fn message(&self) -> String {
        let near = self.near.as_ref().map(|near| format!(", did you mean '{near}'?"));
        format!("there is no {} '{}'{}", self.kind, self.name, near.unwrap_or_default())
    }
}

/// Returns a type of nodes with the name of a script that exists, if it is near.
fn near_node_type(name: &str, scripts: Option<&Vec<&str>>) -> Option<String> {
    let (prefix, node) = name.rsplit_once('.')?;
    let scripts = scripts.into_iter().flatten();
    let names = scripts.filter_map(|name| name.strip_prefix(NODES_FOLDER));
    let names: Vec<String> = names.map(|name| name.replace('/', ".")).collect();
    let near = suggest::nearest(prefix, names.iter().map(String::as_str))?;
    Some(format!("{near}.{node}"))
}

impl ContentGraph {
    /// Returns the paths of files that could not even be searched for names.
    pub fn unknown_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|file| file.is_unknown).map(|file| &file.path[..])
    }

    /// Returns remarks about files whose references are not certain, because they are damaged.
    pub fn search_notes(&self) -> Vec<String> {
        let searched = self.files.iter().filter(|file| file.problem.is_some() && !file.is_unknown);
        let searched = match searched.count() {
            0 => None,
            1 => Some("1 file has an error".to_string()),
            count => Some(format!("{count} files have errors")),
        };
        let searched = searched
            .map(|files| format!("{files}: texts there that equal a name are likely references"));
        let unknown = self.unknown_files().next().map(|path| {
            let more = match self.unknown_files().count() - 1 {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            format!("{path}{more}: not searched for names, and may use anything")
        });
        searched.into_iter().chain(unknown).collect()
    }

    /// Returns all resources and other files.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.nodes.iter().map(|node| &node.target)
    }

    pub fn contains(&self, target: &Target) -> bool {
        self.id_of(target).is_some()
    }

    /// Returns the files of a resource: all variants, and files next to each other.
    pub fn files_of(&self, target: &Target) -> &[usize] {
        self.id_of(target).map_or(&[], |id| &self.nodes[id as usize].files)
    }

    /// Returns the size of a resource's files in bytes.
    pub fn size_of(&self, target: &Target) -> u64 {
        self.files_of(target).iter().map(|file| self.files[*file].state.size).sum()
    }

    /// Returns the missing names with their locations.
    pub fn missing(&self) -> Vec<Problem> {
        self.problems_of(self.missing_uses())
    }

    /// Returns the problems of references that name nothing.
    pub fn problems_of(&self, missing: &[ReferenceUse]) -> Vec<Problem> {
        if missing.is_empty() {
            return Vec::new();
        }
        let mut by_kind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for target in self.targets() {
            if let Target::Resource(resource) = target {
                by_kind.entry(&resource.kind).or_default().push(&resource.name);
            }
        }
        let problem = |at: &ReferenceUse| {
            let reference = self.reference(*at);
            let (kind, kinds) = (self.missing_kind(*at), self.kinds_of(reference));
            let names = kinds.iter().flat_map(|kind| by_kind.get(kind).into_iter().flatten());
            let near = match reference.form {
                NameForm::Path => suggest::nearest(&reference.name, self.paths()),
                NameForm::Component | NameForm::ComponentOrMesh => {
                    let names = names.filter_map(|name| name.strip_prefix("components/"));
                    suggest::nearest(&reference.name, names)
                }
                NameForm::NodeType => None,
                _ => suggest::nearest(&reference.name, names.copied()),
            };
            let near = match reference.form {
                NameForm::NodeType => near_node_type(&reference.name, by_kind.get(kind_names::LUA)),
                _ => near.map(str::to_string),
            };
            let (location, name) = (self.location(*at), reference.name.clone());
            Problem { at: *at, location, kind, name, near }
        };
        missing.iter().map(problem).collect()
    }

    /// Returns the kinds that a reference can name, as a text.
    pub fn missing_kind(&self, at: ReferenceUse) -> String {
        let reference = self.reference(at);
        match reference.form {
            NameForm::Path | NameForm::Relative | NameForm::Uri => "file".to_string(),
            NameForm::Module => "script".to_string(),
            NameForm::Component | NameForm::ComponentOrMesh => "component".to_string(),
            NameForm::NodeType => NODE_TYPE.to_string(),
            _ => self.kinds_of(reference).join(" or "),
        }
    }

    fn kinds_of(&self, reference: &Reference) -> Vec<&'static str> {
        let all = self.kinds.0.iter().enumerate();
        let named = all.filter(|(index, _)| reference.kinds & (1 << index) != 0);
        named.map(|(_, kind)| kind.name).collect()
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| &file.path[..])
    }

    /// Returns the uses of a target, with the names of the resources that use it.
    pub fn used_by(&self, target: &Target) -> Vec<(&Target, ReferenceUse)> {
        let Some(id) = self.id_of(target) else { return Vec::new() };
        let from = self.edges.partition_point(|edge| edge.to < id);
        let uses = self.edges[from..].iter().take_while(|edge| edge.to == id);
        uses.map(|edge| (&self.nodes[edge.from as usize].target, edge.at)).collect()
    }

    /// Returns the targets that a target names, with the location of each name.
    pub fn uses(&self, target: &Target) -> Vec<(&Target, ReferenceUse)> {
        let Some(id) = self.id_of(target) else { return Vec::new() };
        let mut uses: Vec<(&Target, ReferenceUse)> = self
            .edges_from(id)
            .map(|edge| (&self.nodes[edge.to as usize].target, edge.at))
            .collect();
        uses.sort_compact_by_key(|(_, at)| *at);
        uses
    }

    pub(super) fn edges_from(&self, id: u32) -> impl Iterator<Item = &Edge> {
        let [start, end] = [0, 1].map(|next| self.outgoing_starts[id as usize + next] as usize);
        self.outgoing[start..end].iter().map(|at| &self.edges[*at as usize])
    }

    /// Returns all targets that can be reached from some, themselves included. Likely references
    /// and beginnings of computed names count.
    pub fn reachable<'t>(&self, from: impl Iterator<Item = &'t Target>) -> BTreeSet<&Target> {
        let is_reached = self.reached_nodes(from);
        let reached = self.nodes.iter().zip(is_reached).filter(|(_, is_reached)| *is_reached);
        reached.map(|(node, _)| &node.target).collect()
    }

    fn reached_nodes<'t>(&self, from: impl Iterator<Item = &'t Target>) -> Vec<bool> {
        let mut open: Vec<u32> = from.filter_map(|target| self.id_of(target)).collect();
        let mut is_reached = vec![false; self.nodes.len()];
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut is_reached[id as usize], true) {
                open.extend(self.edges_from(id).map(|edge| edge.to));
            }
        }
        is_reached
    }

    /// Returns the roots of a game: its settings, the script that starts it, its packages and
    /// suites, the resources that the engine finds by name, and those that settings declare.
    pub fn roots(&self, declared: &[Glob], boot_script: &str) -> Vec<Target> {
        let is_root = |node: &&super::Node| match &node.target {
            target if is_found_by_name(target, boot_script) => true,
            Target::File(_) => false,
            Target::Resource(ResourceName { kind, .. }) => {
                let mut paths = node.files.iter().map(|file| &self.files[*file].path);
                kind == kind_names::PACKAGE
                    || paths.any(|path| {
                        SUITES.iter().any(|end| path.ends_with(end))
                            || declared.iter().any(|glob| glob.matches(path))
                    })
            }
        };
        self.nodes.iter().filter(is_root).map(|node| node.target.clone()).collect()
    }

    /// Returns the resources that cannot be reached from the roots.
    pub fn dangling(&self, declared: &[Glob], boot_script: &str) -> Vec<&Target> {
        let roots = self.roots(declared, boot_script);
        let is_reached = self.reached_nodes(roots.iter());
        let left = self.targets().zip(is_reached).filter(|(_, is_reached)| !is_reached);
        let is_resource = |target: &&Target| matches!(target, Target::Resource(_));
        left.map(|(target, _)| target).filter(is_resource).collect()
    }

    /// Returns the cycles: sets of resources that name each other in a cycle. Only certain
    /// references count. Scripts that require each other are cycles, too.
    pub fn cycles(&self) -> Vec<Vec<&Target>> {
        let mut search = CycleSearch::new(self);
        for id in 0..self.nodes.len() as u32 {
            search.visit(id);
        }
        let mut cycles: Vec<Vec<&Target>> = search
            .found
            .into_iter()
            .map(|ids| {
                let mut names: Vec<&Target> =
                    ids.iter().map(|id| &self.nodes[*id as usize].target).collect();
                names.sort_compact();
                names
            })
            .collect();
        cycles.sort_compact();
        cycles
    }

    /// Returns the resource of a file, or the file if it is none.
    pub fn target_of(&self, path: &str) -> Option<Target> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(match &self.files[at].resource {
            Some(resource) => Target::Resource(resource.clone()),
            None => Target::File(path.to_string()),
        })
    }

    /// Finds the target that a text on a command line means: `textures/wall.texture`, a name that
    /// only one resource has, or the path of a file.
    pub fn find(&self, text: &str) -> Result<Target, String> {
        let text = text.trim_end_matches('/');
        if let Some(resource) = ResourceName::parse(text) {
            let target = Target::Resource(resource);
            if self.contains(&target) {
                return Ok(target);
            }
        }
        if let Some(target) = self.target_of(text) {
            return Ok(target);
        }
        let resources = || {
            self.targets().filter_map(|target| match target {
                Target::Resource(resource) => Some(resource),
                Target::File(_) => None,
            })
        };
        let named: Vec<&ResourceName> =
            resources().filter(|resource| resource.name == text).collect();
        match named[..] {
            [only] => return Ok(Target::Resource(only.clone())),
            [] => {}
            _ => {
                let names: Vec<String> = named.iter().map(|name| name.to_string()).collect();
                let names = names.join(", ");
                return Err(format!("'{text}' is the name of several resources: {names}"));
            }
        }
        if let Some((old, new)) = self.renamed(text) {
            return Err(format!(
                "there is no resource or file '{text}': '{old}' is an old name of '{new}'"
            ));
        }
        let is_last = |name: &str| name.rsplit('/').next() == Some(text);
        let last: Vec<String> = resources()
            .filter(|resource| is_last(&resource.name))
            .map(|resource| format!("'{resource}'"))
            .take(NEAR_MAX)
            .collect();
        if !last.is_empty() {
            let last = last.join(" or ");
            return Err(format!("there is no resource or file '{text}', did you mean {last}?"));
        }
        let full: Vec<String> = resources().map(ResourceName::to_string).collect();
        let stems = resources().map(|resource| resource.name.as_str());
        let near = suggest::nearest(text, full.iter().map(String::as_str).chain(stems));
        let hint = near.map_or(String::new(), |near| format!(", did you mean '{near}'?"));
        Err(format!("there is no resource or file '{text}'{hint}"))
    }

    /// Finds the targets that a text on a command line means: one, or all of a folder.
    pub fn find_all(&self, text: &str) -> Result<Vec<Target>, String> {
        let folder = format!("{}/", text.trim_end_matches('/'));
        let from = self.files.partition_point(|file| file.path < folder);
        let inside: BTreeSet<Target> = self.files[from..]
            .iter()
            .take_while(|file| file.path.starts_with(&folder))
            .filter_map(|file| self.target_of(&file.path))
            .collect();
        match self.find(text) {
            Ok(target) if !text.ends_with('/') => Ok(vec![target]),
            _ if !inside.is_empty() => Ok(inside.into_iter().collect()),
            found => found.map(|target| vec![target]),
        }
    }

    /// Returns the graph in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph resources {\n  rankdir=LR\n  node [shape=box]\n");
        for (from, to) in self.arrows() {
            let quoted = |target: &Target| json::quoted(&target.to_string());
            let _ = writeln!(out, "  {} -> {}", quoted(from), quoted(to));
        }
        out.push_str("}\n");
        out
    }

    /// Returns the graph as JSON: `resources` with sizes and files, and `references` with
    /// locations.
    pub fn to_json(&self) -> SjsonTree {
        let text = |text: &str| SjsonTree::String(text.to_string());
        let resources = self.nodes.iter().map(|node| {
            let files = node.files.iter().map(|file| text(&self.files[*file].path)).collect();
            SjsonTree::Object(vec![
                ("name".to_string(), text(&node.target.to_string())),
                ("bytes".to_string(), SjsonTree::Number(self.size_of(&node.target) as f64)),
                ("files".to_string(), SjsonTree::Array(files)),
            ])
        });
        let references = self.edges.iter().map(|edge| {
            self.use_json(
                &self.nodes[edge.from as usize].target,
                &self.nodes[edge.to as usize].target,
                edge.at,
            )
        });
        SjsonTree::Object(vec![
            ("version".to_string(), SjsonTree::Number(1.0)),
            ("resources".to_string(), SjsonTree::Array(resources.collect())),
            ("references".to_string(), SjsonTree::Array(references.collect())),
        ])
    }

    /// Returns one arrow of the graph as JSON.
    pub fn use_json(&self, from: &Target, to: &Target, at: ReferenceUse) -> SjsonTree {
        let text = |text: &str| SjsonTree::String(text.to_string());
        let reference = self.reference(at);
        SjsonTree::Object(vec![
            ("from".to_string(), text(&from.to_string())),
            ("to".to_string(), text(&to.to_string())),
            ("file".to_string(), text(&self.files[at.file].path)),
            ("line".to_string(), SjsonTree::Number(f64::from(reference.line))),
            ("start".to_string(), SjsonTree::Number(reference.span.start as f64)),
            ("end".to_string(), SjsonTree::Number(reference.span.end as f64)),
            ("certainty".to_string(), text(reference.certainty.name())),
        ])
    }

    fn arrows(&self) -> BTreeSet<(&Target, &Target)> {
        let target = |id: u32| &self.nodes[id as usize].target;
        self.edges.iter().map(|edge| (target(edge.from), target(edge.to))).collect()
    }
}

/// Returns true for what the engine finds by its name, without a reference: the settings, the
/// table of redirects, the script that starts the game, the mixer `main` and the physics properties
/// `global`.
pub fn is_found_by_name(target: &Target, boot_script: &str) -> bool {
    let boot = boot_script.replace('.', "/");
    match target {
        Target::File(path) => {
            [engine_resource::settings::FILE, engine_resource::redirects::FILE].contains(&&path[..])
        }
        Target::Resource(ResourceName { kind, name }) => match &kind[..] {
            kind_names::LUA => *name == boot || name.strip_suffix("/init") == Some(&boot[..]),
            kind_names::PHYSICS_PROPERTIES => name == "global",
            kind_names::MIXER => name == "main",
            _ => false,
        },
    }
}

/// Returns a list of names for a message, shortened.
pub fn neighbours_text(targets: &[&Target]) -> String {
    let names: Vec<String> = targets.iter().take(NEAR_MAX).map(|name| name.to_string()).collect();
    let rest = targets.len().saturating_sub(NEAR_MAX);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// Search for strongly connected components (Tarjan), without recursion.
struct CycleSearch<'g> {
    graph: &'g ContentGraph,
    next: u32,
    index: Vec<Option<u32>>,
    low: Vec<u32>,
    is_open: Vec<bool>,
    stack: Vec<u32>,
    found: Vec<Vec<u32>>,
}

impl<'g> CycleSearch<'g> {
    fn new(graph: &'g ContentGraph) -> CycleSearch<'g> {
        let count = graph.nodes.len();
        CycleSearch {
            graph,
            next: 0,
            index: vec![None; count],
            low: vec![0; count],
            is_open: vec![false; count],
            stack: Vec::new(),
            found: Vec::new(),
        }
    }

    fn certain(&self, id: u32) -> Vec<u32> {
        let is_certain =
            |edge: &&Edge| self.graph.reference(edge.at).certainty == super::Certainty::Certain;
        self.graph.edges_from(id).filter(is_certain).map(|edge| edge.to).collect()
    }

    fn visit(&mut self, root: u32) {
        if self.index[root as usize].is_some() {
            return;
        }
        let mut work = vec![(root, self.certain(root), 0)];
        self.enter(root);
        while let Some((id, children, at)) = work.last_mut() {
            let id = *id;
            if let Some(child) = children.get(*at).copied() {
                *at += 1;
                match self.index[child as usize] {
                    None => {
                        self.enter(child);
                        let below = self.certain(child);
                        work.push((child, below, 0));
                    }
                    Some(index) if self.is_open[child as usize] => {
                        self.low[id as usize] = self.low[id as usize].min(index);
                    }
                    Some(_) => {}
                }
                continue;
            }
            let is_ring = children.contains(&id);
            work.pop();
            if let Some((parent, ..)) = work.last() {
                let parent = *parent as usize;
                self.low[parent] = self.low[parent].min(self.low[id as usize]);
            }
            if Some(self.low[id as usize]) == self.index[id as usize] {
                self.close(id, is_ring);
            }
        }
    }

    fn enter(&mut self, id: u32) {
        self.index[id as usize] = Some(self.next);
        self.low[id as usize] = self.next;
        self.is_open[id as usize] = true;
        self.stack.push(id);
        self.next += 1;
    }

    fn close(&mut self, id: u32, is_ring: bool) {
        let mut group = Vec::new();
        while let Some(top) = self.stack.pop() {
            self.is_open[top as usize] = false;
            group.push(top);
            if top == id {
                break;
            }
        }
        if group.len() > 1 || is_ring {
            self.found.push(group);
        }
    }
}
