//! Operations as JSON: `["change_key", GUID, key, value]`, `["add_to_set", GUID, key, GUID]`,
//! `["remove_from_set", GUID, key, GUID]`. A reference is `{ "reference": GUID }`, a blob
//! `{ "blob": base64 }`, a set `{ "set": [GUID, …] }`. Opens no files and no connections.

use super::{Change, Guid, GuidSet, Model, Operation, VALUE_BYTES_MAX, Value};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

const CHANGE_KEY: &str = "change_key";
const ADD_TO_SET: &str = "add_to_set";
const REMOVE_FROM_SET: &str = "remove_from_set";

/// Returns an operation of a model as JSON.
pub fn operation_to_tree(model: &Model, operation: &Operation) -> SjsonTree {
    let (name, value) = match &operation.change {
        Change::Set(value) => (CHANGE_KEY, value_to_tree(value)),
        Change::Add(member) => (ADD_TO_SET, json::text(member.to_string())),
        Change::Remove(member) => (REMOVE_FROM_SET, json::text(member.to_string())),
    };
    SjsonTree::Array(vec![
        json::text(name),
        json::text(operation.object.to_string()),
        json::text(model.key_text(operation.key)),
        value,
    ])
}

/// Returns a value as JSON.
pub fn value_to_tree(value: &Value) -> SjsonTree {
    let guid = |guid: &Guid| json::text(guid.to_string());
    match value {
        Value::Null => SjsonTree::Null,
        Value::Bool(value) => SjsonTree::Bool(*value),
        Value::Number(value) => SjsonTree::Number(*value),
        Value::String(text) => json::text(&**text),
        Value::Blob(bytes) => json::object([("blob", json::text(json::base64(bytes)))]),
        Value::Reference(to) => json::object([("reference", guid(to))]),
        Value::Set(set) => {
            json::object([("set", SjsonTree::Array(set.iter().map(guid).collect()))])
        }
    }
}

/// Reads an operation for a model.
///
/// # Errors
/// Returns an error that says which part is wrong.
pub fn operation_from_tree(model: &mut Model, tree: &SjsonTree) -> Result<Operation, String> {
    let wanted = "an operation is [name, GUID, key, value]";
    let SjsonTree::Array(parts) = tree else { return Err(wanted.to_string()) };
    let [SjsonTree::String(name), object, SjsonTree::String(key), value] = &parts[..] else {
        return Err(wanted.to_string());
    };
    let object = guid(object)?;
    let change = match &name[..] {
        CHANGE_KEY => Change::Set(value_from_tree(value)?),
        ADD_TO_SET => Change::Add(guid(value)?),
        REMOVE_FROM_SET => Change::Remove(guid(value)?),
        _ => {
            return Err(format!(
                "there is no operation '{name}', only {CHANGE_KEY}, {ADD_TO_SET} and \
                 {REMOVE_FROM_SET}"
            ));
        }
    };
    Ok(Operation { object, key: model.key(key)?, change })
}

fn guid(tree: &SjsonTree) -> Result<Guid, String> {
    match tree {
        SjsonTree::String(text) => {
            Guid::parse(text).ok_or_else(|| format!("'{text}' is not a GUID"))
        }
        _ => Err("a GUID is a text".to_string()),
    }
}

/// Reads a value.
///
/// # Errors
/// Returns an error that says which part is wrong.
pub fn value_from_tree(tree: &SjsonTree) -> Result<Value, String> {
    match tree {
        SjsonTree::Null => Ok(Value::Null),
        SjsonTree::Bool(value) => Ok(Value::Bool(*value)),
        SjsonTree::Number(value) if value.is_finite() => Ok(Value::Number(*value)),
        SjsonTree::Number(value) => Err(format!("{value} is not a finite number")),
        SjsonTree::String(text) if text.len() <= VALUE_BYTES_MAX => {
            Ok(Value::String(text.as_str().into()))
        }
        SjsonTree::String(_) => {
            Err(format!("a text of more than {VALUE_BYTES_MAX} bytes (VALUE_BYTES_MAX)"))
        }
        SjsonTree::Array(_) => Err("a value is no list: lists are sets of objects".to_string()),
        SjsonTree::Object(entries) => match &entries[..] {
            [(name, to)] if name == "reference" => Ok(Value::Reference(guid(to)?)),
            [(name, SjsonTree::String(text))] if name == "blob" => {
                let bytes = json::bytes_of_base64(text).ok_or("a blob is not valid base64")?;
                match bytes.len() <= VALUE_BYTES_MAX {
                    true => Ok(Value::Blob(bytes.into())),
                    false => Err(format!(
                        "a blob of more than {VALUE_BYTES_MAX} bytes (VALUE_BYTES_MAX)"
                    )),
                }
            }
            [(name, SjsonTree::Array(members))] if name == "set" => {
                let set: GuidSet = members.iter().map(guid).collect::<Result<_, _>>()?;
                Ok(match set.is_empty() {
                    true => Value::Null,
                    false => Value::Set(Box::new(set)),
                })
            }
            _ => Err("an object as a value has one of reference, blob, set".to_string()),
        },
    }
}
