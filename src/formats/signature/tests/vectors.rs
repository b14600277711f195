//! Requests that another implementation signed (Python's cryptography), so that Beadle is not only
//! tested against itself. The Ed25519 key's private half is thirty-two sevens.

pub(super) const ED25519_X: &str = "6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw";
pub(super) const ED25519_THUMBPRINT: &str = "--6IM5l0OosLj9yWskISYhUA3n_3CURQkmrYMSha_ck";
/// The directory's content is the set of the Ed25519 key alone, as `directory_of` writes it.
pub(super) const DIRECTORY_DIGEST: &str = "C9h2ZTbweBg1Osr32ZOG0uMbHAw1kJqfO8hspKOWISU=";
pub(super) const DIRECTORY_SIGNATURE: &str =
    "//xXe/rAXIrxLUQ7mnrq+xvKPPbhTh0cjI0OxgyiwsPVl/feHdLB2zDy8pCN7vsxuAunV6ALU8ktMi/xO/1hCg==";
pub(super) const ED25519_SIGNATURE: &str =
    "e8pubvW7sq4R/i9P41VeABtDYuT2t6PNXsKfi4OjCcSFabll81mZNT0zzOavk4YMxvCY7O709jIuWfFLRdFJDg==";

pub(super) const RSA_N: &str = "vPayMC-POAmMO0aK4mORTzW1vUHP2kEcVFJMVfk_9uqkqT1fiGizF46uVryUoRkcPiBPOTMuTaeLLfbKgDSHSRYFekAyhxNGnUIFsg_MwYyW0gx05ZqJroj_Z-Mrm6yAcSMnyLFEMlb27PKBbk8Rv-DixwkEFu2c_dhW9jQr3Ht7JPzcZ3rs4pI5xuM2fDiNW95znkZ42mLEs-gHBMeoMonsOmTEB950HFBa229bItONjzjMFpr0SUIBeaUvTTGFSobi2oJK1Qnr7YCPJV-fywi0a0x7E3HFux9YnpC3Irrw8x82ND3lmUg2P763dMXd2GsuF8jWkT0_yzS-DG6L6w";
pub(super) const RSA_THUMBPRINT: &str = "mh994LfOPcDwsTyxWtf0TLj2PgJEk1EfVjLACBlFDEQ";
pub(super) const RSA_SIGNATURE: &str = "MKo0QFv36HYt3Er4q+hPZH0clE1MmDZFjPkzCWKs7J5MqLMf+rZ0bPvw8Qeqi3ubAOabGqX9ITeWDX/I4AhqgnaLILPG8xWi8fFdsS3+ZX/L5a1qk12MVjmBLap4OwiWmRDqDslyMeEhyU5V78Jj5CRUJbfxtx5DWaJf/VPhShJvVJHmd1OQokI8cV7ZD0p/oRBcAM5MjmdTTlNp/jQ9l32X1e3Obu/ZaHXLtoqsdaxkki2qpb1gvi0UCX8RtZKAu8laznjrlTS7PFpUqHSlqfEz1uB9L12jy6X5BWKsN4fiUHBGJcAPb//UnbG6ZYy2i+M3rzArU6EGBbQkdV0kKg==";
