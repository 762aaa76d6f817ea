//! Types of the fields of map files. A field with a value of another type is an error that names
//! the field and its object; an absent field, and a `null` of LDtk, keeps the default of
//! `source_tree.rs`.

use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;

/// Maximum number of characters of a text that a message repeats.
const SHOWN_MAX: usize = 40;

/// Type of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldType {
    Number,
    /// This many numbers.
    Numbers(usize),
    /// True or false, or a number.
    Flag,
    Text,
    /// A list of any values.
    List,
    /// A list of objects.
    Objects,
}

/// Fields of an editor's files.
pub(super) struct FileSchema {
    /// Returns the type of a field by its key; `None` for fields that no compiler reads.
    pub type_of: fn(&str) -> Option<FieldType>,
    /// Keys whose values have fields of the game, or of other parts of the editor.
    pub skipped: &'static [&'static str],
    pub remedy: &'static str,
}

/// Fields of Tiled's files. The attributes of its XML have the same names.
pub(super) const TILED: FileSchema = FileSchema {
    type_of: tiled_type,
    skipped: &["data", "editorsettings", "terrains", "transformations", "value", "wangsets"],
    remedy: "save the map again in Tiled",
};

/// Fields of LDtk's files.
pub(super) const LDTK: FileSchema = FileSchema {
    type_of: ldtk_type,
    skipped: &[
        "__header__",
        "autoRuleGroups",
        "cachedPixelData",
        "entities",
        "enums",
        "externalEnums",
        "fieldInstances",
        "levelFields",
        "savedSelections",
        "toc",
    ],
    remedy: "save the project again in LDtk",
};

/// Returns the type of a field of Tiled's files.
pub(super) fn tiled_type(key: &str) -> Option<FieldType> {
    Some(match key {
        "columns" | "duration" | "firstgid" | "gid" | "height" | "hexsidelength" | "id"
        | "imageheight" | "imagewidth" | "margin" | "offsetx" | "offsety" | "opacity"
        | "parallaxoriginx" | "parallaxoriginy" | "parallaxx" | "parallaxy" | "rotation"
        | "spacing" | "tilecount" | "tileheight" | "tileid" | "tilewidth" | "width" | "x" | "y" => {
            FieldType::Number
        }
        "ellipse" | "infinite" | "point" | "repeatx" | "repeaty" | "visible" => FieldType::Flag,
        "compression" | "draworder" | "image" | "name" | "orientation" | "renderorder"
        | "source" | "template" | "tintcolor" | "transparentcolor" => FieldType::Text,
        "animation" | "chunks" | "layers" | "objects" | "polygon" | "polyline" | "tiles"
        | "tilesets" => FieldType::Objects,
        _ => return None,
    })
}

fn ldtk_type(key: &str) -> Option<FieldType> {
    Some(match key {
        "__cHei" | "__cWid" | "__gridSize" | "__opacity" | "__pxTotalOffsetX"
        | "__pxTotalOffsetY" | "__tilesetDefUid" | "a" | "f" | "height" | "layerDefUid"
        | "padding" | "parallaxFactorX" | "parallaxFactorY" | "pxHei" | "pxWid" | "spacing"
        | "t" | "tileGridSize" | "tileId" | "uid" | "value" | "width" => FieldType::Number,
        "__pivot" | "px" | "scale" | "topLeftPx" => FieldType::Numbers(2),
        "cropRect" => FieldType::Numbers(4),
        "parallaxScaling" | "visible" => FieldType::Flag,
        "__identifier" | "bgRelPath" | "data" | "enumValueId" | "externalRelPath"
        | "identifier" | "relPath" => FieldType::Text,
        "intGridCsv" | "tileIds" => FieldType::List,
        "autoLayerTiles" | "customData" | "entityInstances" | "enumTags" | "gridTiles"
        | "intGridValues" | "layerInstances" | "levels" | "tilesets" | "worlds" => {
            FieldType::Objects
        }
        _ => return None,
    })
}

impl FieldType {
    /// Returns the error of a value that does not have this type.
    fn mismatch(self, key: &str, value: &SjsonTree) -> Option<String> {
        let is_number = |value: &&SjsonTree| matches!(value, SjsonTree::Number(_));
        let is_object = |value: &&SjsonTree| matches!(value, SjsonTree::Object(_));
        let is_valid = match (self, value) {
            (FieldType::Number | FieldType::Flag, SjsonTree::Number(_))
            | (FieldType::Flag, SjsonTree::Bool(_))
            | (FieldType::Text, SjsonTree::String(_))
            | (FieldType::List, SjsonTree::Array(_)) => true,
            (FieldType::Numbers(count), SjsonTree::Array(items)) => {
                items.len() == count && items.iter().all(|item| is_number(&item))
            }
            (FieldType::Objects, SjsonTree::Array(items)) => {
                items.iter().all(|item| is_object(&item))
            }
            _ => false,
        };
        let wanted = match self {
            _ if is_valid => return None,
            FieldType::Number => "a number",
            FieldType::Numbers(2) => "two numbers",
            FieldType::Numbers(_) => "four numbers",
            FieldType::Flag => "true or false",
            FieldType::Text => "a text",
            FieldType::List => "a list",
            FieldType::Objects => "a list of objects",
        };
        let found = match value {
            SjsonTree::Array(items) => {
                let wrong = match self {
                    FieldType::Numbers(_) => items.iter().find(|item| !is_number(item)),
                    FieldType::Objects => items.iter().find(|item| !is_object(item)),
                    _ => None,
                };
                match wrong {
                    Some(wrong) => format!("a list with {}", describe(wrong)),
                    None => describe(value),
                }
            }
            value => describe(value),
        };
        Some(format!("'{key}' must be {wanted}, got {found}"))
    }
}

/// Describes a value for a message.
fn describe(value: &SjsonTree) -> String {
    match value {
        SjsonTree::Null => "null".to_string(),
        SjsonTree::Bool(truth) => truth.to_string(),
        SjsonTree::Number(number) => number.to_string(),
        SjsonTree::String(text) if text.chars().count() > SHOWN_MAX => {
            format!("the text '{}…'", text.chars().take(SHOWN_MAX).collect::<String>())
        }
        SjsonTree::String(text) => format!("the text '{text}'"),
        SjsonTree::Array(items) if items.len() == 1 => "a list of 1 value".to_string(),
        SjsonTree::Array(items) => format!("a list of {} values", items.len()),
        SjsonTree::Object(_) => "an object".to_string(),
    }
}

/// Checks the fields of a whole file.
///
/// # Errors
/// Returns the first field with a value of another type, with the objects around it.
pub(super) fn check(path: &str, tree: &SjsonTree, schema: &FileSchema) -> Result<(), Error> {
    check_tree(tree, schema).map_err(|message| error!("{path}: {message}: {}", schema.remedy))
}

fn check_tree(tree: &SjsonTree, schema: &FileSchema) -> Result<(), String> {
    let SjsonTree::Object(fields) = tree else { return Ok(()) };
    for (key, value) in fields {
        if matches!(value, SjsonTree::Null) || schema.skipped.contains(&&key[..]) {
            continue;
        }
        if let Some(kind) = (schema.type_of)(key)
            && let Some(message) = kind.mismatch(key, value)
        {
            return Err(message);
        }
        match value {
            SjsonTree::Array(items) if key == "properties" => {
                items.iter().try_for_each(check_property)?;
            }
            SjsonTree::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    check_tree(item, schema).map_err(|message| {
                        format!("{key} {}{}: {message}", index + 1, quoted_name(item))
                    })?;
                }
            }
            SjsonTree::Object(_) => {
                check_tree(value, schema)
                    .map_err(|message| format!("{key}{}: {message}", quoted_name(value)))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the name of an object in quotes, after a space; empty if it has none.
fn quoted_name(object: &SjsonTree) -> String {
    let name = ["name", "identifier", "__identifier"].iter().find_map(|key| object.get(key));
    match name {
        Some(SjsonTree::String(name)) if !name.is_empty() => format!(" '{name}'"),
        _ => String::new(),
    }
}

/// Checks a property of Tiled, whose value has the type that the property states.
fn check_property(property: &SjsonTree) -> Result<(), String> {
    let (Some(SjsonTree::String(stated)), Some(value)) =
        (property.get("type"), property.get("value"))
    else {
        return Ok(());
    };
    let kind = match &stated[..] {
        "int" | "float" | "object" => FieldType::Number,
        "bool" => FieldType::Flag,
        _ => return Ok(()),
    };
    match kind.mismatch("value", value) {
        Some(message) => Err(format!("the property{}: {message}", quoted_name(property))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::compiled;

    /// Returns the error of a Tiled map in JSON with this field of a layer, object or property.
    #[track_caller]
    fn check_tmj(object: &str, wanted: &str) {
        let text = format!(
            r#"{{"orientation":"orthogonal","width":1,"height":1,"tilewidth":8,"tileheight":8,
            "layers":[{{"type":"objectgroup","name":"doors","objects":[{object}]}}]}}"#
        );
        let message = compiled("maps/x.tmj", &text, &[]).unwrap_err();
        let wanted = format!("maps/x.tmj: layers 1 'doors': {wanted}: save the map again in Tiled");
        assert_eq!(message, wanted);
    }

    #[test]
    fn fields_of_the_wrong_type_are_errors_with_their_object() {
        check_tmj(
            r#"{"name":"way","x":1},{"name":"exit","x":"left"}"#,
            "objects 2 'exit': 'x' must be a number, got the text 'left'",
        );
        check_tmj(
            r#"{"visible":[]}"#,
            "objects 1: 'visible' must be true or false, got a list of 0 values",
        );
        check_tmj(
            r#"{"polygon":[{"x":0,"y":"top"}]}"#,
            "objects 1: polygon 1: 'y' must be a number, got the text 'top'",
        );
        check_tmj(r#"3"#, "'objects' must be a list of objects, got a list with 3");
        check_tmj(
            r#"{"properties":[{"name":"speed","type":"float","value":"fast"}]}"#,
            "objects 1: the property 'speed': 'value' must be a number, got the text 'fast'",
        );
    }

    #[test]
    fn attributes_of_the_wrong_type_are_errors_with_their_line() {
        let check = |wrong: &str, right: &str, wanted: &str| {
            let text = "<map orientation=\"orthogonal\" width=\"1\" height=\"1\" tilewidth=\"8\" \
                        tileheight=\"8\">\n<tileset firstgid=\"1\" name=\"rock\" tilewidth=\"8\" \
                        tileheight=\"8\" tilecount=\"1\" columns=\"1\"><image source=\"r.png\" \
                        width=\"8\" height=\"8\"/></tileset>\n<objectgroup>\n<object \
                        name=\"door\" x=\"4\"><properties>\n<property name=\"speed\" \
                        type=\"float\" value=\"2\"/><property name=\"open\" type=\"bool\" \
                        value=\"true\"/></properties>\n<polygon points=\"0,0 2,0 2,2\"/>\
                        </object></objectgroup></map>";
            assert!(text.contains(right), "{right}");
            compiled("x.tmx", text, &[]).unwrap();
            let message = compiled("x.tmx", &text.replacen(right, wrong, 1), &[]).unwrap_err();
            assert_eq!(message, format!("x.tmx:{wanted}"));
        };
        check(" width=\"abc\"", " width=\"1\"", "1: 'width' of 'map' must be a number, got 'abc'");
        check(
            "firstgid=\"abc\"",
            "firstgid=\"1\"",
            "2: 'firstgid' of tileset 'rock' must be a number, got 'abc'",
        );
        check(
            " width=\"wide\"",
            " width=\"8\"",
            "2: 'width' of 'image' must be a number, got 'wide'",
        );
        check("x=\"left\"", "x=\"4\"", "4: 'x' of object 'door' must be a number, got 'left'");
        check(
            "value=\"fast\"",
            "value=\"2\"",
            "5: 'value' of property 'speed' must be a number, got 'fast'",
        );
        check(
            "value=\"yes\"",
            "value=\"true\"",
            "5: 'value' of property 'open' must be true or false, got 'yes'",
        );
        check(
            "points=\"0,0 20 2,2\"",
            "points=\"0,0 2,0 2,2\"",
            "6: 'points' of 'polygon' must be pairs of numbers, got '20'",
        );
    }

    #[test]
    fn fields_of_ldtk_levels_must_have_their_type() {
        let check = |level: &str, wanted: &str| {
            let text = format!("{{\"levels\":[{level}]}}");
            let message = compiled("x.ldtk", &text, &[]).unwrap_err();
            assert_eq!(message, format!("x.ldtk: {wanted}"));
        };
        let remedy = "save the project again in LDtk";
        let layer = |fields: &str| {
            format!(
                "{{\"identifier\":\"A\",\"pxWid\":8,\"pxHei\":8,\
                 \"layerInstances\":[{{\"__identifier\":\"Doors\",{fields}}}]}}"
            )
        };
        check(
            "{\"identifier\":\"A\",\"pxWid\":\"wide\"}",
            &format!("levels 1 'A': 'pxWid' must be a number, got the text 'wide': {remedy}"),
        );
        check(
            &layer("\"entityInstances\":[{\"__identifier\":\"Door\",\"px\":[\"a\",\"b\"]}]"),
            &format!(
                "levels 1 'A': layerInstances 1 'Doors': entityInstances 1 'Door': 'px' must be \
                 two numbers, got a list with the text 'a': {remedy}"
            ),
        );
        check(
            &layer("\"entityInstances\":[{\"__identifier\":\"Door\"}]"),
            &format!("entity 'Door' has no 'px': {remedy}"),
        );
        check(
            &layer("\"intGridCsv\":[1],\"__cWid\":1,\"__cHei\":1"),
            &format!("layer 'Doors' has no '__gridSize': {remedy}"),
        );
        check("{\"identifier\":\"A\"}", &format!("level 'A' has no 'pxHei': {remedy}"));
    }
}
