//! Tests of the editor: tables of text before and after a change, and random changes to random
//! layouts.

use super::{DocumentEditor, PathStep, SjsonTree, TreeError, parse};

/// Parses a path such as `a.b[2]`.
fn path(text: &str) -> Vec<PathStep<'_>> {
    let keys = text.split(['.', '[']).filter(|word| !word.is_empty());
    keys.map(|word| match word.strip_suffix(']') {
        Some(number) => PathStep::Item(number.parse::<usize>().unwrap() - 1),
        None => PathStep::Key(word),
    })
    .collect()
}

fn value(text: &str) -> SjsonTree {
    parse(text).unwrap().to_tree()
}

fn changed(text: &str, change: impl Fn(&mut DocumentEditor) -> Result<(), TreeError>) -> String {
    let mut edit = DocumentEditor::new(parse(text).unwrap());
    match change(&mut edit) {
        Ok(()) => edit.finish().into_text(),
        Err(error) => {
            assert_eq!(edit.document().text(), text, "a failed change changes nothing");
            error.to_string()
        }
    }
}

fn check_set(text: &str, at: &str, new: &str, want: &str) {
    let new = value(new);
    assert_eq!(changed(text, |edit| edit.set(&path(at), &new)), want);
}

fn check_remove(text: &str, at: &str, want: &str) {
    assert_eq!(changed(text, |edit| edit.remove(&path(at))), want);
}

/// Inserts an item at a number counted from 1, and checks the text.
fn check_item(text: &str, at: &str, number: usize, new: &str, want: &str) {
    let new = value(new);
    let change = |edit: &mut DocumentEditor| edit.insert_item(&path(at), number - 1, &new);
    assert_eq!(changed(text, change), want);
}

fn check_entry(text: &str, at: &str, number: usize, new: &str, want: &str) {
    let new = value(new);
    let change = |edit: &mut DocumentEditor| edit.insert_entry(&path(at), number - 1, "new", &new);
    assert_eq!(changed(text, change), want);
}

#[test]
fn setting_a_value_leaves_the_other_text_unchanged() {
    check_set("a=1 // x\n b :2", "a", "3.5", "a=3.5 // x\n b :2");
    check_set("a = [1,  2,3]", "a[2]", "\"x\"", "a = [1,  \"x\",3]");
    check_set("{\"a\":{\"b\":1}}", "a.b", "[1, {\"c\": 2}]", "{\"a\":{\"b\":[1, { \"c\":2 }]}}");
    check_set("a = 1/*c*/", "a", "2", "a = 2/*c*/");
    check_set("[\"a\"1\"b\"]", "[2]", "\"\"", "[\"a\" \"\" \"b\"]");
    check_set("a = \"\"\"x\"\"\"b = 1", "a", "2", "a = 2 b = 1");
    check_set("a = {\n  b = 1\n}\n", "a.b", "c = 1", "a = {\n  b = {\n    c = 1\n  }\n}\n");
    check_set("a = { x = 1 }\n", "a", "x = 2 y = 3", "a = { x = 2, y = 3 }\n");
    check_set("[1]", "[1]", "[[2]]", "[[[2]]]");
}

#[test]
fn a_missing_key_is_added_in_the_style_of_its_neighbours() {
    check_set("", "a", "1", "a = 1\n");
    check_set("// only this\n\n", "a", "1", "// only this\na = 1\n");
    check_set("a = 1", "b", "2", "a = 1\nb = 2");
    check_set("a: 1, // x\nb: 2,\n// end\n", "c", "3", "a: 1, // x\nb: 2,\nc: 3,\n// end\n");
    check_set("a = 1\r\nb = 2\r\n", "c.d", "1", "a = 1\r\nb = 2\r\nc = {\r\n  d = 1\r\n}\r\n");
    check_set("{\n\t\"a\": 1\n}", "b", "[]", "{\n\t\"a\": 1,\n\t\"b\": []\n}");
    check_set("{\"a\":1}", "b.c", "2", "{\"a\":1, \"b\":{ \"c\":2 }}");
    check_set("a = {}\n", "a.b", "1", "a = {\n  b = 1\n}\n");
    check_set("a = [ {} 1 ]\n", "a[1].b", "1", "a = [ { b = 1 } 1 ]\n");
    check_set("a = {\n  // x\n}\n", "a.b", "1", "a = {\n  // x\n  b = 1\n}\n");
    check_set("a = { b = 1 }", "a.c d", "2", "a = { b = 1, \"c d\" = 2 }");
    check_set("\u{feff}", "a", "1", "\u{feff}a = 1\n");
}

#[test]
fn items_are_inserted_between_their_neighbours() {
    check_item("a = []", "a", 1, "1", "a = [1]");
    check_item("a = [1, 2]", "a", 1, "0", "a = [0, 1, 2]");
    check_item("a = [1 2]", "a", 2, "0", "a = [1 0 2]");
    check_item("a = [1, 2,]", "a", 3, "0", "a = [1, 2, 0,]");
    check_item("a = [1]", "a", 2, "{}", "a = [1, {}]");
    check_item("[\n  1, // x\n  2 // y\n]", "", 3, "3", "[\n  1, // x\n  2, // y\n  3\n]");
    check_item("[\n  1, // x\n  2\n]", "", 2, "3", "[\n  1, // x\n  3,\n  2\n]");
    check_item("[\n  1\n  2\n]", "", 1, "3", "[\n  3\n  1\n  2\n]");
    check_item("[ // x\n  1,\n  2\n]", "", 1, "3", "[ // x\n  3,\n  1,\n  2\n]");
    check_item("[\n  1\n  , 2\n]", "", 2, "3", "[\n  1,\n  3\n  , 2\n]");
    check_item("[\n  1 /* a\n b */ 2\n]", "", 2, "3", "[\n  1\n  3\n   /* a\n b */ 2\n]");
    check_item("[]", "", 1, "a = 1", "[\n  {\n    a = 1\n  }\n]");
    check_item("[\n]", "", 1, "1", "[\n  1\n]");
}

#[test]
fn entries_are_inserted_between_their_neighbours() {
    check_entry("// x\na = 1\n", "", 1, "0", "// x\nnew = 0\na = 1\n");
    check_entry("a = 1 // x\nb = 2\n", "", 2, "0", "a = 1 // x\nnew = 0\nb = 2\n");
    check_entry("a = 1 b = 2", "", 2, "0", "a = 1 new = 0 b = 2");
    check_entry("a = 1, b = 2", "", 3, "0", "a = 1, b = 2,\nnew = 0");
    check_entry("o = {\n  a = 1 }\n", "o", 2, "0", "o = {\n  a = 1, new = 0 }\n");
    check_entry("o = {\n  a = 1\n}\n", "o", 1, "0", "o = {\n  new = 0\n  a = 1\n}\n");
}

#[test]
fn a_removed_value_takes_its_comma_and_the_comment_on_its_line() {
    check_remove("a = 1 // x\n// y\nb = 2 // z\n", "b", "a = 1 // x\n// y\n");
    check_remove("a = 1 // x\n// y\nb = 2 // z\n", "a", "// y\nb = 2 // z\n");
    check_remove("a = [1, 2, 3]", "a[1]", "a = [2, 3]");
    check_remove("a = [1, 2, 3]", "a[2]", "a = [1, 3]");
    check_remove("a = [1, 2, 3]", "a[3]", "a = [1, 2]");
    check_remove("a = [1 2 3]", "a[2]", "a = [1 3]");
    check_remove("a = [1 2 3]", "a[3]", "a = [1 2]");
    check_remove("a = [ 1 ]", "a[1]", "a = [ ]");
    check_remove("a = [1, 2,]", "a[2]", "a = [1, ]");
    check_remove("[\"a\"1\"b\"]", "[2]", "[\"a\" \"b\"]");
    check_remove("{\n  \"a\": 1, // x\n  \"b\": 2 // y\n}", "b", "{\n  \"a\": 1 // x\n}");
    check_remove("{\n  \"a\": 1,\n  \"b\": 2}", "b", "{\n  \"a\": 1}");
    check_remove("{\n  \"a\": 1\n  , \"b\": 2\n}", "a", "{\n  \"b\": 2\n}");
    check_remove("a = {\n  b = [\n    1\n  ]\n}", "a.b", "a = {\n}");
    check_remove("a = 1\nb = 2", "b", "a = 1\n");
    check_remove("[1 /* , */, 2]", "[1]", "[ /* , */ 2]");
}

#[test]
fn impossible_changes_are_refused_with_a_reason() {
    check_set("a = [1]", "a[3]", "1", "'a[3]': there is no such item: insert it first");
    check_set("a = 1", "b[1]", "1", "'b[1]': there is no such list: insert it first");
    check_set("a = 1", "a.b", "1", "'a': expected object, found number");
    check_set("a = 1", "", "1", "the whole document: cannot be set: write a new one");
    check_remove("a = 1", "", "the whole document: cannot be removed: delete the file");
    check_remove("a = 1", "b.c", "'b.c': there is no such value to remove");
    check_item("a = 1", "a", 1, "1", "'a': expected list, found number");
    check_item("a = 1", "b", 1, "1", "'b': expected list, found nothing");
    check_item("a = [1]", "a", 3, "1", "'a': length is 1: there is no index 3 to insert at");
    check_entry("a = []", "a", 1, "1", "'a': expected object, found list");
    check_entry("new = 1", "", 1, "1", "the whole document: the key 'new' already exists: set it");
    let nan = SjsonTree::Array(vec![SjsonTree::Number(f64::NAN)]);
    let set = changed("a = 1", |edit| edit.set(&path("a"), &nan));
    assert!(set.starts_with("'a[1]': number is NaN, which SJSON"), "{set}");
    let deep = (0..99).fold(SjsonTree::Null, |tree, _| SjsonTree::Array(vec![tree]));
    let set = changed("a = { b = 1 }", |edit| edit.set(&path("a.b"), &deep));
    assert!(set.starts_with("'a.b': cannot be changed this way: line 1"), "{set}");
}

#[test]
fn a_group_of_changes_is_applied_atomically() {
    let (one, two) = (SjsonTree::Number(1.0), SjsonTree::Number(2.0));
    let (a, b, inner) = (path("a"), path("b"), path("b.c"));
    let text = "a = \"x\" // x\nb = { c = 3 }\n";
    let set = changed(text, |edit| edit.set_all(&[(&inner, &two), (&a, &one)]));
    assert_eq!(set, "a = 1 // x\nb = { c = 2 }\n");
    let set = changed(text, |edit| edit.set_all(&[(&b, &two), (&inner, &one)]));
    assert!(set.contains("inside each other"), "{set}");
    let bad = path("a.z");
    let set = changed(text, |edit| edit.set_all(&[(&inner, &two), (&bad, &one)]));
    assert_eq!(set, "'a': expected object, found text");
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// Returns white space and comments. Each comment has a number, so that the test can search for
    /// it.
    fn gap(&mut self, comments: &mut usize) -> String {
        match self.below(12) {
            0 => {
                *comments += 1;
                format!(" // #{comments}, \"[\n  ")
            }
            1 => {
                *comments += 1;
                format!("/* #{comments},}}*/")
            }
            2 => {
                *comments += 1;
                format!("\n/* #{comments}\n*/ ")
            }
            3..=5 => "\n  ".to_string(),
            6 => "\r\n\t".to_string(),
            _ => " ".to_string(),
        }
    }

    /// Returns a text in a random layout.
    fn text(&mut self, levels: usize, comments: &mut usize) -> String {
        let kind = if levels == 0 { 0 } else { self.below(4) };
        match kind {
            0 | 1 => self
                .pick(&["1", "-2.5e3", "\"x\"", "\"\"", "\"\"\"y\"\"\"", "null", "true"])
                .to_string(),
            2 => format!("[{}]", self.parts(levels - 1, false, comments)),
            _ => format!("{{{}}}", self.parts(levels - 1, true, comments)),
        }
    }

    fn parts(&mut self, levels: usize, keys: bool, comments: &mut usize) -> String {
        let mut out = self.gap(comments);
        let commas = self.below(3);
        for i in 0..self.below(4) {
            if keys {
                let key = self.pick(&["k", "\"k ", "\"k"]);
                out += &format!("{key}{i}{}", if key == "k" { "" } else { "\"" });
                out += self.pick(&[" = ", ":", "=", " : ", "\n="]);
            }
            out += &self.text(levels, comments);
            out += &self.gap(comments);
            if commas == 0 || (commas == 1 && self.below(2) == 0) {
                out += ",";
                out += &self.gap(comments);
            }
        }
        out
    }

    /// Selects a random value and appends its path to `steps`. Below the root, each level ends the
    /// search with a chance of 1 in 3.
    fn path<'a>(&mut self, tree: &'a SjsonTree, steps: &mut Vec<PathStep<'a>>) -> &'a SjsonTree {
        let count = match tree {
            SjsonTree::Array(items) => items.len(),
            SjsonTree::Object(entries) => entries.len(),
            _ => 0,
        };
        if count == 0 || (!steps.is_empty() && self.below(3) == 0) {
            return tree;
        }
        let index = self.below(count);
        match tree {
            SjsonTree::Array(items) => {
                steps.push(PathStep::Item(index));
                self.path(&items[index], steps)
            }
            SjsonTree::Object(entries) => {
                steps.push(PathStep::Key(&entries[index].0));
                self.path(&entries[index].1, steps)
            }
            _ => tree,
        }
    }
}

/// Applies the same change to a plain tree.
fn model(tree: &mut SjsonTree, steps: &[PathStep], change: &mut dyn FnMut(&mut SjsonTree)) {
    let Some((first, rest)) = steps.split_first() else {
        return change(tree);
    };
    match (tree, first) {
        (SjsonTree::Array(items), PathStep::Item(index)) => model(&mut items[*index], rest, change),
        (SjsonTree::Object(entries), PathStep::Key(key)) => {
            let entry = entries.iter_mut().find(|(k, _)| k == key).unwrap();
            model(&mut entry.1, rest, change);
        }
        _ => panic!("the path does not fit"),
    }
}

fn remove_model(tree: &mut SjsonTree, steps: &[PathStep]) {
    let (last, parents) = steps.split_last().unwrap();
    model(tree, parents, &mut |parent| match (parent, last) {
        (SjsonTree::Array(items), PathStep::Item(index)) => drop(items.remove(*index)),
        (SjsonTree::Object(entries), PathStep::Key(key)) => entries.retain(|(k, _)| k != key),
        _ => panic!("the path does not fit"),
    });
}

/// Applies one random change to the document and to the tree. Returns true if all comments must
/// remain.
fn change_document_and_tree(
    chance: &mut Chance,
    edit: &mut DocumentEditor,
    tree: &mut SjsonTree,
) -> bool {
    let before = tree.clone();
    let mut steps = Vec::new();
    let target = chance.path(&before, &mut steps);
    let news = ["7", "[]", "{}", "[1 [2]]", "{n = 1 m = {o = [\"a\"]}}", "\"\""];
    let new = value(chance.pick(&news));
    match (chance.below(3), target) {
        (0, SjsonTree::Array(items)) => {
            let index = chance.below(items.len() + 1);
            edit.insert_item(&steps, index, &new).unwrap();
            model(tree, &steps, &mut |list| {
                let SjsonTree::Array(items) = list else { panic!() };
                items.insert(index, new.clone());
            });
            true
        }
        (0, SjsonTree::Object(entries)) if target.get("z").is_none() => {
            let index = chance.below(entries.len() + 1);
            edit.insert_entry(&steps, index, "z", &new).unwrap();
            model(tree, &steps, &mut |object| {
                let SjsonTree::Object(entries) = object else { panic!() };
                entries.insert(index, ("z".to_string(), new.clone()));
            });
            true
        }
        _ if steps.is_empty() => true,
        (1, _) => {
            edit.remove(&steps).unwrap();
            remove_model(tree, &steps);
            false
        }
        _ => {
            edit.set(&steps, &new).unwrap();
            model(tree, &steps, &mut |old| *old = new.clone());
            !matches!(target, SjsonTree::Array(_) | SjsonTree::Object(_))
        }
    }
}

#[test]
fn random_changes_take_effect_and_preserve_comments() {
    let mut chance = Chance(11);
    for _ in 0..4_000 {
        let mut comments = 0;
        let text = match chance.below(3) {
            0 => chance.text(3, &mut comments),
            _ => chance.parts(3, true, &mut comments),
        };
        let document = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (mut tree, mut edit) = (document.to_tree(), DocumentEditor::new(document));
        for _ in 0..4 {
            let before = edit.document().text().to_string();
            let keeps = change_document_and_tree(&mut chance, &mut edit, &mut tree);
            let after = edit.document().text();
            assert_eq!(edit.document().to_tree(), tree, "{before}\n--->\n{after}");
            let count = |text: &str| text.matches('#').count();
            let kept = count(&before) == count(after);
            assert!(kept || !keeps, "{before}\n--->\n{after}");
        }
    }
}

#[test]
fn plain_json_stays_plain_json() {
    let text = "{\n  \"a\": 1,\n  \"list\": [\n    { \"b\": 2 },\n    3\n  ]\n}\n";
    let mut edit = DocumentEditor::new(parse(text).unwrap());
    edit.insert_item(&path("list"), 2, &value("x = [1, { y = 2 }]")).unwrap();
    edit.set(&path("c.d"), &SjsonTree::Null).unwrap();
    edit.remove(&path("a")).unwrap();
    let want = r#"{
  "list": [
    { "b": 2 },
    3,
    {
      "x": [
        1,
        {
          "y": 2
        }
      ]
    }
  ],
  "c": {
    "d": null
  }
}
"#;
    assert_eq!(edit.document().text(), want);
}

#[test]
fn renamed_keys_keep_their_comments() {
    let rename = |edit: &mut DocumentEditor| {
        edit.rename_keys(&[(path("a"), "z"), (path("b c"), "d"), (path("o.x"), "y > z")])
    };
    let text = "a = 1 // x\n\"b c\" : 2\no = { x = 3 /* y */ }\n";
    let want = "z = 1 // x\n\"d\" : 2\no = { \"y > z\" = 3 /* y */ }\n";
    assert_eq!(changed(text, rename), want);
    // `changed` checks that nothing has changed.
    assert!(changed("a = 1\n", rename).contains("there is no such key to rename"));
    let twice = |edit: &mut DocumentEditor| edit.rename_keys(&[(path("a"), "b")]);
    assert!(changed("a = 1\nb = 2\n", twice).contains("given twice"));
}

#[test]
fn many_entries_are_removed_and_inserted_in_few_passes() {
    let remove = |edit: &mut DocumentEditor| {
        let keys = std::collections::HashSet::from(["a", "b", "d"]);
        edit.remove_keys(&[(Vec::new(), keys.clone()), (path("o"), keys)])
    };
    let text = "a = 1\nb = 2 // x\nc = 3\nd = 4\no = { a = 1, b = 2, c = 3, d = 4 }\n";
    assert_eq!(changed(text, remove), "c = 3\no = { c = 3 }\n");
    let (two, three) = (value("2"), value("3"));
    let insert = |edit: &mut DocumentEditor| {
        let new = vec![(1, "b", &two), (1, "c", &three)];
        edit.insert_entries(&[(Vec::new(), new.clone()), (path("o"), new)])
    };
    let text = "a = 1\no = { a = 1 }\n";
    let want = "a = 1\nb = 2\nc = 3\no = { a = 1, b = 2, c = 3 }\n";
    assert_eq!(changed(text, insert), want);
}
