//! Arguments of the API that name resources: the function, the argument, and the kinds that the
//! name can be of. The lint checks literals in these positions. A test compares the table with the
//! documentation of the functions.

use super::docgen::model::{ApiModel, FunctionDoc};
use engine_resource::resource_kind::kind_names::{
    FONT, LEVEL, MATERIAL, PACKAGE, PARTICLES, SHADING_ENVIRONMENT, SHEET, SOUND, STATE_MACHINE,
    TEXTURE, UNIT,
};
use std::collections::HashMap;

/// One argument that names a resource. `Gui.*` stands for all functions of the module.
struct ResourceArgument {
    function: &'static str,
    argument: &'static str,
    kinds: &'static [&'static str],
}

const fn named(
    function: &'static str,
    argument: &'static str,
    kinds: &'static [&'static str],
) -> ResourceArgument {
    ResourceArgument { function, argument, kinds }
}

/// Arguments that name an existing resource.
const NAMED: &[ResourceArgument] = &[
    named("World.spawn_unit", "resource", &[UNIT]),
    named("World.spawn_units", "resource", &[UNIT]),
    named("World.units_by_resource", "resource", &[UNIT]),
    named("Unit.set_animation_state_machine", "state_machine", &[STATE_MACHINE]),
    named("World.spawn_level", "resource", &[LEVEL]),
    named("World.create_particles", "name", &[PARTICLES]),
    named("World.find_particles_variable", "name", &[PARTICLES]),
    named("Gui.create_particles", "name", &[PARTICLES]),
    named("Sound.trigger", "sound", &[SOUND]),
    named("Sound.preload", "sound", &[SOUND]),
    named("Gui.*", "material", &[MATERIAL, TEXTURE]),
    named("Gui.material", "name", &[MATERIAL, TEXTURE]),
    named("Gui.*", "font", &[FONT]),
    named("Material.new", "name", &[MATERIAL, TEXTURE]),
    named("Image.load", "name", &[TEXTURE]),
    named("Texture.load", "name", &[TEXTURE]),
    named("Texture.size", "name", &[TEXTURE]),
    named("Texture.unload", "name", &[TEXTURE]),
    named("Decal.set_texture", "name", &[TEXTURE]),
    named("Light.set_texture", "name", &[TEXTURE]),
    named("Material.set_texture", "texture", &[TEXTURE]),
    named("ShadingEnvironment.set_texture", "texture", &[TEXTURE]),
    named("World.create_shading_environment", "name", &[SHADING_ENVIRONMENT]),
    named("World.set_shading_environment", "name", &[SHADING_ENVIRONMENT]),
    named("Window.set_cursor_picture", "texture", &[TEXTURE]),
    named("Window.set_icon", "texture", &[TEXTURE]),
    named("Sprite.new", "sheet", &[SHEET]),
    named("Sprite.seconds", "sheet", &[SHEET]),
    named("Sprite.set_sheet", "sheet", &[SHEET]),
    named("Sprite.set_texture", "texture", &[TEXTURE]),
    named("Sprite.set_normal_texture", "name", &[TEXTURE]),
    named("Sprite.tags", "sheet", &[SHEET]),
    named("Sprite.frames", "sheet", &[SHEET]),
    named("UnitResource.*", "resource", &[UNIT]),
    named("LevelResource.*", "resource", &[LEVEL]),
    named("LevelResource.unit_indices", "unit", &[UNIT]),
    named("Application.resource_package", "name", &[PACKAGE]),
];

/// Arguments that name a resource which the function creates.
const CREATED: &[ResourceArgument] = &[
    named("World.create_texture_gui", "texture", &[TEXTURE]),
    named("Application.create_viewport", "texture", &[TEXTURE]),
    named("Renderer.create_resource", "name", &[TEXTURE]),
    named("Image.to_texture", "name", &[TEXTURE]),
    named("SoundBuffer.to_sound", "name", &[SOUND]),
];

/// The position of an argument, from 0, and the kinds that its name can be of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArgumentKinds {
    pub index: usize,
    pub kinds: &'static [&'static str],
}

/// The arguments that name resources, by the path of their function: `World.spawn_unit`.
pub struct ResourceArguments {
    pub named: HashMap<String, Vec<ArgumentKinds>>,
    pub created: HashMap<String, Vec<ArgumentKinds>>,
}

impl ResourceArguments {
    pub fn new(api: &ApiModel) -> ResourceArguments {
        let mut found = ResourceArguments { named: HashMap::new(), created: HashMap::new() };
        for function in api.functions() {
            for (table, into) in [(NAMED, &mut found.named), (CREATED, &mut found.created)] {
                let rows = table.iter().filter(|row| row.is_of(function));
                let arguments: Vec<ArgumentKinds> =
                    rows.filter_map(|row| row.position(function)).collect();
                if !arguments.is_empty() {
                    into.insert(function.path(), arguments);
                }
            }
        }
        found
    }
}

/// Returns the arguments of the API that name existing resources, by function.
pub fn kinds_by_function() -> HashMap<String, Vec<ArgumentKinds>> {
    ResourceArguments::new(&ApiModel::new()).named
}

impl ResourceArgument {
    fn is_of(&self, function: &FunctionDoc) -> bool {
        match self.function.strip_suffix(".*") {
            Some(module) => function.module == module,
            None => self.function == function.path(),
        }
    }

    fn position(&self, function: &FunctionDoc) -> Option<ArgumentKinds> {
        let named = function.params.iter().position(|param| param.name == self.argument);
        named.map(|index| ArgumentKinds { index, kinds: self.kinds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beginnings of the descriptions of arguments that name a resource.
    const DESCRIPTIONS: [&str; 10] = [
        "the name of a unit",
        "the name of a level,",
        "the name of a `.particles`",
        "the name of a sound",
        "the name of a material, or",
        "the name of a texture",
        "the name of a font",
        "the name of a state machine",
        "the sheet's name",
        "the package's name",
    ];

    /// Functions that only ask for such names.
    const QUERIES: [&str; 3] = ["Texture.exists", "Unit.is_a", "Unit.set_material"];

    #[test]
    fn every_row_names_an_argument_of_the_api() {
        let api = ApiModel::new();
        // The modules of rows that create may come later than the rows.
        let has_module = |row: &&ResourceArgument| {
            let module = row.function.split('.').next();
            api.modules.iter().any(|known| Some(known.name.as_str()) == module)
        };
        for row in NAMED.iter().chain(CREATED.iter().filter(has_module)) {
            let fits = |function: &&FunctionDoc| row.is_of(function);
            let found =
                api.functions().filter(fits).any(|function| row.position(function).is_some());
            assert!(found, "{} has no argument {}", row.function, row.argument);
        }
    }

    #[test]
    fn every_argument_that_names_a_resource_is_listed() {
        let api = ApiModel::new();
        let arguments = ResourceArguments::new(&api);
        for function in api.functions() {
            let path = function.path();
            for (index, param) in function.params.iter().enumerate() {
                let is_new = ["name of a new", "be unique", "a name that no "]
                    .iter()
                    .any(|text| param.doc.contains(text));
                let describes = |text: &&str| param.doc.starts_with(*text);
                let table = match is_new {
                    true => &arguments.created,
                    false if DESCRIPTIONS.iter().any(describes) => &arguments.named,
                    false => continue,
                };
                let listed = table.get(&path).into_iter().flatten().any(|it| it.index == index);
                let is_query = QUERIES.contains(&path.as_str());
                assert!(listed || is_query, "{path}: {} names a resource: add a row", param.name);
            }
        }
    }
}
