//! Prebuilt executables of the engine, from which packages are made: finds out for which platform
//! and processor a file is, and refuses files that cannot play the game.

use engine_foundation::file_access::{self, readers};
use engine_foundation::{Error, error};
use engine_resource::bundle;
use engine_resource::engine_stamp::version_of_executable;
use engine_resource::executable_file::{self, ExecutableFile};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The platforms that packages are made for.
pub const PLATFORMS: &[&str] = &["linux", "windows", "macos"];
/// The processors that the engine supports.
const ARCHITECTURES: &[&str] = &["x86_64", "aarch64"];

/// An executable of the engine.
pub struct EngineFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub platform: &'static str,
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
        Ok(EngineFile { path: path.to_path_buf(), bytes, platform, architecture })
    }
}

/// Returns the name of the file of a platform's engine, next to the running engine.
pub fn file_name(platform: &str) -> String {
    let ending = if platform == "windows" { ".exe" } else { "" };
    format!("engine-{platform}{ending}")
}

/// Returns the message for a platform without an engine. `folder` is the one that was searched.
pub fn missing_message(platform: &str, folder: &Path) -> String {
    let name = file_name(platform);
    let target = match platform {
        "windows" => "x86_64-pc-windows-gnu",
        "macos" => "aarch64-apple-darwin",
        _ => "x86_64-unknown-linux-gnu",
    };
    format!(
        "there is no engine for {platform}: a package needs an executable of version {}. Build it \
         with `cargo build --profile dist --target {target}`, and name the file with --engine, or \
         put it as '{name}' into '{}'",
        env!("CARGO_PKG_VERSION"),
        folder.display()
    )
}

#[cfg(test)]
#[path = "engine_file_tests.rs"]
pub(crate) mod tests;
