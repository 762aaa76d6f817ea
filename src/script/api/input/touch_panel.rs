//! The Lua module `TouchPanel`: the device, and the fingers on it.

use crate::api::input::device::device_rows;
use crate::api_row::{ModuleRows, module};
use crate::argument::Integer;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec2, Vec3};
use engine_input::{FINGERS_MAX, Finger, SwipeDirection, TOUCH, TwoFingerGesture};
use engine_runtime::Engine;

/// Name and description of the argument of every row that queries a finger.
const CONTACT: (&str, &str) = ("contact", "a finger's number, from `contacts`");

pub static TOUCH_MODULE: ModuleRows = module(
    "TouchPanel",
    "The fingers on a touch panel. A finger has a number from 1, which it keeps while it is down. \
     Finger 1 is also the button \"touch\" and the axis \"cursor\". Positions are in logical \
     pixels from the lower left corner of the window.",
    r#"for _, contact in ipairs(TouchPanel.contacts()) do
  print(contact, TouchPanel.location(contact))
end
assert(TouchPanel.num_contacts() == 0)"#,
    device_rows!(
        { TOUCH.0 },
        func("num_contacts", num_contacts, &[], "Returns the number of fingers on the panel.")
            .pure(),
        func(
            "contacts",
            contacts,
            &[],
            "Returns the numbers of the fingers on the panel, including those that left it in this \
             frame.",
        )
        .pure(),
        func("has_contact", has_contact, &[CONTACT], "Returns true if the finger is on the panel.")
            .pure(),
        func("is_primary", is_primary, &[CONTACT], "Returns true if the finger is finger 1.")
            .pure(),
        func(
            "is_touch_down",
            is_touch_down,
            &[CONTACT],
            "Returns true if the finger touched down in this frame."
        )
        .pure(),
        func(
            "is_touch_up",
            is_touch_up,
            &[CONTACT],
            "Returns true if the finger left the panel in this frame."
        )
        .pure(),
        func("location", location, &[CONTACT], "Returns the position of the finger.").pure(),
        func(
            "location_delta",
            location_delta,
            &[CONTACT],
            "Returns how far the finger moved in this frame."
        )
        .pure(),
        func(
            "pressure",
            pressure,
            &[CONTACT],
            "Returns the pressure of the finger, 0 to 1; 1 if the panel does not measure it.",
        )
        .pure(),
        func(
            "resolution",
            resolution,
            &[],
            "Returns the width and height of the area that fingers can reach, in logical pixels: \
             those of the window.",
        )
        .returns(&["width in logical pixels", "height in logical pixels"])
        .pure(),
        func(
            "gesture_tap",
            gesture_tap,
            &[],
            "Returns the position at which a finger tapped in this frame, or nil. A tap is a \
             finger that left the panel within 0.3 seconds, near the point where it touched down. \
             If there are several, returns the newest.",
        )
        .pure(),
        func(
            "gesture_tap_sequence",
            gesture_tap_sequence,
            &[],
            "Returns a tap in this frame with the taps before it, or nil. Each tap followed the \
             previous one within 0.3 seconds and 48 pixels. The result is a list of tables with \
             `x` and `y`, oldest first, new in each call. Two entries are a double tap. At most 16 \
             are remembered.",
        )
        .pure(),
        func(
            "gesture_long_press",
            gesture_long_press,
            &[],
            "Returns the position at which a finger has rested for half a second, in the frame in \
             which that time is over, or nil.",
        )
        .pure(),
        func(
            "gesture_swipe",
            gesture_swipe,
            &[],
            "Returns the direction in which a finger swiped: \"left\", \"right\", \"up\" or \
             \"down\". Returns it in the frame in which the finger has moved 48 pixels within half \
             a second, mostly in that direction; otherwise nil.",
        )
        .pure(),
        func(
            "gesture_pinch",
            gesture_pinch,
            &[],
            "Returns the pinch of two fingers that move together or apart, or nil. The result is a \
             table, new in each call, with `scale` (since the pinch began, 1 at first), \
             `scale_per_second`, `x` and `y` (the middle between the fingers), `began` and \
             `ended`. `began` and `ended` are true in the frame in which the pinch begins or ends. \
             A pinch begins once the fingers are 16 pixels nearer or farther apart than they were.",
        )
        .pure(),
        func(
            "gesture_rotate",
            gesture_rotate,
            &[],
            "Returns the rotation of two fingers around each other, or nil. The result is a table, \
             new in each call, with `rotation` (in radians, counterclockwise, since it began), \
             `rotation_per_second`, `x` and `y` (the middle between the fingers), `began` and \
             `ended`. `began` and `ended` are true in the frame in which the rotation begins or \
             ends. A rotation begins once the fingers have turned by ten degrees.",
        )
        .pure(),
    ),
);

fn number(contact: Integer) -> Result<usize, Error> {
    let at = usize::try_from(contact.0 - 1).ok().filter(|at| *at < FINGERS_MAX);
    at.ok_or_else(|| {
        let got = contact.0;
        engine_foundation::error!("argument #1 'contact' must be 1 to {FINGERS_MAX}, got {got}")
    })
}

fn finger(engine: &mut Engine, contact: Integer) -> Result<Option<Finger>, Error> {
    Ok(engine.devices.input.fingers()[number(contact)?])
}

fn down(engine: &mut Engine, contact: Integer) -> Result<Finger, Error> {
    let number = contact.0;
    finger(engine, contact)?.ok_or_else(|| {
        engine_foundation::error!(
            "argument #1 'contact': there is no finger {number} on the panel (ask \
             TouchPanel.has_contact)"
        )
    })
}

fn num_contacts(engine: &mut Engine) -> u64 {
    engine.devices.input.fingers().iter().flatten().filter(|finger| !finger.disappeared).count()
        as u64
}

fn contacts(engine: &mut Engine) -> ScriptValue {
    let fingers = engine.devices.input.fingers().iter().enumerate();
    let there = fingers.filter(|(_, finger)| finger.is_some());
    ScriptValue::List(there.map(|(at, _)| ScriptValue::Number((at + 1) as f64)).collect())
}

fn has_contact(engine: &mut Engine, contact: Integer) -> Result<bool, Error> {
    Ok(finger(engine, contact)?.is_some_and(|finger| !finger.disappeared))
}

fn is_primary(_: &mut Engine, contact: Integer) -> Result<bool, Error> {
    number(contact).map(|at| at == 0)
}

fn is_touch_down(engine: &mut Engine, contact: Integer) -> Result<bool, Error> {
    Ok(finger(engine, contact)?.is_some_and(|finger| finger.appeared))
}

fn is_touch_up(engine: &mut Engine, contact: Integer) -> Result<bool, Error> {
    Ok(finger(engine, contact)?.is_some_and(|finger| finger.disappeared))
}

fn location(engine: &mut Engine, contact: Integer) -> Result<Vec3, Error> {
    down(engine, contact).map(|finger| finger.at)
}

fn location_delta(engine: &mut Engine, contact: Integer) -> Result<Vec3, Error> {
    down(engine, contact).map(|finger| finger.by)
}

fn pressure(engine: &mut Engine, contact: Integer) -> Result<f64, Error> {
    down(engine, contact).map(|finger| f64::from(finger.pressure))
}

fn resolution(engine: &mut Engine) -> (f64, f64) {
    let size = engine.devices.window.picture_size();
    (f64::from(size.x), f64::from(size.y))
}

fn gesture_tap(engine: &mut Engine) -> Option<Vec2> {
    engine.devices.input.gestures().tap()
}

fn gesture_tap_sequence(engine: &mut Engine) -> ScriptValue {
    let taps = engine.devices.input.gestures().tap_sequence();
    if taps.is_empty() {
        return ScriptValue::Nil;
    }
    ScriptValue::List(
        taps.iter().map(|tap| ScriptValue::Table(position_fields(*tap).to_vec())).collect(),
    )
}

fn gesture_long_press(engine: &mut Engine) -> Option<Vec2> {
    engine.devices.input.gestures().long_press()
}

fn gesture_swipe(engine: &mut Engine) -> Option<String> {
    let word = match engine.devices.input.gestures().swipe()? {
        SwipeDirection::Left => "left",
        SwipeDirection::Right => "right",
        SwipeDirection::Up => "up",
        SwipeDirection::Down => "down",
    };
    Some(word.to_string())
}

fn gesture_pinch(engine: &mut Engine) -> ScriptValue {
    gesture_table(engine.devices.input.gestures().pinch(), "scale")
}

fn gesture_rotate(engine: &mut Engine) -> ScriptValue {
    gesture_table(engine.devices.input.gestures().rotation(), "rotation")
}

fn position_fields(at: Vec2) -> [(String, ScriptValue); 2] {
    [("x", at.x), ("y", at.y)]
        .map(|(key, part)| (key.to_string(), ScriptValue::Number(f64::from(part))))
}

/// Converts a gesture of two fingers into a table, with its value under the key `name`.
fn gesture_table(gesture: Option<TwoFingerGesture>, name: &str) -> ScriptValue {
    let Some(gesture) = gesture else { return ScriptValue::Nil };
    let number = |key: String, value: f32| (key, ScriptValue::Number(f64::from(value)));
    let mut entries = vec![
        ("began".to_string(), ScriptValue::Boolean(gesture.began)),
        ("ended".to_string(), ScriptValue::Boolean(gesture.ended)),
        number(name.to_string(), gesture.value),
        number(format!("{name}_per_second"), gesture.per_second),
    ];
    entries.extend(position_fields(gesture.at));
    ScriptValue::Table(entries)
}
