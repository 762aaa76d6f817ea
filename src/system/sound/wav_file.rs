//! A WAV file that is written while it is made: what an offline run sounds like.

use super::device::SAMPLE_RATE;
use crate::foundation::output_file;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// The bytes before the samples.
const HEAD_BYTES: u32 = 44;

/// The file, in stereo with 16 bits a sample.
pub struct WavFile {
    file: BufWriter<File>,
    data_bytes: u32,
}

impl WavFile {
    pub fn create(path: &Path) -> std::io::Result<WavFile> {
        let mut wav = WavFile { file: BufWriter::new(output_file::create(path)?), data_bytes: 0 };
        wav.head()?;
        Ok(wav)
    }

    fn head(&mut self) -> std::io::Result<()> {
        let (channels, bytes) = (2u16, 2u16);
        let frame = channels * bytes;
        self.file.write_all(b"RIFF")?;
        self.file.write_all(&(HEAD_BYTES - 8 + self.data_bytes).to_le_bytes())?;
        self.file.write_all(b"WAVEfmt ")?;
        self.file.write_all(&16u32.to_le_bytes())?;
        self.file.write_all(&1u16.to_le_bytes())?;
        self.file.write_all(&channels.to_le_bytes())?;
        self.file.write_all(&SAMPLE_RATE.to_le_bytes())?;
        self.file.write_all(&(SAMPLE_RATE * u32::from(frame)).to_le_bytes())?;
        self.file.write_all(&frame.to_le_bytes())?;
        self.file.write_all(&(bytes * 8).to_le_bytes())?;
        self.file.write_all(b"data")?;
        self.file.write_all(&self.data_bytes.to_le_bytes())
    }

    /// Adds interleaved stereo samples, from -1 to 1.
    pub fn add(&mut self, samples: &[f32]) -> std::io::Result<()> {
        for sample in samples {
            let sample = (sample.clamp(-1.0, 1.0) * 32_767.0).round() as i16;
            self.file.write_all(&sample.to_le_bytes())?;
        }
        // A file of more than 4 GiB, six hours, keeps its greatest length in the head.
        self.data_bytes = self.data_bytes.saturating_add(samples.len() as u32 * 2);
        Ok(())
    }

    /// Writes the length, and everything that waits.
    pub fn finish(&mut self) -> std::io::Result<()> {
        self.file.flush()?;
        self.file.seek(SeekFrom::Start(0))?;
        self.head()?;
        self.file.seek(SeekFrom::End(0))?;
        self.file.flush()?;
        // Some disks say only now that they are full.
        self.file.get_ref().sync_all()
    }
}
