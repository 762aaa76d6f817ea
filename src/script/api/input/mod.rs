//! The Rust part of the Lua module `Input`: the input events of this frame, in order. Actions and
//! their bindings are in the prelude (lua/input/input.lua).

pub(super) mod device;
pub(super) mod keyboard;
pub(super) mod mouse;
pub(super) mod pad;
pub(super) mod rumble;
pub(super) mod touch_panel;

use crate::api::input::device::class_of;
use crate::api_row::{ModuleRows, NodeFlag, func, module};
use crate::context::ScriptContext;
use crate::return_value::{ManyResults, ReturnValue};
use crate::types::{ApiType, ValueShape};
use crate::value::ScriptValue;
use engine_foundation::Vec3;
use engine_input::button_names::{DeviceClass, MOUSE_WHEEL};
use engine_input::{
    AxisDirection, DEVICES, DeviceId, EventKind, InputEvent, MOUSE, PAD, PRESSED_AT, TouchPhase,
};
use engine_runtime::Engine;
use mlua::ffi::lua_State;
use std::ffi::c_int;

pub static INPUT: ModuleRows = module(
    "Input",
    "All devices together: events in their order, and actions. A game reads actions, which are \
     bound to keys, buttons and sticks that the player can change.",
    r#"Input.set_actions({ jump = { "space", "pad:a" } })
assert(not Input.pressed("jump"))
assert(#Input.events() == 0)"#,
    &[
        func(
            "events",
            events,
            &[],
            "Returns the events of all devices since the last frame, in order, as a list of \
             tables. Each has `type`, `device` (\"keyboard\", \"mouse\", \"touch\", \"pad1\" …) \
             and `age`, the seconds between the event and the frame. \"button\": `button` (its \
             name), `index`, `value`, `repeated`; \"axis\" and \"motion\": `axis`, `x`, `y`; \
             \"text\": `text`; \"compose\": `text`; \"touch\": `finger`, `phase` (\"began\", \
             \"moved\", \"ended\", or \"cancelled\" by the system), `x`, `y`, `pressure`; \
             \"connected\": `name`; \"disconnected\"; \"reset\": everything that was down counts \
             as released, for example because the window lost the focus.",
        )
        .pure()
        .node(NodeFlag::Hidden),
        func(
            "any_pressed",
            any_pressed,
            &[],
            "Returns what the player pressed first in this frame, as a binding such as \"space\", \
             \"mouse:left\", \"pad:a\" or \"pad:left.x+\", and the device (\"pad2\"); nil if \
             nothing was pressed. Use it in a menu that binds actions: a stick counts once, until \
             it is back in its middle.",
        )
        .returns(&["binding or nil", "device such as \"pad2\", or nil"])
        .pure(),
        func(
            "last_device",
            last_device,
            &[],
            "Returns the device that the player used last, by its name in `events`. Use it to show \
             the matching button labels.",
        )
        .pure(),
    ],
);

/// Returns the name of a device in scripts.
pub fn device_name(device: DeviceId) -> String {
    let class = class_of(device.0).name();
    match device.0.checked_sub(PAD.0) {
        Some(number) => format!("{class}{}", number + 1),
        None => class.to_string(),
    }
}

/// Returns the device that has this name in scripts.
pub fn device_of(name: &str) -> Option<DeviceId> {
    (0..DEVICES as u8).map(DeviceId).find(|device| device_name(*device) == name)
}

/// A binding and its device, or nil.
struct PressedBinding(Option<(String, DeviceId)>);

impl ReturnValue for PressedBinding {
    const TYPES: &'static [ApiType] = &[
        ApiType::new("string", ValueShape::Boxed).or_nil(),
        ApiType::new("string", ValueShape::Boxed).or_nil(),
    ];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        let values = match self.0 {
            Some((binding, device)) => [binding, device_name(device)].map(ScriptValue::Text),
            None => [ScriptValue::Nil, ScriptValue::Nil],
        };
        // SAFETY: as the caller promised.
        unsafe { ManyResults(values.to_vec()).push(l, cx) }
    }
}

fn any_pressed(engine: &mut Engine) -> PressedBinding {
    let input = &engine.devices.input;
    let pressed = input.events().iter().enumerate().find_map(|(at, event)| {
        let InputEvent { device, kind, .. } = event;
        let class = class_of(device.0);
        let name = match kind {
            EventKind::Button { button, value, repeat: false } if *value >= PRESSED_AT => {
                let button = usize::from(*button);
                let name = class.buttons().get(button)?.name;
                input.device(*device).pressed(button).then(|| name.to_string())
            }
            EventKind::Axis { .. } => {
                let AxisDirection { axis, part, positive } = input.flick_of(at)?;
                let (part, sign) = (["x", "y"][part], if positive { "+" } else { "-" });
                Some(format!("{}.{part}{sign}", class.axes()[axis].name))
            }
            EventKind::Motion { axis, by }
                if *device == MOUSE && usize::from(*axis) == MOUSE_WHEEL =>
            {
                let sign = if by.y > 0.0 { "+" } else { "-" };
                (by.y != 0.0).then(|| format!("wheel.y{sign}"))
            }
            _ => None,
        }?;
        let binding = match class {
            DeviceClass::Keyboard => name,
            _ => format!("{}:{name}", class.name()),
        };
        Some((binding, *device))
    });
    PressedBinding(pressed)
}

fn last_device(engine: &mut Engine) -> String {
    device_name(engine.devices.input.last_used())
}

fn events(engine: &mut Engine) -> ScriptValue {
    let events = engine.devices.input.events().iter();
    ScriptValue::List(events.filter_map(event).collect())
}

fn text(text: &str) -> ScriptValue {
    ScriptValue::Text(text.to_string())
}

fn number(number: f32) -> ScriptValue {
    ScriptValue::Number(f64::from(number))
}

fn push_position(fields: &mut Vec<(&str, ScriptValue)>, at: Vec3) {
    fields.push(("x", number(at.x)));
    fields.push(("y", number(at.y)));
}

/// Converts an event into a table; `None` if the event is of no use to scripts.
fn event(event: &InputEvent) -> Option<ScriptValue> {
    let class = class_of(event.device.0);
    let mut fields = vec![
        ("device", ScriptValue::Text(device_name(event.device))),
        ("age", ScriptValue::Number(event.age)),
    ];
    let axis_name = |axis: u8| Some(text(class.axes().get(usize::from(axis))?.name));
    let kind = match &event.kind {
        EventKind::Button { button, value, repeat } => {
            let index = usize::from(*button);
            fields.push(("button", text(class.buttons().get(index)?.name)));
            fields.push(("index", ScriptValue::Number((index + 1) as f64)));
            fields.push(("value", number(*value)));
            fields.push(("repeated", ScriptValue::Boolean(*repeat)));
            "button"
        }
        EventKind::Axis { axis, value } => {
            fields.push(("axis", axis_name(*axis)?));
            push_position(&mut fields, *value);
            "axis"
        }
        EventKind::Motion { axis, by } => {
            fields.push(("axis", axis_name(*axis)?));
            push_position(&mut fields, *by);
            "motion"
        }
        EventKind::Label { .. } => return None,
        EventKind::Text(typed) => {
            fields.push(("text", text(typed)));
            "text"
        }
        EventKind::Compose { text: composed, .. } => {
            fields.push(("text", text(composed)));
            "compose"
        }
        EventKind::Touch { finger, phase, at, pressure } => {
            fields.push(("finger", ScriptValue::Number(*finger as f64)));
            fields.push((
                "phase",
                text(match phase {
                    TouchPhase::Began => "began",
                    TouchPhase::Moved => "moved",
                    TouchPhase::Ended => "ended",
                    TouchPhase::Cancelled => "cancelled",
                }),
            ));
            push_position(&mut fields, *at);
            fields.push(("pressure", number(*pressure)));
            "touch"
        }
        EventKind::Connected { name, .. } => {
            fields.push(("name", text(name)));
            "connected"
        }
        EventKind::Disconnected => "disconnected",
        EventKind::Reset => "reset",
    };
    fields.push(("type", text(kind)));
    let mut entries: Vec<_> =
        fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(ScriptValue::Table(entries))
}
