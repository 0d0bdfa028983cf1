import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { installRuntime } from '../../src/temporal/sdk-logger.js';
import { reportingBundle, type ReportingBundle } from '../harness/pairs.js';
import { pairsIn, unknownTo } from '../model/known-pairs.js';
import { OUTSIDE } from '../model/outside.js';
import { createPayloadCodec } from '../../src/temporal/payload-codec.js';
import { readRecordings, type Recording } from './histories.js';
import { LARGER } from './larger.js';
import { RECORDING_KEYS, RECORDING_NAMESPACE } from './recording-key.js';
import { broken, pairsOf } from './replayed.js';

describe('the steps and results of recorded histories', () => {
  let bundle: ReportingBundle | undefined;
  beforeAll(async () => {
    installRuntime({ info() {}, warn() {}, error() {}, debug() {} });
    bundle = await reportingBundle();
  });
  afterAll(() => bundle?.close());
  const unknownIn = async (recordings: readonly Recording[]) => {
    const { results, pairs } = await pairsOf(recordings, bundle?.codePath ?? '');
    return { results, pairs, unknown: unknownTo(pairsIn('in-tests'), pairs) };
  };

  it('are pairs that the world of the model knows, but for those that are listed with a reason', async () => {
    const { results, pairs, unknown } = await unknownIn(await readRecordings());
    expect(broken(results)).toEqual([]);
    expect(pairs.size).toBeGreaterThan(200);
    expect(unknown).toEqual(Object.values(LARGER).flat().toSorted());
  });

  it('are one that it does not know, if a lookup reports a claim in `sending` under which nothing was sent', async () => {
    const { unknown } = await unknownIn([await withClaim('deadline-without-the-store', 'sending')]);
    const planted = 'bridge-transfer deposit look (free) → look claim-sending lookup-no-lookup';
    expect(Object.values(LARGER).flat()).not.toContain(planted);
    expect(unknown).toContain(planted);
  });
});

describe('what the world of the model leaves out', () => {
  it.each(OUTSIDE)('is known to none of its spaces: $pairs', ({ pairs }) => {
    const known = [...pairsIn('in-tests'), ...pairsIn('whole')];
    expect(known.filter((pair) => pairs.test(pair))).toEqual([]);
  });
});

/** The history in which `lookAtPost` had said that of the claim. */
async function withClaim(name: string, claim: string): Promise<Recording> {
  const codec = createPayloadCodec({ keyring: RECORDING_KEYS, namespace: RECORDING_NAMESPACE });
  const recording = (await readRecordings()).find((one) => one.name === name);
  const events = recording?.history.events ?? [];
  const isLook = (id: unknown) =>
    events.some(
      ({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
        String(eventId) === String(id) && scheduled?.activityType?.name === 'lookAtPost',
    );
  for (const { activityTaskCompletedEventAttributes: done } of events) {
    if (done?.result == null || !isLook(done.scheduledEventId)) continue;
    const [payload] = await codec.decode(done.result.payloads ?? []);
    const said = JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8')) as object;
    const data = new Uint8Array(Buffer.from(JSON.stringify({ ...said, claim })));
    done.result.payloads = await codec.encode([{ metadata: payload?.metadata ?? {}, data }]);
  }
  if (recording === undefined) throw new Error(`no recording ${name}`);
  return recording;
}
