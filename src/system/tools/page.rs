//! The files of the page, which are in the binary. What they show is theirs (page/README.md).

/// The file at a path, with its kind for browsers.
pub fn file(path: &str) -> Option<(&'static str, &'static [u8])> {
    let found = FILES.iter().find(|(known, ..)| *known == path);
    found.map(|(_, kind, bytes)| (*kind, *bytes))
}

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

macro_rules! files {
    ($($path:literal, $kind:expr, $file:literal;)*) => {
        &[$(($path, $kind, include_bytes!(concat!("../../../page/", $file)))),*]
    };
}

const FILES: &[(&str, &str, &[u8])] = files![
    "/", HTML, "index.html";
    "/page.css", STYLE, "page.css";
    "/main.js", SCRIPT, "main.js";
];
