//! Handles of threads on Windows: their CPU time, and running a function while a thread is stopped.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::Arc;
use windows_sys::Win32::Foundation::{DUPLICATE_SAME_ACCESS, DuplicateHandle, FILETIME};
#[cfg(target_arch = "x86_64")]
use windows_sys::Win32::System::Diagnostics::Debug::CONTEXT_CONTROL_AMD64 as CONTEXT_CONTROL;
#[cfg(target_arch = "aarch64")]
use windows_sys::Win32::System::Diagnostics::Debug::CONTEXT_CONTROL_ARM64 as CONTEXT_CONTROL;
use windows_sys::Win32::System::Diagnostics::Debug::{CONTEXT, GetThreadContext};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetThreadTimes, ResumeThread, SuspendThread,
};

/// Units of `FILETIME` in a second.
const TICKS: f64 = 1e7;

/// Registers of a thread. Windows refuses records with a smaller alignment.
#[repr(C, align(16))]
struct AlignedContext(CONTEXT);

/// A thread. The handle stays valid when the thread has ended.
#[derive(Clone)]
pub struct ThreadHandle(Arc<OwnedHandle>);

impl ThreadHandle {
    /// Returns a handle of the calling thread, which other threads may use.
    pub fn of_this_thread() -> ThreadHandle {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the call turns the constant for "this thread" into a handle that is owned here.
        let done = unsafe {
            let process = GetCurrentProcess();
            let thread = GetCurrentThread();
            DuplicateHandle(process, thread, process, &mut handle, 0, 0, DUPLICATE_SAME_ACCESS)
        };
        engine_foundation::insist!(done != 0, "this thread has no handle");
        // SAFETY: the handle is new, and nothing else closes it.
        ThreadHandle(Arc::new(unsafe { OwnedHandle::from_raw_handle(handle) }))
    }

    /// Returns the CPU time that the thread has used, in seconds. Windows counts it in steps of
    /// about 16 ms.
    pub fn cpu_seconds(&self) -> f64 {
        let zero = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
        let [mut created, mut ended, mut kernel, mut user] = [zero; 4];
        // SAFETY: the handle is open, and the call fills the records.
        unsafe {
            let handle = self.0.as_raw_handle();
            GetThreadTimes(handle, &mut created, &mut ended, &mut kernel, &mut user);
        }
        let ticks = |time: FILETIME| {
            (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) as f64
        };
        (ticks(kernel) + ticks(user)) / TICKS
    }

    /// Runs a function while the thread is stopped between two of its instructions. Returns false
    /// without running it if the thread cannot be stopped.
    ///
    /// # Safety
    /// The function must neither allocate nor lock, because the stopped thread may hold any lock,
    /// and must not use data that may be half changed. The thread must not be the calling one.
    pub unsafe fn run_while_stopped(&self, run: impl FnOnce()) -> bool {
        let handle = self.0.as_raw_handle();
        // SAFETY: the handle is open. The record is aligned, and the flags say which part of it
        // the call fills. The thread continues afterwards in all cases.
        unsafe {
            if SuspendThread(handle) == u32::MAX {
                return false;
            }
            // The call above may return before the thread has stopped. This one waits for that.
            let mut context: AlignedContext = std::mem::zeroed();
            context.0.ContextFlags = CONTEXT_CONTROL;
            let has_stopped = GetThreadContext(handle, &mut context.0) != 0;
            if has_stopped {
                run();
            }
            ResumeThread(handle);
            has_stopped
        }
    }
}
