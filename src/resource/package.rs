//! Packages: sets of resources with data that is read and validated on a separate thread, and
//! released together. A resource outside all loaded packages can still be read on demand.

use super::bundle::SharedBytes;
use super::data_resources::{PACKAGE, PackagePattern, read_package};
use super::folder_data;
use super::index::{IndexEntry, ResourceIndex};
use super::resource_kind::ResourceKinds;
use super::resource_name::ResourceName;
use super::store::{DataRead, DataSource, ResourceStore, missing_message};
use super::variant::VariantPreferences;
use engine_foundation::doing;
use engine_foundation::error;
use engine_foundation::hash::IdString64;
use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, Handle, HandleKind, Slots, log, panic};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

/// Maximum number of packages that a game can hold at a time.
pub const PACKAGES_MAX: usize = 4096;

/// Handle of a package that a game holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackageId(pub Handle);

/// A package that a game holds, loaded or not.
pub struct Package {
    name: ResourceName,
    state: PackageState,
}

enum PackageState {
    Unloaded,
    Loading(PackageLoad),
    /// The package is loaded; holds its members.
    Loaded(Vec<IdString64>),
    /// Loading failed and the error was reported; `load` tries again.
    Failed(Error),
}

/// A load in progress.
struct PackageLoad {
    members: Vec<IdString64>,
    /// Version of the store at the start of the load.
    version: u64,
    answer: Receiver<LoadResult>,
    /// Set when the result is no longer needed.
    stop: Arc<AtomicBool>,
}

type LoadResult = Result<Vec<(DataRead, SharedBytes)>, Error>;

/// All packages that a game holds.
pub struct Packages {
    slots: Slots<Package>,
    loader: Option<PackageLoader>,
}

impl Default for Packages {
    fn default() -> Packages {
        Packages { slots: Slots::new(HandleKind::ResourcePackage, PACKAGES_MAX), loader: None }
    }
}

impl Packages {
    /// Returns the packages by their handles.
    pub fn slots(&self) -> &Slots<Package> {
        &self.slots
    }

    /// Registers a package without loading it.
    pub fn add(&mut self, name: &str, store: &ResourceStore) -> Result<PackageId, Error> {
        let name = ResourceName::new(PACKAGE.name, name);
        if !store.has(&name) {
            return Err(error!("{}", store.missing_message(&name)));
        }
        let added = self.slots.add(Package { name, state: PackageState::Unloaded });
        added.map(PackageId).ok_or_else(|| {
            error!("{PACKAGES_MAX} packages are held already (PACKAGES_MAX): release one first")
        })
    }

    /// Starts loading a package, or retries a load that failed.
    pub fn load(&mut self, id: PackageId, store: &mut ResourceStore) -> Result<(), Error> {
        let package = package_mut(&mut self.slots, id);
        let name = &package.name.name;
        match package.state {
            PackageState::Unloaded | PackageState::Failed(_) => {}
            PackageState::Loading(_) => {
                return Err(error!("package '{name}' is being loaded already"));
            }
            PackageState::Loaded(_) => return Err(error!("package '{name}' is loaded already")),
        }
        doing!("When loading package:", name);
        let fetches = store.members(&package.name)?;
        let members = fetches.iter().map(|fetch| fetch.id).collect();
        if self.loader.is_none() {
            self.loader = Some(PackageLoader::start()?);
        }
        let (sender, answer) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (name, data) = (name.clone(), store.data().clone());
        let job = LoadJob { name, data, fetches, answer: sender, stop: stop.clone() };
        self.loader.as_ref().expect("it was started").send(job);
        package.state =
            PackageState::Loading(PackageLoad { members, version: store.version(), answer, stop });
        Ok(())
    }

    /// Returns true if all data of a package is loaded. After a failed load the result is false.
    /// Returns an error if no load was started.
    pub fn has_loaded(&self, id: PackageId) -> Result<bool, Error> {
        let package = self.slots.get(id.0).expect("the handle was checked where it came in");
        match package.state {
            PackageState::Unloaded => Err(never_loaded(&package.name)),
            PackageState::Loading(_) | PackageState::Failed(_) => Ok(false),
            PackageState::Loaded(_) => Ok(true),
        }
    }

    /// Blocks until a package is loaded.
    pub fn flush(&mut self, id: PackageId, store: &mut ResourceStore) -> Result<(), Error> {
        let package = package_mut(&mut self.slots, id);
        match &package.state {
            PackageState::Unloaded => Err(never_loaded(&package.name)),
            PackageState::Loaded(_) => Ok(()),
            PackageState::Loading(_) => finish_loading(package, store, true),
            PackageState::Failed(error) => Err(error.clone()),
        }
    }

    /// Takes over the data that was loaded since the last frame. If `wait` is true, blocks until
    /// all loads are finished. Returns the errors of all failed loads.
    pub fn take_loaded(&mut self, store: &mut ResourceStore, wait: bool) -> Vec<Error> {
        let loading = |package: &Package| matches!(package.state, PackageState::Loading(_));
        let pending = self.slots.iter().filter(|(_, package)| loading(package));
        let pending: Vec<Handle> = pending.map(|(handle, _)| handle).collect();
        let mut problems = Vec::new();
        for handle in pending {
            problems.extend(
                finish_loading(package_mut(&mut self.slots, PackageId(handle)), store, wait).err(),
            );
        }
        problems
    }

    /// Unloads a package: releases its data, except data that another loaded package contains.
    pub fn unload(&mut self, id: PackageId, store: &mut ResourceStore) -> Result<(), Error> {
        let package = package_mut(&mut self.slots, id);
        match std::mem::replace(&mut package.state, PackageState::Unloaded) {
            PackageState::Unloaded => Err(never_loaded(&package.name)),
            PackageState::Failed(_) => Ok(()),
            PackageState::Loading(loading) => {
                loading.stop.store(true, Ordering::Relaxed);
                Ok(())
            }
            PackageState::Loaded(members) => {
                let mut kept: HashSet<IdString64> = HashSet::new();
                for (_, package) in self.slots.iter() {
                    if let PackageState::Loaded(members) = &package.state {
                        kept.extend(members);
                    }
                }
                store.evict(members.into_iter().filter(|id| !kept.contains(id)));
                Ok(())
            }
        }
    }

    /// Unloads and releases a package. `location` is the script line that messages about the stale
    /// handle show.
    pub fn release(
        &mut self,
        id: PackageId,
        store: &mut ResourceStore,
        frame: u64,
        location: &str,
    ) {
        if !matches!(package_mut(&mut self.slots, id).state, PackageState::Unloaded) {
            self.unload(id, store).expect("it is loaded");
        }
        let name = package_mut(&mut self.slots, id).name.name.clone();
        self.slots.remove(id.0, &name, frame, location);
    }
}

fn package_mut(slots: &mut Slots<Package>, id: PackageId) -> &mut Package {
    slots.get_mut(id.0).expect("the handle was checked where it came in")
}

fn never_loaded(name: &ResourceName) -> Error {
    error!("package '{}' is not loaded: begin with ResourcePackage.load", name.name)
}

/// Completes a load if its data has arrived. If `wait` is true, blocks until the data arrives.
fn finish_loading(
    package: &mut Package,
    store: &mut ResourceStore,
    wait: bool,
) -> Result<(), Error> {
    let PackageState::Loading(loading) = &mut package.state else { return Ok(()) };
    let answer = match wait {
        true => loading.answer.recv().map_err(|_| TryRecvError::Disconnected),
        false => loading.answer.try_recv(),
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(TryRecvError::Empty) => return Ok(()),
        Err(TryRecvError::Disconnected) => Err(error!("the thread that loads packages failed")),
    };
    match answer {
        Ok(read) => {
            store.cache(loading.version, read);
            package.state = PackageState::Loaded(std::mem::take(&mut loading.members));
            Ok(())
        }
        Err(error) => {
            package.state = PackageState::Failed(error.clone());
            Err(error)
        }
    }
}

/// One load, as sent to the loader thread.
struct LoadJob {
    name: String,
    data: DataSource,
    fetches: Vec<DataRead>,
    answer: Sender<LoadResult>,
    stop: Arc<AtomicBool>,
}

/// The loader thread. Dropping this value ends the thread.
struct PackageLoader {
    jobs: Option<Sender<LoadJob>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PackageLoader {
    fn start() -> Result<PackageLoader, Error> {
        let (jobs, inbox) = channel::<LoadJob>();
        let stop = Arc::new(AtomicBool::new(false));
        let ended = stop.clone();
        let work = move || {
            OwnerScope::of_thread("resources/data");
            for job in inbox {
                let read = panic::contain(|| fetch_all(&job, &ended)).flatten();
                // The answer has no receiver if the package was unloaded in the meantime.
                let _ = job.answer.send(read);
            }
        };
        let thread = panic::spawn("packages", work);
        let thread = thread.map_err(|reason| error!("no thread could be started: {reason}"))?;
        Ok(PackageLoader { jobs: Some(jobs), stop, thread: Some(thread) })
    }

    fn send(&self, job: LoadJob) {
        let jobs = self.jobs.as_ref().expect("it exists until the end");
        // A failure of the thread is reported where the answer is received.
        let _ = jobs.send(job);
    }
}

impl Drop for PackageLoader {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::warning("the thread that loads packages failed");
        }
    }
}

fn fetch_all(job: &LoadJob, ended: &AtomicBool) -> LoadResult {
    doing!("When loading package:", &job.name);
    let mut read = Vec::with_capacity(job.fetches.len());
    for fetch in &job.fetches {
        if job.stop.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed) {
            break;
        }
        read.push((fetch.clone(), job.data.read(fetch)?));
    }
    Ok(read)
}

/// Returns the resources of a package: those that its patterns match, and recursively those that
/// these refer to. Names in scripts do not count, because a string can mean anything.
pub fn members<'a>(
    index: &'a ResourceIndex,
    kinds: ResourceKinds,
    data: &Path,
    package: &IndexEntry,
) -> Result<Vec<&'a ResourceName>, Error> {
    let mut found = matching(index, kinds, data, package)?;
    let mut pending: Vec<&ResourceName> = found.iter().copied().collect();
    // Each resource is visited once, however often it is referenced.
    while let Some(resource) = pending.pop() {
        let mut referenced = BTreeSet::new();
        for variant in index.variants(resource) {
            let references = variant.references.iter().filter(|name| !name.kind.is_empty());
            let existing = references.filter_map(|name| index.variants(name).first());
            referenced.extend(existing.map(|entry| &entry.resource));
            if variant.resource.kind == PACKAGE.name {
                referenced.extend(matching(index, kinds, data, variant)?);
            }
        }
        pending.extend(referenced.into_iter().filter(|name| found.insert(name)));
    }
    Ok(found.into_iter().collect())
}

/// Returns the resources that a package's own patterns match.
fn matching<'a>(
    index: &'a ResourceIndex,
    kinds: ResourceKinds,
    data: &Path,
    package: &IndexEntry,
) -> Result<BTreeSet<&'a ResourceName>, Error> {
    let path = &package.files[0].path;
    let bytes = folder_data::read_entry(data, package)?;
    let describe = || package.resource.to_string();
    let patterns = read_package(&bytes)
        .map_err(|error| folder_data::discard_invalid(data, &package.data, error, &describe))?;
    let mut found = BTreeSet::new();
    for pattern in patterns {
        let PackagePattern { kind, name } = &pattern;
        if pattern.has_star() {
            let names = index.entries.iter().map(|entry| &entry.resource);
            let mut matched = names.filter(|name| pattern.matches(name)).peekable();
            if matched.peek().is_none() {
                let location = format!("{path}: {kind} = [\"{name}\"]");
                log::warn(&location, "no resource fits this pattern");
            }
            found.extend(matched);
            continue;
        }
        let name = ResourceName::new(kind, name);
        let renamed = || index.variants(index.redirected(&name)?).first();
        let Some(entry) = index.variants(&name).first().or_else(renamed) else {
            let message = missing_message(index, kinds, &VariantPreferences::default(), &name);
            return Err(error!("{path}: {message}"));
        };
        found.insert(&entry.resource);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::bundle::Bundle;
    use super::super::bundle_writer::{self, BundleOptions};
    use super::super::compile::{CompileTarget, compile};
    use super::super::data_resources::{CONFIG, TEXT};
    use super::super::resource_kind::ResourceKinds;
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    const KINDS: ResourceKinds = ResourceKinds(&[&PACKAGE, &TEXT, &CONFIG]);
    const FILES: &[(&str, &str)] = &[
        ("a/one.txt", "one"),
        ("a/two.txt", "two"),
        ("a/two.fr.txt", "deux"),
        ("b/three.txt", "three"),
        ("level.config", "x = 1"),
        ("all.package", "\"*\" = [\"*\"]"),
        ("texts.package", "text = [\"a/*\"]"),
        ("outer.package", "package = [\"inner\"]\nconfig = [\"level\"]"),
        ("inner.package", "text = [\"b/*\"]"),
        ("lacking.package", "text = [\"a/on\"]"),
    ];

    struct Game {
        root: PathBuf,
        index: ResourceIndex,
    }

    impl Game {
        fn new(name: &str, files: &[(&str, &str)]) -> Game {
            let root = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&root);
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            let target = CompileTarget {
                root: &root,
                data: root.join(".data"),
                kinds: KINDS,
                source_platform: "linux",
                release: true,
                exclude: &[],
                threads: 1,
            };
            let index = compile(&target, &|_, _| {}).unwrap().index;
            Game { root, index }
        }

        fn folder(&self) -> ResourceStore {
            ResourceStore::new(
                self.index.clone(),
                DataSource::Folder(self.root.join(".data"), KINDS),
            )
        }

        fn bundle(&self) -> ResourceStore {
            let options = BundleOptions {
                index: &self.index,
                data: &self.root.join(".data"),
                kinds: KINDS,
                platform: "linux",
                game: "test",
                settings: "",
                keeps_path: |_| false,
                is_stopped: || false,
            };
            let path = self.root.join("test.bundle");
            bundle_writer::write_bundle(&options, &path, &|_, _| {}).unwrap();
            ResourceStore::from_bundle(Arc::new(Bundle::open(&path, &KINDS, "linux").unwrap()))
        }
    }

    impl Drop for Game {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    #[test]
    fn an_old_name_finds_the_renamed_resource() {
        let files = [
            ("a/new.txt", "one"),
            ("taken.txt", "two"),
            ("old.package", "text = [\"b/old\"]"),
            (
                "redirects.sjson",
                "\"b/old.text\" = \"a/mid.text\"\n\"a/mid.text\" = \"a/new.text\"\n\
                 \"x.text\" = \"none.text\"\n\"taken.text\" = \"a/new.text\"\n",
            ),
        ];
        let game = Game::new("redirects", &files);
        for mut store in [game.folder(), game.bundle()] {
            let text = |name: &str| ResourceName::new(TEXT.name, name);
            for old in ["b/old", "a/mid", "a/new"] {
                assert!(store.has(&text(old)), "{old}");
                assert_eq!(&*store.read(&text(old)).unwrap(), b"one", "{old}");
            }
            // A resource that exists is not redirected, and an entry can lead nowhere.
            assert_eq!(&*store.read(&text("taken")).unwrap(), b"two");
            assert!(!store.has(&text("x")) && store.read(&text("x")).is_err());
            assert!(!store.has(&ResourceName::new("config", "b/old")));
            let mut packages = Packages::default();
            let id = load(&mut packages, &mut store, "old");
            packages.flush(id, &mut store).unwrap();
        }
        fs::write(game.root.join("redirects.sjson"), "x = 1").unwrap();
        let target = CompileTarget {
            root: &game.root,
            data: game.root.join(".data"),
            kinds: KINDS,
            source_platform: "linux",
            release: true,
            exclude: &[],
            threads: 1,
        };
        let compiled = compile(&target, &|_, _| {}).unwrap();
        assert!(compiled.problems[0].starts_with("redirects.sjson:1: "), "{:?}", compiled.problems);
        assert_eq!(compiled.index.redirects, game.index.redirects, "the last valid table stays");
    }

    fn load(packages: &mut Packages, store: &mut ResourceStore, name: &str) -> PackageId {
        let id = packages.add(name, store).unwrap();
        packages.load(id, store).unwrap();
        assert!(!packages.has_loaded(id).unwrap());
        assert_eq!(packages.take_loaded(store, true), []);
        assert!(packages.has_loaded(id).unwrap());
        id
    }

    /// Runs the check on a folder of compiled data, and on a bundle of the same data.
    fn with_both_stores(name: &str, check: impl Fn(&mut ResourceStore)) {
        let game = Game::new(name, &FILES[..FILES.len() - 1]);
        check(&mut game.folder());
        check(&mut game.bundle());
    }

    #[test]
    fn unloading_releases_resources_of_no_other_loaded_package() {
        with_both_stores("unload", |store| {
            let mut packages = Packages::default();
            let all = load(&mut packages, store, "all");
            assert_eq!(store.cached_count(), 8, "every resource, in the variant that serves");
            let texts = load(&mut packages, store, "texts");
            packages.unload(all, store).unwrap();
            assert_eq!(store.cached_count(), 2);
            packages.release(texts, store, 1, "");
            assert_eq!(store.cached_count(), 0);
            let text = ResourceName::new("text", "a/one");
            assert_eq!(&*store.read(&text).unwrap(), b"one", "it can be read all the same");
        });
    }

    #[test]
    fn a_package_loads_its_members_and_their_references() {
        with_both_stores("brings", |store| {
            load(&mut Packages::default(), store, "outer");
            assert_eq!(
                store.cached_count(),
                if matches!(store.data(), DataSource::Bundle(_)) { 4 } else { 3 }
            );
        });
    }

    #[test]
    fn data_read_for_other_preferences_is_discarded() {
        with_both_stores("preferences", |store| {
            let mut packages = Packages::default();
            let id = packages.add("texts", store).unwrap();
            packages.load(id, store).unwrap();
            store.prefer(VariantPreferences::new(vec!["fr".to_string()]).unwrap());
            store.apply_preferences();
            packages.flush(id, store).unwrap();
            let text = ResourceName::new("text", "a/two");
            assert_eq!(&*store.read(&text).unwrap(), "deux".as_bytes());
        });
    }

    #[test]
    fn a_failed_load_reports_its_reason_and_can_be_repeated() {
        let game = Game::new("fails", FILES);
        let mut store = game.folder();
        let mut packages = Packages::default();
        let lacking = packages.add("lacking", &store).unwrap();
        let message = packages.load(lacking, &mut store).unwrap_err().message;
        assert_eq!(message, "lacking.package: there is no text 'a/on', did you mean 'a/one'?");
        let entry = &game.index.variants(&ResourceName::new("text", "a/one"))[0];
        let file = game.root.join(".data").join(&entry.data);
        fs::rename(&file, file.with_extension("away")).unwrap();
        let texts = packages.add("texts", &store).unwrap();
        packages.load(texts, &mut store).unwrap();
        let problems = packages.take_loaded(&mut store, true);
        assert!(problems[0].message.starts_with("the compiled data of a/one.text ("));
        assert_eq!(problems[0].contexts, ["When loading package: texts"]);
        // The error is reported once, even if the game asks again.
        assert_eq!(packages.take_loaded(&mut store, true), []);
        assert_eq!(packages.has_loaded(texts), Ok(false));
        assert_eq!(packages.flush(texts, &mut store).unwrap_err(), problems[0]);
        packages.load(texts, &mut store).unwrap();
        assert_eq!(packages.take_loaded(&mut store, true).len(), 1);
        packages.unload(texts, &mut store).unwrap();
        assert!(packages.has_loaded(texts).is_err());
        fs::rename(file.with_extension("away"), &file).unwrap();
        packages.load(texts, &mut store).unwrap();
        packages.flush(texts, &mut store).unwrap();
    }

    #[test]
    fn dropping_a_loading_package_ends_its_thread() {
        with_both_stores("ends", |store| {
            let mut packages = Packages::default();
            for name in ["all", "texts", "outer"] {
                let id = packages.add(name, store).unwrap();
                packages.load(id, store).unwrap();
            }
            let id = packages.add("inner", store).unwrap();
            packages.load(id, store).unwrap();
            packages.unload(id, store).unwrap();
            assert!(packages.has_loaded(id).is_err());
        });
    }

    #[test]
    fn the_number_of_packages_is_limited() {
        let store = Game::new("limit", FILES).folder();
        let mut packages = Packages::default();
        for _ in 0..PACKAGES_MAX {
            packages.add("all", &store).unwrap();
        }
        let message = packages.add("all", &store).unwrap_err().message;
        assert!(message.starts_with("4096 packages are held already"), "{message}");
        let message = packages.add("al", &store).unwrap_err().message;
        assert_eq!(message, "there is no package 'al', did you mean 'all'?");
    }
}
