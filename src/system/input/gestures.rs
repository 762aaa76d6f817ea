//! Gestures on the touch panel: taps, long presses, swipes, pinches and rotations, recognised of
//! what fingers do in the order in which they did it, within a frame too. Knows no devices: places
//! of fingers, places on the panel and times come in.
//!
//! Distances are logical pixels, of which a screen that is set up well has 96 an inch: 4 are about
//! a millimetre. The figures are near those that phones use (Android's ViewConfiguration).

use super::FINGERS_MAX;
use crate::foundation::Vec2;
use crate::foundation::angles::atan2;
use std::f32::consts::{PI, TAU};

/// How far a finger may stray that taps or presses: 3 mm.
pub const STRAY_DISTANCE: f32 = 12.0;
/// The longest tap.
pub const TAP_SECONDS: f64 = 0.3;
/// The longest pause between taps that follow each other, and how far they lie apart: 13 mm.
pub const SEQUENCE_SECONDS: f64 = 0.3;
pub const SEQUENCE_DISTANCE: f32 = 48.0;
/// The most taps of a sequence that are remembered.
pub const SEQUENCE_MAX: usize = 16;
/// How long a finger rests until that is a press.
pub const LONG_PRESS_SECONDS: f64 = 0.5;
/// How far a finger goes for a swipe, in how short a time: 13 mm.
pub const SWIPE_DISTANCE: f32 = 48.0;
pub const SWIPE_SECONDS: f64 = 0.5;
/// How much of its way a swipe may go to the side.
const SWIPE_SIDE: f32 = 0.5;
/// How much nearer, or farther, two fingers come until they pinch: 4 mm.
pub const PINCH_DISTANCE: f32 = 16.0;
/// How far two fingers turn until they rotate: ten degrees.
pub const TURN_ANGLE: f32 = PI / 18.0;
/// Sums of frames are not exact: a press is not a frame late for that.
const ROUNDING_SECONDS: f64 = 1e-9;
/// Fingers that are nearer than this turn by chance.
const TURN_DISTANCE_MIN: f32 = 24.0;

/// Where a swipe goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swipe {
    Left,
    Right,
    Up,
    Down,
}

/// What a finger does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    Down,
    Move,
    Up,
    /// The system took the touch away: it is nothing that the player did.
    Cancel,
}

/// A gesture of two fingers, which goes on over frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Going {
    /// Whether it began, or ended, in this frame.
    pub began: bool,
    pub ended: bool,
    /// The middle between the fingers.
    pub at: Vec2,
    /// The scale, or the angle in radians, since it began.
    pub value: f32,
    /// How fast that changes.
    pub per_second: f32,
    /// Its value in the frame before.
    before: f32,
}

#[derive(Clone, Copy, Debug)]
struct Contact {
    from: Vec2,
    at: Vec2,
    began: f64,
    /// Whether it has gone further than a tap may.
    strayed: bool,
    /// Whether it has become something already.
    used: bool,
}

/// Two fingers that are down.
#[derive(Clone, Copy, Debug)]
struct Pair {
    places: [usize; 2],
    /// How far they were apart at first.
    distance: f32,
    /// Where the second lies from the first, and how far that has turned.
    angle: f32,
    turned: f32,
    /// The distance that scale 1 stands for, once they pinch.
    pinch_from: Option<f32>,
    /// The turn that 0 stands for, once they rotate.
    turn_from: Option<f32>,
}

/// The gestures of this frame, and what is needed for those to come.
#[derive(Clone, Debug, Default)]
pub struct Gestures {
    /// Seconds, as they pass for the player.
    now: f64,
    /// When the newest thing happened.
    newest: f64,
    contacts: [Option<Contact>; FINGERS_MAX],
    pair: Option<Pair>,
    /// The taps that followed each other, and when the last one ended.
    taps: Vec<Vec2>,
    tapped: f64,
    tap: Option<Vec2>,
    long_press: Option<Vec2>,
    swipe: Option<Swipe>,
    pinch: Option<Going>,
    rotation: Option<Going>,
}

impl Gestures {
    /// A frame begins, which so many seconds have passed for.
    pub fn begin_frame(&mut self, seconds: f64) {
        self.now += seconds.max(0.0);
        (self.tap, self.long_press, self.swipe) = (None, None, None);
        for going in [&mut self.pinch, &mut self.rotation] {
            *going = going.filter(|going| !going.ended).map(|going| Going {
                began: false,
                before: going.value,
                per_second: 0.0,
                ..going
            });
        }
    }

    /// A finger did something, so many seconds before the frame.
    pub fn take(&mut self, place: usize, act: Act, at: Vec2, age: f64) {
        // What is told out of order has happened by then, at the latest.
        let when = (self.now - age.max(0.0)).max(self.newest);
        self.rest_until(when);
        match act {
            Act::Down => self.down(place, at, when),
            Act::Move => self.moved(place, at, when),
            Act::Up => {
                self.moved(place, at, when);
                self.up(place, when);
                self.leave(place);
            }
            Act::Cancel => self.leave(place),
        }
    }

    /// All of the frame was told; `seconds` is how long it took.
    pub fn end_frame(&mut self, seconds: f64) {
        self.rest_until(self.now);
        for going in [&mut self.pinch, &mut self.rotation].into_iter().flatten() {
            if seconds > 0.0 {
                going.per_second = (going.value - going.before) / seconds as f32;
            }
        }
    }

    /// Where a finger tapped in this frame; the newest where there were several.
    pub fn tap(&self) -> Option<Vec2> {
        self.tap
    }

    /// The taps so far that followed each other, where one came in this frame.
    pub fn tap_sequence(&self) -> &[Vec2] {
        if self.tap.is_some() { &self.taps } else { &[] }
    }

    /// Where a finger has rested long enough since this frame.
    pub fn long_press(&self) -> Option<Vec2> {
        self.long_press
    }

    pub fn swipe(&self) -> Option<Swipe> {
        self.swipe
    }

    /// Two fingers that come nearer or go apart: the value is the scale.
    pub fn pinch(&self) -> Option<Going> {
        self.pinch
    }

    /// Two fingers that turn: the value is the angle in radians, counterclockwise.
    pub fn rotation(&self) -> Option<Going> {
        self.rotation
    }

    /// Nothing was done until then.
    fn rest_until(&mut self, when: f64) {
        self.newest = when;
        for contact in self.contacts.iter_mut().flatten() {
            let idle = !contact.used && !contact.strayed;
            if idle && when - contact.began >= LONG_PRESS_SECONDS - ROUNDING_SECONDS {
                contact.used = true;
                self.long_press = Some(contact.at);
            }
        }
    }

    fn down(&mut self, place: usize, at: Vec2, when: f64) {
        let contact = Contact { from: at, at, began: when, strayed: false, used: false };
        self.contacts[place] = Some(contact);
        self.find_pair();
    }

    fn moved(&mut self, place: usize, at: Vec2, when: f64) {
        let Some(contact) = &mut self.contacts[place] else { return };
        contact.at = at;
        let way = at - contact.from;
        contact.strayed |= way.length() > STRAY_DISTANCE;
        self.turn_pair(place);
        let Some(contact) = self.contacts[place].as_mut().filter(|contact| !contact.used) else {
            return;
        };
        if when - contact.began > SWIPE_SECONDS {
            return;
        }
        let (along, aside) = (way.abs().max_element(), way.abs().min_element());
        if along >= SWIPE_DISTANCE && aside <= along * SWIPE_SIDE {
            contact.used = true;
            self.swipe = Some(match (way.x.abs() > way.y.abs(), way.x > 0.0, way.y > 0.0) {
                (true, true, _) => Swipe::Right,
                (true, false, _) => Swipe::Left,
                (false, _, true) => Swipe::Up,
                (false, _, false) => Swipe::Down,
            });
        }
    }

    fn up(&mut self, place: usize, when: f64) {
        let Some(contact) = self.contacts[place] else { return };
        if contact.used || contact.strayed || when - contact.began > TAP_SECONDS {
            return;
        }
        let follows = (0.0..=SEQUENCE_SECONDS).contains(&(contact.began - self.tapped))
            && self.taps.last().is_some_and(|last| last.distance(contact.at) <= SEQUENCE_DISTANCE);
        if !follows {
            self.taps.clear();
        } else if self.taps.len() == SEQUENCE_MAX {
            self.taps.remove(0);
        }
        self.taps.push(contact.at);
        (self.tap, self.tapped) = (Some(contact.at), when);
    }

    /// A finger is gone, and with it what it did with another one.
    fn leave(&mut self, place: usize) {
        self.contacts[place] = None;
        if self.pair.is_some_and(|pair| pair.places.contains(&place)) {
            self.pair = None;
            for going in [&mut self.pinch, &mut self.rotation].into_iter().flatten() {
                going.ended = true;
            }
            self.find_pair();
        }
    }

    /// The first two fingers that are down are a pair, as long as both are.
    fn find_pair(&mut self) {
        if self.pair.is_some() {
            return;
        }
        let mut down = (0..FINGERS_MAX).filter(|place| self.contacts[*place].is_some());
        let (Some(first), Some(second)) = (down.next(), down.next()) else { return };
        let places = [first, second];
        let Some((between, _)) = self.between(places) else { return };
        self.pair = Some(Pair {
            places,
            distance: between.length(),
            angle: atan2(between.y, between.x),
            turned: 0.0,
            pinch_from: None,
            turn_from: None,
        });
    }

    /// The way from the first of two fingers to the second, and the middle.
    fn between(&self, places: [usize; 2]) -> Option<(Vec2, Vec2)> {
        let [first, second] = places.map(|place| self.contacts[place].map(|contact| contact.at));
        first.zip(second).map(|(first, second)| (second - first, (first + second) * 0.5))
    }

    /// One of two fingers has moved: whether they pinch or rotate.
    fn turn_pair(&mut self, place: usize) {
        let Some(mut pair) = self.pair.filter(|pair| pair.places.contains(&place)) else { return };
        let Some((between, at)) = self.between(pair.places) else { return };
        let distance = between.length();
        let angle = atan2(between.y, between.x);
        if distance >= TURN_DISTANCE_MIN {
            let by = angle - pair.angle;
            pair.turned += by - (by / TAU).round() * TAU;
        }
        pair.angle = angle;
        let apart = distance - pair.distance;
        if pair.pinch_from.is_none() && apart.abs() >= PINCH_DISTANCE {
            // From where it is one, so that nothing leaps.
            let from = pair.distance + PINCH_DISTANCE.copysign(apart);
            pair.pinch_from = Some(from.max(1.0));
            self.pinch = Some(Going::begun(at, 1.0));
        }
        if pair.turn_from.is_none() && pair.turned.abs() >= TURN_ANGLE {
            pair.turn_from = Some(TURN_ANGLE.copysign(pair.turned));
            self.rotation = Some(Going::begun(at, 0.0));
        }
        if let (Some(from), Some(going)) = (pair.pinch_from, &mut self.pinch) {
            (going.value, going.at) = (distance / from, at);
        }
        if let (Some(from), Some(going)) = (pair.turn_from, &mut self.rotation) {
            (going.value, going.at) = (pair.turned - from, at);
        }
        if pair.pinch_from.is_some() || pair.turn_from.is_some() {
            for place in pair.places {
                if let Some(contact) = &mut self.contacts[place] {
                    contact.used = true;
                }
            }
        }
        self.pair = Some(pair);
    }
}

impl Going {
    fn begun(at: Vec2, value: f32) -> Going {
        Going { began: true, ended: false, at, value, per_second: 0.0, before: value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: f64 = 1.0 / 60.0;

    /// A frame in which fingers do something: each its place, what, where, and how long before.
    fn frame(gestures: &mut Gestures, acts: &[(usize, Act, [f32; 2], f64)]) {
        gestures.begin_frame(FRAME);
        for (place, act, at, age) in acts {
            gestures.take(*place, *act, Vec2::from_array(*at), *age);
        }
        gestures.end_frame(FRAME);
    }

    fn rest(gestures: &mut Gestures, frames: usize) {
        (0..frames).for_each(|_| frame(gestures, &[]));
    }

    #[test]
    fn a_finger_that_comes_and_goes_taps_also_within_a_frame() {
        let mut gestures = Gestures::default();
        let at = [10.0, 20.0];
        frame(&mut gestures, &[(0, Act::Down, at, 0.01), (0, Act::Up, at, 0.002)]);
        assert_eq!(gestures.tap(), Some(Vec2::new(10.0, 20.0)));
        assert_eq!(gestures.tap_sequence().len(), 1);
        rest(&mut gestures, 1);
        assert_eq!((gestures.tap(), gestures.tap_sequence().len()), (None, 0));
        frame(&mut gestures, &[(0, Act::Down, at, 0.0)]);
        rest(&mut gestures, 5);
        frame(&mut gestures, &[(0, Act::Up, [15.0, 22.0], 0.0)]);
        assert_eq!(gestures.tap_sequence().len(), 2, "soon after the first, and near it");
    }

    #[test]
    fn what_is_far_late_or_taken_away_is_no_tap() {
        let at = [10.0, 20.0];
        let tapped = |frames: usize, act: Act, to: [f32; 2]| {
            let mut gestures = Gestures::default();
            frame(&mut gestures, &[(0, Act::Down, at, 0.0)]);
            rest(&mut gestures, frames);
            frame(&mut gestures, &[(0, act, to, 0.0)]);
            gestures.tap().is_some()
        };
        assert!(tapped(5, Act::Up, at));
        assert!(!tapped(19, Act::Up, at), "longer than 0.3 seconds");
        assert!(!tapped(1, Act::Up, [23.0, 20.0]), "farther than 12 pixels");
        assert!(!tapped(1, Act::Cancel, at));
    }

    #[test]
    fn taps_that_lie_apart_or_come_late_are_no_sequence() {
        let mut gestures = Gestures::default();
        let mut tap = |x: f32, pause: usize| {
            rest(&mut gestures, pause);
            frame(&mut gestures, &[(0, Act::Down, [x, 0.0], 0.0), (0, Act::Up, [x, 0.0], 0.0)]);
            gestures.tap_sequence().len()
        };
        assert_eq!([tap(0.0, 0), tap(40.0, 5), tap(80.0, 5), tap(200.0, 5)], [1, 2, 3, 1]);
        assert_eq!([tap(200.0, 30), tap(200.0, 5)], [1, 2]);
    }

    #[test]
    fn a_finger_that_rests_presses_once_and_does_not_tap_then() {
        let mut gestures = Gestures::default();
        frame(&mut gestures, &[(2, Act::Down, [5.0, 5.0], 0.0)]);
        let mut pressed = Vec::new();
        for number in 1..60 {
            rest(&mut gestures, 1);
            pressed.extend(gestures.long_press().map(|_| number));
        }
        assert_eq!(pressed, [30], "after half a second, once");
        frame(&mut gestures, &[(2, Act::Up, [5.0, 5.0], 0.0)]);
        assert_eq!((gestures.tap(), gestures.long_press()), (None, None));
    }

    #[test]
    fn a_swipe_is_known_by_its_longer_way_and_told_once() {
        let swiped = |to: [f32; 2], frames: usize| {
            let mut gestures = Gestures::default();
            frame(&mut gestures, &[(0, Act::Down, [100.0, 100.0], 0.0)]);
            rest(&mut gestures, frames);
            let to = [100.0 + to[0], 100.0 + to[1]];
            frame(&mut gestures, &[(0, Act::Move, to, 0.0)]);
            let first = gestures.swipe();
            frame(&mut gestures, &[(0, Act::Up, to, 0.0)]);
            assert!(gestures.swipe().is_none() && gestures.tap().is_none());
            first
        };
        assert_eq!(swiped([60.0, 20.0], 1), Some(Swipe::Right));
        assert_eq!(swiped([-60.0, 0.0], 1), Some(Swipe::Left));
        assert_eq!(swiped([10.0, 60.0], 1), Some(Swipe::Up));
        assert_eq!(swiped([0.0, -60.0], 1), Some(Swipe::Down));
        assert_eq!(swiped([60.0, 40.0], 1), None, "too much to the side");
        assert_eq!(swiped([40.0, 0.0], 1), None, "too short");
        assert_eq!(swiped([60.0, 0.0], 40), None, "too late");
    }

    #[test]
    fn two_fingers_pinch_from_where_they_have_left_their_places() {
        let mut gestures = Gestures::default();
        let (a, b) = ([100.0, 100.0], [200.0, 100.0]);
        frame(&mut gestures, &[(0, Act::Down, a, 0.0), (1, Act::Down, b, 0.0)]);
        frame(&mut gestures, &[(1, Act::Move, [210.0, 100.0], 0.0)]);
        assert!(gestures.pinch().is_none());
        frame(&mut gestures, &[(1, Act::Move, [332.0, 100.0], 0.0)]);
        let pinch = gestures.pinch().unwrap();
        assert!(pinch.began && !pinch.ended && pinch.at == Vec2::new(216.0, 100.0));
        assert_eq!(pinch.value, 2.0, "116 pixels are one");
        assert!((pinch.per_second - 60.0).abs() < 1e-3);
        rest(&mut gestures, 1);
        let pinch = gestures.pinch().unwrap();
        assert!(!pinch.began && pinch.value == 2.0 && pinch.per_second == 0.0);
        frame(&mut gestures, &[(0, Act::Up, a, 0.0)]);
        assert!(gestures.pinch().unwrap().ended);
        frame(&mut gestures, &[(1, Act::Up, [332.0, 100.0], 0.0)]);
        assert!(gestures.pinch().is_none() && gestures.tap().is_none());
        assert!(gestures.swipe().is_none() && gestures.rotation().is_none());
    }

    #[test]
    fn two_fingers_rotate_past_half_a_turn() {
        let mut gestures = Gestures::default();
        let around = |degrees: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            [100.0 + 80.0 * cos, 100.0 + 80.0 * sin]
        };
        let fingers = [(0, Act::Down, [100.0, 100.0], 0.0), (1, Act::Down, around(0.0), 0.0)];
        frame(&mut gestures, &fingers);
        for step in 1..=20 {
            frame(&mut gestures, &[(1, Act::Move, around(step as f32 * 10.0), 0.0)]);
        }
        let rotation = gestures.rotation().unwrap();
        assert!((rotation.value.to_degrees() - 190.0).abs() < 0.1, "{}", rotation.value);
        assert!((rotation.per_second.to_degrees() - 600.0).abs() < 1.0);
        assert!(gestures.pinch().is_none());
    }

    #[test]
    fn a_finger_that_stays_does_not_keep_another_one_from_tapping() {
        let mut gestures = Gestures::default();
        frame(&mut gestures, &[(0, Act::Down, [100.0, 100.0], 0.0)]);
        rest(&mut gestures, 60);
        let at = [600.0, 100.0];
        frame(&mut gestures, &[(1, Act::Down, at, 0.01), (1, Act::Up, at, 0.0)]);
        assert_eq!(gestures.tap(), Some(Vec2::new(600.0, 100.0)));
        // A third finger takes the place of the one that went, from where the two are.
        frame(&mut gestures, &[(1, Act::Down, at, 0.0)]);
        frame(&mut gestures, &[(1, Act::Move, [700.0, 100.0], 0.0)]);
        assert!(gestures.pinch().unwrap().began);
    }
}
