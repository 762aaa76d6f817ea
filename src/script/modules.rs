//! Finding the script of a module: the compiled one that serves, by variants and preferences, then
//! the file itself, then the engine's own. What a module is to Lua is the prelude's
//! (lua/modules.lua).

use crate::engine::{Build, Engine};
use crate::resource::name::ResourceName;
use crate::resource::project::{NoScript, Script, check_name};

/// Finds the script of a module.
pub fn find(engine: &mut Engine, module: &str) -> Result<Script, NoScript> {
    if check_name(module).is_ok()
        && let Some(script) = compiled(engine, module)?
    {
        return Ok(script);
    }
    engine.project.script(module)
}

/// A module's compiled script.
fn compiled(engine: &mut Engine, module: &str) -> Result<Option<Script>, NoScript> {
    let path = module.replace('.', "/");
    for folder in engine.project.script_folders.clone() {
        let folder = if folder.is_empty() { folder } else { folder + "/" };
        for end in ["", "/init"] {
            let name = ResourceName::new("lua", &format!("{folder}{path}{end}"));
            let Some(chunk) = engine.store.path(&name) else { continue };
            let text = engine.store.read(&name).and_then(|bytes| {
                let text = String::from_utf8(bytes.to_vec());
                text.map_err(|_| crate::error!("{chunk} is not UTF-8"))
            });
            return match text {
                Ok(text) => {
                    engine.store.hand_out(&name, &chunk);
                    Ok(Some(Script { chunk, text }))
                }
                // In development the file itself is there, too.
                Err(_) if engine.build != Build::Release => Ok(None),
                Err(error) => Err(NoScript::Unusable(error.message)),
            };
        }
    }
    Ok(None)
}
