//! The resource kind `physics_properties`: physics materials and collision filters, referenced by
//! units by name. A game has one such resource, `global.physics_properties`. Without it, the only
//! filter is `default`, with which all bodies collide with each other.

use super::field_reader::{FieldError, FieldReader, named};
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Error, suggest};
use engine_physics::{COLLISION_TYPES_MAX, ColliderDesc, CollisionFilter};
use engine_resource::data_resources::{read_document, read_tree, write_tree};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;

/// The resource kind of physics materials and collision filters.
pub static PHYSICS_PROPERTIES: ResourceKind = ResourceKind {
    name: kind_names::PHYSICS_PROPERTIES,
    doc: "Materials and collision filters of a game's physics",
    extensions: &[("physics_properties", SourceForm::Own)],
    version: 1,
    framed: false,
    reload: &[ReloadStep::PhysicsProperties],
    compile: compiler(compile),
    validate: |bytes| {
        let tree = read_document(bytes)?.to_tree();
        PhysicsProperties::read(&tree).map(drop).map_err(|error| Error::new(error.message))
    },
};

/// Name of the game's one resource of this kind.
pub const NAME: &str = "global";
/// Filter of objects that name none.
pub const DEFAULT: &str = "default";
/// Maximum number of filters, and maximum number of materials.
pub const FILTERS_MAX: usize = 1024;

/// Surface properties of a body.
#[derive(Clone, PartialEq, Debug)]
pub struct PhysicsMaterial {
    pub name: String,
    pub friction: f32,
    pub restitution: f32,
    pub density: f32,
}

/// Materials and filters, in the order of the file.
#[derive(Clone, PartialEq, Debug)]
pub struct PhysicsProperties {
    pub materials: Vec<PhysicsMaterial>,
    pub filters: Vec<(String, CollisionFilter)>,
    pub types: Vec<String>,
}

impl Default for PhysicsProperties {
    fn default() -> PhysicsProperties {
        PhysicsProperties {
            materials: Vec::new(),
            filters: vec![(DEFAULT.to_string(), CollisionFilter::ALL)],
            types: vec![DEFAULT.to_string()],
        }
    }
}

const FILTER_FIELDS: [&str; 3] = ["collides_with", "collides_with_all_except", "is"];

impl PhysicsProperties {
    /// Returns the properties of the game.
    ///
    /// # Errors
    /// Returns an error if the file is broken.
    pub fn of_game(store: &mut ResourceStore) -> Result<PhysicsProperties, Error> {
        let name = ResourceName::new(PHYSICS_PROPERTIES.name, NAME);
        store.record_request(&name);
        if !store.has(&name) {
            return Ok(PhysicsProperties::default());
        }
        let bytes = store.read(&name)?;
        contain(&name, || Ok(PhysicsProperties::read(&read_tree(&bytes)?)?))
    }

    /// Reads the properties from their tree.
    ///
    /// # Errors
    /// Returns an error if a field is unknown or invalid.
    pub fn read(tree: &SjsonTree) -> Result<PhysicsProperties, FieldError> {
        let known = ["collision_filters", "collision_types", "materials"];
        let fields = FieldReader::of(tree, "the file", &known)?;
        let mut properties =
            PhysicsProperties { materials: Vec::new(), ..PhysicsProperties::default() };
        if let Some(tree) = fields.get("materials") {
            let entries = named(tree, "materials", "ice = { friction = 0.02 }");
            for (name, tree) in entries.map_err(|error| error.in_block("materials"))? {
                let read = PhysicsMaterial::read(name, tree);
                let read = read.map_err(|error| error.in_block(name).in_block("materials"))?;
                properties.materials.push(read);
            }
        }
        let must = "a list of names";
        for kind in fields.texts("collision_types", must)?.unwrap_or_default() {
            if !properties.types.iter().any(|known| known == kind) {
                properties.types.push(kind.to_string());
            }
        }
        if properties.types.len() > COLLISION_TYPES_MAX {
            let message = format!("at most {COLLISION_TYPES_MAX} names, including 'default'");
            return Err(fields.invalid("collision_types", &message));
        }
        if let Some(tree) = fields.get("collision_filters") {
            let example = "player = { is = [\"player\"], collides_with = [\"level\"] }";
            let entries = named(tree, "collision_filters", example);
            let entries = entries.map_err(|error| error.in_block("collision_filters"))?;
            if entries.len() > FILTERS_MAX {
                let message = format!("at most {FILTERS_MAX} filters (FILTERS_MAX)");
                return Err(fields.invalid("collision_filters", &message));
            }
            for (name, tree) in entries {
                let filter = properties.read_filter(name, tree);
                let filter = filter.map_err(|f| f.in_block(name).in_block("collision_filters"))?;
                match properties.filters.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => *known = filter,
                    None => properties.filters.push((name.clone(), filter)),
                }
            }
        }
        Ok(properties)
    }

    fn read_filter(&self, name: &str, tree: &SjsonTree) -> Result<CollisionFilter, FieldError> {
        let subject = format!("collision filter '{name}'");
        let fields = FieldReader::of(tree, &subject, &FILTER_FIELDS)?;
        let set = |key| -> Result<Option<u32>, FieldError> {
            let Some(names) = fields.texts(key, "a list of collision types")? else {
                return Ok(None);
            };
            let mut bits = 0;
            for kind in names {
                let at = self.types.iter().position(|known| known == kind).ok_or_else(|| {
                    let hint = suggest::hint(kind, self.types.iter().map(String::as_str));
                    let message = format!(
                        "'{key}' of {subject} names the collision type '{kind}', which is not in \
                         'collision_types'{hint}"
                    );
                    FieldError::new(message).in_block(key)
                })?;
                bits |= 1 << at;
            }
            Ok(Some(bits))
        };
        let all = CollisionFilter::ALL.collides;
        let collides = match (set("collides_with")?, set("collides_with_all_except")?) {
            (Some(_), Some(_)) => {
                return Err(FieldError::new(format!(
                    "{subject} has both 'collides_with' and 'collides_with_all_except': give one"
                )));
            }
            (Some(with), None) => with,
            (None, Some(except)) => all & !except,
            (None, None) => all,
        };
        Ok(CollisionFilter { is: set("is")?.unwrap_or(1), collides })
    }

    /// Returns the index of a filter.
    ///
    /// # Errors
    /// Returns an error if no filter has that name.
    pub fn filter(&self, name: &str) -> Result<usize, Error> {
        self.filters.iter().position(|(known, _)| known == name).ok_or_else(|| {
            let hint = suggest::hint(name, self.filters.iter().map(|(known, _)| known.as_str()));
            engine_foundation::error!(
                "there is no collision filter '{name}'{hint}: {NAME}.physics_properties lists them \
                 under 'collision_filters'"
            )
        })
    }

    /// Returns a material.
    ///
    /// # Errors
    /// Returns an error if no material has that name.
    pub fn material(&self, name: &str) -> Result<&PhysicsMaterial, Error> {
        self.materials.iter().find(|known| known.name == name).ok_or_else(|| {
            let hint = suggest::hint(name, self.materials.iter().map(|known| known.name.as_str()));
            engine_foundation::error!(
                "there is no physics material '{name}'{hint}: {NAME}.physics_properties lists them \
                 under 'materials'"
            )
        })
    }
}

impl PhysicsMaterial {
    fn read(name: &str, tree: &SjsonTree) -> Result<PhysicsMaterial, FieldError> {
        let subject = format!("material '{name}'");
        let fields = FieldReader::of(tree, &subject, &["density", "friction", "restitution"])?;
        let number = |key, most, must| fields.number(key, 0.0, most, must);
        Ok(PhysicsMaterial {
            name: name.to_string(),
            friction: number("friction", 1e3, "a number from 0 on")?
                .unwrap_or(ColliderDesc::DEFAULT.friction),
            restitution: number("restitution", 1.0, "a number from 0 to 1")?
                .unwrap_or(ColliderDesc::DEFAULT.restitution),
            density: fields.positive("density")?.unwrap_or(ColliderDesc::DEFAULT.density),
        })
    }
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let tree = document.to_tree();
    if let Err(error) = PhysicsProperties::read(&tree) {
        let line = error.locate(document.root()).line();
        return Err(engine_foundation::error!("{}:{line}: {}", compiling.path, error.message));
    }
    Ok(write_tree(&tree))
}
