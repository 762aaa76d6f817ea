//! Resource kind `tilemap`: Tiled and LDtk map files, or a `.tilemap` file that names one.

use super::data::MapFile;
use super::relative_path::resolve;
use super::{ldtk, tiled};
use engine_foundation::error;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Error, suggest};
use engine_resource::data_resources::write_tree;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{CompileContext, ResourceKind, SourceForm, compiler};

/// Resource kind of tile maps.
pub static TILEMAP: ResourceKind = ResourceKind {
    name: "tilemap",
    doc: "Tile maps from Tiled or LDtk",
    extensions: &[
        ("tilemap", SourceForm::Own),
        ("tmj", SourceForm::Raw),
        ("tmx", SourceForm::Raw),
        ("ldtk", SourceForm::Raw),
    ],
    version: 6,
    framed: false,
    reload: &[ReloadStep::Tilemaps, ReloadStep::UnitResources],
    compile: compiler(compile),
    validate: |bytes| MapFile::read(bytes).map(drop),
};

const KEYS: [&str; 1] = ["map"];

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let (path, bytes) = match compiling.form {
        SourceForm::Own => {
            let path = named(compiling)?;
            let bytes = compiling.read(&path)?;
            (path, bytes)
        }
        SourceForm::Raw => (compiling.path.clone(), compiling.bytes.clone()),
    };
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let mut tree = match ending {
        "tmj" | "tmx" => tiled::compile(compiling, &path, &bytes)?,
        "ldtk" => ldtk::compile(compiling, &path, &bytes)?,
        _ => return Err(error!("{path}: a map must be a .tmx, .tmj or .ldtk")),
    };
    if let SjsonTree::Object(fields) = &mut tree {
        fields.push(("file".to_string(), SjsonTree::String(path.clone())));
    }
    // Reads the tree as the game will, so that errors are reported at compile time.
    MapFile::of(&tree).map_err(|fault| error!("{path}: {}", fault.message))?;
    Ok(write_tree(&tree))
}

/// Returns the path of the map that a `.tilemap` file names.
fn named(compiling: &CompileContext) -> Result<String, Error> {
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
        error!("{path}: it must name a map of Tiled or LDtk next to it: map = \"cave.tmx\"")
    })?;
    resolve(path, map)
}
