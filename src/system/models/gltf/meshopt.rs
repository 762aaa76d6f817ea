//! Decoder of meshopt-compressed buffers, as specified by EXT_meshopt_compression and
//! KHR_meshopt_compression: vertex attributes, triangles, index sequences. Sizes are checked before
//! anything is allocated: no stream can claim more than a thousand bytes for each of its own. The
//! filters of attributes are in meshopt_filters.rs.

use super::meshopt_filters::{MeshoptFilter, apply};
use engine_foundation::Error;
use engine_foundation::error;

/// Content of a compressed buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeshoptMode {
    Attributes,
    Triangles,
    Indices,
}

/// Form of the decoded data.
#[derive(Clone, Copy, Debug)]
pub struct MeshoptLayout {
    pub mode: MeshoptMode,
    pub filter: MeshoptFilter,
    /// Number of elements.
    pub count: usize,
    /// Bytes of one element.
    pub stride: usize,
}

/// Elements of a group, which share the number of bits of their deltas.
const GROUP: usize = 16;
/// Maximum number of elements of a block of attributes, and of its bytes.
const BLOCK_ELEMENTS_MAX: usize = 256;
const BLOCK_BYTES: usize = 8192;
/// Maximum size of an element of attributes.
const STRIDE_MAX: usize = 256;
/// Bytes at the end of compressed triangles: a table of frequent vertex references.
const TABLE_BYTES: usize = 16;

/// Decodes a buffer.
///
/// # Errors
/// Returns an error if the bytes are not a stream of this layout.
pub fn decode(source: &[u8], layout: MeshoptLayout) -> Result<Vec<u8>, Error> {
    match layout.mode {
        MeshoptMode::Attributes => {
            let mut bytes = attributes(source, layout)?;
            apply(layout.filter, &mut bytes, layout.stride)?;
            Ok(bytes)
        }
        _ if layout.filter != MeshoptFilter::None => {
            Err(error!("only attributes have a filter, and this buffer holds indices"))
        }
        _ if layout.stride != 2 && layout.stride != 4 => {
            Err(error!("indices have 2 or 4 bytes, and it states {}", layout.stride))
        }
        MeshoptMode::Triangles => triangles(source, layout),
        MeshoptMode::Indices => sequence(source, layout),
    }
}

/// Reader of a stream.
struct StreamReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

fn cut_short() -> Error {
    error!("the compressed data ends too early: export it again")
}

fn damaged() -> Error {
    error!("the compressed data is damaged: export it again")
}

impl<'a> StreamReader<'a> {
    fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(cut_short)?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let end = self.at.checked_add(count).ok_or_else(cut_short)?;
        let taken = self.bytes.get(self.at..end).ok_or_else(cut_short)?;
        self.at = end;
        Ok(taken)
    }

    /// Reads a number of seven bits in each byte, the lowest first.
    fn number(&mut self) -> Result<u32, Error> {
        let mut number = 0u32;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f).wrapping_shl(shift);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    fn end(&self, at: usize) -> Result<(), Error> {
        if self.at == at { Ok(()) } else { Err(damaged()) }
    }
}

/// Decodes a signed difference whose sign is the lowest bit.
fn signed(value: u32) -> u32 {
    (value >> 1) ^ 0u32.wrapping_sub(value & 1)
}

/// Geometry of the blocks of a stream of attributes.
struct AttributeStream<'a> {
    version: u8,
    stride: usize,
    /// Mode of every four bytes of an element; only version 1 has modes other than 0.
    channels: &'a [u8],
    /// Element before the first one.
    first: &'a [u8],
    block_elements: usize,
    end: usize,
}

impl<'a> AttributeStream<'a> {
    fn of(source: &'a [u8], layout: MeshoptLayout) -> Result<AttributeStream<'a>, Error> {
        let MeshoptLayout { count, stride, .. } = layout;
        if stride == 0 || stride > STRIDE_MAX || !stride.is_multiple_of(4) {
            return Err(error!(
                "an element has {stride} bytes, and must have a multiple of 4 up to {STRIDE_MAX}"
            ));
        }
        let version = match source.first() {
            Some(0xa0) => 0,
            Some(0xa1) => 1,
            _ => return Err(damaged()),
        };
        let (tail, padded) = match version {
            0 => (stride, stride.max(32)),
            _ => (stride + stride / 4, (stride + stride / 4).max(24)),
        };
        let block_elements = (BLOCK_BYTES / stride / GROUP * GROUP).min(BLOCK_ELEMENTS_MAX);
        // Bytes that even a stream of zeros has.
        let headers = match version {
            0 => stride * count.div_ceil(GROUP * 4),
            _ => stride / 4 * count.div_ceil(block_elements),
        };
        let end = source.len().checked_sub(padded).ok_or_else(cut_short)?;
        if end < headers.saturating_add(1) {
            return Err(cut_short());
        }
        let (first, channels) = source[source.len() - tail..].split_at(stride);
        if channels.iter().any(|mode| mode & 3 == 3) {
            return Err(damaged());
        }
        Ok(AttributeStream { version, stride, channels, first, block_elements, end })
    }

    /// Reads the deltas of a block: a row of `row` bytes for each byte of an element.
    fn deltas(
        &self,
        reader: &mut StreamReader,
        count: usize,
        deltas: &mut [u8],
        row: usize,
    ) -> Result<(), Error> {
        deltas.fill(0);
        let controls = match self.version {
            0 => &[][..],
            _ => reader.take(self.stride / 4)?,
        };
        for (byte, row) in deltas.chunks_exact_mut(row).enumerate() {
            let control = controls.get(byte / 4).map(|four| four >> (byte % 4 * 2) & 3);
            let bits: [u8; 4] = match control {
                None => [0, 2, 4, 8],
                Some(0) => [0, 1, 2, 4],
                Some(1) => [1, 2, 4, 8],
                Some(2) => continue,
                Some(_) => {
                    row[..count].copy_from_slice(reader.take(count)?);
                    continue;
                }
            };
            let groups = count.div_ceil(GROUP);
            let headers = reader.take(groups.div_ceil(4))?;
            for (group, deltas) in row.chunks_exact_mut(GROUP).take(groups).enumerate() {
                let mode = headers[group / 4] >> (group % 4 * 2) & 3;
                read_group(reader, bits[usize::from(mode)], deltas)?;
            }
        }
        Ok(())
    }

    /// Adds the deltas of one element to the element before it.
    fn advance(&self, last: &mut [u8], deltas: &[u8], row: usize, element: usize) {
        let delta = |byte: usize| deltas[byte * row + element];
        for (four, last) in last.chunks_exact_mut(4).enumerate() {
            let at = four * 4;
            let channel = self.channels.get(four).copied().unwrap_or(0);
            match channel & 3 {
                0 => {
                    for (byte, last) in last.iter_mut().enumerate() {
                        *last = last.wrapping_add(signed(u32::from(delta(at + byte))) as u8);
                    }
                }
                1 => {
                    for (two, last) in last.chunks_exact_mut(2).enumerate() {
                        let at = at + two * 2;
                        let delta = u16::from_le_bytes([delta(at), delta(at + 1)]);
                        let before = u16::from_le_bytes([last[0], last[1]]);
                        let value = before.wrapping_add(signed(u32::from(delta)) as u16);
                        last.copy_from_slice(&value.to_le_bytes());
                    }
                }
                _ => {
                    let delta = u32::from_le_bytes([0, 1, 2, 3].map(|byte| delta(at + byte)));
                    let before = u32::from_le_bytes([last[0], last[1], last[2], last[3]]);
                    let value = before ^ delta.rotate_right(u32::from(channel >> 4));
                    last.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
    }
}

/// Reads the deltas of a group: `bits` for each, and a whole byte for those whose bits are all set.
fn read_group(reader: &mut StreamReader, bits: u8, deltas: &mut [u8]) -> Result<(), Error> {
    match bits {
        0 => return Ok(()),
        8 => {
            deltas.copy_from_slice(reader.take(GROUP)?);
            return Ok(());
        }
        _ => {}
    }
    let packed = reader.take(GROUP * usize::from(bits) / 8)?;
    let escape = (1u8 << bits) - 1;
    let in_byte = 8 / usize::from(bits);
    for (index, delta) in deltas.iter_mut().enumerate() {
        let slot = index % in_byte;
        // Single bits begin at the lowest, pairs and fours at the highest.
        let slot = if bits == 1 { slot } else { in_byte - 1 - slot };
        let value = packed[index / in_byte] >> (slot * usize::from(bits)) & escape;
        *delta = if value == escape { reader.byte()? } else { value };
    }
    Ok(())
}

fn attributes(source: &[u8], layout: MeshoptLayout) -> Result<Vec<u8>, Error> {
    let stream = AttributeStream::of(source, layout)?;
    let (count, stride) = (layout.count, layout.stride);
    let mut reader = StreamReader { bytes: &source[..stream.end], at: 1 };
    let row = stream.block_elements.next_multiple_of(GROUP);
    let mut deltas = vec![0; row * stride];
    let mut last = stream.first.to_vec();
    let mut out = Vec::with_capacity(count * stride);
    for begin in (0..count).step_by(stream.block_elements) {
        let block = stream.block_elements.min(count - begin);
        stream.deltas(&mut reader, block, &mut deltas, row)?;
        for element in 0..block {
            stream.advance(&mut last, &deltas, row, element);
            out.extend(&last);
        }
    }
    reader.end(stream.end)?;
    Ok(out)
}

/// Ring of the most recent values.
struct RecentValues<T, const N: usize> {
    values: [T; N],
    next: usize,
}

impl<T: Copy, const N: usize> RecentValues<T, N> {
    fn push(&mut self, value: T) {
        self.values[self.next % N] = value;
        self.next = (self.next + 1) % N;
    }

    /// Returns a value by its age: 0 is the last one.
    fn recent(&self, age: usize) -> T {
        self.values[(self.next + N - 1 - age) % N]
    }
}

/// State of the decoder of triangles.
struct TriangleStream<'a> {
    data: StreamReader<'a>,
    table: &'a [u8],
    edges: RecentValues<(u32, u32), 16>,
    vertices: RecentValues<u32, 16>,
    /// Next vertex that was not used before, and the last one that was written as a number.
    next: u32,
    last: u32,
}

impl TriangleStream<'_> {
    fn new_vertex(&mut self) -> u32 {
        let vertex = self.next;
        self.next = self.next.wrapping_add(1);
        vertex
    }

    fn numbered(&mut self) -> Result<u32, Error> {
        let difference = signed(self.data.number()?);
        self.last = self.last.wrapping_add(difference);
        Ok(self.last)
    }

    /// Decodes a triangle that shares an edge with a recent one.
    fn neighbor(&mut self, edge: usize, code: u8) -> Result<[u32; 3], Error> {
        let (a, b) = self.edges.recent(edge);
        let c = match code {
            0 => self.new_vertex(),
            1..=12 => self.vertices.recent(usize::from(code)),
            13 => {
                self.last = self.last.wrapping_sub(1);
                self.last
            }
            14 => {
                self.last = self.last.wrapping_add(1);
                self.last
            }
            _ => self.numbered()?,
        };
        if !matches!(code, 1..=12) {
            self.vertices.push(c);
        }
        self.edges.push((c, b));
        self.edges.push((a, c));
        Ok([a, b, c])
    }

    /// Decodes a triangle without a recent edge.
    fn separate(&mut self, code: u8) -> Result<[u32; 3], Error> {
        let from_table = code < 14;
        let pair = match from_table {
            true => self.table[usize::from(code)],
            false => self.data.byte()?,
        };
        if !from_table && pair == 0 {
            self.next = 0;
        }
        let a = if code == 15 { self.numbered()? } else { self.new_vertex() };
        let second = |stream: &mut Self, code: u8| match code {
            0 => Ok((stream.new_vertex(), true)),
            15 if !from_table => Ok((stream.numbered()?, true)),
            age => Ok((stream.vertices.recent(usize::from(age) - 1), false)),
        };
        let (b, b_new) = second(self, pair >> 4)?;
        let (c, c_new) = second(self, pair & 15)?;
        self.vertices.push(a);
        for (vertex, is_new) in [(b, b_new), (c, c_new)] {
            if is_new {
                self.vertices.push(vertex);
            }
        }
        for edge in [(b, a), (c, b), (a, c)] {
            self.edges.push(edge);
        }
        Ok([a, b, c])
    }
}

fn triangles(source: &[u8], layout: MeshoptLayout) -> Result<Vec<u8>, Error> {
    let MeshoptLayout { count, stride, .. } = layout;
    if !count.is_multiple_of(3) {
        return Err(error!("{count} indices do not form triangles"));
    }
    if source.first() != Some(&0xe1) {
        return Err(damaged());
    }
    let end = source.len().checked_sub(TABLE_BYTES).ok_or_else(cut_short)?;
    let data_start = 1 + count / 3;
    if data_start > end {
        return Err(cut_short());
    }
    let (codes, table) = (&source[1..data_start], &source[end..]);
    let data = StreamReader { bytes: &source[..end], at: data_start };
    let edges = RecentValues { values: [(0, 0); 16], next: 0 };
    let vertices = RecentValues { values: [0; 16], next: 0 };
    let mut stream = TriangleStream { data, table, edges, vertices, next: 0, last: 0 };
    let mut out = Vec::with_capacity(count * stride);
    for code in codes {
        let triangle = match (code >> 4, code & 15) {
            (15, code) => stream.separate(code)?,
            (edge, code) => stream.neighbor(usize::from(edge), code)?,
        };
        triangle.into_iter().try_for_each(|index| push_index(&mut out, stride, index))?;
    }
    stream.data.end(end)?;
    Ok(out)
}

fn sequence(source: &[u8], layout: MeshoptLayout) -> Result<Vec<u8>, Error> {
    /// Bytes after the numbers.
    const TAIL: usize = 4;
    let MeshoptLayout { count, stride, .. } = layout;
    if source.first() != Some(&0xd1) {
        return Err(damaged());
    }
    let end = source.len().checked_sub(TAIL).ok_or_else(cut_short)?;
    if end < count.saturating_add(1) {
        return Err(cut_short());
    }
    let mut reader = StreamReader { bytes: &source[..end], at: 1 };
    let mut last = [0u32; 2];
    let mut out = Vec::with_capacity(count * stride);
    for _ in 0..count {
        let number = reader.number()?;
        let last = &mut last[(number & 1) as usize];
        *last = last.wrapping_add(signed(number >> 1));
        push_index(&mut out, stride, *last)?;
    }
    reader.end(end)?;
    Ok(out)
}

fn push_index(out: &mut Vec<u8>, stride: usize, index: u32) -> Result<(), Error> {
    if stride == 4 {
        out.extend(index.to_le_bytes());
        return Ok(());
    }
    let index = u16::try_from(index).map_err(|_| damaged())?;
    out.extend(index.to_le_bytes());
    Ok(())
}
