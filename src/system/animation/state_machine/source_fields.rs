//! Reader of the blocks of a `.state_machine` file. Error messages name file, line and block.
//! Defines no keys itself.

use engine_foundation::error::LISTED_MAX;
use engine_foundation::sjson::{ObjectEntry, SjsonValue, ValueKind};
use engine_foundation::{Error, error, suggest};

/// Maximum length of a name in bytes.
pub const NAME_BYTES_MAX: usize = 128;

/// Block of the file.
#[derive(Clone)]
pub struct SourceFields<'a> {
    pub path: &'a str,
    /// Description of the block for messages.
    pub subject: String,
    pub value: SjsonValue<'a>,
}

impl<'a> SourceFields<'a> {
    /// Opens a value as a block. Returns an error if it is no block or contains an unknown key.
    pub fn open(
        path: &'a str,
        subject: impl Into<String>,
        value: SjsonValue<'a>,
        known: &[&str],
    ) -> Result<SourceFields<'a>, Error> {
        let fields = SourceFields { path, subject: subject.into(), value };
        match fields.unknown_keys(known)?.pop() {
            Some(error) => Err(error),
            None => Ok(fields),
        }
    }

    /// Returns an error for each unknown key, the last one first, as far as they are listed.
    /// Returns an error if the value is no block.
    pub fn unknown_keys(&self, known: &[&str]) -> Result<Vec<Error>, Error> {
        let unknown = |entry: &ObjectEntry<'a>| {
            let hint = suggest::hint(entry.key, known.iter().copied());
            let (line, list, key) = (entry.line(), known.join(", "), entry.key);
            let SourceFields { path, subject, .. } = self;
            error!("{path}:{line}: {subject} has no '{key}'{hint} (known: {list})")
        };
        let entries = self.entries()?;
        // More are not listed.
        let entries = entries.iter().filter(|entry| !known.contains(&entry.key));
        let mut errors: Vec<Error> = entries.take(LISTED_MAX + 1).map(unknown).collect();
        errors.reverse();
        Ok(errors)
    }

    /// Returns the entries of the block. Returns an error if it is no block.
    pub fn entries(&self) -> Result<Vec<ObjectEntry<'a>>, Error> {
        match self.value.entries() {
            Some(entries) => Ok(entries.collect()),
            None => {
                let (line, kind) = (self.value.line(), self.value.kind());
                let SourceFields { path, subject, .. } = self;
                Err(error!("{path}:{line}: {subject} must be a block {{ … }}, got {kind}"))
            }
        }
    }

    /// Opens a block with names that the file chooses, such as states.
    pub fn named_entries(
        &self,
        key: &str,
        (most, limit): (usize, &str),
    ) -> Result<Vec<ObjectEntry<'a>>, Error> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let subject = format!("'{key}' of {}", self.subject);
        let entries = SourceFields { path: self.path, subject, value }.entries()?;
        if entries.len() > most {
            let count = entries.len();
            let message = format!("'{key}' has {count} entries: at most {most} ({limit})");
            return Err(self.error_at(value, &message));
        }
        Ok(entries)
    }

    /// Returns an error if the name of an entry of [`SourceFields::named_entries`] is not valid.
    pub fn check_name(&self, key: &str, entry: &ObjectEntry) -> Result<(), Error> {
        let bad = |c: char| c.is_control() || c == '/';
        let name = entry.key;
        if !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(bad) {
            return Ok(());
        }
        let (path, line, subject) = (self.path, entry.line(), &self.subject);
        Err(error!(
            "{path}:{line}: '{key}' of {subject} has the name '{name}': a name has 1 to \
             {NAME_BYTES_MAX} bytes (NAME_BYTES_MAX) and no '/'"
        ))
    }

    /// Returns an error at a value of the block.
    pub fn error_at(&self, value: SjsonValue, message: &str) -> Error {
        error!("{}:{}: {}: {message}", self.path, value.line(), self.subject)
    }

    /// Returns an error at the block itself.
    pub fn block_error(&self, message: &str) -> Error {
        self.error_at(self.value, message)
    }

    /// Returns an error for a name that does not exist.
    pub fn unknown<'b>(
        &self,
        value: SjsonValue,
        kind: &str,
        name: &str,
        known: impl IntoIterator<Item = &'b str>,
    ) -> Error {
        let hint = suggest::hint(name, known);
        self.error_at(value, &format!("there is no {kind} '{name}'{hint}"))
    }

    pub fn get(&self, key: &str) -> Option<SjsonValue<'a>> {
        self.value.get(key)
    }

    /// Returns the items of a list. Returns an error if there are more than `most`.
    pub fn list(
        &self,
        key: &str,
        (most, limit): (usize, &str),
    ) -> Result<Option<Vec<SjsonValue<'a>>>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let items = value
            .items()
            .ok_or_else(|| self.error_at(value, &format!("'{key}' must be a list: [ … ]")))?;
        if items.len() > most {
            let message = format!("'{key}' has {} items: at most {most} ({limit})", items.len());
            return Err(self.error_at(value, &message));
        }
        Ok(Some(items.collect()))
    }

    /// Returns a value, or the items of a list.
    pub fn one_or_list(
        &self,
        key: &str,
        limit: (usize, &str),
    ) -> Result<Vec<SjsonValue<'a>>, Error> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(value) if value.kind() != ValueKind::Array => Ok(vec![value]),
            Some(_) => Ok(self.list(key, limit)?.unwrap_or_default()),
        }
    }

    /// Returns a number, checked against a range.
    pub fn number_of(&self, key: &str, value: SjsonValue, range: (f32, f32)) -> Result<f32, Error> {
        let Some(number) = value.as_f64() else {
            let message = format!("'{key}' must be a number, got {}", value.kind());
            return Err(self.error_at(value, &message));
        };
        let (min, max) = range;
        let rounded = number as f32;
        if rounded >= min && rounded <= max {
            return Ok(rounded);
        }
        let message = format!("'{key}' must be {min} to {max}, got {number}");
        Err(self.error_at(value, &message))
    }

    pub fn number(&self, key: &str, range: (f32, f32)) -> Result<Option<f32>, Error> {
        self.get(key).map(|value| self.number_of(key, value, range)).transpose()
    }

    pub fn boolean(&self, key: &str) -> Result<Option<bool>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.as_bool() {
            Some(boolean) => Ok(Some(boolean)),
            None => Err(self.error_at(value, &format!("'{key}' must be true or false"))),
        }
    }

    /// Returns the text of a value.
    pub fn text_of(&self, key: &str, value: SjsonValue<'a>) -> Result<&'a str, Error> {
        let text = value.as_str().ok_or_else(|| {
            let message = format!("'{key}' must be text in quotes, got {}", value.kind());
            self.error_at(value, &message)
        })?;
        if text.is_empty() || text.len() > 2 * NAME_BYTES_MAX {
            let message = format!("'{key}' must have 1 to {} bytes", 2 * NAME_BYTES_MAX);
            return Err(self.error_at(value, &message));
        }
        Ok(text)
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>, Error> {
        self.get(key).map(|value| self.text_of(key, value)).transpose()
    }

    /// Returns the value that a keyword selects from a table.
    pub fn choice<T: Copy>(&self, key: &str, table: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(keyword) = self.text(key)? else { return Ok(None) };
        if let Some((_, choice)) = table.iter().find(|(name, _)| *name == keyword) {
            return Ok(Some(*choice));
        }
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        let hint = suggest::hint(keyword, names.iter().copied());
        let message = format!("'{key}' cannot be '{keyword}'{hint} (known: {})", names.join(", "));
        Err(self.error_at(self.get(key).unwrap_or(self.value), &message))
    }

    /// Returns as many numbers as the list has, or the error of each. Returns an error if it is no
    /// list of this length.
    pub fn numbers_of<const N: usize>(
        &self,
        key: &str,
        value: SjsonValue,
        range: (f32, f32),
    ) -> Result<[Result<f32, Error>; N], Error> {
        let items: Vec<SjsonValue> = value.items().into_iter().flatten().collect();
        let Ok(items) = <[SjsonValue; N]>::try_from(items) else {
            let message = format!("'{key}' must be a list of {N} numbers");
            return Err(self.error_at(value, &message));
        };
        Ok(items.map(|item| self.number_of(key, item, range)))
    }

    /// Returns numbers, or the first error of one.
    pub fn vector_of<const N: usize>(
        &self,
        key: &str,
        value: SjsonValue,
        range: (f32, f32),
    ) -> Result<[f32; N], Error> {
        let mut out = [0.0; N];
        for (target, number) in out.iter_mut().zip(self.numbers_of::<N>(key, value, range)?) {
            *target = number?;
        }
        Ok(out)
    }
}
