//! Textures that are drawn into, by Guis and by views of worlds; and where on which target a view
//! of a world is.

use super::Engine;
use super::picture::{Origin, STALE, source_of};
use crate::error;
use crate::foundation::memory::limit::{self, Charge};
use crate::foundation::{Error, Handle, Mat4, Vec2};
use crate::packet::gui::Space;
use crate::packet::texture::TextureSlot;
use crate::packet::{Target, View};
use crate::resource::name::ResourceName;
use crate::system::gui::{GuiId, Making, Mode};
use crate::system::textures::TextureNumber;
use crate::system::window::{Window, WindowId};
use crate::world::WorldId;
use crate::world::camera::{VIEWPORTS_MAX, Viewport, ViewportId};
use std::collections::HashMap;

/// Textures that are drawn into, by their names.
#[derive(Default)]
pub(super) struct Targets {
    all: HashMap<String, Drawn>,
}

struct Drawn {
    by: By,
    texture: TextureNumber,
    slot: TextureSlot,
    /// Its texels lie on the graphics adapter, in no block.
    _charge: Charge,
}

/// Bytes of a texel that is drawn into.
const TEXEL_BYTES: usize = 4;

/// What draws into a texture; the texture ends with it.
#[derive(Clone, Copy)]
enum By {
    Gui(GuiId),
    Viewport(ViewportId),
}

impl Targets {
    /// The texture of that name, where one is drawn into.
    pub(super) fn find(&self, name: &str) -> Option<TextureNumber> {
        self.all.get(name).map(|drawn| drawn.texture)
    }

    /// The name of a texture that is drawn into.
    pub(super) fn name(&self, texture: TextureNumber) -> Option<&str> {
        let mut all = self.all.iter();
        all.find(|(_, drawn)| drawn.texture == texture).map(|(name, _)| &name[..])
    }
}

impl Engine {
    /// Makes a viewport, a part of the screen.
    pub fn new_viewport(&mut self, viewport: Viewport) -> Result<ViewportId, Error> {
        let added = self.viewports.add(viewport).map(ViewportId);
        added.ok_or_else(|| {
            error!("{VIEWPORTS_MAX} viewports are there already (VIEWPORTS_MAX): destroy one first")
        })
    }

    /// Makes a viewport that is a texture of that name, which ends with it.
    pub fn new_texture_viewport(
        &mut self,
        name: &str,
        (width, height): (u32, u32),
    ) -> Result<ViewportId, Error> {
        self.check_target(name)?;
        let viewport = self.new_viewport(Viewport::DEFAULT)?;
        let made = self.add_target(name, (width, height), |slot, engine| {
            let of = engine.viewports.get_mut(viewport.0).expect("it was just made");
            (of.target, of.pixels) = (Target::Texture(slot), [width, height]);
            Ok(By::Viewport(viewport))
        });
        if let Err(error) = made {
            self.viewports.remove(viewport.0, "", self.frame.index, "");
            return Err(error);
        }
        Ok(viewport)
    }

    /// Makes a Gui that is drawn into a texture of that name.
    pub fn new_texture_gui(
        &mut self,
        world: WorldId,
        name: &str,
        size: (u32, u32),
        mode: Mode,
    ) -> Result<GuiId, Error> {
        self.check_target(name)?;
        let mut made = None;
        self.add_target(name, size, |slot, engine| {
            let making = Making {
                world: Some(world.0),
                space: Space::Screen,
                mode,
                pose: Mat4::IDENTITY,
                size: [size.0 as f32, size.1 as f32],
                target: Some(slot),
            };
            let gui = engine.guis.create(making).map_err(Error::new)?;
            made = Some(gui);
            Ok(By::Gui(gui))
        })?;
        Ok(made.expect("the target was made"))
    }

    /// Whether a texture of that name can be made.
    fn check_target(&mut self, name: &str) -> Result<(), Error> {
        if name.is_empty() {
            return Err(error!("a texture that is drawn into needs a name, to be shown by"));
        }
        let known = self.picture.targets.all.get(name);
        let is_there = known.is_some_and(|one| self.lives(one.by));
        if is_there || self.store.has(&ResourceName::new("texture", name)) {
            return Err(error!("there is a texture '{name}' already: use another name"));
        }
        Ok(())
    }

    fn lives(&self, by: By) -> bool {
        match by {
            By::Gui(gui) => self.guis.slots().get(gui.0).is_some(),
            By::Viewport(viewport) => self.viewports.get(viewport.0).is_some(),
        }
    }

    fn add_target(
        &mut self,
        name: &str,
        (width, height): (u32, u32),
        make: impl FnOnce(TextureSlot, &mut Engine) -> Result<By, Error>,
    ) -> Result<(), Error> {
        if let Some(ended) = self.picture.targets.all.remove(name) {
            // Who drew into it ended in this very frame.
            self.textures.unload(ended.texture);
        }
        let texture = self.textures.add_target(width, height)?;
        let bytes = width as usize * height as usize * TEXEL_BYTES;
        if let Err(error) = limit::check_room(bytes) {
            self.textures.unload(texture);
            return Err(error);
        }
        let mut charge = Charge::new("textures/drawn");
        charge.set(bytes as i64);
        let entry = *self.textures.entry(texture);
        let by = match make(entry.slot, self) {
            Ok(by) => by,
            Err(error) => {
                self.textures.unload(texture);
                return Err(error);
            }
        };
        match self.picture.sources.get(name) {
            // Scripts may have kept the number from a texture of that name that has ended.
            Some(known) => {
                self.picture.origins[known.0 as usize - 1] = Origin::Texture(texture);
                self.picture.origins_version = STALE;
                self.refresh_sources();
            }
            None => {
                let source = source_of(name, &entry);
                let number = self.add_source(source, Origin::Texture(texture))?;
                self.picture.sources.insert(name.to_string(), number);
            }
        }
        let drawn = Drawn { by, texture, slot: entry.slot, _charge: charge };
        self.picture.targets.all.insert(name.to_string(), drawn);
        // Materials may show one of that name that has ended.
        self.picture.origins_version = STALE;
        Ok(())
    }

    /// Ends the textures whose Guis and viewports are gone.
    pub(super) fn end_targets(&mut self) {
        let mut targets = std::mem::take(&mut self.picture.targets);
        targets.all.retain(|_, one| {
            let lives = self.lives(one.by);
            if !lives {
                self.textures.unload(one.texture);
            }
            lives
        });
        self.picture.targets = targets;
    }

    /// The name of a texture that is drawn into.
    pub(super) fn target_name(&self, slot: TextureSlot) -> Option<&str> {
        let mut targets = self.picture.targets.all.iter();
        targets.find_map(|(name, drawn)| (drawn.slot == slot).then_some(name.as_str()))
    }

    /// The viewport that a call names, or the whole screen.
    pub fn viewport(&self, viewport: Option<ViewportId>) -> Viewport {
        match viewport {
            Some(viewport) => *self.viewports.get(viewport.0).expect("it was checked"),
            None => Viewport::DEFAULT,
        }
    }

    /// The same in a window beside the main one, where one is given.
    pub(super) fn viewport_in(
        &self,
        viewport: Option<ViewportId>,
        window: Option<WindowId>,
    ) -> Result<Viewport, Error> {
        let viewport = self.viewport(viewport);
        match (viewport.target, window) {
            (_, None) => Ok(viewport),
            (Target::Texture(_), Some(_)) => Err(error!(
                "the viewport is a texture, which is in no window: show a part of the screen there"
            )),
            (Target::Screen | Target::Window(_), Some(window)) => {
                Ok(Viewport { target: Target::Window(window.number()), ..viewport })
            }
        }
    }

    /// Width and height in logical pixels of what is on a display; nothing where it is not there.
    pub(super) fn screen_size(&self, target: Target) -> Vec2 {
        let Target::Window(number) = target else { return self.window.logical() };
        let handle = Handle::from_number(number as f64);
        let window = handle.and_then(|handle| self.windows.slots().get(handle));
        window.map_or(Vec2::ZERO, Window::logical)
    }

    /// Width and height of a viewport: logical pixels of the screen, or pixels of its texture.
    pub fn viewport_size(&self, viewport: &Viewport) -> Vec2 {
        let [_, _, width, height] = viewport.rectangle;
        self.target_size(viewport) * Vec2::new(width, height)
    }

    /// The left bottom of a viewport on its target, as [`Engine::viewport_size`].
    pub fn viewport_corner(&self, viewport: &Viewport) -> Vec2 {
        let [left, bottom, ..] = viewport.rectangle;
        self.target_size(viewport) * Vec2::new(left, bottom)
    }

    fn target_size(&self, viewport: &Viewport) -> Vec2 {
        match viewport.target {
            Target::Screen | Target::Window(_) => self.screen_size(viewport.target),
            Target::Texture(_) => Vec2::from(viewport.pixels.map(|side| side as f32)),
        }
    }

    /// The Guis of a world that a view of it shows: on a texture, those that stand in the world.
    pub(super) fn guis_on(&self, target: Target, world: Handle) -> Vec<u64> {
        let mut all = self.guis.of_world(world);
        if matches!(target, Target::Texture(_)) {
            all.retain(|gui| {
                let handle = Handle::from_number(*gui as f64).expect("a living Gui's number");
                let making = self.guis.slots().get(handle).map(|gui| gui.making.space);
                making == Some(Space::World)
            });
        }
        all
    }

    /// Puts the views that textures show before those that may draw with these.
    pub(super) fn textures_first(views: &mut [View]) {
        views.sort_by_key(|view| !matches!(view.target, Target::Texture(_)));
    }
}
