//! The Lua modules `Pad1` to `Pad8`: the gamepads, and the simple form of rumble.

use crate::api::input::device::device_rows;
use crate::api::input::rumble::strength;
use crate::api_row::{ModuleRows, module};
use engine_foundation::Error;
use engine_input::{DeviceId, PAD, RumbleEnvelope};
use engine_runtime::Engine;

/// Maximum duration of `rumble`.
const RUMBLE_SECONDS_MAX: f64 = 60.0;

/// Builds the rows of one gamepad.
macro_rules! pad_rows {
    ($d:expr) => {
        device_rows!(
            $d,
            func(
                "rumble",
                rumble::<$d>,
                &[
                    ("strong", "strength of the strong motor, 0 to 1"),
                    ("weak", "strength of the weak motor, 0 to 1"),
                    ("seconds", "duration, at most 60"),
                ],
                "Runs both motors for some time. This replaces what they were doing.",
            ),
        )
    };
}

macro_rules! pads {
    ($($module:ident $number:literal $name:literal),*) => {
        $(
            pub static $module: ModuleRows = module(
                $name,
                concat!("Player ", $number,
                    "'s pad. Buttons are named by their position: \"a\" is the lowest of the four \
                     on the right, whatever its label is. The axes are \"left\" and \"right\", the \
                     sticks: x to the right, y away from the player, -1 to 1."),
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

fn rumble<const D: u8>(
    engine: &mut Engine,
    strong: f64,
    weak: f64,
    seconds: f64,
) -> Result<(), Error> {
    let levels = [strength(strong, 1, "strong")?, strength(weak, 2, "weak")?];
    if !(0.0..=RUMBLE_SECONDS_MAX).contains(&seconds) {
        return Err(engine_foundation::error!(
            "argument #3 'seconds' must be 0 to 60, got {seconds}"
        ));
    }
    let motors = engine.devices.input.motors_mut(DeviceId(D));
    motors.stop_all(None);
    for (motor, level) in levels.into_iter().enumerate() {
        motors.set_base(motor, 0.0);
        if level > 0.0 && seconds > 0.0 {
            let sustain_level = f64::from(level);
            let steady =
                RumbleEnvelope { sustain_level, sustain: seconds, ..RumbleEnvelope::DEFAULT };
            motors.start(motor, steady)?;
        }
    }
    Ok(())
}
