//! The graph of a game's resources and files: who names whom, with locations. Built from the source
//! files, in parallel, with a cache of parsed files. Changes no source file.

use super::cache::ReferenceCache;
use super::damaged;
use super::lua_parser::{self, ScriptArguments};
use super::other_parsers;
use super::rules::{self, SourceFormat};
use super::sjson_parser::SjsonReferences;
use super::{Certainty, NODE_TYPE, NODES_FOLDER, NameForm, Reference};
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::file_access::{self, FileState, readers};
use engine_foundation::sjson;
use engine_resource::folder_scan::{self, ScannedFile};
use engine_resource::glob::Glob;
use engine_resource::redirects::Redirects;
use engine_resource::resource_kind::{ResourceKinds, SourceForm, kind_names};
use engine_resource::resource_name::{ResourceName, SourceName, is_inside};
use engine_resource::settings;
use std::path::{Path, PathBuf};

mod neighbourhood;
mod queries;
mod redirected;
mod resolve;

pub use neighbourhood::{
    Neighbour, NeighbourArrow, Neighbourhood, NeighbourhoodOptions, UseDirection,
};
pub use queries::{Problem, is_found_by_name, neighbours_text};
use resolve::Resolver;

/// Kinds whose resources contain resources of another kind: the part, then the container.
const PARTS: [(&str, &str); 2] =
    [(kind_names::TEXTURE, kind_names::SHEET), (kind_names::MATERIAL, kind_names::MODEL)];

/// Function that tests for a resource that no file has: built-in ones, and those that scripts
/// create; of the kind [`NODE_TYPE`], for a type of nodes of the engine.
pub type IsExternal<'a> = dyn Fn(&ResourceName) -> bool + Sync + 'a;

/// Inputs of a graph besides the files.
#[derive(Clone, Copy)]
pub struct GraphOptions<'a> {
    pub kinds: ResourceKinds,
    pub arguments: &'a ScriptArguments,
    pub is_external: &'a IsExternal<'a>,
    /// File with the parsed references of the last time.
    pub cache: Option<&'a Path>,
}

/// A file of the game.
#[derive(Clone, Debug)]
pub struct FileNode {
    /// Path relative to the game's folder.
    pub path: String,
    pub state: FileState,
    /// The resource that the file is a part of.
    pub resource: Option<ResourceName>,
    pub references: Vec<Reference>,
    /// The reason why it cannot be parsed. Texts in it that equal a name are likely references.
    pub problem: Option<String>,
    /// True if not even its texts could be searched for names.
    pub is_unknown: bool,
}

/// A resource with all its files, or a file that is no resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Resource(ResourceName),
    File(String),
}

impl std::fmt::Display for Target {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Target::Resource(resource) => write!(out, "{resource}"),
            Target::File(path) => out.write_str(path),
        }
    }
}

/// One use of a target: a reference of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReferenceUse {
    pub file: usize,
    pub reference: usize,
}

/// A resource or file of the graph.
#[derive(Debug)]
struct Node {
    target: Target,
    files: Vec<usize>,
}

/// An arrow of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    to: u32,
    from: u32,
    at: ReferenceUse,
}

/// The graph of a game.
pub struct ContentGraph {
    pub root: PathBuf,
    pub kinds: ResourceKinds,
    /// Files, sorted by path.
    pub files: Vec<FileNode>,
    /// Problems of the folder: names that clash, folders that cannot be read.
    pub problems: Vec<String>,
    /// Resources and other files, sorted by target.
    nodes: Vec<Node>,
    /// Edges by the node that is named, then by the node that names it.
    edges: Vec<Edge>,
    /// Positions in `edges`, sorted by the node that names another.
    outgoing: Vec<u32>,
    /// For each node, the start of its part of `outgoing`; then the end of the last one.
    outgoing_starts: Vec<u32>,
    /// Certain references that name nothing.
    missing: Vec<ReferenceUse>,
    /// The table of redirects, or the reason why it cannot be read.
    redirects: Result<Redirects, Error>,
    /// References by an old name of the table, sorted, with the index of the entry.
    redirected: Vec<(ReferenceUse, usize)>,
}

impl ContentGraph {
    /// Reads a game's folder. Files that cannot be parsed are problems, and the others are read.
    pub fn read(root: &Path, options: GraphOptions) -> Result<ContentGraph, Error> {
        let found = folder_scan::files(root)?;
        let mut problems = found.problems;
        let known = options.cache.map(ReferenceCache::read).unwrap_or_default();
        let known_files = known.len();
        let names: Vec<Option<SourceName>> = found
            .files
            .iter()
            .map(|file| match SourceName::of(&file.path, &options.kinds) {
                _ if folder_scan::is_reference_picture(&file.path) => None,
                Some(Ok(name)) => Some(name),
                Some(Err(message)) => {
                    problems.push(message);
                    None
                }
                None => None,
            })
            .collect();
        let parsed = parse_all(root, &found.files, &names, known, options);
        let mut files = Vec::with_capacity(found.files.len());
        let is_changed =
            parsed.iter().any(|(_, is_cached)| !is_cached) || parsed.len() != known_files;
        for ((file, name), (parsed, _)) in found.files.into_iter().zip(names).zip(parsed) {
            let (references, problem, is_unknown) = match parsed {
                Ok(references) => (references, None, false),
                Err(Damaged { message, texts }) => {
                    let is_unknown = texts.is_none();
                    let problem = format!("{}: {message}", file.path);
                    (texts.unwrap_or_default(), Some(problem), is_unknown)
                }
            };
            problems.extend(problem.clone());
            let ScannedFile { path, state } = file;
            let resource = name.map(|name| name.resource);
            files.push(FileNode { path, state, resource, references, problem, is_unknown });
        }
        if is_changed && let Some(path) = options.cache {
            ReferenceCache::write(path, &files);
        }
        let redirects = Redirects::read(root);
        problems.extend(redirects.as_ref().err().map(|error| error.message.clone()));
        let mut graph = ContentGraph {
            root: root.to_path_buf(),
            kinds: options.kinds,
            files,
            problems,
            nodes: Vec::new(),
            edges: Vec::new(),
            outgoing: Vec::new(),
            outgoing_starts: Vec::new(),
            missing: Vec::new(),
            redirects,
            redirected: Vec::new(),
        };
        graph.add_nodes();
        graph.add_edges(options.is_external);
        Ok(graph)
    }

    fn add_nodes(&mut self) {
        let target = |file: &FileNode| match &file.resource {
            Some(resource) => Target::Resource(resource.clone()),
            None => Target::File(file.path.clone()),
        };
        let mut rows: Vec<(Target, usize)> =
            self.files.iter().enumerate().map(|(at, file)| (target(file), at)).collect();
        rows.sort_compact();
        for (target, file) in rows {
            match self.nodes.last_mut() {
                Some(last) if last.target == target => last.files.push(file),
                _ => self.nodes.push(Node { target, files: vec![file] }),
            }
        }
    }

    /// Returns the node of a target.
    fn id_of(&self, target: &Target) -> Option<u32> {
        let found = self.nodes.binary_search_by(|node| node.target.cmp(target));
        found.ok().map(|at| at as u32)
    }

    fn add_edges(&mut self, is_external: &IsExternal) {
        let resolver = Resolver::new(self);
        let (old_names, nodes) = self.old_names();
        let (mut edges, mut missing, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        let mut redirected = Vec::new();
        for (from, node) in self.nodes.iter().enumerate() {
            for file in &node.files {
                for (reference, named) in self.files[*file].references.iter().enumerate() {
                    let at = ReferenceUse { file: *file, reference };
                    resolver.resolve(*file, named, &mut targets);
                    let is_name = !matches!(named.form, NameForm::Pattern | NameForm::Prefix);
                    if targets.is_empty() && is_name && !nodes.is_empty() {
                        old_names.resolve(*file, named, &mut targets);
                        redirected.extend(targets.iter().map(|entry| (at, *entry as usize)));
                        targets.iter_mut().for_each(|entry| *entry = nodes[entry]);
                    }
                    let is_certain = named.certainty == Certainty::Certain
                        && named.form != NameForm::ComponentOrMesh;
                    if targets.is_empty() && is_certain && !resolver.is_external(named, is_external)
                    {
                        missing.push(at);
                    }
                    let edge = |to: &u32| Edge { to: *to, from: from as u32, at };
                    edges.extend(targets.iter().map(edge));
                }
            }
        }
        edges.sort_compact();
        let mut outgoing: Vec<u32> = (0..edges.len() as u32).collect();
        outgoing.sort_compact_by_key(|at| edges[*at as usize].from);
        let start =
            |node: u32| outgoing.partition_point(|at| edges[*at as usize].from < node) as u32;
        self.outgoing_starts = (0..=self.nodes.len() as u32).map(start).collect();
        self.outgoing = outgoing;
        missing.sort_compact();
        redirected.sort_compact();
        (self.edges, self.missing, self.redirected) = (edges, missing, redirected);
    }

    /// Returns the reference of a use.
    pub fn reference(&self, at: ReferenceUse) -> &Reference {
        &self.files[at.file].references[at.reference]
    }

    /// Returns `path:line` of a use.
    pub fn location(&self, at: ReferenceUse) -> String {
        format!("{}:{}", self.files[at.file].path, self.reference(at).line)
    }
}

/// A file that cannot be parsed.
struct Damaged {
    message: String,
    /// Texts in it that can be names, or `None` if they are unknown.
    texts: Option<Vec<Reference>>,
}

type Parsed = (Result<Vec<Reference>, Damaged>, bool);

/// Parses all files, on all threads. True means that the result is from the cache.
fn parse_all(
    root: &Path,
    files: &[ScannedFile],
    names: &[Option<SourceName>],
    mut known: ReferenceCache,
    options: GraphOptions,
) -> Vec<Parsed> {
    let mut parsed: Vec<Option<Parsed>> =
        files.iter().map(|file| Some((Ok(known.take(&file.path, file.state)?), true))).collect();
    let new: Vec<usize> = (0..files.len()).filter(|at| parsed[*at].is_none()).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let length = new.len().div_ceil(threads).max(1);
    let parse = |at: &usize| -> (usize, Parsed) {
        let (file, name) = (&files[*at], names[*at].as_ref());
        (*at, (parse_file(root, &file.path, name, options), false))
    };
    std::thread::scope(|scope| {
        let parse = &parse;
        let running: Vec<_> = new
            .chunks(length)
            .map(|chunk| scope.spawn(move || chunk.iter().map(parse).collect::<Vec<_>>()))
            .collect();
        for thread in running {
            let found = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            for (at, result) in found {
                parsed[at] = Some(result);
            }
        }
    });
    parsed.into_iter().flatten().collect()
}

/// Parses the references of a file by its kind and ending.
fn parse_file(
    root: &Path,
    path: &str,
    name: Option<&SourceName>,
    options: GraphOptions,
) -> Result<Vec<Reference>, Damaged> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let is_exported = other_parsers::is_exported(&ending);
    let format = name.and_then(|name| rules::of_kind(&name.resource.kind)).map(|row| row.format);
    let is_own = name.is_some_and(|name| name.form == SourceForm::Own);
    let reader = match format {
        _ if path == settings::FILE => &readers::SETTINGS,
        _ if is_exported => &readers::SOURCE,
        Some(SourceFormat::Lua) => &readers::SCRIPT,
        Some(SourceFormat::Sjson { .. }) if is_own => &readers::SOURCE_TEXT,
        _ => return Ok(Vec::new()),
    };
    let bytes = file_access::read(root, path, reader)
        .map_err(|refusal| Damaged { message: refusal.to_string(), texts: None })?;
    let GraphOptions { kinds, arguments, .. } = options;
    parse(path, name, &bytes, kinds, arguments).map_err(|message| {
        let texts = damaged::references(path, &bytes, kinds, arguments);
        Damaged { message, texts }
    })
}

/// Returns the references in the bytes of a file. The message says why it cannot be parsed.
pub fn parse(
    path: &str,
    name: Option<&SourceName>,
    bytes: &[u8],
    kinds: ResourceKinds,
    arguments: &ScriptArguments,
) -> Result<Vec<Reference>, String> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    if other_parsers::is_exported(&ending) {
        return other_parsers::references(&ending, bytes, kinds);
    }
    if name.is_some_and(|name| name.resource.kind == kind_names::LUA) {
        return match std::str::from_utf8(bytes) {
            Ok(text) => Ok(lua_parser::references(text, kinds, arguments)),
            Err(_) => Err("the file is not UTF-8: save it as UTF-8 text".to_string()),
        };
    }
    let document = sjson::parse_bytes(bytes).map_err(|error| error.to_string())?;
    let mut references = SjsonReferences::new(&document, kinds);
    match name {
        Some(name) => references.add_resource(&name.resource.kind),
        None => references.add_rules(rules::SETTINGS, false),
    }
    Ok(references.found)
}
