//! A message in a window of the desktop, for players: they start a game without a terminal, and
//! would not learn why it does not start.

use crate::broker;
#[cfg(not(windows))]
use std::process::{Command, Stdio};

/// Maximum length of a message in characters. Longer ones are cut.
const MESSAGE_CHARACTERS_MAX: usize = 2000;

/// Shows a message if nobody can read standard error: neither a person nor a program that captures
/// it. Its title is the name of this executable. Without a desktop, or without a program that shows
/// messages, nothing happens.
pub fn show_to_player(message: &str) {
    // A confined process cannot start programs. Its broker shows the message, once.
    if !is_error_output_read() && broker::show_message(message).is_none() {
        show_now(message);
    }
}

/// Shows a message to the player, who may not see standard error.
pub(crate) fn show_now(message: &str) {
    let program = std::env::current_exe().unwrap_or_default();
    let title = program.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    show(&shown(&title.unwrap_or_default()), &shown(message));
}

/// Returns the text without characters that windows would interpret or cannot show, and not longer
/// than the maximum.
fn shown(text: &str) -> String {
    let plain = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    text.chars().take(MESSAGE_CHARACTERS_MAX).map(plain).collect()
}

#[cfg(unix)]
fn is_error_output_read() -> bool {
    use std::io::IsTerminal;
    let stderr = std::io::stderr();
    if stderr.is_terminal() {
        return true;
    }
    // SAFETY: the record is plain numbers, and the call fills it or fails.
    let mode = unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        let failed = libc::fstat(libc::STDERR_FILENO, &mut found) != 0;
        if failed { 0 } else { found.st_mode }
    };
    // Desktops lead it to their journal (a socket), to a file of the session, or to nothing.
    mode & libc::S_IFMT == libc::S_IFIFO
}

#[cfg(windows)]
fn is_error_output_read() -> bool {
    use std::os::windows::io::AsRawHandle;
    // A program without a console has no handle, unless the program that starts it gives one.
    !std::io::stderr().as_raw_handle().is_null()
}

#[cfg(windows)]
fn show(title: &str, message: &str) {
    use windows_sys::Win32::UI::WindowsAndMessaging::{
        MB_ICONERROR, MB_OK, MB_SETFOREGROUND, MessageBoxW,
    };
    let wide = |text: &str| text.encode_utf16().chain([0]).collect::<Vec<u16>>();
    let (title, message) = (wide(title), wide(message));
    let style = MB_OK | MB_ICONERROR | MB_SETFOREGROUND;
    // SAFETY: both texts end with a zero and live as long as the call. The window has no owner.
    unsafe { MessageBoxW(std::ptr::null_mut(), message.as_ptr(), title.as_ptr(), style) };
}

/// Runs the first program that exists, without waiting for it. The texts are arguments of their
/// own, which no shell reads.
#[cfg(not(windows))]
fn show(title: &str, message: &str) {
    #[cfg(not(target_os = "macos"))]
    if ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().all(|name| std::env::var_os(name).is_none()) {
        return;
    }
    for (program, arguments) in programs(title, message) {
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/").stdin(Stdio::null());
        if command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok() {
            return;
        }
    }
}

#[cfg(target_os = "macos")]
fn programs(title: &str, message: &str) -> Vec<(&'static str, Vec<String>)> {
    let script = "on run texts\ndisplay alert (item 1 of texts) message (item 2 of texts) as \
                  critical\nend run";
    let arguments = ["-e", script, title, message].map(String::from).to_vec();
    vec![("/usr/bin/osascript", arguments)]
}

/// Returns the programs of the desktops, and one of X11.
#[cfg(not(any(windows, target_os = "macos")))]
fn programs(title: &str, message: &str) -> Vec<(&'static str, Vec<String>)> {
    let zenity = vec![
        "--error".to_string(),
        "--no-markup".to_string(),
        format!("--title={title}"),
        format!("--text={message}"),
    ];
    // An argument must not begin with a hyphen, and Qt shows a text with tags as a web page.
    let message = format!("{title}\n\n{message}").replace('<', "‹");
    let message = message.trim_start_matches('-').to_string();
    let kdialog = vec![format!("--title={title}"), "--error".to_string(), message.clone()];
    vec![("zenity", zenity), ("kdialog", kdialog), ("xmessage", vec![message])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_no_control_characters_and_an_end() {
        assert_eq!(shown("one\ntwo\t\x1b[31m"), "one\ntwo  [31m");
        assert_eq!(shown(&"x".repeat(3000)).len(), MESSAGE_CHARACTERS_MAX);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_text_is_an_option_of_the_program_that_shows_it() {
        for (program, arguments) in programs("--help", "--title=x") {
            let first = arguments.last().expect("the message is the last argument");
            let is_value = first.starts_with("--text=");
            assert!(is_value || !first.starts_with('-'), "{program} {arguments:?}");
        }
    }
}
