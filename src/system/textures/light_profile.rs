//! The distribution of a lamp's light in the format `.ies` (ANSI/IES LM-63): candelas by vertical
//! and horizontal angles. It becomes a texture for omni lights, whose columns go around the lamp,
//! and whose rows go from its axis to the opposite direction.

use super::data::{self, FilterMode, TextureHeader};
use engine_foundation::Error;
use engine_foundation::error;
use engine_frame_packet::texture::{TexelFormat, WrapMode};
use engine_resource::image::to_half;

/// Extension of the files.
pub const EXTENSION: &str = "ies";
/// Maximum number of vertical and of horizontal angles.
const ANGLES_MAX: usize = 1024;
/// Maximum number of pairs of numbers that describe the tilt of a lamp.
const TILT_PAIRS_MAX: usize = 1024;
/// Side length of the texture.
const SIDE: u32 = 64;
/// The numbers between the tilt and the angles.
const HEADER_NUMBERS: usize = 13;

/// A distribution of light.
struct LightProfile {
    /// Degrees, rising: 0 is straight down.
    vertical: Vec<f32>,
    /// Degrees, rising: only 0 (a round lamp), a quarter (0 to 90), a half (0 to 180, or 90 to
    /// 270), or the whole circle (0 to 360).
    horizontal: Vec<f32>,
    /// The candelas of the vertical angles, for each horizontal angle.
    candelas: Vec<f32>,
}

/// The numbers of a file, one after the other.
struct Numbers<'a> {
    texts: Box<dyn Iterator<Item = &'a str> + 'a>,
}

impl<'a> Numbers<'a> {
    fn new(text: &'a str) -> Numbers<'a> {
        let texts = text.split(|it: char| it.is_ascii_whitespace() || it == ',');
        Numbers { texts: Box::new(texts.filter(|word| !word.is_empty())) }
    }

    fn next(&mut self) -> Result<f32, String> {
        let word = self.texts.next().ok_or("it ends too early")?;
        let number = word.parse::<f32>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| {
            let word: String = word.chars().take(40).collect();
            format!("'{word}' is no number")
        })
    }

    fn list(&mut self, count: usize) -> Result<Vec<f32>, String> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Returns a count from 1 to a maximum.
    fn count(&mut self, noun: &str, max: usize) -> Result<usize, String> {
        let number = self.next()?;
        match number.fract() == 0.0 && number >= 1.0 && number <= max as f32 {
            true => Ok(number as usize),
            false => Err(format!("the number of {noun} must be from 1 to {max}, got {number}")),
        }
    }
}

/// Checks that angles rise within a range.
fn check_angles(angles: &[f32], noun: &str, max: f32) -> Result<(), String> {
    let rises = angles.windows(2).all(|pair| pair[0] < pair[1]);
    match rises && angles[0] >= 0.0 && angles[angles.len() - 1] <= max {
        true => Ok(()),
        false => Err(format!("the {noun} angles must rise from 0 to {max} degrees at most")),
    }
}

/// Checks that horizontal angles are a part of the circle whose rest follows by symmetry (LM-63,
/// type C). Returns true if only the angle of 360 degrees is missing, which is that of 0 degrees.
fn is_open_circle(angles: &[f32]) -> Result<bool, String> {
    let (first, last) = (angles[0], angles[angles.len() - 1]);
    let widest = angles.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f32::max);
    match (first, last) {
        (0.0, 0.0 | 90.0 | 180.0 | 360.0) | (90.0, 270.0) => Ok(false),
        // The gap is as wide as the others.
        (0.0, last) if last > 180.0 && 360.0 - last <= widest + 0.01 => Ok(true),
        _ => Err(format!(
            "the horizontal angles must be 0, or go from 0 to 90, 180 or 360 degrees, or from 90 \
             to 270, and go from {first} to {last}"
        )),
    }
}

fn parse(text: &str) -> Result<LightProfile, String> {
    let mut rest = text;
    // Lines of text precede the tilt.
    let tilt = loop {
        let Some((line, after)) = rest.split_once('\n') else {
            return Err("it has no line TILT=NONE".to_string());
        };
        rest = after;
        if let Some(tilt) = line.trim().strip_prefix("TILT=") {
            break tilt.trim();
        }
    };
    let mut numbers = Numbers::new(rest);
    match tilt {
        "NONE" => {}
        "INCLUDE" => {
            numbers.next()?;
            let pairs = numbers.count("pairs of the tilt", TILT_PAIRS_MAX)?;
            numbers.list(2 * pairs)?;
        }
        _ => return Err("its tilt is in another file: only NONE and INCLUDE are read".to_string()),
    }
    let _lamps_lumens_and_factor = numbers.list(3)?;
    let vertical = numbers.count("vertical angles", ANGLES_MAX)?;
    let horizontal = numbers.count("horizontal angles", ANGLES_MAX)?;
    if numbers.next()? != 1.0 {
        return Err("its photometric type is not 1 (C): export it with type C".to_string());
    }
    // Units, width, length and height; ballast factor, a reserved number, and watts.
    numbers.list(HEADER_NUMBERS - 6)?;
    let (vertical, mut horizontal) = (numbers.list(vertical)?, numbers.list(horizontal)?);
    check_angles(&vertical, "vertical", 180.0)?;
    check_angles(&horizontal, "horizontal", 360.0)?;
    let is_open = is_open_circle(&horizontal)?;
    let mut candelas = numbers.list(vertical.len() * horizontal.len())?;
    if is_open {
        horizontal.push(360.0);
        candelas.extend_from_within(..vertical.len());
    }
    if candelas.iter().any(|candela| *candela < 0.0) {
        return Err("it has light below 0 candela".to_string());
    }
    if candelas.iter().all(|candela| *candela == 0.0) {
        return Err("it has no light at all".to_string());
    }
    Ok(LightProfile { vertical, horizontal, candelas })
}

/// Returns the position of an angle in a list of rising angles: an index, and the part of the way
/// to the next one. Angles outside are at the ends.
fn position(angles: &[f32], angle: f32) -> (usize, f32) {
    let after = angles.partition_point(|known| *known <= angle);
    if after == 0 || after == angles.len() {
        return (after.saturating_sub(1), 0.0);
    }
    let (before, next) = (angles[after - 1], angles[after]);
    (after - 1, (angle - before) / (next - before))
}

impl LightProfile {
    fn at(&self, vertical: f32, horizontal: f32) -> f32 {
        let last = self.vertical[self.vertical.len() - 1];
        if vertical < self.vertical[0] || vertical > last {
            return 0.0;
        }
        // Lamps that are the same on both sides, or in all four quarters, have a part of them.
        let (least, most) = (self.horizontal[0], self.horizontal[self.horizontal.len() - 1]);
        let horizontal = match least > 0.0 {
            true if (least..=most).contains(&horizontal) => horizontal,
            true => (180.0 - horizontal).rem_euclid(360.0),
            false if most > 180.0 => horizontal,
            false if most > 90.0 => 180.0 - (180.0 - horizontal).abs(),
            false if most > 0.0 => 90.0 - (90.0 - horizontal % 180.0).abs(),
            false => 0.0,
        };
        let count = self.vertical.len();
        let ((row, part), (column, across)) =
            (position(&self.vertical, vertical), position(&self.horizontal, horizontal));
        let value = |column: usize, row: usize| {
            let (column, row) = (column.min(self.horizontal.len() - 1), row.min(count - 1));
            self.candelas[column * count + row]
        };
        let along = |column| {
            let (a, b) = (value(column, row), value(column, row + 1));
            a + (b - a) * part
        };
        let (a, b) = (along(column), along(column + 1));
        a + (b - a) * across
    }
}

/// Returns the compiled texture of a file: its brightest direction is white.
///
/// # Errors
/// Returns an error with the path if the file is no such distribution.
pub fn compile(path: &str, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    // Names in the lines of text have any encoding.
    let text = String::from_utf8_lossy(bytes);
    let profile = parse(&text).map_err(|message| error!("{path}: {message}"))?;
    let brightest = profile.candelas.iter().copied().fold(0.0, f32::max);
    let mut texels = Vec::with_capacity((SIDE * SIDE * 8) as usize);
    for row in 0..SIDE {
        let vertical = (row as f32 + 0.5) / SIDE as f32 * 180.0;
        for column in 0..SIDE {
            let horizontal = (column as f32 + 0.5) / SIDE as f32 * 360.0;
            let light = (profile.at(vertical, horizontal) / brightest).clamp(0.0, 1.0);
            for value in [light, light, light, 1.0] {
                texels.extend_from_slice(&to_half(value).to_le_bytes());
            }
        }
    }
    let header = TextureHeader {
        picture_width: SIDE,
        picture_height: SIDE,
        width: SIDE,
        height: SIDE,
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

    /// A lamp that shines down: 100 candelas below, 50 at 45 degrees, none at 90.
    const DOWN: &str = "IESNA:LM-63-2002\n[TEST] none\nTILT=NONE\n1 1000 1 3 1 1 2 0 0 0\n\
        1 1 10\n0 45 90\n0\n100, 50 0\n";

    fn texels(text: &str) -> Vec<f32> {
        let bytes = compile("a.ies", text.as_bytes()).unwrap();
        let (header, start) = data::read(&bytes).unwrap();
        assert_eq!((header.width, header.height), (SIDE, SIDE));
        let halves = bytes[start..].chunks_exact(8);
        halves.map(|texel| from_half(u16::from_le_bytes([texel[0], texel[1]]))).collect()
    }

    #[test]
    fn rows_go_from_the_axis_to_the_opposite_direction() {
        let found = texels(DOWN);
        let row = |row: usize| found[row * SIDE as usize + 7];
        assert!(row(0) > 0.97 && (row(15) - 0.516).abs() < 0.01, "{} {}", row(0), row(15));
        assert!(row(31) < 0.02 && row(32) == 0.0 && row(63) == 0.0);
        assert!(found[..SIDE as usize].iter().all(|light| *light == found[0]), "it is round");
    }

    /// Returns a lamp with horizontal angles, and a value for each.
    fn sideways(angles: &str, values: &str) -> String {
        let count = angles.split(' ').count();
        let values: Vec<String> = values.split(' ').map(|it| format!("{it} {it}")).collect();
        format!(
            "TILT=INCLUDE\n1 1 0 1\n1 1000 1 2 {count} 1 2 0 0 0 1 1 10 0 180 {angles} {}\n",
            values.join(" ")
        )
    }

    #[test]
    fn horizontal_angles_are_mirrored() {
        // Light to the side of 0 degrees, in a quarter, a half and a whole circle.
        for (angles, most) in [
            ("0 90", "8 0"),
            ("0 90 180", "8 0 8"),
            ("0 90 180 270", "8 0 8 0"),
            ("0 90 180 270 360", "8 0 8 0 8"),
            ("90 180 270", "0 8 0"),
        ] {
            let found = texels(&sideways(angles, most));
            let middle = |column: usize| found[32 * SIDE as usize + column];
            assert!(middle(0) > 0.9 && middle(16) < 0.1 && middle(31) > 0.9, "{angles}");
            assert!(middle(48) < 0.1 && middle(63) > 0.9, "{angles}");
        }
        // Light to the side of 90 degrees alone, mirrored at the line from 90 to 270 degrees.
        let found = texels(&sideways("90 180 270", "8 0 0"));
        let middle = |column: usize| found[32 * SIDE as usize + column];
        assert!(middle(15) > 0.9 && middle(16) > 0.9, "{} {}", middle(15), middle(16));
        assert!((middle(8) - middle(23)).abs() < 0.01 && middle(48) == 0.0);
    }

    #[test]
    fn other_parts_of_the_circle_are_refused() {
        for (angles, values) in [
            ("30 60", "1 1"),
            ("0 100 200", "1 1 1"),
            ("0 45", "1 1"),
            ("45", "1"),
            ("90 180", "1 1"),
        ] {
            let message =
                compile("a.ies", sideways(angles, values).as_bytes()).unwrap_err().message;
            assert!(message.contains("the horizontal angles must be 0"), "{angles}: {message}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let refuses = |text: &str, wanted: &str| {
            let message = compile("a.ies", text.as_bytes()).expect_err(wanted).message;
            assert!(message.starts_with("a.ies: ") && message.contains(wanted), "{message}");
        };
        refuses("", "no line TILT=NONE");
        refuses("TILT=lamp.tlt\n1 2 3", "in another file");
        refuses("TILT=NONE\n1 1 1", "ends too early");
        refuses(&DOWN.replace("1 1000 1 3 1 1", "1 1000 1 3 1 2"), "type is not 1");
        refuses(&DOWN.replace("1 1000 1 3 1 1", "1 1000 1 1e9 1 1"), "from 1 to 1024");
        refuses(&DOWN.replace("1 1000 1 3 1 1", "1 1000 1 3 0 1"), "horizontal angles must be");
        refuses(&DOWN.replace("1 1000 1 3 1 1", "1 1000 1 nan 1 1"), "'nan' is no number");
        refuses(&DOWN.replace("0 45 90", "0 95 90"), "vertical angles must rise");
        refuses(&DOWN.replace("0 45 90", "-5 45 90"), "vertical angles must rise");
        refuses(&DOWN.replace("100, 50", "100, -50"), "below 0");
        refuses(&DOWN.replace("100, 50", "0, 0"), "no light at all");
        refuses(&DOWN.replace("100, 50 0", "100, 50"), "ends too early");
        assert!(compile("a.ies", &[0xff; 64]).is_err());
    }
}
