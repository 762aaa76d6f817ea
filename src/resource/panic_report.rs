//! Containment of engine faults during work on one resource. The error names the resource, and one
//! broken file affects no other file.

use super::resource_name::ResourceName;
use engine_foundation::{Error, panic};

/// Runs work on a resource. A panic becomes an error that names the resource and still counts as a
/// fault of the engine. The same holds for a fault that the work caught itself.
///
/// # Errors
/// Returns the error of the work, or an error if the work panicked.
pub fn contain<T>(
    resource: &ResourceName,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    contain_described(&|| format!("the {} '{}'", resource.kind, resource.name), work)
}

/// Runs work on an item that `describe` describes, as [`contain`] does.
///
/// # Errors
/// Returns the error of the work, or an error if the work panicked.
pub fn contain_described<T>(
    describe: &dyn Fn() -> String,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    panic::contain(work).flatten().map_err(|error| name_resource(describe, error))
}

/// Adds the resource's name to an error that is a fault without a name. Returns other errors
/// unchanged.
pub fn name_resource(describe: &dyn Fn() -> String, error: Error) -> Error {
    if !error.is_engine_fault || !error.message.contains(UNNAMED) {
        return error;
    }
    Error { message: panic_message(&describe(), &error), ..error }
}

/// Beginning of a fault's message that names no resource.
const UNNAMED: &str = "the engine failed: ";

/// Returns the message for a panic during the work that `description` names.
pub fn panic_message(description: &str, error: &Error) -> String {
    let cause = error.message.split_once(UNNAMED).map_or(&error.message[..], |(_, cause)| cause);
    format!("the engine failed at {description}: {cause}: export the file again, and report this")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_report_names_the_resource() {
        let bird = ResourceName::new("sound", "birds/big");
        assert_eq!(contain(&bird, || Ok(1)), Ok(1));
        assert_eq!(contain::<()>(&bird, || Err(Error::new("no"))).unwrap_err().message, "no");
        let error = contain::<()>(&bird, || panic!("no beak")).unwrap_err();
        assert!(error.is_engine_fault);
        let start = "the engine failed at the sound 'birds/big': no beak";
        assert!(error.message.starts_with(start), "{error}");
        assert!(error.message.ends_with(": export the file again, and report this"), "{error}");
        // A fault that was caught earlier is named, too, and only once.
        let caught = contain::<()>(&bird, || panic::contain(|| panic!("no beak")));
        assert!(caught.unwrap_err().message.starts_with(start));
        let inner = contain::<()>(&ResourceName::new("unit", "nest"), || Err(error.clone()));
        assert_eq!(inner.unwrap_err(), error);
    }
}
