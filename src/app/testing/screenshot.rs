//! Screenshots of tests: what a frame showed, compared with what it showed when somebody looked at
//! it. What that was lies beside the suite, in a folder of its name: a list of what was drawn, in
//! words, or a picture. How frames become pictures is in pictures.rs.

use super::pictures::{NoPicture, Pictures};
use crate::engine::{Engine, Kept};
use crate::foundation::file_access::{self, readers};
use crate::resource::image::{Decoded, Pixels, decode, encode_png};
use crate::script::Value;
use crate::system::render::Picture;
use std::path::{Path, PathBuf};

/// Pictures are compared by blocks of so many pixels on each side.
pub const BLOCK: u32 = 8;
/// In no block may bytes differ by more than this on average, unless a test says otherwise. Drivers
/// round differently and may decide an edge's pixel either way, which changes a few pixels of a
/// block by a little. Something that is missing, moved by a pixel or of another colour changes a
/// row of a block at least: by 8 of 64 pixels, and so by more than this wherever it can be seen.
pub const TOLERANCE: f64 = 6.0;
/// How many lines of a difference are told.
const LINES_MAX: usize = 12;
/// What was drawn by a run that differs, from the game's folder.
const FOUND: &str = ".engine/screenshots";

/// What a test asks for.
#[derive(Clone, PartialEq, Debug)]
pub struct Wanted {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// As a picture, with so much difference allowed; as a list otherwise.
    pub picture: Option<f64>,
}

/// How a test hears of it.
enum Verdict {
    Same,
    Differs(String),
    /// There is nothing to compare with.
    Missing(String),
    /// It cannot be known here.
    Unknown(String),
}

/// Where screenshots of a file of tests are.
pub struct Place<'a> {
    pub root: &'a Path,
    /// The suite's path from there.
    pub suite: &'a str,
    /// Write what is shown in the place of comparing it.
    pub update: bool,
}

impl Place<'_> {
    /// The folder of a suite's screenshots, from the game's folder.
    fn folder(&self) -> PathBuf {
        Path::new(self.suite).with_extension("").with_added_extension("golden")
    }

    /// Compares what the newest frame shows: what the test hears, and whether there was nothing to
    /// compare with.
    pub fn check(
        &self,
        wanted: &Wanted,
        engine: &mut Engine,
        pictures: &mut Pictures,
    ) -> Result<(Value, bool), String> {
        let verdict = match wanted.picture {
            None => self.check_list(&wanted.name, engine)?,
            Some(tolerance) => self.check_picture(&wanted.name, tolerance, engine, pictures)?,
        };
        let missing = matches!(verdict, Verdict::Missing(_));
        Ok((answer(verdict), missing))
    }

    fn check_list(&self, name: &str, engine: &mut Engine) -> Result<Verdict, String> {
        let (kept, since) = engine.kept_frames();
        if kept == Kept::Nothing || since == 0 {
            engine.keep_frames(Kept::Words);
            return Err(not_kept(engine));
        }
        let found = engine.seen_words();
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
        pictures: &mut Pictures,
    ) -> Result<Verdict, String> {
        let (kept, since) = engine.kept_frames();
        if kept != Kept::Packets || since > 1 {
            engine.keep_frames(Kept::Packets);
            return Err(not_kept(engine));
        }
        let picture = match pictures.newest() {
            Ok(picture) => picture,
            Err(NoPicture::NoAdapter(words)) => return Ok(unknown(words)),
            Err(NoPicture::Refused(words)) => return Err(format!("test.screenshot: {words}")),
        };
        let golden = self.folder().join(format!("{name}.png"));
        let png = encode_png(picture.width, picture.height, &picture.rgba);
        self.compare(&golden, &png, |bytes| match read_picture(bytes) {
            Ok(wanted) => difference_of_pictures(&wanted, &picture, tolerance),
            Err(words) => Some(format!("it cannot be read: {words}")),
        })
    }

    /// Compares with a file. What was found instead is written where it can be looked at.
    fn compare(
        &self,
        golden: &Path,
        found: &[u8],
        difference: impl FnOnce(&[u8]) -> Option<String>,
    ) -> Result<Verdict, String> {
        let shown = golden.display();
        let slashed = |path: &Path| path.to_string_lossy().replace('\\', "/");
        let write = |path: &Path| {
            file_access::write(self.root, &slashed(path), found).map_err(|reason| {
                let shown = self.root.join(path);
                format!("test.screenshot: '{}' cannot be written: {reason}", shown.display())
            })
        };
        let known = file_access::read(self.root, &slashed(golden), &readers::GOLDEN);
        if self.update {
            if known.as_ref().ok().is_none_or(|bytes| difference(bytes).is_some()) {
                write(golden)?;
            }
            return Ok(Verdict::Same);
        }
        let now = Path::new(FOUND).join(golden);
        let remedy =
            format!("Look at '{}', and if it is right: engine test --update-golden", now.display());
        match known {
            Ok(bytes) => match difference(&bytes) {
                None => Ok(Verdict::Same),
                Some(words) => {
                    write(&now)?;
                    Ok(Verdict::Differs(format!(
                        "test.screenshot: '{shown}' shows something else: {words}\n{remedy}"
                    )))
                }
            },
            Err(refusal) if refusal.is_missing() => {
                write(&now)?;
                Ok(Verdict::Missing(format!(
                    "test.screenshot: there is no '{shown}' to compare with.\n{remedy}"
                )))
            }
            Err(reason) => Err(format!("test.screenshot: '{shown}' cannot be read: {reason}")),
        }
    }
}

/// What is said where a frame was played before anybody wanted to see it.
fn not_kept(engine: &Engine) -> String {
    match engine.frame.index {
        0 => "test.screenshot: no frame was played yet: test.frames(1) first".to_string(),
        _ => "test.screenshot: the frames before were not noted, for no file that was loaded \
              before them says so: have the suite itself, or a module that it requires at its \
              beginning, call test.screenshot"
            .to_string(),
    }
}

/// What the test library is told.
fn answer(verdict: Verdict) -> Value {
    let (kind, words) = match verdict {
        Verdict::Same => return Value::Nil,
        Verdict::Differs(words) | Verdict::Missing(words) => ("failed", words),
        Verdict::Unknown(words) => ("unknown", words),
    };
    let fields = [("kind", kind.to_string()), ("words", words)];
    Value::Table(fields.map(|(key, text)| (key.to_string(), Value::Text(text))).into())
}

/// Where there is no adapter a test is skipped, unless everything must run.
pub fn no_adapter(words: String) -> Value {
    answer(unknown(words))
}

fn unknown(words: String) -> Verdict {
    let words = format!("no picture can be drawn here: {words}");
    match std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1") {
        true => Verdict::Differs(words),
        false => Verdict::Unknown(words),
    }
}

fn read_picture(bytes: &[u8]) -> Result<Picture, String> {
    match decode(bytes, "png") {
        Ok(Decoded::Image(image)) => match image.pixels {
            Pixels::Bytes(rgba) => Ok(Picture { width: image.width, height: image.height, rgba }),
            Pixels::Floats(_) => Err("it has floats".to_string()),
        },
        Ok(Decoded::Blocks(_)) => Err("it has blocks".to_string()),
        Err(error) => Err(error.message),
    }
}

/// The block where two pictures differ most, in words, where that is too much.
fn difference_of_pictures(wanted: &Picture, found: &Picture, tolerance: f64) -> Option<String> {
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

/// By how much the bytes of a block differ on average.
fn difference_of_blocks(wanted: &Picture, found: &Picture, left: u32, top: u32) -> f64 {
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

/// The lines that are gone and those that are new, in words.
fn difference_of_lines(wanted: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), found.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut words = format!("from line {} on", same + 1);
    for (mark, lines) in [('-', &old[..old.len() - end]), ('+', &new[..new.len() - end])] {
        for line in lines.iter().take(LINES_MAX) {
            words += &format!("\n  {mark} {}", line.trim_start());
        }
        if lines.len() > LINES_MAX {
            words += &format!("\n  {mark} … {} lines more", lines.len() - LINES_MAX);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(side: u32, color: [u8; 4]) -> Picture {
        let rgba = color.repeat((side * side) as usize);
        Picture { width: side, height: side, rgba }
    }

    #[test]
    fn a_row_of_a_block_in_another_colour_is_too_much_and_a_rounding_is_not() {
        let wanted = picture(20, [10, 200, 30, 255]);
        let mut found = wanted.clone();
        found.rgba.iter_mut().for_each(|byte| *byte = byte.saturating_add(2));
        assert_eq!(difference_of_pictures(&wanted, &found, TOLERANCE), None);
        // The last block is cut off by the edge: it counts as any other.
        let mut found = wanted.clone();
        for x in 16..20 {
            found.rgba[((19 * 20 + x) * 4) as usize..][..4].copy_from_slice(&[255, 0, 255, 255]);
        }
        let words = difference_of_pictures(&wanted, &found, TOLERANCE).unwrap();
        assert_eq!(
            words,
            "the block of 8 x 8 pixels at 16, 16 from the top left differs by 41.9 on average, 6 \
             is allowed"
        );
        let words = difference_of_pictures(&wanted, &picture(8, [0; 4]), TOLERANCE).unwrap();
        assert_eq!(words, "it is 20 x 20, and the picture is 8 x 8 now");
    }

    #[test]
    fn lists_differ_by_the_lines_between_what_is_the_same() {
        let words = difference_of_lines("a\n  b\nc\nd\n", "a\n  x\n  y\nc\nd\n");
        assert_eq!(words, "from line 2 on\n  - b\n  + x\n  + y");
        assert_eq!(difference_of_lines("a\n", "a\nb\n"), "from line 2 on\n  + b");
    }
}
