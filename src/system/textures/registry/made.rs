//! Pictures that are made and not read: they are there as long as the game runs.

use super::*;

impl Textures {
    /// Takes a square picture in that was made, under a name that no file has: sRGB bytes, alpha
    /// multiplied in, `side` texels a side.
    pub fn add_made(
        &mut self,
        name: &str,
        side: u32,
        rgba: Vec<u8>,
    ) -> Result<TextureNumber, Error> {
        if self.entries.len() >= TEXTURES_MAX {
            return Err(error!("{TEXTURES_MAX} textures were asked for (TEXTURES_MAX)"));
        }
        let slot = self.take_slot()?;
        let sampling = Sampling { nearest: false, wrap: Wrap::Clamp };
        let format = Format::Rgba8Srgb;
        let (levels, bytes) = texels::chain(format, side, side, rgba);
        let (size, start) = (bytes.len() as u64, 0);
        let bytes = bytes.into();
        let texels = Texels { width: side, height: side, levels, format, sampling, bytes, start };
        self.queue.push(TextureChange::Put { slot, texels });
        let paint = Instance::paint(paint::TEXTURE, 0, 0);
        let (width, height, loaded) = (side, side, true);
        let entry = Entry { slot, paint, uv: WHOLE, width, height, sampling, loaded };
        let held = Held { entry, place: None, bytes: size };
        Ok(self.add(name.to_string(), Source::Nothing, Some(held), entry))
    }
}
