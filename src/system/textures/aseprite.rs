//! Reader of Aseprite files (.aseprite, .ase; its "File Format Specifications"): frames, visible
//! layers flattened, durations and tags. Blend modes other than normal, and tile maps, are
//! rejected, because the result would differ from the artist's picture.

use super::sheet_resource::{FRAMES_MAX, PlayDirection, SheetSource, SheetTag};
use engine_foundation::Error;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_resource::image::{Image, PixelFormat, TEXELS_MAX, check_size};
use engine_resource::inflate::{DeflateFormat, unpack};

const FILE_MAGIC: u16 = 0xa5e0;
const FRAME_MAGIC: u16 = 0xf1fa;

struct AseReader<'a>(&'a [u8]);

impl<'a> AseReader<'a> {
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

struct AseLayer {
    name: String,
    visible: bool,
    opacity: u8,
    /// Type of the layer. Normal layers have pictures, groups have none, and tile maps are not
    /// supported.
    kind: u16,
    blend: u16,
}

/// Picture of a layer in one frame.
#[derive(Clone)]
struct AseCel {
    layer: usize,
    x: i32,
    y: i32,
    opacity: u8,
    order: i32,
    picture: AseFrame,
}

#[derive(Clone)]
enum AseFrame {
    /// The same picture as in another frame, by the frame's index.
    Linked(usize),
    Texels {
        width: usize,
        height: usize,
        bytes: Vec<u8>,
    },
}

#[derive(Default)]
struct AseFile {
    width: usize,
    height: usize,
    /// Bits per texel: 32, 16 (gray and alpha) or 8 (palette).
    depth: u16,
    transparent: u8,
    layers: Vec<AseLayer>,
    /// Visibility of the enclosing groups, by depth.
    groups: Vec<bool>,
    frames: Vec<(f64, Vec<AseCel>)>,
    palette: Vec<[u8; 4]>,
    new_palette: bool,
    tags: Vec<SheetTag>,
    /// Total number of bytes of all cels read so far.
    unpacked: usize,
}

/// Reads a file. Every frame is named by its number from 1.
pub fn read(bytes: &[u8]) -> Result<SheetSource, Error> {
    let mut all = AseReader(bytes);
    let mut head = AseReader(all.take(128)?);
    head.take(4)?;
    if head.u16()? != FILE_MAGIC {
        return Err(error!("the file is not an Aseprite file"));
    }
    let count = usize::from(head.u16()?);
    let mut file = AseFile {
        width: head.u16()?.into(),
        height: head.u16()?.into(),
        depth: head.u16()?,
        ..AseFile::default()
    };
    let layers_have_opacity = head.u32()? & 1 == 1;
    head.take(10)?;
    file.transparent = head.u8()?;
    if !matches!(file.depth, 8 | 16 | 32) {
        return Err(error!("the file is damaged: it has {} bits per texel", file.depth));
    }
    let texels = file.width as u64 * file.height as u64 * count as u64;
    if texels == 0 || texels > TEXELS_MAX || count > FRAMES_MAX {
        return Err(error!(
            "its {count} frames of {} x {} are empty, or more than {FRAMES_MAX} (FRAMES_MAX) or \
             {TEXELS_MAX} texels in all (TEXELS_MAX)",
            file.width, file.height
        ));
    }
    check_size(file.width as u32, file.height as u32)?;
    for _ in 0..count {
        let size = all.u32()? as usize;
        let mut frame = AseReader(all.take(size.saturating_sub(4))?);
        if frame.u16()? != FRAME_MAGIC {
            return Err(error!("the file is damaged: a frame has no valid header"));
        }
        frame.take(2)?;
        let milliseconds = f64::from(frame.u16()?.max(1));
        file.frames.push((milliseconds, Vec::new()));
        frame.take(6)?;
        while !frame.0.is_empty() {
            let size = frame.u32()? as usize;
            let kind = frame.u16()?;
            let mut chunk = AseReader(frame.take(size.saturating_sub(6))?);
            file.chunk(kind, &mut chunk, layers_have_opacity)?;
        }
    }
    file.check_visible_texels()?;
    let frames = (0..count).map(|index| {
        let pixels = PixelFormat::Bytes(file.flatten(index)?);
        let (width, height) = (file.width as u32, file.height as u32);
        Ok(((index + 1).to_string(), file.frames[index].0, Image { width, height, pixels }))
    });
    Ok(SheetSource { frames: frames.collect::<Result<_, Error>>()?, tags: file.tags.clone() })
}

impl AseFile {
    fn chunk(&mut self, kind: u16, chunk: &mut AseReader, opacity: bool) -> Result<(), Error> {
        match kind {
            0x2004 => self.layer(chunk, opacity),
            0x2005 => self.cel(chunk),
            0x2018 => self.read_tags(chunk),
            0x2019 => self.read_palette(chunk),
            0x0004 if !self.new_palette => self.old_palette(chunk),
            _ => Ok(()),
        }
    }

    fn layer(&mut self, chunk: &mut AseReader, has_opacity: bool) -> Result<(), Error> {
        let (flags, kind, depth) = (chunk.u16()?, chunk.u16()?, chunk.u16()?);
        chunk.take(4)?;
        let (blend, opacity) = (chunk.u16()?, chunk.u8()?);
        chunk.take(3)?;
        let name = chunk.text()?;
        self.groups.truncate(depth.into());
        // A reference layer (64) is shown only in the editor.
        let visible =
            flags & 1 == 1 && flags & 64 == 0 && self.groups.iter().all(|visible| *visible);
        self.groups.push(visible);
        let opacity = if has_opacity { opacity } else { 255 };
        self.layers.push(AseLayer { name, visible, opacity, kind, blend });
        Ok(())
    }

    fn cel(&mut self, chunk: &mut AseReader) -> Result<(), Error> {
        let layer = usize::from(chunk.u16()?);
        let (x, y) = (i32::from(chunk.i16()?), i32::from(chunk.i16()?));
        let (opacity, kind, z) = (chunk.u8()?, chunk.u16()?, i32::from(chunk.i16()?));
        chunk.take(5)?;
        let source_layer = self.layers.get(layer);
        let source_layer =
            source_layer.ok_or_else(|| error!("the file is damaged: a layer is missing"))?;
        if !source_layer.visible {
            return Ok(());
        }
        if source_layer.blend != 0 || source_layer.kind == 2 || kind == 3 {
            let unsupported =
                if source_layer.blend != 0 { "a blend mode that is not normal" } else { "tiles" };
            return Err(error!(
                "layer '{}' has {unsupported}, which cannot be read: flatten it, or export JSON \
                 and PNG",
                source_layer.name
            ));
        }
        let picture = match kind {
            1 => AseFrame::Linked(chunk.u16()?.into()),
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
                    2 => unpack(chunk.0, size, DeflateFormat::Zlib)
                        .map_err(|_| error!("its packed texels are damaged: save it again"))?,
                    _ => return Err(error!("the file is damaged: a cel is of kind {kind}")),
                };
                AseFrame::Texels { width, height, bytes }
            }
        };
        let order = layer as i32 + z;
        let cels = &mut self.frames.last_mut().expect("a chunk is in a frame").1;
        cels.push(AseCel { layer, x, y, opacity, order, picture });
        Ok(())
    }

    fn read_tags(&mut self, chunk: &mut AseReader) -> Result<(), Error> {
        let count = chunk.u16()?;
        chunk.take(8)?;
        for _ in 0..count {
            let (from, to) = (u32::from(chunk.u16()?), u32::from(chunk.u16()?));
            let direction = match chunk.u8()? {
                0 => PlayDirection::Forward,
                1 => PlayDirection::Reverse,
                2 => PlayDirection::PingPong,
                3 => PlayDirection::PingPongReverse,
                other => return Err(error!("the file is damaged: a tag has direction {other}")),
            };
            let repeat = chunk.u16()?.into();
            chunk.take(10)?;
            let name = chunk.text()?;
            self.tags.push(SheetTag { name, from, to, direction, repeat });
        }
        Ok(())
    }

    fn read_palette(&mut self, chunk: &mut AseReader) -> Result<(), Error> {
        self.new_palette = true;
        let _size = chunk.u32()?;
        let (first, last) = (chunk.u32()? as usize, chunk.u32()? as usize);
        chunk.take(8)?;
        // A texel stores its palette index in one byte.
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

    fn old_palette(&mut self, chunk: &mut AseReader) -> Result<(), Error> {
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

    /// Returns the color of a texel of a cel.
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

    /// Flattens all visible layers of a frame.
    fn flatten(&self, frame: usize) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; self.width * self.height * 4];
        let mut cels: Vec<&AseCel> = self.frames[frame].1.iter().collect();
        cels.sort_compact_by_key(|cel| (cel.order, cel.layer));
        for cel in cels {
            let AseFrame::Texels { width, height, bytes } = self.cel_frame(cel)? else { continue };
            let opacity = u32::from(cel.opacity) * u32::from(self.layers[cel.layer].opacity) / 255;
            let columns = visible_range(cel.x, *width, self.width);
            for y in visible_range(cel.y, *height, self.height) {
                for x in columns.clone() {
                    let (to_x, to_y) = (cel.x + x as i32, cel.y + y as i32);
                    let color = self.color(bytes, y * width + x)?;
                    let at = (to_y as usize * self.width + to_x as usize) * 4;
                    blend_over(&mut out[at..at + 4], color, opacity);
                }
            }
        }
        Ok(out)
    }

    /// Returns an error if all cels together show more texels than a picture can have. A linked cel
    /// takes almost no bytes in the file, and is shown in full.
    fn check_visible_texels(&self) -> Result<(), Error> {
        let mut texels = 0;
        for cel in self.frames.iter().flat_map(|(_, cels)| cels) {
            let AseFrame::Texels { width, height, .. } = self.cel_frame(cel)? else { continue };
            let columns = visible_range(cel.x, *width, self.width).len();
            texels += (columns * visible_range(cel.y, *height, self.height).len()) as u64;
        }
        if texels > TEXELS_MAX {
            return Err(error!(
                "its layers show more than {TEXELS_MAX} texels in all frames (TEXELS_MAX)"
            ));
        }
        Ok(())
    }

    /// Returns the texels of a cel, or of the cel in another frame that it is linked to.
    fn cel_frame<'a>(&'a self, cel: &'a AseCel) -> Result<&'a AseFrame, Error> {
        let AseFrame::Linked(frame) = cel.picture else { return Ok(&cel.picture) };
        let cels = self.frames.get(frame).map(|frame| &frame.1);
        let found = cels.and_then(|cels| cels.iter().find(|known| known.layer == cel.layer));
        match found.map(|found| &found.picture) {
            Some(picture @ AseFrame::Texels { .. }) => Ok(picture),
            _ => Err(error!("the file is damaged: a cel is linked to nothing")),
        }
    }
}

/// Returns the part of a cel's `size` columns or rows, placed at `at`, that is inside a picture of
/// size `whole`.
fn visible_range(at: i32, size: usize, whole: usize) -> std::ops::Range<usize> {
    let first = at.min(0).unsigned_abs() as usize;
    let end = (whole as i64 - i64::from(at)).clamp(0, size as i64) as usize;
    first.min(end)..end
}

/// Blends a color over another. Neither the inputs nor the result are premultiplied.
fn blend_over(below: &mut [u8], color: [u8; 4], opacity: u32) {
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
    use crate::sheet_resource::PlayDirection;
    use engine_test_support::aseprite::aseprite;

    #[test]
    fn an_aseprite_file_is_a_sheet() {
        let source = read(&aseprite(32)).unwrap();
        let names: Vec<_> = source.frames.iter().map(|(name, ms, _)| (&name[..], *ms)).collect();
        assert_eq!(names, [("1", 70.0), ("2", 30.0)]);
        let texels = |index: usize| match &source.frames[index].2.pixels {
            PixelFormat::Bytes(bytes) => bytes.clone(),
            PixelFormat::Floats(_) => panic!("bytes"),
        };
        assert_eq!(
            texels(0),
            [127, 0, 128, 255, 0, 255, 0, 255],
            "the upper layer lies over the lower"
        );
        assert_eq!(texels(1), [255, 0, 0, 255, 0, 255, 0, 255], "a linked cel is that of frame 1");
        let tag = &source.tags[0];
        assert_eq!((&tag.name[..], tag.from, tag.to), ("go", 0, 1));
        assert_eq!(tag.direction, PlayDirection::Reverse);
        let indexed = read(&aseprite(8)).unwrap();
        let PixelFormat::Bytes(bytes) = &indexed.frames[0].2.pixels else { panic!("bytes") };
        assert_eq!(bytes[..], [255, 0, 0, 255, 0, 0, 0, 0], "colour 0 is the transparent one");
    }

    #[test]
    fn a_broken_aseprite_file_is_an_error() {
        let bytes = aseprite(32);
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length}");
        }
        let mut accepted = 0;
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            accepted += usize::from(read(&bytes).is_ok());
        }
        assert!(accepted > 0, "colours may be any");
        let mut blend = bytes.clone();
        let layer = blend.windows(2).position(|pair| pair == [4, 0x20]).unwrap();
        blend[layer + 12] = 3;
        let message = read(&blend).err().unwrap().message;
        assert_eq!(
            message,
            "layer 'low' has a blend mode that is not normal, which cannot be read: flatten it, or \
             export JSON and PNG"
        );
    }

    #[test]
    fn cels_are_clipped_to_the_image() {
        assert_eq!(visible_range(0, 5, 9), 0..5);
        assert_eq!(visible_range(-2, 5, 2), 2..4);
        assert_eq!(visible_range(7, 5, 9), 0..2);
        assert!(visible_range(9, 5, 9).is_empty() && visible_range(-5, 5, 9).is_empty());
        assert!(
            visible_range(-32_768, 65_535, 1).len() == 1
                && visible_range(32_767, 65_535, 1).is_empty()
        );
    }

    #[test]
    fn an_invalid_size_is_refused_before_frames_are_read() {
        let mut head = vec![0; 128];
        head[4..6].copy_from_slice(&FILE_MAGIC.to_le_bytes());
        for (at, value) in [(6, 2u16), (8, 1026), (10, 32_771), (12, 32)] {
            head[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        let message = read(&head).err().unwrap().message;
        assert!(
            message.starts_with("the picture is 1026 x 32771, and 16384 is the most"),
            "{message}"
        );
    }

    #[test]
    fn linked_cels_beyond_the_size_limit_are_refused() {
        let cel = |picture| AseCel { layer: 0, x: 0, y: 0, opacity: 255, order: 0, picture };
        let (width, height) = (4096, 4096);
        let bytes = vec![0; width * height];
        let first = vec![cel(AseFrame::Texels { width, height, bytes })];
        let linked = |count| vec![cel(AseFrame::Linked(0)); count];
        let file = |count| AseFile {
            width,
            height,
            depth: 8,
            frames: vec![(1.0, first.clone()), (1.0, linked(count))],
            ..AseFile::default()
        };
        assert!(file(7).check_visible_texels().is_ok());
        assert_eq!(
            file(8).check_visible_texels().unwrap_err().message,
            "its layers show more than 134217728 texels in all frames (TEXELS_MAX)"
        );
    }
}
