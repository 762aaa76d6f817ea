//! Export of the kept frames for other programs: a trace in Chrome's format (for example for
//! Perfetto), folded stacks, and a flame graph as an SVG picture.

use super::{ProfilerState, RetainedFrame, clock, with};
use crate::json::quoted;
use crate::terminal::escape_line;
use crate::xml::escape_for_display;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the kept frames in the trace event format (Google, "Trace Event Format"): complete
/// events in microseconds, grouped by thread, and the duration of each frame as a counter.
pub fn chrome_trace() -> String {
    let per_tick = clock::seconds_per_tick() * 1e6;
    with(|profile| trace(profile, per_tick))
}

fn trace(profile: &ProfilerState, per_tick: f64) -> String {
    let frames = profile.frames.iter();
    let spans = frames.clone().flat_map(|frame| &frame.spans).map(|span| span.began);
    let origin = spans.chain(frames.map(|frame| frame.began)).min().unwrap_or(0);
    let at = |tick: u64| (tick - origin) as f64 * per_tick;
    let mut events = Vec::new();
    for (number, track) in profile.tracks.iter().enumerate() {
        let name = quoted(&track.name);
        events.push(format!(
            "{{\"ph\":\"M\",\"pid\":1,\"tid\":{number},\"name\":\"thread_name\",\
             \"args\":{{\"name\":{name}}}}}"
        ));
    }
    for RetainedFrame { index, began, ended, spans } in &profile.frames {
        let (from, took) = (at(*began), (ended - began) as f64 * per_tick / 1e3);
        events.push(format!(
            "{{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"name\":\"frame\",\"ts\":{from:.3},\
             \"args\":{{\"ms\":{took:.4}}}}}"
        ));
        for span in spans {
            let name = quoted(profile.tracks[usize::from(span.track)].tree.name(span.node));
            let (from, took) = (at(span.began), (span.ended - span.began) as f64 * per_tick);
            events.push(format!(
                "{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"name\":{name},\"ts\":{from:.3},\
                 \"dur\":{took:.3},\"args\":{{\"frame\":{index}}}}}",
                span.track
            ));
        }
    }
    format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

/// Returns the self time of each stack over the kept frames, in microseconds, as flame graph tools
/// read it. Each line is one stack: `thread;frame;update 812`.
pub fn folded_stacks() -> String {
    let per_tick = clock::seconds_per_tick() * 1e6;
    let stacks = with(|profile| stacks(profile));
    let lines = stacks.iter().filter_map(|(path, ticks)| {
        let micros = (*ticks as f64 * per_tick).round();
        let names: Vec<_> =
            path.iter().map(|name| escape_line(&name.replace([';', '\n'], ","))).collect();
        (micros >= 1.0).then(|| format!("{} {micros}\n", names.join(";")))
    });
    lines.collect()
}

/// Returns the ticks of each path over the kept frames, without its children.
fn stacks(profile: &ProfilerState) -> BTreeMap<Vec<String>, u64> {
    let mut own: BTreeMap<(u16, u32), i64> = BTreeMap::new();
    for span in profile.frames.iter().flat_map(|frame| &frame.spans) {
        let took = (span.ended - span.began) as i64;
        *own.entry((span.track, span.node)).or_default() += took;
        let parent = profile.tracks[usize::from(span.track)].tree.nodes[span.node as usize].parent;
        if parent != super::ROOT {
            *own.entry((span.track, parent)).or_default() -= took;
        }
    }
    let mut stacks = BTreeMap::new();
    for ((track, node), ticks) in own {
        let track = &profile.tracks[usize::from(track)];
        let names = track.tree.path(node).into_iter().map(str::to_string);
        let path = [track.name.clone()].into_iter().chain(names).collect();
        // A scope that began before the first kept frame may have children here but no time of its
        // own.
        *stacks.entry(path).or_default() += ticks.max(0) as u64;
    }
    stacks
}

/// A box of the flame graph.
#[derive(Default)]
struct FlameBox {
    own: u64,
    inside: BTreeMap<String, FlameBox>,
}

impl FlameBox {
    fn total(&self) -> u64 {
        self.own + self.inside.values().map(FlameBox::total).sum::<u64>()
    }

    fn depth(&self) -> usize {
        1 + self.inside.values().map(FlameBox::depth).max().unwrap_or(0)
    }
}

const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
const MARGIN: f64 = 10.0;
const HEADER_HEIGHT: f64 = 34.0;
/// Minimum width of a box, in points. Narrower boxes are not drawn.
const BOX_MIN: f64 = 0.3;
/// Approximate width of a letter, in points.
const LETTER: f64 = 6.7;

/// Returns the kept frames as a flame graph in SVG. The width of a box is the total time of its
/// stack in all frames, and a box lies above its caller.
pub fn flame_graph() -> String {
    let per_tick = clock::seconds_per_tick() * 1e3;
    let (stacks, frames) = with(|profile| (stacks(profile), profile.frames.len()));
    drawn(&stacks, frames, per_tick)
}

fn drawn(stacks: &BTreeMap<Vec<String>, u64>, frames: usize, per_tick: f64) -> String {
    let mut root = FlameBox::default();
    for (path, ticks) in stacks {
        let mut at = &mut root;
        for name in path {
            at = at.inside.entry(name.clone()).or_default();
        }
        at.own += ticks;
    }
    let total = root.total().max(1);
    let height = HEADER_HEIGHT + root.depth() as f64 * ROW + MARGIN;
    let all = total as f64 * per_tick;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fbfaf7\"/>\n\
         <text x=\"{MARGIN}\" y=\"20\" font-size=\"13\">{frames} frames, {all:.1} ms of all \
         threads</text>\n"
    );
    let scale = (WIDTH - 2.0 * MARGIN) / total as f64;
    let layout = FlameLayout { x: MARGIN, bottom: height - MARGIN - ROW, scale, per_tick, total };
    draw(&mut svg, &root, "all threads", 0, &layout);
    svg + "</svg>\n"
}

/// The position of a box, and the scale from ticks to points, milliseconds and shares.
struct FlameLayout {
    x: f64,
    bottom: f64,
    scale: f64,
    per_tick: f64,
    total: u64,
}

fn draw(svg: &mut String, flame: &FlameBox, name: &str, level: usize, layout: &FlameLayout) {
    let ticks = flame.total();
    let width = ticks as f64 * layout.scale;
    if width < BOX_MIN {
        return;
    }
    let (x, y) = (layout.x, layout.bottom - level as f64 * ROW);
    let (milliseconds, share) =
        (ticks as f64 * layout.per_tick, ticks as f64 / layout.total as f64 * 100.0);
    let letters = ((width - 6.0) / LETTER) as usize;
    let shown = match name.chars().count() {
        count if count <= letters => name.to_string(),
        _ if letters < 3 => String::new(),
        _ => name.chars().take(letters - 1).collect::<String>() + "…",
    };
    // A name has the same color in every graph.
    let hue = name.bytes().fold(17u32, |hue, byte| hue.wrapping_mul(31) + u32::from(byte)) % 60;
    writeln!(
        svg,
        "<g><title>{title}: {milliseconds:.3} ms, {share:.1} %</title>\
         <rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{tall}\" \
         fill=\"hsl({hue},72%,66%)\" stroke=\"#fbfaf7\" stroke-width=\"0.5\"/>\
         <text x=\"{text_x:.2}\" y=\"{text_y:.1}\">{shown}</text></g>",
        title = escape_for_display(name),
        tall = ROW - 1.0,
        text_x = x + 3.0,
        text_y = y + 13.0,
        shown = escape_for_display(&shown),
    )
    .expect("a string can be written to");
    let mut x = x;
    for (name, inside) in &flame.inside {
        draw(svg, inside, name, level + 1, &FlameLayout { x, ..*layout });
        x += inside.total() as f64 * layout.scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flame_graph_has_a_box_for_each_stack() {
        let path = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let stacks = [(path(&["main", "a<b"]), 600), (path(&["main", "a<b", "c"]), 400)];
        let svg = drawn(&stacks.into_iter().collect(), 2, 0.001);
        assert!(svg.contains("2 frames, 1.0 ms of all threads"), "{svg}");
        assert!(svg.contains("<title>a&lt;b: 1.000 ms, 100.0 %</title>"), "{svg}");
        assert!(svg.contains("<title>c: 0.400 ms, 40.0 %</title>"), "{svg}");
        assert_eq!(svg.matches("<rect x=").count(), 4);
    }
}
