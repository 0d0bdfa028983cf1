/** Addresses that callbacks must not reach, by why. In the form that a resolver gives. */
export const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.254', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.254', '192.168.0.1', '192.168.255.255'],
  'link-local': ['169.254.0.1', '169.254.169.254', 'fe80::1', 'febf::1', 'fe80::a9fe:a9fe'],
  'unique-local': ['fc00::1', 'fd00::1', 'fd12:3456:789a::1', 'fdff:ffff::1'],
  'site-local': ['fec0::1', 'feff::1'],
  'carrier-grade NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.254'],
  multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1', 'ff05::c'],
  broadcast: ['255.255.255.255'],
  reserved: ['192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.1', '198.51.100.1', '203.0.113.7', '240.0.0.1'],
  documentation: ['2001:db8::1', '3fff::1'],
  mapped: ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::ffff:192.168.1.1'],
  compatible: ['::127.0.0.1', '::7f00:1', '::10.0.0.1'],
  translated: ['::ffff:0:127.0.0.1', '::ffff:0:a00:1'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::a00:1', '64:ff9b::169.254.169.254', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:c0a8:101::1', '2002:a9fe:a9fe::1'],
  Teredo: ['2001::7f00:1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  discard: ['100::1'],
  'segment routing': ['5f00::1'],
};

export const PUBLIC: readonly string[] = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.215.14',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '169.253.1.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82a::200e',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
];

const octetsOf = (address: string) => address.split('.').map(Number);
const octal = (octet: number) => `0${octet.toString(8)}`;
const hex = (octet: number) => `0x${octet.toString(16)}`;

/** Ways to write an IPv4 address in a URL, all of which the parsers of this world may take for it. */
export function spellingsOfIPv4(address: string): readonly string[] {
  const octets = octetsOf(address);
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  return [
    address,
    `${address}.`,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    octets.map(octal).join('.'),
    octets.map(hex).join('.'),
    `${a}.${b * 65_536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    [hex(a), b, octal(c), d].join('.'),
    address.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    address.replaceAll('.', '。'),
    address.replaceAll(/./g, (char) => `%${char.codePointAt(0)?.toString(16)}`),
    `[::ffff:${address}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
    `[0:0:0:0:0:ffff:${address}]`,
  ];
}

/** Ways to write an IPv6 address in a URL. */
export function spellingsOfIPv6(address: string): readonly string[] {
  return [`[${address}]`, `[${address.toUpperCase()}]`, `[${address}%25eth0]`, `[${address}%eth0]`, `[${address}%251]`];
}
