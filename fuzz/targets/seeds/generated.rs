//! Generated seeds: small files of formats that the project has no file of, and inputs of the
//! targets that read no resources.

use super::super::files::reframed;
use super::super::game::CompiledGame;
use super::super::{SEPARATOR, models, replays, scratch, serialized};
use super::pictures::rare_forms;
use engine::app::frame_input::FrameInput;
use engine::app::recording::saved_state::InitialSaves;
use engine::app::recording::{ObjectDifference, RecordedFrame, Recording, RecordingOrigin};
use engine::app::resource_kinds::KINDS;
use engine::foundation::blob::BlobWriter;
use engine::platform;
use engine::resource::bundle_writer::{self, BundleOptions};
use engine::resource::save::{NewerVersions, SaveSlot, Saves};
use engine::system::input::{DeviceId, EventKind, InputEvent, KEYBOARD};
use engine::system::window::WindowChange;
use image::{ExtendedColorType, ImageEncoder, codecs};
use std::fs;

const TEXELS: [u8; 64] = {
    let mut texels = [0; 64];
    let mut i = 0;
    while i < 64 {
        texels[i] = (i * 37 % 256) as u8;
        i += 1;
    }
    texels
};

const SHADER: &str = "struct Variables { speed: f32, tint: vec4f }
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var noise: texture_2d<f32>;
@group(2) @binding(2) var noise_sampler: sampler;

fn paint(in: Paint) -> vec4f {
    let at = in.uv + frame.seconds * variables.speed;
    return in.base * variables.tint * textureSample(noise, noise_sampler, at).r;
}
";

const PAGES: &str = r#"info face="My Font" size=32 bold=0 italic=0 padding=0,0,0,0 spacing=1,1
common lineHeight=40 base=30 scaleW=256 scaleH=128 pages=1 packed=0
page id=0 file="x.png"
chars count=2
char id=65 x=0 y=0 width=20 height=30 xoffset=1 yoffset=2 xadvance=22 page=0 chnl=15
char id=86 x=40 y=0 width=20 height=30 xoffset=1 yoffset=2 xadvance=21 page=0 chnl=15
kernings count=1
kerning first=65 second=86 amount=-2
"#;

const PAGES_XML: &str = r#"<?xml version="1.0"?><font><info face="My Font" size="32"/>
<common lineHeight="40" base="30" scaleW="256" scaleH="128" pages="1" packed="0"/>
<pages><page id="0" file="x.png"/></pages><chars count="1">
<char id="65" x="0" y="0" width="20" height="30" xoffset="1" yoffset="2" xadvance="22" page="0"
 chnl="15"/></chars><kernings count="1"><kerning first="65" second="86" amount="-2"/></kernings>
</font>"#;

const TILED: &str = r#"{"type":"map","orientation":"orthogonal","width":3,"height":2,"tilewidth":8,
"tileheight":8,"infinite":false,"properties":[{"name":"title","value":"Cave"}],
"tilesets":[{"firstgid":1,"name":"rock","image":"x.png","imagewidth":32,"imageheight":16,
"tilewidth":8,"tileheight":8,"columns":4,"tilecount":8,"margin":0,"spacing":0,
"tiles":[{"id":1,"type":"wall","properties":[{"name":"solid","type":"bool","value":true}]},
{"id":2,"animation":[{"tileid":2,"duration":100},{"tileid":3,"duration":300}]}]},
{"firstgid":9,"source":"x.tsj"}],
"layers":[{"type":"group","offsetx":4,"layers":[{"type":"tilelayer","name":"ground","width":3,
"height":2,"opacity":0.5,"visible":true,"data":[1,2,0,3,0,2147483650]}]},
{"type":"tilelayer","name":"packed","width":1,"height":1,"encoding":"base64","compression":"zlib",
"data":"eJxjZGBgAAAACAAC"},
{"type":"objectgroup","name":"things","objects":[{"id":1,"name":"door","type":"exit","x":8,"y":4,
"width":8,"height":8,"rotation":0},{"id":2,"name":"key","gid":3,"x":0,"y":16,"width":8,"height":8},
{"id":3,"name":"way","x":0,"y":0,"polyline":[{"x":0,"y":0},{"x":4,"y":6}]}]}]}"#;

const TILED_XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<map version="1.10" orientation="orthogonal" width="2" height="1" tilewidth="8" tileheight="8">
 <tileset firstgid="1" source="x.tsx"/>
 <layer id="1" name="ground" width="2" height="1"><data encoding="csv">1,2</data></layer>
</map>"#;

const HEXAGONAL: &str = r##"<map orientation="hexagonal" staggeraxis="y" staggerindex="odd"
 hexsidelength="4" infinite="1" width="2" height="2" tilewidth="8" tileheight="8"
 parallaxoriginx="4">
 <tileset firstgid="1" tilewidth="8" tileheight="8" objectalignment="top">
  <tileoffset x="1" y="2"/>
  <tile id="0" x="1" y="1" width="8" height="8"><image source="x.png" trans="ff00ff" width="16"
   height="16"/></tile>
  <tile id="3"><image source="x.png" width="8" height="8"/><animation><frame tileid="0"
   duration="9"/></animation></tile></tileset>
 <imagelayer name="sky" repeatx="1" tintcolor="#80ff00ff"><image source="x.png" width="8"
  height="8"/></imagelayer>
 <group parallaxx="0.5"><layer name="a"><data encoding="base64" compression="zlib"><chunk x="-1"
  y="1" width="1" height="1">eJxjZGBgAAAACAAC</chunk></data></layer></group>
 <objectgroup name="o" draworder="index"><object id="1" gid="4" x="1" y="2" rotation="9"/>
  <object id="2" template="x.tx"/></objectgroup></map>"##;

const TILE_SET_XML: &str = r#"<tileset name="rock" tilewidth="8" tileheight="8" tilecount="8"
 columns="4"><image source="x.png" width="32" height="16"/>
 <tile id="1" type="wall"><properties><property name="solid" type="bool" value="true"/></properties>
 </tile><tile id="2"><objectgroup><object x="1" y="8" rotation="30"><polygon
 points="0,0 8,-8 8,0"/></object><object width="4" height="4" type="one_way"><ellipse/></object>
 </objectgroup></tile></tileset>"#;

const TILE_SET: &str = r#"{"name":"more","image":"x.png","imagewidth":16,"imageheight":8,
"tilewidth":8,"tileheight":8,"columns":2,"tilecount":2}"#;

/// Messages of remote tools, one per line.
const MESSAGES: [&str; 4] = [
    r#"{"type":"status"}
{"type":"help"}
{"type":"units"}
{"type":"unit","unit":4294967296}
{"type":"resources"}"#,
    r#"{"type":"eval","text":"return 1, {2}","data":true}
{"type":"complete","text":"World."}
{"type":"script","script":"x = 1"}
{"type":"counters"}"#,
    r#"{"type":"subscribe","stream":"counters","names":["frame"],"every":0.01}
{"type":"pause"}
{"type":"step","frames":2}
{"type":"resume"}"#,
    r#"{"type":"input","device":"keyboard","button":"space","value":1}
{"type":"time_step"}
{"type":"memory","walk":true}
{"type":"sampling","on":true}
{"type":"profile"}
{"type":"resource","name":"units/hero.unit"}"#,
];

/// Requests to the broker, one per line.
const REQUESTS: [&str; 3] = [
    "ahttps://example.org/a?b=c\namailto:x@example.org?subject=x\nafile:///etc/passwd",
    "b\0\nf\0\nb\0\nd\0\nb\x01\nf\x07",
    "eFOLDER/passed.txt\neFOLDER/../a.txt\nrFOLDER/plain.txt\nrFOLDER\nr/proc/self/environ\nx",
];

/// A line of SDL's database, for the pad of the target.
const PAD: &str = "# pads\n030000005e0400008e02000010010000,Pad,a:b0,b:b1,x:b2,y:b3,back:b6,\
    guide:b8,start:b7,leftshoulder:b4,dpup:h0.1,dpleft:h0.8,leftx:a0,lefty:a1~,+rightx:a3,\
    -rightx:-a3,lefttrigger:a2,platform:Linux,\nxinput,Pad,a:b0,\n";

/// A color table with two colors to each side.
const COLOR_TABLE: &str = "TITLE \"a\"\nLUT_3D_SIZE 2\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 1 1 1\n\
    0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1 # white\n";
/// The light of lamps: a round one, and one that is the same in all four quarters.
const LAMP: &str = "IESNA:LM-63-2002\n[TEST] a\nTILT=NONE\n1 1000 1 3 1 1 2 0 0 0\n1 1 10\n\
    0 45 90\n0\n100, 50 0\n";
const LAMP_WITH_TILT: &str = "TILT=INCLUDE\n1 1 0 1\n1 1000 1 2 2 1 2 0 0 0 1 1 10 0 180 0 90 \
    8 8 0 0\n";

/// Returns small files with a file extension.
pub fn files(ending: &str) -> Vec<Vec<u8>> {
    let text = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let kind = ExtendedColorType::Rgba8;
    let mut out = Vec::new();
    match ending {
        "bmp" => codecs::bmp::BmpEncoder::new(&mut out).write_image(&TEXELS, 4, 4, kind),
        "qoi" => codecs::qoi::QoiEncoder::new(&mut out).write_image(&TEXELS, 4, 4, kind),
        "webp" => {
            codecs::webp::WebPEncoder::new_lossless(&mut out).write_image(&TEXELS, 4, 4, kind)
        }
        "jpg" => codecs::jpeg::JpegEncoder::new(&mut out).write_image(
            &TEXELS[..48],
            4,
            4,
            ExtendedColorType::Rgb8,
        ),
        "hdr" => {
            codecs::hdr::HdrEncoder::new(&mut out).encode(&[image::Rgb([0.5, 1.0, 9.0]); 64], 8, 8)
        }
        "tga" => return rare_forms(ending),
        "dds" => return vec![dds(b"DXT1", &TEXELS[..8]), dds(b"DXT5", &TEXELS[..16])],
        "aseprite" => return vec![aseprite(32), aseprite(8)],
        "ttc" => return vec![collection()],
        "shader" | "wgsl" => return text(&[SHADER]),
        "fnt" => return text(&[PAGES, PAGES_XML]),
        "font" => {
            return text(&[
                "source = \"x.ttf\"\nface = 0\nfallback = [\"a\"]\nprewarm = \"abc\"",
                "source = \"x.fnt\"\nspread = 4",
            ]);
        }
        "tmj" => {
            let with = |map: &str, set: &str| [map.as_bytes(), SEPARATOR, set.as_bytes()].concat();
            return vec![TILED.into(), with(TILED, TILE_SET)];
        }
        "tmx" => {
            return vec![
                [TILED_XML.as_bytes(), SEPARATOR, TILE_SET_XML.as_bytes()].concat(),
                HEXAGONAL.into(),
            ];
        }
        "tsx" => return text(&[TILE_SET_XML]),
        "tsj" => return text(&[TILE_SET]),
        "tilemap" => {
            return text(&["map = \"x.tmx\"", "map = \"x.tmj\""]);
        }
        "cube" => return text(&[COLOR_TABLE]),
        "ies" => return text(&[LAMP, LAMP_WITH_TILT]),
        "texture" => {
            return text(&[
                "source = \"x.png\"\nfilter = \"nearest\"\nmax_size = 8",
                "source = \"x.png\" normal_image = \"x.png\"",
            ]);
        }
        "binary" => return text(&["bytes"]),
        "fnl" | "moon" | "tl" => return text(&["(local x 1)"]),
        _ => return Vec::new(),
    }
    .expect("a picture can be written");
    [vec![out], rare_forms(ending)].concat()
}

fn dds(four: &[u8; 4], blocks: &[u8]) -> Vec<u8> {
    let mut numbers = [0u32; 31];
    (numbers[0], numbers[1], numbers[2], numbers[3]) = (124, 0x1007, 4, 4);
    (numbers[18], numbers[19]) = (32, 4);
    numbers[20] = u32::from_le_bytes(*four);
    numbers[26] = 0x1000;
    let head: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    [b"DDS ", &head[..], blocks].concat()
}

/// Returns a font collection with one font.
fn collection() -> Vec<u8> {
    let font = super::root().join("core/fonts/symbols.ttf");
    let mut font = fs::read(font).expect("the engine's font is there");
    let head = [b"ttcf", &[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 16][..]].concat();
    // Offsets of its tables are relative to the file's beginning.
    let tables = usize::from(u16::from_be_bytes([font[4], font[5]]));
    for table in 0..tables {
        let at = 12 + 16 * table + 8;
        let offset = u32::from_be_bytes(font[at..at + 4].try_into().expect("four bytes")) + 16;
        font[at..at + 4].copy_from_slice(&offset.to_be_bytes());
    }
    [head, font].concat()
}

/// Returns an Aseprite file with two frames of 2 x 1 texels: two layers, a linked cel, a palette
/// and a tag.
fn aseprite(depth: u16) -> Vec<u8> {
    let le_bytes =
        |list: &[u16]| -> Vec<u8> { list.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let chunk = |kind: u16, body: &[u8]| {
        let size = (body.len() as u32 + 6).to_le_bytes();
        [&size[..], &kind.to_le_bytes(), body].concat()
    };
    let layer = |opacity: u8, name: &[u8]| {
        let name = [&le_bytes(&[name.len() as u16])[..], name].concat();
        let head = le_bytes(&[1, 0, 0, 0, 0, 0]);
        chunk(0x2004, &[&head[..], &[opacity, 0, 0, 0], &name].concat())
    };
    let cel = |layer: u16, kind: u16, rest: &[u8]| {
        let head = [le_bytes(&[layer, 0, 0]), vec![255], le_bytes(&[kind, 0]), vec![0; 5]].concat();
        chunk(0x2005, &[&head[..], rest].concat())
    };
    let texels = &TEXELS[..usize::from(depth / 4)];
    let raw = [&le_bytes(&[2, 1])[..], texels].concat();
    let tag = [&le_bytes(&[1])[..], &[0; 8], &le_bytes(&[0, 1]), &[1], &le_bytes(&[0]), &[0; 10]];
    let tag = [&tag.concat()[..], &le_bytes(&[2]), b"go"].concat();
    let palette = [
        &[2u8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0][..],
        &[0; 8],
        &[0, 0, 9, 9, 9, 255, 0, 0, 255, 0, 0, 255],
    ];
    let first = [
        chunk(0x2019, &palette.concat()),
        layer(255, b"low"),
        layer(128, b"high"),
        cel(0, 0, &raw),
        cel(1, 0, &raw),
        chunk(0x2018, &tag),
    ];
    let frame = |milliseconds: u16, chunks: &[u8], count: u16| {
        let size = (chunks.len() as u32 + 16).to_le_bytes();
        let head = le_bytes(&[0xf1fa, count, milliseconds, 0, 0, 0]);
        [&size[..], &head, chunks].concat()
    };
    let mut head = vec![0; 128];
    head[4..14].copy_from_slice(&le_bytes(&[0xa5e0, 2, 2, 1, depth]));
    head[14] = 1;
    [head, frame(70, &first.concat(), 6), frame(30, &cel(0, 1, &le_bytes(&[0])), 1)].concat()
}

/// Returns an executable for Windows with one section of 512 bytes, which is loaded at 4096.
fn program_of_windows() -> Vec<u8> {
    const OPTIONAL: usize = 88;
    const SECTION: usize = OPTIONAL + 240;
    let mut bytes = vec![0; 1024];
    let fields = [
        (0x3c, 64u32),
        (64, u32::from_le_bytes(*b"PE\0\0")),
        (68, 0x1_8664),
        (84, 240),
        (OPTIONAL, 0x20b),
        (OPTIONAL + 32, 4096),
        (OPTIONAL + 36, 512),
        (OPTIONAL + 56, 8192),
        (OPTIONAL + 60, 512),
        (OPTIONAL + 108, 16),
        (SECTION + 8, 100),
        (SECTION + 12, 4096),
        (SECTION + 16, 512),
        (SECTION + 20, 512),
    ];
    bytes[..2].copy_from_slice(b"MZ");
    for (at, word) in fields {
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Returns inputs of the targets that read no resources.
pub fn other_seeds(target: &str) -> Vec<Vec<u8>> {
    let texts: &[&str] = match target {
        "file.bundle" => return vec![bundle()],
        "file.executable" => return vec![program_of_windows()],
        "file.index" => return vec![CompiledGame::shared().small_index().to_bytes()],
        "file.recording" => return vec![recording()],
        "file.replay" => return replays::recordings(),
        "file.save" => return serialized::values().iter().map(|value| save(value)).collect(),
        "file.saved_value" => return serialized::values(),
        // Their seeds are in the corpus.
        "content.merge" | "content.references" => return Vec::new(),
        "stream.draco" | "stream.meshopt" => return models::seeds(target),
        "sound.stream" => return super::used_of("sound"),
        "file.recorded_input" => return inputs(),
        "tool.bytes" => return connections(),
        "api.calls" => return calls(),
        "reload.script" => return reloads(),
        "text.json" => return [super::sources_of("json"), json()].concat(),
        "text.script" => return super::sources_of("lua"),
        "text.settings" => {
            return super::files_of("sjson").into_iter().map(|(_, bytes)| bytes).collect();
        }
        "sjson.parse" | "sjson.edit" => {
            let files = ["config", "unit", "json", "particles", "sound"].map(super::sources_of);
            let prefix: &[u8] = if target == "sjson.edit" { b"\x29\x31" } else { b"" };
            return files.concat().iter().map(|text| [prefix, text].concat()).collect();
        }
        "text.glob" => &["**/*.png\na/b/c.png", "a*b?c\naxxbyc", "**\nx", "a/**/b\na/c/d/b"],
        "text.pattern" => &[
            "^(%w+)%s*=%s*(.-)$\nkey = value",
            "%b()%f[%a](a*)%1\n(x(y)) aaaa",
            "[^%]%-a-z]*x?()\n]]abc",
        ],
        "text.names" => &["units/hero.unit\nen\nfr.noblood", "a.b.c\nlinux\nwindows.en", "../x\n"],
        "broker.requests" => &REQUESTS,
        "file.large_font" => &[PAGES, PAGES_XML],
        "file.session" => &[
            r#"{"version":1,"port":4000,"token":"0f1e2d","process":77,"page":"http://127.0.0.1"}"#,
        ],
        "file.tool_addresses" => &["{\"addresses\":[{\"folder\":\"/a\",\"port\":20001,\"token\":\
             \"0f1e2d3c4b5a69780f1e2d3c4b5a6978\",\"created\":1}]}"],
        "text.pads" => &[PAD],
        "file.user_settings" => &["suite = { volume = 0.75 }\nname = \"x\"\nlist = [1, [2], {}]"],
        "tool.messages" => &MESSAGES,
        "text.message" => &[
            "{\"type\":\"status\",\"id\":1}",
            r#"{"type":"eval","id":"x","text":"return \u00e9\ud83e\udd80","n":-1.5e3}"#,
        ],
        "text.layout" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            for text in [
                "Hello {#color(255,0,0)}red{#reset()} world",
                "office\n\u{0410}\u{0644}\u{0633}\u{0644}\u{0627}\u{0645} \u{05e9}\u{05dc} 12",
                "\u{0928}\u{092e}\u{0938}\u{094d}\u{0924}\u{0947} \u{1f468}\u{200d}\u{1f469}",
                "a\u{202e}b\u{2067}c\u{2069}d\u{0301}\u{0302}\u{200b}\u{00ad}\t\r\n",
            ] {
                all.push([&[8, 40, 1, 1, 1, 3], text.as_bytes()].concat());
                all.push([&[30, 0, 0, 0, 0, 0], text.as_bytes()].concat());
            }
            return all;
        }
        _ => panic!("{target} has no seeds: add them"),
    };
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn bundle() -> Vec<u8> {
    let compiled_game = CompiledGame::shared();
    let mut index = compiled_game.small_index();
    // The resources that a package names would have to exist, too.
    index.entries.retain(|entry| entry.resource.kind != "package");
    let out = scratch("seeds").join("x.bundle");
    let making = BundleOptions {
        index: &index,
        data: &compiled_game.data,
        kinds: KINDS,
        platform: platform::NAME,
        game: "game",
        settings: "name = \"game\"",
        keeps_path: |name| name.kind == "lua",
        is_stopped: || false,
    };
    bundle_writer::write_bundle(&making, &out, &|_, _| ()).expect("a bundle is made");
    fs::read(out).expect("it is there")
}

fn recording() -> Vec<u8> {
    let origin = RecordingOrigin {
        game: "game".to_string(),
        game_version: "1.0".to_string(),
        engine_version: env!("CARGO_PKG_VERSION").to_string(),
        content: 7,
        seed: 3,
        boot: "main".to_string(),
        display: true,
        input: FrameInput::default(),
        arguments: vec!["a".to_string()],
    };
    let note = ObjectDifference { system: 0, object: 4, hash: 9 };
    let frame = || RecordedFrame {
        measured: 0.016,
        input: FrameInput::default(),
        hashes: std::array::from_fn(|at| at as u64),
        changes: vec![note],
    };
    let saves = [("auto.1.save".to_string(), save(&[1]))].into();
    let initial_saves = InitialSaves { saves, user_settings: Some(b"loud = true".to_vec()) };
    let frames = vec![frame(), frame()];
    let recording = Recording {
        origin,
        frames,
        frames_with_changes: 2,
        initial_saves,
        failure: None,
        old: false,
    };
    let path = scratch("seeds").join("x.recording");
    recording.write(&path).expect("a recording is written");
    reframed(&fs::read(path).expect("it is there"))
}

fn save(content: &[u8]) -> Vec<u8> {
    let mut saves = Saves::in_memory(Default::default(), "1.2");
    let slot = SaveSlot::new("auto").expect("a good name");
    saves.write(&slot, content, 5.0, NewerVersions::Any).expect("memory can be written to");
    let files = saves.files(1 << 20).expect("memory can be read").expect("they are small");
    files.into_values().next().expect("one was written")
}

/// Returns JSON texts with every type of value.
fn json() -> Vec<Vec<u8>> {
    let texts = [
        r#"{"a":[1,-0.5e-3,1e308,12345678901234567890,[],{}],"b":null,"c":true,"d":{"e":false}}"#,
        r#"["\u00e9\ud83e\udd80\n\"\\","é",{"":1,"a":2,"a":3},[[[[0]]]]]"#,
        " [ 1e2147483648 , 4.9e-324, -0 ]\r\n\t",
        "\"text\"",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Returns a WebSocket request followed by frames, and other requests.
fn connections() -> Vec<Vec<u8>> {
    let lines = [
        "GET /connection?token=TOKEN HTTP/1.1",
        "Host: 127.0.0.1:PORT",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "\r\n",
    ];
    let head = lines.join("\r\n");
    let frame = |first: u8, text: &str| {
        let masked = text.bytes().zip([1, 2, 3, 4].into_iter().cycle()).map(|(a, b)| a ^ b);
        let mut bytes = vec![first, 0x80 | text.len() as u8, 1, 2, 3, 4];
        bytes.extend(masked);
        bytes
    };
    let message = frame(0x81, "{\"type\":\"status\",\"id\":1}");
    let pieces = [frame(0x01, "{\"type\":"), frame(0x89, "ping"), frame(0x80, "1}")].concat();
    let end = frame(0x88, "\u{3}\u{e8}");
    vec![
        [head.as_bytes(), &message, &end].concat(),
        [head.as_bytes(), &pieces, &frame(0x82, "binary")].concat(),
        b"GET /?token=TOKEN HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n\r\n".to_vec(),
    ]
}

/// Returns events of devices and changes of the window, in frames.
fn inputs() -> Vec<Vec<u8>> {
    let event = |kind: EventKind| InputEvent { device: KEYBOARD, age: 0.004, kind };
    let typed = vec![
        event(EventKind::Button { button: 3, value: 1.0, repeat: false }),
        event(EventKind::Text("ß".to_string())),
        event(EventKind::Compose { text: "か".to_string(), cursor: Some((0, 3)) }),
        event(EventKind::Label { button: 3, text: "Ö".to_string() }),
        event(EventKind::Reset),
    ];
    let pads = (0..8).map(|device| InputEvent {
        device: DeviceId(device),
        age: 0.0,
        kind: EventKind::Connected { name: "Pad".to_string(), motors: 2 },
    });
    let changes = vec![
        WindowChange::Resized { width: 300, height: 400 },
        WindowChange::Scale(1.5),
        WindowChange::Focus(false),
        WindowChange::Cursor { x: -1.5, y: 20.0 },
        WindowChange::Dropped("a/b.png".to_string()),
        WindowChange::Of(7, Box::new(WindowChange::Close)),
    ];
    let frames = [
        FrameInput { events: typed, changes: Vec::new() },
        FrameInput { events: pads.collect(), changes },
    ];
    let mut writer = BlobWriter::default();
    writer.list(&frames, |writer, input| input.write(writer));
    vec![writer.finish()]
}

/// Returns programs of calls: bytes of a simple generator.
fn calls() -> Vec<Vec<u8>> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..12).map(|_| (0..600).map(|_| next()).collect()).collect()
}

/// Returns scripts before and after an edit.
fn reloads() -> Vec<Vec<u8>> {
    let pair =
        |before: &str, after: &str| [before.as_bytes(), SEPARATOR, after.as_bytes()].concat();
    vec![
        pair(
            "local count = 0\nlocal M = {}\nfunction M.step() count = count + 1 end\nreturn M\n",
            "local count = 0\nlocal step = 2\nlocal M = {}\nfunction M.step() count = count + step \
             end\nreturn M\n",
        ),
        pair(
            "local M = { list = { 1, 2 }, own = { deep = {} } }\nM.own.self = M\n\
             local co = coroutine.create(function() while true do coroutine.yield(M) end end)\n\
             function M.step() coroutine.resume(co) end\nreturn M\n",
            "local M = setmetatable({ list = { 1 }, own = {} }, { __index = { x = 1 } })\n\
             local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)\n\
             function M.step() pcall(co) end\nreturn M\n",
        ),
        pair(
            "local a, b, c = 1, 'x', Vector3(1, 2, 3)\nif a > 0 then function thing() return b end \
             end\nreturn { step = function() a = a + 1 return a, c end }\n",
            "local a, b = 2\nfor i = 1, 2 do b = i end\nreturn { step = function() return b end }",
        ),
        pair("return {", "return 1"),
        pair(
            "local base = class('Base')\nfunction base:step() self.n = 1 end\nreturn base\n",
            "local base = class('Base')\nfunction base:go() end\nreturn base\n",
        ),
    ]
}
