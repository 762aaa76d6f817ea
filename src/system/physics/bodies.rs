//! Operations on single bodies: create, read, push, move, remove.

use super::{
    AxisLocks, BODIES_MAX, BodyDesc, BodyId, BodyOwner, ColliderShape, CollisionFilter, MotionType,
    QUERYABLE, Simulation, limbs, one_way,
};
use engine_foundation::insist;
use engine_foundation::{Error, Quat, Vec3};
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ActiveCollisionTypes, ActiveEvents, ColliderHandle, RigidBodyBuilder};

/// Returns the interaction groups of a collider. `collides` is false if it collides with nothing,
/// `found` is true if queries find it.
fn groups(filter: CollisionFilter, collides: bool, found: bool) -> rapier::InteractionGroups {
    let set = if collides { filter.collides & !QUERYABLE } else { 0 };
    let set = set | if found { QUERYABLE } else { 0 };
    let [is, set] = [filter.is & !QUERYABLE, set].map(rapier::Group::from_bits_retain);
    rapier::InteractionGroups::new(is, set, rapier::InteractionTestMode::And)
}

/// Returns true if a rotation keeps the z axis, or reverses it.
fn is_level(rotation: Quat) -> bool {
    (rotation * Vec3::Z).z.abs() > 1.0 - 1e-6
}

impl Simulation {
    /// Adds a body.
    ///
    /// # Errors
    /// Returns an error if there are [`BODIES_MAX`] bodies already, or if a shape is invalid.
    pub fn add(&mut self, body: &BodyDesc) -> Result<BodyId, Error> {
        if !self.is_async() {
            return self.add_now(body);
        }
        // The shapes are built once and shared by both simulations.
        let (mut body, flat) = (body.clone(), self.setup.flat);
        for part in body.parts.iter_mut().filter(|part| part.shape.is_slow_to_build()) {
            part.shape = part.shape.solid(flat)?;
        }
        let added = self.change_unrecorded(|it| it.add_now(&body))?;
        self.record(move |it| {
            let repeated = it.add_now(&body);
            insist!(repeated == Ok(added), "the same body has two different handles: {repeated:?}");
        });
        Ok(added)
    }

    fn add_now(&mut self, body: &BodyDesc) -> Result<BodyId, Error> {
        if self.len() >= BODIES_MAX {
            return Err(engine_foundation::error!(
                "{BODIES_MAX} actors are in the world already (BODIES_MAX): destroy some first"
            ));
        }
        let events = match body.reports_contacts || body.trigger {
            true => ActiveEvents::COLLISION_EVENTS,
            false => ActiveEvents::empty(),
        };
        // A trigger also detects kinematic bodies, which scripts move.
        let types = match body.trigger {
            true => ActiveCollisionTypes::default() | ActiveCollisionTypes::KINEMATIC_KINEMATIC,
            false => ActiveCollisionTypes::default(),
        };
        let flat = self.setup.flat;
        let mut colliders = Vec::new();
        for part in &body.parts {
            let level = flat && is_level(body.rotation * part.rotation);
            let built = part.shape.built_in(flat, level);
            let collider = built
                .shape
                .builder(flat)?
                .position(rapier::Pose::from_parts(part.position, part.rotation))
                .sensor(body.trigger)
                .friction(part.friction)
                .restitution(part.restitution)
                .density(part.density * built.density)
                .contact_force_event_threshold(built.depth)
                .collision_groups(groups(body.filter, true, true))
                .active_events(events)
                .active_hooks(one_way::hooks(body.one_way) | limbs::hooks(body.limb))
                .active_collision_types(types)
                .user_data(body.owner);
            colliders.push(collider.build());
        }
        let locks = match self.setup.flat {
            true => body.locks.with(AxisLocks::FLAT),
            false => body.locks,
        };
        let builder = RigidBodyBuilder::new(body.motion.rapier())
            .pose(rapier::Pose::from_parts(body.position, body.rotation))
            .linear_damping(body.linear_damping)
            .angular_damping(body.angular_damping)
            .gravity_scale(body.gravity)
            .ccd_enabled(body.continuous)
            .locked_axes(locks.rapier())
            .user_data(body.owner);
        let handle = self.world.insert_body(builder.build());
        for collider in colliders {
            self.world.colliders.insert_with_parent(collider, handle, &mut self.world.bodies);
        }
        let id = BodyId(handle);
        if let Some(mass) = body.mass {
            self.set_mass_now(id, mass);
        }
        self.track.fresh.push(handle);
        self.planes.record(&self.world, handle);
        self.keep_in_plane(id);
        self.show_to_queries(id);
        Ok(id)
    }

    /// Replaces one of the shapes of a body that forces do not move. Touching bodies wake up.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid; the body is then unchanged.
    pub fn set_shape(
        &mut self,
        body: BodyId,
        index: usize,
        shape: &ColliderShape,
    ) -> Result<(), Error> {
        let shape = shape.shared(self.setup.flat)?;
        self.change(move |it| {
            let Some(handle) = it.body(body).colliders().get(index).copied() else { return };
            it.wake_touching_collider(handle);
            let Some(collider) = it.world.colliders.get_mut(handle) else { return };
            collider.set_shape(shape.clone());
            if shape.as_composite_shape().is_none() {
                it.keep_in_plane(body);
            }
            it.show_collider_to_queries(body, handle);
        });
        Ok(())
    }

    /// Adds a shape to a body that forces do not move, with the settings of its first shape. The
    /// shape gets the last index. Touching bodies wake up in the next step.
    ///
    /// # Errors
    /// Returns an error if the shape is invalid; the body is then unchanged.
    pub fn add_shape(&mut self, body: BodyId, shape: &ColliderShape) -> Result<(), Error> {
        let shape = shape.shared(self.setup.flat)?;
        self.change(move |it| {
            let first = it.body(body).colliders().first();
            let Some(mut added) = first.and_then(|first| it.collider(*first)).cloned() else {
                return;
            };
            added.set_shape(shape.clone());
            let handle = it.world.insert_collider(added, Some(body.0));
            if shape.as_composite_shape().is_none() {
                it.keep_in_plane(body);
            }
            it.show_collider_to_queries(body, handle);
        });
        Ok(())
    }

    /// Removes one of the shapes of a body that forces do not move. The last shape gets its index.
    /// Touching bodies wake up.
    pub fn remove_shape(&mut self, body: BodyId, index: usize) {
        self.change(move |it| {
            let Some(handle) = it.body(body).colliders().get(index).copied() else { return };
            it.wake_touching_collider(handle);
            if let Some(known) = it.world.colliders.get(handle) {
                it.collector.removed.push((handle, known.user_data, known.is_sensor()));
            }
            it.world.remove_collider(handle);
        });
    }

    /// Returns the number of shapes of a body.
    pub fn num_shapes(&self, body: BodyId) -> usize {
        self.body(body).colliders().len()
    }

    /// Removes a body and the joints on it.
    pub fn remove(&mut self, body: BodyId) {
        self.change(move |it| it.remove_now(body));
    }

    fn remove_now(&mut self, body: BodyId) {
        for collider in self.body(body).colliders().to_vec() {
            if let Some(known) = self.world.colliders.get(collider) {
                self.collector.removed.push((collider, known.user_data, known.is_sensor()));
            }
        }
        self.wake_touching(body);
        self.world.remove_body(body.0);
    }

    /// Returns true if the body exists.
    pub fn has(&self, body: BodyId) -> bool {
        self.world.bodies.get(body.0).is_some()
    }

    pub(super) fn body(&self, body: BodyId) -> &rapier::RigidBody {
        self.world.bodies.get(body.0).expect("the owner keeps no removed body")
    }

    pub(super) fn body_mut(&mut self, body: BodyId) -> &mut rapier::RigidBody {
        self.world.bodies.get_mut(body.0).expect("the owner keeps no removed body")
    }

    /// Updates the broad phase, so that queries find a body at its current position before the next
    /// step.
    fn show_to_queries(&mut self, body: BodyId) {
        for handle in self.body(body).colliders().to_vec() {
            self.show_collider_to_queries(body, handle);
        }
    }

    fn show_collider_to_queries(&mut self, body: BodyId, handle: ColliderHandle) {
        let pose = *self.body(body).position();
        let Some(collider) = self.world.colliders.get_mut(handle) else { return };
        let local = collider.position_wrt_parent().copied();
        collider.set_position(pose * local.unwrap_or(rapier::Pose::IDENTITY));
        if self.world.bodies[body.0].is_enabled() {
            let bounds = collider.compute_aabb();
            let parameters = &self.world.integration_parameters;
            self.world.broad_phase.set_aabb(parameters, handle, bounds);
        }
    }

    /// In two dimensions, wraps the shapes of a body that is rotated out of the plane in compounds,
    /// so that their contacts are computed as in three dimensions. Boxes get their own depth back.
    fn keep_in_plane(&mut self, body: BodyId) {
        if !self.setup.flat {
            return;
        }
        let turned = *self.body(body).rotation();
        for handle in self.body(body).colliders().to_vec() {
            let Some(collider) = self.world.colliders.get_mut(handle) else { continue };
            let own = collider.position_wrt_parent().map_or(Quat::IDENTITY, |pose| pose.rotation);
            let shape = collider.shared_shape().clone();
            // The half-space is a composite shape, too.
            if is_level(turned * own) || shape.as_composite_shape().is_some() {
                continue;
            }
            let depth = collider.contact_force_event_threshold();
            let shape = match shape.as_cuboid() {
                Some(cuboid) if depth > 0.0 => {
                    let half = cuboid.half_extents;
                    let density = collider.density();
                    collider.set_density(density * (half.z / depth));
                    collider.set_contact_force_event_threshold(0.0);
                    rapier::SharedShape::cuboid(half.x, half.y, depth)
                }
                _ => shape,
            };
            let inner = vec![(rapier::Pose::IDENTITY, shape)];
            collider.set_shape(rapier::SharedShape::compound(inner));
        }
    }

    /// Wakes the bodies that touch a body. A body that is moved from outside does not wake them
    /// itself.
    pub(super) fn wake_touching(&mut self, body: BodyId) {
        for collider in self.body(body).colliders().to_vec() {
            self.wake_touching_collider(collider);
        }
    }

    fn wake_touching_collider(&mut self, collider: ColliderHandle) {
        let mut others = Vec::new();
        for pair in self.world.narrow_phase.contact_pairs_with(collider) {
            let other = if pair.collider1 == collider { pair.collider2 } else { pair.collider1 };
            others.extend(self.collider(other).and_then(rapier::Collider::parent));
        }
        for other in others {
            self.world.wake_up(other, true);
        }
    }

    pub fn owner(&self, body: BodyId) -> BodyOwner {
        self.body(body).user_data
    }

    pub fn position(&self, body: BodyId) -> Vec3 {
        let position = self.body(body).translation();
        match self.setup.flat && self.motion(body) == MotionType::Dynamic {
            true => position.with_z(self.planes.z(body.0)),
            false => position,
        }
    }

    pub fn rotation(&self, body: BodyId) -> Quat {
        *self.body(body).rotation()
    }

    pub fn velocity(&self, body: BodyId) -> Vec3 {
        self.body(body).linvel()
    }

    pub fn angular_velocity(&self, body: BodyId) -> Vec3 {
        self.body(body).angvel()
    }

    /// Returns the velocity of a point that moves with the body. The point is in world space.
    pub fn point_velocity(&self, body: BodyId, point: Vec3) -> Vec3 {
        self.body(body).velocity_at_point(point)
    }

    /// Returns the mass in kilograms.
    pub fn mass(&self, body: BodyId) -> f32 {
        self.body(body).mass()
    }

    /// Sets the mass in kilograms, above 0. It is distributed over the shapes by their volumes. The
    /// body wakes up, because joints may no longer hold it.
    pub fn set_mass(&mut self, body: BodyId, mass: f32) {
        self.change(move |it| {
            it.set_mass_now(body, mass);
            it.world.wake_up(body.0, true);
        });
    }

    fn set_mass_now(&mut self, body: BodyId, mass: f32) {
        let handles = self.body(body).colliders().to_vec();
        // In two dimensions, shapes are built deeper than they are, with less density.
        let flat = self.setup.flat;
        let volume = |handle: &ColliderHandle| match self.collider(*handle) {
            Some(collider) if flat => collider.mass(),
            Some(collider) => collider.volume(),
            None => 0.0,
        };
        let volumes: f32 = handles.iter().map(volume).sum();
        for handle in handles.iter().filter(|_| volumes > 0.0) {
            if let Some(collider) = self.world.colliders.get_mut(*handle) {
                let density = if flat { collider.density() } else { 1.0 };
                collider.set_density(density * (mass / volumes));
                if limbs::is_limb(collider) {
                    limbs::widen_inertia(collider);
                }
            }
        }
        let extra = if volumes > 0.0 { 0.0 } else { mass };
        let found = self.world.bodies.get_mut(body.0);
        let found = found.expect("the owner keeps no removed body");
        found.set_additional_mass(extra, true);
        found.recompute_mass_properties_from_colliders(&self.world.colliders);
    }

    pub fn center_of_mass(&self, body: BodyId) -> Vec3 {
        self.body(body).center_of_mass()
    }

    pub fn motion(&self, body: BodyId) -> MotionType {
        MotionType::of(self.body(body).body_type())
    }

    /// Sets the motion type of a body.
    pub fn set_motion(&mut self, body: BodyId, motion: MotionType) {
        self.change(move |it| {
            it.body_mut(body).set_body_type(motion.rapier(), true);
            it.planes.record(&it.world, body.0);
        });
    }

    pub fn is_sleeping(&self, body: BodyId) -> bool {
        self.body(body).is_sleeping()
    }

    pub fn wake_up(&mut self, body: BodyId) {
        self.change(move |it| it.world.wake_up(body.0, true));
    }

    pub fn put_to_sleep(&mut self, body: BodyId) {
        self.change(move |it| it.body_mut(body).sleep());
    }

    pub fn set_velocity(&mut self, body: BodyId, velocity: Vec3) {
        let velocity = self.in_plane(velocity);
        self.change(move |it| it.body_mut(body).set_linvel(velocity, true));
    }

    pub fn set_angular_velocity(&mut self, body: BodyId, velocity: Vec3) {
        self.change(move |it| it.body_mut(body).set_angvel(velocity, true));
    }

    /// Applies an impulse at the center of mass, in kilogram metres per second.
    pub fn add_impulse(&mut self, body: BodyId, impulse: Vec3) {
        let impulse = self.in_plane(impulse);
        self.change(move |it| it.body_mut(body).apply_impulse(impulse, true));
    }

    /// Applies an impulse at a point in world space, in kilogram metres per second.
    pub fn add_impulse_at(&mut self, body: BodyId, impulse: Vec3, point: Vec3) {
        let impulse = self.in_plane(impulse);
        self.change(move |it| it.body_mut(body).apply_impulse_at_point(impulse, point, true));
    }

    pub fn add_torque_impulse(&mut self, body: BodyId, impulse: Vec3) {
        self.change(move |it| it.body_mut(body).apply_torque_impulse(impulse, true));
    }

    /// Returns linear and angular damping.
    pub fn damping(&self, body: BodyId) -> (f32, f32) {
        let body = self.body(body);
        (body.linear_damping(), body.angular_damping())
    }

    pub fn set_damping(&mut self, body: BodyId, linear: f32, angular: f32) {
        self.change(move |it| {
            let body = it.body_mut(body);
            body.set_linear_damping(linear);
            body.set_angular_damping(angular);
        });
    }

    pub fn gravity_scale(&self, body: BodyId) -> f32 {
        self.body(body).gravity_scale()
    }

    pub fn set_gravity_scale(&mut self, body: BodyId, scale: f32) {
        self.change(move |it| it.body_mut(body).set_gravity_scale(scale, true));
    }

    /// Returns friction and restitution of the body's first shape.
    pub fn material(&self, body: BodyId) -> (f32, f32) {
        let first = self.body(body).colliders().first();
        let first = first.and_then(|handle| self.collider(*handle));
        first.map_or((0.0, 0.0), |collider| (collider.friction(), collider.restitution()))
    }

    /// Sets friction and restitution of all shapes of the body.
    pub fn set_material(&mut self, body: BodyId, friction: f32, restitution: f32) {
        self.change(move |it| {
            it.each_collider(body, |collider| {
                collider.set_friction(friction);
                collider.set_restitution(restitution);
                // rapier does not update existing contacts when only the material changes, so the
                // groups are changed and restored.
                let groups = collider.collision_groups();
                collider.set_collision_groups(rapier::InteractionGroups::none());
                collider.set_collision_groups(groups);
            });
            it.wake_touching(body);
            it.world.wake_up(body.0, true);
        });
    }

    pub(super) fn each_collider(&mut self, body: BodyId, each: impl Fn(&mut rapier::Collider)) {
        for handle in self.body(body).colliders().to_vec() {
            if let Some(collider) = self.world.colliders.get_mut(handle) {
                each(collider);
            }
        }
    }

    /// Sets the collision filter of a body, whether it collides at all, and whether queries find
    /// it.
    pub fn set_filter(
        &mut self,
        body: BodyId,
        filter: CollisionFilter,
        collides: bool,
        found: bool,
    ) {
        let groups = groups(filter, collides, found);
        self.change(move |it| {
            it.each_collider(body, |collider| collider.set_collision_groups(groups));
            it.wake_touching(body);
            it.world.wake_up(body.0, true);
        });
    }

    /// Moves a body at once to a transform, without collisions on the path.
    pub fn teleport(&mut self, body: BodyId, position: Vec3, rotation: Quat) {
        let pose = rapier::Pose::from_parts(position, rotation);
        self.change(move |it| {
            it.wake_touching(body);
            it.body_mut(body).set_position(pose, true);
            it.planes.record(&it.world, body.0);
            it.keep_in_plane(body);
            it.track.mark_placed(body.0);
            it.show_to_queries(body);
        });
    }

    /// Sets the transform that a kinematic body reaches in the next step. Bodies in its path are
    /// pushed.
    pub fn drive(&mut self, body: BodyId, position: Vec3, rotation: Quat) {
        let pose = rapier::Pose::from_parts(position, rotation);
        self.change(move |it| it.body_mut(body).set_next_kinematic_position(pose));
    }

    /// Returns true if a body takes part in the simulation.
    pub fn is_enabled(&self, body: BodyId) -> bool {
        self.body(body).is_enabled()
    }

    /// Removes a body from the simulation, or returns it at its current transform.
    pub fn set_enabled(&mut self, body: BodyId, enabled: bool) {
        self.change(move |it| {
            it.wake_touching(body);
            it.body_mut(body).set_enabled(enabled);
            it.sync_joints(body);
            if enabled {
                it.world.wake_up(body.0, true);
                it.track.fresh.push(body.0);
                it.show_to_queries(body);
            }
        });
    }

    /// Removes a body from the simulation and leaves it at its current transform.
    pub fn halt(&mut self, body: BodyId) {
        self.change(move |it| {
            it.body_mut(body).set_enabled(false);
            it.sync_joints(body);
        });
    }

    /// Returns the owners of all bodies that touch a body, sorted and without duplicates.
    pub fn touching(&self, body: BodyId) -> Vec<BodyOwner> {
        let mut owners = Vec::new();
        for collider in self.body(body).colliders() {
            if let Some(touches) = &self.touches {
                let key = collider.into_raw_parts();
                let first = touches.partition_point(|(one, _)| one.into_raw_parts() < key);
                let own = touches[first..].iter().take_while(|(one, _)| one == collider);
                owners.extend(own.filter_map(|(_, two)| Some(self.collider(*two)?.user_data)));
                continue;
            }
            for pair in self.world.narrow_phase.contact_pairs_with(*collider) {
                if pair.has_any_active_contact() {
                    let first = pair.collider1 == *collider;
                    let other = if first { pair.collider2 } else { pair.collider1 };
                    owners.extend(self.collider(other).map(|collider| collider.user_data));
                }
            }
            for (one, two, touch) in self.world.narrow_phase.intersection_pairs_with(*collider) {
                let other = if one == *collider { two } else { one };
                if touch {
                    owners.extend(self.collider(other).map(|collider| collider.user_data));
                }
            }
        }
        owners.sort_unstable();
        owners.dedup();
        owners
    }
}
