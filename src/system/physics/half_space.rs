//! The half-space below a plane as a collision shape, with tighter bounds than rapier's. The bounds
//! of rapier's half-space are infinite, so all bodies of a world are tested for contacts with it in
//! each step. The bounds of this shape end at the plane if it is perpendicular to an axis. The file
//! also contains the query dispatcher for this shape, which reduces contact points in
//! two-dimensional worlds.

use super::POSITION_MAX;
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

/// The half-space below a plane through the origin. Code that does not know this type, such as
/// rapier's character controller, sees a composite shape with one part, which is rapier's
/// half-space.
#[derive(Clone)]
pub(super) struct SolidHalfSpace {
    pub plane: HalfSpace,
    bvh: Bvh,
}

impl SolidHalfSpace {
    /// Creates a half-space. The normal must have length 1.
    pub fn new(normal: Vector) -> SolidHalfSpace {
        let bvh = Bvh::from_leaves(BvhBuildStrategy::default(), &[everywhere()]);
        SolidHalfSpace { plane: HalfSpace::new(normal), bvh }
    }
}

/// Returns bounds that contain every valid position.
fn everywhere() -> Aabb {
    Aabb::new(Vector::splat(-HALF_EXTENT), Vector::splat(HALF_EXTENT))
}

/// Half the side of the bounds: every valid position is inside. The areas of larger bounds would
/// overflow, and bounding volume trees compare areas.
const HALF_EXTENT: f32 = 4.0 * POSITION_MAX;
/// Maximum deviation (1 minus the cosine) of a normal from an axis at which it counts as parallel.
/// It covers the rounding error of a rotation.
const STRAIGHT: f32 = 1e-6;

impl Shape for SolidHalfSpace {
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
            // Margin above the plane for the precision of the numbers.
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
        Some(Box::new(SolidHalfSpace::new(self.plane.scaled(scale)?.normal)))
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

impl CompositeShape for SolidHalfSpace {
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

impl RayCast for SolidHalfSpace {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        most: f32,
        solid: bool,
    ) -> Option<RayIntersection> {
        self.plane.cast_local_ray_and_get_normal(ray, most, solid)
    }
}

impl PointQuery for SolidHalfSpace {
    fn project_local_point(&self, point: Vector, solid: bool) -> PointProjection {
        self.plane.project_local_point(point, solid)
    }

    fn project_local_point_and_get_feature(&self, point: Vector) -> (PointProjection, FeatureId) {
        self.plane.project_local_point_and_get_feature(point)
    }
}

/// Query dispatcher that treats [`SolidHalfSpace`] as rapier's half-space, and all other shapes as
/// rapier does.
pub(super) struct HalfSpaceDispatcher {
    /// True if bodies stay in the xy plane. Two points then describe a contact completely.
    pub flat: bool,
}

/// Returns a shape in the form that rapier knows.
fn supported_shape(shape: &dyn Shape) -> &dyn Shape {
    match shape.as_shape::<SolidHalfSpace>() {
        Some(ground) => &ground.plane,
        None => shape,
    }
}

type QueryResult<T> = Result<T, Unsupported>;

impl QueryDispatcher for HalfSpaceDispatcher {
    fn intersection_test(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
    ) -> QueryResult<ShapeIntersection> {
        DefaultQueryDispatcher.intersection_test(pose, supported_shape(one), supported_shape(two))
    }

    fn distance(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
    ) -> QueryResult<ShapeDistance> {
        DefaultQueryDispatcher.distance(pose, supported_shape(one), supported_shape(two))
    }

    fn contact(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        prediction: f32,
    ) -> QueryResult<Option<Contact>> {
        if two.as_shape::<SolidHalfSpace>().is_some() {
            // Works around an error in parry 0.31: for a shape and a half-space in this order it
            // queries with the inverse pose. The opposite order is correct.
            let turned = DefaultQueryDispatcher.contact(
                &pose.inverse(),
                supported_shape(two),
                supported_shape(one),
                prediction,
            )?;
            return Ok(turned.map(Contact::flipped));
        }
        DefaultQueryDispatcher.contact(pose, supported_shape(one), supported_shape(two), prediction)
    }

    fn closest_points(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        most: f32,
    ) -> QueryResult<ClosestPoints> {
        DefaultQueryDispatcher.closest_points(
            pose,
            supported_shape(one),
            supported_shape(two),
            most,
        )
    }

    fn cast_shapes(
        &self,
        pose: &Pose,
        velocity: Vector,
        one: &dyn Shape,
        two: &dyn Shape,
        options: ShapeCastOptions,
    ) -> QueryResult<Option<ShapeCastHit>> {
        DefaultQueryDispatcher.cast_shapes(
            pose,
            velocity,
            supported_shape(one),
            supported_shape(two),
            options,
        )
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
    ) -> QueryResult<Option<ShapeCastHit>> {
        let (one, two) = (supported_shape(one), supported_shape(two));
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

impl PersistentQueryDispatcher<ContactManifoldData, ContactData> for HalfSpaceDispatcher {
    fn contact_manifolds(
        &self,
        pose: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        prediction: f32,
        manifolds: &mut Vec<ContactManifold<ContactManifoldData, ContactData>>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> QueryResult<()> {
        let (one, two) = (supported_shape(one), supported_shape(two));
        DefaultQueryDispatcher
            .contact_manifolds(pose, one, two, prediction, manifolds, workspace)?;
        if self.flat {
            manifolds.iter_mut().for_each(reduce_manifold);
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
    ) -> QueryResult<()> {
        DefaultQueryDispatcher.contact_manifold_convex_convex(
            pose,
            supported_shape(one),
            supported_shape(two),
            normals,
            other_normals,
            prediction,
            manifold,
        )
    }
}

type ManifoldData = ContactManifold<ContactManifoldData, ContactData>;

/// Maximum distance along a contact between two points that are one point in two dimensions, in
/// metres.
const POINT_MERGE_DISTANCE: f32 = 1e-4;
/// Maximum z of a normal in the xy plane, due to rounding.
const LEVEL: f32 = 1e-3;

/// Reduces a contact manifold to its two end points, if the bodies rotate about z alone. The points
/// behind them push in the same way, and double the cost. A shape that is rotated differently is
/// wrapped in a compound (`Simulation::keep_in_plane`), and its manifold is not reduced.
fn reduce_manifold(manifold: &mut ManifoldData) {
    let normal = manifold.local_n1;
    let inner = manifold.subshape_pos1().is_some() || manifold.subshape_pos2().is_some();
    if manifold.points.len() <= 2 || normal.z.abs() > LEVEL || inner {
        return;
    }
    // Returns the position of a point along the contact, and its z.
    let point = |manifold: &ManifoldData, at: usize| {
        let point = manifold.points[at].local_p1;
        (normal.x * point.y - normal.y * point.x, point.z)
    };
    let first = point(manifold, 0);
    let (mut low, mut high) = ((0, first), (0, first));
    for at in 1..manifold.points.len() {
        let (along, front) = point(manifold, at);
        let instead = |of: (f32, f32), beyond: f32| {
            beyond > POINT_MERGE_DISTANCE || (beyond >= -POINT_MERGE_DISTANCE && front > of.1)
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
