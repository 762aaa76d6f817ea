//! Triangles of static bodies, for baking.

use super::one_way::is_one_way;
use super::{BodyId, Simulation};
use engine_foundation::Vec3;
use rapier3d::prelude as rapier;
use rapier3d::prelude::Pose;
use std::ops::ControlFlow;

/// Parts of a circle into which round shapes are divided.
const PARTS: u32 = 16;

impl Simulation {
    /// Calls `each` with the triangles of all static bodies that block others. They face outwards.
    /// The second argument is the number of the convex solid that they bound, from 1, and 0 for
    /// triangles of a mesh. Planes have no end, and are left out. Ends when `each` breaks.
    pub fn static_triangles(
        &self,
        mut each: impl FnMut([Vec3; 3], u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut solids = 0;
        for (_, body) in self.world.bodies.iter() {
            self.body_triangles(body, &mut solids, &mut each)?;
        }
        ControlFlow::Continue(())
    }

    /// Calls `each` with the triangles of one body, as [`Simulation::static_triangles`] does; none
    /// if it is not static. `solids` is the number of the solids so far.
    pub fn triangles_of(
        &self,
        body: BodyId,
        solids: &mut u32,
        mut each: impl FnMut([Vec3; 3], u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.body_triangles(self.body(body), solids, &mut each)
    }

    /// Calls `each` with the triangles of one body that blocks others, in its own space, whether it
    /// is static or not.
    pub fn own_triangles_of(
        &self,
        body: BodyId,
        solids: &mut u32,
        mut each: impl FnMut([Vec3; 3], u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.collider_triangles(self.body(body), Pose::IDENTITY, solids, &mut each)
    }

    fn body_triangles(
        &self,
        body: &rapier::RigidBody,
        solids: &mut u32,
        each: &mut dyn FnMut([Vec3; 3], u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if body.body_type() != rapier::RigidBodyType::Fixed {
            return ControlFlow::Continue(());
        }
        self.collider_triangles(body, *body.position(), solids, each)
    }

    fn collider_triangles(
        &self,
        body: &rapier::RigidBody,
        pose: Pose,
        solids: &mut u32,
        each: &mut dyn FnMut([Vec3; 3], u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for handle in body.colliders() {
            let Some(collider) = self.collider(*handle) else { continue };
            // Characters go through one-way platforms from most sides.
            let is_open = collider.is_sensor() || is_one_way(collider);
            if is_open || !collider.is_enabled() {
                continue;
            }
            let local = collider.position_wrt_parent().copied().unwrap_or(Pose::IDENTITY);
            shape(collider.shape(), &(pose * local), solids, each)?;
        }
        ControlFlow::Continue(())
    }
}

fn shape(
    of: &dyn rapier::Shape,
    pose: &Pose,
    solids: &mut u32,
    each: &mut dyn FnMut([Vec3; 3], u32) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let triangles = if let Some(cuboid) = of.as_cuboid() {
        cuboid.to_trimesh()
    } else if let Some(ball) = of.as_ball() {
        ball.to_trimesh(PARTS, PARTS / 2)
    } else if let Some(capsule) = of.as_capsule() {
        capsule.to_trimesh(PARTS, PARTS / 2)
    } else if let Some(cylinder) = of.as_cylinder() {
        cylinder.to_trimesh(PARTS)
    } else if let Some(hull) = of.as_convex_polyhedron() {
        hull.to_trimesh()
    } else if let Some(mesh) = of.as_trimesh() {
        let points = mesh.vertices();
        for triangle in mesh.indices() {
            each(triangle.map(|index| *pose * points[index as usize]), 0)?;
        }
        return ControlFlow::Continue(());
    } else if let Some(compound) = of.as_compound() {
        for (local, part) in compound.shapes() {
            shape(&**part, &(*pose * *local), solids, each)?;
        }
        return ControlFlow::Continue(());
    } else {
        return ControlFlow::Continue(());
    };
    let (points, indices) = triangles;
    *solids += 1;
    for triangle in indices {
        each(triangle.map(|index| *pose * points[index as usize]), *solids)?;
    }
    ControlFlow::Continue(())
}
