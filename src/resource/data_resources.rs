//! Resource kinds of plain data: texts, configurations, translations, binary files, packages. Their
//! compiled form is text or a small blob. The modules that use them interpret the data.

use super::resource_kind::{CompileContext, ResourceKind, SourceForm, compiler, kind_names};
use super::resource_name::ResourceName;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::hash::IdString64;
use engine_foundation::memory::limit;
use engine_foundation::sjson::{self, SjsonTree, SjsonValue};
use engine_foundation::suggest;

/// Plain text, stored unchanged.
pub static TEXT: ResourceKind = ResourceKind {
    name: kind_names::TEXT,
    doc: "Plain text (UTF-8)",
    extensions: &[
        ("text", SourceForm::Own),
        ("txt", SourceForm::Raw),
        ("md", SourceForm::Raw),
        // Languages that a game's searcher of modules translates to Lua: Fennel, MoonScript, Teal.
        ("fnl", SourceForm::Raw),
        ("moon", SourceForm::Raw),
        ("tl", SourceForm::Raw),
    ],
    version: 1,
    framed: false,
    reload: &[],
    compile: compiler(|context| {
        context.text()?;
        Ok(std::mem::take(&mut context.bytes))
    }),
    validate: |bytes| text(bytes).map(drop),
};

/// Binary data, stored unchanged.
pub static BINARY: ResourceKind = ResourceKind {
    name: kind_names::BINARY,
    doc: "Bytes that the game interprets itself",
    extensions: &[("binary", SourceForm::Own), ("bin", SourceForm::Raw)],
    version: 1,
    framed: false,
    reload: &[],
    compile: compiler(|context| Ok(std::mem::take(&mut context.bytes))),
    // Games interpret the bytes themselves.
    validate: |_| Ok(()),
};

/// Configuration tables with content that the game defines.
pub static CONFIG: ResourceKind = ResourceKind {
    name: kind_names::CONFIG,
    doc: "A table for the game, written in SJSON or JSON",
    extensions: &[("config", SourceForm::Own), ("json", SourceForm::Raw)],
    version: 1,
    framed: false,
    reload: &[],
    compile: compiler(|context| {
        let tree = document(context)?.to_tree();
        Ok(write_tree(&tree))
    }),
    validate: |bytes| read_document(bytes).map(drop),
};

/// Translations.
pub static STRINGS: ResourceKind = ResourceKind {
    name: kind_names::STRINGS,
    doc: "Translations: for each key one text, or one text per language",
    extensions: &[("strings", SourceForm::Own)],
    version: 1,
    framed: false,
    reload: &[],
    compile: compiler(compile_strings),
    validate: |bytes| {
        check_strings(read_document(bytes)?.root()).map_err(|(_, message)| Error::new(message))
    },
};

/// Packages: sets of resources that are loaded together.
pub static PACKAGE: ResourceKind = ResourceKind {
    name: kind_names::PACKAGE,
    doc: "A set of resources that are loaded and unloaded together",
    extensions: &[("package", SourceForm::Own)],
    version: 4,
    framed: false,
    reload: &[],
    compile: compiler(compile_package),
    validate: |bytes| match bytes.first() {
        Some(&MEMBERS) => read_members(bytes).map(drop),
        _ => read_package(bytes).map(drop),
    },
};

fn document(context: &CompileContext) -> Result<sjson::Document, Error> {
    sjson::parse_bytes(&context.bytes).map_err(|error| Error::new(error.in_file(&context.path)))
}

fn error_at(context: &CompileContext, value: &SjsonValue, message: &str) -> Error {
    context.error_at(value.line(), message)
}

/// Returns compiled data as text, or an error if it is not UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes)
        .map_err(|_| engine_foundation::error!("it is damaged: it is not UTF-8"))
}

fn compile_strings(context: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = document(context)?;
    check_strings(document.root())
        .map_err(|(value, message)| error_at(context, &value, &message))?;
    Ok(write_tree(&document.to_tree()))
}

/// Refuses translations that are not text. The error is the offending value with its message.
fn check_strings(root: SjsonValue) -> Result<(), (SjsonValue, String)> {
    for entry in root.entries().into_iter().flatten() {
        let key = entry.key;
        let invalid = match entry.value.entries() {
            None => entry.value.as_str().is_none().then_some(entry.value),
            Some(mut languages) => {
                languages.find(|each| each.value.as_str().is_none()).map(|each| each.value)
            }
        };
        if let Some(value) = invalid {
            let message = format!(
                "'{key}' must be text in quotes, or a block of languages with a text each, got {}",
                value.kind()
            );
            return Err((value, message));
        }
    }
    Ok(())
}

/// First byte of a package's data that holds patterns, as its source does.
const PATTERNS: u8 = 0;
/// First byte of a package's data that holds members, as a bundle does.
const MEMBERS: u8 = 1;
/// Maximum number of names in one package, including patterns.
pub const PACKAGE_NAMES_MAX: usize = 65_536;
/// Maximum number of patterns with a star. Each one is compared with every resource of the game.
pub const PACKAGE_STARS_MAX: usize = 256;
/// Maximum number of members of a bundle's package: all resources that its patterns match, and the
/// resources that those refer to.
pub const PACKAGE_MEMBERS_MAX: usize = 1 << 20;

/// A pattern of a package: type and name, each with at most one `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagePattern {
    pub kind: String,
    pub name: String,
}

impl PackagePattern {
    /// Returns true if the pattern has a star, so that it is compared with every resource of the
    /// game.
    pub fn has_star(&self) -> bool {
        self.kind.contains('*') || self.name.contains('*')
    }

    /// Returns true if the pattern matches the resource.
    pub fn matches(&self, resource: &ResourceName) -> bool {
        matches_star(&self.kind, &resource.kind) && matches_star(&self.name, &resource.name)
    }
}

fn matches_star(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, end)) => {
            let is_long_enough = text.len() >= start.len() + end.len();
            is_long_enough && text.starts_with(start) && text.ends_with(end)
        }
    }
}

fn compile_package(context: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = document(context)?;
    let (mut patterns, mut stars) = (Vec::new(), 0);
    for entry in document.root().entries().into_iter().flatten() {
        let kind = entry.key;
        let kinds = context.kinds.0.iter().map(|kind| kind.name);
        if kinds.len() > 0 && !kind.contains('*') && context.kinds.by_name(kind).is_none() {
            let hint = suggest::hint(kind, kinds.clone());
            let known = kinds.collect::<Vec<_>>().join(", ");
            let message = format!("there is no type '{kind}'{hint} (known: {known})");
            return Err(context.error_at(entry.line(), &message));
        }
        let type_message = format!("'{kind}' must be a list of names: {kind} = [\"name\", …]");
        let items =
            entry.value.items().ok_or_else(|| error_at(context, &entry.value, &type_message))?;
        for item in items {
            let name = item.as_str().ok_or_else(|| error_at(context, &item, &type_message))?;
            if [kind, name].iter().any(|text| text.matches('*').count() > 1) {
                let message =
                    format!("'{name}': a '*' can be used once in a name and once in a type");
                return Err(error_at(context, &item, &message));
            }
            stars += usize::from(kind.contains('*') || name.contains('*'));
            if patterns.len() == PACKAGE_NAMES_MAX {
                let message = format!(
                    "a package has at most {PACKAGE_NAMES_MAX} names (PACKAGE_NAMES_MAX): use a \
                     pattern, or more packages"
                );
                return Err(error_at(context, &item, &message));
            }
            if stars > PACKAGE_STARS_MAX {
                let message = format!(
                    "a package has at most {PACKAGE_STARS_MAX} patterns with a '*' \
                     (PACKAGE_STARS_MAX): make two packages"
                );
                return Err(error_at(context, &item, &message));
            }
            patterns.push(PackagePattern { kind: kind.to_string(), name: name.to_string() });
        }
    }
    for pattern in &patterns {
        if !pattern.has_star() {
            context.refer(&pattern.kind, &pattern.name);
        }
    }
    let mut writer = BlobWriter::default();
    writer.u8(PATTERNS);
    writer.list(&patterns, |writer, pattern| {
        writer.text(&pattern.kind);
        writer.text(&pattern.name);
    });
    Ok(writer.finish())
}

/// Returns a reader of a package's data after its first byte, which must be `form`.
fn package_reader(bytes: &[u8], form: u8) -> Result<BlobReader<'_>, Error> {
    let mut reader = BlobReader::new(bytes);
    match reader.u8()? == form {
        true => Ok(reader),
        false => Err(engine_foundation::error!("it is damaged: a package has another form")),
    }
}

/// Reads a compiled package.
pub fn read_package(bytes: &[u8]) -> Result<Vec<PackagePattern>, Error> {
    let mut reader = package_reader(bytes, PATTERNS)?;
    let mut stars = 0;
    let patterns = reader.list_at_most((PACKAGE_NAMES_MAX, "PACKAGE_NAMES_MAX"), |reader| {
        let pattern =
            PackagePattern { kind: reader.text()?.to_string(), name: reader.text()?.to_string() };
        if [&pattern.kind, &pattern.name].iter().any(|text| text.matches('*').count() > 1) {
            return Err(engine_foundation::error!(
                "it is damaged: a pattern has more than one '*'"
            ));
        }
        stars += usize::from(pattern.has_star());
        match stars <= PACKAGE_STARS_MAX {
            true => Ok(pattern),
            false => Err(engine_foundation::error!(
                "it is damaged: more than {PACKAGE_STARS_MAX} of its patterns have a '*' \
                 (PACKAGE_STARS_MAX)"
            )),
        }
    })?;
    reader.end()?;
    Ok(patterns)
}

/// Encodes a package for a bundle: its members, in order of their ids. A bundle has no names that
/// patterns could match.
pub fn write_members(members: &[IdString64]) -> Vec<u8> {
    let mut members = members.to_vec();
    members.sort_compact();
    let mut writer = BlobWriter::default();
    writer.u8(MEMBERS);
    writer.list(&members, |writer, id| writer.u64(id.0));
    writer.finish()
}

/// Reads a bundle's package. All members are read and checked, and each one must occur exactly
/// once.
pub fn read_members(bytes: &[u8]) -> Result<Vec<IdString64>, Error> {
    let mut reader = package_reader(bytes, MEMBERS)?;
    let limit = (PACKAGE_MEMBERS_MAX, "PACKAGE_MEMBERS_MAX");
    let members = reader.list_at_most(limit, |reader| reader.u64().map(IdString64))?;
    reader.end()?;
    match members.is_sorted_by(|a, b| a < b) {
        true => Ok(members),
        false => {
            Err(engine_foundation::error!("it is damaged: its members are out of order, or repeat"))
        }
    }
}

/// Encodes a tree as a blob: a type byte before each value.
pub fn write_tree(tree: &SjsonTree) -> Vec<u8> {
    let mut writer = BlobWriter::default();
    write_node(&mut writer, tree);
    writer.finish()
}

fn write_node(writer: &mut BlobWriter, tree: &SjsonTree) {
    match tree {
        SjsonTree::Null => writer.u8(0),
        SjsonTree::Bool(value) => writer.u8(1 + u8::from(*value)),
        SjsonTree::Number(value) => {
            writer.u8(3);
            writer.f64(*value);
        }
        SjsonTree::String(text) => {
            writer.u8(4);
            writer.text(text);
        }
        SjsonTree::Array(items) => {
            writer.u8(5);
            writer.list(items, write_node);
        }
        SjsonTree::Object(entries) => {
            writer.u8(6);
            writer.list(entries, |writer, (key, value)| {
                writer.text(key);
                write_node(writer, value);
            });
        }
    }
}

/// Decodes a tree's blob. Malicious bytes produce an error.
pub fn read_tree(bytes: &[u8]) -> Result<SjsonTree, Error> {
    let mut reader = BlobReader::new(bytes);
    let tree = read_node(&mut reader, sjson::NESTING_MAX)?;
    reader.end()?;
    Ok(tree)
}

/// Decodes a tree's blob as a document, so that the rules for its source can be applied to it.
pub fn read_document(bytes: &[u8]) -> Result<sjson::Document, Error> {
    sjson::Document::from_tree(&read_tree(bytes)?)
}

/// Reads a value in which lists and objects nest at most `depth` levels deep.
fn read_node(reader: &mut BlobReader, depth: usize) -> Result<SjsonTree, Error> {
    let inner_depth = || {
        let too_deep = || engine_foundation::error!("it is damaged: it is nested too deep");
        depth.checked_sub(1).ok_or_else(too_deep)
    };
    // A tree needs many times the memory of its bytes.
    limit::check_over()?;
    Ok(match reader.u8()? {
        0 => SjsonTree::Null,
        kind @ (1 | 2) => SjsonTree::Bool(kind == 2),
        3 => match reader.f64()? {
            number if number.is_finite() => SjsonTree::Number(number),
            number => {
                return Err(engine_foundation::error!("it is damaged: it has the number {number}"));
            }
        },
        4 => SjsonTree::String(reader.text()?.to_string()),
        5 => {
            let depth = inner_depth()?;
            SjsonTree::Array(reader.list(|reader| read_node(reader, depth))?)
        }
        6 => {
            let depth = inner_depth()?;
            let entry = |reader: &mut BlobReader| {
                Ok((reader.text()?.to_string(), read_node(reader, depth)?))
            };
            SjsonTree::Object(reader.list(entry)?)
        }
        kind => {
            return Err(engine_foundation::error!(
                "it is damaged: there is no value of kind {kind}"
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::resource_kind::ResourceKinds;
    use super::*;

    static TEXTURE: ResourceKind = ResourceKind {
        name: "texture",
        doc: "A picture",
        extensions: &[("png", SourceForm::Raw)],
        version: 1,
        framed: false,
        reload: &[],
        compile: |context| Ok(std::mem::take(&mut context.bytes)),
        validate: |_| Ok(()),
    };

    const KINDS: ResourceKinds = ResourceKinds(&[&TEXT, &CONFIG, &TEXTURE]);

    fn compile(kind: &ResourceKind, text: &str) -> Result<(Vec<u8>, Vec<String>), String> {
        let name = ResourceName::new(kind.name, "x");
        let read = |_: &str| Err(engine_foundation::error!("no other file"));
        let bytes = text.as_bytes().to_vec();
        let mut context = CompileContext::new(
            name,
            format!("x.{}", kind.name),
            SourceForm::Own,
            bytes,
            false,
            &read,
        );
        context.kinds = KINDS;
        let data = (kind.compile)(&mut context).map_err(|error| error.message)?;
        Ok((data, context.references.iter().map(|name| name.to_string()).collect()))
    }

    #[test]
    fn a_configuration_survives_a_round_trip() {
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
    fn a_tree_has_the_nesting_limit_of_its_source() {
        let nested = |depth: usize| "[".repeat(depth) + "1" + &"]".repeat(depth);
        let (data, _) = compile(&CONFIG, &nested(sjson::NESTING_MAX)).unwrap();
        assert!((CONFIG.validate)(&data).is_ok());
        let nested_deeper = [&[5, 1, 0, 0, 0], &data[..]].concat();
        let message = read_tree(&nested_deeper).unwrap_err().message;
        assert_eq!(message, "it is damaged: it is nested too deep");
    }

    #[test]
    fn data_that_no_source_can_produce_is_refused() {
        let check = |kind: &ResourceKind, data: &[u8], wanted: &str| {
            let message = (kind.validate)(data).unwrap_err().message;
            assert_eq!(message, format!("it is damaged: {wanted}"));
        };
        let nan = write_tree(&SjsonTree::Number(f64::NAN));
        check(&CONFIG, &nan, "it has the number NaN");
        check(&CONFIG, &[0, 0], "1 bytes follow its end");
        let twice =
            SjsonTree::Object(vec![("a".into(), SjsonTree::Null), ("a".into(), SjsonTree::Null)]);
        check(&CONFIG, &write_tree(&twice), "the key 'a' appears twice");
        check(&TEXT, b"\xff", "it is not UTF-8");
        check(&PACKAGE, &[7, 0, 0, 0, 0], "a package has another form");
        let mut stars = BlobWriter::default();
        stars.u8(PATTERNS);
        stars.list(&["*a*"], |writer, name| {
            writer.text("text");
            writer.text(name);
        });
        check(&PACKAGE, &stars.finish(), "a pattern has more than one '*'");
        let members = write_members(&[IdString64(3)]);
        assert_eq!((PACKAGE.validate)(&members), Ok(()));
        check(&PACKAGE, &members[..12], "it ends where 8 more bytes should be");
        let number = SjsonTree::Object(vec![("play".into(), SjsonTree::Number(3.0))]);
        let message = (STRINGS.validate)(&write_tree(&number)).unwrap_err().message;
        assert!(message.starts_with("'play' must be text in quotes"), "{message}");
    }

    fn patterns(count: usize, name: &str) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.u8(PATTERNS);
        writer.list(&vec![name; count], |writer, name| {
            writer.text("texture");
            writer.text(name);
        });
        writer.finish()
    }

    #[test]
    fn limits_of_packages_apply_to_compiled_data() {
        let check = |data: &[u8], wanted: &str| {
            let message = (PACKAGE.validate)(data).unwrap_err().message;
            assert_eq!(message, format!("it is damaged: {wanted}"));
        };
        assert_eq!((PACKAGE.validate)(&patterns(PACKAGE_STARS_MAX, "*")), Ok(()));
        let message = "more than 256 of its patterns have a '*' (PACKAGE_STARS_MAX)";
        check(&patterns(PACKAGE_STARS_MAX + 1, "*"), message);
        assert_eq!((PACKAGE.validate)(&patterns(PACKAGE_NAMES_MAX, "a")), Ok(()));
        let message = "it lists 65537 items, and 65536 are the most (PACKAGE_NAMES_MAX)";
        check(&patterns(PACKAGE_NAMES_MAX + 1, "a"), message);
        // A sparse file is refused by its count, before a pattern is allocated for every eight
        // bytes.
        let mut zeros = vec![0; 64 << 20];
        zeros[1..5].copy_from_slice(&(8u32 << 20).to_le_bytes());
        check(&zeros, "it lists 8388608 items, and 65536 are the most (PACKAGE_NAMES_MAX)");
        zeros[0] = MEMBERS;
        check(&zeros, "it lists 8388608 items, and 1048576 are the most (PACKAGE_MEMBERS_MAX)");
    }

    #[test]
    fn every_member_of_a_package_is_listed_once() {
        let written = |ids: &[u64]| {
            let mut writer = BlobWriter::default();
            writer.u8(MEMBERS);
            writer.list(ids, |writer, id| writer.u64(*id));
            writer.finish()
        };
        let members = write_members(&[IdString64(9), IdString64(2)]);
        assert_eq!(members, written(&[2, 9]));
        assert_eq!(read_members(&members).unwrap(), [IdString64(2), IdString64(9)]);
        for wrong in [vec![9, 2], vec![2, 2], vec![7; 1_000_000]] {
            let message = (PACKAGE.validate)(&written(&wrong)).unwrap_err().message;
            assert_eq!(message, "it is damaged: its members are out of order, or repeat");
        }
    }

    #[test]
    fn translations_must_be_strings() {
        assert!(compile(&STRINGS, "play = \"Play\"\nquit = { en = \"Quit\" }").is_ok());
        let message = compile(&STRINGS, "play = \"Play\"\nquit = 3").unwrap_err();
        assert!(message.starts_with("x.strings:2: 'quit' must be text in quotes"), "{message}");
        assert!(compile(&STRINGS, "quit = { en = 1 }").is_err());
    }

    #[test]
    fn a_package_keeps_its_patterns_and_refers_to_its_members() {
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
    fn an_error_in_a_package_has_a_location() {
        let message = |text: &str| compile(&PACKAGE, text).unwrap_err();
        assert_eq!(
            message("texture = \"a\""),
            "x.package:1: 'texture' must be a list of names: texture = [\"name\", …]"
        );
        assert_eq!(
            message("text = [\"a\"]\ntxt = [\"a\"]"),
            "x.package:2: there is no type 'txt', did you mean 'text'? (known: text, config, \
             texture)"
        );
        let stars = "x.package:1: '*a*': a '*' can be used once in a name and once in a type";
        assert_eq!(message("texture = [\"*a*\"]"), stars);
        assert!(message("texture = [\"a\"").starts_with("x.package:1:11: list is not closed"));
        let many = |name: &str, count: usize| {
            let names = (0..count).map(|i| format!("\"{name}{i}\"")).collect::<Vec<_>>();
            message(&format!("texture = [{}]", names.join(" ")))
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
