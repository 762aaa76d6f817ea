//! Workers without scripts: both ways of keeping time, and their ends.

use super::*;
use std::sync::mpsc::channel;

fn workers(lockstep: bool) -> Workers {
    Workers::new(lockstep, || false)
}

fn order(data: &[u8]) -> Order {
    Order { name: "test".to_string(), data: data.to_vec(), turn_frames: 1 }
}

/// A worker that runs `run` with what it was given.
fn start(
    workers: &mut Workers,
    data: &[u8],
    run: impl FnOnce(&Inside, Vec<u8>) -> Result<Vec<u8>, String> + Send + 'static,
) -> WorkerId {
    let started = workers.start(order(data), |inside| {
        let data = inside.receive().unwrap().unwrap();
        match run(&inside, data) {
            Ok(result) => End::Done(result),
            Err(words) => End::Failed(words),
        }
    });
    started.unwrap()
}

fn wait_for_end(workers: &mut Workers, id: WorkerId) -> End {
    loop {
        if let Some(end) = workers.result(id, "").unwrap() {
            return end;
        }
        std::thread::yield_now();
    }
}

#[test]
fn messages_go_both_ways_in_order_and_the_result_comes_last() {
    let mut workers = workers(false);
    let id = start(&mut workers, b"3", |inside, data| {
        for i in 0..3 {
            inside.send(vec![i])?;
        }
        inside.set_progress(0.5);
        let answer = inside.wait()?.unwrap();
        Ok([data, answer].concat())
    });
    for i in 0..3 {
        assert_eq!(workers.wait(id), Ok(Some(vec![i])));
    }
    assert_eq!(workers.wait(id), Ok(None), "it waits, too");
    assert_eq!(workers.progress(id), Ok(0.5));
    assert_eq!(workers.status(id), Ok(Status::Running));
    workers.send(id, b"!".to_vec()).unwrap();
    assert_eq!(wait_for_end(&mut workers, id), End::Done(b"3!".to_vec()));
}

#[test]
fn in_lockstep_what_a_worker_did_is_seen_in_the_frame_in_which_its_turn_is_over() {
    let mut workers = workers(true);
    let (go, goes) = channel();
    let id = start(&mut workers, b"", move |inside, _| {
        goes.recv().unwrap();
        inside.send(vec![1])?;
        inside.set_progress(0.25);
        let mut polls = 0;
        let message = loop {
            match inside.receive()? {
                Some(message) => break message,
                None => polls += 1,
            }
        };
        Ok([vec![polls], message].concat())
    });
    assert_eq!((workers.receive(id), workers.progress(id)), (Ok(None), Ok(0.0)));
    go.send(()).unwrap();
    workers.begin_frame(1);
    assert_eq!((workers.receive(id), workers.progress(id)), (Ok(Some(vec![1])), Ok(0.25)));
    workers.begin_frame(2);
    workers.begin_frame(3);
    workers.send(id, vec![9]).unwrap();
    assert_eq!(workers.status(id), Ok(Status::Running));
    // The message is there for the turn that begins with frame 4.
    workers.begin_frame(4);
    assert_eq!(workers.status(id), Ok(Status::Running));
    workers.begin_frame(5);
    assert_eq!(workers.result(id, ""), Ok(Some(End::Done(vec![3, 9]))));
}

#[test]
fn in_lockstep_a_turn_can_take_several_frames() {
    let mut workers = workers(true);
    let order = Order { turn_frames: 3, ..order(b"") };
    let id = workers.start(order, |_| End::Done(Vec::new())).unwrap();
    for frame in 1..=2 {
        workers.begin_frame(frame);
        assert_eq!(workers.status(id), Ok(Status::Running), "frame {frame}");
    }
    workers.begin_frame(3);
    assert_eq!(workers.status(id), Ok(Status::Done));
}

#[test]
fn in_lockstep_waiting_goes_by_turns() {
    let mut workers = workers(true);
    let id = start(&mut workers, b"", |inside, _| {
        while inside.receive()?.is_none() {
            inside.send(vec![7])?;
        }
        inside.wait().map(|_| Vec::new())
    });
    for _ in 0..5 {
        assert_eq!(workers.wait(id), Ok(Some(vec![7])));
    }
    workers.send(id, Vec::new()).unwrap();
    assert_eq!(workers.wait(id), Ok(Some(vec![7])), "sent before it could know");
    while workers.wait(id).unwrap().is_some() {}
    assert_eq!(workers.status(id), Ok(Status::Running), "it waits for a message");
}

#[test]
fn a_worker_that_is_cancelled_while_it_waits_ends_and_its_handle_is_stale() {
    let (tell, told) = channel();
    for lockstep in [false, true] {
        let mut workers = workers(lockstep);
        let tell = tell.clone();
        let id = start(&mut workers, b"", move |inside, _| {
            let stopped = inside.wait();
            tell.send(stopped.clone()).unwrap();
            stopped.map(|_| Vec::new())
        });
        workers.cancel(id, "main.lua:3").unwrap();
        assert_eq!(told.recv().unwrap(), Err("stopped: this worker was cancelled".to_string()));
        assert!(workers.slots().get(id.0).is_none());
    }
}

#[test]
fn a_panic_on_a_workers_thread_is_its_failure() {
    let mut workers = workers(false);
    let id = workers.start(order(b""), |_| panic!("no feathers")).unwrap();
    let End::Failed(words) = wait_for_end(&mut workers, id) else { panic!("it failed") };
    assert!(words.contains("no feathers"), "{words}");
}

#[test]
fn limits_are_said_with_their_names() {
    let mut workers = workers(true);
    let wait = |inside: &Inside, _: Vec<u8>| {
        let mut sent = 0;
        let words = loop {
            match inside.send(vec![0]) {
                Ok(()) => sent += 1,
                Err(words) => break words,
            }
        };
        inside.send(format!("{sent}").into_bytes()).unwrap_err();
        Err(words)
    };
    let id = start(&mut workers, b"", wait);
    workers.begin_frame(1);
    let words = "4096 messages wait to be received already (MESSAGES_MAX): receive them first, or \
                 put more into each";
    assert_eq!(workers.result(id, ""), Ok(Some(End::Failed(words.to_string()))));
    for _ in 0..WORKERS_MAX {
        start(&mut workers, b"", |inside, _| inside.wait().map(|_| Vec::new()));
    }
    let refused = workers.start(order(b""), |_| End::Done(Vec::new())).unwrap_err();
    assert!(refused.message.starts_with("16 workers are there already (WORKERS_MAX)"), "{refused}");
    let big = Mail::default().add(vec![0; MESSAGE_BYTES_MAX + 1], Load::default()).unwrap_err();
    assert!(big.starts_with("the messages that wait to be received would take more"), "{big}");
}

#[test]
fn a_game_that_ends_takes_its_workers_along() {
    let (tell, told) = channel::<()>();
    let mut workers = workers(false);
    start(&mut workers, b"", move |inside, _| {
        let stopped = inside.wait();
        drop(tell);
        stopped.map(|_| Vec::new())
    });
    drop(workers);
    assert!(told.try_recv().is_err_and(|why| why == std::sync::mpsc::TryRecvError::Disconnected));
}
