//! Resource names: type and name, derived from the path of a file, with the properties of its
//! variant. Opens no files.

use super::resource_kind::{ResourceKinds, SourceForm, kind_names};
use super::variant::VariantProperties;
use engine_foundation::hash::{IdString64, murmur64a};

/// Maximum length in bytes of a file's path, relative to the game's folder.
pub const PATH_BYTES_MAX: usize = 400;

/// Type and name of a resource: `textures/wall.texture`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName {
    /// Type, for example `texture`.
    pub kind: String,
    /// Name, for example `textures/wall`.
    pub name: String,
}

impl ResourceName {
    pub fn new(kind: &str, name: &str) -> ResourceName {
        ResourceName { kind: kind.to_string(), name: name.to_string() }
    }

    /// Parses a name like `textures/wall.texture`.
    pub fn parse(text: &str) -> Option<ResourceName> {
        let (name, kind) = text.rsplit_once('.')?;
        (!name.is_empty() && !kind.is_empty() && !kind.contains('/'))
            .then(|| ResourceName::new(kind, name))
    }

    /// Returns true if this reference means `resource`. A reference without a type is a string in a
    /// script: it may name a resource of any type, with or without the type, or a module with dots
    /// instead of slashes.
    pub fn matches(&self, resource: &ResourceName) -> bool {
        if !self.kind.is_empty() {
            return self == resource;
        }
        self.name == resource.name
            || ResourceName::parse(&self.name).as_ref() == Some(resource)
            || (resource.kind == kind_names::LUA && self.name.replace('.', "/") == resource.name)
    }

    /// Returns the id of the resource in compiled data: the hash of the whole string,
    /// including the type.
    pub fn id(&self) -> IdString64 {
        // Called on every lookup, so names of normal length need no allocation.
        let (mut buffer, name, kind) = ([0; 256], self.name.as_bytes(), self.kind.as_bytes());
        let Some(text) = buffer.get_mut(..name.len() + 1 + kind.len()) else {
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

/// Returns true if a path stays in its base folder, on any system.
pub fn is_inside(path: &str) -> bool {
    let outside = path.starts_with('/') || path.split('/').any(|part| part == "..");
    !outside && !path.contains(['\\', ':'])
}

/// Returns true for the path of a script.
pub fn is_script(path: &str) -> bool {
    path.ends_with(".lua")
}

/// A file that is a resource, or a variant of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceName {
    /// Path relative to the game's folder, with `/` separators.
    pub path: String,
    pub resource: ResourceName,
    pub properties: VariantProperties,
    pub form: SourceForm,
}

impl SourceName {
    /// Parses a path. Returns `None` if the file is not a resource (another extension, a hidden
    /// file).
    pub fn of(path: &str, kinds: &ResourceKinds) -> Option<Result<SourceName, String>> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        if file.starts_with('.') || folder.split('/').any(|part| part.starts_with('.')) {
            return None;
        }
        let mut properties = file.split('.');
        let base = properties.next().filter(|base| !base.is_empty())?;
        let mut properties: Vec<&str> = properties.collect();
        let extension = properties.pop()?.to_ascii_lowercase();
        let (kind, form) = kinds.by_extension(&extension)?;
        Some(SourceName::with(path, folder, base, &properties, kind.name, form))
    }

    fn with(
        path: &str,
        folder: &str,
        base: &str,
        properties: &[&str],
        kind: &str,
        form: SourceForm,
    ) -> Result<SourceName, String> {
        if path.len() > PATH_BYTES_MAX {
            return Err(format!(
                "{path}: the path is longer than {PATH_BYTES_MAX} bytes (PATH_BYTES_MAX)"
            ));
        }
        if path.contains(['\\', ':']) || path.contains(char::is_control) {
            return Err(format!("{path}: names must not have \\, : or control characters"));
        }
        if properties.iter().any(|word| word.is_empty()) {
            return Err(format!("{path}: there are two dots in a row: rename the file"));
        }
        let properties = VariantProperties::of(properties.iter().copied())
            .map_err(|word| format!("{path}: the property '{word}' appears twice"))?;
        let name = match folder {
            "" => base.to_string(),
            folder => format!("{folder}/{base}"),
        };
        let resource = ResourceName::new(kind, &name);
        Ok(SourceName { path: path.to_string(), resource, properties, form })
    }
}

/// Names that Windows reserves for devices, with any ending.
const DEVICE_NAMES: &[&str] = &[
    "aux", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con",
    "lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// Returns true if Windows reserves a name, with or without an ending.
pub fn is_device_name(name: &str) -> bool {
    let base = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    DEVICE_NAMES.contains(&base.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::resource_kind::ResourceKind;
    use super::*;

    static TEXTURE: ResourceKind = ResourceKind {
        name: "texture",
        doc: "A picture",
        extensions: &[("texture", SourceForm::Own), ("png", SourceForm::Raw)],
        version: 1,
        framed: false,
        reload: &[],
        compile: |compiling| Ok(compiling.bytes.clone()),
        validate: |_| Ok(()),
    };
    const KINDS: ResourceKinds = ResourceKinds(&[&TEXTURE]);

    fn check(path: &str, wanted: &str) {
        let shown = match SourceName::of(path, &KINDS) {
            None => "not a resource".to_string(),
            Some(Err(message)) => message,
            Some(Ok(source)) => format!("{} [{}]", source.resource, source.properties),
        };
        assert_eq!(shown, wanted);
    }

    #[test]
    fn type_name_and_properties_are_parsed_from_the_path() {
        check("textures/wall.png", "textures/wall.texture []");
        check("textures/wall.fr.PNG", "textures/wall.texture [fr]");
        check("buttons.en.x360.texture", "buttons.texture [en.x360]");
        check("readme.md", "not a resource");
        check(".git/x.png", "not a resource");
        check("a/.hidden.png", "not a resource");
        check("a..png", "a..png: there are two dots in a row: rename the file");
        check("a.fr.fr.png", "a.fr.fr.png: the property 'fr' appears twice");
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
