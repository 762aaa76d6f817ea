//! The Lua module `Joint`: connections between two actors. `PhysicsWorld.create_joint` creates a
//! joint; units have the joints that their files list.

use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{MaybeHandle, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3};
use engine_physics::{JointKind, JointState, POSITION_MAX, SPEED_MAX};
use engine_runtime::Engine;
use engine_world::physics::{ActorId, Joint, JointId, check_position};
use engine_world::unit::UnitId;

/// Maximum force of a motor, in newtons or newton metres.
const FORCE_MAX: f64 = 1.0e30;

const JOINT_ARG: (&str, &str) = ("joint", "a joint");

pub static JOINT: ModuleRows = module(
    "Joint",
    "A joint connects two actors, or one actor and the world. It breaks when its load exceeds its \
     limits. Its handle then stays valid, but the joint holds nothing.",
    r#"local world = Application.new_world()
local physics = World.physics_world(world)
local lamp = PhysicsWorld.spawn_sphere(physics, Vector3(0, 0, 2), 0.2)
local rope = PhysicsWorld.create_joint(physics, "rope", lamp, nil,
  { position = Vector3(0, 0, 2), other_position = Vector3(0, 0, 3), length = 1.5 })
for _ = 1, 120 do World.update(world, 1 / 60) end
assert(not Joint.is_broken(rope) and Actor.position(lamp).z > 1.4)
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[("joint", "a number that may be the handle of a joint; nil and false are none")],
            "Returns true if the handle refers to an existing joint, broken or not. Never raises \
             for a stale handle.",
        )
        .pure(),
        func(
            "is_broken",
            is_broken,
            &[JOINT_ARG],
            "Returns true if a joint is broken, or one of its actors was destroyed.",
        )
        .pure(),
        func("actor_1", actor_1, &[JOINT_ARG], "Returns the first actor of a joint.").pure(),
        func(
            "actor_2",
            actor_2,
            &[JOINT_ARG],
            "Returns the second actor of a joint, or nil if it is the world.",
        )
        .pure(),
        func(
            "value",
            value,
            &[JOINT_ARG],
            "Returns the value of a joint: the angle of a hinge in radians, or the position of a \
             slider or wheel along its axis in metres. Both are 0 where the joint was created. For \
             a rope, spring or mouse joint, returns the distance between its ends. For a pulley, \
             returns the length of its rope that is in use. Returns 0 for a broken joint.",
        )
        .pure(),
        func(
            "velocity",
            velocity,
            &[JOINT_ARG],
            "Returns the rate of change of a joint's value, in radians or metres per second. \
             Returns 0 for a broken joint.",
        )
        .pure(),
        func(
            "force",
            force,
            &[JOINT_ARG],
            "Returns the force that a joint held in the last step, in newtons. For a pulley, this \
             is the force in the first part of its rope.",
        )
        .pure(),
        func(
            "torque",
            torque,
            &[JOINT_ARG],
            "Returns the torque that a joint held in the last step, in newton metres.",
        )
        .pure(),
        func(
            "break_force",
            break_force,
            &[JOINT_ARG],
            "Returns the force that breaks a joint, in newtons; nil if no force does.",
        )
        .pure(),
        func(
            "break_torque",
            break_torque,
            &[JOINT_ARG],
            "Returns the torque that breaks a joint, in newton metres; nil if no torque does.",
        )
        .pure(),
        func(
            "set_break_force",
            set_break_force,
            &[JOINT_ARG, ("force", "newtons; if left out, no force breaks it")],
            "Sets the force that breaks a joint.",
        ),
        func(
            "set_break_torque",
            set_break_torque,
            &[JOINT_ARG, ("torque", "newton metres; if left out, no torque breaks it")],
            "Sets the torque that breaks a joint.",
        ),
        func(
            "set_motor",
            set_motor,
            &[
                JOINT_ARG,
                ("speed", "radians or metres per second; if left out, the joint moves freely"),
                ("max_force", "maximum torque or force, in newton metres or newtons"),
            ],
            "Sets the motor of a hinge, a slider or a wheel. A wheel turns counterclockwise with a \
             positive speed.",
        ),
        func(
            "set_limits",
            set_limits,
            &[
                JOINT_ARG,
                (
                    "least",
                    "lower limit, in radians or metres; if both are left out, the joint is \
                     unlimited",
                ),
                ("most", "upper limit, in radians or metres"),
            ],
            "Sets the limits of a hinge, or of the position of a slider or a wheel.",
        ),
        func(
            "set_target",
            set_target,
            &[JOINT_ARG, ("target", "the point in the world to which the joint pulls its actor")],
            "Moves the target of a mouse joint, for example to the cursor, and wakes the actor.",
        ),
    ],
);

/// Native functions on which the prelude's functions of `Unit` are built.
pub static UNIT_CORE: ModuleRows = module(
    "Unit",
    "Native functions on the joints of units, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "joint",
            unit_joint,
            &[("unit", "a unit"), ("name", "a name")],
            "Returns a joint of a unit.",
        )
        .pure(),
        func(
            "joint_limits",
            limits,
            &[JOINT_ARG],
            "Returns the lower and the upper limit, as a list.",
        )
        .public_name("Joint.limits")
        .pure(),
        func(
            "joint_motor",
            motor,
            &[JOINT_ARG],
            "Returns the speed and the force of the motor, as a list.",
        )
        .public_name("Joint.motor")
        .pure(),
        func(
            "pulley_lengths",
            lengths,
            &[JOINT_ARG],
            "Returns the lengths of the two parts of a pulley's rope, as a list.",
        )
        .public_name("Joint.lengths")
        .pure(),
    ],
);

fn alive(engine: &mut Engine, joint: MaybeHandle) -> bool {
    joint.handle().is_some_and(|handle| engine.worlds.physics.joints.get(handle).is_some())
}

fn of(engine: &Engine, joint: JointId) -> Joint {
    *engine.worlds.physics.joints.get(joint.0).expect("the handle was checked where it came in")
}

fn is_broken(engine: &mut Engine, joint: JointId) -> bool {
    let known = of(engine, joint);
    !engine.worlds.physics.world(known.physics).simulation.contains_joint(known.simulation_joint)
}

fn live_actor(engine: &Engine, actor: ActorId) -> Option<ActorId> {
    engine.worlds.physics.actors.get(actor.0).map(|_| actor)
}

fn actor_1(engine: &mut Engine, joint: JointId) -> Option<ActorId> {
    live_actor(engine, of(engine, joint).actors.0)
}

fn actor_2(engine: &mut Engine, joint: JointId) -> Option<ActorId> {
    live_actor(engine, of(engine, joint).actors.1?)
}

fn state(engine: &Engine, joint: JointId) -> JointState {
    let nothing = JointState { value: 0.0, velocity: 0.0, force: 0.0, torque: 0.0 };
    engine.worlds.physics.joint_state(joint).unwrap_or(nothing)
}

fn value(engine: &mut Engine, joint: JointId) -> f64 {
    state(engine, joint).value.into()
}

fn velocity(engine: &mut Engine, joint: JointId) -> f64 {
    state(engine, joint).velocity.into()
}

fn force(engine: &mut Engine, joint: JointId) -> f64 {
    state(engine, joint).force.into()
}

fn torque(engine: &mut Engine, joint: JointId) -> f64 {
    state(engine, joint).torque.into()
}

fn set_break(
    engine: &mut Engine,
    joint: JointId,
    force: Option<f64>,
    torque: Option<f64>,
) -> Result<(), Error> {
    for limit in [force, torque].into_iter().flatten() {
        if limit <= 0.0 {
            return Err(engine_foundation::error!(
                "what breaks a joint must be above 0, got {limit}"
            ));
        }
    }
    let known = of(engine, joint);
    let [force, torque] = [force, torque].map(|limit| limit.map(|limit| limit as f32));
    engine.worlds.physics.world_mut(known.physics).simulation.set_break(
        known.simulation_joint,
        force,
        torque,
    );
    Ok(())
}

fn set_break_force(engine: &mut Engine, joint: JointId, force: Option<f64>) -> Result<(), Error> {
    let (_, torque) = break_limits(engine, joint);
    set_break(engine, joint, force, torque)
}

fn set_break_torque(engine: &mut Engine, joint: JointId, torque: Option<f64>) -> Result<(), Error> {
    let (force, _) = break_limits(engine, joint);
    set_break(engine, joint, force, torque)
}

fn break_force(engine: &mut Engine, joint: JointId) -> Option<f64> {
    break_limits(engine, joint).0
}

fn break_torque(engine: &mut Engine, joint: JointId) -> Option<f64> {
    break_limits(engine, joint).1
}

fn break_limits(engine: &Engine, joint: JointId) -> (Option<f64>, Option<f64>) {
    let known = of(engine, joint);
    let (force, torque) =
        engine.worlds.physics.world(known.physics).simulation.break_limits(known.simulation_joint);
    (force.map(f64::from), torque.map(f64::from))
}

/// Returns the error for a joint without an axis.
fn no_axis(kind: JointKind) -> Error {
    let name = JointKind::NAMES[kind as usize];
    engine_foundation::error!(
        "the joint is a {name}, and only a hinge, a slider or a wheel has an axis"
    )
}

fn set_motor(
    engine: &mut Engine,
    joint: JointId,
    speed: Option<f64>,
    max_force: Option<f64>,
) -> Result<(), Error> {
    let motor = match (speed, max_force) {
        (None, _) => None,
        (Some(speed), _) if speed.abs() > f64::from(SPEED_MAX) => {
            return Err(engine_foundation::error!(
                "argument #2 'speed' must be at most {SPEED_MAX} a second (SPEED_MAX), got {speed}"
            ));
        }
        (Some(speed), Some(force)) if (0.0..=FORCE_MAX).contains(&force) => {
            Some([speed as f32, force as f32])
        }
        _ => {
            return Err(engine_foundation::error!(
                "argument #3 'max_force' must be given with a speed, and be 0 to {FORCE_MAX:e}"
            ));
        }
    };
    let known = of(engine, joint);
    let simulation = &mut engine.worlds.physics.world_mut(known.physics).simulation;
    match simulation.set_motor(known.simulation_joint, known.kind, motor) {
        true => Ok(()),
        false => Err(no_axis(known.kind)),
    }
}

fn set_limits(
    engine: &mut Engine,
    joint: JointId,
    least: Option<f64>,
    most: Option<f64>,
) -> Result<(), Error> {
    let limits = match (least, most) {
        (Some(least), Some(most)) => Some([least, most]),
        (None, None) => None,
        _ => {
            return Err(engine_foundation::error!(
                "arguments #2 'least' and #3 'most' must both be given, or none of them"
            ));
        }
    };
    if let Some([least, most]) = limits {
        if least > most {
            return Err(engine_foundation::error!(
                "argument #2 'least' must not be more than 'most', {most}"
            ));
        }
        if least.abs().max(most.abs()) > f64::from(POSITION_MAX) {
            return Err(engine_foundation::error!(
                "the limits must be at most {POSITION_MAX} to either side, got {least} and {most}"
            ));
        }
    }
    let known = of(engine, joint);
    let limits = limits.map(|limits| limits.map(|limit| limit as f32));
    let simulation = &mut engine.worlds.physics.world_mut(known.physics).simulation;
    match simulation.set_limits(known.simulation_joint, known.kind, limits) {
        true => Ok(()),
        false => Err(no_axis(known.kind)),
    }
}

fn set_target(engine: &mut Engine, joint: JointId, target: Vec3) -> Result<(), Error> {
    let known = of(engine, joint);
    if known.kind != JointKind::Mouse {
        let name = JointKind::NAMES[known.kind as usize];
        return Err(engine_foundation::error!(
            "the joint is a {name}, and only a mouse joint has a target"
        ));
    }
    check_position(target)?;
    engine
        .worlds
        .physics
        .world_mut(known.physics)
        .simulation
        .set_joint_target(known.simulation_joint, target);
    Ok(())
}

fn pair(numbers: Option<[f32; 2]>) -> ScriptValue {
    let numbers = numbers.into_iter().flatten();
    ScriptValue::List(numbers.map(|number| ScriptValue::Number(number.into())).collect())
}

fn limits(engine: &mut Engine, joint: JointId) -> ScriptValue {
    let known = of(engine, joint);
    pair(
        engine
            .worlds
            .physics
            .world(known.physics)
            .simulation
            .limits(known.simulation_joint, known.kind),
    )
}

fn motor(engine: &mut Engine, joint: JointId) -> ScriptValue {
    let known = of(engine, joint);
    pair(
        engine
            .worlds
            .physics
            .world(known.physics)
            .simulation
            .motor(known.simulation_joint, known.kind),
    )
}

fn lengths(engine: &mut Engine, joint: JointId) -> ScriptValue {
    pair(engine.worlds.physics.pulley_lengths(joint))
}

fn unit_joint(engine: &mut Engine, unit: UnitId, name: TextArgument) -> Option<JointId> {
    engine.worlds.physics.unit_joint(unit, name.as_str())
}
