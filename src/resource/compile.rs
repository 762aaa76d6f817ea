//! The data compiler: makes run-time data of what changed since the last time, in parallel, and
//! reports every error in one go. What failed keeps its last good data. The index of what was made,
//! with the graph of who names whom, is a build product beside the data.
//!
//! Content decides: a file whose size, times and number in the file system are the same is taken as
//! unchanged, any other is read, and compiled only if its bytes, the files that its compile read,
//! or its kind's version differ. The time of modification alone would not do, for programs set it
//! back (`cp -p`, `touch -r`, archives); the time of the change cannot be set. A file that may have
//! changed while it was read, or so soon after it that its times cannot tell, is read again by the
//! next compile, as git does ("racy git"). Where the system keeps no time of the change, every file
//! is read.

use super::containment;
use super::folder_data;
use super::glob::Glob;
use super::index::{self, Broken, Entry, Index, Stamp};
use super::kind::{Compiling, Kind, Kinds};
use super::name::{ResourceName, is_inside};
use super::scan::{self, Scan, Variant};
use super::slow::SlowWatch;
use super::sources::{JobSources, Sources};
use crate::doing;
use crate::error;
use crate::foundation::file_access::{self, EntryKind, Refusal, readers};
use crate::foundation::files::{disk, write_whole};
use crate::foundation::hash::murmur64a;
use crate::foundation::memory::limit::{self, Apart};
use crate::foundation::{Error, fault, log};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

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
    /// Folders that links of the game's folder lead to.
    pub linked: Vec<String>,
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
    /// How it failed the last time, if it did.
    broken: Option<&'a Broken>,
}

/// What became of it.
#[derive(Default)]
struct Done {
    entry: Option<Entry>,
    new: bool,
    problem: Option<(ResourceName, String)>,
    broken: Option<Broken>,
}

/// Why a variant has no new data.
enum Failure {
    /// Of what was read for it: the same would fail again.
    Broken(Box<Broken>),
    /// Of the machine: the next compile may succeed.
    Passing(Error),
}

/// The folder of compiled data of a game, for development on a platform.
pub fn data_folder(root: &Path, platform: &str) -> PathBuf {
    root.join(".engine/data").join(platform)
}

/// Compiles what changed, and keeps the index of it.
pub fn compile(target: &Target, progress: Progress) -> Result<Compiled, Error> {
    let (mut compiled, last) = make(target, progress)?;
    // What was compiled is there all the same, and is made again by the next compile.
    compiled.problems.extend(keep(target, &compiled.index, &last).err().map(|error| error.message));
    Ok(compiled)
}

/// Writes the index, where it differs from the last one, for the next compile and the next start.
pub fn keep(target: &Target, index: &Index, last: &Index) -> Result<(), Error> {
    if index != last {
        write(&target.data.join(index::FILE), &index.to_bytes())?;
        remove_unused(&target.data, index);
    }
    folder_data::settle(&target.data);
    Ok(())
}

/// Compiles what changed: what came of it, and the index of the last compile, in whose place its
/// own is to be kept.
pub fn make(target: &Target, progress: Progress) -> Result<(Compiled, Index), Error> {
    doing!("When compiling:", &target.root.display().to_string());
    // What it takes is not the game's, which may be running.
    let _apart = Apart::begin();
    refuse_links(target.root, &target.data)?;
    let mut found = scan::files(target.root)?;
    found.files.retain(|file| !target.exclude.iter().any(|glob| glob.fits(&file.path)));
    let linked = std::mem::take(&mut found.linked);
    let scanned = scan::sort(found, &target.kinds, target.source_platform);
    let last = read_index(&target.data);
    let mut present = data_files(&target.data);
    folder_data::keep_undamaged(&target.data, &last, &mut present);
    let (jobs, unknown) = jobs(target, &scanned, &last, &present);
    let done = run(target, &jobs, progress);
    let mut compiled = Compiled { linked, ..Compiled::default() };
    compiled.problems.extend(scanned.problems.iter().cloned());
    compiled.problems.extend(unknown);
    let mut changed = HashSet::new();
    for done in done {
        compiled.index.broken.extend(done.broken);
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
    let order =
        |a: &Broken, b: &Broken| (&a.resource, &a.properties).cmp(&(&b.resource, &b.properties));
    compiled.index.broken.sort_by(order);
    compiled.index.failed.extend(scanned.failed.iter().cloned());
    compiled.index.failed.sort();
    compiled.index.failed.dedup_by(|a, b| a.0 == b.0);
    compiled.note_gone(&last);
    Ok((compiled, last))
}

/// A link on the way to the data could lead out of the game's folder, and a game must not make the
/// engine write and remove files there.
pub fn refuse_links(root: &Path, data: &Path) -> Result<(), Error> {
    let mut path = root.to_path_buf();
    for part in data.strip_prefix(root).into_iter().flatten() {
        path.push(part);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            let shown = path.display();
            return Err(error!("{shown} is a link, and compiled data stays here: remove it"));
        }
    }
    Ok(())
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
    let bytes = file_access::read(data, index::FILE, &readers::INDEX).unwrap_or_default();
    Index::from_bytes(&bytes).unwrap_or_else(|_| Index::default())
}

/// The names of the files in a folder of compiled data.
fn data_files(data: &Path) -> HashSet<String> {
    // A folder that is not there yet has none.
    let entries = file_access::list(data, "").map_or(Vec::new(), |listing| listing.entries);
    // What stands in the place of data, a link or a pipe, is as good as missing.
    let files = entries.into_iter().filter(|it| it.kind == EntryKind::File && !it.is_link);
    files.filter_map(|entry| entry.name.into_string().ok()).collect()
}

fn jobs<'a>(
    target: &Target,
    scanned: &'a Scan,
    last: &'a Index,
    present: &HashSet<String>,
) -> (Vec<Job<'a>>, Vec<String>) {
    let (mut jobs, mut problems) = (Vec::new(), Vec::new());
    let broken: HashMap<_, _> =
        last.broken.iter().map(|broken| ((&broken.resource, &broken.properties), broken)).collect();
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
            // What was made and is lost is as good as never made.
            let there = |entry: &&Entry| present.contains(&entry.data);
            let last = known.iter().find(|entry| entry.properties == properties).filter(there);
            let broken = broken.get(&(resource, &properties)).copied();
            jobs.push(Job { kind, resource, variant, last, broken });
        }
    }
    (jobs, problems)
}

/// What takes longer than this is told while it is compiled.
const SLOW: Duration = Duration::from_secs(5);

/// Does every job, on as many threads as the target says.
fn run(target: &Target, jobs: &[Job], progress: Progress) -> Vec<Done> {
    run_on(Builder::new, target, jobs, progress)
}

/// The same, with what makes threads. Where the system has no more of them, those that there are
/// do it; the calling one is always among them.
fn run_on(
    builder: fn() -> Builder,
    target: &Target,
    jobs: &[Job],
    progress: Progress,
) -> Vec<Done> {
    let results: Vec<Mutex<Option<Done>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let sources = Sources::new(target.root, target.kinds);
    let threads = target.threads.clamp(1, jobs.len().max(1));
    let slow = SlowWatch::new(threads, SLOW);
    let work = || {
        let _apart = Apart::begin();
        let worker = slow.worker();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { break };
            let compiling = worker.compiling(&job.variant.file.path);
            let done = one(target, &sources, job);
            drop(compiling);
            *fault::lock(&results[index]) = Some(done);
            progress(finished.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        }
    };
    std::thread::scope(|scope| {
        // Without a thread for it nothing is told, and all is compiled.
        let _ = builder().spawn_scoped(scope, || slow.tell(log::warning));
        for _ in 1..threads {
            if builder().spawn_scoped(scope, work).is_err() {
                // It has ended before it began.
                drop(slow.worker());
            }
        }
        work();
    });
    let take =
        |slot: Mutex<Option<Done>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().filter_map(take).collect()
}

fn one(target: &Target, sources: &Sources, job: &Job) -> Done {
    let sources = &sources.job();
    let attempt = || {
        if let Some(entry) = job.last.filter(|last| unchanged(sources, job, last)) {
            return Ok((entry.clone(), false));
        }
        match job.broken.and_then(|broken| still_broken(sources, job, broken)) {
            Some(broken) => Err(Failure::Broken(Box::new(broken))),
            None => build(target, sources, job),
        }
    };
    let built = fault::contain(attempt).unwrap_or_else(|error| Err(failed(job, error)));
    let kept = |words, broken| {
        let problem = Some((job.resource.clone(), words));
        Done { entry: job.last.cloned(), new: false, problem, broken }
    };
    match built {
        Ok((entry, new)) => Done { entry: Some(entry), new, ..Done::default() },
        Err(Failure::Broken(broken)) => kept(broken.words.clone(), Some(*broken)),
        Err(Failure::Passing(error)) => kept(error.message, None),
    }
}

/// A fault of the engine at a source. It is not kept: an engine without the fault may have the same
/// version of the kind.
fn failed(job: &Job, error: Error) -> Failure {
    let resource = job.resource;
    let what = || format!("the {} '{}'", resource.kind, resource.name);
    let error = containment::named(&what, error);
    let message = format!("{}: {}", job.variant.file.path, error.message);
    Failure::Passing(Error { message, ..error })
}

/// What is known of a failure, with new times, where nothing that was read for it has another
/// content.
fn still_broken(sources: &JobSources, job: &Job, broken: &Broken) -> Option<Broken> {
    let raw = job.variant.raw.as_ref();
    let same = broken.kind_version == job.kind.version
        && broken.form == job.variant.form
        && broken.files.first()?.path == job.variant.file.path
        && raw.is_none_or(|raw| broken.files.iter().any(|stamp| stamp.path == raw.path));
    let mut now = same.then(|| broken.clone())?;
    for stamp in &mut now.files {
        let read = sources.stamp(&stamp.path, stamp.content);
        if read == *stamp && stamp.tells_content() {
            continue;
        }
        let (_, read) = sources.read(&stamp.path).ok()?;
        if read.content != stamp.content {
            return None;
        }
        *stamp = read;
    }
    Some(now)
}

/// Whether nothing that the entry was made of has another size, time or number.
fn unchanged(sources: &JobSources, job: &Job, last: &Entry) -> bool {
    let Some((source, others)) = last.files.split_first() else { return false };
    let file = &job.variant.file;
    last.kind_version == job.kind.version
        && last.form == job.variant.form
        && last.files.iter().all(Stamp::tells_content)
        && (&source.path, source.state) == (&file.path, file.state)
        && others.iter().all(|stamp| sources.stamp(&stamp.path, stamp.content) == *stamp)
        && raw_is_known(job, last)
}

/// A raw file beside the source counts even where the source does not read it yet.
fn raw_is_known(job: &Job, last: &Entry) -> bool {
    let Some(raw) = &job.variant.raw else { return true };
    let known = last.files.iter().find(|stamp| stamp.path == raw.path);
    known.is_some_and(|stamp| stamp.state == raw.state)
}

/// Compiles one variant, or finds that its content is what it was: the entry, and whether it is
/// new.
fn build(target: &Target, sources: &JobSources, job: &Job) -> Result<(Entry, bool), Failure> {
    let path = &job.variant.file.path;
    let (bytes, source) = sources.read(path).map_err(Failure::Passing)?;
    if let Some(entry) = job.last.and_then(|last| same_content(sources, job, last, &source)) {
        return Ok((entry, false));
    }
    let stamps = RefCell::new(Vec::new());
    let read = |path: &str| {
        let read = sources.read(path);
        match &read {
            Ok((_, stamp)) => stamps.borrow_mut().push(stamp.clone()),
            // One that comes to be is a change.
            Err(_) if is_inside(path) => stamps.borrow_mut().push(sources.stamp(path, 0)),
            Err(_) => {}
        }
        let (bytes, _) = read?;
        sources.count(path, bytes.len())?;
        Ok(bytes)
    };
    let (name, form) = (job.resource.clone(), job.variant.form);
    let mut compiling = Compiling::new(name, path.clone(), form, bytes, target.release, &read);
    compiling.kinds = target.kinds;
    if let Some(raw) = &job.variant.raw {
        compiling.files.push(raw.path.clone());
    }
    let made = made(job.kind, &mut compiling);
    let Compiling { files: paths, references, .. } = compiling;
    let data = match made {
        Ok(data) => data,
        Err(error) if error.is_fault => return Err(failed(job, error)),
        // Of this machine at this moment: nothing is wrong with the source.
        Err(error) if error.is_passing || limit::is_shortage(&error) => {
            return Err(Failure::Passing(error));
        }
        Err(error) => {
            let read = [vec![source], stamps.into_inner()].concat();
            return Err(broken(sources, job, read, &paths, error));
        }
    };
    let mut files = vec![source];
    for path in &paths {
        let known = stamps.borrow().iter().find(|stamp| stamp.path == *path).cloned();
        files.push(match known {
            Some(stamp) => stamp,
            None => sources.read(path).map_err(Failure::Passing)?.1,
        });
    }
    let properties = job.variant.properties.without_platforms();
    let file = index::data_name(job.resource, &properties);
    let data_content = murmur64a(&data, 0);
    let same = job.last.is_some_and(|last| last.data_content == data_content);
    if !same {
        write(&target.data.join(&file), &data).map_err(Failure::Passing)?;
    }
    let entry = Entry {
        resource: job.resource.clone(),
        properties,
        form,
        kind_version: job.kind.version,
        data: file,
        data_content,
        files,
        references,
    };
    Ok((entry, !same))
}

/// Compiled data of a source, checked as it will be when it is opened: what a player could not open
/// is an error for whoever makes the game.
fn made(kind: &Kind, compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let data = (kind.compile)(compiling)?;
    (kind.validate)(&data).map_err(|error| match error.is_fault {
        true => error,
        false => Error { message: format!("{}: {}", compiling.path, error.message), ..error },
    })?;
    Ok(data)
}

/// A failure of a compile that had `paths` to read, and has read `files` so far, or found that they
/// are not there.
fn broken(
    sources: &JobSources,
    job: &Job,
    mut files: Vec<Stamp>,
    paths: &[String],
    error: Error,
) -> Failure {
    for path in paths.iter().filter(|path| is_inside(path)) {
        if !files.iter().any(|stamp| stamp.path == *path) {
            match sources.read(path) {
                Ok((_, stamp)) => files.push(stamp),
                Err(_) => return Failure::Passing(error),
            }
        }
    }
    Failure::Broken(Box::new(Broken {
        resource: job.resource.clone(),
        properties: job.variant.properties.without_platforms(),
        form: job.variant.form,
        kind_version: job.kind.version,
        files,
        words: error.message,
    }))
}

/// The last entry with new times, where only those differ.
fn same_content(sources: &JobSources, job: &Job, last: &Entry, source: &Stamp) -> Option<Entry> {
    let known = last.files.first()?;
    let same = last.kind_version == job.kind.version
        && last.form == job.variant.form
        && (&known.path, known.content) == (&source.path, source.content);
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
        let (_, now) = sources.read(&stamp.path).ok()?;
        if now.content != stamp.content {
            return None;
        }
        *stamp = now;
    }
    Some(entry)
}

/// Reads compiled data by the name of its file.
pub fn read_data(data: &Path, name: &str) -> Result<Vec<u8>, Refusal> {
    file_access::read(data, name, &readers::COMPILED)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let shown = path.display();
    write_whole(path, bytes).map_err(|reason| error!("{shown} cannot be written: {reason}"))
}

/// Removes compiled files that nothing leads to any more.
fn remove_unused(data: &Path, index: &Index) {
    let used: HashSet<&str> = index.entries.iter().map(|entry| entry.data.as_str()).collect();
    for name in data_files(data) {
        let ours = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if ours && !used.contains(&name[..]) {
            // One that stays is only room on the disk; the next compile tries again.
            let _ = disk::remove(&data.join(name));
        }
    }
}

#[cfg(test)]
#[path = "compile_tests.rs"]
mod tests;
