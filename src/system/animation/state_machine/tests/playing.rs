//! Tests of playback: kinds of states, layers, events, bad numbers, saved states, reload.

use super::*;
use engine_foundation::hash::StateHash;
use engine_foundation::random::Random;

const MOVE: &str = "variables = { speed = { value = 2 min = 0 max = 6 } }
    layers = [ { states = { move = {
        blend = [ { clip = \"walk\" weight = \"match(speed, 2)\" }
                  { clip = \"run\" weight = \"match(speed, 5)\" } ]
        speed = \"speed / 2\" } } } ]";

#[test]
fn blends_mix_clips_at_the_same_fraction() {
    let mut it = Character::new(MOVE, &[("run", clip(0.5, true))]);
    it.update(0.5);
    assert_eq!(it.shown(), "move: walk@0.50*1.00");
    it.set("speed", 3.5);
    it.update(0.0);
    assert_eq!(it.shown(), "move: walk@0.50*0.50 run@0.25*0.50");
    assert_eq!(it.info().seconds, 0.75, "the length is the mean");
    it.update(0.75 / 1.75 / 4.0);
    assert_eq!(it.shown(), "move: walk@0.75*0.50 run@0.38*0.50");
    it.set("speed", 100.0);
    assert_eq!(it.state.variable(0), Some(6.0), "limited to its range");
    it.update(0.0);
    assert_eq!(it.output.samples.len(), 1);
}

#[test]
fn weights_that_sum_to_zero_show_the_first_clip() {
    let mut it = Character::new(
        "variables = { x = 0 } layers = [ { states = { s = { blend = [
            { clip = \"a\" weight = \"x\" } { clip = \"b\" weight = \"0 - x\" } ] } } } ]",
        &[],
    );
    it.update(0.25);
    assert_eq!(it.shown(), "s: a@0.25*1.00");
    it.set("x", -2.0);
    it.update(0.25);
    assert_eq!(it.shown(), "s: b@0.50*1.00");
}

#[test]
fn blend_spaces_have_one_or_two_axes() {
    let mut it = Character::new(
        "variables = { x = 0 y = 0 } layers = [ { states = {
            line = { blend_space = { x = \"x * 2\" points = [ { clip = \"a\" at = 0 }
                { clip = \"b\" at = 4 } ] } on = { go = { to = \"plane\" blend = 0 } } }
            plane = { blend_space = { x = \"x\" y = \"y\" points = [ { clip = \"a\" at = [0 0] }
                { clip = \"b\" at = [0 1] } { clip = \"c\" at = [-1 0] } ] } } } } ]",
        &[],
    );
    it.set("x", 0.5);
    it.update(0.0);
    assert_eq!(it.shown(), "line: a@0.00*0.75 b@0.00*0.25");
    it.send("go");
    it.set("x", -0.5);
    it.update(0.0);
    assert_eq!(it.shown(), "plane: a@0.00*0.50 c@0.00*0.50");
    it.set("x", 0.0);
    it.set("y", 1.0);
    it.update(0.0);
    assert_eq!(it.shown(), "plane: b@0.00*1.00");
}

#[test]
fn a_variable_scrubs_time_states() {
    let mut it = Character::new(
        "variables = { lean = 0 } layers = [ { states = { s = { clip = \"lean\" time = \"lean\"
            events = [ { name = \"half\" at = 0.5 } ] } } } ]",
        &[("lean", clip(2.0, false))],
    );
    it.set("lean", 0.4);
    it.update(10.0);
    assert_eq!(it.shown(), "s: lean@0.80*1.00");
    it.set("lean", 7.0);
    it.update(0.1);
    assert_eq!(it.shown(), "s: lean@2.00*1.00");
    assert_eq!(it.sent(), ["half"]);
    it.set("lean", 0.0);
    it.update(0.1);
    assert_eq!(it.sent(), ["half"]);
}

#[test]
fn layers_have_weights_masks_and_constraints() {
    let mut it = Character::new(
        "variables = { aim = 0.5 }
        masks = { upper = { spine = 1 } }
        constraints = { look = { type = \"aim\" bone = \"head\" }
            feet = { type = \"two_bone\" bones = [\"a\" \"b\" \"c\"] } }
        layers = [
            { constraints = \"feet\" states = { body = { clip = \"body\" } } }
            { mask = \"upper\" weight = \"aim\" states = {
                none = { empty = true on = { aim = { to = \"aim\" blend = 1 curve = \"linear\" } } }
                aim = { clip = \"aim\" constraints = [\"look\"] } } } ]",
        &[],
    );
    it.update(0.25);
    assert_eq!(it.output.constraints, [0.0, 1.0]);
    let upper = it.output.layers[1];
    assert_eq!((upper.weight, upper.coverage, upper.mask), (0.5, 0.0, Some(0)));
    it.send("aim");
    it.update(0.25);
    assert_eq!(it.output.layers[1].coverage, 0.25);
    assert_eq!(it.output.constraints, [0.125, 1.0], "constraints fade with their state");
    assert_eq!(it.output.samples.len(), 2);
    it.set("aim", -3.0);
    it.update(0.25);
    assert_eq!(it.output.samples.len(), 1, "a layer without weight is not sampled");
}

#[test]
fn additive_clips_are_added() {
    let difference = ClipInfo { additive: true, ..clip(1.0, true) };
    let mut it = Character::new(
        "variables = { tired = 0.25 } layers = [ { states = {
            breathe = { clip = \"breathe\" additive = true weight = \"tired\"
                on = { go = \"lean\" } }
            lean = { blend = [ { clip = \"l\" weight = 0.5 } { clip = \"m\" weight = 7 } ]
                additive = true } } } ]",
        &[("breathe", difference)],
    );
    it.update(0.5);
    let Sample { mode, weight, .. } = it.output.samples[0];
    assert_eq!((mode, weight, it.output.layers[0].coverage), (SampleMode::Add, 0.25, 0.0));
    it.send("go");
    it.update(1.0);
    let shown: Vec<_> = it.output.samples.iter().map(|it| (it.mode, it.weight)).collect();
    let wanted = [(SampleMode::AddFromRest, 0.5), (SampleMode::AddFromRest, 1.0)];
    assert_eq!(shown, wanted, "weights of added clips are not divided by their sum");
}

#[test]
fn ragdolls_take_over_without_the_pose_below() {
    let mut it = Character::new(
        "masks = { arm = { arm = 1 } } layers = [ { states = {
            walk = { clip = \"walk\" on = { die = { to = \"dead\" blend = 1 curve = \"linear\" }
                hit = { to = \"hurt\" blend = 0 } } }
            dead = { ragdoll = \"full\" on = { up = { to = \"walk\" blend = 0 } } }
            hurt = { ragdoll = { mask = \"arm\" } } } } ]",
        &[],
    );
    it.send("die");
    it.update(0.25);
    let full = RagdollOutput { layer: 0, mask: None, weight: 0.25 };
    assert_eq!(it.output.ragdolls, [full]);
    assert_eq!(it.output.layers[0].coverage, 1.0, "the rest pose is not mixed in");
    it.update(1.0);
    assert_eq!((it.output.ragdolls[0].weight, it.output.samples.len()), (1.0, 0));
    it.send("up");
    it.send("hit");
    it.update(0.1);
    assert_eq!(it.output.ragdolls[0].mask, Some(0));
    let [layer] = it.output.layers[..] else { panic!() };
    assert_eq!(layer.coverage, 0.0, "the bones that are not masked show the layers below");
}

#[test]
fn clips_of_layers_without_weight_send_no_events() {
    let step = ClipInfo { events: vec![(0.5, "step".into())], ..clip(1.0, true) };
    let mut it = Character::new(
        "variables = { shown = { value = 0 min = 0 max = 1 } }
        layers = [
            { states = { base = { clip = \"base\" } } }
            { weight = \"shown\" states = { walk = { clip = \"walk\"
                events = [ { name = \"own\" at = 0.25 } ] } } }
        ]",
        &[("walk", step)],
    );
    it.update(1.0);
    assert_eq!(it.sent(), ["own"], "the state sends its own events");
    it.set("shown", 0.01);
    it.update(1.0);
    assert_eq!(it.sent(), ["own", "step"]);
}

#[test]
fn passed_events_are_sent_once_with_repetitions() {
    let step =
        ClipInfo { events: vec![(0.25, "left".into()), (0.75, "right".into())], ..clip(1.0, true) };
    let text = "layers = [ { states = { walk = { clip = \"walk\"
        enter = \"began\" exit = \"left_it\"
        events = [ { name = \"start\" at = 0 } { name = \"end\" at = 1 }
            { name = \"late\" time = 0.8 } ]
        on = { go = \"stop\" } } stop = { empty = true enter = [\"x\" \"y\"] } } } ]";
    let mut it = Character::new(text, &[("walk", step.clone())]);
    it.update(0.0);
    assert_eq!(it.sent(), ["began"]);
    let mut early = Character::new(text, &[]);
    early.send("go");
    assert_eq!(early.sent(), ["began", "left_it", "x", "y"], "each exit follows an enter");
    it.update(0.5);
    assert_eq!(it.sent(), ["start", "left"]);
    it.update(0.25);
    assert_eq!(it.sent(), Vec::<String>::new(), "the event at 0.75 is in the next step");
    it.update(0.5);
    assert_eq!(it.sent(), ["end", "late", "right", "start"]);
    it.update(2.0);
    let twice = ["end", "late", "left", "right", "start", "end", "late", "left", "right", "start"];
    assert_eq!(it.sent(), twice);
    it.send("go");
    assert_eq!(it.sent(), ["left_it", "x", "y"]);
    // Small steps and large ones send the same number of events.
    let count = |dt: f32, steps: usize| {
        let mut it = Character::new(text, &[("walk", step.clone())]);
        (0..steps).for_each(|_| it.update(dt));
        it.sent().iter().filter(|name| *name == "left").count()
    };
    assert_eq!(count(0.015625, 320), 5);
    assert_eq!(count(1.25, 4), 5);
    assert_eq!(count(0.037, 10_000), 370);
    let limited = count(60.0, 1);
    assert_eq!(limited, 9, "a step sends the events of at most 8 whole repetitions");
}

#[test]
fn states_play_backward_and_stop() {
    let step = ClipInfo { events: vec![(0.25, "step".into())], ..clip(1.0, true) };
    let text = "variables = { v = -1 } layers = [ { states = {
        a = { empty = true on = { go = { to = \"walk\" blend = 0 } } }
        walk = { clip = \"walk\" speed = \"v\" } } } ]";
    let mut it = Character::new(text, &[("walk", step)]);
    it.send("go");
    it.update(0.25);
    assert_eq!(it.shown(), "walk: walk@0.75*1.00", "it begins at its end");
    it.update(0.5);
    assert_eq!(it.sent(), Vec::<String>::new());
    it.update(0.5);
    assert_eq!(it.sent(), ["step"]);
    assert_eq!(it.shown(), "walk: walk@0.75*1.00");
    it.set("v", 0.0);
    it.update(0.0);
    it.update(5.0);
    assert_eq!(it.shown(), "walk: walk@0.75*1.00");
}

#[test]
fn clips_without_length_are_poses() {
    for loops in [true, false] {
        let pose = ClipInfo { events: vec![(0.0, "shown".into())], ..clip(0.0, loops) };
        let mut it =
            Character::new("layers = [ { states = { s = { clip = \"s\" } } } ]", &[("s", pose)]);
        for _ in 0..5 {
            it.update(0.5);
            assert_eq!(it.shown(), "s: s@0.00*1.00");
        }
        assert_eq!(it.sent(), ["shown"]);
    }
}

#[test]
fn length_of_a_state_is_known_before_it_begins() {
    let text = "variables = { speed = { value = 2 min = 0 max = 6 } } layers = [ { states = {
        a = { clip = \"walk\" on = { go = { to = \"b\" blend = 0.2 } } }
        b = { blend = [ { clip = \"walk\" weight = \"match(speed, 2)\" }
                        { clip = \"run\" weight = \"match(speed, 5)\" } ] } } } ]";
    let mut it = Character::new(text, &[("walk", clip(1.8, true)), ("run", clip(0.5, true))]);
    let seconds = |it: &Character| it.state.current_seconds(&it.machine, &it.clips, 0);
    assert_eq!(seconds(&it), 1.8, "before the first update");
    it.update(0.1);
    it.set("speed", 5.0);
    assert!(it.send("go"));
    assert_eq!((it.info().state, it.info().seconds), ("b", 0.0));
    assert_eq!(seconds(&it), 0.5);
    it.update(0.1);
    assert_eq!(it.info().seconds, 0.5);
    assert_eq!(it.state.current_seconds(&it.machine, &it.clips, 9), 0.0, "no such layer");
    let text = "layers = [ { states = { a = { clip = \"walk\" } } } ]";
    assert_eq!(seconds(&Character::new(text, &[("walk", clip(f32::NAN, true))])), 0.0);
}

#[test]
fn bad_numbers_change_nothing() {
    let mut it = Character::new(MOVE, &[("walk", clip(f32::NAN, true))]);
    assert!(!it.state.set_variable(&it.machine, 0, f32::NAN));
    assert!(!it.state.set_variable(&it.machine, 9, 1.0));
    assert!(!it.state.send_event(&it.machine, 99, &mut vec![]));
    assert!(!it.state.send_event(&it.machine, u16::MAX, &mut vec![]));
    assert_eq!(it.state.variable(9), None);
    assert_eq!(it.state.layer_info(&it.machine, 9), None);
    let before = it.state.variable(0);
    for dt in [f32::NAN, -1.0, f32::NEG_INFINITY] {
        it.update(dt);
        assert_eq!(it.shown(), "move: walk@0.00*1.00");
    }
    it.set("speed", f32::INFINITY);
    assert_eq!(it.state.variable(0), Some(6.0));
    it.update(f32::INFINITY);
    assert!(it.output.samples.iter().all(|sample| sample.time.is_finite()));
    assert_eq!(before, Some(2.0));
    // Clips that the caller does not know count as poses.
    let Character { machine, state, sent, output, .. } = &mut it;
    state.update(machine, &[], 0.1, sent, output);
    assert_eq!(output.samples[0].time, 0.0);
}

const WILD: &str = "variables = { speed = { min = 0 max = 6 } turn = { min = -1 max = 1 } }
    masks = { upper = { spine = 1 } }
    constraints = { look = { type = \"aim\" bone = \"head\" } }
    layers = [ { any = { e4 = { to = \"dice\" blend = 0.4 mode = \"wait_until_end\" }
                e5 = { to = \"group/inner\" blend = 0.3 mode = \"sync_beat_wait\" } }
            states = {
        move = { blend = [ { clip = \"walk\" weight = \"match(speed, 2)\" }
            { clip = \"run\" weight = \"match(speed, 5)\" } ] speed = \"speed - 3\"
            constraints = \"look\"
            on = { e0 = { to = \"jump\" mode = \"sync_beat_closest\" } e1 = \"space\" } }
        jump = { clip = \"jump\" on_end = \"move\" on = { e1 = { to = \"jump\" blend = 0.1 } } }
        space = { blend_space = { x = \"speed\" y = \"turn\" points = [
            { clip = \"walk\" at = [0 0] }
            { clip = \"left\" at = [1 -1] } { clip = \"right\" at = [1 1] } ] }
            on = { e2 = { to = \"scrub\" mode = \"sync_percentage\" } e3 = \"dead\" } }
        scrub = { clip = \"lean\" time = \"turn / speed\" on = { e3 = { to = \"move\"
            mode = \"sync_inverse_percentage\" interrupt = \"higher\" } } }
        dead = { ragdoll = \"full\" on = { e0 = \"dice\" } }
        dice = { random = [ { to = \"move\" weight = \"speed\" } { to = \"group\" } ] }
        group = { group = { states = { inner = {
            random = [ { clip = \"pose\" } { clip = \"jump\" } ]
            on_end = \"move\" events = [ { name = \"mid\" at = 0.5 } ] } } } } } }
      { mask = \"upper\" weight = \"turn\" states = { none = { empty = true on = { e2 = \"wave\" } }
        wave = { clip = \"wave\" additive = true on_end = \"none\" } } } ]";

fn wild() -> Character {
    let walk =
        ClipInfo { beats: vec![0.0, 0.5], events: vec![(0.3, "s".into())], ..clip(1.1, true) };
    let run = ClipInfo { beats: vec![0.2, 0.4], ..clip(0.7, true) };
    Character::new(
        WILD,
        &[("walk", walk), ("run", run), ("pose", clip(0.0, false)), ("jump", clip(0.6, false))],
    )
}

/// Sends random events and sets random variables; returns the hash of everything.
fn random_play(it: &mut Character, rounds: usize, seed: u64) -> u64 {
    let mut random = Random::seed(seed);
    let mut hash = StateHash::new(0);
    for _ in 0..rounds {
        let event = random.range_i64(0, it.machine.events().len() as i64 - 1) as u16;
        it.state.send_event(&it.machine, event, &mut it.sent);
        it.state.set_variable(&it.machine, 0, random.range_i64(-10, 70) as f32 / 10.0);
        it.state.set_variable(&it.machine, 1, random.range_i64(-12, 12) as f32 / 10.0);
        it.update(random.range_i64(0, 50) as f32 / 1000.0);
        let mut sum = 0.0;
        for sample in &it.output.samples {
            assert!(sample.weight > 0.0 && sample.weight <= 1.0 && sample.time >= 0.0);
            let clip = &it.clips[usize::from(sample.clip)];
            assert!(sample.time <= clip.seconds, "{sample:?}");
            sum += if sample.layer == 0 { sample.weight } else { 0.0 };
            hash.write_f32(sample.weight);
            hash.write_f32(sample.time);
        }
        let ragdolls: f32 = it.output.ragdolls.iter().map(|it| it.weight).sum();
        assert!((sum + ragdolls - 1.0).abs() < 1e-4, "{sum} and {ragdolls}");
        assert!(it.output.constraints.iter().all(|weight| (0.0..=1.0).contains(weight)));
        it.state.add_to_hash(&mut hash);
        hash.write_u64(it.sent.len() as u64);
        it.sent.clear();
    }
    hash.finish()
}

#[test]
fn ten_thousand_random_events_are_finite_and_deterministic() {
    let first = random_play(&mut wild(), 10_000, 1);
    assert_eq!(first, random_play(&mut wild(), 10_000, 1));
    assert_ne!(first, random_play(&mut wild(), 10_000, 2));
}

#[test]
fn updates_do_not_allocate_after_a_warm_up() {
    let mut it = wild();
    random_play(&mut it, 2_000, 3);
    // Vectors that do not grow keep their address and capacity.
    let memory = |it: &Character| {
        let output = &it.output;
        let capacities = [output.samples.capacity(), output.layers.capacity(), it.sent.capacity()];
        (output.samples.as_ptr(), output.constraints.as_ptr(), it.sent.as_ptr(), capacities)
    };
    let before = memory(&it);
    random_play(&mut it, 2_000, 4);
    assert_eq!(memory(&it), before);
}

#[test]
fn saved_states_continue_equally() {
    let mut it = wild();
    random_play(&mut it, 137, 5);
    let mut numbers = vec![];
    it.state.save(&mut numbers);
    let mut copy = wild();
    copy.state.load(&copy.machine, &numbers).unwrap();
    copy.state.set_seed(it.state.seed());
    for (index, value) in it.state.variables().to_vec().into_iter().enumerate() {
        copy.state.set_variable(&copy.machine, index as u16, value);
    }
    assert_eq!(random_play(&mut it, 500, 6), random_play(&mut copy, 500, 6));
    let before = copy.state.clone();
    for index in 0..numbers.len() {
        for bad in [f64::NAN, -1e9, 1e9, 0.5, 1.0, 3.0] {
            let mut changed = numbers.clone();
            changed[index] = bad;
            let mut other = wild();
            if other.state.load(&other.machine, &changed).is_ok() {
                random_play_unchecked(&mut other);
            }
        }
    }
    assert!(copy.state.load(&copy.machine, &numbers[1..]).is_err());
    assert_eq!(copy.state, before, "an error changes nothing");
    let longer = [&numbers[..], &[0.0]].concat();
    assert_eq!(copy.state.load(&copy.machine, &longer).unwrap(), [0.0], "of constraints");
}

fn random_play_unchecked(it: &mut Character) {
    for event in 0..it.machine.events().len() as u16 {
        it.state.send_event(&it.machine, event, &mut it.sent);
        it.update(0.05);
        assert!(it.output.samples.iter().all(|sample| sample.weight.is_finite()));
    }
}

#[test]
fn reload_keeps_state_time_and_variables_by_name() {
    let old = "variables = { speed = 1 lost = 2 } layers = [ { name = \"body\" states = {
        a = { clip = \"a\" on = { go = { to = \"b\" blend = 1 curve = \"linear\" } } }
        b = { clip = \"b\" } } } ]";
    let new = "variables = { fresh = 9 speed = { min = 0 max = 5 } } layers = [
        { name = \"first\" states = { z = { clip = \"z\" } } }
        { name = \"body\" states = { x = { clip = \"x\" }
            b = { clip = \"b\" } a = { clip = \"a\" } } } ]";
    let without =
        "layers = [ { name = \"body\" states = { x = { clip = \"x\" } a = { clip = \"a\" } } } ]";
    let mut it = Character::new(old, &[]);
    it.set("speed", 7.0);
    it.update(0.25);
    it.send("go");
    it.update(0.25);
    assert_eq!(it.shown(), "b: a@0.50*0.75 b@0.25*0.25");
    let mut other = Character::new(new, &[]);
    other.state = it.state.migrate(&it.machine, &other.machine);
    assert_eq!(other.state.variables(), [9.0, 5.0], "found by name, limited to the new range");
    other.update(0.25);
    assert_eq!(other.shown(), "z: z@0.25*1.00 a@0.75*0.50 b@0.50*0.50");
    // A state that no longer exists is replaced by the initial one.
    let mut other = Character::new(without, &[]);
    other.state = it.state.migrate(&it.machine, &other.machine);
    other.update(0.25);
    assert_eq!(other.shown(), "x: x@0.25*1.00");
    // A transition that waits goes on waiting.
    let mut it = Character::new(
        "layers = [ { name = \"body\" states = { a = { clip = \"a\"
            on = { go = { to = \"b\" blend = 0
            mode = \"wait_until_end\" } } } b = { clip = \"b\" } } } ]",
        &[],
    );
    it.update(0.5);
    it.send("go");
    let mut other = Character::new(new, &[]);
    other.state = it.state.migrate(&it.machine, &other.machine);
    other.update(0.25);
    assert_eq!(other.shown(), "z: z@0.25*1.00 a@0.75*1.00");
    other.update(0.5);
    assert_eq!(other.shown(), "z: z@0.75*1.00 b@0.25*1.00");
}

#[test]
fn reload_keeps_the_target_of_a_transition_without_its_source() {
    let old = |mode: &str| {
        format!(
            "layers = [ {{ name = \"body\" states = {{ a = {{ clip = \"a\" on = {{ go = {{
            to = \"b\" blend = 1 curve = \"linear\" mode = \"{mode}\" }} }} }}
            b = {{ clip = \"b\" }} }} }} ]"
        )
    };
    let new =
        "layers = [ { name = \"body\" states = { x = { clip = \"x\" } b = { clip = \"b\" } } } ]";
    for (mode, before, after) in [
        ("immediate", "b: a@0.50*0.75 b@0.25*0.25", "b: b@0.50*1.00"),
        ("wait_until_end", "b: a@0.50*1.00", "b: b@0.25*1.00"),
    ] {
        let mut it = Character::new(&old(mode), &[]);
        it.update(0.25);
        it.send("go");
        it.update(0.25);
        assert_eq!(it.shown(), before);
        let mut other = Character::new(new, &[]);
        other.state = it.state.migrate(&it.machine, &other.machine);
        other.update(0.25);
        assert_eq!(other.shown(), after, "{mode}");
    }
}
