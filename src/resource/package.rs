//! Packages: sets of resources whose data is read and checked on a thread of its own, and forgotten
//! together. What is in no loaded package can be read all the same, when it is asked for.

use super::bundle::Bytes;
use super::data_kinds::{PACKAGE, Pattern, read_package};
use super::folder_data;
use super::index::{Entry, Index};
use super::name::ResourceName;
use super::store::{Data, Fetch, Store, missing_words};
use super::variant::Preferences;
use crate::foundation::hash::IdString64;
use crate::foundation::memory::Owner;
use crate::foundation::{Error, Handle, Kind, Slots, fault, log};
use crate::{doing, error};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

/// The most packages that a game can hold at a time.
pub const PACKAGES_MAX: usize = 4096;

/// Names a package that a game holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackageId(pub Handle);

/// A package that a game holds, loaded or not.
pub struct Package {
    name: ResourceName,
    state: State,
}

enum State {
    Unloaded,
    Loading(Loading),
    /// With its members.
    Loaded(Vec<IdString64>),
    /// It was told why; `load` tries again.
    Failed(Error),
}

/// A load that was begun.
struct Loading {
    members: Vec<IdString64>,
    /// The store's, when it began.
    version: u64,
    answer: Receiver<Answer>,
    /// Nobody wants it any more.
    stop: Arc<AtomicBool>,
}

type Answer = Result<Vec<(Fetch, Bytes)>, Error>;

/// All packages that a game holds.
pub struct Packages {
    slots: Slots<Package>,
    loader: Option<Loader>,
}

impl Default for Packages {
    fn default() -> Packages {
        Packages { slots: Slots::new(Kind::ResourcePackage, PACKAGES_MAX), loader: None }
    }
}

impl Packages {
    /// The packages by their handles.
    pub fn slots(&self) -> &Slots<Package> {
        &self.slots
    }

    /// Takes hold of a package, which is not loaded by that.
    pub fn add(&mut self, name: &str, store: &Store) -> Result<PackageId, Error> {
        let name = ResourceName::new(PACKAGE.name, name);
        if !store.has(&name) {
            return Err(error!("{}", store.missing_words(&name)));
        }
        let added = self.slots.add(Package { name, state: State::Unloaded });
        added.map(PackageId).ok_or_else(|| {
            error!("{PACKAGES_MAX} packages are held already (PACKAGES_MAX): release one first")
        })
    }

    /// Begins to load a package, or tries again to load one that could not be loaded.
    pub fn load(&mut self, id: PackageId, store: &mut Store) -> Result<(), Error> {
        let package = get(&mut self.slots, id);
        let name = &package.name.name;
        match package.state {
            State::Unloaded | State::Failed(_) => {}
            State::Loading(_) => return Err(error!("package '{name}' is being loaded already")),
            State::Loaded(_) => return Err(error!("package '{name}' is loaded already")),
        }
        doing!("When loading package:", name);
        let fetches = store.members(&package.name)?;
        let members = fetches.iter().map(|fetch| fetch.id).collect();
        if self.loader.is_none() {
            self.loader = Some(Loader::start()?);
        }
        let (sender, answer) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (name, data) = (name.clone(), store.data().clone());
        let job = Job { name, data, fetches, answer: sender, stop: stop.clone() };
        self.loader.as_ref().expect("it was started").give(job);
        package.state = State::Loading(Loading { members, version: store.version(), answer, stop });
        Ok(())
    }

    /// Whether the data of a package that is, or was begun to be, loaded is all there. It never is
    /// where it could not be loaded.
    pub fn has_loaded(&self, id: PackageId) -> Result<bool, Error> {
        let package = self.slots.get(id.0).expect("the handle was checked where it came in");
        match package.state {
            State::Unloaded => Err(never_loaded(&package.name)),
            State::Loading(_) | State::Failed(_) => Ok(false),
            State::Loaded(_) => Ok(true),
        }
    }

    /// Waits until a package is loaded.
    pub fn flush(&mut self, id: PackageId, store: &mut Store) -> Result<(), Error> {
        let package = get(&mut self.slots, id);
        match &package.state {
            State::Unloaded => Err(never_loaded(&package.name)),
            State::Loaded(_) => Ok(()),
            State::Loading(_) => finish(package, store, true),
            State::Failed(error) => Err(error.clone()),
        }
    }

    /// Takes what was loaded since the last frame; `wait` for all that was begun. The words of all
    /// that went wrong.
    pub fn take_loaded(&mut self, store: &mut Store, wait: bool) -> Vec<Error> {
        let loading = |package: &Package| matches!(package.state, State::Loading(_));
        let open = self.slots.iter().filter(|(_, package)| loading(package));
        let open: Vec<Handle> = open.map(|(handle, _)| handle).collect();
        let mut problems = Vec::new();
        for handle in open {
            problems.extend(finish(get(&mut self.slots, PackageId(handle)), store, wait).err());
        }
        problems
    }

    /// Forgets the data of a package, but for what another loaded one has.
    pub fn unload(&mut self, id: PackageId, store: &mut Store) -> Result<(), Error> {
        let package = get(&mut self.slots, id);
        match std::mem::replace(&mut package.state, State::Unloaded) {
            State::Unloaded => Err(never_loaded(&package.name)),
            State::Failed(_) => Ok(()),
            State::Loading(loading) => {
                loading.stop.store(true, Ordering::Relaxed);
                Ok(())
            }
            State::Loaded(members) => {
                let mut kept: HashSet<IdString64> = HashSet::new();
                for (_, package) in self.slots.iter() {
                    if let State::Loaded(members) = &package.state {
                        kept.extend(members);
                    }
                }
                store.forget(members.into_iter().filter(|id| !kept.contains(id)));
                Ok(())
            }
        }
    }

    /// Lets go of a package, which is unloaded by that; `place` is the script's line, for the words
    /// of its stale handle.
    pub fn release(&mut self, id: PackageId, store: &mut Store, frame: u64, place: &str) {
        if !matches!(get(&mut self.slots, id).state, State::Unloaded) {
            self.unload(id, store).expect("it is loaded");
        }
        let name = get(&mut self.slots, id).name.name.clone();
        self.slots.remove(id.0, &name, frame, place);
    }
}

fn get(slots: &mut Slots<Package>, id: PackageId) -> &mut Package {
    slots.get_mut(id.0).expect("the handle was checked where it came in")
}

fn never_loaded(name: &ResourceName) -> Error {
    error!("package '{}' is not loaded: begin with ResourcePackage.load", name.name)
}

/// Ends a load, if it is done or `wait` says to wait for it.
fn finish(package: &mut Package, store: &mut Store, wait: bool) -> Result<(), Error> {
    let State::Loading(loading) = &mut package.state else { return Ok(()) };
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
            store.keep(loading.version, read);
            package.state = State::Loaded(std::mem::take(&mut loading.members));
            Ok(())
        }
        Err(error) => {
            package.state = State::Failed(error.clone());
            Err(error)
        }
    }
}

/// One load, for the thread.
struct Job {
    name: String,
    data: Data,
    fetches: Vec<Fetch>,
    answer: Sender<Answer>,
    stop: Arc<AtomicBool>,
}

/// The thread that reads. Dropping it ends the thread.
struct Loader {
    jobs: Option<Sender<Job>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Loader {
    fn start() -> Result<Loader, Error> {
        let (jobs, inbox) = channel::<Job>();
        let stop = Arc::new(AtomicBool::new(false));
        let ended = stop.clone();
        let work = move || {
            Owner::of_thread("resources/data");
            for job in inbox {
                let read = fault::contain(|| fetch_all(&job, &ended)).flatten();
                // Nobody waits for the answer of a package that was unloaded meanwhile.
                let _ = job.answer.send(read);
            }
        };
        let thread = fault::spawn("packages", work);
        let thread = thread.map_err(|reason| error!("no thread could be started: {reason}"))?;
        Ok(Loader { jobs: Some(jobs), stop, thread: Some(thread) })
    }

    fn give(&self, job: Job) {
        let jobs = self.jobs.as_ref().expect("it is there until the end");
        // A thread that failed says so where the answer is waited for.
        let _ = jobs.send(job);
    }
}

impl Drop for Loader {
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

fn fetch_all(job: &Job, ended: &AtomicBool) -> Answer {
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

/// The resources of a package: what its patterns fit, what those refer to, and so on. Names in
/// scripts do not count: a string may mean anything.
pub fn members<'a>(
    index: &'a Index,
    data: &Path,
    package: &Entry,
) -> Result<Vec<&'a ResourceName>, Error> {
    let mut found = matching(index, data, package)?;
    let mut open: Vec<&ResourceName> = found.iter().copied().collect();
    // Each is looked at once, however often it is named.
    while let Some(resource) = open.pop() {
        let mut named = BTreeSet::new();
        for variant in index.variants(resource) {
            let references = variant.references.iter().filter(|name| !name.kind.is_empty());
            let there = references.filter_map(|name| index.variants(name).first());
            named.extend(there.map(|entry| &entry.resource));
            if variant.resource.kind == PACKAGE.name {
                named.extend(matching(index, data, variant)?);
            }
        }
        open.extend(named.into_iter().filter(|name| found.insert(name)));
    }
    Ok(found.into_iter().collect())
}

/// What a package's own patterns fit.
fn matching<'a>(
    index: &'a Index,
    data: &Path,
    package: &Entry,
) -> Result<BTreeSet<&'a ResourceName>, Error> {
    let path = &package.files[0].path;
    let bytes = folder_data::read_entry(data, package)?;
    let words = || package.resource.to_string();
    let patterns = read_package(&bytes)
        .map_err(|fault| folder_data::refused(data, &package.data, fault, &words))?;
    let mut found = BTreeSet::new();
    for pattern in patterns {
        let Pattern { kind, name } = &pattern;
        if pattern.has_star() {
            let names = index.entries.iter().map(|entry| &entry.resource);
            let mut fits = names.filter(|name| pattern.matches(name)).peekable();
            if fits.peek().is_none() {
                let place = format!("{path}: {kind} = [\"{name}\"]");
                log::warn(&place, "no resource fits this pattern");
            }
            found.extend(fits);
            continue;
        }
        let name = ResourceName::new(kind, name);
        let Some(entry) = index.variants(&name).first() else {
            let words = missing_words(index, &Preferences::default(), &name);
            return Err(error!("{path}: {words}"));
        };
        found.insert(&entry.resource);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::bundle::Bundle;
    use super::super::bundling::{self, Making};
    use super::super::compile::{Target, compile};
    use super::super::data_kinds::{CONFIG, TEXT};
    use super::super::kind::Kinds;
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    const KINDS: Kinds = Kinds(&[&PACKAGE, &TEXT, &CONFIG]);
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
        index: Index,
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
            let target = Target {
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

        fn folder(&self) -> Store {
            Store::new(self.index.clone(), Data::Folder(self.root.join(".data"), KINDS))
        }

        fn bundle(&self) -> Store {
            let making = Making {
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
            bundling::make(&making, &path, &|_, _| {}).unwrap();
            Store::of_bundle(Arc::new(Bundle::open(&path, &KINDS, "linux").unwrap()))
        }
    }

    impl Drop for Game {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    fn load(packages: &mut Packages, store: &mut Store, name: &str) -> PackageId {
        let id = packages.add(name, store).unwrap();
        packages.load(id, store).unwrap();
        assert!(!packages.has_loaded(id).unwrap());
        assert_eq!(packages.take_loaded(store, true), []);
        assert!(packages.has_loaded(id).unwrap());
        id
    }

    /// Runs it on a folder of compiled data, and on a bundle of it.
    fn on_both(name: &str, check: impl Fn(&mut Store)) {
        let game = Game::new(name, &FILES[..FILES.len() - 1]);
        check(&mut game.folder());
        check(&mut game.bundle());
    }

    #[test]
    fn unloading_forgets_what_no_other_loaded_package_has() {
        on_both("unload", |store| {
            let mut packages = Packages::default();
            let all = load(&mut packages, store, "all");
            assert_eq!(store.kept(), 8, "every resource, in the variant that serves");
            let texts = load(&mut packages, store, "texts");
            packages.unload(all, store).unwrap();
            assert_eq!(store.kept(), 2);
            packages.release(texts, store, 1, "");
            assert_eq!(store.kept(), 0);
            let text = ResourceName::new("text", "a/one");
            assert_eq!(&*store.read(&text).unwrap(), b"one", "it can be read all the same");
        });
    }

    #[test]
    fn a_package_brings_what_it_names_and_what_that_names() {
        on_both("brings", |store| {
            load(&mut Packages::default(), store, "outer");
            assert_eq!(store.kept(), if matches!(store.data(), Data::Bundle(_)) { 4 } else { 3 });
        });
    }

    #[test]
    fn data_that_came_for_other_preferences_is_not_kept() {
        on_both("preferences", |store| {
            let mut packages = Packages::default();
            let id = packages.add("texts", store).unwrap();
            packages.load(id, store).unwrap();
            store.prefer(Preferences::new(vec!["fr".to_string()]).unwrap());
            store.apply_preferences();
            packages.flush(id, store).unwrap();
            let text = ResourceName::new("text", "a/two");
            assert_eq!(&*store.read(&text).unwrap(), "deux".as_bytes());
        });
    }

    #[test]
    fn a_load_that_fails_says_why_and_can_be_begun_again() {
        let game = Game::new("fails", FILES);
        let mut store = game.folder();
        let mut packages = Packages::default();
        let lacking = packages.add("lacking", &store).unwrap();
        let words = packages.load(lacking, &mut store).unwrap_err().message;
        assert_eq!(words, "lacking.package: there is no text 'a/on', did you mean 'a/one'?");
        let entry = &game.index.variants(&ResourceName::new("text", "a/one"))[0];
        let file = game.root.join(".data").join(&entry.data);
        fs::rename(&file, file.with_extension("away")).unwrap();
        let texts = packages.add("texts", &store).unwrap();
        packages.load(texts, &mut store).unwrap();
        let problems = packages.take_loaded(&mut store, true);
        assert!(problems[0].message.starts_with("the compiled data of a/one.text ("));
        assert_eq!(problems[0].contexts, ["When loading package: texts"]);
        // It is told once, and the game goes on asking.
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
    fn a_package_whose_load_is_not_waited_for_ends_with_its_thread() {
        on_both("ends", |store| {
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
    fn packages_have_a_limit() {
        let store = Game::new("limit", FILES).folder();
        let mut packages = Packages::default();
        for _ in 0..PACKAGES_MAX {
            packages.add("all", &store).unwrap();
        }
        let words = packages.add("all", &store).unwrap_err().message;
        assert!(words.starts_with("4096 packages are held already"), "{words}");
        let words = packages.add("al", &store).unwrap_err().message;
        assert_eq!(words, "there is no package 'al', did you mean 'all'?");
    }
}
