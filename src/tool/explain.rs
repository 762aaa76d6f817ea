//! `engine explain`: what a resource is made of, which of its variants serves and why, who names
//! it; or what a hash is the hash of. Of a sound, what it plays for given parameters.

mod inside;

use super::compile::platform_name;
use super::confine::Confine;
use super::definitions;
use crate::app::confinement::{self, Plan};
use crate::app::kinds::KINDS;
use crate::app::resources::data_of;
use crate::app::{Game, exit};
use crate::foundation::hash::{IdString32, IdString64};
use crate::foundation::{Error, suggest, terminal};
use crate::resource::compile::{self, Target};
use crate::resource::index::{Entry, Index};
use crate::resource::name::{ResourceName, Source};
use crate::resource::project::Project;
use crate::resource::scan;
use crate::resource::store::{Data, Store, missing_words};
use crate::resource::variant::Preferences;
use crate::system::{platform, sound};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Explain a resource: its variants, the one that serves, what it names and who names it
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    folder: PathBuf,
    /// A resource (textures/wall.texture; without its type where only one has the name), its file,
    /// or a hash of 8 or 16 digits
    resource: String,
    /// The platform [default: this one]
    #[arg(long, value_parser = platform_name)]
    platform: Option<String>,
    /// Preferred properties, most important first
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    prefer: Vec<String>,
    /// A parameter of a sound, whose choice is shown then: force=35, material=wood
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    #[command(flatten)]
    confine: Confine,
}

pub fn main(args: Args) -> i32 {
    match explain(&args) {
        Ok(text) => {
            terminal::print(&text);
            exit::SUCCESS
        }
        Err(error) => {
            crate::error_line!("error: {error}");
            exit::FAILED
        }
    }
}

fn explain(args: &Args) -> Result<String, Error> {
    Project::open(&args.folder)?;
    definitions::refresh(&args.folder);
    if args.confine.is_wanted() {
        Plan::of_game(&Game::Folder(args.folder.clone())).begin();
        confinement::forbid_programs(false);
    }
    let platform = args.platform.as_deref().unwrap_or(platform::NAME);
    let preferences = Preferences::new(args.prefer.clone()).map_err(Error::new)?;
    let index = index(&args.folder, platform)?;
    if let Some(name) = IdString64::from_hex(&args.resource) {
        return of_hash(&index, name);
    }
    if let Some(id) = IdString32::from_hex(&args.resource) {
        let data = data_of(&args.folder, platform)?;
        return of_short_hash(&index, inside::names(&index, &data), id);
    }
    let sound = ResourceName::new("sound", &args.resource);
    let has_type = ResourceName::parse(&args.resource).is_some();
    let resource = match args.parameters.is_empty() || has_type {
        true => meant(&index, &args.resource)?,
        // Only sounds have parameters.
        false if !index.variants(&sound).is_empty() => sound,
        false => {
            let sounds = index.entries.iter().filter(|entry| entry.resource.kind == "sound");
            let names = sounds.map(|entry| entry.resource.name.as_str());
            let hint = suggest::hint(&args.resource, names);
            return Err(crate::error!("there is no sound '{}'{hint}", args.resource));
        }
    };
    let variants = index.variants(&resource);
    if variants.is_empty() {
        return Err(Error::new(missing_words(&index, &preferences, &resource)));
    }
    let mut text = String::new();
    if resource.kind == "sound" {
        let data = Data::Folder(data_of(&args.folder, platform)?, KINDS);
        let mut store = Store::new(index.clone(), data);
        store.prefer(preferences.clone());
        store.apply_preferences();
        let (definition, _) = sound::kinds::read_sound(&store.read(&resource)?)?;
        text += &of_sound(&resource.name, &definition, &args.parameters)?;
        text += "\n";
    } else if !args.parameters.is_empty() {
        return Err(crate::error!("'{resource}' has no parameters: --param is for sounds"));
    }
    text += &of_resource(&index, &resource, variants, platform, &preferences);
    text += &left_out(&args.folder, &resource, variants, platform)?;
    Ok(text + &graph(&index, &resource, variants))
}

/// The resource that somebody means: by name and type, by a name that only one has, or by the path
/// of its file.
fn meant(index: &Index, text: &str) -> Result<ResourceName, Error> {
    let parsed = ResourceName::parse(text);
    if let Some(resource) = &parsed
        && KINDS.by_name(&resource.kind).is_some()
    {
        return Ok(parsed.expect("it was looked at"));
    }
    let failed = index.failed.iter().map(|(name, _)| name);
    let mut all: Vec<&ResourceName> =
        index.entries.iter().map(|entry| &entry.resource).chain(failed).collect();
    all.sort();
    all.dedup();
    let named: Vec<&&ResourceName> = all.iter().filter(|known| known.name == text).collect();
    match named[..] {
        [] => {}
        [only] => return Ok((*only).clone()),
        _ => {
            let names: Vec<String> = named.iter().map(|name| name.to_string()).collect();
            let names = names.join(", ");
            return Err(crate::error!("'{text}' is the name of several resources: {names}"));
        }
    }
    if let Some(Ok(source)) = Source::of(text, &KINDS)
        && all.contains(&&source.resource)
    {
        return Ok(source.resource);
    }
    let Some(resource) = parsed else {
        let near = suggest::nearest(text, all.iter().map(|known| known.name.as_str()));
        let near: Vec<&&ResourceName> =
            all.iter().filter(|known| Some(known.name.as_str()) == near).collect();
        return Err(match near[..] {
            [] => crate::error!(
                "no resource of this game is called '{text}': give it with its type, as \
                 textures/wall.texture"
            ),
            [one] => {
                crate::error!("there is no {} '{text}', did you mean '{}'?", one.kind, one.name)
            }
            _ => {
                let near: Vec<String> = near.iter().map(|name| format!("'{name}'")).collect();
                let near = near.join(" or ");
                crate::error!("no resource is called '{text}', did you mean {near}?")
            }
        });
    };
    let kinds = KINDS.0.iter().map(|kind| kind.name);
    let hint = suggest::hint(&resource.kind, kinds.clone());
    let known = kinds.collect::<Vec<_>>().join(", ");
    Err(crate::error!("there is no type '{}'{hint} (known: {known})", resource.kind))
}

/// What a sound plays, and why.
fn of_sound(
    name: &str,
    definition: &sound::definition::Definition,
    given: &[String],
) -> Result<String, Error> {
    let at = |words: String| crate::error!("sound '{name}': {words}");
    let read = |text: &String| sound::explain::parse_parameter(definition, text).map_err(at);
    let given = given.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    sound::explain::explain(name, definition, &given).map_err(at)
}

fn index(folder: &Path, platform: &str) -> Result<Index, Error> {
    let target = Target {
        root: folder,
        data: data_of(folder, platform)?,
        kinds: KINDS,
        source_platform: platform,
        release: false,
        exclude: &[],
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let compiled = compile::compile(&target, &|_, _| {})?;
    for problem in &compiled.problems {
        crate::error_line!("error: {problem}");
    }
    Ok(compiled.index)
}

fn of_resource(
    index: &Index,
    resource: &ResourceName,
    variants: &[Entry],
    platform: &str,
    preferences: &Preferences,
) -> String {
    let order = preferences.words().join(", ");
    let mut text = format!("{resource} ({}) on {platform}", resource.id());
    text += if order.is_empty() { "" } else { ", preferring " };
    text += &format!("{order}\n\nAsked for, in this order:\n");
    let mut winner = None;
    for candidate in preferences.candidates() {
        let mut words: Vec<&str> = candidate.split('.').collect();
        words.sort_unstable();
        let sorted = words.join(".");
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
        text += &format!("\n{}\n", missing_words(index, preferences, resource));
    }
    text += "\nVariants:\n";
    for entry in variants {
        let files: Vec<&str> = entry.files.iter().map(|stamp| stamp.path.as_str()).collect();
        let words = if entry.properties.is_base() { "(none)" } else { "" };
        text +=
            &format!("  {}{words}  {} -> {}\n", entry.properties, files.join(" + "), entry.data);
    }
    text
}

/// The files of a resource that no variant is made of, and why not.
fn left_out(
    folder: &Path,
    resource: &ResourceName,
    variants: &[Entry],
    platform: &str,
) -> Result<String, Error> {
    let used = |path: &str| variants.iter().any(|it| it.files.iter().any(|file| file.path == path));
    let mut text = String::new();
    for file in scan::files(folder)?.files {
        let Some(Ok(source)) = Source::of(&file.path, &KINDS) else { continue };
        if source.resource != *resource || used(&file.path) {
            continue;
        }
        let platforms: Vec<&str> = source.properties.platforms().collect();
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

/// Whom a resource names, and who names it.
fn graph(index: &Index, resource: &ResourceName, variants: &[Entry]) -> String {
    let mut names: Vec<String> = Vec::new();
    for reference in variants.iter().flat_map(|entry| &entry.references) {
        names.extend(index.named_by(reference).map(|entry| entry.resource.to_string()));
        if !reference.kind.is_empty() && index.variants(reference).is_empty() {
            names.push(format!("{reference} (missing)"));
        }
    }
    let referrers = index
        .entries
        .iter()
        .filter(|entry| entry.references.iter().any(|reference| reference.means(resource)));
    let mut named_by: Vec<String> = referrers.map(|entry| entry.files[0].path.clone()).collect();
    let mut text = String::new();
    for (title, list) in [("Names", &mut names), ("Named by", &mut named_by)] {
        list.sort();
        list.dedup();
        if !list.is_empty() {
            text += &format!("\n{title}:\n  {}\n", list.join("\n  "));
        }
    }
    text
}

/// The strings of a game that hashes may be of, each with what it is.
fn strings(index: &Index) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut note = |text: &str, what: String| _ = found.entry(text.to_string()).or_insert(what);
    for entry in &index.entries {
        let name = &entry.resource;
        note(&name.to_string(), "a resource with its type".to_string());
        note(&name.name, format!("the name of {name}"));
        for word in entry.properties.words() {
            note(word, format!("a property of {}", entry.files[0].path));
        }
    }
    for kind in KINDS.0 {
        note(kind.name, "a type".to_string());
    }
    for entry in &index.entries {
        for reference in &entry.references {
            note(&reference.name, format!("a string in {}", entry.files[0].path));
        }
    }
    found
}

/// A line for each string of the game that has a hash.
fn with_hash(
    strings: BTreeMap<String, String>,
    hash: &str,
    has: impl Fn(&str) -> bool,
) -> Option<String> {
    let found: Vec<_> = strings.into_iter().filter(|(text, _)| has(text)).collect();
    let mut lines = String::new();
    for (text, what) in &found {
        lines += &format!("{hash} is \"{text}\": {what}\n");
    }
    if found.len() > 1 {
        lines += "These have one hash, and cannot be told apart by it: rename all but one\n";
    }
    (!found.is_empty()).then_some(lines)
}

fn of_hash(index: &Index, hash: IdString64) -> Result<String, Error> {
    let found = index
        .entries
        .iter()
        .find(|entry| entry.resource.id() == hash || entry.data == hash.to_string());
    if let Some(entry) = found {
        let words = if entry.properties.is_base() {
            String::new()
        } else {
            format!(" [{}]", entry.properties)
        };
        return Ok(format!(
            "{hash} is {}{words}, made of {}\n",
            entry.resource, entry.files[0].path
        ));
    }
    let same = |text: &str| IdString64::new(text) == hash;
    let lines = with_hash(strings(index), &hash.to_string(), same);
    lines.ok_or_else(|| crate::error!("{hash} is the hash of no resource or string of this game"))
}

fn of_short_hash(
    index: &Index,
    inside: Vec<(String, String)>,
    hash: IdString32,
) -> Result<String, Error> {
    let mut strings = strings(index);
    for (text, what) in inside {
        strings.entry(text).or_insert(what);
    }
    let lines = with_hash(strings, &hash.to_string(), |text| IdString32::new(text) == hash);
    lines.ok_or_else(|| crate::error!("{hash} is the hash of no name or string of this game"))
}
