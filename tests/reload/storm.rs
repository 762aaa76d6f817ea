//! Storms of edits, valid and broken: nothing is lost, and memory stays flat.
