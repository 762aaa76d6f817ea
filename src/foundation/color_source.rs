//! Colors in files: the forms that every key with a color accepts, and linear light, which has keys
//! of its own. Knows no kind of file.

use super::Color;
use super::sjson::SjsonTree;

/// The forms of a color in files, for messages.
pub const FORMS: &str = "a colour such as \"#ff8000\", \"#ff800080\", [255, 128, 0] or [255, 128, \
                         0, 128]";

/// Maximum value of a part of linear light. Larger values make no difference in a picture.
pub const LIGHT_MAX: f32 = 1e9;

/// A key of a file whose value is a color. The manual's table lists all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorKey {
    pub key: &'static str,
    /// The key for the same property in linear light; empty if there is none.
    pub linear_key: &'static str,
    /// True if the alpha has a meaning. Otherwise it is ignored.
    pub has_alpha: bool,
}

impl ColorKey {
    /// Reads a color: `#rgb`, `#rrggbb`, `#rrggbbaa`, or a list of three or four numbers from 0 to
    /// 255. The message continues a sentence that begins with the key.
    ///
    /// # Errors
    /// Returns an error for any other value, and for numbers that are meant to go to 1.
    pub fn read(&self, value: &SjsonTree) -> Result<Color, String> {
        read(value, self.linear_key)
    }

    /// Reads linear light: three numbers from 0, in which 1 is white, and the alpha from 0 to 1 as
    /// a fourth one if it has a meaning. The message continues a sentence that begins with the key.
    ///
    /// # Errors
    /// Returns an error for any other value.
    pub fn read_light(&self, value: &SjsonTree) -> Result<[f32; 4], String> {
        read_light(value, self.has_alpha)
    }
}

/// Reads a color, as [`ColorKey::read`]. `linear_key` is suggested for numbers up to 1; it can be
/// empty.
pub fn read(value: &SjsonTree, linear_key: &str) -> Result<Color, String> {
    let must = |got: &str| format!("must be {FORMS}, got {got}");
    let items = match value {
        SjsonTree::String(text) => {
            return Color::from_hex(text).ok_or_else(|| must(&format!("\"{text}\"")));
        }
        SjsonTree::Array(items) => items,
        SjsonTree::Number(_) => return Err(must("a number")),
        _ => return Err(must("no colour")),
    };
    let numbers: Option<Vec<f64>> = items.iter().map(number).collect();
    let numbers = numbers.ok_or_else(|| must("a list with other values"))?;
    if !matches!(numbers.len(), 3 | 4) {
        return Err(must(&format!("a list of {}", numbers.len())));
    }
    if let Some(wrong) = numbers.iter().find(|part| !(0.0..=255.0).contains(*part)) {
        return Err(format!("must have parts from 0 to 255, got {wrong}"));
    }
    // Nobody writes a color that differs from black by one part of 255.
    if numbers.iter().all(|part| *part <= 1.0) && numbers.iter().any(|part| *part > 0.0) {
        return Err(unit_range_message(&numbers, linear_key));
    }
    let part = |at: usize| numbers.get(at).map_or(255.0, |part| *part as f32);
    Ok(Color { red: part(0), green: part(1), blue: part(2), alpha: part(3) })
}

fn number(tree: &SjsonTree) -> Option<f64> {
    match tree {
        SjsonTree::Number(number) => Some(*number),
        _ => None,
    }
}

/// Returns the message for a list of numbers from 0 to 1.
fn unit_range_message(numbers: &[f64], linear_key: &str) -> String {
    let is_light = !linear_key.is_empty();
    let byte = |(at, part): (usize, &f64)| {
        let part = if is_light && at < 3 { encode(*part) } else { *part };
        (part * 255.0).round().to_string()
    };
    let bytes = numbers.iter().enumerate().map(byte).collect::<Vec<_>>().join(", ");
    let light = match is_light {
        true => {
            let parts: Vec<String> = numbers[..3].iter().map(f64::to_string).collect();
            format!(", or {linear_key} = [{}] for linear light", parts.join(", "))
        }
        false => String::new(),
    };
    format!("has parts from 0 to 255, and these go to 1: write [{bytes}]{light}")
}

/// Converts a part of linear light to sRGB, both from 0 to 1 (IEC 61966-2-1).
fn encode(part: f64) -> f64 {
    match part <= 0.003_130_8 {
        true => part * 12.92,
        false => 1.055 * part.powf(1.0 / 2.4) - 0.055,
    }
}

fn read_light(value: &SjsonTree, has_alpha: bool) -> Result<[f32; 4], String> {
    let must = || {
        let alpha = if has_alpha { ", and an alpha from 0 to 1 as a fourth one" } else { "" };
        format!("must be three numbers of linear light such as [1, 0.5, 0.2]{alpha}")
    };
    let SjsonTree::Array(items) = value else { return Err(must()) };
    if items.len() != 3 && !(has_alpha && items.len() == 4) {
        return Err(must());
    }
    let mut light = [1.0; 4];
    for (at, item) in items.iter().enumerate() {
        let part = number(item).ok_or_else(must)?;
        let max = if at == 3 { 1.0 } else { LIGHT_MAX };
        if !(0.0..=f64::from(max)).contains(&part) {
            return Err(format!("must have parts from 0 to {max:e}, got {part}"));
        }
        light[at] = part as f32;
    }
    Ok(light)
}

#[cfg(test)]
mod tests {
    use super::super::sjson;
    use super::*;

    fn tree(text: &str) -> SjsonTree {
        let document = sjson::parse(&format!("value = {text}")).expect("it is SJSON");
        document.root().get("value").expect("it is there").to_tree()
    }

    #[test]
    fn every_form_of_a_color_means_the_same() {
        let orange = Color { red: 255.0, green: 136.0, blue: 0.0, alpha: 255.0 };
        for text in ["\"#f80\"", "\"#ff8800\"", "\"#FF8800ff\"", "[255, 136, 0]", "[255 136 0 255]"]
        {
            assert_eq!(read(&tree(text), ""), Ok(orange), "{text}");
        }
        let half = Color { alpha: 128.0, ..orange };
        assert_eq!(read(&tree("\"#ff880080\""), ""), Ok(half));
        assert_eq!(read(&tree("[255, 136, 0, 128]"), ""), Ok(half));
        let black = Color { red: 0.0, green: 0.0, blue: 0.0, alpha: 255.0 };
        assert_eq!(read(&tree("[0, 0, 0]"), "linear_color"), Ok(black));
    }

    #[test]
    fn other_values_are_refused_with_a_remedy() {
        let check = |text: &str, linear_key: &str, wanted: &str| {
            assert_eq!(read(&tree(text), linear_key).unwrap_err(), wanted, "{text}");
        };
        check("\"red\"", "", &format!("must be {FORMS}, got \"red\""));
        check("3", "", &format!("must be {FORMS}, got a number"));
        check("{ r = 1 }", "", &format!("must be {FORMS}, got no colour"));
        check("[1, 2]", "", &format!("must be {FORMS}, got a list of 2"));
        check("[1, 2, true]", "", &format!("must be {FORMS}, got a list with other values"));
        check("[0, 256, 0]", "", "must have parts from 0 to 255, got 256");
        check("[0, -1, 0]", "", "must have parts from 0 to 255, got -1");
        check("[1, 0.5, 0]", "", "has parts from 0 to 255, and these go to 1: write [255, 128, 0]");
        check(
            "[1, 0.5, 0.2, 0.5]",
            "linear_color",
            "has parts from 0 to 255, and these go to 1: write [255, 188, 124, 128], or \
             linear_color = [1, 0.5, 0.2] for linear light",
        );
    }

    #[test]
    fn linear_light_is_three_numbers_from_0() {
        assert_eq!(read_light(&tree("[2, 0.5, 0]"), false), Ok([2.0, 0.5, 0.0, 1.0]));
        assert_eq!(read_light(&tree("[2, 0.5, 0, 0.25]"), true), Ok([2.0, 0.5, 0.0, 0.25]));
        let must = "must be three numbers of linear light such as [1, 0.5, 0.2]";
        for text in ["\"#ff8000\"", "[1, 2]", "[1, 2, 3, 1]", "[1, 2, \"3\"]"] {
            assert_eq!(read_light(&tree(text), false).unwrap_err(), must, "{text}");
        }
        let must = "must be three numbers of linear light such as [1, 0.5, 0.2], and an alpha from \
                    0 to 1 as a fourth one";
        assert_eq!(read_light(&tree("[1, 2]"), true).unwrap_err(), must);
        let message = "must have parts from 0 to 1e9, got -1";
        assert_eq!(read_light(&tree("[1, -1, 0]"), false).unwrap_err(), message);
        let message = "must have parts from 0 to 1e0, got 2";
        assert_eq!(read_light(&tree("[1, 1, 0, 2]"), true).unwrap_err(), message);
    }
}
