//! Tables of the paths that window, graphics and sound libraries read and open on a Linux desktop.
//! Paths that do not exist are skipped when the tables are used.

use std::path::{Path, PathBuf};

/// System folders and files that every process reads: libraries, fonts, drivers and their
/// configuration, time zones, and locales. On NixOS and Guix, and inside of Flatpak, Snap and
/// Steam, they have other paths.
pub const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/etc",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/opengl-driver-32",
    "/app",
    // In Toolbx and Distrobox, /run/host as a whole is the computer's entire disk.
    "/run/host/usr",
    "/run/host/etc",
    "/run/host/lib",
    "/run/host/lib64",
    "/run/host/fonts",
    "/run/host/share",
    "/run/host/os-release",
    "/run/pressure-vessel",
    "/snap",
    "/var/lib/snapd/lib",
    "/var/lib/flatpak/runtime",
    "/var/lib/dbus/machine-id",
    "/run/udev",
    "/sys",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/version",
    "/proc/filesystems",
    "/proc/modules",
    "/proc/devices",
    "/proc/sys",
    "/proc/asound",
    "/proc/driver",
    "/proc/bus/input",
];

/// Paths in the user's home folder that libraries read: the display's cookie, keyboard and pointer
/// themes, configuration of sound and drivers, and the layers that Vulkan loads.
pub const HOME: &[&str] = &[
    ".Xauthority",
    ".XCompose",
    ".Xdefaults",
    ".asoundrc",
    ".drirc",
    ".icons",
    ".pulse-cookie",
    ".local/share/icons",
    ".local/share/vulkan",
    ".local/share/Steam/ubuntu12_32",
    ".local/share/Steam/ubuntu12_64",
];

/// Paths that libraries read in the user's data folder, if `XDG_DATA_HOME` moves it out of
/// [`HOME`].
pub const DATA: &[&str] = &["icons", "vulkan"];

/// Paths that libraries read in the user's configuration folder.
pub const CONFIGURATION: &[&str] =
    &["alsa", "pulse", "pipewire", "vulkan", "drirc", "MangoHud", "vkBasalt", "user-dirs.dirs"];

/// Environment variables with which a user makes these libraries read other files. Their values are
/// paths, separated by colons if there are several.
pub const VARIABLES: &[&str] = &[
    "ALSA_CONFIG_DIR",
    "ALSA_CONFIG_PATH",
    "ALSA_CONFIG_UCM",
    "ALSA_PLUGIN_DIR",
    "GBM_BACKENDS_PATH",
    "LD_LIBRARY_PATH",
    "LIBGL_DRIVERS_PATH",
    "LOCPATH",
    "PIPEWIRE_CONFIG_DIR",
    "PIPEWIRE_MODULE_DIR",
    "PULSE_CLIENTCONFIG",
    "PULSE_COOKIE",
    "SPA_DATA_DIR",
    "SPA_PLUGIN_DIR",
    "TZDIR",
    "VK_ADD_DRIVER_FILES",
    "VK_ADD_IMPLICIT_LAYER_PATH",
    "VK_ADD_LAYER_PATH",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_IMPLICIT_LAYER_PATH",
    "VK_LAYER_PATH",
    "XAUTHORITY",
    "XCOMPOSEFILE",
    "XCURSOR_PATH",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_DIRS",
    "XKB_CONFIG_ROOT",
    "XLOCALEDIR",
    "__EGL_EXTERNAL_PLATFORM_CONFIG_DIRS",
    "__EGL_VENDOR_LIBRARY_DIRS",
    "__EGL_VENDOR_LIBRARY_FILENAMES",
];

/// Devices that every program needs.
pub const PLAIN_DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Folders and files of devices: graphics, sound, gamepads. A device that is plugged in later
/// appears in a folder, so it is accessible.
pub const DEVICES: &[&str] = &[
    "/dev/dri",
    "/dev/snd",
    "/dev/input",
    "/dev/dma_heap",
    "/dev/udmabuf",
    "/dev/kfd",
    "/dev/dxg",
    "/dev/mali0",
    "/dev/kgsl-3d0",
    "/dev/nvidia-caps",
];

/// Name prefixes of other graphics devices in /dev.
pub const DEVICE_NAMES: &[&str] = &["nvidia", "pvr"];

/// Environment variables that name the shader caches of graphics drivers.
pub const DRIVER_CACHES: &[&str] =
    &["MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH", "AMD_SHADER_DISK_CACHE_PATH"];

/// The folder in which libraries share memory with the display and sound servers.
pub const SHARED_MEMORY: &str = "/dev/shm";

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Returns all readable paths, for this user's environment.
pub fn readable() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    let home = variable("HOME");
    if let Some(home) = &home {
        paths.extend(HOME.iter().map(|path| home.join(path)));
    }
    if let Some(folder) = variable("XDG_DATA_HOME") {
        paths.extend(DATA.iter().map(|path| folder.join(path)));
    }
    let configuration =
        variable("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
    if let Some(folder) = configuration {
        paths.extend(CONFIGURATION.iter().map(|path| folder.join(path)));
    }
    for name in VARIABLES {
        let value = std::env::var_os(name).unwrap_or_default();
        paths.extend(resolve_folders(
            &std::env::split_paths(&value).collect::<Vec<_>>(),
            home.as_deref(),
        ));
    }
    paths
}

/// Returns the existing paths of a variable, with links resolved. For manifests, also returns their
/// folders, because manifests name libraries next to them. The user's home, or a folder above it,
/// is left out, because it would allow access to everything.
fn resolve_folders(paths: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    // Compared as text alone, `/people/ada/x/..` and a link to the home would differ from the home.
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    let home = home.and_then(canonical);
    let is_narrow = |path: &PathBuf| {
        path.parent().is_some() && !home.as_ref().is_some_and(|home| home.starts_with(path))
    };
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| path.is_absolute()) {
        let is_manifest = path.extension().is_some_and(|ending| ending == "json");
        let file = canonical(path);
        // For a link, both folders are included, because libraries may be next to either.
        let manifest_folder = path.parent().and_then(canonical).filter(|_| is_manifest);
        let target_folder = file.as_ref().filter(|_| is_manifest).and_then(|file| file.parent());
        let all = [file.clone(), manifest_folder, target_folder.map(Path::to_path_buf)];
        for path in all.into_iter().flatten().filter(is_narrow) {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the folders that the PulseAudio library opens to check their owner before it connects to
/// the socket in them. If it cannot open them, it gives up.
pub fn opened_folders() -> Vec<PathBuf> {
    let shared = variable("XDG_RUNTIME_DIR").map(|folder| folder.join("pulse"));
    let chosen: Vec<PathBuf> = variable("PULSE_RUNTIME_PATH").into_iter().collect();
    let chosen = resolve_folders(&chosen, variable("HOME").as_deref());
    shared.into_iter().chain(chosen).collect()
}

/// Returns the paths of devices.
pub fn devices() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    for entry in std::fs::read_dir("/dev").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if DEVICE_NAMES.iter().any(|begin| name.starts_with(begin)) {
            paths.push(entry.path());
        }
    }
    paths
}

/// Returns the folders in which graphics drivers keep compiled shaders. These are the folders that
/// the user has set, or else a folder of the engine for each game, which is passed to the drivers
/// through the environment. Shader caches of other programs and games stay inaccessible, because
/// they contain code for those programs. Must be called while the process has a single thread.
pub fn driver_caches(game: Option<&str>) -> Vec<PathBuf> {
    let own = super::super::cache_folder().map(|cache| own_driver_cache(&cache, game));
    let home = variable("HOME");
    let mut folders = Vec::new();
    for name in DRIVER_CACHES {
        let path = variable(name);
        // Drivers store nothing in a folder that does not exist.
        let resolved = resolve_folders(&path.into_iter().collect::<Vec<_>>(), home.as_deref());
        if !resolved.is_empty() {
            folders.extend(resolved);
            continue;
        }
        // If the folder cannot be created, drivers store nothing.
        if let Some(own) = own.as_ref().filter(|own| std::fs::create_dir_all(own).is_ok()) {
            // SAFETY: no other thread exists that could read the environment at the same time.
            unsafe { std::env::set_var(name, own) };
            folders.push(own.clone());
        }
    }
    folders
}

/// Returns the engine's shader cache folder for the drivers of one game.
fn own_driver_cache(cache: &Path, game: Option<&str>) -> PathBuf {
    // Ids never begin with a dot, so this folder belongs to no game.
    cache.join("engine/drivers").join(game.unwrap_or(".no_game"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_never_opens_the_home_folder_or_its_parents() {
        let root = std::env::temp_dir().join(format!("engine-{}-named", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(root.join("people/ada/lib/deep")).unwrap();
        std::fs::create_dir_all(root.join("srv/vk")).unwrap();
        let root = std::fs::canonicalize(root).unwrap();
        for file in ["srv/vk/icd.json", "people/ada/icd.json"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("people"), root.join("home")).unwrap();
        std::os::unix::fs::symlink(root.join("people/ada"), root.join("srv/link")).unwrap();
        std::os::unix::fs::symlink("vk/icd.json", root.join("srv/link.json")).unwrap();
        for home in ["people/ada", "home/ada", "people/ada/lib/.."] {
            let check = |path: &str, wanted: &[&str]| {
                let path = if path.is_empty() { PathBuf::new() } else { root.join(path) };
                let wanted: Vec<PathBuf> = wanted.iter().map(|path| root.join(path)).collect();
                assert_eq!(
                    resolve_folders(std::slice::from_ref(&path), Some(&root.join(home))),
                    wanted,
                    "{path:?}"
                );
            };
            for wide in ["/", "/missing", "people", "home", "people/ada", "home/ada", "srv/link"] {
                check(wide, &[]);
            }
            for wide in ["people/ada/lib/..", "people/ada/lib/deep/../../..", "srv/../people", ""] {
                check(wide, &[]);
            }
            check("people/ada/lib", &["people/ada/lib"]);
            check("srv/link/lib", &["people/ada/lib"]);
            check("srv/../srv", &["srv"]);
            check("srv/vk/icd.json", &["srv/vk/icd.json", "srv/vk"]);
            check("srv/link.json", &["srv/vk/icd.json", "srv", "srv/vk"]);
            check("people/ada/icd.json", &["people/ada/icd.json"]);
            check("home/ada/icd.json", &["people/ada/icd.json"]);
        }
        for relative in [".", "lib", "../lib"] {
            assert_eq!(resolve_folders(&[relative.into()], None), Vec::<PathBuf>::new());
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn each_game_has_its_own_driver_cache_folder() {
        let folder = |game| own_driver_cache(Path::new("/cache"), game);
        assert_eq!(folder(Some("a")), Path::new("/cache/engine/drivers/a"));
        assert_eq!(folder(Some("b")), Path::new("/cache/engine/drivers/b"));
        assert_eq!(folder(None), Path::new("/cache/engine/drivers/.no_game"));
    }

    #[test]
    fn no_list_opens_the_whole_disk() {
        let whole = ["/", "/home", "/root", "/run", "/run/host", "/var", "/proc", "/dev", "/tmp"];
        for path in SYSTEM.iter().chain(DEVICES).chain(PLAIN_DEVICES) {
            assert!(path.starts_with('/') && !whole.contains(path), "{path}");
        }
        for path in HOME.iter().chain(DATA).chain(CONFIGURATION) {
            assert!(!path.is_empty() && !path.starts_with(['/']) && !path.contains(".."), "{path}");
        }
    }
}
