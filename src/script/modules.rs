//! Finding the script of a module. The search order is: the compiled script, chosen by variants and
//! preferences; then the source file; then the engine's own scripts. The loading of modules in Lua
//! is part of the prelude (lua/boot/modules.lua).

use engine_resource::bundle::SharedBytes;
use engine_resource::project::{ScriptError, ScriptSource, check_name};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::{ResourceName, SourceName};
use engine_resource::store::DataSource;
use engine_runtime::{BuildMode, Engine};

/// Finds the script of a module.
pub fn find(engine: &mut Engine, module: &str) -> Result<ScriptSource, ScriptError> {
    if check_name(module).is_ok()
        && let Some(script) = compiled(engine, module)?
    {
        return Ok(script);
    }
    engine.game.project.script(module)
}

/// Returns a module's compiled script in a bundle, with its path; `None` if it is missing or
/// invalid, which [`find`] reports with a message.
pub fn find_in_bundle(engine: &mut Engine, module: &str) -> Option<(String, SharedBytes)> {
    if !matches!(engine.assets.store.data(), DataSource::Bundle(_)) || check_name(module).is_err() {
        return None;
    }
    let (name, path) = named(engine, module)?;
    let text = engine.assets.store.read(&name).ok()?;
    std::str::from_utf8(&text).ok()?;
    engine.assets.store.record_script_path(&name, &path);
    Some((path, text))
}

/// Returns the names of the scripts below a folder that have an active variant, in order. A bundle
/// has no names of resources, but the paths of its scripts.
pub fn scripts_in(engine: &Engine, folder: &str) -> Vec<String> {
    let (store, start) = (&engine.assets.store, format!("{folder}/"));
    let mut names: Vec<String> = match store.data() {
        DataSource::Bundle(bundle) => {
            let kinds = bundle.kinds();
            let paths = bundle.parts().iter().map(|part| &part.path);
            let inside = paths.filter(|path| path.starts_with(&start));
            let of = |path: &String| SourceName::of(path, &kinds).and_then(Result::ok);
            inside.filter_map(of).map(|found| found.resource.name).collect()
        }
        _ => store.names(kind_names::LUA).unwrap_or_default(),
    };
    names.retain(|name| {
        name.starts_with(&start) && store.has(&ResourceName::new(kind_names::LUA, name))
    });
    names.sort();
    names.dedup();
    names
}

/// Returns the resource name of a module's script, and its path.
fn named(engine: &Engine, module: &str) -> Option<(ResourceName, String)> {
    let path = module.replace('.', "/");
    engine.game.project.script_folders.iter().find_map(|folder| {
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        ["", "/init"].into_iter().find_map(|end| {
            let name = ResourceName::new(kind_names::LUA, &format!("{folder}{path}{end}"));
            engine.assets.store.path(&name).map(|path| (name, path))
        })
    })
}

/// Returns a module's compiled script.
fn compiled(engine: &mut Engine, module: &str) -> Result<Option<ScriptSource>, ScriptError> {
    let Some((name, chunk)) = named(engine, module) else { return Ok(None) };
    let text = engine.assets.store.read(&name).and_then(|bytes| {
        let text = String::from_utf8(bytes.to_vec());
        text.map_err(|_| engine_foundation::error!("{chunk} is not UTF-8"))
    });
    match text {
        Ok(text) => {
            engine.assets.store.record_script_path(&name, &chunk);
            Ok(Some(ScriptSource { chunk, text }))
        }
        // In development the source file exists as well.
        Err(_) if engine.game.build != BuildMode::Release => Ok(None),
        Err(error) => Err(ScriptError::Unusable(error.message)),
    }
}
