//! Tests of the output formats: programs can read them, whatever the tests' names and output are.

use super::Scratch;
use engine::foundation::sjson::{self, SjsonTree};
use std::fs;

const HOSTILE: &str = "describe('a <b> & \"c\"', function()\n  \
    it('x\\n]]>#\\0\\27[31m \\255\\\\', function()\n    print('}<not json>\\nok 9')\n    \
    error('b\\254\\n]]>\\0')\n  end)\n  \
    it('is fine', function() print('ok 7') end)\n  pending('later')\n  \
    it('waits', function() pending('no <net> & \"x\"') end)\nend)\n";

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
        assert!(out.contains("<testsuites tests=\"5\" failures=\"0\" errors=\"1\""), "{out}");
        let reason = "<skipped message=\"no &lt;net&gt; &amp; &quot;x&quot;\"/>";
        assert!(out.contains(reason), "{out}");
        assert!(out.contains("<testsuite name=\"b_test.lua\" tests=\"1\""), "{out}");
        assert!(err.contains("}<not json>\nok 9\n") && err.contains("ok 7\n"), "{err}");
    }
    assert!(xml_error("<?xml version=\"1.0\" encoding=\"UTF-8\"?><a><b></a>").is_some());
}

/// The attributes and children that Jenkins' schema allows, by element (junit-10.xsd of its xUnit
/// plugin). Required attributes have a star.
const SCHEMA: [(&str, &[&str], &[&str]); 8] = [
    ("testsuites", &["name", "time", "tests", "failures", "errors"], &["testsuite"]),
    (
        "testsuite",
        &["name*", "tests*", "failures*", "errors*", "time", "skipped"],
        &["testcase", "system-out", "system-err"],
    ),
    (
        "testcase",
        &["name*", "time", "classname"],
        &["skipped", "error", "failure", "flakyFailure", "system-out"],
    ),
    ("skipped", &["type", "message"], &[]),
    ("error", &["type", "message"], &[]),
    ("failure", &["type", "message"], &[]),
    ("flakyFailure", &["type*", "message"], &["stackTrace"]),
    ("stackTrace", &[], &[]),
];

/// Returns an error of a text as a JUnit report: an element or attribute that the schema does not
/// allow, or a missing attribute. The text is well-formed.
fn junit_error(text: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for tag in text.split('<').skip(2).filter_map(|part| part.split('>').next()) {
        if tag.starts_with('/') {
            open.pop();
            continue;
        }
        let name = tag.trim_end_matches('/').split(' ').next()?;
        let row = |name: &str| SCHEMA.iter().find(|(known, ..)| *known == name);
        let Some((_, attributes, _)) = row(name) else { return Some(format!("<{name}>")) };
        let parent = open.last().copied();
        let is_child = |(_, _, children): &(_, _, &[&str])| children.contains(&name);
        if !parent.map_or(name == "testsuites", |parent| row(parent).is_some_and(is_child)) {
            return Some(format!("<{name}> in {parent:?}"));
        }
        let parts: Vec<&str> = tag.split('"').collect();
        let found: Vec<&str> = parts
            .iter()
            .step_by(2)
            .filter_map(|part| part.strip_suffix('='))
            .filter_map(|part| part.rsplit(' ').next())
            .collect();
        let known = |key: &&str| attributes.iter().any(|at| at.trim_end_matches('*') == *key);
        if let Some(unknown) = found.iter().find(|key| !known(key)) {
            return Some(format!("the attribute {unknown} of <{name}>"));
        }
        let required = attributes.iter().filter_map(|at| at.strip_suffix('*'));
        if let Some(missing) = required.into_iter().find(|key| !found.contains(key)) {
            return Some(format!("<{name}> without {missing}"));
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    None
}

#[test]
fn junit_output_follows_the_schema_of_jenkins() {
    let once = "local file = 'tried'\nit('is flaky', function()\n  \
                if not io.open(file) then io.open(file, 'w'):close() error('not yet') end\nend)";
    let scratch = Scratch::new("schema", &[("a_test.lua", HOSTILE), ("b_test.lua", once)]);
    let (_, out, _) = scratch.test(&[".", "--output", "junit", "--retry", "1", "--no-sandbox"]);
    assert!(out.contains("<flakyFailure "), "{out}");
    assert_eq!((xml_error(&out), junit_error(&out)), (None, None), "{out}");
    let bad = "<?xml?><testsuites><testsuite name=\"a\" tests=\"1\" failures=\"0\" errors=\"0\">\
               <testcase name=\"x\" file=\"a.lua\"/></testsuite></testsuites>";
    assert_eq!(junit_error(bad).as_deref(), Some("the attribute file of <testcase>"));
    let bad = "<?xml?><testsuites><testcase name=\"x\"/></testsuites>";
    assert_eq!(junit_error(bad).as_deref(), Some("<testcase> in Some(\"testsuites\")"));
    let bad = "<?xml?><testsuites><testsuite name=\"a\"/></testsuites>";
    assert_eq!(junit_error(bad).as_deref(), Some("<testsuite> without tests"));
}

#[test]
fn several_outputs_are_written_to_files() {
    let scratch = Scratch::new("outputs", &[("a_test.lua", HOSTILE)]);
    let files = ["-o", "junit=r.xml", "--output", "tap=r.tap", "--output", "spec"];
    let (code, out, err) = scratch.test(&[&["."], &files[..]].concat());
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("    ok      is fine ("), "{out}");
    let read = |file: &str| fs::read_to_string(scratch.0.join(file)).unwrap();
    assert_eq!((xml_error(&read("r.xml")), junit_error(&read("r.xml"))), (None, None));
    assert!(read("r.tap").starts_with("TAP version 13\nnot ok 1"), "{}", read("r.tap"));
    let rows: [(&[&str], &str); 6] = [
        (
            &["--output", "junit="],
            "'--output junit=' names no file: write --output junit=report.xml",
        ),
        (&["--output", "jnit=x"], "invalid value 'jnit'"),
        (&["--output", "tap", "--output", "spec"], "the terminal can show one format: write"),
        (&["--output", "tap=x", "--output-file", "y"], "--output-file is for an --output without"),
        (&["--output", "tap=x", "--output", "junit=x"], "two outputs are written to 'x': give"),
        (&["--output", "tap=no/where"], "the output cannot be written to 'no/where': "),
    ];
    for (options, message) in rows {
        let (code, _, err) = scratch.test(&[&["."], options].concat());
        assert_ne!(code, 0, "{options:?}");
        assert!(err.contains(message), "{options:?}: {err}");
    }
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
    let wanted = ["begin", "test", "test", "test", "test", "file", "test", "file", "end"];
    assert_eq!(events, wanted);
    assert!(out.contains("\"reason\":\"no <net> & \\\"x\\\"\""), "{out}");
    assert!(out.contains("\"groups\":[\"a <b> & \\\"c\\\"\"]"), "{out}");
}

#[test]
fn tap_output_has_one_line_per_test() {
    let (code, out, _) = run("tap", "tap", &[]);
    assert_eq!(code, 1);
    let lines: Vec<&str> = out.lines().filter(|line| !line.starts_with("  ")).collect();
    assert_eq!(lines.len(), 7, "{out}");
    assert_eq!((lines[0], lines[6]), ("TAP version 13", "1..5"));
    assert!(lines[1].starts_with("not ok 1 - a_test.lua: a <b> & \"c\" x\\n]]>\\#"), "{out}");
    assert_eq!(lines[3], "ok 3 - a_test.lua: a <b> & \"c\" later # SKIP");
    let skipped = "ok 4 - a_test.lua: a <b> & \"c\" waits # SKIP no <net> & \"x\"";
    assert_eq!(lines[4], skipped);
}

#[test]
fn spec_dots_and_github_formats_are_readable() {
    let (_, out, _) = run("spec", "spec", &["--filter-out", "x"]);
    assert!(out.contains("a_test.lua\n  a <b> & \"c\"\n    ok      is fine ("), "{out}");
    let (_, out, _) = run("dots", "dots", &[]);
    assert!(out.ends_with("\n2 passed, 1 failed, 2 skipped\n"), "{out}");
    let skipped = "\nskipped  a <b> & \"c\" waits: no <net> & \"x\"  a_test.lua:8\n";
    assert!(out.contains(skipped), "{out}");
    assert!(!out.contains('\x1b'), "{out}");
    let (_, out, _) = run("github", "github", &[]);
    assert!(out.contains("::error file=a_test.lua,line=4,title="), "{out}");
}

#[test]
fn output_file_keeps_the_default_output() {
    let scratch = Scratch::new("output-file", &[("a_test.lua", HOSTILE)]);
    let (code, out, _) = scratch.test(&[".", "--output", "junit", "--output-file", "r.xml"]);
    assert_eq!(code, 1);
    assert!(out.ends_with("1 passed, 1 failed, 2 skipped\n"), "{out}");
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
    assert!(!out.contains("old data"), "{out}");
    fs::write(scratch.0.join("words.strings"), "a = = 1").unwrap();
    let (_, out, err) = scratch.test(&["."]);
    let expected = "old data is used for words.strings: it was compiled before the errors above";
    assert!(out.contains(expected) || err.contains(expected), "{out}{err}");
}
