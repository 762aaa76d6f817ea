//! Tests of fuzz/run, the script of the long search, with a stub fuzzer that reports prepared
//! findings.

use super::targets::{remove_scratch, root, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A stub fuzzer: finds a crash that cannot be reproduced by the input alone, and slow inputs.
const PROGRAM: &str = r##"#!/usr/bin/env bash
if [[ -z ${FUZZ_TARGET-} ]]; then echo "use.kept 10"; echo "text.slow 10"; exit; fi
prefix=
for argument; do case $argument in -artifact_prefix=*) prefix=${argument#*=} ;; esac; done
if [[ -n $prefix ]]; then
  echo "#7 DONE cov: 5 ft: 9"
  case $FUZZ_TARGET in
    use.kept)
      for i in 1 2 3; do echo "$i" >"$FUZZ_LAST/$i"; done
      echo 3 >"${prefix}crash-0a"
      echo "Test unit written to somewhere"
      exit 77 ;;
    text.slow)
      [[ $* == *-report_slow_units=5* ]] || exit 0
      echo slow >"${prefix}slow-unit-0b"
      echo busy >"${prefix}slow-unit-0c" ;;
  esac
  exit 0
fi
files=()
for argument; do case $argument in -*) ;; *) files+=("$argument") ;; esac; done
if [[ $(cat "${files[@]}") == slow ]]; then echo "cpu 7000 ms"; else echo "cpu 40 ms"; fi
if ((${#files[@]} > 1)); then exit 77; fi
"##;

#[test]
fn long_search_counts_crashes_and_repeatedly_slow_inputs() {
    let folder = scratch("search");
    let program = folder.join("program");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let searched = Command::new("bash")
        .arg(root().join("fuzz/run"))
        .args(["--stable", "--no-build", "--minutes", "0"])
        .env("FUZZ_FOLDER", &folder)
        .env("FUZZ_PROGRAM", &program)
        .env_remove("FUZZ_LOG")
        .env_remove("FUZZ_TARGET")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&searched.stdout);
    let all = format!("{stdout}\n{}", String::from_utf8_lossy(&searched.stderr));
    assert_eq!(searched.status.code(), Some(1), "{all}");
    assert!(stdout.ends_with("2 faults found\n"), "{all}");
    assert!(stdout.contains("use.kept-crash-0a: it fails only after other cases"), "{all}");
    let mut names: Vec<String> = fs::read_dir(folder.join("findings"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let kept = ["text.slow-slow-unit-0b", "text.slow-slow-unit-0b.words"];
    let slow = ["text.slow-slow-unit-0c.slow"];
    let crash = ["use.kept-crash-0a", "use.kept-crash-0a.before", "use.kept-crash-0a.words"];
    assert_eq!(names, [&kept[..], &slow, &crash].concat(), "{all}");
    let before = fs::read_dir(folder.join("findings/use.kept-crash-0a.before")).unwrap().count();
    assert_eq!(before, 3, "{all}");
    remove_scratch();
}
