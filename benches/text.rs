//! The figures of text: strings laid out each frame, without the Gui that draws them, and glyphs
//! made. What 2,000 strings cost a game in all is a figure of benches/gui.rs.
//!
//!     cargo bench --bench text
//!
//! Times are CPU time of the thread, medians over 200 frames after 20 that are not counted.

#[expect(dead_code, reason = "other benches ask more of it")]
#[path = "spine/table.rs"]
mod table;

use engine::foundation::tasks::Pool;
use engine::packet::text::{FontNumber, Request, Style};
use engine::resource::store::Store;
use engine::system::platform::ThreadClock;
use engine::system::text::{DEFAULT_FONT, Texts};
use std::hint::black_box;
use table::{Group, Row, median, row};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const STRINGS: usize = 2000;
const WARM: usize = 20;
const FRAMES: usize = 200;

fn texts() -> (Texts, FontNumber) {
    let mut texts = Texts::new();
    let font = texts.find(&mut Store::default(), DEFAULT_FONT).expect("the font is embedded");
    (texts, font)
}

/// Milliseconds of a frame of strings, each made by `make` of its number and the frame's.
fn frame_ms(request: Request, make: impl Fn(usize, usize) -> String) -> f64 {
    let (mut texts, font) = texts();
    let (pool, clock) = (Pool::new(Some(1)), ThreadClock::of_this_thread());
    let (mut times, mut changes) = (Vec::new(), Vec::new());
    for frame in 0..WARM + FRAMES {
        let strings: Vec<String> = (0..STRINGS).map(|i| make(i, frame)).collect();
        let before = clock.seconds();
        for text in &strings {
            let request = Request { font, text: text.as_bytes(), ..request };
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

/// Milliseconds for the first frame that shows printable ASCII, on one thread: to lay it out, and
/// to make its glyphs.
fn first_ms() -> [f64; 2] {
    let text: String = (33..127u8).map(char::from).collect();
    let (pool, clock) = (Pool::new(Some(1)), ThreadClock::of_this_thread());
    let (mut laid_out, mut made) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let (mut texts, font) = texts();
        let mut changes = Vec::new();
        let before = clock.seconds();
        let request = Request { font, text: text.as_bytes(), ..Request::DEFAULT };
        texts.layout(&request).expect("the size is right");
        let between = clock.seconds();
        texts.flush(&pool, &mut changes).expect("one thread is enough");
        assert_eq!(changes.len(), 94);
        laid_out.push((between - before) * 1e3);
        made.push((clock.seconds() - between) * 1e3);
    }
    [median(laid_out), median(made)]
}

fn rows() -> Vec<Row> {
    let plain = Request { size: 12.0, ..Request::DEFAULT };
    let outlined = Style { outline: 1.0, ..Style::PLAIN };
    let changing = |i: usize, frame: usize| format!("HP {}", (i * 7 + frame) % 1000);
    let arabic = |i: usize, _: usize| format!("e\u{301} \u{5d0}\u{5d1} {}", i % 500);
    let sentence = |i: usize, frame: usize| format!("Łódź: office {i} of {frame} is affluent, Ωμ");
    let [first, made] = first_ms();
    vec![
        row("\"HP 123\", changing", frame_ms(plain, changing), "ms", Some(0.2)),
        row("with outlines", frame_ms(Request { style: outlined, ..plain }, changing), "ms", None),
        row("sentences with ligatures, changing", frame_ms(plain, sentence), "ms", None),
        row("shaped and kept, 500 different", frame_ms(plain, arabic), "ms", None),
        row(
            "wrapped, 500 different",
            frame_ms(Request { max_width: 60.0, ..plain }, |i, _| {
                format!("some words {}", i % 500)
            }),
            "ms",
            None,
        ),
        row("94 letters laid out for the first time", first, "ms", None),
        row("94 glyphs made, one thread", made, "ms", None),
    ]
}

fn main() {
    let group = Group {
        name: "text",
        title: "what it costs to lay text out",
        workload: "2,000 strings a frame, 12 units high, in the engine's own font.",
        rows: rows(),
    };
    table::print(&group);
    table::print_sum(&[group]);
}
