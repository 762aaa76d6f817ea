//! Finding the script of a module: the compiled one that serves, by variants and preferences, then
//! the file itself, then the engine's own. What a module is to Lua is the prelude's
//! (lua/modules.lua).

use crate::engine::{Build, Engine};
use crate::resource::bundle::Bytes;
use crate::resource::name::ResourceName;
use crate::resource::project::{NoScript, Script, check_name};
use crate::resource::store::Data;

/// Finds the script of a module.
pub fn find(engine: &mut Engine, module: &str) -> Result<Script, NoScript> {
    if check_name(module).is_ok()
        && let Some(script) = compiled(engine, module)?
    {
        return Ok(script);
    }
    engine.project.script(module)
}

/// A module's compiled script in a bundle, with its path; none where it is not there as it should
/// be, which [`find`] tells in words.
pub fn find_in_bundle(engine: &mut Engine, module: &str) -> Option<(String, Bytes)> {
    if !matches!(engine.store.data(), Data::Bundle(_)) || check_name(module).is_err() {
        return None;
    }
    let (name, path) = named(engine, module)?;
    let text = engine.store.read(&name).ok()?;
    std::str::from_utf8(&text).ok()?;
    engine.store.hand_out(&name, &path);
    Some((path, text))
}

/// The resource that a module's script is, and its path.
fn named(engine: &Engine, module: &str) -> Option<(ResourceName, String)> {
    let path = module.replace('.', "/");
    engine.project.script_folders.iter().find_map(|folder| {
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        ["", "/init"].into_iter().find_map(|end| {
            let name = ResourceName::new("lua", &format!("{folder}{path}{end}"));
            engine.store.path(&name).map(|path| (name, path))
        })
    })
}

/// A module's compiled script.
fn compiled(engine: &mut Engine, module: &str) -> Result<Option<Script>, NoScript> {
    let Some((name, chunk)) = named(engine, module) else { return Ok(None) };
    let text = engine.store.read(&name).and_then(|bytes| {
        let text = String::from_utf8(bytes.to_vec());
        text.map_err(|_| crate::error!("{chunk} is not UTF-8"))
    });
    match text {
        Ok(text) => {
            engine.store.hand_out(&name, &chunk);
            Ok(Some(Script { chunk, text }))
        }
        // In development the file itself is there, too.
        Err(_) if engine.build != Build::Release => Ok(None),
        Err(error) => Err(NoScript::Unusable(error.message)),
    }
}
