//! Tests of the batches: against a simple model, and each guarantee separately.

use super::*;
use engine_foundation::random::Random;
use engine_frame_packet::gui::SourceTransform;
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::texture::TextureSlot;

fn key(layer: i32, texture: u32) -> GuiBatchKey {
    GuiBatchKey { layer, texture: TextureSlot(texture), ..GuiBatchKey::PLAIN }
}

/// Returns an instance that can be distinguished from others.
fn instance(mark: u32) -> QuadInstance {
    QuadInstance { paint: mark, ..QuadInstance::default() }
}

fn gui(number: u64) -> GuiFrame {
    GuiFrame { gui: number, ..GuiFrame::default() }
}

/// Returns a frame of a retained Gui, with objects that are put (with their marks) or ended
/// (without).
fn frame(changes: &[(u64, GuiBatchKey, &[u32])]) -> GuiFrame {
    let mut frame = gui(1);
    for (object, key, marks) in changes {
        let first = frame.instances.len() as u32;
        frame.instances.extend(marks.iter().map(|mark| instance(*mark)));
        frame.changes.push(ObjectChange::Set {
            object: *object,
            key: *key,
            source: key.texture.0,
            first,
            count: marks.len() as u32,
        });
    }
    frame
}

#[derive(Default)]
struct Bench {
    guis: GuiBatchTable,
    list: DrawList,
}

impl Bench {
    fn apply(&mut self, frame: GuiFrame) -> &mut Bench {
        self.guis.apply(&[], &[frame], &mut self.list);
        self
    }

    /// Returns the last packet's draws of Gui 1: for each draw its key and the marks of its
    /// instances.
    fn drawn(&self) -> Vec<(i32, u32, Vec<u32>)> {
        let instances = self.guis.guis[&1].retained.instances();
        let mut spare = Vec::new();
        let draws = self.guis.draws(1, &self.list, &mut spare);
        let marks = |draw: &GuiDraw| {
            assert!(draw.retained);
            let all = &instances[draw.first as usize..(draw.first + draw.count) as usize];
            all.iter().map(|instance| instance.paint).filter(|mark| *mark != 0).collect()
        };
        draws.iter().map(|draw| (draw.key.layer, draw.key.texture.0, marks(draw))).collect()
    }

    fn dirty_ranges(&mut self) -> Vec<Range<u32>> {
        let retained = &mut self.guis.guis.get_mut(&1).expect("the Gui is there").retained;
        let dirty = retained.dirty_ranges().to_vec();
        retained.mark_clean();
        dirty
    }
}

#[test]
fn there_is_one_draw_per_key_ordered_by_layer_and_object() {
    let mut bench = Bench::default();
    bench.apply(frame(&[
        (1, key(1, 5), &[1]),
        (2, key(0, 7), &[2]),
        (3, key(1, 4), &[3]),
        (4, key(0, 6), &[4]),
        (5, key(1, 5), &[5]),
    ]));
    let wanted = [(0, 7, vec![2]), (0, 6, vec![4]), (1, 5, vec![1, 5]), (1, 4, vec![3])];
    assert_eq!(bench.drawn(), wanted);
}

#[test]
fn an_object_that_grows_keeps_its_position_in_the_batch() {
    let mut bench = Bench::default();
    bench.apply(frame(&[(1, key(0, 1), &[1]), (2, key(0, 1), &[2]), (3, key(0, 1), &[3])]));
    bench.apply(frame(&[(2, key(0, 1), &[20, 21, 22])]));
    assert_eq!(bench.drawn(), [(0, 1, vec![1, 20, 21, 22, 3])]);
    bench.apply(frame(&[(2, key(0, 1), &[23])]));
    assert_eq!(bench.drawn(), [(0, 1, vec![1, 23, 3])]);
}

#[test]
fn an_object_with_a_new_key_is_last_in_its_batch() {
    let mut bench = Bench::default();
    bench.apply(frame(&[(1, key(0, 1), &[1]), (2, key(0, 2), &[2]), (3, key(0, 1), &[3])]));
    bench.apply(frame(&[(1, key(0, 2), &[1])]));
    assert_eq!(bench.drawn(), [(0, 2, vec![2, 1]), (0, 1, vec![3])]);
}

#[test]
fn a_batch_is_ordered_by_its_first_remaining_object() {
    let mut bench = Bench::default();
    bench.apply(frame(&[(1, key(0, 1), &[1]), (2, key(0, 2), &[2]), (3, key(0, 1), &[3])]));
    let mut end = gui(1);
    end.changes = vec![ObjectChange::End { object: 1 }, ObjectChange::End { object: 99 }];
    bench.apply(end);
    assert_eq!(bench.drawn(), [(0, 2, vec![2]), (0, 1, vec![3])]);
}

#[test]
fn reset_ends_only_objects_submitted_before_it() {
    let mut bench = Bench::default();
    bench.apply(frame(&[(1, key(0, 1), &[1])]));
    let mut reset = frame(&[(2, key(0, 1), &[2])]);
    reset.changes.insert(0, ObjectChange::Reset);
    bench.apply(reset);
    assert_eq!(bench.drawn(), [(0, 1, vec![2])]);
}

#[test]
fn only_changed_ranges_are_dirty() {
    let mut bench = Bench::default();
    let objects: Vec<(u64, GuiBatchKey, &[u32])> =
        (0..1000).map(|i| (i, key(0, 1), [7].as_slice())).collect();
    bench.apply(frame(&objects));
    bench.dirty_ranges();
    bench.apply(gui(1));
    assert_eq!(bench.dirty_ranges(), []);
    bench.apply(frame(&[(500, key(0, 1), &[8])]));
    let dirty = bench.dirty_ranges();
    assert_eq!(dirty.len(), 1);
    assert_eq!(dirty[0].len(), 1);
    assert_eq!(bench.guis.guis[&1].retained.instances()[dirty[0].start as usize].paint, 8);
}

#[test]
fn immediate_batches_follow_retained_ones_for_one_frame() {
    let mut bench = Bench::default();
    let mut both = frame(&[(1, key(0, 1), &[1]), (2, key(2, 1), &[2])]);
    let batch = |layer| QuadBatch { key: key(layer, 9), instances: vec![instance(9); 3] };
    both.batches = vec![batch(2), batch(0), QuadBatch { key: key(0, 3), instances: Vec::new() }];
    bench.apply(both);
    let drawn: Vec<_> =
        bench.list.draws.iter().map(|d| (d.key.layer, d.retained, d.first)).collect();
    let first = |object: usize| bench.guis.guis[&1].retained.batch(object as u32).start;
    assert_eq!(drawn, [(0, true, first(0)), (0, false, 3), (2, true, first(1)), (2, false, 0)]);
    assert_eq!(bench.list.immediate, 6);
    bench.apply(gui(1));
    assert_eq!(bench.list.draws.len(), 2);
}

#[test]
fn a_gui_without_changes_keeps_its_retained_objects() {
    let mut bench = Bench::default();
    bench.apply(frame(&[(1, key(0, 1), &[1])]));
    bench.guis.apply(&[], &[gui(2)], &mut bench.list);
    assert_eq!(bench.drawn(), [(0, 1, vec![1])]);
    bench.guis.apply(&[1], &[gui(2)], &mut bench.list);
    assert!(bench.guis.draws(1, &bench.list, &mut Vec::new()).is_empty());
}

/// Returns the move of a source from one texture to another.
fn moved(source: u32, from: u32, to: u32, ended: bool) -> MovedSource {
    let source_transform = |texture| SourceTransform {
        material: MaterialSlot::BUILT_IN,
        texture: TextureSlot(texture),
        paint: 0,
        uv: [0.0, 1.0, 1.0, 0.0],
    };
    MovedSource { source, from: source_transform(from), to: source_transform(to), ended }
}

fn moves(moved: &[MovedSource]) -> GuiFrame {
    let changes = vec![ObjectChange::Move { first: 0, count: moved.len() as u32 }];
    GuiFrame { changes, moved: moved.to_vec(), ..gui(1) }
}

#[test]
fn objects_follow_their_source_and_keep_their_order() {
    let mut bench = Bench::default();
    bench.apply(frame(&[
        (1, key(0, 1), &[1]),
        (2, key(0, 2), &[2]),
        (3, key(0, 1), &[3]),
        (4, key(0, 2), &[4]),
    ]));
    bench.apply(moves(&[moved(1, 1, 2, false)]));
    assert_eq!(bench.drawn(), [(0, 2, vec![1, 2, 3, 4])]);
    // Objects of another source stay, although they are in the same texture.
    bench.apply(moves(&[moved(1, 2, 7, false)]));
    assert_eq!(bench.drawn(), [(0, 7, vec![1, 3]), (0, 2, vec![2, 4])]);
    // In one packet, objects that were put before the move follow it; objects that are put after it
    // already use the new texture.
    let mut both = frame(&[(2, key(0, 2), &[20])]);
    both.changes.push(ObjectChange::Move { first: 0, count: 2 });
    both.moved = vec![moved(1, 7, 8, false), moved(2, 2, 7, false)];
    both.instances.push(instance(5));
    both.changes.push(ObjectChange::Set {
        object: 5,
        key: key(0, 7),
        source: 2,
        first: 1,
        count: 1,
    });
    bench.apply(both);
    assert_eq!(bench.drawn(), [(0, 8, vec![1, 3]), (0, 7, vec![20, 4, 5])]);
    // Objects of an ended source keep their texture, even if its number is used again.
    bench.apply(moves(&[moved(1, 8, 0, true)]));
    bench.apply(moves(&[moved(1, 8, 9, false)]));
    assert_eq!(bench.drawn(), [(0, 0, vec![1, 3]), (0, 7, vec![20, 4, 5])]);
}

/// An object of the model: its number, its batch key, the number of its source, and a value for
/// each of its quads, by which the test recognizes them.
type ModelObject = (u64, GuiBatchKey, u32, Vec<u32>);

/// A simple model of the batches: keys with their objects in order.
#[derive(Default)]
struct Model {
    objects: Vec<ModelObject>,
}

impl Model {
    fn set_object(&mut self, number: u64, key: GuiBatchKey, source: u32, marks: Vec<u32>) {
        if let Some(object) = self.objects.iter_mut().find(|o| o.0 == number && o.1 == key) {
            (object.2, object.3) = (source, marks);
            return;
        }
        self.end(number);
        self.objects.push((number, key, source, marks));
    }

    fn follow(&mut self, moved: &MovedSource) {
        for object in self.objects.iter_mut().filter(|object| object.2 == moved.source) {
            object.1.texture = moved.to.texture;
        }
    }

    fn end(&mut self, number: u64) {
        self.objects.retain(|object| object.0 != number);
    }

    fn drawn(&self) -> Vec<(i32, u32, Vec<u32>)> {
        let mut keys: Vec<GuiBatchKey> = Vec::new();
        for object in &self.objects {
            if !keys.contains(&object.1) {
                keys.push(object.1);
            }
        }
        keys.sort_by_key(|key| key.layer);
        let of = |key: &GuiBatchKey| {
            let mine = self.objects.iter().filter(|object| object.1 == *key);
            mine.flat_map(|object| object.3.clone()).collect()
        };
        keys.iter().map(|key| (key.layer, key.texture.0, of(key))).collect()
    }
}

#[test]
fn random_changes_match_a_simple_model() {
    let mut random = Random::seed(5);
    let mut below = |limit: u64| random.next_u64() % limit;
    let (mut bench, mut model) = (Bench::default(), Model::default());
    let mut adapter: Vec<QuadInstance> = Vec::new();
    // The texture of each source.
    let mut source_textures = [0, 1, 2, 1, 0];
    for round in 0..600 {
        let mut frame = gui(1);
        let busy = if round % 50 == 0 { 400 } else { 12 };
        for _ in 0..below(busy) {
            let object = below(300) + 1;
            if below(3) == 0 {
                frame.changes.push(ObjectChange::End { object });
                model.end(object);
            } else {
                let source = below(5) as u32;
                let key = key(below(3) as i32, source_textures[source as usize]);
                let marks: Vec<u32> = (0..below(9)).map(|_| below(1 << 30) as u32 + 1).collect();
                let (first, count) = (frame.instances.len() as u32, marks.len() as u32);
                frame.instances.extend(marks.iter().map(|mark| instance(*mark)));
                frame.changes.push(ObjectChange::Set { object, key, source, first, count });
                model.set_object(object, key, source, marks);
            }
            if below(40) == 0 {
                let (source, to) = (below(5) as u32, below(3) as u32);
                let from = std::mem::replace(&mut source_textures[source as usize], to);
                let one = moved(source, from, to, false);
                model.follow(&one);
                frame
                    .changes
                    .push(ObjectChange::Move { first: frame.moved.len() as u32, count: 1 });
                frame.moved.push(one);
            }
        }
        if below(100) == 0 {
            frame.changes.push(ObjectChange::Reset);
            model.objects.clear();
        }
        bench.apply(frame);
        assert_eq!(bench.drawn(), model.drawn(), "round {round}");
        // An adapter that copies only dirty ranges has all that is drawn.
        let dirty = bench.dirty_ranges();
        let instances = bench.guis.guis[&1].retained.instances();
        adapter.resize(instances.len(), QuadInstance::default());
        for range in dirty {
            let range = range.start as usize..range.end as usize;
            adapter[range.clone()].copy_from_slice(&instances[range]);
        }
        for draw in &bench.list.draws {
            let range = draw.first as usize..(draw.first + draw.count) as usize;
            assert_eq!(adapter[range.clone()], instances[range], "round {round}");
        }
        assert!(instances.len() < 20_000, "{}", instances.len());
    }
}
