//! Answers for names of the Stingray engine, from the table in docs/coming_from_stingray.md: the
//! page says what is different, and so do the errors about its names and arguments.

use super::porting_layer;

/// The page. Its table has two columns: names there in backticks, and the answer.
const PAGE: &str = include_str!("../../docs/coming_from_stingray.md");

/// Maximum number of characters of an answer in an error message.
const ANSWER_CHARS_MAX: usize = 200;

/// Beginnings of answers that have nothing to add to an error about arguments.
const SAME: [&str; 2] = ["the same", "exist"];

/// Returns the end of a message for a name that does not exist: the porting layer, if it adds the
/// name, and the answer of the table.
pub fn missing(module: &str, function: Option<&str>) -> Option<String> {
    let answer = answer(module, function);
    if !porting_layer::has(module, function) {
        return answer;
    }
    Some(format!(": require \"stingray\" adds it{}", answer.unwrap_or_default()))
}

/// Returns the end of a message about wrong arguments of a function that takes others in Stingray.
/// `has_layer` is true if the game has loaded the porting layer.
pub fn other_arguments(module: &str, function: &str, has_layer: bool) -> Option<String> {
    let text = text_of(module, Some(function))?;
    if SAME.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let layer = match !has_layer && porting_layer::has(module, Some(function)) {
        true => "require \"stingray\" takes its arguments",
        false => "",
    };
    Some(message(&text, layer))
}

/// Returns the answer for a module, or for one of its functions, as the end of a message:
/// ` (Stingray: …)`. Returns `None` if the table does not say it. A
/// name of a module alone (`Network`), or with a star (`Imgui.*`), is the answer for all functions
/// of a module that does not exist.
pub fn answer(module: &str, function: Option<&str>) -> Option<String> {
    text_of(module, function).map(|text| message(&text, ""))
}

/// Returns the answer as a message, with a note at its end.
fn message(text: &str, note: &str) -> String {
    let end = text.char_indices().nth(ANSWER_CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    let separator = if note.is_empty() { "" } else { "; " };
    let text = &text[..end];
    format!(" (Stingray: {text}{more}{separator}{note}; engine docs coming_from_stingray)")
}

/// Returns the answer of the table, without Markdown.
fn text_of(module: &str, function: Option<&str>) -> Option<String> {
    let rows = PAGE.lines().filter_map(|line| {
        let (there, here) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        (!there.starts_with("---")).then_some((there, here))
    });
    let (_, here) = rows.into_iter().find(|(there, _)| is_named(there, module, function))?;
    Some(plain_text(here))
}

/// Returns true if the first column names the module or the function. A name without a module
/// belongs to the module before it: `Joint.revolute_*`, `prismatic_*`. Without one, it is a global.
fn is_named(there: &str, module: &str, function: Option<&str>) -> bool {
    let mut of_module = "";
    there.split('`').skip(1).step_by(2).any(|code| {
        let code = code.split(['(', ' ', '{']).next().unwrap_or_default();
        let (owner, name) = match code.split_once('.') {
            Some((owner, name)) => {
                of_module = owner;
                (owner, Some(name))
            }
            None if code.starts_with(char::is_uppercase) || of_module.is_empty() => (code, None),
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
        check("ShadingEnvironment", None, Some("the same, with other names of values"));
        check("WwiseWorld", None, Some(".sound files"));
        check("Network", None, Some("not available yet"));
        check("GwNavWorld", None, Some("Agent for bots"));
        check("GwNavBot", Some("inject_path"), Some("Agent.follow_path(agent, points)"));
        check("GwNavWorld", Some("forbid_smartobject"), Some("Agent.set_link_cost"));
        check("GwNavAStar", Some("path_cost"), Some("NavigationMesh.path_cost"));
        check("PhysicsWorld", Some("raycst"), None);
        check("Joint", Some("value"), None);
        check("Enemies", None, None);
        check("---", None, None);
    }

    #[test]
    fn names_that_the_layer_adds_name_it_first() {
        let added = ": require \"stingray\" adds it";
        let check = |module: &str, function: Option<&str>, wanted: &str| {
            let found = missing(module, function).unwrap_or_default();
            assert!(found.starts_with(wanted), "{module}.{function:?}: {found}");
        };
        let wanted = format!("{added} (Stingray: Mesh.set_material");
        check("Unit", Some("set_scalar_for_material"), &wanted);
        check("WwiseWorld", None, &format!("{added} (Stingray: .sound files"));
        check("World", Some("create_shading_environment"), &format!("{added} (Stingray: the same"));
        check("Level", Some("trigger_level_shutdown"), added);
        check("Window", Some("set_mouse_focus"), " (Stingray: not available");
        assert_eq!(missing("Unit", Some("flow_evnt")), None);
    }

    #[test]
    fn functions_with_other_arguments_have_answers() {
        let check = |module: &str, function: &str, has_layer: bool, wanted: &str| {
            let found = other_arguments(module, function, has_layer).unwrap_or_default();
            assert!(found.contains(wanted), "{module}.{function}: {found}");
        };
        let layer = "require \"stingray\" takes its arguments; engine docs";
        check("Application", "create_viewport", false, " (Stingray: Application.create_viewport()");
        check("Application", "create_viewport", false, layer);
        check("Mouse", "axis", false, layer);
        check("Camera", "set_local_pose", false, layer);
        let loaded = other_arguments("Application", "create_viewport", true).unwrap();
        assert!(!loaded.contains("require"), "{loaded}");
        for (module, function) in [("Unit", "local_position"), ("Unit", "node"), ("Sound", "stop")]
        {
            assert_eq!(other_arguments(module, function, false), None);
        }
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
