//! Registry of all glyphs used so far: their measurements, and their position in the atlas or on a
//! page. A glyph gets an atlas slot when it is first shown. Its distance field is generated at the
//! end of the frame, by tasks.

use super::PREWARMED_PER_FRAME;
use super::bitmap_font::BitmapFont;
use super::font::{Font, GlyphSource};
use super::glyph_atlas::{AtlasSlot, GLYPH_LAYERS_MAX, GlyphAtlas, SLOT_SIDE_MAX};
use super::glyph_outline::GlyphOutline;
use super::sdf::{SdfCell, field};
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, log};
use engine_frame_packet::gui::{QuadInstance, paint};
use engine_frame_packet::text::{FontPage, PageNumber, TextStyle};
use engine_frame_packet::texture::{
    ATLAS_SIDE, GLYPH_SPREAD, SamplerSettings, TexelFormat, TextureChange, TextureTexels, WrapMode,
};
use std::collections::{HashMap, VecDeque};

/// Texels of the atlas per em. This resolves the strokes of dense ideographs, and three channels
/// keep the corners sharp at any size.
pub const TEXELS_PER_EM: f32 = 48.0;
const _: () = assert!(TextStyle::FIELD_EXTENT * TEXELS_PER_EM == GLYPH_SPREAD);
/// Represents a character that no font has, in place of a font and a glyph.
pub const MISSING: (u32, u32) = (u32::MAX, 0);
/// Width, height and line thickness of the box that is shown for a missing character, and its
/// advance, in ems.
const MISSING_BOX: [f32; 4] = [0.5, 0.72, 0.06, 0.62];

/// State of a glyph's picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GlyphState {
    /// The glyph has no ink, for example a space.
    Blank,
    /// The glyph is in the atlas or on a page.
    Ready,
    /// The glyph has no slot in the atlas.
    Unplaced,
}

/// Measurements of a glyph that the layout needs. Lengths are in ems, relative to the pen.
#[derive(Clone, Copy, Debug)]
pub struct Glyph {
    pub advance: f32,
    /// Left, bottom, right and top of the visible part.
    pub ink: [f32; 4],
    /// Texture coordinates of `ink` in the atlas or page.
    pub uv: [f32; 4],
    /// Texels per em. `texel` is the inverse: ems per texel.
    pub texels: f32,
    pub texel: f32,
    /// Number of texels that the distance field extends beyond the ink.
    pub room: f32,
    /// Size of a texel in texture coordinates.
    pub uv_texel: [f32; 2],
    pub paint: u32,
    pub page: PageNumber,
    /// Number of the frame that last showed the glyph.
    pub used: u32,
    pub state: GlyphState,
}

/// Rarely used data of a glyph: its origin and its slot.
struct GlyphOrigin {
    font: u32,
    id: u32,
    slot: Option<AtlasSlot>,
    /// True if a retained object shows the glyph. Its slot is never evicted.
    retained: bool,
    /// True while its distance field is queued for generation.
    is_queued: bool,
}

/// All glyphs used so far, the atlas, and the pages of bitmap fonts.
pub struct GlyphRegistry {
    pub all: Vec<Glyph>,
    sources: Vec<GlyphOrigin>,
    known: HashMap<(u32, u32), u32>,
    atlas: GlyphAtlas,
    queued: Vec<u32>,
    prewarmed: VecDeque<u32>,
    pages: Vec<FontPage>,
    pub frame: u32,
    /// Changes whenever a glyph loses its slot.
    pub version: u64,
    full_logged: bool,
}

impl Default for GlyphRegistry {
    fn default() -> GlyphRegistry {
        GlyphRegistry {
            all: Vec::new(),
            sources: Vec::new(),
            known: HashMap::new(),
            atlas: GlyphAtlas::default(),
            queued: Vec::new(),
            prewarmed: VecDeque::new(),
            pages: Vec::new(),
            frame: 1,
            version: 0,
            full_logged: false,
        }
    }
}

/// One distance field to generate.
struct SdfJob<'a> {
    fonts: &'a [Font],
    font: u32,
    id: u32,
    texels: f32,
    cell: SdfCell,
    bytes: Vec<u8>,
}

impl GlyphRegistry {
    /// Creates a registry whose atlas has at most `layers` layers, for tests.
    #[cfg(test)]
    pub fn of_layers(layers: u32) -> GlyphRegistry {
        GlyphRegistry { atlas: GlyphAtlas::of_layers(layers), ..GlyphRegistry::default() }
    }

    /// Returns the index of a glyph by its font and number. Measures the glyph at the first
    /// request.
    pub fn of(&mut self, fonts: &[Font], font: u32, id: u32) -> u32 {
        if let Some(index) = self.known.get(&(font, id)) {
            return *index;
        }
        let glyph = match fonts.get(font as usize).map(|font| &font.body) {
            None => measure(Some(&missing_box()), MISSING_BOX[3]),
            Some(GlyphSource::Outlines(face)) => {
                measure(face.outline(id).as_ref(), face.advance(id).clamp(-64.0, 64.0))
            }
            Some(GlyphSource::Pages(pages)) => pages.glyph(id),
        };
        let index = self.all.len() as u32;
        self.all.push(glyph);
        self.sources.push(GlyphOrigin { font, id, slot: None, retained: false, is_queued: false });
        self.known.insert((font, id), index);
        index
    }

    /// Returns the font of a glyph and the glyph's number in that font.
    pub fn source(&self, index: u32) -> (u32, u32) {
        let source = &self.sources[index as usize];
        (source.font, source.id)
    }

    /// Adds the pages of a font and returns the number of the first.
    pub fn add_pages(&mut self, font: &BitmapFont) -> u32 {
        let first = self.pages.len() as u32 + 1;
        let (width, height) = (font.page_width, font.page_height);
        let pages = font.pages.iter();
        self.pages.extend(pages.map(|name| FontPage { texture: name.clone(), width, height }));
        first
    }

    pub fn page(&self, page: PageNumber) -> &FontPage {
        &self.pages[page.0 as usize - 1]
    }

    /// Allocates a slot in the atlas for a glyph that has none. Returns true if the glyph can be
    /// drawn.
    #[cold]
    pub fn allocate_slot(&mut self, index: u32) -> bool {
        let glyph = &self.all[index as usize];
        if glyph.state != GlyphState::Unplaced {
            return glyph.state == GlyphState::Ready;
        }
        let (frame, cell) = (self.frame, cell_of(glyph));
        let (all, sources) = (&self.all, &self.sources);
        let age = |other: u32| {
            let used = all[other as usize].used;
            (used < frame && !sources[other as usize].retained).then_some(used)
        };
        let mut evicted = Vec::new();
        let slot = self.atlas.take(cell.width, cell.height, index, age, &mut evicted);
        for evicted_glyph in evicted {
            self.all[evicted_glyph as usize].state = GlyphState::Unplaced;
            self.sources[evicted_glyph as usize].slot = None;
            self.version += 1;
        }
        let Some(slot) = slot else {
            if !std::mem::replace(&mut self.full_logged, true) {
                log::warning(&format!(
                    "the atlas of glyphs is full ({GLYPH_LAYERS_MAX} layers, GLYPH_LAYERS_MAX), \
                     and \
                     everything in it is in use: further glyphs are not shown"
                ));
            }
            return false;
        };
        self.assign_slot(index, cell, slot);
        true
    }

    fn assign_slot(&mut self, index: u32, cell: SdfCell, slot: AtlasSlot) {
        let glyph = &mut self.all[index as usize];
        let [left, bottom, right, top] = glyph.ink.map(|length| length * glyph.texels);
        let high = (cell.bottom + cell.height as i32) as f32;
        let (x, y) = (slot.x as f32 - cell.left as f32, slot.y as f32 + high);
        let uv = [x + left, y - bottom, x + right, y - top];
        glyph.uv = uv.map(|texel| texel / ATLAS_SIDE as f32);
        glyph.paint = QuadInstance::paint(paint::GLYPH, slot.layer, 0);
        glyph.state = GlyphState::Ready;
        glyph.used = self.frame;
        self.sources[index as usize].slot = Some(slot);
        self.queue(index);
    }

    fn queue(&mut self, index: u32) {
        if !std::mem::replace(&mut self.sources[index as usize].is_queued, true) {
            self.queued.push(index);
        }
    }

    /// Marks a glyph as shown by a retained object.
    pub fn mark_retained(&mut self, index: u32) {
        self.sources[index as usize].retained = true;
    }

    /// Queues a glyph to be generated in one of the next frames.
    pub fn prewarm(&mut self, index: u32) {
        if self.all[index as usize].state == GlyphState::Unplaced {
            self.prewarmed.push_back(index);
        }
    }

    /// Removes the glyphs of a font. Glyphs shown by retained objects keep their slots.
    pub fn remove_glyphs_of(&mut self, font: u32) {
        self.known.retain(|(of, _), _| *of != font);
        for (index, source) in self.sources.iter_mut().enumerate() {
            if source.font == font && !source.retained {
                if let Some(slot) = source.slot.take() {
                    self.atlas.release(slot);
                }
                self.all[index].state = GlyphState::Blank;
            }
        }
        self.version += 1;
    }

    /// Queues every distance field to be generated and sent again, because the GPU lost them.
    pub fn send_again(&mut self) {
        for index in 0..self.sources.len() {
            if self.sources[index].slot.is_some() {
                self.queue(index as u32);
            }
        }
    }

    /// Generates the glyphs that this frame showed for the first time, and some prewarmed ones.
    pub fn flush(
        &mut self,
        fonts: &[Font],
        pool: &TaskPool,
        changes: &mut Vec<TextureChange>,
    ) -> Result<(), Error> {
        for _ in 0..PREWARMED_PER_FRAME {
            let Some(index) = self.prewarmed.pop_front() else { break };
            self.allocate_slot(index);
        }
        let queued = std::mem::take(&mut self.queued);
        let mut jobs = Vec::with_capacity(queued.len());
        let mut slots = Vec::with_capacity(queued.len());
        for index in queued {
            let source = &mut self.sources[index as usize];
            source.is_queued = false;
            let Some(slot) = source.slot else { continue };
            let glyph = &self.all[index as usize];
            let (font, id, texels) = (source.font, source.id, glyph.texels);
            jobs.push(SdfJob { fonts, font, id, texels, cell: cell_of(glyph), bytes: Vec::new() });
            slots.push(slot);
        }
        make(pool, &mut jobs)?;
        for (job, slot) in jobs.into_iter().zip(slots) {
            let texels = TextureTexels {
                width: job.cell.width,
                height: job.cell.height,
                levels: 1,
                format: TexelFormat::Rgba8,
                sampling: SamplerSettings { nearest: false, wrap: WrapMode::Clamp },
                bytes: job.bytes.into(),
                start: 0,
            };
            changes.push(TextureChange::Glyph { layer: slot.layer, x: slot.x, y: slot.y, texels });
        }
        Ok(())
    }
}

/// Weight of one distance field as a number of ordinary items. Distance fields are costly enough to
/// use threads at small counts.
const ITEMS_EACH_FIELD: usize = 100;

fn make(pool: &TaskPool, jobs: &mut [SdfJob]) -> Result<(), Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    pool.tasks(jobs.len() * ITEMS_EACH_FIELD)?.scope(|scope| {
        let mut graph = scope.graph();
        graph.add_slices("glyphs", jobs, |_, piece| piece.iter_mut().for_each(SdfJob::run));
        graph.run().finish()
    })
}

impl SdfJob<'_> {
    fn run(&mut self) {
        let outline = match self.fonts.get(self.font as usize).map(|font| &font.body) {
            None => Some(missing_box()),
            Some(GlyphSource::Outlines(face)) => face.outline(self.id),
            Some(GlyphSource::Pages(_)) => None,
        };
        self.bytes = match outline {
            Some(outline) => field(&outline.scaled(self.texels), self.cell),
            None => vec![0; (self.cell.width * self.cell.height * 4) as usize],
        };
    }
}

fn missing_box() -> GlyphOutline {
    let [width, height, line, _] = MISSING_BOX;
    GlyphOutline::frame(width, height, line)
}

/// Returns the measurements of an outline. Outlines that are too large for a slot get fewer texels
/// per em.
fn measure(outline: Option<&GlyphOutline>, advance: f32) -> Glyph {
    let ink = outline.and_then(GlyphOutline::bounds);
    let [left, bottom, right, top] = ink.unwrap_or([0.0; 4]);
    let room = 2.0 * (GLYPH_SPREAD.ceil() + 2.0);
    let most = (right - left).max(top - bottom);
    let texels = TEXELS_PER_EM.min((SLOT_SIDE_MAX as f32 - room) / most.max(f32::MIN_POSITIVE));
    // An outline a hundred times larger than its em is shown poorly but safely. An outline that
    // extends to 1000 ems is not shown.
    let is_sane = [left, bottom, right, top].iter().all(|length| length.abs() < 1000.0);
    Glyph {
        advance,
        ink: ink.unwrap_or([0.0; 4]),
        uv: [0.0; 4],
        texels,
        texel: 1.0 / texels,
        room: GLYPH_SPREAD,
        uv_texel: [1.0 / ATLAS_SIDE as f32; 2],
        paint: 0,
        page: PageNumber::SHARED,
        used: 0,
        state: if ink.is_some() && is_sane { GlyphState::Unplaced } else { GlyphState::Blank },
    }
}

fn cell_of(glyph: &Glyph) -> SdfCell {
    SdfCell::enclosing(glyph.ink.map(|length| length * glyph.texels))
}
