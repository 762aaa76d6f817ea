//! Choice of the numbers of all keyframes of a skeleton. A bone corrects the rotation errors of its
//! parents, and points at the exact origins of its children from its own displaced origin, so that
//! errors do not grow along chains of bones. Of the numbers around the corrected rotation, those
//! with the least displacements are chosen. Keyframes do not depend on each other.

use super::source::TrackProperty;
use super::uniform_fit::{SHARE, UniformCurve, real_part};
use super::uniform_track::{UniformTracks, UniformValue};
use engine_foundation::{Error, Mat3, Quat, Vec3, Vec4};
use std::f32::consts::SQRT_2;

/// Weight of the displacements of a bone's children, to which their own errors are added, next to
/// the displacements of the bone's shell.
const CHILD_WEIGHT: f32 = 1.4;
/// Growth of the steps of single tracks, one round each: powers of two of 8/8, 6/8, 4/8, 3/8, 2/8
/// and twice 1/8.
const GROWTHS: [f32; 7] =
    [2.0, 1.681_792_9, SQRT_2, 1.296_839_6, 1.189_207_1, 1.090_507_7, 1.090_507_7];
/// How often the rotation of a bone in a keyframe is replaced, because one below it has no good
/// one.
const RETRIES_MAX: usize = 32;
/// How often each bone in each keyframe is computed for the growth of single steps, in the mean.
const GROWTH_WORK: usize = 20;
/// Maximum number of bones in keyframes that are computed for it.
const GROWTH_BONES_MAX: usize = 1 << 22;

/// Rotation and position of a bone, in metres.
#[derive(Clone, Copy)]
pub struct ExactBone {
    pub rotation: Quat,
    pub position: Vec3,
}

/// Curves that become keyframes, and the poses of all bones.
pub struct UniformFit<'a> {
    pub curves: Vec<UniformCurve>,
    pub skeleton: FitSkeleton<'a>,
    /// Exact local transforms of the bones in each keyframe. Empty if errors are not corrected.
    exact: Vec<ExactBone>,
    /// The same in the space of the model.
    wanted: Vec<ExactBone>,
    /// Transforms that the numbers show, in the space of the model.
    shown: Vec<ExactBone>,
    /// Rotations of bones that play another value than the exact one.
    played: Vec<Option<Quat>>,
    /// Indices of the curves of each bone.
    rotations: Vec<Option<usize>>,
    positions: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// 1 / tolerance², for each bone.
    precisions: Vec<f32>,
}

/// Skeleton of a fit.
pub struct FitSkeleton<'a> {
    pub parents: &'a [Option<u16>],
    /// Metres for each unit of the space of each bone's parent.
    pub scales: &'a [f32],
    /// Largest displacement of each bone in metres.
    pub tolerances: &'a [f32],
    /// Distance in metres from each bone at which errors are measured.
    pub shell: f32,
}

/// New numbers and transforms of some bones: those of the first keyframe, then those of the second.
#[derive(Default)]
struct FittedKeyframes {
    values: Vec<UniformValue>,
    shown: Vec<ExactBone>,
}

/// Rotation that a bone can have in a keyframe.
#[derive(Clone, Copy)]
struct Candidate {
    value: UniformValue,
    /// Rotation after the wanted one, in the space of the model.
    turn: Vec4,
    /// Displacement of the bone's shell as a part of its tolerance, squared.
    own: f32,
    /// The largest displacement of the shell, and of the children, squared.
    worst: f32,
}

/// The candidates of a bone that were not tried, and the numbers of the one that was taken.
#[derive(Clone, Default)]
struct Found {
    value: UniformValue,
    position: Vec3,
    next: Vec<Candidate>,
    is_begun: bool,
}

/// Choice of the rotations of a keyframe, with those that were taken so far.
struct UniformSearch {
    keyframe: usize,
    shown: Vec<ExactBone>,
    found: Vec<Found>,
}

impl Found {
    /// Takes the best candidate of those whose own displacement is not above `most`.
    fn take(&mut self, most: f32) -> Option<Candidate> {
        let fits = |it: &(usize, &Candidate)| most.is_infinite() || it.1.own <= most * most;
        let candidates = self.next.iter().enumerate().filter(fits);
        let best = candidates.min_by(|a, b| a.1.worst.total_cmp(&b.1.worst));
        best.map(|it| it.0).map(|index| self.next.swap_remove(index))
    }
}

/// Bytes for each bone in a keyframe while keyframes are fitted.
pub const FIT_BYTES: usize = 4 * size_of::<ExactBone>() + size_of::<UniformValue>();

const ORIGIN: ExactBone = ExactBone { rotation: Quat::IDENTITY, position: Vec3::ZERO };

impl<'a> UniformFit<'a> {
    /// `exact` has the local transforms of the bones in each keyframe. Without them, errors are not
    /// corrected.
    pub fn new(
        curves: Vec<UniformCurve>,
        skeleton: FitSkeleton<'a>,
        exact: Vec<ExactBone>,
        played: Vec<Option<Quat>>,
    ) -> UniformFit<'a> {
        let count = skeleton.parents.len();
        let (mut rotations, mut positions) = (vec![None; count], vec![None; count]);
        for (index, curve) in curves.iter().enumerate() {
            let bone = usize::from(curve.track.bone);
            match curve.track.property {
                TrackProperty::Rotation if !exact.is_empty() => rotations[bone] = Some(index),
                TrackProperty::Position => positions[bone] = Some(index),
                _ => {}
            }
        }
        let mut children = vec![Vec::new(); count];
        for (bone, parent) in skeleton.parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[usize::from(*parent)].push(bone);
            }
        }
        let mut wanted: Vec<ExactBone> = Vec::with_capacity(exact.len());
        for keyframe in exact.chunks_exact(count) {
            let start = wanted.len();
            for (exact, parent) in keyframe.iter().zip(skeleton.parents) {
                let above = parent.map_or(ORIGIN, |parent| wanted[start + usize::from(parent)]);
                wanted.push(above.child(exact.rotation, exact.position));
            }
        }
        let shown = wanted.clone();
        let precisions = skeleton.tolerances.iter().map(|it| 1.0 / (it * it)).collect();
        UniformFit {
            curves,
            skeleton,
            exact,
            wanted,
            shown,
            played,
            rotations,
            positions,
            children,
            precisions,
        }
    }

    /// Quantizes all curves.
    pub fn quantize(&mut self) {
        for (index, curve) in self.curves.iter_mut().enumerate() {
            curve.choose_step();
            if self.rotations[usize::from(curve.track.bone)] != Some(index) {
                curve.quantize_exact();
            }
        }
        let all: Vec<usize> = (0..self.children.len()).collect();
        let keyframes = 0..self.exact.len() / self.children.len();
        if let Ok(fitted) = self.fit_keyframes(&all, keyframes, f32::INFINITY, &mut { usize::MAX })
        {
            self.keep(&all, fitted);
        }
    }

    /// Chooses the numbers of bones in some keyframes: of a bone with all of its descendants, or of
    /// all bones. Fails with the keyframe in which the displacement of one of them is above a part
    /// of its tolerance, or in which `budget`, which decreases by one for each bone, is used up.
    fn fit_keyframes(
        &self,
        bones: &[usize],
        keyframes: impl Iterator<Item = usize>,
        most: f32,
        budget: &mut usize,
    ) -> Result<FittedKeyframes, usize> {
        let count = self.children.len();
        let mut fitted = FittedKeyframes::default();
        let above = bones.first().and_then(|bone| self.skeleton.parents[*bone]);
        let mut search = UniformSearch {
            keyframe: 0,
            shown: vec![ORIGIN; count],
            found: vec![Found::default(); bones.len()],
        };
        for keyframe in keyframes {
            search.keyframe = keyframe;
            if let Some(above) = above {
                search.shown[usize::from(above)] =
                    self.shown[keyframe * count + usize::from(above)];
            }
            let before = fitted.values.len().checked_sub(bones.len());
            let before = before.map_or(&[][..], |start| &fitted.values[start..]);
            self.fit_keyframe(bones, &mut search, before, (most, budget)).ok_or(keyframe)?;
            fitted.values.extend(search.found.iter().map(|it| it.value));
            fitted.shown.extend(bones.iter().map(|bone| search.shown[*bone]));
        }
        Ok(fitted)
    }

    /// Chooses the numbers of bones in one keyframe. `before` has those of the keyframe before it.
    fn fit_keyframe(
        &self,
        bones: &[usize],
        search: &mut UniformSearch,
        before: &[UniformValue],
        (most, budget): (f32, &mut usize),
    ) -> Option<()> {
        let mut retries = RETRIES_MAX;
        search.found.iter_mut().for_each(|it| it.is_begun = false);
        let mut at = 0;
        while at < bones.len() {
            *budget = budget.checked_sub(1)?;
            if !search.found[at].is_begun {
                let mut next = std::mem::take(&mut search.found[at].next);
                let position = self.candidates(bones[at], search, before.get(at), &mut next);
                search.found[at] = Found { position, next, is_begun: true, value: [0; 4] };
            }
            if let Some(candidate) = search.found[at].take(most) {
                let wanted =
                    self.wanted[search.keyframe * self.children.len() + bones[at]].rotation;
                let rotation = (Quat::from_vec4(candidate.turn) * wanted).normalize();
                search.shown[bones[at]] =
                    ExactBone { rotation, position: search.found[at].position };
                search.found[at].value = candidate.value;
                at += 1;
                continue;
            }
            // The bone above takes another rotation, with which all is chosen again.
            retries = retries.checked_sub(1)?;
            let above = usize::from(self.skeleton.parents[bones[at]]?);
            let above = bones.binary_search(&above).ok()?;
            search.found[above + 1..=at].iter_mut().for_each(|it| it.is_begun = false);
            at = above;
        }
        Some(())
    }

    /// Takes over new numbers and transforms of bones.
    fn keep(&mut self, bones: &[usize], fitted: FittedKeyframes) {
        let count = self.children.len();
        for (at, bone) in bones.iter().enumerate() {
            let shown = fitted.shown.iter().skip(at).step_by(bones.len());
            for (keyframe, shown) in shown.enumerate() {
                self.shown[keyframe * count + bone] = *shown;
            }
            if let Some(index) = self.rotations[*bone] {
                let values = fitted.values.iter().skip(at).step_by(bones.len());
                self.curves[index].values.clear();
                self.curves[index].values.extend(values);
            }
        }
    }

    /// Writes the rotations that a bone can have in a keyframe, where the bones above it have
    /// theirs. Returns the position of the bone.
    fn candidates(
        &self,
        bone: usize,
        keyframe: &UniformSearch,
        before: Option<&UniformValue>,
        to: &mut Vec<Candidate>,
    ) -> Vec3 {
        let FitSkeleton { parents, scales, shell, .. } = self.skeleton;
        let count = self.children.len();
        let exact = &self.exact[keyframe.keyframe * count..][..count];
        let all = &self.wanted[keyframe.keyframe * count..][..count];
        let wanted = all[bone];
        let above = parents[bone].map_or(ORIGIN, |parent| keyframe.shown[usize::from(parent)]);
        let position = self.positions[bone].map_or(exact[bone].position, |index| {
            self.curves[index].restored(keyframe.keyframe) * scales[bone]
        });
        let origin = above.position + above.rotation * position;
        let displaced = origin - wanted.position;
        let back = wanted.rotation.conjugate();
        let axes = Mat3::from_quat(wanted.rotation) * shell;
        let children = &self.children[bone];
        let arms = || children.iter().map(|child| all[*child].position - wanted.position);
        let candidate = |value: UniformValue, turn: Vec4| {
            let (part, real) = (turn.truncate() * 2.0, turn.w);
            // What a rotation adds to an arm, squared after the displacement of the bone.
            let by = |arm: Vec3| {
                let across = part.cross(arm);
                (displaced + across * real + part.cross(across) * 0.5).length_squared()
            };
            let own = by(axes.x_axis).max(by(axes.y_axis)).max(by(axes.z_axis));
            let own = own * self.precisions[bone];
            let worst = children.iter().zip(arms()).fold(own, |worst, (child, arm)| {
                worst.max(by(arm) * self.precisions[*child] * (CHILD_WEIGHT * CHILD_WEIGHT))
            });
            Candidate { value, turn, own, worst }
        };
        to.clear();
        let Some(index) = self.rotations[bone] else {
            let local = self.played[bone].unwrap_or(exact[bone].rotation);
            let turn = (above.rotation * local * back).normalize();
            to.push(candidate([0; 4], Vec4::from(turn)));
            return origin;
        };
        let curve = &self.curves[index];
        let turn = correction(arms(), shell, -displaced);
        let target = above.rotation.conjugate() * (turn * wanted.rotation).normalize();
        if curve.track.has_real {
            let (value, local) = curve.nearest(Vec4::from(target), before);
            let turn = (above.rotation * local * back).normalize();
            to.push(candidate(value, Vec4::from(turn)));
            return origin;
        }
        let mean = (above.rotation * curve.track.mean_rotation()).normalize();
        let step = curve.track.step;
        let below = (curve.relative(Vec4::from(target), before).truncate() / step).floor();
        // The difference from the wanted rotation is a sum of these, one for each part.
        let [x, y, z, w] = [Vec4::X, Vec4::Y, Vec4::Z, Vec4::W]
            .map(|unit| Vec4::from(mean * Quat::from_vec4(unit) * back));
        to.extend((0..8).map(|corner| {
            let ends =
                Vec3::new((corner & 1) as f32, (corner >> 1 & 1) as f32, (corner >> 2) as f32);
            let number = below + ends;
            let part = number * step;
            let turn = x * part.x + y * part.y + z * part.z + w * real_part(part);
            let [x, y, z] = number.to_array().map(|it| it as i32);
            candidate([x, y, z, 0], turn)
        }));
        origin
    }

    /// Creates the keyframes.
    ///
    /// # Errors
    /// Fails if the numbers are too large.
    pub fn keyframes(&self, state_keyframes: u32) -> Result<UniformTracks, Error> {
        let tracks = self.curves.iter().map(|curve| curve.track).collect();
        let values: Vec<&[UniformValue]> =
            self.curves.iter().map(|curve| &curve.values[..]).collect();
        UniformTracks::encode(tracks, &values, state_keyframes)
    }

    /// Returns the part of the tolerance of each curve.
    pub fn shares(&self) -> Vec<f32> {
        self.curves.iter().map(|curve| curve.share).collect()
    }

    /// Sets the parts of the tolerance to those that [`UniformFit::shares`] returned.
    pub fn set_shares(&mut self, shares: &[f32]) {
        self.curves.iter_mut().zip(shares).for_each(|(curve, share)| curve.share = *share);
    }

    /// Lets the steps of single tracks grow, one after another, as long as no displacement in a
    /// keyframe is above `most`, as a part of the tolerance, with the bones below corrected again.
    pub fn grow(&mut self, most: f32) {
        if self.exact.is_empty() {
            return;
        }
        let keyframes = self.exact.len() / self.children.len();
        let below: Vec<Vec<usize>> =
            (0..self.children.len()).map(|it| self.with_below(it)).collect();
        // The keyframes in which larger steps of each bone failed are the first to be tried again.
        let mut failed: Vec<Vec<usize>> = vec![Vec::new(); below.len()];
        let mut budget = self.exact.len().saturating_mul(GROWTH_WORK).min(GROWTH_BONES_MAX);
        for growth in GROWTHS {
            for bone in 0..below.len() {
                for index in [self.positions[bone], self.rotations[bone]].into_iter().flatten() {
                    let curve = &mut self.curves[index];
                    let before = (curve.share, curve.track);
                    curve.set_share(curve.share * growth);
                    let tried = failed[bone].iter().rev().copied();
                    let fitted = self.fit_keyframes(&below[bone], tried, most, &mut budget);
                    let fitted = fitted.and_then(|_| {
                        self.fit_keyframes(&below[bone], 0..keyframes, most, &mut budget)
                    });
                    match fitted {
                        Ok(fitted) => self.keep(&below[bone], fitted),
                        Err(keyframe) => {
                            self.curves[index].restore(before);
                            failed[bone].retain(|it| *it != keyframe);
                            failed[bone].push(keyframe);
                        }
                    }
                }
            }
        }
    }

    /// Returns a bone and all bones below it, in the order of the bones.
    fn with_below(&self, bone: usize) -> Vec<usize> {
        let mut is_below = vec![false; self.children.len()];
        is_below[bone] = true;
        for next in bone + 1..is_below.len() {
            is_below[next] =
                self.skeleton.parents[next].is_some_and(|parent| is_below[usize::from(parent)]);
        }
        (bone..is_below.len()).filter(|bone| is_below[*bone]).collect()
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
        let mut worst = ratios.to_vec();
        for bone in (0..worst.len()).rev() {
            if let Some(parent) = self.skeleton.parents[bone] {
                let corrects = corrected && self.rotations[bone].is_some();
                let reached = if corrects { ratios[bone] } else { worst[bone] };
                let parent = usize::from(parent);
                worst[parent] = worst[parent].max(reached);
            }
        }
        worst
    }
}

/// Returns the small rotation that moves the origins of children, which are at the ends of `arms`,
/// by a distance, as well as possible: the least sum of the squares of what remains, and of the
/// movement of points of the shell.
fn correction(arms: impl Iterator<Item = Vec3>, shell: f32, by: Vec3) -> Quat {
    let mut sums = [Vec3::ZERO; 3];
    let mut moment = Vec3::ZERO;
    for arm in arms {
        let square = arm.length_squared();
        for (axis, sum) in sums.iter_mut().enumerate() {
            *sum -= arm * arm[axis];
            sum[axis] += square;
        }
        moment += arm.cross(by);
    }
    for (axis, sum) in sums.iter_mut().enumerate() {
        sum[axis] += shell * shell;
    }
    let [a, b, c] = sums;
    let volume = a.dot(b.cross(c));
    if volume.is_nan() || volume <= 0.0 {
        return Quat::IDENTITY;
    }
    // Cramer's rule for a symmetric matrix.
    let turn =
        Vec3::new(moment.dot(b.cross(c)), moment.dot(c.cross(a)), moment.dot(a.cross(b))) / volume;
    let half = turn.clamp_length_max(0.01) * 0.5;
    Quat::from_xyzw(half.x, half.y, half.z, 1.0).normalize()
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
