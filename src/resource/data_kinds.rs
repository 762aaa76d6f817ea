//! The kinds of plain data: texts, configurations, translations, bytes, packages. Their compiled
//! form is text or a small blob; what games do with it is above.

use super::kind::{Compiling, Form, Kind};
use super::name::ResourceName;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::hash::IdString64;
use crate::foundation::sjson::{self, Tree, Value};
use crate::foundation::suggest;

/// Plain text, as it is.
pub static TEXT: Kind = Kind {
    name: "text",
    words: "Plain text (UTF-8)",
    extensions: &[("text", Form::Own), ("txt", Form::Raw), ("md", Form::Raw)],
    version: 1,
    compile: |compiling| {
        compiling.text()?;
        Ok(std::mem::take(&mut compiling.bytes))
    },
};

/// Bytes, as they are.
pub static BINARY: Kind = Kind {
    name: "binary",
    words: "Bytes that the game reads itself",
    extensions: &[("binary", Form::Own), ("bin", Form::Raw)],
    version: 1,
    compile: |compiling| Ok(std::mem::take(&mut compiling.bytes)),
};

/// Tables of the game's own.
pub static CONFIG: Kind = Kind {
    name: "config",
    words: "A table of the game's own, written in SJSON or JSON",
    extensions: &[("config", Form::Own), ("json", Form::Raw)],
    version: 1,
    compile: |compiling| {
        let tree = document(compiling)?.to_tree();
        Ok(write_tree(&tree))
    },
};

/// Translations.
pub static STRINGS: Kind = Kind {
    name: "strings",
    words: "Translations: for each key a text, or a text for each language",
    extensions: &[("strings", Form::Own)],
    version: 1,
    compile: compile_strings,
};

/// Sets of resources.
pub static PACKAGE: Kind = Kind {
    name: "package",
    words: "A set of resources that is loaded and unloaded together",
    extensions: &[("package", Form::Own)],
    version: 2,
    compile: compile_package,
};

fn document(compiling: &Compiling) -> Result<sjson::Document, Error> {
    sjson::parse_bytes(&compiling.bytes).map_err(|fault| Error::new(fault.in_file(&compiling.path)))
}

fn fault(compiling: &Compiling, value: &Value, words: &str) -> Error {
    compiling.fault(value.line(), words)
}

fn compile_strings(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let document = document(compiling)?;
    for entry in document.root().entries().into_iter().flatten() {
        let key = entry.key;
        let bad = match entry.value.entries() {
            None => entry.value.as_str().is_none().then_some(entry.value),
            Some(mut languages) => {
                languages.find(|each| each.value.as_str().is_none()).map(|each| each.value)
            }
        };
        if let Some(value) = bad {
            let words = format!(
                "'{key}' must be text in quotes, or a block of languages with a text each, got {}",
                value.kind()
            );
            return Err(fault(compiling, &value, &words));
        }
    }
    Ok(write_tree(&document.to_tree()))
}

/// A pattern of a package: type and name, each with at most one `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub kind: String,
    pub name: String,
}

impl Pattern {
    /// Whether a resource is meant.
    pub fn matches(&self, resource: &ResourceName) -> bool {
        star(&self.kind, &resource.kind) && star(&self.name, &resource.name)
    }
}

fn star(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, end)) => {
            let long = text.len() >= start.len() + end.len();
            long && text.starts_with(start) && text.ends_with(end)
        }
    }
}

fn compile_package(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let document = document(compiling)?;
    let mut patterns = Vec::new();
    for entry in document.root().entries().into_iter().flatten() {
        let kind = entry.key;
        let kinds = compiling.kinds.0.iter().map(|kind| kind.name);
        if kinds.len() > 0 && !kind.contains('*') && compiling.kinds.by_name(kind).is_none() {
            let hint = suggest::hint(kind, kinds.clone());
            let known = kinds.collect::<Vec<_>>().join(", ");
            let words = format!("there is no type '{kind}'{hint} (known: {known})");
            return Err(compiling.fault(entry.line(), &words));
        }
        let must = format!("'{kind}' must be a list of names: {kind} = [\"name\", …]");
        let items = entry.value.items().ok_or_else(|| fault(compiling, &entry.value, &must))?;
        for item in items {
            let name = item.as_str().ok_or_else(|| fault(compiling, &item, &must))?;
            if [kind, name].iter().any(|text| text.matches('*').count() > 1) {
                let words = format!("'{name}': a '*' can stand once in a name and once in a type");
                return Err(fault(compiling, &item, &words));
            }
            patterns.push(Pattern { kind: kind.to_string(), name: name.to_string() });
        }
    }
    for pattern in &patterns {
        if !pattern.kind.contains('*') && !pattern.name.contains('*') {
            compiling.refer(&pattern.kind, &pattern.name);
        }
    }
    let mut writer = Writer::default();
    writer.list(&patterns, |writer, pattern| {
        writer.text(&pattern.kind);
        writer.text(&pattern.name);
    });
    Ok(writer.finish())
}

/// Reads a compiled package.
pub fn read_package(bytes: &[u8]) -> Result<Vec<Pattern>, Error> {
    Reader::new(bytes).list(|reader| {
        Ok(Pattern { kind: reader.text()?.to_string(), name: reader.text()?.to_string() })
    })
}

/// A package as it is in a bundle, where there are no names for patterns to fit: its members.
pub fn write_members(members: &[IdString64]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.list(members, |writer, id| writer.u64(id.0));
    writer.finish()
}

/// Reads a bundle's package.
pub fn read_members(bytes: &[u8]) -> Result<Vec<IdString64>, Error> {
    Reader::new(bytes).list(|reader| reader.u64().map(IdString64))
}

/// A tree as a blob: a byte for the kind, then what it holds.
pub fn write_tree(tree: &Tree) -> Vec<u8> {
    let mut writer = Writer::default();
    put_tree(&mut writer, tree);
    writer.finish()
}

fn put_tree(writer: &mut Writer, tree: &Tree) {
    match tree {
        Tree::Null => writer.u8(0),
        Tree::Bool(value) => writer.u8(1 + u8::from(*value)),
        Tree::Number(value) => {
            writer.u8(3);
            writer.f64(*value);
        }
        Tree::String(text) => {
            writer.u8(4);
            writer.text(text);
        }
        Tree::Array(items) => {
            writer.u8(5);
            writer.list(items, put_tree);
        }
        Tree::Object(entries) => {
            writer.u8(6);
            writer.list(entries, |writer, (key, value)| {
                writer.text(key);
                put_tree(writer, value);
            });
        }
    }
}

/// Reads a tree's blob; hostile bytes give an error.
pub fn read_tree(bytes: &[u8]) -> Result<Tree, Error> {
    get_tree(&mut Reader::new(bytes), sjson::NESTING_MAX)
}

fn get_tree(reader: &mut Reader, depth: usize) -> Result<Tree, Error> {
    if depth == 0 {
        return Err(crate::error!("it is damaged: it is nested too deep"));
    }
    Ok(match reader.u8()? {
        0 => Tree::Null,
        kind @ (1 | 2) => Tree::Bool(kind == 2),
        3 => Tree::Number(reader.f64()?),
        4 => Tree::String(reader.text()?.to_string()),
        5 => Tree::Array(reader.list(|reader| get_tree(reader, depth - 1))?),
        6 => Tree::Object(
            reader.list(|reader| Ok((reader.text()?.to_string(), get_tree(reader, depth - 1)?)))?,
        ),
        kind => return Err(crate::error!("it is damaged: there is no value of kind {kind}")),
    })
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kinds;
    use super::*;

    static TEXTURE: Kind = Kind {
        name: "texture",
        words: "A picture",
        extensions: &[("png", Form::Raw)],
        version: 1,
        compile: |compiling| Ok(std::mem::take(&mut compiling.bytes)),
    };

    const KINDS: Kinds = Kinds(&[&TEXT, &CONFIG, &TEXTURE]);

    fn compile(kind: &Kind, text: &str) -> Result<(Vec<u8>, Vec<String>), String> {
        let name = ResourceName::new(kind.name, "x");
        let read = |_: &str| Err(crate::error!("no other file"));
        let bytes = text.as_bytes().to_vec();
        let mut compiling =
            Compiling::new(name, format!("x.{}", kind.name), Form::Own, bytes, false, &read);
        compiling.kinds = KINDS;
        let data = (kind.compile)(&mut compiling).map_err(|error| error.message)?;
        Ok((data, compiling.references.iter().map(|name| name.to_string()).collect()))
    }

    #[test]
    fn a_configuration_is_read_as_it_was_written() {
        let (data, _) =
            compile(&CONFIG, "speed = 2.5\nnames = [\"a\", null, true]\nin = {}").unwrap();
        let tree = read_tree(&data).unwrap();
        let wanted = sjson::parse("speed = 2.5\nnames = [\"a\", null, true]\nin = {}").unwrap();
        assert_eq!(tree, wanted.to_tree());
        for length in 0..data.len() {
            assert!(read_tree(&data[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn translations_must_be_texts() {
        assert!(compile(&STRINGS, "play = \"Play\"\nquit = { en = \"Quit\" }").is_ok());
        let words = compile(&STRINGS, "play = \"Play\"\nquit = 3").unwrap_err();
        assert!(words.starts_with("x.strings:2: 'quit' must be text in quotes"), "{words}");
        assert!(compile(&STRINGS, "quit = { en = 1 }").is_err());
    }

    #[test]
    fn a_package_keeps_its_patterns_and_refers_to_what_it_names() {
        let text = "texture = [\"gui/*\", \"logo\"]\n\"*\" = [\"levels/a*\"]";
        let (data, references) = compile(&PACKAGE, text).unwrap();
        assert_eq!(references, ["logo.texture"]);
        let patterns = read_package(&data).unwrap();
        let meant = |name: &str| {
            let name = ResourceName::parse(name).unwrap();
            patterns.iter().any(|pattern| pattern.matches(&name))
        };
        assert!(meant("gui/button.texture") && meant("logo.texture") && meant("levels/ab.unit"));
        assert!(!meant("gui/button.material") && !meant("logo2.texture"));
    }

    #[test]
    fn a_broken_package_says_where() {
        let words = |text| compile(&PACKAGE, text).unwrap_err();
        assert_eq!(
            words("texture = \"a\""),
            "x.package:1: 'texture' must be a list of names: texture = [\"name\", …]"
        );
        assert_eq!(
            words("text = [\"a\"]\ntxt = [\"a\"]"),
            "x.package:2: there is no type 'txt', did you mean 'text'? (known: text, config, \
             texture)"
        );
        let stars = "x.package:1: '*a*': a '*' can stand once in a name and once in a type";
        assert_eq!(words("texture = [\"*a*\"]"), stars);
        assert!(words("texture = [\"a\"").starts_with("x.package:1:11: list is not closed"));
    }
}
