//! Recordings: WAV, OGG, FLAC and MP3 checked when they are compiled, decoded when they are first
//! played, or while they play. Hostile files are refused with words; decoding never takes the
//! engine along. Knows no rules of sounds.

use super::bounds;
use crate::error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::memory::limit;
use crate::foundation::{Error, fault};
use kira::Frame;
use kira::sound::FromFileError;
use kira::sound::static_sound::StaticSoundData;
use kira::sound::streaming::StreamingSoundData;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A recording that is longer is decoded while it plays, unless its sound says otherwise.
pub const STREAM_SECONDS_MIN: f64 = 10.0;
/// The longest recording.
pub const WAVE_SECONDS_MAX: f64 = 3600.0;
/// The largest file of a recording.
pub const WAVE_BYTES_MAX: usize = 256 << 20;

/// Sample rates that make sense.
const RATES: std::ops::RangeInclusive<u32> = 1000..=384_000;

/// A recording as it lies in compiled data: the file's own bytes, and what was found in them.
#[derive(Clone, Debug, PartialEq)]
pub struct WaveFile {
    pub sample_rate: u32,
    /// Samples of each channel.
    pub frames: u64,
    /// Whether it can be decoded while it plays: the file says how long it is, and is so long.
    pub streams: bool,
    pub bytes: Arc<[u8]>,
}

impl WaveFile {
    /// Its length at its own pitch.
    pub fn seconds(&self) -> f64 {
        self.frames as f64 / f64::from(self.sample_rate)
    }

    pub fn write(&self, writer: &mut Writer) {
        writer.u32(self.sample_rate);
        writer.u64(self.frames);
        writer.u8(u8::from(self.streams));
        writer.bytes(&self.bytes);
    }
}

/// A recording in compiled data: as [`WaveFile`], its bytes where they lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaveView<'a> {
    sample_rate: u32,
    frames: u64,
    streams: bool,
    bytes: &'a [u8],
}

impl<'a> WaveView<'a> {
    /// Reads the compiled form.
    pub fn read(reader: &mut Reader<'a>) -> Result<WaveView<'a>, Error> {
        let (sample_rate, frames) = (reader.u32()?, reader.u64()?);
        let (streams, bytes) = (reader.flag()?, reader.bytes()?);
        let right = RATES.contains(&sample_rate)
            && (1..=frames_max(sample_rate)).contains(&frames)
            && bytes.len() <= WAVE_BYTES_MAX;
        match right {
            true => Ok(WaveView { sample_rate, frames, streams, bytes }),
            false => Err(error!(
                "it is damaged: a recording has {frames} samples at {sample_rate} Hz \
                 (WAVE_SECONDS_MAX)"
            )),
        }
    }

    /// Refuses a file that is cut short, or that holds more than can be played: a few bytes can
    /// stand for hours. It is decoded when it is played, and compared with what is said of it.
    pub fn check(&self) -> Result<(), Error> {
        whole(self.bytes)
            .and_then(|()| bounds::fits(self.bytes))
            .map_err(|words| error!("it is damaged: its recording: {words}"))
    }

    pub fn to_file(self) -> WaveFile {
        let WaveView { sample_rate, frames, streams, bytes } = self;
        WaveFile { sample_rate, frames, streams, bytes: Arc::from(bytes) }
    }
}

/// The most samples of a channel at a rate.
fn frames_max(sample_rate: u32) -> u64 {
    (WAVE_SECONDS_MAX * f64::from(sample_rate)) as u64
}

/// A decoded recording.
pub struct Wave {
    pub sample_rate: u32,
    pub frames: Arc<[Frame]>,
}

/// Checks a file's bytes: what it holds, or what is wrong with it.
pub fn check(bytes: Vec<u8>) -> Result<WaveFile, String> {
    if bytes.len() > WAVE_BYTES_MAX {
        let mib = WAVE_BYTES_MAX >> 20;
        return Err(format!("it is larger than {mib} MiB (WAVE_BYTES_MAX): cut it in pieces"));
    }
    whole(&bytes)?;
    let bytes: Arc<[u8]> = Arc::from(bytes);
    // What the file says of itself comes first: no room is made for hours that nobody wants.
    let said = guarded(|| {
        let data = StreamingSoundData::from_cursor(Cursor::new(bytes.clone()))?;
        Ok((data.num_frames() as u64, data.duration().as_secs_f64()))
    })?;
    let said = match said {
        Ok((frames, seconds)) => {
            if seconds > WAVE_SECONDS_MAX {
                return Err(format!(
                    "it says that it is {seconds:.0} seconds long, and {WAVE_SECONDS_MAX} can be \
                     played (WAVE_SECONDS_MAX): cut it in pieces"
                ));
            }
            Some(frames)
        }
        Err(FromFileError::UnknownSampleRate) => None,
        Err(reason) => return Err(words(&reason)),
    };
    bounds::fits(&bytes)?;
    let wave = decode_bytes(bytes.clone())?;
    let frames = wave.frames.len() as u64;
    if frames == 0 {
        return Err("it has no sound in it".to_string());
    }
    if frames > frames_max(wave.sample_rate) {
        return Err(bounds::too_long());
    }
    if let Some(said) = said
        && bytes.starts_with(b"fLaC")
        && said > 0
        && frames > said
    {
        return Err(format!(
            "it says that it has {said} samples, and has {frames}: export it again"
        ));
    }
    check_rate(wave.sample_rate)?;
    if wave.frames.iter().any(|frame| !frame.left.is_finite() || !frame.right.is_finite()) {
        return Err("it has samples that are no numbers: export it again".to_string());
    }
    let streams = said == Some(frames);
    Ok(WaveFile { sample_rate: wave.sample_rate, frames, streams, bytes })
}

/// Decodes a recording as a whole.
pub fn decode(file: &WaveFile) -> Result<Wave, String> {
    let frames = usize::try_from(file.frames).unwrap_or(usize::MAX);
    limit::check_room(frames.saturating_mul(size_of::<Frame>())).map_err(|full| full.message)?;
    let wave = decode_bytes(file.bytes.clone())?;
    // Where it ends and where it repeats was computed with these.
    match (wave.sample_rate, wave.frames.len() as u64) == (file.sample_rate, file.frames) {
        true => Ok(wave),
        false => Err(format!(
            "it is damaged: it has {} samples at {} Hz, and should have {} at {} Hz",
            wave.frames.len(),
            wave.sample_rate,
            file.frames,
            file.sample_rate
        )),
    }
}

/// Begins to decode a recording while it plays.
pub fn stream(file: &WaveFile) -> Result<StreamingSoundData<FromFileError>, String> {
    let bytes = file.bytes.clone();
    let data = guarded(|| StreamingSoundData::from_cursor(Cursor::new(bytes)))?;
    data.map_err(|reason| words(&reason))
}

fn decode_bytes(bytes: Arc<[u8]>) -> Result<Wave, String> {
    let data = guarded(|| StaticSoundData::from_cursor(Cursor::new(bytes)))?;
    let data = data.map_err(|reason| words(&reason))?;
    Ok(Wave { sample_rate: data.sample_rate, frames: data.frames })
}

/// A decoder that panics on a hostile file has found that it cannot be decoded.
fn guarded<R>(decode: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(decode)).map_err(|_| {
        fault::take_panic();
        "it cannot be decoded: it is damaged".to_string()
    })
}

fn words(reason: &FromFileError) -> String {
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

/// Whether the file ends where it says; decoders play what is there of one that was cut short.
fn whole(bytes: &[u8]) -> Result<(), String> {
    let cut = || "it is cut short: export it again".to_string();
    match bytes {
        [] => Err("the file is empty".to_string()),
        [b'R', b'I', b'F', b'F', rest @ ..] => whole_wav(rest).unwrap_or_else(|| Err(cut())),
        [b'O', b'g', b'g', b'S', ..] => match last_ogg_page_ends(bytes) {
            true => Ok(()),
            false => Err(cut()),
        },
        _ => Ok(()),
    }
}

/// Walks the chunks of a WAV: whether they can be played. `None` where its samples are not all
/// there.
fn whole_wav(rest: &[u8]) -> Option<Result<(), String>> {
    let mut chunks = rest.get(8..)?;
    loop {
        let (head, body) = chunks.split_at_checked(8)?;
        let size = u32::from_le_bytes(head[4..].try_into().ok()?) as usize;
        if &head[..4] == b"data" {
            return (body.len() >= size).then_some(Ok(()));
        }
        // Decoders divide by both.
        if &head[..4] == b"fmt " && size >= 16 {
            let &[_, _, low, high, r0, r1, r2, r3, ..] = body else { return None };
            if u16::from_le_bytes([low, high]) == 0 {
                return Some(Err("it has no channels: export it again".to_string()));
            }
            if let Err(words) = check_rate(u32::from_le_bytes([r0, r1, r2, r3])) {
                return Some(Err(words));
            }
        }
        chunks = body.get(size.checked_add(size % 2)?..)?;
    }
}

/// Whether the last page of an OGG says that it is the last, and is whole.
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

    /// A WAV of 16 bits.
    pub fn wav(sample_rate: u32, channels: u16, samples: &[i16]) -> Vec<u8> {
        let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let mut bytes = b"RIFF".to_vec();
        bytes.extend((36 + data.len() as u32).to_le_bytes());
        bytes.extend(b"WAVEfmt ");
        bytes.extend(16u32.to_le_bytes());
        bytes.extend(1u16.to_le_bytes());
        bytes.extend(channels.to_le_bytes());
        bytes.extend(sample_rate.to_le_bytes());
        bytes.extend((sample_rate * u32::from(channels) * 2).to_le_bytes());
        bytes.extend((channels * 2).to_le_bytes());
        bytes.extend(16u16.to_le_bytes());
        bytes.extend(b"data");
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes
    }

    /// A tone of so many seconds, as a WAV at 48,000 Hz.
    pub fn tone(hertz: f32, seconds: f32) -> Vec<u8> {
        let sample = |i: u32| {
            let phase = i as f32 / 48_000.0 * hertz * std::f32::consts::TAU;
            (phase.sin() * 16_000.0) as i16
        };
        let samples: Vec<i16> = (0..(seconds * 48_000.0) as u32).map(sample).collect();
        wav(48_000, 1, &samples)
    }

    #[test]
    fn a_wav_is_decoded_and_its_length_is_known() {
        let file = check(wav(8000, 2, &[0, 100, -16384, 16384])).unwrap();
        assert_eq!((file.sample_rate, file.frames, file.streams), (8000, 2, true));
        let wave = decode(&file).unwrap();
        assert_eq!((wave.frames[1].left, wave.frames[1].right), (-0.5, 0.5));
        let mut writer = Writer::default();
        file.write(&mut writer);
        let bytes = writer.finish();
        let view = WaveView::read(&mut Reader::new(&bytes)).unwrap();
        assert_eq!((view.check(), view.to_file()), (Ok(()), file));
    }

    #[test]
    fn what_is_said_of_a_recording_must_be_so() {
        let file = check(wav(8000, 1, &[0, 100, 200, 300])).unwrap();
        let words = |file: &WaveFile| {
            let mut writer = Writer::default();
            file.write(&mut writer);
            let bytes = writer.finish();
            let view = WaveView::read(&mut Reader::new(&bytes)).map_err(|error| error.message)?;
            view.check().map_err(|error| error.message)
        };
        assert_eq!(words(&file), Ok(()));
        for (sample_rate, frames) in
            [(0, 4), (u32::MAX, 4), (8000, 0), (8000, 3600 * 8000 + 1), (8000, u64::MAX)]
        {
            let wanted = format!(
                "it is damaged: a recording has {frames} samples at {sample_rate} Hz \
                 (WAVE_SECONDS_MAX)"
            );
            assert_eq!(words(&WaveFile { sample_rate, frames, ..file.clone() }), Err(wanted));
        }
        let cut = WaveFile { bytes: file.bytes[..40].into(), ..file.clone() };
        let wanted = "it is damaged: its recording: it is cut short: export it again";
        assert_eq!(words(&cut), Err(wanted.to_string()));
        let longer = decode(&WaveFile { frames: 5, ..file }).err().unwrap();
        let wanted = "it is damaged: it has 4 samples at 8000 Hz, and should have 5 at 8000 Hz";
        assert_eq!(longer, wanted);
    }

    fn refused(bytes: &[u8]) -> String {
        check(bytes.to_vec()).unwrap_err()
    }

    #[test]
    fn what_cannot_be_played_is_refused_with_words() {
        assert_eq!(refused(b""), "the file is empty");
        let whole = tone(440.0, 0.01);
        assert_eq!(refused(&whole[..whole.len() - 1]), "it is cut short: export it again");
        assert_eq!(refused(&wav(48_000, 1, &[])), "it has no sound in it");
        assert_eq!(
            refused(&wav(10, 1, &[1, 2])),
            "its sample rate is 10 Hz, and must be 1000 to 384000: convert it to 48000"
        );
        for rate in [0, 999, 384_001, u32::MAX] {
            let words = format!("its sample rate is {rate} Hz, and must be 1000 to 384000");
            let mut odd = wav(48_000, 1, &[1, 2]);
            odd[24..28].copy_from_slice(&rate.to_le_bytes());
            assert!(refused(&odd).starts_with(&words), "{rate}");
        }
        assert_eq!(refused(&wav(48_000, 0, &[1])), "it has no channels: export it again");
        assert_eq!(
            refused(&wav(48_000, 4, &[1, 2, 3, 4])),
            "it has more than two channels: mix it down to stereo"
        );
        let words = refused(b"this is not a recording at all, it is a sentence");
        assert!(words.starts_with("it cannot be decoded as WAV, OGG Vorbis, FLAC or MP3"));
        assert_eq!(refused(b"OggS\0\0nothing"), "it is cut short: export it again");
    }

    #[test]
    fn no_cut_and_no_flipped_bit_of_the_head_takes_the_engine_along() {
        let whole = tone(440.0, 0.005);
        for length in 0..60 {
            assert!(check(whole[..length].to_vec()).is_err(), "{length}");
        }
        for bit in 0..44 * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // Played in some way, or refused; never a panic, and never without words.
            if let Err(words) = check(damaged) {
                assert!(!words.is_empty());
            }
        }
    }
}
