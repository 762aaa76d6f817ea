//! Assets: the store of the game's resources, and what was loaded from it to be shown. Objects in
//! worlds and drawings refer to assets by number or handle.

use super::render_targets::RenderTargets;
use super::sprite_draws::SpriteResources;
use engine_materials::Materials;
use engine_models::Models;
use engine_render::shader::core_materials;
use engine_resource::package::Packages;
use engine_resource::store::ResourceStore;
use engine_text::TextSystem;
use engine_textures::Textures;
use engine_tilemaps::Tilemaps;

/// The resource store and the loaded assets.
pub struct Assets {
    pub store: ResourceStore,
    pub packages: Packages,
    pub textures: Textures,
    pub materials: Materials,
    pub models: Models,
    /// Fonts, and the layout of texts.
    pub text: TextSystem,
    pub tilemaps: Tilemaps,
    /// Textures and surfaces that sprites and tile maps are drawn with.
    pub(super) sprites: SpriteResources,
    /// Textures that Guis and views of worlds draw into.
    pub(super) targets: RenderTargets,
}

impl Assets {
    /// Returns the assets of a game of which nothing is loaded yet. `nearest`: textures are sampled
    /// without filtering unless their file says otherwise.
    pub(super) fn new(store: ResourceStore, nearest: bool) -> Assets {
        Assets {
            store,
            packages: Packages::default(),
            textures: Textures::new(nearest),
            materials: Materials::with_built_in(core_materials::compiled),
            models: Models::default(),
            text: TextSystem::new(),
            tilemaps: Tilemaps::default(),
            sprites: SpriteResources::default(),
            targets: RenderTargets::default(),
        }
    }
}
