//! Descriptions of ragdolls in unit files, and ragdolls that were generated for a model.

use super::AnimatedModel;
use super::ragdoll_actors::add_actors;
use crate::physics::{FieldError, FieldReader, PhysicsTemplate, named};
use engine_animation::BONES_MAX;
use engine_animation::ragdoll::{BoneShape, JointLimits, Ragdoll, RagdollSettings};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Vec3, error};
use std::sync::Arc;

/// Ragdoll of a unit, as its file describes it.
#[derive(Clone, PartialEq, Debug)]
pub struct RagdollDescription {
    pub generated: RagdollSettings,
    /// True if the bodies are the actors of the unit at nodes of bones.
    pub actors: bool,
    /// The physics with these actors.
    pub physics: Option<Arc<PhysicsTemplate>>,
    /// Name of the collision filter. `None` is that of the unit's first actor or mover.
    pub filter: Option<String>,
    /// Strength of the motors that pull the bodies towards the animation: 0 to 1.
    pub strength: f32,
    /// Direction in which the character looks, in the space of the model.
    pub forward: Vec3,
    pub friction: f32,
    pub linear_damping: f32,
    pub angular_damping: f32,
}

const FIELDS: [&str; 13] = [
    "actors",
    "angular_damping",
    "bones",
    "filter",
    "forward",
    "friction",
    "length_part_min",
    "limits",
    "linear_damping",
    "mass",
    "radius_ratio",
    "shapes",
    "strength",
];

impl RagdollDescription {
    /// A passive ragdoll of an adult. Models from glTF files look along -y.
    pub const DEFAULT: RagdollDescription = RagdollDescription {
        generated: RagdollSettings::DEFAULT,
        actors: false,
        physics: None,
        filter: None,
        strength: 0.0,
        forward: Vec3::NEG_Y,
        friction: 0.7,
        linear_damping: 0.05,
        angular_damping: 0.4,
    };

    /// Reads the field `ragdoll` of the component `animation`. `false` is no description.
    ///
    /// # Errors
    /// Returns an error if a field is unknown or invalid.
    pub fn read(tree: &SjsonTree) -> Result<Option<RagdollDescription>, FieldError> {
        match tree {
            SjsonTree::Bool(is_on) => return Ok(is_on.then_some(RagdollDescription::DEFAULT)),
            SjsonTree::Object(_) => {}
            _ => {
                let message = "'ragdoll' must be true, or a block: ragdoll = { mass = 75 }";
                return Err(FieldError::new(message.to_string()));
            }
        }
        let fields = FieldReader::of(tree, "the ragdoll", &FIELDS)?;
        let mut read = RagdollDescription::DEFAULT;
        let settings = &mut read.generated;
        let part = |key, most| fields.number(key, 0.0, most, &format!("a number, 0 to {most}"));
        if let Some(mass) = fields.number("mass", 0.001, 1e6, "kilograms, 0.001 to 1000000")? {
            settings.mass = mass;
        }
        if let Some(ratio) = fields.number("radius_ratio", 0.01, 0.5, "a number, 0.01 to 0.5")? {
            settings.radius_ratio = ratio;
        }
        settings.length_part_min =
            part("length_part_min", 1.0)?.unwrap_or(settings.length_part_min);
        let bones = fields.texts("bones", "a list of names of bones")?.unwrap_or_default();
        settings.bones = bones.into_iter().map(str::to_string).collect();
        if let Some(tree) = fields.get("limits") {
            settings.limits = read_limits(tree).map_err(|error| error.in_block("limits"))?;
        }
        if let Some(tree) = fields.get("shapes") {
            settings.shapes = read_shapes(tree).map_err(|error| error.in_block("shapes"))?;
        }
        read.actors = fields.boolean("actors")?.unwrap_or(false);
        let generated = ["bones", "length_part_min", "radius_ratio", "shapes"];
        if let Some(key) = generated.into_iter().find(|key| read.actors && fields.has(key)) {
            return Err(FieldError::new(format!(
                "'{key}' of the ragdoll is for bodies that are generated, and with 'actors' the \
                 bodies are those of the component 'physics': remove one of them"
            )));
        }
        read.filter = fields.text("filter", "the name of a collision filter")?.map(str::to_string);
        read.strength = part("strength", 1.0)?.unwrap_or(read.strength);
        read.friction = part("friction", 1e3)?.unwrap_or(read.friction);
        read.linear_damping = part("linear_damping", 1e3)?.unwrap_or(read.linear_damping);
        read.angular_damping = part("angular_damping", 1e3)?.unwrap_or(read.angular_damping);
        let must = "a direction, [x, y, z], and not 0";
        if let Some(forward) = fields.vector("forward", must)? {
            read.forward =
                forward.try_normalize().ok_or_else(|| fields.invalid("forward", must))?;
        }
        Ok(Some(read))
    }
}

/// Checks the field `ragdoll` for the compiler of units.
pub(super) fn check(tree: &SjsonTree, _: bool) -> Result<(), FieldError> {
    RagdollDescription::read(tree).map(drop).map_err(|error| error.in_block("ragdoll"))
}

/// Reads a block with an entry for each of several bones.
fn read_bones<T>(
    tree: &SjsonTree,
    (key, example): (&str, &str),
    read: impl Fn(&str, &SjsonTree) -> Result<T, FieldError>,
) -> Result<Vec<(String, T)>, FieldError> {
    let entries = named(tree, key, example)?;
    if entries.len() > BONES_MAX {
        let message = format!("'{key}' has at most {BONES_MAX} bones (BONES_MAX)");
        return Err(FieldError::new(message));
    }
    let mut all = Vec::with_capacity(entries.len());
    for (bone, tree) in entries {
        all.push((bone.clone(), read(bone, tree).map_err(|error| error.in_block(bone))?));
    }
    Ok(all)
}

fn read_shapes(tree: &SjsonTree) -> Result<Vec<(String, BoneShape)>, FieldError> {
    read_bones(tree, ("shapes", "Head = { radius = 0.12 length = 0.3 }"), |bone, tree| {
        let subject = format!("the shape of '{bone}'");
        let fields = FieldReader::of(tree, &subject, &["length", "radius"])?;
        let metres = |key| fields.number(key, 0.005, 1000.0, "metres, 0.005 to 1000");
        let must = "metres, 0.005 to 1000";
        let radius = metres("radius")?.ok_or_else(|| fields.invalid("radius", must))?;
        Ok(BoneShape { radius, length: metres("length")? })
    })
}

fn read_limits(tree: &SjsonTree) -> Result<Vec<(String, JointLimits)>, FieldError> {
    let example = "Knee = { axis = [1, 0, 0] angles = [0, 130] }";
    read_bones(tree, ("limits", example), |bone, tree| {
        read_limit(&format!("the joint '{bone}'"), tree)
    })
}

fn read_limit(subject: &str, tree: &SjsonTree) -> Result<JointLimits, FieldError> {
    let fields = FieldReader::of(tree, subject, &["angles", "axis", "swing", "twist"])?;
    let must = "degrees, 0 to 180";
    let degrees = |key| Ok(fields.number(key, 0.0, 180.0, must)?.map(f32::to_radians));
    let (swing, twist) = (degrees("swing")?, degrees("twist")?);
    let axis = fields.vector("axis", "a direction, [x, y, z]")?;
    let Some(axis) = axis else {
        if fields.has("angles") {
            return Err(FieldError::new(format!(
                "{subject} has 'angles' without an 'axis': a hinge has both, and other joints \
                 have 'swing' and 'twist'"
            )));
        }
        let JointLimits::Ball { swing: usual, twist: usual_twist } = JointLimits::DEFAULT else {
            unreachable!("the default is a ball joint");
        };
        let (swing, twist) = (swing.unwrap_or(usual), twist.unwrap_or(usual_twist));
        return Ok(JointLimits::Ball { swing, twist });
    };
    if swing.is_some() || twist.is_some() {
        return Err(FieldError::new(format!(
            "{subject} has an 'axis', so it is a hinge: give it 'angles' in place of 'swing' and \
             'twist'"
        )));
    }
    let must = "two numbers, the lesser first: degrees, -180 to 180";
    let angles = fields.numbers::<2>("angles", must)?.unwrap_or([-180.0, 180.0]);
    let is_valid = -180.0 <= angles[0] && angles[0] <= angles[1] && angles[1] <= 180.0;
    if !is_valid || axis.try_normalize().is_none() {
        let key = if is_valid { "axis" } else { "angles" };
        return Err(fields.invalid(key, if is_valid { "a direction, and not 0" } else { must }));
    }
    Ok(JointLimits::Hinge { axis, angles: angles.map(f32::to_radians) })
}

/// Body of a bone that none moves.
const NO_BODY: u8 = u8::MAX;

/// The ragdoll of a model, generated from a description.
#[derive(Debug)]
pub struct ModelRagdoll {
    pub model: Arc<AnimatedModel>,
    pub description: Arc<RagdollDescription>,
    pub ragdoll: Ragdoll,
    /// Name of the bone of each body.
    pub names: Vec<Arc<str>>,
    /// Body that moves each bone, or [`NO_BODY`].
    bodies: Vec<u8>,
}

impl ModelRagdoll {
    fn new(
        model: &Arc<AnimatedModel>,
        description: &Arc<RagdollDescription>,
    ) -> Result<ModelRagdoll, Error> {
        let skeleton = &model.skeleton;
        let mut settings = description.generated.clone();
        let added = match &description.physics {
            Some(physics) => add_actors(&mut settings, skeleton, physics),
            None => Ok(()),
        };
        let ragdoll = added
            .and_then(|()| Ragdoll::generate(skeleton, &settings))
            .map_err(|error| with_model(&model.name, &error.message))?;
        let mut bodies: Vec<u8> = Vec::with_capacity(skeleton.bone_count());
        for (bone, parent) in skeleton.parents().iter().enumerate() {
            let own = ragdoll.bodies().iter().position(|body| usize::from(body.bone) == bone);
            let above = parent.map_or(NO_BODY, |parent| bodies[usize::from(parent)]);
            bodies.push(own.map_or(above, |body| body as u8));
        }
        let name = |bone: u16| Arc::from(skeleton.names()[usize::from(bone)].as_str());
        let names = ragdoll.bodies().iter().map(|body| name(body.bone)).collect();
        let (model, description) = (model.clone(), description.clone());
        Ok(ModelRagdoll { model, description, ragdoll, names, bodies })
    }

    /// Returns the body that moves a bone.
    pub fn body_of(&self, bone: usize) -> Option<usize> {
        self.bodies.get(bone).filter(|body| **body != NO_BODY).map(|body| usize::from(*body))
    }
}

/// Returns the error of a ragdoll that was generated for a model, with the name of the model.
fn with_model(model: &str, message: &str) -> Error {
    match message.contains("the skeleton") {
        true => error!("{}", message.replacen("the skeleton", &format!("the model '{model}'"), 1)),
        false => error!("model '{model}': {message}"),
    }
}

/// Result of the generation of a ragdoll.
struct KnownRagdoll {
    model: Arc<AnimatedModel>,
    description: Arc<RagdollDescription>,
    result: Result<Arc<ModelRagdoll>, Error>,
}

/// Ragdolls in use.
#[derive(Default)]
pub(super) struct ModelRagdolls {
    known: Vec<KnownRagdoll>,
    /// Descriptions with the actors of units, and those without them.
    with_actors: Vec<[Arc<RagdollDescription>; 2]>,
    default: Option<Arc<RagdollDescription>>,
}

impl ModelRagdolls {
    /// Returns the number of ragdolls that were generated, or that could not be.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Returns a description whose bodies are the actors of a unit. Units of the same resource have
    /// the same one.
    pub fn with_actors(
        &mut self,
        description: &Arc<RagdollDescription>,
        physics: &Arc<PhysicsTemplate>,
    ) -> Arc<RagdollDescription> {
        let is_same = |[with, without]: &&[Arc<RagdollDescription>; 2]| {
            let known = with.physics.as_ref();
            Arc::ptr_eq(without, description) && known.is_some_and(|it| Arc::ptr_eq(it, physics))
        };
        if let Some([with, _]) = self.with_actors.iter().find(is_same) {
            return with.clone();
        }
        // Those of reloaded units have no other owner.
        self.with_actors.retain(|[with, _]| Arc::strong_count(with) > 1);
        let physics = Some(physics.clone());
        let with =
            Arc::new(RagdollDescription { physics, ..RagdollDescription::clone(description) });
        self.with_actors.push([with.clone(), description.clone()]);
        with
    }

    /// Returns the ragdoll of a model. It is generated on the first request. Without a description,
    /// it is that of an adult.
    ///
    /// # Errors
    /// Returns an error if the description names unknown bones, or if the model has no size.
    pub fn of(
        &mut self,
        model: &Arc<AnimatedModel>,
        description: Option<&Arc<RagdollDescription>>,
    ) -> Result<Arc<ModelRagdoll>, Error> {
        let usual = &mut self.default;
        let description = match description {
            Some(description) => description.clone(),
            None => usual.get_or_insert_with(|| Arc::new(RagdollDescription::DEFAULT)).clone(),
        };
        let is_same = |it: &&KnownRagdoll| {
            Arc::ptr_eq(&it.model, model) && Arc::ptr_eq(&it.description, &description)
        };
        if let Some(known) = self.known.iter().find(is_same) {
            return known.result.clone();
        }
        // Models that were reloaded have no other owner.
        self.known.retain(|it| {
            let own = 1 + usize::from(it.result.is_ok());
            let is_shared = it.result.as_ref().is_ok_and(|it| Arc::strong_count(it) > 1);
            is_shared || Arc::strong_count(&it.model) > own
        });
        let result = ModelRagdoll::new(model, &description).map(Arc::new);
        let model = model.clone();
        self.known.push(KnownRagdoll { model, description, result: result.clone() });
        result
    }
}
