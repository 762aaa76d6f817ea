//! `engine explain`: explains a resource: its variants, which variant is used and why, and its
//! references in both directions. For a hash, it prints the matching strings; for a sound, what
//! plays with the passed parameters.

mod animation;
mod frame;
mod hashed_names;
mod hashes;
mod material;

use super::check::created_resources;
use super::confinement_flag::ConfinementFlag;
use super::editor_definitions;
use engine_app::check::references::ReferenceFinder;
use engine_app::check::{self, CheckedPlatform};
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::content;
use engine_app::flow;
use engine_app::navigation;
use engine_app::resource_kinds::KINDS;
use engine_app::resource_reload::data_of;
use engine_app::state_machine;
use engine_app::{Game, VariantChoice, exit};
use engine_content::references::{NameForm, Target};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error::messages;
use engine_foundation::hash::{IdString32, IdString64};
use engine_foundation::{Error, suggest, terminal};
use engine_platform as platform;
use engine_render::render_config::built_in;
use engine_resource::compile::{self, CompileResult, CompileTarget};
use engine_resource::folder_scan;
use engine_resource::index::{IndexEntry, ResourceIndex};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::{ResourceName, SourceName};
use engine_resource::settings::Settings;
use engine_resource::store::{DataSource, ResourceStore, missing_message};
use engine_resource::variant::VariantPreferences;
use engine_sound as sound;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Explain a resource: its variants, the one that serves, and references from it and to it
///
/// The exit code is 0 if the resource has no errors, 1 if it has, 2 for a wrong command line.
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    folder: PathBuf,
    /// A resource (textures/wall.texture; the type may be left out if only one resource has the
    /// name), its file, a hash of 8 or 16 digits, or "frame": the passes that draw a frame
    resource: String,
    /// The platform [default: this one]
    #[arg(long)]
    platform: Option<String>,
    /// Preferred properties, most important first
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    prefer: Vec<String>,
    /// A parameter of a sound, to show what it selects: force=35, material=wood
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// Spawn a level, and show its navigation meshes and what was changed by hand
    #[arg(long)]
    navigation: bool,
    #[command(flatten)]
    confine: ConfinementFlag,
}

pub fn main(args: Args) -> i32 {
    match explain(&args) {
        Ok(Explanation { text, has_errors }) => {
            terminal::print(&text);
            if has_errors { exit::FAILED } else { exit::SUCCESS }
        }
        Err(error) => {
            engine_foundation::error_line!("error: {error}");
            exit::FAILED
        }
    }
}

/// Text that the command prints.
struct Explanation {
    text: String,
    /// True if it, or a message before it, lists errors of the resource.
    has_errors: bool,
}

impl Explanation {
    fn without_errors(text: String) -> Explanation {
        Explanation { text, has_errors: false }
    }
}

fn explain(args: &Args) -> Result<Explanation, Error> {
    content::check_folder(&args.folder)?;
    editor_definitions::refresh(&args.folder);
    if args.confine.is_enabled() {
        ConfinementPlan::of_game(&Game::Folder(args.folder.clone()), platform::NAME).begin();
        confinement::forbid_programs(false);
    }
    let platform = args.platform.as_deref().unwrap_or(platform::NAME);
    let known = Settings::platforms_of(&args.folder);
    known.check(platform).map_err(Error::new)?;
    let preferences = VariantPreferences::new(args.prefer.clone()).map_err(Error::new)?;
    preferences.check_platforms(&known).map_err(Error::new)?;
    let compiled = compile_game(&args.folder, platform)?;
    let index = &compiled.index;
    if let Some(name) = IdString64::from_hex(&args.resource) {
        return hashes::of_hash(index, name).map(Explanation::without_errors);
    }
    if let Some(id) = IdString32::from_hex(&args.resource) {
        let data = data_of(&args.folder, platform)?;
        let text = hashes::of_short_hash(index, hashed_names::names(index, &data), id);
        return text.map(Explanation::without_errors);
    }
    if args.resource == FRAME && index.entries.iter().all(|entry| entry.resource.name != FRAME) {
        let text = frame_of_game(index, args, (platform, &preferences));
        return text.map(Explanation::without_errors);
    }
    if let Some(text) = animation::of_clip(index, args, (platform, &preferences))? {
        return Ok(Explanation::without_errors(text));
    }
    let resource = requested_resource(index, args);
    let has_problems = print_problems(&compiled, resource.as_ref().ok(), &args.folder);
    let resource = resource?;
    // Saves name it so; the resource has everything else.
    let old = index.redirected(&resource).filter(|_| index.variants(&resource).is_empty());
    if let Some(new) = old {
        engine_foundation::error_line!("note: '{resource}' is an old name of '{new}'");
    }
    let resource = old.unwrap_or(&resource);
    let explained = explain_resource(index, resource, args, (platform, &preferences))?;
    Ok(Explanation { has_errors: explained.has_errors || has_problems, ..explained })
}

/// The word that stands for the frame of the game, unless a resource has this name.
const FRAME: &str = "frame";

/// Describes the frame that the game's settings select.
fn frame_of_game(
    index: &ResourceIndex,
    args: &Args,
    chosen: (&str, &VariantPreferences),
) -> Result<String, Error> {
    let settings = Settings::read(&args.folder, chosen.0)?;
    let name = settings.text("render.config");
    if let Some(data) = built_in(name) {
        return Ok(frame::describe(name, &data));
    }
    let resource = ResourceName::new(kind_names::RENDER_CONFIG, name);
    if index.variants(&resource).is_empty() {
        return Err(Error::new(missing_message(index, KINDS, chosen.1, &resource)));
    }
    frame::of_config(name, &compiled_data(index, &resource, args, chosen)?)
}

/// Returns the resource that the command line names.
fn requested_resource(index: &ResourceIndex, args: &Args) -> Result<ResourceName, Error> {
    let sound = ResourceName::new(kind_names::SOUND, &args.resource);
    let has_type = ResourceName::parse(&args.resource).is_some();
    match args.parameters.is_empty() || has_type {
        true => resolve(index, &args.resource, args.navigation),
        // Only sounds have parameters.
        false if !index.variants(&sound).is_empty() => Ok(sound),
        false => {
            let sounds =
                index.entries.iter().filter(|entry| entry.resource.kind == kind_names::SOUND);
            let names = sounds.map(|entry| entry.resource.name.as_str());
            let hint = suggest::hint(&args.resource, names);
            Err(engine_foundation::error!("there is no sound '{}'{hint}", args.resource))
        }
    }
}

fn explain_resource(
    index: &ResourceIndex,
    resource: &ResourceName,
    args: &Args,
    (platform, preferences): (&str, &VariantPreferences),
) -> Result<Explanation, Error> {
    let variants = index.variants(resource);
    if variants.is_empty() {
        return Err(Error::new(missing_message(index, KINDS, preferences, resource)));
    }
    let (mut text, mut has_errors) = (String::new(), false);
    if resource.kind == kind_names::SOUND {
        let bytes = compiled_data(index, resource, args, (platform, preferences))?;
        let (definition, _) = sound::resource::read_sound(&bytes)?;
        text += &of_sound(&resource.name, &definition, &args.parameters)?;
        text += "\n";
    } else if !args.parameters.is_empty() {
        return Err(engine_foundation::error!(
            "'{resource}' has no parameters: --param is for sounds"
        ));
    }
    if args.navigation {
        return navigation_of(resource, args, preferences).map(Explanation::without_errors);
    }
    let of_kind = match resource.kind.as_str() {
        kind_names::ANIMATION => Some(animation::of_animation as fn(&str, &[u8]) -> _),
        kind_names::MODEL => Some(animation::of_model as fn(&str, &[u8]) -> _),
        kind_names::STATE_MACHINE => Some(animation::of_state_machine as fn(&str, &[u8]) -> _),
        kind_names::NAVIGATION => Some(navigation::explain_file as fn(&str, &[u8]) -> _),
        kind_names::RENDER_CONFIG => Some(frame::of_config as fn(&str, &[u8]) -> _),
        _ => None,
    };
    if let Some(describe) = of_kind {
        let bytes = compiled_data(index, resource, args, (platform, preferences))?;
        let described: String = describe(&resource.name, &bytes)?;
        text += &described;
        text += if described.is_empty() { "" } else { "\n" };
    }
    if resource.kind == kind_names::STATE_MACHINE {
        let store = compiled_store(index, args, (platform, preferences))?;
        let errors = state_machine::errors_with_model(store, &resource.name);
        has_errors |= !errors.is_empty();
        text += &errors;
    }
    if resource.kind == kind_names::MATERIAL {
        let chosen = (platform, preferences);
        let bytes = compiled_data(index, resource, args, chosen)?;
        text += &material::of_material(&resource.name, &bytes, |shader| {
            let shader = ResourceName::new(kind_names::SHADER, shader);
            compiled_data(index, &shader, args, chosen)
        })?;
        text += "\n";
    }
    if flow::GRAPH_KINDS.contains(&resource.kind.as_str())
        && let Some((graph, is_wrong)) = flow::explain_graph(&args.folder, resource)?
    {
        has_errors |= is_wrong;
        text += &graph;
        text += "\n";
    }
    text += &of_resource(index, resource, variants, platform, preferences);
    text += &ignored_files(&args.folder, resource, variants, platform)?;
    text += &graph(index, resource, variants, &args.folder, platform)?;
    Ok(Explanation { text, has_errors })
}

/// Returns the description of the navigation of a level.
fn navigation_of(
    resource: &ResourceName,
    args: &Args,
    preferences: &VariantPreferences,
) -> Result<String, Error> {
    if resource.kind != kind_names::LEVEL {
        return Err(engine_foundation::error!(
            "'{resource}' is no level: --navigation is for levels"
        ));
    }
    let variants =
        VariantChoice { source_platform: args.platform.clone(), preferences: preferences.clone() };
    navigation::explain_level(&args.folder, &resource.name, variants)
}

/// Returns the compiled resources, with the variants that serve.
fn compiled_store(
    index: &ResourceIndex,
    args: &Args,
    (platform, preferences): (&str, &VariantPreferences),
) -> Result<ResourceStore, Error> {
    let data = DataSource::Folder(data_of(&args.folder, platform)?, KINDS);
    let mut store = ResourceStore::new(index.clone(), data);
    store.prefer(preferences.clone());
    store.apply_preferences();
    Ok(store)
}

/// Returns the compiled form of the variant of a resource that serves.
fn compiled_data(
    index: &ResourceIndex,
    resource: &ResourceName,
    args: &Args,
    chosen: (&str, &VariantPreferences),
) -> Result<Vec<u8>, Error> {
    let mut store = compiled_store(index, args, chosen)?;
    store.read(resource).map(|bytes| bytes.to_vec())
}

/// Finds the resource for a command-line text: a name with its type, a name that only one resource
/// has, or the path of its file. Of several with a name, `is_level` chooses the level.
fn resolve(index: &ResourceIndex, text: &str, is_level: bool) -> Result<ResourceName, Error> {
    let parsed = ResourceName::parse(text);
    if let Some(resource) = &parsed
        && KINDS.by_name(&resource.kind).is_some()
    {
        return Ok(parsed.expect("it was looked at"));
    }
    let failed = index.failed.iter().map(|(name, _)| name);
    let mut all: Vec<&ResourceName> =
        index.entries.iter().map(|entry| &entry.resource).chain(failed).collect();
    let is_known = all.iter().any(|known| known.name == text);
    if !is_known {
        all.extend(index.redirects.iter().map(|(old, _)| old));
    }
    all.sort_compact();
    all.dedup();
    let named: Vec<&&ResourceName> = all.iter().filter(|known| known.name == text).collect();
    match named[..] {
        [] => {}
        [only] => return Ok((*only).clone()),
        _ => {
            let level = named.iter().find(|known| is_level && known.kind == kind_names::LEVEL);
            let names: Vec<String> = named.iter().map(|name| name.to_string()).collect();
            let names = names.join(", ");
            return level.map(|level| (**level).clone()).ok_or_else(|| {
                engine_foundation::error!("'{text}' is the name of several resources: {names}")
            });
        }
    }
    if let Some(Ok(source)) = SourceName::of(text, &KINDS)
        && all.contains(&&source.resource)
    {
        return Ok(source.resource);
    }
    let Some(resource) = parsed else {
        let names = all.iter().map(|known| known.name.as_str());
        let near = suggest::nearest_in_folders(text, names);
        let near: Vec<&&ResourceName> =
            all.iter().filter(|known| Some(known.name.as_str()) == near).collect();
        return Err(match near[..] {
            [] => engine_foundation::error!(
                "no resource of this game is called '{text}'{}",
                same_folder_hint(text, &all)
            ),
            [one] => {
                engine_foundation::error!(
                    "there is no {} '{text}', did you mean '{}'?",
                    one.kind,
                    one.name
                )
            }
            _ => {
                let near: Vec<String> = near.iter().map(|name| format!("'{name}'")).collect();
                let near = near.join(" or ");
                engine_foundation::error!("no resource is called '{text}', did you mean {near}?")
            }
        });
    };
    let kinds = KINDS.0.iter().map(|kind| kind.name);
    let hint = suggest::hint(&resource.kind, kinds.clone());
    let known = kinds.collect::<Vec<_>>().join(", ");
    Err(engine_foundation::error!("there is no type '{}'{hint} (known: {known})", resource.kind))
}

/// Maximum number of names of a folder that a message lists.
const NAMES_OF_FOLDER_MAX: usize = 8;

/// Returns the names in the folder of a name that does not exist, or a remedy without any.
fn same_folder_hint(text: &str, all: &[&ResourceName]) -> String {
    let folder = text.rfind('/').map(|at| &text[..=at]);
    let inside = all.iter().filter(|known| {
        let rest = folder.and_then(|folder| known.name.strip_prefix(folder));
        rest.is_some_and(|rest| !rest.contains('/'))
    });
    let names: Vec<String> =
        inside.take(NAMES_OF_FOLDER_MAX + 1).map(|it| it.to_string()).collect();
    let more = if names.len() > NAMES_OF_FOLDER_MAX { " …" } else { "" };
    match &names[..names.len().min(NAMES_OF_FOLDER_MAX)] {
        [] => ": give it with its type, as textures/wall.texture".to_string(),
        shown => format!(": its folder has {}{more}", shown.join(", ")),
    }
}

/// Explains which sources a sound plays, and why.
fn of_sound(
    name: &str,
    definition: &sound::data::SoundRules,
    arguments: &[String],
) -> Result<String, Error> {
    let to_error = |message: String| engine_foundation::error!("sound '{name}': {message}");
    let read = |text: &String| sound::explain::parse_parameter(definition, text).map_err(to_error);
    let arguments = arguments.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    sound::explain::explain(name, definition, &arguments).map_err(to_error)
}

fn compile_game(folder: &Path, platform: &str) -> Result<CompileResult, Error> {
    let target = CompileTarget {
        root: folder,
        data: data_of(folder, platform)?,
        kinds: KINDS,
        source_platform: platform,
        release: false,
        exclude: &[],
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    compile::compile(&target, &|_, _| {})
}

/// Prints the errors of the resource's own files, and the number of other errors. Returns true if
/// it has printed errors.
fn print_problems(
    compiled: &CompileResult,
    resource: Option<&ResourceName>,
    folder: &Path,
) -> bool {
    let index = &compiled.index;
    let failed = index.failed.iter().map(|(name, message)| (name, message));
    let broken = index.broken.iter().map(|variant| (&variant.resource, &variant.message));
    let own: HashSet<&String> = failed
        .chain(broken)
        .filter(|(name, _)| Some(*name) == resource)
        .map(|(_, message)| message)
        .collect();
    let is_own = |problem: &&String| {
        own.contains(problem) || resource.is_some_and(|name| problem.contains(&name.to_string()))
    };
    let (own, others): (Vec<&String>, Vec<&String>) = compiled.problems.iter().partition(is_own);
    // The message about a resource without data has its problem.
    let is_printed =
        !own.is_empty() && resource.is_some_and(|name| !index.variants(name).is_empty());
    if is_printed {
        for problem in own.iter().flat_map(|problem| messages(problem)) {
            engine_foundation::error_line!("error: {problem}");
        }
    }
    let others = others.len();
    if others > 0 {
        let noun = if others == 1 { "error" } else { "errors" };
        let folder = folder.display();
        engine_foundation::error_line!("the game has {others} other {noun}: engine check {folder}");
    }
    is_printed
}

fn of_resource(
    index: &ResourceIndex,
    resource: &ResourceName,
    variants: &[IndexEntry],
    platform: &str,
    preferences: &VariantPreferences,
) -> String {
    let order = preferences.properties().join(", ");
    let mut text = format!("{resource} ({}) on {platform}", resource.id());
    text += if order.is_empty() { "" } else { ", preferring " };
    text += &format!("{order}\n\nRequested, in this order (-: there is no such file):\n");
    let mut winner = None;
    for candidate in preferences.candidates() {
        let mut properties: Vec<&str> = candidate.split('.').collect();
        properties.sort_compact();
        let sorted = properties.join(".");
        let found = variants.iter().find(|entry| entry.properties.to_string() == sorted);
        let name = if candidate.is_empty() { String::new() } else { format!(".{candidate}") };
        let mark = match (found, winner) {
            (None, _) => "-".to_string(),
            (Some(entry), None) => {
                winner = Some(entry);
                format!("{}  <- serves", entry.files[0].path)
            }
            (Some(entry), Some(_)) => entry.files[0].path.clone(),
        };
        text += &format!("  {}{name}.{}  {mark}\n", resource.name, resource.kind);
    }
    if winner.is_none() {
        text += &format!("\n{}\n", missing_message(index, KINDS, preferences, resource));
    }
    text += "\nVariants:\n";
    for entry in variants {
        // Some files would count if they existed.
        let existing = entry.files.iter().filter(|stamp| !stamp.is_missing());
        let files: Vec<&str> = existing.map(|stamp| stamp.path.as_str()).collect();
        let base_mark = if entry.properties.is_base() { "(none)" } else { "" };
        text += &format!(
            "  {}{base_mark}  {} -> {}\n",
            entry.properties,
            files.join(" + "),
            entry.data
        );
    }
    text
}

/// Lists the files of a resource that no variant uses, and why.
fn ignored_files(
    folder: &Path,
    resource: &ResourceName,
    variants: &[IndexEntry],
    platform: &str,
) -> Result<String, Error> {
    let used = |path: &str| variants.iter().any(|it| it.files.iter().any(|file| file.path == path));
    let known = Settings::platforms_of(folder);
    let mut text = String::new();
    for file in folder_scan::files(folder)?.files {
        let Some(Ok(source)) = SourceName::of(&file.path, &KINDS) else { continue };
        if source.resource != *resource || used(&file.path) {
            continue;
        }
        let platforms: Vec<&str> = source.properties.platforms(&known).collect();
        let why = match platforms[..] {
            [] => format!("there are files for {platform}"),
            _ if platforms.contains(&platform) => "an error above says why".to_string(),
            _ => format!("it is for {}", platforms.join(" and ")),
        };
        if text.is_empty() {
            text = format!("\nLeft out on {platform}:\n");
        }
        text += &format!("  {} ({why})\n", file.path);
    }
    Ok(text)
}

/// Returns names that no resource of a game has, each with the reason.
fn absent_names(
    index: &ResourceIndex,
    absent: &[&ResourceName],
    folder: &Path,
    platform: &str,
) -> Result<Vec<String>, Error> {
    if absent.is_empty() {
        return Ok(Vec::new());
    }
    let data = DataSource::Folder(data_of(folder, platform)?, KINDS);
    let store = ResourceStore::new(index.clone(), data);
    let checked = CheckedPlatform { name: check::static_name(platform), store };
    let created = created_resources(folder);
    let mut finder = ReferenceFinder::new(folder, &checked, &created);
    Ok(absent.iter().map(|name| finder.absent_name(name)).collect())
}

/// Returns what `engine deps` knows besides the index of compiled data, which does without it: the
/// scripts of a graph's types of nodes, and the files that use a resource, also settings, suites,
/// files of other formats, and scripts that join the name. They need not be resources of this
/// platform.
fn neighbours(folder: &Path, resource: &ResourceName) -> [Vec<String>; 2] {
    let Ok(graph) = content::graph(folder) else { return Default::default() };
    let target = Target::Resource(resource.clone());
    let uses = graph.uses(&target).into_iter();
    let nodes = uses.filter(|(_, at)| graph.reference(*at).form == NameForm::NodeType);
    let users = graph.used_by(&target);
    [
        nodes.map(|(script, _)| script.to_string()).collect(),
        users.iter().map(|(_, at)| graph.files[at.file].path.clone()).collect(),
    ]
}

/// Lists the references from a resource and to it.
fn graph(
    index: &ResourceIndex,
    resource: &ResourceName,
    variants: &[IndexEntry],
    folder: &Path,
    platform: &str,
) -> Result<String, Error> {
    let mut names: Vec<String> = Vec::new();
    let mut absent = Vec::new();
    for reference in variants.iter().flat_map(|entry| &entry.references) {
        let named = index.named_by(reference).into_iter();
        names.extend(named.map(|entry| entry.resource.to_string()));
        if !reference.kind.is_empty() && index.variants(reference).is_empty() {
            absent.push(reference);
        }
    }
    names.extend(absent_names(index, &absent, folder, platform)?);
    let referrers = index
        .entries
        .iter()
        .filter(|entry| entry.references.iter().any(|reference| reference.matches(resource)));
    let mut named_by: Vec<String> = referrers.map(|entry| entry.files[0].path.clone()).collect();
    let [nodes, users] = neighbours(folder, resource);
    names.extend(nodes);
    named_by.extend(users);
    let mut text = String::new();
    for (title, list) in [("Names", &mut names), ("Named by", &mut named_by)] {
        list.sort_compact();
        list.dedup();
        if !list.is_empty() {
            text += &format!("\n{title}:\n  {}\n", list.join("\n  "));
        }
    }
    Ok(text)
}
