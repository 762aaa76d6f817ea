//! The scene graph: transforms of the nodes of units, in columns of fixed address. The nodes of a
//! unit occupy one contiguous range, parents before children. The parent of a node may be in
//! another unit; this is a link (links.rs). Units are known only by number, and worlds not at all.
//!
//! Setting a local pose marks the unit and all units linked to it as dirty. World poses are
//! computed during the update of the world, or earlier on request.

mod animated;
mod links;
mod parallel_update;

pub use animated::AnimatedPose;
pub use links::NodeLink;

use animated::AnimatedNodes;

use engine_foundation::memory::limit::MemoryCharge;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Mat3, Mat4, Quat, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Maximum number of nodes of all units together.
pub const NODES_MAX: usize = 1 << 20;
/// Maximum number of units of all worlds together.
pub const UNITS_MAX: usize = 1 << 18;
/// Maximum number of nodes of one unit.
pub const UNIT_NODES_MAX: usize = 4096;

/// No parent: the node's pose is relative to the world.
pub const NO_NODE: u32 = u32::MAX;

/// Position, rotation and scale relative to a parent. Metres; the rotation has length 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodePose {
    pub position: Vec3,
    pub rotation: Quat,
    pub scale: Vec3,
}

impl NodePose {
    pub const IDENTITY: NodePose =
        NodePose { position: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// Decomposes a matrix without shear. A mirrored matrix gets a negative x scale.
    pub fn of(matrix: Mat4) -> NodePose {
        let (scale, rotation, position) = matrix.to_scale_rotation_translation();
        if rotation.is_finite() {
            return NodePose { position, rotation, scale };
        }
        // An axis of length zero has no direction; its direction is derived from the other axes.
        let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.truncate());
        let [x, y, z] = axes.map(Vec3::normalize_or_zero);
        let any = |axis: Vec3| axis.try_normalize().map(|axis| axis.any_orthonormal_vector());
        let x = x.try_normalize().or_else(|| y.cross(z).try_normalize());
        let x = x.or_else(|| any(y)).or_else(|| any(z)).unwrap_or(Vec3::X);
        let y = (y - x * x.dot(y)).try_normalize().or_else(|| z.cross(x).try_normalize());
        let y = y.unwrap_or_else(|| x.any_orthonormal_vector());
        let rotation = Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)));
        NodePose { position, rotation, scale: Vec3::from_array(axes.map(Vec3::length)) }
    }

    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }

    pub fn matrix(&self) -> Mat4 {
        Mat4::from_scale_rotation_translation(self.scale, self.rotation, self.position)
    }
}

/// Range of a unit's nodes in the columns, and the state of their world poses. 12 bytes.
#[derive(Clone, Copy, Default)]
struct NodeRange {
    first: u32,
    count: u16,
    /// Bits of [`flag`].
    flags: u8,
    /// Unit that nodes are linked to, if the range has the flag `LINKED`.
    above: u32,
}

/// Bits of [`NodeRange::flags`].
mod flag {
    /// The world poses are outdated.
    pub const DIRTY: u8 = 1;
    /// The unit is in the list for the next update.
    pub const LISTED: u8 = 2;
    /// Other units are linked to the unit's nodes.
    pub const HAS_LINKED: u8 = 4;
    /// The unit's first node or others are linked to nodes of another unit.
    pub const LINKED: u8 = 8;
    /// Animation moves nodes of the unit, so that changes by others are recorded.
    pub const ANIMATED: u8 = 16;
    /// Local poses of nodes are in the pose of the unit's skeleton, not in the columns.
    pub const POSED: u8 = 32;
    /// The world poses of nodes other than the first are outdated.
    pub const INNER_DIRTY: u8 = 64;
}

impl NodeRange {
    /// Returns true if the range has one of the flags.
    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns the indices of the nodes in the columns.
    fn nodes(self) -> Range<usize> {
        self.first as usize..self.first as usize + usize::from(self.count)
    }
}

/// Address space that the columns reserve, and the step size in which used memory is counted.
const RESERVED_BYTES: i64 = (NODES_MAX * SceneGraph::NODE_BYTES) as i64;
const CHARGE_STEP: usize = 64 << 10;

/// All nodes of all units.
#[derive(Default)]
pub struct SceneGraph {
    position: Vec<[f32; 3]>,
    rotation: Vec<[f32; 4]>,
    scale: Vec<[f32; 3]>,
    /// Columns of an affine matrix: the scaled axes and the position.
    world: Vec<[[f32; 3]; 4]>,
    parent: Vec<u32>,
    runs: Vec<NodeRange>,
    used: u32,
    /// Adjusts the memory statistics, so that the columns count for used nodes instead of for all
    /// possible nodes.
    charge: Option<MemoryCharge>,
    free: BTreeMap<u32, Vec<u32>>,
    /// Units marked since the last update. An entry is obsolete if its range lacks the flag
    /// `LISTED`.
    dirty: Vec<u32>,
    /// Pairs of a unit and a unit linked to it, sorted, so that the links of a unit are adjacent.
    linked: BTreeSet<(u32, u32)>,
    /// Linked nodes that are not first nodes, as unit and node, with their parents in the unit.
    inner_links: BTreeMap<(u32, u16), u32>,
    /// Nodes of animated units whose local poses were set by others than animation.
    edited: BTreeSet<(u32, u16)>,
    /// Nodes that animation moves, by unit.
    animated: Vec<Option<Box<AnimatedNodes>>>,
}

impl SceneGraph {
    /// Number of bytes of a node in the columns.
    pub const NODE_BYTES: usize =
        size_of::<[f32; 3]>() * 2 + size_of::<[f32; 4]>() + size_of::<[[f32; 3]; 4]>() + 4;

    /// Reserves address space for the maximum number of nodes, without using memory.
    fn reserve(&mut self) {
        if self.parent.is_empty() {
            engine_foundation::owner!("worlds/nodes");
            let mut charge = MemoryCharge::new("worlds/nodes");
            charge.set(-RESERVED_BYTES);
            self.charge = Some(charge);
            self.position = vec![[0.0; 3]; NODES_MAX];
            self.rotation = vec![[0.0; 4]; NODES_MAX];
            self.scale = vec![[0.0; 3]; NODES_MAX];
            self.world = vec![[[0.0; 3]; 4]; NODES_MAX];
            self.parent = vec![0; NODES_MAX];
        }
    }

    /// Updates the memory statistics to the highest number of nodes used so far.
    fn charge_used(&mut self) {
        let used = (self.used as usize * SceneGraph::NODE_BYTES).next_multiple_of(CHARGE_STEP);
        let bytes = used as i64 - RESERVED_BYTES;
        if let Some(charge) = &mut self.charge
            && bytes > charge.bytes()
        {
            charge.set(bytes);
        }
    }

    /// Adds a unit's nodes. `parents` are indices in this list or [`NO_NODE`], parents first.
    pub fn add(&mut self, unit: u32, parents: &[u32], poses: &[NodePose]) -> Result<(), Error> {
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
                return Err(engine_foundation::error!(
                    "there is no room for {count} more nodes (NODES_MAX is {NODES_MAX}): destroy \
                     units that are not needed"
                ));
            }
        };
        if self.runs.len() <= unit as usize {
            self.runs.resize(unit as usize + 1, NodeRange::default());
        }
        self.runs[unit as usize] = NodeRange { first, count: count as u16, ..NodeRange::default() };
        for (i, (parent, pose)) in parents.iter().zip(poses).enumerate() {
            debug_assert!(*parent == NO_NODE || (*parent as usize) < i, "parents stand first");
            let node = first as usize + i;
            self.parent[node] = if *parent == NO_NODE { NO_NODE } else { first + parent };
            self.set_local_pose(node, pose);
        }
        self.mark_outdated(unit);
        Ok(())
    }

    /// Removes a unit's nodes. Units that were linked to them keep their world poses.
    pub fn remove(&mut self, unit: u32) {
        for child in self.linked_to(unit).collect::<Vec<_>>() {
            self.unlink(child);
        }
        self.unlink(unit);
        self.forget_animated(unit);
        let run = std::mem::take(&mut self.runs[unit as usize]);
        self.free.entry(run.count.into()).or_default().push(run.first);
    }

    /// Returns the number of nodes of a unit.
    pub fn count(&self, unit: u32) -> usize {
        self.runs[unit as usize].count.into()
    }

    /// Returns the index of a unit's node in the columns. Nodes count from 0.
    fn at(&self, unit: u32, node: usize) -> usize {
        let run = self.runs[unit as usize];
        assert!(node < usize::from(run.count), "the node was checked where it came in");
        run.first as usize + node
    }

    fn set_local_pose(&mut self, at: usize, pose: &NodePose) {
        self.position[at] = pose.position.to_array();
        self.rotation[at] = pose.rotation.to_array();
        self.scale[at] = pose.scale.to_array();
    }

    /// Returns the pose of a node relative to its parent.
    pub fn local(&self, unit: u32, node: usize) -> NodePose {
        let at = self.at(unit, node);
        if let Some(pose) = self.animated_local(unit, node) {
            return pose;
        }
        NodePose {
            position: Vec3::from_array(self.position[at]),
            rotation: Quat::from_array(self.rotation[at]),
            scale: Vec3::from_array(self.scale[at]),
        }
    }

    /// Returns the pose of a unit's first node in the world. Nodes of a unit that is not linked to
    /// another one are not computed.
    pub fn root_pose(&mut self, unit: u32) -> NodePose {
        match self.parent[self.at(unit, 0)] {
            NO_NODE => self.local(unit, 0),
            _ => NodePose::of(self.world(unit, 0)),
        }
    }

    pub fn local_position(&self, unit: u32, node: usize) -> Vec3 {
        let at = self.at(unit, node);
        let animated = self.animated_local(unit, node);
        animated.map_or_else(|| Vec3::from_array(self.position[at]), |pose| pose.position)
    }

    pub fn local_rotation(&self, unit: u32, node: usize) -> Quat {
        let at = self.at(unit, node);
        let animated = self.animated_local(unit, node);
        animated.map_or_else(|| Quat::from_array(self.rotation[at]), |pose| pose.rotation)
    }

    pub fn local_scale(&self, unit: u32, node: usize) -> Vec3 {
        let at = self.at(unit, node);
        let animated = self.animated_local(unit, node);
        animated.map_or_else(|| Vec3::from_array(self.scale[at]), |pose| pose.scale)
    }

    /// Returns the index of a node in the columns, for a change of its local pose.
    #[inline]
    fn at_for_change(&mut self, unit: u32, node: usize) -> usize {
        if node != 0 {
            self.write_animated(unit);
        }
        self.at(unit, node)
    }

    pub fn set_local(&mut self, unit: u32, node: usize, pose: &NodePose) {
        let at = self.at_for_change(unit, node);
        self.set_local_pose(at, pose);
        self.note_change(unit, node);
    }

    /// Starts or ends the recording of changes to a unit's nodes.
    pub fn set_records_edits(&mut self, unit: u32, records: bool) {
        let run = &mut self.runs[unit as usize];
        run.flags = run.flags & !flag::ANIMATED | if records { flag::ANIMATED } else { 0 };
        self.forget_animated(unit);
    }

    /// Returns the nodes of animated units, except first nodes, whose local poses were set by
    /// others than animation since the last call.
    pub fn take_edited(&mut self) -> BTreeSet<(u32, u16)> {
        std::mem::take(&mut self.edited)
    }

    /// Records that the local pose of a node changed.
    #[inline]
    fn note_change(&mut self, unit: u32, node: usize) {
        if node != 0 && self.runs[unit as usize].has(flag::ANIMATED) {
            self.edited.insert((unit, node as u16));
        }
        self.mark_outdated(unit);
    }

    pub fn set_local_position(&mut self, unit: u32, node: usize, position: Vec3) {
        let at = self.at_for_change(unit, node);
        self.position[at] = position.to_array();
        self.note_change(unit, node);
    }

    pub fn set_local_rotation(&mut self, unit: u32, node: usize, rotation: Quat) {
        let at = self.at_for_change(unit, node);
        self.rotation[at] = rotation.to_array();
        self.note_change(unit, node);
    }

    pub fn set_local_scale(&mut self, unit: u32, node: usize, scale: Vec3) {
        let at = self.at_for_change(unit, node);
        self.scale[at] = scale.to_array();
        self.note_change(unit, node);
    }

    /// Sets the world position and rotation of a node, independent of its parent. The scale does
    /// not change.
    pub fn set_world_pose(&mut self, unit: u32, node: usize, position: Vec3, rotation: Quat) {
        let at = self.at_for_change(unit, node);
        let (mut position, mut rotation) = (position, rotation);
        if self.parent[at] != NO_NODE
            && let Some((above, parent)) = self.parent(unit, node)
        {
            let inverse = self.world(above, parent).inverse();
            if !inverse.is_finite() {
                // The parent has a scale of zero, so all positions below it are the same.
                return;
            }
            position = inverse.transform_point3(position);
            rotation = self.world_rotation(above, parent).inverse() * rotation;
        }
        self.position[at] = position.to_array();
        self.rotation[at] = rotation.to_array();
        self.note_change(unit, node);
    }

    /// Returns the units that were moved since the last update, in order of the moves.
    pub fn moved_units(&self) -> impl Iterator<Item = u32> + '_ {
        let dirty = self.dirty.iter().copied();
        dirty.filter(|unit| self.runs[*unit as usize].has(flag::LISTED))
    }

    /// Returns the parent of a node, as unit and node, or `None` if the node's pose is relative to
    /// the world.
    pub fn parent(&self, unit: u32, node: usize) -> Option<(u32, usize)> {
        let parent = self.parent[self.at(unit, node)];
        if parent == NO_NODE {
            return None;
        }
        let run = self.runs[unit as usize];
        let owner = if run.nodes().contains(&(parent as usize)) { unit } else { run.above };
        Some((owner, (parent - self.runs[owner as usize].first) as usize))
    }

    /// Returns the units linked to a unit, by number.
    pub fn linked_to(&self, unit: u32) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.linked.range((unit, 0)..=(unit, u32::MAX)).map(|(_, child)| *child)
    }

    /// Marks the world poses of a unit, and of all units linked to it, as outdated.
    #[inline]
    fn mark_outdated(&mut self, unit: u32) {
        if self.mark_one(unit) {
            self.mark_linked(unit);
        }
    }

    /// Marks a unit alone. Returns true if units linked to it have to be marked as well.
    #[inline]
    fn mark_one(&mut self, unit: u32) -> bool {
        let run = &mut self.runs[unit as usize];
        let before = *run;
        if before.has(flag::DIRTY) {
            return false;
        }
        run.flags |= flag::DIRTY | flag::LISTED;
        if !before.has(flag::LISTED) {
            self.dirty.push(unit);
        }
        before.has(flag::HAS_LINKED)
    }

    /// Marks all units linked to a unit. Uses a list instead of recursion, because games can chain
    /// links to any depth.
    #[cold]
    fn mark_linked(&mut self, unit: u32) {
        let mut waiting: Vec<u32> = self.linked_to(unit).rev().collect();
        while let Some(child) = waiting.pop() {
            if self.mark_one(child) {
                waiting.extend(self.linked_to(child).rev());
            }
        }
    }

    /// Returns the world transform of a node, updated if necessary.
    pub fn world(&mut self, unit: u32, node: usize) -> Mat4 {
        self.update_world_pose(unit, node);
        matrix(&self.world[self.at(unit, node)])
    }

    /// Returns the world transform as the upper three rows of a matrix, with the position in the
    /// last column.
    #[inline]
    pub fn world_rows(&mut self, unit: u32, node: usize) -> [[f32; 4]; 3] {
        self.update_world_pose(unit, node);
        let [x, y, z, at] = self.world[self.at(unit, node)];
        [0, 1, 2].map(|row| [x[row], y[row], z[row], at[row]])
    }

    pub fn world_position(&mut self, unit: u32, node: usize) -> Vec3 {
        self.update_world_pose(unit, node);
        Vec3::from_array(self.world[self.at(unit, node)][3])
    }

    /// Returns the world rotation of a node. If parents have non-uniform scales, an exact rotation
    /// may not exist; the directions of the axes are used.
    pub fn world_rotation(&mut self, unit: u32, node: usize) -> Quat {
        self.update_world_pose(unit, node);
        let [x, y, z, _] = self.world[self.at(unit, node)].map(Vec3::from_array);
        let mirrored = if x.cross(y).dot(z) < 0.0 { -1.0 } else { 1.0 };
        let x = (x * mirrored).normalize_or(Vec3::X);
        let y = (y - x * x.dot(y)).normalize_or(Vec3::Y);
        Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)))
    }

    /// Computes the world pose of a node if it is outdated, and those of other nodes as needed.
    #[inline]
    fn update_world_pose(&mut self, unit: u32, node: usize) {
        match node {
            0 => self.update_root(unit),
            _ => self.update_world_poses(unit),
        }
    }

    /// Computes the world poses of a unit if they are outdated, after those of the units that it is
    /// linked to.
    pub fn update_world_poses(&mut self, unit: u32) {
        let run = self.runs[unit as usize];
        if !run.has(flag::DIRTY | flag::INNER_DIRTY) {
            return;
        }
        if !run.has(flag::LINKED) {
            self.compute(unit);
            return;
        }
        let mut chain = vec![unit];
        let mut top = unit;
        while let Some(above) = self.above(top)
            && self.runs[above as usize].has(flag::DIRTY | flag::INNER_DIRTY)
        {
            chain.push(above);
            top = above;
        }
        while let Some(unit) = chain.pop() {
            self.compute(unit);
        }
    }

    fn compute(&mut self, unit: u32) {
        self.write_animated(unit);
        let run = &mut self.runs[unit as usize];
        run.flags &= !(flag::DIRTY | flag::INNER_DIRTY);
        let nodes = run.nodes();
        self.compute_nodes(nodes);
    }

    /// Computes the world poses of nodes in the columns.
    fn compute_nodes(&mut self, nodes: Range<usize>) {
        for node in nodes {
            let own = local(&self.position[node], &self.rotation[node], &self.scale[node]);
            let world = match self.parent[node] {
                NO_NODE => own,
                parent => matrix(&self.world[parent as usize]) * own,
            };
            self.world[node] = columns(world);
        }
    }

    /// Updates all marked units for which `has` returns true. The rows of the moved units are
    /// appended to `moved`, in the order in which they were marked.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    pub fn update(
        &mut self,
        has: impl Fn(u32) -> bool,
        moved: &mut Vec<u32>,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let first = moved.len();
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.retain(|unit| {
            let run = &mut self.runs[*unit as usize];
            if !run.has(flag::LISTED) || !has(*unit) {
                return run.has(flag::LISTED);
            }
            run.flags &= !flag::LISTED;
            moved.push(*unit);
            false
        });
        self.dirty = dirty;
        self.update_all_world_poses(&moved[first..], pool)
    }

    /// Returns all floats of a unit's local poses, for hashes.
    pub fn floats(&self, unit: u32) -> impl Iterator<Item = f32> + '_ {
        (0..self.count(unit)).flat_map(move |node| {
            let NodePose { position, rotation, scale } = self.local(unit, node);
            let (position, scale) = (position.to_array(), scale.to_array());
            position.into_iter().chain(rotation.to_array()).chain(scale)
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
    let [x, y, z, translation] = columns.map(Vec3::from_array);
    Mat4::from_cols(x.extend(0.0), y.extend(0.0), z.extend(0.0), translation.extend(1.0))
}

#[cfg(test)]
mod tests;
