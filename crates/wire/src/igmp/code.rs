//! Times as codes of eight bits (RFC 3376, 4.1.1 and 4.1.7): below 128 the number itself, above a mantissa of four bits
//! and an exponent of three.

/// The number that a code stands for.
pub const fn of_code(code: u8) -> u16 {
    if code < 128 {
        return code as u16;
    }
    ((code & 0x0f) as u16 | 0x10) << (((code >> 4) & 7) + 3)
}

/// The code of the greatest number that is not above this one.
pub const fn to_code(number: u16) -> u8 {
    if number < 128 {
        return number as u8;
    }
    let bits = 15 - number.leading_zeros() as u8;
    let exponent = bits - 7;
    if exponent > 7 {
        return u8::MAX;
    }
    let mantissa = (number >> (exponent + 3)) as u8 & 0x0f;
    0x80 | exponent << 4 | mantissa
}
