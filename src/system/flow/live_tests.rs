//! Tests of the answers to tools that watch an instance.

use super::tests::Game;
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
