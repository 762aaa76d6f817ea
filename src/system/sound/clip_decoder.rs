//! The decoder of a recording: its samples from any position on, exact to the sample. Encoders add
//! samples at the start and the end of MP3 and Ogg Vorbis files; the files state how many, and the
//! decoder removes them, so that loops have no gap. Knows no limits of files: clip.rs checks them.

use kira::Frame;
use kira::sound::FromFileError;
use kira::sound::streaming;
use std::io::Cursor;
use std::sync::Arc;
use symphonia::core::audio::GenericAudioBufferRef;
use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::AudioDecoder;
use symphonia::core::errors::Error as DecodeError;
use symphonia::core::formats::{FormatReader, SeekMode, SeekTo, TrackType};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::units::Timestamp;

/// Time that is decoded and dropped before the target of a seek, in seconds. Frames of MP3 and
/// Vorbis depend on earlier ones, and the time of the last page of an Ogg is known only from the
/// page before it.
const PREROLL_SECONDS: i64 = 2;
/// Number of samples of the silence after the end of a file that is shorter than it states.
const SILENCE_FRAMES: usize = 1024;

/// A decoder of the bytes of a file.
pub struct ClipDecoder {
    bytes: Arc<[u8]>,
    format: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track: u32,
    pub sample_rate: u32,
    /// Number of samples of each channel that the file states, if it does.
    pub declared_frames: Option<u64>,
    /// Earlier samples are dropped: those of the encoder, and those before the target of a seek.
    first: i64,
    /// True until the first packet, if the next one is the first of the file.
    is_at_start: bool,
    interleaved: Vec<f32>,
}

impl ClipDecoder {
    pub fn open(bytes: Arc<[u8]>) -> Result<ClipDecoder, FromFileError> {
        let source =
            MediaSourceStream::new(Box::new(Cursor::new(bytes.clone())), Default::default());
        let probe = symphonia::default::get_probe();
        let (hint, format_options) = (Default::default(), Default::default());
        let format = probe.probe(&hint, source, format_options, Default::default())?;
        let track = format.default_track(TrackType::Audio).ok_or(FromFileError::NoDefaultTrack)?;
        let Some(CodecParameters::Audio(codec)) = track.codec_params.as_ref() else {
            return Err(FromFileError::NoDefaultTrack);
        };
        let sample_rate = codec.sample_rate.ok_or(FromFileError::UnknownSampleRate)?;
        let codecs = symphonia::default::get_codecs();
        let decoder = codecs.make_audio_decoder(codec, &Default::default())?;
        let (number, declared_frames) = (track.id, track.num_frames);
        Ok(ClipDecoder {
            bytes,
            format,
            decoder,
            track: number,
            sample_rate,
            declared_frames,
            first: 0,
            is_at_start: true,
            interleaved: Vec::new(),
        })
    }

    /// Returns the next samples, at least one, or `None` at the end of the file.
    pub fn next_chunk(&mut self) -> Result<Option<Vec<Frame>>, FromFileError> {
        while let Some(packet) = self.format.next_packet()? {
            if packet.track_id != self.track {
                continue;
            }
            let start = packet.pts.get().saturating_add_unsigned(packet.trim_start.get());
            let is_start = std::mem::take(&mut self.is_at_start);
            if is_start && start < -PREROLL_SECONDS * i64::from(self.sample_rate) {
                // No encoder adds that much: the times of the file do not begin at zero.
                self.first = i64::MIN;
            }
            let dropped = self.first.saturating_sub(start).max(0);
            match self.decoder.decode(&packet) {
                Ok(buffer) => {
                    let frames = frames_of(&buffer, &mut self.interleaved, dropped as usize)?;
                    if !frames.is_empty() {
                        return Ok(Some(frames));
                    }
                }
                // Before the target of a seek, a frame may refer to frames that were not decoded.
                Err(DecodeError::DecodeError(_)) if self.first > 0 && dropped > 0 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Continues with the sample `index`. The file is opened again, because not all decoders forget
    /// what they read before a seek: their first samples would be mixed with the last ones.
    fn seek_to(&mut self, index: usize) -> Result<(), FromFileError> {
        *self = ClipDecoder::open(self.bytes.clone())?;
        self.first = i64::try_from(index).unwrap_or(i64::MAX);
        let from = self.first - PREROLL_SECONDS * i64::from(self.sample_rate);
        if from > 0 {
            let to = SeekTo::Timestamp { ts: Timestamp::new(from), track_id: self.track };
            self.format.seek(SeekMode::Accurate, to)?;
            self.is_at_start = false;
        }
        Ok(())
    }
}

/// Converts decoded samples to frames, without the first `dropped`.
fn frames_of(
    buffer: &GenericAudioBufferRef,
    interleaved: &mut Vec<f32>,
    dropped: usize,
) -> Result<Vec<Frame>, FromFileError> {
    let channels = buffer.num_planes();
    if !(1..=2).contains(&channels) {
        return Err(FromFileError::UnsupportedChannelConfiguration);
    }
    buffer.copy_to_vec_interleaved(interleaved);
    let samples = interleaved.get(dropped.saturating_mul(channels)..).unwrap_or_default();
    Ok(match channels {
        1 => samples.iter().map(|sample| Frame::from_mono(*sample)).collect(),
        _ => samples.chunks_exact(2).map(|pair| Frame::new(pair[0], pair[1])).collect(),
    })
}

impl streaming::Decoder for ClipDecoder {
    type Error = FromFileError;

    fn sample_rate(&self) -> u32 {
        self.sample_rate
    }

    fn num_frames(&self) -> usize {
        self.declared_frames.map_or(0, |frames| usize::try_from(frames).unwrap_or(usize::MAX))
    }

    fn decode(&mut self) -> Result<Vec<Frame>, FromFileError> {
        // The stream asks until it has the number of samples that the file states.
        Ok(self.next_chunk()?.unwrap_or_else(|| vec![Frame::ZERO; SILENCE_FRAMES]))
    }

    fn seek(&mut self, index: usize) -> Result<usize, FromFileError> {
        self.seek_to(index)?;
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::clip::tests;
    use super::*;
    use kira::sound::streaming::Decoder;

    const OGG: &[u8] = include_bytes!("../../../tests/sound/tone.ogg");
    const FLAC: &[u8] = include_bytes!("../../../tests/sound/tone.flac");
    const MP3: &[u8] = include_bytes!("../../../tests/sound/tone.mp3");
    /// Number of samples of the tone that was encoded in the Ogg and FLAC files, and in the MP3
    /// file, which has another sample rate.
    const TONE_FRAMES: usize = 12_000;
    const MP3_TONE_FRAMES: usize = 11_025;
    /// Number of samples of the MP3's 22 frames.
    const MP3_FRAMES: usize = 22 * 576;

    fn open(bytes: &[u8]) -> ClipDecoder {
        ClipDecoder::open(bytes.into()).unwrap()
    }

    /// Returns the left channel from the current position to the end.
    #[track_caller]
    fn rest(decoder: &mut ClipDecoder) -> Vec<f32> {
        let mut samples = Vec::new();
        while let Some(chunk) = decoder.next_chunk().unwrap() {
            assert!(!chunk.is_empty());
            samples.extend(chunk.iter().map(|frame| frame.left));
        }
        samples
    }

    /// Returns the MP3, this many times, with a first frame that states the number of samples that
    /// LAME added.
    fn tagged_mp3(times: usize) -> Vec<u8> {
        let delay = 576u32;
        let padding = (MP3_FRAMES - MP3_TONE_FRAMES) as u32 - delay;
        let mut frame = MP3[..4].to_vec();
        frame.extend([0; 9]);
        frame.extend(b"Info");
        frame.extend(1u32.to_be_bytes());
        frame.extend((22 * times as u32).to_be_bytes());
        frame.extend(b"LAME3.100");
        frame.extend([0; 12]);
        frame.extend(&(delay << 12 | padding).to_be_bytes()[1..]);
        frame.resize(104, 0);
        [&frame[..], &MP3.repeat(times)].concat()
    }

    /// Returns the packets of the Ogg file: three headers, and the sound.
    fn packets() -> Vec<Vec<u8>> {
        let mut packets: Vec<Vec<u8>> = vec![Vec::new()];
        let mut at = 0;
        while at < OGG.len() {
            let count = usize::from(OGG[at + 26]);
            let mut from = at + 27 + count;
            for size in &OGG[at + 27..at + 27 + count] {
                let to = from + usize::from(*size);
                packets.last_mut().unwrap().extend(&OGG[from..to]);
                from = to;
                if *size < 255 {
                    packets.push(Vec::new());
                }
            }
            at = from;
        }
        packets.pop();
        packets
    }

    /// Appends a page of an Ogg. `kind`: 2 is the first, 4 the last one.
    fn add_page(file: &mut Vec<u8>, kind: u8, time: i64, number: u32, packets: &[Vec<u8>]) {
        let mut page = b"OggS\0".to_vec();
        page.push(kind);
        page.extend(time.to_le_bytes());
        page.extend(7u32.to_le_bytes());
        page.extend(number.to_le_bytes());
        page.extend([0; 4]);
        let sizes: Vec<u8> = packets
            .iter()
            .flat_map(|packet| {
                let whole = std::iter::repeat_n(255, packet.len() / 255);
                whole.chain([(packet.len() % 255) as u8])
            })
            .collect();
        page.push(sizes.len() as u8);
        page.extend(sizes);
        packets.iter().for_each(|packet| page.extend(packet));
        let sum = page.iter().fold(0u32, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte) << 24, |sum, _| {
                sum << 1 ^ if sum >> 31 == 1 { 0x04c1_1db7 } else { 0 }
            })
        });
        page[22..26].copy_from_slice(&sum.to_le_bytes());
        file.extend(page);
    }

    /// Returns the sound of the Ogg file, this many times, in pages of two packets of 512 samples
    /// each. `cut` samples at the start do not belong to the sound, and as many as in the file at
    /// the end.
    fn paged_ogg(cut: i64, times: usize) -> Vec<u8> {
        let packets = packets();
        let mut file = Vec::new();
        add_page(&mut file, 2, 0, 0, &packets[..1]);
        add_page(&mut file, 0, 0, 1, &packets[1..3]);
        let sound = vec![packets[3..].to_vec(); times].concat();
        let padding = (packets.len() as i64 - 4) * 512 - TONE_FRAMES as i64;
        let length = (sound.len() as i64 - 1) * 512 - padding;
        for (page, pair) in sound.chunks(2).enumerate() {
            let last = page * 2 + pair.len() == sound.len();
            // The first packet completes no samples.
            let end = (page * 2 + pair.len() - 1) as i64 * 512;
            let time = end.min(length) - cut;
            add_page(&mut file, if last { 4 } else { 0 }, time, page as u32 + 2, pair);
        }
        file
    }

    #[test]
    fn samples_that_an_encoder_added_are_removed() {
        for (name, bytes, frames) in [
            ("ogg", OGG, TONE_FRAMES),
            ("flac", FLAC, TONE_FRAMES),
            ("mp3", &tagged_mp3(1), MP3_TONE_FRAMES),
        ] {
            let mut decoder = open(bytes);
            assert_eq!(decoder.declared_frames, Some(frames as u64), "{name}");
            assert_eq!(rest(&mut decoder).len(), frames, "{name}");
        }
        // Without the tag nobody knows them.
        assert_eq!(rest(&mut open(MP3)).len(), MP3_FRAMES);
        let whole = rest(&mut open(OGG));
        assert_eq!(rest(&mut open(&paged_ogg(0, 1))), whole);
        assert_eq!(rest(&mut open(&paged_ogg(100, 1))), whole[100..]);
    }

    #[test]
    fn a_seek_continues_with_the_exact_sample() {
        let (mp3, long_mp3) = (tagged_mp3(1), tagged_mp3(10));
        let (paged, cut, long) = (paged_ogg(0, 1), paged_ogg(100, 1), paged_ogg(0, 12));
        let wav = tests::tone(440.0, 5.0);
        for (name, bytes) in [
            ("ogg", OGG),
            ("ogg in pages", &paged),
            ("cut ogg", &cut),
            ("long ogg", &long),
            ("flac", FLAC),
            ("mp3", &mp3),
            ("long mp3", &long_mp3),
            ("wav", &wav),
        ] {
            let whole = rest(&mut open(bytes));
            let mut decoder = open(bytes);
            rest(&mut decoder);
            let last = whole.len() - 1;
            for index in [0, 5000, 1, 0, last / 2, 700, last - 1000, last * 3 / 4, last] {
                assert_eq!(decoder.seek(index).unwrap(), index);
                let heard = rest(&mut decoder);
                assert_eq!(heard.len(), whole.len() - index, "{name} from {index}");
                let differs = heard.iter().zip(&whole[index..]).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{name} from {index}");
            }
        }
    }

    #[test]
    fn decoded_samples_are_aligned_with_the_tone() {
        for (name, bytes, rate) in
            [("flac", FLAC, 24_000.0), ("ogg", OGG, 24_000.0), ("mp3", &tagged_mp3(1), 22_050.0)]
        {
            let heard = rest(&mut open(bytes));
            let step = 440.0 * std::f32::consts::TAU / rate;
            // The distance from the tone, shifted by some samples.
            let distance = |shift: i32| -> f32 {
                let tone = |i: usize| ((i as i32 + shift) as f32 * step).sin() * 0.5;
                let middle = heard[2000..9000].iter().enumerate();
                middle.map(|(i, sample)| (sample - tone(i + 2000)).abs()).sum()
            };
            let nearest = (-20..=20).min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
            assert_eq!(nearest, Some(0), "{name}");
        }
    }

    #[test]
    fn a_loop_of_whole_waves_has_no_gap() {
        for (name, bytes) in [("flac", FLAC), ("ogg", OGG), ("mp3", &tagged_mp3(1))] {
            let tone = rest(&mut open(bytes));
            let twice = [&tone[..], &tone[..]].concat();
            let seam = &twice[tone.len() - 60..tone.len() + 60];
            let steps = seam.windows(2).map(|pair| (pair[1] - pair[0]).abs());
            let most = steps.fold(0.0, f32::max);
            // The tone itself has steps of 0.06, and is never near zero for long.
            assert!(most < 0.075, "{name}: {most}");
            let gap = seam.windows(8).any(|some| some.iter().all(|sample| sample.abs() < 0.04));
            assert!(!gap, "{name}");
        }
    }

    #[test]
    fn a_file_that_is_too_short_ends_with_silence() {
        let mut decoder = open(OGG);
        rest(&mut decoder);
        assert_eq!(decoder.decode().unwrap(), vec![Frame::ZERO; SILENCE_FRAMES]);
    }
}
