//! The kind `tilemap`: maps of Tiled and LDtk by their own files, or a `.tilemap` that names one.

use super::map::World;
use super::path::beside;
use super::{ldtk, tiled};
use crate::error;
use crate::foundation::sjson::{self, Tree};
use crate::foundation::{Error, suggest};
use crate::resource::data_kinds::write_tree;
use crate::resource::kind::{Compiling, Form, Kind};

/// Tile maps.
pub static TILEMAP: Kind = Kind {
    name: "tilemap",
    words: "Maps of tiles, from Tiled or LDtk",
    extensions: &[
        ("tilemap", Form::Own),
        ("tmj", Form::Raw),
        ("tmx", Form::Raw),
        ("ldtk", Form::Raw),
    ],
    version: 2,
    compile,
    validate: |bytes| World::read(bytes).map(drop),
};

const KEYS: [&str; 1] = ["map"];

fn compile(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let (path, bytes) = match compiling.form {
        Form::Own => {
            let path = named(compiling)?;
            let bytes = compiling.read(&path)?;
            (path, bytes)
        }
        Form::Raw => (compiling.path.clone(), compiling.bytes.clone()),
    };
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let mut tree = match ending {
        "tmj" | "tmx" => tiled::compile(compiling, &path, &bytes)?,
        "ldtk" => ldtk::compile(compiling, &path, &bytes)?,
        _ => return Err(error!("{path}: a map must be a .tmx, .tmj or .ldtk")),
    };
    if let Tree::Object(fields) = &mut tree {
        fields.push(("file".to_string(), Tree::String(path.clone())));
    }
    // What the game will read, read once here: what is wrong is said now.
    World::of(&tree).map_err(|fault| error!("{path}: {}", fault.message))?;
    Ok(write_tree(&tree))
}

/// The map that a `.tilemap` names.
fn named(compiling: &Compiling) -> Result<String, Error> {
    let path = &compiling.path;
    let document =
        sjson::parse_bytes(&compiling.bytes).map_err(|fault| Error::new(fault.in_file(path)))?;
    let root = document.root();
    for entry in root.entries().into_iter().flatten() {
        if !KEYS.contains(&entry.key) {
            let hint = suggest::hint(entry.key, KEYS);
            let line = entry.value.line();
            return Err(error!("{path}:{line}: unknown key '{}'{hint}", entry.key));
        }
    }
    let map = root.get("map").and_then(|map| map.as_str());
    let map = map.ok_or_else(|| {
        error!("{path}: it must name a map of Tiled or LDtk beside it: map = \"cave.tmx\"")
    })?;
    beside(path, map)
}
