import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import { PARK_REASON_ATTRIBUTE } from '../../src/protocol/vocabulary.js';

/** `npm run record-histories` writes them. */
export const HISTORIES = fileURLToPath(new URL('./histories', import.meta.url));

const { History } = proto.temporal.api.history.v1;
export type History = proto.temporal.api.history.v1.IHistory;

/** One recorded run of one flow. */
export interface Recording {
  readonly name: string;
  readonly workflowId: string;
  readonly history: History;
}

/**
 * A history as JSON, an event a line. Uses the message's own reflection and not the SDK's `historyToJSON`: npm gives
 * that another copy of protobufjs than the messages come from, and it refuses them ("type must be a Type").
 */
export function historyToText(history: History): string {
  const json = History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String });
  const lines = (json['events'] as readonly unknown[]).map((event) => JSON.stringify(event));
  return `{"events":[\n${lines.join(',\n')}\n]}\n`;
}

export function historyFromJson(json: unknown): History {
  return History.fromObject(json as Record<string, unknown>);
}

export async function readRecordings(): Promise<readonly Recording[]> {
  const files = (await readdir(HISTORIES)).filter((file) => file.endsWith('.json')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const history = historyFromJson(JSON.parse(await readFile(join(HISTORIES, file), 'utf8')));
      const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
      return { name: file.replace('.json', ''), workflowId: started?.workflowId ?? 'unknown', history };
    }),
  );
}

/** Names of the activities that a history schedules. */
export function activitiesOf({ history }: Recording): readonly string[] {
  return (history.events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
}

const AS_JSON = new TextDecoder();

/** The reasons why a history shows its flow as parked, in its search attributes. */
export function parkReasonsOf({ history }: Recording): readonly string[] {
  return (history.events ?? []).flatMap(({ upsertWorkflowSearchAttributesEventAttributes: shown }) => {
    const { data } = shown?.searchAttributes?.indexedFields?.[PARK_REASON_ATTRIBUTE] ?? {};
    return data == null ? [] : (JSON.parse(AS_JSON.decode(data)) as string[]);
  });
}
