//! The component `mesh`: what of a unit is seen. Meshes of all units are rows of one table; a
//! unit's own are found by a chain that begins at its row. Here is which mesh stands at which node
//! and how it is to be shown; how it gets to the renderer is in src/engine/scene.rs.

use super::unit::UnitId;
use crate::error;
use crate::foundation::{Error, Handle, Kind, Mat4, Slots};
use crate::packet::scene::DrawSlot;
use crate::system::models::MeshNumber;
use std::sync::{Arc, LazyLock};

/// The most meshes of all units together.
pub const MESHES_MAX: usize = 1 << 20;
/// The most visibility groups of one unit.
pub const GROUPS_MAX: usize = 32;

/// The handle of a mesh of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MeshId(pub Handle);

/// Bits of [`Mesh::flags`].
pub mod flag {
    /// Why it is not seen: it itself, its unit, its group.
    pub const HIDDEN: u8 = 1;
    pub const UNIT_HIDDEN: u8 = 2;
    pub const GROUP_HIDDEN: u8 = 4;
    pub const CASTS_SHADOWS: u8 = 8;
    /// The renderer does not know of it yet, or has to hear all of it again.
    pub const NEW: u8 = 16;
    /// It is in the list of what changed.
    pub const LISTED: u8 = 32;
    pub const ANY_HIDDEN: u8 = HIDDEN | UNIT_HIDDEN | GROUP_HIDDEN;
}

/// No mesh: the end of a chain.
pub const NO_MESH: u32 = u32::MAX;
/// In no group.
pub const NO_GROUP: u8 = u8::MAX;

/// A mesh of a unit: 32 bytes, of which there may be very many.
#[derive(Debug)]
pub struct Mesh {
    /// The row of its unit.
    pub unit: u32,
    /// Which of the unit's nodes it hangs on, from 0.
    pub node: u16,
    /// Which of the unit's meshes it is, from 0.
    pub index: u16,
    pub mesh: MeshNumber,
    pub draw: DrawSlot,
    /// The next mesh of the same unit.
    pub next: u32,
    pub flags: u8,
    /// Which of its unit's visibility groups it is in.
    pub group: u8,
    /// Multiplied with its colours: red, green, blue (sRGB) and alpha.
    pub tint: [u8; 4],
    /// What is rarely there: shared with others of the same resource until one is changed.
    pub extra: Arc<Extra>,
}

/// What few meshes have.
#[derive(Clone, PartialEq, Debug)]
pub struct Extra {
    /// Materials in place of those of its mesh, by place.
    pub materials: Vec<Option<Handle>>,
    /// Where it is relative to its node.
    pub local: Option<Mat4>,
    /// From which distance of the camera on, and up to which, it is shown.
    pub range: [f32; 2],
}

impl Extra {
    /// What a mesh has of which nothing is said: the same for all of them.
    pub fn none() -> Arc<Extra> {
        static NONE: LazyLock<Arc<Extra>> = LazyLock::new(Arc::default);
        NONE.clone()
    }
}

impl Default for Extra {
    fn default() -> Extra {
        Extra { materials: Vec::new(), local: None, range: [0.0, f32::INFINITY] }
    }
}

/// All meshes of all units.
pub struct Meshes {
    pub slots: Slots<Mesh>,
    /// By the rows of units: the first of each.
    first: Vec<u32>,
    /// Places of meshes of which the renderer has to hear.
    pub changed: Vec<u32>,
}

impl Default for Meshes {
    fn default() -> Meshes {
        Meshes { slots: Slots::new(Kind::Mesh, MESHES_MAX), first: Vec::new(), changed: Vec::new() }
    }
}

/// A mesh as a unit's resource lists it.
#[derive(Clone, PartialEq, Debug)]
pub struct MeshPart {
    pub name: String,
    pub node: u16,
    pub mesh: MeshNumber,
    pub casts_shadows: bool,
    pub visible: bool,
    pub group: u8,
    pub tint: [u8; 4],
    pub extra: Arc<Extra>,
}

impl Meshes {
    /// Makes the meshes of a unit; `draw` gives each its place in the scene.
    pub fn spawn(
        &mut self,
        unit: UnitId,
        parts: &[MeshPart],
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
        // From the last to the first, so that the chain begins with the first.
        for (index, part) in parts.iter().enumerate().rev() {
            let mesh = Mesh {
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

    /// Adds one more mesh to a unit: the last of its chain.
    pub fn add(&mut self, unit: UnitId, part: &MeshPart, draw: DrawSlot) -> Result<MeshId, Error> {
        let (row, last) = (unit.row(), self.of_unit(unit.row()).last());
        let index = last.map_or(0, |last| self.slots.at(last).expect("it is in a chain").index + 1);
        let before = self.first.get(row as usize).copied().unwrap_or(NO_MESH);
        self.spawn(unit, std::slice::from_ref(part), || draw)?;
        let place = self.first[row as usize];
        self.at_mut(place as usize).index = index;
        if let Some(last) = last {
            self.at_mut(last).next = place;
            self.first[row as usize] = before;
        }
        Ok(MeshId(self.slots.handle_at(place as usize).expect("it was just added")))
    }

    /// Takes one mesh off its unit.
    pub fn remove(&mut self, id: MeshId, frame: u64, place: &str) -> Option<Mesh> {
        let (at, mesh) = (id.0.index(), self.slots.get(id.0)?);
        let (row, next) = (mesh.unit, mesh.next as usize);
        let before = self
            .of_unit(row)
            .find(|one| self.slots.at(*one).is_some_and(|mesh| mesh.next as usize == at));
        match before {
            Some(before) => self.at_mut(before).next = next as u32,
            None => self.first[row as usize] = next as u32,
        }
        self.slots.remove(id.0, "", frame, place)
    }

    /// Ends the meshes of a unit; `end` hears of each.
    pub fn destroy(&mut self, row: u32, frame: u64, place: &str, mut end: impl FnMut(&Mesh)) {
        let Some(first) = self.first.get_mut(row as usize) else { return };
        let mut at = std::mem::replace(first, NO_MESH);
        while at != NO_MESH {
            let handle = self.slots.handle_at(at as usize).expect("chains hold living meshes");
            let mesh = self.slots.remove(handle, "", frame, place).expect("it lives");
            end(&mesh);
            at = mesh.next;
        }
    }

    /// The places of a unit's meshes, in order.
    pub fn of_unit(&self, row: u32) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.first.get(row as usize).copied().unwrap_or(NO_MESH);
        std::iter::from_fn(move || {
            let mesh = self.slots.at(at as usize).filter(|_| at != NO_MESH)?;
            let here = at as usize;
            at = mesh.next;
            Some(here)
        })
    }

    /// A living mesh at a place.
    fn at_mut(&mut self, place: usize) -> &mut Mesh {
        self.slots.at_mut(place).expect("chains hold living meshes")
    }

    /// A living mesh. Handles are checked where they come in, so it is there.
    #[inline(always)]
    pub fn of(&self, id: MeshId) -> &Mesh {
        self.slots.get(id.0).expect("the handle was checked where it came in")
    }

    /// The same to change, and the renderer hears all of it again.
    pub fn change(&mut self, id: MeshId) -> &mut Mesh {
        let place = id.0.index();
        self.note(place, flag::NEW);
        self.at_mut(place)
    }

    /// Notes that a mesh changed: all of it with [`flag::NEW`], its pose with 0.
    #[inline(always)]
    pub fn note(&mut self, place: usize, flags: u8) {
        if let Some(mesh) = self.slots.at_mut(place) {
            let listed = mesh.flags & flag::LISTED != 0;
            mesh.flags |= flags | flag::LISTED;
            if !listed {
                self.changed.push(place as u32);
            }
        }
    }

    /// Notes that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        for row in rows {
            let mut at = self.first.get(*row as usize).copied().unwrap_or(NO_MESH);
            while at != NO_MESH {
                self.note(at as usize, 0);
                at = self.at_mut(at as usize).next;
            }
        }
    }

    /// Sets or clears a reason why a unit's meshes are hidden, of a group or of all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        let places: Vec<usize> = self.of_unit(row).collect();
        for place in places {
            let mesh = self.at_mut(place);
            if group.is_some_and(|group| group != mesh.group) {
                continue;
            }
            let flags = if hidden { mesh.flags | reason } else { mesh.flags & !reason };
            if std::mem::replace(&mut mesh.flags, flags) != flags {
                self.note(place, flag::NEW);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, group: u8) -> MeshPart {
        MeshPart {
            name: name.to_string(),
            node: 0,
            mesh: MeshNumber(7),
            casts_shadows: true,
            visible: true,
            group,
            tint: [255; 4],
            extra: Extra::none(),
        }
    }

    fn unit() -> UnitId {
        let mut units = Slots::new(Kind::Unit, 2);
        UnitId(units.add(()).unwrap())
    }

    #[test]
    fn a_units_meshes_are_a_chain_in_their_order() {
        let (mut meshes, unit, mut draws) = (Meshes::default(), unit(), 0..9);
        let mut draw = || DrawSlot(draws.next().unwrap());
        meshes.spawn(unit, &[part("a", 0), part("b", 1)], &mut draw).unwrap();
        let third = meshes.add(unit, &part("c", NO_GROUP), DrawSlot(5)).unwrap();
        let index = |meshes: &Meshes, place: usize| meshes.slots.at(place).unwrap().index;
        let order = |meshes: &Meshes| -> Vec<u16> {
            meshes.of_unit(unit.row()).map(|place| index(meshes, place)).collect()
        };
        assert_eq!(order(&meshes), [0, 1, 2]);
        assert_eq!(meshes.changed.len(), 3);
        meshes.hide(unit.row(), Some(1), flag::GROUP_HIDDEN, true);
        let hidden: Vec<bool> = meshes
            .of_unit(unit.row())
            .map(|place| meshes.slots.at(place).unwrap().flags & flag::ANY_HIDDEN != 0)
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
        assert_eq!((size_of::<Mesh>(), Slots::<Mesh>::BYTES), (32, 36));
    }

    #[test]
    fn what_moves_twice_is_listed_once() {
        let (mut meshes, unit) = (Meshes::default(), unit());
        meshes.spawn(unit, &[part("a", 0)], || DrawSlot(0)).unwrap();
        meshes.changed.clear();
        let place = meshes.of_unit(unit.row()).next().unwrap();
        meshes.slots.at_mut(place).unwrap().flags &= !(flag::NEW | flag::LISTED);
        meshes.note_moved(&[unit.row(), unit.row(), 99]);
        assert_eq!(meshes.changed, [place as u32]);
    }
}
