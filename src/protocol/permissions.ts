/*
 * Who may do what: the one table. Every route of the gateway names its permission; `mayOrder` says who has it, and
 * docs/access.md prints it. Imports nothing.
 */

/** What each permission allows, for people. */
export const PERMISSIONS = {
  view: 'list, show and wait for flows; list events and callbacks, without what may be personal; ask who one is',
  'read-metrics': 'read `/metrics`',
  start: "start flows, by `/flows/{kind}` and by the service's own paths; get quotes; hand a card in",
  'read-service':
    'read what the service answered to a flow, and its own records through its own paths: they may be personal',
  cancel: 'cancel a flow before its money moves',
  pay: 'have the invoice of a flow paid',
  'give-refund-invoice': 'give the Lightning invoice that a refund goes to',
  'approve-quote': 'approve the quote that a flow waits with',
  resolve: 'decide a parked flow',
  withdraw: 'take back an order that waits for a second person: their own, or one that they may give themselves',
  'read-event': 'read the body of an event, which may be personal',
  'replay-event': 'deliver an event again, and vouch for it',
  'resend-callback': 'have a callback sent again',
  'callback-secret':
    'read the secret that signs the callbacks about the flows of their own name; an admin: of any name',
  codec: "decode what Temporal's histories hold",
  encode:
    'seal what another Temporal client sends to flows: with that, and access to the namespace, one can tell a flow anything',
  'read-audit': 'read the audit log',
  give: 'give a flow to another name',
  erase: 'erase what persons and the service said about a flow that has ended',
  'close-claims': 'close the claims of a flow that Temporal does not have any more, or that was terminated',
  account: 'make accounts, keys and webhooks at the service',
} as const satisfies Readonly<Record<string, string>>;
export type Permission = keyof typeof PERMISSIONS;

export const ROLES = ['viewer', 'flows', 'approver', 'operator', 'auditor', 'admin'] as const;
export type Role = (typeof ROLES)[number];
/** Of one name: a role, or several joined by a plus, such as `flows+approver`. */
export type Roles = Role | `${Role}+${string}`;

/** Sets, not a ladder: who decides parked flows starts none, and who reads the audit log orders nothing. */
export const PERMISSIONS_OF: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['view', 'read-metrics'],
  flows: [
    'view',
    'start',
    'read-service',
    'cancel',
    'pay',
    'give-refund-invoice',
    'approve-quote',
    'withdraw',
    'callback-secret',
  ],
  approver: ['view', 'approve-quote', 'withdraw'],
  operator: [
    'view',
    'read-metrics',
    'read-service',
    'cancel',
    'resolve',
    'withdraw',
    'read-event',
    'replay-event',
    'resend-callback',
    'codec',
  ],
  auditor: ['view', 'read-metrics', 'read-service', 'read-event', 'codec', 'read-audit'],
  admin: Object.keys(PERMISSIONS) as Permission[],
};

/** The roles that see and order the flows of their own name alone; the others all flows. */
export const OWN_ALONE: readonly Role[] = ['flows'];

/** The roles of a name, in the order of the table. @returns undefined if a word is no role */
export function readRoles(text: string): Roles | undefined {
  const words = text.split('+');
  if (!words.every((word) => ROLES.some((role) => role === word))) return undefined;
  return joinRoles(words as Role[]);
}

/** @returns undefined for none */
export const joinRoles = (roles: readonly Role[]): Roles | undefined =>
  roles.length === 0 ? undefined : (ROLES.filter((role) => roles.includes(role)).join('+') as Roles);

export const rolesIn = (roles: Roles): readonly Role[] => roles.split('+') as Role[];

/** The roles with this permission. */
export const rolesWith = (permission: Permission): readonly Role[] =>
  ROLES.filter((role) => PERMISSIONS_OF[role].includes(permission));

/** What these roles allow, in the order of the table. */
export const permissionsOf = (roles: Roles): Permission[] =>
  (Object.keys(PERMISSIONS) as Permission[]).filter((permission) =>
    rolesIn(roles).some((role) => PERMISSIONS_OF[role].includes(permission)),
  );
