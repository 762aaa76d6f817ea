//! The engine's own Lua, embedded, in the order of its boot.

/// Name and text of one file.
pub type File = (&'static str, &'static str);

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../lua/", $name, ".lua")))),*]
    };
}

/// What every VM boots, in order.
pub const FILES: &[File] = files![
    "core",
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
    "json",
    "timer",
    "tween",
    "sprite",
    "save",
    "profiler",
    "stats",
    "reload/record",
    "reload/plan",
    "modules",
    "reload/commit",
    "application",
    "input",
    "localizer",
    "worker",
    "keep",
    "unit",
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
    "commands",
    "graph",
    "memory",
    "console",
    "debug_ui",
    "debug_ui_widgets",
    "debug_ui_data",
    "tools",
    "camera",
    "frame",
];

/// What stands last, when everything else is there.
pub const LAST: File = ("sandbox", include_str!("../../lua/sandbox.lua"));

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

/// The files of a boot, without the last.
pub fn files(tests: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let tests = if tests { TEST_FILES } else { &[] };
    FILES.iter().chain(tests).copied()
}
