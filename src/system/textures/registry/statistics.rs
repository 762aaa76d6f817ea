//! Statistics of the texture registry, for once-a-frame reports. They are computed again only after
//! a change.

use super::*;

/// Textures uploaded to the renderer.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct UploadStats {
    /// Number of pictures, with the frames of sheets counted one by one.
    pub textures: u32,
    /// Bytes of their texels.
    pub bytes: u64,
}

/// Cached statistics: the uploads since the last call, and the memory statistics with the version
/// for which they are valid.
#[derive(Default)]
pub(super) struct StatsSnapshot {
    uploads: UploadStats,
    stats: Option<(u64, TextureStats)>,
}

impl Textures {
    /// Counts the changes that are about to be sent to the renderer.
    pub(super) fn record_upload(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        self.cached_stats.stats = None;
        for change in &self.queue {
            if let TextureChange::Set { texels, .. } | TextureChange::Atlas { texels, .. } = change
            {
                let TextureTexels { width, height, levels, format, .. } = *texels;
                self.cached_stats.uploads.textures += 1;
                self.cached_stats.uploads.bytes +=
                    mipmaps::chain_bytes(format, width, height, levels) as u64;
            }
        }
    }

    /// Returns the number of textures, their memory use, and the uploads since the last call.
    pub fn count(&mut self) -> (TextureStats, UploadStats) {
        let uploads = std::mem::take(&mut self.cached_stats.uploads);
        let stats = match self.cached_stats.stats {
            Some((version, stats)) if version == self.version => stats,
            _ => self.statistics(),
        };
        self.cached_stats.stats = Some((self.version, stats));
        (stats, uploads)
    }
}
