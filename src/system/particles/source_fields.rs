//! Reader of the blocks of a `.particles` file: known keys, numbers, ranges, vectors, curves and
//! colors. Error messages name file, line and block. Defines no keys itself.

use super::data::TABLE;
use super::limits::COORDINATES;
use engine_foundation::color_source;
use engine_foundation::error;
use engine_foundation::sjson::{SjsonValue, ValueKind};
use engine_foundation::{Color, Error, suggest};

/// Maximum number of points of a curve.
pub const CURVE_POINTS_MAX: usize = 32;

/// Interpolation between the points of a curve.
const CURVE_SHAPES: [&str; 3] = ["linear", "smooth", "step"];

/// A block of the file.
#[derive(Clone, Copy)]
pub struct SourceFields<'a> {
    path: &'a str,
    /// Description of the block for messages.
    subject: &'a str,
    value: SjsonValue<'a>,
}

impl<'a> SourceFields<'a> {
    /// Opens a value as a block. Returns an error if it is no block or contains an unknown key.
    pub fn open(
        path: &'a str,
        subject: &'a str,
        value: SjsonValue<'a>,
        known: &[&str],
    ) -> Result<SourceFields<'a>, Error> {
        if value.kind() != ValueKind::Object {
            let message = format!("{subject} must be a block {{ … }}, got {}", value.kind());
            return Err(error!("{path}:{}: {message}", value.line()));
        }
        for entry in value.entries().into_iter().flatten() {
            if !known.contains(&entry.key) {
                let hint = suggest::hint(entry.key, known.iter().copied());
                let (line, list) = (entry.line(), known.join(", "));
                return Err(error!(
                    "{path}:{line}: {subject} has no '{}'{hint} (known: {list})",
                    entry.key
                ));
            }
        }
        Ok(SourceFields { path, subject, value })
    }

    /// Returns an error at a value of the block.
    pub fn error_at(&self, value: SjsonValue, message: &str) -> Error {
        error!("{}:{}: {}: {message}", self.path, value.line(), self.subject)
    }

    /// Returns an error at the block itself.
    pub fn block_error(&self, message: &str) -> Error {
        self.error_at(self.value, message)
    }

    pub fn get(&self, key: &str) -> Option<SjsonValue<'a>> {
        self.value.get(key)
    }

    /// Opens a block inside the block.
    pub fn open_block(
        &self,
        value: SjsonValue<'a>,
        subject: &'a str,
        known: &[&str],
    ) -> Result<SourceFields<'a>, Error> {
        SourceFields::open(self.path, subject, value, known)
    }

    /// Returns the items of a list. Returns an error if there are more than `most`.
    pub fn list(&self, key: &str, most: usize, limit: &str) -> Result<Vec<SjsonValue<'a>>, Error> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let items = value
            .items()
            .ok_or_else(|| self.error_at(value, &format!("'{key}' must be a list: [ … ]")))?;
        if items.len() > most {
            let message = format!("'{key}' has {}: at most {most} ({limit})", items.len());
            return Err(self.error_at(value, &message));
        }
        Ok(items.collect())
    }

    /// Returns a number, checked against a range.
    pub fn number_of(&self, key: &str, value: SjsonValue, range: (f32, f32)) -> Result<f32, Error> {
        let Some(number) = value.as_f64() else {
            let message = format!("'{key}' must be a number, got {}", value.kind());
            return Err(self.error_at(value, &message));
        };
        let (min, max) = range;
        // Rounded before the check: the decimal 0.001 is slightly less than its nearest float.
        let rounded = number as f32;
        if rounded >= min && rounded <= max {
            return Ok(rounded);
        }
        let message = format!("'{key}' must be {min} to {max}, got {number}");
        Err(self.error_at(value, &message))
    }

    /// Stores the number of a key in `target`, if the key exists.
    pub fn number(&self, key: &str, range: (f32, f32), target: &mut f32) -> Result<(), Error> {
        if let Some(value) = self.get(key) {
            *target = self.number_of(key, value, range)?;
        }
        Ok(())
    }

    /// Stores the integer of a key in `target`, if the key exists. `limit` names the constant at
    /// the end of the range.
    pub fn integer(
        &self,
        key: &str,
        range: (u32, u32),
        limit: &str,
        target: &mut u32,
    ) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        let (min, max) = range;
        match value.as_f64() {
            Some(number)
                if number.fract() == 0.0 && (f64::from(min)..=f64::from(max)).contains(&number) =>
            {
                *target = number as u32;
                Ok(())
            }
            Some(number) => {
                let limit = if limit.is_empty() { String::new() } else { format!(" ({limit})") };
                let message =
                    format!("'{key}' must be a whole number, {min} to {max}{limit}, got {number}");
                Err(self.error_at(value, &message))
            }
            None => {
                let message = format!("'{key}' must be a whole number, got {}", value.kind());
                Err(self.error_at(value, &message))
            }
        }
    }

    pub fn boolean(&self, key: &str, target: &mut u32) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        match value.as_bool() {
            Some(boolean) => *target = u32::from(boolean),
            None => return Err(self.error_at(value, &format!("'{key}' must be true or false"))),
        }
        Ok(())
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(self.error_at(value, &format!("'{key}' must be text in quotes"))),
        }
    }

    /// Returns the value that a keyword selects from a table.
    pub fn choice<T: Copy>(&self, key: &str, table: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(keyword) = self.text(key)? else { return Ok(None) };
        if let Some((_, choice)) = table.iter().find(|(name, _)| *name == keyword) {
            return Ok(Some(*choice));
        }
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        let hint = suggest::hint(keyword, names.iter().copied());
        let value = self.get(key).expect("its text was read");
        let message = format!("'{key}' cannot be '{keyword}'{hint} (known: {})", names.join(", "));
        Err(self.error_at(value, &message))
    }

    /// Stores a number or a range of two numbers.
    pub fn range(&self, key: &str, within: (f32, f32), target: &mut [f32; 2]) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        let Some(items) = value.items() else {
            *target = [self.number_of(key, value, within)?; 2];
            return Ok(());
        };
        let items: Vec<SjsonValue> = items.collect();
        let [low, high] = items[..] else {
            let message = format!("'{key}' must be a number, or two: [least, most]");
            return Err(self.error_at(value, &message));
        };
        *target = [self.number_of(key, low, within)?, self.number_of(key, high, within)?];
        if target[0] > target[1] {
            let message = format!(
                "'{key}' must have the smaller number first, got [{}, {}]",
                target[0], target[1]
            );
            return Err(self.error_at(value, &message));
        }
        Ok(())
    }

    /// Stores an integer or a range of two integers.
    pub fn read_count_range(
        &self,
        key: &str,
        most: u32,
        target: &mut [u32; 2],
    ) -> Result<(), Error> {
        let mut range = target.map(|count| count as f32);
        self.range(key, (0.0, most as f32), &mut range)?;
        if range.iter().any(|count| count.fract() != 0.0) {
            let value = self.get(key).expect("it was read");
            return Err(self.error_at(value, &format!("'{key}' must be whole")));
        }
        *target = range.map(|count| count as u32);
        Ok(())
    }

    /// Returns a vector of two or three numbers. A missing third number is 0.
    pub fn vector_of(&self, key: &str, value: SjsonValue) -> Result<[f32; 3], Error> {
        let message = format!("'{key}' must be two or three numbers: [x, y] or [x, y, z]");
        let items: Vec<SjsonValue> = match value.items() {
            Some(items) if (2..=3).contains(&items.len()) => items.collect(),
            _ => return Err(self.error_at(value, &message)),
        };
        let mut out = [0.0; 3];
        for (target, item) in out.iter_mut().zip(items) {
            *target = self.number_of(key, item, COORDINATES)?;
        }
        Ok(out)
    }

    pub fn vector(&self, key: &str, target: &mut [f32; 3]) -> Result<(), Error> {
        if let Some(value) = self.get(key) {
            *target = self.vector_of(key, value)?;
        }
        Ok(())
    }

    /// Stores a vector that must have a direction, with length 1.
    pub fn direction(&self, key: &str, target: &mut [f32; 3]) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        let vector = self.vector_of(key, value)?;
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        if length < 1e-6 {
            return Err(self.error_at(value, &format!("'{key}' must have a direction, got zeros")));
        }
        *target = vector.map(|part| part / length);
        Ok(())
    }

    /// Stores an angle in degrees as radians.
    pub fn angle(&self, key: &str, most: f32, target: &mut f32) -> Result<(), Error> {
        if let Some(value) = self.get(key) {
            *target = self.number_of(key, value, (0.0, most))?.to_radians();
        }
        Ok(())
    }

    /// Stores a number over life: a constant, a list of points, or a block of points and a shape.
    pub fn curve(
        &self,
        key: &str,
        range: (f32, f32),
        table: &mut [f32; TABLE],
    ) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        if value.kind() == ValueKind::Number {
            *table = [self.number_of(key, value, range)?; TABLE];
            return Ok(());
        }
        let (points, shape) = self.points(key, value, "[time, number]")?;
        let mut curve = Vec::with_capacity(points.len());
        for (time, item) in points {
            curve.push((time, [self.number_of(key, item, range)?]));
        }
        sample_curve(&curve, shape, |i, [number]| table[i] = number);
        Ok(())
    }

    /// Stores a color over life: a constant, a list of points, or a block of points and a shape.
    pub fn colors(&self, key: &str, table: &mut [[u8; 4]; TABLE]) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        if is_color(value) {
            *table = [self.color_of(key, value)?; TABLE];
            return Ok(());
        }
        let (points, shape) = self.points(key, value, "[time, \"#rrggbb\"]")?;
        let mut curve = Vec::with_capacity(points.len());
        for (time, item) in points {
            curve.push((time, self.color_of(key, item)?.map(f32::from)));
        }
        sample_curve(&curve, shape, |i, color| table[i] = color.map(|part| (part + 0.5) as u8));
        Ok(())
    }

    /// Parses a color.
    pub fn color_of(&self, key: &str, value: SjsonValue) -> Result<[u8; 4], Error> {
        let color = color_source::read(&value.to_tree(), "");
        color
            .map(Color::to_bytes)
            .map_err(|message| self.error_at(value, &format!("'{key}' {message}")))
    }

    /// Returns the points of a curve, and the index of its shape in [`CURVE_SHAPES`].
    fn points(
        &self,
        key: &str,
        value: SjsonValue<'a>,
        form: &str,
    ) -> Result<(Vec<(f32, SjsonValue<'a>)>, usize), Error> {
        let mut shape = 0;
        let mut list = value;
        if value.kind() == ValueKind::Object {
            let block = SourceFields::open(self.path, self.subject, value, &["points", "shape"])?;
            let table: Vec<(&str, usize)> = CURVE_SHAPES.into_iter().zip(0..).collect();
            shape = block.choice("shape", &table)?.unwrap_or(0);
            list = block.get("points").ok_or_else(|| {
                self.error_at(value, &format!("the curve '{key}' has no 'points'"))
            })?;
        }
        let error = |at: SjsonValue| {
            let message = format!("'{key}' must be a list of points, each {form}");
            self.error_at(at, &message)
        };
        let items: Vec<SjsonValue> = list.items().ok_or_else(|| error(list))?.collect();
        if items.is_empty() || items.len() > CURVE_POINTS_MAX {
            let message = format!(
                "the curve '{key}' has {} points: 1 to {CURVE_POINTS_MAX} (CURVE_POINTS_MAX)",
                items.len()
            );
            return Err(self.error_at(list, &message));
        }
        let mut points: Vec<(f32, SjsonValue)> = Vec::with_capacity(items.len());
        for item in items {
            let pair: Vec<SjsonValue> = item.items().ok_or_else(|| error(item))?.collect();
            let [time, number] = pair[..] else { return Err(error(item)) };
            let time = self.number_of(&format!("{key}' time"), time, (0.0, 1.0))?;
            if points.last().is_some_and(|(before, _)| *before > time) {
                let message = format!("the curve '{key}' goes back in time: sort its points");
                return Err(self.error_at(item, &message));
            }
            points.push((time, number));
        }
        Ok((points, shape))
    }
}

/// Returns true for a value that is one color, and no list of several: text, or a list of numbers.
pub fn is_color(value: SjsonValue) -> bool {
    let is_number = |item: SjsonValue| item.kind() == ValueKind::Number;
    value.kind() == ValueKind::String
        || value.items().is_some_and(|mut items| items.next().is_some_and(is_number))
}

/// Samples a curve at [`TABLE`] times.
fn sample_curve<const N: usize>(
    points: &[(f32, [f32; N])],
    shape: usize,
    mut write: impl FnMut(usize, [f32; N]),
) {
    for i in 0..TABLE {
        let time = i as f32 / (TABLE - 1) as f32;
        let next = points.iter().position(|(at, _)| *at > time);
        let value = match next {
            Some(0) => points[0].1,
            None => points[points.len() - 1].1,
            Some(next) => {
                let ((from, a), (to, b)) = (points[next - 1], points[next]);
                let linear = (time - from) / (to - from);
                let part = match shape {
                    1 => linear * linear * (3.0 - 2.0 * linear),
                    2 => 0.0,
                    _ => linear,
                };
                std::array::from_fn(|axis| a[axis] + (b[axis] - a[axis]) * part)
            }
        };
        write(i, value);
    }
}
