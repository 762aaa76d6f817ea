//! Tests of installers: what the tables say about a game.

use super::super::archive::test_readers::{read_cabinet, read_compound_file};
use super::super::licenses::LicenseTexts;
use super::database::tests::{Streams, read_table};
use super::*;
use std::fs;

const COMPLETE: &str = r#"
package = {
  id = "com.example.Yard", title = "Yard: Émile's [game]", version = "1.2", file_name = "yard"
  author = "Émile", email = "help@example.com", website = "https://example.com"
  summary = "Dig"
}
"#;

/// Reads settings as a game's folder has them.
fn read_settings(name: &str, text: &str) -> PackageSettings {
    let folder = std::env::temp_dir().join(format!("engine-{}-msi-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.sjson"), text).unwrap();
    let settings = PackageSettings::read(&folder, "windows", "game").unwrap();
    let checked = check_version(&settings, &folder, "windows");
    fs::remove_dir_all(&folder).unwrap();
    checked.unwrap();
    settings
}

fn files(program: &str) -> Archive {
    let mut files = Archive::default();
    files.add_program("yard.exe", Content::bytes(program));
    files.add("licenses/engine-mit.txt", Content::bytes("A licence"));
    files
}

fn make(settings: &str, program: &str, icon: Option<Vec<u8>>) -> Vec<u8> {
    let name = format!("{}{}", settings.len(), program.len());
    let settings = read_settings(&name, settings);
    let game = GameFiles {
        settings,
        licenses: LicenseTexts::default(),
        icon_pictures: Vec::new(),
        program: Content::default(),
    };
    let content = installer(&game, &files(program), icon, "x86_64").unwrap();
    let mut bytes = Vec::new();
    content.write_to(&mut bytes).unwrap();
    bytes
}

fn property(streams: &Streams, name: &str) -> String {
    let rows = read_table(streams, "Property");
    rows.into_iter().find(|row| row[0] == name).map(|row| row[1].clone()).unwrap_or_default()
}

fn row(streams: &Streams, table: &str, key: &str) -> Vec<String> {
    let rows = read_table(streams, table);
    rows.into_iter().find(|row| row[0] == key).unwrap_or_else(|| panic!("{key} in {table}"))
}

#[test]
fn tables_have_the_files_and_names_of_the_game() {
    let streams = read_compound_file(&make(COMPLETE, "MZ program", Some(b"icon".to_vec())));
    let cabinet = &streams[&database::stream_name("game.cab", false)];
    let wanted = [("File0", "A licence"), ("File1", "MZ program")];
    let wanted = wanted.map(|(name, text)| (name.to_string(), text.as_bytes().to_vec()));
    assert_eq!(read_cabinet(cabinet), wanted);
    let wanted = ["1", "2", "", "#game.cab", "", ""];
    assert_eq!(read_table(&streams, "Media"), [wanted]);
    let program = row(&streams, "File", "File1");
    let wanted = ["INSTALLFOLDERComponent", "F1.EXE|yard.exe", "10", "1.2.0.0", "1033", "", "2"];
    assert_eq!(program[1..], wanted);
    let licence = row(&streams, "File", "File0");
    let wanted = ["Folder0Component", "F0.TXT|engine-mit.txt", "9", "", "", "", "1"];
    assert_eq!(licence[1..], wanted);
    let folder = |key: &str| row(&streams, "Directory", key)[1..].join(" ");
    assert_eq!(folder("INSTALLFOLDER"), "ProgramsFolder GAME|com.example.Yard");
    assert_eq!(folder("Folder0"), "INSTALLFOLDER D0|licenses");
    assert_eq!(folder("ProgramsFolder"), "LocalAppDataFolder Programs");
    assert_eq!(folder("TARGETDIR"), " SourceDir");
    let shortcut = row(&streams, "Shortcut", "GameShortcut");
    assert_eq!(
        shortcut[1..5],
        ["ProgramMenuFolder", "GAME|Yard Émile's [game]", "INSTALLFOLDERComponent", "[#File1]"]
    );
    for (name, value) in [
        ("ProductName", "Yard: Émile's [game]"),
        ("ProductVersion", "1.2.0"),
        ("Manufacturer", "Émile"),
        ("ARPPRODUCTICON", "game.ico"),
        ("ARPCONTACT", "help@example.com"),
        ("ARPURLINFOABOUT", "https://example.com"),
        ("ALLUSERS", ""),
    ] {
        assert_eq!(property(&streams, name), value, "{name}");
    }
    assert_eq!(streams[&database::stream_name("Icon.game.ico", false)], b"icon");
    // Each folder is removed, and each component has a value of the user who installs.
    let removed: Vec<String> =
        read_table(&streams, "RemoveFile").into_iter().map(|row| row[3].clone()).collect();
    assert_eq!(removed, ["INSTALLFOLDER", "Folder0", "ProgramsFolder"]);
    let values = read_table(&streams, "Registry");
    assert_eq!(values.len(), 2);
    for component in read_table(&streams, "Component") {
        let value = values.iter().find(|value| value[0] == component[5]).unwrap();
        assert_eq!((&*value[1], &*value[2]), ("1", "Software\\com.example.Yard"));
        assert_eq!((&component[3], &value[5]), (&"260".to_string(), &component[0]));
    }
    let summary = &streams[&SUMMARY_STREAM.encode_utf16().collect::<Vec<u16>>()];
    assert!(summary.windows(9).any(|bytes| bytes == b"x64;1033\0"));
}

#[test]
fn identifiers_follow_the_game_and_its_builds() {
    let read = |settings: &str, program: &str| {
        let streams = read_compound_file(&make(settings, program, None));
        let [upgrade, product] =
            ["UpgradeCode", "ProductCode"].map(|name| property(&streams, name));
        let component = row(&streams, "Component", "INSTALLFOLDERComponent")[1].clone();
        (upgrade, product, component, streams)
    };
    let (upgrade, product, component, streams) = read(COMPLETE, "program");
    assert_eq!(property(&streams, "ARPPRODUCTICON"), "");
    let mut rows = read_table(&streams, "Upgrade");
    rows.sort();
    let (this, null) = ("1.2.0", "");
    assert_eq!(rows[0], [&*upgrade, "0.0.0", this, null, "768", null, "OLDERVERSIONFOUND"]);
    assert_eq!(rows[1], [&*upgrade, this, null, null, "2", null, "NEWERVERSIONFOUND"]);
    // Another version, another build, and another text in the list of programs.
    for (settings, program) in [
        (COMPLETE.replace("1.2", "1.3"), "program"),
        (COMPLETE.to_string(), "programs"),
        (COMPLETE.replace("help@", "mail@"), "program"),
        (COMPLETE.replace("com.example.Yard", "com.example.yard"), "program"),
    ] {
        let (same_upgrade, other_product, same_component, _) = read(&settings, program);
        assert_eq!((same_upgrade, same_component), (upgrade.clone(), component.clone()));
        assert_ne!(other_product, product);
    }
    let other_game = COMPLETE.replace("com.example.Yard", "com.example.Yarn");
    let (other_upgrade, _, other_component, _) = read(&other_game, "program");
    assert!(other_upgrade != upgrade && other_component != component);
    assert!(make(COMPLETE, "program", None) == make(COMPLETE, "program", None));
}

#[test]
fn names_that_windows_reserves_are_no_folders() {
    let settings = COMPLETE.replace("com.example.Yard", "con.example.Yard");
    let streams = read_compound_file(&make(&settings, "program", None));
    let folder = row(&streams, "Directory", "INSTALLFOLDER");
    assert_eq!(folder[2], "GAME|game.con.example.Yard");
    // The longest path has room in the 260 letters of Windows, below a long name of a user.
    let id = format!("com.{}", "a".repeat(settings::APP_ID_BYTES_MAX - 4));
    let parts = [r"C:\Users\", &"u".repeat(20), r"\AppData\Local\Programs\", &id, r"\licenses\"];
    let file = format!("game-100-{}", "x".repeat(30));
    assert!(parts.concat().len() + file.len() < 260);
}

#[test]
fn large_versions_are_refused_with_their_line() {
    let check = |name: &str, text: &str| {
        let folder = std::env::temp_dir().join(format!("engine-{}-ver-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("settings.sjson"), text).unwrap();
        let settings = PackageSettings::read(&folder, "windows", "game").unwrap();
        let checked = check_version(&settings, &folder, "windows");
        fs::remove_dir_all(&folder).unwrap();
        checked.map_err(|error| error.message)
    };
    assert_eq!(check("most", "version = \"255.255.65535\""), Ok(()));
    assert_eq!(check("none", ""), Ok(()));
    let message =
        check("major", "name = \"x\"\npackage = {\n version = \"2026.1\"\n}").unwrap_err();
    let wanted = "settings.sjson:3: 'package.version' is '2026.1', which installers of Windows \
                  refuse: their first number is at most 255 and their second at most 255 \
                  (VERSION_MAX); make the numbers smaller, or leave out --msi";
    assert_eq!(message, wanted);
    let message = check("minor", "version = \"1.256.0\"").unwrap_err();
    assert!(message.starts_with("settings.sjson:1: 'version' is '1.256.0'"), "{message}");
    let text = "windows = {\n package = { version = \"300\" } }\nversion = \"1\"";
    let message = check("block", text).unwrap_err();
    assert!(message.starts_with("settings.sjson:2: 'package.version' is '300'"), "{message}");
}

#[test]
fn too_large_games_and_unknown_processors_are_refused() {
    let settings = read_settings("large", COMPLETE);
    let licenses = LicenseTexts::default();
    let program = Content::default();
    let game = GameFiles { settings, licenses, icon_pictures: Vec::new(), program };
    let mut large = files("program");
    large.add("large.exe", Content::file("lost", CABINET_BYTES_MAX));
    let refused = |files: &Archive, architecture: &str| {
        installer(&game, files, None, architecture).map(|_| ()).unwrap_err().message
    };
    let message = refused(&large, "x86_64");
    let wanted = "the files have 2147450896 bytes, and installers of Windows at most 2147450880 \
                  (CABINET_BYTES_MAX): leave out --msi, ";
    assert!(message.starts_with(wanted), "{message}");
    let message = check_size(1 << 31).unwrap_err().message;
    let wanted = "the installer would have 2147483648 bytes, and 2147483136 is the most ";
    assert!(message.starts_with(wanted), "{message}");
    assert!(check_size(FILE_BYTES_MAX).is_ok());
    let wanted = "there are no installers of Windows for riscv64";
    assert_eq!(refused(&files("program"), "riscv64"), wanted);
    assert!(installer(&game, &files("program"), None, "aarch64").is_ok());
}
