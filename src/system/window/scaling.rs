//! Design resolution: the picture of a game, in the units that the game is made for, in a window of
//! any size. Arithmetic only; draws nothing.

use engine_foundation::Vec2;

keyword_enum! {
    /// How the picture of a game fits a window with another aspect ratio.
    Scaling {
        Fit = "fit",
        Fill = "fill",
        Stretch = "stretch",
        Integer = "integer",
        Expand = "expand",
        Unscaled = "none",
    }
}

/// The resolution that a game is made for, in its units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DesignResolution {
    pub width: u32,
    pub height: u32,
    pub scaling: Scaling,
}

/// The location of a game's picture in a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PictureMapping {
    /// Width and height of the picture in units.
    pub size: Vec2,
    /// Pixels per unit, horizontally and vertically.
    pub scale: Vec2,
    /// Bottom left of the picture, in pixels from the bottom left of the window. It is negative if
    /// a part of the picture is outside the window.
    pub offset: Vec2,
    /// Width and height of the window in pixels.
    pub pixels: Vec2,
}

impl PictureMapping {
    /// Returns the mapping for a window. `density` is the number of pixels per logical pixel, which
    /// are the units without a design resolution.
    pub fn new(
        design: Option<DesignResolution>,
        pixels: (u32, u32),
        density: f64,
    ) -> PictureMapping {
        let window = Vec2::new(pixels.0 as f32, pixels.1 as f32);
        let unscaled = PictureMapping {
            size: window / density as f32,
            scale: Vec2::splat(density as f32),
            offset: Vec2::ZERO,
            pixels: window,
        };
        let Some(design) = design.filter(|design| design.scaling != Scaling::Unscaled) else {
            return unscaled;
        };
        let size = Vec2::new(design.width as f32, design.height as f32);
        // A window without an area shows nothing, and needs no mapping of its own.
        let ratio = window.max(Vec2::ONE) / size;
        let (low, high) = (ratio.min_element(), ratio.max_element());
        let scale = match design.scaling {
            Scaling::Fit | Scaling::Expand | Scaling::Unscaled => Vec2::splat(low),
            Scaling::Fill => Vec2::splat(high),
            Scaling::Stretch => ratio,
            // A window smaller than the picture shows it smaller, in place of a part of it.
            Scaling::Integer if low < 1.0 => Vec2::splat(low),
            Scaling::Integer => Vec2::splat(low.floor()),
        };
        if design.scaling == Scaling::Expand {
            return PictureMapping { size: window / scale, scale, ..unscaled };
        }
        // A picture as large as the window is at its corner, whatever the rounding of its scale.
        let offset = ((window - size * scale) / 2.0 + 0.01).floor();
        PictureMapping { size, scale, offset, pixels: window }
    }

    /// Converts a position from pixels, from the bottom left of the window, to units.
    pub fn to_units(&self, position: Vec2) -> Vec2 {
        (position - self.offset) / self.scale
    }

    /// Converts a position from units to pixels.
    pub fn to_pixels(&self, position: Vec2) -> Vec2 {
        position * self.scale + self.offset
    }

    /// Returns the part of the picture that the window shows: bottom left and top right, in units.
    pub fn visible(&self) -> [Vec2; 2] {
        let left_bottom = self.to_units(Vec2::ZERO).max(Vec2::ZERO);
        [left_bottom, self.to_units(self.pixels).min(self.size)]
    }

    /// Returns one number for both scales: their geometric mean.
    pub fn mean_scale(&self) -> f32 {
        (self.scale.x * self.scale.y).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a game made for 320 x 180 units in a window.
    #[track_caller]
    fn check(scaling: Scaling, pixels: (u32, u32), size: [f32; 2], scale: [f32; 2], at: [f32; 2]) {
        let design = DesignResolution { width: 320, height: 180, scaling };
        let mapping = PictureMapping::new(Some(design), pixels, 2.0);
        let found = (mapping.size.to_array(), mapping.scale.to_array(), mapping.offset.to_array());
        assert_eq!(found, (size, scale, at), "{scaling:?} {pixels:?}");
    }

    const DESIGN: [f32; 2] = [320.0, 180.0];

    #[test]
    fn pictures_fit_windows_of_other_shapes() {
        check(Scaling::Fit, (1280, 720), DESIGN, [4.0, 4.0], [0.0, 0.0]);
        check(Scaling::Fit, (1280, 800), DESIGN, [4.0, 4.0], [0.0, 40.0]);
        check(Scaling::Fit, (1000, 180), DESIGN, [1.0, 1.0], [340.0, 0.0]);
        check(Scaling::Fill, (640, 720), DESIGN, [4.0, 4.0], [-320.0, 0.0]);
        check(Scaling::Stretch, (640, 720), DESIGN, [2.0, 4.0], [0.0, 0.0]);
        check(Scaling::Integer, (1000, 600), DESIGN, [3.0, 3.0], [20.0, 30.0]);
        check(Scaling::Integer, (160, 90), DESIGN, [0.5, 0.5], [0.0, 0.0]);
        check(Scaling::Expand, (1280, 800), [320.0, 200.0], [4.0, 4.0], [0.0, 0.0]);
        check(Scaling::Unscaled, (1280, 800), [640.0, 400.0], [2.0, 2.0], [0.0, 0.0]);
    }

    #[test]
    fn positions_convert_both_ways_and_the_visible_part_is_known() {
        let design = |scaling| Some(DesignResolution { width: 320, height: 180, scaling });
        let fill = PictureMapping::new(design(Scaling::Fill), (640, 720), 1.0);
        assert_eq!(fill.visible(), [Vec2::new(80.0, 0.0), Vec2::new(240.0, 180.0)]);
        assert_eq!(fill.to_units(Vec2::ZERO), Vec2::new(80.0, 0.0));
        assert_eq!(fill.to_pixels(Vec2::new(80.0, 0.0)), Vec2::ZERO);
        let fit = PictureMapping::new(design(Scaling::Fit), (640, 720), 1.0);
        assert_eq!(fit.visible(), [Vec2::ZERO, Vec2::new(320.0, 180.0)]);
        assert_eq!(fit.to_units(Vec2::new(0.0, 180.0)), Vec2::ZERO);
    }

    #[test]
    fn windows_without_an_area_have_a_finite_mapping() {
        for scaling in Scaling::NAMES.iter().filter_map(|name| Scaling::of(name)) {
            let design = DesignResolution { width: 320, height: 180, scaling };
            let mapping = PictureMapping::new(Some(design), (0, 0), 1.0);
            assert!(mapping.scale.is_finite() && mapping.size.is_finite(), "{scaling:?}");
            assert!(mapping.to_units(Vec2::ONE).is_finite(), "{scaling:?}");
        }
    }
}
