//! Syntax check of scripts without running them, for releases, where nobody can fix an error.

use super::load::{Fault, load};
use super::report::split_location;
use super::syntax_hints;
use mlua::ffi::*;
use std::ffi::CString;

/// Returns the message of a syntax error, with path and line, if there is one.
pub fn problem(path: &str, text: &str) -> Option<String> {
    // A path with a zero byte names no file.
    let name = CString::new(format!("@{path}")).ok()?;
    // SAFETY: the state is used here only, and nothing is run in it; it is closed before the
    // message is returned.
    unsafe {
        let l = luaL_newstate();
        if l.is_null() {
            return Some(format!("{path}: there is no memory to check the script"));
        }
        let message = match load(l, &name, text.as_bytes()) {
            Ok(()) => None,
            Err(Fault::Refused(message)) => Some(message),
            Err(Fault::OnStack) => {
                let mut length = 0;
                let start = lua_tolstring(l, -1, &mut length);
                let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length);
                Some(with_hint(&String::from_utf8_lossy(bytes), text))
            }
        };
        lua_close(l);
        message
    }
}

/// Adds the hint to the message of a syntax error.
fn with_hint(message: &str, text: &str) -> String {
    let (location, problem) = split_location(message);
    let hint = location.and_then(|it| syntax_hints::hint(problem, text, it.line as usize));
    format!("{message}{}", hint.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn syntax_errors_have_a_line_and_valid_scripts_are_not_run() {
        assert_eq!(problem("a.lua", "error('it ran')"), None);
        let message = problem("parts/a.lua", "local a = 1\nfunction x(\n").unwrap();
        assert!(message.starts_with("parts/a.lua:"), "{message}");
        assert!(message.contains("expected near '<eof>'"), "{message}");
    }
}
