//! Poses of glTF animations compared with those of a straightforward evaluator, which reads the
//! file, interpolates each sampler as the specification says (glTF 2.0, appendix C), and multiplies
//! matrices of 64-bit numbers. It shares no code with the importer, the compiler or the players.
//!
//! `ENGINE_REFERENCE_MODELS` names a folder with more models, such as Fox, BrainStem, CesiumMan and
//! MorphStressTest of the Khronos Group's samples. `ENGINE_REFERENCE_POSES` names a file that gets
//! the bones of the evaluator at five times of each model, for pictures.

use super::*;
use engine_animation::{ClipPlayer, ModelMatrix, Pose, model_matrices};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_models::import_animations;
use engine_resource::resource_kind::{CompileContext, SourceForm};
use std::path::{Path, PathBuf};

type Matrix = [[f64; 4]; 4];

/// A glTF file with its buffers.
struct Document {
    root: SjsonTree,
    buffers: Vec<Vec<u8>>,
}

fn list<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

fn number(tree: &SjsonTree, key: &str) -> Option<f64> {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => Some(*number),
        _ => None,
    }
}

fn index(tree: &SjsonTree, key: &str) -> Option<usize> {
    number(tree, key).map(|number| number as usize)
}

fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

fn numbers<const N: usize>(tree: &SjsonTree, key: &str, otherwise: [f64; N]) -> [f64; N] {
    let items = list(tree, key);
    std::array::from_fn(|at| match items.get(at) {
        Some(SjsonTree::Number(number)) => *number,
        _ => otherwise[at],
    })
}

fn decode_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes() {
        let Some(digit) = DIGITS.iter().position(|it| *it == letter) else { continue };
        (bits, count) = (bits << 6 | digit as u32, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

impl Document {
    fn read(path: &Path) -> Document {
        let file = std::fs::read(path).unwrap();
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let (text, chunk) = match file.starts_with(b"glTF") {
            true => {
                let length = word(12);
                let rest = file.get(28 + length..).unwrap_or_default().to_vec();
                (file[20..20 + length].to_vec(), rest)
            }
            false => (file.clone(), Vec::new()),
        };
        let root = json::read(std::str::from_utf8(&text).unwrap().trim_end()).unwrap();
        let buffer = |buffer: &SjsonTree| match self::text(buffer, "uri") {
            "" => chunk.clone(),
            uri => match uri.split_once(";base64,") {
                Some((_, data)) => decode_base64(data),
                None => std::fs::read(path.with_file_name(uri)).unwrap(),
            },
        };
        let buffers = list(&root, "buffers").iter().map(buffer).collect();
        Document { root, buffers }
    }

    /// Returns the numbers of an accessor. Whole numbers are normalized.
    fn accessor(&self, at: usize) -> Vec<f64> {
        let accessor = &list(&self.root, "accessors")[at];
        let kinds = [("SCALAR", 1), ("VEC2", 2), ("VEC3", 3), ("VEC4", 4), ("MAT4", 16)];
        let kind = kinds.iter().find(|(name, _)| *name == text(accessor, "type")).unwrap();
        let bytes = match index(accessor, "componentType").unwrap() {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        let view = &list(&self.root, "bufferViews")[index(accessor, "bufferView").unwrap()];
        let data = &self.buffers[index(view, "buffer").unwrap()];
        let start =
            index(view, "byteOffset").unwrap_or(0) + index(accessor, "byteOffset").unwrap_or(0);
        let stride = index(view, "byteStride").unwrap_or(bytes * kind.1);
        let mut found = Vec::new();
        for element in 0..index(accessor, "count").unwrap() {
            for component in 0..kind.1 {
                let at = start + element * stride + component * bytes;
                found.push(match index(accessor, "componentType").unwrap() {
                    5120 => (f64::from(data[at] as i8) / 127.0).max(-1.0),
                    5121 => f64::from(data[at]) / 255.0,
                    5122 => {
                        let value = i16::from_le_bytes([data[at], data[at + 1]]);
                        (f64::from(value) / 32767.0).max(-1.0)
                    }
                    5123 => f64::from(u16::from_le_bytes([data[at], data[at + 1]])) / 65535.0,
                    _ => f32::from_le_bytes(data[at..at + 4].try_into().unwrap()).into(),
                });
            }
        }
        found
    }

    /// Returns the whole numbers of an accessor.
    fn integers(&self, at: usize) -> Vec<usize> {
        let scale = match index(&list(&self.root, "accessors")[at], "componentType").unwrap() {
            5121 => 255.0,
            5123 => 65535.0,
            other => panic!("an accessor of type {other}"),
        };
        self.accessor(at).iter().map(|number| (number * scale).round() as usize).collect()
    }

    /// Returns the value of a sampler at a time.
    fn sample(&self, sampler: &SjsonTree, path: &str, time: f64) -> Vec<f64> {
        let times = self.accessor(index(sampler, "input").unwrap());
        let values = self.accessor(index(sampler, "output").unwrap());
        let is_cubic = text(sampler, "interpolation") == "CUBICSPLINE";
        let width = values.len() / times.len() / if is_cubic { 3 } else { 1 };
        let row = |key: usize, part: usize| -> Vec<f64> {
            let at = if is_cubic { key * 3 + part } else { key } * width;
            values[at..at + width].to_vec()
        };
        let next = times.partition_point(|key| *key <= time);
        if next == 0 || next == times.len() {
            return row(next.saturating_sub(1), 1);
        }
        let (before, length) = (next - 1, times[next] - times[next - 1]);
        let t = (time - times[before]) / length;
        match text(sampler, "interpolation") {
            "STEP" => row(before, 1),
            "CUBICSPLINE" => {
                let (a, out) = (row(before, 1), row(before, 2));
                let (b, into) = (row(next, 1), row(next, 0));
                let (t2, t3) = (t * t, t * t * t);
                let spline = |at: usize| {
                    (2.0 * t3 - 3.0 * t2 + 1.0) * a[at]
                        + length * (t3 - 2.0 * t2 + t) * out[at]
                        + (-2.0 * t3 + 3.0 * t2) * b[at]
                        + length * (t3 - t2) * into[at]
                };
                (0..width).map(spline).collect()
            }
            _ => mix(&row(before, 1), &row(next, 1), t, path == "rotation"),
        }
    }

    /// Returns the nodes of the scene, parents first, in the order of the file: that of the bones.
    fn order(&self) -> Vec<usize> {
        let scene = &list(&self.root, "scenes")[index(&self.root, "scene").unwrap_or(0)];
        let below = |tree: &SjsonTree, key: &str| -> Vec<usize> {
            let node = |item: &SjsonTree| match item {
                SjsonTree::Number(number) => *number as usize,
                _ => panic!("the number of a node"),
            };
            list(tree, key).iter().rev().map(node).collect()
        };
        let (mut waiting, mut order) = (below(scene, "nodes"), Vec::new());
        while let Some(node) = waiting.pop() {
            order.push(node);
            waiting.extend(below(&list(&self.root, "nodes")[node], "children"));
        }
        order
    }

    /// Returns the matrix of each node in the space of the scene, at a time of an animation.
    fn matrices(&self, animation: &SjsonTree, time: f64) -> Vec<Matrix> {
        let nodes = list(&self.root, "nodes");
        let mut locals: Vec<Matrix> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let mut position = numbers(node, "translation", [0.0; 3]);
            let mut rotation = numbers(node, "rotation", [0.0, 0.0, 0.0, 1.0]);
            let mut scale = numbers(node, "scale", [1.0; 3]);
            let mut is_animated = false;
            for channel in list(animation, "channels") {
                let target = channel.get("target").unwrap();
                if index(target, "node") != Some(at) || text(target, "path") == "weights" {
                    continue;
                }
                let path = text(target, "path");
                let sampler = index(channel, "sampler").unwrap();
                let value = self.sample(&list(animation, "samplers")[sampler], path, time);
                is_animated = true;
                match path {
                    "translation" => position = value.try_into().unwrap(),
                    "rotation" => rotation = value.try_into().unwrap(),
                    _ => scale = value.try_into().unwrap(),
                }
            }
            locals.push(match (node.get("matrix"), is_animated) {
                (Some(_), false) => {
                    let columns = numbers(node, "matrix", [0.0; 16]);
                    std::array::from_fn(|row| std::array::from_fn(|at| columns[at * 4 + row]))
                }
                _ => compose(position, rotation, scale),
            });
        }
        let mut parents = vec![None; nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            for child in list(node, "children") {
                let SjsonTree::Number(child) = child else { panic!("a number") };
                parents[*child as usize] = Some(at);
            }
        }
        let world = |at: usize| {
            let (mut matrix, mut next) = (locals[at], parents[at]);
            while let Some(parent) = next {
                (matrix, next) = (multiply(&locals[parent], &matrix), parents[parent]);
            }
            matrix
        };
        (0..nodes.len()).map(world).collect()
    }
}

/// Interpolates linearly, or, for rotations, spherically along the shorter arc.
fn mix(a: &[f64], b: &[f64], t: f64, is_rotation: bool) -> Vec<f64> {
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let angle = dot.abs().min(1.0).acos();
    let [from, to] = match is_rotation && angle > 1e-6 {
        true => [((1.0 - t) * angle).sin() / angle.sin(), (t * angle).sin() / angle.sin()],
        false => [1.0 - t, t],
    };
    let to = if is_rotation && dot < 0.0 { -to } else { to };
    a.iter().zip(b).map(|(a, b)| a * from + b * to).collect()
}

fn compose(position: [f64; 3], rotation: [f64; 4], scale: [f64; 3]) -> Matrix {
    let length = rotation.iter().map(|it| it * it).sum::<f64>().sqrt();
    let [x, y, z, w] = rotation.map(|it| it / length);
    let turn = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    let mut matrix = [[0.0, 0.0, 0.0, 1.0]; 4];
    for row in 0..3 {
        for column in 0..3 {
            matrix[row][column] = turn[row][column] * scale[column];
        }
        matrix[row][3] = position[row];
    }
    matrix
}

fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| (0..4).map(|at| a[row][at] * b[at][column]).sum())
    })
}

/// Returns a point in the axes of the engine: y up becomes z up.
fn converted([x, y, z]: [f64; 3]) -> [f64; 3] {
    [x, -z, y]
}

fn moved(matrix: &Matrix, [x, y, z]: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|row| {
        matrix[row][0] * x + matrix[row][1] * y + matrix[row][2] * z + matrix[row][3]
    })
}

/// Imports the nodes and animations of a file, as the engine does.
fn import(path: &Path) -> AnimatedModel {
    let folder = path.parent().unwrap().to_path_buf();
    let read = |name: &str| {
        let file = folder.join(name.trim_start_matches("models/"));
        std::fs::read(file).map_err(|error| error!("{name}: {error}"))
    };
    let stem = path.file_name().unwrap().to_str().unwrap();
    let name = ResourceName::new(kind_names::MODEL, "models/reference");
    let (form, bytes) = (SourceForm::Raw, std::fs::read(path).unwrap());
    let own = format!("models/{stem}");
    let mut compiling = CompileContext::new(name, own, form, bytes, false, &read);
    let mut data = import_animations(&mut compiling).unwrap();
    compile_clips(&mut data).unwrap();
    let name = "reference".to_string();
    AnimatedModel::read(&Model { name, data, meshes: vec![], materials: vec![] }).unwrap()
}

/// Offsets from a bone at which poses are compared, as parts of the size of the model.
const POINTS: [[f64; 3]; 2] = [[0.0; 3], [0.02, 0.03, -0.01]];
const TIMES: usize = 23;

/// Numbers of compared points and of weights of morph targets, and their largest differences: of
/// points as a part of the size of the model, the greatest distance of a node from the first one.
#[derive(Default)]
struct Comparison {
    points: usize,
    worst: f64,
    weights: usize,
    worst_weight: f64,
}

impl Comparison {
    /// Compares the weights of the morph targets that an animation moves.
    fn add_weights(
        &mut self,
        (document, animation, time): (&Document, &SjsonTree, f64),
        (model, bones): (&AnimatedModel, &[(usize, usize)]),
        player: &ClipPlayer,
    ) {
        let rest = MorphWeights::new(model).base;
        let mut found = Vec::new();
        player.sample_weights(&rest, &mut found);
        for channel in list(animation, "channels") {
            let target = channel.get("target").unwrap();
            if text(target, "path") != "weights" {
                continue;
            }
            let sampler = &list(animation, "samplers")[index(channel, "sampler").unwrap()];
            let wanted = document.sample(sampler, "weights", time);
            let is_target = |(node, _): &&(usize, usize)| Some(*node) == index(target, "node");
            let (_, bone) = bones.iter().find(is_target).unwrap();
            let morphs = model.morphs.iter().find(|it| usize::from(it.bone) == *bone).unwrap();
            assert_eq!(wanted.len(), morphs.rest.len());
            for (wanted, found) in wanted.iter().zip(&found[usize::from(morphs.first)..]) {
                let difference = (wanted - f64::from(*found)).abs();
                // The greater of a number and NaN is the number.
                assert!(difference.is_finite(), "weight {found}");
                self.worst_weight = self.worst_weight.max(difference);
                self.weights += 1;
            }
        }
    }
}

/// Compares all animations of a file.
fn compare(path: &Path) -> Comparison {
    let document = Document::read(path);
    let model = import(path);
    let bones: Vec<(usize, usize)> = document.order().into_iter().zip(0..).collect();
    assert_eq!(bones.len(), model.skeleton.bone_count(), "{}", path.display());
    let mut compared = Comparison::default();
    let animations = list(&document.root, "animations");
    assert_eq!(animations.len(), model.clips.len(), "{}", path.display());
    for (animation, named) in animations.iter().zip(&model.clips) {
        let clip = &named.clip;
        let rest = document.matrices(&SjsonTree::Null, 0.0);
        let origin = moved(&rest[0], [0.0; 3]);
        let apart = |matrix: &Matrix| distance(moved(matrix, [0.0; 3]), origin);
        let size = rest.iter().map(apart).fold(0.1, f64::max);
        let mut player = ClipPlayer::new(clip, &model.skeleton);
        let (mut pose, mut matrices): (Pose, Vec<ModelMatrix>) = Default::default();
        for step in 0..TIMES {
            let time = f64::from(clip.seconds) * step as f64 / (TIMES - 1) as f64;
            player.seek(clip, time as f32);
            player.sample(&model.rest, &mut pose);
            model_matrices(&model.skeleton, &pose, &mut matrices);
            compared.add_weights((&document, animation, time), (&model, &bones), &player);
            let wanted = document.matrices(animation, time);
            for (node, bone) in &bones {
                for point in POINTS {
                    let point = point.map(|part| part * size);
                    let expected = converted(moved(&wanted[*node], point));
                    let local = converted(point).map(|part| part as f32);
                    let found = matrices[*bone].transform_point(local).map(f64::from);
                    let difference = distance(expected, found) / size;
                    assert!(difference.is_finite(), "point {found:?} of bone {bone}");
                    compared.worst = compared.worst.max(difference);
                    compared.points += 1;
                }
            }
        }
    }
    compared
}

/// Parts of the length of an animation at which [`bone_lines`] returns poses.
const SHOWN_PARTS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

/// Number of triangles of a mesh with morph targets of which [`bone_lines`] shows one.
const SHOWN_TRIANGLES: usize = 16;

/// Returns the numbers of the edges of some triangles of a node's mesh, as morph targets change
/// them at a time of an animation.
fn morphed_edges(
    document: &Document,
    (animation, time): (&SjsonTree, f64),
    (node, matrix): (usize, &Matrix),
) -> Vec<f64> {
    let is_weights = |channel: &&SjsonTree| {
        let target = channel.get("target").unwrap();
        index(target, "node") == Some(node) && text(target, "path") == "weights"
    };
    let nodes = list(&document.root, "nodes");
    let mesh = index(&nodes[node], "mesh");
    let channel = list(animation, "channels").iter().find(is_weights);
    let (Some(mesh), Some(channel)) = (mesh, channel) else { return Vec::new() };
    let sampler = &list(animation, "samplers")[index(channel, "sampler").unwrap()];
    let weights = document.sample(sampler, "weights", time);
    let mut numbers = Vec::new();
    for primitive in list(&list(&document.root, "meshes")[mesh], "primitives") {
        let position = |tree: &SjsonTree| document.accessor(index(tree, "POSITION").unwrap());
        let mut points = position(primitive.get("attributes").unwrap());
        for (target, weight) in list(primitive, "targets").iter().zip(&weights) {
            let offsets = position(target);
            points.iter_mut().zip(offsets).for_each(|(point, offset)| *point += offset * weight);
        }
        let corners = document.integers(index(primitive, "indices").unwrap());
        for triangle in corners.chunks_exact(3).step_by(SHOWN_TRIANGLES) {
            let corner = |at: usize| {
                let at = triangle[at % 3] * 3;
                converted(moved(matrix, [points[at], points[at + 1], points[at + 2]]))
            };
            (0..3).for_each(|at| numbers.extend([corner(at), corner(at + 1)].as_flattened()));
        }
    }
    numbers
}

/// Returns the bones of a file as a table in Lua: for each of five times of the first animation, a
/// table with the time and the numbers of the lines from each node without a mesh to its parent,
/// and of edges of meshes with moving morph targets.
fn bone_lines(path: &Path) -> String {
    let document = Document::read(path);
    let Some(animation) = list(&document.root, "animations").first() else {
        return String::new();
    };
    let samplers = list(animation, "samplers");
    let times = samplers.iter().flat_map(|it| document.accessor(index(it, "input").unwrap()));
    let seconds = times.fold(0.0, f64::max);
    let nodes = list(&document.root, "nodes");
    let mut text = format!("[{:?}] = {{\n", path.file_stem().unwrap().to_str().unwrap());
    for part in SHOWN_PARTS {
        let time = part * seconds;
        let matrices = document.matrices(animation, time);
        text += &format!("  {{ time = {time}");
        for (at, node) in nodes.iter().enumerate() {
            for child in list(node, "children") {
                let SjsonTree::Number(child) = child else { panic!("a number") };
                let child = *child as usize;
                if nodes[child].get("mesh").is_none() {
                    let ends = [at, child].map(|it| converted(moved(&matrices[it], [0.0; 3])));
                    ends.as_flattened().iter().for_each(|it| text += &format!(", {it:.6}"));
                }
            }
            let edges = morphed_edges(&document, (animation, time), (at, &matrices[at]));
            edges.iter().for_each(|it| text += &format!(", {it:.6}"));
        }
        text += " },\n";
    }
    text + "},\n"
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Largest difference as a part of the model's size: with the errors of all bones above, each bone
/// is within 0.1 mm. Points are up to 3.7 % of the size away from it, where turns count more than
/// on the shell of 3 cm.
const DIFFERENCE_MAX: f64 = 4e-4;
/// Largest difference of weights of morph targets.
const WEIGHT_DIFFERENCE_MAX: f64 = 1e-3;

#[test]
fn poses_are_those_of_a_straightforward_evaluator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = ["column.gltf", "post.gltf", "face.gltf"];
    let own = own.iter().map(|name| root.join("tests/lua/models").join(name));
    let example = root.join("examples/plaza/models/figure.glb");
    let mut models: Vec<PathBuf> = own.chain([example]).collect();
    if let Some(folder) = std::env::var_os("ENGINE_REFERENCE_MODELS") {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_model = |path: &PathBuf| {
            path.extension().is_some_and(|ending| ending == "glb" || ending == "gltf")
        };
        models.extend(files.filter(is_model));
        models.sort();
    }
    // For pictures: the bones of this evaluator over those of the engine.
    if let Some(file) = std::env::var_os("ENGINE_REFERENCE_POSES") {
        let lines: String = models.iter().map(|path| bone_lines(path)).collect();
        std::fs::write(file, format!("return {{\n{lines}}}\n")).unwrap();
    }
    let (mut all, mut weights) = (0, 0);
    for path in models {
        let compared = compare(&path);
        println!(
            "{}: {} points, {:.1e} of the size; {} weights, {:.1e}",
            path.display(),
            compared.points,
            compared.worst,
            compared.weights,
            compared.worst_weight
        );
        assert!(compared.worst < DIFFERENCE_MAX, "{}: {}", path.display(), compared.worst);
        let worst = compared.worst_weight;
        assert!(worst < WEIGHT_DIFFERENCE_MAX, "{}: weights {worst}", path.display());
        (all, weights) = (all + compared.points, weights + compared.weights);
    }
    assert!(all > 10_000 && weights > 40, "{all} points, {weights} weights");
}
