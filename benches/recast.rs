//! Comparison with Recast and Detour 1.5.1: the same ground, settings, paths and crowds in one run.
//!
//!     RECAST=RecastDemo/Bin cargo bench -- recast
//!
//! The folder is that of Recast's sources, with Meshes and TestCases; without it, only generated
//! ground is compared. A program (benches/recast/peer.cpp) is built with `c++` and Debian's
//! `librecast-dev`. If it cannot be built, the engine is measured alone. Times are CPU time of one
//! thread, unless they are said to be of two.

mod crowds;
mod ground;
mod measures;
mod peer;

use crate::run::Run;
use crate::table::{Group, Row, median, named, row};
use engine::foundation::random::Random;
use engine::foundation::tasks::TaskPool;
use engine::platform::ThreadClock;
use engine::system::navigation::bake::{
    AreaShape, AreaVolume, BakeSettings, TileLayout, bake_tile, tile_from_field,
};
use engine::system::navigation::mesh::{NavigationMesh, NearestPolygon};
use engine::system::navigation::search::{PointPath, PolygonPath, SEARCH_NODES_DEFAULT, Searcher};
use ground::Ground;
use peer::{Peer, RecastMesh};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 15;
/// Searches of a path whose time is measured together, and the number of such rounds.
const BATCH: usize = 20;
const BATCHES: usize = 3;
/// Pairs of points, and points at which the ground of two meshes is compared.
const PAIRS: usize = 1000;
const SAMPLES: usize = 5000;
/// Difference of heights within which two meshes have the same ground, in metres.
const SAME_HEIGHT: f32 = 1.0;
/// A generated square kilometre.
const WORLD_SIDE: f32 = 1000.0;
const WORLD_PILLARS: usize = 36_000;

pub fn run(run: &mut Run) {
    let peer = Peer::open();
    let grounds = || ground::of_recast().unwrap_or_default();
    run.part("bakes", || Group {
        name: "recast bakes",
        title: "bakes in tiles of 48 cells, beside Recast",
        workload: "Cells of 0.3 by 0.2 m, characters of 2.0 m, 0.6 m and 0.9 m, slopes of 45 \
                   degrees. A tile is the one in the middle; an obstacle is carved from its spans.",
        rows: grounds().iter().flat_map(|ground| bakes(ground, &peer)).collect(),
    });
    run.part("coverage", || Group {
        name: "recast coverage",
        title: "ground, islands and paths, beside Recast",
        workload: "Ground of one mesh that the other one has, at 5,000 points; 1,000 random pairs \
                   of points.",
        rows: grounds().iter().flat_map(|ground| coverage(ground, &peer)).collect(),
    });
    run.part("paths", || Group {
        name: "recast paths",
        title: "the paths of Recast's test case, with string pulling",
        workload: "A median of several rounds for each path; the row has the median of all paths.",
        rows: grounds().iter().flat_map(|ground| test_paths(ground, &peer)).collect(),
    });
    run.part("memory", || Group {
        name: "recast memory",
        title: "the mesh of a square kilometre with 36,000 pillars, beside Detour",
        workload: "About 90,000 polygons. The engine's hierarchy is counted by itself.",
        rows: memory(&peer),
    });
    run.part("crowds", || Group {
        name: "recast crowds",
        title: "scenes of crowds, beside DetourCrowd",
        workload: "60 updates a second, DetourCrowd with its best avoidance and separation. Means \
                   of three runs whose starts differ by up to 10 cm.",
        rows: crowds::rows(&peer),
    });
}

/// Returns a row with the value of Recast and the ratio in its note.
fn compared(name: String, own: f64, other: Option<f64>, unit: &'static str) -> Row {
    let mut row = named(name, own, unit, None);
    row.note = other.map_or_else(
        || "Recast was not measured".to_string(),
        |other| format!("Recast {other:.3}: {:.2} x", other / own),
    );
    row
}

fn cpu_ms(mut round: impl FnMut()) -> f64 {
    let clock = ThreadClock::of_this_thread();
    let time = |_| {
        let before = clock.seconds();
        round();
        (clock.seconds() - before) * 1e3
    };
    median((0..ROUNDS).map(time).collect())
}

fn bake(ground: &Ground, threads: usize) -> NavigationMesh {
    let pool = TaskPool::new(Some(threads));
    NavigationMesh::bake(ground.source(), BakeSettings::DEFAULT, &pool).expect("it can be baked")
}

fn bakes(ground: &Ground, peer: &Option<Peer>) -> Vec<Row> {
    let name = &ground.name;
    let other = peer.as_ref().map(|peer| peer.bake(ground, &BakeSettings::DEFAULT, ROUNDS));
    let time = cpu_ms(|| drop(black_box(bake(ground, 1))));
    let mut all = compared(name.clone(), time, other.as_ref().map(|it| it.bake_ms), "ms");
    all.target = ground.bake_target_ms;
    let mut rows = vec![all];
    if let Some(other) = &other {
        let part = time / other.bake_ms;
        rows.push(named(format!("{name}, part of Recast's time"), part, "", Some(1.0 / 1.5)));
    }
    let wall = |threads: usize| {
        let time = |_| {
            let before = Instant::now();
            black_box(bake(ground, threads));
            before.elapsed().as_secs_f64()
        };
        median((0..ROUNDS).map(time).collect())
    };
    let part = wall(2) / wall(1);
    rows.push(named(format!("{name}, two threads to one"), part, "", Some(1.0 / 1.8)));
    rows.extend(tiles(ground, other.map(|it| it.tile_ms)));
    rows
}

/// Times of the tile in the middle: baked, and carved from the spans that are kept.
fn tiles(ground: &Ground, other: Option<f64>) -> [Row; 2] {
    let mut source = ground.source();
    let (low, high) = source.bounds().expect("there are triangles");
    let layout = TileLayout::new(BakeSettings::DEFAULT, low, high).expect("it fits");
    source.sort(&layout).expect("it fits");
    let tile = layout.tiles_y / 2 * layout.tiles_x + layout.tiles_x / 2;
    let baked = || bake_tile(&source, &layout, tile, &[]).expect("it can be baked");
    let time = cpu_ms(|| drop(black_box(baked())));
    let field = baked().field;
    let side = BakeSettings::DEFAULT.tile_cells as f32 * BakeSettings::DEFAULT.cell_size;
    let middle = |low: f32, tiles: usize| low + ((tiles / 2) as f32 + 0.5) * side;
    let (x, y) = (middle(low.x, layout.tiles_x), middle(low.y, layout.tiles_y));
    let height = high.z - low.z + 1.0;
    let shape = AreaShape::Cylinder { position: [x, y, low.z - 0.5], radius: 1.0, height };
    let volumes = [AreaVolume { shape, area: 0 }];
    let carved = cpu_ms(|| {
        drop(black_box(tile_from_field(&field, &layout, tile, &volumes).expect("it fits")));
    });
    let mut row = compared(format!("{}, one tile", ground.name), time, other, "ms");
    row.target = Some(1.0);
    let carved = named(format!("{}, one obstacle", ground.name), carved, "ms", Some(0.3));
    [row, carved]
}

/// Random pairs of points on a mesh.
fn random_pairs(mesh: &NavigationMesh, count: usize) -> Vec<(NearestPolygon, NearestPolygon)> {
    let mut random = Random::seed(17);
    let mut point = || mesh.random_point(|| random.next_f64()).expect("there is ground");
    (0..count).map(|_| (point(), point())).collect()
}

/// Way that was found: true if it is whole, its length, and the time of a search in microseconds.
struct Way {
    is_whole: bool,
    length: f64,
    micros: f64,
}

fn ways(mesh: &NavigationMesh, pairs: &[(NearestPolygon, NearestPolygon)]) -> Vec<Way> {
    let clock = ThreadClock::of_this_thread();
    let mut searcher = Searcher::default();
    let (mut path, mut corners) = (PolygonPath::default(), PointPath::default());
    let mut found = Vec::new();
    for (from, to) in pairs {
        let time = |_| {
            let before = clock.seconds();
            for _ in 0..BATCH {
                searcher.search(mesh, *from, *to, SEARCH_NODES_DEFAULT, &mut path);
                searcher.corners(mesh, &path, usize::MAX, &mut corners);
            }
            (clock.seconds() - before) * 1e6 / BATCH as f64
        };
        let micros = median((0..BATCHES).map(time).collect());
        let length = f64::from(corners.length());
        found.push(Way { is_whole: path.partial.is_none(), length, micros });
    }
    found
}

fn coverage(ground: &Ground, peer: &Option<Peer>) -> Vec<Row> {
    let mesh = bake(ground, 1);
    let own = RecastMesh::of(&mesh);
    let name = &ground.name;
    let Some(peer) = peer else {
        return vec![named(format!("{name}, ground"), own.area(), "m²", None)];
    };
    let other = peer.bake(ground, &BakeSettings::DEFAULT, 1).mesh;
    let mut random = Random::seed(23);
    let mut shared = |of: &RecastMesh, by: &RecastMesh| {
        let points = (0..SAMPLES).map(|_| of.random_point(&mut random));
        let found = points.filter(|point| by.has_ground(*point, SAME_HEIGHT)).count();
        found as f64 / SAMPLES as f64 * 100.0
    };
    let (kept, extra) = (shared(&other, &own), shared(&own, &other));
    let pairs = random_pairs(&mesh, PAIRS);
    let ours = ways(&mesh, &pairs);
    let theirs = peer.paths(ground, &BakeSettings::DEFAULT, &pairs);
    let count = |ways: &[Way]| ways.iter().filter(|way| way.is_whole).count() as f64;
    let both = || ours.iter().zip(&theirs).filter(|(own, other)| own.is_whole && other.is_whole);
    let sum =
        both().fold((0.0, 0.0), |sum, (own, other)| (sum.0 + own.length, sum.1 + other.length));
    let agree = ours.iter().zip(&theirs).filter(|(own, other)| own.is_whole == other.is_whole);
    vec![
        compared(format!("{name}, ground"), own.area(), Some(other.area()), "m²"),
        compared(format!("{name}, polygons"), own.count(), Some(other.count()), ""),
        named(format!("{name}, of Recast's ground"), kept, "%", None),
        named(format!("{name}, of its ground that Recast has"), extra, "%", None),
        compared(format!("{name}, islands"), own.islands(), Some(other.islands()), ""),
        compared(format!("{name}, pairs with a path"), count(&ours), Some(count(&theirs)), ""),
        named(format!("{name}, pairs on which both agree"), agree.count() as f64, "", None),
        named(format!("{name}, length to Detour's"), sum.0 / sum.1, "times", None),
    ]
}

fn test_paths(ground: &Ground, peer: &Option<Peer>) -> Vec<Row> {
    let Some(ends) = ground.test_paths() else { return Vec::new() };
    let mesh = bake(ground, 1);
    let snap = |point| mesh.snap(point).expect("the test case is on the ground");
    let pairs: Vec<_> = ends.into_iter().map(|(from, to)| (snap(from), snap(to))).collect();
    let ours = ways(&mesh, &pairs);
    let theirs = peer.as_ref().map(|it| it.paths(ground, &BakeSettings::DEFAULT, &pairs));
    let micros = |ways: &[Way]| median(ways.iter().map(|way| way.micros).collect());
    let length = |ways: &[Way]| ways.iter().map(|way| way.length).sum::<f64>();
    let whole = |ways: &[Way]| ways.iter().filter(|way| way.is_whole).count() as f64;
    let mut time = compared(
        format!("{} paths of {}, median", pairs.len(), ground.name),
        micros(&ours),
        theirs.as_deref().map(micros),
        "µs",
    );
    time.target = Some(5.0);
    let mut rows = vec![time];
    if let Some(theirs) = &theirs {
        let part = micros(&ours) / micros(theirs);
        rows.push(row("part of Detour's time", part, "", Some(1.0 / 1.5)));
        rows.push(row("length to Detour's", length(&ours) / length(theirs), "times", None));
    }
    rows.push(compared(
        "paths that arrive".to_string(),
        whole(&ours),
        theirs.as_deref().map(whole),
        "",
    ));
    rows
}

fn memory(peer: &Option<Peer>) -> Vec<Row> {
    let ground = Ground::with_pillars(WORLD_SIDE, WORLD_PILLARS);
    let mesh = bake(&ground, 1);
    let mega = 1.0 / (1024.0 * 1024.0);
    let other = peer.as_ref().map(|peer| peer.bake(&ground, &BakeSettings::DEFAULT, 1));
    let bytes = other.as_ref().map(|other| other.bytes as f64 * mega);
    let polygons = other.as_ref().map(|other| other.mesh.count() / 1e3);
    vec![
        compared("polygons".to_string(), mesh.num_polygons() as f64 / 1e3, polygons, "thousand"),
        compared("mesh".to_string(), mesh.bytes() as f64 * mega, bytes, "MiB"),
        row("hierarchy for far paths", mesh.hierarchy_bytes() as f64 * mega, "MiB", None),
    ]
}
