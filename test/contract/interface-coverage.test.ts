import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import * as account from '../../src/contract/account.js';
import * as bridge from '../../src/contract/bridge.js';
import * as deposit from '../../src/contract/deposit.js';
import { Envelope } from '../../src/contract/wire.js';
import * as events from '../../src/contract/events.js';
import { operationNames, operations } from '../../src/contract/index.js';
import * as invoice from '../../src/contract/invoice.js';
import * as offramp from '../../src/contract/offramp.js';
import * as onramp from '../../src/contract/onramp.js';
import type { Operation } from '../../src/contract/operation.js';
import * as vocabulary from '../../src/contract/vocabulary.js';
import * as withdrawal from '../../src/contract/withdrawal.js';

type Members = Record<string, string>;
interface Table {
  enumerations: Record<string, string[]>;
  mobileNetworks: string[];
  limits: { cardDepositCurrencies: string[]; quoteValiditySeconds: number };
  envelope: Members;
  events: Record<string, string>;
  operations: Record<string, { method: string; path: string; auth: string; body?: Members; data?: string }>;
  requestObjects: Record<string, Members>;
  records: Record<string, Members>;
  notShown: string[];
}
/** Extracted from the text of the interface, once; every name and word in it occurs there. */
const table = JSON.parse(readFileSync(new URL('interface-table.json', import.meta.url), 'utf8')) as Table;

const modules = [account, onramp, offramp, deposit, withdrawal, invoice, bridge, events];
const exported: Record<string, unknown> = Object.fromEntries(modules.flatMap((module) => Object.entries(module)));

/** The schema inside optional, nullable, catch and the like. */
function inner(schema: unknown): z.ZodType {
  let at = schema as z.ZodType;
  while (at instanceof z.ZodOptional || at instanceof z.ZodNullable || at instanceof z.ZodCatch) {
    at = at.unwrap() as z.ZodType;
  }
  return at;
}

function shapeOf(schema: unknown): Record<string, z.ZodType> {
  const object = inner(schema);
  if (!(object instanceof z.ZodObject)) throw new TypeError('not an object schema');
  return object.shape;
}

/** "Record.member" of the table is a member of a record; "OnChainDepositEvent.data" is such a one. */
function schemaNamed(name: string): z.ZodType {
  const [record = '', member] = name.split('.');
  const schema = exported[record] as z.ZodType;
  return member === undefined ? schema : inner(shapeOf(schema)[member]);
}

const accepts = (schema: z.ZodType | undefined, value: unknown): boolean => schema?.safeParse(value).success ?? false;
const SAMPLE_TEXTS = ['https://a.example/x', '2030-01-01T00:00:00Z', 'ref', 'ZA'];
const words = (type: string): string[] | undefined => table.enumerations[type.replace('array of ', '')];

function expectSendable(schema: z.ZodType | undefined, type: string): void {
  if (type.startsWith('object ')) {
    const named = schemaNamed(type.slice(7));
    if (type.includes('.')) expect(Object.keys(shapeOf(schema)).sort()).toEqual(Object.keys(shapeOf(named)).sort());
    else expect(inner(schema)).toBe(named);
  } else if (words(type) !== undefined) {
    const list = inner(schema);
    const one = list instanceof z.ZodArray ? inner(list.element) : list;
    expect(list instanceof z.ZodArray).toBe(type.startsWith('array of '));
    expect((one as z.ZodEnum).options).toEqual(words(type));
    expect(accepts(one, 'SOMETHING_NEW')).toBe(false);
  } else {
    const samples: Record<string, unknown[]> = {
      string: SAMPLE_TEXTS,
      timestamp: SAMPLE_TEXTS,
      number: [12],
      boolean: [true],
      object: [{}],
    };
    expect(samples[type]?.some((sample) => accepts(schema, sample))).toBe(true);
    expect(accepts(schema, ['another type'])).toBe(false);
  }
}

function expectReadable(schema: z.ZodType | undefined, type: string): void {
  const reads = inner(schema);
  const list = words(type);
  if (type.startsWith('object ')) {
    expect(Object.keys(shapeOf(reads)).sort()).toEqual(Object.keys(table.records[type.slice(7)] ?? {}).sort());
  } else if (list !== undefined) {
    const one = reads instanceof z.ZodArray ? inner(reads.element) : reads;
    expect(one.meta()?.['vocabulary']).toEqual(list);
    for (const word of [...list, 'SOMETHING_NEW']) expect(accepts(one, word)).toBe(true);
  } else {
    const samples: Record<string, unknown[]> = {
      string: ['x', '2030-01-01T00:00:00Z', 'deposit.onchain.successful'],
      timestamp: ['2030-01-01T00:00:00Z'],
      number: [12, '12'],
      'string or number': [0.65, '0.65'],
      boolean: [true, 'false'],
      object: [{ any: 'member' }],
      any: ['12'],
    };
    const found = samples[type]?.map((sample) => accepts(reads, sample)) ?? [];
    expect(type === 'string' ? found.some(Boolean) : found.every(Boolean) && found.length > 0).toBe(true);
  }
}

describe('every operation of the interface', () => {
  it('is in the contract, and none is invented', () => {
    expect(operationNames).toEqual(Object.keys(table.operations));
    expect(operationNames).toHaveLength(22);
  });

  it.each(operationNames)('has its method, path, header rule and data: %s', (name) => {
    const ours: Operation = operations[name];
    const theirs = table.operations[name];
    expect({ method: ours.method, path: ours.path, auth: ours.auth }).toEqual({
      method: theirs?.method,
      path: theirs?.path,
      auth: theirs?.auth,
    });
    expect(ours.name).toBe(name);
    if (theirs?.data !== undefined) expect(ours.data).toBe(schemaNamed(theirs.data));
    else expect(accepts(ours.data, {})).toBe(true);
    if (ours.statusLookup !== undefined) expect(operationNames).toContain(ours.statusLookup);
  });

  it.each(operationNames.filter((name) => 'body' in operations[name]))(
    'takes the members of its body, as required or optional as they are: %s',
    (name) => {
      const theirs = table.operations[name]?.body ?? {};
      const shape = shapeOf((operations[name] as Operation).body);
      expect(Object.keys(shape).sort()).toEqual(Object.keys(theirs).sort());
      for (const [member, mark] of Object.entries(theirs)) {
        const [type = '', required] = mark.split(', ');
        expect([member, accepts(shape[member], undefined)]).toEqual([member, required === 'optional']);
        expectSendable(shape[member], type);
      }
    },
  );

  it('has no body if the interface shows none', () => {
    for (const name of operationNames) {
      expect('body' in operations[name]).toBe(table.operations[name]?.body !== undefined);
    }
  });
});

describe('every object of the interface', () => {
  it.each(Object.entries(table.requestObjects))('has its members when it is sent: %s', (name, members) => {
    const shape = shapeOf(exported[name]);
    expect(Object.keys(shape).sort()).toEqual(Object.keys(members).sort());
    for (const [member, type] of Object.entries(members)) expectSendable(shape[member], type);
  });

  it.each(Object.entries(table.records))('has its members when it is read: %s', (name, members) => {
    const shape = shapeOf(schemaNamed(name));
    expect(Object.keys(shape).sort()).toEqual(Object.keys(members).sort());
    for (const [member, type] of Object.entries(members)) expectReadable(shape[member], type);
  });

  it('is in the table: no schema of the contract is invented', () => {
    // Only ours: the table has bodies by operation; these two read events whose shape is not shown.
    const bodies = operationNames.map((name) => (operations[name] as Operation).body);
    const known = [...Object.keys(table.records), ...Object.keys(table.requestObjects), 'OnChainDepositEventData'];
    const ours = Object.entries(exported).filter(([, value]) => value instanceof z.ZodType && !bodies.includes(value));
    const invented = ours.map(([name]) => name).filter((name) => !known.includes(name));
    expect(invented.sort()).toEqual(['CallbackFields', 'WebhookEnvelope']);
    expect(Object.keys(table.events)).toEqual([events.ON_CHAIN_DEPOSIT_EVENT]);
    expect(Object.keys(shapeOf(Envelope))).toEqual(Object.keys(table.envelope));
  });
});

describe('every word of the interface', () => {
  const { FIAT_CURRENCIES, OFFRAMP_CURRENCIES, CHAINS, TOKENS, BRIDGE_CHAINS, BRIDGE_TOKENS } = vocabulary;
  const { BRIDGE_TRANSACTION_TYPES, CHECKOUT_PAYMENT_METHODS, WEBHOOK_EVENTS, DEPOSIT_STATUSES, BRIDGE_STATUSES } =
    vocabulary;
  const ours: Record<string, readonly string[]> = {
    FiatCurrency: FIAT_CURRENCIES,
    OfframpCurrency: OFFRAMP_CURRENCIES,
    Chain: CHAINS,
    Token: TOKENS,
    BridgeChain: BRIDGE_CHAINS,
    BridgeToken: BRIDGE_TOKENS,
    BridgeTransactionType: BRIDGE_TRANSACTION_TYPES,
    CheckoutPaymentMethod: CHECKOUT_PAYMENT_METHODS,
    WebhookEvent: WEBHOOK_EVENTS,
    DepositStatus: DEPOSIT_STATUSES,
    BridgeStatus: BRIDGE_STATUSES,
  };

  it('is in the vocabulary, and none is invented', () => {
    for (const [name, values] of Object.entries(table.enumerations)) {
      // The interface lists ZAR twice.
      expect([name, [...(ours[name] ?? [])]]).toEqual([name, [...new Set(values)]]);
    }
    expect(Object.keys(ours)).toEqual(Object.keys(table.enumerations));
    expect([...vocabulary.MOBILE_NETWORKS]).toEqual(table.mobileNetworks);
    expect([...vocabulary.CARD_DEPOSIT_CURRENCIES]).toEqual(table.limits.cardDepositCurrencies);
    expect(vocabulary.QUOTE_VALIDITY_SECONDS).toBe(table.limits.quoteValiditySeconds);
    const lists = Object.values(vocabulary).filter(Array.isArray);
    expect(lists).toHaveLength(Object.keys(ours).length + 2);
  });
});

describe('every "not shown" of the interface', () => {
  const document = readFileSync(new URL('../../docs/assumptions.md', import.meta.url), 'utf8');
  const sections = document
    .split('\n## ')
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const rows = lines.filter((line) => line.startsWith('| ')).slice(1);
      return { topic: title.toLowerCase().replaceAll(' ', '-'), rows: rows.map((row) => row.split(' | ')) };
    });

  it('has a section in docs/assumptions.md, and no section is about something else', () => {
    expect(sections.map(({ topic }) => topic)).toEqual(table.notShown);
  });

  it('is decided there, with a reason', () => {
    for (const { topic, rows } of sections) {
      expect([topic, rows.length]).not.toEqual([topic, 0]);
      for (const cells of rows) {
        expect(cells).toHaveLength(3);
        for (const cell of cells) expect(cell.length).toBeGreaterThan(10);
      }
    }
  });
});
