//! References from resources to resources that do not exist. They are found through the graph of
//! references that the data compiler recorded for every kind, with the file and the line that has
//! the name. Loads no resources, and checks no names in scripts, which can mean anything.

use super::resource_kinds::{CONTAINERS, KINDS, ReadParts};
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::{self, SjsonValue};
use engine_platform as platform;
use engine_resource::index::{IndexEntry, ResourceIndex};
use engine_resource::project::Project;
use engine_resource::resource_kind::{kind_names, substitute_kind};
use engine_resource::resource_name::ResourceName;
use engine_resource::settings::{self, Settings};
use engine_resource::store::{ResourceStore, missing_message};
use engine_resource::variant::VariantPreferences;
use engine_runtime::built_in_resources::is_built_in;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Finder of missing references in one game.
struct ReferenceFinder<'a> {
    root: &'a Path,
    project: Option<Project>,
    index: ResourceIndex,
    store: &'a mut ResourceStore,
    /// Names of textures that scripts create.
    created: &'a HashSet<String>,
    /// Names of the parts of containers that were read so far.
    parts: HashMap<ResourceName, HashSet<String>>,
}

/// Returns a message with file and line for each missing reference, in the order of the files.
/// `created` has the names of textures that scripts create.
pub fn find(root: &Path, store: &mut ResourceStore, created: &HashSet<String>) -> Vec<String> {
    let index = store.index().clone();
    let project = Project::open(root).ok();
    let parts = HashMap::new();
    let entries = index.entries.clone();
    let mut finder = ReferenceFinder { root, project, index, store, created, parts };
    let mut found = BTreeSet::new();
    for entry in &entries {
        for reference in &entry.references {
            if !finder.exists(reference) {
                found.insert(finder.message(entry, reference));
            }
        }
    }
    found.extend(finder.mixer_message());
    found.into_iter().collect()
}

impl ReferenceFinder<'_> {
    fn exists(&mut self, reference: &ResourceName) -> bool {
        let ResourceName { kind, name } = reference;
        let has = |index: &ResourceIndex, kind: &str| {
            let resource = ResourceName::new(kind, name);
            // A resource that could not be compiled is reported by the compiler.
            !index.variants(&resource).is_empty() || index.failure(&resource).is_some()
        };
        // A string in a script can mean anything.
        kind.is_empty()
            || has(&self.index, kind)
            || substitute_kind(kind).is_some_and(|kind| has(&self.index, kind))
            || is_built_in(reference)
            || (kind == kind_names::LUA && self.is_module(name))
            || (kind == kind_names::TEXTURE && self.created.contains(name))
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

    fn message(&self, entry: &IndexEntry, reference: &ResourceName) -> String {
        let path = entry.files[0].path.as_str();
        let located = entry.files.iter().find_map(|stamp| {
            let line = self.line(&stamp.path, reference)?;
            Some(format!("{}:{line}", stamp.path))
        });
        let location = located.unwrap_or_else(|| path.to_string());
        format!("{location}: {}", self.missing(reference))
    }

    fn missing(&self, reference: &ResourceName) -> String {
        if reference.kind == kind_names::LUA {
            return format!("there is no script '{}.lua'", reference.name);
        }
        missing_message(&self.index, KINDS, &VariantPreferences::default(), reference)
    }

    /// Returns the line of a text file that has the name of a resource, or the path of its file.
    fn line(&self, path: &str, reference: &ResourceName) -> Option<usize> {
        let bytes = file_access::read(self.root, path, &readers::SOURCE).ok()?;
        let document = sjson::parse_bytes(&bytes);
        let exact = |text: &str| text == reference.name || is_component(text, reference);
        let file = |text: &str| is_file_of(text, reference);
        if let Ok(document) = &document {
            return line_of(document.root(), &exact).or_else(|| line_of(document.root(), &file));
        }
        let text = std::str::from_utf8(&bytes).ok()?;
        let quoted = |fits: &dyn Fn(&str) -> bool| {
            let has = |line: &str| line.split(['"', '\'']).skip(1).step_by(2).any(fits);
            text.lines().position(has).map(|line| line + 1)
        };
        quoted(&exact).or_else(|| quoted(&file))
    }

    /// Returns the message for a mixer that the settings name and that does not exist.
    fn mixer_message(&mut self) -> Option<String> {
        let settings = Settings::read(self.root, platform::NAME).ok()?;
        let name = settings.text("sound.mixer");
        let mixer = ResourceName::new(kind_names::MIXER, name);
        // Without the key, the engine has buses of its own.
        let is_default = name == Settings::defaults().text("sound.mixer");
        if is_default || name.is_empty() || self.exists(&mixer) {
            return None;
        }
        let line = self.line(settings::FILE, &mixer).map_or(String::new(), |at| format!(":{at}"));
        Some(format!("{}{line}: {}", settings::FILE, self.missing(&mixer)))
    }
}

/// Returns the line of the first text of a document that fits.
fn line_of(value: SjsonValue, fits: &dyn Fn(&str) -> bool) -> Option<usize> {
    if let Some(text) = value.as_str() {
        return fits(text).then(|| value.line());
    }
    if let Some(mut items) = value.items() {
        return items.find_map(|item| line_of(item, fits));
    }
    // The name of a component can be the key of its block.
    value.entries()?.find_map(|entry| {
        let line = entry.line();
        line_of(entry.value, fits).or_else(|| fits(entry.key).then_some(line))
    })
}

/// Returns true if a text is the name of a component whose script is the reference.
fn is_component(text: &str, reference: &ResourceName) -> bool {
    let module = reference.name.strip_prefix("components/");
    reference.kind == kind_names::LUA && module == Some(text)
}

/// Returns true if a text is a path that ends in the name of the resource's file.
fn is_file_of(text: &str, reference: &ResourceName) -> bool {
    let last = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_string();
    let (file, name) = (last(text), last(&reference.name));
    let Some((base, ending)) = file.rsplit_once('.') else { return false };
    let kind = KINDS.by_name(&reference.kind);
    let known = kind.is_some_and(|kind| kind.extensions.iter().any(|(known, _)| *known == ending));
    base == name && known
}
