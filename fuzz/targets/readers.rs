//! Assignment of targets to files: each row of the engine's table of readers
//! (src/foundation/file_access/readers.rs) has its targets here, or the reason why it has none. The
//! table of reasons in docs/security.md is generated from this one.

/// Fuzzing of a reader's files.
pub enum Fuzzed {
    /// Fuzzed by these targets. A name that ends in a dot means all targets with that prefix.
    By(&'static [&'static str]),
    /// Not fuzzed, for this reason.
    Not(&'static str),
}

use Fuzzed::{By, Not};

/// The name of each reader, and the fuzzing of its files.
pub const FUZZED: &[(&str, Fuzzed)] = &[
    ("SETTINGS", By(&["text.settings"])),
    ("SCRIPT", By(&["source.lua", "use.lua", "reload.script", "text.script"])),
    ("SOURCE_TEXT", By(&["source."])),
    ("SOURCE", By(&["source.", "text.pads"])),
    (
        "SUITE_CONFIG",
        Not(
            "`.busted` is a script, and runs like the tests next to it, for at most a second; the \
             other file is split into lines",
        ),
    ),
    ("GOLDEN", By(&["source.png"])),
    ("WATCHED", Not("only their bytes are hashed")),
    ("INDEX", By(&["file.index"])),
    ("COMPILED", By(&["data.", "use.", "sound.stream", "file.bundle"])),
    ("SESSION", By(&["file.session"])),
    ("STAMP", Not("it is compared as a whole")),
    ("HISTORY", Not("it is split into lines; lines with control characters are skipped")),
    ("TEST_RECORDING", By(&["file.recording", "file.replay", "file.recorded_input"])),
    ("RECORDING", By(&["file.recording", "file.replay", "file.recorded_input"])),
    ("SAVE", By(&["file.save", "file.saved_value"])),
    ("USER_SETTINGS", By(&["file.user_settings"])),
    ("TOOL_ADDRESSES", By(&["file.tool_addresses"])),
    ("REPORT", Not("it is shown as text, with control characters written out")),
    ("FONT_INPUT", By(&["file.large_font", "source.tga", "source.png"])),
    ("DROPPED", Not("the game gets it as a string of bytes")),
    ("LICENSE", Not("it is copied as it is")),
    ("PACKAGE_ICON", By(&["source.png"])),
    ("ENGINE_EXECUTABLE", By(&["file.executable"])),
    ("APPIMAGE_RUNTIME", By(&["file.executable"])),
    ("PAGE", Not("it is compared as a whole")),
];
