//! Tests of databases, with a reader of their own.

use super::super::super::archive::Content;
use super::*;

/// Streams by their names.
pub type Streams = BTreeMap<Vec<u16>, Vec<u8>>;
/// Rows of texts, where numbers are written in digits and null is empty.
pub type Rows = Vec<Vec<String>>;

/// Reads the rows of a table. Panics if the database is not as the format demands.
pub fn read_table(streams: &Streams, table: &str) -> Rows {
    let texts = texts(streams);
    let columns = read_rows(streams, "_Columns", &[0xd40, 0x502, 0xd40, 0x502], &texts);
    let of_table = columns.into_iter().filter(|row| row[0] == table);
    let kinds: Vec<u16> = of_table
        .enumerate()
        .map(|(at, row)| {
            assert_eq!(row[1], (at + 1).to_string(), "columns are in order");
            row[3].parse().unwrap()
        })
        .collect();
    assert!(!kinds.is_empty(), "there is no table {table}");
    read_rows(streams, table, &kinds, &texts)
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn texts(streams: &Streams) -> Vec<String> {
    let index = &streams[&stream_name("_StringPool", true)];
    let data = &streams[&stream_name("_StringData", true)];
    let (mut at, mut texts) = (0, vec![String::new()]);
    for entry in index[4..].chunks(4) {
        let (length, uses) = (usize::from(word(entry, 0)), word(entry, 2));
        assert!(length > 0 && uses > 0);
        texts.push(String::from_utf8(data[at..at + length].to_vec()).unwrap());
        at += length;
    }
    assert_eq!(at, data.len());
    texts
}

fn read_rows(streams: &Streams, table: &str, kinds: &[u16], texts: &[String]) -> Rows {
    let Some(bytes) = streams.get(&stream_name(table, true)) else { return Vec::new() };
    let width = |kind: u16| if kind & TEXT == 0 && kind & 0xff == 4 { 4 } else { 2 };
    let row_bytes: usize = kinds.iter().map(|kind| width(*kind)).sum();
    let count = bytes.len() / row_bytes;
    assert_eq!(bytes.len(), count * row_bytes);
    let mut rows = vec![Vec::new(); count];
    let mut keys = vec![Vec::new(); count];
    let mut at = 0;
    for kind in kinds {
        for (row, key) in rows.iter_mut().zip(&mut keys) {
            let stored = match width(*kind) {
                4 => u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()),
                _ => u32::from(word(bytes, at)),
            };
            assert!(stored > 0 || kind & NULLABLE != 0, "null in {table}");
            row.push(match kind {
                _ if stored == 0 => String::new(),
                kind if kind & (TEXT | PLAIN) == TEXT => "stream".to_string(),
                kind if kind & TEXT != 0 => texts[stored as usize].clone(),
                _ if width(*kind) == 4 => (stored ^ 0x8000_0000).to_string(),
                _ => (stored ^ 0x8000).to_string(),
            });
            if kind & KEY != 0 {
                key.push(stored);
            }
            at += width(*kind);
        }
    }
    if table != "_Columns" {
        assert!(keys.is_sorted_by(|a, b| a < b), "keys of {table} differ and are sorted");
    }
    rows
}

fn streams_of(database: &Database) -> Streams {
    let read = |(name, content): (Vec<u16>, Content)| {
        let mut bytes = Vec::new();
        content.write_to(&mut bytes).unwrap();
        (name, bytes)
    };
    database.streams().into_iter().map(read).collect()
}

#[test]
fn types_of_columns_are_those_of_the_installer() {
    let check = |kind, wanted| assert_eq!(column(("*A", kind)).1, wanted | KEY, "{kind}");
    check("s72", 0x0d48);
    check("S255", 0x1dff);
    check("l0", 0x0f00);
    check("L64", 0x1f40);
    check("i2", 0x0502);
    check("I4", 0x1104);
    check("v0", 0x0900);
    assert_eq!(column(("A", "i4")), ("A", 0x0104));
}

#[test]
fn rows_are_read_back_sorted_by_their_keys() {
    let mut database = Database::default();
    database.add_table(("Numbers", "*Key:i4 Small:I2 Text:L0"));
    database.add_table(("Texts", "*First:s8 *Second:S8 Data:V0"));
    database.add_table(("Nothing", "*Key:s8"));
    for key in [70_000, -3, 5] {
        database.add("Numbers", [key.into(), Cell::Null, "é".into()]);
    }
    database.add("Numbers", [6.into(), 32767.into(), "".into()]);
    let data = Content::bytes("data");
    database.add("Texts", ["b".into(), Cell::Null, Cell::Stream(data)]);
    database.add("Texts", ["a".into(), "é".into(), Cell::Null]);
    let streams = streams_of(&database);
    let column = |at: usize| {
        read_table(&streams, "Numbers").into_iter().map(|row| row[at].clone()).collect::<Vec<_>>()
    };
    // The reader shows numbers without a sign.
    assert_eq!(column(0), ["4294967293", "5", "6", "70000"]);
    assert_eq!(column(1), ["", "", "32767", ""]);
    assert_eq!(column(2), ["é", "é", "", "é"]);
    let texts = read_table(&streams, "Texts");
    assert_eq!(texts, [["b", "", "stream"], ["a", "é", ""]]);
    assert_eq!(streams[&stream_name("Texts.b", false)], b"data");
    assert_eq!(read_table(&streams, "Nothing"), Rows::new());
    assert!(!streams.contains_key(&stream_name("Nothing", true)), "empty tables have no stream");
    assert_eq!(database.code_page(), 65001);
    // "é" is used four times.
    let pool = &streams[&stream_name("_StringPool", true)];
    assert_eq!(word(pool, 0), 65001);
    let at = texts_at(&streams, "é");
    assert_eq!((word(pool, at * 4), word(pool, at * 4 + 2)), (2, 4));
}

fn texts_at(streams: &Streams, text: &str) -> usize {
    texts(streams).iter().position(|known| known == text).unwrap()
}

#[test]
fn names_of_streams_are_packed_in_pairs() {
    assert_eq!(stream_name("01", false), [0x3840]);
    assert_eq!(stream_name("Z._", true), [0x4840, 0x3800 + 35 + (62 << 6), 0x4800 + 63]);
    assert!(stream_name("InstallExecuteSequence", true).len() <= 31);
}
