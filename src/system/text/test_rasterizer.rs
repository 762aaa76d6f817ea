//! A software rasterizer for tests and for pictures to inspect: draws quads on the CPU as the
//! renderer's shader does.

use engine_frame_packet::gui::paint;
use engine_frame_packet::text::GlyphQuad;
use engine_frame_packet::texture::{ATLAS_SIDE, GLYPH_SPREAD, TextureChange};
use std::path::Path;

const SIDE: usize = ATLAS_SIDE as usize;

/// Channels of the distance field that a test drawing uses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TestChannels {
    /// The shader's choice: the median, or the true distance where it is better.
    Shader,
    /// The true distance alone.
    Single,
}

/// A copy of the renderer's glyph atlas.
#[derive(Default)]
pub struct TestAtlas {
    layers: Vec<Vec<u8>>,
}

impl TestAtlas {
    /// Applies the changes of a frame and returns the number of glyphs.
    pub fn take(&mut self, changes: &[TextureChange]) -> usize {
        for change in changes {
            let TextureChange::Glyph { layer, x, y, texels } = change else {
                panic!("only glyphs change: {change:?}")
            };
            while self.layers.len() <= *layer as usize {
                self.layers.push(vec![0; SIDE * SIDE * 4]);
            }
            let row_bytes = texels.width as usize * 4;
            for (i, row) in texels.bytes[texels.start..].chunks(row_bytes).enumerate() {
                let at = ((*y as usize + i) * SIDE + *x as usize) * 4;
                self.layers[*layer as usize][at..at + row_bytes].copy_from_slice(row);
            }
        }
        changes.len()
    }

    fn texel(&self, layer: usize, x: i32, y: i32) -> [f32; 4] {
        let clamp = |at: i32| at.clamp(0, SIDE as i32 - 1) as usize;
        let at = (clamp(y) * SIDE + clamp(x)) * 4;
        std::array::from_fn(|i| f32::from(self.layers[layer][at + i]) / 255.0)
    }

    fn sample(&self, layer: usize, u: f32, v: f32) -> [f32; 4] {
        let (x, y) = (u * SIDE as f32 - 0.5, v * SIDE as f32 - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (fx, fy) = (x - left, y - top);
        let (left, top) = (left as i32, top as i32);
        let mix = |a: [f32; 4], b: [f32; 4], t: f32| -> [f32; 4] {
            std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t)
        };
        let upper = mix(self.texel(layer, left, top), self.texel(layer, left + 1, top), fx);
        let lower = mix(self.texel(layer, left, top + 1), self.texel(layer, left + 1, top + 1), fx);
        mix(upper, lower, fy)
    }

    /// Returns the coverage of a point by a quad, with `texels` texels per pixel.
    fn cover(&self, quad: &GlyphQuad, u: f32, v: f32, texels: f32, channels: TestChannels) -> f32 {
        let [r, g, b, a] = self.sample((quad.paint >> 5 & 2047) as usize, u, v);
        let median = r.min(g).max(r.max(g).min(b));
        let [wider, softer] = quad.extra;
        let single = wider != 0.0 || softer > 0.0 || texels > 3.0;
        let value = if single || channels == TestChannels::Single { a } else { median };
        let distance = (value - 0.5) * 2.0 * GLYPH_SPREAD;
        ((distance + wider) / (texels + softer) + 0.5).clamp(0.0, 1.0)
    }
}

/// A picture in linear light.
pub struct TestCanvas {
    pub width: usize,
    pub height: usize,
    pixels: Vec<[f32; 3]>,
}

fn linear(byte: u8) -> f32 {
    (f32::from(byte) / 255.0).powf(2.2)
}

impl TestCanvas {
    pub fn new(width: usize, height: usize, color: [u8; 3]) -> TestCanvas {
        TestCanvas { width, height, pixels: vec![color.map(linear); width * height] }
    }

    /// Draws quads with their origin at `at`: x pixels from the left and y pixels from the bottom.
    pub fn draw(&mut self, atlas: &TestAtlas, quads: &[GlyphQuad], at: [f32; 2], color: [u8; 4]) {
        self.draw_with(atlas, quads, at, color, TestChannels::Shader);
    }

    pub fn draw_with(
        &mut self,
        atlas: &TestAtlas,
        quads: &[GlyphQuad],
        at: [f32; 2],
        color: [u8; 4],
        channels: TestChannels,
    ) {
        for quad in quads {
            assert_eq!(quad.paint & 15, paint::GLYPH);
            let instance = quad.instance(at[0], at[1], color, 0);
            let [left, bottom, _, _, right, top, ..] = instance.corners;
            let [u0, v0, u1, v1] = quad.uv;
            let texels = (u1 - u0) * SIDE as f32 / (right - left);
            let rows = bottom.floor().max(0.0) as usize..(top.ceil() as usize).min(self.height);
            for row in rows {
                let columns =
                    left.floor().max(0.0) as usize..(right.ceil() as usize).min(self.width);
                for column in columns {
                    let (x, y) = (column as f32 + 0.5, row as f32 + 0.5);
                    if x < left || x > right || y < bottom || y > top {
                        continue;
                    }
                    let u = u0 + (x - left) / (right - left) * (u1 - u0);
                    let v = v0 + (y - bottom) / (top - bottom) * (v1 - v0);
                    let cover = atlas.cover(quad, u, v, texels, channels);
                    let alpha = cover * f32::from(instance.color[3]) / 255.0;
                    let pixel = &mut self.pixels[(self.height - 1 - row) * self.width + column];
                    for (part, color) in pixel.iter_mut().zip(instance.color) {
                        *part += (linear(color) - *part) * alpha;
                    }
                }
            }
        }
    }

    /// Returns the red component of a pixel, counted from the left and the bottom, from 0 to 1 in
    /// linear light.
    pub fn red(&self, x: usize, y: usize) -> f32 {
        self.pixels[(self.height - 1 - y) * self.width + x][0]
    }

    /// Writes a PNG into the folder named by ENGINE_TEXT_PICTURES. Does nothing if the variable is
    /// not set.
    pub fn save(&self, name: &str) {
        let Some(folder) = std::env::var_os("ENGINE_TEXT_PICTURES") else { return };
        let byte = |part: f32| (part.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0 + 0.5) as u8;
        let rgba: Vec<u8> = self
            .pixels
            .iter()
            .flat_map(|pixel| [byte(pixel[0]), byte(pixel[1]), byte(pixel[2]), 255])
            .collect();
        let (width, height) = (self.width as u32, self.height as u32);
        let png = engine_resource::image::encode_png(width, height, &rgba);
        std::fs::write(Path::new(&folder).join(name), png).expect("the folder can be written to");
    }
}
