//! Tests of the output formats: programs can read them, whatever the tests' names and output are.

use super::Scratch;
use engine::foundation::sjson::{self, SjsonTree};
use std::fs;

const HOSTILE: &str = "describe('a <b> & \"c\"', function()\n  \
    it('x\\n]]>#\\0\\27[31m \\255\\\\', function()\n    print('}<not json>\\nok 9')\n    \
    error('b\\254\\n]]>\\0')\n  end)\n  \
    it('is fine', function() print('ok 7') end)\n  pending('later')\nend)\n";

fn run(name: &str, form: &str, more: &[&str]) -> (i32, String, String) {
    let scratch =
        Scratch::new(name, &[("a_test.lua", HOSTILE), ("b_test.lua", "it('b', function() end)")]);
    scratch.test(&[&[".", "--output", form], more].concat())
}

/// Returns an error of a text as XML: unbalanced tags, or forbidden characters.
fn xml_error(text: &str) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    if let Some(c) = text.chars().find(|c| c.is_control() && !"\n\t".contains(*c)) {
        return Some(format!("the character {c:?}"));
    }
    while let Some(at) = rest.find('<') {
        let between = &rest[..at];
        if between.contains('>') {
            return Some(format!("'>' in {between}"));
        }
        let end = at + rest[at..].find('>')?;
        let tag = &rest[at + 1..end];
        if tag.matches('"').count() % 2 != 0 || tag.contains('<') {
            return Some(format!("the tag {tag}"));
        }
        let name = tag.trim_matches('/').split(' ').next()?.to_string();
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return Some(format!("the end {tag}"));
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    (!open.is_empty()).then(|| format!("{open:?} are not closed"))
}

#[test]
fn junit_output_is_valid_xml() {
    for jobs in ["1", "2"] {
        let (code, out, err) = run(&format!("junit{jobs}"), "junit", &["-j", jobs]);
        assert_eq!((code, xml_error(&out)), (1, None), "{out}");
        assert!(out.contains("<testsuites tests=\"4\" failures=\"1\" skipped=\"1\""), "{out}");
        assert!(out.contains("<testsuite name=\"b_test.lua\" tests=\"1\""), "{out}");
        assert!(err.contains("}<not json>\nok 9\n") && err.contains("ok 7\n"), "{err}");
    }
    assert!(xml_error("<?xml version=\"1.0\" encoding=\"UTF-8\"?><a><b></a>").is_some());
}

#[test]
fn json_output_has_one_object_per_line() {
    let (code, out, _) = run("json", "json", &[]);
    assert_eq!(code, 1);
    let event = |line: &str| {
        let tree = sjson::parse_bytes(line.as_bytes()).unwrap().to_tree();
        let SjsonTree::Object(entries) = tree else { panic!("{line}") };
        match &entries.iter().find(|(key, _)| key == "event").unwrap().1 {
            SjsonTree::String(event) => event.clone(),
            other => panic!("{other:?}"),
        }
    };
    let events: Vec<String> = out.lines().map(event).collect();
    assert_eq!(events, ["begin", "test", "test", "test", "file", "test", "file", "end"]);
    assert!(out.contains("\"groups\":[\"a <b> & \\\"c\\\"\"]"), "{out}");
}

#[test]
fn tap_output_has_one_line_per_test() {
    let (code, out, _) = run("tap", "tap", &[]);
    assert_eq!(code, 1);
    let lines: Vec<&str> = out.lines().filter(|line| !line.starts_with("  ")).collect();
    assert_eq!(lines.len(), 6, "{out}");
    assert_eq!((lines[0], lines[5]), ("TAP version 13", "1..4"));
    assert!(lines[1].starts_with("not ok 1 - a_test.lua: a <b> & \"c\" x\\n]]>\\#"), "{out}");
    assert_eq!(lines[3], "ok 3 - a_test.lua: a <b> & \"c\" later # SKIP");
}

#[test]
fn spec_dots_and_github_formats_are_readable() {
    let (_, out, _) = run("spec", "spec", &["--filter-out", "x"]);
    assert!(out.contains("a_test.lua\n  a <b> & \"c\"\n    ok      is fine ("), "{out}");
    let (_, out, _) = run("dots", "dots", &[]);
    assert!(out.ends_with("\n2 passed, 1 failed, 1 skipped\n"), "{out}");
    assert!(!out.contains('\x1b'), "{out}");
    let (_, out, _) = run("github", "github", &[]);
    assert!(out.contains("::error file=a_test.lua,line=4,title="), "{out}");
}

#[test]
fn output_file_keeps_the_default_output() {
    let scratch = Scratch::new("output-file", &[("a_test.lua", HOSTILE)]);
    let (code, out, _) = scratch.test(&[".", "--output", "junit", "--output-file", "r.xml"]);
    assert_eq!(code, 1);
    assert!(out.ends_with("1 passed, 1 failed, 1 skipped\n"), "{out}");
    let text = std::fs::read_to_string(scratch.0.join("r.xml")).unwrap();
    assert_eq!(xml_error(&text), None, "{text}");
    let (code, _, err) = scratch.test(&[".", "--output", "tap", "--output-file", "no/where.tap"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("error: the output cannot be written to 'no/where.tap': "), "{err}");
    let (code, _, err) = scratch.test(&[".", "--output", "jnit"]);
    assert_eq!(code, 2);
    assert!(err.contains("'junit'"), "{err}");
    let (code, _, err) = scratch.test(&[".", "--output-file", "x"]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn slowest_tests_are_listed() {
    let suite = "it('waits', function() test.frames(20000) end)\nit('is quick', function() end)\n\
                 it('waits a bit', function() test.frames(3000) end)";
    let scratch = Scratch::new("slowest", &[("a_test.lua", suite)]);
    let (code, out, _) = scratch.test(&[".", "--slowest", "2"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = out.lines().skip_while(|line| *line != "The slowest tests:").collect();
    assert!(lines[1].contains(" s  waits  a_test.lua:1"), "{out}");
    assert!(lines[2].contains(" s  waits a bit  a_test.lua:3"), "{out}");
    assert!(!out.contains("is quick"), "{out}");
}

#[test]
fn every_option_and_format_is_in_the_manual() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["test", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/testing.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut options: Vec<&str> =
        help.split([' ', '\n', '[', '=']).filter(|word| word.starts_with("--")).collect();
    options.retain(|option| *option != "--help");
    assert!(options.len() > 20, "{options:?}");
    for option in options {
        assert!(page.contains(&format!("`{option}")), "{option} is not in the manual");
    }
    for form in &engine::app::testing::output::OUTPUTS {
        assert!(help.contains(form.doc), "{} is not in the help", form.name);
        assert!(
            page.contains(&format!("| `{}` |", form.name)),
            "{} is not in the manual",
            form.name
        );
    }
}

#[test]
fn misspelled_names_and_stale_data_are_reported() {
    let test = "it('moves on', function() World.updaet(1) end)";
    let files = [("tests/a_test.lua", test), ("words.strings", "a = \"b\""), ("main.lua", "")];
    let scratch = Scratch::new("told", &files);
    let (code, out, _) = scratch.test(&["."]);
    assert_eq!(code, 1);
    assert!(out.contains(": World has no function 'updaet', did you mean 'update'?"), "{out}");
    assert!(!out.contains("compiled before"), "{out}");
    fs::write(scratch.0.join("words.strings"), "a = = 1").unwrap();
    let (_, out, err) = scratch.test(&["."]);
    let expected = "for words.strings the data compiled before is used until the error is fixed";
    assert!(out.contains(expected) || err.contains(expected), "{out}{err}");
}
