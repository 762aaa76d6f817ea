//! Tests of the whole profiler: frames, threads, the table.

use super::tree::tests::play;
use super::*;

fn lines(rows: &[ProfileRow]) -> String {
    let mut text = TextReport::default();
    output(rows, &mut text);
    text.0
}

#[test]
fn the_report_matches_the_expected_table() {
    let mut tree = ScopeTree::new();
    let first = [("frame", 0), ("update", 0), ("ai", 10), ("", 110), ("ai", 110), ("", 150)];
    play(&mut tree, (0, 1000), &[&first[..], &[("", 250), ("render", 250)]].concat());
    let second = [("", 1000), ("", 1000), ("frame", 1000), ("update", 1000), ("", 2000)];
    play(&mut tree, (1000, 2000), &[&second[..], &[("", 2000)]].concat());
    let expected = "Min % : Avg % : Max % :   Avg ms :   Max ms :   # : Profile Name
----------------------------------------------------------------
  0.0 :   0.0 :   0.0 :    0.000 :    0.000 :   1 : frame
 11.0 :  55.5 : 100.0 :    5.550 :   10.000 :   1 :  update
  0.0 :   7.0 :  14.0 :    0.700 :    1.400 :   0 :   ai
  0.0 :  37.5 :  75.0 :    3.750 :    7.500 :   0 :  render

";
    assert_eq!(lines(&tree.rows(1e-5)), expected);
}

#[test]
fn the_averages_of_a_frame_thread_sum_to_about_100() {
    let _alone = exclusive();
    set_enabled(true);
    clear_all();
    for frame in 1..=20 {
        begin_frame();
        {
            scope!("update of the sum");
            for _ in 0..3 {
                scope!("part of the sum");
                std::hint::black_box((0..2000).sum::<u64>());
            }
        }
        end_frame(frame);
    }
    let threads = threads();
    let sum: f64 = threads[0].rows.iter().map(|row| row.average).sum();
    assert!((sum - 100.0).abs() < 1.0, "{sum}\n{}", report());
    let rows: Vec<_> = threads[0].rows.iter().map(|it| (it.name, it.parents, it.calls)).collect();
    assert_eq!(rows, [("frame", 0, 1), ("update of the sum", 1, 1), ("part of the sum", 2, 3)]);
    assert!(reset(Some("part of the sum")) && !reset(Some("never opened, ever")));
    set_enabled(false);
}

#[test]
fn scopes_of_other_threads_have_separate_rows() {
    let _alone = exclusive();
    set_enabled(true);
    clear_all();
    begin_frame();
    let other = std::thread::Builder::new().name("painter of the test".into());
    let work = || {
        scope!("painting");
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    other.spawn(work).unwrap().join().unwrap();
    end_frame(7);
    let frames = frames(0, 10);
    let found = frames[0].scopes.iter().find(|it| it.thread == "painter of the test").unwrap();
    assert_eq!((frames[0].index, found.name, found.parents), (7, "painting", 0));
    assert!(found.seconds > 0.0005 && found.began >= 0.0);
    assert!(report().contains("painter of the test:\nMin % :"), "{}", report());
    let folded = folded_stacks();
    assert!(folded.lines().any(|line| line.starts_with("painter of the test;painting ")));
    let trace = chrome_trace();
    assert!(trace.contains("\"args\":{\"name\":\"painter of the test\"}"), "{trace}");
    assert!(crate::sjson::parse(&trace).is_ok(), "JSON is SJSON, too");
    set_enabled(false);
}

#[test]
fn nothing_is_recorded_while_profiling_is_off() {
    let _alone = exclusive();
    set_enabled(false);
    clear_all();
    begin_frame();
    {
        scope!("unseen");
    }
    end_frame(1);
    assert!(frames(0, 10).is_empty());
    assert!(threads().iter().all(|thread| thread.rows.is_empty()));
}

#[test]
fn the_number_of_kept_frames_is_limited() {
    let _alone = exclusive();
    set_enabled(true);
    clear_all();
    for frame in 1..=FRAMES_KEPT as u64 + 5 {
        begin_frame();
        end_frame(frame);
    }
    let kept = frames(0, usize::MAX);
    assert_eq!((kept.len(), kept[0].index), (FRAMES_KEPT, 6));
    assert_eq!(frames(603, usize::MAX).len(), 2);
    assert_eq!(frames(0, 3)[0].index, 603);
    set_enabled(false);
}
