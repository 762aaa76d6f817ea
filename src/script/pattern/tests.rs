//! Tests of the pattern matcher and its bounds. The expected rows are the results of LuaJIT's
//! string.find, in offsets from 0: `start..end`, then `<text>` or `@position` for each capture.

use super::*;

const PLENTY: u64 = 1_000_000;

fn answer(subject: &[u8], pattern: &[u8], init: usize, budget: u64) -> String {
    let mut budget = budget;
    let found = match find(subject, pattern, init, &mut budget) {
        Ok(Some(found)) => found,
        Ok(None) => return "none".into(),
        Err(error) => return error.to_string(),
    };
    let mut text = format!("{}..{}", found.start, found.end);
    for capture in found.captures() {
        text += &match *capture {
            Capture::Span { start, end } => {
                format!(" <{}>", String::from_utf8_lossy(&subject[start..end]))
            }
            Capture::Position(at) => format!(" @{at}"),
        };
    }
    text
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table, one row for each case")]
fn each_row_matches_as_in_luajit() {
    let rows: &[(&[u8], &[u8], usize, &str)] = &[
        (b"hello", b"l+", 0, "2..4"),
        (b"hello", b"l-o", 0, "2..5"),
        (b"hello", b"^l", 0, "none"),
        (b"hello", b"^h(e)(l*)", 0, "0..4 <e> <ll>"),
        (b"hello", b"o$", 0, "4..5"),
        (b"hello", b"$", 0, "5..5"),
        (b"", b".-", 0, "0..0"),
        (b"", b"x?$", 0, "0..0"),
        (b"a$b", b"$b", 0, "1..3"),
        (b"a^b", b"a^b*", 0, "0..3"),
        (b"key = value", b"(%w+)%s*=%s*(%w+)", 0, "0..11 <key> <value>"),
        (b"  trim me  ", b"^%s*(.-)%s*$", 0, "0..11 <trim me>"),
        (b"THE (quick) fox", b"%((%a+)%)", 0, "4..11 <quick>"),
        (b"THE (quick) fox", b"%f[%a]%a+%f[%A]", 5, "5..10"),
        (b"f(a(b)c)d", b"%b()", 0, "1..8"),
        (b"f(a(b", b"%b()", 0, "none"),
        (b"'it' \"is\"", b"([\"'])(.-)%1", 0, "0..4 <'> <it>"),
        (b"abab", b"(a)(b)%1%2", 0, "0..4 <a> <b>"),
        (b"aXbX", b"()X()", 0, "1..2 @1 @2"),
        (b"aXbX", b"()X()", 2, "3..4 @3 @4"),
        (b"x]y", b"[]]", 0, "1..2"),
        (b"x]y", b"[^]]+", 0, "0..1"),
        (b"a-b", b"[a-]+", 0, "0..2"),
        (b"a-b", b"[-a]+", 0, "0..2"),
        (b"m", b"[a-z]", 0, "0..1"),
        (b"M", b"[^a-z]", 0, "0..1"),
        (b"a%b", b"[%%]", 0, "1..2"),
        (b"a]b", b"[%]]", 0, "1..2"),
        (b"tab\x09end", b"%s", 0, "3..4"),
        (b"v\x0bx", b"%s", 0, "1..2"),
        (b"0x1F", b"%x+", 2, "2..4"),
        (b"\x01", b"%c", 0, "0..1"),
        (b"a\x00b", b"%z", 0, "1..2"),
        (b"a\x00b", b"%Z+", 0, "0..1"),
        (b"a\x00b", b"a.b", 0, "0..3"),
        (b"\xc8\xc9", b"%a*", 0, "0..0"),
        (b"\xc8\xc9", b"[\x80-\xff]+", 0, "0..2"),
        (b"a_b", b"%w+", 0, "0..1"),
        (b"a_b", b"%p", 0, "1..2"),
        (b"a_b", b"[%w_]+", 0, "0..3"),
        (b"~!", b"%g+", 0, "0..2"),
        (b"%d", b"%%d", 0, "0..2"),
        (b"aaa", b"a?a?a?aaa", 0, "0..3"),
        (b"aab", b"a-b", 0, "0..3"),
        (b"aaab", b"^(a-)(a*)b$", 0, "0..4 <> <aaa>"),
        (b"abc", b"((a)(b))c", 0, "0..3 <ab> <a> <b>"),
        (b"abc", b"*b?", 0, "none"),
        (b"a*b", b"*b", 0, "1..3"),
        (b"(x)*", b"(.)*", 0, "2..4 <)>"),
        (b"abc", b"^b", 1, "1..2"),
        (b"abc", b"c$", 2, "2..3"),
        (b"abc", b"()", 3, "3..3 @3"),
        (b"a.b", b"%.", 0, "1..2"),
        (b"12.5", b"%d+%.?%d*", 0, "0..4"),
        (b"abc", b"%", 0, "malformed pattern (ends with '%')"),
        (b"abc", b"a%", 0, "malformed pattern (ends with '%')"),
        (b"abc", b"x%", 0, "none"),
        (b"abc", b"[a", 0, "malformed pattern (missing ']')"),
        (b"abc", b"[^", 0, "malformed pattern (missing ']')"),
        (b"abc", b"[]", 0, "malformed pattern (missing ']')"),
        (b"abc", b"x[", 0, "none"),
        (b"abc", b"%f", 0, "missing '[' after '%f' in pattern"),
        (b"abc", b"%fa", 0, "missing '[' after '%f' in pattern"),
        (b"abc", b"%f[a", 0, "malformed pattern (missing ']')"),
        (b"abc", b"%b", 0, "unbalanced pattern"),
        (b"abc", b"%bx", 0, "unbalanced pattern"),
        (b"abc", b"(a", 0, "unfinished capture"),
        (b"abc", b".-)", 0, "invalid pattern capture"),
        (b"abc", b"%1", 0, "invalid capture index"),
        (b"abc", b"%0", 0, "invalid capture index"),
        (b"abc", b"(a%1)", 0, "invalid capture index"),
        (b"abc", b"()%1", 0, "none"),
        (b"ab", b"a\x00.*", 0, "0..1"),
    ];
    for (subject, pattern, init, expected) in rows {
        let got = answer(subject, pattern, *init, PLENTY);
        let (subject, pattern) = (subject.escape_ascii(), pattern.escape_ascii());
        assert_eq!(got, *expected, "find(\"{subject}\", \"{pattern}\", {init})");
    }
}

#[test]
fn captures_and_nesting_have_limits() {
    assert_eq!(answer(b"a", &b"()".repeat(CAPTURES_MAX), 0, PLENTY).matches('@').count(), 32);
    assert_eq!(answer(b"a", &b"()".repeat(CAPTURES_MAX + 1), 0, PLENTY), "too many captures");
    assert_eq!(answer(b"", &b"a-".repeat(DEPTH_MAX as usize - 1), 0, PLENTY), "0..0");
    assert_eq!(answer(b"", &b"a-".repeat(DEPTH_MAX as usize), 0, PLENTY), "pattern too complex");
    let long = b"a".repeat(PATTERN_BYTES_MAX + 1);
    assert_eq!(answer(b"a", &long, 0, PLENTY), PatternError::TooLong.to_string());
}

#[test]
fn an_exhausted_budget_is_an_error_and_stays_at_zero() {
    let subject = b"a".repeat(2_000);
    let rows: [&[u8]; 5] = [b"(.-)(.-)(.-)x", b"a*a*b", b".-.-b", b"%w+=", b"^a?a*a*b"];
    for pattern in rows {
        let mut budget = 10_000;
        let result = find(&subject, pattern, 0, &mut budget);
        assert_eq!(result.err(), Some(PatternError::OutOfSteps), "{}", pattern.escape_ascii());
        assert_eq!(budget, 0);
    }
    let mut budget = PLENTY;
    assert!(matches!(find(&subject, b"^a*$", 0, &mut budget), Ok(Some(_))));
    assert!(PLENTY - budget < 2_100, "one pass over the subject took {} steps", PLENTY - budget);
}

#[test]
fn plain_search_finds_the_same_as_a_naive_search() {
    let mut seed = 1u32;
    let mut word = |length: usize| -> Vec<u8> {
        let mut letter = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b'a' + (seed >> 31) as u8
        };
        (0..length).map(|_| letter()).collect()
    };
    for i in 0..2_000 {
        let (subject, needle, init) = (word(i % 23), word(i % 5), i % 7);
        let from = init.min(subject.len());
        let expected = (from..=subject.len()).find(|at| subject[*at..].starts_with(&needle));
        assert_eq!(find_plain(&subject, &needle, init), expected, "{subject:?} {needle:?}");
    }
    // A naive search takes 2^38 comparisons here.
    let subject = b"a".repeat(1 << 20);
    let mut needle = b"a".repeat(1 << 18);
    needle.push(b'b');
    assert_eq!(find_plain(&subject, &needle, 0), None);
}

#[test]
fn the_estimate_follows_the_shape_of_the_pattern() {
    let steps = 5e7;
    let rows: &[(&str, std::ops::RangeInclusive<usize>)] = &[
        ("%s+", 10_000_000..=50_000_000),
        ("^[^,]*,[^,]*,", 1_000_000..=10_000_000),
        ("(%w+)%s*=%s*(%w+)", 2_000..=10_000),
        ("^%s*(.-)%s*$", 5_000..=10_000),
        ("%b()", 5_000..=20_000),
        ("(.-)(.-)(.-)x", 50..=300),
        ("(.-)(.-)(.-)(.-)(.-)(.-)x", 20..=60),
    ];
    for (pattern, range) in rows {
        let most = direct_bytes_max(pattern.as_bytes(), steps);
        assert!(range.contains(&most), "{pattern}: {most} bytes");
    }
    assert!(direct_bytes_max("a?".repeat(40).as_bytes(), steps) > 100_000);
    assert!(direct_bytes_max(("a?".repeat(40) + "b").as_bytes(), steps) < 100);
    assert_eq!(direct_bytes_max(("a*".repeat(200_000) + "b").as_bytes(), steps), 0);
    assert_eq!(direct_bytes_max(&b"a".repeat(PATTERN_BYTES_MAX + 1), steps), 0);
}

/// Checks that the estimate is an upper bound: at the length that it allows, no subject costs more
/// steps.
#[test]
fn matching_takes_at_most_the_estimated_steps() {
    let patterns = [
        "a*b",
        ".-b",
        "(a*)(a*)b",
        "%w+=%d",
        "a?a?a?a?aab",
        "%b()x",
        "^%s*(.-)%s*$",
        "[ab]+%s",
        "(.-)%1b",
        "%f[%w]%w+x",
        "(.*)/(.*)",
        "a-a-a-$",
        "^(.-)%.(.-)$",
        "<(%w+)(.-)>",
        "%s-$",
    ];
    let subjects = ["a", "ab", "(", " ", "a ", "a=", "<a", "/", ".", "a("];
    let steps = 2e5;
    for pattern in patterns {
        let most = direct_bytes_max(pattern.as_bytes(), steps).min(100_000);
        for unit in subjects {
            let subject = unit.repeat(most.div_ceil(unit.len()));
            let subject = &subject.as_bytes()[..most];
            let (mut budget, mut at) = (PLENTY, 0);
            // All matches, in the order in which gsub finds them.
            while let Some(found) = find(subject, pattern.as_bytes(), at, &mut budget).unwrap() {
                at = found.end + usize::from(found.end == found.start);
                if at > most || pattern.starts_with('^') {
                    break;
                }
            }
            let taken = (PLENTY - budget) as f64;
            assert!(taken <= steps, "{pattern} on {most} bytes of {unit:?}: {taken} steps");
        }
    }
}
