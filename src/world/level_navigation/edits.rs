//! Changes by hand in the navigation of a level: areas, blockers, links and seed points. Each says
//! what it did, or why it did nothing.

use super::LevelPart;
use super::shapes::upright_shape;
use crate::navigation_file::{
    AgentClass, EditShape, FIRST_NAMED_AREA, JumpEdit, LinkEdit, LinkEnds, VolumeEdit,
};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec3, suggest};
use engine_navigation::bake::{AreaShape, NULL_AREA};
use engine_navigation::jumps::{JumpSettings, LINKS_MAX};
use engine_navigation::mesh::NavigationMesh;
use engine_navigation::volumes::VOLUMES_MAX;

/// Distance within which ground is searched for messages, in metres.
const NEAR_MAX: f32 = 50.0;
/// Largest coordinate of a volume in metres.
const COORDINATE_MAX: f32 = 1e6;

/// Report of an edit by hand: its effect, or why it has none.
#[derive(Clone, PartialEq, Debug)]
pub struct EditReport {
    /// `"volume"`, `"blocker"`, `"link"`, `"jumps"`, `"platform"` or `"seed"`.
    pub kind: &'static str,
    /// Name in the file; the number of a seed.
    pub name: String,
    /// Name of the level whose file has the edit.
    pub level: String,
    pub message: String,
    pub has_effect: bool,
    /// Number of the volume or link in the mesh.
    pub number: Option<u32>,
}

impl std::fmt::Display for EditReport {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        let EditReport { kind, name, message, .. } = self;
        write!(out, "{kind} '{name}' {message}")
    }
}

/// Edits of a mesh, whose results are known when the mesh has been built.
#[derive(Default)]
pub struct EditPlan {
    pub reports: Vec<EditReport>,
    /// Ends of links, by report.
    links: Vec<(usize, [Vec3; 2])>,
    seeds: Vec<(usize, Vec3)>,
    /// Links that were found and added.
    pub found_links: Vec<JumpSettings>,
}

/// Adds the volumes, links and seeds of levels to a mesh.
pub fn apply_edits(
    mesh: &mut NavigationMesh,
    class: &AgentClass,
    areas: &[(String, f32)],
    parts: &[LevelPart],
) -> EditPlan {
    let mut plan = EditPlan::default();
    let applies = |classes: &[String]| classes.is_empty() || classes.contains(&class.name);
    for part in parts {
        for edit in part.file.volumes.iter().filter(|edit| applies(&edit.classes)) {
            let kind = if edit.area.is_some() { "volume" } else { "blocker" };
            let (message, number) = add_volume(mesh, edit, areas, part);
            plan.note(kind, &edit.name, part, message, number);
        }
        for edit in part.file.links.iter().filter(|edit| applies(&edit.classes)) {
            plan.add_link(mesh, edit, part);
        }
        for (seed, at) in part.file.seeds.iter().zip(1..) {
            let at: usize = at;
            let seed = part.transform.to_world(*seed);
            plan.note("seed", &at.to_string(), part, Ok(String::new()), None);
            plan.seeds.push((plan.reports.len() - 1, seed));
        }
    }
    plan
}

/// Returns why a point has no ground, for messages.
fn no_ground(mesh: &NavigationMesh, point: Vec3) -> String {
    match mesh.nearest(point, NEAR_MAX, NEAR_MAX) {
        Some(near) => format!(
            "the nearest ground is {:.1} m away, at {}",
            near.position.distance(point),
            shown(near.position)
        ),
        None => format!("and none within {NEAR_MAX} m"),
    }
}

fn shown(point: Vec3) -> String {
    format!("({:.1}, {:.1}, {:.1})", point.x, point.y, point.z)
}

fn unknown(
    part: &LevelPart,
    kind: &str,
    name: &str,
    known: &mut dyn Iterator<Item = &str>,
) -> String {
    let hint = suggest::hint(name, known);
    format!("does nothing: the level \"{}\" has no {kind} '{name}'{hint}", part.resource.name)
}

/// Adds a volume. Returns what it did, or why it does nothing, and its number.
fn add_volume(
    mesh: &mut NavigationMesh,
    edit: &VolumeEdit,
    areas: &[(String, f32)],
    part: &LevelPart,
) -> (Result<String, String>, Option<u32>) {
    let volumes = &part.resource.volumes;
    let volume = match &edit.shape {
        EditShape::Own(volume) => volume,
        EditShape::OfLevel(name) => match volumes.iter().find(|(known, _)| known == name) {
            Some((_, volume)) => volume,
            None => {
                let mut known = volumes.iter().map(|(known, _)| known.as_str());
                return (Err(unknown(part, "volume", name, &mut known)), None);
            }
        },
    };
    let area = edit.area.as_ref().map(|name| {
        let found = areas.iter().position(|(known, _)| known == name);
        let index = found.expect("the file and its areas were checked");
        (name, FIRST_NAMED_AREA + index as u8, mesh.area_cost(FIRST_NAMED_AREA + index as u8))
    });
    let (shape, note) = upright_shape(volume, &part.transform, area.is_none());
    let note = note.map_or_else(String::new, |note| format!("; {note}, is used"));
    let (low, high) = shape.bounds();
    if !low.iter().chain(&high).all(|number| number.abs() <= COORDINATE_MAX) {
        let message = format!(
            "does nothing: a part of it is farther than {COORDINATE_MAX} m from the origin"
        );
        return (Err(message), None);
    }
    let number = area.map_or(NULL_AREA, |(_, number, _)| number);
    let ground = mesh.ground_inside(&shape, number);
    let missing = (ground <= 0.0).then(|| middle(&shape)).map(|at| no_ground(mesh, at));
    let Some(id) = mesh.add_volume(shape, number) else {
        let message = format!(
            "does nothing: the mesh has {VOLUMES_MAX} volumes (VOLUMES_MAX), and no room for more"
        );
        return (Err(message), None);
    };
    let message = match (missing, area) {
        (Some(missing), _) => {
            Err(format!("does nothing: there is no ground inside it: {missing}{note}"))
        }
        (None, Some((name, number, cost))) => Ok(format!(
            "gives about {ground:.1} m² the area '{name}' (number {number}, cost {cost}){note}"
        )),
        (None, None) => Ok(format!(
            "blocks about {ground:.1} m², with the radius of the characters around it{note}"
        )),
    };
    (message, Some(id))
}

/// Adds links that were found, also to a list. Returns what came of it.
fn add_found(
    mesh: &mut NavigationMesh,
    links: Vec<JumpSettings>,
    list: &mut Vec<JumpSettings>,
) -> Result<String, String> {
    let count = links.len();
    if count == 0 {
        return Err("does nothing: no edge has other ground within its distance and heights, \
                    with room for a jump, and without a short way on foot"
            .to_string());
    }
    let two_way = links.iter().filter(|link| link.is_two_way).count();
    let before = list.len();
    list.extend(links.into_iter().map_while(|link| {
        mesh.add_found_link(link.clone())?;
        Some(link)
    }));
    let added = list.len() - before;
    let of_limit = match added < count {
        true => format!(", of {count}: the mesh has {LINKS_MAX} links (LINKS_MAX)"),
        false => String::new(),
    };
    let plural = if added == 1 { "" } else { "s" };
    Ok(format!("adds {added} link{plural}, {two_way} of them two-way{of_limit}"))
}

fn middle(shape: &AreaShape) -> Vec3 {
    let (low, high) = shape.bounds();
    (Vec3::from(low) + Vec3::from(high)) * 0.5
}

impl EditPlan {
    fn note(
        &mut self,
        kind: &'static str,
        name: &str,
        part: &LevelPart,
        message: Result<String, String>,
        number: Option<u32>,
    ) {
        let has_effect = message.is_ok();
        self.reports.push(EditReport {
            kind,
            name: name.to_string(),
            level: part.resource.name.clone(),
            message: message.unwrap_or_else(|message| message),
            has_effect,
            number,
        });
    }

    fn add_link(&mut self, mesh: &mut NavigationMesh, edit: &LinkEdit, part: &LevelPart) {
        let splines = &part.resource.splines;
        let ends = match &edit.ends {
            LinkEnds::Own(from, to) => Ok([*from, *to]),
            LinkEnds::OfSpline(name) => match splines.iter().find(|(known, _)| known == name) {
                Some((_, spline)) => {
                    let points = &spline.points;
                    Ok([points[0], points[points.len() - 1]])
                }
                None => {
                    let mut known = splines.iter().map(|(known, _)| known.as_str());
                    Err(unknown(part, "spline", name, &mut known))
                }
            },
        };
        let ends = match ends {
            Ok(ends) => ends.map(|end| part.transform.to_world(end)),
            Err(message) => return self.note("link", &edit.name, part, Err(message), None),
        };
        let number = mesh.add_link(JumpSettings {
            name: edit.link_name.clone(),
            from: ends[0],
            to: ends[1],
            cost: edit.cost.unwrap_or_else(|| ends[0].distance(ends[1])),
            is_two_way: edit.is_two_way,
            is_manual: edit.is_manual,
        });
        if number.is_none() {
            let message = format!(
                "does nothing: the mesh has {LINKS_MAX} links (LINKS_MAX), and no room for more"
            );
            return self.note("link", &edit.name, part, Err(message), None);
        }
        self.note("link", &edit.name, part, Ok(String::new()), number);
        self.links.push((self.reports.len() - 1, ends));
    }

    /// Finds the jumps of a mesh that has been built, and adds them as links.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn add_jumps(
        &mut self,
        mesh: &mut NavigationMesh,
        class: &AgentClass,
        parts: &[LevelPart],
        pool: &TaskPool,
    ) -> Result<(), Error> {
        for part in parts {
            let applies =
                |edit: &&JumpEdit| edit.classes.is_empty() || edit.classes.contains(&class.name);
            for edit in part.file.jumps.iter().filter(applies) {
                mesh.update_hierarchy(pool)?;
                let message = match mesh.find_jumps(&edit.rules, pool) {
                    Ok(links) => add_found(mesh, links, &mut self.found_links),
                    Err(error) => Err(format!("does nothing: {}", error.message)),
                };
                self.note("jumps", &edit.name, part, message, None);
                let failure = mesh.rebuild(pool)?.and_then(|renumbering| renumbering.failure);
                if let Some(failure) = failure {
                    return Err(failure);
                }
            }
        }
        Ok(())
    }

    /// Sets the seeds of a mesh that has been built, and notes what links and seeds did.
    pub fn finish(&mut self, mesh: &mut NavigationMesh) {
        let found: Vec<Result<f32, String>> = self
            .seeds
            .iter()
            .map(|(_, seed)| match mesh.seed_ground(*seed) {
                Some(_) => Ok(0.0),
                None => Err(format!(
                    "does nothing: there is no ground at {}: {}",
                    shown(*seed),
                    no_ground(mesh, *seed)
                )),
            })
            .collect();
        self.note_links(mesh);
        if self.seeds.is_empty() {
            return;
        }
        let before: f32 = ground_of(mesh);
        mesh.set_seeds(self.seeds.iter().map(|(_, seed)| *seed).collect());
        let after: f32 = ground_of(mesh);
        for ((report, seed), found) in self.seeds.iter().zip(found) {
            let report = &mut self.reports[*report];
            (report.has_effect, report.message) = match found {
                Ok(_) => (
                    true,
                    format!(
                        "at {} keeps what can be reached: of {before:.1} m², {:.1} m² are left out",
                        shown(*seed),
                        before - after
                    ),
                ),
                Err(message) => (false, message),
            };
        }
    }

    fn note_links(&mut self, mesh: &NavigationMesh) {
        for (at, ends) in &self.links {
            let report = &mut self.reports[*at];
            let number = report.number.expect("it was added");
            let link = mesh.link_of(number).expect("it was added");
            if mesh.is_link_loop(number) {
                report.has_effect = false;
                let ground = mesh.link_loop_ground(number).unwrap_or(ends[0]);
                report.message = format!(
                    "does nothing: the ground nearest to both of its ends, {} and {}, is at {}: \
                     give it two places on the ground, by 'from' and 'to' or a spline",
                    shown(ends[0]),
                    shown(ends[1]),
                    shown(ground)
                );
                continue;
            }
            if mesh.is_link_usable(number) {
                report.message = format!(
                    "joins {} and {}, {:.1} m, cost {:.1}{}{}",
                    shown(ends[0]),
                    shown(ends[1]),
                    ends[0].distance(ends[1]),
                    link.cost,
                    if link.is_two_way { "" } else { ", one way" },
                    if link.is_manual { ", finished by scripts" } else { "" },
                );
                continue;
            }
            let missing = ends.iter().find(|end| mesh.seed_ground(**end).is_none());
            let at = missing.unwrap_or(&ends[0]);
            report.has_effect = false;
            report.message = format!(
                "does nothing: there is no ground at its end {}: {}",
                shown(*at),
                no_ground(mesh, *at)
            );
        }
    }
}

/// Returns the area of the ground that is not left out, in square metres.
fn ground_of(mesh: &NavigationMesh) -> f32 {
    let polygons = 0..mesh.num_polygons() as u32;
    let kept = polygons.filter(|polygon| !mesh.is_left_out(*polygon));
    kept.map(|polygon| mesh.ground_area(polygon)).sum()
}
