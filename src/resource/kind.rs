//! Kinds of resources: the shape of their table's rows, and what a row's compiler gets to work
//! with. The rows stand beside the systems they feed; `app/kinds.rs` puts them together.

use super::name::ResourceName;
use crate::foundation::Error;
use std::collections::HashSet;

/// How a file stands for a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The resource's own text, in SJSON or whatever its kind reads.
    Own,
    /// A common format that serves as it is; a file of the resource's own wins over it.
    Raw,
}

/// One kind of resource.
pub struct Kind {
    /// Its type's name: the extension of its own files.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub words: &'static str,
    /// The extensions of its files, without the dot, lower case.
    pub extensions: &'static [(&'static str, Form)],
    /// Of the compiled data's format: another number, and everything of this kind is compiled anew.
    pub version: u32,
    /// Makes compiled data of a source. Everything it reads beside the source, and every resource
    /// that it names, goes through the context, which keeps the graph.
    pub compile: fn(&mut Compiling) -> Result<Vec<u8>, Error>,
    /// Refuses data that this kind's compiler could not have written. Compiled data comes from
    /// anybody, with right checksums, so this looks at all of it: bounds, counts, references,
    /// numbers, sizes once they are unpacked. It runs whenever data is opened, and takes time and
    /// memory in proportion to the data's length.
    pub validate: fn(&[u8]) -> Result<(), Error>,
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

/// The endings of every kind's files but scripts, for the words of what is missing: whoever asks
/// for a resource knows no rows. A test compares them (`app/kinds.rs`).
pub const ENDINGS: &[(&str, &[&str])] = &[
    ("package", &["package"]),
    ("config", &["config", "json"]),
    ("strings", &["strings"]),
    ("text", &["text", "txt", "md"]),
    ("binary", &["binary", "bin"]),
    ("font", &["font", "ttf", "otf", "ttc", "fnt"]),
    (
        "texture",
        &["texture", "png", "jpg", "jpeg", "tga", "bmp", "qoi", "webp", "hdr", "ktx2", "dds"],
    ),
    ("sheet", &["sheet", "aseprite", "ase"]),
    ("shader", &["shader", "wgsl"]),
    ("material", &["material"]),
    ("particles", &["particles"]),
    ("sound", &["sound", "wav", "ogg", "flac", "mp3"]),
    ("mixer", &["mixer"]),
    ("model", &["model", "glb", "gltf"]),
    ("unit", &["unit"]),
    ("level", &["level"]),
    ("tilemap", &["tilemap", "tmj", "tmx", "ldtk"]),
    ("physics_properties", &["physics_properties"]),
];

/// The kind whose resources stand in for those of another: a model, for the unit that is made of it
/// alone.
pub fn stand_in(kind: &str) -> Option<&'static str> {
    (kind == "unit").then_some("model")
}

/// Which files are of a kind, to stand in brackets behind the words for one that is missing.
pub fn endings_words(kind: &str) -> String {
    let of =
        |kind: &str| ENDINGS.iter().find(|(name, _)| *name == kind).map(|(_, endings)| *endings);
    let Some(own) = of(kind) else { return String::new() };
    let endings = [own, stand_in(kind).and_then(of).unwrap_or_default()].concat();
    let (last, others) = endings.split_last().expect("each has one");
    let others: Vec<String> = others.iter().map(|ending| format!(".{ending}")).collect();
    let or = if others.is_empty() { "" } else { " or " };
    format!(" (its file would end in {}{or}.{last}, and its name has no ending)", others.join(", "))
}

/// All kinds, found by name or extension.
#[derive(Clone, Copy, Debug)]
pub struct Kinds(pub &'static [&'static Kind]);

impl Kinds {
    /// The kind of that name.
    pub fn by_name(&self, name: &str) -> Option<&'static Kind> {
        self.0.iter().copied().find(|kind| kind.name == name)
    }

    /// The index of the kind of that name, which bundles have in its place.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|kind| kind.name == name)
    }

    /// The kind that a file's extension stands for, and how.
    pub fn by_extension(&self, extension: &str) -> Option<(&'static Kind, Form)> {
        self.0.iter().find_map(|kind| {
            let found = kind.extensions.iter().find(|(known, _)| *known == extension)?;
            Some((*kind, found.1))
        })
    }
}

/// A file's text or bytes, by its path from the game's folder.
pub type Reader<'a> = dyn Fn(&str) -> Result<Vec<u8>, Error> + 'a;

/// What a kind's compiler works with.
pub struct Compiling<'a> {
    /// What is being compiled.
    pub name: ResourceName,
    /// The source's path from the game's folder, for messages.
    pub path: String,
    /// Which form the source has.
    pub form: Form,
    /// The source's bytes.
    pub bytes: Vec<u8>,
    /// Whether the data is for a release: no names, no development statements.
    pub release: bool,
    /// All kinds that there are, where that is known.
    pub kinds: Kinds,
    read: &'a Reader<'a>,
    /// Files that were read beside the source.
    pub files: Vec<String>,
    /// Resources that the source names, as (type, name), in the order of the source.
    pub references: Vec<ResourceName>,
    referred: HashSet<ResourceName>,
}

impl<'a> Compiling<'a> {
    /// A context for one source.
    pub fn new(
        name: ResourceName,
        path: String,
        form: Form,
        bytes: Vec<u8>,
        release: bool,
        read: &'a Reader<'a>,
    ) -> Compiling<'a> {
        let (files, references, referred) = (Vec::new(), Vec::new(), HashSet::new());
        let kinds = Kinds(&[]);
        Compiling { name, path, form, bytes, release, kinds, read, files, references, referred }
    }

    /// Reads another file of the game; a change of it compiles this resource anew.
    pub fn read(&mut self, path: &str) -> Result<Vec<u8>, Error> {
        if !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_string());
        }
        (self.read)(path)
    }

    /// The same of a file that need not be there.
    pub fn read_if_there(&mut self, path: &str) -> Option<Vec<u8>> {
        let bytes = (self.read)(path).ok()?;
        if !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_string());
        }
        Some(bytes)
    }

    /// Whether there is another file of the game; one that comes to be is not noticed by this.
    pub fn exists(&self, path: &str) -> bool {
        (self.read)(path).is_ok()
    }

    /// Notes that the source names a resource.
    pub fn refer(&mut self, kind: &str, name: &str) {
        let reference = ResourceName::new(kind, name);
        if self.referred.insert(reference.clone()) {
            self.references.push(reference);
        }
    }

    /// The source as text.
    pub fn text(&self) -> Result<&str, Error> {
        std::str::from_utf8(&self.bytes).map_err(|fault| {
            let before = &self.bytes[..fault.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            crate::error!("{}:{line}: the file is not UTF-8: save it as UTF-8 text", self.path)
        })
    }

    /// An error at a line of the source.
    pub fn fault(&self, line: usize, words: &str) -> Error {
        crate::error!("{}:{line}: {words}", self.path)
    }
}
