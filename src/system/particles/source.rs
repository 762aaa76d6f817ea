//! The text of a `.particles`, read into its definition. Faults name file and line, and the emitter
//! where one is at fault.
//! docs/particles.md has the format. Forces, colliders and looks are in source_parts.rs.

use super::definition::*;
use super::fields::Fields;
use super::ranges::*;
use crate::error;
use crate::foundation::sjson::Value;
use crate::foundation::{Error, suggest};

const EFFECT_KEYS: [&str; 4] = ["emitters", "variables", "warm_seconds", "culling"];
const EMITTER_KEYS: [&str; 45] = [
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

/// What an emitter has that says nothing.
fn plain() -> Numbers {
    let zero: Numbers = bytemuck::Zeroable::zeroed();
    Numbers {
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

/// Reads an effect.
pub fn parse(path: &str, root: Value) -> Result<EffectData, Error> {
    let effect = Fields::open(path, "an effect", root, &EFFECT_KEYS)?;
    let mut warm_seconds = 0.0;
    effect.number("warm_seconds", WARM_SECONDS, &mut warm_seconds)?;
    let culling = effect.choice("culling", Culling::ALL)?.unwrap_or(Culling::None);
    let variables = variables(&effect)?;
    let Some(block) = effect.get("emitters") else {
        return Err(effect.fault_here("it has no 'emitters': emitters = { sparks = { … } }"));
    };
    let entries = block.entries().ok_or_else(|| {
        effect.fault(block, "'emitters' must be a block of names: { sparks = { … } }")
    })?;
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() || entries.len() > EMITTERS_MAX {
        let words =
            format!("it has {} emitters: 1 to {EMITTERS_MAX} (EMITTERS_MAX)", entries.len());
        return Err(effect.fault(block, &words));
    }
    let names: Vec<&str> = entries.iter().map(|entry| entry.key).collect();
    let mut emitters = Vec::new();
    for entry in &entries {
        let what = format!("emitter '{}'", entry.key);
        let reading = Reading { path, names: &names, variables: &variables };
        emitters.push(reading.emitter(&what, entry.key, entry.value)?);
    }
    let lines: Vec<usize> = entries.iter().map(|entry| entry.value.line()).collect();
    check_circles(path, &emitters, &lines)?;
    Ok(EffectData { emitters, variables, warm_seconds, culling })
}

fn variables(effect: &Fields) -> Result<Vec<Variable>, Error> {
    let Some(block) = effect.get("variables") else { return Ok(Vec::new()) };
    let Some(entries) = block.entries() else {
        let words = "'variables' must be a block of names and defaults: { power = 1 }";
        return Err(effect.fault(block, words));
    };
    let mut variables = Vec::new();
    for entry in entries {
        let default = match entry.value.as_f64() {
            Some(_) => [effect.number_of(entry.key, entry.value, FAR)?; 3],
            None => effect.vector_of(entry.key, entry.value)?,
        };
        variables.push(Variable { name: entry.key.to_string(), default });
    }
    if variables.len() > VARIABLES_MAX {
        let words = format!(
            "it has {} variables: at most {VARIABLES_MAX} (VARIABLES_MAX)",
            variables.len()
        );
        return Err(effect.fault(block, &words));
    }
    Ok(variables)
}

/// Refuses emitters that feed themselves.
fn check_circles(path: &str, emitters: &[EmitterDef], lines: &[usize]) -> Result<(), Error> {
    for (start, line) in lines.iter().enumerate() {
        let (mut way, mut seen) = (vec![start], vec![false; emitters.len()]);
        if let Some(circle) = circle(emitters, start, &mut way, &mut seen) {
            let names: Vec<&str> = circle.iter().map(|at| &emitters[*at].name[..]).collect();
            let (name, way) = (names[0], names.join(" → "));
            return Err(error!(
                "{path}:{line}: emitter '{name}' feeds itself: {way}; let another emitter take \
                 the last step"
            ));
        }
    }
    Ok(())
}

/// What an emitter's text is read with.
pub(super) struct Reading<'a> {
    pub path: &'a str,
    pub names: &'a [&'a str],
    pub variables: &'a [Variable],
}

impl Reading<'_> {
    fn emitter(&self, what: &str, name: &str, value: Value) -> Result<EmitterDef, Error> {
        let fields = Fields::open(self.path, what, value, &EMITTER_KEYS)?;
        let mut numbers = Box::new(plain());
        let it = &mut *numbers;
        self.spawning(&fields, it)?;
        self.shape(&fields, it)?;
        self.motion(&fields, it)?;
        self.look(&fields, it)?;
        self.binds(&fields, it)?;
        for (place, key) in it.subs.iter_mut().zip(ON) {
            *place = self.sub(&fields, key)?;
        }
        let drawn_out = it.trail_points > 0 || it.ribbon > 0;
        if drawn_out && it.max > TRAIL_PARTICLES_MAX {
            let words = format!(
                "with a trail or ribbon 'max' must be at most {TRAIL_PARTICLES_MAX} \
                 (TRAIL_PARTICLES_MAX), got {}",
                it.max
            );
            return Err(fields.fault(fields.get("max").unwrap_or(value), &words));
        }
        let text = |key| fields.text(key).map(|text| text.unwrap_or("").to_string());
        let (texture, material) = (text("texture")?, text("material")?);
        if !material.is_empty() && fields.get("blend").is_some() {
            let words = "'blend' is what the material says: leave it out";
            return Err(fields.fault(fields.get("blend").expect("it is there"), words));
        }
        Ok(EmitterDef { name: name.to_string(), texture, material, numbers })
    }

    fn spawning(&self, fields: &Fields, it: &mut Numbers) -> Result<(), Error> {
        fields.whole("max", (1, EMITTER_PARTICLES_MAX), "EMITTER_PARTICLES_MAX", &mut it.max)?;
        fields.number("rate", RATE, &mut it.rate)?;
        fields.number("delay", SECONDS, &mut it.delay)?;
        fields.number("duration", DURATION, &mut it.duration)?;
        fields.truth("loop", &mut it.repeats)?;
        if it.repeats > 0 && it.duration == 0.0 {
            let at = fields.get("loop").expect("it was read");
            return Err(fields.fault(at, "'loop' needs a 'duration' after which it begins again"));
        }
        let bursts = fields.list("bursts", BURSTS_MAX, "BURSTS_MAX")?;
        it.burst_count = bursts.len() as u32;
        for (place, value) in it.bursts.iter_mut().zip(bursts) {
            let burst = fields.inner(value, "a burst", &BURST_KEYS)?;
            *place = Burst { times: 0, count: [1, 1], ..Burst::default() };
            burst.number("time", SECONDS, &mut place.time)?;
            burst.number("every", BURST_EVERY, &mut place.every)?;
            burst.whole("times", BURST_TIMES, "", &mut place.times)?;
            burst.counts("count", EMITTER_PARTICLES_MAX, &mut place.count)?;
            if place.times > 1 && place.every == 0.0 {
                let at = burst.get("times").expect("it was read");
                return Err(burst.fault(at, "'times' needs 'every': the seconds in between"));
            }
        }
        Ok(())
    }

    fn shape(&self, fields: &Fields, it: &mut Numbers) -> Result<(), Error> {
        let mut kind = Shape::Point;
        if let Some(value) = fields.get("shape") {
            let shape = fields.inner(value, "a shape", &SHAPE_KEYS)?;
            let Some(found) = shape.choice("type", Shape::ALL)? else {
                return Err(shape.fault_here("a shape needs a 'type': type = \"sphere\""));
            };
            kind = found;
            let known: &[&str] = match kind {
                Shape::Point => &["type"],
                Shape::Sphere | Shape::Circle => &["type", "radius", "inner"],
                Shape::Box => &["type", "extents"],
                Shape::Cone => &["type", "radius", "angle"],
                Shape::Line => &["type", "to"],
                Shape::Ring => &["type", "radius", "width"],
            };
            let name = format!("a shape of type '{}'", Shape::ALL[kind as usize].0);
            let shape = fields.inner(value, &name, known)?;
            it.radius = 1.0;
            shape.number("radius", LENGTH, &mut it.radius)?;
            shape.number("inner", PART, &mut it.inner)?;
            shape.vector("extents", &mut it.extents)?;
            shape.vector("to", &mut it.extents)?;
            it.angle = 25f32.to_radians();
            shape.angle("angle", OPENING_DEGREES_MAX, &mut it.angle)?;
            if kind == Shape::Ring {
                let mut width = 0.0;
                shape.number("width", LENGTH, &mut width)?;
                // From the outer edge inwards, as a part of the radius.
                it.inner = (1.0 - width / it.radius.max(1e-6)).clamp(0.0, 1.0);
            }
        }
        it.shape = kind as u32;
        fields.vector("position", &mut it.position)?;
        fields.direction("direction", &mut it.direction)?;
        fields.angle("spread", OPENING_DEGREES_MAX, &mut it.spread)?;
        if fields.get("spread").is_some() && fields.get("direction").is_none() {
            let at = fields.get("spread").expect("it was read");
            let words = "'spread' is how far off its 'direction': say that, too";
            return Err(fields.fault(at, words));
        }
        fields.range("speed", FAR, &mut it.speed)?;
        fields.number("inherit_velocity", INHERIT, &mut it.inherit)?;
        fields.range("lifetime", LIFETIME, &mut it.lifetime)?;
        it.space = fields.choice("space", Space::ALL)?.unwrap_or(Space::World) as u32;
        Ok(())
    }

    fn sub(&self, fields: &Fields, key: &'static str) -> Result<Sub, Error> {
        let mut sub = Sub { count: [1, 1], ..Sub::default() };
        let Some(value) = fields.get(key) else { return Ok(sub) };
        let what = format!("'{key}'");
        let block = fields.inner(value, &what, &SUB_KEYS)?;
        let Some(name) = block.text("emitter")? else {
            return Err(block.fault_here("it needs the name of an 'emitter'"));
        };
        let Some(place) = self.names.iter().position(|known| *known == name) else {
            let hint = suggest::hint(name, self.names.iter().copied());
            let at = block.get("emitter").expect("it was read");
            return Err(block.fault(at, &format!("there is no emitter '{name}'{hint}")));
        };
        sub.emitter = place as u32 + 1;
        block.counts("count", SUB_COUNT_MAX, &mut sub.count)?;
        block.number("inherit_velocity", INHERIT, &mut sub.inherit)?;
        Ok(sub)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::sjson;

    fn words(text: &str) -> String {
        let document = sjson::parse(text).unwrap();
        parse("x.particles", document.root()).unwrap_err().message
    }

    fn read(text: &str) -> EffectData {
        let document = sjson::parse(text).unwrap();
        parse("x.particles", document.root()).unwrap()
    }

    fn check(body: &str, wanted: &str) {
        let found = words(&format!("emitters = {{ a = {{\n{body}\n}} }}"));
        assert!(found.contains(wanted), "{body}: {found}");
        assert!(found.starts_with("x.particles:2: "), "{body}: {found}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
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
        check("color = \"red\"", "'color' must be a colour: \"#rgb\"");
        check("shape = { type = \"spere\" }", "'type' cannot be 'spere', did you mean 'sphere'?");
        check("shape = { type = \"line\" radius = 2 }", "a shape of type 'line' has no 'radius'");
        check("spread = 20", "'spread' is how far off its 'direction'");
        check("direction = [0, 0, 0]", "'direction' must have a direction, got zeros");
        check("loop = true", "'loop' needs a 'duration'");
        check("bursts = [{ times = 3 }]", "'times' needs 'every'");
        check("on_death = { emitter = \"b\" }", "there is no emitter 'b'");
        check("max = 5000 trail = {}", "'max' must be at most 4096 (TRAIL_PARTICLES_MAX)");
        check(
            "forces = [{ type = \"vortx\" }]",
            "'type' cannot be 'vortx', did you mean 'vortex'?",
        );
        check("bind = { rate = \"power\" }", "'rate' names the variable 'power', which is not");
        check("blend = \"ad\"", "'blend' cannot be 'ad', did you mean 'add'?");
    }

    #[test]
    fn an_emitter_must_not_feed_itself() {
        let text = "emitters = { a = { on_death = { emitter = \"b\" } }\n\
                    b = { on_birth = { emitter = \"a\" } } }";
        let wanted = "x.particles:1: emitter 'a' feeds itself: a → b → a; let another emitter take \
                      the last step";
        assert_eq!(words(text), wanted);
        let own = "emitters = { a = { on_death = { emitter = \"a\" } } }";
        assert!(words(own).contains("emitter 'a' feeds itself: a → a"));
    }

    #[test]
    fn an_effect_needs_emitters() {
        assert!(words("warm_seconds = 1").contains("it has no 'emitters'"));
        assert!(words("emitters = {}").contains("it has 0 emitters: 1 to 16 (EMITTERS_MAX)"));
    }

    #[test]
    fn what_was_read_survives_its_compiled_form() {
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
