//! Sources: the texture or material that fills a bitmap or another shape. Scripts look a source up
//! by its name once and then use its number. Knows no file names; the caller looks names up and
//! adds the result here.

use super::{GuiMode, Guis};
use engine_frame_packet::gui::{MovedSource, ObjectChange, QuadInstance, SourceTransform, paint};
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::texture::TextureSlot;

/// Index of a source in the table of a [`Guis`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SourceNumber(pub u32);

/// Predefined source for plain color.
pub const PLAIN: SourceNumber = SourceNumber(0);

/// Maximum number of sources: one for each name that scripts have drawn with.
pub const SOURCES_MAX: usize = 1 << 16;

/// Texture and material that fill a shape.
#[derive(Clone, PartialEq, Debug)]
pub struct TextureSource {
    /// Name that the source was looked up by.
    pub name: String,
    pub material: MaterialSlot,
    /// Separate texture of the source, or [`TextureSlot::SHARED`].
    pub texture: TextureSlot,
    /// Value of [`QuadInstance::paint`] without a transform.
    pub paint: u32,
    /// Left, bottom, right and top in the texture; the bottom of a whole image is 1.
    pub uv: [f32; 4],
    /// Width and height in texels.
    pub size: [f32; 2],
}

impl TextureSource {
    /// Plain color.
    pub const PLAIN: TextureSource = TextureSource {
        name: String::new(),
        material: MaterialSlot::BUILT_IN,
        texture: TextureSlot::SHARED,
        paint: QuadInstance::paint(paint::SOLID, 0, 0),
        uv: [0.0, 1.0, 1.0, 0.0],
        size: [1.0, 1.0],
    };

    fn transform(&self) -> SourceTransform {
        let TextureSource { material, texture, paint, uv, .. } = *self;
        SourceTransform { material, texture, paint, uv }
    }

    /// Returns true if the source is part of an atlas, where its neighbors belong to other sources.
    pub fn is_shared(&self) -> bool {
        self.paint & 15 == paint::ATLAS
    }

    /// Returns the texture coordinates of the part from `from` (top left) to `to` (bottom right),
    /// each 0 to 1, v down the image.
    pub fn part(&self, from: [f32; 2], to: [f32; 2]) -> [f32; 4] {
        let [left, bottom, right, top] = self.uv;
        let u = |at: f32| left + (right - left) * at;
        let v = |at: f32| top + (bottom - top) * at;
        [u(from[0]), v(to[1]), u(to[0]), v(from[1])]
    }

    /// Converts fractions of the source's width and height to texture coordinates.
    pub fn span(&self, size: [f32; 2]) -> [f32; 2] {
        let [left, bottom, right, top] = self.uv;
        [(right - left).abs() * size[0], (bottom - top).abs() * size[1]]
    }
}

impl Guis {
    /// Adds a source.
    pub fn add_source(&mut self, source: TextureSource) -> Result<SourceNumber, String> {
        if let Some(free) = self.free_sources.pop() {
            self.sources[free.0 as usize] = source;
            return Ok(free);
        }
        if self.sources.len() >= SOURCES_MAX {
            return Err(format!(
                "{SOURCES_MAX} textures and materials are already in use (SOURCES_MAX)"
            ));
        }
        self.sources.push(source);
        Ok(SourceNumber(self.sources.len() as u32 - 1))
    }

    /// Returns the source with a number, or `None` if the number is invalid.
    pub fn source(&self, number: SourceNumber) -> Option<&TextureSource> {
        self.sources.get(number.0 as usize)
    }

    /// Returns the number of sources, without released ones.
    pub fn source_count(&self) -> usize {
        self.sources.len() - self.free_sources.len()
    }

    /// Replaces sources. Objects of retained Guis that use them are updated.
    pub fn change_sources(&mut self, changed: Vec<(SourceNumber, TextureSource)>) {
        let mut moved = Vec::new();
        for (number, source) in changed {
            let known = &mut self.sources[number.0 as usize];
            let (from, to) = (known.transform(), source.transform());
            *known = source;
            if from != to {
                moved.push(MovedSource { source: number.0, from, to, ended: false });
            }
        }
        self.send_moved_sources(&moved);
    }

    /// Releases sources; their numbers will be reused. Objects that still use them show plain
    /// color.
    pub fn end_sources(&mut self, numbers: &[SourceNumber]) {
        let mut moved = Vec::new();
        for number in numbers {
            let known = &mut self.sources[number.0 as usize];
            let (from, to) = (known.transform(), TextureSource::PLAIN.transform());
            *known = TextureSource::PLAIN;
            moved.push(MovedSource { source: number.0, from, to, ended: true });
            self.free_sources.push(*number);
        }
        self.send_moved_sources(&moved);
    }

    fn send_moved_sources(&mut self, moved: &[MovedSource]) {
        if moved.is_empty() {
            return;
        }
        for (_, gui) in self.guis.iter_mut() {
            // The batch key of the source has changed.
            gui.last = None;
            if gui.desc.mode == GuiMode::Retained {
                let (first, count) = (gui.moved.len() as u32, moved.len() as u32);
                gui.moved.extend_from_slice(moved);
                gui.changes.push(ObjectChange::Move { first, count });
            }
        }
    }
}
