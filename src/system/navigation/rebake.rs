//! Meshes that are baked again while a game uses them: what the game has changed in the old mesh
//! goes over to the new one. The volumes and links of files have low numbers, those of the game
//! higher ones.

use super::fields::Field;
use super::jumps::LINKS_MAX;
use super::mesh::NavigationMesh;
use super::volumes::{Renumbering, VOLUMES_MAX};
use engine_foundation::Vec3;

/// Highest number of a volume and of a link of a file.
pub(super) const FILE_NUMBERS: u32 =
    if VOLUMES_MAX > LINKS_MAX { VOLUMES_MAX } else { LINKS_MAX } as u32;

impl Renumbering {
    /// Returns the renumbering from a mesh to another one in its place: no polygon is the same.
    pub fn of_other_mesh(before: &NavigationMesh) -> Renumbering {
        Renumbering::of_all(before.num_polygons() as u32)
    }

    /// Returns the renumbering of as many polygons, of which none is the same.
    pub(super) fn of_all(count: u32) -> Renumbering {
        Renumbering {
            before: vec![0, count],
            now: vec![None],
            failure: None,
            failed_volumes: Vec::new(),
        }
    }
}

impl NavigationMesh {
    /// Reserves the numbers up to here for the volumes and links of files, after these have been
    /// added.
    pub fn reserve_file_numbers(&mut self) {
        self.volumes.last = self.volumes.last.max(FILE_NUMBERS);
        self.jumps.last = self.jumps.last.max(FILE_NUMBERS);
    }

    /// Returns the numbers of the volumes and links that the game has added.
    pub fn num_game_edits(&self) -> (usize, usize) {
        let of_game = FILE_NUMBERS + 1..;
        let volumes = self.volumes.volumes.range(of_game.clone()).count();
        (volumes, self.jumps.links.range(of_game).count())
    }

    /// Returns true if the game has added volumes or links, or closed polygons.
    pub fn has_game_changes(&self) -> bool {
        self.num_game_edits() != (0, 0) || self.polygons.iter().any(|at| at.is_obstructed)
    }

    /// Takes over what the game has changed in an old mesh of the same level: its volumes and
    /// links, which keep their numbers, flow fields, and closed polygons, whose ground is closed
    /// again.
    pub fn adopt(&mut self, old: &NavigationMesh) {
        let of_game = FILE_NUMBERS + 1..;
        for (number, volume) in old.volumes.volumes.range(of_game.clone()) {
            self.wait_for(&volume.shape);
            self.volumes.volumes.insert(*number, volume.clone());
        }
        for (number, link) in old.jumps.links.range(of_game.clone()) {
            self.jumps.links.insert(*number, link.clone());
            self.jumps.has_changed = true;
        }
        // Links of platforms that are out of order stay closed.
        self.jumps.closed.extend(old.jumps.closed.range(of_game));
        self.volumes.last = self.volumes.last.max(old.volumes.last);
        self.jumps.last = self.jumps.last.max(old.jumps.last);
        // Paths of the old mesh are outdated.
        self.version = old.version.wrapping_add(1).max(self.version);
        self.fields.clone_from(&old.fields);
        self.fields.iter_mut().for_each(Field::forget);
        self.close_ground_of(old);
    }

    /// Closes the polygons whose middle is on a closed polygon of an old mesh.
    fn close_ground_of(&mut self, old: &NavigationMesh) {
        if !old.polygons.iter().any(|polygon| polygon.is_obstructed) {
            return;
        }
        let (side, up) = (self.settings().cell_size * 0.01, self.settings().step);
        for polygon in 0..self.num_polygons() as u32 {
            let corners = self.corners(polygon);
            let middle = corners.iter().sum::<Vec3>() / corners.len() as f32;
            let known = old.nearest(middle, side, up);
            if known.is_some_and(|known| old.is_obstructed(known.polygon)) {
                self.set_obstructed(polygon, true);
            }
        }
    }
}
