//! Typed access to the fields of the tree that the compilers produce. Every number is checked.

use super::TILES_MAX;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;

/// Typed access to the fields of an object in the tree.
pub(super) struct ObjectFields<'a>(pub &'a SjsonTree);

impl<'a> ObjectFields<'a> {
    pub(super) fn list(&self, key: &str) -> &'a [SjsonTree] {
        match self.0.get(key) {
            Some(SjsonTree::Array(items)) => items,
            _ => &[],
        }
    }

    pub(super) fn text(&self, key: &str) -> String {
        match self.0.get(key) {
            Some(SjsonTree::String(text)) => text.clone(),
            _ => String::new(),
        }
    }

    /// Reads a number, which may be infinite; 0 if the field is missing.
    pub(super) fn number(&self, key: &str) -> Result<f64, Error> {
        match self.0.get(key) {
            None => Ok(0.0),
            Some(SjsonTree::Number(number)) => Ok(*number),
            Some(_) => Err(error!("'{key}' must be a number")),
        }
    }

    pub(super) fn float(&self, key: &str) -> Result<f32, Error> {
        bounded(key, self.number(key)?)
    }

    pub(super) fn integer(&self, key: &str, most: u32) -> Result<u32, Error> {
        let number = self.number(key)?;
        match number.fract() == 0.0 && (0.0..=f64::from(most)).contains(&number) {
            true => Ok(number as u32),
            false => Err(error!("'{key}' must be a whole number from 0 to {most}, got {number}")),
        }
    }

    pub(super) fn size(&self, key: &str) -> Result<f32, Error> {
        let number = self.number(key)?;
        match (1.0..=65_536.0).contains(&number) {
            true => Ok(number as f32),
            false => Err(error!("'{key}' must be 1 to 65536 texels, got {number}")),
        }
    }

    /// Reads two numbers; zeros if the field is missing.
    pub(super) fn pair(&self, key: &str) -> Result<[f32; 2], Error> {
        match (self.0.get(key), self.list(key)) {
            (None, _) => Ok([0.0; 2]),
            (_, [SjsonTree::Number(x), SjsonTree::Number(y)]) => {
                Ok([bounded(key, *x)?, bounded(key, *y)?])
            }
            _ => Err(error!("'{key}' must be two numbers")),
        }
    }

    pub(super) fn truth(&self, key: &str) -> bool {
        matches!(self.0.get(key), Some(SjsonTree::Bool(true)))
    }

    /// Reads a number from 0 to 1; 1 if the field is missing.
    pub(super) fn share(&self, key: &str) -> Result<f32, Error> {
        match self.0.get(key) {
            None => Ok(1.0),
            Some(_) => Ok(self.float(key)?.clamp(0.0, 1.0)),
        }
    }

    pub(super) fn properties(&self) -> SjsonTree {
        self.0.get("properties").cloned().unwrap_or(SjsonTree::Object(Vec::new()))
    }

    /// Reads `columns` × `rows` integers and flips their rows to bottom-up order.
    pub(super) fn cells<T>(
        &self,
        key: &str,
        columns: u32,
        rows: u32,
        of: impl Fn(f64) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let (items, wanted) = (self.list(key), columns as usize * rows as usize);
        if wanted > TILES_MAX {
            return Err(error!(
                "layer '{}' has {wanted} tiles, and {TILES_MAX} is the most (TILES_MAX)",
                self.text("name")
            ));
        }
        if items.len() != wanted {
            return Err(error!(
                "layer '{}' has {} tiles in place of {columns} × {rows}",
                self.text("name"),
                items.len()
            ));
        }
        let mut cells = Vec::with_capacity(wanted);
        if wanted == 0 {
            return Ok(cells);
        }
        for row in (0..rows as usize).rev() {
            for item in &items[row * columns as usize..][..columns as usize] {
                let number = match item {
                    SjsonTree::Number(number) => of(*number),
                    _ => None,
                };
                cells.push(number.ok_or_else(|| {
                    error!("layer '{}' has a tile that is not a tile number", self.text("name"))
                })?);
            }
        }
        Ok(cells)
    }
}

/// Maximum absolute value of lengths and positions, in texels.
pub(super) const LENGTH_MAX: f64 = 1e9;

/// Checks a length or position.
pub(super) fn bounded(key: &str, number: f64) -> Result<f32, Error> {
    match number.abs() <= LENGTH_MAX {
        true => Ok(number as f32),
        false => Err(error!("'{key}' must be a number up to {LENGTH_MAX:e}, got {number:e}")),
    }
}
