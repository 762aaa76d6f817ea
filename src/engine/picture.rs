//! What a frame shows: where worlds, cameras, Guis, textures and texts come together in the packet
//! that the renderer gets. The systems themselves know nothing of each other.

use super::Engine;
use crate::error;
use crate::foundation::{Error, Mat4, Vec2, log};
use crate::packet::gui::Space;
use crate::packet::{Packet, Target, View};
use crate::packet::material::MaterialSlot;
use crate::system::gui::{GuiId, Making, Mode, Source, SourceNumber};
use crate::system::textures::{Entry, TextureNumber};
use crate::world::WorldId;
use crate::world::camera::{CAMERAS_MAX, Camera, CameraId, VIEWPORTS_MAX, Viewport, ViewportId};
use std::collections::HashMap;

/// The most views of one frame.
pub const VIEWS_MAX: usize = 256;

/// What is about to be shown, and what is there without being asked for.
#[derive(Default)]
pub struct Picture {
    views: Vec<View>,
    main_camera: Option<CameraId>,
    main_gui: Option<GuiId>,
    /// The sources that textures are for Guis, by their names.
    sources: HashMap<String, SourceNumber>,
    /// The texture of each, from the second one of the Guis' on, and of which state of them.
    textures: Vec<TextureNumber>,
    version: u64,
}

/// A texture as Guis draw with it.
fn source_of(name: &str, entry: &Entry) -> Source {
    Source {
        name: name.to_string(),
        material: MaterialSlot::BUILT_IN,
        texture: entry.slot,
        paint: entry.paint,
        uv: entry.uv,
        size: [entry.width as f32, entry.height as f32],
    }
}

impl Engine {
    /// Makes a camera.
    pub fn new_camera(&mut self) -> Result<CameraId, Error> {
        let added = self.cameras.add(Camera::DEFAULT).map(CameraId);
        added.ok_or_else(|| {
            error!("{CAMERAS_MAX} cameras are there already (CAMERAS_MAX): destroy one first")
        })
    }

    /// Makes a viewport.
    pub fn new_viewport(&mut self, viewport: Viewport) -> Result<ViewportId, Error> {
        let added = self.viewports.add(viewport).map(ViewportId);
        added.ok_or_else(|| {
            error!("{VIEWPORTS_MAX} viewports are there already (VIEWPORTS_MAX): destroy one first")
        })
    }

    /// A living camera.
    pub fn camera(&mut self, camera: CameraId) -> &mut Camera {
        self.cameras.get_mut(camera.0).expect("the handle was checked where it came in")
    }

    /// The camera that is there without being made: made when first asked for.
    pub fn main_camera(&mut self) -> Result<CameraId, Error> {
        if let Some(camera) = self.picture.main_camera
            && self.cameras.get(camera.0).is_some()
        {
            return Ok(camera);
        }
        let camera = self.new_camera()?;
        self.picture.main_camera = Some(camera);
        Ok(camera)
    }

    /// The immediate Gui that is there without being made, in the main world: made when first asked
    /// for.
    pub fn main_gui(&mut self) -> Result<GuiId, Error> {
        if let Some(gui) = self.picture.main_gui
            && self.guis.slots().get(gui.0).is_some()
        {
            return Ok(gui);
        }
        let world = self.main_world()?;
        let gui = self.new_screen_gui(Some(world), Mode::Immediate)?;
        self.picture.main_gui = Some(gui);
        Ok(gui)
    }

    /// The world that is there without being made: made when first asked for.
    pub fn main_world(&mut self) -> Result<WorldId, Error> {
        if let Some(world) = self.main_world {
            return Ok(world);
        }
        let world = self.new_world()?;
        self.main_world = Some(world);
        Ok(world)
    }

    /// Makes a Gui on the screen, which the views of a world show.
    pub fn new_screen_gui(&mut self, world: Option<WorldId>, mode: Mode) -> Result<GuiId, Error> {
        let making = Making {
            world: world.map(|world| world.0),
            space: Space::Screen,
            mode,
            pose: Mat4::IDENTITY,
            size: [0.0, 0.0],
            target: None,
        };
        self.guis.create(making).map_err(Error::new)
    }

    /// The number by which Guis draw with a texture: a source of theirs, made when first asked for.
    pub fn source(&mut self, name: &str) -> Result<SourceNumber, Error> {
        if let Some(known) = self.picture.sources.get(name) {
            return Ok(*known);
        }
        let texture = self.textures.find(&mut self.store, name)?;
        let source = source_of(name, self.textures.entry(texture));
        let number = self.guis.add_source(source).map_err(Error::new)?;
        self.picture.sources.insert(name.to_string(), number);
        self.picture.textures.push(texture);
        Ok(number)
    }

    /// Brings the sources up to date with textures that were loaded again.
    fn refresh_sources(&mut self) {
        if self.picture.version == self.textures.version() {
            return;
        }
        self.picture.version = self.textures.version();
        let textures = self.picture.textures.iter();
        for (source, texture) in self.guis.sources_mut().iter_mut().zip(textures) {
            let entry = self.textures.entry(*texture);
            *source = source_of(&source.name, entry);
        }
    }

    /// Width and height of what a Gui draws on, in its own units.
    pub fn gui_size(&self, gui: GuiId) -> Vec2 {
        let making = self.guis.slots().get(gui.0).map(|gui| gui.making);
        match making.map(|making| making.size) {
            Some([width, height]) if width > 0.0 => Vec2::new(width, height),
            _ => self.window.logical(),
        }
    }

    /// Shows a world as a camera sees it, on a viewport or the whole screen, when the frame ends. What
    /// is shown first on a target is drawn on its background.
    pub fn render_world(
        &mut self,
        world: WorldId,
        camera: CameraId,
        viewport: Option<ViewportId>,
    ) -> Result<(), Error> {
        if self.picture.views.len() >= VIEWS_MAX {
            return Err(error!("{VIEWS_MAX} views are shown in this frame already (VIEWS_MAX)"));
        }
        let viewport = match viewport {
            Some(viewport) => *self.viewports.get(viewport.0).expect("it was checked"),
            None => Viewport::DEFAULT,
        };
        let size = self.viewport_size(&viewport);
        let camera = self.camera(camera).frame(size.x / size.y.max(1.0));
        let first = self.picture.views.iter().all(|view| view.target != viewport.target);
        let whole = viewport.rectangle == [0.0, 0.0, 1.0, 1.0];
        let background = viewport.background.filter(|_| first || !whole);
        self.picture.views.push(View {
            target: viewport.target,
            rectangle: viewport.rectangle,
            clear: background.map(|color| {
                [color.red, color.green, color.blue, color.alpha].map(|part| part / 255.0)
            }),
            camera,
            guis: self.guis.of_world(world.0),
        });
        Ok(())
    }

    /// Width and height of a viewport in logical pixels.
    pub fn viewport_size(&self, viewport: &Viewport) -> Vec2 {
        let [_, _, width, height] = viewport.rectangle;
        self.window.logical() * Vec2::new(width, height)
    }

    /// Fills a packet with what the frame shows, and ends the frame's drawing.
    pub(super) fn fill_packet(&mut self, packet: &mut Packet) {
        self.guis.recycle(&mut packet.spare_guis);
        self.refresh_sources();
        self.textures.flush(&mut packet.textures);
        for (gui, target) in self.guis.into_textures() {
            packet.views.push(View {
                target: Target::Texture(target),
                rectangle: [0.0, 0.0, 1.0, 1.0],
                clear: Some([0.0; 4]),
                camera: Camera::DEFAULT.frame(1.0),
                guis: vec![gui],
            });
        }
        packet.views.append(&mut self.picture.views);
        self.guis.end_frame(&mut packet.guis, &mut packet.ended_guis, |left| {
            let words = format!(
                "at the end of the frame {left} pushes of a Gui had no pop: push and pop, push_clip \
                 and pop_clip belong together"
            );
            log::warn("Gui.push", &words);
        });
    }
}
