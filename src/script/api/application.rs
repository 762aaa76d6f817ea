//! `Application`, its part in Rust: the process, the frame, worlds. User settings and data are the
//! prelude's (lua/application.lua).

use super::viewport;
use super::window::WINDOW_ARG;
use crate::engine::Engine;
use crate::foundation::Error;
use crate::foundation::hash::StateHash;
use crate::foundation::memory::limit;
use crate::resource::data_kinds;
use crate::resource::name::ResourceName;
use crate::resource::package::PackageId;
use crate::resource::variant::Preferences;
use crate::script::arg::{Integer, Rest, Text};
use crate::script::ret::{Data, Expected, Many};
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::time_step::PolicyWord;
use crate::system::window::WindowId;
use crate::system::{browser, platform};
use crate::world::{WorldFlags, WorldId};

pub static APPLICATION: Module = module(
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
            "The arguments after `--` on the command line, as several results.",
        )
        .pure(),
        func("platform", platform_name, &[], "The platform: \"linux\", \"windows\" or \"macos\".")
            .pure(),
        func(
            "build",
            build,
            &[],
            "How the game runs: \"development\" (a folder), \"test\" or \"release\" (a bundle).",
        )
        .pure(),
        func("build_identifier", build_identifier, &[], "The engine's version.").pure(),
        func("process_id", process_id, &[], "The operating system's number of this process.")
            .pure(),
        func(
            "quit",
            quit,
            &[("code", "the process's exit code, 0 to 255; 0 if left out")],
            "Ends the game after this frame, through `shutdown()`.",
        )
        .when_full(),
        func(
            "open_url_in_browser",
            open_url_in_browser,
            &[("url", "an address that begins with http://, https:// or mailto:")],
            "Has the desktop open an address in the player's browser, one a second at most: true, \
             or nil and why not. Nothing is opened without a window, nor in runs that must repeat.",
        ),
        func(
            "back_buffer_size",
            back_buffer_size,
            &[WINDOW_ARG],
            "Width and height of what is drawn, in pixels: the same as `Window.pixel_size`.",
        )
        .pure(),
        func(
            "enum_display_modes",
            enum_display_modes,
            &[],
            "How the monitors can show pictures, for a window that stands \"exclusive\": a list of \
             tables with `monitor` (which of `Window.monitors`), `width` and `height` (in pixels), \
             `refresh` (pictures a second) and `bits` (of a pixel's colour), those of a monitor \
             from small to large. Empty without a display. `Window.set_resolution` has such a \
             window take the finest mode of that size.",
        )
        .pure(),
        hot(
            "time_since_launch",
            time_since_launch,
            &[],
            "Seconds of game time since the launch: the sum of all frames' steps.",
        )
        .pure(),
        hot("delta_time", delta_time, &[], "Seconds that this frame moves the game on by.").pure(),
        hot("frame_index", frame_index, &[], "The number of this frame, from 1; 0 during `init`.")
            .pure(),
        func(
            "set_time_step_policy",
            set_time_step_policy,
            &[("policy", "names of policies, each followed by its numbers")],
            "Sets how the step of a frame is made of measured time: \"smoothing\", history, \
             outliers, factor; \"no_smoothing\"; \"fixed\", seconds; \"throttle\", frames per \
             second; \"no_throttle\"; \"debt_payback\", frames; \"external_multiplier\", factor; \
             \"external_step_range\" or \"system_step_range\", min, max; \"clear_history\". \
             Several can stand in one call. Until it is set, a frame takes a tenth of a second of \
             measured time into account at most: \"system_step_range\", 0, 0.1.",
        ),
        func(
            "set_property_preference_order",
            set_property_preference_order,
            &[("order", "properties, most important first; one list of them will do, too")],
            "Sets which variants of resources are preferred (`menu.fr.texture` has the property \
             `fr`). Takes effect at the next frame: what another variant serves from then on is \
             reloaded.",
        ),
        func(
            "set_resource_property_preference_order",
            set_property_preference_order,
            &[("order", "properties, most important first; one list of them will do, too")],
            "Another name of `set_property_preference_order`, known from the Bitsquid family.",
        ),
        func(
            "property_preference_order",
            property_preference_order,
            &[],
            "The properties that are preferred in this frame, most important first.",
        )
        .pure(),
        func(
            "can_get",
            can_get,
            &[("type", "a resource's type"), ("name", "its name")],
            "Whether there is a resource of that type and name, and a variant of it that serves.",
        )
        .pure(),
        func(
            "resource_names",
            resource_names,
            &[("type", "a resource's type, as \"unit\"")],
            "The names of all resources of a type that serve now, in order. A bundle does not know \
             them: returns nil and words there.",
        )
        .pure(),
        func(
            "data",
            data,
            &[
                ("type", "\"text\", \"config\", \"strings\" or \"binary\""),
                ("name", "the resource's name"),
            ],
            "The content of a resource of plain data: a string, or for \"config\" and \
             \"strings\" a table.",
        )
        .pure(),
        func(
            "resource_package",
            resource_package,
            &[("name", "the package's name, without `.package`")],
            "Takes hold of a package: a set of resources that `ResourcePackage.load` loads. Each \
             call gives a handle of its own.",
        ),
        func(
            "release_resource_package",
            release_resource_package,
            &[("package", "the package to let go of")],
            "Lets go of a package, and unloads it where it is loaded. Its handle is stale then.",
        )
        .when_full(),
        func(
            "hash",
            hash,
            &[("values", "numbers, strings, booleans, or tables of them")],
            "Adds values to the frame's state hash. A recording keeps the hash of each frame, and \
             a replay compares it: hash what must come out the same.",
        )
        .pure(),
        func(
            "screenshot",
            screenshot,
            &[(
                "name",
                "the file's name without `.png`; `frame_` and the frame's number if left out",
            )],
            "Has a picture of what this frame shows written as a PNG file into `screenshots` of \
             the game's save folder, beside the game: returns the file's path; the file is there \
             some frames later. Where nothing is drawn, returns nil and words.",
        ),
        func("settings", settings, &[], "What settings.sjson says, with the defaults, as a table.")
            .pure(),
        func(
            "new_world",
            new_world,
            &[(
                "flags",
                "\"2d\", \"no_physics\", \"no_rendering\", \"no_sound\", \"pipelined_physics\"",
            )],
            "Makes an empty world. With \"2d\" bodies stay in the plane of x and y; without \
             physics, units have no bodies; without rendering, it is never shown; without sound, \
             what is triggered in it is not played. What a world goes without costs nothing. With \
             \"pipelined_physics\" steps of physics run beside scripts and rendering, and are \
             seen one update later.",
        ),
        func(
            "release_world",
            release_world,
            &[("world", "the world to end")],
            "Ends a world and everything in it. Its handle is stale from then on.",
        )
        .when_full(),
        func(
            "main_world",
            main_world,
            &[],
            "The world that is there without being made: made when first asked for, and updated by \
             the engine where the game has no `update`.",
        )
        .pure(),
        func(
            "main_gui",
            viewport::main_gui,
            &[],
            "The immediate Gui that is there without being made, on the screen and in the main \
             world: made when first asked for.",
        )
        .pure(),
        func(
            "main_camera",
            viewport::main_camera,
            &[],
            "The camera that is there without being made: made when first asked for.",
        )
        .pure(),
        func("create_camera", viewport::create_camera, &[], "Makes a camera, at the origin."),
        func(
            "destroy_camera",
            viewport::destroy_camera,
            &[("camera", "the camera to end")],
            "Ends a camera. Its handle is stale from then on.",
        )
        .when_full(),
        func(
            "create_viewport",
            viewport::create_viewport,
            &[
                ("texture", "the name of a new texture that it is; the screen if left out"),
                ("width", "of the texture, in pixels"),
                ("height", "of the texture, in pixels"),
            ],
            "Makes a viewport: the screen, or a texture of its own that Guis and materials draw \
             with by its name until the viewport is destroyed.",
        ),
        func(
            "destroy_viewport",
            viewport::destroy_viewport,
            &[("viewport", "the viewport to end")],
            "Ends a viewport. Its handle is stale from then on.",
        )
        .when_full(),
        func(
            "render_world",
            viewport::render_world,
            &[
                ("world", "the world to show"),
                ("camera", "as which camera sees it; the main camera if left out"),
                ("viewport", "on which part of the screen; on all of it if left out"),
                ("window", "in which window that `Window.open` gave; the main one if left out"),
            ],
            "Shows a world and its Guis in this frame. Call it in `render()`; a game without \
             `render` has its main world shown. What textures show is drawn before the screen; \
             of the Guis, those that stand in the world are in it.",
        )
        .when_full(),
        func("worlds", worlds, &[], "All worlds that are there, oldest slot first.").pure(),
    ],
);

fn argv(engine: &mut Engine) -> Many {
    Many(engine.arguments.iter().cloned().map(Value::Text).collect())
}

fn platform_name(_: &mut Engine) -> String {
    platform::NAME.to_string()
}

fn build(engine: &mut Engine) -> String {
    engine.build.name().to_string()
}

fn build_identifier(_: &mut Engine) -> String {
    env!("CARGO_PKG_VERSION").to_string()
}

fn process_id(_: &mut Engine) -> f64 {
    std::process::id().into()
}

fn quit(engine: &mut Engine, code: Option<Integer>) -> Result<(), Error> {
    let code = code.map_or(0, |code| code.0);
    if !(0..=255).contains(&code) {
        return Err(crate::error!("argument #1 'code' must be 0 to 255, got {code}"));
    }
    engine.quit = Some(code as i32);
    Ok(())
}

fn open_url_in_browser(engine: &mut Engine, url: Text) -> Result<Expected<bool>, Error> {
    browser::check(url.as_str())
        .map_err(|reason| crate::error!("argument #1 'url' {}", reason.message))?;
    let refusal = match (engine.deterministic, engine.window.is_open) {
        (true, _) => Some("nothing is opened in a run that must repeat"),
        (false, false) => Some("nothing is opened in a run without a window"),
        (false, true) => None,
    };
    Ok(Expected(match refusal {
        Some(words) => Err(words.to_string()),
        None => browser::open_checked(url.as_str()).map(|()| true),
    }))
}

fn back_buffer_size(engine: &mut Engine, window: Option<WindowId>) -> (f64, f64) {
    let (width, height) = super::window::of(engine, window).pixels;
    (f64::from(width), f64::from(height))
}

fn enum_display_modes(engine: &mut Engine) -> Value {
    let entry = |key: &str, number: f64| (key.to_string(), Value::Number(number));
    let modes = engine.window.modes.iter().map(|mode| {
        Value::Table(vec![
            entry("bits", mode.bits.into()),
            entry("height", mode.pixels.1.into()),
            entry("monitor", mode.monitor.into()),
            entry("refresh", mode.refresh),
            entry("width", mode.pixels.0.into()),
        ])
    });
    Value::List(modes.collect())
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

fn set_time_step_policy(engine: &mut Engine, policy: Rest) -> Result<(), Error> {
    let mut words = Vec::new();
    for (i, value) in policy.0.iter().enumerate() {
        words.push(match value {
            Value::Text(name) => PolicyWord::Name(name),
            Value::Number(number) => PolicyWord::Number(*number),
            _ => {
                return Err(crate::error!("argument #{} must be a name or a number", i + 1));
            }
        });
    }
    engine.time_step.set(&words).map_err(Error::new)
}

fn set_property_preference_order(engine: &mut Engine, order: Rest) -> Result<(), Error> {
    let items = match &order.0[..] {
        [Value::List(items)] => items,
        [Value::Table(entries)] if entries.is_empty() => &Vec::new(),
        items => items,
    };
    let mut words = Vec::new();
    for (i, item) in items.iter().enumerate() {
        match item {
            Value::Text(word) => words.push(word.clone()),
            _ => return Err(crate::error!("property #{} must be a string", i + 1)),
        }
    }
    engine.store.prefer(Preferences::new(words).map_err(Error::new)?);
    Ok(())
}

fn property_preference_order(engine: &mut Engine) -> Vec<String> {
    engine.store.preferences().words().to_vec()
}

fn can_get(engine: &mut Engine, kind: Text, name: Text) -> bool {
    let name = ResourceName::new(kind.as_str(), name.as_str());
    engine.store.note_asked(&name);
    engine.store.has(&name)
}

/// The kinds whose content is given as it is, and those that are a tree.
const DATA_KINDS: [&str; 4] = ["text", "binary", "config", "strings"];

fn data(engine: &mut Engine, kind: Text, name: Text) -> Result<Data, Error> {
    let kind = kind.as_str();
    if !DATA_KINDS.contains(&kind) {
        let hint = crate::foundation::suggest::hint(kind, DATA_KINDS);
        let known = DATA_KINDS.join(", ");
        return Err(crate::error!("'{kind}' is not plain data{hint} (known: {known})"));
    }
    let bytes = engine.store.read(&ResourceName::new(kind, name.as_str()))?;
    Ok(match kind {
        "text" | "binary" => Data::Bytes(bytes),
        _ => {
            let tree = data_kinds::read_tree(&bytes)?;
            limit::check_room(tree.values() * size_of::<Value>())?;
            Data::Value(Value::from_tree(&tree))
        }
    })
}

fn resource_package(engine: &mut Engine, name: Text) -> Result<PackageId, Error> {
    engine.packages.add(name.as_str(), &engine.store)
}

fn release_resource_package(engine: &mut Engine, package: PackageId) {
    let (place, frame) = (crate::script::place(), engine.frame.index);
    engine.packages.release(package, &mut engine.store, frame, &place);
}

fn hash(engine: &mut Engine, values: Rest) {
    let mut hash = StateHash::new(0);
    values.0.iter().for_each(|value| hash_value(&mut hash, value));
    engine.game_hash.note(hash.finish(), crate::script::place);
}

/// Every value begins with a number for its kind, so that no two write the same.
fn hash_value(hash: &mut StateHash, value: &Value) {
    match value {
        Value::Nil => hash.write_u64(0),
        Value::Boolean(value) => hash.write_u64(1 + u64::from(*value)),
        Value::Number(value) => {
            hash.write_u64(3);
            hash.write_f64(*value);
        }
        Value::Text(text) => {
            hash.write_u64(4);
            hash.write_bytes(text.as_bytes());
        }
        Value::List(items) => {
            hash.write_u64(5 + ((items.len() as u64) << 8));
            items.iter().for_each(|item| hash_value(hash, item));
        }
        Value::Table(entries) => {
            hash.write_u64(6 + ((entries.len() as u64) << 8));
            for (key, item) in entries {
                hash.write_bytes(key.as_bytes());
                hash_value(hash, item);
            }
        }
    }
}

fn screenshot(engine: &mut Engine, name: Option<Text>) -> Result<Expected<String>, Error> {
    let file = engine.screenshot(name.as_ref().map(Text::as_str))?;
    Ok(Expected(file.map(|file| file.display().to_string())))
}

fn resource_names(engine: &mut Engine, kind: Text) -> Expected<Vec<String>> {
    let names = engine.store.names(kind.as_str());
    Expected(names.ok_or_else(|| "a bundle does not know the names of its resources".to_string()))
}

fn settings(engine: &mut Engine) -> Value {
    Value::from_tree(&engine.settings.tree)
}

/// The words of `new_world`.
const WORLD_FLAGS: [&str; 5] =
    ["2d", "no_physics", "no_rendering", "no_sound", "pipelined_physics"];

fn new_world(engine: &mut Engine, words: Rest) -> Result<WorldId, Error> {
    let mut flags = WorldFlags::default();
    for (at, word) in words.0.iter().enumerate() {
        let known = |word: &str| WORLD_FLAGS.iter().position(|known| *known == word);
        match word {
            Value::Text(word) => match known(word) {
                Some(0) => flags.flat = true,
                Some(1) => flags.no_physics = true,
                Some(2) => flags.no_rendering = true,
                Some(3) => flags.no_sound = true,
                Some(_) => flags.pipelined_physics = true,
                None => {
                    let hint = crate::foundation::suggest::hint(word, WORLD_FLAGS);
                    let all = WORLD_FLAGS.join(", ");
                    return Err(crate::error!("unknown flag '{word}'{hint} (there are {all})"));
                }
            },
            // The family's constants, as Application.DISABLE_PHYSICS, are not there: nil.
            _ => {
                let (at, all) = (at + 1, WORLD_FLAGS.join(", "));
                return Err(crate::error!("argument #{at} must be a flag's name: one of {all}"));
            }
        }
    }
    engine.new_world(flags)
}

fn release_world(engine: &mut Engine, world: WorldId) {
    let place = crate::script::place();
    engine.release_world(world, &place);
}

fn main_world(engine: &mut Engine) -> Result<WorldId, Error> {
    engine.main_world()
}

fn worlds(engine: &mut Engine) -> Vec<WorldId> {
    engine.worlds.iter().map(|(handle, _)| WorldId(handle)).collect()
}
