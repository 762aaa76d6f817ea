//! Translation of one gamepad's raw Linux events into input events, by the rules of its mapping.

use super::mapping::{DeviceCodes, MappingRule, MappingSource, MappingTarget};
use crate::button_names::DeviceClass;
use crate::{DeviceId, EventKind, InputEvent};
use engine_foundation::Vec3;
use engine_platform::{AxisRange, RawInput};

/// Translator of one gamepad's raw events into input events.
pub struct PadTranslator {
    pub device: DeviceId,
    rules: Vec<MappingRule>,
    ranges: Vec<(u16, AxisRange)>,
    /// Current value of each rule, because several rules can have the same target.
    rule_values: Vec<f32>,
    buttons: Vec<f32>,
    sticks: [Vec3; 2],
}

/// Event types of linux/input-event-codes.h.
pub const EV_SYN: u16 = 0;
pub const EV_KEY: u16 = 1;
pub const EV_ABS: u16 = 3;
/// Code of an EV_SYN event if the kernel had to drop events.
pub const SYN_DROPPED: u16 = 3;

impl PadTranslator {
    pub fn new(device: DeviceId, codes: DeviceCodes, rules: Vec<MappingRule>) -> PadTranslator {
        let rule_values = rules
            .iter()
            .map(|rule| match (rule.source, rule.target) {
                // A stick rests at its center, a trigger at its start.
                (MappingSource::Axis { .. }, MappingTarget::Stick { from, .. }) if from != 0.0 => {
                    0.5
                }
                _ => 0.0,
            })
            .collect();
        let buttons = vec![0.0; DeviceClass::Pad.buttons().len()];
        PadTranslator {
            device,
            rules,
            ranges: codes.axes,
            rule_values,
            buttons,
            sticks: [Vec3::ZERO; 2],
        }
    }

    /// Translates one raw event and appends the resulting events.
    pub fn take(&mut self, input: RawInput, events: &mut Vec<InputEvent>) {
        for at in 0..self.rules.len() {
            let value = match self.rules[at].source {
                MappingSource::Key(code) if input.kind == EV_KEY && code == input.code => {
                    if input.value != 0 { 1.0 } else { 0.0 }
                }
                MappingSource::Axis { code, from, to }
                    if input.kind == EV_ABS && code == input.code =>
                {
                    let normalized_axis = self.normalized_axis(code, input.value);
                    ((normalized_axis - from) / (to - from)).clamp(0.0, 1.0)
                }
                _ => continue,
            };
            self.rule_values[at] = value;
            match self.rules[at].target {
                MappingTarget::Button(button) => self.set_button(button, input.age, events),
                MappingTarget::Stick { axis, .. } => self.set_stick(axis, input.age, events),
            }
        }
    }

    /// Returns the normalized position of an axis, -1 to 1.
    fn normalized_axis(&self, code: u16, value: i32) -> f32 {
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

    fn set_button(&mut self, button: u16, age: f64, events: &mut Vec<InputEvent>) {
        let rules = self.rules.iter().zip(&self.rule_values);
        let own = rules.filter(|(rule, _)| rule.target == MappingTarget::Button(button));
        let value = own.map(|(_, rule_value)| *rule_value).fold(0.0, f32::max);
        let previous = &mut self.buttons[usize::from(button)];
        if *previous != value {
            *previous = value;
            let kind = EventKind::Button { button, value, repeat: false };
            events.push(InputEvent { device: self.device, age, kind });
        }
    }

    fn set_stick(&mut self, wanted: u8, age: f64, events: &mut Vec<InputEvent>) {
        let mut value = Vec3::ZERO;
        for (rule, rule_value) in self.rules.iter().zip(&self.rule_values) {
            if let MappingTarget::Stick { axis, part, from, to } = rule.target
                && axis == wanted
            {
                value[part] += from + (to - from) * rule_value;
            }
        }
        let value = value.clamp(Vec3::splat(-1.0), Vec3::ONE);
        let previous = &mut self.sticks[usize::from(wanted)];
        if *previous != value {
            *previous = value;
            // Both components of one report become one event.
            if let Some(InputEvent { device, kind: EventKind::Axis { axis, value: last }, .. }) =
                events.last_mut()
                && *device == self.device
                && *axis == wanted
            {
                *last = value;
                return;
            }
            let kind = EventKind::Axis { axis: wanted, value };
            events.push(InputEvent { device: self.device, age, kind });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mapping;
    use super::*;
    use crate::PAD;
    use crate::button_names::pad;

    fn raw_input(kind: u16, code: u16, value: i32) -> RawInput {
        RawInput { age: 0.002, kind, code, value }
    }

    #[test]
    fn raw_pad_input_becomes_buttons_and_sticks() {
        let range = |min, max| AxisRange { min, max, value: 0 };
        let codes = DeviceCodes {
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
        let mut translator = PadTranslator::new(PAD, codes, rules);
        let mut events = Vec::new();
        for input in [
            raw_input(EV_KEY, 0x130, 1),
            raw_input(EV_KEY, 0x130, 1),
            raw_input(EV_ABS, 2, 255),
            raw_input(EV_ABS, 0x11, -1),
            raw_input(EV_ABS, 0x11, 0),
            raw_input(EV_ABS, 0, 32767),
            raw_input(EV_ABS, 1, -32768),
        ] {
            translator.take(input, &mut events);
        }
        let kinds: Vec<_> = events.into_iter().map(|event| event.kind).collect();
        let button = |button, value| EventKind::Button { button, value, repeat: false };
        assert_eq!(
            kinds,
            [
                button(pad::A, 1.0),
                button(pad::LEFT_TRIGGER, 1.0),
                button(pad::D_UP, 1.0),
                button(pad::D_UP, 0.0),
                EventKind::Axis { axis: pad::LEFT, value: Vec3::new(1.0, 1.0, 0.0) },
            ]
        );
    }
}
