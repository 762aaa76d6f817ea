//! Reading of SJSON blocks: known keys, and values of a type and range. Errors name file and line.
//! Knows no keys itself.

use engine_foundation::error;
use engine_foundation::sjson::{SjsonValue, ValueKind};
use engine_foundation::{Error, suggest};

/// A block of a source file.
#[derive(Clone, Copy)]
pub struct SourceBlock<'a> {
    /// The file, for messages.
    pub path: &'a str,
    pub value: SjsonValue<'a>,
}

impl<'a> SourceBlock<'a> {
    /// Opens a value as a block. Fails if it is not a block, or if one of its keys is unknown.
    pub fn open(
        path: &'a str,
        value: SjsonValue<'a>,
        subject: &str,
        known: &[&str],
    ) -> Result<SourceBlock<'a>, Error> {
        if value.kind() != ValueKind::Object {
            let message = format!("{subject} must be a block {{ … }}, got {}", value.kind());
            return Err(fault(path, value, &message));
        }
        for entry in value.entries().into_iter().flatten() {
            if !known.contains(&entry.key) {
                let hint = suggest::hint(entry.key, known.iter().copied());
                let list = known.join(", ");
                return Err(error!(
                    "{path}:{}: {subject} has no '{}'{hint} (known: {list})",
                    entry.line(),
                    entry.key
                ));
            }
        }
        Ok(SourceBlock { path, value })
    }

    /// Returns an error with the position of a value of the file.
    pub fn fault(&self, value: SjsonValue, message: &str) -> Error {
        fault(self.path, value, message)
    }

    pub fn get(&self, key: &str) -> Option<SjsonValue<'a>> {
        self.value.get(key)
    }

    /// Returns the number of a key, if the key exists. Fails if the number is out of range.
    pub fn number(&self, key: &str, range: (f32, f32)) -> Result<Option<f32>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        number(self.path, value, key, range).map(Some)
    }

    /// Reads the number of a key into `target`, if the key exists.
    pub fn read(&self, key: &str, range: (f32, f32), target: &mut f32) -> Result<(), Error> {
        if let Some(number) = self.number(key, range)? {
            *target = number;
        }
        Ok(())
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        text(self.path, value, key).map(Some)
    }

    /// Returns the entry of a table that a key's text names.
    pub fn choice<T: Copy>(
        &self,
        key: &str,
        table: impl Iterator<Item = (&'static str, T)> + Clone,
    ) -> Result<Option<T>, Error> {
        let Some(keyword) = self.text(key)? else { return Ok(None) };
        if let Some((_, choice)) = table.clone().find(|(name, _)| *name == keyword) {
            return Ok(Some(choice));
        }
        let names: Vec<&str> = table.map(|(name, _)| name).collect();
        let hint = suggest::hint(keyword, names.iter().copied());
        let value = self.get(key).expect("its text was read");
        let message = format!("'{key}' cannot be '{keyword}'{hint} (known: {})", names.join(", "));
        Err(self.fault(value, &message))
    }
}

/// Returns an error with the position of a value.
pub fn fault(path: &str, value: SjsonValue, message: &str) -> Error {
    error!("{path}:{}: {message}", value.line())
}

/// Reads a number in a range.
pub fn number(
    path: &str,
    value: SjsonValue,
    subject: &str,
    range: (f32, f32),
) -> Result<f32, Error> {
    let (min, max) = range;
    let Some(number) = value.as_f64() else {
        let message = format!("'{subject}' must be a number, got {}", value.kind());
        return Err(fault(path, value, &message));
    };
    if number >= f64::from(min) && number <= f64::from(max) {
        return Ok(number as f32);
    }
    let message = format!("'{subject}' must be {min} to {max}, got {number}");
    Err(fault(path, value, &message))
}

/// Reads a text.
pub fn text<'a>(path: &str, value: SjsonValue<'a>, subject: &str) -> Result<&'a str, Error> {
    value.as_str().ok_or_else(|| {
        let message = format!("'{subject}' must be text in quotes, got {}", value.kind());
        fault(path, value, &message)
    })
}
