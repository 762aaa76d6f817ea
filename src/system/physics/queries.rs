//! Questions to a simulation: rays, sweeps and overlaps. Answers are as of the last step, and of
//! what was added or moved from outside since.

use super::{BodyId, FOUND, Owner, Physics, Shape};
use crate::foundation::{Error, Quat, Vec3};
use rapier3d::parry::query::ShapeCastOptions;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ColliderHandle, QueryFilterFlags};

/// The most hits that one question answers with.
pub const HITS_MAX: usize = 4096;

/// Which bodies a question is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kinds {
    /// All but triggers.
    Both,
    Statics,
    /// Dynamic and kinematic ones.
    Dynamics,
    Triggers,
    /// Triggers, too.
    All,
}

impl Kinds {
    pub const NAMES: [&'static str; 5] = ["both", "statics", "dynamics", "triggers", "all"];
    /// In the order of their names.
    pub const LIST: [Kinds; 5] =
        [Kinds::Both, Kinds::Statics, Kinds::Dynamics, Kinds::Triggers, Kinds::All];
}

/// What a question leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Only what collides with one of these types.
    pub is: u32,
    /// Only what is of one of these types.
    pub types: u32,
    pub kinds: Kinds,
    pub but: Option<BodyId>,
}

impl Query {
    /// Everything that questions are to find, but for triggers.
    pub const DEFAULT: Query = Query { is: FOUND, types: !FOUND, kinds: Kinds::Both, but: None };

    pub(super) fn rapier<'a>(&self) -> rapier::QueryFilter<'a> {
        use QueryFilterFlags as Flags;
        let flags = match self.kinds {
            Kinds::Both => Flags::EXCLUDE_SENSORS,
            Kinds::Statics => {
                Flags::EXCLUDE_SENSORS | Flags::EXCLUDE_DYNAMIC | Flags::EXCLUDE_KINEMATIC
            }
            Kinds::Dynamics => Flags::EXCLUDE_SENSORS | Flags::EXCLUDE_FIXED,
            Kinds::Triggers => Flags::EXCLUDE_SOLIDS,
            Kinds::All => Flags::empty(),
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

/// What a ray or a sweep met.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hit {
    pub owner: Owner,
    pub position: Vec3,
    /// Out of what was hit.
    pub normal: Vec3,
    /// Metres from the start.
    pub distance: f32,
}

impl Physics {
    fn owner_of(&self, collider: ColliderHandle) -> Owner {
        self.collider(collider).map_or(0, |collider| collider.user_data)
    }

    /// The first that a ray meets; the direction has length 1.
    pub fn raycast(&self, from: Vec3, direction: Vec3, length: f32, query: &Query) -> Option<Hit> {
        let ray = rapier::Ray::new(from, direction);
        let found = self.world.cast_ray_and_get_normal(&ray, length, true, query.rapier());
        found.map(|(collider, hit)| Hit {
            owner: self.owner_of(collider),
            position: from + direction * hit.time_of_impact,
            normal: hit.normal,
            distance: hit.time_of_impact,
        })
    }

    /// Everything that a ray meets, each body once, the nearest first; equally near by owner. Stops
    /// at [`HITS_MAX`].
    pub fn raycast_all(
        &self,
        from: Vec3,
        direction: Vec3,
        length: f32,
        query: &Query,
        out: &mut Vec<Hit>,
    ) {
        let ray = rapier::Ray::new(from, direction);
        let hits = self.world.intersect_ray(ray, length, true, query.rapier());
        out.extend(hits.map(|(_, collider, hit)| Hit {
            owner: collider.user_data,
            position: from + direction * hit.time_of_impact,
            normal: hit.normal,
            distance: hit.time_of_impact,
        }));
        out.sort_by(|a, b| a.distance.total_cmp(&b.distance).then_with(|| a.owner.cmp(&b.owner)));
        let mut seen = std::collections::HashSet::new();
        out.retain(|hit| seen.insert(hit.owner));
        out.truncate(HITS_MAX);
    }

    /// The owners of all that a shape touches at a place, sorted and each once.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn overlap(
        &self,
        shape: &Shape,
        position: Vec3,
        rotation: Quat,
        query: &Query,
    ) -> Result<Vec<Owner>, Error> {
        let shape = shape.shared()?;
        let pose = rapier::Pose::from_parts(position, rotation);
        let found = self.world.intersect_shape(pose, &*shape, query.rapier());
        let mut owners: Vec<Owner> = found.map(|(_, collider)| collider.user_data).collect();
        owners.sort_unstable();
        owners.dedup();
        owners.truncate(HITS_MAX);
        Ok(owners)
    }

    /// What a shape meets on its way, each body once, the nearest first, `most` at most.
    ///
    /// # Errors
    /// The shape cannot be.
    pub fn sweep(
        &self,
        shape: &Shape,
        pose: (Vec3, Quat),
        to: Vec3,
        most: usize,
        query: &Query,
    ) -> Result<Vec<Hit>, Error> {
        let shape = shape.shared()?;
        let (from, rotation) = pose;
        let (way, pose) = (to - from, rapier::Pose::from_parts(from, rotation));
        let options = ShapeCastOptions { max_time_of_impact: 1.0, ..ShapeCastOptions::default() };
        let mut hits: Vec<Hit> = Vec::new();
        while hits.len() < most.min(HITS_MAX) {
            let fresh = |_: ColliderHandle, collider: &rapier::Collider| {
                hits.iter().all(|hit| hit.owner != collider.user_data)
            };
            let filter = rapier::QueryFilter { predicate: Some(&fresh), ..query.rapier() };
            let found = self.world.cast_shape(&pose, way, &*shape, options, filter);
            let Some((collider, hit)) = found else { break };
            hits.push(Hit {
                owner: self.owner_of(collider),
                position: hit.witness1,
                normal: hit.normal1,
                distance: way.length() * hit.time_of_impact,
            });
        }
        Ok(hits)
    }
}
