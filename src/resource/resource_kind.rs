//! Resource kinds: the row type of the table of kinds, and the context that a kind's compiler works
//! with. The rows are next to the systems that use them; `app/resource_kinds.rs` assembles the
//! table.

use super::folder_scan::FolderScan;
use super::reload_steps::ReloadStep;
use super::resource_name::ResourceName;
use super::store::ResourceStore;
use engine_foundation::suggest::hint_in_folders;
use engine_foundation::{DEVELOPMENT, Error, error};
use std::collections::HashSet;

/// Form in which a file represents a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceForm {
    /// The resource's own text, in SJSON or another format that its kind reads.
    Own,
    /// A common file format that is usable directly. A file in the resource's own form takes
    /// precedence.
    Raw,
}

/// Function that compiles a source.
pub type CompileFunction = fn(&mut CompileContext) -> Result<Vec<u8>, Error>;

/// Returns the compile function of a kind: the one that is given, or in an executable that only
/// plays bundles one that returns an error, so that no compiler is linked.
pub const fn compiler(compile: CompileFunction) -> CompileFunction {
    if DEVELOPMENT { compile } else { without_compilers }
}

/// The compile function of all kinds in executables without compilers.
fn without_compilers(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    Err(error!(
        "{}: this executable of the engine has no compilers of resources: it plays bundles, which \
         `engine compile --bundle` of an engine for development makes",
        compiling.path
    ))
}

/// One kind of resource.
pub struct ResourceKind {
    /// Name of the type, which is the extension of the resource's own files.
    pub name: &'static str,
    /// Description of the kind in one sentence.
    pub doc: &'static str,
    /// File extensions in lower case, without the dot; none for kinds that are derived from another
    /// one ([`derived_kind`]).
    pub extensions: &'static [(&'static str, SourceForm)],
    /// Version of the compiled format. If it changes, all resources of this kind are compiled
    /// again.
    pub version: u32,
    /// True if a frame with a checksum is around the compiled data
    /// ([`FRAME_BYTES`](engine_foundation::blob::FRAME_BYTES)).
    pub framed: bool,
    /// Steps of a hot reload that a changed resource of this kind goes through.
    pub reload: &'static [ReloadStep],
    /// Compiles a source. All other files that it reads, and all resources that it refers to, go
    /// through the context, which records the graph. Rows set it by [`compiler`].
    pub compile: CompileFunction,
    /// Refuses data that this kind's compiler could not have written. Compiled data is untrusted
    /// and can have valid checksums, so this function checks all of it: bounds, counts, references,
    /// numbers, decompressed sizes. It runs whenever data is opened. Its time and memory are
    /// proportional to the length of the data.
    pub validate: fn(&[u8]) -> Result<(), Error>,
}

impl PartialEq for ResourceKind {
    fn eq(&self, other: &ResourceKind) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for ResourceKind {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

/// Names of all kinds, for code that requests resources of a kind. The rows have the same constants
/// as their names.
pub mod kind_names {
    pub const LUA: &str = "lua";
    pub const PACKAGE: &str = "package";
    pub const CONFIG: &str = "config";
    pub const STRINGS: &str = "strings";
    pub const TEXT: &str = "text";
    pub const BINARY: &str = "binary";
    pub const FONT: &str = "font";
    pub const TEXTURE: &str = "texture";
    pub const SHEET: &str = "sheet";
    pub const SHADER: &str = "shader";
    pub const MATERIAL: &str = "material";
    pub const PARTICLES: &str = "particles";
    pub const SOUND: &str = "sound";
    pub const MIXER: &str = "mixer";
    pub const MODEL: &str = "model";
    pub const ANIMATION: &str = "animation";
    pub const STATE_MACHINE: &str = "state_machine";
    pub const UNIT: &str = "unit";
    pub const LEVEL: &str = "level";
    pub const FLOW: &str = "flow";
    pub const SHADING_ENVIRONMENT: &str = "shading_environment";
    pub const NAVIGATION: &str = "navigation";
    pub const NAVIGATION_MESH: &str = "navigation_mesh";
    pub const TILEMAP: &str = "tilemap";
    pub const PHYSICS_PROPERTIES: &str = "physics_properties";
    pub const RENDER_CONFIG: &str = "render_config";
}

/// Returns the kind of resources that can replace those of another kind: a model replaces a unit
/// that consists of the model alone.
pub fn substitute_kind(kind: &str) -> Option<&'static str> {
    (kind == kind_names::UNIT).then_some(kind_names::MODEL)
}

/// Returns the kind of the resources that are compiled from resources of another kind, after all of
/// those: the navigation meshes of levels. Such a resource has the name of the other one, which
/// refers to it.
pub fn derived_kind(kind: &str) -> Option<&'static str> {
    (kind == kind_names::LEVEL).then_some(kind_names::NAVIGATION_MESH)
}

/// All kinds, found by name or extension.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceKinds(pub &'static [&'static ResourceKind]);

impl ResourceKinds {
    /// Returns the kind with that name.
    pub fn by_name(&self, name: &str) -> Option<&'static ResourceKind> {
        self.0.iter().copied().find(|kind| kind.name == name)
    }

    /// Returns the index of the kind with that name. Bundles store the index instead of the name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|kind| kind.name == name)
    }

    /// Returns the kind and the form that a file's extension stands for.
    pub fn by_extension(&self, extension: &str) -> Option<(&'static ResourceKind, SourceForm)> {
        self.0.iter().find_map(|kind| {
            let found = kind.extensions.iter().find(|(known, _)| *known == extension)?;
            Some((*kind, found.1))
        })
    }

    /// Returns a list of a kind's file extensions, in brackets, to append to the message for a
    /// missing resource. Empty for scripts, which have their own messages, and for unknown kinds.
    pub fn endings_text(&self, name: &str) -> String {
        let known = self.by_name(name).filter(|kind| kind.name != kind_names::LUA);
        let Some(own) = known else { return String::new() };
        let substitute = substitute_kind(name).and_then(|kind| self.by_name(kind));
        let endings: Vec<String> = [Some(own), substitute]
            .into_iter()
            .flatten()
            .flat_map(|kind| kind.extensions)
            .map(|(ending, _)| format!(".{ending}"))
            .collect();
        let (last, others) = endings.split_last().expect("each has one");
        let or = if others.is_empty() { "" } else { " or " };
        let others = others.join(", ");
        format!(" (its file would end in {others}{or}{last}, and its name has no ending)")
    }
}

/// Function that reads a file's text or bytes, by its path relative to the game's folder.
pub type ReadSource<'a> = dyn Fn(&str) -> Result<Vec<u8>, Error> + 'a;

/// Context of one compile: the source, its options, and the recorded dependencies.
pub struct CompileContext<'a> {
    /// Name of the resource that is compiled.
    pub name: ResourceName,
    /// Path of the source relative to the game's folder, for messages.
    pub path: String,
    /// Form of the source.
    pub form: SourceForm,
    /// Bytes of the source.
    pub bytes: Vec<u8>,
    /// True if the data is for a release: no names, no development statements.
    pub release: bool,
    /// All resource kinds, if they are known.
    pub kinds: ResourceKinds,
    /// The compiled resources of the game, if the resource is derived from one of them. Resources
    /// that are read from it count as read for this one.
    pub store: ResourceStore,
    /// The sources of the game, if they are known.
    pub scanned: Option<&'a FolderScan>,
    read: &'a ReadSource<'a>,
    /// Files that were read in addition to the source.
    pub files: Vec<String>,
    /// Resources that the source refers to, in the order of the source.
    pub references: Vec<ResourceName>,
    referred: HashSet<ResourceName>,
    /// Path and message of the last file that could not be read.
    unread: Option<(String, String)>,
}

impl<'a> CompileContext<'a> {
    /// Creates a context for one source.
    pub fn new(
        name: ResourceName,
        path: String,
        form: SourceForm,
        bytes: Vec<u8>,
        release: bool,
        read: &'a ReadSource<'a>,
    ) -> CompileContext<'a> {
        let (files, references, referred) = (Vec::new(), Vec::new(), HashSet::new());
        let kinds = ResourceKinds(&[]);
        CompileContext {
            name,
            path,
            form,
            bytes,
            release,
            kinds,
            store: ResourceStore::default(),
            scanned: None,
            read,
            files,
            references,
            referred,
            unread: None,
        }
    }

    /// Reads another file of the game. A change of that file triggers a new compile of this
    /// resource.
    pub fn read(&mut self, path: &str) -> Result<Vec<u8>, Error> {
        if !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_string());
        }
        let read = (self.read)(path);
        if let Err(error) = &read {
            self.unread = Some((path.to_string(), error.message.clone()));
        }
        read
    }

    /// Adds the source to the error of a compile that failed because another file cannot be read.
    /// Without the source, nobody could see which file names the missing one.
    pub fn name_source(&self, error: Error) -> Error {
        let Some((path, unread)) = &self.unread else { return error };
        match unread.strip_prefix(&format!("{path}: ")) {
            Some(reason) if error.message == *unread => {
                let message = format!("{}: '{path}' cannot be read: {reason}", self.path);
                Error { message, ..error }
            }
            _ => error,
        }
    }

    /// Reads another file of the game if it exists.
    pub fn read_optional(&mut self, path: &str) -> Option<Vec<u8>> {
        let bytes = (self.read)(path).ok()?;
        if !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_string());
        }
        Some(bytes)
    }

    /// Returns true if another file of the game exists. The later creation of that file does not
    /// trigger a new compile.
    pub fn exists(&self, path: &str) -> bool {
        (self.read)(path).is_ok()
    }

    /// Returns the end of a message about a resource that does not exist, which suggests a similar
    /// name of the same kind: `, did you mean 'models/orc'?`. Empty if there is none.
    pub fn hint(&self, kind: &str, name: &str) -> String {
        let Some(scanned) = self.scanned else { return String::new() };
        let known = scanned.resources.keys().filter(|resource| resource.kind == kind);
        hint_in_folders(name, known.map(|resource| resource.name.as_str()))
    }

    /// Records a reference to a resource.
    pub fn refer(&mut self, kind: &str, name: &str) {
        let reference = ResourceName::new(kind, name);
        if self.referred.insert(reference.clone()) {
            self.references.push(reference);
        }
    }

    /// Returns the source as text.
    pub fn text(&self) -> Result<&str, Error> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let before = &self.bytes[..error.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            engine_foundation::error!(
                "{}:{line}: the file is not UTF-8: save it as UTF-8 text",
                self.path
            )
        })
    }

    /// Returns an error at a line of the source.
    pub fn error_at(&self, line: usize, message: &str) -> Error {
        engine_foundation::error!("{}:{line}: {message}", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_without_compilers_name_the_source() {
        let read = |path: &str| Err(error!("there is no file {path}"));
        let name = ResourceName::new(kind_names::TEXT, "notes");
        let (path, bytes) = ("notes.txt".to_string(), b"text".to_vec());
        let mut compiling = CompileContext::new(name, path, SourceForm::Own, bytes, true, &read);
        let message = without_compilers(&mut compiling).unwrap_err().message;
        let wanted = "notes.txt: this executable of the engine has no compilers of resources: it \
                      plays bundles, which `engine compile --bundle` of an engine for development \
                      makes";
        assert_eq!(message, wanted);
        fn keeps(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
            Ok(std::mem::take(&mut compiling.bytes))
        }
        assert_eq!(compiler(keeps)(&mut compiling).unwrap(), b"text", "tests have compilers");
    }
}
