//! Tests of the plan of pre-skinning: draws of several passes, and the places of their vertices.

use super::*;

/// Rows of poses that the first poses of a scene make room for.
const BEGIN: u32 = 4096;
const RULE: PreSkinningRule = PreSkinningRule { passes_min: 2, binding_bytes_max: 1 << 27 };

/// Returns a scene with draws in view, of which those with an even slot have mesh 0 and the others
/// mesh 1. All but the last one have a pose.
fn posed_scene(draws: u32) -> RetainedScenes {
    let mut scenes = RetainedScenes::default();
    let ahead = Vec3::new(0.0, 10.0, 0.0);
    let changes = (0..draws).map(|slot| draw_change(slot, slot % 2, ahead)).collect();
    let mut first = packet(SceneFrame { changes, ..SceneFrame::default() });
    first.meshes = vec![skinned(0, 2), skinned(1, 2)];
    apply(&mut scenes, &first);
    let mut frame = SceneFrame::default();
    for slot in 0..draws - 1 {
        frame.add_skin(DrawSlot(slot), 2, (Vec3::ZERO, 0.5)).fill(DrawTransform::IDENTITY);
    }
    apply(&mut scenes, &packet(frame));
    scenes
}

/// Returns as many passes of the view of a scene.
fn passes(scenes: &RetainedScenes, count: usize) -> Vec<ScenePass> {
    let groups = scenes.plans.views[0].solid.clone();
    vec![ScenePass { scene: 1, groups, transparent: 0..0 }; count]
}

/// Mesh 0 has 70 vertices in page 5, and mesh 1 has 4 vertices in page 2.
fn locate(mesh: u32) -> Option<MeshLocation> {
    Some(match mesh {
        0 => MeshLocation { page: 5, first_vertex: 1000, vertices: 70 },
        _ => MeshLocation { page: 2, first_vertex: 0, vertices: 4 },
    })
}

fn locations(scenes: &RetainedScenes, draws: u32) -> Vec<f32> {
    let deformations = &scenes.scenes[&1].deformations;
    let header = |slot: u32| deformations.rows_of(slot)[0].first().map_or(-1.0, |row| row[3]);
    (0..draws).map(header).collect()
}

#[test]
fn vertices_of_repeated_draws_are_behind_the_poses() {
    let mut scenes = posed_scene(4);
    let passes = passes(&scenes, 2);
    let mut plan = PreSkinningPlan::default();
    plan.plan(&mut scenes, &passes, RULE, locate);
    let first = [BEGIN, BEGIN + 210, BEGIN + 222];
    let all = [first[0] as f32 - 3000.0, first[1] as f32, first[2] as f32 - 3000.0, -1.0];
    assert_eq!(locations(&scenes, 4), all);
    assert_eq!(scenes.scenes[&1].deformations.spare_rows, 432);
    assert_eq!(scenes.statistics().pre_skinned_draws, 3);
    // Each page has a job, which begins at a multiple of 16 chunks.
    let jobs: Vec<_> = plan.jobs.iter().map(|job| (job.page, job.chunks.clone())).collect();
    assert_eq!(jobs, [(2, 0..1), (5, 16..20)]);
    assert_eq!(plan.chunks[0], [1, 0, 4, first[1]]);
    let chunks = [[0, 1000, 64, first[0]], [0, 1064, 6, first[0] + 192]];
    assert_eq!(plan.chunks[16..18], chunks);
    let chunks = [[2, 1000, 64, first[2]], [2, 1064, 6, first[2] + 192]];
    assert_eq!(plan.chunks[18..], chunks);
    // The same plan changes nothing; another one changes headers alone.
    scenes.discard_changes();
    plan.plan(&mut scenes, &passes, RULE, locate);
    let changed = |scenes: &mut RetainedScenes| -> Vec<std::ops::Range<u32>> {
        let scene = scenes.scenes.get_mut(&1).expect("it exists");
        scene.deformations.changed.merge_all().to_vec()
    };
    assert_eq!(changed(&mut scenes), []);
    plan.plan(&mut scenes, &passes[..1], RULE, locate);
    assert_eq!(locations(&scenes, 4), [0.0, 0.0, 0.0, -1.0]);
    assert!(!changed(&mut scenes).is_empty() && plan.jobs.is_empty() && plan.chunks.is_empty());
}

#[test]
fn a_number_of_passes_decides_which_draws_are_pre_skinned() {
    for (passes_min, count, wanted) in [(0, 5, 0), (1, 1, 2), (2, 1, 0), (3, 3, 2), (4, 3, 0)] {
        let mut scenes = posed_scene(3);
        let passes = passes(&scenes, count);
        let rule = PreSkinningRule { passes_min, ..RULE };
        PreSkinningPlan::default().plan(&mut scenes, &passes, rule, locate);
        assert_eq!(scenes.statistics().pre_skinned_draws, wanted, "{passes_min} of {count}");
    }
    // Draws of other scenes, and those of meshes that cannot be located.
    let mut scenes = posed_scene(3);
    let mut passes = passes(&scenes, 2);
    let mut plan = PreSkinningPlan::default();
    plan.plan(&mut scenes, &passes, RULE, |mesh| locate(mesh).filter(|_| mesh == 1));
    assert_eq!(scenes.statistics().pre_skinned_draws, 1);
    passes.iter_mut().for_each(|pass| pass.scene = 2);
    plan.plan(&mut scenes, &passes, RULE, locate);
    assert_eq!(scenes.statistics().pre_skinned_draws, 0);
}

#[test]
fn draws_without_room_are_skinned_in_their_passes() {
    let large = |_| Some(MeshLocation { page: 0, first_vertex: 0, vertices: 1000 });
    // Buffers of 8,191 rows have 4,096; those of 8,192 rows have room for 4,096 more: a draw.
    for (rows, wanted) in [(8191, 0), (8192, 1), (16_383, 1), (16_384, 3), (1 << 23, 3)] {
        let mut scenes = posed_scene(4);
        let passes = passes(&scenes, 2);
        let rule = PreSkinningRule { binding_bytes_max: rows * 16, ..RULE };
        PreSkinningPlan::default().plan(&mut scenes, &passes, rule, large);
        assert_eq!(scenes.statistics().pre_skinned_draws, wanted, "{rows}");
    }
    // Together, the vertices have 67 MB at most, and a smaller draw can follow a larger one.
    let mut scenes = posed_scene(4);
    let passes = passes(&scenes, 2);
    let mixed = |mesh| {
        let vertices = if mesh == 0 { 800_000 } else { 500_000 };
        Some(MeshLocation { page: 0, first_vertex: 0, vertices })
    };
    PreSkinningPlan::default().plan(&mut scenes, &passes, RULE, mixed);
    let [first, second, third, _] = locations(&scenes, 4)[..] else { unreachable!("four draws") };
    assert_eq!([first, second, third], [BEGIN as f32, (BEGIN + 2_400_000) as f32, 0.0]);
}
