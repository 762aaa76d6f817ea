//! The rows of the table of messages that are about data: sources that several tools edit at once.

use super::data;
use super::message_table::{FieldType, MessageField, MessageRow, optional, required};

const PATH: MessageField =
    required("path", FieldType::Text, "of a source in the game's folder: levels/yard.level");

/// All messages about data.
pub static MESSAGES: &[MessageRow] = &[
    MessageRow {
        name: "data_open",
        doc: "Opens a source as objects, and returns them with all changes that are not saved.",
        fields: &[PATH],
        answer: "path, sequence (number of operations so far), unsaved, on_disk (false if the file \
                 has changed since), root (GUID), objects (values by key, by GUID)",
        run: data::open,
    },
    MessageRow {
        name: "data_subscribe",
        doc: "Sends the operations on an open source as messages of type data: path, sequence \
              (number of the first), author (number of the client), reason, operations.",
        fields: &[PATH, optional("on", FieldType::Boolean, "false ends it [true]")],
        answer: "client (the own number), sequence",
        run: data::subscribe,
    },
    MessageRow {
        name: "data_operations",
        doc: "Applies operations to an open source, all or none. They are one step of undo.",
        fields: &[
            PATH,
            required(
                "operations",
                FieldType::Text,
                "JSON text: a list of [\"change_key\", GUID, key, value], [\"add_to_set\", GUID, \
                 key, GUID], [\"remove_from_set\", GUID, key, GUID]",
            ),
        ],
        answer: "sequence (number of the first), operations (how many)",
        run: data::operations,
    },
    MessageRow {
        name: "data_undo",
        doc: "Takes back the client's own last step.",
        fields: &[PATH],
        answer: "sequence, operations (0 if there is nothing to undo)",
        run: data::undo,
    },
    MessageRow {
        name: "data_redo",
        doc: "Does the step again that was undone last.",
        fields: &[PATH],
        answer: "sequence, operations (0 if there is nothing to do again)",
        run: data::redo,
    },
    MessageRow {
        name: "data_save",
        doc: "Saves a source, merged with the changes on disk since it was opened. The bytes of \
              values that have not changed stay.",
        fields: &[PATH, optional("resolve", FieldType::Text, "for conflicts: mine or disk")],
        answer: "saved, merged; or conflicts (path, kind, disk, mine), and nothing is saved",
        run: data::save,
    },
    MessageRow {
        name: "data_revert",
        doc: "Gives a source the values on disk. The client can undo this.",
        fields: &[PATH],
        answer: "sequence, operations",
        run: data::revert,
    },
    MessageRow {
        name: "data_check",
        doc: "Checks the references between the objects of a source.",
        fields: &[PATH],
        answer: "dangling (object, key, to), garbage (objects that nothing leads to)",
        run: data::check,
    },
];
