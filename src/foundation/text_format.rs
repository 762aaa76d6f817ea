//! Numbers, vectors and names as text, as Lua prints them: `%g`, `%q` and the `tostring` of a
//! vector. A value reads the same in texts from Rust and from scripts.

use super::Vec3;

/// Formats a number like C's `%.{digits}g`: rounded to that many significant digits (1 to 15),
/// without trailing zeros, with an exponent if it is very large or small.
pub fn significant(number: f64, digits: usize) -> String {
    if !number.is_finite() {
        return match number.is_nan() {
            true => "nan".to_string(),
            false => (if number > 0.0 { "inf" } else { "-inf" }).to_string(),
        };
    }
    let text = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').expect("this form has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a whole number");
    if (-4..digits as i32).contains(&exponent) {
        let rounded: f64 = text.parse().expect("what was written can be read");
        return rounded.to_string();
    }
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Formats a 32-bit float with as few digits as identify it, as vectors show their parts (`values`
/// in lua/math/vector.lua): 0.1 reads 0.1, not 0.10000000149.
pub fn float(number: f32) -> String {
    if number == 0.0 {
        // Also for -0, which equals 0.
        return "0".to_string();
    }
    let rounds_back = |text: &String| text.parse::<f64>().is_ok_and(|read| read as f32 == number);
    let text = (6..=8).map(|digits| significant(number.into(), digits)).find(rounds_back);
    text.unwrap_or_else(|| significant(number.into(), 9))
}

/// Formats a vector like `tostring` of a `Vector3`.
pub fn vector3(vector: Vec3) -> String {
    let [x, y, z] = vector.to_array().map(float);
    format!("Vector3({x}, {y}, {z})")
}

/// Formats a string like Lua's `%q`: in quotes, with escapes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\\' | '\n' => quoted.extend(['\\', letter]),
            letter if letter.is_ascii_control() => {
                let code = u32::from(letter);
                // Three digits before another digit, which would be read as part of the code.
                let escape = match letters.peek().is_some_and(char::is_ascii_digit) {
                    true => format!("\\{code:03}"),
                    false => format!("\\{code}"),
                };
                quoted.push_str(&escape);
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected texts are those of LuaJIT.

    #[test]
    fn numbers_have_the_digits_of_percent_g() {
        let cases = [
            (1000.125, "1000.12"),
            (1000.375, "1000.38"),
            (100000.5, "100000"),
            (999999.5, "1e+06"),
            (1e6, "1e+06"),
            (123456789.0, "1.23457e+08"),
            (0.00012345678, "0.000123457"),
            (-0.000012345678, "-1.23457e-05"),
            (5e-324, "4.94066e-324"),
            (0.0, "0"),
            (-0.0, "-0"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (number, text) in cases {
            assert_eq!(significant(number, 6), text);
        }
        assert_eq!((significant(15.0, 1), significant(5.0, 1)), ("2e+01".into(), "5".into()));
    }

    #[test]
    fn floats_have_as_few_digits_as_identify_them() {
        let cases = [
            (0.1, "0.1"),
            (1.0 / 3.0, "0.33333334"),
            (16777216.0, "16777216"),
            (1234567.0, "1234567"),
            (262144.0 + 0.125, "262144.12"),
            (1e6, "1e+06"),
            (1e-7, "1e-07"),
            (0.3000001, "0.3000001"),
            (2f32.powi(33), "8.589935e+09"),
            (1.0000001e-30, "1.0000001e-30"),
            (f32::MAX, "3.4028235e+38"),
            (-0.0, "0"),
            (f32::NEG_INFINITY, "-inf"),
        ];
        for (number, text) in cases {
            assert_eq!(float(number), text);
        }
        assert_eq!(vector3(Vec3::new(0.5, -2.0, 1e10)), "Vector3(0.5, -2, 1e+10)");
    }

    #[test]
    fn names_are_quoted_with_escapes() {
        let name = "a\"b\\c\n\u{1}\u{1}2\t\u{7f}é\u{301}";
        assert_eq!(quoted(name), "\"a\\\"b\\\\c\\\n\\1\\0012\\9\\127é\u{301}\"");
    }
}
