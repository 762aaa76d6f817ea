//! Installers for Windows: a database of Windows Installer (MSI) with a cabinet in it. It installs
//! a game for one user, which needs no rights of an administrator: the program and its licences
//! below `%LOCALAPPDATA%\Programs`, and a shortcut in the start menu. It replaces other versions,
//! and removes no saves.
//!
//! Source: the documentation of the Windows Installer SDK, "Installer Database Reference".

mod database;
mod guid;
mod schema;
mod summary;

use super::archive::{Archive, CABINET_BYTES_MAX, Content, Entry, Md5, cabinet, compound_file};
use super::file_names;
use super::game_files::GameFiles;
use super::settings::{self, PackageSettings};
use database::{Cell, Database};
use engine_foundation::{Error, error};
use engine_resource::resource_name::is_device_name;
use guid::guid;
use std::path::Path;
use summary::Summary;

pub use summary::NAME as SUMMARY_STREAM;

/// Maxima of the first two numbers of a version in Windows Installer. The third is limited like
/// those of all packages.
const VERSION_MAX: [u32; 2] = [255, 255];
/// Maximum size of an installer in bytes. Windows locks the bytes that follow.
const FILE_BYTES_MAX: u64 = 0x7fff_fe00;
const REMEDY: &str = "leave out --msi, leave files out with bundle.exclude or bundle.reachable in \
                      settings.sjson, or compress textures";
/// Maximum length of the texts that Windows lists, in characters.
const TEXT_CHARACTERS_MAX: usize = 200;

/// The class of databases that install something: {000C1084-0000-0000-C000-000000000046}.
const CLASS: [u8; 16] = [0x84, 0x10, 0x0c, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46];
const CABINET: &str = "game.cab";
const ICON: &str = "game.ico";
/// The folder of the game, and the parts of its folders' and components' names.
const GAME_FOLDER: &str = "INSTALLFOLDER";
const PROGRAMS_FOLDER: &str = "ProgramsFolder";
const MENU_FOLDER: &str = "ProgramMenuFolder";
const FEATURE: &str = "Game";
/// English of the United States, which every Windows accepts. The installer shows no texts of its
/// own but one.
const LANGUAGE: &str = "1033";

/// The registry of the user who installs.
const CURRENT_USER: i32 = 1;
/// A component is there if its registry value is; it is for 64 bits.
const COMPONENT_FLAGS: i32 = 4 | 256;
/// Both ends of a range of versions belong to it.
const UP_TO_THIS: i32 = 256 | 512;
/// Products are found, and not removed.
const ONLY_DETECT: i32 = 2;
const ON_REMOVAL: i32 = 2;
/// Kinds of actions: sets a property, and shows an error.
const SET_PROPERTY: i32 = 51;
const SHOW_ERROR: i32 = 19;

const OLDER: &str = "OLDERVERSIONFOUND";
const NEWER: &str = "NEWERVERSIONFOUND";

/// Checks that Windows Installer accepts the version of a game.
///
/// # Errors
/// Returns an error with the line of the version if a number is too large.
pub fn check_version(
    settings: &PackageSettings,
    folder: &Path,
    platform: &str,
) -> Result<(), Error> {
    let parts = settings.version.iter().zip(VERSION_MAX);
    if parts.into_iter().all(|(number, max)| *number <= max) {
        return Ok(());
    }
    let key = settings.version_key;
    let location = settings::location(folder, platform, key, None);
    let [major, minor] = VERSION_MAX;
    Err(error!(
        "{location}: '{key}' is '{}', which installers of Windows refuse: their first number is at \
         most {major} and their second at most {minor} (VERSION_MAX); make the numbers smaller, or \
         leave out --msi",
        settings.version_text()
    ))
}

/// Returns the installer of a game with these files. `icon` is an `.ico` file, `architecture` the
/// processor of the engine.
///
/// # Errors
/// Returns an error if the files are too large, if there are no installers for the processor, or if
/// a file cannot be read.
pub fn installer(
    game: &GameFiles,
    files: &Archive,
    icon: Option<Vec<u8>>,
    architecture: &str,
) -> Result<Content, Error> {
    // The second number is the oldest version of Windows Installer that knows the processor.
    let (platform, installer_version) = match architecture {
        "x86_64" => ("x64", 200),
        "aarch64" => ("Arm64", 500),
        other => return Err(error!("there are no installers of Windows for {other}")),
    };
    let total: u64 = files.files().map(|(_, entry)| entry.content.len()).sum();
    if total > CABINET_BYTES_MAX {
        return Err(error!(
            "the files have {total} bytes, and installers of Windows at most {CABINET_BYTES_MAX} \
             (CABINET_BYTES_MAX): {REMEDY}"
        ));
    }
    let settings = &game.settings;
    let content_error = |reason| error!("the installer cannot be made: {reason}");
    let named: Vec<(String, &Content)> =
        files.files().enumerate().map(|(at, (_, file))| (file_key(at), &file.content)).collect();
    let packed = Content::bytes(cabinet(&named).map_err(content_error)?);
    let mut database = Database::default();
    for table in schema::TABLES {
        database.add_table(*table);
    }
    add_folders(&mut database, settings, files);
    add_files(&mut database, settings, files);
    add_menu(&mut database, settings, files);
    add_product(&mut database, settings, icon);
    add_actions(&mut database);
    // Everything that can differ between two builds is in the identifier of the product, so that
    // each build replaces all others of its version.
    let hash = hash(&database, &packed).map_err(content_error)?;
    let (product, package) = (guid(&format!("product {hash}")), guid(&format!("package {hash}")));
    database.add("Property", ["ProductCode".into(), product.into()]);
    let mut streams = database.streams();
    let summary = summary::encode(&Summary {
        code_page: database.code_page(),
        title: &settings.title,
        author: &shortened(&settings.author),
        template: &format!("{platform};{LANGUAGE}"),
        package_code: &package,
        installer_version,
    });
    streams.push((SUMMARY_STREAM.encode_utf16().collect(), Content::bytes(summary)));
    streams.push((database::stream_name(CABINET, false), packed));
    let file = compound_file(&CLASS, streams);
    check_size(file.len())?;
    Ok(file)
}

/// Checks the size of the whole file.
fn check_size(bytes: u64) -> Result<(), Error> {
    if bytes <= FILE_BYTES_MAX {
        return Ok(());
    }
    Err(error!(
        "the installer would have {bytes} bytes, and {FILE_BYTES_MAX} is the most \
         (FILE_BYTES_MAX): {REMEDY}"
    ))
}

/// Returns the name of the stream of all texts, which every signed copy of an installer has.
pub fn pool_stream() -> Vec<u16> {
    database::stream_name("_StringPool", true)
}

/// Returns a hash of all contents.
fn hash(database: &Database, packed: &Content) -> std::io::Result<String> {
    let mut hash = Md5::default();
    for (_, content) in database.streams() {
        content.write_to(&mut hash)?;
    }
    packed.write_to(&mut hash)?;
    Ok(hash.finish())
}

/// Returns a text as the list of installed programs can show it.
fn shortened(text: &str) -> String {
    text.chars().take(TEXT_CHARACTERS_MAX).collect()
}

/// Returns the version as Windows Installer compares it: three numbers.
fn product_version(settings: &PackageSettings) -> String {
    let [major, minor, build, _] = settings.version_numbers();
    format!("{major}.{minor}.{build}")
}

/// Returns the name of the game's folder: its identifier, which no other game has.
fn folder_name(settings: &PackageSettings) -> String {
    let id = &settings.app_id;
    // Windows reserves such names with all endings: `con.example`.
    if is_device_name(id) { format!("game.{id}") } else { id.clone() }
}

fn file_key(at: usize) -> String {
    format!("File{at}")
}

/// Returns the name of a folder in the tables. Paths end in `/`, that of the root is empty.
fn folder_key(files: &Archive, path: &str) -> String {
    match files.folders().iter().position(|known| *known == path) {
        Some(at) => format!("Folder{at}"),
        None => GAME_FOLDER.to_string(),
    }
}

/// Returns the name of a folder's component, which has all of its files.
fn component_key(files: &Archive, path: &str) -> String {
    format!("{}Component", folder_key(files, path))
}

/// Splits a path into its folder, with a `/` at its end, and its name.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |at| at + 1))
}

/// Returns a name with a short one before it, as tables have them. Windows uses short names only
/// on file systems that have no others.
fn table_name(short: &str, name: &str) -> String {
    match name.rsplit_once('.') {
        Some((_, end)) if end.len() <= 3 && end.bytes().all(|c| c.is_ascii_alphanumeric()) => {
            format!("{short}.{}|{name}", end.to_ascii_uppercase())
        }
        _ => format!("{short}|{name}"),
    }
}

/// Adds the folders, a component for each of them, and their removal.
fn add_folders(database: &mut Database, settings: &PackageSettings, files: &Archive) {
    let mut folder = |key: &str, parent: &str, name: &str| {
        database.add("Directory", [key.into(), parent.into(), name.into()]);
    };
    folder("TARGETDIR", "", "SourceDir");
    folder("LocalAppDataFolder", "TARGETDIR", ".");
    folder(MENU_FOLDER, "TARGETDIR", ".");
    folder(PROGRAMS_FOLDER, "LocalAppDataFolder", "Programs");
    folder(GAME_FOLDER, PROGRAMS_FOLDER, &table_name("GAME", &folder_name(settings)));
    for (at, path) in files.folders().into_iter().enumerate() {
        let (parent, name) = split(path.trim_end_matches('/'));
        let name = table_name(&format!("D{at}"), name);
        folder(&folder_key(files, path), &folder_key(files, parent), &name);
    }
    database.add(
        "Feature",
        [
            FEATURE.into(),
            Cell::Null,
            FEATURE.into(),
            Cell::Null,
            1.into(),
            1.into(),
            Cell::Null,
            0.into(),
        ],
    );
    let id = &settings.app_id;
    for path in [""].into_iter().chain(files.folders()) {
        let (folder, component) = (folder_key(files, path), component_key(files, path));
        let id = guid(&format!("component {} {path}", id.to_ascii_lowercase()));
        let value = format!("{folder}Value");
        database.add(
            "Component",
            [
                component.as_str().into(),
                id.into(),
                folder.as_str().into(),
                COMPONENT_FLAGS.into(),
                Cell::Null,
                value.as_str().into(),
            ],
        );
        let key = format!("Software\\{}", folder_name(settings));
        database.add(
            "Registry",
            [
                value.into(),
                CURRENT_USER.into(),
                key.into(),
                folder.as_str().into(),
                format!("[{folder}]").into(),
                component.as_str().into(),
            ],
        );
        database.add("FeatureComponents", [FEATURE.into(), component.as_str().into()]);
        remove_folder(database, &folder, &component);
    }
    remove_folder(database, PROGRAMS_FOLDER, &component_key(files, ""));
}

/// Removes a folder with the game, if it is empty.
fn remove_folder(database: &mut Database, folder: &str, component: &str) {
    database.add(
        "RemoveFile",
        [
            format!("{folder}Removal").into(),
            component.into(),
            Cell::Null,
            folder.into(),
            ON_REMOVAL.into(),
        ],
    );
}

fn add_files(database: &mut Database, settings: &PackageSettings, files: &Archive) {
    let mut count = 0;
    for (at, (path, Entry { content, executable })) in files.files().enumerate() {
        let (folder, name) = split(path);
        // That of the program's resources.
        let version = format!("{}.0", product_version(settings));
        let (version, language) = match executable {
            true => (version.into(), LANGUAGE.into()),
            false => (Cell::Null, Cell::Null),
        };
        count = at as i32 + 1;
        database.add(
            "File",
            [
                file_key(at).into(),
                component_key(files, folder).into(),
                table_name(&format!("F{at}"), name).into(),
                (content.len() as i32).into(),
                version,
                language,
                Cell::Null,
                count.into(),
            ],
        );
    }
    let cabinet = format!("#{CABINET}");
    database
        .add("Media", [1.into(), count.into(), Cell::Null, cabinet.into(), Cell::Null, Cell::Null]);
}

/// Adds the shortcut. Its icon is that of the program.
fn add_menu(database: &mut Database, settings: &PackageSettings, files: &Archive) {
    let program = files.files().position(|(_, file)| file.executable);
    let program = file_key(program.expect("each package has one program"));
    let name = file_names::shortcut_name(&settings.title, &settings.file_name);
    database.add(
        "Shortcut",
        [
            "GameShortcut".into(),
            MENU_FOLDER.into(),
            format!("GAME|{name}").into(),
            component_key(files, "").into(),
            format!("[#{program}]").into(),
            Cell::Null,
            settings.summary.as_str().into(),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            1.into(),
            GAME_FOLDER.into(),
        ],
    );
}

/// Adds the names of the product, and which others it replaces.
fn add_product(database: &mut Database, settings: &PackageSettings, icon: Option<Vec<u8>>) {
    let mut property = |name: &str, value: &str| {
        // A property without a value does not exist.
        if !value.is_empty() {
            database.add("Property", [name.into(), value.into()]);
        }
    };
    let upgrade = guid(&format!("upgrade {}", settings.app_id.to_ascii_lowercase()));
    let version = product_version(settings);
    property("ProductName", &settings.title);
    property("ProductVersion", &version);
    property("ProductLanguage", LANGUAGE);
    property("Manufacturer", &shortened(&settings.author));
    property("UpgradeCode", &upgrade);
    property("SecureCustomProperties", &format!("{NEWER};{OLDER}"));
    // There are no parts to choose from.
    property("ARPNOMODIFY", "1");
    property("ARPCONTACT", &shortened(&settings.email));
    property("ARPCOMMENTS", &shortened(&settings.summary));
    property("ARPURLINFOABOUT", &shortened(&settings.website));
    // Files of two builds can differ and have the same version.
    property("REINSTALLMODE", "amus");
    if let Some(icon) = icon {
        property("ARPPRODUCTICON", ICON);
        database.add("Icon", [ICON.into(), Cell::Stream(Content::bytes(icon))]);
    }
    let mut upgrade = |min: &str, max: &str, flags: i32, found: &str| {
        database.add(
            "Upgrade",
            [
                upgrade.as_str().into(),
                min.into(),
                max.into(),
                Cell::Null,
                flags.into(),
                Cell::Null,
                found.into(),
            ],
        );
    };
    upgrade("0.0.0", &version, UP_TO_THIS, OLDER);
    upgrade(&version, "", ONLY_DETECT, NEWER);
}

fn add_actions(database: &mut Database) {
    let refusal = "A newer version of [ProductName] is installed already.";
    let mut custom = |name: &str, kind: i32, source: &str, target: &str| {
        database.add("CustomAction", [name.into(), kind.into(), source.into(), target.into()]);
    };
    custom("SetInstallLocation", SET_PROPERTY, "ARPINSTALLLOCATION", &format!("[{GAME_FOLDER}]"));
    custom("RefuseOlderVersion", SHOW_ERROR, "", refusal);
    let sequences =
        [("InstallUISequence", schema::UI_ACTIONS), ("InstallExecuteSequence", schema::ACTIONS)];
    for (table, actions) in sequences {
        for (action, number) in actions {
            database.add(table, [(*action).into(), Cell::Null, (*number).into()]);
        }
        database.add(table, ["RefuseOlderVersion".into(), NEWER.into(), 26.into()]);
    }
    let number = schema::AFTER_COSTS;
    database
        .add("InstallExecuteSequence", ["SetInstallLocation".into(), Cell::Null, number.into()]);
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
