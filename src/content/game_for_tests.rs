//! Small games in scratch folders, for the tests of this crate.

use crate::references::{ContentGraph, GraphOptions, ScriptArguments};
use engine_resource::resource_kind::{ResourceKind, ResourceKinds, SourceForm, kind_names as k};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

macro_rules! kind {
    ($name:expr, $extensions:expr) => {
        &ResourceKind {
            name: $name,
            doc: "A kind for tests",
            extensions: $extensions,
            version: 1,
            framed: false,
            reload: &[],
            compile: |compiling| Ok(compiling.bytes.clone()),
            validate: |_| Ok(()),
        }
    };
}

static KINDS: &[&ResourceKind] = &[
    kind!(k::LUA, &[("lua", SourceForm::Own)]),
    kind!(k::PACKAGE, &[("package", SourceForm::Own)]),
    kind!(k::CONFIG, &[("config", SourceForm::Own), ("json", SourceForm::Own)]),
    kind!(k::BINARY, &[("binary", SourceForm::Own), ("bin", SourceForm::Own)]),
    kind!(k::FONT, &[("font", SourceForm::Own), ("fnt", SourceForm::Raw)]),
    kind!(k::TEXTURE, &[("texture", SourceForm::Own), ("png", SourceForm::Raw)]),
    kind!(k::SHEET, &[("sheet", SourceForm::Own)]),
    kind!(k::MATERIAL, &[("material", SourceForm::Own)]),
    kind!(
        k::SOUND,
        &[("sound", SourceForm::Own), ("wav", SourceForm::Raw), ("ogg", SourceForm::Raw)]
    ),
    kind!(
        k::MODEL,
        &[
            ("model", SourceForm::Own),
            ("skeleton", SourceForm::Own),
            ("glb", SourceForm::Raw),
            ("gltf", SourceForm::Raw)
        ]
    ),
    kind!(k::ANIMATION, &[("animation", SourceForm::Own)]),
    kind!(k::STATE_MACHINE, &[("state_machine", SourceForm::Own)]),
    kind!(k::UNIT, &[("unit", SourceForm::Own)]),
    kind!(k::LEVEL, &[("level", SourceForm::Own)]),
    kind!(k::FLOW, &[("flow", SourceForm::Own)]),
    kind!(
        k::TILEMAP,
        &[("tilemap", SourceForm::Own), ("tmx", SourceForm::Raw), ("tmj", SourceForm::Raw)]
    ),
];

pub fn kinds() -> ResourceKinds {
    ResourceKinds(KINDS)
}

/// A game in a scratch folder, which is removed with this value.
pub struct TestGame {
    pub root: PathBuf,
}

impl TestGame {
    pub fn new(files: &[(&str, &str)]) -> TestGame {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("engine-{}-content-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        TestGame { root }
    }

    pub fn graph(&self) -> ContentGraph {
        self.graph_with(None)
    }

    pub fn graph_with(&self, cache: Option<&Path>) -> ContentGraph {
        let mut arguments = ScriptArguments::default();
        arguments.named.insert("World.spawn_unit".to_string(), vec![(1, vec![k::UNIT])]);
        arguments.by_kind.push("Application.data");
        let options =
            GraphOptions { kinds: kinds(), arguments: &arguments, is_external: &|_| false, cache };
        ContentGraph::read(&self.root, options).unwrap()
    }

    /// Returns all files with their contents, without those of the engine.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut open = vec![self.root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                let name = path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_string();
                match path.is_dir() {
                    true if name == ".engine" => {}
                    true => open.push(path),
                    false => found.push((name, fs::read_to_string(path).unwrap())),
                }
            }
        }
        found.sort();
        found
    }
}

impl Drop for TestGame {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
