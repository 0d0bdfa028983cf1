import { isIP } from 'node:net';
import { addressProblem, type EgressPolicy } from './address-policy.js';

/** Names that lead to this machine by definition, with the dot of a full name or without. */
const LOCAL_NAME = /(^|\.)localhost\.?$/;

/**
 * What is wrong with a callback URL as far as it can be told without asking anybody, as the end of a sentence that never
 * repeats the URL; undefined where nothing is. The URL parser has brought every spelling of an address into one form.
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

export const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

function withSubject(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `leads to an address that ${problem}`;
}
