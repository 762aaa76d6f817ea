//! Seeds of rare forms of pictures: headers of OS/2, run lengths, extension areas, separate scans.

/// Returns small files with a file extension.
pub fn rare_forms(ending: &str) -> Vec<Vec<u8>> {
    match ending {
        "bmp" => vec![bmp(64, 8, 0, 3), bmp(16, 8, 0, 0), bmp(40, 8, 1, 300), bmp(40, 32, 6, 0)],
        "tga" => [0, 3, 4].map(tga).to_vec(),
        "jpg" => vec![jpeg()],
        _ => Vec::new(),
    }
}

/// Returns a BMP of 4 x 1 texels with a header of this size.
fn bmp(size: usize, bits: u16, compression: u32, colors: u32) -> Vec<u8> {
    let mut header = [size as u32, 4, 1].map(u32::to_le_bytes).concat();
    header.extend([1, bits].map(u16::to_le_bytes).concat());
    header.extend([compression, 0, 0, 0, colors, 0].map(u32::to_le_bytes).concat());
    header.resize(size, 0);
    let palette = vec![
        7;
        if bits > 8 {
            16
        } else if colors == 0 {
            1024
        } else {
            colors as usize * 4
        }
    ];
    let start = (14 + header.len() + palette.len()) as u32;
    let data = [2, 1, 0, 2, 1, 0, 0, 3, 0, 1, 2, 0, 0, 1, 0, 0];
    let head = [start + data.len() as u32, 0, start].map(u32::to_le_bytes).concat();
    [b"BM", &head[..], &header, &palette, &data].concat()
}

/// Returns a TGA of two texels with this type of attributes.
fn tga(attributes: u8) -> Vec<u8> {
    let mut out = vec![0; 18];
    (out[2], out[12], out[14], out[16], out[17]) = (2, 2, 1, 32, 40);
    out.extend([1, 2, 3, 128, 4, 5, 6, 0]);
    let start = out.len() as u32;
    out.extend(495u16.to_le_bytes());
    out.resize(start as usize + 494, 0);
    out.push(attributes);
    out.extend([start, 0].map(u32::to_le_bytes).concat());
    out.extend(b"TRUEVISION-XFILE.\0");
    out
}

/// Returns a JPEG of 16 x 16 texels whose colors have separate scans.
fn jpeg() -> Vec<u8> {
    let mut out = vec![0xff, 0xd8];
    let mut segment = |marker: u8, bytes: &[u8], data: &[u8]| {
        out.extend([0xff, marker]);
        out.extend((bytes.len() as u16 + 2).to_be_bytes());
        out.extend(bytes);
        out.extend(data);
    };
    segment(0xdb, &[&[0][..], &[8; 64]].concat(), &[]);
    segment(0xc0, &[8, 0, 16, 0, 16, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0], &[]);
    segment(0xc4, &[&[0, 0, 3][..], &[0; 14], &[0, 3, 6]].concat(), &[]);
    segment(0xc4, &[&[0x10, 1][..], &[0; 15], &[0]].concat(), &[]);
    segment(0xda, &[1, 1, 0, 0, 63, 0], &[0x58, 0x01]);
    segment(0xda, &[1, 2, 0, 0, 63, 0], &[0x95, 0x7f]);
    segment(0xda, &[1, 3, 0, 0, 63, 0], &[0xb6, 0x7f]);
    out.extend([0xff, 0xd9]);
    out
}
