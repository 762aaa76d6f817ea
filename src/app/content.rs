//! The graph of a game's resources and files, with what only the engine knows: the functions that
//! take names of resources, built-in resources, resources that scripts create, and settings.

use crate::resource_kinds::KINDS;
use engine_content::merge::lists_without_ids as lists_of;
use engine_content::references::{
    ContentGraph, FileNode, GraphOptions, NODE_TYPE, NameForm, Problem, ReferenceUse,
    ScriptArguments, Target,
};
use engine_foundation::file_access::{self, readers};
use engine_foundation::own_folder;
use engine_foundation::sjson;
use engine_foundation::{Error, error};
use engine_platform as platform;
use engine_resource::glob::Glob;
use engine_resource::project::Project;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::{ResourceName, SourceName, is_script};
use engine_resource::settings::{self, Settings};
use engine_runtime::built_in_resources::is_built_in;
use engine_script::api::flow;
use engine_script::lint::ResourceCreators;
use engine_script::resource_arguments;
use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

/// Functions whose first argument is the kind of the resource that the second names.
const BY_KIND: [&str; 2] = ["Application.data", "Application.can_get"];

/// Modules of the test library, which suites and their helpers can require.
const TEST_MODULES: [&str; 3] = ["busted", "luassert", "say"];

/// File in the engine's own folder with the references of the last time.
const CACHE: &str = "references";

/// Checks that a folder has a game: settings, or the script that starts games without settings. A
/// game whose script is missing has one, too, so that commands can repair it.
///
/// # Errors
/// Returns an error that says what is missing, and where a game is, if one is near.
pub fn check_folder(folder: &Path) -> Result<(), Error> {
    let project = Project::open(folder)?;
    if file_access::is_file(folder, settings::FILE) {
        return Ok(());
    }
    let defaults = Settings::read(folder, platform::NAME)?;
    let message = project.missing_boot_message(defaults.text("boot_script"));
    message.map_or(Ok(()), |message| Err(Error::new(message)))
}

/// Checks that a folder has the script that starts its game.
///
/// # Errors
/// Returns an error that says what is missing, and where a game is, if one is near.
pub fn check_boot_script(folder: &Path) -> Result<(), Error> {
    let project = Project::open(folder)?;
    // Settings with an error are those of a game.
    let Ok(settings) = Settings::read(folder, platform::NAME) else { return Ok(()) };
    let message = project.missing_boot_message(settings.text("boot_script"));
    message.map_or(Ok(()), |message| Err(Error::new(message)))
}

/// Reads the graph of a game's folder.
pub fn graph(folder: &Path) -> Result<ContentGraph, Error> {
    let project = Project::open(folder)?;
    let mut arguments = ScriptArguments { by_kind: BY_KIND.to_vec(), ..ScriptArguments::default() };
    for (function, positions) in resource_arguments::kinds_by_function() {
        let positions = positions.iter().map(|at| (at.index, at.kinds.to_vec())).collect();
        arguments.named.insert(function, positions);
    }
    // A module that no file of the folder has can be one of the engine, or on another path.
    let is_module = |resource: &ResourceName| {
        let first = resource.name.split('/').next().unwrap_or_default();
        resource.kind == kind_names::LUA
            && (project.script(&resource.name).is_ok() || TEST_MODULES.contains(&first))
    };
    // Only games with graphs need the names.
    let engine_nodes: OnceLock<HashSet<String>> = OnceLock::new();
    let is_external = |resource: &ResourceName| match resource.kind == NODE_TYPE {
        true => engine_nodes.get_or_init(flow::engine_names).contains(&resource.name),
        false => is_built_in(resource) || is_module(resource),
    };
    // A folder that cannot be written is read again each time. One without a game stays as it is.
    let own = check_folder(folder).is_ok().then(|| own_folder::create(folder).ok()).flatten();
    let cache = own.map(|own| own.join(CACHE));
    let options = GraphOptions {
        kinds: KINDS,
        arguments: &arguments,
        is_external: &is_external,
        cache: cache.as_deref(),
    };
    ContentGraph::read(folder, options)
}

/// Returns an error if a text on a command line means a resource that belongs to the engine.
pub fn check_own(graph: &ContentGraph, text: &str) -> Result<(), Error> {
    let is_named = match ResourceName::parse(text) {
        Some(name) => is_built_in(&name),
        None => KINDS.0.iter().any(|kind| is_built_in(&ResourceName::new(kind.name, text))),
    };
    match is_named && graph.find_all(text).is_err() {
        true => Err(error!(
            "'{text}' belongs to the engine, and is no file of the game: commands cannot change it"
        )),
        false => Ok(()),
    }
}

/// Returns an error if a text on a command line means a resource of the engine, which cannot take
/// the place of one of the game.
pub fn check_replacement(graph: &ContentGraph, text: &str) -> Result<(), Error> {
    check_own(graph, text).map_err(|_| {
        error!(
            "'{text}' belongs to the engine, and cannot take the place of a resource of the game"
        )
    })
}

/// Returns the names that no resource has, without those that scripts create.
pub fn missing(graph: &ContentGraph) -> Vec<Problem> {
    graph.problems_of(&missing_uses(graph))
}

/// Returns the references that name nothing, without those whose resource a script creates.
pub fn missing_uses(graph: &ContentGraph) -> Vec<ReferenceUse> {
    let mut missing = graph.missing_uses().to_vec();
    if missing.is_empty() {
        return missing;
    }
    let scripts: Vec<String> = graph
        .files
        .iter()
        .filter(|file| is_script(&file.path))
        .filter_map(|file| file_access::read_text(&graph.root, &file.path, &readers::SCRIPT).ok())
        .collect();
    let texts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    let created = ResourceCreators::of_api().created_by(&texts);
    missing.retain(|at| {
        let reference = graph.reference(*at);
        let kinds = KINDS.0.iter().enumerate();
        let mut kinds = kinds.filter(|(at, _)| reference.kinds & (1 << at) != 0);
        !kinds.any(|(_, kind)| created.contains(&ResourceName::new(kind.name, &reference.name)))
    });
    missing
}

/// Returns an error for each type of nodes whose script is not in a bundle: `is_left_out` returns
/// true for the paths of such files. With `with_missing`, also for types that no script has.
pub fn nodes_left_out(
    graph: &ContentGraph,
    is_left_out: &dyn Fn(&str) -> bool,
    with_missing: bool,
) -> Vec<String> {
    let mut errors = Vec::new();
    let scripts = graph
        .targets()
        .filter(|target| matches!(target, Target::Resource(it) if it.kind == kind_names::LUA));
    for script in scripts {
        let files = graph.files_of(script);
        if !files.iter().all(|file| is_left_out(&graph.files[*file].path)) {
            continue;
        }
        for (_, at) in graph.used_by(script) {
            let reference = graph.reference(at);
            let is_node = reference.form == NameForm::NodeType;
            if is_node && !is_left_out(&graph.files[at.file].path) {
                errors.push(format!(
                    "{}: the node type '{}' is in {script}, which is not in the bundle",
                    graph.location(at),
                    reference.name
                ));
            }
        }
    }
    if with_missing {
        let missing = graph.missing_uses().iter().copied();
        let of_nodes = missing.filter(|at| {
            let is_node = graph.reference(*at).form == NameForm::NodeType;
            is_node && !is_left_out(&graph.files[at.file].path)
        });
        let problems = graph.problems_of(&of_nodes.collect::<Vec<_>>());
        errors.extend(problems.iter().map(|it| format!("{}: {}", it.location, it.message())));
    }
    errors
}

/// Returns a warning for each file of data whose lists have objects without ids, which a merge
/// compares by content. The formats of the engine decide about ids themselves.
pub fn lists_without_ids(graph: &ContentGraph) -> Vec<String> {
    let is_data = |file: &&FileNode| {
        let name = SourceName::of(&file.path, &KINDS).and_then(Result::ok);
        name.is_some_and(|name| name.resource.kind == kind_names::CONFIG)
    };
    let mut warnings = Vec::new();
    for FileNode { path, .. } in graph.files.iter().filter(is_data) {
        let bytes = file_access::read(&graph.root, path, &readers::SOURCE_TEXT);
        let document = bytes.ok().and_then(|bytes| sjson::parse_bytes(&bytes).ok());
        let lines = document.as_ref().map(lists_of).unwrap_or_default();
        let Some(line) = lines.first() else { continue };
        let lists = match lines.len() {
            1 => "this list has objects without an id of their own".to_string(),
            count => format!("{count} lists from here have objects without an id of their own"),
        };
        warnings.push(format!("{path}:{line}: {lists}, and merges compare them: give each an id"));
    }
    warnings
}

/// Returns the name of the script that starts a game.
pub fn boot_script(graph: &ContentGraph) -> Result<String, Error> {
    Ok(Settings::read(&graph.root, platform::NAME)?.text("boot_script").to_string())
}

/// Returns the resources that cannot be reached from the roots of the game.
pub fn unused(graph: &ContentGraph) -> Result<Vec<&Target>, Error> {
    let settings = Settings::read(&graph.root, platform::NAME)?;
    let declared = settings.globs("content.roots")?;
    Ok(graph.dangling(&declared, settings.text("boot_script")))
}

/// Returns the resources that a bundle needs not contain: those that cannot be reached from roots
/// that the bundle contains.
pub fn unreachable<'g>(
    graph: &'g ContentGraph,
    exclude: &[Glob],
    settings: &Settings,
) -> Result<Vec<&'g Target>, Error> {
    let declared = settings.globs("content.roots")?;
    let mut roots = graph.roots(&declared, settings.text("boot_script"));
    let is_excluded = |file: &usize| {
        let path = &graph.files[*file].path;
        exclude.iter().any(|glob| glob.matches(path))
    };
    roots.retain(|root| !graph.files_of(root).iter().all(is_excluded));
    let reached = graph.reachable(roots.iter());
    let is_left = |target: &&Target| {
        matches!(target, Target::Resource(_))
            && !reached.contains(*target)
            && !graph.files_of(target).iter().all(is_excluded)
    };
    Ok(graph.targets().filter(is_left).collect())
}
