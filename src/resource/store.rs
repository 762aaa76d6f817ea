//! Resources of a running game: which variant serves, and its data. Knows no kinds; who asks for a
//! resource knows what its data means.

use super::index::{Entry, Index};
use super::name::ResourceName;
use super::variant::{Preferences, Properties};
use crate::error;
use crate::foundation::Error;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Where compiled data lies.
#[derive(Clone, Debug, Default)]
pub enum Data {
    /// In files of a folder, named by hash.
    Folder(PathBuf),
    /// Nowhere: the game has no compiled data.
    #[default]
    Nothing,
}

/// The resources of a game.
#[derive(Clone, Debug, Default)]
pub struct Store {
    index: Arc<Index>,
    data: Data,
    preferences: Preferences,
    /// Preferences that take effect at the next frame.
    next_preferences: Option<Preferences>,
    /// What was read so far, with the file that it came from.
    read: HashMap<ResourceName, (String, Arc<[u8]>)>,
}

impl Store {
    pub fn new(index: Index, data: Data) -> Store {
        let (preferences, read) = (Preferences::default(), HashMap::new());
        Store { index: Arc::new(index), data, preferences, next_preferences: None, read }
    }

    /// Everything that there is.
    pub fn index(&self) -> &Index {
        &self.index
    }

    pub fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    /// The variant of a resource that serves now.
    pub fn find(&self, resource: &ResourceName) -> Option<&Entry> {
        winner(&self.index, &self.preferences, resource)
    }

    /// The data of a resource.
    pub fn read(&mut self, resource: &ResourceName) -> Result<Arc<[u8]>, Error> {
        let Some(entry) = self.find(resource) else {
            return Err(error!("{}", missing_words(&self.index, &self.preferences, resource)));
        };
        let file = entry.data.clone();
        if let Some((known, bytes)) = self.read.get(resource)
            && *known == file
        {
            return Ok(bytes.clone());
        }
        let bytes: Arc<[u8]> = match &self.data {
            Data::Nothing => return Err(error!("there is no compiled data")),
            Data::Folder(folder) => fs::read(folder.join(&file))
                .map_err(|reason| {
                    error!("the compiled data of {resource} ({file}) cannot be read: {reason}")
                })?
                .into(),
        };
        self.read.insert(resource.clone(), (file, bytes.clone()));
        Ok(bytes)
    }

    /// Prefers these properties from the next frame on.
    pub fn prefer(&mut self, preferences: Preferences) {
        self.next_preferences = Some(preferences);
    }

    /// Lets new preferences take effect: the resources that another variant serves from now on.
    pub fn apply_preferences(&mut self) -> Vec<ResourceName> {
        let Some(next) = self.next_preferences.take().filter(|next| *next != self.preferences)
        else {
            return Vec::new();
        };
        let names: BTreeSet<&ResourceName> =
            self.index.entries.iter().map(|entry| &entry.resource).collect();
        let data = |preferences: &Preferences, name: &ResourceName| {
            winner(&self.index, preferences, name).map(|entry| entry.data.clone())
        };
        let changed = names.into_iter();
        let changed = changed.filter(|name| data(&self.preferences, name) != data(&next, name));
        let changed: Vec<ResourceName> = changed.cloned().collect();
        self.preferences = next;
        changed
    }

    /// Takes the index of a new compile, and forgets the data of what changed.
    pub fn replace(&mut self, index: Index, changed: &[ResourceName]) {
        self.index = Arc::new(index);
        for name in changed {
            self.read.remove(name);
        }
    }
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

/// The words for a resource that nothing serves: a near name, a dotted name that became a variant,
/// or variants of which none is preferred.
pub fn missing_words(index: &Index, preferences: &Preferences, wanted: &ResourceName) -> String {
    let ResourceName { kind, name } = wanted;
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
    let known = index.entries.iter().filter(|entry| entry.resource.kind == *kind);
    let names = known.map(|entry| entry.resource.name.as_str());
    format!("there is no {kind} '{name}'{}", crate::foundation::suggest::hint(name, names))
}

fn dotted_words(index: &Index, wanted: &ResourceName) -> Option<String> {
    let file = wanted.name.rsplit('/').next()?;
    let (_, words) = file.split_once('.')?;
    let base = &wanted.name[..wanted.name.len() - words.len() - 1];
    let set = Properties::of(words.split('.')).ok()?;
    let variants = index.variants(&ResourceName::new(&wanted.kind, base));
    let entry = variants.iter().find(|entry| entry.properties == set)?;
    let path = &entry.files.first()?.path;
    Some(format!(
        "there is no {} '{}': {path} is variant \"{set}\" of {base}: rename it (dots in names are \
         variants)",
        wanted.kind, wanted.name
    ))
}

#[cfg(test)]
mod tests {
    use super::super::index::Stamp;
    use super::super::kind::Form;
    use super::*;

    fn store(variants: &[(&str, &str)]) -> Store {
        let mut entries: Vec<Entry> = variants
            .iter()
            .map(|(name, words)| Entry {
                resource: ResourceName::new("texture", name),
                properties: Properties::of(words.split('.').filter(|w| !w.is_empty())).unwrap(),
                form: Form::Raw,
                kind_version: 1,
                data: format!("{name}.{words}"),
                data_content: 0,
                files: vec![Stamp {
                    path: format!("{name}.{words}.png"),
                    size: 0,
                    changed: 0,
                    content: 0,
                }],
                references: Vec::new(),
            })
            .collect();
        entries.sort_by(|a, b| (&a.resource, &a.properties).cmp(&(&b.resource, &b.properties)));
        Store::new(Index { entries }, Data::Nothing)
    }

    fn prefer(store: &mut Store, words: &[&str]) -> Vec<String> {
        let words = words.iter().map(|word| word.to_string()).collect();
        store.prefer(Preferences::new(words).unwrap());
        store.apply_preferences().iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_change_of_preference_names_the_resources_whose_winner_changed() {
        let mut store = store(&[("a", ""), ("a", "fr"), ("b", "")]);
        assert_eq!(prefer(&mut store, &["fr"]), ["a.texture"]);
        let name = ResourceName::new("texture", "a");
        assert_eq!(store.find(&name).unwrap().data, "a.fr");
        assert!(prefer(&mut store, &["fr", "noblood"]).is_empty());
        assert_eq!(prefer(&mut store, &[]), ["a.texture"]);
    }

    #[test]
    fn what_nothing_serves_is_told_with_its_remedy() {
        let store = store(&[("hero", ""), ("hero", "idle"), ("flag", "fr")]);
        let words = |name: &str| {
            missing_words(&store.index, &store.preferences, &ResourceName::new("texture", name))
        };
        assert_eq!(words("heroo"), "there is no texture 'heroo', did you mean 'hero'?");
        assert_eq!(
            words("hero.idle"),
            "there is no texture 'hero.idle': hero.idle.png is variant \"idle\" of hero: rename it \
             (dots in names are variants)"
        );
        assert_eq!(
            words("flag"),
            "texture 'flag' has only the variants \"fr\", and none of them serves the preferences \
             []: add a file without properties"
        );
    }
}
