//! Colours as games give them. Knows no textures and no light.

/// A colour: parts from 0 to 255, sRGB, alpha not multiplied in. Not clamped: lights may be brighter
/// than white.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Color {
    pub red: f32,
    pub green: f32,
    pub blue: f32,
    /// 0 is invisible, 255 opaque.
    pub alpha: f32,
}

impl Color {
    pub const WHITE: Color = Color { red: 255.0, green: 255.0, blue: 255.0, alpha: 255.0 };

    /// Red, green, blue and alpha as bytes, rounded; what lies outside becomes 0 or 255.
    #[inline(always)]
    pub fn to_bytes(self) -> [u8; 4] {
        // `as` saturates.
        [self.red, self.green, self.blue, self.alpha].map(|part| (part + 0.5) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_rounded_and_kept_within_their_range() {
        let color = Color { red: 300.0, green: 127.6, blue: -4.0, alpha: 0.4 };
        assert_eq!(color.to_bytes(), [255, 128, 0, 0]);
    }
}
