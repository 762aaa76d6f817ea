//! What the desktop tells, as events of devices and news of the window: where the two systems meet.

use super::given::Given;
use crate::engine::Engine;
use crate::foundation::Vec3;
use crate::system::input::names::{MOUSE_CURSOR, MOUSE_MOTION, MOUSE_WHEEL, key_of_code};
use crate::system::input::{
    DEVICES, DeviceId, Event, Input, KEYBOARD, MOUSE, PAD, Phase, TOUCH, What,
};
use crate::system::window::{Change, Told, Touched};

fn reset(device: DeviceId) -> Event {
    Event { device, age: 0.0, what: What::Reset }
}

fn pads_let_go(input: &Input) -> impl Iterator<Item = Event> {
    let pads = (PAD.0..DEVICES as u8).map(DeviceId);
    pads.filter(|pad| input.device(*pad).connected).map(reset)
}

/// What the window's loss of the focus is for devices: nobody tells, or nobody is to be told, what
/// is let go of from here on.
pub fn let_go(input: &Input) -> impl Iterator<Item = Event> {
    [KEYBOARD, MOUSE].map(reset).into_iter().chain(pads_let_go(input))
}

/// Lets go of the pads where the focus went to another program: between windows of the game it
/// moves without them.
pub fn let_go_of_pads(input: &Input, has_focus: bool, given: &mut Given) {
    if !has_focus && given.changes.iter().any(takes_focus) {
        given.events.extend(pads_let_go(input));
    }
}

/// Takes what is done with pads out of a frame's: the player does it in another window. That they
/// come and go is told.
pub fn without_pads(events: &mut Vec<Event>) {
    let is_done = |what: &What| matches!(what, What::Button { .. } | What::Axis { .. });
    events.retain(|event| event.device.0 < PAD.0 || !is_done(&event.what));
}

/// Whether one of the game's windows has the focus once it is known what changed.
pub fn has_focus(engine: &Engine, changes: &[Change]) -> bool {
    let windows = engine.windows.iter().map(|(id, window)| (Some(id.number()), window));
    windows.chain([(None, &engine.window)]).any(|(number, window)| {
        let mut told = changes.iter().rev().filter_map(|change| change.of(number));
        let told = told.find_map(|change| match change {
            Change::Focus(focused) => Some(*focused),
            Change::Gone => Some(false),
            _ => None,
        });
        told.unwrap_or(window.focused)
    })
}

/// Whether a change takes the focus from one of the game's windows.
fn takes_focus(change: &Change) -> bool {
    match change {
        Change::Of(_, change) => takes_focus(change),
        change => *change == Change::Focus(false),
    }
}

/// Sorts what was told into a frame's.
pub fn sort(told: Vec<Told>, input: &Input, given: &mut Given) {
    let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    for one in told {
        let mut event = |device: DeviceId, what: What| {
            given.events.push(Event { device, age: 0.0, what });
        };
        match one {
            Told::Change(change) => {
                if takes_focus(&change) {
                    given.events.extend([KEYBOARD, MOUSE].map(reset));
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
                    Touched::Cancelled => Phase::Cancelled,
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

    fn connected(number: usize) -> Event {
        let device = crate::system::input::pad(number).unwrap();
        Event { device, age: 0.0, what: What::Connected { name: "Pad".into(), motors: 0 } }
    }

    #[test]
    fn pads_are_let_go_of_with_the_focus_and_not_heard_without_it() {
        let mut input = Input::default();
        input.begin_frame(vec![connected(2)]);
        let released = |told: &[Change], has_focus: bool| -> Vec<u8> {
            let mut given = Given::default();
            sort(told.iter().cloned().map(Told::Change).collect(), &input, &mut given);
            let_go_of_pads(&input, has_focus, &mut given);
            given.events.iter().map(|event| event.device.0).collect()
        };
        let of = |change| Change::Of(7, Box::new(change));
        let lost = Change::Focus(false);
        assert_eq!(released(std::slice::from_ref(&lost), false), [KEYBOARD.0, MOUSE.0, PAD.0 + 1]);
        assert_eq!(released(&[of(lost.clone())], false), [KEYBOARD.0, MOUSE.0, PAD.0 + 1]);
        // Another window of the game has it now, or the game never had it.
        assert_eq!(released(&[lost, of(Change::Focus(true))], true), [KEYBOARD.0, MOUSE.0]);
        assert!(released(&[of(Change::Opened), of(Change::Scale(1.0))], false).is_empty());
        let button = What::Button { button: 0, value: 1.0, repeat: false };
        let press = |device| Event { device, age: 0.0, what: button.clone() };
        let mut events = vec![press(PAD), connected(1), press(KEYBOARD)];
        without_pads(&mut events);
        assert_eq!(events, [connected(1), press(KEYBOARD)]);
    }

    #[test]
    fn composing_is_told_until_it_is_typed() {
        let mut input = Input::default();
        let mut play = |told: Vec<Told>| {
            let mut given = Given::default();
            sort(told, &input, &mut given);
            input.begin_frame(given.events.clone());
            let texts = given.events.into_iter().filter_map(|event| match event.what {
                What::Text(text) => Some(text),
                _ => None,
            });
            (input.composing().clone(), texts.collect::<Vec<_>>())
        };
        let compose = |text: &str, cursor| Told::Compose { text: text.into(), cursor };
        let (composing, typed) = play(vec![compose("に", Some((3, 3)))]);
        assert_eq!((&composing.text[..], composing.cursor, typed.len()), ("に", Some((3, 3)), 0));
        let (composing, _) = play(vec![compose("日本", Some((0, 6)))]);
        assert_eq!((&composing.text[..], composing.cursor), ("日本", Some((0, 6))));
        let done = vec![compose("", None), Told::Composed("日本".into())];
        let (composing, typed) = play(done);
        assert_eq!((&composing.text[..], &typed[..]), ("", &["日本".to_string()][..]));
        // The end of what had not begun is no news.
        let mut given = Given::default();
        sort(vec![compose("", None)], &input, &mut given);
        assert!(given.events.is_empty());
    }
}
