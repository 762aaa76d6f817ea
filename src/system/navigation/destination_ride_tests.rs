//! Tests of destinations whose ground is taken away while agents are on their way over a platform.

use super::agents::AgentState;
use super::bake::AreaShape;
use super::platform_tests::{Building, GALLERY, LOWER, START, UPPER};
use engine_foundation::Vec3;
use engine_foundation::handle::Handle;

/// Distance from the gallery within which an agent is there, in metres.
const THERE: f32 = 0.5;

/// Adds an obstacle across a floor of the building.
fn cover(of: &mut Building, (from, to): (f32, f32), height: f32) -> u32 {
    let points = vec![[from, -1.0], [to, -1.0], [to, 21.0], [from, 21.0]];
    let shape = AreaShape::Prism { points, low: height - 0.4, high: height + 3.0 };
    of.meshes.get_mut(of.ground).unwrap().add_volume(shape, 0).unwrap()
}

fn uncover(of: &mut Building, obstacle: u32) {
    of.meshes.get_mut(of.ground).unwrap().remove_volume(obstacle);
}

/// Returns the point of the building to which an agent was sent.
fn wanted_point(of: &Building, agent: Handle) -> Option<Vec3> {
    let of = of.of(agent);
    of.target.map(|target| target.position).or(of.wanted_point())
}

fn assert_wants_gallery(of: &Building, agent: Handle) {
    let wanted = wanted_point(of, agent).expect("it was sent somewhere");
    assert!(wanted.distance(GALLERY) < 0.1, "{wanted}");
}

#[test]
fn a_destination_that_is_covered_on_the_way_to_a_lift_is_kept() {
    let mut of = Building::new(1, None);
    of.move_lift(UPPER);
    let agent = of.add(START);
    of.send(agent, GALLERY);
    of.play(0.5);
    let obstacle = cover(&mut of, (30.0, 45.0), 4.0);
    of.play(9.0);
    assert_eq!(of.of(agent).state_name(), "boarding");
    assert_wants_gallery(&of, agent);
    uncover(&mut of, obstacle);
    assert!(of.run_lift(&[agent], |_| ()), "{:?}", of.of(agent));
    assert!(of.position(agent).distance(GALLERY) < THERE, "{}", of.position(agent));
}

#[test]
fn a_destination_that_is_covered_during_a_ride_is_kept() {
    let mut of = Building::new(1, None);
    let agent = of.add(START);
    of.send(agent, GALLERY);
    while of.of(agent).state_name() != "riding" {
        of.update();
    }
    let obstacle = cover(&mut of, (28.0, 45.0), 4.0);
    of.move_lift(UPPER);
    of.play(8.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("partial", of.ground));
    assert!(of.position(agent).x < 28.0);
    assert_wants_gallery(&of, agent);
    uncover(&mut of, obstacle);
    of.play(6.0);
    assert_eq!(of.of(agent).state_name(), "arrived");
    assert!(of.position(agent).distance(GALLERY) < THERE, "{}", of.position(agent));
}

#[test]
fn a_covered_destination_is_kept_when_a_lift_is_out_of_order() {
    for is_ended in [false, true] {
        let mut of = Building::new(1, None);
        of.move_lift(UPPER);
        let agent = of.add(START);
        of.send(agent, GALLERY);
        // Without rides, it enters the link.
        let mut updates = 0;
        while of.of(agent).link().is_none() {
            of.advance();
            updates += 1;
            assert!(updates < 300, "{:?}", of.of(agent));
        }
        let obstacle = cover(&mut of, (28.0, 45.0), 4.0);
        while of.of(agent).destination.unwrap().position.x > 28.0 {
            of.advance();
            updates += 1;
            assert!(updates < 600, "{:?}", of.of(agent));
        }
        assert!(of.of(agent).link().is_some());
        let lift = of.lift;
        if is_ended {
            of.agents.end_platform(&mut of.meshes, lift);
        } else {
            of.agents.set_platform_usable(&mut of.meshes, lift, false);
        }
        of.play(3.0);
        assert_eq!(of.of(agent).state, AgentState::Partial);
        assert_wants_gallery(&of, agent);
        uncover(&mut of, obstacle);
        of.play(1.0);
        assert_wants_gallery(&of, agent);
        if !is_ended {
            of.agents.set_platform_usable(&mut of.meshes, lift, true);
            assert!(of.run_lift(&[agent], |_| ()), "{:?}", of.of(agent));
            assert!(of.position(agent).distance(GALLERY) < THERE, "{}", of.position(agent));
        }
    }
}

#[test]
fn an_agent_whose_stop_was_covered_rides_when_it_is_free() {
    let mut of = Building::new(1, None);
    of.move_lift(UPPER);
    let agent = of.add(START);
    let lift = of.lift;
    let deck = of.meshes.get(lift).unwrap().snap(Vec3::ZERO).unwrap();
    of.agents.set_target(agent, lift, deck);
    of.play(0.5);
    let obstacle = cover(&mut of, (12.0, 21.0), 0.0);
    of.play(5.0);
    assert!(of.position(agent).x < 12.0);
    uncover(&mut of, obstacle);
    of.move_lift(LOWER);
    of.play(8.0);
    assert_eq!((of.of(agent).state_name(), of.of(agent).mesh), ("arrived", lift));
}
