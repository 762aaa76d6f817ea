//! Files of Aseprite's own (.aseprite, .ase; its "File Format Specifications"): frames, visible
//! layers one over the other, durations and tags. Blend modes beside the normal one, and tile maps,
//! are refused, for what would come out is not what the artist saw.

use super::inflate::unpack;
use super::sheet::{Direction, FRAMES_MAX, Source, Tag};
use crate::error;
use crate::foundation::Error;
use crate::resource::image::{Image, Pixels, TEXELS_MAX};

const FILE_MAGIC: u16 = 0xa5e0;
const FRAME_MAGIC: u16 = 0xf1fa;

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| error!("the file is cut short or damaged: copy or save it again"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16, Error> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn i16(&mut self) -> Result<i16, Error> {
        self.u16().map(u16::cast_signed)
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from(self.u16()?) | u32::from(self.u16()?) << 16)
    }

    fn text(&mut self) -> Result<String, Error> {
        let length = self.u16()?;
        Ok(String::from_utf8_lossy(self.take(length.into())?).into_owned())
    }
}

struct Layer {
    name: String,
    visible: bool,
    opacity: u8,
    /// Normal layers have pictures; groups have none, and tile maps cannot be read.
    kind: u16,
    blend: u16,
}

/// A layer's picture in one frame.
#[derive(Clone)]
struct Cel {
    layer: usize,
    x: i32,
    y: i32,
    opacity: u8,
    order: i32,
    picture: Picture,
}

#[derive(Clone)]
enum Picture {
    /// The same as in another frame.
    Linked(usize),
    Texels {
        width: usize,
        height: usize,
        bytes: Vec<u8>,
    },
}

#[derive(Default)]
struct File {
    width: usize,
    height: usize,
    /// Bits of a texel: 32, 16 (grey and alpha) or 8 (palette).
    depth: u16,
    transparent: u8,
    layers: Vec<Layer>,
    /// Visibility of the groups that are open, by their depth.
    groups: Vec<bool>,
    frames: Vec<(f64, Vec<Cel>)>,
    palette: Vec<[u8; 4]>,
    new_palette: bool,
    tags: Vec<Tag>,
    /// Bytes of all cels so far.
    unpacked: usize,
}

/// Reads a file: every frame, named by its number from 1.
pub fn read(bytes: &[u8]) -> Result<Source, Error> {
    let mut all = Bytes(bytes);
    let mut head = Bytes(all.take(128)?);
    head.take(4)?;
    if head.u16()? != FILE_MAGIC {
        return Err(error!("the file is not one of Aseprite's"));
    }
    let count = usize::from(head.u16()?);
    let mut file = File {
        width: head.u16()?.into(),
        height: head.u16()?.into(),
        depth: head.u16()?,
        ..File::default()
    };
    let layers_have_opacity = head.u32()? & 1 == 1;
    head.take(10)?;
    file.transparent = head.u8()?;
    if !matches!(file.depth, 8 | 16 | 32) {
        return Err(error!("the file is damaged: it has {} bits a texel", file.depth));
    }
    let texels = file.width as u64 * file.height as u64 * count as u64;
    if texels == 0 || texels > TEXELS_MAX || count > FRAMES_MAX {
        return Err(error!(
            "its {count} frames of {} x {} are none, or more than {FRAMES_MAX} (FRAMES_MAX) or \
             {TEXELS_MAX} texels in all (TEXELS_MAX)",
            file.width, file.height
        ));
    }
    for _ in 0..count {
        let size = all.u32()? as usize;
        let mut frame = Bytes(all.take(size.saturating_sub(4))?);
        if frame.u16()? != FRAME_MAGIC {
            return Err(error!("the file is damaged: a frame does not begin as one"));
        }
        frame.take(2)?;
        let milliseconds = f64::from(frame.u16()?.max(1));
        file.frames.push((milliseconds, Vec::new()));
        frame.take(6)?;
        while !frame.0.is_empty() {
            let size = frame.u32()? as usize;
            let kind = frame.u16()?;
            let mut chunk = Bytes(frame.take(size.saturating_sub(6))?);
            file.chunk(kind, &mut chunk, layers_have_opacity)?;
        }
    }
    file.check_shown()?;
    let frames = (0..count).map(|index| {
        let pixels = Pixels::Bytes(file.flatten(index)?);
        let (width, height) = (file.width as u32, file.height as u32);
        Ok(((index + 1).to_string(), file.frames[index].0, Image { width, height, pixels }))
    });
    Ok(Source { frames: frames.collect::<Result<_, Error>>()?, tags: file.tags.clone() })
}

impl File {
    fn chunk(&mut self, kind: u16, chunk: &mut Bytes, opacity: bool) -> Result<(), Error> {
        match kind {
            0x2004 => self.layer(chunk, opacity),
            0x2005 => self.cel(chunk),
            0x2018 => self.read_tags(chunk),
            0x2019 => self.read_palette(chunk),
            0x0004 if !self.new_palette => self.old_palette(chunk),
            _ => Ok(()),
        }
    }

    fn layer(&mut self, chunk: &mut Bytes, has_opacity: bool) -> Result<(), Error> {
        let (flags, kind, depth) = (chunk.u16()?, chunk.u16()?, chunk.u16()?);
        chunk.take(4)?;
        let (blend, opacity) = (chunk.u16()?, chunk.u8()?);
        chunk.take(3)?;
        let name = chunk.text()?;
        self.groups.truncate(depth.into());
        // A layer for reference (64) is shown in the editor alone.
        let visible = flags & 1 == 1 && flags & 64 == 0 && self.groups.iter().all(|shown| *shown);
        self.groups.push(visible);
        let opacity = if has_opacity { opacity } else { 255 };
        self.layers.push(Layer { name, visible, opacity, kind, blend });
        Ok(())
    }

    fn cel(&mut self, chunk: &mut Bytes) -> Result<(), Error> {
        let layer = usize::from(chunk.u16()?);
        let (x, y) = (i32::from(chunk.i16()?), i32::from(chunk.i16()?));
        let (opacity, kind, z) = (chunk.u8()?, chunk.u16()?, i32::from(chunk.i16()?));
        chunk.take(5)?;
        let shown = self.layers.get(layer);
        let shown = shown.ok_or_else(|| error!("the file is damaged: a layer is missing"))?;
        if !shown.visible {
            return Ok(());
        }
        if shown.blend != 0 || shown.kind == 2 || kind == 3 {
            let what = if shown.blend != 0 { "a blend mode that is not normal" } else { "tiles" };
            return Err(error!(
                "layer '{}' has {what}, which cannot be read: flatten it, or export JSON and PNG",
                shown.name
            ));
        }
        let picture = match kind {
            1 => Picture::Linked(chunk.u16()?.into()),
            _ => {
                let (width, height) = (usize::from(chunk.u16()?), usize::from(chunk.u16()?));
                let size = width * height * usize::from(self.depth / 8);
                self.unpacked += size;
                if self.unpacked as u64 > TEXELS_MAX * 4 {
                    return Err(error!(
                        "its layers have more than {TEXELS_MAX} texels in all (TEXELS_MAX)"
                    ));
                }
                let bytes = match kind {
                    0 => chunk.take(size)?.to_vec(),
                    2 => unpack(chunk.0, size)?,
                    _ => return Err(error!("the file is damaged: a cel is of kind {kind}")),
                };
                Picture::Texels { width, height, bytes }
            }
        };
        let order = layer as i32 + z;
        let cels = &mut self.frames.last_mut().expect("a chunk is in a frame").1;
        cels.push(Cel { layer, x, y, opacity, order, picture });
        Ok(())
    }

    fn read_tags(&mut self, chunk: &mut Bytes) -> Result<(), Error> {
        let count = chunk.u16()?;
        chunk.take(8)?;
        for _ in 0..count {
            let (from, to) = (u32::from(chunk.u16()?), u32::from(chunk.u16()?));
            let direction = match chunk.u8()? {
                0 => Direction::Forward,
                1 => Direction::Reverse,
                2 => Direction::PingPong,
                3 => Direction::PingPongReverse,
                other => return Err(error!("the file is damaged: a tag has direction {other}")),
            };
            let repeat = chunk.u16()?.into();
            chunk.take(10)?;
            let name = chunk.text()?;
            self.tags.push(Tag { name, from, to, direction, repeat });
        }
        Ok(())
    }

    fn read_palette(&mut self, chunk: &mut Bytes) -> Result<(), Error> {
        self.new_palette = true;
        let _size = chunk.u32()?;
        let (first, last) = (chunk.u32()? as usize, chunk.u32()? as usize);
        chunk.take(8)?;
        // A texel has a byte for its place in the palette.
        if last > 255 && self.depth == 8 || first > last {
            return Err(error!("the file is damaged: it has colours {first} to {last}"));
        }
        for index in first..=last {
            let named = chunk.u16()? & 1 == 1;
            let color = chunk.take(4)?;
            self.set_color(index, color.try_into().expect("four bytes"));
            if named {
                chunk.text()?;
            }
        }
        Ok(())
    }

    fn old_palette(&mut self, chunk: &mut Bytes) -> Result<(), Error> {
        let mut index = 0;
        for _ in 0..chunk.u16()? {
            index += usize::from(chunk.u8()?);
            let count = chunk.u8()?;
            for _ in 0..if count == 0 { 256 } else { u32::from(count) } {
                let color = chunk.take(3)?;
                self.set_color(index, [color[0], color[1], color[2], 255]);
                index += 1;
            }
        }
        Ok(())
    }

    fn set_color(&mut self, index: usize, color: [u8; 4]) {
        if index > 255 {
            return;
        }
        if self.palette.len() <= index {
            self.palette.resize(index + 1, [0, 0, 0, 255]);
        }
        self.palette[index] = color;
    }

    /// The colour of a texel of a cel.
    fn color(&self, bytes: &[u8], texel: usize) -> Result<[u8; 4], Error> {
        Ok(match self.depth {
            32 => bytes[texel * 4..texel * 4 + 4].try_into().expect("four bytes"),
            16 => {
                let (grey, alpha) = (bytes[texel * 2], bytes[texel * 2 + 1]);
                [grey, grey, grey, alpha]
            }
            _ if bytes[texel] == self.transparent => [0; 4],
            _ => {
                let index = usize::from(bytes[texel]);
                let found = self.palette.get(index).copied();
                found.ok_or_else(|| error!("the file is damaged: it has no colour {index}"))?
            }
        })
    }

    /// All visible layers of a frame, one over the other.
    fn flatten(&self, frame: usize) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; self.width * self.height * 4];
        let mut cels: Vec<&Cel> = self.frames[frame].1.iter().collect();
        cels.sort_by_key(|cel| (cel.order, cel.layer));
        for cel in cels {
            let Picture::Texels { width, height, bytes } = self.picture(cel)? else { continue };
            let opacity = u32::from(cel.opacity) * u32::from(self.layers[cel.layer].opacity) / 255;
            let columns = inside(cel.x, *width, self.width);
            for y in inside(cel.y, *height, self.height) {
                for x in columns.clone() {
                    let (to_x, to_y) = (cel.x + x as i32, cel.y + y as i32);
                    let color = self.color(bytes, y * width + x)?;
                    let at = (to_y as usize * self.width + to_x as usize) * 4;
                    over(&mut out[at..at + 4], color, opacity);
                }
            }
        }
        Ok(out)
    }

    /// Refuses more texels on each other than a picture can have: a linked cel has next to no bytes
    /// in the file, and is shown in full.
    fn check_shown(&self) -> Result<(), Error> {
        let mut texels = 0;
        for cel in self.frames.iter().flat_map(|(_, cels)| cels) {
            let Picture::Texels { width, height, .. } = self.picture(cel)? else { continue };
            let columns = inside(cel.x, *width, self.width).len();
            texels += (columns * inside(cel.y, *height, self.height).len()) as u64;
        }
        if texels > TEXELS_MAX {
            return Err(error!(
                "its layers show more than {TEXELS_MAX} texels in all frames (TEXELS_MAX)"
            ));
        }
        Ok(())
    }

    /// The texels of a cel, or of the one in an earlier frame that it is linked to.
    fn picture<'a>(&'a self, cel: &'a Cel) -> Result<&'a Picture, Error> {
        let Picture::Linked(frame) = cel.picture else { return Ok(&cel.picture) };
        let cels = self.frames.get(frame).map(|frame| &frame.1);
        let found = cels.and_then(|cels| cels.iter().find(|known| known.layer == cel.layer));
        match found.map(|found| &found.picture) {
            Some(picture @ Picture::Texels { .. }) => Ok(picture),
            _ => Err(error!("the file is damaged: a cel is linked to nothing")),
        }
    }
}

/// The part of a cel's `size` columns or rows, from `at`, that lies in a picture of `whole`.
fn inside(at: i32, size: usize, whole: usize) -> std::ops::Range<usize> {
    let first = at.min(0).unsigned_abs() as usize;
    let end = (whole as i64 - i64::from(at)).clamp(0, size as i64) as usize;
    first.min(end)..end
}

/// Puts a colour over another; alpha is not multiplied in, before and after.
fn over(below: &mut [u8], color: [u8; 4], opacity: u32) {
    let alpha = f32::from(color[3]) * opacity as f32 / (255.0 * 255.0);
    let behind = f32::from(below[3]) / 255.0;
    let sum = alpha + behind * (1.0 - alpha);
    if sum <= 0.0 {
        return;
    }
    for (part, color) in below.iter_mut().zip(&color[..3]) {
        let mixed = f32::from(*color) * alpha + f32::from(*part) * behind * (1.0 - alpha);
        *part = (mixed / sum + 0.5) as u8;
    }
    below[3] = (sum * 255.0 + 0.5) as u8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_of_a_cel_inside_the_picture_is_walked() {
        assert_eq!(inside(0, 5, 9), 0..5);
        assert_eq!(inside(-2, 5, 2), 2..4);
        assert_eq!(inside(7, 5, 9), 0..2);
        assert!(inside(9, 5, 9).is_empty() && inside(-5, 5, 9).is_empty());
        assert!(inside(-32_768, 65_535, 1).len() == 1 && inside(32_767, 65_535, 1).is_empty());
    }

    #[test]
    fn linked_cels_that_show_more_than_a_picture_can_have_are_refused() {
        let cel = |picture| Cel { layer: 0, x: 0, y: 0, opacity: 255, order: 0, picture };
        let (width, height) = (4096, 4096);
        let bytes = vec![0; width * height];
        let first = vec![cel(Picture::Texels { width, height, bytes })];
        let linked = |count| vec![cel(Picture::Linked(0)); count];
        let file = |count| File {
            width,
            height,
            depth: 8,
            frames: vec![(1.0, first.clone()), (1.0, linked(count))],
            ..File::default()
        };
        assert!(file(7).check_shown().is_ok());
        assert_eq!(
            file(8).check_shown().unwrap_err().message,
            "its layers show more than 134217728 texels in all frames (TEXELS_MAX)"
        );
    }
}
