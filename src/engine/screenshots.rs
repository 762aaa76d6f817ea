//! Frame captures requested by scripts, tests and tools while the game runs. Each capture has a
//! number from its request until it is taken; the renderer delivers it some frames later.
//! Screenshots of games are written as files here, next to the game's saves.

use super::{Drawing, Frame, OpenedGame};
use engine_foundation::error;
use engine_foundation::{Error, atomic_file, log, panic};
use engine_frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine_render::RenderedImage;
use engine_resource::image::encode_png;
use std::path::PathBuf;
use std::thread::JoinHandle;

/// Maximum number of captures that are requested and not yet taken.
pub const CAPTURES_MAX: usize = 64;

/// Name of the folder with a game's screenshots, in its save folder.
const SCREENSHOTS: &str = "screenshots";
/// Maximum length of a screenshot's name in bytes.
const NAME_MAX: usize = 64;

/// Reason why a run has no captures.
pub(super) const NOTHING_DRAWN: &str = "nothing is drawn in this run, so there is no picture: run \
                                        with a window, or with --renderer software";

/// Captures that are requested, in progress, or finished.
#[derive(Default)]
pub struct ScreenshotCaptures {
    asked: u64,
    wanted: Vec<CaptureRequest>,
    /// Captures to be written as files for scripts.
    files: Vec<(u64, PathBuf)>,
    /// Finished captures that were not taken yet.
    finished: Vec<(u64, Result<RenderedImage, String>)>,
    /// Captures that scripts requested and did not take yet.
    pub(super) for_scripts: Vec<u64>,
    /// Threads that encode and write files.
    writers: Vec<(PathBuf, JoinHandle<()>)>,
}

impl ScreenshotCaptures {
    /// Returns the number of captures that are requested and not yet taken. A capture for a file is
    /// in both lists until the frame ends.
    pub fn open(&self) -> usize {
        let is_file =
            |wanted: &&CaptureRequest| self.files.iter().any(|file| file.0 == wanted.number);
        let both = self.wanted.iter().filter(is_file).count();
        self.wanted.len() - both + self.files.len() + self.finished.len()
    }

    /// Requests a capture of this frame, and returns the number by which it can be taken.
    pub fn request(&mut self, of: ViewTarget) -> u64 {
        self.asked += 1;
        self.wanted.push(CaptureRequest { number: self.asked, of });
        self.asked
    }

    /// Takes a finished capture, or the message that explains its failure. Returns `None` while it
    /// is not finished.
    pub fn take(&mut self, number: u64) -> Option<Result<RenderedImage, String>> {
        let at = self.finished.iter().position(|(finished, _)| *finished == number)?;
        Some(self.finished.swap_remove(at).1)
    }

    /// Moves the requests of the frame into the renderer's packet.
    pub(super) fn fill(&mut self, packet: &mut FramePacket) {
        packet.captures.append(&mut self.wanted);
    }

    /// Receives a capture from the renderer, or the message that explains its failure.
    pub fn receive(&mut self, number: u64, picture: Result<RenderedImage, String>) {
        let Some(at) = self.files.iter().position(|(wanted, _)| *wanted == number) else {
            self.finished.push((number, picture));
            return;
        };
        let (_, file) = self.files.swap_remove(at);
        match picture {
            Ok(picture) => self.write(file, picture),
            Err(message) => log::error(&format!("there is no screenshot: {message}")),
        }
    }

    /// Returns an error if too many captures are in progress.
    pub(super) fn check_room(&self) -> Result<(), Error> {
        match self.open() < CAPTURES_MAX {
            true => Ok(()),
            false => Err(error!(
                "{CAPTURES_MAX} screenshots are already requested (CAPTURES_MAX): wait for some"
            )),
        }
    }

    /// Returns the number of files that are being written.
    pub(super) fn writers(&mut self) -> usize {
        self.writers.retain(|(_, writer)| !writer.is_finished());
        self.writers.len()
    }

    /// Writes a file on another thread, after an earlier picture for the same file.
    pub(super) fn write(&mut self, file: PathBuf, picture: RenderedImage) {
        self.writers();
        for (_, writer) in self.writers.extract_if(.., |(other, _)| *other == file) {
            // The thread itself has reported its panic.
            let _ = writer.join();
        }
        let path = file.clone();
        let work = move || {
            let png = encode_png(picture.width, picture.height, &picture.rgba);
            let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            if let Err(reason) = folder.and_then(|()| atomic_file::write_durably(&file, &png)) {
                log::error(&format!("{} cannot be written: {reason}", file.display()));
            }
        };
        match panic::spawn("screenshot", work) {
            Ok(writer) => self.writers.push((path, writer)),
            Err(reason) => log::error(&format!("there is no screenshot: {reason}")),
        }
    }

    /// Blocks until all files are written.
    pub fn finish(&mut self) {
        for (_, writer) in self.writers.drain(..) {
            // The thread itself has reported its panic.
            let _ = writer.join();
        }
    }
}

/// Returns the path of a picture in a folder of the save folder, or a message if the run has no
/// save folder. `subject` is "a screenshot" or the like.
///
/// # Errors
/// Returns an error if the name has other characters than letters, digits, `_` and `-` or is too
/// long.
pub(super) fn file_of(
    game: &OpenedGame,
    folder: &str,
    name: &str,
    subject: &str,
) -> Result<Result<PathBuf, String>, Error> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if name.is_empty() || name.len() > NAME_MAX || !name.bytes().all(plain) {
        return Err(error!(
            "'{name}' cannot be {subject}'s name: use letters, digits, '_' and '-', at most \
             {NAME_MAX}"
        ));
    }
    Ok(match &game.save_folder {
        Some(saves) => Ok(saves.join(folder).join(format!("{name}.png"))),
        None => Err(format!("this run has no save folder to write {subject} into")),
    })
}

impl Drawing {
    /// Captures this frame into a file in the save folder. Returns the path of the file, or a
    /// message if the run draws nothing or has no save folder.
    ///
    /// # Errors
    /// Returns an error if the name has other characters than letters, digits, `_` and `-` or is
    /// too long, or if too many captures are in progress.
    pub fn screenshot(
        &mut self,
        game: &OpenedGame,
        frame: &Frame,
        name: Option<&str>,
    ) -> Result<Result<PathBuf, String>, Error> {
        let standard = format!("frame_{:06}", frame.index);
        let file = file_of(game, SCREENSHOTS, name.unwrap_or(&standard), "a screenshot")?;
        if !self.builder.is_shown {
            return Ok(Err(NOTHING_DRAWN.to_string()));
        }
        let Ok(file) = file else { return Ok(file) };
        self.captures.check_room()?;
        let number = self.captures.request(ViewTarget::Screen);
        self.captures.files.push((number, file.clone()));
        Ok(Ok(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> RenderedImage {
        RenderedImage { width: 1, height: 1, rgba: vec![1, 2, 3, 255] }
    }

    #[test]
    fn a_capture_is_taken_once_by_its_number() {
        let mut captures = ScreenshotCaptures::default();
        let (first, second) =
            (captures.request(ViewTarget::Screen), captures.request(ViewTarget::Screen));
        let mut packet = FramePacket::default();
        captures.fill(&mut packet);
        assert_eq!(packet.captures.iter().map(|it| it.number).collect::<Vec<_>>(), [first, second]);
        assert_eq!(captures.take(second), None);
        captures.receive(second, Ok(picture()));
        captures.receive(first, Err("no adapter".to_string()));
        assert_eq!(captures.take(second), Some(Ok(picture())));
        assert_eq!(captures.take(second), None);
        assert_eq!(captures.take(first), Some(Err("no adapter".to_string())));
        assert_eq!(captures.open(), 0);
    }

    #[test]
    fn a_screenshot_is_written_to_the_returned_path() {
        let folder = std::env::temp_dir().join(format!("engine_shots_{}", std::process::id()));
        let file = folder.join("deep/shot.png");
        let mut captures = ScreenshotCaptures::default();
        let number = captures.request(ViewTarget::Screen);
        captures.files.push((number, file.clone()));
        captures.receive(number, Ok(picture()));
        captures.finish();
        let written = std::fs::read(&file).expect("the file is there");
        assert!(written.starts_with(b"\x89PNG"), "it is a PNG");
        std::fs::remove_dir_all(&folder).expect("the folder of the test can be removed");
    }
}
