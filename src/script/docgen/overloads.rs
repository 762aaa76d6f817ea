//! Further signatures of functions, for the definitions of editors: forms whose arguments are in
//! another order, and results that depend on an argument. A row or a comment has one signature.

/// Functions with their further signatures, in the notation of LuaCATS.
pub const OVERLOADS: &[(&str, &[&str])] = &[
    (
        "Application.data",
        &[
            "fun(type: \"config\"|\"strings\", name: string): table",
            "fun(type: \"text\"|\"binary\", name: string): string",
        ],
    ),
    (
        "Gui.text",
        &["fun(gui: Gui, text: string, position: Vector3|Vector2, options?: table): GuiObject|nil"],
    ),
    (
        "Gui.text_extents",
        &["fun(gui: Gui, text: string, options: table): Vector3, Vector3, Vector3"],
    ),
    (
        "Gui.update_text",
        &["fun(gui: Gui, object: GuiObject, text: string, position: Vector3|Vector2, \
             options?: table)"],
    ),
    ("Math.random", &["fun(max: integer): integer", "fun(min: integer, max: integer): integer"]),
    ("PhysicsWorld.immediate_raycast", RAYCAST),
    ("PhysicsWorld.raycast", RAYCAST),
];

/// Rays by their modes, and options without a length or a mode. Without a hit, the other results of
/// "closest" are nil; editors cannot tell that from the first result.
const RAYCAST: &[&str] = &[
    "fun(physics_world: PhysicsWorld, from: Vector3, direction: Vector3, length: number, \
     mode: \"closest\", ...: any): boolean, Vector3, number, Vector3, Actor",
    "fun(physics_world: PhysicsWorld, from: Vector3, direction: Vector3, length: number, \
     mode: \"all\", ...: any): table|nil, integer|nil",
    "fun(physics_world: PhysicsWorld, from: Vector3, direction: Vector3, mode: \"all\", \
     ...: any): table|nil, integer|nil",
    "fun(physics_world: PhysicsWorld, from: Vector3, direction: Vector3, option: string, \
     value: any, ...: any): boolean, Vector3, number, Vector3, Actor",
];

/// Returns the further signatures of a function.
pub fn of(path: &str) -> &'static [&'static str] {
    OVERLOADS.iter().find(|(name, _)| *name == path).map_or(&[], |(_, forms)| forms)
}

#[cfg(test)]
mod tests {
    use super::{OVERLOADS, of};
    use crate::docgen::ApiModel;

    #[test]
    fn overloads_are_of_existing_functions() {
        let api = ApiModel::new();
        for (name, forms) in OVERLOADS {
            let function = api.functions().find(|function| function.path() == *name);
            let params = &function.unwrap_or_else(|| panic!("{name}")).params;
            for form in *forms {
                let is_first = |name: &str| form.starts_with(&format!("fun({name}: "));
                assert!(params.iter().any(|param| is_first(&param.name)), "{name}: {form}");
            }
        }
        assert_eq!(of("World.update"), [""; 0]);
    }
}
