//! The scene graph: where the nodes of units are, in columns that never move. A unit's nodes stand
//! in one run, parents before children; a node's parent may be in another unit, which is what a
//! link is. Knows no units beyond their number, and no worlds.
//!
//! Setting a local pose marks the unit (and what is linked to it); world poses are computed when
//! the world is updated, or when one is asked for before that.

mod pieces;

use crate::foundation::memory::limit::Charge;
use crate::foundation::tasks::Pool;
use crate::foundation::{Error, Mat3, Mat4, Quat, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The most nodes of all units together.
pub const NODES_MAX: usize = 1 << 20;
/// The most units of all worlds together.
pub const UNITS_MAX: usize = 1 << 18;
/// The most nodes of one unit.
pub const UNIT_NODES_MAX: usize = 4096;

/// No parent: the node is placed in the world itself.
pub const NO_NODE: u32 = u32::MAX;

/// A place, a turn and a size, relative to a parent. Metres; the rotation has length 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pose {
    pub position: Vec3,
    pub rotation: Quat,
    pub scale: Vec3,
}

impl Pose {
    pub const IDENTITY: Pose =
        Pose { position: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// Of a matrix without shear; a mirrored one gets a negative x scale.
    pub fn of(matrix: Mat4) -> Pose {
        let (scale, rotation, position) = matrix.to_scale_rotation_translation();
        if rotation.is_finite() {
            return Pose { position, rotation, scale };
        }
        // An axis without a length has no direction: it stands on the others.
        let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.truncate());
        let [x, y, z] = axes.map(Vec3::normalize_or_zero);
        let any = |axis: Vec3| axis.try_normalize().map(|axis| axis.any_orthonormal_vector());
        let x = x.try_normalize().or_else(|| y.cross(z).try_normalize());
        let x = x.or_else(|| any(y)).or_else(|| any(z)).unwrap_or(Vec3::X);
        let y = (y - x * x.dot(y)).try_normalize().or_else(|| z.cross(x).try_normalize());
        let y = y.unwrap_or_else(|| x.any_orthonormal_vector());
        let rotation = Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)));
        Pose { position, rotation, scale: Vec3::from_array(axes.map(Vec3::length)) }
    }

    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }

    pub fn matrix(&self) -> Mat4 {
        Mat4::from_scale_rotation_translation(self.scale, self.rotation, self.position)
    }
}

/// Where a unit's nodes are, and whether their world poses are old. 12 bytes.
#[derive(Clone, Copy, Default)]
struct Run {
    first: u32,
    count: u16,
    /// Bits of [`flag`].
    flags: u8,
    /// The unit that its first node hangs on, where that has a parent.
    above: u32,
}

/// Bits of [`Run::flags`].
mod flag {
    /// Its world poses are old.
    pub const DIRTY: u8 = 1;
    /// It waits in the list for the next update.
    pub const LISTED: u8 = 2;
    /// Other units hang on its nodes.
    pub const CARRIES: u8 = 4;
}

impl Run {
    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Its nodes' places in the columns.
    fn nodes(self) -> Range<usize> {
        self.first as usize..self.first as usize + usize::from(self.count)
    }
}

/// What the columns take in addresses, and the steps in which they are counted.
const RESERVED_BYTES: i64 = (NODES_MAX * SceneGraph::NODE_BYTES) as i64;
const CHARGE_STEP: usize = 64 << 10;

/// All nodes of all units.
#[derive(Default)]
pub struct SceneGraph {
    position: Vec<[f32; 3]>,
    rotation: Vec<[f32; 4]>,
    scale: Vec<[f32; 3]>,
    /// The axes, scaled, and the place: the columns of an affine matrix.
    world: Vec<[[f32; 3]; 4]>,
    parent: Vec<u32>,
    runs: Vec<Run>,
    used: u32,
    /// Has the columns count for the nodes that are used, and not for all that can ever be.
    charge: Option<Charge>,
    free: BTreeMap<u32, Vec<u32>>,
    /// The units that were marked since the last update; a run that is not `listed` is old news.
    marked: Vec<u32>,
    /// A unit, and one that hangs on it: sorted, so that those of one stand together.
    carried: BTreeSet<(u32, u32)>,
}

impl SceneGraph {
    /// The bytes of a node in the columns.
    pub const NODE_BYTES: usize =
        size_of::<[f32; 3]>() * 2 + size_of::<[f32; 4]>() + size_of::<[[f32; 3]; 4]>() + 4;

    /// Makes room for all the nodes that can ever be: addresses are taken, memory is not.
    fn reserve(&mut self) {
        if self.parent.is_empty() {
            crate::owner!("worlds/nodes");
            let mut charge = Charge::new("worlds/nodes");
            charge.set(-RESERVED_BYTES);
            self.charge = Some(charge);
            self.position = vec![[0.0; 3]; NODES_MAX];
            self.rotation = vec![[0.0; 4]; NODES_MAX];
            self.scale = vec![[0.0; 3]; NODES_MAX];
            self.world = vec![[[0.0; 3]; 4]; NODES_MAX];
            self.parent = vec![0; NODES_MAX];
        }
    }

    /// Counts the columns up to the nodes that were ever used.
    fn charge_used(&mut self) {
        let used = (self.used as usize * SceneGraph::NODE_BYTES).next_multiple_of(CHARGE_STEP);
        let bytes = used as i64 - RESERVED_BYTES;
        if let Some(charge) = &mut self.charge
            && bytes > charge.bytes()
        {
            charge.set(bytes);
        }
    }

    /// Adds a unit's nodes: `parents` are places in this list or [`NO_NODE`], parents first.
    pub fn add(&mut self, unit: u32, parents: &[u32], poses: &[Pose]) -> Result<(), Error> {
        self.reserve();
        assert!(parents.len() <= UNIT_NODES_MAX, "{} nodes (UNIT_NODES_MAX)", parents.len());
        let count = parents.len() as u32;
        let first = match self.free.get_mut(&count).and_then(Vec::pop) {
            Some(first) => first,
            None if (self.used + count) as usize <= NODES_MAX => {
                self.used += count;
                self.charge_used();
                self.used - count
            }
            None => {
                return Err(crate::error!(
                    "there is no room for {count} more nodes (NODES_MAX is {NODES_MAX}): destroy \
                     units that are not needed"
                ));
            }
        };
        if self.runs.len() <= unit as usize {
            self.runs.resize(unit as usize + 1, Run::default());
        }
        self.runs[unit as usize] = Run { first, count: count as u16, ..Run::default() };
        for (i, (parent, pose)) in parents.iter().zip(poses).enumerate() {
            debug_assert!(*parent == NO_NODE || (*parent as usize) < i, "parents stand first");
            let node = first as usize + i;
            self.parent[node] = if *parent == NO_NODE { NO_NODE } else { first + parent };
            self.put(node, pose);
        }
        self.mark(unit);
        Ok(())
    }

    /// Takes a unit's nodes away. What hung on them stays where it is in the world.
    pub fn remove(&mut self, unit: u32) {
        for child in self.carried_by(unit).collect::<Vec<_>>() {
            self.unlink(child);
        }
        self.unlink(unit);
        let run = std::mem::take(&mut self.runs[unit as usize]);
        self.free.entry(run.count.into()).or_default().push(run.first);
    }

    /// How many nodes a unit has.
    pub fn count(&self, unit: u32) -> usize {
        self.runs[unit as usize].count.into()
    }

    /// The place of a unit's node in the columns; nodes count from 0 here.
    fn at(&self, unit: u32, node: usize) -> usize {
        let run = self.runs[unit as usize];
        assert!(node < usize::from(run.count), "the node was checked where it came in");
        run.first as usize + node
    }

    fn put(&mut self, at: usize, pose: &Pose) {
        self.position[at] = pose.position.to_array();
        self.rotation[at] = pose.rotation.to_array();
        self.scale[at] = pose.scale.to_array();
    }

    /// Where a node is relative to its parent.
    pub fn local(&self, unit: u32, node: usize) -> Pose {
        let at = self.at(unit, node);
        Pose {
            position: Vec3::from_array(self.position[at]),
            rotation: Quat::from_array(self.rotation[at]),
            scale: Vec3::from_array(self.scale[at]),
        }
    }

    pub fn local_position(&self, unit: u32, node: usize) -> Vec3 {
        Vec3::from_array(self.position[self.at(unit, node)])
    }

    pub fn local_rotation(&self, unit: u32, node: usize) -> Quat {
        Quat::from_array(self.rotation[self.at(unit, node)])
    }

    pub fn local_scale(&self, unit: u32, node: usize) -> Vec3 {
        Vec3::from_array(self.scale[self.at(unit, node)])
    }

    pub fn set_local(&mut self, unit: u32, node: usize, pose: &Pose) {
        let at = self.at(unit, node);
        self.put(at, pose);
        self.mark(unit);
    }

    pub fn set_local_position(&mut self, unit: u32, node: usize, position: Vec3) {
        let at = self.at(unit, node);
        self.position[at] = position.to_array();
        self.mark(unit);
    }

    pub fn set_local_rotation(&mut self, unit: u32, node: usize, rotation: Quat) {
        let at = self.at(unit, node);
        self.rotation[at] = rotation.to_array();
        self.mark(unit);
    }

    pub fn set_local_scale(&mut self, unit: u32, node: usize, scale: Vec3) {
        let at = self.at(unit, node);
        self.scale[at] = scale.to_array();
        self.mark(unit);
    }

    /// Puts a node somewhere in the world, whatever it hangs on; its scale stays.
    pub fn place(&mut self, unit: u32, node: usize, position: Vec3, rotation: Quat) {
        let at = self.at(unit, node);
        let (mut position, mut rotation) = (position, rotation);
        if self.parent[at] != NO_NODE
            && let Some((above, parent)) = self.parent(unit, node)
        {
            let inverse = self.world(above, parent).inverse();
            if !inverse.is_finite() {
                // It hangs on something without a size, where no place is another.
                return;
            }
            position = inverse.transform_point3(position);
            rotation = self.world_rotation(above, parent).inverse() * rotation;
        }
        self.position[at] = position.to_array();
        self.rotation[at] = rotation.to_array();
        self.mark(unit);
    }

    /// The units that were moved since the last update, in the order in which they were.
    pub fn marked(&self) -> impl Iterator<Item = u32> + '_ {
        let marked = self.marked.iter().copied();
        marked.filter(|unit| self.runs[*unit as usize].has(flag::LISTED))
    }

    /// The parent of a node, as unit and node; `None` where it is placed in the world itself.
    pub fn parent(&self, unit: u32, node: usize) -> Option<(u32, usize)> {
        let parent = self.parent[self.at(unit, node)];
        if parent == NO_NODE {
            return None;
        }
        let owner = if node == 0 { self.runs[unit as usize].above } else { unit };
        Some((owner, (parent - self.runs[owner as usize].first) as usize))
    }

    /// The units that hang on a unit, by their numbers.
    fn carried_by(&self, unit: u32) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.carried.range((unit, 0)..=(unit, u32::MAX)).map(|(_, child)| *child)
    }

    /// Notes that a unit's world poses are old, and those of what hangs on it.
    #[inline]
    fn mark(&mut self, unit: u32) {
        if self.mark_one(unit) {
            self.mark_carried(unit);
        }
    }

    /// The same for the unit alone; whether others hang on it that have to be told.
    #[inline]
    fn mark_one(&mut self, unit: u32) -> bool {
        let run = &mut self.runs[unit as usize];
        let before = *run;
        if before.has(flag::DIRTY) {
            return false;
        }
        run.flags |= flag::DIRTY | flag::LISTED;
        if !before.has(flag::LISTED) {
            self.marked.push(unit);
        }
        before.has(flag::CARRIES)
    }

    /// A list in place of calls within each other: units hang on each other as deep as games like.
    #[cold]
    fn mark_carried(&mut self, unit: u32) {
        let mut waiting: Vec<u32> = self.carried_by(unit).rev().collect();
        while let Some(child) = waiting.pop() {
            if self.mark_one(child) {
                waiting.extend(self.carried_by(child).rev());
            }
        }
    }

    /// Where a node is in the world, brought up to date first.
    pub fn world(&mut self, unit: u32, node: usize) -> Mat4 {
        self.bring_up(unit);
        matrix(&self.world[self.at(unit, node)])
    }

    /// The same as the upper three rows of a matrix, the place in the last column.
    #[inline]
    pub fn world_rows(&mut self, unit: u32, node: usize) -> [[f32; 4]; 3] {
        self.bring_up(unit);
        let [x, y, z, at] = self.world[self.at(unit, node)];
        [0, 1, 2].map(|row| [x[row], y[row], z[row], at[row]])
    }

    pub fn world_position(&mut self, unit: u32, node: usize) -> Vec3 {
        self.bring_up(unit);
        Vec3::from_array(self.world[self.at(unit, node)][3])
    }

    /// How a node is turned in the world. Where parents scale their axes differently there may be
    /// no exact answer: the axes' directions decide.
    pub fn world_rotation(&mut self, unit: u32, node: usize) -> Quat {
        self.bring_up(unit);
        let [x, y, z, _] = self.world[self.at(unit, node)].map(Vec3::from_array);
        let mirrored = if x.cross(y).dot(z) < 0.0 { -1.0 } else { 1.0 };
        let x = (x * mirrored).normalize_or(Vec3::X);
        let y = (y - x * x.dot(y)).normalize_or(Vec3::Y);
        Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)))
    }

    /// Computes a unit's world poses if they are old, those that it hangs on first.
    pub fn bring_up(&mut self, unit: u32) {
        let run = self.runs[unit as usize];
        if !run.has(flag::DIRTY) {
            return;
        }
        if self.parent[run.first as usize] == NO_NODE {
            self.compute(unit);
            return;
        }
        let mut chain = vec![unit];
        let mut top = unit;
        while let Some((above, _)) = self.parent(top, 0)
            && self.runs[above as usize].has(flag::DIRTY)
        {
            chain.push(above);
            top = above;
        }
        while let Some(unit) = chain.pop() {
            self.compute(unit);
        }
    }

    fn compute(&mut self, unit: u32) {
        let run = &mut self.runs[unit as usize];
        run.flags &= !flag::DIRTY;
        for node in run.nodes() {
            let own = local(&self.position[node], &self.rotation[node], &self.scale[node]);
            let world = match self.parent[node] {
                NO_NODE => own,
                parent => matrix(&self.world[parent as usize]) * own,
            };
            self.world[node] = columns(world);
        }
    }

    /// Brings every marked unit up to date of which `has` says that it is meant; those that moved
    /// go into `moved`, in the order in which they were marked.
    ///
    /// # Errors
    /// For want of threads.
    pub fn update(
        &mut self,
        has: impl Fn(u32) -> bool,
        moved: &mut Vec<u32>,
        pool: &Pool,
    ) -> Result<(), Error> {
        let first = moved.len();
        let mut marked = std::mem::take(&mut self.marked);
        marked.retain(|unit| {
            let run = &mut self.runs[*unit as usize];
            if !run.has(flag::LISTED) || !has(*unit) {
                return run.has(flag::LISTED);
            }
            run.flags &= !flag::LISTED;
            moved.push(*unit);
            false
        });
        self.marked = marked;
        self.bring_up_all(&moved[first..], pool)
    }

    /// Hangs a unit's first node on a node of another unit; its local pose stays as it is.
    pub fn link(&mut self, child: u32, parent: u32, node: usize) -> Result<(), Error> {
        // What carries nothing is above nobody; a chain that grows at its end is not walked.
        let carries = child == parent || self.runs[child as usize].has(flag::CARRIES);
        let mut above = carries.then_some(parent);
        while let Some(unit) = above {
            if unit == child {
                return Err(crate::error!(
                    "the parent hangs on the child already: a unit cannot hang on itself"
                ));
            }
            above = self.parent(unit, 0).map(|(unit, _)| unit);
        }
        self.detach(child);
        let (at, to) = (self.at(child, 0), self.at(parent, node));
        self.parent[at] = to as u32;
        self.runs[child as usize].above = parent;
        self.carried.insert((parent, child));
        self.runs[parent as usize].flags |= flag::CARRIES;
        self.mark(child);
        Ok(())
    }

    /// Takes a unit off what it hangs on; it stays where it is in the world. One that is farther
    /// away or larger than numbers can be is nowhere, and keeps its local pose.
    pub fn unlink(&mut self, child: u32) {
        if self.parent(child, 0).is_some() {
            let pose = Pose::of(self.world(child, 0));
            let local = if pose.is_finite() { pose } else { self.local(child, 0) };
            self.detach(child);
            self.set_local(child, 0, &local);
        }
    }

    fn detach(&mut self, child: u32) {
        if let Some((parent, _)) = self.parent(child, 0) {
            let at = self.at(child, 0);
            self.parent[at] = NO_NODE;
            self.carried.remove(&(parent, child));
            if self.carried_by(parent).next().is_none() {
                self.runs[parent as usize].flags &= !flag::CARRIES;
            }
        }
    }

    /// Every float of a unit's local poses, for hashes.
    pub fn floats(&self, unit: u32) -> impl Iterator<Item = f32> + '_ {
        let run = self.runs[unit as usize];
        run.nodes().flat_map(|at| {
            let (position, scale) = (self.position[at], self.scale[at]);
            position.into_iter().chain(self.rotation[at]).chain(scale)
        })
    }
}

fn local(position: &[f32; 3], rotation: &[f32; 4], scale: &[f32; 3]) -> Mat4 {
    Mat4::from_scale_rotation_translation(
        Vec3::from_array(*scale),
        Quat::from_array(*rotation),
        Vec3::from_array(*position),
    )
}

fn columns(matrix: Mat4) -> [[f32; 3]; 4] {
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis, matrix.w_axis];
    columns.map(|column| column.truncate().to_array())
}

fn matrix(columns: &[[f32; 3]; 4]) -> Mat4 {
    let [x, y, z, place] = columns.map(Vec3::from_array);
    Mat4::from_cols(x.extend(0.0), y.extend(0.0), z.extend(0.0), place.extend(1.0))
}

#[cfg(test)]
mod tests;
