import ipaddr from 'ipaddr.js';

/** To whom callbacks may go. */
export interface EgressPolicy {
  /** `CALLBACK_ALLOW_LOOPBACK`: this very machine, also over http. For development. */
  readonly allowLoopback: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Global unicast: what lies outside of it is local, reserved, or an old form of something local. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * What is wrong with sending to this address, for a person; undefined where it may be sent to. Addresses that carry an
 * IPv4 address are judged by that one.
 */
export function addressProblem(text: string, protocol: string, policy: EgressPolicy): string | undefined {
  const address = parsed(text);
  if (address === undefined) return 'is no address';
  const range = rangeOf(address);
  if (range === 'loopback') return policy.allowLoopback ? undefined : 'is on this machine (CALLBACK_ALLOW_LOOPBACK)';
  if (range !== 'unicast') return `is not a public address (${range})`;
  return protocol === 'https:' ? undefined : 'needs https';
}

function rangeOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.range();
  const carried = carriedIPv4(address);
  if (carried !== undefined) return carried.range();
  const range = address.range();
  if (range === 'loopback') return range;
  return range === 'unicast' && !address.match(GLOBAL_UNICAST) ? 'reserved' : range;
}

/** Of IPv4-mapped addresses, and of those that NAT64 leads back to IPv4. */
function carriedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const range = address.range();
  if (range !== 'ipv4Mapped' && range !== 'rfc6052') return undefined;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/** Only the usual spellings: what a resolver or the URL parser gives. An address with a zone is local by its nature. */
function parsed(text: string): Address | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare);
  if (!bare.includes(':') || bare.includes('%') || !ipaddr.IPv6.isValid(bare)) return undefined;
  return ipaddr.IPv6.parse(bare);
}
