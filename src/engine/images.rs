//! Images of scripts: textures made of pixels, PNG files of them, and pixels of frames.

use super::screenshots::{CAPTURES_MAX, NOTHING_DRAWN, file_of};
use super::{Assets, Drawing, OpenedGame};
use engine_foundation::{Error, error};
use engine_frame_packet::ViewTarget;
use engine_render::RenderedImage;
use engine_resource::image::{Image, PixelFormat};
use engine_textures::ImageTextureSettings;
use std::path::PathBuf;

/// Name of the folder with a game's images, in its save folder.
const IMAGES: &str = "images";

impl Drawing {
    /// Makes a texture of an image, or exchanges the one that was made under this name.
    ///
    /// # Errors
    /// Returns an error if another texture has the name, if the image is too large for a texture,
    /// or if there are too many textures.
    pub fn set_image_texture(
        &mut self,
        assets: &mut Assets,
        name: &str,
        image: RenderedImage,
        settings: ImageTextureSettings,
    ) -> Result<(), Error> {
        if assets.targets.find(name).is_some() {
            return Err(error!(
                "the texture '{name}' is drawn into by a Gui or a viewport: use another name"
            ));
        }
        let Assets { textures, store, .. } = assets;
        let RenderedImage { width, height, rgba } = image;
        let image = Image { width, height, pixels: PixelFormat::Bytes(rgba) };
        textures.set_image(store, name, image, settings)?;
        // Guis that draw with the texture follow it.
        self.refresh_sources(assets);
        Ok(())
    }

    /// Writes an image as a PNG into the save folder, on another thread. Returns the path of the
    /// file, or a message if the run has no save folder.
    ///
    /// # Errors
    /// Returns an error if the name is invalid, or if too many files are being written.
    pub fn save_image(
        &mut self,
        game: &OpenedGame,
        name: &str,
        image: RenderedImage,
    ) -> Result<Result<PathBuf, String>, Error> {
        let file = file_of(game, IMAGES, name, "an image")?;
        let Ok(file) = file else { return Ok(file) };
        if self.captures.writers() >= CAPTURES_MAX {
            return Err(error!(
                "{CAPTURES_MAX} images are being written (CAPTURES_MAX): wait for some frames"
            ));
        }
        self.captures.write(file.clone(), image);
        Ok(Ok(file))
    }

    /// Requests an image of this frame for the game, and returns its number, or a message if the
    /// run draws nothing.
    ///
    /// # Errors
    /// Returns an error if too many captures are in progress.
    pub fn capture_image(&mut self) -> Result<Result<u64, String>, Error> {
        if !self.builder.is_shown {
            return Ok(Err(NOTHING_DRAWN.to_string()));
        }
        self.captures.check_room()?;
        let number = self.captures.request(ViewTarget::Screen);
        self.captures.for_scripts.push(number);
        Ok(Ok(number))
    }

    /// Takes a finished image that the game requested, or the message that explains its failure.
    /// Returns `None` while it is not finished.
    ///
    /// # Errors
    /// Returns an error if the game did not request it, or has taken it.
    pub fn take_image(
        &mut self,
        number: f64,
    ) -> Result<Option<Result<RenderedImage, String>>, Error> {
        let requested = &mut self.captures.for_scripts;
        let Some(at) = requested.iter().position(|known| *known as f64 == number) else {
            return Err(error!(
                "{number} is no capture of Image.capture, or its image was returned already"
            ));
        };
        let known = requested[at];
        let taken = self.captures.take(known);
        if taken.is_some() {
            self.captures.for_scripts.swap_remove(at);
        }
        Ok(taken)
    }
}
