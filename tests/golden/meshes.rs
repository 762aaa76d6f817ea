//! Generated meshes for the golden images: boxes, spheres, planes.

use engine::foundation::Vec3;
use engine::frame_packet::mesh::{MeshChange, MeshFrame, MeshSlot, MeshVertex};
use std::f32::consts::PI;
use std::sync::Arc;

fn corner(position: Vec3, normal: Vec3, tangent: Vec3, uv: [f32; 2]) -> MeshVertex {
    MeshVertex {
        position: position.to_array(),
        normal: MeshVertex::packed(normal, 0.0),
        tangent: MeshVertex::packed(tangent, 1.0),
        uv,
        color: [255; 4],
    }
}

fn mesh(name: &str, vertices: Vec<MeshVertex>, indices: Vec<u32>) -> MeshFrame {
    MeshFrame::of_one_part(name.to_string(), vertices, indices)
}

/// Returns a square of two by two metres around the origin that faces up.
pub fn plane(repeat: f32) -> MeshFrame {
    let at = |x: f32, y: f32| {
        let uv = [(x * 0.5 + 0.5) * repeat, (0.5 - y * 0.5) * repeat];
        corner(Vec3::new(x, y, 0.0), Vec3::Z, Vec3::X, uv)
    };
    let vertices = vec![at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)];
    mesh("plane", vertices, vec![0, 1, 2, 0, 2, 3])
}

/// Returns a box with sides of two metres around the origin.
pub fn cube() -> MeshFrame {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for (normal, tangent) in [
        (Vec3::X, Vec3::Y),
        (Vec3::NEG_X, Vec3::NEG_Y),
        (Vec3::Y, Vec3::NEG_X),
        (Vec3::NEG_Y, Vec3::X),
        (Vec3::Z, Vec3::X),
        (Vec3::NEG_Z, Vec3::NEG_X),
    ] {
        let up = normal.cross(tangent);
        let first = vertices.len() as u32;
        for (u, v) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let uv = [u * 0.5 + 0.5, 0.5 - v * 0.5];
            vertices.push(corner(normal + tangent * u + up * v, normal, tangent, uv));
        }
        indices.extend([0, 1, 2, 0, 2, 3].map(|index| first + index));
    }
    mesh("cube", vertices, indices)
}

/// Returns a sphere with a radius of one metre around the origin.
pub fn sphere(rings: u32) -> MeshFrame {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    let around = 2 * rings;
    for ring in 0..=rings {
        let (height, width) = (PI * ring as f32 / rings as f32).sin_cos();
        for step in 0..=around {
            let (s, c) = (2.0 * PI * step as f32 / around as f32).sin_cos();
            let normal = Vec3::new(c * height, s * height, width);
            let uv = [step as f32 / around as f32, ring as f32 / rings as f32];
            vertices.push(corner(normal, normal, Vec3::new(-s, c, 0.0), uv));
        }
    }
    let row = around + 1;
    for ring in 0..rings {
        for step in 0..around {
            let (a, b) = (ring * row + step, (ring + 1) * row + step);
            indices.extend([a, b, a + 1, a + 1, b, b + 1]);
        }
    }
    mesh("sphere", vertices, indices)
}

pub const PLANE: MeshSlot = MeshSlot(0);
pub const CUBE: MeshSlot = MeshSlot(1);
pub const SPHERE: MeshSlot = MeshSlot(2);

/// Returns the three meshes as changes for a packet.
pub fn all() -> Vec<MeshChange> {
    [(PLANE, plane(8.0)), (CUBE, cube()), (SPHERE, sphere(32))]
        .map(|(slot, mesh)| MeshChange::Set { slot, mesh: Arc::new(mesh) })
        .to_vec()
}
