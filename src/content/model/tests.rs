//! Tests of the data model: operations and their inverses, undo, replicas, integrity, SJSON.

use super::history::UNDO_OPERATIONS_MAX;
use super::*;
use engine_foundation::json;
use engine_foundation::sjson::parse;

fn guid(number: u64) -> Guid {
    Guid([7, number])
}

fn set(model: &mut Model, object: Guid, key: &str, value: Value) -> Operation {
    let key = model.key(key).unwrap();
    model.apply(Operation { object, key, change: Change::Set(value) })
}

fn add(model: &mut Model, object: Guid, key: &str, member: Guid) -> Operation {
    let key = model.key(key).unwrap();
    model.apply(Operation { object, key, change: Change::Add(member) })
}

#[test]
fn a_guid_has_a_text() {
    assert_eq!(Guid::ROOT.to_string(), "00000000-0000-0000-0000-000000000000");
    let one = Guid([0x0123_4567_89ab_cdef, 0x0123_4567_89ab_cdef]);
    assert_eq!(one.to_string(), "01234567-89ab-cdef-0123-456789abcdef");
    assert_eq!(Guid::parse(&one.to_string()), Some(one));
    for wrong in
        ["", "0", "01234567-89ab-cdef-0123-456789abcde", "+1234567-89ab-cdef-0123-4567", "é"]
    {
        assert_eq!(Guid::parse(wrong), None, "{wrong}");
    }
    assert_ne!(one.of_part("a"), one.of_part("b"));
    assert_ne!(one.of_part("a"), Guid::ROOT.of_part("a"));
}

#[test]
fn operations_change_values_and_their_inverses_restore_them() {
    let mut model = Model::new();
    let inverse = set(&mut model, Guid::ROOT, "name", Value::String("hall".into()));
    assert_eq!(*model.value_of(Guid::ROOT, "name"), Value::String("hall".into()));
    model.apply(inverse);
    assert_eq!(*model.value_of(Guid::ROOT, "name"), Value::Null);
    assert!(model.is_empty(), "an object without keys does not exist");

    add(&mut model, Guid::ROOT, "units", guid(1));
    let inverse = add(&mut model, Guid::ROOT, "units", guid(2));
    let both = Value::Set(Box::new(GuidSet::from_iter([guid(1), guid(2)])));
    assert_eq!(*model.value_of(Guid::ROOT, "units"), both);
    // A member that is there already: neither the operation nor its inverse changes anything.
    let again = add(&mut model, Guid::ROOT, "units", guid(1));
    model.apply(again);
    assert_eq!(*model.value_of(Guid::ROOT, "units"), both);
    model.apply(inverse);
    assert_eq!(
        *model.value_of(Guid::ROOT, "units"),
        Value::Set(Box::new(GuidSet::from_iter([guid(1)])))
    );
    // A value that is no set is replaced, and comes back.
    set(&mut model, Guid::ROOT, "n", Value::Number(1.0));
    let inverse = add(&mut model, Guid::ROOT, "n", guid(1));
    assert_eq!(
        *model.value_of(Guid::ROOT, "n"),
        Value::Set(Box::new(GuidSet::from_iter([guid(1)])))
    );
    model.apply(inverse);
    assert_eq!(*model.value_of(Guid::ROOT, "n"), Value::Number(1.0));
    // The last member leaves no empty set.
    let key = model.key("units").unwrap();
    let change = Change::Remove(guid(1));
    model.apply(Operation { object: Guid::ROOT, key, change });
    assert_eq!(*model.value_of(Guid::ROOT, "units"), Value::Null);
}

#[test]
fn steps_are_undone_and_done_again() {
    let mut model = Model::new();
    let key = model.key("x").unwrap();
    let operation = |number: f64| Operation {
        object: Guid::ROOT,
        key,
        change: Change::Set(Value::Number(number)),
    };
    let mut history = History::default();
    history.begin();
    history.apply(&mut model, operation(1.0));
    history.apply(&mut model, operation(2.0));
    history.begin();
    history.apply(&mut model, operation(3.0));
    assert_eq!(history.len(), 2);
    assert_eq!(history.undo(&mut model).unwrap().len(), 1);
    assert_eq!(*model.value(Guid::ROOT, key), Value::Number(2.0));
    assert_eq!(history.undo(&mut model).unwrap().len(), 2);
    assert!(model.is_empty() && history.is_empty());
    assert!(history.undo(&mut model).is_none());
    history.redo(&mut model);
    history.redo(&mut model);
    assert_eq!(*model.value(Guid::ROOT, key), Value::Number(3.0));
    history.undo(&mut model);
    // A new step forgets those that were undone.
    history.begin();
    history.apply(&mut model, operation(9.0));
    assert!(history.redo(&mut model).is_none());
}

#[test]
fn a_history_that_is_too_long_forgets_its_older_half() {
    let mut model = Model::new();
    let key = model.key("x").unwrap();
    let mut history = History::default();
    for at in 0..UNDO_OPERATIONS_MAX + 2 {
        history.begin();
        let change = Change::Set(Value::Number((at + 1) as f64));
        history.apply(&mut model, Operation { object: Guid::ROOT, key, change });
    }
    let steps = history.len();
    assert!(steps < UNDO_OPERATIONS_MAX / 2 + 10 && steps > UNDO_OPERATIONS_MAX / 2 - 10);
    while history.undo(&mut model).is_some() {}
    assert_eq!(
        *model.value(Guid::ROOT, key),
        Value::Number((UNDO_OPERATIONS_MAX + 2 - steps) as f64)
    );
}

#[test]
fn dangling_references_and_garbage_are_found() {
    let mut model = Model::new();
    set(&mut model, Guid::ROOT, "level", Value::Reference(guid(1)));
    set(&mut model, guid(1), "name", Value::String("hall".into()));
    add(&mut model, guid(1), "units", guid(2));
    // In a ring, and out of reach.
    set(&mut model, guid(8), "other", Value::Reference(guid(9)));
    set(&mut model, guid(9), "other", Value::Reference(guid(8)));
    let found = model.integrity();
    assert_eq!(found.garbage, [guid(8), guid(9)]);
    assert_eq!(found.dangling.len(), 1);
    assert_eq!((found.dangling[0].object, found.dangling[0].to), (guid(1), guid(2)));
    for operation in model.removal(&found.garbage) {
        model.apply(operation);
    }
    set(&mut model, guid(2), "unit", Value::String("units/box".into()));
    assert_eq!(model.integrity(), Integrity::default());
}

#[test]
fn some_local_operations_are_committed_and_others_kept() {
    let mut replica = Replica::new(1, Model::new());
    let key = replica.keys().key("x").unwrap();
    let other = replica.keys().key("y").unwrap();
    let set = |key, number: f64| Operation {
        object: Guid::ROOT,
        key,
        change: Change::Set(Value::Number(number)),
    };
    let first = replica.change(set(key, 1.0));
    replica.change(set(other, 2.0));
    let sent = replica.commit(|number| number == first);
    assert_eq!(sent.len(), 1);
    assert_eq!(replica.local().count(), 1);
    // Somebody else was earlier: the own operation is later, and wins.
    let earlier = Committed { author: 2, number: 1, operation: set(key, 5.0) };
    replica.receive([earlier]);
    assert_eq!(*replica.model().value(Guid::ROOT, key), Value::Number(1.0));
    replica.receive(sent);
    assert_eq!(*replica.model().value(Guid::ROOT, key), Value::Number(1.0));
    // A later change overwrites.
    replica.receive([Committed { author: 2, number: 2, operation: set(key, 6.0) }]);
    assert_eq!(*replica.model().value(Guid::ROOT, key), Value::Number(6.0));
    replica.revert();
    assert_eq!(*replica.model().value(Guid::ROOT, other), Value::Null);
    assert_eq!(*replica.model().value(Guid::ROOT, key), Value::Number(6.0));
}

#[test]
fn operations_are_written_and_read_as_json() {
    let mut model = Model::new();
    let key = model.key("k").unwrap();
    let of = |change| Operation { object: guid(3), key, change };
    let id = "00000000-0000-0007-0000-000000000003";
    for (operation, wanted) in [
        (of(Change::Set(Value::Null)), format!("[\"change_key\",\"{id}\",\"k\",null]")),
        (of(Change::Set(Value::Number(1.5))), format!("[\"change_key\",\"{id}\",\"k\",1.5]")),
        (
            of(Change::Set(Value::Blob(b"foo"[..].into()))),
            format!("[\"change_key\",\"{id}\",\"k\",{{\"blob\":\"Zm9v\"}}]"),
        ),
        (
            of(Change::Set(Value::Reference(guid(3)))),
            format!("[\"change_key\",\"{id}\",\"k\",{{\"reference\":\"{id}\"}}]"),
        ),
        (
            of(Change::Set(Value::Set(Box::new(GuidSet::from_iter([guid(3)]))))),
            format!("[\"change_key\",\"{id}\",\"k\",{{\"set\":[\"{id}\"]}}]"),
        ),
        (of(Change::Add(guid(3))), format!("[\"add_to_set\",\"{id}\",\"k\",\"{id}\"]")),
        (of(Change::Remove(guid(3))), format!("[\"remove_from_set\",\"{id}\",\"k\",\"{id}\"]")),
    ] {
        let tree = operation_to_tree(&model, &operation);
        assert_eq!(json::write(&tree), wanted);
        assert_eq!(operation_from_tree(&mut model, &tree).unwrap(), operation);
    }
    let mut refused = |text: &str, wanted: &str| {
        let tree = json::read(text).unwrap();
        let message = operation_from_tree(&mut model, &tree).unwrap_err();
        assert!(message.contains(wanted), "{text}: {message}");
    };
    refused("{}", "an operation is [name, GUID, key, value]");
    refused("[\"change_key\"]", "an operation is");
    refused(&format!("[\"burn\",\"{id}\",\"k\",1]"), "there is no operation 'burn'");
    refused("[\"change_key\",\"x\",\"k\",1]", "'x' is not a GUID");
    refused("[\"change_key\",1,\"k\",1]", "a GUID is a text");
    refused(&format!("[\"change_key\",\"{id}\",\"k\",[1]]"), "a value is no list");
    refused(&format!("[\"change_key\",\"{id}\",\"k\",{{\"blob\":\"%\"}}]"), "base64");
    refused(&format!("[\"change_key\",\"{id}\",\"k\",{{\"a\":1}}]"), "one of reference, blob, set");
    let long = "k".repeat(KEY_BYTES_MAX + 1);
    refused(&format!("[\"change_key\",\"{id}\",\"{long}\",1]"), "KEY_BYTES_MAX");
}

#[test]
fn models_differ_by_operations() {
    let (mut from, mut to) = (Model::new(), Model::new());
    set(&mut from, guid(1), "a", Value::Number(1.0));
    set(&mut from, guid(1), "b", Value::Number(1.0));
    add(&mut from, guid(1), "s", guid(5));
    set(&mut to, guid(1), "b", Value::Number(2.0));
    add(&mut to, guid(1), "s", guid(5));
    add(&mut to, guid(1), "s", guid(6));
    set(&mut to, guid(2), "new", Value::Bool(true));
    let operations = from.difference(&to).unwrap();
    assert_eq!(operations.len(), 4);
    for operation in operations {
        from.apply(operation);
    }
    assert!(from == to);
    assert_eq!(from.difference(&to).unwrap(), []);
}

const LEVEL: &str = "// The level.
units = {   // all of them
  box = { unit = \"units/box\" position = [0, 1.50, 0] }   // the first
}
rows = [
  // A
  { id = \"a\" v = 1 }
  { id = \"b\" v = 0x10 }
]
#odd = null
";

fn loaded(text: &str) -> Model {
    let mut model = Model::new();
    load(&mut model, Guid::ROOT, &parse(text).unwrap()).unwrap();
    assert_eq!(model.integrity(), Integrity::default());
    model
}

fn saved(model: &Model, text: &str) -> String {
    save(model, Guid::ROOT, parse(text).unwrap()).unwrap().into_text()
}

fn child(model: &Model, object: Guid, key: &str) -> Guid {
    match model.value_of(object, key) {
        Value::Reference(child) => *child,
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
fn a_document_without_changes_keeps_all_bytes() {
    for text in ["", "{}", "[]", "[1, null, {}]", "{ \"a\": [[1], []] }\r\n", "a = \"\"\"x\"\"\""] {
        assert_eq!(saved(&loaded(text), text), text);
    }
    let text = LEVEL.replace("0x10", "16.0");
    assert_eq!(saved(&loaded(&text), &text), text);
}

#[test]
fn changed_values_alone_are_written() {
    let text = LEVEL.replace("0x10", "16.0");
    let mut model = loaded(&text);
    let units = child(&model, Guid::ROOT, "units");
    let first = child(&model, units, "box");
    let position = child(&model, first, "position");
    set(&mut model, position, "1", Value::Number(4.0));
    let rows = child(&model, Guid::ROOT, "rows");
    let row = rows.of_part("\"a\"");
    set(&mut model, row, "v", Value::Number(2.0));
    set(&mut model, row, "w", Value::Bool(true));
    let new = rows.of_part("\"n\"");
    set(&mut model, new, "id", Value::String("n".into()));
    set(&mut model, new, "#order", Value::Number(1.5));
    add(&mut model, rows, "#items", new);
    set(&mut model, Guid::ROOT, "##odd", Value::Number(3.0));
    assert_eq!(
        saved(&model, &text),
        "// The level.\nunits = {   // all of them\n  box = { unit = \"units/box\" position = \
         [4, 1.50, 0] }   // the first\n}\nrows = [\n  // A\n  { id = \"a\" v = 2 w = true }\n  \
         {\n    id = \"n\"\n  }\n  { id = \"b\" v = 16.0 }\n]\n#odd = 3\n"
    );
    // A removed object, and one that nothing refers to any more.
    set(&mut model, units, "box", Value::Null);
    let key = model.key("#items").unwrap();
    model.apply(Operation { object: rows, key, change: Change::Remove(row) });
    let out = saved(&model, &text);
    assert!(!out.contains("box") && !out.contains("\"a\"") && out.contains("\"n\""), "{out}");
    assert_eq!(model.integrity().garbage.len(), 3);
}

#[test]
fn lists_grow_and_shrink_at_their_ends() {
    let mut model = loaded("p = [1, 2, 3]\nq = [[1], [2]]\n");
    let text = "p = [1, 2, 3]\nq = [[1], [2]]\n";
    let p = child(&model, Guid::ROOT, "p");
    set(&mut model, p, "#length", Value::Number(2.0));
    assert_eq!(saved(&model, text), "p = [1, 2]\nq = [[1], [2]]\n");
    set(&mut model, p, "#length", Value::Number(5.0));
    set(&mut model, p, "5", Value::String("x".into()));
    let q = child(&model, Guid::ROOT, "q");
    let inner = child(&model, q, "2");
    set(&mut model, inner, "#length", Value::Number(2.0));
    set(&mut model, inner, "2", Value::Bool(false));
    assert_eq!(saved(&model, text), "p = [1, 2, 3, null, \"x\"]\nq = [[1], [2, false]]\n");
}

#[test]
fn a_document_cannot_have_blobs_or_rings() {
    let error = |change: &dyn Fn(&mut Model)| {
        let mut model = loaded("a = { }");
        change(&mut model);
        save(&model, Guid::ROOT, parse("a = { }").unwrap()).err().unwrap()
    };
    let blob = |model: &mut Model| {
        set(model, Guid::ROOT, "b", Value::Blob(b"x"[..].into()));
    };
    assert_eq!(error(&blob), "a blob cannot be saved as SJSON");
    let ring = |model: &mut Model| {
        set(model, guid(1), "b", Value::Reference(guid(1)));
        set(model, Guid::ROOT, "b", Value::Reference(guid(1)));
    };
    assert!(error(&ring).contains("objects are inside of themselves"));
    let dangling = |model: &mut Model| {
        set(model, Guid::ROOT, "b", Value::Reference(guid(1)));
    };
    assert!(error(&dangling).ends_with("is used, and does not exist"));
    let mut model = Model::new();
    assert!(load(&mut model, Guid::ROOT, &parse("[1]").unwrap()).is_ok());
}

#[test]
fn sets_of_any_size_are_ordered() {
    let mut set = GuidSet::default();
    let mut members: Vec<Guid> = (0..200).map(|at| guid(at * 37 % 211)).collect();
    for member in &members {
        assert!(set.insert(*member) && !set.insert(*member));
    }
    members.sort_unstable();
    assert!(set.iter().eq(members.iter()) && set.len() == 200);
    for member in &members[1..] {
        assert!(set.contains(*member) && set.remove(*member) && !set.remove(*member));
    }
    assert!(set == GuidSet::from_iter([members[0]]));
    assert!(set.remove(members[0]) && set.is_empty());
}
