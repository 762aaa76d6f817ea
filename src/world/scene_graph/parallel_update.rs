//! Parallel computation of world poses: the system `scene_graph`, in pieces on all cores. Units
//! linked to other units are computed afterwards on one thread.

use super::{NO_NODE, NodeRange, SceneGraph, columns, flag, local, matrix};
use engine_foundation::Error;
use engine_foundation::tasks::{ITEMS_MIN, TaskPool, split};

/// Local poses and parents, from which world poses are computed.
#[derive(Clone, Copy)]
struct Locals<'a> {
    position: &'a [[f32; 3]],
    rotation: &'a [[f32; 4]],
    scale: &'a [[f32; 3]],
    parent: &'a [u32],
}

impl Locals<'_> {
    /// Computes the nodes of one unit without a link: of a unit whose nodes are animated, the first
    /// one. `world` begins with node `begin`.
    fn compute(self, run: NodeRange, world: &mut [[[f32; 3]; 4]], begin: usize) {
        let count = if run.has(flag::POSED) { 1 } else { usize::from(run.count) };
        for node in run.nodes().take(count) {
            let own = local(&self.position[node], &self.rotation[node], &self.scale[node]);
            let pose = match self.parent[node] {
                NO_NODE => own,
                parent => matrix(&world[parent as usize - begin]) * own,
            };
            world[node - begin] = columns(pose);
        }
    }
}

impl SceneGraph {
    /// Computes the outdated world poses of `units`.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    pub(super) fn update_all_world_poses(
        &mut self,
        units: &[u32],
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let nodes = units.iter().map(|unit| self.count(*unit)).sum();
        if nodes >= ITEMS_MIN && pool.threads() > 1 {
            self.update_unparented(units, nodes, pool)?;
        }
        for unit in units {
            self.update_root(*unit);
        }
        Ok(())
    }

    /// Computes the units without a link in parallel. Each one writes only its own nodes.
    fn update_unparented(
        &mut self,
        units: &[u32],
        nodes: usize,
        pool: &TaskPool,
    ) -> Result<(), Error> {
        let mut free: Vec<NodeRange> = Vec::with_capacity(units.len());
        for unit in units {
            let run = &mut self.runs[*unit as usize];
            if run.has(flag::DIRTY) && !run.has(flag::LINKED) {
                let left = if run.has(flag::POSED) { flag::INNER_DIRTY } else { 0 };
                run.flags = run.flags & !(flag::DIRTY | flag::INNER_DIRTY) | left;
                free.push(*run);
            }
        }
        // Sorted by node, so that each piece is a contiguous range of the column.
        free.sort_unstable_by_key(|run| run.first);
        let SceneGraph { position, rotation, scale, parent, world, .. } = self;
        let locals = Locals { position, rotation, scale, parent };
        let (tasks, task) = (pool.tasks(nodes)?, pool.task("scene_graph"));
        tasks.scope(|scope| {
            let mut graph = scope.graph();
            let (mut rest, mut begin) = (&mut world[..], 0);
            for piece in split(free.len(), tasks.threads()) {
                let runs = &free[piece];
                let last = runs[runs.len() - 1];
                let end = last.nodes().end;
                let (stretch, others) = rest.split_at_mut(end - begin);
                let from = std::mem::replace(&mut begin, end);
                rest = others;
                graph.add(task, move || {
                    for run in runs {
                        locals.compute(*run, stretch, from);
                    }
                });
            }
            graph.run().finish()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::NodePose;
    use super::*;
    use engine_foundation::{Quat, Vec3};

    const UNITS: u32 = 3000;

    /// Returns units of one to four nodes; every tenth unit is linked to the one before it.
    fn crowd() -> SceneGraph {
        let mut graph = SceneGraph::default();
        for unit in 0..UNITS {
            let count = 1 + unit % 4;
            let parents: Vec<u32> = (0..count).map(|i| i.wrapping_sub(1)).collect();
            graph.add(unit, &parents, &vec![NodePose::IDENTITY; count as usize]).unwrap();
            if unit % 10 == 9 {
                graph.link((unit, 0), (unit - 1, 0)).unwrap();
            }
        }
        graph
    }

    /// Rotates and moves some of the units, the last first.
    fn stir(graph: &mut SceneGraph, frame: u32) {
        for unit in (0..UNITS).rev().filter(|unit| !(unit + frame).is_multiple_of(3)) {
            let angle = (unit * 7 + frame) as f32 * 0.1;
            let position = Vec3::new(angle.sin(), unit as f32, frame as f32);
            let rotation = Quat::from_rotation_y(angle);
            let scale = Vec3::splat(1.0 + angle.cos() * 0.1);
            let node = (unit % (1 + unit % 4)) as usize;
            graph.set_local(unit, node, &NodePose { position, rotation, scale });
        }
    }

    /// Returns the bits of all world poses after each frame, and the moved units.
    fn play(threads: usize) -> (Vec<u32>, Vec<u32>) {
        let (pool, mut graph) = (TaskPool::new(Some(threads)), crowd());
        let (mut bits, mut moved) = (Vec::new(), Vec::new());
        for frame in 0..20 {
            stir(&mut graph, frame);
            graph
                .update(|unit| !unit.is_multiple_of(7) || frame % 2 == 0, &mut moved, &pool)
                .unwrap();
            for unit in 0..UNITS {
                let pose = graph.world(unit, (unit % 4) as usize % graph.count(unit));
                bits.extend(pose.to_cols_array().map(f32::to_bits));
            }
        }
        assert_eq!(pool.has_started(), threads > 1);
        (bits, moved)
    }

    #[test]
    fn world_poses_are_bit_identical_on_any_number_of_threads() {
        let alone = play(1);
        for threads in [2, 4, 8] {
            assert!(play(threads) == alone, "{threads} threads");
        }
    }
}
