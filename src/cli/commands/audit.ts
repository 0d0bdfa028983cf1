import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { AuditEntry, AuditKind, AuditQuery } from '../../sdk/index.js';
import type { AuditHead, AuditVerdict } from '../../store/audit.js';
import { withoutMark } from '../../readers/byte-order-mark.js';
import { oneOfArgument, wholeNumberArgument } from '../arguments.js';
import type { CliContext, RunCommand } from '../context.js';
import { CliError, EXIT, type ExitCode } from '../exit-codes.js';
import { connectGateway, flowArgument } from '../gateway-client.js';
import { plainTable, print, type PrintOptions } from '../print.js';
import { loadKeyring, openConfiguredStore } from '../wiring/dependencies.js';
import { loadSettings } from '../wiring/load-settings.js';
import { AUDIT_KINDS } from '../../protocol/audit.js';

interface ListOptions extends PrintOptions {
  readonly flow?: string;
  readonly actor?: string;
  readonly kind?: AuditKind;
  readonly limit?: number;
  readonly after?: number;
}

const PAGE = 500;
/** For one page of an export: a gateway lets each name read so many pages a second, and may be replaced meanwhile. */
const PAGE_WITHIN_MS = 600_000;
const PROGRESS_EVERY = 5_000;

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  const client = () => connectGateway(context);
  const audit = program
    .command('audit')
    .description(
      'The audit log: who started, ordered, was refused, decoded and read what. Append-only, and chained by hashes.',
    )
    .addHelpText('after', '\nExample:\n  towline audit list --flow bridge-transfer/order-1001');
  const narrowed = (name: string) =>
    audit
      .command(name, { isDefault: name === 'list' })
      .option('--flow <flow>', 'only what is about this flow')
      .option('--actor <name>', 'only what this person or machine did')
      .option('--kind <kind>', `only this kind: ${AUDIT_KINDS.join(', ')}`, oneOfArgument(AUDIT_KINDS));

  narrowed('list')
    .description('Lists the audit log, newest first. Needs a token of the role auditor or admin.')
    .option('--limit <number>', 'at most so many, up to 500', wholeNumberArgument(1, PAGE), 50)
    .option('--after <number>', 'go on after this entry', wholeNumberArgument(0, Number.MAX_SAFE_INTEGER))
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline audit list --kind order --actor alice')
    .action(({ json = false, ...options }: ListOptions) =>
      run(async () => {
        const page = await client().audit(queryOf(options));
        const more = page.next === null ? '' : `\nMore: --after ${page.next}`;
        print(context, { json }, page, ({ entries }) =>
          entries.length === 0 ? 'No entries.' : entryTable(context, entries) + more,
        );
        return EXIT.done;
      }),
    );

  narrowed('export')
    .description(
      'Prints the audit log, oldest first, one JSON entry per line. Needs a token of the role auditor or admin.',
    )
    .option('--after <number>', 'go on after this entry', wholeNumberArgument(0, Number.MAX_SAFE_INTEGER))
    .addHelpText('after', '\nExample:\n  towline audit export > audit.jsonl')
    .action((options: ListOptions) => run(() => exportAll(context, options)));

  audit
    .command('verify')
    .description(
      'Reads the whole audit log in the store of the settings, and names every entry that was changed, removed or inserted. What ' +
        'was cut off from its end is found by heads that were kept elsewhere: the output of an earlier --json.',
    )
    .option('--against <file>', 'heads that were kept: each must still be there')
    .option('--json', 'print JSON, with the heads to keep')
    .addHelpText(
      'after',
      '\nExamples:\n  towline audit verify --json > heads.json\n  towline audit verify --against heads.json',
    )
    .action(({ against, ...options }: PrintOptions & { readonly against?: string }) =>
      run(() => verify(context, against, options)),
    );
}

/** Page after page. What was printed before an error is whole, and the error says where to go on. */
async function exportAll(context: CliContext, { after: first, ...options }: ListOptions): Promise<ExitCode> {
  const client = connectGateway(context, { retryForMs: PAGE_WITHIN_MS });
  let last = first;
  let printed = 0;
  try {
    for (let after = first; ;) {
      const page = await client.audit({ ...queryOf(options), order: 'oldest', limit: PAGE, after });
      for (const entry of page.entries) context.out(JSON.stringify(entry));
      last = page.entries.at(-1)?.seq ?? last;
      printed += page.entries.length;
      if (page.next === null) return EXIT.done;
      if (printed % PROGRESS_EVERY === 0) context.err(`${printed} entries so far, up to ${last}`);
      after = page.next;
    }
  } catch (error) {
    if (printed > 0) context.err(`Broken off after ${printed} entries. The rest: --after ${last}`);
    throw error;
  }
}

async function verify(context: CliContext, against: string | undefined, options: PrintOptions): Promise<ExitCode> {
  const known = against === undefined ? [] : await headsIn(against);
  const { settings, home } = await loadSettings(context.env);
  const store = await openConfiguredStore(settings, home, await loadKeyring(settings));
  try {
    const verdict = await store.audit.verify(known);
    print(context, options, verdict, verdictText);
    return verdict.problems.length === 0 ? EXIT.done : EXIT.refused;
  } finally {
    await store.close();
  }
}

function verdictText({ entries, chains, problems }: AuditVerdict): string {
  const read = `${entries} ${entries === 1 ? 'entry' : 'entries'} in ${chains} ${chains === 1 ? 'chain' : 'chains'}`;
  if (problems.length === 0) return `${read}: nothing was changed, and nothing is missing.`;
  return [`${read}: not as they were written.`, ...problems.map(({ sentence }) => `  ${sentence}`)].join('\n');
}

async function headsIn(path: string): Promise<readonly AuditHead[]> {
  const wrong = new CliError(`${path} has no heads: give the output of an earlier "towline audit verify --json".`);
  let found: unknown;
  try {
    found = JSON.parse(withoutMark(await readFile(path, 'utf8')));
  } catch {
    throw wrong;
  }
  const heads = (found as { readonly heads?: unknown } | null)?.heads;
  if (!Array.isArray(heads) || !heads.every(isHead)) throw wrong;
  return heads;
}

function isHead(value: unknown): value is AuditHead {
  const { chain, number, hash } = (value ?? {}) as Partial<Record<keyof AuditHead, unknown>>;
  return Number.isInteger(chain) && Number.isInteger(number) && typeof hash === 'string';
}

const queryOf = ({ flow, ...rest }: ListOptions): AuditQuery => ({
  ...rest,
  ...(flow === undefined ? {} : { flowId: flowArgument(flow) }),
});

function entryTable(look: Pick<CliContext, 'colors'>, entries: readonly AuditEntry[]): string {
  const rows = entries.map(({ seq, at, kind, action, flowId, subject, actor, role, means, details }) => [
    String(seq),
    at,
    kind,
    action ?? '',
    flowId ?? subject ?? '',
    `${actor} (${role ?? means})`,
    [details?.['why'], details?.['note']].find((text) => typeof text === 'string') ?? '',
  ]);
  return plainTable(look, ['entry', 'at', 'kind', 'action', 'about', 'who', 'note'], rows);
}
