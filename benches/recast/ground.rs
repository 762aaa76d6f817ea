//! Ground for comparisons: obj files of Recast's sources, and boxes.

use engine::foundation::Vec3;
use engine::foundation::random::Random;
use engine::system::navigation::bake::BakeSource;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Files of Recast, and the times that a bake may take, in milliseconds.
const FILES: [(&str, Option<f64>); 3] =
    [("dungeon.obj", Some(25.0)), ("nav_test.obj", Some(10.0)), ("undulating.obj", None)];
/// File of the paths of Recast's test case, and the ground to which they belong.
const TEST_CASE: (&str, &str) = ("TestCases/nav_mesh_test.txt", "nav_test.obj");

/// Triangles, with z upwards.
#[derive(Default)]
pub struct Ground {
    pub name: String,
    pub bake_target_ms: Option<f64>,
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    folder: PathBuf,
}

/// Returns a point in the engine's coordinates, of one with y upwards.
pub fn from_peer([x, y, z]: [f32; 3]) -> Vec3 {
    Vec3::new(x, -z, y)
}

/// Returns a point with y upwards.
pub fn to_peer(point: Vec3) -> [f32; 3] {
    [point.x, point.z, -point.y]
}

/// Reads the ground of Recast's sources; `None` without the folder.
pub fn of_recast() -> Option<Vec<Ground>> {
    let Some(folder) = std::env::var_os("RECAST").map(PathBuf::from) else {
        println!("RECAST is not set to Recast's folder RecastDemo/Bin: its ground is left out");
        return None;
    };
    let read = |(name, target): (&str, Option<f64>)| {
        let path = folder.join("Meshes").join(name);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut ground = Ground::read(&text);
        (ground.name, ground.bake_target_ms) = (name.to_string(), target);
        ground.folder = folder.clone();
        ground
    };
    Some(FILES.into_iter().map(read).collect())
}

impl Ground {
    fn read(text: &str) -> Ground {
        let mut ground = Ground::default();
        for line in text.lines() {
            let mut parts = line.split_whitespace();
            match parts.next() {
                Some("v") => {
                    let mut number =
                        || parts.next().and_then(|word| word.parse().ok()).expect("a number");
                    ground.points.push(from_peer([number(), number(), number()]));
                }
                Some("f") => {
                    let corner = |word: &str| {
                        let number = word.split('/').next().and_then(|word| word.parse().ok());
                        number.map(|number: u32| number - 1).expect("a number")
                    };
                    let face: Vec<u32> = parts.map(corner).collect();
                    let fan = face.windows(2).skip(1);
                    ground.triangles.extend(fan.map(|pair| [face[0], pair[0], pair[1]]));
                }
                _ => {}
            }
        }
        ground
    }

    /// Makes ground of boxes: their lower and upper corners.
    pub fn of_boxes(name: &str, boxes: &[(Vec3, Vec3)]) -> Ground {
        let mut ground = Ground { name: name.to_string(), ..Ground::default() };
        for (low, high) in boxes {
            let first = ground.points.len() as u32;
            let pick = |at: u32, bit: u32, axis: usize| {
                if at & bit == 0 { low[axis] } else { high[axis] }
            };
            let corner = |at| Vec3::new(pick(at, 1, 0), pick(at, 2, 1), pick(at, 4, 2));
            ground.points.extend((0..8).map(corner));
            for [a, b, c, d] in
                [[4, 5, 7, 6], [0, 2, 3, 1], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
            {
                ground.triangles.push([first + a, first + b, first + c]);
                ground.triangles.push([first + a, first + c, first + d]);
            }
        }
        ground
    }

    /// Makes a square with pillars of a metre at random.
    pub fn with_pillars(side: f32, count: usize) -> Ground {
        let mut random = Random::seed(5);
        let mut boxes = vec![(Vec3::new(0.0, 0.0, -1.0), Vec3::new(side, side, 0.0))];
        for _ in 0..count {
            let mut any = || random.next_f64() as f32 * (side - 2.0);
            let low = Vec3::new(any(), any(), 0.0);
            boxes.push((low, low + Vec3::new(1.0, 1.0, 3.0)));
        }
        Ground::of_boxes("pillars", &boxes)
    }

    pub fn source(&self) -> BakeSource {
        let (points, triangles) = (self.points.clone(), self.triangles.clone());
        BakeSource::new(points, triangles).expect("the triangles can be baked")
    }

    /// Writes the ground as an obj file.
    pub fn write(&self, path: &Path) {
        let mut text = String::new();
        for point in &self.points {
            let [x, y, z] = to_peer(*point);
            let _ = writeln!(text, "v {x} {y} {z}");
        }
        for [a, b, c] in &self.triangles {
            let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
        }
        std::fs::write(path, text).expect("the ground can be written");
    }

    /// Returns the ends of the paths of Recast's test case; `None` if it is of other ground.
    pub fn test_paths(&self) -> Option<Vec<(Vec3, Vec3)>> {
        let (file, ground) = TEST_CASE;
        if self.name != ground {
            return None;
        }
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let paths = text.lines().filter_map(|line| line.strip_prefix("pf "));
        let read = |line: &str| {
            let parts = line.split_whitespace().take(6);
            let n: Vec<f32> = parts.map(|word| word.parse().expect("a number")).collect();
            (from_peer([n[0], n[1], n[2]]), from_peer([n[3], n[4], n[5]]))
        };
        Some(paths.map(read).collect())
    }
}
