//! `Broadphase`: what is near, in a box, in a camera's sight or on a ray, found in a grid. The
//! questions are the prelude's (lua/broadphase.lua), around the native parts at the end of this
//! file.

use crate::engine::Engine;
use crate::foundation::{Error, Mat4, Vec2, Vec3};
use crate::script::arg::{AnyNumber, Integer, Rest};
use crate::script::cx;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::world::broadphase::{BROADPHASES_MAX, Broadphase, BroadphaseId};
use crate::world::camera::CameraId;

const BROADPHASE_ARG: (&str, &str) = ("broadphase", "a broadphase");
const ID_ARG: (&str, &str) = ("id", "what `Broadphase.add` returned");

pub static BROADPHASE: Module = module(
    "Broadphase",
    "Balls in a grid, to find fast what is near: units, or whatever numbers stand for. What moves \
     is told so. `Broadphase.new(cell_size)` makes one.",
    r#"local near = Broadphase.new(5)
local id = Broadphase.add(near, 7, Vector3(1, 2, 0), 0.5, "enemy")
local found = {}
assert(Broadphase.query(near, Vector3(0, 0, 0), 3, found, "enemy") == 1 and found[1] == 7)
Broadphase.move(near, id, Vector3(100, 0, 0))
assert(Broadphase.query(near, Vector3(0, 0, 0), 3, found) == 0)
Broadphase.destroy(near)"#,
    &[
        func(
            "new",
            new,
            &[("cell_size", "metres, above 0: about as far as is looked around")],
            "Makes an empty one.",
        ),
        func("destroy", destroy, &[BROADPHASE_ARG], "Ends one. Its handle is stale from then on.")
            .when_full(),
        func("num", num, &[BROADPHASE_ARG], "How many balls are in it.").pure(),
        func(
            "add",
            add,
            &[
                BROADPHASE_ARG,
                ("owner", "what is found: a unit, or any number"),
                ("position", "the middle of its ball"),
                ("radius", "of its ball, zero or more"),
                ("categories", "names by which it can be looked for; by every one if none"),
            ],
            "Adds something: returns the number by which it is moved and removed.",
        ),
        hot(
            "move",
            place,
            &[BROADPHASE_ARG, ID_ARG, ("position", "where its middle is from now on")],
            "Moves something.",
        ),
        func("remove", remove, &[BROADPHASE_ARG, ID_ARG], "Takes something out.").when_full(),
    ],
);

/// What the prelude's functions stand on. They are in its table `core`.
pub static CORE: Module = module(
    "Broadphase",
    "Questions, for the prelude.",
    "assert(core == nil)",
    &[
        func("broadphase_all", all, &[("broadphase", "")], "All owners.")
            .told_as("Broadphase.all")
            .pure(),
        func(
            "broadphase_query",
            query,
            &[("broadphase", ""), ("position", ""), ("radius", ""), ("categories", "")],
            "In a ball.",
        )
        .told_as("Broadphase.query")
        .pure(),
        func(
            "broadphase_box",
            query_box,
            &[("broadphase", ""), ("pose", ""), ("half", ""), ("categories", "")],
            "In a box.",
        )
        .told_as("Broadphase.query_box")
        .pure(),
        func(
            "broadphase_frustum",
            query_frustum,
            &[("broadphase", ""), ("camera", ""), ("categories", "")],
            "In a camera's sight.",
        )
        .told_as("Broadphase.query_frustum")
        .pure(),
        func(
            "broadphase_ray",
            query_ray,
            &[
                ("broadphase", ""),
                ("from", ""),
                ("direction", ""),
                ("length", ""),
                ("categories", ""),
            ],
            "On a ray.",
        )
        .told_as("Broadphase.query_ray")
        .pure(),
    ],
);

fn of(engine: &mut Engine, broadphase: BroadphaseId) -> &mut Broadphase {
    engine.broadphases.get_mut(broadphase.0).expect("the handle was checked where it came in")
}

fn new(engine: &mut Engine, cell_size: f64) -> Result<BroadphaseId, Error> {
    if !(1e-3..=1e6).contains(&cell_size) {
        return Err(crate::error!(
            "argument #1 'cell_size' must be 0.001 to 1000000 metres, got {cell_size}"
        ));
    }
    let Some(made) = engine.broadphases.add(Broadphase::new(cell_size as f32)) else {
        return Err(crate::error!(
            "{BROADPHASES_MAX} broadphases are there already (BROADPHASES_MAX): destroy one first"
        ));
    };
    let known = engine.broadphases.get_mut(made).expect("it was added");
    known.set_mark(made.index() as u64);
    Ok(BroadphaseId(made))
}

fn destroy(engine: &mut Engine, broadphase: BroadphaseId) {
    let frame = engine.frame.index;
    engine.broadphases.remove(broadphase.0, "", frame, &cx::place());
}

fn num(engine: &mut Engine, broadphase: BroadphaseId) -> f64 {
    of(engine, broadphase).len() as f64
}

/// What is left of a box, at least, where its axes lean to each other.
const FLAT: f64 = 1e-6;
/// Metres: nothing is that large, and its square is still a number.
const SIZE_MAX: f64 = 1e30;

fn not_negative(argument: &str, number: f64) -> Result<f32, Error> {
    match number {
        number if number < 0.0 => {
            Err(crate::error!("argument {argument} must not be negative, got {number}"))
        }
        number if number > SIZE_MAX => {
            Err(crate::error!("argument {argument} must be at most {SIZE_MAX:e}, got {number:e}"))
        }
        number => Ok(number as f32),
    }
}

/// The names in a list of values.
fn names<'a>(values: &'a [Value], first: usize) -> Result<Vec<&'a str>, Error> {
    let name = |(i, value): (usize, &'a Value)| match value {
        Value::Text(name) => Ok(name.as_str()),
        _ => Err(crate::error!("argument #{} 'categories' must be names", i + first)),
    };
    values.iter().enumerate().map(name).collect()
}

fn add(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    owner: AnyNumber,
    position: Vec3,
    radius: f64,
    categories: Rest,
) -> Result<f64, Error> {
    let names = names(&categories.0, 5)?;
    let radius = not_negative("#4 'radius'", radius)?;
    let broadphase = of(engine, broadphase);
    let mask = broadphase.mask(names.into_iter(), true)?;
    Ok(broadphase.add(owner.0, position, radius, mask)? as f64 + 1.0)
}

fn id_of(id: Integer) -> Option<u64> {
    u64::try_from(id.0.checked_sub(1)?).ok()
}

#[cold]
fn no_such(id: Integer) -> Error {
    crate::error!(
        "argument #2 'id': nothing of the number {} is in the broadphase: it was removed, or is in \
         another one",
        id.0
    )
}

fn place(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    id: Integer,
    position: Vec3,
) -> Result<(), Error> {
    let placed = id_of(id).is_some_and(|id| of(engine, broadphase).place(id, position));
    if placed { Ok(()) } else { Err(no_such(id)) }
}

fn remove(engine: &mut Engine, broadphase: BroadphaseId, id: Integer) -> Result<(), Error> {
    let removed = id_of(id).is_some_and(|id| of(engine, broadphase).remove(id));
    if removed { Ok(()) } else { Err(no_such(id)) }
}

/// The bits of the categories that a question names.
fn mask(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    categories: &Rest,
    first: usize,
) -> Result<u32, Error> {
    let names = names(&categories.0, first)?;
    of(engine, broadphase).mask(names.into_iter(), false)
}

fn list(owners: Vec<f64>) -> Value {
    Value::List(owners.into_iter().map(Value::Number).collect())
}

fn all(engine: &mut Engine, broadphase: BroadphaseId) -> Value {
    list(of(engine, broadphase).all())
}

fn query(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    position: Vec3,
    radius: f64,
    categories: Rest,
) -> Result<Value, Error> {
    let radius = not_negative("#3 'radius'", radius)?;
    let mask = mask(engine, broadphase, &categories, 5)?;
    Ok(list(of(engine, broadphase).in_ball(position, radius, mask)))
}

fn query_box(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    pose: Mat4,
    half: Vec3,
    categories: Rest,
) -> Result<Value, Error> {
    if half.min_element() < 0.0 {
        return Err(crate::error!(
            "argument #3 'half' must have sizes of zero or more, got {half}"
        ));
    }
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate().as_dvec3());
    let room = axes[0].length() * axes[1].length() * axes[2].length();
    let volume = axes[0].cross(axes[1]).dot(axes[2]).abs();
    if volume <= room * FLAT {
        return Err(crate::error!(
            "argument #2 'pose' has no room: one of its axes is zero or lies between the others \
             (a box that is flat has a size of 0 in 'half')"
        ));
    }
    let mask = mask(engine, broadphase, &categories, 5)?;
    Ok(list(of(engine, broadphase).in_box(pose, half, mask)))
}

fn query_frustum(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    camera: CameraId,
    categories: Rest,
) -> Result<Value, Error> {
    let mask = mask(engine, broadphase, &categories, 4)?;
    let size = engine.window.logical().max(Vec2::ONE);
    let camera = *engine.camera(camera);
    let aspect = size.x / size.y;
    let depth = |point: Vec3| camera.inside_frustum(point, aspect);
    let corner =
        |x: f32, y: f32, far: f32| camera.screen_to_world(Vec2::new(x, y) * size, far, size);
    let ends = [camera.near, camera.far];
    let corners = ends.into_iter().flat_map(|far| {
        [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(|(x, y)| corner(x, y, far))
    });
    let bounds = corners.map(|at| (at, at)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let bounds = bounds.expect("there are eight corners");
    Ok(list(of(engine, broadphase).in_frustum(bounds, mask, depth)))
}

/// Owners and distances in turn.
fn query_ray(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    from: Vec3,
    direction: Vec3,
    length: f64,
    categories: Rest,
) -> Result<Value, Error> {
    let length = not_negative("#4 'length'", length)?;
    let Some(direction) = direction.try_normalize() else {
        return Err(crate::error!("argument #3 'direction' must not be zero"));
    };
    let mask = mask(engine, broadphase, &categories, 6)?;
    let met = of(engine, broadphase).on_ray(from, direction, length, mask);
    Ok(list(met.into_iter().flat_map(|(owner, far)| [owner, f64::from(far)]).collect()))
}
