//! Writer of a WAV file, which receives the sound of an offline run while the run goes on.

use super::device::SAMPLE_RATE;
use engine_foundation::output_file;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// Size of the header before the samples.
const HEADER_BYTES: u32 = 44;

/// A WAV file being written: stereo, 16 bits per sample.
pub struct WavWriter {
    file: BufWriter<File>,
    data_bytes: u32,
}

impl WavWriter {
    pub fn create(path: &Path) -> std::io::Result<WavWriter> {
        let mut wav = WavWriter { file: BufWriter::new(output_file::create(path)?), data_bytes: 0 };
        wav.head()?;
        Ok(wav)
    }

    fn head(&mut self) -> std::io::Result<()> {
        let (channels, bytes) = (2u16, 2u16);
        let frame = channels * bytes;
        self.file.write_all(b"RIFF")?;
        self.file.write_all(&(HEADER_BYTES - 8 + self.data_bytes).to_le_bytes())?;
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
        // In a file of more than 4 GiB (six hours) the header keeps its greatest length.
        self.data_bytes = self.data_bytes.saturating_add(samples.len() as u32 * 2);
        Ok(())
    }

    /// Writes the length to the header, and flushes all data.
    pub fn finish(&mut self) -> std::io::Result<()> {
        self.file.flush()?;
        self.file.seek(SeekFrom::Start(0))?;
        self.head()?;
        self.file.seek(SeekFrom::End(0))?;
        self.file.flush()?;
        // Some disks report only now that they are full.
        self.file.get_ref().sync_all()
    }
}
