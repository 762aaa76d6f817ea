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
    "/run/host",
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

/// The paths of a variable, and of files the folder that they are in, for they name libraries
/// beside them. One above the user's home, or that itself, would let everything through.
fn named(paths: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let narrow = |path: &Path| {
        let wide = path.parent().is_none() || home.is_some_and(|home| home.starts_with(path));
        path.is_absolute() && !wide
    };
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| narrow(path)) {
        found.push(path.clone());
        let is_manifest = path.extension().is_some_and(|ending| ending == "json");
        found.extend(path.parent().filter(|it| is_manifest && narrow(it)).map(Path::to_path_buf));
    }
    found
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
/// one of the engine's own, which the drivers hear of by the environment. Those of other programs
/// stay out of reach: what is in them is code for them. Call it while there is one thread.
pub fn driver_caches() -> Vec<PathBuf> {
    let own = super::super::cache_folder().map(|cache| cache.join("engine/drivers"));
    let mut folders = Vec::new();
    for name in DRIVER_CACHES {
        if let Some(wanted) = variable(name) {
            folders.push(wanted);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_opens_no_home_and_nothing_above_it() {
        let check = |paths: &[&str], wanted: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            let wanted: Vec<PathBuf> = wanted.iter().map(PathBuf::from).collect();
            assert_eq!(named(&paths, Some(Path::new("/people/ada"))), wanted, "{paths:?}");
        };
        check(&["/", "/people", "/people/ada", "", ".", "lib", "../lib"], &[]);
        check(&["/people/ada/lib", "/srv/lib"], &["/people/ada/lib", "/srv/lib"]);
        check(&["/srv/vk/icd.json"], &["/srv/vk/icd.json", "/srv/vk"]);
        check(&["/people/ada/icd.json"], &["/people/ada/icd.json"]);
    }
}
