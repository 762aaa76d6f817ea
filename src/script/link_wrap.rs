//! Linker rule for the build scripts of packages that link programs: string_ids.c takes the place
//! of LuaJIT's function that makes strings, where the linker can do that. Every such build script
//! includes this file.

/// Tells the linker to replace the function, and returns true, if the target's linker can do that.
pub fn replace_string_function() -> bool {
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let can_replace = ["linux", "android", "freebsd"].contains(&system.as_str());
    if can_replace {
        println!("cargo::rustc-link-arg=-Wl,--wrap=lj_str_new");
    }
    can_replace
}
