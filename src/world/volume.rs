//! Volumes of a level: boxes, spheres, cylinders and prisms, for point containment tests and random
//! points. Independent of levels and units.

use super::unit_compiler::{are_numbers, invalid_value, must_be};
use super::unit_resource::pose;
use engine_foundation::deterministic_math::{cube_root, sin_cos};
use engine_foundation::sjson::{SjsonTree, SjsonValue};
use engine_foundation::suggest;
use engine_foundation::{Quat, Vec2, Vec3};

/// Shape of a volume. Sizes in metres, around the volume's own position and along its own axes.
#[derive(Clone, PartialEq, Debug)]
pub enum VolumeShape {
    /// A box, with half of its size along each axis.
    Box {
        half: Vec3,
    },
    Sphere {
        radius: f32,
    },
    /// A cylinder along the z axis.
    Cylinder {
        radius: f32,
        half: f32,
    },
    /// A prism: a polygon in the plane of x and y, extruded from z = 0 to its height.
    Prism {
        points: Vec<Vec2>,
        height: f32,
    },
}

/// A volume with its transform in a level.
#[derive(Clone, PartialEq, Debug)]
pub struct Volume {
    pub shape: VolumeShape,
    pub position: Vec3,
    pub rotation: Quat,
}

const SHAPES: [&str; 4] = ["box", "sphere", "cylinder", "prism"];

/// Maximum number of points of a prism. A random point inside it may be compared with all of them
/// [`TRIES_MAX`] times.
pub const VOLUME_POINTS_MAX: usize = 1024;

/// Maximum number of random draws for a point in a prism. A prism that fills only a tiny part of
/// its bounding rectangle is not hit by chance; its middle is then used instead.
const TRIES_MAX: usize = 1000;

impl Volume {
    /// Creates a volume from fields that [`check`] has validated.
    pub fn of(fields: &SjsonTree) -> Volume {
        let pose = pose(fields);
        let number = |key: &str| match fields.get(key) {
            Some(SjsonTree::Number(number)) => *number as f32,
            _ => 0.0,
        };
        let lists = |key: &str| match fields.get(key) {
            Some(SjsonTree::Array(items)) => items.clone(),
            _ => Vec::new(),
        };
        let floats = |items: &[SjsonTree]| -> Vec<f32> {
            let float = |item: &SjsonTree| match item {
                SjsonTree::Number(number) => *number as f32,
                _ => 0.0,
            };
            items.iter().map(float).collect()
        };
        let shape = match fields.get("shape") {
            Some(SjsonTree::String(shape)) if shape == "sphere" => {
                VolumeShape::Sphere { radius: number("radius") }
            }
            Some(SjsonTree::String(shape)) if shape == "cylinder" => {
                VolumeShape::Cylinder { radius: number("radius"), half: number("height") / 2.0 }
            }
            Some(SjsonTree::String(shape)) if shape == "prism" => {
                let point = |item: &SjsonTree| match item {
                    SjsonTree::Array(parts) => Vec2::from_slice(&floats(parts)),
                    _ => Vec2::ZERO,
                };
                let points = lists("points").iter().map(point).collect();
                VolumeShape::Prism { points, height: number("height") }
            }
            _ => VolumeShape::Box { half: Vec3::from_slice(&floats(&lists("size"))) / 2.0 },
        };
        Volume { shape, position: pose.position, rotation: pose.rotation }
    }

    /// Returns true if a point, in the coordinates of the level, is inside the volume. The surface
    /// counts as inside.
    pub fn contains(&self, point: Vec3) -> bool {
        let at = self.rotation.inverse() * (point - self.position);
        match &self.shape {
            VolumeShape::Box { half } => at.abs().cmple(*half).all(),
            VolumeShape::Sphere { radius } => at.length_squared() <= radius * radius,
            VolumeShape::Cylinder { radius, half } => {
                at.z.abs() <= *half && at.truncate().length_squared() <= radius * radius
            }
            VolumeShape::Prism { points, height } => {
                (0.0..=*height).contains(&at.z) && inside_polygon(points, at.truncate())
            }
        }
    }

    /// Returns the distance of a point, in the coordinates of the level, from the volume; 0 inside.
    /// A point that is not finite is infinitely far away.
    pub fn distance(&self, point: Vec3) -> f32 {
        if !point.is_finite() {
            return f32::INFINITY;
        }
        let at = self.rotation.inverse() * (point - self.position);
        match &self.shape {
            VolumeShape::Box { half } => (at.abs() - *half).max(Vec3::ZERO).length(),
            VolumeShape::Sphere { radius } => (at.length() - radius).max(0.0),
            VolumeShape::Cylinder { radius, half } => {
                let outside = (at.truncate().length() - radius).max(0.0);
                Vec2::new(outside, (at.z.abs() - half).max(0.0)).length()
            }
            VolumeShape::Prism { points, height } => {
                let outside = match inside_polygon(points, at.truncate()) {
                    true => 0.0,
                    false => edge_distance(points, at.truncate()),
                };
                let above = (at.z - at.z.clamp(0.0, *height)).abs();
                Vec2::new(outside, above).length()
            }
        }
    }

    /// Returns a uniformly distributed random point inside the volume, in the coordinates of the
    /// level. `random` returns numbers in 0 <= x < 1.
    pub fn random_point(&self, mut random: impl FnMut() -> f64) -> Vec3 {
        let mut between = |low: f32, high: f32| low + (high - low) * random() as f32;
        let at = match &self.shape {
            VolumeShape::Box { half } => Vec3::new(
                between(-half.x, half.x),
                between(-half.y, half.y),
                between(-half.z, half.z),
            ),
            VolumeShape::Sphere { radius } => {
                // Archimedes: heights on a sphere are equally likely; the volume grows with r³.
                let (z, angle) = (between(-1.0, 1.0), between(0.0, std::f32::consts::TAU));
                let flat = (1.0 - z * z).max(0.0).sqrt();
                let (sin, cos) = sin_cos(angle);
                let direction = Vec3::new(flat * cos, flat * sin, z);
                direction * (radius * cube_root(between(0.0, 1.0)))
            }
            VolumeShape::Cylinder { radius, half } => {
                let (angle, z) = (between(0.0, std::f32::consts::TAU), between(-half, *half));
                let far = radius * between(0.0, 1.0).sqrt();
                let (sin, cos) = sin_cos(angle);
                Vec3::new(far * cos, far * sin, z)
            }
            VolumeShape::Prism { points, height } => {
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

/// Returns true if a point is inside a polygon: a ray from the point crosses the edge an odd number
/// of times (W. Randolph Franklin, "PNPOLY").
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

/// Returns the distance of a point from the edges of a polygon.
fn edge_distance(points: &[Vec2], at: Vec2) -> f32 {
    let mut before = points[points.len() - 1];
    let mut nearest = f32::INFINITY;
    for point in points {
        let edge = *point - before;
        let along = (at - before).dot(edge) / edge.length_squared().max(f32::MIN_POSITIVE);
        nearest = nearest.min(at.distance(before + edge * along.clamp(0.0, 1.0)));
        before = *point;
    }
    nearest
}

/// Returns true if pairs of numbers are points on one line, or all the same point.
fn on_one_line(points: SjsonValue) -> bool {
    let pair = |item: SjsonValue| {
        let mut parts = item.items().into_iter().flatten().filter_map(SjsonValue::as_f64);
        (parts.next().unwrap_or(0.0), parts.next().unwrap_or(0.0))
    };
    let mut all = points.items().into_iter().flatten().map(pair);
    let Some(first) = all.next() else { return true };
    let mut along = all.map(|(x, y)| (x - first.0, y - first.1)).filter(|way| *way != (0.0, 0.0));
    let Some(way) = along.next() else { return true };
    along.all(|(x, y)| x * way.1 == y * way.0)
}

/// Validates the fields of a volume, which can have `others` in addition. The error is the
/// offending value with its message.
pub fn check<'a>(
    name: &str,
    fields: SjsonValue<'a>,
    others: &[&str],
) -> Result<(), (SjsonValue<'a>, String)> {
    let Some(shape) = fields.get("shape") else {
        return Err((fields, format!("'{name}' must say its shape: {}", SHAPES.join(", "))));
    };
    let wanted: &[&str] = match shape.as_str() {
        Some("box") => &["size"],
        Some("sphere") => &["radius"],
        Some("cylinder") => &["radius", "height"],
        Some("prism") => &["points", "height"],
        word => {
            let hint = suggest::hint(word.unwrap_or(""), SHAPES);
            let message = format!("'shape' of '{name}' must be {}{hint}", SHAPES.join(", "));
            return Err((shape, message));
        }
    };
    for key in wanted {
        if fields.get(key).is_none() {
            return Err((fields, format!("'{name}' needs the field '{key}'")));
        }
    }
    for field in fields.entries().into_iter().flatten() {
        let (key, value) = (field.key, field.value);
        let above = |value: SjsonValue| value.as_f32().is_some_and(|number| number > 0.0);
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
            key if wanted.contains(&key) || others.contains(&key) => continue,
            key => {
                let known = wanted.iter().chain(others).copied();
                let known = known.chain(["shape", "position", "rotation"]);
                let hint = suggest::hint(key, known);
                let message = format!("volume '{name}' has the unknown field '{key}'{hint}");
                return Err((value, message));
            }
        };
        return Err((value, invalid_value(&format!("'{key}' of volume '{name}'"), must, value)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::random::Random;
    use engine_foundation::sjson;

    fn volume(text: &str) -> Volume {
        let document = sjson::parse(text).unwrap();
        check("v", document.root(), &[]).map_err(|(_, message)| message).unwrap();
        Volume::of(&document.to_tree())
    }

    const SHAPES: [&str; 4] = [
        "shape = \"box\" size = [2, 4, 6] position = [1, 2, 3] rotation = [0, 0, 90]",
        "shape = \"sphere\" radius = 2 position = [0, 0, 5]",
        "shape = \"cylinder\" radius = 1 height = 4 rotation = [90, 0, 0]",
        "shape = \"prism\" points = [[0, 0], [4, 0], [0, 4]] height = 2",
    ];

    #[test]
    fn distances_are_zero_inside_and_grow_outside() {
        let mut random = Random::seed(3);
        for text in SHAPES {
            let volume = volume(text);
            for _ in 0..1000 {
                let inside = volume.random_point(|| random.next_f64());
                assert!(volume.distance(inside) < 1e-3, "{text}: {inside}");
            }
        }
        let distance = |text: &str, at: [f32; 3]| volume(text).distance(Vec3::from_array(at));
        let ball = "shape = \"sphere\" radius = 2";
        assert_eq!(distance(ball, [0.0, 5.0, 0.0]), 3.0);
        let cube = "shape = \"box\" size = [2, 2, 2]";
        assert_eq!(distance(cube, [4.0, 5.0, 0.0]), 5.0);
        let tube = "shape = \"cylinder\" radius = 1 height = 2";
        assert_eq!(distance(tube, [4.0, 0.0, 5.0]), 5.0);
        let prism = "shape = \"prism\" points = [[0, 0], [4, 0], [0, 4]] height = 2";
        assert_eq!(distance(prism, [1.0, -3.0, 1.0]), 3.0);
        assert_eq!(distance(prism, [1.0, 1.0, 7.0]), 5.0);
    }

    #[test]
    fn random_points_are_inside_and_spread_evenly() {
        for text in SHAPES {
            let (volume, mut random) = (volume(text), Random::seed(1));
            let points: Vec<_> =
                (0..4000).map(|_| volume.random_point(|| random.next_f64())).collect();
            assert!(points.iter().all(|point| volume.contains(*point)), "{text}");
            let middle = points.iter().sum::<Vec3>() / points.len() as f32;
            let wanted = match &volume.shape {
                VolumeShape::Prism { .. } => Vec3::new(4.0 / 3.0, 4.0 / 3.0, 1.0),
                _ => volume.position,
            };
            assert!(middle.distance(wanted) < 0.15, "{text}: {middle} is not {wanted}");
        }
    }

    #[test]
    fn points_outside_of_a_volume_are_outside() {
        assert!(!volume(SHAPES[0]).contains(Vec3::new(1.0, 3.5, 3.0)));
        assert!(volume(SHAPES[0]).contains(Vec3::new(2.9, 2.0, 3.0)));
        assert!(!volume(SHAPES[1]).contains(Vec3::ZERO));
        assert!(volume(SHAPES[2]).contains(Vec3::new(0.0, 1.9, 0.0)));
        assert!(!volume(SHAPES[2]).contains(Vec3::new(0.0, 0.0, 1.9)));
        assert!(!volume(SHAPES[3]).contains(Vec3::new(3.0, 3.0, 1.0)));
    }

    #[test]
    fn invalid_volumes_are_refused() {
        let message = |text: &str| {
            let document = sjson::parse(text).unwrap();
            check("v", document.root(), &[]).map_err(|(_, message)| message).unwrap_err()
        };
        assert_eq!(
            message("size = [1, 1, 1]"),
            "'v' must say its shape: box, sphere, cylinder, prism"
        );
        assert_eq!(
            message("shape = \"bocks\""),
            "'shape' of 'v' must be box, sphere, cylinder, prism"
        );
        assert_eq!(message("shape = \"box\""), "'v' needs the field 'size'");
        assert_eq!(
            message("shape = \"box\" size = [1, 0, 1]"),
            "'size' of volume 'v' must be three numbers above 0, in metres"
        );
        assert_eq!(
            message("shape = \"sphere\" radius = 1 raduis = 2"),
            "volume 'v' has the unknown field 'raduis', did you mean 'radius'?"
        );
        for points in ["[0, 0], [0, 0], [0, 0]", "[1, 1], [2, 2], [1, 1], [4, 4]"] {
            assert_eq!(
                message(&format!("shape = \"prism\" height = 1 points = [{points}]")),
                "'points' of volume 'v' must be points that are not all on one line"
            );
        }
        assert_eq!(
            message("shape = \"prism\" height = 1 points = [[0, 0], [1, 1]]"),
            "'points' of volume 'v' must be three or more pairs of numbers: [[0, 0], [1, 0], \
             [0, 1]]"
        );
    }
}
