import { z } from 'zod';
import { isLoopback } from '../protocol/loopback.js';
import { ROLES, type Role } from '../protocol/permissions.js';
import type { SettingGroup, ValuesOf } from './table/setting.js';

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

const algorithms = () =>
  list().refine(
    (entries) => entries.every((entry) => ALGORITHMS.includes(entry)),
    `must be of ${ALGORITHMS.join(', ')}`,
  );

export const OIDC = {
  issuer: {
    name: 'OIDC_ISSUER',
    schema: issuer().optional(),
    sentence:
      'an OpenID Connect issuer whose tokens callers may send [in the place of a gateway ' +
      'token](access.md#people-of-an-oidc-issuer), exactly as its tokens name it: `https`, unless it is on this machine',
  },
  audiences: {
    name: 'OIDC_AUDIENCE',
    schema: list().optional(),
    sentence:
      "the audience that a token of the issuer must have: the gateway's own name at the issuer. After it, " +
      'comma-separated, the ids of clients that people log in by: tokens that were given to them are taken, and tokens ' +
      'for them, such as id tokens of the Temporal UI, may only decode. Required with `OIDC_ISSUER`',
  },
  nameClaim: {
    name: 'OIDC_NAME_CLAIM',
    schema: lastingClaim().optional(),
    derived: '`sub`',
    sentence:
      "the claim that identifies a person: the same for all clients of the issuer, never another person's, and none " +
      'that changes (`email`, `preferred_username` and the like are refused). Required if the issuer gives a person a ' +
      'different `sub` for each client, as Entra ID does: `oid`',
  },
  roleClaim: {
    name: 'OIDC_ROLE_CLAIM',
    schema: claim().prefault(OWN_CLAIM),
    sentence:
      'the claim that contains the role, as a word or a list of words, whose roles all count; dots separate the parts ' +
      'of a path: `realm_access.roles`',
  },
  roles: {
    name: 'OIDC_ROLES',
    schema: roleMap().optional(),
    derived: 'the names of the roles',
    sentence:
      "pairs of the claim's value and the role, comma-separated: `payments-oncall=operator,payments-lead=admin`. " +
      'Required outside of development if the claim is another one than `towline_role`: its `admin` may be another ' +
      "application's",
  },
  algorithms: {
    name: 'OIDC_ALGORITHMS',
    schema: algorithms().default(DEFAULT_ALGORITHMS),
    derived: '`RS256`, `PS256`, `ES256`, `EdDSA`, `Ed25519`',
    sentence: 'accepted signature algorithms, comma-separated; never those with a shared secret',
  },
} satisfies SettingGroup;

/**
 * Undefined without `OIDC_ISSUER`.
 * @param isGiven whether a setting has a text; one that is wrong has a problem of its own
 */
export function oidcOf(
  { issuer, audiences, nameClaim, roleClaim, roles, algorithms }: ValuesOf<typeof OIDC>,
  development: boolean,
  { isGiven, problem }: { readonly isGiven: (name: string) => boolean; readonly problem: (sentence: string) => void },
): OidcSettings | undefined {
  if (issuer === undefined) {
    if (audiences !== undefined && !isGiven('OIDC_ISSUER')) {
      problem('OIDC_ISSUER is missing, without which OIDC_AUDIENCE means nothing.');
    }
    return undefined;
  }
  if (audiences === undefined) {
    if (!isGiven('OIDC_AUDIENCE')) {
      problem('OIDC_AUDIENCE is missing: without it a token that the issuer gave for another application would do.');
    }
    return undefined;
  }
  if (roles === undefined && roleClaim !== OWN_CLAIM && !development && !isGiven('OIDC_ROLES')) {
    problem(
      `OIDC_ROLES is missing: the words of ${roleClaim} may be roles of other applications, and its "admin" another one's.`,
    );
  }
  return {
    issuer,
    audiences,
    nameClaim,
    roleClaim,
    roles: roles ?? new Map(ROLES.map((role) => [role, role])),
    algorithms,
  };
}
