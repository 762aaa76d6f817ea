//! Build script: adds the linker rules for programs that contain the VM, and passes on what is
//! built: the profile to the benchmarks, and for `engine --version --verbose` the target and the
//! commit.

#[path = "src/script/link_wrap.rs"]
mod link_wrap;

use std::env;
use std::path::Path;
use std::process::Command;

/// Returns the name of the profile that is being built. Cargo names only its folder, which the
/// profiles `release` and `bench` share; of these two, only `bench` has debug information.
fn profile() -> Option<String> {
    let out = env::var("OUT_DIR").ok()?;
    let build = Path::new(&out).ancestors().find(|path| path.ends_with("build"))?;
    let folder = build.parent()?.file_name()?.to_str()?;
    let has_debug_info = env::var("DEBUG").is_ok_and(|debug| !["false", "0"].contains(&&*debug));
    let name = match folder {
        "debug" => "dev",
        "release" if has_debug_info => "bench",
        other => other,
    };
    Some(name.to_string())
}

/// Returns the output of git in this folder, without the line break at its end.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim().to_string())
}

/// Returns the commit that is built, with a note if files differ from it. Empty if it is unknown:
/// the sources are no clone, or the profile is for edits, which would be linked anew after each
/// commit.
fn commit(profile: &str) -> String {
    println!("cargo::rerun-if-env-changed=ENGINE_COMMIT");
    if let Ok(commit) = env::var("ENGINE_COMMIT") {
        return commit;
    }
    if profile == "dev" || !Path::new(".git").exists() {
        return String::new();
    }
    // A commit and a checkout change this file.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_default();
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    match changed.is_some_and(|files| !files.is_empty()) {
        true => format!("{commit}, with changes"),
        false => commit,
    }
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let profile = profile().unwrap_or_else(|| "unknown".to_string());
    println!("cargo::rustc-env=ENGINE_BUILD_PROFILE={profile}");
    println!("cargo::rustc-env=ENGINE_BUILD_COMMIT={}", commit(&profile));
    println!("cargo::rustc-env=ENGINE_BUILD_TARGET={}", env::var("TARGET").unwrap_or_default());
    link_wrap::add_linker_rules();
}
