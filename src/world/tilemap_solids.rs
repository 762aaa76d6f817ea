//! The insides of solid tiles for bakes of navigation meshes: their bodies are outlines, between
//! which a bake would find ground.

use super::physics::PhysicsTables;
use super::sprite::SpritePlacement;
use super::tilemap::TilemapInstances;
use super::tilemap_collision::CollisionSettings;
use super::unit::{UnitId, Units};
use engine_foundation::{Mat4, Vec3};
use engine_tilemaps::{CollisionTable, Tilemap, Tilemaps};

/// Convex pieces, each with the triangles of its surface. These face inwards: nobody walks on them.
pub type SolidPieces = Vec<Vec<[Vec3; 3]>>;

/// Adds the insides of the solid tiles of a map. `world` is the pose of its node.
pub(super) fn add_pieces(
    (settings, table): (&CollisionSettings, &CollisionTable),
    (tilemap, placement): (&Tilemap, &SpritePlacement),
    world: Mat4,
    pieces: &mut SolidPieces,
) {
    let to_world = world * placement.plane_to_node();
    let half = settings.depth(placement) * 0.5;
    let metres = 1.0 / f64::from(placement.pixels_per_metre);
    tilemap.solid_outlines(table, |outline| {
        let sides = [-half, half].map(|side| {
            let point = |[x, y]: &[f64; 2]| {
                let [x, y] = [x, y].map(|at| (at * metres) as f32);
                to_world.transform_point3(Vec3::new(x, side, y))
            };
            outline.iter().map(point).collect::<Vec<Vec3>>()
        });
        pieces.push(inward_faces(&sides));
    });
}

/// Returns the faces of a convex body between two equal outlines.
fn inward_faces([low, high]: &[Vec<Vec3>; 2]) -> Vec<[Vec3; 3]> {
    let count = low.len();
    let middle = low.iter().chain(high).sum::<Vec3>() / (2 * count) as f32;
    let mut faces = Vec::with_capacity(count * 4);
    for at in 0..count {
        let next = (at + 1) % count;
        faces.push([low[at], low[next], high[next]]);
        faces.push([low[at], high[next], high[at]]);
        if (1..count - 1).contains(&at) {
            faces.push([low[0], low[at], low[next]]);
            faces.push([high[0], high[at], high[next]]);
        }
    }
    for face in &mut faces {
        let [a, b, c] = *face;
        if (b - a).cross(c - a).dot(middle - a) < 0.0 {
            face.swap(1, 2);
        }
    }
    faces
}

impl TilemapInstances {
    /// Returns the insides of the solid tiles of units, in the order of the units, as far as their
    /// bodies exist.
    pub fn solid_pieces(
        &self,
        of_units: impl Iterator<Item = UnitId>,
        (units, tilemaps): (&mut Units, &Tilemaps),
        physics: &PhysicsTables,
    ) -> SolidPieces {
        let mut pieces = SolidPieces::new();
        for unit in of_units {
            let maps = self.of.get(&unit.row()).into_iter().flatten();
            for map in maps.filter(|map| map.unit == unit) {
                let collision = map.collision.as_ref().filter(|it| it.is_solid_now(physics));
                let Some(collision) = collision else { continue };
                let of = (tilemaps.of(map.map), &map.placement);
                let world = units.scene.world(unit.row(), usize::from(map.node));
                add_pieces(collision.rules_of_tiles(), of, world, &mut pieces);
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_point_inwards_on_both_sides_of_a_map() {
        let low =
            [[0.0, 0.0], [2.0, 0.0], [2.0, 3.0], [0.0, 3.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
        let high = low.map(|at| at + Vec3::Z);
        for sides in [[low.to_vec(), high.to_vec()], [high.to_vec(), low.to_vec()]] {
            let faces = inward_faces(&sides);
            assert_eq!(faces.len(), 12);
            let normal = |[a, b, c]: [Vec3; 3]| (b - a).cross(c - a);
            let volume: f32 = faces.iter().map(|face| normal(*face).dot(face[0]) / 6.0).sum();
            assert_eq!(volume, -6.0, "closed, and inside out");
        }
    }
}
