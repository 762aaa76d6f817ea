//! What the operating system gives: its name, a thread's CPU time, signals, folders by convention.
//! The one place that speaks to libc.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The platform's name, as settings and resource variants spell it.
pub const NAME: &str = std::env::consts::OS;

/// Has the kernel give memory in small pages. The allocator asks for huge ones, which are cleared
/// as a whole when their first byte is touched: measured on the template, twice the time to the
/// first frame and twice the memory. Call it before anything large is allocated.
pub fn use_small_pages() {
    #[cfg(target_os = "linux")]
    // SAFETY: a flag of the process; where the kernel does not know it, nothing changes.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

/// Has C libraries, drivers above all, share one arena in all threads: glibc would give them arenas
/// of their own, which grow by a page and a call of the system at a time, four hundred before the
/// first picture. And has them give large blocks back at once: glibc keeps them once it has seen
/// one, 3 MiB after compiling shaders. Call it before any thread is there.
pub fn keep_c_heap_small() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: settings of the C library's allocator; where one is refused, nothing changes. The
    // second is what glibc begins with: named, it stays.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Keeps the layer of Mesa's drivers that chooses among graphics cards from asking Wayland for the
/// usual one where there can be no Wayland: it would complain on standard error each time, and the
/// engine chooses by itself. Call it before any thread is there.
pub fn quiet_drivers() {
    #[cfg(target_os = "linux")]
    {
        let set = |name: &str| std::env::var_os(name).is_some();
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let wayland = set("WAYLAND_SOCKET") || runtime.is_some_and(|folder| folder.is_absolute());
        if !(wayland || set("DRI_PRIME") || set("MESA_VK_DEVICE_SELECT")) {
            // SAFETY: no other thread is there that could read the environment meanwhile.
            unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
        }
    }
}

/// A clock of the CPU time that one thread has used.
#[derive(Clone, Copy)]
pub struct ThreadClock {
    #[cfg(unix)]
    id: libc::clockid_t,
}

impl ThreadClock {
    /// The clock of the calling thread; it may be read from any thread.
    pub fn of_this_thread() -> ThreadClock {
        #[cfg(all(unix, not(target_os = "macos")))]
        {
            let mut id = 0;
            // SAFETY: asks for the clock of the thread that is running.
            let failed = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut id) };
            crate::insist!(failed == 0, "this thread has no CPU clock (error {failed})");
            ThreadClock { id }
        }
        // macOS has no such call: wall time instead, which is stricter on a busy machine.
        #[cfg(target_os = "macos")]
        return ThreadClock { id: libc::CLOCK_MONOTONIC };
        #[cfg(not(unix))]
        return ThreadClock {};
    }

    /// Seconds of CPU time used so far; stands still once the thread has ended.
    pub fn seconds(self) -> f64 {
        #[cfg(unix)]
        {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: fills the record; an ended thread's clock gives an error and leaves zero.
            unsafe { libc::clock_gettime(self.id, &mut time) };
            time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
        }
        #[cfg(not(unix))]
        return seconds_since_start();
    }
}

thread_local! {
    /// What this thread runs when it is poked.
    static POKED: Cell<Option<fn()>> = const { Cell::new(None) };
}

#[cfg(unix)]
extern "C" fn on_poke(_: libc::c_int) {
    if let Some(run) = POKED.get() {
        run();
    }
}

/// A way to have one thread run a function of its own at once, whatever it is doing.
#[derive(Clone, Copy)]
pub struct Poke {
    #[cfg(unix)]
    thread: libc::pthread_t,
}

impl Poke {
    /// Lets other threads poke the calling one: it then runs `run` inside a signal handler, so
    /// `run` may touch nothing that it could find half changed. A later call replaces the function.
    ///
    /// The signal is SIGURG: what else sends it is rare, and nobody minds one too many.
    pub fn this_thread(run: fn()) -> Poke {
        POKED.set(Some(run));
        #[cfg(unix)]
        // SAFETY: the records are filled before they are used, and the handler does nothing but
        // read a cell that is there as long as its thread, and run what `run` promises.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_poke as extern "C" fn(libc::c_int) as libc::sighandler_t;
            // System calls that it interrupts go on.
            action.sa_flags = libc::SA_RESTART;
            let failed = libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut());
            crate::insist!(failed == 0, "SIGURG cannot be handled");
            // Whoever started the process may have blocked it.
            let mut signals = std::mem::zeroed();
            libc::sigemptyset(&mut signals);
            libc::sigaddset(&mut signals, libc::SIGURG);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &signals, std::ptr::null_mut());
            Poke { thread: libc::pthread_self() }
        }
        #[cfg(not(unix))]
        return Poke {};
    }

    /// Has the thread run its function; false where the system cannot.
    ///
    /// # Safety
    /// The thread has not ended.
    pub unsafe fn poke(self) -> bool {
        #[cfg(unix)]
        // SAFETY: as the caller promised; the handler stands.
        unsafe {
            libc::pthread_kill(self.thread, libc::SIGURG) == 0
        }
        #[cfg(not(unix))]
        return false;
    }
}

/// The address that the calling thread's stack should not go below: a quarter of it is left, at
/// most 1 MiB, for whoever reports that it is full.
pub fn stack_floor() -> usize {
    thread_local! {
        // The system reads a file of its own for the main thread's.
        static FLOOR: usize = find_stack_floor();
    }
    FLOOR.with(|floor| *floor)
}

fn find_stack_floor() -> usize {
    let here = 0u8;
    let here = std::ptr::from_ref(&here).addr();
    #[cfg(target_os = "linux")]
    // SAFETY: fills the record for the calling thread, reads two numbers, and frees it.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
            let failed = libc::pthread_attr_getstack(&attributes, &mut lowest, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
            crate::insist!(failed == 0, "this thread does not know its stack (error {failed})");
            return lowest.addr() + (size / 4).min(1 << 20);
        }
    }
    // The least that any system gives its main thread is 1 MiB.
    here.saturating_sub(512 << 10)
}

/// From now on the calling thread gets less of a core that others want, too: for long jobs that
/// should not hold up a frame. Only Linux knows that of single threads.
pub fn let_others_go_first() {
    #[cfg(target_os = "linux")]
    // SAFETY: changes a number of the calling thread. Where it is refused, nothing is lost.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 5);
    }
}

/// Seconds since the process first asked.
pub fn seconds_since_start() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// When the process was asked to end, in microseconds of `seconds_since_start`, plus 1; 0: not yet.
static ASKED_TO_END: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
extern "C" fn on_signal(_: libc::c_int) {
    // Only atomics and the clock, which are safe inside a signal handler.
    note_end();
}

fn note_end() {
    let now = (seconds_since_start() * 1e6) as u64 + 1;
    // The first asking counts.
    let _ = ASKED_TO_END.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
}

/// From now on SIGINT and SIGTERM are noted instead of ending the process at once.
pub fn note_signals() {
    seconds_since_start();
    #[cfg(unix)]
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let handler = on_signal as extern "C" fn(libc::c_int);
        // SAFETY: the handler touches only atomics and the monotonic clock.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

/// How long ago the process was asked to end, in seconds.
pub fn asked_to_end() -> Option<f64> {
    match ASKED_TO_END.load(Ordering::Relaxed) {
        0 => None,
        at => Some(seconds_since_start() - (at - 1) as f64 * 1e-6),
    }
}

/// Ends the process now, running nothing more: for a thread that finds the others stuck.
pub fn end_now(code: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: ends the process without running destructors of threads that may hold locks.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}

/// Has everything that is written to standard output go to standard error from now on, whoever
/// writes it; the file is what standard output was before. Where the system has no such thing,
/// what is printed stays where it went.
pub fn divert_output() -> std::io::Result<std::fs::File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let before = std::io::stdout().as_fd().try_clone_to_owned()?;
        // SAFETY: both are the numbers of files that are open for as long as the process lives.
        if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(before.into())
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(std::io::stdout().as_handle().try_clone_to_owned()?.into())
    }
}

/// Has standard input be empty from now on, whoever reads it; the file is what it was before. Where
/// the system has no such thing, both are the same.
pub fn divert_input() -> std::io::Result<std::fs::File> {
    #[cfg(unix)]
    {
        use std::os::fd::{AsFd, AsRawFd};
        let before = std::io::stdin().as_fd().try_clone_to_owned()?;
        let nothing = std::fs::File::open("/dev/null")?;
        // SAFETY: both are the numbers of files that are open here.
        if unsafe { libc::dup2(nothing.as_raw_fd(), libc::STDIN_FILENO) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(before.into())
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(std::io::stdin().as_handle().try_clone_to_owned()?.into())
    }
}

/// The folder for a game's saves, settings and reports, by the platform's convention. It need not
/// exist. `ENGINE_SAVE_DIR`, where set, replaces everything but the game's own name.
pub fn save_folder(game: &str) -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || variable("HOME").or_else(|| variable("USERPROFILE"));
    let base = variable("ENGINE_SAVE_DIR").or_else(|| match NAME {
        "windows" => variable("APPDATA"),
        "macos" => home().map(|home| home.join("Library/Application Support")),
        _ => variable("XDG_DATA_HOME").or_else(|| home().map(|home| home.join(".local/share"))),
    });
    let base = base.ok_or("there is no home folder: set HOME, or ENGINE_SAVE_DIR")?;
    Ok(base.join(game))
}

/// The folder in which programs keep what they can make anew, by the platform's convention. It need
/// not exist.
pub fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    match NAME {
        "windows" => variable("LOCALAPPDATA"),
        "macos" => variable("HOME").map(|home| home.join("Library/Caches")),
        _ => {
            variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
        }
    }
}

/// One thing that an input device of the system says, as the kernel has it (linux/input.h).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RawInput {
    /// Seconds ago.
    pub age: f64,
    pub kind: u16,
    pub code: u16,
    pub value: i32,
}

/// The way of one absolute axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AxisRange {
    pub min: i32,
    pub max: i32,
    pub value: i32,
}

/// An input device of Linux (evdev), open for reading without waiting.
#[cfg(target_os = "linux")]
pub struct InputNode {
    file: std::fs::File,
    /// Whether it can be told to rumble.
    writable: bool,
}

#[cfg(target_os = "linux")]
impl InputNode {
    /// Opens a device by its path, also for writing where that is allowed.
    pub fn open(path: &std::path::Path) -> std::io::Result<InputNode> {
        use std::os::unix::fs::OpenOptionsExt;
        let open = |writable: bool| {
            let mut options = std::fs::OpenOptions::new();
            options.read(true).write(writable).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
            options.open(path).map(|file| InputNode { file, writable })
        };
        let node = open(true).or_else(|_| open(false))?;
        let mut clock = libc::CLOCK_MONOTONIC;
        // A device that cannot tell its times by this clock tells them by another, and all that is
        // lost is how long ago something was.
        let _ = node.control(1, 0xa0, (&raw mut clock).cast(), size_of::<libc::c_int>());
        Ok(node)
    }

    /// A control call of evdev: `direction` 1 writes to the device, 2 reads from it.
    fn control(
        &self,
        direction: u64,
        number: u64,
        data: *mut libc::c_void,
        size: usize,
    ) -> std::io::Result<i32> {
        use std::os::fd::AsRawFd;
        let request = direction << 30 | (size as u64) << 16 | u64::from(b'E') << 8 | number;
        // SAFETY: the kernel reads or writes `size` bytes at `data`, which the callers in this
        // block hold; the device is open.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), request as _, data) };
        match result {
            result if result < 0 => Err(std::io::Error::last_os_error()),
            result => Ok(result),
        }
    }

    /// What its maker calls it.
    pub fn name(&self) -> String {
        let mut bytes = [0u8; 256];
        let length = self.control(2, 0x06, bytes.as_mut_ptr().cast(), bytes.len()).unwrap_or(0);
        let bytes = &bytes[..(length as usize).min(bytes.len())];
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).trim().to_string()
    }

    /// Bus, maker, product and version.
    pub fn id(&self) -> [u16; 4] {
        let mut id = [0u16; 4];
        // A device without one keeps the zeros, which no mapping has.
        let _ = self.control(2, 0x02, id.as_mut_ptr().cast(), size_of_val(&id));
        id
    }

    /// The codes of one kind that it has: 1 keys, 3 absolute axes, 0x15 effects.
    pub fn codes(&self, kind: u16) -> Vec<u16> {
        let mut bits = [0u8; 96];
        let number = 0x20 + u64::from(kind);
        let length = self.control(2, number, bits.as_mut_ptr().cast(), bits.len()).unwrap_or(0);
        let all = 0..(length as usize * 8).min(bits.len() * 8);
        all.filter(|at| bits[at / 8] & 1 << (at % 8) != 0).map(|at| at as u16).collect()
    }

    /// The way of an absolute axis.
    pub fn range(&self, axis: u16) -> std::io::Result<AxisRange> {
        // Value, least, greatest, noise, flat middle, resolution.
        let mut info = [0i32; 6];
        let number = 0x40 + u64::from(axis);
        self.control(2, number, info.as_mut_ptr().cast(), size_of_val(&info))?;
        Ok(AxisRange { value: info[0], min: info[1], max: info[2] })
    }

    /// The keys that are down now.
    pub fn keys_down(&self) -> Vec<u16> {
        let mut bits = [0u8; 96];
        let length = self.control(2, 0x18, bits.as_mut_ptr().cast(), bits.len()).unwrap_or(0);
        let all = 0..(length as usize * 8).min(bits.len() * 8);
        all.filter(|at| bits[at / 8] & 1 << (at % 8) != 0).map(|at| at as u16).collect()
    }

    /// What it has said since it was last asked. An error: it is gone.
    pub fn read(&self, said: &mut Vec<RawInput>) -> std::io::Result<()> {
        use std::io::Read;
        const SIZE: usize = size_of::<libc::input_event>();
        let mut bytes = [0u8; SIZE * 64];
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: fills the record.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        let now = now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9;
        loop {
            let length = match (&self.file).read(&mut bytes) {
                Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => length,
                Err(reason) if reason.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
                Err(reason) if reason.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(reason) => return Err(reason),
            };
            for one in bytes[..length].chunks_exact(SIZE) {
                // SAFETY: the record is plain numbers, for which any bytes will do.
                let event: libc::input_event =
                    unsafe { std::ptr::read_unaligned(one.as_ptr().cast()) };
                let at = event.time.tv_sec as f64 + event.time.tv_usec as f64 * 1e-6;
                let age = (now - at).clamp(0.0, 1.0);
                let (kind, code, value) = (event.type_, event.code, event.value);
                said.push(RawInput { age, kind, code, value });
            }
        }
    }

    /// Has it rumble: strong and weak motor from 0 to 1. `effect` is the number of the effect that
    /// is changed, -1 for a new one; gives the number.
    pub fn rumble(&self, effect: i16, motors: [f32; 2], seconds: f32) -> std::io::Result<i16> {
        if !self.writable {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
        let full = |motor: f32| (motor.clamp(0.0, 1.0) * 65535.0) as u16;
        // SAFETY: the record is plain numbers, for which zeros will do.
        let mut record: libc::ff_effect = unsafe { std::mem::zeroed() };
        record.type_ = 0x50;
        record.id = effect;
        record.replay.length = (seconds.clamp(0.0, 60.0) * 1000.0) as u16;
        // The part that depends on the kind of effect: strong, then weak.
        let strengths = [full(motors[0]), full(motors[1])];
        // SAFETY: the part is larger than two numbers of 16 bits, and begins with them.
        unsafe { (&raw mut record.u).cast::<[u16; 2]>().write_unaligned(strengths) };
        self.control(1, 0x80, (&raw mut record).cast(), size_of::<libc::ff_effect>())?;
        self.play(record.id, seconds > 0.0 && motors != [0.0; 2])?;
        Ok(record.id)
    }

    fn play(&self, effect: i16, on: bool) -> std::io::Result<()> {
        use std::io::Write;
        // SAFETY: the record is plain numbers, for which zeros will do.
        let mut event: libc::input_event = unsafe { std::mem::zeroed() };
        (event.type_, event.code, event.value) = (0x15, effect as u16, i32::from(on));
        let size = size_of::<libc::input_event>();
        // SAFETY: the record is there for as long as its bytes are read, and has no gaps.
        let bytes = unsafe { std::slice::from_raw_parts((&raw const event).cast::<u8>(), size) };
        (&self.file).write_all(bytes)
    }
}

/// The terminal that the process reads from, with every key told at once and nothing shown by
/// itself. As it was before when this is dropped.
pub struct RawTerminal {
    #[cfg(unix)]
    before: libc::termios,
}

impl RawTerminal {
    /// None where standard input is no terminal, or the system has no such thing.
    pub fn open() -> Option<RawTerminal> {
        #[cfg(unix)]
        // SAFETY: the records are filled by the first call before the second one reads them.
        unsafe {
            let mut before = std::mem::zeroed();
            if libc::tcgetattr(libc::STDIN_FILENO, &mut before) != 0 {
                return None;
            }
            let mut raw = before;
            raw.c_lflag &= !(libc::ICANON | libc::ECHO | libc::ISIG | libc::IEXTEN);
            raw.c_iflag &= !(libc::IXON | libc::ICRNL | libc::BRKINT | libc::ISTRIP);
            // A read gives what is there, at once.
            raw.c_cc[libc::VMIN] = 0;
            raw.c_cc[libc::VTIME] = 0;
            let failed = libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw) != 0;
            (!failed).then_some(RawTerminal { before })
        }
        #[cfg(not(unix))]
        None
    }

    /// What was typed, within a time; empty where nothing was, none where nobody types any more.
    pub fn read(&self, patience: std::time::Duration) -> Option<Vec<u8>> {
        #[cfg(unix)]
        // SAFETY: the record and the bytes are there for as long as the calls.
        unsafe {
            let mut one = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
            let milliseconds = patience.as_millis().min(60_000) as libc::c_int;
            if libc::poll(&mut one, 1, milliseconds) <= 0 {
                // Nothing, or a signal, which somebody else looks at.
                return Some(Vec::new());
            }
            let mut bytes = [0u8; 1024];
            match libc::read(libc::STDIN_FILENO, bytes.as_mut_ptr().cast(), bytes.len()) {
                0 => None,
                count => Some(bytes[..count.max(0) as usize].to_vec()),
            }
        }
        #[cfg(not(unix))]
        {
            let _ = patience;
            None
        }
    }

    /// How many columns it has; 80 where it does not say.
    pub fn columns(&self) -> usize {
        #[cfg(unix)]
        // SAFETY: fills the record, or fails and leaves zeros.
        unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            let failed = libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &mut size) != 0;
            if !failed && size.ws_col > 0 {
                return usize::from(size.ws_col);
            }
        }
        80
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        #[cfg(unix)]
        // SAFETY: the record is the one that the terminal gave.
        unsafe {
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &self.before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use std::io::Write;

    #[test]
    fn a_threads_clock_counts_its_own_work_and_can_be_read_from_another() {
        let clock = ThreadClock::of_this_thread();
        let before = clock.seconds();
        let mut sum = 0u64;
        while clock.seconds() - before < 0.002 {
            sum = sum.wrapping_mul(31).wrapping_add(1);
        }
        let seen = std::thread::spawn(move || clock.seconds()).join().unwrap();
        assert!(seen - before >= 0.002, "{sum}");
    }

    #[cfg(unix)]
    #[test]
    fn a_poked_thread_runs_its_function_itself_even_in_a_system_call() {
        thread_local! {
            static POKES: Cell<u32> = const { Cell::new(0) };
        }
        let poke = Poke::this_thread(|| POKES.set(POKES.get() + 1));
        let (reader, mut writer) = std::io::pipe().unwrap();
        let other = std::thread::spawn(move || {
            // SAFETY: this thread is waited for by the one that it pokes.
            assert!(unsafe { poke.poke() });
            std::thread::sleep(std::time::Duration::from_millis(5));
            // SAFETY: as above; that one is reading now.
            assert!(unsafe { poke.poke() });
            writer.write_all(b"x").unwrap();
            POKES.get()
        });
        let mut byte = [0];
        std::io::Read::read_exact(&mut { reader }, &mut byte).unwrap();
        assert_eq!((other.join().unwrap(), byte), (0, *b"x"));
        assert!(POKES.get() > 0, "two pokes that come together count once");
    }
}
