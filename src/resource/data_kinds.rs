//! The kinds of plain data: texts, configurations, translations, bytes, packages. Their compiled
//! form is text or a small blob; what games do with it is above.

use super::kind::{Compiling, Form, Kind};
use super::name::ResourceName;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::hash::IdString64;
use crate::foundation::memory::limit;
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
    validate: |bytes| text(bytes).map(drop),
};

/// Bytes, as they are.
pub static BINARY: Kind = Kind {
    name: "binary",
    words: "Bytes that the game reads itself",
    extensions: &[("binary", Form::Own), ("bin", Form::Raw)],
    version: 1,
    compile: |compiling| Ok(std::mem::take(&mut compiling.bytes)),
    // Games read it themselves.
    validate: |_| Ok(()),
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
    validate: |bytes| read_document(bytes).map(drop),
};

/// Translations.
pub static STRINGS: Kind = Kind {
    name: "strings",
    words: "Translations: for each key a text, or a text for each language",
    extensions: &[("strings", Form::Own)],
    version: 1,
    compile: compile_strings,
    validate: |bytes| {
        check_strings(read_document(bytes)?.root()).map_err(|(_, words)| Error::new(words))
    },
};

/// Sets of resources.
pub static PACKAGE: Kind = Kind {
    name: "package",
    words: "A set of resources that is loaded and unloaded together",
    extensions: &[("package", Form::Own)],
    version: 4,
    compile: compile_package,
    validate: |bytes| match bytes.first() {
        Some(&MEMBERS) => read_members(bytes).map(drop),
        _ => read_package(bytes).map(drop),
    },
};

fn document(compiling: &Compiling) -> Result<sjson::Document, Error> {
    sjson::parse_bytes(&compiling.bytes).map_err(|fault| Error::new(fault.in_file(&compiling.path)))
}

fn fault(compiling: &Compiling, value: &Value, words: &str) -> Error {
    compiling.fault(value.line(), words)
}

/// Compiled data that is text.
pub fn text(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| crate::error!("it is damaged: it is not UTF-8"))
}

fn compile_strings(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let document = document(compiling)?;
    check_strings(document.root()).map_err(|(value, words)| fault(compiling, &value, &words))?;
    Ok(write_tree(&document.to_tree()))
}

/// Refuses translations that are no texts: the value, and what is wrong with it.
fn check_strings(root: Value) -> Result<(), (Value, String)> {
    for entry in root.entries().into_iter().flatten() {
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
            return Err((value, words));
        }
    }
    Ok(())
}

/// The first byte of a package's data: patterns, as its source has them.
const PATTERNS: u8 = 0;
/// Members, as a bundle has them.
const MEMBERS: u8 = 1;
/// The most names of one package, patterns included.
pub const PACKAGE_NAMES_MAX: usize = 65_536;
/// The most patterns with a star: each is compared with every resource of the game.
pub const PACKAGE_STARS_MAX: usize = 256;
/// The most members of a bundle's package: all that its patterns fit, and what that refers to.
pub const PACKAGE_MEMBERS_MAX: usize = 1 << 20;

/// A pattern of a package: type and name, each with at most one `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub kind: String,
    pub name: String,
}

impl Pattern {
    /// True for a pattern that is compared with every resource of the game.
    pub fn has_star(&self) -> bool {
        self.kind.contains('*') || self.name.contains('*')
    }

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
    let (mut patterns, mut stars) = (Vec::new(), 0);
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
            stars += usize::from(kind.contains('*') || name.contains('*'));
            if patterns.len() == PACKAGE_NAMES_MAX {
                let words = format!(
                    "a package has at most {PACKAGE_NAMES_MAX} names (PACKAGE_NAMES_MAX): use a \
                     pattern, or more packages"
                );
                return Err(fault(compiling, &item, &words));
            }
            if stars > PACKAGE_STARS_MAX {
                let words = format!(
                    "a package has at most {PACKAGE_STARS_MAX} patterns with a '*' \
                     (PACKAGE_STARS_MAX): make two packages"
                );
                return Err(fault(compiling, &item, &words));
            }
            patterns.push(Pattern { kind: kind.to_string(), name: name.to_string() });
        }
    }
    for pattern in &patterns {
        if !pattern.has_star() {
            compiling.refer(&pattern.kind, &pattern.name);
        }
    }
    let mut writer = Writer::default();
    writer.u8(PATTERNS);
    writer.list(&patterns, |writer, pattern| {
        writer.text(&pattern.kind);
        writer.text(&pattern.name);
    });
    Ok(writer.finish())
}

/// The data of a package after its first byte, which must be `form`.
fn package_reader(bytes: &[u8], form: u8) -> Result<Reader<'_>, Error> {
    let mut reader = Reader::new(bytes);
    match reader.u8()? == form {
        true => Ok(reader),
        false => Err(crate::error!("it is damaged: a package has another form")),
    }
}

/// Reads a compiled package.
pub fn read_package(bytes: &[u8]) -> Result<Vec<Pattern>, Error> {
    let mut reader = package_reader(bytes, PATTERNS)?;
    let mut stars = 0;
    let patterns = reader.list_at_most((PACKAGE_NAMES_MAX, "PACKAGE_NAMES_MAX"), |reader| {
        let pattern =
            Pattern { kind: reader.text()?.to_string(), name: reader.text()?.to_string() };
        if [&pattern.kind, &pattern.name].iter().any(|text| text.matches('*').count() > 1) {
            return Err(crate::error!("it is damaged: a pattern has more than one '*'"));
        }
        stars += usize::from(pattern.has_star());
        match stars <= PACKAGE_STARS_MAX {
            true => Ok(pattern),
            false => Err(crate::error!(
                "it is damaged: more than {PACKAGE_STARS_MAX} of its patterns have a '*' \
                 (PACKAGE_STARS_MAX)"
            )),
        }
    })?;
    reader.end()?;
    Ok(patterns)
}

/// A package as it is in a bundle, where there are no names for patterns to fit: its members, in
/// order of their ids.
pub fn write_members(members: &[IdString64]) -> Vec<u8> {
    let mut members = members.to_vec();
    members.sort_unstable();
    let mut writer = Writer::default();
    writer.u8(MEMBERS);
    writer.list(&members, |writer, id| writer.u64(id.0));
    writer.finish()
}

/// Reads a bundle's package. Every member is there once: all of them are read and checked.
pub fn read_members(bytes: &[u8]) -> Result<Vec<IdString64>, Error> {
    let mut reader = package_reader(bytes, MEMBERS)?;
    let limit = (PACKAGE_MEMBERS_MAX, "PACKAGE_MEMBERS_MAX");
    let members = reader.list_at_most(limit, |reader| reader.u64().map(IdString64))?;
    reader.end()?;
    match members.is_sorted_by(|a, b| a < b) {
        true => Ok(members),
        false => Err(crate::error!("it is damaged: its members are out of order, or repeat")),
    }
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
    let mut reader = Reader::new(bytes);
    let tree = get_tree(&mut reader, sjson::NESTING_MAX)?;
    reader.end()?;
    Ok(tree)
}

/// Reads a tree's blob as a document, so that the rules for its source can be applied to it.
pub fn read_document(bytes: &[u8]) -> Result<sjson::Document, Error> {
    sjson::Document::of_tree(&read_tree(bytes)?)
}

/// Reads a value in which lists and objects nest at most `depth` deep.
fn get_tree(reader: &mut Reader, depth: usize) -> Result<Tree, Error> {
    let deeper = || {
        let too_deep = || crate::error!("it is damaged: it is nested too deep");
        depth.checked_sub(1).ok_or_else(too_deep)
    };
    // A tree takes many times what its bytes do.
    limit::check_over()?;
    Ok(match reader.u8()? {
        0 => Tree::Null,
        kind @ (1 | 2) => Tree::Bool(kind == 2),
        3 => match reader.f64()? {
            number if number.is_finite() => Tree::Number(number),
            number => return Err(crate::error!("it is damaged: it has the number {number}")),
        },
        4 => Tree::String(reader.text()?.to_string()),
        5 => {
            let depth = deeper()?;
            Tree::Array(reader.list(|reader| get_tree(reader, depth))?)
        }
        6 => {
            let depth = deeper()?;
            let entry =
                |reader: &mut Reader| Ok((reader.text()?.to_string(), get_tree(reader, depth)?));
            Tree::Object(reader.list(entry)?)
        }
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
        validate: |_| Ok(()),
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
    fn a_tree_may_nest_as_deep_as_a_text_and_no_deeper() {
        let nested = |depth: usize| "[".repeat(depth) + "1" + &"]".repeat(depth);
        let (data, _) = compile(&CONFIG, &nested(sjson::NESTING_MAX)).unwrap();
        assert!((CONFIG.validate)(&data).is_ok());
        let deeper = [&[5, 1, 0, 0, 0], &data[..]].concat();
        let words = read_tree(&deeper).unwrap_err().message;
        assert_eq!(words, "it is damaged: it is nested too deep");
    }

    #[test]
    fn data_that_no_text_could_become_is_refused() {
        let check = |kind: &Kind, data: &[u8], wanted: &str| {
            let words = (kind.validate)(data).unwrap_err().message;
            assert_eq!(words, format!("it is damaged: {wanted}"));
        };
        let nan = write_tree(&Tree::Number(f64::NAN));
        check(&CONFIG, &nan, "it has the number NaN");
        check(&CONFIG, &[0, 0], "1 bytes follow its end");
        let twice = Tree::Object(vec![("a".into(), Tree::Null), ("a".into(), Tree::Null)]);
        check(&CONFIG, &write_tree(&twice), "the key 'a' is there twice");
        check(&TEXT, b"\xff", "it is not UTF-8");
        check(&PACKAGE, &[7, 0, 0, 0, 0], "a package has another form");
        let mut stars = Writer::default();
        stars.u8(PATTERNS);
        stars.list(&["*a*"], |writer, name| {
            writer.text("text");
            writer.text(name);
        });
        check(&PACKAGE, &stars.finish(), "a pattern has more than one '*'");
        let members = write_members(&[IdString64(3)]);
        assert_eq!((PACKAGE.validate)(&members), Ok(()));
        check(&PACKAGE, &members[..12], "it ends where 8 more bytes should be");
        let number = Tree::Object(vec![("play".into(), Tree::Number(3.0))]);
        let words = (STRINGS.validate)(&write_tree(&number)).unwrap_err().message;
        assert!(words.starts_with("'play' must be text in quotes"), "{words}");
    }

    fn patterns(count: usize, name: &str) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u8(PATTERNS);
        writer.list(&vec![name; count], |writer, name| {
            writer.text("texture");
            writer.text(name);
        });
        writer.finish()
    }

    #[test]
    fn compiled_packages_are_held_to_the_limits_of_their_sources() {
        let check = |data: &[u8], wanted: &str| {
            let words = (PACKAGE.validate)(data).unwrap_err().message;
            assert_eq!(words, format!("it is damaged: {wanted}"));
        };
        assert_eq!((PACKAGE.validate)(&patterns(PACKAGE_STARS_MAX, "*")), Ok(()));
        let words = "more than 256 of its patterns have a '*' (PACKAGE_STARS_MAX)";
        check(&patterns(PACKAGE_STARS_MAX + 1, "*"), words);
        assert_eq!((PACKAGE.validate)(&patterns(PACKAGE_NAMES_MAX, "a")), Ok(()));
        let words = "it lists 65537 items, and 65536 are the most (PACKAGE_NAMES_MAX)";
        check(&patterns(PACKAGE_NAMES_MAX + 1, "a"), words);
        // A hole in a file: refused by its count, before there is a pattern for every eight bytes.
        let mut zeros = vec![0; 64 << 20];
        zeros[1..5].copy_from_slice(&(8u32 << 20).to_le_bytes());
        check(&zeros, "it lists 8388608 items, and 65536 are the most (PACKAGE_NAMES_MAX)");
        zeros[0] = MEMBERS;
        check(&zeros, "it lists 8388608 items, and 1048576 are the most (PACKAGE_MEMBERS_MAX)");
    }

    #[test]
    fn every_member_of_a_package_is_there_once() {
        let written = |ids: &[u64]| {
            let mut writer = Writer::default();
            writer.u8(MEMBERS);
            writer.list(ids, |writer, id| writer.u64(*id));
            writer.finish()
        };
        let members = write_members(&[IdString64(9), IdString64(2)]);
        assert_eq!(members, written(&[2, 9]));
        assert_eq!(read_members(&members).unwrap(), [IdString64(2), IdString64(9)]);
        for wrong in [vec![9, 2], vec![2, 2], vec![7; 1_000_000]] {
            let words = (PACKAGE.validate)(&written(&wrong)).unwrap_err().message;
            assert_eq!(words, "it is damaged: its members are out of order, or repeat");
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
        let words = |text: &str| compile(&PACKAGE, text).unwrap_err();
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
        let many = |name: &str, count: usize| {
            let names = (0..count).map(|i| format!("\"{name}{i}\"")).collect::<Vec<_>>();
            words(&format!("texture = [{}]", names.join(" ")))
        };
        assert_eq!(
            many("*", PACKAGE_STARS_MAX + 1),
            "x.package:1: a package has at most 256 patterns with a '*' (PACKAGE_STARS_MAX): make \
             two packages"
        );
        assert_eq!(
            many("a", PACKAGE_NAMES_MAX + 1),
            "x.package:1: a package has at most 65536 names (PACKAGE_NAMES_MAX): use a pattern, or \
             more packages"
        );
    }
}
