//! The component `mesh`: the visible meshes of units, as rows of one table. This module stores
//! which mesh is attached to which node, and its settings. The transfer to the renderer is in
//! src/engine/render_scene.rs.

use super::instance_table::{Instance, InstanceTable, flag};
use super::unit::UnitId;
use engine_foundation::{Error, Handle, HandleKind, Mat4};
use engine_frame_packet::outline::OutlineStyle;
use engine_frame_packet::scene::{DrawSlot, LIGHT_LAYERS_ALL};
use engine_models::MeshNumber;
use std::sync::{Arc, LazyLock};

/// Maximum number of meshes of all units together.
pub const MESHES_MAX: usize = 1 << 20;

/// Handle of a unit's mesh.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MeshId(pub Handle);

/// A mesh of a unit. Its size is 32 bytes, because games can have a large number of meshes.
pub type MeshInstance = Instance<MeshData>;

/// Data of a mesh of a unit.
#[derive(Debug)]
pub struct MeshData {
    /// Index among the unit's meshes, from 0.
    pub index: u16,
    pub mesh: MeshNumber,
    /// Tint, multiplied with the mesh's colors: red, green, blue (sRGB) and alpha.
    pub tint: [u8; 4],
    /// Rarely used settings, shared with other meshes of the same resource until one of them is
    /// changed.
    pub extra: Arc<MeshExtra>,
}

/// Settings that few meshes have.
#[derive(Clone, PartialEq, Debug)]
pub struct MeshExtra {
    /// Materials that replace those of the mesh, by material slot.
    pub materials: Vec<Option<Handle>>,
    /// Transform relative to the node.
    pub local: Option<Mat4>,
    /// Minimum and maximum distance from the camera at which the mesh is shown.
    pub range: [f32; 2],
    /// Index of the skin of the unit's model that moves the mesh.
    pub skin: Option<u16>,
    /// Bit set of its light layers: lights that share none of them do not light it.
    pub light_layers: u8,
    /// Line around its shape on the screen.
    pub outline: Option<OutlineStyle>,
}

impl MeshExtra {
    /// The range of a mesh that is shown at every distance.
    pub const RANGE: [f32; 2] = [0.0, f32::INFINITY];

    /// Returns the default settings, which are shared by all meshes without settings of their own.
    pub fn none() -> Arc<MeshExtra> {
        static NONE: LazyLock<Arc<MeshExtra>> = LazyLock::new(Arc::default);
        NONE.clone()
    }
}

impl Default for MeshExtra {
    fn default() -> MeshExtra {
        MeshExtra {
            materials: Vec::new(),
            local: None,
            range: MeshExtra::RANGE,
            skin: None,
            light_layers: LIGHT_LAYERS_ALL,
            outline: None,
        }
    }
}

/// All meshes of all units.
pub type Meshes = InstanceTable<MeshData>;

impl Default for Meshes {
    fn default() -> Meshes {
        InstanceTable::new(HandleKind::Mesh, (MESHES_MAX, "MESHES_MAX", "meshes"))
    }
}

/// A mesh as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct MeshComponent {
    pub name: String,
    pub node: u16,
    pub mesh: MeshNumber,
    pub casts_shadows: bool,
    pub visible: bool,
    pub group: u8,
    pub tint: [u8; 4],
    pub extra: Arc<MeshExtra>,
}

impl MeshComponent {
    /// Creates the instance of the mesh in a unit.
    fn instance(&self, unit: UnitId, index: u16, draw: DrawSlot) -> MeshInstance {
        let MeshComponent { mesh, tint, .. } = *self;
        let data = MeshData { index, mesh, tint, extra: self.extra.clone() };
        let mut instance = Instance::new(unit, self.node, self.group, (self.visible, draw), data);
        instance.flags |= if self.casts_shadows { flag::CASTS_SHADOWS } else { 0 };
        instance
    }
}

impl Meshes {
    /// Creates the meshes of a unit; `draw` returns a draw slot in the scene for each.
    ///
    /// # Errors
    /// Returns an error if there are too many meshes.
    pub fn spawn(
        &mut self,
        unit: UnitId,
        parts: &[MeshComponent],
        mut draw: impl FnMut() -> DrawSlot,
    ) -> Result<(), Error> {
        self.check_room(parts.len())?;
        // In reverse order, so that the list begins with the first mesh.
        for (index, part) in parts.iter().enumerate().rev() {
            self.push_front(part.instance(unit, index as u16, draw()));
        }
        Ok(())
    }

    /// Adds a mesh to a unit, at the end of its list.
    ///
    /// # Errors
    /// Returns an error if there are too many meshes.
    pub fn add(
        &mut self,
        unit: UnitId,
        part: &MeshComponent,
        draw: DrawSlot,
    ) -> Result<MeshId, Error> {
        self.check_room(1)?;
        let last = self.of_unit(unit.row()).last();
        let index = last.map_or(0, |last| self.at_mut(last).index + 1);
        Ok(MeshId(self.push_back(part.instance(unit, index, draw))))
    }

    /// Returns a live mesh.
    #[inline(always)]
    pub fn of(&self, id: MeshId) -> &MeshInstance {
        self.get(id.0)
    }

    /// Returns a live mesh for changes; all of its data is sent to the renderer again.
    pub fn change(&mut self, id: MeshId) -> &mut MeshInstance {
        self.get_changed(id.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance_table::NO_GROUP;
    use engine_foundation::Slots;

    fn part(name: &str, group: u8) -> MeshComponent {
        MeshComponent {
            name: name.to_string(),
            node: 0,
            mesh: MeshNumber(7),
            casts_shadows: true,
            visible: true,
            group,
            tint: [255; 4],
            extra: MeshExtra::none(),
        }
    }

    fn unit() -> UnitId {
        let mut units = Slots::new(HandleKind::Unit, 2);
        UnitId(units.add(()).unwrap())
    }

    #[test]
    fn the_meshes_of_a_unit_are_linked_in_order() {
        let (mut meshes, unit, mut draws) = (Meshes::default(), unit(), 0..9);
        let mut draw = || DrawSlot(draws.next().unwrap());
        meshes.spawn(unit, &[part("a", 0), part("b", 1)], &mut draw).unwrap();
        let third = meshes.add(unit, &part("c", NO_GROUP), DrawSlot(5)).unwrap();
        let index = |meshes: &Meshes, slot: usize| meshes.slots.at(slot).unwrap().index;
        let order = |meshes: &Meshes| -> Vec<u16> {
            meshes.of_unit(unit.row()).map(|slot| index(meshes, slot)).collect()
        };
        assert_eq!(order(&meshes), [0, 1, 2]);
        assert_eq!(meshes.changed.len(), 3);
        meshes.hide(unit.row(), Some(1), flag::GROUP_HIDDEN, true);
        let hidden: Vec<bool> = meshes
            .of_unit(unit.row())
            .map(|slot| meshes.slots.at(slot).unwrap().flags & flag::ANY_HIDDEN != 0)
            .collect();
        assert_eq!(hidden, [false, true, false]);
        assert_eq!(meshes.remove(third.0, 1, "x").map(|mesh| mesh.draw), Some(DrawSlot(5)));
        assert_eq!(order(&meshes), [0, 1]);
        let mut ended = Vec::new();
        meshes.destroy(unit.row(), 1, "x", |mesh| ended.push(mesh.draw));
        assert_eq!((ended.len(), meshes.slots.len()), (2, 0));
        meshes.destroy(unit.row(), 1, "x", |_| unreachable!());
    }

    #[test]
    fn a_mesh_of_a_unit_takes_36_bytes() {
        assert_eq!((size_of::<MeshInstance>(), Slots::<MeshInstance>::BYTES), (32, 36));
    }

    #[test]
    fn a_unit_that_moves_twice_is_listed_once() {
        let (mut meshes, unit) = (Meshes::default(), unit());
        meshes.spawn(unit, &[part("a", 0)], || DrawSlot(0)).unwrap();
        meshes.changed.clear();
        let slot = meshes.of_unit(unit.row()).next().unwrap();
        meshes.slots.at_mut(slot).unwrap().flags &= !(flag::NEW | flag::LISTED);
        meshes.note_moved(&[unit.row(), unit.row(), 99]);
        assert_eq!(meshes.changed, [slot as u32]);
    }
}
