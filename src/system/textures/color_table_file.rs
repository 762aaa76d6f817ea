//! Color tables in the format `.cube` of Adobe (Cube LUT Specification 1.0, 2013): text with the
//! size of the table, and a color for each of its texels. They become the strip of squares that
//! color grading reads.

use super::data::{self, FilterMode, TextureHeader};
use engine_foundation::Error;
use engine_foundation::error;
use engine_frame_packet::texture::{TexelFormat, WrapMode};
use engine_resource::image::to_half;

/// Extension of the files.
pub const EXTENSION: &str = "cube";
/// Side lengths that a table may have, in texels.
const SIDE_MIN: u32 = 2;
const SIDE_MAX: u32 = 64;
/// Maximum absolute value of a color: half floats end a little above.
const VALUE_MAX: f32 = 65504.0;

/// A table while its file is read.
#[derive(Default)]
struct CubeFile {
    /// 0 before the line with the size.
    side: u32,
    /// Red, green and blue of each color; red changes fastest, and blue slowest.
    colors: Vec<[f32; 3]>,
}

/// Returns the three numbers of a line.
fn numbers(parts: &[&str]) -> Result<[f32; 3], String> {
    let [red, green, blue] = parts else {
        return Err(format!("a line must have 3 numbers, got {} words", parts.len()));
    };
    let number = |word: &str| {
        let found = word.parse::<f32>().ok().filter(|it| it.is_finite() && it.abs() <= VALUE_MAX);
        found.ok_or_else(|| format!("'{}' is no number of a color", shortened(word)))
    };
    Ok([number(red)?, number(green)?, number(blue)?])
}

/// Returns the beginning of a word, for messages.
fn shortened(word: &str) -> String {
    word.chars().take(40).collect()
}

impl CubeFile {
    /// Reads a line.
    fn read(&mut self, line: &str) -> Result<(), String> {
        let parts: Vec<&str> = line.split_whitespace().take(5).collect();
        match parts[..] {
            [] => Ok(()),
            ["TITLE", ..] => Ok(()),
            ["LUT_3D_SIZE", size] => self.set_side(size),
            ["LUT_1D_SIZE", ..] => {
                Err("it is a table of one dimension (LUT_1D_SIZE): export one of three".to_string())
            }
            ["DOMAIN_MIN", ..] => check_domain(&parts, 0.0),
            ["DOMAIN_MAX", ..] => check_domain(&parts, 1.0),
            ["LUT_3D_INPUT_RANGE", least, most] => {
                check_domain(&["LUT_3D_INPUT_RANGE", least, least, least], 0.0)?;
                check_domain(&["LUT_3D_INPUT_RANGE", most, most, most], 1.0)
            }
            [word, ..] if word.starts_with(|it: char| it.is_ascii_alphabetic()) => {
                Err(format!("unknown keyword '{}'", shortened(word)))
            }
            _ => {
                if self.side == 0 {
                    return Err("a color precedes the size of the table (LUT_3D_SIZE)".to_string());
                }
                if self.colors.len() == self.count() {
                    return Err(format!("it has more than {} colors", self.count()));
                }
                self.colors.push(numbers(&parts)?);
                Ok(())
            }
        }
    }

    fn set_side(&mut self, size: &str) -> Result<(), String> {
        if self.side != 0 {
            return Err("it has two sizes (LUT_3D_SIZE)".to_string());
        }
        let side = size.parse().ok().filter(|side| (SIDE_MIN..=SIDE_MAX).contains(side));
        self.side = side.ok_or_else(|| {
            format!(
                "the size of the table (LUT_3D_SIZE) must be from {SIDE_MIN} to {SIDE_MAX}, got \
                 '{}'",
                shortened(size)
            )
        })?;
        Ok(())
    }

    /// Returns the number of colors of a table of its size.
    fn count(&self) -> usize {
        (self.side * self.side * self.side) as usize
    }
}

/// Checks that a table begins or ends at black or white.
fn check_domain(parts: &[&str], expected: f32) -> Result<(), String> {
    if numbers(&parts[1..])? == [expected; 3] {
        return Ok(());
    }
    Err(format!("{} must be {expected}: export a table for colors from 0 to 1", parts[0]))
}

/// Returns the compiled texture of a file: a strip of squares of half floats, from little blue on
/// the left to much blue on the right.
///
/// # Errors
/// Returns an error with the path and the line if the file is no such table.
pub fn compile(path: &str, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| error!("{path}: it is no color table: it is not UTF-8 text"))?;
    let mut file = CubeFile::default();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        file.read(line).map_err(|message| error!("{path}:{}: {message}", number + 1))?;
    }
    if file.side == 0 {
        return Err(error!("{path}: it has no size (LUT_3D_SIZE)"));
    }
    if file.colors.len() < file.count() {
        let (found, wanted) = (file.colors.len(), file.count());
        return Err(error!("{path}: it has {found} colors, and its size needs {wanted}"));
    }
    let side = file.side;
    let mut texels = Vec::with_capacity(file.count() * 8);
    for green in 0..side {
        for blue in 0..side {
            for red in 0..side {
                let color = file.colors[((blue * side + green) * side + red) as usize];
                for value in color.into_iter().chain([1.0]) {
                    texels.extend_from_slice(&to_half(value).to_le_bytes());
                }
            }
        }
    }
    let width = side * side;
    let header = TextureHeader {
        picture_width: width,
        picture_height: side,
        width,
        height: side,
        levels: 1,
        format: TexelFormat::Rgba16Float,
        filter: FilterMode::Linear,
        wrap: WrapMode::Clamp,
        small: false,
        has_normals: false,
    };
    Ok(data::write(&header, &texels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_resource::image::from_half;

    /// Returns a table that swaps red and blue.
    fn table(side: u32) -> String {
        let mut text = format!("# made by a test\nTITLE \"swap\"\nLUT_3D_SIZE {side}\n");
        let value = |level: u32| level as f32 / (side - 1) as f32;
        for blue in 0..side {
            for green in 0..side {
                for red in 0..side {
                    let [r, g, b] = [blue, green, red].map(value);
                    text += &format!("{r} {g} {b}\n");
                }
            }
        }
        text
    }

    #[test]
    fn tables_become_strips_of_squares() {
        let bytes = compile("a.cube", table(4).as_bytes()).unwrap();
        let (header, start) = data::read(&bytes).unwrap();
        assert_eq!((header.width, header.height, header.levels), (16, 4, 1));
        // Red 1, green 2, blue 3.
        let texel = &bytes[start + (2 * 16 + 3 * 4 + 1) * 8..];
        let channel = |at: usize| from_half(u16::from_le_bytes([texel[at], texel[at + 1]]));
        let expected = [1.0, 2.0 / 3.0, 1.0 / 3.0];
        for (number, expected) in expected.into_iter().enumerate() {
            assert!((channel(2 * number) - expected).abs() < 1e-3, "{number}");
        }
        let domains = "DOMAIN_MIN 0 0 0\nDOMAIN_MAX 1.0 1.0 1.0\nLUT_3D_INPUT_RANGE 0.0 1.0\n";
        let other = format!("\u{feff}{domains}{}\r\n", table(2));
        assert!(compile("a.cube", other.as_bytes()).is_ok());
    }

    #[test]
    fn other_files_are_refused_with_their_line() {
        let refuses = |text: &str, wanted: &str| {
            let message = compile("a.cube", text.as_bytes()).expect_err(wanted).message;
            assert!(message.starts_with("a.cube:") && message.contains(wanted), "{message}");
        };
        refuses("", "it has no size");
        refuses("0 0 0", "a.cube:1: a color precedes the size");
        for size in ["1", "65", "-2", "4.5", "nan", "99999999999999999999"] {
            refuses(&format!("\nLUT_3D_SIZE {size}"), "a.cube:2: the size of the table");
        }
        refuses("LUT_1D_SIZE 16", "one dimension");
        refuses("LUT_3D_SIZE 2\nLUT_3D_SIZE 2", "two sizes");
        refuses("DOMAIN_MIN 0 0 0.1", "DOMAIN_MIN must be 0");
        refuses("DOMAIN_MAX 2 2 2", "DOMAIN_MAX must be 1");
        refuses("DOMAIN_MAX", "3 numbers");
        refuses("SHAPER 3", "unknown keyword 'SHAPER'");
        refuses("LUT_3D_SIZE 2\n0 0", "a.cube:2: a line must have 3 numbers");
        refuses("LUT_3D_SIZE 2\n0 0 0 0", "a.cube:2: a line must have 3 numbers");
        for number in ["nan", "inf", "1e9", "-x"] {
            refuses(&format!("LUT_3D_SIZE 2\n0 {number} 0"), "is no number of a color");
        }
        refuses("LUT_3D_SIZE 2\n0 0 0\n", "it has 1 colors, and its size needs 8");
        refuses(&format!("{}0 0 0\n", table(2)), "a.cube:12: it has more than 8 colors");
        assert!(compile("a.cube", &[0xff, 0xfe]).is_err());
    }
}
