//! The clusters of a view: its frustum is divided into columns, rows and slices of depth, and each
//! cluster gets a list of the lights that may reach into it. Knows no colors and no shadows.
//!
//! After Olsson, Billeter and Assarsson, "Clustered Deferred and Forward Shading", 2012. Spheres
//! are narrowed from slices to rows to columns, after Persson, "Practical Clustered Shading", 2013:
//! the part of a sphere beyond a plane lies within a smaller sphere around the nearest point of the
//! plane.

use super::lights::is_perspective;
use engine_foundation::{Vec3, Vec4};
use engine_frame_packet::CameraFrame;

/// Number of clusters across, down and ahead. The same as in forward/local_lights.wgsl.
pub const COLUMNS: usize = 16;
pub const ROWS: usize = 9;
pub const SLICES: usize = 24;
/// Number of clusters of a view.
pub const CLUSTERS: usize = COLUMNS * ROWS * SLICES;
/// Bits of a cluster's word that hold the number of its lights; the others hold its first entry.
pub const COUNT_BITS: u32 = 13;

/// The first slice ends at most this far ahead, in metres.
const FIRST_SLICE_END_MAX: f32 = 1.0;
/// Farther lights are in the last slice, in metres.
const DEPTH_MAX: f32 = 1e6;
/// Relative and absolute enlargement of lights and of slices, because adapters round differently.
const SLACK: f32 = 1e-3;

/// Bits of a run: the first cluster, the number of clusters less one, and the light.
const RUN_LENGTH_SHIFT: u32 = 12;
const RUN_LIGHT_SHIFT: u32 = 16;
const _: () = assert!(CLUSTERS <= 1 << RUN_LENGTH_SHIFT && COLUMNS <= 16);

/// The sphere that a light reaches into.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LightSphere {
    pub center: Vec3,
    pub radius: f32,
}

/// Planes through all boundaries between columns or between rows, as arrays. `N` is one more than
/// the number of columns or rows. Relative to the camera.
struct Boundaries<const N: usize> {
    normals: [Vec3; N],
    offsets: [f32; N],
    /// Distance by which a point on the far side of each changes if it moves one metre ahead.
    ahead: [f32; N],
}

/// The division of a view's frustum.
struct ClusterGrid {
    eye: Vec3,
    /// Direction ahead, its length, and the same with a length of 1.
    ahead: Vec3,
    ahead_length: f32,
    columns: Boundaries<{ COLUMNS + 1 }>,
    rows: Boundaries<{ ROWS + 1 }>,
    /// Changes of the columns' distances if a point moves one metre along the normal of a row.
    columns_by_row: [[f32; COLUMNS + 1]; ROWS + 1],
    is_perspective: bool,
    /// Factor and offset from the depth, or its binary logarithm, to the slice.
    slices: [f32; 2],
    /// Nearest and farthest depth of each slice.
    begins: [f32; SLICES],
    ends: [f32; SLICES],
}

/// Returns the planes between the parts of a frustum. `side(part)` is the plane at a fraction.
fn boundaries<const N: usize>(eye: Vec3, ahead: Vec3, side: impl Fn(f32) -> Vec4) -> Boundaries<N> {
    let mut all = Boundaries { normals: [Vec3::ZERO; N], offsets: [0.0; N], ahead: [0.0; N] };
    for i in 0..N {
        let plane = side(i as f32 / (N - 1) as f32);
        let length = plane.truncate().length();
        if length > 0.0 {
            all.normals[i] = plane.truncate() / length;
            all.offsets[i] = (plane.w + plane.truncate().dot(eye)) / length;
            all.ahead[i] = all.normals[i].dot(ahead);
        }
    }
    all
}

impl<const N: usize> Boundaries<N> {
    /// Returns the distance of a point from each plane; it is positive beyond the plane.
    fn distances(&self, point: Vec3) -> [f32; N] {
        std::array::from_fn(|i| self.normals[i].dot(point) + self.offsets[i])
    }
}

/// Returns the first and the last part between boundaries that a sphere reaches; `None`: none.
fn reached(distances: &[f32], radius: f32) -> Option<(usize, usize)> {
    let parts = distances.len() - 1;
    let first = (0..parts).find(|i| distances[i + 1] <= radius)?;
    let last = (0..parts).rfind(|i| distances[*i] >= -radius)?;
    (first <= last).then_some((first, last))
}

impl ClusterGrid {
    fn new(camera: &CameraFrame, lights: &[LightSphere]) -> ClusterGrid {
        let eye = camera.position;
        let ahead = -camera.view.row(2).truncate();
        let ahead_length = ahead.length().max(f32::MIN_POSITIVE);
        let unit = ahead / ahead_length;
        let to_clip = camera.projection * camera.view;
        let [x, y, w] = [0, 1, 3].map(|row| to_clip.row(row));
        let columns = boundaries(eye, unit, |part| x - w * (part * 2.0 - 1.0));
        // Rows begin at the top.
        let rows: Boundaries<{ ROWS + 1 }> =
            boundaries(eye, unit, |part| w * (1.0 - part * 2.0) - y);
        let mut columns_by_row = [[0.0; COLUMNS + 1]; ROWS + 1];
        for (by_row, row) in columns_by_row.iter_mut().zip(&rows.normals) {
            *by_row = columns.normals.map(|column| column.dot(*row));
        }
        let mut grid = ClusterGrid {
            eye,
            ahead,
            ahead_length,
            columns,
            rows,
            columns_by_row,
            is_perspective: is_perspective(camera),
            slices: [0.0; 2],
            begins: [0.0; SLICES],
            ends: [0.0; SLICES],
        };
        grid.divide_depth(camera, lights);
        grid
    }

    /// Divides the depth range of the lights into slices: evenly, or with perspective, in equal
    /// ratios after the first slice.
    fn divide_depth(&mut self, camera: &CameraFrame, lights: &[LightSphere]) {
        let [mut least, mut most] = [f32::INFINITY, f32::NEG_INFINITY];
        for LightSphere { center, radius } in lights {
            let depth = self.ahead.dot(*center - self.eye);
            let reach = radius * self.ahead_length;
            (least, most) = (least.min(depth - reach), most.max(depth + reach));
        }
        let far = most.min(camera.far).clamp(-DEPTH_MAX, DEPTH_MAX);
        let boundary: Box<dyn Fn(usize) -> f32> = if self.is_perspective {
            let near = camera.near.clamp(1e-3, DEPTH_MAX);
            let begin = near.max(FIRST_SLICE_END_MAX.min(far * 0.02));
            let octaves = (far.max(begin * 2.0) / begin).log2();
            let scale = (SLICES - 1) as f32 / octaves;
            self.slices = [scale, 1.0 - begin.log2() * scale];
            Box::new(move |i| match i {
                0 => near,
                i => begin * ((i - 1) as f32 / scale).exp2(),
            })
        } else {
            let begin = least.max(camera.near).clamp(-DEPTH_MAX, DEPTH_MAX);
            let length = (far - begin).max(1e-3);
            self.slices = [SLICES as f32 / length, -begin * SLICES as f32 / length];
            Box::new(move |i| begin + length * i as f32 / SLICES as f32)
        };
        for i in 0..SLICES {
            let [begin, end] = [boundary(i), boundary(i + 1)];
            let slack = SLACK * (end - begin).max(begin.abs() * 0.1).max(1e-3);
            self.begins[i] = begin - slack;
            self.ends[i] = end + slack;
        }
        if !self.is_perspective {
            self.begins[0] = f32::NEG_INFINITY;
        }
        self.ends[SLICES - 1] = f32::INFINITY;
    }

    /// Returns the slice of a depth, as a number that may be outside of the range.
    fn slice(&self, depth: f32) -> f32 {
        let depth = if self.is_perspective { depth.max(1e-6).log2() } else { depth };
        depth * self.slices[0] + self.slices[1]
    }

    /// Passes each run of clusters in a row that a sphere may reach: its first cluster, and the
    /// number of clusters.
    fn visit(&self, sphere: &LightSphere, mut run: impl FnMut(u32, u32)) {
        let point = sphere.center - self.eye;
        let radius = sphere.radius * (1.0 + SLACK) + SLACK;
        let depth = self.ahead.dot(point);
        let reach = radius * self.ahead_length;
        let most = (SLICES - 1) as f32;
        let first = (self.slice(depth - reach) - 0.01).clamp(0.0, most) as usize;
        let last = (self.slice(depth + reach) + 0.01).clamp(0.0, most) as usize;
        let columns = self.columns.distances(point);
        let rows = self.rows.distances(point);
        for slice in first..=last {
            let (begin, end) = (self.begins[slice], self.ends[slice]);
            let shift = (begin - depth).max(0.0) + (end - depth).min(0.0);
            let shift = shift / self.ahead_length;
            let square = radius * radius - shift * shift;
            if square < 0.0 {
                continue;
            }
            let in_slice: [f32; ROWS + 1] =
                std::array::from_fn(|i| rows[i] + shift * self.rows.ahead[i]);
            let Some((top, bottom)) = reached(&in_slice, square.sqrt()) else { continue };
            for row in top..=bottom {
                let (above, below) = (in_slice[row], in_slice[row + 1]);
                // Into the row from above, or from below.
                let (plane, across) = match above < 0.0 {
                    true => (row, -above),
                    false => (row + 1, (-below).min(0.0)),
                };
                let rest = square - across * across;
                if rest < 0.0 {
                    continue;
                }
                let (by_row, ahead) = (&self.columns_by_row[plane], &self.columns.ahead);
                let in_row: [f32; COLUMNS + 1] =
                    std::array::from_fn(|i| columns[i] + shift * ahead[i] + across * by_row[i]);
                if let Some((left, right)) = reached(&in_row, rest.sqrt()) {
                    let cluster = (slice * ROWS + row) * COLUMNS + left;
                    run(cluster as u32, (right - left + 1) as u32);
                }
            }
        }
    }
}

/// The result of a clustering.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Clustering {
    /// Factor and offset from the depth (with perspective, from its binary logarithm) to the slice.
    pub slices: [f32; 2],
    /// Number of entries, and of lights that have none, because there was no room for them.
    pub entries: usize,
    pub dropped: usize,
}

/// A builder of clusters, which keeps its memory.
#[derive(Default)]
pub struct ClusterBuilder {
    runs: Vec<u32>,
    counts: Vec<u32>,
}

impl ClusterBuilder {
    /// Assigns lights, the most important first, to the clusters of a view. Appends to `to` a word
    /// for each cluster (its first entry and the number of its entries), and then the entries:
    /// indices of lights, in ascending order. `room` is the maximum number of entries; a light
    /// whose entries do not fit has none.
    pub fn build(
        &mut self,
        camera: &CameraFrame,
        lights: &[LightSphere],
        room: usize,
        to: &mut Vec<u32>,
    ) -> Clustering {
        assert!(lights.len() < 1 << COUNT_BITS && room <= 1 << (32 - COUNT_BITS));
        let grid = ClusterGrid::new(camera, lights);
        let mut done = Clustering { slices: grid.slices, ..Clustering::default() };
        self.runs.clear();
        self.counts.clear();
        self.counts.resize(CLUSTERS, 0);
        let mut entries = 0usize;
        for (i, sphere) in (0..).zip(lights) {
            let (begin, known) = (self.runs.len(), entries);
            grid.visit(sphere, |first, count| {
                entries += count as usize;
                self.runs.push(first | (count - 1) << RUN_LENGTH_SHIFT | i << RUN_LIGHT_SHIFT);
            });
            if entries > room {
                self.runs.truncate(begin);
                entries = known;
                done.dropped += 1;
            }
        }
        done.entries = entries;
        let clusters = |run: u32| {
            let first = (run & ((1 << RUN_LENGTH_SHIFT) - 1)) as usize;
            let count = (run >> RUN_LENGTH_SHIFT & 15) as usize + 1;
            first..first + count
        };
        for run in &self.runs {
            self.counts[clusters(*run)].iter_mut().for_each(|count| *count += 1);
        }
        let mut first = 0;
        for count in &mut self.counts {
            // An empty cluster after all entries has no first one.
            to.push(if *count == 0 { 0 } else { first << COUNT_BITS | *count });
            first += std::mem::replace(count, first);
        }
        let begin = to.len();
        to.resize(begin + entries, 0);
        let entries = &mut to[begin..];
        for run in &self.runs {
            for at in &mut self.counts[clusters(*run)] {
                entries[*at as usize] = run >> RUN_LIGHT_SHIFT;
                *at += 1;
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Mat4;
    use engine_foundation::projections::{orthographic, perspective};
    use engine_foundation::random::Random;
    use engine_foundation::views::look_to_mat4;

    fn camera(projection: Mat4, near: f32, far: f32) -> CameraFrame {
        let position = Vec3::new(3.0, -7.0, 2.0);
        let direction = Vec3::new(0.3, 1.0, -0.2).normalize();
        CameraFrame {
            view: look_to_mat4(position, direction, Vec3::Z),
            projection,
            position,
            near,
            far,
        }
    }

    fn cameras() -> [CameraFrame; 4] {
        [
            camera(perspective(1.0, 1.6, 0.1, 300.0), 0.1, 300.0),
            camera(perspective(2.4, 0.5, 0.01, 2000.0), 0.01, 2000.0),
            camera(orthographic(-8.0, 30.0, -20.0, 5.0, -50.0, 90.0), -50.0, 90.0),
            camera(orthographic(-1.0, 1.0, -1.0, 1.0, 0.0, 1.0), 0.0, 1.0),
        ]
    }

    /// Returns the lights of the cluster in which a point of clip space lies, as the shader does.
    fn lights_at(camera: &CameraFrame, clip: Vec3, grid: &[u32], slices: [f32; 2]) -> Vec<u32> {
        let world = (camera.projection * camera.view).inverse().project_point3(clip);
        let ahead = (world - camera.position).dot(-camera.view.row(2).truncate());
        let depth = if is_perspective(camera) { ahead.max(1e-6).log2() } else { ahead };
        let cell = |value: f32, count: usize| value.clamp(0.0, (count - 1) as f32) as usize;
        let column = cell((clip.x * 0.5 + 0.5) * COLUMNS as f32, COLUMNS);
        let row = cell((0.5 - clip.y * 0.5) * ROWS as f32, ROWS);
        let slice = cell(depth * slices[0] + slices[1], SLICES);
        let word = grid[(slice * ROWS + row) * COLUMNS + column];
        let (first, count) = (word >> COUNT_BITS, word & ((1 << COUNT_BITS) - 1));
        grid[CLUSTERS + first as usize..][..count as usize].to_vec()
    }

    fn random_spheres(random: &mut Random, count: usize, reach: f32) -> Vec<LightSphere> {
        let mut number = |least: f32, most: f32| least + (most - least) * random.next_f64() as f32;
        let mut all = Vec::new();
        for _ in 0..count {
            let center = Vec3::from_array([(); 3].map(|()| number(-reach, reach)));
            let radius = number(0.0, 1.0).powi(4) * reach;
            all.push(LightSphere { center, radius });
        }
        all
    }

    #[test]
    fn a_cluster_lists_every_light_that_reaches_into_it() {
        let mut random = Random::seed(7);
        let (mut listed, mut reaching) = (0, 0);
        for camera in cameras() {
            let to_world = (camera.projection * camera.view).inverse();
            for reach in [2.0, 20.0, 200.0] {
                let lights = random_spheres(&mut random, 200, reach);
                let mut grid = Vec::new();
                let done = ClusterBuilder::default().build(&camera, &lights, 1 << 19, &mut grid);
                assert_eq!(done.dropped, 0);
                for _ in 0..2000 {
                    let mut number = || random.next_f64() as f32;
                    let depth = if is_perspective(&camera) { number().powf(0.1) } else { number() };
                    let clip = Vec3::new(number() * 2.0 - 1.0, number() * 2.0 - 1.0, depth);
                    let world = to_world.project_point3(clip);
                    let found = lights_at(&camera, clip, &grid, done.slices);
                    assert!(found.is_sorted(), "{found:?}");
                    listed += found.len();
                    for (i, light) in (0..).zip(&lights) {
                        if light.center.distance(world) < light.radius {
                            reaching += 1;
                            assert!(found.contains(&i), "{light:?} at {world} of {camera:?}");
                        }
                    }
                }
            }
        }
        // Most of the listed lights do reach the point.
        assert!(reaching > 10_000 && listed < 2 * reaching, "{listed} for {reaching}");
    }

    #[test]
    fn the_least_important_lights_are_dropped_if_there_is_no_room() {
        let camera = cameras()[0];
        let all = LightSphere { center: camera.position, radius: 1e6 };
        let mut grid = vec![5];
        let mut builder = ClusterBuilder::default();
        let done = builder.build(&camera, &[all; 9], 4 * CLUSTERS + 17, &mut grid);
        assert_eq!((done.dropped, grid.len()), (5, 1 + CLUSTERS + 4 * CLUSTERS));
        assert_eq!(
            lights_at(&camera, Vec3::new(0.9, 0.9, 0.5), &grid[1..], done.slices),
            [0, 1, 2, 3]
        );
        // A smaller light fits into the room that is left.
        let small = LightSphere { center: camera.position + Vec3::Y * 20.0, radius: 0.1 };
        let lights = [all, all, small];
        let done = builder.build(&camera, &lights, CLUSTERS + 100, &mut Vec::new());
        assert_eq!(done.dropped, 1);
    }

    #[test]
    fn lights_and_cameras_without_extent_or_limits_are_harmless() {
        let nan = CameraFrame { view: Mat4::NAN, position: Vec3::NAN, ..cameras()[0] };
        let zero = CameraFrame { projection: Mat4::ZERO, ..cameras()[0] };
        let endless = CameraFrame { far: f32::INFINITY, ..cameras()[0] };
        let odd = [nan, zero, endless];
        for camera in cameras().iter().chain(&odd) {
            let lights = [
                LightSphere { center: Vec3::ZERO, radius: 0.0 },
                LightSphere { center: Vec3::splat(1e30), radius: 1e6 },
                LightSphere { center: Vec3::splat(f32::MAX), radius: f32::MAX },
                LightSphere { center: Vec3::ZERO, radius: 1e6 },
            ];
            let mut grid = Vec::new();
            ClusterBuilder::default().build(camera, &lights, 1 << 18, &mut grid);
            assert!(grid[CLUSTERS..].iter().all(|light| *light < 4));
        }
    }
}
