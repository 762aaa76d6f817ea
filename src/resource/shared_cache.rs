//! The shared cache of compiled data: a folder that several machines use, for example on a network
//! drive, or a server that speaks HTTP. Before a compile, data for sources that are new here is
//! fetched; after it, compiled data is stored. Damaged data is refused: it is hashed and validated
//! when it is fetched, and the contents of all files that were read for it are compared. Valid data
//! of other sources cannot be told apart, so who can write to the cache is trusted.
//!
//! Where the file system can, fetched data is linked, and not copied. All files are replaced as a
//! whole, so that neither name changes the content of the other.
//!
//! Both have the layout of Bazel's HTTP cache: `ac/KEY` has the index entry of a variant,
//! where KEY is the SHA-256 of the inputs, and `cas/HASH` its data, under the SHA-256 of its
//! content.

mod http;
mod sha256;

use super::compile::{CompileTarget, OWN_DATA, data_files, read_data, read_index, refuse_links};
use super::folder_scan::{self, FolderScan, ScannedVariant};
use super::index::{self, IndexEntry, ResourceIndex};
use super::resource_kind::{ResourceKind, derived_kind};
use super::resource_name::ResourceName;
use super::settings::Settings;
use super::source_reader::Sources;
use engine_foundation::atomic_file::{Link, write_whole};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::file_access::readers::{self, ReaderRow};
use engine_foundation::file_access::{self, FileState};
use engine_foundation::hash::murmur64a;
use engine_foundation::{Error, panic};
use http::HttpCache;
use sha256::{hex_after, hex_of};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Version of the keys. It changes if the inputs of a key change.
const KEY_VERSION: u32 = 2;

/// Numbers of the work of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Variants whose data was fetched, and that therefore need no compile.
    pub hits: usize,
    /// Variants that the cache does not have.
    pub misses: usize,
    /// Entries of the cache that were refused: damaged, or of another format.
    pub refused: usize,
    /// Variants that were stored.
    pub stored: usize,
}

/// Compiled data of several machines.
pub struct SharedCache {
    home: CacheHome,
    /// Keys of entries that the cache does not have, or that were refused. They are stored.
    lacking: Mutex<HashSet<String>>,
    /// Variants that were fetched, by resource and properties, with the hashes of their data. They
    /// are stored again if they were compiled nevertheless, because another file had changed.
    fetched: Mutex<HashMap<(ResourceName, String), u64>>,
    /// The reason why the server was not asked any more.
    failure: Mutex<Option<String>>,
    /// True if files of the cache cannot be linked here.
    needs_copies: AtomicBool,
}

/// The place of a cache.
enum CacheHome {
    Folder(PathBuf),
    Server(HttpCache),
}

/// Outcome of a look into the cache.
enum Lookup {
    Hit(Box<IndexEntry>),
    Miss,
    Refused,
    /// The source was compiled here already; only its times have changed.
    Known,
}

/// A variant that may be in the cache, with the hash of the source that was compiled here last.
type WantedVariant<'a> = (&'a ResourceName, &'a ScannedVariant, Option<u64>);

impl SharedCache {
    /// Opens a folder, which must exist, or a server: `http://host:port/path`. A server is asked
    /// later; if it does not answer, the cache has nothing.
    ///
    /// # Errors
    /// Returns an error if there is no such folder, or if the address is not valid.
    pub fn open(location: &str) -> Result<SharedCache, Error> {
        let (lacking, fetched, failure) = (Mutex::default(), Mutex::default(), Mutex::default());
        let needs_copies = AtomicBool::new(false);
        if location.contains("://") {
            let home = CacheHome::Server(HttpCache::parse(location)?);
            return Ok(SharedCache { home, lacking, fetched, failure, needs_copies });
        }
        let (folder, shown) = (Path::new(location), location);
        file_access::list(folder, "").map_err(|refusal| {
            error!("the shared cache '{shown}' cannot be read: {refusal}. It must exist: create it")
        })?;
        let home = CacheHome::Folder(folder.to_path_buf());
        Ok(SharedCache { home, lacking, fetched, failure, needs_copies })
    }

    /// Returns the reason why the server was not asked any more, if there is one.
    pub fn failure(&self) -> Option<String> {
        panic::lock(&self.failure).clone()
    }

    /// Reads a file of the cache. A cache that cannot be read has none.
    fn read(&self, path: &str, reader: &'static ReaderRow) -> Option<Vec<u8>> {
        match &self.home {
            CacheHome::Folder(folder) => file_access::read(folder, path, reader).ok(),
            CacheHome::Server(_) if self.failure().is_some() => None,
            CacheHome::Server(server) => {
                server.get(path, reader.bytes_max).unwrap_or_else(|reason| {
                    self.note_failure(server, &reason);
                    None
                })
            }
        }
    }

    /// The first failure ends the use of a server: waiting for each file would take longer than
    /// compiling.
    fn note_failure(&self, server: &HttpCache, reason: &io::Error) {
        let message = format!("{}: {reason}", server.shown());
        panic::lock(&self.failure).get_or_insert(message);
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Error> {
        match &self.home {
            CacheHome::Folder(folder) => write(&folder.join(path), bytes),
            CacheHome::Server(server) => server
                .put(path, bytes)
                .map_err(|reason| error!("{} cannot be written: {reason}", server.shown())),
        }
    }

    /// Returns the keys that need not be stored, or `None` if only lacking ones are stored.
    fn known_keys(&self) -> Option<HashSet<String>> {
        let CacheHome::Folder(folder) = &self.home else { return None };
        let entries = file_access::list(folder, "ac").map_or(Vec::new(), |found| found.entries);
        Some(entries.into_iter().filter_map(|entry| entry.name.into_string().ok()).collect())
    }

    /// Fetches the data of variants that are new or changed here, and adds them to the index of
    /// compiled data. The next compile reuses those whose files all have the same contents.
    ///
    /// # Errors
    /// Returns an error if the game's folder cannot be read or the data cannot be written. A cache
    /// that cannot be read has no hits.
    pub fn fetch(&self, target: &CompileTarget) -> Result<CacheStats, Error> {
        refuse_links(target.root, &target.data)?;
        let mut found = folder_scan::files(target.root)?;
        found.files.retain(|file| !target.exclude.iter().any(|glob| glob.matches(&file.path)));
        let platforms = Settings::platforms_of(target.root);
        let (kinds, platform) = (&target.kinds, target.source_platform);
        let mut scanned = folder_scan::group_by_resource(found, kinds, platform, &platforms);
        for variant in scanned.resources.values_mut().flatten() {
            variant.properties = variant.properties.without_platforms(&platforms);
        }
        let mut last = read_index(&target.data);
        let present = data_files(&target.data);
        let mut wanted = Vec::new();
        for (name, variants) in &scanned.resources {
            for variant in variants {
                let known = last.variants(name).iter();
                let mut known = known.filter(|entry| entry.properties == variant.properties);
                let source = known.find(|entry| present.contains(&entry.data));
                let source = source.and_then(|entry| entry.files.first());
                if source.is_none_or(|source| source.state != variant.file.state) {
                    wanted.push((name, variant, source.map(|source| source.content)));
                }
            }
        }
        let (mut stats, fetched) = self.look_up_all(target, &wanted);
        let mut has_new = !fetched.is_empty();
        add_entries(&mut last, fetched);
        // What is derived from others is known when they are.
        let derived = wanted_derived(&scanned, &last, &present);
        let wanted: Vec<WantedVariant> =
            derived.iter().map(|(name, variant)| (name, *variant, None)).collect();
        let (of_derived, fetched) = self.look_up_all(target, &wanted);
        has_new |= !fetched.is_empty();
        add_entries(&mut last, fetched);
        stats.hits += of_derived.hits;
        stats.misses += of_derived.misses;
        stats.refused += of_derived.refused;
        if has_new {
            write(&target.data.join(index::FILE), &last.to_bytes())?;
        }
        Ok(stats)
    }

    /// Looks up variants on the target's number of threads.
    fn look_up_all(
        &self,
        target: &CompileTarget,
        wanted: &[WantedVariant],
    ) -> (CacheStats, Vec<IndexEntry>) {
        let sources = Sources::new(target.root, target.kinds);
        let next = AtomicUsize::new(0);
        let results = Mutex::new((CacheStats::default(), Vec::new()));
        let work = || {
            while let Some(wanted) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                let found = self.look_up(target, &sources, *wanted);
                let mut results = panic::lock(&results);
                match found {
                    Lookup::Hit(entry) => {
                        results.0.hits += 1;
                        results.1.push(*entry);
                    }
                    Lookup::Miss => results.0.misses += 1,
                    Lookup::Refused => results.0.refused += 1,
                    Lookup::Known => {}
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..target.threads.clamp(1, wanted.len().max(1)) {
                scope.spawn(work);
            }
            work();
        });
        results.into_inner().unwrap_or_else(|poison| poison.into_inner())
    }

    fn look_up(
        &self,
        target: &CompileTarget,
        sources: &Sources,
        (name, variant, known): WantedVariant,
    ) -> Lookup {
        let Some(kind) = target.kinds.by_name(&name.kind) else { return Lookup::Miss };
        // A source that cannot be read is reported by the compile.
        let Ok((bytes, stamp)) = sources.job().read(&variant.file.path) else {
            return Lookup::Miss;
        };
        if known == Some(stamp.content) {
            return Lookup::Known;
        }
        let key = key(target.release, kind, name, variant, &bytes);
        let Some(record) = self.read(&format!("ac/{key}"), &readers::INDEX) else {
            panic::lock(&self.lacking).insert(key);
            return Lookup::Miss;
        };
        let entry = checked_entry(&record, kind, name, variant)
            .filter(|entry| entry.files[0].content == stamp.content);
        let found = entry.map(|entry| (self.fetch_data(target, &record, &entry, kind), entry));
        let mut entry = match found {
            Some((Ok(true), entry)) => entry,
            Some((Err(_), _)) => return Lookup::Miss,
            None | Some((Ok(false), _)) => {
                panic::lock(&self.lacking).insert(key);
                return Lookup::Refused;
            }
        };
        // The source was read here, so the compile need not read it again. The times of another
        // machine say nothing about the other files: the compile compares their contents.
        let Some((source, others)) = entry.files.split_first_mut() else { return Lookup::Refused };
        *source = stamp;
        for stamp in others {
            stamp.state = FileState { size: u64::MAX, ..FileState::default() };
        }
        let fetched = (name.clone(), variant.properties.to_string());
        panic::lock(&self.fetched).insert(fetched, entry.data_content);
        Lookup::Hit(Box::new(entry))
    }

    /// Puts the data of an entry into the folder of compiled data, if it is what the entry says,
    /// and what the kind's compiler can have written. Returns false if it is refused.
    fn fetch_data(
        &self,
        target: &CompileTarget,
        record: &[u8],
        entry: &IndexEntry,
        kind: &ResourceKind,
    ) -> Result<bool, Error> {
        let hash = record.get(..HASH_DIGITS).and_then(|hash| std::str::from_utf8(hash).ok());
        let is_hash = |hash: &&str| hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(hash) = hash.filter(is_hash) else { return Ok(false) };
        let path = format!("cas/{hash}");
        let is_right = |data: &[u8]| {
            let is_same = hex_of(data) == hash && murmur64a(data, 0) == entry.data_content;
            is_same && (kind.validate)(data).is_ok()
        };
        let to = target.data.join(&entry.data);
        // Other folders are for other programs, which may write into their files.
        let is_own = is_within(&target.data, &target.root.join(OWN_DATA));
        if is_own && let Some(link) = self.link(&path, &to) {
            // The link is checked, and not its name in the cache, which others can replace.
            let data = read_data(&target.data, link.name());
            return match data.is_ok_and(|data| is_right(&data)) {
                true => link.finish(&to).map(|()| true).map_err(|reason| write_error(&to, reason)),
                false => Ok(false),
            };
        }
        match self.read(&path, &readers::COMPILED) {
            Some(data) if is_right(&data) => write(&to, &data).map(|()| true),
            _ => Ok(false),
        }
    }

    /// Links a file of a cache next to `to`. `None` if it has to be copied: on another file system,
    /// for example.
    fn link(&self, path: &str, to: &Path) -> Option<Link> {
        let CacheHome::Folder(folder) = &self.home else { return None };
        if self.needs_copies.load(Ordering::Relaxed) {
            return None;
        }
        let linked = Link::begin(&folder.join(path), to);
        if let Err(reason) = &linked
            && matches!(reason.kind(), ErrorKind::CrossesDevices | ErrorKind::Unsupported)
        {
            self.needs_copies.store(true, Ordering::Relaxed);
        }
        linked.ok()
    }

    /// Stores the data of a compile that the cache does not have.
    ///
    /// # Errors
    /// Returns an error if the cache cannot be written. The compiled data is complete anyway.
    pub fn store(&self, target: &CompileTarget, index: &ResourceIndex) -> Result<usize, Error> {
        if let Some(reason) = self.failure() {
            return Err(Error::new(reason));
        }
        let known = self.known_keys();
        let sources = Sources::new(target.root, target.kinds);
        let (lacking, fetched) = (panic::lock(&self.lacking), panic::lock(&self.fetched));
        let mut stored = 0;
        for entry in &index.entries {
            let Some(kind) = target.kinds.by_name(&entry.resource.kind) else { continue };
            let variant = (entry.resource.clone(), entry.properties.to_string());
            let fetched_data = fetched.get(&variant);
            if fetched_data == Some(&entry.data_content) {
                continue;
            }
            let source = &entry.files[0];
            let Ok((bytes, stamp)) = sources.job().read(&source.path) else { continue };
            let form = entry.form;
            let input = KeyInput {
                release: target.release,
                kind,
                name: &entry.resource,
                properties: variant.1,
                form: form as u8,
                path: &source.path,
            };
            let key = input.key(&bytes);
            // A source that was saved meanwhile is not the one that was compiled.
            let is_known = fetched_data.is_none()
                && !lacking.contains(&key)
                && known.as_ref().is_none_or(|known| known.contains(&key));
            if is_known || stamp.content != source.content {
                continue;
            }
            let Ok(data) = read_data(&target.data, &entry.data) else { continue };
            if murmur64a(&data, 0) != entry.data_content {
                continue;
            }
            let hash = hex_of(&data);
            let one = ResourceIndex { entries: vec![entry.clone()], ..ResourceIndex::default() };
            // The data first: an entry never names data that is not there.
            self.write(&format!("cas/{hash}"), &data)?;
            let record = [hash.as_bytes(), &one.to_bytes()].concat();
            self.write(&format!("ac/{key}"), &record)?;
            stored += 1;
        }
        Ok(stored)
    }
}

/// Puts entries in place of those that an index has of the same variants.
fn add_entries(index: &mut ResourceIndex, entries: Vec<IndexEntry>) {
    let new: BTreeSet<_> =
        entries.iter().map(|entry| (&entry.resource, &entry.properties)).collect();
    index.entries.retain(|known| !new.contains(&(&known.resource, &known.properties)));
    index.entries.extend(entries);
    index
        .entries
        .sort_compact_by(|a, b| (&a.resource, &a.properties).cmp(&(&b.resource, &b.properties)));
}

/// Returns the variants of resources that are derived from those of an index and have no data here,
/// with the files of those.
fn wanted_derived<'a>(
    scanned: &'a FolderScan,
    index: &ResourceIndex,
    present: &HashSet<String>,
) -> Vec<(ResourceName, &'a ScannedVariant)> {
    let mut wanted = Vec::new();
    for entry in &index.entries {
        let Some(kind) = derived_kind(&entry.resource.kind) else { continue };
        let name = ResourceName::new(kind, &entry.resource.name);
        let is_known = index
            .variants(&name)
            .iter()
            .any(|known| known.properties == entry.properties && present.contains(&known.data));
        if is_known || !entry.references.contains(&name) {
            continue;
        }
        let variants = scanned.resources.get(&entry.resource).into_iter().flatten();
        let of_entry = variants.filter(|variant| variant.properties == entry.properties);
        wanted.extend(of_entry.map(|variant| (name.clone(), variant)));
    }
    wanted
}

/// Number of digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// The inputs of a compile, except the contents of files.
struct KeyInput<'a> {
    release: bool,
    kind: &'a ResourceKind,
    name: &'a ResourceName,
    properties: String,
    form: u8,
    path: &'a str,
}

impl KeyInput<'_> {
    fn key(&self, source: &[u8]) -> String {
        let KeyInput { release, kind, name, properties, form, path } = self;
        let version = kind.version;
        let head = format!(
            "{KEY_VERSION}\0{release}\0{}\0{version}\0{name}\0{properties}\0{form}\0{path}\0{}\0",
            kind.name,
            source.len()
        );
        hex_after(head.as_bytes(), source)
    }
}

fn key(
    release: bool,
    kind: &ResourceKind,
    name: &ResourceName,
    variant: &ScannedVariant,
    source: &[u8],
) -> String {
    let properties = variant.properties.to_string();
    let (form, path) = (variant.form as u8, &variant.file.path[..]);
    KeyInput { release, kind, name, properties, form, path }.key(source)
}

/// Returns the entry of a record if it is one of the variant.
fn checked_entry(
    record: &[u8],
    kind: &ResourceKind,
    name: &ResourceName,
    variant: &ScannedVariant,
) -> Option<IndexEntry> {
    // The index refuses damaged bytes, and paths that lead out of the game's folder.
    let index = ResourceIndex::from_bytes(record.get(HASH_DIGITS..)?).ok()?;
    let mut entries = index.entries.into_iter();
    let entry = entries.next().filter(|_| entries.next().is_none())?;
    let is_of_variant = entry.resource == *name
        && entry.properties == variant.properties
        && entry.form == variant.form
        && entry.kind_version == kind.version
        && entry.files[0].path == variant.file.path;
    is_of_variant.then_some(entry)
}

/// Returns true if a path leads into a folder: `./a` is within `a`, and `a/../b` is not.
fn is_within(path: &Path, folder: &Path) -> bool {
    let plain = |path: &Path| -> PathBuf {
        path.components().filter(|part| *part != Component::CurDir).collect()
    };
    let (path, folder) = (plain(path), plain(folder));
    let rest = path.strip_prefix(folder);
    rest.is_ok_and(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_whole(path, bytes).map_err(|reason| write_error(path, reason))
}

fn write_error(path: &Path, reason: io::Error) -> Error {
    error!("{} cannot be written: {reason}", path.display())
}

#[cfg(test)]
mod tests;
