//! Properties of merges: all small documents against a reference, and random documents with
//! comments and different notations.

use super::*;
use engine_foundation::sjson::{DocumentEditor, PathStep, SjsonTree, parse, write};

/// The merge of trees without texts, as short as possible: the reference.
fn reference(base: Option<&SjsonTree>, left: &SjsonTree, right: &SjsonTree) -> SjsonTree {
    use SjsonTree::Object;
    let base_is = |side: &SjsonTree| base.is_some_and(|base| normal(base) == normal(side));
    match (left, right) {
        (Object(of_left), Object(of_right)) => {
            let none = Object(Vec::new());
            let base = base.filter(|base| matches!(base, Object(_))).unwrap_or(&none);
            let mut keys: Vec<&String> = of_left.iter().chain(of_right).map(|it| &it.0).collect();
            keys.sort();
            keys.dedup();
            let merge_key = |key: &String| {
                let old = base.get(key);
                let is_old = |side: &SjsonTree| old.is_some_and(|old| normal(old) == normal(side));
                let value = match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => Some(reference(old, left, right)),
                    (Some(left), None) => old.is_none().then(|| left.clone()),
                    (None, Some(right)) => (!is_old(right)).then(|| right.clone()),
                    (None, None) => None,
                };
                value.map(|value| (key.clone(), value))
            };
            Object(keys.into_iter().filter_map(merge_key).collect())
        }
        (left, right) if base_is(right) => left.clone(),
        (_, right) => right.clone(),
    }
}

/// Sorts the keys of all objects.
fn normal(tree: &SjsonTree) -> SjsonTree {
    match tree {
        SjsonTree::Object(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(key, value)| (key.clone(), normal(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            SjsonTree::Object(entries)
        }
        SjsonTree::Array(items) => SjsonTree::Array(items.iter().map(normal).collect()),
        other => other.clone(),
    }
}

fn merged(texts: [&str; 3]) -> Merged {
    let options =
        MergeOptions { winner: &|_| MergeSide::Right, is_json: false, labels: SIDE_LABELS };
    merge(MergeTexts { base: texts[0], left: texts[1], right: texts[2] }, options)
}

fn tree_of(text: &str) -> SjsonTree {
    normal(&parse(text).unwrap_or_else(|error| panic!("{error}: {text:?}")).to_tree())
}

#[test]
fn all_small_documents_merge_as_the_reference_does() {
    let number = |value: f64| SjsonTree::Number(value);
    let object = |entries: &[(&str, SjsonTree)]| {
        let entry = |(key, value): &(&str, SjsonTree)| (key.to_string(), value.clone());
        SjsonTree::Object(entries.iter().map(entry).collect())
    };
    let values = [
        None,
        Some(number(1.0)),
        Some(number(2.0)),
        Some(SjsonTree::Array(vec![number(1.0)])),
        Some(object(&[])),
        Some(object(&[("x", number(1.0))])),
        Some(object(&[("x", number(2.0)), ("y", number(1.0))])),
    ];
    let mut documents = Vec::new();
    for a in &values {
        for b in &values {
            let entries = [("a", a), ("b", b)];
            let entries = entries.iter().filter_map(|(key, it)| Some((*key, (*it).clone()?)));
            let tree = object(&entries.collect::<Vec<_>>());
            documents.push((write(&tree).unwrap(), tree));
        }
    }
    for (base, base_tree) in &documents {
        for (left, left_tree) in &documents {
            for (right, right_tree) in &documents {
                let merged = merged([base, left, right]);
                let has_base = !base.trim().is_empty();
                let wanted = reference(has_base.then_some(base_tree), left_tree, right_tree);
                assert_eq!(tree_of(&merged.text), normal(&wanted), "{base}|{left}|{right}");
            }
        }
    }
}

/// A small generator of random numbers.
struct Dice {
    state: u64,
    /// True for ids that are unique in their list alone, as if each list counted from 1.
    has_local_ids: bool,
}

impl Dice {
    fn new(state: u64) -> Dice {
        Dice { state, has_local_ids: false }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((self.state >> 11) % sides as u64) as usize
    }

    fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.roll(texts.len())]
    }

    /// Writes a random value. Lists of objects have ids.
    fn value(&mut self, out: &mut String, depth: usize, home: &str) {
        match self.roll(if depth > 2 { 4 } else { 8 }) {
            0 => out.push_str(self.pick(&["1", "2", "-0.5", "1e3"])),
            1 => out.push_str(self.pick(&["true", "null", "\"x\"", "\"\"\"y\n z\"\"\""])),
            2 => out.push_str(self.pick(&["[1, 2]", "[]", "[1 2 3]", "{}"])),
            3 => out.push_str(self.pick(&["[\"a\", \"b\"]", "[\"a\" \"c\"]", "[[1] [2]]"])),
            4 | 5 => {
                out.push('{');
                self.entries(out, depth + 1, &["x", "y", "z", "\"u v\""]);
                out.push_str(self.pick(&["}", " }", "\n}", " // end\n}"]));
            }
            _ => {
                out.push('[');
                for id in ["p", "q", "r", "s"] {
                    if self.roll(2) == 0 {
                        out.push_str(self.pick(&[" ", "\n  ", "\n  // item\n  "]));
                        out.push_str("{ id = \"");
                        match self.has_local_ids {
                            true => out.push_str(&format!("{id}\"")),
                            false => out.push_str(&format!("{id}{home}{depth}\"")),
                        }
                        self.entries(out, depth + 1, &["x", "y"]);
                        out.push_str(self.pick(&[" }", "\n}", " } // i\n", " },"]));
                    }
                }
                out.push_str(self.pick(&["]", "\n]"]));
            }
        }
    }

    fn entries(&mut self, out: &mut String, depth: usize, keys: &[&str]) {
        for key in keys {
            if self.roll(3) > 0 {
                out.push_str(self.pick(&[" ", "\n", "\n  ", "\n// note\n", " /* c */ "]));
                out.push_str(key);
                out.push_str(self.pick(&[" = ", ": ", "=", " = // v\n "]));
                self.value(out, depth, key.trim_matches('"'));
                out.push_str(self.pick(&["", "", ",", " ,", " // tail\n", ", // t\n"]));
            }
        }
    }

    fn document(&mut self) -> String {
        let mut text = String::new();
        text.push_str(self.pick(&["", "// file\n\n", "/* f */\n"]));
        self.entries(&mut text, 0, &["a", "b", "c", "d", "e"]);
        text.push_str(self.pick(&["", "\n", "\n// the end\n"]));
        text
    }

    /// Changes random values of a document, and leaves the rest of its text as it is.
    fn edited(&mut self, text: &str) -> String {
        let mut editor = DocumentEditor::new(parse(text).unwrap());
        for _ in 0..self.roll(4) {
            let keys: Vec<String> = match editor.document().root().entries() {
                Some(entries) => entries.map(|entry| entry.key.to_string()).collect(),
                None => return text.to_string(),
            };
            let key = match keys.is_empty() {
                true => "a".to_string(),
                false => keys[self.roll(keys.len())].clone(),
            };
            let path = [PathStep::Key(&key)];
            let below = editor.document().at(&path).and_then(|value| {
                let count = value.entries()?.len();
                let at = (count > 0).then(|| self.roll(count))?;
                Some(value.entries()?.nth(at)?.key.to_string())
            });
            let deep = below.as_deref().map(|below| [PathStep::Key(&key), PathStep::Key(below)]);
            let path = match &deep {
                Some(deep) if self.roll(2) == 0 => &deep[..],
                _ => &path[..],
            };
            let number = SjsonTree::Number(self.roll(3) as f64);
            // A value that cannot be changed here leaves the document as it is.
            let _ = match self.roll(4) {
                0 => editor.remove(path),
                1 => editor.set(&[PathStep::Key(self.pick(&["a", "f", "g"]))], &number),
                _ => editor.set(path, &number),
            };
        }
        editor.finish().into_text()
    }
}

/// Returns true if the texts were merged by lines, because of objects that moved.
fn is_by_lines(merged: &Merged) -> bool {
    let Some(reason) = &merged.by_lines else { return false };
    assert!(reason.ends_with("was moved"), "{reason}");
    true
}

/// Two sides that add and remove objects in lists with ids of their own match a merge of each list.
#[test]
fn lists_with_ids_of_their_own_merge_apart() {
    let mut dice = Dice::new(0x1234_5678_9abc_def1);
    let names = ["a", "b", "c"];
    type Lists = [[Option<usize>; 3]; 3];
    let text = |lists: &Lists| -> String {
        let list = |(name, list): (&&str, &[Option<usize>; 3])| {
            let items = list.iter().enumerate();
            let items = items.filter_map(|(id, v)| Some(format!("{{ id = {id} v = {} }} ", (*v)?)));
            format!("{name} = [ {}]\n", items.collect::<String>())
        };
        names.iter().zip(lists).map(list).collect()
    };
    for _ in 0..20_000 {
        let mut base: Lists = Default::default();
        let is_any =
            |lists: &Lists, id: usize| lists.iter().filter(|list| list[id].is_some()).count();
        base.iter_mut().flatten().for_each(|value| *value = (dice.roll(2) == 0).then_some(0));
        // An id that the base has once may move, which is another case.
        if (0..3).any(|id| is_any(&base, id) == 1) {
            continue;
        }
        let mut sides = [base, base];
        for (side, lists) in sides.iter_mut().enumerate() {
            for value in lists.iter_mut().flatten() {
                if dice.roll(4) == 0 {
                    *value = (dice.roll(2) == 0).then_some(side + 1);
                }
            }
        }
        let [left, right] = sides;
        let mut wanted: Lists = Default::default();
        for (list, id) in (0..9).map(|at| (at / 3, at % 3)) {
            let [old, l, r] = [&base, &left, &right].map(|lists| lists[list][id]);
            wanted[list][id] = if r == old { l } else { r };
        }
        let texts = [&base, &left, &right].map(text);
        let merged = merged([&texts[0], &texts[1], &texts[2]]);
        assert_eq!(merged.by_lines, None, "{texts:?}");
        let sorted = |text: &str| {
            let SjsonTree::Object(mut lists) = tree_of(text) else { panic!("{text}") };
            for (_, list) in &mut lists {
                let SjsonTree::Array(items) = list else { panic!("{text}") };
                items.sort_by_key(|item| format!("{:?}", item.get("id")));
            }
            lists
        };
        assert_eq!(sorted(&merged.text), sorted(&text(&wanted)), "{texts:?}");
    }
}

/// Checks the properties of one merge. Returns false if it was merged by lines.
fn check_properties(texts: [&str; 3]) -> bool {
    let [base, left, right] = texts;
    let there = merged(texts);
    let back = merged([base, right, left]);
    if is_by_lines(&there) || is_by_lines(&back) {
        return false;
    }
    let tree = tree_of(&there.text);
    if there.overrides.is_empty() {
        assert_eq!(tree, tree_of(&back.text), "{texts:?}");
    }
    assert_eq!(merged([base, left, base]).text, left);
    assert_eq!(merged([base, base, left]).text, left);
    assert_eq!(merged([base, left, left]).text, left);
    assert_eq!(merged([base, base, base]).text, base);
    // Merging again adds nothing. Where items are compared by content, a second merge may compare
    // others than the first one.
    if there.overrides.is_empty() && there.without_ids.is_empty() {
        let again = merged([base, &there.text, right]);
        assert!(is_by_lines(&again) || tree_of(&again.text) == tree, "{texts:?}");
    }
    // An entry that no side changed is in the result as it was.
    let documents = texts.map(|text| parse(text).unwrap());
    for entry in documents[0].root().entries().into_iter().flatten() {
        let text_in = |at: usize| {
            let span = documents[at].root().get(entry.key)?.span();
            Some(&texts[at][span.start..span.end])
        };
        if let (Some(old), Some(of_left), Some(of_right)) = (text_in(0), text_in(1), text_in(2))
            && old == of_left
            && old == of_right
        {
            assert!(there.text.contains(old), "{old:?} of {texts:?}");
        }
    }
    true
}

#[test]
fn random_merges_keep_their_properties() {
    let cases: Option<usize> = std::env::var("MERGE_CASES").ok().and_then(|text| text.parse().ok());
    let mut dice = Dice::new(0x9e37_79b9_7f4a_7c15);
    let (cases, mut by_lines) = (cases.unwrap_or(2_000), 0);
    for case in 0..cases {
        dice.has_local_ids = case % 2 == 1;
        let base = dice.document();
        let (left, right) = match dice.roll(4) {
            0 => (dice.document(), dice.document()),
            1 => (dice.edited(&base), dice.document()),
            _ => (dice.edited(&base), dice.edited(&base)),
        };
        by_lines += usize::from(!check_properties([&base, &left, &right]));
    }
    assert!(by_lines * 20 < cases, "{by_lines} of {cases} were merged by lines");
}

#[test]
fn random_merges_of_objects_match_the_reference() {
    let cases = std::env::var("MERGE_CASES").ok().and_then(|text| text.parse().ok());
    let mut dice = Dice::new(0x2545_f491_4f6c_dd1d);
    let tree = |dice: &mut Dice| {
        let mut text = String::new();
        for key in ["a", "b", "c"] {
            if dice.roll(3) > 0 {
                let value =
                    dice.pick(&["1", "2", "\"t\"", "{}", "{ x = 1 y = 2 }", "{ x = { z = 1 } }"]);
                text.push_str(&format!("{key} = {value}\n"));
            }
        }
        text
    };
    for _ in 0..cases.unwrap_or(10_000) {
        let texts = [tree(&mut dice), tree(&mut dice), tree(&mut dice)];
        let trees = texts.each_ref().map(|text| parse(text).unwrap().to_tree());
        let base = (!texts[0].is_empty()).then_some(&trees[0]);
        let wanted = reference(base, &trees[1], &trees[2]);
        let merged = merged([&texts[0], &texts[1], &texts[2]]);
        assert_eq!(tree_of(&merged.text), normal(&wanted), "{texts:?}");
    }
}
