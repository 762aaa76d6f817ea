//! Tests of the parser: tables of texts with their values and errors, and random texts.

use super::{NESTING_MAX, SjsonTree, TEXT_BYTES_MAX, parse, parse_bytes, write};

fn check(text: &str, message: &str) {
    let error = parse(text).expect_err(text);
    assert_eq!(error.to_string(), message, "{text}");
}

/// Checks that two texts have the same value.
fn check_same(text: &str, json: &str) {
    let tree = |text| parse(text).map(|document| document.to_tree());
    assert_eq!(tree(text), tree(json), "{text}");
    assert!(tree(text).is_ok(), "{text}: {:?}", tree(text));
}

fn check_string(text: &str, value: &str) {
    let tree = parse(&format!("[{text}]")).unwrap().to_tree();
    assert_eq!(tree, SjsonTree::Array(vec![SjsonTree::String(value.to_string())]));
}

#[test]
fn shorthand_syntax_means_the_same_as_json() {
    check_same("a = 1 b = 2", r#"{"a": 1, "b": 2}"#);
    check_same("a=1,b:2,", r#"{"a": 1, "b": 2}"#);
    check_same("\r\n\ta\n=\n1\n", r#"{"a": 1}"#);
    check_same("", "{}");
    check_same("// nothing\n/* at all */", "{}");
    check_same("\u{feff}a = [1 2,3,]", r#"{"a": [1, 2, 3]}"#);
    check_same("a = [1[2]\"x\"{b=1}{}]", r#"{"a":[1,[2],"x",{"b":1},{}]}"#);
    check_same("a /*x*/ = // y\n /**/ 1 // z", r#"{"a": 1}"#);
    check_same("* = [\"*\"] units/box-2.x = -1", r#"{"*":["*"],"units/box-2.x":-1}"#);
    check_same("1 = 2 true = false", r#"{"1": 2, "true": false}"#);
    check_same("ключ = 1//x", r#"{"ключ": 1}"#);
    check_same("\"a b\" = 1 \"c=d\": 2 \"\" = 3", r#"{"a b":1,"c=d":2,"":3}"#);
    check_same("a = 1/**/b = 2/**/", r#"{"a": 1, "b": 2}"#);
}

#[test]
fn any_json_value_is_a_valid_file() {
    for (text, tree) in [
        ("[]", SjsonTree::Array(vec![])),
        ("{}", SjsonTree::Object(vec![])),
        (" 42 ", SjsonTree::Number(42.0)),
        ("\"x\" // y", SjsonTree::String("x".to_string())),
        ("true", SjsonTree::Bool(true)),
        ("null", SjsonTree::Null),
    ] {
        assert_eq!(parse(text).unwrap().to_tree(), tree, "{text}");
    }
}

#[test]
fn numbers_have_the_json_syntax() {
    for (text, value) in [
        ("0", 0.0),
        ("-12.5e-1", -1.25),
        ("1E+2", 100.0),
        ("9007199254740992", 9007199254740992.0),
        ("1e-400", 0.0),
        ("0.1", 0.1),
        ("1e-2147483648", 0.0),
        ("1e-99999999999999999999", 0.0),
        ("0e2147483648", 0.0),
        ("0.0e99999999999999999999", 0.0),
        ("1e00002", 100.0),
        ("1.7976931348623157e308", f64::MAX),
        ("5e-324", 5e-324),
        (&*format!("1{}e-400", "0".repeat(400)), 1.0),
        (&*format!("0.{}1e401", "0".repeat(400)), 1.0),
        (&*format!("0.{}", "3".repeat(1 << 20)), 1.0 / 3.0),
    ] {
        assert_eq!(parse(text).unwrap().root().as_f64(), Some(value), "{text}");
    }
    let zero = parse("-0").unwrap().root().as_f64().unwrap();
    assert!(zero == 0.0 && zero.is_sign_negative());
}

#[test]
fn strings_have_the_json_escapes() {
    check_string(r#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz");
    check_string(r#""\u00e9\u20AC\ud83d\ude00""#, "é€😀");
    check_string("\"// no comment\"", "// no comment");
    check_string("\"\"", "");
    check_string("\"\"\"a \"b\" \\n\r\n{\"\"\"", "a \"b\" \\n\r\n{");
    check_string("\"\"\"\"\"\"", "");
}

#[test]
fn errors_give_the_location_and_a_remedy() {
    check("a: [1 2", "line 1, column 4: list is not closed: add ']'");
    check("a = {\n b = 1", "line 1, column 5: object is not closed: add '}'");
    check(
        "é = \"x",
        "line 1, column 5: text is not closed: add '\"', or use \"\"\" for several lines",
    );
    check(
        "a = \"x\n\"",
        "line 1, column 5: text is not closed: add '\"', or use \"\"\" for several lines",
    );
    check("a = \"\"\"x\"", "line 1, column 5: text is not closed: add '\"\"\"'");
    check("/* a", "line 1, column 1: comment is not closed: add '*/'");
    check("a = 1 }", "line 1, column 7: '}' closes nothing: remove it");
    check("]", "line 1, column 1: ']' closes nothing: remove it");
    check("a = {\n]", "line 2, column 1: ']' cannot close the object of line 1: put '}' before it");
    check("a = [\n}", "line 2, column 1: '}' cannot close the list of line 1: put ']' before it");
    check("{} x", "line 1, column 4: 'x' after the end of the file's value: remove it");
    check("a", "line 1, column 1: key 'a' has no value: write a = value");
    check("a\nb = 1", "line 1, column 1: key 'a' has no value: write a = value");
    check("a = , b = 1", "line 1, column 1: key 'a' has no value: write one after it");
    check("a =", "line 1, column 1: key 'a' has no value: write one after it");
    check("= 1", "line 1, column 1: '=' where a key is expected: remove it");
    check("a = \u{1}", "line 1, column 5: character U+0001 where a value is expected: remove it");
    check("a = = 1", "line 1, column 5: '=' where a value is expected: remove it");
    check("[1,,2]", "line 1, column 4: comma without a value before it: remove it");
    check("a = {,}", "line 1, column 6: comma without a value before it: remove it");
    check("a = [b = 1]", "line 1, column 6: 'b' is not a value: put quotes around text");
    check("a = [1 = 1]", "line 1, column 8: a list has no keys: use '{ }' around keys and values");
    check(
        "a = 1\nb = 2\na = 3",
        "line 3, column 1: key 'a' is given twice, in line 1 and in line 3: remove one",
    );
    check(
        "{\"a\":1,a:1}",
        "line 1, column 8: key 'a' is given twice, in line 1 and in line 1: remove one",
    );
}

#[test]
fn unknown_keywords_get_a_remedy() {
    check("a = hello", "line 1, column 5: 'hello' is not a value: put quotes around text");
    check("a = True", "line 1, column 5: 'True' is not a value: write true");
    check("a = NULL", "line 1, column 5: 'NULL' is not a value: write null");
    check(
        "a = .5",
        "line 1, column 5: '.5' is not a value: write numbers like 0.5, quotes around text",
    );
    check("a = 007", "line 1, column 5: '007' is not a number: remove the zeros in front");
    check("a = 1.", "line 1, column 5: '1.' is not a number: write digits after the point");
    check("a = 0x1F", "line 1, column 5: '0x1F' is not a number: write it in decimal digits");
    check("a = -", "line 1, column 5: '-' is not a number: put quotes around text");
    check("a = 1e", "line 1, column 5: '1e' is not a number: write digits after the 'e'");
    check("a = 1.5e+", "line 1, column 5: '1.5e+' is not a number: write digits after the 'e'");
    check("a = NaN", "line 1, column 5: 'NaN' is not a value: put quotes around text");
    check("a = -Infinity", "line 1, column 5: '-Infinity' is not a number: put quotes around text");
    for number in ["1e2147483648", "-1e99999999999999999999", "1.7976931348623159e308"] {
        let message = "is too large: the largest is about 1.8e308";
        check(&format!("a = {number}"), &format!("line 1, column 5: number {number} {message}"));
    }
    // Long words do not fill the message.
    for text in ["9", "x", "1e", "0"] {
        let message = parse(&format!("a = {}", text.repeat(1 << 16))).unwrap_err().message;
        assert!(message.len() < 200 && message.contains('…'), "{message}");
    }
    check("a = 640x480", "line 1, column 5: '640x480' is not a number: put quotes around text");
    check("a = 1e999", "line 1, column 5: number 1e999 is too large: the largest is about 1.8e308");
    check(
        "a = 9007199254740993",
        "line 1, column 5: number 9007199254740993 would become \
         9007199254740992: write it with fewer digits or as text in quotes",
    );
    for text in ["42515862147483650", "42515862147483648", "-42515862147483650"] {
        assert_eq!(parse(text).unwrap().root().as_f64(), text.parse().ok(), "{text}");
    }
    check(
        "a = 42515862147483649",
        "line 1, column 5: number 42515862147483649 would become \
         42515862147483650: write it with fewer digits or as text in quotes",
    );
}

#[test]
fn broken_escapes_get_a_remedy() {
    check(r#"a = "\q""#, "line 1, column 6: '\\q' is not an escape: write '\\\\' for a backslash");
    check(
        r#"a = "\u12g4""#,
        "line 1, column 6: \\u needs four hexadecimal digits: write \\u00e9 for 'é'",
    );
    check(
        r#"a = "\u12"#,
        "line 1, column 6: \\u needs four hexadecimal digits: write \\u00e9 for 'é'",
    );
    check(
        r#"a = "\ud83d x""#,
        "line 1, column 6: \\ud83d is half a character: write both halves or \"\"\"",
    );
    check(
        r#"a = "\ud83d\u0041""#,
        "line 1, column 6: \\ud83d is half a character: write both halves or \"\"\"",
    );
    check(
        r#"a = "\ude00""#,
        "line 1, column 6: \\ude00 is half a character: write both halves or \"\"\"",
    );
    check("a = \"\\", "line 1, column 6: text ends in '\\': finish the escape");
    check("a = \"\t\"", "line 1, column 6: control character in text: write \\u0009");
}

#[test]
fn limit_errors_name_the_limit() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse(&deep(NESTING_MAX)).is_ok());
    check(
        &deep(NESTING_MAX + 1),
        "line 1, column 101: more than 100 lists and objects in each other: nest less",
    );
    check(
        &"a={".repeat(1_000_000),
        "line 1, column 300: more than 100 lists and objects in each other: nest less",
    );
    check(
        &" ".repeat(TEXT_BYTES_MAX + 1),
        "line 1, column 1: text has 67108865 bytes, more than 67108864: split it",
    );
}

#[test]
fn invalid_utf8_is_reported() {
    let error = parse_bytes(b"a = 1\nb = \"\xc3\xa9\xff\"").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2, column 7: byte 0xff at offset 13 is not UTF-8: save the file as UTF-8"
    );
    assert!(parse_bytes("a = \"é\"".as_bytes()).is_ok());
}

/// Returns a number below a bound, from a small linear congruential generator whose upper bits are
/// the good ones.
fn chance(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

#[test]
fn random_text_never_panics_and_parsed_text_can_be_written() {
    let parts = [
        "a", "=", ":", "{", "}", "[", "]", ",", "\"", "\"\"\"", "\\", "\\u", "d83d", "1", "-",
        "0.5", "1e9", "true", "null", "//", "/*", "*/", "\n", "\r\n", " ", "é", "\u{1}", "b",
    ];
    let (mut state, mut parsed) = (1, 0);
    for _ in 0..50_000 {
        let count = chance(&mut state, 12);
        let text: String = (0..count).map(|_| parts[chance(&mut state, parts.len())]).collect();
        let Ok(document) = parse(&text) else { continue };
        parsed += 1;
        let tree = document.to_tree();
        let written = write(&tree).unwrap();
        assert_eq!(parse(&written).unwrap().to_tree(), tree, "{text}");
    }
    assert!(parsed > 1000, "{parsed}");
}

#[test]
fn random_bytes_never_panic() {
    let mut state = 2;
    for _ in 0..20_000 {
        let count = chance(&mut state, 40);
        let bytes: Vec<u8> = (0..count).map(|_| chance(&mut state, 256) as u8).collect();
        let _ = parse_bytes(&bytes);
    }
}

#[test]
fn no_truncation_or_lost_byte_panics() {
    let text = "// é\na = [1.5e3, \"\\ud83d\\ude00é\", {b: null}]\n\"c d\" = \"\"\"x\n\"\"\" \
                /* y */ e = { f = true }\n";
    assert!(parse(text).is_ok());
    for end in 0..text.len() {
        let _ = parse_bytes(&text.as_bytes()[..end]);
        let mut bytes = text.as_bytes().to_vec();
        bytes.remove(end);
        let _ = parse_bytes(&bytes);
    }
}

#[test]
fn markers_of_a_merge_conflict_are_named() {
    let texts = [
        ("a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> other\n", 2),
        ("a = [\n  1\n<<<<<<< HEAD\n  2\n=======\n  3\n>>>>>>> other\n]\n", 3),
        ("b = 1\n=======\nb = 2\n", 2),
        ("b = 2\n>>>>>>> other\n", 2),
    ];
    for (text, line) in texts {
        let error = parse(text).unwrap_err();
        assert_eq!((error.line, error.column), (line, 1), "{text}: {error}");
        assert!(error.message.starts_with("the file has a merge conflict of git"), "{error}");
    }
    let error = parse("a = <\n").unwrap_err();
    assert!(!error.message.contains("merge conflict"), "{error}");
}
