//! Changes of the policy file: a look at what a change does, then the change. The page carries the hash of
//! the file that it shows. A file that changed meanwhile is not written.

mod change_form; // what a form asks for: an entry for a crawler, or the text of a section
pub(super) mod preview; // the differences, and the button that applies them
