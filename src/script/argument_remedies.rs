//! Remedies after messages about arguments of a wrong type: how the expected value is written.

/// Returns the remedy for an argument that was expected to be of certain types (`Vector3 or nil`),
/// and is of a Lua type (`table`); empty if there is none.
pub fn remedy(expected: &str, argument: &str, got: &str) -> &'static str {
    let has = |name: &str| expected.split([' ', '|']).any(|word| word == name);
    match got {
        "function" if !expected.contains("fun") => " (should it be called: are its () missing?)",
        "string" if has("Color") => " (write Color.red(), or Color.from_hex(\"#ff8000\"))",
        "table" | "number" if has("Color") => " (write Color(r, g, b), with parts from 0 to 255)",
        "table" | "number" if has("Vector3") => " (write Vector3(x, y, z))",
        "table" | "number" if has("Vector2") => " (write Vector2(x, y))",
        "nil" if expected == "Agent" => {
            " (Unit.agent is nil as long as no ground of a navigation mesh is at the unit)"
        }
        "string" if has("World") => " (Application.main_world() is the main world)",
        "string" if has("Gui") => " (Application.main_gui() is the main Gui)",
        "string" if expected == "Material" || expected == "Material or nil" => {
            " (Material.new(name) creates one)"
        }
        "string" if argument == "node" && has("integer") => {
            " (Unit.node(unit, name) is the index of a node)"
        }
        _ if argument == "node" && has("integer") => " (node 1 is the root)",
        "string" if argument == "area" && has("integer") => {
            " (Level.navigation_area(level, name) is the number of an area)"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::remedy;

    #[test]
    fn remedies_depend_on_both_types() {
        assert!(remedy("Color or nil", "color", "table").contains("Color(r, g, b)"));
        assert!(remedy("Vector3 or Vector2", "position", "number").contains("Vector3(x, y, z)"));
        assert!(remedy("integer", "node", "string").contains("Unit.node"));
        assert!(remedy("integer|string", "node", "table").contains("node 1 is the root"));
        assert!(remedy("Agent", "agent", "nil").contains("no ground of a navigation mesh"));
        assert_eq!(remedy("Agent", "agent", "number"), "");
        assert!(remedy("integer", "area", "string").contains("Level.navigation_area"));
        assert!(remedy("number", "x", "function").contains("are its () missing"));
        assert_eq!(remedy("function", "call", "function"), "");
        assert_eq!(remedy("integer", "index", "string"), "");
        assert_eq!(remedy("PhysicsWorld", "physics_world", "string"), "");
    }
}
