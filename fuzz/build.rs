//! Has the linker put the engine's function in the place of LuaJIT's, as the engine's own build.rs.

fn main() {
    println!("cargo::rustc-link-arg=-Wl,--wrap=lj_str_new");
}
