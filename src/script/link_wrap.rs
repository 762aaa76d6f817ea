//! Linker rules for the build scripts of packages that link programs: string_ids.c takes the place
//! of LuaJIT's function that makes strings, where the linker can do that, and the main thread has
//! as much stack on Windows as elsewhere. Every such build script includes this file.

/// Size of the main thread's stack on Windows, whose own default is 1 MiB.
const MAIN_STACK_BYTES: usize = 8 << 20;

/// Passes the rules to the linker. Returns true if it can replace the function.
pub fn add_linker_rules() -> bool {
    let fact = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let system = fact("OS");
    // Of the linkers for Windows, GNU's can, and Microsoft's cannot.
    let can_replace = ["linux", "android", "freebsd"].contains(&system.as_str())
        || system == "windows" && fact("ENV") == "gnu";
    if can_replace {
        println!("cargo::rustc-link-arg=-Wl,--wrap=lj_str_new");
    }
    if system == "windows" {
        // Scripts can then nest calls as deeply as on Linux, where the limit is the same.
        match fact("ENV").as_str() {
            "msvc" => println!("cargo::rustc-link-arg=/STACK:{MAIN_STACK_BYTES}"),
            _ => println!("cargo::rustc-link-arg=-Wl,--stack,{MAIN_STACK_BYTES}"),
        }
    }
    can_replace
}
