#![no_main]

#[path = "../checks/forms.rs"]
mod forms;
mod support {
    #[path = "../../../tests/support/origin_models.rs"]
    pub(crate) mod origin_models;
}

libfuzzer_sys::fuzz_target!(|octets: &[u8]| forms::holds_for(octets));
