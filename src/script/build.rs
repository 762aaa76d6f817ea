//! Compiles the small C sources that raise Lua errors and assign string ids, and compiles the
//! engine's own Lua to LuaJIT bytecode. The program then starts without parsing Lua. All other code
//! is Rust and Lua. Also writes the table of the porting layer's names.

mod extra_arguments;
mod layer_names;
mod link_wrap;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=raise.c");
    cc::Build::new().file("raise.c").compile("engine_raise");

    println!("cargo::rerun-if-changed=string_ids.c");
    let mut strings = cc::Build::new();
    if link_wrap::add_linker_rules() {
        strings.define("STRINGS_BY_TEXT", None);
    }
    // This function runs for every Lua string. It is optimized as LuaJIT is, in every build
    // profile.
    strings.opt_level(2).file("string_ids.c").compile("engine_strings");

    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=../../core");
    let scripts = scripts_of_layer(Path::new("../../core"))?;
    fs::write(out.join("porting_layer.rs"), layer_names::table(&scripts)?)?;

    println!("cargo::rerun-if-changed=../../lua");
    compile_folder(Path::new("../../lua"), &out.join("lua"), "")
}

/// Returns the names and texts of the porting layer's scripts.
fn scripts_of_layer(folder: &Path) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut scripts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).ok_or("not a name")?;
        if stem.starts_with(layer_names::LAYER) {
            scripts.push((stem.to_string(), fs::read_to_string(&path)?));
        }
    }
    Ok(scripts)
}

/// Writes `NAME.ljbc` for each `NAME.lua` in a folder and its subfolders.
fn compile_folder(from: &Path, to: &Path, prefix: &str) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).ok_or("not a name")?;
        let name = format!("{prefix}{stem}");
        if path.is_dir() {
            compile_folder(&path, &to.join(stem), &format!("{name}/"))?;
        } else if path.extension().is_some_and(|extension| extension == "lua") {
            let text = extra_arguments::with_checks(&name, &fs::read_to_string(&path)?);
            let lua = mlua::Lua::new();
            // The VM gives the same chunk name to source text (src/script/vm.rs).
            let chunk = lua.load(text).set_name(format!("=[engine] {name}"));
            // Line numbers and names of locals are kept because error reports show them.
            let bytecode = chunk.into_function()?.dump(false);
            fs::write(to.join(format!("{stem}.ljbc")), bytecode)?;
        }
    }
    Ok(())
}
