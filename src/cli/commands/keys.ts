import type { Command } from 'commander';
import type { Keyring } from '../../keys/index.js';
import { DAMAGED, type KeyUsage, type Resealed } from '../../store/sealed-rows.js';
import { historiesOfKeys, type HistoriesOfKey } from '../../temporal/keys-of-histories.js';
import { isOutage } from '../../temporal/connection.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { print, type PrintOptions, plainTable } from '../print.js';
import { refuseOtherIfKnown } from '../wiring/deployment.js';
import { loadSettings } from '../wiring/load-settings.js';
import { type Services, withServices } from '../wiring/services.js';

/** The output of `towline keys list` about one payload key. */
interface KeyJson {
  readonly keyId: string;
  readonly given: 'seals' | 'opens' | 'missing';
  /** Values of the store that this key has sealed. */
  readonly storeValues: number;
  /** Flows whose histories may hold its payloads; null if Temporal does not answer, or for a key that is in use. */
  readonly openFlows: number | null;
  readonly closedFlows: number | null;
  /** ISO 8601: when the histories of the closed ones are gone. */
  readonly keptUntil: string | null;
  readonly verdict: KeyVerdict;
}

/** What a payload key is needed for. */
export type KeyVerdict =
  | 'damaged-values'
  | 'seals'
  | 'store-needs-it'
  | 'open-flows-need-it'
  | 'histories-need-it'
  | 'not-used-yet'
  | 'unknown'
  | 'droppable';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  const keys = program.command('keys').addHelpText('after', '\nExample:\n  towline keys list');
  keys
    .command('list')
    .description('Which payload keys the store and the histories in Temporal still need. Reads, and changes nothing.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline keys list')
    .action((options: PrintOptions) => run(() => withKeys(context, (services) => list(context, services, options))));
  keys
    .command('rotate')
    .description(
      'Seals what the store holds with the first key of PAYLOAD_KEYS, and gives the store new keys of its own, so that the ' +
        'other payload keys can be dropped. Gateways and workers go on meanwhile, with both keys; it can be interrupted ' +
        'and run again.',
    )
    .option('--dry-run', 'only say what would be encrypted again')
    .addHelpText('after', '\nExample:\n  PAYLOAD_KEYS=new:…,old:… towline keys rotate')
    .action(({ dryRun = false }: { dryRun?: boolean }) =>
      run(() => withKeys(context, (services) => rotate(context, services, dryRun))),
    );
}

/** What the store says is of use without Temporal. */
const withKeys = async ({ env }: CliContext, work: (services: Services) => Promise<ExitCode>): Promise<ExitCode> =>
  withServices(await loadSettings(env), 'keys', async (services) => {
    await refuseOtherIfKnown(services.temporal.client, services.deployment);
    return work(services);
  });

const PROGRESS_EVERY_MS = 2_000;

async function rotate(
  { out, err }: CliContext,
  { settings, store, keyring }: Services,
  dryRun: boolean,
): Promise<ExitCode> {
  const active = keyring.active.id;
  if (dryRun) {
    const others = [...(await store.keys.usage())].filter(([id]) => id !== active);
    for (const [id, values] of others) {
      const isGiven = keyring.find(id) !== undefined;
      out(`${values} values sealed with ${id}${isGiven ? '' : ', which was not given: they would stay as they are'}`);
    }
    if (others.length === 0) out(`Everything is sealed with ${active} already.`);
    return EXIT.done;
  }
  let saidMs = performance.now();
  const onProgress = (done: Resealed): void => {
    if (performance.now() - saidMs < PROGRESS_EVERY_MS) return;
    saidMs = performance.now();
    err(`${done.values} values sealed with ${active} so far`);
  };
  const { values, unreadable } = await store.keys.reseal({ epoch: settings.capabilityEpochs[0], onProgress });
  out(`${values} values are sealed with ${active} now.`);
  if (unreadable > 0) {
    err(`${unreadable} cannot be opened with the keys of PAYLOAD_KEYS and stay as they are: see "towline keys list".`);
    return EXIT.refused;
  }
  out('"towline keys list" says until when the histories in Temporal need the other keys.');
  return EXIT.done;
}

async function list(context: CliContext, services: Services, options: PrintOptions): Promise<ExitCode> {
  const { store, keyring, temporal } = services;
  const [usage, replaced] = await Promise.all([store.keys.usage(), store.keys.replaced()]);
  const histories = await historiesOfKeys(temporal.client, temporal.namespace, replaced).catch((error: unknown) => {
    if (!isOutage(error)) throw error;
    context.err('Temporal does not answer, so it is unknown how long its histories need a key.');
    return undefined;
  });
  const keys = keysToShow(keyring, usage, replaced, histories);
  print(context, options, { keys }, (shown) => keysTable(context, shown.keys));
  return histories === undefined ? EXIT.unreachable : EXIT.done;
}

/** Those that were given, and those that are missed. */
function keysToShow(
  keyring: Keyring,
  usage: KeyUsage,
  replaced: Readonly<Record<string, number>>,
  histories: ReadonlyMap<string, HistoriesOfKey> | undefined,
): readonly KeyJson[] {
  const missed = [...usage.keys(), ...Object.keys(replaced)].filter((id) => keyring.find(id) === undefined);
  return [...new Set([...keyring.ids, ...missed])]
    .map((keyId): KeyJson => {
      const given = keyId === keyring.active.id ? 'seals' : keyring.find(keyId) === undefined ? 'missing' : 'opens';
      const storeValues = usage.get(keyId) ?? 0;
      const wasReplaced = replaced[keyId] !== undefined;
      const of = histories?.get(keyId);
      return {
        keyId,
        given,
        storeValues,
        openFlows: of?.open ?? null,
        closedFlows: of?.closed ?? null,
        keptUntil: of?.keptUntil?.toISOString() ?? null,
        verdict: verdictOf(keyId, { given, storeValues, wasReplaced, isTemporalThere: histories !== undefined }, of),
      };
    })
    .filter(({ given, storeValues, openFlows, closedFlows }) => {
      return given !== 'missing' || storeValues > 0 || (openFlows ?? 0) > 0 || (closedFlows ?? 0) > 0;
    });
}

function verdictOf(
  keyId: string,
  key: Pick<KeyJson, 'given' | 'storeValues'> & { readonly wasReplaced: boolean; readonly isTemporalThere: boolean },
  histories: HistoriesOfKey | undefined,
): KeyVerdict {
  if (keyId === DAMAGED) return 'damaged-values';
  if (key.given === 'seals') return 'seals';
  if (key.storeValues > 0) return 'store-needs-it';
  if (!key.wasReplaced) return 'not-used-yet';
  if (!key.isTemporalThere) return 'unknown';
  if (histories === undefined) return 'droppable';
  if (histories.open > 0) return 'open-flows-need-it';
  return histories.closed > 0 ? 'histories-need-it' : 'droppable';
}

function sentenceOf({ given, verdict }: Pick<KeyJson, 'given' | 'verdict'>): string {
  const isMissing = given === 'missing';
  switch (verdict) {
    case 'damaged-values':
      return 'no key opens them: their seals are damaged';
    case 'seals':
      return 'in use: it seals';
    case 'store-needs-it':
      return isMissing ? 'MISSING: give it' : 'needed: run "towline keys rotate"';
    case 'open-flows-need-it':
      return `${isMissing ? 'MISSING' : 'needed'}: until these flows have ended`;
    case 'histories-need-it':
      return 'no flow needs it; without it, histories cannot be read that are kept until then';
    case 'not-used-yet':
      return 'not used yet';
    case 'unknown':
      return 'the store does not need it; of Temporal it is not known';
    case 'droppable':
      return 'can be dropped';
    default:
      return verdict satisfies never;
  }
}

function keysTable(look: Pick<CliContext, 'colors'>, keys: readonly KeyJson[]): string {
  const rows = keys.map(({ keyId, given, storeValues, openFlows, closedFlows, keptUntil, verdict }) => [
    keyId,
    given,
    String(storeValues),
    String(openFlows ?? '-'),
    String(closedFlows ?? '-'),
    keptUntil ?? '-',
    sentenceOf({ given, verdict }),
  ]);
  return plainTable(look, ['key', 'given', 'store', 'open flows', 'closed', 'kept until', ''], rows);
}
