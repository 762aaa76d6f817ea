//! Differences between two pictures: both scaled to a size that fits next to each other, and the
//! texels that differ.

use crate::picture_scaling::{fitted_size, scale_down};
use engine_resource::image::{DecodedImage, Image, PixelFormat, decode, encode_png, stated_size};

/// Maximum number of texels of a picture that is compared. Larger ones are only named.
const TEXELS_MAX: u64 = 1 << 25;
/// Maximum width and height of a picture that is shown.
const SIDE_MAX: u32 = 512;
/// Color of texels that differ.
const MARK: [u8; 4] = [255, 0, 200, 255];

/// A version of a picture, scaled down if it is large.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownPicture {
    /// Size of the whole picture.
    pub width: u32,
    pub height: u32,
    pub png: Vec<u8>,
}

/// The texels that differ between two pictures of the same size.
#[derive(Clone, Debug, PartialEq)]
pub struct TexelDifference {
    /// Number of texels that differ.
    pub count: u64,
    /// Largest difference of a channel, from 0 to 255.
    pub largest: u8,
    /// The new picture, dark, with bright marks; scaled down if it is large.
    pub png: Vec<u8>,
}

/// Two versions of a picture.
#[derive(Clone, Debug, Default)]
pub struct PictureDifference {
    pub versions: [Option<ShownPicture>; 2],
    /// Absent if the sizes differ, or if there is only one version.
    pub texels: Option<TexelDifference>,
    pub notes: Vec<String>,
}

/// A picture with one byte per channel.
struct RgbaPicture {
    size: (u32, u32),
    rgba: Vec<u8>,
}

/// Compares two versions of a picture. `extension` is in lower case, without the dot.
pub fn compare_pictures(extension: &str, versions: [Option<&[u8]>; 2]) -> PictureDifference {
    let mut found = PictureDifference::default();
    let mut pictures = versions.map(|bytes| match read(bytes?, extension) {
        Ok(picture) => Some(picture),
        Err(message) => {
            found.notes.push(message);
            None
        }
    });
    found.versions = pictures.each_ref().map(|it| it.as_ref().map(RgbaPicture::shown));
    if let [Some(old), Some(new)] = &mut pictures
        && old.size == new.size
    {
        found.texels = Some(compare_texels(old, new));
    }
    found
}

fn read(bytes: &[u8], extension: &str) -> Result<RgbaPicture, String> {
    let texels =
        stated_size(bytes).map_or(0, |(width, height)| u64::from(width) * u64::from(height));
    if texels > TEXELS_MAX {
        return Err(format!(
            "the picture has {texels} texels, and {TEXELS_MAX} are compared at most"
        ));
    }
    match decode(bytes, extension).map_err(|error| error.to_string())? {
        DecodedImage::Image(Image { width, height, pixels }) => {
            let rgba = match pixels {
                PixelFormat::Bytes(bytes) => bytes,
                PixelFormat::Floats(floats) => to_bytes(&floats),
            };
            Ok(RgbaPicture { size: (width, height), rgba })
        }
        DecodedImage::Blocks(_) => {
            Err(format!("a .{extension} with compressed blocks is read only by graphics cards"))
        }
    }
}

/// Converts linear light to bytes for a display, where brighter than white is white.
fn to_bytes(floats: &[f32]) -> Vec<u8> {
    let color = |value: f32| (value.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0).round() as u8;
    let texels = floats.chunks_exact(4);
    let to_texel = |it: &[f32]| {
        [color(it[0]), color(it[1]), color(it[2]), (it[3].clamp(0.0, 1.0) * 255.0).round() as u8]
    };
    texels.flat_map(to_texel).collect()
}

/// Returns the size at which a picture is shown.
fn shown_size((width, height): (u32, u32)) -> (u32, u32) {
    let most = match width >= height {
        true => SIDE_MAX,
        false => (u64::from(SIDE_MAX) * u64::from(width) / u64::from(height)).max(1) as u32,
    };
    fitted_size((width, height), most)
}

fn encode_fitted(rgba: &[u8], size: (u32, u32)) -> Vec<u8> {
    let fitted = shown_size(size);
    match fitted == size {
        true => encode_png(size.0, size.1, rgba),
        false => encode_png(fitted.0, fitted.1, &scale_down(rgba, size, fitted)),
    }
}

impl RgbaPicture {
    fn shown(&self) -> ShownPicture {
        let (width, height) = self.size;
        ShownPicture { width, height, png: encode_fitted(&self.rgba, self.size) }
    }
}

fn compare_texels(old: &RgbaPicture, new: &RgbaPicture) -> TexelDifference {
    let (width, fitted) = (new.size.0 as usize, shown_size(new.size));
    let dark = |texel: &[u8]| -> [u8; 4] {
        let light = texel[..3].iter().map(|part| u32::from(*part)).sum::<u32>() / 3;
        let light = (light * u32::from(texel[3]) / 255 * 2 / 5) as u8;
        [light, light, light, 255]
    };
    let rgba: Vec<u8> = new.rgba.chunks_exact(4).flat_map(dark).collect();
    let mut shown = match fitted == new.size {
        true => rgba,
        false => scale_down(&rgba, new.size, fitted),
    };
    let (mut count, mut largest) = (0, 0);
    let texels = old.rgba.chunks_exact(4).zip(new.rgba.chunks_exact(4));
    for (at, (before, after)) in texels.enumerate() {
        if before == after {
            continue;
        }
        count += 1;
        let parts = before.iter().zip(after);
        largest = parts.map(|(a, b)| a.abs_diff(*b)).fold(largest, u8::max);
        // A single texel stays visible in a picture that is scaled down.
        let (x, y) = ((at % width) as u64, (at / width) as u64);
        let x = x * u64::from(fitted.0) / u64::from(new.size.0);
        let y = y * u64::from(fitted.1) / u64::from(new.size.1);
        let mark = (y * u64::from(fitted.0) + x) as usize * 4;
        shown[mark..mark + 4].copy_from_slice(&MARK);
    }
    TexelDifference { count, largest, png: encode_png(fitted.0, fitted.1, &shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32, change: Option<usize>) -> Vec<u8> {
        let mut rgba = vec![200; (width * height * 4) as usize];
        if let Some(at) = change {
            rgba[at * 4] = 190;
        }
        encode_png(width, height, &rgba)
    }

    fn size_of(png: &[u8]) -> (u32, u32) {
        stated_size(png).unwrap()
    }

    #[test]
    fn texels_that_differ_are_counted_and_marked() {
        let (old, new) = (png(8, 4, None), png(8, 4, Some(9)));
        let found = compare_pictures("png", [Some(&old), Some(&new)]);
        let texels = found.texels.unwrap();
        assert_eq!((texels.count, texels.largest), (1, 10));
        let DecodedImage::Image(Image { pixels: PixelFormat::Bytes(rgba), .. }) =
            decode(&texels.png, "png").unwrap()
        else {
            panic!("a PNG has bytes")
        };
        assert_eq!(rgba[9 * 4..10 * 4], MARK);
        assert!(rgba[..4][0] < 100);
        let same = compare_pictures("png", [Some(&old), Some(&old)]);
        assert_eq!(same.texels.unwrap().count, 0);
    }

    #[test]
    fn one_changed_texel_of_a_large_picture_stays_visible() {
        let (old, new) = (png(1024, 2048, None), png(1024, 2048, Some(1024 * 2000 + 700)));
        let found = compare_pictures("png", [Some(&old), Some(&new)]);
        let shown = found.versions[1].as_ref().unwrap();
        assert_eq!((shown.width, shown.height), (1024, 2048));
        assert_eq!(size_of(&shown.png), (256, 512));
        let texels = found.texels.unwrap();
        let DecodedImage::Image(Image { pixels: PixelFormat::Bytes(rgba), .. }) =
            decode(&texels.png, "png").unwrap()
        else {
            panic!("a PNG has bytes")
        };
        assert_eq!(rgba.chunks_exact(4).filter(|texel| *texel == MARK).count(), 1);
    }

    #[test]
    fn other_sizes_and_damaged_files_have_no_marks() {
        let (old, new) = (png(8, 4, None), png(4, 4, None));
        let found = compare_pictures("png", [Some(&old), Some(&new)]);
        assert!(found.texels.is_none() && found.versions.iter().all(Option::is_some));
        let found = compare_pictures("png", [Some(b"nothing"), Some(&new)]);
        assert!(found.versions[0].is_none() && found.notes.len() == 1, "{:?}", found.notes);
        let found = compare_pictures("png", [None, Some(&new)]);
        assert!(found.notes.is_empty() && found.texels.is_none());
    }
}
