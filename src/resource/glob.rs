//! Patterns of paths: `*` and `?` within a name, `**/` for any folders. Opens no files.

/// The most stars of a pattern: each may be tried at every place of a path.
pub const STARS_MAX: usize = 8;

/// A pattern of paths from the game's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob(String);

impl Glob {
    /// Reads a pattern; the words say what is wrong with it.
    pub fn new(text: &str) -> Result<Glob, String> {
        let stars = text.bytes().filter(|byte| *byte == b'*').count();
        if text.is_empty() {
            Err("a pattern of paths is empty".to_string())
        } else if stars > STARS_MAX {
            Err(format!("'{text}' has more than {STARS_MAX} stars (STARS_MAX)"))
        } else if text.starts_with('/') || text.contains('\\') {
            Err(format!("'{text}' must be a path from the game's folder, with '/'"))
        } else {
            Ok(Glob(text.to_string()))
        }
    }

    /// Whether a path, with `/`, is meant.
    pub fn fits(&self, path: &str) -> bool {
        fits(self.0.as_bytes(), path.as_bytes())
    }
}

fn fits(pattern: &[u8], path: &[u8]) -> bool {
    if let Some(rest) = pattern.strip_prefix(b"**/") {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        return fits(rest, path) || slashes.into_iter().any(|(at, _)| fits(rest, &path[at + 1..]));
    }
    match (pattern.split_first(), path.split_first()) {
        _ if pattern == b"**" => !path.is_empty(),
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            let name = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
            (0..=name).any(|taken| fits(rest, &path[taken..]))
        }
        (Some((b'?', rest)), Some((byte, path))) => *byte != b'/' && fits(rest, path),
        (Some((wanted, rest)), Some((byte, path))) => wanted == byte && fits(rest, path),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_within_a_name_and_two_cross_folders() {
        let check = |pattern: &str, path: &str, wanted: bool| {
            assert_eq!(Glob::new(pattern).unwrap().fits(path), wanted, "{pattern} {path}");
        };
        check("**/*_test.lua", "enemy_test.lua", true);
        check("**/*_test.lua", "a/b/enemy_test.lua", true);
        check("**/*_test.lua", "a/b/enemy_tests.lua", false);
        check("tests/**", "tests/a/b.png", true);
        check("tests/**", "my/tests/a.png", false);
        check("*.lua", "a/b.lua", false);
        check("a/*/c.?", "a/b/c.d", true);
        check("a/*/c.?", "a/b/x/c.d", false);
        check("**", "anything/at/all", true);
        check("ä*", "äö", true);
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let words = |text: &str| Glob::new(text).unwrap_err();
        assert_eq!(words(""), "a pattern of paths is empty");
        assert_eq!(words("/a"), "'/a' must be a path from the game's folder, with '/'");
        assert!(words("*a*a*a*a*a*a*a*a*a").contains("more than 8 stars"));
    }
}
