//! State of one input device: buttons that are down, presses and releases of the current frame, and
//! axis values. Knows no drivers.

use super::button_names::{DeviceClass, PAIRS};
use engine_foundation::{Error, Vec3};
use std::sync::OnceLock;

/// Thresholds of analog buttons: pressed from the first value on, released below the second.
pub const PRESSED_AT: f32 = 0.5;
const RELEASED_BELOW: f32 = 0.45;

/// Dead zone of an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DeadZone {
    /// No dead zone: the value as the device reports it.
    Raw,
    /// Dead zone for each component: zero within this size, then rescaled to 0 to 1 at the edge.
    Independent(f32),
    /// Dead zone for the length of both components together, rescaled in the same manner.
    Circular(f32),
}

impl DeadZone {
    /// Default dead zone of sticks, close to the recommendations of gamepad manufacturers.
    pub const STICK: DeadZone = DeadZone::Circular(0.2);

    /// Returns the dead zone with this name and size.
    pub fn new(name: &str, size: f64) -> Result<DeadZone, Error> {
        if !(0.0..1.0).contains(&size) {
            return Err(engine_foundation::error!(
                "argument #3 'size' must be from 0 to below 1, got {size}"
            ));
        }
        match name {
            "raw" => Ok(DeadZone::Raw),
            "independent" => Ok(DeadZone::Independent(size as f32)),
            "circular" => Ok(DeadZone::Circular(size as f32)),
            _ => {
                let known = ["raw", "independent", "circular"];
                let hint = engine_foundation::suggest::hint(name, known);
                Err(engine_foundation::error!(
                    "argument #2 'mode' must be \"raw\", \"independent\" or \"circular\", got \
                     \"{name}\"{hint}"
                ))
            }
        }
    }

    /// Returns the name and size.
    pub fn name_and_size(self) -> (&'static str, f32) {
        match self {
            DeadZone::Raw => ("raw", 0.0),
            DeadZone::Independent(size) => ("independent", size),
            DeadZone::Circular(size) => ("circular", size),
        }
    }

    /// Applies the dead zone to a value.
    fn apply(self, value: Vec3) -> Vec3 {
        let left = |length: f32, size: f32| ((length - size) / (1.0 - size)).clamp(0.0, 1.0);
        match self {
            DeadZone::Raw => value,
            DeadZone::Independent(size) => {
                let per_component = |part: f32| left(part.abs(), size).copysign(part);
                Vec3::new(per_component(value.x), per_component(value.y), per_component(value.z))
            }
            DeadZone::Circular(size) => {
                let length = value.length();
                match length > size {
                    true => value * (left(length, size) / length),
                    false => Vec3::ZERO,
                }
            }
        }
    }
}

/// Thresholds of a stick: thrown in a direction from the first value on, centered below the second.
const FLICKED_FROM: f32 = 0.7;
const CENTERED_BELOW: f32 = 0.5;

/// Direction along one component of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AxisDirection {
    pub axis: usize,
    /// Component: 0 is x, 1 is y.
    pub part: usize,
    pub positive: bool,
}

const DOWN: u8 = 1;
const PRESSED: u8 = 2;
const RELEASED: u8 = 4;

/// State of one input device.
#[derive(Clone, Debug)]
pub struct InputDevice {
    pub class: DeviceClass,
    /// Name of the device as set by its manufacturer.
    pub name: String,
    pub connected: bool,
    /// True if the device was connected or disconnected in this frame.
    pub appeared: bool,
    pub disappeared: bool,
    values: Vec<f32>,
    flags: Vec<u8>,
    /// Buttons that changed in this frame, in order.
    changed: Vec<u16>,
    raw: Vec<Vec3>,
    zones: Vec<DeadZone>,
    /// For each stick: true if it was thrown and has not been centered since.
    flicked: Vec<bool>,
    labels: Vec<Option<String>>,
    /// True if the device was used in this frame.
    pub active: bool,
}

impl InputDevice {
    pub fn new(class: DeviceClass, name: &str, connected: bool) -> InputDevice {
        let (buttons, axes) = (class.buttons().len(), class.axes().len());
        let zone = if class == DeviceClass::Pad { DeadZone::STICK } else { DeadZone::Raw };
        InputDevice {
            class,
            name: name.to_string(),
            connected,
            appeared: false,
            disappeared: false,
            values: vec![0.0; buttons],
            flags: vec![0; buttons],
            changed: Vec::new(),
            raw: vec![Vec3::ZERO; axes],
            zones: vec![zone; axes],
            flicked: vec![false; axes],
            labels: Vec::new(),
            active: false,
        }
    }

    /// Clears the presses, releases and motion of the previous frame.
    pub fn begin_frame(&mut self) {
        for at in self.changed.drain(..) {
            self.flags[usize::from(at)] &= DOWN;
        }
        (self.appeared, self.disappeared, self.active) = (false, false, false);
        match self.class {
            DeviceClass::Mouse => self.raw[1..].fill(Vec3::ZERO),
            DeviceClass::Touch => self.raw[1] = Vec3::ZERO,
            _ => {}
        }
    }

    /// Returns the value of a button, 0 (up) to 1 (fully down).
    #[inline]
    pub fn value(&self, button: usize) -> f32 {
        self.values[button]
    }

    /// Returns true while a button is down.
    #[inline]
    pub fn held(&self, button: usize) -> bool {
        self.flags[button] & DOWN != 0
    }

    #[inline]
    pub fn pressed(&self, button: usize) -> bool {
        self.flags[button] & PRESSED != 0
    }

    #[inline]
    pub fn released(&self, button: usize) -> bool {
        self.flags[button] & RELEASED != 0
    }

    /// Returns the first button that was pressed in this frame.
    pub fn any_pressed(&self) -> Option<usize> {
        self.first(PRESSED)
    }

    /// Returns the first button that was released in this frame.
    pub fn any_released(&self) -> Option<usize> {
        self.first(RELEASED)
    }

    fn first(&self, flag: u8) -> Option<usize> {
        let changed = self.changed.iter().map(|at| usize::from(*at));
        changed.into_iter().find(|at| self.flags[*at] & flag != 0 && !self.is_pair(*at))
    }

    fn is_pair(&self, button: usize) -> bool {
        self.class == DeviceClass::Keyboard && pairs().iter().any(|pair| pair[0] == button)
    }

    /// Returns the value of an axis after its dead zone.
    #[inline]
    pub fn axis(&self, axis: usize) -> Vec3 {
        self.zones[axis].apply(self.raw[axis])
    }

    pub fn dead_zone(&self, axis: usize) -> DeadZone {
        self.zones[axis]
    }

    pub fn set_dead_zone(&mut self, axis: usize, zone: DeadZone) {
        self.zones[axis] = zone;
    }

    /// Returns the label of a button on this specific device, if it is known.
    pub fn label(&self, button: usize) -> Option<&str> {
        self.labels.get(button)?.as_deref()
    }

    pub fn set_label(&mut self, button: usize, text: String) {
        if button < self.values.len() {
            self.labels.resize(self.values.len(), None);
            self.labels[button] = Some(text);
        }
    }

    /// Sets the value of a button.
    pub fn set_button(&mut self, button: usize, value: f32) {
        if button >= self.values.len() || value.is_nan() {
            return;
        }
        self.update_button(button, value.clamp(0.0, 1.0));
        if self.class == DeviceClass::Keyboard {
            for [pair, left, right] in pairs() {
                if button == *left || button == *right {
                    self.update_button(*pair, self.values[*left].max(self.values[*right]));
                }
            }
        }
    }

    fn update_button(&mut self, button: usize, value: f32) {
        self.active = true;
        self.values[button] = value;
        let flags = &mut self.flags[button];
        let (was, is) = (*flags & DOWN != 0, value >= PRESSED_AT);
        let is = is || was && value >= RELEASED_BELOW;
        if was != is {
            *flags = (*flags | if is { PRESSED } else { RELEASED }) & !DOWN;
            *flags |= if is { DOWN } else { 0 };
            self.changed.push(button as u16);
        }
    }

    /// Sets the value of an axis. Stick values are clamped. Returns the direction of a stick that
    /// was thrown, once until it is centered again.
    pub fn set_axis(&mut self, axis: usize, value: Vec3) -> Option<AxisDirection> {
        let raw = self.raw.get_mut(axis)?;
        self.active = true;
        if self.class != DeviceClass::Pad {
            *raw = value;
            return None;
        }
        *raw = value.clamp(-Vec3::ONE, Vec3::ONE);
        let part = usize::from(raw.y.abs() > raw.x.abs());
        let component = raw[part];
        let was = self.flicked[axis];
        self.flicked[axis] = component.abs() >= if was { CENTERED_BELOW } else { FLICKED_FROM };
        (self.flicked[axis] && !was).then_some(AxisDirection {
            axis,
            part,
            positive: component > 0.0,
        })
    }

    /// Returns true if an axis exists and is outside of its dead zone.
    pub fn is_off_middle(&self, axis: usize) -> bool {
        axis < self.raw.len() && self.axis(axis) != Vec3::ZERO
    }

    /// Adds a motion to an axis.
    pub fn move_axis(&mut self, axis: usize, by: Vec3) {
        if let Some(raw) = self.raw.get_mut(axis) {
            *raw += by;
            self.active = true;
        }
    }

    /// Releases all buttons and centers all sticks. The cursor position is kept.
    pub fn release_all(&mut self) {
        let active = self.active;
        for button in 0..self.values.len() {
            if self.values[button] != 0.0 {
                self.update_button(button, 0.0);
            }
        }
        if self.class == DeviceClass::Pad {
            self.raw.fill(Vec3::ZERO);
            self.flicked.fill(false);
        }
        self.active = active;
    }

    /// Returns the values that a state hash covers.
    pub fn state(&self) -> impl Iterator<Item = f64> + '_ {
        let flags = self.flags.iter().zip(&self.values).enumerate();
        let buttons = flags.filter(|(_, (flags, value))| **flags != 0 || **value != 0.0);
        let buttons = buttons
            .map(|(at, (flags, value))| at as f64 + f64::from(*flags) * 1e4 + f64::from(*value));
        let axes = self.raw.iter().flat_map(|raw| raw.to_array()).map(f64::from);
        std::iter::once(f64::from(u8::from(self.connected))).chain(buttons).chain(axes)
    }
}

/// Returns the pairs of keys as button indices: the combined key, left, right.
fn pairs() -> &'static [[usize; 3]] {
    static PAIR_INDICES: OnceLock<Vec<[usize; 3]>> = OnceLock::new();
    PAIR_INDICES.get_or_init(|| {
        engine_foundation::owner!("engine");
        let at = |name| DeviceClass::Keyboard.button(name).expect("a test ensures that it exists");
        PAIRS.iter().map(|(pair, [left, right])| [at(pair), at(left), at(right)]).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slowly_moving_button_is_pressed_and_released_once() {
        let mut pad = InputDevice::new(DeviceClass::Pad, "", true);
        let mut changes = Vec::new();
        for value in [0.2, 0.6, 0.47, 0.55, 0.3, 0.47] {
            pad.begin_frame();
            pad.set_button(0, value);
            changes.push((pad.pressed(0), pad.released(0)));
        }
        let none = (false, false);
        assert_eq!(changes, [none, (true, false), none, none, (false, true), none]);
    }

    #[test]
    fn a_tap_within_one_frame_is_both_pressed_and_released() {
        let mut keys = InputDevice::new(DeviceClass::Keyboard, "", true);
        keys.begin_frame();
        keys.set_button(3, 1.0);
        keys.set_button(3, 0.0);
        assert!(keys.pressed(3) && keys.released(3) && keys.value(3) == 0.0);
        assert_eq!((keys.any_pressed(), keys.any_released()), (Some(3), Some(3)));
        keys.begin_frame();
        assert!(!keys.pressed(3) && !keys.released(3) && keys.any_pressed().is_none());
    }

    #[test]
    fn a_pair_is_down_while_either_button_is_down() {
        let key = |name| DeviceClass::Keyboard.button(name).unwrap();
        let (left, right, combined) = (key("left shift"), key("right shift"), key("shift"));
        let mut keys = InputDevice::new(DeviceClass::Keyboard, "", true);
        keys.set_button(left, 1.0);
        keys.set_button(right, 1.0);
        assert!(keys.pressed(combined));
        assert_eq!(keys.any_pressed(), Some(left));
        keys.begin_frame();
        keys.set_button(left, 0.0);
        assert!(keys.value(combined) == 1.0 && !keys.released(combined));
        keys.set_button(right, 0.0);
        assert!(keys.released(combined));
    }

    #[test]
    fn dead_zones_map_values_from_zero_to_the_full_range() {
        let circular = DeadZone::Circular(0.2);
        assert_eq!(circular.apply(Vec3::new(0.1, 0.1, 0.0)), Vec3::ZERO);
        let edge = circular.apply(Vec3::new(0.6, 0.8, 0.0));
        assert!((edge - Vec3::new(0.6, 0.8, 0.0)).length() < 1e-6);
        assert!(circular.apply(Vec3::new(1.0, 1.0, 0.0)).length() <= 1.0 + 1e-6);
        let half = circular.apply(Vec3::new(-0.6, 0.0, 0.0));
        assert!((half.x + 0.5).abs() < 1e-6);
        let each = DeadZone::Independent(0.5).apply(Vec3::new(0.75, -0.4, 0.0));
        assert!((each - Vec3::new(0.5, 0.0, 0.0)).length() < 1e-6);
        assert_eq!(DeadZone::Raw.apply(Vec3::new(0.01, 0.0, 0.0)).x, 0.01);
    }

    #[test]
    fn a_stick_flick_is_reported_once_until_it_returns() {
        let mut pad = InputDevice::new(DeviceClass::Pad, "", true);
        let mut throw = |x: f32, y: f32| {
            let flick = pad.set_axis(1, Vec3::new(x, y, 0.0))?;
            Some((flick.axis, flick.part, flick.positive))
        };
        let x = [0.6, 0.75, 1.0, 0.6, 0.72, 0.4, -0.8].map(|x| throw(x, 0.1));
        let (right, left) = (Some((1, 0, true)), Some((1, 0, false)));
        assert_eq!(x, [None, right, None, None, None, None, left]);
        assert_eq!([throw(0.0, 0.0), throw(-0.2, -0.9)], [None, Some((1, 1, false))]);
        pad.release_all();
        assert!(pad.set_axis(1, Vec3::Y).is_some() && pad.set_axis(9, Vec3::Y).is_none());
    }

    #[test]
    fn unplugging_releases_pressed_buttons() {
        let mut pad = InputDevice::new(DeviceClass::Pad, "", true);
        pad.set_button(2, 1.0);
        pad.set_axis(0, Vec3::new(1.0, 0.0, 0.0));
        pad.begin_frame();
        pad.release_all();
        assert!(pad.released(2) && pad.value(2) == 0.0);
        assert_eq!(pad.axis(0), Vec3::ZERO);
    }
}
