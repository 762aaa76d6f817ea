//! Regions of walkable spans: a watershed of the distances to edges, from the widest parts down.
//! No region covers a column twice, so that the outline of a region is a plane polygon. After
//! L. Vincent and P. Soille, "Watersheds in Digital Spaces" (1991).

use super::compact::{CompactField, NONE};
use super::{BakeCells, NULL_AREA};

/// Region of spans that belong to none.
pub(super) const NO_REGION: u16 = 0;
/// Bit of the regions outside of the tile, one for each side.
pub(super) const BORDER: u16 = 0x8000;
/// Maximum number of regions of a tile.
const REGIONS_MAX: usize = 0x7ff0;
/// Rounds of growth of regions for each level of the watershed.
const GROWTH_ROUNDS: usize = 8;

/// Regions of the spans of a field.
pub(super) struct Regions {
    pub of_span: Vec<u16>,
}

struct Watershed<'a> {
    field: &'a CompactField,
    distances: Vec<u16>,
    regions: Vec<u16>,
    /// Distance to the seed of the region, in half cells.
    from_seed: Vec<u16>,
    count: usize,
    stack: Vec<u32>,
    changes: Vec<(u32, u16, u16)>,
}

/// Divides the field into regions.
///
/// # Errors
/// Returns an error message if there are too many regions.
pub(super) fn build(field: &CompactField, cells: &BakeCells) -> Result<Regions, String> {
    let distances = blur(field, &field.distances());
    let mut watershed = Watershed {
        field,
        distances,
        regions: vec![NO_REGION; field.spans.len()],
        from_seed: vec![0; field.spans.len()],
        count: 0,
        stack: Vec::new(),
        changes: Vec::new(),
    };
    watershed.paint_border(cells.border);
    watershed.flood()?;
    let Watershed { mut regions, count, .. } = watershed;
    super::region_merge::merge(field, &mut regions, count, cells);
    Ok(Regions { of_span: regions })
}

/// Smooths distances, which otherwise have many small maxima.
fn blur(field: &CompactField, distances: &[u16]) -> Vec<u16> {
    let blurred = distances.iter().enumerate().map(|(at, &distance)| {
        if distance <= 2 {
            return distance;
        }
        let mut sum = u32::from(distance);
        for side in 0..4 {
            let near = field.spans[at].neighbors[side];
            if near == NONE {
                sum += u32::from(distance) * 2;
                continue;
            }
            sum += u32::from(distances[near as usize]);
            let far = field.spans[near as usize].neighbors[(side + 1) & 3];
            sum += u32::from(if far == NONE { distance } else { distances[far as usize] });
        }
        ((sum + 5) / 9) as u16
    });
    blurred.collect()
}

impl Watershed<'_> {
    /// Gives the spans outside of the tile the region of their side.
    fn paint_border(&mut self, border: usize) {
        if border == 0 {
            return;
        }
        let (width, depth) = (self.field.width, self.field.depth);
        for y in 0..depth {
            for x in 0..width {
                let side = if x < border {
                    0
                } else if y >= depth - border {
                    1
                } else if x >= width - border {
                    2
                } else if y < border {
                    3
                } else {
                    continue;
                };
                for at in self.field.range(y * width + x) {
                    if self.field.areas[at] != NULL_AREA {
                        self.regions[at] = BORDER | (side + 1);
                    }
                }
            }
        }
    }

    fn flood(&mut self) -> Result<(), String> {
        let order = self.spans_by_level();
        let mut pending: Vec<u32> = Vec::new();
        for (level, bucket) in order.into_iter().enumerate().rev() {
            if bucket.is_empty() {
                continue;
            }
            pending.extend(bucket);
            self.grow(&mut pending, GROWTH_ROUNDS);
            for &at in &pending {
                if self.regions[at as usize] == NO_REGION {
                    self.start_region(at, level as u16 * 2)?;
                }
            }
            pending.retain(|at| self.regions[*at as usize] == NO_REGION);
        }
        self.grow(&mut pending, usize::MAX);
        // A column that is covered by the only region around leaves its other span alone.
        while let Some(&at) = pending.first() {
            self.new_region(at)?;
            pending.remove(0);
            self.grow(&mut pending, usize::MAX);
        }
        Ok(())
    }

    /// Returns the spans without a region by their distance to an edge, two distances a bucket.
    fn spans_by_level(&self) -> Vec<Vec<u32>> {
        let highest = self.distances.iter().copied().max().unwrap_or(0);
        let mut buckets = vec![Vec::new(); usize::from(highest) / 2 + 1];
        for (at, distance) in self.distances.iter().enumerate() {
            if self.field.areas[at] != NULL_AREA && self.regions[at] == NO_REGION {
                buckets[usize::from(*distance) / 2].push(at as u32);
            }
        }
        buckets
    }

    fn new_region(&mut self, at: u32) -> Result<u16, String> {
        self.count += 1;
        if self.count > REGIONS_MAX {
            return Err(format!(
                "a tile has more than {REGIONS_MAX} regions: make tiles smaller or cells larger"
            ));
        }
        self.regions[at as usize] = self.count as u16;
        self.from_seed[at as usize] = 0;
        Ok(self.count as u16)
    }

    /// Returns true if the column of a span has a span of this region.
    fn covers_column(&self, at: usize, region: u16) -> bool {
        let range = self.field.range(self.field.spans[at].column as usize);
        range.len() > 1 && self.regions[range].contains(&region)
    }

    /// Lets regions grow into the pending spans, and removes those that got a region.
    fn grow(&mut self, pending: &mut Vec<u32>, rounds: usize) {
        for _ in 0..rounds {
            if pending.is_empty() {
                return;
            }
            self.changes.clear();
            for &at in pending.iter() {
                let mut best = (NO_REGION, u16::MAX);
                for near in self.field.spans[at as usize].neighbors {
                    if near == NONE {
                        continue;
                    }
                    let near = near as usize;
                    let region = self.regions[near];
                    if region != NO_REGION
                        && region & BORDER == 0
                        && self.field.areas[near] == self.field.areas[at as usize]
                        && self.from_seed[near].saturating_add(2) < best.1
                        && !self.covers_column(at as usize, region)
                    {
                        best = (region, self.from_seed[near].saturating_add(2));
                    }
                }
                if best.0 != NO_REGION {
                    self.changes.push((at, best.0, best.1));
                }
            }
            if self.changes.is_empty() {
                return;
            }
            for i in 0..self.changes.len() {
                let (at, region, distance) = self.changes[i];
                if !self.covers_column(at as usize, region) {
                    self.regions[at as usize] = region;
                    self.from_seed[at as usize] = distance;
                }
            }
            pending.retain(|at| self.regions[*at as usize] == NO_REGION);
        }
    }

    /// Starts a region at a span, and fills the spans that touch no other region and are at least
    /// `lowest` half cells from edges.
    fn start_region(&mut self, at: u32, lowest: u16) -> Result<(), String> {
        if self.touches_region(at, NO_REGION) {
            return Ok(());
        }
        let region = self.new_region(at)?;
        self.stack.clear();
        self.stack.push(at);
        while let Some(at) = self.stack.pop() {
            for near in self.field.spans[at as usize].neighbors {
                if near == NONE {
                    continue;
                }
                let near_span = near as usize;
                let free = self.regions[near_span] == NO_REGION
                    && self.field.areas[near_span] == self.field.areas[at as usize]
                    && self.distances[near_span] >= lowest
                    && !self.covers_column(near_span, region)
                    && !self.touches_region(near, region);
                if free {
                    self.regions[near_span] = region;
                    self.from_seed[near_span] = 0;
                    self.stack.push(near);
                }
            }
        }
        Ok(())
    }

    /// Returns true if one of the eight neighbours of a span has another region.
    fn touches_region(&self, at: u32, own: u16) -> bool {
        let area = self.field.areas[at as usize];
        let other = |near: u32| {
            near != NONE && {
                let region = self.regions[near as usize];
                region != NO_REGION
                    && region != own
                    && region & BORDER == 0
                    && self.field.areas[near as usize] == area
            }
        };
        (0..4).any(|side| {
            let near = self.field.spans[at as usize].neighbors[side];
            other(near) || other(self.field.diagonal(at as usize, side, (side + 1) & 3))
        })
    }
}
