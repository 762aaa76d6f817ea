//! `Pad1` to `Pad8`: the devices, and the short way to have one rumble.

use super::device::device_rows;
use super::rumble::strength;
use crate::engine::Engine;
use crate::foundation::Error;
use crate::script::row::{Module, module};
use crate::system::input::{DeviceId, Envelope, PAD};

/// The longest that `rumble` takes.
const RUMBLE_SECONDS_MAX: f64 = 60.0;

/// A pad's rows.
macro_rules! pad_rows {
    ($d:expr) => {
        device_rows!(
            $d,
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

fn rumble<const D: u8>(
    engine: &mut Engine,
    strong: f64,
    weak: f64,
    seconds: f64,
) -> Result<(), Error> {
    let levels = [strength(strong, 1, "strong")?, strength(weak, 2, "weak")?];
    if !(0.0..=RUMBLE_SECONDS_MAX).contains(&seconds) {
        return Err(crate::error!("argument #3 'seconds' must be 0 to 60, got {seconds}"));
    }
    let motors = engine.input.motors_mut(DeviceId(D));
    motors.stop_all(None);
    for (motor, level) in levels.into_iter().enumerate() {
        motors.set_base(motor, 0.0);
        if level > 0.0 && seconds > 0.0 {
            let sustain_level = f64::from(level);
            let steady = Envelope { sustain_level, sustain: seconds, ..Envelope::DEFAULT };
            motors.start(motor, steady)?;
        }
    }
    Ok(())
}
