//! Tests of workers without scripts: free-running and lockstep timing, and the ends of workers.

use super::*;
use std::sync::mpsc::channel;

fn workers(lockstep: bool) -> Workers {
    Workers::new(lockstep, || false)
}

fn order(data: &[u8]) -> WorkerStart {
    WorkerStart { name: "test".to_string(), data: data.to_vec(), turn_frames: 1 }
}

/// Starts a worker that runs `run` with its first message.
fn start(
    workers: &mut Workers,
    data: &[u8],
    run: impl FnOnce(&WorkerEndpoint, Vec<u8>) -> Result<Vec<u8>, String> + Send + 'static,
) -> WorkerId {
    let started = workers.start(order(data), |inside| {
        let data = inside.receive().unwrap().unwrap();
        match run(&inside, data) {
            Ok(result) => WorkerEnd::Done(result),
            Err(message) => WorkerEnd::Failed(message),
        }
    });
    started.unwrap()
}

fn wait_for_end(workers: &mut Workers, id: WorkerId) -> WorkerEnd {
    loop {
        if let Some(end) = workers.result(id, "").unwrap() {
            return end;
        }
        std::thread::yield_now();
    }
}

#[test]
fn messages_are_ordered_and_the_result_is_last() {
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
        assert_eq!(workers.wait(id, &|| false), Ok(Some(vec![i])));
    }
    assert_eq!(workers.wait(id, &|| false), Ok(None), "it waits, too");
    assert_eq!(workers.progress(id), Ok(0.5));
    assert_eq!(workers.status(id), Ok(WorkerStatus::Running));
    workers.send(id, b"!".to_vec()).unwrap();
    assert_eq!(wait_for_end(&mut workers, id), WorkerEnd::Done(b"3!".to_vec()));
}

#[test]
fn lockstep_results_appear_in_the_frame_that_ends_the_turn() {
    let mut workers = workers(true);
    let (go, started) = channel();
    let id = start(&mut workers, b"", move |inside, _| {
        started.recv().unwrap();
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
    assert_eq!(workers.status(id), Ok(WorkerStatus::Running));
    // The message arrives in time for the turn that begins with frame 4.
    workers.begin_frame(4);
    assert_eq!(workers.status(id), Ok(WorkerStatus::Running));
    workers.begin_frame(5);
    assert_eq!(workers.result(id, ""), Ok(Some(WorkerEnd::Done(vec![3, 9]))));
}

#[test]
fn a_lockstep_turn_can_take_several_frames() {
    let mut workers = workers(true);
    let order = WorkerStart { turn_frames: 3, ..order(b"") };
    let id = workers.start(order, |_| WorkerEnd::Done(Vec::new())).unwrap();
    for frame in 1..=2 {
        workers.begin_frame(frame);
        assert_eq!(workers.status(id), Ok(WorkerStatus::Running), "frame {frame}");
    }
    workers.begin_frame(3);
    assert_eq!(workers.status(id), Ok(WorkerStatus::Done));
}

#[test]
fn lockstep_waiting_is_counted_in_turns() {
    let mut workers = workers(true);
    let id = start(&mut workers, b"", |inside, _| {
        while inside.receive()?.is_none() {
            inside.send(vec![7])?;
        }
        inside.wait().map(|_| Vec::new())
    });
    for _ in 0..5 {
        assert_eq!(workers.wait(id, &|| false), Ok(Some(vec![7])));
    }
    workers.send(id, Vec::new()).unwrap();
    assert_eq!(workers.wait(id, &|| false), Ok(Some(vec![7])), "sent before it could know");
    while workers.wait(id, &|| false).unwrap().is_some() {}
    assert_eq!(workers.status(id), Ok(WorkerStatus::Running), "it waits for a message");
}

#[test]
fn cancelling_a_waiting_worker_makes_its_handle_stale() {
    let (sender, receiver) = channel();
    for lockstep in [false, true] {
        let mut workers = workers(lockstep);
        let sender = sender.clone();
        let id = start(&mut workers, b"", move |inside, _| {
            let stopped = inside.wait();
            sender.send(stopped.clone()).unwrap();
            stopped.map(|_| Vec::new())
        });
        workers.cancel(id, "main.lua:3").unwrap();
        assert_eq!(receiver.recv().unwrap(), Err("stopped: this worker was cancelled".to_string()));
        assert!(workers.slots().get(id.0).is_none());
    }
}

#[test]
fn a_panic_on_a_worker_thread_fails_the_worker() {
    let mut workers = workers(false);
    let id = workers.start(order(b""), |_| panic!("no feathers")).unwrap();
    let WorkerEnd::Failed(message) = wait_for_end(&mut workers, id) else { panic!("it failed") };
    assert!(message.contains("no feathers"), "{message}");
}

#[test]
fn limit_errors_name_the_limit() {
    let mut workers = workers(true);
    let wait = |inside: &WorkerEndpoint, _: Vec<u8>| {
        let mut sent = 0;
        let message = loop {
            match inside.send(vec![0]) {
                Ok(()) => sent += 1,
                Err(message) => break message,
            }
        };
        inside.send(format!("{sent}").into_bytes()).unwrap_err();
        Err(message)
    };
    let id = start(&mut workers, b"", wait);
    workers.begin_frame(1);
    let message = "4096 messages wait to be received already (MESSAGES_MAX): receive them first, \
                   or put more into each";
    assert_eq!(workers.result(id, ""), Ok(Some(WorkerEnd::Failed(message.to_string()))));
    for _ in 0..WORKERS_MAX {
        start(&mut workers, b"", |inside, _| inside.wait().map(|_| Vec::new()));
    }
    let refused = workers.start(order(b""), |_| WorkerEnd::Done(Vec::new())).unwrap_err();
    assert!(refused.message.starts_with("16 workers already exist (WORKERS_MAX)"), "{refused}");
    let big = MessageQueue::default()
        .add(vec![0; MESSAGE_BYTES_MAX + 1], QueueLoad::default())
        .unwrap_err();
    assert!(big.starts_with("the messages that wait to be received would take more"), "{big}");
}

#[test]
fn ending_a_game_ends_its_workers() {
    let (sender, receiver) = channel::<()>();
    let mut workers = workers(false);
    start(&mut workers, b"", move |inside, _| {
        let stopped = inside.wait();
        drop(sender);
        stopped.map(|_| Vec::new())
    });
    drop(workers);
    assert!(
        receiver.try_recv().is_err_and(|why| why == std::sync::mpsc::TryRecvError::Disconnected)
    );
}
