//! Framing for a stream that also carries the output of tests: each frame of bytes begins with a
//! secret marker. The content of frames is not interpreted here.

/// Returns the bytes before every frame. The nonce differs in each run, so no test prints the
/// marker by chance.
pub fn marker(nonce: u64) -> Vec<u8> {
    let mut marker = b"\0engine-frame\0".to_vec();
    marker.extend(nonce.to_le_bytes());
    marker
}

/// Returns a frame: marker, length, content.
pub fn frame(marker: &[u8], content: &[u8]) -> Vec<u8> {
    let mut bytes = marker.to_vec();
    let length = u32::try_from(content.len()).expect("no frame has 4 GiB");
    bytes.extend(length.to_le_bytes());
    bytes.extend(content);
    bytes
}

/// A part of the stream.
#[derive(Debug, PartialEq)]
pub enum StreamPart {
    /// Output of tests.
    Text(Vec<u8>),
    Frame(Vec<u8>),
}

/// Parser that splits a stream into text and frames.
pub struct FrameSplitter {
    marker: Vec<u8>,
    buffer: Vec<u8>,
}

impl FrameSplitter {
    pub fn new(marker: Vec<u8>) -> FrameSplitter {
        FrameSplitter { marker, buffer: Vec::new() }
    }

    /// Adds bytes and returns the parts that are complete now.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<StreamPart> {
        self.buffer.extend(bytes);
        let mut pieces = Vec::new();
        while let Some(piece) = self.next() {
            pieces.push(piece);
        }
        pieces
    }

    fn next(&mut self) -> Option<StreamPart> {
        let size = self.marker.len();
        let at = self.buffer.windows(size).position(|window| window == self.marker);
        let text = at.unwrap_or_else(|| {
            // The end may be the beginning of a marker.
            let tail = self.buffer.len().saturating_sub(size - 1);
            let zero = self.buffer[tail..].iter().position(|byte| *byte == 0);
            zero.map_or(self.buffer.len(), |zero| tail + zero)
        });
        if text > 0 {
            return Some(StreamPart::Text(self.buffer.drain(..text).collect()));
        }
        at?;
        let length = self.buffer.get(size..size + 4)?;
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        let end = size + 4 + length;
        let content = self.buffer.get(size + 4..end)?.to_vec();
        self.buffer.drain(..end);
        Some(StreamPart::Frame(content))
    }

    /// Returns the remaining text at the end of the stream.
    pub fn finish(self) -> Vec<u8> {
        self.buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_text_are_separated_at_any_chunk_boundary() {
        let marker = marker(7);
        let mut stream = b"print\0ed".to_vec();
        stream.extend(frame(&marker, b"one"));
        stream.extend(frame(&marker, b""));
        stream.extend(b"\0\0");
        stream.extend(&marker[..5]);
        stream.extend(frame(&marker, &marker));
        stream.extend(b"end");
        for size in 1..stream.len() {
            let mut splitter = FrameSplitter::new(marker.clone());
            let (mut text, mut frames) = (Vec::new(), Vec::new());
            for part in stream.chunks(size) {
                for piece in splitter.push(part) {
                    match piece {
                        StreamPart::Text(more) => text.extend(more),
                        StreamPart::Frame(content) => frames.push(content),
                    }
                }
            }
            text.extend(splitter.finish());
            let wanted = [&b"print\0ed\0\0"[..], &marker[..5], &b"end"[..]].concat();
            assert_eq!(text, wanted, "{size}");
            assert_eq!(frames, [&b"one"[..], &b""[..], &marker[..]], "{size}");
        }
    }

    #[test]
    fn a_marker_of_another_run_is_plain_text() {
        let mut splitter = FrameSplitter::new(marker(7));
        let other = frame(&marker(8), b"x");
        let pieces = splitter.push(&other);
        assert!(pieces.iter().all(|piece| matches!(piece, StreamPart::Text(_))), "{pieces:?}");
    }
}
