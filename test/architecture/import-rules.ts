import { importsOf } from './imports-of.js';
import type { SourceFile } from './sources.js';

/** What a part of the project may import, types included. What it does not list is refused. */
interface Rule {
  /** The files that it is about; the first rule that fits a file is its own. */
  readonly of: RegExp;
  readonly may: readonly RegExp[];
  readonly because: string;
  /** Its `import type`s are free: the bundle decides what it runs with. */
  readonly typesFree?: true;
  /** What it may import the types of, and nothing else. */
  readonly typesOf?: RegExp;
}

const NODE = /^node:/;
const ZOD = /^zod$/;
const CONTRACT = /^src\/contract\//;
const PROTOCOL = /^src\/protocol\//;
const API = /^src\/api\//;
const FLOWS = /^src\/flows\//;
const KEYS = /^src\/keys\//;
const STORE = /^src\/store\//;
const CONFIG = /^src\/config\//;
const TEMPORAL = /^src\/temporal\//;
const CALLBACKS = /^src\/callbacks\//;
const NOTIFY = /^src\/notify\//;
const PACKAGE_ROOT = /^src\/package-root\.ts$/;
const CLOCK = /^src\/clock\.ts$/;
const IN_TURNS = /^src\/in-turns\.ts$/;
const MONEY = /^src\/money\.ts$/;
const READERS = /^src\/readers\//;
/** The readers that need no package, so that contract, workflows and the client may have them. */
const PURE_READERS = /^src\/readers\/(?!lightning-invoice)/;
const TRACING = /^src\/tracing\.ts$/;
const GATEWAY: readonly RegExp[] = [
  /^src\/gateway\//,
  API,
  CALLBACKS,
  CLOCK,
  CONFIG,
  CONTRACT,
  IN_TURNS,
  PACKAGE_ROOT,
  PROTOCOL,
  FLOWS,
  STORE,
  TEMPORAL,
  MONEY,
  PURE_READERS,
  TRACING,
  ZOD,
  NODE,
  /^@temporalio\/(client|common)$/,
  /^@opentelemetry\/api$/,
  /^(cockatiel|fastify|fastify-plugin|ipaddr\.js|jose|lossless-json|pino|prom-client|uuid)$/,
];

/** The rules of import. A new folder under `src` needs a line here. */
export const RULES: readonly Rule[] = [
  {
    of: /^src\/contract\/vocabulary\.ts$/,
    may: [],
    because: 'workflows import its values, and nothing may come along',
  },
  { of: PROTOCOL, may: [PROTOCOL, PURE_READERS], because: 'workflows import its values, and nothing may come along' },
  {
    of: /^src\/readers\/lightning-invoice\.ts$/,
    may: [/^@noble\/secp256k1$/, /^@scure\/base$/, /^node:crypto$/],
    because: 'it reads by the standard alone',
  },
  { of: READERS, may: [PURE_READERS], because: 'what comes from outside is read by them in any part, workflows too' },
  { of: MONEY, may: [/^big\.js$/, PURE_READERS], because: 'workflows import it: it stays deterministic and small' },
  { of: PACKAGE_ROOT, may: [NODE], because: 'it finds our own folder, for whoever reads a file of it' },
  {
    of: TRACING,
    may: [CLOCK, /^@opentelemetry\/api$/, NODE],
    because: 'each step is traced where it runs',
  },
  { of: CLOCK, may: [], because: 'whoever waits is given it' },
  { of: IN_TURNS, may: [], because: 'it is a loop, for any part' },
  {
    of: CONTRACT,
    may: [CONTRACT, PURE_READERS, ZOD],
    because: 'the contract is plain data that everybody derives from',
  },
  {
    of: FLOWS,
    typesOf: API,
    may: [FLOWS, PROTOCOL, CONTRACT, MONEY, READERS, ZOD, /^(i18n-iso-countries|libphonenumber-js)(\/|$)/],
    because: 'a flow kind is described by the contract, not by who runs it',
  },
  {
    of: API,
    may: [API, PROTOCOL, CONTRACT, PURE_READERS, ZOD],
    because: 'what the gateway shows and takes is the same for who answers and who asks',
  },
  { of: KEYS, may: [KEYS, NODE], because: 'crypto is pure and alone' },
  {
    of: CONFIG,
    may: [CONFIG, PROTOCOL, CONTRACT, KEYS, PURE_READERS, ZOD, NODE],
    because: 'settings know nothing of what they set',
  },
  {
    of: /^src\/service-client\//,
    may: [
      /^src\/service-client\//,
      CLOCK,
      CONTRACT,
      PURE_READERS,
      /^src\/protocol\/capabilities\.ts$/,
      ZOD,
      /^axios$/,
      /^lossless-json$/,
      NODE,
    ],
    because: 'the client speaks the contract and knows no Temporal',
  },
  {
    of: CALLBACKS,
    may: [CALLBACKS, CLOCK, /^(cockatiel|ipaddr\.js|standardwebhooks|tldts)$/, NODE],
    because: 'who may be called must be judged apart from what is told',
  },
  {
    of: NOTIFY,
    may: [NOTIFY, CALLBACKS, CLOCK, CONFIG, IN_TURNS, PROTOCOL, STORE, /^standardwebhooks$/, NODE],
    because: 'people are called while everything but the store is away',
  },
  {
    of: STORE,
    typesOf: API,
    may: [STORE, CLOCK, PROTOCOL, KEYS, /^libsql$/, /^pg$/, NODE],
    because: 'claims and inbox outlive whoever uses them',
  },
  {
    of: /^src\/sandbox\//,
    may: [/^src\/sandbox\//, CONTRACT, ZOD, /^(big\.js|fastify|libsql|standardwebhooks)$/, NODE],
    because: 'the sandbox shares only the contract with the rest: it must not agree with our mistakes',
  },
  {
    of: /^src\/sdk\//,
    typesOf: FLOWS,
    may: [/^src\/sdk\//, API, CLOCK, CONTRACT, PROTOCOL, PURE_READERS, ZOD, /^standardwebhooks$/, NODE],
    because: 'it runs in the backends of others: the gateway is behind HTTP, and what it brings along stays small',
  },
  {
    of: /^src\/dev-server\//,
    may: [/^src\/dev-server\//, CLOCK, PACKAGE_ROOT, /^@temporalio\//, ZOD, NODE],
    because: 'it finds, builds and runs a Temporal server for whoever wants one',
  },
  {
    of: TEMPORAL,
    typesOf: API,
    may: [
      TEMPORAL,
      CLOCK,
      IN_TURNS,
      PROTOCOL,
      FLOWS,
      KEYS,
      STORE,
      TRACING,
      /^src\/config\/secret-files\.ts$/,
      /^activities\/index\.ts$/,
      /^@temporalio\/(?!workflow)/,
      /^(@grpc\/grpc-js|cockatiel)$/,
      ZOD,
      NODE,
    ],
    because: 'it joins Temporal with the flows, and needs neither gateway nor client',
  },
  {
    of: /^src\/gateway\/proxy\//,
    may: [...GATEWAY, /^src\/service-client\/index\.ts$/],
    because: 'reads, quotes and account operations pass through; what moves money is an activity',
  },
  {
    of: /^src\/gateway\//,
    may: GATEWAY,
    because: 'the way in ends at the flow: what goes out to the service is an activity',
  },
  {
    of: /^src\/cli\//,
    may: [/^src\//, /^activities\//, /^(?!axios$|libsql$|@temporalio\/workflow$)[^./][^.]*$/],
    because: 'the command line wires the parts, and leaves HTTP, SQL and workflows to them',
  },
  {
    of: /^activities\//,
    typesOf: API,
    may: [
      /^activities\//,
      /^src\/service-client\//,
      CALLBACKS,
      CLOCK,
      CONTRACT,
      PROTOCOL,
      FLOWS,
      MONEY,
      READERS,
      STORE,
      TRACING,
      NODE,
      /^@opentelemetry\/api$/,
      /^@temporalio\/(activity|common)$/,
    ],
    because: 'an activity is a contract operation under a claim; what it needs beyond that is passed in',
  },
  {
    of: /^workflows\//,
    may: [/^workflows\//, /^@temporalio\/workflow$/, PROTOCOL, /^src\/contract\/vocabulary\.ts$/, MONEY, PURE_READERS],
    because: 'workflows are bundled, sandboxed and replayed: no zod, no axios, no Node',
    typesFree: true,
  },
];

/** One sentence for each import that a rule refuses. */
export function importViolations(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => {
    const rule = RULES.find((candidate) => candidate.of.test(file.path));
    if (rule === undefined) return [`${file.path}: no import rule is about it; add one to import-rules.ts`];
    return importsOf(file)
      .filter(({ to, typeOnly }) => !(typeOnly && rule.typesFree === true) && !isErasedPackageType(to, typeOnly))
      .filter(
        ({ to, typeOnly }) => !(typeOnly && rule.typesOf?.test(to)) && !rule.may.some((pattern) => pattern.test(to)),
      )
      .map(({ to }) => `${file.path} imports ${to}: ${rule.because}`);
  });
}

/** Types of packages ship nothing. */
function isErasedPackageType(to: string, typeOnly: boolean): boolean {
  return typeOnly && !/^(src|workflows|activities|test)\/|^@temporalio\//.test(to);
}
