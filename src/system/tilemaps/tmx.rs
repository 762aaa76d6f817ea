//! Tiled's XML (`.tmx`, `.tsx`) as the tree that its JSON would be. Reads as much of XML as Tiled
//! writes: elements, attributes, text, comments, the five named characters and numbered ones.

use crate::error;
use crate::foundation::Error;
use crate::foundation::sjson::Tree;

/// Elements inside of each other.
const DEPTH_MAX: usize = 64;

struct Element {
    tag: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

/// The text of a file as a tree.
pub fn parse(path: &str, bytes: &[u8]) -> Result<Tree, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| error!("{path}: the file is not UTF-8"))?;
    let mut reader = Reader { path, text, at: 0 };
    let root = reader.root()?;
    Ok(root.tree())
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self, words: &str) -> Error {
        let line = 1 + self.text[..self.at].bytes().filter(|byte| *byte == b'\n').count();
        error!("{}:{line}: {words}", self.path)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Goes past what ends with `end`: what is before it.
    fn until(&mut self, end: &str) -> Result<&'a str, Error> {
        let rest = self.rest();
        let found = rest.find(end);
        let length = found.ok_or_else(|| self.fault("the file is cut short"))?;
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    fn root(&mut self) -> Result<Element, Error> {
        loop {
            self.until("<")?;
            if self.rest().starts_with("!--") {
                self.until("-->")?;
            } else if self.rest().starts_with(['?', '!']) {
                self.until(">")?;
            } else {
                return self.element(0);
            }
        }
    }

    /// An element, after its `<`.
    fn element(&mut self, depth: usize) -> Result<Element, Error> {
        if depth == DEPTH_MAX {
            return Err(self.fault("elements are nested too deep"));
        }
        let start = self.at;
        let inside = self.until(">")?;
        let (inside, is_empty) = match inside.strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let (tag, mut rest) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
        let mut element = Element {
            tag: tag.to_string(),
            attributes: Vec::new(),
            children: Vec::new(),
            text: String::new(),
        };
        while !rest.trim_start().is_empty() {
            let read = attribute(rest.trim_start());
            let (name, value, after) = read.ok_or_else(|| {
                self.at = start;
                self.fault(&format!("the attributes of '{tag}' cannot be read"))
            })?;
            element.attributes.push((name.to_string(), unescaped(value)));
            rest = after;
        }
        if is_empty {
            return Ok(element);
        }
        loop {
            element.text += &unescaped(self.until("<")?);
            let rest = self.rest();
            if rest.starts_with("!--") {
                self.until("-->")?;
            } else if rest.starts_with("![CDATA[") {
                self.at += "![CDATA[".len();
                element.text += self.until("]]>")?;
            } else if rest.starts_with('/') {
                self.until(">")?;
                return Ok(element);
            } else {
                element.children.push(self.element(depth + 1)?);
            }
        }
    }
}

/// Name, value and what is after `name="value"`.
fn attribute(text: &str) -> Option<(&str, &str, &str)> {
    let (name, after) = text.split_once('=')?;
    let after = after.trim_start();
    let quote = after.chars().next().filter(|c| "\"'".contains(*c))?;
    let (value, after) = after[1..].split_once(quote)?;
    Some((name.trim(), value, after))
}

/// A number, which "inf" and "1e999" are not.
fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// The most bytes between `&` and `;`.
const NAME_BYTES_MAX: usize = 16;

fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_string();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out += before;
        let end = after.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b';');
        let (name, following) = end.map_or(("", after), |end| (&after[..end], &after[end + 1..]));
        let number = name.strip_prefix("#x").map(|hex| u32::from_str_radix(hex, 16));
        let number = number.or_else(|| name.strip_prefix('#').map(str::parse));
        let c = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => number.and_then(Result::ok).and_then(char::from_u32),
        };
        out.push(c.unwrap_or('&'));
        rest = if c.is_some() { following } else { after };
    }
    out + rest
}

/// Attributes that stay text, whatever they look like.
const TEXTS: [&str; 9] =
    ["name", "class", "type", "image", "source", "orientation", "value", "encoding", "compression"];

impl Element {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name)?;
        Some(&found.1)
    }

    fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.tag == tag)
    }

    fn list(&self, tags: &[&str]) -> Tree {
        let meant = self.children.iter().filter(|child| tags.contains(&child.tag.as_str()));
        Tree::Array(meant.map(Element::tree).collect())
    }

    /// Whole numbers of text, between commas.
    fn numbers(text: &str) -> Tree {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let number = |part: &str| finite(part).map_or(Tree::Null, Tree::Number);
        Tree::Array(parts.map(number).collect())
    }

    fn tree(&self) -> Tree {
        let mut fields: Vec<(String, Tree)> = Vec::new();
        for (name, value) in &self.attributes {
            if self.tag == "property" && name == "value" {
                continue;
            }
            let number = finite(value).filter(|_| !TEXTS.contains(&name.as_str()));
            let tree = match number {
                Some(number) if name == "visible" => Tree::Bool(number != 0.0),
                Some(number) => Tree::Number(number),
                None => Tree::String(value.clone()),
            };
            fields.push((name.clone(), tree));
        }
        let mut put = |key: &str, tree: Tree| fields.push((key.to_string(), tree));
        if let Some(properties) = self.child("properties") {
            put("properties", properties.list(&["property"]));
        }
        match self.tag.as_str() {
            "map" => {
                put("tilesets", self.list(&["tileset"]));
                put("layers", self.list(&["layer", "objectgroup", "group", "imagelayer"]));
            }
            "group" => {
                put("type", Tree::String("group".to_string()));
                put("layers", self.list(&["layer", "objectgroup", "group", "imagelayer"]));
            }
            "tileset" => {
                if let Some(image) = self.child("image") {
                    put("image", Tree::String(image.get("source").unwrap_or("").to_string()));
                    let size = |key: &str| image.get(key).and_then(finite);
                    put("imagewidth", Tree::Number(size("width").unwrap_or(0.0)));
                    put("imageheight", Tree::Number(size("height").unwrap_or(0.0)));
                }
                put("tiles", self.list(&["tile"]));
            }
            "tile" => {
                if let Some(animation) = self.child("animation") {
                    put("animation", animation.list(&["frame"]));
                }
            }
            "layer" => {
                put("type", Tree::String("tilelayer".to_string()));
                if let Some(data) = self.child("data") {
                    put_tiles(data, &mut put);
                }
            }
            "objectgroup" => {
                put("type", Tree::String("objectgroup".to_string()));
                put("objects", self.list(&["object"]));
            }
            "object" => {
                for outline in ["polygon", "polyline"] {
                    if let Some(points) = self.child(outline).and_then(|it| it.get("points")) {
                        put(outline, self::points(points));
                    }
                }
            }
            "property" => self.put_value(&mut put),
            _ => {}
        }
        Tree::Object(fields)
    }

    /// The value of a property, by its type; one of several lines is the element's text.
    fn put_value(&self, put: &mut impl FnMut(&str, Tree)) {
        let value = self.get("value").unwrap_or(&self.text);
        let tree = match self.get("type") {
            Some("int" | "float" | "object") => finite(value).map_or(Tree::Null, Tree::Number),
            Some("bool") => Tree::Bool(value == "true"),
            _ => Tree::String(value.to_string()),
        };
        put("value", tree);
    }
}

/// The tiles of a layer; packed ones stay a string, which is refused with words later.
fn put_tiles(data: &Element, put: &mut impl FnMut(&str, Tree)) {
    let tiles = |of: &Element| match data.get("encoding") {
        Some("csv") => Element::numbers(&of.text),
        _ => Tree::String(of.text.clone()),
    };
    let chunks = data.children.iter().filter(|child| child.tag == "chunk");
    let chunks: Vec<Tree> = chunks
        .map(|chunk| {
            let Tree::Object(mut fields) = chunk.tree() else { return Tree::Null };
            fields.push(("data".to_string(), tiles(chunk)));
            Tree::Object(fields)
        })
        .collect();
    match chunks.is_empty() {
        true => put("data", tiles(data)),
        false => put("chunks", Tree::Array(chunks)),
    }
}

/// `"0,0 10,5"` as points.
fn points(text: &str) -> Tree {
    let point = |pair: &str| {
        let (x, y) = pair.split_once(',')?;
        let number = |text: &str| finite(text).map(Tree::Number);
        let fields = vec![("x".to_string(), number(x)?), ("y".to_string(), number(y)?)];
        Some(Tree::Object(fields))
    };
    Tree::Array(text.split_whitespace().filter_map(point).collect())
}
