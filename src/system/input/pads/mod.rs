//! Pads: found while the game plays, read, and made into events. On Linux by the kernel's own
//! devices; on other systems there are none so far, and `Pads::problem` says so.

mod mapping;
#[cfg(target_os = "linux")]
mod nodes;

use super::names::Class;
use super::{DeviceId, Event, Rumble, What};
use crate::foundation::Vec3;
use crate::system::platform::{AxisRange, RawInput};
use mapping::{Goal, Rule, Source};

pub use mapping::{Codes, Database};

/// The pads of the system.
pub struct Pads {
    #[cfg(target_os = "linux")]
    nodes: nodes::Nodes,
}

impl Pads {
    /// Looks for pads from now on. `database` says how those are mapped that do not follow the
    /// kernel's convention.
    pub fn new(database: Database) -> Pads {
        #[cfg(target_os = "linux")]
        return Pads { nodes: nodes::Nodes::new(database) };
        #[cfg(not(target_os = "linux"))]
        {
            let _ = database;
            Pads {}
        }
    }

    /// Why there are no pads on this system, where there are none.
    pub fn problem() -> Option<&'static str> {
        let linux = cfg!(target_os = "linux");
        (!linux).then_some("pads are read on Linux only, so far")
    }

    /// What the pads did since the last time.
    pub fn poll(&mut self, events: &mut Vec<Event>) {
        #[cfg(target_os = "linux")]
        self.nodes.poll(events);
        #[cfg(not(target_os = "linux"))]
        let _ = events;
    }

    /// Has a pad rumble, where it can.
    pub fn rumble(&mut self, wanted: Rumble) {
        #[cfg(target_os = "linux")]
        self.nodes.rumble(wanted);
        #[cfg(not(target_os = "linux"))]
        let _ = wanted;
    }
}

/// Makes events of what one pad says.
struct Translator {
    device: DeviceId,
    rules: Vec<Rule>,
    ranges: Vec<(u16, AxisRange)>,
    /// What each rule gives now, so that several that lead to one button add up.
    given: Vec<f32>,
    buttons: Vec<f32>,
    sticks: [Vec3; 2],
}

/// Kinds of linux/input-event-codes.h.
const EV_SYN: u16 = 0;
const EV_KEY: u16 = 1;
const EV_ABS: u16 = 3;
/// Said in EV_SYN where the kernel had to drop events.
const SYN_DROPPED: u16 = 3;

impl Translator {
    fn new(device: DeviceId, codes: Codes, rules: Vec<Rule>) -> Translator {
        let given = rules
            .iter()
            .map(|rule| match (rule.source, rule.goal) {
                // A stick rests in its middle, a trigger at its beginning.
                (Source::Axis { .. }, Goal::Stick { from, .. }) if from != 0.0 => 0.5,
                _ => 0.0,
            })
            .collect();
        let buttons = vec![0.0; Class::Pad.buttons().len()];
        Translator { device, rules, ranges: codes.axes, given, buttons, sticks: [Vec3::ZERO; 2] }
    }

    /// Takes one thing that was said, and adds the events that it makes.
    fn take(&mut self, said: RawInput, events: &mut Vec<Event>) {
        for at in 0..self.rules.len() {
            let value = match self.rules[at].source {
                Source::Key(code) if said.kind == EV_KEY && code == said.code => {
                    if said.value != 0 { 1.0 } else { 0.0 }
                }
                Source::Axis { code, from, to } if said.kind == EV_ABS && code == said.code => {
                    let way = self.way(code, said.value);
                    ((way - from) / (to - from)).clamp(0.0, 1.0)
                }
                _ => continue,
            };
            self.given[at] = value;
            match self.rules[at].goal {
                Goal::Button(button) => self.set_button(button, said.age, events),
                Goal::Stick { axis, .. } => self.set_stick(axis, said.age, events),
            }
        }
    }

    /// Where an axis stands, -1 to 1.
    fn way(&self, code: u16, value: i32) -> f32 {
        let range = self.ranges.iter().find(|(known, _)| *known == code);
        let (min, max) = range.map_or((-1, 1), |(_, range)| (range.min, range.max));
        match max > min {
            true => {
                let part = (f64::from(value) - f64::from(min)) / (f64::from(max) - f64::from(min));
                (part * 2.0 - 1.0) as f32
            }
            false => 0.0,
        }
    }

    fn set_button(&mut self, button: u16, age: f64, events: &mut Vec<Event>) {
        let rules = self.rules.iter().zip(&self.given);
        let own = rules.filter(|(rule, _)| rule.goal == Goal::Button(button));
        let value = own.map(|(_, given)| *given).fold(0.0, f32::max);
        let before = &mut self.buttons[usize::from(button)];
        if *before != value {
            *before = value;
            let what = What::Button { button, value, repeat: false };
            events.push(Event { device: self.device, age, what });
        }
    }

    fn set_stick(&mut self, wanted: u8, age: f64, events: &mut Vec<Event>) {
        let mut value = Vec3::ZERO;
        for (rule, given) in self.rules.iter().zip(&self.given) {
            if let Goal::Stick { axis, part, from, to } = rule.goal
                && axis == wanted
            {
                value[part] += from + (to - from) * given;
            }
        }
        let value = value.clamp(Vec3::splat(-1.0), Vec3::ONE);
        let before = &mut self.sticks[usize::from(wanted)];
        if *before != value {
            *before = value;
            // Both directions of one report are one move.
            if let Some(Event { device, what: What::Axis { axis, value: last }, .. }) =
                events.last_mut()
                && *device == self.device
                && *axis == wanted
            {
                *last = value;
                return;
            }
            let what = What::Axis { axis: wanted, value };
            events.push(Event { device: self.device, age, what });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::input::PAD;
    use crate::system::input::names::pad;

    fn said(kind: u16, code: u16, value: i32) -> RawInput {
        RawInput { age: 0.002, kind, code, value }
    }

    #[test]
    fn what_a_pad_says_becomes_buttons_and_sticks() {
        let range = |min, max| AxisRange { min, max, value: 0 };
        let codes = Codes {
            keys: vec![0x130],
            axes: vec![
                (0, range(-32768, 32767)),
                (1, range(-32768, 32767)),
                (2, range(0, 255)),
                (3, range(0, 255)),
                (4, range(0, 255)),
                (0x10, range(-1, 1)),
                (0x11, range(-1, 1)),
            ],
        };
        let rules = mapping::standard(&codes, false);
        let mut translator = Translator::new(PAD, codes, rules);
        let mut events = Vec::new();
        for one in [
            said(EV_KEY, 0x130, 1),
            said(EV_KEY, 0x130, 1),
            said(EV_ABS, 2, 255),
            said(EV_ABS, 0x11, -1),
            said(EV_ABS, 0x11, 0),
            said(EV_ABS, 0, 32767),
            said(EV_ABS, 1, -32768),
        ] {
            translator.take(one, &mut events);
        }
        let whats: Vec<_> = events.into_iter().map(|event| event.what).collect();
        let button = |button, value| What::Button { button, value, repeat: false };
        assert_eq!(
            whats,
            [
                button(pad::A, 1.0),
                button(pad::LEFT_TRIGGER, 1.0),
                button(pad::D_UP, 1.0),
                button(pad::D_UP, 0.0),
                What::Axis { axis: pad::LEFT, value: Vec3::new(1.0, 1.0, 0.0) },
            ]
        );
    }
}
