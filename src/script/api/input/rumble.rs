//! The functions that all input devices share for their motors: base values and rumble effects. The
//! rows are in device.rs; only gamepads have motors so far.

use crate::api::input::device::{MotorIndex, OptionalIndex, class_of};
use crate::argument::{Integer, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::{Error, suggest};
use engine_input::{DeviceId, MotorStates, RumbleEnvelope};
use engine_runtime::Engine;

/// The parameters of an effect, by their names in scripts.
const PARAMETERS: [&str; 9] = [
    "attack",
    "attack_level",
    "decay",
    "frequency",
    "offset",
    "period",
    "release",
    "sustain",
    "sustain_level",
];
/// Maximum duration in seconds of each part of an effect, except for `sustain`, which can be
/// endless.
const PART_SECONDS_MAX: f64 = 3600.0;
/// Maximum frequency of a wave. No motor can follow even a tenth of it.
const FREQUENCY_MAX: f64 = 1000.0;

fn motors<const D: u8>(engine: &mut Engine) -> &mut MotorStates {
    engine.devices.input.motors_mut(DeviceId(D))
}

pub fn num_rumble_motors<const D: u8>(engine: &mut Engine) -> u64 {
    motors::<D>(engine).count() as u64
}

pub fn rumble_motor_index<const D: u8>(_: &mut Engine, name: TextArgument) -> OptionalIndex {
    OptionalIndex(class_of(D).motor(name.as_str()))
}

pub fn rumble_motor_name<const D: u8>(_: &mut Engine, motor: MotorIndex<D>) -> String {
    class_of(D).motors()[motor.0].name.to_string()
}

/// Checks a strength argument.
pub fn strength(value: f64, index: usize, name: &str) -> Result<f32, Error> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(value as f32),
        false => {
            Err(engine_foundation::error!("argument #{index} '{name}' must be 0 to 1, got {value}"))
        }
    }
}

pub fn set_rumble<const D: u8>(
    engine: &mut Engine,
    motor: MotorIndex<D>,
    value: f64,
) -> Result<(), Error> {
    let value = strength(value, 2, "strength")?;
    motors::<D>(engine).set_base(motor.0, value);
    Ok(())
}

pub fn rumble_effect<const D: u8>(
    engine: &mut Engine,
    motor: MotorIndex<D>,
    parameters: ScriptValue,
) -> Result<u64, Error> {
    let envelope = envelope(&parameters)
        .map_err(|message| engine_foundation::error!("argument #2 'parameters' {message}"))?;
    motors::<D>(engine).start(motor.0, envelope).map(u64::from)
}

/// Reads the parameters of an effect; the error message describes an invalid one.
fn envelope(parameters: &ScriptValue) -> Result<RumbleEnvelope, String> {
    let ScriptValue::Table(entries) = parameters else {
        return Err("must be a table such as { attack = 0.1, sustain = 0.5 }".to_string());
    };
    let mut envelope = RumbleEnvelope::DEFAULT;
    let mut wave = None;
    for (key, value) in entries {
        let key = key.as_str();
        if !PARAMETERS.contains(&key) {
            let hint = suggest::hint(key, PARAMETERS);
            return Err(format!("has no '{key}'{hint} (there are {})", PARAMETERS.join(", ")));
        }
        let ScriptValue::Number(number) = *value else {
            return Err(format!("must have a number as '{key}'"));
        };
        let most = match key {
            "sustain" => f64::INFINITY,
            "attack_level" | "sustain_level" | "offset" => 1.0,
            "frequency" => FREQUENCY_MAX,
            "period" => f64::INFINITY,
            _ => PART_SECONDS_MAX,
        };
        if !(0.0..=most).contains(&number) {
            let limit = match most.is_finite() {
                true => format!("0 to {most}"),
                false => "0 or more".to_string(),
            };
            return Err(format!("must have {limit} as '{key}', got {number}"));
        }
        match key {
            "attack" => envelope.attack = number,
            "attack_level" => envelope.attack_level = number,
            "decay" => envelope.decay = number,
            "offset" => envelope.offset = number,
            "release" => envelope.release = number,
            "sustain" => envelope.sustain = number,
            "sustain_level" => envelope.sustain_level = number,
            _ if wave.replace(key).is_some() => {
                return Err("has both 'frequency' and 'period': leave one out".to_string());
            }
            "frequency" => envelope.frequency = number,
            _ if number < 1.0 / FREQUENCY_MAX => {
                return Err(format!("must have {} or more as 'period'", 1.0 / FREQUENCY_MAX));
            }
            _ => envelope.frequency = 1.0 / number,
        }
    }
    match envelope.seconds() > 0.0 {
        true => Ok(envelope),
        false => Err("has no duration: give it one of attack, decay, sustain, release".to_string()),
    }
}

/// Returns the number of an effect of this device.
fn number<const D: u8>(engine: &mut Engine, effect: Integer) -> Result<u32, Error> {
    let newest = motors::<D>(engine).newest();
    let known = u32::try_from(effect.0).ok().filter(|number| (1..=newest).contains(number));
    known.ok_or_else(|| {
        engine_foundation::error!(
            "argument #2 'effect' must be a number that rumble_effect returned, got {}",
            effect.0
        )
    })
}

pub fn is_rumble_effect_playing<const D: u8>(
    engine: &mut Engine,
    motor: MotorIndex<D>,
    effect: Integer,
) -> Result<bool, Error> {
    let number = number::<D>(engine, effect)?;
    Ok(motors::<D>(engine).is_playing(motor.0, number))
}

pub fn stop_rumble_effect<const D: u8>(
    engine: &mut Engine,
    motor: MotorIndex<D>,
    effect: Integer,
) -> Result<(), Error> {
    let number = number::<D>(engine, effect)?;
    motors::<D>(engine).stop(motor.0, number);
    Ok(())
}

pub fn stop_all_rumble_effects<const D: u8>(engine: &mut Engine, motor: Option<MotorIndex<D>>) {
    motors::<D>(engine).stop_all(motor.map(|motor| motor.0));
}

pub fn rumble_strength<const D: u8>(engine: &mut Engine, motor: MotorIndex<D>) -> f64 {
    f64::from(motors::<D>(engine).strength(motor.0))
}

pub fn set_rumble_enabled<const D: u8>(engine: &mut Engine, enabled: bool) {
    motors::<D>(engine).set_enabled(enabled);
}
