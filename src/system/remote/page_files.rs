//! The files of the tool page, embedded in the binary. page/README.md describes their content.

/// Returns the file at a path, with its MIME type.
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
    "/uplot.css", STYLE, "uplot/uPlot.min.css";
    "/uplot.js", SCRIPT, "uplot/uPlot.iife.min.js";
    "/uplot-license.txt", TEXT, "uplot/LICENSE";
    "/main.js", SCRIPT, "main.js";
    "/connection.js", SCRIPT, "connection.js";
    "/console.js", SCRIPT, "console.js";
    "/dom.js", SCRIPT, "dom.js";
    "/graphs.js", SCRIPT, "graphs.js";
    "/memory.js", SCRIPT, "memory.js";
    "/picture.js", SCRIPT, "picture.js";
    "/profile.js", SCRIPT, "profile.js";
    "/resources.js", SCRIPT, "resources.js";
    "/samples.js", SCRIPT, "samples.js";
    "/units.js", SCRIPT, "units.js";
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_referenced_by_the_page_exists() {
        for (path, kind, bytes) in FILES.iter().filter(|(path, ..)| !path.starts_with("/uplot")) {
            let text = std::str::from_utf8(bytes).expect("it is text");
            let marks = if *kind == HTML { ["src=\"", "href=\""] } else { ["from \"./", "url(\""] };
            for mark in marks {
                for after in text.split(mark).skip(1) {
                    let name = after.split('"').next().unwrap_or_default();
                    let known = name.starts_with("data:") || file(&format!("/{name}")).is_some();
                    assert!(known, "{path} names {name}");
                }
            }
        }
    }
}
