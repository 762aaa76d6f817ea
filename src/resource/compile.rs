//! The data compiler: compiles the resources that changed since the last compile, in parallel, and
//! reports all errors together. A resource that fails keeps its last valid data. The index of the
//! compiled data, with its graph of references, is a build product next to the data.
//!
//! Change detection depends on content. A file with unchanged size, times and inode number is taken
//! as unchanged. Any other file is read; it is compiled only if its bytes, the files that its
//! compile read, or its kind's version differ. The modification time alone is not enough, because
//! programs set it back (`cp -p`, `touch -r`, archives). The status change time cannot be set. A
//! file that may have changed while it was read, or so soon afterwards that its times cannot show
//! the change, is read again by the next compile, as git does ("racy git"). On systems that keep no
//! status change time, every file is read.

use super::derived;
use super::folder_data;
use super::folder_scan::{self, FolderScan, ScannedVariant};
use super::glob::Glob;
use super::index::{self, FailedVariant, FileStamp, IndexEntry, ResourceIndex};
use super::panic_report;
use super::resource_kind::{CompileContext, ReadSource, ResourceKind, ResourceKinds};
use super::resource_name::{ResourceName, is_inside};
use super::settings::Settings;
use super::slow_compile_warning::{SlowCompileMonitor, picture_size};
use super::source_reader::{JobSources, Sources};
use super::store::ResourceStore;
use engine_foundation::atomic_file::{disk, write_whole};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::doing;
use engine_foundation::error;
use engine_foundation::file_access::{self, AccessError, EntryKind, readers};
use engine_foundation::hash::murmur64a;
use engine_foundation::memory::limit::{self, SeparateWork};
use engine_foundation::{Error, log, panic};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

pub use super::compile_result::CompileResult;

/// Inputs, output folder and options of a compile.
pub struct CompileTarget<'a> {
    /// The game's folder.
    pub root: &'a Path,
    /// The folder of compiled data.
    pub data: PathBuf,
    pub kinds: ResourceKinds,
    /// Platform whose source variants are selected.
    pub source_platform: &'a str,
    /// True for a release: names and development statements are left out.
    pub release: bool,
    /// Patterns of source files to exclude.
    pub exclude: &'a [Glob],
    pub threads: usize,
}

/// Progress callback of a compile: the number of finished jobs and the total number of jobs.
pub type OnCompileProgress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// One variant to check, and to compile if it changed.
pub(super) struct CompileJob<'a> {
    pub kind: &'static ResourceKind,
    pub resource: &'a ResourceName,
    pub variant: &'a ScannedVariant,
    pub last: Option<&'a IndexEntry>,
    /// The failure of this variant in the last compile, if any.
    pub last_failure: Option<&'a FailedVariant>,
    /// The compiled resources, if this one is derived from them.
    pub store: Option<&'a ResourceStore>,
    /// The sources of the game.
    pub scanned: &'a FolderScan,
}

/// Outcome of a [`CompileJob`].
#[derive(Default)]
pub(super) struct JobResult {
    pub entry: Option<IndexEntry>,
    pub new: bool,
    pub problem: Option<(ResourceName, String)>,
    pub failed_variant: Option<FailedVariant>,
}

/// Reason why a variant has no new data.
enum CompileFailure {
    /// A defect of the source files: another compile of the same files would fail as well.
    Failed(Box<FailedVariant>),
    /// A temporary failure of the machine: the next compile may succeed.
    Transient(Error),
}

/// Folder of compiled data in the folder of a game.
pub(super) const OWN_DATA: &str = ".engine/data";

/// Returns the folder of a game's compiled data, for development on a platform.
pub fn data_folder(root: &Path, platform: &str) -> PathBuf {
    root.join(OWN_DATA).join(platform)
}

/// Compiles the changed resources and writes the index.
pub fn compile(
    target: &CompileTarget,
    progress: OnCompileProgress,
) -> Result<CompileResult, Error> {
    let (mut compiled, last) = compile_without_index(target, progress)?;
    // The compiled files exist even if the index could not be written. The next compile compiles
    // them again.
    compiled
        .problems
        .extend(write_index(target, &compiled.index, &last).err().map(|error| error.message));
    Ok(compiled)
}

/// Writes the index for the next compile and the next start, if it differs from the last index.
pub fn write_index(
    target: &CompileTarget,
    index: &ResourceIndex,
    last: &ResourceIndex,
) -> Result<(), Error> {
    if index != last {
        write(&target.data.join(index::FILE), &index.to_bytes())?;
        remove_unused(&target.data, index);
    }
    folder_data::clear_damaged(&target.data);
    Ok(())
}

/// Compiles the changed resources without writing the index. Returns the result, and the last
/// index, which the caller must replace with the new one.
pub fn compile_without_index(
    target: &CompileTarget,
    progress: OnCompileProgress,
) -> Result<(CompileResult, ResourceIndex), Error> {
    doing!("When compiling:", &target.root.display().to_string());
    // Memory of the compiler does not count as the memory of the game, which may be running.
    let _apart = SeparateWork::begin();
    refuse_links(target.root, &target.data)?;
    let mut found = folder_scan::files(target.root)?;
    found.files.retain(|file| !target.exclude.iter().any(|glob| glob.matches(&file.path)));
    let linked = std::mem::take(&mut found.linked);
    let platforms = Settings::platforms_of(target.root);
    let (kinds, platform) = (&target.kinds, target.source_platform);
    let mut scanned = folder_scan::group_by_resource(found, kinds, platform, &platforms);
    for variant in scanned.resources.values_mut().flatten() {
        variant.properties = variant.properties.without_platforms(&platforms);
    }
    let last = read_index(&target.data);
    let mut present = data_files(&target.data);
    folder_data::keep_undamaged(&target.data, &last, &mut present);
    let (jobs, unknown) = plan_jobs(target, &scanned, &last, &present);
    let done = run_jobs(target, &jobs, progress);
    let mut compiled = CompileResult { linked, ..CompileResult::default() };
    compiled.problems.extend(scanned.problems.iter().cloned());
    compiled.problems.extend(unknown);
    let mut changed = HashSet::new();
    compiled.add(done, &mut changed);
    compiled.index.sort();
    let done = derived::compile(target, &scanned, (&last, &present), &compiled.index, progress);
    compiled.add(done, &mut changed);
    compiled.index.sort();
    compiled.index.failed.extend(scanned.failed.iter().cloned());
    compiled.index.failed.sort_compact();
    compiled.index.failed.dedup_by(|a, b| a.0 == b.0);
    super::redirects::update_index(target.root, &mut compiled, &last);
    compiled.record_removed(&last);
    Ok((compiled, last))
}

/// Refuses links on the path to the compiled data. Such a link could lead out of the game's folder,
/// and a game must not make the engine write and remove files there.
pub fn refuse_links(root: &Path, data: &Path) -> Result<(), Error> {
    let mut path = root.to_path_buf();
    for part in data.strip_prefix(root).into_iter().flatten() {
        path.push(part);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            let display_path = path.display();
            return Err(error!(
                "{display_path} is a link, and compiled data stays here: remove it"
            ));
        }
    }
    Ok(())
}

/// Returns the index of the last compile. If it is missing or damaged, the index is empty and
/// everything is compiled again.
pub fn read_index(data: &Path) -> ResourceIndex {
    let bytes = file_access::read(data, index::FILE, &readers::INDEX).unwrap_or_default();
    ResourceIndex::from_bytes(&bytes).unwrap_or_else(|_| ResourceIndex::default())
}

/// Returns the names of the files in a folder of compiled data.
pub(super) fn data_files(data: &Path) -> HashSet<String> {
    // A folder that does not exist yet has no files.
    let entries = file_access::list(data, "").map_or(Vec::new(), |listing| listing.entries);
    // A link or a pipe in place of a data file counts as missing.
    let files = entries.into_iter().filter(|it| it.kind == EntryKind::File && !it.is_link);
    files.filter_map(|entry| entry.name.into_string().ok()).collect()
}

fn plan_jobs<'a>(
    target: &CompileTarget,
    scanned: &'a FolderScan,
    last: &'a ResourceIndex,
    present: &HashSet<String>,
) -> (Vec<CompileJob<'a>>, Vec<String>) {
    let (mut jobs, mut problems) = (Vec::new(), Vec::new());
    let failures: HashMap<_, _> =
        last.broken.iter().map(|failed| ((&failed.resource, &failed.properties), failed)).collect();
    for (resource, variants) in &scanned.resources {
        let kind = target.kinds.by_name(&resource.kind).expect("the scan knows the same kinds");
        let mut paths = HashMap::new();
        for variant in variants {
            let properties = variant.properties.clone();
            if let Some(other) = paths.insert(properties.clone(), &variant.file.path) {
                problems.push(format!(
                    "{other} and {} are the same variant of {resource} on {}: rename one",
                    variant.file.path, target.source_platform
                ));
                continue;
            }
            let known = last.variants(resource);
            // Lost data counts as never compiled.
            let is_present = |entry: &&IndexEntry| present.contains(&entry.data);
            let last = known.iter().find(|entry| entry.properties == properties).filter(is_present);
            let last_failure = failures.get(&(resource, &properties)).copied();
            let store = None;
            jobs.push(CompileJob { kind, resource, variant, last, last_failure, store, scanned });
        }
    }
    (jobs, problems)
}

/// A source that takes longer than this to compile is reported while its compile runs.
const SLOW: Duration = Duration::from_secs(5);

/// Runs all jobs on the target's number of threads.
pub(super) fn run_jobs(
    target: &CompileTarget,
    jobs: &[CompileJob],
    progress: OnCompileProgress,
) -> Vec<JobResult> {
    run_jobs_with(Builder::new, target, jobs, progress)
}

/// Runs all jobs on threads that `builder` starts. If the system cannot start more threads, the
/// existing ones do the work. The calling thread always takes part.
fn run_jobs_with(
    builder: fn() -> Builder,
    target: &CompileTarget,
    jobs: &[CompileJob],
    progress: OnCompileProgress,
) -> Vec<JobResult> {
    let describe = |path: &str| picture_size(target.root, path);
    let results: Vec<Mutex<Option<JobResult>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let sources = Sources::new(target.root, target.kinds);
    let threads = target.threads.clamp(1, jobs.len().max(1));
    let slow = SlowCompileMonitor::new(threads, SLOW);
    let work = || {
        let _apart = SeparateWork::begin();
        let worker = slow.worker();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { break };
            let compiling = worker.compiling(&job.variant.file.path);
            let done = compile_job(target, &sources, job);
            drop(compiling);
            *panic::lock(&results[index]) = Some(done);
            progress(finished.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        }
    };
    std::thread::scope(|scope| {
        // If this thread cannot start, slow sources are not reported, but everything is compiled.
        let _ = builder().spawn_scoped(scope, || slow.warn_until_done(describe, log::warning));
        for _ in 1..threads {
            if builder().spawn_scoped(scope, work).is_err() {
                // The worker counts as ended, because its thread never started.
                drop(slow.worker());
            }
        }
        work();
    });
    let into_result =
        |slot: Mutex<Option<JobResult>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().filter_map(into_result).collect()
}

fn compile_job(target: &CompileTarget, sources: &Sources, job: &CompileJob) -> JobResult {
    let sources = &sources.job();
    let attempt = || {
        if let Some(entry) = job.last.filter(|last| unchanged(sources, job, last)) {
            return Ok((entry.clone(), false));
        }
        match job.last_failure.and_then(|failed_variant| still_fails(sources, job, failed_variant))
        {
            Some(failed_variant) => Err(CompileFailure::Failed(Box::new(failed_variant))),
            None => build(target, sources, job),
        }
    };
    let built = panic::contain(attempt).unwrap_or_else(|error| Err(panic_failure(job, error)));
    let failure_result = |message, failed_variant| {
        let problem = Some((job.resource.clone(), message));
        JobResult { entry: job.last.cloned(), new: false, problem, failed_variant }
    };
    match built {
        Ok((entry, new)) => JobResult { entry: Some(entry), new, ..JobResult::default() },
        Err(CompileFailure::Failed(failed_variant)) => {
            failure_result(failed_variant.message.clone(), Some(*failed_variant))
        }
        Err(CompileFailure::Transient(error)) => failure_result(error.message, None),
    }
}

/// Converts an internal error during a compile into a failure. The failure is not stored in the
/// index, because an engine without the defect may have the same version of the kind.
fn panic_failure(job: &CompileJob, error: Error) -> CompileFailure {
    let resource = job.resource;
    let describe = || format!("the {} '{}'", resource.kind, resource.name);
    let error = panic_report::name_resource(&describe, error);
    let message = format!("{}: {}", job.variant.file.path, error.message);
    CompileFailure::Transient(Error { message, ..error })
}

/// Returns the stored failure with updated times if no file that was read for it has changed
/// content.
fn still_fails(
    sources: &JobSources,
    job: &CompileJob,
    failed_variant: &FailedVariant,
) -> Option<FailedVariant> {
    let raw = job.variant.raw.as_ref();
    let same = failed_variant.kind_version == job.kind.version
        && failed_variant.form == job.variant.form
        && failed_variant.files.first()?.path == job.variant.file.path
        && raw.is_none_or(|raw| failed_variant.files.iter().any(|stamp| stamp.path == raw.path));
    let mut now = same.then(|| failed_variant.clone())?;
    for stamp in &mut now.files {
        let read = sources.stamp(&stamp.path, stamp.content);
        if read == *stamp && stamp.identifies_content() {
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

/// Returns true if the size, times and inode number of every file that was read for the entry are
/// unchanged.
fn unchanged(sources: &JobSources, job: &CompileJob, last: &IndexEntry) -> bool {
    let Some((source, others)) = last.files.split_first() else { return false };
    let file = &job.variant.file;
    last.kind_version == job.kind.version
        && last.form == job.variant.form
        && last.files.iter().all(FileStamp::identifies_content)
        && (&source.path, source.state) == (&file.path, file.state)
        && others.iter().all(|stamp| sources.stamp(&stamp.path, stamp.content) == *stamp)
        && is_raw_unchanged(job, last)
}

/// Returns true if the raw file next to the source is unchanged. The raw file counts even if the
/// source does not read it yet.
fn is_raw_unchanged(job: &CompileJob, last: &IndexEntry) -> bool {
    let Some(raw) = &job.variant.raw else { return true };
    let known = last.files.iter().find(|stamp| stamp.path == raw.path);
    known.is_some_and(|stamp| stamp.state == raw.state)
}

/// Compiles one variant, or detects that its content is unchanged. Returns the entry, and true if
/// its data is new.
fn build(
    target: &CompileTarget,
    sources: &JobSources,
    job: &CompileJob,
) -> Result<(IndexEntry, bool), CompileFailure> {
    let path = &job.variant.file.path;
    let (bytes, source) = sources.read(path).map_err(CompileFailure::Transient)?;
    if let Some(entry) = job.last.and_then(|last| reuse_same_content(sources, job, last, &source)) {
        return Ok((entry, false));
    }
    let stamps = RefCell::new(Vec::new());
    let read = |path: &str| {
        let read = sources.read(path);
        match &read {
            Ok((_, stamp)) => stamps.borrow_mut().push(stamp.clone()),
            // A missing file that is created later counts as a change.
            Err(_) if is_inside(path) => stamps.borrow_mut().push(sources.stamp(path, 0)),
            Err(_) => {}
        }
        let (bytes, _) = read?;
        sources.count(path, bytes.len())?;
        Ok(bytes)
    };
    let mut context = context_of(target, job, bytes, &read);
    let result = compile_and_validate(job.kind, &mut context);
    let CompileContext { files: mut paths, references, store, .. } = context;
    let found = (&store, target.kinds, sources);
    derived::add_files(found, path, &mut paths, &mut stamps.borrow_mut());
    let data = match result {
        Ok(data) => data,
        Err(error) if error.is_engine_fault => return Err(panic_failure(job, error)),
        // A temporary failure of this machine; the source is not at fault.
        Err(error) if error.is_transient || limit::is_shortage(&error) => {
            return Err(CompileFailure::Transient(error));
        }
        Err(error) => {
            let read = [vec![source], stamps.into_inner()].concat();
            return Err(record_failure(sources, job, read, &paths, error));
        }
    };
    let mut files = vec![source];
    for path in &paths {
        let known = stamps.borrow().iter().find(|stamp| stamp.path == *path).cloned();
        files.push(match known {
            Some(stamp) => stamp,
            None => sources.read(path).map_err(CompileFailure::Transient)?.1,
        });
    }
    let properties = job.variant.properties.clone();
    let file = index::data_name(job.resource, &properties);
    let data_content = murmur64a(&data, 0);
    let same = job.last.is_some_and(|last| last.data_content == data_content);
    if !same {
        write(&target.data.join(&file), &data).map_err(CompileFailure::Transient)?;
    }
    let entry = IndexEntry {
        resource: job.resource.clone(),
        properties,
        form: job.variant.form,
        kind_version: job.kind.version,
        data: file,
        data_content,
        files,
        references,
    };
    Ok((entry, !same))
}

/// Returns the context of a variant's compile.
fn context_of<'a>(
    target: &CompileTarget,
    job: &CompileJob<'a>,
    bytes: Vec<u8>,
    read: &'a ReadSource<'a>,
) -> CompileContext<'a> {
    let (name, form, path) = (job.resource.clone(), job.variant.form, &job.variant.file.path);
    let mut context = CompileContext::new(name, path.clone(), form, bytes, target.release, read);
    context.kinds = target.kinds;
    context.store = job.store.cloned().unwrap_or_default();
    context.scanned = Some(job.scanned);
    context.files.extend(job.variant.raw.iter().map(|raw| raw.path.clone()));
    context
}

/// Compiles a source and validates the data as the engine does when it opens the data. Data that a
/// player's engine could not open is an error for the game's developer.
fn compile_and_validate(
    kind: &ResourceKind,
    context: &mut CompileContext,
) -> Result<Vec<u8>, Error> {
    let data = (kind.compile)(context).map_err(|error| context.name_source(error))?;
    (kind.validate)(&data).map_err(|error| match error.is_engine_fault {
        true => error,
        false => Error { message: format!("{}: {}", context.path, error.message), ..error },
    })?;
    Ok(data)
}

/// Builds the failure of a compile that depends on `paths`. `files` has the stamps of the files
/// that it has read so far or found missing.
fn record_failure(
    sources: &JobSources,
    job: &CompileJob,
    mut files: Vec<FileStamp>,
    paths: &[String],
    error: Error,
) -> CompileFailure {
    for path in paths.iter().filter(|path| is_inside(path)) {
        if !files.iter().any(|stamp| stamp.path == *path) {
            match sources.read(path) {
                Ok((_, stamp)) => files.push(stamp),
                Err(_) => return CompileFailure::Transient(error),
            }
        }
    }
    CompileFailure::Failed(Box::new(FailedVariant {
        resource: job.resource.clone(),
        properties: job.variant.properties.clone(),
        form: job.variant.form,
        kind_version: job.kind.version,
        files,
        message: error.message,
    }))
}

/// Returns the last entry with updated times if only the times of its files differ.
fn reuse_same_content(
    sources: &JobSources,
    job: &CompileJob,
    last: &IndexEntry,
    source: &FileStamp,
) -> Option<IndexEntry> {
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
        // A file that the compile did not find is still missing.
        if stamp.is_missing() && sources.stamp(&stamp.path, stamp.content) == *stamp {
            continue;
        }
        let (_, now) = sources.read(&stamp.path).ok()?;
        if now.content != stamp.content {
            return None;
        }
        *stamp = now;
    }
    Some(entry)
}

/// Reads compiled data by its file name.
pub fn read_data(data: &Path, name: &str) -> Result<Vec<u8>, AccessError> {
    file_access::read(data, name, &readers::COMPILED)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let display_path = path.display();
    write_whole(path, bytes).map_err(|reason| error!("{display_path} cannot be written: {reason}"))
}

/// Removes compiled files that the index does not use.
fn remove_unused(data: &Path, index: &ResourceIndex) {
    let used: HashSet<&str> = index.entries.iter().map(|entry| entry.data.as_str()).collect();
    for name in data_files(data) {
        let ours = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if ours && !used.contains(&name[..]) {
            // A file that cannot be removed only occupies disk space; the next compile tries again.
            let _ = disk::remove(&data.join(name));
        }
    }
}

#[cfg(test)]
#[path = "compile_tests.rs"]
mod tests;
