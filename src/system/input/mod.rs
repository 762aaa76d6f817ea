//! Input: the state of every device, made each frame of the events that came. No driver and no
//! window in here: plain events in, arrays out. Pads are read in pads/.

mod device;
mod event;
mod gestures;
pub mod names;
pub mod pads;
mod rumble;

use crate::foundation::{Vec2, Vec3, log};
use gestures::Act;
use names::Class;

pub use device::{DeadZone, Device, PRESSED_AT, Throw};
pub use event::{DeviceId, Event, Phase, What};
pub use gestures::{Gestures, Going, Swipe};
pub use rumble::{Envelope, MOTORS_MAX, Motors};

pub const KEYBOARD: DeviceId = DeviceId(0);
pub const MOUSE: DeviceId = DeviceId(1);
pub const TOUCH: DeviceId = DeviceId(2);
/// The first pad.
pub const PAD: DeviceId = DeviceId(3);

/// How many pads there can be at once.
pub const PADS_MAX: usize = 8;
pub const DEVICES: usize = 3 + PADS_MAX;
/// How many fingers are followed at once; more are not felt.
pub const FINGERS_MAX: usize = 16;
/// The most events of one frame that are listed; devices take all of them, so that no key stays
/// down whose release came late.
pub const EVENTS_MAX: usize = 4096;
/// So much of a long frame counts for gestures.
const HITCH_SECONDS: f64 = 0.1;

/// The pad with this number, from 1.
pub fn pad(number: usize) -> Option<DeviceId> {
    (1..=PADS_MAX).contains(&number).then(|| DeviceId(PAD.0 + number as u8 - 1))
}

/// A finger on the panel. It is known by its place among the fingers, which it keeps while it is
/// down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finger {
    /// What the system calls it.
    id: u64,
    pub at: Vec3,
    /// How far it moved in this frame.
    pub by: Vec3,
    pub pressure: f32,
    /// Whether it came, or went, in this frame.
    pub came: bool,
    pub went: bool,
}

/// What a pad is to do with its motors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rumble {
    pub device: DeviceId,
    /// 0 to 1: the strong one, the weak one.
    pub motors: [f32; MOTORS_MAX],
    pub seconds: f32,
}

/// A text that is being composed.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Composing {
    pub text: String,
    /// In bytes of it.
    pub cursor: Option<(u32, u32)>,
}

/// All devices.
pub struct Input {
    devices: Vec<Device>,
    events: Vec<Event>,
    /// The sticks that were thrown in this frame, each with the place of its event.
    thrown: Vec<(usize, Throw)>,
    fingers: [Option<Finger>; FINGERS_MAX],
    composing: Composing,
    /// The device that was used last.
    last: DeviceId,
    motors: Vec<Motors>,
    gestures: Gestures,
    /// The player's seconds since the last frame.
    passed: f64,
}

impl Default for Input {
    fn default() -> Input {
        let device = |at: usize| match DeviceId(at as u8) {
            KEYBOARD => Device::new(Class::Keyboard, "Keyboard", true),
            MOUSE => Device::new(Class::Mouse, "Mouse", true),
            TOUCH => Device::new(Class::Touch, "Touch panel", false),
            _ => Device::new(Class::Pad, "", false),
        };
        Input {
            devices: (0..DEVICES).map(device).collect(),
            events: Vec::new(),
            thrown: Vec::new(),
            fingers: [None; FINGERS_MAX],
            composing: Composing::default(),
            last: KEYBOARD,
            motors: vec![Motors::default(); DEVICES],
            gestures: Gestures::default(),
            passed: 0.0,
        }
    }
}

impl Input {
    /// So many seconds have passed for the player since the last frame: for gestures, which do not
    /// hang on what the game makes of time. What is said here is for the next frame that begins.
    pub fn pass(&mut self, seconds: f64) {
        self.passed = seconds;
    }

    /// A frame begins, with everything that happened since the last one, in its order.
    pub fn begin_frame(&mut self, events: Vec<Event>) {
        // What was done while a frame took long is told at its end: it may have been short.
        let passed = std::mem::take(&mut self.passed).min(HITCH_SECONDS);
        self.gestures.begin_frame(passed);
        self.devices.iter_mut().for_each(Device::begin_frame);
        for place in &mut self.fingers {
            match place {
                Some(finger) if finger.went => *place = None,
                Some(finger) => (finger.came, finger.by) = (false, Vec3::ZERO),
                None => {}
            }
        }
        self.thrown.clear();
        for (at, Event { device, what, age }) in events.iter().cloned().enumerate() {
            let throw = self.take(device, what, age);
            self.thrown.extend(throw.map(|throw| (at, throw)));
        }
        self.events = events;
        if self.events.len() > EVENTS_MAX {
            let count = self.events.len();
            self.events.truncate(EVENTS_MAX);
            log::warn(
                "input",
                &format!(
                    "{count} things happened to devices in one frame, and the first {EVENTS_MAX} \
                     are listed and typed (EVENTS_MAX)"
                ),
            );
        }
        self.gestures.end_frame(passed);
    }

    fn take(&mut self, id: DeviceId, what: What, age: f64) -> Option<Throw> {
        let mut throw = None;
        let device = &mut self.devices[usize::from(id.0)];
        match what {
            What::Button { repeat: true, .. } => {}
            What::Button { button, value, .. } => {
                device.set_button(usize::from(button), value);
                self.last = id;
            }
            What::Axis { axis, value } => {
                throw = device.set_axis(usize::from(axis), value);
                if id.0 >= PAD.0 && device.is_off_middle(usize::from(axis)) {
                    self.last = id;
                }
            }
            What::Motion { axis, by } => {
                device.move_axis(usize::from(axis), by);
                self.last = id;
            }
            What::Label { button, text } => device.set_label(usize::from(button), text),
            What::Text(_) => device.active = true,
            What::Compose { text, cursor } => self.composing = Composing { text, cursor },
            What::Touch { finger, phase, at, pressure } => {
                self.touch(finger, phase, at, pressure, age);
                self.last = id;
            }
            What::Connected { name, motors } => {
                device.came = !device.connected;
                (device.connected, device.name) = (true, name);
                self.motors[usize::from(id.0)].begin(usize::from(motors));
            }
            What::Disconnected => {
                device.went = device.connected;
                device.connected = false;
                device.release_all();
                self.motors[usize::from(id.0)].begin(0);
            }
            What::Reset => {
                device.release_all();
                if id == KEYBOARD {
                    // What was being composed is not shown by the desktop any more.
                    self.composing = Composing::default();
                }
            }
        }
        throw
    }

    fn touch(&mut self, id: u64, phase: Phase, at: Vec3, pressure: f32, age: f64) {
        let same = |place: &Option<Finger>| place.is_some_and(|one| one.id == id && !one.went);
        let known = self.fingers.iter().position(same);
        let Some(place) = known.or_else(|| {
            (phase == Phase::Began).then(|| self.fingers.iter().position(Option::is_none))?
        }) else {
            return;
        };
        let act = match phase {
            _ if known.is_none() => Act::Down,
            Phase::Ended => Act::Up,
            Phase::Cancelled => Act::Cancel,
            Phase::Began | Phase::Moved => Act::Move,
        };
        self.gestures.take(place, act, Vec2::new(at.x, at.y), age);
        let went = matches!(phase, Phase::Ended | Phase::Cancelled);
        let before = self.fingers[place];
        let moved = before.map_or(Vec3::ZERO, |finger| at - finger.at);
        self.fingers[place] = Some(Finger {
            id,
            at,
            by: before.map_or(Vec3::ZERO, |finger| finger.by) + moved,
            pressure,
            came: before.is_none_or(|finger| finger.came),
            went,
        });
        let panel = &mut self.devices[usize::from(TOUCH.0)];
        panel.connected = true;
        if place == 0 {
            panel.set_axis(0, at);
            panel.move_axis(1, moved);
            panel.set_button(0, if went { 0.0 } else { 1.0 });
        }
    }

    #[inline]
    pub fn device(&self, id: DeviceId) -> &Device {
        &self.devices[usize::from(id.0)]
    }

    pub fn device_mut(&mut self, id: DeviceId) -> &mut Device {
        &mut self.devices[usize::from(id.0)]
    }

    /// What happened since the frame before, in its order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The stick that was thrown by the event at this place.
    pub fn thrown_by(&self, event: usize) -> Option<Throw> {
        self.thrown.iter().find(|(at, _)| *at == event).map(|(_, throw)| *throw)
    }

    /// The fingers, each at its place.
    pub fn fingers(&self) -> &[Option<Finger>; FINGERS_MAX] {
        &self.fingers
    }

    pub fn composing(&self) -> &Composing {
        &self.composing
    }

    /// The device that was used last.
    pub fn last_used(&self) -> DeviceId {
        self.last
    }

    /// What fingers did that is a gesture.
    pub fn gestures(&self) -> &Gestures {
        &self.gestures
    }

    /// The motors of a device; it has none while it is not there.
    pub fn motors(&self, device: DeviceId) -> &Motors {
        &self.motors[usize::from(device.0)]
    }

    pub fn motors_mut(&mut self, device: DeviceId) -> &mut Motors {
        &mut self.motors[usize::from(device.0)]
    }

    /// Time passes for what plays on motors: the game's, and as `passed` the player's.
    pub fn advance_motors(&mut self, seconds: f64, passed: f64) {
        self.motors.iter_mut().for_each(|motors| motors.advance(seconds, passed));
    }

    /// What devices are to be told to do with their motors, where that is not what they do.
    pub fn take_rumbles(&mut self) -> Vec<Rumble> {
        let each = self.motors.iter_mut().enumerate();
        let told = each.filter_map(|(at, motors)| {
            let (motors, seconds) = motors.tell()?;
            Some(Rumble { device: DeviceId(at as u8), motors, seconds })
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(device: DeviceId, what: What) -> Event {
        Event { device, age: 0.0, what }
    }

    #[test]
    fn a_pad_that_is_unplugged_while_pressed_releases_everything() {
        let mut input = Input::default();
        let pad = pad(2).unwrap();
        input.begin_frame(vec![
            event(pad, What::Connected { name: "Pad".into(), motors: 2 }),
            event(pad, What::Button { button: 0, value: 1.0, repeat: false }),
        ]);
        assert!(input.device(pad).came && input.device(pad).pressed(0));
        assert_eq!(input.last_used(), pad);
        input.begin_frame(vec![event(pad, What::Disconnected)]);
        let device = input.device(pad);
        assert!(device.went && !device.connected && device.released(0));
        input.begin_frame(Vec::new());
        assert!(!input.device(pad).went);
        input.motors_mut(pad).set_base(0, 1.0);
        assert!(input.take_rumbles().is_empty(), "it is not there");
    }

    #[test]
    fn fingers_keep_their_places_while_they_are_down() {
        let mut input = Input::default();
        let touch = |finger, phase, x: f32| {
            let at = Vec3::new(x, 0.0, 0.0);
            event(TOUCH, What::Touch { finger, phase, at, pressure: 1.0 })
        };
        input.begin_frame(vec![touch(70, Phase::Began, 1.0), touch(80, Phase::Began, 2.0)]);
        input.begin_frame(vec![touch(70, Phase::Ended, 3.0), touch(80, Phase::Moved, 5.0)]);
        let [first, second, ..] = input.fingers();
        assert!(first.unwrap().went && first.unwrap().by.x == 2.0);
        assert!(second.unwrap().by.x == 3.0 && !second.unwrap().came);
        assert!(input.device(TOUCH).released(0));
        input.begin_frame(vec![touch(90, Phase::Began, 4.0)]);
        assert_eq!(input.fingers()[0].unwrap().id, 90);
        // A finger that nobody saw come does nothing.
        input.begin_frame(vec![touch(7, Phase::Moved, 4.0)]);
        assert_eq!(input.fingers().iter().flatten().count(), 2);
    }

    #[test]
    fn a_touch_that_is_taken_away_ends_and_is_no_tap() {
        let touch =
            |phase| event(TOUCH, What::Touch { finger: 1, phase, at: Vec3::ZERO, pressure: 1.0 });
        let mut input = Input::default();
        for (last, tapped) in [(Phase::Cancelled, false), (Phase::Ended, true)] {
            input.pass(0.016);
            input.begin_frame(vec![touch(Phase::Began), touch(last)]);
            assert!(input.fingers()[0].unwrap().went);
            assert_eq!(input.gestures().tap().is_some(), tapped);
        }
    }

    #[test]
    fn a_release_counts_that_comes_after_more_events_than_are_listed() {
        let mut input = Input::default();
        let key = |value| event(KEYBOARD, What::Button { button: 4, value, repeat: false });
        let by = Vec3::new(1.0, 0.0, 0.0);
        let mut events = vec![key(1.0)];
        events.resize(EVENTS_MAX * 2, event(MOUSE, What::Motion { axis: 1, by }));
        events.push(key(0.0));
        input.begin_frame(events);
        let keyboard = input.device(KEYBOARD);
        assert!(keyboard.pressed(4) && keyboard.released(4) && keyboard.value(4) == 0.0);
        assert_eq!(input.device(MOUSE).axis(1).x, EVENTS_MAX as f32 * 2.0 - 1.0);
        assert_eq!(input.events().len(), EVENTS_MAX);
    }

    #[test]
    fn what_no_device_can_say_changes_nothing() {
        let mut input = Input::default();
        let far = Vec3::new(1e30, -1e30, 0.0);
        for device in (0..DEVICES as u8).map(DeviceId) {
            input.begin_frame(vec![
                event(device, What::Axis { axis: 200, value: far }),
                event(device, What::Motion { axis: 200, by: far }),
                event(device, What::Button { button: 60_000, value: 1.0, repeat: false }),
                event(device, What::Button { button: 0, value: f32::NAN, repeat: false }),
                event(device, What::Label { button: 60_000, text: "x".into() }),
            ]);
            assert!(input.device(device).any_pressed().is_none());
            assert_eq!(input.device(device).value(0), 0.0);
        }
        input.begin_frame(vec![event(PAD, What::Axis { axis: 0, value: far })]);
        let stick = input.device(PAD).axis(0);
        assert!((stick.length() - 1.0).abs() < 1e-6 && stick.x > 0.0 && stick.y < 0.0);
    }

    #[test]
    fn composing_ends_with_the_focus() {
        let mut input = Input::default();
        let text = "か".to_string();
        input.begin_frame(vec![event(KEYBOARD, What::Compose { text, cursor: Some((0, 3)) })]);
        assert_eq!(input.composing().text, "か");
        input.begin_frame(vec![event(KEYBOARD, What::Reset)]);
        assert_eq!(input.composing(), &Composing::default());
    }

    #[test]
    fn motion_is_summed_over_a_frame_and_the_cursor_stays() {
        let mut input = Input::default();
        let by = Vec3::new(2.0, -1.0, 0.0);
        let moved = |axis| event(MOUSE, What::Motion { axis, by });
        let at = What::Axis { axis: 0, value: Vec3::new(5.0, 6.0, 0.0) };
        input.begin_frame(vec![moved(1), event(MOUSE, at), moved(1), moved(2)]);
        let mouse = input.device(MOUSE);
        assert_eq!((mouse.axis(1), mouse.axis(2)), (by * 2.0, by));
        input.begin_frame(Vec::new());
        let mouse = input.device(MOUSE);
        assert_eq!((mouse.axis(0).x, mouse.axis(1), mouse.axis(2)), (5.0, Vec3::ZERO, Vec3::ZERO));
    }
}
