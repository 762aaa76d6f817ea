//! The recipe of game_template/sounds/bounce.wav: two damped oscillators, struck once. It uses only
//! sums and products, so every machine creates the same bytes.

const RATE: u32 = 22_050;
const SAMPLES: usize = 3_600;

/// Returns one oscillator: each sample is `a` times the last minus `b` times the one before.
fn oscillator(a: f64, b: f64, strength: f64) -> Vec<f64> {
    let mut samples = vec![0.0, strength];
    while samples.len() < SAMPLES {
        let [before, last] = [samples[samples.len() - 2], samples[samples.len() - 1]];
        samples.push(a * last - b * before);
    }
    samples
}

/// Returns the file: RIFF, 16 bits, one channel.
pub fn wav() -> Vec<u8> {
    let (low, high) = (oscillator(1.98818, 0.997002, 0.05), oscillator(1.92540, 0.992016, 0.05));
    let mixed = low.iter().zip(&high).map(|(low, high)| (low + high) * 0.9);
    let samples: Vec<u8> =
        mixed.flat_map(|sample| ((sample * 32_767.0) as i16).to_le_bytes()).collect();
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + samples.len() as u32).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16u32.to_le_bytes());
    wav.extend([1u16, 1].map(u16::to_le_bytes).concat());
    wav.extend([RATE, RATE * 2].map(u32::to_le_bytes).concat());
    wav.extend([2u16, 16].map(u16::to_le_bytes).concat());
    wav.extend(b"data");
    wav.extend((samples.len() as u32).to_le_bytes());
    wav.extend(samples);
    wav
}
