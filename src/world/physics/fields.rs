//! Fields of a block of data, read one by one: what is wrong says which field of what, and where it
//! stands.

use crate::foundation::sjson::{Tree, Value};
use crate::foundation::{Error, Quat, Vec3, suggest};

/// What is wrong, and the keys that lead to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    pub path: Vec<String>,
    pub words: String,
}

impl Fault {
    pub fn new(words: String) -> Fault {
        Fault { path: Vec::new(), words }
    }

    /// The same, from outside of a block.
    pub fn under(mut self, key: &str) -> Fault {
        self.path.insert(0, key.to_string());
        self
    }

    /// The value of a document that the path leads to, or the last on the way.
    pub fn locate<'a>(&self, mut value: Value<'a>) -> Value<'a> {
        for key in &self.path {
            let item = || value.items().and_then(|mut items| items.nth(key.parse().ok()?));
            match value.get(key).or_else(item) {
                Some(inner) => value = inner,
                None => break,
            }
        }
        value
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::new(fault.words)
    }
}

/// A block whose fields are read.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    entries: &'a [(String, Tree)],
    /// What the block is, as in "actor 'body'".
    what: &'a str,
}

type Read<T> = Result<Option<T>, Fault>;

impl<'a> Fields<'a> {
    /// # Errors
    /// It is no block, or has a field that is not among `known`.
    pub fn of(tree: &'a Tree, what: &'a str, known: &[&str]) -> Result<Fields<'a>, Fault> {
        let Tree::Object(entries) = tree else {
            return Err(Fault::new(format!("{what} must be a block: {{ … }}")));
        };
        for (key, _) in entries {
            if !known.contains(&key.as_str()) {
                let hint = suggest::hint(key, known.iter().copied());
                let words = format!("{what} has the unknown field '{key}'{hint}");
                return Err(Fault::new(words).under(key));
            }
        }
        Ok(Fields { entries, what })
    }

    pub fn get(&self, key: &str) -> Option<&'a Tree> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, tree)| tree)
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// What is said of a field that is wrong.
    pub fn must(&self, key: &str, must: &str) -> Fault {
        Fault::new(format!("'{key}' of {} must be {must}", self.what)).under(key)
    }

    /// A number from `least` to `most`.
    pub fn number(&self, key: &str, least: f64, most: f64, must: &str) -> Read<f32> {
        match self.get(key) {
            None => Ok(None),
            Some(Tree::Number(number)) if (least..=most).contains(number) => {
                Ok(Some(*number as f32))
            }
            Some(Tree::Number(number)) => Err(self.must(key, &format!("{must}, got {number}"))),
            Some(_) => Err(self.must(key, must)),
        }
    }

    /// A number above 0.
    pub fn positive(&self, key: &str) -> Read<f32> {
        self.number(key, f64::from(f32::MIN_POSITIVE), 1e9, "a number above 0")
    }

    pub fn boolean(&self, key: &str) -> Read<bool> {
        match self.get(key) {
            None => Ok(None),
            Some(Tree::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(self.must(key, "true or false")),
        }
    }

    pub fn text(&self, key: &str, must: &str) -> Read<&'a str> {
        match self.get(key) {
            None => Ok(None),
            Some(Tree::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.must(key, must)),
        }
    }

    /// Which of these words: its place among them.
    pub fn choice(&self, key: &str, words: &[&str]) -> Read<usize> {
        let must = format!("one of {}", words.join(", "));
        let Some(word) = self.text(key, &must)? else { return Ok(None) };
        match words.iter().position(|known| *known == word) {
            Some(at) => Ok(Some(at)),
            None => {
                let hint = suggest::hint(word, words.iter().copied());
                Err(self.must(key, &format!("{must}, got '{word}'{hint}")))
            }
        }
    }

    /// A list of so many finite numbers.
    pub fn numbers<const N: usize>(&self, key: &str, must: &str) -> Read<[f32; N]> {
        let Some(tree) = self.get(key) else { return Ok(None) };
        numbers(tree).map(Some).ok_or_else(|| self.must(key, must))
    }

    pub fn vector(&self, key: &str, must: &str) -> Read<Vec3> {
        Ok(self.numbers(key, must)?.map(Vec3::from_array))
    }

    /// Three angles in degrees about x, then y, then z, or a quaternion.
    pub fn rotation(&self, key: &str) -> Read<Quat> {
        let must = "three angles in degrees, or the four numbers of a quaternion";
        let Some(tree) = self.get(key) else { return Ok(None) };
        if let Some(angles) = numbers::<3>(tree) {
            let [x, y, z] = angles.map(f32::to_radians);
            let turn = Quat::from_rotation_z(z) * Quat::from_rotation_y(y);
            return Ok(Some(turn * Quat::from_rotation_x(x)));
        }
        let turn = numbers::<4>(tree).map(Quat::from_array);
        match turn.filter(|turn| turn.length_squared() > 1e-6) {
            Some(turn) => Ok(Some(turn.normalize())),
            None => Err(self.must(key, must)),
        }
    }

    /// A list of words.
    pub fn words(&self, key: &str, must: &str) -> Read<Vec<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Tree::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Tree::String(word) => Ok(word.as_str()),
                    _ => Err(self.must(key, must)),
                })
                .collect::<Result<_, _>>()
                .map(Some),
            Some(_) => Err(self.must(key, must)),
        }
    }

    /// A list of points.
    pub fn points(&self, key: &str, must: &str) -> Read<Vec<Vec3>> {
        let rows = self.rows::<3>(key, must)?;
        Ok(rows.map(|rows| rows.into_iter().map(Vec3::from_array).collect()))
    }

    /// A list of lists of so many numbers.
    pub fn rows<const N: usize>(&self, key: &str, must: &str) -> Read<Vec<[f32; N]>> {
        match self.get(key) {
            None => Ok(None),
            Some(Tree::Array(items)) => items
                .iter()
                .map(|item| numbers(item).ok_or_else(|| self.must(key, must)))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(_) => Err(self.must(key, must)),
        }
    }
}

fn numbers<const N: usize>(tree: &Tree) -> Option<[f32; N]> {
    let Tree::Array(items) = tree else { return None };
    let mut out = [0.0; N];
    if items.len() != N {
        return None;
    }
    for (slot, item) in out.iter_mut().zip(items) {
        let Tree::Number(number) = item else { return None };
        *slot = *number as f32;
        if !slot.is_finite() {
            return None;
        }
    }
    Some(out)
}

/// The entries of a block of named blocks: `actors = { body = { … } }`.
///
/// # Errors
/// It is no such block.
pub fn named<'a>(tree: &'a Tree, key: &str, example: &str) -> Result<&'a [(String, Tree)], Fault> {
    match tree {
        Tree::Object(entries) => Ok(entries),
        _ => Err(Fault::new(format!("'{key}' must be a block: {key} = {{ {example} }}"))),
    }
}
