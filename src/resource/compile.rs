//! The data compiler: makes run-time data of what changed since the last time, in parallel, and
//! reports every error in one go. What failed keeps its last good data. The index of what was made,
//! with the graph of who names whom, is a build product beside the data.
//!
//! Content decides: a file whose size and time are the same is taken as unchanged, any other is
//! read, and compiled only if its bytes, the files that its compile read, or its kind's version
//! differ.

use super::glob::Glob;
use super::index::{self, Entry, Index, Stamp};
use super::kind::{Compiling, Kind, Kinds};
use super::name::{ResourceName, is_inside};
use super::scan::{self, File, Scan, Variant};
use crate::doing;
use crate::error;
use crate::foundation::Error;
use crate::foundation::files::write_whole;
use crate::foundation::hash::murmur64a;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What to compile, and where to.
pub struct Target<'a> {
    /// The game's folder.
    pub root: &'a Path,
    /// The folder of compiled data.
    pub data: PathBuf,
    pub kinds: Kinds,
    /// The platform whose variants are taken (A2.7).
    pub source_platform: &'a str,
    /// For a release: no names, no development statements.
    pub release: bool,
    /// Files that are left out.
    pub exclude: &'a [Glob],
    pub threads: usize,
}

/// What a compile did.
#[derive(Debug, Default)]
pub struct Compiled {
    pub index: Index,
    /// Resources whose data is new, and those that are gone.
    pub changed: Vec<ResourceName>,
    pub removed: Vec<ResourceName>,
    /// Everything that went wrong, each in words with file and line.
    pub problems: Vec<String>,
    /// Whether the game's settings were saved: noticed by the watcher.
    pub settings: bool,
}

/// Told how far a compile is: done, of how many.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// One variant to look at.
struct Job<'a> {
    kind: &'static Kind,
    resource: &'a ResourceName,
    variant: &'a Variant,
    last: Option<&'a Entry>,
}

/// What became of it.
struct Done {
    entry: Option<Entry>,
    new: bool,
    problem: Option<(ResourceName, String)>,
}

/// The folder of compiled data of a game, for development on a platform.
pub fn data_folder(root: &Path, platform: &str) -> PathBuf {
    root.join(".engine/data").join(platform)
}

/// Compiles what changed.
pub fn compile(target: &Target, progress: Progress) -> Result<Compiled, Error> {
    doing!("When compiling:", &target.root.display().to_string());
    let mut files = scan::files(target.root)?;
    files.retain(|file| !target.exclude.iter().any(|glob| glob.fits(&file.path)));
    let scanned = scan::sort(files, &target.kinds, target.source_platform);
    let last = read_index(&target.data);
    let (jobs, unknown) = jobs(target, &scanned, &last);
    let done = run(target, &jobs, progress);
    let mut compiled = Compiled::default();
    compiled.problems.extend(scanned.problems.iter().cloned());
    compiled.problems.extend(unknown);
    let mut changed = HashSet::new();
    for done in done {
        if let Some((resource, words)) = done.problem {
            compiled.problems.push(words.clone());
            compiled.index.failed.push((resource, words));
        }
        if let Some(entry) = done.entry {
            if done.new && changed.insert(entry.resource.clone()) {
                compiled.changed.push(entry.resource.clone());
            }
            compiled.index.entries.push(entry);
        }
    }
    let order =
        |a: &Entry, b: &Entry| (&a.resource, &a.properties).cmp(&(&b.resource, &b.properties));
    compiled.index.entries.sort_by(order);
    compiled.index.failed.extend(scanned.failed.iter().cloned());
    compiled.index.failed.sort();
    compiled.index.failed.dedup_by(|a, b| a.0 == b.0);
    compiled.note_gone(&last);
    if compiled.index != last {
        match write(&target.data.join(index::FILE), &compiled.index.to_bytes()) {
            Ok(()) => remove_unused(&target.data, &compiled.index),
            // What was compiled is there all the same, and is made again by the next compile.
            Err(error) => compiled.problems.push(error.message),
        }
    }
    Ok(compiled)
}

impl Compiled {
    /// Notes what is not there any more, of an earlier index.
    fn note_gone(&mut self, before: &Index) {
        let known: HashSet<ResourceName> = self.changed.iter().cloned().collect();
        for entry in &before.entries {
            let kept = self.index.variants(&entry.resource);
            if kept.is_empty() {
                self.removed.push(entry.resource.clone());
            } else if !kept.iter().any(|now| now.properties == entry.properties)
                && !known.contains(&entry.resource)
            {
                // A variant is gone: another one may serve now.
                self.changed.push(entry.resource.clone());
            }
        }
        for names in [&mut self.changed, &mut self.removed] {
            names.sort();
            names.dedup();
        }
    }

    /// Has it say what is new since an earlier index of somebody's own: another engine on the same
    /// folder may have compiled some of it, so that it was not new here.
    pub fn since(mut self, before: &Index) -> Compiled {
        self.changed.clear();
        self.removed.clear();
        for entry in &self.index.entries {
            let mut old = before.variants(&entry.resource).iter();
            let old = old.find(|old| old.properties == entry.properties);
            if old.is_none_or(|old| old.data_content != entry.data_content) {
                self.changed.push(entry.resource.clone());
            }
        }
        self.note_gone(before);
        self
    }
}

/// The index of the last compile; a missing or damaged one means that everything is compiled anew.
pub fn read_index(data: &Path) -> Index {
    let bytes = fs::read(data.join(index::FILE)).unwrap_or_else(|_| Vec::new());
    Index::from_bytes(&bytes).unwrap_or_else(|_| Index::default())
}

fn jobs<'a>(target: &Target, scanned: &'a Scan, last: &'a Index) -> (Vec<Job<'a>>, Vec<String>) {
    let (mut jobs, mut problems) = (Vec::new(), Vec::new());
    for (resource, variants) in &scanned.resources {
        let kind = target.kinds.by_name(&resource.kind).expect("the scan knows the same kinds");
        let mut seen = HashMap::new();
        for variant in variants {
            let properties = variant.properties.without_platforms();
            if let Some(other) = seen.insert(properties.clone(), &variant.file.path) {
                problems.push(format!(
                    "{other} and {} are the same variant of {resource} on {}: rename one",
                    variant.file.path, target.source_platform
                ));
                continue;
            }
            let known = last.variants(resource);
            let last = known.iter().find(|entry| entry.properties == properties);
            jobs.push(Job { kind, resource, variant, last });
        }
    }
    (jobs, problems)
}

/// Does every job, on as many threads as the target says.
fn run(target: &Target, jobs: &[Job], progress: Progress) -> Vec<Done> {
    let results: Vec<Mutex<Option<Done>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { break };
            *results[index].lock().expect("nobody panics with it") = Some(one(target, job));
            progress(finished.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        }
    };
    let threads = target.threads.clamp(1, jobs.len().max(1));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let take = |slot: Mutex<Option<Done>>| slot.into_inner().expect("nobody panics with it");
    results.into_iter().filter_map(take).collect()
}

fn one(target: &Target, job: &Job) -> Done {
    let kept = |problem| Done { entry: job.last.cloned(), new: false, problem };
    if let Some(entry) = job.last.filter(|last| unchanged(target, job, last)) {
        return Done { entry: Some(entry.clone()), new: false, problem: None };
    }
    match build(target, job) {
        Ok((entry, new)) => Done { entry: Some(entry), new, problem: None },
        Err(error) => kept(Some((job.resource.clone(), error.message))),
    }
}

/// Whether nothing that the entry was made of has another size or time.
fn unchanged(target: &Target, job: &Job, last: &Entry) -> bool {
    let Some((source, others)) = last.files.split_first() else { return false };
    let File { path, size, changed } = &job.variant.file;
    last.kind_version == job.kind.version
        && last.form == job.variant.form
        && (&source.path, source.size, source.changed) == (path, *size, *changed)
        && others.iter().all(|stamp| stamp_of(target.root, &stamp.path, stamp.content) == *stamp)
        && raw_is_known(job, last)
}

/// A raw file beside the source counts even where the source does not read it yet.
fn raw_is_known(job: &Job, last: &Entry) -> bool {
    let Some(raw) = &job.variant.raw else { return true };
    let known = last.files.iter().find(|stamp| stamp.path == raw.path);
    known.is_some_and(|stamp| (stamp.size, stamp.changed) == (raw.size, raw.changed))
}

/// A file's size and time now, with a content that is known.
fn stamp_of(root: &Path, path: &str, content: u64) -> Stamp {
    let about = fs::metadata(root.join(path)).ok();
    let size = about.as_ref().map_or(0, |about| about.len());
    let since =
        about.and_then(|about| about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok());
    let changed = since.map_or(0, |since| since.as_nanos() as u64);
    Stamp { path: path.to_string(), size, changed, content }
}

/// Compiles one variant, or finds that its content is what it was: the entry, and whether it is
/// new.
fn build(target: &Target, job: &Job) -> Result<(Entry, bool), Error> {
    let path = &job.variant.file.path;
    let read = |path: &str| read_file(target.root, path);
    let bytes = read(path)?;
    let mut files = vec![stamp_of(target.root, path, murmur64a(&bytes, 0))];
    if let Some(entry) = job.last.and_then(|last| same_content(target, job, last, &files[0])) {
        return Ok((entry, false));
    }
    let (name, form) = (job.resource.clone(), job.variant.form);
    let mut compiling = Compiling::new(name, path.clone(), form, bytes, target.release, &read);
    if let Some(raw) = &job.variant.raw {
        compiling.files.push(raw.path.clone());
    }
    let data = (job.kind.compile)(&mut compiling)?;
    for path in &compiling.files {
        files.push(stamp_of(target.root, path, murmur64a(&read(path)?, 0)));
    }
    let properties = job.variant.properties.without_platforms();
    let file = data_name(job.resource, &properties.to_string());
    let data_content = murmur64a(&data, 0);
    let same = job.last.is_some_and(|last| last.data_content == data_content);
    if !same || !target.data.join(&file).exists() {
        write(&target.data.join(&file), &data)?;
    }
    let entry = Entry {
        resource: job.resource.clone(),
        properties,
        form,
        kind_version: job.kind.version,
        data: file,
        data_content,
        files,
        references: compiling.references,
    };
    Ok((entry, !same))
}

/// The last entry with new times, where only those differ.
fn same_content(target: &Target, job: &Job, last: &Entry, source: &Stamp) -> Option<Entry> {
    let known = last.files.first()?;
    let same = last.kind_version == job.kind.version
        && last.form == job.variant.form
        && (&known.path, known.content) == (&source.path, source.content)
        && target.data.join(&last.data).exists();
    let raw_known = job
        .variant
        .raw
        .as_ref()
        .is_none_or(|raw| last.files.iter().any(|stamp| stamp.path == raw.path));
    if !same || !raw_known {
        return None;
    }
    let mut entry = last.clone();
    entry.files[0] = source.clone();
    for stamp in &mut entry.files[1..] {
        let content = murmur64a(&fs::read(target.root.join(&stamp.path)).ok()?, 0);
        if content != stamp.content {
            return None;
        }
        *stamp = stamp_of(target.root, &stamp.path, content);
    }
    Some(entry)
}

/// The name of a compiled file: the hash of the resource's name, its properties before the type.
fn data_name(resource: &ResourceName, properties: &str) -> String {
    let name = match properties {
        "" => resource.name.clone(),
        words => format!("{}.{words}", resource.name),
    };
    ResourceName::new(&resource.kind, &name).id().to_string()
}

/// Reads a file of the game's, and none outside of its folder.
fn read_file(root: &Path, path: &str) -> Result<Vec<u8>, Error> {
    if !is_inside(path) {
        return Err(error!("{path}: only files in the game's folder can be read"));
    }
    fs::read(root.join(path)).map_err(|reason| match reason.kind() {
        std::io::ErrorKind::NotFound => error!("{path}: there is no such file"),
        _ => error!("{path}: the file cannot be read: {reason}"),
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let shown = path.display();
    write_whole(path, bytes).map_err(|reason| error!("{shown} cannot be written: {reason}"))
}

/// Removes compiled files that nothing leads to any more.
fn remove_unused(data: &Path, index: &Index) {
    let used: HashSet<&str> = index.entries.iter().map(|entry| entry.data.as_str()).collect();
    let Ok(entries) = fs::read_dir(data) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let ours = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if ours && !used.contains(name) {
            // One that stays is only room on the disk; the next compile tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Form;
    use super::*;

    /// Text in capitals; `use PATH` includes a file; `see NAME` names a text; `!` cannot be
    /// compiled.
    const TEXT: Kind = Kind {
        name: "text",
        words: "Text in capitals",
        extensions: &[("text", Form::Own), ("txt", Form::Raw)],
        version: 1,
        compile: |compiling| {
            let text = compiling.text()?.to_string();
            let mut out = String::new();
            for (i, line) in text.lines().enumerate() {
                if let Some(path) = line.strip_prefix("use ") {
                    let bytes = compiling.read(path)?;
                    out += &String::from_utf8_lossy(&bytes);
                } else if let Some(name) = line.strip_prefix("see ") {
                    compiling.refer("text", name);
                } else if line == "!" {
                    return Err(compiling.fault(i + 1, "a '!' cannot be compiled: remove it"));
                }
                out += &line.to_uppercase();
            }
            Ok(out.into_bytes())
        },
    };
    const TEXT_2: Kind = Kind { version: 2, ..TEXT };
    static KINDS: &[&Kind] = &[&TEXT];
    static KINDS_2: &[&Kind] = &[&TEXT_2];

    struct Game {
        root: PathBuf,
        kinds: Kinds,
        platform: &'static str,
    }

    impl Game {
        fn new(name: &str, files: &[(&str, &str)]) -> Game {
            let root = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&root);
            let game = Game { root, kinds: Kinds(KINDS), platform: "linux" };
            for (path, text) in files {
                game.save(path, text);
            }
            game
        }

        fn save(&self, path: &str, text: &str) {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn compile(&self) -> Compiled {
            let target = Target {
                root: &self.root,
                data: data_folder(&self.root, self.platform),
                kinds: self.kinds,
                source_platform: self.platform,
                release: false,
                exclude: &[],
                threads: 2,
            };
            compile(&target, &|_, _| {}).unwrap()
        }

        fn data(&self, compiled: &Compiled, name: &str, properties: &str) -> String {
            let variants = compiled.index.variants(&ResourceName::new("text", name));
            let found = variants.iter().find(|entry| entry.properties.to_string() == properties);
            let path = data_folder(&self.root, self.platform).join(&found.unwrap().data);
            fs::read_to_string(path).unwrap()
        }
    }

    impl Drop for Game {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    fn names(list: &[ResourceName]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn only_what_changed_is_compiled_again() {
        let mut game = Game::new("incremental", &[("a.txt", "one"), ("b.txt", "two")]);
        assert_eq!(names(&game.compile().changed), ["a.text", "b.text"]);
        assert!(game.compile().changed.is_empty());
        game.save("a.txt", "uno");
        let compiled = game.compile();
        assert_eq!(names(&compiled.changed), ["a.text"]);
        assert_eq!(game.data(&compiled, "a", ""), "UNO");
        game.save("b.txt", "two");
        assert!(game.compile().changed.is_empty(), "another time and the same content");
        game.kinds = Kinds(KINDS_2);
        assert!(game.compile().changed.is_empty(), "a new format that gives the same data");
    }

    #[test]
    fn a_change_of_a_file_that_was_read_compiles_its_readers() {
        let game = Game::new("readers", &[("a.txt", "use part.inc"), ("part.inc", "x")]);
        assert_eq!(game.data(&game.compile(), "a", ""), "xUSE PART.INC");
        game.save("part.inc", "longer");
        let compiled = game.compile();
        assert_eq!(names(&compiled.changed), ["a.text"]);
        assert_eq!(game.data(&compiled, "a", ""), "longerUSE PART.INC");
    }

    #[test]
    fn every_error_is_told_in_one_go_and_the_last_good_data_stays() {
        let game = Game::new("errors", &[("a.txt", "one"), ("b.txt", "two")]);
        game.compile();
        game.save("a.txt", "one\n!");
        game.save("b.txt", "use ../../secret");
        let compiled = game.compile();
        let wanted = [
            "a.txt:2: a '!' cannot be compiled: remove it",
            "../../secret: only files in the game's folder can be read",
        ];
        assert_eq!(compiled.problems, wanted);
        assert!(compiled.changed.is_empty());
        assert_eq!(game.data(&compiled, "a", ""), "ONE");
        assert_eq!(game.compile().problems, wanted, "an error is told until it is mended");
    }

    #[test]
    fn variants_are_kept_apart_and_a_gone_one_changes_its_resource() {
        let game = Game::new("variants", &[("a.txt", "base"), ("a.fr.txt", "fr")]);
        let compiled = game.compile();
        assert_eq!(game.data(&compiled, "a", "fr"), "FR");
        assert_eq!(game.data(&compiled, "a", ""), "BASE");
        fs::remove_file(game.root.join("a.fr.txt")).unwrap();
        let compiled = game.compile();
        assert_eq!(names(&compiled.changed), ["a.text"]);
        fs::remove_file(game.root.join("a.txt")).unwrap();
        let compiled = game.compile();
        assert_eq!(names(&compiled.removed), ["a.text"]);
        let left = fs::read_dir(data_folder(&game.root, "linux")).unwrap().count();
        assert_eq!(left, 1, "the index alone");
    }

    #[test]
    fn the_graph_names_who_refers_to_whom() {
        let game = Game::new("graph", &[("a.txt", "see texts/b\nsee texts/b")]);
        let compiled = game.compile();
        assert_eq!(names(&compiled.index.entries[0].references), ["texts/b.text"]);
    }

    #[test]
    fn an_own_file_that_appears_beside_a_raw_one_takes_over() {
        let game = Game::new("own", &[("a.txt", "raw")]);
        game.compile();
        game.save("a.text", "use a.txt");
        let compiled = game.compile();
        assert_eq!(game.data(&compiled, "a", ""), "rawUSE A.TXT");
        game.save("a.txt", "other");
        assert_eq!(game.data(&game.compile(), "a", ""), "otherUSE A.TXT");
    }

    #[test]
    fn a_damaged_index_and_a_lost_file_are_made_anew() {
        let game = Game::new("damage", &[("a.txt", "one")]);
        game.compile();
        let folder = data_folder(&game.root, "linux");
        fs::write(folder.join(index::FILE), "not an index").unwrap();
        let compiled = game.compile();
        assert_eq!(game.data(&compiled, "a", ""), "ONE");
    }
}
