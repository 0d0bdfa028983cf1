import {
  createActivities,
  createCallbackActivities,
  createCardActivities,
  type ActivityDeps,
} from '../../activities/index.js';
import { operations } from '../../src/contract/index.js';
import {
  callbackIdOf,
  END_REASONS,
  EVENTS_SIGNAL,
  FLOW_KINDS,
  FLOW_QUERY,
  flowIdOf,
  FLOW_STATES,
  PARK_ACTIONS,
  SEARCH_ATTRIBUTES,
  TASK_QUEUE,
  UPDATES,
  refundReferenceOf,
} from '../../src/protocol/vocabulary.js';
import { QUEUES, taskQueueOf } from '../../src/protocol/task-queues.js';
import { ENCRYPTED } from '../../src/temporal/payload-codec.js';
import { PLAINTEXT, UNDECODABLE } from '../../src/protocol/plaintext-marker.js';
import * as workflows from '../../workflows/index.js';
import * as messages from '../../workflows/engine/messages.js';

/** Names that outlive a deployment, by what they name. */
export type Names = Readonly<Record<NameSort, readonly string[]>>;
export type NameSort = keyof typeof LOST_WITH;

/** What a flow, a caller or a record loses when a name of this sort is gone. `…` is the name. */
export const LOST_WITH = {
  'workflow types': 'running flows of the type … could not be continued by any worker',
  'activity names': 'flows that are about to call … would wait for it for ever, and histories with it would not replay',
  signals: 'events sent to running flows as … would not be heard',
  queries: 'gateway, CLI and people could not look at running flows by …',
  updates: 'orders given to running flows as … would be refused',
  'task queues': 'flows started on … would find no worker',
  'search attributes': 'flows that set … would fail their tasks, and listings would miss them',
  'flow kinds': 'flow ids that begin with …/ would belong to nobody: their events unmatched, their claims unknown',
  'flow ids': 'a repeated start would begin a second flow beside the running one, whose id is …',
  'flow states': 'closed and parked flows that are listed as … would be found no more',
  'park reasons': 'flows parked for … could not be shown or decided',
  'park actions': 'a person could no longer order …, which parked flows show as legal',
  'end reasons': 'callers that tell ends apart by the failure type … would not know it any more',
  'callback ids': 'a running delivery of callbacks, …, would not be found, and a second one would tell the same caller',
  patches: 'histories with the marker … would not replay',
  operations: 'claims of … would not be found, and what was sent could be sent again',
  'refund references': 'claims of refunds under … would not be found, and a refund could be sent again',
  'payload encodings': 'payloads marked … in running histories could not be read',
} as const;

/** The names of this version, from the code itself. */
export function presentNames(): Names {
  const defined = (type: string) =>
    Object.values(messages)
      .filter((message) => message.type === type)
      .map(({ name }) => name);
  return {
    'workflow types': Object.keys(workflows),
    // None is called here: their names need no dependencies.
    'activity names': Object.keys({
      ...createActivities(nothing),
      ...createCallbackActivities(nothing),
      ...createCardActivities(nothing, nothing as never),
    }),
    signals: [...new Set([EVENTS_SIGNAL, ...defined('signal')])],
    queries: [...new Set([FLOW_QUERY, ...defined('query')])],
    updates: [...new Set([...Object.values(UPDATES), ...defined('update')])],
    'task queues': QUEUES.map((queue) => taskQueueOf(TASK_QUEUE, queue)),
    'search attributes': Object.keys(SEARCH_ATTRIBUTES),
    'flow kinds': FLOW_KINDS,
    'flow ids': FLOW_KINDS.map((kind) => flowIdOf(kind, 'a-reference')),
    'flow states': FLOW_STATES,
    'park reasons': Object.keys(PARK_ACTIONS),
    'park actions': Object.entries(PARK_ACTIONS).flatMap(([reason, actions]) =>
      actions.map((action) => `${reason}: ${action}`),
    ),
    'end reasons': END_REASONS,
    operations: Object.keys(operations),
    'callback ids': [callbackIdOf(flowIdOf('bridge-transfer', 'a-reference'))],
    patches: [],
    'refund references': [refundReferenceOf('a-reference')],
    'payload encodings': [ENCRYPTED, PLAINTEXT, UNDECODABLE],
  };
}

/** Has every member, and every member is the same empty proxy: enough to create activities that are never called. */
const nothing = new Proxy({}, { get: (_, member) => (member === 'then' ? undefined : nothing) }) as ActivityDeps;
