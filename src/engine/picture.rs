//! What a frame shows: where worlds, cameras, Guis, textures and texts come together in the packet
//! that the renderer gets. The systems themselves know nothing of each other.

use super::captures::NOTHING_DRAWN;
use super::overlay::LastPicture;
use super::seen::Kept;
use super::{Build, Engine};
use crate::error;
use crate::foundation::{Error, Handle, Mat4, Vec2, log};
use crate::packet::gui::Space;
use crate::packet::material::MaterialSlot;
use crate::packet::text::PageNumber;
use crate::packet::texture::TextureSlot;
use crate::packet::{Packet, Target, View};
use crate::resource::name::ResourceName;
use crate::system::gui::{GuiId, Making, Mode, PLAIN, Source, SourceNumber};
use crate::system::materials::MaterialId;
use crate::system::render::{Draw, Recorder};
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
    /// Of which world each is.
    worlds: Vec<Handle>,
    /// For the lines over each view.
    pub(super) line_guis: Vec<GuiId>,
    pub(super) console: Option<GuiId>,
    pub(super) console_shown: bool,
    /// The report of the error that stopped the game.
    pub(super) error: Option<String>,
    pub(super) error_gui: Option<GuiId>,
    /// What was not taken of saved files, while the game goes on.
    pub(super) refusals: Vec<String>,
    pub(super) notice_gui: Option<GuiId>,
    /// The views of the newest frame, and what stays of the last picture below the report.
    pub(super) last_views: Vec<View>,
    pub(super) last: Option<LastPicture>,
    main_camera: Option<CameraId>,
    main_gui: Option<GuiId>,
    /// The sources that textures are for Guis, by their names.
    sources: HashMap<String, SourceNumber>,
    /// The texture of each source but the first, where it is one, and of which state of them.
    pub(super) textures: Vec<Option<TextureNumber>>,
    pages: HashMap<(PageNumber, SourceNumber), SourceNumber>,
    /// Textures that Guis are drawn into, by their names.
    targets: HashMap<String, Drawn>,
    /// Whether somebody takes the packets; else the recorder does.
    pub is_shown: bool,
    /// What it is drawn with, in words for reports; empty where nothing is.
    pub adapter: String,
    recorder: Recorder,
    unseen: Packet,
    /// What is kept of frames that nobody shows, since which frame, and what was kept.
    pub(super) kept: Kept,
    pub(super) first_kept: u64,
    pub(super) packets: Vec<Packet>,
    version: u64,
    /// The sources that materials are for Guis, and of which state of them and their textures.
    pub(super) materials: Vec<(MaterialId, SourceNumber)>,
    pub(super) materials_version: (u64, u64),
}

/// A texture that a Gui is drawn into.
struct Drawn {
    gui: GuiId,
    texture: TextureNumber,
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
        self.follow(camera);
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
        let world = self.new_world(Default::default())?;
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
        if self.store.has(&ResourceName::new("material", name)) {
            let material = self.find_material(name)?;
            let number = self.material_source(material)?;
            self.picture.sources.insert(name.to_string(), number);
            return Ok(number);
        }
        let texture = self.textures.find(&mut self.store, name)?;
        let source = source_of(name, self.textures.entry(texture));
        let number = self.guis.add_source(source).map_err(Error::new)?;
        self.picture.sources.insert(name.to_string(), number);
        self.picture.textures.push(Some(texture));
        Ok(number)
    }

    /// The source of a page of a font, drawn with the material of another source: each
    /// quadrilateral says how the page is read.
    pub fn page_source(
        &mut self,
        page: PageNumber,
        with: SourceNumber,
    ) -> Result<SourceNumber, Error> {
        if page == PageNumber::SHARED && with == PLAIN {
            return Ok(PLAIN);
        }
        if let Some(known) = self.picture.pages.get(&(page, with)) {
            return Ok(*known);
        }
        let of = self.guis.source(with).ok_or_else(|| error!("there is no such material"))?;
        let (material, name) = (of.material, of.name.clone());
        let texture = match page {
            PageNumber::SHARED => TextureSlot::SHARED,
            page => {
                let name = self.text.page(page).texture.clone();
                let texture = self.textures.find(&mut self.store, &name)?;
                self.textures.slot(&mut self.store, texture)?
            }
        };
        let source = Source { name, material, texture, ..Source::PLAIN };
        let number = self.guis.add_source(source).map_err(Error::new)?;
        self.picture.textures.push(None);
        self.picture.pages.insert((page, with), number);
        Ok(number)
    }

    /// Makes a Gui that is drawn into a texture of that name.
    pub fn new_texture_gui(
        &mut self,
        world: WorldId,
        name: &str,
        size: (u32, u32),
        mode: Mode,
    ) -> Result<GuiId, Error> {
        let known = self.picture.targets.get(name);
        let is_there = known.is_some_and(|one| self.guis.slots().get(one.gui.0).is_some());
        if is_there || self.store.has(&ResourceName::new("texture", name)) {
            return Err(error!("there is a texture '{name}' already: use another name"));
        }
        if let Some(ended) = self.picture.targets.remove(name) {
            // Its Gui ended in this very frame.
            self.textures.unload(ended.texture);
        }
        let texture = self.textures.add_target(size.0, size.1)?;
        let entry = *self.textures.entry(texture);
        let making = Making {
            world: Some(world.0),
            space: Space::Screen,
            mode,
            pose: Mat4::IDENTITY,
            size: [size.0 as f32, size.1 as f32],
            target: Some(entry.slot),
        };
        let gui = self.guis.create(making).map_err(Error::new)?;
        match self.picture.sources.get(name) {
            // Scripts may have kept the number from a texture of that name that has ended.
            Some(known) => {
                self.picture.textures[known.0 as usize - 1] = Some(texture);
                self.picture.version = u64::MAX;
                self.refresh_sources();
            }
            None => {
                let number = self.guis.add_source(source_of(name, &entry)).map_err(Error::new)?;
                self.picture.sources.insert(name.to_string(), number);
                self.picture.textures.push(Some(texture));
            }
        }
        self.picture.targets.insert(name.to_string(), Drawn { gui, texture });
        Ok(gui)
    }

    /// Ends the textures of Guis that are gone.
    fn end_targets(&mut self) {
        let Engine { picture, guis, textures, .. } = self;
        picture.targets.retain(|_, one| {
            let lives = guis.slots().get(one.gui.0).is_some();
            if !lives {
                textures.unload(one.texture);
            }
            lives
        });
    }

    /// Ends a frame that nobody shows: it is taken over as a renderer does, and told to tests.
    pub fn finish_unseen_frame(&mut self) {
        if self.picture.is_shown {
            return;
        }
        let packet = std::mem::take(&mut self.picture.unseen);
        let mut packet = self.take_packet(packet);
        self.picture.recorder.apply(&packet);
        for capture in &packet.captures {
            self.captures.made(capture.number, Err(NOTHING_DRAWN.to_string()));
        }
        self.keep_frame(&mut packet);
        packet.clear();
        self.picture.unseen = packet;
    }

    /// The name of the texture that a Gui is drawn into.
    pub(super) fn target_name(&self, gui: u64) -> Option<&str> {
        let own = |drawn: &Drawn| drawn.gui.0.to_number() as u64 == gui;
        let mut targets = self.picture.targets.iter();
        targets.find_map(|(name, drawn)| own(drawn).then_some(name.as_str()))
    }

    /// The draw calls of the newest frame, where nobody shows it.
    pub fn draws(&self) -> &[Draw] {
        self.picture.recorder.draws()
    }

    /// Brings the sources up to date with textures that were loaded again.
    pub(super) fn refresh_sources(&mut self) {
        if self.picture.version == self.textures.version() {
            return;
        }
        self.picture.version = self.textures.version();
        let textures = self.picture.textures.iter();
        for (source, texture) in self.guis.sources_mut().iter_mut().zip(textures) {
            let Some(texture) = texture else { continue };
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

    /// Shows a world as a camera sees it, on a viewport or the whole screen, when the frame ends.
    /// What is shown first on a target is drawn on its background.
    pub fn render_world(
        &mut self,
        world: WorldId,
        camera: CameraId,
        viewport: Option<ViewportId>,
    ) -> Result<(), Error> {
        if self.world(world).flags.no_rendering {
            return Ok(());
        }
        if self.picture.views.len() >= VIEWS_MAX {
            return Err(error!("{VIEWS_MAX} views are shown in this frame already (VIEWS_MAX)"));
        }
        let viewport = match viewport {
            Some(viewport) => *self.viewports.get(viewport.0).expect("it was checked"),
            None => Viewport::DEFAULT,
        };
        let size = self.viewport_size(&viewport).max(Vec2::ONE);
        let camera = self.camera(camera).frame(size.x / size.y);
        let first = self.picture.views.iter().all(|view| view.target != viewport.target);
        let whole = viewport.rectangle == [0.0, 0.0, 1.0, 1.0];
        let background = viewport.background.filter(|_| first || !whole);
        self.picture.worlds.push(world.0);
        self.picture.views.push(View {
            target: viewport.target,
            rectangle: viewport.rectangle,
            clear: background.map(|color| {
                [color.red, color.green, color.blue, color.alpha].map(|part| part / 255.0)
            }),
            camera,
            scene: self.scene_number(world),
            layers: u32::MAX,
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
        crate::owner!("renderer/packets");
        self.keep_last_picture(packet);
        self.captures.fill(packet);
        self.guis.recycle(&mut packet.spare_guis);
        self.end_targets();
        self.refresh_sources();
        self.refresh_material_sources();
        self.refresh_skins();
        self.materials.flush(&mut packet.materials);
        self.textures.flush(&mut packet.textures);
        for (gui, target) in self.guis.into_textures() {
            packet.views.push(View {
                target: Target::Texture(target),
                rectangle: [0.0, 0.0, 1.0, 1.0],
                clear: Some([0.0; 4]),
                camera: Camera::DEFAULT.frame(1.0),
                scene: None,
                layers: u32::MAX,
                guis: vec![gui],
            });
        }
        let worlds = std::mem::take(&mut self.picture.worlds);
        for (i, mut view) in std::mem::take(&mut self.picture.views).into_iter().enumerate() {
            view.guis.extend(self.draw_lines(i, &view, worlds[i]));
            packet.views.push(view);
        }
        self.fill_scenes(packet);
        self.lines.end_frame(self.frame.total);
        if self.picture.is_shown && self.build == Build::Development {
            self.note_views(&packet.views);
        }
        self.fill_overlays(packet);
        if let Err(error) = self.text.flush(&self.tasks, &mut packet.textures) {
            log::error(&error.to_string());
        }
        self.draw_particles(packet);
        let stopped = self.picture.error.is_some();
        self.guis.end_frame(&mut packet.guis, &mut packet.ended_guis, |left| {
            if stopped {
                // An error came between them.
                return;
            }
            let words = format!(
                "at the end of the frame {left} pushes of a Gui had no pop: push and pop, \
                 push_clip and pop_clip belong together"
            );
            log::warn("Gui.push", &words);
        });
        self.show_last_picture(packet);
    }
}
