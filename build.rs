//! Build script of every package that links a program: string_ids.c takes the place of LuaJIT's
//! function that makes strings, where the linker can do that (src/script/build.rs).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if ["linux", "android", "freebsd"].contains(&system.as_str()) {
        println!("cargo::rustc-link-arg=-Wl,--wrap=lj_str_new");
    }
}
