//! Parser of the text of a `.particles` file. Errors contain file and line, and the emitter if
//! there is one. docs/particles.md documents the format. Forces, colliders and appearance are in
//! compile_emitter.rs.

use super::data::*;
use super::limits::*;
use super::source_fields::SourceFields;
use engine_foundation::error;
use engine_foundation::sjson::SjsonValue;
use engine_foundation::{Error, suggest};

const EFFECT_KEYS: [&str; 4] = ["emitters", "variables", "warm_seconds", "culling"];
const EMITTER_KEYS: [&str; 47] = [
    "max",
    "rate",
    "bursts",
    "delay",
    "duration",
    "loop",
    "shape",
    "position",
    "direction",
    "spread",
    "speed",
    "inherit_velocity",
    "lifetime",
    "space",
    "gravity",
    "drag",
    "forces",
    "collision",
    "size",
    "size_random",
    "aspect",
    "color",
    "alpha",
    "tint",
    "over",
    "over_speed",
    "rotation",
    "spin",
    "texture",
    "material",
    "flipbook",
    "blend",
    "glow",
    "billboard",
    "stretch",
    "axis",
    "sort",
    "softness",
    "lit",
    "distortion",
    "layer",
    "trail",
    "ribbon",
    "bind",
    "on_birth",
    "on_death",
    "on_collision",
];
const SHAPE_KEYS: [&str; 7] = ["type", "radius", "inner", "extents", "to", "angle", "width"];
const BURST_KEYS: [&str; 4] = ["time", "count", "every", "times"];
const SUB_KEYS: [&str; 3] = ["emitter", "count", "inherit_velocity"];

/// Returns the default values of an emitter.
fn default_emitter() -> EmitterData {
    let zero: EmitterData = bytemuck::Zeroable::zeroed();
    EmitterData {
        max: 1000,
        inner: 0.0,
        lifetime: [1.0, 1.0],
        aspect: 1.0,
        tint: [[255; 4]; 2],
        flipbook: [1, 1, 1],
        bounce: 0.5,
        size_max: 1.0,
        over_speed: 1.0,
        glow: 1.0,
        trail_interval: 0.02,
        trail_width: [1.0, 0.0],
        sizes: [1.0; TABLE],
        colors: [[255; 4]; TABLE],
        ..zero
    }
}

/// Parses an effect.
pub fn parse(path: &str, root: SjsonValue) -> Result<EffectData, Error> {
    let effect = SourceFields::open(path, "an effect", root, &EFFECT_KEYS)?;
    let mut warm_seconds = 0.0;
    effect.number("warm_seconds", WARM_SECONDS, &mut warm_seconds)?;
    let culling = effect.choice("culling", Culling::ALL)?.unwrap_or(Culling::None);
    let variables = variables(&effect)?;
    let Some(block) = effect.get("emitters") else {
        return Err(effect.block_error("it has no 'emitters': emitters = { sparks = { … } }"));
    };
    let entries = block.entries().ok_or_else(|| {
        effect.error_at(block, "'emitters' must be a block of names: { sparks = { … } }")
    })?;
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() || entries.len() > EMITTERS_MAX {
        let message =
            format!("it has {} emitters: 1 to {EMITTERS_MAX} (EMITTERS_MAX)", entries.len());
        return Err(effect.error_at(block, &message));
    }
    let names: Vec<&str> = entries.iter().map(|entry| entry.key).collect();
    let mut emitters = Vec::new();
    for entry in &entries {
        let subject = format!("emitter '{}'", entry.key);
        let reading = EmitterParser { path, names: &names, variables: &variables };
        emitters.push(reading.emitter(&subject, entry.key, entry.value)?);
    }
    let lines: Vec<usize> = entries.iter().map(|entry| entry.value.line()).collect();
    check_cycles(path, &emitters, &lines)?;
    Ok(EffectData { emitters, variables, warm_seconds, culling })
}

fn variables(effect: &SourceFields) -> Result<Vec<EffectVariable>, Error> {
    let Some(block) = effect.get("variables") else { return Ok(Vec::new()) };
    let Some(entries) = block.entries() else {
        let message = "'variables' must be a block of names and defaults: { power = 1 }";
        return Err(effect.error_at(block, message));
    };
    let mut variables = Vec::new();
    for entry in entries {
        let default = match entry.value.as_f64() {
            Some(_) => [effect.number_of(entry.key, entry.value, COORDINATES)?; 3],
            None => effect.vector_of(entry.key, entry.value)?,
        };
        variables.push(EffectVariable { name: entry.key.to_string(), default });
    }
    if variables.len() > VARIABLES_MAX {
        let message = format!(
            "it has {} variables: at most {VARIABLES_MAX} (VARIABLES_MAX)",
            variables.len()
        );
        return Err(effect.error_at(block, &message));
    }
    Ok(variables)
}

/// Returns an error if an emitter spawns itself through its sub-emitters.
fn check_cycles(path: &str, emitters: &[EmitterDef], lines: &[usize]) -> Result<(), Error> {
    for (start, line) in lines.iter().enumerate() {
        let (mut chain, mut visited) = (vec![start], vec![false; emitters.len()]);
        if let Some(cycle) = find_cycle(emitters, start, &mut chain, &mut visited) {
            let names: Vec<&str> = cycle.iter().map(|at| &emitters[*at].name[..]).collect();
            let (name, chain) = (names[0], names.join(" → "));
            return Err(error!(
                "{path}:{line}: emitter '{name}' feeds itself: {chain}; let another emitter take \
                 the last step"
            ));
        }
    }
    Ok(())
}

/// Context for parsing an emitter's text.
pub(super) struct EmitterParser<'a> {
    pub path: &'a str,
    pub names: &'a [&'a str],
    pub variables: &'a [EffectVariable],
}

impl EmitterParser<'_> {
    fn emitter(&self, subject: &str, name: &str, value: SjsonValue) -> Result<EmitterDef, Error> {
        let fields = SourceFields::open(self.path, subject, value, &EMITTER_KEYS)?;
        let mut numbers = Box::new(default_emitter());
        let data = &mut *numbers;
        self.spawning(&fields, data)?;
        self.shape(&fields, data)?;
        self.motion(&fields, data)?;
        self.appearance(&fields, data)?;
        self.binds(&fields, data)?;
        for (target, key) in data.subs.iter_mut().zip(TRIGGER_KEYS) {
            *target = self.sub(&fields, key)?;
        }
        let drawn_out = data.trail_points > 0 || data.ribbon > 0;
        if drawn_out && data.max > TRAIL_PARTICLES_MAX {
            let message = format!(
                "with a trail or ribbon 'max' must be at most {TRAIL_PARTICLES_MAX} \
                 (TRAIL_PARTICLES_MAX), got {}",
                data.max
            );
            return Err(fields.error_at(fields.get("max").unwrap_or(value), &message));
        }
        let text = |key| fields.text(key).map(|text| text.unwrap_or("").to_string());
        let (texture, material) = (text("texture")?, text("material")?);
        if !material.is_empty() && fields.get("blend").is_some() {
            let message = "'blend' comes from the material: leave it out";
            return Err(fields.error_at(fields.get("blend").expect("it is there"), message));
        }
        Ok(EmitterDef { name: name.to_string(), texture, material, numbers })
    }

    fn spawning(&self, fields: &SourceFields, data: &mut EmitterData) -> Result<(), Error> {
        fields.integer(
            "max",
            (1, EMITTER_PARTICLES_MAX),
            "EMITTER_PARTICLES_MAX",
            &mut data.max,
        )?;
        fields.number("rate", RATE, &mut data.rate)?;
        fields.number("delay", SECONDS, &mut data.delay)?;
        fields.number("duration", DURATION, &mut data.duration)?;
        fields.boolean("loop", &mut data.repeats)?;
        if data.repeats > 0 && data.duration == 0.0 {
            let at = fields.get("loop").expect("it was read");
            return Err(fields.error_at(at, "'loop' needs a 'duration' after which it restarts"));
        }
        let bursts = fields.list("bursts", BURSTS_MAX, "BURSTS_MAX")?;
        data.burst_count = bursts.len() as u32;
        for (target, value) in data.bursts.iter_mut().zip(bursts) {
            let burst = fields.open_block(value, "a burst", &BURST_KEYS)?;
            *target = SpawnBurst { times: 0, count: [1, 1], ..SpawnBurst::default() };
            burst.number("time", SECONDS, &mut target.time)?;
            burst.number("every", BURST_EVERY, &mut target.every)?;
            burst.integer("times", BURST_TIMES, "", &mut target.times)?;
            burst.read_count_range("count", EMITTER_PARTICLES_MAX, &mut target.count)?;
            if target.times > 1 && target.every == 0.0 {
                let at = burst.get("times").expect("it was read");
                return Err(burst.error_at(at, "'times' needs 'every': the seconds in between"));
            }
        }
        Ok(())
    }

    fn shape(&self, fields: &SourceFields, data: &mut EmitterData) -> Result<(), Error> {
        let mut kind = Shape::Point;
        if let Some(value) = fields.get("shape") {
            let shape = fields.open_block(value, "a shape", &SHAPE_KEYS)?;
            let Some(chosen) = shape.choice("type", Shape::ALL)? else {
                return Err(shape.block_error("a shape needs a 'type': type = \"sphere\""));
            };
            kind = chosen;
            let known: &[&str] = match kind {
                Shape::Point => &["type"],
                Shape::Sphere | Shape::Circle => &["type", "radius", "inner"],
                Shape::Box => &["type", "extents"],
                Shape::Cone => &["type", "radius", "angle"],
                Shape::Line => &["type", "to"],
                Shape::Ring => &["type", "radius", "width"],
            };
            let name = format!("a shape of type '{}'", Shape::ALL[kind as usize].0);
            let shape = fields.open_block(value, &name, known)?;
            data.radius = 1.0;
            shape.number("radius", LENGTH, &mut data.radius)?;
            shape.number("inner", PART, &mut data.inner)?;
            shape.vector("extents", &mut data.extents)?;
            shape.vector("to", &mut data.extents)?;
            data.angle = 25f32.to_radians();
            shape.angle("angle", OPENING_DEGREES_MAX, &mut data.angle)?;
            if kind == Shape::Ring {
                let mut width = 0.0;
                shape.number("width", LENGTH, &mut width)?;
                // The width is measured inward from the outer edge.
                data.inner = (1.0 - width / data.radius.max(1e-6)).clamp(0.0, 1.0);
            }
        }
        data.shape = kind as u32;
        fields.vector("position", &mut data.position)?;
        fields.direction("direction", &mut data.direction)?;
        fields.angle("spread", OPENING_DEGREES_MAX, &mut data.spread)?;
        if fields.get("spread").is_some() && fields.get("direction").is_none() {
            let at = fields.get("spread").expect("it was read");
            let message = "'spread' is an angle around 'direction': set that too";
            return Err(fields.error_at(at, message));
        }
        fields.range("speed", COORDINATES, &mut data.speed)?;
        fields.number("inherit_velocity", INHERIT, &mut data.inherit)?;
        fields.range("lifetime", LIFETIME, &mut data.lifetime)?;
        data.space = fields.choice("space", Space::ALL)?.unwrap_or(Space::World) as u32;
        Ok(())
    }

    fn sub(&self, fields: &SourceFields, key: &'static str) -> Result<SubEmitter, Error> {
        let mut sub = SubEmitter { count: [1, 1], ..SubEmitter::default() };
        let Some(value) = fields.get(key) else { return Ok(sub) };
        let subject = format!("'{key}'");
        let block = fields.open_block(value, &subject, &SUB_KEYS)?;
        let Some(name) = block.text("emitter")? else {
            return Err(block.block_error("it needs the name of an 'emitter'"));
        };
        let Some(target) = self.names.iter().position(|known| *known == name) else {
            let hint = suggest::hint(name, self.names.iter().copied());
            let at = block.get("emitter").expect("it was read");
            return Err(block.error_at(at, &format!("there is no emitter '{name}'{hint}")));
        };
        sub.emitter = target as u32 + 1;
        block.read_count_range("count", SUB_COUNT_MAX, &mut sub.count)?;
        block.number("inherit_velocity", INHERIT, &mut sub.inherit)?;
        Ok(sub)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::sjson;

    fn message(text: &str) -> String {
        let document = sjson::parse(text).unwrap();
        parse("x.particles", document.root()).unwrap_err().message
    }

    fn read(text: &str) -> EffectData {
        let document = sjson::parse(text).unwrap();
        parse("x.particles", document.root()).unwrap()
    }

    fn check(body: &str, wanted: &str) {
        let found = message(&format!("emitters = {{ a = {{\n{body}\n}} }}"));
        assert!(found.contains(wanted), "{body}: {found}");
        assert!(found.starts_with("x.particles:2: "), "{body}: {found}");
    }

    #[test]
    fn errors_have_a_line() {
        check("rat = 3", "emitter 'a' has no 'rat', did you mean 'rate'? (known: max, rate,");
        check("rate = -1", "emitter 'a': 'rate' must be 0 to 10000000, got -1");
        check("rate = \"nan\"", "'rate' must be a number, got");
        check("lifetime = 0", "'lifetime' must be 0.001 to 3600, got 0");
        check("lifetime = [2, 1]", "'lifetime' must have the smaller number first, got [2, 1]");
        check(
            "max = 1000000000",
            "'max' must be a whole number, 1 to 1048576 (EMITTER_PARTICLES_MAX), got 1000000000",
        );
        check(
            "size = { points = [[0, 1]] shape = \"smoth\" }",
            "'shape' cannot be 'smoth', did you mean 'smooth'? (known: linear, smooth, step)",
        );
        check("size = [[0, 1], [1]]", "'size' must be a list of points, each [time, number]");
        check("size = [[1, 1], [0, 2]]", "the curve 'size' goes back in time");
        check("color = \"red\"", "'color' must be a colour such as \"#ff8000\"");
        check(
            "color = [1, 0.5, 0]",
            "'color' has parts from 0 to 255, and these go to 1: write [255, 128, 0]",
        );
        check("shape = { type = \"spere\" }", "'type' cannot be 'spere', did you mean 'sphere'?");
        check("shape = { type = \"line\" radius = 2 }", "a shape of type 'line' has no 'radius'");
        check("spread = 20", "'spread' is an angle around 'direction'");
        check("direction = [0, 0, 0]", "'direction' must have a direction, got zeros");
        check("loop = true", "'loop' needs a 'duration'");
        check("bursts = [{ times = 3 }]", "'times' needs 'every'");
        check("on_death = { emitter = \"b\" }", "there is no emitter 'b'");
        check("max = 5000 trail = {}", "'max' must be at most 4096 (TRAIL_PARTICLES_MAX)");
        check(
            "forces = [{ type = \"vortx\" }]",
            "'type' cannot be 'vortx', did you mean 'vortex'?",
        );
        check(
            "bind = { rate = \"power\" }",
            "'rate' names the variable 'power', which does not exist",
        );
        check("blend = \"ad\"", "'blend' cannot be 'ad', did you mean 'add'?");
    }

    #[test]
    fn sub_emitters_must_not_form_a_cycle() {
        let text = "emitters = { a = { on_death = { emitter = \"b\" } }\n\
                    b = { on_birth = { emitter = \"a\" } } }";
        let wanted = "x.particles:1: emitter 'a' feeds itself: a → b → a; let another emitter take \
                      the last step";
        assert_eq!(message(text), wanted);
        let own = "emitters = { a = { on_death = { emitter = \"a\" } } }";
        assert!(message(own).contains("emitter 'a' feeds itself: a → a"));
    }

    #[test]
    fn an_effect_needs_emitters() {
        assert!(message("warm_seconds = 1").contains("it has no 'emitters'"));
        assert!(message("emitters = {}").contains("it has 0 emitters: 1 to 16 (EMITTERS_MAX)"));
    }

    #[test]
    fn a_compiled_effect_survives_a_round_trip() {
        let text = "variables = { power = 2 }\nwarm_seconds = 1.5\nculling = \"slow\"\n\
            emitters = { a = { rate = 20 size = [[0, 0], [0.5, 4], [1, 0]] texture = \"t\" \
            bind = { rate = \"power\" } color = [[0, \"#f00\"], [1, \"#0000ff00\"]] \
            forces = [{ type = \"turbulence\" strength = 3 size = 2 }] } \
            b = { shape = { type = \"cone\" angle = 30 radius = 2 } } }";
        let data = read(text);
        let bytes = data.write();
        assert_eq!(EffectData::read(&bytes).unwrap(), data);
        let numbers = &data.emitters[0].numbers;
        assert!((numbers.sizes[TABLE / 2] * numbers.size_max - 4.0).abs() < 0.1);
        assert_eq!(numbers.colors[0], [255, 0, 0, 255]);
        assert_eq!(numbers.colors[TABLE - 1], [0, 0, 255, 0]);
        assert_eq!(numbers.binds[Bind::Rate as usize], 1);
        for length in [0, 10, bytes.len() - 1] {
            assert!(EffectData::read(&bytes[..length]).is_err(), "{length}");
        }
    }
}
