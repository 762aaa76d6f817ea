//! Sources: what bitmaps, and everything with a material, is filled with. Scripts know one by a
//! small number that the name was once looked up for. Knows no names of files; who looks them up
//! puts what was found in here.

use super::{Guis, Mode};
use crate::packet::gui::{Change, Instance, Moved, Stand, paint};
use crate::packet::material::MaterialSlot;
use crate::packet::texture::TextureSlot;

/// A source's place in the table of a [`Guis`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SourceNumber(pub u32);

/// The source that is there from the start: colour alone.
pub const PLAIN: SourceNumber = SourceNumber(0);

/// The most sources: as many as names that scripts ever drew with.
pub const SOURCES_MAX: usize = 1 << 16;

/// What something is filled with.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    /// By which it was found.
    pub name: String,
    pub material: MaterialSlot,
    /// Its own texture, or [`TextureSlot::SHARED`].
    pub texture: TextureSlot,
    /// [`Instance::paint`] without a transform.
    pub paint: u32,
    /// Left, bottom, right and top in the texture; the bottom of a whole picture is 1.
    pub uv: [f32; 4],
    /// Width and height in texels.
    pub size: [f32; 2],
}

impl Source {
    /// Colour alone.
    pub const PLAIN: Source = Source {
        name: String::new(),
        material: MaterialSlot::BUILT_IN,
        texture: TextureSlot::SHARED,
        paint: Instance::paint(paint::SOLID, 0, 0),
        uv: [0.0, 1.0, 1.0, 0.0],
        size: [1.0, 1.0],
    };

    fn stand(&self) -> Stand {
        let Source { material, texture, paint, uv, .. } = *self;
        Stand { material, texture, paint, uv }
    }

    /// Whether a part of an atlas is all it has: what lies beyond is another's.
    pub fn is_shared(&self) -> bool {
        self.paint & 15 == paint::ATLAS
    }

    /// The part from `from` (left top) to `to` (right bottom), each 0 to 1, v down the picture.
    pub fn part(&self, from: [f32; 2], to: [f32; 2]) -> [f32; 4] {
        let [left, bottom, right, top] = self.uv;
        let u = |at: f32| left + (right - left) * at;
        let v = |at: f32| top + (bottom - top) * at;
        [u(from[0]), v(to[1]), u(to[0]), v(from[1])]
    }

    /// So much of its width and height in its texture.
    pub fn span(&self, size: [f32; 2]) -> [f32; 2] {
        let [left, bottom, right, top] = self.uv;
        [(right - left).abs() * size[0], (bottom - top).abs() * size[1]]
    }
}

impl Guis {
    /// Adds a source.
    pub fn add_source(&mut self, source: Source) -> Result<SourceNumber, String> {
        if let Some(free) = self.free_sources.pop() {
            self.sources[free.0 as usize] = source;
            return Ok(free);
        }
        if self.sources.len() >= SOURCES_MAX {
            return Err(format!(
                "{SOURCES_MAX} textures and materials were drawn with already (SOURCES_MAX)"
            ));
        }
        self.sources.push(source);
        Ok(SourceNumber(self.sources.len() as u32 - 1))
    }

    /// The source of a number; none where the number is wrong.
    pub fn source(&self, number: SourceNumber) -> Option<&Source> {
        self.sources.get(number.0 as usize)
    }

    /// How many sources there are, ended ones not counted.
    pub fn source_count(&self) -> usize {
        self.sources.len() - self.free_sources.len()
    }

    /// Sources are something else from now on: what retained Guis show of them follows.
    pub fn change_sources(&mut self, anew: Vec<(SourceNumber, Source)>) {
        let mut moved = Vec::new();
        for (number, source) in anew {
            let known = &mut self.sources[number.0 as usize];
            let (from, to) = (known.stand(), source.stand());
            *known = source;
            if from != to {
                moved.push(Moved { source: number.0, from, to, ended: false });
            }
        }
        self.tell_moved(&moved);
    }

    /// Ends sources, whose numbers will be given to others. What still shows them shows colour
    /// alone.
    pub fn end_sources(&mut self, numbers: &[SourceNumber]) {
        let mut moved = Vec::new();
        for number in numbers {
            let known = &mut self.sources[number.0 as usize];
            let (from, to) = (known.stand(), Source::PLAIN.stand());
            *known = Source::PLAIN;
            moved.push(Moved { source: number.0, from, to, ended: true });
            self.free_sources.push(*number);
        }
        self.tell_moved(&moved);
    }

    fn tell_moved(&mut self, moved: &[Moved]) {
        if moved.is_empty() {
            return;
        }
        for (_, gui) in self.guis.iter_mut() {
            // Its key is not what it was.
            gui.last = None;
            if gui.making.mode == Mode::Retained {
                let (first, count) = (gui.moved.len() as u32, moved.len() as u32);
                gui.moved.extend_from_slice(moved);
                gui.changes.push(Change::Move { first, count });
            }
        }
    }
}
