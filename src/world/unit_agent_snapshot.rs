//! Snapshots of the units that agents drive, which are part of those of the physics.

use super::WorldId;
use super::agent_component::{AgentDrive, UnitAgent, UnitAgents};
use super::scene_graph::NodePose;
use super::unit::Units;

/// A unit that an agent drives.
#[derive(Debug)]
struct KeptUnit {
    entry: UnitAgent,
    /// Local pose of its first node, if its agent moves that.
    root: Option<NodePose>,
}

/// The units of a world that agents drive, at a time.
#[derive(Debug, Default)]
pub struct UnitAgentSnapshot {
    units: Vec<KeptUnit>,
}

impl UnitAgents {
    /// Takes a snapshot of the units of a world that have agents.
    pub fn snapshot(&self, world: WorldId, units: &Units) -> UnitAgentSnapshot {
        let of_world = self.of.iter().filter(|(row, _)| units.is_in(**row, world));
        let keep = |(row, entry): (&u32, &UnitAgent)| {
            let component = units.of(entry.unit).resource.template.agent.as_ref();
            let drive = component.map_or(AgentDrive::Nothing, |component| component.drive);
            let is_moved = drive != AgentDrive::Nothing;
            KeptUnit { entry: *entry, root: is_moved.then(|| units.scene.local(*row, 0)) }
        };
        let with_agent = of_world.filter(|(_, entry)| entry.agent.is_some());
        UnitAgentSnapshot { units: with_agent.map(keep).collect() }
    }

    /// Restores a snapshot. Units that have another agent by now do not change.
    pub fn restore(&mut self, kept: &UnitAgentSnapshot, units: &mut Units) {
        for KeptUnit { entry, root } in &kept.units {
            let row = entry.unit.row();
            let Some(living) = self.of.get_mut(&row) else { continue };
            if living.unit != entry.unit || living.agent != entry.agent {
                continue;
            }
            *living = *entry;
            if let Some(root) = root {
                units.scene.set_local(row, 0, root);
            }
        }
    }
}
