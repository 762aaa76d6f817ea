//! Prebuilt executables of the engine, from which packages are made: finds out for which platform
//! and processor a file is, and refuses files that cannot play the game.

use super::mach_o::{self, MachProgram};
use super::removable_files;
use engine_foundation::file_access::{self, readers};
use engine_foundation::{Error, error};
use engine_resource::bundle;
use engine_resource::engine_stamp::version_of_executable;
use engine_resource::executable_file::{self, ExecutableFile};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The platforms that packages are made for.
pub const PLATFORMS: &[&str] = &["linux", "windows", "macos"];
/// The platforms that packages for servers are made for.
pub const SERVER_PLATFORMS: &[&str] = &["linux", "windows"];
/// The processors that the engine supports.
const ARCHITECTURES: &[&str] = &["x86_64", "aarch64"];

/// The mark of executables for servers (src/main.rs), backwards: otherwise it would be in every
/// executable.
const SERVER_MARK_REVERSED: &[u8] = b";srevres rof elbatucexe enigne";

/// The mark of executables that only play bundles (src/main.rs), backwards as well.
const BUNDLES_MARK_REVERSED: &[u8] = b";seldnub rof elbatucexe enigne";

/// The purpose of an executable of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// With windows, graphics and sound.
    Player,
    /// Without them, and smaller.
    Server,
}

/// An executable of the engine.
pub struct EngineFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub platform: &'static str,
    pub kind: EngineKind,
    /// True if it has compilers, tools and all commands; false if it only plays bundles.
    pub has_development: bool,
    /// Name of the processor in file names; `universal` for several.
    pub architecture: String,
}

impl EngineFile {
    /// Reads an executable.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, if it is no executable of this version of the
    /// engine, if it is for an unknown processor, or if it has a game in it already.
    pub fn read(path: &Path) -> Result<EngineFile, Error> {
        let display_path = path.display();
        let bytes = file_access::read_named(path, &readers::ENGINE_EXECUTABLE)
            .map_err(|reason| error!("the engine '{display_path}' cannot be read: {reason}"))?;
        let found = executable_file::inspect(&mut Cursor::new(&bytes)).ok().flatten();
        let Some(ExecutableFile { format, architectures, .. }) = found else {
            return Err(error!(
                "'{display_path}' is no executable for Linux, Windows or macOS: name the engine of \
                 the platform with --engine"
            ));
        };
        let platform = format.platform();
        let is_unknown = |name: &&String| !ARCHITECTURES.contains(&name.as_str());
        if let Some(architecture) = architectures.iter().find(is_unknown) {
            return Err(error!(
                "'{display_path}' is for {platform} on {architecture}: the engine runs on {}",
                ARCHITECTURES.join(" and ")
            ));
        }
        if bundle::looks_like_bundle(path) {
            return Err(error!(
                "'{display_path}' has a game in it already: name an engine without a game"
            ));
        }
        let own = env!("CARGO_PKG_VERSION");
        match version_of_executable(&bytes) {
            Some(version) if version == own => {}
            Some(version) => {
                return Err(error!(
                    "'{display_path}' is version {version} of the engine, and this is version \
                     {own}: a game can only be played by the version that compiled it"
                ));
            }
            None => {
                return Err(error!(
                    "'{display_path}' is an executable for {platform}, but not the engine of \
                     version {own}"
                ));
            }
        }
        let architecture = match architectures.as_slice() {
            [one] => one.clone(),
            _ => "universal".to_string(),
        };
        let kind = match has_mark(&bytes, SERVER_MARK_REVERSED) {
            true => EngineKind::Server,
            false => EngineKind::Player,
        };
        let has_development = !has_mark(&bytes, BUNDLES_MARK_REVERSED);
        let path = path.to_path_buf();
        Ok(EngineFile { path, bytes, platform, kind, has_development, architecture })
    }

    /// Overwrites files by zeros that packages do not need, such as the manual: they would make
    /// packages larger. `is_signed_later` is true if a
    /// signing tool follows: otherwise, an executable for macOS that has a signature stays as it
    /// is, because a change makes the signature invalid.
    pub fn clear_files(&mut self, files: &[&[u8]], is_signed_later: bool) {
        let is_signed = mach_o::programs(&self.bytes).iter().any(|program| program.is_signed);
        if is_signed_later || !is_signed {
            removable_files::clear(&mut self.bytes, files);
        }
    }

    /// Returns an error if the system refuses to start the executable as it is, so that packages
    /// need a signing tool.
    ///
    /// # Errors
    /// Returns an error for Apple's processors, if the executable has no signature.
    pub fn check_signature(&self) -> Result<(), Error> {
        match mach_o::programs(&self.bytes).iter().any(MachProgram::lacks_signature) {
            false => Ok(()),
            true => Err(error!(
                "'{}' has no signature, without which macOS starts no program on processors of \
                 Apple: give --sign-macos, or link it with a linker that signs ad hoc, as that of \
                 Xcode and lld do",
                self.path.display()
            )),
        }
    }
}

/// Returns true if the executable file with these bytes has a mark, which is given backwards.
fn has_mark(bytes: &[u8], reversed: &[u8]) -> bool {
    let mut mark = std::hint::black_box(reversed).to_vec();
    mark.reverse();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == mark[0]) {
        at += found;
        if bytes[at..].starts_with(&mark) {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns the name of the file of a platform's engine, next to the running engine.
pub fn file_name(platform: &str, kind: EngineKind) -> String {
    let ending = if platform == "windows" { ".exe" } else { "" };
    let kind = if kind == EngineKind::Server { "server-" } else { "" };
    format!("engine-{kind}{platform}{ending}")
}

/// Returns the message for a platform without an engine. `folder` is the one that was searched.
pub fn missing_message(platform: &str, kind: EngineKind, folder: &Path) -> String {
    let name = file_name(platform, kind);
    let target = match platform {
        "windows" => "x86_64-pc-windows-gnu",
        "macos" => "aarch64-apple-darwin",
        _ => "x86_64-unknown-linux-gnu",
    };
    let (of_servers, build) = match kind {
        EngineKind::Player => ("", format!("cargo build --profile dist --target {target}")),
        EngineKind::Server => (" servers on", format!("packaging/server.sh {target}")),
    };
    format!(
        "there is no engine for{of_servers} {platform}: a package needs an executable of version \
         {}. Build it with `{build}`, and name the file with --engine, or put it as '{name}' into \
         '{}'",
        env!("CARGO_PKG_VERSION"),
        folder.display()
    )
}

#[cfg(test)]
#[path = "engine_file_tests.rs"]
pub(crate) mod tests;
