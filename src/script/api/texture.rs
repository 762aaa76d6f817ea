//! The Lua module `Texture`: queries of textures by name and, for the prelude, the animations of a
//! sheet (lua/gui/sprite.lua).

use crate::api_row::{ModuleRows, NodeFlag, func, module};
use crate::argument::TextArgument;
use crate::return_value::{ExpectedResult, WholeNumber};
use crate::value::ScriptValue;
use engine_foundation::Error;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_runtime::Engine;

const NAME_ARG: (&str, &str) = ("name", "the name of a texture, or of a sheet's frame");

pub static TEXTURE: ModuleRows = module(
    "Texture",
    "Pictures, by their names: `ship` is ship.png, and `sheets/hero/run_01` is the frame run_01 of \
     the sheet sheets/hero.sheet. Textures load when they are first drawn. Small ones share an \
     atlas automatically.",
    r#"if Texture.exists("ship") then
  local width, height = Texture.size("ship")
  print(width, height)
end"#,
    &[
        func(
            "exists",
            exists,
            &[NAME_ARG],
            "Returns true if there is a texture or a frame with that name.",
        )
        .pure(),
        func(
            "size",
            size,
            &[NAME_ARG],
            "Returns the width and height of a texture, in texels of its picture. Loads the \
             texture.",
        )
        .returns(&["width in texels", "height in texels"])
        .pure(),
        func(
            "load",
            load,
            &[NAME_ARG],
            "Loads a texture now instead of when it is first drawn. All frames of a sheet are \
             loaded together.",
        ),
        func(
            "unload",
            unload,
            &[NAME_ARG],
            "Frees the memory of a texture. All frames of a sheet are unloaded together. Objects \
             that still draw with it show a checkerboard until `Texture.load` loads it again. Does \
             nothing if it is not loaded.",
        )
        .when_full(),
        func(
            "statistics",
            statistics,
            &[],
            "Returns the number of loaded textures and the memory that they use: a table with \
             `textures`, `slots` (those outside the atlas), `atlas_layers` and `bytes`.",
        )
        .pure()
        .node(NodeFlag::Hidden),
    ],
);

pub static CORE: ModuleRows = module(
    "core",
    "Sheets, for the prelude.",
    "assert(core == nil)",
    &[func("sheet_data", sheet_data, &[("name", "")], "Returns a sheet's frames and tags.").pure()],
);

fn exists(engine: &mut Engine, name: TextArgument) -> bool {
    let name = name.as_str();
    let texture = ResourceName::new(kind_names::TEXTURE, name);
    engine.assets.store.has(&texture)
        || engine.assets.textures.find(&mut engine.assets.store, name).is_ok()
}

fn find_texture(
    engine: &mut Engine,
    name: TextArgument,
) -> Result<engine_textures::TextureNumber, Error> {
    let found = engine.assets.textures.find(&mut engine.assets.store, name.as_str());
    found.map_err(|error| engine_foundation::error!("argument #1 'name': {}", error.message))
}

fn size(engine: &mut Engine, name: TextArgument) -> Result<(WholeNumber, WholeNumber), Error> {
    let number = find_texture(engine, name)?;
    let entry = engine.assets.textures.entry(number);
    Ok((WholeNumber(entry.width.into()), WholeNumber(entry.height.into())))
}

fn load(engine: &mut Engine, name: TextArgument) -> Result<(), Error> {
    find_texture(engine, name).map(|_| ())
}

fn unload(engine: &mut Engine, name: TextArgument) -> Result<(), Error> {
    if let Some(number) = engine.assets.textures.get_loaded(name.as_str()) {
        engine.assets.textures.unload(number);
        // Another texture may use the freed slot in the same frame.
        engine.drawing.refresh_sources(&mut engine.assets);
        return Ok(());
    }
    if exists(engine, name) {
        return Ok(());
    }
    find_texture(engine, name).map(|_| ())
}

fn statistics(engine: &mut Engine) -> ScriptValue {
    let counts = engine.assets.textures.statistics();
    let number = |name: &str, value: f64| (name.to_string(), ScriptValue::Number(value));
    ScriptValue::Table(vec![
        number("atlas_layers", counts.atlas_layers.into()),
        number("bytes", counts.bytes as f64),
        number("slots", counts.slots.into()),
        number("textures", counts.textures.into()),
    ])
}

fn sheet_data(engine: &mut Engine, name: TextArgument) -> ExpectedResult<ScriptValue> {
    let sheet = match engine.assets.textures.sheet(&mut engine.assets.store, name.as_str()) {
        Ok(sheet) => sheet,
        Err(error) => return ExpectedResult(Err(error.message)),
    };
    let field = |name: &str, value: ScriptValue| (name.to_string(), value);
    let frames = sheet.frames.iter().map(|frame| {
        ScriptValue::Table(vec![
            field("name", ScriptValue::Text(format!("{}/{}", name.as_str(), frame.name))),
            field("seconds", ScriptValue::Number(frame.milliseconds / 1000.0)),
        ])
    });
    let tags = sheet.tags.iter().map(|tag| {
        ScriptValue::Table(vec![
            field("direction", ScriptValue::Text(tag.direction.name().to_string())),
            field("from", ScriptValue::Number(f64::from(tag.from) + 1.0)),
            field("name", ScriptValue::Text(tag.name.clone())),
            field("repeats", ScriptValue::Number(tag.repeat.into())),
            field("to", ScriptValue::Number(f64::from(tag.to) + 1.0)),
        ])
    });
    ExpectedResult(Ok(ScriptValue::Table(vec![
        field("frames", ScriptValue::List(frames.collect())),
        field("tags", ScriptValue::List(tags.collect())),
    ])))
}
