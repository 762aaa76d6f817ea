//! The program that does with Recast and Detour what the engine does: how it is built and started,
//! and what it prints.

use super::Way;
use super::ground::{Ground, from_peer, to_peer};
use engine::foundation::Vec3;
use engine::foundation::random::Random;
use engine::system::navigation::bake::BakeSettings;
use engine::system::navigation::mesh::{NavigationMesh, NearestPolygon};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder for its files, and the program in it.
pub struct Peer {
    folder: PathBuf,
}

/// Polygons of a mesh with their neighbours.
#[derive(Default)]
pub struct RecastMesh {
    polygons: Vec<Vec<Vec3>>,
    neighbors: Vec<(usize, usize)>,
    /// Area of all polygons up to each one.
    areas: Vec<f64>,
}

pub struct RecastBake {
    pub bake_ms: f64,
    pub tile_ms: f64,
    pub bytes: usize,
    pub mesh: RecastMesh,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn number(word: Option<&str>) -> f64 {
    word.and_then(|word| word.parse().ok()).expect("the peer prints numbers")
}

fn settings_text(settings: &BakeSettings) -> String {
    let BakeSettings { cell_size, cell_height, height, radius, step, slope, tile_cells, .. } =
        settings;
    format!("{cell_size},{cell_height},{height},{radius},{step},{slope},{tile_cells}")
}

impl Peer {
    /// Builds the program; `None` if there is no compiler or no Recast.
    pub fn open() -> Option<Peer> {
        let folder = std::env::temp_dir().join(format!("engine-recast-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is a folder for temporary files");
        let peer = Peer { folder };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/recast/peer.cpp");
        let built = Command::new("c++")
            .args(["-std=c++17", "-O2", "-o"])
            .arg(peer.file("peer"))
            .arg(source)
            .args(["-lDetourCrowd", "-lDetour", "-lRecast"])
            .output();
        match built {
            Ok(output) if output.status.success() => Some(peer),
            Ok(output) => {
                println!("Recast is left out: {}", String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                println!("Recast is left out: c++: {error}");
                None
            }
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Starts the program with a ground, and returns its output.
    pub fn start(
        &self,
        (command, ground): (&str, &Ground),
        settings: &BakeSettings,
        arguments: &[&str],
    ) -> String {
        let obj = self.file("ground.obj");
        ground.write(&obj);
        let output = Command::new(self.file("peer"))
            .arg(command)
            .arg(obj)
            .arg(settings_text(settings))
            .args(arguments)
            .output()
            .expect("the program can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it prints text")
    }

    pub fn bake(&self, ground: &Ground, settings: &BakeSettings, rounds: usize) -> RecastBake {
        let output = self.start(("bake", ground), settings, &[&rounds.to_string()]);
        let value = |name: &str| {
            let line = output.lines().find_map(|line| line.strip_prefix(name));
            number(line.map(str::trim))
        };
        RecastBake {
            bake_ms: value("bake "),
            tile_ms: value("tile "),
            bytes: value("bytes ") as usize,
            mesh: RecastMesh::read(&output),
        }
    }

    pub fn paths(
        &self,
        ground: &Ground,
        settings: &BakeSettings,
        pairs: &[(NearestPolygon, NearestPolygon)],
    ) -> Vec<Way> {
        let mut text = String::new();
        for (from, to) in pairs {
            let ends = [from, to].map(|end| to_peer(end.position));
            ends.as_flattened().iter().for_each(|number| write!(text, "{number} ").unwrap());
            text.push('\n');
        }
        let file = self.file("pairs");
        std::fs::write(&file, text).expect("the pairs can be written");
        let file = file.to_str().expect("a usual path");
        let output = self.start(("paths", ground), settings, &[file]);
        let way = |line: &str| {
            let mut parts = line.split_whitespace();
            let is_whole = number(parts.next()) > 0.0;
            Way { is_whole, length: number(parts.next()), micros: number(parts.next()) }
        };
        output.lines().map(way).collect()
    }
}

impl RecastMesh {
    fn read(output: &str) -> RecastMesh {
        let (mut mesh, mut numbers) = (RecastMesh::default(), HashMap::new());
        let mut links = Vec::new();
        for line in output.lines() {
            let mut parts = line.split_whitespace();
            match parts.next() {
                Some("polygon") => {
                    numbers.insert(parts.next().expect("a number"), mesh.polygons.len());
                    let n: Vec<f32> = parts.map(|word| number(Some(word)) as f32).collect();
                    let points = n.chunks_exact(3).map(|of| from_peer([of[0], of[1], of[2]]));
                    mesh.polygons.push(points.collect());
                }
                Some("link") => links.push((parts.next().unwrap(), parts.next().unwrap())),
                _ => {}
            }
        }
        mesh.neighbors = links.iter().map(|(a, b)| (numbers[a], numbers[b])).collect();
        mesh.sum_areas();
        mesh
    }

    pub fn of(mesh: &NavigationMesh) -> RecastMesh {
        let count = mesh.num_polygons() as u32;
        let mut of = RecastMesh::default();
        for polygon in 0..count {
            of.polygons.push(mesh.corners(polygon).to_vec());
            let neighbors = mesh.neighbors(polygon);
            of.neighbors.extend(neighbors.map(|to| (polygon as usize, to as usize)));
        }
        of.sum_areas();
        of
    }

    fn sum_areas(&mut self) {
        let mut sum = 0.0;
        for polygon in &self.polygons {
            let fan = polygon.windows(2).skip(1);
            let twice: f32 = fan
                .map(|pair| {
                    let [a, b] = [pair[0], pair[1]].map(|point| (point - polygon[0]).truncate());
                    a.perp_dot(b).abs()
                })
                .sum();
            sum += f64::from(twice) * 0.5;
            self.areas.push(sum);
        }
    }

    pub fn area(&self) -> f64 {
        self.areas.last().copied().unwrap_or(0.0)
    }

    pub fn count(&self) -> f64 {
        self.polygons.len() as f64
    }

    /// Returns the number of parts of the ground that are joined.
    pub fn islands(&self) -> f64 {
        let mut parents: Vec<usize> = (0..self.polygons.len()).collect();
        fn root(parents: &mut [usize], mut at: usize) -> usize {
            while parents[at] != at {
                parents[at] = parents[parents[at]];
                at = parents[at];
            }
            at
        }
        for (a, b) in &self.neighbors {
            let (a, b) = (root(&mut parents, *a), root(&mut parents, *b));
            parents[a.max(b)] = a.min(b);
        }
        (0..parents.len()).filter(|at| parents[*at] == *at).count() as f64
    }

    /// Returns a random point on the ground.
    pub fn random_point(&self, random: &mut Random) -> Vec3 {
        let wanted = random.next_f64() * self.area();
        let at = self.areas.partition_point(|sum| *sum <= wanted).min(self.polygons.len() - 1);
        let polygon = &self.polygons[at];
        let corner = 1 + (random.next_f64() * (polygon.len() - 2) as f64) as usize;
        let (mut u, mut v) = (random.next_f64() as f32, random.next_f64() as f32);
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let [a, b, c] = [polygon[0], polygon[corner], polygon[corner + 1]];
        a + (b - a) * u + (c - a) * v
    }

    /// Returns true if there is ground at a point, at about its height.
    pub fn has_ground(&self, point: Vec3, height: f32) -> bool {
        self.polygons.iter().any(|polygon| {
            let ends = polygon.iter().zip(polygon.iter().cycle().skip(1));
            let sides = ends.map(|(a, b)| (*b - *a).truncate().perp_dot((point - *a).truncate()));
            let (mut low, mut high) = (f32::MAX, f32::MIN);
            sides.for_each(|side| (low, high) = (low.min(side), high.max(side)));
            let heights = || polygon.iter().map(|corner| corner.z);
            (low >= 0.0 || high <= 0.0)
                && heights().fold(f32::MAX, f32::min) - height <= point.z
                && heights().fold(f32::MIN, f32::max) + height >= point.z
        })
    }
}
