//! Tests of ragdolls of characters: descriptions, phases, hand-over and reload.

use super::ragdoll::{CharacterRagdoll, Driver, Phase};
use super::ragdoll_description::ModelRagdolls;
use super::*;
use crate::physics::RagdollPart;
use engine_animation::constraints::ModelPose;
use engine_animation::ragdoll::JointLimits;
use engine_animation::{BoneMask, ModelMatrix, Pose, RagdollOutput, model_matrices};
use engine_foundation::hash::StateHash;
use engine_foundation::{Quat, Vec3, sjson};
use engine_models::data::{ModelData, ModelNode};

const STEP: f32 = 1.0 / 60.0;

/// A model of bones in a chain, each a metre above the one before.
fn chain(names: &[&str]) -> Arc<AnimatedModel> {
    let node = |(index, name): (usize, &&str)| ModelNode {
        name: name.to_string(),
        parent: index.checked_sub(1).map(|parent| parent as u32),
        position: [0.0, 0.0, if index > 0 { 1.0 } else { 0.0 }],
        rotation: [0.0, 0.0, 0.0, 1.0],
        scale: [1.0; 3],
        mesh: None,
        camera: None,
        light: None,
        skin: None,
        extras: None,
    };
    let nodes = names.iter().enumerate().map(node).collect();
    let data = ModelData { nodes, ..ModelData::default() };
    let model = Model { name: "chain".to_string(), data, meshes: vec![], materials: vec![] };
    Arc::new(AnimatedModel::read(&model).unwrap())
}

fn read(text: &str) -> Result<Option<RagdollDescription>, String> {
    let document = sjson::parse(text).unwrap();
    let tree = document.to_tree();
    RagdollDescription::read(tree.get("ragdoll").unwrap()).map_err(|error| error.message)
}

#[test]
fn descriptions_have_limits_in_degrees() {
    let text = "ragdoll = { mass = 60 bones = [\"hip\", \"chest\"] strength = 0.5 filter = \"x\"
        limits = { chest = { swing = 90 } head = { axis = [1, 0, 0] angles = [0, 90] } }
        shapes = { head = { radius = 0.2 length = 0.5 } } forward = [0, 2, 0] }";
    let read_one = read(text).unwrap().unwrap();
    let right = std::f32::consts::FRAC_PI_2;
    let [(chest, ball), (head, hinge)] = &read_one.generated.limits[..] else { panic!() };
    assert_eq!((&chest[..], &head[..]), ("chest", "head"));
    assert!(
        matches!(ball, JointLimits::Ball { swing, twist } if *swing == right && *twist == 0.35)
    );
    assert_eq!(*hinge, JointLimits::Hinge { axis: Vec3::X, angles: [0.0, right] });
    assert_eq!(
        (read_one.generated.mass, read_one.strength, read_one.forward),
        (60.0, 0.5, Vec3::Y)
    );
    assert_eq!(read("ragdoll = true").unwrap(), Some(RagdollDescription::DEFAULT));
    assert_eq!(read("ragdoll = false").unwrap(), None);
}

#[test]
fn wrong_descriptions_are_refused() {
    for (text, expected) in [
        ("ragdoll = 3", "'ragdoll' must be true, or a block"),
        ("ragdoll = { mas = 3 }", "did you mean 'mass'"),
        ("ragdoll = { mass = 0 }", "'mass' of the ragdoll must be kilograms"),
        ("ragdoll = { mass = \"x\" }", "'mass' of the ragdoll must be kilograms"),
        ("ragdoll = { strength = 1.5 }", "0 to 1, got 1.5"),
        ("ragdoll = { bones = 1 }", "a list of names"),
        ("ragdoll = { forward = [0, 0, 0] }", "a direction"),
        ("ragdoll = { limits = { a = { swing = 181 } } }", "degrees, 0 to 180"),
        ("ragdoll = { limits = { a = { angles = [0, 1] } } }", "'angles' without an 'axis'"),
        ("ragdoll = { limits = { a = { axis = [1, 0, 0] twist = 1 } } }", "it is a hinge"),
        ("ragdoll = { limits = { a = { axis = [1, 0, 0] angles = [9, 1] } } }", "lesser first"),
        ("ragdoll = { limits = { a = { axis = [0, 0, 0] } } }", "a direction, and not 0"),
        ("ragdoll = { limits = 1 }", "must be a block"),
        ("ragdoll = { shapes = { a = { length = 1 } } }", "'radius' of the shape of 'a'"),
        ("ragdoll = { shapes = { a = { radius = 0 } } }", "metres, 0.005 to 1000"),
    ] {
        let message = read(text).unwrap_err();
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn unknown_bones_and_models_without_size_are_refused_once() {
    let mut ragdolls = ModelRagdolls::default();
    let model = chain(&["hip", "chest", "head"]);
    let text = "ragdoll = { limits = { haed = { swing = 1 } } }";
    let description = Arc::new(read(text).unwrap().unwrap());
    for _ in 0..2 {
        let message = ragdolls.of(&model, Some(&description)).unwrap_err().message;
        assert!(message.contains("model 'chain'") && message.contains("'head'"), "{message}");
    }
    let message = ragdolls.of(&chain(&["hip"]), None).unwrap_err().message;
    assert!(message.contains("no size"), "{message}");
    let one = ragdolls.of(&model, None).unwrap();
    let same = ragdolls.of(&model, None).unwrap();
    assert!(Arc::ptr_eq(&one, &same));
}

/// A ragdoll with its pose.
struct Stage {
    model: Arc<AnimatedModel>,
    ragdoll: CharacterRagdoll,
    pose: Pose,
    matrices: Vec<ModelMatrix>,
    masks: Vec<BoneMask>,
}

impl Stage {
    fn new() -> Stage {
        let model = chain(&["hip", "chest", "head"]);
        let shared = ModelRagdolls::default().of(&model, None).unwrap();
        let masks = vec![BoneMask::new(&[0.0, 0.0, 1.0]), BoneMask::new(&[0.0, 0.5, 1.0])];
        Stage {
            ragdoll: CharacterRagdoll::new(shared),
            pose: model.rest.clone(),
            matrices: Vec::new(),
            model,
            masks,
        }
    }

    /// Takes weights of states, and evaluates a pose in which the chest is turned about x.
    fn step(&mut self, states: &[(Option<u16>, f32)], angle: f32) {
        let output = |(mask, weight): &(Option<u16>, f32)| RagdollOutput {
            layer: 0,
            mask: *mask,
            weight: *weight,
        };
        let outputs: Vec<RagdollOutput> = states.iter().map(output).collect();
        self.ragdoll.follow_machine(&outputs, &self.masks);
        self.ragdoll.begin_update(&self.pose, STEP);
        self.pose.clone_from(&self.model.rest);
        let mut chest = self.pose.transform(1);
        chest.rotation = Quat::from_rotation_x(angle);
        self.pose.set(1, &chest);
        model_matrices(&self.model.skeleton, &self.pose, &mut self.matrices);
        self.ragdoll.apply(&self.model.skeleton, &mut self.pose, &mut self.matrices);
        self.ragdoll.end_update(&self.model.skeleton, &mut self.pose, &mut self.matrices);
    }

    fn head(&mut self) -> Vec3 {
        let (skeleton, pose) = (&self.model.skeleton, &mut self.pose);
        ModelPose { skeleton, pose, matrices: &mut self.matrices }.origin(2)
    }
}

const FULL: &[(Option<u16>, f32)] = &[(None, 1.0)];

#[test]
fn the_motion_continues_where_the_ragdoll_of_a_state_begins() {
    let mut stage = Stage::new();
    stage.step(&[], 0.2);
    stage.step(&[], 0.25);
    let before = stage.head();
    stage.step(&[], 0.3);
    let last = stage.head();
    // The states have no clip any more: the animation is the rest pose.
    stage.step(FULL, 0.0);
    assert!(stage.ragdoll.changes.begins && stage.ragdoll.phase == Phase::Simulated);
    let next = stage.head();
    let (old, new) = (last - before, next - last);
    assert!(old.length() > 0.04 && (new - old).length() < 0.004, "{old} continues with {new}");
    let velocity = stage.ragdoll.velocities[2].linear;
    assert!((velocity - old / STEP).length() < 0.2, "{velocity}");
}

#[test]
fn states_select_bodies_by_masks() {
    use RagdollPart::{Absent, Driven, Simulated};
    let mut stage = Stage::new();
    stage.step(&[(Some(0), 1.0)], 0.1);
    assert_eq!(stage.ragdoll.parts, [Absent, Driven, Simulated]);
    assert!(!stage.ragdoll.is_full() && stage.ragdoll.moves(2) && !stage.ragdoll.moves(1));
    stage.ragdoll.changes = Default::default();
    stage.step(&[(Some(0), 1.0), (Some(1), 1.0)], 0.1);
    assert_eq!(stage.ragdoll.parts, [Driven, Simulated, Simulated]);
    assert!(stage.ragdoll.changes.begins, "more bodies begin");
    stage.step(FULL, 0.1);
    assert!(stage.ragdoll.is_full());
    stage.step(&[(None, 0.5)], 0.1);
    assert!(stage.ragdoll.changes.ends && matches!(stage.ragdoll.phase, Phase::Fading(_)));
    stage.step(&[(None, 0.6)], 0.1);
    assert!(stage.ragdoll.is_active(), "the state was entered again");
    stage.step(&[], 0.1);
    assert!(stage.ragdoll.phase == Phase::Animated && !stage.ragdoll.moves(2));
}

#[test]
fn a_ragdoll_that_failed_does_not_try_again_in_the_same_state() {
    let mut stage = Stage::new();
    stage.step(FULL, 0.0);
    (stage.ragdoll.phase, stage.ragdoll.failed) = (Phase::Animated, true);
    stage.step(FULL, 0.0);
    assert_eq!(stage.ragdoll.phase, Phase::Animated);
    stage.step(&[], 0.0);
    stage.step(FULL, 0.0);
    assert!(stage.ragdoll.is_active());
}

#[test]
fn scripts_have_precedence_over_states() {
    let mut stage = Stage::new();
    stage.step(&[], 0.1);
    stage.ragdoll.select(Some(&[2])).unwrap();
    let pose = stage.pose.clone();
    stage.ragdoll.begin_by_script(&pose);
    stage.step(FULL, 0.1);
    assert!(stage.ragdoll.driver == Driver::Script && !stage.ragdoll.is_full());
    assert!(stage.ragdoll.stop(1.0).unwrap());
    assert!(!stage.ragdoll.stop(1.0).unwrap());
    for _ in 0..65 {
        stage.step(&[], 0.1);
    }
    assert_eq!(stage.ragdoll.phase, Phase::Animated);
    stage.step(FULL, 0.1);
    assert!(stage.ragdoll.driver == Driver::StateMachine && stage.ragdoll.is_full());
    assert!(stage.ragdoll.stop(1.0).unwrap_err().message.contains("send it an event"));
}

#[test]
fn a_reload_keeps_ragdolls_of_the_same_bones() {
    let mut stage = Stage::new();
    stage.step(FULL, 0.1);
    stage.ragdoll.changes = Default::default();
    let mut ragdolls = ModelRagdolls::default();
    let same = ragdolls.of(&chain(&["hip", "chest", "head"]), None).unwrap();
    assert!(stage.ragdoll.replace(same) && stage.ragdoll.is_active());
    let other = chain(&["hip", "belly", "chest", "head"]);
    let shared = ragdolls.of(&other, None).unwrap();
    assert!(!stage.ragdoll.replace(shared));
    assert!(stage.ragdoll.changes.ends && !stage.ragdoll.is_active());
    // The state begins it again, with the new bones.
    stage.model = other;
    stage.masks = vec![BoneMask::new(&[0.0, 0.0, 0.0, 1.0])];
    stage.step(FULL, 0.1);
    assert_eq!((stage.ragdoll.parts.len(), stage.ragdoll.is_active()), (4, true));
}

#[test]
fn teleported_units_take_the_motion_along() {
    let mut stage = Stage::new();
    for angle in [0.1, 0.15] {
        stage.step(&[], angle);
    }
    stage.ragdoll.world.position = Vec3::new(100.0, 0.0, 0.0);
    stage.step(FULL, 0.0);
    assert!((stage.ragdoll.transforms[0].position.x - 100.0).abs() < 0.01);
    assert!(stage.ragdoll.velocities[2].linear.length() > 1.0);
    let mut still = Stage::new();
    still.step(&[], 0.0);
    still.ragdoll.world.position = Vec3::new(100.0, 0.0, 0.0);
    still.step(&[], 0.0);
    still.step(FULL, 0.0);
    assert_eq!(still.ragdoll.velocities[2].linear, Vec3::ZERO, "a teleport is no velocity");
}

#[test]
fn scales_are_checked() {
    let mut stage = Stage::new();
    stage.ragdoll.check_scale().unwrap();
    for scale in [[1.0, 2.0, 1.0], [0.0; 3], [-1.0; 3], [f32::NAN; 3], [f32::INFINITY; 3]] {
        stage.ragdoll.world.scale = Vec3::from_array(scale);
        assert!(stage.ragdoll.check_scale().is_err(), "{scale:?}");
        stage.step(FULL, 0.1);
        assert!(stage.head().is_finite() || !scale[0].is_finite());
    }
}

#[test]
fn the_hash_contains_phase_strength_and_roles() {
    let hash = |states: &[(Option<u16>, f32)], strength: f32| {
        let mut stage = Stage::new();
        stage.ragdoll.strength = strength;
        stage.step(states, 0.1);
        let mut hash = StateHash::new(0);
        stage.ragdoll.write_state(&mut hash);
        hash.finish()
    };
    let all = [
        hash(&[], 0.0),
        hash(FULL, 0.0),
        hash(FULL, 0.5),
        hash(&[(None, 0.5)], 0.0),
        hash(&[(Some(0), 1.0)], 0.0),
    ];
    let different: std::collections::HashSet<u64> = all.into_iter().collect();
    assert_eq!(different.len(), all.len());
    assert_eq!(hash(FULL, 0.0), all[1]);
}
