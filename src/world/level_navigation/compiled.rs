//! The resource kind `navigation_mesh`: the navigation meshes of a level, baked when the level is
//! compiled. Each has a hash of what it was baked from. A level that is spawned takes those whose
//! hash is that of its own actors and files, and bakes the others.

use super::edits::EditReport;
use super::geometry::{LevelGeometry, level_geometry};
use super::{ClassBake, LevelBake, merged_areas};
use crate::navigation_file::AGENT_CLASSES_MAX;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::memory::limit::is_shortage;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Vec3, error};
use engine_navigation::bake::TileMesh;
use engine_navigation::baked_tiles::{BAKED_TILES_VERSION, read_tiles, write_tiles};
use engine_navigation::jumps::{JumpSettings, LINK_NAME_MAX, LINKS_MAX};
use engine_navigation::volumes::VOLUMES_MAX;
use engine_resource::panic_report::contain;
use engine_resource::resource_kind::{CompileContext, ResourceKind, compiler, kind_names};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Version of the data around the tiles, and of the search for the links that are in it: a search
/// that finds other links needs another version, too.
const FORMAT_VERSION: u32 = 1;
/// Kinds of edits, by the number in the data.
const EDIT_KINDS: [&str; 5] = ["volume", "blocker", "link", "jumps", "seed"];
/// Maximum number of edits of a class.
const EDITS_MAX: usize = 1 << 20;

/// The resource kind of the navigation meshes of levels.
pub static NAVIGATION_MESH: ResourceKind = ResourceKind {
    name: kind_names::NAVIGATION_MESH,
    doc: "The navigation meshes of a level, baked when it is compiled",
    extensions: &[],
    version: BAKED_TILES_VERSION << 8 | FORMAT_VERSION,
    framed: false,
    // The units, models and files from which they are baked have their own steps.
    reload: &[],
    compile: compiler(compile),
    validate: |bytes| CompiledMeshes::read_data(bytes).map(drop),
};

/// Mesh of a class of characters, as it was baked.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledClass {
    /// Name of the class.
    pub name: String,
    /// Hash of what it was baked from.
    pub inputs: u64,
    /// Number of changes of the mesh while it was baked, which is part of its state.
    pub version: u32,
    pub tiles: Vec<TileMesh>,
    /// Links that were found by the rules of the files.
    pub found_links: Vec<JumpSettings>,
    pub edits: Vec<EditReport>,
}

/// The navigation meshes of a level.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CompiledMeshes {
    pub classes: Vec<CompiledClass>,
}

impl CompiledClass {
    /// Returns what is kept of a bake.
    pub fn of(name: &str, inputs: u64, baked: ClassBake) -> CompiledClass {
        let ClassBake { mesh, edits, found_links, .. } = baked;
        let (name, version) = (name.to_string(), mesh.version());
        let tiles = mesh.baked_tiles().to_vec();
        CompiledClass { name, inputs, version, tiles, found_links, edits }
    }

    fn write(&self, writer: &mut BlobWriter) {
        writer.text(&self.name);
        writer.u64(self.inputs);
        writer.u32(self.version);
        write_tiles(writer, &self.tiles);
        writer.list(&self.found_links, write_link);
        writer.list(&self.edits, |writer, edit| {
            let kind = EDIT_KINDS.iter().position(|kind| *kind == edit.kind);
            writer.u8(kind.expect("all kinds are in the list") as u8);
            for text in [&edit.name, &edit.level, &edit.message] {
                writer.text(text);
            }
            writer.u8(u8::from(edit.has_effect));
            writer.u32(edit.number.unwrap_or(0));
        });
    }

    fn read(reader: &mut BlobReader) -> Result<CompiledClass, Error> {
        let (name, inputs, version) = (reader.text()?.to_string(), reader.u64()?, reader.u32()?);
        let tiles = read_tiles(reader)?;
        let found_links = reader.list_at_most((LINKS_MAX, "LINKS_MAX"), read_link)?;
        let edits = reader.list_at_most((EDITS_MAX, "EDITS_MAX"), |reader| {
            let kind = reader.choice(&EDIT_KINDS)?;
            let mut text = || reader.text().map(str::to_string);
            let (name, level, message) = (text()?, text()?, text()?);
            let (has_effect, number) = (reader.flag()?, reader.u32()?);
            if number as usize > VOLUMES_MAX.max(LINKS_MAX) {
                return Err(error!("it is damaged: a change by hand has the number {number}"));
            }
            let number = (number > 0).then_some(number);
            Ok(EditReport { kind, name, level, message, has_effect, number })
        })?;
        Ok(CompiledClass { name, inputs, version, tiles, found_links, edits })
    }
}

fn write_link(writer: &mut BlobWriter, link: &JumpSettings) {
    writer.text(&link.name);
    for number in link.from.to_array().into_iter().chain(link.to.to_array()).chain([link.cost]) {
        writer.u32(number.to_bits());
    }
    writer.u8(u8::from(link.is_two_way));
    writer.u8(u8::from(link.is_manual));
}

fn read_link(reader: &mut BlobReader) -> Result<JumpSettings, Error> {
    let name = reader.text()?.to_string();
    let mut point =
        || Ok::<_, Error>(Vec3::new(reader.finite()?, reader.finite()?, reader.finite()?));
    let (from, to) = (point()?, point()?);
    let cost = reader.finite()?;
    if name.len() > LINK_NAME_MAX || cost < 0.0 {
        return Err(error!("it is damaged: a link has the name '{name}' and the cost {cost}"));
    }
    Ok(JumpSettings { name, from, to, cost, is_two_way: reader.flag()?, is_manual: reader.flag()? })
}

impl CompiledMeshes {
    /// Reads the meshes of a level, if it has any.
    ///
    /// # Errors
    /// Returns an error if the data is broken.
    pub fn of_level(store: &mut ResourceStore, level: &str) -> Result<CompiledMeshes, Error> {
        let resource = ResourceName::new(kind_names::NAVIGATION_MESH, level);
        if !store.has(&resource) {
            return Ok(CompiledMeshes::default());
        }
        let bytes = store.read(&resource)?;
        store.evict(std::iter::once(resource.id()));
        contain(&resource, || CompiledMeshes::read_data(&bytes))
    }

    /// Reads compiled data.
    ///
    /// # Errors
    /// Returns an error if the data is broken.
    pub fn read_data(bytes: &[u8]) -> Result<CompiledMeshes, Error> {
        let mut reader = BlobReader::new(bytes);
        let limit = (AGENT_CLASSES_MAX, "AGENT_CLASSES_MAX");
        let classes = reader.list_at_most(limit, CompiledClass::read)?;
        reader.end()?;
        Ok(CompiledMeshes { classes })
    }

    /// Returns the meshes as data.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.list(&self.classes, |writer, class| class.write(writer));
        writer.finish()
    }

    /// Takes out the mesh of a class, if it was baked from the same inputs.
    pub fn take(&mut self, class: &str, inputs: u64) -> Option<CompiledClass> {
        let known = self.classes.iter().position(|known| known.name == class)?;
        (self.classes[known].inputs == inputs).then(|| self.classes.swap_remove(known))
    }
}

/// Number of levels that are baked at this time.
static RUNNING_BAKES: AtomicUsize = AtomicUsize::new(0);

/// A level that is baked. Levels are compiled in parallel, so only one that is alone when it begins
/// uses every core.
struct RunningBake {
    threads: Option<usize>,
}

impl RunningBake {
    fn begin() -> RunningBake {
        let is_alone = RUNNING_BAKES.fetch_add(1, Ordering::Relaxed) == 0;
        RunningBake { threads: (!is_alone).then_some(1) }
    }
}

impl Drop for RunningBake {
    fn drop(&mut self) {
        RUNNING_BAKES.fetch_sub(1, Ordering::Relaxed);
    }
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let name = compiling.name.name.clone();
    let LevelGeometry { parts, source } = match level_geometry(&mut compiling.store, &name) {
        Ok(Some(geometry)) => geometry,
        // Its actors are only known when it is spawned.
        Ok(None) => return Ok(CompiledMeshes::default().to_bytes()),
        // The level cannot be spawned. Its check and its spawn say why, not its bake.
        Err(error) if error.is_engine_fault || error.is_transient || is_shortage(&error) => {
            return Err(error);
        }
        Err(_) => return Ok(CompiledMeshes::default().to_bytes()),
    };
    let located = |error: Error| Error {
        message: format!("{}: navigation: {}", compiling.path, error.message),
        ..error
    };
    let source = source.map_err(located)?;
    if source.is_empty() {
        // Scripts can create the ground when the level is spawned.
        return Ok(CompiledMeshes::default().to_bytes());
    }
    let areas = merged_areas(&parts).map_err(located)?;
    let bake = LevelBake { parts: &parts, areas: &areas, source: &source };
    let running = RunningBake::begin();
    let pool = TaskPool::new(running.threads);
    let mut meshes = CompiledMeshes::default();
    for class in &parts[0].file.classes {
        let baked = bake.bake(class, |_| (), &pool).map_err(|error| {
            let message = format!("agents '{}': {}", class.name, error.message);
            located(Error { message, ..error })
        })?;
        meshes.classes.push(CompiledClass::of(&class.name, bake.inputs(class), baked));
    }
    Ok(meshes.to_bytes())
}
