//! Functions of `NavigationMesh` about flow fields: ways that many share.

use super::mesh::{MESH_ARG, OFF_MESH, snap};
use super::volumes::{of_mut, position};
use crate::api_row::{ModuleRows, NodeFlag, func, more};
use crate::argument::{PointList, TextArgument};
use engine_foundation::{Error, Vec3, error, suggest};
use engine_navigation::NavigationMeshId;
use engine_navigation::fields::FIELD_TARGETS_MAX;
use engine_navigation::grid::FLOW_FIELDS_MAX;
use engine_navigation::mesh::{NavigationMesh, NearestPolygon};
use engine_navigation::search::PartialReason;
use engine_runtime::Engine;

/// Default and highest factor of fields that lead away.
const FLEE_FACTOR: f64 = 1.2;
const FLEE_FACTOR_MAX: f64 = 10.0;

const NAME_ARG: (&str, &str) = ("name", "the name of a flow field");
const POSITION_ARG: (&str, &str) = ("position", "a point on the ground, or at most 2 metres away");

const REASON: &str = "reason nil, or why there is no way";

pub(super) const THREATS_ARG: (&str, &str) =
    ("threats", "the name of a flow field with targets: those from which one flees");
pub(super) const FACTOR_ARG: (&str, &str) = (
    "factor",
    "1 to 10, by default 1.2: a metre towards the threats is worth so many metres away from them; \
     with larger ones, those who flee pass the threats more often to get farther away",
);

pub static NAVIGATION_MESH: ModuleRows = more(
    "NavigationMesh",
    &[
        func(
            "set_targets",
            set_targets,
            &[
                MESH_ARG,
                NAME_ARG,
                (
                    "targets",
                    "points on the ground, or their coordinates: { x1, y1, z1, … }; { } removes \
                     the field",
                ),
            ],
            "Creates a flow field, or gives it other targets: the ways from all of the ground to \
             the nearest target, which are computed once for all who ask, and again when the mesh \
             has changed. Targets without ground do not count.",
        ),
        func(
            "set_flee",
            set_flee,
            &[MESH_ARG, NAME_ARG, THREATS_ARG, FACTOR_ARG],
            "Creates a flow field that leads away from the targets of another one, around corners \
             and past the threats if that is worth it, or changes it. It follows the targets of \
             the other field. `set_targets` with { } removes it.",
        ),
        func(
            "flow",
            flow,
            &[MESH_ARG, NAME_ARG, POSITION_ARG],
            "Returns the point to which one walks straight on the cheapest way to the nearest \
             target of a flow field: a corner, the end of a link at its start, or the target. \
             Returns nil and the reason, \"unreachable\" or \"off_mesh\", if no way leads to one. \
             A field that leads away ends at a position that it returns itself.",
        )
        .returns(&["point the next corner, or nil", REASON])
        .node(NodeFlag::Query),
        func(
            "distance",
            distance,
            &[MESH_ARG, NAME_ARG, POSITION_ARG],
            "Returns the cost of the cheapest way to the nearest target of a flow field, to a few \
             percent; nil and the reason, \"unreachable\" or \"off_mesh\", if there is none. \
             Raises an error for a field that leads away.",
        )
        .returns(&["cost in metres of ordinary ground", REASON])
        .node(NodeFlag::Query),
    ],
);

fn set_targets(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: TextArgument,
    targets: PointList,
) -> Result<(), Error> {
    let count = targets.0.len();
    if count > FIELD_TARGETS_MAX {
        return Err(error!(
            "argument #3 'targets' must have at most {FIELD_TARGETS_MAX} points \
             (FIELD_TARGETS_MAX), got {count}"
        ));
    }
    let targets = targets.0.into_iter().map(|point| position(point, "#3 'targets'"));
    let targets = targets.collect::<Result<Vec<Vec3>, Error>>()?;
    match of_mut(engine, mesh).set_targets(name.as_str(), targets) {
        true => Ok(()),
        false => Err(too_many_fields()),
    }
}

fn too_many_fields() -> Error {
    error!(
        "the mesh has {FLOW_FIELDS_MAX} flow fields (FLOW_FIELDS_MAX): remove one first, with \
         NavigationMesh.set_targets(mesh, name, {{}})"
    )
}

/// Returns how much a field leads away.
pub(super) fn factor(factor: Option<f64>) -> Result<f32, Error> {
    let factor = factor.unwrap_or(FLEE_FACTOR);
    if !(1.0..=FLEE_FACTOR_MAX).contains(&factor) {
        return Err(error!("argument #4 'factor' must be 1 to {FLEE_FACTOR_MAX}, got {factor}"));
    }
    Ok(factor as f32)
}

/// Checks that a field can lead away from another one. `threats_of` is the field that this one
/// leads away from, and `follower` one that leads away from the first.
pub(super) fn check_threats(
    name: &str,
    threats: &str,
    threats_of: Option<&str>,
    follower: Option<&str>,
) -> Result<(), Error> {
    if let Some(follower) = follower {
        return Err(error!(
            "argument #2 'name': the field '{follower}' leads away from the targets of '{name}', \
             which must keep them: use another name, or remove '{follower}' first"
        ));
    }
    if name == threats || threats_of.is_some() {
        return Err(error!(
            "argument #3 'threats': '{threats}' is no field with targets of its own"
        ));
    }
    Ok(())
}

fn set_flee(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: TextArgument,
    threats: TextArgument,
    rate: Option<f64>,
) -> Result<(), Error> {
    let rate = factor(rate)?;
    let mesh = of_mut(engine, mesh);
    let field = find_field(mesh, &threats, "#3 'threats'")?;
    let (name, threats) = (name.as_str(), threats.as_str());
    check_threats(name, threats, mesh.field_threats(field), mesh.follower_of(name))?;
    match mesh.set_flee(name, threats, rate) {
        true => Ok(()),
        false => Err(too_many_fields()),
    }
}

pub(super) fn find_field(
    mesh: &NavigationMesh,
    name: &TextArgument,
    argument: &str,
) -> Result<usize, Error> {
    let name = name.as_str();
    mesh.field(name).ok_or_else(|| {
        let hint = suggest::hint(name, mesh.field_names());
        error!(
            "argument {argument}: the mesh has no flow field '{name}'{hint}: create it with \
             NavigationMesh.set_targets"
        )
    })
}

/// Refuses the distance on a field that leads away.
pub(super) fn check_distance(name: &str, threats: Option<&str>) -> Result<(), Error> {
    match threats {
        Some(threats) => Err(error!(
            "argument #2 'name': the field '{name}' leads away: read the distance on '{threats}'"
        )),
        None => Ok(()),
    }
}

/// Returns the mesh with a field that is up to date, and the ground at a position, if there is any.
fn field<'a>(
    engine: &'a mut Engine,
    mesh: NavigationMeshId,
    name: &TextArgument,
    position: Vec3,
) -> Result<(&'a NavigationMesh, usize, Option<NearestPolygon>), Error> {
    let mesh = of_mut(engine, mesh);
    let field = find_field(mesh, name, "#2 'name'")?;
    let at = snap(mesh, position, "#3 'position'")?;
    if at.is_some() {
        mesh.update_field(field);
    }
    Ok((mesh, field, at))
}

/// Returns a result, or the reason why there is none.
fn or_reason<T>(is_on_mesh: bool, result: Option<T>) -> (Option<T>, Option<String>) {
    let reason = match (&result, is_on_mesh) {
        (Some(_), _) => None,
        (None, true) => Some(PartialReason::Unreachable.name().to_string()),
        (None, false) => Some(OFF_MESH.to_string()),
    };
    (result, reason)
}

fn flow(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: TextArgument,
    position: Vec3,
) -> Result<(Option<Vec3>, Option<String>), Error> {
    let (mesh, field, at) = field(engine, mesh, &name, position)?;
    Ok(or_reason(at.is_some(), at.and_then(|at| mesh.field_corner(field, at))))
}

fn distance(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: TextArgument,
    position: Vec3,
) -> Result<(Option<f64>, Option<String>), Error> {
    let (mesh, field, at) = field(engine, mesh, &name, position)?;
    check_distance(name.as_str(), mesh.field_threats(field))?;
    let distance = at.and_then(|at| mesh.field_distance(field, at)).map(f64::from);
    Ok(or_reason(at.is_some(), distance))
}
