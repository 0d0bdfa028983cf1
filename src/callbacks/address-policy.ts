import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** To whom callbacks may go. */
export interface EgressPolicy {
  /** `CALLBACK_ALLOW_LOOPBACK`: callbacks may go to this machine, also over http. For development. */
  readonly allowLoopback: boolean;
  /** Addresses of private networks, over https: for URLs that the operator has set. @default false */
  readonly allowPrivate?: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Global unicast: an address outside of it is local, reserved, or an old form of a local one. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Why this address must not be sent to, for a person; undefined if it may. An address that embeds an IPv4 address is
 * judged by that one.
 */
export function addressProblem(text: string, protocol: string, policy: EgressPolicy): string | undefined {
  const address = parsed(text);
  if (address === undefined) return 'is no address';
  const range = rangeOf(address);
  if (range === 'loopback') return policy.allowLoopback ? undefined : 'is on this machine (CALLBACK_ALLOW_LOOPBACK)';
  if (range !== 'unicast' && !(policy.allowPrivate === true && PRIVATE.includes(range)))
    return `is not a public address (${range})`;
  return protocol === 'https:' ? undefined : 'needs https';
}

/** Not link-local addresses, which belong to the machine's host: it serves its keys there. */
const PRIVATE: readonly string[] = ['private', 'uniqueLocal', 'carrierGradeNat'];

/** Public by its range, but a cloud's own: Azure serves its agents' settings there. */
const OF_THE_HOST = '168.63.129.16';
/** NAT64 of a network's own (RFC 8215): it leads wherever that network likes. */
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b:1::/48');

function rangeOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString() === OF_THE_HOST ? 'linkLocal' : address.range();
  if (address.match(LOCAL_NAT64) || isIsatap(address)) return 'reserved';
  const carried = carriedIPv4(address);
  if (carried !== undefined) return rangeOf(carried);
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

/** An interface identifier that carries an IPv4 address of a tunnel within a site (RFC 5214). */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [universal, marker] = address.parts.slice(4, 6);
  return (universal === 0 || universal === 0x0200) && marker === 0x5efe;
}

/** Accepts only the usual spellings, as a resolver or the URL parser gives them. An address with a zone is local. */
function parsed(text: string): Address | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare);
  if (!bare.includes(':') || bare.includes('%') || !ipaddr.IPv6.isValid(bare)) return undefined;
  return ipaddr.IPv6.parse(bare);
}

/** Names that lead to this machine by definition, with the dot of a full name or without. */
export const LOCAL_NAME = /(^|\.)localhost\.?$/;

/**
 * Why a callback URL is not allowed, as far as that can be judged without DNS, as the end of a sentence that never
 * repeats the URL; undefined if it is allowed. The URL parser has normalised every spelling of an address.
 */
export function callbackUrlProblem(text: string, policy: EgressPolicy): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  const { protocol, hostname, username, password } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https';
  if (username !== '' || password !== '') return 'must not carry a user or password';
  if (isIP(bare(hostname)) !== 0) return withSubject(addressProblem(hostname, protocol, policy));
  if (LOCAL_NAME.test(hostname)) return withSubject(addressProblem('127.0.0.1', protocol, policy));
  return protocol === 'https:' ? undefined : 'must begin with https';
}

const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

function withSubject(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `leads to an address that ${problem}`;
}
