//! Build script: adds the linker rule for programs that contain the VM, and passes the name of the
//! profile to the benchmarks.

#[path = "src/script/link_wrap.rs"]
mod link_wrap;

use std::env;
use std::path::Path;

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

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let profile = profile().unwrap_or_else(|| "unknown".to_string());
    println!("cargo::rustc-env=ENGINE_BUILD_PROFILE={profile}");
    link_wrap::replace_string_function();
}
