//! Tests of the arrival of agents among others, and of those that are pushed off their paths. That
//! each gets to its own point is part of the measures of crowd_tests.rs; here are those that
//! cannot, and those that others push away.

use super::agent_tests::Crowd;
use super::agents::{AgentSettings, AgentState};
use super::crowd_scenes::{block, square};
use super::test_worlds::world;
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Vec2, Vec3};
use std::f32::consts::TAU;

const USUAL: AgentSettings = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };

#[test]
fn an_agent_stops_in_front_of_a_ring_that_does_not_open() {
    let mut crowd = Crowd::new(square(15.0), 1);
    let firm = AgentSettings { avoids: false, ..USUAL };
    for at in 0..8 {
        let (sin, cos) = sin_cos(at as f32 / 8.0 * TAU);
        let at = Vec3::new(cos, sin, 0.0) * 1.1;
        crowd.send(at, at, firm);
    }
    crowd.send(Vec3::new(-8.0, 0.5, 0.0), Vec3::ZERO, USUAL);
    let measures = crowd.measure(15.0, |_, _| ());
    assert_eq!((measures.arrived, measures.reached), (9, 8), "{measures:?}");
    assert!(measures.longest_still > 3.9, "{measures:?}");
    assert!(crowd.position(8).length() > 1.5, "{}", crowd.position(8));
}

#[test]
fn agents_that_rest_near_the_end_of_another_make_way() {
    let mut crowd = Crowd::new(square(15.0), 1);
    for at in 0..8 {
        let (sin, cos) = sin_cos(at as f32 / 8.0 * TAU);
        let at = Vec3::new(cos, sin, 0.0) * 1.2;
        crowd.send(at, at, USUAL);
    }
    (0..60).for_each(|_| crowd.update());
    assert_eq!(crowd.arrived(), 8);
    crowd.send(Vec3::new(-8.0, 0.5, 0.0), Vec3::ZERO, USUAL);
    let mut nearest = f32::MAX;
    for _ in 0..60 * 12 {
        crowd.update();
        let agent = crowd.agents.slots.get(crowd.handles[8]).unwrap();
        nearest = nearest.min(agent.at.position.distance(agent.destination.unwrap().position));
        assert!(agent.stuck_seconds <= 1.0, "{}", agent.stuck_seconds);
    }
    assert!(nearest < 0.4, "{nearest}");
    assert_eq!(crowd.arrived(), 9);
}

#[test]
fn an_agent_that_is_pushed_off_its_path_does_not_go_back_to_it() {
    let mut asked = 0;
    for step in 0..40 {
        let mut crowd = Crowd::new(world(4, 5, |_, _, _| false), 1);
        crowd.send(Vec3::new(6.0, 20.0, 0.4), Vec3::new(50.0, 24.0, 0.4), USUAL);
        (0..60).for_each(|_| crowd.update());
        let aside = crowd.position(0) + Vec2::new(0.5, step as f32 * 0.2 - 4.0);
        let before = crowd.agents.slots.get(crowd.handles[0]).unwrap().at;
        let by = aside - before.position.truncate();
        let agent = crowd.agents.slots.get_mut(crowd.handles[0]).unwrap();
        agent.carry(&crowd.mesh, by);
        agent.stuck_seconds = 0.25;
        crowd.update();
        asked += crowd.agents.statistics.searches;
        crowd.update();
        let agent = crowd.agents.slots.get(crowd.handles[0]).unwrap();
        let straight = agent.at.position.distance(agent.destination.unwrap().position);
        let left = agent.remaining_distance(&crowd.mesh);
        assert!(left < straight * 1.01, "{step}: {left} metres, and {straight} straight");
    }
    assert!(asked > 5, "{asked} searches");
}

#[test]
fn agents_that_are_pushed_away_walk_back_until_held_up() {
    let mut crowd = Crowd::new(square(15.0), 1);
    crowd.send(Vec3::new(-2.0, 0.0, 0.0), Vec3::ZERO, USUAL);
    (0..120).for_each(|_| crowd.update());
    assert_eq!(crowd.arrived(), 1);
    let away = crowd.mesh.nearest(Vec3::new(3.0, 0.0, 0.0), 1.0, 1.0).unwrap();
    crowd.agents.slots.get_mut(crowd.handles[0]).unwrap().at = away;
    (0..240).for_each(|_| crowd.update());
    assert!(crowd.position(0).length() < 0.4, "{}", crowd.position(0));
    // Around its end are others by now that do not make way.
    let agent = crowd.agents.slots.get_mut(crowd.handles[0]).unwrap();
    (agent.at, agent.state) = (away, AgentState::Arrived);
    for at in 0..8 {
        let (sin, cos) = sin_cos(at as f32 / 8.0 * TAU);
        let at = Vec3::new(cos, sin, 0.0) * 1.1;
        crowd.send(at, at, AgentSettings { avoids: false, ..USUAL });
    }
    let measures = crowd.measure(6.0, |_, _| ());
    assert_eq!(measures.arrived, 9, "{measures:?}");
    assert!(measures.longest_still < 1.0, "{measures:?}");
}

#[test]
fn an_agent_whose_last_try_fails_has_arrived() {
    let mut crowd = Crowd::new(world(4, 5, |_, _, _| false), 1);
    crowd.mesh.update_hierarchy(&crowd.pool).unwrap();
    let (end, rest) = (Vec3::new(30.0, 30.0, 0.4), Vec3::new(27.0, 30.0, 0.4));
    crowd.send(rest, rest, USUAL);
    (0..60).for_each(|_| crowd.update());
    // It has arrived off its destination, which others were on, and which is closed by now.
    let near = crowd.mesh.nearest(end, 1.0, 1.0).unwrap();
    let agent = crowd.agents.slots.get_mut(crowd.handles[0]).unwrap();
    agent.destination = Some(near);
    agent.rest.begin(true);
    crowd.mesh.set_obstructed(near.polygon, true);
    crowd.mesh.update_hierarchy(&crowd.pool).unwrap();
    for _ in 0..60 * 30 {
        crowd.update();
        let agent = crowd.agents.slots.get(crowd.handles[0]).unwrap();
        assert_eq!(agent.state_name(), AgentState::Arrived.name());
        assert!(agent.at.position.distance(rest) < 1.0, "{}", agent.at.position);
    }
}

#[test]
fn claims_are_bounded_and_end_with_a_new_destination() {
    let mut crowd = Crowd::new(square(15.0), 1);
    let firm = AgentSettings { avoids: false, ..USUAL };
    for at in 0..8 {
        let (sin, cos) = sin_cos(at as f32 / 8.0 * TAU);
        let at = Vec3::new(cos, sin, 0.0) * 1.1;
        crowd.send(at, at, firm);
    }
    crowd.send(Vec3::ZERO, Vec3::new(9.0, 0.0, 0.0), USUAL);
    let claim = |crowd: &Crowd| crowd.agents.slots.get(crowd.handles[8]).unwrap().claim;
    // Before it is blocked.
    (0..60 * 4).for_each(|_| crowd.update());
    let stuck = crowd.agents.slots.get(crowd.handles[8]).unwrap().stuck_seconds;
    assert!(stuck > 3.0 && claim(&crowd) <= 2.0 && claim(&crowd) > 1.5, "{stuck}");
    let other = crowd.mesh.nearest(Vec3::new(-9.0, 0.0, 0.0), 1.0, 1.0).unwrap();
    crowd.agents.set_destination(crowd.handles[8], other);
    assert_eq!(claim(&crowd), 0.0);
}

#[test]
fn one_with_priority_or_without_avoidance_walks_straight() {
    for (avoids, priority) in [(false, 0), (true, 10)] {
        let mut crowd = Crowd::new(square(25.0), 1);
        for at in block(Vec2::new(4.0, -1.5), 4, 1.2).take(12) {
            crowd.send(at.extend(0.0), Vec3::new(at.x - 24.0, at.y, 0.0), USUAL);
        }
        let settings = AgentSettings { avoids, priority, ..USUAL };
        crowd.send(Vec3::new(-20.0, 0.0, 0.0), Vec3::new(10.0, 0.0, 0.0), settings);
        let mut aside: f32 = 0.0;
        for _ in 0..60 * 12 {
            crowd.update();
            aside = aside.max(crowd.position(12).y.abs());
        }
        assert!(aside < 0.3, "{avoids} {priority}: {aside}");
        assert_eq!(crowd.arrived(), 13);
    }
}
