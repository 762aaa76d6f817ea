//! The engine's own Lua, embedded, in the order of its boot.

/// One file.
#[derive(Clone, Copy)]
pub struct File {
    /// Below lua/, without its ending.
    pub name: &'static str,
    pub text: &'static str,
    /// What build.rs made of the text. A program that was built on another kind of machine than it
    /// runs on may find it of no use: LuaJIT says so when it is loaded, and the text is compiled.
    pub bytecode: &'static [u8],
}

macro_rules! file {
    ($name:literal) => {
        File {
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

/// What every VM boots, in order.
pub const FILES: &[File] = files![
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

/// What stands last, when everything else is there.
pub const LAST: File = file!("sandbox");

/// The test library, for `engine test` alone.
pub const TEST_FILES: &[File] = files![
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

/// What suites without the sandbox have beside it.
pub const LIBRARY_FILES: &[File] = files!["test/lfs"];

/// The files of a boot, without the last.
pub fn files(tests: bool, sandbox: bool) -> impl Iterator<Item = File> {
    let library = if tests && !sandbox { LIBRARY_FILES } else { &[] };
    let tests = if tests { TEST_FILES } else { &[] };
    FILES.iter().chain(tests).chain(library).copied()
}
