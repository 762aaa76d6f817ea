//! What the desktop tells, as events of devices and news of the window: where the two systems meet.

use super::given::Given;
use crate::foundation::Vec3;
use crate::system::input::names::{MOUSE_CURSOR, MOUSE_MOTION, MOUSE_WHEEL, key_of_code};
use crate::system::input::{DeviceId, Event, Input, KEYBOARD, MOUSE, Phase, TOUCH, What};
use crate::system::window::{Change, Told, Touched};

/// Sorts what was told into a frame's.
pub fn sort(told: Vec<Told>, input: &Input, given: &mut Given) {
    let mut event = |device: DeviceId, what: What| {
        given.events.push(Event { device, age: 0.0, what });
    };
    let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    for one in told {
        match one {
            Told::Change(change) => {
                if change == Change::Focus(false) {
                    // Nobody will tell what is let go of from here on.
                    event(KEYBOARD, What::Reset);
                    event(MOUSE, What::Reset);
                }
                given.changes.push(change);
            }
            Told::Key { code, pressed, repeat, label, text } => {
                if let Some(key) = key_of_code(&code) {
                    let button = key as u16;
                    if let Some(text) = label
                        && input.device(KEYBOARD).label(key) != Some(&text)
                    {
                        event(KEYBOARD, What::Label { button, text });
                    }
                    let value = if pressed { 1.0 } else { 0.0 };
                    event(KEYBOARD, What::Button { button, value, repeat });
                }
                if let Some(text) = text {
                    event(KEYBOARD, What::Text(text));
                }
            }
            Told::MouseButton { button, pressed } => {
                let value = if pressed { 1.0 } else { 0.0 };
                event(MOUSE, What::Button { button, value, repeat: false });
            }
            Told::Cursor { x, y } => {
                event(MOUSE, What::Axis { axis: MOUSE_CURSOR as u8, value: at(x, y) });
            }
            Told::MouseMotion { x, y } => {
                event(MOUSE, What::Motion { axis: MOUSE_MOTION as u8, by: at(x, y) });
            }
            Told::Wheel { x, y } => {
                event(MOUSE, What::Motion { axis: MOUSE_WHEEL as u8, by: at(x, y) });
            }
            Told::Touch { finger, what, x, y, pressure } => {
                let phase = match what {
                    Touched::Began => Phase::Began,
                    Touched::Moved => Phase::Moved,
                    Touched::Ended => Phase::Ended,
                };
                event(TOUCH, What::Touch { finger, phase, at: at(x, y), pressure });
            }
            // Desktops tell the end of composing where none had begun, too.
            Told::Compose { text, .. } if text == input.composing().text && text.is_empty() => {}
            Told::Compose { text, cursor } => event(KEYBOARD, What::Compose { text, cursor }),
            Told::Composed(text) => event(KEYBOARD, What::Text(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_by_their_places_and_the_focus_releases_them() {
        let key = |code: &str, pressed| Told::Key {
            code: code.into(),
            pressed,
            repeat: false,
            label: Some("ö".into()),
            text: pressed.then(|| "ö".into()),
        };
        let mut input = Input::default();
        let mut given = Given::default();
        let told = vec![
            key("Semicolon", true),
            key("NoSuchKey", true),
            Told::Change(Change::Focus(false)),
        ];
        sort(told, &input, &mut given);
        assert_eq!(given.events.len(), 6, "{given:?}");
        input.begin_frame(given.events);
        let semicolon = key_of_code("Semicolon").unwrap();
        let keyboard = input.device(KEYBOARD);
        assert!(keyboard.pressed(semicolon) && keyboard.released(semicolon));
        assert_eq!(keyboard.label(semicolon), Some("ö"));
        // The label is known now, and not told again.
        let mut given = Given::default();
        sort(vec![key("Semicolon", false)], &input, &mut given);
        assert_eq!(given.events.len(), 1);
    }
}
