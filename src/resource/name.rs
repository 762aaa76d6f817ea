//! What a resource is called: type and name, read off the path of its file, with the properties
//! that make it a variant. Opens no files.

use super::kind::{Form, Kinds};
use super::variant::Properties;
use crate::foundation::hash::{IdString64, murmur64a};

/// The longest path of a file, in bytes, from the game's folder.
pub const PATH_BYTES_MAX: usize = 400;

/// Type and name: `textures/wall.texture`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName {
    /// `texture`.
    pub kind: String,
    /// `textures/wall`.
    pub name: String,
}

impl ResourceName {
    pub fn new(kind: &str, name: &str) -> ResourceName {
        ResourceName { kind: kind.to_string(), name: name.to_string() }
    }

    /// Reads `textures/wall.texture`.
    pub fn parse(text: &str) -> Option<ResourceName> {
        let (name, kind) = text.rsplit_once('.')?;
        (!name.is_empty() && !kind.is_empty() && !kind.contains('/'))
            .then(|| ResourceName::new(kind, name))
    }

    /// Whether this, as a reference, names `resource`. One without a type is a string in a script:
    /// it may name any type, with or without it, and a module with dots for slashes.
    pub fn means(&self, resource: &ResourceName) -> bool {
        if !self.kind.is_empty() {
            return self == resource;
        }
        self.name == resource.name
            || ResourceName::parse(&self.name).as_ref() == Some(resource)
            || (resource.kind == "lua" && self.name.replace('.', "/") == resource.name)
    }

    /// The number by which compiled data knows it (A2.2): of the whole string, type included.
    pub fn id(&self) -> IdString64 {
        // Asked for at every look-up: without an allocation, where the name is not unusually long.
        let (mut room, name, kind) = ([0; 256], self.name.as_bytes(), self.kind.as_bytes());
        let Some(text) = room.get_mut(..name.len() + 1 + kind.len()) else {
            return IdString64::new(&self.to_string());
        };
        text[..name.len()].copy_from_slice(name);
        text[name.len()] = b'.';
        text[name.len() + 1..].copy_from_slice(kind);
        IdString64(murmur64a(text, 0))
    }
}

impl std::fmt::Display for ResourceName {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{}.{}", self.name, self.kind)
    }
}

/// Whether a path stays in the folder that it is from, on any system.
pub fn is_inside(path: &str) -> bool {
    let outside = path.starts_with('/') || path.split('/').any(|part| part == "..");
    !outside && !path.contains(['\\', ':'])
}

/// Whether a path is that of a script.
pub fn is_script(path: &str) -> bool {
    path.ends_with(".lua")
}

/// A file that is a resource, or a variant of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// From the game's folder, with `/`.
    pub path: String,
    pub resource: ResourceName,
    pub properties: Properties,
    pub form: Form,
}

impl Source {
    /// Reads a path. `None`: not a resource (another extension, a hidden file).
    pub fn of(path: &str, kinds: &Kinds) -> Option<Result<Source, String>> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        if file.starts_with('.') || folder.split('/').any(|part| part.starts_with('.')) {
            return None;
        }
        let mut words = file.split('.');
        let base = words.next().filter(|base| !base.is_empty())?;
        let mut words: Vec<&str> = words.collect();
        let extension = words.pop()?.to_ascii_lowercase();
        let (kind, form) = kinds.by_extension(&extension)?;
        Some(Source::with(path, folder, base, &words, kind.name, form))
    }

    fn with(
        path: &str,
        folder: &str,
        base: &str,
        words: &[&str],
        kind: &str,
        form: Form,
    ) -> Result<Source, String> {
        if path.len() > PATH_BYTES_MAX {
            return Err(format!(
                "{path}: the path is longer than {PATH_BYTES_MAX} bytes (PATH_BYTES_MAX)"
            ));
        }
        if path.contains(['\\', ':']) || path.contains(char::is_control) {
            return Err(format!("{path}: names must not have \\, : or control characters"));
        }
        if words.iter().any(|word| word.is_empty()) {
            return Err(format!("{path}: there are two dots side by side: rename the file"));
        }
        let properties = Properties::of(words.iter().copied())
            .map_err(|word| format!("{path}: the property '{word}' is there twice"))?;
        let name = match folder {
            "" => base.to_string(),
            folder => format!("{folder}/{base}"),
        };
        let resource = ResourceName::new(kind, &name);
        Ok(Source { path: path.to_string(), resource, properties, form })
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::*;

    static TEXTURE: Kind = Kind {
        name: "texture",
        words: "A picture",
        extensions: &[("texture", Form::Own), ("png", Form::Raw)],
        version: 1,
        compile: |compiling| Ok(compiling.bytes.clone()),
        validate: |_| Ok(()),
    };
    const KINDS: Kinds = Kinds(&[&TEXTURE]);

    fn check(path: &str, wanted: &str) {
        let shown = match Source::of(path, &KINDS) {
            None => "not a resource".to_string(),
            Some(Err(words)) => words,
            Some(Ok(source)) => format!("{} [{}]", source.resource, source.properties),
        };
        assert_eq!(shown, wanted);
    }

    #[test]
    fn type_name_and_properties_are_read_off_the_path() {
        check("textures/wall.png", "textures/wall.texture []");
        check("textures/wall.fr.PNG", "textures/wall.texture [fr]");
        check("buttons.en.x360.texture", "buttons.texture [en.x360]");
        check("readme.md", "not a resource");
        check(".git/x.png", "not a resource");
        check("a/.hidden.png", "not a resource");
        check("a..png", "a..png: there are two dots side by side: rename the file");
        check("a.fr.fr.png", "a.fr.fr.png: the property 'fr' is there twice");
        check("a\\b.png", "a\\b.png: names must not have \\, : or control characters");
    }

    #[test]
    fn a_name_is_hashed_with_its_type() {
        let name = ResourceName::parse("content/levels/city/taxi.unit").unwrap();
        assert_eq!(name.id().to_string(), "9d01c901e9e2827f");
        for length in [1, 252, 253, 254, 400] {
            let name = ResourceName::new("lua", &"x".repeat(length));
            assert_eq!(name.id(), IdString64::new(&name.to_string()), "{length}");
        }
        assert_eq!(ResourceName::parse("no_type"), None);
    }
}
