//! Recordings: WAV, OGG, FLAC and MP3 files. They are checked when they are compiled, and decoded
//! when they are first played, or while they play. Hostile files are rejected with a message, and a
//! panic of a decoder never ends the engine. Knows no rules of sounds.

use super::clip_decoder::ClipDecoder;
use super::duration_limit;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::error;
use engine_foundation::memory::limit;
use engine_foundation::{Error, panic};
use kira::Frame;
use kira::sound::FromFileError;
use kira::sound::streaming::StreamingSoundData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A longer recording is decoded while it plays, unless its sound says otherwise. In seconds.
pub const STREAM_SECONDS_MIN: f64 = 10.0;
/// Length of the longest recording, in seconds.
pub const WAVE_SECONDS_MAX: f64 = 3600.0;
/// Size of the largest file of a recording, in bytes.
pub const WAVE_BYTES_MAX: usize = 256 << 20;

/// Format tags of WAV files with ADPCM: Microsoft's, IMA's and Yamaha's.
const ADPCM: [u16; 3] = [0x02, 0x11, 0x20];

/// Accepted sample rates.
const RATES: std::ops::RangeInclusive<u32> = 1000..=384_000;

/// A recording in compiled data: the bytes of the file, and its properties.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundClipData {
    pub sample_rate: u32,
    /// Number of samples of each channel.
    pub frames: u64,
    /// True if the recording can be decoded while it plays: the file states its length, and the
    /// length is correct.
    pub streams: bool,
    pub bytes: Arc<[u8]>,
}

impl SoundClipData {
    /// Returns the length in seconds at the original pitch.
    pub fn seconds(&self) -> f64 {
        self.frames as f64 / f64::from(self.sample_rate)
    }

    pub fn write(&self, writer: &mut BlobWriter) {
        writer.u32(self.sample_rate);
        writer.u64(self.frames);
        writer.u8(u8::from(self.streams));
        writer.bytes(&self.bytes);
    }
}

/// A view of a [`SoundClipData`] in compiled data, without a copy of its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipView<'a> {
    sample_rate: u32,
    frames: u64,
    streams: bool,
    bytes: &'a [u8],
}

impl<'a> ClipView<'a> {
    /// Reads the compiled form.
    pub fn read(reader: &mut BlobReader<'a>) -> Result<ClipView<'a>, Error> {
        let (sample_rate, frames) = (reader.u32()?, reader.u64()?);
        let (streams, bytes) = (reader.flag()?, reader.bytes()?);
        let right = RATES.contains(&sample_rate)
            && (1..=frames_max(sample_rate)).contains(&frames)
            && bytes.len() <= WAVE_BYTES_MAX;
        match right {
            true => Ok(ClipView { sample_rate, frames, streams, bytes }),
            false => Err(error!(
                "it is damaged: a recording has {frames} samples at {sample_rate} Hz \
                 (WAVE_SECONDS_MAX)"
            )),
        }
    }

    /// Rejects a file that is cut short, or that contains more than can be played: a few bytes can
    /// stand for hours. The file is decoded when it is played, and then compared with the stored
    /// properties.
    pub fn check(&self) -> Result<(), Error> {
        check_complete(self.bytes)
            .and_then(|()| duration_limit::check_duration(self.bytes))
            .map_err(|message| error!("it is damaged: its recording: {message}"))
    }

    pub fn to_file(self) -> SoundClipData {
        let ClipView { sample_rate, frames, streams, bytes } = self;
        SoundClipData { sample_rate, frames, streams, bytes: Arc::from(bytes) }
    }
}

/// Returns the most samples of a channel at a sample rate.
fn frames_max(sample_rate: u32) -> u64 {
    (WAVE_SECONDS_MAX * f64::from(sample_rate)) as u64
}

/// A decoded recording.
pub struct DecodedClip {
    pub sample_rate: u32,
    pub frames: Arc<[Frame]>,
}

/// Checks the bytes of a file. Returns its properties, or a message that says why it is rejected.
pub fn check(bytes: Vec<u8>) -> Result<SoundClipData, String> {
    if bytes.len() > WAVE_BYTES_MAX {
        let mib = WAVE_BYTES_MAX >> 20;
        return Err(format!("it is larger than {mib} MiB (WAVE_BYTES_MAX): cut it in pieces"));
    }
    check_complete(&bytes)?;
    let bytes: Arc<[u8]> = Arc::from(with_stated_size(bytes));
    // The length that the file states is checked first, so that no memory is allocated for too long
    // a recording.
    let declared_frames = guarded(|| {
        let decoder = ClipDecoder::open(bytes.clone())?;
        Ok((decoder.sample_rate, decoder.declared_frames))
    })?;
    let (sample_rate, declared_frames) =
        declared_frames.map_err(|reason| decode_error_message(&reason))?;
    check_rate(sample_rate)?;
    if let Some(frames) = declared_frames
        && frames > frames_max(sample_rate)
    {
        let seconds = frames as f64 / f64::from(sample_rate);
        return Err(format!(
            "it says that it is {seconds:.0} seconds long, and {WAVE_SECONDS_MAX} can be played \
             (WAVE_SECONDS_MAX): cut it in pieces"
        ));
    }
    duration_limit::check_duration(&bytes)?;
    let clip = decode_bytes(bytes.clone())?;
    let frames = clip.frames.len() as u64;
    if frames == 0 {
        return Err("it has no sound in it".to_string());
    }
    if frames > frames_max(clip.sample_rate) {
        return Err(duration_limit::too_long());
    }
    if let Some(declared_frames) = declared_frames
        && bytes.starts_with(b"fLaC")
        && declared_frames > 0
        && frames > declared_frames
    {
        return Err(format!(
            "it says that it has {declared_frames} samples, and has {frames}: export it again"
        ));
    }
    if clip.frames.iter().any(|frame| !frame.left.is_finite() || !frame.right.is_finite()) {
        return Err("it has samples that are not numbers: export it again".to_string());
    }
    let streams = declared_frames == Some(frames);
    Ok(SoundClipData { sample_rate: clip.sample_rate, frames, streams, bytes })
}

/// Decodes a whole recording.
pub fn decode(file: &SoundClipData) -> Result<DecodedClip, String> {
    let frames = usize::try_from(file.frames).unwrap_or(usize::MAX);
    limit::check_room(frames.saturating_mul(size_of::<Frame>())).map_err(|full| full.message)?;
    let clip = decode_bytes(file.bytes.clone())?;
    // The end and the loop points were computed with these values.
    match (clip.sample_rate, clip.frames.len() as u64) == (file.sample_rate, file.frames) {
        true => Ok(clip),
        false => Err(format!(
            "it is damaged: it has {} samples at {} Hz, and should have {} at {} Hz",
            clip.frames.len(),
            clip.sample_rate,
            file.frames,
            file.sample_rate
        )),
    }
}

/// Opens a recording that is decoded while it plays.
pub fn stream(file: &SoundClipData) -> Result<StreamingSoundData<FromFileError>, String> {
    let decoder = guarded(|| ClipDecoder::open(file.bytes.clone()))?;
    let decoder = decoder.map_err(|reason| decode_error_message(&reason))?;
    match (decoder.sample_rate, decoder.declared_frames) == (file.sample_rate, Some(file.frames)) {
        true => Ok(StreamingSoundData::from_decoder(decoder)),
        false => Err("it is damaged: it states another length than its data".to_string()),
    }
}

fn decode_bytes(bytes: Arc<[u8]>) -> Result<DecodedClip, String> {
    let decode = || -> Result<(u32, Vec<Frame>), FromFileError> {
        let mut decoder = ClipDecoder::open(bytes)?;
        let most = frames_max(decoder.sample_rate);
        let mut frames = Vec::new();
        // One sample too many is enough to see that a recording is too long.
        while frames.len() as u64 <= most
            && let Some(chunk) = decoder.next_chunk()?
        {
            frames.extend(chunk);
        }
        Ok((decoder.sample_rate, frames))
    };
    let (sample_rate, frames) = guarded(decode)?.map_err(|reason| decode_error_message(&reason))?;
    Ok(DecodedClip { sample_rate, frames: frames.into() })
}

/// Runs a decoder. A panic means that the file is damaged.
fn guarded<R>(decode: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(decode)).map_err(|_| {
        panic::take_panic();
        "it cannot be decoded: it is damaged".to_string()
    })
}

fn decode_error_message(reason: &FromFileError) -> String {
    match reason {
        FromFileError::NoDefaultTrack => "there is no sound in it".to_string(),
        FromFileError::UnknownSampleRate => "it does not say its sample rate".to_string(),
        FromFileError::UnsupportedChannelConfiguration => {
            "it has more than two channels: mix it down to stereo".to_string()
        }
        other => format!(
            "it cannot be decoded as WAV, OGG Vorbis, FLAC or MP3 ({}): export it again",
            other.to_string().trim_end_matches('.')
        ),
    }
}

fn check_rate(rate: u32) -> Result<(), String> {
    if RATES.contains(&rate) {
        return Ok(());
    }
    let (least, most) = (RATES.start(), RATES.end());
    Err(format!("its sample rate is {rate} Hz, and must be {least} to {most}: convert it to 48000"))
}

/// Size of a chunk in a WAV that was written to a pipe: its writer could not know the size, and the
/// chunk reaches to the end of the file.
const UNKNOWN_SIZE: u32 = u32::MAX;

/// Writes the size of the samples into a WAV that does not state it, because some decoders refuse
/// such a file, and it could not be played while it is decoded.
fn with_stated_size(mut bytes: Vec<u8>) -> Vec<u8> {
    let samples = wav_chunks(&bytes).find(|chunk| chunk.name == *b"data");
    if let Some(WavChunk { start, size: UNKNOWN_SIZE, .. }) = samples {
        // A file is smaller than 4 GiB (WAVE_BYTES_MAX).
        let size = (bytes.len() - start) as u32;
        bytes[start - 4..start].copy_from_slice(&size.to_le_bytes());
        let all = bytes.len() as u32 - 8;
        bytes[4..8].copy_from_slice(&all.to_le_bytes());
    }
    bytes
}

/// Head of a chunk of a WAV.
struct WavChunk {
    name: [u8; 4],
    size: u32,
    /// Position of its data in the file.
    start: usize,
}

/// Returns the chunks of a WAV up to its samples, or to its end. Empty for other files.
fn wav_chunks(bytes: &[u8]) -> impl Iterator<Item = WavChunk> {
    let mut at: Option<usize> = bytes.starts_with(b"RIFF").then_some(12);
    std::iter::from_fn(move || {
        let start = at?.checked_add(8)?;
        let head = bytes.get(start - 8..start)?;
        let (name, size) = head.split_at(4);
        let (name, size) = (name.try_into().ok()?, u32::from_le_bytes(size.try_into().ok()?));
        let size_of = size as usize;
        let next = start.checked_add(size_of)?.checked_add(size_of % 2);
        at = next.filter(|_| name != *b"data");
        Some(WavChunk { name, size, start })
    })
}

/// Returns an error if the file ends too early; decoders accept files that are cut short. Names
/// formats that are not decoded.
fn check_complete(bytes: &[u8]) -> Result<(), String> {
    let cut = || "it is cut short: export it again".to_string();
    match bytes {
        [] => Err("the file is empty".to_string()),
        [b'R', b'I', b'F', b'F', ..] => check_complete_wav(bytes).unwrap_or_else(|| Err(cut())),
        [b'O', b'g', b'g', b'S', ..] if first_ogg_packet(bytes).starts_with(b"OpusHead") => {
            Err("it is Opus: export it as OGG Vorbis".to_string())
        }
        [b'O', b'g', b'g', b'S', ..] => match last_ogg_page_ends(bytes) {
            true => Ok(()),
            false => Err(cut()),
        },
        _ => Ok(()),
    }
}

/// Walks the chunks of a WAV, and returns if they can be played. Returns `None` if samples are
/// missing at the end.
fn check_complete_wav(bytes: &[u8]) -> Option<Result<(), String>> {
    for WavChunk { name, size, start } in wav_chunks(bytes) {
        let body = bytes.get(start..)?;
        if name == *b"data" {
            let is_complete = size == UNKNOWN_SIZE || body.len() >= size as usize;
            return is_complete.then_some(Ok(()));
        }
        // Decoders divide by both values.
        if name == *b"fmt " && size >= 16 {
            let &[t0, t1, c0, c1, r0, r1, r2, r3, ..] = body else { return None };
            if ADPCM.contains(&u16::from_le_bytes([t0, t1])) {
                return Some(Err("it is ADPCM: export it as 16-bit PCM".to_string()));
            }
            if u16::from_le_bytes([c0, c1]) == 0 {
                return Some(Err("it has no channels: export it again".to_string()));
            }
            if let Err(message) = check_rate(u32::from_le_bytes([r0, r1, r2, r3])) {
                return Some(Err(message));
            }
        }
    }
    None
}

/// Returns the start of the first packet of an OGG, which names the codec.
fn first_ogg_packet(bytes: &[u8]) -> &[u8] {
    let segments = bytes.get(26).map_or(0, |count| usize::from(*count));
    bytes.get(27 + segments..).unwrap_or_default()
}

/// Returns true if the last page of an OGG is marked as the last, and is complete.
fn last_ogg_page_ends(bytes: &[u8]) -> bool {
    let Some(at) = bytes.windows(4).rposition(|window| window == b"OggS") else { return false };
    let page = &bytes[at..];
    let Some(segments) = page.get(26) else { return false };
    let Some(lacing) = page.get(27..27 + usize::from(*segments)) else { return false };
    let length: usize = lacing.iter().map(|size| usize::from(*size)).sum();
    page[5] & 4 != 0 && page.len() >= 27 + lacing.len() + length
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use engine_test_support::wav::wav_file;

    /// Returns a tone as a WAV file at 48,000 Hz.
    pub fn tone(hertz: f32, seconds: f32) -> Vec<u8> {
        let sample = |i: u32| {
            let phase = i as f32 / 48_000.0 * hertz * std::f32::consts::TAU;
            (phase.sin() * 16_000.0) as i16
        };
        let samples: Vec<i16> = (0..(seconds * 48_000.0) as u32).map(sample).collect();
        wav_file(48_000, 1, &samples)
    }

    #[test]
    fn a_wav_is_decoded_with_its_length() {
        let file = check(wav_file(8000, 2, &[0, 100, -16384, 16384])).unwrap();
        assert_eq!((file.sample_rate, file.frames, file.streams), (8000, 2, true));
        let clip = decode(&file).unwrap();
        assert_eq!((clip.frames[1].left, clip.frames[1].right), (-0.5, 0.5));
        let mut writer = BlobWriter::default();
        file.write(&mut writer);
        let bytes = writer.finish();
        let view = ClipView::read(&mut BlobReader::new(&bytes)).unwrap();
        assert_eq!((view.check(), view.to_file()), (Ok(()), file));
    }

    #[test]
    fn impossible_headers_of_clips_are_refused() {
        let file = check(wav_file(8000, 1, &[0, 100, 200, 300])).unwrap();
        let check_message = |file: &SoundClipData| {
            let mut writer = BlobWriter::default();
            file.write(&mut writer);
            let bytes = writer.finish();
            let view =
                ClipView::read(&mut BlobReader::new(&bytes)).map_err(|error| error.message)?;
            view.check().map_err(|error| error.message)
        };
        assert_eq!(check_message(&file), Ok(()));
        for (sample_rate, frames) in
            [(0, 4), (u32::MAX, 4), (8000, 0), (8000, 3600 * 8000 + 1), (8000, u64::MAX)]
        {
            let wanted = format!(
                "it is damaged: a recording has {frames} samples at {sample_rate} Hz \
                 (WAVE_SECONDS_MAX)"
            );
            assert_eq!(
                check_message(&SoundClipData { sample_rate, frames, ..file.clone() }),
                Err(wanted)
            );
        }
        let cut = SoundClipData { bytes: file.bytes[..40].into(), ..file.clone() };
        let wanted = "it is damaged: its recording: it is cut short: export it again";
        assert_eq!(check_message(&cut), Err(wanted.to_string()));
        let longer = decode(&SoundClipData { frames: 5, ..file }).err().unwrap();
        let wanted = "it is damaged: it has 4 samples at 8000 Hz, and should have 5 at 8000 Hz";
        assert_eq!(longer, wanted);
    }

    fn refused(bytes: &[u8]) -> String {
        check(bytes.to_vec()).unwrap_err()
    }

    #[test]
    fn unplayable_clips_are_refused_with_a_message() {
        assert_eq!(refused(b""), "the file is empty");
        let check_complete = tone(440.0, 0.01);
        assert_eq!(
            refused(&check_complete[..check_complete.len() - 1]),
            "it is cut short: export it again"
        );
        assert_eq!(refused(&wav_file(48_000, 1, &[])), "it has no sound in it");
        assert_eq!(
            refused(&wav_file(10, 1, &[1, 2])),
            "its sample rate is 10 Hz, and must be 1000 to 384000: convert it to 48000"
        );
        for rate in [0, 999, 384_001, u32::MAX] {
            let message = format!("its sample rate is {rate} Hz, and must be 1000 to 384000");
            let mut odd = wav_file(48_000, 1, &[1, 2]);
            odd[24..28].copy_from_slice(&rate.to_le_bytes());
            assert!(refused(&odd).starts_with(&message), "{rate}");
        }
        assert_eq!(refused(&wav_file(48_000, 0, &[1])), "it has no channels: export it again");
        assert_eq!(
            refused(&wav_file(48_000, 4, &[1, 2, 3, 4])),
            "it has more than two channels: mix it down to stereo"
        );
        let message = refused(b"this is not a recording at all, it is a sentence");
        assert!(message.starts_with("it cannot be decoded as WAV, OGG Vorbis, FLAC or MP3"));
        assert_eq!(refused(b"OggS\0\0nothing"), "it is cut short: export it again");
    }

    #[test]
    fn a_wav_that_was_written_to_a_pipe_is_read_to_its_end() {
        let stated = wav_file(8000, 1, &[1, 2, 3, 4]);
        let mut streamed = stated.clone();
        streamed[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        streamed[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(check(streamed), check(stated));
        // Another size that the file does not have is an error.
        let mut cut = wav_file(8000, 1, &[1, 2, 3, 4]);
        cut[40..44].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
        assert_eq!(refused(&cut), "it is cut short: export it again");
    }

    #[test]
    fn codecs_that_are_not_decoded_are_named() {
        for tag in ADPCM {
            let mut adpcm = wav_file(8000, 1, &[1, 2, 3, 4]);
            adpcm[20..22].copy_from_slice(&tag.to_le_bytes());
            assert_eq!(refused(&adpcm), "it is ADPCM: export it as 16-bit PCM");
        }
        let mut opus = b"OggS\0\x02".to_vec();
        opus.resize(26, 0);
        opus.extend([1, 19]);
        opus.extend(b"OpusHead\x01\x02\x38\x01\x80\xbb\0\0\0\0\0");
        assert_eq!(refused(&opus), "it is Opus: export it as OGG Vorbis");
    }

    #[test]
    fn damaged_headers_of_clips_never_panic() {
        let check_complete = tone(440.0, 0.005);
        for length in 0..60 {
            assert!(check(check_complete[..length].to_vec()).is_err(), "{length}");
        }
        for bit in 0..44 * 8 {
            let mut damaged = check_complete.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The file is played or rejected; there is never a panic, and an error always has a
            // message.
            if let Err(message) = check(damaged) {
                assert!(!message.is_empty());
            }
        }
    }
}
