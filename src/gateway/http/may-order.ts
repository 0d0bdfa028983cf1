import { needsSecondPerson } from '../../flows/four-eyes.js';
import type { Money } from '../../flows/largest-amount.js';
import type { AuditMeans } from '../../protocol/audit.js';
import type { FourEyes } from '../../protocol/four-eyes.js';
import { OWN_ALONE, type Permission, PERMISSIONS_OF, rolesIn, type Roles } from '../../protocol/permissions.js';

/** Who calls: the token's name is the actor of every order. */
export interface Caller {
  readonly name: string;
  readonly role: Roles;
  /** How the caller was identified. */
  readonly means: AuditMeans;
}

/** Who asks to do what. */
export interface Question {
  readonly caller: Pick<Caller, 'name' | 'role'>;
  readonly permission: Permission;
  /** The flow that it is about. Absent: none yet. */
  readonly flow?: {
    /** The name that it belongs to. Null: it has no owner, or no such flow is known. */
    readonly owner: string | null;
  };
  /** An order that may need a second person. */
  readonly order?: {
    readonly action: string;
    /** Of the flow. None if they are not known: then it counts as above every limit. */
    readonly amounts?: readonly Money[] | undefined;
    readonly fourEyes: FourEyes;
    /** Who gave the same order first. */
    readonly proposedBy?: string;
    /** Who started the flow. */
    readonly starters?: readonly string[];
  };
}

export type Verdict =
  | 'yes'
  /** None of the caller's roles has the permission. */
  | 'no_permission'
  /** The flow is another name's: for this caller there is no such flow. */
  | 'not_theirs'
  /** It is a proposal until another person gives the same order. */
  | 'needs_second_person'
  /** The second person must not have started the flow. */
  | 'started_by_caller';

/**
 * Who may order: the one place that knows, for every route and every order. Permission, then owner, then second person
 * and amount.
 */
export function mayOrder({ caller, permission, flow, order }: Question): Verdict {
  const roles = rolesIn(caller.role).filter((role) => PERMISSIONS_OF[role].includes(permission));
  if (roles.length === 0) return 'no_permission';
  const isTheirs = flow === undefined || flow.owner === caller.name;
  if (!isTheirs && roles.every((role) => OWN_ALONE.includes(role))) return 'not_theirs';
  if (order === undefined || !needsSecondPerson(order.fourEyes, order.action, order.amounts)) return 'yes';
  if (order.proposedBy === undefined || order.proposedBy === caller.name) return 'needs_second_person';
  return order.starters?.includes(caller.name) === true ? 'started_by_caller' : 'yes';
}
