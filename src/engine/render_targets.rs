//! Render targets: textures that Guis and views of worlds draw into. Also the location of a world's
//! view on its target.

use super::frame_builder::{STALE, SourceOrigin, source_of};
use super::{Assets, Drawing, Frame};
use engine_foundation::error;
use engine_foundation::memory::limit::{self, MemoryCharge};
use engine_foundation::{Error, Handle, Mat4};
use engine_frame_packet::gui::GuiSpace;
use engine_frame_packet::texture::TextureSlot;
use engine_frame_packet::{View, ViewTarget};
use engine_gui::{GuiDesc, GuiId, GuiMode};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_textures::TextureNumber;
use engine_window::WindowId;
use engine_world::WorldId;
use engine_world::camera::{VIEWPORTS_MAX, Viewport, ViewportId};
use std::collections::HashMap;

/// Render targets by name.
#[derive(Default)]
pub(super) struct RenderTargets {
    all: HashMap<String, RenderTargetUse>,
}

struct RenderTargetUse {
    by: TargetUser,
    texture: TextureNumber,
    slot: TextureSlot,
    /// Memory charge of the texels, which are on the graphics adapter and in no block of the heap.
    _charge: MemoryCharge,
}

/// Parameters of a Gui that draws into a texture.
#[derive(Clone, Copy)]
pub struct TextureGuiDesc {
    /// Width and height in texels.
    pub size: (u32, u32),
    pub mode: GuiMode,
    /// True if the texture keeps its content between frames.
    pub keeps: bool,
    /// True if the texture is drawn with its nearest texels.
    pub nearest: bool,
}

/// Bytes of a render target's texel.
const TEXEL_BYTES: usize = 4;

/// Owner of a render target. The texture ends with its owner.
#[derive(Clone, Copy)]
enum TargetUser {
    Gui(GuiId),
    Viewport(ViewportId),
}

impl RenderTargets {
    /// Returns the render target with a name.
    pub(super) fn find(&self, name: &str) -> Option<TextureNumber> {
        self.all.get(name).map(|drawn| drawn.texture)
    }
}

impl Drawing {
    /// Creates a viewport on a part of the screen.
    pub fn new_viewport(&mut self, viewport: Viewport) -> Result<ViewportId, Error> {
        let added = self.viewports.add(viewport).map(ViewportId);
        added.ok_or_else(|| {
            error!("{VIEWPORTS_MAX} viewports already exist (VIEWPORTS_MAX): destroy one first")
        })
    }

    /// Creates a viewport that draws into a texture with that name. The texture ends with the
    /// viewport.
    pub fn new_texture_viewport(
        &mut self,
        assets: &mut Assets,
        frame: &Frame,
        name: &str,
        (width, height): (u32, u32),
    ) -> Result<ViewportId, Error> {
        self.check_target(assets, name)?;
        let viewport = self.new_viewport(Viewport::DEFAULT)?;
        let added = self.add_target(assets, name, ((width, height), false), |slot, drawing| {
            let of = drawing.viewports.get_mut(viewport.0).expect("it was just made");
            (of.target, of.pixels) = (ViewTarget::Texture(slot), [width, height]);
            Ok(TargetUser::Viewport(viewport))
        });
        if let Err(error) = added {
            self.viewports.remove(viewport.0, "", frame.index, "");
            return Err(error);
        }
        Ok(viewport)
    }

    /// Creates a Gui that draws into a texture with that name.
    pub fn new_texture_gui(
        &mut self,
        assets: &mut Assets,
        world: WorldId,
        name: &str,
        desc: TextureGuiDesc,
    ) -> Result<GuiId, Error> {
        self.check_target(assets, name)?;
        let mut created = None;
        let TextureGuiDesc { size, mode, keeps, nearest } = desc;
        self.add_target(assets, name, (size, nearest), |slot, drawing| {
            let desc = GuiDesc {
                world: Some(world.0),
                space: GuiSpace::Screen,
                mode,
                pose: Mat4::IDENTITY,
                size: [size.0 as f32, size.1 as f32],
                target: Some(slot),
                keeps,
            };
            let gui = drawing.guis.create(desc).map_err(Error::new)?;
            created = Some(gui);
            Ok(TargetUser::Gui(gui))
        })?;
        Ok(created.expect("the target was made"))
    }

    /// Checks that a render target with that name can be created.
    fn check_target(&mut self, assets: &mut Assets, name: &str) -> Result<(), Error> {
        if name.is_empty() {
            return Err(error!("a texture that is drawn into needs a name, to be shown by"));
        }
        let known = assets.targets.all.get(name);
        let is_there = known.is_some_and(|one| self.is_alive(one.by));
        let is_of_image = assets.textures.is_image(name);
        let texture = ResourceName::new(kind_names::TEXTURE, name);
        if is_there || is_of_image || assets.store.has(&texture) {
            return Err(error!("the texture '{name}' already exists: use another name"));
        }
        Ok(())
    }

    fn is_alive(&self, by: TargetUser) -> bool {
        match by {
            TargetUser::Gui(gui) => self.guis.slots().get(gui.0).is_some(),
            TargetUser::Viewport(viewport) => self.viewports.get(viewport.0).is_some(),
        }
    }

    fn add_target(
        &mut self,
        assets: &mut Assets,
        name: &str,
        ((width, height), nearest): ((u32, u32), bool),
        make: impl FnOnce(TextureSlot, &mut Drawing) -> Result<TargetUser, Error>,
    ) -> Result<(), Error> {
        if let Some(ended) = assets.targets.all.remove(name) {
            // The previous owner was destroyed in this frame.
            assets.textures.unload(ended.texture);
        }
        let texture = assets.textures.add_target(name, width, height, nearest)?;
        let bytes = width as usize * height as usize * TEXEL_BYTES;
        if let Err(error) = limit::check_room(bytes) {
            assets.textures.unload(texture);
            return Err(error);
        }
        let mut charge = MemoryCharge::new("textures/drawn");
        charge.set(bytes as i64);
        let entry = *assets.textures.entry(texture);
        if let Err(error) = self.show_target(assets, name, texture) {
            assets.textures.unload(texture);
            return Err(error);
        }
        let by = match make(entry.slot, self) {
            Ok(by) => by,
            Err(error) => {
                assets.textures.unload(texture);
                return Err(error);
            }
        };
        let drawn = RenderTargetUse { by, texture, slot: entry.slot, _charge: charge };
        assets.targets.all.insert(name.to_string(), drawn);
        // Materials may refer to a destroyed texture with the same name.
        self.builder.origins_version = STALE;
        Ok(())
    }

    /// Registers the source that Guis draw the texture with. A name keeps its source number,
    /// because scripts may have kept it from a destroyed texture with the same name.
    fn show_target(
        &mut self,
        assets: &mut Assets,
        name: &str,
        texture: TextureNumber,
    ) -> Result<(), Error> {
        match self.builder.sources.get(name) {
            Some(known) => {
                self.builder.origins[known.0 as usize - 1] = SourceOrigin::Texture(texture);
                self.builder.origins_version = STALE;
                self.refresh_sources(assets);
            }
            None => {
                let source = source_of(name, assets.textures.entry(texture));
                let number = self.add_source(assets, source, SourceOrigin::Texture(texture))?;
                self.builder.sources.insert(name.to_string(), number);
            }
        }
        Ok(())
    }

    /// Ends the textures of destroyed Guis and viewports.
    pub(super) fn end_targets(&mut self, assets: &mut Assets) {
        let mut targets = std::mem::take(&mut assets.targets);
        targets.all.retain(|_, one| {
            let lives = self.is_alive(one.by);
            if !lives {
                assets.textures.unload(one.texture);
            }
            lives
        });
        assets.targets = targets;
    }
}

impl Assets {
    /// Returns the name of a render target, by slot.
    pub(super) fn target_name(&self, slot: TextureSlot) -> Option<&str> {
        let mut targets = self.targets.all.iter();
        targets.find_map(|(name, drawn)| (drawn.slot == slot).then_some(name.as_str()))
    }
}

impl Drawing {
    /// Returns the viewport passed to a call, or the whole screen.
    pub fn viewport(&self, viewport: Option<ViewportId>) -> Viewport {
        match viewport {
            Some(viewport) => *self.viewports.get(viewport.0).expect("it was checked"),
            None => Viewport::DEFAULT,
        }
    }

    /// Returns the viewport passed to a call, in a secondary window if one is passed.
    pub(super) fn viewport_in(
        &self,
        viewport: Option<ViewportId>,
        window: Option<WindowId>,
    ) -> Result<Viewport, Error> {
        let viewport = self.viewport(viewport);
        match (viewport.target, window) {
            (_, None) => Ok(viewport),
            (ViewTarget::Texture(_), Some(_)) => Err(error!(
                "the viewport is a texture, which is in no window: show a part of the screen there"
            )),
            (ViewTarget::Screen | ViewTarget::Window(_), Some(window)) => {
                Ok(Viewport { target: ViewTarget::Window(window.number()), ..viewport })
            }
        }
    }

    /// Returns the Guis of a world that a view of it shows. On a texture these are only the Guis in
    /// world space.
    pub(super) fn guis_on(&self, target: ViewTarget, world: Handle) -> Vec<u64> {
        let mut all = self.guis.of_world(world);
        if matches!(target, ViewTarget::Texture(_)) {
            all.retain(|gui| {
                let handle = Handle::from_number(*gui as f64).expect("a living Gui's number");
                let making = self.guis.slots().get(handle).map(|gui| gui.desc.space);
                making == Some(GuiSpace::World)
            });
        }
        all
    }
}

/// Sorts the views into textures before the views that may draw these textures.
pub(super) fn textures_first(views: &mut [View]) {
    views.sort_by_key(|view| !matches!(view.target, ViewTarget::Texture(_)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_gui::{SOURCES_MAX, TextureSource};
    use engine_world::WorldFlags;

    #[test]
    fn a_refused_target_leaves_neither_texture_nor_gui() {
        let mut engine = crate::tests::engine();
        let world = engine.worlds.new_world(WorldFlags::default()).unwrap();
        for _ in engine.drawing.guis.source_count()..SOURCES_MAX {
            engine.drawing.guis.add_source(TextureSource::PLAIN).unwrap();
        }
        let (guis, textures) =
            (engine.drawing.guis.slots().len(), engine.assets.textures.statistics());
        let refused = engine.drawing.new_texture_gui(
            &mut engine.assets,
            world,
            "screen",
            TextureGuiDesc { size: (8, 8), mode: GuiMode::Retained, keeps: false, nearest: false },
        );
        assert!(refused.unwrap_err().to_string().contains("SOURCES_MAX"));
        assert_eq!(engine.drawing.guis.slots().len(), guis);
        assert_eq!(engine.assets.textures.statistics(), textures);
    }
}
