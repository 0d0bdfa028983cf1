import { BlockList, isIP, isIPv4 } from 'node:net';
import { z } from 'zod';

/** Addresses, as sockets and headers report them. */
export interface NetworkList {
  readonly cidrs: readonly string[];
  includes(address: string): boolean;
}

/** IPv4 addresses of sockets that listen on IPv6 too. */
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

function createNetworkList(cidrs: readonly string[]): NetworkList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    list.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return {
    cidrs,
    includes(address) {
      const bare = address.replace(MAPPED, '');
      const family = isIP(bare);
      return family !== 0 && list.check(bare, family === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

const isCidr = (text: string): boolean => {
  const match = /^([0-9A-Fa-f:.]{2,45})(?:\/(\d{1,3}))?$/.exec(text);
  const family = isIP(match?.[1] ?? '');
  const bits = match?.[2];
  // A prefix of 0 bits would trust everybody.
  return family !== 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128)));
};

/** `SETTLEMENT_NETWORKS`, `TRUSTED_PROXIES`: comma-separated addresses or CIDRs. */
export const networks = () =>
  z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every(isCidr), 'must be a comma-separated list of networks such as 203.0.113.0/24')
    .transform(createNetworkList);
