//! `engine package`: makes packages of a game for players, from prebuilt engines.

use super::compile::{self, BundleRequest, size_text};
use super::confinement_flag::ConfinementFlag;
use super::removable_files::removable_files;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::exit;
use engine_foundation::{Error, error, file_access, output_file};
use engine_package::{
    AppImageRuntime, Compression, EngineFile, EngineKind, ItchPage, PLATFORMS, PackageJob,
    PackageOutput, PackageSources, SERVER_PLATFORMS, SigningTool, SteamApp, StoreTargets,
};
use engine_platform as platform;
use engine_resource::project::Project;
use std::path::{Path, PathBuf};

/// Make packages of a game for players
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Platform of the packages [default: this one]
    #[arg(long, value_parser = ["linux", "windows", "macos", "all"])]
    platform: Option<String>,
    /// Executable of the engine for a platform; can be repeated [default: this engine, and
    /// engine-linux, engine-windows.exe and engine-macos next to it]
    #[arg(long, value_name = "FILE")]
    engine: Vec<PathBuf>,
    /// Make packages for servers on Linux and Windows: an engine without windows, graphics and
    /// sound, the game, and a container file. The engine is engine-server-linux or
    /// engine-server-windows.exe next to this one, or a FILE of --engine
    #[arg(long, conflicts_with_all = ["sign_windows", "sign_macos", "steam", "itch", "flatpak",
        "appimage_runtime", "msi"])]
    server: bool,
    /// Compression of a package for servers on Linux
    #[arg(long, value_name = "KIND", value_enum, requires = "server", default_value = "xz")]
    compression: CompressionName,
    /// Output folder, which is made if it is missing
    #[arg(long, value_name = "FOLDER", default_value = "packages")]
    out: PathBuf,
    /// Make packages without the checks of `engine check`
    #[arg(long)]
    skip_check: bool,
    /// Leave resources that nothing uses out of the packages, and list them
    #[arg(long)]
    reachable: bool,
    /// Command that signs the program for Windows, with {in} and {out} for its files
    #[arg(long, value_name = "COMMAND", value_parser = SigningTool::parse)]
    sign_windows: Option<SigningTool>,
    /// Command that signs the application for macOS, with {in} and {out} for its folders
    #[arg(long, value_name = "COMMAND", value_parser = SigningTool::parse)]
    sign_macos: Option<SigningTool>,
    /// App and depots of Steam, such as 480:linux=481,windows=482: also writes the folder `steam`
    /// for its upload program
    #[arg(long, value_name = "APP:DEPOTS", value_parser = SteamApp::parse)]
    steam: Option<SteamApp>,
    /// Page at itch.io, such as example/yard: also writes the folder `itch` for its upload program
    #[arg(long, value_name = "USER/GAME", value_parser = ItchPage::parse)]
    itch: Option<ItchPage>,
    /// Also write an installer for Windows, which needs no rights of an administrator
    #[arg(long)]
    msi: bool,
    /// Also write an AppImage for Linux. FILE is the runtime of AppImages, such as runtime-x86_64
    /// of the project type2-runtime
    #[arg(long, value_name = "FILE")]
    appimage_runtime: Option<PathBuf>,
    /// Also write the folder `flatpak`, with a manifest for flatpak-builder
    #[arg(long)]
    flatpak: bool,
    #[command(flatten)]
    confine: ConfinementFlag,
}

/// Compression of an archive.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum CompressionName {
    /// A .tar.xz archive
    Xz,
    /// A .tar.gz archive: larger by more than a quarter, and written in a tenth of the time
    Gzip,
}

impl Args {
    fn kind(&self) -> EngineKind {
        if self.server { EngineKind::Server } else { EngineKind::Player }
    }

    fn platforms(&self) -> Result<Vec<&str>, Error> {
        let all = if self.server { SERVER_PLATFORMS } else { PLATFORMS };
        let name = self.platform.as_deref().unwrap_or(platform::NAME);
        match name {
            "all" => Ok(all.to_vec()),
            name if all.contains(&name) => Ok(vec![name]),
            name => Err(error!(
                "there are no packages for servers on {name}: give --platform {}",
                all.join(" or --platform ")
            )),
        }
    }

    fn signing(&self, platform: &str) -> Option<&SigningTool> {
        match platform {
            "windows" => self.sign_windows.as_ref(),
            "macos" => self.sign_macos.as_ref(),
            _ => None,
        }
    }
}

pub fn main(args: Args) -> i32 {
    run(&args).unwrap_or_else(|error| {
        engine_foundation::error_line!("error: {error}");
        exit::FAILED
    })
}

fn run(args: &Args) -> Result<i32, Error> {
    let project = Project::open(&args.folder)?;
    let folder_name = project.folder_name();
    let platforms = args.platforms()?;
    if args.msi && !platforms.contains(&"windows") {
        return Err(error!("--msi needs the files for Windows: give --platform windows or all"));
    }
    let engines = engines(args, &platforms)?;
    let appimage = appimage_runtime(args, &engines)?;
    refuse_links(args)?;
    let scratch = ScratchFolder::new(&args.out)?;
    confine(args, &platforms)?;
    // Everything is checked before minutes of work.
    let sources = sources(args, &platforms, &folder_name)?;
    let (steam, itch) = (args.steam.clone(), args.itch.clone());
    let stores = StoreTargets { steam, itch, flatpak: args.flatpak };
    let all: Vec<(&str, &PackageSources)> = platforms.iter().copied().zip(&sources).collect();
    let scripts = stores.scripts(&all)?;
    let mut notes: Vec<String> = stores.notes(&all);
    for (at, (engine, sources)) in engines.iter().zip(sources).enumerate() {
        let bundle = scratch.0.join(format!("{}.bundle", engine.platform));
        let code = compile::make_bundle(BundleRequest {
            folder: &args.folder,
            platform: engine.platform,
            out: &bundle,
            // The check is for all platforms.
            skip_check: args.skip_check || at > 0,
            reachable: args.reachable,
        })?;
        if code != exit::SUCCESS {
            return Ok(code);
        }
        let bundle_bytes = file_access::open_named(&bundle)
            .map_err(std::io::Error::from)
            .and_then(|file| file.metadata())
            .map_err(|reason| error!("{} cannot be read: {reason}", bundle.display()))?
            .len();
        let signing = args.signing(engine.platform);
        let (out, scratch) = (&args.out, &scratch.0);
        let job = PackageJob {
            engine,
            bundle: &bundle,
            bundle_bytes,
            out,
            scratch,
            signing,
            installer: args.msi,
            appimage: appimage.as_ref(),
            stores: &stores,
            kind: args.kind(),
            server_compression: match args.compression {
                CompressionName::Xz => Compression::Xz,
                CompressionName::Gzip => Compression::Gzip,
            },
        };
        for output in engine_package::write_packages(&job, sources)? {
            report(&output);
            let new = output.notes.into_iter().filter(|note| !notes.contains(note));
            let new: Vec<String> = new.collect();
            notes.extend(new);
        }
    }
    for script in stores.write_scripts(&args.out, &scripts)? {
        engine_foundation::print_line!("{}", script.display());
    }
    for note in notes {
        engine_foundation::print_line!("note: {note}");
    }
    Ok(exit::SUCCESS)
}

/// Reads and checks the sources for each platform.
fn sources(
    args: &Args,
    platforms: &[&str],
    folder_name: &str,
) -> Result<Vec<PackageSources>, Error> {
    let read = |platform: &&str| {
        let sources = PackageSources::read(&args.folder, folder_name, platform)?;
        if args.msi && *platform == "windows" {
            sources.check_installer(&args.folder, platform)?;
        }
        Ok(sources)
    };
    platforms.iter().map(read).collect()
}

/// Refuses links in the game's folder on the way to the output folder. A game must not make this
/// command write and remove files elsewhere.
fn refuse_links(args: &Args) -> Result<(), Error> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|reason| error!("'{}': {reason}", path.display()))
    };
    let (folder, out) = (absolute(&args.folder)?, absolute(&args.out)?);
    match out.strip_prefix(&folder) {
        Ok(inside) => output_file::check_no_links(&folder, inside)
            .map_err(|reason| error!("the packages cannot be written: {reason}")),
        Err(_) => Ok(()),
    }
}

/// Returns the engines for the platforms, in their order.
fn engines(args: &Args, platforms: &[&str]) -> Result<Vec<EngineFile>, Error> {
    let named: Result<Vec<EngineFile>, Error> =
        args.engine.iter().map(|path| EngineFile::read(path)).collect();
    let mut named = named?;
    for (at, engine) in named.iter().enumerate() {
        let (path, platform) = (engine.path.display(), engine.platform);
        if !platforms.contains(&platform) {
            let wanted = platforms.join(", ");
            return Err(error!(
                "the engine '{path}' is for {platform}, and the packages are for {wanted}: give \
                 --platform {platform}, or another engine"
            ));
        }
        if let Some(other) = named[..at].iter().find(|other| other.platform == platform) {
            let other = other.path.display();
            return Err(error!("two engines are for {platform}: '{other}' and '{path}'"));
        }
    }
    let own = std::env::current_exe()
        .map_err(|reason| error!("the engine's own file cannot be found: {reason}"))?;
    let folder = own.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for name in platforms {
        if let Some(at) = named.iter().position(|engine| engine.platform == *name) {
            found.push(named.swap_remove(at));
            continue;
        }
        // An executable with this command has the compilers and tools of development, which servers
        // do not need: it is packed for them only if it is named.
        let is_suitable = !args.server && cfg!(feature = "desktop");
        let path = match *name == platform::NAME && is_suitable {
            true => own.clone(),
            false => folder.join(engine_package::file_name(name, args.kind())),
        };
        // A link, a folder or a file without permission is reported when it is read.
        if std::fs::symlink_metadata(&path).is_err() {
            return Err(Error::new(engine_package::missing_message(name, args.kind(), folder)));
        }
        let engine = EngineFile::read(&path)?;
        if engine.platform != *name {
            let (path, found) = (path.display(), engine.platform);
            return Err(error!("'{path}' is an engine for {found}, not for {name}"));
        }
        found.push(engine);
    }
    for engine in &mut found {
        let is_signed_later = args.signing(engine.platform).is_some();
        if !is_signed_later {
            engine.check_signature()?;
        }
        engine.clear_files(&removable_files(args.server), is_signed_later);
    }
    if !args.server
        && let Some(engine) = found.iter().find(|engine| engine.kind == EngineKind::Server)
    {
        return Err(error!(
            "'{}' is an engine for servers, which shows no game: give --server, or name an engine \
             with windows",
            engine.path.display()
        ));
    }
    Ok(found)
}

/// Reads the runtime of AppImages, if one is named, and checks that the engine for Linux can use
/// it.
fn appimage_runtime(args: &Args, engines: &[EngineFile]) -> Result<Option<AppImageRuntime>, Error> {
    let Some(path) = &args.appimage_runtime else { return Ok(None) };
    let engine = engines.iter().find(|engine| engine.platform == "linux").ok_or_else(|| {
        error!("--appimage-runtime needs the files for Linux: give --platform linux or all")
    })?;
    let runtime = AppImageRuntime::read(path)?;
    runtime.check_architecture(&engine.architecture)?;
    Ok(Some(runtime))
}

/// Confines the process to the game's folder and the output. Signing tools need files of their own,
/// so a run with one is not confined.
fn confine(args: &Args, platforms: &[&str]) -> Result<(), Error> {
    let signs = platforms.iter().any(|platform| args.signing(platform).is_some());
    if signs || !args.confine.is_enabled() {
        return Ok(());
    }
    let data: Result<Vec<PathBuf>, Error> = platforms
        .iter()
        .map(|platform| compile::release_folder(&args.folder, platform, platform))
        .collect();
    let checked = match args.skip_check {
        true => Vec::new(),
        false => engine_app::check::platform_names(&args.folder),
    };
    ConfinementPlan::to_package(&args.folder, &data?, &checked, &args.out).begin();
    confinement::forbid_programs(false);
    confinement::check_outputs()
}

fn report(output: &PackageOutput) {
    let part = |(name, bytes): &(&str, u64)| format!("{name} {}", size_text(*bytes));
    let parts: Vec<String> = output.parts.iter().map(part).collect();
    engine_foundation::print_line!(
        "{}: {}, of {}",
        output.path.display(),
        size_text(output.bytes),
        parts.join(", ")
    );
}

/// A folder for unfinished files in the output folder, which is removed in the end.
struct ScratchFolder(PathBuf);

impl ScratchFolder {
    fn new(out: &Path) -> Result<ScratchFolder, Error> {
        let path = out.join(format!(".package-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|reason| error!("the folder '{}' cannot be made: {reason}", path.display()))?;
        Ok(ScratchFolder(path))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // A remainder has a name that says that it can be removed.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
