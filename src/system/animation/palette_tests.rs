//! Tests that palettes of all vector instructions have the same bits.

use super::*;
use engine_foundation::random::Random;
use std::io::Write;

/// Reports on the terminal that this processor cannot test something.
fn report_untested(instructions: &str) {
    let message = format!("not tested: palettes by {instructions}, which this processor lacks");
    writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
}

#[test]
fn wide_vectors_have_the_bits_of_others() {
    if !has_wide_vectors() {
        return report_untested("AVX2");
    }
    let mut random = Random::seed(5);
    let mut lanes =
        |most: i64| Lanes(std::array::from_fn(|_| random.range_i64(-most, most) as f32 / 700.0));
    let mut groups: Vec<PoseGroup> = (0..7)
        .map(|_| PoseGroup {
            rotation: [(); 4].map(|()| lanes(700)),
            position: [(); 3].map(|()| lanes(9000)),
            scale: [(); 3].map(|()| lanes(900)),
        })
        .collect();
    groups[2].rotation = [Lanes([0.0, 1e-9, f32::NAN, -0.0]); 4];
    groups[6].position[1] = Lanes([f32::INFINITY, -0.0, f32::NAN, 1e30]);
    let by_depth: Vec<(u16, u16)> = (1..27).map(|bone| (bone, bone / 2)).collect();
    let joints: Vec<(u16, ModelMatrix)> =
        (0..27).map(|bone| (26 - bone, ModelMatrix([(); 3].map(|()| lanes(2000))))).collect();
    let run = |width: usize| {
        let mut matrices = vec![ModelMatrix::IDENTITY; 28];
        let mut out = vec![[[0.0; 4]; 3]; 27];
        // SAFETY: the processor has the instructions.
        unsafe {
            if width > 4 {
                wide::local(&groups, &mut matrices);
                wide::combine(&by_depth, &mut matrices);
            } else {
                plain::local(&groups, &mut matrices);
                plain::combine(&by_depth, &mut matrices);
            }
            match width {
                4 => plain::palette(&matrices, &joints, &mut out),
                8 => wide::palette(&matrices, &joints, &mut out),
                _ => wide::palette_512(&matrices, &joints, &mut out),
            }
        }
        let rows = matrices.iter().flat_map(|matrix| matrix.0).map(|row| row.0);
        let numbers = rows.chain(out.into_iter().flatten()).flatten();
        // The sign and the bits of what is no number are not defined.
        numbers.map(|it| if it.is_nan() { 0 } else { it.to_bits() }).collect::<Vec<u32>>()
    };
    assert_eq!(run(8), run(4));
    match has_widest_vectors() {
        true => assert_eq!(run(16), run(4)),
        false => report_untested("AVX-512"),
    }
}
