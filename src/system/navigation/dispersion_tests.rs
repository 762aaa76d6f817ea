//! Tests of the dispersion of crowds: over doors and over clusters, with the same result on any
//! number of threads, and without a cost where nobody waits.

use super::agent_tests::Crowd;
use super::agents::AgentSettings;
use super::bake::BakeSettings;
use super::crowd_scenes::{STARTS, bake, block, each_start};
use super::mesh::NavigationMesh;
use super::test_worlds::world;
use engine_foundation::random::Random;
use engine_foundation::{Vec2, Vec3};

const USUAL: AgentSettings = AgentSettings { radius: 0.4, ..AgentSettings::DEFAULT };
/// Longest time in which all come through one door.
const UPDATES: u32 = 60 * 120;
const COUNT: usize = 80;
/// Number of agents of the scene with many starts.
const FAR_COUNT: usize = 48;
/// Distance between the doors.
const APART: f32 = 8.0;

/// Two rooms, and a wall between them with two doors: one in the middle, and one to the north.
fn two_doors() -> NavigationMesh {
    let boxes = [
        ([-20.0, -20.0, -1.0], [20.0, 20.0, 0.0]),
        ([-0.25, -20.0, 0.0], [0.25, -0.7, 3.0]),
        ([-0.25, 0.7, 0.0], [0.25, APART - 0.7, 3.0]),
        ([-0.25, APART + 0.7, 0.0], [0.25, 20.0, 3.0]),
    ];
    let settings = BakeSettings { radius: 0.4, cell_size: 0.2, ..BakeSettings::DEFAULT };
    bake(&boxes, settings)
}

/// Agents that go through the wall, from some metres before it to as many behind it.
fn crowd(threads: usize, metres: f32) -> Crowd {
    let mut crowd = Crowd::new(two_doors(), threads);
    for at in block(Vec2::new(-14.0, -10.0), 8, 1.2).take(COUNT) {
        crowd.send(at.extend(0.0), Vec3::new(-at.x, at.y, 0.0), USUAL);
    }
    crowd.agents.set_dispersion(crowd.id, metres);
    crowd
}

/// Returns the number of updates until all are through a door, and until all have arrived, and how
/// many came through the other door.
fn walk(crowd: &mut Crowd) -> (u32, u32, usize) {
    let (mut has_used, mut through) = ([false; COUNT], 0);
    for update in 0..UPDATES {
        crowd.update();
        for (at, has_used) in has_used.iter_mut().enumerate() {
            let position = crowd.position(at);
            *has_used |= position.x.abs() < 0.25 && position.y > APART * 0.5;
        }
        if (0..COUNT).any(|at| crowd.position(at).x < 0.25) {
            through = update;
        }
        if crowd.arrived() == COUNT {
            return (through, update, has_used.iter().filter(|has_used| **has_used).count());
        }
    }
    panic!("{} have arrived", crowd.arrived());
}

#[test]
fn a_crowd_spreads_over_two_doors_and_arrives_sooner() {
    let alone = walk(&mut crowd(1, 0.0));
    assert_eq!(alone.2, 0);
    let together = walk(&mut crowd(1, 2.0));
    assert!((COUNT / 5..COUNT * 4 / 5).contains(&together.2), "{together:?}");
    assert!(together.0 * 4 < alone.0 * 3, "{together:?} {alone:?}");
    assert!(together.1 * 10 < alone.1 * 9, "{together:?} {alone:?}");
}

#[test]
fn far_searches_avoid_a_crowd_too() {
    // A wall of quads of 1.8 metres, with two gaps.
    let halls = || world(6, 5, |x, y, _| x == 24 && y != 22 && y != 26);
    let mesh = halls();
    let ends = [8.0, 80.0].map(|x| mesh.nearest(Vec3::new(x, 38.0, 0.0), 2.0, 2.0).unwrap());
    assert!(!mesh.is_near(ends[0], ends[1]), "the search is one over portals");
    // Returns the mean time until an agent is through the wall, over all starts, and how many go
    // through the north. When the last one has arrived depends on centimetres of the starts: it has
    // to get past those who rest.
    let run = |metres: f32, seed: u64| {
        let mut random = Random::seed(seed);
        let mut offset = || random.next_f64() as f32 * 0.4 - 0.2;
        let mut crowd = Crowd::new(halls(), 1);
        crowd.agents.set_dispersion(crowd.id, metres);
        for at in block(Vec2::new(2.0, 28.0), 6, 1.4).take(FAR_COUNT) {
            let from = Vec3::new(at.x + offset(), at.y + offset(), 0.0);
            let to = Vec3::new(86.4 - at.x, at.y, 0.0);
            crowd.send(from, to, AgentSettings::DEFAULT);
        }
        let (mut through, mut by_north): ([Option<u32>; FAR_COUNT], _) = ([None; FAR_COUNT], 0);
        for update in 0..UPDATES {
            crowd.update();
            for (at, through) in through.iter_mut().enumerate() {
                let position = crowd.position(at);
                if through.is_none() && position.x > 45.0 {
                    *through = Some(update);
                    by_north += usize::from(position.y > 45.0);
                }
            }
            if through.iter().all(Option::is_some) {
                break;
            }
        }
        (through.iter().map(|update| update.expect("all get through")).sum::<u32>(), by_north)
    };
    let walk = |metres: f32| {
        let runs = each_start(STARTS, |seed| run(metres, seed));
        let sums = runs.iter().fold((0, 0), |all, run| (all.0 + run.0, all.1 + run.1));
        (sums.0 / (STARTS as usize * FAR_COUNT) as u32, sums.1 / STARTS as usize)
    };
    let (alone, by_other) = walk(0.0);
    assert_eq!(by_other, 0);
    let (together, by_other) = walk(2.0);
    // Measured: 987 and 1,307 updates, and 21 of 48 through the north.
    assert!((FAR_COUNT / 8..FAR_COUNT * 4 / 5).contains(&by_other), "{by_other}");
    assert!(together * 10 < alone * 9, "{together} {alone}");
}

#[test]
fn nobody_makes_a_detour_where_nobody_waits() {
    let mut crowd = Crowd::new(two_doors(), 1);
    crowd.agents.set_dispersion(crowd.id, 2.0);
    for at in 0..10 {
        // One after another, with more room between them than a door needs.
        let at = Vec3::new(-1.0 - 2.1 * at as f32, -0.2, 0.0);
        crowd.send(at, Vec3::new(19.0 + at.x * 0.9, -0.2, 0.0), USUAL);
    }
    for _ in 0..60 * 12 {
        crowd.update();
        assert!(crowd.agents.crowd(crowd.id, &crowd.mesh).is_none());
    }
    assert_eq!(crowd.arrived(), 10);
}

fn hash(crowd: &Crowd) -> Vec<u64> {
    let mut numbers = crowd.hash();
    crowd.agents.write_passages(crowd.id, |number| numbers.push(number));
    crowd.agents.write_shared(crowd.id, |number| numbers.push(number));
    numbers
}

#[test]
fn crowds_spread_equally_on_any_number_of_threads() {
    let mut crowds = [1, 2, 4, 8].map(|threads| crowd(threads, 2.0));
    for update in 0..60 * 12 {
        crowds.iter_mut().for_each(Crowd::update);
        let all = crowds.each_ref().map(hash);
        assert!(all.iter().all(|numbers| *numbers == all[0]), "update {update}");
    }
    let Crowd { agents, id, mesh, .. } = &crowds[0];
    let crowd = agents.crowd(*id, mesh).expect("they wait at the doors");
    assert!(!crowd.polygons().is_empty());
}

#[test]
fn the_hash_has_the_setting_and_the_crowd() {
    let (mut off, mut on) = (crowd(1, 0.0), crowd(1, 2.0));
    assert_ne!(hash(&off), hash(&on));
    on.agents.set_dispersion(on.id, 0.0);
    assert_eq!(hash(&off), hash(&on));
    assert_eq!(on.agents.dispersion(on.id), 0.0);
    off.agents.set_dispersion(off.id, 1.0);
    assert_eq!(off.agents.dispersion(off.id), 1.0);
    // Those of a mesh that is no more are forgotten.
    off.agents.forget_passages(off.id);
    assert_eq!(off.agents.dispersion(off.id), 0.0);
}

#[test]
fn a_crowd_is_forgotten_when_the_mesh_changes() {
    let mut crowd = crowd(1, 2.0);
    for _ in 0..60 * 8 {
        crowd.update();
    }
    assert!(crowd.agents.crowd(crowd.id, &crowd.mesh).is_some());
    crowd.mesh.set_obstructed(0, true);
    assert!(crowd.agents.crowd(crowd.id, &crowd.mesh).is_none());
}
