//! The Lua module `Unit`: functions for the targets of constraints of state machines.

use super::state_machine::{index_of, machine, script_index, unknown};
use crate::api_row::{ModuleRows, func, more};
use crate::argument::{NameOrIndex, PointOrPose, TextArgument};
use engine_foundation::{Error, Mat4, Quat, error};
use engine_runtime::Engine;
use engine_world::animation::{CharacterMachine, IndexKind, WorldTarget};
use engine_world::scene_graph::NodePose;
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");
const TARGET_ARG: (&str, &str) = ("target", "the name of a target, or its index");

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "animation_has_constraint_target",
            animation_has_constraint_target,
            &[UNIT_ARG, ("target", "the name of a target")],
            "Returns true if constraints of the unit's state machine have a target of that name.",
        )
        .pure(),
        func(
            "animation_find_constraint_target",
            animation_find_constraint_target,
            &[UNIT_ARG, ("target", "the name of a target")],
            "Returns the index of a target of constraints, for \
             `Unit.animation_set_constraint_target`.",
        )
        .pure(),
        func(
            "animation_set_constraint_target",
            animation_set_constraint_target,
            &[
                UNIT_ARG,
                TARGET_ARG,
                (
                    "value",
                    "a position in the world, or a pose, whose rotation the end of a chain of two \
                     bones takes over; nil removes the target, and its constraints do nothing",
                ),
            ],
            "Sets a target of constraints of the unit's state machine. It stays where it is until \
             you set it again.",
        ),
        func(
            "animation_get_constraint_target",
            animation_get_constraint_target,
            &[UNIT_ARG, TARGET_ARG],
            "Returns the pose of a target of constraints in the world, or nil if it is not set. A \
             target that was set to a position has no rotation.",
        )
        .pure(),
    ],
);

fn target_names(machine: &CharacterMachine) -> impl Iterator<Item = &str> {
    machine.bound.constraints.targets().iter().map(String::as_str)
}

fn find_target(machine: &CharacterMachine, name: &str) -> Result<u16, Error> {
    let found = machine.bound.constraints.find_target(name);
    found.ok_or_else(|| {
        let error = unknown(machine, ("constraint target", name), target_names(machine));
        let constraints = machine.bound.machine.constraints();
        let constraint = constraints.iter().find(|constraint| constraint.name == name);
        match constraint.map(|constraint| constraint.target.as_deref()) {
            None => error,
            Some(None) => error!("{}: the constraint '{name}' has no target", error.message),
            Some(Some(target)) => {
                error!("{}: the constraint '{name}' has the target '{target}'", error.message)
            }
        }
    })
}

fn target_index(machine: &CharacterMachine, which: &NameOrIndex) -> Result<u16, Error> {
    index_of(machine, which, IndexKind::Target, find_target)
}

fn animation_has_constraint_target(
    engine: &mut Engine,
    unit: UnitId,
    target: TextArgument,
) -> Result<bool, Error> {
    Ok(machine(engine, unit)?.bound.constraints.find_target(target.as_str()).is_some())
}

fn animation_find_constraint_target(
    engine: &mut Engine,
    unit: UnitId,
    target: TextArgument,
) -> Result<u64, Error> {
    let machine = machine(engine, unit)?;
    let index = find_target(machine, target.as_str())?;
    Ok(script_index(machine, IndexKind::Target, index))
}

fn animation_set_constraint_target(
    engine: &mut Engine,
    unit: UnitId,
    target: NameOrIndex,
    value: Option<PointOrPose>,
) -> Result<(), Error> {
    let machine = machine(engine, unit)?;
    let index = target_index(machine, &target)?;
    let target = value.map(|value| match value {
        PointOrPose::Point(position) => WorldTarget { position, rotation: None },
        PointOrPose::Pose(matrix) => {
            let NodePose { position, rotation, .. } = NodePose::of(matrix);
            WorldTarget { position, rotation: Some(rotation) }
        }
    });
    machine.constraints.set_target(index, target);
    Ok(())
}

fn animation_get_constraint_target(
    engine: &mut Engine,
    unit: UnitId,
    target: NameOrIndex,
) -> Result<Option<Mat4>, Error> {
    let machine = machine(engine, unit)?;
    let index = target_index(machine, &target)?;
    let target = machine.constraints.target(index);
    Ok(target.map(|WorldTarget { position, rotation }| {
        Mat4::from_rotation_translation(rotation.unwrap_or(Quat::IDENTITY), position)
    }))
}
