//! Tests of `--renderer software`: the installed drivers that it loads, and a picture that would
//! never be finished with anisotropic filtering.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    // The pipe stays open: without a reader, the game could not print and would end.
    let mut out = BufReader::new(child.stdout.take().expect("it was piped"));
    out.read_line(&mut line).expect("the engine writes text");
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

fn skip() {
    let message = "SKIPPED: no software adapter (to install it: apt install mesa-vulkan-drivers)";
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{message}");
    writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
}

#[test]
fn software_renderer_loads_no_gpu_driver() {
    let Some(drivers) = loaded_drivers(None) else {
        return skip();
    };
    let software = |name: &String| name.contains("lvp") || name.contains("swiftshader");
    assert!(!drivers.is_empty() && drivers.iter().all(software), "{drivers:?}");
    // The environment's selection takes precedence.
    let all = loaded_drivers(Some("*")).expect("there is an adapter");
    assert!(all.is_superset(&drivers), "{all:?}");
}

/// A square whose texture coordinates are on a line, and change by thousands of texels in a pixel.
const STRETCHED: &str = r#"
local world, camera = Application.main_world(), Application.main_camera()
function init()
  local unit, s = World.spawn_unit(world, "core/units/empty"), 1e5
  Mesh.new(unit, {
    positions = { Vector3(-9, 1, -9), Vector3(9, 1, -9), Vector3(9, 1, 9), Vector3(-9, 1, 9) },
    uvs = { 0, 0, s, s, s, s, 0, 0 },
    indices = { 1, 2, 3, 1, 3, 4 },
  })
  Camera.set_local_position(camera, Vector3(0, -4, 0))
end
function update(dt) World.update(world, dt) end
function render() Application.render_world(world, camera) end
"#;

/// The picture takes a second.
const PICTURE_TIME_MAX: Duration = Duration::from_secs(120);

#[test]
fn stretched_texture_coordinates_do_not_stop_the_renderer() {
    let name = format!("engine-stretched-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
    std::fs::write(folder.join("main.lua"), STRETCHED).expect("a scratch file can be written");
    let arguments =
        ["run", ".", "--headless", "--renderer", "software", "--frames", "2", "--screenshot"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.args(arguments).arg("picture.png").current_dir(&folder);
    command.env("ENGINE_QUIET", "1").env("ENGINE_SAVE_DIR", folder.join("saves"));
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the engine starts");
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().expect("it is ours") {
            Some(status) => break Some(status),
            None if begun.elapsed() > PICTURE_TIME_MAX => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if status.is_none() {
        child.kill().expect("it is ours");
    }
    let output = child.wait_with_output().expect("it has ended");
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_drawn = folder.join("picture.png").exists();
    std::fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
    if output.contains("no software adapter was found") {
        return skip();
    }
    assert!(status.is_some_and(|status| status.success()) && is_drawn, "{output}");
}
