import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { ORDERS } from '../../src/cli/commands/orders.js';
import { createProgram } from '../../src/cli/program.js';
import { startReceiver } from '../callbacks/receiver.js';
import { run, scratchFolder } from './run.js';

const scratch = await scratchFolder();

const COMMANDS = [
  ...'up gateway worker sandbox doctor notify claims store keys migrate temporal start list show watch wait'.split(' '),
  ...ORDERS.map(({ name }) => name),
  ...'events callbacks give audit account completion'.split(' '),
];
const NESTED = [
  'events list',
  'events show',
  'events replay',
  'callbacks resend',
  'claims close',
  'store backup',
  'store raise-epoch',
  'audit list',
  'audit export',
  'audit verify',
  'keys list',
  'keys rotate',
].concat(['create', 'verify', 'api-key', 'webhook'].map((name) => `account ${name}`));

test('towline has the commands of the design', async () => {
  const names: string[] = [];
  const program = await createProgram({} as never, async () => undefined);
  for (const command of program.commands) names.push(command.name());
  expect(names).toEqual(COMMANDS);
});

test.each([...COMMANDS, ...NESTED])('towline %s --help has an example', async (command) => {
  const { code, out } = await run([...command.split(' '), '--help']);
  expect(code).toBe(0);
  expect(out).toMatch(/^Usage: towline /);
  expect(out).toContain('Example');
});

test('towline --help explains the exit codes and names the gateway that is used', async () => {
  const { out } = await run(['--help']);
  for (const line of ['0  completed or refunded', '2  the flow failed', '3  the flow is parked', '4  gateway']) {
    expect(out).toContain(line);
  }
  expect(out).toContain('GATEWAY_URL');
  expect(out).toContain('TOWLINE_TOKEN');
});

describe('towline answers wrong usage with one line and the exit code 1, given', () => {
  test.each([
    ['an unknown command', ['frob'], 'frob'],
    ['an unknown option', ['up', '--twice'], '--twice'],
    ['no flow', ['show'], "'flow'"],
    ['a word that names no flow', ['show', 'order-1'], 'kind/reference'],
    ['a flow off the path', ['show', 'bridge-transfer/../x'], 'bridge-transfer/../x'],
    ['an unknown state', ['list', '--state', 'lost'], 'running, parked,'],
    ['a limit out of range', ['list', '--limit', '0'], '500'],
    ...['list', 'events list', 'callbacks'].map((command): [string, string[], string] => [
      `half a flow, in ${command}`,
      [...command.split(' '), '--limit', '1.5'],
      '500',
    ]),
    ['a decision without a reason', ['resolve', 'bridge-transfer/x', 'refund-now'], '--note <text>'],
    ['a kind that does not exist', ['start', 'teleport', 'x.json'], 'teleport'],
    ['a file that does not exist', ['start', 'bridge-transfer', '/nowhere.json'], '/nowhere.json'],
    ['a token on the command line', ['list', '--token', 'secret-token'], '--token'],
  ])('%s', async (_, args, named) => {
    const { code, out, err } = await run(args);
    expect(code).toBe(1);
    expect(err).toContain(named);
    expect(err.split('\n')).toHaveLength(1);
    expect(out).toBe('');
  });

  test('stdin that is not JSON', async () => {
    const { code, err } = await run(['start', 'bridge-transfer', '-'], {}, '{"amount":');
    expect(code).toBe(1);
    expect(err).toContain('stdin');
  });
});

test('towline --version prints the version of the package', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
});

test('towline notify --test posts to every receiver, and lists which one accepted it', async () => {
  const receiver = await startReceiver();
  receiver.answer = ({ body }) => ('text' in body ? 500 : 204);
  const key = 'abcdefghijklmnopqrstuvwxyz012345';
  const { code, out } = await run(['notify', '--test', '--json'], {
    TOWLINE_HOME: scratch,
    NOTIFY_URLS: [receiver.url, `slack:${receiver.url}`, `pagerduty:${receiver.url.replace('//', `//${key}@`)}`].join(),
    NOTIFY_SECRETS: `whsec_${Buffer.alloc(32, 3).toString('base64')}`,
    HEARTBEAT_URL: receiver.url,
  });
  await receiver.close();
  expect(code).toBe(1);
  const { tested } = JSON.parse(out) as { tested: { to: string; problem: string | null }[] };
  expect(tested).toEqual([
    { to: `generic at ${receiver.url}`, problem: null },
    { to: `slack at ${receiver.url}`, problem: expect.stringContaining('500') },
    { to: `pagerduty at ${receiver.url}`, problem: null },
    { to: `heartbeat at ${receiver.url}`, problem: null },
  ]);
  const { received } = receiver;
  const sent = (holds: (one: (typeof received)[number]) => boolean) => received.filter(holds).map(({ body }) => body);
  expect(sent(({ headers }) => 'webhook-signature' in headers)).toMatchObject([{ type: 'matter.test' }]);
  expect(sent(({ body }) => 'text' in body)).toHaveLength(1);
  expect(sent(({ body }) => body.routing_key === key)).toHaveLength(1);
  expect(sent(({ body }) => body.type === 'heartbeat')).toMatchObject([{ isTest: true }]);
  expect(received).toHaveLength(4);
});

describe('towline completion', () => {
  test.each([
    ['commands', ['towline', 'ev'], ['events']],
    ['commands below a command', ['towline', 'events', ''], ['list', 'show', 'replay', 'withdraw', '--help']],
    [
      'options, behind other options and arguments',
      ['towline', 'list', '--limit', '5', '--re'],
      ['--reason', '--reference'],
    ],
    ['kinds of flow', ['towline', 'start', 'bridge'], ['bridge-transfer']],
  ])('completes %s, in bash', async (_, words, wanted) => {
    const { out } = await run(['completion', 'bash']);
    const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _towline; echo "\${COMPREPLY[@]}"`;
    const said = execFileSync('bash', ['-c', `${out}\n${ask}`, 'bash', ...words], { encoding: 'utf8' });
    expect(said.trim().split(' ')).toEqual(expect.arrayContaining(wanted));
  });

  test.each(['zsh', 'fish'])('prints a script for %s', async (shell) => {
    expect((await run(['completion', shell])).out).toContain('mobile-money-watch');
  });
});
