//! Rows in memory, for four tracks at a time: where they are in poses, how their numbers become
//! values, and the state of a player between two rows.

use super::bit_stream::PADDING;
use super::dispatch::dispatched;
use super::lanes::Lanes;
use super::pose::PoseGroup;
use super::row_track::{GroupBlock, ROUND, RowTrack, RowValue, Rows, block_of, read_group};
use super::source::TrackProperty;

/// Lanes that have a track: all bits set, or none.
pub(super) type LaneMask = [u32; 4];

/// Rotation tracks of four bones.
#[derive(Clone, PartialEq, Debug)]
struct RotationGroup {
    /// Index of the group of the pose.
    group: u32,
    tracked: LaneMask,
    /// Tracks whose real part is stored.
    real: LaneMask,
    /// Sizes of a step. That of a real part which is not stored is 1.
    step: [Lanes; 4],
    mean: [Lanes; 4],
}

/// Position or scale tracks of four bones.
#[derive(Clone, PartialEq, Debug)]
struct VectorGroup {
    group: u32,
    tracked: LaneMask,
    origin: [Lanes; 3],
    step: [Lanes; 3],
}

/// The groups of tracks: rotations, then positions, then scales.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct RowLayout {
    rotations: Vec<RotationGroup>,
    positions: Vec<VectorGroup>,
    scales: Vec<VectorGroup>,
    /// Group and lane of each track.
    slots: Vec<(u32, u8)>,
}

const TRACKED: u32 = u32::MAX;

impl RowLayout {
    /// Creates the layout of tracks that are sorted by property and bone.
    pub fn new(tracks: &[RowTrack]) -> RowLayout {
        let mut layout = RowLayout::default();
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
        layout
    }

    pub fn group_count(&self) -> usize {
        self.rotations.len() + self.positions.len() + self.scales.len()
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
        RotationGroup { group, tracked, real, step: [Lanes::ONE; 4], mean }
    }

    fn add(&mut self, lane: usize, track: &RowTrack) {
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

fn add_vector(groups: &mut Vec<VectorGroup>, group: u32, lane: usize, track: &RowTrack) {
    if groups.last().is_none_or(|last| last.group != group) {
        let (origin, step) = ([Lanes::ZERO; 3], [Lanes::ZERO; 3]);
        groups.push(VectorGroup { group, tracked: [0; 4], origin, step });
    }
    let last = groups.last_mut().expect("the group was added");
    last.tracked[lane] = TRACKED;
    for axis in 0..3 {
        last.origin[axis].0[lane] = track.origin[axis];
        last.step[axis].0[lane] = track.step[axis];
    }
}

/// Numbers of four tracks in two rows.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pair<const N: usize> {
    from: [Lanes; N],
    to: [Lanes; N],
}

impl<const N: usize> Pair<N> {
    const ZERO: Pair<N> = Pair { from: [Lanes::ZERO; N], to: [Lanes::ZERO; N] };

    #[inline(always)]
    fn at(&self, part: Lanes) -> [Lanes; N] {
        std::array::from_fn(|axis| self.from[axis] + (self.to[axis] - self.from[axis]) * part)
    }
}

/// The two rows around the current time, and the position of the next row.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct RowState {
    /// Number of the second of the two rows.
    pub row: u32,
    /// Position of the next row in bits.
    at: usize,
    rotations: Vec<Pair<4>>,
    /// Positions, then scales.
    vectors: Vec<Pair<3>>,
}

impl RowState {
    pub fn new(layout: &RowLayout) -> RowState {
        let vectors = layout.positions.len() + layout.scales.len();
        RowState {
            row: 0,
            at: 0,
            rotations: vec![Pair::ZERO; layout.rotations.len()],
            vectors: vec![Pair::ZERO; vectors],
        }
    }

    /// Returns the size of the state in bytes.
    pub fn byte_count(&self) -> usize {
        size_of_val(&self.rotations[..]) + size_of_val(&self.vectors[..]) + size_of::<RowState>()
    }

    /// Copies another state of the same clip without an allocation.
    pub fn load(&mut self, other: &RowState) {
        (self.row, self.at) = (other.row, other.at);
        self.rotations.copy_from_slice(&other.rotations);
        self.vectors.copy_from_slice(&other.vectors);
    }

    /// Moves to the first row.
    pub fn load_start(&mut self, rows: &Rows) {
        (self.row, self.at) = (0, 0);
        let (rotations, vectors) = rows.start.split_at(self.rotations.len());
        for ((pair, start), layout) in
            self.rotations.iter_mut().zip(rotations).zip(&rows.layout.rotations)
        {
            pair.to = start.map(Lanes);
            pair.to[3] = layout.real_part(&pair.to, pair.to[3]);
            pair.from = pair.to;
        }
        for (pair, start) in self.vectors.iter_mut().zip(vectors) {
            let [x, y, z, _] = start.map(Lanes);
            pair.to = [x, y, z];
            pair.from = pair.to;
        }
    }

    /// Reads the next row, which exists.
    pub fn read_row(&mut self, rows: &Rows) {
        read_row(self, rows);
    }

    /// Returns true if all stored numbers are within a limit.
    pub fn is_within(&self, most: f32) -> bool {
        let vectors = self.vectors.iter().flat_map(|pair| &pair.to);
        let mut lanes = self.rotations.iter().flat_map(|pair| &pair.to).chain(vectors);
        lanes.all(|lanes| lanes.0.iter().all(|number| number.abs() <= most))
    }

    /// Returns the numbers of a track in the second row.
    pub fn numbers(&self, group: usize, lane: usize) -> RowValue {
        let whole = |lanes: &Lanes| lanes.0[lane] as i32;
        match group.checked_sub(self.rotations.len()) {
            None => std::array::from_fn(|axis| whole(&self.rotations[group].to[axis])),
            Some(index) => {
                let [x, y, z] = &self.vectors[index].to;
                [whole(x), whole(y), whole(z), 0]
            }
        }
    }

    /// Writes the values of the bones that have tracks, between the two rows: `part` is 0 at the
    /// first and 1 at the second.
    #[inline(always)]
    pub fn sample(&self, layout: &RowLayout, part: f32, groups: &mut [PoseGroup]) {
        let part = Lanes::splat(part);
        for (pair, layout) in self.rotations.iter().zip(&layout.rotations) {
            let values = product(layout.mean, scaled(pair.at(part), layout.step));
            select_all(&mut groups[layout.group as usize].rotation, values, layout.tracked);
        }
        let (positions, scales) = self.vectors.split_at(layout.positions.len());
        for (pair, layout) in positions.iter().zip(&layout.positions) {
            let target = &mut groups[layout.group as usize].position;
            select_all(target, layout.values(pair.at(part)), layout.tracked);
        }
        for (pair, layout) in scales.iter().zip(&layout.scales) {
            let target = &mut groups[layout.group as usize].scale;
            select_all(target, layout.values(pair.at(part)), layout.tracked);
        }
    }
}

dispatched! {
    fn read_row(state: &mut RowState, rows: &Rows) {
        state.row += 1;
        let block = &rows.blocks[block_of(state.row)];
        if state.row == 1 || (state.row - 2).is_multiple_of(super::row_track::BLOCK_ROWS) {
            state.at = block.offset;
        }
        let layout = &*rows.layout;
        let (rotations, vectors) = block.groups.split_at(state.rotations.len());
        let (stream, mut at) = (&rows.stream[..], state.at);
        for ((pair, block), layout) in
            state.rotations.iter_mut().zip(rotations).zip(&layout.rotations)
        {
            layout.advance(pair, block, stream, &mut at);
        }
        for (pair, block) in state.vectors.iter_mut().zip(vectors) {
            let differences = read_group::<3>(stream, &mut at, &block.widths);
            advance(pair, block, &differences);
        }
        state.at = at;
        debug_assert!(at.div_ceil(8) + PADDING <= stream.len());
    }
}

#[inline(always)]
fn scaled(numbers: [Lanes; 4], step: [Lanes; 4]) -> [Lanes; 4] {
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

/// Adds the differences to the extrapolations.
#[inline(always)]
fn advance<const N: usize>(pair: &mut Pair<N>, block: &GroupBlock, differences: &[Lanes; 3]) {
    let slopes = Lanes(block.slopes);
    for (axis, difference) in differences.iter().enumerate() {
        let (before, earlier) = (pair.to[axis], pair.from[axis]);
        pair.from[axis] = before;
        pair.to[axis] = extrapolated(before, earlier, slopes) + *difference;
    }
}

#[inline(always)]
fn extrapolated(before: Lanes, earlier: Lanes, slopes: Lanes) -> Lanes {
    let round = Lanes::splat(ROUND);
    (before + (before - earlier) * slopes) + round - round
}

impl RotationGroup {
    #[inline(always)]
    fn advance(&self, pair: &mut Pair<4>, block: &GroupBlock, stream: &[u8], at: &mut usize) {
        let (before, earlier) = (pair.to[3], pair.from[3]);
        pair.from[3] = before;
        let stored = match self.real == [0; 4] {
            true => {
                let differences = read_group::<3>(stream, at, &block.widths);
                advance(pair, block, &differences);
                Lanes::ZERO
            }
            false => {
                let [x, y, z, w] = read_group::<4>(stream, at, &block.widths);
                advance(pair, block, &[x, y, z]);
                extrapolated(before, earlier, Lanes(block.slopes)) + w
            }
        };
        pair.to[3] = self.real_part(&pair.to, stored);
    }

    /// Returns the real parts of quaternions: those that are stored, in steps, and those that
    /// follow from the other numbers.
    #[inline(always)]
    fn real_part(&self, numbers: &[Lanes; 4], stored: Lanes) -> Lanes {
        let [x, y, z, _] = scaled(*numbers, self.step);
        let square = Lanes::ONE - x * x - y * y - z * z;
        let real = square.most(Lanes::ZERO).sqrt();
        real.select(stored, self.real)
    }
}

impl VectorGroup {
    #[inline(always)]
    fn values(&self, numbers: [Lanes; 3]) -> [Lanes; 3] {
        std::array::from_fn(|axis| self.origin[axis] + self.step[axis] * numbers[axis])
    }
}

/// Product of two quaternions, of which `b` is applied first.
#[inline(always)]
fn product(a: [Lanes; 4], b: [Lanes; 4]) -> [Lanes; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}
