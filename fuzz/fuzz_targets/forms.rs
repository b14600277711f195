#![no_main]

#[path = "../checks/forms.rs"]
mod forms;
#[path = "../../tests/support"]
mod support {
    pub(crate) mod origin_models;
}

libfuzzer_sys::fuzz_target!(|octets: &[u8]| forms::holds_for(octets));
