//! Textures with a transparent color, as tile sets of Tiled have: `tiles#ff00ff` is the texture
//! `tiles`, of which all texels with the color after the `#` are transparent.

use super::*;

/// Maximum number of transparent colors of one picture. Each color is a texture of its own.
pub const TRANSPARENT_COLORS_MAX: usize = 64;

/// Splits the name of a texture with a transparent color.
fn split(name: &str) -> Option<(&str, [u8; 3])> {
    let (of, digits) = name.rsplit_once('#')?;
    let is_color = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let color = u32::from_str_radix(digits, 16).ok().filter(|_| is_color)?;
    let [_, red, green, blue] = color.to_be_bytes();
    Some((of, [red, green, blue]))
}

/// Returns the resource that a texture with this name is loaded from, and its transparent color. A
/// texture whose file has that name takes precedence.
pub(super) fn resource_of(store: &ResourceStore, name: &str) -> (ResourceName, Option<[u8; 3]>) {
    let own = ResourceName::new(kind_names::TEXTURE, name);
    match split(name).filter(|_| !store.has(&own)) {
        Some((of, color)) => (ResourceName::new(kind_names::TEXTURE, of), Some(color)),
        None => (own, None),
    }
}

impl Textures {
    /// Returns an error if a new texture would be one transparent color too many of its picture.
    pub(super) fn check_colors(&self, store: &ResourceStore, name: &str) -> Result<(), Error> {
        let (ResourceName { name: of, .. }, Some(_)) = resource_of(store, name) else {
            return Ok(());
        };
        let is_of_picture = |record: &&TextureRecord| {
            record.source == TextureOrigin::File
                && split(&record.name).is_some_and(|(other, _)| other == of)
        };
        match self.records.iter().filter(is_of_picture).count() < TRANSPARENT_COLORS_MAX {
            true => Ok(()),
            false => Err(error!(
                "the game uses the picture '{of}' with {TRANSPARENT_COLORS_MAX} transparent \
                 colors already (TRANSPARENT_COLORS_MAX): use fewer colors, or save the picture \
                 with transparent texels"
            )),
        }
    }

    /// Returns the indices of the textures of each file, in ascending order. Several textures can
    /// be made of a file, each with another transparent color.
    pub(super) fn textures_of_files(
        &self,
        store: &ResourceStore,
    ) -> HashMap<ResourceName, Vec<usize>> {
        let mut files: HashMap<ResourceName, Vec<usize>> = HashMap::new();
        for (index, record) in self.records.iter().enumerate() {
            if record.source == TextureOrigin::File {
                files.entry(resource_of(store, &record.name).0).or_default().push(index);
            }
        }
        files
    }
}

/// Reads the data of the texture with a name. The renderer owns it from now on; it is read again
/// when it is needed again.
pub(super) fn read(store: &mut ResourceStore, name: &str) -> Result<SharedBytes, Error> {
    let (resource, color) = resource_of(store, name);
    let data = store.read(&resource)?;
    store.evict(std::iter::once(resource.id()));
    let Some(color) = color else { return Ok(data) };
    contain(&resource, || Ok(with_transparent(&data, color)?.into()))
}

/// Returns the data of a texture in which all texels of one color are transparent.
fn with_transparent(data: &[u8], color: [u8; 3]) -> Result<Vec<u8>, Error> {
    let (head, start) = data::read(data)?;
    if head.format != TexelFormat::Rgba8Srgb {
        return Err(error!(
            "a tile set makes a color of it transparent, which only pictures of 8 bits per channel \
             can have: save it as PNG, with transparent texels in place of the color"
        ));
    }
    let size = mipmaps::level_bytes(head.format, head.width, head.height);
    let mut bytes = data[start..start + size].to_vec();
    let [red, green, blue] = color;
    for texel in bytes.chunks_exact_mut(4) {
        if texel == [red, green, blue, 255] {
            texel.fill(0);
        }
    }
    if head.levels > 1 {
        (_, bytes) = mipmaps::chain(head.format, head.width, head.height, bytes);
    }
    if head.small {
        bytes.extend(mipmaps::cell_levels(head.format, head.width, head.height, &bytes));
    }
    // The normals follow the texels.
    bytes.extend_from_slice(&data[start + head.texel_bytes()..]);
    Ok(data::write(&head, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{ImportSettings, build};
    use engine_resource::image::{DecodedImage, Image, PixelFormat};

    #[test]
    fn names_end_with_six_hexadecimal_digits() {
        assert_eq!(split("maps/tiles#ff00fe"), Some(("maps/tiles", [255, 0, 254])));
        for name in ["tiles", "tiles#ff00f", "tiles#ff00fg", "tiles#+f00ff", "tiles#ff00ff0"] {
            assert_eq!(split(name), None, "{name}");
        }
    }

    /// Returns the data of a picture: green, with one texel of the color 0, 0, 255.
    fn picture(side: u32, import: &ImportSettings) -> Vec<u8> {
        let mut bytes = [0, 255, 0, 255].repeat((side * side) as usize);
        bytes[..4].copy_from_slice(&[0, 0, 255, 255]);
        let pixels = PixelFormat::Bytes(bytes);
        build(DecodedImage::Image(Image { width: side, height: side, pixels }), import).unwrap()
    }

    #[test]
    fn texels_of_the_color_become_transparent_in_all_levels() {
        // In the atlas, and with mip levels.
        for side in [4, 1024] {
            let plain = picture(side, &ImportSettings::DEFAULT);
            let keyed = with_transparent(&plain, [0, 0, 255]).unwrap();
            let (head, start) = data::read(&keyed).unwrap();
            assert_eq!((head, keyed.len()), (data::read(&plain).unwrap().0, plain.len()));
            assert_eq!(keyed[start..start + 8], [0, 0, 0, 0, 0, 255, 0, 255]);
            assert!(keyed[start..].chunks_exact(4).all(|texel| texel[2] == 0));
            assert_eq!(with_transparent(&plain, [1, 0, 255]).unwrap(), plain);
        }
    }

    #[test]
    fn pictures_without_colors_are_refused() {
        let numbers = ImportSettings { data: true, ..ImportSettings::DEFAULT };
        let message = with_transparent(&picture(4, &numbers), [0, 0, 255]).unwrap_err().message;
        assert_eq!(
            message,
            "a tile set makes a color of it transparent, which only pictures of 8 bits per channel \
             can have: save it as PNG, with transparent texels in place of the color"
        );
    }
}
