//! Navigation benchmarks: grids, flow fields, crowds, bakes, tiles that are built again, and paths
//! over long distances.
//!
//!     cargo bench -- navigation
//!
//! Times are CPU time of one thread, the median of the rounds after a warm-up.

use crate::run::Run;
use crate::table::{Group, Row, median, named, row};
use engine::foundation::random::Random;
use engine::foundation::tasks::TaskPool;
use engine::foundation::{Handle, HandleKind, Slots, Vec3};
use engine::platform::ThreadClock;
use engine::system::navigation::agents::{AgentSettings, AgentState, Agents};
use engine::system::navigation::bake::{AreaShape, BakeSettings, BakeSource};
use engine::system::navigation::grid::{GridShape, NavigationGrid};
use engine::system::navigation::mesh::{NavigationMesh, NearestPolygon};
use engine::system::navigation::search::{PointPath, PolygonPath, SEARCH_NODES_DEFAULT, Searcher};

const WARM: usize = 20;
const ROUNDS: usize = 60;
/// Columns and rows of the grids, and cells along a side of the maze, whose walls are cells, too.
const SIDE: usize = 256;
const MAZE_SIDE: usize = 255;
/// Part of the cells of a grid that are blocked.
const BLOCKED: f64 = 0.25;
const AGENTS: [usize; 2] = [1000, 4000];
/// Ground for each agent, in square metres.
const GROUND: f32 = 6.25;
/// Metres by which each agent that waits makes a way longer, in a crowd with dispersion.
const DISPERSION: f32 = 2.0;
/// 600 agents in a millisecond.
const AGENT_TARGET: f64 = 1.67;
const STEP: f32 = 1.0 / 60.0;
/// World for paths over long distances, pairs of points, and requests of a frame.
const PATHS_SIDE: f32 = 1000.0;
const PATHS_PILLARS: usize = 36_000;
const PATHS: usize = 2000;
const REQUESTS: usize = 1000;
/// Width of rooms, and the part of their walls that have a door.
const ROOM: f32 = 10.0;
const ROOMS_WITH_DOORS: f64 = 0.7;

pub fn run(run: &mut Run) {
    run.part("grids", || Group {
        name: "navigation grids",
        title: "a query in a grid of 256 by 256 cells",
        workload: "Random pairs of cells in a maze without loops, in a grid with a quarter of its \
                   cells blocked, and in one with blocks of 8 by 8 cells; the same with cells of \
                   two costs, which are searched cell by cell; a flow field to one target, \
                   computed again.",
        rows: grids(),
    });
    run.part("crowds", || Group {
        name: "navigation crowds",
        title: "an update of a crowd, for each agent",
        workload: "A square with 6.25 square metres for each agent. They walk to random points, \
                   and get another one when they arrive.",
        rows: crowds(),
    });
    run.part("meshes", || Group {
        name: "navigation meshes",
        title: "a mesh of 100 by 100 metres with 400 pillars",
        workload: "The bake with the default settings, and the updates after an obstacle was added \
                   or removed, which build a tile again: all of their work on one thread, and \
                   that of the frames when another thread builds the tile. The first obstacle in \
                   a tile of a mesh that was loaded from a file finds no heights in memory.",
        rows: meshes(),
    });
    run.part("paths", || Group {
        name: "navigation paths",
        title: "paths in a world of a square kilometre with 36,000 pillars",
        workload: "Random pairs of points on about 100,000 polygons, with the corners of the way. \
                   The length is compared with that of a search from polygon to polygon. 1,000 \
                   requests of a frame are answered in updates of a fixed number of nodes.",
        rows: paths(),
    });
    run.part("rooms", || Group {
        name: "navigation rooms",
        title: "paths in a square kilometre of 10,000 rooms",
        workload: "Random pairs of points. Seven of ten walls have a door.",
        rows: paths_in_rooms(),
    });
}

/// Returns the median of the CPU seconds that a round takes.
fn measure(mut round: impl FnMut()) -> f64 {
    let clock = ThreadClock::of_this_thread();
    let mut times = Vec::with_capacity(ROUNDS);
    for step in 0..WARM + ROUNDS {
        let before = clock.seconds();
        round();
        if step >= WARM {
            times.push(clock.seconds() - before);
        }
    }
    median(times)
}

/// Returns a maze without loops, whose ways are one cell wide.
fn maze() -> NavigationGrid {
    let mut grid = NavigationGrid::new(MAZE_SIDE, MAZE_SIDE, GridShape::Square8);
    let side = MAZE_SIDE as i32;
    let cell = |x: i32, y: i32| (y * side + x) as u32;
    (0..(MAZE_SIDE * MAZE_SIDE) as u32).for_each(|cell| grid.set_cost(cell, 0.0));
    let (mut random, mut stack) = (Random::seed(3), vec![(0, 0)]);
    grid.set_cost(0, 1.0);
    while let Some(&(x, y)) = stack.last() {
        let is_free = |(dx, dy): &(i32, i32)| {
            let (x, y) = (x + dx * 2, y + dy * 2);
            x >= 0 && y >= 0 && x < side && y < side && grid.cost(cell(x, y)) == 0.0
        };
        let ways = [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().filter(is_free);
        let ways: Vec<(i32, i32)> = ways.collect();
        let Some(&(dx, dy)) = ways.get((random.next_f64() * ways.len() as f64) as usize) else {
            stack.pop();
            continue;
        };
        grid.set_cost(cell(x + dx, y + dy), 1.0);
        grid.set_cost(cell(x + dx * 2, y + dy * 2), 1.0);
        stack.push((x + dx * 2, y + dy * 2));
    }
    grid
}

fn open_cell(grid: &NavigationGrid, random: &mut Random) -> u32 {
    let (columns, rows) = grid.size();
    loop {
        let cell = (random.next_f64() * (columns * rows) as f64) as u32;
        if grid.cost(cell) > 0.0 {
            return cell;
        }
    }
}

/// Returns a grid a quarter of which is blocked, in squares of a size.
fn blocked_grid(size: usize, chances: &mut Random) -> NavigationGrid {
    let mut grid = NavigationGrid::new(SIDE, SIDE, GridShape::Square8);
    let across = SIDE / size;
    for at in 0..across * across {
        if chances.next_f64() < BLOCKED {
            let (x, y) = (at % across * size, at / across * size);
            for cell in 0..size * size {
                grid.set_cost(((y + cell / size) * SIDE + x + cell % size) as u32, 0.0);
            }
        }
    }
    grid
}

/// Gives a cell another cost, so that paths are searched cell by cell.
fn with_another_cost(mut grid: NavigationGrid) -> NavigationGrid {
    let open = (0..(SIDE * SIDE) as u32).find(|cell| grid.cost(*cell) > 0.0);
    grid.set_cost(open.expect("most cells are open"), 2.0);
    grid
}

fn grids() -> Vec<Row> {
    let (mut random, mut path) = (Random::seed(1), Vec::new());
    let mut query = |grid: &mut NavigationGrid| {
        measure(|| {
            let (from, to) = (open_cell(grid, &mut random), open_cell(grid, &mut random));
            grid.find_path(from, to, usize::MAX, &mut path);
        })
    };
    let in_maze = query(&mut maze());
    let mut changing = maze();
    let in_changing_maze = {
        let (mut random, mut path) = (Random::seed(1), Vec::new());
        measure(|| {
            // Each change has the dead ends found again.
            changing.set_cost(0, 0.0);
            changing.set_cost(0, 1.0);
            let (from, to) = (open_cell(&changing, &mut random), open_cell(&changing, &mut random));
            changing.find_path(from, to, usize::MAX, &mut path);
        })
    };
    let mut chances = Random::seed(2);
    let mut grid = blocked_grid(1, &mut chances);
    let in_open = query(&mut grid);
    let by_cells = query(&mut with_another_cost(grid.clone()));
    let mut halls = blocked_grid(8, &mut chances);
    let in_halls = query(&mut halls);
    let by_cells_in_halls = query(&mut with_another_cost(halls));
    let target = open_cell(&grid, &mut chances);
    let field = measure(|| {
        grid.set_targets("target", &[target]);
        grid.flow(0, target);
    });
    vec![
        row("path in a maze", in_maze * 1e3, "ms", Some(0.15)),
        row("path in a maze that changes", in_changing_maze * 1e3, "ms", None),
        row("path among blocked cells", in_open * 1e3, "ms", None),
        row("blocked cells, with two costs", by_cells * 1e3, "ms", None),
        row("path on open ground", in_halls * 1e3, "ms", None),
        row("open ground with two costs", by_cells_in_halls * 1e3, "ms", None),
        row("flow field", field * 1e3, "ms", Some(2.0)),
    ]
}

fn mesh(side: f32, count: usize) -> NavigationMesh {
    bake_with_boxes(side, pillars(side, count))
}

/// Returns pillars at random places.
fn pillars(side: f32, count: usize) -> Vec<(Vec3, Vec3)> {
    let mut random = Random::seed(5);
    let pillar = |_| {
        let mut any = || random.next_f64() as f32 * (side - 2.0);
        let low = Vec3::new(any(), any(), 0.0);
        (low, low + Vec3::new(1.0, 1.0, 3.0))
    };
    (0..count).map(pillar).collect()
}

/// Rooms of 10 by 10 metres. Each wall between two of them has a door of 2 metres, or none.
fn rooms(side: f32) -> NavigationMesh {
    let (mut random, mut boxes) = (Random::seed(7), Vec::new());
    let count = (side / ROOM) as usize;
    for at in 0..count * count * 2 {
        let (x, y) = ((at / 2 % count) as f32 * ROOM, (at / 2 / count) as f32 * ROOM);
        let door = 1.0 + random.next_f64() as f32 * (ROOM - 4.0);
        let has_door = random.next_f64() < ROOMS_WITH_DOORS;
        let parts = [(0.0, if has_door { door } else { ROOM }), (door + 2.0, ROOM)];
        for (from, to) in parts.into_iter().take(if has_door { 2 } else { 1 }) {
            let (low, high) = match at % 2 {
                0 => ([from, 0.0], [to, 0.3]),
                _ => ([0.0, from], [0.3, to]),
            };
            let corner = |[dx, dy]: [f32; 2], z: f32| Vec3::new(x + dx, y + dy, z);
            boxes.push((corner(low, 0.0), corner(high, 3.0)));
        }
    }
    bake_with_boxes(side, boxes)
}

/// Bakes a square of ground with boxes on it.
fn bake_with_boxes(side: f32, boxes: Vec<(Vec3, Vec3)>) -> NavigationMesh {
    let (source, pool) = (source_of(side, boxes), TaskPool::new(Some(1)));
    NavigationMesh::bake(source, BakeSettings::DEFAULT, &pool).expect("boxes can be baked")
}

/// Returns the triangles of a square of ground with boxes on it.
fn source_of(side: f32, boxes: Vec<(Vec3, Vec3)>) -> BakeSource {
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    let mut push = |low: Vec3, high: Vec3| {
        let first = points.len() as u32;
        let pick =
            |at: u32, bit: u32, axis: usize| if at & bit == 0 { low[axis] } else { high[axis] };
        points.extend((0..8).map(|at| Vec3::new(pick(at, 1, 0), pick(at, 2, 1), pick(at, 4, 2))));
        for [a, b, c, d] in
            [[4, 5, 7, 6], [0, 2, 3, 1], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
        {
            triangles.push([first + a, first + b, first + c]);
            triangles.push([first + a, first + c, first + d]);
        }
    };
    push(Vec3::new(0.0, 0.0, -1.0), Vec3::new(side, side, 0.0));
    boxes.into_iter().for_each(|(low, high)| push(low, high));
    BakeSource::new(points, triangles).expect("boxes can be baked")
}

struct Crowd {
    mesh: NavigationMesh,
    id: Handle,
    agents: Agents,
    handles: Vec<Handle>,
    random: Random,
    pool: TaskPool,
}

impl Crowd {
    fn new(count: usize) -> Crowd {
        let mesh = mesh((count as f32 * GROUND).sqrt(), 0);
        let id = Slots::new(HandleKind::NavigationMesh, 1).add(()).expect("one fits");
        let (mut agents, mut random) = (Agents::default(), Random::seed(9));
        let mut handles = Vec::new();
        for _ in 0..count {
            let point = mesh.random_point(|| random.next_f64()).expect("there is ground");
            handles.push(agents.add(id, point, AgentSettings::DEFAULT).expect("they fit"));
        }
        let pool = TaskPool::new(Some(1));
        Crowd { mesh, id, agents, handles, random, pool }
    }

    fn update(&mut self) {
        for agent in &self.handles {
            let state = self.agents.slots.get(*agent).expect("it was added").state;
            if matches!(state, AgentState::Idle | AgentState::Arrived) {
                let point = self.mesh.random_point(|| self.random.next_f64());
                self.agents.set_destination(*agent, point.expect("there is ground"));
            }
        }
        self.agents.update(self.id, &self.mesh, STEP, &self.pool).expect("one thread is enough");
    }
}

fn crowds() -> Vec<Row> {
    let mut rows: Vec<Row> = AGENTS.map(|count| crowd(count, 0.0)).into_iter().collect();
    rows.push(crowd(AGENTS[1], DISPERSION));
    rows
}

fn crowd(count: usize, dispersion: f32) -> Row {
    let mut crowd = Crowd::new(count);
    crowd.agents.set_dispersion(crowd.id, dispersion);
    let seconds = measure(|| crowd.update());
    let name = match dispersion > 0.0 {
        true => format!("{count} agents, with dispersion"),
        false => format!("{count} agents"),
    };
    named(name, seconds * 1e6 / count as f64, "µs", Some(AGENT_TARGET))
}

fn meshes() -> Vec<Row> {
    let bake = measure(|| {
        std::hint::black_box(mesh(100.0, 400));
    });
    vec![
        row("bake", bake * 1e3, "ms", None),
        row("obstacle, all work", change(1) * 1e3, "ms", None),
        row("obstacle, in frames", change(2) * 1e3, "ms", Some(0.3)),
        row("first obstacle, all work", first_change(1) * 1e3, "ms", Some(1.0)),
        row("first obstacle, in frames", first_change(2) * 1e3, "ms", Some(0.3)),
    ]
}

/// Returns the time of the calling thread for the first obstacle in a tile of a mesh that was
/// loaded from a file, as [`change`] does.
fn first_change(threads: usize) -> f64 {
    let (clock, pool) = (ThreadClock::of_this_thread(), TaskPool::new(Some(threads)));
    let baked = mesh(100.0, 400);
    let mut times = Vec::new();
    for _ in 0..2 {
        let (tiles, source) = (baked.baked_tiles().to_vec(), source_of(100.0, pillars(100.0, 400)));
        let mut mesh = NavigationMesh::from_tiles(source, *baked.settings(), tiles, &pool)
            .expect("they are of the same bake");
        let tile = BakeSettings::DEFAULT.tile_cells as f32 * BakeSettings::DEFAULT.cell_size;
        for at in 0..36 {
            let middle = |number: i32| (number as f32 + 0.5) * tile;
            let position = [middle(at % 6), middle(at / 6), 0.0];
            let before = clock.seconds();
            mesh.add_volume(AreaShape::Cylinder { position, radius: 1.0, height: 2.0 }, 0);
            while mesh.waiting_tiles() > 0 {
                mesh.rebuild(&pool).expect("two threads are enough");
            }
            times.push(clock.seconds() - before);
        }
    }
    median(times)
}

/// Returns the time of the calling thread for an obstacle that is added or removed. With more than
/// one thread, another one builds the tiles.
fn change(threads: usize) -> f64 {
    let (mut mesh, pool) = (mesh(100.0, 400), TaskPool::new(Some(threads)));
    let mut volume = None;
    measure(|| {
        match volume.take() {
            Some(number) => {
                mesh.remove_volume(number);
            }
            None => {
                let position = [50.0, 50.0, 0.0];
                let shape = AreaShape::Cylinder { position, radius: 1.0, height: 2.0 };
                volume = mesh.add_volume(shape, 0);
            }
        }
        while mesh.waiting_tiles() > 0 {
            mesh.rebuild(&pool).expect("two threads are enough");
        }
    })
}

/// Far pairs of points on a mesh.
fn pairs(mesh: &NavigationMesh, count: usize) -> Vec<(NearestPolygon, NearestPolygon)> {
    let mut random = Random::seed(11);
    let mut point = || mesh.random_point(|| random.next_f64()).expect("there is ground");
    (0..count).map(|_| (point(), point())).collect()
}

/// Returns the sorted CPU seconds of searches for pairs, and the lengths of their paths.
fn search(
    mesh: &NavigationMesh,
    pairs: &[(NearestPolygon, NearestPolygon)],
    nodes_max: usize,
) -> (Vec<f64>, Vec<f32>) {
    let clock = ThreadClock::of_this_thread();
    let mut searcher = Searcher::default();
    let (mut path, mut corners) = (PolygonPath::default(), PointPath::default());
    let (mut times, mut lengths) = (Vec::new(), Vec::new());
    for (from, to) in pairs[..WARM].iter().chain(pairs) {
        let before = clock.seconds();
        searcher.search(mesh, *from, *to, nodes_max, &mut path);
        searcher.corners(mesh, &path, usize::MAX, &mut corners);
        times.push(clock.seconds() - before);
        lengths.push(corners.length());
    }
    times.drain(..WARM);
    lengths.drain(..WARM);
    times.sort_by(f64::total_cmp);
    (times, lengths)
}

fn paths_in_rooms() -> Vec<Row> {
    let mut mesh = rooms(PATHS_SIDE);
    let pairs = pairs(&mesh, PATHS);
    let (times, lengths) = search(&mesh, &pairs, SEARCH_NODES_DEFAULT);
    // Without an update of the hierarchy, searches go from polygon to polygon.
    mesh.set_obstructed(1000, true);
    mesh.set_obstructed(1000, false);
    let (_, shortest) = search(&mesh, &pairs[..PATHS / 10], usize::MAX);
    let sum = |lengths: &[f32]| lengths.iter().map(|length| f64::from(*length)).sum::<f64>();
    let longer = sum(&lengths[..PATHS / 10]) / sum(&shortest);
    vec![
        row("polygons", mesh.num_polygons() as f64 / 1e3, "thousand", None),
        row("path, median", times[PATHS / 2] * 1e6, "µs", Some(60.0)),
        row("path, 99th percentile", times[PATHS * 99 / 100] * 1e6, "µs", Some(300.0)),
        row("length to that of polygons", longer, "times", Some(1.05)),
    ]
}

fn paths() -> Vec<Row> {
    let mut mesh = mesh(PATHS_SIDE, PATHS_PILLARS);
    let (pairs, pool) = (pairs(&mesh, PATHS), TaskPool::new(Some(1)));
    let (times, lengths) = search(&mesh, &pairs, SEARCH_NODES_DEFAULT);
    for (from, to) in &pairs[..REQUESTS] {
        mesh.request_path(*from, *to).expect("they fit");
    }
    let clock = ThreadClock::of_this_thread();
    let (before, mut updates) = (clock.seconds(), 0);
    while mesh.num_waiting_paths() > 0 {
        mesh.answer_paths(&pool).expect("one thread is enough");
        updates += 1;
    }
    let update = (clock.seconds() - before) / f64::from(updates);
    let door = measure(|| {
        let is_closed = mesh.is_obstructed(1000);
        mesh.set_obstructed(1000, !is_closed);
        mesh.update_hierarchy(&pool).expect("one thread is enough");
    });
    // Without an update of the hierarchy, searches go from polygon to polygon.
    let is_closed = mesh.is_obstructed(1000);
    for is_closed in [!is_closed, is_closed] {
        mesh.set_obstructed(1000, is_closed);
    }
    let (direct, shortest) = search(&mesh, &pairs[..REQUESTS], usize::MAX);
    let sum = |lengths: &[f32]| lengths.iter().map(|length| f64::from(*length)).sum::<f64>();
    let longer = sum(&lengths[..REQUESTS]) / sum(&shortest);
    vec![
        row("polygons", mesh.num_polygons() as f64 / 1e3, "thousand", None),
        row("path, median", times[PATHS / 2] * 1e6, "µs", Some(60.0)),
        row("path, 99th percentile", times[PATHS * 99 / 100] * 1e6, "µs", Some(300.0)),
        row("from polygon to polygon", direct[REQUESTS / 2] * 1e6, "µs", None),
        row("length to that of polygons", longer, "times", Some(1.05)),
        row("frames for 1,000 requests", f64::from(updates), "frames", Some(30.0)),
        row("such a frame", update * 1e3, "ms", Some(1.0)),
        row("door that opens or closes", door * 1e6, "µs", None),
    ]
}
