//! Bodies one by one: made, asked, pushed, moved, ended.

use super::{BODIES_MAX, Body, BodyId, FOUND, Filter, Locks, Motion, Owner, Physics};
use crate::foundation::{Error, Quat, Vec3};
use crate::insist;
use rapier3d::prelude as rapier;
use rapier3d::prelude::{ActiveCollisionTypes, ActiveEvents, ColliderHandle, RigidBodyBuilder};

/// The groups of a collider: with whom it collides, and whether questions find it.
fn groups(filter: Filter, collides: bool, found: bool) -> rapier::InteractionGroups {
    let set = if collides { filter.collides & !FOUND } else { 0 };
    let set = set | if found { FOUND } else { 0 };
    let [is, set] = [filter.is & !FOUND, set].map(rapier::Group::from_bits_retain);
    rapier::InteractionGroups::new(is, set, rapier::InteractionTestMode::And)
}

impl Physics {
    /// Adds a body.
    ///
    /// # Errors
    /// There are [`BODIES_MAX`] already, or a shape cannot be made.
    pub fn add(&mut self, body: &Body) -> Result<BodyId, Error> {
        if !self.is_beside() {
            return self.add_now(body);
        }
        // Shapes are made once for both.
        let mut body = body.clone();
        for part in &mut body.parts {
            part.shape = part.shape.solid()?;
        }
        let made = self.unnoted(|it| it.add_now(&body))?;
        self.note(move |it| {
            let again = it.add_now(&body);
            insist!(again == Ok(made), "a body comes twice in the same place: {again:?}");
        });
        Ok(made)
    }

    fn add_now(&mut self, body: &Body) -> Result<BodyId, Error> {
        if self.len() >= BODIES_MAX {
            return Err(crate::error!(
                "{BODIES_MAX} actors are in the world already (BODIES_MAX): destroy some first"
            ));
        }
        let events = match body.tells || body.trigger {
            true => ActiveEvents::COLLISION_EVENTS,
            false => ActiveEvents::empty(),
        };
        // A trigger notices what is moved by scripts, too.
        let types = match body.trigger {
            true => ActiveCollisionTypes::default() | ActiveCollisionTypes::KINEMATIC_KINEMATIC,
            false => ActiveCollisionTypes::default(),
        };
        let mut colliders = Vec::new();
        for part in &body.parts {
            let collider = part
                .shape
                .builder()?
                .position(rapier::Pose::from_parts(part.position, part.rotation))
                .sensor(body.trigger)
                .friction(part.friction)
                .restitution(part.restitution)
                .density(if body.mass.is_some() { 0.0 } else { part.density })
                .collision_groups(groups(body.filter, true, true))
                .active_events(events)
                .active_collision_types(types)
                .user_data(body.owner);
            colliders.push(collider.build());
        }
        let locks = match self.setup.flat {
            true => body.locks.with(Locks::FLAT),
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
        let made = BodyId(handle);
        if let Some(mass) = body.mass {
            self.set_mass_now(made, mass);
        }
        self.track.fresh.push(handle);
        self.keep_upright(made);
        self.show_to_queries(made);
        Ok(made)
    }

    /// Takes a body away, with the joints on it.
    pub fn remove(&mut self, body: BodyId) {
        self.change(move |it| it.remove_now(body));
    }

    fn remove_now(&mut self, body: BodyId) {
        for collider in self.body(body).colliders().to_vec() {
            if let Some(known) = self.world.colliders.get(collider) {
                self.collector.gone.push((collider, known.user_data, known.is_sensor()));
            }
        }
        self.wake_touching(body);
        self.world.remove_body(body.0);
    }

    /// Whether the body is there.
    pub fn has(&self, body: BodyId) -> bool {
        self.world.bodies.get(body.0).is_some()
    }

    pub(super) fn body(&self, body: BodyId) -> &rapier::RigidBody {
        self.world.bodies.get(body.0).expect("the owner keeps no body that it removed")
    }

    pub(super) fn body_mut(&mut self, body: BodyId) -> &mut rapier::RigidBody {
        self.world.bodies.get_mut(body.0).expect("the owner keeps no body that it removed")
    }

    /// Lets questions find a body where it is now, and not only after the next step.
    fn show_to_queries(&mut self, body: BodyId) {
        let pose = *self.body(body).position();
        for handle in self.body(body).colliders().to_vec() {
            let Some(collider) = self.world.colliders.get_mut(handle) else { continue };
            let local = collider.position_wrt_parent().copied();
            collider.set_position(pose * local.unwrap_or(rapier::Pose::IDENTITY));
            if !self.world.bodies[body.0].is_enabled() {
                continue;
            }
            let bounds = collider.compute_aabb();
            let parameters = &self.world.integration_parameters;
            self.world.broad_phase.set_aabb(parameters, handle, bounds);
        }
    }

    /// In two dimensions: puts the shapes of a body that is turned out of the plane into others, so
    /// that touches with them are looked at as in three.
    fn keep_upright(&mut self, body: BodyId) {
        if !self.setup.flat {
            return;
        }
        let turned = *self.body(body).rotation();
        for handle in self.body(body).colliders().to_vec() {
            let Some(collider) = self.world.colliders.get_mut(handle) else { continue };
            let own = collider.position_wrt_parent().map_or(Quat::IDENTITY, |pose| pose.rotation);
            let up = turned * own * Vec3::Z;
            let shape = collider.shared_shape().clone();
            let level = up.z.abs() > 1.0 - 1e-6;
            // The ground is one of these.
            if level || shape.as_composite_shape().is_some() {
                continue;
            }
            let inner = vec![(rapier::Pose::IDENTITY, shape)];
            collider.set_shape(rapier::SharedShape::compound(inner));
        }
    }

    /// Wakes what touches a body that does not move by itself, and so does not wake it.
    fn wake_touching(&mut self, body: BodyId) {
        let colliders = self.body(body).colliders().to_vec();
        let mut others = Vec::new();
        for collider in colliders {
            for pair in self.world.narrow_phase.contact_pairs_with(collider) {
                let other =
                    if pair.collider1 == collider { pair.collider2 } else { pair.collider1 };
                others.extend(self.collider(other).and_then(rapier::Collider::parent));
            }
        }
        for other in others {
            self.world.wake_up(other, true);
        }
    }

    pub fn owner(&self, body: BodyId) -> Owner {
        self.body(body).user_data
    }

    pub fn position(&self, body: BodyId) -> Vec3 {
        self.body(body).translation()
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

    /// The velocity of a point that moves with the body, given in the world.
    pub fn point_velocity(&self, body: BodyId, point: Vec3) -> Vec3 {
        self.body(body).velocity_at_point(point)
    }

    /// Kilograms.
    pub fn mass(&self, body: BodyId) -> f32 {
        self.body(body).mass()
    }

    /// Sets the mass, spread over the shapes by their volumes; kilograms, above 0.
    pub fn set_mass(&mut self, body: BodyId, mass: f32) {
        self.change(move |it| it.set_mass_now(body, mass));
    }

    fn set_mass_now(&mut self, body: BodyId, mass: f32) {
        let handles = self.body(body).colliders().to_vec();
        let volume = |handle: &ColliderHandle| self.collider(*handle).map_or(0.0, |c| c.volume());
        let volumes: f32 = handles.iter().map(volume).sum();
        for handle in &handles {
            if let Some(collider) = self.world.colliders.get_mut(*handle) {
                collider.set_density(if volumes > 0.0 { mass / volumes } else { 0.0 });
            }
        }
        let extra = if volumes > 0.0 { 0.0 } else { mass };
        let found = self.world.bodies.get_mut(body.0);
        let found = found.expect("the owner keeps no body that it removed");
        found.set_additional_mass(extra, true);
        found.recompute_mass_properties_from_colliders(&self.world.colliders);
    }

    pub fn center_of_mass(&self, body: BodyId) -> Vec3 {
        self.body(body).center_of_mass()
    }

    pub fn motion(&self, body: BodyId) -> Motion {
        Motion::of(self.body(body).body_type())
    }

    /// Makes a body static, dynamic or kinematic.
    pub fn set_motion(&mut self, body: BodyId, motion: Motion) {
        self.change(move |it| it.body_mut(body).set_body_type(motion.rapier(), true));
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
        self.change(move |it| it.body_mut(body).set_linvel(velocity, true));
    }

    pub fn set_angular_velocity(&mut self, body: BodyId, velocity: Vec3) {
        self.change(move |it| it.body_mut(body).set_angvel(velocity, true));
    }

    /// Kilograms times metres a second, at the centre of mass.
    pub fn add_impulse(&mut self, body: BodyId, impulse: Vec3) {
        self.change(move |it| it.body_mut(body).apply_impulse(impulse, true));
    }

    /// The same at a point of the world.
    pub fn add_impulse_at(&mut self, body: BodyId, impulse: Vec3, point: Vec3) {
        self.change(move |it| it.body_mut(body).apply_impulse_at_point(impulse, point, true));
    }

    pub fn add_torque_impulse(&mut self, body: BodyId, impulse: Vec3) {
        self.change(move |it| it.body_mut(body).apply_torque_impulse(impulse, true));
    }

    /// Linear and angular damping.
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

    /// Friction and restitution of its first shape.
    pub fn material(&self, body: BodyId) -> (f32, f32) {
        let first = self.body(body).colliders().first();
        let first = first.and_then(|handle| self.collider(*handle));
        first.map_or((0.0, 0.0), |collider| (collider.friction(), collider.restitution()))
    }

    /// Sets friction and restitution of all its shapes.
    pub fn set_material(&mut self, body: BodyId, friction: f32, restitution: f32) {
        self.change(move |it| {
            it.each_collider(body, |collider| {
                collider.set_friction(friction);
                collider.set_restitution(restitution);
                // Touches that last are only looked at again where more than that changes.
                let groups = collider.collision_groups();
                collider.set_collision_groups(rapier::InteractionGroups::none());
                collider.set_collision_groups(groups);
            });
            it.wake_touching(body);
            it.world.wake_up(body.0, true);
        });
    }

    fn each_collider(&mut self, body: BodyId, each: impl Fn(&mut rapier::Collider)) {
        for handle in self.body(body).colliders().to_vec() {
            if let Some(collider) = self.world.colliders.get_mut(handle) {
                each(collider);
            }
        }
    }

    /// With whom a body collides, whether it does at all, and whether questions find it.
    pub fn set_filter(&mut self, body: BodyId, filter: Filter, collides: bool, found: bool) {
        let groups = groups(filter, collides, found);
        self.change(move |it| {
            it.each_collider(body, |collider| collider.set_collision_groups(groups));
            it.wake_touching(body);
            it.world.wake_up(body.0, true);
        });
    }

    /// Puts a body somewhere at once, through whatever is between.
    pub fn teleport(&mut self, body: BodyId, position: Vec3, rotation: Quat) {
        let pose = rapier::Pose::from_parts(position, rotation);
        self.change(move |it| {
            it.wake_touching(body);
            it.body_mut(body).set_position(pose, true);
            it.keep_upright(body);
            it.track.put(body.0);
            it.show_to_queries(body);
        });
    }

    /// Where a kinematic body should be after the next step; what is in its way is pushed.
    pub fn drive(&mut self, body: BodyId, position: Vec3, rotation: Quat) {
        let pose = rapier::Pose::from_parts(position, rotation);
        self.change(move |it| it.body_mut(body).set_next_kinematic_position(pose));
    }

    /// Whether a body is in the simulation.
    pub fn is_enabled(&self, body: BodyId) -> bool {
        self.body(body).is_enabled()
    }

    /// Takes a body out of the simulation, or puts it back where it is.
    pub fn set_enabled(&mut self, body: BodyId, enabled: bool) {
        self.change(move |it| {
            it.wake_touching(body);
            it.body_mut(body).set_enabled(enabled);
            it.settle_joints(body);
            if enabled {
                it.world.wake_up(body.0, true);
                it.track.fresh.push(body.0);
                it.show_to_queries(body);
            }
        });
    }

    /// Takes a body out of the simulation where it is; it stays there.
    pub fn halt(&mut self, body: BodyId) {
        self.change(move |it| {
            it.body_mut(body).set_enabled(false);
            it.settle_joints(body);
        });
    }

    /// The owners of all that touches a body, sorted and each once.
    pub fn touching(&self, body: BodyId) -> Vec<Owner> {
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
