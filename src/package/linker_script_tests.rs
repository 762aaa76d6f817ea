//! Tests of packaging/old_glibc_linker.sh with a program in zig's place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes the lines of a first link, and a program with the name of the link that made it.
const ZIG: &str = r#"#!/usr/bin/env bash
set -eu
out=
previous=
for word in "$@"; do
  if [[ $previous == -o ]]; then out=$word; fi
  previous=$word
done
if [[ $1 == cc ]]; then
  echo first > "$out"
  echo 'clang version 19.1.0' >&2
  echo "ld.lld: warning: a symbol is there twice" >&2
  echo ">>> defined in one.o" >&2
  if [[ $MODE == failing ]]; then exit 1; fi
  if [[ $MODE == bare ]]; then echo "ld.lld $FIRST" >&2; fi
  if [[ $MODE != silent && $MODE != bare ]]; then echo "ld.lld -o $out $FIRST" >&2; fi
  exit 0
fi
for word in "${@:2}"; do
  case $word in
    --bp-compression-sort=*)
      if [[ $MODE == old ]]; then
        echo "ld.lld: error: unknown argument '$word'" >&2
        exit 1
      fi ;;
    -* | "$out") ;;
    *) if [[ ! -f $word ]]; then echo "ld.lld: error: cannot open $word" >&2; exit 1; fi ;;
  esac
done
echo second > "$out"
"#;

struct Links(PathBuf);

impl Links {
    fn new() -> Links {
        let name = format!("engine_linker_script_{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("a folder")).unwrap();
        let zig = folder.join("zig");
        fs::write(&zig, ZIG).unwrap();
        fs::set_permissions(&zig, fs::Permissions::from_mode(0o755)).unwrap();
        // The first part of a path with a space exists.
        for object in ["one.o", "a", "a folder/one.o"] {
            fs::write(folder.join(object), "").unwrap();
        }
        Links(folder)
    }

    /// Links, and returns the exit code, the program and the messages.
    fn link(&self, mode: &str, out: &str, object: &str, strip: &[&str]) -> (i32, String, String) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (out, object) = (self.0.join(out), self.0.join(object));
        let mut command = Command::new("bash");
        command.arg(root.join("packaging/old_glibc_linker.sh"));
        command.arg(&object).arg("-o").arg(&out).args(strip);
        command.env("ZIG", self.0.join("zig")).env("OLD_GLIBC", "2.28").env("MODE", mode);
        let found = command.env("FIRST", &object).output().expect("bash runs");
        let program = fs::read_to_string(&out).unwrap_or_default();
        let left = out.with_file_name(format!("{}.small", out.file_name().unwrap().display()));
        assert!(!left.exists(), "{mode}: the second program is left");
        let messages = String::from_utf8_lossy(&found.stderr).into_owned();
        (found.status.code().unwrap_or(-1), program.trim().to_string(), messages)
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_second_link_that_is_not_possible_leaves_the_first_program() {
    let links = Links::new();
    let strip = ["-Wl,--strip-all"];
    let warnings = "ld.lld: warning: a symbol is there twice\n>>> defined in one.o\n";
    let first = (0, "first".to_string());
    let (code, program, messages) = links.link("new", "out", "one.o", &strip);
    assert_eq!((code, &*program, &*messages), (0, "second", warnings));
    for (mode, out, object, reason) in [
        ("old", "out", "one.o", "failed: ld.lld: error: unknown argument '--bp-compression-sort"),
        ("silent", "out", "one.o", "zig does not say how it links\n"),
        ("bare", "out", "one.o", "the linker's command has no output\n"),
        ("new", "out", "a folder/one.o", "the second link failed: ld.lld: error: cannot open "),
        ("new", "a folder/out", "one.o", "the second link failed: ld.lld: error: cannot open "),
    ] {
        let (code, program, messages) = links.link(mode, out, object, &strip);
        assert_eq!((code, program), first, "{mode}: {messages}");
        let rest = messages.strip_prefix(warnings).unwrap_or_else(|| panic!("{messages}"));
        assert!(rest.starts_with("note: the program is larger than it could be: "), "{messages}");
        assert!(rest.contains(reason) && rest.lines().count() == 1, "{messages}");
    }
    let (code, _, messages) = links.link("failing", "out", "one.o", &strip);
    assert_eq!(code, 1);
    assert!(messages.contains("clang version") && messages.contains(warnings), "{messages}");
    let (code, program, _) = links.link("new", "out", "one.o", &[]);
    assert_eq!((code, &*program), (0, "first"), "a program with symbols is linked once");
}
