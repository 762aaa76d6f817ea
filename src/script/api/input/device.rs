//! The functions that all input devices share: each device's module has these rows. Functions of a
//! single device are in its own file.

use crate::argument::{Argument, ArgumentError, Integer, TextArgument, UnboxedArgument};
use crate::context::ScriptContext;
use crate::return_value::{ManyResults, ReturnValue};
use crate::types::{ApiType, ValueShape};
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3};
use engine_input::button_names::{DeviceClass, InputName, hint};
use engine_input::{DeadZone, DeviceId, InputDevice, KEYBOARD, MOUSE, TOUCH};
use engine_runtime::Engine;
use mlua::ffi::*;
use std::ffi::c_int;

/// Returns the class of a device from its index among all devices.
pub const fn class_of(device: u8) -> DeviceClass {
    if device == KEYBOARD.0 {
        DeviceClass::Keyboard
    } else if device == MOUSE.0 {
        DeviceClass::Mouse
    } else if device == TOUCH.0 {
        DeviceClass::Touch
    } else {
        DeviceClass::Pad
    }
}

/// The 0-based index of a device's button. Scripts pass a 1-based index or a name.
#[derive(Clone, Copy)]
pub struct ButtonIndex<const D: u8>(pub usize);

/// The 0-based index of a device's axis. Scripts pass a 1-based index or a name.
#[derive(Clone, Copy)]
pub struct AxisIndex<const D: u8>(pub usize);

/// Returns the index in `names` that the argument at `i` refers to.
unsafe fn index_of(
    l: *mut lua_State,
    i: c_int,
    cx: &ScriptContext,
    class: DeviceClass,
    kind: &str,
    names: &[InputName],
    find: impl Fn(&str) -> Option<usize>,
) -> Result<usize, ArgumentError> {
    // SAFETY: as for `Argument::read`.
    unsafe {
        match lua_type(l, i) {
            LUA_TSTRING => {
                let text = TextArgument::read(l, i, cx)?;
                find(text.as_str())
                    .ok_or_else(|| ArgumentError::Message(unknown(text.as_str(), kind, names)))
            }
            LUA_TNUMBER => {
                let number = Integer::read(l, i, cx)?.0;
                let index = usize::try_from(number - 1).ok().filter(|at| *at < names.len());
                index.ok_or_else(|| match names.len() {
                    0 => ArgumentError::Message(format!("a {} has no {kind}", class.name())),
                    count => ArgumentError::Message(format!("must be 1 to {count}, got {number}")),
                })
            }
            _ => Err(ArgumentError::Type),
        }
    }
}

/// Returns the error message for an unknown name.
pub fn unknown(word: &str, kind: &str, names: &[InputName]) -> String {
    format!("there is no {kind} '{word}'{}", hint(word, names))
}

/// Returns the word for a device's buttons in messages.
const fn button_word(class: DeviceClass) -> &'static str {
    match class {
        DeviceClass::Keyboard => "key",
        _ => "button",
    }
}

macro_rules! named {
    ($id:ident, $shape:ident, $names:ident, $find:ident, $word:expr) => {
        impl<const D: u8> Argument for $id<D> {
            const TYPE: ApiType = ApiType::new("integer|string", ValueShape::$shape(class_of(D)));
            unsafe fn read(
                l: *mut lua_State,
                i: c_int,
                cx: &ScriptContext,
            ) -> Result<Self, ArgumentError> {
                let class = class_of(D);
                // SAFETY: as the caller promised.
                unsafe {
                    let find = |name: &str| class.$find(name);
                    index_of(l, i, cx, class, $word(class), class.$names(), find).map($id)
                }
            }
        }

        impl<const D: u8> UnboxedArgument for $id<D> {
            type C = f64;
            #[inline(always)]
            unsafe fn from_c(c: f64, _: u32, _: &ScriptContext) -> Option<Self> {
                // A number with a fraction is truncated here and rejected by the comparison.
                let at = c as usize;
                (at as f64 == c && at != 0 && at <= class_of(D).$names().len()).then(|| $id(at - 1))
            }
        }
    };
}

named!(ButtonIndex, Button, buttons, button, button_word);
named!(AxisIndex, Axis, axes, axis, |_| "axis");

/// The 0-based index of a device's motor. Scripts pass a 1-based index or a name.
#[derive(Clone, Copy)]
pub struct MotorIndex<const D: u8>(pub usize);

impl<const D: u8> Argument for MotorIndex<D> {
    const TYPE: ApiType = ApiType::new("integer|string", ValueShape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> Result<Self, ArgumentError> {
        let class = class_of(D);
        // SAFETY: as the caller promised.
        unsafe {
            let find = |name: &str| class.motor(name);
            index_of(l, i, cx, class, "motor", class.motors(), find).map(MotorIndex)
        }
    }
}

/// A 1-based index, or nil.
pub struct OptionalIndex(pub Option<usize>);

impl ReturnValue for OptionalIndex {
    const TYPES: &'static [ApiType] = &[ApiType::new("integer", ValueShape::Number).or_nil()];
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                Some(at) => lua_pushnumber(l, (at + 1) as f64),
                None => lua_pushnil(l),
            }
        }
        Ok(1)
    }
}

fn device<const D: u8>(engine: &mut Engine) -> &InputDevice {
    engine.devices.input.device(DeviceId(D))
}

pub fn active<const D: u8>(engine: &mut Engine) -> bool {
    device::<D>(engine).connected
}

pub fn connected<const D: u8>(engine: &mut Engine) -> bool {
    device::<D>(engine).appeared
}

pub fn disconnected<const D: u8>(engine: &mut Engine) -> bool {
    device::<D>(engine).disappeared
}

pub fn used<const D: u8>(engine: &mut Engine) -> bool {
    device::<D>(engine).active
}

pub fn kind<const D: u8>(_: &mut Engine) -> String {
    class_of(D).name().to_string()
}

pub fn name<const D: u8>(engine: &mut Engine) -> String {
    device::<D>(engine).name.clone()
}

pub fn num_buttons<const D: u8>(_: &mut Engine) -> u64 {
    class_of(D).buttons().len() as u64
}

pub fn num_axes<const D: u8>(_: &mut Engine) -> u64 {
    class_of(D).axes().len() as u64
}

pub fn button<const D: u8>(engine: &mut Engine, button: ButtonIndex<D>) -> f64 {
    f64::from(device::<D>(engine).value(button.0))
}

pub fn held<const D: u8>(engine: &mut Engine, button: ButtonIndex<D>) -> bool {
    device::<D>(engine).held(button.0)
}

pub fn pressed<const D: u8>(engine: &mut Engine, button: ButtonIndex<D>) -> bool {
    device::<D>(engine).pressed(button.0)
}

pub fn released<const D: u8>(engine: &mut Engine, button: ButtonIndex<D>) -> bool {
    device::<D>(engine).released(button.0)
}

pub fn any_pressed<const D: u8>(engine: &mut Engine) -> OptionalIndex {
    OptionalIndex(device::<D>(engine).any_pressed())
}

pub fn any_released<const D: u8>(engine: &mut Engine) -> OptionalIndex {
    OptionalIndex(device::<D>(engine).any_released())
}

pub fn button_index<const D: u8>(_: &mut Engine, name: TextArgument) -> OptionalIndex {
    OptionalIndex(class_of(D).button(name.as_str()))
}

pub fn button_name<const D: u8>(_: &mut Engine, button: ButtonIndex<D>) -> String {
    class_of(D).buttons()[button.0].name.to_string()
}

pub fn button_locale_name<const D: u8>(engine: &mut Engine, button: ButtonIndex<D>) -> String {
    let label = device::<D>(engine).label(button.0).map(str::to_string);
    label.unwrap_or_else(|| class_of(D).buttons()[button.0].name.to_string())
}

pub fn axis<const D: u8>(engine: &mut Engine, axis: AxisIndex<D>) -> Vec3 {
    device::<D>(engine).axis(axis.0)
}

pub fn axis_index<const D: u8>(_: &mut Engine, name: TextArgument) -> OptionalIndex {
    OptionalIndex(class_of(D).axis(name.as_str()))
}

pub fn axis_name<const D: u8>(_: &mut Engine, axis: AxisIndex<D>) -> String {
    class_of(D).axes()[axis.0].name.to_string()
}

pub fn dead_zone<const D: u8>(engine: &mut Engine, axis: AxisIndex<D>) -> ManyResults {
    let (mode, size) = device::<D>(engine).dead_zone(axis.0).name_and_size();
    ManyResults(vec![ScriptValue::Text(mode.to_string()), ScriptValue::Number(f64::from(size))])
}

pub fn set_dead_zone<const D: u8>(
    engine: &mut Engine,
    axis: AxisIndex<D>,
    mode: TextArgument,
    size: Option<f64>,
) -> Result<(), Error> {
    let zone = DeadZone::new(mode.as_str(), size.unwrap_or(0.0))?;
    engine.devices.input.device_mut(DeviceId(D)).set_dead_zone(axis.0, zone);
    Ok(())
}

/// Builds the rows of a device: those that every device has, then its own.
macro_rules! device_rows {
    ($d:expr, $($more:expr),* $(,)?) => {{
        use $crate::api::input::device as d;
        use $crate::api::input::rumble as r;
        use $crate::api_row::{FunctionRow, func, hot};
        const MOTOR: (&str, &str) = ("motor", "its index, or its name");
        const EFFECT: (&str, &str) = ("effect", "the number that `rumble_effect` returned");
        const BUTTON: (&str, &str) = ("button", "its index, or its name");
        const AXIS: (&str, &str) = ("axis", "its index, or its name");
        const ROWS: &[FunctionRow] = &[
            func("active", d::active::<$d>, &[], "Returns true if the device is connected.").pure(),
            func("connected", d::connected::<$d>, &[],
                "Returns true if the device was connected in this frame.").pure(),
            func("disconnected", d::disconnected::<$d>, &[],
                "Returns true if the device was disconnected in this frame. This releases all of \
                 its buttons.").pure(),
            func("used", d::used::<$d>, &[],
                "Returns true if one of its buttons or axes was moved in this frame.").pure(),
            func("type", d::kind::<$d>, &[],
                "Returns the type of the device: \"keyboard\", \"mouse\", \"pad\" or \"touch\".")
                .pure(),
            func("category", d::kind::<$d>, &[], "The same as `type`.").pure(),
            func("name", d::name::<$d>, &[],
                "Returns the name that its manufacturer gave it.").pure(),
            func("num_buttons", d::num_buttons::<$d>, &[],
                "Returns the number of its buttons.").pure(),
            func("num_axes", d::num_axes::<$d>, &[], "Returns the number of its axes.").pure(),
            hot("held", d::held::<$d>, &[BUTTON],
                "Returns true while the button is down: `if Keyboard.held(\"a\") then`. A button \
                 that is pressed partly counts from half of its way.").pure(),
            hot("button", d::button::<$d>, &[BUTTON],
                "Returns how far a button is down, as a number: 0 is up, 1 is fully down. For a \
                 condition use `held`, because 0 is true in Lua.").pure(),
            hot("pressed", d::pressed::<$d>, &[BUTTON],
                "Returns true if the button was pressed in this frame. A tap that ended within the \
                 frame counts, too.").pure(),
            hot("released", d::released::<$d>, &[BUTTON],
                "Returns true if the button was released in this frame.").pure(),
            func("any_pressed", d::any_pressed::<$d>, &[],
                "Returns the index of the first button that was pressed in this frame, or nil.")
                .pure(),
            func("any_released", d::any_released::<$d>, &[],
                "Returns the index of the first button that was released in this frame, or nil.")
                .pure(),
            func("button_index", d::button_index::<$d>, &[("name", "a button's name")],
                "Returns the index of the button with that name, from 1; nil if there is none.")
                .pure(),
            func("button_id", d::button_index::<$d>, &[("name", "a button's name")],
                "The same as `button_index`.").pure(),
            func("button_name", d::button_name::<$d>, &[BUTTON],
                "Returns the first name of the button.").pure(),
            func("button_locale_name", d::button_locale_name::<$d>, &[BUTTON],
                "Returns the label on the button if it is known, otherwise the button's name. The \
                 label of a key is known from the first time it is pressed.").pure(),
            hot("axis", d::axis::<$d>, &[AXIS],
                "Returns the position of an axis, with its dead zone applied.").pure(),
            func("axis_index", d::axis_index::<$d>, &[("name", "an axis' name")],
                "Returns the index of the axis with that name, from 1; nil if there is none.")
                .pure(),
            func("axis_id", d::axis_index::<$d>, &[("name", "an axis' name")],
                "The same as `axis_index`.").pure(),
            func("axis_name", d::axis_name::<$d>, &[AXIS],
                "Returns the first name of the axis.").pure(),
            func("dead_zone", d::dead_zone::<$d>, &[AXIS],
                "Returns the dead zone of an axis: its mode (\"raw\", \"independent\" or \
                 \"circular\") and its size.").pure(),
            func("set_dead_zone", d::set_dead_zone::<$d>, &[AXIS,
                ("mode",
                    "\"raw\": none; \"independent\": for each direction separately; \"circular\": \
                     for both together"),
                ("size", "the part of the range that counts as 0, from 0 to 1; 0 if left out")],
                "Sets how the middle of an axis is treated. The rest of the range is scaled to 0 \
                 to 1. Sticks begin with \"circular\", 0.2."),
            func("num_rumble_motors", r::num_rumble_motors::<$d>, &[],
                "Returns the number of its motors: 0 while the device is not connected.").pure(),
            func("rumble_motor_index", r::rumble_motor_index::<$d>, &[("name", "a motor's name")],
                "Returns the index of the motor with that name, from 1; nil if there is none. The \
                 motors of pads are \"strong\" (\"left\") and \"weak\" (\"right\").").pure(),
            func("rumble_motor_id", r::rumble_motor_index::<$d>, &[("name", "a motor's name")],
                "The same as `rumble_motor_index`.").pure(),
            func("rumble_motor_name", r::rumble_motor_name::<$d>, &[MOTOR],
                "Returns the first name of the motor.").pure(),
            func("set_rumble", r::set_rumble::<$d>, &[MOTOR,
                ("strength", "0 is off, 1 is full strength")],
                "Runs a motor until it is set again, or until the device is disconnected. Effects \
                 are added to this strength."),
            func("rumble_effect", r::rumble_effect::<$d>, &[MOTOR,
                ("parameters", "a table of `attack`, `decay`, `sustain` and `release` (seconds, 0 \
                 if left out; `sustain` can be math.huge), `attack_level` and `sustain_level` (0 \
                 to 1, 1 if left out), `frequency` or `period` of a wave, and its `offset`")],
                "Starts an effect on a motor, and returns the effect's number. The strength rises \
                 to `attack_level` in `attack` seconds, changes to `sustain_level` in `decay`, \
                 stays there for `sustain`, and falls to 0 in `release`. A wave of `frequency` \
                 cycles a second, or of `period` seconds a cycle, runs through the whole effect. \
                 It starts at its lowest point; with an `offset` of 0.5, at its highest. Effects \
                 follow frame time. A device plays at most 64 at once."),
            func("is_rumble_effect_playing", r::is_rumble_effect_playing::<$d>, &[MOTOR, EFFECT],
                "Returns true if the effect has not ended yet. It plays while the device is \
                 connected, even if `set_rumble_enabled(false)` keeps it from being felt.").pure(),
            func("stop_rumble_effect", r::stop_rumble_effect::<$d>, &[MOTOR, EFFECT],
                "Ends an effect. Does nothing if it has already ended.").when_full(),
            func("stop_all_rumble_effects", r::stop_all_rumble_effects::<$d>,
                &[("motor", "its index, or its name; all motors if left out")],
                "Ends the effects of a motor. The strength from `set_rumble` stays.").when_full(),
            func("rumble_strength", r::rumble_strength::<$d>, &[MOTOR],
                "Returns the strength that a motor should have in this frame, 0 to 1: that of \
                 `set_rumble` and its effects together.").pure(),
            func("set_rumble_enabled", r::set_rumble_enabled::<$d>,
                &[("enabled", "false keeps the device still, whatever the game requests")],
                "Allows or forbids rumble. Use it for a setting of the player."),
            $($more),*
        ];
        ROWS
    }};
}

pub(in crate::api) use device_rows;
