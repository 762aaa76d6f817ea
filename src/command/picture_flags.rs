//! Parsers of the flags for pictures of a run: `--screenshot`, `--film` and
//! `--capture-frame`.

use engine_app::{FILM_FRAMES, FilmRequest, FrameCaptureRequest, ScreenshotRequest};
use std::path::PathBuf;

/// Parses the value of `--screenshot`: FILE or FILE@FRAME.
pub fn screenshot(text: &str) -> Result<ScreenshotRequest, String> {
    let (file, frame) = match text.rsplit_once('@') {
        Some((file, frame)) if frame.bytes().all(|digit| digit.is_ascii_digit()) => {
            match frame_number(frame) {
                Some(frame) => (file, Some(frame)),
                None => return Err("the frame after @ must be a number from 1".to_string()),
            }
        }
        _ => (text, None),
    };
    Ok(ScreenshotRequest { file: picture_file(file, "a screenshot")?, frame })
}

/// Parses the value of `--capture-frame`: DIR or DIR@FRAME.
pub fn captured_frame(text: &str) -> Result<FrameCaptureRequest, String> {
    let (folder, frame) = match text.rsplit_once('@') {
        Some((folder, frame)) if frame.bytes().all(|digit| digit.is_ascii_digit()) => {
            match frame_number(frame) {
                Some(frame) => (folder, Some(frame)),
                None => return Err("the frame after @ must be a number from 1".to_string()),
            }
        }
        _ => (text, None),
    };
    if folder.is_empty() {
        return Err("the folder is missing: write DIR or DIR@FRAME".to_string());
    }
    Ok(FrameCaptureRequest { folder: PathBuf::from(folder), frame })
}

/// Parses the value of `--film`: FILE@FIRST-LAST.
pub fn film(text: &str) -> Result<FilmRequest, String> {
    let shape = "write FILE@FIRST-LAST, such as jump.png@60-130";
    let Some((file, frames)) = text.rsplit_once('@') else {
        return Err(format!("the frames of the film are missing: {shape}"));
    };
    let ends = frames
        .split_once('-')
        .and_then(|(first, last)| Some((frame_number(first)?, frame_number(last)?)));
    let Some((first, last)) = ends else {
        return Err(format!("the frames after @ must be two numbers from 1: {shape}"));
    };
    if last < first || last - first < FILM_FRAMES - 1 {
        return Err(format!(
            "a film has {FILM_FRAMES} frames, and {first}-{last} has fewer: the last frame must be \
             at least {}",
            first.saturating_add(FILM_FRAMES - 1)
        ));
    }
    Ok(FilmRequest { file: picture_file(file, "a film")?, first, last })
}

/// Parses the number of a frame, from 1, without a sign.
fn frame_number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|&frame| is_plain && frame > 0)
}

/// Parses the name of a picture's file. `subject` is "a screenshot" or the like.
fn picture_file(file: &str, subject: &str) -> Result<PathBuf, String> {
    if file.is_empty() {
        return Err("a file's name must come before the @".to_string());
    }
    let file = PathBuf::from(file);
    match file.extension().map(|ending| ending.to_string_lossy().to_lowercase()) {
        Some(ending) if !["png", "jpg", "jpeg"].contains(&&*ending) => Err(format!(
            "{subject} is a PNG or JPEG picture, and the file's name ends in .{ending}: write {}",
            file.with_extension("png").display()
        )),
        _ => Ok(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screenshot_is_a_file_and_a_frame() {
        let good =
            |text: &str| screenshot(text).map(|it| (it.file.display().to_string(), it.frame));
        assert_eq!(good("a.png"), Ok(("a.png".to_string(), None)));
        assert_eq!(good("me@home.jpg@12"), Ok(("me@home.jpg".to_string(), Some(12))));
        assert_eq!(good("me@home.png"), Ok(("me@home.png".to_string(), None)));
        for (text, message) in [
            ("a.png@0", "the frame after @ must be a number from 1"),
            ("a.png@99999999999999999999", "the frame after @ must be a number from 1"),
            ("@5", "a file's name must come before the @"),
            ("a.gif", "a screenshot is a PNG or JPEG picture, and the file's name ends in .gif"),
        ] {
            let refused = screenshot(text).expect_err(text);
            assert!(refused.contains(message), "{text}: {refused}");
        }
    }

    #[test]
    fn captured_frame_is_a_folder_and_a_frame() {
        let wanted = captured_frame("frames@12").unwrap();
        assert_eq!((wanted.folder, wanted.frame), (PathBuf::from("frames"), Some(12)));
        assert_eq!(captured_frame("me@home").unwrap().frame, None);
        assert!(captured_frame("frames@0").unwrap_err().contains("a number from 1"));
        assert!(captured_frame("@3").unwrap_err().contains("the folder is missing"));
    }

    #[test]
    fn film_is_a_file_and_a_range_of_frames() {
        let film_of = |text: &str| film(text).expect(text);
        let wanted = FilmRequest { file: PathBuf::from("walk.png"), first: 30, last: 90 };
        assert_eq!(film_of("walk.png@30-90"), wanted);
        assert_eq!(film_of("me@home.jpg@1-8").file, PathBuf::from("me@home.jpg"));
        for (text, message) in [
            ("walk.png", "the frames of the film are missing: write FILE@FIRST-LAST"),
            ("walk.png@30", "the frames after @ must be two numbers from 1"),
            ("walk.png@0-9", "the frames after @ must be two numbers from 1"),
            ("walk.png@-9", "the frames after @ must be two numbers from 1"),
            ("walk.png@+1-9", "the frames after @ must be two numbers from 1"),
            ("walk.png@1-99999999999999999999", "must be two numbers from 1"),
            ("walk.png@1-nan", "the frames after @ must be two numbers from 1"),
            ("walk.png@1-7", "a film has 8 frames, and 1-7 has fewer: the last frame must be at"),
            ("walk.png@90-30", "the last frame must be at least 97"),
            ("walk.png@18446744073709551615-1", "a film has 8 frames"),
            ("@1-8", "a file's name must come before the @"),
            ("walk.gif@1-8", "a film is a PNG or JPEG picture, and the file's name ends in .gif"),
        ] {
            let refused = film(text).expect_err(text);
            assert!(refused.contains(message), "{text}: {refused}");
        }
    }
}
