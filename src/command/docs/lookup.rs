//! The output of `engine docs WORDS`: the documentation of a name, a page of the manual, or the
//! results of a search.

use super::manual::DOCUMENTS;
use super::search::IndexEntry;
use super::site::Site;
use engine_foundation::{Error, error};
use engine_resource::project::CORE_SCRIPTS;
use engine_script::docgen::ApiModel;
use engine_script::docgen::model::first_sentence;
use engine_script::docgen::text;
use engine_script::familiar_names;

/// Maximum length of a result's description, in characters.
const DESCRIPTION_LENGTH_MAX: usize = 160;

/// Returns the text for a name or a search.
///
/// # Errors
/// Returns an error with a suggestion, if there is one, for a name that nothing matches.
pub fn answer(api: &ApiModel, query: &str) -> Result<String, Error> {
    if let Some(node) = text::node_help(query) {
        let function = text::help(api, query).map(|help| format!("\n{help}")).unwrap_or_default();
        return Ok(format!("{node}{function}\nSee also: engine docs flow\n"));
    }
    let unknown = match text::help(api, query) {
        Ok(help) => return Ok(help + &see_also(query)),
        Err(unknown) => unknown,
    };
    if let Some(page) = manual_page(query) {
        return Ok(page.to_string());
    }
    if let Some(module) = core_module(query) {
        return Ok(module);
    }
    let site = Site::new(api);
    let index = site.search_index();
    let found = index.find(query);
    // A misspelled name is not searched for: its suggestion is more useful than similar words. A
    // part of a name says nothing about the rest.
    let is_name = !query.contains(char::is_whitespace);
    let is_part = is_name && !found.first().is_some_and(|entry| index.has_all_terms(entry, query));
    let is_literal =
        |entry: &&IndexEntry| [&entry.title, &entry.text].iter().any(|it| it.contains(query));
    if !unknown.has_suggestion && is_node_name(query) && !found.iter().any(is_literal) {
        return Err(error!("{}; {NODES_OF_GAMES}", unknown.error));
    }
    if is_part || found.is_empty() || (unknown.has_suggestion && !index.has_alias(query)) {
        return Err(unknown.error);
    }
    let rows: Vec<(String, String)> = found.iter().map(|entry| result_row(api, entry)).collect();
    let results = text::columns(&rows);
    Ok(format!(
        "Found for '{query}':\n{results}\nengine docs NAME shows more; with --open, in a browser\n"
    ))
}

/// Where a name can be that looks like the type of a node.
const NODES_OF_GAMES: &str = "types of nodes of a game are in its files nodes/*.lua";

/// Returns true if a name has the form of a type of nodes that a script defines: `doors.open`.
fn is_node_name(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    name.contains('.') && name.split('.').all(is_part)
}

/// Returns a reference to the page of the manual that a name means as an everyday word.
fn see_also(name: &str) -> String {
    let page = familiar_names::target(name).and_then(|target| target.strip_prefix("docs/"));
    let page = page.and_then(|page| page.split(['.', '#']).next());
    page.map(|page| format!("\nSee also: engine docs {page}\n")).unwrap_or_default()
}

/// Returns the comments and signatures of a module that games can require, such as
/// `core/camera_2d`.
fn core_module(name: &str) -> Option<String> {
    let name = name.strip_prefix("core/").or(name.strip_prefix("core.")).unwrap_or(name);
    let name = name.strip_suffix(".lua").unwrap_or(name);
    let (_, source) =
        CORE_SCRIPTS.iter().find(|(file, _)| file.strip_suffix(".lua") == Some(name))?;
    let head = source.lines().map_while(|line| line.strip_prefix("--"));
    let mut text = format!("core/{name}\n\n");
    for line in head {
        text += &format!("{}\n", line.trim_start_matches('-').trim());
    }
    let mut comment = String::new();
    for line in source.lines() {
        match (line.strip_prefix("---"), line.strip_prefix("function ")) {
            (Some(part), _) => comment += &format!("    {}\n", part.replace('@', "")),
            (None, Some(signature)) if !comment.is_empty() => {
                text += &format!("\n{signature}\n{comment}");
                comment.clear();
            }
            _ => comment.clear(),
        }
    }
    Some(text)
}

/// Returns a page of the manual by the name of its file, such as `physics`, in any case.
fn manual_page(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let name = name.strip_prefix("docs/").unwrap_or(&name);
    let name = name.strip_suffix(".md").unwrap_or(name).replace(' ', "_");
    let is_it = |path: &str| {
        path.strip_prefix("docs/").and_then(|file| file.strip_suffix(".md")) == Some(name.as_str())
    };
    let (_, bytes) = DOCUMENTS.iter().find(|(path, _)| is_it(path))?;
    std::str::from_utf8(bytes).ok()
}

/// Returns what to pass to `engine docs` for an entry, and its description.
fn result_row(api: &ApiModel, entry: &IndexEntry) -> (String, String) {
    let others = api.callbacks.iter().chain(&api.testing);
    if let Some(function) = api.functions().chain(others).find(|item| item.path() == entry.title) {
        return (entry.title.clone(), first_sentence(&function.doc));
    }
    let page = entry.address.split('#').next().unwrap_or_default();
    let page = page.strip_suffix(".html").unwrap_or(page);
    let name = page.strip_prefix("docs/").unwrap_or(page);
    let name = name.strip_prefix("reference/").unwrap_or(name);
    let text: String = first_sentence(&entry.text).chars().take(DESCRIPTION_LENGTH_MAX).collect();
    match entry.title == name {
        true => (name.to_string(), text),
        false => (name.to_string(), format!("{}: {text}", entry.title)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, wanted: &str) {
        let answer = answer(&ApiModel::new(), query).unwrap_or_else(|error| error.to_string());
        assert!(answer.contains(wanted), "{query}: {answer}");
    }

    #[test]
    fn names_pages_and_searches_are_answered() {
        check("gui.BITMAP", "Gui.bitmap(");
        // A module takes precedence over the functions of others with its name.
        check("tilemap", "Tilemap\n\n");
        check("sprite", "Sprite\n\n");
        check("spawn unt", "  World.spawn_unit ");
        check("vector3", "Vector3\n\n");
        check("physics", "# Physics\n");
        check("docs/hot_reload.md", "# Hot reload of Lua\n");
        check("first game", "# ");
        check("draw image", "Found for 'draw image':\n  Gui.bitmap ");
        check("Sound.play", "  Sound.trigger ");
        check("love.graphics.draw", "  Gui.bitmap ");
        check("gamepad", "  input ");
        check("core/camera_2d", "core/camera_2d\n\n`require \"core/camera_2d\"`: a camera");
        check("core/camera_2d", "\nCamera2D.new(world, options)\n    Creates a camera");
        check("strict", "core/strict\n\n");
        check("menu", "  menus ");
        check("pause", "See also: engine docs menus\n");
        check("--replay input file", "  testing ");
        check(
            "unit.set_mesh_visible",
            "    unit: unit (this unit)\n    mesh: text, name of a mesh",
        );
        check("unit.push", "kilogram metres per second");
        check("flow.branch", "Outputs:\n    true\n    false\n");
        // A node and a function.
        check("level.unit", "Level.unit(");
    }

    #[test]
    fn misspelled_names_get_a_suggestion() {
        check("Vector3.lenght", "did you mean 'Vector3.length'?");
        check("xyzzy", "there is no 'xyzzy' in the API: engine docs lists the modules");
        check("nosuchthing_xyz", "there is no 'nosuchthing_xyz' in the API");
        check("unit.psh", "did you mean 'unit.push'?");
        check("my.hi", "there is no 'my.hi' in the API");
        check("my.hi", "types of nodes of a game are in its files nodes/*.lua");
    }
}
