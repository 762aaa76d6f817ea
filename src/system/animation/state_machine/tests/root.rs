//! Tests of root motion: the movement of a state machine's samples, blended like the pose.

use super::super::super::clip::Clip;
use super::super::super::compile::{ClipSettings, compile};
use super::super::super::rigid_transform::RigidTransform;
use super::super::super::root_motion::RootMotion;
use super::super::super::skeleton::{BoneTransform, Skeleton};
use super::super::super::source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
use super::*;
use engine_foundation::{Quat, Vec3};

/// A clip that moves forward by a distance in metres, with a turn by an angle about the vertical
/// axis.
fn walking(distance: f32, seconds: f32, angle: f32) -> Clip {
    let track = |property, values: [[f32; 4]; 2]| SourceTrack {
        bone: 0,
        property,
        interpolation: SourceInterpolation::Linear,
        times: vec![0.0, seconds],
        values: values.to_vec(),
    };
    let turned = Quat::from_rotation_z(angle).to_array();
    let tracks = vec![
        track(TrackProperty::Position, [[0.0; 4], [0.0, distance, 0.0, 0.0]]),
        track(TrackProperty::Rotation, [[0.0, 0.0, 0.0, 1.0], turned]),
    ];
    compiled_walk(SourceClip { seconds, tracks })
}

/// A clip of two seconds that accelerates to 5 m/s in the first half second.
fn starting() -> Clip {
    let way = |time: f32| if time < 0.5 { 5.0 * time * time } else { 5.0 * time - 1.25 };
    let times: Vec<f32> = (0..=120).map(|key| key as f32 / 60.0).collect();
    let values = times.iter().map(|time| [0.0, way(*time), 0.0, 0.0]).collect();
    let (property, interpolation) = (TrackProperty::Position, SourceInterpolation::Linear);
    compiled_walk(SourceClip {
        seconds: 2.0,
        tracks: vec![SourceTrack { bone: 0, property, interpolation, times, values }],
    })
}

fn compiled_walk(source: SourceClip) -> Clip {
    let bone = ("hip".to_string(), None, BoneTransform::IDENTITY);
    let skeleton = Skeleton::new(vec![bone]).unwrap();
    let settings = ClipSettings {
        looping: Some(true),
        root_motion: RootMotion::XyYaw,
        ..ClipSettings::DEFAULT
    };
    compile(&source, &skeleton, &settings).unwrap().clip
}

const MOVES: &str = "variables = { speed = { value = 0 min = -1 max = 6 } }
    layers = [ { states = {
        walk = { clip = \"walk\" on = { run = { to = \"run\" blend = 1 curve = \"linear\" }
            mix = { to = \"mix\" blend = 0 } stop = { to = \"still\" blend = 0 }
            back = { to = \"back\" blend = 0 } circle = { to = \"circle\" blend = 0 }
            smooth = { to = \"run\" blend = 0.73 curve = \"smooth\" }
            ease_in = { to = \"run\" blend = 0.73 curve = \"ease_in\" }
            ease_out = { to = \"run\" blend = 0.73 curve = \"ease_out\" }
            turn = { to = \"circle\" blend = 0.73 curve = \"linear\" }
            turning_mix = { to = \"turning_mix\" blend = 0 }
            space = { to = \"space\" blend = 0 }
            once = { to = \"once\" blend = 0 }
            once_then_stop = { to = \"once_then_stop\" blend = 0 }
            once_then_cut = { to = \"once_then_cut\" blend = 0 }
            start = { to = \"start\" blend = 0.3 } } }
        start = { clip = \"start\" }
        run = { clip = \"run\" on = { walk = { to = \"walk\" blend = 0.73 curve = \"linear\" } } }
        mix = { blend = [ { clip = \"walk\" weight = 1 } { clip = \"run\" weight = 1 } ] }
        still = { empty = true }
        space = { blend = [ { clip = \"walk\" weight = \"match(speed, 2)\" }
            { clip = \"run\" weight = \"match(speed, 6)\" } ] }
        once = { clip = \"short\" loop = false on_end = { to = \"run\" blend = 0.3 } }
        once_then_stop = { clip = \"short\" loop = false
            on_end = { to = \"still\" blend = 0.3 } }
        once_then_cut = { clip = \"short\" loop = false on_end = { to = \"run\" blend = 0 } }
        turning_mix = { blend = [ { clip = \"walk\" weight = 1 }
            { clip = \"circle\" weight = 1 } ] }
        back = { clip = \"walk\" speed = -1 }
        circle = { clip = \"circle\" }
    } } ]";

/// A character whose clips walk 2 m/s, run 6 m/s, and walk in a circle.
struct Walker {
    it: Character,
    clips: Vec<Clip>,
}

impl Walker {
    fn new() -> Walker {
        Walker::of(MOVES)
    }

    fn of(text: &str) -> Walker {
        let added = ClipInfo { additive: true, ..clip(1.0, true) };
        let infos = [
            ("walk", clip(1.0, true)),
            ("run", clip(0.5, true)),
            ("short", clip(0.4567, false)),
            ("start", clip(2.0, false)),
            ("added", added),
        ];
        let it = Character::new(text, &infos);
        let clips = it.machine.clips().iter().map(|clip| match clip.name.as_str() {
            "walk" => walking(2.0, 1.0, 0.0),
            "run" => walking(3.0, 0.5, 0.0),
            "short" => walking(0.9134, 0.4567, 0.0),
            "start" => starting(),
            _ => walking(1.0, 1.0, 1.5),
        });
        Walker { clips: clips.collect(), it }
    }

    fn delta(&self, masks: &[BoneMask]) -> RigidTransform {
        self.it.output.root_delta(&|index| self.clips.get(usize::from(index)), masks)
    }

    /// Plays for a number of steps and returns the whole movement.
    fn play(&mut self, steps: u32, dt: f32) -> RigidTransform {
        let mut sum = RigidTransform::IDENTITY;
        for _ in 0..steps {
            self.it.update(dt);
            sum = sum.concatenate(&self.delta(&[]));
        }
        sum
    }

    #[track_caller]
    fn check(&mut self, (steps, dt): (u32, f32), wanted: f32) {
        let moved = self.play(steps, dt).position;
        assert!((moved - Vec3::Y * wanted).length() < 2e-3, "{moved} is not {wanted} along y");
    }
}

#[test]
fn root_motion_is_independent_of_the_frame_rate() {
    for (steps, dt) in [(600, 1.0 / 60.0), (10, 1.0), (4, 2.5), (77, 10.0 / 77.0)] {
        let mut it = Walker::new();
        it.check((steps, dt), 20.0);
        let mut it = Walker::new();
        it.it.send("circle");
        let moved = it.play(steps, dt);
        let wanted = it.clips[it.clips.len() - 1].root_delta(0.0, 0.0, 10);
        let apart = (moved.position - wanted.position).length();
        assert!(apart < 2e-3, "{apart} m apart after {steps} steps");
        assert!(moved.rotation.dot(wanted.rotation).abs() > 0.99999);
    }
}

#[test]
fn root_motion_is_blended_like_the_pose() {
    let mut it = Walker::new();
    it.it.send("mix");
    // Both at the same part of their lengths: 2.5 m in each 0.75 s.
    it.check((90, 1.0 / 60.0), 5.0);
    let mut it = Walker::new();
    it.check((30, 1.0 / 60.0), 1.0);
    it.it.send("run");
    // The cross-fade lasts one second: on average 4 m/s.
    let moved = it.play(60, 1.0 / 60.0).position.y;
    assert!((moved - 4.0).abs() < 0.1, "{moved}");
    it.check((60, 1.0 / 60.0), 6.0);
    let mut it = Walker::new();
    it.it.send("back");
    it.check((60, 1.0 / 60.0), -2.0);
}

/// Frames per second at which movements are compared.
const RATES: [u32; 5] = [10, 30, 60, 240, 1000];

/// Plays a machine at each rate for some seconds. `act` is called with the character, the number of
/// the step, and the rate, before each step. Returns the movements.
fn at_rates(seconds: u32, act: impl Fn(&mut Walker, u32, u32)) -> [RigidTransform; 5] {
    at_rates_of(MOVES, seconds, act)
}

fn at_rates_of(
    text: &str,
    seconds: u32,
    act: impl Fn(&mut Walker, u32, u32),
) -> [RigidTransform; 5] {
    RATES.map(|rate| {
        let mut it = Walker::of(text);
        let mut sum = RigidTransform::IDENTITY;
        for step in 0..seconds * rate {
            act(&mut it, step, rate);
            it.it.update(1.0 / rate as f32);
            sum = sum.concatenate(&it.delta(&[]));
        }
        sum
    })
}

/// Checks that movements at 10, 30, 60 and 240 frames per second end within so many metres of that
/// at 1,000, and turn by as much.
#[track_caller]
fn check_equal(all: &[RigidTransform; 5], most: [f32; 4]) {
    for ((rate, moved), most) in RATES.iter().zip(all).zip(most) {
        let apart = moved.position.distance(all[4].position);
        assert!(apart <= most, "{apart} m apart at {rate} Hz: {all:?}");
        let turned = (moved.rotation.conjugate() * all[4].rotation).to_array();
        let angle = 2.0 * Vec3::new(turned[0], turned[1], turned[2]).length();
        assert!(angle <= most, "{angle} radians apart at {rate} Hz");
    }
}

fn send_at_start(event: &'static str) -> impl Fn(&mut Walker, u32, u32) {
    move |it, step, _| {
        if step == 0 {
            it.it.send(event);
        }
    }
}

#[test]
fn cross_fades_move_as_far_at_each_frame_rate() {
    let linear = at_rates(2, send_at_start("run"));
    for moved in &linear {
        assert!((moved.position.y - 10.0).abs() < 2e-3, "{moved:?}");
    }
    for event in ["smooth", "ease_in", "ease_out"] {
        check_equal(&at_rates(2, send_at_start(event)), [2e-3; 4]);
    }
    // A second fade begins within the first one: at 0.5 seconds, which all rates have.
    let interrupted = at_rates(2, |it, step, rate| {
        if step == 0 {
            it.it.send("run");
        } else if step == rate / 2 {
            it.it.send("walk");
        }
    });
    check_equal(&interrupted, [2e-3; 4]);
}

#[test]
fn fades_that_begin_in_a_step_move_as_far_at_each_frame_rate() {
    // The first state ends after a length that no rate divides.
    for event in ["once", "once_then_stop", "once_then_cut"] {
        let moved = at_rates(2, send_at_start(event));
        check_equal(&moved, [2e-3; 4]);
    }
}

#[test]
fn animations_that_accelerate_move_nearly_as_far_at_each_rate() {
    let moved = at_rates(2, send_at_start("start"));
    assert!((moved[4].position.y - 8.75).abs() < 0.2, "{moved:?}");
    check_equal(&moved, [1e-2, 2e-3, 2e-3, 2e-3]);
}

const FALLING: &str = "layers = [ { states = {
        walk = { clip = \"walk\" on = { fall = { to = \"fallen\" blend = 0.5 }
            once = { to = \"once\" blend = 0 } } }
        once = { clip = \"short\" loop = false on_end = { to = \"fallen\" blend = 0 } }
        fallen = { ragdoll = \"full\"
            on = { up = { to = \"rise\" blend = 0.5 curve = \"linear\" } } }
        rise = { clip = \"run\" }
    } } ]";

#[test]
fn ragdolls_that_begin_and_end_move_as_far_at_each_frame_rate() {
    // Half a second and the fade at 2 m/s; one and a half seconds from the second fade on at 6.
    let moved = at_rates_of(FALLING, 3, |it, step, rate| {
        if step == rate / 2 {
            it.it.send("fall");
        } else if step == rate / 2 * 3 {
            it.it.send("up");
        }
    });
    // The state falls at once after its end, within a step.
    let once = at_rates_of(FALLING, 1, send_at_start("once"));
    for (all, wanted) in [(moved, 11.0), (once, 0.9134)] {
        for (rate, moved) in RATES.iter().zip(&all) {
            let y = moved.position.y;
            assert!((y - wanted).abs() < 2e-3, "{y} m at {rate} Hz, {wanted} m are right");
        }
    }
}

#[test]
fn layers_of_added_animations_keep_the_movement_below() {
    let layers = |second: &str| {
        format!("layers = [ {{ states = {{ walk = {{ clip = \"walk\" }} }} }} {{ {second} }} ]")
    };
    let to = "on = { add = { to = \"lean\" blend = 0.5 } }";
    let lean = "lean = { clip = \"added\" }";
    let states = [
        format!("states = {{ {lean} }}"),
        format!("states = {{ firm = {{ empty = true {to} }} {lean} }}"),
        "states = { lean = { blend = [{ clip = \"added\" weight = 1 }] } }".to_string(),
        "states = { lean = { clip = \"run\" additive = true } }".to_string(),
    ];
    for states in states {
        let mut it = Walker::of(&layers(&states));
        it.check((15, 1.0 / 60.0), 0.5);
        if states.contains(to) {
            it.it.send("add");
        }
        it.check((105, 1.0 / 60.0), 3.5);
        assert_eq!(it.it.output.layers[1].coverage, 0.0, "{states}");
    }
    // Half a second of the fade at 6 to 2 m/s.
    let states = format!("states = {{ run = {{ clip = \"run\" {to} }} {lean} }}");
    let mut it = Walker::of(&layers(&states.replace("0.5", "0.5 curve = \"linear\"")));
    it.check((15, 1.0 / 60.0), 1.5);
    it.it.send("add");
    it.it.update(0.25);
    assert!((it.it.output.layers[1].coverage - 0.5).abs() < 1e-6);
    assert!((it.delta(&[]).position.y - 1.25).abs() < 2e-3);
    it.check((1, 0.25), 0.75);
    it.check((60, 1.0 / 60.0), 2.0);
}

#[test]
fn turns_in_cross_fades_are_equal_at_each_frame_rate() {
    let moved = at_rates(2, send_at_start("turn"));
    check_equal(&moved, [4e-3, 2e-3, 2e-3, 2e-3]);
    let mixed = at_rates(3, send_at_start("turning_mix"));
    check_equal(&mixed, [4e-3, 2e-3, 2e-3, 2e-3]);
}

#[test]
fn blend_spaces_move_as_far_at_each_frame_rate() {
    // The variable has the value of the end of each step.
    let moved = at_rates(2, |it, step, rate| {
        if step == 0 {
            it.it.set("speed", 0.0);
            it.it.send("space");
            it.it.update(0.0);
        }
        it.it.set("speed", 6.0 * ((step + 1) as f32 / rate as f32).min(1.0));
    });
    check_equal(&moved, [0.03, 5e-3, 2e-3, 2e-3]);
}

const SPEEDS: &str = "variables = { speed = { value = 1 min = -4 max = 6 } }
    layers = [ { states = {
        move = { blend = [ { clip = \"walk\" weight = \"match(speed, 2)\" }
            { clip = \"run\" weight = \"match(speed, 5)\" } ] speed = \"speed / 2\" }
        one = { clip = \"walk\" speed = \"speed\" }
        circle = { clip = \"circle\" speed = \"speed\" }
        once = { clip = \"short\" loop = false on_end = { to = \"one\" blend = 0 } }
        product = { speed = \"speed\" group = { initial = \"inner\" states = {
            inner = { clip = \"walk\" speed = \"speed / 2\" } } } }
    } initial = \"one\" any = { move = { to = \"move\" blend = 0 } one = { to = \"one\" blend = 0 }
        circle = { to = \"circle\" blend = 0 } once = { to = \"once\" blend = 0 }
        product = { to = \"product\" blend = 0 } } } ]";

/// Plays states whose speed has a variable, which goes from one value to another within a second.
/// Returns the movements in two seconds, and the times of the clips at their end.
fn ramp(event: &'static str, (from, to): (f32, f32)) -> ([RigidTransform; 5], [f32; 5]) {
    let times = std::cell::RefCell::new([0.0; 5]);
    let moved = at_rates_of(SPEEDS, 2, |it, step, rate| {
        if step == 0 {
            it.it.set("speed", from);
            it.it.send(event);
            it.it.update(0.0);
        }
        let part = ((step + 1) as f32 / rate as f32).min(1.0);
        it.it.set("speed", from + (to - from) * part);
        // All rates have a step that begins after one and a half seconds.
        if step * 2 == rate * 3 {
            let index = RATES.iter().position(|it| *it == rate).unwrap();
            times.borrow_mut()[index] = it.it.output.samples[0].time;
        }
    });
    (moved, times.into_inner())
}

#[test]
fn changing_speeds_move_as_far_at_each_frame_rate() {
    let cases = [
        ("one", (1.0, 2.5), [2e-3; 4]),
        ("one", (-2.0, 3.0), [2e-3; 4]),
        ("circle", (1.0, 3.0), [1e-2, 2e-3, 2e-3, 2e-3]),
        ("once", (0.0, 4.0), [5e-3, 2e-3, 2e-3, 2e-3]),
        ("move", (0.0, 5.0), [0.03, 5e-3, 2e-3, 2e-3]),
        ("product", (0.0, 2.0), [1e-2, 2e-3, 2e-3, 2e-3]),
    ];
    for (event, (from, to), most) in cases {
        let (moved, times) = ramp(event, (from, to));
        check_equal(&moved, most);
        if event == "one" {
            // The mean of both in the first second. The clip moves 2 m in each second of its own.
            let wanted = 2.0 * ((from + to) * 0.5 + to);
            assert!((moved[4].position.y - wanted).abs() < 2e-3, "{from} to {to}: {moved:?}");
        }
        for time in times {
            // Each clip repeats after a second.
            let apart = (time - times[4]).abs();
            assert!(apart.min(1.0 - apart) <= most[0] * 2.0, "{event}: {times:?}");
        }
    }
}

#[test]
fn a_variable_that_is_set_at_once_changes_along_the_next_step() {
    let mut it = Walker::of(SPEEDS);
    it.it.send("one");
    it.it.update(0.1);
    it.it.set("speed", 3.0);
    it.check((1, 0.1), 0.4);
    it.check((1, 0.1), 0.6);
    // A state that begins with the change has its speed from the value before, too.
    it.it.set("speed", 1.0);
    it.it.send("product");
    it.check((1, 0.1), 0.5);
    it.check((1, 0.1), 0.1);
}

#[test]
fn states_without_a_pose_and_masked_layers_do_not_move() {
    let mut it = Walker::new();
    it.it.send("stop");
    it.check((60, 1.0 / 60.0), 0.0);
    it.it.update(f32::NAN);
    assert_eq!(it.delta(&[]), RigidTransform::IDENTITY);
    let mut it = Walker::new();
    it.it.update(0.5);
    it.it.output.layers[0].mask = Some(0);
    assert_eq!(it.delta(&[BoneMask::new(&[0.0])]), RigidTransform::IDENTITY);
    let half = it.delta(&[BoneMask::new(&[0.5])]).position.y;
    assert!((half - 0.5).abs() < 1e-3, "{half}");
    it.clips.clear();
    assert_eq!(it.delta(&[]), RigidTransform::IDENTITY, "missing clips stand still");
}
