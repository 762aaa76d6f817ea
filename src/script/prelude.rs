//! The prelude: the engine's own Lua files, embedded in the binary in boot order.

/// One file of the prelude.
#[derive(Clone, Copy)]
pub struct PreludeFile {
    /// Path below lua/, without the extension.
    pub name: &'static str,
    pub text: &'static str,
    /// Bytecode that build.rs compiled from the text. LuaJIT may refuse it when it is loaded, if
    /// the program was built on another kind of machine than it runs on; the text is compiled then.
    pub bytecode: &'static [u8],
}

macro_rules! file {
    ($name:literal) => {
        PreludeFile {
            name: $name,
            text: include_str!(concat!("../../lua/", $name, ".lua")),
            bytecode: include_bytes!(concat!(env!("OUT_DIR"), "/lua/", $name, ".ljbc")),
        }
    };
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(file!($name)),*]
    };
}

/// The files that every VM boots, in order.
pub const FILES: &[PreludeFile] = files![
    "core",
    "coroutines",
    "strings",
    "tables",
    "context",
    "vector",
    "vector2",
    "vector3",
    "vector3_space",
    "vector4",
    "quaternion",
    "quaternion_angles",
    "matrix",
    "matrix_pose",
    "color",
    "setters",
    "boxes",
    "geometry",
    "frustum",
    "float32_array",
    "id_string",
    "script",
    "class",
    "utf8",
    "json_numbers",
    "json",
    "timer",
    "tween",
    "sprite",
    "save",
    "profiler",
    "stats",
    "reload/record",
    "reload/arrays",
    "reload/plan",
    "modules",
    "reload/shadow",
    "reload/commit",
    "application",
    "bindings",
    "input",
    "localizer",
    "worker",
    "keep",
    "unit",
    "unit_many",
    "components",
    "mesh",
    "physics",
    "physics_units",
    "level",
    "broadphase",
    "gui",
    "gui_shapes",
    "gui_text",
    "tilemap",
    "particles",
    "typing",
    "commands",
    "graph",
    "memory",
    "lines",
    "console",
    "debug_ui",
    "debug_ui_widgets",
    "debug_ui_data",
    "tools",
    "camera",
    "frame",
];

/// The file that is booted last, after all others.
pub const LAST: PreludeFile = file!("sandbox");

/// The test library, for `engine test` only.
pub const TEST_FILES: &[PreludeFile] = files![
    "test/diff",
    "test/words",
    "test/assert",
    "test/assertions",
    "test/match",
    "test/spy",
    "test/suite",
    "test/report",
    "test/modules",
    "test/select",
    "test/log",
    "test/runner",
    "test/config",
    "test/engine",
    "test/powers",
    "test/picture",
    "test/budget",
    "test/coverage",
];

/// Additional library files for test suites that run without the sandbox.
pub const LIBRARY_FILES: &[PreludeFile] = files!["test/lfs"];

/// Returns the files of a boot, except for the last one.
pub fn files(tests: bool, sandbox: bool) -> impl Iterator<Item = PreludeFile> {
    let library = if tests && !sandbox { LIBRARY_FILES } else { &[] };
    let tests = if tests { TEST_FILES } else { &[] };
    FILES.iter().chain(tests).chain(library).copied()
}
