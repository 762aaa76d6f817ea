//! What the registry's textures come to in numbers, for those who count once a frame: nothing is
//! walked over while nothing changes.

use super::*;

/// What was handed to the renderer.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Handed {
    /// Textures, frames of sheets one by one.
    pub textures: u32,
    /// Bytes of their texels.
    pub bytes: u64,
}

/// What is known of the last time: what was handed over since, and the figures with the version
/// that they are of.
#[derive(Default)]
pub(super) struct Counted {
    handed: Handed,
    figures: Option<(u64, Figures)>,
}

impl Textures {
    /// Notes what the renderer is about to be given.
    pub(super) fn note_handed(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        self.counted.figures = None;
        for change in &self.queue {
            if let TextureChange::Put { texels, .. } | TextureChange::Atlas { texels, .. } = change
            {
                let Texels { width, height, levels, format, .. } = *texels;
                self.counted.handed.textures += 1;
                self.counted.handed.bytes +=
                    texels::chain_bytes(format, width, height, levels) as u64;
            }
        }
    }

    /// How many there are, how much room they take, and what was handed over since the last call.
    pub fn count(&mut self) -> (Figures, Handed) {
        let handed = std::mem::take(&mut self.counted.handed);
        let figures = match self.counted.figures {
            Some((version, figures)) if version == self.version => figures,
            _ => self.figures(),
        };
        self.counted.figures = Some((self.version, figures));
        (figures, handed)
    }
}
