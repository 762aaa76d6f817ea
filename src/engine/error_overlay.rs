//! Engine overlays drawn over everything: the report of an error that stopped the game, or in a
//! release the text for its player, and the console. The content of the console is in the prelude
//! (lua/debug/console.lua).

use super::{Assets, Devices, Drawing, OpenedGame};
use engine_foundation::{Error, Handle, Vec2};
use engine_frame_packet::gui::GuiFrame;
use engine_frame_packet::shading_environment::{EnvironmentTextures, ShadingEnvironment};
use engine_frame_packet::text::{FontNumber, PageNumber, TextRequest};
use engine_frame_packet::{FramePacket, View, ViewTarget};
use engine_gui::tessellation;
use engine_gui::{DrawRequest, GuiId, PLAIN, PrimitiveKind};
use engine_world::camera::Camera;

/// Text size of the report in logical pixels, readable at any pixel density.
const SIZE: f32 = 16.0;
/// Text size of the first lines, which describe the error.
const TITLE_SIZE: f32 = 22.0;
const MARGIN: f32 = 32.0;
const BAND: f32 = 6.0;
/// Width of the bar that shows which part of a long report is visible.
const BAR: f32 = 6.0;
/// Maximum number of lines of all reports together.
const REPORT_LINES_MAX: usize = 1000;

/// Background color that leaves the last image barely visible, so that bright text in it does not
/// mix with the text of the report.
const GROUND: [u8; 4] = [24, 10, 14, 253];
/// Background of the edges, under which a long report scrolls.
const EDGE_GROUND: [u8; 4] = [24, 10, 14, 255];
/// Marker for omitted text.
const MORE: &str = "… (all of it is on the terminal)";
const RED: [u8; 4] = [224, 48, 56, 255];
const WHITE: [u8; 4] = [255, 255, 255, 255];
const GRAY: [u8; 4] = [178, 172, 176, 255];
const YELLOW: [u8; 4] = [255, 214, 110, 255];

/// Text sizes of the text for a player.
const PLAYER_TITLE_SIZE: f32 = 32.0;
const PLAYER_SIZE: f32 = 18.0;

/// Colors of a screen: behind the text, behind the edges, and of the band and the hint.
#[derive(Clone, Copy, Debug)]
struct ScreenColors {
    ground: [u8; 4],
    edge: [u8; 4],
    accent: [u8; 4],
}

const DEVELOPER_COLORS: ScreenColors =
    ScreenColors { ground: GROUND, edge: EDGE_GROUND, accent: RED };
const PLAYER_COLORS: ScreenColors = ScreenColors {
    ground: [20, 23, 30, 255],
    edge: [20, 23, 30, 255],
    accent: [232, 166, 70, 255],
};

/// Hint below the report. `restart` is the key that restarts the game.
fn hint_of(restart: Option<&str>) -> String {
    let restart = restart.map_or(String::new(), |key| format!("{key} restarts the game.  "));
    format!("Save a file to try again.  {restart}Escape, or closing the window, ends the game.")
}

/// Addition to the hint if the report is longer than the window.
const SCROLL_HINT: &str = "  ↑ ↓, Page Down or the wheel show the rest.";
/// Heading of the report of an earlier error that still stops the game.
pub const ALSO_STOPPED: &str = "The game is also stopped by this error:";

/// A request to scroll the report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ErrorScroll {
    /// Scrolls by this many lines; positive numbers show what follows.
    Lines(f32),
    /// Scrolls by this many heights of the visible part.
    Pages(f32),
    Start,
    End,
}

/// The text for the player of a released game that an error stopped.
pub struct PlayerErrorText<'a> {
    pub title: &'a str,
    pub text: &'a str,
    /// The file with the report, or the error if there is none.
    pub detail: &'a str,
    /// The address that the report is sent to; empty if there is none.
    pub address: &'a str,
    /// How the player ends the game.
    pub hint: &'a str,
}

/// The report of the error that stopped the game, and which part of it is visible.
#[derive(Debug)]
pub(super) struct ErrorScreen {
    lines: Vec<ReportLine>,
    /// Text at the lower edge.
    hint: String,
    colors: ScreenColors,
    /// Distance between the start of the report and the top of its visible part, in logical pixels.
    scroll: f32,
    /// Heights of the visible part and of the report when it was drawn last.
    visible: f32,
    height: f32,
}

impl ErrorScreen {
    fn new(lines: Vec<ReportLine>, hint: String, colors: ScreenColors) -> ErrorScreen {
        ErrorScreen { lines, hint, colors, scroll: 0.0, visible: 0.0, height: 0.0 }
    }

    /// Scrolls the report. Returns true if another part is visible now.
    fn scroll(&mut self, scroll: ErrorScroll) -> bool {
        let wanted = match scroll {
            ErrorScroll::Lines(lines) => self.scroll + lines * SIZE * 1.4,
            ErrorScroll::Pages(pages) => self.scroll + pages * (self.visible - 2.0 * SIZE),
            ErrorScroll::Start => 0.0,
            ErrorScroll::End => self.height,
        };
        let before = self.scroll;
        self.scroll = wanted.min(self.height - self.visible).max(0.0);
        self.scroll != before
    }
}

/// The last complete frame of a stopped game, shown below the report.
pub struct LastFrame {
    views: Vec<View>,
    guis: Vec<GuiFrame>,
}

/// A line of the report with its style.
#[derive(Clone, PartialEq, Debug)]
struct ReportLine {
    text: String,
    size: f32,
    color: [u8; 4],
}

/// Returns the lines of reports, the newest first. A report has the engine's activity, the error,
/// its location, and the stack.
fn lines_of(reports: &[String]) -> Vec<ReportLine> {
    let mut lines = Vec::new();
    let line = |text: &str, size, color| ReportLine { text: text.to_string(), size, color };
    for (number, report) in reports.iter().enumerate() {
        if number > 0 {
            lines.extend([line(" ", SIZE, GRAY), line(ALSO_STOPPED, SIZE, RED)]);
        }
        let title = report.lines().position(|line| line.starts_with("Error")).unwrap_or(0);
        let title_size = if number == 0 { TITLE_SIZE } else { SIZE };
        let mut stack = false;
        for (i, text) in report.lines().enumerate() {
            stack |= text.starts_with("Lua stack") || text.starts_with("stack traceback");
            let start = text.trim_start().split(' ').next().unwrap_or_default();
            let source = text.contains(" | ") && start.parse::<u32>().is_ok();
            let (size, color) = match i {
                _ if i == title => (title_size, WHITE),
                _ if source => (SIZE, YELLOW),
                _ if stack || i < title => (SIZE, GRAY),
                _ => (SIZE, WHITE),
            };
            // An empty line has a height, too.
            lines.push(line(if text.is_empty() { " " } else { text }, size, color));
        }
    }
    if lines.len() > REPORT_LINES_MAX {
        lines.truncate(REPORT_LINES_MAX - 1);
        lines.push(line(MORE, SIZE, GRAY));
    }
    lines
}

/// Returns what the player of a released game is shown.
fn player_lines(player: &PlayerErrorText) -> Vec<ReportLine> {
    let mut lines = vec![
        (player.title, PLAYER_TITLE_SIZE, WHITE),
        ("", PLAYER_SIZE, GRAY),
        (player.text, PLAYER_SIZE, WHITE),
        ("", PLAYER_SIZE, GRAY),
        (player.detail, PLAYER_SIZE, YELLOW),
    ];
    // The game's own text can have the address already.
    if !player.text.contains(player.address) {
        lines.extend([("", PLAYER_SIZE, GRAY), (player.address, PLAYER_SIZE, WHITE)]);
    }
    // An empty line has a height, too.
    let line = |(text, size, color): (&str, f32, [u8; 4])| ReportLine {
        text: if text.is_empty() { " " } else { text }.to_string(),
        size,
        color,
    };
    lines.into_iter().map(line).collect()
}

impl Drawing {
    /// Shows reports of errors over everything, the newest first, until [`Drawing::hide_error`].
    /// `restart` is the key that restarts the game, for the hint.
    pub fn show_error(&mut self, reports: &[String], restart: Option<&str>) {
        let (lines, hint) = (lines_of(reports), hint_of(restart));
        self.builder.error = Some(ErrorScreen::new(lines, hint, DEVELOPER_COLORS));
    }

    /// Shows the player of a released game that an error stopped it.
    pub fn show_player_error(&mut self, player: &PlayerErrorText) {
        let lines = player_lines(player);
        self.builder.error = Some(ErrorScreen::new(lines, player.hint.to_string(), PLAYER_COLORS));
    }

    /// Scrolls the shown reports. Returns true if another part of them is visible now.
    pub fn scroll_error(&mut self, scroll: ErrorScroll) -> bool {
        self.builder.error.as_mut().is_some_and(|screen| screen.scroll(scroll))
    }

    pub fn hide_error(&mut self) {
        self.builder.error = None;
    }

    /// Stores the views of a frame.
    pub(super) fn remember_views(&mut self, views: &[View]) {
        if self.builder.error.is_none() {
            self.builder.last_views.clear();
            self.builder.last_views.extend_from_slice(views);
        }
    }

    /// If an error has stopped the game, keeps the last frame returned by the renderer, before its
    /// arrays are reused.
    pub(super) fn keep_last_frame(&mut self, packet: &mut FramePacket) {
        if self.builder.error.is_none() {
            self.builder.last = None;
        } else if self.builder.last.is_none() {
            let views = std::mem::take(&mut self.builder.last_views);
            let guis = std::mem::take(&mut packet.spare_guis);
            self.builder.last = Some(LastFrame { views, guis });
        }
    }

    /// Replaces the drawing of the stopped frame with the last complete frame.
    pub(super) fn show_last_frame(&mut self, packet: &mut FramePacket) {
        let Some(last) = &self.builder.last else { return };
        let own = self.builder.error_gui.map(|gui| gui.0.to_number() as u64);
        for frame in packet.guis.iter_mut().filter(|frame| Some(frame.gui) != own) {
            let handle = Handle::from_number(frame.gui as f64);
            let gui = handle.and_then(|handle| self.guis.slots().get(handle));
            // A texture that keeps its content shows the last frame already.
            let is_shown = gui.is_none_or(|gui| !gui.desc.keeps);
            let whole = last.guis.iter().find(|whole| whole.gui == frame.gui && is_shown);
            frame.batches = whole.map_or(Vec::new(), |whole| whole.batches.clone());
            frame.masks = whole.map_or(Vec::new(), |whole| whole.masks.clone());
            if let Some(whole) = whole.filter(|whole| !whole.batches.is_empty()) {
                frame.transforms.clone_from(&whole.transforms);
            }
        }
    }

    /// Returns the console's Gui. It is drawn over everything in each frame in which this function
    /// is called.
    pub fn console_gui(&mut self) -> Result<GuiId, Error> {
        self.builder.console_shown = true;
        let known = self.builder.console;
        if let Some(gui) = known.filter(|gui| self.guis.slots().get(gui.0).is_some()) {
            return Ok(gui);
        }
        let gui = self.new_overlay_gui()?;
        self.builder.console = Some(gui);
        Ok(gui)
    }

    /// Adds the overlays to a packet that has its views.
    pub(super) fn fill_overlays(
        &mut self,
        game: &OpenedGame,
        assets: &mut Assets,
        devices: &Devices,
        packet: &mut FramePacket,
    ) {
        if std::mem::take(&mut self.builder.console_shown)
            && let Some(gui) = self.builder.console
        {
            packet.views.push(fullscreen_view(gui.0, None));
        }
        self.fill_reload_overlay(game, assets, devices, packet);
        if let Some(mut screen) = self.builder.error.take() {
            if let Ok(gui) = self.draw_error(assets, devices, &mut screen) {
                let views = self.builder.last.as_ref().map(|last| last.views.clone());
                packet.views = views.unwrap_or_default();
                let empty = packet.views.iter().all(|view| view.target != ViewTarget::Screen);
                packet.views.push(fullscreen_view(gui.0, empty.then_some([0.0, 0.0, 0.0, 1.0])));
            }
            self.builder.error = Some(screen);
        }
    }

    fn draw_error(
        &mut self,
        assets: &mut Assets,
        devices: &Devices,
        screen: &mut ErrorScreen,
    ) -> Result<GuiId, Error> {
        let gui = match self.builder.error_gui {
            Some(gui) if self.guis.slots().get(gui.0).is_some() => gui,
            _ => self.new_overlay_gui()?,
        };
        self.builder.error_gui = Some(gui);
        let font = assets.text.find(&mut assets.store, engine_text::DEFAULT_FONT)?;
        let metrics = assets.text.metrics(font);
        let size = devices.window.logical();
        let width = size.x - 2.0 * MARGIN - BAR;
        let heights: Vec<f32> = screen
            .lines
            .iter()
            .map(|line| {
                let extents = assets.text.extents(&line.request(font, width));
                let rows = extents.map_or(1, |extents| extents.lines);
                rows as f32 * metrics.line_height * line.size
            })
            .collect();
        let is_long = |screen: &ErrorScreen| screen.height > screen.visible;
        let hint = match is_long(screen) {
            true => format!("{}{SCROLL_HINT}", screen.hint),
            false => screen.hint.clone(),
        };
        let colors = screen.colors;
        let hint = ReportLine { text: hint, size: SIZE, color: colors.accent };
        let hint_rows =
            assets.text.extents(&hint.request(font, width)).map_or(1, |extents| extents.lines);
        // A hint of one line is as far from the edge as the report.
        let hint_height = hint_rows as f32 * metrics.line_height * SIZE;
        let hint_top = (hint_height + SIZE * 0.5).max(MARGIN);
        let (top, bottom) = (size.y - BAND - MARGIN, hint_top + MARGIN);
        screen.height = heights.iter().sum();
        screen.visible = (top - bottom).max(SIZE);
        screen.scroll(ErrorScroll::Lines(0.0));
        self.fill_rectangle(gui, [0.0, 0.0, size.x, size.y], colors.ground);
        let mut y = top + screen.scroll;
        for (line, height) in screen.lines.iter().zip(heights) {
            if y - height < top && y > bottom {
                self.draw_report_line(assets, gui, line.request(font, width), line.color, y);
            }
            y -= height;
        }
        self.fill_rectangle(gui, [0.0, top, size.x, size.y], colors.edge);
        self.fill_rectangle(gui, [0.0, 0.0, size.x, bottom - SIZE * 0.25], colors.edge);
        self.fill_rectangle(gui, [0.0, size.y - BAND, size.x, size.y], colors.accent);
        if is_long(screen) {
            let length = screen.visible * screen.visible / screen.height;
            let from = top - screen.scroll * screen.visible / screen.height;
            let right = size.x - MARGIN * 0.5;
            self.fill_rectangle(gui, [right - BAR, from - length, right, from], GRAY);
        }
        self.draw_report_line(assets, gui, hint.request(font, width), hint.color, hint_top);
        Ok(gui)
    }

    /// Fills a rectangle: left, bottom, right, top. Shapes that exceed the Gui's capacity are left
    /// out, here and below.
    fn fill_rectangle(&mut self, gui: GuiId, rectangle: [f32; 4], color: [u8; 4]) {
        let request = draw_request(gui);
        let _ =
            self.guis.submit_quad(request, PLAIN, |of| tessellation::quad(rectangle, of, color));
    }

    /// Draws a line of the report whose top edge is at `top`.
    fn draw_report_line(
        &mut self,
        assets: &mut Assets,
        gui: GuiId,
        request: TextRequest,
        color: [u8; 4],
        top: f32,
    ) {
        let baseline = top - assets.text.metrics(request.font).ascent * request.size;
        let Ok(quads) = assets.text.layout(&request) else { return };
        let shared = quads.iter().filter(|quad| quad.page == PageNumber::SHARED);
        let each: Vec<_> = shared.map(|quad| quad.instance(MARGIN, baseline, color, 0)).collect();
        let _ = self.guis.submit_quads(draw_request(gui), PLAIN, each.into_iter());
    }
}

fn draw_request(gui: GuiId) -> DrawRequest<'static> {
    DrawRequest {
        gui,
        object: 0.0,
        primitive: PrimitiveKind::Text,
        layer: 0,
        pose: None,
        blend: None,
    }
}

impl ReportLine {
    fn request(&self, font: FontNumber, width: f32) -> TextRequest<'_> {
        TextRequest {
            font,
            text: self.text.as_bytes(),
            size: self.size,
            max_width: width.max(self.size),
            markup: false,
            ..TextRequest::DEFAULT
        }
    }
}

/// Returns a view that shows only a Gui over the whole screen.
pub(super) fn fullscreen_view(gui: Handle, clear: Option<[f32; 4]>) -> View {
    View {
        target: ViewTarget::Screen,
        rectangle: [0.0, 0.0, 1.0, 1.0],
        clear,
        camera: Camera::DEFAULT.frame(Vec2::ONE),
        scene: None,
        layers: u32::MAX,
        sky: None,
        environment: ShadingEnvironment::DEFAULT,
        environment_textures: EnvironmentTextures::default(),
        viewport: None,
        guis: vec![gui.to_number() as u64],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "When calling: render\nError: no such thing\n    In main.lua:61\n       \
                          61 | draw()\nLua stack, innermost first:\n  main.lua:61 in draw";

    #[test]
    fn a_report_begins_with_the_error_and_separates_source_lines() {
        let lines = lines_of(&[REPORT.to_string()]);
        let colors: Vec<_> = lines.iter().map(|line| line.color).collect();
        assert_eq!(colors, [GRAY, WHITE, WHITE, YELLOW, GRAY, GRAY]);
        assert_eq!((lines[0].size, lines[1].size), (SIZE, TITLE_SIZE));
    }

    #[test]
    fn the_newest_report_is_first_and_the_earlier_one_follows() {
        let lines = lines_of(&["main.lua:3: '=' expected\n\nlast".to_string(), REPORT.to_string()]);
        assert_eq!((lines[0].size, &lines[0].text[..]), (TITLE_SIZE, "main.lua:3: '=' expected"));
        let heading = lines.iter().position(|line| line.text == ALSO_STOPPED).unwrap();
        assert_eq!((heading, lines[heading].color), (4, RED));
        let error = lines.iter().find(|line| line.text.starts_with("Error")).unwrap();
        assert_eq!((error.size, error.color), (SIZE, WHITE));
        let long = lines_of(&["x\n".repeat(REPORT_LINES_MAX + 5)]);
        assert_eq!((long.len(), &long[REPORT_LINES_MAX - 1].text[..]), (REPORT_LINES_MAX, MORE));
    }

    #[test]
    fn the_address_for_reports_is_shown_once() {
        let shown = |text: &str, address: &str| {
            let (title, detail, hint) = ("Yard has stopped", "crash.txt", "Press Escape");
            let lines = player_lines(&PlayerErrorText { title, text, detail, address, hint });
            lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("/")
        };
        let start = "Yard has stopped/ /Send this:/ /crash.txt";
        assert_eq!(shown("Send this:", ""), start);
        assert_eq!(shown("Send this:", "a@example.com"), format!("{start}/ /a@example.com"));
        let wanted = "Yard has stopped/ /Send this to a@example.com:/ /crash.txt";
        assert_eq!(shown("Send this to a@example.com:", "a@example.com"), wanted);
    }

    #[test]
    fn a_report_scrolls_between_its_start_and_its_end() {
        let screen = |height, visible| {
            let empty = ErrorScreen::new(Vec::new(), String::new(), DEVELOPER_COLORS);
            ErrorScreen { height, visible, ..empty }
        };
        let (mut screen, mut short) = (screen(1000.0, 300.0), screen(100.0, 300.0));
        assert!(!screen.scroll(ErrorScroll::Lines(-1.0)), "it is at the start");
        assert!(screen.scroll(ErrorScroll::Pages(1.0)) && screen.scroll < 300.0);
        assert!(screen.scroll(ErrorScroll::End) && screen.scroll == 700.0);
        assert!(!screen.scroll(ErrorScroll::Lines(3.0)));
        assert!(screen.scroll(ErrorScroll::Start) && screen.scroll == 0.0);
        assert!(!short.scroll(ErrorScroll::End), "all of it is visible");
    }
}
