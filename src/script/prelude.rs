//! The prelude: the engine's own Lua files, embedded in the binary in boot order.

use engine_foundation::DEVELOPMENT;

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

/// The check of debug builds, which is booted before all others (prelude_check.rs).
pub const EXPORTS: PreludeFile = file!("boot/exports");

/// The files that every VM boots, in order.
pub const FILES: &[PreludeFile] = files![
    "boot/core",
    "boot/events",
    "boot/coroutines",
    "boot/strings",
    "boot/tables",
    "boot/context",
    "math/vector",
    "math/vector2",
    "math/vector3",
    "math/vector3_space",
    "math/vector4",
    "math/quaternion",
    "math/quaternion_angles",
    "math/matrix",
    "math/matrix_pose",
    "math/color_warnings",
    "math/color",
    "math/setters",
    "math/boxed_values",
    "math/geometry",
    "math/frustum",
    "math/buffers",
    "math/float32_array",
    "text/id_string",
    "boot/script",
    "boot/class",
    "text/utf8",
    "text/json_numbers",
    "text/json",
    "time/timer",
    "time/tween",
    "gui/sprite",
    "pixels/image",
    "pixels/image_blend",
    "sound/sound_buffer",
    "boot/value_decoding",
    "debug/profiler",
    "debug/stats",
    "reload/record",
    "reload/arrays",
    "reload/plan",
    "boot/modules",
    "boot/environments",
    "reload/dry_run_globals",
    "reload/commit",
    "reload/saved_files",
    "boot/shared_data",
    "boot/user_settings",
    "boot/release_world",
    "input/bindings",
    "input/input",
    "input/keyboard",
    "text/localizer",
    "boot/worker",
    "world/user_data",
    "world/world",
    "world/unit/data",
    "world/unit/inspect",
    "world/unit/lists",
    "world/units",
    "world/respawn",
    "world/callback_names",
    "world/component_order",
    "world/component_rates",
    "world/components",
    "world/component_queries",
    "world/animation_events",
    "world/unit/has_component",
    "world/mesh",
    "world/light",
    "world/reflection_probes",
    "world/fog_volumes",
    "world/unit/rendering",
    "world/physics/queries",
    "world/physics/joints",
    "world/physics/shapes",
    "world/light_occluders",
    "world/unit/physics",
    "world/level",
    "world/level_reload",
    "flow/values",
    "flow/node_types",
    "flow/flow",
    "flow/nodes",
    "world/unit/flow",
    "world/level_flow",
    "boot/flow_callbacks",
    "world/broadphase",
    "world/navigation",
    "world/physics/snapshots",
    "world/agents",
    "gui/gui",
    "gui/text",
    "gui/lines",
    "gui/draw_arguments",
    "gui/transforms",
    "gui/rows",
    "world/tilemap",
    "world/tilemap_units",
    "gui/particles",
    "debug/line_editor",
    "debug/commands",
    "debug/graph",
    "debug/memory",
    "debug/console_scope",
    "debug/console_view",
    "debug/console",
    "debug/debug_ui",
    "debug/debug_ui_widgets",
    "debug/debug_ui_tables",
    "debug/tools",
    "debug/value_text",
    "debug/handle_values",
    "debug/coroutine_chain",
    "debug/table_pages",
    "debug/raw_lookup",
    "debug/stack_values",
    "debug/inserted_calls",
    "debug/row_breakpoints",
    "debug/breakpoint_conditions",
    "debug/moved_lines",
    "debug/breakpoints",
    "debug/text_versions",
    "debug/data_breakpoints",
    "debug/debugger",
    "debug/debug_commands",
    "world/camera",
    "boot/frame",
];

/// The file that is booted last, after all others.
pub const LAST: PreludeFile = file!("boot/sandbox");

/// The test library, for `engine test` only.
pub const TEST_FILES: &[PreludeFile] = files![
    "test/diff",
    "test/messages",
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
    "test/test_api",
    "test/fault_injection",
    "test/picture",
    "test/budget",
    "test/coverage",
];

/// Additional library files for test suites that run without the sandbox.
pub const LIBRARY_FILES: &[PreludeFile] = files!["test/lfs"];

/// Returns the files of a boot, except for the last one.
pub fn files(tests: bool, sandbox: bool) -> impl Iterator<Item = PreludeFile> {
    let tests = tests && DEVELOPMENT;
    let library = if tests && !sandbox { LIBRARY_FILES } else { &[] };
    let tests = if tests { TEST_FILES } else { &[] };
    FILES.iter().chain(tests).chain(library).copied()
}
