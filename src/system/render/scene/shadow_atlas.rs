//! The shadow atlas: the shadow maps of omni and spot lights, as tiles of one texture. It decides
//! the size and the position of each light's tiles, and which of them are drawn in a frame. Draws
//! nothing.
//!
//! A light has one tile, or six if it shines to all sides. The tiles are larger the larger the
//! light is on the screen. They stay as they are until the light changes or something moves within
//! its range.

use super::clusters::LightSphere;
use super::culling::{intersects_planes, planes};
use super::shadow_tiles::{Tile, TileAllocator};
use super::shadows::{FACES, LampShape};
use bytemuck::{Pod, Zeroable};
use engine_foundation::{Mat4, Vec4};
use engine_frame_packet::scene::SHADOWED_LIGHTS_MAX;
use std::collections::BTreeMap;

/// Side of the smallest tiles, in texels.
const TILE_SIDE_MIN: u32 = 64;
/// Side of the smallest texture, in texels.
const ATLAS_SIDE_MIN: u32 = 256;
/// A tile keeps its side while the wanted side is within these factors of it.
const SIDE_KEPT: [f32; 2] = [0.4, 1.2];
/// Maximum number of lights whose tiles are kept, with those that are in no view now.
const LIGHTS_KEPT_MAX: usize = 2 * SHADOWED_LIGHTS_MAX;

/// A light with shadow maps: its scene, the groups of draws that its views show, its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ShadowKey {
    pub scene: u64,
    pub layers: u32,
    pub light: u64,
}

/// A light that a view shows, and that casts shadows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShadowRequest {
    pub key: ShadowKey,
    pub shape: LampShape,
    /// Distance from the camera to its range; less is more important.
    pub rank: f32,
    /// Wanted side of each of its tiles, in texels.
    pub side: f32,
}

/// Limits of the atlas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AtlasLimits {
    /// Side of the texture and of the largest tile, in texels. No shadows if one is 0.
    pub atlas_side: u32,
    pub tile_side: u32,
    /// Number of tiles that are drawn in a frame. A light's tiles are drawn together, so that a
    /// frame may draw five more.
    pub tiles_drawn: u32,
}

/// A tile, with the layout of `ShadowTile` in forward/local_lights.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct TileUniform {
    pub to_clip: [[f32; 4]; 4],
    /// Left, top and side in the texture, from 0 to 1; the last is the near distance of the map in
    /// metres.
    pub rectangle: [f32; 4],
}

/// A tile that is drawn in this frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TileDraw {
    pub key: ShadowKey,
    /// True for a side of an omni light, and the number of the side.
    pub is_omni: bool,
    pub face: usize,
    pub to_clip: Mat4,
    /// Left, top and side in texels.
    pub rectangle: [u32; 3],
}

/// The shadow maps of a light.
struct LampShadow {
    /// The light as its tiles show it.
    shape: LampShape,
    side: u32,
    tiles: Vec<Tile>,
    to_clip: [Mat4; FACES],
    sphere: LightSphere,
    /// Bits of the tiles in whose range something has changed.
    stale: u8,
    /// The frame in which it began to wait for being drawn; none if it is up to date.
    waits_since: Option<u64>,
    /// The last frame in which a view showed it.
    shown: u64,
}

/// Why a light's tiles are drawn, in order of urgency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Reason {
    Missing,
    Changed,
    Resized,
}

/// A light that waits for its tiles to be drawn.
struct TileUpdate {
    reason: Reason,
    since: u64,
    request: usize,
    side: u32,
}

/// The atlas.
#[derive(Default)]
pub struct ShadowAtlas {
    limits: AtlasLimits,
    tiles: TileAllocator,
    lamps: BTreeMap<ShadowKey, LampShadow>,
    frame: u64,
    /// Number of halvings of all sides that make the tiles fit.
    reduction: u32,
    /// The tiles to draw in this frame.
    pub draws: Vec<TileDraw>,
    /// Number of lights of this frame that have no shadows because there are too many.
    pub dropped: usize,
    updates: Vec<TileUpdate>,
}

/// Returns the largest power of two that is not above a number; 0 for 0.
fn power_of_two_below(number: u32) -> u32 {
    if number == 0 { 0 } else { 1 << number.ilog2() }
}

impl AtlasLimits {
    /// Returns the limits with sides that are powers of two.
    fn rounded(self) -> AtlasLimits {
        let tile_side = power_of_two_below(self.tile_side);
        let atlas_side = power_of_two_below(self.atlas_side);
        if tile_side == 0 || atlas_side == 0 {
            return AtlasLimits::default();
        }
        let tile_side = tile_side.min(atlas_side);
        AtlasLimits { atlas_side, tile_side, tiles_drawn: self.tiles_drawn.max(1) }
    }

    fn least_side(&self) -> u32 {
        TILE_SIDE_MIN.min(self.tile_side)
    }
}

impl ShadowAtlas {
    /// Returns the side of the texture, in texels; 0: there is none.
    pub fn side(&self) -> u32 {
        self.tiles.side()
    }

    /// Returns true if no light has tiles.
    pub fn is_empty(&self) -> bool {
        self.lamps.is_empty()
    }

    /// Forgets all tiles: the texture has lost its content.
    pub fn reset(&mut self) {
        self.lamps.clear();
        self.draws.clear();
        let side = self.tiles.side();
        if side > 0 {
            self.tiles = TileAllocator::new(side, self.limits.least_side());
        }
    }

    /// Forgets the lights that are not kept.
    pub fn retain(&mut self, keep: impl Fn(&ShadowKey) -> bool) {
        let tiles = &mut self.tiles;
        self.lamps.retain(|key, lamp| {
            let kept = keep(key);
            if !kept {
                lamp.tiles.drain(..).for_each(|tile| tiles.release(tile));
            }
            kept
        });
    }

    /// Forgets the tiles that this frame would have drawn, because it is not drawn.
    pub fn undo(&mut self) {
        let draws = std::mem::take(&mut self.draws);
        self.retain(|key| !draws.iter().any(|draw| draw.key == *key));
    }

    /// Marks the tiles of a scene in which something has changed. `changed` are the spheres around
    /// all that changed; `None`: all of the scene. `layers`: only for views with these groups.
    pub fn mark_stale(&mut self, scene: u64, layers: Option<u32>, changed: Option<&[LightSphere]>) {
        let (first, last) = (
            ShadowKey { scene, layers: 0, light: 0 },
            ShadowKey { scene, layers: u32::MAX, light: u64::MAX },
        );
        for (key, lamp) in self.lamps.range_mut(first..=last) {
            if layers.is_some_and(|layers| layers != key.layers) {
                continue;
            }
            match changed {
                None => lamp.stale = lamp.shape.all_faces(),
                Some(spheres) => lamp.mark_stale(spheres),
            }
        }
    }

    /// Plans a frame. `requests` are the lights of all views; a light may occur in several views.
    pub fn plan(&mut self, limits: AtlasLimits, requests: &mut Vec<ShadowRequest>) {
        let limits = limits.rounded();
        if limits != self.limits {
            *self = ShadowAtlas { limits, frame: self.frame, ..ShadowAtlas::default() };
        }
        self.frame += 1;
        self.draws.clear();
        self.dropped = 0;
        if limits.tile_side == 0 {
            requests.clear();
        }
        merge(requests);
        self.dropped = requests.len().saturating_sub(SHADOWED_LIGHTS_MAX);
        requests.truncate(SHADOWED_LIGHTS_MAX);
        if requests.is_empty() {
            return;
        }
        let sides = self.fitting_sides(requests);
        requests.truncate(sides.len());
        self.collect_updates(requests, &sides);
        self.draw_updates(requests);
        self.limit_kept();
    }

    /// Returns the side of the tiles of each light, so that all of them fit into the largest
    /// texture. There are fewer than requests if not even the smallest tiles fit. Makes the texture
    /// large enough.
    fn fitting_sides(&mut self, requests: &[ShadowRequest]) -> Vec<u32> {
        let (least, most) = (self.limits.least_side(), self.limits.tile_side);
        let mut sides: Vec<u32> = Vec::with_capacity(requests.len());
        for request in requests {
            let wanted = request.side.clamp(least as f32, most as f32);
            // Sides that were reduced before are compared as if they were not.
            let known = self.lamps.get(&request.key).map(|lamp| lamp.side << self.reduction);
            let is_kept = |side: &u32| {
                let ratio = wanted / *side as f32;
                (SIDE_KEPT[0]..=SIDE_KEPT[1]).contains(&ratio)
            };
            let rounded = (wanted.ceil() as u32).next_power_of_two().clamp(least, most);
            sides.push(known.filter(is_kept).map_or(rounded, |side| side.clamp(least, most)));
        }
        let area = |reduction: u32| -> u64 {
            let of = |(side, request): (&u32, &ShadowRequest)| {
                let side = u64::from((side >> reduction).max(least));
                side * side * request.shape.faces() as u64
            };
            sides.iter().zip(requests).map(of).sum()
        };
        let room = u64::from(self.limits.atlas_side) * u64::from(self.limits.atlas_side);
        let levels = (most / least).trailing_zeros();
        let mut reduction = (0..=levels).find(|it| area(*it) <= room).unwrap_or(levels);
        // Tiles grow again only if there is some room to spare.
        if reduction < self.reduction && area(reduction) > room / 4 * 3 {
            reduction = self.reduction.min(levels);
        }
        self.reduction = reduction;
        let (mut used, mut count) = (0, 0);
        for (side, request) in sides.iter_mut().zip(requests) {
            *side = (*side >> reduction).max(least);
            used += u64::from(*side) * u64::from(*side) * request.shape.faces() as u64;
            if used > room {
                break;
            }
            count += 1;
        }
        self.dropped += sides.len() - count;
        sides.truncate(count);
        self.grow(used.min(room));
        sides
    }

    /// Makes the texture large enough for a number of texels. A larger texture loses its content.
    fn grow(&mut self, texels: u64) {
        let mut side = ATLAS_SIDE_MIN.max(self.limits.tile_side).min(self.limits.atlas_side);
        while u64::from(side) * u64::from(side) < texels {
            side *= 2;
        }
        if side > self.tiles.side() {
            self.lamps.clear();
            self.tiles = TileAllocator::new(side, self.limits.least_side());
        }
    }

    /// Lists the lights whose tiles must be drawn, the most urgent first.
    fn collect_updates(&mut self, requests: &[ShadowRequest], sides: &[u32]) {
        self.updates.clear();
        let frame = self.frame;
        for request in requests {
            let known = self.lamps.get(&request.key);
            if known.is_some_and(|lamp| lamp.shape.faces() != request.shape.faces()) {
                // An omni light has become a spot, or the reverse.
                self.retain(|key| *key != request.key);
            }
        }
        for (i, (request, side)) in requests.iter().zip(sides).enumerate() {
            let (reason, since) = match self.lamps.get_mut(&request.key) {
                None => (Reason::Missing, frame),
                Some(lamp) => {
                    lamp.shown = frame;
                    let reason = if lamp.shape != request.shape || lamp.stale != 0 {
                        Reason::Changed
                    } else if lamp.side != *side {
                        Reason::Resized
                    } else {
                        lamp.waits_since = None;
                        continue;
                    };
                    (reason, *lamp.waits_since.get_or_insert(frame))
                }
            };
            self.updates.push(TileUpdate { reason, since, request: i, side: *side });
        }
        self.updates.sort_by_key(|update| (update.reason, update.since, update.request));
    }

    /// Takes tiles for the most urgent lights, and adds their draws.
    fn draw_updates(&mut self, requests: &[ShadowRequest]) {
        let updates = std::mem::take(&mut self.updates);
        for TileUpdate { reason, request, side, .. } in &updates {
            let request = &requests[*request];
            let all = request.shape.all_faces();
            let known = self.lamps.get(&request.key);
            let stays = |lamp: &&LampShadow| lamp.shape == request.shape && lamp.side == *side;
            let faces = known.filter(stays).map_or(all, |lamp| lamp.stale & all);
            let count = self.draws.len() as u32 + faces.count_ones();
            if count > self.limits.tiles_drawn && !self.draws.is_empty() {
                continue;
            }
            let has_tiles = match known {
                Some(lamp) if lamp.side == *side => true,
                Some(_) => self.resize(request, *side) || *reason == Reason::Changed,
                None => self.insert(request, *side),
            };
            if has_tiles {
                self.draw(request, faces);
            }
        }
        self.updates = updates;
    }

    /// Adds a light. Returns false if there is no room.
    fn insert(&mut self, request: &ShadowRequest, side: u32) -> bool {
        let mut side = side;
        let tiles = loop {
            match self.allocate(side, request.shape.faces()) {
                Some(tiles) => break tiles,
                None if side > self.limits.least_side() => side /= 2,
                None => return false,
            }
        };
        let lamp = LampShadow {
            shape: request.shape,
            side,
            tiles,
            to_clip: [Mat4::IDENTITY; FACES],
            sphere: request.shape.sphere(),
            stale: 0,
            waits_since: None,
            shown: self.frame,
        };
        self.lamps.insert(request.key, lamp);
        true
    }

    /// Replaces a light's tiles by others with a side. Returns false if there is no room; the light
    /// then keeps its tiles.
    fn resize(&mut self, request: &ShadowRequest, side: u32) -> bool {
        loop {
            let Some(lamp) = self.lamps.get_mut(&request.key) else { return false };
            // The new tiles may be where the old ones are.
            let before = self.tiles.clone();
            lamp.tiles.iter().for_each(|tile| self.tiles.release(*tile));
            if let Some(tiles) = allocate(&mut self.tiles, side, request.shape.faces()) {
                (lamp.side, lamp.tiles) = (side, tiles);
                return true;
            }
            self.tiles = before;
            if !self.forget_hidden() {
                return false;
            }
        }
    }

    /// Takes tiles. If there is no room, tiles of lights that are in no view are freed, those that
    /// were shown least recently first.
    fn allocate(&mut self, side: u32, count: usize) -> Option<Vec<Tile>> {
        loop {
            let tiles = allocate(&mut self.tiles, side, count);
            if tiles.is_some() || !self.forget_hidden() {
                return tiles;
            }
        }
    }

    /// Forgets the light that was shown least recently, and not in this frame. Returns false if
    /// there is none.
    fn forget_hidden(&mut self) -> bool {
        let hidden = self.lamps.iter().filter(|(_, lamp)| lamp.shown < self.frame);
        let Some(key) = hidden.min_by_key(|(_, lamp)| lamp.shown).map(|(key, _)| *key) else {
            return false;
        };
        self.retain(|other| *other != key);
        true
    }

    /// Limits the number of lights in no view that are kept.
    fn limit_kept(&mut self) {
        while self.lamps.len() > LIGHTS_KEPT_MAX && self.forget_hidden() {}
    }

    /// Draws tiles of a light as it is now: those with a bit in `faces`; if the light has changed,
    /// all of them.
    fn draw(&mut self, request: &ShadowRequest, faces: u8) {
        let Some(lamp) = self.lamps.get_mut(&request.key) else { return };
        lamp.shape = request.shape;
        lamp.sphere = request.shape.sphere();
        lamp.stale &= !faces;
        lamp.waits_since = None;
        for face in (0..lamp.tiles.len()).filter(|face| faces & 1 << face != 0) {
            let to_clip = request.shape.to_clip(face, lamp.side);
            lamp.to_clip[face] = to_clip;
            let rectangle = self.tiles.rectangle(lamp.tiles[face]);
            let is_omni = request.shape.cone.is_none();
            self.draws.push(TileDraw { key: request.key, is_omni, face, to_clip, rectangle });
        }
    }

    /// Appends the tiles of a light for its shader. Returns metres for each texel at a distance of
    /// one metre; `None`: it has no shadow.
    pub fn tiles_of(&self, key: &ShadowKey, to: &mut Vec<TileUniform>) -> Option<f32> {
        let lamp = self.lamps.get(key)?;
        let whole = self.tiles.side() as f32;
        for (tile, to_clip) in lamp.tiles.iter().zip(&lamp.to_clip) {
            let [left, top, side] = self.tiles.rectangle(*tile).map(|number| number as f32 / whole);
            let rectangle = [left, top, side, lamp.shape.near()];
            to.push(TileUniform { to_clip: to_clip.to_cols_array_2d(), rectangle });
        }
        Some(lamp.shape.width(lamp.side) / lamp.side as f32)
    }
}

impl LampShadow {
    fn mark_stale(&mut self, changed: &[LightSphere]) {
        let all = self.shape.all_faces();
        let mut sides: Option<Vec<[Vec4; 6]>> = None;
        for LightSphere { center, radius } in changed {
            if self.stale & all == all {
                return;
            }
            let reach = self.sphere.radius + radius;
            if self.sphere.center.distance_squared(*center) > reach * reach {
                continue;
            }
            let faces = &self.to_clip[..self.shape.faces()];
            let sides = sides.get_or_insert_with(|| faces.iter().map(planes).collect());
            for (face, planes) in sides.iter().enumerate() {
                if intersects_planes(*center, *radius, planes) {
                    self.stale |= 1 << face;
                }
            }
        }
    }
}

/// Takes all of some tiles with a side, or none of them.
fn allocate(from: &mut TileAllocator, side: u32, count: usize) -> Option<Vec<Tile>> {
    let tiles: Vec<Tile> = (0..count).map_while(|_| from.allocate(side)).collect();
    if tiles.len() == count {
        return Some(tiles);
    }
    tiles.into_iter().for_each(|tile| from.release(tile));
    None
}

/// Joins the requests of the same light, and sorts them, the most important first.
fn merge(requests: &mut Vec<ShadowRequest>) {
    requests.sort_by(|a, b| a.key.cmp(&b.key).then(a.rank.total_cmp(&b.rank)));
    requests.dedup_by(|other, first| {
        let is_same = other.key == first.key;
        if is_same {
            first.side = first.side.max(other.side);
        }
        is_same
    });
    requests.sort_by(|a, b| a.rank.total_cmp(&b.rank).then(a.key.cmp(&b.key)));
}

#[cfg(test)]
#[path = "shadow_atlas_tests.rs"]
mod tests;
