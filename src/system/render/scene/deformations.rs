//! The deformations of a scene's draws: the palettes of skins and the weights of morph targets, as
//! the vertex shaders read them (forward/deformation.wgsl). They stay until they are replaced. A
//! draw without an entry has its bind pose.
//!
//! All are in one array of rows of four numbers. The rows of a draw are: a header (the number of
//! joints that are posed, that of morph targets with weights, that of the rows of weights, and the
//! location of its pre-skinned vertices), the weights, and three rows for each joint. Pre-skinned
//! vertices are behind all of them, on the adapter only.

use super::super::numeric_map::{DirtyRanges, NumberMap};
use super::super::range_allocator::RangeAllocator;
use engine_foundation::Vec3;
use engine_frame_packet::mesh::MeshFrame;
use engine_frame_packet::scene::{DrawTransform, PALETTE_MATRICES_MAX, SkinUpdate};

/// Rows of a matrix.
const MATRIX_ROWS: usize = 3;
/// Weights in one row.
const ROW_WEIGHTS: usize = 4;
/// The array grows by at least this many rows: 64 KiB.
const GROWTH_MIN: usize = 4096;
const ROW_BYTES: u64 = size_of::<[f32; 4]>() as u64;

/// The deformation of one draw.
struct DrawDeformation {
    first: u32,
    joints: u32,
    targets: u32,
    /// Sphere around the posed vertices in the draw's space; `None`: the bind pose.
    posed: Option<(Vec3, f32)>,
    /// The largest scale of the palette, and the greatest distance in metres by which the morph
    /// weights move a vertex before that.
    scale: f32,
    reach: f32,
}

/// The deformations of all draws of a scene.
pub struct Deformations {
    pub rows: Vec<[f32; 4]>,
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

    /// Returns the rows of a draw's deformation; none: the draw has its bind pose.
    pub fn rows_of(&self, slot: u32) -> &[[f32; 4]] {
        self.draws.get(&slot).map_or(&[], |draw| {
            let count = DrawDeformation::row_count(draw.joints, draw.targets);
            &self.rows[draw.first as usize..][..count as usize]
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
            let (posed, scale, reach) = (None, 1.0, 0.0);
            let draw = DrawDeformation { first, joints, targets, posed, scale, reach };
            self.draws.insert(slot, draw);
        }
        self.draws.get_mut(&slot)
    }

    /// Sets the palette of a draw whose mesh has a skin.
    pub fn set_palette(
        &mut self,
        slot: u32,
        mesh: &MeshFrame,
        update: &SkinUpdate,
        palette: &[DrawTransform],
    ) {
        let Some(skin) = &mesh.skin else { return };
        let palette = &palette[..palette.len().min(skin.joint_count())];
        let bounds = update.center.extend(update.radius);
        let is_finite = bounds.is_finite() && is_finite(palette);
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
        let Some(draw) = self.ensure(slot, mesh) else { return };
        draw.posed = shown.then_some((update.center, update.radius));
        // Only morph weights need the scale.
        let with_scale = shown && draw.targets > 0;
        draw.scale = if with_scale { scale_max(palette) } else { 1.0 };
        let (first, start, joints) = (draw.first as usize, draw.palette(), draw.joints);
        let count = DrawDeformation::row_count(joints, draw.targets);
        self.rows[first][0] = if shown { joints as f32 } else { 0.0 };
        if shown {
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
        let draw = self.draws.get_mut(&slot).expect("it was ensured");
        draw.reach = reach;
        if draw.posed.is_some() {
            let start = draw.palette();
            let palette = &self.rows[start..][..draw.joints as usize * MATRIX_ROWS];
            draw.scale = scale_max(bytemuck::cast_slice(palette));
        }
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
mod tests {
    use super::*;
    use engine_frame_packet::deformation::{MeshMorph, MeshSkin};
    use engine_frame_packet::mesh::{MeshBounds, MeshVertex};
    use engine_frame_packet::scene::DrawSlot;
    use std::sync::Arc;

    /// Returns a mesh of one point with joints and morph targets of one metre.
    fn mesh(joints: u16, targets: usize) -> MeshFrame {
        let vertices = vec![MeshVertex::default()];
        let skin = (joints > 0).then(|| {
            let (joints, weights) = ([joints - 1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]);
            Arc::new(MeshSkin::new(&vertices, &[joints], &[weights]))
        });
        let targets = vec![vec![[1.0, 0.0, 0.0]]; targets];
        let morph = MeshMorph::new(&vertices, &[], &targets).expect("few targets");
        MeshFrame {
            name: "worm".to_string(),
            bounds: MeshBounds::of(&vertices),
            vertices,
            indices: Vec::new(),
            parts: Vec::new(),
            skin,
            morph: (!targets.is_empty()).then(|| Arc::new(morph)),
        }
    }

    fn update(radius: f32) -> SkinUpdate {
        SkinUpdate { slot: DrawSlot(0), first: 0, count: 0, center: Vec3::X, radius }
    }

    fn palette(count: usize) -> Vec<DrawTransform> {
        (0..count).map(|at| DrawTransform::at(Vec3::splat(at as f32))).collect()
    }

    #[test]
    fn rows_have_a_header_weights_and_matrices() {
        let (mut all, mesh) = (Deformations::new(), mesh(2, 5));
        all.set_palette(7, &mesh, &update(1.0), &palette(2));
        all.set_weights(7, &mesh, &[0.0, 0.5, 0.0, 0.0, 2.0, 9.0]);
        assert_eq!(all.location(7), 1);
        assert_eq!(all.rows[0], [2.0, 5.0, 2.0, 0.0]);
        assert_eq!(all.rows[1..3], [[0.0, 0.5, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]]);
        assert_eq!(all.rows[3..6], DrawTransform::IDENTITY.0);
        assert_eq!(all.rows[6..9], DrawTransform::at(Vec3::ONE).0);
        assert_eq!(all.bounds(7, &mesh), Some((Vec3::X, 1.0 + 2.5)));
        assert_eq!(all.changed_bytes, (9 + 3) * 16);
        all.set_weights(7, &mesh, &[]);
        assert_eq!((all.rows[0], all.rows[1]), ([2.0, 0.0, 2.0, 0.0], [0.0; 4]));
    }

    #[test]
    fn lacking_joints_stay_and_further_matrices_are_ignored() {
        let (mut all, mesh) = (Deformations::new(), mesh(3, 0));
        all.set_palette(0, &mesh, &update(1.0), &palette(5));
        assert_eq!(all.rows[7..10], DrawTransform::at(Vec3::splat(2.0)).0);
        assert_eq!(all.rows[10], [0.0; 4]);
        all.set_palette(0, &mesh, &update(1.0), &palette(1));
        assert_eq!(all.rows[4..7], DrawTransform::IDENTITY.0);
        assert_eq!(all.rows[7..10], DrawTransform::IDENTITY.0);
        assert_eq!(all.refused, None);
    }

    #[test]
    fn a_pose_that_is_not_finite_is_the_bind_pose() {
        let (mut all, mesh) = (Deformations::new(), mesh(2, 0));
        for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut broken = palette(2);
            broken[1].0[2][1] = wrong;
            all.set_palette(0, &mesh, &update(1.0), &broken);
            assert_eq!(all.location(0), 0, "it had no pose before");
            all.set_palette(0, &mesh, &update(1.0), &palette(2));
            assert_eq!(all.rows[0][0], 2.0);
            all.set_palette(0, &mesh, &update(1.0), &broken);
            assert_eq!(all.rows[0][0], 0.0);
            let bounds = (mesh.bounds.center, mesh.bounds.radius);
            assert_eq!(all.bounds(0, &mesh), Some(bounds));
            assert!(all.rows.as_flattened().iter().all(|number| number.is_finite()));
            let message = all.refused.take().expect("it is reported");
            assert!(message.contains("a pose of 'worm' has numbers that are not"), "{message}");
            all.set_palette(0, &mesh, &update(wrong), &palette(2));
            assert_eq!(all.bounds(0, &mesh), Some(bounds), "nor can its bounds be used");
            assert!(all.refused.take().is_some());
            all.release(0);
        }
        let morph = self::mesh(0, 2);
        all.set_weights(0, &morph, &[f32::NAN, 1.0]);
        assert_eq!(all.rows[1], [0.0, 1.0, 0.0, 0.0]);
        all.set_palette(0, &morph, &update(1.0), &palette(2));
        assert_eq!(all.rows[0], [0.0, 2.0, 1.0, 0.0], "a mesh without a skin has no palette");
    }

    #[test]
    fn rows_are_used_again_and_follow_the_mesh() {
        let (mut all, two, three) = (Deformations::new(), mesh(2, 0), mesh(3, 0));
        for slot in 0..3 {
            all.set_palette(slot, &two, &update(1.0), &palette(2));
        }
        assert_eq!([0, 1, 2].map(|slot| all.location(slot)), [1, 8, 15]);
        all.fit(1, Some(&two));
        assert_eq!(all.location(1), 8, "a mesh with as many joints keeps the pose");
        all.fit(1, Some(&three));
        assert_eq!((all.location(1), all.count()), (0, 2));
        all.set_palette(5, &two, &update(1.0), &palette(2));
        assert_eq!(all.location(5), 8);
        all.set_palette(1, &three, &update(1.0), &palette(3));
        assert_eq!(all.location(1), 22);
        all.fit(1, None);
        assert_eq!(all.location(1), 0);
    }

    #[test]
    fn the_number_of_palettes_is_limited() {
        let (mut all, mesh) = (Deformations::new(), mesh(1024, 0));
        let bones = palette(1024);
        let most = PALETTE_MATRICES_MAX / 1024;
        let mut shown = 0;
        for slot in 0..most as u32 + 2 {
            all.set_palette(slot, &mesh, &update(1.0), &bones);
            shown += usize::from(all.location(slot) > 0);
        }
        assert!(shown < most + 1 && shown > most - 4, "{shown}");
        assert_eq!(all.rows.len(), Deformations::ROWS_MAX);
        let message = all.refused.take().expect("it is reported");
        assert!(message.contains("1048576 joints") && message.contains("'worm'"), "{message}");
        all.release(0);
        all.set_palette(9999, &mesh, &update(1.0), &bones);
        assert_eq!((all.location(9999), all.refused), (1, None));
    }
}
