//! World poses of many units at once: the system `scene_graph`, in pieces on every core. What hangs
//! on another unit follows after, on one.

use super::{NO_NODE, Run, SceneGraph, columns, flag, local, matrix};
use crate::foundation::Error;
use crate::foundation::tasks::{ITEMS_MIN, Pool, split};

/// What poses are computed from.
#[derive(Clone, Copy)]
struct Locals<'a> {
    position: &'a [[f32; 3]],
    rotation: &'a [[f32; 4]],
    scale: &'a [[f32; 3]],
    parent: &'a [u32],
}

impl Locals<'_> {
    /// Computes the nodes of one unit, which hangs on no other. `world` begins with node `begin`.
    fn compute(self, run: Run, world: &mut [[[f32; 3]; 4]], begin: usize) {
        for node in run.nodes() {
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
    /// Computes the world poses of those of `units` whose poses are old.
    ///
    /// # Errors
    /// For want of threads.
    pub(super) fn bring_up_all(&mut self, units: &[u32], pool: &Pool) -> Result<(), Error> {
        let nodes = units.iter().map(|unit| self.count(*unit)).sum();
        if nodes >= ITEMS_MIN && pool.threads() > 1 {
            self.bring_up_free(units, nodes, pool)?;
        }
        for unit in units {
            self.bring_up(*unit);
        }
        Ok(())
    }

    /// The same for those that hang on no other unit, each of which has its nodes to itself.
    fn bring_up_free(&mut self, units: &[u32], nodes: usize, pool: &Pool) -> Result<(), Error> {
        let mut free: Vec<Run> = Vec::with_capacity(units.len());
        for unit in units {
            let run = &mut self.runs[*unit as usize];
            if run.has(flag::DIRTY) && self.parent[run.first as usize] == NO_NODE {
                run.flags &= !flag::DIRTY;
                free.push(*run);
            }
        }
        // In the order of their nodes, so that each piece is one stretch of the column.
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
    use super::super::Pose;
    use super::*;
    use crate::foundation::{Quat, Vec3};

    const UNITS: u32 = 3000;

    /// Units of one to four nodes; every tenth hangs on the one before it.
    fn crowd() -> SceneGraph {
        let mut graph = SceneGraph::default();
        for unit in 0..UNITS {
            let count = 1 + unit % 4;
            let parents: Vec<u32> = (0..count).map(|i| i.wrapping_sub(1)).collect();
            graph.add(unit, &parents, &vec![Pose::IDENTITY; count as usize]).unwrap();
            if unit % 10 == 9 {
                graph.link(unit, unit - 1, 0).unwrap();
            }
        }
        graph
    }

    /// Turns and moves a part of the crowd, the last first.
    fn stir(graph: &mut SceneGraph, frame: u32) {
        for unit in (0..UNITS).rev().filter(|unit| !(unit + frame).is_multiple_of(3)) {
            let angle = (unit * 7 + frame) as f32 * 0.1;
            let position = Vec3::new(angle.sin(), unit as f32, frame as f32);
            let rotation = Quat::from_rotation_y(angle);
            let scale = Vec3::splat(1.0 + angle.cos() * 0.1);
            let node = (unit % (1 + unit % 4)) as usize;
            graph.set_local(unit, node, &Pose { position, rotation, scale });
        }
    }

    /// The bits of every world pose after each frame, and what moved.
    fn play(threads: usize) -> (Vec<u32>, Vec<u32>) {
        let (pool, mut graph) = (Pool::new(Some(threads)), crowd());
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
    fn world_poses_are_equal_bit_by_bit_on_any_number_of_threads() {
        let alone = play(1);
        for threads in [2, 4, 8] {
            assert!(play(threads) == alone, "{threads} threads");
        }
    }
}
