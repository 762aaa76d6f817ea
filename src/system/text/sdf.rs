//! Signed distance fields of glyphs: three channels whose median keeps corners sharp, and the true
//! distance in the fourth. The method follows Viktor Chlumsky, "Shape Decomposition for
//! Multi-channel Distance Fields" (2015). Outlines are flattened into segments, so that a segment
//! only visits the texels that it can be nearest to. Knows no fonts and no atlas.

use super::glyph_outline::{GlyphOutline, OutlineSegment, pieces, winding};
use engine_foundation::Vec2;
use engine_frame_packet::texture::GLYPH_SPREAD;

/// Distance around a segment within which distances are computed, in texels.
const EDGE_RANGE: f32 = GLYPH_SPREAD + 0.1;
/// Maximum distance from the outline at which the median may be on the wrong side, in texels.
/// Corners need this much.
const WRONG_SIDE_MAX: f32 = 0.6;

const CYAN: u8 = 0b110;
const MAGENTA: u8 = 0b101;
const YELLOW: u8 = 0b011;
const WHITE: u8 = 0b111;

/// Rectangle of a distance field, in texels: its bottom left corner relative to the glyph's origin,
/// and its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SdfCell {
    pub left: i32,
    pub bottom: i32,
    pub width: u32,
    pub height: u32,
}

impl SdfCell {
    /// Returns the smallest cell around bounds (left, bottom, right, top in texels) with room for
    /// the distance field.
    pub fn enclosing([left, bottom, right, top]: [f32; 4]) -> SdfCell {
        let room = GLYPH_SPREAD.ceil() as i32 + 1;
        let (left, bottom) = (left.floor() as i32 - room, bottom.floor() as i32 - room);
        let width = (right.ceil() as i32 + room - left) as u32;
        let height = (top.ceil() as i32 + room - bottom) as u32;
        SdfCell { left, bottom, width, height }
    }

    /// Returns the center of a texel. Rows are counted downward.
    fn at(&self, column: u32, row: u32) -> Vec2 {
        let x = self.left as f32 + column as f32 + 0.5;
        Vec2::new(x, self.bottom as f32 + (self.height - row) as f32 - 0.5)
    }
}

/// A segment with its color (a set of channels). `open_a` and `open_b` are true if its line
/// continues beyond that end.
#[derive(Clone, Copy)]
struct ColoredEdge {
    a: Vec2,
    along: Vec2,
    length: f32,
    color: u8,
    open_a: bool,
    open_b: bool,
}

/// The nearest edge of one channel found so far.
#[derive(Clone, Copy)]
struct NearestEdge {
    squared: f32,
    /// Squared sine of the angle between the edge and the line to its nearest point, 0 to 1. The
    /// larger the value, the more reliable the edge's side.
    straight: f32,
    edge: u32,
}

const NO_EDGE: NearestEdge =
    NearestEdge { squared: EDGE_RANGE * EDGE_RANGE, straight: 0.0, edge: u32::MAX };

/// Returns the distance field of an outline in texels: red, green, blue and alpha for each texel of
/// the cell, rows from the top. 128 is on the outline, larger values are inside; [`GLYPH_SPREAD`]
/// texels are half of the range.
pub fn field(outline: &GlyphOutline, cell: SdfCell) -> Vec<u8> {
    let pieces = pieces(outline);
    let edges = color(&pieces.boundary);
    let nearest = nearest(&edges, cell);
    let inside = inside_mask(&pieces.all, cell);
    let mut distances: Vec<[f32; 4]> = nearest
        .iter()
        .zip(&inside)
        .enumerate()
        .map(|(i, (nearest, inside))| {
            let at = cell.at(i as u32 % cell.width, i as u32 / cell.width);
            distances(&edges, nearest, at, *inside)
        })
        .collect();
    correct(&mut distances, cell);
    distances.iter().flat_map(|texel| texel.map(encode)).collect()
}

/// Encodes a distance as a byte.
pub fn encode(distance: f32) -> u8 {
    let part = 0.5 + distance / (2.0 * GLYPH_SPREAD);
    (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

fn median([r, g, b, _]: [f32; 4]) -> f32 {
    r.min(g).max(r.max(g).min(b))
}

/// Assigns a color to every edge: two of the three channels, and a different pair beyond each
/// corner.
fn color(boundary: &[OutlineSegment]) -> Vec<ColoredEdge> {
    let mut edges = Vec::with_capacity(boundary.len());
    for contour in boundary.chunk_by(|p, q| p.contour == q.contour) {
        color_contour(contour, &mut edges);
    }
    edges
}

/// Returns true if a chain of edges ends between two segments: at a corner, or where segments
/// between them were removed.
fn parts(p: &OutlineSegment, q: &OutlineSegment) -> bool {
    p.corner_b || q.corner_a || p.b.distance_squared(q.a) > 1e-6
}

fn color_contour(contour: &[OutlineSegment], edges: &mut Vec<ColoredEdge>) {
    let count = contour.len();
    let before = |i: usize| (i + count - 1) % count;
    let starts: Vec<usize> =
        (0..count).filter(|i| parts(&contour[before(*i)], &contour[*i])).collect();
    let first = starts.first().copied().unwrap_or(0);
    let chains = starts.len();
    let mut chain = 0;
    for k in 0..count {
        let i = (first + k) % count;
        if k > 0 && parts(&contour[before(i)], &contour[i]) {
            chain += 1;
        }
        let color = match chains {
            0 => WHITE,
            // A teardrop has one corner, so its chain is split into three parts.
            1 => [MAGENTA, WHITE, YELLOW][k * 3 / count],
            _ => cyclic(chain, chains),
        };
        let piece = &contour[i];
        let open = |p: usize, q: usize| {
            chains > 0 && parts(&contour[p], &contour[q])
                || chains == 1
                    && p != q
                    && k_of(p, first, count) * 3 / count != k_of(q, first, count) * 3 / count
        };
        let (open_a, open_b) = (open(before(i), i), open(i, (i + 1) % count));
        let along = piece.b - piece.a;
        let length = along.length();
        edges.push(ColoredEdge {
            a: piece.a,
            along: along / length,
            length,
            color,
            open_a,
            open_b,
        });
    }
}

/// Returns the number of segments between the first segment of its contour and a segment.
fn k_of(i: usize, first: usize, count: usize) -> usize {
    (i + count - first) % count
}

/// Returns the color of a chain in a cycle, so that neighbors differ, including the last and the
/// first.
fn cyclic(chain: usize, chains: usize) -> u8 {
    if chain + 1 == chains && chains % 3 == 1 {
        return MAGENTA;
    }
    [CYAN, MAGENTA, YELLOW][chain % 3]
}

/// Returns the nearest edge of each channel, and of all channels, for every texel.
fn nearest(edges: &[ColoredEdge], cell: SdfCell) -> Vec<[NearestEdge; 4]> {
    let mut nearest = vec![[NO_EDGE; 4]; (cell.width * cell.height) as usize];
    for (number, edge) in edges.iter().enumerate() {
        let b = edge.a + edge.along * edge.length;
        let (low, high) = (edge.a.min(b) - EDGE_RANGE, edge.a.max(b) + EDGE_RANGE);
        let column = |x: f32| (x - cell.left as f32 - 0.5).clamp(0.0, cell.width as f32 - 1.0);
        let top = (cell.bottom + cell.height as i32) as f32 - 0.5;
        let row = |y: f32| (top - y).clamp(0.0, cell.height as f32 - 1.0);
        let columns = column(low.x).floor() as usize..=column(high.x).ceil() as usize;
        for row in row(high.y).floor() as u32..=row(low.y).ceil() as u32 {
            let from = cell.at(*columns.start() as u32, row) - edge.a;
            let start = (row * cell.width) as usize;
            let texels = &mut nearest[start + columns.start()..=start + columns.end()];
            visit(texels, edge, number as u32, from);
        }
    }
    nearest
}

/// Offers an edge to the texels of a row. `from` is the vector from the edge's start to the first
/// of them.
fn visit(texels: &mut [[NearestEdge; 4]], edge: &ColoredEdge, number: u32, from: Vec2) {
    for (i, texel) in texels.iter_mut().enumerate() {
        let from = Vec2::new(from.x + i as f32, from.y);
        let (t, aside) = (from.dot(edge.along), edge.along.perp_dot(from));
        let beyond = t - t.clamp(0.0, edge.length);
        let squared = beyond * beyond + aside * aside;
        let [red, green, blue, _] = texel;
        let farthest = red.squared.max(green.squared).max(blue.squared);
        if squared <= farthest + 1e-4 && squared < EDGE_RANGE * EDGE_RANGE {
            keep_nearest(texel, edge.color, number, squared, aside * aside / squared.max(1e-12));
        }
    }
}

/// Records an edge as the nearest of a texel's channels if it is nearer than the current one. At
/// shared ends, `straight` decides: the edge with the larger value has the reliable side.
fn keep_nearest(texel: &mut [NearestEdge; 4], color: u8, number: u32, squared: f32, straight: f32) {
    for (channel, nearest) in texel.iter_mut().enumerate() {
        if channel < 3 && color >> channel & 1 == 0 {
            continue;
        }
        let nearer = squared < nearest.squared - 1e-4;
        let as_near = squared < nearest.squared + 1e-4;
        if nearer || as_near && straight > nearest.straight {
            *nearest = NearestEdge { squared, straight, edge: number };
        }
    }
}

/// Returns for each texel whether its center is inside.
fn inside_mask(all: &[OutlineSegment], cell: SdfCell) -> Vec<bool> {
    let mut inside = Vec::with_capacity((cell.width * cell.height) as usize);
    let mut row_pieces = Vec::new();
    for row in 0..cell.height {
        let y = cell.at(0, row).y;
        row_pieces.clear();
        row_pieces.extend(all.iter().filter(|p| (p.a.y <= y) != (p.b.y <= y)));
        inside.extend(
            (0..cell.width)
                .map(|column| winding(row_pieces.iter().copied(), cell.at(column, row)) != 0),
        );
    }
    inside
}

/// Returns the distances of the three channels and the true distance, in texels, positive inside.
fn distances(
    edges: &[ColoredEdge],
    nearest: &[NearestEdge; 4],
    at: Vec2,
    inside: bool,
) -> [f32; 4] {
    let side = if inside { 1.0 } else { -1.0 };
    let mut out = [side * GLYPH_SPREAD; 4];
    for channel in 0..3 {
        if let Some(edge) = edges.get(nearest[channel].edge as usize) {
            out[channel] = pseudo_distance(edge, nearest[channel].squared, at);
        }
    }
    if nearest[3].edge != u32::MAX {
        out[3] = side * nearest[3].squared.sqrt();
    }
    out.map(|distance| distance.clamp(-GLYPH_SPREAD, GLYPH_SPREAD))
}

/// Returns the distance to an edge whose line continues beyond the ends of its chain.
fn pseudo_distance(edge: &ColoredEdge, squared: f32, at: Vec2) -> f32 {
    let from = at - edge.a;
    let (t, aside) = (from.dot(edge.along), edge.along.perp_dot(from));
    if t < 0.0 && edge.open_a || t > edge.length && edge.open_b {
        return aside;
    }
    squared.sqrt().copysign(aside)
}

/// Returns 1 if all four distances are inside, -1 if all are outside, else 0.
fn side(texel: &[f32; 4]) -> i8 {
    let inside = texel.iter().filter(|distance| **distance > 0.0).count();
    [-1, 0, 0, 0, 1][inside]
}

/// Replaces texels by the true distance where the median would show an artifact, at a texel or
/// between two texels.
fn correct(distances: &mut [[f32; 4]], cell: SdfCell) {
    let wrong = |texel: [f32; 4]| {
        let middle = median(texel);
        texel[3].abs() > WRONG_SIDE_MAX && (middle > 0.0) != (texel[3] > 0.0)
    };
    let (width, height) = (cell.width as usize, cell.height as usize);
    let mut marks = vec![false; distances.len()];
    let sides: Vec<i8> = distances.iter().map(side).collect();
    for i in 0..distances.len() {
        marks[i] |= sides[i] == 0 && wrong(distances[i]);
        let (column, row) = (i % width, i / width);
        let right = (column + 1 < width).then_some(i + 1);
        let down = (row + 1 < height).then_some(i + width);
        let aslant = right.filter(|_| row + 1 < height).map(|i| i + width);
        let back = down.filter(|_| column > 0).map(|i| i - 1);
        for j in [right, down, aslant, back].into_iter().flatten() {
            // If all distances are on one side, so is everything between them.
            if sides[i] == sides[j] && sides[i] != 0 {
                continue;
            }
            let (a, b) = (distances[i], distances[j]);
            let between =
                |part: f32| -> [f32; 4] { std::array::from_fn(|k| a[k] + (b[k] - a[k]) * part) };
            if [0.25, 0.5, 0.75].into_iter().any(|part| wrong(between(part))) {
                // The texel farther from the outline loses less detail.
                marks[if a[3].abs() > b[3].abs() { i } else { j }] = true;
            }
        }
    }
    for (texel, _) in distances.iter_mut().zip(marks).filter(|(_, mark)| *mark) {
        *texel = [texel[3]; 4];
    }
}
