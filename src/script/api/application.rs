//! `Application`, its part in Rust: the process, the frame, worlds. User settings and data are the
//! prelude's (lua/application.lua).

use crate::engine::Engine;
use crate::foundation::Error;
use crate::script::arg::{Integer, Rest};
use crate::script::ret::Many;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::platform;
use crate::system::time_step::PolicyWord;
use crate::world::WorldId;

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
        ),
        func("platform", platform_name, &[], "The platform: \"linux\", \"windows\" or \"macos\"."),
        func(
            "build",
            build,
            &[],
            "How the game runs: \"development\" (a folder), \"test\" or \"release\" (a bundle).",
        ),
        func("build_identifier", build_identifier, &[], "The engine's version."),
        func("process_id", process_id, &[], "The operating system's number of this process."),
        func(
            "quit",
            quit,
            &[("code", "the process's exit code, 0 to 255; 0 if left out")],
            "Ends the game after this frame, through `shutdown()`.",
        ),
        hot(
            "time_since_launch",
            time_since_launch,
            &[],
            "Seconds of game time since the launch: the sum of all frames' steps.",
        ),
        hot("delta_time", delta_time, &[], "Seconds that this frame moves the game on by."),
        hot("frame_index", frame_index, &[], "The number of this frame, from 1; 0 during `init`."),
        func(
            "set_time_step_policy",
            set_time_step_policy,
            &[("policy", "names of policies, each followed by its numbers")],
            "Sets how the step of a frame is made of measured time: \"smoothing\", history, \
             outliers, factor; \"no_smoothing\"; \"fixed\", seconds; \"throttle\", frames per \
             second; \"no_throttle\"; \"debt_payback\", frames; \"external_multiplier\", factor; \
             \"external_step_range\" or \"system_step_range\", min, max; \"clear_history\". \
             Several can stand in one call.",
        ),
        func("settings", settings, &[], "What settings.sjson says, with the defaults, as a table."),
        func("new_world", new_world, &[], "Makes an empty world."),
        func(
            "release_world",
            release_world,
            &[("world", "the world to end")],
            "Ends a world and everything in it. Its handle is stale from then on.",
        ),
        func(
            "main_world",
            main_world,
            &[],
            "The world that is there without being made: made when first asked for, and updated by \
             the engine where the game has no `update`.",
        ),
        func("worlds", worlds, &[], "All worlds that are there, oldest slot first."),
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

fn settings(engine: &mut Engine) -> Value {
    Value::from_tree(&engine.settings.tree)
}

fn new_world(engine: &mut Engine) -> Result<WorldId, Error> {
    engine.new_world()
}

fn release_world(engine: &mut Engine, world: WorldId) {
    let place = crate::script::place();
    engine.release_world(world, &place);
}

fn main_world(engine: &mut Engine) -> Result<WorldId, Error> {
    if let Some(world) = engine.main_world {
        return Ok(world);
    }
    let world = engine.new_world()?;
    engine.main_world = Some(world);
    Ok(world)
}

fn worlds(engine: &mut Engine) -> Vec<WorldId> {
    engine.worlds.iter().map(|(handle, _)| WorldId(handle)).collect()
}
