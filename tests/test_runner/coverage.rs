//! Tests of `--coverage`: the lines of a game's files that ran under its tests.

use super::Scratch;

const ENEMY: &str = "local M = {}\n\nfunction M.speed(fast)\n  if fast then\n    return 2\n  end\n  \
                     return 1 -- words\nend\n\nfunction M.never()\n  return 3\nend\n\nreturn M\n";
const SUITE: &str = "local enemy = require('enemy')\n\
                     it('is slow', function() for _ = 1, 3 do enemy.speed() end end)\n";

#[test]
fn coverage_is_written_as_lcov() {
    let files =
        [("main.lua", ""), ("enemy.lua", ENEMY), ("a_test.lua", SUITE), ("b_test.lua", SUITE)];
    let scratch = Scratch::new("coverage", &files);
    for jobs in ["1", "2"] {
        let (code, out, err) = scratch.test(&[".", "--coverage", "-j", jobs]);
        assert_eq!(code, 0, "{out}{err}");
        assert!(
            out.contains("coverage: 80.0 % of 10 lines in 1 file, written to lcov.info\n"),
            "{out}"
        );
        let text = std::fs::read_to_string(scratch.0.join("lcov.info")).unwrap();
        let expected = "TN:\nSF:enemy.lua\nDA:1,2\nDA:3,2\nDA:4,6\nDA:5,0\nDA:7,6\nDA:8,2\n\
                      DA:10,2\nDA:11,0\nDA:12,2\nDA:14,";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("\nLF:10\nLH:8\nend_of_record\n"), "{text}");
    }
    let (code, _, err) = scratch.test(&[".", "--coverage=no/where.info"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("error: the coverage cannot be written to 'no/where.info': "), "{err}");
}

#[test]
fn coverage_works_without_sandbox() {
    let elsewhere =
        std::env::temp_dir().join(format!("engine-elsewhere-{}.lua", std::process::id()));
    std::fs::write(&elsewhere, "return 1\n").unwrap();
    let suite = format!(
        "package.path = package.path .. ';{}'\nrequire('elsewhere')\n{SUITE}",
        elsewhere.display()
    );
    let files = [("src/enemy.lua", ENEMY), ("spec/a_spec.lua", suite.as_str())];
    let scratch = Scratch::new("coverage-free", &files);
    let message = "coverage: 80.0 % of 10 lines in 1 file, written to ";
    for options in [&["--no-sandbox"][..], &["--no-sandbox", "-j", "2"]] {
        let (code, out, err) = scratch.test(&[&[".", "--coverage"], options].concat());
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains(message), "{out}");
        let text = std::fs::read_to_string(scratch.0.join("lcov.info")).unwrap();
        assert!(text.starts_with("TN:\nSF:src/enemy.lua\nDA:1,1\nDA:3,1\nDA:4,3\n"), "{text}");
    }
    std::fs::remove_file(elsewhere).unwrap();
}

#[test]
fn empty_coverage_gives_a_warning() {
    let scratch = Scratch::new("coverage-none", &[("a_test.lua", "it('x', function() end)")]);
    let (code, _, err) = scratch.test(&[".", "--coverage"]);
    let message = "warning: no line is covered: the tests loaded no file of the folder but tests\n";
    assert_eq!((code, err.as_str()), (0, message));
}

#[test]
fn endless_loop_is_stopped_with_coverage() {
    let suite = "it('spins', function() while true do end end)\nit('is fine', function() end)";
    let scratch = Scratch::new("coverage-loop", &[("a_test.lua", suite)]);
    let (code, out, _) = scratch.test(&[".", "--coverage=c.info", "--timeout", "0.2"]);
    assert_eq!((code, out.lines().last()), (1, Some("1 passed, 1 failed, 0 skipped")), "{out}");
}
