//! The deformations of a scene's draws: the palettes of skins and the weights of morph targets, as
//! the vertex shaders read them (forward/deformation.wgsl). They stay until they are replaced. A
//! draw without an entry has its bind pose.
//!
//! All are in one array of rows of four numbers. The rows of a draw are: a header (the number of
//! joints that are posed, that of morph targets with weights, that of the rows of weights, and the
//! location of its pre-skinned vertices), the weights, and three rows for each joint. Pre-skinned
//! vertices are behind all of them, on the adapter only.
//!
//! The palettes of the newest packet are not copied into the array: the memory of the packet is
//! held, and copied to the adapter in place of the rows. Only palettes that the next packet does
//! not replace are copied then, and all of them after some packets without palettes.

use super::super::numeric_map::{DirtyRanges, NumberMap};
use super::super::range_allocator::RangeAllocator;
use engine_foundation::Vec3;
use engine_frame_packet::mesh::MeshFrame;
use engine_frame_packet::scene::{DrawTransform, PALETTE_MATRICES_MAX, SkinUpdate};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a matrix.
const MATRIX_ROWS: usize = 3;
/// Weights in one row.
const ROW_WEIGHTS: usize = 4;
/// Number of packets without palettes after which the memory of the last ones is no longer held.
const IDLE_PACKETS: u32 = 60;
/// The array grows by at least this many rows: 64 KiB.
const GROWTH_MIN: usize = 4096;
const ROW_BYTES: u64 = size_of::<[f32; 4]>() as u64;

/// The deformation of one draw.
struct DrawDeformation {
    first: u32,
    joints: u32,
    targets: u32,
    /// Where its palette is, if it is not in its rows.
    held: Option<HeldPalette>,
    /// Sphere around the posed vertices in the draw's space; `None`: the bind pose.
    posed: Option<(Vec3, f32)>,
    /// The largest scale of the palette, and the greatest distance in metres by which the morph
    /// weights move a vertex before that.
    scale: f32,
    reach: f32,
}

/// A palette in the memory of a packet: a matrix for each joint of the draw.
#[derive(Clone, Copy)]
struct HeldPalette {
    /// Number of the packet with palettes.
    packet: u64,
    /// Index of the first matrix.
    first: u32,
}

/// The memory of the palettes of a packet, and the draws whose palettes are in it.
#[derive(Default)]
struct HeldMatrices {
    matrices: Option<Arc<Vec<DrawTransform>>>,
    /// Slots, also of draws that have other palettes since, and several times.
    slots: Vec<u32>,
}

impl HeldMatrices {
    fn get(&self, held: HeldPalette, count: u32) -> &[DrawTransform] {
        let all = self.matrices.as_ref().expect("palettes are held with their memory");
        &all[held.first as usize..][..count as usize]
    }
}

/// A palette to be copied to the adapter: its first row, its number of rows, and its first matrix.
type HeldRows = [u32; 3];

/// The deformations of all draws of a scene.
pub struct Deformations {
    /// Rows of all draws. Those of held palettes are outdated.
    pub rows: Vec<[f32; 4]>,
    /// Number of packets with palettes.
    packet: u64,
    /// Number of packets since the last one with palettes.
    idle: u32,
    held: HeldMatrices,
    /// Those of the packet before, while a packet is applied.
    earlier: HeldMatrices,
    /// The held palettes in the order of their rows, while they are copied.
    held_rows: Vec<HeldRows>,
    /// Ranges of `rows` that have changed since they were copied.
    pub changed: DirtyRanges,
    free: RangeAllocator,
    draws: NumberMap<u32, DrawDeformation>,
    /// Slots of the draws whose header has a location of pre-skinned vertices, in ascending order.
    pre_skinned: Vec<u32>,
    /// Rows behind `rows` that the adapter needs for pre-skinned vertices.
    pub spare_rows: u32,
    /// Number of draws that are pre-skinned in this frame.
    pub pre_skinned_count: u32,
    /// Bytes of the palettes and weights that the newest packet changed.
    pub changed_bytes: u64,
    /// A message if a deformation of the newest packet is not shown.
    pub refused: Option<String>,
}

/// Returns true if all numbers of a palette are finite.
fn is_finite(palette: &[DrawTransform]) -> bool {
    const EXPONENT: u32 = 0x7f80_0000;
    let bits: &[u32] = bytemuck::cast_slice(palette);
    // Without branches, so that several numbers are tested at once.
    bits.iter().fold(0, |found, bits| found | u32::from(bits & EXPONENT == EXPONENT)) == 0
}

impl DrawDeformation {
    fn weight_rows(targets: u32) -> usize {
        (targets as usize).div_ceil(ROW_WEIGHTS)
    }

    /// Returns the first row of the palette.
    fn palette(&self) -> usize {
        self.first as usize + 1 + DrawDeformation::weight_rows(self.targets)
    }

    fn row_count(joints: u32, targets: u32) -> u32 {
        let weights = DrawDeformation::weight_rows(targets);
        (1 + weights + joints as usize * MATRIX_ROWS) as u32
    }
}

/// Returns the numbers of joints and of morph targets of a mesh.
fn counts(mesh: &MeshFrame) -> (u32, u32) {
    let joints = mesh.skin.as_ref().map_or(0, |skin| skin.joint_count());
    let targets = mesh.morph.as_ref().map_or(0, |morph| morph.target_count());
    (joints as u32, targets as u32)
}

impl Deformations {
    /// Rows of a scene, at most.
    pub const ROWS_MAX: usize = PALETTE_MATRICES_MAX * MATRIX_ROWS;

    pub fn new() -> Deformations {
        Deformations {
            rows: Vec::new(),
            packet: 0,
            idle: 0,
            held: HeldMatrices::default(),
            earlier: HeldMatrices::default(),
            held_rows: Vec::new(),
            changed: DirtyRanges::default(),
            free: RangeAllocator::all(0),
            draws: NumberMap::default(),
            pre_skinned: Vec::new(),
            spare_rows: 0,
            pre_skinned_count: 0,
            changed_bytes: 0,
            refused: None,
        }
    }

    /// Begins a new packet.
    pub fn begin(&mut self) {
        self.changed_bytes = 0;
        self.pre_skinned_count = 0;
        self.idle = self.idle.saturating_add(1);
        if self.idle > IDLE_PACKETS && self.held.matrices.is_some() {
            self.release_held();
        }
    }

    /// Copies all held palettes, so that the memory of their packet is free: characters at rest do
    /// not hold it for as long as they are shown.
    fn release_held(&mut self) {
        std::mem::swap(&mut self.held, &mut self.earlier);
        self.packet += 1;
        self.end_palettes();
    }

    /// Begins the palettes of a packet, whose matrices are in this memory.
    pub fn begin_palettes(&mut self, matrices: Arc<Vec<DrawTransform>>) {
        std::mem::swap(&mut self.held, &mut self.earlier);
        self.held.matrices = Some(matrices);
        self.held.slots.clear();
        self.packet += 1;
        self.idle = 0;
    }

    /// Ends the palettes of a packet: copies those of the packet before that stay.
    pub fn end_palettes(&mut self) {
        for slot in &self.earlier.slots {
            let Some(draw) = self.draws.get_mut(slot) else { continue };
            let Some(held) = draw.held.filter(|held| held.packet != self.packet) else { continue };
            let palette = self.earlier.get(held, draw.joints);
            let rows = &mut self.rows[draw.palette()..][..palette.len() * MATRIX_ROWS];
            rows.copy_from_slice(bytemuck::cast_slice(palette));
            draw.held = None;
        }
        self.earlier.slots.clear();
        self.earlier.matrices = None;
    }

    /// Returns the rows of a draw's palette.
    fn palette_rows(&self, draw: &DrawDeformation) -> &[[f32; 4]] {
        match draw.held {
            None => &self.rows[draw.palette()..][..draw.joints as usize * MATRIX_ROWS],
            Some(held) => {
                let is_newest = held.packet == self.packet;
                let all = if is_newest { &self.held } else { &self.earlier };
                bytemuck::cast_slice(all.get(held, draw.joints))
            }
        }
    }

    /// Prepares [`Deformations::parts`].
    pub fn sort_held(&mut self) {
        self.held_rows.clear();
        for slot in &self.held.slots {
            if let Some(draw) = self.draws.get(slot)
                && let Some(held) = draw.held
            {
                let count = draw.joints * MATRIX_ROWS as u32;
                self.held_rows.push([draw.palette() as u32, count, held.first]);
            }
        }
        self.held_rows.sort_unstable();
        self.held_rows.dedup();
    }

    /// Returns a range of the rows as parts, with held palettes in place of their rows. It follows
    /// [`Deformations::sort_held`].
    pub fn parts(&self, range: Range<u32>) -> impl Iterator<Item = &[[f32; 4]]> {
        let held = &self.held_rows;
        let mut next = held.partition_point(|[row, count, _]| row + count <= range.start);
        let mut at = range.start;
        std::iter::from_fn(move || {
            if at >= range.end {
                return None;
            }
            let found = held.get(next).filter(|[row, ..]| *row < range.end);
            let Some([row, count, first]) = found else {
                let rest = &self.rows[at as usize..range.end as usize];
                at = range.end;
                return Some(rest);
            };
            if at < *row {
                let before = &self.rows[at as usize..*row as usize];
                at = *row;
                return Some(before);
            }
            let held = HeldPalette { packet: self.packet, first: *first };
            let palette = self.held.get(held, count / MATRIX_ROWS as u32);
            let palette: &[[f32; 4]] = bytemuck::cast_slice(palette);
            let end = (row + count).min(range.end);
            let part = &palette[(at - row) as usize..(end - row) as usize];
            (at, next) = (end, next + 1);
            Some(part)
        })
    }

    /// Returns the slots of all draws with a deformation, in any order.
    pub fn slots(&self) -> impl Iterator<Item = u32> {
        self.draws.keys().copied()
    }

    /// Stores where the pre-skinned vertices of draws are: slots in ascending order, each with the
    /// row of the vertex 0 of its vertex buffer. All other draws are skinned in their passes.
    pub fn set_pre_skinned(&mut self, locations: &[(u32, f32)], spare_rows: u32) {
        let old = std::mem::take(&mut self.pre_skinned);
        let is_new = |slot: &u32| locations.binary_search_by_key(slot, |it| it.0).is_ok();
        for slot in old.into_iter().filter(|slot| !is_new(slot)) {
            self.locate_pre_skinned(slot, 0.0);
        }
        for (slot, location) in locations {
            self.locate_pre_skinned(*slot, *location);
            self.pre_skinned.push(*slot);
        }
        self.pre_skinned_count = locations.len() as u32;
        self.spare_rows = spare_rows;
    }

    fn locate_pre_skinned(&mut self, slot: u32, location: f32) {
        let Some(draw) = self.draws.get(&slot) else { return };
        let known = &mut self.rows[draw.first as usize][3];
        if *known != location {
            *known = location;
            self.changed.add(draw.first..draw.first + 1);
        }
    }

    /// Returns the number of draws with a deformation.
    pub fn count(&self) -> u32 {
        self.draws.len() as u32
    }

    /// Returns the position of a draw's header, increased by one; 0: the draw has its bind pose.
    pub fn location(&self, slot: u32) -> u32 {
        self.draws.get(&slot).map_or(0, |draw| draw.first + 1)
    }

    /// Returns the rows of a draw's deformation: the header with the weights, and the palette.
    /// None: the draw has its bind pose.
    pub fn rows_of(&self, slot: u32) -> [&[[f32; 4]]; 2] {
        self.draws.get(&slot).map_or([&[]; 2], |draw| {
            [&self.rows[draw.first as usize..draw.palette()], self.palette_rows(draw)]
        })
    }

    /// Returns the center and radius of a draw in its own space. `None`: it has its bind pose.
    pub fn bounds(&self, slot: u32, mesh: &MeshFrame) -> Option<(Vec3, f32)> {
        let draw = self.draws.get(&slot)?;
        let (center, radius) = draw.posed.unwrap_or((mesh.bounds.center, mesh.bounds.radius));
        Some((center, radius + draw.reach * draw.scale))
    }

    /// Removes the deformation of a draw.
    pub fn release(&mut self, slot: u32) {
        if let Some(draw) = self.draws.remove(&slot) {
            let count = DrawDeformation::row_count(draw.joints, draw.targets);
            self.free.release(draw.first, count);
        }
    }

    /// Removes the deformation of a draw if it does not fit the draw's mesh, which has changed.
    pub fn fit(&mut self, slot: u32, mesh: Option<&MeshFrame>) {
        let Some(draw) = self.draws.get(&slot) else { return };
        if mesh.is_none_or(|mesh| counts(mesh) != (draw.joints, draw.targets)) {
            self.release(slot);
        }
    }

    /// Returns the rows for a new deformation.
    fn take_rows(&mut self, count: u32) -> Option<u32> {
        if let Some(first) = self.free.take(count) {
            return Some(first);
        }
        let (before, added) = (self.rows.len(), (count as usize).max(GROWTH_MIN));
        let wanted = (before + added.max(before)).min(Deformations::ROWS_MAX);
        if wanted > before {
            self.rows.resize(wanted, [0.0; 4]);
            self.free.release(before as u32, (wanted - before) as u32);
        }
        self.free.take(count)
    }

    /// Returns the deformation of a draw, which is new if the draw had its bind pose. Returns
    /// `None` if there is no room for it.
    fn ensure(&mut self, slot: u32, mesh: &MeshFrame) -> Option<&mut DrawDeformation> {
        if !self.draws.contains_key(&slot) {
            let (joints, targets) = counts(mesh);
            let count = DrawDeformation::row_count(joints, targets);
            let Some(first) = self.take_rows(count) else {
                self.refused.get_or_insert_with(|| {
                    format!(
                        "a world has more than {PALETTE_MATRICES_MAX} joints of skinned meshes \
                         (PALETTE_MATRICES_MAX), so '{}' is shown in its bind pose: remove some",
                        mesh.name
                    )
                });
                return None;
            };
            self.rows[first as usize..][..count as usize].fill([0.0; 4]);
            let weight_rows = DrawDeformation::weight_rows(targets);
            self.rows[first as usize][2] = weight_rows as f32;
            let (held, posed, scale, reach) = (None, None, 1.0, 0.0);
            let draw = DrawDeformation { first, joints, targets, held, posed, scale, reach };
            self.draws.insert(slot, draw);
        }
        self.draws.get_mut(&slot)
    }

    /// Sets the palette of a draw whose mesh has a skin.
    #[cfg(test)]
    pub fn set_palette(
        &mut self,
        slot: u32,
        mesh: &MeshFrame,
        update: &SkinUpdate,
        palette: &[DrawTransform],
    ) {
        self.replace_palette(slot, mesh, update, (palette, None));
    }

    /// Sets the palette of a draw whose mesh has a skin to one of the newest packet: that of the
    /// update, in the memory that is held.
    pub fn set_held_palette(
        &mut self,
        slot: u32,
        mesh: &MeshFrame,
        update: &SkinUpdate,
        palette: &[DrawTransform],
    ) {
        self.replace_palette(slot, mesh, update, (palette, Some(update.first)));
    }

    fn replace_palette(
        &mut self,
        slot: u32,
        mesh: &MeshFrame,
        update: &SkinUpdate,
        (palette, held): (&[DrawTransform], Option<u32>),
    ) {
        let Some(skin) = &mesh.skin else { return };
        let palette = &palette[..palette.len().min(skin.joint_count())];
        let bounds = update.center.extend(update.radius);
        let is_finite = bounds.is_finite() && (update.is_finite || is_finite(palette));
        if !is_finite {
            self.refused.get_or_insert_with(|| {
                format!(
                    "a pose of '{}' has numbers that are not finite, so it is shown in its bind \
                     pose: check the scales and clips of its skeleton",
                    mesh.name
                )
            });
        }
        let shown = !palette.is_empty() && is_finite;
        if !shown && !self.draws.contains_key(&slot) {
            return;
        }
        let packet = self.packet;
        let Some(draw) = self.ensure(slot, mesh) else { return };
        // Lacking joints need rows.
        let held = held.filter(|_| shown && palette.len() == draw.joints as usize);
        draw.held = held.map(|first| HeldPalette { packet, first });
        draw.posed = shown.then_some((update.center, update.radius));
        // Only morph weights need the scale.
        let with_scale = shown && draw.targets > 0;
        draw.scale = if with_scale { scale_max(palette) } else { 1.0 };
        let (first, start, joints) = (draw.first as usize, draw.palette(), draw.joints);
        let count = DrawDeformation::row_count(joints, draw.targets);
        self.rows[first][0] = if shown { joints as f32 } else { 0.0 };
        if held.is_some() {
            self.held.slots.push(slot);
        } else if shown {
            let rows = &mut self.rows[start..][..joints as usize * MATRIX_ROWS];
            let (posed, lacking) = rows.split_at_mut(palette.len() * MATRIX_ROWS);
            posed.copy_from_slice(bytemuck::cast_slice(palette));
            for matrix in lacking.chunks_exact_mut(MATRIX_ROWS) {
                matrix.copy_from_slice(&DrawTransform::IDENTITY.0);
            }
        }
        self.mark(first as u32, count);
    }

    /// Sets the morph weights of a draw whose mesh has morph targets.
    pub fn set_weights(&mut self, slot: u32, mesh: &MeshFrame, weights: &[f32]) {
        let Some(morph) = &mesh.morph else { return };
        let weights = &weights[..weights.len().min(morph.target_count())];
        let usable = |weight: &f32| if weight.is_finite() { *weight } else { 0.0 };
        let shown = weights.iter().any(|weight| usable(weight) != 0.0);
        if !shown && !self.draws.contains_key(&slot) {
            return;
        }
        let Some(draw) = self.ensure(slot, mesh) else { return };
        let (first, targets) = (draw.first as usize, draw.targets);
        let row_count = 1 + DrawDeformation::weight_rows(targets);
        let rows = &mut self.rows[first..][..row_count];
        rows[0][1] = if shown { targets as f32 } else { 0.0 };
        let numbers = rows[1..].as_flattened_mut();
        numbers.fill(0.0);
        for (number, weight) in numbers.iter_mut().zip(weights) {
            *number = usable(weight);
        }
        let reach = morph.reach(numbers);
        let draw = &self.draws[&slot];
        let palette = draw.posed.map(|_| bytemuck::cast_slice(self.palette_rows(draw)));
        let scale = palette.map(scale_max);
        let draw = self.draws.get_mut(&slot).expect("it was ensured");
        draw.reach = reach;
        draw.scale = scale.unwrap_or(draw.scale);
        self.mark(first as u32, row_count as u32);
    }

    fn mark(&mut self, first: u32, count: u32) {
        self.changed.add(first..first + count);
        self.changed_bytes += u64::from(count) * ROW_BYTES;
    }
}

fn scale_max(palette: &[DrawTransform]) -> f32 {
    palette.iter().map(DrawTransform::scale_max).fold(0.0, f32::max)
}

#[cfg(test)]
#[path = "deformations_tests.rs"]
mod tests;
