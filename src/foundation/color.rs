//! Colors as games specify them. Knows no textures and no lighting.

/// An sRGB color with components from 0 to 255 and straight alpha (not premultiplied). Components
/// are not clamped: lights may be brighter than white.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Color {
    pub red: f32,
    pub green: f32,
    pub blue: f32,
    /// Opacity: 0 is invisible, 255 is opaque.
    pub alpha: f32,
}

impl Color {
    pub const WHITE: Color = Color { red: 255.0, green: 255.0, blue: 255.0, alpha: 255.0 };

    /// Reads `#rgb`, `#rrggbb` or `#rrggbbaa`, in upper or lower case. Returns `None` for anything
    /// else.
    pub fn from_hex(text: &str) -> Option<Color> {
        let digits = text.strip_prefix('#')?.as_bytes();
        let size = match digits.len() {
            3 => 1,
            6 | 8 => 2,
            _ => return None,
        };
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        let mut parts = [255.0; 4];
        for (part, at) in parts.iter_mut().zip((0..digits.len()).step_by(size)) {
            *part = (16 * digit(at)? + digit(at + size - 1)?) as f32;
        }
        let [red, green, blue, alpha] = parts;
        Some(Color { red, green, blue, alpha })
    }

    /// Converts red, green, blue and alpha to bytes, rounded and clamped to 0..=255.
    #[inline(always)]
    pub fn to_bytes(self) -> [u8; 4] {
        // `as` saturates.
        [self.red, self.green, self.blue, self.alpha].map(|part| (part + 0.5) as u8)
    }

    /// Converts to linear, premultiplied RGBA for shaders: 1 is white, or opaque (IEC 61966-2-1).
    pub fn to_light(self) -> [f32; 4] {
        let alpha = self.alpha / 255.0;
        let light = |part: f32| {
            let part = part / 255.0;
            let low = part <= 0.04045;
            alpha * if low { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        [light(self.red), light(self.green), light(self.blue), alpha]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_colors_have_three_six_or_eight_digits() {
        let orange = Color { red: 255.0, green: 128.0, blue: 0.0, alpha: 255.0 };
        assert_eq!(Color::from_hex("#Ff8000"), Some(orange));
        assert_eq!(Color::from_hex("#ff800080"), Some(Color { alpha: 128.0, ..orange }));
        assert_eq!(Color::from_hex("#F80"), Some(Color { green: 136.0, ..orange }));
        for text in [
            "", "#", "ff8000", "#ff80", "#é0", "#ég", "#xyz", "#ff80000", "#+f8000", "#ff800é",
            "#gg8000",
        ] {
            assert_eq!(Color::from_hex(text), None, "{text}");
        }
    }

    #[test]
    fn bytes_are_rounded_and_clamped() {
        let color = Color { red: 300.0, green: 127.6, blue: -4.0, alpha: 0.4 };
        assert_eq!(color.to_bytes(), [255, 128, 0, 0]);
    }

    #[test]
    fn linear_colours_are_premultiplied_by_alpha() {
        let color = Color { red: 255.0, green: 188.0, blue: 0.0, alpha: 127.5 };
        let [red, green, blue, alpha] = color.to_light();
        assert_eq!((red, blue, alpha), (0.5, 0.0, 0.5));
        assert!((green - 0.25).abs() < 0.002, "{green}");
    }
}
