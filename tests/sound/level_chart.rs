//! The manual's chart of the impact example: its loudness for three materials, at rising force,
//! computed from the mixer's output. `ENGINE_GOLDEN_UPDATE=1` writes a new image.

use super::game::{FRAME_SAMPLES, Game, frames, number, offline_system, text, wav};
use engine::system::sound::mixer::MixerData;
use engine::system::sound::voices::TriggerDesc;
use std::fmt::Write;

const RULES: &[u8] = b"play = { switch = \"material\"
    cases = { wood = \"wood\", stone = \"stone\", metal = \"metal\" } }
    curves = [
      { parameter = \"force\", target = \"volume_db\", points = [[0, -40], [20, -14], [50, 0]] }
      { parameter = \"force\", target = \"cutoff_hz\", points = [[0, 600], [50, 20000]]
        easing = \"in\" } ]";

/// Decaying tones: frequency in Hz, and decay rate per second.
type Impact = &'static [(f32, f32)];

/// Material, color, and its blow.
const MATERIALS: [(&str, &str, Impact); 3] = [
    ("wood", "#a0692f", &[(180.0, 18.0), (410.0, 30.0)]),
    ("stone", "#6b7280", &[(900.0, 45.0), (2300.0, 60.0)]),
    ("metal", "#2563a8", &[(1200.0, 5.0), (3170.0, 7.0), (5440.0, 9.0)]),
];
const FORCES: [f32; 6] = [5.0, 15.0, 25.0, 35.0, 45.0, 50.0];
/// Frames of the game from one blow to the next.
const FRAMES: usize = 30;
/// Number of samples per level: 10 ms.
const SPAN: usize = 480;
/// Width of the image.
const WIDTH: f32 = 640.0;
/// Height of each material's row, which covers 0 to -60 decibels.
const HEIGHT: f32 = 110.0;
const LEFT: f32 = 60.0;
const TOP: f32 = 26.0;
const DECIBELS: f32 = 60.0;

fn impact_wav(tones: &[(f32, f32)]) -> Vec<u8> {
    let sample = |i: usize| {
        let t = i as f32 / 48_000.0;
        let tone = |(hertz, fall): &(f32, f32)| {
            (t * hertz * std::f32::consts::TAU).sin() * (-t * fall).exp()
        };
        tones.iter().map(tone).sum::<f32>() / tones.len() as f32 * 0.9
    };
    wav((0..19_200).map(sample))
}

/// Returns the levels of one material at all forces, in decibels.
fn levels(game: &mut Game, material: &str) -> Vec<f32> {
    let (mut sounds, world) = offline_system(MixerData::standard(), 32);
    let mut heard = Vec::new();
    for force in FORCES {
        let parameters = [number("force", force), text("material", material)];
        let trigger = TriggerDesc { parameters: &parameters, ..TriggerDesc::new("impact", world) };
        sounds.trigger(&mut game.store, &trigger).unwrap();
        heard.extend(frames(&mut sounds, FRAMES));
    }
    let level = |span: &[f32]| {
        let mean = span.iter().map(|sample| sample * sample).sum::<f32>() / span.len() as f32;
        (10.0 * mean.max(1e-9).log10()).clamp(-DECIBELS, 0.0)
    };
    heard.chunks(SPAN).map(level).collect()
}

fn chart(rows: &[(&str, &str, Vec<f32>)]) -> String {
    let all = TOP + HEIGHT * rows.len() as f32;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" \
         font-family=\"sans-serif\" font-size=\"11\" fill=\"#444\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        LEFT + WIDTH + 12.0,
        all + 12.0
    );
    for (i, force) in FORCES.iter().enumerate() {
        let x = LEFT + WIDTH * i as f32 / FORCES.len() as f32;
        let line = "stroke=\"#ddd\"";
        writeln!(svg, "<text x=\"{:.0}\" y=\"16\">force {force}</text>", x + 4.0).unwrap();
        writeln!(svg, "<path d=\"M{x:.0} {TOP}V{all}\" {line}/>").unwrap();
    }
    for (row, (name, colour, levels)) in rows.iter().enumerate() {
        let base = TOP + HEIGHT * (row as f32 + 1.0) - 10.0;
        let point = |i: usize, level: f32| {
            let x = LEFT + WIDTH * i as f32 / levels.len() as f32;
            (x, base - (level + DECIBELS) / DECIBELS * (HEIGHT - 20.0))
        };
        let mut line = format!("M{LEFT:.0} {base:.0}");
        for (i, level) in levels.iter().enumerate() {
            let (x, y) = point(i, *level);
            write!(line, "L{x:.0} {y:.0}").unwrap();
        }
        write!(line, "V{base:.0}Z").unwrap();
        writeln!(svg, "<path d=\"{line}\" fill=\"{colour}\"/>").unwrap();
        writeln!(svg, "<text x=\"8\" y=\"{base:.0}\">{name}</text>").unwrap();
        for level in [0.0, -20.0, -40.0] {
            let (_, y) = point(0, level);
            let at = format!("x=\"{:.0}\" y=\"{:.0}\"", LEFT - 4.0, y + 4.0);
            writeln!(svg, "<text {at} text-anchor=\"end\">{level} dB</text>").unwrap();
        }
    }
    svg + "</svg>\n"
}

/// Returns all numbers in an image.
fn numbers(svg: &str) -> Vec<f32> {
    let parts = svg.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[test]
fn manual_chart_matches_the_mixer() {
    let waves = MATERIALS.map(|(_, _, tones)| impact_wav(tones));
    let files: &[(&str, &[u8])] = &[
        ("impact.sound", RULES),
        ("wood.wav", &waves[0]),
        ("stone.wav", &waves[1]),
        ("metal.wav", &waves[2]),
    ];
    let mut game = Game::new("picture", files);
    assert_eq!(FRAMES * FRAME_SAMPLES % SPAN, 0);
    let rows = MATERIALS.map(|(name, colour, _)| (name, colour, levels(&mut game, name)));
    for (name, _, levels) in &rows {
        let each = levels.len() / FORCES.len();
        let loudest = |part: &[f32]| part.iter().fold(f32::MIN, |most, level| most.max(*level));
        let loudest: Vec<f32> = levels.chunks(each).map(loudest).collect();
        assert!(loudest.is_sorted_by(|a, b| a < b), "{name} is louder with force: {loudest:?}");
    }
    let svg = chart(&rows);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pictures/impact.svg");
    if std::env::var("ENGINE_GOLDEN_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(path, &svg).unwrap();
    }
    let existing = std::fs::read_to_string(path).expect("docs/pictures/impact.svg is there");
    let (existing, drawn) = (numbers(&existing), numbers(&svg));
    // Rounding may differ between machines.
    let near = existing.iter().zip(&drawn).all(|(a, b)| (a - b).abs() <= 1.0);
    assert!(
        existing.len() == drawn.len() && near,
        "run it with ENGINE_GOLDEN_UPDATE=1 and look at it"
    );
}
