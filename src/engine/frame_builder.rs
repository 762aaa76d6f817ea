//! Frame building: combines worlds, cameras, Guis, textures and texts into the packet for the
//! renderer. The systems themselves are independent of each other.

use super::error_overlay::{ErrorScreen, LastFrame};
use super::frame_description::FrameRetention;
use super::render_targets::textures_first;
use super::screenshots::NOTHING_DRAWN;
use super::{Assets, BuildMode, Devices, Drawing, Engine, OpenedGame, Worlds};
use engine_foundation::error;
use engine_foundation::{Error, Handle, Mat4, Vec2, log, suggest};
use engine_frame_packet::gui::GuiSpace;
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::shading_environment::{EnvironmentTextures, ShadingEnvironment};
use engine_frame_packet::text::PageNumber;
use engine_frame_packet::texture::TextureSlot;
use engine_frame_packet::{FramePacket, View, ViewTarget};
use engine_gui::{GuiDesc, GuiId, GuiMode, PLAIN, SourceNumber, TextureSource, nearly_black};
use engine_materials::MaterialId;
use engine_render::{DrawRecorder, GuiDraw, RecordedSceneDraw};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use engine_textures::{TextureEntry, TextureNumber};
use engine_window::WindowId;
use engine_world::WorldId;
use engine_world::camera::{Camera, CameraId, ViewportId};
use engine_world::shading::ShadingEnvironmentId;
use std::collections::HashMap;

/// Maximum number of views in one frame.
pub const VIEWS_MAX: usize = 256;

/// Number of consecutive frames with a nearly black color before the warning.
const DARK_FRAMES: u32 = 30;

/// Number of consecutive frames without a view before the warning: two seconds, longer than a game
/// shows nothing on purpose.
const VIEWLESS_FRAMES: u32 = 120;

/// Version that materials and textures never have, to force a refresh.
pub(super) const STALE: (u64, u64) = (u64::MAX, u64::MAX);

/// Builder of the next frame, with the default Gui.
#[derive(Default)]
pub struct FrameBuilder {
    views: Vec<View>,
    /// World of each view.
    worlds: Vec<Handle>,
    /// Guis for the debug lines over each view.
    pub(super) line_guis: Vec<GuiId>,
    pub(super) console: Option<GuiId>,
    pub(super) console_shown: bool,
    /// Report of the error that stopped the game.
    pub(super) error: Option<ErrorScreen>,
    pub(super) error_gui: Option<GuiId>,
    /// The Gui of the banner while the debugger stops a script.
    pub(super) pause_gui: Option<GuiId>,
    /// Messages about refused files while the game runs.
    pub(super) refusals: Vec<String>,
    pub(super) reload_overlay_gui: Option<GuiId>,
    /// Views of the newest frame.
    pub(super) last_views: Vec<View>,
    /// The last complete frame of a stopped game, which is shown below the error report.
    pub(super) last: Option<LastFrame>,
    /// Number of consecutive frames with a nearly black color.
    dark_frames: u32,
    /// True if the game was warned of a dark color already, at the line that created it.
    pub warned_of_dark: bool,
    /// Number of consecutive frames that showed nothing at all, although units exist.
    viewless_frames: u32,
    main_gui: Option<GuiId>,
    /// Gui sources of textures, by name.
    pub(super) sources: HashMap<String, SourceNumber>,
    /// Origin of each source except the first, and the version of materials and textures that they
    /// are up to date with.
    pub(super) origins: Vec<SourceOrigin>,
    pub(super) origins_version: (u64, u64),
    pub(super) pages: HashMap<(PageNumber, SourceNumber), SourceNumber>,
    /// True if a renderer takes the packets; false if the recorder does.
    pub is_shown: bool,
    /// Description of the graphics adapter for reports; empty if nothing is drawn.
    pub adapter: String,
    recorder: DrawRecorder,
    unseen: FramePacket,
    /// Retention of frames without a renderer, the first retained frame, and the retained packets.
    pub(super) kept: FrameRetention,
    pub(super) first_kept: u64,
    pub(super) packets: Vec<FramePacket>,
    /// Gui sources of materials.
    pub(super) materials: HashMap<MaterialId, SourceNumber>,
}

/// Origin of a Gui source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SourceOrigin {
    Texture(TextureNumber),
    Material(MaterialId),
    /// A page of a font, with the material of another source.
    Page(PageNumber, SourceNumber),
    /// The origin was destroyed: the source number is free.
    Ended,
}

/// Converts a texture into a Gui source.
pub(super) fn source_of(name: &str, entry: &TextureEntry) -> TextureSource {
    TextureSource {
        name: name.to_string(),
        material: MaterialSlot::BUILT_IN,
        texture: entry.slot,
        paint: entry.paint,
        uv: entry.uv,
        size: [entry.width as f32, entry.height as f32],
    }
}

/// An immediate Gui as large as the picture, in no world.
const SCREEN_GUI: GuiDesc = GuiDesc {
    world: None,
    space: GuiSpace::Screen,
    mode: GuiMode::Immediate,
    pose: Mat4::IDENTITY,
    size: [0.0, 0.0],
    target: None,
    keeps: false,
};

impl Drawing {
    /// Returns the default immediate Gui in the main world. It is created on the first request.
    pub fn main_gui(&mut self, worlds: &mut Worlds) -> Result<GuiId, Error> {
        if let Some(gui) = self.builder.main_gui
            && self.guis.slots().get(gui.0).is_some()
        {
            return Ok(gui);
        }
        let world = worlds.main_world()?;
        let gui = self.new_screen_gui(Some(world), GuiMode::Immediate)?;
        self.builder.main_gui = Some(gui);
        Ok(gui)
    }

    /// Creates a Gui on the screen, which the views of a world show.
    pub fn new_screen_gui(
        &mut self,
        world: Option<WorldId>,
        mode: GuiMode,
    ) -> Result<GuiId, Error> {
        let desc = GuiDesc { world: world.map(|world| world.0), mode, ..SCREEN_GUI };
        self.guis.create(desc).map_err(Error::new)
    }

    /// Creates an immediate Gui for an overlay of the engine, in logical pixels of the window.
    pub(super) fn new_overlay_gui(&mut self) -> Result<GuiId, Error> {
        let desc = GuiDesc { space: GuiSpace::Overlay, ..SCREEN_GUI };
        self.guis.create(desc).map_err(Error::new)
    }

    /// Returns the source number by which Guis draw with a texture. The source is created on the
    /// first request.
    pub fn source(&mut self, assets: &mut Assets, name: &str) -> Result<SourceNumber, Error> {
        if let Some(known) = self.builder.sources.get(name) {
            return Ok(*known);
        }
        if assets.store.has(&ResourceName::new(kind_names::MATERIAL, name)) {
            let material = assets.find_material(name)?;
            let number = self.material_source(assets, material)?;
            self.builder.sources.insert(name.to_string(), number);
            return Ok(number);
        }
        let texture = assets
            .textures
            .find(&mut assets.store, name)
            .map_err(|error| neither_texture_nor_material(&assets.store, name, error))?;
        let source = source_of(name, assets.textures.entry(texture));
        let number = self.add_source(assets, source, SourceOrigin::Texture(texture))?;
        self.builder.sources.insert(name.to_string(), number);
        Ok(number)
    }

    /// Adds a source with its origin.
    pub(super) fn add_source(
        &mut self,
        assets: &mut Assets,
        source: TextureSource,
        origin: SourceOrigin,
    ) -> Result<SourceNumber, Error> {
        // Sources that moved must be updated before a new source takes their location.
        self.refresh_sources(assets);
        let number = self.guis.add_source(source).map_err(Error::new)?;
        let (origins, index) = (&mut self.builder.origins, number.0 as usize - 1);
        if index == origins.len() {
            origins.push(origin);
        } else {
            origins[index] = origin;
        }
        Ok(number)
    }

    /// Returns the source of a font page, drawn with the material of another source. Each quad says
    /// how the page is sampled.
    pub fn page_source(
        &mut self,
        assets: &mut Assets,
        page: PageNumber,
        with: SourceNumber,
    ) -> Result<SourceNumber, Error> {
        if page == PageNumber::SHARED && with == PLAIN {
            return Ok(PLAIN);
        }
        if let Some(known) = self.builder.pages.get(&(page, with)) {
            return Ok(*known);
        }
        self.refresh_sources(assets);
        let source = self.source_of_page(assets, page, with)?;
        let number = self.add_source(assets, source, SourceOrigin::Page(page, with))?;
        self.builder.pages.insert((page, with), number);
        Ok(number)
    }

    fn source_of_page(
        &mut self,
        assets: &mut Assets,
        page: PageNumber,
        with: SourceNumber,
    ) -> Result<TextureSource, Error> {
        let of = self.guis.source(with).ok_or_else(|| error!("there is no such material"))?;
        let (material, name) = (of.material, of.name.clone());
        let texture = match page {
            PageNumber::SHARED => TextureSlot::SHARED,
            page => {
                let name = assets.text.page(page).texture.clone();
                let texture = assets.textures.find(&mut assets.store, &name)?;
                assets.textures.slot(&mut assets.store, texture)?
            }
        };
        Ok(TextureSource { name, material, texture, ..TextureSource::PLAIN })
    }
}

impl Engine {
    /// Ends a frame without a renderer: the recorder applies the packet as a renderer does, and
    /// tests can query it.
    pub fn finish_unseen_frame(&mut self) {
        if self.drawing.builder.is_shown {
            return;
        }
        let packet = std::mem::take(&mut self.drawing.builder.unseen);
        let mut packet = self.take_packet(packet);
        self.drawing.builder.recorder.apply(&packet);
        for capture in &packet.captures {
            self.drawing.captures.receive(capture.number, Err(NOTHING_DRAWN.to_string()));
        }
        self.drawing.retain_frame(&self.frame, &mut packet);
        packet.clear();
        self.drawing.builder.unseen = packet;
    }
}

impl Drawing {
    /// Returns the draw calls of Guis in the newest frame of a run without a renderer.
    pub fn draws(&self) -> &[GuiDraw] {
        self.builder.recorder.draws()
    }

    /// Returns the name of the texture that a Gui's draw call shows, or `None` if it shows images
    /// of the shared atlas or no image.
    pub fn drawn_name(&self, draw: &GuiDraw) -> Option<&str> {
        let slot = draw.key.texture;
        let is_drawn = |number: &SourceNumber| {
            self.guis.source(*number).is_some_and(|source| source.texture == slot)
        };
        let named = self.builder.sources.iter().filter(|(_, number)| is_drawn(number));
        let names = named.map(|(name, _)| name.as_str()).filter(|_| slot != TextureSlot::SHARED);
        // If a texture has several names, the result is always the same one.
        names.min()
    }

    /// Returns the recorded draw calls of worlds.
    pub(super) fn recorded_scene_draws(&self) -> Vec<RecordedSceneDraw> {
        self.builder.recorder.recorded_scene_draws()
    }

    /// Updates the sources of changed textures and materials.
    pub fn refresh_sources(&mut self, assets: &mut Assets) {
        if self.builder.origins_version == (assets.materials.version(), assets.textures.version()) {
            return;
        }
        let textures_moved = self.builder.origins_version.1 != assets.textures.version();
        if textures_moved {
            assets.follow_textures();
        }
        let (mut updated, mut pages) = (Vec::new(), Vec::new());
        for index in 0..self.builder.origins.len() {
            let number = SourceNumber(index as u32 + 1);
            match self.builder.origins[index] {
                SourceOrigin::Texture(texture) if textures_moved => {
                    let name = &self.guis.source(number).expect("it is there").name;
                    updated.push((number, source_of(name, assets.textures.entry(texture))));
                }
                SourceOrigin::Material(material) => {
                    updated.push((number, assets.source_of_material(material)));
                }
                SourceOrigin::Page(page, with) => pages.push((number, page, with)),
                SourceOrigin::Texture(_) | SourceOrigin::Ended => {}
            }
        }
        self.guis.change_sources(updated);
        // These sources use the materials of others. A page that can no longer be read keeps its
        // source; the error was reported when the page was loaded.
        let mut updated = Vec::with_capacity(pages.len());
        for (number, page, with) in pages {
            if let Ok(source) = self.source_of_page(assets, page, with) {
                updated.push((number, source));
            }
        }
        self.guis.change_sources(updated);
        // The lookups may have loaded further textures.
        self.builder.origins_version = (assets.materials.version(), assets.textures.version());
    }

    /// Returns width and height of a Gui's canvas in its own units.
    pub fn gui_size(&self, devices: &Devices, gui: GuiId) -> Vec2 {
        let making = self.guis.slots().get(gui.0).map(|gui| gui.desc);
        match making {
            Some(GuiDesc { size: [width, height], .. }) if width > 0.0 => Vec2::new(width, height),
            Some(GuiDesc { space: GuiSpace::Overlay, .. }) => devices.window.logical(),
            _ => devices.window.picture_size(),
        }
    }
}

impl Engine {
    /// Adds a view of a world to the frame: a camera's image in a viewport or on the whole screen,
    /// in a secondary window if one is passed. `environment`: `None` is the environment that is
    /// applied to the world, if any. The first view on a target clears it to its
    /// background. Views into textures are drawn before views into windows.
    pub fn render_world(
        &mut self,
        world: WorldId,
        camera: CameraId,
        viewport: Option<ViewportId>,
        environment: Option<ShadingEnvironmentId>,
        window: Option<WindowId>,
    ) -> Result<(), Error> {
        if self.worlds.world(world).flags.no_rendering {
            return Ok(());
        }
        if self.drawing.builder.views.len() >= VIEWS_MAX {
            return Err(error!("{VIEWS_MAX} views are shown in this frame already (VIEWS_MAX)"));
        }
        let viewport = self.drawing.viewport_in(viewport, window)?;
        self.select_render_config();
        let size = self.devices.viewport_size(&viewport).max(Vec2::ONE);
        self.worlds.world(world).viewing.record(camera, self.frame.index);
        let camera = self.worlds.camera(camera).frame(size);
        let first = self.drawing.builder.views.iter().all(|view| view.target != viewport.target);
        let whole = viewport.rectangle == [0.0, 0.0, 1.0, 1.0];
        let background = viewport.background.filter(|_| first || !whole);
        let (sky, shading) = self.worlds.shading_of_view(world, environment, camera.position);
        let environment_textures = self.assets.textures_of_view(&shading.textures);
        self.drawing.builder.worlds.push(world.0);
        self.drawing.builder.views.push(View {
            target: viewport.target,
            rectangle: viewport.rectangle,
            clear: background.map(|color| {
                [color.red, color.green, color.blue, color.alpha].map(|part| part / 255.0)
            }),
            camera,
            scene: self.worlds.scene_number(world),
            layers: u32::MAX,
            sky,
            environment: shading.values,
            environment_textures,
            viewport: self.drawing.render_configs.slot(viewport.frame),
            guis: self.drawing.guis_on(viewport.target, world.0),
        });
        Ok(())
    }

    /// Fills a packet with the frame's output, and ends the drawing of the frame.
    pub(super) fn fill_packet(&mut self, packet: &mut FramePacket) {
        engine_foundation::owner!("renderer/packets");
        self.drawing.warn_of_no_view(&self.game, &self.worlds);
        self.drawing.keep_last_frame(packet);
        self.drawing.captures.fill(packet);
        self.drawing.guis.recycle(&mut packet.spare_guis);
        self.drawing.end_targets(&mut self.assets);
        self.drawing.refresh_sources(&mut self.assets);
        self.worlds.refresh_particle_textures(&mut self.assets);
        self.worlds.assign_scene_textures(&mut self.assets);
        self.assets.materials.flush(&mut packet.materials);
        self.assets.textures.flush(&mut packet.textures);
        for (gui, target, fill) in self.drawing.guis.into_textures() {
            packet.views.push(texture_view(gui, target, fill));
        }
        let worlds = std::mem::take(&mut self.drawing.builder.worlds);
        let first = packet.views.len();
        for (i, mut view) in std::mem::take(&mut self.drawing.builder.views).into_iter().enumerate()
        {
            view.guis.extend(self.drawing.draw_lines(
                &self.worlds.lines,
                &mut self.assets,
                &self.devices,
                i,
                &view,
                worlds[i],
            ));
            if let (ViewTarget::Screen, Some(picture)) = (view.target, packet.picture) {
                let pixels = self.devices.window.mapping().pixels.to_array();
                if let Some(crop) = picture.crop(view.rectangle, pixels) {
                    view.camera.projection = crop * view.camera.projection;
                }
            }
            packet.views.push(view);
        }
        textures_first(&mut packet.views[first..]);
        self.fill_render_config(packet);
        self.fill_scenes(packet);
        self.worlds.lines.end_frame(self.frame.total);
        if self.drawing.builder.is_shown && self.game.build == BuildMode::Development {
            self.drawing.remember_views(&packet.views);
        }
        self.drawing.fill_overlays(&self.game, &mut self.assets, &self.devices, packet);
        if let Err(error) = self.assets.text.flush(&self.devices.tasks, &mut packet.textures) {
            log::error(&error.to_string());
        }
        self.worlds.draw_particles(&mut self.drawing, &self.devices, packet);
        let stopped = self.drawing.builder.error.is_some();
        self.drawing.guis.end_frame(&mut packet.guis, &mut packet.ended_guis, |left| {
            if stopped {
                // An error interrupted the script between push and pop.
                return;
            }
            let message = format!(
                "at the end of the frame {left} pushes or masks of a Gui had no pop: each push, \
                 push_clip, push_blend and begin_mask needs its pop, pop_clip, pop_blend or \
                 pop_mask"
            );
            log::warn("Gui.push", &message);
        });
        self.drawing.warn_nearly_black(&self.game, packet);
        self.drawing.show_last_frame(packet);
    }
}

/// Returns the view of a Gui that draws onto a texture.
fn texture_view(gui: u64, target: TextureSlot, fill: Option<[u8; 4]>) -> View {
    View {
        target: ViewTarget::Texture(target),
        rectangle: [0.0, 0.0, 1.0, 1.0],
        clear: fill.map(|color| color.map(|part| f32::from(part) / 255.0)),
        camera: Camera::DEFAULT.frame(Vec2::ONE),
        scene: None,
        layers: u32::MAX,
        sky: None,
        environment: ShadingEnvironment::DEFAULT,
        environment_textures: EnvironmentTextures::default(),
        viewport: None,
        guis: vec![gui],
    }
}

/// Adds to the error of a missing texture that there is no material of that name either, because
/// Guis draw both.
fn neither_texture_nor_material(store: &ResourceStore, name: &str, error: Error) -> Error {
    let is_missing = error.message.starts_with("there is no texture '");
    let is_explained =
        error.message.contains("could not be compiled") || error.message.ends_with('?');
    if !is_missing || is_explained {
        return error;
    }
    let materials = store.names(kind_names::MATERIAL).unwrap_or_default();
    let near = suggest::nearest_in_folders(name, materials.iter().map(String::as_str));
    let near = near.map(|near| format!(", did you mean the material '{near}'?"));
    let message =
        format!("{}, and no material of that name{}", error.message, near.unwrap_or_default());
    Error { message, ..error }
}

impl Drawing {
    /// Warns if a game that is drawn has units, and shows nothing for a while. Without any view,
    /// its Guis are not visible either. Call it before the frame's views are moved to the packet.
    fn warn_of_no_view(&mut self, game: &OpenedGame, worlds: &Worlds) {
        let builder = &mut self.builder;
        let is_certain = builder.is_shown
            && builder.error.is_none()
            && builder.views.is_empty()
            && game.build == BuildMode::Development
            && !worlds.units.slots.is_empty();
        builder.viewless_frames = if is_certain { builder.viewless_frames + 1 } else { 0 };
        if builder.viewless_frames == VIEWLESS_FRAMES {
            let message = format!(
                "nothing is visible: {} units are spawned, and no world was shown in the last \
                 {VIEWLESS_FRAMES} frames. Show it in each frame: function render() \
                 Application.render_world(world, camera) end",
                worlds.units.slots.len()
            );
            log::warn("render", &message);
        }
    }

    /// Warns about a color that stays nearly black. A color that is only fading is not reported.
    fn warn_nearly_black(&mut self, game: &OpenedGame, packet: &FramePacket) {
        if game.build == BuildMode::Release {
            return;
        }
        let Some([red, green, blue, _]) = nearly_black(&packet.guis) else {
            self.builder.dark_frames = 0;
            return;
        };
        self.builder.dark_frames += 1;
        if self.builder.dark_frames == DARK_FRAMES && !self.builder.warned_of_dark {
            self.builder.warned_of_dark = true;
            let message = format!(
                "something is drawn in the colour {red}, {green}, {blue}, which is nearly black: \
                 parts of colours go from 0 to 255, not to 1"
            );
            log::warn("Color", &message);
        }
    }
}
