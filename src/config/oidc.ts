import { z } from 'zod';
import { isLoopback } from '../protocol/loopback.js';
import { ROLES, type Role } from '../protocol/permissions.js';
import type { SettingReader } from './setting-schemas.js';

/** An issuer of tokens whose bearers may call the gateway. */
export interface OidcSettings {
  /** Exactly as in its tokens. */
  readonly issuer: string;
  /**
   * Each token must be for the first of these; to decode what Temporal holds, any of them suffices. A token that names
   * the client it was given to must name one of them.
   */
  readonly audiences: readonly string[];
  /** The claim with a person's name. Undefined: `sub`, if the issuer gives the same one to all of its clients. */
  readonly nameClaim: string | undefined;
  /** Path of the claim that contains the role, its parts separated by dots. */
  readonly roleClaim: string;
  /** Value of the claim → role. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly algorithms: readonly string[];
}

/** Signatures that only the issuer can make: an HMAC could be made by everyone who has the key to verify it. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const DEFAULT_ALGORITHMS: readonly string[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** A trailing slash is part of an issuer's name. */
const issuer = () =>
  z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an https URL')
    .refine((text) => !/[?#]/.test(text), 'must not have a query or fragment')
    .refine((text) => !URL.canParse(text) || isTrustedUrl(new URL(text)), 'must begin with https');

/** Content from there comes from that host, and from no one else. */
export const isTrustedUrl = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopback(hostname);

const list = () =>
  z
    .string()
    .transform((text): readonly string[] => text.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every((entry) => /^[\x21-\x7e]{1,300}$/.test(entry)), 'must be comma-separated names');

const claim = () => z.string().regex(/^[^\s.]+(\.[^\s.]+)*$/, 'must be a claim, or a path of them with dots');

/**
 * What a person can change at the issuer, or an administrator for them: then one person would be two, or somebody else,
 * who owns that one's flows and confirms that one's orders.
 */
const CHANGEABLE = [
  'email',
  'family_name',
  'given_name',
  'name',
  'nickname',
  'phone_number',
  'preferred_username',
  'unique_name',
  'upn',
];
const lastingClaim = () =>
  claim().refine(
    (name) => !CHANGEABLE.includes(name.toLowerCase()),
    'must be a claim that never changes, such as sub or oid: by another one person could become two, or somebody else',
  );

const roleMap = () =>
  z.string().transform((text, context): ReadonlyMap<string, Role> => {
    const roles = new Map<string, Role>();
    for (const [index, entry] of text.split(',').entries()) {
      const at = entry.lastIndexOf('=');
      const [word, role] = [entry.slice(0, at).trim(), ROLES.find((one) => one === entry.slice(at + 1).trim())];
      if (at < 1 || word === '' || role === undefined) {
        context.addIssue(
          `must be comma-separated word=role with a role of ${ROLES.join(', ')}, and its entry ${index + 1} is not`,
        );
      } else roles.set(word, role);
    }
    return roles;
  });

/** The claim that only we have a use for: its words are our roles. */
const OWN_CLAIM = 'towline_role';

/** Undefined without `OIDC_ISSUER`. */
export function readOidc({ read, problem }: SettingReader, development: boolean): OidcSettings | undefined {
  const given = read('OIDC_ISSUER', issuer().optional());
  const audiences = read('OIDC_AUDIENCE', list().optional());
  const roleClaim = read('OIDC_ROLE_CLAIM', claim(), OWN_CLAIM);
  const nameClaim = read('OIDC_NAME_CLAIM', lastingClaim().optional());
  const named = read('OIDC_ROLES', roleMap().optional());
  const algorithms = read(
    'OIDC_ALGORITHMS',
    list()
      .refine((entries) => entries.every((entry) => ALGORITHMS.includes(entry)), `must be of ${ALGORITHMS.join(', ')}`)
      .optional(),
  );
  // One that is wrong has a problem of its own.
  const isMissing = (name: string) => read(name, z.string().optional()) === undefined;
  if (given === undefined) {
    if (audiences !== undefined && isMissing('OIDC_ISSUER')) {
      problem('OIDC_ISSUER is missing, without which OIDC_AUDIENCE means nothing.');
    }
    return undefined;
  }
  if (audiences === undefined) {
    if (isMissing('OIDC_AUDIENCE')) {
      problem('OIDC_AUDIENCE is missing: without it a token that the issuer gave for another application would do.');
    }
    return undefined;
  }
  if (named === undefined && roleClaim !== OWN_CLAIM && !development && isMissing('OIDC_ROLES')) {
    problem(
      `OIDC_ROLES is missing: the words of ${roleClaim} may be roles of other applications, and its "admin" another one's.`,
    );
  }
  return {
    issuer: given,
    audiences,
    nameClaim,
    roleClaim,
    roles: named ?? new Map(ROLES.map((role) => [role, role])),
    algorithms: algorithms ?? DEFAULT_ALGORITHMS,
  };
}
