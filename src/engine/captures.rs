//! Pictures that somebody asked for while the game is played: scripts, tests, tools. Each has a
//! number from when it is asked for until it is taken; the renderer makes it some frames later.
//! Screenshots of games become files here, beside the game's saves.

use super::Engine;
use crate::error;
use crate::foundation::{Error, fault, files, log};
use crate::packet::{Capture, Packet, Target};
use crate::resource::image::encode_png;
use crate::system::render::Picture;
use std::path::PathBuf;
use std::thread::JoinHandle;

/// The most pictures that can be asked for and not yet taken.
pub const CAPTURES_MAX: usize = 64;

/// The folder of a game's screenshots in its save folder.
const SCREENSHOTS: &str = "screenshots";
/// The longest name of a screenshot, in bytes.
const NAME_MAX: usize = 64;

/// Why a run has no pictures.
pub(super) const NOTHING_DRAWN: &str = "nothing is drawn in this run, so there is no picture: run \
                                        with a window, or with --renderer software";

/// What is asked for, under way, and made.
#[derive(Default)]
pub struct Captures {
    asked: u64,
    wanted: Vec<Capture>,
    /// Pictures that scripts want as files.
    files: Vec<(u64, PathBuf)>,
    /// Those that nobody has taken yet.
    made: Vec<(u64, Result<Picture, String>)>,
    /// They encode and write files.
    writers: Vec<JoinHandle<()>>,
}

impl Captures {
    /// How many are asked for and not yet taken.
    pub fn open(&self) -> usize {
        self.wanted.len() + self.files.len() + self.made.len()
    }

    /// Asks for a picture of what this frame shows: the number by which it can be taken.
    pub fn ask(&mut self, of: Target) -> u64 {
        self.asked += 1;
        self.wanted.push(Capture { number: self.asked, of });
        self.asked
    }

    /// Takes a picture, or the words on why there is none, once it is made.
    pub fn take(&mut self, number: u64) -> Option<Result<Picture, String>> {
        let at = self.made.iter().position(|(made, _)| *made == number)?;
        Some(self.made.swap_remove(at).1)
    }

    /// The frame's wishes go to the renderer.
    pub(super) fn fill(&mut self, packet: &mut Packet) {
        packet.captures.append(&mut self.wanted);
    }

    /// The renderer has made a picture, or says why not.
    pub fn made(&mut self, number: u64, picture: Result<Picture, String>) {
        let Some(at) = self.files.iter().position(|(wanted, _)| *wanted == number) else {
            self.made.push((number, picture));
            return;
        };
        let (_, file) = self.files.swap_remove(at);
        match picture {
            Ok(picture) => self.write(file, picture),
            Err(words) => log::error(&format!("there is no screenshot: {words}")),
        }
    }

    /// Writes beside the game, which goes on.
    fn write(&mut self, file: PathBuf, picture: Picture) {
        self.writers.retain(|writer| !writer.is_finished());
        let work = move || {
            let png = encode_png(picture.width, picture.height, &picture.rgba);
            let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            if let Err(reason) = folder.and_then(|()| files::write_safely(&file, &png)) {
                log::error(&format!("{} cannot be written: {reason}", file.display()));
            }
        };
        match fault::spawn("screenshot", work) {
            Ok(writer) => self.writers.push(writer),
            Err(reason) => log::error(&format!("there is no screenshot: {reason}")),
        }
    }

    /// Waits until every file is written.
    pub fn finish(&mut self) {
        for writer in self.writers.drain(..) {
            // A fault there was told by the thread itself.
            let _ = writer.join();
        }
    }
}

impl Engine {
    /// Has a picture of what this frame shows written into the save folder: its file, or words
    /// where nothing is drawn or kept.
    ///
    /// # Errors
    /// Where the name is no plain one, or too many are under way.
    pub fn screenshot(&mut self, name: Option<&str>) -> Result<Result<PathBuf, String>, Error> {
        let standard = format!("frame_{:06}", self.frame.index);
        let name = name.unwrap_or(&standard);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if name.is_empty() || name.len() > NAME_MAX || !name.bytes().all(plain) {
            return Err(error!(
                "'{name}' cannot be a screenshot's name: use letters, digits, '_' and '-', at most \
                 {NAME_MAX}"
            ));
        }
        if !self.picture.is_shown {
            return Ok(Err(NOTHING_DRAWN.to_string()));
        }
        let Some(folder) = &self.save_folder else {
            return Ok(Err("this run has no save folder to write a screenshot into".to_string()));
        };
        if self.captures.open() >= CAPTURES_MAX {
            return Err(error!(
                "{CAPTURES_MAX} pictures are asked for already (CAPTURES_MAX): wait for some"
            ));
        }
        let file = folder.join(SCREENSHOTS).join(format!("{name}.png"));
        let number = self.captures.ask(Target::Screen);
        self.captures.files.push((number, file.clone()));
        Ok(Ok(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        Picture { width: 1, height: 1, rgba: vec![1, 2, 3, 255] }
    }

    #[test]
    fn a_picture_is_taken_once_by_its_number() {
        let mut captures = Captures::default();
        let (first, second) = (captures.ask(Target::Screen), captures.ask(Target::Screen));
        let mut packet = Packet::default();
        captures.fill(&mut packet);
        assert_eq!(packet.captures.iter().map(|it| it.number).collect::<Vec<_>>(), [first, second]);
        assert_eq!(captures.take(second), None);
        captures.made(second, Ok(picture()));
        captures.made(first, Err("no adapter".to_string()));
        assert_eq!(captures.take(second), Some(Ok(picture())));
        assert_eq!(captures.take(second), None);
        assert_eq!(captures.take(first), Some(Err("no adapter".to_string())));
        assert_eq!(captures.open(), 0);
    }

    #[test]
    fn a_file_is_written_where_it_was_promised() {
        let folder = std::env::temp_dir().join(format!("engine_shots_{}", std::process::id()));
        let file = folder.join("deep/shot.png");
        let mut captures = Captures::default();
        let number = captures.ask(Target::Screen);
        captures.files.push((number, file.clone()));
        captures.made(number, Ok(picture()));
        captures.finish();
        let written = std::fs::read(&file).expect("the file is there");
        assert!(written.starts_with(b"\x89PNG"), "it is a PNG");
        std::fs::remove_dir_all(&folder).expect("the folder of the test can be removed");
    }
}
