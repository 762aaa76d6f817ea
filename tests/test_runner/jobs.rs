//! Tests of runs in several processes: they have the same results as in one process, and a dying
//! process loses no results of others.

use super::Scratch;
use std::process::Command;

fn many_suites() -> Scratch {
    let mut files = Vec::new();
    for i in 0..20 {
        let suite = format!(
            "describe('file {i}', function()\n  it('adds', function()\n    print('printed {i}')\n    \
             Script.warn('warned')\n    test.frames({})\n    \
             assert.equals(Math.random(), Math.random() + {})\n  end)\n  \
             it('passes', function() end)\n  pending('later')\nend)\n",
            (20 - i) * 50,
            i % 3,
        );
        files.push((format!("f{i:02}_test.lua"), suite));
    }
    files.push(("broken_test.lua".into(), "x x".into()));
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    Scratch::new("many", &files)
}

/// Removes the times from an output, because they differ between runs.
fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rfind(", ").filter(|_| line.ends_with(" s")) {
        Some(at) => line[..at].to_string(),
        None => line.split(" in 0.").next().unwrap_or(line).to_string(),
    });
    lines.collect::<Vec<String>>().join("\n")
}

#[test]
fn results_do_not_depend_on_process_count() {
    let scratch = many_suites();
    for form in ["plain", "json", "github"] {
        let run = |jobs: &str| {
            let (code, out, err) = scratch.test(&[".", "-j", jobs, "-o", form]);
            let cut = |line: &str| line.split("\"seconds\":").next().unwrap().to_string();
            let out = without_times(&out).lines().map(cut).collect::<Vec<String>>().join("\n");
            (code, out, without_times(&err))
        };
        let one = run("1");
        assert_eq!(one.0, 1);
        assert!(form != "plain" || one.1.contains("printed 7\n"), "{}", one.1);
        assert!(one.2.matches("warned").count() == 20, "{}", one.2);
        for jobs in ["2", "8"] {
            assert_eq!(run(jobs), one, "{jobs} jobs, {form}");
        }
    }
    let shuffled = |jobs: &str| {
        let arguments = [".", "-j", jobs, "--shuffle", "--seed", "5", "--fail-fast"];
        without_times(&scratch.test(&arguments).1)
    };
    assert_eq!(shuffled("1"), shuffled("8"));
    assert!(shuffled("2").contains("1 failed"));
    let listed = |jobs: &str| scratch.test(&[".", "-j", jobs, "--list"]).1;
    assert_eq!(listed("1"), listed("3"));
}

const CRASH: &str = "it('passes', function() end)\nit('crashes', function()\n  \
    print('last words')\n  local ffi = require('ffi')\n  ffi.cast('int *', 0)[0] = 1\nend)\n";

#[test]
fn crashed_worker_fails_only_its_file() {
    let fine = "it('is fine', function() end)";
    let files =
        [("a_test.lua", fine), ("b_test.lua", CRASH), ("c_test.lua", fine), ("d_test.lua", fine)];
    let scratch = Scratch::new("dies", &files);
    let (code, out, err) = scratch.test(&[".", "--no-sandbox", "-j", "2"]);
    assert_eq!(code, 1, "{out}{err}");
    assert_eq!(out.lines().last(), Some("4 passed, 1 failed, 0 skipped"), "{out}");
    assert!(out.contains("last words\n"), "{out}");
    let message = "FAILED b_test.lua\n  b_test.lua\n  the process that ran this file ended before its tests did (signal: ";
    assert!(out.contains(message), "{out}");
}

#[test]
fn hung_worker_fails_only_its_file() {
    let stuck = "it('hangs in C', function() (('a'):rep(99)):find(('a*'):rep(40) .. 'b') end)";
    let fine = "it('is fine', function() end)";
    let scratch = Scratch::new("stuck-job", &[("a_test.lua", stuck), ("b_test.lua", fine)]);
    let (code, out, _) = scratch.test(&[".", "--no-sandbox", "--timeout", "0.1", "-j", "2"]);
    assert_eq!(code, 1);
    assert_eq!(out.lines().last(), Some("1 passed, 1 failed, 0 skipped"), "{out}");
    assert!(out.contains("a_test.lua: a test ran for more than 0.1 seconds of CPU time"), "{out}");
    assert!(!out.contains("did not run"), "{out}");
}

#[test]
fn crash_in_single_process_keeps_earlier_results() {
    let hangs = "it('passes', function() end)\n\
                 it('hangs in C', function() (('a'):rep(99)):find(('a*'):rep(40) .. 'b') end)";
    for (suite, message) in [
        (CRASH, "the process that ran this file ended before its tests did (signal: "),
        (
            hangs,
            "a_test.lua: a test ran for more than 0.1 seconds of CPU time and cannot be stopped",
        ),
    ] {
        let scratch = Scratch::new("lone", &[("a_test.lua", suite)]);
        for options in [&["-j", "1"][..], &[], &["-o", "junit"]] {
            let start = [".", "--no-sandbox", "--timeout", "0.1"];
            let (code, out, err) = scratch.test(&[&start, options].concat());
            assert_eq!(code, 1, "{out}{err}");
            assert!(out.contains(message), "no '{message}' in:\n{out}{err}");
            match options.contains(&"junit") {
                true => assert!(
                    out.contains("name=\"passes\"") && out.contains("</testsuites>"),
                    "{out}"
                ),
                false => assert_eq!(out.lines().last(), Some("1 passed, 1 failed, 0 skipped")),
            }
        }
    }
}

#[test]
fn direct_and_engine_output_keep_their_order() {
    let suite = "it('prints', function() io.write('one\\n') print('two') io.write('three\\n') end)";
    let scratch = Scratch::new("io", &[("a_test.lua", suite), ("b_test.lua", suite)]);
    for jobs in ["1", "2"] {
        let (_, out, _) = scratch.test(&[".", "--no-sandbox", "-j", jobs]);
        let lines: Vec<&str> = out.lines().filter(|line| !line.starts_with("ok")).collect();
        assert_eq!(lines[..6], ["one", "two", "three", "one", "two", "three"], "{jobs}: {out}");
    }
}

#[test]
fn test_cannot_read_the_runners_stdin() {
    let suite = "it('reads', function() assert.equals('', io.read('*a')) end)";
    let files = ["a_test.lua", "b_test.lua", "c_test.lua", "d_test.lua"].map(|name| (name, suite));
    let scratch = Scratch::new("stdin", &files);
    let (code, out, _) = scratch.test(&[".", "--no-sandbox", "-j", "2"]);
    assert_eq!((code, out.lines().last()), (0, Some("4 passed, 0 failed, 0 skipped")), "{out}");
}

#[test]
fn worker_flag_is_refused_on_the_command_line() {
    let scratch = Scratch::new("worker", &[("a_test.lua", "it('x', function() end)")]);
    let output = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["test", ".", "--worker"])
        .current_dir(&scratch.0)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(err, "error: --worker is for `engine test` itself: use --jobs\n");
    for jobs in ["0", "257", "x"] {
        let (code, _, err) = scratch.test(&[".", "--jobs", jobs]);
        assert_eq!(code, 2);
        assert!(err.contains("must be a number of processes, from 1 to 256"), "{err}");
    }
}

/// Compiled code creates no unused strings, and the set of compiled code differs between files.
#[cfg(target_os = "linux")]
#[test]
fn concatenated_key_order_is_the_same_everywhere() {
    let suite = "local functions = {}\nfor n = 1, 60 do\n  functions[n] = load(\"return \
                 function(i) local unused = 'tmp\" .. n .. \"' .. i; local s = 0 for k = 1, 3 do \
                 s = s + k end return s end\")()\nend\nit('a', function()\n  local enemies, order = {}, {}\n  \
                 for round = 1, 40 do\n    for n = 1, 60 do functions[n](round) end\n    \
                 enemies['enemy' .. round] = round\n  end\n  for _, round in pairs(enemies) do \
                 order[#order + 1] = round end\n  print('order', unpack(order))\nend)\n";
    let names: Vec<String> = (0..12).map(|i| format!("a{}_test.lua", "b".repeat(i))).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), suite)).collect();
    let scratch = Scratch::new("order", &files);
    let mut orders = std::collections::BTreeSet::new();
    for options in [&["-j", "1"][..], &["-j", "2"], &["-j", "8"], &["-j", "1", "--coverage"]] {
        let (code, out, err) = scratch.test(&[&["."], options].concat());
        assert_eq!(code, 0, "{out}{err}");
        let order = out.lines().filter(|line| line.starts_with("order"));
        let order: Vec<String> = order.map(str::to_string).collect();
        assert_eq!(order.len(), 12, "{out}");
        orders.extend(order);
    }
    assert_eq!(orders.len(), 1, "{orders:#?}");
}
