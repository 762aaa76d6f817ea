//! Tests of agents that follow others, of their groups, of characters that physics moves, and of
//! paths that change on the way.

use super::agent_tests::Crowd;
use super::agents::{AgentSettings, AgentState};
use super::bake::AreaShape;
use super::crowd_scenes::{STEP, rooms, square};
use super::test_worlds::world;
use super::volumes::REBUILD_UPDATES;
use engine_foundation::{Vec2, Vec3};

const USUAL: AgentSettings = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };

fn state(crowd: &Crowd, at: usize) -> AgentState {
    crowd.agents.slots.get(crowd.handles[at]).unwrap().state
}

fn speed(crowd: &Crowd, at: usize) -> f32 {
    crowd.agents.slots.get(crowd.handles[at]).unwrap().velocity.length()
}

/// A leader that walks from west to east, and followers at offsets.
fn column(threads: usize, offsets: &[Vec2]) -> Crowd {
    let mut crowd = Crowd::new(rooms(1.4), threads);
    crowd.send(Vec3::new(-8.0, 0.0, 0.0), Vec3::new(12.0, 0.0, 0.0), USUAL);
    for (at, offset) in (1..).zip(offsets) {
        let from = Vec3::new(-10.0 - (at % 15) as f32, (at / 15) as f32 * 1.5 - 4.0, 0.0);
        crowd.send(from, from, AgentSettings { speed: 5.0, ..USUAL });
        crowd.agents.follow(crowd.handles[at], crowd.handles[0], *offset);
    }
    crowd
}

#[test]
fn followers_pass_a_door_and_take_their_positions_again() {
    let offsets = [[1.2, -1.2], [-1.2, -1.2], [2.4, -2.4], [-2.4, -2.4]].map(Vec2::from);
    let mut crowd = column(1, &offsets);
    (0..900).for_each(|_| crowd.update());
    let leader = crowd.agents.slots.get(crowd.handles[0]).unwrap();
    assert_eq!(leader.state, AgentState::Arrived);
    let (ahead, from) = (leader.forward, leader.at.position.truncate());
    let right = Vec2::new(ahead.y, -ahead.x);
    for (at, offset) in (1..).zip(offsets) {
        assert_eq!(state(&crowd, at), AgentState::Arrived);
        let expected = from + right * offset.x + ahead * offset.y;
        let apart = crowd.position(at).distance(expected);
        assert!(apart < 0.4, "{at}: {apart}");
    }
}

#[test]
fn followers_decide_the_same_on_any_number_of_threads() {
    let offsets: Vec<Vec2> = (0..80).map(|at| Vec2::new(0.0, -1.0 - at as f32 * 0.5)).collect();
    let run = |threads: usize| {
        let mut crowd = column(threads, &offsets);
        (0..400).for_each(|_| crowd.update());
        crowd.hash()
    };
    let one = run(1);
    assert!(run(4) == one);
}

#[test]
fn followers_are_idle_without_their_leader() {
    let mut crowd = column(1, &[Vec2::new(0.0, -1.5)]);
    (0..30).for_each(|_| crowd.update());
    assert_eq!(state(&crowd, 1), AgentState::Moving);
    crowd.agents.slots.remove(crowd.handles[0], "", 0, "");
    crowd.update();
    assert_eq!(state(&crowd, 1), AgentState::Idle);
    let agent = crowd.agents.slots.get(crowd.handles[1]).unwrap();
    assert!(agent.leader().is_none() && agent.destination.is_none());
}

#[test]
fn two_agents_that_follow_each_other_do_no_harm() {
    let mut crowd = column(1, &[Vec2::new(0.0, -1.5)]);
    crowd.agents.follow(crowd.handles[0], crowd.handles[1], Vec2::new(0.0, -1.5));
    (0..600).for_each(|_| crowd.update());
    let mut all = crowd.handles.iter().map(|agent| crowd.agents.slots.get(*agent).unwrap());
    assert!(all.all(|agent| agent.at.position.is_finite()));
    crowd.agents.cancel(crowd.handles[0]);
    assert_eq!(state(&crowd, 0), AgentState::Idle);
}

#[test]
fn agents_of_a_group_walk_closer_together() {
    let nearest = |group: u8| {
        let mut crowd = Crowd::new(square(30.0), 1);
        let settings = AgentSettings { group, ..USUAL };
        crowd.send(Vec3::new(-20.0, 0.9, 0.0), Vec3::new(20.0, -0.9, 0.0), settings);
        crowd.send(Vec3::new(-20.0, -0.9, 0.0), Vec3::new(20.0, 0.9, 0.0), settings);
        let mut nearest = f32::MAX;
        for _ in 0..900 {
            crowd.update();
            nearest = nearest.min(crowd.position(0).distance(crowd.position(1)));
        }
        assert_eq!(crowd.arrived(), 2);
        nearest
    };
    assert!(nearest(2) <= nearest(0) + 1e-3, "{} {}", nearest(2), nearest(0));
}

#[test]
fn agents_go_on_while_their_search_waits() {
    let mut crowd = Crowd::new(square(40.0), 1);
    for at in 0..300 {
        let from = Vec3::new(-30.0 + (at % 10) as f32, -30.0 + (at / 10) as f32 * 2.0, 0.0);
        crowd.send(from, from + Vec3::new(50.0, 0.0, 0.0), USUAL);
    }
    (0..120).for_each(|_| crowd.update());
    // Far from all paths.
    let far = crowd.mesh.nearest(Vec3::new(-39.0, 39.0, 0.0), 1.0, 1.0).unwrap();
    crowd.mesh.set_obstructed(far.polygon, true);
    let before: Vec<f32> = (0..300).map(|at| speed(&crowd, at)).collect();
    for _ in 0..10 {
        crowd.update();
        for (at, before) in before.iter().enumerate() {
            assert_eq!(state(&crowd, at), AgentState::Moving);
            assert!(speed(&crowd, at) > before * 0.5, "{at}");
        }
    }
    let version = crowd.mesh.version;
    assert!(crowd.agents.slots.iter().all(|(_, agent)| agent.version == version));
}

#[test]
fn agents_stop_before_a_polygon_that_closes_on_their_path() {
    let mut crowd = Crowd::new(rooms(1.4), 1);
    crowd.send(Vec3::new(-12.0, 0.0, 0.0), Vec3::new(12.0, 0.0, 0.0), USUAL);
    (0..60).for_each(|_| crowd.update());
    let door = crowd.mesh.nearest(Vec3::ZERO, 0.2, 1.0).unwrap();
    crowd.mesh.set_obstructed(door.polygon, true);
    (0..600).for_each(|_| crowd.update());
    assert_eq!(state(&crowd, 0), AgentState::Partial);
    assert!(crowd.position(0).x < 0.0);
    // A way that opens is found by those who gave up, too.
    crowd.mesh.set_obstructed(door.polygon, false);
    (0..600).for_each(|_| crowd.update());
    assert_eq!(state(&crowd, 0), AgentState::Arrived);
}

#[test]
fn a_passage_that_ends_is_forgotten_by_standing_agents() {
    let mut crowd = Crowd::new(rooms(1.4), 1);
    crowd.send(Vec3::new(-3.0, 0.0, 0.0), Vec3::new(12.0, 0.0, 0.0), USUAL);
    crowd.send(Vec3::new(-3.0, 3.0, 0.0), Vec3::new(-12.0, 0.0, 0.0), USUAL);
    (0..20).for_each(|_| crowd.update());
    crowd.agents.cancel(crowd.handles[0]);
    // The door is filled up, and the mesh has no passage any more.
    let (position, radius) = ([0.0, 0.0, -1.0], 1.5);
    let shape = AreaShape::Cylinder { position, radius, height: 4.0 };
    crowd.mesh.add_volume(shape, 0).unwrap();
    for _ in 0..60 {
        if let Some(renumbering) = crowd.mesh.rebuild(&crowd.pool).unwrap() {
            crowd.agents.renumber(crowd.id, &crowd.mesh, &renumbering);
        }
        crowd.update();
    }
    assert_eq!(crowd.mesh.waiting_tiles(), 0);
    assert_eq!(state(&crowd, 0), AgentState::Idle);
}

#[test]
fn a_corrected_agent_keeps_its_path() {
    let mut crowd = Crowd::new(square(40.0), 1);
    crowd.send(Vec3::ZERO, Vec3::new(30.0, 0.0, 0.0), USUAL);
    (0..60).for_each(|_| crowd.update());
    let agent = crowd.handles[0];
    let aside = crowd.position(0).extend(0.0) + Vec3::new(-0.2, 0.5, 0.2);
    let apart = crowd.agents.correct(agent, &crowd.mesh, aside).unwrap();
    assert!(apart < 0.5 && crowd.position(0).distance(aside.truncate()) < 1e-3, "{apart}");
    crowd.update();
    assert_eq!((state(&crowd, 0), crowd.agents.statistics.searches), (AgentState::Moving, 0));
    for bad in [Vec3::NAN, Vec3::new(0.0, 0.0, 50.0), Vec3::splat(1e30)] {
        assert_eq!(crowd.agents.correct(agent, &crowd.mesh, bad), None, "{bad}");
    }
    // Another part of the mesh.
    crowd.agents.correct(agent, &crowd.mesh, Vec3::new(0.0, 20.0, 0.0)).unwrap();
    (0..900).for_each(|_| crowd.update());
    assert_eq!(state(&crowd, 0), AgentState::Arrived);
}

#[test]
fn tiles_are_swapped_in_at_the_same_update_on_all_threads() {
    let run = |threads: usize| {
        let mut crowd = Crowd::new(square(40.0), threads);
        for at in 0..40 {
            let from = Vec3::new(-30.0, -30.0 + at as f32 * 1.5, 0.0);
            crowd.send(from, -from, USUAL);
        }
        let mut hashes = Vec::new();
        for update in 0..300u32 {
            if update % 7 == 0 {
                let position = [(update % 40) as f32 - 20.0, (update % 30) as f32 - 15.0, 0.0];
                let shape = AreaShape::Cylinder { position, radius: 1.0, height: 2.0 };
                crowd.mesh.add_volume(shape, 0).unwrap();
            }
            if let Some(renumbering) = crowd.mesh.rebuild(&crowd.pool).unwrap() {
                assert!(renumbering.failure.is_none());
                crowd.agents.renumber(crowd.id, &crowd.mesh, &renumbering);
            }
            crowd.agents.update(crowd.id, &crowd.mesh, STEP, &crowd.pool).unwrap();
            crowd.mesh.write_state(&mut |number| hashes.push(number));
            hashes.extend(crowd.hash());
        }
        hashes
    };
    let one = run(1);
    for threads in [2, 4, 8] {
        assert!(run(threads) == one, "{threads}");
    }
}

#[test]
fn a_tile_is_swapped_in_some_updates_after_its_start() {
    let mut crowd = Crowd::new(square(40.0), 1);
    let shape = AreaShape::Cylinder { position: [20.0, 20.0, 0.0], radius: 0.5, height: 2.0 };
    let number = crowd.mesh.add_volume(shape, 0).unwrap();
    let waiting = crowd.mesh.waiting_tiles();
    assert!(waiting > 0);
    for _ in 0..REBUILD_UPDATES {
        assert!(crowd.mesh.rebuild(&crowd.pool).unwrap().is_none());
        assert_eq!(crowd.mesh.waiting_tiles(), waiting);
    }
    // A change of a tile that is being built waits for the next batch.
    assert!(crowd.mesh.remove_volume(number));
    assert!(crowd.mesh.rebuild(&crowd.pool).unwrap().is_some());
    assert_eq!(crowd.mesh.waiting_tiles(), waiting);
    assert!(crowd.mesh.nearest(Vec3::new(20.0, 20.0, 0.0), 0.3, 1.0).is_none());
    (0..REBUILD_UPDATES).for_each(|_| drop(crowd.mesh.rebuild(&crowd.pool).unwrap()));
    assert_eq!(crowd.mesh.waiting_tiles(), 0);
    assert!(crowd.mesh.nearest(Vec3::new(20.0, 20.0, 0.0), 0.3, 1.0).is_some());
}

#[test]
fn a_follower_without_a_way_to_its_leader_is_partial() {
    let mut crowd = Crowd::new(world(5, 14, |x, _, _| x == 20), 1);
    crowd.mesh.update_hierarchy(&crowd.pool).unwrap();
    let (here, there) = (Vec3::new(10.0, 36.0, 0.4), Vec3::new(60.0, 36.0, 0.4));
    crowd.send(there, there, USUAL);
    crowd.send(here, here, USUAL);
    crowd.agents.follow(crowd.handles[1], crowd.handles[0], Vec2::new(0.0, -2.0));
    (0..60 * 15).for_each(|_| crowd.update());
    for _ in 0..120 {
        crowd.update();
        assert_eq!((state(&crowd, 1), speed(&crowd, 1) < 0.01), (AgentState::Partial, true));
    }
    assert!(crowd.position(1).x > 30.0, "{}", crowd.position(1));
    // Its leader comes to its side.
    let near = crowd.mesh.nearest(Vec3::new(20.0, 20.0, 0.4), 1.0, 1.0).unwrap();
    crowd.agents.cancel(crowd.handles[0]);
    crowd.agents.teleport(crowd.handles[0], near);
    (0..60 * 12).for_each(|_| crowd.update());
    assert_eq!(state(&crowd, 1), AgentState::Arrived);
    assert!(crowd.position(1).distance(Vec2::new(20.0, 20.0)) < 4.0, "{}", crowd.position(1));
}
