//! Tests of snapshots that are restored after a reload of a state machine, of a model, or of the
//! file of a unit: what has the same name is as in the snapshot, and everything else is current.

use super::crowd_tests::{Crowd, MACHINE};
use super::tests::{ONCE, Stage, model, slide};
use super::*;
use crate::scene_graph::NO_NODE;
use crate::unit_resource::UnitResource;
use engine_foundation::Vec3;
use engine_models::sprite_skeleton::{SpriteSkeletonData, SpriteSlot};

fn snapshot(stage: &mut Stage) -> AnimationSnapshot {
    let Stage { animations, units, world, bodies, .. } = stage;
    animations.snapshot(*world, units, bodies).unwrap()
}

fn restore(stage: &mut Stage, kept: &AnimationSnapshot) {
    let Stage { animations, units, bodies, .. } = stage;
    animations.restore(kept, units, bodies);
}

fn living(stage: &mut Stage) -> &mut Character {
    stage.animations.of_mut(stage.unit.row()).unwrap()
}

/// Replaces the model of a stage as a reload does.
fn replace_model(stage: &mut Stage, model: AnimatedModel) {
    let model = Arc::new(model);
    stage.animations.models.insert(model.name.clone(), model.clone());
    let nodes = bone_nodes(&model, &stage.units, stage.unit);
    living(stage).reload(&model, nodes);
}

#[test]
fn states_and_variables_return_to_a_reloaded_machine() {
    let mut crowd = Crowd::new(8, 1, &MACHINE.replace("FEET", "[\"feet\"]"));
    let unit = crowd.crowd[4];
    let machine = |crowd: &Crowd| {
        let machine = crowd.animations.of(unit.row()).unwrap().machine.as_ref().unwrap();
        let info = machine.state.layer_info(&machine.bound.machine, 0).unwrap();
        let (state, variable) = (info.state.to_string(), machine.state.variable(0));
        (state, info.time, variable, machine.constraints.target(0), machine.bound.clone())
    };
    let edit = |crowd: &mut Crowd, event: u16, speed: f32, target: Option<WorldTarget>| {
        let character = crowd.animations.of_mut(unit.row()).unwrap();
        let machine = character.machine.as_mut().unwrap();
        machine.send_event(event);
        machine.state.set_variable(&machine.bound.machine, 0, speed);
        machine.constraints.set_target(0, target);
    };
    let target = Some(WorldTarget { position: Vec3::new(1.0, 2.0, 3.0), rotation: None });
    edit(&mut crowd, 1, 3.0, target);
    (0..20).for_each(|_| crowd.step(0.1));
    let kept = crowd.animations.snapshot(crowd.world, &mut crowd.units, &crowd.bodies).unwrap();
    let before = machine(&crowd);
    edit(&mut crowd, 0, 1.0, None);
    crowd.step(0.1);
    let mut reloaded = (*before.4).clone();
    reloaded.number = 7;
    let reloaded = Arc::new(reloaded);
    crowd.animations.machines.insert(("rig".to_string(), "rig".to_string()), reloaded.clone());
    assert_ne!(machine(&crowd).0, before.0);
    let Crowd { animations, units, bodies, .. } = &mut crowd;
    animations.restore(&kept, units, bodies);
    let after = machine(&crowd);
    assert!(Arc::ptr_eq(&after.4, &reloaded));
    assert_eq!((&after.0, after.2, after.3), (&before.0, before.2, before.3));
    assert!((after.1 - before.1).abs() < 1e-5, "{} {}", after.1, before.1);
    crowd.step(0.1);
}

#[test]
fn weights_return_to_a_model_with_other_morph_targets() {
    let read = || AnimatedModel::read(&model(vec![slide("walk", 0, 1.0)])).unwrap();
    let morphs = |bone: u16, first: u16, name: &str| MeshMorphs {
        bone,
        mesh: None,
        first,
        names: vec![name.to_string()],
        rest: vec![0.0],
    };
    let one = AnimatedModel { morphs: vec![morphs(1, 0, "smile")], morph_bones: vec![1], ..read() };
    let mut stage = Stage::of(one);
    assert!(living(&mut stage).set_morph_weight(0, 0.75));
    let id = stage.play("walk", ONCE).unwrap();
    stage.step(0.25);
    let kept = snapshot(&mut stage);
    assert!(living(&mut stage).set_morph_weight(0, 0.5));
    let two = vec![morphs(0, 0, "frown"), morphs(1, 1, "smile")];
    let two = AnimatedModel { morphs: two, morph_bones: vec![0, 1], ..read() };
    replace_model(&mut stage, two.clone());
    stage.step(0.25);
    restore(&mut stage, &kept);
    let weights = |stage: &Stage| [0, 1].map(|target| stage.character().morph_weight(target));
    assert_eq!(weights(&stage), [Some(0.0), Some(0.75)]);
    assert_eq!(stage.character().clip(id).map(|clip| clip.time), Some(0.25));
    stage.step(0.25);
    // Further reloads find weights of the right number.
    replace_model(&mut stage, AnimatedModel { morphs: Vec::new(), ..two });
    stage.step(0.25);
    restore(&mut stage, &kept);
    stage.step(0.25);
    assert_eq!(weights(&stage), [None, None]);
}

#[test]
fn values_return_to_a_skeleton_with_other_slots() {
    let slot = |name: &str| SpriteSlot {
        name: name.to_string(),
        bone: 1,
        color: [1.0; 4],
        part: 0,
        parts: Vec::new(),
    };
    let read = |names: &[&str]| {
        let slots = names.iter().map(|name| slot(name)).collect();
        let (pixels_per_metre, upright, skins) = (10.0, true, Vec::new());
        let sprites = SpriteSkeletonData { pixels_per_metre, upright, slots, skins };
        let mut model = model(vec![slide("walk", 0, 1.0)]);
        model.data.sprite_skeleton = Some(Arc::new(sprites));
        AnimatedModel::read(&model).unwrap()
    };
    let mut stage = Stage::of(read(&["body", "hat"]));
    let red_of_hat = |slot: u16| slot * 5;
    assert!(living(&mut stage).set_morph_weight(red_of_hat(1), 0.25));
    stage.step(0.25);
    let kept = snapshot(&mut stage);
    assert!(living(&mut stage).set_morph_weight(red_of_hat(1), 0.5));
    replace_model(&mut stage, read(&["cape", "body", "hat"]));
    restore(&mut stage, &kept);
    let character = stage.character();
    assert_eq!(character.slot_values().len(), 3 * 6, "there are values for each slot");
    assert_eq!(character.morph_weight(red_of_hat(2)), Some(0.25));
    assert_eq!(character.matrices().len(), character.model.skeleton.bone_count());
    stage.step(0.25);
    replace_model(&mut stage, read(&["hat"]));
    stage.step(0.25);
}

/// Spawns the unit of a stage again, from a file with another node before the others.
fn respawn(stage: &mut Stage) {
    let Stage { animations, units, unit, .. } = stage;
    let (unit, row) = (*unit, unit.row());
    let old = units.of(unit).resource.clone();
    let names = ["root", "hat", "hip", "chest", "head"].map(str::to_string);
    let at = |x: f32, z: f32| NodePose { position: Vec3::new(x, 0.0, z), ..NodePose::IDENTITY };
    let resource = Arc::new(UnitResource {
        name: old.name.clone(),
        node_names: names.to_vec(),
        node_hashes: Vec::new(),
        parents: vec![NO_NODE, 0, 0, 2, 3],
        // The file moves the chest.
        poses: vec![at(0.0, 0.0), at(9.0, 0.0), at(0.0, 0.0), at(4.0, 1.0), at(0.0, 1.0)],
        parts: Vec::new(),
        flow: None,
        body_hash: 1,
        data: old.data.clone(),
        bases: Vec::new(),
        duplicate_names: Vec::new(),
        template: Default::default(),
    });
    let model = animations.of(row).unwrap().model.clone();
    animations.remove(row);
    units.scene.remove(row);
    units.scene.add(row, &resource.parents, &resource.poses).unwrap();
    units.slots.get_mut(unit.0).unwrap().resource = resource.clone();
    let mut character = Character::new(unit, model.clone(), bone_nodes(&model, units, unit));
    take_poses(&mut character, &resource, None);
    (character.detail.near, character.detail.size) = (30.0, 0.5);
    character.set_bone_sets(&Arc::new(vec![vec!["chest".to_string()]]));
    animations.add(character);
    units.scene.set_records_edits(row, true);
}

#[test]
fn characters_keep_the_nodes_and_fields_of_a_respawned_unit() {
    let mut stage = Stage::new();
    let row = stage.unit.row();
    living(&mut stage).detail.near = 5.0;
    living(&mut stage).detail.level = Some(0);
    let id = stage.play("walk", PlayOptions { loops: true, ..ONCE }).unwrap();
    stage.units.scene.set_local_position(row, 3, Vec3::new(0.0, 7.0, 1.0));
    stage.step(0.25);
    let kept = snapshot(&mut stage);
    stage.step(0.25);
    respawn(&mut stage);
    stage.step(0.25);
    restore(&mut stage, &kept);
    for seconds in [0.0, 0.25] {
        stage.step(seconds);
        let positions = [1, 2, 3, 4].map(|node| stage.units.scene.local_position(row, node));
        let [hat, hip, chest, head] = positions;
        let x = 0.25 + seconds;
        assert_eq!(hat, Vec3::X * 9.0, "no animation moves the new node");
        assert!((hip.x - x).abs() < 2e-3, "{hip} at {x}");
        assert_eq!(chest, Vec3::new(4.0, 0.0, 1.0), "the pose of the file");
        assert_eq!(head, Vec3::new(0.0, 7.0, 1.0), "the pose of the script");
    }
    let character = stage.character();
    assert!(character.is_playing(id));
    let LevelOfDetail { near, size, level, .. } = character.detail;
    assert_eq!((near, size, level), (30.0, 0.5, Some(0)));
    assert!(character.bone_sets.is_some() && character.machine.is_none());
    // A script that sets a node sets that of the same name.
    stage.units.scene.set_local_position(row, 4, Vec3::new(0.0, 8.0, 1.0));
    stage.step(0.0);
    assert_eq!(stage.character().base_pose(2).position.y, 8.0);
}
