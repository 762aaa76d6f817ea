//! Tests of whole packages, with small executables and a bundle written by hand.

use super::super::appimage::tests::runtime;
use super::super::engine_file::tests::mark;
use super::super::icon::tests::half_red;
use super::super::mach_o::tests::{APPLE, mach_file};
use super::super::pe_resources::tests::pe_file;
use super::super::stores::{ItchPage, SteamApp};
use super::*;
use engine_foundation::hash::murmur64a;
use engine_resource::bundle;
use std::fs;

/// A scratch folder with a game, engines and a bundle.
struct Fixture {
    root: PathBuf,
    kind: EngineKind,
    compression: Compression,
    appimage: Option<AppImageRuntime>,
    installer: bool,
}

impl Fixture {
    fn new(name: &str, settings: &str) -> Fixture {
        let root = std::env::temp_dir().join(format!("engine-{}-pack-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for folder in ["game/art", "out", "scratch"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("game/settings.sjson"), settings).unwrap();
        fs::write(root.join("game/art/icon.png"), half_red(256)).unwrap();
        fs::write(root.join("game/art/OFL.txt"), "The font's licence").unwrap();
        let mark = mark(env!("CARGO_PKG_VERSION"));
        let mut elf = [0; 120];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[18] = 62;
        let mach = mach_file(APPLE, (11, 0), true);
        let glibc = b"\0GLIBC_2.2.5\0GLIBC_2.28\0GLIBC_2.9\0";
        fs::write(root.join("linux"), [&elf[..], glibc, &mark].concat()).unwrap();
        fs::write(root.join("windows"), [pe_file(), mark.clone()].concat()).unwrap();
        fs::write(root.join("macos"), [&mach[..], &mark].concat()).unwrap();
        let mut bytes = b"EBDL and the data of the game".to_vec();
        let mut end = b"EBDL end".to_vec();
        end.extend((bytes.len() as u64 + 24).to_le_bytes());
        let sum = murmur64a(&end, bundle::VERSION.into());
        end.extend(sum.to_le_bytes());
        bytes.extend(end);
        fs::write(root.join("game.bundle"), bytes).unwrap();
        let (kind, compression) = (EngineKind::Player, Compression::Xz);
        Fixture { root, kind, compression, appimage: None, installer: false }
    }

    fn write(
        &self,
        platform: &str,
        signing: Option<&SigningTool>,
    ) -> Result<Vec<PackageOutput>, String> {
        self.write_for_stores(platform, signing, &StoreTargets::default())
    }

    fn write_for_stores(
        &self,
        platform: &str,
        signing: Option<&SigningTool>,
        stores: &StoreTargets,
    ) -> Result<Vec<PackageOutput>, String> {
        let bundle = self.root.join("game.bundle");
        let engine = EngineFile::read(&self.root.join(platform)).map_err(|error| error.message)?;
        let job = PackageJob {
            engine: &engine,
            bundle: &bundle,
            bundle_bytes: fs::metadata(&bundle).unwrap().len(),
            out: &self.root.join("out"),
            scratch: &self.root.join("scratch"),
            signing,
            installer: self.installer,
            appimage: self.appimage.as_ref(),
            stores,
            kind: self.kind,
            server_compression: self.compression,
        };
        let sources = PackageSources::read(&self.root.join("game"), "game", platform);
        let written = sources.and_then(|sources| write_packages(&job, sources));
        written.map_err(|error| error.message)
    }

    fn outputs(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(self.root.join("out")).unwrap().map(|entry| entry.unwrap());
        let mut found: Vec<_> = entries
            .map(|it| (it.file_name().into_string().unwrap(), fs::read(it.path()).unwrap()))
            .collect();
        found.sort();
        found
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

const COMPLETE: &str = r#"
package = {
  id = "com.example.Yard", title = "Émile's Yard & more", version = "1.2", file_name = "yard"
  author = "Émile", email = "help@example.com", website = "https://example.com"
  summary = "Dig", icon = "art/icon.png", license_files = ["art/OFL.txt"]
  categories = ["puzzle"], languages = ["en", "pt-BR"]
}
"#;

#[test]
fn two_runs_write_equal_packages_for_all_platforms() {
    let mut fixture = Fixture::new("equal", COMPLETE);
    let path = fixture.root.join("runtime");
    fs::write(&path, runtime(62)).unwrap();
    fixture.appimage = Some(AppImageRuntime::read(&path).unwrap());
    fixture.installer = true;
    let write_all = || {
        for platform in ["linux", "windows", "macos"] {
            fixture.write(platform, None).unwrap();
        }
        fixture.outputs()
    };
    let first = write_all();
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [
        "yard-1.2-linux-x86_64.tar.gz",
        "yard-1.2-macos-aarch64.zip",
        "yard-1.2-windows-x86_64.msi",
        "yard-1.2-windows-x86_64.zip",
        "yard-1.2-x86_64.AppImage",
        "yard-game_1.2_amd64.deb",
    ];
    assert_eq!(names, wanted);
    assert!(write_all() == first, "the bytes differ");
}

#[test]
fn sizes_and_notes_of_packages_are_reported() {
    let fixture = Fixture::new("notes", "");
    let outputs = fixture.write("linux", None).unwrap();
    assert_eq!(outputs.len(), 1, "no .deb without an author");
    let PackageOutput { path, bytes, parts, notes } = &outputs[0];
    assert_eq!(*bytes, fs::metadata(path).unwrap().len());
    assert_eq!(parts[1], ("game", 53));
    let wanted = [
        "the engine needs glibc 2.28 or newer",
        "no .deb: it needs package.author and package.email",
    ];
    assert_eq!(notes[notes.len() - 2..], wanted);
    assert!(notes[0].starts_with("package.id is not set: 'local.game' is used"), "{notes:?}");
}

#[test]
fn unsuitable_icons_and_licenses_are_refused_with_a_line() {
    let check = |name: &str, line: &str, wanted: &str| {
        let fixture = Fixture::new(name, &format!("package = {{\n{line}\n}}"));
        fs::write(fixture.root.join("game/art/broken.png"), &half_red(256)[..90]).unwrap();
        let message = fixture.write("linux", None).unwrap_err();
        assert!(message.starts_with(&format!("settings.sjson:2: {wanted}")), "{message}");
        assert_eq!(fixture.outputs().len(), 0);
    };
    check("lost", "icon = \"icon.png\"", "'package.icon': ");
    check("broken", "icon = \"art/broken.png\"", "'package.icon': art/broken.png: ");
    check("unlicensed", "license_files = [\"art/MIT.txt\"]", "'package.license_files': ");
}

#[cfg(unix)]
#[test]
fn links_pipes_and_large_files_are_not_packed() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::new("attacks", COMPLETE);
    let game = fixture.root.join("game/art");
    fs::write(fixture.root.join("secret"), "of the player").unwrap();
    for (file, wanted) in
        [("icon.png", "'package.icon': "), ("OFL.txt", "'package.license_files': ")]
    {
        let path = game.join(file);
        let content = fs::read(&path).unwrap();
        let refused = || {
            let message = fixture.write("linux", None).unwrap_err();
            assert!(message.contains(wanted), "{message}");
            assert_eq!(fixture.outputs().len(), 0);
            fs::remove_file(&path).unwrap();
        };
        fs::remove_file(&path).unwrap();
        symlink("../../secret", &path).unwrap();
        refused();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        refused();
        fs::File::create(&path).unwrap().set_len(64 << 20).unwrap();
        refused();
        fs::write(&path, content).unwrap();
    }
    fs::remove_file(fixture.root.join("linux")).unwrap();
    let pipe = fixture.root.join("linux");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(fixture.write("linux", None).is_err());
    assert!(AppImageRuntime::read(&pipe).is_err());
    fs::remove_file(&pipe).unwrap();
    fs::File::create(&pipe).unwrap().set_len(64 << 20).unwrap();
    let message = AppImageRuntime::read(&pipe).map(|_| ()).unwrap_err().message;
    assert!(message.contains("APPIMAGE_RUNTIME_BYTES_MAX"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_failing_signing_tool_leaves_no_package() {
    let fixture = Fixture::new("sign", COMPLETE);
    let sign = |platform: &str, command: &str| {
        fixture.write(platform, Some(&SigningTool::parse(command).unwrap())).unwrap_err()
    };
    let message = sign("windows", "false {in} {out}");
    assert!(message.starts_with("the signing tool 'false' failed"), "{message}");
    let message = sign("windows", "cp {in} {out}");
    let wanted = "the signed program cannot be used: the signing tool put no signature into it";
    assert_eq!(message, wanted);
    let message = sign("macos", "false {in} {out}");
    assert!(message.starts_with("the signing tool 'false' failed"), "{message}");
    // The tool fails after it has written something.
    for platform in ["windows", "macos"] {
        let message = sign(platform, "sh -c \"IFS=; cp -R $0 $1; exit 3\" {in} {out}");
        assert!(message.starts_with("the signing tool 'sh' failed (exit status: 3)"), "{message}");
    }
    let unsigned = [&mach_file(APPLE, (11, 0), false)[..], &mark(env!("CARGO_PKG_VERSION"))];
    fs::write(fixture.root.join("macos"), unsigned.concat()).unwrap();
    fs::remove_dir_all(fixture.root.join("scratch")).unwrap();
    fs::create_dir(fixture.root.join("scratch")).unwrap();
    let message = sign("macos", "cp -R {in} {out}");
    let wanted = "the signed application cannot be used: the signing tool put no signature into \
                  Émile's Yard & more.app/Contents/MacOS/yard";
    assert_eq!(message, wanted);
    assert_eq!(fixture.outputs().len(), 0);
}

#[test]
fn installers_need_an_author() {
    let mut fixture = Fixture::new("author", "");
    let notes = |fixture: &Fixture| {
        let outputs = fixture.write("windows", None).unwrap();
        assert_eq!(outputs.len(), 1, "there is no installer");
        outputs[0].notes.clone()
    };
    let without = notes(&fixture);
    fixture.installer = true;
    let note = "no .msi: it needs package.author".to_string();
    assert_eq!(notes(&fixture), [without, vec![note]].concat());
}

/// A signing tool signs the program, and then the installer, which is checked before any package is
/// written.
#[cfg(unix)]
#[test]
fn an_installer_is_signed_before_packages_are_written() {
    let mut fixture = Fixture::new("msi", COMPLETE);
    fixture.installer = true;
    // The tool copies files that were signed before.
    let tool = SigningTool::parse("cp {in} {out}").unwrap();
    fixture.write("windows", Some(&tool)).unwrap_err();
    let mut program = fs::read(fixture.root.join("scratch/unsigned.exe")).unwrap();
    program.resize(program.len().next_multiple_of(8), 0);
    // The fifth directory of the optional header.
    let start = program.len() as u32;
    program[232..236].copy_from_slice(&start.to_le_bytes());
    program[236..240].copy_from_slice(&16u32.to_le_bytes());
    program.extend([1; 16]);
    fs::write(fixture.root.join("signed.exe"), program).unwrap();
    let signature = "\u{5}DigitalSignature".encode_utf16().collect();
    let write_signed = |name: &str, streams: Vec<Vec<u16>>| {
        let streams = streams.into_iter().map(|name| (name, Content::bytes("x")));
        let mut bytes = Vec::new();
        archive::compound_file(&[0; 16], streams.collect()).write_to(&mut bytes).unwrap();
        fs::write(fixture.root.join(name), &bytes).unwrap();
        bytes
    };
    let signed = write_signed("signed.msi", vec![signature, installer::pool_stream()]);
    write_signed("unsigned.msi", vec![installer::pool_stream()]);
    write_signed("other.msi", vec!["Other".encode_utf16().collect()]);
    let sign = |command: &str| {
        let root = fixture.root.display();
        let script = fixture.root.join("sign.sh");
        let text =
            format!("cd {root}\ncase $1 in *.exe) cp signed.exe $2 ;; *.msi) {command} ;; esac\n");
        fs::write(&script, text).unwrap();
        let tool = SigningTool::parse(&format!("sh {} {{in}} {{out}}", script.display())).unwrap();
        fixture.write("windows", Some(&tool))
    };
    for (command, wanted) in [
        ("exit 3", "the signing tool 'sh' failed (exit status: 3); no package was written"),
        ("cp signed.msi $2; exit 3", "the signing tool 'sh' failed (exit status: 3); no package"),
        ("rm -f $2", "the signing tool 'sh' wrote no {out}"),
        (
            "cp unsigned.msi $2",
            "the signed installer cannot be used: the signing tool put no signature into it",
        ),
        ("cp other.msi $2", "the signed installer cannot be used: it is no installer"),
        ("cp signed.exe $2", "the signed installer cannot be used: it is no installer"),
    ] {
        let message = sign(command).unwrap_err();
        assert!(message.starts_with(wanted), "{message}");
        assert_eq!(fixture.outputs().len(), 0, "{command}");
    }
    let outputs = sign("cp signed.msi $2").unwrap();
    assert_eq!(outputs.len(), 2);
    let name = "yard-1.2-windows-x86_64.msi".to_string();
    assert_eq!(outputs[1].path, fixture.root.join("out").join(&name));
    assert!(fixture.outputs()[0] == (name, signed), "the signed installer is written");
}

#[cfg(unix)]
#[test]
fn files_that_a_tool_adds_to_an_application_are_packed() {
    let fixture = Fixture::new("app", COMPLETE);
    fixture.write("macos", None).unwrap();
    let unsigned = fixture.outputs();
    // A copy has the same files, modes and bytes.
    let tool = SigningTool::parse("cp -R {in} {out}").unwrap();
    fixture.write("macos", Some(&tool)).unwrap();
    assert!(fixture.outputs() == unsigned, "the bytes differ");
}

#[test]
fn desktop_files_have_the_settings_of_the_game() {
    let fixture = Fixture::new("desktop", COMPLETE);
    let folder = fixture.root.join("game");
    let settings = PackageSettings::read(&folder, "linux", "game").unwrap();
    let licenses = LicenseTexts::read(&folder, "linux", &settings).unwrap();
    let program = Content::bytes("program");
    let game = GameFiles { settings, licenses, icon_pictures: Vec::new(), program };
    let text = |archive: &Archive, path: &str| {
        let entry = archive.files().find(|(known, _)| *known == path).expect(path).1.clone();
        let mut bytes = Vec::new();
        entry.content.write_to(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let portable = linux::portable(&game);
    let desktop = text(&portable, "share/applications/com.example.Yard.desktop");
    assert!(desktop.contains("\nName=Émile's Yard & more\n"), "{desktop}");
    assert!(desktop.contains("\nExec=yard\n") && !desktop.contains("Icon="), "{desktop}");
    assert!(desktop.ends_with("\nCategories=Game;LogicGame;\n"), "{desktop}");
    let metainfo = text(&portable, "share/metainfo/com.example.Yard.metainfo.xml");
    assert!(metainfo.contains("<name>Émile's Yard &amp; more</name>"), "{metainfo}");
    assert!(metainfo.contains("<lang>pt_BR</lang>"), "{metainfo}");
    assert_eq!(text(&portable, "licenses/game-1-OFL.txt"), "The font's licence");
    let (control, installed) = linux::debian(&game, "amd64", Some((2, 28)));
    assert!(control.contains("\nDepends: libc6 (>= 2.28), libgcc-s1\n"), "{control}");
    assert!(control.contains("\nMaintainer: Émile <help@example.com>\n"), "{control}");
    let wanted = "\nDescription: Dig\n Émile's Yard & more: Dig.\n";
    assert!(control.ends_with(wanted), "{control}");
    let entry = text(&installed, "usr/share/applications/com.example.Yard.desktop");
    assert!(entry.contains("\nExec=/usr/games/yard-game\n"), "{entry}");
    let application =
        macos::application(&game, Content::bytes("engine"), &[], Content::bytes("bundle"), b"");
    let plist = text(&application, "Émile's Yard & more.app/Contents/Info.plist");
    assert!(plist.contains("<string>Émile's Yard &amp; more</string>"), "{plist}");
    let wanted = "<key>LSApplicationCategoryType</key>\n  \
                  <string>public.app-category.puzzle-games</string>";
    assert!(plist.contains(wanted), "{plist}");
}

#[test]
fn folders_of_stores_have_the_files_of_each_platform() {
    let fixture = Fixture::new("stores", COMPLETE);
    let steam = SteamApp::parse("480:linux=481,windows=482,macos=483").unwrap();
    let itch = ItchPage::parse("example/yard").unwrap();
    let stores = StoreTargets { steam: Some(steam), itch: Some(itch), flatpak: true };
    let out = fixture.root.join("out");
    let platforms = ["linux", "windows", "macos"];
    for platform in platforms {
        fixture.write_for_stores(platform, None, &stores).unwrap();
    }
    for file in [
        "steam/content/linux/yard",
        "steam/content/windows/yard.exe",
        "steam/content/macos/Émile's Yard & more.app/Contents/Info.plist",
        "itch/linux/licenses/game-1-OFL.txt",
        "itch/windows/.itch.toml",
        "itch/mac/.itch.toml",
        "flatpak/files/yard",
    ] {
        assert!(out.join(file).is_file(), "{file}");
    }
    let toml = fs::read_to_string(out.join("itch/windows/.itch.toml")).unwrap();
    assert_eq!(toml, "[[actions]]\nname = \"play\"\npath = \"yard.exe\"\n");
    // A file of an older version is not uploaded again.
    fs::write(out.join("steam/content/linux/old"), "").unwrap();
    fixture.write_for_stores("linux", None, &stores).unwrap();
    assert!(!out.join("steam/content/linux/old").exists());
    let sources = platforms.map(|platform| {
        PackageSources::read(&fixture.root.join("game"), "game", platform).unwrap()
    });
    let all: Vec<_> = platforms.into_iter().zip(&sources).collect();
    let written = stores.write_scripts(&out, &stores.scripts(&all).unwrap()).unwrap();
    let manifest = format!("flatpak/{}.json", sources[0].settings.app_id);
    let wanted = ["steam/app_build.vdf", "steam/notes.txt", "itch/push.sh", manifest.as_str()];
    assert_eq!(written, wanted.map(|name| out.join(name)));
}

#[test]
fn packages_for_servers_have_the_engine_and_a_container_file() {
    let settings = "package = { title = \"Yard\", version = \"1.2\" }";
    let mut fixture = Fixture::new("server", settings);
    fixture.kind = EngineKind::Server;
    let outputs = fixture.write("linux", None).unwrap();
    let path = fixture.root.join("linux");
    let player_note = format!(
        "'{}' has windows, graphics and sound: packaging/server.sh builds a smaller engine for \
         servers",
        path.display()
    );
    let glibc_note = "the engine needs glibc 2.28 or newer";
    assert_eq!(outputs[0].notes, [player_note.as_str(), glibc_note]);
    // The marks of engines for servers are written as the executables have them.
    let headless = [fs::read(&path).unwrap(), b"engine executable for servers;".to_vec()].concat();
    fs::write(&path, &headless).unwrap();
    let outputs = fixture.write("linux", None).unwrap();
    let commands_note = format!(
        "'{}' has the compilers, tools and tests of development: packaging/server.sh builds a \
         smaller engine for servers",
        path.display()
    );
    assert_eq!(outputs[0].notes, [commands_note.as_str(), glibc_note]);
    fs::write(&path, [headless, b"engine executable for bundles;".to_vec()].concat()).unwrap();
    let outputs = fixture.write("linux", None).unwrap();
    assert_eq!(outputs.len(), 1, "a server has no .deb");
    assert_eq!(outputs[0].notes, [glibc_note]);
    fixture.write("windows", None).unwrap();
    let first = fixture.outputs();
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["yard-1.2-server-linux-x86_64.tar.xz", "yard-1.2-server-windows-x86_64.zip"]
    );
    fixture.write("linux", None).unwrap();
    fixture.write("windows", None).unwrap();
    assert!(fixture.outputs() == first, "the bytes differ");
}

/// The program `tar` of the system finds out the compression.
#[cfg(target_os = "linux")]
#[test]
fn packages_for_servers_are_unpacked_by_tar() {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;
    let mut fixture = Fixture::new("unpack", "package = { title = \"Yard\", version = \"1.2\" }");
    fixture.kind = EngineKind::Server;
    let has_xz = Command::new("xz").arg("--version").output().is_ok_and(|it| it.status.success());
    for (compression, ending) in [(Compression::Gzip, "tar.gz"), (Compression::Xz, "tar.xz")] {
        fixture.compression = compression;
        let outputs = fixture.write("linux", None).unwrap();
        let name = format!("yard-1.2-server-linux-x86_64.{ending}");
        assert_eq!(outputs[0].path.file_name().unwrap().to_str(), Some(name.as_str()));
        if compression == Compression::Xz && !has_xz {
            eprintln!("skipped: tar needs the program xz");
            continue;
        }
        let unpacked = fixture.root.join(ending);
        fs::create_dir(&unpacked).unwrap();
        let mut tar = Command::new("tar");
        tar.arg("-xf").arg(&outputs[0].path).arg("-C").arg(&unpacked);
        assert!(tar.status().expect("tar runs").success());
        let folder = unpacked.join("yard-1.2-server");
        let mode = fs::metadata(folder.join("engine")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let engine = fs::read(folder.join("engine")).unwrap();
        assert!(engine == fs::read(fixture.root.join("linux")).unwrap());
        let bundle = fs::read(folder.join("game.bundle")).unwrap();
        assert!(bundle == fs::read(fixture.root.join("game.bundle")).unwrap());
        assert!(folder.join("Containerfile").is_file() && folder.join("SERVER.txt").is_file());
    }
}

#[test]
fn the_container_runs_the_bundle_with_a_folder_for_saves() {
    let fixture = Fixture::new("container", COMPLETE);
    let folder = fixture.root.join("game");
    let settings = PackageSettings::read(&folder, "linux", "game").unwrap();
    let licenses = LicenseTexts::read(&folder, "linux", &settings).unwrap();
    let game =
        GameFiles { settings, licenses, icon_pictures: Vec::new(), program: Content::default() };
    let files = |platform: &str| {
        let engine = EngineFile::read(&fixture.root.join(platform)).unwrap();
        server::portable(&game, &engine, Content::bytes("bundle"))
    };
    let (linux, windows) = (files("linux"), files("windows"));
    let paths = |files: &Archive| -> Vec<String> {
        let paths = files.files().map(|(path, _)| path.to_string());
        paths.filter(|path| !path.starts_with("licenses/")).collect()
    };
    assert_eq!(paths(&linux), ["Containerfile", "SERVER.txt", "engine", "game.bundle"]);
    assert_eq!(paths(&windows), ["SERVER.txt", "engine.exe", "game.bundle"]);
    assert!(linux.files().all(|(path, entry)| entry.executable == (path == "engine")));
    let text = |files: &Archive, path: &str| {
        let entry = files.files().find(|(known, _)| *known == path).unwrap().1.clone();
        let mut bytes = Vec::new();
        entry.content.write_to(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let container = text(&linux, "Containerfile");
    assert!(container.contains(" -t yard-server .\n"), "{container}");
    let run = "ENTRYPOINT [\"/server/engine\", \"run\", \"/server/game.bundle\", \"--headless\", \
               \"--realtime\"]\n";
    assert!(container.ends_with(run), "{container}");
    assert!(container.contains("\nENV ENGINE_SAVE_DIR=/saves\n"), "{container}");
    assert!(
        container.contains("# The engine needs glibc 2.28 or newer and libgcc.\n"),
        "{container}"
    );
    assert!(!container.contains("Émile"), "no text of the game is in it: {container}");
    let notes = text(&windows, "SERVER.txt");
    let wanted = "Émile's Yard & more 1.2: server\n\n    engine.exe run game.bundle --headless";
    assert!(notes.starts_with(wanted) && !notes.contains("Containerfile"), "{notes}");
    assert!(!notes.contains("chown") && !notes.contains("docker"), "{notes}");
    assert!(notes.contains("\n(Ctrl+C).") && notes.contains("%APPDATA%\\engine"), "{notes}");
    let notes = text(&linux, "SERVER.txt");
    assert!(notes.contains("\n(SIGTERM, Ctrl+C).") && notes.contains("~/.local"), "{notes}");
    for advice in ["docker run --init", "chown 65534:65534 FOLDER"] {
        assert!(notes.contains(advice), "{advice}: {notes}");
    }
    assert!(container.contains("docker run --rm --init -v yard-saves:/saves "), "{container}");
}
