//! Fits the table of area lights, src/system/render/scene/area_light_table.rs: Heitz, Dupuy, Hill
//! and Neubelt, "Real-Time Polygonal-Light Shading with Linearly Transformed Cosines", 2016. For
//! each roughness and direction of the camera, a matrix turns a lobe of cosines into one that is as
//! close as possible to that of the engine's microfacets. Draws nothing.

use std::f64::consts::PI;
use std::fmt::Write;

/// Number of rows (roughness) and of columns (directions).
pub const SIDE: usize = 32;
/// Samples of an integral are a square with this side.
const SAMPLES: usize = 32;
/// Steps of a search.
const STEPS: usize = 120;

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn scaled(a: Vector, factor: f64) -> Vector {
    a.map(|part| part * factor)
}

fn unit(a: Vector) -> Vector {
    scaled(a, 1.0 / dot(a, a).sqrt())
}

/// The microfacets of a white mirror: GGX with the height-correlated Smith term. The squared
/// roughness, and the direction towards the camera.
#[derive(Clone, Copy)]
struct Facets {
    alpha: f64,
    back: Vector,
}

impl Facets {
    /// Returns those of a row and a column. The smallest squared roughness is that of mesh.wgsl.
    fn of(row: usize, column: usize) -> Facets {
        let [row, column] = [row, column].map(|at| at as f64 / (SIDE - 1) as f64);
        let cosine = (1.0 - column * column).max(0.01);
        let back = [(1.0 - cosine * cosine).max(0.0).sqrt(), 0.0, cosine];
        Facets { alpha: (row * row).max(0.002), back }
    }

    /// Returns the light that is reflected, times the cosine of the direction that it comes from,
    /// and the density of [`Facets::sample`].
    fn reflected(&self, towards: Vector) -> (f64, f64) {
        if towards[2] <= 0.0 {
            return (0.0, 0.0);
        }
        let half = unit([0, 1, 2].map(|i| towards[i] + self.back[i]));
        let square = self.alpha * self.alpha;
        let d = half[2] * half[2] * (square - 1.0) + 1.0;
        let distribution = square / (PI * d * d);
        let smith = |a: f64, b: f64| a * (b * b * (1.0 - square) + square).sqrt();
        let visible = 0.5 / (smith(towards[2], self.back[2]) + smith(self.back[2], towards[2]));
        let density = distribution * half[2] / (4.0 * dot(half, towards).max(1e-9));
        (distribution * visible * towards[2], density)
    }

    /// Returns a direction that light comes from, for two numbers from 0 to 1.
    fn sample(&self, [a, b]: [f64; 2]) -> Vector {
        let slope = self.alpha * (a / (1.0 - a)).sqrt();
        let turn = 2.0 * PI * b;
        let half = unit([slope * turn.cos(), slope * turn.sin(), 1.0]);
        let twice = 2.0 * dot(half, self.back);
        [0, 1, 2].map(|i| twice * half[i] - self.back[i])
    }
}

/// A lobe of cosines under the matrix with the columns `x * m11`, `y * m22` and `x * m13 + z`.
struct Lobe {
    x: Vector,
    z: Vector,
    m11: f64,
    m22: f64,
    m13: f64,
}

impl Lobe {
    fn new(mean: Vector, parameters: [f64; 3]) -> Lobe {
        let x = [mean[2], 0.0, -mean[0]];
        let [m11, m22] = [parameters[0].exp(), parameters[1].exp()];
        Lobe { x, z: mean, m11, m22, m13: parameters[2] }
    }

    fn sample(&self, [a, b]: [f64; 2]) -> Vector {
        let (radius, turn) = (a.sqrt(), 2.0 * PI * b);
        let [x, y, z] = [radius * turn.cos(), radius * turn.sin(), (1.0 - a).sqrt()];
        let along = self.m11 * x + self.m13 * z;
        unit([along * self.x[0] + z * self.z[0], self.m22 * y, along * self.x[2] + z * self.z[2]])
    }

    /// Returns the density of a direction.
    fn density(&self, way: Vector) -> f64 {
        let (ahead, across) = (dot(way, self.z), dot(way, self.x));
        let back = [(across - self.m13 * ahead) / self.m11, way[1] / self.m22, ahead];
        let length = dot(back, back).sqrt();
        let determinant = 1.0 / (self.m11 * self.m22);
        (back[2] / length).max(0.0) / PI * determinant / (length * length * length)
    }

    /// Returns the rows of the inverse matrix that are not 0, with a middle of 1.
    fn inverse(&self) -> [f64; 4] {
        let row = |i: usize| self.m22 / self.m11 * (self.x[i] - self.m13 * self.z[i]);
        [row(0), row(2), self.m22 * self.z[0], self.m22 * self.z[2]]
    }
}

fn pairs() -> impl Iterator<Item = [f64; 2]> {
    let at = |i: usize| (i as f64 + 0.5) / SAMPLES as f64;
    (0..SAMPLES * SAMPLES).map(move |i| [at(i % SAMPLES), at(i / SAMPLES)])
}

/// Returns how far a lobe is from microfacets: the integral of the square of the difference, with
/// samples of both (Veach and Guibas, "Optimally Combining Sampling Techniques", 1995).
fn distance(facets: &Facets, total: f64, lobe: &Lobe) -> f64 {
    let mut sum = 0.0;
    let mut add = |way: Vector| {
        let (value, of_facets) = facets.reflected(way);
        let of_lobe = lobe.density(way);
        if of_facets + of_lobe > 0.0 {
            sum += (value / total - of_lobe).powi(2) / (of_facets + of_lobe);
        }
    };
    for pair in pairs() {
        add(facets.sample(pair));
        add(lobe.sample(pair));
    }
    sum
}

/// Returns the least point of a function: Nelder and Mead, "A Simplex Method for Function
/// Minimization", 1965.
fn least(begin: [f64; 3], step: f64, value: impl Fn([f64; 3]) -> f64) -> [f64; 3] {
    let moved = |i: usize| {
        let mut point = begin;
        point[i] += step;
        point
    };
    let mut points: Vec<([f64; 3], f64)> =
        [begin, moved(0), moved(1), moved(2)].map(|point| (point, value(point))).into();
    for _ in 0..STEPS {
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        let center: [f64; 3] =
            std::array::from_fn(|i| points[..3].iter().map(|it| it.0[i]).sum::<f64>() / 3.0);
        let towards = |factor: f64| {
            let point: [f64; 3] =
                std::array::from_fn(|i| center[i] + factor * (points[3].0[i] - center[i]));
            (point, value(point))
        };
        let reflected = towards(-1.0);
        let chosen = if reflected.1 < points[0].1 {
            let further = towards(-2.0);
            if further.1 < reflected.1 { further } else { reflected }
        } else if reflected.1 < points[2].1 {
            reflected
        } else {
            towards(if reflected.1 < points[3].1 { -0.5 } else { 0.5 })
        };
        if chosen.1 < points[3].1 {
            points[3] = chosen;
            continue;
        }
        let best = points[0].0;
        for (point, known) in &mut points[1..] {
            *point = std::array::from_fn(|i| 0.5 * (point[i] + best[i]));
            *known = value(*point);
        }
    }
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    points[0].0
}

/// Returns an entry of the table: four numbers of the inverse matrix, the light that a white mirror
/// reflects, and the part of it that Schlick's Fresnel term adds.
pub fn entry(row: usize, column: usize) -> [f64; 6] {
    let facets = Facets::of(row, column);
    let (mut total, mut grazing, mut mean) = (0.0, 0.0, [0.0; 3]);
    for pair in pairs() {
        let way = facets.sample(pair);
        let (value, density) = facets.reflected(way);
        if density <= 0.0 {
            continue;
        }
        let part = value / density / (SAMPLES * SAMPLES) as f64;
        let half = unit([0, 1, 2].map(|i| way[i] + facets.back[i]));
        total += part;
        grazing += part * (1.0 - dot(half, way)).max(0.0).powi(5);
        mean = [mean[0] + part * way[0], 0.0, mean[2] + part * way[2]];
    }
    let straight = column == 0;
    let mean = if straight { [0.0, 0.0, 1.0] } else { unit(mean) };
    let begin = [(1.5 * facets.alpha).min(1.0).ln(); 3];
    let lobe = |[a, b, c]: [f64; 3]| match straight {
        true => Lobe::new(mean, [a, a, 0.0]),
        false => Lobe::new(mean, [a, b, c]),
    };
    let far = |point: [f64; 3]| distance(&facets, total, &lobe(point));
    let first = least([begin[0], begin[1], 0.0], 0.3, far);
    let found = least(first, 0.05, far);
    let inverse = lobe(found).inverse();
    [inverse[0], inverse[1], inverse[2], inverse[3], total, grazing]
}

/// Returns a number as a half float.
fn half(number: f64) -> u32 {
    let bits = (number as f32).to_bits();
    let sign = bits >> 16 & 0x8000;
    let rounded = (bits & 0x7fff_ffff) + 0x1000;
    let exponent = (rounded >> 23) as i32 - 112;
    match exponent {
        // Numbers below the smallest normal one are steps of 2^-24.
        ..=0 => sign | (number.abs() * f64::from(1 << 24)).round() as u32,
        1..31 => sign | (exponent as u32) << 10 | rounded >> 13 & 0x3ff,
        _ => sign | 0x7bff,
    }
}

/// Returns the three pairs of half floats of an entry.
fn packed(entry: [f64; 6]) -> [u32; 3] {
    [0, 2, 4].map(|i| half(entry[i]) | half(entry[i + 1]) << 16)
}

/// Returns the source of the table.
pub fn source() -> String {
    let count = SIDE * SIDE * 3;
    let mut text = [
        "//! The table of area lights, made by tests/golden/area_light_fit.rs and under the same",
        "//! license as the engine: 32 rows by roughness, 32 columns by the square root of 1 minus",
        "//! the cosine of the camera's direction. An entry is three pairs of half floats: four",
        "//! numbers of a matrix, the light of a white mirror, and the part of Schlick's term.",
        "\n/// The pairs of all entries.\n#[rustfmt::skip]",
    ]
    .join("\n");
    write!(text, "\npub const AREA_LIGHT_TABLE: [u32; {count}] = [\n").expect("text grows");
    for row in 0..SIDE {
        let all: Vec<u32> = (0..SIDE).flat_map(|column| packed(entry(row, column))).collect();
        for line in all.chunks(8) {
            text += "   ";
            line.iter().for_each(|word| write!(text, " 0x{word:08x},").expect("text grows"));
            text += "\n";
        }
    }
    text + "];\n"
}
