//! Navigation for remote tools: the meshes, the grids, the agents of a mesh, and the lines of a
//! mesh as seen from above.

use super::inspect::{handle, vector};
use super::message_table::{
    FieldType, HANDLE, MessageRow, boolean, integer, optional, required, text,
};
use super::{IncomingCall, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Handle, HandleKind, Vec3, counters};
use engine_navigation::NavigationMeshId;
use engine_navigation::agents::{Agent, AgentState};
use engine_navigation::bake::DEFAULT_AREA;
use engine_navigation::grid_outline::GridLine;
use engine_navigation::mesh::NavigationMesh;
use engine_navigation::outline::LineKind;
use engine_navigation::platforms::MeshPose;
use engine_runtime::Worlds;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Default numbers of agents and of lines.
const AGENTS_LISTED: u64 = 500;
const LINES_LISTED: u64 = 20_000;
/// Number of corners of paths in an answer.
const CORNERS_MAX: usize = 20_000;
/// Filter for agents that make no progress, and the seconds without any after which they count.
const STUCK: &str = "stuck";
const STUCK_SECONDS: f32 = 0.75;
/// Kinds of lines, by their numbers. Areas above the first one have five kinds in turn.
const LINE_KINDS: [&str; 16] = [
    "edge",
    "wall",
    "closed",
    "link",
    "area1",
    "area2",
    "area3",
    "area4",
    "area5",
    "searched",
    "flow",
    "end",
    "avoided",
    "avoided_wall",
    "speed",
    "other",
];
const FIRST_AREA: usize = 4;
const AREA_KINDS: u8 = 5;
/// Kinds of the lines of a grid, by their numbers.
const GRID_KINDS: [&str; 5] = ["blocked", "dear", "cheap", "flow", "end"];

/// All messages about navigation.
pub static MESSAGES: &[MessageRow] = &[
    MessageRow {
        name: "navigation",
        doc: "Describes the navigation meshes and grids, and the agents of one mesh.",
        fields: &[
            optional("mesh", HANDLE, "its handle [the first mesh]"),
            optional(
                "state",
                FieldType::Text,
                "only agents in it, or those that are `stuck`: without progress for 0.75 seconds",
            ),
            optional("first", FieldType::Integer(0, 1 << 20), "number of agents to skip [0]"),
            optional("max", FieldType::Integer(1, 20_000), "maximum number of agents [500]"),
            optional(
                "paths",
                FieldType::Boolean,
                "with the paths of the agents, 20,000 corners at most [false]",
            ),
        ],
        answer: "restarts (of the game since its process has begun), meshes (mesh, level, class, \
                 platform, radius, version, polygons, volumes, links, waiting_tiles, \
                 waiting_paths, agents, fields), grids (grid, columns, rows, waiting_paths, \
                 fields), counters (name, value), \
                 mesh, states (state, count), first, count (of all that match), agents, the \
                 longest without progress first (agent, state, position, destination, radius, \
                 speed, remaining, stuck, still, and with `paths` path: two coordinates for each \
                 corner of its way, as seen from above), paths_left_out",
        run: navigation,
    },
    MessageRow {
        name: "navigation_lines",
        doc: "Returns the lines of a navigation mesh, as seen from above.",
        fields: &[
            required("mesh", HANDLE, "its handle"),
            optional("max", FieldType::Integer(1, 100_000), "maximum number of lines [20000]"),
        ],
        answer: "mesh, version, kinds, lines (five numbers for each: the number of its kind, from \
                 0, and the coordinates of both ends), left_out",
        run: lines,
    },
    MessageRow {
        name: "navigation_marks",
        doc: "Returns lines that change from frame to frame on a navigation mesh, as seen from \
              above: what the last search of a script visited, a flow field, and the velocities \
              that an agent may have.",
        fields: &[
            required("mesh", HANDLE, "its handle"),
            optional("search", FieldType::Boolean, "with the last search [false]"),
            optional("field", FieldType::Text, "the name of a flow field [none]"),
            optional("agent", HANDLE, "an agent of the mesh [none]"),
            optional("max", FieldType::Integer(1, 100_000), "maximum number of lines [20000]"),
        ],
        answer: "mesh, kinds, lines (as in navigation_lines), left_out",
        run: marks,
    },
    MessageRow {
        name: "navigation_grid",
        doc: "Returns the lines of a navigation grid, in cells from its lower left corner.",
        fields: &[
            required("grid", HANDLE, "its handle"),
            optional("field", FieldType::Text, "the name of a flow field [none]"),
            optional("max", FieldType::Integer(1, 100_000), "maximum number of lines [20000]"),
        ],
        answer: "grid, columns, rows, kinds (blocked, dear and cheap: cells that cost more and \
                 less than 1), lines (as in navigation_lines), left_out (cells)",
        run: grid_lines,
    },
];

/// Returns a number with at most three digits after the point: more are noise.
fn short(number: f32) -> SjsonTree {
    SjsonTree::Number((f64::from(number) * 1000.0).round() / 1000.0)
}

/// Describes the meshes and grids, and the agents of one mesh.
pub fn navigation(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let asked = handle(call.fields, "mesh", HandleKind::NavigationMesh)?;
    let filter = text(call.fields, "state").unwrap_or_default();
    let names = || AgentState::ALL.iter().map(|it| it.name()).chain(Agent::RIDE_STATES);
    if !filter.is_empty() && filter != STUCK && !names().any(|name| name == filter) {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(Refusal::of(format!("'{filter}' is no state of agents: {STUCK}, {known}")));
    }
    let first = integer(call.fields, "first").unwrap_or(0) as usize;
    let most = integer(call.fields, "max").unwrap_or(AGENTS_LISTED) as usize;
    let worlds = &call.app.vm.engine().worlds;
    let all = &worlds.navigation.meshes;
    let chosen = asked.filter(|mesh| all.get(*mesh).is_some());
    if asked.is_some() && chosen.is_none() {
        return Err(Refusal::of("the mesh is gone"));
    }
    let chosen = chosen.or_else(|| all.iter().next().map(|(mesh, _)| mesh));
    let meshes = all.iter().map(|(handle, mesh)| mesh_row(worlds, handle, mesh));
    let grids = worlds.navigation.grids.iter().map(|(handle, grid)| {
        let (columns, rows) = grid.size();
        json::object([
            ("grid", SjsonTree::Number(handle.to_number())),
            ("columns", json::count(columns)),
            ("rows", json::count(rows)),
            ("waiting_paths", json::count(grid.num_waiting_paths())),
            ("fields", json::texts(grid.field_names())),
        ])
    });
    let mut states = BTreeMap::<&str, usize>::new();
    let mut agents = Vec::new();
    let of_mesh = worlds.navigation.agents.slots.iter();
    for (handle, agent) in of_mesh.filter(|(_, agent)| Some(agent.mesh) == chosen) {
        *states.entry(agent.state_name()).or_default() += 1;
        let matches = match filter {
            "" => true,
            STUCK => agent.stuck_seconds >= STUCK_SECONDS,
            filter => agent.state_name() == filter,
        };
        if matches {
            agents.push((handle, agent));
        }
    }
    agents.sort_by(|(_, a), (_, b)| by_progress(a, b));
    let states = states.into_iter().map(|(state, count)| {
        json::object([("state", json::text(state)), ("count", json::count(count))])
    });
    let count = agents.len();
    let agents = agents.into_iter().skip(first).take(most);
    let mut paths = boolean(call.fields, "paths").then(Paths::default);
    let rows = agents.map(|(handle, agent)| agent_row(worlds, handle, agent, paths.as_mut()));
    let rows = rows.collect();
    Ok(Some(json::object([
        ("restarts", json::count(call.state.restarts as usize)),
        ("meshes", SjsonTree::Array(meshes.collect())),
        ("grids", SjsonTree::Array(grids.collect())),
        ("counters", SjsonTree::Array(counter_rows())),
        ("mesh", chosen.map_or(SjsonTree::Null, |mesh| SjsonTree::Number(mesh.to_number()))),
        ("states", SjsonTree::Array(states.collect())),
        ("first", json::count(first)),
        ("count", json::count(count)),
        ("agents", SjsonTree::Array(rows)),
        ("paths_left_out", json::count(paths.map_or(0, |paths| paths.left_out))),
    ])))
}

fn counter_rows() -> Vec<SjsonTree> {
    let mut found = counters::all();
    found.retain(|(name, _)| name.starts_with("navigation/"));
    found.sort_by(|a, b| a.0.cmp(b.0));
    let row = |(name, value): (&str, f64)| {
        json::object([("name", json::text(name)), ("value", SjsonTree::Number(value))])
    };
    found.into_iter().map(row).collect()
}

/// Orders agents by their time without progress, the longest first.
fn by_progress(a: &Agent, b: &Agent) -> Ordering {
    let times = b.stuck_seconds.total_cmp(&a.stuck_seconds);
    times.then(b.still_seconds.total_cmp(&a.still_seconds))
}

fn mesh_row(worlds: &Worlds, handle: Handle, mesh: &NavigationMesh) -> SjsonTree {
    let id = NavigationMeshId(handle);
    let level = worlds.navigation.levels.iter().find(|level| level.has_mesh(id));
    let class = level.and_then(|level| level.meshes.iter().find(|known| known.mesh == id));
    let level = level.and_then(|level| worlds.levels.slots.get(level.level.0));
    let name = |name: Option<&str>| name.map_or(SjsonTree::Null, json::text);
    json::object([
        ("mesh", SjsonTree::Number(handle.to_number())),
        ("level", name(level.map(|level| level.resource.name.as_str()))),
        ("class", name(class.map(|known| known.class.as_str()))),
        ("platform", SjsonTree::Bool(worlds.navigation.agents.platform(handle).is_some())),
        ("radius", short(mesh.settings().radius)),
        ("version", SjsonTree::Number(f64::from(mesh.version()))),
        ("polygons", json::count(mesh.num_polygons())),
        ("volumes", json::count(mesh.num_volumes())),
        ("links", json::count(mesh.num_links())),
        ("waiting_tiles", json::count(mesh.waiting_tiles())),
        ("waiting_paths", json::count(mesh.num_waiting_paths())),
        ("agents", json::count(worlds.navigation.agents.count(handle))),
        ("fields", json::texts(mesh.field_names())),
    ])
}

/// Paths of an answer: the number of corners, and of paths that are left out. After the first one
/// that is left out, there are no others.
#[derive(Default)]
struct Paths {
    corners: usize,
    left_out: usize,
    scratch: Vec<Vec3>,
}

impl Paths {
    /// Returns the coordinates of a path in the world, as seen from above. It is empty if there is
    /// none, or too many are in the answer already.
    fn of(&mut self, agent: &Agent, mesh: &NavigationMesh, pose: &MeshPose) -> SjsonTree {
        if self.left_out == 0 {
            agent.corners(mesh, &mut self.scratch);
            self.corners += self.scratch.len();
        }
        if self.corners > CORNERS_MAX {
            self.left_out += 1;
            return SjsonTree::Array(Vec::new());
        }
        let corners = self.scratch.iter().map(|corner| pose.to_world(*corner));
        SjsonTree::Array(corners.flat_map(|at| [short(at.x), short(at.y)]).collect())
    }
}

fn agent_row(
    worlds: &Worlds,
    handle: Handle,
    agent: &Agent,
    paths: Option<&mut Paths>,
) -> SjsonTree {
    let navigation = &worlds.navigation;
    let pose = navigation.agents.pose(agent.mesh);
    let point = |at: Option<Vec3>| at.map_or(SjsonTree::Null, |at| vector(pose.to_world(at)));
    let mesh = navigation.meshes.get(agent.mesh);
    let left = mesh.map_or(0.0, |mesh| agent.remaining_distance(mesh));
    let mut fields = vec![
        ("agent", SjsonTree::Number(handle.to_number())),
        ("state", json::text(agent.state_name())),
        ("position", point(Some(agent.at.position))),
        ("destination", point(agent.last_wanted_point())),
        ("radius", short(agent.settings.radius)),
        ("speed", short(agent.velocity.length())),
        ("remaining", short(left)),
        ("stuck", short(agent.stuck_seconds)),
        ("still", short(agent.still_seconds)),
    ];
    let walking = mesh.filter(|_| agent.state != AgentState::Lost);
    if let (Some(paths), Some(mesh)) = (paths, walking) {
        fields.push(("path", paths.of(agent, mesh, &pose)));
    }
    let fields = fields.into_iter().map(|(key, value)| (key.to_string(), value));
    SjsonTree::Object(fields.collect())
}

/// Returns the number of the kind of a line.
fn kind_number(kind: LineKind) -> usize {
    let name = match kind {
        LineKind::Edge(DEFAULT_AREA) => "edge",
        LineKind::Edge(area) => {
            let turn = area.wrapping_sub(DEFAULT_AREA + 1) % AREA_KINDS;
            return FIRST_AREA + usize::from(turn);
        }
        LineKind::Wall => "wall",
        LineKind::Closed => "closed",
        LineKind::Link => "link",
        LineKind::Searched => "searched",
        LineKind::Flow => "flow",
        LineKind::FlowEnd => "end",
        LineKind::Avoided => "avoided",
        LineKind::AvoidedWall => "avoided_wall",
        LineKind::Speed => "speed",
        _ => "other",
    };
    LINE_KINDS.iter().position(|known| *known == name).unwrap_or_default()
}

/// Lines of an answer: five numbers for each, and how many are left out.
struct Lines {
    numbers: Vec<SjsonTree>,
    room: usize,
    left_out: usize,
}

impl Lines {
    fn new(call: &IncomingCall) -> Lines {
        let room = integer(call.fields, "max").unwrap_or(LINES_LISTED) as usize;
        Lines { numbers: Vec::new(), room, left_out: 0 }
    }

    /// Adds a line. Returns false if it is left out.
    fn add(&mut self, kind: usize, ends: [[f32; 2]; 2]) -> bool {
        if self.room == 0 {
            self.left_out += 1;
            return false;
        }
        self.room -= 1;
        self.numbers.push(json::count(kind));
        self.numbers.extend(ends.as_flattened().iter().map(|at| short(*at)));
        true
    }

    /// Adds a line of a mesh with a pose.
    fn add_posed(&mut self, pose: &MeshPose, (from, to): (Vec3, Vec3), kind: LineKind) {
        let ends = [from, to].map(|end| pose.to_world(end).truncate().to_array());
        self.add(kind_number(kind), ends);
    }
}

/// Returns the lines of a mesh in the world, as seen from above.
pub fn lines(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let mut lines = Lines::new(call);
    let asked = handle(call.fields, "mesh", HandleKind::NavigationMesh)?;
    let navigation = &call.app.vm.engine().worlds.navigation;
    let found = asked.and_then(|mesh| Some((mesh, navigation.meshes.get(mesh)?)));
    let Some((handle, mesh)) = found else { return Err(Refusal::of("the mesh is gone")) };
    let pose = navigation.agents.pose(handle);
    mesh.outline(&mut |from, to, kind| lines.add_posed(&pose, (from, to), kind));
    Ok(Some(json::object([
        ("mesh", SjsonTree::Number(handle.to_number())),
        ("version", SjsonTree::Number(f64::from(mesh.version()))),
        ("kinds", json::texts(LINE_KINDS)),
        ("lines", SjsonTree::Array(lines.numbers)),
        ("left_out", json::count(lines.left_out)),
    ])))
}

/// Refuses a field that does not exist.
fn unknown_field<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Refusal {
    let known: Vec<&str> = known.collect();
    Refusal::of(format!("there is no flow field '{name}': {}", known.join(", ")))
}

/// Returns the lines of a mesh that change from frame to frame, as seen from above.
pub fn marks(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let mut lines = Lines::new(call);
    let asked = handle(call.fields, "mesh", HandleKind::NavigationMesh)?;
    let agent = handle(call.fields, "agent", HandleKind::Agent)?;
    let name = text(call.fields, "field").unwrap_or_default().to_string();
    let has_search = boolean(call.fields, "search");
    let navigation = &mut call.app.vm.engine().worlds.navigation;
    let id = asked.filter(|mesh| navigation.meshes.get(*mesh).is_some());
    let Some(id) = id else { return Err(Refusal::of("the mesh is gone")) };
    let pose = navigation.agents.pose(id);
    let Some(mesh) = navigation.meshes.get_mut(id) else { return Ok(None) };
    if has_search {
        let visited = navigation.memory.searcher.visited();
        mesh.outline_visited(visited, &mut |from, to, kind| {
            lines.add_posed(&pose, (from, to), kind);
        });
    }
    if !name.is_empty() {
        let Some(field) = mesh.field(&name) else {
            return Err(unknown_field(&name, mesh.field_names()));
        };
        mesh.update_field(field);
        mesh.outline_field(field, &mut |from, to, kind| lines.add_posed(&pose, (from, to), kind));
    }
    let of_mesh = agent
        .filter(|agent| navigation.agents.slots.get(*agent).is_some_and(|agent| agent.mesh == id));
    if let Some(agent) = of_mesh {
        // These are in the world already.
        let posed = &MeshPose::IDENTITY;
        navigation.agents.outline_avoidance(agent, mesh, &mut |from, to, kind| {
            lines.add_posed(posed, (from, to), kind);
        });
    }
    Ok(Some(json::object([
        ("mesh", SjsonTree::Number(id.to_number())),
        ("kinds", json::texts(LINE_KINDS)),
        ("lines", SjsonTree::Array(lines.numbers)),
        ("left_out", json::count(lines.left_out)),
    ])))
}

/// Returns the lines of a grid, in cells.
pub fn grid_lines(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let mut lines = Lines::new(call);
    let asked = handle(call.fields, "grid", HandleKind::NavigationGrid)?;
    let name = text(call.fields, "field").unwrap_or_default().to_string();
    let navigation = &mut call.app.vm.engine().worlds.navigation;
    let found = asked.and_then(|grid| Some((grid, navigation.grids.get_mut(grid)?)));
    let Some((id, grid)) = found else { return Err(Refusal::of("the grid is gone")) };
    let field = match (name.as_str(), grid.field(&name)) {
        ("", _) => None,
        (_, Some(field)) => Some(field),
        _ => return Err(unknown_field(&name, grid.field_names())),
    };
    let (columns, rows) = grid.size();
    let left_out = grid.outline(field, &mut |from, to, kind| {
        let kind = match kind {
            GridLine::Blocked => 0,
            GridLine::Cost(cost) if cost > 1.0 => 1,
            GridLine::Cost(_) => 2,
            GridLine::Flow => 3,
            GridLine::Target => 4,
        };
        lines.add(kind, [from, to].map(|end| end.to_array()))
    });
    Ok(Some(json::object([
        ("grid", SjsonTree::Number(id.to_number())),
        ("columns", json::count(columns)),
        ("rows", json::count(rows)),
        ("kinds", json::texts(GRID_KINDS)),
        ("lines", SjsonTree::Array(lines.numbers)),
        ("left_out", json::count(left_out)),
    ])))
}
