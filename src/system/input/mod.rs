//! Input: the state of every device, updated each frame from events. Contains no driver and no
//! window code: plain events in, arrays out. The submodule `pads` reads gamepads.

pub mod button_names;
mod capture;
mod device;
mod event;
mod gestures;
pub mod pads;
mod rumble;

use button_names::DeviceClass;
use engine_foundation::{Vec2, Vec3, log};
use gestures::TouchAction;

pub use capture::{CapturedInput, InputCapture};
pub use device::{AxisDirection, DeadZone, InputDevice, PRESSED_AT};
pub use event::{DeviceId, EventKind, InputEvent, TouchPhase};
pub use gestures::{Gestures, SwipeDirection, TwoFingerGesture};
pub use rumble::{MOTORS_MAX, MotorStates, RumbleEnvelope};

pub const KEYBOARD: DeviceId = DeviceId(0);
pub const MOUSE: DeviceId = DeviceId(1);
pub const TOUCH: DeviceId = DeviceId(2);
/// First gamepad.
pub const PAD: DeviceId = DeviceId(3);

/// Maximum number of gamepads connected at once.
pub const PADS_MAX: usize = 8;
pub const DEVICES: usize = 3 + PADS_MAX;
/// Maximum number of fingers tracked at once; further fingers are ignored.
pub const FINGERS_MAX: usize = 16;
/// Maximum number of listed events of one frame. Devices process all events, so that no key stays
/// down because its release came late.
pub const EVENTS_MAX: usize = 4096;
/// Maximum duration of a frame that counts for gestures.
const HITCH_SECONDS: f64 = 0.1;

/// Returns the gamepad with this number, from 1.
pub fn pad(number: usize) -> Option<DeviceId> {
    (1..=PADS_MAX).contains(&number).then(|| DeviceId(PAD.0 + number as u8 - 1))
}

/// Finger on the touch panel. It keeps its slot among the fingers while it is down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finger {
    /// Identifier assigned by the operating system.
    id: u64,
    pub at: Vec3,
    /// Movement in this frame.
    pub by: Vec3,
    pub pressure: f32,
    /// True if the finger touched or left the panel in this frame.
    pub appeared: bool,
    pub disappeared: bool,
}

/// Command for the rumble motors of a gamepad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RumbleCommand {
    pub device: DeviceId,
    /// Strength of the strong and the weak motor, 0 to 1.
    pub motors: [f32; MOTORS_MAX],
    pub seconds: f32,
}

/// Text that is being composed with an input method.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TextComposition {
    pub text: String,
    /// Range of the cursor in the text, in bytes.
    pub cursor: Option<(u32, u32)>,
}

/// State of all input devices.
pub struct Input {
    devices: Vec<InputDevice>,
    events: Vec<InputEvent>,
    /// Sticks that were thrown in this frame, each with the index of its event.
    flicked: Vec<(usize, AxisDirection)>,
    fingers: [Option<Finger>; FINGERS_MAX],
    composing: TextComposition,
    /// Device that was used last.
    last: DeviceId,
    motors: Vec<MotorStates>,
    gestures: Gestures,
    /// Player's seconds since the last frame.
    player_seconds: f64,
}

impl Default for Input {
    fn default() -> Input {
        let device = |at: usize| match DeviceId(at as u8) {
            KEYBOARD => InputDevice::new(DeviceClass::Keyboard, "Keyboard", true),
            MOUSE => InputDevice::new(DeviceClass::Mouse, "Mouse", true),
            TOUCH => InputDevice::new(DeviceClass::Touch, "Touch panel", false),
            _ => InputDevice::new(DeviceClass::Pad, "", false),
        };
        Input {
            devices: (0..DEVICES).map(device).collect(),
            events: Vec::new(),
            flicked: Vec::new(),
            fingers: [None; FINGERS_MAX],
            composing: TextComposition::default(),
            last: KEYBOARD,
            motors: vec![MotorStates::default(); DEVICES],
            gestures: Gestures::default(),
            player_seconds: 0.0,
        }
    }
}

impl Input {
    /// Sets the player's seconds since the last frame for the next `begin_frame`. Gestures use
    /// them, because they do not depend on the game's time.
    pub fn advance(&mut self, seconds: f64) {
        self.player_seconds = seconds;
    }

    /// Begins a frame with the events since the last one, in their order.
    pub fn begin_frame(&mut self, events: Vec<InputEvent>) {
        // Events during a long frame are reported at its end, so an action in it may have been
        // short.
        let player_seconds = std::mem::take(&mut self.player_seconds).min(HITCH_SECONDS);
        self.gestures.begin_frame(player_seconds);
        self.devices.iter_mut().for_each(InputDevice::begin_frame);
        for slot in &mut self.fingers {
            match slot {
                Some(finger) if finger.disappeared => *slot = None,
                Some(finger) => (finger.appeared, finger.by) = (false, Vec3::ZERO),
                None => {}
            }
        }
        self.flicked.clear();
        for (at, InputEvent { device, kind, age }) in events.iter().cloned().enumerate() {
            let flick = self.take(device, kind, age);
            self.flicked.extend(flick.map(|flick| (at, flick)));
        }
        self.events = events;
        if self.events.len() > EVENTS_MAX {
            let count = self.events.len();
            self.events.truncate(EVENTS_MAX);
            log::warn(
                "input",
                &format!(
                    "there were {count} input events in one frame, and the first {EVENTS_MAX} are \
                     listed and typed (EVENTS_MAX)"
                ),
            );
        }
        self.gestures.end_frame(player_seconds);
    }

    fn take(&mut self, id: DeviceId, kind: EventKind, age: f64) -> Option<AxisDirection> {
        let mut flick = None;
        let device = &mut self.devices[usize::from(id.0)];
        match kind {
            EventKind::Button { repeat: true, .. } => {}
            EventKind::Button { button, value, .. } => {
                device.set_button(usize::from(button), value);
                self.last = id;
            }
            EventKind::Axis { axis, value } => {
                flick = device.set_axis(usize::from(axis), value);
                if id.0 >= PAD.0 && device.is_off_middle(usize::from(axis)) {
                    self.last = id;
                }
            }
            EventKind::Motion { axis, by } => {
                device.move_axis(usize::from(axis), by);
                self.last = id;
            }
            EventKind::Label { button, text } => device.set_label(usize::from(button), text),
            EventKind::Text(_) => device.active = true,
            EventKind::Compose { text, cursor } => {
                self.composing = TextComposition { text, cursor }
            }
            EventKind::Touch { finger, phase, at, pressure } => {
                self.touch(finger, phase, at, pressure, age);
                self.last = id;
            }
            EventKind::Connected { name, motors } => {
                device.appeared = !device.connected;
                (device.connected, device.name) = (true, name);
                self.motors[usize::from(id.0)].reset(usize::from(motors));
            }
            EventKind::Disconnected => {
                device.disappeared = device.connected;
                device.connected = false;
                device.release_all();
                self.motors[usize::from(id.0)].reset(0);
            }
            EventKind::Reset => {
                device.release_all();
                if id == KEYBOARD {
                    // The desktop no longer shows the composition.
                    self.composing = TextComposition::default();
                }
            }
        }
        flick
    }

    fn touch(&mut self, id: u64, phase: TouchPhase, at: Vec3, pressure: f32, age: f64) {
        let same = |slot: &Option<Finger>| slot.is_some_and(|one| one.id == id && !one.disappeared);
        let known = self.fingers.iter().position(same);
        let Some(index) = known.or_else(|| {
            (phase == TouchPhase::Began).then(|| self.fingers.iter().position(Option::is_none))?
        }) else {
            return;
        };
        let act = match phase {
            _ if known.is_none() => TouchAction::Down,
            TouchPhase::Ended => TouchAction::Up,
            TouchPhase::Cancelled => TouchAction::Cancel,
            TouchPhase::Began | TouchPhase::Moved => TouchAction::Move,
        };
        self.gestures.take(index, act, Vec2::new(at.x, at.y), age);
        let disappeared = matches!(phase, TouchPhase::Ended | TouchPhase::Cancelled);
        let previous = self.fingers[index];
        let moved = previous.map_or(Vec3::ZERO, |finger| at - finger.at);
        self.fingers[index] = Some(Finger {
            id,
            at,
            by: previous.map_or(Vec3::ZERO, |finger| finger.by) + moved,
            pressure,
            appeared: previous.is_none_or(|finger| finger.appeared),
            disappeared,
        });
        let panel = &mut self.devices[usize::from(TOUCH.0)];
        panel.connected = true;
        if index == 0 {
            panel.set_axis(0, at);
            panel.move_axis(1, moved);
            panel.set_button(0, if disappeared { 0.0 } else { 1.0 });
        }
    }

    #[inline]
    pub fn device(&self, id: DeviceId) -> &InputDevice {
        &self.devices[usize::from(id.0)]
    }

    pub fn device_mut(&mut self, id: DeviceId) -> &mut InputDevice {
        &mut self.devices[usize::from(id.0)]
    }

    /// Returns the events since the previous frame, in their order.
    pub fn events(&self) -> &[InputEvent] {
        &self.events
    }

    /// Returns the stick that the event with this index threw.
    pub fn flick_of(&self, event: usize) -> Option<AxisDirection> {
        self.flicked.iter().find(|(at, _)| *at == event).map(|(_, flick)| *flick)
    }

    /// Returns the fingers by slot.
    pub fn fingers(&self) -> &[Option<Finger>; FINGERS_MAX] {
        &self.fingers
    }

    pub fn composing(&self) -> &TextComposition {
        &self.composing
    }

    /// Returns the device that was used last.
    pub fn last_used(&self) -> DeviceId {
        self.last
    }

    /// Returns the recognized gestures.
    pub fn gestures(&self) -> &Gestures {
        &self.gestures
    }

    /// Returns the motors of a device; a disconnected device has none.
    pub fn motors(&self, device: DeviceId) -> &MotorStates {
        &self.motors[usize::from(device.0)]
    }

    pub fn motors_mut(&mut self, device: DeviceId) -> &mut MotorStates {
        &mut self.motors[usize::from(device.0)]
    }

    /// Advances the rumble effects by the game's `seconds` and the player's seconds
    /// `player_seconds`.
    pub fn advance_motors(&mut self, seconds: f64, player_seconds: f64) {
        self.motors.iter_mut().for_each(|motors| motors.advance(seconds, player_seconds));
    }

    /// Returns the rumble commands that have to be sent to devices now.
    pub fn take_rumbles(&mut self) -> Vec<RumbleCommand> {
        let each = self.motors.iter_mut().enumerate();
        let commands = each.filter_map(|(at, motors)| {
            let (motors, seconds) = motors.next_command()?;
            Some(RumbleCommand { device: DeviceId(at as u8), motors, seconds })
        });
        commands.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(device: DeviceId, kind: EventKind) -> InputEvent {
        InputEvent { device, age: 0.0, kind }
    }

    #[test]
    fn unplugging_a_pad_releases_pressed_buttons() {
        let mut input = Input::default();
        let pad = pad(2).unwrap();
        input.begin_frame(vec![
            event(pad, EventKind::Connected { name: "Pad".into(), motors: 2 }),
            event(pad, EventKind::Button { button: 0, value: 1.0, repeat: false }),
        ]);
        assert!(input.device(pad).appeared && input.device(pad).pressed(0));
        assert_eq!(input.last_used(), pad);
        input.begin_frame(vec![event(pad, EventKind::Disconnected)]);
        let device = input.device(pad);
        assert!(device.disappeared && !device.connected && device.released(0));
        input.begin_frame(Vec::new());
        assert!(!input.device(pad).disappeared);
        input.motors_mut(pad).set_base(0, 1.0);
        assert!(input.take_rumbles().is_empty(), "it is not there");
    }

    #[test]
    fn touches_keep_their_indices_while_down() {
        let mut input = Input::default();
        let touch = |finger, phase, x: f32| {
            let at = Vec3::new(x, 0.0, 0.0);
            event(TOUCH, EventKind::Touch { finger, phase, at, pressure: 1.0 })
        };
        input.begin_frame(vec![
            touch(70, TouchPhase::Began, 1.0),
            touch(80, TouchPhase::Began, 2.0),
        ]);
        input.begin_frame(vec![
            touch(70, TouchPhase::Ended, 3.0),
            touch(80, TouchPhase::Moved, 5.0),
        ]);
        let [first, second, ..] = input.fingers();
        assert!(first.unwrap().disappeared && first.unwrap().by.x == 2.0);
        assert!(second.unwrap().by.x == 3.0 && !second.unwrap().appeared);
        assert!(input.device(TOUCH).released(0));
        input.begin_frame(vec![touch(90, TouchPhase::Began, 4.0)]);
        assert_eq!(input.fingers()[0].unwrap().id, 90);
        // A finger whose start was not reported is ignored.
        input.begin_frame(vec![touch(7, TouchPhase::Moved, 4.0)]);
        assert_eq!(input.fingers().iter().flatten().count(), 2);
    }

    #[test]
    fn a_cancelled_touch_ends_and_is_not_a_tap() {
        let touch = |phase| {
            event(TOUCH, EventKind::Touch { finger: 1, phase, at: Vec3::ZERO, pressure: 1.0 })
        };
        let mut input = Input::default();
        for (last, tapped) in [(TouchPhase::Cancelled, false), (TouchPhase::Ended, true)] {
            input.advance(0.016);
            input.begin_frame(vec![touch(TouchPhase::Began), touch(last)]);
            assert!(input.fingers()[0].unwrap().disappeared);
            assert_eq!(input.gestures().tap().is_some(), tapped);
        }
    }

    #[test]
    fn a_release_beyond_the_event_limit_still_counts() {
        let mut input = Input::default();
        let key = |value| event(KEYBOARD, EventKind::Button { button: 4, value, repeat: false });
        let by = Vec3::new(1.0, 0.0, 0.0);
        let mut events = vec![key(1.0)];
        events.resize(EVENTS_MAX * 2, event(MOUSE, EventKind::Motion { axis: 1, by }));
        events.push(key(0.0));
        input.begin_frame(events);
        let keyboard = input.device(KEYBOARD);
        assert!(keyboard.pressed(4) && keyboard.released(4) && keyboard.value(4) == 0.0);
        assert_eq!(input.device(MOUSE).axis(1).x, EVENTS_MAX as f32 * 2.0 - 1.0);
        assert_eq!(input.events().len(), EVENTS_MAX);
    }

    #[test]
    fn impossible_events_change_nothing() {
        let mut input = Input::default();
        let far = Vec3::new(1e30, -1e30, 0.0);
        for device in (0..DEVICES as u8).map(DeviceId) {
            input.begin_frame(vec![
                event(device, EventKind::Axis { axis: 200, value: far }),
                event(device, EventKind::Motion { axis: 200, by: far }),
                event(device, EventKind::Button { button: 60_000, value: 1.0, repeat: false }),
                event(device, EventKind::Button { button: 0, value: f32::NAN, repeat: false }),
                event(device, EventKind::Label { button: 60_000, text: "x".into() }),
            ]);
            assert!(input.device(device).any_pressed().is_none());
            assert_eq!(input.device(device).value(0), 0.0);
        }
        input.begin_frame(vec![event(PAD, EventKind::Axis { axis: 0, value: far })]);
        let stick = input.device(PAD).axis(0);
        assert!((stick.length() - 1.0).abs() < 1e-6 && stick.x > 0.0 && stick.y < 0.0);
    }

    #[test]
    fn composition_ends_when_the_focus_is_lost() {
        let mut input = Input::default();
        let text = "か".to_string();
        input.begin_frame(vec![event(KEYBOARD, EventKind::Compose { text, cursor: Some((0, 3)) })]);
        assert_eq!(input.composing().text, "か");
        input.begin_frame(vec![event(KEYBOARD, EventKind::Reset)]);
        assert_eq!(input.composing(), &TextComposition::default());
    }

    #[test]
    fn relative_motion_is_summed_over_a_frame() {
        let mut input = Input::default();
        let by = Vec3::new(2.0, -1.0, 0.0);
        let moved = |axis| event(MOUSE, EventKind::Motion { axis, by });
        let at = EventKind::Axis { axis: 0, value: Vec3::new(5.0, 6.0, 0.0) };
        input.begin_frame(vec![moved(1), event(MOUSE, at), moved(1), moved(2)]);
        let mouse = input.device(MOUSE);
        assert_eq!((mouse.axis(1), mouse.axis(2)), (by * 2.0, by));
        input.begin_frame(Vec::new());
        let mouse = input.device(MOUSE);
        assert_eq!((mouse.axis(0).x, mouse.axis(1), mouse.axis(2)), (5.0, Vec3::ZERO, Vec3::ZERO));
    }
}
