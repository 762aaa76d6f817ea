//! Frustum culling: planes, and arrays of spheres that are tested against them. Independent of what
//! the spheres contain.

use engine_foundation::{Mat4, Vec3, Vec4};

/// Number of spheres tested at once; the compiler generates SIMD instructions for it.
const WIDTH: usize = 16;

/// Spheres as a structure of arrays. A sphere with a radius of minus infinity is never visible.
#[derive(Default)]
pub struct Spheres {
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub z: Vec<f32>,
    pub radius: Vec<f32>,
}

impl Spheres {
    /// Resizes the arrays; new spheres are never visible.
    pub fn resize(&mut self, count: usize) {
        self.x.resize(count, 0.0);
        self.y.resize(count, 0.0);
        self.z.resize(count, 0.0);
        self.radius.resize(count, f32::NEG_INFINITY);
    }

    /// Sets a sphere. A sphere with a value that is not finite is never visible.
    pub fn set(&mut self, index: usize, center: Vec3, radius: f32) {
        let there = center.is_finite() && radius.is_finite();
        let (center, radius) =
            if there { (center, radius) } else { (Vec3::ZERO, f32::NEG_INFINITY) };
        self.x[index] = center.x;
        self.y[index] = center.y;
        self.z[index] = center.z;
        self.radius[index] = radius;
    }

    /// Returns a sphere's center and radius.
    pub fn get(&self, index: usize) -> (Vec3, f32) {
        (self.center(index), self.radius[index])
    }

    pub fn center(&self, index: usize) -> Vec3 {
        Vec3::new(self.x[index], self.y[index], self.z[index])
    }
}

/// Returns the planes of the clip volume of a matrix: left, right, bottom, top, far, near. Their
/// normals point inwards and have length 1. After Gribb and Hartmann, "Fast Extraction of Viewing
/// Frustum Planes from the World-View-Projection Matrix", 2001.
pub fn planes(to_clip: &Mat4) -> [Vec4; 6] {
    let [x, y, z, w] = [0, 1, 2, 3].map(|row| to_clip.row(row));
    [w + x, w - x, w + y, w - y, w - z, z].map(|plane| {
        let length = plane.truncate().length();
        if length > 0.0 { plane / length } else { Vec4::new(0.0, 0.0, 0.0, 1.0) }
    })
}

/// Appends the indices of the spheres that reach inside of all planes, in ascending order.
pub fn cull(spheres: &Spheres, planes: &[Vec4], to: &mut Vec<u32>) {
    let Spheres { x, y, z, radius } = spheres;
    let mut first = 0;
    while first + WIDTH <= radius.len() {
        let part = first..first + WIDTH;
        let (x, y) = (&x[part.clone()], &y[part.clone()]);
        let (z, radius) = (&z[part.clone()], &radius[part]);
        let mut depth = [f32::MAX; WIDTH];
        for plane in planes {
            for i in 0..WIDTH {
                let at = plane.x * x[i] + plane.y * y[i] + plane.z * z[i] + plane.w + radius[i];
                depth[i] = if at < depth[i] { at } else { depth[i] };
            }
        }
        for (i, depth) in depth.iter().enumerate() {
            if *depth >= 0.0 {
                to.push((first + i) as u32);
            }
        }
        first += WIDTH;
    }
    for (i, radius) in radius.iter().enumerate().skip(first) {
        if intersects_planes(spheres.center(i), *radius, planes) {
            to.push(i as u32);
        }
    }
}

/// Returns true if a sphere reaches inside of all planes.
pub fn intersects_planes(center: Vec3, radius: f32, planes: &[Vec4]) -> bool {
    planes.iter().all(|plane| plane.truncate().dot(center) + plane.w + radius >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spheres_that_intersect_the_frustum_are_visible() {
        // Clip space itself: x and y from -1 to 1, z from 0 to 1.
        let planes = planes(&Mat4::IDENTITY);
        let mut spheres = Spheres::default();
        spheres.resize(50);
        let check = |at: usize, center: [f32; 3], radius: f32| {
            let center = Vec3::from_array(center);
            let mut spheres = Spheres::default();
            spheres.resize(50);
            spheres.set(at, center, radius);
            let mut visible = Vec::new();
            cull(&spheres, &planes, &mut visible);
            assert_eq!(visible == [at as u32], intersects_planes(center, radius, &planes));
            !visible.is_empty()
        };
        for at in [0, 17, 47, 48, 49] {
            assert!(check(at, [0.0, 0.0, 0.5], 0.1));
            assert!(check(at, [1.5, 0.0, 0.5], 0.6));
            assert!(!check(at, [1.5, 0.0, 0.5], 0.4));
            assert!(!check(at, [0.0, -2.0, 0.5], 0.4));
            assert!(!check(at, [0.0, 0.0, -0.5], 0.4));
            assert!(!check(at, [0.0, 0.0, 1.5], 0.4));
        }
        spheres.set(3, Vec3::NAN, 1.0);
        spheres.set(4, Vec3::ZERO, f32::INFINITY);
        let mut visible = Vec::new();
        cull(&spheres, &planes, &mut visible);
        assert!(visible.is_empty());
    }
}
