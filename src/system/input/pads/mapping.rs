//! Mapping of a gamepad's event codes to buttons and axes: by the kernel's gamepad convention
//! (Documentation/input/gamepad.rst), or by a line of SDL's database format
//! (`GUID,name,a:b0,leftx:a0,…`). Pure functions: no device is accessed.

use super::MappingDatabase;
use crate::button_names::{DeviceClass, pad};
use engine_platform::AxisRange;

/// Codes of linux/input-event-codes.h.
pub const BTN_JOYSTICK: u16 = 0x120;
pub const BTN_GAMEPAD: u16 = 0x130;
const ABS_HAT_FIRST: u16 = 0x10;
const ABS_HAT_LAST: u16 = 0x17;

/// Source of a mapping rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MappingSource {
    Key(u16),
    /// Axis, with the positions that count as 0 and as 1: fractions of its range, -1 to 1.
    Axis {
        code: u16,
        from: f32,
        to: f32,
    },
}

/// Target of a mapping rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MappingTarget {
    Button(u16),
    /// Component of a stick (0 is x, 1 is y), with its values for the source's 0 and 1.
    Stick {
        axis: u8,
        part: usize,
        from: f32,
        to: f32,
    },
}

/// Rule of a mapping: one source and its target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MappingRule {
    pub source: MappingSource,
    pub target: MappingTarget,
}

/// Keys and axes of a gamepad, sorted by code.
#[derive(Clone, Debug, Default)]
pub struct DeviceCodes {
    pub keys: Vec<u16>,
    pub axes: Vec<(u16, AxisRange)>,
}

impl DeviceCodes {
    fn has(&self, axis: u16) -> bool {
        self.axes.iter().any(|(code, _)| *code == axis)
    }
}

fn key(code: u16, button: u16) -> MappingRule {
    MappingRule { source: MappingSource::Key(code), target: MappingTarget::Button(button) }
}

/// Maps the whole range of an axis to one component of a stick. Devices report y downward.
fn stick_rule(code: u16, axis: u8, part: usize) -> MappingRule {
    let (from, to) = if part == 1 { (1.0, -1.0) } else { (-1.0, 1.0) };
    MappingRule {
        source: MappingSource::Axis { code, from: -1.0, to: 1.0 },
        target: MappingTarget::Stick { axis, part, from, to },
    }
}

/// Maps a part of an axis to a button.
fn part(code: u16, from: f32, to: f32, button: u16) -> MappingRule {
    MappingRule {
        source: MappingSource::Axis { code, from, to },
        target: MappingTarget::Button(button),
    }
}

/// Returns the mapping by the kernel's convention. `swapped` is true if the driver swaps the left
/// and the upper button, as the driver of most pads for one console does.
pub fn standard(codes: &DeviceCodes, swapped: bool) -> Vec<MappingRule> {
    let (upper, left) = if swapped { (0x134, 0x133) } else { (0x133, 0x134) };
    let mut rules = vec![
        key(BTN_GAMEPAD, pad::A),
        key(0x131, pad::B),
        key(left, pad::X),
        key(upper, pad::Y),
        key(0x136, pad::LEFT_SHOULDER),
        key(0x137, pad::RIGHT_SHOULDER),
        key(0x13a, pad::BACK),
        key(0x13b, pad::START),
        key(0x13c, pad::GUIDE),
        key(0x13d, pad::LEFT_THUMB),
        key(0x13e, pad::RIGHT_THUMB),
        key(0x220, pad::D_UP),
        key(0x221, pad::D_DOWN),
        key(0x222, pad::D_LEFT),
        key(0x223, pad::D_RIGHT),
        key(0xa7, pad::MISC),
        part(0x11, 0.0, -1.0, pad::D_UP),
        part(0x11, 0.0, 1.0, pad::D_DOWN),
        part(0x10, 0.0, -1.0, pad::D_LEFT),
        part(0x10, 0.0, 1.0, pad::D_RIGHT),
        stick_rule(0, pad::LEFT, 0),
        stick_rule(1, pad::LEFT, 1),
    ];
    rules.extend((0..4).map(|at| key(0x2c4 + at, pad::PADDLE_1 + at)));
    // Most gamepads have their right stick on RX and RY, and their triggers on Z and RZ.
    let usual = codes.has(3) && codes.has(4);
    let (x, y) = if usual { (3, 4) } else { (2, 5) };
    rules.extend([stick_rule(x, pad::RIGHT, 0), stick_rule(y, pad::RIGHT, 1)]);
    let triggers = [(2, 0x15, 0x138, pad::LEFT_TRIGGER), (5, 0x14, 0x139, pad::RIGHT_TRIGGER)];
    for (axis, hat, digital, button) in triggers {
        match (usual && codes.has(axis), codes.has(hat)) {
            (true, _) => rules.push(part(axis, -1.0, 1.0, button)),
            (false, true) => rules.push(part(hat, -1.0, 1.0, button)),
            (false, false) => rules.push(key(digital, button)),
        }
    }
    rules.retain(|rule| match rule.source {
        MappingSource::Key(code) => codes.keys.contains(&code),
        MappingSource::Axis { code, .. } => codes.has(code),
    });
    rules
}

/// Returns the rules for a gamepad if the database has a line for it.
pub fn rules_of(
    database: &MappingDatabase,
    id: [u16; 4],
    codes: &DeviceCodes,
) -> Option<Vec<MappingRule>> {
    let fields = database.fields(id)?;
    Some(fields.split(',').filter_map(|field| rule(field, codes)).collect())
}

/// Parses a field such as `a:b0`, `leftx:a0~`, `dpup:h0.1`, `+lefty:+a1`.
fn rule(field: &str, codes: &DeviceCodes) -> Option<MappingRule> {
    let (target, source) = field.split_once(':')?;
    let source = source_of(source, codes)?;
    let (half, name) = match target.as_bytes().first()? {
        b'+' => (1.0, &target[1..]),
        b'-' => (-1.0, &target[1..]),
        _ => (0.0, target),
    };
    let sticks = [
        ("leftx", pad::LEFT, 0),
        ("lefty", pad::LEFT, 1),
        ("rightx", pad::RIGHT, 0),
        ("righty", pad::RIGHT, 1),
    ];
    if let Some((_, axis, part)) = sticks.iter().find(|(known, ..)| *known == name) {
        // The database counts y downward.
        let sign = if *part == 1 { -1.0 } else { 1.0 };
        let (from, to) = if half == 0.0 { (-sign, sign) } else { (0.0, half * sign) };
        let target = MappingTarget::Stick { axis: *axis, part: *part, from, to };
        return Some(MappingRule { source, target });
    }
    let button = DeviceClass::Pad.button(name)? as u16;
    let source = match source {
        // A half axis or a whole axis covers the button's full range.
        MappingSource::Axis { code, from, to } => MappingSource::Axis { code, from, to },
        key => key,
    };
    Some(MappingRule { source, target: MappingTarget::Button(button) })
}

fn source_of(text: &str, codes: &DeviceCodes) -> Option<MappingSource> {
    let (inverted, text) = match text.strip_suffix('~') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (half, text) = match text.as_bytes().first()? {
        b'+' => (1.0, &text[1..]),
        b'-' => (-1.0, &text[1..]),
        _ => (0.0, text),
    };
    let (kind, number) = text.split_at_checked(1)?;
    match kind {
        "b" => {
            let at: usize = number.parse().ok()?;
            // Joystick and gamepad codes come first, then the others.
            let high = codes.keys.iter().filter(|code| **code >= BTN_JOYSTICK);
            let low = codes.keys.iter().filter(|code| **code < BTN_JOYSTICK);
            high.chain(low).nth(at).map(|code| MappingSource::Key(*code))
        }
        "a" => {
            let at: usize = number.parse().ok()?;
            let plain = |code: &u16| !(ABS_HAT_FIRST..=ABS_HAT_LAST).contains(code);
            let code = codes.axes.iter().map(|(code, _)| *code).filter(plain).nth(at)?;
            let (from, to) = if half == 0.0 { (-1.0, 1.0) } else { (0.0, half) };
            let (from, to) = if inverted { (to, from) } else { (from, to) };
            Some(MappingSource::Axis { code, from, to })
        }
        "h" => {
            let (hat, mask) = number.split_once('.')?;
            let hat: u16 = hat.parse().ok().filter(|hat| *hat < 4)?;
            let first = ABS_HAT_FIRST + hat * 2;
            let (code, to) = match mask {
                "1" => (first + 1, -1.0),
                "2" => (first, 1.0),
                "4" => (first + 1, 1.0),
                "8" => (first, -1.0),
                _ => return None,
            };
            Some(MappingSource::Axis { code, from: 0.0, to })
        }
        _ => None,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn codes(keys: &[u16], axes: &[u16]) -> DeviceCodes {
        let range = AxisRange { min: -100, max: 100, value: 0 };
        DeviceCodes { keys: keys.to_vec(), axes: axes.iter().map(|code| (*code, range)).collect() }
    }

    pub const LINE: &str = "030000005e0400008e02000014010000,A Pad,a:b0,b:b1,x:b2,dpup:h0.1,\
                        leftx:a0,lefty:a1~,lefttrigger:a2,+rightx:b3,platform:Linux,";

    #[test]
    fn a_line_of_the_database_is_parsed() {
        let mut database = MappingDatabase::default();
        assert!(database.add(LINE).is_empty());
        let codes = codes(&[1, 0x130, 0x131, 0x133, 0x134], &[0, 1, 2, 0x10, 0x11]);
        let rules = rules_of(&database, [3, 0x045e, 0x028e, 0x0114], &codes).unwrap();
        assert_eq!(rules.len(), 8);
        assert_eq!(rules[0], key(0x130, pad::A));
        assert_eq!(rules[3], part(0x11, 0.0, -1.0, pad::D_UP));
        assert_eq!(
            rules[5],
            MappingRule {
                source: MappingSource::Axis { code: 1, from: 1.0, to: -1.0 },
                target: MappingTarget::Stick { axis: 0, part: 1, from: 1.0, to: -1.0 },
            }
        );
        assert_eq!(rules[6], part(2, -1.0, 1.0, pad::LEFT_TRIGGER));
        assert!(matches!(
            rules[7].target,
            MappingTarget::Stick { axis: 1, part: 0, from: 0.0, to: 1.0 }
        ));
        assert!(rules_of(&database, [3, 1, 1, 1], &codes).is_none());
    }

    #[test]
    fn mappings_of_missing_inputs_are_skipped() {
        let mut database = MappingDatabase::default();
        database.add(LINE);
        let rules =
            rules_of(&database, [3, 0x045e, 0x028e, 0x0114], &codes(&[0x130], &[])).unwrap();
        // Hats are not checked against the gamepad's axes, so their rules are kept.
        assert_eq!(rules, [key(0x130, pad::A), part(0x11, 0.0, -1.0, pad::D_UP)]);
    }

    #[test]
    fn a_pad_without_a_mapping_uses_the_kernel_convention() {
        let usual = codes(&[0x130, 0x131, 0x133, 0x134, 0x138], &[0, 1, 2, 3, 4, 5, 0x10, 0x11]);
        let rules = standard(&usual, false);
        assert!(
            rules.contains(&key(0x133, pad::Y)) && rules.contains(&stick_rule(4, pad::RIGHT, 1))
        );
        assert!(rules.contains(&part(5, -1.0, 1.0, pad::RIGHT_TRIGGER)));
        assert!(standard(&usual, true).contains(&key(0x133, pad::X)));
        let other = codes(&[0x130, 0x138, 0x139], &[0, 1, 2, 5]);
        let rules = standard(&other, false);
        assert!(rules.contains(&stick_rule(2, pad::RIGHT, 0)));
        assert!(rules.contains(&key(0x138, pad::LEFT_TRIGGER)));
    }
}
