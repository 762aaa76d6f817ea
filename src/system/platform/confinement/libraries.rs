//! What the libraries of a game's window, graphics and sound read and open on a Linux desktop, as
//! tables. Paths that do not exist are left out when they are used.

use std::path::{Path, PathBuf};

/// Folders and files of the system that every process reads: libraries, fonts, drivers and their
/// configuration, time zones, locales; on NixOS and Guix, and inside of Flatpak, Snap and Steam,
/// they are elsewhere.
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
    // In Toolbx and Distrobox, all of /run/host is the whole disk of the computer.
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

/// The same in the user's home: the display's cookie, keyboard and pointer themes, configuration of
/// sound and of drivers, the layers that Vulkan loads.
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

/// The same in the user's folder of data, where `XDG_DATA_HOME` names another one.
pub const DATA: &[&str] = &["icons", "vulkan"];

/// The same in the user's folder of configuration.
pub const CONFIGURATION: &[&str] =
    &["alsa", "pulse", "pipewire", "vulkan", "drirc", "MangoHud", "vkBasalt", "user-dirs.dirs"];

/// Variables of the environment by which a user has those libraries read other files: paths,
/// divided by colons where there are several.
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

/// Devices without which nothing runs.
pub const PLAIN_DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Folders and files of devices: graphics, sound, pads. What is plugged in later appears in a
/// folder, and is reached.
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

/// How the names of other graphics devices in /dev begin.
pub const DEVICE_NAMES: &[&str] = &["nvidia", "pvr"];

/// Variables of the environment that say where graphics drivers keep compiled shaders.
pub const DRIVER_CACHES: &[&str] =
    &["MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH", "AMD_SHADER_DISK_CACHE_PATH"];

/// Where libraries share memory with the display's server and the sound's.
pub const SHARED_MEMORY: &str = "/dev/shm";

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// All that is read, as this user has it.
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
        paths.extend(named(&std::env::split_paths(&value).collect::<Vec<_>>(), home.as_deref()));
    }
    paths
}

/// The paths of a variable that are there, without links, and of manifests the folders that they
/// are in, for they name libraries beside them. The user's home, or a folder above it, would let
/// everything through.
fn named(paths: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    // By texts alone, `/people/ada/x/..` and a link to the home would be other folders than it.
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let home = home.and_then(real);
    let narrow = |path: &PathBuf| {
        path.parent().is_some() && !home.as_ref().is_some_and(|home| home.starts_with(path))
    };
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| path.is_absolute()) {
        let is_manifest = path.extension().is_some_and(|ending| ending == "json");
        let file = real(path);
        // Of a link, both folders: libraries are looked for beside either.
        let beside = path.parent().and_then(real).filter(|_| is_manifest);
        let behind = file.as_ref().filter(|_| is_manifest).and_then(|file| file.parent());
        let all = [file.clone(), beside, behind.map(Path::to_path_buf)];
        for path in all.into_iter().flatten().filter(narrow) {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// Folders that the library of PulseAudio opens, to see whose they are, before it connects to the
/// socket in them. It gives up if it cannot.
pub fn opened_folders() -> Vec<PathBuf> {
    let shared = variable("XDG_RUNTIME_DIR").map(|folder| folder.join("pulse"));
    let chosen: Vec<PathBuf> = variable("PULSE_RUNTIME_PATH").into_iter().collect();
    let chosen = named(&chosen, variable("HOME").as_deref());
    shared.into_iter().chain(chosen).collect()
}

/// The devices that are there.
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

/// The folders in which graphics drivers keep compiled shaders: where the user wants them, or else
/// one of the engine's own for each game, which the drivers hear of by the environment. Those of
/// other programs and games stay out of reach: what is in them is code for them. Call it while
/// there is one thread.
pub fn driver_caches(game: Option<&str>) -> Vec<PathBuf> {
    let own = super::super::cache_folder().map(|cache| own_driver_cache(&cache, game));
    let home = variable("HOME");
    let mut folders = Vec::new();
    for name in DRIVER_CACHES {
        let wanted = variable(name);
        // Drivers keep nothing in a folder that is not there.
        let named = named(&wanted.into_iter().collect::<Vec<_>>(), home.as_deref());
        if !named.is_empty() {
            folders.extend(named);
            continue;
        }
        // Where it cannot be made, drivers keep nothing.
        if let Some(own) = own.as_ref().filter(|own| std::fs::create_dir_all(own).is_ok()) {
            // SAFETY: no other thread is there that could read the environment meanwhile.
            unsafe { std::env::set_var(name, own) };
            folders.push(own.clone());
        }
    }
    folders
}

/// The engine's own folder for the drivers of one game.
fn own_driver_cache(cache: &Path, game: Option<&str>) -> PathBuf {
    // No id is hidden, so this is the folder of no game.
    cache.join("engine/drivers").join(game.unwrap_or(".no_game"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_opens_no_home_and_nothing_above_it() {
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
                    named(std::slice::from_ref(&path), Some(&root.join(home))),
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
            assert_eq!(named(&[relative.into()], None), Vec::<PathBuf>::new());
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn each_game_has_a_folder_for_drivers_of_its_own() {
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
