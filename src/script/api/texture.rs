//! `Texture`: what can be asked of pictures by their names; and for the prelude, what a sheet's
//! animations are (lua/sprite.lua).

use crate::engine::Engine;
use crate::foundation::Error;
use crate::resource::name::ResourceName;
use crate::script::arg::Text;
use crate::script::ret::Expected;
use crate::script::row::{Module, func, module};
use crate::script::value::Value;

const NAME_ARG: (&str, &str) = ("name", "a texture's name, or that of a sheet's frame");

pub static TEXTURE: Module = module(
    "Texture",
    "Pictures, by their names: `ship` is ship.png, and `sheets/hero/run_01` the frame run_01 of \
     the sheet sheets/hero.sheet. They load when they are first drawn; small ones share an atlas \
     by themselves.",
    r#"if Texture.exists("ship") then
  local width, height = Texture.size("ship")
  print(width, height)
end"#,
    &[
        func(
            "exists",
            exists,
            &[NAME_ARG],
            "Whether there is a texture, or a frame, of that name.",
        )
        .pure(),
        func(
            "size",
            size,
            &[NAME_ARG],
            "Width and height of a texture, in texels of its picture. Loads it.",
        )
        .pure(),
        func(
            "load",
            load,
            &[NAME_ARG],
            "Loads a texture now instead of when it is first drawn; all frames of a sheet at once.",
        ),
        func(
            "unload",
            unload,
            &[NAME_ARG],
            "Gives a texture's room back; all frames of a sheet at once. What still draws with it \
             shows a checkerboard until `Texture.load` loads it again. Does nothing for one that \
             is not loaded.",
        )
        .when_full(),
        func(
            "statistics",
            statistics,
            &[],
            "How many textures are loaded and the room they take: a table with `textures`, `slots` \
             (those with a texture of their own), `atlas_layers` and `bytes`.",
        )
        .pure(),
    ],
);

pub static CORE: Module = module(
    "core",
    "Sheets, for the prelude.",
    "assert(core == nil)",
    &[func("sheet_data", sheet_data, &[("name", "")], "A sheet's frames and tags.").pure()],
);

fn exists(engine: &mut Engine, name: Text) -> bool {
    let name = name.as_str();
    let texture = ResourceName::new("texture", name);
    engine.store.has(&texture) || engine.textures.find(&mut engine.store, name).is_ok()
}

fn found(engine: &mut Engine, name: Text) -> Result<crate::system::textures::TextureNumber, Error> {
    let found = engine.textures.find(&mut engine.store, name.as_str());
    found.map_err(|fault| crate::error!("argument #1 'name': {}", fault.message))
}

fn size(engine: &mut Engine, name: Text) -> Result<(f64, f64), Error> {
    let number = found(engine, name)?;
    let entry = engine.textures.entry(number);
    Ok((entry.width.into(), entry.height.into()))
}

fn load(engine: &mut Engine, name: Text) -> Result<(), Error> {
    found(engine, name).map(|_| ())
}

fn unload(engine: &mut Engine, name: Text) -> Result<(), Error> {
    if let Some(number) = engine.textures.known(name.as_str()) {
        engine.textures.unload(number);
        // Another texture may take its place in this very frame.
        engine.refresh_sources();
        return Ok(());
    }
    if exists(engine, name) {
        return Ok(());
    }
    found(engine, name).map(|_| ())
}

fn statistics(engine: &mut Engine) -> Value {
    let figures = engine.textures.figures();
    let number = |name: &str, value: f64| (name.to_string(), Value::Number(value));
    Value::Table(vec![
        number("atlas_layers", figures.atlas_layers.into()),
        number("bytes", figures.bytes as f64),
        number("slots", figures.slots.into()),
        number("textures", figures.textures.into()),
    ])
}

fn sheet_data(engine: &mut Engine, name: Text) -> Expected<Value> {
    let sheet = match engine.textures.sheet(&mut engine.store, name.as_str()) {
        Ok(sheet) => sheet,
        Err(fault) => return Expected(Err(fault.message)),
    };
    let field = |name: &str, value: Value| (name.to_string(), value);
    let frames = sheet.frames.iter().map(|frame| {
        Value::Table(vec![
            field("name", Value::Text(format!("{}/{}", name.as_str(), frame.name))),
            field("seconds", Value::Number(frame.milliseconds / 1000.0)),
        ])
    });
    let tags = sheet.tags.iter().map(|tag| {
        Value::Table(vec![
            field("direction", Value::Text(tag.direction.name().to_string())),
            field("from", Value::Number(f64::from(tag.from) + 1.0)),
            field("name", Value::Text(tag.name.clone())),
            field("repeats", Value::Number(tag.repeat.into())),
            field("to", Value::Number(f64::from(tag.to) + 1.0)),
        ])
    });
    Expected(Ok(Value::Table(vec![
        field("frames", Value::List(frames.collect())),
        field("tags", Value::List(tags.collect())),
    ])))
}
