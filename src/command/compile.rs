//! `engine compile`: compiles a game's resources into a folder, or into a bundle to ship.

use super::check;
use super::confinement_flag::ConfinementFlag;
use super::editor_definitions;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::progress::ProgressLine;
use engine_app::resource_kinds::KINDS;
use engine_app::resource_reload::{make_writable, release_data_of, report_data_folder};
use engine_app::{Game, content, exit, output_files};
use engine_foundation::{Error, file_access, output_file, sjson};
use engine_platform as platform;
use engine_resource::bundle::EXTENSION;
use engine_resource::bundle_writer::{self, BundleOptions};
use engine_resource::compile::{self, CompileResult, CompileTarget};
use engine_resource::folder_scan;
use engine_resource::glob::Glob;
use engine_resource::index::{IndexEntry, ResourceIndex};
use engine_resource::project::Project;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::{ResourceName, SourceName};
use engine_resource::settings::Settings;
use engine_resource::shared_cache::{CacheStats, SharedCache};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Compile a game's resources
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Output folder of the compiled data, or with --bundle the output file (in an existing folder,
    /// the file is named after the game) [default with --bundle: this folder]
    #[arg(long, value_name = "FOLDER|FILE",
        required_unless_present_any = ["bundle", "skip_check", "reachable"])]
    out: Option<PathBuf>,
    /// Create a bundle: one file to ship, which `engine run` plays
    #[arg(long)]
    bundle: bool,
    /// Target platform of the data [default: this one]
    #[arg(long)]
    platform: Option<String>,
    /// Platform whose variants are used [default: the target platform]
    #[arg(long)]
    source_platform: Option<String>,
    /// Create the bundle without the checks of `engine check`
    #[arg(long, requires = "bundle")]
    skip_check: bool,
    /// Leave resources that nothing uses out of the bundle, and list them
    #[arg(long, requires = "bundle")]
    reachable: bool,
    /// Compiled data of several machines, in a folder or on a server (http://host:port/path): what
    /// it has is not compiled here, and what is compiled here is stored there
    #[arg(long, value_name = "FOLDER|URL")]
    cache: Option<String>,
    #[command(flatten)]
    confine: ConfinementFlag,
    /// True if another command needs the bundle. That command confines the process.
    #[arg(skip)]
    is_intermediate: bool,
}

impl Args {
    /// Returns the output, which is the current folder if none is given.
    fn out(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new("."))
    }
}

pub fn main(args: Args) -> i32 {
    run(&args).unwrap_or_else(|error| {
        engine_foundation::error_line!("error: {error}");
        exit::FAILED
    })
}

/// Compiles a bundle for a platform into a file. The caller confines the process.
///
/// # Errors
/// Returns an error as `engine compile --bundle` does; findings of the compile and of the check are
/// printed, and the exit code reports them.
pub(super) fn make_bundle(options: BundleRequest) -> Result<i32, Error> {
    let BundleRequest { folder, platform, out, skip_check, reachable } = options;
    let args = Args {
        folder: folder.to_path_buf(),
        out: Some(out.to_path_buf()),
        bundle: true,
        platform: Some(platform.to_string()),
        source_platform: None,
        skip_check,
        reachable,
        cache: None,
        confine: ConfinementFlag::default(),
        is_intermediate: true,
    };
    run(&args)
}

/// A bundle that another command needs.
pub(super) struct BundleRequest<'a> {
    pub folder: &'a Path,
    pub platform: &'a str,
    pub out: &'a Path,
    pub skip_check: bool,
    pub reachable: bool,
}

fn run(args: &Args) -> Result<i32, Error> {
    let project = Project::open(&args.folder)?;
    if args.bundle {
        // Checked before minutes of work, not after them.
        let out = bundle_file(args, &project);
        let write_error =
            |reason| engine_foundation::error!("{} cannot be written: {reason}", out.display());
        output_file::check(&out).map_err(write_error)?;
    }
    editor_definitions::refresh(&args.folder);
    let platform = args.platform.clone().unwrap_or_else(|| platform::NAME.to_string());
    let source_platform = args.source_platform.clone().unwrap_or_else(|| platform.clone());
    let platforms = Settings::platforms_of(&args.folder);
    for name in [&platform, &source_platform] {
        platforms.check(name).map_err(Error::new)?;
    }
    let data = match args.bundle {
        true => release_folder(&args.folder, &platform, &source_platform)?,
        false => args.out().join(&platform),
    };
    if args.bundle {
        report_data_folder(&args.folder, &data);
    }
    if args.confine.is_enabled() && !args.is_intermediate {
        confine(args, &project, &data)?;
    }
    if !args.bundle {
        // One error in place of one for each resource.
        compile::refuse_links(&args.folder, &data)?;
        make_writable(&data).map_err(|reason| {
            engine_foundation::error!("{} cannot be written: {reason}", data.display())
        })?;
    }
    let exclude = match args.bundle {
        true => excluded(args, &Settings::read(&args.folder, &platform)?)?,
        false => Vec::new(),
    };
    let target = CompileTarget {
        root: &args.folder,
        data,
        kinds: KINDS,
        source_platform: &source_platform,
        release: args.bundle,
        exclude: &exclude,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let cache = args.cache.as_deref().map(SharedCache::open).transpose()?;
    let fetched = cache.as_ref().map(|cache| cache.fetch(&target)).transpose()?;
    let progress = ProgressLine::new("compiling");
    let compiled = compile::compile(&target, &|done, all| progress.show(done, all));
    progress.clear();
    let compiled = compiled?;
    store(cache.zip(fetched), &target, &compiled);
    report_result(&compiled, &platform);
    if !compiled.problems.is_empty() {
        let rest =
            if args.bundle { "no bundle was made" } else { "what was compiled before stays" };
        engine_foundation::error_line!("{} could not be compiled; {rest}", compiled.problems.len());
        return Ok(exit::FAILED);
    }
    if args.bundle {
        warn_of_excluded(&args.folder, &exclude, &compiled.index)?;
        if !check_nodes(args, &compiled.index)? {
            return Ok(exit::FAILED);
        }
        if !args.skip_check && !check(&args.folder, &exclude) {
            return Ok(exit::FAILED);
        }
        bundle(args, &project, &target, &compiled.index, &platform)?;
    }
    Ok(exit::SUCCESS)
}

/// Stores compiled data in the shared cache, if there is one, and prints the numbers of the cache.
fn store(
    cache: Option<(SharedCache, CacheStats)>,
    target: &CompileTarget,
    compiled: &CompileResult,
) {
    let Some((cache, CacheStats { hits, misses, refused, .. })) = cache else { return };
    match cache.store(target, &compiled.index) {
        Ok(stored) => engine_foundation::print_line!(
            "shared cache: {hits} fetched, {misses} missing, {refused} refused, {stored} stored"
        ),
        // The compile is complete without the cache.
        Err(error) => engine_foundation::error_line!("warning: the shared cache: {error}"),
    }
}

/// Returns the files that a bundle excludes: by patterns, and those that nothing uses if the
/// settings or the command line say so. The latter are listed.
fn excluded(args: &Args, settings: &Settings) -> Result<Vec<Glob>, Error> {
    let mut exclude = settings.bundle_exclude()?;
    if !args.reachable && !settings.boolean("bundle.reachable") {
        return Ok(exclude);
    }
    let graph = content::graph(&args.folder)?;
    let unused = content::unreachable(&graph, &exclude, settings)?;
    let mut paths = HashSet::new();
    for target in &unused {
        engine_foundation::print_line!("not in the bundle, because nothing uses it: {target}");
        let files = graph.files_of(target).iter();
        paths.extend(files.map(|file| graph.files[*file].path.clone()));
    }
    exclude.push(Glob::of_paths(paths));
    Ok(exclude)
}

/// Does the checks of `engine check`, and prints their findings. Returns true if there are no
/// errors. Findings in files that the bundle excludes do not count.
fn check(folder: &Path, exclude: &[Glob]) -> bool {
    let references = check::References::of(folder);
    let platforms = engine_app::check::platform_names(folder);
    let mut report = check::find_faults(&references, &platforms, None);
    let is_excluded = |file: &String| exclude.iter().any(|glob| glob.matches(file));
    report.findings.retain(|finding| !finding.file.as_ref().is_some_and(is_excluded));
    check::output::print_errors(&report);
    if platform::end_requested().is_some() {
        engine_foundation::error_line!("the check was stopped; no bundle was made");
        return false;
    }
    let errors = report.errors();
    if errors > 0 {
        let errors = if errors == 1 { "1 error".to_string() } else { format!("{errors} errors") };
        engine_foundation::error_line!(
            "the check found {errors}; no bundle was made (--skip-check makes it)"
        );
    }
    errors == 0
}

/// Prints an error for each type of nodes in a graph of the bundle whose script is not in it. The
/// check finds types that do not exist at all. Returns true if there are no errors.
fn check_nodes(args: &Args, index: &ResourceIndex) -> Result<bool, Error> {
    let graph = content::graph(&args.folder)?;
    // Patterns leave files out, and so does their platform.
    let sources = index.entries.iter().filter_map(|entry| entry.files.first());
    let bundled: HashSet<&str> = sources.map(|source| source.path.as_str()).collect();
    let is_left_out = |path: &str| !bundled.contains(path);
    let errors = content::nodes_left_out(&graph, &is_left_out, args.skip_check);
    for error in &errors {
        engine_foundation::error_line!("error: {error}");
    }
    if !errors.is_empty() {
        let errors = errors.len();
        let nouns = if errors == 1 { "1 error".to_string() } else { format!("{errors} errors") };
        engine_foundation::error_line!(
            "{nouns}: graphs need nodes that bundle.exclude in settings.sjson leaves out, that are \
             of another platform, or that do not exist; no bundle was made"
        );
    }
    Ok(errors.is_empty())
}

/// Confines the process to the game's folder and the output.
fn confine(args: &Args, project: &Project, data: &Path) -> Result<(), Error> {
    // The output folder is created first, because the confinement can allow only existing folders.
    // A failure is reported when the folder is written.
    let plan = match args.bundle {
        true => {
            let platforms = match args.skip_check {
                true => Vec::new(),
                false => engine_app::check::platform_names(&args.folder),
            };
            let out = bundle_file(args, project);
            ConfinementPlan::to_bundle(&args.folder, data, &platforms, &out)
        }
        false => {
            let _ = std::fs::create_dir_all(args.out());
            ConfinementPlan::to_compile(&args.folder, args.out())
        }
    };
    let cache = args.cache.as_ref().filter(|cache| !cache.contains("://"));
    plan.with_cache(cache.map(Path::new)).begin();
    confinement::forbid_programs(false);
    confinement::check_outputs()
}

/// Warns if a script of the bundle names a file that is excluded from the bundle.
fn warn_of_excluded(root: &Path, exclude: &[Glob], index: &ResourceIndex) -> Result<(), Error> {
    let scan = folder_scan::files(root)?;
    let excluded =
        scan.files.iter().filter(|file| exclude.iter().any(|glob| glob.matches(&file.path)));
    for file in excluded {
        let Some(Ok(source)) = SourceName::of(&file.path, &KINDS) else { continue };
        let names =
            |entry: &&IndexEntry| entry.references.iter().any(|it| it.matches(&source.resource));
        if let Some(entry) = index.entries.iter().find(names) {
            engine_foundation::error_line!(
                "warning: {} names '{}', and {} is not in the bundle (bundle.exclude in \
                 settings.sjson)",
                entry.files[0].path,
                source.resource.name,
                file.path
            );
        }
    }
    Ok(())
}

/// Returns the folder of data compiled for a release, which exists.
pub(super) fn release_folder(
    root: &Path,
    platform: &str,
    source_platform: &str,
) -> Result<PathBuf, Error> {
    let name = match platform == source_platform {
        true => platform.to_string(),
        false => format!("{platform}-of-{source_platform}"),
    };
    release_data_of(root, &name)
}

/// Returns the path of the bundle.
fn bundle_file(args: &Args, project: &Project) -> PathBuf {
    match args.out().is_dir() {
        true => args.out().join(format!("{}.{EXTENSION}", project.folder_name())),
        false => args.out().to_path_buf(),
    }
}

fn bundle(
    args: &Args,
    project: &Project,
    target: &CompileTarget,
    index: &ResourceIndex,
    platform: &str,
) -> Result<(), Error> {
    let settings = Settings::read(&args.folder, platform)?;
    let boot = settings.text("boot_script");
    let folder = boot.replace('.', "/");
    let starts = [folder.clone(), format!("{folder}/init")];
    let there = |name| !index.variants(&ResourceName::new(kind_names::LUA, name)).is_empty();
    if !starts.iter().any(|name| there(name))
        && let Some(message) = project.missing_boot_message(boot)
    {
        return Err(Error::new(message));
    }
    let game = project.folder_name();
    let out = bundle_file(args, project);
    // A confined process writes the bundle to an accessible folder; the broker then moves the
    // complete file to its destination.
    let temporary_file = match output_files::is_brokered(&out) {
        true => target.data.join(format!("{}.{EXTENSION}", std::process::id())),
        false => out.clone(),
    };
    let written = sjson::write(&settings.tree);
    let options = BundleOptions {
        index,
        data: &target.data,
        kinds: KINDS,
        platform,
        game: &game,
        settings: &written
            .map_err(|message| engine_foundation::error!("settings.sjson: {message}"))?,
        keeps_path: |name| name.kind == kind_names::LUA,
        is_stopped: || platform::end_requested().is_some(),
    };
    // From here on, a signal stops the work so that the incomplete file can be removed.
    platform::install_signal_handlers();
    let progress = ProgressLine::new("bundling");
    let bundle = bundle_writer::write_bundle(&options, &temporary_file, &|done, all| {
        progress.show(done, all)
    });
    progress.clear();
    let name_output = |mut error: Error| {
        // The user does not know the temporary path, so the message names the destination.
        let (temporary_file, out) =
            (temporary_file.display().to_string(), out.display().to_string());
        error.message = error.message.replace(&temporary_file, &out);
        error
    };
    let bytes = bundle.map_err(name_output)?;
    // Opens the written bundle as the game will: a bundle that cannot be opened is not published.
    let mut checked = match platform == platform::NAME {
        true => Game::at(&temporary_file).map(|_| ()).map_err(name_output),
        false => Ok(()),
    };
    if temporary_file != out {
        let write_error =
            |reason| engine_foundation::error!("{} cannot be written: {reason}", out.display());
        let publish = || {
            let file = file_access::open_named(&temporary_file).map_err(std::io::Error::from)?;
            output_files::publish(file, &out)
        };
        checked = checked.and_then(|()| publish().map_err(write_error));
        // The file has been published, or is useless.
        let _ = std::fs::remove_file(&temporary_file);
    }
    checked?;
    if !args.is_intermediate {
        let size = size_text(bytes);
        engine_foundation::print_line!("{}: {size} for {platform}", out.display());
    }
    Ok(())
}

/// Formats a size of an output: `14.2 MiB`.
pub(super) fn size_text(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    }
}

fn report_result(compiled: &CompileResult, platform: &str) {
    for problem in &compiled.problems {
        engine_foundation::error_line!("error: {problem}");
    }
    let entries = &compiled.index.entries;
    let all = entries.len();
    let resources = entries.chunk_by(|a, b| a.resource == b.resource).count();
    let count = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    };
    engine_foundation::print_line!(
        "{} of {} for {platform}: {} new, {} removed",
        count(all, "variant"),
        count(resources, "resource"),
        compiled.changed.len(),
        compiled.removed.len()
    );
}
