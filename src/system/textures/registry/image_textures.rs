//! Textures made of images of scripts, and the pictures of textures for such images.

use super::*;
use crate::resource::{ImportSettings, build};
use crate::to_image;
use engine_resource::image::{DecodedImage, Image};
use engine_resource::resource_kind::kind_names;

/// Settings of a texture made of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageTextureSettings {
    /// True for nearest filtering. `None`: the default of the game's settings.
    pub nearest: Option<bool>,
    pub wrap: WrapMode,
    /// True for mip levels.
    pub mips: bool,
    /// True if the texels are numbers and not colors.
    pub data: bool,
}

impl Textures {
    /// Makes a texture of an image, or exchanges the one that was made under this name. It never
    /// shares the atlas, so that it can be exchanged in each frame.
    ///
    /// # Errors
    /// Returns an error if another texture has the name, if the image is too large, or if there are
    /// too many textures.
    pub fn set_image(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
        image: Image,
        settings: ImageTextureSettings,
    ) -> Result<(), Error> {
        engine_foundation::owner!("textures/images");
        if name.is_empty() {
            return Err(error!("a texture needs a name, to be shown by"));
        }
        let known = self.by_name.get(name).copied().filter(|_| self.is_image(name));
        if known.is_none() {
            if self.is_taken(store, name) {
                return Err(error!("the texture '{name}' already exists: use another name"));
            }
            if self.entries.len() >= TEXTURES_MAX {
                return Err(error!("{TEXTURES_MAX} textures were requested (TEXTURES_MAX)"));
            }
        }
        let filter = match settings.nearest {
            None => FilterMode::Default,
            Some(false) => FilterMode::Linear,
            Some(true) => FilterMode::Nearest,
        };
        let import = ImportSettings {
            filter,
            wrap: settings.wrap,
            mips: Some(settings.mips),
            data: settings.data,
            atlas: Some(false),
            ..ImportSettings::DEFAULT
        };
        // The pixels, their mip levels, and the copy for the renderer.
        let bytes = image.width as usize * image.height as usize * 4;
        engine_foundation::memory::limit::check_room(bytes.saturating_mul(3))?;
        let data: SharedBytes = build(DecodedImage::Image(image), &import)?.into();
        let old = known.and_then(|number| self.records[number.0 as usize].held);
        let held = self.queue_texels(&data, 0..data.len(), name, old)?;
        match known {
            None => {
                self.add(name.to_string(), TextureOrigin::Image, Some(held), held.entry);
            }
            Some(number) => {
                let index = number.0 as usize;
                self.records[index].held = Some(held);
                self.entries[index] = held.entry;
                self.version += 1;
            }
        }
        Ok(())
    }

    /// Returns true if a name is that of a file, of a frame, or of another texture.
    fn is_taken(&mut self, store: &mut ResourceStore, name: &str) -> bool {
        let of_sheet = |(at, _)| store.has(&ResourceName::new(kind_names::SHEET, &name[..at]));
        let in_sheet = name.rmatch_indices('/').any(of_sheet);
        self.by_name.contains_key(name)
            || store.has(&color_key::resource_of(store, name).0)
            || in_sheet && self.find(store, name).is_ok()
    }

    /// Returns true if a texture was made of an image under this name.
    pub fn is_image(&self, name: &str) -> bool {
        let number = self.by_name.get(name);
        number.is_some_and(|number| self.records[number.0 as usize].source == TextureOrigin::Image)
    }

    /// Returns width, height and texels of a texture's picture, or of a sheet's frame: red, green,
    /// blue, alpha, one byte each, sRGB colors not multiplied by alpha, rows from the top.
    ///
    /// # Errors
    /// Returns an error if there is no such texture, or if its texels have no bytes of colors.
    pub fn read_picture(
        &mut self,
        store: &mut ResourceStore,
        name: &str,
    ) -> Result<(u32, u32, Vec<u8>), Error> {
        let (resource, _) = color_key::resource_of(store, name);
        if store.has(&resource) {
            let bytes = color_key::read(store, name)?;
            return contain(&resource, || to_image::picture(&bytes));
        }
        if self.is_image(name) {
            return Err(error!(
                "the texture '{name}' was made of an image: use that image, or a copy of it"
            ));
        }
        let number = self.find(store, name)?;
        let TextureOrigin::Frame { sheet, frame } = &self.records[number.0 as usize].source else {
            return Err(error!("the texture '{name}' has no file that can be read"));
        };
        let LoadedSheet { name: sheet, sheet: known, .. } = &self.sheets[*sheet];
        let found = known.frames.iter().find(|known| known.name == *frame);
        let picture = found.map(|found| known.pictures[found.picture as usize].clone());
        let picture = picture.ok_or_else(|| error!("there is no frame '{frame}' any more"))?;
        let resource = ResourceName::new(kind_names::SHEET, sheet);
        let bytes = store.read(&resource)?;
        store.evict(std::iter::once(resource.id()));
        contain(&resource, || to_image::picture(&bytes[picture]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_resource::image::PixelFormat;

    const SETTINGS: ImageTextureSettings =
        ImageTextureSettings { nearest: None, wrap: WrapMode::Clamp, mips: true, data: false };

    fn image(width: u32, height: u32) -> Image {
        let pixels = PixelFormat::Bytes(vec![255; (width * height * 4) as usize]);
        Image { width, height, pixels }
    }

    #[test]
    fn an_image_becomes_a_texture_that_keeps_its_slot() {
        let (mut textures, mut store) = (Textures::new(false), ResourceStore::default());
        textures.set_image(&mut store, "made/map", image(8, 4), SETTINGS).unwrap();
        let number = textures.find(&mut store, "made/map").unwrap();
        let before = *textures.entry(number);
        assert_eq!((before.width, before.height), (8, 4));
        textures.set_image(&mut store, "made/map", image(16, 2), SETTINGS).unwrap();
        let after = *textures.entry(number);
        assert_eq!((after.slot, after.width, after.height), (before.slot, 16, 2));
        assert!(textures.is_image("made/map"));
    }

    #[test]
    fn an_unloaded_texture_of_an_image_can_be_created_again() {
        let (mut textures, mut store) = (Textures::new(false), ResourceStore::default());
        textures.set_image(&mut store, "made/map", image(8, 4), SETTINGS).unwrap();
        let number = textures.find(&mut store, "made/map").unwrap();
        textures.unload(number);
        let message = textures.find(&mut store, "made/map").unwrap_err().message;
        assert!(message.contains("make it again, with Image.to_texture"), "{message}");
        textures.set_image(&mut store, "made/map", image(8, 4), SETTINGS).unwrap();
        assert_eq!(textures.find(&mut store, "made/map").unwrap(), number);
        assert!(textures.entry(number).loaded);
    }

    #[test]
    fn an_image_needs_a_name_of_its_own() {
        let (mut textures, mut store) = (Textures::new(false), ResourceStore::default());
        let message =
            textures.set_image(&mut store, "", image(1, 1), SETTINGS).unwrap_err().message;
        assert_eq!(message, "a texture needs a name, to be shown by");
        textures.set_image(&mut store, "made/map", image(8, 4), SETTINGS).unwrap();
        let message = textures.read_picture(&mut store, "made/map").unwrap_err().message;
        assert_eq!(
            message,
            "the texture 'made/map' was made of an image: use that image, or a copy of it"
        );
    }
}
