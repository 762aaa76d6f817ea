//! What a frame shows: where worlds, cameras, Guis, textures and texts come together in the packet
//! that the renderer gets. The systems themselves know nothing of each other.

use super::captures::NOTHING_DRAWN;
use super::overlay::LastPicture;
use super::seen::Kept;
use super::targets::Targets;
use super::{Build, Engine};
use crate::error;
use crate::foundation::{Error, Handle, Mat4, Vec2, log};
use crate::packet::gui::Space;
use crate::packet::material::MaterialSlot;
use crate::packet::text::PageNumber;
use crate::packet::texture::TextureSlot;
use crate::packet::{Packet, Target, View};
use crate::resource::name::ResourceName;
use crate::system::gui::{GuiId, Making, Mode, PLAIN, Source, SourceNumber, nearly_black};
use crate::system::materials::MaterialId;
use crate::system::render::{Draw, Recorder, SceneSeen};
use crate::system::textures::{Entry, TextureNumber};
use crate::system::window::WindowId;
use crate::world::WorldId;
use crate::world::camera::{CAMERAS_MAX, Camera, CameraId, ViewportId};
use std::collections::HashMap;

/// The most views of one frame.
pub const VIEWS_MAX: usize = 256;

/// For so many frames in a row something must be nearly black before that is told.
const DARK_FRAMES: u32 = 30;

/// A state that materials and textures never have.
pub(super) const STALE: (u64, u64) = (u64::MAX, u64::MAX);

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
    /// For how many frames something was nearly black.
    dark_frames: u32,
    main_camera: Option<CameraId>,
    main_gui: Option<GuiId>,
    /// The sources that textures are for Guis, by their names.
    pub(super) sources: HashMap<String, SourceNumber>,
    /// What each source but the first is of, and of which state of materials and textures.
    pub(super) origins: Vec<Origin>,
    pub(super) origins_version: (u64, u64),
    pub(super) pages: HashMap<(PageNumber, SourceNumber), SourceNumber>,
    /// Textures that are drawn into.
    pub(super) targets: Targets,
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
    /// The sources that materials are for Guis.
    pub(super) materials: HashMap<MaterialId, SourceNumber>,
}

/// What a source of Guis is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Texture(TextureNumber),
    Material(MaterialId),
    /// A page of a font, with the material of another source.
    Page(PageNumber, SourceNumber),
    /// Of nothing any more: its number is free.
    Ended,
}

/// A texture as Guis draw with it.
pub(super) fn source_of(name: &str, entry: &Entry) -> Source {
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
        let number = self.add_source(source, Origin::Texture(texture))?;
        self.picture.sources.insert(name.to_string(), number);
        Ok(number)
    }

    /// Makes a source, with what it is of.
    pub(super) fn add_source(
        &mut self,
        source: Source,
        origin: Origin,
    ) -> Result<SourceNumber, Error> {
        // Whoever moved makes way before another one takes the place.
        self.refresh_sources();
        let number = self.guis.add_source(source).map_err(Error::new)?;
        let (origins, place) = (&mut self.picture.origins, number.0 as usize - 1);
        if place == origins.len() {
            origins.push(origin);
        } else {
            origins[place] = origin;
        }
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
        self.refresh_sources();
        let source = self.source_of_page(page, with)?;
        let number = self.add_source(source, Origin::Page(page, with))?;
        self.picture.pages.insert((page, with), number);
        Ok(number)
    }

    fn source_of_page(&mut self, page: PageNumber, with: SourceNumber) -> Result<Source, Error> {
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
        Ok(Source { name, material, texture, ..Source::PLAIN })
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

    /// The draw calls of Guis in the newest frame, where nobody shows it.
    pub fn draws(&self) -> &[Draw] {
        self.picture.recorder.draws()
    }

    /// The name of the texture that a draw call of a Gui shows; none where it shows pictures of the
    /// shared atlas, or none.
    pub fn drawn_name(&self, draw: &Draw) -> Option<&str> {
        let slot = draw.key.texture;
        let shows = |number: &SourceNumber| {
            self.guis.source(*number).is_some_and(|source| source.texture == slot)
        };
        let named = self.picture.sources.iter().filter(|(_, number)| shows(number));
        let names = named.map(|(name, _)| name.as_str()).filter(|_| slot != TextureSlot::SHARED);
        // Several names of one texture: always the same one.
        names.min()
    }

    /// Those of worlds.
    pub(super) fn scene_seen(&self) -> Vec<SceneSeen> {
        self.picture.recorder.scene_seen()
    }

    /// Brings the sources up to date with textures and materials that are not what they were.
    pub fn refresh_sources(&mut self) {
        if self.picture.origins_version == (self.materials.version(), self.textures.version()) {
            return;
        }
        let textures_moved = self.picture.origins_version.1 != self.textures.version();
        if textures_moved {
            self.follow_textures();
        }
        let (mut anew, mut pages) = (Vec::new(), Vec::new());
        for place in 0..self.picture.origins.len() {
            let number = SourceNumber(place as u32 + 1);
            match self.picture.origins[place] {
                Origin::Texture(texture) if textures_moved => {
                    let name = &self.guis.source(number).expect("it is there").name;
                    anew.push((number, source_of(name, self.textures.entry(texture))));
                }
                Origin::Material(material) => {
                    anew.push((number, self.source_of_material(material)));
                }
                Origin::Page(page, with) => pages.push((number, page, with)),
                Origin::Texture(_) | Origin::Ended => {}
            }
        }
        self.guis.change_sources(anew);
        // These have the materials of others. One that cannot be read any more stays, which was
        // told where it was loaded.
        let mut anew = Vec::with_capacity(pages.len());
        for (number, page, with) in pages {
            if let Ok(source) = self.source_of_page(page, with) {
                anew.push((number, source));
            }
        }
        self.guis.change_sources(anew);
        // Looking them up may have loaded some.
        self.picture.origins_version = (self.materials.version(), self.textures.version());
    }

    /// Width and height of what a Gui draws on, in its own units.
    pub fn gui_size(&self, gui: GuiId) -> Vec2 {
        let making = self.guis.slots().get(gui.0).map(|gui| gui.making);
        match making.map(|making| making.size) {
            Some([width, height]) if width > 0.0 => Vec2::new(width, height),
            _ => self.window.logical(),
        }
    }

    /// Shows a world as a camera sees it, on a viewport or the whole screen, when the frame ends;
    /// in a window beside the main one, where one is given. What is shown first on a target is
    /// drawn on its background. Textures are drawn into before windows are.
    pub fn render_world(
        &mut self,
        world: WorldId,
        camera: CameraId,
        viewport: Option<ViewportId>,
        window: Option<WindowId>,
    ) -> Result<(), Error> {
        if self.world(world).flags.no_rendering {
            return Ok(());
        }
        if self.picture.views.len() >= VIEWS_MAX {
            return Err(error!("{VIEWS_MAX} views are shown in this frame already (VIEWS_MAX)"));
        }
        let viewport = self.viewport_in(viewport, window)?;
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
            guis: self.guis_on(viewport.target, world.0),
        });
        Ok(())
    }

    /// Fills a packet with what the frame shows, and ends the frame's drawing.
    pub(super) fn fill_packet(&mut self, packet: &mut Packet) {
        crate::owner!("renderer/packets");
        self.keep_last_picture(packet);
        self.captures.fill(packet);
        self.guis.recycle(&mut packet.spare_guis);
        self.end_targets();
        self.refresh_sources();
        self.refresh_skins();
        self.place_pictures();
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
        let first = packet.views.len();
        for (i, mut view) in std::mem::take(&mut self.picture.views).into_iter().enumerate() {
            view.guis.extend(self.draw_lines(i, &view, worlds[i]));
            packet.views.push(view);
        }
        Engine::textures_first(&mut packet.views[first..]);
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
        self.tell_nearly_black(packet);
        self.show_last_picture(packet);
    }

    /// Warns of a colour that stays nearly black: one that only fades is not meant.
    fn tell_nearly_black(&mut self, packet: &Packet) {
        if self.build == Build::Release {
            return;
        }
        let Some([red, green, blue, _]) = nearly_black(&packet.guis) else {
            self.picture.dark_frames = 0;
            return;
        };
        self.picture.dark_frames += 1;
        if self.picture.dark_frames == DARK_FRAMES {
            let words = format!(
                "something is drawn in the colour {red}, {green}, {blue}, which is nearly black: \
                 parts of colours go from 0 to 255, not to 1"
            );
            log::warn("Color", &words);
        }
    }
}
