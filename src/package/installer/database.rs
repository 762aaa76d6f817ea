//! Databases of Windows Installer: tables in the streams of a compound file. Texts are in one pool,
//! and rows refer to them by numbers.
//!
//! Source: the documentation of the Windows Installer SDK, "Column Definition Format" and "Database
//! Tables"; how tables are stored is that of files that msitools and wine read.

use super::super::archive::Content;
use engine_foundation::compact_sort::CompactSort;
use std::collections::BTreeMap;

/// Code page of texts in UTF-8.
const UTF8: u32 = 65001;
/// Code page of Western Europe. Texts of ASCII letters are the same in all code pages.
const WESTERN: u32 = 1252;

/// Bits of a column's type. The lowest eight are its size: bytes of a number, or the maximum length
/// of a text, where 0 has no maximum.
const VALID: u16 = 0x100;
const LOCALIZED: u16 = 0x200;
/// It has no stream.
const PLAIN: u16 = 0x400;
const TEXT: u16 = 0x800;
const NULLABLE: u16 = 0x1000;
const KEY: u16 = 0x2000;

/// Letters of names of streams, which are packed in pairs.
const NAME_LETTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._";
/// The first unit in the names of tables' streams.
const TABLE_MARK: u16 = 0x4840;

/// A value of a row.
#[derive(Clone, Debug)]
pub enum Cell {
    Null,
    Text(String),
    Number(i32),
    /// Bytes in a stream of their own.
    Stream(Content),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        // An empty text is stored as no text.
        if text.is_empty() { Cell::Null } else { Cell::Text(text.to_string()) }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::from(text.as_str())
    }
}

impl From<i32> for Cell {
    fn from(number: i32) -> Cell {
        Cell::Number(number)
    }
}

/// A table: its name, and its columns as `name:type`, with spaces between them. The first letter of
/// a type is `s` for a text, `l` for one that translations can replace, `i` for a number or `v` for
/// a stream; a capital letter allows null. A `*` before the name is for columns of the key.
pub type Schema = (&'static str, &'static str);

/// Tables with their rows.
#[derive(Clone, Debug, Default)]
pub struct Database {
    tables: BTreeMap<&'static str, Table>,
}

#[derive(Clone, Debug)]
struct Table {
    /// Names and types.
    columns: Vec<(&'static str, u16)>,
    rows: Vec<Vec<Cell>>,
}

fn column((name, kind): (&'static str, &'static str)) -> (&'static str, u16) {
    let (letter, size) = kind.split_at(1);
    let size: u16 = size.parse().expect("the schema has a size for each column");
    let of_kind = match letter.to_ascii_lowercase().as_str() {
        "s" => TEXT | PLAIN,
        "l" => TEXT | PLAIN | LOCALIZED,
        "v" => TEXT,
        // Only numbers of 16 bits have this bit.
        _ if size == 2 => PLAIN,
        _ => 0,
    };
    let nullable = if letter.starts_with(char::is_uppercase) { NULLABLE } else { 0 };
    let (name, key) = name.strip_prefix('*').map_or((name, 0), |name| (name, KEY));
    (name, VALID | of_kind | nullable | key | size)
}

impl Database {
    /// Adds an empty table.
    pub fn add_table(&mut self, (name, columns): Schema) {
        let columns = columns.split(' ').map(|text| text.split_once(':').expect("name:type"));
        let table = Table { columns: columns.map(column).collect(), rows: Vec::new() };
        self.tables.insert(name, table);
    }

    /// Adds a row. Panics if the table has other columns: all rows are the engine's own.
    pub fn add<const N: usize>(&mut self, table: &str, row: [Cell; N]) {
        let table = self.tables.get_mut(table).expect("the table is in the schema");
        assert_eq!(table.columns.len(), N, "the row has the columns of the schema");
        table.rows.push(row.into());
    }

    /// Returns the code page of all texts.
    pub fn code_page(&self) -> u32 {
        let mut rows = self.tables.values().flat_map(|table| table.rows.iter().flatten());
        let is_foreign = |cell: &Cell| matches!(cell, Cell::Text(text) if !text.is_ascii());
        if rows.any(is_foreign) { UTF8 } else { WESTERN }
    }

    /// Returns all streams, with their names in the compound file.
    pub fn streams(&self) -> Vec<(Vec<u16>, Content)> {
        let mut pool = TextPool::default();
        let mut streams = Vec::new();
        let mut catalog = Database::default();
        catalog.add_table(("_Tables", "*Name:s64"));
        catalog.add_table(("_Columns", "*Table:s64 *Number:i2 Name:s64 Type:i2"));
        for (name, table) in &self.tables {
            catalog.add("_Tables", [Cell::from(*name)]);
            for (at, (column, kind)) in table.columns.iter().enumerate() {
                let number = Cell::Number(at as i32 + 1);
                // The word is stored as it is: a number of 16 bits has no other sign.
                let kind = Cell::Number(i32::from(*kind));
                catalog.add("_Columns", [Cell::from(*name), number, Cell::from(*column), kind]);
            }
        }
        for (name, table) in catalog.tables.iter().chain(&self.tables) {
            let bytes = table.encode(&mut pool);
            if !bytes.is_empty() {
                streams.push((stream_name(name, true), Content::bytes(bytes)));
            }
            for row in &table.rows {
                for cell in row {
                    if let (Cell::Stream(content), Cell::Text(key)) = (cell, &row[0]) {
                        streams
                            .push((stream_name(&format!("{name}.{key}"), false), content.clone()));
                    }
                }
            }
        }
        let (index, data) = pool.encode(self.code_page());
        streams.push((stream_name("_StringPool", true), Content::bytes(index)));
        streams.push((stream_name("_StringData", true), Content::bytes(data)));
        streams
    }
}

impl Table {
    /// Returns the rows as they are stored: column by column, sorted by the key.
    fn encode(&self, pool: &mut TextPool) -> Vec<u8> {
        let stored = |(cell, (_, kind)): (&Cell, &(&str, u16)), pool: &mut TextPool| match cell {
            Cell::Null => 0,
            Cell::Text(text) => pool.number(text),
            Cell::Number(number) if kind & 0xff == 2 => {
                u32::from((*number as u16).wrapping_add(0x8000))
            }
            Cell::Number(number) => *number as u32 ^ 0x8000_0000,
            // The stream is named after the row's key.
            Cell::Stream(_) => 1,
        };
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for row in &self.rows {
            rows.push(row.iter().zip(&self.columns).map(|it| stored(it, pool)).collect());
        }
        // Columns of the key are the first ones.
        let keys = self.columns.iter().filter(|(_, kind)| kind & KEY != 0).count();
        rows.sort_compact_by(|a, b| a[..keys].cmp(&b[..keys]));
        let mut bytes = Vec::new();
        for (at, (_, kind)) in self.columns.iter().enumerate() {
            let is_wide = kind & TEXT == 0 && kind & 0xff == 4;
            for row in &rows {
                let value = row[at].to_le_bytes();
                bytes.extend(if is_wide { &value[..] } else { &value[..2] });
            }
        }
        bytes
    }
}

/// The texts of all tables, by numbers from 1.
#[derive(Default)]
struct TextPool {
    texts: Vec<(String, u16)>,
    numbers: BTreeMap<String, usize>,
}

impl TextPool {
    /// Returns the number of a text, and counts its use.
    fn number(&mut self, text: &str) -> u32 {
        let next = self.texts.len();
        let at = *self.numbers.entry(text.to_string()).or_insert(next);
        if at == next {
            self.texts.push((text.to_string(), 0));
        }
        let uses = &mut self.texts[at].1;
        *uses = uses.saturating_add(1);
        at as u32 + 1
    }

    /// Returns lengths and uses of all texts, and the texts.
    fn encode(&self, code_page: u32) -> (Vec<u8>, Vec<u8>) {
        let mut index = Vec::from(code_page.to_le_bytes());
        let mut data = Vec::new();
        for (text, uses) in &self.texts {
            let length = u16::try_from(text.len()).expect("settings of packages are short");
            index.extend(length.to_le_bytes());
            index.extend(uses.to_le_bytes());
            data.extend(text.as_bytes());
        }
        (index, data)
    }
}

/// Returns the name of a stream in the compound file: two letters in each unit of UTF-16.
pub fn stream_name(name: &str, is_table: bool) -> Vec<u16> {
    let code = |letter: u8| {
        let at = NAME_LETTERS.iter().position(|known| *known == letter);
        at.expect("all names of streams have only these letters") as u16
    };
    let pair = |pair: &[u8]| match pair {
        [first, second] => 0x3800 + code(*first) + (code(*second) << 6),
        single => 0x4800 + code(single[0]),
    };
    let mark = is_table.then_some(TABLE_MARK);
    mark.into_iter().chain(name.as_bytes().chunks(2).map(pair)).collect()
}

#[cfg(test)]
#[path = "database_tests.rs"]
pub(crate) mod tests;
