//! The ground below a plane, as a shape: rapier's half-space, but for where it says that it is.
//! That one is everywhere, so that all bodies of a world are looked at for contacts with it in each
//! step; this one, where it is level or upright, is only where it really is. And how touches are
//! found in which it takes part, and those of worlds in two dimensions.

use super::PLACE_MAX;
use rapier3d::geometry::{ContactData, ContactManifoldData};
use rapier3d::parry::bounding_volume::{Aabb, BoundingSphere};
use rapier3d::parry::mass_properties::MassProperties;
use rapier3d::parry::partitioning::{Bvh, BvhBuildStrategy};
use rapier3d::parry::query::details::{NormalConstraints, ShapeCastOptions};
use rapier3d::parry::query::{
    ClosestPoints, Contact, ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher,
    NonlinearRigidMotion, PersistentQueryDispatcher, PointProjection, PointQuery, QueryDispatcher,
    Ray, RayCast, RayIntersection, ShapeCastHit, ShapeDistance, ShapeIntersection, Unsupported,
};
use rapier3d::parry::shape::{CompositeShape, FeatureId, HalfSpace, Shape, ShapeType, TypedShape};
use rapier3d::prelude::{Pose, Vector};

/// All that is below a plane through the origin. For those who know nothing of it, such as rapier's
/// character controller, it is a shape of one part, which is rapier's half-space.
#[derive(Clone)]
pub(super) struct Ground {
    pub plane: HalfSpace,
    bvh: Bvh,
}

impl Ground {
    /// The normal has length 1.
    pub fn new(normal: Vector) -> Ground {
        let bvh = Bvh::from_leaves(BvhBuildStrategy::default(), &[everywhere()]);
        Ground { plane: HalfSpace::new(normal), bvh }
    }
}

/// Wherever anything can be.
fn everywhere() -> Aabb {
    Aabb::new(Vector::splat(-REACH), Vector::splat(REACH))
}

/// How far it reaches from the origin along each axis: everything that can be is nearer. Larger
/// numbers would not have areas any more, and trees of bounds go by areas.
const REACH: f32 = 4.0 * PLACE_MAX;
/// How far a normal may be from an axis and still lie on it: less than rounding makes of a turn.
const STRAIGHT: f32 = 1e-6;

impl Shape for Ground {
    fn compute_local_aabb(&self) -> Aabb {
        everywhere()
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        self.plane.local_bounding_sphere()
    }

    fn compute_aabb(&self, position: &Pose) -> Aabb {
        let mut bounds = everywhere();
        let normal = position.rotation * self.plane.normal;
        let at = position.translation;
        for axis in [Vector::X, Vector::Y, Vector::Z] {
            let along = normal.dot(axis);
            // How far it reaches above its plane within the accuracy of the numbers themselves.
            let room = 1e-3 + at.length() * 1e-5;
            if 1.0 - along <= STRAIGHT {
                bounds.maxs = bounds.maxs * (Vector::ONE - axis) + axis * (at.dot(axis) + room);
            } else if 1.0 + along <= STRAIGHT {
                bounds.mins = bounds.mins * (Vector::ONE - axis) + axis * (at.dot(axis) - room);
            }
        }
        bounds
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    fn scale_dyn(&self, scale: Vector, _: u32) -> Option<Box<dyn Shape>> {
        Some(Box::new(Ground::new(self.plane.scaled(scale)?.normal)))
    }

    fn mass_properties(&self, density: f32) -> MassProperties {
        self.plane.mass_properties(density)
    }

    fn shape_type(&self) -> ShapeType {
        self.plane.shape_type()
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::HalfSpace(&self.plane)
    }

    fn ccd_thickness(&self) -> f32 {
        self.plane.ccd_thickness()
    }

    fn ccd_angular_thickness(&self) -> f32 {
        self.plane.ccd_angular_thickness()
    }

    fn as_composite_shape(&self) -> Option<&(dyn CompositeShape + Sync)> {
        Some(self)
    }
}

impl CompositeShape for Ground {
    fn map_part_at(
        &self,
        _: u32,
        each: &mut dyn FnMut(Option<&Pose>, &dyn Shape, Option<&dyn NormalConstraints>),
    ) {
        each(None, &self.plane, None);
    }

    fn bvh(&self) -> &Bvh {
        &self.bvh
    }
}

impl RayCast for Ground {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        most: f32,
        solid: bool,
    ) -> Option<RayIntersection> {
        self.plane.cast_local_ray_and_get_normal(ray, most, solid)
    }
}

impl PointQuery for Ground {
    fn project_local_point(&self, point: Vector, solid: bool) -> PointProjection {
        self.plane.project_local_point(point, solid)
    }

    fn project_local_point_and_get_feature(&self, point: Vector) -> (PointProjection, FeatureId) {
        self.plane.project_local_point_and_get_feature(point)
    }
}

/// Looks at pairs of shapes as rapier does, and at the ground as at a half-space.
pub(super) struct Dispatcher {
    /// Whether bodies stay in the plane of x and y: then two points of a touch say all.
    pub flat: bool,
}

/// A shape as rapier knows it.
fn known(shape: &dyn Shape) -> &dyn Shape {
    match shape.as_shape::<Ground>() {
        Some(ground) => &ground.plane,
        None => shape,
    }
}

type Answer<T> = Result<T, Unsupported>;

impl QueryDispatcher for Dispatcher {
    fn intersection_test(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
    ) -> Answer<ShapeIntersection> {
        DefaultQueryDispatcher.intersection_test(pose, known(one), known(two))
    }

    fn distance(&self, pose: &Pose, one: &dyn Shape, two: &dyn Shape) -> Answer<ShapeDistance> {
        DefaultQueryDispatcher.distance(pose, known(one), known(two))
    }

    fn contact(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        prediction: f32,
    ) -> Answer<Option<Contact>> {
        if two.as_shape::<Ground>().is_some() {
            // parry 0.31 asks for a shape above a half-space with the pose of the half-space above
            // the shape; the other way round it is right.
            let turned = DefaultQueryDispatcher.contact(
                &pose.inverse(),
                known(two),
                known(one),
                prediction,
            )?;
            return Ok(turned.map(Contact::flipped));
        }
        DefaultQueryDispatcher.contact(pose, known(one), known(two), prediction)
    }

    fn closest_points(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        most: f32,
    ) -> Answer<ClosestPoints> {
        DefaultQueryDispatcher.closest_points(pose, known(one), known(two), most)
    }

    fn cast_shapes(
        &self,
        pose: &Pose,
        velocity: Vector,
        one: &dyn Shape,
        two: &dyn Shape,
        options: ShapeCastOptions,
    ) -> Answer<Option<ShapeCastHit>> {
        DefaultQueryDispatcher.cast_shapes(pose, velocity, known(one), known(two), options)
    }

    fn cast_shapes_nonlinear(
        &self,
        motion: &NonlinearRigidMotion,
        one: &dyn Shape,
        other_motion: &NonlinearRigidMotion,
        two: &dyn Shape,
        start: f32,
        end: f32,
        stop_at_penetration: bool,
    ) -> Answer<Option<ShapeCastHit>> {
        let (one, two) = (known(one), known(two));
        DefaultQueryDispatcher.cast_shapes_nonlinear(
            motion,
            one,
            other_motion,
            two,
            start,
            end,
            stop_at_penetration,
        )
    }
}

impl PersistentQueryDispatcher<ContactManifoldData, ContactData> for Dispatcher {
    fn contact_manifolds(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        prediction: f32,
        manifolds: &mut Vec<ContactManifold<ContactManifoldData, ContactData>>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Answer<()> {
        let (one, two) = (known(one), known(two));
        DefaultQueryDispatcher
            .contact_manifolds(pose, one, two, prediction, manifolds, workspace)?;
        if self.flat {
            manifolds.iter_mut().for_each(thin);
        }
        Ok(())
    }

    fn contact_manifold_convex_convex(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        normals: Option<&dyn NormalConstraints>,
        other_normals: Option<&dyn NormalConstraints>,
        prediction: f32,
        manifold: &mut ContactManifold<ContactManifoldData, ContactData>,
    ) -> Answer<()> {
        DefaultQueryDispatcher.contact_manifold_convex_convex(
            pose,
            known(one),
            known(two),
            normals,
            other_normals,
            prediction,
            manifold,
        )
    }
}

type Manifold = ContactManifold<ContactManifoldData, ContactData>;

/// How far apart along a touch two of its points are that are one in two dimensions, in metres.
const ONE_POINT: f32 = 1e-4;
/// The z of a normal that lies in the plane of x and y but for rounding.
const LEVEL: f32 = 1e-3;

/// Keeps the two ends of a touch of bodies that turn about z alone: the points behind them push
/// alike, and cost as much again. What is turned otherwise has its shape in another
/// ([`super::Physics::keep_upright`]), and stays as it is.
fn thin(manifold: &mut Manifold) {
    let normal = manifold.local_n1;
    let inner = manifold.subshape_pos1().is_some() || manifold.subshape_pos2().is_some();
    if manifold.points.len() <= 2 || normal.z.abs() > LEVEL || inner {
        return;
    }
    // Where a point is along the touch, and how far in front.
    let place = |manifold: &Manifold, at: usize| {
        let point = manifold.points[at].local_p1;
        (normal.x * point.y - normal.y * point.x, point.z)
    };
    let first = place(manifold, 0);
    let (mut low, mut high) = ((0, first), (0, first));
    for at in 1..manifold.points.len() {
        let (along, front) = place(manifold, at);
        let instead = |of: (f32, f32), beyond: f32| {
            beyond > ONE_POINT || (beyond >= -ONE_POINT && front > of.1)
        };
        if instead(low.1, low.1.0 - along) {
            low = (at, (along, front));
        }
        if instead(high.1, along - high.1.0) {
            high = (at, (along, front));
        }
    }
    let (one, other) = (low.0.min(high.0), low.0.max(high.0));
    manifold.points.swap(0, one);
    if one != other {
        manifold.points.swap(1, other);
    }
    manifold.points.truncate(if one == other { 1 } else { 2 });
}
