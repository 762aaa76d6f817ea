//! Tests of the behavior of bodies.

use super::*;
use engine_foundation::hash::StateHash;

fn world() -> Simulation {
    let mut physics = Simulation::new(SimulationSettings::DEFAULT);
    let floor =
        ColliderDesc { shape: ColliderShape::Plane { normal: None }, ..ColliderDesc::DEFAULT };
    physics.add(&body(MotionType::Static, Vec3::ZERO, floor, 1)).unwrap();
    physics
}

fn floating() -> Simulation {
    Simulation::new(SimulationSettings { gravity: Vec3::ZERO, ..SimulationSettings::DEFAULT })
}

fn body(motion: MotionType, position: Vec3, part: ColliderDesc, owner: BodyOwner) -> BodyDesc {
    BodyDesc { motion, position, parts: vec![part], owner, ..BodyDesc::DEFAULT }
}

fn cube() -> ColliderDesc {
    ColliderDesc { shape: ColliderShape::Box { half: Vec3::splat(0.5) }, ..ColliderDesc::DEFAULT }
}

fn play(physics: &mut Simulation, frames: usize) {
    for _ in 0..frames {
        physics.update(1.0 / 60.0).unwrap();
    }
}

#[test]
fn a_falling_box_lands_sleeps_and_reports_its_contact() {
    let mut physics = world();
    let cube =
        physics.add(&body(MotionType::Dynamic, Vec3::new(0.0, 0.0, 3.0), cube(), 7)).unwrap();
    let mut hit = None;
    for _ in 0..300 {
        play(&mut physics, 1);
        hit = hit.or(physics.contacts().0.first().copied());
    }
    assert!((physics.position(cube).z - 0.5).abs() < 0.02, "{}", physics.position(cube));
    assert!(physics.is_sleeping(cube));
    let hit = hit.expect("it hit the floor");
    assert_eq!(hit.owners, [7, 1], "what moves by forces stands first");
    // 1,000 kg at 7 m/s.
    assert!(hit.impulse > 3000.0 && hit.position.z.abs() < 0.2, "{hit:?}");
    let mut moved = Vec::new();
    physics.moved(&mut moved);
    moved.clear();
    play(&mut physics, 1);
    physics.moved(&mut moved);
    assert!(moved.is_empty(), "what sleeps does not move");
}

#[test]
fn poses_are_interpolated_between_steps() {
    let mut physics = floating();
    let ball =
        physics.add(&body(MotionType::Dynamic, Vec3::ZERO, ColliderDesc::DEFAULT, 3)).unwrap();
    physics.set_velocity(ball, Vec3::new(6.0, 0.0, 0.0));
    assert_eq!(physics.update(1.5 / 60.0).unwrap(), 1);
    let mut moved = Vec::new();
    physics.moved(&mut moved);
    assert!((moved[0].position.x - 0.05).abs() < 1e-4, "{moved:?}");
    assert_eq!(physics.update(100.0).unwrap(), STEPS_MAX, "what is missing beyond that is dropped");
}

#[test]
fn a_trigger_reports_who_enters_and_leaves() {
    let mut physics = floating();
    let zone = body(MotionType::Kinematic, Vec3::new(2.0, 0.0, 0.0), cube(), 5);
    physics.add(&BodyDesc { trigger: true, ..zone }).unwrap();
    let ball =
        physics.add(&body(MotionType::Dynamic, Vec3::ZERO, ColliderDesc::DEFAULT, 6)).unwrap();
    physics.set_velocity(ball, Vec3::new(4.0, 0.0, 0.0));
    let mut all = Vec::new();
    for _ in 0..90 {
        play(&mut physics, 1);
        let (contacts, triggers) = physics.contacts();
        assert_eq!(contacts, []);
        all.extend(triggers.to_vec());
    }
    let trigger_event = |touch| TriggerEvent { trigger: 5, other: 6, touch };
    assert_eq!(all, [trigger_event(ContactPhase::Began), trigger_event(ContactPhase::Ended)]);
}

#[test]
fn rays_sweeps_and_overlaps_find_bodies() {
    let mut physics = world();
    let at = Vec3::new(0.0, 5.0, 1.0);
    let cube = physics.add(&body(MotionType::Static, at, cube(), 9)).unwrap();
    physics.update(1.0 / 60.0).unwrap();
    let from = Vec3::new(0.0, 0.0, 1.0);
    let hit = physics.raycast(from, Vec3::Y, 10.0, &QueryFilter::DEFAULT).unwrap();
    assert_eq!((hit.owner, hit.distance, hit.normal), (9, 4.5, -Vec3::Y));
    assert!(physics.raycast(from, Vec3::Y, 4.0, &QueryFilter::DEFAULT).is_none());
    let others = QueryFilter { but: Some(cube), ..QueryFilter::DEFAULT };
    assert!(physics.raycast(from, Vec3::Y, 10.0, &others).is_none());
    let none = QueryFilter { types: 0, ..QueryFilter::DEFAULT };
    assert!(physics.raycast(from, Vec3::Y, 10.0, &none).is_none());
    let mut all = Vec::new();
    let down = Vec3::new(0.0, 5.0, 9.0);
    physics.raycast_all(down, -Vec3::Z, 20.0, &QueryFilter::DEFAULT, &mut all);
    assert_eq!(all.iter().map(|hit| hit.owner).collect::<Vec<_>>(), [9, 1]);
    let ball = ColliderShape::Sphere { radius: 0.5 };
    let hit = physics
        .sweep(&ball, (from, Quat::IDENTITY), at, (1, true), &QueryFilter::DEFAULT)
        .unwrap()[0];
    assert!((hit.distance - 4.0).abs() < 1e-3 && hit.owner == 9, "{hit:?}");
    let near = physics.overlap(&ball, at, Quat::IDENTITY, &QueryFilter::DEFAULT).unwrap();
    assert_eq!(near, [9]);
}

#[test]
fn a_sweep_hits_each_body_once_and_the_nearest_first() {
    let mut physics = floating();
    for i in 0..300 {
        let at = Vec3::new(0.1 * (300 - i) as f32, 0.0, 0.0);
        physics.add(&body(MotionType::Static, at, ColliderDesc::DEFAULT, i + 1)).unwrap();
    }
    physics.update(1.0 / 60.0).unwrap();
    let ball = ColliderShape::Sphere { radius: 0.5 };
    let from = (Vec3::new(-20.0, 0.0, 0.0), Quat::IDENTITY);
    let sweep = |most| {
        let hits = physics.sweep(
            &ball,
            from,
            Vec3::new(60.0, 0.0, 0.0),
            (most, true),
            &QueryFilter::DEFAULT,
        );
        hits.unwrap().iter().map(|hit| hit.owner).collect::<Vec<BodyOwner>>()
    };
    let all: Vec<BodyOwner> = (1..=300).rev().collect();
    assert_eq!(sweep(queries::HITS_MAX), all);
    assert_eq!(sweep(20), all[..20]);
}

#[test]
fn a_character_climbs_steps_and_stops_at_walls() {
    let mut physics = world();
    let step = ColliderDesc {
        shape: ColliderShape::Box { half: Vec3::new(1.0, 1.0, 0.1) },
        ..ColliderDesc::DEFAULT
    };
    let wall = ColliderDesc {
        shape: ColliderShape::Box { half: Vec3::new(0.2, 3.0, 2.0) },
        ..ColliderDesc::DEFAULT
    };
    physics.add(&body(MotionType::Static, Vec3::new(2.0, 0.0, 0.1), step, 2)).unwrap();
    physics.add(&body(MotionType::Static, Vec3::new(4.0, 0.0, 2.0), wall, 3)).unwrap();
    physics.update(1.0 / 60.0).unwrap();
    let shape = ColliderShape::Capsule { half_height: 0.5, radius: 0.3 };
    let settings = ControllerSettings { step_height: 0.3, slope_max: 0.8, snap: 0.2, mass: 70.0 };
    let mut at = Vec3::new(0.0, 0.0, 0.82);
    let (mut highest, mut sides) = (0.0f32, false);
    for _ in 0..300 {
        let displacement = Vec3::new(0.03, 0.0, -0.05);
        let walk = physics
            .walk(
                &shape,
                (at, true),
                displacement,
                1.0 / 60.0,
                &settings,
                (&QueryFilter::DEFAULT, &[]),
            )
            .unwrap();
        at = walk.position;
        highest = highest.max(at.z);
        sides |= walk.sides;
        assert!(walk.grounded, "{at}");
    }
    assert!(highest > 0.95, "it stepped up: {highest}");
    assert!(sides && at.x > 3.3 && at.x < 3.6, "it stands at the wall: {at}");
}

#[test]
fn a_character_rests_on_a_plane() {
    let mut physics = world();
    physics.update(1.0 / 60.0).unwrap();
    let settings = ControllerSettings { step_height: 0.3, slope_max: 0.8, snap: 0.2, mass: 70.0 };
    for shape in [
        ColliderShape::Capsule { half_height: 0.5, radius: 0.3 },
        ColliderShape::Cylinder { half_height: 0.8, radius: 0.3 },
        ColliderShape::Box { half: Vec3::new(0.3, 0.3, 0.8) },
    ] {
        let (mut at, mut grounded) = (Vec3::new(0.0, 0.0, 0.9), false);
        for frame in 0..60 {
            let displacement = Vec3::new(0.0, 0.0, if grounded { 0.0 } else { -0.05 });
            let (from, seconds) = ((at, grounded), 1.0 / 60.0);
            let walk = physics
                .walk(&shape, from, displacement, seconds, &settings, (&QueryFilter::DEFAULT, &[]))
                .unwrap();
            (at, grounded) = (walk.position, walk.grounded);
            assert!(frame < 10 || (grounded && at.z < 0.82), "{shape:?}, frame {frame}: {at}");
        }
    }
}

#[test]
fn a_character_climbs_a_high_step_at_an_angle() {
    let mut physics = world();
    let step = ColliderDesc {
        shape: ColliderShape::Box { half: Vec3::new(1.0, 9.0, 0.14) },
        ..ColliderDesc::DEFAULT
    };
    physics.add(&body(MotionType::Static, Vec3::new(2.0, 0.0, 0.14), step, 2)).unwrap();
    physics.update(1.0 / 60.0).unwrap();
    let shape = ColliderShape::Capsule { half_height: 0.5, radius: 0.4 };
    let settings = ControllerSettings { step_height: 0.3, slope_max: 0.78, snap: 0.2, mass: 70.0 };
    let mut at = Vec3::new(0.0, 0.0, 0.92);
    for _ in 0..90 {
        let displacement = Vec3::new(0.02, 0.02, -0.05);
        let from = (at, true);
        at = physics
            .walk(&shape, from, displacement, 1.0 / 60.0, &settings, (&QueryFilter::DEFAULT, &[]))
            .unwrap()
            .position;
    }
    assert!(at.x > 1.2 && at.z > 1.15, "it is up on the step: {at}");
}

#[test]
fn a_two_dimensional_world_stays_in_its_plane() {
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    let mut physics =
        Simulation::new(SimulationSettings { gravity, flat: true, ..SimulationSettings::DEFAULT });
    let floor =
        ColliderDesc { shape: ColliderShape::Plane { normal: None }, ..ColliderDesc::DEFAULT };
    physics.add(&body(MotionType::Static, Vec3::ZERO, floor, 0)).unwrap();
    let many: Vec<_> = (0..20)
        .map(|i| {
            let at = Vec3::new((i % 3) as f32 * 0.7, 1.0 + i as f32, 0.0);
            physics.add(&body(MotionType::Dynamic, at, cube(), i)).unwrap()
        })
        .collect();
    play(&mut physics, 200);
    assert!(many.iter().all(|body| physics.position(*body).z == 0.0));
}

#[test]
fn invalid_shapes_are_refused_with_a_reason() {
    let message_of = |shape: ColliderShape| shape.check().unwrap_err().message;
    assert_eq!(
        message_of(ColliderShape::Sphere { radius: 0.0 }),
        "the radius must be more than 0 metres, got 0"
    );
    assert_eq!(
        message_of(ColliderShape::Box { half: Vec3::new(1.0, -2.0, 1.0) }),
        "the half depth must be more than 0 metres, got -2"
    );
    let points = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    assert_eq!(
        message_of(ColliderShape::Mesh { points: points.clone(), triangles: vec![[0, 1, 3]] }),
        "a triangle names point 3, and there are 3, counted from 0"
    );
    assert!(message_of(ColliderShape::Hull { points }).starts_with("it needs 4 to "));
    let scaled = ColliderShape::Sphere { radius: 1.0 }.scaled(Vec3::new(1.0, 2.0, 1.0));
    assert!(scaled.unwrap_err().message.starts_with("a round shape must be scaled by the same"));
    let mirrored = ColliderShape::Box { half: Vec3::ONE }.scaled(Vec3::new(-1.0, 1.0, 1.0));
    assert!(mirrored.unwrap_err().message.starts_with("a body's scale must be more than 0"));
}

#[test]
fn hulls_have_a_vertex_limit_without_interior_points() {
    let count = HULL_CORNERS_MAX + 1;
    // Points on a spiral around a sphere: every point is a corner of the hull.
    let ball = |i: usize| {
        let z = 1.0 - 2.0 * (i as f32 + 0.5) / count as f32;
        let (sine, cosine) = (i as f32 * 2.399_963).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        Vec3::new(radius * cosine, radius * sine, z) * 100.0
    };
    let error =
        ColliderShape::Hull { points: (0..count).map(ball).collect() }.shared(false).err().unwrap();
    assert_eq!(
        error.message,
        "a hull has at most 65536 corners (HULL_CORNERS_MAX), and more than that of its 65537 \
         points may be corners: give it fewer points"
    );

    let corner = |i: usize| {
        let side = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
        Vec3::new(side(0), side(1), side(2)) * if i < 8 { 1.0 } else { 0.5 }
    };
    let shape =
        ColliderShape::Hull { points: (0..count).map(corner).collect() }.shared(false).unwrap();
    assert_eq!(shape.as_convex_polyhedron().unwrap().points().len(), 8);
}

#[test]
fn two_runs_are_bit_identical() {
    let run = || {
        let mut physics = world();
        let mut bodies = Vec::new();
        for i in 0..60u32 {
            let at = Vec3::new((i % 4) as f32 * 0.9, (i % 3) as f32 * 0.8, 1.0 + i as f32 * 0.6);
            let desc = body(MotionType::Dynamic, at, cube(), i.into());
            bodies.push(physics.add(&desc).unwrap());
        }
        play(&mut physics, 120);
        let mut hash = StateHash::new(0);
        bodies.iter().for_each(|body| physics.write_body(*body, &mut hash));
        hash.finish()
    };
    assert_eq!(run(), run());
}

#[test]
fn sleeping_bodies_are_drawn_at_their_exact_pose() {
    let mut physics = world();
    let cube =
        physics.add(&body(MotionType::Dynamic, Vec3::new(0.0, 0.0, 2.0), cube(), 7)).unwrap();
    let (mut shown, mut moved) = (Vec3::ZERO, Vec::new());
    for _ in 0..600 {
        physics.update(0.011).unwrap();
        moved.clear();
        physics.moved(&mut moved);
        shown = moved.last().map_or(shown, |moved| moved.position);
    }
    assert!(physics.is_sleeping(cube));
    assert_eq!(shown, physics.position(cube), "also in a frame between two steps");
    assert!(moved.is_empty());
}

#[test]
fn a_snapshot_restores_every_bit() {
    let mut physics = world();
    let mut bodies = Vec::new();
    for i in 0..20u32 {
        let at = Vec3::new((i % 2) as f32 * 0.4, 0.0, 1.0 + i as f32 * 1.2);
        bodies
            .push(physics.add(&body(MotionType::Dynamic, at, cube(), u128::from(i) + 2)).unwrap());
    }
    play(&mut physics, 40);
    let saved = physics.snapshot();
    let state = |physics: &Simulation| {
        let mut hash = StateHash::new(0);
        bodies.iter().for_each(|body| physics.write_body(*body, &mut hash));
        hash.finish()
    };
    play(&mut physics, 60);
    let after = state(&physics);
    physics.restore(&saved, |_| true, |_, _| panic!("nothing came since"));
    play(&mut physics, 60);
    assert_eq!(state(&physics), after);
    let mut came = Vec::new();
    let late = body(MotionType::Dynamic, Vec3::new(9.0, 0.0, 9.0), cube(), 99);
    physics.add(&late).unwrap();
    physics.restore(&saved, |owner| owner != 3, |owner, body| came.push((owner, body)));
    assert_eq!((came.len(), came[0].0, physics.len()), (1, 99, 21));
    assert_eq!(physics.position(came[0].1), Vec3::new(9.0, 0.0, 9.0));
}

#[test]
fn fast_rotation_is_limited_per_step_and_speed_is_not() {
    let mut physics = floating();
    let plan = body(MotionType::Dynamic, Vec3::ZERO, ColliderDesc::DEFAULT, 5);
    let ball = physics.add(&BodyDesc { angular_damping: 0.0, ..plan }).unwrap();
    physics.set_velocity(ball, Vec3::new(1000.0, 0.0, 0.0));
    physics.set_angular_velocity(ball, Vec3::new(0.0, 0.0, 200.0));
    play(&mut physics, 60);
    let at = physics.position(ball).x;
    assert!((at - 1000.0).abs() < 1.0, "{at}");
    assert!((physics.velocity(ball).x - 1000.0).abs() < 1.0, "{}", physics.velocity(ball));
    // The value in docs/physics.md.
    let turning = physics.angular_velocity(ball).z;
    assert!((turning - 47.124).abs() < 0.1, "{turning}");
}

#[test]
fn a_body_out_of_bounds_is_stopped_and_reported() {
    let mut physics = floating();
    let ball =
        physics.add(&body(MotionType::Dynamic, Vec3::ZERO, ColliderDesc::DEFAULT, 5)).unwrap();
    physics.set_velocity(ball, Vec3::splat(f32::INFINITY));
    let message = physics.update(1.0 / 60.0).unwrap_err().message;
    assert_eq!(message, "actor 5: a body left all bounds and was removed from the simulation");
    physics.update(1.0 / 60.0).unwrap();
}

#[test]
fn static_triangles_end_when_the_caller_has_enough() {
    let mut physics = floating();
    for x in [0.0, 3.0] {
        physics.add(&body(MotionType::Static, Vec3::new(x, 0.0, 0.0), cube(), 1)).unwrap();
    }
    for (most, expected) in [(100, 24), (5, 5)] {
        let mut count = 0;
        let ended = physics.static_triangles(|_, _| {
            if count >= most {
                return std::ops::ControlFlow::Break(());
            }
            count += 1;
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!((count, ended.is_break()), (expected, most == 5));
    }
}
