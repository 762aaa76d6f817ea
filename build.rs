//! Compiles the few lines of C that raise Lua errors and that number strings, and the engine's own
//! Lua to LuaJIT's bytecode, so that no start of a program parses it; everything else is Rust and
//! Lua.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src/script/raise.c");
    cc::Build::new().file("src/script/raise.c").compile("engine_raise");

    println!("cargo::rerun-if-changed=src/script/strings.c");
    let mut strings = cc::Build::new();
    // Linkers of these systems can put a function in the place of another one.
    if ["linux", "android", "freebsd"].contains(&env::var("CARGO_CFG_TARGET_OS")?.as_str()) {
        strings.define("STRINGS_BY_TEXT", None);
        println!("cargo::rustc-link-arg=-Wl,--wrap=lj_str_new");
    }
    // It runs for every string of Lua: built as LuaJIT is, in every profile.
    strings.opt_level(2).file("src/script/strings.c").compile("engine_strings");

    println!("cargo::rerun-if-changed=lua");
    let out = PathBuf::from(env::var("OUT_DIR")?).join("lua");
    compile_folder(Path::new("lua"), &out, "")
}

/// Writes `NAME.ljbc` for each `NAME.lua` of a folder and the folders in it.
fn compile_folder(from: &Path, to: &Path, prefix: &str) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).ok_or("not a name")?;
        let name = format!("{prefix}{stem}");
        if path.is_dir() {
            compile_folder(&path, &to.join(stem), &format!("{name}/"))?;
        } else if path.extension().is_some_and(|extension| extension == "lua") {
            let text = fs::read(&path)?;
            let lua = mlua::Lua::new();
            // The chunk's name is what the VM gives to text, too (src/script/vm.rs).
            let chunk = lua.load(text).set_name(format!("=[engine] {name}"));
            // With the names of lines and locals: reports of errors show them.
            let bytecode = chunk.into_function()?.dump(false);
            fs::write(to.join(format!("{stem}.ljbc")), bytecode)?;
        }
    }
    Ok(())
}
