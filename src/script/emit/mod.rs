//! What is made of the rows for people and editors.
