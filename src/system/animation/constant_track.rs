//! Constant tracks: bones that keep one value for the whole clip, other than their rest transform.

use super::lanes::Lanes;
use super::pose::PoseGroup;
use super::source::TrackProperty;
use super::uniform_layout::{LaneMask, select_all};
use engine_foundation::Vec4;
use std::sync::Arc;

/// Track with one value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConstantTrack {
    pub bone: u16,
    /// Rotation, position or scale.
    pub property: TrackProperty,
    pub value: Vec4,
}

/// Values of four bones.
#[derive(Clone, PartialEq, Debug)]
struct ConstantGroup<const N: usize> {
    /// Index of the group of the pose.
    group: u32,
    tracked: LaneMask,
    values: [Lanes; N],
}

/// Values of the bones with constant tracks, as players write them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ConstantLayout {
    rotations: Vec<ConstantGroup<4>>,
    positions: Vec<ConstantGroup<3>>,
    scales: Vec<ConstantGroup<3>>,
}

/// The constant tracks of a clip, sorted by property and bone.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Constants {
    pub tracks: Vec<ConstantTrack>,
    pub layout: Arc<ConstantLayout>,
}

impl Constants {
    pub fn new(tracks: Vec<ConstantTrack>) -> Constants {
        let mut layout = ConstantLayout::default();
        for track in &tracks {
            match track.property {
                TrackProperty::Rotation => add(&mut layout.rotations, track),
                TrackProperty::Position => add(&mut layout.positions, track),
                TrackProperty::Scale | TrackProperty::Weight => add(&mut layout.scales, track),
            }
        }
        Constants { tracks, layout: Arc::new(layout) }
    }
}

fn add<const N: usize>(groups: &mut Vec<ConstantGroup<N>>, track: &ConstantTrack) {
    let (group, lane) = (u32::from(track.bone) / 4, usize::from(track.bone % 4));
    if groups.last().is_none_or(|last| last.group != group) {
        groups.push(ConstantGroup { group, tracked: [0; 4], values: [Lanes::ZERO; N] });
    }
    let last = groups.last_mut().expect("the group was added");
    last.tracked[lane] = u32::MAX;
    for (axis, values) in last.values.iter_mut().enumerate() {
        values.0[lane] = track.value[axis];
    }
}

impl ConstantLayout {
    /// Writes the values into a pose.
    #[inline(always)]
    pub fn write(&self, groups: &mut [PoseGroup]) {
        for it in &self.rotations {
            select_all(&mut groups[it.group as usize].rotation, it.values, it.tracked);
        }
        for it in &self.positions {
            select_all(&mut groups[it.group as usize].position, it.values, it.tracked);
        }
        for it in &self.scales {
            select_all(&mut groups[it.group as usize].scale, it.values, it.tracked);
        }
    }
}
