/** A wallet's address, to be compared: the case of hexadecimal digits is a checksum that not everybody writes. */
export function addressFact(address: string): string {
  return /^0x[0-9a-f]+$/i.test(address) ? address.toLowerCase() : address;
}
