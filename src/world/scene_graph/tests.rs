//! Tests of the scene graph: poses, links, dirty marks.

use super::*;

fn at(x: f32) -> NodePose {
    NodePose { position: Vec3::new(x, 0.0, 0.0), ..NodePose::IDENTITY }
}

/// Returns a graph of units 0, 1, … with two nodes each, the second one metre along the first's x
/// axis.
fn graph(units: u32) -> SceneGraph {
    let mut graph = SceneGraph::default();
    for unit in 0..units {
        graph.add(unit, &[NO_NODE, 0], &[at(0.0), at(1.0)]).unwrap();
    }
    graph
}

fn update(graph: &mut SceneGraph, has: impl Fn(u32) -> bool, moved: &mut Vec<u32>) {
    graph.update(has, moved, &TaskPool::new(Some(1))).unwrap();
}

#[test]
fn children_follow_their_parents() {
    let mut graph = graph(1);
    let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let pose = NodePose { rotation: quarter, ..at(5.0) };
    graph.set_local(0, 0, &pose);
    assert!(graph.world_position(0, 1).abs_diff_eq(Vec3::new(5.0, 1.0, 0.0), 1e-6));
    assert!(graph.world_rotation(0, 1).abs_diff_eq(quarter, 1e-6));
}

#[test]
fn a_link_moves_its_child_and_unlinking_keeps_the_pose() {
    let mut graph = graph(3);
    graph.link((1, 0), (0, 1)).unwrap();
    graph.link((2, 0), (1, 1)).unwrap();
    let mut moved = Vec::new();
    update(&mut graph, |_| true, &mut moved);
    moved.clear();
    graph.set_local_position(0, 0, Vec3::new(10.0, 0.0, 0.0));
    update(&mut graph, |_| true, &mut moved);
    assert_eq!(moved, [0, 1, 2], "what hangs on it moves with it");
    assert_eq!(graph.world_position(2, 0), Vec3::new(12.0, 0.0, 0.0));
    let message = graph.link((0, 0), (2, 0)).unwrap_err().message;
    assert!(message.contains("cannot be linked to itself"), "{message}");
    graph.remove(1);
    assert_eq!(graph.world_position(2, 0), Vec3::new(12.0, 0.0, 0.0));
    assert_eq!(graph.parent(2, 0), None);
}

#[test]
fn units_can_be_linked_to_any_depth() {
    const UNITS: u32 = 50_000;
    for from_top in [false, true] {
        let mut graph = graph(UNITS);
        for unit in 1..UNITS {
            // Linking must not walk the whole existing chain in either direction.
            let child = if from_top { unit } else { UNITS - unit };
            graph.link((child, 0), (child - 1, 1)).unwrap();
        }
        check_chain(graph, UNITS);
    }
}

fn check_chain(mut graph: SceneGraph, units: u32) {
    let mut moved = Vec::new();
    update(&mut graph, |_| true, &mut moved);
    graph.set_local_position(0, 0, Vec3::new(0.0, 3.0, 0.0));
    let last = units - 1;
    assert_eq!(graph.world_position(last, 0), Vec3::new(last as f32, 3.0, 0.0));
    moved.clear();
    update(&mut graph, |_| true, &mut moved);
    assert_eq!(moved, (0..units).collect::<Vec<_>>());
    graph.remove(0);
    assert_eq!(graph.world_position(last, 0), Vec3::new(last as f32, 3.0, 0.0));
}

#[test]
fn unlinking_from_a_pose_that_is_not_finite_gives_a_finite_one() {
    let mut graph = graph(2);
    graph.link((1, 0), (0, 1)).unwrap();
    let far =
        NodePose { position: Vec3::splat(3e38), scale: Vec3::splat(3e38), ..NodePose::IDENTITY };
    graph.set_local(0, 0, &far);
    graph.set_local(1, 0, &far);
    assert!(!graph.world_position(1, 0).is_finite());
    graph.unlink(1);
    assert_eq!(graph.local(1, 0), far);
    assert_eq!(graph.world_position(1, 0), far.position);
}

#[test]
fn an_unlinked_unit_is_no_longer_moved() {
    const UNITS: u32 = 2000;
    let mut graph = graph(UNITS);
    for unit in 1..UNITS {
        graph.link((unit, 0), (0, 0)).unwrap();
    }
    for unit in (1..UNITS / 2).chain((UNITS / 2..UNITS).rev()) {
        assert!(graph.runs[0].has(flag::HAS_LINKED));
        graph.remove(unit);
    }
    assert!(graph.linked.is_empty() && !graph.runs[0].has(flag::HAS_LINKED));
}

#[test]
fn a_node_with_zero_scale_keeps_its_rotation() {
    let turn = Quat::from_rotation_z(0.7) * Quat::from_rotation_x(0.4);
    for flat in [[0.0, 1.0, 2.0], [2.0, 0.0, 1.0], [1.0, 2.0, 0.0]] {
        let flat = Vec3::from_array(flat);
        let matrix = Mat4::from_scale_rotation_translation(flat, turn, Vec3::ONE);
        let pose = NodePose::of(matrix);
        assert!(pose.matrix().abs_diff_eq(matrix, 1e-5), "{pose:?}");
    }
    for lone in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::ZERO] {
        let matrix = Mat4::from_scale_rotation_translation(lone, turn, Vec3::ONE);
        let pose = NodePose::of(matrix);
        assert!(pose.rotation.is_normalized() && pose.matrix().abs_diff_eq(matrix, 1e-5));
    }
    let mut graph = graph(2);
    graph.set_local_scale(0, 0, Vec3::ZERO);
    graph.link((1, 0), (0, 0)).unwrap();
    graph.set_world_pose(1, 0, Vec3::ONE, Quat::IDENTITY);
    graph.unlink(1);
    let pose = graph.local(1, 0);
    assert!(pose.position.is_finite() && pose.rotation.is_normalized(), "{pose:?}");
}

#[test]
fn only_the_requested_units_are_updated() {
    let mut graph = graph(2);
    let mut moved = Vec::new();
    graph.world_position(1, 0);
    update(&mut graph, |unit| unit == 1, &mut moved);
    assert_eq!(moved, [1], "it moved, though somebody asked before");
    update(&mut graph, |_| true, &mut moved);
    assert_eq!(moved, [1, 0]);
    update(&mut graph, |_| true, &mut moved);
    assert_eq!(moved, [1, 0]);
}

#[test]
fn a_node_takes_92_bytes_and_a_unit_12_more() {
    assert_eq!((SceneGraph::NODE_BYTES, size_of::<NodeRange>()), (92, 12));
}

#[test]
fn freed_nodes_are_reused() {
    let mut graph = graph(2);
    graph.remove(0);
    graph.add(0, &[NO_NODE, 0], &[at(7.0), at(1.0)]).unwrap();
    assert_eq!(graph.used, 4);
    assert_eq!(graph.world_position(0, 1), Vec3::new(8.0, 0.0, 0.0));
    assert_eq!(graph.world_position(1, 1), Vec3::new(1.0, 0.0, 0.0));
}
