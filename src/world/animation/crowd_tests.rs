//! Tests of many characters with state machines and constraints: results on any number of threads,
//! and poses without jumps over many transitions.

use super::tests::node;
use super::*;
use crate::scene_graph::NO_NODE;
use crate::unit_resource::UnitResource;
use engine_foundation::hash::StateHash;
use engine_foundation::random::next_random;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{HandleKind, Quat, Slots, Vec3};
use engine_models::data::{
    AnimationChannel, AnimationData, ChannelTarget, KeyInterpolation, ModelData,
};
use engine_physics::{BodyDesc, ColliderDesc, ColliderShape, MotionType, SimulationSettings};

const NODES: [(&str, Option<u32>, [f32; 3]); 11] = [
    ("pelvis", None, [0.0, 0.0, 1.0]),
    ("left_thigh", Some(0), [-0.1, 0.0, 0.0]),
    ("left_shin", Some(1), [0.0, 0.05, -0.5]),
    ("left_foot", Some(2), [0.0, -0.05, -0.5]),
    ("right_thigh", Some(0), [0.1, 0.0, 0.0]),
    ("right_shin", Some(4), [0.0, 0.05, -0.5]),
    ("right_foot", Some(5), [0.0, -0.05, -0.5]),
    ("head", Some(0), [0.0, 0.0, 0.6]),
    ("tail_1", Some(0), [0.0, -0.1, 0.0]),
    ("tail_2", Some(8), [0.0, -0.3, 0.0]),
    ("tail_3", Some(9), [0.0, -0.3, 0.0]),
];

pub(super) const MACHINE: &str = r#"
skeleton = "rig"
variables = { speed = { value = 2 min = 0 max = 4 } }
masks = { top = { head = 1 } }
constraints = {
    look = { type = "aim" bone = "head" }
    tail = { type = "spring" bones = ["tail_1" "tail_3"] }
    feet = { type = "foot_placement" bones = ["pelvis" "left_thigh" "left_shin" "left_foot"
        "right_thigh" "right_shin" "right_foot"] }
}
layers = [
    {
        constraints = ["tail"]
        any = {
            move = { to = "move" blend = 0.3 }
            swing = { to = "swing" blend = 0.4 mode = "sync_percentage" }
            rest = { to = "rest" blend = 0.5 to_self = true }
        }
        states = {
            move = {
                blend = [
                    { clip = "a" weight = "match(speed, 0)" }
                    { clip = "b" weight = "match(speed, 4)" }
                ]
                constraints = FEET
            }
            swing = { clip = "c" constraints = ["look"] }
            rest = { clip = "d" speed = 0.5 constraints = FEET }
        }
    }
    { mask = "top" weight = "speed / 4" states = { nod = { clip = "c" } } }
]
"#;

/// Beats of all animations in seconds.
const BEATS: [f32; 3] = [0.25, 1.0, 1.6];

/// An animation of two seconds in which the rotations of all nodes swing about an axis.
pub(super) fn swing(name: &str, axis: Vec3, angle: f32) -> AnimationData {
    const KEYS: usize = 48;
    let key = |index: usize| index as f32 * 2.0 / KEYS as f32;
    let channel = |node: u32| {
        let turn = |index: usize| {
            let phase = key(index) * std::f32::consts::PI + node as f32;
            Quat::from_axis_angle(axis, angle * phase.sin()).to_array()
        };
        AnimationChannel {
            node,
            track: ChannelTarget::Rotation,
            between: KeyInterpolation::Linear,
            times: (0..=KEYS).map(key).collect(),
            values: (0..=KEYS).flat_map(turn).collect(),
        }
    };
    AnimationData { name: name.to_string(), channels: (1..11).map(channel).collect() }
}

/// Characters in a world with ground, and the numbers that decide what they do.
pub(super) struct Crowd {
    pub animations: Animations,
    pub units: Units,
    pub bodies: PhysicsTables,
    pub world: WorldId,
    pub crowd: Vec<UnitId>,
    pool: TaskPool,
    pub seed: u32,
}

impl Crowd {
    pub fn new(count: usize, threads: usize, machine: &str) -> Crowd {
        Crowd::of(count, threads, machine, None)
    }

    /// Creates characters of a model that `change` changes.
    pub fn of(
        count: usize,
        threads: usize,
        machine: &str,
        change: Option<&dyn Fn(&mut AnimatedModel)>,
    ) -> Crowd {
        let nodes = NODES.map(|(name, parent, position)| {
            let scale = [1.0; 3];
            engine_models::data::ModelNode { position, scale, ..node(name, parent) }
        });
        let animations = vec![
            swing("a", Vec3::X, 0.3),
            swing("b", Vec3::X, 0.8),
            swing("c", Vec3::Z, 0.5),
            swing("d", Vec3::Y, 0.2),
        ];
        let mut data = ModelData { nodes: nodes.to_vec(), animations, ..ModelData::default() };
        compile_clips(&mut data).unwrap();
        let model = Model { name: "rig".to_string(), data, meshes: vec![], materials: vec![] };
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let mut bodies = PhysicsTables::default();
        let physics = bodies.make_world(world, SimulationSettings::DEFAULT);
        let simulation = &mut bodies.world_mut(physics).simulation;
        for step in 0..40 {
            let shape = ColliderShape::Box { half: Vec3::new(20.0, 0.25, 0.5) };
            let position = Vec3::new(0.0, step as f32 * 0.5, (step % 3) as f32 * 0.1 - 0.5);
            let parts = vec![ColliderDesc { shape, ..ColliderDesc::DEFAULT }];
            let motion = MotionType::Static;
            simulation.add(&BodyDesc { motion, position, parts, ..BodyDesc::DEFAULT }).unwrap();
        }
        bodies.update(physics, &mut Units::default(), 1.0 / 60.0).unwrap();
        let mut crowd = Crowd {
            animations: Animations::default(),
            units: Units::default(),
            bodies,
            world,
            crowd: Vec::new(),
            pool: TaskPool::new(Some(threads)),
            seed: 1,
        };
        let mut shared = crowd.animations.model(&model).unwrap();
        if let Some(change) = change {
            change(Arc::make_mut(&mut shared));
        }
        let machine = engine_animation::compile_state_machine("rig.state_machine", machine);
        let machine = machine.unwrap();
        let clips = machine.clips().iter().map(|clip| shared.position(&clip.name).unwrap());
        let clips = clips.collect();
        let mut bound = BoundMachine::new("rig", 0, machine, (&shared, clips)).unwrap();
        bound.infos.iter_mut().for_each(|info| info.beats = BEATS.to_vec());
        let bound = Arc::new(bound);
        (0..count).for_each(|index| crowd.add(&shared, &bound, index));
        crowd
    }

    fn add(&mut self, shared: &Arc<AnimatedModel>, bound: &Arc<BoundMachine>, index: usize) {
        let parent = |parent: &Option<u32>| parent.map_or(0, |parent| parent + 1);
        let names = NODES.iter().map(|(name, _, _)| name.to_string());
        let poses = NODES.iter().map(|(_, _, position)| NodePose {
            position: Vec3::from_array(*position),
            ..NodePose::IDENTITY
        });
        let parents = NODES.iter().map(|(_, above, _)| parent(above));
        let resource = Arc::new(UnitResource {
            name: "rig".to_string(),
            node_names: std::iter::once("root".to_string()).chain(names).collect(),
            node_hashes: Vec::new(),
            parents: std::iter::once(NO_NODE).chain(parents).collect(),
            poses: std::iter::once(NodePose::IDENTITY).chain(poses).collect(),
            parts: Vec::new(),
            flow: None,
            body_hash: 0,
            data: SjsonTree::Object(Vec::new()),
            bases: Vec::new(),
            duplicate_names: Vec::new(),
            template: Default::default(),
        });
        let (x, y) = ((index % 20) as f32 - 10.0, (index / 20) as f32 + 0.1);
        let pose = NodePose { position: Vec3::new(x, y, 0.0), ..NodePose::IDENTITY };
        let unit = self.units.spawn(self.world, &resource, &pose).unwrap();
        let nodes = bone_nodes(shared, &self.units, unit);
        let mut character = Character::new(unit, shared.clone(), nodes);
        let mut machine = CharacterMachine::new(bound.clone(), index as u32);
        let position = pose.position + Vec3::new(1.0, 3.0, 2.0);
        if !bound.constraints.is_empty() {
            machine.constraints.set_target(0, Some(WorldTarget { position, rotation: None }));
        }
        character.set_machine(Some(machine));
        self.animations.add(character);
        self.crowd.push(unit);
    }

    /// Returns a random number from 0 to 1.
    pub fn random(&mut self) -> f32 {
        let (seed, number) = next_random(self.seed);
        self.seed = seed;
        number as f32
    }

    /// Sends a random event to a character, and sets its variable.
    pub fn disturb(&mut self, unit: UnitId) {
        let (event, speed) = (self.random() * 2.999, self.random() * 4.0);
        let character = self.animations.of_mut(unit.row()).unwrap();
        let machine = character.machine.as_mut().unwrap();
        machine.send_event(event as u16);
        machine.state.set_variable(&machine.bound.machine, 0, speed);
    }

    pub fn step(&mut self, seconds: f32) {
        let Crowd { animations, units, bodies, world, pool, .. } = self;
        let step = AnimationStep { world: *world, seconds, viewers: &[], waits: true };
        animations.update(step, units, bodies, pool).unwrap();
    }

    /// Returns a hash of the state and of all matrices.
    pub fn hash(&self) -> u64 {
        let mut hash = StateHash::new(0);
        for unit in &self.crowd {
            let character = self.animations.of(unit.row()).unwrap();
            character.write_state(&mut hash);
            for matrix in character.matrices() {
                matrix.0.iter().flat_map(|row| row.0).for_each(|number| hash.write_f32(number));
            }
            self.units.scene.floats(unit.row()).for_each(|number| hash.write_f32(number));
        }
        hash.finish()
    }
}

#[test]
fn characters_are_equal_on_any_number_of_threads() {
    let machine = MACHINE.replace("FEET", "[\"feet\"]");
    let play = |threads: usize| {
        let mut crowd = Crowd::new(64, threads, &machine);
        let mut hashes = Vec::new();
        for frame in 0..3000 {
            for _ in 0..3 {
                let index = (crowd.random() * 63.9) as usize;
                let unit = crowd.crowd[index];
                crowd.disturb(unit);
                let y = crowd.random() * 10.0;
                crowd.units.scene.set_local_position(unit.row(), 0, Vec3::new(0.0, y, 0.0));
            }
            crowd.step(1.0 / 60.0);
            if frame % 10 == 9 {
                hashes.push(crowd.hash());
            }
        }
        hashes
    };
    let alone = play(1);
    assert!(alone.windows(2).all(|pair| pair[0] != pair[1]), "the characters move");
    for threads in [2, 4, 8] {
        assert!(play(threads) == alone, "{threads} threads");
    }
}

#[test]
fn each_character_that_is_due_is_evaluated_once() {
    let mut crowd = Crowd::new(64, 1, &MACHINE.replace("FEET", "[\"feet\"]"));
    let first = crowd.animations.of(crowd.crowd[0].row()).unwrap();
    let (shared, bound) = (first.model.clone(), first.machine.as_ref().unwrap().bound.clone());
    for round in 0..40 {
        let row = crowd.crowd[round].row();
        crowd.animations.remove(row);
        if round % 2 == 0 {
            crowd.add(&shared, &bound, 64 + round);
        }
        let Animations { characters, order, .. } = &mut crowd.animations;
        for (index, character) in characters.iter_mut().enumerate() {
            character.is_due = (index + round) % 3 != 0;
        }
        let rows = |due: &mut [&mut Character]| {
            due.iter().map(|character| character.unit.row()).collect::<Vec<u32>>()
        };
        let mut found = order.with_due(characters, rows);
        found.sort_unstable();
        let due = characters.iter().filter(|character| character.is_due);
        let mut wanted: Vec<u32> = due.map(|character| character.unit.row()).collect();
        wanted.sort_unstable();
        assert!(found == wanted && found.len() > 20, "round {round}");
    }
}

/// Largest acceleration of a joint in metres per second squared.
pub(super) const ACCELERATION_MAX: f32 = 100.0;
/// The same in transitions of 0.2 seconds, the default, in place of 0.3 and more: it grows with the
/// square of the speed.
const DEFAULT_BLEND_MAX: f32 = 255.0;
/// Frames per second for these transitions. A jump by 5 mm in a frame has 288 m/s².
const FINE_RATE: u32 = 240;
/// Acceleration of a joint that jumps by 4 cm in a frame.
const JUMP_ACCELERATION: f32 = 144.0;
/// Largest acceleration without transitions.
const CALM_ACCELERATION_MAX: f32 = 50.0;
/// Largest change of the variable `speed` in a second.
const SPEED_CHANGE_MAX: f32 = 2.0;

/// The positions of a character's joints in the last frames.
#[derive(Default)]
pub(super) struct Joints {
    last: [Vec<Vec3>; 2],
    /// Largest acceleration.
    pub most: f32,
}

impl Joints {
    /// Notes the positions after a step of 1/60 second.
    pub fn note(&mut self, character: &Character) {
        self.note_in(character, &NodePose::IDENTITY);
    }

    /// Notes the positions of the joints of a character at `unit` in the world.
    pub fn note_in(&mut self, character: &Character, unit: &NodePose) {
        let point = |matrix: &ModelMatrix| matrix.transform_point([0.1, 0.1, 0.1]);
        let joints = character.matrices().iter().map(point).map(Vec3::from_array);
        let joints = joints.map(|joint| unit.position + unit.rotation * joint);
        let joints: Vec<Vec3> = joints.collect();
        if !self.last[1].is_empty() {
            for (index, joint) in joints.iter().enumerate() {
                let change = *joint - self.last[0][index] * 2.0 + self.last[1][index];
                self.most = self.most.max(change.length() * 3600.0);
            }
        }
        self.last = [joints, std::mem::take(&mut self.last[0])];
    }
}

/// Plays random transitions while a variable changes, by up to `range` from 2, at a number of
/// frames per second. Returns the largest acceleration.
pub(super) fn play_transitions(
    machine: &str,
    transitions: usize,
    frames: usize,
    (range, rate): (f32, u32),
) -> f32 {
    let seconds = 1.0 / rate as f32;
    let mut crowd = Crowd::new(1, 1, machine);
    let unit = crowd.crowd[0];
    let mut joints = Joints::default();
    let (mut taken, mut until, mut wanted, mut frame) = (0, 0, 2.0_f32, 0);
    while taken < transitions || frame < frames {
        frame += 1;
        let [event, speed, pause] = [0; 3].map(|_| crowd.random());
        let machine = crowd.animations.of_mut(unit.row()).unwrap().machine.as_mut().unwrap();
        if until == 0 && taken < transitions {
            let events = machine.bound.machine.events().len() as f32;
            taken += usize::from(machine.send_event((event * (events - 0.001)) as u16));
            (until, wanted) =
                ((4 + (pause * 40.0) as u32) * rate / 60, 2.0 + (speed * 2.0 - 1.0) * range);
        }
        until = until.saturating_sub(1);
        let speed = machine.state.variable(0).unwrap();
        let change = SPEED_CHANGE_MAX * seconds;
        let speed = speed + (wanted - speed).clamp(-change, change);
        machine.state.set_variable(&machine.bound.machine, 0, speed);
        crowd.step(seconds);
        joints.note(crowd.animations.of(unit.row()).unwrap());
    }
    let steps = rate as f32 / 60.0;
    joints.most * steps * steps
}

#[test]
fn joints_do_not_jump_in_random_transitions() {
    let machine = MACHINE.replace("FEET", "[\"look\"]");
    let most = play_transitions(&machine, 10_000, 0, (0.0, 60));
    assert!(most < ACCELERATION_MAX, "{most} m/s²");
}

#[test]
fn joints_do_not_jump_in_transitions_of_the_default_length() {
    let machine = MACHINE.replace("FEET", "[\"look\"]");
    let machine = ["0.3", "0.4", "0.5"]
        .iter()
        .fold(machine, |text, blend| text.replace(&format!(" blend = {blend}"), ""));
    assert!(!machine.contains("blend = 0"), "{machine}");
    let most = play_transitions(&machine, 10_000, 0, (0.0, FINE_RATE));
    assert!(most > ACCELERATION_MAX && most < DEFAULT_BLEND_MAX, "{most} m/s²");
}

#[test]
fn joints_do_not_jump_while_variables_change() {
    let more = r#"any = {
            hop = { to = "hop" blend = 0.5 mode = "sync_beat_closest" }
            step = { to = "move" blend = 0.6 mode = "sync_beat_wait" }
            last = { to = "swing" blend = 0.7 mode = "wait_until_end" }
            back = { to = "rest" blend = 0.7 mode = "sync_inverse_percentage" }"#;
    let machine = MACHINE.replace("any = {", more).replace("FEET", "[\"look\"]");
    let hop = "states = {\n            hop = { clip = \"a\" }\n            move = {";
    let machine = machine.replacen("states = {\n            move = {", hop, 1);
    let most = play_transitions(&machine, 3000, 0, (1.0, 60));
    assert!(most < JUMP_ACCELERATION, "{most} m/s²");
    let calm = play_transitions(&machine, 0, 1200, (0.0, 60));
    assert!((10.0..CALM_ACCELERATION_MAX).contains(&calm), "{calm} m/s² without transitions");
}
