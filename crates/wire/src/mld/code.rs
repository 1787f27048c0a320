//! Response times as codes of 16 bits (RFC 3810, 5.1.3): below 32,768 the number itself, above a mantissa of twelve
//! bits and an exponent of three.

const LINEAR: u32 = 1 << 15;

/// The number that a code stands for.
pub const fn of_code(code: u16) -> u32 {
    let code = code as u32;
    if code < LINEAR {
        return code;
    }
    ((code & 0x0fff) | 0x1000) << (((code >> 12) & 7) + 3)
}

/// The code of the greatest number that is not above this one.
pub const fn to_code(number: u32) -> u16 {
    if number < LINEAR {
        return number as u16;
    }
    let bits = 31 - number.leading_zeros();
    let exponent = bits - 15;
    if exponent > 7 {
        return u16::MAX;
    }
    let mantissa = (number >> (exponent + 3)) & 0x0fff;
    (LINEAR | exponent << 12 | mantissa) as u16
}
