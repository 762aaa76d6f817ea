//! Built-in shapes: procedural models that need no file. Each fits into a box of one metre around
//! the origin, except the capsule, which is two metres high.

use super::data::{MeshData, ModelData, ModelNode};
use super::geometry::{NormalSource, TriangleInput};
use engine_foundation::{Vec2, Vec3};
use engine_frame_packet::mesh::{MeshBounds, MeshPart};
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// Names of all built-in shapes.
pub const NAMES: [&str; 7] = [
    "core/models/cube",
    "core/models/sphere",
    "core/models/plane",
    "core/models/cylinder",
    "core/models/capsule",
    "core/models/cone",
    "core/models/torus",
];

/// Segments around a round shape, and from pole to pole.
const AROUND: u32 = 32;
const ALONG: u32 = 16;
/// Half a metre.
const HALF: f32 = 0.5;

/// Builds the shape with this name as a model.
pub fn model(name: &str) -> Option<ModelData> {
    let corners = match name.strip_prefix("core/models/")? {
        "cube" => cube(),
        "sphere" => revolve(&arc(HALF, 0.0, ALONG, [-FRAC_PI_2, FRAC_PI_2])),
        "plane" => plane(),
        "cylinder" => {
            let mut corners = revolve(&line([HALF, -HALF], [HALF, HALF]));
            disc(&mut corners, HALF, HALF);
            disc(&mut corners, -HALF, HALF);
            corners
        }
        "capsule" => {
            let mut profile = arc(HALF, -HALF, ALONG / 2, [-FRAC_PI_2, 0.0]);
            profile.extend(arc(HALF, HALF, ALONG / 2, [0.0, FRAC_PI_2]));
            revolve(&profile)
        }
        "cone" => {
            let mut corners = revolve(&line([HALF, -HALF], [0.0, HALF]));
            disc(&mut corners, -HALF, HALF);
            corners
        }
        "torus" => torus(0.375, 0.125),
        _ => return None,
    };
    let short = name.rsplit('/').next().expect("a name has a last part");
    Some(single_mesh(short, &corners))
}

/// Builds a model of one node with one mesh.
fn single_mesh(name: &str, corners: &TriangleInput) -> ModelData {
    let built = corners.build(NormalSource::Smooth);
    let count = built.indices.len() as u32;
    let mesh = MeshData {
        name: name.to_string(),
        bounds: MeshBounds::of(&built.vertices),
        vertices: built.vertices,
        indices: built.indices,
        parts: vec![MeshPart { first: 0, count, surface: 0 }],
        surfaces: vec![None],
        joints: Vec::new(),
        weights: Vec::new(),
        targets: Vec::new(),
        target_names: Vec::new(),
        target_weights: Vec::new(),
    };
    let node = ModelNode {
        name: name.to_string(),
        parent: None,
        position: [0.0; 3],
        rotation: [0.0, 0.0, 0.0, 1.0],
        scale: [1.0; 3],
        mesh: Some(0),
        camera: None,
        light: None,
        skin: None,
        extras: None,
    };
    ModelData { nodes: vec![node], meshes: vec![mesh], ..ModelData::default() }
}

fn quad(corners: &mut TriangleInput, center: Vec3, right: Vec3, up: Vec3) {
    let base = corners.positions.len() as u32;
    for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        corners.positions.push(center + right * x + up * y);
        corners.normals.push(right.cross(up).normalize());
        corners.uvs.push(Vec2::new(x * 0.5 + 0.5, 0.5 - y * 0.5));
    }
    corners.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| base + corner));
}

fn cube() -> TriangleInput {
    let mut corners = TriangleInput::default();
    for (normal, right) in [
        (Vec3::X, Vec3::Y),
        (-Vec3::X, -Vec3::Y),
        (Vec3::Y, -Vec3::X),
        (-Vec3::Y, Vec3::X),
        (Vec3::Z, Vec3::X),
        (-Vec3::Z, -Vec3::X),
    ] {
        quad(&mut corners, normal * HALF, right * HALF, normal.cross(right) * HALF);
    }
    corners
}

fn plane() -> TriangleInput {
    let mut corners = TriangleInput::default();
    quad(&mut corners, Vec3::ZERO, Vec3::X * HALF, Vec3::Y * HALF);
    corners
}

/// Point of a profile: distance from the axis and height, and the normal in the same two axes.
struct ProfilePoint {
    position: Vec2,
    normal: Vec2,
}

/// Returns the points of a circular arc around a point of the axis.
fn arc(radius: f32, height: f32, steps: u32, [from, to]: [f32; 2]) -> Vec<ProfilePoint> {
    let point = |step: u32| {
        let normal = Vec2::from_angle(from + (to - from) * step as f32 / steps as f32);
        ProfilePoint { position: normal * radius + Vec2::new(0.0, height), normal }
    };
    (0..=steps).map(point).collect()
}

fn line(from: [f32; 2], to: [f32; 2]) -> Vec<ProfilePoint> {
    let (from, to) = (Vec2::from_array(from), Vec2::from_array(to));
    let along = to - from;
    let normal = Vec2::new(along.y, -along.x).normalize();
    vec![ProfilePoint { position: from, normal }, ProfilePoint { position: to, normal }]
}

/// Revolves a profile around the z axis. The profile runs from its lowest to its highest point.
fn revolve(profile: &[ProfilePoint]) -> TriangleInput {
    let mut corners = TriangleInput::default();
    let most = (profile.len() - 1) as f32;
    for step in 0..=AROUND {
        let part = step as f32 / AROUND as f32;
        let (sin, cos) = (part * TAU).sin_cos();
        for (row, point) in profile.iter().enumerate() {
            let out = |v: Vec2| Vec3::new(v.x * cos, v.x * sin, v.y);
            corners.positions.push(out(point.position));
            corners.normals.push(out(point.normal));
            corners.uvs.push(Vec2::new(part, 1.0 - row as f32 / most));
        }
    }
    let rows = profile.len() as u32;
    for step in 0..AROUND {
        for row in 0..rows - 1 {
            let (a, b) = (step * rows + row, (step + 1) * rows + row);
            let mut add = |three: [u32; 3]| {
                let [p, q, r] = three.map(|corner| corners.positions[corner as usize]);
                // At a pole, two corners coincide and the triangle is degenerate.
                if (q - p).cross(r - p).length_squared() > 1e-12 {
                    corners.indices.extend(three);
                }
            };
            add([a, b, b + 1]);
            add([a, b + 1, a + 1]);
        }
    }
    corners
}

/// Adds a flat disc at a height. The disc faces up if `height` is above 0, otherwise down.
fn disc(corners: &mut TriangleInput, height: f32, radius: f32) {
    let base = corners.positions.len() as u32;
    let up = height.signum();
    let mut add = |x: f32, y: f32| {
        corners.positions.push(Vec3::new(x * radius, y * radius, height));
        corners.normals.push(Vec3::Z * up);
        corners.uvs.push(Vec2::new(0.5 + x * 0.5, 0.5 - y * 0.5 * up));
    };
    add(0.0, 0.0);
    for step in 0..=AROUND {
        let (sin, cos) = (step as f32 / AROUND as f32 * TAU).sin_cos();
        add(cos, sin);
    }
    for step in 1..=AROUND {
        let (a, b) = if up > 0.0 { (step, step + 1) } else { (step + 1, step) };
        corners.indices.extend([base, base + a, base + b]);
    }
}

fn torus(radius: f32, thickness: f32) -> TriangleInput {
    let profile: Vec<ProfilePoint> = (0..=ALONG)
        .map(|step| {
            let normal = Vec2::from_angle(step as f32 / ALONG as f32 * TAU - PI);
            ProfilePoint { position: normal * thickness + Vec2::new(radius, 0.0), normal }
        })
        .collect();
    revolve(&profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_closed_and_fits_its_bounding_box() {
        for name in NAMES {
            let mesh = &model(name).unwrap().meshes[0];
            let half = if name.ends_with("capsule") { 1.0 } else { 0.5 };
            let size = mesh.bounds.max - mesh.bounds.min;
            assert!(size.max_element() <= half * 2.0 + 1e-4, "{name}: {size}");
            assert!(mesh.bounds.center.length() < 1e-3, "{name}");
            for three in mesh.indices.chunks_exact(3) {
                let [a, b, c] = [0, 1, 2].map(|i| mesh.vertices[three[i] as usize]);
                let [p, q, r] = [a, b, c].map(|vertex| Vec3::from_array(vertex.position));
                let normal = |v: [i8; 4]| Vec3::new(v[0].into(), v[1].into(), v[2].into());
                let mean = normal(a.normal) + normal(b.normal) + normal(c.normal);
                assert!((q - p).cross(r - p).dot(mean) > 0.0, "{name}: a triangle is inside out");
            }
        }
        assert_eq!(model("core/models/cube").unwrap().meshes[0].indices.len(), 36);
        assert!(model("core/models/cub").is_none() && model("cube").is_none());
    }
}
