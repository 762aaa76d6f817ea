//! Resources of a running game: which variant serves, and its data, in a folder of compiled data or
//! a bundle. Knows no kinds but packages; who asks for a resource knows what its data means.

use super::bundle::{Bundle, Bytes, Part, REMEDY};
use super::containment;
use super::data_kinds::read_members;
use super::folder_data;
use super::index::{Entry, Index};
use super::kind::{Kind, Kinds, endings_words, stand_in};
use super::name::ResourceName;
use super::package;
use super::variant::{Preferences, Properties};
use crate::error;
use crate::foundation::Error;
use crate::foundation::hash::StateHash;
use crate::foundation::hash::{IdMap, IdString64};
use crate::foundation::suggest::hint_in_folders;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// Where compiled data lies.
#[derive(Clone, Debug, Default)]
pub enum Data {
    /// In files of a folder, named by hash, of these kinds.
    Folder(PathBuf, Kinds),
    /// In one file, with its own index.
    Bundle(Arc<Bundle>),
    /// Nowhere: the game has no compiled data.
    #[default]
    Nothing,
}

/// Where the data of one variant lies; another content is another place.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    File { name: String, content: u64, kind: &'static Kind },
    Part(usize),
}

/// Data to be read.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// Of the resource.
    pub id: IdString64,
    /// What it is called, where that is known.
    words: String,
    place: Place,
}

impl Data {
    /// Reads and validates data. It may take a while.
    pub fn read(&self, fetch: &Fetch) -> Result<Bytes, Error> {
        self.read_at(&fetch.place, &|| fetch.words.clone())
    }

    /// The same; `words` says what it is called, where that is asked.
    fn read_at(&self, place: &Place, words: &dyn Fn() -> String) -> Result<Bytes, Error> {
        match (self, place) {
            (Data::Folder(folder, _), Place::File { name, content, kind }) => {
                let bytes = folder_data::read(folder, name, *content, words)?;
                match containment::contain_words(words, || (kind.validate)(&bytes)) {
                    Ok(()) => Ok(bytes),
                    // What the engine fell over, or could not look at, need not be damaged.
                    Err(error) if error.is_fault || error.is_passing => Err(error),
                    Err(error) => Err(folder_data::refused(folder, name, error, words)),
                }
            }
            (Data::Bundle(bundle), Place::Part(part)) => {
                let read = containment::contain_words(words, || bundle.read(*part));
                read.map_err(|error| match error.is_fault {
                    true => error,
                    false => error!("the data of {}: {}", words(), error.message),
                })
            }
            _ => Err(error!("there is no compiled data")),
        }
    }
}

/// The resources of a game.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Of a folder; a bundle has its own.
    index: Arc<Index>,
    data: Data,
    preferences: Preferences,
    /// Preferences that take effect at the next frame.
    next_preferences: Option<Preferences>,
    /// What was read so far, with the place that it came from.
    read: IdMap<(Place, Bytes)>,
    /// The resources that the game itself asked for.
    asked: IdMap<ResourceName>,
    /// The paths under which scripts were handed out last.
    handed_out: HashMap<ResourceName, String>,
    /// Counts what can make another variant serve, or the same one have other data.
    version: u64,
    /// Sources that are as if they were not there: what was made of them serves nobody.
    hidden: BTreeSet<String>,
    /// Why nothing was compiled, where that is so.
    lacks: Option<String>,
}

impl Store {
    pub fn new(index: Index, data: Data) -> Store {
        Store { index: Arc::new(index), data, ..Store::default() }
    }

    /// Of a game whose resources cannot be had, and why.
    pub fn without(reason: String) -> Store {
        Store { lacks: Some(reason), ..Store::default() }
    }

    /// The resources of a bundle.
    pub fn of_bundle(bundle: Arc<Bundle>) -> Store {
        Store { data: Data::Bundle(bundle), ..Store::default() }
    }

    /// As if a source were not there, in a folder.
    pub fn hide(&mut self, path: String) {
        self.hidden.insert(path);
        self.version += 1;
    }

    /// Every source is there again.
    pub fn show_all(&mut self) {
        self.hidden.clear();
        self.version += 1;
    }

    /// The entry of the variant that serves, in a folder.
    fn winner(&self, preferences: &Preferences, resource: &ResourceName) -> Option<&Entry> {
        let entry = winner(&self.index, preferences, resource)?;
        (!self.hidden.contains(&entry.files[0].path)).then_some(entry)
    }

    /// What was compiled, and who names whom; a bundle knows neither.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// How many bytes are kept of a resource's data, where they are.
    pub fn kept_bytes(&self, resource: &ResourceName) -> Option<usize> {
        self.read.get(&resource.id()).map(|(_, bytes)| bytes.len())
    }

    /// Where the data lies.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// A hash of everything that there is: names and data.
    pub fn content_hash(&self) -> u64 {
        let mut hash = StateHash::new(0);
        for entry in &self.index.entries {
            hash.write_u64(entry.resource.id().0);
            hash.write_bytes(entry.properties.to_string().as_bytes());
            hash.write_u64(entry.data_content);
        }
        hash.finish()
    }

    pub fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    /// Changes whenever data that was read may no longer be what serves.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether there is a resource, and a variant of it that serves now.
    pub fn has(&self, resource: &ResourceName) -> bool {
        self.place(resource, &self.preferences).is_some()
    }

    /// The names of the resources of a kind that serve now, in order; `None` in a bundle, which has
    /// hashes in their place.
    pub fn names(&self, kind: &str) -> Option<Vec<String>> {
        if matches!(self.data, Data::Bundle(_)) {
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

    /// The path of the source of the variant that serves now. A bundle knows it of scripts alone.
    pub fn path(&self, resource: &ResourceName) -> Option<String> {
        match self.place(resource, &self.preferences)? {
            Place::Part(part) => match &self.data {
                Data::Bundle(bundle) => Some(bundle.parts()[part].path.clone()),
                _ => None,
            },
            Place::File { .. } => {
                let entry = self.winner(&self.preferences, resource)?;
                Some(entry.files[0].path.clone())
            }
        }
    }

    /// Notes the path under which a script was handed out.
    pub fn hand_out(&mut self, script: &ResourceName, path: &str) {
        self.handed_out.insert(script.clone(), path.to_string());
    }

    /// The path under which a script was handed out last: it keeps that name while it runs, also
    /// when another variant comes to serve.
    pub fn handed_out(&self, script: &ResourceName) -> Option<&String> {
        self.handed_out.get(script)
    }

    /// Whether another variant of a script can come to serve in a bundle. In a folder anything can
    /// change.
    pub fn scripts_can_change(&self) -> bool {
        match &self.data {
            Data::Bundle(bundle) => {
                let varies = |part: &Part| !part.path.is_empty() && !part.properties.is_empty();
                bundle.parts().iter().any(varies)
            }
            _ => true,
        }
    }

    fn place(&self, resource: &ResourceName, preferences: &Preferences) -> Option<Place> {
        self.place_of(resource, resource.id(), preferences)
    }

    fn place_of(
        &self,
        resource: &ResourceName,
        id: IdString64,
        preferences: &Preferences,
    ) -> Option<Place> {
        if let Data::Bundle(bundle) = &self.data {
            return part(bundle, preferences, id).map(Place::Part);
        }
        let Data::Folder(_, kinds) = &self.data else { return None };
        let entry = self.winner(preferences, resource)?;
        let kind = kinds.by_name(&resource.kind)?;
        Some(Place::File { name: entry.data.clone(), content: entry.data_content, kind })
    }

    /// Why a resource could not be compiled, where that is so.
    pub fn failure(&self, resource: &ResourceName) -> Option<&str> {
        self.index.failure(resource)
    }

    /// The words for a resource that nothing serves.
    pub fn missing_words(&self, resource: &ResourceName) -> String {
        self.missing_words_among(resource, &[])
    }

    /// The same where the engine has resources of the kind, too: their names, which are told where
    /// none of the game's own is near.
    pub fn missing_words_among(&self, resource: &ResourceName, further: &[&str]) -> String {
        if let Some(reason) = &self.lacks {
            return format!("there is no {} '{}': {reason}", resource.kind, resource.name);
        }
        match &self.data {
            Data::Bundle(bundle) if !bundle.variants(resource.id()).is_empty() => format!(
                "none of the variants of {} '{}' serves the preferences [{}]",
                resource.kind,
                resource.name,
                self.preferences.words().join(", ")
            ),
            _ if winner(&self.index, &self.preferences, resource).is_some() => {
                format!("there is no {} '{}'", resource.kind, resource.name)
            }
            _ => words_of_missing(&self.index, &self.preferences, resource, further),
        }
    }

    /// Notes that the game asked for a resource: it wants to know when another variant serves. What
    /// has no variants at all is not noted, for a game may ask for any number of names.
    pub fn note_asked(&mut self, resource: &ResourceName) {
        self.note_asked_by(resource, resource.id());
    }

    fn note_asked_by(&mut self, resource: &ResourceName, id: IdString64) {
        if self.asked.contains_key(&id) {
            return;
        }
        let none = match &self.data {
            Data::Bundle(bundle) => bundle.variants(id).is_empty(),
            _ => self.index.variants(resource).is_empty(),
        };
        if !none {
            self.asked.insert(id, resource.clone());
        }
    }

    /// The data of a resource.
    pub fn read(&mut self, resource: &ResourceName) -> Result<Bytes, Error> {
        crate::owner!("resources/data");
        let id = resource.id();
        self.note_asked_by(resource, id);
        let Some(place) = self.place_of(resource, id, &self.preferences) else {
            return Err(error!("{}", self.missing_words(resource)));
        };
        if let (Data::Bundle(bundle), Place::Part(part)) = (&self.data, &place)
            && bundle.kind(*part).name != resource.kind
        {
            let kind = bundle.kind(*part);
            return Err(error!("the data of {resource}: it is of type {kind:?}: {REMEDY}"));
        }
        if let Some((known, bytes)) = self.read.get(&id)
            && *known == place
        {
            return Ok(bytes.clone());
        }
        let bytes = self.data.read_at(&place, &|| resource.to_string())?;
        crate::counter!("resources/reads") += 1;
        crate::counter!("resources/read_bytes") += bytes.len();
        self.read.insert(id, (place, bytes.clone()));
        Ok(bytes)
    }

    /// What has to be read for a package: the variants that serve now of its members.
    pub fn members(&mut self, package: &ResourceName) -> Result<Vec<Fetch>, Error> {
        if let Data::Bundle(bundle) = self.data.clone() {
            // A member of which no variant serves is found missing when somebody asks for it.
            let members = read_members(&self.read(package)?)?;
            let serving = |id| {
                let place = Place::Part(part(&bundle, &self.preferences, id)?);
                Some(Fetch { id, words: format!("#{id}"), place })
            };
            return Ok(members.into_iter().filter_map(serving).collect());
        }
        let (Data::Folder(folder, _), Some(entry)) =
            (&self.data, self.winner(&self.preferences, package))
        else {
            return Err(error!("{}", self.missing_words(package)));
        };
        let members = package::members(&self.index, folder, entry)?;
        let serving = |name: &ResourceName| {
            let place = self.place(name, &self.preferences)?;
            Some(Fetch { id: name.id(), words: name.to_string(), place })
        };
        Ok(members.into_iter().filter_map(serving).collect())
    }

    /// Takes what was read elsewhere, if the store is still of the version that it was read for.
    pub fn keep(&mut self, version: u64, read: Vec<(Fetch, Bytes)>) {
        if version == self.version {
            crate::counter!("resources/reads") += read.len();
            crate::counter!("resources/read_bytes") +=
                read.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
            self.read
                .extend(read.into_iter().map(|(fetch, bytes)| (fetch.id, (fetch.place, bytes))));
        }
    }

    /// Forgets data; it is read again when somebody asks for it.
    pub fn forget(&mut self, ids: impl Iterator<Item = IdString64>) {
        for id in ids {
            self.read.remove(&id);
        }
    }

    /// How many resources' data is kept.
    pub fn kept(&self) -> usize {
        self.read.len()
    }

    /// Prefers these properties from the next frame on.
    pub fn prefer(&mut self, preferences: Preferences) {
        self.next_preferences = Some(preferences);
    }

    /// Whether new preferences wait to take effect.
    pub fn will_prefer(&self) -> bool {
        self.next_preferences.is_some()
    }

    /// Lets new preferences take effect: the resources that the game asked for and that another
    /// variant serves from now on.
    pub fn apply_preferences(&mut self) -> Vec<ResourceName> {
        let Some(next) = self.next_preferences.take().filter(|next| *next != self.preferences)
        else {
            return Vec::new();
        };
        let serves = |preferences, name| self.place(name, preferences);
        let asked = self.asked.values();
        let changed = asked.filter(|name| serves(&self.preferences, name) != serves(&next, name));
        let mut changed: Vec<ResourceName> = changed.cloned().collect();
        changed.sort();
        self.preferences = next;
        self.version += 1;
        changed
    }

    /// Takes the index of a new compile, and forgets the data of what changed.
    pub fn replace(&mut self, index: Index, changed: &[ResourceName]) {
        self.index = Arc::new(index);
        self.version += 1;
        self.forget(changed.iter().map(ResourceName::id));
    }
}

/// The part that serves, of a resource in a bundle.
fn part(bundle: &Bundle, preferences: &Preferences, id: IdString64) -> Option<usize> {
    let variants = bundle.variants(id);
    // Nearly all have one, which serves whatever is preferred.
    if let [only] = &bundle.parts()[variants.clone()]
        && only.properties.is_empty()
    {
        return Some(variants.start);
    }
    let sets = bundle.parts()[variants.clone()].iter().map(|part| &part.properties[..]);
    Some(variants.start + preferences.winner_of_hashes(sets)?)
}

fn winner<'a>(
    index: &'a Index,
    preferences: &Preferences,
    resource: &ResourceName,
) -> Option<&'a Entry> {
    let variants = index.variants(resource);
    let sets: Vec<Properties> = variants.iter().map(|entry| entry.properties.clone()).collect();
    Some(&variants[preferences.winner(&sets)?])
}

/// The words for a resource that nothing serves: a file that could not be compiled, a near name, a
/// dotted name that became a variant, or variants of which none is preferred.
pub fn missing_words(index: &Index, preferences: &Preferences, wanted: &ResourceName) -> String {
    words_of_missing(index, preferences, wanted, &[])
}

fn words_of_missing(
    index: &Index,
    preferences: &Preferences,
    wanted: &ResourceName,
    further: &[&str],
) -> String {
    let ResourceName { kind, name } = wanted;
    if let Some(words) = index.failure(wanted) {
        return format!("{kind} '{name}' could not be compiled: {words}");
    }
    // What is broken may be what stands for it: a material for a texture, a sheet for its frames.
    let stands = |other: &ResourceName| {
        let frames = || name.strip_prefix(&other.name).is_some_and(|rest| rest.starts_with('/'));
        other.name == *name || (other.kind == "sheet" && frames())
    };
    if let Some((other, words)) = index.failed.iter().find(|(other, _)| stands(other)) {
        let (its_kind, its_name) = (&other.kind, &other.name);
        return format!(
            "there is no {kind} '{name}', and the {its_kind} '{its_name}' could not be compiled: \
             {words}"
        );
    }
    let variants = index.variants(wanted);
    if !variants.is_empty() {
        let words: Vec<String> =
            variants.iter().map(|entry| format!("\"{}\"", entry.properties)).collect();
        let order = preferences.words().join(", ");
        return format!(
            "{kind} '{name}' has only the variants {}, and none of them serves the preferences \
             [{order}]: add a file without properties",
            words.join(", ")
        );
    }
    if let Some(words) = dotted_words(index, wanted) {
        return words;
    }
    if let Some((base, ending)) = name.rsplit_once('.')
        && !ending.contains('/')
        && !index.variants(&ResourceName::new(kind, base)).is_empty()
    {
        return format!("there is no {kind} '{name}': names have no ending, write '{base}'");
    }
    let serves = |other: &str| other == kind || stand_in(kind) == Some(other);
    // What could not be compiled may be meant as well.
    let known = index.entries.iter().map(|entry| &entry.resource);
    let known = known.chain(index.failed.iter().map(|(resource, _)| resource));
    let known = known.filter(|resource| serves(&resource.kind));
    let names = known.map(|resource| resource.name.as_str());
    let near = hint_in_folders(name, names);
    let other = index.entries.iter().find(|entry| entry.resource.name == *name);
    let hint = match other.filter(|_| near.is_empty()) {
        Some(other) => format!(", but a {} of that name", other.resource.kind),
        None if near.is_empty() => {
            let near = hint_in_folders(name, further.iter().copied());
            if near.is_empty() { endings_words(kind) } else { near }
        }
        None => near,
    };
    format!("there is no {kind} '{name}'{hint}")
}

fn dotted_words(index: &Index, wanted: &ResourceName) -> Option<String> {
    let file = wanted.name.rsplit('/').next()?;
    let (_, words) = file.split_once('.')?;
    let base = &wanted.name[..wanted.name.len() - words.len() - 1];
    let set = Properties::of(words.split('.')).ok()?;
    let base_name = ResourceName::new(&wanted.kind, base);
    let entry = index.variants(&base_name).iter().find(|entry| entry.properties == set);
    let path: &str = match entry {
        Some(entry) => &entry.files.first()?.path,
        // One that cannot be compiled is told with its path.
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
