//! Files of the pixel editor Aseprite.

/// Returns an Aseprite file with two frames of 2 x 1: two layers, the upper one half transparent, a
/// linked cel, and a tag.
pub fn aseprite(depth: u16) -> Vec<u8> {
    fn chunk(kind: u16, body: &[u8]) -> Vec<u8> {
        let size = (body.len() as u32 + 6).to_le_bytes();
        [&size[..], &kind.to_le_bytes(), body].concat()
    }
    let u16_bytes =
        |list: &[u16]| -> Vec<u8> { list.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let layer = |opacity: u8, name: &[u8]| {
        let name = [&u16_bytes(&[name.len() as u16])[..], name].concat();
        let head = u16_bytes(&[1, 0, 0, 0, 0, 0]);
        chunk(0x2004, &[&head[..], &[opacity, 0, 0, 0], &name].concat())
    };
    let cel = |layer: u16, kind: u16, rest: &[u8]| {
        let head =
            [u16_bytes(&[layer, 0, 0]), vec![255], u16_bytes(&[kind, 0]), vec![0; 5]].concat();
        chunk(0x2005, &[&head[..], rest].concat())
    };
    let texels: &[u8] = match depth {
        32 => &[255, 0, 0, 255, 0, 255, 0, 255],
        _ => &[1, 0],
    };
    let raw = [&u16_bytes(&[2, 1])[..], texels].concat();
    let upper = [u16_bytes(&[1, 1]), [0, 0, 255, 255][..usize::from(depth / 8)].to_vec()].concat();
    let tag = [
        u16_bytes(&[1]),
        vec![0; 8],
        u16_bytes(&[0, 1]),
        vec![1],
        u16_bytes(&[0]),
        vec![0; 10],
        u16_bytes(&[2]),
        b"go".to_vec(),
    ];
    let palette = [
        &[2u8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0][..],
        &[0; 8],
        &[0, 0, 9, 9, 9, 255, 0, 0, 255, 0, 0, 255],
    ];
    let mut first = vec![chunk(0x2019, &palette.concat()), layer(255, b"low"), cel(0, 0, &raw)];
    if depth == 32 {
        first.insert(2, layer(128, b"high"));
        first.push(cel(1, 0, &upper));
    }
    first.push(chunk(0x2018, &tag.concat()));
    let frame = |milliseconds: u16, chunks: &[u8], count: u16| {
        let size = (chunks.len() as u32 + 16).to_le_bytes();
        let head = u16_bytes(&[0xf1fa, count, milliseconds, 0, 0, 0]);
        [&size[..], &head, chunks].concat()
    };
    let mut head = vec![0; 128];
    head[4..14].copy_from_slice(&u16_bytes(&[0xa5e0, 2, 2, 1, depth]));
    head[14] = 1;
    let count = first.len() as u16;
    [head, frame(70, &first.concat(), count), frame(30, &cel(0, 1, &u16_bytes(&[0])), 1)].concat()
}
