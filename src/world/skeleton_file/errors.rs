//! Errors of a `.skeleton` file, which are reported together.

use engine_foundation::Error;
use engine_foundation::error::LISTED_MAX;
use std::cell::RefCell;

/// Errors in the order in which they were found. Readers go on after an error with a placeholder.
#[derive(Default)]
pub struct FileErrors(RefCell<Vec<Error>>);

impl FileErrors {
    /// Returns a value, and keeps an error.
    pub fn keep<T>(&self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.borrow_mut().push(error);
                None
            }
        }
    }

    pub fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// Returns true if no further error would be listed.
    pub fn is_full(&self) -> bool {
        self.count() > LISTED_MAX
    }

    /// Returns a result if there are no errors.
    ///
    /// # Errors
    /// Returns all errors as one, that of the result as the last.
    pub fn finish<T>(self, result: Result<T, Error>) -> Result<T, Error> {
        let value = self.keep(result);
        match Error::several(self.0.into_inner()) {
            Some(error) => Err(error),
            None => Ok(value.expect("without an error, there is a value")),
        }
    }
}
