//! Answers for names of the Stingray engine, from the table in docs/coming_from_stingray.md: the
//! page says what is different, and so do the errors about its names.

/// The page. Its table has two columns: names there in backticks, and the answer.
const PAGE: &str = include_str!("../../docs/coming_from_stingray.md");

/// Maximum number of characters of an answer in an error message.
const ANSWER_CHARS_MAX: usize = 200;

/// Returns the answer for a module, or for one of its functions, as the end of a message:
/// ` (Stingray: …)`. Returns `None` if the table does not say it. A
/// name of a module alone (`Network`), or with a star (`Imgui.*`), is the answer for all functions
/// of a module that does not exist.
pub fn answer(module: &str, function: Option<&str>) -> Option<String> {
    let rows = PAGE.lines().filter_map(|line| {
        let (there, here) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        (!there.starts_with("---")).then_some((there, here))
    });
    let (_, here) = rows.into_iter().find(|(there, _)| is_named(there, module, function))?;
    let text = plain_text(here);
    let end = text.char_indices().nth(ANSWER_CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    Some(format!(" (Stingray: {}{more}; engine docs coming_from_stingray)", &text[..end]))
}

/// Returns true if the first column names the module or the function. A name without a module
/// belongs to the module before it: `Joint.revolute_*`, `prismatic_*`.
fn is_named(there: &str, module: &str, function: Option<&str>) -> bool {
    let mut of_module = "";
    there.split('`').skip(1).step_by(2).any(|code| {
        let code = code.split(['(', ' ', '{']).next().unwrap_or_default();
        let (owner, name) = match code.split_once('.') {
            Some((owner, name)) => {
                of_module = owner;
                (owner, Some(name))
            }
            None if code.starts_with(char::is_uppercase) => (code, None),
            None => (of_module, Some(code)),
        };
        match (name, function) {
            (None, None) => fits(owner, module),
            (Some("*"), _) => owner == module,
            (Some(name), Some(function)) => owner == module && fits(name, function),
            _ => false,
        }
    })
}

/// Returns true if a name equals the pattern, or begins with it if the pattern ends in a star.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => !start.is_empty() && name.starts_with(start),
        None => name == pattern,
    }
}

/// Returns a cell of the table without its Markdown: `[physics](physics.md)` is `physics`.
fn plain_text(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some(at) = rest.find("](") {
        let Some(end) = rest[at..].find(')') else { break };
        text += &rest[..at];
        rest = &rest[at + end + 1..];
    }
    text += rest;
    text.replace(['`', '['], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_table_have_answers() {
        let check = |module: &str, function: Option<&str>, wanted: Option<&str>| {
            let found = answer(module, function);
            let fits = match (&found, wanted) {
                (Some(found), Some(wanted)) => found.starts_with(&format!(" (Stingray: {wanted}")),
                (None, None) => true,
                _ => false,
            };
            assert!(fits, "{module}.{function:?}: {found:?}");
        };
        check("Imgui", None, Some("DebugUi.* (debug windows)"));
        check("Imgui", Some("begin_window"), Some("DebugUi.*"));
        check("Joint", Some("revolute_angle"), Some("one set of functions"));
        check("Joint", Some("prismatic_value"), Some("one set of functions"));
        check("PhysicsWorld", Some("apply_wind"), Some("no vector fields"));
        check("ShadingEnvironment", None, Some("World.set_sky and World.sky"));
        check("WwiseWorld", None, Some(".sound files"));
        check("Network", None, Some("not available yet"));
        check("GwNavWorld", None, Some("not available yet"));
        check("PhysicsWorld", Some("raycst"), None);
        check("Joint", Some("value"), None);
        check("Enemies", None, None);
        check("---", None, None);
    }

    #[test]
    fn cells_lose_their_markdown() {
        let cell = "`Mesh.new` takes lists ([models](models.md#x)), and [a";
        assert_eq!(plain_text(cell), "Mesh.new takes lists (models), and a");
    }

    #[test]
    fn patterns_with_a_star_fit_names_that_begin_with_them() {
        assert!(fits("GwNav*", "GwNavWorld") && fits("Network", "Network"));
        assert!(!fits("GwNav*", "Network") && !fits("*", "Network"));
    }
}
