//! `Input`, its part in Rust: what happened in this frame, in order. Actions and their bindings are
//! the prelude's (lua/input.lua).

use super::device::class_of;
use crate::engine::Engine;
use crate::foundation::Vec3;
use crate::script::cx::Cx;
use crate::script::ret::{Many, Ret};
use crate::script::row::{Module, func, module};
use crate::script::types::{Shape, Type};
use crate::script::value::Value;
use crate::system::input::names::{Class, MOUSE_WHEEL};
use crate::system::input::{DEVICES, DeviceId, Event, MOUSE, PAD, PRESSED_AT, Phase, Throw, What};
use mlua::ffi::lua_State;
use std::ffi::c_int;

pub static INPUT: Module = module(
    "Input",
    "All devices together: what happened, in its order, and actions, which are what a game asks \
     for, bound to keys, buttons and sticks that the player can change.",
    r#"Input.set_actions({ jump = { "space", "pad:a" } })
assert(not Input.pressed("jump"))
assert(#Input.events() == 0)"#,
    &[
        func(
            "events",
            events,
            &[],
            "What happened to all devices since the last frame, in its order: a list of tables. \
             Each has `type`, `device` (\"keyboard\", \"mouse\", \"touch\", \"pad1\" …) and `age`, \
             the seconds before the frame that it happened. \"button\": `button` (its name), \
             `index`, `value`, `repeated`; \"axis\" and \"motion\": `axis`, `x`, `y`; \"text\": \
             `text`; \"compose\": `text`; \"touch\": `finger`, `phase` (\"began\", \"moved\", \
             \"ended\", or \"cancelled\" by the system), `x`, `y`, `pressure`; \"connected\": \
             `name`; \"disconnected\"; \"reset\": \
             all that was down counts as released, as when the window loses the focus.",
        )
        .pure(),
        func(
            "any_pressed",
            any_pressed,
            &[],
            "What the player pressed first in this frame, as a binding such as \"space\", \
             \"mouse:left\", \"pad:a\" or \"pad:left.x+\", and the device (\"pad2\"); nil where \
             nothing was. For a menu in which actions are bound: a stick counts once until it was \
             back in its middle.",
        )
        .pure(),
        func(
            "last_device",
            last_device,
            &[],
            "The device that the player used last, by the name that `events` has: for showing the \
             buttons of that one.",
        )
        .pure(),
    ],
);

/// What scripts call a device.
pub fn device_name(device: DeviceId) -> String {
    let class = class_of(device.0).name();
    match device.0.checked_sub(PAD.0) {
        Some(number) => format!("{class}{}", number + 1),
        None => class.to_string(),
    }
}

/// The device that scripts call so.
pub fn device_of(name: &str) -> Option<DeviceId> {
    (0..DEVICES as u8).map(DeviceId).find(|device| device_name(*device) == name)
}

/// A binding and its device, or nil.
struct Pressed(Option<(String, DeviceId)>);

impl Ret for Pressed {
    const TYPES: &'static [Type] =
        &[Type::new("string", Shape::Boxed).or_nil(), Type::new("string", Shape::Boxed).or_nil()];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        let values = match self.0 {
            Some((binding, device)) => [binding, device_name(device)].map(Value::Text),
            None => [Value::Nil, Value::Nil],
        };
        // SAFETY: as the caller promised.
        unsafe { Many(values.to_vec()).push(l, cx) }
    }
}

fn any_pressed(engine: &mut Engine) -> Pressed {
    let input = &engine.input;
    let pressed = input.events().iter().enumerate().find_map(|(at, event)| {
        let Event { device, what, .. } = event;
        let class = class_of(device.0);
        let name = match what {
            What::Button { button, value, repeat: false } if *value >= PRESSED_AT => {
                let button = usize::from(*button);
                let name = class.buttons().get(button)?.name;
                input.device(*device).pressed(button).then(|| name.to_string())
            }
            What::Axis { .. } => {
                let Throw { axis, part, positive } = input.thrown_by(at)?;
                let (part, sign) = (["x", "y"][part], if positive { "+" } else { "-" });
                Some(format!("{}.{part}{sign}", class.axes()[axis].name))
            }
            What::Motion { axis, by } if *device == MOUSE && usize::from(*axis) == MOUSE_WHEEL => {
                let sign = if by.y > 0.0 { "+" } else { "-" };
                (by.y != 0.0).then(|| format!("wheel.y{sign}"))
            }
            _ => None,
        }?;
        let binding = match class {
            Class::Keyboard => name,
            _ => format!("{}:{name}", class.name()),
        };
        Some((binding, *device))
    });
    Pressed(pressed)
}

fn last_device(engine: &mut Engine) -> String {
    device_name(engine.input.last_used())
}

fn events(engine: &mut Engine) -> Value {
    let events = engine.input.events().iter();
    Value::List(events.filter_map(event).collect())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_string())
}

fn number(number: f32) -> Value {
    Value::Number(f64::from(number))
}

fn place(fields: &mut Vec<(&str, Value)>, at: Vec3) {
    fields.push(("x", number(at.x)));
    fields.push(("y", number(at.y)));
}

/// An event as a table; nothing where it is of no use to scripts.
fn event(event: &Event) -> Option<Value> {
    let class = class_of(event.device.0);
    let mut fields =
        vec![("device", Value::Text(device_name(event.device))), ("age", Value::Number(event.age))];
    let axis_name = |axis: u8| Some(text(class.axes().get(usize::from(axis))?.name));
    let kind = match &event.what {
        What::Button { button, value, repeat } => {
            let index = usize::from(*button);
            fields.push(("button", text(class.buttons().get(index)?.name)));
            fields.push(("index", Value::Number((index + 1) as f64)));
            fields.push(("value", number(*value)));
            fields.push(("repeated", Value::Boolean(*repeat)));
            "button"
        }
        What::Axis { axis, value } => {
            fields.push(("axis", axis_name(*axis)?));
            place(&mut fields, *value);
            "axis"
        }
        What::Motion { axis, by } => {
            fields.push(("axis", axis_name(*axis)?));
            place(&mut fields, *by);
            "motion"
        }
        What::Label { .. } => return None,
        What::Text(typed) => {
            fields.push(("text", text(typed)));
            "text"
        }
        What::Compose { text: composed, .. } => {
            fields.push(("text", text(composed)));
            "compose"
        }
        What::Touch { finger, phase, at, pressure } => {
            fields.push(("finger", Value::Number(*finger as f64)));
            fields.push((
                "phase",
                text(match phase {
                    Phase::Began => "began",
                    Phase::Moved => "moved",
                    Phase::Ended => "ended",
                    Phase::Cancelled => "cancelled",
                }),
            ));
            place(&mut fields, *at);
            fields.push(("pressure", number(*pressure)));
            "touch"
        }
        What::Connected { name, .. } => {
            fields.push(("name", text(name)));
            "connected"
        }
        What::Disconnected => "disconnected",
        What::Reset => "reset",
    };
    fields.push(("type", text(kind)));
    let mut entries: Vec<_> =
        fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(Value::Table(entries))
}
