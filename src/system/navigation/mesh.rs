//! Navigation meshes: the polygons of all tiles in one set of arrays, with links between them.
//! Finds polygons by position, and heights. Searches are in search.rs.

use super::bake::{
    AREAS_MAX, BakeSettings, BakeSource, HeightGrid, TILE_SIDE, TileLayout, TileMesh, fan_height,
};
use super::bake_tiles::bake_tiles;
use super::baked_tiles::layout_of;
use super::fields::Field;
use super::hierarchy::Hierarchy;
use super::jumps::{Jumps, NO_JUMP};
use super::mesh_errors::{too_many_heights, too_many_polygons};
use super::own_costs::{KnownView, View};
use super::path_requests::PathRequests;
use super::snapshot::KeptGround;
use super::volumes::Volumes;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec2, Vec3};
use std::sync::{Arc, Weak};

/// Maximum number of polygons of a mesh.
pub const MESH_POLYGONS_MAX: usize = 1 << 24;
/// Maximum number of heights of uneven ground of a mesh.
pub const HEIGHTS_MAX: usize = 1 << 26;

/// Convex polygon. Its corners are counter-clockwise, from above.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polygon {
    pub first_corner: u32,
    pub first_link: u32,
    pub links: u16,
    pub count: u8,
    pub area: u8,
    pub tile: u32,
    /// Heights of uneven ground, as an index into the grids; `u32::MAX` if it is even.
    pub grid: u32,
    pub is_obstructed: bool,
    /// True if it cannot be reached from any seed point, see islands.rs.
    pub is_left_out: bool,
    /// Dead end to which it belongs; 0 if it is in none, see dead_ends.rs.
    pub dead_end: u16,
    pub low: Vec3,
    pub high: Vec3,
}

/// Way from a polygon into another, through a part of an edge or by a jump. Each is in one line of
/// the processor's cache: searches wait for little else.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Link {
    pub target: u32,
    pub edge: u8,
    /// Ends of the common part of the edge, when leaving the polygon.
    pub left: Vec3,
    pub right: Vec3,
    /// Jump by which the way leads, as an index; [`NO_JUMP`] if it leads through an edge.
    pub jump: u16,
}

impl Link {
    /// Returns true if the way does not lead through an edge.
    pub fn is_jump(&self) -> bool {
        self.jump != NO_JUMP
    }
}

/// Polygon with the nearest point on it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NearestPolygon {
    pub polygon: u32,
    pub position: Vec3,
}

/// Mesh of walkable polygons.
#[derive(Debug)]
pub struct NavigationMesh {
    pub(super) layout: TileLayout,
    /// First polygon of each tile, and the number of all polygons at the end.
    pub(super) tiles: Vec<u32>,
    pub(super) polygons: Vec<Polygon>,
    pub(super) corners: Vec<Vec3>,
    pub(super) links: Vec<Link>,
    pub(super) grids: Vec<HeightGrid>,
    pub(super) heights: Vec<u16>,
    /// Cost of a metre of each area; 0 for areas that cannot be entered.
    pub(super) costs: [f32; AREAS_MAX],
    pub(super) vertices: usize,
    /// Increases when something changes that old paths do not know.
    pub(super) version: u32,
    /// Triangles from which tiles are baked again.
    pub(super) source: Arc<BakeSource>,
    pub(super) tile_meshes: Vec<TileMesh>,
    pub(super) volumes: Volumes,
    pub(super) jumps: Jumps,
    /// Points from which ground must be reachable; all ground stays if there are none.
    pub(super) seeds: Vec<Vec3>,
    pub(super) hierarchy: Hierarchy,
    /// The mesh as agents with costs of their own see it.
    pub(super) views: Vec<View>,
    pub(super) known_views: Vec<KnownView>,
    /// Areas of all polygons, one bit each; 0 until they are counted.
    pub(super) used_areas: u64,
    pub(super) requests: PathRequests,
    pub(super) fields: Vec<Field>,
    /// Copy of the ground as it is now, if a snapshot has one.
    pub(super) kept_ground: Weak<KeptGround>,
}

/// Edge at the side of a tile.
struct SideEdge {
    polygon: u32,
    edge: u8,
    /// Ends along the side, the lower one first, and their heights.
    from: f32,
    to: f32,
    from_z: f32,
    to_z: f32,
}

impl NavigationMesh {
    /// Bakes a mesh. The tiles are baked as tasks, with the same result on any number of threads.
    ///
    /// # Errors
    /// Returns an error if a setting is out of range or a tile is too complex. The message names
    /// the tile.
    pub fn bake(
        mut source: BakeSource,
        settings: BakeSettings,
        pool: &TaskPool,
    ) -> Result<NavigationMesh, Error> {
        let layout = layout_of(&mut source, settings)?;
        let tiles = bake_tiles(&source, &layout, pool)?;
        let (meshes, fields): (Vec<_>, Vec<_>) = tiles.into_iter().unzip();
        let mut mesh = NavigationMesh::of_tiles(layout, source, meshes, pool)?;
        for (tile, field) in fields.into_iter().enumerate() {
            mesh.volumes.keep_field(tile, field.map(Arc::new));
        }
        Ok(mesh)
    }

    /// Puts a mesh together from its tiles.
    pub(super) fn of_tiles(
        layout: TileLayout,
        source: BakeSource,
        tile_meshes: Vec<TileMesh>,
        pool: &TaskPool,
    ) -> Result<NavigationMesh, Error> {
        let mut mesh = NavigationMesh {
            layout,
            tiles: Vec::new(),
            polygons: Vec::new(),
            corners: Vec::new(),
            links: Vec::new(),
            grids: Vec::new(),
            heights: Vec::new(),
            costs: [1.0; AREAS_MAX],
            vertices: 0,
            version: 0,
            source: Arc::new(source),
            tile_meshes,
            volumes: Volumes::default(),
            jumps: Jumps::default(),
            seeds: Vec::new(),
            hierarchy: Hierarchy::default(),
            views: Vec::new(),
            known_views: Vec::new(),
            used_areas: 0,
            requests: PathRequests::default(),
            fields: Vec::new(),
            kept_ground: Weak::new(),
        };
        mesh.costs[0] = 0.0;
        mesh.assemble()?;
        mesh.update_hierarchy(pool)?;
        Ok(mesh)
    }

    /// Puts the meshes of the tiles together.
    pub(super) fn assemble(&mut self) -> Result<(), Error> {
        self.assemble_closed(|_| ())
    }

    /// Puts the meshes of the tiles together. `close` closes polygons before they are linked.
    pub(super) fn assemble_closed(
        &mut self,
        close: impl FnOnce(&mut NavigationMesh),
    ) -> Result<(), Error> {
        let tiles = std::mem::take(&mut self.tile_meshes);
        let count: usize = tiles.iter().map(|tile| tile.polygons.len()).sum();
        if count > MESH_POLYGONS_MAX {
            self.tile_meshes = tiles;
            return Err(too_many_polygons(count));
        }
        let heights: usize = tiles.iter().map(|tile| tile.heights.len()).sum();
        if heights > HEIGHTS_MAX {
            self.tile_meshes = tiles;
            return Err(too_many_heights(heights));
        }
        self.outdate_hierarchies();
        self.tiles.clear();
        self.polygons.clear();
        self.corners.clear();
        self.links.clear();
        self.grids.clear();
        self.heights.clear();
        self.vertices = tiles.iter().map(|tile| tile.vertices.len()).sum();
        for (index, tile) in tiles.iter().enumerate() {
            self.push_tile(index, tile);
        }
        self.tiles.push(self.polygons.len() as u32);
        close(self);
        self.resolve_jumps();
        self.link(&tiles);
        self.tile_meshes = tiles;
        self.mark_dead_ends();
        self.leave_out_islands();
        Ok(())
    }

    fn push_tile(&mut self, index: usize, tile: &TileMesh) {
        self.tiles.push(self.polygons.len() as u32);
        let first_grid = self.grids.len() as u32;
        let first_height = self.heights.len() as u32;
        self.grids.extend(
            tile.grids.iter().map(|grid| HeightGrid { first: grid.first + first_height, ..*grid }),
        );
        self.heights.extend_from_slice(&tile.heights);
        for polygon in &tile.polygons {
            let first_corner = self.corners.len() as u32;
            let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
            for corner in polygon.corners() {
                let corner = self.layout.vertex(index, tile.vertices[usize::from(*corner)]);
                (low, high) = (low.min(corner), high.max(corner));
                self.corners.push(corner);
            }
            self.polygons.push(Polygon {
                first_corner,
                first_link: 0,
                links: 0,
                count: polygon.count,
                area: polygon.area,
                tile: index as u32,
                grid: polygon.heights.map_or(u32::MAX, |grid| first_grid + u32::from(grid)),
                is_obstructed: false,
                is_left_out: false,
                dead_end: 0,
                low,
                high,
            });
        }
    }

    /// Adds the links of all polygons: those within a tile, and those to adjacent tiles.
    fn link(&mut self, tiles: &[TileMesh]) {
        let across = self.links_across(tiles);
        let mut next = 0;
        for (index, tile) in tiles.iter().enumerate() {
            let first = self.tiles[index];
            for (at, polygon) in (first..).zip(&tile.polygons) {
                let first_link = self.links.len() as u32;
                for edge in 0..polygon.count {
                    let near = polygon.neighbors[usize::from(edge)];
                    if near < TILE_SIDE {
                        let (right, left) = self.edge(at, edge);
                        let target = first + u32::from(near);
                        self.links.push(Link { target, edge, left, right, jump: NO_JUMP });
                    }
                }
                while let Some((_, link)) = across.get(next).filter(|(from, _)| *from == at) {
                    self.links.push(*link);
                    next += 1;
                }
                self.links.extend(self.jumps.ways_from(at));
                let polygon = &mut self.polygons[at as usize];
                polygon.first_link = first_link;
                polygon.links = (self.links.len() as u32 - first_link) as u16;
            }
        }
    }

    /// Returns the links between tiles with the polygons that they leave, sorted by these.
    fn links_across(&self, tiles: &[TileMesh]) -> Vec<(u32, Link)> {
        let mut links = Vec::new();
        let (columns, rows) = (self.layout.tiles_x, self.layout.tiles_y);
        for index in 0..tiles.len() {
            if index % columns + 1 < columns {
                self.link_sides(tiles, (index, 2), (index + 1, 0), &mut links);
            }
            if index / columns + 1 < rows {
                self.link_sides(tiles, (index, 1), (index + columns, 3), &mut links);
            }
        }
        links.sort_by_key(|(from, link)| (*from, link.edge, link.target));
        links
    }

    fn side_edges(&self, tiles: &[TileMesh], (tile, side): (usize, u16)) -> Vec<SideEdge> {
        let axis = usize::from(side % 2 == 1);
        // Along a vertical side (left or right) edges extend in y.
        let along = 1 - axis;
        let mut edges = Vec::new();
        for (at, polygon) in (self.tiles[tile]..).zip(&tiles[tile].polygons) {
            for edge in 0..polygon.count {
                if polygon.neighbors[usize::from(edge)] == TILE_SIDE + side {
                    let (a, b) = self.edge(at, edge);
                    let (a, b) = if a[along] <= b[along] { (a, b) } else { (b, a) };
                    let (from, to) = (a[along], b[along]);
                    edges.push(SideEdge { polygon: at, edge, from, to, from_z: a.z, to_z: b.z });
                }
            }
        }
        edges
    }

    fn link_sides(
        &self,
        tiles: &[TileMesh],
        low: (usize, u16),
        high: (usize, u16),
        links: &mut Vec<(u32, Link)>,
    ) {
        let along = if low.1 == 2 { 1 } else { 0 };
        let reach = self.layout.settings.step + self.layout.settings.cell_height * 2.0;
        let beyond = self.side_edges(tiles, high);
        for a in self.side_edges(tiles, low) {
            for b in &beyond {
                let (from, to) = (a.from.max(b.from), a.to.min(b.to));
                if to - from < self.layout.settings.cell_size * 0.5 {
                    continue;
                }
                let z = |edge: &SideEdge, at: f32| {
                    let part = (at - edge.from) / (edge.to - edge.from);
                    edge.from_z + (edge.to_z - edge.from_z) * part
                };
                let apart = (z(&a, from) - z(b, from)).abs().min((z(&a, to) - z(b, to)).abs());
                if apart > reach {
                    continue;
                }
                let point = |edge: &SideEdge, at: f32| {
                    let corner = self.edge(edge.polygon, edge.edge).0;
                    let mut point = corner;
                    point[along] = at;
                    point.z = z(edge, at);
                    point
                };
                // Leaving to the right, the upper end is on the left; leaving upwards, the right
                // hand is to the right.
                let (start, end) = (point(&a, from), point(&a, to));
                let (left, right) = if along == 1 { (end, start) } else { (start, end) };
                let (target, edge) = (b.polygon, a.edge);
                links.push((a.polygon, Link { target, edge, left, right, jump: NO_JUMP }));
                let (start, end) = (point(b, from), point(b, to));
                let (left, right) = if along == 1 { (start, end) } else { (end, start) };
                let (target, edge) = (a.polygon, b.edge);
                links.push((b.polygon, Link { target, edge, left, right, jump: NO_JUMP }));
            }
        }
    }

    /// Returns the ends of an edge.
    pub(super) fn edge(&self, polygon: u32, edge: u8) -> (Vec3, Vec3) {
        let corners = self.corners(polygon);
        let edge = usize::from(edge);
        (corners[edge], corners[if edge + 1 == corners.len() { 0 } else { edge + 1 }])
    }

    /// Returns the number of polygons.
    pub fn num_polygons(&self) -> usize {
        self.polygons.len()
    }

    /// Returns the number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.vertices
    }

    /// Returns the settings of the bake.
    pub fn settings(&self) -> &BakeSettings {
        &self.layout.settings
    }

    /// Returns the corners of a polygon.
    pub fn corners(&self, polygon: u32) -> &[Vec3] {
        let polygon = &self.polygons[polygon as usize];
        let first = polygon.first_corner as usize;
        &self.corners[first..first + usize::from(polygon.count)]
    }

    pub(super) fn links(&self, polygon: u32) -> &[Link] {
        let polygon = &self.polygons[polygon as usize];
        let first = polygon.first_link as usize;
        &self.links[first..first + usize::from(polygon.links)]
    }

    /// Iterates over the polygons that can be entered from a polygon, one for each common edge.
    pub fn neighbors(&self, polygon: u32) -> impl Iterator<Item = u32> {
        self.links(polygon).iter().map(|link| link.target)
    }

    /// Returns true if agents cannot enter a polygon.
    pub fn is_obstructed(&self, polygon: u32) -> bool {
        self.polygons[polygon as usize].is_obstructed
    }

    /// Closes a polygon for searches, or opens it again.
    pub fn set_obstructed(&mut self, polygon: u32, is_obstructed: bool) {
        let known = &mut self.polygons[polygon as usize].is_obstructed;
        if *known != is_obstructed {
            *known = is_obstructed;
            self.version += 1;
            self.touch_hierarchies(polygon);
        }
    }

    /// Returns true if a search may enter a polygon.
    pub(super) fn is_open(&self, polygon: u32) -> bool {
        let polygon = &self.polygons[polygon as usize];
        !polygon.is_obstructed
            && !polygon.is_left_out
            && self.costs[usize::from(polygon.area)] > 0.0
    }

    /// Returns the height of the ground of a polygon at a position.
    pub fn height(&self, polygon: u32, position: Vec2) -> f32 {
        let of = &self.polygons[polygon as usize];
        if let Some(grid) = self.grids.get(of.grid as usize) {
            return self.grid_height(grid, of.tile as usize, position);
        }
        let mut corners = [[0.0; 3]; super::bake::CORNERS_OF_POLYGON_MAX];
        for (to, corner) in corners.iter_mut().zip(self.corners(polygon)) {
            *to = corner.to_array();
        }
        fan_height(&corners[..usize::from(of.count)], position.x, position.y)
    }

    fn grid_height(&self, grid: &HeightGrid, tile: usize, position: Vec2) -> f32 {
        let origin = self.layout.vertex(tile, [grid.x, grid.y, 0]);
        let step = self.layout.settings.cell_size * HeightGrid::STEP as f32;
        let part = |at: f32, origin: f32, count: u16| {
            let at = ((at - origin) / step).clamp(0.0, f32::from(count - 1));
            let cell = (at as usize).min(usize::from(count).saturating_sub(2));
            (cell, at - cell as f32)
        };
        let (column, x) = part(position.x, origin.x, grid.columns);
        let (row, y) = part(position.y, origin.y, grid.rows);
        let sample = |dx: usize, dy: usize| {
            let column = (column + dx).min(usize::from(grid.columns) - 1);
            let row = (row + dy).min(usize::from(grid.rows) - 1);
            let at = grid.first as usize + row * usize::from(grid.columns) + column;
            f32::from(self.heights[at])
        };
        let low = sample(0, 0) + (sample(1, 0) - sample(0, 0)) * x;
        let high = sample(0, 1) + (sample(1, 1) - sample(0, 1)) * x;
        origin.z + (low + (high - low) * y) * self.layout.settings.cell_height
    }

    /// Returns the point of a polygon that is nearest to a position from above, with the
    /// height of the ground there.
    pub fn constrain(&self, polygon: u32, position: Vec3) -> Vec3 {
        let flat = nearest_in_polygon(self.corners(polygon), position.truncate());
        flat.extend(self.height(polygon, flat))
    }

    /// Returns the polygon whose ground is nearest to a position, within a distance to the side and
    /// a distance up and down.
    pub fn nearest(&self, position: Vec3, side: f32, up: f32) -> Option<NearestPolygon> {
        self.nearest_among(position, side, up, |_| true)
    }

    /// Returns the nearest one of the polygons that `accepts` accepts.
    pub(super) fn nearest_among(
        &self,
        position: Vec3,
        side: f32,
        up: f32,
        accepts: impl Fn(u32) -> bool,
    ) -> Option<NearestPolygon> {
        if !position.is_finite() {
            return None;
        }
        let reach = Vec3::new(side, side, up);
        let (low, high) = (position - reach, position + reach);
        let (columns, rows) = self.layout.tiles_in(low, high);
        let mut best: Option<(f32, NearestPolygon)> = None;
        for row in rows {
            for column in columns.clone() {
                let tile = row * self.layout.tiles_x + column;
                for polygon in self.tiles[tile]..self.tiles[tile + 1] {
                    let of = &self.polygons[polygon as usize];
                    let apart = of.is_left_out
                        || low.cmpgt(of.high + Vec3::Z * up).any()
                        || high.cmplt(of.low - Vec3::Z * up).any();
                    if apart || !accepts(polygon) {
                        continue;
                    }
                    let point = self.constrain(polygon, position);
                    let away = point - position;
                    if away.x.abs() > side || away.y.abs() > side || away.z.abs() > up {
                        continue;
                    }
                    let distance = away.length_squared();
                    if best.is_none_or(|(known, _)| distance < known) {
                        best = Some((distance, NearestPolygon { polygon, position: point }));
                    }
                }
            }
        }
        best.map(|(_, nearest)| nearest)
    }

    /// Calls `write` with the numbers that make up the state of the mesh.
    pub fn write_state(&self, write: &mut dyn FnMut(u64)) {
        write(self.polygons.len() as u64);
        write(u64::from(self.version));
        for (at, polygon) in (0..).zip(&self.polygons) {
            if polygon.is_obstructed {
                write(at);
            }
        }
        for cost in self.costs {
            write(u64::from(cost.to_bits()));
        }
        self.volumes.write_state(write);
        self.jumps.write_state(write);
        self.requests.write_state(write);
        self.fields.iter().for_each(|field| field.write_state(write));
    }
}

/// Returns the area of a polygon from above.
pub(super) fn area(corners: &[Vec3]) -> f32 {
    let mut sum = 0.0;
    for pair in corners[1..].windows(2) {
        let (a, b) = (pair[0] - corners[0], pair[1] - corners[0]);
        sum += a.x * b.y - a.y * b.x;
    }
    sum * 0.5
}

/// Returns the point of a convex counter-clockwise polygon that is nearest to a point.
pub(super) fn nearest_in_polygon(corners: &[Vec3], point: Vec2) -> Vec2 {
    let (mut best, mut is_inside) = ((f32::MAX, point), true);
    let mut a = corners[corners.len() - 1].truncate();
    for corner in corners {
        let b = corner.truncate();
        if (b - a).perp_dot(point - a) < 0.0 {
            is_inside = false;
            let near = nearest_on_segment(a, b, point);
            let distance = near.distance_squared(point);
            if distance < best.0 {
                best = (distance, near);
            }
        }
        a = b;
    }
    if is_inside { point } else { best.1 }
}

pub(super) fn nearest_on_segment(a: Vec2, b: Vec2, point: Vec2) -> Vec2 {
    let along = b - a;
    let length = along.length_squared();
    if length <= 0.0 {
        return a;
    }
    a + along * ((point - a).dot(along) / length).clamp(0.0, 1.0)
}
