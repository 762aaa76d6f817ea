//! Tests of the answers to tools that watch an instance.

use super::tests::{Game, compiled, native};
use super::*;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

#[test]
fn answers_to_tools_have_only_changes() {
    let mut game = Game::new(
        "variables = { x = { type = \"number\" } t = { type = \"text\" value = \"hm\" } }\n\
         nodes = { go = { type = \"event.custom\" name = \"go\" } \
         a = { type = \"variable.add\" variable = \"x\" } \
         f = { type = \"flow.for\" inputs = { last = 3 } } l = { type = \"test.log\" } }\n\
         events = { \"go.out > a.in\" = true \"a.out > f.in\" = true \"f.body > l.in\" = true }",
    );
    let ask = |game: &mut Game, event: u64, values: u64| {
        let entries = game.flow.live(game.id, LiveKnown { event, values }, 1.0).unwrap();
        SjsonTree::Object(entries)
    };
    let text = |tree: &SjsonTree, name: &str| json::write(tree.get(name).unwrap());
    let first = ask(&mut game, 0, 0);
    assert!(text(&first, "values").contains("\"variable x\":\"0\""), "{first:?}");
    game.event("go");
    let revision: u64 = text(&first, "revision").parse().unwrap();
    let next = ask(&mut game, 0, revision);
    // Each wire is named once, however many events came along it.
    assert_eq!(
        text(&next, "wires"),
        "[[\"\",\"\",\"go\",\"\"],[\"go\",\"out\",\"a\",\"in\"],[\"a\",\"out\",\"f\",\"in\"],\
         [\"f\",\"body\",\"l\",\"in\"]]"
    );
    let events = text(&next, "events");
    assert!(events.starts_with("[[1,0,0],[2,0,1],[3,0,2],[4,0,3]"), "{events}");
    let counts = text(&next, "counts");
    assert!(counts.contains("\"f\":1") && counts.contains("\"l\":3"), "{counts}");
    let values = text(&next, "values");
    assert!(values.contains("\"variable x\":\"1\""), "{values}");
    let sequence = game.flow.trace(game.id, 1.0).unwrap().sequence;
    // Texts can change behind an equal reference, so they are sent again.
    let idle = ask(&mut game, sequence, revision + 1);
    for (name, empty) in [("events", "[]"), ("wires", "[]"), ("counts", "{}")] {
        assert_eq!(text(&idle, name), empty);
    }
    assert_eq!(text(&idle, "values"), "{\"variable t\":\"hm\"}");
    // Another tool has another revision, and gets all values; so do those of an old recording.
    let other = ask(&mut game, sequence + 100, revision + 1);
    assert!(text(&other, "values").contains("variable x"), "{other:?}");
    assert!(text(&other, "counts").contains("\"go\":1"), "{other:?}");
}

#[test]
fn the_last_events_of_an_ended_instance_are_answered() {
    let mut game = Game::new(
        "variables = { x = { type = \"number\" } }\n\
         nodes = { go = { type = \"event.custom\" name = \"go\" } \
         a = { type = \"variable.add\" variable = \"x\" } }\n\
         events = { \"go.out > a.in\" = true }",
    );
    let ask = |game: &mut Game, event: u64| {
        let known = LiveKnown { event, values: 0 };
        game.flow.live(game.id, known, 1.0).map(SjsonTree::Object)
    };
    let text = |tree: &SjsonTree, name: &str| json::write(tree.get(name).unwrap());
    assert_eq!(text(&ask(&mut game, 0).unwrap(), "ended"), "false");
    game.event("go");
    game.flow.destroy(game.id);
    for _ in 0..2 {
        let last = ask(&mut game, 0).unwrap();
        assert_eq!((text(&last, "ended"), text(&last, "sequence")), ("true".into(), "2".into()));
        assert_eq!(text(&last, "values").matches("\"variable x\":\"1\"").count(), 1);
        assert_eq!(text(&last, "counts"), "{\"a\":1,\"go\":1}");
    }
    // Nothing is kept for long, and nothing of instances that nobody watched.
    game.flow.end_old_traces(4.0, 2.0);
    assert!(ask(&mut game, 0).is_none());
    let other = game.spawn();
    game.flow.destroy(other);
    assert!(game.flow.live(other, LiveKnown::default(), 4.0).is_none());
}

#[test]
fn events_right_after_a_reload_are_recorded() {
    let text = |more: &str| {
        format!("nodes = {{ go = {{ type = \"event.custom\" name = \"go\" }} {more} }}")
    };
    let mut game = Game::new(&text(""));
    game.flow.live(game.id, LiveKnown::default(), 1.0).unwrap();
    game.event("go");
    let program = compiled(&text("l = { type = \"test.log\" }"), &[]).unwrap();
    game.flow.replace_program(game.program, program, &native);
    game.event("go");
    game.flow.destroy(game.id);
    let last = game.flow.live(game.id, LiveKnown::default(), 1.0);
    let last = SjsonTree::Object(last.unwrap());
    assert_eq!(json::write(last.get("counts").unwrap()), "{\"go\":1}");
    assert_eq!(json::write(last.get("ended").unwrap()), "true");
}
