//! The summary of an installer, a property set in a stream of its own. Windows reads it before the
//! database.
//!
//! Source: Microsoft's "Object Linking and Embedding (OLE) Property Set Data Structures", and
//! "Summary Property Descriptions" of the Windows Installer SDK.

use super::super::archive::EPOCH_SECONDS;

/// Name of the stream.
pub const NAME: &str = "\u{5}SummaryInformation";

/// The identifier of the properties, in the order of bytes of the file.
const FORMAT: [u8; 16] = [
    0xe0, 0x85, 0x9f, 0xf2, 0xf9, 0x4f, 0x68, 0x10, 0xab, 0x91, 0x08, 0x00, 0x2b, 0x27, 0xb3, 0xd9,
];
/// Size of the header in bytes, behind which the properties are.
const HEADER_BYTES: usize = 48;
/// Windows counts times in units of 100 nanoseconds from the year 1601.
const SECONDS_TO_1970: u64 = 11_644_473_600;

const NUMBER_16: u32 = 2;
const NUMBER_32: u32 = 3;
const TEXT: u32 = 30;
const TIME: u32 = 64;

/// The files are compressed in a cabinet, and no rights of an administrator are needed.
const PER_USER_COMPRESSED: u32 = 2 | 8;
/// Programs should open the database only to read it.
const READ_ONLY: u32 = 2;

/// Properties of an installer.
pub struct Summary<'a> {
    pub code_page: u32,
    pub title: &'a str,
    pub author: &'a str,
    /// Platform and language, such as `x64;1033`.
    pub template: &'a str,
    /// The package code, which differs for each content.
    pub package_code: &'a str,
    /// The oldest version of Windows Installer that can read the database, times 100.
    pub installer_version: u32,
}

/// Returns the stream.
pub fn encode(summary: &Summary) -> Vec<u8> {
    let text = |text: &str| {
        let mut bytes = Vec::from(TEXT.to_le_bytes());
        bytes.extend((text.len() as u32 + 1).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let number = |kind: u32, number: u32| [kind.to_le_bytes(), number.to_le_bytes()].concat();
    let units = (EPOCH_SECONDS + SECONDS_TO_1970) * 10_000_000;
    let time = [&TIME.to_le_bytes()[..], &units.to_le_bytes()].concat();
    let properties = [
        // A number of 16 bits, with two bytes behind it.
        (1, number(NUMBER_16, summary.code_page)),
        (2, text("Installation Database")),
        (3, text(summary.title)),
        (4, text(summary.author)),
        (5, text("Installer")),
        (7, text(summary.template)),
        (9, text(summary.package_code)),
        (12, time.clone()),
        (13, time),
        (14, number(NUMBER_32, summary.installer_version)),
        (15, number(NUMBER_32, PER_USER_COMPRESSED)),
        (18, text("engine")),
        (19, number(NUMBER_32, READ_ONLY)),
    ];
    let (mut index, mut values) = (Vec::new(), Vec::<u8>::new());
    let values_start = 8 + properties.len() * 8;
    for (id, value) in &properties {
        index.extend(u32::to_le_bytes(*id));
        index.extend((values_start as u32 + values.len() as u32).to_le_bytes());
        values.extend(value);
    }
    let bytes = (values_start + values.len()) as u32;
    let mut out = vec![0xfe, 0xff, 0, 0, 0, 0, 2, 0];
    out.extend([0; 16]);
    out.extend(1u32.to_le_bytes());
    out.extend(FORMAT);
    out.extend((HEADER_BYTES as u32).to_le_bytes());
    out.extend(bytes.to_le_bytes());
    out.extend((properties.len() as u32).to_le_bytes());
    out.extend(index);
    out.extend(values);
    out
}
