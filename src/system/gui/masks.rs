//! Masks of a frame: what is drawn between `begin_mask` and `end_mask` is the shape of a mask, and
//! what is drawn after it is visible only where the shape is. The renderer draws the shapes.

use super::{Gui, GuiId, GuiMode, Guis};
use engine_frame_packet::gui::{GuiSpace, MaskFrame};

/// Maximum number of masks of one Gui in a frame. Each needs an image, at most as large as the
/// target.
pub const MASKS_MAX: usize = 64;

impl Guis {
    /// Makes what is drawn next the shape of a mask.
    ///
    /// # Errors
    /// Returns an error if the Gui cannot have masks, or if a limit is reached.
    pub fn begin_mask(&mut self, gui: GuiId) -> Result<(), String> {
        let one = self.gui(gui);
        if one.desc.mode == GuiMode::Retained {
            return Err("this Gui is retained, and masks last for a frame: draw in an immediate \
                        Gui (World.create_screen_gui with \"immediate\")"
                .to_string());
        }
        if one.desc.space == GuiSpace::World {
            return Err("a Gui in the world cannot have masks: draw into a texture and show that \
                        instead (World.create_texture_gui)"
                .to_string());
        }
        if one.masks.len() >= MASKS_MAX {
            return Err(format!(
                "a Gui has {MASKS_MAX} masks in this frame already (MASKS_MAX): draw more through \
                 each of them"
            ));
        }
        let parent = one.transform_stack.mask().within;
        one.transform_stack.begin_mask(one.masks.len() as u16 + 1)?;
        one.masks.push(MaskFrame { parent, outside: false, bounds: None });
        Ok(())
    }

    /// Draws what follows through the mask: inside of its shape, or outside.
    ///
    /// # Errors
    /// Returns an error if no mask is begun.
    pub fn end_mask(&mut self, gui: GuiId, outside: bool) -> Result<(), String> {
        let one = self.gui(gui);
        let number = one.transform_stack.end_mask()?;
        let bounds = one.bounds_of_shape(number);
        let mask = &mut one.masks[usize::from(number) - 1];
        (mask.outside, mask.bounds) = (outside, bounds);
        Ok(())
    }
}

impl Gui {
    /// Returns the bounds of a mask's shape; `None` if they are unknown.
    fn bounds_of_shape(&self, number: u16) -> Option<[f32; 4]> {
        let mut bounds = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        let batches = self.batches.iter().filter(|batch| batch.key.mask.shape_of == number);
        for instance in batches.flat_map(|batch| &batch.instances) {
            if instance.paint >> 16 > 0 {
                // On a separate plane.
                return None;
            }
            let corners = &instance.corners[..if instance.is_mesh() { 6 } else { 8 }];
            for (i, at) in corners.iter().enumerate() {
                bounds[i % 2] = bounds[i % 2].min(*at);
                bounds[i % 2 + 2] = bounds[i % 2 + 2].max(*at);
            }
        }
        Some(if bounds[0] <= bounds[2] { bounds } else { [0.0; 4] })
    }
}
