//! `TouchPanel`: the device, and the fingers on it.

use super::device::device_rows;
use crate::engine::Engine;
use crate::foundation::{Error, Vec2, Vec3};
use crate::script::arg::Integer;
use crate::script::row::{Module, module};
use crate::script::value::Value;
use crate::system::input::{FINGERS_MAX, Finger, Going, Swipe, TOUCH};

/// What every row that asks of a finger says of its argument.
const CONTACT: (&str, &str) = ("contact", "a finger's number, as `contacts` gives them");

pub static TOUCH_MODULE: Module = module(
    "TouchPanel",
    "The fingers on a touch panel. A finger has a number from 1, which it keeps while it is down. \
     Finger 1 is the button \"touch\" and the axis \"cursor\", too. Places are logical pixels from \
     the lower left corner of the window.",
    r#"for _, contact in ipairs(TouchPanel.contacts()) do
  print(contact, TouchPanel.location(contact))
end
assert(TouchPanel.num_contacts() == 0)"#,
    device_rows!(
        { TOUCH.0 },
        func("num_contacts", num_contacts, &[], "How many fingers are on the panel.").pure(),
        func(
            "contacts",
            contacts,
            &[],
            "The numbers of the fingers on the panel, also of those that left it in this frame.",
        )
        .pure(),
        func("has_contact", has_contact, &[CONTACT], "Whether the finger is on the panel.").pure(),
        func("is_primary", is_primary, &[CONTACT], "Whether it is finger 1.").pure(),
        func("is_touch_down", is_touch_down, &[CONTACT], "Whether it came in this frame.").pure(),
        func("is_touch_up", is_touch_up, &[CONTACT], "Whether it left in this frame.").pure(),
        func("location", location, &[CONTACT], "Where the finger is.").pure(),
        func("location_delta", location_delta, &[CONTACT], "How far it moved in this frame.")
            .pure(),
        func(
            "pressure",
            pressure,
            &[CONTACT],
            "How hard it presses, 0 to 1; 1 where the panel does not feel that.",
        )
        .pure(),
        func(
            "resolution",
            resolution,
            &[],
            "Width and height of what fingers can reach, in logical pixels: the window's.",
        )
        .pure(),
        func(
            "gesture_tap",
            gesture_tap,
            &[],
            "Where a finger tapped in this frame, or nil: it left the panel within 0.3 seconds, \
             near to where it came. Of several, the newest.",
        )
        .pure(),
        func(
            "gesture_tap_sequence",
            gesture_tap_sequence,
            &[],
            "Where a finger tapped in this frame, or nil, with the taps before it that it \
             followed within 0.3 seconds and 48 pixels: a list of tables with `x` and `y`, oldest \
             first, new in each call. Two of them are a double tap. At most 16 are remembered.",
        )
        .pure(),
        func(
            "gesture_long_press",
            gesture_long_press,
            &[],
            "Where a finger has rested for half a second, in the frame in which it has, or nil.",
        )
        .pure(),
        func(
            "gesture_swipe",
            gesture_swipe,
            &[],
            "Where a finger swiped to: \"left\", \"right\", \"up\" or \"down\", in the frame in \
             which it has gone 48 pixels within half a second, mostly in that direction, or nil.",
        )
        .pure(),
        func(
            "gesture_pinch",
            gesture_pinch,
            &[],
            "Two fingers that come nearer or go apart, or nil: a table, new in each call, with \
             `scale` (since it began, 1 at first), `scale_per_second`, the middle between the \
             fingers as `x` and `y`, and whether it `began` or `ended` in this frame. It begins \
             once they are 16 pixels nearer, or farther apart, than they were.",
        )
        .pure(),
        func(
            "gesture_rotate",
            gesture_rotate,
            &[],
            "Two fingers that turn about each other, or nil: a table, new in each call, with \
             `rotation` (in radians, counterclockwise, since it began), `rotation_per_second`, \
             the middle between the fingers as `x` and `y`, and whether it `began` or `ended` in \
             this frame. It begins once they have turned by ten degrees.",
        )
        .pure(),
    ),
);

fn number(contact: Integer) -> Result<usize, Error> {
    let at = usize::try_from(contact.0 - 1).ok().filter(|at| *at < FINGERS_MAX);
    at.ok_or_else(|| {
        let got = contact.0;
        crate::error!("argument #1 'contact' must be 1 to {FINGERS_MAX}, got {got}")
    })
}

fn finger(engine: &mut Engine, contact: Integer) -> Result<Option<Finger>, Error> {
    Ok(engine.input.fingers()[number(contact)?])
}

fn down(engine: &mut Engine, contact: Integer) -> Result<Finger, Error> {
    let number = contact.0;
    finger(engine, contact)?.ok_or_else(|| {
        crate::error!(
            "argument #1 'contact': there is no finger {number} on the panel (ask \
             TouchPanel.has_contact)"
        )
    })
}

fn num_contacts(engine: &mut Engine) -> u64 {
    engine.input.fingers().iter().flatten().filter(|finger| !finger.went).count() as u64
}

fn contacts(engine: &mut Engine) -> Value {
    let fingers = engine.input.fingers().iter().enumerate();
    let there = fingers.filter(|(_, finger)| finger.is_some());
    Value::List(there.map(|(at, _)| Value::Number((at + 1) as f64)).collect())
}

fn has_contact(engine: &mut Engine, contact: Integer) -> Result<bool, Error> {
    Ok(finger(engine, contact)?.is_some_and(|finger| !finger.went))
}

fn is_primary(_: &mut Engine, contact: Integer) -> Result<bool, Error> {
    number(contact).map(|at| at == 0)
}

fn is_touch_down(engine: &mut Engine, contact: Integer) -> Result<bool, Error> {
    Ok(finger(engine, contact)?.is_some_and(|finger| finger.came))
}

fn is_touch_up(engine: &mut Engine, contact: Integer) -> Result<bool, Error> {
    Ok(finger(engine, contact)?.is_some_and(|finger| finger.went))
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
    let size = engine.window.logical();
    (f64::from(size.x), f64::from(size.y))
}

fn gesture_tap(engine: &mut Engine) -> Option<Vec2> {
    engine.input.gestures().tap()
}

fn gesture_tap_sequence(engine: &mut Engine) -> Value {
    let taps = engine.input.gestures().tap_sequence();
    if taps.is_empty() {
        return Value::Nil;
    }
    Value::List(taps.iter().map(|tap| Value::Table(place(*tap).to_vec())).collect())
}

fn gesture_long_press(engine: &mut Engine) -> Option<Vec2> {
    engine.input.gestures().long_press()
}

fn gesture_swipe(engine: &mut Engine) -> Option<String> {
    let word = match engine.input.gestures().swipe()? {
        Swipe::Left => "left",
        Swipe::Right => "right",
        Swipe::Up => "up",
        Swipe::Down => "down",
    };
    Some(word.to_string())
}

fn gesture_pinch(engine: &mut Engine) -> Value {
    going(engine.input.gestures().pinch(), "scale")
}

fn gesture_rotate(engine: &mut Engine) -> Value {
    going(engine.input.gestures().rotation(), "rotation")
}

fn place(at: Vec2) -> [(String, Value); 2] {
    [("x", at.x), ("y", at.y)].map(|(key, part)| (key.to_string(), Value::Number(f64::from(part))))
}

/// A gesture of two fingers as a table, with its value under this name.
fn going(going: Option<Going>, name: &str) -> Value {
    let Some(going) = going else { return Value::Nil };
    let number = |key: String, value: f32| (key, Value::Number(f64::from(value)));
    let mut entries = vec![
        ("began".to_string(), Value::Boolean(going.began)),
        ("ended".to_string(), Value::Boolean(going.ended)),
        number(name.to_string(), going.value),
        number(format!("{name}_per_second"), going.per_second),
    ];
    entries.extend(place(going.at));
    Value::Table(entries)
}
