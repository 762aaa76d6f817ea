//! Pictures of a run that the command line asks for: the screenshot of a frame, and the film strip,
//! one picture of eight frames. The renderer captures the frames; the files are written here.

use super::output_files;
use super::picture_scaling::{fitted_size, scale_down};
use engine_foundation::log;
use engine_frame_packet::{CaptureRequest, ViewTarget};
use engine_render::RenderedImage;
use engine_resource::image::{encode_jpeg, encode_png};
use std::path::{Path, PathBuf};

/// Number of frames of a film strip.
pub const FILM_FRAMES: u64 = 8;
/// Frames in a row of a film strip.
const FILM_COLUMNS: usize = 4;
/// Maximum width of a frame of a film strip, in pixels. Wider frames are scaled down.
const FILM_WIDTH_MAX: u32 = 480;
/// Maximum height of a frame of a film strip, in pixels.
const FILM_HEIGHT_MAX: u32 = 960;
/// Pixels between the frames of a film strip.
const FILM_GAP: usize = 4;

/// Quality of screenshots that are saved as JPEG, from 1 to 100.
const SCREENSHOT_JPEG_QUALITY: u8 = 90;

/// The id of the command line's screenshot among the captures of the renderer. The frames of the
/// film strip have the ids after it.
const SCREENSHOT: u64 = 1 << 40;

/// A screenshot that the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenshotRequest {
    pub file: PathBuf,
    /// The frame to capture. If `None`, the last frame.
    pub frame: Option<u64>,
}

/// A film strip that the command line asks for: eight frames at even distances.
#[derive(Clone, Debug, PartialEq)]
pub struct FilmRequest {
    pub file: PathBuf,
    /// The first frame of the strip, from 1.
    pub first: u64,
    /// The last frame of the strip, at least seven frames after the first one.
    pub last: u64,
}

impl FilmRequest {
    /// Returns the index of a frame of the run, for a frame of the strip from 0.
    fn frame(&self, index: u64) -> u64 {
        let steps = FILM_FRAMES - 1;
        let way = u128::from(self.last - self.first) * u128::from(index);
        self.first + ((way + u128::from(steps / 2)) / u128::from(steps)) as u64
    }
}

/// Progress of the pictures of a run.
#[derive(Default)]
pub struct RunPictures {
    screenshot: Option<ScreenshotRequest>,
    state: ScreenshotState,
    film: Option<FilmRequest>,
    /// Number of frames of the film strip that the renderer was asked for.
    asked: u64,
    /// The captured frames of the film strip, scaled down.
    frames: Vec<RenderedImage>,
    film_failed: bool,
}

/// Progress of the command line's screenshot.
#[derive(Default, PartialEq)]
enum ScreenshotState {
    /// The renderer was not asked for the image.
    #[default]
    Waiting,
    Asked,
    Written,
    Failed,
}

impl RunPictures {
    pub fn new(screenshot: Option<ScreenshotRequest>, film: Option<FilmRequest>) -> RunPictures {
        RunPictures { screenshot, film, ..RunPictures::default() }
    }

    /// Returns true if the command line asks for no picture.
    pub fn is_empty(&self) -> bool {
        self.screenshot.is_none() && self.film.is_none()
    }

    /// Adds a screenshot of the last frame.
    pub fn add_last_frame(&mut self, file: PathBuf) {
        self.screenshot = Some(ScreenshotRequest { file, frame: None });
        self.state = ScreenshotState::Waiting;
    }

    /// Returns true if a screenshot of the last frame is still pending.
    pub fn needs_last_frame(&self) -> bool {
        let last = self.screenshot.as_ref().is_some_and(|wanted| wanted.frame.is_none());
        last && self.state == ScreenshotState::Waiting
    }

    /// Requests the captures of a frame, by its number from 1.
    pub fn request(&mut self, frame: u64, is_last: bool, captures: &mut Vec<CaptureRequest>) {
        let mut capture = |number| captures.push(CaptureRequest { number, of: ViewTarget::Screen });
        if let Some(wanted) = &self.screenshot
            && self.state == ScreenshotState::Waiting
            && wanted.frame.map_or(is_last, |wanted| wanted == frame)
        {
            capture(SCREENSHOT);
            self.state = ScreenshotState::Asked;
        }
        if let Some(film) = &self.film
            && self.asked < FILM_FRAMES
            && film.frame(self.asked) == frame
        {
            self.asked += 1;
            capture(SCREENSHOT + self.asked);
        }
    }

    /// Returns true if a capture of the renderer is one of these pictures.
    pub fn owns(number: u64) -> bool {
        (SCREENSHOT..=SCREENSHOT + FILM_FRAMES).contains(&number)
    }

    /// Takes a captured frame, or the reason why there is none, and writes the file that it
    /// completes.
    pub fn receive(&mut self, number: u64, captured: Result<&RenderedImage, &str>) {
        if number == SCREENSHOT {
            let file = self.screenshot.as_ref().map(|wanted| wanted.file.as_path());
            self.state = match (file, captured) {
                (Some(file), Ok(picture)) if write_picture(file, picture) => {
                    ScreenshotState::Written
                }
                (_, Err(message)) => {
                    log::error(&format!("the screenshot failed: {message}"));
                    ScreenshotState::Failed
                }
                _ => ScreenshotState::Failed,
            };
            return;
        }
        match captured {
            Ok(picture) => self.frames.push(film_frame(picture)),
            Err(message) => {
                log::error(&format!("a frame of the film strip failed: {message}"));
                self.film_failed = true;
            }
        }
        if let Some(film) = &self.film
            && self.frames.len() as u64 == FILM_FRAMES
        {
            self.film_failed = !write_picture(&film.file, &film_strip(&self.frames));
        }
    }

    /// Reports the pictures that were not written. Returns true if there are none. `frame` is the
    /// number of the last frame; `possible_file` needs no report if no frame was played, because
    /// the user did not ask for it.
    pub fn finish(&self, frame: u64, possible_file: &Path) -> bool {
        self.finish_screenshot(frame, possible_file) & self.finish_film(frame)
    }

    fn finish_screenshot(&self, frame: u64, possible_file: &Path) -> bool {
        let Some(ScreenshotRequest { file, frame: wanted }) = &self.screenshot else {
            return true;
        };
        match self.state {
            ScreenshotState::Waiting if frame == 0 && file == possible_file => true,
            ScreenshotState::Waiting => {
                let wanted =
                    wanted.map_or(String::new(), |wanted| format!(" before frame {wanted}"));
                log::error(&format!(
                    "there is no screenshot: the game ended after frame {frame}{wanted}"
                ));
                false
            }
            ScreenshotState::Asked => {
                log::error("there is no screenshot: the renderer returned no image");
                false
            }
            ScreenshotState::Failed => false,
            ScreenshotState::Written => true,
        }
    }

    fn finish_film(&self, frame: u64) -> bool {
        let Some(film) = &self.film else { return true };
        let captured = self.frames.len() as u64;
        if self.film_failed || captured == FILM_FRAMES {
            return !self.film_failed;
        }
        let message = match self.asked < FILM_FRAMES {
            true => {
                format!(
                    "the game ended after frame {frame} before frame {}",
                    film.frame(self.asked)
                )
            }
            false => format!("the renderer returned {captured} of {FILM_FRAMES} frames"),
        };
        log::error(&format!("there is no film strip: {message}"));
        false
    }
}

/// Scales a captured frame down for a film strip.
fn film_frame(picture: &RenderedImage) -> RenderedImage {
    let from = (picture.width, picture.height);
    let (width, height) = fitted_size(from, FILM_WIDTH_MAX);
    let (height, width) = match height > FILM_HEIGHT_MAX {
        true => fitted_size((height, width), FILM_HEIGHT_MAX),
        false => (height, width),
    };
    let rgba = match (width, height) == from {
        true => picture.rgba.clone(),
        false => scale_down(&picture.rgba, from, (width, height)),
    };
    RenderedImage { width, height, rgba }
}

/// Puts frames into rows, from left to right, on opaque black. If the window was resized while they
/// were captured, smaller frames have black around them.
fn film_strip(frames: &[RenderedImage]) -> RenderedImage {
    let most =
        |side: fn(&RenderedImage) -> u32| frames.iter().map(side).max().unwrap_or(1) as usize;
    let (cell_width, cell_height) = (most(|frame| frame.width), most(|frame| frame.height));
    let rows = frames.len().div_ceil(FILM_COLUMNS);
    let width = FILM_COLUMNS * (cell_width + FILM_GAP) - FILM_GAP;
    let height = rows * (cell_height + FILM_GAP) - FILM_GAP;
    let mut rgba = [0, 0, 0, 255].repeat(width * height);
    for (index, frame) in frames.iter().enumerate() {
        let left = index % FILM_COLUMNS * (cell_width + FILM_GAP);
        let top = index / FILM_COLUMNS * (cell_height + FILM_GAP);
        let bytes = frame.width as usize * 4;
        for (y, line) in frame.rgba.chunks_exact(bytes.max(1)).enumerate() {
            let at = ((top + y) * width + left) * 4;
            rgba[at..at + bytes].copy_from_slice(line);
        }
    }
    RenderedImage { width: width as u32, height: height as u32, rgba }
}

fn write_picture(file: &Path, picture: &RenderedImage) -> bool {
    let (width, height) = (picture.width, picture.height);
    let ending = file.extension().map(|ending| ending.to_ascii_lowercase());
    let encoded = match ending.is_some_and(|ending| ending == "jpg" || ending == "jpeg") {
        true => encode_jpeg(width, height, &picture.rgba, SCREENSHOT_JPEG_QUALITY),
        false => Ok(encode_png(width, height, &picture.rgba)),
    };
    let written = encoded
        .map_err(|error| error.to_string())
        .and_then(|bytes| output_files::write(file, &bytes).map_err(|reason| reason.to_string()));
    match written {
        Ok(()) => {
            engine_foundation::error_line!("engine: the picture is in {}", file.display());
            true
        }
        Err(reason) => {
            log::error(&format!("{} cannot be written: {reason}", file.display()));
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film(first: u64, last: u64) -> FilmRequest {
        FilmRequest { file: PathBuf::from("film.png"), first, last }
    }

    /// A picture whose pixels all have the same red.
    fn picture(width: u32, height: u32, red: u8) -> RenderedImage {
        RenderedImage { width, height, rgba: [red, 0, 0, 255].repeat((width * height) as usize) }
    }

    #[test]
    fn frames_of_a_film_are_at_even_distances() {
        let frames = |first, last| {
            let film = film(first, last);
            (0..FILM_FRAMES).map(|index| film.frame(index)).collect::<Vec<_>>()
        };
        assert_eq!(frames(1, 8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(frames(10, 80), [10, 20, 30, 40, 50, 60, 70, 80]);
        assert_eq!(frames(1, 11), [1, 2, 4, 5, 7, 8, 10, 11]);
        let far = frames(1, u64::MAX);
        assert!(far.is_sorted() && far[7] == u64::MAX, "{far:?}");
    }

    #[test]
    fn each_frame_of_a_film_is_requested_once() {
        let mut pictures = RunPictures::new(None, Some(film(2, 16)));
        let mut asked = Vec::new();
        for frame in 1..=20 {
            let mut captures = Vec::new();
            // A frame is drawn again while a tool pauses the game.
            pictures.request(frame, false, &mut captures);
            pictures.request(frame, false, &mut captures);
            asked.extend(captures.iter().map(|capture| (frame, capture.number - SCREENSHOT)));
        }
        assert_eq!(asked, [2, 4, 6, 8, 10, 12, 14, 16].map(|frame| (frame, frame / 2)));
    }

    #[test]
    fn film_strip_has_two_rows_of_frames() {
        let frames: Vec<_> = (0..8).map(|index| picture(20, 10, index + 1)).collect();
        let strip = film_strip(&frames);
        assert_eq!((strip.width, strip.height), (20 * 4 + 3 * 4, 10 * 2 + 4));
        let red = |x: u32, y: u32| strip.rgba[((y * strip.width + x) * 4) as usize];
        assert_eq!([red(0, 0), red(24, 9), red(72, 0), red(91, 9)], [1, 2, 4, 4]);
        assert_eq!([red(0, 14), red(24, 14), red(91, 23)], [5, 6, 8]);
        assert_eq!([red(20, 0), red(0, 10)], [0, 0], "gaps are black");
    }

    #[test]
    fn frames_of_a_film_are_scaled_to_its_limits() {
        let size = |width, height| {
            let frame = film_frame(&picture(width, height, 9));
            assert_eq!(frame.rgba.len() as u32, frame.width * frame.height * 4);
            (frame.width, frame.height)
        };
        assert_eq!(size(960, 540), (480, 270));
        assert_eq!(size(320, 200), (320, 200));
        assert_eq!(size(10, 9600), (1, 960));
        let strip = film_strip(&[picture(4, 2, 1), picture(2, 1, 2)]);
        assert_eq!((strip.width, strip.height), (4 * 4 + 3 * 4, 2), "the largest frame counts");
    }

    #[test]
    fn missing_frames_of_a_film_are_failures() {
        let mut pictures = RunPictures::new(None, Some(film(1, 8)));
        assert!(!pictures.finish(0, Path::new("last.png")));
        for frame in 1..=7 {
            pictures.request(frame, false, &mut Vec::new());
            pictures.receive(SCREENSHOT + frame, Ok(&picture(4, 2, 1)));
        }
        assert!(!pictures.finish(7, Path::new("last.png")));
        pictures.receive(SCREENSHOT + 8, Err("the device is lost"));
        assert!(!pictures.finish(8, Path::new("last.png")));
        assert!(RunPictures::new(None, None).finish(0, Path::new("last.png")));
    }
}
