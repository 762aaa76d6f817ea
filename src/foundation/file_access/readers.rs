//! The table of readers: the groups of files that the engine reads, with the maximum size of each.
//! The table in docs/security.md is generated from it, and a test compares them.

/// The location of a reader's files, which decides where links may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderRoot {
    /// A folder that other people may have filled: links must stay within it.
    Game,
    /// A folder of the user, or a path on the command line: links may lead anywhere.
    User,
}

/// A group of files that the engine reads, with its size limit.
#[derive(Debug)]
pub struct ReaderRow {
    /// Name of the row's constant.
    pub name: &'static str,
    /// Description of the files for people.
    pub files: &'static str,
    pub home: ReaderRoot,
    /// Size of the largest file that is read, in bytes.
    pub bytes_max: u64,
    /// Name of the limit's constant.
    pub limit: &'static str,
    /// Advice for staying below the limit.
    pub remedy: &'static str,
}

impl PartialEq for ReaderRow {
    fn eq(&self, other: &ReaderRow) -> bool {
        self.name == other.name
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Formats a number of bytes: `16 MiB`.
pub fn size_text(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= GIB && bytes.is_multiple_of(GIB) => format!("{} GiB", bytes / GIB),
        bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        bytes if bytes >= KIB && bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        bytes => format!("{bytes} bytes"),
    }
}

macro_rules! readers {
    ($($name:ident $home:ident $limit:ident = $bytes:expr, $files:literal, $remedy:literal;)*) => {
        $(
            pub const $limit: u64 = $bytes;
            pub static $name: ReaderRow = ReaderRow {
                name: stringify!($name),
                files: $files,
                home: ReaderRoot::$home,
                bytes_max: $limit,
                limit: stringify!($limit),
                remedy: $remedy,
            };
        )*
        /// All readers.
        pub static READERS: &[&ReaderRow] = &[$(&$name),*];
    };
}

readers! {
    SETTINGS Game SETTINGS_BYTES_MAX = MIB,
        "`settings.sjson`",
        "keep data in `.config` files";
    SCRIPT Game SCRIPT_BYTES_MAX = 16 * MIB,
        "Scripts: modules, scripts of workers, test files and their helpers",
        "split it into modules";
    SOURCE_TEXT Game SOURCE_TEXT_BYTES_MAX = 64 * MIB,
        "The engine's own formats: units, levels, materials, packages, shaders' blocks, texts",
        "split it";
    SOURCE Game SOURCE_BYTES_MAX = GIB,
        "Common formats, and files that a source names: pictures, models with their buffers and \
         pictures, sounds, fonts and their pages, maps and tile sets, shaders, binary data",
        "split it or lower its quality";
    SUITE_CONFIG Game SUITE_CONFIG_BYTES_MAX = MIB,
        "`.busted`, and its file of excluded names",
        "shorten it";
    GOLDEN Game GOLDEN_BYTES_MAX = 64 * MIB,
        "Snapshots and screenshots that a suite compares with",
        "write it again: engine test --update-golden";
    WATCHED Game WATCHED_BYTES_MAX = 16 * MIB,
        "Files that `engine test --watch` compares by content; larger ones by size and times",
        "none is needed";
    INDEX Game INDEX_BYTES_MAX = 256 * MIB,
        "The index of compiled data",
        "remove the folder of compiled data";
    COMPILED Game COMPILED_BYTES_MAX = 2 * GIB,
        "Compiled data",
        "remove the folder of compiled data";
    SESSION Game SESSION_BYTES_MAX = 64 * KIB,
        "`.engine/session.json`",
        "remove it";
    STAMP Game STAMP_BYTES_MAX = 4 * KIB,
        "`.engine/definitions/written_by.txt`",
        "remove it";
    HISTORY Game HISTORY_BYTES_MAX = MIB,
        "`.engine/console_history.txt`",
        "remove it";
    TEST_RECORDING Game TEST_RECORDING_BYTES_MAX = 256 * MIB,
        "Recordings that `engine test` finds",
        "record a shorter run";
    RECORDING User RECORDING_BYTES_MAX = 256 * MIB,
        "A recording that `--replay` names",
        "record a shorter run";
    SAVE User SAVE_BYTES_MAX = 128 * MIB,
        "A save",
        "remove it";
    USER_SETTINGS User USER_SETTINGS_BYTES_MAX = 16 * MIB,
        "`user_settings.sjson` in the save folder",
        "remove it";
    TOOL_ADDRESSES User TOOL_ADDRESSES_BYTES_MAX = 64 * KIB,
        "`tools.json` in the save folder",
        "remove it";
    REPORT User REPORT_BYTES_MAX = 64 * MIB,
        "A crash report or log that `engine report` shows",
        "open it in an editor";
    FONT_INPUT User FONT_INPUT_BYTES_MAX = 256 * MIB,
        "A font and its pages that `engine font` converts",
        "export smaller pages";
    DROPPED User DROPPED_BYTES_MAX = 256 * MIB,
        "A file that the player drops on the window",
        "drop a smaller file";
    LICENSE Game LICENSE_BYTES_MAX = MIB,
        "A licence that `engine package` puts into packages",
        "shorten it";
    PACKAGE_ICON Game PACKAGE_ICON_BYTES_MAX = 32 * MIB,
        "The icon of packages",
        "make it smaller";
    ENGINE_EXECUTABLE User ENGINE_EXECUTABLE_BYTES_MAX = GIB,
        "An executable of the engine, of which `engine package` makes packages",
        "build it without symbols";
    APPIMAGE_RUNTIME User APPIMAGE_RUNTIME_BYTES_MAX = 16 * MIB,
        "The runtime that `engine package` puts in front of AppImages",
        "name the runtime alone, without an image";
    PAGE User PAGE_BYTES_MAX = 64 * MIB,
        "A page that `engine docs --markdown` replaces",
        "remove it";
}
