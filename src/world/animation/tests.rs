//! Tests of characters: layers, cross-fades, times, edited nodes and reload.

use super::*;
use crate::scene_graph::NO_NODE;
use crate::unit_resource::UnitResource;
use engine_animation::{
    ClipSettings, Pose, RootMotion, SourceClip, SourceInterpolation, SourceTrack, TrackProperty,
    compile,
};
use engine_foundation::hash::StateHash;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{HandleKind, Quat, Slots, Vec3};
use engine_models::data::{
    AnimationChannel, AnimationData, ChannelTarget, KeyInterpolation, ModelData, ModelNode,
};
use engine_resource::resource_kind::ResourceKinds;
use engine_resource::store::ResourceStore;

pub(super) fn node(name: &str, parent: Option<u32>) -> ModelNode {
    ModelNode {
        name: name.to_string(),
        parent,
        position: [0.0, 0.0, if parent.is_some() { 1.0 } else { 0.0 }],
        rotation: [0.0, 0.0, 0.0, 1.0],
        scale: [1.0; 3],
        mesh: None,
        camera: None,
        light: None,
        skin: None,
        extras: None,
    }
}

/// An animation that moves a node along x, from 0 to `distance` in one second.
pub(super) fn slide(name: &str, node: u32, distance: f32) -> AnimationData {
    let channel = AnimationChannel {
        node,
        track: ChannelTarget::Position,
        between: KeyInterpolation::Linear,
        times: vec![0.0, 1.0],
        values: vec![0.0, 0.0, 0.0, distance, 0.0, 0.0],
    };
    AnimationData { name: name.to_string(), channels: vec![channel] }
}

/// A model of three nodes in a chain, with these animations.
pub(super) fn model(animations: Vec<AnimationData>) -> Model {
    let nodes = vec![node("hip", None), node("chest", Some(0)), node("head", Some(1))];
    let mut data = ModelData { nodes, animations, ..ModelData::default() };
    compile_clips(&mut data).unwrap();
    Model { name: "rig".to_string(), data, meshes: vec![], materials: vec![] }
}

/// Models that clips are read from, and no other files.
pub(super) struct TestFiles {
    pub store: ResourceStore,
    pub models: Vec<Arc<Model>>,
}

impl TestFiles {
    pub(super) fn new(models: Vec<Model>) -> TestFiles {
        let models = models.into_iter().map(Arc::new).collect();
        TestFiles { store: ResourceStore::empty(ResourceKinds(&[])), models }
    }
}

impl ClipFiles for TestFiles {
    fn store(&mut self) -> &mut ResourceStore {
        &mut self.store
    }

    fn model(&mut self, name: &str) -> Result<Arc<Model>, Error> {
        let found = self.models.iter().find(|model| model.name == name);
        found.cloned().ok_or_else(|| error!("there is no model '{name}'"))
    }
}

/// A world with a character.
pub(super) struct Stage {
    pub animations: Animations,
    pub units: Units,
    pub world: WorldId,
    pub unit: UnitId,
    pub bodies: PhysicsTables,
    pub pool: TaskPool,
}

impl Stage {
    pub fn new() -> Stage {
        let clips = vec![slide("walk", 0, 1.0), slide("run", 0, 3.0), slide("nod", 2, 2.0)];
        Stage::of(AnimatedModel::read(&model(clips)).unwrap())
    }

    /// Creates a character of a model with the nodes of [`model`].
    pub fn of(shared: AnimatedModel) -> Stage {
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(()).unwrap());
        let names = ["root", "hip", "chest", "head"].map(str::to_string);
        let resource = Arc::new(UnitResource {
            name: "rig".to_string(),
            node_names: names.to_vec(),
            node_hashes: Vec::new(),
            parents: vec![NO_NODE, 0, 1, 2],
            poses: vec![NodePose::IDENTITY; 2]
                .into_iter()
                .chain([NodePose { position: Vec3::Z, ..NodePose::IDENTITY }; 2])
                .collect(),
            parts: Vec::new(),
            flow: None,
            body_hash: 0,
            data: SjsonTree::Object(Vec::new()),
            bases: Vec::new(),
            duplicate_names: Vec::new(),
            template: Default::default(),
        });
        let mut units = Units::default();
        let unit = units.spawn(world, &resource, &NodePose::IDENTITY).unwrap();
        let mut animations = Animations::default();
        let shared = Arc::new(shared);
        animations.models.insert(shared.name.clone(), shared.clone());
        let nodes = bone_nodes(&shared, &units, unit);
        animations.add(Character::new(unit, shared, nodes));
        units.scene.set_records_edits(unit.row(), true);
        let bodies = PhysicsTables::default();
        Stage { animations, units, world, unit, bodies, pool: TaskPool::new(Some(1)) }
    }

    pub fn play(&mut self, name: &str, options: PlayOptions) -> Result<u32, Error> {
        let character = self.animations.of_mut(self.unit.row()).unwrap();
        let clip = match character.model.position(name) {
            Some(clip) => clip,
            None => character.model.find_clip(name)?,
        };
        character.play(clip, options)
    }

    /// Plays a clip of a file.
    fn play_from(
        &mut self,
        files: &mut TestFiles,
        name: &str,
        options: PlayOptions,
    ) -> Result<u32, Error> {
        self.animations.clip("rig", name, files)?;
        self.play(name, options)
    }

    fn reload(&mut self, model: &Arc<Model>, files: &mut TestFiles) {
        let changed = ChangedClips { models: vec![model.clone()], animations: Vec::new() };
        self.animations.reload_clips(&changed, &self.units, files);
    }

    pub fn step(&mut self, seconds: f32) {
        let Stage { animations, units, bodies, pool, .. } = self;
        let step = AnimationStep { world: self.world, seconds, viewers: &[], waits: true };
        animations.update(step, units, bodies, pool).unwrap();
    }

    /// Returns the x position of a node relative to its parent.
    pub fn x(&self, node: usize) -> f32 {
        self.units.scene.local_position(self.unit.row(), node).x
    }

    pub fn character(&self) -> &Character {
        self.animations.of(self.unit.row()).unwrap()
    }
}

pub(super) const ONCE: PlayOptions =
    PlayOptions { layer: 0, blend: 0.0, loops: false, speed: 1.0, range: [0.0, 1.0], adds: false };

#[track_caller]
fn assert_near(actual: f32, expected: f32) {
    assert!((actual - expected).abs() < 2e-3, "{actual} is not {expected}");
}

#[test]
fn clips_move_nodes_and_hold_their_end() {
    let mut stage = Stage::new();
    let id = stage.play("walk", ONCE).unwrap();
    stage.step(0.25);
    assert_near(stage.x(1), 0.25);
    assert_eq!(stage.units.scene.local_position(stage.unit.row(), 2), Vec3::Z, "not animated");
    assert!(stage.character().is_playing(id));
    stage.step(5.0);
    assert_near(stage.x(1), 1.0);
    assert!(!stage.character().is_playing(id));
}

#[test]
fn loops_and_negative_speeds_stay_inside_the_range() {
    let mut stage = Stage::new();
    let looped = PlayOptions { loops: true, range: [0.25, 0.75], ..ONCE };
    stage.play("walk", looped).unwrap();
    stage.step(0.75);
    assert_near(stage.x(1), 0.5);
    stage.play("walk", PlayOptions { speed: -1.0, ..looped }).unwrap();
    stage.step(0.6);
    assert_near(stage.x(1), 0.65);
    for seconds in [0.0, -3.0, 1e9, f32::NAN, f32::INFINITY] {
        stage.step(seconds);
        let x = stage.x(1);
        assert!((0.24..=0.76).contains(&x), "{x} after a step of {seconds}");
    }
}

#[test]
fn cross_fades_mix_and_then_replace() {
    let mut stage = Stage::new();
    stage.play("walk", PlayOptions { speed: 0.0, ..ONCE }).unwrap();
    let run = PlayOptions { blend: 1.0, speed: 0.0, ..ONCE };
    let run = stage.play("run", run).unwrap();
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().set_clip_time(run, 1.0);
    stage.step(0.5);
    assert_near(stage.x(1), 1.5);
    stage.step(0.5);
    stage.step(0.0);
    assert_near(stage.x(1), 3.0);
    assert_eq!(stage.character().playing().len(), 1, "the covered clip has ended");
}

#[test]
fn upper_layers_move_only_the_bones_of_their_clips() {
    let mut stage = Stage::new();
    stage.play("walk", ONCE).unwrap();
    stage.play("nod", PlayOptions { layer: 3, ..ONCE }).unwrap();
    stage.step(0.5);
    assert_near(stage.x(1), 0.5);
    assert_near(stage.x(3), 1.0);
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().stop(Some(3), 0.0);
    stage.step(0.1);
    assert_near(stage.x(1), 0.6);
    assert_near(stage.x(3), 0.0);
}

#[test]
fn upper_layers_hold_bones_that_their_clips_key_at_rest() {
    let clips = vec![slide("walk", 0, 1.0), slide("hold", 0, 0.0)];
    let mut stage = Stage::of(AnimatedModel::read(&model(clips)).unwrap());
    stage.play("walk", ONCE).unwrap();
    stage.play("hold", PlayOptions { layer: 1, blend: 0.5, ..ONCE }).unwrap();
    stage.step(0.25);
    assert_near(stage.x(1), 0.125);
    stage.step(0.5);
    assert_near(stage.x(1), 0.0);
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().stop(Some(1), 0.0);
    stage.step(0.1);
    assert_near(stage.x(1), 0.85);
}

#[test]
fn bones_without_a_clip_keep_poses_set_by_scripts() {
    let mut stage = Stage::new();
    let row = stage.unit.row();
    stage.units.scene.set_local_position(row, 2, Vec3::new(7.0, 0.0, 1.0));
    stage.play("walk", ONCE).unwrap();
    stage.step(0.5);
    let matrix = &stage.character().matrices()[1].0;
    assert_near(matrix[0].0[3], 7.5);
    assert_near(stage.x(2), 7.0);
}

#[test]
fn limits_are_refused_by_name() {
    let mut stage = Stage::new();
    for _ in 0..PLAYING_MAX {
        stage.play("walk", PlayOptions { blend: 10.0, ..ONCE }).unwrap();
    }
    let message = stage.play("walk", ONCE).unwrap_err().message;
    assert!(message.contains("PLAYING_MAX"), "{message}");
    let layer = PlayOptions { layer: LAYERS_MAX as u8, ..ONCE };
    let message = stage.play("walk", layer).unwrap_err().message;
    assert!(message.contains("LAYERS_MAX"), "{message}");
    let message = stage.play("wlak", ONCE).unwrap_err().message;
    assert!(message.contains("did you mean 'walk'"), "{message}");
}

#[test]
fn a_reload_keeps_times_by_name_and_ends_removed_clips() {
    let mut stage = Stage::new();
    stage.play("walk", ONCE).unwrap();
    stage.play("nod", PlayOptions { layer: 1, ..ONCE }).unwrap();
    stage.step(0.5);
    let new = Arc::new(model(vec![slide("nod", 2, 4.0)]));
    stage.reload(&new, &mut TestFiles::new(Vec::new()));
    stage.step(0.0);
    let character = stage.character();
    assert_eq!(character.playing().len(), 1);
    assert_near(character.playing()[0].time, 0.5);
    assert_near(stage.x(3), 2.0);
}

/// A model with these animations, under another name, and with other bones below its root.
fn other_model(name: &str, animations: Vec<AnimationData>) -> Model {
    let mut nodes = vec![node("ground", None), node("hip", Some(0)), node("head", Some(1))];
    nodes[1].position = [0.0; 3];
    let mut data = ModelData { nodes, animations, ..ModelData::default() };
    compile_clips(&mut data).unwrap();
    Model { name: name.to_string(), data, meshes: vec![], materials: vec![] }
}

#[test]
fn clips_of_other_models_are_played_by_the_names_of_bones() {
    let mut stage = Stage::new();
    let orc = other_model("orc", vec![slide("walk", 1, 2.0), slide("fly", 0, 2.0)]);
    let mut files = TestFiles::new(vec![orc]);
    stage.play_from(&mut files, "orc#walk", ONCE).unwrap();
    stage.step(0.5);
    assert!(stage.x(1) > 0.4, "{}", stage.x(1));
    assert_eq!(stage.character().model.clips.len(), 4);
    stage.play_from(&mut files, "orc#walk", ONCE).unwrap();
    assert_eq!(stage.character().model.clips.len(), 4, "it is read once");
    let check = |stage: &mut Stage, files: &mut TestFiles, name: &str, wanted: &str| {
        let message = stage.play_from(files, name, ONCE).unwrap_err().message;
        assert!(message.contains(wanted), "{message}");
    };
    check(&mut stage, &mut files, "orc#wlak", "'orc' has no animation 'wlak', did you mean 'walk'");
    check(&mut stage, &mut files, "orc#fly", "does not fit the model 'rig': no animated bone");
    check(&mut stage, &mut files, "elf#fly", "there is no model 'elf'");
    check(&mut stage, &mut files, "wlak", "the model 'rig' has no animation 'wlak', did you mean");
}

#[test]
fn reloads_replace_clips_of_other_models_and_keep_their_times() {
    let mut stage = Stage::new();
    let mut files = TestFiles::new(vec![other_model("orc", vec![slide("walk", 1, 2.0)])]);
    stage.play_from(&mut files, "orc#walk", ONCE).unwrap();
    stage.step(0.5);
    let before = stage.x(1);
    let faster = other_model("orc", vec![slide("walk", 1, 4.0)]);
    let mut files = TestFiles::new(vec![faster]);
    let changed = files.models[0].clone();
    stage.reload(&changed, &mut files);
    stage.step(0.0);
    assert!((stage.x(1) - before * 2.0).abs() < 0.01, "{} {before}", stage.x(1));
    let mut files = TestFiles::new(vec![other_model("orc", vec![slide("run", 1, 1.0)])]);
    let changed = files.models[0].clone();
    stage.reload(&changed, &mut files);
    stage.step(0.25);
    assert_eq!(stage.character().playing().len(), 1, "it keeps the previous version");
    let own = Arc::new(model(vec![slide("walk", 0, 1.0)]));
    stage.reload(&own, &mut files);
    stage.step(0.0);
    assert_eq!(stage.character().model.clips.len(), 2);
    assert_near(stage.character().playing()[0].time, 0.75);
}

#[test]
fn machines_with_unknown_bones_of_constraints_are_refused() {
    let shared = Stage::new().character().model.clone();
    let refusal = |text: &str| {
        let text = format!("skeleton = \"rig\"\n{text}");
        let machine = engine_animation::compile_state_machine("rig.state_machine", &text).unwrap();
        let clips = (&shared, vec![0]);
        BoundMachine::new("rig", 0, machine, clips).map(drop).unwrap_err().message
    };
    let message = refusal(
        "constraints = { look = { type = \"aim\" bone = \"haed\" } }\n\
         layers = [ { states = { stand = { clip = \"walk\" constraints = [\"look\"] } } } ]",
    );
    assert!(message.contains("constraint 'look'"), "{message}");
    assert!(message.contains("did you mean 'head'"), "{message}");
}

#[test]
fn removed_characters_do_not_affect_others() {
    let mut stage = Stage::new();
    let resource = stage.units.of(stage.unit).resource.clone();
    let other = stage.units.spawn(stage.world, &resource, &NodePose::IDENTITY).unwrap();
    let shared = stage.character().model.clone();
    let nodes = bone_nodes(&shared, &stage.units, other);
    stage.animations.add(Character::new(other, shared, nodes));
    stage.animations.remove(stage.unit.row());
    stage.animations.remove(stage.unit.row());
    assert!(stage.animations.of(stage.unit.row()).is_none());
    assert_eq!(stage.animations.of(other.row()).map(|it| it.unit), Some(other));
    assert_eq!(stage.animations.count(), 1);
}

#[test]
fn the_state_hash_contains_times_and_fades() {
    let hash = |seconds: f32, speed: f32| {
        let mut stage = Stage::new();
        stage.play("walk", PlayOptions { speed, blend: 2.0, ..ONCE }).unwrap();
        stage.step(seconds);
        let mut hash = StateHash::new(0);
        stage.character().write_state(&mut hash);
        hash.finish()
    };
    assert_eq!(hash(0.5, 1.0), hash(0.5, 1.0));
    assert_ne!(hash(0.5, 1.0), hash(0.25, 1.0));
    assert_ne!(hash(0.5, 1.0), hash(0.5, 0.5));
}

#[test]
fn rotations_take_the_shorter_arc() {
    let mut data = model(vec![]).data;
    let turn = |angle: f32| Quat::from_rotation_x(angle).to_array();
    let mut values = turn(0.0).to_vec();
    values.extend(turn(1.0));
    data.animations = vec![AnimationData {
        name: "turn".to_string(),
        channels: vec![AnimationChannel {
            node: 1,
            track: ChannelTarget::Rotation,
            between: KeyInterpolation::Linear,
            times: vec![0.0, 1.0],
            values,
        }],
    }];
    compile_clips(&mut data).unwrap();
    let model = Model { name: "rig".to_string(), data, meshes: vec![], materials: vec![] };
    let shared = AnimatedModel::read(&model).unwrap();
    assert_eq!(shared.clips[0].bones, [1]);
    let mut player = engine_animation::ClipPlayer::new(&shared.clips[0].clip, &shared.skeleton);
    player.seek(&shared.clips[0].clip, 0.5);
    let mut pose = Pose::default();
    player.sample(&shared.rest, &mut pose);
    let expected = Quat::from_rotation_x(0.5);
    assert!(pose.transform(1).rotation.dot(expected).abs() > 0.99999);
}

#[test]
fn everything_that_affects_later_poses_is_hashed() {
    let hash = |change: &dyn Fn(&mut Stage)| {
        let mut stage = Stage::new();
        stage.play("walk", ONCE).unwrap();
        change(&mut stage);
        let mut hash = StateHash::new(0);
        stage.character().write_state(&mut hash);
        hash.finish()
    };
    let playing = |options: PlayOptions| {
        hash(&|stage| {
            stage.play("run", options).unwrap();
        })
    };
    let hashes = [
        hash(&|_| {}),
        hash(&|stage| stage.step(0.25)),
        hash(&|stage| stage.animations.of_mut(stage.unit.row()).unwrap().stop(None, 1.0)),
        hash(&|stage| stage.animations.of_mut(stage.unit.row()).unwrap().end_clip(1)),
        hash(&|stage| stage.animations.of_mut(stage.unit.row()).unwrap().simple = Some(1)),
        playing(ONCE),
        playing(PlayOptions { layer: 1, ..ONCE }),
        playing(PlayOptions { blend: 0.5, ..ONCE }),
        playing(PlayOptions { loops: true, ..ONCE }),
        playing(PlayOptions { speed: 2.0, ..ONCE }),
        playing(PlayOptions { range: [0.0, 0.5], ..ONCE }),
        playing(PlayOptions { adds: true, ..ONCE }),
    ];
    for (index, one) in hashes.iter().enumerate() {
        assert!(!hashes[..index].contains(one), "case {index}");
    }
    assert_eq!(playing(ONCE), playing(ONCE));
}

#[test]
fn a_character_in_a_reused_row_is_sent_after_its_evaluation() {
    let mut stage = Stage::new();
    stage.step(0.1);
    let row = stage.unit.row();
    let (model, nodes) = (stage.character().model.clone(), stage.character().nodes.clone());
    stage.animations.remove(row);
    stage.animations.add(Character::new(stage.unit, model, nodes));
    let mut sent = 0;
    stage.animations.take_changed(|_| sent += 1);
    assert_eq!(sent, 0);
    stage.step(0.1);
    stage.animations.take_changed(|_| sent += 1);
    assert_eq!(sent, 1);
}

/// A model with the clips "stroll", which walks one metre along y in a second, and "circle", which
/// also turns. Both have root motion.
pub(super) fn roaming() -> AnimatedModel {
    let mut shared = AnimatedModel::read(&model(vec![])).unwrap();
    for (name, angle) in [("stroll", 0.0), ("circle", 1.0)] {
        let track = |property, values: Vec<[f32; 4]>| SourceTrack {
            bone: 0,
            property,
            interpolation: SourceInterpolation::Linear,
            times: vec![0.0, 1.0],
            values,
        };
        let turn = Quat::from_rotation_z(angle).to_array();
        let tracks = vec![
            track(TrackProperty::Position, vec![[0.0; 4], [0.0, 1.0, 0.0, 0.0]]),
            track(TrackProperty::Rotation, vec![[0.0, 0.0, 0.0, 1.0], turn]),
        ];
        let settings = ClipSettings {
            looping: Some(true),
            root_motion: RootMotion::XyYaw,
            ..ClipSettings::DEFAULT
        };
        let source = SourceClip { seconds: 1.0, tracks };
        let clip = compile(&source, &shared.skeleton, &settings).unwrap().clip;
        shared.clips.push(Arc::new(NamedClip::new(name, clip, ClipOrigin::Own)));
    }
    shared
}

/// Plays a clip with root motion for a number of steps. Returns the pose of the unit.
fn roam(name: &str, options: PlayOptions, mode: RootMode, (steps, dt): (u32, f32)) -> NodePose {
    let mut stage = Stage::of(roaming());
    stage.animations.of_mut(stage.unit.row()).unwrap().root_mode = mode;
    stage.play(name, options).unwrap();
    for _ in 0..steps {
        stage.step(dt);
    }
    stage.units.scene.local(stage.unit.row(), 0)
}

#[test]
fn root_motion_moves_and_turns_units_at_any_frame_rate() {
    let looped = PlayOptions { loops: true, ..ONCE };
    let path =
        |mode, rate: f32| roam("circle", looped, mode, ((rate * 5.0) as u32, 1.0 / rate)).position;
    assert_eq!(roam("stroll", looped, RootMode::Ignore, (60, 0.1)), NodePose::IDENTITY);
    for rate in [10.0, 60.0, 144.0] {
        let moved = roam("stroll", looped, RootMode::Position, ((rate * 5.0) as u32, 1.0 / rate));
        assert!(moved.position.distance(Vec3::Y * 5.0) < 5e-3, "{moved:?} at {rate}");
        assert_eq!(moved.rotation, Quat::IDENTITY);
        let apart = path(RootMode::PositionAndRotation, rate)
            .distance(path(RootMode::PositionAndRotation, 30.0));
        assert!(apart < 5e-3, "{apart} m at {rate}");
    }
    let turned = roam("circle", looped, RootMode::PositionAndRotation, (100, 0.05)).rotation;
    assert!(turned.dot(Quat::from_rotation_z(5.0)).abs() > 0.9999, "{turned}");
    let once = roam("stroll", ONCE, RootMode::Position, (100, 0.05));
    assert!(once.position.distance(Vec3::Y) < 1e-3, "{once:?}");
}

#[test]
fn parts_of_clips_that_loop_move_by_their_parts() {
    let part = PlayOptions { loops: true, range: [0.25, 0.75], ..ONCE };
    for steps in [30, 7, 2] {
        let moved = roam("stroll", part, RootMode::Position, (steps, 3.0 / steps as f32));
        assert!(moved.position.distance(Vec3::Y * 3.0) < 5e-3, "{moved:?} in {steps} steps");
    }
    let back = PlayOptions { speed: -1.0, ..part };
    let moved = roam("stroll", back, RootMode::Position, (30, 0.1));
    assert!(moved.position.distance(Vec3::Y * -3.0) < 5e-3, "{moved:?}");
}

#[test]
fn jumps_in_time_and_invalid_times_do_not_move_units() {
    let mut stage = Stage::of(roaming());
    let row = stage.unit.row();
    stage.animations.of_mut(row).unwrap().root_mode = RootMode::Position;
    let id = stage.play("stroll", PlayOptions { loops: true, speed: 0.0, ..ONCE }).unwrap();
    stage.animations.of_mut(row).unwrap().set_clip_time(id, 0.75);
    stage.step(0.1);
    stage.animations.of_mut(row).unwrap().set_clip_time(id, f32::NAN);
    for seconds in [f32::NAN, f32::INFINITY, 0.0, -0.0] {
        stage.step(seconds);
    }
    assert_eq!(stage.units.scene.local(row, 0), NodePose::IDENTITY);
    stage.animations.of_mut(row).unwrap().set_clip_speed(id, 1.0);
    stage.units.scene.set_local_scale(row, 0, Vec3::splat(2.0));
    stage.step(0.5);
    let moved = stage.units.scene.local_position(row, 0);
    assert!(moved.distance(Vec3::Y) < 1e-3, "{moved}");
    stage.units.scene.set_local_scale(row, 0, Vec3::ZERO);
    stage.step(0.5);
    assert_eq!(stage.units.scene.local_position(row, 0), moved);
}

#[test]
fn reloads_keep_edits_by_name_and_take_poses_of_the_file() {
    let mut stage = Stage::new();
    stage.play("walk", ONCE).unwrap();
    stage.units.scene.set_local_position(stage.unit.row(), 2, Vec3::new(5.0, 0.0, 0.0));
    stage.step(0.5);
    assert_near(stage.x(1), 0.5);
    let mut new = model(Vec::new());
    new.data.nodes = vec![
        node("hip", None),
        node("spine", Some(0)),
        node("chest", Some(1)),
        ModelNode { position: [3.0, 0.0, 1.0], ..node("head", Some(2)) },
    ];
    stage.reload(&Arc::new(new), &mut TestFiles::new(Vec::new()));
    stage.step(0.0);
    assert_eq!(stage.x(1), 0.0, "no clip moves it any more");
    let (_, rig) = stage.animations.of_mut(stage.unit.row()).unwrap().ragdoll_and_pose();
    assert_eq!([2, 3].map(|bone| rig.pose.transform(bone).position.x), [5.0, 3.0]);
    let hash = |stage: &Stage| {
        let mut hash = StateHash::new(0);
        stage.character().write_state(&mut hash);
        hash.finish()
    };
    let before = hash(&stage);
    stage.units.scene.set_local_position(stage.unit.row(), 2, Vec3::X);
    stage.step(0.0);
    assert_ne!(hash(&stage), before, "poses of scripts are part of the state");
}
