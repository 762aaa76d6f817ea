//! Translation of window events into device events and window changes, for the input system and the
//! window system.

use super::frame_input::FrameInput;
use engine_foundation::{Error, Vec2, Vec3};
use engine_input::button_names::{
    DeviceClass, MOUSE_CURSOR, MOUSE_MOTION, MOUSE_WHEEL, hint, key_of_code,
};
use engine_input::{
    DEVICES, DeviceId, EventKind, Input, InputCapture, InputEvent, KEYBOARD, MOUSE, PAD, TOUCH,
    TouchPhase,
};
use engine_runtime::{BuildMode, Devices, OpenedGame};
use engine_window::{PointerPhase, Window, WindowChange, WindowEvent};

/// Returns the input capture of the game's console. A release has no console.
///
/// # Errors
/// Returns an error if the setting `console.key` names no key.
pub fn console_capture(game: &OpenedGame) -> Result<InputCapture, Error> {
    let name = game.settings.text("console.key");
    if game.build == BuildMode::Release || name.is_empty() {
        return Ok(InputCapture::new(None));
    }
    Ok(InputCapture::new(Some(key_of_setting("console.key", name)?)))
}

/// Returns the key that restarts a game in development.
///
/// # Errors
/// Returns an error if the setting `restart.key` names no key, or the key of the console.
pub fn restart_key(game: &OpenedGame) -> Result<Option<u16>, Error> {
    let Some(name) = game.restart_key() else { return Ok(None) };
    let key = key_of_setting("restart.key", name)?;
    if name == game.settings.text("console.key") {
        return Err(engine_foundation::error!(
            "settings.sjson: 'restart.key' and 'console.key' are both \"{name}\": choose another \
             key for one of them"
        ));
    }
    Ok(Some(key))
}

fn key_of_setting(setting: &str, name: &str) -> Result<u16, Error> {
    let key = DeviceClass::Keyboard.button(name).ok_or_else(|| {
        let hint = hint(name, DeviceClass::Keyboard.buttons());
        engine_foundation::error!(
            "settings.sjson: '{setting}' is \"{name}\", which is not a key{hint}"
        )
    })?;
    Ok(key as u16)
}

fn reset(device: DeviceId) -> InputEvent {
    InputEvent { device, age: 0.0, kind: EventKind::Reset }
}

fn pad_resets(input: &Input) -> impl Iterator<Item = InputEvent> {
    let pads = (PAD.0..DEVICES as u8).map(DeviceId);
    pads.filter(|pad| input.device(*pad).connected).map(reset)
}

/// Returns the reset events of keyboard, mouse and pads for a lost focus. Later releases of their
/// buttons are not reported by the system, or must be ignored.
pub fn release_all_inputs(input: &Input) -> impl Iterator<Item = InputEvent> {
    [KEYBOARD, MOUSE].map(reset).into_iter().chain(pad_resets(input))
}

/// Releases the buttons of the pads if the focus went to another program. Pads keep their state
/// when the focus moves between windows of the game.
pub fn release_pads(input: &Input, has_focus: bool, frame_input: &mut FrameInput) {
    if !has_focus && frame_input.changes.iter().any(takes_focus) {
        frame_input.events.extend(pad_resets(input));
    }
}

/// Removes the input of pads from a frame, because the player uses them in another window. Events
/// about connecting and disconnecting stay.
pub fn remove_pad_events(events: &mut Vec<InputEvent>) {
    let is_done =
        |kind: &EventKind| matches!(kind, EventKind::Button { .. } | EventKind::Axis { .. });
    events.retain(|event| event.device.0 < PAD.0 || !is_done(&event.kind));
}

/// Returns true if one of the game's windows has the focus after these changes.
pub fn has_focus(devices: &Devices, changes: &[WindowChange]) -> bool {
    let windows = devices.windows.iter().map(|(id, window)| (Some(id.number()), window));
    windows.chain([(None, &devices.window)]).any(|(number, window)| {
        let mut focus_change = changes.iter().rev().filter_map(|change| change.of(number));
        let focus_change = focus_change.find_map(|change| match change {
            WindowChange::Focus(focused) => Some(*focused),
            WindowChange::Removed => Some(false),
            _ => None,
        });
        focus_change.unwrap_or(window.focused)
    })
}

/// Returns true if a change takes the focus from one of the game's windows.
fn takes_focus(change: &WindowChange) -> bool {
    match change {
        WindowChange::Of(_, change) => takes_focus(change),
        change => *change == WindowChange::Focus(false),
    }
}

/// Translates window events and adds them to a frame's input. Positions become units of the game's
/// picture in `window`.
pub fn translate(
    window_events: Vec<WindowEvent>,
    input: &Input,
    window: &Window,
    frame_input: &mut FrameInput,
) {
    let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    let in_units = |x: f32, y: f32| window.logical_to_units(Vec2::new(x, y)).extend(0.0);
    for window_event in window_events {
        let mut event = |device: DeviceId, kind: EventKind| {
            frame_input.events.push(InputEvent { device, age: 0.0, kind });
        };
        match window_event {
            WindowEvent::Change(change) => {
                if takes_focus(&change) {
                    frame_input.events.extend([KEYBOARD, MOUSE].map(reset));
                }
                frame_input.changes.push(change);
            }
            WindowEvent::Key { code, pressed, repeat, label, text } => {
                if let Some(key) = code.and_then(key_of_code) {
                    let button = key as u16;
                    if let Some(text) = label
                        && input.device(KEYBOARD).label(key) != Some(&text)
                    {
                        event(KEYBOARD, EventKind::Label { button, text });
                    }
                    let value = if pressed { 1.0 } else { 0.0 };
                    event(KEYBOARD, EventKind::Button { button, value, repeat });
                }
                if let Some(text) = text {
                    event(KEYBOARD, EventKind::Text(text));
                }
            }
            WindowEvent::MouseButton { button, pressed } => {
                let value = if pressed { 1.0 } else { 0.0 };
                event(MOUSE, EventKind::Button { button, value, repeat: false });
            }
            WindowEvent::Cursor { x, y } => {
                let value = in_units(x, y);
                event(MOUSE, EventKind::Axis { axis: MOUSE_CURSOR as u8, value });
            }
            WindowEvent::MouseMotion { x, y } => {
                event(MOUSE, EventKind::Motion { axis: MOUSE_MOTION as u8, by: at(x, y) });
            }
            WindowEvent::Wheel { x, y } => {
                event(MOUSE, EventKind::Motion { axis: MOUSE_WHEEL as u8, by: at(x, y) });
            }
            WindowEvent::Touch { finger, phase: kind, x, y, pressure } => {
                let phase = match kind {
                    PointerPhase::Began => TouchPhase::Began,
                    PointerPhase::Moved => TouchPhase::Moved,
                    PointerPhase::Ended => TouchPhase::Ended,
                    PointerPhase::Cancelled => TouchPhase::Cancelled,
                };
                event(TOUCH, EventKind::Touch { finger, phase, at: in_units(x, y), pressure });
            }
            // Some desktops report the end of a composition that never began.
            WindowEvent::Compose { text, .. }
                if text == input.composing().text && text.is_empty() => {}
            WindowEvent::Compose { text, cursor } => {
                event(KEYBOARD, EventKind::Compose { text, cursor })
            }
            WindowEvent::Composed(text) => event(KEYBOARD, EventKind::Text(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_window::{DesignResolution, Scaling, WindowOptions};

    fn unscaled() -> Window {
        Window::new(&WindowOptions::default())
    }

    #[test]
    fn every_key_name_has_a_window_key_code() {
        let mut reported: Vec<&str> = engine_window::key_codes::names().collect();
        let buttons = DeviceClass::Keyboard.buttons().iter().map(|button| button.code);
        let mut known: Vec<&str> = buttons.filter(|code| !code.is_empty()).collect();
        reported.sort_unstable();
        known.sort_unstable();
        assert_eq!(reported, known);
    }

    #[test]
    fn keys_are_sorted_by_position_and_released_with_the_focus() {
        let key = |code: Option<&'static str>, pressed| WindowEvent::Key {
            code,
            pressed,
            repeat: false,
            label: Some("ö".into()),
            text: pressed.then(|| "ö".into()),
        };
        let mut input = Input::default();
        let mut frame_input = FrameInput::default();
        let window_events = vec![
            key(Some("Semicolon"), true),
            key(None, true),
            WindowEvent::Change(WindowChange::Focus(false)),
        ];
        translate(window_events, &input, &unscaled(), &mut frame_input);
        assert_eq!(frame_input.events.len(), 6, "{frame_input:?}");
        input.begin_frame(frame_input.events);
        let semicolon = key_of_code("Semicolon").unwrap();
        let keyboard = input.device(KEYBOARD);
        assert!(keyboard.pressed(semicolon) && keyboard.released(semicolon));
        assert_eq!(keyboard.label(semicolon), Some("ö"));
        // The label is known now and not reported again.
        let mut frame_input = FrameInput::default();
        translate(vec![key(Some("Semicolon"), false)], &input, &unscaled(), &mut frame_input);
        assert_eq!(frame_input.events.len(), 1);
    }

    #[test]
    fn positions_are_units_of_the_design_resolution() {
        let design = DesignResolution { width: 320, height: 180, scaling: Scaling::Fit };
        let options = WindowOptions { height: 800, design: Some(design), ..Default::default() };
        let window = Window::new(&options);
        let mut frame_input = FrameInput::default();
        let phase = PointerPhase::Began;
        let window_events = vec![
            WindowEvent::Cursor { x: 640.0, y: 400.0 },
            WindowEvent::Touch { finger: 1, phase, x: 0.0, y: 40.0, pressure: 1.0 },
        ];
        translate(window_events, &Input::default(), &window, &mut frame_input);
        let positions: Vec<Vec3> = frame_input
            .events
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::Axis { value, .. } => Some(value),
                EventKind::Touch { at, .. } => Some(at),
                _ => None,
            })
            .collect();
        // The picture has 4 pixels per unit, and bars of 40 pixels below and above.
        assert_eq!(positions, [Vec3::new(160.0, 90.0, 0.0), Vec3::ZERO]);
    }

    fn connected(number: usize) -> InputEvent {
        let device = engine_input::pad(number).unwrap();
        InputEvent {
            device,
            age: 0.0,
            kind: EventKind::Connected { name: "Pad".into(), motors: 0 },
        }
    }

    #[test]
    fn pads_are_released_with_the_focus_and_ignored_without_it() {
        let mut input = Input::default();
        input.begin_frame(vec![connected(2)]);
        let released = |window_events: &[WindowChange], has_focus: bool| -> Vec<u8> {
            let mut frame_input = FrameInput::default();
            translate(
                window_events.iter().cloned().map(WindowEvent::Change).collect(),
                &input,
                &unscaled(),
                &mut frame_input,
            );
            release_pads(&input, has_focus, &mut frame_input);
            frame_input.events.iter().map(|event| event.device.0).collect()
        };
        let of = |change| WindowChange::Of(7, Box::new(change));
        let lost = WindowChange::Focus(false);
        assert_eq!(released(std::slice::from_ref(&lost), false), [KEYBOARD.0, MOUSE.0, PAD.0 + 1]);
        assert_eq!(released(&[of(lost.clone())], false), [KEYBOARD.0, MOUSE.0, PAD.0 + 1]);
        // Another window of the game has the focus now, or the game never had it.
        assert_eq!(released(&[lost, of(WindowChange::Focus(true))], true), [KEYBOARD.0, MOUSE.0]);
        assert!(
            released(&[of(WindowChange::Opened), of(WindowChange::Scale(1.0))], false).is_empty()
        );
        let button = EventKind::Button { button: 0, value: 1.0, repeat: false };
        let press = |device| InputEvent { device, age: 0.0, kind: button.clone() };
        let mut events = vec![press(PAD), connected(1), press(KEYBOARD)];
        remove_pad_events(&mut events);
        assert_eq!(events, [connected(1), press(KEYBOARD)]);
    }

    #[test]
    fn a_composition_is_reported_until_it_is_committed() {
        let mut input = Input::default();
        let mut play = |window_events: Vec<WindowEvent>| {
            let mut frame_input = FrameInput::default();
            translate(window_events, &input, &unscaled(), &mut frame_input);
            input.begin_frame(frame_input.events.clone());
            let texts = frame_input.events.into_iter().filter_map(|event| match event.kind {
                EventKind::Text(text) => Some(text),
                _ => None,
            });
            (input.composing().clone(), texts.collect::<Vec<_>>())
        };
        let compose = |text: &str, cursor| WindowEvent::Compose { text: text.into(), cursor };
        let (composing, typed) = play(vec![compose("に", Some((3, 3)))]);
        assert_eq!((&composing.text[..], composing.cursor, typed.len()), ("に", Some((3, 3)), 0));
        let (composing, _) = play(vec![compose("日本", Some((0, 6)))]);
        assert_eq!((&composing.text[..], composing.cursor), ("日本", Some((0, 6))));
        let done = vec![compose("", None), WindowEvent::Composed("日本".into())];
        let (composing, typed) = play(done);
        assert_eq!((&composing.text[..], &typed[..]), ("", &["日本".to_string()][..]));
        // The end of a composition that never began is ignored.
        let mut frame_input = FrameInput::default();
        translate(vec![compose("", None)], &input, &unscaled(), &mut frame_input);
        assert!(frame_input.events.is_empty());
    }
}
