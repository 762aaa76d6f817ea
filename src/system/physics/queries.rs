//! Spatial queries: raycasts, sweeps and overlap queries. Results reflect the last step, and bodies
//! added or moved from outside since then.

use super::one_way::is_one_way;
use super::{BodyId, BodyOwner, ColliderShape, QUERYABLE, Simulation};
use engine_foundation::{Error, Quat, Vec3};
use rapier3d::parry::query::ShapeCastOptions;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ColliderHandle, QueryFilterFlags};
use std::collections::HashSet;

/// Maximum number of hits that one query returns.
pub const HITS_MAX: usize = 4096;

/// Types of bodies that a query considers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyKinds {
    /// All bodies except triggers.
    Solids,
    Statics,
    /// Dynamic and kinematic bodies.
    Dynamics,
    Triggers,
    /// All bodies including triggers.
    All,
}

impl BodyKinds {
    pub const NAMES: [&'static str; 5] = ["both", "statics", "dynamics", "triggers", "all"];
    /// All values, in the order of `NAMES`.
    pub const LIST: [BodyKinds; 5] = [
        BodyKinds::Solids,
        BodyKinds::Statics,
        BodyKinds::Dynamics,
        BodyKinds::Triggers,
        BodyKinds::All,
    ];
}

/// Filter of a query.
#[derive(Clone, Copy, Debug)]
pub struct QueryFilter {
    /// Considers only bodies that collide with one of these types.
    pub is: u32,
    /// Considers only bodies that have one of these types.
    pub types: u32,
    pub kinds: BodyKinds,
    pub but: Option<BodyId>,
}

impl QueryFilter {
    /// All bodies visible to queries, except triggers.
    pub const DEFAULT: QueryFilter =
        QueryFilter { is: QUERYABLE, types: !QUERYABLE, kinds: BodyKinds::Solids, but: None };

    pub(super) fn rapier<'a>(&self) -> rapier::QueryFilter<'a> {
        use QueryFilterFlags as Flags;
        let flags = match self.kinds {
            BodyKinds::Solids => Flags::EXCLUDE_SENSORS,
            BodyKinds::Statics => {
                Flags::EXCLUDE_SENSORS | Flags::EXCLUDE_DYNAMIC | Flags::EXCLUDE_KINEMATIC
            }
            BodyKinds::Dynamics => Flags::EXCLUDE_SENSORS | Flags::EXCLUDE_FIXED,
            BodyKinds::Triggers => Flags::EXCLUDE_SOLIDS,
            BodyKinds::All => Flags::empty(),
        };
        let [is, types] = [self.is, self.types].map(rapier::Group::from_bits_retain);
        rapier::QueryFilter {
            flags,
            groups: Some(rapier::InteractionGroups::new(
                is,
                types,
                rapier::InteractionTestMode::And,
            )),
            exclude_rigid_body: self.but.map(|body| body.0),
            ..rapier::QueryFilter::default()
        }
    }
}

/// A hit of a raycast or a sweep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueryHit {
    pub owner: BodyOwner,
    pub position: Vec3,
    /// Surface normal, pointing away from the body.
    pub normal: Vec3,
    /// Distance from the start, in metres.
    pub distance: f32,
}

impl Simulation {
    fn owner_of(&self, collider: ColliderHandle) -> BodyOwner {
        self.collider(collider).map_or(0, |collider| collider.user_data)
    }

    /// Returns the first hit of a ray. The direction must have length 1.
    pub fn raycast(
        &self,
        from: Vec3,
        direction: Vec3,
        length: f32,
        query: &QueryFilter,
    ) -> Option<QueryHit> {
        self.raycast_where(from, direction, length, query, |_| true)
    }

    /// Returns the first hit of a ray with a body whose owner the function `accepts`. The direction
    /// must have length 1.
    pub fn raycast_where(
        &self,
        from: Vec3,
        direction: Vec3,
        length: f32,
        query: &QueryFilter,
        accepts: impl Fn(BodyOwner) -> bool,
    ) -> Option<QueryHit> {
        let accepted = |_: ColliderHandle, collider: &rapier::Collider| accepts(collider.user_data);
        let filter = rapier::QueryFilter { predicate: Some(&accepted), ..query.rapier() };
        let ray = rapier::Ray::new(from, direction);
        let found = self.world.cast_ray_and_get_normal(&ray, length, true, filter);
        found.map(|(collider, hit)| QueryHit {
            owner: self.owner_of(collider),
            position: from + direction * hit.time_of_impact,
            normal: hit.normal,
            distance: hit.time_of_impact,
        })
    }

    /// Returns all hits of a ray, one per body, the nearest first. Hits at equal distance are
    /// sorted by owner. Returns at most [`HITS_MAX`] hits.
    pub fn raycast_all(
        &self,
        from: Vec3,
        direction: Vec3,
        length: f32,
        query: &QueryFilter,
        out: &mut Vec<QueryHit>,
    ) {
        let ray = rapier::Ray::new(from, direction);
        let hits = self.world.intersect_ray(ray, length, true, query.rapier());
        out.extend(hits.map(|(_, collider, hit)| QueryHit {
            owner: collider.user_data,
            position: from + direction * hit.time_of_impact,
            normal: hit.normal,
            distance: hit.time_of_impact,
        }));
        out.sort_by(|a, b| a.distance.total_cmp(&b.distance).then_with(|| a.owner.cmp(&b.owner)));
        let mut visited = std::collections::HashSet::new();
        out.retain(|hit| visited.insert(hit.owner));
        out.truncate(HITS_MAX);
    }

    /// Returns the owners of all bodies that overlap a shape, sorted and without duplicates.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn overlap(
        &self,
        shape: &ColliderShape,
        position: Vec3,
        rotation: Quat,
        query: &QueryFilter,
    ) -> Result<Vec<BodyOwner>, Error> {
        let shape = shape.shared(self.setup.flat)?;
        let pose = rapier::Pose::from_parts(position, rotation);
        let found = self.world.intersect_shape(pose, &*shape, query.rapier());
        let mut owners: Vec<BodyOwner> = found.map(|(_, collider)| collider.user_data).collect();
        owners.sort_unstable();
        owners.dedup();
        owners.truncate(HITS_MAX);
        Ok(owners)
    }

    /// Returns true if a character's shape overlaps nothing except one-way platforms.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn has_room(
        &self,
        shape: &ColliderShape,
        position: Vec3,
        query: &QueryFilter,
    ) -> Result<bool, Error> {
        let shape = shape.shared(self.setup.flat)?;
        let pose = rapier::Pose::from_parts(position, Quat::IDENTITY);
        let mut found = self.world.intersect_shape(pose, &*shape, query.rapier());
        Ok(!found.any(|(_, collider)| !is_one_way(collider)))
    }

    /// Returns at most `most` hits of a shape moved along a path, one per body, the nearest first.
    /// Bodies that overlap the shape at the start are the first, if `initial` is true, or none.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid.
    pub fn sweep(
        &self,
        shape: &ColliderShape,
        pose: (Vec3, Quat),
        to: Vec3,
        (most, initial): (usize, bool),
        query: &QueryFilter,
    ) -> Result<Vec<QueryHit>, Error> {
        let shape = shape.shared(self.setup.flat)?;
        let (from, rotation) = pose;
        let (displacement, pose) = (to - from, rapier::Pose::from_parts(from, rotation));
        let options = ShapeCastOptions { max_time_of_impact: 1.0, ..ShapeCastOptions::default() };
        let mut hits: Vec<QueryHit> = Vec::new();
        let mut owners: HashSet<BodyOwner> = HashSet::new();
        while hits.len() < most.min(HITS_MAX) {
            let fresh = |_: ColliderHandle, collider: &rapier::Collider| {
                !owners.contains(&collider.user_data)
            };
            let filter = rapier::QueryFilter { predicate: Some(&fresh), ..query.rapier() };
            let found = self.world.cast_shape(&pose, displacement, &*shape, options, filter);
            let Some((collider, hit)) = found else { break };
            let owner = self.owner_of(collider);
            owners.insert(owner);
            if !initial && hit.time_of_impact == 0.0 {
                continue;
            }
            hits.push(QueryHit {
                owner,
                position: hit.witness1,
                normal: hit.normal1,
                distance: displacement.length() * hit.time_of_impact,
            });
        }
        Ok(hits)
    }
}
