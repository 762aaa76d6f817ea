//! Settings of a clip as an `.animation` file stores them. Opens no files.
//!
//! ```text
//! source = "units/orc"
//! clip = "Walk"
//! loop = true
//! root_motion = "xy_yaw"
//! tolerance = 0.0001
//! joints = { left_hand = 0.00005 }
//! range = [0.5, 1.5]
//! beats = [0, 0.5]
//! stream = true
//! recorded = true
//! events = [{ name = "step", time = 0.1, sound = "sounds/step", effect = "effects/dust" }]
//! ```

use super::clip::CLIP_SECONDS_MAX;
use super::clip_chunks::{CHUNK_SECONDS, CHUNK_SECONDS_DEFAULT};
use super::clip_events::{BEATS_MAX, ClipEvent, EVENTS_MAX, EventCue};
use super::compile::{ClipSettings, KeyForm};
use super::root_motion::RootMotion;
use super::skeleton::BONES_MAX;
use engine_foundation::sjson::{self, ObjectEntry, SjsonValue};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};

const KEYS: [&str; 18] = [
    "source",
    "clip",
    "skeleton",
    "loop",
    "tolerance",
    "shell",
    "joints",
    "root_motion",
    "root_bone",
    "beats",
    "events",
    "additive",
    "range",
    "retarget",
    "jump_seconds",
    "keys",
    "stream",
    "recorded",
];
const EVENT_KEYS: [&str; 6] = ["name", "time", "sound", "effect", "bone", "link"];
const ADDITIVE_KEYS: [&str; 2] = ["clip", "time"];

/// Reference pose of an additive clip, by names.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AdditiveSettings {
    /// Clip with the reference pose: a clip of the same source, or `models/orc#Clip`. `None` is the
    /// clip itself.
    pub clip: Option<String>,
    /// Time of the reference pose in seconds.
    pub time: f32,
}

/// Content of an `.animation` file.
#[derive(Clone, PartialEq, Debug)]
pub struct AnimationFile {
    /// Name of the model with the animation, or path of its file; `None` is a model of the same
    /// name.
    pub source: Option<String>,
    /// Name of the animation in the source; `None` is its only one.
    pub clip: Option<String>,
    /// Model for whose skeleton the clip is compiled; `None` is the model of the source.
    pub skeleton: Option<String>,
    pub additive: Option<AdditiveSettings>,
    /// Names of bones in the source, and those of the skeleton.
    pub retarget: Vec<(String, String)>,
    /// All other settings. `additive` is `None`, because it needs the source.
    pub settings: ClipSettings,
}

/// Reads the content of an `.animation` file. `path` is named in errors.
///
/// # Errors
/// Fails with the file and the line if the syntax, a key or a value is not valid.
pub fn parse_animation_file(bytes: &[u8], path: &str) -> Result<AnimationFile, Error> {
    parse_animation_file_over(bytes, path, &AnimationFile::default())
}

/// Reads the content of an `.animation` file, with the settings that its clip has in its source:
/// the file replaces those that it names. Events and beats of the source are moved to the range of
/// the file, and those beyond it are left out. `path` is named in errors.
///
/// # Errors
/// Fails with the file and the line if the syntax, a key or a value is not valid.
pub fn parse_animation_file_over(
    bytes: &[u8],
    path: &str,
    base: &AnimationFile,
) -> Result<AnimationFile, Error> {
    let document = sjson::parse_bytes(bytes).map_err(|error| Error::new(error.in_file(path)))?;
    let mut file = base.clone();
    // The lines are those of the source.
    file.settings.events.iter_mut().for_each(|event| event.line = 0);
    if let Some(range) = document.root().get("range") {
        let before = base.settings.range.map_or(0.0, |range| range[0]);
        file.settings.move_to(before, (Reader { path }).range(range)?);
    }
    let reader = Reader { path };
    for entry in document.root().entries().into_iter().flatten() {
        reader.entry(&mut file, &entry)?;
    }
    // A source can name the clip, too: "models/orc#Walk".
    let parts = file.source.as_deref().and_then(|source| source.split_once('#'));
    if let Some((source, clip)) = parts.map(|(a, b)| (a.to_string(), b.to_string())) {
        if source.is_empty() || clip.is_empty() {
            return Err(error!("{path}: write the source as \"models/orc#Walk\""));
        }
        if let Some(other) = &file.clip {
            return Err(error!(
                "{path}: the source names the clip '{clip}', and 'clip' names '{other}': remove one"
            ));
        }
        (file.source, file.clip) = (Some(source), Some(clip));
    }
    Ok(file)
}

/// Settings that a clip in another file can have, too.
pub const CLIP_SETTING_KEYS: [&str; 13] = [
    "loop",
    "tolerance",
    "shell",
    "joints",
    "root_motion",
    "root_bone",
    "beats",
    "events",
    "additive",
    "range",
    "jump_seconds",
    "keys",
    "recorded",
];

/// Reads a setting of a clip in another file: one of [`CLIP_SETTING_KEYS`]. `path` is named in
/// errors.
///
/// # Errors
/// Fails with the file and the line if the value is not valid.
pub fn read_clip_setting(
    path: &str,
    file: &mut AnimationFile,
    entry: &ObjectEntry,
) -> Result<(), Error> {
    Reader { path }.entry(file, entry)
}

impl Default for AnimationFile {
    fn default() -> AnimationFile {
        AnimationFile {
            source: None,
            clip: None,
            skeleton: None,
            additive: None,
            retarget: Vec::new(),
            settings: ClipSettings::DEFAULT,
        }
    }
}

impl ClipSettings {
    /// Moves events and beats of a range that begins at the time `before` to another range.
    fn move_to(&mut self, before: f32, [from, to]: [f32; 2]) {
        let moved =
            |time: f32| Some(time + before - from).filter(|it| (0.0..=to - from).contains(it));
        self.beats = self.beats.iter().filter_map(|time| moved(*time)).collect();
        self.events.retain_mut(|event| {
            let time = moved(event.time);
            event.time = time.unwrap_or(event.time);
            time.is_some()
        });
    }
}

struct Reader<'a> {
    path: &'a str,
}

impl Reader<'_> {
    fn entry(&self, file: &mut AnimationFile, entry: &ObjectEntry) -> Result<(), Error> {
        let settings = &mut file.settings;
        match entry.key {
            "source" => file.source = Some(self.text(entry)?),
            "clip" => file.clip = Some(self.text(entry)?),
            "skeleton" => file.skeleton = Some(self.text(entry)?),
            "root_bone" => settings.root_bone = Some(self.text(entry)?),
            "loop" => settings.looping = Some(self.flag(entry)?),
            "recorded" => settings.recorded = self.flag(entry)?,
            "tolerance" => settings.tolerance = self.number(entry, 1e-6, 1.0)?,
            "shell" => settings.shell = self.number(entry, 1e-6, 1000.0)?,
            "jump_seconds" => settings.jump_seconds = self.number(entry, 0.01, CLIP_SECONDS_MAX)?,
            "keys" => settings.keys = self.key_form(entry)?,
            "stream" => settings.chunk_seconds = self.stream(entry)?,
            "joints" => settings.joints = self.joints(entry)?,
            "root_motion" => settings.root_motion = self.root_motion(entry)?,
            "beats" => settings.beats = self.beats(entry)?,
            "events" => settings.events = self.events(entry)?,
            "additive" => file.additive = Some(self.additive(entry)?),
            "range" => settings.range = Some(self.range(entry.value)?),
            "retarget" => file.retarget = self.retarget(entry)?,
            key => {
                let message = format!("unknown setting '{key}'{}", hint(key, KEYS));
                return Err(self.error(entry, &message));
            }
        }
        Ok(())
    }

    fn error(&self, entry: &ObjectEntry, message: &str) -> Error {
        error!("{}:{}: {message}", self.path, entry.line())
    }

    fn value_error(&self, value: SjsonValue, message: &str) -> Error {
        error!("{}:{}: {message}", self.path, value.line())
    }

    fn flag(&self, entry: &ObjectEntry) -> Result<bool, Error> {
        let message = || format!("'{}' must be true or false", entry.key);
        entry.value.as_bool().ok_or_else(|| self.error(entry, &message()))
    }

    fn text(&self, entry: &ObjectEntry) -> Result<String, Error> {
        match entry.value.as_str() {
            Some(text) if !text.is_empty() => Ok(text.to_string()),
            _ => Err(self.error(entry, &format!("'{}' must be a name in quotes", entry.key))),
        }
    }

    fn number(&self, entry: &ObjectEntry, least: f32, most: f32) -> Result<f32, Error> {
        let number = entry.value.as_f32().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            let message = format!("'{}' must be a number from {least} to {most}", entry.key);
            self.error(entry, &message)
        })
    }

    /// Reads a time in seconds.
    fn time(&self, value: SjsonValue, name: &str) -> Result<f32, Error> {
        let number = value.as_f32().filter(|time| (0.0..=CLIP_SECONDS_MAX).contains(time));
        number.ok_or_else(|| {
            let message = format!("{name} must be a time from 0 to {CLIP_SECONDS_MAX} seconds");
            self.value_error(value, &message)
        })
    }

    /// Reads the length of the chunks of a streamed clip in seconds.
    fn stream(&self, entry: &ObjectEntry) -> Result<Option<f32>, Error> {
        let (least, most) = CHUNK_SECONDS;
        let seconds = entry.value.as_f32().filter(|number| (least..=most).contains(number));
        match (entry.value.as_bool(), seconds) {
            (Some(streams), _) => Ok(streams.then_some(CHUNK_SECONDS_DEFAULT)),
            (None, Some(seconds)) => Ok(Some(seconds)),
            (None, None) => {
                let message = format!(
                    "'stream' must be true, false, or the length of a chunk from {least} to {most} \
                     seconds"
                );
                Err(self.error(entry, &message))
            }
        }
    }

    fn joints(&self, entry: &ObjectEntry) -> Result<Vec<(String, f32)>, Error> {
        let entries = entry.value.entries().ok_or_else(|| {
            self.error(entry, "'joints' must be an object: joints = { hand = 0.0001 }")
        })?;
        if entries.len() > BONES_MAX {
            return Err(self.error(
                entry,
                &format!("'joints' has {} entries, and {BONES_MAX} are the most", entries.len()),
            ));
        }
        entries.map(|joint| Ok((joint.key.to_string(), self.number(&joint, 1e-6, 1.0)?))).collect()
    }

    fn root_motion(&self, entry: &ObjectEntry) -> Result<RootMotion, Error> {
        let names = RootMotion::ALL.map(RootMotion::name);
        let Some(name) = entry.value.as_str() else {
            return Err(self.error(entry, "'root_motion' must be none, xy, xy_yaw or all"));
        };
        let mode = RootMotion::ALL.into_iter().find(|mode| mode.name() == name);
        mode.ok_or_else(|| {
            let message = format!(
                "unknown root motion '{name}'{}: use none, xy, xy_yaw or all",
                hint(name, names)
            );
            self.error(entry, &message)
        })
    }

    fn key_form(&self, entry: &ObjectEntry) -> Result<KeyForm, Error> {
        let name = entry.value.as_str().unwrap_or_default();
        let form = KeyForm::ALL.into_iter().find(|form| form.name() == name);
        form.ok_or_else(|| {
            let near = hint(name, KeyForm::ALL.map(KeyForm::name));
            self.error(entry, &format!("'keys' must be \"smallest\" or \"stream\"{near}"))
        })
    }

    fn beats(&self, entry: &ObjectEntry) -> Result<Vec<f32>, Error> {
        let items = entry
            .value
            .items()
            .ok_or_else(|| self.error(entry, "'beats' must be a list of times in seconds"))?;
        if items.len() > BEATS_MAX {
            let message =
                format!("{} beats, and {BEATS_MAX} are the most (BEATS_MAX)", items.len());
            return Err(self.error(entry, &message));
        }
        items.map(|item| self.time(item, "a beat")).collect()
    }

    fn events(&self, entry: &ObjectEntry) -> Result<Vec<ClipEvent>, Error> {
        let items = entry.value.items().ok_or_else(|| {
            self.error(entry, "'events' must be a list: events = [{ name = \"step\", time = 0.1 }]")
        })?;
        if items.len() > EVENTS_MAX {
            let message =
                format!("{} events, and {EVENTS_MAX} are the most (EVENTS_MAX)", items.len());
            return Err(self.error(entry, &message));
        }
        items.map(|item| self.event(item)).collect()
    }

    fn event(&self, item: SjsonValue) -> Result<ClipEvent, Error> {
        let fields = item.entries().ok_or_else(|| {
            self.value_error(item, "an event must be an object: { name = \"step\", time = 0.1 }")
        })?;
        let (mut name, mut time, mut cue) = (None, None, EventCue::default());
        for field in fields {
            match field.key {
                "name" => name = Some(self.text(&field)?),
                "time" => time = Some(self.time(field.value, "the 'time' of an event")?),
                "sound" => cue.sound = Some(self.text(&field)?),
                "effect" => cue.effect = Some(self.text(&field)?),
                "bone" => cue.bone = Some(self.text(&field)?),
                "link" => {
                    let link = field.value.as_bool();
                    cue.link =
                        link.ok_or_else(|| self.error(&field, "'link' must be true or false"))?;
                }
                key => {
                    let near = hint(key, EVENT_KEYS);
                    return Err(
                        self.error(&field, &format!("unknown key '{key}' of an event{near}"))
                    );
                }
            }
        }
        cue.check().map_err(|error| self.value_error(item, &error.message))?;
        match (name, time) {
            (Some(name), Some(time)) => Ok(ClipEvent { name, time, cue, line: item.line() as u32 }),
            (None, _) => Err(self.value_error(item, "an event needs a 'name'")),
            (Some(name), None) => {
                Err(self.value_error(item, &format!("event '{name}' needs a 'time' in seconds")))
            }
        }
    }

    fn additive(&self, entry: &ObjectEntry) -> Result<AdditiveSettings, Error> {
        let fields = entry.value.entries().ok_or_else(|| {
            let message = "'additive' must be an object: additive = { clip = \"idle\", time = 0 }";
            self.error(entry, message)
        })?;
        let mut additive = AdditiveSettings::default();
        for field in fields {
            match field.key {
                "clip" => additive.clip = Some(self.text(&field)?),
                "time" => additive.time = self.time(field.value, "the 'time' of 'additive'")?,
                key => {
                    let near = hint(key, ADDITIVE_KEYS);
                    let message = format!("unknown key '{key}' of 'additive'{near}");
                    return Err(self.error(&field, &message));
                }
            }
        }
        Ok(additive)
    }

    fn range(&self, value: SjsonValue) -> Result<[f32; 2], Error> {
        let error = || {
            let message = "'range' must be two times in seconds in order: range = [0.5, 1.5]";
            self.value_error(value, message)
        };
        let items: Vec<SjsonValue> = value.items().ok_or_else(error)?.collect();
        let [from, to] = items[..] else { return Err(error()) };
        let range = [self.time(from, "a 'range'")?, self.time(to, "a 'range'")?];
        if range[0] <= range[1] { Ok(range) } else { Err(error()) }
    }

    fn retarget(&self, entry: &ObjectEntry) -> Result<Vec<(String, String)>, Error> {
        let entries = entry.value.entries().ok_or_else(|| {
            self.error(entry, "'retarget' must be an object: retarget = { Hips = \"pelvis\" }")
        })?;
        if entries.len() > BONES_MAX {
            return Err(self.error(
                entry,
                &format!("'retarget' has {} entries, and {BONES_MAX} are the most", entries.len()),
            ));
        }
        entries.map(|pair| Ok((pair.key.to_string(), self.text(&pair)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<AnimationFile, String> {
        parse_animation_file(text.as_bytes(), "orc_walk.animation").map_err(|error| error.message)
    }

    #[test]
    fn every_setting_is_read() {
        let file = parse(
            r#"
            source = "units/orc.gltf"
            clip = "Walk"
            skeleton = "units/hero"
            loop = true
            tolerance = 0.0005
            shell = 0.05
            joints = { left_hand = 0.00005, "Right Hand" = 0.001 }
            root_motion = "xy_yaw"
            root_bone = "hips"
            beats = [0, 0.5]
            events = [
                { name = "step", time = 0.1, sound = "sounds/step", effect = "effects/dust"
                  bone = "foot", link = true }
                { name = "breathe", time = 0.4 }
            ]
            additive = { clip = "Idle", time = 0.25 }
            range = [0.5, 1.5]
            retarget = { Hips = "pelvis" }
            jump_seconds = 0.5
            keys = "stream"
            stream = 2.5
            recorded = true
        "#,
        )
        .unwrap();
        let text = |text: &str| Some(text.to_string());
        let name = |name: &str| name.to_string();
        assert_eq!((file.source, file.clip), (text("units/orc.gltf"), text("Walk")));
        assert_eq!(file.skeleton, text("units/hero"));
        assert_eq!(file.additive, Some(AdditiveSettings { clip: text("Idle"), time: 0.25 }));
        assert_eq!(file.retarget, [(name("Hips"), name("pelvis"))]);
        let (sound, effect) = (text("sounds/step"), text("effects/dust"));
        let wanted = ClipSettings {
            keys: KeyForm::Stream,
            tolerance: 0.0005,
            shell: 0.05,
            jump_seconds: 0.5,
            recorded: true,
            joints: vec![(name("left_hand"), 0.00005), (name("Right Hand"), 0.001)],
            looping: Some(true),
            root_motion: RootMotion::XyYaw,
            root_bone: text("hips"),
            range: Some([0.5, 1.5]),
            additive: None,
            beats: vec![0.0, 0.5],
            events: vec![
                ClipEvent {
                    name: name("step"),
                    time: 0.1,
                    cue: EventCue { sound, effect, bone: text("foot"), link: true },
                    line: 13,
                },
                ClipEvent { name: name("breathe"), time: 0.4, cue: EventCue::default(), line: 15 },
            ],
            weight_tolerances: Vec::new(),
            chunk_seconds: Some(2.5),
        };
        assert_eq!(file.settings, wanted);
        let chunks = |text: &str| parse(text).unwrap().settings.chunk_seconds;
        assert_eq!((chunks("stream = true"), chunks("stream = false")), (Some(4.0), None));
        assert_eq!(parse("").unwrap().settings, ClipSettings::DEFAULT);
        let short = parse("source = \"units/orc#Walk\"").unwrap();
        assert_eq!((short.source, short.clip), (text("units/orc"), text("Walk")));
    }

    #[test]
    fn errors_name_the_line_and_the_nearest_name() {
        let check = |text: &str, wanted: &str| {
            assert_eq!(parse(text).unwrap_err(), format!("orc_walk.animation:{wanted}"));
        };
        let message = parse("source = \"orc#Walk\" clip = \"Run\"").unwrap_err();
        assert!(message.contains("'Walk', and 'clip' names 'Run': remove one"), "{message}");
        let message = parse("source = \"orc#\"").unwrap_err();
        assert!(message.contains("write the source as"), "{message}");
        check("a = [", "1:5: list is not closed: add ']'");
        check("\nlop = true", "2: unknown setting 'lop', did you mean 'loop'?");
        check("loop = 1", "1: 'loop' must be true or false");
        check("source = 5", "1: 'source' must be a name in quotes");
        check("clip = \"\"", "1: 'clip' must be a name in quotes");
        check("tolerance = 0", "1: 'tolerance' must be a number from 0.000001 to 1");
        check("tolerance = 1e300", "1: 'tolerance' must be a number from 0.000001 to 1");
        check("jump_seconds = -1", "1: 'jump_seconds' must be a number from 0.01 to 600");
        for wrong in ["0.1", "61", "1e300", "\"yes\""] {
            check(
                &format!("stream = {wrong}"),
                "1: 'stream' must be true, false, or the length of a chunk from 0.25 to 60 seconds",
            );
        }
        let keys = "1: 'keys' must be \"smallest\" or \"stream\"";
        check("keys = true", keys);
        check("keys = \"streams\"", &format!("{keys}, did you mean 'stream'?"));
        check("joints = { a = 1\n b = 2 }", "2: 'b' must be a number from 0.000001 to 1");
        check("joints = 3", "1: 'joints' must be an object: joints = { hand = 0.0001 }");
        check(
            "root_motion = \"xy_yav\"",
            "1: unknown root motion 'xy_yav', did you mean 'xy_yaw'?: use none, xy, xy_yaw or all",
        );
        check("root_motion = true", "1: 'root_motion' must be none, xy, xy_yaw or all");
        check("beats = [0\n-1]", "2: a beat must be a time from 0 to 600 seconds");
        check("beats = 1", "1: 'beats' must be a list of times in seconds");
        check("events = [{ time = 1 }]", "1: an event needs a 'name'");
        check("events = [\n{ name = \"a\" }]", "2: event 'a' needs a 'time' in seconds");
        check(
            "events = [{ name = \"a\", tim = 1 }]",
            "1: unknown key 'tim' of an event, did you mean 'time'?",
        );
        check(
            "events = [{ name = \"a\", time = 1, bone = \"foot\" }]",
            "1: 'bone' of an event needs a 'sound' or an 'effect'",
        );
        check(
            "events = [{ name = \"a\", time = 1, sound = \"s\", link = 1 }]",
            "1: 'link' must be true or false",
        );
        check("events = [3]", "1: an event must be an object: { name = \"step\", time = 0.1 }");
        check(
            "additive = { clp = \"a\" }",
            "1: unknown key 'clp' of 'additive', did you mean 'clip'?",
        );
        let range = "1: 'range' must be two times in seconds in order: range = [0.5, 1.5]";
        check("range = [1]", range);
        check("range = [1, 0.5]", range);
        check("range = [1, 601]", "1: a 'range' must be a time from 0 to 600 seconds");
        check("retarget = { a = 5 }", "1: 'a' must be a name in quotes");
        let many = vec!["0"; BEATS_MAX + 1].join(" ");
        check(&format!("beats = [{many}]"), "1: 1025 beats, and 1024 are the most (BEATS_MAX)");
    }
}
