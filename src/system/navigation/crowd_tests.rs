//! Tests of crowds. Nobody is stuck: each agent, or the line in which it waits, makes progress.

use super::agent_tests::Crowd;
use super::agents::{AgentSettings, AgentState};
use super::crowd_scenes::{Measures, STARTS, block, circle, each_start, rooms, square, storeys};
use engine_foundation::handle::Handle;
use engine_foundation::random::Random;
use engine_foundation::{Vec2, Vec3};

/// Longest time without progress of those whose way is free, in seconds.
const FREE_SECONDS: f32 = 1.0;

/// Starts of a scene with many agents that takes two minutes.
const FEW_STARTS: u64 = 4;

const USUAL: AgentSettings = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };

/// Largest measures of a scene. All agents have to arrive, and to come within a radius of their
/// destinations if each has its own.
struct Bounds {
    seconds: f32,
    /// Seconds in which nobody of a line makes progress, and in which an agent itself makes none.
    stuck: f32,
    still: f32,
    overlap_seconds: f32,
    deepest: f32,
    jitter: f32,
}

fn check(name: &str, crowd: &mut Crowd, bounds: &Bounds) {
    let measures = crowd.measure(bounds.seconds, |_, _| ());
    let Measures { longest_stuck, longest_still, overlap_seconds, deepest, jitter, .. } = measures;
    let count = crowd.handles.len();
    assert_eq!((measures.arrived, measures.reached), (count, count), "{name}: {measures:?}");
    assert!(longest_stuck <= bounds.stuck, "{name}: {measures:?}");
    assert!(longest_still <= bounds.still, "{name}: {measures:?}");
    assert!(measures.longest_free <= FREE_SECONDS, "{name}: {measures:?}");
    assert!(overlap_seconds <= bounds.overlap_seconds, "{name}: {measures:?}");
    assert!(deepest <= bounds.deepest && jitter <= bounds.jitter, "{name}: {measures:?}");
}

/// Two rooms, and agents that go from one into the other and back.
fn doorway(threads: usize, door: f32, from_west: usize, from_east: usize) -> Crowd {
    let mut crowd = Crowd::new(rooms(door), threads);
    let blocks = || block(Vec2::new(-16.0, -10.0), 10, 1.2);
    for at in blocks().take(from_west) {
        crowd.send(at.extend(0.0), Vec3::new(-at.x, at.y, 0.0), USUAL);
    }
    for at in blocks().take(from_east) {
        crowd.send(Vec3::new(-at.x, at.y, 0.0), at.extend(0.0), USUAL);
    }
    crowd
}

#[test]
fn agents_on_a_small_circle_change_sides() {
    for count in [15, 20, 25, 30, 35, 40] {
        let bounds = Bounds {
            seconds: 20.0,
            stuck: 1.0,
            still: 5.0,
            overlap_seconds: 1.0,
            deepest: 0.2,
            jitter: 1.6,
        };
        check(&format!("circle of {count}"), &mut circle(1, count, 6.0, USUAL), &bounds);
    }
}

#[test]
fn a_hundred_agents_on_a_circle_change_sides() {
    let bounds = Bounds {
        seconds: 40.0,
        stuck: 1.0,
        still: 12.0,
        overlap_seconds: 1.0,
        deepest: 0.2,
        jitter: 0.6,
    };
    check("circle of 100", &mut circle(1, 100, 25.0, AgentSettings::DEFAULT), &bounds);
}

/// The overlap is a bound of the mean of several starts, as single runs range from 0.3 to 2.9
/// seconds, with a mean of 1.5 to 1.6. With the rules for walls and the right of way before the
/// present ones, they ranged from 0.6 to 3.2 seconds, with a mean of 1.7 to 1.9.
#[test]
fn two_hundred_agents_walk_through_a_door_in_one_direction() {
    let bounds = Bounds {
        seconds: 130.0,
        stuck: 1.0,
        still: 30.0,
        overlap_seconds: 2.0,
        deepest: 0.3,
        jitter: 0.8,
    };
    let start = |random: &mut Random| {
        let mut crowd = Crowd::new(rooms(1.4), 1);
        for at in block(Vec2::new(-16.0, -10.0), 10, 1.2).take(200) {
            crowd.send(near_point(at, random), Vec3::new(-at.x, at.y, 0.0), USUAL);
        }
        crowd
    };
    check_means("door, one way", FEW_STARTS, start, &bounds);
}

#[test]
fn two_hundred_agents_walk_through_a_door_in_both_directions() {
    let bounds = Bounds {
        seconds: 170.0,
        stuck: 1.0,
        still: 40.0,
        overlap_seconds: 175.0,
        deepest: 0.9,
        jitter: 2.0,
    };
    check("door, both ways", &mut doorway(1, 1.4, 100, 100), &bounds);
}

/// Compares the means of a scene's measures over many starts with bounds, about a fifth above what
/// was measured. Single runs differ by more than that: their overlaps and turns depend on
/// centimetres of the starts. In none of them anybody is stuck.
fn check_means(
    name: &str,
    starts: u64,
    start: impl Fn(&mut Random) -> Crowd + Sync,
    bounds: &Bounds,
) {
    let run = |seed| start(&mut Random::seed(seed)).measure(bounds.seconds, |_, _| ());
    let runs = each_start(starts, run);
    for run in &runs {
        assert_eq!(run.arrived, run.agents, "{name}: {run:?}");
        assert!(run.longest_stuck <= bounds.stuck, "{name}: {run:?}");
        assert!(run.longest_still <= bounds.still, "{name}: {run:?}");
        assert!(run.longest_free <= FREE_SECONDS, "{name}: {run:?}");
    }
    let mean = |of: fn(&Measures) -> f32| runs.iter().map(of).sum::<f32>() / starts as f32;
    let overlap = mean(|run| run.overlap_seconds);
    let (deepest, jitter) = (mean(|run| run.deepest), mean(|run| run.jitter));
    let measures = format!("{name}: {overlap} s, {deepest} radii, {jitter}");
    assert!(overlap <= bounds.overlap_seconds, "{measures}");
    assert!(deepest <= bounds.deepest && jitter <= bounds.jitter, "{measures}");
}

/// Returns a point up to 10 centimetres beside another one.
fn near_point(at: Vec2, random: &mut Random) -> Vec3 {
    let mut by = || random.next_f64() as f32 * 0.2 - 0.1;
    Vec3::new(at.x + by(), at.y + by(), 0.0)
}

#[test]
fn streams_cross() {
    let start = |random: &mut Random| {
        let mut crowd = Crowd::new(square(30.0), 1);
        for at in block(Vec2::new(-25.0, -6.0), 8, 1.5).take(64) {
            let (from, to) = (near_point(at, random), Vec3::new(at.x + 40.0, at.y, 0.0));
            crowd.send(from, to, USUAL);
            let from = near_point(Vec2::new(at.y, at.x), random);
            crowd.send(from, Vec3::new(at.y, at.x + 40.0, 0.0), USUAL);
        }
        crowd
    };
    let bounds = Bounds {
        seconds: 40.0,
        stuck: 1.0,
        still: 12.0,
        overlap_seconds: 6.0,
        deepest: 0.45,
        jitter: 0.6,
    };
    check_means("crossing streams", STARTS, start, &bounds);
}

#[test]
fn a_crowd_stops_around_one_point() {
    let start = |random: &mut Random| {
        let mut crowd = Crowd::new(square(15.0), 1);
        for at in block(Vec2::new(-13.0, -13.0), 10, 2.0).take(100) {
            crowd.send(near_point(at, random), Vec3::ZERO, USUAL);
        }
        crowd
    };
    let bounds = Bounds {
        seconds: 20.0,
        stuck: 1.0,
        still: 2.0,
        overlap_seconds: 38.0,
        deepest: 0.33,
        jitter: 1.15,
    };
    check_means("one point", STARTS, start, &bounds);
    let mut crowd = start(&mut Random::seed(1));
    crowd.measure(bounds.seconds, |_, _| ());
    for at in 0..100 {
        assert!(crowd.position(at).length() < 8.0, "{}", crowd.position(at));
    }
}

#[test]
fn agents_meet_on_stairs() {
    let start = |random: &mut Random| {
        let mut crowd = Crowd::new(storeys(3.0), 1);
        for at in block(Vec2::new(-16.0, -4.0), 6, 1.5).take(36) {
            for (side, height) in [(1.0, 0.0), (-1.0, 3.0)] {
                let from = near_point(Vec2::new(at.x * side, at.y), random) + Vec3::Z * height;
                crowd.send(from, Vec3::new(-at.x * side, at.y, 3.0 - height), USUAL);
            }
        }
        crowd
    };
    // Where two streams press against each other between walls, agents overlap. How deep, and for
    // how long, depends on centimetres of their starts, so that a single run says little.
    let bounds = Bounds {
        seconds: 60.0,
        stuck: 1.0,
        still: 16.0,
        overlap_seconds: 75.0,
        deepest: 1.6,
        jitter: 1.75,
    };
    check_means("stairs", STARTS, start, &bounds);
}

#[test]
fn agents_with_a_new_destination_each_second_are_not_stuck() {
    let mut crowd = Crowd::new(square(15.0), 1);
    for at in block(Vec2::new(-13.0, -13.0), 10, 2.0).take(100) {
        crowd.send(at.extend(0.0), Vec3::ZERO, USUAL);
    }
    let mut random = Random::seed(4);
    let measures = crowd.measure(20.0, |crowd, update| {
        if update % 60 == 0 {
            crowd.scatter(&mut random);
        }
    });
    // Some of the new destinations are so near to the old ones that the time goes on.
    assert!(measures.longest_stuck <= 1.0 && measures.longest_still <= 2.0, "{measures:?}");
    assert!(measures.longest_free <= FREE_SECONDS, "{measures:?}");
    assert!(measures.overlap_seconds < 20.0 && measures.jitter < 3.0, "{measures:?}");
}

#[test]
fn turns_at_a_door_are_the_same_on_any_number_of_threads() {
    let run = |threads: usize| {
        let mut crowd = doorway(threads, 1.4, 60, 60);
        let mut hashes = Vec::new();
        for update in 0..600 {
            crowd.update();
            if update % 60 == 0 {
                hashes.extend(crowd.hash());
                crowd.agents.write_passages(crowd.id, |number| hashes.push(number));
            }
        }
        hashes
    };
    let one = run(1);
    for threads in [2, 4, 8] {
        assert!(run(threads) == one, "{threads}");
    }
}

/// Returns the crowd of streams that cross, whose starts differ from run to run.
fn streams(run: u64) -> Crowd {
    let mut random = Random::seed(run);
    let mut crowd = Crowd::new(square(30.0), 1);
    let mut near = |at: Vec2| {
        let mut shift = || (random.next_f64() as f32 - 0.5) * 0.2;
        (at + Vec2::new(shift(), shift())).extend(0.0)
    };
    for at in block(Vec2::new(-25.0, -6.0), 8, 1.5).take(64) {
        crowd.send(near(at), Vec3::new(at.x + 40.0, at.y, 0.0), USUAL);
        crowd.send(near(Vec2::new(at.y, at.x)), Vec3::new(at.y, at.x + 40.0, 0.0), USUAL);
    }
    crowd
}

#[test]
fn nobody_rests_off_a_destination_of_its_own() {
    for run in 0..4 {
        let mut crowd = streams(run);
        (0..40 * 60).for_each(|_| crowd.update());
        let left = |agent: &Handle| {
            let agent = crowd.agents.slots.get(*agent).unwrap();
            let end = agent.destination.unwrap().position;
            (agent.state, end.distance(agent.at.position) / agent.settings.radius)
        };
        for agent in &crowd.handles {
            let (state, radii) = left(agent);
            assert!(state == AgentState::Arrived && radii <= 1.5, "{run}: {state:?}, {radii}");
        }
    }
}
