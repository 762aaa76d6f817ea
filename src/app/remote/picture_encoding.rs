//! Encoding of captured frames for remote tools: scaled down to the width that a client wants, as
//! JPEG for streams, which is several times as small as PNG and takes less time, and as PNG for
//! pictures that are saved.

use super::{PendingReply, Refusal};
use crate::picture_scaling::{fitted_size, scale_down};
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
        let size = fitted_size((picture.width, picture.height), most);
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
            let size = (picture.width, picture.height);
            scaled = scale_down(&picture.rgba, size, (width, height));
            &scaled
        }
    };
    match format {
        PictureFormat::Png => Ok(encode_png(width, height, rgba)),
        PictureFormat::Jpeg => encode_jpeg(width, height, rgba, JPEG_QUALITY),
    }
}
