//! The table of all settings: keys, types, ranges, defaults and descriptions.

use super::release_settings::RELEASE_SETTINGS;
use super::settings::{Setting, SettingType};

impl Setting {
    /// Marks the setting as live.
    pub(super) const fn live(self) -> Setting {
        Setting { live: true, ..self }
    }
}

pub(super) const fn setting(
    key: &'static str,
    kind: SettingType,
    default: &'static str,
    doc: &'static str,
) -> Setting {
    Setting { key, kind, default, doc, live: false }
}

/// All settings. The reference, the validation and the defaults are derived from this table.
pub const SETTINGS: &[Setting] = &joined::<{ ENGINE.len() + RELEASE_SETTINGS.len() }>();

/// Returns the settings of the engine and those of releases.
const fn joined<const COUNT: usize>() -> [Setting; COUNT] {
    let mut all = [ENGINE[0]; COUNT];
    let mut i = 0;
    while i < COUNT {
        let is_of_engine = i < ENGINE.len();
        all[i] = if is_of_engine { ENGINE[i] } else { RELEASE_SETTINGS[i - ENGINE.len()] };
        i += 1;
    }
    all
}

const ENGINE: &[Setting] = &[
    setting(
        "name",
        SettingType::Text,
        "\"\"",
        "The game's name, shown to people. If empty, the folder's name.",
    ),
    setting(
        "id",
        SettingType::Text,
        "\"\"",
        "The name of the folder for saves and user settings. If empty, it is derived from `name`. \
         Never change it after a release.",
    ),
    setting(
        "version",
        SettingType::Text,
        "\"0.1.0\"",
        "The game's version, for crash reports and saves. An older version does not read the saves \
         of a newer one.",
    ),
    setting("boot_script", SettingType::Text, "\"main\"", "The module that starts the game."),
    setting(
        "platforms",
        SettingType::List,
        "[]",
        "The game's own platforms, besides those of every game: names that files and blocks of \
         settings have for them, such as menu.handheld.texture. `--source-platform` chooses one.",
    ),
    setting(
        "error_window.title",
        SettingType::Text,
        "\"\"",
        "The first line of the window that tells players of a released game that an error has \
         stopped it. If empty, the window's title and \"has stopped\".",
    ),
    setting(
        "error_window.text",
        SettingType::Text,
        "\"An error has stopped the game. Please send this report to the people who made it:\"",
        "The text of that window. The path of the report and the address follow.",
    ),
    setting(
        "error_window.address",
        SettingType::Text,
        "\"\"",
        "The address of mail or of the web that players send crash reports to. That window, the \
         reports and messages before the window name it. If empty, package.email, else \
         package.website.",
    ),
    setting(
        "error_window.hint",
        SettingType::Text,
        "\"Press Escape, or close the window, to end the game.\"",
        "The last line of that window.",
    ),
    setting(
        "log.files",
        SettingType::Number(0.0, 100.0),
        "5",
        "The number of log files kept in `logs` of the save folder, each at most 4 MiB. Only runs \
         that are paced by the clock are logged. 0: none.",
    ),
    setting(
        "lua.jit",
        SettingType::Boolean,
        "true",
        "If true, scripts are compiled to machine code while they run.",
    ),
    setting(
        "limits.lua_memory_mib",
        SettingType::Number(16.0, 65536.0),
        "1024",
        "The maximum memory of scripts, in MiB. More is an error.",
    ),
    setting(
        "limits.engine_memory_mib",
        SettingType::Number(16.0, 65536.0),
        "2048",
        "The maximum memory that the engine holds for the game, in MiB, without that of scripts: \
         resources, units, pending saves, workers. More is an error.",
    ),
    setting(
        "limits.update_seconds",
        SettingType::Number(0.05, 3600.0),
        "2",
        "The maximum CPU time of one callback, in seconds. A callback that takes longer is stopped \
         with an error.",
    )
    .live(),
    setting(
        "limits.init_seconds",
        SettingType::Number(0.05, 3600.0),
        "10",
        "The maximum CPU time for loading the boot script and for `init`, and for each file of \
         nodes that the tool page or a check loads, in seconds.",
    )
    .live(),
    setting(
        "limits.worker_seconds",
        SettingType::Number(0.05, 86400.0),
        "10",
        "The maximum CPU time of a worker between two messages that it waits for, in seconds. The \
         option `seconds` of Worker.start sets it for one worker.",
    )
    .live(),
    setting(
        "limits.worker_memory_mib",
        SettingType::Number(16.0, 65536.0),
        "256",
        "The maximum memory of the scripts of one worker, in MiB. More is an error in that worker.",
    )
    .live(),
    setting(
        "limits.flow_nodes",
        SettingType::Number(100.0, 10_000_000.0),
        "10000",
        "The maximum number of nodes of a graph that run for one event. More end it with an error.",
    )
    .live(),
    setting(
        "limits.flow_events",
        SettingType::Number(10.0, 1_000_000.0),
        "1000",
        "The maximum number of events that a graph gets in one update because of each other.",
    )
    .live(),
    setting(
        "collector.milliseconds",
        SettingType::Number(0.05, 1000.0),
        "1",
        "The time for Lua's garbage collector at the end of each frame, in milliseconds.",
    )
    .live(),
    setting(
        "collector.ceiling_mib",
        SettingType::Number(0.0, 65536.0),
        "0",
        "The heap size above which the collector works harder, in MiB. 0: twice the size of the \
         live objects, plus 64 MiB.",
    )
    .live(),
    setting(
        "tasks.priorities.physics",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that moves actors, among the tasks of an update. 31 runs first.",
    )
    .live(),
    setting(
        "tasks.priorities.animation",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that evaluates the poses of characters. 31 runs first.",
    )
    .live(),
    setting(
        "tasks.priorities.scene_graph",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that computes the transforms of units' nodes. 31 runs first.",
    )
    .live(),
    setting(
        "tasks.priorities.sprites",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that plays the frames of sprites. 31 runs first.",
    )
    .live(),
    setting(
        "tasks.priorities.particles",
        SettingType::Number(0.0, 31.0),
        "15",
        "The priority of the task that moves particles. 31 runs first.",
    )
    .live(),
    setting(
        "physics.gravity",
        SettingType::Number(-1000.0, 1000.0),
        "9.81",
        "The downward acceleration by gravity in new worlds, in metres per second squared.",
    ),
    setting(
        "physics.steps_per_second",
        SettingType::Number(10.0, 1000.0),
        "60",
        "The number of physics steps per second in new worlds. Frames between two steps are \
         interpolated.",
    ),
    setting(
        "console.key",
        SettingType::Text,
        "\"grave\"",
        "The name of the key that opens and closes the console. \"\": no console.",
    ),
    setting(
        "debugger.pauses_sound",
        SettingType::Boolean,
        "true",
        "If true, sounds pause while the debugger stops a script; otherwise they continue.",
    )
    .live(),
    setting(
        "restart.key",
        SettingType::Text,
        "\"f5\"",
        "The name of the key that restarts the game, in development. \"\": no key does.",
    ),
    setting(
        "reload.respawn",
        SettingType::Boolean,
        "false",
        "If true, saving a unit's file replaces the nodes and components of its spawned units, and \
         saving a map's file the tiles of the maps that scripts created (see hot reload).",
    )
    .live(),
    setting(
        "time_step",
        SettingType::List,
        "[\"smoothing\", 11, 2, 0.1]",
        "The policy that computes the time step of a frame, as for \
         Application.set_time_step_policy.",
    )
    .live(),
    setting(
        "window.title",
        SettingType::Text,
        "\"\"",
        "The title of the window. If empty, the game's name.",
    )
    .live(),
    setting(
        "window.width",
        SettingType::Number(1.0, 16384.0),
        "1280",
        "The initial width of the window, in logical pixels (the units of Guis).",
    )
    .live(),
    setting(
        "window.height",
        SettingType::Number(1.0, 16384.0),
        "720",
        "The initial height of the window, in logical pixels.",
    )
    .live(),
    setting(
        "window.design",
        SettingType::Size(16384),
        "[]",
        "The resolution that the game is made for, as [width, height]: the units of Guis, of the \
         cursor and of touches, in a window of any size. Without it, they are logical pixels.",
    )
    .live(),
    setting(
        "window.scaling",
        SettingType::Choice(&["fit", "fill", "stretch", "integer", "expand", "none"]),
        "\"fit\"",
        "How the picture of `window.design` fits a window of another shape: see Resolution and \
         scaling.",
    )
    .live(),
    setting(
        "window.bar_color",
        SettingType::Color,
        "\"#000000\"",
        "The colour beside a picture that does not fill the window.",
    )
    .live(),
    setting(
        "window.fullscreen",
        SettingType::Choice(&["off", "borderless", "exclusive"]),
        "\"off\"",
        "The fullscreen mode of the window, as for Window.set_fullscreen.",
    )
    .live(),
    setting(
        "window.vsync",
        SettingType::Choice(&["on", "off", "adaptive", "mailbox"]),
        "\"on\"",
        "The synchronization of frames with the monitor, as for Window.set_vsync.",
    )
    .live(),
    setting(
        "window.resizable",
        SettingType::Boolean,
        "true",
        "If true, the player can change the window's size.",
    )
    .live(),
    setting(
        "window.monitor",
        SettingType::Number(0.0, 64.0),
        "0",
        "The number of the monitor that the window opens on, from 1. 0: the desktop chooses.",
    ),
    setting(
        "render.config",
        SettingType::Text,
        "\"core\"",
        "The render config that draws worlds: the name of a resource, or one of the engine's own, \
         such as core/render/mini. `core` is the engine's own frame.",
    )
    .live(),
    setting(
        "render.smooth_edges",
        SettingType::Boolean,
        "true",
        "If true, worlds are drawn with four samples per pixel (MSAA).",
    )
    .live(),
    setting(
        "render.antialiasing",
        SettingType::Choice(&["none", "fxaa", "smaa"]),
        "\"none\"",
        "Smoothing of the image of worlds after tone mapping, in addition to \
         `render.smooth_edges`. `fxaa` smooths edges by their contrast, `smaa` straightens them.",
    )
    .live(),
    setting(
        "render.scale",
        SettingType::Number(0.25, 2.0),
        "1",
        "The width and height of the images of worlds, as a factor for those of their views. Less \
         than 1 is faster and blurred, and more than 1 is slower and smoother. Guis are not \
         scaled.",
    )
    .live(),
    setting(
        "render.frame_ms",
        SettingType::Number(0.0, 1000.0),
        "0",
        "Dynamic resolution: the milliseconds that the adapter may take for a frame. If frames \
         take longer, worlds are drawn smaller, down to `render.scale_min` times \
         `render.scale`. 0: off.",
    )
    .live(),
    setting(
        "render.scale_min",
        SettingType::Number(0.25, 1.0),
        "0.5",
        "The smallest factor of dynamic resolution.",
    )
    .live(),
    setting(
        "render.shadow_texels",
        SettingType::Number(0.0, 8192.0),
        "2048",
        "The width and height of each shadow map of a sun, in texels. Shadow maps of spot lights \
         have at most half of it, and those of the six sides of omni lights a quarter. 0: no \
         shadows.",
    )
    .live(),
    setting(
        "render.shadow_atlas_texels",
        SettingType::Number(0.0, 16384.0),
        "4096",
        "The largest width and height of the texture that holds the shadow maps of all omni and \
         spot lights, in texels. Shadow maps become smaller if they do not fit.",
    )
    .live(),
    setting(
        "render.shadow_tiles_per_frame",
        SettingType::Number(1.0, 4096.0),
        "48",
        "The number of shadow maps of omni and spot lights that are drawn in one frame, if \
         something has changed in them. An omni light has six. The others follow in the next \
         frames.",
    )
    .live(),
    setting(
        "render.shadow_distance",
        SettingType::Number(1.0, 10000.0),
        "100",
        "The distance from the camera up to which suns cast shadows, in metres. A shorter distance \
         makes shadows finer.",
    )
    .live(),
    setting(
        "render.shadow_maps",
        SettingType::Number(1.0, 4.0),
        "3",
        "The number of shadow maps (cascades) that share the shadow distance. The nearest is the \
         finest.",
    )
    .live(),
    setting(
        "render.shadow_filter",
        SettingType::Choice(&["pcf", "pcss"]),
        "\"pcss\"",
        "How shadows of lights with a size are softened. `pcss`: their edges become wider with the \
         distance from the objects that cast them. `pcf`: all edges are as narrow as those of \
         lights without a size. With `low` and `medium` quality, it is `pcf`.",
    )
    .live(),
    setting(
        "render.sky_texels",
        SettingType::Number(64.0, 1024.0),
        "256",
        "The width and height of the map of a sky's light in texels, rounded down to a power of \
         two. A larger map makes mirrored skies sharper.",
    )
    .live(),
    setting(
        "render.sky_steps",
        SettingType::Number(1.0, 32.0),
        "4",
        "The steps per frame in which the light of a changing sky is updated. An update has 6 to \
         12 steps.",
    )
    .live(),
    setting(
        "render.fog_columns",
        SettingType::Number(0.0, 256.0),
        "128",
        "The number of parts side by side in which volumetric fog is computed. More make light \
         shafts finer. 0 switches volumetric fog off.",
    )
    .live(),
    setting(
        "render.quality",
        SettingType::Choice(&["auto", "low", "medium", "high", "ultra"]),
        "\"auto\"",
        "How much is drawn of the other settings and of the effects of shading environments. \
         `high` draws what they say, `low` and `medium` less, `ultra` more. `auto` is `low` if a \
         software adapter draws in a window, and otherwise `high`.",
    )
    .live(),
    setting(
        "sound.mixer",
        SettingType::Text,
        "\"main\"",
        "The mixer whose buses sounds play on. If there is no mixer `main`, the buses are effects, \
         music, voice and interface.",
    ),
    setting(
        "sound.mixed_voices",
        SettingType::Number(1.0, 512.0),
        "64",
        "The maximum number of recordings that are mixed at the same time: the most important and \
         loudest. The others continue unheard.",
    )
    .live(),
    setting(
        "sound.device",
        SettingType::Text,
        "\"default\"",
        "The output device for sound: `default`, `null`, or a name that the system lists (on \
         Linux, an ALSA name).",
    ),
    setting(
        "input.actions",
        SettingType::Free,
        "{}",
        "The game's actions and their bindings, as for Input.set_actions.",
    ),
    setting(
        "input.pads_in_background",
        SettingType::Boolean,
        "false",
        "If true, pads are read even if the window does not have the focus, for example without a \
         desktop.",
    )
    .live(),
    setting(
        "textures.nearest",
        SettingType::Boolean,
        "false",
        "If true, textures without a filter in their own settings are drawn with hard-edged \
         texels, for pixel art.",
    ),
    setting(
        "bundle.exclude",
        SettingType::List,
        "[\"**/*_test.lua\", \"**/*_spec.lua\", \"**/*.golden/**\", \"**/*.recording\", \
         \"spec/**\", \"test/**\", \"tests/**\"]",
        "The files that bundles exclude, as patterns of their paths: `*` matches any part of a \
         name, `**/` any folders. The default excludes tests.",
    )
    .live(),
    setting(
        "bundle.reachable",
        SettingType::Boolean,
        "false",
        "If true, bundles contain only resources that something uses: what can be reached from the \
         script that starts the game, from settings, packages and `content.roots`.",
    )
    .live(),
];
