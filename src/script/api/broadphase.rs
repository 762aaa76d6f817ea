//! The Lua module `Broadphase`: spatial queries in a grid for objects near a point, in a box, in a
//! camera's view, or on a ray. The queries are in the prelude (lua/world/broadphase.lua), around
//! the native parts at the end of this file.

use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{HandleNumber, Integer, RestArguments};
use crate::context;
use crate::value::ScriptValue;
use engine_foundation::{Error, Mat4, Vec2, Vec3};
use engine_runtime::Engine;
use engine_world::broadphase::{BROADPHASES_MAX, Broadphase, BroadphaseId, ENTRIES_MAX};
use engine_world::camera::CameraId;

const BROADPHASE_ARG: (&str, &str) = ("broadphase", "a broadphase");
const ID_ARG: (&str, &str) = ("id", "result of `Broadphase.add`");

pub static BROADPHASE: ModuleRows = module(
    "Broadphase",
    "Spheres in a grid, for fast queries of what is near: each one represents a unit, or any \
     number. Call `Broadphase.move` when an object moves. `Broadphase(cell_size)` creates a \
     broadphase.",
    r#"local near = Broadphase(5)
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
            &[
                ("cell_size", "metres, above 0: about the radius of most queries"),
                ("count", "number of entries to reserve memory for; none by default"),
                (
                    "categories",
                    "names of categories, or a table of them, which `add` and queries use; \
                     `Broadphase.add` can name others",
                ),
            ],
            "Creates an empty broadphase. `Broadphase(…)` is the same.",
        ),
        func(
            "destroy",
            destroy,
            &[BROADPHASE_ARG],
            "Destroys a broadphase. Its handle is stale afterwards.",
        )
        .when_full(),
        func("num", num, &[BROADPHASE_ARG], "Returns the number of spheres in a broadphase.")
            .pure(),
        func(
            "add",
            add,
            &[
                BROADPHASE_ARG,
                ("owner", "the value that queries return: a unit, or any number"),
                ("position", "center of its sphere"),
                ("radius", "radius of its sphere, zero or more"),
                (
                    "categories",
                    "names of categories, or a table of them, to which queries can be limited; \
                     all categories by default",
                ),
            ],
            "Adds an entry. Returns the id by which it is moved and removed.",
        ),
        hot(
            "move",
            move_entry,
            &[BROADPHASE_ARG, ID_ARG, ("position", "the new center of its sphere")],
            "Moves an entry.",
        ),
        func("remove", remove, &[BROADPHASE_ARG, ID_ARG], "Removes an entry.").when_full(),
    ],
);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = module(
    "Broadphase",
    "Native queries, for the prelude.",
    "assert(core == nil)",
    &[
        func("broadphase_all", all, &[("broadphase", "")], "Returns all owners.")
            .public_name("Broadphase.all")
            .pure(),
        func(
            "broadphase_query",
            query,
            &[("broadphase", ""), ("position", ""), ("radius", ""), ("categories", "")],
            "Returns the owners that overlap a sphere.",
        )
        .public_name("Broadphase.query")
        .pure(),
        func(
            "broadphase_box",
            query_box,
            &[("broadphase", ""), ("pose", ""), ("half", ""), ("categories", "")],
            "Returns the owners that overlap a box.",
        )
        .public_name("Broadphase.query_box")
        .pure(),
        func(
            "broadphase_frustum",
            query_frustum,
            &[("broadphase", ""), ("camera", ""), ("categories", "")],
            "Returns the owners in a camera's view.",
        )
        .public_name("Broadphase.query_frustum")
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
            "Returns the owners on a ray.",
        )
        .public_name("Broadphase.query_ray")
        .pure(),
    ],
);

fn of(engine: &mut Engine, broadphase: BroadphaseId) -> &mut Broadphase {
    engine
        .worlds
        .broadphases
        .get_mut(broadphase.0)
        .expect("the handle was checked where it came in")
}

fn new(
    engine: &mut Engine,
    cell_size: f64,
    count: Option<Integer>,
    categories: RestArguments,
) -> Result<BroadphaseId, Error> {
    if !(1e-3..=1e6).contains(&cell_size) {
        return Err(engine_foundation::error!(
            "argument #1 'cell_size' must be 0.001 to 1000000 metres, got {cell_size}"
        ));
    }
    let count = count.map_or(0, |count| count.0);
    if !(0..=ENTRIES_MAX as i64).contains(&count) {
        return Err(engine_foundation::error!(
            "argument #2 'count' must be 0 to {ENTRIES_MAX} (ENTRIES_MAX), got {count}"
        ));
    }
    let names = names(&categories.0, 3)?;
    let mut broadphase = Broadphase::new(cell_size as f32, count as usize);
    broadphase.mask(names.into_iter(), true)?;
    let Some(handle) = engine.worlds.broadphases.add(broadphase) else {
        return Err(engine_foundation::error!(
            "{BROADPHASES_MAX} broadphases already exist (BROADPHASES_MAX): destroy one first"
        ));
    };
    let known = engine.worlds.broadphases.get_mut(handle).expect("it was added");
    known.set_mark(handle.index() as u64);
    Ok(BroadphaseId(handle))
}

fn destroy(engine: &mut Engine, broadphase: BroadphaseId) {
    let frame = engine.frame.index;
    engine.worlds.broadphases.remove(broadphase.0, "", frame, &context::script_location());
}

fn num(engine: &mut Engine, broadphase: BroadphaseId) -> u64 {
    of(engine, broadphase).len() as u64
}

/// Minimum ratio of a box's volume to the product of its axis lengths. Below it, the axes are
/// almost in one plane.
const FLAT: f64 = 1e-6;
/// Maximum size in metres. No object is that large, and the square of this size is still finite.
const SIZE_MAX: f64 = 1e30;

fn not_negative(argument: &str, number: f64) -> Result<f32, Error> {
    match number {
        number if number < 0.0 => {
            Err(engine_foundation::error!("argument {argument} must not be negative, got {number}"))
        }
        number if number > SIZE_MAX => Err(engine_foundation::error!(
            "argument {argument} must be at most {SIZE_MAX:e}, got {number:e}"
        )),
        number => Ok(number as f32),
    }
}

/// Returns the names in a list of values, each of which is a name or a table of names.
fn names(values: &[ScriptValue], first: usize) -> Result<Vec<&str>, Error> {
    let wrong =
        |i: usize| engine_foundation::error!("argument #{} 'categories' must be names", i + first);
    let mut names = Vec::with_capacity(values.len());
    for (i, value) in values.iter().enumerate() {
        match value {
            ScriptValue::Text(name) => names.push(name.as_str()),
            ScriptValue::List(list) => {
                for item in list {
                    let ScriptValue::Text(name) = item else { return Err(wrong(i)) };
                    names.push(name.as_str());
                }
            }
            // An empty table, and nil after the last name.
            ScriptValue::Table(entries) if entries.is_empty() => {}
            ScriptValue::Nil if values[i..].iter().all(|value| *value == ScriptValue::Nil) => {}
            _ => return Err(wrong(i)),
        }
    }
    Ok(names)
}

fn add(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    owner: HandleNumber,
    position: Vec3,
    radius: f64,
    categories: RestArguments,
) -> Result<u64, Error> {
    let names = names(&categories.0, 5)?;
    let radius = not_negative("#4 'radius'", radius)?;
    let broadphase = of(engine, broadphase);
    let mask = broadphase.mask(names.into_iter(), true)?;
    Ok(broadphase.add(owner.0, position, radius, mask)? + 1)
}

fn id_of(id: Integer) -> Option<u64> {
    u64::try_from(id.0.checked_sub(1)?).ok()
}

#[cold]
fn no_such(id: Integer) -> Error {
    engine_foundation::error!(
        "argument #2 'id': the broadphase has no entry {}: it was removed, or is in another one",
        id.0
    )
}

fn move_entry(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    id: Integer,
    position: Vec3,
) -> Result<(), Error> {
    let is_known = id_of(id).is_some_and(|id| of(engine, broadphase).set_position(id, position));
    if is_known { Ok(()) } else { Err(no_such(id)) }
}

fn remove(engine: &mut Engine, broadphase: BroadphaseId, id: Integer) -> Result<(), Error> {
    let removed = id_of(id).is_some_and(|id| of(engine, broadphase).remove(id));
    if removed { Ok(()) } else { Err(no_such(id)) }
}

/// Returns the bits of the categories that a query names.
fn mask(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    categories: &RestArguments,
    first: usize,
) -> Result<u32, Error> {
    let names = names(&categories.0, first)?;
    of(engine, broadphase).mask(names.into_iter(), false)
}

fn list(owners: Vec<f64>) -> ScriptValue {
    ScriptValue::List(owners.into_iter().map(ScriptValue::Number).collect())
}

fn all(engine: &mut Engine, broadphase: BroadphaseId) -> ScriptValue {
    list(of(engine, broadphase).all())
}

fn query(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    position: Vec3,
    radius: f64,
    categories: RestArguments,
) -> Result<ScriptValue, Error> {
    let radius = not_negative("#3 'radius'", radius)?;
    let mask = mask(engine, broadphase, &categories, 5)?;
    Ok(list(of(engine, broadphase).in_sphere(position, radius, mask)))
}

fn query_box(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    pose: Mat4,
    half: Vec3,
    categories: RestArguments,
) -> Result<ScriptValue, Error> {
    if half.min_element() < 0.0 {
        return Err(engine_foundation::error!(
            "argument #3 'half' must have sizes of zero or more, got {half}"
        ));
    }
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate().as_dvec3());
    let room = axes[0].length() * axes[1].length() * axes[2].length();
    let volume = axes[0].cross(axes[1]).dot(axes[2]).abs();
    if volume <= room * FLAT {
        return Err(engine_foundation::error!(
            "argument #2 'pose' has no volume: one of its axes is zero or lies between the others \
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
    categories: RestArguments,
) -> Result<ScriptValue, Error> {
    let mask = mask(engine, broadphase, &categories, 4)?;
    let size = engine.devices.window.picture_size().max(Vec2::ONE);
    let camera = *engine.worlds.camera(camera);
    let depth = |point: Vec3| camera.inside_frustum(point, size);
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

/// Returns owners and distances, alternating.
fn query_ray(
    engine: &mut Engine,
    broadphase: BroadphaseId,
    from: Vec3,
    direction: Vec3,
    length: f64,
    categories: RestArguments,
) -> Result<ScriptValue, Error> {
    let length = not_negative("#4 'length'", length)?;
    let Some(direction) = direction.try_normalize() else {
        return Err(engine_foundation::error!("argument #3 'direction' must not be zero"));
    };
    let mask = mask(engine, broadphase, &categories, 6)?;
    let met = of(engine, broadphase).on_ray(from, direction, length, mask);
    Ok(list(met.into_iter().flat_map(|(owner, far)| [owner, f64::from(far)]).collect()))
}
