//! Animations as files store them: curves of each property of each bone.

use engine_foundation::Vec4;
use engine_foundation::deterministic_math::{atan2, sin_cos};

/// Animated property of a bone, or of a morph target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TrackProperty {
    Rotation,
    Position,
    Scale,
    /// Weight of a morph target, usually between 0 and 1.
    Weight,
}

impl TrackProperty {
    /// Returns how many numbers a stored value has.
    pub(crate) fn stored_components(self) -> usize {
        if self == TrackProperty::Weight { 1 } else { 3 }
    }
}

/// Interpolation between two keys of a file, as glTF 2.0 defines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceInterpolation {
    /// Rotations follow the shortest arc.
    Linear,
    /// As players interpolate: rotations are mixed linearly, and then have length 1. No file has
    /// it, see [`super::ClipSettings::recorded`].
    Mixed,
    Step,
    /// Cubic Hermite spline: three values for each key, the tangent into it, the value and the
    /// tangent out of it.
    Cubic,
}

/// Curve of one property of one bone, or of the weight of one morph target.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceTrack {
    /// Index of the bone; for weights, index of the morph target.
    pub bone: u16,
    pub property: TrackProperty,
    pub interpolation: SourceInterpolation,
    /// Key times in seconds, ascending; at least one.
    pub times: Vec<f32>,
    /// Values of the keys: quaternions, vectors with a fourth component of 0, or weights with three
    /// components of 0.
    pub values: Vec<[f32; 4]>,
}

/// Animation of a skeleton.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceClip {
    pub seconds: f32,
    pub tracks: Vec<SourceTrack>,
}

impl SourceTrack {
    /// Returns the value at a time in seconds. Before the first and after the last key, their
    /// values apply. Rotations have length 1.
    pub fn sample(&self, time: f32) -> [f32; 4] {
        let next = self.times.partition_point(|key| *key <= time);
        if next == 0 || next == self.times.len() {
            return self.finish(self.value(next.saturating_sub(1)));
        }
        let (from, to) = (next - 1, next);
        let seconds = self.times[to] - self.times[from];
        let part = (time - self.times[from]) / seconds;
        let (a, b) = (self.value(from), self.value(to));
        match (self.interpolation, self.property) {
            (SourceInterpolation::Step, _) => self.finish(a),
            (SourceInterpolation::Linear, TrackProperty::Rotation) => slerp(a, b, part),
            (SourceInterpolation::Mixed, TrackProperty::Rotation) => {
                let (a, b) = (a.normalize_or(Vec4::W), b.normalize_or(Vec4::W));
                self.finish(a + (if a.dot(b) < 0.0 { -b } else { b } - a) * part)
            }
            (SourceInterpolation::Linear | SourceInterpolation::Mixed, _) => {
                (a + (b - a) * part).to_array()
            }
            (SourceInterpolation::Cubic, _) => {
                let leaving = Vec4::from_array(self.values[from * 3 + 2]) * seconds;
                let arriving = Vec4::from_array(self.values[to * 3]) * seconds;
                self.finish(hermite([a, leaving, b, arriving], part))
            }
        }
    }

    /// Returns true if players show what is between two keys exactly: they mix values linearly, so
    /// that rotations differ from the even turns of the source.
    pub(crate) fn is_played_exactly(&self) -> bool {
        match self.interpolation {
            SourceInterpolation::Step | SourceInterpolation::Mixed => true,
            SourceInterpolation::Linear => self.property != TrackProperty::Rotation,
            SourceInterpolation::Cubic => false,
        }
    }

    /// Returns the value of a key, without its tangents.
    pub(crate) fn value(&self, key: usize) -> Vec4 {
        Vec4::from_array(match self.interpolation {
            SourceInterpolation::Cubic => self.values[key * 3 + 1],
            _ => self.values[key],
        })
    }

    fn finish(&self, value: Vec4) -> [f32; 4] {
        match self.property {
            TrackProperty::Rotation => value.normalize_or(Vec4::W).to_array(),
            TrackProperty::Position | TrackProperty::Scale | TrackProperty::Weight => {
                value.to_array()
            }
        }
    }
}

/// Cubic Hermite spline through a value and a tangent at 0, and a value and a tangent at 1.
fn hermite([a, leaving, b, arriving]: [Vec4; 4], part: f32) -> Vec4 {
    let (square, cube) = (part * part, part * part * part);
    a * (2.0 * cube - 3.0 * square + 1.0)
        + leaving * (cube - 2.0 * square + part)
        + b * (3.0 * square - 2.0 * cube)
        + arriving * (cube - square)
}

/// Spherical interpolation along the shortest arc.
fn slerp(from: Vec4, to: Vec4, part: f32) -> [f32; 4] {
    let (from, to) = (from.normalize_or(Vec4::W), to.normalize_or(Vec4::W));
    let to = if from.dot(to) < 0.0 { -to } else { to };
    // The half chords give the angle without the cancellation of an arc cosine near 1.
    let angle = 2.0 * atan2((to - from).length(), (to + from).length());
    let (sine, _) = sin_cos(angle);
    if sine < 1e-4 {
        return (from + (to - from) * part).normalize_or(Vec4::W).to_array();
    }
    let (before, _) = sin_cos((1.0 - part) * angle);
    let (after, _) = sin_cos(part * angle);
    ((from * before + to * after) / sine).normalize_or(Vec4::W).to_array()
}
