import { needsSecondPerson } from '../../flows/four-eyes.js';
import type { FourEyes } from '../../protocol/four-eyes.js';
import { type Permission, PERMISSIONS_OF, rolesIn, type Roles } from '../../protocol/permissions.js';

/** Who asks to do what. */
export interface Question {
  readonly caller: { readonly name: string; readonly role: Roles };
  readonly permission: Permission;
  /** An order that may need a second person. */
  readonly order?: {
    readonly action: string;
    /** Of the flow. Undefined if it is not known: then it counts as above every limit. */
    readonly money?: { readonly amount: string; readonly currency: string } | undefined;
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
  /** It is a proposal until another person gives the same order. */
  | 'needs_second_person'
  /** The second person must not have started the flow. */
  | 'started_by_caller';

/**
 * Who may order: the one place that knows, for every route and every order. Permission, then second person and amount.
 */
export function mayOrder({ caller, permission, order }: Question): Verdict {
  if (!rolesIn(caller.role).some((role) => PERMISSIONS_OF[role].includes(permission))) return 'no_permission';
  if (order === undefined || !needsSecondPerson(order.fourEyes, order.action, order.money)) return 'yes';
  if (order.proposedBy === undefined || order.proposedBy === caller.name) return 'needs_second_person';
  return order.starters?.includes(caller.name) === true ? 'started_by_caller' : 'yes';
}
