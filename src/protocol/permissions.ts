/*
 * Who may do what: the one table. Every route of the gateway names its permission, and takes its role from here;
 * docs/access.md prints it. Imports nothing.
 */

/** Each role has all permissions of the roles before it. */
export const ROLES = ['viewer', 'flows', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const mayActAs = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

export interface PermissionLine {
  /** The least role. */
  readonly role: Role;
  /** What it allows, for people. */
  readonly may: string;
}

export const PERMISSIONS = {
  view: {
    role: 'viewer',
    may: 'list, show and wait for flows; list events and callbacks, without what may be personal; ask who one is',
  },
  'read-metrics': { role: 'viewer', may: 'read `/metrics`' },
  start: {
    role: 'flows',
    may: "start flows, by `/flows/{kind}` and by the service's own paths; get quotes; hand a card in",
  },
  'read-service': {
    role: 'flows',
    may: 'read what the service answered to a flow, and its own records through its own paths: they may be personal',
  },
  cancel: { role: 'flows', may: 'cancel a flow before its money moves' },
  pay: { role: 'flows', may: 'have the invoice of a flow paid' },
  'give-refund-invoice': { role: 'flows', may: 'give the Lightning invoice that a refund goes to' },
  'approve-quote': { role: 'flows', may: 'approve the quote that a flow waits with' },
  resolve: { role: 'operator', may: 'decide a parked flow' },
  withdraw: {
    role: 'flows',
    may: 'take back an order that waits for a second person: their own, or one that they may give themselves',
  },
  'read-event': { role: 'operator', may: 'read the body of an event, which may be personal' },
  'replay-event': { role: 'operator', may: 'deliver an event again, and vouch for it' },
  'resend-callback': { role: 'operator', may: 'have a callback sent again' },
  codec: { role: 'operator', may: "decode what Temporal's histories hold, and encode" },
  'read-audit': { role: 'admin', may: 'read the audit log' },
  erase: { role: 'admin', may: 'erase what persons and the service said about a flow that has ended' },
  account: { role: 'admin', may: 'make accounts, keys and webhooks at the service' },
} as const satisfies Readonly<Record<string, PermissionLine>>;
export type Permission = keyof typeof PERMISSIONS;

/** What a role allows. */
export const permissionsOf = (role: Role): Permission[] =>
  (Object.keys(PERMISSIONS) as Permission[]).filter((name) => mayActAs(role, PERMISSIONS[name].role));
