//! Reader of the fields of a data block. Error messages name the field, the block and the location.

use engine_foundation::sjson::{SjsonTree, SjsonValue};
use engine_foundation::{Error, Quat, Vec3, suggest};

/// An error message, and the path of keys to the invalid value.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldError {
    pub path: Vec<String>,
    pub message: String,
}

impl FieldError {
    pub fn new(message: String) -> FieldError {
        FieldError { path: Vec::new(), message }
    }

    /// Prepends the key of the enclosing block to the path.
    pub fn in_block(mut self, key: &str) -> FieldError {
        self.path.insert(0, key.to_string());
        self
    }

    /// Returns the value of a document at the path, or the last existing value on the path.
    pub fn locate<'a>(&self, mut value: SjsonValue<'a>) -> SjsonValue<'a> {
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

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Error {
        Error::new(error.message)
    }
}

/// A block of fields to be read.
#[derive(Clone, Copy)]
pub struct FieldReader<'a> {
    entries: &'a [(String, SjsonTree)],
    /// Description of the block for messages, for example "actor 'body'".
    subject: &'a str,
}

type Read<T> = Result<Option<T>, FieldError>;

impl<'a> FieldReader<'a> {
    /// Creates a reader of a block.
    ///
    /// # Errors
    /// Returns an error if the tree is not a block, or if it has a field that is not in `known`.
    pub fn of(
        tree: &'a SjsonTree,
        subject: &'a str,
        known: &[&str],
    ) -> Result<FieldReader<'a>, FieldError> {
        let SjsonTree::Object(entries) = tree else {
            return Err(FieldError::new(format!("{subject} must be a block: {{ … }}")));
        };
        for (key, _) in entries {
            if !known.contains(&key.as_str()) {
                let hint = suggest::hint(key, known.iter().copied());
                let message = format!("{subject} has the unknown field '{key}'{hint}");
                return Err(FieldError::new(message).in_block(key));
            }
        }
        Ok(FieldReader { entries, subject })
    }

    pub fn get(&self, key: &str) -> Option<&'a SjsonTree> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, tree)| tree)
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the error for an invalid field.
    pub fn invalid(&self, key: &str, must: &str) -> FieldError {
        FieldError::new(format!("'{key}' of {} must be {must}", self.subject)).in_block(key)
    }

    /// Reads a number from `least` to `most`.
    pub fn number(&self, key: &str, least: f64, most: f64, must: &str) -> Read<f32> {
        match self.get(key) {
            None => Ok(None),
            Some(SjsonTree::Number(number)) if (least..=most).contains(number) => {
                Ok(Some(*number as f32))
            }
            Some(SjsonTree::Number(number)) => {
                Err(self.invalid(key, &format!("{must}, got {number}")))
            }
            Some(_) => Err(self.invalid(key, must)),
        }
    }

    /// Reads a number above 0.
    pub fn positive(&self, key: &str) -> Read<f32> {
        self.number(key, f64::from(f32::MIN_POSITIVE), 1e9, "a number above 0")
    }

    pub fn boolean(&self, key: &str) -> Read<bool> {
        match self.get(key) {
            None => Ok(None),
            Some(SjsonTree::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(self.invalid(key, "true or false")),
        }
    }

    pub fn text(&self, key: &str, must: &str) -> Read<&'a str> {
        match self.get(key) {
            None => Ok(None),
            Some(SjsonTree::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.invalid(key, must)),
        }
    }

    /// Reads one of these strings, and returns its index.
    pub fn choice(&self, key: &str, choices: &[&str]) -> Read<usize> {
        let must = format!("one of {}", choices.join(", "));
        let Some(word) = self.text(key, &must)? else { return Ok(None) };
        match choices.iter().position(|known| *known == word) {
            Some(at) => Ok(Some(at)),
            None => {
                let hint = suggest::hint(word, choices.iter().copied());
                Err(self.invalid(key, &format!("{must}, got '{word}'{hint}")))
            }
        }
    }

    /// Reads a list of this many finite numbers.
    pub fn numbers<const N: usize>(&self, key: &str, must: &str) -> Read<[f32; N]> {
        let Some(tree) = self.get(key) else { return Ok(None) };
        numbers(tree).map(Some).ok_or_else(|| self.invalid(key, must))
    }

    pub fn vector(&self, key: &str, must: &str) -> Read<Vec3> {
        Ok(self.numbers(key, must)?.map(Vec3::from_array))
    }

    /// Reads a rotation: three angles in degrees about x, then y, then z, or a quaternion.
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
            None => Err(self.invalid(key, must)),
        }
    }

    /// Reads a list of strings.
    pub fn texts(&self, key: &str, must: &str) -> Read<Vec<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(SjsonTree::Array(items)) => items
                .iter()
                .map(|item| match item {
                    SjsonTree::String(word) => Ok(word.as_str()),
                    _ => Err(self.invalid(key, must)),
                })
                .collect::<Result<_, _>>()
                .map(Some),
            Some(_) => Err(self.invalid(key, must)),
        }
    }

    /// Reads a list of points.
    pub fn points(&self, key: &str, must: &str) -> Read<Vec<Vec3>> {
        let rows = self.rows::<3>(key, must)?;
        Ok(rows.map(|rows| rows.into_iter().map(Vec3::from_array).collect()))
    }

    /// Reads a list of lists of this many numbers.
    pub fn rows<const N: usize>(&self, key: &str, must: &str) -> Read<Vec<[f32; N]>> {
        match self.get(key) {
            None => Ok(None),
            Some(SjsonTree::Array(items)) => items
                .iter()
                .map(|item| numbers(item).ok_or_else(|| self.invalid(key, must)))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(_) => Err(self.invalid(key, must)),
        }
    }
}

fn numbers<const N: usize>(tree: &SjsonTree) -> Option<[f32; N]> {
    let SjsonTree::Array(items) = tree else { return None };
    let mut out = [0.0; N];
    if items.len() != N {
        return None;
    }
    for (slot, item) in out.iter_mut().zip(items) {
        let SjsonTree::Number(number) = item else { return None };
        *slot = *number as f32;
        if !slot.is_finite() {
            return None;
        }
    }
    Some(out)
}

/// Returns the entries of a block of named blocks: `actors = { body = { … } }`.
///
/// # Errors
/// Returns an error if the tree is not such a block.
pub fn named<'a>(
    tree: &'a SjsonTree,
    key: &str,
    example: &str,
) -> Result<&'a [(String, SjsonTree)], FieldError> {
    match tree {
        SjsonTree::Object(entries) => Ok(entries),
        _ => Err(FieldError::new(format!("'{key}' must be a block: {key} = {{ {example} }}"))),
    }
}
