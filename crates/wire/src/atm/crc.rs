//! The two cyclic redundancy checks of ATM: eight bits over a cell header, 32 over a PDU of AAL5.

/// x^8 + x^2 + x + 1.
const POLYNOMIAL_8: u8 = 0x07;
/// Added to the remainder, so that cells are found in a stream of zeros, too.
const COSET: u8 = 0x55;
/// The generator of CRC-32, the highest power left out.
const POLYNOMIAL_32: u32 = 0x04c1_1db7;
/// What is left of a PDU with its right CRC, before the complement.
const RESIDUE: u32 = 0xc704_dd7b;

const TABLE_8: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u8;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 0x80 == 0 { value << 1 } else { value << 1 ^ POLYNOMIAL_8 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

const TABLE_32: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = (index as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            value = if value >> 31 == 0 { value << 1 } else { value << 1 ^ POLYNOMIAL_32 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

/// The remainder of four header bytes, without the coset.
pub(super) const fn remainder(header: [u8; 4]) -> u8 {
    let mut value = 0;
    let mut at = 0;
    while at < 4 {
        value = TABLE_8[(value ^ header[at]) as usize];
        at += 1;
    }
    value
}

/// The fifth byte of a cell: header error control over the first four.
pub const fn hec(header: [u8; 4]) -> u8 {
    remainder(header) ^ COSET
}

/// The CRC-32 of AAL5, the highest bit of a byte first, over bytes that come in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Crc32 {
        Crc32(u32::MAX)
    }
}

impl Crc32 {
    /// Takes further bytes in.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 ^ TABLE_32[(self.0 >> 24 ^ u32::from(byte)) as usize];
        }
    }

    /// The field's value, if all bytes before it were taken in.
    pub const fn value(self) -> u32 {
        !self.0
    }

    /// Were all bytes, the field among them, received as they were sent?
    pub const fn is_right(self) -> bool {
        self.0 == RESIDUE
    }
}
