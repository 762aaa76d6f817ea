//! Gestures on the touch panel: taps, long presses, swipes, pinches and rotations. They are
//! recognized from finger actions in their order, even within a frame. Knows no devices: the input
//! is finger slots, positions on the panel and times.
//!
//! Distances are in logical pixels, of which a correctly configured screen has 96 per inch: 4 are
//! about a millimetre. The constants are close to those of phones (Android's ViewConfiguration).

use super::FINGERS_MAX;
use engine_foundation::Vec2;
use engine_foundation::deterministic_math::atan2;
use std::f32::consts::{PI, TAU};

/// Maximum movement of a finger during a tap or press: 3 mm.
pub const STRAY_DISTANCE: f32 = 12.0;
/// Maximum duration of a tap.
pub const TAP_SECONDS: f64 = 0.3;
/// Maximum pause and maximum distance between successive taps of a sequence: 13 mm.
pub const SEQUENCE_SECONDS: f64 = 0.3;
pub const SEQUENCE_DISTANCE: f32 = 48.0;
/// Maximum number of taps of a sequence that are remembered.
pub const SEQUENCE_MAX: usize = 16;
/// Time that a finger must rest for a long press.
pub const LONG_PRESS_SECONDS: f64 = 0.5;
/// Minimum distance of a swipe, 13 mm, and its maximum duration.
pub const SWIPE_DISTANCE: f32 = 48.0;
pub const SWIPE_SECONDS: f64 = 0.5;
/// Maximum sideways movement of a swipe, as a fraction of its distance.
const SWIPE_SIDE: f32 = 0.5;
/// Change of the distance between two fingers that starts a pinch: 4 mm.
pub const PINCH_DISTANCE: f32 = 16.0;
/// Angle that two fingers must turn to start a rotation: ten degrees.
pub const TURN_ANGLE: f32 = PI / 18.0;
/// Tolerance for inexact sums of frame times, so that a long press is not a frame late.
const ROUNDING_SECONDS: f64 = 1e-9;
/// Minimum distance of two fingers for a rotation. Fingers closer together turn by chance.
const TURN_DISTANCE_MIN: f32 = 24.0;

/// Direction of a swipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SwipeDirection {
    Left,
    Right,
    Up,
    Down,
}

/// Action of a finger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TouchAction {
    Down,
    Move,
    Up,
    /// The system canceled the touch, without an action of the player.
    Cancel,
}

/// Gesture of two fingers that continues over several frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TwoFingerGesture {
    /// True if the gesture began or ended in this frame.
    pub began: bool,
    pub ended: bool,
    /// Midpoint between the fingers.
    pub at: Vec2,
    /// Scale, or angle in radians, since the gesture began.
    pub value: f32,
    /// Rate of change of the value per second.
    pub per_second: f32,
    /// Value in the previous frame.
    previous_value: f32,
}

#[derive(Clone, Copy, Debug)]
struct TouchContact {
    from: Vec2,
    at: Vec2,
    began: f64,
    /// True if the finger has moved farther than a tap allows.
    strayed: bool,
    /// True if the contact was already recognized as a gesture.
    used: bool,
}

/// Two fingers that are down.
#[derive(Clone, Copy, Debug)]
struct FingerPair {
    fingers: [usize; 2],
    /// Initial distance between the fingers.
    distance: f32,
    /// Current angle from the first to the second finger, and the accumulated rotation.
    angle: f32,
    rotated: f32,
    /// Distance that corresponds to scale 1, if a pinch has begun.
    pinch_from: Option<f32>,
    /// Accumulated rotation that corresponds to angle 0, if a rotation has begun.
    turn_from: Option<f32>,
}

/// Gestures of the current frame, and the state to recognize later ones.
#[derive(Clone, Debug, Default)]
pub struct Gestures {
    /// Current time of the player, in seconds.
    now: f64,
    /// Time of the newest action.
    newest: f64,
    contacts: [Option<TouchContact>; FINGERS_MAX],
    pair: Option<FingerPair>,
    /// Successive taps of the current sequence, and the time at which the last one ended.
    taps: Vec<Vec2>,
    last_tap_time: f64,
    tap: Option<Vec2>,
    long_press: Option<Vec2>,
    swipe: Option<SwipeDirection>,
    pinch: Option<TwoFingerGesture>,
    rotation: Option<TwoFingerGesture>,
}

impl Gestures {
    /// Begins a frame that took `seconds`.
    pub fn begin_frame(&mut self, seconds: f64) {
        self.now += seconds.max(0.0);
        (self.tap, self.long_press, self.swipe) = (None, None, None);
        for gesture in [&mut self.pinch, &mut self.rotation] {
            *gesture = gesture.filter(|gesture| !gesture.ended).map(|gesture| TwoFingerGesture {
                began: false,
                previous_value: gesture.value,
                per_second: 0.0,
                ..gesture
            });
        }
    }

    /// Processes an action of a finger that happened `age` seconds before the frame.
    pub fn take(&mut self, finger: usize, action: TouchAction, at: Vec2, age: f64) {
        // An action reported out of order is treated as simultaneous with the newest one.
        let when = (self.now - age.max(0.0)).max(self.newest);
        self.detect_long_press(when);
        match action {
            TouchAction::Down => self.down(finger, at, when),
            TouchAction::Move => self.moved(finger, at, when),
            TouchAction::Up => {
                self.moved(finger, at, when);
                self.up(finger, when);
                self.remove(finger);
            }
            TouchAction::Cancel => self.remove(finger),
        }
    }

    /// Ends a frame that took `seconds`, after all of its actions.
    pub fn end_frame(&mut self, seconds: f64) {
        self.detect_long_press(self.now);
        for gesture in [&mut self.pinch, &mut self.rotation].into_iter().flatten() {
            if seconds > 0.0 {
                gesture.per_second = (gesture.value - gesture.previous_value) / seconds as f32;
            }
        }
    }

    /// Returns the position of the newest tap of this frame.
    pub fn tap(&self) -> Option<Vec2> {
        self.tap
    }

    /// Returns the successive taps so far, if a tap came in this frame.
    pub fn tap_sequence(&self) -> &[Vec2] {
        if self.tap.is_some() { &self.taps } else { &[] }
    }

    /// Returns the position of a long press that was recognized in this frame.
    pub fn long_press(&self) -> Option<Vec2> {
        self.long_press
    }

    pub fn swipe(&self) -> Option<SwipeDirection> {
        self.swipe
    }

    /// Returns the pinch of two fingers; its value is the scale.
    pub fn pinch(&self) -> Option<TwoFingerGesture> {
        self.pinch
    }

    /// Returns the rotation of two fingers; its value is the angle in radians, counterclockwise.
    pub fn rotation(&self) -> Option<TwoFingerGesture> {
        self.rotation
    }

    /// Advances to a time without actions, which can complete long presses.
    fn detect_long_press(&mut self, when: f64) {
        self.newest = when;
        for contact in self.contacts.iter_mut().flatten() {
            let idle = !contact.used && !contact.strayed;
            if idle && when - contact.began >= LONG_PRESS_SECONDS - ROUNDING_SECONDS {
                contact.used = true;
                self.long_press = Some(contact.at);
            }
        }
    }

    fn down(&mut self, finger: usize, at: Vec2, when: f64) {
        let contact = TouchContact { from: at, at, began: when, strayed: false, used: false };
        self.contacts[finger] = Some(contact);
        self.find_pair();
    }

    fn moved(&mut self, finger: usize, at: Vec2, when: f64) {
        let Some(contact) = &mut self.contacts[finger] else { return };
        contact.at = at;
        let offset = at - contact.from;
        contact.strayed |= offset.length() > STRAY_DISTANCE;
        self.update_pair(finger);
        let Some(contact) = self.contacts[finger].as_mut().filter(|contact| !contact.used) else {
            return;
        };
        if when - contact.began > SWIPE_SECONDS {
            return;
        }
        let (along, aside) = (offset.abs().max_element(), offset.abs().min_element());
        if along >= SWIPE_DISTANCE && aside <= along * SWIPE_SIDE {
            contact.used = true;
            self.swipe =
                Some(match (offset.x.abs() > offset.y.abs(), offset.x > 0.0, offset.y > 0.0) {
                    (true, true, _) => SwipeDirection::Right,
                    (true, false, _) => SwipeDirection::Left,
                    (false, _, true) => SwipeDirection::Up,
                    (false, _, false) => SwipeDirection::Down,
                });
        }
    }

    fn up(&mut self, finger: usize, when: f64) {
        let Some(contact) = self.contacts[finger] else { return };
        if contact.used || contact.strayed || when - contact.began > TAP_SECONDS {
            return;
        }
        let follows = (0.0..=SEQUENCE_SECONDS).contains(&(contact.began - self.last_tap_time))
            && self.taps.last().is_some_and(|last| last.distance(contact.at) <= SEQUENCE_DISTANCE);
        if !follows {
            self.taps.clear();
        } else if self.taps.len() == SEQUENCE_MAX {
            self.taps.remove(0);
        }
        self.taps.push(contact.at);
        (self.tap, self.last_tap_time) = (Some(contact.at), when);
    }

    /// Removes a finger and ends the gestures that it was part of.
    fn remove(&mut self, finger: usize) {
        self.contacts[finger] = None;
        if self.pair.is_some_and(|pair| pair.fingers.contains(&finger)) {
            self.pair = None;
            for gesture in [&mut self.pinch, &mut self.rotation].into_iter().flatten() {
                gesture.ended = true;
            }
            self.find_pair();
        }
    }

    /// Pairs the first two fingers that are down. A pair lasts while both stay down.
    fn find_pair(&mut self) {
        if self.pair.is_some() {
            return;
        }
        let mut down = (0..FINGERS_MAX).filter(|finger| self.contacts[*finger].is_some());
        let (Some(first), Some(second)) = (down.next(), down.next()) else { return };
        let fingers = [first, second];
        let Some((offset, _)) = self.offset_and_middle(fingers) else { return };
        self.pair = Some(FingerPair {
            fingers,
            distance: offset.length(),
            angle: atan2(offset.y, offset.x),
            rotated: 0.0,
            pinch_from: None,
            turn_from: None,
        });
    }

    /// Returns the vector from the first to the second finger, and their midpoint.
    fn offset_and_middle(&self, fingers: [usize; 2]) -> Option<(Vec2, Vec2)> {
        let [first, second] = fingers.map(|finger| self.contacts[finger].map(|contact| contact.at));
        first.zip(second).map(|(first, second)| (second - first, (first + second) * 0.5))
    }

    /// Updates pinch and rotation after a finger of the pair moved.
    fn update_pair(&mut self, finger: usize) {
        let Some(mut pair) = self.pair.filter(|pair| pair.fingers.contains(&finger)) else {
            return;
        };
        let Some((offset, at)) = self.offset_and_middle(pair.fingers) else { return };
        let distance = offset.length();
        let angle = atan2(offset.y, offset.x);
        if distance >= TURN_DISTANCE_MIN {
            let by = angle - pair.angle;
            pair.rotated += by - (by / TAU).round() * TAU;
        }
        pair.angle = angle;
        let spread = distance - pair.distance;
        if pair.pinch_from.is_none() && spread.abs() >= PINCH_DISTANCE {
            // The scale starts at the threshold, so that it does not jump.
            let from = pair.distance + PINCH_DISTANCE.copysign(spread);
            pair.pinch_from = Some(from.max(1.0));
            self.pinch = Some(TwoFingerGesture::start(at, 1.0));
        }
        if pair.turn_from.is_none() && pair.rotated.abs() >= TURN_ANGLE {
            pair.turn_from = Some(TURN_ANGLE.copysign(pair.rotated));
            self.rotation = Some(TwoFingerGesture::start(at, 0.0));
        }
        if let (Some(from), Some(gesture)) = (pair.pinch_from, &mut self.pinch) {
            (gesture.value, gesture.at) = (distance / from, at);
        }
        if let (Some(from), Some(gesture)) = (pair.turn_from, &mut self.rotation) {
            (gesture.value, gesture.at) = (pair.rotated - from, at);
        }
        if pair.pinch_from.is_some() || pair.turn_from.is_some() {
            for finger in pair.fingers {
                if let Some(contact) = &mut self.contacts[finger] {
                    contact.used = true;
                }
            }
        }
        self.pair = Some(pair);
    }
}

impl TwoFingerGesture {
    fn start(at: Vec2, value: f32) -> TwoFingerGesture {
        TwoFingerGesture {
            began: true,
            ended: false,
            at,
            value,
            per_second: 0.0,
            previous_value: value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: f64 = 1.0 / 60.0;

    /// Plays a frame with finger actions: slot, action, position, and age.
    fn frame(gestures: &mut Gestures, actions: &[(usize, TouchAction, [f32; 2], f64)]) {
        gestures.begin_frame(FRAME);
        for (finger, action, at, age) in actions {
            gestures.take(*finger, *action, Vec2::from_array(*at), *age);
        }
        gestures.end_frame(FRAME);
    }

    fn rest(gestures: &mut Gestures, frames: usize) {
        (0..frames).for_each(|_| frame(gestures, &[]));
    }

    #[test]
    fn a_short_touch_is_a_tap_even_within_one_frame() {
        let mut gestures = Gestures::default();
        let at = [10.0, 20.0];
        frame(&mut gestures, &[(0, TouchAction::Down, at, 0.01), (0, TouchAction::Up, at, 0.002)]);
        assert_eq!(gestures.tap(), Some(Vec2::new(10.0, 20.0)));
        assert_eq!(gestures.tap_sequence().len(), 1);
        rest(&mut gestures, 1);
        assert_eq!((gestures.tap(), gestures.tap_sequence().len()), (None, 0));
        frame(&mut gestures, &[(0, TouchAction::Down, at, 0.0)]);
        rest(&mut gestures, 5);
        frame(&mut gestures, &[(0, TouchAction::Up, [15.0, 22.0], 0.0)]);
        assert_eq!(gestures.tap_sequence().len(), 2, "soon after the first, and near it");
    }

    #[test]
    fn distant_late_or_cancelled_touches_are_not_taps() {
        let at = [10.0, 20.0];
        let tapped = |frames: usize, action: TouchAction, to: [f32; 2]| {
            let mut gestures = Gestures::default();
            frame(&mut gestures, &[(0, TouchAction::Down, at, 0.0)]);
            rest(&mut gestures, frames);
            frame(&mut gestures, &[(0, action, to, 0.0)]);
            gestures.tap().is_some()
        };
        assert!(tapped(5, TouchAction::Up, at));
        assert!(!tapped(19, TouchAction::Up, at), "longer than 0.3 seconds");
        assert!(!tapped(1, TouchAction::Up, [23.0, 20.0]), "farther than 12 pixels");
        assert!(!tapped(1, TouchAction::Cancel, at));
    }

    #[test]
    fn distant_or_late_taps_are_not_a_sequence() {
        let mut gestures = Gestures::default();
        let mut tap = |x: f32, pause: usize| {
            rest(&mut gestures, pause);
            frame(
                &mut gestures,
                &[(0, TouchAction::Down, [x, 0.0], 0.0), (0, TouchAction::Up, [x, 0.0], 0.0)],
            );
            gestures.tap_sequence().len()
        };
        assert_eq!([tap(0.0, 0), tap(40.0, 5), tap(80.0, 5), tap(200.0, 5)], [1, 2, 3, 1]);
        assert_eq!([tap(200.0, 30), tap(200.0, 5)], [1, 2]);
    }

    #[test]
    fn a_long_press_is_reported_once_and_is_not_a_tap() {
        let mut gestures = Gestures::default();
        frame(&mut gestures, &[(2, TouchAction::Down, [5.0, 5.0], 0.0)]);
        let mut pressed = Vec::new();
        for number in 1..60 {
            rest(&mut gestures, 1);
            pressed.extend(gestures.long_press().map(|_| number));
        }
        assert_eq!(pressed, [30], "after half a second, once");
        frame(&mut gestures, &[(2, TouchAction::Up, [5.0, 5.0], 0.0)]);
        assert_eq!((gestures.tap(), gestures.long_press()), (None, None));
    }

    #[test]
    fn a_swipe_has_the_direction_of_its_larger_axis() {
        let swiped = |to: [f32; 2], frames: usize| {
            let mut gestures = Gestures::default();
            frame(&mut gestures, &[(0, TouchAction::Down, [100.0, 100.0], 0.0)]);
            rest(&mut gestures, frames);
            let to = [100.0 + to[0], 100.0 + to[1]];
            frame(&mut gestures, &[(0, TouchAction::Move, to, 0.0)]);
            let first = gestures.swipe();
            frame(&mut gestures, &[(0, TouchAction::Up, to, 0.0)]);
            assert!(gestures.swipe().is_none() && gestures.tap().is_none());
            first
        };
        assert_eq!(swiped([60.0, 20.0], 1), Some(SwipeDirection::Right));
        assert_eq!(swiped([-60.0, 0.0], 1), Some(SwipeDirection::Left));
        assert_eq!(swiped([10.0, 60.0], 1), Some(SwipeDirection::Up));
        assert_eq!(swiped([0.0, -60.0], 1), Some(SwipeDirection::Down));
        assert_eq!(swiped([60.0, 40.0], 1), None, "too much to the side");
        assert_eq!(swiped([40.0, 0.0], 1), None, "too short");
        assert_eq!(swiped([60.0, 0.0], 40), None, "too late");
    }

    #[test]
    fn a_pinch_starts_when_both_fingers_move() {
        let mut gestures = Gestures::default();
        let (a, b) = ([100.0, 100.0], [200.0, 100.0]);
        frame(&mut gestures, &[(0, TouchAction::Down, a, 0.0), (1, TouchAction::Down, b, 0.0)]);
        frame(&mut gestures, &[(1, TouchAction::Move, [210.0, 100.0], 0.0)]);
        assert!(gestures.pinch().is_none());
        frame(&mut gestures, &[(1, TouchAction::Move, [332.0, 100.0], 0.0)]);
        let pinch = gestures.pinch().unwrap();
        assert!(pinch.began && !pinch.ended && pinch.at == Vec2::new(216.0, 100.0));
        assert_eq!(pinch.value, 2.0, "116 pixels are one");
        assert!((pinch.per_second - 60.0).abs() < 1e-3);
        rest(&mut gestures, 1);
        let pinch = gestures.pinch().unwrap();
        assert!(!pinch.began && pinch.value == 2.0 && pinch.per_second == 0.0);
        frame(&mut gestures, &[(0, TouchAction::Up, a, 0.0)]);
        assert!(gestures.pinch().unwrap().ended);
        frame(&mut gestures, &[(1, TouchAction::Up, [332.0, 100.0], 0.0)]);
        assert!(gestures.pinch().is_none() && gestures.tap().is_none());
        assert!(gestures.swipe().is_none() && gestures.rotation().is_none());
    }

    #[test]
    fn a_rotation_gesture_can_exceed_half_a_turn() {
        let mut gestures = Gestures::default();
        let around = |degrees: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            [100.0 + 80.0 * cos, 100.0 + 80.0 * sin]
        };
        let fingers =
            [(0, TouchAction::Down, [100.0, 100.0], 0.0), (1, TouchAction::Down, around(0.0), 0.0)];
        frame(&mut gestures, &fingers);
        for step in 1..=20 {
            frame(&mut gestures, &[(1, TouchAction::Move, around(step as f32 * 10.0), 0.0)]);
        }
        let rotation = gestures.rotation().unwrap();
        assert!((rotation.value.to_degrees() - 190.0).abs() < 0.1, "{}", rotation.value);
        assert!((rotation.per_second.to_degrees() - 600.0).abs() < 1.0);
        assert!(gestures.pinch().is_none());
    }

    #[test]
    fn a_resting_finger_does_not_prevent_taps_of_another() {
        let mut gestures = Gestures::default();
        frame(&mut gestures, &[(0, TouchAction::Down, [100.0, 100.0], 0.0)]);
        rest(&mut gestures, 60);
        let at = [600.0, 100.0];
        frame(&mut gestures, &[(1, TouchAction::Down, at, 0.01), (1, TouchAction::Up, at, 0.0)]);
        assert_eq!(gestures.tap(), Some(Vec2::new(600.0, 100.0)));
        // A third finger replaces the one that left; the gesture restarts from the current
        // positions.
        frame(&mut gestures, &[(1, TouchAction::Down, at, 0.0)]);
        frame(&mut gestures, &[(1, TouchAction::Move, [700.0, 100.0], 0.0)]);
        assert!(gestures.pinch().unwrap().began);
    }
}
