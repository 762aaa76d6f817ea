//! Tests of transitions: modes, priorities, interruption, groups, choices, ends.

use super::*;

/// Two states of a second each, with a transition of these properties from `a` to `b`.
fn pair(properties: &str, clips: &[(&str, ClipInfo)]) -> Character {
    let blend = if properties.contains("blend") { "" } else { "blend = 0" };
    let text = format!(
        "layers = [ {{ states = {{
            a = {{ clip = \"a\" on = {{ go = {{ to = \"b\" {blend} {properties} }} }} }}
            b = {{ clip = \"b\" on = {{ back = {{ to = \"a\" blend = 0 }} }} }} }} }} ]"
    );
    Character::new(&text, clips)
}

fn with_beats(seconds: f32, loops: bool, beats: &[f32]) -> ClipInfo {
    ClipInfo { beats: beats.to_vec(), ..clip(seconds, loops) }
}

#[test]
fn the_state_changes_at_once_and_the_pose_cross_fades() {
    let mut it = pair("blend = 1 curve = \"linear\"", &[]);
    it.update(0.25);
    assert_eq!(it.shown(), "a: a@0.25*1.00");
    assert!(it.send("go"));
    assert_eq!(it.info().state, "b");
    it.update(0.25);
    assert_eq!(it.shown(), "b: a@0.50*0.75 b@0.25*0.25");
    assert_eq!(it.info().transition, Some(("a", 0.25)));
    it.update(0.5);
    assert_eq!(it.shown(), "b: a@0.00*0.25 b@0.75*0.75");
    it.update(0.25);
    assert_eq!(it.shown(), "b: b@0.00*1.00");
    assert_eq!(it.info().transition, None);
    assert!(!it.send("go"), "b has no transition for it");
}

#[test]
fn curves_shape_the_cross_fade() {
    for (curve, wanted) in
        [("linear", "0.25"), ("smooth", "0.16"), ("ease_in", "0.06"), ("ease_out", "0.44")]
    {
        let mut it = pair(&format!("blend = 1 curve = \"{curve}\""), &[]);
        it.send("go");
        it.update(0.25);
        let shown = it.shown();
        assert!(shown.ends_with(&format!("b@0.25*{wanted}")), "{curve}: {shown}");
    }
}

#[test]
fn waiting_for_the_end_starts_the_pose_at_the_end() {
    for loops in [true, false] {
        let mut it = pair("mode = \"wait_until_end\"", &[("a", clip(1.0, loops))]);
        it.update(0.5);
        it.send("go");
        it.update(0.4);
        assert_eq!(it.shown(), "b: a@0.90*1.00", "the state is b, the pose waits");
        assert!(it.info().waits);
        it.update(0.3);
        assert_eq!(it.shown(), "b: b@0.20*1.00", "the time after the end counts");
    }
}

#[test]
fn a_clip_that_does_not_move_is_not_waited_for() {
    let mut it = Character::new(
        "variables = { v = 1 } layers = [ { states = {
            a = { clip = \"a\" speed = \"v\" on = {
                go = { to = \"b\" blend = 0 mode = \"wait_until_end\" } } }
            b = { clip = \"b\" } } } ]",
        &[],
    );
    it.update(0.5);
    it.send("go");
    it.update(0.25);
    assert_eq!(it.shown(), "b: a@0.75*1.00");
    it.set("v", 0.0);
    it.update(0.0);
    it.update(0.25);
    assert_eq!(it.shown(), "b: b@0.25*1.00");
}

#[test]
fn beats_synchronize_the_next_state() {
    let walk = with_beats(1.0, true, &[0.1, 0.6]);
    let run = with_beats(2.0, true, &[0.4, 1.4]);
    let clips = [("a", walk), ("b", run)];
    let mut it = pair("mode = \"sync_beat_closest\"", &clips);
    it.update(0.35);
    it.send("go");
    it.update(0.0);
    // Half of the interval between the beats, in both clips.
    assert_eq!(it.shown(), "b: b@0.90*1.00");
    let mut it = pair("mode = \"sync_beat_closest\"", &clips);
    it.update(0.85);
    it.send("go");
    it.update(0.0);
    assert_eq!(it.shown(), "b: b@1.90*1.00", "the second interval is nearer");

    let mut it = pair("mode = \"sync_beat_wait\"", &clips);
    it.update(0.35);
    it.send("go");
    it.update(0.2);
    assert_eq!(it.shown(), "b: a@0.55*1.00");
    it.update(0.15);
    assert_eq!(it.shown(), "b: b@0.50*1.00", "first beat at 0.4, after 0.1 of the step");
}

#[test]
fn clips_without_beats_do_not_wait() {
    let mut it = pair("mode = \"sync_beat_wait\"", &[]);
    it.update(0.25);
    it.send("go");
    it.update(0.25);
    assert_eq!(it.shown(), "b: b@0.25*1.00");
    let mut it = pair("mode = \"sync_beat_closest\"", &[]);
    it.update(0.25);
    it.send("go");
    it.update(0.0);
    assert_eq!(it.shown(), "b: b@0.25*1.00");
    // A clip that does not repeat has no beat after its last one: its end counts.
    let mut it = pair("mode = \"sync_beat_wait\"", &[("a", with_beats(1.0, false, &[0.1]))]);
    it.update(0.5);
    it.send("go");
    it.update(0.25);
    assert_eq!(it.shown(), "b: a@0.75*1.00");
    it.update(0.5);
    assert_eq!(it.shown(), "b: b@0.25*1.00");
}

#[test]
fn percentages_synchronize_the_next_state() {
    let clips = [("b", clip(4.0, true))];
    let mut it = pair("mode = \"sync_percentage\"", &clips);
    it.update(0.25);
    it.send("go");
    it.update(0.0);
    assert_eq!(it.shown(), "b: b@1.00*1.00");
    let mut it = pair("mode = \"sync_inverse_percentage\"", &clips);
    it.update(0.25);
    it.send("go");
    it.update(0.0);
    assert_eq!(it.shown(), "b: b@3.00*1.00");
}

#[test]
fn self_transitions_cross_fade() {
    let mut it = Character::new(
        "layers = [ { states = { a = { clip = \"a\" on = {
            again = { to = \"a\" blend = 0.5 curve = \"linear\" } } } } } ]",
        &[],
    );
    it.update(0.5);
    assert!(it.send("again"));
    it.update(0.25);
    assert_eq!(it.shown(), "a: a@0.75*0.50 a@0.25*0.50");
    let [old, new] = it.output.samples[..] else { panic!() };
    assert_ne!(old.track, new.track, "each has its player");
}

#[test]
fn wildcards_and_priorities_select_the_transition() {
    let text = "layers = [ { any = { hit = { to = \"any\" } fall = { to = \"any\" priority = 1 }
            again = { to = \"any\" to_self = false } }
        states = {
            a = { clip = \"a\" on = { hit = \"own\" fall = \"own\" } }
            own = { clip = \"own\" }
            any = { clip = \"any\" } } } ]";
    let mut it = Character::new(text, &[]);
    it.send("hit");
    assert_eq!(it.info().state, "own", "a transition of the state comes first");
    it.send("hit");
    assert_eq!(it.info().state, "any");
    assert!(!it.send("again"), "it does not lead to itself");
    assert!(it.send("hit"), "others do");
    let mut it = Character::new(text, &[]);
    it.send("fall");
    assert_eq!(it.info().state, "any", "a higher priority comes first");
}

#[test]
fn conditions_select_the_transition() {
    let mut it = Character::new(
        "variables = { speed = { max = 9 min = 0 } } layers = [ { states = {
            a = { clip = \"a\" on = { go = [ { to = \"fast\" if = \"speed > 3\" }
                                            { to = \"slow\" if = \"speed > 1\" } ] } }
            fast = { clip = \"f\" } slow = { clip = \"s\" } } } ]",
        &[],
    );
    assert!(!it.send("go"), "no condition holds");
    it.set("speed", 2.0);
    assert!(it.send("go"));
    assert_eq!(it.info().state, "slow");
}

#[test]
fn running_transitions_obey_their_interruption_rule() {
    let text = |rule: &str| {
        format!(
            "layers = [ {{ any = {{ low = {{ to = \"c\" }} high = {{ to = \"c\" priority = 2 }} }}
            states = {{ a = {{ clip = \"a\" on = {{
                go = {{ to = \"b\" blend = 0.5 priority = 1 {rule} }} }} }}
            b = {{ clip = \"b\" }} c = {{ clip = \"c\" }} }} }} ]"
        )
    };
    for (rule, low, high) in [
        ("", true, true),
        ("interrupt = \"higher\"", false, true),
        ("interrupt = \"never\"", false, false),
    ] {
        for waits in [false, true] {
            let mode = if waits { "mode = \"wait_until_end\"" } else { "" };
            for (event, wanted) in [("low", low), ("high", high)] {
                let mut it = Character::new(&text(&format!("{rule} {mode}")), &[]);
                it.update(0.1);
                it.send("go");
                it.update(0.1);
                assert_eq!(it.send(event), wanted, "{rule} {mode} {event}");
                it.update(2.0);
                it.update(0.5);
                assert!(it.send("low"), "after its end, each transition can begin");
            }
        }
    }
}

#[test]
fn interrupted_cross_fades_keep_the_weights() {
    let mut it = Character::new(
        "layers = [ { any = {
            a = { to = \"a\" blend = 1 curve = \"linear\" }
            b = { to = \"b\" blend = 1 curve = \"linear\" }
            c = { to = \"c\" blend = 1 curve = \"linear\" } }
        states = { a = { clip = \"a\" } b = { clip = \"b\" } c = { clip = \"c\" } } } ]",
        &[],
    );
    it.update(0.0);
    it.send("b");
    it.update(0.5);
    it.send("c");
    it.update(0.0);
    assert_eq!(it.shown(), "c: a@0.50*0.50 b@0.50*0.50", "the pose does not jump");
    it.update(0.25);
    assert_eq!(it.shown(), "c: a@0.75*0.19 b@0.75*0.56 c@0.25*0.25");
    let mut before = weights(&it);
    for round in 0..60 {
        it.send(["a", "b", "c"][round % 3]);
        it.update(0.01);
        let after = weights(&it);
        let sum: f32 = after.iter().sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        for (before, after) in before.iter().zip(after) {
            assert!((before - after).abs() < 0.05, "{before} to {after} in round {round}");
        }
        before = after;
    }
}

/// Sums of the weights of the clips a, b and c.
fn weights(it: &Character) -> [f32; 3] {
    let mut sums = [0.0; 3];
    for sample in &it.output.samples {
        sums[usize::from(sample.clip)] += sample.weight;
    }
    sums
}

#[test]
fn states_that_end_continue_by_themselves() {
    let mut it = Character::new(
        "layers = [ { states = {
            jump = { clip = \"jump\" on_end = { to = \"land\" blend = 0.5 curve = \"linear\" } }
            land = { clip = \"land\" on_end = \"idle\" }
            idle = { clip = \"idle\" } } } ]",
        &[("land", clip(0.5, false))],
    );
    it.update(0.9);
    assert_eq!(it.shown(), "jump: jump@0.90*1.00");
    it.update(0.2);
    assert_eq!(it.shown(), "land: jump@1.00*0.80 land@0.10*0.20");
    // The rest of the jump, and the whole landing, in one step.
    it.update(3.0);
    assert_eq!(it.info().state, "idle");
    it.update(0.5);
    assert_eq!(it.shown(), "idle: idle@0.10*1.00");
}

#[test]
fn poses_that_lead_to_each_other_do_not_hang() {
    let mut it = Character::new(
        "layers = [ { states = {
            a = { clip = \"a\" on_end = { to = \"b\" blend = 0 } }
            b = { clip = \"b\" on_end = { to = \"a\" blend = 0 } } } } ]",
        &[("a", clip(0.0, false)), ("b", clip(0.0, false))],
    );
    for _ in 0..10 {
        it.update(0.1);
        assert_eq!(it.output.samples.len(), 1);
    }
}

#[test]
fn groups_are_entered_left_and_inherited() {
    let mut it = Character::new(
        "variables = { haste = { value = 2 min = 0 max = 9 } }
        layers = [ { states = {
            calm = { clip = \"calm\" exit = \"calm_out\"
                on = { fight = \"fight\" deep = \"fight/swing\" } }
            fight = { enter = \"fight_in\" exit = \"fight_out\" speed = \"haste\" on_end = \"calm\"
                on = { peace = { to = \"calm\" blend = 0 } }
                group = { initial = \"ready\" states = {
                    ready = { clip = \"ready\" enter = \"ready_in\" exit = \"ready_out\"
                        on = { swing = { to = \"swing\" blend = 0 } } }
                    swing = { clip = \"swing\" loop = false speed = 0.5 } } } } } } ]",
        &[],
    );
    it.update(0.0);
    assert!(it.send("fight"));
    assert_eq!(it.info().state, "fight/ready");
    assert_eq!(it.sent(), ["calm_out", "fight_in", "ready_in"]);
    it.update(0.25);
    assert_eq!(it.output.samples.last().unwrap().time, 0.5, "the speed of the group counts");
    assert!(it.send("swing"));
    assert_eq!(it.sent(), ["ready_out"], "the group is not left");
    it.update(0.5);
    assert_eq!(it.shown(), "fight/swing: swing@0.50*1.00", "speeds are multiplied");
    it.update(0.6);
    assert_eq!(it.info().state, "calm", "the end of a state is that of the group");
    assert_eq!(it.sent(), ["fight_out"]);
    assert!(it.send("deep"));
    assert_eq!(it.info().state, "fight/swing");
    assert!(it.send("peace"), "a transition of the group leaves each of its states");
}

#[test]
fn choices_lead_to_other_states() {
    let mut it = Character::new(
        "variables = { speed = { min = 0 max = 9 } } layers = [ { initial = \"start\" states = {
            start = { choice = [ { to = \"fast\" if = \"speed > 3\" } { to = \"dice\" } ] }
            dice = { random = [ { to = \"one\" weight = 0 } { to = \"two\" weight = 1 } ] }
            one = { clip = \"one\" } two = { clip = \"two\" on = { go = \"start\" } }
            fast = { clip = \"fast\" } } } ]",
        &[],
    );
    assert_eq!(it.info().state, "two");
    it.set("speed", 5.0);
    assert!(it.send("go"));
    assert_eq!(it.info().state, "fast");
}

#[test]
fn random_clips_follow_their_weights_and_the_seed() {
    let text = "layers = [ { states = { idle = {
        random = [ { clip = \"a\" weight = 1 } { clip = \"b\" weight = 3 } ]
        on = { again = { to = \"idle\" blend = 0 } } } } } ]";
    let play = |seed: u32| -> Vec<u16> {
        let mut it = Character::new(text, &[]);
        it.state.set_seed(seed);
        let mut chosen = vec![];
        for _ in 0..400 {
            it.send("again");
            it.update(0.1);
            assert_eq!(it.output.samples.len(), 1);
            chosen.push(it.output.samples[0].clip);
        }
        chosen
    };
    let chosen = play(5);
    assert_eq!(chosen, play(5), "the same seed gives the same choices");
    assert_ne!(chosen, play(6));
    let second = chosen.iter().filter(|clip| **clip == 1).count();
    assert!((270..330).contains(&second), "{second} of 400");
}
