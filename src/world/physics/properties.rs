//! The kind `physics_properties`: materials and collision filters, by the names that units use. A
//! game has one, `global.physics_properties`; without it there is the filter `default`, with which
//! everything collides with everything.

use super::fields::{Fault, Fields, named};
use crate::foundation::sjson::{self, Tree};
use crate::foundation::{Error, suggest};
use crate::resource::containment::contain;
use crate::resource::data_kinds::{read_document, read_tree, write_tree};
use crate::resource::kind::{Compiling, Form, Kind};
use crate::resource::name::ResourceName;
use crate::resource::store::Store;
use crate::system::physics::{COLLISION_TYPES_MAX, Filter, Part};

/// Materials and collision filters.
pub static PHYSICS_PROPERTIES: Kind = Kind {
    name: "physics_properties",
    words: "Materials and collision filters of a game's physics",
    extensions: &[("physics_properties", Form::Own)],
    version: 1,
    compile,
    validate: |bytes| {
        let tree = read_document(bytes)?.to_tree();
        Properties::read(&tree).map(drop).map_err(|fault| Error::new(fault.words))
    },
};

/// The name of the one that a game has.
pub const NAME: &str = "global";
/// The filter of what names none.
pub const DEFAULT: &str = "default";
/// The most filters, and the most materials.
pub const FILTERS_MAX: usize = 1024;

/// What a body's surface is like.
#[derive(Clone, PartialEq, Debug)]
pub struct Material {
    pub name: String,
    pub friction: f32,
    pub restitution: f32,
    pub density: f32,
}

/// Materials and filters, in the order of the file.
#[derive(Clone, PartialEq, Debug)]
pub struct Properties {
    pub materials: Vec<Material>,
    pub filters: Vec<(String, Filter)>,
    pub types: Vec<String>,
}

impl Default for Properties {
    fn default() -> Properties {
        Properties {
            materials: Vec::new(),
            filters: vec![(DEFAULT.to_string(), Filter::ALL)],
            types: vec![DEFAULT.to_string()],
        }
    }
}

const FILTER_FIELDS: [&str; 3] = ["collides_with", "collides_with_all_except", "is"];

impl Properties {
    /// Those of the game.
    ///
    /// # Errors
    /// Its file is broken.
    pub fn of_game(store: &mut Store) -> Result<Properties, Error> {
        let name = ResourceName::new(PHYSICS_PROPERTIES.name, NAME);
        if !store.has(&name) {
            return Ok(Properties::default());
        }
        let bytes = store.read(&name)?;
        contain(&name, || Ok(Properties::read(&read_tree(&bytes)?)?))
    }

    /// # Errors
    /// A field that is unknown or wrong.
    pub fn read(tree: &Tree) -> Result<Properties, Fault> {
        let known = ["collision_filters", "collision_types", "materials"];
        let fields = Fields::of(tree, "the file", &known)?;
        let mut properties = Properties { materials: Vec::new(), ..Properties::default() };
        if let Some(tree) = fields.get("materials") {
            let entries = named(tree, "materials", "ice = { friction = 0.02 }");
            for (name, tree) in entries.map_err(|fault| fault.under("materials"))? {
                let read = Material::read(name, tree);
                let read = read.map_err(|fault| fault.under(name).under("materials"))?;
                properties.materials.push(read);
            }
        }
        let must = "a list of names";
        for kind in fields.words("collision_types", must)?.unwrap_or_default() {
            if !properties.types.iter().any(|known| known == kind) {
                properties.types.push(kind.to_string());
            }
        }
        if properties.types.len() > COLLISION_TYPES_MAX {
            let words = format!("at most {COLLISION_TYPES_MAX} names, 'default' among them");
            return Err(fields.must("collision_types", &words));
        }
        if let Some(tree) = fields.get("collision_filters") {
            let example = "player = { is = [\"player\"], collides_with = [\"level\"] }";
            let entries = named(tree, "collision_filters", example);
            let entries = entries.map_err(|fault| fault.under("collision_filters"))?;
            if entries.len() > FILTERS_MAX {
                let words = format!("at most {FILTERS_MAX} filters (FILTERS_MAX)");
                return Err(fields.must("collision_filters", &words));
            }
            for (name, tree) in entries {
                let filter = properties.read_filter(name, tree);
                let filter = filter.map_err(|f| f.under(name).under("collision_filters"))?;
                match properties.filters.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => *known = filter,
                    None => properties.filters.push((name.clone(), filter)),
                }
            }
        }
        Ok(properties)
    }

    fn read_filter(&self, name: &str, tree: &Tree) -> Result<Filter, Fault> {
        let what = format!("collision filter '{name}'");
        let fields = Fields::of(tree, &what, &FILTER_FIELDS)?;
        let set = |key| -> Result<Option<u32>, Fault> {
            let Some(names) = fields.words(key, "a list of collision types")? else {
                return Ok(None);
            };
            let mut bits = 0;
            for kind in names {
                let at = self.types.iter().position(|known| known == kind).ok_or_else(|| {
                    let hint = suggest::hint(kind, self.types.iter().map(String::as_str));
                    let words = format!(
                        "'{key}' of {what} names the collision type '{kind}', which is not in \
                         'collision_types'{hint}"
                    );
                    Fault::new(words).under(key)
                })?;
                bits |= 1 << at;
            }
            Ok(Some(bits))
        };
        let all = Filter::ALL.collides;
        let collides = match (set("collides_with")?, set("collides_with_all_except")?) {
            (Some(_), Some(_)) => {
                return Err(Fault::new(format!(
                    "{what} has both 'collides_with' and 'collides_with_all_except': say one"
                )));
            }
            (Some(with), None) => with,
            (None, Some(except)) => all & !except,
            (None, None) => all,
        };
        Ok(Filter { is: set("is")?.unwrap_or(1), collides })
    }

    /// The place of a filter.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn filter(&self, name: &str) -> Result<usize, Error> {
        self.filters.iter().position(|(known, _)| known == name).ok_or_else(|| {
            let hint = suggest::hint(name, self.filters.iter().map(|(known, _)| known.as_str()));
            crate::error!(
                "there is no collision filter '{name}'{hint}: {NAME}.physics_properties lists them \
                 under 'collision_filters'"
            )
        })
    }

    /// # Errors
    /// There is none of that name.
    pub fn material(&self, name: &str) -> Result<&Material, Error> {
        self.materials.iter().find(|known| known.name == name).ok_or_else(|| {
            let hint = suggest::hint(name, self.materials.iter().map(|known| known.name.as_str()));
            crate::error!(
                "there is no physics material '{name}'{hint}: {NAME}.physics_properties lists them \
                 under 'materials'"
            )
        })
    }
}

impl Material {
    fn read(name: &str, tree: &Tree) -> Result<Material, Fault> {
        let what = format!("material '{name}'");
        let fields = Fields::of(tree, &what, &["density", "friction", "restitution"])?;
        let number = |key, most, must| fields.number(key, 0.0, most, must);
        Ok(Material {
            name: name.to_string(),
            friction: number("friction", 1e3, "a number from 0 on")?
                .unwrap_or(Part::DEFAULT.friction),
            restitution: number("restitution", 1.0, "a number from 0 to 1")?
                .unwrap_or(Part::DEFAULT.restitution),
            density: fields.positive("density")?.unwrap_or(Part::DEFAULT.density),
        })
    }
}

fn compile(compiling: &mut Compiling) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|fault| Error::new(fault.in_file(&compiling.path)))?;
    let tree = document.to_tree();
    if let Err(fault) = Properties::read(&tree) {
        let line = fault.locate(document.root()).line();
        return Err(crate::error!("{}:{line}: {}", compiling.path, fault.words));
    }
    Ok(write_tree(&tree))
}
