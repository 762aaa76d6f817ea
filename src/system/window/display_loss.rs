//! Detection of a lost display: the X server ends or closes the connection. By default Xlib would
//! then end the process immediately. Here the loss is recorded instead, so that the game can shut
//! down normally.

#[cfg(target_os = "linux")]
pub use x11::{is_lost, watch};

#[cfg(not(target_os = "linux"))]
pub fn watch(_: &winit::event_loop::EventLoop<()>) {}

#[cfg(not(target_os = "linux"))]
pub fn is_lost() -> bool {
    false
}

#[cfg(target_os = "linux")]
mod x11 {
    use libloading::Library;
    use std::ffi::{c_int, c_void};
    use std::ptr::null_mut;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
    use std::thread::ThreadId;
    use winit::event_loop::EventLoop;
    use winit::raw_window_handle::{HasDisplayHandle, RawDisplayHandle};

    type OnError = unsafe extern "C" fn(*mut c_void) -> c_int;
    type OnExit = unsafe extern "C" fn(*mut c_void, *mut c_void);
    type SetOnError = unsafe extern "C" fn(Option<OnError>) -> Option<OnError>;
    type SetOnExit = unsafe extern "C" fn(*mut c_void, Option<OnExit>, *mut c_void);
    type Unlock = unsafe extern "C" fn(*mut c_void);

    static LOST: AtomicBool = AtomicBool::new(false);
    /// Display connection of the windows.
    static DISPLAY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    static MAIN: OnceLock<ThreadId> = OnceLock::new();
    static UNLOCK: OnceLock<Unlock> = OnceLock::new();

    /// Returns true if the display is lost.
    pub fn is_lost() -> bool {
        LOST.load(Ordering::Relaxed)
    }

    /// Installs the handlers that record a lost connection. Call it on the main thread. Xlib
    /// versions before 1.7 end the process all the same; Wayland's library never does.
    pub fn watch(events: &EventLoop<()>) {
        let Ok(handle) = events.display_handle() else { return };
        let RawDisplayHandle::Xlib(handle) = handle.as_raw() else { return };
        let Some(display) = handle.display else { return };
        // SAFETY: the windowing library has loaded it already and stays for the whole run.
        let Ok(library) = (unsafe { Library::new("libX11.so.6") }) else { return };
        // SAFETY: names and types are those of X11/Xlib.h. The functions below exist forever, and
        // the display lives as long as its event loop, which is not closed once the display is
        // lost.
        unsafe {
            let set_on_error = library.get::<SetOnError>(b"XSetIOErrorHandler\0");
            let set_on_exit = library.get::<SetOnExit>(b"XSetIOErrorExitHandler\0");
            let unlock = library.get::<Unlock>(b"XUnlockDisplay\0");
            let (Ok(set_on_error), Ok(set_on_exit), Ok(unlock)) =
                (set_on_error, set_on_exit, unlock)
            else {
                return;
            };
            DISPLAY.store(display.as_ptr(), Ordering::Relaxed);
            let _ = (MAIN.set(std::thread::current().id()), UNLOCK.set(*unlock));
            set_on_error(Some(on_error));
            set_on_exit(display.as_ptr(), Some(on_exit), null_mut());
        }
        std::mem::forget(library);
    }

    /// Error handler that Xlib calls on the thread that found the connection lost.
    unsafe extern "C" fn on_error(display: *mut c_void) -> c_int {
        LOST.store(true, Ordering::Relaxed);
        let is_main = MAIN.get() == Some(&std::thread::current().id());
        let is_ours = DISPLAY.load(Ordering::Relaxed) == display;
        if is_ours
            && !is_main
            && let Some(unlock) = UNLOCK.get()
        {
            // SAFETY: Xlib has locked the display for this thread, and would leave it locked.
            unsafe { unlock(display) };
        }
        // A driver's separate connection: returning would end the process before the game has shut
        // down.
        if !is_ours && !is_main {
            loop {
                std::thread::park();
            }
        }
        0
    }

    /// Exit handler that Xlib calls afterwards instead of `exit`: pending requests to the display
    /// fail.
    unsafe extern "C" fn on_exit(_: *mut c_void, _: *mut c_void) {}
}
