//! Faults of the engine while it works on one resource: an error that names the resource, so that
//! one broken file costs that file and nothing else.

use super::name::ResourceName;
use crate::foundation::{Error, fault};

/// Works on a resource. A panic comes back as an error that names it, which still counts as a fault
/// of the engine; so does one that the work caught itself.
///
/// # Errors
/// Those of the work, or that it panicked.
pub fn contain<T>(
    resource: &ResourceName,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    contain_words(&|| format!("the {} '{}'", resource.kind, resource.name), work)
}

/// The same of something that is called by words.
///
/// # Errors
/// Those of the work, or that it panicked.
pub fn contain_words<T>(
    what: &dyn Fn() -> String,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    fault::contain(work).flatten().map_err(|error| named(what, error))
}

/// An error that names the resource if it is a fault that names none.
pub fn named(what: &dyn Fn() -> String, error: Error) -> Error {
    if !error.is_fault || !error.message.contains(UNNAMED) {
        return error;
    }
    Error { message: words(&what(), &error), ..error }
}

/// How a fault's words begin that name no resource.
const UNNAMED: &str = "the engine failed: ";

/// The words for a panic while something was worked on.
pub fn words(what: &str, error: &Error) -> String {
    let cause = error.message.split_once(UNNAMED).map_or(&error.message[..], |(_, cause)| cause);
    format!("the engine failed at {what}: {cause}: export the file anew, and report this")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_names_the_resource_that_it_was_about() {
        let bird = ResourceName::new("sound", "birds/big");
        assert_eq!(contain(&bird, || Ok(1)), Ok(1));
        assert_eq!(contain::<()>(&bird, || Err(Error::new("no"))).unwrap_err().message, "no");
        let error = contain::<()>(&bird, || panic!("no beak")).unwrap_err();
        assert!(error.is_fault);
        let start = "the engine failed at the sound 'birds/big': no beak";
        assert!(error.message.starts_with(start), "{error}");
        assert!(error.message.ends_with(": export the file anew, and report this"), "{error}");
        // One that was caught on the way is named, too, and once.
        let caught = contain::<()>(&bird, || fault::contain(|| panic!("no beak")));
        assert!(caught.unwrap_err().message.starts_with(start));
        let inner = contain::<()>(&ResourceName::new("unit", "nest"), || Err(error.clone()));
        assert_eq!(inner.unwrap_err(), error);
    }
}
