//! Tests of the arrival of agents among others: each gets to its own point. It stops near it only
//! if nobody makes way.

use super::agent_tests::Crowd;
use super::agents::AgentSettings;
use super::crowd_scenes::{block, circle, rooms, square};
use engine_foundation::deterministic_math::sin_cos;
use engine_foundation::{Vec2, Vec3};
use std::f32::consts::TAU;

const USUAL: AgentSettings = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };

/// Updates a crowd until all have arrived. Returns the number of agents that have never come within
/// a radius of their points.
fn never_there(crowd: &mut Crowd, seconds: f32) -> usize {
    let agent = |crowd: &Crowd, at: usize| {
        let agent = crowd.agents.slots.get(crowd.handles[at]).unwrap();
        (agent.at.position, agent.destination.unwrap().position, agent.settings.radius)
    };
    let mut has_come = vec![false; crowd.handles.len()];
    let measures = crowd.measure(seconds, |crowd, _| {
        for (at, has_come) in has_come.iter_mut().enumerate() {
            let (position, destination, radius) = agent(crowd, at);
            *has_come |= position.distance(destination) < radius;
        }
    });
    assert_eq!(measures.arrived, crowd.handles.len(), "{measures:?}");
    has_come.iter().filter(|has_come| !**has_come).count()
}

#[test]
fn each_agent_of_a_circle_gets_to_its_own_point() {
    for count in [25, 40] {
        assert_eq!(never_there(&mut circle(1, count, 6.0, USUAL), 20.0), 0, "{count}");
    }
    assert_eq!(never_there(&mut circle(1, 100, 25.0, AgentSettings::DEFAULT), 40.0), 0);
}

#[test]
fn two_hundred_agents_get_to_their_own_points_behind_a_door() {
    let mut crowd = Crowd::new(rooms(1.4), 1);
    for at in block(Vec2::new(-16.0, -10.0), 10, 1.2).take(200) {
        crowd.send(at.extend(0.0), Vec3::new(-at.x, at.y, 0.0), USUAL);
    }
    assert_eq!(never_there(&mut crowd, 130.0), 0);
}

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
    assert_eq!(measures.arrived, 9, "{measures:?}");
    assert!(measures.longest_still > 1.0, "{measures:?}");
    assert!(crowd.position(8).length() > 1.5, "{}", crowd.position(8));
}
