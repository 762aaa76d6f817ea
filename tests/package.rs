//! Tests of `engine package` from the view of someone who ships a game: the package for Linux plays
//! the game, and errors come before any work. The formats are tested in src/package.

use crate::game_folder::{GameFolder, outcome};
use std::fs;
use std::path::Path;
use std::process::Command;

fn folder(name: &str, settings: &str) -> GameFolder {
    let folder = GameFolder::new("package", name);
    let main = "print(Application.build(), Application.argv())\n\
                function update() Application.quit(7) end";
    folder.write("game/main.lua", main);
    folder.write("game/settings.sjson", settings);
    folder
}

#[cfg(target_os = "linux")]
#[test]
fn package_for_linux_plays_the_game_from_any_folder() {
    let settings = "package = { title = \"Yard\", version = \"1.2\" }";
    let folder = folder("linux", settings);
    let (code, out, err) = folder.engine(&["package", "game", "--out", "out"]);
    assert_eq!(code, 0, "{out}{err}");
    let file = format!("out/yard-1.2-linux-{}.tar.gz", std::env::consts::ARCH);
    let lines: Vec<&str> = out.lines().filter(|line| line.starts_with(&file)).collect();
    assert!(lines.len() == 1 && lines[0].contains(", of engine "), "{out}");
    assert!(out.contains("note: no .deb: it needs package.author and package.email"), "{out}");
    let names: Vec<_> = fs::read_dir(folder.join("out")).unwrap().map(|it| it.unwrap()).collect();
    assert_eq!(names.len(), 1, "only the package is left: {names:?}");
    let unpacked = folder.join("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(folder.join(&file)).arg("-C").arg(&unpacked);
    assert!(tar.status().expect("tar runs").success());
    fs::remove_dir_all(folder.join("game")).unwrap();
    let game = unpacked.join("yard-1.2/yard");
    let mut command = folder.command(&["run", game.to_str().unwrap(), "--headless"]);
    command.current_dir(&unpacked);
    assert_eq!(outcome(&mut command), (7, "release\n".to_string(), String::new()));
    // The program itself starts the game, and not the command line.
    let mut command = folder.program(&game, &["--help"]);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    let (code, _, err) = outcome(&mut command);
    assert!(code == 1 && err.starts_with("error: the game needs a window"), "{err}");
    // An interrupted download.
    let bytes = fs::read(&game).unwrap();
    crate::game_folder::write_program(&game, &bytes[..bytes.len() - 10]);
    let (code, out, err) = outcome(&mut folder.program(&game, &["--help"]));
    let wanted = "error: this game cannot be played: it is cut short: its end is missing. Copy it \
                  again\n";
    assert_eq!((code, &*out, &*err), (1, "", wanted));
}

#[test]
fn unsuitable_engines_and_settings_are_refused_first() {
    let folder = folder("refused", "package = { version = \"1.2-beta\" }");
    let check = |arguments: &[&str], code: i32, wanted: &str| {
        let all = [&["package", "game", "--out", "out"], arguments].concat();
        let (found, out, err) = folder.engine(&all);
        assert!(err.starts_with(wanted), "{err}");
        assert_eq!((found, &*out), (code, ""), "{err}");
        assert!(!folder.join("game/.engine/release").exists(), "nothing was compiled");
    };
    check(&["--platform", "amiga"], 2, "error: invalid value 'amiga' for '--platform");
    check(&["--sign-windows", "sign {in}"], 2, "error: invalid value 'sign {in}' for");
    check(&["--engine", "game/main.lua"], 1, "error: 'game/main.lua' is no executable for Linux");
    check(&["--engine", "lost"], 1, "error: the engine 'lost' cannot be read: ");
    check(&["--server", "--appimage-runtime", "lost"], 2, "error: the argument '--server' cannot");
    check(&["--server", "--msi"], 2, "error: the argument '--server' cannot");
    check(&["--compression", "gzip"], 2, "error: the following required arguments were not");
    check(&["--server", "--compression", "zip"], 2, "error: invalid value 'zip' for");
    if cfg!(target_os = "linux") {
        let runtime = |path| ["--appimage-runtime", path];
        check(&runtime("lost"), 1, "error: the runtime 'lost' cannot be read: ");
        let wanted = "error: 'game/main.lua' is no runtime of AppImages: download a file such as";
        check(&runtime("game/main.lua"), 1, wanted);
        let wanted = "error: --msi needs the files for Windows: give --platform windows or all";
        check(&["--msi"], 1, wanted);
        check(&["--platform", "windows"], 1, "error: there is no engine for windows: a package");
        let own = env!("CARGO_BIN_EXE_engine");
        let wanted = format!("error: the engine '{own}' is for linux, and the packages are for ");
        check(&["--platform", "macos", "--engine", own], 1, &wanted);
        let wanted = format!("error: two engines are for linux: '{own}' and '{own}'");
        check(&["--engine", own, "--engine", own], 1, &wanted);
    }
}

#[test]
fn an_invalid_setting_is_an_error_with_its_line() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = folder("setting", "package = {\n version = \"1.2-beta\"\n}");
    let (code, out, err) = folder.engine(&["package", "game", "--out", "out"]);
    let wanted = "error: settings.sjson:2: 'package.version' is '1.2-beta', which stores refuse: ";
    assert!(err.starts_with(wanted), "{err}");
    assert_eq!((code, &*out), (1, ""));
    assert_eq!(fs::read_dir(folder.join("out")).unwrap().count(), 0, "nothing is left");
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_in_the_game_does_not_choose_the_output_folder() {
    let folder = folder("link", "");
    let home = folder.join("home");
    fs::create_dir(&home).unwrap();
    std::os::unix::fs::symlink(&home, folder.join("game/packages")).unwrap();
    let arguments = ["package", "game", "--out", "game/packages", "--itch", "example/yard"];
    let (code, out, err) = folder.engine(&arguments);
    assert_eq!((code, &*out), (1, ""), "{err}");
    assert!(err.starts_with("error: the packages cannot be written: '"), "{err}");
    assert!(err.contains("packages' is a link, and nothing is written through links"), "{err}");
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}

/// Packs the tests' own engine, as no engine for servers is built for tests.
#[test]
fn package_for_servers_runs_the_game_without_a_window() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = folder("server", "package = { title = \"Yard\", version = \"1.2\" }");
    let own = env!("CARGO_BIN_EXE_engine");
    // The manual proposes to put an engine for servers next to the engine.
    if !Path::new(own).with_file_name("engine-server-linux").exists() {
        let (code, out, err) = folder.engine(&["package", "game", "--server"]);
        assert_eq!((code, &*out), (1, ""), "{err}");
        let wanted = "error: there is no engine for servers on linux: a package needs";
        assert!(err.starts_with(wanted), "{err}");
    }
    let (code, out, err) = folder.engine(&["package", "game", "--server", "--platform", "macos"]);
    assert_eq!((code, &*out), (1, ""), "{err}");
    assert!(err.starts_with("error: there are no packages for servers on macos: "), "{err}");
    let both = ["package", "game", "--server", "--flatpak"];
    assert_eq!(folder.engine(&both).0, 2, "a server is not for players");
    // The tests' own engine is large, and xz would take a minute.
    let arguments =
        ["package", "game", "--server", "--engine", own, "--compression", "gzip", "--out", "out"];
    let (code, out, err) = folder.engine(&arguments);
    assert_eq!(code, 0, "{out}{err}");
    let name = format!("yard-1.2-server-linux-{}.tar.gz", std::env::consts::ARCH);
    assert!(out.contains(&name) && out.contains("smaller engine for servers\n"), "{out}");
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(folder.join("out").join(name)).arg("-C").arg(folder.join("out"));
    assert!(tar.status().expect("tar runs").success());
    fs::remove_dir_all(folder.join("game")).unwrap();
    let server = folder.join("out/yard-1.2-server");
    let arguments = ["run", "game.bundle", "--headless", "--realtime", "--quiet", "--", "first"];
    let mut command = folder.program(server.join("engine"), &arguments);
    command.current_dir(&server).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let (code, out, err) = outcome(&mut command);
    assert_eq!((code, &*err), (7, ""), "{out}");
    assert!(out.starts_with("release\tfirst\n"), "{out}");
}
