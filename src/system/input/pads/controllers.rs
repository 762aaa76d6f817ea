//! Gamepads on Windows and macOS, read by the library gilrs, which also knows the mapping of their
//! buttons. A game's own mappings serve for pads that the library does not know.

use super::MappingDatabase;
use crate::button_names::pad;
use crate::{DeviceId, EventKind, InputEvent, PAD, PADS_MAX, RumbleCommand};
use engine_foundation::{Vec3, log, panic};
use gilrs::ff::{BaseEffect, BaseEffectType, Effect, EffectBuilder, Repeat, Replay, Ticks};
use gilrs::{Axis, Button, EventType, GamepadId, Gilrs, GilrsBuilder};
use std::time::SystemTime;

/// Maximum number of events that are taken from the library at once. A faulty driver could report
/// without an end.
const EVENTS_MAX: usize = 4096;

/// Connected gamepads.
pub struct Controllers {
    /// `None` if the library cannot be used.
    library: Option<Gilrs>,
    /// True once the pads that were connected at the start are reported.
    has_listed: bool,
    pads: Vec<Controller>,
}

struct Controller {
    id: GamepadId,
    device: DeviceId,
    name: String,
    rumbles: bool,
    /// The effect that plays. Dropping it stops the motors.
    effect: Option<Effect>,
    sticks: [Vec3; 2],
}

impl Controllers {
    /// Starts the library with a game's own mappings. Without the library, no pad is found, and the
    /// log says why.
    pub fn new(database: MappingDatabase) -> Controllers {
        let build = || {
            // The engine applies dead zones itself.
            let builder = GilrsBuilder::new().with_default_filters(false).add_env_mappings(false);
            builder.add_mappings(&database.lines_of_this_system()).build()
        };
        let library = match panic::contain(build) {
            Ok(Ok(library)) => Some(library),
            Ok(Err(reason)) => {
                log::warning(&format!("gamepads cannot be read: {reason}"));
                None
            }
            Err(error) => {
                log::warning(&format!("gamepads cannot be read: {error}"));
                None
            }
        };
        Controllers { library, has_listed: false, pads: Vec::new() }
    }

    /// Appends the events since the last call.
    pub fn poll(&mut self, events: &mut Vec<InputEvent>) {
        let Some(mut library) = self.library.take() else { return };
        let read = panic::contain(|| {
            if !std::mem::replace(&mut self.has_listed, true) {
                let connected: Vec<GamepadId> = library.gamepads().map(|(id, _)| id).collect();
                connected.into_iter().for_each(|id| self.connect(&library, id, events));
            }
            for _ in 0..EVENTS_MAX {
                let Some(event) = library.next_event() else { break };
                let age = SystemTime::now().duration_since(event.time).unwrap_or_default();
                self.take(&library, event.id, event.event, age.as_secs_f64().min(1.0), events);
            }
        });
        match read {
            Ok(()) => self.library = Some(library),
            Err(error) => {
                log::warning(&format!("gamepads cannot be read any more: {error}"));
                self.disconnect_all(events);
                // Its end may panic as well; the log contains only the first message.
                let _ = panic::contain(|| drop(library));
            }
        }
    }

    fn take(
        &mut self,
        library: &Gilrs,
        id: GamepadId,
        kind: EventType,
        age: f64,
        events: &mut Vec<InputEvent>,
    ) {
        match kind {
            EventType::Connected => return self.connect(library, id, events),
            EventType::Disconnected => {
                let Some(at) = self.pads.iter().position(|pad| pad.id == id) else { return };
                let device = self.pads.remove(at).device;
                return events.push(InputEvent { device, age, kind: EventKind::Disconnected });
            }
            _ => {}
        }
        let Some(pad) = self.pads.iter_mut().find(|pad| pad.id == id) else { return };
        match kind {
            // Each press and release comes with a change of the value.
            EventType::ButtonChanged(button, value, _) => {
                if let Some(button) = button_of(button) {
                    let kind =
                        EventKind::Button { button, value: value.clamp(0.0, 1.0), repeat: false };
                    events.push(InputEvent { device: pad.device, age, kind });
                }
            }
            EventType::AxisChanged(axis, value, _) => pad.set_axis(axis, value, age, events),
            _ => {}
        }
    }

    fn connect(&mut self, library: &Gilrs, id: GamepadId, events: &mut Vec<InputEvent>) {
        let Some(found) = library.connected_gamepad(id) else { return };
        if self.pads.iter().any(|pad| pad.id == id) {
            return;
        }
        let taken = |device: DeviceId| self.pads.iter().any(|pad| pad.device == device);
        let numbers = (0..PADS_MAX as u8).map(|at| DeviceId(PAD.0 + at));
        let name = found.name().to_string();
        let Some(device) = numbers.into_iter().find(|device| !taken(*device)) else {
            return log::warning(&format!("more than {PADS_MAX} pads: {name} is left out"));
        };
        let rumbles = found.is_ff_supported();
        let kind = EventKind::Connected { name: name.clone(), motors: if rumbles { 2 } else { 0 } };
        events.push(InputEvent { device, age: 0.0, kind });
        let mut pad =
            Controller { id, device, name, rumbles, effect: None, sticks: [Vec3::ZERO; 2] };
        // Buttons that are held, and sticks that are not at rest, are reported at once.
        for button in BUTTONS {
            let value = found.button_data(button.0).map_or(0.0, |data| data.value());
            if value != 0.0 {
                let kind = EventKind::Button { button: button.1, value, repeat: false };
                events.push(InputEvent { device, age: 0.0, kind });
            }
        }
        for axis in [Axis::LeftStickX, Axis::LeftStickY, Axis::RightStickX, Axis::RightStickY] {
            pad.set_axis(axis, found.value(axis), 0.0, events);
        }
        self.pads.push(pad);
    }

    fn disconnect_all(&mut self, events: &mut Vec<InputEvent>) {
        for pad in self.pads.drain(..) {
            let kind = EventKind::Disconnected;
            events.push(InputEvent { device: pad.device, age: 0.0, kind });
        }
    }

    /// Sends a rumble command to a gamepad that supports it.
    pub fn rumble(&mut self, wanted: RumbleCommand) {
        let Some(library) = &mut self.library else { return };
        let found = self.pads.iter_mut().find(|pad| pad.device == wanted.device);
        let Some(pad) = found.filter(|pad| pad.rumbles) else { return };
        let played = panic::contain(|| pad.play(library, wanted));
        if let Err(reason) = played.unwrap_or_else(|error| Err(error.message)) {
            pad.rumbles = false;
            log::warning(&format!("{} cannot rumble: {reason}", pad.name));
        }
    }
}

impl Controller {
    fn set_axis(&mut self, axis: Axis, value: f32, age: f64, events: &mut Vec<InputEvent>) {
        let value = value.clamp(-1.0, 1.0);
        let (stick, part) = match axis {
            Axis::LeftStickX => (pad::LEFT, 0),
            Axis::LeftStickY => (pad::LEFT, 1),
            Axis::RightStickX => (pad::RIGHT, 0),
            Axis::RightStickY => (pad::RIGHT, 1),
            // Some pads report their cross and their triggers as axes.
            Axis::DPadX => return self.press_halves(pad::D_LEFT, pad::D_RIGHT, value, age, events),
            Axis::DPadY => return self.press_halves(pad::D_DOWN, pad::D_UP, value, age, events),
            Axis::LeftZ => return self.press(pad::LEFT_TRIGGER, value, age, events),
            Axis::RightZ => return self.press(pad::RIGHT_TRIGGER, value, age, events),
            Axis::Unknown => return,
        };
        let sum = &mut self.sticks[usize::from(stick)];
        if sum[part] == value {
            return;
        }
        sum[part] = value;
        let kind = EventKind::Axis { axis: stick, value: *sum };
        events.push(InputEvent { device: self.device, age, kind });
    }

    fn press_halves(
        &self,
        negative: u16,
        positive: u16,
        value: f32,
        age: f64,
        events: &mut Vec<InputEvent>,
    ) {
        self.press(negative, -value, age, events);
        self.press(positive, value, age, events);
    }

    fn press(&self, button: u16, value: f32, age: f64, events: &mut Vec<InputEvent>) {
        let kind = EventKind::Button { button, value: value.clamp(0.0, 1.0), repeat: false };
        events.push(InputEvent { device: self.device, age, kind });
    }

    fn play(&mut self, library: &mut Gilrs, wanted: RumbleCommand) -> Result<(), String> {
        self.effect = None;
        if wanted.motors == [0.0; 2] || wanted.seconds <= 0.0 {
            return Ok(());
        }
        let full = |motor: f32| (motor.clamp(0.0, 1.0) * f32::from(u16::MAX)) as u16;
        let length = Ticks::from_ms((wanted.seconds.clamp(0.0, 60.0) * 1000.0) as u32);
        let scheduling = Replay { play_for: length, ..Replay::default() };
        let effect =
            |kind| BaseEffect { kind, scheduling, envelope: gilrs::ff::Envelope::default() };
        let [strong, weak] = wanted.motors.map(full);
        let started = EffectBuilder::new()
            .add_effect(effect(BaseEffectType::Strong { magnitude: strong }))
            .add_effect(effect(BaseEffectType::Weak { magnitude: weak }))
            .repeat(Repeat::For(length))
            .gamepads(&[self.id])
            .finish(library)
            .and_then(|effect| effect.play().map(|()| effect));
        self.effect = Some(started.map_err(|reason| reason.to_string())?);
        Ok(())
    }
}

/// The library's buttons, and the indices of the engine's.
const BUTTONS: [(Button, u16); 17] = [
    (Button::South, pad::A),
    (Button::East, pad::B),
    (Button::West, pad::X),
    (Button::North, pad::Y),
    (Button::DPadUp, pad::D_UP),
    (Button::DPadDown, pad::D_DOWN),
    (Button::DPadLeft, pad::D_LEFT),
    (Button::DPadRight, pad::D_RIGHT),
    (Button::LeftTrigger, pad::LEFT_SHOULDER),
    (Button::RightTrigger, pad::RIGHT_SHOULDER),
    (Button::LeftTrigger2, pad::LEFT_TRIGGER),
    (Button::RightTrigger2, pad::RIGHT_TRIGGER),
    (Button::LeftThumb, pad::LEFT_THUMB),
    (Button::RightThumb, pad::RIGHT_THUMB),
    (Button::Select, pad::BACK),
    (Button::Start, pad::START),
    (Button::Mode, pad::GUIDE),
];

fn button_of(button: Button) -> Option<u16> {
    BUTTONS.iter().find(|(known, _)| *known == button).map(|(_, index)| *index)
}
