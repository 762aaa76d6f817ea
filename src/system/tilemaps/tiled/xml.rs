//! Conversion of Tiled's XML (`.tmx`, `.tsx`) into the tree that Tiled's JSON would give.

use super::super::field_types::{FieldType, tiled_type};
use super::super::source_tree::object;
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::xml::{XmlCutShort, XmlEvent, XmlReader, XmlTag};

/// Maximum nesting depth of elements.
const DEPTH_MAX: usize = 64;

struct XmlElement {
    tag: String,
    attributes: Vec<(String, String)>,
    children: Vec<XmlElement>,
    text: String,
}

/// Parses the text of a file into a tree.
pub fn parse(path: &str, bytes: &[u8]) -> Result<SjsonTree, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| error!("{path}: the file is not UTF-8"))?;
    let root = TmxReader { path, xml: XmlReader::new(text) }.root()?;
    Ok(root.tree())
}

struct TmxReader<'a> {
    path: &'a str,
    xml: XmlReader<'a>,
}

impl<'a> TmxReader<'a> {
    fn fault(&self, message: &str) -> Error {
        error!("{}:{}: {message}", self.path, self.xml.line())
    }

    /// Returns the next event; `None` at the end of the file.
    fn event(&mut self) -> Result<Option<XmlEvent<'a>>, Error> {
        match self.xml.next_event() {
            Ok(event) => Ok(event),
            Err(XmlCutShort) => {
                Err(self.fault("a tag or a comment has no end: the file is cut short"))
            }
        }
    }

    fn root(&mut self) -> Result<XmlElement, Error> {
        loop {
            match self.event()? {
                Some(XmlEvent::Open(tag)) => return self.element(&tag, 0),
                Some(XmlEvent::Close | XmlEvent::Text(_)) => {}
                None => {
                    return Err(self.fault("the file has no XML element: save it in Tiled again"));
                }
            }
        }
    }

    /// Parses an element after its start tag.
    fn element(&mut self, tag: &XmlTag, depth: usize) -> Result<XmlElement, Error> {
        if depth == DEPTH_MAX {
            return Err(self.fault("elements are nested too deep"));
        }
        let attributes = tag
            .attributes()
            .map_err(|_| self.fault(&format!("the attributes of '{}' cannot be read", tag.name)))?;
        if let Some(message) = mismatch(tag.name, &attributes) {
            return Err(self.fault(&message));
        }
        let (children, text) = (Vec::new(), String::new());
        let mut element = XmlElement { tag: tag.name.to_string(), attributes, children, text };
        if tag.is_empty {
            return Ok(element);
        }
        loop {
            match self.event()? {
                Some(XmlEvent::Open(tag)) => element.children.push(self.element(&tag, depth + 1)?),
                Some(XmlEvent::Close) => return Ok(element),
                Some(XmlEvent::Text(text)) => element.text += &text,
                None => {
                    let message =
                        format!("the element '{}' has no end: the file is cut short", element.tag);
                    return Err(self.fault(&message));
                }
            }
        }
    }
}

/// Parses a finite number; "inf" and "1e999" are rejected.
fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Returns an error for the first attribute of an element whose value has another type than Tiled
/// writes.
fn mismatch(tag: &str, attributes: &[(String, String)]) -> Option<String> {
    let get = |name: &str| attributes.iter().find(|(known, _)| known == name).map(|it| &it.1[..]);
    let wanted = |name: &str, value: &str| match name {
        "value" if tag == "property" => match get("type") {
            Some("int" | "float" | "object") if finite(value).is_none() => Some("a number"),
            Some("bool") if !["true", "false"].contains(&value) => Some("true or false"),
            _ => None,
        },
        "points" => Some("pairs of numbers").filter(|_| value.split_whitespace().any(is_no_point)),
        _ => match tiled_type(name) {
            Some(FieldType::Number | FieldType::Flag) if finite(value).is_none() => {
                Some("a number")
            }
            _ => None,
        },
    };
    let (name, value, wanted) = attributes.iter().find_map(|(name, value)| {
        wanted(name, value).map(|wanted| (name.as_str(), value.as_str(), wanted))
    })?;
    let owner = match get("name") {
        Some(own) if !own.is_empty() => format!("{tag} '{own}'"),
        _ => format!("'{tag}'"),
    };
    let value = match name {
        "points" => value.split_whitespace().find(|pair| is_no_point(pair)).unwrap_or(value),
        _ => value,
    };
    Some(format!("'{name}' of {owner} must be {wanted}, got '{value}'"))
}

/// Attributes that stay text even if they look like numbers.
const TEXTS: [&str; 12] = [
    "name",
    "class",
    "type",
    "image",
    "source",
    "orientation",
    "value",
    "encoding",
    "compression",
    "template",
    "tintcolor",
    "trans",
];

impl XmlElement {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name)?;
        Some(&found.1)
    }

    fn child(&self, tag: &str) -> Option<&XmlElement> {
        self.children.iter().find(|child| child.tag == tag)
    }

    fn list(&self, tags: &[&str]) -> SjsonTree {
        let matching = self.children.iter().filter(|child| tags.contains(&child.tag.as_str()));
        SjsonTree::Array(matching.map(XmlElement::tree).collect())
    }

    /// Parses comma-separated integers.
    fn numbers(text: &str) -> SjsonTree {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let number = |part: &str| finite(part).map_or(SjsonTree::Null, SjsonTree::Number);
        SjsonTree::Array(parts.map(number).collect())
    }

    /// Returns the attributes as fields.
    fn fields(&self) -> Vec<(String, SjsonTree)> {
        let mut fields: Vec<(String, SjsonTree)> = Vec::new();
        for (name, value) in &self.attributes {
            if self.tag == "property" && name == "value" {
                continue;
            }
            let number = finite(value).filter(|_| !TEXTS.contains(&name.as_str()));
            let tree = match number {
                Some(number) if name == "visible" => SjsonTree::Bool(number != 0.0),
                Some(number) => SjsonTree::Number(number),
                None => SjsonTree::String(value.clone()),
            };
            fields.push((name.clone(), tree));
        }
        fields
    }

    fn tree(&self) -> SjsonTree {
        let mut fields = self.fields();
        let mut add_field = |key: &str, tree: SjsonTree| fields.push((key.to_string(), tree));
        if let Some(properties) = self.child("properties") {
            add_field("properties", properties.list(&["property"]));
        }
        match self.tag.as_str() {
            "map" => {
                add_field("tilesets", self.list(&["tileset"]));
                add_field("layers", self.list(&["layer", "objectgroup", "group", "imagelayer"]));
            }
            "group" => {
                add_field("type", SjsonTree::String("group".to_string()));
                add_field("layers", self.list(&["layer", "objectgroup", "group", "imagelayer"]));
            }
            "template" => {
                for part in ["tileset", "object"] {
                    self.child(part).iter().for_each(|child| add_field(part, child.tree()));
                }
            }
            "tileset" => {
                self.add_image(&mut add_field);
                if let Some(offset) = self.child("tileoffset") {
                    add_field("tileoffset", offset.tree());
                }
                add_field("tiles", self.list(&["tile"]));
            }
            "tile" => {
                self.add_image(&mut add_field);
                if let Some(animation) = self.child("animation") {
                    add_field("animation", animation.list(&["frame"]));
                }
                if let Some(shapes) = self.child("objectgroup") {
                    add_field("objectgroup", shapes.tree());
                }
            }
            "layer" => {
                add_field("type", SjsonTree::String("tilelayer".to_string()));
                if let Some(data) = self.child("data") {
                    add_tiles(data, &mut add_field);
                }
            }
            "imagelayer" => {
                add_field("type", SjsonTree::String("imagelayer".to_string()));
                self.add_image(&mut add_field);
            }
            "objectgroup" => {
                add_field("type", SjsonTree::String("objectgroup".to_string()));
                add_field("objects", self.list(&["object"]));
            }
            "object" => {
                for outline in ["polygon", "polyline"] {
                    if let Some(points) = self.child(outline).and_then(|it| it.get("points")) {
                        add_field(outline, self::points(points));
                    }
                }
                for shape in ["ellipse", "point"] {
                    if self.child(shape).is_some() {
                        add_field(shape, SjsonTree::Bool(true));
                    }
                }
            }
            "property" => self.add_value(&mut add_field),
            _ => {}
        }
        SjsonTree::Object(fields)
    }

    /// Adds the image of a tile set, tile or layer.
    fn add_image(&self, add_field: &mut impl FnMut(&str, SjsonTree)) {
        let Some(image) = self.child("image") else { return };
        let named = [("source", "image"), ("trans", "transparentcolor")];
        for (name, key) in named {
            if let Some(value) = image.get(name) {
                add_field(key, SjsonTree::String(value.to_string()));
            }
        }
        for (name, key) in [("width", "imagewidth"), ("height", "imageheight")] {
            if let Some(side) = image.get(name).and_then(finite) {
                add_field(key, SjsonTree::Number(side));
            }
        }
    }

    /// Adds the value of a property, converted by its type. Multi-line values are the element's
    /// text.
    fn add_value(&self, add_field: &mut impl FnMut(&str, SjsonTree)) {
        let value = self.get("value").unwrap_or(&self.text);
        let tree = match self.get("type") {
            Some("int" | "float" | "object") => {
                finite(value).map_or(SjsonTree::Null, SjsonTree::Number)
            }
            Some("bool") => SjsonTree::Bool(value == "true"),
            Some("class") => match self.child("properties") {
                Some(members) => {
                    super::properties(&object(vec![("properties", members.list(&["property"]))]))
                }
                None => SjsonTree::Object(Vec::new()),
            },
            _ => SjsonTree::String(value.to_string()),
        };
        add_field("value", tree);
    }
}

/// Adds the tiles of a layer. Packed tiles stay text.
fn add_tiles(data: &XmlElement, add_field: &mut impl FnMut(&str, SjsonTree)) {
    for key in ["encoding", "compression"] {
        data.get(key).iter().for_each(|value| add_field(key, SjsonTree::String(value.to_string())));
    }
    let tiles = |of: &XmlElement| match data.get("encoding") {
        Some("csv") => XmlElement::numbers(&of.text),
        Some(_) => SjsonTree::String(of.text.clone()),
        None => {
            let tiles = of.children.iter().filter(|child| child.tag == "tile");
            let number = |tile: &XmlElement| tile.get("gid").and_then(finite).unwrap_or(0.0);
            SjsonTree::Array(tiles.map(|tile| SjsonTree::Number(number(tile))).collect())
        }
    };
    let chunks = data.children.iter().filter(|child| child.tag == "chunk");
    let chunks: Vec<SjsonTree> = chunks
        .map(|chunk| {
            let SjsonTree::Object(mut fields) = chunk.tree() else { return SjsonTree::Null };
            fields.push(("data".to_string(), tiles(chunk)));
            SjsonTree::Object(fields)
        })
        .collect();
    match chunks.is_empty() {
        true => add_field("data", tiles(data)),
        false => add_field("chunks", SjsonTree::Array(chunks)),
    }
}

/// Parses a point of the form `"10,5"`.
fn point(pair: &str) -> Option<SjsonTree> {
    let (x, y) = pair.split_once(',')?;
    let number = |text: &str| finite(text).map(SjsonTree::Number);
    let fields = vec![("x".to_string(), number(x)?), ("y".to_string(), number(y)?)];
    Some(SjsonTree::Object(fields))
}

fn is_no_point(pair: &str) -> bool {
    point(pair).is_none()
}

/// Parses points of the form `"0,0 10,5"`, which were checked with the attributes.
fn points(text: &str) -> SjsonTree {
    SjsonTree::Array(text.split_whitespace().filter_map(point).collect())
}
