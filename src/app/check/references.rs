//! References from resources to resources that do not exist. They are found through the graph of
//! references that the data compiler recorded for every kind, with the file and the line that has
//! the name. Loads no resources. A string in a script can mean anything; the lint asks for the
//! names in certain positions.

use super::finding::{CheckFinding, CheckRule};
use super::platforms::CheckedPlatform;
use crate::resource_kinds::{CONTAINERS, KINDS, ReadParts};
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::{self, SjsonValue};
use engine_resource::index::{IndexEntry, ResourceIndex};
use engine_resource::project::Project;
use engine_resource::resource_kind::{kind_names, substitute_kind};
use engine_resource::resource_name::ResourceName;
use engine_resource::settings::{self, Settings};
use engine_resource::store::{ResourceStore, missing_message};
use engine_resource::variant::{VariantPreferences, VariantProperties};
use engine_runtime::built_in_resources::is_built_in;
use engine_script::lint::CreatedResources;
use engine_sound::mixer::MixerData;
use engine_sound::resource::read_sound;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Finder of missing references in one game, on one platform.
pub struct ReferenceFinder<'a> {
    root: &'a Path,
    platform: &'static str,
    project: Option<Project>,
    index: ResourceIndex,
    store: ResourceStore,
    /// Resources that scripts create.
    created: &'a CreatedResources,
    /// Names of the parts of containers that were read so far.
    parts: HashMap<ResourceName, HashSet<String>>,
    /// Texts of the sources that were read so far, by path.
    sources: HashMap<String, SourceTexts>,
}

/// Where a source has a text: its number among the texts, and its line.
type TextLocation = (usize, usize);

/// Lines of the texts of a source, so that a source is parsed once for all its missing references.
#[derive(Default)]
struct SourceTexts {
    /// First location of each text.
    exact: HashMap<String, TextLocation>,
    /// First location of each text that ends in the name of a file, by the name and its ending.
    files: HashMap<(String, String), TextLocation>,
}

impl<'a> ReferenceFinder<'a> {
    /// Creates the finder of a platform. `created` has the resources that scripts create.
    pub fn new(
        root: &'a Path,
        platform: &CheckedPlatform,
        created: &'a CreatedResources,
    ) -> ReferenceFinder<'a> {
        let store = platform.store.clone();
        let index = store.index().clone();
        let project = Project::open(root).ok();
        let (parts, sources) = (HashMap::new(), HashMap::new());
        let platform = platform.name;
        ReferenceFinder { root, platform, project, index, store, created, parts, sources }
    }

    /// Returns a finding with file and line for each missing reference, in the order of the files.
    pub fn findings(&mut self) -> Vec<CheckFinding> {
        let entries = self.index.entries.clone();
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for entry in &entries {
            for reference in &entry.references {
                if !self.exists(reference, Some(&entry.properties)) {
                    let message = self.message(entry, reference);
                    found.entry(message).or_insert_with(|| entry.properties.to_string());
                }
            }
        }
        found.extend(self.bus_messages(&entries));
        found.extend(self.mixer_message().map(|message| (message, String::new())));
        let finding = |(text, variant): (String, String)| CheckFinding {
            variant,
            ..CheckFinding::error(CheckRule::Reference, text)
        };
        found.into_iter().map(finding).collect()
    }

    /// Returns a name that no file of the game has, with the reason.
    pub fn absent_name(&mut self, reference: &ResourceName) -> String {
        let renamed = self.index.redirected(reference).cloned();
        let reason = match renamed {
            _ if is_built_in(reference) => " (built in)".to_string(),
            _ if self.index.failure(reference).is_some() => " (it has an error)".to_string(),
            Some(new) => format!(" (an old name of {new})"),
            // A module of the engine, a part of another resource, or one that a script creates.
            None if self.exists(reference, None) => String::new(),
            None => " (missing)".to_string(),
        };
        format!("{reference}{reason}")
    }

    /// Returns the message for a name that no resource of these kinds has, or `None` if one exists.
    pub fn missing_of_kinds(&mut self, kinds: &[&str], name: &str) -> Option<String> {
        let exists = |kind: &&str| self.exists(&ResourceName::new(kind, name), None);
        if kinds.iter().any(exists) {
            return None;
        }
        // The last kind is the usual one, and its names are suggested.
        let last = *kinds.last()?;
        let message = self.missing(&ResourceName::new(last, name), &VariantProperties::default());
        Some(match message.strip_prefix(&format!("there is no {last} ")) {
            Some(rest) => format!("there is no {} {rest}", kinds.join(" or ")),
            None => message,
        })
    }

    /// Returns true if a resource exists, with a variant that serves a game which prefers
    /// `properties`; `None` means any variant.
    fn exists(&mut self, reference: &ResourceName, properties: Option<&VariantProperties>) -> bool {
        let ResourceName { kind, name } = reference;
        let has = |index: &ResourceIndex, kind: &str| {
            let resource = ResourceName::new(kind, name);
            let serves = |entry: &IndexEntry| {
                properties.is_none_or(|all| entry.properties.is_subset_of(all))
            };
            // A resource that could not be compiled is reported by the compiler.
            let serves_by = |name: &ResourceName| index.variants(name).iter().any(serves);
            serves_by(&resource)
                || index.redirected(&resource).is_some_and(serves_by)
                || index.failure(&resource).is_some()
        };
        // A string in a script can mean anything.
        kind.is_empty()
            || has(&self.index, kind)
            || substitute_kind(kind).is_some_and(|kind| has(&self.index, kind))
            || is_built_in(reference)
            || (kind == kind_names::LUA && self.is_module(name))
            || self.created.contains(reference)
            || self.is_part(reference)
    }

    fn is_module(&self, name: &str) -> bool {
        let module = name.replace('/', ".");
        self.project.as_ref().is_some_and(|project| project.script(&module).is_ok())
    }

    /// Returns true if another resource contains the resource, such as a sheet its frames.
    fn is_part(&mut self, reference: &ResourceName) -> bool {
        let ResourceName { kind, name } = reference;
        let slashes: Vec<usize> = name.match_indices('/').map(|(at, _)| at).collect();
        CONTAINERS.iter().filter(|container| container.part_kind == kind).any(|container| {
            slashes.iter().any(|at| {
                let whole = ResourceName::new(container.kind, &name[..*at]);
                let renamed = self.index.redirected(&whole);
                let renamed = renamed.filter(|_| self.index.variants(&whole).is_empty());
                let whole = renamed.cloned().unwrap_or(whole);
                if self.index.failure(&whole).is_some() {
                    return true;
                }
                !self.index.variants(&whole).is_empty()
                    && self.parts_of(&whole, container.parts).contains(&name[at + 1..])
            })
        })
    }

    fn parts_of(&mut self, container: &ResourceName, read: ReadParts) -> &HashSet<String> {
        self.parts.entry(container.clone()).or_insert_with(|| {
            let parts = self.store.read(container).and_then(|bytes| read(&bytes));
            // Data that cannot be read is reported where it is used.
            parts.unwrap_or_default().into_iter().collect()
        })
    }

    fn message(&mut self, entry: &IndexEntry, reference: &ResourceName) -> String {
        let path = entry.files[0].path.as_str();
        let located = entry.files.iter().find_map(|stamp| {
            let line = self.line(&stamp.path, reference)?;
            Some(format!("{}:{line}", stamp.path))
        });
        let location = located.unwrap_or_else(|| path.to_string());
        format!("{location}: {}", self.missing(reference, &entry.properties))
    }

    fn missing(&self, reference: &ResourceName, properties: &VariantProperties) -> String {
        if reference.kind == kind_names::LUA {
            return format!("there is no script '{}.lua'", reference.name);
        }
        let properties = properties.properties().map(str::to_string).collect();
        let preferences = VariantPreferences::new(properties).unwrap_or_default();
        missing_message(&self.index, KINDS, &preferences, reference)
    }

    /// Returns the messages for buses that sounds name and that the game's mixer does not have,
    /// with the properties of the sounds.
    fn bus_messages(&mut self, entries: &[IndexEntry]) -> Vec<(String, String)> {
        let Some(mixer) = self.mixer() else { return Vec::new() };
        let mut messages = Vec::new();
        let sounds = entries.iter().filter(|entry| entry.resource.kind == kind_names::SOUND);
        for entry in sounds {
            let rules = self.store.read_variant(entry).and_then(|bytes| read_sound(&bytes));
            // Data that cannot be read is reported where it is used.
            let Ok((rules, _)) = rules else { continue };
            let bus = &rules.options.bus;
            if mixer.find(bus).is_none() {
                let path = entry.files[0].path.as_str();
                let named = ResourceName::new(kind_names::MIXER, bus);
                let line = self.line(path, &named).map_or(String::new(), |at| format!(":{at}"));
                let message = format!("{path}{line}: {}", mixer.missing_bus_message(bus));
                messages.push((message, entry.properties.to_string()));
            }
        }
        messages
    }

    /// Returns the buses of the game, or `None` if its mixer is missing or broken.
    fn mixer(&mut self) -> Option<MixerData> {
        let settings = Settings::read(self.root, self.platform).ok()?;
        let name = settings.text("sound.mixer");
        let resource = ResourceName::new(kind_names::MIXER, name);
        let base = self.index.variants(&resource).first().cloned();
        match base {
            Some(entry) => MixerData::read(&self.store.read_variant(&entry).ok()?).ok(),
            None if self.index.failure(&resource).is_some() => None,
            None => Some(MixerData::standard()),
        }
    }

    /// Returns the line of a text file that has the name of a resource, or the path of its file.
    fn line(&mut self, path: &str, reference: &ResourceName) -> Option<usize> {
        if !self.sources.contains_key(path) {
            let bytes = file_access::read(self.root, path, &readers::SOURCE);
            let texts = bytes.map(|bytes| SourceTexts::of(&bytes)).unwrap_or_default();
            self.sources.insert(path.to_string(), texts);
        }
        self.sources[path].line(reference)
    }

    /// Returns the message for a mixer that the settings name and that does not exist.
    fn mixer_message(&mut self) -> Option<String> {
        let settings = Settings::read(self.root, self.platform).ok()?;
        let name = settings.text("sound.mixer");
        let mixer = ResourceName::new(kind_names::MIXER, name);
        // Without the key, the engine has buses of its own.
        let is_default = name == Settings::defaults().text("sound.mixer");
        if is_default || name.is_empty() || self.exists(&mixer, None) {
            return None;
        }
        let line = self.line(settings::FILE, &mixer).map_or(String::new(), |at| format!(":{at}"));
        Some(format!(
            "{}{line}: {}",
            settings::FILE,
            self.missing(&mixer, &VariantProperties::default())
        ))
    }
}

impl SourceTexts {
    /// Collects the texts of a document, or the quoted texts of other sources.
    fn of(bytes: &[u8]) -> SourceTexts {
        let mut texts = SourceTexts::default();
        if let Ok(document) = sjson::parse_bytes(bytes) {
            texts.add_document(document.root());
        } else if let Ok(source) = std::str::from_utf8(bytes) {
            for (line, text) in source.lines().enumerate() {
                for quoted in text.split(['"', '\'']).skip(1).step_by(2) {
                    texts.add(quoted, line + 1);
                }
            }
        }
        texts
    }

    fn add_document(&mut self, value: SjsonValue) {
        if let Some(text) = value.as_str() {
            self.add(text, value.line());
        } else if let Some(items) = value.items() {
            items.for_each(|item| self.add_document(item));
        } else {
            // The name of a component can be the key of its block.
            for entry in value.entries().into_iter().flatten() {
                let (key, line) = (entry.key, entry.line());
                self.add_document(entry.value);
                self.add(key, line);
            }
        }
    }

    fn add(&mut self, text: &str, line: usize) {
        let location = (self.exact.len(), line);
        if self.exact.contains_key(text) {
            return;
        }
        self.exact.insert(text.to_string(), location);
        if let Some((name, ending)) = last_part(text).rsplit_once('.') {
            self.files.entry((name.to_string(), ending.to_string())).or_insert(location);
        }
    }

    /// Returns the line of the first text that is the name of a resource or of a component with
    /// its script. Otherwise, returns the line of the first path that ends in the resource's file.
    fn line(&self, reference: &ResourceName) -> Option<usize> {
        let ResourceName { kind, name } = reference;
        let component = name.strip_prefix("components/").filter(|_| kind == kind_names::LUA);
        let names = [Some(&name[..]), component].into_iter().flatten();
        let exact = names.filter_map(|text| self.exact.get(text)).min();
        let extensions = KINDS.by_name(kind).map_or(&[][..], |kind| kind.extensions);
        let file =
            |ending: &str| self.files.get(&(last_part(name).to_string(), ending.to_string()));
        let files = || extensions.iter().filter_map(|(ending, _)| file(ending)).min();
        exact.or_else(files).map(|(_, line)| *line)
    }
}

/// Returns the part of a path after its last separator.
fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}
