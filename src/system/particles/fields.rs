//! Reading blocks of a `.particles`: keys that must be known, numbers, ranges, vectors, curves and
//! colours, all with words that name file, line and block. Knows no keys of its own.

use super::definition::TABLE;
use super::ranges::FAR;
use crate::error;
use crate::foundation::sjson::{Kind, Value};
use crate::foundation::{Error, suggest};

/// The most points of a curve.
pub const CURVE_POINTS_MAX: usize = 32;

/// How a curve goes from point to point.
const CURVE_SHAPES: [&str; 3] = ["linear", "smooth", "step"];

/// A block of the file.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    path: &'a str,
    /// What the block is, for messages.
    what: &'a str,
    value: Value<'a>,
}

impl<'a> Fields<'a> {
    /// The block, if it is one, and all its keys are known.
    pub fn open(
        path: &'a str,
        what: &'a str,
        value: Value<'a>,
        known: &[&str],
    ) -> Result<Fields<'a>, Error> {
        if value.kind() != Kind::Object {
            let words = format!("{what} must be a block {{ … }}, got {}", value.kind());
            return Err(error!("{path}:{}: {words}", value.line()));
        }
        for entry in value.entries().into_iter().flatten() {
            if !known.contains(&entry.key) {
                let hint = suggest::hint(entry.key, known.iter().copied());
                let (line, list) = (entry.line(), known.join(", "));
                return Err(error!(
                    "{path}:{line}: {what} has no '{}'{hint} (known: {list})",
                    entry.key
                ));
            }
        }
        Ok(Fields { path, what, value })
    }

    /// An error at a value of the block.
    pub fn fault(&self, value: Value, words: &str) -> Error {
        error!("{}:{}: {}: {words}", self.path, value.line(), self.what)
    }

    /// An error at the block itself.
    pub fn fault_here(&self, words: &str) -> Error {
        self.fault(self.value, words)
    }

    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.value.get(key)
    }

    /// A block within the block.
    pub fn inner(
        &self,
        value: Value<'a>,
        what: &'a str,
        known: &[&str],
    ) -> Result<Fields<'a>, Error> {
        Fields::open(self.path, what, value, known)
    }

    /// The items of a list, at most so many.
    pub fn list(&self, key: &str, most: usize, limit: &str) -> Result<Vec<Value<'a>>, Error> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let items = value
            .items()
            .ok_or_else(|| self.fault(value, &format!("'{key}' must be a list: [ … ]")))?;
        if items.len() > most {
            let words = format!("'{key}' has {}: at most {most} ({limit})", items.len());
            return Err(self.fault(value, &words));
        }
        Ok(items.collect())
    }

    /// A number in a range.
    pub fn number_of(&self, key: &str, value: Value, range: (f32, f32)) -> Result<f32, Error> {
        let Some(number) = value.as_f64() else {
            let words = format!("'{key}' must be a number, got {}", value.kind());
            return Err(self.fault(value, &words));
        };
        let (min, max) = range;
        // Rounded first: 0.001 as it is written is a little less than the nearest float.
        let rounded = number as f32;
        if rounded >= min && rounded <= max {
            return Ok(rounded);
        }
        let words = format!("'{key}' must be {min} to {max}, got {number}");
        Err(self.fault(value, &words))
    }

    /// Puts the number of a key, if it is there, in its place.
    pub fn number(&self, key: &str, range: (f32, f32), place: &mut f32) -> Result<(), Error> {
        if let Some(value) = self.get(key) {
            *place = self.number_of(key, value, range)?;
        }
        Ok(())
    }

    /// The same of a whole number. `limit` names the constant that the range ends with.
    pub fn whole(
        &self,
        key: &str,
        range: (u32, u32),
        limit: &str,
        place: &mut u32,
    ) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        let (min, max) = range;
        match value.as_f64() {
            Some(number)
                if number.fract() == 0.0 && (f64::from(min)..=f64::from(max)).contains(&number) =>
            {
                *place = number as u32;
                Ok(())
            }
            Some(number) => {
                let limit = if limit.is_empty() { String::new() } else { format!(" ({limit})") };
                let words =
                    format!("'{key}' must be a whole number, {min} to {max}{limit}, got {number}");
                Err(self.fault(value, &words))
            }
            None => {
                let words = format!("'{key}' must be a whole number, got {}", value.kind());
                Err(self.fault(value, &words))
            }
        }
    }

    pub fn truth(&self, key: &str, place: &mut u32) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        match value.as_bool() {
            Some(truth) => *place = u32::from(truth),
            None => return Err(self.fault(value, &format!("'{key}' must be true or false"))),
        }
        Ok(())
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(self.fault(value, &format!("'{key}' must be text in quotes"))),
        }
    }

    /// The row of the table that a key names.
    pub fn choice<T: Copy>(&self, key: &str, table: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        if let Some((_, choice)) = table.iter().find(|(name, _)| *name == word) {
            return Ok(Some(*choice));
        }
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        let hint = suggest::hint(word, names.iter().copied());
        let value = self.get(key).expect("its text was read");
        let words = format!("'{key}' cannot be '{word}'{hint} (known: {})", names.join(", "));
        Err(self.fault(value, &words))
    }

    /// A number, or the two between which it lies.
    pub fn range(&self, key: &str, within: (f32, f32), place: &mut [f32; 2]) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        let Some(items) = value.items() else {
            *place = [self.number_of(key, value, within)?; 2];
            return Ok(());
        };
        let items: Vec<Value> = items.collect();
        let [low, high] = items[..] else {
            let words = format!("'{key}' must be a number, or two: [least, most]");
            return Err(self.fault(value, &words));
        };
        *place = [self.number_of(key, low, within)?, self.number_of(key, high, within)?];
        if place[0] > place[1] {
            let words = format!(
                "'{key}' must have the smaller number first, got [{}, {}]",
                place[0], place[1]
            );
            return Err(self.fault(value, &words));
        }
        Ok(())
    }

    /// The same of whole numbers.
    pub fn counts(&self, key: &str, most: u32, place: &mut [u32; 2]) -> Result<(), Error> {
        let mut range = place.map(|count| count as f32);
        self.range(key, (0.0, most as f32), &mut range)?;
        if range.iter().any(|count| count.fract() != 0.0) {
            let value = self.get(key).expect("it was read");
            return Err(self.fault(value, &format!("'{key}' must be whole")));
        }
        *place = range.map(|count| count as u32);
        Ok(())
    }

    /// Two numbers or three; the third is 0 then.
    pub fn vector_of(&self, key: &str, value: Value) -> Result<[f32; 3], Error> {
        let words = format!("'{key}' must be two or three numbers: [x, y] or [x, y, z]");
        let items: Vec<Value> = match value.items() {
            Some(items) if (2..=3).contains(&items.len()) => items.collect(),
            _ => return Err(self.fault(value, &words)),
        };
        let mut out = [0.0; 3];
        for (place, item) in out.iter_mut().zip(items) {
            *place = self.number_of(key, item, FAR)?;
        }
        Ok(out)
    }

    pub fn vector(&self, key: &str, place: &mut [f32; 3]) -> Result<(), Error> {
        if let Some(value) = self.get(key) {
            *place = self.vector_of(key, value)?;
        }
        Ok(())
    }

    /// The same of a vector that has a direction.
    pub fn direction(&self, key: &str, place: &mut [f32; 3]) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        let vector = self.vector_of(key, value)?;
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        if length < 1e-6 {
            return Err(self.fault(value, &format!("'{key}' must have a direction, got zeros")));
        }
        *place = vector.map(|part| part / length);
        Ok(())
    }

    /// Degrees, kept as radians.
    pub fn angle(&self, key: &str, most: f32, place: &mut f32) -> Result<(), Error> {
        if let Some(value) = self.get(key) {
            *place = self.number_of(key, value, (0.0, most))?.to_radians();
        }
        Ok(())
    }

    /// A number over life: alone, as points, or as a block of points and a shape.
    pub fn curve(
        &self,
        key: &str,
        range: (f32, f32),
        table: &mut [f32; TABLE],
    ) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        if value.kind() == Kind::Number {
            *table = [self.number_of(key, value, range)?; TABLE];
            return Ok(());
        }
        let (points, shape) = self.points(key, value, "[time, number]")?;
        let mut curve = Vec::with_capacity(points.len());
        for (time, item) in points {
            curve.push((time, [self.number_of(key, item, range)?]));
        }
        bake(&curve, shape, |i, [number]| table[i] = number);
        Ok(())
    }

    /// A colour over life, likewise.
    pub fn colors(&self, key: &str, table: &mut [[u8; 4]; TABLE]) -> Result<(), Error> {
        let Some(value) = self.get(key) else { return Ok(()) };
        if value.kind() == Kind::String {
            *table = [self.color_of(key, value)?; TABLE];
            return Ok(());
        }
        let (points, shape) = self.points(key, value, "[time, \"#rrggbb\"]")?;
        let mut curve = Vec::with_capacity(points.len());
        for (time, item) in points {
            curve.push((time, self.color_of(key, item)?.map(f32::from)));
        }
        bake(&curve, shape, |i, color| table[i] = color.map(|part| (part + 0.5) as u8));
        Ok(())
    }

    /// `#rgb`, `#rrggbb` or `#rrggbbaa`.
    pub fn color_of(&self, key: &str, value: Value) -> Result<[u8; 4], Error> {
        let fault = || {
            let words = format!("'{key}' must be a colour: \"#rgb\", \"#rrggbb\" or \"#rrggbbaa\"");
            self.fault(value, &words)
        };
        let digits = value.as_str().and_then(|text| text.strip_prefix('#')).ok_or_else(fault)?;
        let digits: Option<Vec<u32>> = digits.chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.ok_or_else(fault)?;
        let pair = |i: usize| (digits[2 * i] * 16 + digits[2 * i + 1]) as u8;
        match digits.len() {
            3 => Ok([digits[0], digits[1], digits[2], 15].map(|digit| (digit * 17) as u8)),
            6 => Ok([pair(0), pair(1), pair(2), 255]),
            8 => Ok([pair(0), pair(1), pair(2), pair(3)]),
            _ => Err(fault()),
        }
    }

    /// The points of a curve, and which of [`CURVE_SHAPES`] it has.
    fn points(
        &self,
        key: &str,
        value: Value<'a>,
        form: &str,
    ) -> Result<(Vec<(f32, Value<'a>)>, usize), Error> {
        let mut shape = 0;
        let mut list = value;
        if value.kind() == Kind::Object {
            let block = Fields::open(self.path, self.what, value, &["points", "shape"])?;
            let table: Vec<(&str, usize)> = CURVE_SHAPES.into_iter().zip(0..).collect();
            shape = block.choice("shape", &table)?.unwrap_or(0);
            list = block
                .get("points")
                .ok_or_else(|| self.fault(value, &format!("the curve '{key}' has no 'points'")))?;
        }
        let fault = |at: Value| {
            let words = format!("'{key}' must be a list of points, each {form}");
            self.fault(at, &words)
        };
        let items: Vec<Value> = list.items().ok_or_else(|| fault(list))?.collect();
        if items.is_empty() || items.len() > CURVE_POINTS_MAX {
            let words = format!(
                "the curve '{key}' has {} points: 1 to {CURVE_POINTS_MAX} (CURVE_POINTS_MAX)",
                items.len()
            );
            return Err(self.fault(list, &words));
        }
        let mut points: Vec<(f32, Value)> = Vec::with_capacity(items.len());
        for item in items {
            let pair: Vec<Value> = item.items().ok_or_else(|| fault(item))?.collect();
            let [time, number] = pair[..] else { return Err(fault(item)) };
            let time = self.number_of(&format!("{key}' time"), time, (0.0, 1.0))?;
            if points.last().is_some_and(|(before, _)| *before > time) {
                let words = format!("the curve '{key}' goes back in time: sort its points");
                return Err(self.fault(item, &words));
            }
            points.push((time, number));
        }
        Ok((points, shape))
    }
}

/// Writes a curve down in [`TABLE`] steps.
fn bake<const N: usize>(
    points: &[(f32, [f32; N])],
    shape: usize,
    mut put: impl FnMut(usize, [f32; N]),
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
        put(i, value);
    }
}
