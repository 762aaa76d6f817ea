//! `engine compile`: compiles a game's resources into a folder, or into a bundle to ship.

use super::confine::Confine;
use super::definitions;
use crate::app::confinement::{self, Plan};
use crate::app::kinds::KINDS;
use crate::app::progress::Progress;
use crate::app::{Game, exit, output_files};
use crate::foundation::{Error, file_access, output_file, sjson};
use crate::resource::bundle::EXTENSION;
use crate::resource::bundling::{self, Making};
use crate::resource::compile::{self, Compiled, Target};
use crate::resource::glob::Glob;
use crate::resource::index::{Entry, Index};
use crate::resource::name::{ResourceName, Source};
use crate::resource::project::Project;
use crate::resource::scan;
use crate::resource::settings::Settings;
use crate::resource::variant::PLATFORMS;
use crate::system::platform;
use std::path::{Path, PathBuf};

/// Compile a game's resources
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    folder: PathBuf,
    /// Where the compiled data goes: a folder, or with --bundle a file (in a folder that is there
    /// it gets the game's name)
    #[arg(long, value_name = "FOLDER|FILE")]
    out: PathBuf,
    /// Make one file to ship, which `engine run` plays
    #[arg(long)]
    bundle: bool,
    /// The platform that the data is for [default: this one]
    #[arg(long, value_parser = platform_name)]
    platform: Option<String>,
    /// The platform whose variants are taken [default: the same]
    #[arg(long, value_parser = platform_name)]
    source_platform: Option<String>,
    #[command(flatten)]
    confine: Confine,
}

/// One of the known platforms, or a suggestion.
pub fn platform_name(text: &str) -> Result<String, String> {
    if PLATFORMS.contains(&text) {
        return Ok(text.to_string());
    }
    let hint = crate::foundation::suggest::hint(text, PLATFORMS.iter().copied());
    Err(format!("there is no platform '{text}'{hint} (known: {})", PLATFORMS.join(", ")))
}

pub fn main(args: Args) -> i32 {
    run(&args).unwrap_or_else(|error| {
        crate::error_line!("error: {error}");
        exit::FAILED
    })
}

fn run(args: &Args) -> Result<i32, Error> {
    let project = Project::open(&args.folder)?;
    if args.bundle {
        // Said before minutes of work, not after them.
        let out = bundle_file(args, &project);
        let told = |reason| crate::error!("{} cannot be written: {reason}", out.display());
        output_file::check(&out).map_err(told)?;
    }
    definitions::refresh(&args.folder);
    let platform = args.platform.clone().unwrap_or_else(|| platform::NAME.to_string());
    let source_platform = args.source_platform.clone().unwrap_or_else(|| platform.clone());
    let data = match args.bundle {
        true => release_folder(&args.folder, &platform, &source_platform),
        false => args.out.join(&platform),
    };
    if args.confine.is_wanted() {
        confine(args, &project, &data)?;
    }
    let exclude = match args.bundle {
        true => Settings::read(&args.folder, &platform)?.bundle_exclude()?,
        false => Vec::new(),
    };
    let target = Target {
        root: &args.folder,
        data,
        kinds: KINDS,
        source_platform: &source_platform,
        release: args.bundle,
        exclude: &exclude,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let progress = Progress::new("compiling");
    let compiled = compile::compile(&target, &|done, all| progress.show(done, all));
    progress.clear();
    let compiled = compiled?;
    tell(&compiled, &platform);
    if !compiled.problems.is_empty() {
        let rest =
            if args.bundle { "no bundle was made" } else { "what was compiled before stays" };
        crate::error_line!("{} could not be compiled; {rest}", compiled.problems.len());
        return Ok(exit::FAILED);
    }
    if args.bundle {
        warn_of_excluded(&args.folder, &exclude, &compiled.index)?;
        bundle(args, &project, &target, &compiled.index, &platform)?;
    }
    Ok(exit::SUCCESS)
}

/// Limits the process to the game's folder, and to where its data goes.
fn confine(args: &Args, project: &Project, data: &Path) -> Result<(), Error> {
    // The folders that are written are made first, so that they can be named to the kernel. One
    // that cannot be made is told when it is written.
    let plan = match args.bundle {
        true => {
            let _ = compile::refuse_links(&args.folder, data)
                .map(|()| std::fs::create_dir_all(data).is_ok());
            Plan::to_bundle(&args.folder, &bundle_file(args, project))
        }
        false => {
            let _ = std::fs::create_dir_all(&args.out);
            Plan::to_compile(&args.folder, &args.out)
        }
    };
    plan.begin();
    confinement::forbid_programs(false);
    confinement::check_outputs()
}

/// Warns where a script of the bundle names one that is left out.
fn warn_of_excluded(root: &Path, exclude: &[Glob], index: &Index) -> Result<(), Error> {
    let left_out = scan::files(root)?;
    let left_out =
        left_out.files.iter().filter(|file| exclude.iter().any(|glob| glob.fits(&file.path)));
    for file in left_out {
        let Some(Ok(source)) = Source::of(&file.path, &KINDS) else { continue };
        let names = |entry: &&Entry| entry.references.iter().any(|it| it.means(&source.resource));
        if let Some(entry) = index.entries.iter().find(names) {
            crate::error_line!(
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

/// The folder of data that is compiled for a release: beside that of development, for it differs.
fn release_folder(root: &Path, platform: &str, source_platform: &str) -> PathBuf {
    let name = match platform == source_platform {
        true => platform.to_string(),
        false => format!("{platform}-of-{source_platform}"),
    };
    root.join(".engine/release").join(name)
}

/// The file of the bundle.
fn bundle_file(args: &Args, project: &Project) -> PathBuf {
    match args.out.is_dir() {
        true => args.out.join(format!("{}.{EXTENSION}", project.folder_name())),
        false => args.out.clone(),
    }
}

fn bundle(
    args: &Args,
    project: &Project,
    target: &Target,
    index: &Index,
    platform: &str,
) -> Result<(), Error> {
    let settings = Settings::read(&args.folder, platform)?;
    let boot = settings.text("boot_script");
    let folder = boot.replace('.', "/");
    let starts = [folder.clone(), format!("{folder}/init")];
    let there = |name| !index.variants(&ResourceName::new("lua", name)).is_empty();
    if !starts.iter().any(|name| there(name))
        && let Some(words) = project.lacks_boot(boot)
    {
        return Err(Error::new(words));
    }
    let game = project.folder_name();
    let out = bundle_file(args, project);
    // A confined process makes it where it can, and has it put in its place when it is whole.
    let made_at = match output_files::is_brokered(&out) {
        true => target.data.join(format!("{}.{EXTENSION}", std::process::id())),
        false => out.clone(),
    };
    let written = sjson::write(&settings.tree);
    let making = Making {
        index,
        data: &target.data,
        kinds: KINDS,
        platform,
        game: &game,
        settings: &written.map_err(|fault| crate::error!("settings.sjson: {fault}"))?,
        keeps_path: |name| name.kind == "lua",
        is_stopped: || platform::asked_to_end().is_some(),
    };
    // From here on a signal lets the half-written file be removed.
    platform::note_signals();
    let progress = Progress::new("bundling");
    let made = bundling::make(&making, &made_at, &|done, all| progress.show(done, all));
    progress.clear();
    let told = |mut error: Error| {
        // Whoever reads it knows nothing of the place where it is made first.
        let (made_at, out) = (made_at.display().to_string(), out.display().to_string());
        error.message = error.message.replace(&made_at, &out);
        error
    };
    let bytes = made.map_err(told)?;
    // What was written is what will be played: a bundle that cannot be opened is not handed out.
    let mut checked = match platform == platform::NAME {
        true => Game::at(&made_at).map(|_| ()).map_err(told),
        false => Ok(()),
    };
    if made_at != out {
        let told = |reason| crate::error!("{} cannot be written: {reason}", out.display());
        let publish = || {
            let made = file_access::open_named(&made_at).map_err(std::io::Error::from)?;
            output_files::publish(made, &out)
        };
        checked = checked.and_then(|()| publish().map_err(told));
        // It is in its place, or of no use.
        let _ = std::fs::remove_file(&made_at);
    }
    checked?;
    let size = match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    };
    crate::print_line!("{}: {size} for {platform}", out.display());
    Ok(())
}

fn tell(compiled: &Compiled, platform: &str) {
    for problem in &compiled.problems {
        crate::error_line!("error: {problem}");
    }
    let entries = &compiled.index.entries;
    let all = entries.len();
    let resources = entries.chunk_by(|a, b| a.resource == b.resource).count();
    let count = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    };
    crate::print_line!(
        "{} of {} for {platform}: {} new, {} removed",
        count(all, "variant"),
        count(resources, "resource"),
        compiled.changed.len(),
        compiled.removed.len()
    );
}
