//! Keyframes in memory, for four tracks at a time: where they are in poses, and how their numbers
//! become values.

use super::lanes::Lanes;
use super::pose::Pose;
use super::source::TrackProperty;
use super::uniform_track::UniformTrack;

/// Lanes that have a track: all bits set, or none.
pub(super) type LaneMask = [u32; 4];

/// Rotation tracks of four bones.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RotationGroup {
    /// Index of the group of the pose.
    pub group: u32,
    /// True if all numbers have 16 bits at most.
    pub is_narrow: bool,
    pub tracked: LaneMask,
    /// Tracks whose real part is stored.
    pub real: LaneMask,
    /// Sizes of a step. That of a real part which is not stored is 1.
    pub step: [Lanes; 4],
    pub mean: [Lanes; 4],
}

/// Position or scale tracks of four bones.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct VectorGroup {
    pub group: u32,
    /// True if all numbers have 16 bits at most.
    pub is_narrow: bool,
    pub tracked: LaneMask,
    pub origin: [Lanes; 3],
    pub step: [Lanes; 3],
}

/// The groups of tracks: rotations, then positions, then scales.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct UniformLayout {
    pub rotations: Vec<RotationGroup>,
    pub positions: Vec<VectorGroup>,
    pub scales: Vec<VectorGroup>,
    /// Group and lane of each track.
    slots: Vec<(u32, u8)>,
    /// Properties of which all four bones have a track, for each group of a pose up to the last one
    /// with tracks: bits of [`covered`].
    replaced: Vec<u8>,
}

/// Properties of a group of a pose, as bits.
mod part {
    pub const ROTATION: u8 = 1;
    pub const POSITION: u8 = 2;
    pub const SCALE: u8 = 4;
}

const TRACKED: u32 = u32::MAX;
/// Largest absolute number that has 16 bits.
const NARROW_MAX: f32 = 32767.0;

impl UniformLayout {
    /// Creates the layout of tracks that are sorted by property and bone.
    pub fn new(tracks: &[UniformTrack]) -> UniformLayout {
        let mut layout = UniformLayout::default();
        for track in tracks {
            let (group, lane) = (u32::from(track.bone) / 4, usize::from(track.bone % 4));
            match track.property {
                TrackProperty::Rotation => {
                    if layout.rotations.last().is_none_or(|last| last.group != group) {
                        layout.rotations.push(RotationGroup::new(group));
                    }
                    let last = layout.rotations.last_mut().expect("the group was added");
                    last.add(lane, track);
                }
                TrackProperty::Position => add_vector(&mut layout.positions, group, lane, track),
                TrackProperty::Scale | TrackProperty::Weight => {
                    add_vector(&mut layout.scales, group, lane, track);
                }
            }
            layout.slots.push((layout.group_count() as u32 - 1, lane as u8));
        }
        layout.find_replaced();
        layout
    }

    fn find_replaced(&mut self) {
        let UniformLayout { rotations, positions, scales, replaced, .. } = self;
        let rotations = rotations.iter().map(|it| (part::ROTATION, it.group, it.tracked));
        let positions = positions.iter().map(|it| (part::POSITION, it.group, it.tracked));
        let scales = scales.iter().map(|it| (part::SCALE, it.group, it.tracked));
        for (bit, group, tracked) in rotations.chain(positions).chain(scales) {
            let index = group as usize;
            replaced.resize(replaced.len().max(index + 1), 0);
            replaced[index] |= if tracked == [TRACKED; 4] { bit } else { 0 };
        }
    }

    /// Writes the values of a pose that the tracks do not replace anyway.
    #[inline(always)]
    pub fn write_base(&self, base: &Pose, pose: &mut Pose) {
        if pose.groups.len() != base.groups.len() {
            pose.groups.clone_from(&base.groups);
            return;
        }
        let count = self.replaced.len().min(base.groups.len());
        let (groups, others) = pose.groups.split_at_mut(count);
        let (base_groups, base_others) = base.groups.split_at(count);
        for ((group, base), parts) in groups.iter_mut().zip(base_groups).zip(&self.replaced) {
            if parts & part::ROTATION == 0 {
                group.rotation = base.rotation;
            }
            if parts & part::POSITION == 0 {
                group.position = base.position;
            }
            if parts & part::SCALE == 0 {
                group.scale = base.scale;
            }
        }
        others.copy_from_slice(base_others);
    }

    pub fn group_count(&self) -> usize {
        self.rotations.len() + self.positions.len() + self.scales.len()
    }

    /// Returns the number of components of each group, and true if its numbers have at most 16
    /// bits.
    pub fn groups(&self) -> impl Iterator<Item = (usize, bool)> {
        let rotations =
            self.rotations.iter().map(|it| (3 + usize::from(it.has_real()), it.is_narrow));
        let vectors = self.positions.iter().chain(&self.scales);
        rotations.chain(vectors.map(|it| (3, it.is_narrow)))
    }

    /// Returns the size of a state in units.
    pub fn unit_count(&self) -> usize {
        let units = |(components, narrow)| if narrow { components } else { 2 * components };
        self.groups().map(units).sum()
    }

    /// Lets groups whose numbers are small have less memory. `bounds` has the largest absolute
    /// number of each group.
    pub fn narrow(&mut self, bounds: &[f32]) {
        let rotations = self.rotations.iter_mut().map(|it| &mut it.is_narrow);
        let vectors = self.positions.iter_mut().chain(&mut self.scales);
        let all = rotations.chain(vectors.map(|it| &mut it.is_narrow));
        for (is_narrow, bound) in all.zip(bounds) {
            *is_narrow = *bound <= NARROW_MAX;
        }
    }

    /// Returns the group and the lane of each track.
    pub fn slots(&self) -> impl Iterator<Item = (usize, usize)> {
        self.slots.iter().map(|(group, lane)| (*group as usize, usize::from(*lane)))
    }
}

impl RotationGroup {
    fn new(group: u32) -> RotationGroup {
        let mean = [Lanes::ZERO, Lanes::ZERO, Lanes::ZERO, Lanes::ONE];
        let (tracked, real) = ([0; 4], [0; 4]);
        RotationGroup { group, is_narrow: false, tracked, real, step: [Lanes::ONE; 4], mean }
    }

    /// Returns true if a real part is stored.
    #[inline(always)]
    pub fn has_real(&self) -> bool {
        self.real != [0; 4]
    }

    fn add(&mut self, lane: usize, track: &UniformTrack) {
        self.tracked[lane] = TRACKED;
        self.real[lane] = if track.has_real { TRACKED } else { 0 };
        let real_step = if track.has_real { track.step.x } else { 1.0 };
        for (step, value) in self.step.iter_mut().zip(track.step.extend(real_step).to_array()) {
            step.0[lane] = value;
        }
        for (mean, value) in self.mean.iter_mut().zip(track.mean_rotation().to_array()) {
            mean.0[lane] = value;
        }
    }
}

fn add_vector(groups: &mut Vec<VectorGroup>, group: u32, lane: usize, track: &UniformTrack) {
    if groups.last().is_none_or(|last| last.group != group) {
        let (origin, step) = ([Lanes::ZERO; 3], [Lanes::ZERO; 3]);
        groups.push(VectorGroup { group, is_narrow: false, tracked: [0; 4], origin, step });
    }
    let last = groups.last_mut().expect("the group was added");
    last.tracked[lane] = TRACKED;
    for axis in 0..3 {
        last.origin[axis].0[lane] = track.origin[axis];
        last.step[axis].0[lane] = track.step[axis];
    }
}

#[inline(always)]
pub(super) fn scaled(numbers: [Lanes; 4], step: [Lanes; 4]) -> [Lanes; 4] {
    std::array::from_fn(|axis| numbers[axis] * step[axis])
}

/// Writes the values of some lanes.
#[inline(always)]
pub(super) fn select_all<const N: usize>(
    target: &mut [Lanes; N],
    values: [Lanes; N],
    mask: LaneMask,
) {
    if mask == [TRACKED; 4] {
        *target = values;
        return;
    }
    for (target, value) in target.iter_mut().zip(values) {
        *target = target.select(value, mask);
    }
}

impl VectorGroup {
    #[inline(always)]
    pub fn values(&self, numbers: [Lanes; 3]) -> [Lanes; 3] {
        std::array::from_fn(|axis| self.origin[axis] + self.step[axis] * numbers[axis])
    }
}
