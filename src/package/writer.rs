//! Writes the packages of a game for one platform.

use super::appimage::{self, AppImageRuntime};
use super::archive::{self, Archive, Compression, Content};
use super::engine_file::{EngineFile, EngineKind};
use super::game_files::GameFiles;
use super::icon::Icon;
use super::licenses::LicenseTexts;
use super::settings::{self, PackageSettings};
use super::signing::SigningTool;
use super::stores::StoreTargets;
use super::{installer, linux, mach_o, macos, server, signed_files, unpacked, windows};
use engine_foundation::file_access::{self, readers};
use engine_foundation::{Error, error, output_file};
use engine_resource::bundle_end::APPENDED_ALIGNMENT;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Size of the buffer in front of an archive's file in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Sources of packages in the game's folder: settings, licences and the icon.
pub struct PackageSources {
    pub(super) settings: PackageSettings,
    licenses: LicenseTexts,
    icon: Option<Icon>,
}

impl PackageSources {
    /// Reads and checks the sources for a platform. `folder_name` is the name of the game's folder.
    ///
    /// # Errors
    /// Returns an error with its line in settings.sjson if a value is invalid, or if a file that it
    /// names is missing or unsuitable.
    pub fn read(folder: &Path, folder_name: &str, platform: &str) -> Result<PackageSources, Error> {
        let settings = PackageSettings::read(folder, platform, folder_name)?;
        let licenses = LicenseTexts::read(folder, platform, &settings)?;
        let icon = read_icon(folder, platform, &settings)?;
        Ok(PackageSources { settings, licenses, icon })
    }

    /// Checks that an installer of Windows can be made of them.
    ///
    /// # Errors
    /// Returns an error with its line in settings.sjson if the version has too large numbers.
    pub fn check_installer(&self, folder: &Path, platform: &str) -> Result<(), Error> {
        installer::check_version(&self.settings, folder, platform)
    }

    /// Returns sources without licences and without an icon.
    #[cfg(test)]
    pub(super) fn for_tests(settings: PackageSettings) -> PackageSources {
        PackageSources { settings, licenses: LicenseTexts::default(), icon: None }
    }
}

/// Input of the packages for one platform.
pub struct PackageJob<'a> {
    pub engine: &'a EngineFile,
    /// The bundle of the game for the engine's platform.
    pub bundle: &'a Path,
    pub bundle_bytes: u64,
    /// Existing folder of the packages.
    pub out: &'a Path,
    /// Existing folder of files that the caller removes in the end.
    pub scratch: &'a Path,
    pub signing: Option<&'a SigningTool>,
    /// True for an installer of Windows, too.
    pub installer: bool,
    /// The runtime of an AppImage. Without one, no AppImage is written.
    pub appimage: Option<&'a AppImageRuntime>,
    /// Stores whose folders get the files, too.
    pub stores: &'a StoreTargets,
    /// The purpose of the packages. Those for servers are neither signed nor for stores.
    pub kind: EngineKind,
    /// Compression of a package for servers on Linux.
    pub server_compression: Compression,
}

/// A package that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct PackageOutput {
    pub path: PathBuf,
    pub bytes: u64,
    /// Names of the parts, and their sizes in bytes before the archive compressed them.
    pub parts: Vec<(&'static str, u64)>,
    pub notes: Vec<String>,
}

/// Writes the packages.
///
/// # Errors
/// Returns an error if the engine is unsuitable, if the signing tool fails, or if a file cannot be
/// written. Packages that were written before stay.
pub fn write_packages(
    job: &PackageJob,
    sources: PackageSources,
) -> Result<Vec<PackageOutput>, Error> {
    let PackageSources { settings, licenses, icon } = sources;
    let bundle = Content::file(job.bundle, job.bundle_bytes);
    let license_bytes = licenses.texts.iter().map(|(_, text)| text.len() as u64).sum();
    let parts = vec![
        ("engine", job.engine.bytes.len() as u64),
        ("game", job.bundle_bytes),
        ("licences", license_bytes),
    ];
    // The notes of the settings are about what players see.
    let notes = match job.kind {
        EngineKind::Player => settings.notes.clone(),
        EngineKind::Server => Vec::new(),
    };
    let mut game =
        GameFiles { settings, licenses, icon_pictures: Vec::new(), program: Content::default() };
    let output = PackageOutput { path: PathBuf::new(), bytes: 0, parts, notes };
    if job.kind == EngineKind::Server {
        return write_server(job, &game, bundle, output);
    }
    match job.engine.platform {
        "linux" => {
            game.icon_pictures = icon.map(|icon| icon.desktop_pictures()).unwrap_or_default();
            game.program = Content::bytes(job.engine.bytes.clone());
            game.program.append_aligned(APPENDED_ALIGNMENT, bundle);
            write_linux(job, &game, output)
        }
        "windows" => write_windows(job, &game, icon.as_ref(), bundle, output),
        _ => write_macos(job, &game, icon.as_ref(), bundle, output),
    }
}

fn read_icon(
    folder: &Path,
    platform: &str,
    settings: &PackageSettings,
) -> Result<Option<Icon>, Error> {
    let path = &settings.icon;
    if path.is_empty() {
        return Ok(None);
    }
    let read = file_access::read(folder, path, &readers::PACKAGE_ICON);
    let icon = match read {
        Ok(bytes) => Icon::decode(&bytes).map_err(|error| format!("{path}: {}", error.message)),
        Err(reason) => Err(reason.message(path)),
    };
    icon.map(Some).map_err(|message| {
        let location = settings::location(folder, platform, "package.icon", None);
        error!("{location}: 'package.icon': {message}")
    })
}

/// Returns the name of an archive without its ending: name, version, platform, processor.
fn archive_name(job: &PackageJob, settings: &PackageSettings) -> String {
    let EngineFile { platform, architecture, .. } = job.engine;
    format!("{}-{}-{platform}-{architecture}", settings.file_name, settings.version_text())
}

/// Returns the folder around the files of an archive.
fn inner_folder(settings: &PackageSettings) -> String {
    format!("{}-{}/", settings.file_name, settings.version_text())
}

/// Writes an archive, and returns its size.
fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut dyn Write>) -> std::io::Result<()>,
) -> Result<u64, Error> {
    let mut bytes = 0;
    output_file::write_by(path, |file| {
        let mut counted = archive::Counted::new(file);
        let mut buffered = BufWriter::with_capacity(BUFFER_BYTES, &mut counted as &mut dyn Write);
        write(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        bytes = counted.bytes;
        Ok(())
    })
    .map_err(|reason| error!("{} cannot be written: {reason}", path.display()))?;
    Ok(bytes)
}

fn write_linux(
    job: &PackageJob,
    game: &GameFiles,
    output: PackageOutput,
) -> Result<Vec<PackageOutput>, Error> {
    let settings = &game.settings;
    let mut output = output;
    let glibc = linux::needed_glibc(&job.engine.bytes);
    if let Some((major, minor)) = glibc {
        output.notes.push(format!("the engine needs glibc {major}.{minor} or newer"));
    }
    let files = linux::portable(game);
    files.check_sizes().map_err(Error::new)?;
    let path = job.out.join(format!("{}.tar.gz", archive_name(job, settings)));
    job.stores.write_content(job.out, "linux", &files, &settings.file_name)?;
    let prefix = inner_folder(settings);
    let bytes = write_file(&path, |out| archive::write_tar_gz(&files, &prefix, out))?;
    let mut outputs = vec![PackageOutput { path, bytes, ..output.clone() }];
    if let Some(runtime) = job.appimage {
        outputs.push(write_appimage(job, runtime, game, &output)?);
    }
    let architecture = linux::debian_architecture(&job.engine.architecture);
    let Some(architecture) = architecture else { return Ok(outputs) };
    if settings.author.is_empty() || settings.email.is_empty() {
        let note = "no .deb: it needs package.author and package.email".to_string();
        outputs[0].notes.push(note);
        return Ok(outputs);
    }
    let (control, files) = linux::debian(game, architecture, glibc);
    let name = format!("{}_{}_{architecture}.deb", game.debian_name(), settings.version_text());
    let path = job.out.join(name);
    let bytes = write_file(&path, |out| archive::write_deb(&control, &files, out))?;
    // The notes are those of the first package.
    outputs.push(PackageOutput { path, bytes, notes: Vec::new(), ..output });
    Ok(outputs)
}

fn write_appimage(
    job: &PackageJob,
    runtime: &AppImageRuntime,
    game: &GameFiles,
    output: &PackageOutput,
) -> Result<PackageOutput, Error> {
    let EngineFile { architecture, .. } = job.engine;
    runtime.check_architecture(architecture)?;
    let (name, version) = (&game.settings.file_name, game.settings.version_text());
    let path = job.out.join(format!("{name}-{version}-{architecture}.AppImage"));
    let image = appimage::image(runtime, game)
        .map_err(|reason| error!("{} cannot be written: {reason}", path.display()))?;
    unpacked::write_program(&path, &image)?;
    // The notes are those of the first package.
    Ok(PackageOutput { path, bytes: image.len(), notes: Vec::new(), ..output.clone() })
}

fn write_server(
    job: &PackageJob,
    game: &GameFiles,
    bundle: Content,
    output: PackageOutput,
) -> Result<Vec<PackageOutput>, Error> {
    let (settings, mut output) = (&game.settings, output);
    let EngineFile { platform, architecture, .. } = job.engine;
    let excess = match (job.engine.kind, job.engine.has_development) {
        (EngineKind::Player, _) => Some("windows, graphics and sound"),
        (EngineKind::Server, true) => Some("the compilers, tools and tests of development"),
        (EngineKind::Server, false) => None,
    };
    if let Some(excess) = excess {
        output.notes.push(format!(
            "'{}' has {excess}: packaging/server.sh builds a smaller engine for servers",
            job.engine.path.display()
        ));
    }
    if let Some((major, minor)) = linux::needed_glibc(&job.engine.bytes) {
        output.notes.push(format!("the engine needs glibc {major}.{minor} or newer"));
    }
    let files = server::portable(game, job.engine, bundle);
    files.check_sizes().map_err(Error::new)?;
    let (name, version) = (&settings.file_name, settings.version_text());
    let name = format!("{name}-{version}-server-{platform}-{architecture}");
    let prefix = format!("{}-{version}-server/", settings.file_name);
    if *platform == "windows" {
        let path = job.out.join(format!("{name}.zip"));
        let bytes = write_file(&path, |out| archive::write_zip(&files, &prefix, out))?;
        return Ok(vec![PackageOutput { path, bytes, ..output }]);
    }
    let path = job.out.join(format!("{name}.{}", job.server_compression.ending()));
    let bytes = write_file(&path, |out| match job.server_compression {
        Compression::Gzip => archive::write_tar_gz(&files, &prefix, out),
        Compression::Xz => archive::write_tar_xz(&files, &prefix, out),
    })?;
    Ok(vec![PackageOutput { path, bytes, ..output }])
}

fn write_windows(
    job: &PackageJob,
    game: &GameFiles,
    icon: Option<&Icon>,
    bundle: Content,
    output: PackageOutput,
) -> Result<Vec<PackageOutput>, Error> {
    let settings = &game.settings;
    let mut output = output;
    let engine = windows::executable(&job.engine.bytes, settings, icon)
        .map_err(|error| error!("'{}': {}", job.engine.path.display(), error.message))?;
    let mut program = Content::bytes(engine);
    program.append_aligned(APPENDED_ALIGNMENT, bundle);
    windows::portable(game, program.clone()).check_sizes().map_err(Error::new)?;
    if let Some(tool) = job.signing {
        program = signed_files::sign_program(tool, program, job.scratch)?;
    }
    let files = windows::portable(game, program);
    // It is complete, with its signature, before the first package is written.
    let installer = make_installer(job, game, icon, &files)?;
    if job.installer && installer.is_none() {
        output.notes.push("no .msi: it needs package.author".to_string());
    }
    job.stores.write_content(job.out, "windows", &files, &windows::program_name(settings))?;
    let mut outputs = write_zip(job, game, &files, &inner_folder(settings), output.clone())?;
    if let Some(installer) = installer {
        let path = job.out.join(format!("{}.msi", archive_name(job, settings)));
        let bytes = write_file(&path, |out| installer.write_to(out))?;
        // The notes are those of the first package.
        outputs.push(PackageOutput { path, bytes, notes: Vec::new(), ..output });
    }
    Ok(outputs)
}

/// Returns the installer of a game, with its signature. Returns `None` if none is wanted, or if its
/// author is unknown.
fn make_installer(
    job: &PackageJob,
    game: &GameFiles,
    icon: Option<&Icon>,
    files: &Archive,
) -> Result<Option<Content>, Error> {
    if !job.installer || game.settings.author.is_empty() {
        return Ok(None);
    }
    let architecture = &job.engine.architecture;
    let content = installer::installer(game, files, icon.map(Icon::ico), architecture)?;
    match job.signing {
        Some(tool) => signed_files::sign_installer(tool, &content, job.scratch).map(Some),
        None => Ok(Some(content)),
    }
}

fn write_macos(
    job: &PackageJob,
    game: &GameFiles,
    icon: Option<&Icon>,
    bundle: Content,
    output: PackageOutput,
) -> Result<Vec<PackageOutput>, Error> {
    let mut output = output;
    output.notes.push("packages for macOS were never tested on a Mac".to_string());
    let icns = icon.map(Icon::icns).unwrap_or_default();
    let engine = Content::bytes(job.engine.bytes.clone());
    let programs = mach_o::programs(&job.engine.bytes);
    let mut files = macos::application(game, engine, &programs, bundle, &icns);
    files.check_sizes().map_err(Error::new)?;
    if let Some(tool) = job.signing {
        let folder = macos::application_folder(&game.settings);
        files = signed_files::sign_application(tool, &files, &folder, job.scratch)?;
    }
    let application = macos::application_folder(&game.settings);
    job.stores.write_content(job.out, "macos", &files, application.trim_end_matches('/'))?;
    write_zip(job, game, &files, "", output)
}

fn write_zip(
    job: &PackageJob,
    game: &GameFiles,
    files: &Archive,
    prefix: &str,
    output: PackageOutput,
) -> Result<Vec<PackageOutput>, Error> {
    let path = job.out.join(format!("{}.zip", archive_name(job, &game.settings)));
    let bytes = write_file(&path, |out| archive::write_zip(files, prefix, out))?;
    Ok(vec![PackageOutput { path, bytes, ..output }])
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
