import { beforeAll, describe, expect, it } from '@jest/globals';
import proto from '@temporalio/proto';
import { createActivities, type ActivityDeps } from '../../activities/index.js';
import { END_REASONS, FLOW_KINDS, PARK_REASONS, parseFlowId } from '../../src/protocol/vocabulary.js';
import { installRuntime } from '../../src/temporal/sdk-logger.js';
import { activitiesOf, parkReasonsOf, readRecordings, type History, type Recording } from './histories.js';
import { replayed } from './replayed.js';
import { scenes } from './scenes.js';

const { EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED } = proto.temporal.api.enums.v1.EventType;

/** Of the child workflow `callbackDelivery`: test/callbacks replays it. */
const REPLAYED_ELSEWHERE = ['noteUndelivered', 'noteTriedAgain'];

describe('recorded histories', () => {
  let recordings: readonly Recording[] = [];
  beforeAll(async () => {
    installRuntime({ info() {}, warn() {}, error() {}, debug() {} });
    recordings = await readRecordings();
  });

  it('are one for each scene, two for those that continue as new', () => {
    const names = Object.keys(scenes).flatMap((name) =>
      name.endsWith('continued-as-new') ? [`${name}.run-1`, `${name}.run-2`] : [name],
    );
    expect(recordings.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  it('cover every kind, and call every activity', () => {
    expect(new Set(recordings.map(({ workflowId }) => parseFlowId(workflowId)?.kind))).toEqual(new Set(FLOW_KINDS));
    const called = new Set(recordings.flatMap(activitiesOf));
    const nothing = new Proxy({}, { get: (_, member) => (member === 'then' ? undefined : nothing) }) as ActivityDeps;
    const uncalled = Object.keys(createActivities(nothing)).filter((name) => !called.has(name));
    expect(uncalled).toEqual(REPLAYED_ELSEWHERE);
    expect(called).toContain('submitCardDeposit');
  });

  it('park for every reason that a worker reports, and end for every reason', () => {
    const parked = new Set<string>(recordings.flatMap(parkReasonsOf));
    // Of a flow that was terminated in the UI: only the gateway shows it.
    expect(PARK_REASONS.filter((reason) => !parked.has(reason))).toEqual(['terminated']);
    const ended = new Set(Object.values(scenes).map(({ reason }) => reason));
    expect(END_REASONS.filter((reason) => !ended.has(reason))).toEqual([]);
  });

  it('hold no name of the machine that recorded them', () => {
    const identities = recordings.flatMap(({ history }) => JSON.stringify(history).match(/"identity":"[^"]*"/g) ?? []);
    expect([...new Set(identities)]).toEqual(['"identity":"recorder"']);
  });
});

describe('the replay itself', () => {
  const changed = async (name: string, change: (history: History) => void) => {
    const recording = (await readRecordings()).find((candidate) => candidate.name === name);
    if (recording === undefined) throw new Error(`no recording ${name}`);
    change(recording.history);
    const [result] = await replayed([recording]);
    return result?.error?.name;
  };
  const deposit = (history: History) =>
    (history.events ?? [])
      .map((event) => event.activityTaskScheduledEventAttributes)
      .find((scheduled) => scheduled?.activityType?.name === 'submitBridgeDeposit');

  it('takes a history as it is', async () => {
    expect(await changed('completed', () => undefined)).toBeUndefined();
  });

  it('fails if one activity had another name', async () => {
    const error = await changed('completed', (history) => {
      const scheduled = deposit(history);
      if (scheduled) scheduled.activityType = { name: 'submitDeposit' };
    });
    expect(error).toBe('DeterminismViolationError');
  });

  it('fails if the flow had ended in another way', async () => {
    const error = await changed('completed', (history) => {
      const last = history.events?.at(-1);
      if (last === undefined) return;
      const { workflowTaskCompletedEventId } = last.workflowExecutionCompletedEventAttributes ?? {};
      last.workflowExecutionCompletedEventAttributes = null;
      last.workflowExecutionCanceledEventAttributes = {
        workflowTaskCompletedEventId: workflowTaskCompletedEventId ?? null,
      };
      last.eventType = EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED;
    });
    expect(error).toBe('DeterminismViolationError');
  });

  it('fails if the payloads cannot be decrypted', async () => {
    const error = await changed('completed', (history) => {
      for (const event of history.events ?? []) {
        const result = event.activityTaskCompletedEventAttributes?.result;
        if (result?.payloads?.[0]) result.payloads[0] = { metadata: {}, data: new Uint8Array(1) };
      }
    });
    expect(error).toBeDefined();
  });
});
