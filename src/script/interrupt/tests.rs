//! Tests of the interrupt and its watchdog.

use super::*;

#[test]
fn a_vm_requires_its_watchdog_thread() {
    let interrupt = Interrupt::new();
    let giant = Builder::new().stack_size(1 << 60);
    assert!(interrupt.watch_by(null_mut(), giant).is_err());
    interrupt.close();
}

#[test]
fn the_last_message_distinguishes_scripts_from_the_engine() {
    let interrupt = Interrupt::new();
    let (sender, receiver) = std::sync::mpsc::channel();
    interrupt.set_on_hang(Box::new(move |cause| sender.send(cause).unwrap()));
    interrupt.check(Some(KILL_SECONDS / 2.0));
    interrupt.check(Some(KILL_SECONDS * 2.0));
    interrupt.begin(f64::INFINITY);
    interrupt.check(Some(KILL_SECONDS * 2.0));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [HangCause::Engine, HangCause::Script]);
}

#[test]
fn a_callback_is_not_charged_for_the_one_before() {
    let interrupt = Interrupt::new();
    interrupt.begin(1.0);
    let first = interrupt.turn.load(SeqCst);
    assert_eq!(interrupt.used_micros(first, 100), 0, "it begins at the first check");
    assert_eq!(interrupt.used_micros(first, 700), 600);
    interrupt.end(null_mut());
    interrupt.begin(1.0);
    let second = interrupt.turn.load(SeqCst);
    // The watchdog read the time in the first callback, and goes on in the second.
    assert_eq!(interrupt.used_micros(first, 700), 0);
    assert_eq!(interrupt.used_micros(second, 900_000), 0, "it begins at its own first check");
    assert_eq!(interrupt.used_micros(second, 900_100), 100);
}

#[test]
fn interrupts_are_removed_in_any_order() {
    let all = [Interrupt::new(), Interrupt::new(), Interrupt::new()];
    for interrupt in &all {
        interrupt.watch(null_mut()).unwrap();
    }
    let listed = || {
        let all = std::iter::successors(Some(first().cast_const()), |at| {
            // SAFETY: they are all alive.
            Some(unsafe { at.as_ref() }?.next.load(SeqCst).cast_const())
        });
        all.take_while(|at| !at.is_null()).collect::<Vec<_>>()
    };
    let [a, b, c] = [0, 1, 2].map(|i| Arc::as_ptr(&all[i]));
    assert_eq!(listed(), [c, b, a]);
    all[1].close();
    assert_eq!(listed(), [c, a]);
    all[2].close();
    assert_eq!(listed(), [a]);
    all[0].close();
    assert!(listed().is_empty());
    // A signal may come before the thread has a list.
    on_thread_interrupt(std::ptr::null());
}
