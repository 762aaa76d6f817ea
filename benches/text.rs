//! Text benchmarks: layout of strings in each frame, without the Gui that draws them, and glyph
//! rasterization. The total cost of 2,000 strings in a game is measured in benches/gui.rs.
//!
//!     cargo bench -- text
//!
//! Times are CPU time of the thread, the median over 200 frames after 20 frames of warm-up.

use crate::run::Run;
use crate::table::{Group, Row, median, row};
use engine::foundation::tasks::TaskPool;
use engine::frame_packet::text::{FontNumber, TextRequest, TextStyle};
use engine::platform::ThreadClock;
use engine::resource::store::ResourceStore;
use engine::system::text::{DEFAULT_FONT, TextSystem};
use std::hint::black_box;

const STRINGS: usize = 2000;
const WARM: usize = 20;
const FRAMES: usize = 200;

fn texts() -> (TextSystem, FontNumber) {
    let mut texts = TextSystem::new();
    let font =
        texts.find(&mut ResourceStore::default(), DEFAULT_FONT).expect("the font is embedded");
    (texts, font)
}

/// Returns the milliseconds of a frame of [`STRINGS`] strings. `make` creates each string from its
/// number and the number of the frame.
fn frame_ms(request: TextRequest, make: impl Fn(usize, usize) -> String) -> f64 {
    frame_ms_of(STRINGS, request, make)
}

fn frame_ms_of(count: usize, request: TextRequest, make: impl Fn(usize, usize) -> String) -> f64 {
    let (mut texts, font) = texts();
    let (pool, clock) = (TaskPool::new(Some(1)), ThreadClock::of_this_thread());
    let (mut times, mut changes) = (Vec::new(), Vec::new());
    for frame in 0..WARM + FRAMES {
        let strings: Vec<String> = (0..count).map(|i| make(i, frame)).collect();
        let before = clock.seconds();
        for text in &strings {
            let request = TextRequest { font, text: text.as_bytes(), ..request };
            black_box(texts.layout(&request).expect("the size is right").len());
        }
        if frame >= WARM {
            times.push((clock.seconds() - before) * 1e3);
        }
        texts.flush(&pool, &mut changes).expect("one thread is enough");
        changes.clear();
    }
    median(times)
}

/// Returns the milliseconds for the first frame that shows printable ASCII, on one thread: its
/// layout, and the rasterization of its glyphs.
fn first_ms() -> [f64; 2] {
    let text: String = (33..127u8).map(char::from).collect();
    let (pool, clock) = (TaskPool::new(Some(1)), ThreadClock::of_this_thread());
    let (mut laid_out, mut rasterized) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let (mut texts, font) = texts();
        let mut changes = Vec::new();
        let before = clock.seconds();
        let request = TextRequest { font, text: text.as_bytes(), ..TextRequest::DEFAULT };
        texts.layout(&request).expect("the size is right");
        let between = clock.seconds();
        texts.flush(&pool, &mut changes).expect("one thread is enough");
        assert_eq!(changes.len(), 94);
        laid_out.push((between - before) * 1e3);
        rasterized.push((clock.seconds() - between) * 1e3);
    }
    [median(laid_out), median(rasterized)]
}

fn rows() -> Vec<Row> {
    let plain = TextRequest { size: 12.0, ..TextRequest::DEFAULT };
    let outlined = TextStyle { outline: 1.0, ..TextStyle::PLAIN };
    let changing = |i: usize, frame: usize| format!("HP {}", (i * 7 + frame) % 1000);
    let arabic = |i: usize, _: usize| format!("e\u{301} \u{5d0}\u{5d1} {}", i % 500);
    let sentence = |i: usize, frame: usize| format!("Łódź: office {i} of {frame} is affluent, Ωμ");
    let long = |i: usize, frame: usize| {
        format!(
            "The caravan {i} left the harbour on day {frame} with salt, wool and 40 barrels of oil \
             for the north"
        )
    };
    let [first, rasterized] = first_ms();
    vec![
        row("\"HP 123\", changing", frame_ms(plain, changing), "ms", Some(0.2)),
        row(
            "with outlines",
            frame_ms(TextRequest { style: outlined, ..plain }, changing),
            "ms",
            None,
        ),
        row("sentences with ligatures, changing", frame_ms(plain, sentence), "ms", None),
        row("300 strings of 95 letters, changing", frame_ms_of(300, plain, long), "ms", None),
        row("shaped and kept, 500 different", frame_ms(plain, arabic), "ms", None),
        row(
            "wrapped, 500 different",
            frame_ms(TextRequest { max_width: 60.0, ..plain }, |i, _| {
                format!("some words {}", i % 500)
            }),
            "ms",
            None,
        ),
        row("94 letters laid out for the first time", first, "ms", None),
        row("94 glyphs created, one thread", rasterized, "ms", None),
    ]
}

pub fn run(run: &mut Run) {
    run.part("layout", || Group {
        name: "text",
        title: "the cost of text layout",
        workload: "2,000 strings a frame where no count is given, 12 units high, in the engine's \
                   own font.",
        rows: rows(),
    });
}
