//! Lets the linker replace LuaJIT's function with the engine's, as the engine's own build.rs does.

fn main() {
    println!("cargo::rustc-link-arg=-Wl,--wrap=lj_str_new");
}
