//! `Joint`: what holds two actors together. `PhysicsWorld.create_joint` makes one; units have those
//! that their files list.

use crate::engine::Engine;
use crate::foundation::{Error, Handle};
use crate::script::arg::{AnyNumber, Text};
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::physics::{JointKind, JointState, PLACE_MAX, SPEED_MAX};
use crate::world::physics::{ActorId, Joint, JointId};
use crate::world::unit::UnitId;

/// Newtons, or newton metres, of a motor.
const FORCE_MAX: f64 = 1.0e30;

const JOINT_ARG: (&str, &str) = ("joint", "a joint");

pub static JOINT: Module = module(
    "Joint",
    "A joint holds two actors together, or one and the world. It breaks when it has to hold more \
     than it can; then its handle stays, and holds nothing.",
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
            &[("joint", "a number that may be a joint's handle")],
            "Whether the handle leads to a joint that is there, broken or not. Never raises for a \
             stale handle.",
        )
        .pure(),
        func("is_broken", is_broken, &[JOINT_ARG], "Whether it broke, or one of its actors ended.")
            .pure(),
        func("actor_1", actor_1, &[JOINT_ARG], "The first actor that it holds.").pure(),
        func("actor_2", actor_2, &[JOINT_ARG], "The second; nil where that is the world.").pure(),
        func(
            "value",
            value,
            &[JOINT_ARG],
            "Of a hinge its angle in radians and of a slider its way in metres, both 0 where it \
             was made; of a rope or spring how far its ends are apart. 0 of a broken one.",
        )
        .pure(),
        func(
            "velocity",
            velocity,
            &[JOINT_ARG],
            "How fast its value grows: radians or metres a second. 0 of a broken one.",
        )
        .pure(),
        func("force", force, &[JOINT_ARG], "Newtons that it held in the last step.").pure(),
        func("torque", torque, &[JOINT_ARG], "Newton metres that it held in the last step.").pure(),
        func("break_force", break_force, &[JOINT_ARG], "Newtons that break it; nil if none do.")
            .pure(),
        func(
            "break_torque",
            break_torque,
            &[JOINT_ARG],
            "Newton metres that break it; nil if none do.",
        )
        .pure(),
        func(
            "set_break_force",
            set_break_force,
            &[JOINT_ARG, ("force", "newtons; if left out, no force breaks it")],
            "Sets what breaks it, in place of what broke it before.",
        ),
        func(
            "set_break_torque",
            set_break_torque,
            &[JOINT_ARG, ("torque", "newton metres; if left out, no torque breaks it")],
            "The same for what turns it.",
        ),
        func(
            "set_motor",
            set_motor,
            &[
                JOINT_ARG,
                ("speed", "radians or metres a second; if left out, it moves freely"),
                ("max_force", "newton metres or newtons that it has for that"),
            ],
            "Has a hinge turn, or a slider move.",
        ),
        func(
            "set_limits",
            set_limits,
            &[
                JOINT_ARG,
                ("least", "radians or metres; if both are left out, nothing limits it"),
                ("most", "radians or metres"),
            ],
            "Sets how far a hinge turns, or a slider moves.",
        ),
    ],
);

/// What the prelude's functions of `Unit` stand on.
pub static UNIT_CORE: Module = module(
    "Unit",
    "Joints of units, for the prelude.",
    "assert(core == nil)",
    &[
        func("joint", unit_joint, &[("unit", "a unit"), ("name", "a name")], "One of them.").pure(),
        func("joint_limits", limits, &[JOINT_ARG], "Least and most, as a list.")
            .told_as("Joint.limits")
            .pure(),
        func("joint_motor", motor, &[JOINT_ARG], "Speed and force, as a list.")
            .told_as("Joint.motor")
            .pure(),
    ],
);

fn alive(engine: &mut Engine, joint: AnyNumber) -> bool {
    Handle::from_number(joint.0).is_some_and(|handle| engine.physics.joints.get(handle).is_some())
}

fn of(engine: &Engine, joint: JointId) -> Joint {
    *engine.physics.joints.get(joint.0).expect("the handle was checked where it came in")
}

fn is_broken(engine: &mut Engine, joint: JointId) -> bool {
    let known = of(engine, joint);
    !engine.physics.world(known.physics).simulation.holds(known.hold)
}

fn living(engine: &Engine, actor: ActorId) -> Option<ActorId> {
    engine.physics.actors.get(actor.0).map(|_| actor)
}

fn actor_1(engine: &mut Engine, joint: JointId) -> Option<ActorId> {
    living(engine, of(engine, joint).actors.0)
}

fn actor_2(engine: &mut Engine, joint: JointId) -> Option<ActorId> {
    living(engine, of(engine, joint).actors.1?)
}

fn state(engine: &Engine, joint: JointId) -> JointState {
    let nothing = JointState { value: 0.0, velocity: 0.0, force: 0.0, torque: 0.0 };
    engine.physics.joint_state(joint).unwrap_or(nothing)
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
            return Err(crate::error!("what breaks a joint must be above 0, got {limit}"));
        }
    }
    let known = of(engine, joint);
    let [force, torque] = [force, torque].map(|limit| limit.map(|limit| limit as f32));
    engine.physics.world_mut(known.physics).simulation.set_break(known.hold, force, torque);
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
    let (force, torque) = engine.physics.world(known.physics).simulation.break_limits(known.hold);
    (force.map(f64::from), torque.map(f64::from))
}

/// # Errors
/// It is neither a hinge nor a slider.
fn no_axis(kind: JointKind) -> Error {
    let name = JointKind::NAMES[kind as usize];
    crate::error!("the joint is a {name}, and only a hinge or a slider has an axis")
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
            return Err(crate::error!(
                "argument #2 'speed' must be at most {SPEED_MAX} a second (SPEED_MAX), got {speed}"
            ));
        }
        (Some(speed), Some(force)) if (0.0..=FORCE_MAX).contains(&force) => {
            Some([speed as f32, force as f32])
        }
        _ => {
            return Err(crate::error!(
                "argument #3 'max_force' must be said with a speed, and be 0 to {FORCE_MAX:e}"
            ));
        }
    };
    let known = of(engine, joint);
    let simulation = &mut engine.physics.world_mut(known.physics).simulation;
    match simulation.set_motor(known.hold, known.kind, motor) {
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
            return Err(crate::error!(
                "arguments #2 'least' and #3 'most' must be said both, or none of them"
            ));
        }
    };
    if let Some([least, most]) = limits {
        if least > most {
            return Err(crate::error!("argument #2 'least' must not be more than 'most', {most}"));
        }
        if least.abs().max(most.abs()) > f64::from(PLACE_MAX) {
            return Err(crate::error!(
                "the limits must be at most {PLACE_MAX} to either side, got {least} and {most}"
            ));
        }
    }
    let known = of(engine, joint);
    let limits = limits.map(|limits| limits.map(|limit| limit as f32));
    let simulation = &mut engine.physics.world_mut(known.physics).simulation;
    match simulation.set_limits(known.hold, known.kind, limits) {
        true => Ok(()),
        false => Err(no_axis(known.kind)),
    }
}

fn pair(numbers: Option<[f32; 2]>) -> Value {
    let numbers = numbers.into_iter().flatten();
    Value::List(numbers.map(|number| Value::Number(number.into())).collect())
}

fn limits(engine: &mut Engine, joint: JointId) -> Value {
    let known = of(engine, joint);
    pair(engine.physics.world(known.physics).simulation.limits(known.hold, known.kind))
}

fn motor(engine: &mut Engine, joint: JointId) -> Value {
    let known = of(engine, joint);
    pair(engine.physics.world(known.physics).simulation.motor(known.hold, known.kind))
}

fn unit_joint(engine: &mut Engine, unit: UnitId, name: Text) -> Option<JointId> {
    engine.physics.unit_joint(unit, name.as_str())
}
