//! Compiler of blend spaces: clips at positions on one or two axes.

use super::data::*;
use super::expression::ExpressionTable;
use super::expression_parser::{self, MatchGroup, NO_VARIABLE};
use super::source::Builder;
use super::source_fields::SourceFields;
use engine_foundation::sjson::SjsonValue;
use engine_foundation::{Error, error};

/// Range of positions in blend spaces.
const POSITIONS: (f32, f32) = (-1e6, 1e6);

/// Returns the position of a point of a blend space, which no earlier one has.
fn point_position(
    point: &SourceFields,
    is_wide: bool,
    earlier: &[[f32; 2]],
) -> Result<[f32; 2], Error> {
    let Some(at) = point.get("at") else {
        return Err(point.block_error("'at' is missing: the position of the clip"));
    };
    let position = match is_wide {
        true => point.vector_of("at", at, POSITIONS)?,
        false => [point.number_of("at", at, POSITIONS)?, 0.0],
    };
    match earlier.contains(&position) {
        true => Err(point.error_at(at, "an earlier point has the same position")),
        false => Ok(position),
    }
}

impl<'a> Builder<'a> {
    /// Reads a blend space: clips at positions of one or two numbers.
    pub fn blend_space(
        &mut self,
        fields: &SourceFields<'a>,
        value: SjsonValue<'a>,
    ) -> Result<Vec<StateClip>, Error> {
        let subject = format!("'blend_space' of {}", fields.subject);
        let Some(space) = self.open(subject, value, &["points", "x", "y"]) else {
            return Err(error!(""));
        };
        let limit = (STATE_CLIPS_MAX, "STATE_CLIPS_MAX");
        let points = space.list("points", limit)?.unwrap_or_default();
        if points.is_empty() {
            return Err(space.block_error("'points' is missing: [ { clip = \"…\" at = 1 } ]"));
        }
        let mut positions: Vec<[f32; 2]> = Vec::new();
        let mut clips = Vec::new();
        let is_wide = space.get("y").is_some();
        let count = points.len();
        for point in points {
            let subject = format!("a point of {}", space.subject);
            let Some(point) = self.open(subject, point, &["at", "clip"]) else { continue };
            let position = point_position(&point, is_wide, &positions);
            let clip = self.clip(&point, "clip");
            if let (Some(position), Some(clip)) = (self.note(position), self.note(clip)) {
                positions.push(position);
                clips.push(StateClip { clip, weight: None });
            }
        }
        if clips.len() < count {
            return Err(error!(""));
        }
        let Some(axes) = self.axes(&space, if is_wide { &["x", "y"] } else { &["x"] }) else {
            return Err(error!(""));
        };
        let mut group = MatchGroup::default();
        for (clip, at) in clips.iter_mut().zip(positions) {
            let table = &mut self.machine.table;
            let names = &self.variable_names;
            let weight = expression_parser::parse_point(&axes, at, names, table, &mut group);
            clip.weight = Some(weight.map_err(|message| space.block_error(&message))?);
        }
        self.finish_group(&space, group)?;
        Ok(clips)
    }

    /// Returns the expressions of the axes of a blend space with their lines, if all of them are
    /// valid.
    fn axes(&mut self, space: &SourceFields<'a>, keys: &[&str]) -> Option<Vec<(&'a str, usize)>> {
        let mut axes = Vec::new();
        for key in keys {
            let axis = self.axis(space, key);
            axes.extend(self.note(axis));
        }
        (axes.len() == keys.len()).then_some(axes)
    }

    fn axis(&self, space: &SourceFields<'a>, key: &str) -> Result<(&'a str, usize), Error> {
        let Some(value) = space.get(key) else {
            return Err(space.block_error(&format!("'{key}' is missing: an expression")));
        };
        let Some(text) = value.as_str() else {
            return Err(space.error_at(value, &format!("'{key}' must be an expression in quotes")));
        };
        let axis = (text, value.line());
        let (mut table, mut group) = (ExpressionTable::default(), MatchGroup::default());
        match expression_parser::parse(axis, &self.variable_names, &mut table, &mut group) {
            Ok(_) => Ok(axis),
            Err(message) => {
                let is_hidden = self.failed.variables && message.contains(NO_VARIABLE);
                let message = format!("expression '{text}' of '{key}': {message}");
                Err(self.unless(is_hidden, space.error_at(value, &message)))
            }
        }
    }
}
