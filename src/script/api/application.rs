//! The Rust part of the Lua module `Application`: the process, the frame, and worlds. The other
//! parts are in the prelude: lua/boot/user_settings.lua, shared_data.lua and release_world.lua.

use crate::api::viewport;
use crate::api::window::WINDOW_ARG;
use crate::api_row::{ModuleRows, NodeFlag, func, hot, module, more};
use crate::argument::{Integer, RestArguments, TextArgument};
use crate::return_value::{ExpectedResult, ManyResults, ResourceContent, WholeNumber};
use crate::value::ScriptValue;
use engine_foundation::Error;
use engine_foundation::hash::StateHash;
use engine_foundation::memory::limit;
use engine_platform::{self as platform, browser};
use engine_resource::data_resources;
use engine_resource::package::PackageId;
use engine_resource::resource_name::ResourceName;
use engine_resource::variant::VariantPreferences;
use engine_runtime::Engine;
use engine_time_step::PolicyArgument;
use engine_window::WindowId;
use engine_world::{WorldFlags, WorldId};

pub static APPLICATION: ModuleRows = module(
    "Application",
    "The running game as a whole: its process, its frames, its worlds and its settings.",
    r#"assert(Application.platform() ~= "")
Application.set_time_step_policy("smoothing", 11, 2, 0.1, "debt_payback", 10)
Application.set_user_setting("sound", "volume", 0.5)
assert(Application.user_setting("sound", "volume") == 0.5)"#,
    &[
        func(
            "argv",
            argv,
            &[],
            "Returns the arguments after `--` on the command line, as several results.",
        )
        .pure(),
        func(
            "platform",
            platform_name,
            &[],
            "Returns the platform: \"linux\", \"windows\" or \"macos\".",
        )
        .pure(),
        func(
            "build",
            build,
            &[],
            "Returns how the game runs: \"development\" (a folder), \"test\" or \"release\" (a \
             bundle).",
        )
        .pure(),
        func("build_identifier", build_identifier, &[], "Returns the engine's version.").pure(),
        func(
            "process_id",
            process_id,
            &[],
            "Returns the operating system's number of this process.",
        )
        .pure(),
        func(
            "quit",
            quit,
            &[("code", "the process's exit code, 0 to 255; 0 if left out")],
            "Ends the game after this frame, and calls `shutdown()`.",
        )
        .when_full(),
        func(
            "restart",
            restart,
            &[],
            "Restarts the game after this frame: calls `shutdown()`, and then starts the boot \
             script in a new Lua state, with new worlds. Only the window, the devices, saves and \
             user settings stay. Frames are counted from 1 again, and random numbers begin with \
             the same seed.",
        )
        .when_full(),
        func(
            "open_url_in_browser",
            open_url_in_browser,
            &[("url", "an address that begins with http://, https:// or mailto:")],
            "Asks the desktop to open an address in the player's browser, at most once a second. \
             Returns true, or nil and the reason. Opens nothing without a window, or in runs that \
             must be repeatable.",
        )
        .returns(&["ok true, or nil on failure", "reason why it failed"]),
        func(
            "back_buffer_size",
            back_buffer_size,
            &[WINDOW_ARG],
            "Returns the width and height of the rendered picture, in pixels: the same as \
             `Window.pixel_size`.",
        )
        .returns(&["width in pixels", "height in pixels"])
        .pure(),
        func(
            "enum_display_modes",
            enum_display_modes,
            &[],
            "Returns the display modes of the monitors, for \"exclusive\" windows: a list of \
             tables with `monitor` (an index in `Window.monitors`), `width` and `height` (in \
             pixels), `refresh` (pictures a second) and `bits` (of a pixel's colour). The modes of \
             each monitor are sorted from small to large. Empty without a display. After \
             `Window.set_resolution`, such a window uses the finest mode of that size.",
        )
        .pure()
        .node(NodeFlag::Hidden),
        hot(
            "time_since_launch",
            time_since_launch,
            &[],
            "Returns the seconds of game time since the launch: the sum of the time steps of all \
             frames.",
        )
        .pure(),
        hot("delta_time", delta_time, &[], "Returns the time step of this frame, in seconds.")
            .pure(),
        hot(
            "frame_index",
            frame_index,
            &[],
            "Returns the number of this frame, from 1; 0 during `init`.",
        )
        .pure(),
        func(
            "set_time_step_policy",
            set_time_step_policy,
            &[("policy", "names of policies, each followed by its numbers")],
            "Sets how the time step of a frame is derived from measured time: \"smoothing\", \
             history, outliers, factor; \"no_smoothing\"; \"fixed\", seconds; \"throttle\", frames \
             per second; \"no_throttle\"; \"debt_payback\", frames; \"external_multiplier\", \
             factor; \"external_step_range\" or \"system_step_range\", min, max; \
             \"clear_history\". One call can set several policies. Before the first call, a frame \
             uses at most a tenth of a second of measured time: \"system_step_range\", 0, 0.1.",
        ),
        func(
            "set_property_preference_order",
            set_property_preference_order,
            &[("order", "properties, most important first; a list of them is also accepted")],
            "Sets which variants of resources are preferred (`menu.fr.texture` has the property \
             `fr`). Takes effect at the next frame: resources that then use another variant are \
             reloaded.",
        ),
        func(
            "set_resource_property_preference_order",
            set_property_preference_order,
            &[("order", "properties, most important first; a list of them is also accepted")],
            "Another name of `set_property_preference_order`, known from the Bitsquid family of \
             engines.",
        ),
        func(
            "property_preference_order",
            property_preference_order,
            &[],
            "Returns the properties that are preferred in this frame, most important first.",
        )
        .pure(),
        func(
            "can_get",
            can_get,
            &[("type", "a resource's type"), ("name", "its name")],
            "Returns true if there is a resource of that type and name, with a variant that can be \
             used now.",
        )
        .pure(),
        func(
            "resource_names",
            resource_names,
            &[("type", "a resource's type, such as \"unit\"")],
            "Returns the names of all resources of a type that can be used now, sorted. In a \
             bundle these are unknown: returns nil and the reason.",
        )
        .returns(&["names sorted, or nil in a bundle", "reason why there are none"])
        .pure(),
        func(
            "data",
            data,
            &[
                ("type", "\"text\", \"config\", \"strings\" or \"binary\""),
                ("name", "the resource's name"),
            ],
            "Returns the content of a resource of plain data: a string, or a table for \"config\" \
             and \"strings\".",
        )
        .pure(),
        func(
            "resource_package",
            resource_package,
            &[("name", "the package's name, without `.package`")],
            "Returns a new handle to a package: a set of resources that `ResourcePackage.load` \
             loads. Each call returns a separate handle.",
        ),
        func(
            "release_resource_package",
            release_resource_package,
            &[("package", "the package to release")],
            "Releases a package, and unloads it if it is loaded. Its handle is stale afterwards.",
        )
        .when_full(),
        func(
            "hash",
            hash,
            &[("values", "numbers, strings, booleans, or tables of them")],
            "Adds values to the frame's state hash. A recording keeps the hash of each frame, and \
             a replay compares it. Hash the values that must be the same in a replay.",
        )
        .pure(),
        func(
            "screenshot",
            screenshot,
            &[(
                "name",
                "the file's name without `.png`; `frame_` and the frame's number if left out",
            )],
            "Saves a picture of this frame as a PNG file in `screenshots` of the game's save \
             folder, while the game continues. Returns the file's path; the file exists some \
             frames later. If nothing is drawn, returns nil and the reason.",
        )
        .returns(&["path of the file, or nil", "reason why there is none"]),
        func(
            "settings",
            settings,
            &[],
            "Returns the settings in settings.sjson, with the defaults, as a table.",
        )
        .pure()
        .node(NodeFlag::Hidden),
        func(
            "new_world",
            new_world,
            &[(
                "flags",
                "\"2d\", \"no_physics\", \"no_rendering\", \"no_sky\", \"no_sound\", \
                 \"pipelined_physics\"",
            )],
            "Creates an empty world. \"2d\": bodies stay in the plane of x and y, up is y, sprites \
             and tile maps lie in that plane, and `World.main_camera` shows it. With \
             \"no_physics\", units have no bodies. With \"no_rendering\", the world is never \
             shown. With \"no_sky\" or \"2d\", it has no day sky and sun (see `World.set_sky`). \
             With \"no_sound\", sounds that are triggered in it are not played. Omitted systems \
             cost nothing. With \"pipelined_physics\", physics steps run in parallel with \
             scripts and rendering, and become visible one update later.",
        ),
        func(
            "main_world",
            main_world,
            &[],
            "Returns the main world. The engine creates it when it is first needed, and updates it \
             if the game has no `update`.",
        )
        .pure(),
        func(
            "main_gui",
            viewport::main_gui,
            &[],
            "Returns the main Gui: an immediate Gui on the screen, in the main world. The engine \
             creates it when it is first needed.",
        )
        .pure(),
        func(
            "main_camera",
            viewport::main_camera,
            &[],
            "Returns the main camera. The engine creates it when it is first needed.",
        )
        .pure(),
        func("create_camera", viewport::create_camera, &[], "Creates a camera, at the origin."),
        func(
            "destroy_camera",
            viewport::destroy_camera,
            &[("camera", "the camera to destroy")],
            "Destroys a camera. Its handle is stale afterwards.",
        )
        .when_full(),
        func(
            "create_viewport",
            viewport::create_viewport,
            &[
                ("texture", "the name of a new texture to use; the screen if left out"),
                ("width", "width of the texture, in pixels"),
                ("height", "height of the texture, in pixels"),
            ],
            "Creates a viewport: the screen, or a new texture. Guis and materials draw with that \
             texture by its name until the viewport is destroyed.",
        ),
        func(
            "destroy_viewport",
            viewport::destroy_viewport,
            &[("viewport", "the viewport to destroy")],
            "Destroys a viewport. Its handle is stale afterwards.",
        )
        .when_full(),
        func(
            "render_world",
            viewport::render_world,
            &[
                ("world", "the world to show"),
                (
                    "camera",
                    "the camera that shows it; the result of `World.main_camera` if left out",
                ),
                ("viewport", "the part of the screen; the whole screen if left out"),
                (
                    "environment",
                    "a shading environment of the world; the one that \
                     `ShadingEnvironment.apply` gave it if left out",
                ),
                ("window", "a window from `Window.open`; the main window if left out"),
            ],
            "Shows a world and its Guis in this frame. Call it in `render()`; if the game has no \
             `render`, the engine shows the main world. Textures are rendered before the screen. \
             They show Guis in the world, but not Guis on the screen.",
        )
        .when_full()
        .node(NodeFlag::Hidden),
        func("worlds", worlds, &[], "Returns all existing worlds, oldest slot first.").pure(),
    ],
);

/// Native functions on which the prelude's functions of `Application` are built.
pub static CORE: ModuleRows = more(
    "Application",
    &[func(
        "release_world",
        release_world,
        &[("world", "")],
        "Destroys a world and everything in it that is native.",
    )
    .public_name("Application.release_world")
    .when_full()],
);

fn argv(engine: &mut Engine) -> ManyResults {
    ManyResults(engine.game.arguments.iter().cloned().map(ScriptValue::Text).collect())
}

fn platform_name(_: &mut Engine) -> String {
    platform::NAME.to_string()
}

fn build(engine: &mut Engine) -> String {
    engine.game.build.name().to_string()
}

fn build_identifier(_: &mut Engine) -> String {
    env!("CARGO_PKG_VERSION").to_string()
}

fn process_id(_: &mut Engine) -> u64 {
    std::process::id().into()
}

fn quit(engine: &mut Engine, code: Option<Integer>) -> Result<(), Error> {
    let code = code.map_or(0, |code| code.0);
    if !(0..=255).contains(&code) {
        return Err(engine_foundation::error!("argument #1 'code' must be 0 to 255, got {code}"));
    }
    engine.frame.quit = Some(code as i32);
    Ok(())
}

fn restart(engine: &mut Engine) {
    engine.frame.restart = true;
}

fn open_url_in_browser(
    engine: &mut Engine,
    url: TextArgument,
) -> Result<ExpectedResult<bool>, Error> {
    browser::check(url.as_str())
        .map_err(|reason| engine_foundation::error!("argument #1 'url' {}", reason.message))?;
    let refusal = match (engine.game.deterministic, engine.devices.window.is_open) {
        (true, _) => Some("nothing is opened in a run that must be repeatable"),
        (false, false) => Some("nothing is opened in a run without a window"),
        (false, true) => None,
    };
    Ok(ExpectedResult(match refusal {
        Some(message) => Err(message.to_string()),
        None => browser::open_checked(url.as_str()).map(|()| true),
    }))
}

fn back_buffer_size(engine: &mut Engine, window: Option<WindowId>) -> (WholeNumber, WholeNumber) {
    let (width, height) = crate::api::window::of(engine, window).pixels;
    (WholeNumber(width.into()), WholeNumber(height.into()))
}

fn enum_display_modes(engine: &mut Engine) -> ScriptValue {
    let entry = |key: &str, number: f64| (key.to_string(), ScriptValue::Number(number));
    let modes = engine.devices.window.modes.iter().map(|mode| {
        ScriptValue::Table(vec![
            entry("bits", mode.bits.into()),
            entry("height", mode.pixels.1.into()),
            entry("monitor", mode.monitor.into()),
            entry("refresh", mode.refresh),
            entry("width", mode.pixels.0.into()),
        ])
    });
    ScriptValue::List(modes.collect())
}

fn time_since_launch(engine: &mut Engine) -> f64 {
    engine.frame.total
}

fn delta_time(engine: &mut Engine) -> f64 {
    engine.frame.delta
}

fn frame_index(engine: &mut Engine) -> u64 {
    engine.frame.index
}

fn set_time_step_policy(engine: &mut Engine, policy: RestArguments) -> Result<(), Error> {
    let mut arguments = Vec::new();
    for (i, value) in policy.0.iter().enumerate() {
        arguments.push(match value {
            ScriptValue::Text(name) => PolicyArgument::Name(name),
            ScriptValue::Number(number) => PolicyArgument::Number(*number),
            _ => {
                return Err(engine_foundation::error!(
                    "argument #{} must be a name or a number",
                    i + 1
                ));
            }
        });
    }
    engine.frame.time_step.set(&arguments).map_err(Error::new)
}

fn set_property_preference_order(engine: &mut Engine, order: RestArguments) -> Result<(), Error> {
    let items = match &order.0[..] {
        [ScriptValue::List(items)] => items,
        [ScriptValue::Table(entries)] if entries.is_empty() => &Vec::new(),
        items => items,
    };
    let mut properties = Vec::new();
    for (i, item) in items.iter().enumerate() {
        match item {
            ScriptValue::Text(word) => properties.push(word.clone()),
            _ => return Err(engine_foundation::error!("property #{} must be a string", i + 1)),
        }
    }
    let preferences = VariantPreferences::new(properties).map_err(Error::new)?;
    preferences.check_platforms(&engine.game.settings.platforms()).map_err(Error::new)?;
    engine.assets.store.prefer(preferences);
    Ok(())
}

fn property_preference_order(engine: &mut Engine) -> Vec<String> {
    engine.assets.store.preferences().properties().to_vec()
}

fn can_get(engine: &mut Engine, kind: TextArgument, name: TextArgument) -> bool {
    let name = ResourceName::new(kind.as_str(), name.as_str());
    engine.assets.store.record_request(&name);
    engine.assets.store.has(&name)
}

/// The resource kinds whose content scripts can read: the first two as raw bytes, the others as a
/// tree.
const DATA_KINDS: [&str; 4] = ["text", "binary", "config", "strings"];

fn data(
    engine: &mut Engine,
    kind: TextArgument,
    name: TextArgument,
) -> Result<ResourceContent, Error> {
    let kind = kind.as_str();
    if !DATA_KINDS.contains(&kind) {
        let hint = engine_foundation::suggest::hint(kind, DATA_KINDS);
        let known = DATA_KINDS.join(", ");
        return Err(engine_foundation::error!("'{kind}' is not plain data{hint} (known: {known})"));
    }
    let bytes = engine.assets.store.read(&ResourceName::new(kind, name.as_str()))?;
    Ok(match kind {
        "text" | "binary" => ResourceContent::Bytes(bytes),
        _ => {
            let tree = data_resources::read_tree(&bytes)?;
            limit::check_room(tree.values() * size_of::<ScriptValue>())?;
            ResourceContent::Value(ScriptValue::from_tree(&tree))
        }
    })
}

fn resource_package(engine: &mut Engine, name: TextArgument) -> Result<PackageId, Error> {
    engine.assets.packages.add(name.as_str(), &engine.assets.store)
}

fn release_resource_package(engine: &mut Engine, package: PackageId) {
    let (location, frame) = (crate::script_location(), engine.frame.index);
    engine.assets.packages.release(package, &mut engine.assets.store, frame, &location);
}

fn hash(engine: &mut Engine, values: RestArguments) {
    let mut hash = StateHash::new(0);
    values.0.iter().for_each(|value| hash_value(&mut hash, value));
    engine.frame.game_hash.record(hash.finish(), crate::script_location);
}

/// Hashes a value. Every value begins with a number for its type, so that different values never
/// produce the same bytes.
fn hash_value(hash: &mut StateHash, value: &ScriptValue) {
    match value {
        ScriptValue::Nil => hash.write_u64(0),
        ScriptValue::Boolean(value) => hash.write_u64(1 + u64::from(*value)),
        ScriptValue::Number(value) => {
            hash.write_u64(3);
            hash.write_f64(*value);
        }
        ScriptValue::Text(text) => {
            hash.write_u64(4);
            hash.write_bytes(text.as_bytes());
        }
        ScriptValue::List(items) => {
            hash.write_u64(5 + ((items.len() as u64) << 8));
            items.iter().for_each(|item| hash_value(hash, item));
        }
        ScriptValue::Table(entries) => {
            hash.write_u64(6 + ((entries.len() as u64) << 8));
            for (key, item) in entries {
                hash.write_bytes(key.as_bytes());
                hash_value(hash, item);
            }
        }
    }
}

fn screenshot(
    engine: &mut Engine,
    name: Option<TextArgument>,
) -> Result<ExpectedResult<String>, Error> {
    let file = engine.drawing.screenshot(
        &engine.game,
        &engine.frame,
        name.as_ref().map(TextArgument::as_str),
    )?;
    Ok(ExpectedResult(file.map(|file| file.display().to_string())))
}

fn resource_names(engine: &mut Engine, kind: TextArgument) -> ExpectedResult<Vec<String>> {
    let names = engine.assets.store.names(kind.as_str());
    ExpectedResult(
        names.ok_or_else(|| "a bundle does not know the names of its resources".to_string()),
    )
}

fn settings(engine: &mut Engine) -> ScriptValue {
    ScriptValue::from_tree(&engine.game.settings.tree)
}

/// The flags of `new_world`.
const WORLD_FLAGS: [&str; 6] =
    ["2d", "no_physics", "no_rendering", "no_sky", "no_sound", "pipelined_physics"];

fn new_world(engine: &mut Engine, arguments: RestArguments) -> Result<WorldId, Error> {
    let mut flags = WorldFlags::default();
    for (at, word) in arguments.0.iter().enumerate() {
        let known = |word: &str| WORLD_FLAGS.iter().position(|known| *known == word);
        match word {
            ScriptValue::Text(word) => match known(word) {
                Some(0) => flags.flat = true,
                Some(1) => flags.no_physics = true,
                Some(2) => flags.no_rendering = true,
                Some(3) => flags.no_sky = true,
                Some(4) => flags.no_sound = true,
                Some(_) => flags.pipelined_physics = true,
                None => {
                    let hint = engine_foundation::suggest::hint(word, WORLD_FLAGS);
                    let all = WORLD_FLAGS.join(", ");
                    return Err(engine_foundation::error!(
                        "unknown flag '{word}'{hint} (there are {all})"
                    ));
                }
            },
            // Constants of related engines, such as Application.DISABLE_PHYSICS, do not exist here
            // and are nil.
            _ => {
                let (at, all) = (at + 1, WORLD_FLAGS.join(", "));
                return Err(engine_foundation::error!(
                    "argument #{at} must be a flag's name: one of {all}"
                ));
            }
        }
    }
    engine.worlds.new_world(flags)
}

fn release_world(engine: &mut Engine, world: WorldId) {
    let location = crate::script_location();
    engine.release_world(world, &location);
}

fn main_world(engine: &mut Engine) -> Result<WorldId, Error> {
    engine.worlds.main_world()
}

fn worlds(engine: &mut Engine) -> Vec<WorldId> {
    engine.worlds.slots.iter().map(|(handle, _)| WorldId(handle)).collect()
}
