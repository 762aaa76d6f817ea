//! What every input device answers, once for all of them: each device's module has these rows. What
//! only one of them has is in its own file.

use crate::engine::Engine;
use crate::foundation::{Error, Vec3};
use crate::script::arg::{Arg, Integer, Plain, Text, Wrong};
use crate::script::cx::Cx;
use crate::script::ret::{Many, Ret};
use crate::script::types::{Shape, Type};
use crate::script::value::Value;
use crate::system::input::names::{Class, Name, hint};
use crate::system::input::{DeadZone, Device, DeviceId, KEYBOARD, MOUSE, TOUCH};
use mlua::ffi::*;
use std::ffi::c_int;

/// What a device is like, by its place among all.
pub const fn class_of(device: u8) -> Class {
    if device == KEYBOARD.0 {
        Class::Keyboard
    } else if device == MOUSE.0 {
        Class::Mouse
    } else if device == TOUCH.0 {
        Class::Touch
    } else {
        Class::Pad
    }
}

/// A button of a device, from 0; scripts give its index from 1, or its name.
#[derive(Clone, Copy)]
pub struct Button<const D: u8>(pub usize);

/// An axis, in the same way.
#[derive(Clone, Copy)]
pub struct Axis<const D: u8>(pub usize);

/// The place in `names` that the argument at `i` means.
unsafe fn place(
    l: *mut lua_State,
    i: c_int,
    cx: &Cx,
    class: Class,
    what: &str,
    names: &[Name],
    find: impl Fn(&str) -> Option<usize>,
) -> Result<usize, Wrong> {
    // SAFETY: as for `Arg::read`.
    unsafe {
        match lua_type(l, i) {
            LUA_TSTRING => {
                let text = Text::read(l, i, cx)?;
                find(text.as_str()).ok_or_else(|| Wrong::Words(unknown(text.as_str(), what, names)))
            }
            LUA_TNUMBER => {
                let number = Integer::read(l, i, cx)?.0;
                let index = usize::try_from(number - 1).ok().filter(|at| *at < names.len());
                index.ok_or_else(|| match names.len() {
                    0 => Wrong::Words(format!("a {} has no {what}", class.name())),
                    count => Wrong::Words(format!("must be 1 to {count}, got {number}")),
                })
            }
            _ => Err(Wrong::Type),
        }
    }
}

/// The words for a name that nothing has.
pub fn unknown(word: &str, what: &str, names: &[Name]) -> String {
    format!("there is no {what} '{word}'{}", hint(word, names))
}

/// What a device's buttons are called in messages.
const fn button_word(class: Class) -> &'static str {
    match class {
        Class::Keyboard => "key",
        _ => "button",
    }
}

macro_rules! named {
    ($id:ident, $shape:ident, $names:ident, $find:ident, $word:expr) => {
        impl<const D: u8> Arg for $id<D> {
            const TYPE: Type = Type::new("integer|string", Shape::$shape(class_of(D)));
            unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Self, Wrong> {
                let class = class_of(D);
                // SAFETY: as the caller promised.
                unsafe {
                    let find = |name: &str| class.$find(name);
                    place(l, i, cx, class, $word(class), class.$names(), find).map($id)
                }
            }
        }

        impl<const D: u8> Plain for $id<D> {
            type C = f64;
            #[inline(always)]
            unsafe fn from_c(c: f64, _: u32, _: &Cx) -> Option<Self> {
                // What is no whole number is cut here and found by the comparison.
                let at = c as usize;
                (at as f64 == c && at != 0 && at <= class_of(D).$names().len()).then(|| $id(at - 1))
            }
        }
    };
}

named!(Button, Button, buttons, button, button_word);
named!(Axis, Axis, axes, axis, |_| "axis");

/// A motor, in the same way.
#[derive(Clone, Copy)]
pub struct Motor<const D: u8>(pub usize);

impl<const D: u8> Arg for Motor<D> {
    const TYPE: Type = Type::new("integer|string", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Self, Wrong> {
        let class = class_of(D);
        // SAFETY: as the caller promised.
        unsafe {
            let find = |name: &str| class.motor(name);
            place(l, i, cx, class, "motor", class.motors(), find).map(Motor)
        }
    }
}

/// An index from 1, or nil.
pub struct Index(pub Option<usize>);

impl Ret for Index {
    const TYPES: &'static [Type] = &[Type::new("integer", Shape::Number).or_nil()];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
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

fn device<const D: u8>(engine: &mut Engine) -> &Device {
    engine.input.device(DeviceId(D))
}

pub fn active<const D: u8>(engine: &mut Engine) -> bool {
    device::<D>(engine).connected
}

pub fn connected<const D: u8>(engine: &mut Engine) -> bool {
    device::<D>(engine).came
}

pub fn disconnected<const D: u8>(engine: &mut Engine) -> bool {
    device::<D>(engine).went
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

pub fn button<const D: u8>(engine: &mut Engine, button: Button<D>) -> f64 {
    f64::from(device::<D>(engine).value(button.0))
}

pub fn pressed<const D: u8>(engine: &mut Engine, button: Button<D>) -> bool {
    device::<D>(engine).pressed(button.0)
}

pub fn released<const D: u8>(engine: &mut Engine, button: Button<D>) -> bool {
    device::<D>(engine).released(button.0)
}

pub fn any_pressed<const D: u8>(engine: &mut Engine) -> Index {
    Index(device::<D>(engine).any_pressed())
}

pub fn any_released<const D: u8>(engine: &mut Engine) -> Index {
    Index(device::<D>(engine).any_released())
}

pub fn button_index<const D: u8>(_: &mut Engine, name: Text) -> Index {
    Index(class_of(D).button(name.as_str()))
}

pub fn button_name<const D: u8>(_: &mut Engine, button: Button<D>) -> String {
    class_of(D).buttons()[button.0].name.to_string()
}

pub fn button_locale_name<const D: u8>(engine: &mut Engine, button: Button<D>) -> String {
    let label = device::<D>(engine).label(button.0).map(str::to_string);
    label.unwrap_or_else(|| class_of(D).buttons()[button.0].name.to_string())
}

pub fn axis<const D: u8>(engine: &mut Engine, axis: Axis<D>) -> Vec3 {
    device::<D>(engine).axis(axis.0)
}

pub fn axis_index<const D: u8>(_: &mut Engine, name: Text) -> Index {
    Index(class_of(D).axis(name.as_str()))
}

pub fn axis_name<const D: u8>(_: &mut Engine, axis: Axis<D>) -> String {
    class_of(D).axes()[axis.0].name.to_string()
}

pub fn dead_zone<const D: u8>(engine: &mut Engine, axis: Axis<D>) -> Many {
    let (mode, size) = device::<D>(engine).dead_zone(axis.0).words();
    Many(vec![Value::Text(mode.to_string()), Value::Number(f64::from(size))])
}

pub fn set_dead_zone<const D: u8>(
    engine: &mut Engine,
    axis: Axis<D>,
    mode: Text,
    size: Option<f64>,
) -> Result<(), Error> {
    let zone = DeadZone::new(mode.as_str(), size.unwrap_or(0.0))?;
    engine.input.device_mut(DeviceId(D)).set_dead_zone(axis.0, zone);
    Ok(())
}

/// The rows that every device has, then those that only this one has.
macro_rules! device_rows {
    ($d:expr, $($more:expr),* $(,)?) => {{
        use $crate::script::api::device as d;
        use $crate::script::api::rumble as r;
        use $crate::script::row::{Func, func, hot};
        const MOTOR: (&str, &str) = ("motor", "its index, or its name");
        const EFFECT: (&str, &str) = ("effect", "the number that `rumble_effect` gave");
        const BUTTON: (&str, &str) = ("button", "its index, or its name");
        const AXIS: (&str, &str) = ("axis", "its index, or its name");
        const ROWS: &[Func] = &[
            func("active", d::active::<$d>, &[], "Whether the device is there.").pure(),
            func("connected", d::connected::<$d>, &[], "Whether it came in this frame.").pure(),
            func("disconnected", d::disconnected::<$d>, &[],
                "Whether it went in this frame. Whatever was down was released with it.").pure(),
            func("used", d::used::<$d>, &[],
                "Whether a button or an axis of it was moved in this frame.").pure(),
            func("type", d::kind::<$d>, &[],
                "What it is: \"keyboard\", \"mouse\", \"pad\" or \"touch\".").pure(),
            func("category", d::kind::<$d>, &[], "The same as `type`.").pure(),
            func("name", d::name::<$d>, &[], "What its maker calls it.").pure(),
            func("num_buttons", d::num_buttons::<$d>, &[], "How many buttons it has.").pure(),
            func("num_axes", d::num_axes::<$d>, &[], "How many axes it has.").pure(),
            hot("button", d::button::<$d>, &[BUTTON],
                "How far a button is down: 0 is up, 1 is wholly down. Held buttons are asked for \
                 so: `if Keyboard.button(\"a\") > 0`.").pure(),
            hot("pressed", d::pressed::<$d>, &[BUTTON],
                "Whether the button was pressed in this frame. A tap that was over within the \
                 frame counts, too.").pure(),
            hot("released", d::released::<$d>, &[BUTTON],
                "Whether the button was released in this frame.").pure(),
            func("any_pressed", d::any_pressed::<$d>, &[],
                "The index of the first button that was pressed in this frame, or nil.").pure(),
            func("any_released", d::any_released::<$d>, &[],
                "The index of the first button that was released in this frame, or nil.").pure(),
            func("button_index", d::button_index::<$d>, &[("name", "a button's name")],
                "The index of the button of that name, from 1; nil where none is called so.")
                .pure(),
            func("button_id", d::button_index::<$d>, &[("name", "a button's name")],
                "The same as `button_index`.").pure(),
            func("button_name", d::button_name::<$d>, &[BUTTON], "The button's first name.").pure(),
            func("button_locale_name", d::button_locale_name::<$d>, &[BUTTON],
                "What is printed on the button, as far as that is known: the keys of a keyboard \
                 tell when they are first pressed. Its name otherwise.").pure(),
            hot("axis", d::axis::<$d>, &[AXIS],
                "Where an axis stands, outside of its dead zone.").pure(),
            func("axis_index", d::axis_index::<$d>, &[("name", "an axis' name")],
                "The index of the axis of that name, from 1; nil where none is called so.").pure(),
            func("axis_id", d::axis_index::<$d>, &[("name", "an axis' name")],
                "The same as `axis_index`.").pure(),
            func("axis_name", d::axis_name::<$d>, &[AXIS], "The axis' first name.").pure(),
            func("dead_zone", d::dead_zone::<$d>, &[AXIS],
                "The axis' dead zone: its mode (\"raw\", \"independent\" or \"circular\") and its \
                 size.").pure(),
            func("set_dead_zone", d::set_dead_zone::<$d>, &[AXIS,
                ("mode", "\"raw\": none; \"independent\": each direction by itself; \
                 \"circular\": both together"),
                ("size", "how much of the way counts as nothing, 0 to 1; 0 if left out")],
                "Sets how the middle of an axis is treated. What is left of the way still goes \
                 from 0 to 1. Sticks begin with \"circular\", 0.2."),
            func("num_rumble_motors", r::num_rumble_motors::<$d>, &[],
                "How many motors it has: none while it is not there.").pure(),
            func("rumble_motor_index", r::rumble_motor_index::<$d>, &[("name", "a motor's name")],
                "The index of the motor of that name, from 1; nil where none is called so. Those \
                 of pads are \"strong\" (\"left\") and \"weak\" (\"right\").").pure(),
            func("rumble_motor_id", r::rumble_motor_index::<$d>, &[("name", "a motor's name")],
                "The same as `rumble_motor_index`.").pure(),
            func("rumble_motor_name", r::rumble_motor_name::<$d>, &[MOTOR],
                "The motor's first name.").pure(),
            func("set_rumble", r::set_rumble::<$d>, &[MOTOR,
                ("strength", "0 is still, 1 is all it can")],
                "Has a motor run until it is set again, or the device goes. Effects are added."),
            func("rumble_effect", r::rumble_effect::<$d>, &[MOTOR,
                ("parameters", "a table of `attack`, `decay`, `sustain` and `release` (seconds, 0 \
                 if left out; `sustain` can be math.huge), `attack_level` and `sustain_level` (0 \
                 to 1, 1 if left out), `frequency` or `period` of a wave, and its `offset`")],
                "Starts an effect on a motor: it rises to `attack_level` in `attack` seconds, goes \
                 over to `sustain_level` in `decay`, stays there for `sustain`, and goes out in \
                 `release`. A wave of so many turns a second (`frequency`, or seconds a turn, \
                 `period`) runs through all of it, from where it is lowest; with an `offset` of \
                 0.5, from where it is highest. Time is that of frames. Returns the effect's \
                 number. 64 play on a device at once."),
            func("is_rumble_effect_playing", r::is_rumble_effect_playing::<$d>, &[MOTOR, EFFECT],
                "Whether the effect has not ended yet. It plays on a device that is there, also \
                 while `set_rumble_enabled(false)` keeps it from being felt.").pure(),
            func("stop_rumble_effect", r::stop_rumble_effect::<$d>, &[MOTOR, EFFECT],
                "Ends an effect; nothing happens where it has ended.").when_full(),
            func("stop_all_rumble_effects", r::stop_all_rumble_effects::<$d>,
                &[("motor", "its index, or its name; all motors if left out")],
                "Ends the effects of a motor. What `set_rumble` set stays.").when_full(),
            func("rumble_strength", r::rumble_strength::<$d>, &[MOTOR],
                "What a motor is to do in this frame, 0 to 1: what `set_rumble` set and its \
                 effects together.").pure(),
            func("set_rumble_enabled", r::set_rumble_enabled::<$d>,
                &[("enabled", "false: it is still, whatever is asked of it")],
                "Whether the device may rumble: for the player's own settings."),
            $($more),*
        ];
        ROWS
    }};
}

pub(super) use device_rows;
