//! The component `mesh`: the visible meshes of units. The meshes of all units are rows of one
//! table; a linked list that begins at the unit's row connects the meshes of a unit. This module
//! stores which mesh is attached to which node, and its settings. The transfer to the renderer is
//! in src/engine/render_scene.rs.

use super::unit::UnitId;
use engine_foundation::error;
use engine_foundation::{Error, Handle, HandleKind, Mat4, Slots};
use engine_frame_packet::scene::DrawSlot;
use engine_models::MeshNumber;
use std::sync::{Arc, LazyLock};

/// Maximum number of meshes of all units together.
pub const MESHES_MAX: usize = 1 << 20;
/// Maximum number of visibility groups of one unit.
pub const GROUPS_MAX: usize = 32;

/// Handle of a unit's mesh.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MeshId(pub Handle);

/// Bits of [`MeshInstance::flags`].
pub mod flag {
    /// Reasons why a mesh is hidden: itself, its unit, its group.
    pub const HIDDEN: u8 = 1;
    pub const UNIT_HIDDEN: u8 = 2;
    pub const GROUP_HIDDEN: u8 = 4;
    pub const CASTS_SHADOWS: u8 = 8;
    /// The renderer does not have the mesh yet, or needs all of its data again.
    pub const NEW: u8 = 16;
    /// The mesh is in the list of changes.
    pub const LISTED: u8 = 32;
    pub const ANY_HIDDEN: u8 = HIDDEN | UNIT_HIDDEN | GROUP_HIDDEN;
}

/// No mesh: the end of a linked list.
pub const NO_MESH: u32 = u32::MAX;
/// The mesh is in no group.
pub const NO_GROUP: u8 = u8::MAX;

/// A mesh of a unit. Its size is 32 bytes, because games can have a large number of meshes.
#[derive(Debug)]
pub struct MeshInstance {
    /// Row of the unit.
    pub unit: u32,
    /// Index of the unit's node that the mesh is attached to, from 0.
    pub node: u16,
    /// Index among the unit's meshes, from 0.
    pub index: u16,
    pub mesh: MeshNumber,
    pub draw: DrawSlot,
    /// Next mesh of the same unit.
    pub next: u32,
    pub flags: u8,
    /// Visibility group of the unit that the mesh belongs to.
    pub group: u8,
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
        MeshExtra { materials: Vec::new(), local: None, range: MeshExtra::RANGE }
    }
}

/// All meshes of all units.
pub struct Meshes {
    pub slots: Slots<MeshInstance>,
    /// First mesh of each unit, by row.
    first: Vec<u32>,
    /// Slots of the meshes with changes for the renderer.
    pub changed: Vec<u32>,
}

impl Default for Meshes {
    fn default() -> Meshes {
        Meshes {
            slots: Slots::new(HandleKind::Mesh, MESHES_MAX),
            first: Vec::new(),
            changed: Vec::new(),
        }
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

impl Meshes {
    /// Creates the meshes of a unit; `draw` returns a draw slot in the scene for each.
    pub fn spawn(
        &mut self,
        unit: UnitId,
        parts: &[MeshComponent],
        mut draw: impl FnMut() -> DrawSlot,
    ) -> Result<(), Error> {
        if parts.is_empty() {
            return Ok(());
        }
        if self.slots.len() + parts.len() > MESHES_MAX {
            return Err(error!(
                "there is no room for {} more meshes (MESHES_MAX is {MESHES_MAX}): destroy units \
                 that are not needed",
                parts.len()
            ));
        }
        let row = unit.row();
        if self.first.len() <= row as usize {
            self.first.resize(row as usize + 1, NO_MESH);
        }
        let mut next = NO_MESH;
        // In reverse order, so that the linked list begins with the first mesh.
        for (index, part) in parts.iter().enumerate().rev() {
            let mesh = MeshInstance {
                unit: row,
                node: part.node,
                index: index as u16,
                mesh: part.mesh,
                draw: draw(),
                next,
                flags: flag::NEW
                    | flag::LISTED
                    | if part.casts_shadows { flag::CASTS_SHADOWS } else { 0 }
                    | if part.visible { 0 } else { flag::HIDDEN },
                group: part.group,
                tint: part.tint,
                extra: part.extra.clone(),
            };
            let handle = self.slots.add(mesh).expect("there is room, it was looked at");
            next = handle.index() as u32;
            self.changed.push(next);
        }
        self.first[row as usize] = next;
        Ok(())
    }

    /// Adds a mesh to a unit, at the end of its linked list.
    pub fn add(
        &mut self,
        unit: UnitId,
        part: &MeshComponent,
        draw: DrawSlot,
    ) -> Result<MeshId, Error> {
        let (row, last) = (unit.row(), self.of_unit(unit.row()).last());
        let index = last.map_or(0, |last| self.slots.at(last).expect("it is in a chain").index + 1);
        let before = self.first.get(row as usize).copied().unwrap_or(NO_MESH);
        self.spawn(unit, std::slice::from_ref(part), || draw)?;
        let slot = self.first[row as usize];
        self.at_mut(slot as usize).index = index;
        if let Some(last) = last {
            self.at_mut(last).next = slot;
            self.first[row as usize] = before;
        }
        Ok(MeshId(self.slots.handle_at(slot as usize).expect("it was just added")))
    }

    /// Removes one mesh from its unit.
    pub fn remove(&mut self, id: MeshId, frame: u64, location: &str) -> Option<MeshInstance> {
        let (at, mesh) = (id.0.index(), self.slots.get(id.0)?);
        let (row, next) = (mesh.unit, mesh.next as usize);
        let before = self
            .of_unit(row)
            .find(|one| self.slots.at(*one).is_some_and(|mesh| mesh.next as usize == at));
        match before {
            Some(before) => self.at_mut(before).next = next as u32,
            None => self.first[row as usize] = next as u32,
        }
        self.slots.remove(id.0, "", frame, location)
    }

    /// Destroys the meshes of a unit; `end` is called for each.
    pub fn destroy(
        &mut self,
        row: u32,
        frame: u64,
        location: &str,
        mut end: impl FnMut(&MeshInstance),
    ) {
        let Some(first) = self.first.get_mut(row as usize) else { return };
        let mut at = std::mem::replace(first, NO_MESH);
        while at != NO_MESH {
            let handle = self.slots.handle_at(at as usize).expect("chains hold living meshes");
            let mesh = self.slots.remove(handle, "", frame, location).expect("it lives");
            end(&mesh);
            at = mesh.next;
        }
    }

    /// Returns the slots of a unit's meshes, in order.
    pub fn of_unit(&self, row: u32) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.first.get(row as usize).copied().unwrap_or(NO_MESH);
        std::iter::from_fn(move || {
            let mesh = self.slots.at(at as usize).filter(|_| at != NO_MESH)?;
            let here = at as usize;
            at = mesh.next;
            Some(here)
        })
    }

    /// Returns the live mesh in a slot.
    fn at_mut(&mut self, slot: usize) -> &mut MeshInstance {
        self.slots.at_mut(slot).expect("chains hold living meshes")
    }

    /// Returns a live mesh. Handles are checked at the interface, so the mesh exists.
    #[inline(always)]
    pub fn of(&self, id: MeshId) -> &MeshInstance {
        self.slots.get(id.0).expect("the handle was checked where it came in")
    }

    /// Returns a live mesh for changes; all of its data is sent to the renderer again.
    pub fn change(&mut self, id: MeshId) -> &mut MeshInstance {
        let slot = id.0.index();
        self.record_change(slot, flag::NEW);
        self.at_mut(slot)
    }

    /// Records a change of a mesh: with [`flag::NEW`] a change of all its data, with 0 a change of
    /// its pose.
    #[inline(always)]
    pub fn record_change(&mut self, slot: usize, flags: u8) {
        if let Some(mesh) = self.slots.at_mut(slot) {
            let listed = mesh.flags & flag::LISTED != 0;
            mesh.flags |= flags | flag::LISTED;
            if !listed {
                self.changed.push(slot as u32);
            }
        }
    }

    /// Records that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        for row in rows {
            let mut at = self.first.get(*row as usize).copied().unwrap_or(NO_MESH);
            while at != NO_MESH {
                self.record_change(at as usize, 0);
                at = self.at_mut(at as usize).next;
            }
        }
    }

    /// Sets or clears a reason why a unit's meshes are hidden, for one group or for all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        let slots: Vec<usize> = self.of_unit(row).collect();
        for slot in slots {
            let mesh = self.at_mut(slot);
            if group.is_some_and(|group| group != mesh.group) {
                continue;
            }
            let flags = if hidden { mesh.flags | reason } else { mesh.flags & !reason };
            if std::mem::replace(&mut mesh.flags, flags) != flags {
                self.record_change(slot, flag::NEW);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(meshes.remove(third, 1, "x").map(|mesh| mesh.draw), Some(DrawSlot(5)));
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
