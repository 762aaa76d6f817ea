//! The files of a captured frame that the command line asks for: a picture of each image of the
//! frame, and a list of its passes and images.

use super::output_files;
use engine_foundation::log;
use engine_frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine_render::{CapturedImage, FrameCapture, RenderedImage};
use engine_resource::image::encode_png;
use std::path::{Path, PathBuf};

/// The id of the capture of the screen that belongs to a captured frame.
const SCREEN: u64 = 1 << 41;
/// Name of the list of passes and images.
const LIST: &str = "frame.txt";
/// Maximum length of the name of an image in the name of its file, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// A frame that the command line wants to be captured.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameCaptureRequest {
    pub folder: PathBuf,
    /// The frame to capture. If `None`, the last frame.
    pub frame: Option<u64>,
}

/// Progress of a captured frame.
#[derive(Default)]
pub struct FrameCaptureFiles {
    wanted: Option<FrameCaptureRequest>,
    is_asked: bool,
    /// The picture of the screen, or why there is none.
    screen: Option<Result<RenderedImage, String>>,
    frame: Option<FrameCapture>,
    is_written: bool,
}

impl FrameCaptureFiles {
    pub fn new(wanted: Option<FrameCaptureRequest>) -> FrameCaptureFiles {
        FrameCaptureFiles { wanted, ..FrameCaptureFiles::default() }
    }

    /// Returns true if the last frame is still to be captured.
    pub fn needs_last_frame(&self) -> bool {
        !self.is_asked && self.wanted.as_ref().is_some_and(|wanted| wanted.frame.is_none())
    }

    /// Requests the capture of a frame, by its number from 1.
    pub fn request(&mut self, frame: u64, is_last: bool, packet: &mut FramePacket) {
        let Some(wanted) = &self.wanted else { return };
        if self.is_asked || !wanted.frame.map_or(is_last, |wanted| wanted == frame) {
            return;
        }
        self.is_asked = true;
        packet.captures_frame = true;
        packet.captures.push(CaptureRequest { number: SCREEN, of: ViewTarget::Screen });
    }

    /// Returns true if a capture of the renderer belongs to the frame.
    pub fn owns(number: u64) -> bool {
        number == SCREEN
    }

    pub fn receive_screen(&mut self, picture: Result<RenderedImage, String>) {
        self.screen = Some(picture);
        self.write();
    }

    pub fn receive_frame(&mut self, frame: FrameCapture) {
        self.frame = Some(frame);
        self.write();
    }

    /// Writes the files when everything has arrived.
    fn write(&mut self) {
        let (Some(wanted), Some(_), Some(_)) = (&self.wanted, &self.screen, &self.frame) else {
            return;
        };
        let Some((screen, frame)) = self.screen.take().zip(self.frame.take()) else { return };
        let (width, height) = match &screen {
            Ok(picture) => (picture.width, picture.height),
            Err(_) => (0, 0),
        };
        let screen = CapturedImage {
            view: None,
            name: "screen".to_string(),
            width,
            height,
            format: "Rgba8UnormSrgb".to_string(),
            samples: 1,
            bytes: u64::from(width) * u64::from(height) * 4,
            picture: screen,
        };
        let mut images = frame.images;
        images.push(screen);
        let mut files = vec![(LIST.to_string(), list(frame.frame, &frame.passes, &images))];
        for (number, image) in images.iter().enumerate() {
            if let Ok(RenderedImage { width, height, rgba }) = &image.picture {
                files.push((file_name(number, image), encode_png(*width, *height, rgba)));
            }
        }
        let count = files.len();
        self.is_written = files.iter().all(|(name, bytes)| write(&wanted.folder, name, bytes));
        if self.is_written {
            let folder = wanted.folder.display();
            engine_foundation::error_line!("engine: the frame is in {folder} ({count} files)");
        }
    }

    /// Reports a frame that was not written. Returns true if there is none. `frame` is the number
    /// of the last frame.
    pub fn finish(&self, frame: u64) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        if !self.is_asked {
            let wanted = wanted.frame.map_or(String::new(), |it| format!(" before frame {it}"));
            log::error(&format!(
                "no frame is captured: the game ended after frame {frame}{wanted}"
            ));
        } else if self.screen.is_some() || self.frame.is_some() || !self.is_written {
            log::error("no frame is captured: the renderer returned no images");
        }
        self.is_written
    }
}

/// Writes a file into the folder of the capture.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> bool {
    let path = folder.join(name);
    let written = output_files::write(&path, bytes);
    if let Err(reason) = &written {
        log::error(&format!("{} cannot be written: {reason}", path.display()));
    }
    written.is_ok()
}

/// Returns the view of a pass or an image, as the list has it.
fn view_name(view: Option<usize>) -> String {
    view.map_or("all views".to_string(), |view| format!("view {}", view + 1))
}

/// Returns the name of an image's file. Names have other characters than those of file names.
fn file_name(number: usize, image: &CapturedImage) -> String {
    let view = image.view.map_or(String::new(), |view| format!("view_{}_", view + 1));
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name: String = image.name.chars().take(NAME_BYTES_MAX).map(plain).collect();
    format!("{:02}_{view}{}.png", number + 1, name.to_ascii_lowercase())
}

/// Returns the list of passes and images.
fn list(frame: u64, passes: &[engine_render::CapturedPass], images: &[CapturedImage]) -> Vec<u8> {
    let mut text = format!("Frame {frame}\n\nPasses, in order:\n");
    for pass in passes {
        text += &format!("  {:<10} {}\n", view_name(pass.view), pass.name);
    }
    text += "\nImages, as the frame left them:\n";
    let mut sum = 0;
    for (number, image) in images.iter().enumerate() {
        let CapturedImage { name, width, height, format, samples, bytes, .. } = image;
        sum += bytes;
        let file = match &image.picture {
            Ok(_) => file_name(number, image),
            Err(reason) => reason.clone(),
        };
        let view = view_name(image.view);
        text += &format!(
            "  {view:<10} {name:<28} {width} x {height}, {format}, samples: {samples}, {bytes} \
             bytes: {file}\n"
        );
    }
    text += &format!("  together: {sum} bytes\n");
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_requested_once() {
        let wanted = FrameCaptureRequest { folder: PathBuf::from("frame"), frame: Some(3) };
        let mut files = FrameCaptureFiles::new(Some(wanted));
        let mut asked = Vec::new();
        for frame in [1, 2, 3, 3, 4] {
            let mut packet = FramePacket::default();
            files.request(frame, false, &mut packet);
            asked.push((packet.captures_frame, packet.captures.len()));
        }
        assert_eq!(asked, [(false, 0), (false, 0), (true, 1), (false, 0), (false, 0)]);
        assert!(!files.needs_last_frame() && FrameCaptureFiles::owns(SCREEN));
    }

    #[test]
    fn files_are_written_when_everything_has_arrived() {
        let name = format!("engine-captured-frame-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for is_frame_first in [true, false] {
            let wanted = FrameCaptureRequest { folder: folder.clone(), frame: Some(1) };
            let mut files = FrameCaptureFiles::new(Some(wanted));
            files.request(1, false, &mut FramePacket::default());
            let picture = RenderedImage { width: 1, height: 1, rgba: vec![255; 4] };
            if is_frame_first {
                files.receive_frame(FrameCapture::default());
            }
            files.receive_screen(Ok(picture));
            if !is_frame_first {
                assert!(!files.finish(1), "the images are missing");
                files.receive_frame(FrameCapture::default());
            }
            assert!(files.finish(1));
            assert!(folder.join("01_screen.png").is_file());
            let list = std::fs::read_to_string(folder.join(LIST)).unwrap();
            assert!(list.contains("screen") && list.contains("1 x 1"), "{list}");
            std::fs::remove_file(folder.join("01_screen.png")).unwrap();
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn names_of_files_have_plain_characters() {
        let image = CapturedImage {
            view: Some(1),
            name: "../Bloom 160 x 90".to_string(),
            width: 160,
            height: 90,
            format: "Rgba16Float".to_string(),
            samples: 1,
            bytes: 115_200,
            picture: Err("the adapter was lost".to_string()),
        };
        assert_eq!(file_name(4, &image), "05_view_2____bloom_160_x_90.png");
        let pass = engine_render::CapturedPass { view: None, name: "sky map".to_string() };
        let text = String::from_utf8(list(7, &[pass], &[image])).unwrap();
        assert!(text.starts_with("Frame 7\n\nPasses, in order:\n  all views  sky map\n"), "{text}");
        assert!(text.ends_with("115200 bytes: the adapter was lost\n  together: 115200 bytes\n"));
    }
}
