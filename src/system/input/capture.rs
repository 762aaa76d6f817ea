//! Input capture: while an overlay of the engine is open, such as the console, it receives what is
//! typed, and the game does not. One key opens and closes the overlay; Escape closes it, too. Knows
//! no windows, and draws nothing.

use super::button_names::{DeviceClass, MOUSE_CURSOR, MOUSE_WHEEL};
use super::{DeviceId, EVENTS_MAX, EventKind, Input, InputEvent, KEYBOARD, MOUSE, PRESSED_AT};
use engine_foundation::Vec2;

/// Something that was typed or turned for the overlay.
#[derive(Clone, Debug, PartialEq)]
pub enum CapturedInput {
    Text(String),
    /// A key was pressed, or repeats.
    Key {
        button: u16,
        ctrl: bool,
    },
    /// The wheel was turned by this many notches, away from the player.
    Wheel(f32),
}

/// Splits the events of each frame between the game and an overlay.
#[derive(Clone, Debug, Default)]
pub struct InputCapture {
    /// Key that opens and closes the overlay. Without one, the overlay never opens.
    toggle: Option<u16>,
    open: bool,
    /// Area of the overlay in the main window, in logical pixels: left, bottom, right, top.
    area: Option<[f32; 4]>,
    /// Buttons whose presses the game does not know. Their repeats and releases are captured, too,
    /// even after the overlay was closed.
    held: Vec<(DeviceId, u16)>,
    /// True if text that follows belongs to a key that opens or closes the overlay.
    drops_text: bool,
    captured: Vec<CapturedInput>,
    /// Text that an input method is composing for the overlay.
    composing: String,
}

impl InputCapture {
    /// Creates the capture of an overlay with this key. `None`: the overlay never opens.
    pub fn new(toggle: Option<u16>) -> InputCapture {
        InputCapture { toggle, ..InputCapture::default() }
    }

    /// Returns true if the overlay is open.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Closes the overlay. Keys that are still down stay unknown to the game until they are
    /// released.
    pub fn close(&mut self) {
        self.open = false;
        self.composing.clear();
        self.captured.clear();
    }

    /// Returns what was captured in this frame, in order, at most [`EVENTS_MAX`] items.
    pub fn captured(&self) -> &[CapturedInput] {
        &self.captured
    }

    /// Returns the text that an input method is composing for the overlay.
    pub fn composing(&self) -> &str {
        &self.composing
    }

    /// Sets the area in which the overlay also takes the wheel and the buttons of the mouse: left,
    /// bottom, right, top in logical pixels of the main window.
    pub fn set_area(&mut self, area: [f32; 4]) {
        self.area = Some(area);
    }

    /// Takes the overlay's part of a frame's events, and returns the game's part. `input` is the
    /// state before these events. When the overlay opens, the game's part has a reset of the
    /// keyboard, so that no key stays down in the game.
    pub fn split(&mut self, events: Vec<InputEvent>, input: &Input) -> Vec<InputEvent> {
        self.captured.clear();
        let Some(toggle) = self.toggle else { return events };
        self.drops_text = false;
        let at = input.device(MOUSE).axis(MOUSE_CURSOR);
        let mut cursor = Vec2::new(at.x, at.y);
        let mut game = Vec::with_capacity(events.len());
        for event in events {
            let InputEvent { device, age, kind } = &event;
            let is_captured = match (*device, kind) {
                (KEYBOARD, EventKind::Button { button, value, repeat }) => {
                    let was_open = self.open;
                    let taken = self.take_key(*button, *value >= PRESSED_AT, *repeat, toggle);
                    if self.open && !was_open {
                        self.hold_down_keys(input, &game);
                        let kind = EventKind::Reset;
                        game.push(InputEvent { device: KEYBOARD, age: *age, kind });
                    }
                    taken
                }
                (KEYBOARD, EventKind::Text(text)) => self.take_text(text),
                (KEYBOARD, EventKind::Compose { text, .. }) if self.open => {
                    self.composing.clone_from(text);
                    true
                }
                (MOUSE, EventKind::Button { button, value, .. }) => {
                    self.take_mouse_button(*button, *value >= PRESSED_AT, cursor)
                }
                (MOUSE, EventKind::Motion { axis, by }) if usize::from(*axis) == MOUSE_WHEEL => {
                    let taken = self.open && self.covers(cursor);
                    if taken {
                        self.push(CapturedInput::Wheel(by.y));
                    }
                    taken
                }
                (MOUSE, EventKind::Axis { axis, value }) if usize::from(*axis) == MOUSE_CURSOR => {
                    cursor = Vec2::new(value.x, value.y);
                    false
                }
                (KEYBOARD | MOUSE, EventKind::Reset) => {
                    self.held.retain(|(of, _)| of != device);
                    false
                }
                _ => false,
            };
            if !is_captured {
                game.push(event);
            }
        }
        game
    }

    /// Handles a key. Returns true if the game must not see the event.
    fn take_key(&mut self, button: u16, pressed: bool, repeat: bool, toggle: u16) -> bool {
        if pressed {
            self.drops_text = false;
        }
        let escape = DeviceClass::Keyboard.button("escape").map(|at| at as u16);
        let closes = self.open && Some(button) == escape;
        let is_held = self.held.contains(&(KEYBOARD, button));
        if button == toggle || closes {
            // The game knows a press that was not taken, as in the error state, and must see its
            // release.
            if !is_held && (repeat || !pressed) {
                self.drops_text = self.open && pressed;
                return self.open && pressed;
            }
            if pressed && !repeat {
                self.open = !self.open;
                self.composing.clear();
            }
            self.hold((KEYBOARD, button), pressed);
            self.drops_text = pressed;
            return true;
        }
        if self.open {
            self.hold((KEYBOARD, button), pressed);
            if pressed {
                let ctrl = self.is_held("left ctrl") || self.is_held("right ctrl");
                self.push(CapturedInput::Key { button, ctrl });
            }
            return true;
        }
        if !is_held {
            return false;
        }
        // A new press of a held key: its release was not reported.
        let is_new = pressed && !repeat;
        self.hold((KEYBOARD, button), pressed && !is_new);
        self.drops_text = pressed && !is_new;
        !is_new
    }

    /// Handles typed text. Returns true if the game must not see it.
    fn take_text(&mut self, text: &str) -> bool {
        if self.open && !self.drops_text {
            self.composing.clear();
            self.push(CapturedInput::Text(text.to_string()));
        }
        self.open || self.drops_text
    }

    fn take_mouse_button(&mut self, button: u16, pressed: bool, cursor: Vec2) -> bool {
        if pressed {
            let taken = self.open && self.covers(cursor);
            self.hold((MOUSE, button), taken);
            return taken;
        }
        let known = self.held.contains(&(MOUSE, button));
        self.hold((MOUSE, button), false);
        known
    }

    fn covers(&self, cursor: Vec2) -> bool {
        // Until the overlay is drawn for the first time, it may be anywhere.
        self.area.is_none_or(|[left, bottom, right, top]| {
            (left..=right).contains(&cursor.x) && (bottom..=top).contains(&cursor.y)
        })
    }

    fn is_held(&self, key: &str) -> bool {
        let button = DeviceClass::Keyboard.button(key).map(|at| at as u16);
        button.is_some_and(|button| self.held.contains(&(KEYBOARD, button)))
    }

    /// Records that a button is held for the overlay, or that it no longer is.
    fn hold(&mut self, of: (DeviceId, u16), held: bool) {
        let known = self.held.iter().position(|other| *other == of);
        match (known, held) {
            (None, true) => self.held.push(of),
            (Some(at), false) => _ = self.held.swap_remove(at),
            _ => {}
        }
    }

    /// Holds the keys that are down when the overlay opens: the game sees them released, and must
    /// not see their repeats later. `before` has the events of the same frame before that.
    fn hold_down_keys(&mut self, input: &Input, before: &[InputEvent]) {
        let keyboard = input.device(KEYBOARD);
        for button in 0..DeviceClass::Keyboard.buttons().len() {
            if keyboard.value(button) >= PRESSED_AT {
                self.hold((KEYBOARD, button as u16), true);
            }
        }
        for event in before.iter().filter(|event| event.device == KEYBOARD) {
            if let EventKind::Button { button, value, .. } = event.kind {
                self.hold((KEYBOARD, button), value >= PRESSED_AT);
            }
        }
    }

    fn push(&mut self, input: CapturedInput) {
        if self.captured.len() < EVENTS_MAX {
            self.captured.push(input);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pad;
    use engine_foundation::Vec3;

    struct Player {
        input: Input,
        capture: InputCapture,
    }

    fn key(name: &str) -> u16 {
        DeviceClass::Keyboard.button(name).unwrap() as u16
    }

    fn event(device: DeviceId, kind: EventKind) -> InputEvent {
        InputEvent { device, age: 0.0, kind }
    }

    fn press(name: &str, value: f32) -> InputEvent {
        event(KEYBOARD, EventKind::Button { button: key(name), value, repeat: false })
    }

    fn repeat(name: &str) -> InputEvent {
        event(KEYBOARD, EventKind::Button { button: key(name), value: 1.0, repeat: true })
    }

    fn text(text: &str) -> InputEvent {
        event(KEYBOARD, EventKind::Text(text.to_string()))
    }

    fn wheel(y: f32) -> InputEvent {
        let by = Vec3::new(0.0, y, 0.0);
        event(MOUSE, EventKind::Motion { axis: MOUSE_WHEEL as u8, by })
    }

    fn cursor(x: f32, y: f32) -> InputEvent {
        let value = Vec3::new(x, y, 0.0);
        event(MOUSE, EventKind::Axis { axis: MOUSE_CURSOR as u8, value })
    }

    fn click(value: f32) -> InputEvent {
        event(MOUSE, EventKind::Button { button: 0, value, repeat: false })
    }

    impl Player {
        fn new() -> Player {
            Player { input: Input::default(), capture: InputCapture::new(Some(key("grave"))) }
        }

        /// Plays a frame, and returns the game's events.
        fn frame(&mut self, events: &[InputEvent]) -> Vec<InputEvent> {
            let game = self.capture.split(events.to_vec(), &self.input);
            self.input.begin_frame(game.clone());
            game
        }
    }

    #[test]
    fn an_open_overlay_takes_keys_and_text() {
        let mut player = Player::new();
        let tap = |name| [press(name, 1.0), press(name, 0.0)];
        assert_eq!(player.frame(&[press("w", 1.0), text("w")]).len(), 2);
        let opened = player.frame(&[press("grave", 1.0), text("`")]);
        assert_eq!(opened, [event(KEYBOARD, EventKind::Reset)]);
        assert!(player.capture.is_open() && player.capture.captured().is_empty());
        let w = usize::from(key("w"));
        assert!(player.input.device(KEYBOARD).released(w), "a held key is released once");
        let typed = [press("grave", 0.0), press("a", 1.0), text("a"), press("a", 0.0)];
        assert!(player.frame(&typed).is_empty() && player.frame(&tap("enter")).is_empty());
        let enter = CapturedInput::Key { button: key("enter"), ctrl: false };
        assert_eq!(player.capture.captured(), [enter]);
        assert!(player.frame(&[press("w", 0.0)]).is_empty());
        assert_eq!(player.input.device(KEYBOARD).value(w), 0.0);
    }

    #[test]
    fn closing_leaves_no_key_to_the_game() {
        for close in ["grave", "escape"] {
            let mut player = Player::new();
            player.frame(&[press("d", 1.0), press("grave", 1.0), press("grave", 0.0)]);
            player.frame(&[press("a", 1.0), text("a")]);
            assert!(player.frame(&[press(close, 1.0), text("`")]).is_empty(), "{close}");
            assert!(!player.capture.is_open());
            // Both keys are still down, one of them since before the overlay was opened.
            let held = [repeat("a"), text("a"), repeat("d"), text("d"), repeat(close), text("`")];
            assert!(player.frame(&held).is_empty(), "{close}");
            let released = [press("a", 0.0), press("d", 0.0), press(close, 0.0)];
            assert!(player.frame(&released).is_empty(), "{close}");
            assert_eq!(player.frame(&[press("a", 1.0), text("a")]).len(), 2);
            assert!(player.input.device(KEYBOARD).pressed(usize::from(key("a"))));
            let escape = [press("escape", 1.0)];
            assert_eq!(player.frame(&escape), escape, "a closed overlay leaves Escape to the game");
        }
    }

    #[test]
    fn the_mouse_is_taken_only_over_the_overlay() {
        let mut player = Player::new();
        player.frame(&[press("grave", 1.0)]);
        player.capture.set_area([0.0, 100.0, 400.0, 300.0]);
        let over = [cursor(10.0, 150.0), click(1.0), wheel(2.0)];
        assert_eq!(player.frame(&over), [cursor(10.0, 150.0)]);
        assert_eq!(player.capture.captured(), [CapturedInput::Wheel(2.0)]);
        // The release belongs to the one that got the press.
        assert_eq!(player.frame(&[cursor(10.0, 50.0), click(0.0)]).len(), 1);
        assert_eq!(player.frame(&[click(1.0), wheel(1.0)]).len(), 2);
        assert_eq!(player.frame(&[cursor(10.0, 150.0), click(0.0)]).len(), 2);
        player.frame(&[press("escape", 1.0)]);
        assert_eq!(player.frame(&[click(1.0), wheel(1.0)]).len(), 2, "it is closed");
    }

    #[test]
    fn other_devices_and_a_missing_key_capture_nothing() {
        let mut player = Player::new();
        player.frame(&[press("grave", 1.0)]);
        let pad =
            event(pad(1).unwrap(), EventKind::Button { button: 0, value: 1.0, repeat: false });
        assert_eq!(player.frame(std::slice::from_ref(&pad)), [pad]);
        player.capture = InputCapture::new(None);
        assert_eq!(player.frame(&[press("grave", 1.0), text("`")]).len(), 2);
        assert!(!player.capture.is_open());
    }

    #[test]
    fn key_pressed_in_the_error_state_is_released_in_the_game() {
        let mut player = Player::new();
        let grave = usize::from(key("grave"));
        // The error state passes on all events.
        player.input.begin_frame(vec![press("grave", 1.0)]);
        assert_eq!(player.frame(&[repeat("grave")]), [repeat("grave")]);
        assert_eq!(player.frame(&[press("grave", 0.0)]), [press("grave", 0.0)]);
        assert_eq!(player.input.device(KEYBOARD).value(grave), 0.0);
        // From then on, the key belongs to the overlay again.
        player.frame(&[press("grave", 1.0)]);
        assert!(player.capture.is_open());
        assert!(player.frame(&[repeat("grave"), press("grave", 0.0)]).is_empty());
    }

    #[test]
    fn a_lost_focus_forgets_held_keys() {
        let mut player = Player::new();
        player.frame(&[press("grave", 1.0), press("a", 1.0)]);
        let reset = [event(KEYBOARD, EventKind::Reset)];
        assert_eq!(player.frame(&reset), reset);
        player.frame(&[press("escape", 1.0), press("escape", 0.0)]);
        assert_eq!(player.frame(&[press("a", 1.0)]).len(), 1);
    }

    #[test]
    fn modifiers_and_compositions_belong_to_the_overlay() {
        let mut player = Player::new();
        player.frame(&[press("grave", 1.0)]);
        player.frame(&[press("left ctrl", 1.0), press("v", 1.0)]);
        let pasted = CapturedInput::Key { button: key("v"), ctrl: true };
        assert_eq!(player.capture.captured().last(), Some(&pasted));
        let compose = EventKind::Compose { text: "に".into(), cursor: None };
        assert!(player.frame(&[event(KEYBOARD, compose)]).is_empty());
        assert_eq!((player.capture.composing(), &player.input.composing().text[..]), ("に", ""));
        player.frame(&[text("に")]);
        assert_eq!(player.capture.composing(), "");
        assert_eq!(player.capture.captured(), [CapturedInput::Text("に".into())]);
    }

    #[test]
    fn captured_input_is_limited() {
        let mut player = Player::new();
        player.frame(&[press("grave", 1.0)]);
        player.frame(&vec![text("a"); EVENTS_MAX + 10]);
        assert_eq!(player.capture.captured().len(), EVENTS_MAX);
    }
}
