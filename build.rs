//! Compiles the few lines of C that raise Lua errors; everything else is Rust and Lua.

fn main() {
    println!("cargo::rerun-if-changed=src/script/raise.c");
    cc::Build::new().file("src/script/raise.c").compile("engine_raise");
}
