//! One device's state: what is down, what was pressed and released in this frame, where its axes
//! stand. Knows no drivers.

use super::names::{Class, PAIRS};
use crate::foundation::{Error, Vec3};
use std::sync::OnceLock;

/// From here on a button that has a way to go counts as pressed, and below the second as released.
pub const PRESSED_AT: f32 = 0.5;
const RELEASED_BELOW: f32 = 0.45;

/// How the middle of an axis is treated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DeadZone {
    /// As the device says.
    Raw,
    /// Each direction by itself: nothing within, and from there to the edge from 0 to 1.
    Independent(f32),
    /// The same of the length of both together.
    Circular(f32),
}

impl DeadZone {
    /// What a stick has where the game sets nothing: near what the makers of pads advise.
    pub const STICK: DeadZone = DeadZone::Circular(0.2);

    /// The one of that name and size.
    pub fn new(name: &str, size: f64) -> Result<DeadZone, Error> {
        if !(0.0..1.0).contains(&size) {
            return Err(crate::error!("argument #3 'size' must be from 0 to below 1, got {size}"));
        }
        match name {
            "raw" => Ok(DeadZone::Raw),
            "independent" => Ok(DeadZone::Independent(size as f32)),
            "circular" => Ok(DeadZone::Circular(size as f32)),
            _ => {
                let known = ["raw", "independent", "circular"];
                let hint = crate::foundation::suggest::hint(name, known);
                Err(crate::error!(
                    "argument #2 'mode' must be \"raw\", \"independent\" or \"circular\", got \
                     \"{name}\"{hint}"
                ))
            }
        }
    }

    /// Its name and size.
    pub fn words(self) -> (&'static str, f32) {
        match self {
            DeadZone::Raw => ("raw", 0.0),
            DeadZone::Independent(size) => ("independent", size),
            DeadZone::Circular(size) => ("circular", size),
        }
    }

    /// What is left of a value.
    fn apply(self, value: Vec3) -> Vec3 {
        let left = |length: f32, size: f32| ((length - size) / (1.0 - size)).clamp(0.0, 1.0);
        match self {
            DeadZone::Raw => value,
            DeadZone::Independent(size) => {
                let one = |part: f32| left(part.abs(), size).copysign(part);
                Vec3::new(one(value.x), one(value.y), one(value.z))
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

/// So far a stick is thrown in a direction, and counts as back in its middle below the second.
const THROWN_AT: f32 = 0.7;
const BACK_BELOW: f32 = 0.5;

/// A direction of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throw {
    pub axis: usize,
    /// 0 is x, 1 is y.
    pub part: usize,
    pub positive: bool,
}

const DOWN: u8 = 1;
const PRESSED: u8 = 2;
const RELEASED: u8 = 4;

/// A device.
#[derive(Clone, Debug)]
pub struct Device {
    pub class: Class,
    /// What its maker calls it.
    pub name: String,
    pub connected: bool,
    /// Whether it came, or went, in this frame.
    pub came: bool,
    pub went: bool,
    values: Vec<f32>,
    flags: Vec<u8>,
    /// The buttons that changed in this frame, in order.
    changed: Vec<u16>,
    raw: Vec<Vec3>,
    zones: Vec<DeadZone>,
    /// Of a stick: whether it was thrown, and has not been back since.
    thrown: Vec<bool>,
    labels: Vec<Option<String>>,
    /// Whether anything of it was touched in this frame.
    pub active: bool,
}

impl Device {
    pub fn new(class: Class, name: &str, connected: bool) -> Device {
        let (buttons, axes) = (class.buttons().len(), class.axes().len());
        let zone = if class == Class::Pad { DeadZone::STICK } else { DeadZone::Raw };
        Device {
            class,
            name: name.to_string(),
            connected,
            came: false,
            went: false,
            values: vec![0.0; buttons],
            flags: vec![0; buttons],
            changed: Vec::new(),
            raw: vec![Vec3::ZERO; axes],
            zones: vec![zone; axes],
            thrown: vec![false; axes],
            labels: Vec::new(),
            active: false,
        }
    }

    /// What was pressed, released and moved in the last frame is past.
    pub fn begin_frame(&mut self) {
        for at in self.changed.drain(..) {
            self.flags[usize::from(at)] &= DOWN;
        }
        (self.came, self.went, self.active) = (false, false, false);
        match self.class {
            Class::Mouse => self.raw[1..].fill(Vec3::ZERO),
            Class::Touch => self.raw[1] = Vec3::ZERO,
            _ => {}
        }
    }

    /// How far a button is down, 0 to 1.
    #[inline]
    pub fn value(&self, button: usize) -> f32 {
        self.values[button]
    }

    #[inline]
    pub fn pressed(&self, button: usize) -> bool {
        self.flags[button] & PRESSED != 0
    }

    #[inline]
    pub fn released(&self, button: usize) -> bool {
        self.flags[button] & RELEASED != 0
    }

    /// The first button that was pressed in this frame.
    pub fn any_pressed(&self) -> Option<usize> {
        self.first(PRESSED)
    }

    /// The first button that was released in this frame.
    pub fn any_released(&self) -> Option<usize> {
        self.first(RELEASED)
    }

    fn first(&self, flag: u8) -> Option<usize> {
        let changed = self.changed.iter().map(|at| usize::from(*at));
        changed.into_iter().find(|at| self.flags[*at] & flag != 0 && !self.is_pair(*at))
    }

    fn is_pair(&self, button: usize) -> bool {
        self.class == Class::Keyboard && pairs().iter().any(|pair| pair[0] == button)
    }

    /// Where an axis stands, outside of its dead zone.
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

    /// What a button is called on this very device, where that is known.
    pub fn label(&self, button: usize) -> Option<&str> {
        self.labels.get(button)?.as_deref()
    }

    pub fn set_label(&mut self, button: usize, text: String) {
        if button < self.values.len() {
            self.labels.resize(self.values.len(), None);
            self.labels[button] = Some(text);
        }
    }

    /// A button has a new value.
    pub fn set_button(&mut self, button: usize, value: f32) {
        if button >= self.values.len() || value.is_nan() {
            return;
        }
        self.put(button, value.clamp(0.0, 1.0));
        if self.class == Class::Keyboard {
            for [pair, left, right] in pairs() {
                if button == *left || button == *right {
                    self.put(*pair, self.values[*left].max(self.values[*right]));
                }
            }
        }
    }

    fn put(&mut self, button: usize, value: f32) {
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

    /// An axis stands somewhere else. Sticks have an end; one that is thrown tells its direction,
    /// once until it was back in its middle.
    pub fn set_axis(&mut self, axis: usize, value: Vec3) -> Option<Throw> {
        let raw = self.raw.get_mut(axis)?;
        self.active = true;
        if self.class != Class::Pad {
            *raw = value;
            return None;
        }
        *raw = value.clamp(-Vec3::ONE, Vec3::ONE);
        let part = usize::from(raw.y.abs() > raw.x.abs());
        let way = raw[part];
        let was = self.thrown[axis];
        self.thrown[axis] = way.abs() >= if was { BACK_BELOW } else { THROWN_AT };
        (self.thrown[axis] && !was).then_some(Throw { axis, part, positive: way > 0.0 })
    }

    /// Whether an axis is outside of its dead zone; one that is not there is not.
    pub fn is_off_middle(&self, axis: usize) -> bool {
        axis < self.raw.len() && self.axis(axis) != Vec3::ZERO
    }

    /// An axis was moved.
    pub fn move_axis(&mut self, axis: usize, by: Vec3) {
        if let Some(raw) = self.raw.get_mut(axis) {
            *raw += by;
            self.active = true;
        }
    }

    /// What is down is released; what stands off its middle is in it. The cursor stays.
    pub fn release_all(&mut self) {
        let active = self.active;
        for button in 0..self.values.len() {
            if self.values[button] != 0.0 {
                self.put(button, 0.0);
            }
        }
        if self.class == Class::Pad {
            self.raw.fill(Vec3::ZERO);
            self.thrown.fill(false);
        }
        self.active = active;
    }

    /// What a state hash covers.
    pub fn state(&self) -> impl Iterator<Item = f64> + '_ {
        let flags = self.flags.iter().zip(&self.values).enumerate();
        let buttons = flags.filter(|(_, (flags, value))| **flags != 0 || **value != 0.0);
        let buttons = buttons
            .map(|(at, (flags, value))| at as f64 + f64::from(*flags) * 1e4 + f64::from(*value));
        let axes = self.raw.iter().flat_map(|raw| raw.to_array()).map(f64::from);
        std::iter::once(f64::from(u8::from(self.connected))).chain(buttons).chain(axes)
    }
}

/// The pairs of keys, by index: the one that stands for both, left, right.
fn pairs() -> &'static [[usize; 3]] {
    static PLACES: OnceLock<Vec<[usize; 3]>> = OnceLock::new();
    PLACES.get_or_init(|| {
        crate::owner!("engine");
        let at = |name| Class::Keyboard.button(name).expect("a test holds that it is there");
        PAIRS.iter().map(|(pair, [left, right])| [at(pair), at(left), at(right)]).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_that_goes_slowly_is_pressed_once_and_released_once() {
        let mut pad = Device::new(Class::Pad, "", true);
        let mut told = Vec::new();
        for value in [0.2, 0.6, 0.47, 0.55, 0.3, 0.47] {
            pad.begin_frame();
            pad.set_button(0, value);
            told.push((pad.pressed(0), pad.released(0)));
        }
        let none = (false, false);
        assert_eq!(told, [none, (true, false), none, none, (false, true), none]);
    }

    #[test]
    fn a_tap_within_one_frame_is_both_pressed_and_released() {
        let mut keys = Device::new(Class::Keyboard, "", true);
        keys.begin_frame();
        keys.set_button(3, 1.0);
        keys.set_button(3, 0.0);
        assert!(keys.pressed(3) && keys.released(3) && keys.value(3) == 0.0);
        assert_eq!((keys.any_pressed(), keys.any_released()), (Some(3), Some(3)));
        keys.begin_frame();
        assert!(!keys.pressed(3) && !keys.released(3) && keys.any_pressed().is_none());
    }

    #[test]
    fn a_pair_is_down_while_one_of_the_two_is() {
        let key = |name| Class::Keyboard.button(name).unwrap();
        let (left, right, both) = (key("left shift"), key("right shift"), key("shift"));
        let mut keys = Device::new(Class::Keyboard, "", true);
        keys.set_button(left, 1.0);
        keys.set_button(right, 1.0);
        assert!(keys.pressed(both));
        assert_eq!(keys.any_pressed(), Some(left));
        keys.begin_frame();
        keys.set_button(left, 0.0);
        assert!(keys.value(both) == 1.0 && !keys.released(both));
        keys.set_button(right, 0.0);
        assert!(keys.released(both));
    }

    #[test]
    fn dead_zones_leave_nothing_within_and_everything_at_the_edge() {
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
    fn a_stick_is_thrown_once_until_it_was_back() {
        let mut pad = Device::new(Class::Pad, "", true);
        let mut throw = |x: f32, y: f32| {
            let told = pad.set_axis(1, Vec3::new(x, y, 0.0))?;
            Some((told.axis, told.part, told.positive))
        };
        let x = [0.6, 0.75, 1.0, 0.6, 0.72, 0.4, -0.8].map(|x| throw(x, 0.1));
        let (right, left) = (Some((1, 0, true)), Some((1, 0, false)));
        assert_eq!(x, [None, right, None, None, None, None, left]);
        assert_eq!([throw(0.0, 0.0), throw(-0.2, -0.9)], [None, Some((1, 1, false))]);
        pad.release_all();
        assert!(pad.set_axis(1, Vec3::Y).is_some() && pad.set_axis(9, Vec3::Y).is_none());
    }

    #[test]
    fn what_is_unplugged_while_pressed_is_released() {
        let mut pad = Device::new(Class::Pad, "", true);
        pad.set_button(2, 1.0);
        pad.set_axis(0, Vec3::new(1.0, 0.0, 0.0));
        pad.begin_frame();
        pad.release_all();
        assert!(pad.released(2) && pad.value(2) == 0.0);
        assert_eq!(pad.axis(0), Vec3::ZERO);
    }
}
