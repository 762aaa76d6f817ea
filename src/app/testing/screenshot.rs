//! Screenshot tests: compare a frame with a reference that was reviewed before. The references are
//! in a folder next to the suite, each a text list of draw calls or an image. software_renderer.rs
//! renders the images.

use super::software_renderer::{ScreenshotUnavailable, SoftwareRenderer};
use engine_foundation::file_access::{self, readers};
use engine_render::RenderedImage;
use engine_resource::image::{DecodedImage, PixelFormat, decode, encode_png};
use engine_runtime::{Engine, FrameRetention};
use engine_script::ScriptValue;
use std::path::{Path, PathBuf};

/// Side length of the blocks in which images are compared, in pixels.
pub const BLOCK: u32 = 8;
/// Default maximum of a block's average difference, per byte. Drivers round differently and may
/// decide an edge's pixel either way, which changes a few pixels of a block by a little. Something
/// that is missing, moved by a pixel or of another color changes a row of a block at least: 8 of 64
/// pixels, and so by more than this wherever it is visible.
pub const TOLERANCE: f64 = 6.0;
/// Maximum number of lines of a reported difference.
const LINES_MAX: usize = 12;
/// Folder for the found image or list of a differing test, relative to the game's folder.
const OUTPUT_FOLDER: &str = ".engine/screenshots";

/// The screenshot that a test expects.
#[derive(Clone, PartialEq, Debug)]
pub struct ExpectedScreenshot {
    /// Name of letters, digits, `_` and `-`.
    pub name: String,
    /// Tolerance for an image; `None` to compare a list of draw calls.
    pub picture: Option<f64>,
}

/// Result of a comparison.
enum ReportVerdict {
    Same,
    Differs(String),
    /// No reference exists.
    Missing(String),
    /// The machine cannot render images.
    Unknown(String),
}

/// Location of a test file's screenshots.
pub struct ScreenshotFolder<'a> {
    pub root: &'a Path,
    /// Path of the suite, relative to the root.
    pub suite: &'a str,
    /// Write new references instead of comparing.
    pub update: bool,
}

impl ScreenshotFolder<'_> {
    /// Returns the folder of a suite's screenshots, relative to the game's folder.
    fn folder(&self) -> PathBuf {
        Path::new(self.suite).with_extension("").with_added_extension("golden")
    }

    /// Compares the newest frame. Returns the answer to the test, and true if no reference exists.
    pub fn check(
        &self,
        wanted: &ExpectedScreenshot,
        engine: &mut Engine,
        pictures: &mut SoftwareRenderer,
    ) -> Result<(ScriptValue, bool), String> {
        let verdict = match wanted.picture {
            None => self.check_list(&wanted.name, engine)?,
            Some(tolerance) => self.check_picture(&wanted.name, tolerance, engine, pictures)?,
        };
        let missing = matches!(verdict, ReportVerdict::Missing(_));
        Ok((to_answer(verdict), missing))
    }

    fn check_list(&self, name: &str, engine: &mut Engine) -> Result<ReportVerdict, String> {
        let (kept, since) = engine.drawing.retained_frames();
        if kept == FrameRetention::Nothing || since == 0 {
            engine.drawing.keep_frames(FrameRetention::Text);
            return Err(missing_frame_message(engine.frame.index));
        }
        let found = engine.draw_list_text();
        let golden = self.folder().join(format!("{name}.txt"));
        self.compare(&golden, found.as_bytes(), |bytes| {
            let wanted = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
            (wanted != found).then(|| difference_of_lines(&wanted, &found))
        })
    }

    fn check_picture(
        &self,
        name: &str,
        tolerance: f64,
        engine: &mut Engine,
        pictures: &mut SoftwareRenderer,
    ) -> Result<ReportVerdict, String> {
        let (kept, since) = engine.drawing.retained_frames();
        if kept != FrameRetention::Packets || since > 1 {
            engine.drawing.keep_frames(FrameRetention::Packets);
            return Err(missing_frame_message(engine.frame.index));
        }
        let picture = match pictures.newest() {
            Ok(picture) => picture,
            Err(ScreenshotUnavailable::NoAdapter(message)) => {
                return Ok(no_adapter_verdict(message));
            }
            Err(ScreenshotUnavailable::Refused(message)) => {
                return Err(format!("test.screenshot: {message}"));
            }
        };
        let golden = self.folder().join(format!("{name}.png"));
        let png = encode_png(picture.width, picture.height, &picture.rgba);
        self.compare(&golden, &png, |bytes| match read_picture(bytes) {
            Ok(wanted) => difference_of_pictures(&wanted, &picture, tolerance),
            Err(message) => Some(format!("it cannot be read: {message}")),
        })
    }

    /// Compares with a reference file. If it differs, writes the found content to a file for
    /// inspection.
    fn compare(
        &self,
        golden: &Path,
        found: &[u8],
        difference: impl FnOnce(&[u8]) -> Option<String>,
    ) -> Result<ReportVerdict, String> {
        let shown = golden.display();
        let with_slashes = |path: &Path| path.to_string_lossy().replace('\\', "/");
        let write = |path: &Path| {
            file_access::write(self.root, &with_slashes(path), found).map_err(|reason| {
                let shown = self.root.join(path);
                format!("test.screenshot: '{}' cannot be written: {reason}", shown.display())
            })
        };
        let known = file_access::read(self.root, &with_slashes(golden), &readers::GOLDEN);
        if self.update {
            if known.as_ref().ok().is_none_or(|bytes| difference(bytes).is_some()) {
                write(golden)?;
            }
            return Ok(ReportVerdict::Same);
        }
        let now = Path::new(OUTPUT_FOLDER).join(golden);
        let remedy =
            format!("Look at '{}', and if it is right: engine test --update-golden", now.display());
        match known {
            Ok(bytes) => match difference(&bytes) {
                None => Ok(ReportVerdict::Same),
                Some(message) => {
                    write(&now)?;
                    Ok(ReportVerdict::Differs(format!(
                        "test.screenshot: '{shown}' shows something else: {message}\n{remedy}"
                    )))
                }
            },
            Err(refusal) if refusal.is_missing() => {
                write(&now)?;
                Ok(ReportVerdict::Missing(format!(
                    "test.screenshot: there is no '{shown}' to compare with.\n{remedy}"
                )))
            }
            Err(reason) => Err(format!("test.screenshot: '{shown}' cannot be read: {reason}")),
        }
    }
}

/// Returns the message for a frame that was played before the test asked to keep frames.
fn missing_frame_message(frame_index: u64) -> String {
    match frame_index {
        0 => "test.screenshot: no frame was played yet: test.frames(1) first".to_string(),
        _ => "test.screenshot: the earlier frames were not kept, because no file that was loaded \
              before them calls it: have the suite itself, or a module that it requires at its \
              beginning, call test.screenshot"
            .to_string(),
    }
}

/// Returns the answer to the test library.
fn to_answer(verdict: ReportVerdict) -> ScriptValue {
    let (kind, message) = match verdict {
        ReportVerdict::Same => return ScriptValue::Nil,
        ReportVerdict::Differs(message) | ReportVerdict::Missing(message) => ("failed", message),
        ReportVerdict::Unknown(message) => ("unknown", message),
    };
    let fields = [("kind", kind.to_string()), ("message", message)];
    ScriptValue::Table(fields.map(|(key, text)| (key.to_string(), ScriptValue::Text(text))).into())
}

/// Returns the reply to `test.screenshot` when no graphics adapter exists: skip the test, or fail
/// it if `ENGINE_TEST_REQUIRE_ALL=1`.
pub fn no_adapter(message: String) -> ScriptValue {
    to_answer(no_adapter_verdict(message))
}

fn no_adapter_verdict(message: String) -> ReportVerdict {
    let message = format!("no picture can be drawn here: {message}");
    match std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1") {
        true => ReportVerdict::Differs(message),
        false => ReportVerdict::Unknown(message),
    }
}

fn read_picture(bytes: &[u8]) -> Result<RenderedImage, String> {
    match decode(bytes, "png") {
        Ok(DecodedImage::Image(image)) => match image.pixels {
            PixelFormat::Bytes(rgba) => {
                Ok(RenderedImage { width: image.width, height: image.height, rgba })
            }
            PixelFormat::Floats(_) => Err("it has floats".to_string()),
        },
        Ok(DecodedImage::Blocks(_)) => Err("it has blocks".to_string()),
        Err(error) => Err(error.message),
    }
}

/// Returns a message about the block where two images differ most, if that exceeds the tolerance.
fn difference_of_pictures(
    wanted: &RenderedImage,
    found: &RenderedImage,
    tolerance: f64,
) -> Option<String> {
    if (wanted.width, wanted.height) != (found.width, found.height) {
        return Some(format!(
            "it is {} x {}, and the picture is {} x {} now",
            wanted.width, wanted.height, found.width, found.height
        ));
    }
    let (mut worst, mut blocks) = ((0, 0, 0.0), 0);
    for top in (0..wanted.height).step_by(BLOCK as usize) {
        for left in (0..wanted.width).step_by(BLOCK as usize) {
            let mean = difference_of_blocks(wanted, found, left, top);
            blocks += u32::from(mean > tolerance);
            if mean > worst.2 {
                worst = (left, top, mean);
            }
        }
    }
    let (left, top, mean) = worst;
    (blocks > 0).then(|| {
        let more = if blocks > 1 { format!(", and {} more", blocks - 1) } else { String::new() };
        format!(
            "the block of {BLOCK} x {BLOCK} pixels at {left}, {top} from the top left differs by \
             {mean:.1} on average, {tolerance} is allowed{more}"
        )
    })
}

/// Returns the average difference of the bytes of a block.
fn difference_of_blocks(wanted: &RenderedImage, found: &RenderedImage, left: u32, top: u32) -> f64 {
    let (mut sum, mut count) = (0u64, 0u64);
    for y in top..(top + BLOCK).min(wanted.height) {
        let row = (y * wanted.width) as usize * 4;
        let bytes = row + left as usize * 4..row + (left + BLOCK).min(wanted.width) as usize * 4;
        for (a, b) in wanted.rgba[bytes.clone()].iter().zip(&found.rgba[bytes]) {
            sum += u64::from(a.abs_diff(*b));
            count += 1;
        }
    }
    sum as f64 / count as f64
}

/// Returns a message with the removed and the added lines.
fn difference_of_lines(wanted: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), found.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut message = format!("from line {} on", same + 1);
    for (mark, lines) in [('-', &old[..old.len() - end]), ('+', &new[..new.len() - end])] {
        for line in lines.iter().take(LINES_MAX) {
            message += &format!("\n  {mark} {}", line.trim_start());
        }
        if lines.len() > LINES_MAX {
            message += &format!("\n  {mark} … {} lines more", lines.len() - LINES_MAX);
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(side: u32, color: [u8; 4]) -> RenderedImage {
        let rgba = color.repeat((side * side) as usize);
        RenderedImage { width: side, height: side, rgba }
    }

    #[test]
    fn comparison_ignores_rounding_but_not_a_row_of_another_colour() {
        let wanted = picture(20, [10, 200, 30, 255]);
        let mut found = wanted.clone();
        found.rgba.iter_mut().for_each(|byte| *byte = byte.saturating_add(2));
        assert_eq!(difference_of_pictures(&wanted, &found, TOLERANCE), None);
        // The last block, cut off by the edge, counts like any other.
        let mut found = wanted.clone();
        for x in 16..20 {
            found.rgba[((19 * 20 + x) * 4) as usize..][..4].copy_from_slice(&[255, 0, 255, 255]);
        }
        let message = difference_of_pictures(&wanted, &found, TOLERANCE).unwrap();
        assert_eq!(
            message,
            "the block of 8 x 8 pixels at 16, 16 from the top left differs by 41.9 on average, 6 \
             is allowed"
        );
        let message = difference_of_pictures(&wanted, &picture(8, [0; 4]), TOLERANCE).unwrap();
        assert_eq!(message, "it is 20 x 20, and the picture is 8 x 8 now");
    }

    #[test]
    fn a_difference_lists_the_lines_between_equal_lines() {
        let message = difference_of_lines("a\n  b\nc\nd\n", "a\n  x\n  y\nc\nd\n");
        assert_eq!(message, "from line 2 on\n  - b\n  + x\n  + y");
        assert_eq!(difference_of_lines("a\n", "a\nb\n"), "from line 2 on\n  + b");
    }
}
