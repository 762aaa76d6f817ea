//! Encoding of captured frames for remote tools: scaled down to the width that a client wants, as
//! JPEG for streams, which is several times as small as PNG and takes less time, and as PNG for
//! pictures that are saved.

use super::{PendingReply, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, log, panic, suggest};
use engine_remote::{Bytes, RemoteConnection};
use engine_render::RenderedImage;
use engine_resource::image::{encode_jpeg, encode_png};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Quality of JPEG pictures, from 1 to 100.
const JPEG_QUALITY: u8 = 80;

/// The file format of a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PictureFormat {
    Jpeg,
    Png,
}

impl PictureFormat {
    const ALL: [PictureFormat; 2] = [PictureFormat::Jpeg, PictureFormat::Png];

    fn name(self) -> &'static str {
        match self {
            PictureFormat::Jpeg => "jpeg",
            PictureFormat::Png => "png",
        }
    }

    /// Returns the format with that name; JPEG without a name.
    pub fn parse(name: Option<&str>) -> Result<PictureFormat, Refusal> {
        let Some(name) = name else { return Ok(PictureFormat::Jpeg) };
        PictureFormat::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let hint = suggest::hint(name, PictureFormat::ALL.iter().map(|it| it.name()));
            Refusal::of(format!("there is no format '{name}'{hint} (jpeg, png)"))
        })
    }
}

/// Receiver of a screenshot, with its maximum width.
pub enum ScreenshotReceiver {
    /// Reply to a message, as PNG.
    Answer(PendingReply, u32),
    /// Message of a stream. `in_flight` is reset if the message is not sent.
    Stream {
        peer: Arc<RemoteConnection>,
        width: u32,
        format: PictureFormat,
        in_flight: Option<Arc<AtomicBool>>,
    },
}

impl ScreenshotReceiver {
    fn width_and_format(&self) -> (u32, PictureFormat) {
        match self {
            ScreenshotReceiver::Answer(_, width) => (*width, PictureFormat::Png),
            ScreenshotReceiver::Stream { width, format, .. } => (*width, *format),
        }
    }

    /// Reports that there is no picture.
    pub fn fail(self, message: &str) {
        match self {
            ScreenshotReceiver::Answer(reply, _) => reply.refuse(Refusal::of(message)),
            ScreenshotReceiver::Stream { in_flight, .. } => {
                if let Some(flag) = in_flight {
                    flag.store(false, Ordering::Release);
                }
            }
        }
    }

    /// Sends the picture. A stream skips it if the client does not keep up.
    fn send(self, frame: u64, encoded: &EncodedPicture) {
        let EncodedPicture { width, height, format, bytes } = encoded;
        let mut fields = vec![
            ("frame".to_string(), SjsonTree::Number(frame as f64)),
            ("width".to_string(), SjsonTree::Number(f64::from(*width))),
            ("height".to_string(), SjsonTree::Number(f64::from(*height))),
        ];
        match self {
            ScreenshotReceiver::Answer(reply, _) => {
                fields.push(("png".to_string(), json::text(json::base64(bytes))));
                reply.answer(SjsonTree::Object(fields));
            }
            ScreenshotReceiver::Stream { peer, in_flight, .. } => {
                fields.push(("type".to_string(), json::text("picture")));
                fields.push(("format".to_string(), json::text(format.name())));
                let head = json::write(&SjsonTree::Object(fields));
                let bytes = [head.as_bytes(), b"\n", bytes].concat();
                if !peer.offer_bytes(Bytes::from(bytes))
                    && let Some(flag) = in_flight
                {
                    flag.store(false, Ordering::Release);
                }
            }
        }
    }
}

/// A captured frame and its receivers.
pub struct EncodeJob {
    pub frame: u64,
    pub picture: Arc<RenderedImage>,
    pub receivers: Vec<ScreenshotReceiver>,
}

struct EncodedPicture {
    width: u32,
    height: u32,
    format: PictureFormat,
    bytes: Vec<u8>,
}

/// Encodes the image once for each width and format, and sends it to all receivers.
pub fn encode_and_send(job: EncodeJob) {
    let EncodeJob { frame, picture, receivers } = job;
    let mut encoded: Vec<EncodedPicture> = Vec::new();
    for receiver in receivers {
        let (most, format) = receiver.width_and_format();
        let size = fitted_size(&picture, most);
        let known = encoded.iter().position(|it| it.width == size.0 && it.format == format);
        let at = match known {
            Some(at) => at,
            None => match panic::contain(|| encode(&picture, size, format)).flatten() {
                Ok(bytes) => {
                    encoded.push(EncodedPicture { width: size.0, height: size.1, format, bytes });
                    encoded.len() - 1
                }
                Err(error) => {
                    log::error(&format!("a tool's screenshot could not be encoded: {error}"));
                    receiver.fail(&error.message);
                    continue;
                }
            },
        };
        receiver.send(frame, &encoded[at]);
    }
}

fn encode(
    picture: &RenderedImage,
    (width, height): (u32, u32),
    format: PictureFormat,
) -> Result<Vec<u8>, Error> {
    let scaled;
    let rgba = match (width, height) == (picture.width, picture.height) {
        true => &picture.rgba,
        false => {
            scaled = scale_down(picture, width, height);
            &scaled
        }
    };
    match format {
        PictureFormat::Png => Ok(encode_png(width, height, rgba)),
        PictureFormat::Jpeg => encode_jpeg(width, height, rgba, JPEG_QUALITY),
    }
}

/// Returns the size of the image, scaled down to a width of at most `most`.
fn fitted_size(picture: &RenderedImage, most: u32) -> (u32, u32) {
    if picture.width <= most {
        return (picture.width, picture.height);
    }
    let height = u64::from(picture.height) * u64::from(most) / u64::from(picture.width);
    (most, (height as u32).max(1))
}

/// Scales an image down: each texel is the mean of the texels that it replaces.
fn scale_down(picture: &RenderedImage, width: u32, height: u32) -> Vec<u8> {
    let (from_width, from_height) = (picture.width as usize, picture.height as usize);
    let (width, height) = (width as usize, height as usize);
    let mut out = Vec::with_capacity(width * height * 4);
    for y in 0..height {
        let rows = y * from_height / height..((y + 1) * from_height / height).max(1);
        for x in 0..width {
            let columns = x * from_width / width..(x + 1) * from_width / width;
            let mut sum = [0u32; 4];
            let mut count = 0;
            for row in rows.clone() {
                for column in columns.clone() {
                    let at = (row * from_width + column) * 4;
                    for (sum, part) in sum.iter_mut().zip(&picture.rgba[at..at + 4]) {
                        *sum += u32::from(*part);
                    }
                    count += 1;
                }
            }
            out.extend(sum.map(|sum| (sum / count.max(1)) as u8));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_down_averages_texels_and_keeps_proportions() {
        let rgba = [[0, 0, 0, 255], [200, 100, 50, 255]].concat().repeat(4);
        let picture = RenderedImage { width: 4, height: 2, rgba };
        assert_eq!(fitted_size(&picture, 2), (2, 1));
        assert_eq!(fitted_size(&picture, 100), (4, 2));
        assert_eq!(scale_down(&picture, 2, 1), [[100, 50, 25, 255], [100, 50, 25, 255]].concat());
        let flat = RenderedImage { width: 100, height: 1, rgba: vec![9; 400] };
        assert_eq!(fitted_size(&flat, 16), (16, 1));
        assert_eq!(scale_down(&flat, 16, 1), [9; 64]);
    }
}
