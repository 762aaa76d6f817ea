//! Glob patterns for paths: `*` and `?` match within a name, `**/` matches any folders. Opens no
//! files.

use std::collections::HashSet;
use std::sync::Arc;

/// Maximum number of stars in a pattern. No realistic pattern has more.
pub const STARS_MAX: usize = 8;
/// Maximum length of a pattern in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;

/// Maximum number of patterns in one list. Each pattern is compared with every path.
pub const PATTERNS_MAX: usize = 256;

/// Refuses a list with too many patterns.
pub fn check_count(count: usize) -> Result<(), String> {
    match count > PATTERNS_MAX {
        true => Err(format!(
            "{count} patterns of paths are more than {PATTERNS_MAX} (PATTERNS_MAX): name folders, \
             as tests/**"
        )),
        false => Ok(()),
    }
}

/// A glob pattern for paths relative to the game's folder, or a set of paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob(GlobForm);

#[derive(Clone, PartialEq, Eq, Debug)]
enum GlobForm {
    Pattern(String),
    Paths(Arc<HashSet<String>>),
}

impl Glob {
    /// Parses a pattern. The error message names the defect.
    pub fn new(text: &str) -> Result<Glob, String> {
        let stars = text.bytes().filter(|byte| *byte == b'*').count();
        if text.is_empty() {
            Err("a pattern of paths is empty".to_string())
        } else if stars > STARS_MAX {
            Err(format!("'{text}' has more than {STARS_MAX} stars (STARS_MAX)"))
        } else if text.len() > PATTERN_BYTES_MAX {
            Err(format!(
                "a pattern of paths has {} bytes, more than {PATTERN_BYTES_MAX} \
                 (PATTERN_BYTES_MAX): shorten it",
                text.len()
            ))
        } else if text.starts_with('/') || text.contains('\\') {
            Err(format!("'{text}' must be a path from the game's folder, with '/'"))
        } else {
            Ok(Glob(GlobForm::Pattern(text.to_string())))
        }
    }

    /// Creates a glob that matches exactly these paths.
    pub fn of_paths(paths: HashSet<String>) -> Glob {
        Glob(GlobForm::Paths(Arc::new(paths)))
    }

    /// Returns true if the pattern matches a path with `/` separators.
    pub fn matches(&self, path: &str) -> bool {
        match &self.0 {
            GlobForm::Pattern(pattern) => matches(pattern.as_bytes(), path.as_bytes()),
            GlobForm::Paths(paths) => paths.contains(path),
        }
    }
}

/// Matches a pattern by computing, after each part of the pattern, the set of path positions that
/// the match can have reached. The number of steps is the product of both lengths, independent of
/// the number of stars.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    let mut rest = pattern;
    while let Some((first, others)) = rest.split_first() {
        if rest == b"**" {
            return reached[..path.len()].contains(&true);
        }
        if let Some(after_folders) = rest.strip_prefix(b"**/") {
            // From the first reachable position on, a match can continue after any slash.
            let begin = reached.iter().position(|is_reached| *is_reached).unwrap_or(path.len());
            for (index, byte) in path.iter().enumerate().skip(begin) {
                reached[index + 1] |= *byte == b'/';
            }
            rest = after_folders;
            continue;
        }
        let mut next = vec![false; path.len() + 1];
        if *first == b'*' {
            next[0] = reached[0];
        }
        for (index, byte) in path.iter().enumerate() {
            next[index + 1] = match first {
                b'*' => reached[index + 1] || (next[index] && *byte != b'/'),
                b'?' => reached[index] && *byte != b'/',
                wanted => reached[index] && byte == wanted,
            };
        }
        reached = next;
        rest = others;
    }
    reached[path.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_star_matches_within_a_name_and_two_across_folders() {
        let check = |pattern: &str, path: &str, wanted: bool| {
            assert_eq!(Glob::new(pattern).unwrap().matches(path), wanted, "{pattern} {path}");
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
        check("**/a/**/b", "x/a/y/z/b", true);
        check("**/a/**/b", "a/b", true);
        check("**/a/**/b", "xa/b", false);
        check("a**b", "axxb", true);
        check("a**/b", "ax/b", true);
        // The running time does not grow with each star.
        let long = "a".repeat(400);
        check("*a*a*a*a*a*a*a*b", &long, false);
        check("*a*a*a*a*a*a*a*", &long, true);
    }

    #[test]
    fn matching_takes_bounded_time() {
        let path = format!("{}/b", ["a".repeat(250), "a".repeat(250)].join("/"));
        let many = |text: &str| Glob::new(text).unwrap().matches(&path);
        assert!(!many("*a*a*a*a*a*a*b/*"));
        assert!(!many("**/*a*a*a*/*a*c"));
        assert!(many("**/*a*a*a*a*a*/b"));
        assert!(many("**/**/**/b"));
    }

    #[test]
    fn a_set_of_paths_matches_whole_paths() {
        let glob = Glob::of_paths(["a/b.png".to_string()].into());
        assert!(glob.matches("a/b.png") && !glob.matches("a/b") && !glob.matches("x/a/b.png"));
    }

    #[test]
    fn invalid_patterns_are_refused() {
        let message = |text: &str| Glob::new(text).unwrap_err();
        assert_eq!(message(""), "a pattern of paths is empty");
        assert_eq!(message("/a"), "'/a' must be a path from the game's folder, with '/'");
        assert!(message("*a*a*a*a*a*a*a*a*a").contains("more than 8 stars"));
        let many =
            "257 patterns of paths are more than 256 (PATTERNS_MAX): name folders, as tests/**";
        assert_eq!(check_count(PATTERNS_MAX + 1), Err(many.to_string()));
        assert_eq!(check_count(PATTERNS_MAX), Ok(()));
        let long = message(&"a".repeat(PATTERN_BYTES_MAX + 1));
        assert!(long.ends_with("more than 1024 (PATTERN_BYTES_MAX): shorten it"), "{long}");
    }
}
