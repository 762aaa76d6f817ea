//! Tests of the deformations of a scene's draws.

use super::*;
use engine_frame_packet::deformation::{MeshMorph, MeshSkin};
use engine_frame_packet::mesh::{MeshBounds, MeshVertex};
use engine_frame_packet::scene::DrawSlot;

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
    let (slot, is_finite) = (DrawSlot(0), false);
    SkinUpdate { slot, first: 0, count: 0, center: Vec3::X, radius, is_finite }
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

/// Applies a packet whose palettes are of these draws, with a matrix of this position for each.
fn apply(all: &mut Deformations, mesh: &MeshFrame, changed: &[(u32, f32)]) {
    let at = |(_, x): &(u32, f32)| [DrawTransform::at(Vec3::splat(*x)); 2];
    let matrices: Vec<DrawTransform> = changed.iter().flat_map(at).collect();
    all.begin_palettes(Arc::new(matrices.clone()));
    for (index, (slot, _)) in changed.iter().enumerate() {
        let first = 2 * index as u32;
        let palette = &matrices[first as usize..][..2];
        let update = SkinUpdate { first, count: 2, ..update(1.0) };
        all.set_held_palette(*slot, mesh, &update, palette);
    }
    all.end_palettes();
    all.sort_held();
}

/// Returns the x of the second matrix of draws of two joints, as they are copied.
fn copied(all: &Deformations, range: Range<u32>) -> Vec<f32> {
    let rows: Vec<[f32; 4]> = all.parts(range.clone()).flatten().copied().collect();
    assert_eq!(rows.len(), range.len());
    rows.iter().skip(4).step_by(7).map(|row| row[3]).collect()
}

#[test]
fn palettes_are_copied_from_the_memory_of_their_packet() {
    let (mut all, mesh) = (Deformations::new(), mesh(2, 0));
    apply(&mut all, &mesh, &[(5, 1.0), (3, 2.0), (4, 3.0)]);
    assert_eq!([5, 3, 4].map(|slot| all.location(slot)), [1, 8, 15]);
    assert_eq!(copied(&all, 0..21), [1.0, 2.0, 3.0]);
    assert_eq!(all.rows[4], [0.0; 4], "it is in the packet alone");
    assert_eq!(all.rows_of(3)[1][3], [1.0, 0.0, 0.0, 2.0]);
    // Those that the next packet does not replace stay; one has two poses in it.
    apply(&mut all, &mesh, &[(4, 4.0), (3, 5.0), (4, 6.0)]);
    assert_eq!(copied(&all, 0..21), [1.0, 5.0, 6.0]);
    assert_eq!(all.rows_of(5)[1][3][3], 1.0);
    apply(&mut all, &mesh, &[(3, 7.0)]);
    assert_eq!(copied(&all, 0..21), [1.0, 7.0, 6.0]);
    assert_eq!(copied(&all, 7..14), [7.0]);
    // A part of the range: from within a palette to within the next one.
    let part: Vec<[f32; 4]> = all.parts(12..17).flatten().copied().collect();
    assert_eq!(part[..2], DrawTransform::at(Vec3::splat(7.0)).0[1..]);
    assert_eq!((part[2][0], part[3][3]), (2.0, 6.0));
    // Draws end, and others get their rows.
    all.release(3);
    apply(&mut all, &mesh, &[(9, 8.0)]);
    assert_eq!((all.location(9), all.count()), (8, 3));
    assert_eq!(copied(&all, 0..21), [1.0, 8.0, 6.0]);
    all.set_palette(9, &mesh, &update(1.0), &palette(1));
    all.sort_held();
    assert_eq!(copied(&all, 0..21), [1.0, 0.0, 6.0]);
    assert_eq!(all.rows_of(77), [&[] as &[[f32; 4]]; 2]);
}

#[test]
fn weights_scale_with_palettes_of_packets() {
    let (mut all, mesh) = (Deformations::new(), mesh(2, 1));
    apply(&mut all, &mesh, &[(0, 1.0)]);
    all.set_weights(0, &mesh, &[0.5]);
    assert_eq!(all.bounds(0, &mesh), Some((Vec3::X, 1.5)));
    let wide = DrawTransform([[3.0, 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4]]);
    all.begin_palettes(Arc::new(vec![wide; 2]));
    let update = SkinUpdate { first: 0, count: 2, is_finite: true, ..update(1.0) };
    all.set_held_palette(0, &mesh, &update, &[wide; 2]);
    all.end_palettes();
    assert_eq!(all.bounds(0, &mesh), Some((Vec3::X, 2.5)));
    all.set_weights(0, &mesh, &[1.0]);
    assert_eq!(all.bounds(0, &mesh), Some((Vec3::X, 4.0)));
}

#[test]
fn poses_that_are_not_finite_replace_those_of_packets() {
    let (mut all, mesh) = (Deformations::new(), mesh(2, 0));
    apply(&mut all, &mesh, &[(0, 1.0), (1, 2.0)]);
    apply(&mut all, &mesh, &[(0, f32::NAN)]);
    assert!(all.refused.take().is_some(), "it is reported");
    assert_eq!((all.rows[0][0], all.rows[7][0]), (0.0, 2.0));
    assert_eq!(copied(&all, 7..14), [2.0]);
    apply(&mut all, &mesh, &[(1, 3.0)]);
    assert_eq!(copied(&all, 0..14), [0.0, 3.0], "nothing of the wrong pose is left");
    apply(&mut all, &mesh, &[(0, 4.0)]);
    assert_eq!((all.rows[0][0], copied(&all, 0..14)), (2.0, vec![4.0, 3.0]));
}

#[test]
fn memory_of_packets_is_released_when_poses_rest() {
    let (mut all, mesh) = (Deformations::new(), mesh(2, 0));
    apply(&mut all, &mesh, &[(5, 1.0), (3, 2.0)]);
    all.changed.clear();
    let memory = all.held.matrices.as_ref().map(Arc::downgrade).expect("it is held");
    (0..IDLE_PACKETS).for_each(|_| all.begin());
    assert!(memory.upgrade().is_some());
    all.begin();
    assert!(memory.upgrade().is_none());
    assert!(all.changed.is_empty(), "the adapter has the palettes");
    all.sort_held();
    assert_eq!(copied(&all, 0..14), [1.0, 2.0]);
    apply(&mut all, &mesh, &[(3, 4.0)]);
    assert_eq!(copied(&all, 0..14), [1.0, 4.0]);
}
