//! Render targets: textures that Guis and views of worlds draw into. Also the location of a world's
//! view on its target.

use super::Engine;
use super::frame_builder::{STALE, SourceOrigin, source_of};
use engine_foundation::error;
use engine_foundation::memory::limit::{self, MemoryCharge};
use engine_foundation::{Error, Handle, Mat4, Vec2};
use engine_frame_packet::gui::GuiSpace;
use engine_frame_packet::texture::TextureSlot;
use engine_frame_packet::{View, ViewTarget};
use engine_gui::{GuiDesc, GuiId, GuiMode};
use engine_resource::resource_name::ResourceName;
use engine_textures::TextureNumber;
use engine_window::{Window, WindowId};
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

    /// Returns the name of a render target.
    pub(super) fn name(&self, texture: TextureNumber) -> Option<&str> {
        let mut all = self.all.iter();
        all.find(|(_, drawn)| drawn.texture == texture).map(|(name, _)| &name[..])
    }
}

impl Engine {
    /// Creates a viewport on a part of the screen.
    pub fn new_viewport(&mut self, viewport: Viewport) -> Result<ViewportId, Error> {
        let added = self.drawing.viewports.add(viewport).map(ViewportId);
        added.ok_or_else(|| {
            error!("{VIEWPORTS_MAX} viewports already exist (VIEWPORTS_MAX): destroy one first")
        })
    }

    /// Creates a viewport that draws into a texture with that name. The texture ends with the
    /// viewport.
    pub fn new_texture_viewport(
        &mut self,
        name: &str,
        (width, height): (u32, u32),
    ) -> Result<ViewportId, Error> {
        self.check_target(name)?;
        let viewport = self.new_viewport(Viewport::DEFAULT)?;
        let added = self.add_target(name, (width, height), |slot, engine| {
            let of = engine.drawing.viewports.get_mut(viewport.0).expect("it was just made");
            (of.target, of.pixels) = (ViewTarget::Texture(slot), [width, height]);
            Ok(TargetUser::Viewport(viewport))
        });
        if let Err(error) = added {
            self.drawing.viewports.remove(viewport.0, "", self.frame.index, "");
            return Err(error);
        }
        Ok(viewport)
    }

    /// Creates a Gui that draws into a texture with that name.
    pub fn new_texture_gui(
        &mut self,
        world: WorldId,
        name: &str,
        size: (u32, u32),
        mode: GuiMode,
    ) -> Result<GuiId, Error> {
        self.check_target(name)?;
        let mut created = None;
        self.add_target(name, size, |slot, engine| {
            let desc = GuiDesc {
                world: Some(world.0),
                space: GuiSpace::Screen,
                mode,
                pose: Mat4::IDENTITY,
                size: [size.0 as f32, size.1 as f32],
                target: Some(slot),
            };
            let gui = engine.drawing.guis.create(desc).map_err(Error::new)?;
            created = Some(gui);
            Ok(TargetUser::Gui(gui))
        })?;
        Ok(created.expect("the target was made"))
    }

    /// Checks that a render target with that name can be created.
    fn check_target(&mut self, name: &str) -> Result<(), Error> {
        if name.is_empty() {
            return Err(error!("a texture that is drawn into needs a name, to be shown by"));
        }
        let known = self.drawing.builder.targets.all.get(name);
        let is_there = known.is_some_and(|one| self.lives(one.by));
        if is_there || self.assets.store.has(&ResourceName::new("texture", name)) {
            return Err(error!("the texture '{name}' already exists: use another name"));
        }
        Ok(())
    }

    fn lives(&self, by: TargetUser) -> bool {
        match by {
            TargetUser::Gui(gui) => self.drawing.guis.slots().get(gui.0).is_some(),
            TargetUser::Viewport(viewport) => self.drawing.viewports.get(viewport.0).is_some(),
        }
    }

    fn add_target(
        &mut self,
        name: &str,
        (width, height): (u32, u32),
        make: impl FnOnce(TextureSlot, &mut Engine) -> Result<TargetUser, Error>,
    ) -> Result<(), Error> {
        if let Some(ended) = self.drawing.builder.targets.all.remove(name) {
            // The previous owner was destroyed in this frame.
            self.assets.textures.unload(ended.texture);
        }
        let texture = self.assets.textures.add_target(name, width, height)?;
        let bytes = width as usize * height as usize * TEXEL_BYTES;
        if let Err(error) = limit::check_room(bytes) {
            self.assets.textures.unload(texture);
            return Err(error);
        }
        let mut charge = MemoryCharge::new("textures/drawn");
        charge.set(bytes as i64);
        let entry = *self.assets.textures.entry(texture);
        if let Err(error) = self.show_target(name, texture) {
            self.assets.textures.unload(texture);
            return Err(error);
        }
        let by = match make(entry.slot, self) {
            Ok(by) => by,
            Err(error) => {
                self.assets.textures.unload(texture);
                return Err(error);
            }
        };
        let drawn = RenderTargetUse { by, texture, slot: entry.slot, _charge: charge };
        self.drawing.builder.targets.all.insert(name.to_string(), drawn);
        // Materials may refer to a destroyed texture with the same name.
        self.drawing.builder.origins_version = STALE;
        Ok(())
    }

    /// Registers the source that Guis draw the texture with. A name keeps its source number,
    /// because scripts may have kept it from a destroyed texture with the same name.
    fn show_target(&mut self, name: &str, texture: TextureNumber) -> Result<(), Error> {
        match self.drawing.builder.sources.get(name) {
            Some(known) => {
                self.drawing.builder.origins[known.0 as usize - 1] = SourceOrigin::Texture(texture);
                self.drawing.builder.origins_version = STALE;
                self.refresh_sources();
            }
            None => {
                let source = source_of(name, self.assets.textures.entry(texture));
                let number = self.add_source(source, SourceOrigin::Texture(texture))?;
                self.drawing.builder.sources.insert(name.to_string(), number);
            }
        }
        Ok(())
    }

    /// Ends the textures of destroyed Guis and viewports.
    pub(super) fn end_targets(&mut self) {
        let mut targets = std::mem::take(&mut self.drawing.builder.targets);
        targets.all.retain(|_, one| {
            let lives = self.lives(one.by);
            if !lives {
                self.assets.textures.unload(one.texture);
            }
            lives
        });
        self.drawing.builder.targets = targets;
    }

    /// Returns the name of a render target, by slot.
    pub(super) fn target_name(&self, slot: TextureSlot) -> Option<&str> {
        let mut targets = self.drawing.builder.targets.all.iter();
        targets.find_map(|(name, drawn)| (drawn.slot == slot).then_some(name.as_str()))
    }

    /// Returns the viewport passed to a call, or the whole screen.
    pub fn viewport(&self, viewport: Option<ViewportId>) -> Viewport {
        match viewport {
            Some(viewport) => *self.drawing.viewports.get(viewport.0).expect("it was checked"),
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

    /// Returns width and height of a window's content in logical pixels; zero if the window does
    /// not exist.
    pub(super) fn screen_size(&self, target: ViewTarget) -> Vec2 {
        let ViewTarget::Window(number) = target else { return self.devices.window.logical() };
        let handle = Handle::from_number(number as f64);
        let window = handle.and_then(|handle| self.devices.windows.slots().get(handle));
        window.map_or(Vec2::ZERO, Window::logical)
    }

    /// Returns width and height of a viewport: logical pixels of the screen, or pixels of its
    /// texture.
    pub fn viewport_size(&self, viewport: &Viewport) -> Vec2 {
        let [_, _, width, height] = viewport.rectangle;
        self.target_size(viewport) * Vec2::new(width, height)
    }

    /// Returns the bottom left of a viewport on its target, in the units of
    /// [`Engine::viewport_size`].
    pub fn viewport_corner(&self, viewport: &Viewport) -> Vec2 {
        let [left, bottom, ..] = viewport.rectangle;
        self.target_size(viewport) * Vec2::new(left, bottom)
    }

    fn target_size(&self, viewport: &Viewport) -> Vec2 {
        match viewport.target {
            ViewTarget::Screen | ViewTarget::Window(_) => self.screen_size(viewport.target),
            ViewTarget::Texture(_) => Vec2::from(viewport.pixels.map(|side| side as f32)),
        }
    }

    /// Returns the Guis of a world that a view of it shows. On a texture these are only the Guis in
    /// world space.
    pub(super) fn guis_on(&self, target: ViewTarget, world: Handle) -> Vec<u64> {
        let mut all = self.drawing.guis.of_world(world);
        if matches!(target, ViewTarget::Texture(_)) {
            all.retain(|gui| {
                let handle = Handle::from_number(*gui as f64).expect("a living Gui's number");
                let making = self.drawing.guis.slots().get(handle).map(|gui| gui.making.space);
                making == Some(GuiSpace::World)
            });
        }
        all
    }

    /// Sorts the views into textures before the views that may draw these textures.
    pub(super) fn textures_first(views: &mut [View]) {
        views.sort_by_key(|view| !matches!(view.target, ViewTarget::Texture(_)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_gui::{SOURCES_MAX, TextureSource};
    use engine_world::WorldFlags;

    #[test]
    fn a_refused_target_leaves_neither_texture_nor_gui() {
        let mut engine = crate::world_update::tests::engine();
        let world = engine.new_world(WorldFlags::default()).unwrap();
        for _ in engine.drawing.guis.source_count()..SOURCES_MAX {
            engine.drawing.guis.add_source(TextureSource::PLAIN).unwrap();
        }
        let (guis, textures) =
            (engine.drawing.guis.slots().len(), engine.assets.textures.figures());
        let refused = engine.new_texture_gui(world, "screen", (8, 8), GuiMode::Retained);
        assert!(refused.unwrap_err().to_string().contains("SOURCES_MAX"));
        assert_eq!(engine.drawing.guis.slots().len(), guis);
        assert_eq!(engine.assets.textures.figures(), textures);
    }
}
