//! Tests with tiny fonts whose glyphs require practically endless work. Such glyphs must show
//! nothing.

use super::super::font_face::{FontBytes, FontFace};
use super::files::default_font;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tables of a font file by their tags.
type Tables = BTreeMap<[u8; 4], Vec<u8>>;

/// Returns the tables of the default font.
fn tables() -> Tables {
    let font = default_font();
    let number = |at: usize| u32::from_be_bytes(font[at..at + 4].try_into().unwrap()) as usize;
    let count = usize::from(u16::from_be_bytes([font[4], font[5]]));
    let read = |record: usize| {
        let (at, length) = (number(record + 8), number(record + 12));
        let tag = font[record..record + 4].try_into().unwrap();
        (tag, font[at..at + length].to_vec())
    };
    (0..count).map(|i| read(12 + 16 * i)).collect()
}

/// Builds a font file from tables.
fn font(tables: &Tables) -> Vec<u8> {
    let mut font = vec![0, 1, 0, 0];
    font.extend((tables.len() as u16).to_be_bytes());
    font.extend([0; 6]);
    let mut at = 12 + 16 * tables.len();
    for (tag, table) in tables {
        font.extend(tag);
        font.extend([0; 4]);
        font.extend((at as u32).to_be_bytes());
        font.extend((table.len() as u32).to_be_bytes());
        at += table.len();
    }
    font.extend(tables.values().flatten());
    font
}

fn open(tables: &Tables) -> FontFace {
    let bytes = font(tables);
    let file = 0..bytes.len();
    FontFace::open(Arc::new(FontBytes::Part(bytes.into(), file)), 0).unwrap()
}

/// Builds a composite glyph (the OpenType specification, table glyf) of `count` equal parts.
fn composite(part: u16, count: usize) -> Vec<u8> {
    const MORE_COMPONENTS: u16 = 0x20;
    let mut glyph = (-1_i16).to_be_bytes().to_vec();
    glyph.extend([0; 8]);
    for i in 0..count {
        let flags = if i + 1 < count { MORE_COMPONENTS } else { 0 };
        glyph.extend(flags.to_be_bytes());
        glyph.extend(part.to_be_bytes());
        glyph.extend([0, 0]);
    }
    glyph
}

/// Builds a font in which each glyph consists of `parts` copies of the next one.
fn nested_composites(levels: u16, parts: usize) -> FontFace {
    let (mut glyphs, mut offsets) = (Vec::new(), Vec::new());
    for level in 0..levels {
        offsets.extend((glyphs.len() as u32).to_be_bytes());
        glyphs.extend(composite(level + 1, parts));
    }
    // The last glyph is empty.
    for _ in 0..2 {
        offsets.extend((glyphs.len() as u32).to_be_bytes());
    }
    let mut tables = tables();
    // Offsets have four bytes (indexToLocFormat).
    let head = tables.get_mut(b"head").unwrap();
    head[50..52].copy_from_slice(&1_u16.to_be_bytes());
    tables.insert(*b"glyf", glyphs);
    tables.insert(*b"loca", offsets);
    open(&tables)
}

#[test]
fn exponential_composite_glyphs_are_not_drawn() {
    // Two levels of two parts are read, and are empty.
    assert!(nested_composites(2, 2).outline(0).is_some_and(|it| it.bounds().is_none()));
    // Three to the power of thirty parts.
    assert!(nested_composites(30, 3).outline(0).is_none());
}

/// Builds a list of the Compact Font Format (Adobe technical note 5176, INDEX Data).
fn index(items: &[Vec<u8>]) -> Vec<u8> {
    let mut list = (items.len() as u16).to_be_bytes().to_vec();
    if items.is_empty() {
        return list;
    }
    list.push(4);
    let mut offset = 1_u32;
    list.extend(offset.to_be_bytes());
    for item in items {
        offset += item.len() as u32;
        list.extend(offset.to_be_bytes());
    }
    list.extend(items.iter().flatten());
    list
}

/// Builds a font with one glyph that calls a subroutine, which calls the next one `calls` times,
/// and so on.
fn nested_subroutines(levels: u8, calls: usize) -> FontFace {
    const CALL_GLOBAL: u8 = 29;
    const RETURN: u8 = 11;
    const END: u8 = 14;
    const CHAR_STRINGS: u8 = 17;
    // The number of a subroutine minus its bias of 107, as one byte.
    let call = |subroutine: u8| [subroutine + 32, CALL_GLOBAL];
    let mut subroutines: Vec<Vec<u8>> = Vec::new();
    for level in 1..levels {
        subroutines.push(call(level).repeat(calls));
    }
    subroutines.push(vec![RETURN]);
    // A triangle comes first, because a glyph that draws nothing would prove less.
    let triangle = [239, 239, 21, 239, 139, 5, 139, 239, 5];
    let glyph = [&triangle[..], &call(0), &[END]].concat();
    let (name, strings) = (index(&[b"a".to_vec()]), index(&[]));
    let subroutines = index(&subroutines);
    // A number of five bytes, and the operator.
    let dictionary_bytes = index(&[vec![0; 6]]).len();
    let at = 4 + name.len() + dictionary_bytes + strings.len() + subroutines.len();
    let dictionary = [&[29][..], &(at as u32).to_be_bytes(), &[CHAR_STRINGS]].concat();
    let mut table = vec![1, 0, 4, 4];
    table.extend([name, index(&[dictionary]), strings, subroutines, index(&[glyph])].concat());
    let mut tables = tables();
    tables.retain(|tag, _| tag != b"glyf" && tag != b"loca");
    tables.insert(*b"CFF ", table);
    open(&tables)
}

#[test]
fn exponential_subroutines_are_not_drawn() {
    assert!(nested_subroutines(3, 3).outline(0).is_some_and(|it| it.bounds().is_some()));
    // A hundred to the power of nine calls.
    assert!(nested_subroutines(10, 100).outline(0).is_none());
}
