//! Scaling of pictures for people: down to a size that fits. Knows no file formats.

/// Returns the size of a picture, scaled down to a width of at most `most`.
pub fn fitted_size((width, height): (u32, u32), most: u32) -> (u32, u32) {
    if width <= most {
        return (width, height);
    }
    let height = u64::from(height) * u64::from(most) / u64::from(width);
    (most, (height as u32).max(1))
}

/// Scales a picture of red, green, blue and alpha down: each texel is the mean of the texels that
/// it replaces.
pub fn scale_down(rgba: &[u8], from: (u32, u32), to: (u32, u32)) -> Vec<u8> {
    let (from_width, from_height) = (from.0 as usize, from.1 as usize);
    let (width, height) = (to.0 as usize, to.1 as usize);
    let mut out = Vec::with_capacity(width * height * 4);
    for y in 0..height {
        let rows = y * from_height / height..((y + 1) * from_height / height).max(1);
        for x in 0..width {
            let columns = x * from_width / width..(x + 1) * from_width / width;
            let mut sum = [0u32; 4];
            let mut count = 0;
            for row in rows.clone() {
                for column in columns.clone() {
                    let at = (row * from_width + column) * 4;
                    for (sum, part) in sum.iter_mut().zip(&rgba[at..at + 4]) {
                        *sum += u32::from(*part);
                    }
                    count += 1;
                }
            }
            out.extend(sum.map(|sum| (sum / count.max(1)) as u8));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_down_averages_texels_and_keeps_proportions() {
        let rgba = [[0, 0, 0, 255], [200, 100, 50, 255]].concat().repeat(4);
        assert_eq!(fitted_size((4, 2), 2), (2, 1));
        assert_eq!(fitted_size((4, 2), 100), (4, 2));
        let half = scale_down(&rgba, (4, 2), (2, 1));
        assert_eq!(half, [[100, 50, 25, 255], [100, 50, 25, 255]].concat());
        assert_eq!(fitted_size((100, 1), 16), (16, 1));
        assert_eq!(scale_down(&[9; 400], (100, 1), (16, 1)), [9; 64]);
    }
}
