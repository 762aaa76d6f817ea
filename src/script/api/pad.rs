//! `Pad1` to `Pad8`: the devices, and their motors.

use super::device::{Index, device_rows};
use crate::engine::Engine;
use crate::foundation::Error;
use crate::script::arg::{Integer, Text};
use crate::script::row::{Module, module};
use crate::system::input::{DeviceId, PAD};

/// What the motors are called.
const MOTORS: [&str; 2] = ["strong", "weak"];
/// The longest that a pad rumbles without being told again.
const RUMBLE_SECONDS_MAX: f64 = 60.0;

/// A pad's rows.
macro_rules! pad_rows {
    ($d:expr) => {
        device_rows!(
            $d,
            func("num_rumble_motors", num_rumble_motors::<$d>, &[], "How many motors it has.")
                .pure(),
            func(
                "rumble_motor_index",
                rumble_motor_index::<$d>,
                &[("name", "\"strong\" or \"weak\"")],
                "The index of the motor of that name, from 1; nil where none is called so.",
            )
            .pure(),
            func(
                "rumble_motor_id",
                rumble_motor_index::<$d>,
                &[("name", "\"strong\" or \"weak\"")],
                "The same as `rumble_motor_index`.",
            )
            .pure(),
            func(
                "rumble_motor_name",
                rumble_motor_name::<$d>,
                &[("motor", "1: the strong one, 2: the weak one")],
                "The motor's name.",
            )
            .pure(),
            func(
                "set_rumble",
                set_rumble::<$d>,
                &[
                    ("motor", "1: the strong one, 2: the weak one"),
                    ("strength", "0 is still, 1 is all it can"),
                ],
                "Has a motor run until it is told otherwise, for a minute at most.",
            ),
            func(
                "rumble",
                rumble::<$d>,
                &[
                    ("strong", "of the strong motor, 0 to 1"),
                    ("weak", "of the weak motor, 0 to 1"),
                    ("seconds", "how long, 60 at most"),
                ],
                "Has both motors run for a while. What they were doing is over.",
            ),
            func(
                "stop_all_rumble_effects",
                stop_all_rumble_effects::<$d>,
                &[],
                "Has both motors be still.",
            ),
            func(
                "set_rumble_enabled",
                set_rumble_enabled::<$d>,
                &[("enabled", "false: it is still, whatever is asked of it")],
                "Whether the pad may rumble: for the player's own settings.",
            ),
        )
    };
}

macro_rules! pads {
    ($($module:ident $number:literal $name:literal),*) => {
        $(
            pub static $module: Module = module(
                $name,
                concat!("Player ", $number, "'s pad. Buttons are known by their place: \"a\" is \
                 the lowest of the four on the right, whatever is printed on it. The axes are \
                 \"left\" and \"right\", its sticks: x to the right, y away from the player, \
                 -1 to 1."),
                concat!("local move = ", $name, ".axis(\"left\")\nassert(move.x == 0)\nif ", $name,
                    ".pressed(\"a\") then ", $name, ".rumble(0.5, 0, 0.2) end"),
                pad_rows!({ PAD.0 + $number - 1 }),
            );
        )*
    };
}

pads!(
    PAD_1 1 "Pad1", PAD_2 2 "Pad2", PAD_3 3 "Pad3", PAD_4 4 "Pad4",
    PAD_5 5 "Pad5", PAD_6 6 "Pad6", PAD_7 7 "Pad7", PAD_8 8 "Pad8"
);

fn num_rumble_motors<const D: u8>(engine: &mut Engine) -> u64 {
    u64::from(engine.input.device(DeviceId(D)).motors)
}

fn rumble_motor_index<const D: u8>(_: &mut Engine, name: Text) -> Index {
    Index(MOTORS.iter().position(|motor| *motor == name.as_str()))
}

fn motor(number: Integer) -> Result<usize, Error> {
    match number.0 {
        1 => Ok(0),
        2 => Ok(1),
        other => Err(crate::error!("argument #1 'motor' must be 1 or 2, got {other}")),
    }
}

fn strength(value: f64, index: usize, name: &str) -> Result<f32, Error> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(value as f32),
        false => Err(crate::error!("argument #{index} '{name}' must be 0 to 1, got {value}")),
    }
}

fn rumble_motor_name<const D: u8>(_: &mut Engine, number: Integer) -> Result<String, Error> {
    motor(number).map(|at| MOTORS[at].to_string())
}

fn set_rumble<const D: u8>(engine: &mut Engine, number: Integer, value: f64) -> Result<(), Error> {
    let (at, value) = (motor(number)?, strength(value, 2, "strength")?);
    let mut motors = engine.input.rumbling(DeviceId(D));
    motors[at] = value;
    engine.input.rumble(DeviceId(D), motors, RUMBLE_SECONDS_MAX as f32);
    Ok(())
}

fn rumble<const D: u8>(
    engine: &mut Engine,
    strong: f64,
    weak: f64,
    seconds: f64,
) -> Result<(), Error> {
    let motors = [strength(strong, 1, "strong")?, strength(weak, 2, "weak")?];
    if !(0.0..=RUMBLE_SECONDS_MAX).contains(&seconds) {
        return Err(crate::error!("argument #3 'seconds' must be 0 to 60, got {seconds}"));
    }
    engine.input.rumble(DeviceId(D), motors, seconds as f32);
    Ok(())
}

fn stop_all_rumble_effects<const D: u8>(engine: &mut Engine) {
    engine.input.rumble(DeviceId(D), [0.0; 2], 0.0);
}

fn set_rumble_enabled<const D: u8>(engine: &mut Engine, enabled: bool) {
    engine.input.set_rumble_enabled(DeviceId(D), enabled);
}
