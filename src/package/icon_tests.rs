//! Tests of icons.

use super::*;

/// Returns a PNG picture: the left half is opaque red, the right half transparent.
pub fn half_red(side: u32) -> Vec<u8> {
    let pixel = |at: u32| if at % side < side / 2 { [255, 0, 0, 255] } else { [0, 0, 0, 0] };
    let rgba: Vec<u8> = (0..side * side).flat_map(pixel).collect();
    encode_png(side, side, &rgba)
}

#[test]
fn icons_are_square_and_of_a_useful_size() {
    let refused = |width: u32, height: u32| {
        let png = encode_png(width, height, &vec![9; (width * height * 4) as usize]);
        Icon::decode(&png).unwrap_err().message
    };
    assert_eq!(refused(256, 300), "it has 256 x 300 pixels: make it square");
    let wanted = "it has 128 x 128 pixels, and icons have at least 256 x 256 (ICON_SIDE_MIN): draw \
                  it larger";
    assert_eq!(refused(128, 128), wanted);
    let wanted = "it has 2049 x 2049 pixels, and icons have at most 2048 x 2048 (ICON_SIDE_MAX): \
                  make it smaller";
    assert_eq!(refused(2049, 2049), wanted);
    // The size is refused by the header alone, without the pixels.
    let mut png = half_red(256);
    png[16..24].copy_from_slice(&[0, 0, 0x40, 0, 0, 0, 0x40, 0]);
    assert!(Icon::decode(&png).is_err());
    for broken in [&b""[..], b"not a picture", &half_red(256)[..200]] {
        assert!(Icon::decode(broken).is_err());
    }
}

#[test]
fn transparent_pixels_do_not_darken_a_smaller_icon() {
    let icon = Icon::decode(&half_red(256)).unwrap();
    // 256 / 22 is no whole number: a pixel in the middle is covered by half.
    for side in [16, 22, 24, 48] {
        let small = icon.resized(side);
        let row = &small.rgba[..side as usize * 4];
        assert_eq!(&row[..4], [255, 0, 0, 255], "{side}");
        assert_eq!(&row[row.len() - 4..], [0, 0, 0, 0], "{side}");
        for pixel in row.as_chunks::<4>().0.iter().filter(|pixel| pixel[3] > 0) {
            assert_eq!(pixel[..3], [255, 0, 0], "{side}");
        }
    }
    let odd = Icon::decode(&half_red(300)).unwrap().resized(256);
    let alphas = odd.rgba.as_chunks::<4>().0[..256].iter().map(|pixel| u32::from(pixel[3]));
    assert_eq!(alphas.sum::<u32>(), 128 * 255);
    assert_eq!(icon.resized(256), icon);
}

#[test]
fn pictures_of_all_desktops_are_complete() {
    let icon = Icon::decode(&half_red(256)).unwrap();
    let sides = |pictures: Vec<(u32, Vec<u8>)>| {
        pictures.iter().map(|(side, _)| *side).collect::<Vec<u32>>()
    };
    // A picture of 256 pixels is not enlarged.
    assert_eq!(sides(icon.desktop_pictures()), [16, 22, 24, 32, 48, 64, 128, 256]);
    for (side, png) in icon.desktop_pictures() {
        assert_eq!(stated_size(&png), Some((side, side)));
    }
    let windows = icon.windows_pictures();
    assert_eq!(sides(windows.clone()), WINDOWS_SIDES);
    let (_, bitmap) = &windows[0];
    assert_eq!(bitmap.len(), 40 + 16 * 16 * 4 + 16 * 4);
    // The first pixel is the lower left one, in the order blue, green, red, alpha.
    assert_eq!(bitmap[40..44], [0, 0, 255, 255]);
    assert_eq!(stated_size(&windows[6].1), Some((256, 256)));
    let ico = icon.ico();
    assert_eq!(ico[..6], [0, 0, 1, 0, 7, 0]);
    let mut end = 6 + 16 * 7;
    for (at, (side, picture)) in windows.iter().enumerate() {
        let row = &ico[6 + 16 * at..][..16];
        let word = |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((row[0], row[1]), (*side as u8, *side as u8));
        assert_eq!((word(8), word(12)), (picture.len(), end));
        assert!(ico[end..].starts_with(picture));
        end += picture.len();
    }
    assert_eq!(end, ico.len());
    let icns = icon.icns();
    assert_eq!(&icns[..4], b"icns");
    let (mut at, mut kinds) = (8, Vec::new());
    while at < icns.len() {
        kinds.push(std::str::from_utf8(&icns[at..at + 4]).unwrap());
        let length = u32::from_be_bytes(icns[at + 4..at + 8].try_into().unwrap()) as usize;
        assert_eq!(&icns[at + 9..at + 12], b"PNG");
        at += length;
    }
    assert_eq!(at, icns.len());
    assert_eq!(kinds, ["ic11", "ic12", "ic07", "ic08", "ic13"]);
}
