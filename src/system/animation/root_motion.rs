//! Root motion: the movement of a character's root bone, which the compiler moves from the pose
//! into a small track of the clip. Units and movers follow it.

use super::clip::{Clip, LAST_TICK};
use super::compile::sample_ticks;
use super::key_reduction::{TrackSample, keys};
use super::rigid_transform::RigidTransform;
use super::skeleton::{BoneTransform, Skeleton};
use super::source::{SourceClip, SourceInterpolation, SourceTrack, TrackProperty};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Mat3, Quat, Vec3, Vec4, error};

/// Distance from the root in metres at which the error of its rotation is measured.
const TURN_REACH: f32 = 1.0;

/// Movement in metres, and rotation in radians, below which a root does not move.
const STILL_MAX: (f32, f32) = (0.01, 0.02);

/// Movement in metres, and rotation in radians, within which a root sways in place, if it ends
/// where it begins.
const SWAY_MAX: (f32, f32) = (0.1, 0.2);

/// Part of the root bone's movement that leaves the pose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RootMotion {
    /// The whole movement stays in the pose.
    #[default]
    None,
    /// Movement in the horizontal plane.
    Xy,
    /// Movement in the horizontal plane, and rotation around the vertical axis.
    XyYaw,
    /// The whole movement and rotation.
    All,
}

impl RootMotion {
    pub const ALL: [RootMotion; 4] =
        [RootMotion::None, RootMotion::Xy, RootMotion::XyYaw, RootMotion::All];

    /// Returns the name in `.animation` files.
    pub fn name(self) -> &'static str {
        match self {
            RootMotion::None => "none",
            RootMotion::Xy => "xy",
            RootMotion::XyYaw => "xy_yaw",
            RootMotion::All => "all",
        }
    }
}

/// Movement of the root bone over a clip, relative to its rest transform, in model space. Keys are
/// interpolated linearly.
#[derive(Clone, PartialEq, Debug)]
pub struct RootTrack {
    /// Time in ticks and position in metres, ascending. The first key has tick 0.
    pub(crate) positions: Vec<(u16, Vec3)>,
    /// Time in ticks and rotation, ascending. The first key has tick 0.
    pub(crate) rotations: Vec<(u16, Quat)>,
}

impl RootTrack {
    /// Returns the movement at a time in ticks, which may have a fraction.
    pub(crate) fn at(&self, tick: f32) -> RigidTransform {
        let position = self.position(tick);
        let (from, to, part) = interval(&self.rotations, tick);
        let (from, to) = (Vec4::from(from), Vec4::from(to));
        let to = if from.dot(to) < 0.0 { -to } else { to };
        let rotation = (from + (to - from) * part).normalize_or(Vec4::W);
        RigidTransform { position, rotation: Quat::from_vec4(rotation) }
    }

    fn position(&self, tick: f32) -> Vec3 {
        let (from, to, part) = interval(&self.positions, tick);
        from + (to - from) * part
    }

    /// Returns true if the root moves without any rotation.
    fn never_turns(&self) -> bool {
        self.rotations.iter().all(|(_, rotation)| *rotation == Quat::IDENTITY)
    }

    /// Returns the movement from one time to another, both in ticks, relative to the character at
    /// the first time. `loops` is how often the end was crossed; negative in reverse.
    /// `range` has the times between which the clip loops.
    pub(crate) fn delta(
        &self,
        range: [f32; 2],
        (from, to): (f32, f32),
        loops: i32,
    ) -> RigidTransform {
        if loops == 0 && self.never_turns() {
            let position = self.position(to) - self.position(from);
            return RigidTransform { position, rotation: Quat::IDENTITY };
        }
        let start = self.at(from).inverse();
        let end = self.at(to);
        if loops == 0 {
            return start.concatenate(&end);
        }
        let whole = self.at(range[1]).concatenate(&self.at(range[0]).inverse());
        start.concatenate(&whole.repeat(loops)).concatenate(&end)
    }
}

impl RootTrack {
    /// Returns the track of a root bone that does not move.
    fn still() -> RootTrack {
        RootTrack { positions: vec![(0, Vec3::ZERO)], rotations: vec![(0, Quat::IDENTITY)] }
    }

    /// Returns true if nothing moves from the start to the end, and, unless the clip loops, nothing
    /// but a sway between them.
    fn is_still(&self, loops: bool) -> bool {
        let start = self.at(0.0);
        let start_turn = Vec4::from(start.rotation);
        let is_near = |tick: u16, (far, turned): (f32, f32)| {
            let it = self.at(f32::from(tick));
            let turn = Vec4::from(it.rotation);
            // The chord of the half angle, for the nearer of the two signs.
            let half = (turn - start_turn).length().min((turn + start_turn).length());
            (it.position - start.position).length() < far && 2.0 * half < turned
        };
        let rotations = self.rotations.iter().map(|key| key.0);
        let mut ticks = self.positions.iter().map(|key| key.0).chain(rotations);
        is_near(LAST_TICK, STILL_MAX) && (loops || ticks.all(|tick| is_near(tick, SWAY_MAX)))
    }
}

impl Clip {
    /// Returns a warning if the clip was compiled with root motion, and moves nothing.
    pub fn root_warning(&self) -> Option<&'static str> {
        let root = self.features.root.as_ref()?;
        root.is_still(self.is_looping()).then_some(
            "it has 'root_motion', and its root bone stays in place, or sways and returns: \
             remove 'root_motion' and move the unit in a script, or name the bone that moves as \
             'root_bone'",
        )
    }
}

/// Steps from a guess after which a key is searched by halves.
const STEPS_MAX: usize = 8;

/// Returns the index of the first key after a time. Keys are often at equal distances: it is a few
/// steps from the one that would be there if all were.
fn first_after<T>(keys: &[(u16, T)], tick: f32) -> usize {
    let is_before = |key: &(u16, T)| f32::from(key.0) <= tick;
    let guess = tick / f32::from(LAST_TICK) * keys.len() as f32;
    let mut next = (guess as usize).min(keys.len());
    for _ in 0..STEPS_MAX {
        if keys.get(next).is_some_and(is_before) {
            next += 1;
        } else if next > 0 && !is_before(&keys[next - 1]) {
            next -= 1;
        } else {
            return next;
        }
    }
    keys.partition_point(is_before)
}

/// Returns the values of the two keys around a time, and the part of the way between them.
fn interval<T: Copy>(keys: &[(u16, T)], tick: f32) -> (T, T, f32) {
    let next = first_after(keys, tick).max(1);
    let (from, value) = keys[next - 1];
    let Some((to, following)) = keys.get(next).copied() else { return (value, value, 0.0) };
    let part = (tick - f32::from(from)) / f32::from(to - from);
    (value, following, part.clamp(0.0, 1.0))
}

/// Root bone, and the constant transform of its parents in model space.
struct RootBone {
    rest: BoneTransform,
    parents_position: Vec3,
    parents_rotation: Quat,
    parents_matrix: Mat3,
    parents_inverse: Mat3,
}

impl RootBone {
    fn model_position(&self, local: Vec3) -> Vec3 {
        self.parents_position + self.parents_matrix * local
    }

    fn local_position(&self, model: Vec3) -> Vec3 {
        self.parents_inverse * (model - self.parents_position)
    }
}

/// Moves the movement of the root bone from the tracks of an animation into a root track. Without
/// `root_bone`, the root is the first bone with a position track whose parents have no tracks; if
/// there is none, bone 0. The rest of the movement stays in the pose, in which the root bone keeps
/// its rest transform in the extracted parts. `tolerance` is in metres.
///
/// # Errors
/// Fails if the skeleton has no such bone, if a parent of the root bone is animated, or if a parent
/// has a scale of 0.
pub fn extract(
    source: &SourceClip,
    skeleton: &Skeleton,
    (mode, root_bone): (RootMotion, Option<&str>),
    tolerance: f32,
) -> Result<(SourceClip, Option<RootTrack>), Error> {
    let bone = find_root(source, skeleton, root_bone)?;
    let track = |property| {
        source.tracks.iter().find(|track| track.bone == bone && track.property == property)
    };
    let (positions, rotations) = (track(TrackProperty::Position), track(TrackProperty::Rotation));
    if mode == RootMotion::None {
        return Ok((source.clone(), None));
    }
    if positions.is_none() && rotations.is_none() {
        return Ok((source.clone(), Some(RootTrack::still())));
    }
    let root = root_bone_of(bone, skeleton)?;
    let mut ticks: Vec<u16> = Vec::new();
    for track in [positions, rotations].into_iter().flatten() {
        ticks.extend(sample_ticks(&track.times, source.seconds, true));
        if track.interpolation == SourceInterpolation::Step {
            // Linear interpolation follows a held value closely with a key right before it changes.
            let before: Vec<u16> = ticks.iter().map(|tick| tick.saturating_sub(1)).collect();
            ticks.extend(before);
        }
    }
    ticks.sort_unstable();
    ticks.dedup();
    let tick_seconds = source.seconds / f32::from(LAST_TICK);
    let mut movement = Movement::new(mode, &root);
    for tick in &ticks {
        let time = f32::from(*tick) * tick_seconds;
        let position = positions
            .map_or(root.rest.position, |track| Vec4::from_array(track.sample(time)).truncate());
        let rotation =
            rotations.map_or(root.rest.rotation, |track| Quat::from_array(track.sample(time)));
        movement.add(*tick, position, rotation);
    }
    let root_track = movement.reduce(tolerance);
    let times: Vec<f32> = ticks.iter().map(|tick| f32::from(*tick) * tick_seconds).collect();
    let tracks = source.tracks.iter().filter(|track| {
        let moved = [TrackProperty::Position, TrackProperty::Rotation].contains(&track.property);
        track.bone != bone || !moved
    });
    let mut tracks: Vec<SourceTrack> = tracks.cloned().collect();
    for (property, values) in [
        (TrackProperty::Position, movement.local_positions),
        (TrackProperty::Rotation, movement.local_rotations),
    ] {
        // A clip without length has one key.
        let times = if source.seconds > 0.0 { times.clone() } else { vec![0.0] };
        let values = values[..times.len()].to_vec();
        let interpolation = SourceInterpolation::Linear;
        tracks.push(SourceTrack { bone, property, interpolation, times, values });
    }
    Ok((SourceClip { seconds: source.seconds, tracks }, Some(root_track)))
}

fn find_root(
    source: &SourceClip,
    skeleton: &Skeleton,
    root_bone: Option<&str>,
) -> Result<u16, Error> {
    let mut animated = vec![false; skeleton.bone_count()];
    for track in source.tracks.iter().filter(|track| track.property != TrackProperty::Weight) {
        animated[usize::from(track.bone)] = true;
    }
    // The nearest animated parent of each bone.
    let mut above: Vec<Option<u16>> = vec![None; skeleton.bone_count()];
    for (bone, parent) in skeleton.parents().iter().enumerate() {
        if let Some(parent) = *parent {
            let index = usize::from(parent);
            above[bone] = if animated[index] { Some(parent) } else { above[index] };
        }
    }
    let Some(name) = root_bone else {
        let positions =
            source.tracks.iter().filter(|track| track.property == TrackProperty::Position);
        let free =
            positions.map(|track| track.bone).filter(|bone| above[usize::from(*bone)].is_none());
        return Ok(free.min().unwrap_or(0));
    };
    let bone = skeleton.find(name).ok_or_else(|| {
        let names = skeleton.names().iter().map(String::as_str);
        error!("the root bone '{name}' does not exist in the skeleton{}", hint(name, names))
    })?;
    match above[usize::from(bone)] {
        None => Ok(bone),
        Some(parent) => Err(error!(
            "the root bone '{name}' moves with '{parent}', which is animated, too: set root_bone \
             to '{parent}'",
            parent = skeleton.names()[usize::from(parent)]
        )),
    }
}

fn root_bone_of(bone: u16, skeleton: &Skeleton) -> Result<RootBone, Error> {
    let mut chain = Vec::new();
    let mut next = skeleton.parents()[usize::from(bone)];
    while let Some(parent) = next {
        chain.push(usize::from(parent));
        next = skeleton.parents()[usize::from(parent)];
    }
    let (mut position, mut rotation, mut matrix) = (Vec3::ZERO, Quat::IDENTITY, Mat3::IDENTITY);
    for parent in chain.into_iter().rev() {
        let rest = skeleton.rest()[parent];
        position += matrix * rest.position;
        rotation = (rotation * rest.rotation).normalize();
        matrix = matrix * Mat3::from_quat(rest.rotation) * Mat3::from_diagonal(rest.scale);
    }
    let determinant = matrix.determinant();
    if !determinant.is_finite() || determinant.abs() < 1e-18 {
        return Err(error!(
            "root motion needs parents of the root bone '{}' whose scale is not 0",
            skeleton.names()[usize::from(bone)]
        ));
    }
    Ok(RootBone {
        rest: skeleton.rest()[usize::from(bone)],
        parents_position: position,
        parents_rotation: rotation,
        parents_matrix: matrix,
        parents_inverse: matrix.inverse(),
    })
}

/// Samples of the extracted movement, and of the root bone without it.
struct Movement<'a> {
    mode: RootMotion,
    root: &'a RootBone,
    rest_position: Vec3,
    rest_rotation: Quat,
    positions: Vec<TrackSample>,
    rotations: Vec<TrackSample>,
    local_positions: Vec<[f32; 4]>,
    local_rotations: Vec<[f32; 4]>,
}

impl Movement<'_> {
    fn new(mode: RootMotion, root: &RootBone) -> Movement<'_> {
        Movement {
            mode,
            root,
            rest_position: root.model_position(root.rest.position),
            rest_rotation: root.parents_rotation * root.rest.rotation,
            positions: Vec::new(),
            rotations: Vec::new(),
            local_positions: Vec::new(),
            local_rotations: Vec::new(),
        }
    }

    /// Adds the local position and rotation of the root bone at a time.
    fn add(&mut self, tick: u16, position: Vec3, rotation: Quat) {
        let root = self.root;
        let in_model = root.model_position(position);
        let turned = root.parents_rotation * rotation * (self.rest_rotation.conjugate());
        let previous = self.rotations.last().map_or(Vec4::W, |sample| sample.value);
        let mut extracted = match self.mode {
            RootMotion::None | RootMotion::Xy => Vec4::W,
            RootMotion::XyYaw => {
                let twist = Vec4::new(0.0, 0.0, turned.z, turned.w);
                // Without a horizontal direction, the previous one is kept.
                if twist.length_squared() < 1e-6 { previous } else { twist.normalize() }
            }
            RootMotion::All => Vec4::from(turned).normalize_or(Vec4::W),
        };
        if extracted.dot(previous) < 0.0 {
            extracted = -extracted;
        }
        let extracted_rotation = Quat::from_vec4(extracted);
        let mut moved = in_model - extracted_rotation * self.rest_position;
        if self.mode != RootMotion::All {
            moved.z = 0.0;
        }
        let back = extracted_rotation.conjugate();
        let kept = root.local_position(back * (in_model - moved));
        let kept_rotation =
            root.parents_rotation.conjugate() * back * root.parents_rotation * rotation;
        self.local_positions.push(kept.extend(0.0).to_array());
        self.local_rotations.push(kept_rotation.normalize().to_array());
        let moved = moved.extend(0.0);
        self.positions.push(TrackSample { tick, value: moved, restored: moved });
        self.rotations.push(TrackSample { tick, value: extracted, restored: extracted });
    }

    fn reduce(&self, tolerance: f32) -> RootTrack {
        let (position, rotation) = (TrackProperty::Position, TrackProperty::Rotation);
        let part = tolerance * 0.5;
        let kept = keys(position, &self.positions, TURN_REACH, part, false);
        let kept_rotations = keys(rotation, &self.rotations, TURN_REACH, part, false);
        let positions = kept.iter().map(|index| {
            let sample = &self.positions[*index];
            (sample.tick, sample.value.truncate())
        });
        let rotations = kept_rotations.iter().map(|index| {
            let sample = &self.rotations[*index];
            (sample.tick, Quat::from_vec4(sample.value))
        });
        RootTrack { positions: positions.collect(), rotations: rotations.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_at_any_time_and_distance() {
        let last = u32::from(LAST_TICK);
        let all: [Vec<u32>; 6] = [
            vec![0],
            vec![0, last],
            (0..90).map(|key| key * last / 89).collect(),
            (0..90).map(|key| key * key * last / 7921).collect(),
            (0..5000).collect(),
            std::iter::once(0).chain(last - 5000..=last).collect(),
        ];
        for ticks in all {
            let keys: Vec<(u16, ())> = ticks.iter().map(|tick| (*tick as u16, ())).collect();
            for tick in (0..=last).map(|tick| tick as f32) {
                for tick in [tick, tick + 0.5] {
                    let wanted = keys.partition_point(|key| f32::from(key.0) <= tick);
                    assert_eq!(first_after(&keys, tick), wanted, "{} keys, {tick}", keys.len());
                }
            }
            for tick in [f32::NAN, f32::NEG_INFINITY, -1.0] {
                assert_eq!(first_after(&keys, tick), 0);
            }
            assert_eq!(first_after(&keys, f32::INFINITY), keys.len());
        }
    }
}
