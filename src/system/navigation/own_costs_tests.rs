//! Tests of agents with costs of their own.

use crate::agent_tests::Crowd;
use crate::agents::{AgentSettings, AgentState};
use crate::bake::NULL_AREA;
use crate::jumps::JumpSettings;
use crate::mesh::NavigationMesh;
use crate::own_costs::{ABANDONED_SETS_MAX, COST_SETS_MAX, LINK_COSTS_MAX, OwnCosts};
use crate::search::PartialReason;
use crate::test_worlds::world;
use engine_foundation::Vec3;

const WATER: u8 = 2;
const STEP: f32 = 1.0 / 60.0;

/// Returns a mesh with a strip of water across it, except at its upper end. It is 72 metres wide.
fn pond() -> NavigationMesh {
    let mut mesh = world(5, 14, |_, _, _| false);
    for polygon in 0..mesh.num_polygons() {
        let middle = (mesh.polygons[polygon].low + mesh.polygons[polygon].high) * 0.5;
        if (middle.x - 36.0).abs() < 4.0 && middle.y < 60.0 {
            mesh.polygons[polygon].area = WATER;
        }
    }
    mesh.outdate_hierarchies();
    mesh
}

/// Sends agents across the water, with what it costs each of them. Returns the most that each was
/// away from the straight way, and the crowd.
fn cross(costs: &[Option<f32>], base: f32, threads: usize) -> (Vec<f32>, Crowd) {
    let mut crowd = Crowd::new(pond(), threads);
    crowd.mesh.set_area_cost(WATER, base);
    let mut most = vec![0.0; costs.len()];
    let start = |at: usize| 38.0 + at as f32 * 2.0;
    for (at, cost) in costs.iter().enumerate() {
        let (from, to) = (Vec3::new(4.0, start(at), 0.4), Vec3::new(68.0, start(at), 0.4));
        crowd.send(from, to, AgentSettings { speed: 8.0, ..AgentSettings::DEFAULT });
        crowd.agents.set_area_cost(crowd.handles[at], WATER, *cost).unwrap();
    }
    for _ in 0..1200 {
        crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
        for (at, most) in most.iter_mut().enumerate() {
            *most = f32::max(*most, (crowd.position(at).y - start(at)).abs());
        }
    }
    (most, crowd)
}

#[test]
fn each_agent_has_its_own_costs() {
    let costs = [None, Some(20.0), Some(0.0), Some(1.0), Some(20.0)];
    let (most, crowd) = cross(&costs, 1.0, 1);
    assert_eq!(crowd.arrived(), costs.len());
    assert!(most[0] < 5.0 && most[3] < 5.0, "through the water: {most:?}");
    assert!(most[1] > 15.0 && most[2] > 15.0 && most[4] > 10.0, "around it: {most:?}");
    // What is closed for others can be open for one.
    let (most, crowd) = cross(&[None, Some(1.0)], 0.0, 1);
    assert_eq!(crowd.arrived(), 2);
    assert!(most[0] > 15.0 && most[1] < 5.0, "{most:?}");
}

#[test]
fn own_costs_are_equal_on_any_number_of_threads() {
    let costs = [Some(3.0), None, Some(0.0), Some(30.0), None, Some(3.0)];
    let hashes = [1, 2, 4, 8].map(|threads| cross(&costs, 2.0, threads).1.hash());
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn equal_costs_are_one_set_and_there_is_a_limit() {
    let mut crowd = Crowd::new(pond(), 1);
    for _ in 0..COST_SETS_MAX + 2 {
        crowd.send(Vec3::new(4.0, 4.0, 0.4), Vec3::new(8.0, 4.0, 0.4), AgentSettings::DEFAULT);
    }
    let set = |crowd: &mut Crowd, at: usize, cost: f32| {
        let agent = crowd.handles[at];
        crowd.agents.set_area_cost(agent, WATER, Some(cost))
    };
    for at in 0..COST_SETS_MAX + 2 {
        set(&mut crowd, at, 7.0).unwrap();
    }
    for at in 0..COST_SETS_MAX - 1 {
        set(&mut crowd, at, 10.0 + at as f32).unwrap();
    }
    let last = COST_SETS_MAX;
    let error = set(&mut crowd, last, 99.0).unwrap_err().message;
    assert!(error.contains("COST_SETS_MAX"), "{error}");
    let cost = |crowd: &Crowd, at: usize| {
        let agent = crowd.agents.slots.get(crowd.handles[at]).unwrap();
        agent.area_cost(&crowd.mesh, WATER)
    };
    assert_eq!(cost(&crowd, last), 7.0, "the old cost stays");
    // An agent that is the only one with its costs can always change them.
    set(&mut crowd, 0, 99.0).unwrap();
    // The costs of an agent that ended make room.
    crowd.agents.slots.remove(crowd.handles[1], "", 0, "a test");
    set(&mut crowd, last, 98.0).unwrap();
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert!(crowd.mesh.views.len() <= COST_SETS_MAX);
    // Without own costs, an agent has those of the mesh, and the mesh keeps no view of it.
    for at in (0..COST_SETS_MAX + 2).filter(|at| *at != 1) {
        let agent = crowd.handles[at];
        crowd.agents.set_area_cost(agent, WATER, None).unwrap();
        assert_eq!(cost(&crowd, at), 1.0);
    }
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert!(crowd.mesh.views.is_empty());
}

#[test]
fn links_that_agents_give_up_take_no_set_of_costs_from_games() {
    let mut crowd = Crowd::new(pond(), 1);
    for _ in 0..ABANDONED_SETS_MAX + COST_SETS_MAX + 3 {
        crowd.send(Vec3::new(4.0, 4.0, 0.4), Vec3::new(8.0, 4.0, 0.4), AgentSettings::DEFAULT);
    }
    let close = |crowd: &mut Crowd, at: usize, link: u32| {
        crowd.agents.change_costs(crowd.handles[at], |costs| costs.set_closed(link, true))
    };
    for at in 0..ABANDONED_SETS_MAX {
        close(&mut crowd, at, at as u32 + 1).unwrap();
    }
    let last = ABANDONED_SETS_MAX;
    assert!(close(&mut crowd, last, 99).is_err(), "there is a limit");
    close(&mut crowd, last, 1).unwrap();
    // The game has all of its sets nevertheless.
    let set = |crowd: &mut Crowd, at: usize, cost: f32| {
        crowd.agents.set_area_cost(crowd.handles[at], WATER, Some(cost))
    };
    for at in 0..COST_SETS_MAX {
        set(&mut crowd, last + 1 + at, 10.0 + at as f32).unwrap();
    }
    let error = set(&mut crowd, last + 1 + COST_SETS_MAX, 99.0).unwrap_err().message;
    assert!(error.contains("COST_SETS_MAX"), "{error}");
    // One that is the only one with its set keeps its closed links. For the other one, they are
    // open again, so that the game can set its cost.
    let own = |crowd: &Crowd, at: usize| {
        let agent = crowd.agents.slots.get(crowd.handles[at]).unwrap();
        agent.own_costs.as_deref().cloned().unwrap()
    };
    for (at, is_closed) in [(1, true), (last, false)] {
        set(&mut crowd, at, 10.0).unwrap();
        let mut costs = OwnCosts::default();
        costs.set(WATER, Some(10.0));
        if is_closed {
            costs.set_closed(2, true);
        }
        assert_eq!(own(&crowd, at), costs);
    }
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert!(crowd.mesh.views.len() <= ABANDONED_SETS_MAX + COST_SETS_MAX);
}

#[test]
fn areas_with_other_numbers_keep_the_costs_of_agents() {
    let mut crowd = Crowd::new(pond(), 1);
    crowd.send(Vec3::new(4.0, 4.0, 0.4), Vec3::new(8.0, 4.0, 0.4), AgentSettings::DEFAULT);
    let agent = crowd.handles[0];
    for (area, cost) in [(2, 20.0), (3, 30.0), (4, 40.0)] {
        crowd.agents.set_area_cost(agent, area, Some(cost)).unwrap();
    }
    crowd.agents.renumber_areas(crowd.id, |area| match area {
        2 => Some(3),
        3 => None,
        area => Some(area - 2),
    });
    let agent = crowd.agents.slots.get(agent).unwrap();
    let costs = [2, 3, 4].map(|area| agent.area_cost(&crowd.mesh, area));
    assert_eq!(costs, [40.0, 20.0, 1.0]);
    assert_eq!(agent.state, AgentState::Waiting);
    assert_eq!(crowd.mesh.area_cost(NULL_AREA), 0.0);
}

#[test]
fn sets_that_look_equal_on_a_mesh_share_a_view() {
    let mut crowd = Crowd::new(pond(), 1);
    for _ in 0..6 {
        crowd.send(Vec3::new(4.0, 4.0, 0.4), Vec3::new(8.0, 4.0, 0.4), AgentSettings::DEFAULT);
    }
    // The mesh has no area 9, and water costs 1 on it.
    for (at, area, cost) in [(0, 9, 5.0), (1, WATER, 1.0), (2, WATER, 4.0), (3, WATER, 4.0)] {
        crowd.agents.set_area_cost(crowd.handles[at], area, Some(cost)).unwrap();
    }
    crowd.agents.set_area_cost(crowd.handles[3], 9, Some(7.0)).unwrap();
    let advance = |crowd: &mut Crowd| {
        crowd.mesh.update_hierarchy(&crowd.pool).unwrap();
        crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    };
    advance(&mut crowd);
    assert_eq!(crowd.mesh.views.len(), 1);
    // The hierarchy is as one that was built for the costs of the view.
    let mut other = pond();
    other.set_area_cost(WATER, 4.0);
    other.update_hierarchy(&crowd.pool).unwrap();
    assert!(crowd.mesh.views[0].hierarchy == other.hierarchy);
    // Costs of the mesh that become those of a set need no view any more.
    crowd.mesh.set_area_cost(WATER, 4.0);
    advance(&mut crowd);
    assert_eq!(crowd.mesh.views.len(), 1, "for the one to whom water costs 1");
    crowd.agents.set_area_cost(crowd.handles[1], WATER, None).unwrap();
    advance(&mut crowd);
    assert!(crowd.mesh.views.is_empty());
}

#[test]
fn views_of_lost_agents_are_forgotten() {
    let mut crowd = Crowd::new(pond(), 1);
    for _ in 0..2 {
        crowd.send(Vec3::new(4.0, 4.0, 0.4), Vec3::new(8.0, 4.0, 0.4), AgentSettings::DEFAULT);
    }
    crowd.agents.set_area_cost(crowd.handles[0], WATER, Some(9.0)).unwrap();
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert_eq!(crowd.mesh.views.len(), 1);
    crowd.agents.lose_ground(crowd.handles[0]);
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert!(crowd.mesh.views.is_empty());
    assert_eq!(crowd.agents.cost_sets.len(), 1, "the agent keeps its costs");
    crowd.agents.slots.remove(crowd.handles[0], "", 0, "a test");
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert!(crowd.agents.cost_sets.is_empty());
    // Doors of a mesh that nobody updates do not fill the memory.
    let polygons = crowd.mesh.num_polygons() as u32;
    for at in 0..100_000 {
        crowd.mesh.set_obstructed(at % 2 * (polygons - 1), at / 2 % 2 == 0);
    }
    assert!(crowd.mesh.hierarchy.num_changed() <= polygons as usize);
}

#[test]
fn views_are_forgotten_in_the_update_in_which_the_mesh_changes() {
    let mut crowd = Crowd::new(pond(), 1);
    crowd.send(Vec3::new(4.0, 4.0, 0.4), Vec3::new(8.0, 4.0, 0.4), AgentSettings::DEFAULT);
    crowd.agents.set_area_cost(crowd.handles[0], WATER, Some(9.0)).unwrap();
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert_eq!(crowd.mesh.views.len(), 1);
    crowd.agents.slots.remove(crowd.handles[0], "", 0, "a test");
    crowd.mesh.outdate_hierarchies();
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert!(crowd.mesh.views.is_empty());
}

#[test]
fn agents_that_ask_for_nothing_leave_their_nodes_to_others() {
    let frames = |idle: usize| {
        let mut crowd = Crowd::new(pond(), 1);
        for at in 0..400 {
            let y = 4.0 + (at % 60) as f32;
            let (from, to) = (Vec3::new(4.0, y, 0.4), Vec3::new(68.0, 68.0 - y, 0.4));
            crowd.send(from, to, AgentSettings::DEFAULT);
        }
        let at = crowd.mesh.nearest(Vec3::new(20.0, 20.0, 0.4), 2.0, 2.0).unwrap();
        for number in 0..idle {
            let agent = crowd.agents.add(crowd.id, at, AgentSettings::DEFAULT).unwrap();
            crowd.agents.set_area_cost(agent, WATER, Some(2.0 + number as f32)).unwrap();
        }
        let mut frames = 0;
        loop {
            frames += 1;
            crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
            if crowd.agents.statistics.waiting == 0 {
                return frames;
            }
        }
    };
    let alone = frames(0);
    assert!(alone > 1, "the searches must need more than one update");
    assert_eq!(frames(15), alone);
}

#[test]
fn the_order_of_sets_follows_from_their_costs() {
    let run = |order: [usize; 3]| {
        let mut crowd = Crowd::new(pond(), 1);
        for at in 0..3 {
            let (x, y) = (4.0 + at as f32, 30.0);
            crowd.send(Vec3::new(x, y, 0.4), Vec3::new(68.0, y, 0.4), AgentSettings::DEFAULT);
        }
        for at in order {
            let cost = [5.0, 0.0, 20.0][at];
            crowd.agents.set_area_cost(crowd.handles[at], WATER, Some(cost)).unwrap();
        }
        for _ in 0..200 {
            crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
        }
        let rows = crowd.agents.rows.clone();
        (rows, crowd.hash())
    };
    assert!(run([0, 1, 2]) == run([2, 1, 0]));
}

#[test]
fn several_costs_at_once_need_one_set_only() {
    let mut crowd = Crowd::new(pond(), 1);
    for _ in 0..=COST_SETS_MAX {
        crowd.send(Vec3::new(4.0, 4.0, 0.4), Vec3::new(8.0, 4.0, 0.4), AgentSettings::DEFAULT);
    }
    let set = |crowd: &mut Crowd, at: usize, cost: f32| {
        crowd.agents.change_costs(crowd.handles[at], |costs| {
            costs.set(WATER, Some(cost));
            costs.set(9, Some(cost * 2.0));
        })
    };
    for at in 0..COST_SETS_MAX {
        set(&mut crowd, at, 2.0 + at as f32).unwrap();
    }
    // Another one of a kind that exists, although all places are taken.
    set(&mut crowd, COST_SETS_MAX, 3.0).unwrap();
    let agent = crowd.agents.slots.get(crowd.handles[COST_SETS_MAX]).unwrap();
    assert_eq!([WATER, 9].map(|area| agent.area_cost(&crowd.mesh, area)), [3.0, 6.0]);
}

/// Returns a mesh that a wall divides, with a door of cost 2 and a ladder of cost 3 as links over
/// it: the door is at y = 20, the ladder at y = 52. `width` tiles are 14.4 metres each.
fn gate(width: usize) -> NavigationMesh {
    let middle = width * 4;
    let mut mesh = world(width, 14, |x, _, _| x == middle);
    let x = middle as f32 * 1.8;
    for (name, y, cost) in [("door", 20.0, 2.0), ("ladder", 52.0, 3.0)] {
        let [from, to] = [x - 1.8, x + 3.6].map(|x| Vec3::new(x, y, 0.4));
        let name = name.to_string();
        let link = JumpSettings { name, from, to, cost, is_two_way: true, is_manual: false };
        mesh.add_link(link).unwrap();
    }
    mesh.rebuild(&engine_foundation::tasks::TaskPool::new(Some(1))).unwrap();
    mesh
}

/// Sends agents through the gate, with what the door and the ladder cost each. Returns the y of
/// each where it was on a link, 0 if it was on none, and the crowd.
fn pass(width: usize, costs: &[[Option<f32>; 2]], threads: usize) -> (Vec<f32>, Crowd) {
    let mut crowd = Crowd::new(gate(width), threads);
    let side = width as f32 * 14.4;
    for (at, costs) in costs.iter().enumerate() {
        let y = 22.0 + 2.0 * at as f32;
        let (from, to) = (Vec3::new(4.0, y, 0.4), Vec3::new(side - 4.0, y, 0.4));
        crowd.send(from, to, AgentSettings { speed: 9.0, ..AgentSettings::DEFAULT });
        for (name, cost) in ["door", "ladder"].into_iter().zip(costs) {
            crowd.agents.set_link_cost(crowd.handles[at], name, *cost).unwrap();
        }
    }
    let mut used = vec![0.0; costs.len()];
    for _ in 0..1500 {
        crowd.mesh.update_hierarchy(&crowd.pool).unwrap();
        crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
        for (at, used_y) in used.iter_mut().enumerate() {
            let agent = crowd.agents.slots.get(crowd.handles[at]).unwrap();
            if agent.state == AgentState::Linking {
                *used_y = agent.at.position.y;
            }
        }
    }
    (used, crowd)
}

#[test]
fn each_agent_has_its_own_costs_of_links() {
    let none = Some(f32::INFINITY);
    let costs =
        [[None; 2], [Some(90.0), None], [none, None], [None, none], [Some(90.0), Some(50.0)]];
    // From polygon to polygon, and over portals.
    for width in [5, 12] {
        let (used, crowd) = pass(width, &costs, 1);
        assert_eq!(crowd.arrived(), costs.len(), "{width}: {used:?}");
        let is_door = used.iter().map(|y| *y > 0.0 && (y - 20.0).abs() < 3.0);
        let is_ladder = used.iter().map(|y| (y - 52.0).abs() < 3.0);
        assert!(is_door.eq([true, false, false, true, false]), "{width}: {used:?}");
        assert!(is_ladder.eq([false, true, true, false, true]), "{width}: {used:?}");
    }
    // Closed for one: there is no way. The other one goes.
    let (_, crowd) = pass(5, &[[none; 2], [None; 2]], 1);
    let agents = crowd.handles.iter().map(|agent| crowd.agents.slots.get(*agent).unwrap());
    let ends: Vec<_> = agents.map(|agent| (agent.state, agent.partial)).collect();
    let unreachable = (AgentState::Partial, Some(PartialReason::Unreachable));
    assert_eq!(ends, [unreachable, (AgentState::Arrived, None)]);
}

#[test]
fn closed_ground_is_left_by_no_link_that_is_closed() {
    let mut mesh = gate(5);
    for polygon in 0..mesh.num_polygons() {
        let middle = (mesh.polygons[polygon].low + mesh.polygons[polygon].high) * 0.5;
        if (28.0..36.0).contains(&middle.x) && (middle.y - 20.0).abs() < 8.0 {
            mesh.polygons[polygon].area = WATER;
        }
    }
    mesh.outdate_hierarchies();
    // It stands in the water in front of the door, and both are closed for it.
    let mut crowd = Crowd::new(mesh, 1);
    let (from, to) = (Vec3::new(34.2, 20.0, 0.4), Vec3::new(68.0, 20.0, 0.4));
    crowd.send(from, to, AgentSettings::DEFAULT);
    let agent = crowd.handles[0];
    crowd.agents.set_area_cost(agent, WATER, Some(0.0)).unwrap();
    crowd.agents.set_link_cost(agent, "door", Some(f32::INFINITY)).unwrap();
    let mut used = 0.0;
    for _ in 0..3600 {
        crowd.mesh.update_hierarchy(&crowd.pool).unwrap();
        crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
        let agent = crowd.agents.slots.get(agent).unwrap();
        if agent.state == AgentState::Linking {
            used = agent.at.position.y;
        }
    }
    assert_eq!(crowd.arrived(), 1);
    assert!((used - 52.0).abs() < 3.0, "by the ladder, not at {used}");
}

#[test]
fn costs_of_links_change_on_the_way() {
    let mut crowd = pass(5, &[[Some(f32::INFINITY); 2]], 1).1;
    let agent = crowd.handles[0];
    crowd.agents.set_link_cost(agent, "ladder", None).unwrap();
    for _ in 0..1500 {
        crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    }
    assert_eq!(crowd.arrived(), 1);
    // The hierarchy of the view is as one that was built for its costs.
    let built = |crowd: &mut Crowd| {
        crowd.mesh.outdate_hierarchies();
        crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    };
    crowd.agents.set_link_cost(agent, "door", Some(7.0)).unwrap();
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    let changed = crowd.mesh.views[0].hierarchy.clone();
    built(&mut crowd);
    assert!(crowd.mesh.views[0].hierarchy == changed);
    // A link that is removed leaves the view with nothing of its own.
    crowd.mesh.remove_link(1);
    crowd.mesh.rebuild(&crowd.pool).unwrap();
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert!(crowd.mesh.views.is_empty());
    let costs = [[Some(40.0), None], [None; 2], [None, Some(f32::INFINITY)]];
    let hashes = [1, 2, 4].map(|threads| pass(5, &costs, threads).1.hash());
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn names_of_links_with_costs_have_a_limit() {
    let mut crowd = Crowd::new(pond(), 1);
    crowd.send(Vec3::new(4.0, 4.0, 0.4), Vec3::new(8.0, 4.0, 0.4), AgentSettings::DEFAULT);
    let agent = crowd.handles[0];
    for at in 0..LINK_COSTS_MAX {
        crowd.agents.set_link_cost(agent, &format!("link {at}"), Some(1.0)).unwrap();
    }
    let error = crowd.agents.set_link_cost(agent, "another", Some(1.0)).unwrap_err().message;
    assert!(error.contains("LINK_COSTS_MAX"), "{error}");
    crowd.agents.set_link_cost(agent, "link 3", Some(2.0)).unwrap();
    crowd.agents.set_link_cost(agent, "link 4", None).unwrap();
    crowd.agents.set_link_cost(agent, "another", Some(1.0)).unwrap();
    let own = crowd.agents.slots.get(agent).unwrap().own_costs.clone().unwrap();
    assert_eq!((own.link_cost("link 3"), own.link_cost("link 4")), (Some(2.0), None));
}

#[test]
fn costs_of_links_stay_with_their_names_when_links_change() {
    let mut crowd = Crowd::new(gate(5), 1);
    let (from, to) = (Vec3::new(4.0, 22.0, 0.4), Vec3::new(68.0, 22.0, 0.4));
    crowd.send(from, to, AgentSettings { speed: 9.0, ..AgentSettings::DEFAULT });
    let agent = crowd.handles[0];
    crowd.agents.set_link_cost(agent, "ladder", Some(f32::INFINITY)).unwrap();
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    // The ladder is the first name in the alphabet now, and then the third one.
    crowd.mesh.remove_link(1);
    crowd.mesh.rebuild(&crowd.pool).unwrap();
    let update = |crowd: &mut Crowd| {
        crowd.mesh.update_hierarchy(&crowd.pool).unwrap();
        crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
        crowd.agents.slots.get(agent).unwrap().state
    };
    for _ in 0..600 {
        assert_ne!(update(&mut crowd), AgentState::Linking, "the ladder is closed for it");
    }
    let known = crowd.agents.slots.get(agent).unwrap();
    assert_eq!((known.state, crowd.mesh.views.len()), (AgentState::Partial, 1));
    let ladder = crowd.mesh.link_of(2).unwrap().clone();
    for (name, y) in [("bridge", 30.0), ("door", 20.0)] {
        let at = |end: Vec3| Vec3::new(end.x, y, end.z);
        let (from, to) = (at(ladder.from), at(ladder.to));
        crowd
            .mesh
            .add_link(JumpSettings { name: name.to_string(), from, to, ..ladder.clone() })
            .unwrap();
    }
    crowd.mesh.rebuild(&crowd.pool).unwrap();
    let mut used = 0.0;
    for _ in 0..900 {
        if update(&mut crowd) == AgentState::Linking {
            used = crowd.agents.slots.get(agent).unwrap().at.position.y;
        }
    }
    assert!(crowd.arrived() == 1 && used < 40.0, "{used}");
}

#[test]
fn views_are_chosen_once_for_all_updates() {
    let mut crowd = pass(5, &[[Some(90.0), None], [None, Some(50.0)]], 1).1;
    let known =
        |crowd: &Crowd| crowd.mesh.known_views.iter().map(|known| known.view).collect::<Vec<_>>();
    let mut views = known(&crowd);
    views.sort();
    assert_eq!(views, [Some(0), Some(1)]);
    crowd.mesh.set_area_cost(1, 3.0);
    assert!(known(&crowd).is_empty(), "costs of the mesh are parts of all views");
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert_eq!(known(&crowd).len(), 2);
    crowd.agents.set_link_cost(crowd.handles[0], "door", None).unwrap();
    crowd.agents.advance(crowd.id, &mut crowd.mesh, STEP, &crowd.pool).unwrap();
    assert_eq!(known(&crowd), [Some(0)]);
}

#[test]
fn requests_that_wait_keep_no_set_of_agents() {
    let mut crowd = Crowd::new(pond(), 1);
    let (from, to) = (Vec3::new(4.0, 4.0, 0.4), Vec3::new(68.0, 4.0, 0.4));
    for _ in 0..2 {
        crowd.send(from, to, AgentSettings::DEFAULT);
    }
    let [first, second] = [crowd.handles[0], crowd.handles[1]];
    for at in 0..COST_SETS_MAX + 4 {
        crowd.agents.set_area_cost(first, WATER, Some(2.0 + at as f32)).unwrap();
        let own = crowd.agents.costs_on(first, crowd.id);
        crowd.mesh.request_path_between(from, to, own.as_deref()).unwrap();
    }
    crowd.agents.set_area_cost(second, WATER, Some(99.0)).unwrap();
    // Each request has the costs of the time at which it was asked for.
    while crowd.mesh.num_waiting_paths() > 0 {
        crowd.mesh.answer_paths(&crowd.pool).unwrap();
    }
    let lengths: Vec<usize> = crowd.mesh.path_answers().map(|it| it.points.len()).collect();
    assert_eq!(lengths.len(), COST_SETS_MAX + 4);
    assert!(lengths[0] < lengths[COST_SETS_MAX + 3], "around the water: {lengths:?}");
}

#[test]
fn links_abandoned_by_an_agent_are_open_on_other_meshes() {
    let mut crowd = Crowd::new(pond(), 1);
    let (from, to) = (Vec3::new(4.0, 4.0, 0.4), Vec3::new(68.0, 4.0, 0.4));
    crowd.send(from, to, AgentSettings::DEFAULT);
    let agent = crowd.handles[0];
    // Any handle that is not that of its mesh.
    let other = agent;
    crowd.agents.change_costs(agent, |costs| costs.set_closed(1, true)).unwrap();
    assert!(crowd.agents.costs_on(agent, crowd.id).is_some());
    assert_eq!(crowd.agents.costs_on(agent, other), None);
    crowd.agents.set_area_cost(agent, WATER, Some(7.0)).unwrap();
    let mut expected = OwnCosts::default();
    expected.set(WATER, Some(7.0));
    assert_eq!(crowd.agents.costs_on(agent, other).as_deref(), Some(&expected));
    expected.set_closed(1, true);
    assert_eq!(crowd.agents.costs_on(agent, crowd.id).as_deref(), Some(&expected));
}
