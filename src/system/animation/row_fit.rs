//! Fitting of curves to rows: the number of rows, the step of each track, and the numbers. A bone
//! corrects the rotation errors of its parents, and points at the exact origins of its children
//! from its own displaced origin, so that errors do not grow along chains of bones.

use super::quantization::{conjugate_product, rotation_product};
use super::row_track::{ROW_REACH_MAX, RowTrack, RowValue, Rows, STEPS_MAX};
use super::source::TrackProperty;
use engine_foundation::{Error, Quat, Vec3, Vec4};

/// Least real part, relative to the mean, of rotations whose real part is not stored.
const REAL_MIN: f32 = 0.35;
/// Limits of the part of the tolerance that the error of one track takes.
const SHARE: (f32, f32) = (0.02, 8.0);
/// Part of the tolerance of the first round.
const FIRST_SHARE: f32 = 0.5;

/// Curve that becomes a track of rows.
pub struct RowCurve {
    pub track: RowTrack,
    /// Exact values at the rows. Rotations that follow each other have positive dot products.
    exact: Vec<Vec4>,
    /// Largest displacement: in metres, or in units of the parent's space for positions.
    tolerance: f32,
    /// Distances in metres at which errors of each component are visible: for rotations, those of
    /// the farthest child from each axis, because children correct the error.
    reach: Vec3,
    /// Part of the tolerance that is spent on the error of this track.
    share: f32,
    pub values: Vec<RowValue>,
}

impl RowCurve {
    pub fn new(
        (property, bone): (TrackProperty, u16),
        exact: Vec<Vec4>,
        tolerance: f32,
        reach: Vec3,
    ) -> RowCurve {
        let mut track = RowTrack {
            bone,
            property,
            has_real: false,
            mean: [0; 3],
            origin: Vec3::ZERO,
            step: Vec3::ZERO,
            step_codes: [0; 3],
        };
        if property == TrackProperty::Rotation {
            let mut sum = Vec4::ZERO;
            exact.iter().for_each(|value| sum += *value);
            track.set_mean(Quat::from_vec4(sum.normalize_or(Vec4::W)));
            let mean = track.mean_rotation();
            // A real part that changes its sign between two rows is as bad as a small one.
            let real = |value: &Vec4| conjugate_product(mean, *value).w;
            let least = exact.iter().map(real).fold(1.0, f32::min);
            track.has_real = least < REAL_MIN;
        } else {
            let least = exact.iter().fold(Vec4::INFINITY, |least, value| least.min(*value));
            let most = exact.iter().fold(Vec4::NEG_INFINITY, |most, value| most.max(*value));
            track.origin = ((least + most) * 0.5).truncate();
        }
        let values = Vec::with_capacity(exact.len());
        let mut curve = RowCurve { track, exact, tolerance, reach, share: FIRST_SHARE, values };
        curve.choose_step();
        curve
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> u32 {
        self.exact.len() as u32
    }

    /// Sets the size of a step from the share.
    fn choose_step(&mut self) {
        let error = self.tolerance * self.share;
        let steps = error / self.reach;
        if self.track.property == TrackProperty::Rotation {
            return self.track.set_rotation_steps(steps);
        }
        let most = |most: f32, value: &Vec4| {
            most.max((value.truncate() - self.track.origin).abs().max_element())
        };
        let size = self.exact.iter().fold(0.0, most);
        // The largest step with which the track is valid, and a little less for rounding. It is
        // always above the least one, because values are limited, too.
        let most = Vec3::splat(ROW_REACH_MAX * 0.999) - self.track.origin.abs();
        let least = Vec3::splat(size / (STEPS_MAX / 2) as f32);
        self.track.step = steps.min(most / STEPS_MAX as f32).max(least);
    }

    /// Quantizes the values without a correction.
    pub fn quantize_exact(&mut self) {
        self.values.clear();
        for row in 0..self.exact.len() {
            self.quantize(self.exact[row]);
        }
    }

    /// Appends a value in whole steps, and returns it as it is restored.
    fn quantize(&mut self, value: Vec4) -> Vec4 {
        let limit = STEPS_MAX as f32;
        let whole = |number: f32| number.round().clamp(-limit, limit) as i32;
        let step = self.track.step;
        if self.track.property != TrackProperty::Rotation {
            let steps = (value.truncate() - self.track.origin) / step;
            self.values.push([whole(steps.x), whole(steps.y), whole(steps.z), 0]);
            return self.restored(self.values.len() - 1);
        }
        let step = step.extend(step.x);
        let mean = self.track.mean_rotation();
        let mut relative = conjugate_product(mean, value).normalize_or(Vec4::W);
        let previous =
            self.values.last().map_or(Vec4::W, |last| Vec4::from_array(last.map(|it| it as f32)));
        let flips = match self.track.has_real {
            true => relative.dot(previous) < 0.0,
            false => relative.w < 0.0,
        };
        if flips {
            relative = -relative;
        }
        let mut steps = (relative / step).to_array().map(whole);
        let mut restored = Vec4::from_array(steps.map(|it| it as f32)) * step;
        if !self.track.has_real {
            steps[3] = 0;
            restored.w = (1.0 - restored.truncate().length_squared()).max(0.0).sqrt();
        }
        self.values.push(steps);
        rotation_product(mean, restored).normalize_or(Vec4::W)
    }

    /// Returns the value of a row of a track that is no rotation, as it is restored.
    fn restored(&self, row: usize) -> Vec4 {
        let [x, y, z, _] = self.values[row].map(|number| number as f32);
        (self.track.origin + self.track.step * Vec3::new(x, y, z)).extend(0.0)
    }

    /// Returns the bytes that the track takes, about.
    pub fn byte_count(&self) -> usize {
        let head = if self.track.property == TrackProperty::Rotation { 16 } else { 32 };
        head + Rows::bits_of_track(&self.values, self.track.components()) / 8
    }
}

/// Exact local transform of a bone in a row: the rotation, and the position in metres.
#[derive(Clone, Copy)]
pub struct ExactBone {
    pub rotation: Quat,
    pub position: Vec3,
}

/// Curves that become rows, and the poses of all bones.
pub struct RowFit<'a> {
    pub curves: Vec<RowCurve>,
    pub parents: &'a [Option<u16>],
    /// Metres for each unit of the space of each bone's parent.
    pub scales: &'a [f32],
    /// Exact local transforms in each row. Empty if errors are not corrected.
    pub exact: Vec<Vec<ExactBone>>,
    /// Rotations of bones that play another value than the exact one.
    pub played: Vec<Option<Quat>>,
    /// Distance in metres from each bone at which errors are measured.
    pub shell: f32,
}

/// A bone in model space, exactly and as it is shown.
#[derive(Clone, Copy)]
struct PlacedBone {
    wanted: ExactBone,
    shown: ExactBone,
}

impl RowFit<'_> {
    /// Quantizes all curves.
    pub fn quantize(&mut self) {
        let count = self.parents.len();
        let (mut rotations, mut positions) = (vec![None; count], vec![None; count]);
        for (index, curve) in self.curves.iter_mut().enumerate() {
            curve.choose_step();
            curve.values.clear();
            let bone = usize::from(curve.track.bone);
            match curve.track.property {
                TrackProperty::Rotation if !self.exact.is_empty() => rotations[bone] = Some(index),
                TrackProperty::Position => {
                    positions[bone] = Some(index);
                    curve.quantize_exact();
                }
                _ => curve.quantize_exact(),
            }
        }
        let mut children = vec![Vec::new(); count];
        for (bone, parent) in self.parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[usize::from(*parent)].push(bone);
            }
        }
        let none = ExactBone { rotation: Quat::IDENTITY, position: Vec3::ZERO };
        let mut placed = vec![PlacedBone { wanted: none, shown: none }; count];
        for row in 0..self.exact.len() {
            for bone in 0..count {
                let exact = self.exact[row][bone];
                let above = self.parents[bone].map(|parent| placed[usize::from(parent)]);
                let PlacedBone { wanted, shown } =
                    above.unwrap_or(PlacedBone { wanted: none, shown: none });
                let position = positions[bone].map_or(exact.position, |index: usize| {
                    self.curves[index].restored(row).truncate() * self.scales[bone]
                });
                let wanted_bone = wanted.child(exact.rotation, exact.position);
                let origin = shown.position + shown.rotation * position;
                let local = match rotations[bone] {
                    Some(index) => {
                        let displaced = wanted_bone.position - origin;
                        let turn = self.correction(row, &children[bone], &wanted_bone, displaced);
                        let target = (turn * wanted_bone.rotation).normalize();
                        let corrected = shown.rotation.conjugate() * target;
                        Quat::from_vec4(self.curves[index].quantize(Vec4::from(corrected)))
                    }
                    None => self.played[bone].unwrap_or(exact.rotation),
                };
                placed[bone] =
                    PlacedBone { wanted: wanted_bone, shown: shown.child(local, position) };
            }
        }
    }

    /// Returns the small rotation that moves the origins of children by a distance, as well as
    /// possible: the least sum of the squares of what remains, and of the movement of points of
    /// the shell.
    fn correction(&self, row: usize, children: &[usize], bone: &ExactBone, by: Vec3) -> Quat {
        let mut sums = [Vec3::ZERO; 3];
        let mut moment = Vec3::ZERO;
        for child in children {
            let arm = bone.rotation * self.exact[row][*child].position;
            let square = arm.length_squared();
            for (axis, sum) in sums.iter_mut().enumerate() {
                *sum -= arm * arm[axis];
                sum[axis] += square;
            }
            moment += arm.cross(by);
        }
        let shell = self.shell * self.shell;
        for (axis, sum) in sums.iter_mut().enumerate() {
            sum[axis] += shell;
        }
        let [a, b, c] = sums;
        let volume = a.dot(b.cross(c));
        if volume.is_nan() || volume <= 0.0 {
            return Quat::IDENTITY;
        }
        // Cramer's rule for a symmetric matrix.
        let turn =
            Vec3::new(moment.dot(b.cross(c)), moment.dot(c.cross(a)), moment.dot(a.cross(b)))
                / volume;
        let half = turn.clamp_length_max(0.01) * 0.5;
        Quat::from_xyzw(half.x, half.y, half.z, 1.0).normalize()
    }

    /// Creates the rows.
    ///
    /// # Errors
    /// Fails if the numbers are too large.
    pub fn rows(&self, state_rows: u32) -> Result<Rows, Error> {
        let tracks = self.curves.iter().map(|curve| curve.track).collect();
        let values: Vec<&[RowValue]> = self.curves.iter().map(|curve| &curve.values[..]).collect();
        Rows::encode(tracks, &values, state_rows)
    }

    /// Adjusts the steps to the measured errors: `ratios` has the largest ratio of an error to the
    /// tolerance for each bone. Steps get larger only if `grows` is true.
    pub fn adjust(&mut self, ratios: &[f32], grows: bool) {
        let all = self.worst(ratios, false);
        // Errors that reach further than to the children are reduced in the rounds without growth.
        let near = if grows { self.worst(ratios, true) } else { all.clone() };
        for curve in &mut self.curves {
            let bone = usize::from(curve.track.bone);
            let is_rotation = curve.track.property == TrackProperty::Rotation;
            let ratio = if is_rotation { near[bone] } else { all[bone] };
            let change = match (ratio > 1.0, grows) {
                (false, false) => 1.0,
                (true, false) => 0.95 / ratio,
                (_, true) => (0.99 / ratio.max(1e-3)).min(1.5),
            };
            curve.share = (curve.share * change.max(0.25)).clamp(SHARE.0, SHARE.1);
        }
    }

    /// Returns the largest ratio among each bone and the bones that its errors reach: all of its
    /// descendants, or, with `corrected`, those up to the first ones that correct them.
    fn worst(&self, ratios: &[f32], corrected: bool) -> Vec<f32> {
        let mut corrects = vec![false; ratios.len()];
        if corrected && !self.exact.is_empty() {
            for curve in &self.curves {
                let is_rotation = curve.track.property == TrackProperty::Rotation;
                corrects[usize::from(curve.track.bone)] |= is_rotation;
            }
        }
        let mut worst = ratios.to_vec();
        for bone in (0..worst.len()).rev() {
            if let Some(parent) = self.parents[bone] {
                let reached = if corrects[bone] { ratios[bone] } else { worst[bone] };
                let parent = usize::from(parent);
                worst[parent] = worst[parent].max(reached);
            }
        }
        worst
    }
}

impl ExactBone {
    /// Returns a bone with a local rotation and position, in the space of this bone's parent.
    fn child(&self, rotation: Quat, position: Vec3) -> ExactBone {
        ExactBone {
            rotation: (self.rotation * rotation).normalize(),
            position: self.position + self.rotation * position,
        }
    }
}

impl RowTrack {
    /// Turns the rotations of a track: `turn` is applied after them.
    pub fn turn(&mut self, turn: Quat, values: &mut [RowValue]) {
        if !self.has_real {
            let mean = turn * self.mean_rotation();
            self.set_mean(mean);
            // Rotations are relative to the rounded mean. Near half a turn it differs by up to
            // 0.8 degrees.
            let change = conjugate_product(self.mean_rotation(), Vec4::from(mean));
            let change = if change.w < 0.0 { -change } else { change };
            if change.truncate().abs().max_element() > self.step.min_element() * 0.5 {
                let change = Quat::from_vec4(change).normalize();
                values.iter_mut().for_each(|value| self.change(change, value));
            }
            return;
        }
        for value in values {
            let turned = rotation_product(turn, Vec4::from_array(value.map(|it| it as f32)));
            *value = turned.to_array().map(|number| number.round() as i32);
        }
    }

    /// Applies a small rotation after one whose real part is not stored.
    fn change(&self, change: Quat, value: &mut RowValue) {
        let [x, y, z, _] = value.map(|it| it as f32);
        let part = Vec3::new(x, y, z) * self.step;
        let real = (1.0 - part.length_squared()).max(0.0).sqrt();
        let changed = rotation_product(change, part.extend(real));
        let changed = if changed.w < 0.0 { -changed } else { changed };
        let [x, y, z] = (changed.truncate() / self.step).to_array().map(|it| it.round() as i32);
        *value = [x, y, z, 0];
    }
}
