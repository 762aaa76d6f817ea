//! The files of the tool page, embedded in the binary. page/README.md describes their content.

/// Returns the file at a path, with its MIME type.
pub fn file(path: &str) -> Option<(&'static str, &'static [u8])> {
    let found = FILES.iter().find(|(known, ..)| *known == path);
    found.map(|(_, kind, bytes)| (*kind, *bytes))
}

/// Returns the contents of all files.
pub fn contents() -> impl Iterator<Item = &'static [u8]> {
    FILES.iter().map(|(_, _, bytes)| *bytes)
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
    "/console.css", STYLE, "console.css";
    "/theme.css", STYLE, "theme.css";
    "/views.css", STYLE, "views.css";
    "/animation.css", STYLE, "animation.css";
    "/references.css", STYLE, "references.css";
    "/flow.css", STYLE, "flow.css";
    "/flow_panel.css", STYLE, "flow_panel.css";
    "/uplot.css", STYLE, "uplot/uPlot.min.css";
    "/uplot.js", SCRIPT, "uplot/uPlot.iife.min.js";
    "/uplot-license.txt", TEXT, "uplot/LICENSE";
    "/main.js", SCRIPT, "main.js";
    "/animation.js", SCRIPT, "animation.js";
    "/changes.js", SCRIPT, "changes.js";
    "/character.js", SCRIPT, "character.js";
    "/connection.js", SCRIPT, "connection.js";
    "/counters.js", SCRIPT, "counters.js";
    "/dom.js", SCRIPT, "dom.js";
    "/editors.js", SCRIPT, "editors.js";
    "/flame_graph.js", SCRIPT, "flame_graph.js";
    "/flow.js", SCRIPT, "flow.js";
    "/flow_canvas.js", SCRIPT, "flow_canvas.js";
    "/flow_commands.js", SCRIPT, "flow_commands.js";
    "/flow_dialogs.js", SCRIPT, "flow_dialogs.js";
    "/flow_edit.js", SCRIPT, "flow_edit.js";
    "/flow_editor.js", SCRIPT, "flow_editor.js";
    "/flow_frames.js", SCRIPT, "flow_frames.js";
    "/flow_layout.js", SCRIPT, "flow_layout.js";
    "/flow_lift.js", SCRIPT, "flow_lift.js";
    "/flow_live.js", SCRIPT, "flow_live.js";
    "/flow_model.js", SCRIPT, "flow_model.js";
    "/flow_node.js", SCRIPT, "flow_node.js";
    "/flow_palette.js", SCRIPT, "flow_palette.js";
    "/flow_picture.js", SCRIPT, "flow_picture.js";
    "/flow_pointer.js", SCRIPT, "flow_pointer.js";
    "/flow_side.js", SCRIPT, "flow_side.js";
    "/flow_subgraphs.js", SCRIPT, "flow_subgraphs.js";
    "/flow_types.js", SCRIPT, "flow_types.js";
    "/flow_values.js", SCRIPT, "flow_values.js";
    "/flow_wires.js", SCRIPT, "flow_wires.js";
    "/frame_bars.js", SCRIPT, "frame_bars.js";
    "/graph.js", SCRIPT, "graph.js";
    "/links.js", SCRIPT, "links.js";
    "/log.js", SCRIPT, "log.js";
    "/memory.js", SCRIPT, "memory.js";
    "/navigation.js", SCRIPT, "navigation.js";
    "/picture.js", SCRIPT, "picture.js";
    "/picture_input.js", SCRIPT, "picture_input.js";
    "/profile.js", SCRIPT, "profile.js";
    "/prompt.js", SCRIPT, "prompt.js";
    "/proof.js", SCRIPT, "proof.js";
    "/reference_graph.js", SCRIPT, "reference_graph.js";
    "/references.js", SCRIPT, "references.js";
    "/resource_links.js", SCRIPT, "resource_links.js";
    "/resources.js", SCRIPT, "resources.js";
    "/samples.js", SCRIPT, "samples.js";
    "/scope_table.js", SCRIPT, "scope_table.js";
    "/settings.js", SCRIPT, "settings.js";
    "/splitters.js", SCRIPT, "splitters.js";
    "/state_graph.js", SCRIPT, "state_graph.js";
    "/state_timeline.js", SCRIPT, "state_timeline.js";
    "/steps.js", SCRIPT, "steps.js";
    "/tabs.js", SCRIPT, "tabs.js";
    "/theme.js", SCRIPT, "theme.js";
    "/unit_detail.js", SCRIPT, "unit_detail.js";
    "/units.js", SCRIPT, "units.js";
    "/virtual_list.js", SCRIPT, "virtual_list.js";
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_referenced_by_the_page_exists() {
        for (path, kind, bytes) in FILES.iter().filter(|(path, ..)| !path.starts_with("/uplot")) {
            let text = std::str::from_utf8(bytes).expect("it is text");
            let marks: &[&str] = match *kind {
                HTML => &["src=\"", "href=\""],
                _ => &["from \"./", "import \"./", "url(\""],
            };
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
