//! Debug drawing of bodies as lines.

use super::half_space::SolidHalfSpace;
use super::{BodyId, Simulation};
use engine_foundation::Vec3;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{Pose, RigidBodyHandle};
use std::f32::consts::{FRAC_PI_2, TAU};

/// Number of segments of a circle.
const PARTS: usize = 16;
/// Half the width of the part of a plane that is drawn, in metres.
const PLANE: f32 = 10.0;

/// State of a body that determines its debug color.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyColorClass {
    Still,
    Awake,
    Asleep,
    Driven,
    Trigger,
    /// The rope of a pulley joint, which belongs to no body.
    Rope,
}

impl Simulation {
    /// Calls `each` with every line of all bodies and ropes, and its color class.
    pub fn outlines(&self, mut each: impl FnMut(BodyColorClass, Vec3, Vec3)) {
        for (handle, body) in self.world.bodies.iter() {
            let look = self.color_class(body);
            self.outline_of(handle, &mut |from, to| each(look, from, to));
        }
        self.links.pulleys.outline(&self.world, |from, to| each(BodyColorClass::Rope, from, to));
    }

    /// Calls `each` with every line of one body.
    pub fn outline(&self, body: BodyId, mut each: impl FnMut(Vec3, Vec3)) {
        self.outline_of(body.0, &mut each);
    }

    fn color_class(&self, body: &rapier::RigidBody) -> BodyColorClass {
        let first = body.colliders().first().and_then(|handle| self.collider(*handle));
        if first.is_some_and(rapier::Collider::is_sensor) {
            return BodyColorClass::Trigger;
        }
        match body.body_type() {
            rapier::RigidBodyType::Fixed => BodyColorClass::Still,
            rapier::RigidBodyType::Dynamic if body.is_sleeping() => BodyColorClass::Asleep,
            rapier::RigidBodyType::Dynamic => BodyColorClass::Awake,
            _ => BodyColorClass::Driven,
        }
    }

    fn outline_of(&self, body: RigidBodyHandle, each: &mut dyn FnMut(Vec3, Vec3)) {
        let Some(body) = self.world.bodies.get(body) else { return };
        for handle in body.colliders() {
            if let Some(collider) = self.collider(*handle) {
                let pose = *body.position()
                    * collider.position_wrt_parent().copied().unwrap_or(Pose::IDENTITY);
                shape(collider.shape(), &pose, each);
            }
        }
    }
}

/// Draws a circle or an arc around `middle`, from the first axis toward the second.
fn arc(
    pose: &Pose,
    middle: Vec3,
    [first, second]: [Vec3; 2],
    [from, to]: [f32; 2],
    each: &mut dyn FnMut(Vec3, Vec3),
) {
    let at = |i: usize| {
        let angle = from + (to - from) * i as f32 / PARTS as f32;
        *pose * (middle + first * angle.cos() + second * angle.sin())
    };
    (0..PARTS).for_each(|i| each(at(i), at(i + 1)));
}

fn shape(of: &dyn rapier::Shape, pose: &Pose, each: &mut dyn FnMut(Vec3, Vec3)) {
    let whole = [0.0, TAU];
    if let Some(cuboid) = of.as_cuboid() {
        box_edges(cuboid.half_extents, pose, each);
    } else if let Some(ball) = of.as_ball() {
        let (x, y, z) = (Vec3::X * ball.radius, Vec3::Y * ball.radius, Vec3::Z * ball.radius);
        for axes in [[x, y], [y, z], [x, z]] {
            arc(pose, Vec3::ZERO, axes, whole, each);
        }
    } else if let Some(capsule) = of.as_capsule() {
        let (a, b, r) = (capsule.segment.a, capsule.segment.b, capsule.radius);
        let up = (b - a).normalize_or(Vec3::Z) * r;
        let side = up.any_orthogonal_vector().normalize() * r;
        let front = up.cross(side).normalize() * r;
        for (end, out) in [(a, -up), (b, up)] {
            arc(pose, end, [side, front], whole, each);
            arc(pose, end, [out, side], [-FRAC_PI_2, FRAC_PI_2], each);
            arc(pose, end, [out, front], [-FRAC_PI_2, FRAC_PI_2], each);
        }
        for side_offset in [side, -side, front, -front] {
            each(*pose * (a + side_offset), *pose * (b + side_offset));
        }
    } else if let Some(cylinder) = of.as_cylinder() {
        let (x, z) = (Vec3::X * cylinder.radius, Vec3::Z * cylinder.radius);
        let up = Vec3::Y * cylinder.half_height;
        for end in [up, -up] {
            arc(pose, end, [x, z], whole, each);
        }
        for side_offset in [x, -x, z, -z] {
            each(*pose * (side_offset + up), *pose * (side_offset - up));
        }
    } else if let Some(hull) = of.as_convex_polyhedron() {
        let points = hull.points();
        for edge in hull.edges() {
            let [from, to] = edge.vertices.map(|index| points[index as usize]);
            each(*pose * from, *pose * to);
        }
    } else if let Some(mesh) = of.as_trimesh() {
        let points = mesh.vertices();
        for triangle in mesh.indices() {
            let [a, b, c] = triangle.map(|index| *pose * points[index as usize]);
            each(a, b);
            each(b, c);
            each(c, a);
        }
    } else if let Some(compound) = of.as_compound() {
        for (local, part) in compound.shapes() {
            shape(&**part, &(*pose * *local), each);
        }
    } else if let Some(SolidHalfSpace { plane, .. }) = of.as_shape::<SolidHalfSpace>() {
        let side = plane.normal.any_orthonormal_vector() * PLANE;
        let front = plane.normal.cross(side);
        let corners = [side + front, side - front, -side - front, -side + front];
        for i in 0..4 {
            each(*pose * corners[i], *pose * corners[(i + 1) % 4]);
        }
        each(*pose * Vec3::ZERO, *pose * plane.normal);
    }
}

fn box_edges(half: Vec3, pose: &Pose, each: &mut dyn FnMut(Vec3, Vec3)) {
    let corner = |i: usize| {
        let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
        *pose * (half * Vec3::new(sign(1), sign(2), sign(4)))
    };
    for i in 0..8 {
        for bit in [1, 2, 4] {
            if i & bit == 0 {
                each(corner(i), corner(i | bit));
            }
        }
    }
}
