//! Volumes of a level: boxes, balls, cylinders and prisms, to ask whether a point is inside and to
//! draw random points from. Knows neither levels nor units.

use super::unit_check::{are_numbers, must_be, wrong};
use super::unit_resource::pose;
use crate::foundation::angles::{cube_root, sin_cos};
use crate::foundation::sjson::{Tree, Value};
use crate::foundation::suggest;
use crate::foundation::{Quat, Vec2, Vec3};

/// What a volume can be. Sizes in metres, around the volume's own position; the axes are its own.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Half of its size along each axis.
    Box {
        half: Vec3,
    },
    Ball {
        radius: f32,
    },
    /// Along the z axis.
    Cylinder {
        radius: f32,
        half: f32,
    },
    /// A polygon in the plane of x and y, from z = 0 up to its height.
    Prism {
        points: Vec<Vec2>,
        height: f32,
    },
}

/// A volume at its place in a level.
#[derive(Clone, PartialEq, Debug)]
pub struct Volume {
    pub shape: Shape,
    pub position: Vec3,
    pub rotation: Quat,
}

const SHAPES: [&str; 4] = ["box", "sphere", "cylinder", "prism"];

/// The most points of a prism: a random point inside of it may be compared with all of them
/// [`TRIES_MAX`] times.
pub const VOLUME_POINTS_MAX: usize = 1024;

/// How often a point is drawn anew before the middle of a prism stands in: one that fills so
/// little of its rectangle does not come by chance.
const TRIES_MAX: usize = 1000;

impl Volume {
    /// Of fields that [`check`] has seen.
    pub fn of(fields: &Tree) -> Volume {
        let pose = pose(fields);
        let number = |key: &str| match fields.get(key) {
            Some(Tree::Number(number)) => *number as f32,
            _ => 0.0,
        };
        let lists = |key: &str| match fields.get(key) {
            Some(Tree::Array(items)) => items.clone(),
            _ => Vec::new(),
        };
        let floats = |items: &[Tree]| -> Vec<f32> {
            let float = |item: &Tree| match item {
                Tree::Number(number) => *number as f32,
                _ => 0.0,
            };
            items.iter().map(float).collect()
        };
        let shape = match fields.get("shape") {
            Some(Tree::String(shape)) if shape == "sphere" => {
                Shape::Ball { radius: number("radius") }
            }
            Some(Tree::String(shape)) if shape == "cylinder" => {
                Shape::Cylinder { radius: number("radius"), half: number("height") / 2.0 }
            }
            Some(Tree::String(shape)) if shape == "prism" => {
                let point = |item: &Tree| match item {
                    Tree::Array(parts) => Vec2::from_slice(&floats(parts)),
                    _ => Vec2::ZERO,
                };
                let points = lists("points").iter().map(point).collect();
                Shape::Prism { points, height: number("height") }
            }
            _ => Shape::Box { half: Vec3::from_slice(&floats(&lists("size"))) / 2.0 },
        };
        Volume { shape, position: pose.position, rotation: pose.rotation }
    }

    /// Whether a point, in the coordinates of the level, is inside; the surface is.
    pub fn contains(&self, point: Vec3) -> bool {
        let at = self.rotation.inverse() * (point - self.position);
        match &self.shape {
            Shape::Box { half } => at.abs().cmple(*half).all(),
            Shape::Ball { radius } => at.length_squared() <= radius * radius,
            Shape::Cylinder { radius, half } => {
                at.z.abs() <= *half && at.truncate().length_squared() <= radius * radius
            }
            Shape::Prism { points, height } => {
                (0.0..=*height).contains(&at.z) && inside_polygon(points, at.truncate())
            }
        }
    }

    /// A random point inside, each as likely as any other, in the coordinates of the level.
    /// `random` gives numbers in 0 <= x < 1.
    pub fn random_point(&self, mut random: impl FnMut() -> f64) -> Vec3 {
        let mut between = |low: f32, high: f32| low + (high - low) * random() as f32;
        let at = match &self.shape {
            Shape::Box { half } => Vec3::new(
                between(-half.x, half.x),
                between(-half.y, half.y),
                between(-half.z, half.z),
            ),
            Shape::Ball { radius } => {
                // Archimedes: heights on a ball are equally likely; the volume grows with r³.
                let (z, angle) = (between(-1.0, 1.0), between(0.0, std::f32::consts::TAU));
                let flat = (1.0 - z * z).max(0.0).sqrt();
                let (sin, cos) = sin_cos(angle);
                let direction = Vec3::new(flat * cos, flat * sin, z);
                direction * (radius * cube_root(between(0.0, 1.0)))
            }
            Shape::Cylinder { radius, half } => {
                let (angle, z) = (between(0.0, std::f32::consts::TAU), between(-half, *half));
                let far = radius * between(0.0, 1.0).sqrt();
                let (sin, cos) = sin_cos(angle);
                Vec3::new(far * cos, far * sin, z)
            }
            Shape::Prism { points, height } => {
                let low = points.iter().copied().reduce(Vec2::min).unwrap_or_default();
                let high = points.iter().copied().reduce(Vec2::max).unwrap_or_default();
                let mut at = || Vec2::new(between(low.x, high.x), between(low.y, high.y));
                let found = (0..TRIES_MAX).map(|_| at()).find(|at| inside_polygon(points, *at));
                let middle = points.iter().sum::<Vec2>() / points.len().max(1) as f32;
                found.unwrap_or(middle).extend(between(0.0, *height))
            }
        };
        self.position + self.rotation * at
    }
}

/// Whether a point is inside a polygon: a ray from it crosses the edge an odd number of times
/// (W. Randolph Franklin, "PNPOLY").
fn inside_polygon(points: &[Vec2], at: Vec2) -> bool {
    let mut inside = false;
    let mut before = points[points.len() - 1];
    for point in points {
        if (point.y > at.y) != (before.y > at.y) {
            let crossing = (before.x - point.x) * (at.y - point.y) / (before.y - point.y) + point.x;
            inside ^= at.x < crossing;
        }
        before = *point;
    }
    inside
}

/// Whether pairs of numbers are points on one line, or all one point.
fn on_one_line(points: Value) -> bool {
    let pair = |item: Value| {
        let mut parts = item.items().into_iter().flatten().filter_map(Value::as_f64);
        (parts.next().unwrap_or(0.0), parts.next().unwrap_or(0.0))
    };
    let mut all = points.items().into_iter().flatten().map(pair);
    let Some(first) = all.next() else { return true };
    let mut along = all.map(|(x, y)| (x - first.0, y - first.1)).filter(|way| *way != (0.0, 0.0));
    let Some(way) = along.next() else { return true };
    along.all(|(x, y)| x * way.1 == y * way.0)
}

/// What is wrong with the fields of a volume, and where.
pub fn check<'a>(name: &str, fields: Value<'a>) -> Result<(), (Value<'a>, String)> {
    let Some(shape) = fields.get("shape") else {
        return Err((fields, format!("volume '{name}' must say its shape: {}", SHAPES.join(", "))));
    };
    let wanted: &[&str] = match shape.as_str() {
        Some("box") => &["size"],
        Some("sphere") => &["radius"],
        Some("cylinder") => &["radius", "height"],
        Some("prism") => &["points", "height"],
        word => {
            let hint = suggest::hint(word.unwrap_or(""), SHAPES);
            let words = format!("'shape' of volume '{name}' must be {}{hint}", SHAPES.join(", "));
            return Err((shape, words));
        }
    };
    for key in wanted {
        if fields.get(key).is_none() {
            return Err((fields, format!("volume '{name}' needs the field '{key}'")));
        }
    }
    for field in fields.entries().into_iter().flatten() {
        let (key, value) = (field.key, field.value);
        let above = |value: Value| value.as_f32().is_some_and(|number| number > 0.0);
        let must = match key {
            "shape" => continue,
            "size"
                if !are_numbers(value, &[3]) || !value.items().into_iter().flatten().all(above) =>
            {
                "three numbers above 0, in metres"
            }
            "radius" | "height" if !above(value) => "a number above 0, in metres",
            "points"
                if value.items().is_none_or(|items| items.len() < 3)
                    || !value.items().into_iter().flatten().all(|item| are_numbers(item, &[2])) =>
            {
                "three or more pairs of numbers: [[0, 0], [1, 0], [0, 1]]"
            }
            "points" if value.items().is_some_and(|items| items.len() > VOLUME_POINTS_MAX) => {
                "at most 1024 pairs of numbers (VOLUME_POINTS_MAX)"
            }
            "points" if on_one_line(value) => "points that are not all on one line",
            "position" | "rotation" => match must_be(key, value) {
                Some(must) => must,
                None => continue,
            },
            key if wanted.contains(&key) => continue,
            key => {
                let known = wanted.iter().copied().chain(["shape", "position", "rotation"]);
                let hint = suggest::hint(key, known);
                let words = format!("volume '{name}' has the unknown field '{key}'{hint}");
                return Err((value, words));
            }
        };
        return Err((value, wrong(&format!("'{key}' of volume '{name}'"), must, value)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::random::Random;
    use crate::foundation::sjson;

    fn volume(text: &str) -> Volume {
        let document = sjson::parse(text).unwrap();
        check("v", document.root()).map_err(|(_, words)| words).unwrap();
        Volume::of(&document.to_tree())
    }

    const SHAPES: [&str; 4] = [
        "shape = \"box\" size = [2, 4, 6] position = [1, 2, 3] rotation = [0, 0, 90]",
        "shape = \"sphere\" radius = 2 position = [0, 0, 5]",
        "shape = \"cylinder\" radius = 1 height = 4 rotation = [90, 0, 0]",
        "shape = \"prism\" points = [[0, 0], [4, 0], [0, 4]] height = 2",
    ];

    #[test]
    fn random_points_are_inside_and_spread_evenly() {
        for text in SHAPES {
            let (volume, mut random) = (volume(text), Random::seed(1));
            let points: Vec<_> =
                (0..4000).map(|_| volume.random_point(|| random.next_f64())).collect();
            assert!(points.iter().all(|point| volume.contains(*point)), "{text}");
            let middle = points.iter().sum::<Vec3>() / points.len() as f32;
            let wanted = match &volume.shape {
                Shape::Prism { .. } => Vec3::new(4.0 / 3.0, 4.0 / 3.0, 1.0),
                _ => volume.position,
            };
            assert!(middle.distance(wanted) < 0.15, "{text}: {middle} is not {wanted}");
        }
    }

    #[test]
    fn what_is_outside_is_outside() {
        assert!(!volume(SHAPES[0]).contains(Vec3::new(1.0, 3.5, 3.0)));
        assert!(volume(SHAPES[0]).contains(Vec3::new(2.9, 2.0, 3.0)));
        assert!(!volume(SHAPES[1]).contains(Vec3::ZERO));
        assert!(volume(SHAPES[2]).contains(Vec3::new(0.0, 1.9, 0.0)));
        assert!(!volume(SHAPES[2]).contains(Vec3::new(0.0, 0.0, 1.9)));
        assert!(!volume(SHAPES[3]).contains(Vec3::new(3.0, 3.0, 1.0)));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let words = |text: &str| {
            let document = sjson::parse(text).unwrap();
            check("v", document.root()).map_err(|(_, words)| words).unwrap_err()
        };
        assert_eq!(
            words("size = [1, 1, 1]"),
            "volume 'v' must say its shape: box, sphere, cylinder, prism"
        );
        assert_eq!(
            words("shape = \"bocks\""),
            "'shape' of volume 'v' must be box, sphere, cylinder, prism"
        );
        assert_eq!(words("shape = \"box\""), "volume 'v' needs the field 'size'");
        assert_eq!(
            words("shape = \"box\" size = [1, 0, 1]"),
            "'size' of volume 'v' must be three numbers above 0, in metres"
        );
        assert_eq!(
            words("shape = \"sphere\" radius = 1 raduis = 2"),
            "volume 'v' has the unknown field 'raduis', did you mean 'radius'?"
        );
        for points in ["[0, 0], [0, 0], [0, 0]", "[1, 1], [2, 2], [1, 1], [4, 4]"] {
            assert_eq!(
                words(&format!("shape = \"prism\" height = 1 points = [{points}]")),
                "'points' of volume 'v' must be points that are not all on one line"
            );
        }
        assert_eq!(
            words("shape = \"prism\" height = 1 points = [[0, 0], [1, 1]]"),
            "'points' of volume 'v' must be three or more pairs of numbers: [[0, 0], [1, 0], \
             [0, 1]]"
        );
    }
}
