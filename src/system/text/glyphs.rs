//! Every glyph that was ever asked for: its measurements, and where it is in the atlas or on a
//! page. Places are given when a glyph is first shown; the fields are made at the frame's end, by
//! tasks.

use super::PREWARMED_EACH_FRAME;
use super::atlas::{Atlas, GLYPH_LAYERS_MAX, PLACE_SIDE_MAX, Place};
use super::field::{Cell, field};
use super::font::{Body, Font};
use super::outline::Outline;
use super::pages::PageFont;
use crate::foundation::tasks::Pool;
use crate::foundation::{Error, log};
use crate::packet::gui::{Instance, paint};
use crate::packet::text::{Page, PageNumber, Style};
use crate::packet::texture::{
    ATLAS_SIDE, Format, GLYPH_SPREAD, Sampling, Texels, TextureChange, Wrap,
};
use std::collections::{HashMap, VecDeque};

/// Texels of the atlas for each em: enough for the strokes of dense ideographs, and three channels
/// keep the corners sharp at any size.
pub const TEXELS_EACH_EM: f32 = 48.0;
const _: () = assert!(Style::REACH * TEXELS_EACH_EM == GLYPH_SPREAD);
/// Stands for a character that no font has, in place of a font and a glyph.
pub const MISSING: (u32, u32) = (u32::MAX, 0);
/// The width, height and line of the box that is shown for it, and how far the pen moves on, in
/// ems.
const MISSING_BOX: [f32; 4] = [0.5, 0.72, 0.06, 0.62];

/// How a glyph stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// There is nothing to see: a space.
    Blank,
    /// It has a place, in the atlas or on a page.
    Ready,
    /// It has none.
    Away,
}

/// What laying out needs of a glyph. Lengths are in ems, from the pen.
#[derive(Clone, Copy, Debug)]
pub struct Glyph {
    pub advance: f32,
    /// Left, bottom, right and top of what is seen.
    pub ink: [f32; 4],
    /// The same in the atlas or page.
    pub uv: [f32; 4],
    /// Texels for each em, and the other way round.
    pub texels: f32,
    pub texel: f32,
    /// How many texels the field goes beyond the ink.
    pub room: f32,
    /// What a texel is in `uv`.
    pub uv_texel: [f32; 2],
    pub paint: u32,
    pub page: PageNumber,
    /// The frame that showed it last.
    pub used: u32,
    pub state: State,
}

/// What is rarely needed.
struct Source {
    font: u32,
    id: u32,
    place: Option<Place>,
    /// Drawn by something that stays: it keeps its place.
    kept: bool,
    /// Its field is yet to be made.
    waits: bool,
}

/// All glyphs.
pub struct Glyphs {
    pub all: Vec<Glyph>,
    sources: Vec<Source>,
    known: HashMap<(u32, u32), u32>,
    atlas: Atlas,
    waiting: Vec<u32>,
    prewarmed: VecDeque<u32>,
    pages: Vec<Page>,
    pub frame: u32,
    /// Changes whenever a glyph lost its place.
    pub version: u64,
    full_told: bool,
}

impl Default for Glyphs {
    fn default() -> Glyphs {
        Glyphs {
            all: Vec::new(),
            sources: Vec::new(),
            known: HashMap::new(),
            atlas: Atlas::default(),
            waiting: Vec::new(),
            prewarmed: VecDeque::new(),
            pages: Vec::new(),
            frame: 1,
            version: 0,
            full_told: false,
        }
    }
}

/// One field to make.
struct Job<'a> {
    fonts: &'a [Font],
    font: u32,
    id: u32,
    texels: f32,
    cell: Cell,
    bytes: Vec<u8>,
}

impl Glyphs {
    /// The glyphs of an atlas with so few layers, for tests.
    #[cfg(test)]
    pub fn of_layers(layers: u32) -> Glyphs {
        Glyphs { atlas: Atlas::of_layers(layers), ..Glyphs::default() }
    }

    /// A glyph's index, by font and number; it is measured when it is first asked for.
    pub fn of(&mut self, fonts: &[Font], font: u32, id: u32) -> u32 {
        if let Some(index) = self.known.get(&(font, id)) {
            return *index;
        }
        let glyph = match fonts.get(font as usize).map(|font| &font.body) {
            None => measure(Some(&missing_box()), MISSING_BOX[3]),
            Some(Body::Outlines(face)) => {
                measure(face.outline(id).as_ref(), face.advance(id).clamp(-64.0, 64.0))
            }
            Some(Body::Pages(pages)) => pages.glyph(id),
        };
        let index = self.all.len() as u32;
        self.all.push(glyph);
        self.sources.push(Source { font, id, place: None, kept: false, waits: false });
        self.known.insert((font, id), index);
        index
    }

    /// A glyph's font and its number there.
    pub fn source(&self, index: u32) -> (u32, u32) {
        let source = &self.sources[index as usize];
        (source.font, source.id)
    }

    /// Adds a font's pages: the number of the first.
    pub fn add_pages(&mut self, font: &PageFont) -> u32 {
        let first = self.pages.len() as u32 + 1;
        let (width, height) = (font.page_width, font.page_height);
        let pages = font.pages.iter();
        self.pages.extend(pages.map(|name| Page { texture: name.clone(), width, height }));
        first
    }

    pub fn page(&self, page: PageNumber) -> &Page {
        &self.pages[page.0 as usize - 1]
    }

    /// Gives a glyph its place in the atlas; whether it has one now.
    #[cold]
    pub fn show(&mut self, index: u32) -> bool {
        let glyph = &self.all[index as usize];
        if glyph.state != State::Away {
            return glyph.state == State::Ready;
        }
        let (frame, cell) = (self.frame, cell_of(glyph));
        let (all, sources) = (&self.all, &self.sources);
        let age = |other: u32| {
            let used = all[other as usize].used;
            (used < frame && !sources[other as usize].kept).then_some(used)
        };
        let mut gone = Vec::new();
        let place = self.atlas.take(cell.width, cell.height, index, age, &mut gone);
        for before in gone {
            self.all[before as usize].state = State::Away;
            self.sources[before as usize].place = None;
            self.version += 1;
        }
        let Some(place) = place else {
            if !std::mem::replace(&mut self.full_told, true) {
                log::warning(&format!(
                    "the atlas of glyphs is full ({GLYPH_LAYERS_MAX} layers, GLYPH_LAYERS_MAX), \
                     and \
                     everything in it is in use: further glyphs are not shown"
                ));
            }
            return false;
        };
        self.put(index, cell, place);
        true
    }

    fn put(&mut self, index: u32, cell: Cell, place: Place) {
        let glyph = &mut self.all[index as usize];
        let [left, bottom, right, top] = glyph.ink.map(|length| length * glyph.texels);
        let high = (cell.bottom + cell.height as i32) as f32;
        let (x, y) = (place.x as f32 - cell.left as f32, place.y as f32 + high);
        let uv = [x + left, y - bottom, x + right, y - top];
        glyph.uv = uv.map(|texel| texel / ATLAS_SIDE as f32);
        glyph.paint = Instance::paint(paint::GLYPH, place.layer, 0);
        glyph.state = State::Ready;
        glyph.used = self.frame;
        self.sources[index as usize].place = Some(place);
        self.wait(index);
    }

    fn wait(&mut self, index: u32) {
        if !std::mem::replace(&mut self.sources[index as usize].waits, true) {
            self.waiting.push(index);
        }
    }

    /// A glyph is drawn by something that stays.
    pub fn keep(&mut self, index: u32) {
        self.sources[index as usize].kept = true;
    }

    /// Makes a glyph in one of the next frames.
    pub fn prewarm(&mut self, index: u32) {
        if self.all[index as usize].state == State::Away {
            self.prewarmed.push_back(index);
        }
    }

    /// Forgets a font's glyphs. Those that something shows keep their places.
    pub fn forget(&mut self, font: u32) {
        self.known.retain(|(of, _), _| *of != font);
        for (index, source) in self.sources.iter_mut().enumerate() {
            if source.font == font && !source.kept {
                if let Some(place) = source.place.take() {
                    self.atlas.give_back(place);
                }
                self.all[index].state = State::Blank;
            }
        }
        self.version += 1;
    }

    /// Has every field made and sent again: the graphics card lost them.
    pub fn send_again(&mut self) {
        for index in 0..self.sources.len() {
            if self.sources[index].place.is_some() {
                self.wait(index as u32);
            }
        }
    }

    /// Makes what this frame showed for the first time, and some prewarmed glyphs.
    pub fn flush(
        &mut self,
        fonts: &[Font],
        pool: &Pool,
        changes: &mut Vec<TextureChange>,
    ) -> Result<(), Error> {
        for _ in 0..PREWARMED_EACH_FRAME {
            let Some(index) = self.prewarmed.pop_front() else { break };
            self.show(index);
        }
        let waiting = std::mem::take(&mut self.waiting);
        let mut jobs = Vec::with_capacity(waiting.len());
        let mut places = Vec::with_capacity(waiting.len());
        for index in waiting {
            let source = &mut self.sources[index as usize];
            source.waits = false;
            let Some(place) = source.place else { continue };
            let glyph = &self.all[index as usize];
            let (font, id, texels) = (source.font, source.id, glyph.texels);
            jobs.push(Job { fonts, font, id, texels, cell: cell_of(glyph), bytes: Vec::new() });
            places.push(place);
        }
        make(pool, &mut jobs)?;
        for (job, place) in jobs.into_iter().zip(places) {
            let texels = Texels {
                width: job.cell.width,
                height: job.cell.height,
                levels: 1,
                format: Format::Rgba8,
                sampling: Sampling { nearest: false, wrap: Wrap::Clamp },
                bytes: job.bytes.into(),
                start: 0,
            };
            changes.push(TextureChange::Glyph {
                layer: place.layer,
                x: place.x,
                y: place.y,
                texels,
            });
        }
        Ok(())
    }
}

/// Fields are worth threads long before other things are.
const ITEMS_EACH_FIELD: usize = 100;

fn make(pool: &Pool, jobs: &mut [Job]) -> Result<(), Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    pool.tasks(jobs.len() * ITEMS_EACH_FIELD)?.scope(|scope| {
        let mut graph = scope.graph();
        graph.add_slices("glyphs", jobs, |_, piece| piece.iter_mut().for_each(Job::run));
        graph.run().finish()
    })
}

impl Job<'_> {
    fn run(&mut self) {
        let outline = match self.fonts.get(self.font as usize).map(|font| &font.body) {
            None => Some(missing_box()),
            Some(Body::Outlines(face)) => face.outline(self.id),
            Some(Body::Pages(_)) => None,
        };
        self.bytes = match outline {
            Some(outline) => field(&outline.scaled(self.texels), self.cell),
            None => vec![0; (self.cell.width * self.cell.height * 4) as usize],
        };
    }
}

fn missing_box() -> Outline {
    let [width, height, line, _] = MISSING_BOX;
    Outline::frame(width, height, line)
}

/// The measurements of an outline; those that are too large are kept with fewer texels.
fn measure(outline: Option<&Outline>, advance: f32) -> Glyph {
    let ink = outline.and_then(Outline::bounds);
    let [left, bottom, right, top] = ink.unwrap_or([0.0; 4]);
    let room = 2.0 * (GLYPH_SPREAD.ceil() + 2.0);
    let most = (right - left).max(top - bottom);
    let texels = TEXELS_EACH_EM.min((PLACE_SIDE_MAX as f32 - room) / most.max(f32::MIN_POSITIVE));
    // What is a hundred times as large as its font says is not shown well, but is no danger.
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
        state: if ink.is_some() && is_sane { State::Away } else { State::Blank },
    }
}

fn cell_of(glyph: &Glyph) -> Cell {
    Cell::around(glyph.ink.map(|length| length * glyph.texels))
}
