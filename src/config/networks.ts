import { BlockList, isIP, isIPv4 } from 'node:net';
import { z } from 'zod';

/** Addresses, as sockets and headers report them. */
export interface NetworkList {
  readonly cidrs: readonly string[];
  includes(address: string): boolean;
  /** An address is in both. */
  overlaps(other: NetworkList): boolean;
}

/** IPv4 addresses of sockets that listen on IPv6 too. */
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

/** Some proxies report the port, too, which is another one with each connection. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([\da-f:.]+)\])(?::\d+)?$/i;

/** An address as sockets and headers report it, without a port. */
export function withoutPort(address: string): string {
  const [, v4, v6] = WITH_PORT.exec(address) ?? [];
  return v4 ?? v6 ?? address;
}

function createNetworkList(cidrs: readonly string[]): NetworkList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    list.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  const own: NetworkList = {
    cidrs,
    includes(address) {
      const bare = withoutPort(address).replace(MAPPED, '');
      const family = isIP(bare);
      return family !== 0 && list.check(bare, family === 4 ? 'ipv4' : 'ipv6');
    },
    // Of two networks that overlap, one contains the first address of the other.
    overlaps: (other) => hasOneOf(own, other) || hasOneOf(other, own),
  };
  return own;
}

const hasOneOf = (list: NetworkList, { cidrs }: NetworkList): boolean =>
  cidrs.some((cidr) => list.includes(cidr.split('/')[0] ?? ''));

/** All IPv4 addresses as IPv6 writes them. */
const MAPPED_BASE = '::ffff:0.0.0.0';
const ALL_MAPPED = new BlockList();
ALL_MAPPED.addSubnet(MAPPED_BASE, 96, 'ipv6');

/** A network of IPv6 that has addresses of IPv4: what is short in one is long in the other, so that 96 bits are everybody. */
function hasMapped(address: string, bits: number): boolean {
  const own = new BlockList();
  own.addSubnet(address, bits, 'ipv6');
  return ALL_MAPPED.check(address, 'ipv6') || own.check(MAPPED_BASE, 'ipv6');
}

const isCidr = (text: string): boolean => {
  const match = /^([0-9A-Fa-f:.]{2,45})(?:\/(\d{1,3}))?$/.exec(text);
  const family = isIP(match?.[1] ?? '');
  const bits = match?.[2];
  const most = family === 4 ? 32 : 128;
  const length = Number(bits ?? most);
  // A prefix of 0 bits would trust every address.
  if (family === 0 || length < 1 || length > most) return false;
  return family === 4 || !hasMapped(match?.[1] ?? '', length);
};

/** `SETTLEMENT_NETWORKS`, `TRUSTED_PROXIES`: comma-separated addresses or CIDRs. */
export const networks = () =>
  z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine(
      (entries) => entries.every(isCidr),
      'must be a comma-separated list of networks such as 203.0.113.0/24 or 2001:db8::/32, those of IPv4 as IPv4',
    )
    .transform(createNetworkList);
