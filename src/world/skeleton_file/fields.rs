//! Values of a `.skeleton` file, read with messages that name the file, the line and the subject.

use engine_foundation::sjson::{ObjectEntry, SjsonValue};
use engine_foundation::{Error, color_source, error, suggest};

/// Maximum length of a name in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Maximum absolute coordinate in texels, and maximum absolute scale.
pub const COORDINATE_MAX: f32 = 1e6;
/// Maximum absolute angle in degrees: a hundred turns.
pub const ANGLE_MAX: f32 = 36_000.0;

/// A block of the file.
#[derive(Clone)]
pub struct Block<'a> {
    pub path: &'a str,
    /// Description of the block for messages: "bone 'arm'".
    pub subject: String,
    pub value: SjsonValue<'a>,
}

impl<'a> Block<'a> {
    /// Opens a value as a block with some known keys; without any, all keys are allowed.
    ///
    /// # Errors
    /// Returns an error if the value is no block, or has an unknown key.
    pub fn open(
        path: &'a str,
        subject: impl Into<String>,
        value: SjsonValue<'a>,
        known: &[&str],
    ) -> Result<Block<'a>, Error> {
        let block = Block { path, subject: subject.into(), value };
        for entry in block.entries()? {
            if !known.is_empty() && !known.contains(&entry.key) {
                let near = suggest::hint(entry.key, known.iter().copied());
                let list = known.join(", ");
                let message = format!("has no '{}'{near} (known: {list})", entry.key);
                return Err(block.error_at(entry.value, &message));
            }
        }
        Ok(block)
    }

    /// Returns the entries of the block.
    ///
    /// # Errors
    /// Returns an error if the value is no block.
    pub fn entries(&self) -> Result<Vec<ObjectEntry<'a>>, Error> {
        let entries = self.value.entries().map(Iterator::collect);
        entries.ok_or_else(|| {
            let kind = self.value.kind();
            self.error_at(self.value, &format!("must be a block {{ … }}, got {kind}"))
        })
    }

    /// Returns the entries of a block with names that the file chooses, such as bones. Without the
    /// key, there are none.
    ///
    /// # Errors
    /// Returns an error if there are too many, or a name is not valid.
    pub fn named(
        &self,
        key: &str,
        (most, limit): (usize, &str),
    ) -> Result<Vec<ObjectEntry<'a>>, Error> {
        let Some(value) = self.value.get(key) else { return Ok(Vec::new()) };
        let block = Block::open(self.path, format!("'{key}' of {}", self.subject), value, &[])?;
        let entries = block.entries()?;
        if entries.len() > most {
            let count = entries.len();
            return Err(block
                .error_at(value, &format!("has {count} entries: {most} is the most ({limit})")));
        }
        for entry in &entries {
            let bad = |c: char| c.is_control() || c == '/' || c == '#';
            if entry.key.is_empty() || entry.key.len() > NAME_BYTES_MAX || entry.key.contains(bad) {
                let message = format!(
                    "has the name '{}': a name has 1 to {NAME_BYTES_MAX} bytes (NAME_BYTES_MAX), \
                     and no '/' and no '#'",
                    entry.key
                );
                return Err(block.error_at(entry.value, &message));
            }
        }
        Ok(entries)
    }

    /// Returns an error at a value of the file. The message continues a sentence that begins with
    /// the subject.
    pub fn error_at(&self, value: SjsonValue, message: &str) -> Error {
        error!("{}:{}: {} {message}", self.path, value.line(), self.subject)
    }

    fn read<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(SjsonValue<'a>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.value.get(key) else { return Ok(None) };
        let found = read(value);
        found.map(Some).ok_or_else(|| {
            error!("{}:{}: '{key}' of {} must be {wanted}", self.path, value.line(), self.subject)
        })
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>, Error> {
        self.read(key, "a text in quotes", SjsonValue::as_str)
    }

    /// Reads the name of a resource.
    pub fn resource(&self, key: &str) -> Result<Option<&'a str>, Error> {
        self.read(key, "the name of a resource in quotes", |value| {
            value.as_str().filter(|name| !name.is_empty() && !name.contains('\0'))
        })
    }

    pub fn number(&self, key: &str, least: f32, most: f32) -> Result<Option<f32>, Error> {
        let wanted = format!("a number from {least} to {most}");
        self.read(key, &wanted, |value| {
            value.as_f32().filter(|number| (least..=most).contains(number))
        })
    }

    /// Reads an angle in degrees.
    pub fn angle(&self, key: &str) -> Result<Option<f32>, Error> {
        self.number(key, -ANGLE_MAX, ANGLE_MAX)
    }

    /// Reads two numbers.
    pub fn pair(&self, key: &str, most: f32) -> Result<Option<[f32; 2]>, Error> {
        let wanted = format!("two numbers of at most {most}, such as [1, 2]");
        self.read(key, &wanted, |value| numbers(value, most))
    }

    /// Reads a scale: two numbers, or one for both axes.
    pub fn scale(&self, key: &str) -> Result<Option<[f32; 2]>, Error> {
        let wanted = format!("one or two numbers of at most {COORDINATE_MAX}");
        self.read(key, &wanted, scale_of)
    }

    /// Reads a colour as numbers from 0 to 1.
    pub fn color(&self, key: &str) -> Result<Option<[f32; 4]>, Error> {
        let Some(value) = self.value.get(key) else { return Ok(None) };
        color_of(value).map(Some).map_err(|message| {
            error!("{}:{}: '{key}' of {} {message}", self.path, value.line(), self.subject)
        })
    }
}

/// Returns a list of numbers with an absolute value of at most `most`.
pub fn numbers<const N: usize>(value: SjsonValue, most: f32) -> Option<[f32; N]> {
    let items = value.items().filter(|items| items.len() == N)?;
    let mut out = [0.0; N];
    for (slot, item) in out.iter_mut().zip(items) {
        *slot = item.as_f32().filter(|number| number.abs() <= most)?;
    }
    Some(out)
}

/// Returns a scale: two numbers, or one for both axes.
pub fn scale_of(value: SjsonValue) -> Option<[f32; 2]> {
    let single = value.as_f32().filter(|number| number.abs() <= COORDINATE_MAX);
    single.map(|number| [number; 2]).or_else(|| numbers(value, COORDINATE_MAX))
}

/// Returns a colour as numbers from 0 to 1.
///
/// # Errors
/// Returns a message that continues a sentence that begins with the key.
pub fn color_of(value: SjsonValue) -> Result<[f32; 4], String> {
    let color = color_source::read(&value.to_tree(), "")?;
    Ok([color.red, color.green, color.blue, color.alpha].map(|part| part / 255.0))
}
