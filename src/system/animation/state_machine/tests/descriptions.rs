//! Tests of the descriptions of state machines: their parts, and those without effect.

use super::*;

#[test]
fn the_summary_lists_states_that_nothing_reaches() {
    let machine = compiled(
        "events = [\"go\" \"stop\" \"dance\"]
         layers = [ { name = \"body\" states = {
            idle = { clip = \"idle\" on = { go = { to = \"walk\" mode = \"sync_percentage\" } } }
            walk = { clip = \"walk\" enter = \"began\" }
            lost = { clip = \"idle\" on = { stop = \"idle\" } } } } ]",
    );
    let summary = machine.summary();
    assert_eq!(summary.states.len(), 3);
    assert_eq!(
        (summary.states[1].kind, &summary.states[1].sends[0][..]),
        ("clip", "began on entering")
    );
    assert_eq!(summary.transitions.len(), 2);
    let TransitionSummary { from, to, mode, .. } = &summary.transitions[0];
    assert_eq!((&from[..], &to[..], *mode), ("idle", "walk", "sync_percentage"));
    let named = |name: &str| vec![("body".to_string(), name.to_string())];
    assert_eq!(summary.unreachable, named("lost"));
    assert_eq!(summary.dead_ends, named("walk"));
    assert_eq!(summary.unhandled_events, ["stop", "dance"]);
}

#[test]
fn the_description_lists_all_parts_and_those_without_effect() {
    let machine = compiled(
        "events = [\"go\" \"stop\"]
         variables = { speed = { value = 1 min = 0 max = 4 } spare = 0 }
         masks = { upper = { spine = 1 } lower = { hip = 1 } }
         constraints = { look = { type = \"aim\" bone = \"head\" } }
         layers = [ { name = \"body\" mask = \"upper\" states = {
            idle = { clip = \"idle\" speed = \"speed\" exit = { name = \"off\" sound = \"s/go\" }
                on = { go = { to = \"walk\" blend = 0.5 if = \"speed > 1\" priority = 2 } } }
            walk = { clip = \"walk\" on_end = \"idle\" }
            lost = { clip = \"idle\" } } } ]",
    );
    let wanted = "state machine units/orc of units/orc
1 layer, 3 states, 2 transitions, 2 events, 2 variables

Variables:
  speed = 1, 0 to 4
  spare = 0

Constraints:
  look: aim of head

Events:
  go: handled by idle
  stop: handled by no state
  off: sent by idle

Layer 'body', begins in 'idle', mask 'upper':
  idle: clip idle (line 6)
    speed speed
    sends off (sound s/go) on leaving
    on go -> walk, 0.5 s smooth, immediate, if speed > 1, priority 2
  walk: clip walk (line 8)
    plays once
    at its end -> idle, 0.2 s smooth, immediate
  lost: clip idle (line 9)

Without effect:
  state 'lost' of layer 'body' cannot be reached
  event 'stop' is handled by no state that can be reached
  variable 'spare': no expression reads it
  mask 'lower': no layer and no ragdoll has it
  constraint 'look': no layer and no state has it
";
    assert_eq!(machine.describe("units/orc"), wanted);
}

#[test]
fn the_description_has_weights_times_and_constraints() {
    let machine = compiled(
        "variables = { speed = 0 lean = 0 }
         masks = { upper = { spine = 1 } }
         constraints = { look = { type = \"aim\" bone = \"head\" }
             tail = { type = \"spring\" bones = [\"a\" \"b\"] } }
         layers = [ { weight = \"1 - lean\" constraints = \"tail\" states = {
            move = { blend = [ { clip = \"walk\" weight = \"match(speed, 2)\" }
                    { clip = \"run\" weight = \"match_range(speed, 4, 5)\" } ]
                speed = \"max(1, speed / 2)\" constraints = \"look\" loop = true
                events = [ { name = \"step\" at = 0.5 } ] }
            pick = { choice = [ { to = \"move\" if = \"speed > 1\" } { to = \"nod\" } ] }
            nod = { clip = \"nod\" additive = true weight = \"lean\" enter = \"begun\"
                events = [ { name = \"low\" time = 0.25 sound = \"s/nod\" } ] }
            slide = { clip = \"slide\" time = \"lean\" }
            all = { group = { states = { in = { clip = \"x\" speed = 2 } } }
                speed = \"lean\" enter = \"up\" exit = \"down\" }
            fall = { ragdoll = { mask = \"upper\" } } } } ]",
    );
    let wanted = "
Layer 'layer_1', begins in 'move', weight 1 - lean:
  constraints of all states: tail
  move: blend walk (weight match(speed, 2)), run (weight match_range(speed, 4, 5)) (line 6)
    speed max(1, speed / 2), repeats
    constraints look
    sends step at 0.5 of the length
  pick: choice move (if speed > 1), nod (line 10)
  nod: clip nod (weight lean) (line 11)
    additive
    sends begun on entering, low (sound s/nod) at 0.25 s
  slide: time slide (line 13)
    time lean
  all/in: clip x (line 14)
    speed (lean) * (2)
    sends up on entering the group 'all', down on leaving the group 'all'
  fall: ragdoll (line 16)
    mask 'upper'
";
    let text = machine.describe("units/orc");
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn blend_spaces_are_described_by_their_axes_and_points() {
    let machine = compiled(
        "variables = { speed = 0 turn = 0 part = 0 }
         layers = [ { states = {
            line = { blend_space = { x = \"speed * 2\" points = [ { clip = \"walk\" at = 2 }
                { clip = \"run\" at = 5.5 } ] } }
            plane = { time = \"part\" blend_space = { x = \"turn\" y = \"max(speed, 1)\" points = [
                { clip = \"left\" at = [-1 0] } { clip = \"right\" at = [1 0.5] } ] } } } } ]",
    );
    let text = machine.describe("units/orc");
    let line = "  line: blend_space walk at 2, run at 5.5 (line 3)\n    x = speed * 2\n";
    let plane = "  plane: blend_space left at [-1, 0], right at [1, 0.5] (line 5)\n    \
                 x = turn, y = max(speed, 1), time part\n";
    assert!(text.contains(line) && text.contains(plane), "{text}");
    assert_eq!(read_state_machine(&machine.write()).unwrap(), machine);
}

#[test]
fn events_are_listed_with_the_states_that_send_and_handle_them() {
    let many: String =
        (0..10).map(|it| format!("s{it} = {{ clip = \"c\" enter = \"m\" }}")).collect();
    let machine = compiled(&format!(
        "layers = [ {{ states = {{
            a = {{ clip = \"a\" enter = [\"fell\"] on = {{ fell = \"b\" }}
                events = [ {{ name = \"step\" time = 0 }} {{ name = \"step\" time = 0.5 }} ] }}
            b = {{ clip = \"b\" exit = [\"falen\" {{ name = \"step\" sound = \"s\" }}] }}
            g = {{ group = {{ states = {{ x = {{ clip = \"a\" }} }} }} enter = \"began\" }}
            {many} }} }} ]"
    ));
    let wanted = "
Events:
  fell: handled by a, sent by a
  began: sent by g
  step: sent by a, b
  falen: sent by b
  m: sent by s0, s1, s2, s3, s4, s5, s6, s7 and 2 more
";
    let text = machine.describe("units/orc");
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn transitions_that_no_state_takes_are_findings() {
    let machine = compiled(
        "variables = { speed = 0 ragdoll_face_up = 0 }
         layers = [ { states = {
            a = { clip = \"a\" on = { go = { to = \"b\" if = \"0\" }
                stop = [ { to = \"b\" if = \"speed\" } { to = \"c\" if = \"1\" }
                    { to = \"b\" }
                    { to = \"c\" priority = 2 if = \"speed > 1\" } ] } }
            b = { clip = \"b\" speed = \"0\" on_end = \"a\" }
            c = { group = {
                    states = { x = { clip = \"c\" on = { leave = \"y\" } }
                        y = { clip = \"c\" on = { to_x = \"x\" } } }
                } on = { leave = \"a\" } }
        } any = { up = { to = \"a\" if = \"false\" } } } ]",
    );
    let text = machine.describe("units/orc");
    let (_, findings) = text.split_once("Without effect:\n").unwrap();
    let never = "is never taken";
    let wanted = [
        (3, format!("the transition on 'go' to 'b' {never}: its 'if' is always 0")),
        (
            5,
            format!(
                "the transition on 'stop' to 'b' {never}: the one to 'c/x' (line 4) is always \
                 taken before it"
            ),
        ),
        (
            7,
            format!(
                "the transition at the end to 'a' {never}: the speed of state 'b' is always 0, so \
                 that only animations without length end"
            ),
        ),
        (12, format!("the transition on 'up' to 'a' {never}: its 'if' is always 0")),
    ];
    let lines = wanted.iter().map(|(line, text)| format!("  {text} (line {line})\n"));
    let lines: String = lines.collect();
    assert_eq!(findings, lines, "and no variable that the engine sets, no transition of a group");
    assert_eq!(machine.dead_parts(), wanted);
}

#[test]
fn dead_parts_are_states_and_transitions_without_effect() {
    let dead = |states: &str| {
        let machine = compiled(&format!(
            "variables = {{ speed = 0 }}
             groups = {{ g = {{ states = {{ x = {{ clip = \"a\" }}
                y = {{ clip = \"a\" }} }} }} }}
             layers = [ {{ states = {{ {states} }} }} ]"
        ));
        let parts = machine.dead_parts().into_iter();
        parts.map(|(line, text)| format!("{line}: {text}")).collect::<Vec<_>>()
    };
    let same = "a = { clip = \"a\" on = { go = [ { to = \"b\" if = \"speed > 1\" }
        { to = \"c\" if = \"speed > 1\" }
        { to = \"c\" if = \"speed > 2\" } ] } }
        b = { clip = \"b\" } c = { clip = \"c\" on = { end = \"d\" } } d = { clip = \"a\" }";
    let wanted = "5: the transition on 'go' to 'c' is never taken: the one to 'b' (line 4) has the \
                  same 'if', and is taken before it";
    assert_eq!(dead(same), [wanted]);
    // A state of a group counts once, also if several states contain the group.
    let groups = |target: &str| {
        format!(
            "a = {{ clip = \"a\" on = {{ go = \"b/x\" turn = \"{target}\" }} }}
             b = {{ group = \"g\" }} c = {{ group = \"g\" on = {{ back = \"a\" }} }}"
        )
    };
    assert!(dead(&groups("c/y")).is_empty());
    let wanted = ["3: state 'b/y' cannot be reached: no transition leads to it"];
    assert_eq!(dead(&groups("c/x")), wanted);
}

#[test]
fn higher_layers_list_the_bones_they_replace() {
    let machine = compiled(
        "masks = { top = { Head = 1 } }
         layers = [ { states = { a = { clip = \"a\" } } } { states = { b = { clip = \"a\" } } }
            { mask = \"top\" states = { c = { clip = \"a\" } } } ]",
    );
    let text = machine.describe("units/orc");
    for line in ["'layer_1', begins in 'a':", "'layer_2', begins in 'b', all bones:"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.contains("'layer_3', begins in 'c', mask 'top':"), "{text}");
}
