//! Reading blocks of SJSON: keys that must be known, values of a type and a range, all with words
//! that name file and line. Knows no keys of its own.

use crate::error;
use crate::foundation::sjson::{Kind, Value};
use crate::foundation::{Error, suggest};

/// A block of a file.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    /// The file, for messages.
    pub path: &'a str,
    pub value: Value<'a>,
}

impl<'a> Block<'a> {
    /// The block, if it is one, and all its keys are known.
    pub fn open(
        path: &'a str,
        value: Value<'a>,
        what: &str,
        known: &[&str],
    ) -> Result<Block<'a>, Error> {
        if value.kind() != Kind::Object {
            let words = format!("{what} must be a block {{ … }}, got {}", value.kind());
            return Err(fault(path, value, &words));
        }
        for entry in value.entries().into_iter().flatten() {
            if !known.contains(&entry.key) {
                let hint = suggest::hint(entry.key, known.iter().copied());
                let list = known.join(", ");
                return Err(error!(
                    "{path}:{}: {what} has no '{}'{hint} (known: {list})",
                    entry.line(),
                    entry.key
                ));
            }
        }
        Ok(Block { path, value })
    }

    /// An error at a value of the file.
    pub fn fault(&self, value: Value, words: &str) -> Error {
        fault(self.path, value, words)
    }

    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.value.get(key)
    }

    /// The number of a key, if it is there and in range.
    pub fn number(&self, key: &str, range: (f32, f32)) -> Result<Option<f32>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        number(self.path, value, key, range).map(Some)
    }

    /// Puts the number of a key, if it is there, in its place.
    pub fn read(&self, key: &str, range: (f32, f32), place: &mut f32) -> Result<(), Error> {
        if let Some(number) = self.number(key, range)? {
            *place = number;
        }
        Ok(())
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        text(self.path, value, key).map(Some)
    }

    /// The row of the table that a key names.
    pub fn choice<T: Copy>(
        &self,
        key: &str,
        table: impl Iterator<Item = (&'static str, T)> + Clone,
    ) -> Result<Option<T>, Error> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        if let Some((_, choice)) = table.clone().find(|(name, _)| *name == word) {
            return Ok(Some(choice));
        }
        let names: Vec<&str> = table.map(|(name, _)| name).collect();
        let hint = suggest::hint(word, names.iter().copied());
        let value = self.get(key).expect("its text was read");
        let words = format!("'{key}' cannot be '{word}'{hint} (known: {})", names.join(", "));
        Err(self.fault(value, &words))
    }
}

/// An error at a value.
pub fn fault(path: &str, value: Value, words: &str) -> Error {
    error!("{path}:{}: {words}", value.line())
}

/// A number in a range.
pub fn number(path: &str, value: Value, what: &str, range: (f32, f32)) -> Result<f32, Error> {
    let (min, max) = range;
    let Some(number) = value.as_f64() else {
        let words = format!("'{what}' must be a number, got {}", value.kind());
        return Err(fault(path, value, &words));
    };
    if number >= f64::from(min) && number <= f64::from(max) {
        return Ok(number as f32);
    }
    let words = format!("'{what}' must be {min} to {max}, got {number}");
    Err(fault(path, value, &words))
}

/// A text.
pub fn text<'a>(path: &str, value: Value<'a>, what: &str) -> Result<&'a str, Error> {
    value.as_str().ok_or_else(|| {
        let words = format!("'{what}' must be text in quotes, got {}", value.kind());
        fault(path, value, &words)
    })
}
