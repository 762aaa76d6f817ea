//! Faults of the engine while it works on one resource: an error that names the resource, so that
//! one broken file costs that file and nothing else.

use super::name::ResourceName;
use crate::foundation::{Error, fault};

/// Works on a resource. A panic comes back as an error, which still counts as a fault of the
/// engine.
///
/// # Errors
/// Those of the work, or that it panicked.
pub fn contain<T>(
    resource: &ResourceName,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    fault::contain(work).unwrap_or_else(|error| {
        let message = words(&format!("the {} '{}'", resource.kind, resource.name), &error);
        Err(Error { message, ..error })
    })
}

/// The words for a panic while something was worked on.
pub fn words(what: &str, error: &Error) -> String {
    let cause = error.message.strip_prefix("the engine failed: ").unwrap_or(&error.message);
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
    }
}
