//! The rows of the table of messages that are about the files of the game's folder: who uses what,
//! and the differences between versions.

use super::drawings;
use super::message_table::{FieldType, MessageRow, optional, required};
use super::references::{self, DEPTH_MAX, NODES_MAX, ROWS_MAX};
use super::versions::{self, CHANGED_MAX};

/// All messages about files.
pub static MESSAGES: &[MessageRow] = &[
    MessageRow {
        name: "references",
        doc: "Returns the neighbourhood of a resource or file in the graph of references: what it \
              uses and what uses it, step by step.",
        fields: &[
            required("name", FieldType::Text, "with its kind: units/barrel.unit; or a path"),
            optional("uses", FieldType::Integer(0, DEPTH_MAX), "steps to what it uses [1]"),
            optional("used_by", FieldType::Integer(0, DEPTH_MAX), "steps to what uses it [1]"),
            optional("kind", FieldType::Text, "only this kind, or file, and the way to them"),
            optional("text", FieldType::Text, "only those whose name contains it, likewise"),
            optional("max", FieldType::Integer(1, NODES_MAX), "maximum number of nodes [80]"),
        ],
        answer: "name, files, nodes (name, kind, bytes, uses, used_by, unused, cycle, missing, \
                 steps: negative for those that use it, selected), arrows (from and to: indices of \
                 nodes, count, certainty, file, line), left_out, arrows_left_out, all_uses and \
                 all_used_by (count and bytes, also indirectly), cycle (names), missing (name, \
                 kind, near, file, line, by)",
        run: references::neighbourhood,
    },
    MessageRow {
        name: "reference_list",
        doc: "Lists resources and files with their numbers of uses, missing names, or cycles.",
        fields: &[
            optional(
                "list",
                FieldType::Text,
                "all, missing, unused, cycles or shared (the most used first) [all]",
            ),
            optional("kind", FieldType::Text, "only this kind, or file"),
            optional("text", FieldType::Text, "only those whose name contains it"),
            optional("first", FieldType::Integer(0, 1 << 24), "number of rows to skip [0]"),
            optional("max", FieldType::Integer(1, ROWS_MAX), "maximum number of rows [200]"),
        ],
        answer: "list, first, count (of all that match), bytes, kinds (name, count), totals, \
                 problems, rows: as the nodes of references, or for missing names name, kind, \
                 file, line, by, or for cycles cycle, count, bytes, names",
        run: references::list,
    },
    MessageRow {
        name: "changed_files",
        doc: "Lists the files that have changed since the mark. The first question sets the mark.",
        fields: &[
            optional("mark", FieldType::Boolean, "true to set the mark now [false]"),
            optional("text", FieldType::Text, "only files whose path contains it"),
            optional("first", FieldType::Integer(0, 1 << 24), "number of files to skip [0]"),
            optional("max", FieldType::Integer(1, CHANGED_MAX), "maximum number of files [200]"),
        ],
        answer: "marked (milliseconds since 1970), files and bytes (of the mark), \
                 without_content (number of files that the mark only names), first, count, rows \
                 (path, change: added, changed or removed, bytes, kept)",
        run: versions::changed_files,
    },
    MessageRow {
        name: "difference",
        doc: "Returns the differences between two versions of a file, or between two files: by \
              path, by lines, or as pictures.",
        fields: &[
            required("path", FieldType::Text, "of a file in the game's folder"),
            optional("new", FieldType::Text, "its version: disk, mark, or open in tools [disk]"),
            optional("old", FieldType::Text, "the version that it is compared with [mark]"),
            optional("with", FieldType::Text, "another file for the old version"),
        ],
        answer: "path, with, form (data, text, picture or bytes), changes (path, kind, old, new, \
                 line), left_out, notes, old_picture and new_picture (width, height, png), texels \
                 that differ (count, largest, png), graph (SVG), draws (true if draw_difference \
                 has pictures of it)",
        run: versions::difference,
    },
    MessageRow {
        name: "draw_difference",
        doc: "Returns pictures of two versions of a unit, a level or a material, which the client \
              of draw_offer draws.",
        fields: &[
            required("path", FieldType::Text, "of a file in the game's folder"),
            optional("new", FieldType::Text, "its version: disk, mark, or open in tools [disk]"),
            optional("old", FieldType::Text, "the version that it is compared with [mark]"),
        ],
        answer: "old_picture and new_picture (width, height, png), texels that differ (count, \
                 largest, png), notes",
        run: versions::draw_difference,
    },
    MessageRow {
        name: "draw_offer",
        doc: "Offers to draw: the client receives messages of type draw (number, path, old and \
              new: files in base64), one after the other.",
        fields: &[],
        answer: "nothing",
        run: drawings::offer,
    },
    MessageRow {
        name: "drawn",
        doc: "Sends a part of the answer to a message of type draw. The last part is end.",
        fields: &[
            required("number", FieldType::Integer(0, 1 << 53), "of the message"),
            required("part", FieldType::Text, "old, new, texels or end"),
            optional("png", FieldType::Text, "a PNG file in base64"),
            optional("width", FieldType::Integer(0, 1 << 16), "of the whole picture"),
            optional("height", FieldType::Integer(0, 1 << 16), "of the whole picture"),
            optional("count", FieldType::Integer(0, 1 << 53), "of texels that differ"),
            optional("largest", FieldType::Integer(0, 255), "difference of a channel"),
            optional("notes", FieldType::Text, "of the end: a line for each missing picture"),
        ],
        answer: "nothing",
        run: drawings::drawn,
    },
];
