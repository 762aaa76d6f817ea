//! Textures generated at run time. They exist as long as the game runs.

use super::*;

impl Textures {
    /// Adds a generated square picture under a name that no file has. `rgba` contains sRGB bytes,
    /// premultiplied by alpha; `side` is its side in texels.
    pub fn add_runtime_texture(
        &mut self,
        name: &str,
        side: u32,
        rgba: Vec<u8>,
    ) -> Result<TextureNumber, Error> {
        if self.entries.len() >= TEXTURES_MAX {
            return Err(error!("{TEXTURES_MAX} textures were requested (TEXTURES_MAX)"));
        }
        let slot = self.take_slot()?;
        let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
        let format = TexelFormat::Rgba8Srgb;
        let (levels, bytes) = mipmaps::chain(format, side, side, rgba);
        let (size, start) = (bytes.len() as u64, 0);
        let bytes = bytes.into();
        let texels =
            TextureTexels { width: side, height: side, levels, format, sampling, bytes, start };
        self.queue.push(TextureChange::Set { slot, texels });
        let paint = QuadInstance::paint(paint::TEXTURE, 0, 0);
        let (width, height, loaded) = (side, side, true);
        let entry =
            TextureEntry { slot, paint, uv: WHOLE_TEXTURE, width, height, sampling, loaded };
        let held = RendererTexture { entry, region: None, bytes: size, has_normals: false };
        Ok(self.add(name.to_string(), TextureOrigin::Nothing, Some(held), entry))
    }
}
