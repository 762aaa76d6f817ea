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
