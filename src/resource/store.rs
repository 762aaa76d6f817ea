//! Resource store of a running game: selects the active variant of each resource and reads its data
//! from a folder of compiled data or a bundle. It interprets no resource kind except packages; the
//! code that requests a resource interprets its data.

use super::bundle::{Bundle, BundledVariant, REMEDY, SharedBytes};
use super::data_resources::read_members;
use super::folder_data;
use super::index::{IndexEntry, ResourceIndex, first_error};
use super::package;
use super::panic_report;
use super::resource_kind::{ResourceKind, ResourceKinds, kind_names, substitute_kind};
use super::resource_name::ResourceName;
use super::variant::{VariantPreferences, VariantProperties};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::hash::StateHash;
use engine_foundation::hash::{IdMap, IdString64};
use engine_foundation::suggest::hint_in_folders;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// Location of a game's compiled data.
#[derive(Clone, Debug, Default)]
pub enum DataSource {
    /// Files in a folder, named by hash, of these kinds.
    Folder(PathBuf, ResourceKinds),
    /// One file with its own index.
    Bundle(Arc<Bundle>),
    /// No location: the game has no compiled data.
    #[default]
    Nothing,
}

/// Location of the data of one variant. Different content means a different location.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DataLocation {
    File { name: String, content: u64, kind: &'static ResourceKind },
    Part(usize),
}

/// A request to read data.
#[derive(Clone, Debug)]
pub struct DataRead {
    /// Id of the resource.
    pub id: IdString64,
    /// Name of the resource in messages, if it is known.
    description: String,
    location: DataLocation,
}

impl DataSource {
    /// Returns the kinds of the data; none if there is no data.
    fn kinds(&self) -> ResourceKinds {
        match self {
            DataSource::Folder(_, kinds) => *kinds,
            DataSource::Bundle(bundle) => bundle.kinds(),
            DataSource::Nothing => ResourceKinds::default(),
        }
    }

    /// Reads and validates data. This call may block for a while.
    pub fn read(&self, fetch: &DataRead) -> Result<SharedBytes, Error> {
        self.read_at(&fetch.location, &|| fetch.description.clone())
    }

    /// Reads and validates data; `describe` returns the resource's name for messages.
    fn read_at(
        &self,
        location: &DataLocation,
        describe: &dyn Fn() -> String,
    ) -> Result<SharedBytes, Error> {
        match (self, location) {
            (DataSource::Folder(folder, _), DataLocation::File { name, content, kind }) => {
                let bytes = folder_data::read(folder, name, *content, describe)?;
                match panic_report::contain_described(describe, || (kind.validate)(&bytes)) {
                    Ok(()) => Ok(bytes),
                    // Data need not be damaged if the engine panicked on it or could not check it.
                    Err(error) if error.is_engine_fault || error.is_transient => Err(error),
                    Err(error) => Err(folder_data::discard_invalid(folder, name, error, describe)),
                }
            }
            (DataSource::Bundle(bundle), DataLocation::Part(part)) => {
                let read = panic_report::contain_described(describe, || bundle.read(*part));
                read.map_err(|error| match error.is_engine_fault {
                    true => error,
                    false => error!("the data of {}: {}", describe(), error.message),
                })
            }
            _ => Err(error!("there is no compiled data")),
        }
    }
}

/// The resources of a game.
#[derive(Clone, Debug, Default)]
pub struct ResourceStore {
    /// Index of a folder; a bundle has its own index.
    index: Arc<ResourceIndex>,
    data: DataSource,
    /// All resource kinds, for messages.
    kinds: ResourceKinds,
    preferences: VariantPreferences,
    /// Preferences that take effect at the next frame.
    next_preferences: Option<VariantPreferences>,
    /// Data that has been read, with its location.
    read: IdMap<(DataLocation, SharedBytes)>,
    /// Resources that the game itself requested.
    pub(super) requested: IdMap<ResourceName>,
    /// Resources that a compile requested and that have no active variant, if they are recorded.
    pub(super) missing: Option<BTreeSet<ResourceName>>,
    /// Paths under which scripts were last handed out.
    script_path: HashMap<ResourceName, String>,
    /// Version counter. Increases with every event that can change the active variant of a resource
    /// or its data.
    version: u64,
    /// Sources that are treated as missing: their compiled data is not used.
    simulated_missing: BTreeSet<String>,
    /// Reason why no resources were compiled, if there is one.
    unavailable_reason: Option<String>,
}

impl ResourceStore {
    pub fn new(index: ResourceIndex, data: DataSource) -> ResourceStore {
        let kinds = data.kinds();
        ResourceStore { index: Arc::new(index), data, kinds, ..ResourceStore::default() }
    }

    /// Creates a store without resources.
    pub fn empty(kinds: ResourceKinds) -> ResourceStore {
        ResourceStore { kinds, ..ResourceStore::default() }
    }

    /// Creates the store of a game without available resources; `reason` says why.
    pub fn without(reason: String) -> ResourceStore {
        ResourceStore { unavailable_reason: Some(reason), ..ResourceStore::default() }
    }

    /// Creates the store of a bundle's resources.
    pub fn from_bundle(bundle: Arc<Bundle>) -> ResourceStore {
        ResourceStore::new(ResourceIndex::default(), DataSource::Bundle(bundle))
    }

    /// Treats a source in a folder as missing.
    pub fn simulate_missing(&mut self, path: String) {
        self.simulated_missing.insert(path);
        self.version += 1;
    }

    /// Makes all hidden sources available again.
    pub fn end_simulated_missing(&mut self) {
        self.simulated_missing.clear();
        self.version += 1;
    }

    /// Returns the entry of the active variant, in a folder. An old name of the table of redirects
    /// means the resource that was renamed.
    fn winner(
        &self,
        preferences: &VariantPreferences,
        resource: &ResourceName,
    ) -> Option<&IndexEntry> {
        let redirected = || winner(&self.index, preferences, self.index.redirected(resource)?);
        let entry = winner(&self.index, preferences, resource).or_else(redirected)?;
        (!self.simulated_missing.contains(&entry.files[0].path)).then_some(entry)
    }

    /// Returns the index of compiled data and references. It is empty for a bundle.
    pub fn index(&self) -> &ResourceIndex {
        &self.index
    }

    /// Reads and validates the data of a variant of a game's folder, whether it is active or not.
    pub fn read_variant(&self, entry: &IndexEntry) -> Result<SharedBytes, Error> {
        let missing = || error!("there is no {}", entry.resource);
        let kind = self.kinds.by_name(&entry.resource.kind).ok_or_else(missing)?;
        let (name, content) = (entry.data.clone(), entry.data_content);
        let location = DataLocation::File { name, content, kind };
        self.data.read_at(&location, &|| entry.resource.to_string())
    }

    /// Returns the number of cached bytes of a resource's data, or `None` if the data is not
    /// cached.
    pub fn kept_bytes(&self, resource: &ResourceName) -> Option<usize> {
        self.read.get(&resource.id()).map(|(_, bytes)| bytes.len())
    }

    /// Returns the location of the data.
    pub fn data(&self) -> &DataSource {
        &self.data
    }

    /// Returns a hash of all names and data.
    pub fn content_hash(&self) -> u64 {
        let mut hash = StateHash::new(0);
        for entry in &self.index.entries {
            hash.write_u64(entry.resource.id().0);
            hash.write_bytes(entry.properties.to_string().as_bytes());
            hash.write_u64(entry.data_content);
        }
        hash.finish()
    }

    pub fn preferences(&self) -> &VariantPreferences {
        &self.preferences
    }

    /// Returns a counter that changes whenever cached data may no longer be the active data.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns true if the resource exists and has an active variant.
    pub fn has(&self, resource: &ResourceName) -> bool {
        self.location(resource, &self.preferences).is_some()
    }

    /// Returns the names of the resources of a kind that have an active variant, in order. Returns
    /// `None` for a bundle, which stores hashes instead of names.
    pub fn names(&self, kind: &str) -> Option<Vec<String>> {
        if matches!(self.data, DataSource::Bundle(_)) {
            return None;
        }
        let of_kind = self.index.entries.iter().filter(|entry| entry.resource.kind == kind);
        let mut names: Vec<String> = of_kind
            .filter(|entry| self.has(&entry.resource))
            .map(|entry| entry.resource.name.clone())
            .collect();
        names.dedup();
        Some(names)
    }

    /// Returns the source path of the active variant. A bundle stores this path for scripts only.
    pub fn path(&self, resource: &ResourceName) -> Option<String> {
        match self.location(resource, &self.preferences)? {
            DataLocation::Part(part) => match &self.data {
                DataSource::Bundle(bundle) => Some(bundle.parts()[part].path.clone()),
                _ => None,
            },
            DataLocation::File { .. } => {
                let entry = self.winner(&self.preferences, resource)?;
                Some(entry.files[0].path.clone())
            }
        }
    }

    /// Records the path under which a script was handed out.
    pub fn record_script_path(&mut self, script: &ResourceName, path: &str) {
        self.script_path.insert(script.clone(), path.to_string());
    }

    /// Returns the path under which a script was last handed out. The script keeps this name while
    /// it runs, even if another variant becomes active.
    pub fn script_path(&self, script: &ResourceName) -> Option<&String> {
        self.script_path.get(script)
    }

    /// Returns true if another variant of a script can become active in a bundle. In a folder any
    /// script can change.
    pub fn scripts_can_change(&self) -> bool {
        match &self.data {
            DataSource::Bundle(bundle) => {
                let varies =
                    |part: &BundledVariant| !part.path.is_empty() && !part.properties.is_empty();
                bundle.parts().iter().any(varies)
            }
            _ => true,
        }
    }

    pub(super) fn location(
        &self,
        resource: &ResourceName,
        preferences: &VariantPreferences,
    ) -> Option<DataLocation> {
        self.location_of(resource, resource.id(), preferences)
    }

    fn location_of(
        &self,
        resource: &ResourceName,
        id: IdString64,
        preferences: &VariantPreferences,
    ) -> Option<DataLocation> {
        if let DataSource::Bundle(bundle) = &self.data {
            return part(bundle, preferences, id).map(DataLocation::Part);
        }
        let DataSource::Folder(_, kinds) = &self.data else { return None };
        let entry = self.winner(preferences, resource)?;
        let kind = kinds.by_name(&resource.kind)?;
        Some(DataLocation::File { name: entry.data.clone(), content: entry.data_content, kind })
    }

    /// Returns the reason why a resource could not be compiled, or `None`.
    pub fn failure(&self, resource: &ResourceName) -> Option<&str> {
        self.index.failure(resource)
    }

    /// Returns the error message for a resource without an active variant.
    pub fn missing_message(&self, resource: &ResourceName) -> String {
        self.missing_among_message(resource, &[])
    }

    /// Returns the error message for a missing resource, of a kind of which the engine has
    /// resources, too. `other_names` are the names of these resources; they are suggested if no
    /// name of the game is similar.
    pub fn missing_among_message(&self, resource: &ResourceName, other_names: &[&str]) -> String {
        if let Some(reason) = &self.unavailable_reason {
            return format!("there is no {} '{}': {reason}", noun(&resource.kind), resource.name);
        }
        match &self.data {
            DataSource::Bundle(bundle) if !bundle.variants(resource.id()).is_empty() => format!(
                "none of the variants of {} '{}' serves the preferences [{}]",
                noun(&resource.kind),
                resource.name,
                self.preferences.properties().join(", ")
            ),
            _ if winner(&self.index, &self.preferences, resource).is_some() => {
                format!("there is no {} '{}'", noun(&resource.kind), resource.name)
            }
            _ => {
                let found = (&*self.index, self.kinds);
                missing_name_message(found, &self.preferences, resource, other_names)
            }
        }
    }

    /// Records that the game requested a resource, so that a change of its active variant is
    /// reported. A resource without any variants is not recorded, because a game may request any
    /// number of names.
    pub fn record_request(&mut self, resource: &ResourceName) {
        self.record_request_by_id(resource, resource.id());
    }

    fn record_request_by_id(&mut self, resource: &ResourceName, id: IdString64) {
        self.note_missing(resource);
        if self.requested.contains_key(&id) {
            return;
        }
        let none = match &self.data {
            DataSource::Bundle(bundle) => {
                let is_absent = |id| bundle.variants(id).is_empty();
                is_absent(id) && bundle.redirected(id).is_none_or(is_absent)
            }
            _ => {
                let is_absent = |name: &ResourceName| self.index.variants(name).is_empty();
                is_absent(resource) && self.index.redirected(resource).is_none_or(is_absent)
            }
        };
        if !none {
            self.requested.insert(id, resource.clone());
        }
    }

    /// Returns the data of a resource.
    pub fn read(&mut self, resource: &ResourceName) -> Result<SharedBytes, Error> {
        engine_foundation::owner!("resources/data");
        let id = resource.id();
        self.record_request_by_id(resource, id);
        let Some(location) = self.location_of(resource, id, &self.preferences) else {
            return Err(error!("{}", self.missing_message(resource)));
        };
        if let (DataSource::Bundle(bundle), DataLocation::Part(part)) = (&self.data, &location)
            && bundle.kind(*part).name != resource.kind
        {
            let kind = bundle.kind(*part);
            return Err(error!("the data of {resource}: it is of type {kind:?}: {REMEDY}"));
        }
        if let Some((known, bytes)) = self.read.get(&id)
            && *known == location
        {
            return Ok(bytes.clone());
        }
        let bytes = self.data.read_at(&location, &|| resource.to_string())?;
        engine_foundation::counter!("resources/reads") += 1;
        engine_foundation::counter!("resources/read_bytes") += bytes.len();
        self.read.insert(id, (location, bytes.clone()));
        Ok(bytes)
    }

    /// Returns the read requests for a package: the active variants of its members.
    pub fn members(&mut self, package: &ResourceName) -> Result<Vec<DataRead>, Error> {
        if let DataSource::Bundle(bundle) = self.data.clone() {
            // A member without an active variant is reported as missing when the game requests it.
            let members = read_members(&self.read(package)?)?;
            let data_read = |id| {
                let location = DataLocation::Part(part(&bundle, &self.preferences, id)?);
                Some(DataRead { id, description: format!("#{id}"), location })
            };
            return Ok(members.into_iter().filter_map(data_read).collect());
        }
        let (DataSource::Folder(folder, _), Some(entry)) =
            (&self.data, self.winner(&self.preferences, package))
        else {
            return Err(error!("{}", self.missing_message(package)));
        };
        let members = package::members(&self.index, self.kinds, folder, entry)?;
        let data_read = |name: &ResourceName| {
            let location = self.location(name, &self.preferences)?;
            Some(DataRead { id: name.id(), description: name.to_string(), location })
        };
        Ok(members.into_iter().filter_map(data_read).collect())
    }

    /// Caches data that was read on another thread, if the store still has the version that the
    /// data was read for.
    pub fn cache(&mut self, version: u64, read: Vec<(DataRead, SharedBytes)>) {
        if version == self.version {
            engine_foundation::counter!("resources/reads") += read.len();
            engine_foundation::counter!("resources/read_bytes") +=
                read.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
            self.read
                .extend(read.into_iter().map(|(fetch, bytes)| (fetch.id, (fetch.location, bytes))));
        }
    }

    /// Releases cached data. It is read again on the next request.
    pub fn evict(&mut self, ids: impl Iterator<Item = IdString64>) {
        for id in ids {
            self.read.remove(&id);
        }
    }

    /// Returns the number of resources with cached data.
    pub fn cached_count(&self) -> usize {
        self.read.len()
    }

    /// Sets the preferences that apply from the next frame on.
    pub fn prefer(&mut self, preferences: VariantPreferences) {
        self.next_preferences = Some(preferences);
    }

    /// Returns true if new preferences are pending.
    pub fn has_pending_preferences(&self) -> bool {
        self.next_preferences.is_some()
    }

    /// Applies pending preferences. Returns the requested resources for which another variant
    /// becomes active.
    pub fn apply_preferences(&mut self) -> Vec<ResourceName> {
        let Some(next) = self.next_preferences.take().filter(|next| *next != self.preferences)
        else {
            return Vec::new();
        };
        let serves = |preferences, name| self.location(name, preferences);
        let requested = self.requested.values();
        let changed =
            requested.filter(|name| serves(&self.preferences, name) != serves(&next, name));
        let mut changed: Vec<ResourceName> = changed.cloned().collect();
        changed.sort();
        self.preferences = next;
        self.version += 1;
        changed
    }

    /// Replaces the index with that of a new compile, and releases the data of changed resources.
    pub fn replace(&mut self, index: ResourceIndex, changed: &[ResourceName]) {
        self.index = Arc::new(index);
        self.version += 1;
        self.evict(changed.iter().map(ResourceName::id));
    }
}

/// Returns the active part of a resource in a bundle.
fn part(bundle: &Bundle, preferences: &VariantPreferences, id: IdString64) -> Option<usize> {
    let mut variants = bundle.variants(id);
    if variants.is_empty() {
        // An old name of the table of redirects means the resource that was renamed.
        variants = bundle.variants(bundle.redirected(id)?);
    }
    // Most resources have a single base variant, which is active for any preferences.
    if let [only] = &bundle.parts()[variants.clone()]
        && only.properties.is_empty()
    {
        return Some(variants.start);
    }
    let sets = bundle.parts()[variants.clone()].iter().map(|part| &part.properties[..]);
    Some(variants.start + preferences.winner_of_hashes(sets)?)
}

fn winner<'a>(
    index: &'a ResourceIndex,
    preferences: &VariantPreferences,
    resource: &ResourceName,
) -> Option<&'a IndexEntry> {
    let variants = index.variants(resource);
    let sets: Vec<VariantProperties> =
        variants.iter().map(|entry| entry.properties.clone()).collect();
    Some(&variants[preferences.winner(&sets)?])
}

/// Returns the error message for a resource without an active variant. It covers a file that could
/// not be compiled, a similar name, a dotted name that became a variant, and variants that do not
/// match the preferences.
pub fn missing_message(
    index: &ResourceIndex,
    kinds: ResourceKinds,
    preferences: &VariantPreferences,
    wanted: &ResourceName,
) -> String {
    missing_name_message((index, kinds), preferences, wanted, &[])
}

fn missing_name_message(
    (index, kinds): (&ResourceIndex, ResourceKinds),
    preferences: &VariantPreferences,
    wanted: &ResourceName,
    other_names: &[&str],
) -> String {
    let ResourceName { kind, name } = wanted;
    let one = noun(kind);
    if let Some(message) = index.failure(wanted) {
        return format!("{one} '{name}' could not be compiled: {}", first_error(message));
    }
    // The broken resource may provide the wanted one: a material provides a texture, a sheet
    // provides its frames.
    let explains = |other: &ResourceName| {
        let frames = || name.strip_prefix(&other.name).is_some_and(|rest| rest.starts_with('/'));
        other.name == *name || (other.kind == kind_names::SHEET && frames())
    };
    if let Some((other, message)) = index.failed.iter().find(|(other, _)| explains(other)) {
        let (its_kind, its_name) = (noun(&other.kind), &other.name);
        return format!(
            "there is no {one} '{name}', and the {its_kind} '{its_name}' could not be compiled: {}",
            first_error(message)
        );
    }
    let variants = index.variants(wanted);
    if !variants.is_empty() {
        let quoted: Vec<String> =
            variants.iter().map(|entry| format!("\"{}\"", entry.properties)).collect();
        let order = preferences.properties().join(", ");
        return format!(
            "{one} '{name}' has only the variants {}, and none of them serves the preferences \
             [{order}]: add a file without properties",
            quoted.join(", ")
        );
    }
    if let Some(message) = variant_name_message(index, wanted) {
        return message;
    }
    if let Some((base, ending)) = name.rsplit_once('.')
        && !ending.contains('/')
        && !index.variants(&ResourceName::new(kind, base)).is_empty()
    {
        return format!("there is no {one} '{name}': names have no ending, write '{base}'");
    }
    let serves = |other: &str| other == kind || substitute_kind(kind) == Some(other);
    // The name of a resource that could not be compiled may be meant as well.
    let known = index.entries.iter().map(|entry| &entry.resource);
    let known = known.chain(index.failed.iter().map(|(resource, _)| resource));
    let known = known.filter(|resource| serves(&resource.kind));
    let names = known.map(|resource| resource.name.as_str());
    let near = hint_in_folders(name, names);
    let other = index.entries.iter().find(|entry| entry.resource.name == *name);
    let hint = match other.filter(|_| near.is_empty()) {
        Some(other) => other.same_name_hint(kind),
        None if near.is_empty() => {
            let near = hint_in_folders(name, other_names.iter().copied());
            if near.is_empty() { kinds.endings_text(kind) } else { near }
        }
        None => near,
    };
    format!("there is no {one} '{name}'{hint}")
}

/// Returns the noun for one resource of a kind in messages.
fn noun(kind: &str) -> &str {
    if kind == kind_names::PARTICLES { "effect" } else { kind }
}

fn variant_name_message(index: &ResourceIndex, wanted: &ResourceName) -> Option<String> {
    let file = wanted.name.rsplit('/').next()?;
    let (_, properties) = file.split_once('.')?;
    let base = &wanted.name[..wanted.name.len() - properties.len() - 1];
    let set = VariantProperties::of(properties.split('.')).ok()?;
    let base_name = ResourceName::new(&wanted.kind, base);
    let entry = index.variants(&base_name).iter().find(|entry| entry.properties == set);
    let path: &str = match entry {
        Some(entry) => &entry.files.first()?.path,
        // The message for a resource that could not be compiled has its path.
        None => {
            let path = index.failure(&base_name)?.split(':').next()?;
            path.strip_prefix(&wanted.name).filter(|rest| rest.starts_with('.'))?;
            path
        }
    };
    Some(format!(
        "there is no {} '{}': {path} is variant \"{set}\" of {base}: rename it (dots in names are \
         variants)",
        wanted.kind, wanted.name
    ))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
