//! Tests which installed drivers `--renderer software` loads.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const MAIN: &str = "function update() print('plays') end";

/// Returns the libraries of Vulkan drivers that a run has loaded while it plays, or `None` if it
/// does not play because there is no driver. `select` is the environment's selection of drivers.
fn loaded_drivers(select: Option<&str>) -> Option<BTreeSet<String>> {
    let name = format!("engine-software-{}-{}", std::process::id(), select.is_some());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
    std::fs::write(folder.join("main.lua"), MAIN).expect("a scratch file can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.arg("run").arg(&folder).args(["--headless", "--realtime", "--renderer", "software"]);
    command.env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", folder.join("saves"));
    for name in ["VK_LOADER_DRIVERS_SELECT", "VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        command.env_remove(name);
    }
    command.envs(select.map(|select| ("VK_LOADER_DRIVERS_SELECT", select)));
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the engine starts");
    let mut line = String::new();
    let out = child.stdout.take().expect("it was piped");
    BufReader::new(out).read_line(&mut line).expect("the engine writes text");
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id()));
    // An error means that the process has already ended.
    let _ = child.kill();
    child.wait().expect("it is ours");
    std::fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
    if line.trim() != "plays" {
        return None;
    }
    let maps = maps.expect("it played");
    let files = maps.lines().filter_map(|line| line.rsplit('/').next());
    let drivers = files.filter(|file| file.starts_with("libvulkan_"));
    Some(drivers.map(str::to_string).collect())
}

#[test]
fn software_renderer_loads_no_gpu_driver() {
    let Some(drivers) = loaded_drivers(None) else {
        let message =
            "SKIPPED: no software adapter (to install it: apt install mesa-vulkan-drivers)";
        let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "{message}");
        return writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
    };
    let software = |name: &String| name.contains("lvp") || name.contains("swiftshader");
    assert!(!drivers.is_empty() && drivers.iter().all(software), "{drivers:?}");
    // The environment's selection takes precedence.
    let all = loaded_drivers(Some("*")).expect("there is an adapter");
    assert!(all.is_superset(&drivers), "{all:?}");
}
