//! The manifest of a Flatpak, for the program flatpak-builder: it installs the files of the archive
//! for Linux, which need no compiler.
//!
//! Source: Flatpak's documentation, "Manifests" and "Sandbox Permissions".

use super::settings::PackageSettings;
use engine_foundation::json::{self, object, text, texts};
use engine_foundation::sjson::SjsonTree;

/// Version of the Freedesktop runtime, which has the libraries of graphics, sound and windows.
const RUNTIME_VERSION: &str = "24.08";
/// Permissions of a game: windows, sound, graphics and gamepads. It gets no network and no files.
const PERMISSIONS: &[&str] = &[
    "--share=ipc",
    "--socket=wayland",
    "--socket=fallback-x11",
    "--socket=pulseaudio",
    "--device=dri",
    "--device=input",
];
/// Folder of the installed files, next to the manifest.
pub const FILES: &str = "files";

/// Returns the path of the manifest below the output folder.
pub fn path(settings: &PackageSettings) -> String {
    format!("flatpak/{}.json", settings.app_id)
}

/// Returns the manifest.
pub fn manifest(settings: &PackageSettings) -> String {
    let PackageSettings { app_id, file_name, .. } = settings;
    let commands = [
        format!("install -D -m 755 {file_name} /app/bin/{file_name}"),
        "mkdir -p /app/share".to_string(),
        "cp -r share/. /app/share".to_string(),
        format!("mkdir -p /app/share/licenses/{app_id}"),
        format!("cp -r licenses/. /app/share/licenses/{app_id}"),
    ];
    let files = object([("type", text("dir")), ("path", text(FILES))]);
    let module = object([
        ("name", text(file_name)),
        ("buildsystem", text("simple")),
        ("build-commands", texts(commands)),
        ("sources", SjsonTree::Array(vec![files])),
    ]);
    let manifest = object([
        ("id", text(app_id)),
        ("runtime", text("org.freedesktop.Platform")),
        ("runtime-version", text(RUNTIME_VERSION)),
        ("sdk", text("org.freedesktop.Sdk")),
        ("command", text(file_name)),
        ("finish-args", texts(PERMISSIONS.iter().copied())),
        ("modules", SjsonTree::Array(vec![module])),
    ]);
    json::write_indented(&manifest)
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::read;
    use super::*;

    #[test]
    fn manifest_installs_the_program_under_its_id() {
        let settings = "package = { id = \"com.example.Yard\", title = \"Yard\" }";
        let settings = read(settings, "linux").unwrap();
        assert_eq!(path(&settings), "flatpak/com.example.Yard.json");
        let text = manifest(&settings);
        assert!(json::read(&text).is_ok(), "{text}");
        for wanted in [
            "\"id\": \"com.example.Yard\"",
            "\"command\": \"yard\"",
            "\"install -D -m 755 yard /app/bin/yard\"",
            "\"path\": \"files\"",
        ] {
            assert!(text.contains(wanted), "{text}");
        }
        assert!(!text.contains("network") && !text.contains("filesystem"), "{text}");
    }
}
